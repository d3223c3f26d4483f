#include "tests/unit/sync_simulator.h"

#include <string.h>

/* Knowledge is an array: for each op, the set of cores on which it is known to be complete. */

struct core {
    enum core_type type;
    unsigned block, sub;
    unsigned pc, arrivals, awaits;
    unsigned phase;  /* of the full barrier that it is in */
    bool silent;     /* what it does is inside of a call, and tells nothing */
    uint64_t *known; /* what it called itself only once its pipes are drained */
    uint64_t *busy;  /* by op: the core's bit, if it has called it since */
};

/* One barrier of one core type: what the cores that have arrived knew. */
struct generation {
    unsigned arrived, silent; /* silent: of those, within calls */
    uint64_t *known;
};

/* Releases of one flag of one pair of cores; the first `taken` are consumed. */
struct flag {
    uint64_t **at;
    uint32_t count, capacity;
    uint32_t taken;
};

struct simulation {
    const struct sync_launch *launch;
    struct sync_outcome *outcome;
    struct arena arena; /* of all knowledge */
    unsigned n_ops, n_cores, n_of[CORE_TYPES];
    struct core cores[SYNC_MAX_CORES];
    VEC(struct generation)
    barriers[CORE_TYPES];
    /* By the vector core of the pair, and the type that sets. */
    struct flag flags[SYNC_MAX_CORES][CORE_TYPES];
    const struct sync_instr **calls[CORE_TYPES]; /* by op: its call, or NULL */
    uint64_t *nothing;                           /* what is known of a flag set within a call */
    uint64_t *reached;                           /* by op: cores that stand at its call, or have */
    uint64_t *parts;                             /* by op: cores that started it */
    uint64_t *starts;                            /* by op: what all of them knew */
};

static uint64_t *new_knowledge(struct simulation *s, const uint64_t *copied)
{
    uint64_t *known = arena_alloc(&s->arena, s->n_ops * sizeof *known);
    if (copied)
        memcpy(known, copied, s->n_ops * sizeof *known);
    else
        memset(known, 0, s->n_ops * sizeof *known);
    return known;
}

static void learn(const struct simulation *s, uint64_t *known, const uint64_t *more)
{
    for (unsigned i = 0; i < s->n_ops; i++)
        known[i] |= more[i];
}

static bool is_op(const struct sync_instr *instr)
{
    return instr->effect == EFFECT_CALL || instr->effect == EFFECT_EVENT;
}

static void count_ops(struct simulation *s)
{
    for (unsigned type = 0; type < CORE_TYPES; type++)
        for (uint32_t i = 0; i < s->launch->programs[type].count; i++) {
            const struct sync_instr *instr = &s->launch->programs[type].at[i];
            if (is_op(instr) && instr->arg >= s->n_ops)
                s->n_ops = instr->arg + 1;
        }
}

static void find_calls(struct simulation *s, unsigned type)
{
    s->calls[type] = arena_alloc(&s->arena, s->n_ops * sizeof *s->calls[type]);
    memset(s->calls[type], 0, s->n_ops * sizeof *s->calls[type]);
    for (uint32_t i = 0; i < s->launch->programs[type].count; i++) {
        const struct sync_instr *instr = &s->launch->programs[type].at[i];
        if (instr->effect == EFFECT_CALL)
            s->calls[type][instr->arg] = instr;
    }
}

static void simulation_init(struct simulation *s, struct sync_outcome *outcome,
                            const struct sync_launch *launch)
{
    memset(s, 0, sizeof *s);
    s->launch = launch;
    s->outcome = outcome;
    count_ops(s);
    for (unsigned type = 0; type < CORE_TYPES; type++) {
        find_calls(s, type);
        for (unsigned block = 0; block < launch->blocks; block++)
            for (unsigned sub = 0; sub < launch->per_block[type]; sub++) {
                s->cores[s->n_cores++] = (struct core){.type = type,
                                                       .block = block,
                                                       .sub = sub,
                                                       .known = new_knowledge(s, NULL),
                                                       .busy = new_knowledge(s, NULL)};
                s->n_of[type]++;
            }
    }
    s->nothing = new_knowledge(s, NULL);
    s->reached = new_knowledge(s, NULL);
    s->parts = new_knowledge(s, NULL);
    s->starts = arena_alloc(&s->arena, s->n_ops * s->n_ops * sizeof *s->starts);
    memset(s->starts, 0xff, s->n_ops * s->n_ops * sizeof *s->starts);
}

