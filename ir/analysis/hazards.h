/* Ops that access the same bytes by different names: what must be ordered, and is, or is not
 * (docs/language.md, "Addresses"). */
#ifndef IR_ANALYSIS_HAZARDS_H
#define IR_ANALYSIS_HAZARDS_H

#include "ir/analysis/addresses.h"
#include "ir/analysis/dep_graph.h"

/* Two ops whose accesses meet, one of them writing. */
struct overlap {
    uint32_t from, to;          /* ops: `to` is behind `from`, or (not ordered) beside it */
    struct access first, later; /* of `from`, of `to` */
};

/* An op, or (NONE) the graph's return, that reads what another op than those that gave the value
 * its contents has written there meanwhile. */
struct overwrite {
    uint32_t op, writer;
    uint32_t index; /* of the returned value */
    struct access read, write;
};

struct overlaps {
    struct {
        struct overlap *at;
        uint32_t count, capacity;
    } ordered, unordered;
    struct {
        struct overwrite *at;
        uint32_t count, capacity;
    } overwritten;
    struct vec_u32 reused; /* ops that read bytes which a later op writes, in any order */
};

/* Whether the graph has addresses, or calls others in a module that has any. */
bool overlaps_can_be(const struct module *module, const struct graph *graph);

/* For each access of an op and each stream, the last op there that writes what it accesses, and the
 * last that accesses what it writes; of two streams whose ops meet without an order, the first op
 * beside each such last one. `order` is that by
 * all else; launches on one stream follow one another, too. Nothing where it has a circle.
 *
 * It takes time in proportion to the accesses, times the streams that have some: for each of these
 * the ops are gone through once, with what is known to be complete of it, and with the last access
 * of it to each piece of memory, in a tree. */
void overlaps_find(struct overlaps *overlaps, const struct module *module,
                   const struct graph *graph, const struct order *order);
void overlaps_free(struct overlaps *overlaps);
/* Frees all but those that are ordered, which become the order's. */
void overlaps_take(struct overlaps *overlaps, struct order *order);

/* What two ops of an order both access, one of them writing, or NULL where nothing says that they
 * do. */
const struct overlap *order_overlap(const struct order *order, uint32_t from, uint32_t to);

/* "bytes 0 to 8191 of 'act' (%y)", in the arena. */
const char *access_text(const struct module *module, const struct graph *graph,
                        const struct access *access, struct arena *arena);

#endif
