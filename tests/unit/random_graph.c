#include "tests/unit/random_graph.h"

#include <stdio.h>
#include <stdlib.h>

uint64_t random_bits(struct random *random)
{
    /* A counter through a mixer of full period. */
    uint64_t x = random->state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
}

uint32_t random_below(struct random *random, uint32_t limit)
{
    return (uint32_t)((random_bits(random) >> 32) * limit >> 32);
}

bool random_percent(struct random *random, unsigned percent)
{
    return random_below(random, 100) < percent;
}

struct random_runs random_runs(uint64_t count)
{
    const char *seed = getenv("SKIR_TEST_SEED"), *wanted = getenv("SKIR_TEST_COUNT");
    const char *times = getenv("SKIR_TEST_TIMES");
    return (struct random_runs){seed ? strtoull(seed, NULL, 10) : 1,
                                wanted  ? strtoull(wanted, NULL, 10)
                                : times ? count * strtoull(times, NULL, 10)
                                        : count};
}

void random_report(uint64_t seed, const struct text *text)
{
    fprintf(stderr, "# SKIR_TEST_SEED=%llu SKIR_TEST_COUNT=1 fails:\n%.*s\n",
            (unsigned long long)seed, (int)text->size, text->at);
}

/* ------------------------------------------------------------------------ the plan ---- */

enum {
    MAX_DEPTH = 4,
    MAX_PARAMS = 3,
    MAX_REFS = 3,
    MAX_RESULTS = 3,
    MAX_VALUES = MAX_PARAMS + MAX_RESULTS * RANDOM_MAX_OPS,
    MAX_EVENTS = 12,
    N_SCOPES = 4,
    N_KERNELS = 8,
    DEFAULT_STREAM = 8, /* behind the labels "0" .. "7" */
    NO_KERNEL = N_KERNELS,
};

enum planned_kind { OPEN_SCOPE, OPEN_NONE, OPEN_STREAM, OPEN_SUPERKERNEL };

/* A block that is open where the plan stands. */
struct planned_block {
    enum planned_kind kind;
    unsigned number;
};

struct planned_op {
    unsigned opens, closes; /* blocks closed, then opened, before the op */
    struct planned_block blocks[MAX_DEPTH];
    unsigned stream;
    unsigned operands[MAX_REFS], n_operands;
    unsigned first_result, n_results;
    unsigned after[MAX_REFS], n_after;
    unsigned kernel;        /* index, or NO_KERNEL: its own */
    int inplace;            /* operand index, or -1 */
    int alias[MAX_RESULTS]; /* per result: index of the operand whose memory it is, or -1 */
    unsigned reads, writes; /* sets of buffers */
    bool unfusable, passive;
    bool view; /* executes nothing, without a kernel, but may be part of a super kernel */
};

struct event {
    unsigned sender;
    uint64_t receivers;
    bool is_word;
};

struct plan {
    struct random random;
    const struct random_graph_options *options;
    struct text *text;
    unsigned cores; /* cube cores; there are twice as many vector cores */
    uint64_t scope_seed;
    unsigned n_streams, n_scopes, n_superkernels, n_params, n_values, n_ops, n_events;
    int definer[MAX_VALUES];     /* op of a value, -1: parameter */
    unsigned memory[MAX_VALUES]; /* the value whose memory it is, which may be itself */
    struct planned_op ops[RANDOM_MAX_OPS];
    struct event events[MAX_EVENTS];
    uint64_t needs[RANDOM_MAX_OPS]; /* transitively */
    struct planned_block open[MAX_DEPTH];
    unsigned depth, closing;
};

static bool is_open(const struct plan *plan, enum planned_kind kind)
{
    for (unsigned i = 0; i < plan->depth; i++)
        if (plan->open[i].kind == kind)
            return true;
    return false;
}