static void simulation_free(struct simulation *s)
{
    for (unsigned type = 0; type < CORE_TYPES; type++)
        vec_free(&s->barriers[type]);
    for (unsigned i = 0; i < s->n_cores; i++)
        for (unsigned type = 0; type < CORE_TYPES; type++)
            vec_free(&s->flags[i][type]);
    arena_free(&s->arena);
}

/* ------------------------------------------------------------------------------- calls ---- */

static bool takes_part(const struct simulation *s, const struct core *core,
                       const struct sync_instr *instr)
{
    unsigned index = core->block * s->launch->per_block[core->type] + core->sub;
    if (instr->flat)
        return index < instr->blocks;
    return !instr->blocks || core->block < instr->blocks;
}

static uint64_t core_bit(const struct simulation *s, const struct core *core)
{
    return (uint64_t)1 << (core - s->cores);
}

static bool are_partners(const struct core *core, const struct core *other)
{
    return core->block == other->block && core->type != other->type;
}

/* Whether all parts of the op in the core's AI core have started. */
static bool parts_have_met(const struct simulation *s, const struct core *core, unsigned op)
{
    const struct sync_instr *call = s->calls[1 - core->type][op];
    for (unsigned i = 0; call && i < s->n_cores; i++)
        if (are_partners(core, &s->cores[i]) && takes_part(s, &s->cores[i], call) &&
            !(s->reached[op] & core_bit(s, &s->cores[i])))
            return false;
    return true;
}

static void drain(struct simulation *s, struct core *core)
{
    learn(s, core->known, core->busy);
    memset(core->busy, 0, s->n_ops * sizeof *core->busy);
}

/* That a core's own calls follow each other is order enough; whether they overlap is another
 * question (count_undrained). */
static void start(struct simulation *s, struct core *core, const struct sync_instr *instr)
{
    uint64_t *starts = s->starts + (size_t)instr->arg * s->n_ops;
    bool calls = instr->effect == EFFECT_CALL;
    for (unsigned i = 0; i < s->n_ops; i++)
        starts[i] &= core->known[i] | (calls ? core->busy[i] : 0);
    s->parts[instr->arg] |= core_bit(s, core);
    (calls ? core->busy : core->known)[instr->arg] |= core_bit(s, core);
}

/* False where the core has to wait. */
static bool call(struct simulation *s, struct core *core, const struct sync_instr *instr)
{
    if (!takes_part(s, core, instr))
        return true;
    s->reached[instr->arg] |= core_bit(s, core);
    if (instr->effect == EFFECT_CALL && !s->launch->independent_parts &&
        !parts_have_met(s, core, instr->arg))
        return false;
    start(s, core, instr);
    return true;
}

/* ---------------------------------------------------------------------- synchronisation ---- */

/* An arrival comes behind what the core's pipes do. */
static void arrive(struct simulation *s, struct core *core)
{
    if (core->arrivals == s->barriers[core->type].count)
        vec_push(&s->barriers[core->type], (struct generation){0, 0, new_knowledge(s, NULL)});
    struct generation *generation = &s->barriers[core->type].at[core->arrivals++];
    s->outcome->overflows += core->arrivals - core->awaits > SYNC_FLAG_LIMIT;
    generation->arrived++;
    generation->silent += core->silent;
    if (core->silent)
        return;
    learn(s, generation->known, core->known);
    learn(s, generation->known, core->busy);
}

/* False where the core has to wait. */
static bool await(struct simulation *s, struct core *core)
{
    if (core->awaits == s->barriers[core->type].count ||
        s->barriers[core->type].at[core->awaits].arrived < s->n_of[core->type])
        return false;
    const struct generation *generation = &s->barriers[core->type].at[core->awaits++];
    s->outcome->mixed_up += generation->silent != (core->silent ? generation->arrived : 0);
    learn(s, core->known, generation->known);
    /* What it called after its own arrival is still busy. */
    for (unsigned i = 0; i < s->n_ops; i++)
        core->busy[i] &= ~core->known[i];
    return true;
}

static struct flag *flag_between(struct simulation *s, const struct core *a, const struct core *b,
                                 unsigned sender)
{
    return &s->flags[(a->type == CORE_AIV ? a : b) - s->cores][sender];
}

