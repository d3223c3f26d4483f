/* The race check: what each core of a launch knows to be complete, and what is missing at calls.
 *
 * Each core has a clock: for every core of the launch, how many of its calls are known to be
 * complete there. Its own number says what has drained, which is all that a flag or an event passes
 * on; an arrival passes on every call before it. Barriers, flags and events carry copies of clocks
 * to the cores that they release. What a core knows at a call does not depend on the order in which
 * cores ran, apart from events: so neither does the verdict.
 *
 * Everything here needs the device's lock. Whoever releases a blocked core changes its clock. */
#include "backend/runtime/race.h"

#include <stdlib.h>
#include <string.h>

#include "backend/runtime/core.h"

enum { SKRT_MAX_FINDINGS = 20 }; /* that are kept; all are counted */

/* A copy of what a core knew, on its way to others. */
struct skrt_clock {
    struct skrt_clock *next;  /* the following round or release, or in the free list */
    struct skrt_clock *older; /* all of the launch are linked by this */
    uint32_t left;            /* of a barrier's round: cores that have not awaited it yet */
    uint32_t known[];         /* by core */
};

struct skrt_releases {
    struct skrt_clock *first, *last;
};

/* An event that a core of the launch has sent. */
struct skrt_event {
    struct skrt_event *next;
    const void *word;
    struct skrt_clock *clock;
};

struct skrt_knowledge {
    uint32_t *known;    /* by core: calls that are complete; for itself: that have drained */
    uint32_t undrained; /* the number of its last call if that may not have drained; else 0 */
    struct skrt_clock *arrival, *awaited; /* the rounds that it arrives at, and awaits, next */
    /* An AIV's only, for both directions. Flags of sub-kernels order nothing outside. */
    struct skrt_releases releases[SKRT_ENTRY_FLAGS];
};

/* What was not known at a call, on all cores where it was not. */
struct skrt_finding {
    uint32_t op, before;
    enum skrt_core_type type, before_type;
    bool undrained; /* `before` is the call before on the same core, which has not drained */
    bool *missing;  /* by core of `type`, and by core of `before_type` */
};

struct skrt_race {
    const struct skrt_job *job;
    const struct skrt_race_check *check;
    uint32_t cores;
    uint32_t *words; /* `known` of all cores */
    struct skrt_knowledge *states;
    struct skrt_clock *clocks, *free_clocks;
    struct skrt_event *events;

    uint32_t *number[SKRT_CORE_TYPES];      /* by op: that of its call; 0: none */
    struct skrt_call *ran[SKRT_CORE_TYPES]; /* by call: as it was executed; 0 blocks: not yet */
    uint32_t *first, *orders; /* orders of op i: orders[first[i]] .. orders[first[i + 1] - 1] */

    uint8_t *found;                    /* by order: a bit for each pair of core types */
    uint8_t *found_undrained;          /* by op: a bit for each core type */
    uint32_t broken, undrained, total; /* orders, ops, and all bits */
    uint32_t n_findings;
    struct skrt_finding
        findings[SKRT_MAX_FINDINGS]; /* the first ones, in the order of finding_compare */
};

static struct skrt_race *skrt_race_of(const struct skrt_core *core)
{
    assert(core->device->locked && core->job->race);
    return core->job->race;
}

/* A core's number among all of the launch. */
static uint32_t skrt_race_id(const struct skrt_race *race, enum skrt_core_type type, uint32_t index)
{
    assert(index < race->job->launched[type]);
    return type == SKRT_AIC ? index : race->job->launched[SKRT_AIC] + index;
}

static struct skrt_knowledge *skrt_race_state(const struct skrt_core *core)
{
    struct skrt_race *race = skrt_race_of(core);
    return &race->states[skrt_race_id(race, core->type, core->index)];
}

/* The op of a call, and the call as it was executed, by its number. */
static uint32_t skrt_race_op(const struct skrt_race *race, enum skrt_core_type type,
                             uint64_t number)
{
    assert(0 < number && number <= race->check->n_calls[type]);
    return race->check->calls[type][number - 1];
}

static struct skrt_call *skrt_race_ran(const struct skrt_race *race, enum skrt_core_type type,
                                       uint64_t number)
{
    assert(0 < number && number <= race->check->n_calls[type]);
    return &race->ran[type][number - 1];
}

