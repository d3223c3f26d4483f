/* A graph that is made anew, with the ops of others in the place of calls. */
#ifndef PASSES_INLINE_BUILDER_H
#define PASSES_INLINE_BUILDER_H

#include "passes/inline/graph.h"

/* The clauses of an op of the new graph. */
struct op_lists {
    struct vec_u32 after, send, recv;
    struct range forms; /* of `next` */
};

struct inline_builder {
    const struct inline_plan *plan;
    struct module *module;
    const struct graph *old;
    struct graph next;
    VEC(struct op_lists) lists;      /* by op of `next` */
    VEC(uint32_t) streams;           /* the same: its label, NONE on the default stream */
    VEC(uint8_t) passive;            /* the same */
    uint32_t *values, *ops, *blocks; /* of `next`, by those of `old` */
    struct inline_ends *ends;        /* by op of `old` that is replaced: ops of `next` */
    struct inline_names *names;
    struct vec_u32 scratch;
};

/* The call that is being replaced. */
struct inline_call {
    const struct op *op;
    const struct graph *graph;
    uint32_t prefix;                 /* name id: of what its graph's names begin with */
    uint32_t block;                  /* of `next`: the innermost one around it, or NONE */
    uint32_t stream;                 /* label, or NONE */
    uint32_t *values, *ops, *blocks; /* of `next`, by those of the graph */
    uint32_t *names;                 /* by value of the graph: that of a result, or NONE */
};

/* Names that nothing else has: `wanted`, or that with the separator and a number. */
uint32_t inline_unique_name(struct inline_builder *builder, struct stamped *taken, uint32_t wanted,
                            const char *separator);
/* A word for an event, of a prefix and a name. */
uint32_t inline_event_name(struct inline_builder *builder, uint32_t prefix, uint32_t name);

/* Adds a copy of an op or block of `from`, which is the old graph, or that of `call`. */
uint32_t inline_add_op(struct inline_builder *builder, const struct inline_call *call,
                       const struct graph *from, const struct op *op, uint32_t block,
                       uint32_t *values);
uint32_t inline_open_block(struct inline_builder *builder, const struct inline_call *call,
                           const struct block *model, uint32_t parent);
/* Adds what an op of the old graph calls. */
void inline_replace_call(struct inline_builder *builder, uint32_t id);

/* Makes the order of the new graph that of the old one. */
void inline_keep_order(struct inline_builder *builder);
/* Leaves events that are sent and received, and no others. */
void inline_settle_events(struct inline_builder *builder);

#endif