/* A flag says nothing of a call that is not drained. */
static void set(struct simulation *s, struct core *core, unsigned sender)
{
    uint64_t *known = core->silent ? s->nothing : new_knowledge(s, core->known);
    for (unsigned i = 0; i < s->n_cores; i++) {
        if (!are_partners(core, &s->cores[i]))
            continue;
        struct flag *flag = flag_between(s, core, &s->cores[i], sender);
        vec_push(flag, known);
        unsigned outstanding = flag->count - flag->taken;
        s->outcome->overflows += outstanding > SYNC_FLAG_LIMIT;
        if (s->outcome->most < outstanding)
            s->outcome->most = outstanding;
    }
}

static bool wait(struct simulation *s, struct core *core, unsigned sender)
{
    for (unsigned i = 0; i < s->n_cores; i++) {
        if (!are_partners(core, &s->cores[i]))
            continue;
        const struct flag *flag = flag_between(s, core, &s->cores[i], sender);
        if (flag->taken == flag->count)
            return false;
    }
    for (unsigned i = 0; i < s->n_cores; i++) {
        if (!are_partners(core, &s->cores[i]))
            continue;
        struct flag *flag = flag_between(s, core, &s->cores[i], sender);
        s->outcome->mixed_up += core->silent != (flag->at[flag->taken] == s->nothing);
        learn(s, core->known, flag->at[flag->taken++]);
    }
    return core->type == CORE_AIC || s->n_of[CORE_AIC] > 0;
}

/* ------------------------------------------------------------------------ full barriers ---- */

enum { PHASE_WAIT, PHASE_ARRIVE, PHASE_AWAIT, PHASE_SET, PHASE_DONE };

/* One core type meets by its barrier. Of two, AIVs set and wait; AICs wait, meet, and set. False
 * where the core has to wait. */
static bool meet(struct simulation *s, struct core *core, unsigned op, bool included)
{
    bool mixed = s->calls[CORE_AIC][op] && s->calls[CORE_AIV][op];
    bool meets = core->type == CORE_AIC || !mixed, flags = mixed && included, done = true;
    switch (core->phase) {
    case PHASE_WAIT:
        if (flags && core->type == CORE_AIV)
            set(s, core, CORE_AIV);
        else if (flags)
            done = wait(s, core, CORE_AIV);
        break;
    case PHASE_ARRIVE:
        if (meets)
            arrive(s, core);
        break;
    case PHASE_AWAIT: done = !meets || await(s, core); break;
    case PHASE_SET:
        if (flags && core->type == CORE_AIC)
            set(s, core, CORE_AIC);
        else if (flags)
            done = wait(s, core, CORE_AIC);
        break;
    }
    core->phase += done;
    return done;
}

/* A call with a full barrier in it; false where the core has to wait. */
static bool full_call(struct simulation *s, struct core *core, const struct sync_instr *instr)
{
    bool included = takes_part(s, core, instr), done = true;
    if (core->phase == PHASE_WAIT && !call(s, core, instr))
        return false;
    if (core->phase == PHASE_WAIT && included)
        s->outcome->mixed_up += core->arrivals != core->awaits;
    core->silent = true;
    while (done && core->phase < PHASE_DONE)
        done = meet(s, core, instr->arg, included);
    core->silent = false;
    if (!done)
        return false;
    core->phase = PHASE_WAIT;
    return true;
}

/* Executes the core's next instruction, or what it can of it. False where it is blocked or at its
 * end. */
