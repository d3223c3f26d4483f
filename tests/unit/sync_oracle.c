#include "tests/unit/sync_oracle.h"

#include <assert.h>
#include <string.h>

/* Nodes of one core type: a select and a call for each op, and the reset of all locks. */
enum { MAX_NODES = 2 * ORACLE_MAX_OPS + 1, MAX_GAPS = MAX_NODES + 1 };

/* The flags of one sender, as sets of gaps: that behind node i is gap i + 1. Since the n-th wait
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
    unsigned drain[CORE_TYPES];   /* and with a pipe_barrier */
};

struct node {
    enum { NODE_CALL, NODE_SELECT, NODE_RESET } kind;
    unsigned op;      /* of a call or select */
    unsigned partner; /* the call of a mixed op's other part, or NONE */
    /* Which nodes of each type, as bit sets, must be known to be complete, on all cores, and on
     * those of the own AI core. */
    unsigned need[CORE_TYPES], need_own[CORE_TYPES];
};

struct search {
    const struct oracle_case *instance;
    struct oracle_rules rules;
    unsigned count[CORE_TYPES];
    struct node nodes[CORE_TYPES][MAX_NODES];
    unsigned calls[CORE_TYPES];           /* bit set of nodes */
    bool narrow;                          /* some node needs those of its own AI core */
    VEC(struct chain) chains[CORE_TYPES]; /* by sender; in order of their counts */
    struct plan plan, best;
    unsigned best_cost; /* of `best`, or one above the bound */
    bool found;
};

static unsigned below(unsigned bit)
{
    return (1u << bit) - 1;
}

/* -------------------------------------------------------------------------- evaluation ---- */

/* What a core of a type knows to be complete: nodes of each type on all AI cores, and on its own,
 * as bit sets. All cores of a type run the same program and know the same in this sense, so one
 * stands for all. Nobody knows less of the own AI core than of all: what a barrier tells of them,
 * each of its cores knew of itself. */
struct knowledge {
    unsigned drained; /* own nodes; a select or reset is complete at once */
    unsigned all[CORE_TYPES], own[CORE_TYPES];
};

/* Where a runner stands in its gap. */
enum stage { AT_HEAD, AT_WAIT, AT_NODE };

struct runner {
    struct knowledge known;
    unsigned gap;
    enum stage stage;
    unsigned waited; /* flags consumed */
    struct knowledge sent[MAX_GAPS];
    unsigned n_sent;
};

