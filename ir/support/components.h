/* The strongly connected components of a directed graph whose nodes are numbered densely. */
#ifndef IR_SUPPORT_COMPONENTS_H
#define IR_SUPPORT_COMPONENTS_H

#include "ir/support/ids.h"
#include "ir/support/vec.h"

struct components {
    uint32_t *of;   /* by node: its component, NONE until it is known */
    uint32_t count; /* of them, those first that the others lead to */
    uint32_t *index, *low;
    uint32_t met;
    struct vec_u32 path, open;
};

void components_init(struct components *components, uint32_t n_nodes);
void components_free(struct components *components);

/* Finds the components of all nodes that `root` leads to, unless they are known, in linear time.
 * `next` gives the nodes that edges of one lead to, one by one and each edge once, then NONE. */
void components_find(struct components *components, uint32_t root,
                     uint32_t (*next)(void *context, uint32_t node), void *context);

#endif
