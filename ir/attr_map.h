/* Attributes in which something else stands in the place of types or symbols. */
#ifndef IR_ATTR_MAP_H
#define IR_ATTR_MAP_H

#include "ir/module.h"

struct attr_map {
    struct module *module;
    /* Changes a type or symbol, and says whether it has. */
    bool (*change)(struct attr_map *map, struct attr_value *value);
    void *user;
};

/* Of all ops, blocks and parameters of a graph, and its own: those where something changes are new
 * ones, so that other graphs keep theirs. */
void attr_map_graph(struct attr_map *map, struct graph *graph);

#endif