static bool take_flag(struct runner *runner, const struct runner *sender, unsigned sends)
{
    if (runner->waited == sender->n_sent)
        return false;
    const struct knowledge *there = &sender->sent[runner->waited++];
    for (unsigned type = 0; type < CORE_TYPES; type++) {
        runner->known.all[type] |= there->all[type];
        runner->known.own[type] |= there->own[type];
    }
    runner->known.own[sends] |= there->drained;
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
    if ((plan->barrier[type] | plan->drain[type]) & bit)
        known->drained = below(runner->gap);
    if (plan->barrier[type] & bit) {
        known->own[type] |= below(runner->gap);
        for (unsigned of = 0; of < CORE_TYPES; of++)
            known->all[of] |= known->own[of];
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
static bool run_node(const struct search *s, struct runner *runners, unsigned type)
{
    struct runner *runner = &runners[type], *other = &runners[1 - type];
    bool ends = runner->gap == s->count[type];
    const struct node *node = &s->nodes[type][ends ? 0 : runner->gap];
    unsigned partner = ends ? NONE : node->partner;
    if (partner != NONE &&
        (other->gap < partner || (other->gap == partner && other->stage < AT_NODE)))
        return false;
    if (!ends && node->kind != NODE_CALL)
        runner->known.drained |= 1u << runner->gap;
    runner->gap++;
    return true;
}

static bool may_start(const struct search *s, const struct runner *runner, unsigned type)
{
    if (runner->gap == s->count[type])
        return true;
    const struct node *node = &s->nodes[type][runner->gap];
    unsigned busy = s->calls[type] & below(runner->gap) & ~runner->known.drained;
    bool may = node->kind != NODE_CALL || !busy;
    for (unsigned of = 0; of < CORE_TYPES; of++)
        may = may && !(node->need[of] & ~runner->known.all[of]) &&
              !(node->need_own[of] & ~runner->known.own[of]);
    return may;
}

/* Follows a program as far as it gets. False where a node starts too early. */
static bool run_type(const struct search *s, const struct plan *plan, struct runner *runners,
                     unsigned type, bool *moved)
{
    struct runner *runner = &runners[type];
    for (bool passed = true; passed && runner->gap <= s->count[type]; *moved |= passed)
        switch (runner->stage) {
        case AT_HEAD:
            passed = run_head(plan, runners, type);
            runner->stage += passed;
            break;
        case AT_WAIT:
            passed = run_wait(plan, runners, type);
            runner->stage += passed;
            break;
        case AT_NODE:
            if (!may_start(s, runner, type))
                return false;
            passed = run_node(s, runners, type);
            runner->stage = passed ? AT_HEAD : AT_NODE;
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
    return runners[0].gap > s->count[0] && runners[1].gap > s->count[1];
}

/* ------------------------------------------------------------------------------- costs ---- */

static unsigned gap_cost(const struct plan *plan, unsigned type, unsigned gap)
{
    return (plan->barrier[type] >> gap & 1) * ORACLE_BARRIER_COST +
           (plan->drain[type] >> gap & 1) * ORACLE_DRAIN_COST;
}

static unsigned plan_cost(const struct search *s, const struct plan *plan)
{
    unsigned cost = 0;
    for (unsigned type = 0; type < CORE_TYPES; type++) {
        cost += plan->sent[type].count * ORACLE_FLAG_COST;
        for (unsigned gap = 0; gap <= s->count[type]; gap++)
            cost += gap_cost(plan, type, gap);
    }
    return cost;
}

/* ------------------------------------------------------------------------------ chains ---- */

/* Whether each required order from the sender's type to the other one has a flag that is set behind
 * it and waited for before it. Whatever way knowledge takes, it last comes by such a flag. */
static bool covers(const struct search *s, unsigned sender, const unsigned *set,
                   const unsigned *wait, unsigned count)
{
    for (unsigned at = 0; at < s->count[1 - sender]; at++) {
        const struct node *node = &s->nodes[1 - sender][at];
        unsigned brought = 0;
        for (unsigned i = 0; i < count && wait[i] <= at; i++)
            brought = set[i];
        if ((node->need[sender] | node->need_own[sender]) & ~below(brought))
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

/* Without selects and resets. */
static bool is_admissible(const struct search *s, unsigned sender, unsigned set, unsigned wait)
{
    unsigned from = s->nodes[sender][set - 1].op, to = s->nodes[1 - sender][wait].op;
    return s->instance->ops[to].needs >> from & 1;
}

static unsigned find_node(const struct search *s, unsigned type, unsigned kind, unsigned op)
{
    for (unsigned i = 0; i < s->count[type]; i++)
        if (s->nodes[type][i].kind == kind && s->nodes[type][i].op == op)
            return i;
    return NONE;
}

/* Whether no flag is outstanding where calls use the flags themselves. */
static bool is_clear(const struct search *s, unsigned sender, unsigned sets, unsigned waits)
{
    bool clear = true;
    for (unsigned op = 0; op < s->instance->count; op++) {
        if (!s->instance->ops[op].full)
            continue;
        unsigned set = find_node(s, sender, NODE_CALL, op);
        unsigned wait = find_node(s, 1 - sender, NODE_CALL, op);
        clear = clear && __builtin_popcount(sets & below(set + 1)) ==
                             __builtin_popcount(waits & below(wait + 1));
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
        vec_push(&s->chains[sender], (struct chain){sets, waits, count});
}

static void find_chains(struct search *s, unsigned sender)
{
    unsigned senders = s->count[sender], receivers = s->count[1 - sender];
    for (unsigned count = 0; count <= senders && count <= receivers; count++)
        for (unsigned sets = 0; sets < 1u << senders; sets++)
            for (unsigned waits = 0; waits < 1u << receivers; waits++)
                if ((unsigned)__builtin_popcount(sets) == count &&
                    (unsigned)__builtin_popcount(waits) == count)
                    add_chain(s, sender, sets << 1, waits);
}

/* ------------------------------------------------------------------------------ search ---- */

/* Gaps that may do without a barrier: those between nodes, and that behind the last where a set
 * stands there. Before the first node a barrier spreads what a wait brought, or is of no use. Waits
 * come first without one for a set alone. */
static unsigned open_gaps(const struct search *s, const struct plan *plan, unsigned type)
{
    unsigned last = 1u << s->count[type], gaps = (last - 1) & ~1u;
    unsigned relays = s->narrow ? plan->sent[type].sets : 0;
    return (gaps | (plan->sent[type].sets & last)) & ~(plan->spread[type] & ~relays);
}

/* Between two calls without a barrier there is at least a drain: calls behind `gap` that have
 * another before them there, or in the node before the gap. */
static unsigned least_drains(const struct search *s, unsigned type, unsigned gap)
{
    unsigned from = gap ? gap - 1 : 0;
    unsigned calls = (unsigned)__builtin_popcount(s->calls[type] & ~below(from));
    return calls ? calls - 1 : 0;
}

/* What the gaps of both types from `gap` on cost less at best, if those that are open have barriers
 * now: one that is not open may drain as well. `gap` counts those of AICs, then those of AIVs. */
static unsigned saveable_from(const struct search *s, unsigned gap)
{
    unsigned saveable = 0;
    for (unsigned type = gap / MAX_GAPS; type < CORE_TYPES; type++) {
        unsigned from = type == gap / MAX_GAPS ? gap % MAX_GAPS : 0;
        unsigned open = open_gaps(s, &s->plan, type) & ~below(from);
        unsigned fixed = s->plan.barrier[type] & ~open & ~below(from);
        unsigned cost = (unsigned)__builtin_popcount(open) * ORACLE_BARRIER_COST;
        unsigned drains = least_drains(s, type, from), kept = (unsigned)__builtin_popcount(fixed);
        saveable += cost - (drains > kept ? drains - kept : 0) * ORACLE_DRAIN_COST;
    }
    return saveable;
}

/* Whether the core's pipes may be busy in a gap, by the gaps before it. */
static bool is_busy(const struct search *s, unsigned type, unsigned gap)
{
    unsigned before = below(gap), drained = (s->plan.barrier[type] | s->plan.drain[type]) & before;
    unsigned calls = s->calls[type] & before;
    return calls && (!drained || 32 - __builtin_clz(calls) > 31 - __builtin_clz(drained));
}

/* Takes barriers away one after the other, or leaves a drain, as long as the programs stay correct.
 * What is not decided yet has a barrier. */
static void take_barriers(struct search *s, unsigned cost, unsigned gap)
{
    if (cost - saveable_from(s, gap) >= s->best_cost)
        return;
    if (gap == CORE_TYPES * MAX_GAPS) {
        s->best = s->plan;
        s->best_cost = cost;
        s->found = true;
        return;
    }
    unsigned type = gap / MAX_GAPS, bit = 1u << gap % MAX_GAPS;
    if (!(open_gaps(s, &s->plan, type) & bit)) {
        take_barriers(s, cost, gap + 1);
        return;
    }
    s->plan.barrier[type] &= ~bit;
    if (is_correct(s, &s->plan))
        take_barriers(s, cost - ORACLE_BARRIER_COST, gap + 1);
    s->plan.drain[type] |= bit;
    if (is_busy(s, type, gap % MAX_GAPS) && is_correct(s, &s->plan))
        take_barriers(s, cost - ORACLE_BARRIER_COST + ORACLE_DRAIN_COST, gap + 1);
    s->plan.drain[type] &= ~bit;
    s->plan.barrier[type] |= bit;
    take_barriers(s, cost, gap + 1);
}

static void try_spread(struct search *s)
{
    for (unsigned type = 0; type < CORE_TYPES; type++)
        s->plan.barrier[type] = open_gaps(s, &s->plan, type) | s->plan.spread[type];
    unsigned cost = plan_cost(s, &s->plan);
    if (cost - saveable_from(s, 0) < s->best_cost && is_correct(s, &s->plan))
        take_barriers(s, cost, 0);
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
    unsigned drains = least_drains(s, CORE_AIC, 0) + least_drains(s, CORE_AIV, 0);
    return drains * ORACLE_DRAIN_COST + flags * ORACLE_FLAG_COST;
}

static void search_all(struct search *s)
{
    for (uint32_t c = 0; c < s->chains[CORE_AIC].count; c++)
        for (uint32_t v = 0; v < s->chains[CORE_AIV].count; v++) {
            const struct chain *c2v = &s->chains[CORE_AIC].at[c], *v2c = &s->chains[CORE_AIV].at[v];
            if (least_cost(s, c2v->count + v2c->count) >= s->best_cost)
                break;
            try_chains(s, c2v, v2c);
        }
}

/* ---------------------------------------------------------------------------- instances ---- */

/* Which cores of a type run a node. */
enum extent { ALL_CORES, FIRST_AI_CORE, CORE_ZERO };

static enum extent extent_of(const struct oracle_case *instance, const struct node *node,
                             unsigned type)
{
    unsigned per_block = instance->per_block[type], cores = instance->blocks * per_block;
    if (node->kind == NODE_RESET)
        return CORE_ZERO;
    if (node->kind == NODE_CALL) {
        const struct oracle_op *of = &instance->ops[node->op];
        cores = of->flat ? of->blocks : of->blocks * per_block;
    }
    if (cores == 1)
        return CORE_ZERO;
    return cores <= per_block ? FIRST_AI_CORE : ALL_CORES;
}

/* The core type that resets the lock of a dynamic op. */
static unsigned main_type(const struct oracle_op *op)
{
    return op->on[CORE_AIC] ? CORE_AIC : CORE_AIV;
}

/* Whether a node comes behind another: a call behind the calls that its op needs, a reset behind
 * all selects of the ops whose locks it resets. */
static bool is_behind(const struct oracle_case *instance, unsigned type, const struct node *later,
                      const struct node *earlier)
{
    if (later->kind == NODE_CALL)
        return earlier->kind == NODE_CALL && (instance->ops[later->op].needs >> earlier->op & 1);
    return later->kind == NODE_RESET && earlier->kind == NODE_SELECT &&
           main_type(&instance->ops[earlier->op]) == type;
}

/* What a node needs of another. Between calls, and before a reset of what it selected itself, a
 * core needs nobody. */
static void find_need(struct search *s, unsigned type, unsigned at, unsigned of, unsigned other)
{
    struct node *later = &s->nodes[type][at];
    const struct node *earlier = &s->nodes[of][other];
    enum extent extent = extent_of(s->instance, later, type);
    enum extent before = extent_of(s->instance, earlier, of);
    if (!is_behind(s->instance, type, later, earlier) ||
        (type == of && extent == CORE_ZERO && before == CORE_ZERO))
        return;
    if (extent == ALL_CORES || before == ALL_CORES) {
        later->need[of] |= 1u << other;
    } else {
        later->need_own[of] |= 1u << other;
        s->narrow = true;
    }
}

static void find_needs(struct search *s, unsigned type, unsigned at)
{
    for (unsigned of = 0; of < CORE_TYPES; of++)
        for (unsigned other = 0; other < s->count[of]; other++)
            find_need(s, type, at, of, other);
}

static void add_node(struct search *s, unsigned type, unsigned kind, unsigned op)
{
    if (kind == NODE_CALL)
        s->calls[type] |= 1u << s->count[type];
    s->nodes[type][s->count[type]++] = (struct node){.kind = kind, .op = op, .partner = NONE};
}

static void add_nodes(struct search *s, unsigned type)
{
    bool locks = false;
    for (unsigned op = 0; op < s->instance->count; op++) {
        const struct oracle_op *of = &s->instance->ops[op];
        locks |= of->dynamic && main_type(of) == type;
        if (of->on[type] && of->dynamic)
            add_node(s, type, NODE_SELECT, op);
        if (of->on[type])
            add_node(s, type, NODE_CALL, op);
    }
    if (locks)
        add_node(s, type, NODE_RESET, NONE);
}

static void search_init(struct search *s, const struct oracle_case *instance,
                        struct oracle_rules rules, unsigned bound)
{
    memset(s, 0, sizeof *s);
    s->instance = instance;
    s->rules = rules;
    s->best_cost = bound + 1;
    for (unsigned type = 0; type < CORE_TYPES; type++)
        add_nodes(s, type);
    for (unsigned type = 0; type < CORE_TYPES; type++)
        for (unsigned at = 0; at < s->count[type]; at++) {
            struct node *node = &s->nodes[type][at];
            find_needs(s, type, at);
            if (node->kind == NODE_CALL)
                node->partner = find_node(s, 1 - type, NODE_CALL, node->op);
        }
    for (unsigned type = 0; type < CORE_TYPES; type++)
        find_chains(s, type);
}

static void search_free(struct search *s)
{
    for (unsigned type = 0; type < CORE_TYPES; type++)
        vec_free(&s->chains[type]);
    mem_free(s);
}

static void add_instr(struct sync_program *program, enum instr_effect effect, unsigned arg)
{
    vec_push(program, (struct sync_instr){.effect = effect, .arg = arg});
}

static void write_node(struct sync_program *program, const struct search *s, unsigned type,
                       const struct node *node)
{
    unsigned count = s->instance->count;
    struct sync_instr instr = {.effect = EFFECT_EVENT};
    if (node->kind == NODE_CALL) {
        const struct oracle_op *of = &s->instance->ops[node->op];
        instr = (struct sync_instr){.effect = EFFECT_CALL,
                                    .arg = node->op,
                                    .blocks = of->blocks,
                                    .flat = of->flat,
                                    .full = of->full};
    } else if (node->kind == NODE_SELECT) {
        instr.arg = oracle_select(count, node->op);
    } else {
        instr.arg = oracle_reset(count, type);
        instr.blocks = 1;
        instr.flat = type == CORE_AIV;
    }
    vec_push(program, instr);
}

static void write_program(struct sync_program *program, const struct search *s, unsigned type)
{
    const struct plan *plan = &s->best;
    for (unsigned gap = 0; gap <= s->count[type]; gap++) {
        unsigned waits = plan->sent[1 - type].waits >> gap & 1;
        unsigned spread = plan->spread[type] >> gap & 1;
        if (waits && spread)
            add_instr(program, EFFECT_WAIT, 1 - type);
        if (plan->barrier[type] >> gap & 1) {
            add_instr(program, EFFECT_ARRIVE, 0);
            add_instr(program, EFFECT_AWAIT, 0);
        } else if (plan->drain[type] >> gap & 1) {
            add_instr(program, EFFECT_DRAIN, 0);
        }
        if (plan->sent[type].sets >> gap & 1)
            add_instr(program, EFFECT_SET, type);
        if (waits && !spread)
            add_instr(program, EFFECT_WAIT, 1 - type);
        if (gap < s->count[type])
            write_node(program, s, type, &s->nodes[type][gap]);
    }
}

bool oracle_search(struct oracle_result *result, const struct oracle_case *instance,
                   struct oracle_rules rules, unsigned bound)
{
    struct search *s = mem_realloc(NULL, 1, sizeof *s);
    search_init(s, instance, rules, bound);
    memset(result, 0, sizeof *result);
    assert(s->chains[CORE_AIC].count && s->chains[CORE_AIV].count);
    result->fewest_flags = s->chains[CORE_AIC].at[0].count + s->chains[CORE_AIV].at[0].count;
    search_all(s);
    bool found = s->found;
    if (found) {
        result->cost = s->best_cost;
        for (unsigned type = 0; type < CORE_TYPES; type++) {
            result->flags += s->best.sent[type].count;
            write_program(&result->programs[type], s, type);
        }
    }
    search_free(s);
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
        cost += program->at[i].effect != EFFECT_CALL && program->at[i].effect != EFFECT_EVENT;
    return cost;
}
