/* What the files of instructions, and of what sub-kernels call, offer one another and launches. */
#ifndef BACKEND_RUNTIME_INSTRUCTIONS_H
#define BACKEND_RUNTIME_INSTRUCTIONS_H

#include "backend/runtime/core.h"

#pragma GCC visibility push(hidden)

/* What follows up to the files' other functions is the middle of instructions that have begun, for
 * callers with the lock. Those that return false have blocked the core, which must not
 * go on before it is woken: then the instruction is over. */

/* ---- barrier.c ---- */

void skrt_barrier_init(struct skrt_barrier *barrier, uint32_t size);
/* The cores of the bulk wait as others do. Needs the lock. */
void skrt_barrier_end_bulk(struct skrt_barrier *barrier);
void skrt_barrier_arrive(struct skrt_core *core, enum skrt_core_type group);
bool skrt_barrier_await(struct skrt_core *core, enum skrt_core_type group);

/* The sub-kernel of a core that came to the barrier of its call has returned. */
void skrt_sync_point_leave(struct skrt_core *core);

/* ---- flag.c ---- */

/* Sets the flag, or waits for it. */
bool skrt_flag_begin(struct skrt_core *core, enum skrt_flag flag, bool set);

/* The AIVs that a flag of this core concerns: itself for an AIV; for an AIC all of its AI core, but
 * none inside of a kernel without a part for AIVs. */
static inline struct skrt_core *skrt_flag_aivs(const struct skrt_core *core, enum skrt_flag flag,
                                               uint32_t *n)
{
    const struct skrt_job *job = core->job;
    uint32_t launched = job->launch->aivs;
    *n = 1;
    if (core->type == SKRT_AIC)
        *n = skrt_flag_table[flag].kernel && core->call->aivs == 0 ? 0 : launched;
    uint32_t first = core->type == SKRT_AIC ? core->block * launched : core->index;
    assert(first + *n <= job->launched[SKRT_AIV]);
    return job->cores[SKRT_AIV] + first;
}

/* The full barrier of a sub-kernel with parts on both core types uses the entry's flags: AIVs tell
 * their AIC that they have come and wait for it; the AIC waits for them, and goes on to the barrier
 * of its type. Behind that it lets them go. */
void skrt_flag_meet(struct skrt_core *core);
void skrt_flag_part(struct skrt_core *core);

/* Whether a release is outstanding; none may be at the end of a launch. Needs the lock. */
bool skrt_flag_left_set(const struct skrt_job *job);
/* Whether a core has arrived more often than it has awaited. The lock is held. */
bool skrt_arrivals_left(const struct skrt_job *job);

/* ---- event.c ---- */

/* The word whose address a slot holds; a slot without one is misuse. */
_Atomic uint64_t *skrt_event_word(struct skrt_core *core, uint64_t slot);
/* Blocks until the word of the slot is not 0. */
void skrt_event_await(struct skrt_core *core, uint64_t slot, const _Atomic uint64_t *word,
                      enum skrt_wait wait);

/* ---- profile.c ---- */

/* A call includes a core that is `timing`: the op has begun. */
void skrt_profile_call(struct skrt_core *core);

/* ---- rows.c: entries that are data (struct skrt_rows) ---- */

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

/* Runs a core whose entry is rows, from its next one on, until it has executed all or is blocked;
 * then the core has left its stack, and the lock is held. */
void skrt_rows_go_on(struct skrt_core *core);

#pragma GCC visibility pop

#endif