/* Scopes and super kernels do not stand in super kernels, nor super kernels in scopes. */
static enum planned_kind pick_kind(struct plan *plan)
{
    bool streams = plan->n_streams > 0;
    if (is_open(plan, OPEN_SUPERKERNEL))
        return OPEN_STREAM;
    bool scoped = is_open(plan, OPEN_SCOPE) || is_open(plan, OPEN_NONE);
    if (plan->options->superkernels && !scoped && random_percent(&plan->random, 10))
        return OPEN_SUPERKERNEL;
    if (random_percent(&plan->random, 8))
        return OPEN_NONE;
    return streams && random_percent(&plan->random, 50) ? OPEN_STREAM : OPEN_SCOPE;
}

static void plan_blocks(struct plan *plan, struct planned_op *op)
{
    while (plan->depth && random_percent(&plan->random, 35)) {
        plan->depth--;
        op->closes++;
    }
    while (plan->depth < MAX_DEPTH && random_percent(&plan->random, 40)) {
        struct planned_block block = {pick_kind(plan), 0};
        if (block.kind == OPEN_STREAM && plan->n_streams == 0)
            break;
        if (block.kind == OPEN_STREAM)
            block.number = random_below(&plan->random, plan->n_streams);
        else if (block.kind == OPEN_SUPERKERNEL)
            block.number = plan->n_superkernels++;
        else
            block.number = random_below(&plan->random, plan->n_scopes);
        op->blocks[op->opens++] = plan->open[plan->depth++] = block;
    }
    op->stream = DEFAULT_STREAM;
    for (unsigned i = 0; i < plan->depth; i++)
        if (plan->open[i].kind == OPEN_STREAM)
            op->stream = plan->open[i].number ? plan->open[i].number : DEFAULT_STREAM;
}

/* Recent values more often than old ones, so that graphs are deep as well as wide. */
static unsigned pick_value(struct plan *plan)
{
    unsigned recent = plan->n_values < 6 ? plan->n_values : 6;
    if (random_percent(&plan->random, 50))
        return plan->n_values - 1 - random_below(&plan->random, recent);
    return random_below(&plan->random, plan->n_values);
}

static void plan_refs(struct plan *plan, unsigned *refs, unsigned *count, unsigned wanted)
{
    for (*count = 0; *count < wanted; (*count)++)
        refs[*count] = pick_value(plan);
}

static void plan_memory(struct plan *plan, struct planned_op *op)
{
    op->inplace = -1;
    if (!plan->options->memory)
        return;
    if (op->n_operands && random_percent(&plan->random, 10))
        op->inplace = (int)random_below(&plan->random, op->n_operands);
    if (random_percent(&plan->random, 10))
        op->reads = 1 + random_below(&plan->random, 3);
    if (random_percent(&plan->random, 10))
        op->writes = 1 + random_below(&plan->random, 3);
}

/* A view takes one operand and writes nothing. */
static bool plan_view(struct plan *plan, struct planned_op *op)
{
    if (!plan->options->views || op->passive || !op->n_operands ||
        !random_percent(&plan->random, 25))
        return false;
    op->n_operands = op->n_results = 1;
    op->inplace = -1;
    op->writes = 0;
    op->unfusable = false;
    return true;
}

static void plan_results(struct plan *plan, struct planned_op *op, unsigned id)
{
    op->first_result = plan->n_values;
    op->n_results =
        random_percent(&plan->random, 85) ? 1 : random_below(&plan->random, MAX_RESULTS + 1);
    op->view = plan_view(plan, op);
    for (unsigned i = 0; i < op->n_results; i++) {
        unsigned value = plan->n_values++;
        plan->definer[value] = (int)id;
        plan->memory[value] = value;
        op->alias[i] = -1;
        if (!op->view &&
            (!plan->options->memory || !op->n_operands || !random_percent(&plan->random, 15)))
            continue;
        op->alias[i] = (int)random_below(&plan->random, op->n_operands);
        plan->memory[value] = plan->memory[op->operands[op->alias[i]]];
    }
}

