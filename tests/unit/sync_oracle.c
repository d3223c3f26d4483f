#include "tests/unit/sync_oracle.h"

#include <string.h>

enum { MAX_GAPS = ORACLE_MAX_OPS + 1, MAX_CHAINS = 924 };

/* The flags of one sender, as sets of gaps: that behind call i is gap i + 1. Since the n-th wait
 * meets the n-th set, the n-th members of the two sets belong together. */
struct chain {
    unsigned sets, waits;
    unsigned count;
};

/* All choices of both programs. Sets of gaps are bit sets. */
struct plan {
    struct chain sent[CORE_TYPES];
    unsigned spread[CORE_TYPES];  /* gaps whose wait stands before barrier and set */
    unsigned barrier[CORE_TYPES]; /* gaps with a barrier */
};

struct search {
    const struct oracle_case *instance;
    struct oracle_rules rules;
    unsigned calls[CORE_TYPES];
    unsigned op_of[CORE_TYPES][ORACLE_MAX_OPS];
    unsigned partner[CORE_TYPES][ORACLE_MAX_OPS]; /* the call of a mixed op's other part, or NONE */
    /* By call: how many calls of each type must be known to be complete, on all cores, and on
     * those of the own AI core. */
    unsigned need[CORE_TYPES][ORACLE_MAX_OPS][CORE_TYPES];
    unsigned need_own[CORE_TYPES][ORACLE_MAX_OPS][CORE_TYPES];
    bool narrow;                                 /* some call needs calls of its own AI core */
    struct chain chains[CORE_TYPES][MAX_CHAINS]; /* by sender; in order of their counts */
    unsigned n_chains[CORE_TYPES];
    struct plan plan, best;
    unsigned best_cost; /* of `best`, or one above the bound */
    bool found;
};

/* -------------------------------------------------------------------------- evaluation ---- */

/* What a core of a type knows to be complete: calls of each type on all AI cores, and on its own.
 * All cores of a type run the same program and know the same in this sense, so one stands for all.
 * Nobody knows less of the own AI core than of all: what a barrier tells of them, each of its cores
 * knew of itself. */
struct knowledge {
    unsigned drained; /* own calls */
    unsigned all[CORE_TYPES], own[CORE_TYPES];
};

/* Where a runner stands in its gap. */
enum stage { AT_HEAD, AT_WAIT, AT_CALL };

struct runner {
    struct knowledge known;
    unsigned gap;
    enum stage stage;
    unsigned waited; /* flags consumed */
    struct knowledge sent[MAX_GAPS];
    unsigned n_sent;
};

static void raise_to(unsigned *number, unsigned at_least)
{
    if (*number < at_least)
        *number = at_least;
}

static bool take_flag(struct runner *runner, const struct runner *sender, unsigned sends)
{
    if (runner->waited == sender->n_sent)
        return false;
    const struct knowledge *there = &sender->sent[runner->waited++];
    for (unsigned type = 0; type < CORE_TYPES; type++) {
        raise_to(&runner->known.all[type], there->all[type]);
        raise_to(&runner->known.own[type], there->own[type]);
    }
    raise_to(&runner->known.own[sends], there->drained);
    return true;
}

/* The gap's first part: waits that come first, barrier or drain, set. */
static bool run_head(const struct plan *plan, struct runner *runners, unsigned type)
{
    struct runner *runner = &runners[type];
    struct knowledge *known = &runner->known;
    unsigned bit = 1u << runner->gap;
    if ((plan->spread[type] & bit) && !take_flag(runner, &runners[1 - type], 1 - type))
        return false;
    known->drained = runner->gap;
    if (plan->barrier[type] & bit) {
        raise_to(&known->own[type], runner->gap);
        for (unsigned of = 0; of < CORE_TYPES; of++)
            raise_to(&known->all[of], known->own[of]);
    }
    if (plan->sent[type].sets & bit)
        runner->sent[runner->n_sent++] = *known;
    return true;
}

