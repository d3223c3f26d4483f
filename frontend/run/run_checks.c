#include "frontend/run/run_checks.h"
#include "frontend/run/run_answers.h"
#include "frontend/run/run_launch.h"
#include "frontend/run/run_operands.h"
#include "frontend/run/run_values.h"
#include "ir/core/calls.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

#include <string.h>

/* What a run of the graph has left that shows a wrong kernel, for ops to be found that do it. */
struct run_signs {
    struct unwritten_list {
        struct unwritten *at;
        uint32_t count, capacity;
    } unwritten;
    bool beside;  /* something is written next to a memory */
    bool changed; /* an input is that no op writes */
    bool unknown; /* operands are to be looked at op by op */
};

/* The ops of a graph run one by one, in two turns: what no kernel has written (results, workspaces,
 * in the second turn also what is next to tensors) holds POISON_LOW in the first and POISON_HIGH in
 * the second. After each op of the first turn,
 *
 *   - what is next to its tensors and workspaces is as before;
 *   - memory of values that is none of its results, nor written in place, has the sum it had;
 *   - no element of its results holds POISON_LOW where the run of the graph, which began with
 *     POISON_HIGH, has left POISON_HIGH.
 *
 * After each op of the second turn, its results have the sums that they had in the first. A fault
 * is reported once, at the op that begins it: memory with such elements is tainted, and what an op
 * makes of tainted operands is tainted, but no fault of its own. So is what an op makes of operands
 * that are out of range.
 *
 * Sums of all memory after each op take time in proportion to ops times bytes. */

/* ----------------------------------------------------------------------------- reports ---- */

static bool report_op(const struct runner *runner, const struct graph *graph, const struct op *op,
                      const struct text *what)
{
    struct arena scratch = {NULL, 0};
    bool shown = diag_at(runner->diags, DIAG_wrong_kernel,
                         locate_op(runner->module, op, OP_TYPE_NAME, 0), "the kernel of %s %.*s",
                         op_text(runner->module, graph, op, &scratch), (int)what->size, what->at);
    arena_free(&scratch);
    return shown;
}

static void put_value(struct text *text, const struct storage *storage, uint32_t value,
                      const struct graph *main_graph)
{
    const struct module *module = storage->module;
    text_char(text, '\'');
    if (storage->graph != main_graph)
        text_printf(text, "@%.*s.", NAME(module, storage->graph->name));
    text_printf(text, "%%%.*s'", NAME(module, storage->graph->values.at[value].name));
}

/* --------------------------------------------------------------------- memory of others ---- */

static void sums_init(struct memory_sums *sums, const struct storages *storages)
{
    for (uint32_t graph = 0; graph < storages->count; graph++) {
        const struct storage *storage = &storages->at[graph];
        for (uint32_t i = 0; storage->graph && i < storage->graph->values.count; i++) {
            const struct guarded *memory = &storage->guarded[i];
            bool own = graph == storages->main_graph || i >= storage->graph->n_params;
            bool known = memory->at && storage->given[i] && own;
            if (memory->at)
                vec_push(sums, (struct known_memory){memory, graph, i, known,
                                                     known ? guarded_sum(memory) : 0});
        }
    }
}

/* Ops that call graphs have ops of those write their operands. */
static bool may_write(const struct module *module, const struct graph *graph, const struct op *op,
                      void *const *values, const void *memory)
{
    struct op_write write = {0};
    for (uint32_t i = 0; i < op->results.count; i++)
        if (values[op->results.first + i] == memory)
            return true;
    while (op_next_write(module, graph, op, &write))
        if (values[write.operand] == memory)
            return true;
    return op_call_kind(op) != CALL_NONE;
}

static bool is_operand(const struct graph *graph, const struct op *op, void *const *values,
                       const void *memory)
{
    for (uint32_t i = 0; i < op->operands.count; i++)
        if (values[op_operands(graph, op)[i]] == memory)
            return true;
    return false;
}

/* Of all memories, or of the op's operands alone. Whether the op has written one that it is not
 * said to write. */