static void plan_op(struct plan *plan, unsigned id)
{
    struct planned_op *op = &plan->ops[id];
    plan_blocks(plan, op);
    plan_refs(plan, op->operands, &op->n_operands, random_below(&plan->random, MAX_REFS + 1));
    if (random_percent(&plan->random, 15))
        plan_refs(plan, op->after, &op->n_after, 1 + random_below(&plan->random, 2));
    plan_memory(plan, op);
    op->unfusable = plan->options->unfusable && random_percent(&plan->random, 6);
    op->passive = plan->options->passive && random_percent(&plan->random, 25);
    plan_results(plan, op, id);
    op->kernel = op->n_results ? random_below(&plan->random, N_KERNELS) : NO_KERNEL;
}

/* -------------------------------------------------------------------------- events ---- */

static void require(struct plan *plan, unsigned op, unsigned earlier)
{
    uint64_t more = plan->needs[earlier] | (uint64_t)1 << earlier;
    for (unsigned i = 0; i < plan->n_ops; i++)
        if (i == op || plan->needs[i] >> op & 1)
            plan->needs[i] |= more;
}

static bool uses_memory(const struct plan *plan, const struct planned_op *op, unsigned memory)
{
    for (unsigned i = 0; i < op->n_operands; i++)
        if (plan->memory[op->operands[i]] == memory)
            return true;
    return false;
}

static bool writes_value_of(const struct plan *plan, const struct planned_op *writer,
                            const struct planned_op *user)
{
    return writer->inplace >= 0 &&
           uses_memory(plan, user, plan->memory[writer->operands[writer->inplace]]);
}

static bool share_memory(const struct plan *plan, const struct planned_op *a,
                         const struct planned_op *b)
{
    return writes_value_of(plan, a, b) || writes_value_of(plan, b, a) ||
           (a->writes & (b->reads | b->writes)) || (a->reads & b->writes);
}

static bool share_stream(const struct planned_op *a, const struct planned_op *b)
{
    return a->stream == b->stream && !a->passive && !b->passive && !a->view && !b->view;
}

/* An op waits for an earlier one by a clause, and where it executes nothing later ops of its stream
 * do, too. */
static void require_clause(struct plan *plan, unsigned op, unsigned earlier)
{
    const struct planned_op *ops = plan->ops;
    require(plan, op, earlier);
    for (unsigned i = op + 1; i < plan->n_ops && (ops[op].passive || ops[op].view); i++)
        if (ops[i].stream == ops[op].stream && !ops[i].passive && !ops[i].view)
            require(plan, i, earlier);
}

/* Whether that would be a circle. */
static bool is_circle(const struct plan *plan, unsigned op, unsigned earlier)
{
    const struct planned_op *ops = plan->ops;
    bool circle = plan->needs[earlier] >> op & 1;
    for (unsigned i = op + 1; i < plan->n_ops && (ops[op].passive || ops[op].view); i++)
        circle = circle || (ops[i].stream == ops[op].stream && !ops[i].passive && !ops[i].view &&
                            (i == earlier || plan->needs[earlier] >> i & 1));
    return circle;
}

/* All order but that of events; earlier ops first, so `require` never looks back. */
static void require_text(struct plan *plan)
{
    for (unsigned i = 0; i < plan->n_ops; i++) {
        const struct planned_op *op = &plan->ops[i];
        for (unsigned r = 0; r < op->n_operands; r++)
            if (plan->definer[op->operands[r]] >= 0)
                require(plan, i, (unsigned)plan->definer[op->operands[r]]);
        for (unsigned r = 0; r < op->n_after; r++)
            if (plan->definer[op->after[r]] >= 0)
                require_clause(plan, i, (unsigned)plan->definer[op->after[r]]);
        for (unsigned j = 0; j < i; j++)
            if (share_stream(&plan->ops[j], op) || share_memory(plan, &plan->ops[j], op))
                require(plan, i, j);
    }
}

