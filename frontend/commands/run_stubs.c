#include "frontend/commands/run_stubs.h"
#include "ir/calls.h"
#include "ir/syntax/locate.h"
#include "ir/variants.h"

static void mark_kernels(const struct module *module, const struct graph *graph, uint8_t *used)
{
    for (uint32_t i = 0; i < graph->ops.count; i++)
        if (graph->ops.at[i].kernel != NONE)
            used[kernel_id(module, module_kernel(module, graph->ops.at[i].kernel))] = 1;
}

/* By index, the kernels of the graph and of all that it calls. */
static uint8_t *used_kernels(const struct module *module, const struct graph *graph)
{
    uint8_t *used = mem_calloc(module->kernels.count, 1);
    uint8_t *reached = mem_calloc(module->graphs.count, 1);
    uint8_t *done = mem_calloc(module->graphs.count, 1);
    bool more = true;
    reached[graph_id(module, graph)] = 1;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < module->graphs.count; i++) {
            if (!reached[i] || done[i])
                continue;
            more = true;
            done[i] = 1;
            graph_mark_called(module, &module->graphs.at[i], reached);
            mark_kernels(module, &module->graphs.at[i], used);
        }
    }
    mem_free(reached);
    mem_free(done);
    return used;
}

bool run_without_stubs(const struct module *module, const struct graph *graph, struct diags *diags)
{
    uint8_t *used = used_kernels(module, graph);
    bool none = true;
    for (uint32_t i = 0; i < module->kernels.count; i++) {
        const struct kernel *kernel = &module->kernels.at[i];
        if (!used[i] || !kernel_is_stub(module, kernel))
            continue;
        if (diag_at(diags, DIAG_stub, locate_name(module, kernel->loc),
                    "'@%.*s' is a stub: it has no code to run", NAME(module, kernel->name)) &&
            none)
            diag_help(diags, "instead of 'stub', write object = \"FILE.o\", function = \"NAME\"");
        none = false;
    }
    mem_free(used);
    return none;
}