static bool run_wait(const struct plan *plan, struct runner *runners, unsigned type)
{
    struct runner *runner = &runners[type];
    unsigned waits = plan->sent[1 - type].waits & ~plan->spread[type];
    return !(waits >> runner->gap & 1) || take_flag(runner, &runners[1 - type], 1 - type);
}

/* The two parts of a mixed op synchronise with each other: neither ends before the other starts. */
static bool run_call(const struct search *s, struct runner *runners, unsigned type)
{
    struct runner *runner = &runners[type], *other = &runners[1 - type];
    unsigned partner = runner->gap < s->calls[type] ? s->partner[type][runner->gap] : NONE;
    if (partner != NONE &&
        (other->gap < partner || (other->gap == partner && other->stage < AT_CALL)))
        return false;
    runner->gap++;
    return true;
}

static bool may_start(const struct search *s, const struct runner *runner, unsigned type)
{
    bool may = true;
    for (unsigned of = 0; of < CORE_TYPES && runner->gap < s->calls[type]; of++)
        may = may && runner->known.all[of] >= s->need[type][runner->gap][of] &&
              runner->known.own[of] >= s->need_own[type][runner->gap][of];
    return may;
}

/* Follows a program as far as it gets. False where a call starts too early. */
static bool run_type(const struct search *s, const struct plan *plan, struct runner *runners,
                     unsigned type, bool *moved)
{
    struct runner *runner = &runners[type];
    for (bool passed = true; passed && runner->gap <= s->calls[type]; *moved |= passed)
        switch (runner->stage) {
        case AT_HEAD:
            passed = run_head(plan, runners, type);
            runner->stage += passed;
            break;
        case AT_WAIT:
            passed = run_wait(plan, runners, type);
            runner->stage += passed;
            break;
        case AT_CALL:
            if (!may_start(s, runner, type))
                return false;
            passed = run_call(s, runners, type);
            runner->stage = passed ? AT_HEAD : AT_CALL;
            break;
        }
    return true;
}

/* Whether the programs are correct. More barriers never make correct programs wrong. */
static bool is_correct(const struct search *s, const struct plan *plan)
{
    struct runner runners[CORE_TYPES] = {0};
    for (bool moved = true; moved;) {
        moved = false;
        for (unsigned type = 0; type < CORE_TYPES; type++)
            if (!run_type(s, plan, runners, type, &moved))
                return false;
    }
    return runners[0].gap > s->calls[0] && runners[1].gap > s->calls[1];
}

/* ------------------------------------------------------------------------------- costs ---- */

static unsigned gap_cost(const struct search *s, const struct plan *plan, unsigned type,
                         unsigned gap)
{
    unsigned bit = 1u << gap;
    bool between = gap > 0 && gap < s->calls[type];
    if (plan->barrier[type] & bit)
        return ORACLE_BARRIER_COST;
    return between || (plan->sent[type].sets & bit) ? ORACLE_DRAIN_COST : 0;
}

static unsigned plan_cost(const struct search *s, const struct plan *plan)
{
    unsigned cost = 0;
    for (unsigned type = 0; type < CORE_TYPES; type++) {
        cost += plan->sent[type].count * ORACLE_FLAG_COST;
        for (unsigned gap = 0; gap <= s->calls[type]; gap++)
            cost += gap_cost(s, plan, type, gap);
    }
    return cost;
}

/* ------------------------------------------------------------------------------ chains ---- */

/* Whether each required order from the sender's type to the other one has a flag that is set behind
 * it and waited for before it. Whatever way knowledge takes, it last comes by such a flag. */
static bool covers(const struct search *s, unsigned sender, const unsigned *set,
                   const unsigned *wait, unsigned count)
{
    for (unsigned call = 0; call < s->calls[1 - sender]; call++) {
        unsigned brought = 0;
        for (unsigned i = 0; i < count && wait[i] <= call; i++)
            brought = set[i];
        if (brought < s->need[1 - sender][call][sender] ||
            brought < s->need_own[1 - sender][call][sender])
            return false;
    }
    return true;
}

