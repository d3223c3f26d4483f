#include "passes/entry/turns.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

#include <assert.h>

/* The ops that a program calls, in turn. */
struct queue {
    struct vec_u32 places;
    uint32_t next;
    uint32_t edge; /* the first order of the next op that may be of one that has not had its turn */
};

struct merger {
    const struct superkernel *sk;
    const struct called *called;
    struct queue queues[CORE_TYPES];
    uint8_t *taken; /* by place: has had its turn */
    bool free;      /* of the graph's orders */
};

static uint32_t head(const struct merger *merger, enum core_type core)
{
    const struct queue *queue = &merger->queues[core];
    return queue->next < queue->places.count ? queue->places.at[queue->next] : NONE;
}

static void queue_pop(struct merger *merger, enum core_type core)
{
    struct queue *queue = &merger->queues[core];
    queue->next++;
    uint32_t place = head(merger, core);
    queue->edge = place == NONE ? 0 : merger->sk->order->first[merger->sk->ops[place]];
}

static void queue_fill(struct merger *merger, enum core_type core)
{
    const struct superkernel *sk = merger->sk;
    const struct program *program = &sk->entry->programs[core];
    for (uint32_t i = 0; i < program->instrs.count; i++)
        if (program->instrs.at[i].op == INSTR_call)
            vec_push(&merger->queues[core].places,
                     merger->called->place[program->instrs.at[i].number[0]]);
    merger->queues[core].next = NONE; /* before the first */
    queue_pop(merger, core);
}

/* The op before which the program's next one cannot have its turn, by the graph, or NONE. */
static uint32_t awaited_op(struct merger *merger, enum core_type core)
{
    const struct order *order = merger->sk->order;
    uint32_t op = merger->sk->ops[head(merger, core)];
    for (uint32_t *e = &merger->queues[core].edge; *e < order->first[op + 1]; ++*e) {
        uint32_t place = superkernel_index(merger->sk, order->edges[*e].from);
        if (place != NONE && !merger->taken[place])
            return place;
    }
    return NONE;
}

/* The parts of a mixed kernel run at the same time. */
static bool parts_meet(const struct merger *merger, uint32_t place)
{
    for (int core = 0; core < CORE_TYPES; core++)
        if (superkernel_has_part(merger->sk, place, (enum core_type)core) &&
            head(merger, (enum core_type)core) != place)
            return false;
    return true;
}

/* The first op of the list that can have the next turn, or NONE. */
static uint32_t next_turn(struct merger *merger)
{
    uint32_t next = NONE;
    for (int core = 0; core < CORE_TYPES; core++) {
        uint32_t place = head(merger, (enum core_type)core);
        if (place < next && parts_meet(merger, place) &&
            (merger->free || awaited_op(merger, (enum core_type)core) == NONE))
            next = place;
    }
    return next;
}

/* --------------------------------------------------------------------------- reports ---- */

static const char *op_words(const struct merger *merger, uint32_t place)
{
    const struct superkernel *sk = merger->sk;
    return op_text(sk->module, sk->graph, superkernel_op(sk, place), &sk->context->diags->arena);
}

/* Why the program's next call comes too early. */
static const char *reason(struct merger *merger, enum core_type core)
{
    struct arena *arena = &merger->sk->context->diags->arena;
    uint32_t place = head(merger, core), awaited = awaited_op(merger, core);
    if (awaited != NONE)
        return arena_printf(arena, "the op %s comes behind the op %s, which is called later",
                            op_words(merger, place), op_words(merger, awaited));
    return arena_printf(arena,
                        "the parts of the op %s run at the same time, but the %s program calls the "
                        "op %s before",
                        op_words(merger, place), core_type_name(1 - core),
                        op_words(merger, head(merger, (enum core_type)(1 - core))));
}

static struct span call_span(const struct merger *merger, enum core_type core)
{
    const struct superkernel *sk = merger->sk;
    uint32_t call = merger->called->call[core][head(merger, core)];
    return locate_instr(sk->module, &sk->entry->programs[core].instrs.at[call]);
}

static void report(struct merger *merger)
{
    const struct superkernel *sk = merger->sk;
    struct diags *diags = sk->context->diags;
    enum core_type core = head(merger, CORE_AIC) != NONE ? CORE_AIC : CORE_AIV;
    if (!diag_at(diags, DIAG_entry_calls, call_span(merger, core),
                 "entry '@%.*s' cannot call its ops in this order: %s",
                 NAME(sk->module, sk->entry->name), reason(merger, core)))
        return;
    if (core == CORE_AIC && head(merger, CORE_AIV) != NONE)
        diag_note(diags, call_span(merger, CORE_AIV), "%s", reason(merger, CORE_AIV));
}

/* --------------------------------------------------------------------------- driving ---- */

static bool merge(struct merger *merger, uint32_t *turns)
{
    for (uint32_t i = 0; i < merger->sk->count; i++) {
        uint32_t place = next_turn(merger);
        if (place == NONE && superkernel_is_synchronised(merger->sk)) {
            merger->free = true;
            place = next_turn(merger);
        }
        if (place == NONE) {
            report(merger);
            return false;
        }
        for (int core = 0; core < CORE_TYPES; core++)
            if (head(merger, (enum core_type)core) == place)
                queue_pop(merger, (enum core_type)core);
        merger->taken[place] = 1;
        turns[i] = place;
    }
    assert(head(merger, CORE_AIC) == NONE && head(merger, CORE_AIV) == NONE);
    return true;
}

bool turns_find(const struct superkernel *sk, const struct called *called, uint32_t *turns)
{
    struct merger merger = {.sk = sk, .called = called};
    merger.taken = mem_calloc(sk->count, 1);
    for (int core = 0; core < CORE_TYPES; core++)
        queue_fill(&merger, (enum core_type)core);
    bool ok = merge(&merger, turns);
    for (int core = 0; core < CORE_TYPES; core++)
        vec_free(&merger.queues[core].places);
    mem_free(merger.taken);
    return ok;
}