static bool check_memories(const struct runner *runner, const struct storages *storages,
                           struct memory_sums *sums, const struct graph *graph, const struct op *op,
                           void *const *values, bool all)
{
    bool found = false;
    for (uint32_t i = 0; i < sums->count; i++) {
        struct known_memory *known = &sums->at[i];
        bool writes = may_write(runner->module, graph, op, values, known->memory->at);
        bool operand = is_operand(graph, op, values, known->memory->at);
        if (!writes && (!known->known || !(all || operand)))
            continue;
        uint64_t sum = guarded_sum(known->memory);
        if (!writes && sum != known->sum) {
            struct text text = {NULL, 0, 0};
            text_string(&text, operand ? "writes into its operand " : "writes into ");
            put_value(&text, &storages->at[known->graph], known->value, graph);
            text_string(&text, operand ? ", which the op only reads"
                                       : ", which is none of the op's values");
            if (report_op(runner, graph, op, &text) && operand)
                diag_help(
                    runner->diags,
                    "an op that writes an operand says so: {inplace = [N]}, N being its place");
            text_free(&text);
            found = true;
        }
        known->known |= writes && op_call_kind(op) == CALL_NONE;
        known->sum = sum;
    }
    return found;
}

void operand_checks_begin(struct operand_checks *checks, const struct runner *runner,
                          const struct storages *storages)
{
    *checks = (struct operand_checks){.runner = runner, .storages = storages};
    sums_init(&checks->sums, storages);
}

void operand_checks_op_ended(void *context, const struct graph *graph, const struct op *op,
                             void *const *values)
{
    struct operand_checks *checks = context;
    if (checks->runner)
        checks->found |= check_memories(checks->runner, checks->storages, &checks->sums, graph, op,
                                        values, false);
}

void operand_checks_free(struct operand_checks *checks)
{
    vec_free(&checks->sums);
    *checks = (struct operand_checks){.runner = NULL};
}

/* --------------------------------------------------------------------------- both turns ---- */

/* Sums of an op's results: of all elements, but where several ops write a memory; and without
 * elements that hold poison. */
struct result_sums {
    uint64_t all, written;
};

struct left_out {
    uint32_t op; /* of those that have ended */
    struct unwritten found;
};

struct op_checks {
    const struct outcome *outcome;
    struct runner *runner;
    const struct storages *storages;
    const struct run_signs *signs;
    struct backend_run *run; /* in which ops run one by one */
    enum poison turn;
    struct memory_sums sums;
    struct writers writers;
    VEC(struct result_sums) results; /* of each op of the first turn */
    VEC(struct left_out) unwritten;  /* what kernels of the first turn are to blame for */
    uint32_t ended;                  /* ops of the second turn */
    VEC(const void *) tainted;       /* memory */
    bool found, found_beside, found_written;
};

static bool is_tainted(const struct op_checks *checks, const void *memory)
{
    for (uint32_t i = 0; i < checks->tainted.count; i++)
        if (checks->tainted.at[i] == memory)
            return true;
    return false;
}

static void taint(struct op_checks *checks, const void *memory)
{
    if (!is_tainted(checks, memory))
        vec_push(&checks->tainted, memory);
}

static const struct storage *storage_of(const struct op_checks *checks, const struct graph *graph)
{
    return &checks->storages->at[graph_id(checks->runner->module, graph)];
}

/* Each value that the op makes: its results, then operands in place. NONE behind the last. */
static uint32_t made_value(const struct op_checks *checks, const struct graph *graph,
                           const struct op *op, uint32_t n)
{
    struct op_write write = {0};
    if (n < op->results.count)
        return op->results.first + n;
    for (n -= op->results.count; op_next_write(checks->runner->module, graph, op, &write); n--)
        if (n == 0)
            return write.operand;
    return NONE;
}

/* Whether an operand or a result is tainted before the op is looked at. */
static bool has_tainted(const struct op_checks *checks, const struct graph *graph,
                        const struct op *op, void *const *values)
{
    uint32_t value;
    for (uint32_t i = 0; i < op->operands.count; i++)
        if (is_tainted(checks, values[op_operands(graph, op)[i]]))
            return true;
    for (uint32_t n = 0; (value = made_value(checks, graph, op, n)) != NONE; n++)
        if (is_tainted(checks, values[value]))
            return true;
    return false;
}

/* --------------------------------------------------------------------------- unwritten ---- */

/* The index of the first such element: "[1, 3]". */
static void put_index(const struct module *module, const struct unwritten *unwritten, char *text,
                      size_t size)
{
    uint32_t type = module->graphs.at[unwritten->graph].values.at[unwritten->value].type;
    uint32_t rank = module->types.at[type].rank;
    uint32_t bits = dtype_info(module->types.at[type].dtype)->bits;
    uint64_t left = unwritten->first * (bits < 8 ? 8 / bits : 1);
    int64_t at[TENSOR_MAX_RANK];
    for (uint32_t i = rank; i-- > 0 && i < TENSOR_MAX_RANK;
         left /= (uint64_t)type_dims(module, type)[i])
        at[i] = (int64_t)(left % (uint64_t)type_dims(module, type)[i]);
    tensor_dims_text(at, rank, text, size);
}

