/* The order that a graph demands: data, program order within a stream, `after`, events, and memory
 * that ops share. Nothing else orders two ops (docs/language.md, "Order"). Passive ops have edges
 * as others do, so that order is transitive through them, but no stream edges. What the `after` and
 * `recv` of one demand, the next op of its stream that executes something demands, too.
 *
 * Memory: an op reads its operands, and with `inplace = [i]` writes into the i-th. `reads` and
 * `writes` name buffers ("cache" or ["a", "b"]). Accesses to one memory, be it a buffer or values
 * that are one (ir/analysis/modref.h), keep their text order but for reads among themselves. */
#ifndef IR_ANALYSIS_DEP_GRAPH_H
#define IR_ANALYSIS_DEP_GRAPH_H

#include "ir/analysis/modref.h"
#include "ir/core/module.h"

/* Who sends or receives an event, by its clauses: an op, or (op NONE) a super kernel. */
struct event_side {
    uint32_t event; /* name id */
    uint32_t op, block;
    uint32_t index; /* in the clause */
};

struct event_sides {
    struct event_side *at;
    uint32_t count, capacity;
};

/* All sends (key W_send) or receives (W_recv) of a graph, those of ops first. The caller frees the
 * array. */
struct event_sides event_sides_find(const struct graph *graph, uint32_t key);

/* ADDRESS: an edge that others imply, between ops that access the same bytes by different names;
 * it says why the order matters. */
enum order_kind { ORDER_DATA, ORDER_AFTER, ORDER_STREAM, ORDER_EVENT, ORDER_MEMORY, ORDER_ADDRESS };

struct overlap; /* ir/analysis/hazards.h */

/* `from` must be complete before the op that has this edge starts. */
struct order_edge {
    uint32_t from;
    uint32_t name; /* DATA, AFTER: the value's name; STREAM: the label or NONE; EVENT: the event;
                    * MEMORY: the buffer, or the value written in place; ADDRESS: index of
                    * order.overlaps */
    enum order_kind kind;
    uint32_t by; /* NONE, or the passive op through which it comes: the end of a chain of edges,
                  * whose first has kind and name, or one before the op on its stream, whose clause
                  * has them */
};

struct order {
    uint32_t n_ops;
    uint32_t *first; /* edges of op i are first[i] .. first[i + 1] - 1 */
    struct order_edge *edges;
    uint32_t *stream;   /* per op: name id of its stream's label, NONE for the default stream */
    uint32_t *position; /* per op: its place in text order */
    uint32_t *text;     /* op ids in text order */
    uint8_t *passive;   /* per op: op_is_passive */
    struct overlap *overlaps; /* of the edges by addresses */
    uint8_t *beyond;          /* per op: BEYOND_... */
};

/* What hangs on an op's reads beyond its own edges, since edges that others imply are left out:
 * START: a super kernel that waits for events has the op, which reads or writes what an op outside
 * wrote or reads; READS: what the op reads, a later op overwrites by its address, or, where its
 * super kernel sends events, an op outside. */
enum { BEYOND_START = 1, BEYOND_READS = 2 };

static inline bool order_is_memory(enum order_kind kind)
{
    return kind == ORDER_MEMORY || kind == ORDER_ADDRESS;
}

/* What an edge demands of kernels that start early (docs/device-model.md, "Early start"): that the
 * earlier op is complete with what it reads, not only what it writes; that the later one, `to`,
 * reads nothing before. Memory says what is read and written; of `after`, events and streams by
 * themselves nothing hangs on reads, unless it does on those beyond the edge. */
static inline bool order_is_for_reads(const struct order *order, const struct order_edge *edge)
{
    return order_is_memory(edge->kind) || order->beyond[edge->from] & BEYOND_READS;
}
static inline bool order_is_from_start(const struct order *order, const struct order_edge *edge,
                                       uint32_t to)
{
    return edge->kind == ORDER_DATA || order_is_memory(edge->kind) ||
           order->beyond[to] & BEYOND_START;
}

/* The required order of a graph. Values without definition and events without partner add
 * nothing. */
void order_init(struct order *order, const struct module *module, const struct graph *graph);
/* The same for one of several graphs, with what is found out on the way about those that it calls:
 * so each is looked at once. */
struct effects;
void order_init_with(struct order *order, const struct module *module, const struct graph *graph,
                     struct effects *effects);
void order_free(struct order *order);

/* For two ops with no other between them: whether the graph has `to` run behind `from`, by an edge
 * or because they are of one stream. */
bool order_follows(const struct order *order, uint32_t from, uint32_t to);

/* Whether each of these ops, but for the first, follows the one before it. */
bool order_is_chain(const struct order *order, const uint32_t *ops, uint32_t count);

#endif
