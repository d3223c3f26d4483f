/* The race check: what each core of a launch knows to be complete (race_state.h). */
#include <stdlib.h>
#include <string.h>

#include "backend/runtime/race_state.h"

const char skrt_race_no_memory[] = "the race check has no memory to follow this launch";

void skrt_race_exhausted(struct skrt_core *core)
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
