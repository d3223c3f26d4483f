#include "passes/entry/superkernel.h"

#include <assert.h>

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
    return sk->options.of[SK_stream_fusion].number != 0 &&
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
