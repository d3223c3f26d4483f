/* The shape of a call: which cores it includes, and whether the launch has them. */
#include "backend/runtime/shape.h"

#include <stdio.h>

uint32_t skrt_call_cores(const struct skrt_launch *launch, const struct skrt_call *call,
                         enum skrt_core_type type)
{
    if (type == SKRT_AIC || call->flat)
        return call->blocks;
    return call->aivs > 0 ? call->blocks * launch->aivs : 0;
}

bool skrt_call_alike(const struct skrt_call *a, const struct skrt_call *b)
{
    return a->blocks == b->blocks && a->aivs == b->aivs && a->flat == b->flat;
}

bool skrt_call_misfit(const struct skrt_launch *launch, enum skrt_core_type type,
                      const struct skrt_call *call, char *why, size_t size)
{
    uint32_t cores = call->flat ? launch->blocks * launch->aivs : launch->blocks;
    why[0] = '\0';
    if (!call->fn)
        snprintf(why, size, "the sub-kernel has no function");
    else if (call->flat && type != SKRT_AIV)
        snprintf(why, size, "the sub-kernel is for AIVs only");
    else if (!call->flat && launch->aics == 0)
        snprintf(why, size, "the sub-kernel needs AICs, the launch has none");
    else if (!call->flat && call->aivs > launch->aivs)
        snprintf(why, size, "the sub-kernel needs %u AIVs per AI core, the launch has %u",
                 call->aivs, launch->aivs);
    else if (call->blocks == 0 || call->blocks > cores)
        snprintf(why, size, "the sub-kernel needs %u blocks, the launch has %u", call->blocks,
                 cores);
    else if (call->args_offset > launch->n_params)
        snprintf(why, size, "its parameters begin at slot %llu, the launch has %zu slots",
                 (unsigned long long)call->args_offset, launch->n_params);
    return why[0] != '\0';
}