const char skrt_race_no_memory[] = "the race check has no memory to follow this launch";

/* There is no memory for what the core does: it fails. */
static void skrt_race_exhausted(struct skrt_core *core)
{
    skrt_core_fail(core, SKRT_MISUSE, "%s", skrt_race_no_memory);
}

/* ------------------------------------------------------------- clocks ---- */

/* A clock that knows nothing; NULL without memory. There are never more than 45 a core: flags need
 * up to 30, and a core is at most 15 rounds of its barrier ahead. */
static struct skrt_clock *clock_new(struct skrt_race *race)
{
    struct skrt_clock *clock = race->free_clocks;
    size_t size = race->cores * sizeof clock->known[0];
    if (clock) {
        race->free_clocks = clock->next;
    } else {
        clock = malloc(sizeof *clock + size);
        if (!clock)
            return NULL;
        clock->older = race->clocks;
        race->clocks = clock;
    }
    clock->next = NULL;
    memset(clock->known, 0, size);
    return clock;
}

static void clock_drop(struct skrt_race *race, struct skrt_clock *clock)
{
    clock->next = race->free_clocks;
    race->free_clocks = clock;
}

static void join(const struct skrt_race *race, uint32_t *known, const uint32_t *more)
{
    for (uint32_t i = 0; i < race->cores; i++)
        known[i] = known[i] < more[i] ? more[i] : known[i];
}

/* A round of the barrier of a type. */
static struct skrt_clock *round_new(struct skrt_race *race, enum skrt_core_type type)
{
    struct skrt_clock *round = clock_new(race);
    if (round)
        round->left = race->job->launched[type];
    return round;
}

/* ------------------------------------------------- opening and closing ---- */

bool skrt_race_fits(const struct skrt_race_check *check)
{
    for (uint32_t i = 0; i < check->n_orders; i++)
        if (check->orders[i].before >= check->n_ops || check->orders[i].op >= check->n_ops)
            return false;
    for (int type = 0; type < SKRT_CORE_TYPES; type++)
        for (uint32_t i = 0; i < check->n_calls[type]; i++)
            if (check->calls[type][i] >= check->n_ops)
                return false;
    return true;
}

static void *allocate(size_t n, size_t size)
{
    return calloc(n ? n : 1, size);
}

static bool race_allocate(struct skrt_race *race)
{
    const struct skrt_race_check *check = race->check;
    race->words = allocate((size_t)race->cores * race->cores, sizeof *race->words);
    race->states = allocate(race->cores, sizeof *race->states);
    race->first = allocate((size_t)check->n_ops + 1, sizeof *race->first);
    race->orders = allocate(check->n_orders, sizeof *race->orders);
    race->found = allocate(check->n_orders, sizeof *race->found);
    race->found_undrained = allocate(check->n_ops, sizeof *race->found_undrained);
    bool ok = race->words && race->states && race->first && race->orders && race->found &&
              race->found_undrained;
    for (int type = 0; type < SKRT_CORE_TYPES; type++) {
        race->number[type] = allocate(check->n_ops, sizeof *race->number[type]);
        race->ran[type] = allocate(check->n_calls[type], sizeof *race->ran[type]);
        ok = ok && race->number[type] && race->ran[type];
    }
    return ok;
}

/* Finds calls by their op, and orders by the op that they are required of. */
static void index_check(struct skrt_race *race)
{
    const struct skrt_race_check *check = race->check;
    for (int type = 0; type < SKRT_CORE_TYPES; type++)
        for (uint32_t i = 0; i < check->n_calls[type]; i++)
            race->number[type][check->calls[type][i]] = i + 1;
    for (uint32_t i = 0; i < check->n_orders; i++)
        race->first[check->orders[i].op]++;
    for (uint32_t op = 1; op <= check->n_ops; op++)
        race->first[op] += race->first[op - 1];
    assert(race->first[check->n_ops] == check->n_orders);
    for (uint32_t i = check->n_orders; i-- > 0;)
        race->orders[--race->first[check->orders[i].op]] = i;
}

