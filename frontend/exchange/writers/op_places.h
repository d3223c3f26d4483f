/* Places of a graph's ops in its text, which formats of others number them by. */
#ifndef FRONTEND_EXCHANGE_WRITERS_OP_PLACES_H
#define FRONTEND_EXCHANGE_WRITERS_OP_PLACES_H

#include "ir/module.h"

struct op_places {
    uint32_t count;       /* of the ops in the text */
    uint32_t *of_op;      /* by op id: how many ops stand before it */
    struct range *blocks; /* by block id: the places of the ops inside, in inner blocks, too */
};

void op_places_init(struct op_places *places, const struct graph *graph);
void op_places_free(struct op_places *places);

#endif
