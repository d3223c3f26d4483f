/* A super kernel and its entry, as passes over entries see them: with its ops in the order in which
 * the programs call them, which is mostly that of its list. */
#ifndef PASSES_ENTRY_SUPERKERNEL_H
#define PASSES_ENTRY_SUPERKERNEL_H

#include "ir/order.h"
#include "ir/sk_options.h"
#include "ir/slots.h"
#include "passes/context.h"
#include "passes/entry/entry_change.h"

struct superkernel {
    struct pass_context *context;
    struct module *module;
    const struct graph *graph;
    const struct block *block;
    const struct entry *entry; /* to be changed by passes/entry/entry_change.h */
    struct entry_change change;
    const uint32_t *ops; /* op ids in the order of the calls: an op's number here is its turn */
    uint32_t count;
    const uint32_t *listed;  /* by turn: the place in list order; NULL: that is the turn */
    const uint32_t *index;   /* per op of the graph: its turn, or NONE */
    const uint32_t *grouped; /* by named group of the entry: the turn of its op, or NONE */
    uint32_t n_grouped;
    const struct order *order; /* of the graph */
    struct sk_options options;
    unsigned records; /* kinds that the entry's programs get behind the visit (records.h) */
    void *user;       /* of superkernels_visit_in_turn */
};

const struct op *superkernel_op(const struct superkernel *sk, uint32_t i);
const struct kernel *superkernel_kernel(const struct superkernel *sk, uint32_t i);

/* The turn of an op of the graph, or NONE where it is not of this super kernel. */
uint32_t superkernel_index(const struct superkernel *sk, uint32_t op);

/* The place of the i-th op in list order. */
uint32_t superkernel_place(const struct superkernel *sk, uint32_t i);

/* Whether the i-th op has a part on cores of this type. */
bool superkernel_has_part(const struct superkernel *sk, uint32_t i, enum core_type core);

/* Whether AICs and AIVs run their lists side by side: stream-fusion=1, and the graph leaves some op
 * and the one before it unordered. Else all ops are one list, each behind the one before it. */
bool superkernel_is_two_lists(const struct superkernel *sk);

/* Whether its entry has barriers, flags or drains, or calls that start early. */
bool superkernel_is_synchronised(const struct superkernel *sk);

/* The ops that send or receive an event, or both, in turn. */
struct event_uses {
    struct event_use {
        uint32_t event, op; /* op: its turn */
    } * at;                 /* by event, then by op */
    uint32_t count, capacity;
};
/* The first use of an event, uses->count where there is none. */
uint32_t event_uses_find(const struct event_uses *uses, uint32_t event);

struct superkernel_events {
    struct event_uses sends, recvs;
};
struct superkernel_events superkernel_events(const struct superkernel *sk);
void superkernel_events_free(struct superkernel_events *events);

/* The op, by its turn, that an instruction for a word in memory is about, where the program's next
 * call is that of op `next`: the owner of the lock; the sender of the event; of its receivers the
 * first from `next` on, or the last. sk->count where an edited dump has an event that is none of
 * an op's. */
uint32_t superkernel_word_owner(const struct superkernel *sk,
                                const struct superkernel_events *events, const struct instr *instr,
                                uint32_t next);

#endif