/* "writes none of the 8 elements of '%y', the first at [0]"; elements below a byte count by the
 * byte. */
static void put_unwritten(struct text *text, const struct module *module,
                          const struct unwritten *unwritten)
{
    const struct value *value = &module->graphs.at[unwritten->graph].values.at[unwritten->value];
    const struct intern_name *name = &module->names.names[value->name];
    bool small = dtype_info(module->types.at[value->type].dtype)->bits < 8;
    unsigned long long count = unwritten->count, elements = unwritten->elements;
    char first[256];
    put_index(module, unwritten, first, sizeof first);
    if (count == elements)
        text_printf(text, "writes none of the %llu %s of '%%%.*s'", elements,
                    small ? "bytes" : "elements", SHOWN_NAME(name));
    else
        text_printf(text, "leaves %llu of %llu %s of '%%%.*s' unwritten", count, elements,
                    small ? "bytes" : "elements", SHOWN_NAME(name));
    text_printf(text, ", the first at %s", first);
}

static void report_unwritten(struct op_checks *checks, const struct graph *graph,
                             const struct op *op, const struct unwritten *unwritten)
{
    struct text text = {NULL, 0, 0};
    put_unwritten(&text, checks->runner->module, unwritten);
    if (report_op(checks->runner, graph, op, &text))
        diag_help(
            checks->runner->diags,
            "if that is as it should be, --trust-kernels does not look at what kernels write");
    checks->found = true;
    text_free(&text);
}

/* ------------------------------------------------------------------------------ beside ---- */

/* Where the first byte is: the number of its element or byte. */
static int64_t element_of(int64_t first, uint64_t item)
{
    return first < 0 ? -(int64_t)(((uint64_t)-first + item - 1) / item) : first / (int64_t)item;
}

/* "writes behind '%y', which has 6 elements: the first at 6, 4 bytes in all" */
static void check_beside_value(struct op_checks *checks, const struct graph *graph,
                               const struct op *op, const struct known_memory *of)
{
    const struct storage *storage = &checks->storages->at[of->graph];
    struct guarded *guarded = &storage->guarded[of->value];
    struct text text = {NULL, 0, 0};
    int64_t first;
    uint64_t bytes = guarded_damage(guarded, &first);
    if (bytes == 0)
        return;
    uint32_t type = storage->graph->values.at[of->value].type;
    unsigned bits = dtype_info(storage->module->types.at[type].dtype)->bits;
    uint64_t item = bits < 8 ? 1 : bits / 8, elements = guarded->size / item;
    text_printf(&text, "writes %s ", first < 0 ? "before" : "behind");
    put_value(&text, storage, of->value, checks->runner->graph);
    text_printf(&text, ", which has %llu %s%s: the first at %lld, %llu byte%s in all",
                (unsigned long long)elements, bits < 8 ? "byte" : "element",
                elements == 1 ? "" : "s", (long long)element_of(first, item),
                (unsigned long long)bytes, bytes == 1 ? "" : "s");
    report_op(checks->runner, graph, op, &text);
    checks->found_beside = true;
    text_free(&text);
    guarded_repair(guarded);
}

/* ----------------------------------------------------------------------------- results ---- */

/* Of a memory that several ops write, the rest may be for another op to write. */
static struct result_sums sum_results(const struct op_checks *checks, const struct graph *graph,
                                      const struct op *op, void *const *values)
{
    struct result_sums sums = {0, 0};
    const struct storage *storage = storage_of(checks, graph);
    uint32_t value, id = graph_id(checks->runner->module, graph);
    for (uint32_t n = 0; (value = made_value(checks, graph, op, n)) != NONE; n++) {
        const struct guarded whole = {.at = values[value], .size = storage->sizes[value]};
        const struct type *type = &checks->runner->module->types.at[graph->values.at[value].type];
        if (!whole.at)
            continue;
        uint64_t written = poison_sum(type->dtype, whole.at, whole.size);
        bool parts = writers_are_several(&checks->writers, id, value);
        sums.all = sums.all * 31 + (parts ? written : guarded_sum(&whole));
        sums.written = sums.written * 31 + written;
    }
    return sums;
}

