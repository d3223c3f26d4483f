#include "passes/fusion/breaks.h"

#include <assert.h>

/* What counts most comes first: fixed and strict groups that break; launches, then groups that
 * break. Compared as two numbers. */
struct cost {
    uint64_t groups; /* fixed << 32 | strict */
    uint64_t parts;  /* launches << 32 | broken groups */
};

static const struct cost no_cost = {0, 0};
static const struct cost no_limit = {UINT64_MAX, UINT64_MAX};

static bool is_less(struct cost a, struct cost b)
{
    return a.groups != b.groups ? a.groups < b.groups : a.parts < b.parts;
}

static struct cost add_cost(struct cost a, struct cost b)
{
    return (struct cost){a.groups + b.groups, a.parts + b.parts};
}

/* What is left of `limit`, which is not less. */
static struct cost left_of(struct cost limit, struct cost spent)
{
    uint64_t groups = limit.groups - spent.groups;
    if (limit.parts >= spent.parts)
        return (struct cost){groups, limit.parts - spent.parts};
    return groups > 0 ? (struct cost){groups - 1, UINT64_MAX} : no_cost;
}

/* Knots that have been solved are known by two sums over their ops: that two knots have both in
 * common is as good as impossible, and would only cost launches. */
struct solved {
    uint64_t key[2]; /* both 0: an empty place */
    struct cost cost;
    uint32_t group; /* to be broken first; NONE: it costs `cost` at least, which was too much */
};

struct search {
    const struct schedule *schedule;
    struct knots knots;
    uint64_t budget;
    bool gave_up;
    struct solved *at; /* open addressing */
    uint32_t count, capacity;
};

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void knot_key(const struct knot *knot, uint64_t key[2])
{
    key[0] = key[1] = 1;
    for (uint32_t i = 0; i < knot->count; i++) {
        key[0] += mix(knot->ops[i] + 0x9e3779b97f4a7c15u);
        key[1] += mix(~(uint64_t)knot->ops[i] << 7);
    }
}

static struct solved *find_solved(struct solved *at, uint32_t capacity, const uint64_t key[2])
{
    uint32_t i = (uint32_t)key[0] & (capacity - 1);
    while ((at[i].key[0] | at[i].key[1]) && (at[i].key[0] != key[0] || at[i].key[1] != key[1]))
        i = (i + 1) & (capacity - 1);
    return &at[i];
}

static void grow_solved(struct search *search)
{
    uint32_t capacity = search->capacity ? 2 * search->capacity : 64;
    struct solved *at = mem_calloc(capacity, sizeof *at);
    for (uint32_t i = 0; i < search->capacity; i++)
        if (search->at[i].key[0] | search->at[i].key[1])
            *find_solved(at, capacity, search->at[i].key) = search->at[i];
    mem_free(search->at);
    search->at = at;
    search->capacity = capacity;
}

static void keep_solved(struct search *search, const uint64_t key[2], struct cost cost,
                        uint32_t group)
{
    if (2 * search->count >= search->capacity)
        grow_solved(search);
    struct solved *solved = find_solved(search->at, search->capacity, key);
    search->count += !(solved->key[0] | solved->key[1]);
    *solved = (struct solved){{key[0], key[1]}, cost, group};
}

/* ---------------------------------------------------------------------------- search ---- */

/* Of breaking a group of the knot of which `left` ops are left that may not leave it. */
static struct cost step_cost(const struct search *search, uint32_t group, uint32_t left)
{
    const struct schedule_group *g = &search->schedule->groups[group];
    struct cost cost = no_cost;
    if (left < g->work)
        return (struct cost){0, (uint64_t)g->cost.more << 32};
    if (g->cost.rank != BREAK_FREELY)
        cost.groups = g->cost.rank == BREAK_FIXED ? (uint64_t)1 << 32 : 1;
    cost.parts = (uint64_t)g->cost.first << 32 | 1;
    return cost;
}

