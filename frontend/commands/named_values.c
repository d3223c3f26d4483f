#include "frontend/commands/named_values.h"
#include "ir/base/suggest.h"
#include "ir/contents.h"

#include <string.h>

/* The words of messages about a kind. */
static const struct {
    const char *noun, *behind;
} kinds[] = {
    [NAMED_PARAMETER] = {"parameter", "SPEC"},
    [NAMED_VALUE] = {"value", "FILE.npy"},
};

/* Whether the option may name the value. */
static bool is_of(const struct module *module, const struct graph *graph, enum named_kind kind,
                  uint32_t value)
{
    const struct value *v = &graph->values.at[value];
    return v->def != DEF_MISSING && v->type != module->token &&
           (kind != NAMED_PARAMETER || value_is_given(module, graph, value));
}

/* NONE where there is no such value. A name may have its `%`. */
static uint32_t find_value(const struct module *module, const struct graph *graph,
                           enum named_kind kind, const char *text, size_t size)
{
    size_t sigil = size > 0 && *text == '%';
    uint32_t name = intern_find(&module->names, text + sigil, size - sigil);
    for (uint32_t i = 0; name != NONE && i < graph->values.count; i++)
        if (graph->values.at[i].name == name && is_of(module, graph, kind, i))
            return i;
    return NONE;
}

static void report_unknown(const struct invocation *invocation, const char *option,
                           const struct module *module, const struct graph *graph,
                           enum named_kind kind, const char *text, size_t size)
{
    struct suggest suggest = {.wanted = text, .wanted_size = size};
    for (uint32_t i = 0; i < graph->values.count; i++)
        if (is_of(module, graph, kind, i))
            name_offer(&suggest, module, graph->values.at[i].name);
    usage_error(invocation, "--%s: the graph has no %s '%.*s'%s", option, kinds[kind].noun,
                (int)size, text, suggest_end(&suggest).text);
}

bool named_values_parse(struct named_values *named, const struct invocation *invocation,
                        const char *option, const struct module *module, const struct graph *graph,
                        enum named_kind kind)
{
    const char *text;
    for (unsigned i = 0; (text = option_value_at(invocation, option, i)); i++) {
        const char *sign = strchr(text, '=');
        if (!sign || !sign[1]) {
            usage_error(invocation, "--%s %s: expected NAME=%s", option, text, kinds[kind].behind);
            return false;
        }
        size_t size = (size_t)(sign - text);
        uint32_t value = find_value(module, graph, kind, text, size);
        if (value == NONE) {
            report_unknown(invocation, option, module, graph, kind, text, size);
            return false;
        }
        vec_push(named, (struct named_value){value, sign + 1});
    }
    return true;
}

void named_values_free(struct named_values *named)
{
    vec_free(named);
}

const char *named_values_find(const struct named_values *named, uint32_t value)
{
    const char *text = NULL;
    for (uint32_t i = 0; i < named->count; i++)
        if (named->at[i].value == value)
            text = named->at[i].text;
    return text;
}
