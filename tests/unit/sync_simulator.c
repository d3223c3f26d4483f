#include "sync_simulator.h"

#include <string.h>

/* For each op, the cores on which it is known to be complete. */
struct knowledge {
    uint64_t cores[SYNC_MAX_OPS];
};

struct core {
    enum core_type type;
    unsigned block, sub;
    unsigned pc, arrivals, awaits;
    struct knowledge known; /* what it called itself only once its pipes are drained */
    uint64_t busy;          /* ops that it has called since */
};

/* One barrier of one core type: what the cores that have arrived knew. */
struct generation {
    unsigned arrived;
    struct knowledge known;
};

struct generations {
    struct generation *at;
    uint32_t count, capacity;
};

/* Releases of one flag of one pair of cores; the first `taken` are consumed. */
struct flag {
    struct knowledge *at;
    uint32_t count, capacity;
    uint32_t taken;
};

struct simulation {
    const struct sync_launch *launch;
    struct sync_outcome *outcome;
    unsigned n_cores, n_of[CORE_TYPES];
    struct core cores[SYNC_MAX_CORES];
    struct generations barriers[CORE_TYPES];
    /* By the vector core of the pair, and the type that sets. */
    struct flag flags[SYNC_MAX_CORES][CORE_TYPES];
    uint64_t parts[SYNC_MAX_OPS];          /* cores that run the op */
    struct knowledge starts[SYNC_MAX_OPS]; /* what all cores knew that started the op */
};

static void learn(struct knowledge *known, const struct knowledge *more)
{
    for (unsigned i = 0; i < SYNC_MAX_OPS; i++)
        known->cores[i] |= more->cores[i];
}

static void simulation_init(struct simulation *s, struct sync_outcome *outcome,
                            const struct sync_launch *launch)
{
    memset(s, 0, sizeof *s);
    s->launch = launch;
    s->outcome = outcome;
    for (unsigned type = 0; type < CORE_TYPES; type++)
        for (unsigned block = 0; block < launch->blocks; block++)
            for (unsigned sub = 0; sub < launch->per_block[type]; sub++) {
                s->cores[s->n_cores++] = (struct core){.type = type, .block = block, .sub = sub};
                s->n_of[type]++;
            }
    memset(s->starts, 0xff, sizeof s->starts);
}

static void simulation_free(struct simulation *s)
{
    for (unsigned type = 0; type < CORE_TYPES; type++)
        vec_free(&s->barriers[type]);
    for (unsigned i = 0; i < SYNC_MAX_CORES; i++)
        for (unsigned type = 0; type < CORE_TYPES; type++)
            vec_free(&s->flags[i][type]);
}

static bool takes_part(const struct simulation *s, const struct core *core,
                       const struct sync_instr *instr)
{
    unsigned index = core->block * s->launch->per_block[core->type] + core->sub;
    if (instr->flat)
        return index < instr->blocks;
    return (!instr->blocks || core->block < instr->blocks) &&
           (!instr->subs || core->sub < instr->subs);
}

/* The ops that the core is busy with are complete on it, as `known` hears. */
static void complete(const struct simulation *s, const struct core *core, struct knowledge *known)
{
    for (unsigned i = 0; i < SYNC_MAX_OPS; i++)
        if (core->busy >> i & 1)
            known->cores[i] |= (uint64_t)1 << (core - s->cores);
}

static void drain(const struct simulation *s, struct core *core)
{
    complete(s, core, &core->known);
    core->busy = 0;
}

/* The core runs its part of the op, knowing `known`. */
static void start(struct simulation *s, struct core *core, unsigned op,
                  const struct knowledge *known)
{
    uint64_t bit = (uint64_t)1 << (core - s->cores);
    for (unsigned i = 0; i < SYNC_MAX_OPS; i++)
        s->starts[op].cores[i] &= known->cores[i];
    s->parts[op] |= bit;
}

static void call(struct simulation *s, struct core *core, const struct sync_instr *instr)
{
    if (instr->early)
        drain(s, core);
    if (!takes_part(s, core, instr))
        return;
    /* That a core's own calls follow each other is order enough; whether they overlap is another
     * question (count_undrained). */
    struct knowledge known = core->known;
    complete(s, core, &known);
    start(s, core, instr->arg, &known);
    core->busy |= (uint64_t)1 << instr->arg;
}

static void event(struct simulation *s, struct core *core, const struct sync_instr *instr)
{
    if (core->block || core->sub)
        return;
    start(s, core, instr->arg, &core->known);
    core->known.cores[instr->arg] |= (uint64_t)1 << (core - s->cores);
}

static void arrive(struct simulation *s, struct core *core)
{
    struct generations *barriers = &s->barriers[core->type];
    if (core->arrivals == barriers->count)
        vec_push(barriers, (struct generation){0});
    struct generation *generation = &barriers->at[core->arrivals++];
    generation->arrived++;
    learn(&generation->known, &core->known);
    complete(s, core, &generation->known); /* an arrival waits for the core's pipes */
}

/* False where the core has to wait. */
static bool await(struct simulation *s, struct core *core)
{
    struct generations *barriers = &s->barriers[core->type];
    if (core->awaits == barriers->count || barriers->at[core->awaits].arrived < s->n_of[core->type])
        return false;
    learn(&core->known, &barriers->at[core->awaits++].known);
    drain(s, core);
    return true;
}

static bool are_partners(const struct core *core, const struct core *other)
{
    return core->block == other->block && core->type != other->type;
}

