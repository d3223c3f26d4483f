#include "passes/sync/proof/proof.h"
#include "ir/core/kernel.h"

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

/* Whether the kernel of a call lists the word. */
static bool vouches(const struct sync_proof *proof, const struct instr *call, unsigned word)
{
    const struct kernel *kernel = module_find_kernel(proof->module, call->kernel);
    return kernel && kernel_early_start(proof->module, kernel) & word;
}

/* A call that starts early waits as after an op with parts on the types of `early`. */
static void add_call(const struct sync_proof *proof, struct sync_track *track, enum core_type core,
                     uint32_t index)
{
    const struct instr *call = &track->program->instrs.at[index];
    const struct kernel *kernel = module_find_kernel(proof->module, call->kernel);
    unsigned mine = core == CORE_AIC ? EARLY_WAIT_AIC : EARLY_WAIT_AIV;
    if (call->early & EARLY_WAIT_MIX && !vouches(proof, call, EARLY_READS_LATE))
        add_step(track, index, EFFECT_NONE);
    if (call->early & mine)
        add_step(track, index, EFFECT_AWAIT);
    if (call->early & mine && kernel && kernel_type_has(kernel->type, 1 - core))
        add_step(track, index, EFFECT_SET);
    if (call->early & EARLY_WAIT_MIX & ~mine)
        add_step(track, index, EFFECT_WAIT);
    if (call->part != CORE_TYPES)
        vec_push(&track->parts, track->count);
    add_step(track, index, EFFECT_CALL);
    if (call->early & EARLY_SET)
        add_step(track, index, EFFECT_ARRIVE);
}

/* ---------------------------------------------------------------------------- parts ---- */

/* A part by what its call is for. */
struct part {
    uint32_t group, kernel, number;
};

static int compare_purposes(const struct part *a, const struct part *b)
{
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    int purposes = compare_purposes(x, y);
    return purposes ? purposes : (x->number > y->number) - (x->number < y->number);
}

/* The parts of one call of a mixed kernel pass the same arguments; of several such calls, the n-th
 * of one program belongs to the n-th of the other. */
