#include "backend/device/calls.h"
#include "ir/calls.h"
#include "ir/memories.h"
#include "ir/syntax/locate.h"

/* ------------------------------------------------------------------------------ runs ---- */

static struct device_run *new_run(struct device_run *root, const struct graph *graph)
{
    struct device_run *run = mem_calloc(1, sizeof *run);
    run->root = root;
    run->target = root->target;
    run->options = root->options;
    run->module = root->module;
    run->graph = graph;
    run->diags = root->diags;
    return run;
}

/* Each graph once; its run stands in the list before those of graphs that it calls. */
void calls_open(struct device_run *run)
{
    uint8_t *seen = mem_calloc(run->module->graphs.count, 1);
    vec_push(&run->runs, run);
    for (uint32_t i = 0; i < run->runs.count; i++) {
        const struct graph *graph = run->runs.at[i]->graph;
        struct callee callee;
        seen[graph_id(run->module, graph)] = 1;
        for (uint32_t op = 0; op < graph->ops.count; op++)
            for (uint32_t n = 0; op_callee(run->module, &graph->ops.at[op], n, &callee); n++) {
                if (seen[callee.graph])
                    continue;
                seen[callee.graph] = 1;
                vec_push(&run->runs, new_run(run, &run->module->graphs.at[callee.graph]));
            }
    }
    mem_free(seen);
}

static struct device_run *run_of(const struct device_run *run, const struct graph *graph)
{
    const struct device_run *root = run->root;
    uint32_t i = 0;
    while (root->runs.at[i]->graph != graph)
        i++;
    return root->runs.at[i];
}

static bool result_sizes(struct device_run *run, struct device_call *call)
{
    for (uint32_t i = 0; i < call->n_results; i++)
        if (!device_value_size(run->module, run->graph->values.at[call->op->results.first + i].type,
                               locate_op(run->module, call->op, OP_RESULT, i), &call->sizes[i],
                               run->diags))
            return false;
    return true;
}

struct device_call *calls_make(struct device_run *run, const struct op *op)
{
    struct device_call *call = arena_alloc(&run->arena, sizeof *call);
    enum call_kind kind = op_call_kind(op);
    struct callee callee;
    *call = (struct device_call){.op = op,
                                 .kind = kind,
                                 .n_args = op->operands.count - call_info(kind)->lead,
                                 .n_results = op_tensor_results(run->module, run->graph, op)};
    while (op_callee(run->module, op, call->n_callees, &callee))
        call->n_callees++;
    call->callees = arena_alloc(&run->arena, (call->n_callees + 1) * sizeof *call->callees);
    for (uint32_t i = 0; i < call->n_callees; i++)
        call->callees[i] = run_of(run, op_called_graph(run->module, op, i));
    call->sizes = arena_alloc(&run->arena, (call->n_results + 1) * sizeof *call->sizes);
    call->args = arena_alloc(&run->arena, (call->n_args + 1) * sizeof *call->args);
    call->next = arena_alloc(&run->arena, (call->n_args + 1) * sizeof *call->next);
    vec_push(&run->calls, call);
    return result_sizes(run, call) ? call : NULL;
}

void calls_free(struct device_run *run)
{
    for (uint32_t i = 0; i < run->calls.count; i++) {
        struct device_call *call = run->calls.at[i];
        for (uint32_t b = 0; b < call->buffers.count; b++)
            mem_free(call->buffers.at[b].at);
        vec_free(&call->buffers);
    }
    vec_free(&run->calls);
    mem_free(run->values);
    mem_free(run->of_params);
}

/* ---------------------------------------------------------------------------- memory ---- */

/* The memory of each variable that has a name: that of the first graph that has it. */
static void bind_variables(struct device_run *run, const struct memories *memories,
                           void **of_variable)
{
    const struct graph *graph = run->graph;
    void **of_memory = mem_calloc(graph->values.count, sizeof *of_memory);
    bool any = false;
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        uint32_t name = op_shared_name(run->module, op);
        if (name == NONE || op->results.count == 0)
            continue;
        if (!of_variable[name])
            of_variable[name] = run->values[op->results.first];
        of_memory[memory_of(memories, op->results.first)] = of_variable[name];
        any = true;
    }
    for (uint32_t i = 0; any && i < graph->values.count; i++)
        if (of_memory[memory_of(memories, i)])
            run->values[i] = of_memory[memory_of(memories, i)];
    mem_free(of_memory);
}

static void bind_run(struct device_run *run, void *const *values, void **of_variable)
{
    uint32_t n = run->graph->values.count;
    struct memories memories;
    memories_init(&memories, run->module, run->graph);
    if (!run->values) {
        run->values = mem_calloc(n, sizeof *run->values);
        run->of_params = mem_calloc(n, sizeof *run->of_params);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t memory = memory_of(&memories, i);
        run->values[i] = values[i];
        run->of_params[i] = memory < run->graph->n_params ? memory : NONE;
    }
    bind_variables(run, &memories, of_variable);
    memories_free(&memories);
}

void calls_bind(struct device_run *run, void *const *const *values)
{
    void **of_variable = mem_calloc(run->module->names.count, sizeof *of_variable);
    for (uint32_t i = 0; i < run->runs.count; i++)
        bind_run(run->runs.at[i], values[graph_id(run->module, run->runs.at[i]->graph)],
                 of_variable);
    mem_free(of_variable);
}
