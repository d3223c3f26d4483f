#include "frontend/run/run_operands.h"
#include "frontend/tensor/poison.h"
#include "frontend/tensor/storage.h"
#include "ir/analysis/contents.h"
#include "ir/analysis/modref.h"
#include "ir/core/calls.h"
#include "ir/optypes/op_shapes.h"
#include "ir/optypes/op_tensors.h"
#include "ir/syntax/locate.h"
#include "ir/verify/verify.h"

/* ------------------------------------------------------------------------- writers ---- */

enum { MANY = 2 };

static void add_writes(uint8_t *counts, uint32_t memory, uint8_t count)
{
    counts[memory] = counts[memory] + count < MANY ? (uint8_t)(counts[memory] + count) : MANY;
}

static void count_op(const struct storage *storage, const struct op *op, struct effects *effects,
                     uint8_t *counts)
{
    const struct module *module = storage->module;
    struct op_write write = {0};
    if (op_shared_name(module, op) != NONE) /* other graphs may write there */
        add_writes(counts, memory_of(&storage->memories, op->results.first), MANY);
    if (op_is_passive(module, storage->graph, op))
        return;
    while (op_next_write(module, storage->graph, op, &write))
        add_writes(counts, memory_of(&storage->memories, write.operand), 1);
    for (uint32_t i = 0; i < op->results.count; i++)
        if (op_alias(module, storage->graph, op, i) == NONE)
            add_writes(counts, memory_of(&storage->memories, op->results.first + i), 1);
    if (op_call_kind(op) != CALL_NONE) {
        /* Operands that graphs which the op calls write, at any time. */
        struct op_effects found = {.written = {NULL, 0, 0}};
        effects_of_op(effects, op, &found);
        for (uint32_t i = 0; i < found.written.count; i++)
            add_writes(
                counts,
                memory_of(&storage->memories, op_operands(storage->graph, op)[found.written.at[i]]),
                MANY);
        op_effects_free(&found);
    }
}

void writers_init(struct writers *writers, const struct module *module,
                  const struct storages *storages)
{
    struct effects *effects = effects_new(module);
    *writers = (struct writers){storages, mem_calloc(storages->count, sizeof *writers->counts)};
    for (uint32_t i = 0; i < storages->count; i++) {
        const struct storage *storage = &storages->at[i];
        if (!storage->graph)
            continue;
        writers->counts[i] = mem_calloc(storage->graph->values.count, 1);
        for (uint32_t op = 0; op < storage->graph->ops.count; op++)
            count_op(storage, &storage->graph->ops.at[op], effects, writers->counts[i]);
    }
    effects_free(effects);
}

void writers_free(struct writers *writers)
{
    for (uint32_t i = 0; writers->counts && i < writers->storages->count; i++)
        mem_free(writers->counts[i]);
    mem_free(writers->counts);
}

/* Parameters of graphs that are called are memory of those who call. */
bool value_is_steady(const struct writers *writers, uint32_t graph, uint32_t value)
{
    const struct storages *storages = writers->storages;
    const struct storage *storage = &storages->at[graph];
    uint32_t memory = memory_of(&storage->memories, value);
    return storage->given[memory] && writers->counts[graph][memory] == 0 &&
           (graph == storages->main_graph || memory >= storage->graph->n_params);
}

bool value_stays(const struct writers *writers, uint32_t graph, uint32_t value)
{
    const struct storage *storage = &writers->storages->at[graph];
    uint32_t memory = memory_of(&storage->memories, value);
    return value_is_steady(writers, graph, value) ||
           (graph == writers->storages->main_graph && !storage->given[memory] &&
            writers->counts[graph][memory] < MANY);
}

bool writers_are_several(const struct writers *writers, uint32_t graph, uint32_t value)
{
    const struct storage *storage = &writers->storages->at[graph];
    return writers->counts[graph][memory_of(&storage->memories, value)] >= MANY;
}

/* ------------------------------------------------------------------------ contents ---- */

/* An op whose operands are looked at. */
struct looking {
    const struct runner *runner;
    const struct graph *graph;
    const struct op *op;
    void *const *values; /* memory, by value */
    /* Which values are known: all that are steady, and if `left` all that stay; NULL: any. */
    const struct writers *writers;
    bool left;
    struct arena arena;
    struct op_tensors tensors;
    struct op_contents *contents; /* by tensor: those that were read */
};

static uint32_t value_of(const struct looking *looking, uint32_t tensor)
{
    const struct op_place *place = &looking->tensors.places[tensor];
    return op_operands(looking->graph, looking->op)[place->index];
}

static bool is_known(const struct looking *looking, uint32_t value)
{
    uint32_t graph = graph_id(looking->runner->module, looking->graph);
    return !looking->writers || value_is_steady(looking->writers, graph, value) ||
           (looking->left && value_stays(looking->writers, graph, value));
}

/* Of each operand once, since rules of single elements ask again and again. */
static bool contents_of(const struct op_call *call, uint32_t tensor, struct arena *arena,
                        struct op_contents *found)
{
    struct looking *looking = (struct looking *)call->contents_user;
    const struct op_place *place = &looking->tensors.places[tensor];
    (void)arena;
    if (place->result || !is_known(looking, value_of(looking, tensor)))
        return false;
    if (!looking->contents[tensor].at &&
        !integers_read(looking->runner->module, place->type,
                       looking->values[value_of(looking, tensor)], &looking->arena,
                       &looking->contents[tensor]))
        return false;
    *found = looking->contents[tensor];
    return true;
}

