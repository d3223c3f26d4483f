#include "passes/sync/proof.h"

#include <assert.h>

/* ---------------------------------------------------------------------------- steps ---- */

static void add_step(struct sync_track *track, uint32_t instr, enum instr_effect effect)
{
    if (track->count == track->capacity) {
        track->capacity = vec_capacity(track->capacity, (uint64_t)track->count + 1);
        track->steps = mem_realloc(track->steps, track->capacity, sizeof *track->steps);
    }
    track->steps[track->count++] = (struct sync_step){instr, effect};
}

/* The waits of a call that starts early, as behind an op with parts on the types of `early`. */
static void add_early_waits(const struct sync_proof *proof, struct sync_track *track,
                            enum core_type core, uint32_t index)
{
    const struct instr *call = &track->program->instrs.at[index];
    const struct kernel *kernel = module_find_kernel(proof->module, call->kernel);
    unsigned mine = core == CORE_AIC ? EARLY_WAIT_AIC : EARLY_WAIT_AIV;
    if (call->early & mine)
        add_step(track, index, EFFECT_AWAIT);
    if (call->early & mine && kernel && kernel_type_has(kernel->type, 1 - core))
        add_step(track, index, EFFECT_SET);
    if (call->early & EARLY_WAIT_MIX & ~mine)
        add_step(track, index, EFFECT_WAIT);
}

static void add_call(const struct sync_proof *proof, struct sync_track *track, enum core_type core,
                     uint32_t index)
{
    const struct instr *call = &track->program->instrs.at[index];
    add_early_waits(proof, track, core, index);
    if (call->part != CORE_TYPES)
        vec_push(&track->parts, track->count);
    add_step(track, index, EFFECT_CALL);
    if (call->early & EARLY_SET)
        add_step(track, index, EFFECT_ARRIVE);
}

static void add_steps(struct sync_proof *proof, enum core_type core)
{
    struct sync_track *track = &proof->tracks[core];
    for (uint32_t i = 0; i < track->program->instrs.count; i++) {
        enum instr_effect effect = instr_info(track->program->instrs.at[i].op)->effect;
        if (effect == EFFECT_CALL)
            add_call(proof, track, core, i);
        else if (effect != EFFECT_NONE)
            add_step(track, i, effect);
    }
}

/* ------------------------------------------------------------------------ knowledge ---- */

static void raise_to(uint32_t *number, uint32_t at_least)
{
    if (*number < at_least)
        *number = at_least;
}

static void raise_all(struct sync_known *known, enum core_type core, uint32_t at_least)
{
    raise_to(&known->all[core], at_least);
    raise_to(&known->own[core], at_least);
}

/* What all cores of type `core` knew when they arrived, having themselves passed, or done,
 * `arrival` steps. What each of them knows of its own AI core, all of them together know of all. */
static void learn_from_barrier(struct sync_known *known, const struct sync_known *there,
                               enum core_type core, uint32_t arrival)
{
    raise_all(known, core, there->all[core]);
    raise_all(known, core, arrival);
    raise_all(known, 1 - core, there->own[1 - core]);
}

/* What the cores of type `sender` in the own AI core knew when they set a flag, having themselves
 * passed, or done, `steps`. */
static void learn_from_flag(struct sync_known *known, const struct sync_known *there,
                            enum core_type sender, uint32_t steps)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        raise_all(known, core, there->all[core]);
        raise_to(&known->own[core], there->own[core]);
    }
    raise_to(&known->own[sender], steps);
}

/* The n-th barrier: every core of the type has arrived n times. */
static bool pass_barrier(struct sync_track *track, enum core_type core)
{
    if (track->awaits.count >= track->arrivals.count)
        return false; /* the cores that it waits for stand here themselves */
    uint32_t arrival = track->arrivals.at[track->awaits.count];
    assert(arrival < track->next);
    const struct sync_state *there = &track->before[arrival];
    learn_from_barrier(&track->now.passed, &there->passed, core, arrival);
    learn_from_barrier(&track->now.done, &there->done, core, arrival);
    track->now.drained = track->next;
    vec_push(&track->awaits, track->next);
    return true;
}

/* The n-th wait is met by the n-th set of the other type, on the cores of the same AI core. */
static bool pass_flag(struct sync_track *track, const struct sync_track *sender,
                      enum core_type sends)
{
    if (track->waits.count >= sender->sets.count)
        return false;
    uint32_t set = sender->sets.at[track->waits.count];
    assert(set < sender->next);
    const struct sync_state *there = &sender->before[set];
    learn_from_flag(&track->now.passed, &there->passed, sends, set);
    learn_from_flag(&track->now.done, &there->done, sends, there->drained);
    vec_push(&track->waits, track->next);
    return true;
}

/* ------------------------------------------------------------------------ execution ---- */

/* The n-th part that a program calls belongs to the n-th of the other one. */
uint32_t sync_other_part(const struct sync_proof *proof, enum core_type core)
{
    const struct sync_track *track = &proof->tracks[core], *other = &proof->tracks[1 - core];
    if (track->parts_begun == track->parts.count || track->parts_begun >= other->parts.count ||
        track->parts.at[track->parts_begun] != track->next)
        return NONE;
    return other->parts.at[track->parts_begun];
}

