/* Names of super kernels of scopes, and of their parts (docs/passes.md, "partition-scopes" and
 * "The cuts of the reference"). A caller
 * that takes a name makes sure that nothing else has it. */
#ifndef PASSES_PARTITION_SUPERKERNEL_NAMES_H
#define PASSES_PARTITION_SUPERKERNEL_NAMES_H

#include "ir/core/module.h"

/* The places that stand in the name of a part. */
struct part_places {
    int64_t begin, end;
};

/* GRAPH_SCOPE. */
uint32_t superkernel_name(struct module *module, uint32_t graph, uint32_t scope);

/* NAME_split_BEGIN_END: by the places of its first and last op. */
uint32_t superkernel_part_name(struct module *module, uint32_t name, struct part_places places);
/* What such a name is a part of, and which; another name is NONE. */
uint32_t superkernel_part_of(struct module *module, uint32_t name, struct part_places *places);

/* sk_SCOPE_start_FIRST_end_LAST, by the first results, or the types, of those of these ops that
 * are first and last by position. Of a part, where `places` is not NULL, SCOPE is its name. */
uint32_t superkernel_reference_name(struct module *module, const struct graph *graph,
                                    uint32_t scope, const struct part_places *places,
                                    const uint32_t *ops, uint32_t count, const int64_t *position);
/* The positions before the first of the ops and after the last. */
struct part_places superkernel_positions_around(const uint32_t *ops, uint32_t count,
                                                const int64_t *position);

/* Symbols of a module that are taken: by name id, how many elements of the module and super kernels
 * of all graphs have it. A new super kernel needs a new one, as it launches the entry of its name.
 */

/* Those of the module as it is; freed by vec_free. */
void taken_symbols_init(struct vec_u32 *taken, const struct module *module);
/* The super kernels of a graph lose their names. */
void taken_symbols_drop(struct vec_u32 *taken, const struct graph *graph);
/* One more has the name. False if it was taken. */
bool taken_symbols_take(struct vec_u32 *taken, uint32_t name);
/* Takes the name itself, or the first one of it, a dot and a number from 1 that is free. */
uint32_t taken_symbols_take_free(struct vec_u32 *taken, struct module *module, uint32_t wanted);

#endif