static bool states_init(struct skrt_race *race)
{
    for (int type = 0; type < SKRT_CORE_TYPES; type++) {
        uint32_t n = race->job->launched[type];
        struct skrt_clock *round = n > 0 ? round_new(race, (enum skrt_core_type)type) : NULL;
        if (n > 0 && !round)
            return false;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t id = skrt_race_id(race, (enum skrt_core_type)type, i);
            race->states[id] =
                (struct skrt_knowledge){.known = race->words + (size_t)id * race->cores,
                                        .arrival = round,
                                        .awaited = round};
        }
    }
    return true;
}

bool skrt_race_open(struct skrt_job *job)
{
    const struct skrt_race_check *check = job->launch->race;
    struct skrt_race *race = job->race = calloc(1, sizeof *race);
    if (!race)
        return false;
    race->job = job;
    race->check = check;
    race->cores = job->launched[SKRT_AIC] + job->launched[SKRT_AIV];
    if (race_allocate(race) && states_init(race)) {
        index_check(race);
        return true;
    }
    skrt_race_close(job);
    return false;
}

void skrt_race_close(struct skrt_job *job)
{
    struct skrt_race *race = job->race;
    job->race = NULL;
    if (!race)
        return;
    for (struct skrt_clock *clock = race->clocks, *older; clock; clock = older) {
        older = clock->older;
        free(clock);
    }
    for (struct skrt_event *event = race->events, *next; event; event = next) {
        next = event->next;
        free(event);
    }
    for (uint32_t i = 0; i < race->n_findings; i++)
        free(race->findings[i].missing);
    for (int type = 0; type < SKRT_CORE_TYPES; type++) {
        free(race->number[type]);
        free(race->ran[type]);
    }
    free(race->words);
    free(race->states);
    free(race->first);
    free(race->orders);
    free(race->found);
    free(race->found_undrained);
    free(race);
}

/* ---------------------------------------------- barriers and drained calls ---- */

/* All calls that the core has gone through have drained. */
static void drain(struct skrt_core *core)
{
    struct skrt_knowledge *state = skrt_race_state(core);
    uint32_t complete = (uint32_t)core->calls - (core->call ? 1 : 0);
    uint32_t *own = &state->known[skrt_race_id(skrt_race_of(core), core->type, core->index)];
    *own = *own < complete ? complete : *own;
    if (state->undrained <= complete)
        state->undrained = 0;
}

void skrt_race_drain(struct skrt_core *core)
{
    skrt_core_enter(core);
    drain(core);
    skrt_core_leave(core);
}

/* An arrival inside of a call is its author's word for what was done before. */
void skrt_race_arrive(struct skrt_core *core)
{
    skrt_core_enter(core);
    struct skrt_race *race = skrt_race_of(core);
    struct skrt_knowledge *state = skrt_race_state(core);
    struct skrt_clock *round = state->arrival;
    if (!round->next && !(round->next = round_new(race, core->type)))
        skrt_race_exhausted(core);
    join(race, round->known, state->known);
    round->known[skrt_race_id(race, core->type, core->index)] = (uint32_t)core->calls;
    state->arrival = round->next;
    skrt_core_leave(core);
}

void skrt_race_await(struct skrt_core *core)
{
    skrt_core_enter(core);
    struct skrt_knowledge *state = skrt_race_state(core);
    struct skrt_clock *round = state->awaited;
    assert(round->next && round->left > 0); /* this core has arrived as well */
    state->awaited = round->next;
    join(skrt_race_of(core), state->known, round->known);
    if (--round->left == 0)
        clock_drop(skrt_race_of(core), round);
    /* What it called before its own arrival, which the round has, is drained. */
    if (state->undrained <= state->known[skrt_race_id(skrt_race_of(core), core->type, core->index)])
        state->undrained = 0;
    skrt_core_leave(core);
}

/* ---------------------------------------------------- flags and events ---- */

void skrt_race_set(struct skrt_core *core, struct skrt_core *aiv, enum skrt_flag flag)
{
    if (skrt_flag_table[flag].kernel)
        return;
    struct skrt_releases *releases = &skrt_race_state(aiv)->releases[flag];
    struct skrt_clock *clock = clock_new(skrt_race_of(core));
    if (!clock)
        skrt_race_exhausted(core);
    join(skrt_race_of(core), clock->known, skrt_race_state(core)->known);
    if (releases->first)
        releases->last->next = clock;
    else
        releases->first = clock;
    releases->last = clock;
}

