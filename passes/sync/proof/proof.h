/* The symbolic execution of an entry: for each step of its programs, what a core is sure to know
 * when it gets there. The rules are those of docs/device-model.md.
 *
 * All cores of a type run the same program, so two positions describe a launch: how far the cube
 * and how far the vector program is. What a core knows is how many steps of each program are over
 * on other cores: on all of that type (`all`), and on those of its own AI core (`own`). Two kinds
 * of knowledge are kept apart: that a core has *passed* a step, and that what it called before is
 * *done*. A core that sets a flag has passed all steps before, but its pipes may still be busy with
 * what it called since it was last drained.
 *
 * Nothing else tells cores of one type apart but their number, and only for steps that not all of
 * them take part in (enum sync_extent). */
#ifndef PASSES_SYNC_PROOF_PROOF_H
#define PASSES_SYNC_PROOF_PROOF_H

#include "ir/core/module.h"

#include <assert.h>

/* An instruction, or one of the parts of a call: its beginning (EFFECT_NONE), where its kernel may
 * read before it waits; the waits of an early start, the work, the arrival. Instructions that tell
 * cores nothing have no step. */
struct sync_step {
    uint32_t instr;  /* index in its program */
    uint32_t effect; /* enum instr_effect */
};

/* How many steps of each program are over; never less of the own AI core than of all. */
struct sync_known {
    uint32_t all[CORE_TYPES], own[CORE_TYPES];
};

struct sync_state {
    struct sync_known passed, done;
    struct sync_known ended; /* as `done`, and has read all that it reads */
    /* What this core itself called before this step is done, and has read all that it reads. */
    uint32_t drained, read;
};

/* One program and how far it has been followed. */
struct sync_track {
    const struct program *program;
    struct sync_step *steps;
    struct sync_state
        *before; /* by step: what is known when it starts; for one that waits, after it */
    uint32_t count, capacity;
    uint32_t next; /* the step that it is at: `count`, or one that waits for ever */
    struct sync_state now;
    struct vec_u32 arrivals, awaits, sets, waits; /* steps of these kinds that were executed */
    struct vec_u32 parts;                         /* calls of mixed kernels' parts */
    uint32_t *others;                             /* by part: the other one's call, or NONE */
    uint32_t parts_begun;                         /* how many of them were executed */
};

struct sync_proof {
    const struct module *module;
    const struct entry *entry;
    uint32_t blocks, per_block[CORE_TYPES];
    struct sync_track tracks[CORE_TYPES];
};

/* Executes the entry's programs as far as they go. */
void sync_proof_init(struct sync_proof *proof, const struct module *module,
                     const struct entry *entry);
void sync_proof_free(struct sync_proof *proof);

/* Which cores of its type take part in a step. */
enum sync_extent { SYNC_ALL_CORES, SYNC_FIRST_AI_CORE, SYNC_CORE_ZERO };

struct sync_point {
    enum core_type core;
    uint32_t step;
    enum sync_extent extent;
};

/* The narrowest extent that the launch's shape allows for one. */
enum sync_extent sync_extent_narrow(const struct sync_proof *proof, enum core_type core,
                                    enum sync_extent extent);
/* The extent of a kernel's part on cores of a type that it has. */
enum sync_extent sync_extent_of_call(const struct sync_proof *proof, enum core_type core,
                                     const struct kernel *kernel, uint32_t blocks);

/* Whether each core that takes part in `later` knows, when it gets there, that `earlier` has been
 * passed, or that what was called there is done, on each core that takes part in that. */
bool sync_is_passed(const struct sync_proof *proof, const struct sync_point *earlier,
                    const struct sync_point *later);
bool sync_is_done(const struct sync_proof *proof, const struct sync_point *earlier,
                  const struct sync_point *later);
/* The same, and that it has read all that it reads. */
bool sync_is_ended(const struct sync_proof *proof, const struct sync_point *earlier,
                   const struct sync_point *later);

/* Where the kernel that is called at a point may begin to read. */
struct sync_point sync_begin(const struct sync_proof *proof, const struct sync_point *call);

/* The call of the other part of the mixed kernel whose part the track of `core` calls next, or
 * NONE. */
uint32_t sync_other_part(const struct sync_proof *proof, enum core_type core);

/* How many of the steps, in order, are before `step`. */
uint32_t sync_steps_before(const struct vec_u32 *steps, uint32_t step);

/* Whether one core does both, so that it knows what it did itself. */
static inline bool sync_is_one_core(const struct sync_point *earlier,
                                    const struct sync_point *later)
{
    return earlier->core == later->core && earlier->extent == SYNC_CORE_ZERO &&
           later->extent == SYNC_CORE_ZERO;
}

static inline const struct instr *sync_instr(const struct sync_proof *proof, enum core_type core,
                                             uint32_t step)
{
    const struct sync_track *track = &proof->tracks[core];
    assert(step < track->count);
    return &track->program->instrs.at[track->steps[step].instr];
}

#endif