static void pair_parts(struct sync_track *tracks)
{
    struct part *parts[CORE_TYPES];
    for (int core = 0; core < CORE_TYPES; core++) {
        struct sync_track *track = &tracks[core];
        track->others = mem_calloc(track->parts.count, sizeof *track->others);
        parts[core] = mem_calloc(track->parts.count, sizeof *parts[core]);
        for (uint32_t i = 0; i < track->parts.count; i++) {
            const struct instr *call =
                &track->program->instrs.at[track->steps[track->parts.at[i]].instr];
            parts[core][i] = (struct part){call->number[0], call->kernel, i};
            track->others[i] = NONE;
        }
        if (track->parts.count)
            qsort(parts[core], track->parts.count, sizeof *parts[core], compare_parts);
    }
    struct sync_track *aic = &tracks[CORE_AIC], *aiv = &tracks[CORE_AIV];
    for (uint32_t i = 0, j = 0; i < aic->parts.count && j < aiv->parts.count;) {
        uint32_t m = parts[CORE_AIC][i].number, n = parts[CORE_AIV][j].number;
        int order = compare_purposes(&parts[CORE_AIC][i], &parts[CORE_AIV][j]);
        if (order == 0) {
            aic->others[m] = aiv->parts.at[n];
            aiv->others[n] = aic->parts.at[m];
        }
        i += order <= 0;
        j += order >= 0;
    }
    mem_free(parts[CORE_AIC]);
    mem_free(parts[CORE_AIV]);
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

/* The n-th barrier: every core of the type has arrived n times. What the core itself called after
 * its arrival may still run, and a kernel that arrives itself may still read. */
static bool pass_barrier(struct sync_proof *proof, enum core_type core)
{
    struct sync_track *track = &proof->tracks[core];
    if (track->awaits.count >= track->arrivals.count)
        return false; /* the cores that it waits for are here themselves */
    uint32_t arrival = track->arrivals.at[track->awaits.count];
    assert(arrival < track->next);
    const struct sync_state *there = &track->before[arrival];
    const struct instr *instr = sync_instr(proof, core, arrival);
    bool reads = instr->op == INSTR_call && !vouches(proof, instr, EARLY_READS_DONE);
    learn_from_barrier(&track->now.passed, &there->passed, core, arrival);
    learn_from_barrier(&track->now.done, &there->done, core, arrival);
    learn_from_barrier(&track->now.ended, &there->ended, core, arrival - reads);
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
    learn_from_flag(&track->now.ended, &there->ended, sends, there->read);
    vec_push(&track->waits, track->next);
    return true;
}

/* ------------------------------------------------------------------------ execution ---- */

/* Whether the track is at the call of a mixed kernel's part, the next of `parts`. */
static bool is_at_part(const struct sync_track *track)
{
    return track->parts_begun < track->parts.count &&
           track->parts.at[track->parts_begun] == track->next;
}

uint32_t sync_other_part(const struct sync_proof *proof, enum core_type core)
{
    const struct sync_track *track = &proof->tracks[core];
    return is_at_part(track) ? track->others[track->parts_begun] : NONE;
}

/* The parts of a mixed kernel synchronise with each other, so neither ends before both have
 * begun. */
static bool begin_call(struct sync_proof *proof, enum core_type core)
{
    struct sync_track *track = &proof->tracks[core];
    uint32_t other = sync_other_part(proof, core);
    if (other != NONE && proof->tracks[1 - core].next < other)
        return false;
    track->parts_begun += is_at_part(track);
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
    if (effect == EFFECT_AWAIT && !pass_barrier(proof, core))
        return false;
    if (effect == EFFECT_WAIT && has_partners(proof, core) &&
        !pass_flag(track, &proof->tracks[1 - core], 1 - core))
        return false;
    if (effect == EFFECT_CALL && !begin_call(proof, core))
        return false;
    if (effect == EFFECT_DRAIN)
        track->now.drained = track->now.read = track->next;
    /* A core hears of its own work at barriers, and by way of others. */
    raise_to(&track->now.drained, track->now.done.own[core]);
    raise_to(&track->now.read, track->now.ended.own[core]);
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
        for (uint32_t i = 0; i < track->program->instrs.count; i++) {
            enum instr_effect effect = instr_info(track->program->instrs.at[i].op)->effect;
            if (effect == EFFECT_CALL)
                add_call(proof, track, core, i);
            else if (effect != EFFECT_NONE)
                add_step(track, i, effect);
        }
        track->before = mem_calloc(track->count, sizeof *track->before);
    }
    pair_parts(proof->tracks);
    for (bool moved = true; moved;) {
        moved = false;
        for (int core = 0; core < CORE_TYPES; core++)
            while (proof->tracks[core].next < proof->tracks[core].count &&
                   execute_step(proof, core))
                moved = true;
    }
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
        mem_free(track->others);
    }
}

/* -------------------------------------------------------------------------- queries ---- */

uint32_t sync_steps_before(const struct vec_u32 *steps, uint32_t step)
{
    uint32_t low;
    bisect(low, i, steps->count, steps->at[i] < step);
    return low;
}

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

bool sync_is_ended(const struct sync_proof *proof, const struct sync_point *earlier,
                   const struct sync_point *later)
{
    const struct sync_state *state = &proof->tracks[later->core].before[later->step];
    /* A call of its own has returned, and so read all, before its next one; no other core knows. */
    bool call = sync_instr(proof, later->core, later->step)->op == INSTR_call;
    return is_known(&state->ended, earlier, later) ||
           (sync_is_one_core(earlier, later) &&
            earlier->step < (call ? state->drained : state->read));
}

struct sync_point sync_begin(const struct sync_proof *proof, const struct sync_point *call)
{
    const struct sync_step *steps = proof->tracks[call->core].steps;
    struct sync_point begin = *call;
    for (uint32_t i = call->step; i > 0 && steps[i - 1].instr == steps[call->step].instr; i--)
        if (steps[i - 1].effect == EFFECT_NONE)
            begin.step = i - 1;
    return begin;
}
