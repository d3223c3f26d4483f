/* What a kernel reads through its core's scalar data cache (`scalar_reads`), which sees nothing of
 * what is written past it: by other cores, and by the own core's transfers. A line that was there
 * before would be read as it was. So between the moment when a core knows such an operand to be
 * written and the call that reads it, that core executes a `dcci`. A launch begins with empty
 * caches, so what was there before it needs none. */
#include "ir/analysis/hazards.h"
#include "ir/core/operands.h"
#include "ir/syntax/locate.h"
#include "passes/sync/proof/check.h"

/* A wait for an event from outside: in a program, or (step NONE) of the launch as a whole. */
struct outer_wait {
    uint32_t event; /* name id */
    struct sync_point point;
    uint32_t other; /* the wait before this one that is for the same event, or NONE */
};

/* An op whose end a wait tells of: it sends the event, or is the last of a launch that does. */
struct teller {
    uint32_t wait, op; /* index of caches.waits; op id */
};

struct caches {
    struct sync_checker *checker;
    /* By step of a program: the last step before the last `dcci` before it, or NONE. */
    uint32_t *cleaned[CORE_TYPES];
    /* Both are empty where programs wait for no outer event. */
    VEC(struct outer_wait) waits;
    VEC(struct teller) tellers;
    uint32_t *sorted; /* the graph's ops, each after what it is ordered after; NULL until needed */
    bool *after;      /* per op: whether it is `after_of`, or after it in the order of the graph */
    uint32_t after_of;
};

/* An operand that is read through the cache. */
struct scalar_read {
    uint32_t place, value, operand; /* of the op in the list; of the operand among the op's */
    bool told;
};

/* ---------------------------------------------------------------------------- programs ---- */

/* A `dcci` has no step: what is known there is what the step before it has left. */
static void find_cleaned(struct caches *caches, enum core_type core)
{
    const struct sync_track *track = &caches->checker->proof.tracks[core];
    uint32_t step = 0, last = NONE;
    caches->cleaned[core] = mem_calloc(track->count, sizeof(uint32_t));
    for (uint32_t i = 0; i < track->program->instrs.count; i++) {
        if (track->program->instrs.at[i].op == INSTR_dcci)
            last = step ? step - 1 : NONE;
        while (step < track->count && track->steps[step].instr == i)
            caches->cleaned[core][step++] = last;
    }
}

/* Finds the waits for events from outside, and the ops whose end they tell of, where programs wait
 * for any: else all that an op outside wrote is there when the launch begins. */
static void find_waits(struct caches *caches)
{
    const struct sync_subject *subject = caches->checker->subject;
    const struct order *order = subject->order;
    struct range recv = subject->graph->blocks.at[subject->block].recv;
    struct id_map last_wait = {NULL, 0, 0}; /* by event */
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < caches->checker->proof.tracks[core].count; i++) {
            const struct instr *instr = sync_instr(&caches->checker->proof, core, i);
            if (instr->op == INSTR_wait_event)
                vec_push(&caches->waits,
                         ((struct outer_wait){instr->number[0], {core, i, SYNC_CORE_ZERO}, NONE}));
        }
    if (caches->waits.count == 0)
        return;
    for (uint32_t i = 0; i < recv.count; i++)
        vec_push(&caches->waits, ((struct outer_wait){subject->graph->refs.at[recv.first + i],
                                                      {CORE_AIC, NONE, SYNC_ALL_CORES},
                                                      NONE}));
    for (uint32_t i = 0; i < caches->waits.count; i++) {
        uint32_t *last = id_map_at(&last_wait, caches->waits.at[i].event);
        caches->waits.at[i].other = *last;
        *last = i;
    }
    for (uint32_t place = 0; place < subject->count; place++) {
        uint32_t op = subject->ops[place];
        for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++) {
            const struct order_edge *edge = &order->edges[e];
            uint32_t wait = edge->kind == ORDER_EVENT ? id_map_find(&last_wait, edge->name) : NONE;
            for (; wait != NONE; wait = caches->waits.at[wait].other)
                vec_push(&caches->tellers, ((struct teller){wait, edge->from}));
        }
    }
    id_map_free(&last_wait);
}