static unsigned list_bits(unsigned set, unsigned *list)
{
    unsigned count = 0;
    for (unsigned bit = 0; set >> bit; bit++)
        if (set >> bit & 1)
            list[count++] = bit;
    return count;
}

static bool is_admissible(const struct search *s, unsigned sender, unsigned set, unsigned wait)
{
    unsigned from = s->op_of[sender][set - 1], to = s->op_of[1 - sender][wait];
    return s->instance->ops[to].needs >> from & 1;
}

static unsigned find_call(const struct search *s, unsigned type, unsigned op)
{
    for (unsigned call = 0; call < s->calls[type]; call++)
        if (s->op_of[type][call] == op)
            return call;
    return NONE;
}

/* Whether no flag is outstanding where calls use the flags themselves. */
static bool is_clear(const struct search *s, unsigned sender, unsigned sets, unsigned waits)
{
    bool clear = true;
    for (unsigned op = 0; op < s->instance->count; op++) {
        if (!s->instance->ops[op].full)
            continue;
        unsigned set = find_call(s, sender, op), wait = find_call(s, 1 - sender, op);
        clear = clear && __builtin_popcount(sets & ((2u << set) - 1)) ==
                             __builtin_popcount(waits & ((2u << wait) - 1));
    }
    return clear;
}

static void add_chain(struct search *s, unsigned sender, unsigned sets, unsigned waits)
{
    unsigned set[MAX_GAPS], wait[MAX_GAPS], count = list_bits(sets, set);
    list_bits(waits, wait);
    for (unsigned i = 0; i < count && !s->rules.excess; i++)
        if (!is_admissible(s, sender, set[i], wait[i]))
            return;
    if (covers(s, sender, set, wait, count) && is_clear(s, sender, sets, waits))
        s->chains[sender][s->n_chains[sender]++] = (struct chain){sets, waits, count};
}

static void find_chains(struct search *s, unsigned sender)
{
    unsigned senders = s->calls[sender], receivers = s->calls[1 - sender];
    for (unsigned count = 0; count <= senders && count <= receivers; count++)
        for (unsigned sets = 0; sets < 1u << senders; sets++)
            for (unsigned waits = 0; waits < 1u << receivers; waits++)
                if ((unsigned)__builtin_popcount(sets) == count &&
                    (unsigned)__builtin_popcount(waits) == count)
                    add_chain(s, sender, sets << 1, waits);
}

/* ------------------------------------------------------------------------------ search ---- */

/* Gaps that may do without a barrier: those between calls, and that behind the last where a set
 * stands there. Before the first call a barrier spreads what a wait brought, or is of no use. Waits
 * come first without one for a set alone. */
static unsigned open_gaps(const struct search *s, const struct plan *plan, unsigned type)
{
    unsigned last = 1u << s->calls[type], gaps = (last - 1) & ~1u;
    unsigned relays = s->narrow ? plan->sent[type].sets : 0;
    return (gaps | (plan->sent[type].sets & last)) & ~(plan->spread[type] & ~relays);
}

/* Takes barriers away one after the other, as long as the programs stay correct. `gap` counts those
 * of both types; what is not decided yet has a barrier, so `saved` is what can still be saved. */
static void take_barriers(struct search *s, unsigned cost, unsigned gap, unsigned saveable)
{
    if (cost - saveable >= s->best_cost)
        return;
    if (saveable == 0) {
        s->best = s->plan;
        s->best_cost = cost;
        s->found = true;
        return;
    }
    unsigned type = gap / MAX_GAPS, bit = 1u << gap % MAX_GAPS;
    if (!(open_gaps(s, &s->plan, type) & bit)) {
        take_barriers(s, cost, gap + 1, saveable);
        return;
    }
    s->plan.barrier[type] &= ~bit;
    if (is_correct(s, &s->plan))
        take_barriers(s, cost - 1, gap + 1, saveable - 1);
    s->plan.barrier[type] |= bit;
    take_barriers(s, cost, gap + 1, saveable - 1);
}

