/* The shape of a call: which cores it includes. */
#ifndef BACKEND_RUNTIME_SHAPE_H
#define BACKEND_RUNTIME_SHAPE_H

#include "backend/runtime/state.h"

#pragma GCC visibility push(hidden)

/* Whether a call's part runs on this core: of an AI core, on all AIVs or on none. */
static inline bool skrt_core_included(const struct skrt_core *core, const struct skrt_call *call)
{
    if (!call->fn)
        return false; /* a variant without a part for this core type */
    if (call->flat)
        return core->index < call->blocks;
    return core->block < call->blocks && (core->type == SKRT_AIC || call->aivs > 0);
}

/* How many cores of a type it is in the current launch. */
uint32_t skrt_call_cores(const struct skrt_launch *launch, const struct skrt_call *call,
                         enum skrt_core_type type);
/* Whether two calls include the same cores. */
bool skrt_call_alike(const struct skrt_call *a, const struct skrt_call *b);
/* Describes why the current launch cannot execute the call on cores of this type; false if it
 * can. */
bool skrt_call_misfit(const struct skrt_launch *launch, enum skrt_core_type type,
                      const struct skrt_call *call, char *why, size_t size);

#pragma GCC visibility pop

#endif