/* Where the cache was cleaned last before a call; step NONE: nowhere. */
static struct sync_point cleaned_before(const struct caches *caches, const struct sync_point *call)
{
    struct sync_point cleaned = *call;
    cleaned.step = caches->cleaned[call->core][call->step];
    return cleaned;
}

/* ---------------------------------------------------------------------------- reports ---- */

static void report(const struct caches *caches, struct scalar_read *read, uint32_t producer,
                   const struct sync_point *call)
{
    const struct sync_checker *checker = caches->checker;
    const struct module *module = checker->module;
    const struct graph *graph = checker->subject->graph;
    const struct op *op = sync_op(checker->subject, read->place), *from = &graph->ops.at[producer];
    struct diags *diags = checker->diags;
    if (read->told)
        return;
    read->told = true;
    if (!diag_at(diags, DIAG_stale_read, locate_op(module, op, OP_TYPE_NAME, 0),
                 "entry '@%.*s': the %.*s reads operand %u (%%%.*s) through the data cache, and no "
                 "'dcci' stands on the %s between the end of the %.*s, which writes it, and the "
                 "call",
                 NAME(module, checker->entry->name), NAME(module, op->type), read->operand,
                 NAME(module, graph->values.at[read->value].name), core_type_name(call->core),
                 NAME(module, from->type)))
        return;
    diag_note(diags, locate_op(module, from, OP_TYPE_NAME, 0), "it is written here");
    diag_note(diags, sync_step_span(checker, call->core, call->step), "the call is %s",
              sync_step_text(checker, call->core, call->step));
    if (sync_instr(&checker->proof, call->core, call->step)->early & EARLY_WAIT_MIX) {
        diag_help(diags, "the kernel waits for the op before it itself (early_wait), so a 'dcci' "
                         "before the call is too early");
        diag_help(diags, "build it without 'wait'; or have it clean the cache behind its wait, and "
                         "take the operand out of its 'scalar_reads'");
    } else {
        sync_help(checker, "dcci all", SYNC_BEFORE, call->core, call->step);
        diag_help(diags, "the option dcci-scalar-reads=1 has the pass dcci write it");
    }
}

/* ------------------------------------------------------------------------------ rules ---- */

static void check_inside(const struct caches *caches, struct scalar_read *read, uint32_t producer)
{
    const struct sync_subject *subject = caches->checker->subject;
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_point *call = &subject->placed[read->place].call[core];
        if (call->step == NONE)
            continue;
        struct sync_point cleaned = cleaned_before(caches, call);
        for (int part = 0; part < CORE_TYPES; part++) {
            const struct sync_point *written = &subject->placed[producer].call[part];
            if (written->step != NONE &&
                (cleaned.step == NONE || !sync_is_done(&caches->checker->proof, written, &cleaned)))
                report(caches, read, subject->ops[producer], call);
        }
    }
}

/* The stream that the op's launch is on: its own, or that of the super kernel that it is in. */
static uint32_t launch_stream(const struct caches *caches, uint32_t op)
{
    const struct sync_subject *subject = caches->checker->subject;
    const struct graph *graph = subject->graph;
    uint32_t block = graph_superkernel(graph, graph->ops.at[op].block);
    if (block == NONE)
        return subject->order->stream[op];
    uint32_t label = attr_string(caches->checker->module, graph->blocks.at[block].attrs, W_stream);
    return label == NONE ? NONE : stream_label(label);
}

