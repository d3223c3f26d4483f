/* What the twin must know of a source: C tables, and the functions of kernels that it calls
 * (backend/ascend/twin/twin.h). */
#ifndef BACKEND_ASCEND_TWIN_GLUE_H
#define BACKEND_ASCEND_TWIN_GLUE_H

#include "backend/ascend/ascendc.h"

/* What the symbols of entries begin with, before their index: a kernel's function may have any name
 * that the source may call. */
#define TWIN_ENTRY "skir_twin_entry_"

/* Appends C for the source that `lines` are of, with all entries as functions for skrt. */
void twin_glue(struct text *text, const struct module *module, const struct source_lines *lines);

#endif