static struct flag *flag_between(struct simulation *s, const struct core *a, const struct core *b,
                                 unsigned sender)
{
    return &s->flags[(a->type == CORE_AIV ? a : b) - s->cores][sender];
}

static void set(struct simulation *s, struct core *core, unsigned sender)
{
    for (unsigned i = 0; i < s->n_cores; i++) {
        if (!are_partners(core, &s->cores[i]))
            continue;
        struct flag *flag = flag_between(s, core, &s->cores[i], sender);
        vec_push(flag, core->known);
        s->outcome->overflows += flag->count - flag->taken > SYNC_FLAG_LIMIT;
    }
}

static bool wait(struct simulation *s, struct core *core, unsigned sender)
{
    unsigned partners = 0;
    for (unsigned i = 0; i < s->n_cores; i++) {
        if (!are_partners(core, &s->cores[i]))
            continue;
        const struct flag *flag = flag_between(s, core, &s->cores[i], sender);
        partners++;
        if (flag->taken == flag->count)
            return false;
    }
    for (unsigned i = 0; i < s->n_cores; i++) {
        if (!are_partners(core, &s->cores[i]))
            continue;
        struct flag *flag = flag_between(s, core, &s->cores[i], sender);
        learn(&core->known, &flag->at[flag->taken++]);
    }
    return core->type == CORE_AIC || partners > 0;
}

/* Executes the core's next instruction. False where it is blocked or at its end. */
static bool step(struct simulation *s, struct core *core)
{
    const struct sync_program *program = &s->launch->programs[core->type];
    if (core->pc == program->count)
        return false;
    const struct sync_instr *instr = &program->at[core->pc];
    bool done = true;
    switch (instr->effect) {
    case EFFECT_CALL: call(s, core, instr); break;
    case EFFECT_ARRIVE: arrive(s, core); break;
    case EFFECT_AWAIT: done = await(s, core); break;
    case EFFECT_SET: set(s, core, instr->arg); break;
    case EFFECT_WAIT: done = wait(s, core, instr->arg); break;
    case EFFECT_DRAIN: drain(s, core); break;
    case EFFECT_EVENT: event(s, core, instr); break;
    case EFFECT_NONE: break;
    }
    core->pc += done;
    return done;
}

/* Blocking is monotone, so every interleaving ends in the same state. How many releases are
 * outstanding depends on it: most for a receiver that steps only when nobody else can. */
static void run(struct simulation *s, unsigned lazy)
{
    bool moved = true;
    while (moved) {
        moved = false;
        for (unsigned i = 0; i < s->n_cores; i++)
            while (i != lazy && step(s, &s->cores[i]))
                moved = true;
        if (!moved)
            moved = step(s, &s->cores[lazy]);
    }
}

/* ------------------------------------------------------------------------- outcome ---- */

static unsigned count_undrained(const struct sync_program *program)
{
    unsigned count = 0;
    bool busy = false;
    for (uint32_t i = 0; i < program->count; i++) {
        enum instr_effect effect = program->at[i].effect;
        count += busy && effect == EFFECT_CALL && !program->at[i].early;
        if (effect == EFFECT_CALL)
            busy = true;
        else if (effect == EFFECT_AWAIT || effect == EFFECT_DRAIN)
            busy = false;
    }
    return count;
}

static void take_known(struct simulation *s)
{
    struct sync_outcome *outcome = s->outcome;
    for (unsigned op = 0; op < SYNC_MAX_OPS; op++) {
        if (!s->parts[op])
            continue;
        outcome->started |= (uint64_t)1 << op;
        for (unsigned i = 0; i < SYNC_MAX_OPS; i++)
            if (s->parts[i] && (s->starts[op].cores[i] & s->parts[i]) == s->parts[i])
                outcome->known[op] |= (uint64_t)1 << i;
    }
}

static void take_rest(struct simulation *s)
{
    struct sync_outcome *outcome = s->outcome;
    for (unsigned i = 0; i < s->n_cores; i++) {
        const struct core *core = &s->cores[i];
        outcome->stuck += core->pc < s->launch->programs[core->type].count;
        outcome->unawaited += core->arrivals - core->awaits;
        for (unsigned type = 0; type < CORE_TYPES; type++)
            outcome->left += s->flags[i][type].count - s->flags[i][type].taken;
    }
    for (unsigned type = 0; type < CORE_TYPES; type++)
        if (s->n_of[type])
            outcome->undrained += count_undrained(&s->launch->programs[type]);
}

void sync_simulate(struct sync_outcome *outcome, const struct sync_launch *launch)
{
    struct simulation *s = mem_realloc(NULL, 1, sizeof *s);
    memset(outcome, 0, sizeof *outcome);
    /* All blocks execute the same: one lazy core of each kind stands for all. */
    unsigned n_lazy = launch->per_block[CORE_AIC] && launch->per_block[CORE_AIV] ? 2 : 1;
    for (unsigned i = 0; i < n_lazy; i++) {
        simulation_init(s, outcome, launch);
        run(s, i == 0 ? 0 : s->n_of[CORE_AIC]);
        if (i + 1 == n_lazy) {
            take_known(s);
            take_rest(s);
        }
        simulation_free(s);
    }
    free(s);
}

bool sync_outcome_ok(const struct sync_outcome *outcome)
{
    return !outcome->stuck && !outcome->overflows && !outcome->left && !outcome->unawaited &&
           !outcome->undrained;
}
