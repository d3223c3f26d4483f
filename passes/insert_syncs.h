/* What insert-syncs knows of an entry, and what it has to enforce there: shared with what it says
 * of that (insert_syncs_remarks.c). */
#ifndef PASSES_INSERT_SYNCS_H
#define PASSES_INSERT_SYNCS_H

#include "passes/entry/superkernel.h"
#include "passes/sync/plan/plan.h"

/* Which cores of its type take part in a node. */
enum extent { ALL_CORES, FIRST_AI_CORE, CORE_ZERO };

/* Per op in list order: how many nodes of a list there are up to its own, as sync_node.need counts
 * them; 0 where it has none there. */
struct op_nodes {
    uint32_t call[CORE_TYPES], select[CORE_TYPES];
    uint32_t wait[CORE_TYPES]; /* the last of its waits for events */
};

struct inserter {
    struct superkernel *sk;
    struct sync_plan plan;
    struct op_nodes *ops;
    struct superkernel_events events;
    /* The first wait for an event, by its name: where other receivers have no wait of their own. */
    struct id_map waits[CORE_TYPES];
    /* By node: the turns up to the call before it in its program; and so far. */
    struct vec_u32 turns[CORE_TYPES];
    uint32_t called[CORE_TYPES];
    struct vec_u32 extents[CORE_TYPES]; /* by node: enum extent */
    uint32_t blocks, per_block[CORE_TYPES];
    bool chained;   /* each op is behind the one before it */
    bool shortcuts; /* what some cores do alone need not be told to all */
};

/* Why a node comes behind another. */
struct sync_cause {
    enum {
        CAUSE_EDGE,   /* the graph orders their ops */
        CAUSE_LIST,   /* their ops follow one another in a single list */
        CAUSE_EVENT,  /* the op waits for an event, which one core does */
        CAUSE_NOTIFY, /* the op is to be complete */
        CAUSE_WORD,   /* all have read a word that is reset, or a choice that is given back */
    } kind;
    uint32_t op;   /* the turn of the later op; of CAUSE_NOTIFY and CAUSE_WORD, whose word it is */
    uint32_t from; /* CAUSE_EDGE, CAUSE_LIST: the turn of the earlier op */
    uint32_t edge; /* CAUSE_EDGE: the index of the edge */
};

/* `node` of a core type comes behind `before` of another or the same: numbers as in op_nodes, and
 * neither is 0. */
struct sync_need {
    int core, before_core;
    uint32_t node, before;
    struct sync_cause cause;
};

/* Who must know of what is complete: core 0 does both itself; the cores of one AI core; all. */
enum need_extent { NEED_DRAIN, NEED_OWN, NEED_ALL };

static inline enum need_extent need_extent(const struct inserter *in, const struct sync_need *need)
{
    uint32_t extent = in->extents[need->core].at[need->node - 1];
    uint32_t before = in->extents[need->before_core].at[need->before - 1];
    if (need->core == need->before_core && extent == CORE_ZERO && before == CORE_ZERO)
        return NEED_DRAIN;
    return extent != ALL_CORES && before != ALL_CORES ? NEED_OWN : NEED_ALL;
}

/* Called for each need. */
typedef void need_visitor(void *user, const struct inserter *in, const struct sync_need *need);

/* All that follows becomes part of its two callers, whose visitors cost no call. */
#define NEEDS_INLINE static inline __attribute__((always_inline))

NEEDS_INLINE void visit_need(const struct inserter *in, need_visitor *visit, void *user,
                             struct sync_need need)
{
    if (need.node && need.before)
        visit(user, in, &need);
}

NEEDS_INLINE void visit_op(const struct inserter *in, need_visitor *visit, void *user,
                           struct sync_cause cause)
{
    for (int core = 0; core < CORE_TYPES; core++)
        for (int part = 0; part < CORE_TYPES; part++)
            visit_need(in, visit, user,
                       (struct sync_need){core, part, in->ops[cause.op].call[core],
                                          in->ops[cause.from].call[part], cause});
}

/* What the calls of an op need. */
NEEDS_INLINE void visit_calls(const struct inserter *in, need_visitor *visit, void *user,
                              uint32_t op)
{
    const struct order *order = in->sk->order;
    uint32_t id = in->sk->ops[op];
    for (uint32_t e = order->first[id]; e < order->first[id + 1]; e++) {
        uint32_t earlier = superkernel_index(in->sk, order->edges[e].from);
        if (earlier != NONE)
            visit_op(in, visit, user, (struct sync_cause){CAUSE_EDGE, op, earlier, e});
    }
    if (in->chained && op > 0)
        visit_op(in, visit, user, (struct sync_cause){CAUSE_LIST, op, op - 1, NONE});
    for (int core = 0; core < CORE_TYPES; core++)
        for (int waiter = 0; waiter < CORE_TYPES; waiter++)
            visit_need(in, visit, user,
                       (struct sync_need){core,
                                          waiter,
                                          in->ops[op].call[core],
                                          in->ops[op].wait[waiter],
                                          {CAUSE_EVENT, op, NONE, NONE}});
}

/* A reset comes behind all waits for the event. */
NEEDS_INLINE void visit_reset(const struct inserter *in, need_visitor *visit, void *user, int core,
                              uint32_t node, uint32_t event)
{
    const struct event_uses *recvs = &in->events.recvs;
    uint32_t i = event_uses_find(recvs, event);
    for (; i < recvs->count && recvs->at[i].event == event; i++)
        for (int part = 0; part < CORE_TYPES; part++)
            visit_need(in, visit, user,
                       (struct sync_need){core,
                                          part,
                                          node,
                                          in->ops[recvs->at[i].op].wait[part],
                                          {CAUSE_WORD, recvs->at[i].op, NONE, NONE}});
}

/* What notifications and resets need: all of their op, all that read the word. */
NEEDS_INLINE void visit_words(const struct inserter *in, need_visitor *visit, void *user, int core)
{
    const struct sync_list *list = &in->plan.lists[core];
    for (uint32_t i = 0; i < list->count; i++) {
        const struct instr *instr = &in->sk->entry->programs[core].instrs.at[list->at[i].instr];
        if (instr->op == INSTR_reset && !instr->word)
            visit_reset(in, visit, user, core, i + 1, instr->number[0]);
        if (instr->op != INSTR_notify && !(instr->op == INSTR_reset && instr->word))
            continue;
        uint32_t owner = superkernel_word_owner(in->sk, &in->events, instr, 0);
        const struct op_nodes *op = &in->ops[owner];
        for (int part = 0; part < CORE_TYPES; part++)
            visit_need(
                in, visit, user,
                (struct sync_need){core,
                                   part,
                                   i + 1,
                                   instr->word ? op->select[part] : op->call[part],
                                   {instr->word ? CAUSE_WORD : CAUSE_NOTIFY, owner, NONE, NONE}});
    }
}

NEEDS_INLINE void inserter_needs(const struct inserter *in, need_visitor *visit, void *user)
{
    for (uint32_t i = 0; i < in->sk->count; i++)
        visit_calls(in, visit, user, i);
    for (int core = 0; core < CORE_TYPES; core++)
        visit_words(in, visit, user, core);
}

/* insert_syncs_remarks.c */

/* Says of each barrier and flag of the plan, which is made but not written yet, for which order it
 * is there. */
void insert_syncs_remark(const struct inserter *in);

#endif