static void plan_events(struct plan *plan)
{
    unsigned tries = random_below(&plan->random, MAX_EVENTS + 1);
    while (tries-- && plan->n_ops > 1) {
        struct event *event = &plan->events[plan->n_events];
        *event = (struct event){.sender = random_below(&plan->random, plan->n_ops),
                                .is_word = random_percent(&plan->random, 50)};
        do {
            unsigned to = random_below(&plan->random, plan->n_ops);
            if (to == event->sender || share_stream(&plan->ops[to], &plan->ops[event->sender]) ||
                is_circle(plan, to, event->sender))
                continue;
            event->receivers |= (uint64_t)1 << to;
            require_clause(plan, to, event->sender);
        } while (random_percent(&plan->random, 20));
        plan->n_events += event->receivers != 0;
    }
}

/* ------------------------------------------------------------------------ the text ---- */

static void put_kernel(struct plan *plan, const char *name, unsigned number)
{
    static const char *const types[] = {"aiv_only",    "aic_only",    "mix_aiv_1_0",
                                        "mix_aic_1_0", "mix_aic_1_1", "mix_aic_1_2"};
    unsigned type = random_below(&plan->random, 6);
    bool flat = type == 0 || type == 2;
    unsigned most = flat ? 2 * plan->cores : plan->cores;
    static const char *const early[] = {"",
                                        "",
                                        ", early_start = [set]",
                                        ", early_start = [set, reads_done]",
                                        ", early_start = [wait]",
                                        ", early_start = [wait, reads_late]",
                                        ", early_start = [set, wait]",
                                        ", early_start = [set, wait, reads_done]",
                                        ", early_start = [set, wait, reads_late]",
                                        ", early_start = [set, wait, reads_done, reads_late]"};
    if (plan->options->dynamic && random_percent(&plan->random, 25)) {
        text_printf(plan->text,
                    "kernel @%s%u : %s {dynamic, variants = [{key = 0, type = %s%s%s}]}\n", name,
                    number, types[type], types[type], type == 0 || type == 2 ? "" : ", aic = \"f\"",
                    type == 1 || type == 3 ? "" : ", aiv = \"g\"");
        return;
    }
    unsigned block = 1 + random_below(&plan->random, most);
    text_printf(plan->text, "kernel @%s%u : %s {block = %u%s%s}\n", name, number, types[type],
                block, plan->options->early_start ? early[random_below(&plan->random, 10)] : "",
                plan->options->full_barriers && random_percent(&plan->random, 40) ? ", sync_all"
                                                                                  : "");
}

static void put_kernels(struct plan *plan)
{
    for (unsigned i = 0; i < N_KERNELS; i++)
        put_kernel(plan, "k", i);
    for (unsigned i = 0; i < plan->n_ops; i++)
        if (plan->ops[i].kernel == NO_KERNEL)
            put_kernel(plan, "own", i);
}

/* Options of scopes: how often they are given, per cent, and values, any of which passes. */
static const struct option_row {
    const char *key;
    unsigned percent;
    const char *values[4];
} option_rows[] = {
    {"early-start", 40, {"0", "1", "2"}},
    {"preload-code", 40, {"max", "per-func", "none"}},
    {"preload-data", 20, {"none", "advance-step"}},
    {"split-mode", 20, {"1", "2", "4"}},
    {"func-align", 5, {"0", "64", "512"}},
    {"debug-dcci-all", 15, {"0", "1"}},
    {"debug-sync-all", 15, {"0", "1"}},
    {"feed-sync-all", 25, {"0", "1"}},
    {"profiling", 20, {"0", "1"}},
    {"debug-op-exec-trace", 10, {"0", "1"}},
    {"debug-cross-core-sync-check", 15, {"0", "1"}},
    {"dcci-before-kernel-start", 15, {"Plus", "Matrix,Turn", ".*t.*", "none"}},
    {"dcci-after-kernel-end", 15, {"Plus", "Matrix,Turn", "none"}},
    {"dcci-disable-on-kernel", 10, {"Plus", "Turn,call", "none"}},
};

