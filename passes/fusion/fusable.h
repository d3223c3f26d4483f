/* Which ops can be part of a super kernel. */
#ifndef PASSES_FUSION_FUSABLE_H
#define PASSES_FUSION_FUSABLE_H

#include "ir/module.h"

enum fusable {
    FUSABLE,
    NOT_SUPPORTED,  /* supportSuperKernel = 0 */
    NOT_COLLECTIVE, /* a collective without _hccl = true */
    NOT_SIMT,       /* local_memory_size > 0 */
    NOT_CALL,       /* calls graphs */
    NOT_PASSIVE,    /* executes nothing; ignored, not cut at */
};

/* Views can be: they need nothing of the entry. */
enum fusable op_fusable(const struct module *module, const struct graph *graph,
                        const struct op *op);

/* Whether the type is a collective's: AllReduce, ReduceScatter, AllGather, AlltoAll. */
bool op_is_collective(const struct module *module, const struct op *op);

/* Why not, as a clause about the op ("it is ..."), and what the user could change. */
const char *fusable_reason(enum fusable fusable);
const char *fusable_advice(enum fusable fusable);

#endif
