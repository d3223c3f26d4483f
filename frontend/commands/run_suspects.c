#include "frontend/commands/run_suspects.h"
#include "frontend/cli/apart.h"
#include "ir/calls.h"
#include "ir/gears.h"
#include "ir/syntax/spelling.h"

enum { SHOWN = 8 };

struct suspects {
    struct text text;
    uint64_t count;
};

static void add_op(struct suspects *suspects, const struct runner *runner,
                   const struct graph *graph, const struct op *op)
{
    struct arena scratch = {NULL, 0};
    if (suspects->count++ < SHOWN)
        text_printf(&suspects->text, "%s%s", suspects->count == 1 ? "it is one of " : ", ",
                    op_text(runner->module, graph, op, &scratch));
    arena_free(&scratch);
}

static void add_graph(struct suspects *suspects, const struct runner *runner,
                      const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->ops.count; i++)
        if (graph->ops.at[i].kernel != NONE)
            add_op(suspects, runner, graph, &graph->ops.at[i]);
}

/* The graph first, then those that it calls. */
static void add_runner(struct suspects *suspects, const struct runner *runner)
{
    const struct module *module = runner->module;
    uint32_t own = graph_id(module, runner->graph);
    uint8_t *marks = mem_calloc(module->graphs.count, 1);
    marks[own] = 1;
    graphs_mark_reached(module, marks);
    add_graph(suspects, runner, runner->graph);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        if (marks[i] && i != own)
            add_graph(suspects, runner, &module->graphs.at[i]);
    mem_free(marks);
}

void run_suspects_tell(const struct outcomes *outcomes)
{
    struct suspects suspects = {{NULL, 0, 0}, 0};
    for (unsigned i = 0; i < outcomes->count; i++)
        if (i == 0 || outcomes->at[i].runner != outcomes->at[0].runner)
            add_runner(&suspects, outcomes->at[i].runner);
    if (suspects.count > SHOWN)
        text_printf(&suspects.text, ", and %llu more",
                    (unsigned long long)(suspects.count - SHOWN));
    text_printf(&suspects.text, "%s", suspects.count ? "\n" : "");
    text_char(&suspects.text, '\0');
    apart_suspect(suspects.text.at, suspects.count);
    text_free(&suspects.text);
}