static bool step(struct simulation *s, struct core *core)
{
    const struct sync_program *program = &s->launch->programs[core->type];
    if (core->pc == program->count)
        return false;
    const struct sync_instr *instr = &program->at[core->pc];
    unsigned phase = core->phase;
    bool done = true;
    switch (instr->effect) {
    case EFFECT_CALL:
    case EFFECT_EVENT: done = instr->full ? full_call(s, core, instr) : call(s, core, instr); break;
    case EFFECT_ARRIVE: arrive(s, core); break;
    case EFFECT_AWAIT: done = await(s, core); break;
    case EFFECT_SET: set(s, core, instr->arg); break;
    case EFFECT_WAIT: done = wait(s, core, instr->arg); break;
    case EFFECT_DRAIN: drain(s, core); break;
    case EFFECT_SELECT:
    case EFFECT_CLEAR:
    case EFFECT_FEED:
    case EFFECT_NONE: break;
    }
    core->pc += done;
    return done || core->phase != phase;
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

/* An await drains the calls before its own arrival, be it one of a call itself: what that still
 * reads is read when it returns. */
static unsigned count_undrained(const struct sync_program *program)
{
    struct vec_u32 arrivals = {NULL, 0, 0};
    unsigned count = 0, awaits = 0, last = 0, drained = 0; /* how many instructions, up to a call */
    for (uint32_t i = 0; i < program->count; i++) {
        enum instr_effect effect = program->at[i].effect;
        count += last > drained && effect == EFFECT_CALL && !program->at[i].rest;
        if (effect == EFFECT_CALL && !program->at[i].rest)
            last = i + 1;
        if (effect == EFFECT_ARRIVE)
            vec_push(&arrivals, i);
        if (effect == EFFECT_DRAIN)
            drained = i;
        if (effect == EFFECT_AWAIT && awaits < arrivals.count && arrivals.at[awaits] > drained)
            drained = arrivals.at[awaits];
        awaits += effect == EFFECT_AWAIT;
    }
    vec_free(&arrivals);
    return count;
}

static void add_op(struct sync_ops *ops, unsigned op)
{
    ops->words[op / 64] |= (uint64_t)1 << op % 64;
}

static void take_known(struct simulation *s)
{
    struct sync_outcome *outcome = s->outcome;
    for (unsigned op = 0; op < s->n_ops; op++) {
        const uint64_t *starts = s->starts + (size_t)op * s->n_ops;
        if (!s->parts[op])
            continue;
        add_op(&outcome->started, op);
        for (unsigned i = 0; i < s->n_ops; i++)
            if (s->parts[i] && (starts[i] & s->parts[i]) == s->parts[i])
                add_op(&outcome->known[op], i);
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

/* Runs with each kind of core lazy in turn: all blocks execute the same, so one stands for all. */
static void run_kinds(struct simulation *s, struct sync_outcome *outcome,
                      const struct sync_launch *launch, bool take)
{
    unsigned n_lazy = launch->per_block[CORE_AIC] && launch->per_block[CORE_AIV] ? 2 : 1;
    for (unsigned i = 0; i < n_lazy; i++) {
        simulation_init(s, outcome, launch);
        run(s, i == 0 ? 0 : s->n_of[CORE_AIC]);
        if (take && i + 1 == n_lazy) {
            take_known(s);
            take_rest(s);
        }
        simulation_free(s);
    }
}

/* Whether so many releases are set that there may be too many outstanding. */
static bool may_overflow(const struct sync_launch *launch)
{
    unsigned sets[CORE_TYPES] = {0};
    for (unsigned type = 0; type < CORE_TYPES; type++)
        for (uint32_t i = 0; i < launch->programs[type].count; i++)
            sets[type] += launch->programs[type].at[i].effect == EFFECT_SET ||
                          launch->programs[type].at[i].full;
    return sets[CORE_AIC] >= SYNC_FLAG_LIMIT - 1 || sets[CORE_AIV] >= SYNC_FLAG_LIMIT - 1;
}

/* Parts of an op may wait for each other, or not: whether all comes to its end is asked of those
 * that do, how far cores run ahead of those that do not. */
void sync_simulate(struct sync_outcome *outcome, const struct sync_launch *launch)
{
    struct simulation *s = mem_realloc(NULL, 1, sizeof *s);
    struct sync_launch apart = *launch;
    memset(outcome, 0, sizeof *outcome);
    apart.independent_parts = true;
    if (!launch->independent_parts && may_overflow(launch))
        run_kinds(s, outcome, &apart, false);
    run_kinds(s, outcome, launch, true);
    mem_free(s);
}

bool sync_ops_has(const struct sync_ops *ops, unsigned op)
{
    return ops->words[op / 64] >> op % 64 & 1;
}

bool sync_outcome_orders(const struct sync_outcome *outcome, unsigned earlier, unsigned later)
{
    return !sync_ops_has(&outcome->started, later) || sync_ops_has(&outcome->known[later], earlier);
}

bool sync_outcome_ok(const struct sync_outcome *outcome)
{
    return !outcome->stuck && !outcome->overflows && !outcome->left && !outcome->unawaited &&
           !outcome->mixed_up && !outcome->undrained;
}

void sync_launch_free(struct sync_launch *launch)
{
    for (unsigned type = 0; type < CORE_TYPES; type++)
        vec_free(&launch->programs[type]);
}