/* False where nothing is said of what stands in operands of the op. */
static bool looking_init(struct looking *looking, const struct runner *runner,
                         const struct graph *graph, const struct op *op, void *const *values)
{
    const struct op_type *type = op_type_find(runner->module, op->type);
    if (!type || type->n_contents == 0 || op_is_unchecked(runner->module, op))
        return false;
    *looking = (struct looking){.runner = runner, .graph = graph, .op = op, .values = values};
    op_tensors_init(&looking->tensors, runner->module, graph, op, type, &looking->arena);
    uint32_t count = looking->tensors.call.n_tensors;
    looking->contents = arena_alloc(&looking->arena, (count + 1) * sizeof *looking->contents);
    memset(looking->contents, 0, count * sizeof *looking->contents);
    looking->tensors.call.contents = contents_of;
    looking->tensors.call.contents_user = looking;
    if (looking->tensors.misfit == OP_FITS &&
        op_tensors_are_plain(runner->module, &looking->tensors))
        return true;
    arena_free(&looking->arena);
    return false;
}

/* Whether an operand that rules need is not known. */
static bool has_unknown(const struct looking *looking)
{
    const struct op_call *call = &looking->tensors.call;
    for (uint32_t i = 0; i < call->n_tensors; i++)
        if (!looking->tensors.places[i].result &&
            op_range_needs(call->type, call->tensors[i].slot) &&
            !is_known(looking, value_of(looking, i)))
            return true;
    return false;
}

/* ------------------------------------------------------------------------- reports ---- */

static void help_input(const struct looking *looking, uint32_t value,
                       const struct op_range_fault *fault)
{
    const struct runner *runner = looking->runner;
    const struct intern_name *name =
        &runner->module->names.names[looking->graph->values.at[value].name];
    if (fault->low <= fault->high)
        diag_help(runner->diags, "--input %.*s=rand:%lld..%lld gives it numbers that are right",
                  SHOWN_NAME(name), (long long)fault->low, (long long)fault->high);
    else
        diag_help(runner->diags, "--input %.*s=SPEC gives it other numbers", (int)name->size,
                  name->text);
}

/* What may be changed about it: an input, or the op that computes it. */
static void report(const struct looking *looking, const struct op_range_fault *fault)
{
    const struct runner *runner = looking->runner;
    uint32_t operand = value_of(looking, fault->tensor);
    uint32_t value = viewed_value(runner->module, looking->graph, operand);
    if (!operand_value_report(runner->module, looking->op, &looking->tensors, fault, runner->diags))
        return;
    if (!value_is_given(runner->module, looking->graph, value))
        diag_note(runner->diags, locate_value(runner->module, looking->graph, value),
                  "it is computed here");
    else if (looking->graph == runner->graph)
        help_input(looking, value, fault);
}

/* ---------------------------------------------------------------------------- runs ---- */

bool run_operands_check_op(const struct runner *runner, const struct graph *graph,
                           const struct op *op, void *const *values)
{
    struct looking looking;
    struct op_range_fault fault;
    if (!looking_init(&looking, runner, graph, op, values))
        return true;
    bool ok = op_ranges_check(&looking.tensors.call, &fault);
    if (!ok)
        report(&looking, &fault);
    arena_free(&looking.arena);
    return ok;
}

/* Whether there are rules for any op, which is all that most graphs need to be asked. */
static bool has_rules(const struct runner *runner, const struct storages *storages)
{
    for (uint32_t i = 0; i < storages->count; i++)
        for (uint32_t n = 0; storages->at[i].graph && n < storages->at[i].graph->ops.count; n++) {
            uint32_t name = storages->at[i].graph->ops.at[n].type;
            const struct op_type *type = op_type_find(runner->module, name);
            if (type && type->n_contents)
                return true;
        }
    return false;
}

/* What is not written is the fault of the kernel that was to write it. */
static bool is_poisoned(const struct outcome *outcome, uint32_t graph, uint32_t value)
{
    struct unwritten unwritten;
    const struct storage *storage = &outcome->storages.at[graph];
    uint32_t memory = memory_of(&storage->memories, value);
    return poison_is_for(&outcome->storages, graph, memory) &&
           poison_find(storage, NULL, memory, &unwritten);
}

enum exit_status run_operands_check(const struct outcome *outcome, bool left, bool *changing)
{
    const struct storages *storages = &outcome->storages;
    enum exit_status status = EXIT_DONE;
    struct writers writers;
    *changing = false;
    if (!has_rules(outcome->runner, storages))
        return EXIT_DONE;
    writers_init(&writers, outcome->runner->module, storages);
    for (uint32_t g = 0; g < storages->count; g++) {
        const struct storage *storage = &storages->at[g];
        bool looks = storage->graph && (!left || outcome->run->ran[g]);
        for (uint32_t i = 0; looks && i < storage->graph->ops.count; i++) {
            struct looking looking;
            struct op_range_fault fault;
            if (!looking_init(&looking, outcome->runner, storage->graph, &storage->graph->ops.at[i],
                              storage->data))
                continue;
            looking.writers = &writers;
            bool skipped = left && !has_unknown(&looking); /* it was looked at before */
            looking.left = left;
            *changing |= left && !skipped && has_unknown(&looking);
            if (!skipped && !op_ranges_check(&looking.tensors.call, &fault) &&
                !(left && is_poisoned(outcome, g, value_of(&looking, fault.tensor)))) {
                report(&looking, &fault);
                status = EXIT_INPUT;
            }
            arena_free(&looking.arena);
        }
    }
    writers_free(&writers);
    return status;
}
