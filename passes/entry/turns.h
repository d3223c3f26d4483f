/* The order in which the programs of an entry, both taken together, call its ops. */
#ifndef PASSES_ENTRY_TURNS_H
#define PASSES_ENTRY_TURNS_H

#include "passes/called.h"
#include "passes/entry/superkernel.h"

/* Fills `turns`, of as many as ops, with their places in the list, in an order that the graph
 * allows and in which each program calls them: of ops that could be next, the first of the list.
 * Where no call can be next by the graph, it is refused only if the entry is not synchronised: what
 * is wrong with another, the proof tells. False, reported, where an order is refused, or mixed ops
 * have none. `sk` is by list order, `called` is what its entry calls. */
bool turns_find(const struct superkernel *sk, const struct called *called, uint32_t *turns);

#endif
