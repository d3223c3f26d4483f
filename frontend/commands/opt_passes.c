#include "frontend/commands/opt_passes.h"

#include <string.h>

static bool append(struct pipeline *pipeline, const struct invocation *invocation,
                   const struct pass_table *table, const char *option, const char *list)
{
    char error[256];
    if (pipeline_append(pipeline, table, list, error, sizeof error))
        return true;
    fprintf(invocation->err, "skirc: --%s: %s\n", option, error);
    return false;
}

/* The place of the pass that an option names in the pipeline, the first from `from` on. NONE, with
 * a message, where there is none. */
static uint32_t find_pass(const struct pipeline *pipeline, const struct invocation *invocation,
                          const struct pass_table *table, const char *option, uint32_t from)
{
    const char *name = option_value(invocation, option);
    uint32_t row = pass_table_find(table, name, strlen(name));
    struct suggest suggest = {.wanted = name, .wanted_size = strlen(name)};
    for (uint32_t i = from; row != NONE && i < pipeline->count; i++)
        if (pipeline->at[i] == table->at[row])
            return i;
    if (row == NONE) {
        pass_table_offer(table, &suggest);
        fprintf(invocation->err, "skirc: --%s: unknown pass '%s'%s\n", option, name,
                suggest.best ? suggest_end(&suggest).text : "; see --list-passes");
    } else {
        fprintf(invocation->err, "skirc: --%s: '%s' is not among the passes to run%s\n", option,
                name, from ? ", behind that of --start-after" : "");
    }
    return NONE;
}

/* Keeps what is behind the one pass, and up to the other. */
static bool cut(struct pipeline *pipeline, const struct invocation *invocation,
                const struct pass_table *table)
{
    uint32_t first = 0, last = pipeline->count;
    if (option_given(invocation, "start-after")) {
        first = find_pass(pipeline, invocation, table, "start-after", 0);
        if (first == NONE)
            return false;
        first++;
    }
    if (option_given(invocation, "stop-after")) {
        last = find_pass(pipeline, invocation, table, "stop-after", first);
        if (last == NONE)
            return false;
        last++;
    }
    for (uint32_t i = first; i < last; i++)
        pipeline->at[i - first] = pipeline->at[i];
    pipeline->count = last - first;
    return true;
}

static bool read_run(struct opt_passes *passes, const struct invocation *invocation,
                     const struct pass_table *table)
{
    const char *list;
    bool limited =
        option_given(invocation, "start-after") || option_given(invocation, "stop-after");
    passes->given = limited || option_given(invocation, "passes");
    for (unsigned i = 0; (list = option_value_at(invocation, "passes", i)); i++)
        if (!append(&passes->run, invocation, table, "passes", list))
            return false;
    if (!option_given(invocation, "passes") && limited &&
        !append(&passes->run, invocation, table, "passes", "default"))
        return false;
    return cut(&passes->run, invocation, table);
}

bool opt_passes_prints(const struct opt_passes *passes, const struct pass *pass)
{
    for (uint32_t i = 0; i < passes->printed.count; i++)
        if (passes->printed.at[i] == pass)
            return true;
    return passes->print_all;
}

/* Dumps that nobody would see are a slip. */
static bool check_printed(const struct opt_passes *passes, const struct invocation *invocation)
{
    bool seen = passes->printed.count == 0;
    for (uint32_t i = 0; i < passes->run.count; i++)
        seen |= opt_passes_prints(passes, passes->run.at[i]);
    if (!seen && passes->run.count)
        fprintf(invocation->err, "skirc: --print-after: '%s' is not among the passes to run\n",
                option_value(invocation, "print-after"));
    return seen || !passes->run.count;
}

bool opt_passes_read(struct opt_passes *passes, const struct invocation *invocation,
                     const struct pass_table *table)
{
    const char *after = option_value(invocation, "print-after");
    *passes = (struct opt_passes){.print_all = after && strcmp(after, "all") == 0};
    return read_run(passes, invocation, table) &&
           (!after || passes->print_all ||
            append(&passes->printed, invocation, table, "print-after", after)) &&
           check_printed(passes, invocation);
}

void opt_passes_free(struct opt_passes *passes)
{
    pipeline_free(&passes->run);
    pipeline_free(&passes->printed);
}