static void put_option_rows(struct plan *plan, struct random *random)
{
    for (unsigned i = 0; i < sizeof option_rows / sizeof *option_rows; i++) {
        const struct option_row *row = &option_rows[i];
        unsigned n_values = 0;
        while (n_values < 4 && row->values[n_values])
            n_values++;
        const char *value = row->values[random_below(random, n_values)];
        if (random_percent(random, row->percent))
            text_printf(plan->text, ":%s=%s", row->key, value);
    }
    if (random_percent(random, 15))
        text_printf(plan->text, ":debug-aic-num=%u:debug-aiv-num=%u", plan->cores, 2 * plan->cores);
}

/* The same for all blocks of a scope. Where there are no streams, a scope is one list or two. */
static void put_options(struct plan *plan, unsigned scope)
{
    struct random random = {.state = plan->scope_seed + scope};
    if (!plan->options->stream_fusion)
        return;
    bool fuse = plan->n_streams > 0 || random_percent(&random, 50);
    text_printf(plan->text, "{options = \"stream-fusion=%d", fuse);
    if (plan->options->bypass && random_percent(&random, 50))
        text_string(plan->text, ":strict-scope-check=bypass");
    if (plan->options->options)
        put_option_rows(plan, &random);
    text_string(plan->text, "\"} ");
}

static void put_open(struct plan *plan, const struct planned_block *block)
{
    switch (block->kind) {
    case OPEN_SCOPE:
        text_printf(plan->text, "scope @s%u ", block->number);
        put_options(plan, block->number);
        break;
    case OPEN_NONE: text_string(plan->text, "scope none "); break;
    case OPEN_STREAM: text_printf(plan->text, "stream \"%u\" ", block->number); break;
    case OPEN_SUPERKERNEL:
        text_printf(plan->text, "superkernel @h%u ", block->number);
        put_options(plan, N_SCOPES + block->number);
        break;
    }
    text_string(plan->text, "{\n");
}

static void put_values(struct plan *plan, unsigned first, const unsigned *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        text_printf(plan->text, "%s%%v%u", i ? ", " : "", values ? values[i] : first + i);
}

static void put_types(struct plan *plan, unsigned count)
{
    text_char(plan->text, '(');
    for (unsigned i = 0; i < count; i++)
        text_string(plan->text, i ? ", f32[8]" : "f32[8]");
    text_char(plan->text, ')');
}

static void put_buffers(struct plan *plan, const char *key, unsigned set)
{
    static const char *const sets[] = {NULL, "\"p\"", "\"q\"", "[\"p\", \"q\"]"};
    if (set)
        text_printf(plan->text, ", %s = %s", key, sets[set]);
}

static void put_alias(struct plan *plan, const struct planned_op *op)
{
    bool any = false;
    for (unsigned i = 0; i < op->n_results; i++)
        any |= op->alias[i] >= 0;
    if (!any || (op->view && random_percent(&plan->random, 50)))
        return;
    text_string(plan->text, ", alias = [");
    for (unsigned i = 0; i < op->n_results; i++)
        if (op->alias[i] < 0)
            text_string(plan->text, i ? ", none" : "none");
        else
            text_printf(plan->text, i ? ", %d" : "%d", op->alias[i]);
    text_char(plan->text, ']');
}

static void put_attrs(struct plan *plan, unsigned id)
{
    const struct planned_op *op = &plan->ops[id];
    text_printf(plan->text, " {nr = %u", id);
    if (op->inplace >= 0)
        text_printf(plan->text, ", inplace = [%d]", op->inplace);
    put_alias(plan, op);
    put_buffers(plan, "reads", op->reads);
    put_buffers(plan, "writes", op->writes);
    if (op->unfusable)
        text_string(plan->text, ", supportSuperKernel = 0");
    text_char(plan->text, '}');
}

