#include "frontend/commands/outer_graphs.h"
#include "ir/base/text.h"
#include "ir/gears.h"

enum { MAX_NAMES = 8 }; /* that are told */

uint32_t outer_graphs_mark(const struct module *module, uint8_t *marks)
{
    uint32_t count = 0;
    uint8_t *named = mem_calloc(module->graphs.count, 1);
    graphs_mark_named(module, named);
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        marks[i] = !named[i];
        count += marks[i];
    }
    mem_free(named);
    return count;
}

/* "'p', 'q' or 'r'". */
static void put_names(struct text *text, const struct module *module, const uint8_t *marks,
                      uint32_t count)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < module->graphs.count && n < MAX_NAMES; i++) {
        if (!marks[i])
            continue;
        text_printf(text, "%s'%.*s'",
                    n == 0           ? ""
                    : n + 1 == count ? " or "
                                     : ", ",
                    NAME(module, module->graphs.at[i].name));
        n++;
    }
    if (count > n)
        text_printf(text, " or %u more", count - n);
}

void outer_graphs_report(const struct invocation *invocation, const struct module *module,
                         const uint8_t *marks, const char *having)
{
    struct text names = {NULL, 0, 0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->graphs.count; i++)
        count += marks[i] != 0;
    put_names(&names, module, marks, count);
    usage_error(
        invocation,
        "the file has several graphs that no other calls; choose one by --graph: %.*s%s%s%s",
        (int)names.size, names.at, having ? ", which " : "",
        !having      ? ""
        : count == 1 ? "has "
                     : "have ",
        having ? having : "");
    text_free(&names);
}
