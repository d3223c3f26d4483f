#include "frontend/commands/run_probe.h"
#include "frontend/commands/run_launch.h"
#include "frontend/commands/run_overwrites.h"
#include "frontend/commands/run_values.h"
#include "frontend/tensor/poison.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

struct sums {
    uint64_t *at; /* of what each op has made, in turn */
    uint32_t count, capacity;
};

/* How ops run; the last two are as the first, and only where others have made something else: who
 * makes one of two things in turn makes another in one of them. */
enum turn { TURN_HIGH, TURN_LOW, TURN_ZERO, TURN_NEAR, TURN_AGAIN, TURN_ONCE_MORE, TURNS };

static const enum poison poison_of[TURNS] = {POISON_HIGH, POISON_LOW,  POISON_ZERO,
                                             POISON_NEAR, POISON_HIGH, POISON_HIGH};

struct probe {
    const struct outcome *outcome;
    struct storages storages;
    struct seal seal;
    enum turn turn, changed; /* that runs; of which sums are not those of the first */
    struct sums sums[TURNS];
    uint8_t **in_parts; /* by graph and value that stands for a memory: an op writes it in place;
                         * NULL where that was not asked yet */
    struct tainted {    /* memory of values that ops have made something else of */
        const void **at;
        uint32_t count, capacity;
    } tainted;
    bool found;
};

/* ------------------------------------------------------------------------------ sums ---- */

static uint8_t *find_parts(const struct module *module, const struct storage *storage)
{
    const struct graph *graph = storage->graph;
    uint8_t *parts = mem_calloc(graph->values.count + 1, 1);
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        struct op_write write = {0};
        while (op_next_write(module, graph, &graph->ops.at[i], &write))
            parts[memory_of(&storage->memories, write.operand)] = 1;
    }
    return parts;
}

/* Whether one op may leave what another one writes. */
static bool is_in_parts(struct probe *probe, uint32_t graph, uint32_t value)
{
    const struct storage *storage = &probe->storages.at[graph];
    if (!probe->in_parts)
        probe->in_parts = mem_calloc(probe->storages.count, sizeof *probe->in_parts);
    if (!probe->in_parts[graph])
        probe->in_parts[graph] = find_parts(probe->outcome->runner->module, storage);
    return probe->in_parts[graph][memory_of(&storage->memories, value)];
}

/* With 0 in the place of elements that nobody has written in this turn. */
static uint64_t sum_written(const unsigned char *at, uint64_t size, unsigned item,
                            unsigned char byte)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i + item <= size; i += item) {
        bool written = false;
        uint64_t element = 0;
        for (unsigned n = 0; n < item; n++) {
            written |= at[i + n] != byte;
            element = element << 8 | at[i + n];
        }
        sum = (sum ^ (written ? element : 0)) * 0x9e3779b97f4a7c15;
        sum ^= sum >> 32;
    }
    return sum;
}

static uint64_t sum_of(struct probe *probe, const struct graph *graph, uint32_t value,
                       void *const *values)
{
    const struct module *module = probe->outcome->runner->module;
    uint32_t index = graph_id(module, graph);
    const struct storage *storage = &probe->storages.at[index];
    const struct guarded memory = {.at = values[value], .size = storage->sizes[value]};
    if (!memory.at)
        return 0;
    if (!is_in_parts(probe, index, value))
        return guarded_sum(&memory);
    enum dtype dtype = module->types.at[graph->values.at[value].type].dtype;
    unsigned bits = dtype_info(dtype)->bits;
    return sum_written((const unsigned char *)memory.at, memory.size, bits < 8 ? 1 : bits / 8,
                       poison_byte(poison_of[probe->turn], dtype));
}

/* Of its results, and of operands in place. */
static uint64_t sum_op(struct probe *probe, const struct graph *graph, const struct op *op,
                       void *const *values)
{
    struct op_write write = {0};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < op->results.count; i++)
        sum = sum * 31 + sum_of(probe, graph, op->results.first + i, values);
    while (op_next_write(probe->outcome->runner->module, graph, op, &write))
        sum = sum * 31 + sum_of(probe, graph, write.operand, values);
    return sum;
}

/* Against the first turn. */
static bool has_changed(const struct probe *probe, enum turn turn)
{
    const struct sums *first = &probe->sums[TURN_HIGH], *second = &probe->sums[turn];
    bool same = first->count == second->count;
    for (uint32_t i = 0; same && i < first->count; i++)
        same = first->at[i] == second->at[i];
    return !same;
}

/* ----------------------------------------------------------------------------- taint ---- */

static bool is_tainted(const struct probe *probe, const void *memory)
{
    for (uint32_t i = 0; i < probe->tainted.count; i++)
        if (probe->tainted.at[i] == memory)
            return true;
    return false;
}

static bool reads_tainted(const struct probe *probe, const struct graph *graph, const struct op *op,
                          void *const *values)
{
    for (uint32_t i = 0; i < op->operands.count; i++)
        if (is_tainted(probe, values[op_operands(graph, op)[i]]))
            return true;
    return false;
}

static void taint(struct probe *probe, const struct graph *graph, const struct op *op,
                  void *const *values)
{
    struct op_write write = {0};
    for (uint32_t i = 0; i < op->results.count; i++)
        vec_push(&probe->tainted, values[op->results.first + i]);
    while (op_next_write(probe->outcome->runner->module, graph, op, &write))
        vec_push(&probe->tainted, values[write.operand]);
}

