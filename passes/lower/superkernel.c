#include "passes/lower/superkernel.h"

#include <assert.h>

#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

struct instr instr_make(enum instr_op op, uint8_t word)
{
    return (struct instr){
        .op = (uint8_t)op, .part = CORE_TYPES, .word = word, .loc = NONE, .kernel = NONE};
}

void program_replace(struct program *program, struct instrs *instrs)
{
    vec_free(&program->instrs);
    program->instrs.at = instrs->at;
    program->instrs.count = instrs->count;
    program->instrs.capacity = instrs->capacity;
    *instrs = (struct instrs){NULL, 0, 0};
}

void program_edit_add(struct program_edit *edit, uint32_t at, struct instr instr)
{
    assert(edit->count == 0 || edit->at[edit->count - 1].at <= at);
    vec_push(edit, (struct addition){at, instr});
}

const struct op *superkernel_op(const struct superkernel *sk, uint32_t i)
{
    assert(i < sk->count);
    return &sk->graph->ops.at[sk->ops[i]];
}

const struct kernel *superkernel_kernel(const struct superkernel *sk, uint32_t i)
{
    return module_kernel(sk->module, superkernel_op(sk, i)->kernel);
}

uint32_t superkernel_index(const struct superkernel *sk, uint32_t op)
{
    return members_place(sk->index, sk->ops, sk->count, op);
}

uint32_t superkernel_place(const struct superkernel *sk, uint32_t i)
{
    assert(i < sk->count);
    return sk->listed ? sk->listed[i] : i;
}

bool superkernel_has_part(const struct superkernel *sk, uint32_t i, enum core_type core)
{
    return kernel_type_has(superkernel_kernel(sk, i)->type, core);
}

bool superkernel_is_two_lists(const struct superkernel *sk)
{
    return sk->options->of[SK_stream_fusion].number != 0 &&
           !order_is_chain(sk->order, sk->ops, sk->count);
}

bool superkernel_is_synchronised(const struct superkernel *sk)
{
    return entry_is_synchronised(sk->entry);
}

