/* Symbols of a module that are taken, for who makes many: by name id, how many elements of the
 * module and super kernels of all graphs have it. A new super kernel must have one that is new, not
 * least because it would launch an entry of that name. */
#ifndef PASSES_FUSION_TAKEN_SYMBOLS_H
#define PASSES_FUSION_TAKEN_SYMBOLS_H

#include "ir/module.h"

/* Those of the module as it is; freed by vec_free. */
void taken_symbols_init(struct vec_u32 *taken, const struct module *module);
/* The super kernels of a graph lose their names. */
void taken_symbols_drop(struct vec_u32 *taken, const struct graph *graph);
/* One more has the name. False if it was taken. */
bool taken_symbols_take(struct vec_u32 *taken, uint32_t name);
/* Takes the name itself, or the first one of it, a dot and a number from 1 that is free. */
uint32_t taken_symbols_take_free(struct vec_u32 *taken, struct module *module, uint32_t wanted);

#endif
