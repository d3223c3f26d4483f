/* What TorchAir notes of a tensor in the attribute `_meta` of its description: the text that Python
 * makes of torch's shape. Often nothing else says the shape, or the names of its dimensions. */
#ifndef FRONTEND_EXCHANGE_READERS_GE_META_H
#define FRONTEND_EXCHANGE_READERS_GE_META_H

#include "frontend/exchange/dump/types.h"

/* The shape of such a text, RANK_UNKNOWN where it has none. Names become dimensions of the graph,
 * if that is not NONE. */
void ge_meta_shape(struct dump *dump, uint32_t graph, const char *text, size_t size,
                   struct dump_shape *shape);

#endif