struct choice {
    uint32_t group;
    bool leaves; /* it has ops that may leave it */
    struct cost step;
};

struct choices {
    struct choice *at;
    uint32_t count, capacity;
};

static void keep_one(struct choices *choices, uint32_t i)
{
    choices->at[0] = choices->at[i];
    choices->count = 1;
}

/* What remains of a knot behind a break, as knots. */
static struct knot_list rest_of(struct search *search, const struct knot *knot, uint32_t group)
{
    struct vec_u32 rest = {NULL, 0, 0};
    struct knot_list found = {NULL, 0, 0};
    knot_break(&search->knots, knot, group, &rest);
    knots_find(&search->knots, rest.at, rest.count, &found);
    vec_free(&rest);
    return found;
}

static struct cost solve(struct search *search, const struct knot *knot, struct cost limit);

/* Of what remains behind a break; some of it, where that is not less than `limit`. */
static struct cost cost_of_rest(struct search *search, const struct knot *knot, uint32_t group,
                                struct cost limit)
{
    struct cost cost = no_cost;
    struct knot_list rest = rest_of(search, knot, group);
    for (uint32_t i = 0; i < rest.count && is_less(cost, limit) && !search->gave_up; i++)
        cost = add_cost(cost, solve(search, &rest.at[i], left_of(limit, cost)));
    knot_list_free(&rest);
    return cost;
}

/* What can be broken first; a group that costs nothing more to break is broken at once. */
static void list_choices(struct search *search, const struct knot *knot, struct choices *choices)
{
    struct vec_u32 groups = {NULL, 0, 0};
    knot_choices(&search->knots, knot, &groups);
    assert(groups.count > 0);
    for (uint32_t i = 0; i < groups.count; i++) {
        struct choice choice = {.group = groups.at[i]};
        choice.step = step_cost(search, choice.group, search->knots.left[choice.group]);
        choice.leaves = search->knots.left[choice.group] < search->knots.size[choice.group];
        vec_push(choices, choice);
    }
    for (uint32_t i = 0; i < choices->count; i++)
        if (choices->at[i].leaves && knot_spares(&search->knots, knot, choices->at[i].group))
            choices->at[i].step = no_cost;
    vec_free(&groups);
    for (uint32_t i = 0; i < choices->count; i++)
        if (!is_less(no_cost, choices->at[i].step))
            keep_one(choices, i);
}

/* The least that any break of the knot costs. */
static struct cost least_step(const struct choices *choices)
{
    struct cost least = no_limit;
    for (uint32_t i = 0; i < choices->count; i++)
        if (is_less(choices->at[i].step, least))
            least = choices->at[i].step;
    return least;
}

/* The least cost of a knot if that is less than `limit`, else something from `limit` on that it
 * costs at least. Of equal choices the first in the text counts. */
static struct cost search_knot(struct search *search, const struct knot *knot, struct cost limit,
                               uint32_t *chosen)
{
    struct choices choices = {NULL, 0, 0};
    struct cost best = limit;
    list_choices(search, knot, &choices);
    struct cost least = least_step(&choices);
    for (uint32_t i = 0; i < choices.count && is_less(least, best) && !search->gave_up; i++) {
        const struct choice *choice = &choices.at[i];
        if (!is_less(choice->step, best))
            continue;
        struct cost rest = cost_of_rest(search, knot, choice->group, left_of(best, choice->step));
        if (search->gave_up || !is_less(add_cost(choice->step, rest), best))
            continue;
        best = add_cost(choice->step, rest);
        *chosen = choice->group;
    }
    vec_free(&choices);
    return best;
}

/* The one group of the knot, or NONE: it has more. */
static uint32_t only_group(const struct search *search, const struct knot *knot)
{
    const uint32_t *group_of = search->schedule->group_of;
    uint32_t i = 0;
    while (group_of[knot->ops[i]] == GROUP_NONE)
        i++;
    return knot->groups == 1 ? group_of[knot->ops[i]] : NONE;
}