/* ---------------------------------------------------------------------------- reports ---- */

static void report(struct probe *probe, const struct graph *graph, const struct op *op, bool varies)
{
    const struct runner *runner = probe->outcome->runner;
    struct arena scratch = {NULL, 0};
    if (diag_at(runner->diags, DIAG_wrong_kernel, locate_op(runner->module, op, OP_TYPE_NAME, 0),
                "the kernel of %s %s", op_text(runner->module, graph, op, &scratch),
                varies ? "makes something else of the same operands each time it runs"
                       : "computes with what nobody has written") &&
        !varies)
        diag_help(runner->diags, "what it makes is something else where unwritten results, its "
                                 "workspace and what is beside tensors have other contents");
    probe->found = true;
    arena_free(&scratch);
}

/* The last turns begin as the first one; `changed` is the one before them. */
static void compare(struct probe *probe, const struct graph *graph, const struct op *op,
                    void *const *values)
{
    uint32_t i = probe->sums[TURN_ONCE_MORE].count - 1;
    if (i >= probe->sums[TURN_HIGH].count || i >= probe->sums[probe->changed].count ||
        i >= probe->sums[TURN_AGAIN].count)
        return;
    uint64_t high = probe->sums[TURN_HIGH].at[i];
    bool varies =
        high != probe->sums[TURN_AGAIN].at[i] || high != probe->sums[TURN_ONCE_MORE].at[i];
    if (high == probe->sums[probe->changed].at[i] && !varies)
        return;
    if (op->kernel != NONE && !reads_tainted(probe, graph, op, values))
        report(probe, graph, op, varies);
    taint(probe, graph, op, values);
}

/* What none of the turns shows: only others in the super kernel do it, or it has the system do it,
 * which cannot write here. */
static void compare_first(struct probe *probe)
{
    const struct runner *runner = probe->outcome->runner;
    struct text text = {NULL, 0, 0};
    if (storage_compare(storages_main(&probe->outcome->storages), storages_main(&probe->storages),
                        "op by op", &text))
        return;
    if (diag_at(runner->diags, DIAG_wrong_kernel, locate_name(runner->module, runner->graph->loc),
                "the graph leaves something else than its ops do where they run one by one"))
        diag_help(runner->diags, "%.*s", (int)strcspn(text.at, "\n"), text.at);
    probe->found = true;
    text_free(&text);
}

/* ------------------------------------------------------------------------------ turns ---- */

static void op_begins(void *context, const struct graph *graph, const struct op *op,
                      void *const *values)
{
    struct probe *probe = context;
    if (!probe->seal.storages)
        seal_init(&probe->seal, &probe->storages);
    seal_op_begins(&probe->seal, graph, op, values);
}

static void op_ended(void *context, const struct graph *graph, const struct op *op,
                     void *const *values)
{
    struct probe *probe = context;
    seal_op_ended(&probe->seal, graph, op, values);
    if (probe->turn == TURN_HIGH)
        probe->found |= overwrites_report_sealed(probe->outcome->runner, &probe->seal, graph, op);
    vec_push(&probe->sums[probe->turn], sum_op(probe, graph, op, values));
    if (probe->turn == TURN_ONCE_MORE)
        compare(probe, graph, op, values);
}

static enum exit_status run_turn(struct probe *probe, struct outcome *single, enum turn turn)
{
    enum poison poison = poison_of[turn];
    enum exit_status status = run_values_fill(probe->outcome, &probe->storages);
    probe->turn = turn;
    poison_fill_beside(&probe->storages, poison);
    probe->outcome->runner->how->spoil(single->run, poison_byte(poison, DTYPE_f32), SIZE_MAX);
    return status == EXIT_DONE ? run_launch(single, &probe->storages) : status;
}

static enum exit_status run_turns(struct probe *probe)
{
    const struct run_watch watch = {op_ended, probe, op_begins};
    struct outcome single = {.runner = probe->outcome->runner,
                             .name = "op by op",
                             .watch = &watch,
                             .seal = &probe->seal};
    enum exit_status status = run_open(&single, NULL);
    for (int i = TURN_HIGH; status == EXIT_DONE && i < TURN_AGAIN && !probe->found; i++) {
        status = run_turn(probe, &single, (enum turn)i);
        if (status != EXIT_DONE || probe->found || !has_changed(probe, (enum turn)i))
            continue;
        probe->changed = (enum turn)i;
        status = run_turn(probe, &single, TURN_AGAIN);
        if (status == EXIT_DONE)
            status = run_turn(probe, &single, TURN_ONCE_MORE);
        break;
    }
    if (status == EXIT_DONE && !probe->found && probe->outcome->runner->check_kernels)
        compare_first(probe);
    run_close(&single);
    return status == EXIT_DONE && probe->found ? EXIT_INPUT : status;
}

enum exit_status run_probe(const struct outcome *outcome)
{
    struct probe probe = {.outcome = outcome};
    enum exit_status status = EXIT_INPUT;
    if (run_values_init(outcome->runner, &probe.storages))
        status = run_turns(&probe);
    for (uint32_t i = 0; probe.in_parts && i < probe.storages.count; i++)
        mem_free(probe.in_parts[i]);
    mem_free(probe.in_parts);
    storages_free(&probe.storages);
    for (int i = 0; i < TURNS; i++)
        vec_free(&probe.sums[i]);
    vec_free(&probe.tainted);
    return status;
}