void skrt_race_take(struct skrt_core *core, struct skrt_core *aiv, enum skrt_flag flag)
{
    if (skrt_flag_table[flag].kernel)
        return;
    struct skrt_releases *releases = &skrt_race_state(aiv)->releases[flag];
    struct skrt_clock *clock = releases->first;
    assert(clock); /* one for each release that is outstanding */
    releases->first = clock->next;
    join(skrt_race_of(core), skrt_race_state(core)->known, clock->known);
    clock_drop(skrt_race_of(core), clock);
}

static struct skrt_event **find_event(struct skrt_race *race, const void *word)
{
    struct skrt_event **link = &race->events;
    while (*link && (*link)->word != word)
        link = &(*link)->next;
    return link;
}

/* NULL without memory. */
static struct skrt_event *event_new(struct skrt_race *race, const void *word)
{
    struct skrt_event *event = malloc(sizeof *event);
    struct skrt_clock *clock = event ? clock_new(race) : NULL;
    if (!clock) {
        free(event);
        return NULL;
    }
    *event = (struct skrt_event){.word = word, .clock = clock};
    return event;
}

/* Cores that wait are released now, even if the event is reset before they go on. */
void skrt_race_notify(struct skrt_core *core, const void *word)
{
    struct skrt_race *race = skrt_race_of(core);
    struct skrt_event **event = find_event(race, word);
    if (!*event && !(*event = event_new(race, word)))
        skrt_race_exhausted(core);
    join(race, (*event)->clock->known, skrt_race_state(core)->known);
    for (const struct skrt_core *waiter = core->device->event_waiters.first; waiter;
         waiter = waiter->next)
        if (waiter->job == core->job && waiter->word == word)
            join(race, skrt_race_state(waiter)->known, (*event)->clock->known);
}

void skrt_race_wait_event(struct skrt_core *core, const void *word)
{
    struct skrt_event *event = *find_event(skrt_race_of(core), word);
    if (event)
        join(skrt_race_of(core), skrt_race_state(core)->known, event->clock->known);
}

void skrt_race_reset(struct skrt_core *core, const void *word)
{
    struct skrt_event **link = find_event(skrt_race_of(core), word), *event = *link;
    if (!event)
        return;
    *link = event->next;
    clock_drop(skrt_race_of(core), event->clock);
    free(event);
}

/* The race check: which calls start without knowing enough, and the words for it. */

/* ------------------------------------------------------------ findings ---- */

