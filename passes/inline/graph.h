/* A graph in which calls are replaced by the ops of the graphs that they call. What orders two ops
 * before orders them after, and nothing else does: what a call waits for, the first ops of its
 * graph wait for, and what waits for a call waits for the last ones. */
#ifndef PASSES_INLINE_GRAPH_H
#define PASSES_INLINE_GRAPH_H

#include "ir/base/ids.h"
#include "ir/order.h"

/* Numbers by name, of which all are forgotten at once: for many graphs one after another, none of
 * which takes time for the names of others. Zero-initialised is empty; stamped_begin comes before
 * all else. */
struct stamped {
    struct stamped_number {
        uint32_t stamp, number;
    } * at;
    uint32_t count, capacity;
    uint32_t stamp; /* of what is set since the last stamped_begin */
};

/* Forgets all numbers. */
static inline void stamped_begin(struct stamped *map)
{
    map->stamp++;
}

static inline uint32_t stamped_find(const struct stamped *map, uint32_t name)
{
    bool set = name < map->count && map->at[name].stamp == map->stamp;
    return set ? map->at[name].number : NONE;
}

static inline void stamped_set(struct stamped *map, uint32_t name, uint32_t number)
{
    if (name >= map->count) {
        vec_reserve(map, name - map->count + 1);
        memset(map->at + map->count, 0, (map->capacity - map->count) * sizeof *map->at);
        map->count = map->capacity;
    }
    map->at[name] = (struct stamped_number){map->stamp, number};
}

static inline void stamped_free(struct stamped *map)
{
    vec_free(map);
}

/* Of a graph that is called: the ops that execute something and come behind (before) no other such
 * op of the graph. */
struct inline_ends {
    struct vec_u32 first, last;
};

void inline_ends_find(struct inline_ends *ends, const struct module *module,
                      const struct graph *graph, struct effects *effects);
void inline_ends_free(struct inline_ends *ends);

enum name_kind { NAME_STREAM, NAME_SCOPE, NAME_EVENT, NAME_KINDS };

/* Names of the graph at work: room for those of all graphs, one after another. Zero-initialised is
 * empty. */
struct inline_names {
    struct stamped taken_values, taken[NAME_KINDS];
    struct stamped renamed[NAME_KINDS]; /* new names by old ones, of the call at work */
};

void inline_names_free(struct inline_names *names);

/* What becomes of the ops of a graph. */
struct inline_plan {
    struct module *module;
    const struct order *order; /* of the graph */
    /* By op: the index of the graph that takes its place, or NONE. */
    const uint32_t *callee;
    const struct inline_ends *const *ends; /* by graph */
    /* By event: the block that sends it or receives it as a whole, or NONE. */
    const struct id_map *launch_sends, *launch_receives;
    struct inline_names *names;
};

/* Makes the graph anew, in its place. */
void inline_graph(const struct inline_plan *plan, struct graph *graph);

#endif