/* Fills in `after` for an op; false where the order has cycles, which others report. */
static bool find_after(struct caches *caches, uint32_t op)
{
    const struct order *order = caches->checker->subject->order;
    struct order_cycle cycle = {0};
    if (!caches->after) {
        mem_free(caches->sorted);
        caches->sorted = mem_calloc(order->n_ops, sizeof(uint32_t));
        if (!order_sort(order, caches->sorted, &cycle)) {
            vec_free(&cycle.edges);
            return false;
        }
        caches->after = mem_calloc(order->n_ops, sizeof(bool));
    }
    for (uint32_t i = 0; i < order->n_ops && caches->after_of != op; i++) {
        uint32_t other = caches->sorted[i];
        bool after = other == op;
        for (uint32_t e = order->first[other]; e < order->first[other + 1] && !after; e++)
            after = caches->after[order->edges[e].from];
        caches->after[other] = after;
    }
    caches->after_of = op;
    return true;
}

/* Whether an op is complete when the launch begins since it is before it on its stream. */
static bool launch_follows(const struct caches *caches, uint32_t op)
{
    const struct sync_subject *subject = caches->checker->subject;
    const struct order *order = subject->order;
    return order->position[op] < order->position[subject->ops[0]] &&
           launch_stream(caches, op) == launch_stream(caches, subject->ops[0]);
}

/* Whether the launch as a whole begins after the op of `after`. */
static bool is_before_launch(const struct caches *caches)
{
    for (uint32_t i = 0; i < caches->tellers.count; i++)
        if (caches->waits.at[caches->tellers.at[i].wait].point.step == NONE &&
            caches->after[caches->tellers.at[i].op])
            return true;
    for (uint32_t op = 0; op < caches->checker->subject->order->n_ops; op++)
        if (caches->after[op] && launch_follows(caches, op))
            return true;
    return false;
}

/* Whether a call may read what was there before the op of `after` was complete: the super kernel
 * waits for events that tell of it, and the cache is not cleaned after one of these waits. */
static bool is_stale(const struct caches *caches, const struct sync_point *call)
{
    struct sync_point cleaned = cleaned_before(caches, call);
    bool told = false;
    for (uint32_t i = 0; i < caches->tellers.count; i++) {
        const struct teller *teller = &caches->tellers.at[i];
        const struct sync_point *wait = &caches->waits.at[teller->wait].point;
        if (!caches->after[teller->op])
            continue;
        bool alone = sync_is_one_core(wait, &cleaned) && wait->step == cleaned.step;
        if (cleaned.step != NONE &&
            (alone || sync_is_passed(&caches->checker->proof, wait, &cleaned)))
            return false;
        told = true;
    }
    return told;
}

/* What an op outside wrote is there when the launch begins, unless the super kernel waits in the
 * middle for an event that tells of it. */
static void check_outside(struct caches *caches, struct scalar_read *read, uint32_t producer)
{
    const struct sync_placed *placed = &caches->checker->subject->placed[read->place];
    if (caches->waits.count == 0 || launch_follows(caches, producer) ||
        !find_after(caches, producer) || is_before_launch(caches))
        return;
    for (int core = 0; core < CORE_TYPES; core++)
        if (placed->call[core].step != NONE && is_stale(caches, &placed->call[core]))
            report(caches, read, producer, &placed->call[core]);
}

static void check_producer(struct caches *caches, struct scalar_read *read, uint32_t producer)
{
    const struct sync_subject *subject = caches->checker->subject;
    uint32_t place = subject->index[producer];
    if (subject->order->passive[producer])
        return;
    if (place < subject->count && subject->ops[place] == producer)
        check_inside(caches, read, place);
    else
        check_outside(caches, read, producer);
}

/* The value that has the same memory by the op which defines this one, or NONE. */
static uint32_t value_before(const struct caches *caches, uint32_t value)
{
    const struct graph *graph = caches->checker->subject->graph;
    uint32_t def = graph->values.at[value].def;
    return def >= graph->ops.count ? NONE
                                   : op_alias(caches->checker->module, graph, &graph->ops.at[def],
                                              value - graph->ops.at[def].results.first);
}

static uint32_t first_of_memory(const struct caches *caches, uint32_t value)
{
    for (uint32_t from; (from = value_before(caches, value)) != NONE;)
        value = from;
    return value;
}

