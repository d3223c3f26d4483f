/* A super kernel and its entry, as passes over entries see them. */
#ifndef PASSES_ENTRY_SUPERKERNEL_H
#define PASSES_ENTRY_SUPERKERNEL_H

#include "ir/order.h"
#include "ir/sk_options.h"
#include "ir/slots.h"
#include "passes/context.h"

struct superkernel {
    struct pass_context *context;
    struct module *module;
    const struct graph *graph;
    const struct block *block;
    struct entry *entry;
    const uint32_t *ops; /* op ids in list order: the order of the calls */
    uint32_t count;
    const uint32_t *index;     /* per op of the graph: its place in its list, or NONE */
    const struct order *order; /* of the graph */
    struct sk_options options;
    void *user; /* of superkernels_visit_with */
};

const struct op *superkernel_op(const struct superkernel *sk, uint32_t i);
const struct kernel *superkernel_kernel(const struct superkernel *sk, uint32_t i);

/* The place in the list of an op of the graph, or NONE where it is not of this super kernel. */
uint32_t superkernel_index(const struct superkernel *sk, uint32_t op);

/* Whether the i-th op has a part on cores of this type. */
bool superkernel_has_part(const struct superkernel *sk, uint32_t i, enum core_type core);

/* Whether AICs and AIVs run their lists side by side: stream-fusion=1, and the graph leaves some op
 * and the one before it unordered. Else all ops are one list, each behind the one before it. */
bool superkernel_is_two_lists(const struct superkernel *sk);

/* What a parameter slot of the entry is for. */
struct slot_use {
    uint32_t op; /* in list order */
    enum slot_kind kind;
};

/* The slots of all ops, in turn: slot n of the entry is element n - 1, as slot 0 is the sync base
 * address. */
struct slot_uses {
    struct slot_use *at;
    uint32_t count, capacity;
};
struct slot_uses superkernel_slots(const struct superkernel *sk);
/* The use of a slot; for what is no slot of an op, the op is sk->count. */
struct slot_use superkernel_slot(const struct superkernel *sk, const struct slot_uses *uses,
                                 uint32_t slot);

#endif