static void try_spread(struct search *s)
{
    unsigned saveable = 0;
    for (unsigned type = 0; type < CORE_TYPES; type++) {
        unsigned gaps = open_gaps(s, &s->plan, type);
        s->plan.barrier[type] = gaps | s->plan.spread[type];
        saveable += (unsigned)__builtin_popcount(gaps);
    }
    unsigned cost = plan_cost(s, &s->plan);
    if (cost - saveable < s->best_cost && is_correct(s, &s->plan))
        take_barriers(s, cost, 0, saveable);
}

/* The gaps whose waits for one chain may stand before the barrier, if the waiting type sets
 * another. */
static unsigned spreadable(const struct search *s, const struct chain *awaited,
                           const struct chain *sent)
{
    switch (s->rules.spread) {
    case ORACLE_NO_WAIT: return 0;
    case ORACLE_WAIT_WITHOUT_SET: return awaited->waits & ~sent->sets;
    default: return awaited->waits;
    }
}

/* All ways to place the waits of both chains: going through the subsets of two sets. */
static void try_chains(struct search *s, const struct chain *c2v, const struct chain *v2c)
{
    unsigned aic_waits = spreadable(s, v2c, c2v), aiv_waits = spreadable(s, c2v, v2c);
    s->plan.sent[CORE_AIC] = *c2v;
    s->plan.sent[CORE_AIV] = *v2c;
    s->plan.spread[CORE_AIC] = s->plan.spread[CORE_AIV] = 0;
    do {
        do {
            try_spread(s);
            s->plan.spread[CORE_AIC] = (s->plan.spread[CORE_AIC] - aic_waits) & aic_waits;
        } while (s->plan.spread[CORE_AIC]);
        s->plan.spread[CORE_AIV] = (s->plan.spread[CORE_AIV] - aiv_waits) & aiv_waits;
    } while (s->plan.spread[CORE_AIV]);
}

/* No programs with so many flags cost less. */
static unsigned least_cost(const struct search *s, unsigned flags)
{
    unsigned drains = 0;
    for (unsigned type = 0; type < CORE_TYPES; type++)
        drains += s->calls[type] ? s->calls[type] - 1 : 0;
    return drains * ORACLE_DRAIN_COST + flags * ORACLE_FLAG_COST;
}

static void search_all(struct search *s)
{
    for (unsigned c = 0; c < s->n_chains[CORE_AIC]; c++)
        for (unsigned v = 0; v < s->n_chains[CORE_AIV]; v++) {
            const struct chain *c2v = &s->chains[CORE_AIC][c], *v2c = &s->chains[CORE_AIV][v];
            if (least_cost(s, c2v->count + v2c->count) >= s->best_cost)
                break;
            try_chains(s, c2v, v2c);
        }
}

/* ---------------------------------------------------------------------------- instances ---- */

/* Which cores of a type run an op. */
enum extent { ALL_CORES, FIRST_AI_CORE, CORE_ZERO };

static enum extent extent_of(const struct oracle_case *instance, unsigned op, unsigned type)
{
    const struct oracle_op *of = &instance->ops[op];
    unsigned per_block = instance->per_block[type];
    unsigned cores = of->flat ? of->blocks : of->blocks * per_block;
    if (cores == 1)
        return CORE_ZERO;
    return cores <= per_block ? FIRST_AI_CORE : ALL_CORES;
}

/* What the call of an op needs of another's: between calls, a core itself is always drained. */
static void find_need(struct search *s, unsigned type, unsigned call, unsigned of, unsigned other)
{
    enum extent later = extent_of(s->instance, s->op_of[type][call], type);
    enum extent earlier = extent_of(s->instance, s->op_of[of][other], of);
    if (!(s->instance->ops[s->op_of[type][call]].needs >> s->op_of[of][other] & 1) ||
        (type == of && later == CORE_ZERO && earlier == CORE_ZERO))
        return;
    if (later == ALL_CORES || earlier == ALL_CORES) {
        s->need[type][call][of] = other + 1;
    } else {
        s->need_own[type][call][of] = other + 1;
        s->narrow = true;
    }
}