static bool is_variable(const struct caches *caches, uint32_t value)
{
    const struct graph *graph = caches->checker->subject->graph;
    uint32_t def = graph->values.at[value].def;
    return def < graph->ops.count &&
           op_shared_name(caches->checker->module, &graph->ops.at[def]) != NONE;
}

/* Whether the op writes into an operand that is this memory. Variables of one `shared_name` are one
 * memory under several names. */
static bool writes_memory(const struct caches *caches, uint32_t op, uint32_t root)
{
    const struct module *module = caches->checker->module;
    const struct graph *graph = caches->checker->subject->graph;
    struct op_write write = {0};
    while (op_next_write(module, graph, &graph->ops.at[op], &write)) {
        uint32_t other = first_of_memory(caches, write.operand);
        if (other == root || (is_variable(caches, other) && is_variable(caches, root)))
            return true;
    }
    return false;
}

/* Whether the edge is there since the operand's memory was written before. */
static bool is_write_of(const struct caches *caches, const struct scalar_read *read, uint32_t root,
                        const struct order_edge *edge)
{
    const struct sync_subject *subject = caches->checker->subject;
    if (edge->kind == ORDER_MEMORY)
        return writes_memory(caches, edge->from, root);
    if (edge->kind != ORDER_ADDRESS)
        return false;
    const struct overlap *overlap = &subject->order->overlaps[edge->name];
    return overlap->later.value == read->value && overlap->first.kind != ACCESS_READ;
}

/* The ops that wrote the operand: those that define it or a value of the same memory before, but
 * for ops that merely alias it; and those that the order has before the read for its memory. */
static void check_read(struct caches *caches, struct scalar_read *read)
{
    const struct module *module = caches->checker->module;
    const struct graph *graph = caches->checker->subject->graph;
    const struct order *order = caches->checker->subject->order;
    uint32_t op = caches->checker->subject->ops[read->place], root = read->value, def;
    while ((def = graph->values.at[root].def) < graph->ops.count) {
        uint32_t from = value_before(caches, root);
        if (from == NONE || op_writes(module, graph, &graph->ops.at[def], from))
            check_producer(caches, read, def);
        if (from == NONE)
            break;
        root = from;
    }
    for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++)
        if (is_write_of(caches, read, root, &order->edges[e]))
            check_producer(caches, read, order->edges[e].from);
}

/* ---------------------------------------------------------------------------- driving ---- */

static void check_op(struct caches *caches, uint32_t place, const struct attr *reads)
{
    const struct module *module = caches->checker->module;
    const struct graph *graph = caches->checker->subject->graph;
    const struct op *op = sync_op(caches->checker->subject, place);
    const struct kernel *kernel = sync_kernel(caches->checker, op->kernel);
    for (uint32_t i = 0; i < reads->value.count; i++) {
        uint32_t operand = op_scalar_place(module, graph, op, kernel,
                                           &module->attr_values.at[reads->value.first + i]);
        struct range values =
            operand == NONE ? (struct range){0, 0} : op_operand(graph, op, operand).values;
        for (uint32_t n = 0; n < values.count; n++) {
            struct scalar_read read = {place, graph->refs.at[values.first + n], operand, false};
            check_read(caches, &read);
        }
    }
}

void sync_check_caches(struct sync_checker *checker)
{
    struct caches caches = {.checker = checker, .after_of = NONE};
    bool prepared = false;
    for (uint32_t place = 0; place < checker->subject->count; place++) {
        const struct kernel *kernel =
            sync_kernel(checker, sync_op(checker->subject, place)->kernel);
        const struct attr *reads = attr_find(checker->module, kernel->attrs, W_scalar_reads);
        if (!reads)
            continue;
        if (!prepared) {
            find_cleaned(&caches, CORE_AIC);
            find_cleaned(&caches, CORE_AIV);
            find_waits(&caches);
        }
        prepared = true;
        check_op(&caches, place, reads);
    }
    for (int core = 0; core < CORE_TYPES; core++)
        mem_free(caches.cleaned[core]);
    vec_free(&caches.waits);
    vec_free(&caches.tellers);
    mem_free(caches.sorted);
    mem_free(caches.after);
}