/* A kernel that leaves elements alone makes the same of the others in both turns. */
static void check_results(struct op_checks *checks, const struct graph *graph, const struct op *op,
                          void *const *values)
{
    static const char what[] = "computes with what nobody has written, or something else each time";
    uint32_t i = checks->ended++, value, left = 0;
    struct text text = {NULL, 0, 0};
    if (i >= checks->results.count)
        return;
    struct result_sums before = checks->results.at[i],
                       sums = sum_results(checks, graph, op, values);
    for (uint32_t n = 0; n < checks->unwritten.count; n++) {
        left += checks->unwritten.at[n].op == i;
        if (checks->unwritten.at[n].op == i && sums.written == before.written)
            report_unwritten(checks, graph, op, &checks->unwritten.at[n].found);
    }
    if (left ? sums.written == before.written : sums.all == before.all)
        return;
    bool blamed = left || (op->kernel != NONE && !has_tainted(checks, graph, op, values));
    for (uint32_t n = 0; (value = made_value(checks, graph, op, n)) != NONE; n++)
        taint(checks, values[value]);
    if (!blamed)
        return;
    text_string(&text, what);
    if (report_op(checks->runner, graph, op, &text))
        diag_help(checks->runner->diags, "its results change with the contents of unwritten "
                                         "results, of its workspace, or of what is beside tensors");
    checks->found = true;
    text_free(&text);
}

/* ------------------------------------------------------------------------------- turns ---- */

static void op_begins(void *context, const struct graph *graph, const struct op *op,
                      void *const *values)
{
    struct op_checks *checks = context;
    uint32_t value;
    if (checks->turn == POISON_HIGH || has_tainted(checks, graph, op, values) ||
        run_operands_check_op(checks->runner, graph, op, values))
        return;
    checks->found = true;
    for (uint32_t n = 0; (value = made_value(checks, graph, op, n)) != NONE; n++)
        taint(checks, values[value]);
}

static void op_ended(void *context, const struct graph *graph, const struct op *op,
                     void *const *values)
{
    struct op_checks *checks = context;
    if (checks->turn == POISON_HIGH) {
        check_results(checks, graph, op, values);
        return;
    }
    /* Of workspaces, lists, tilings and arguments, and of values. */
    struct run_damage damage;
    for (uint32_t i = 0; i < checks->sums.count; i++)
        check_beside_value(checks, graph, op, &checks->sums.at[i]);
    while (checks->runner->how->damage(checks->run, &damage)) {
        struct text text = {NULL, 0, 0};
        text_printf(&text, "writes %s %s %s of %llu bytes: the first at byte %lld, %llu in all",
                    damage.first < 0 ? "before" : "behind",
                    damage.op == op ? "its" : "another op's", damage.what,
                    (unsigned long long)damage.size, (long long)damage.first,
                    (unsigned long long)damage.bytes);
        report_op(checks->runner, graph, op, &text);
        checks->found_beside = true;
        text_free(&text);
    }
    checks->found_written |=
        check_memories(checks->runner, checks->storages, &checks->sums, graph, op, values, true);
    /* The op leaves a copy of what it reads, too. */
    uint32_t index = graph_id(checks->runner->module, graph), value;
    const struct storage *storage = storage_of(checks, graph);
    bool blamed = op->kernel != NONE && !has_tainted(checks, graph, op, values);
    for (uint32_t n = 0; (value = made_value(checks, graph, op, n)) != NONE; n++) {
        struct unwritten unwritten;
        uint32_t id = memory_of(&storage->memories, value);
        if (!poison_is_for(checks->storages, index, id) || is_tainted(checks, values[value]) ||
            !poison_find(&checks->outcome->storages.at[index], storage, id, &unwritten))
            continue;
        taint(checks, values[value]);
        if (blamed)
            vec_push(&checks->unwritten, (struct left_out){checks->results.count, unwritten});
    }
    vec_push(&checks->results, sum_results(checks, graph, op, values));
}

static enum exit_status run_turn(struct op_checks *checks, struct outcome *single, enum poison turn)
{
    enum exit_status status = run_values_fill(checks->outcome, checks->storages);
    checks->turn = turn;
    poison_fill(checks->storages, turn);
    checks->runner->how->spoil(single->run, (unsigned char)turn);
    if (turn == POISON_HIGH)
        poison_fill_beside(checks->storages, turn);
    else
        sums_init(&checks->sums, checks->storages);
    for (uint32_t i = 0; turn == POISON_LOW && i < checks->sums.count; i++)
        guarded_repair(
            &checks->storages->at[checks->sums.at[i].graph].guarded[checks->sums.at[i].value]);
    return status == EXIT_DONE ? run_launch(single, checks->storages) : status;
}