static int compare_uses(const void *a, const void *b)
{
    const struct event_use *x = a, *y = b;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

static struct event_uses find_uses(const struct superkernel *sk, enum slot_kind kind)
{
    struct event_uses uses = {NULL, 0, 0};
    for (uint32_t i = 0; i < sk->count; i++) {
        const struct clauses *clauses = op_clauses(sk->graph, superkernel_op(sk, i));
        struct range events = kind == SLOT_SEND ? clauses->send : clauses->recv;
        for (uint32_t n = 0; n < events.count; n++)
            vec_push(&uses, (struct event_use){sk->graph->refs.at[events.first + n], i});
    }
    if (uses.count)
        qsort(uses.at, uses.count, sizeof *uses.at, compare_uses);
    return uses;
}

struct superkernel_events superkernel_events(const struct superkernel *sk)
{
    return (struct superkernel_events){find_uses(sk, SLOT_SEND), find_uses(sk, SLOT_RECV)};
}

void superkernel_events_free(struct superkernel_events *events)
{
    vec_free(&events->sends);
    vec_free(&events->recvs);
}

/* The first use that is not before that of the event by op `next`. */
static uint32_t lower_bound(const struct event_uses *uses, uint32_t event, uint32_t next)
{
    uint32_t first;
    bisect(first, i, uses->count,
           uses->at[i].event < event || (uses->at[i].event == event && uses->at[i].op < next));
    return first;
}

uint32_t event_uses_find(const struct event_uses *uses, uint32_t event)
{
    uint32_t first = lower_bound(uses, event, 0);
    return first < uses->count && uses->at[first].event == event ? first : uses->count;
}

uint32_t superkernel_word_owner(const struct superkernel *sk,
                                const struct superkernel_events *events, const struct instr *instr,
                                uint32_t next)
{
    const struct event_uses *uses = instr->op == INSTR_notify ? &events->sends : &events->recvs;
    uint32_t event = instr->number[0];
    if (instr->word)
        return event < sk->n_grouped && sk->grouped[event] != NONE ? sk->grouped[event] : sk->count;
    uint32_t use = lower_bound(uses, event, instr->op == INSTR_notify ? 0 : next);
    if (use < uses->count && uses->at[use].event == event)
        return uses->at[use].op;
    return use > 0 && uses->at[use - 1].event == event ? uses->at[use - 1].op : sk->count;
}

struct entry *superkernel_own_entry(struct superkernel *sk)
{
    struct entry_change *change = &sk->change;
    struct entry *copy = &change->copy;
    if (!change->in_part)
        return change->entry;
    if (!change->copied) {
        *copy = *change->entry;
        vec_own(&copy->groups);
        vec_own(&copy->args);
        vec_own(&copy->listed);
        for (int core = 0; core < CORE_TYPES; core++)
            vec_own(&copy->programs[core].instrs);
    }
    change->copied = true;
    sk->entry = copy;
    return copy;
}

void superkernel_replace(struct superkernel *sk, enum core_type core, struct instrs *instrs)
{
    program_replace(&superkernel_own_entry(sk)->programs[core], instrs);
}

void superkernel_edit(struct superkernel *sk, enum core_type core, struct program_edit *edit)
{
    const struct program *program = &sk->entry->programs[core];
    struct instrs instrs = {NULL, 0, 0};
    uint32_t added = 0;
    if (edit->count == 0)
        return;
    assert(edit->at[edit->count - 1].at <= program->instrs.count);
    vec_reserve(&instrs, (uint64_t)program->instrs.count + edit->count);
    for (uint32_t i = 0; i <= program->instrs.count; i++) {
        for (; added < edit->count && edit->at[added].at == i; added++)
            vec_push(&instrs, edit->at[added].instr);
        if (i < program->instrs.count)
            vec_push(&instrs, program->instrs.at[i]);
    }
    superkernel_replace(sk, core, &instrs);
    vec_free(edit);
}

void entry_change_take(struct entry_change *change)
{
    struct entry *entry = change->entry;
    if (!change->copied)
        return;
    vec_free(&entry->groups);
    vec_free(&entry->args);
    vec_free(&entry->listed);
    for (int core = 0; core < CORE_TYPES; core++)
        vec_free(&entry->programs[core].instrs);
    *entry = change->copy;
}

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

/* The first op of the list that can have the next turn, or NONE. The parts of a mixed kernel run at
 * the same time. */
static uint32_t next_turn(struct merger *merger)
{
    uint32_t next = NONE;
    for (int core = 0; core < CORE_TYPES; core++) {
        uint32_t place = head(merger, core);
        if (place < next &&
            (head(merger, 1 - core) == place ||
             !superkernel_has_part(merger->sk, place, (enum core_type)(1 - core))) &&
            (merger->free || awaited_op(merger, core) == NONE))
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
            if (head(merger, core) == place)
                queue_pop(merger, core);
        merger->taken[place] = 1;
        turns[i] = place;
    }
    assert(head(merger, CORE_AIC) == NONE && head(merger, CORE_AIV) == NONE);
    return true;
}

bool turns_find(const struct superkernel *sk, const struct called *called, uint32_t *turns)
{
    struct merger merger = {.sk = sk, .called = called, .taken = mem_calloc(sk->count, 1)};
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct program *program = &sk->entry->programs[core];
        for (uint32_t i = 0; i < program->instrs.count; i++)
            if (program->instrs.at[i].op == INSTR_call)
                vec_push(&merger.queues[core].places,
                         called->place[program->instrs.at[i].number[0]]);
        merger.queues[core].next = NONE; /* before the first */
        queue_pop(&merger, core);
    }
    bool ok = merge(&merger, turns);
    for (int core = 0; core < CORE_TYPES; core++)
        vec_free(&merger.queues[core].places);
    mem_free(merger.taken);
    return ok;
}