static void find_needs(struct search *s, unsigned type, unsigned call)
{
    for (unsigned of = 0; of < CORE_TYPES; of++)
        for (unsigned other = 0; other < s->calls[of]; other++)
            find_need(s, type, call, of, other);
}

static void search_init(struct search *s, const struct oracle_case *instance,
                        struct oracle_rules rules, unsigned bound)
{
    memset(s, 0, sizeof *s);
    s->instance = instance;
    s->rules = rules;
    s->best_cost = bound + 1;
    for (unsigned op = 0; op < instance->count; op++)
        for (unsigned type = 0; type < CORE_TYPES; type++)
            if (instance->ops[op].on[type])
                s->op_of[type][s->calls[type]++] = op;
    for (unsigned type = 0; type < CORE_TYPES; type++)
        for (unsigned call = 0; call < s->calls[type]; call++) {
            find_needs(s, type, call);
            s->partner[type][call] = find_call(s, 1 - type, s->op_of[type][call]);
        }
    for (unsigned type = 0; type < CORE_TYPES; type++)
        find_chains(s, type);
}

static void add_instr(struct sync_program *program, enum instr_effect effect, unsigned arg)
{
    vec_push(program, (struct sync_instr){.effect = effect, .arg = arg});
}

static void add_call(struct sync_program *program, const struct search *s, unsigned op)
{
    const struct oracle_op *of = &s->instance->ops[op];
    vec_push(program, (struct sync_instr){.effect = EFFECT_CALL,
                                          .arg = op,
                                          .blocks = of->blocks,
                                          .flat = of->flat,
                                          .full = of->full});
}

static void write_program(struct sync_program *program, const struct search *s, unsigned type)
{
    const struct plan *plan = &s->best;
    for (unsigned gap = 0; gap <= s->calls[type]; gap++) {
        unsigned waits = plan->sent[1 - type].waits >> gap & 1;
        unsigned spread = plan->spread[type] >> gap & 1;
        if (waits && spread)
            add_instr(program, EFFECT_WAIT, 1 - type);
        if (plan->barrier[type] >> gap & 1) {
            add_instr(program, EFFECT_ARRIVE, 0);
            add_instr(program, EFFECT_AWAIT, 0);
        } else if (gap_cost(s, plan, type, gap)) {
            add_instr(program, EFFECT_DRAIN, 0);
        }
        if (plan->sent[type].sets >> gap & 1)
            add_instr(program, EFFECT_SET, type);
        if (waits && !spread)
            add_instr(program, EFFECT_WAIT, 1 - type);
        if (gap < s->calls[type])
            add_call(program, s, s->op_of[type][gap]);
    }
}

bool oracle_search(struct oracle_result *result, const struct oracle_case *instance,
                   struct oracle_rules rules, unsigned bound)
{
    struct search *s = mem_realloc(NULL, 1, sizeof *s);
    search_init(s, instance, rules, bound);
    memset(result, 0, sizeof *result);
    result->fewest_flags = s->chains[CORE_AIC][0].count + s->chains[CORE_AIV][0].count;
    search_all(s);
    bool found = s->found;
    if (found) {
        result->cost = s->best_cost;
        for (unsigned type = 0; type < CORE_TYPES; type++) {
            result->flags += s->best.sent[type].count;
            write_program(&result->programs[type], s, type);
        }
    }
    mem_free(s);
    return found;
}

void oracle_free(struct oracle_result *result)
{
    for (unsigned type = 0; type < CORE_TYPES; type++)
        vec_free(&result->programs[type]);
}

unsigned oracle_program_cost(const struct sync_program *program)
{
    unsigned cost = 0;
    for (uint32_t i = 0; i < program->count; i++)
        cost += program->at[i].effect != EFFECT_CALL;
    return cost;
}