/* The knot's one group breaks as often as it must. */
static struct cost cost_of_group(struct search *search, const struct knot *knot, uint32_t group)
{
    const struct schedule_group *g = &search->schedule->groups[group];
    uint32_t left = 0, breaks;
    for (uint32_t i = 0; i < knot->count; i++)
        left += search->schedule->group_of[knot->ops[i]] == group &&
                !schedule_may_leave(search->schedule, knot->ops[i]);
    breaks = knot_breaks(&search->knots, knot, group);
    if (breaks == 0)
        return no_cost;
    struct cost cost = step_cost(search, group, left);
    cost.parts += (uint64_t)(breaks - 1) * g->cost.more << 32;
    return cost;
}

static const struct solved *look_up(const struct search *search, const struct knot *knot,
                                    uint64_t key[2])
{
    knot_key(knot, key);
    const struct solved *solved =
        search->count ? find_solved(search->at, search->capacity, key) : NULL;
    return solved && (solved->key[0] | solved->key[1]) ? solved : NULL;
}

static struct cost solve(struct search *search, const struct knot *knot, struct cost limit)
{
    uint64_t key[2];
    uint32_t chosen = NONE, only = only_group(search, knot);
    if (only != NONE)
        return cost_of_group(search, knot, only);
    const struct solved *known = look_up(search, knot, key);
    if (known && (known->group != NONE || !is_less(known->cost, limit)))
        return known->cost;
    if (search->knots.work > search->budget) {
        search->gave_up = true;
        return limit;
    }
    struct cost cost = search_knot(search, knot, limit, &chosen);
    if (!search->gave_up)
        keep_solved(search, key, cost, chosen);
    return cost;
}

/* ------------------------------------------------------------------------------ plan ---- */

static void plan_knots(struct search *search, const struct knot_list *knots, struct breaks *breaks);

/* Takes the choices again that the search has made. */
static void plan_knot(struct search *search, const struct knot *knot, struct breaks *breaks)
{
    uint64_t key[2];
    uint32_t only = only_group(search, knot);
    if (only != NONE) {
        vec_push(breaks, (struct planned_break){only, true});
        return;
    }
    const struct solved *known = look_up(search, knot, key);
    if (!known || known->group == NONE) {
        search->gave_up = true;
        return;
    }
    vec_push(breaks, (struct planned_break){known->group, false});
    struct knot_list rest = rest_of(search, knot, known->group);
    plan_knots(search, &rest, breaks);
    knot_list_free(&rest);
}

static void plan_knots(struct search *search, const struct knot_list *knots, struct breaks *breaks)
{
    for (uint32_t i = 0; i < knots->count && !search->gave_up; i++)
        plan_knot(search, &knots->at[i], breaks);
}

static void find_all(struct search *search, struct knot_list *knots)
{
    const struct schedule *s = search->schedule;
    struct vec_u32 left = {NULL, 0, 0};
    for (uint32_t i = 0; i < s->order->n_ops; i++)
        if (s->place[s->order->text[i]] == NONE)
            vec_push(&left, s->order->text[i]);
    knots_find(&search->knots, left.at, left.count, knots);
    vec_free(&left);
}

void breaks_plan(struct breaks *breaks, const struct schedule *schedule, uint64_t budget)
{
    struct search search = {.schedule = schedule, .budget = budget};
    struct knot_list knots = {NULL, 0, 0};
    knots_init(&search.knots, schedule);
    find_all(&search, &knots);
    for (uint32_t i = 0; i < knots.count && !search.gave_up; i++)
        solve(&search, &knots.at[i], no_limit);
    search.gave_up = false;
    plan_knots(&search, &knots, breaks);
    knot_list_free(&knots);
    knots_free(&search.knots);
    mem_free(search.at);
}

void breaks_free(struct breaks *breaks)
{
    vec_free(breaks);
}