static enum exit_status run_turns(struct op_checks *checks)
{
    const struct run_watch watch = {op_ended, checks, op_begins};
    struct outcome single = {.runner = checks->runner, .name = "op by op", .watch = &watch};
    enum exit_status status = run_open(&single, NULL);
    checks->run = single.run;
    if (status == EXIT_DONE)
        status = run_turn(checks, &single, POISON_LOW);
    if (status == EXIT_DONE)
        status = run_turn(checks, &single, POISON_HIGH);
    run_close(&single);
    return status;
}

/* ------------------------------------------------------------- what no op does by itself ---- */

static void report_graph(const struct runner *runner, const char *what)
{
    diag_at(runner->diags, DIAG_wrong_kernel, locate_name(runner->module, runner->graph->loc),
            "the graph writes %s, but no op of it does where it runs alone", what);
}

static void report_unwritten_by_graph(const struct runner *runner,
                                      const struct unwritten *unwritten)
{
    const struct module *module = runner->module;
    const struct graph *graph = &module->graphs.at[unwritten->graph];
    uint32_t def = graph->values.at[unwritten->value].def;
    struct text text = {NULL, 0, 0};
    put_unwritten(&text, module, unwritten);
    diag_at(runner->diags, DIAG_wrong_kernel,
            def < graph->ops.count ? locate_op(module, &graph->ops.at[def], OP_TYPE_NAME, 0)
                                   : no_span,
            "the graph %.*s, which the op alone writes", (int)text.size, text.at);
    text_free(&text);
}

static void report_signs(const struct op_checks *checks)
{
    const struct run_signs *signs = checks->signs;
    for (uint32_t i = 0; !checks->tainted.count && i < signs->unwritten.count; i++)
        report_unwritten_by_graph(checks->runner, &signs->unwritten.at[i]);
    if (signs->beside && !checks->found_beside)
        report_graph(checks->runner, "beside its tensors");
    if (signs->changed && !checks->found_written)
        report_graph(checks->runner, "an input that none of its ops writes");
}

/* Runs the ops of an outcome, whose first run has ended, in `storages`, which are filled again.
 * Reports what they do wrong, and the signs that no op explains. `*wrong`: something was. */
static enum exit_status op_checks_run(const struct outcome *outcome,
                                      const struct storages *storages,
                                      const struct run_signs *signs, bool *wrong)
{
    struct op_checks checks = {
        .outcome = outcome, .runner = outcome->runner, .storages = storages, .signs = signs};
    writers_init(&checks.writers, outcome->runner->module, storages);
    enum exit_status status = run_turns(&checks);
    if (status == EXIT_DONE)
        report_signs(&checks);
    *wrong = checks.found || checks.found_beside || checks.found_written || signs->beside ||
             signs->changed || signs->unwritten.count;
    writers_free(&checks.writers);
    vec_free(&checks.sums);
    vec_free(&checks.results);
    vec_free(&checks.unwritten);
    vec_free(&checks.tainted);
    return status;
}

static bool has_changed_inputs(const struct outcome *outcome)
{
    const struct storage *storage = storages_main(&outcome->storages);
    for (uint32_t i = 0; i < storage->graph->values.count; i++)
        if (outcome->input_sums[i] &&
            outcome->input_sums[i] != (guarded_sum(&storage->guarded[i]) | 1))
            return true;
    return false;
}

void run_check_begin(struct outcome *outcome)
{
    if (outcome->runner->trust_kernels)
        return;
    /* Sums of the inputs that no op writes; 0: it is none of them. */
    const struct storage *storage = storages_main(&outcome->storages);
    uint32_t graph = outcome->storages.main_graph;
    struct writers writers;
    uint64_t *sums = mem_calloc(storage->graph->values.count + 1, sizeof *sums);
    writers_init(&writers, outcome->runner->module, &outcome->storages);
    for (uint32_t i = 0; i < storage->graph->values.count; i++)
        if (storage->guarded[i].at && value_is_steady(&writers, graph, i))
            sums[i] = guarded_sum(&storage->guarded[i]) | 1;
    writers_free(&writers);
    outcome->input_sums = sums;
    poison_fill(&outcome->storages, POISON_HIGH);
}

