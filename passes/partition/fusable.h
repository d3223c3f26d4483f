/* Which ops can be part of a super kernel. */
#ifndef PASSES_PARTITION_FUSABLE_H
#define PASSES_PARTITION_FUSABLE_H

#include "ir/core/module.h"

enum fusable {
    FUSABLE,
    NOT_SUPPORTED,  /* supportSuperKernel = 0 */
    NOT_COLLECTIVE, /* a collective with neither _hccl nor supportSuperKernel = true */
    NOT_SIMT,       /* local_memory_size > 0 */
    NOT_TILED,      /* aicpu_tiling, with neither _tiling_sink_op nor _op_ensure_reuse_binary */
    NOT_ON_CORES,   /* its kernel runs on no AI cores */
    NOT_CALL,       /* calls graphs */
    NOT_PASSIVE,    /* executes nothing; ignored, not cut at */
};

/* Views can be: they need nothing of the entry. _hccl outweighs what other attributes say. */
enum fusable op_fusable(const struct module *module, const struct graph *graph,
                        const struct op *op);

/* Whether the type is one of the collective library's, such as AllReduce. */
bool op_is_collective(const struct module *module, const struct op *op);

/* Whether it says so itself, by _hccl. */
bool op_is_marked_collective(const struct module *module, const struct op *op);

/* Why not, as a clause about the op ("it is ..."), and what the user could change. */
const char *fusable_reason(enum fusable fusable);
const char *fusable_advice(enum fusable fusable);

#endif