static int compare(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

/* By op in list order; what has not drained comes first. */
static int finding_compare(const struct skrt_finding *a, const struct skrt_finding *b)
{
    int order = compare(a->op, b->op);
    order = order ? order : compare(b->undrained, a->undrained);
    order = order ? order : compare(a->before, b->before);
    order = order ? order : compare(a->type, b->type);
    return order ? order : compare(a->before_type, b->before_type);
}

/* Keeps what a core finds, at its place; the last one goes where there are too many. */
static void finding_insert(struct skrt_core *core, struct skrt_finding *at,
                           const struct skrt_finding *finding)
{
    struct skrt_race *race = skrt_race_of(core);
    struct skrt_finding *end = race->findings + race->n_findings;
    assert(race->findings <= at && at <= end && at < race->findings + SKRT_MAX_FINDINGS);
    const uint32_t *launched = race->job->launched;
    bool *missing = calloc((size_t)launched[finding->type] * launched[finding->before_type], 1);
    if (!missing)
        skrt_race_exhausted(core);
    if (race->n_findings == SKRT_MAX_FINDINGS)
        free((--end)->missing);
    else
        race->n_findings++;
    memmove(at + 1, at, (size_t)(end - at) * sizeof *at);
    *at = *finding;
    at->missing = missing;
}

/* The place for what a core finds among the findings that are kept, which are the first ones; NULL
 * where there are enough before it. */
static struct skrt_finding *finding_place(struct skrt_core *core,
                                          const struct skrt_finding *finding)
{
    struct skrt_race *race = skrt_race_of(core);
    struct skrt_finding *at = race->findings, *end = at + race->n_findings;
    while (at < end && finding_compare(at, finding) < 0)
        at++;
    if (at == race->findings + SKRT_MAX_FINDINGS)
        return NULL;
    if (at == end || finding_compare(at, finding) != 0)
        finding_insert(core, at, finding);
    return at;
}

/* Counts a bit that was not found before. */
static void count_bit(struct skrt_race *race, uint8_t *found, unsigned bit, uint32_t *objects)
{
    *objects += *found == 0;
    race->total += !(*found >> bit & 1);
    *found = (uint8_t)(*found | 1 << bit);
}

static void check_drained(struct skrt_core *core, uint32_t op)
{
    struct skrt_race *race = skrt_race_of(core);
    uint32_t undrained = skrt_race_state(core)->undrained;
    if (undrained == 0)
        return;
    count_bit(race, &race->found_undrained[op], core->type, &race->undrained);
    struct skrt_finding key = {.op = op,
                               .before = skrt_race_op(race, core->type, undrained),
                               .type = core->type,
                               .before_type = core->type,
                               .undrained = true};
    struct skrt_finding *finding = finding_place(core, &key);
    if (finding)
        finding->missing[core->index * race->job->launched[core->type] + core->index] = true;
}

/* Marks the cores of a type where the core does not know a call to be complete, as far as that call
 * includes them. What is not executed anywhere yet may include any. Of its own calls, it knows
 * those that it has gone through: whether they have drained is a finding of its own. Returns
 * whether there is one to mark. */
static bool mark_missing(const struct skrt_core *core, enum skrt_core_type type, uint32_t number,
                         bool *missing)
{
    const struct skrt_race *race = skrt_race_of(core);
    const struct skrt_core *cores = core->job->cores[type];
    const struct skrt_call *ran = skrt_race_ran(race, type, number);
    const uint32_t *known = skrt_race_state(core)->known;
    bool any = false;
    for (uint32_t i = 0; i < race->job->launched[type]; i++) {
        uint64_t knows = &cores[i] == core ? core->calls - 1 : known[skrt_race_id(race, type, i)];
        bool is_missing =
            knows < number && (ran->blocks == 0 || skrt_core_included(&cores[i], ran));
        any = any || is_missing;
        if (missing)
            missing[i] = is_missing;
    }
    return any;
}

/* Whether an op is known to be complete on the cores of a type. */
static void check_order(struct skrt_core *core, uint32_t order, enum skrt_core_type type)
{
    struct skrt_race *race = skrt_race_of(core);
    const struct skrt_order *required = &race->check->orders[order];
    uint32_t number = race->number[type][required->before];
    if (number == 0 || !mark_missing(core, type, number, NULL))
        return;
    count_bit(race, &race->found[order], core->type * SKRT_CORE_TYPES + type, &race->broken);
    struct skrt_finding key = {
        .op = required->op, .before = required->before, .type = core->type, .before_type = type};
    struct skrt_finding *finding = finding_place(core, &key);
    if (finding)
        mark_missing(core, type, number,
                     finding->missing + (size_t)core->index * race->job->launched[type]);
}

static void check_orders(struct skrt_core *core, uint32_t op)
{
    const struct skrt_race *race = skrt_race_of(core);
    for (uint32_t i = race->first[op]; i < race->first[op + 1]; i++)
        for (int type = 0; type < SKRT_CORE_TYPES; type++)
            check_order(core, race->orders[i], (enum skrt_core_type)type);
}

/* --------------------------------------------------------------- calls ---- */

static void follow_call(struct skrt_core *core, const struct skrt_call *call, bool included)
{
    struct skrt_race *race = skrt_race_of(core);
    struct skrt_knowledge *state = skrt_race_state(core);
    if (core->calls > race->check->n_calls[core->type])
        skrt_core_fail(core, SKRT_MISUSE, "the race check does not know this call");
    *skrt_race_ran(race, core->type, core->calls) = *call;
    if (included) {
        uint32_t op = skrt_race_op(race, core->type, core->calls);
        check_drained(core, op);
        state->undrained = (uint32_t)core->calls;
        check_orders(core, op);
    } else if (state->undrained == 0) {
        state->known[skrt_race_id(race, core->type, core->index)] = (uint32_t)core->calls;
    }
}

void skrt_race_call(struct skrt_core *core, const struct skrt_call *call, bool included)
{
    skrt_core_enter(core);
    follow_call(core, call, included);
    skrt_core_leave(core);
}

/* ------------------------------------------------------------- reports ---- */

bool skrt_race_found(const struct skrt_job *job)
{
    return job->race && job->race->total > 0;
}

void skrt_race_cause(const struct skrt_job *job, char *text, size_t size)
{
    const struct skrt_race *race = job->race;
    int n = 0;
    if (race->broken > 0)
        n = snprintf(text, size, "%u required order%s not enforced", race->broken,
                     race->broken == 1 ? " is" : "s are");
    if (race->undrained > 0 && n >= 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, "%s%u op%s where the call before has not drained",
                 n > 0 ? ", " : "", race->undrained, race->undrained == 1 ? " starts" : "s start");
}

/* The cores that a finding's op started on without knowing, and where they did not know it. Calls
 * that were not executed yet then, and may have been since, say now whom they include. */
struct situation {
    bool started[SKRT_MAX_CORES], missing[SKRT_MAX_CORES];
    uint32_t first; /* core that started, or how many there are */
    bool alike;     /* all of them miss the same */
};

static bool is_missing(const struct skrt_race *race, const struct skrt_finding *finding,
                       uint32_t core, uint32_t at)
{
    const struct skrt_job *job = race->job;
    uint32_t number = race->number[finding->before_type][finding->before];
    const struct skrt_call *ran = skrt_race_ran(race, finding->before_type, number);
    return finding->missing[(size_t)core * job->launched[finding->before_type] + at] &&
           (ran->blocks == 0 || skrt_core_included(&job->cores[finding->before_type][at], ran));
}

static void sum_up(const struct skrt_race *race, const struct skrt_finding *finding,
                   struct situation *situation)
{
    uint32_t n = race->job->launched[finding->type];
    uint32_t before = race->job->launched[finding->before_type];
    memset(situation, 0, sizeof *situation);
    situation->alike = true;
    situation->first = n;
    for (uint32_t core = 0; core < n; core++) {
        for (uint32_t at = 0; at < before; at++) {
            bool missing = is_missing(race, finding, core, at);
            situation->started[core] |= missing;
            situation->missing[at] |= missing;
        }
        if (!situation->started[core])
            continue;
        if (situation->first == n)
            situation->first = core;
        for (uint32_t at = 0; at < before; at++)
            situation->alike &= is_missing(race, finding, core, at) ==
                                is_missing(race, finding, situation->first, at);
    }
}

static const char *op_name(const struct skrt_race *race, uint32_t op)
{
    const char *name = race->check->names ? race->check->names[op] : NULL;
    return name ? name : "?";
}

static void print_finding(FILE *out, const struct skrt_race *race,
                          const struct skrt_finding *finding)
{
    const uint32_t *launched = race->job->launched;
    struct situation situation;
    sum_up(race, finding, &situation);
    fputs("  ", out);
    skrt_print_cores(out, finding->type, situation.started, launched[finding->type]);
    if (finding->undrained) {
        fprintf(out, ": started %s before %s had drained there\n", op_name(race, finding->op),
                op_name(race, finding->before));
        return;
    }
    fprintf(out, ": started %s without knowing that %s was complete on ",
            op_name(race, finding->op), op_name(race, finding->before));
    if (situation.alike) {
        skrt_print_cores(out, finding->before_type, situation.missing,
                         launched[finding->before_type]);
    } else {
        bool missing[SKRT_MAX_CORES];
        for (uint32_t at = 0; at < launched[finding->before_type]; at++)
            missing[at] = is_missing(race, finding, situation.first, at);
        fputs("all cores, for example ", out);
        skrt_print_range(out, finding->type, situation.first, situation.first);
        fputs(" on ", out);
        skrt_print_cores(out, finding->before_type, missing, launched[finding->before_type]);
    }
    fputc('\n', out);
}

void skrt_race_print(FILE *out, const struct skrt_job *job)
{
    const struct skrt_race *race = job->race;
    for (uint32_t i = 0; i < race->n_findings; i++)
        print_finding(out, race, &race->findings[i]);
    if (race->total > race->n_findings)
        fprintf(out, "  and %u more of this kind\n", race->total - race->n_findings);
}