/* The parts of a mixed kernel synchronise with each other, so neither ends before both have
 * begun. */
static bool begin_part(struct sync_proof *proof, enum core_type core)
{
    struct sync_track *track = &proof->tracks[core];
    uint32_t other = sync_other_part(proof, core);
    if (other != NONE && proof->tracks[1 - core].next < other)
        return false;
    track->parts_begun += other != NONE;
    return true;
}

/* Without AIVs, an AIC sets flags for nobody and waits for nobody's. */
static bool has_partners(const struct sync_proof *proof, enum core_type core)
{
    return core == CORE_AIV || proof->per_block[CORE_AIV] > 0;
}

/* Executes one step; false where it has to wait for the other program. */
static bool execute_step(struct sync_proof *proof, enum core_type core)
{
    struct sync_track *track = &proof->tracks[core];
    assert(track->next < track->count);
    enum instr_effect effect = (enum instr_effect)track->steps[track->next].effect;
    if (effect == EFFECT_AWAIT && !pass_barrier(track, core))
        return false;
    if (effect == EFFECT_WAIT && has_partners(proof, core) &&
        !pass_flag(track, &proof->tracks[1 - core], 1 - core))
        return false;
    if (effect == EFFECT_CALL && !begin_part(proof, core))
        return false;
    if (effect == EFFECT_DRAIN)
        track->now.drained = track->next;
    /* A core may hear of its own work by way of others. */
    raise_to(&track->now.drained, track->now.done.own[core]);
    /* What is done is passed, and nobody is ahead of where the programs are. */
    assert(track->now.done.own[core] <= track->next && track->now.drained <= track->next);
    assert(track->now.passed.own[1 - core] <= proof->tracks[1 - core].next);
    track->before[track->next] = track->now;
    if (effect == EFFECT_ARRIVE)
        vec_push(&track->arrivals, track->next);
    if (effect == EFFECT_SET && has_partners(proof, core))
        vec_push(&track->sets, track->next);
    track->next++;
    return true;
}

static void execute(struct sync_proof *proof)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (int core = 0; core < CORE_TYPES; core++)
            while (proof->tracks[core].next < proof->tracks[core].count &&
                   execute_step(proof, core))
                moved = true;
    }
}

void sync_proof_init(struct sync_proof *proof, const struct module *module,
                     const struct entry *entry)
{
    const struct kernel_type_info *info = kernel_type_info(entry->type);
    *proof = (struct sync_proof){.module = module, .entry = entry};
    proof->blocks = (uint32_t)attr_int(module, entry->attrs, W_block, 1);
    proof->per_block[CORE_AIC] = info->aics;
    proof->per_block[CORE_AIV] = info->aivs;
    for (int core = 0; core < CORE_TYPES; core++) {
        struct sync_track *track = &proof->tracks[core];
        track->program = &entry->programs[core];
        add_steps(proof, core);
        track->before = mem_calloc(track->count, sizeof *track->before);
    }
    execute(proof);
}

void sync_proof_free(struct sync_proof *proof)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        struct sync_track *track = &proof->tracks[core];
        mem_free(track->steps);
        mem_free(track->before);
        vec_free(&track->arrivals);
        vec_free(&track->awaits);
        vec_free(&track->sets);
        vec_free(&track->waits);
        vec_free(&track->parts);
    }
}

/* -------------------------------------------------------------------------- queries ---- */

enum sync_extent sync_extent_narrow(const struct sync_proof *proof, enum core_type core,
                                    enum sync_extent extent)
{
    if (extent == SYNC_ALL_CORES && proof->blocks == 1)
        extent = SYNC_FIRST_AI_CORE;
    if (extent == SYNC_FIRST_AI_CORE && proof->per_block[core] == 1)
        extent = SYNC_CORE_ZERO;
    return extent;
}

enum sync_extent sync_extent_of_call(const struct sync_proof *proof, enum core_type core,
                                     const struct kernel *kernel, uint32_t blocks)
{
    bool flat = kernel_type_info(kernel->type)->flat;
    if (blocks == 1 && flat)
        return SYNC_CORE_ZERO;
    bool first = blocks == 1 || (flat && blocks <= proof->per_block[core]);
    return sync_extent_narrow(proof, core, first ? SYNC_FIRST_AI_CORE : SYNC_ALL_CORES);
}

static bool is_known(const struct sync_known *known, const struct sync_point *earlier,
                     const struct sync_point *later)
{
    if (earlier->step < known->all[earlier->core])
        return true;
    return earlier->extent != SYNC_ALL_CORES && later->extent != SYNC_ALL_CORES &&
           earlier->step < known->own[earlier->core];
}

bool sync_is_passed(const struct sync_proof *proof, const struct sync_point *earlier,
                    const struct sync_point *later)
{
    const struct sync_state *state = &proof->tracks[later->core].before[later->step];
    return is_known(&state->passed, earlier, later) ||
           (sync_is_one_core(earlier, later) && earlier->step < later->step);
}

bool sync_is_done(const struct sync_proof *proof, const struct sync_point *earlier,
                  const struct sync_point *later)
{
    const struct sync_state *state = &proof->tracks[later->core].before[later->step];
    return is_known(&state->done, earlier, later) ||
           (sync_is_one_core(earlier, later) && earlier->step < state->drained);
}
