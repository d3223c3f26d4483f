#include "frontend/commands/run_overwrites.h"
#include "frontend/commands/run_findings.h"
#include "frontend/tensor/poison.h"
#include "ir/calls.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

void overwrites_begin(struct overwrites *overwrites, struct outcome *outcome)
{
    const struct storages *storages = &outcome->storages;
    *overwrites = (struct overwrites){.outcome = outcome};
    overwrites->graphs = mem_calloc(storages->count, sizeof *overwrites->graphs);
    outcome->seal = &overwrites->seal;
    for (uint32_t i = 0; i < storages->count; i++) {
        struct overwrites_graph *of = &overwrites->graphs[i];
        if (!storages->at[i].graph)
            continue;
        of->known = mem_calloc(storages->at[i].graph->values.count, sizeof *of->known);
        of->sums = mem_calloc(storages->at[i].graph->values.count, sizeof *of->sums);
    }
}

static void note_written(struct overwrites *overwrites, uint32_t graph, uint32_t value)
{
    const struct storages *storages = &overwrites->outcome->storages;
    uint32_t id = memory_of(&storages->at[graph].memories, value);
    if (!poison_is_for(storages, graph, id))
        return;
    overwrites->graphs[graph].known[id] = true;
    overwrites->graphs[graph].sums[id] = guarded_sum(&storages->at[graph].guarded[id]);
}

/* Its results, and operands that it, or what it calls, writes. */
static void note_op(struct overwrites *overwrites, const struct graph *graph, const struct op *op)
{
    uint32_t index = graph_id(overwrites->outcome->runner->module, graph);
    struct op_write write = {0};
    while (op_next_write(overwrites->outcome->runner->module, graph, op, &write))
        note_written(overwrites, index, write.operand);
    for (uint32_t i = 0; op_call_kind(op) != CALL_NONE && i < op->operands.count; i++)
        note_written(overwrites, index, op_operands(graph, op)[i]);
    for (uint32_t i = 0; i < op->results.count; i++)
        note_written(overwrites, index, op->results.first + i);
}

static void report(struct overwrites *overwrites, const struct graph *graph, const struct op *op,
                   uint32_t operand)
{
    const struct runner *runner = overwrites->outcome->runner;
    struct arena scratch = {NULL, 0};
    if (diag_at(runner->diags, DIAG_wrong_kernel, locate_op(runner->module, op, OP_TYPE_NAME, 0),
                "the kernel of %s writes into its operand '%%%.*s', which the op only reads",
                op_text(runner->module, graph, op, &scratch),
                NAME(runner->module, graph->values.at[operand].name)))
        findings_help_inplace(runner->diags);
    overwrites->found = true;
    arena_free(&scratch);
}

static bool is_operand(const struct memories *memories, const struct graph *graph,
                       const struct op *op, uint32_t memory)
{
    for (uint32_t i = 0; i < op->operands.count; i++)
        if (memory_of(memories, op_operands(graph, op)[i]) == memory)
            return true;
    return false;
}

/* Values of other graphs than the op's are those that call it, or that it calls. */
bool overwrites_report_sealed(const struct runner *runner, const struct seal *seal,
                              const struct graph *graph, const struct op *op)
{
    const struct sealed *written = seal_written(seal);
    if (!written)
        return false;
    const struct storage *storage = &seal->storages->at[written->graph];
    const struct intern_name *name =
        &runner->module->names.names[storage->graph->values.at[written->value].name];
    struct arena scratch = {NULL, 0};
    bool own = storage->graph == graph && is_operand(&storage->memories, graph, op, written->value);
    if (diag_at(runner->diags, DIAG_wrong_kernel, locate_op(runner->module, op, OP_TYPE_NAME, 0),
                "the kernel of %s writes into %s'%%%.*s', which %s",
                op_text(runner->module, graph, op, &scratch), own ? "its operand " : "",
                SHOWN_NAME(name), own ? "the op only reads" : "is none of the op's values")) {
        findings_help_first(runner->diags, seal->call);
        if (own)
            findings_help_inplace(runner->diags);
    }
    arena_free(&scratch);
    return true;
}

static void check_operand(struct overwrites *overwrites, const struct graph *graph,
                          const struct op *op, uint32_t operand)
{
    uint32_t index = graph_id(overwrites->outcome->runner->module, graph);
    const struct storage *storage = &overwrites->outcome->storages.at[index];
    struct overwrites_graph *of = &overwrites->graphs[index];
    uint32_t id = memory_of(&storage->memories, operand);
    if (!of->known[id] || of->sums[id] == guarded_sum(&storage->guarded[id]))
        return;
    report(overwrites, graph, op, operand);
    note_written(overwrites, index, operand);
}

/* What was made of it in another graph is not what it was either. */
static void check_sealed(struct overwrites *overwrites, const struct graph *graph,
                         const struct op *op)
{
    const struct sealed *written = seal_written(&overwrites->seal);
    if (!overwrites_report_sealed(overwrites->outcome->runner, &overwrites->seal, graph, op))
        return;
    overwrites->found = true;
    note_written(overwrites, written->graph, written->value);
}

void overwrites_op_begins(void *context, const struct graph *graph, const struct op *op,
                          void *const *values)
{
    struct overwrites *overwrites = context;
    if (overwrites->ended)
        return;
    if (!overwrites->seal.storages)
        seal_init(&overwrites->seal, &overwrites->outcome->storages);
    seal_op_begins(&overwrites->seal, graph, op, values);
}

/* What the op writes is noted first, so that it is what it is expected to be. */
void overwrites_op_ended(void *context, const struct graph *graph, const struct op *op,
                         void *const *values)
{
    struct overwrites *overwrites = context;
    if (overwrites->ended)
        return;
    seal_op_ended(&overwrites->seal, graph, op, values);
    check_sealed(overwrites, graph, op);
    note_op(overwrites, graph, op);
    for (uint32_t i = 0; i < op->operands.count; i++)
        check_operand(overwrites, graph, op, op_operands(graph, op)[i]);
}

bool overwrites_end(struct overwrites *overwrites)
{
    overwrites->ended = true;
    return overwrites->found;
}

void overwrites_free(struct overwrites *overwrites)
{
    for (uint32_t i = 0; overwrites->graphs && i < overwrites->outcome->storages.count; i++) {
        mem_free(overwrites->graphs[i].known);
        mem_free(overwrites->graphs[i].sums);
    }
    mem_free(overwrites->graphs);
}