void run_check_again(const struct outcome *outcome)
{
    const struct storages *storages = &outcome->workplace->storages;
    enum poison poison = outcome->runs == 1 ? POISON_LOW : POISON_HIGH;
    if (outcome->runner->trust_kernels || outcome->runs > 2)
        return;
    poison_fill(storages, poison);
    poison_fill_beside(storages, poison);
    outcome->runner->how->spoil(outcome->run, (unsigned char)poison);
}

void run_check_free(struct outcome *outcome)
{
    mem_free(outcome->input_sums);
    outcome->input_sums = NULL;
}

/* ------------------------------------------------------------------------------ signs ---- */

static bool wrote_beside_values(const struct storages *storages)
{
    int64_t first;
    for (uint32_t graph = 0; graph < storages->count; graph++)
        for (uint32_t i = 0;
             storages->at[graph].graph && i < storages->at[graph].graph->values.count; i++)
            if (storages->at[graph].guarded[i].at &&
                guarded_damage(&storages->at[graph].guarded[i], &first) > 0)
                return true;
    return false;
}

/* Unwritten elements may be what a kernel has computed until a second run proves them. */
static void find_signs(const struct outcome *outcome, struct run_signs *signs)
{
    struct run_damage damage;
    for (uint32_t graph = 0; graph < outcome->storages.count; graph++) {
        const struct storage *storage = &outcome->storages.at[graph];
        struct unwritten unwritten;
        for (uint32_t i = 0; outcome->run->ran[graph] && i < storage->graph->values.count; i++) {
            if (poison_is_for(&outcome->storages, graph, i) &&
                poison_find(storage, NULL, i, &unwritten))
                vec_push(&signs->unwritten, unwritten);
        }
    }
    signs->beside = wrote_beside_values(&outcome->storages) ||
                    outcome->runner->how->damage(outcome->run, &damage);
    signs->changed = has_changed_inputs(outcome);
}

/* Keeps those elements that hold POISON_LOW after a second run that began with it. */
static enum exit_status prove(struct outcome *outcome, const struct storages *storages,
                              struct unwritten_list *list)
{
    uint32_t count = list->count;
    enum exit_status status = run_values_fill(outcome, storages);
    poison_fill(storages, POISON_LOW);
    if (status == EXIT_DONE)
        status = run_launch(outcome, storages);
    list->count = 0;
    for (uint32_t i = 0; i < count && status == EXIT_DONE; i++) {
        struct unwritten found = list->at[i];
        if (outcome->run->ran[found.graph] &&
            poison_find(&outcome->storages.at[found.graph], &storages->at[found.graph], found.value,
                        &found))
            list->at[list->count++] = found;
    }
    return status;
}

enum exit_status run_check_end(struct outcome *outcome)
{
    struct run_signs signs = {.beside = false};
    struct storages storages = {.at = NULL};
    if (outcome->runner->trust_kernels)
        return EXIT_DONE;
    enum exit_status status = run_operands_check(outcome, true, &signs.unknown);
    bool wrong = status != EXIT_DONE;
    signs.unknown = signs.unknown && outcome->fused && !wrong;
    if (!wrong)
        find_signs(outcome, &signs);
    if (signs.unwritten.count || signs.beside || signs.changed || signs.unknown) {
        /* In storages of its own. */
        if (!run_values_init(outcome->runner, &storages, 1))
            status = EXIT_INPUT;
        if (status == EXIT_DONE && signs.unwritten.count)
            status = prove(outcome, &storages, &signs.unwritten);
        if (status == EXIT_DONE &&
            (signs.unwritten.count || signs.beside || signs.changed || signs.unknown))
            status = op_checks_run(outcome, &storages, &signs, &wrong);
        storages_free(&storages);
    }
    vec_free(&signs.unwritten);
    if (!wrong)
        return status;
    run_answers_print(outcome->runner, &outcome->storages);
    return EXIT_INPUT;
}

enum exit_status run_check_ops(const struct outcome *outcome)
{
    const struct run_signs none = {.beside = false};
    struct storages storages;
    bool wrong = false;
    enum exit_status status =
        run_values_init(outcome->runner, &storages, 1) ? EXIT_DONE : EXIT_INPUT;
    if (status == EXIT_DONE)
        status = op_checks_run(outcome, &storages, &none, &wrong);
    storages_free(&storages);
    return wrong ? EXIT_INPUT : status;
}
