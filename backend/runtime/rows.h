/* What rows of entries say (struct skrt_rows). */
#ifndef BACKEND_RUNTIME_ROWS_H
#define BACKEND_RUNTIME_ROWS_H

#include "backend/runtime/state.h"

/* The numbers of rows that call or select. */
enum { SKRT_ROW_KERNEL, SKRT_ROW_SLOT, SKRT_ROW_BLOCKS };

/* The kernel as the core has it: each core has one of its copies. */
static inline const struct skrt_row_kernel *skrt_row_kernel(const struct skrt_core *core,
                                                            const struct skrt_rows *rows,
                                                            const struct skrt_row *row)
{
    return &rows->kernels[row->numbers[SKRT_ROW_KERNEL] * rows->stride +
                          core->index % rows->copies];
}

static inline struct skrt_call skrt_row_call(const struct skrt_core *core,
                                             const struct skrt_rows *rows,
                                             const struct skrt_row *row)
{
    return (struct skrt_call){skrt_row_kernel(core, rows, row)->fn, row->numbers[SKRT_ROW_SLOT],
                              row->numbers[SKRT_ROW_BLOCKS], row->aivs, row->flat};
}

#endif
