/* Graphs of GE that are called, once all of them are read. */
#ifndef FRONTEND_EXCHANGE_READERS_GE_CALLS_H
#define FRONTEND_EXCHANGE_READERS_GE_CALLS_H

#include "frontend/exchange/dump/dump.h"

/* A parameter of a graph that is called, which says which operand of the caller it is. */
struct ge_given {
    uint32_t graph, node;
    int64_t operand;
};

/* Gives such parameters their places among those of their graphs, which the callers tell. */
void ge_place_params(struct dump *dump, const struct ge_given *given, uint32_t count);

#endif
