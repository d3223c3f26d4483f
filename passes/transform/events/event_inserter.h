/* What insert-events knows while it works on a graph. */
#ifndef PASSES_TRANSFORM_EVENTS_EVENT_INSERTER_H
#define PASSES_TRANSFORM_EVENTS_EVENT_INSERTER_H

#include "ir/analysis/dep_graph.h"
#include "passes/manager/context.h"

#include <assert.h>

/* What an op knows, and what of that the text says of ops alone, whatever they are launched with:
 * by operands, memory, streams of ops, `after` and events. */
enum knowledge { BY_LAUNCHES, BY_OPS, KNOWLEDGE };

/* A launch: a super kernel, or one op. */
struct outer_launch {
    uint32_t block;       /* of the super kernel, or NONE */
    uint32_t lane;        /* of the stream that it runs on */
    uint32_t first, last; /* ops, in list order, but for passive ones */
    bool fixed;           /* it has fixed slots: its ops neither send nor receive other events */
    uint32_t place,
        end; /* in the text: of its first op, and behind its last but for passive ones */
    uint32_t *know[KNOWLEDGE];  /* per lane: what is complete when the launch is, or its ops are;
                                * NULL for single ops, and before it is over */
    struct launch_frame *frame; /* from its first op to its last */
};

/* Of a launch at work: the ops of others that run beside it may stand between its own. */
struct launch_frame {
    uint32_t *start[KNOWLEDGE]; /* n_lanes counts: known when the launch starts */
    uint32_t *last_inner;       /* per lane: the last op on it in the launch, or NONE */
};

struct event {
    uint32_t from, to;           /* ops */
    bool from_launch, to_launch; /* the launch of that op sends, receives */
    bool inner;
    bool implied; /* by launches of one stream: made since no `after` can say it */
    uint32_t name;
};

/* Streams are lanes, numbered densely. What an op knows to be complete is, per lane, how many of
 * the lane's ops are: the graph demands the order of each stream, so whoever knows an op to be
 * complete knows all before it on its stream to be. */
struct inserter {
    struct pass_context *context;
    struct module *module;
    struct graph *graph;
    const struct order *order;
    VEC(struct order_edge) edges; /* of the op at hand */
    uint32_t n_lanes;
    uint8_t *passive;          /* per op: it executes nothing */
    uint32_t *lane_of;         /* per op */
    uint32_t *rank;            /* per op: its place on its lane, from 1 */
    uint32_t *lane_first;      /* per lane: the place of its first op in `ranked` */
    uint32_t *ranked;          /* ops by lane and rank, but for passive ones */
    uint32_t *launch_of;       /* per op */
    bool final;                /* what launches imply need not be said of ops */
    uint32_t *know[KNOWLEDGE]; /* per op: n_lanes counts, known complete when it starts; of a
                                * passive one: what must be complete before whoever uses it. Of
                                * BY_OPS it is NULL in the end */
    uint32_t *conducted; /* n_lanes counts, 0 between two ops: what one waits for by passive ones */
    uint32_t *lane_know; /* per lane of launches: the same for the launch before */
    struct launch_frame *frame;        /* of the launch of the op at hand */
    VEC(struct launch_frame *) frames; /* of no launch now */
    VEC(struct outer_launch) launches;
    VEC(struct event) events;
    struct vec_u32 afters;  /* values that `after` names */
    struct range *after_of; /* per op: its part of that */
    struct id_map *names;   /* of the events of all graphs so far: the next number for one more */
    struct id_map *kept;    /* those that ops of super kernels with fixed slots have, by name */
    struct id_map sender;   /* of those, by name: the op that sends it, if it is one */
    struct id_map *written; /* those that entries name; 2: it is given */
};

static inline bool inserter_keeps(const struct inserter *in, uint32_t event)
{
    return id_map_find(in->kept, event) != NONE;
}

static inline uint32_t *inserter_know(struct inserter *in, enum knowledge by, uint32_t op)
{
    return in->know[by] + (size_t)op * in->n_lanes;
}

/* All that are kept account of are those before it. */
static inline enum knowledge inserter_kinds(const struct inserter *in)
{
    return in->final ? BY_OPS : KNOWLEDGE;
}

/* The op of a lane with this rank. */
static inline uint32_t inserter_ranked(const struct inserter *in, uint32_t lane, uint32_t rank)
{
    return in->ranked[in->lane_first[lane] + rank - 1];
}

static inline void inserter_join(const struct inserter *in, uint32_t *to, const uint32_t *from)
{
    for (uint32_t i = 0; i < in->n_lanes; i++)
        if (to[i] < from[i])
            to[i] = from[i];
}

/* What is known behind the completion of an op. */
static inline void inserter_join_done(struct inserter *in, enum knowledge by, uint32_t *to,
                                      uint32_t op)
{
    inserter_join(in, to, inserter_know(in, by, op));
    if (to[in->lane_of[op]] < in->rank[op])
        to[in->lane_of[op]] = in->rank[op];
}

static inline bool inserter_is_known(struct inserter *in, const uint32_t *know, uint32_t op)
{
    assert(!in->passive[op]);
    return know[in->lane_of[op]] >= in->rank[op];
}

/* Edges of an op to in->edges, none of which is from a passive one. */
void conduct_take_edges(struct inserter *in, uint32_t op);
/* What passive ops conduct, for all of them; to be called before anything is taken. */
void conduct_all(struct inserter *in);
/* Whether an edge of an op, be it a passive one, is there also when events have been made. */
bool conduct_stays(const struct inserter *in, uint32_t op, const struct order_edge *edge);

/* Names the events, in the order of their senders. Returns how many outer ones there are at a time.
 */
uint32_t events_name(struct inserter *in);
/* Writes them to ops and super kernels, behind those that are kept. */
void events_write(struct inserter *in);

/* Events that are part of a contract with a host: those of ops of super kernels with fixed slots.
 * Adds the ones of a graph; none of their names may be given to others. */
void kept_find(struct id_map *kept, struct id_map *names, const struct module *module,
               const struct graph *graph);
/* Events that entries name keep their names. Adds those of a graph; none of them may be given to
 * others. */
void kept_find_written(struct id_map *written, struct id_map *names, const struct module *module,
                       const struct graph *graph);
/* Who sends those of the inserter's graph. */
void kept_find_senders(struct inserter *in);
/* What is known by the kept ones of a list of events. */
void kept_join(struct inserter *in, enum knowledge by, uint32_t *know, struct range events);

#endif