/* A clause of all events that the op sends, or receives. */
static void put_events(struct plan *plan, const char *clause, unsigned id, bool send)
{
    unsigned count = 0;
    for (unsigned i = 0; i < plan->n_events; i++) {
        const struct event *event = &plan->events[i];
        if (send ? event->sender != id : !(event->receivers >> id & 1))
            continue;
        text_printf(plan->text, count++ ? ", " : " %s [", clause);
        text_printf(plan->text, event->is_word ? "e%u" : "%u", i);
    }
    if (count)
        text_char(plan->text, ']');
}

static void put_op(struct plan *plan, unsigned id)
{
    static const char *const types[] = {"Plus", "Matrix", "Turn", "\"odd type\"", "\"call\""};
    const struct planned_op *op = &plan->ops[id];
    for (unsigned i = 0; i < op->closes; i++)
        text_string(plan->text, "}\n");
    for (unsigned i = 0; i < op->opens; i++)
        put_open(plan, &op->blocks[i]);
    put_values(plan, op->first_result, NULL, op->n_results);
    text_printf(plan->text, "%s%s(", op->n_results ? " = " : "",
                op->view      ? "Reshape"
                : op->passive ? "Send"
                              : types[random_below(&plan->random, 5)]);
    put_values(plan, 0, op->operands, op->n_operands);
    text_char(plan->text, ')');
    put_attrs(plan, id);
    if (op->n_results) {
        text_string(plan->text, " : ");
        put_types(plan, op->n_results);
    }
    if (!op->passive && !op->view)
        text_printf(plan->text, op->kernel == NO_KERNEL ? " via @own%u" : " via @k%u",
                    op->kernel == NO_KERNEL ? id : op->kernel);
    if (op->n_after) {
        text_string(plan->text, " after (");
        put_values(plan, 0, op->after, op->n_after);
        text_char(plan->text, ')');
    }
    put_events(plan, "send", id, true);
    put_events(plan, "recv", id, false);
    text_char(plan->text, '\n');
}

static void put_graph(struct plan *plan)
{
    text_string(plan->text, "graph @g(");
    for (unsigned i = 0; i < plan->n_params; i++)
        text_printf(plan->text, "%s%%v%u: f32[8]", i ? ", " : "", i);
    unsigned n_returns = random_below(&plan->random, 3), returns[MAX_REFS];
    plan_refs(plan, returns, &n_returns, n_returns);
    text_string(plan->text, ") -> ");
    put_types(plan, n_returns);
    text_string(plan->text, " {\n");
    for (unsigned i = 0; i < plan->n_ops; i++)
        put_op(plan, i);
    for (; plan->depth; plan->depth--)
        text_string(plan->text, "}\n");
    if (n_returns) {
        text_string(plan->text, "return ");
        put_values(plan, 0, returns, n_returns);
        text_char(plan->text, '\n');
    }
    text_string(plan->text, "}\n");
}

void random_graph(struct text *text, uint64_t seed, const struct random_graph_options *options)
{
    struct plan *plan = mem_calloc(1, sizeof *plan);
    plan->random.state = seed;
    plan->scope_seed = ~seed;
    plan->options = options;
    plan->text = text;
    plan->cores = 1 + random_below(&plan->random, 4);
    plan->n_streams = random_below(&plan->random, 9);
    plan->n_scopes = 1 + random_below(&plan->random, N_SCOPES);
    plan->n_params = plan->n_values = 1 + random_below(&plan->random, MAX_PARAMS);
    for (unsigned i = 0; i < plan->n_params; i++)
        plan->definer[i] = -1, plan->memory[i] = i;
    plan->n_ops = random_below(&plan->random, options->max_ops + 1);
    for (unsigned i = 0; i < plan->n_ops; i++)
        plan_op(plan, i);
    require_text(plan);
    plan_events(plan);
    text_printf(text, "skir 1\ntarget \"random\" {aic = %u, aiv = %u}\n", plan->cores,
                2 * plan->cores);
    put_kernels(plan);
    put_graph(plan);
    mem_free(plan);
}
