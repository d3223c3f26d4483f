/* Each op and each group waits for a number of edges; heaps have what waits for none, so scheduling
 * takes a time of n log n, and a break one that does not depend on the size of the graph. */
#include "passes/partition/schedule.h"

#include <assert.h>

/* Groups of which one is chosen to break. */
enum { MAX_CHOICES = 4 };

/* Whether an op of a group can be outside of it as well: it executes nothing. */
static bool may_leave(const struct schedule *s, uint32_t op)
{
    return s->order->passive[op] && s->groups[s->group_of[op]].cost.rank != BREAK_FIXED;
}

void order_users_init(struct order_users *users, const struct order *order)
{
    uint32_t n = order->n_ops;
    users->first = mem_calloc((size_t)n + 2, sizeof *users->first);
    users->at = mem_calloc(order->first[n], sizeof *users->at);
    for (uint32_t e = 0; e < order->first[n]; e++)
        users->first[order->edges[e].from + 2]++;
    for (uint32_t i = 0; i < n; i++)
        users->first[i + 2] += users->first[i + 1];
    for (uint32_t op = 0; op < n; op++)
        for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++)
            users->at[users->first[order->edges[e].from + 1]++] = op;
}

void order_users_free(struct order_users *users)
{
    mem_free(users->first);
    mem_free(users->at);
}

/* Counts what each op and each group waits for. */
static void count_waits(struct schedule *s)
{
    const struct order *order = s->order;
    for (uint32_t op = 0; op < order->n_ops; op++) {
        s->needs[op] = order->first[op + 1] - order->first[op];
        for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++)
            s->groups[s->group_of[op]].waits +=
                s->group_of[order->edges[e].from] != s->group_of[op];
    }
}

static void offer_whole(struct schedule *s, uint32_t group)
{
    const struct schedule_group *g = &s->groups[group];
    if (g->waits == 0 && g->left > 0 && g->ready.count > 0)
        heap_push(&s->whole, heap_top_key(&g->ready), group);
}

static void op_is_ready(struct schedule *s, uint32_t op)
{
    assert(s->needs[op] == 0 && s->place[op] == NONE);
    uint32_t group = s->group_of[op], position = s->order->position[op];
    bool finished = s->groups[group].work == 0; /* all that is left of it may leave */
    if (group == GROUP_NONE || (finished && group != s->open)) {
        heap_push(&s->free_ops, position, op);
        return;
    }
    if (may_leave(s, op))
        heap_push(&s->leaving, position, op);
    heap_push(&s->groups[group].ready, position, op);
    heap_push(&s->partial[s->groups[group].cost.rank], position, group);
}

static void schedule_op(struct schedule *s, uint32_t op)
{
    uint32_t group = s->group_of[op];
    s->place[op] = s->count;
    s->ops[s->count++] = op;
    s->groups[group].left--;
    s->groups[group].work -= !may_leave(s, op);
    for (uint32_t i = s->users.first[op]; i < s->users.first[op + 1]; i++) {
        uint32_t user = s->users.at[i], user_group = s->group_of[user];
        if (--s->needs[user] == 0)
            op_is_ready(s, user);
        if (user_group != group && --s->groups[user_group].waits == 0 && user_group != GROUP_NONE)
            offer_whole(s, user_group);
    }
}

/* Schedules an op that is of no group, or leaves it. */
static void schedule_alone(struct schedule *s, uint32_t op)
{
    vec_push(&s->segments, (struct segment){.group = GROUP_NONE, .first = s->count, .count = 1});
    schedule_op(s, op);
    s->group_of[op] = GROUP_NONE;
}

/* Schedules ops of the group until none is ready. */
static void schedule_group(struct schedule *s, uint32_t group)
{
    uint32_t first = s->count;
    s->open = group;
    while (s->groups[group].ready.count)
        schedule_op(s, heap_pop(&s->groups[group].ready));
    s->open = GROUP_NONE;
    s->groups[group].segments++;
    vec_push(&s->segments,
             (struct segment){.group = group, .first = first, .count = s->count - first});
}

/* Groups in these heaps may have been scheduled since they were pushed. */
static void drop_outdated(struct schedule *s, struct heap *heap)
{
    while (heap->count && s->groups[heap_top(heap)].ready.count == 0)
        heap_pop(heap);
}

/* Takes an op out of the ready ones of its group. */
static void drop_ready(struct schedule *s, uint32_t op)
{
    struct heap *ready = &s->groups[s->group_of[op]].ready, kept = {NULL, 0, 0};
    for (uint32_t i = 0; i < ready->count; i++)
        if ((uint32_t)ready->at[i] != op)
            heap_push(&kept, (uint32_t)(ready->at[i] >> 32), (uint32_t)ready->at[i]);
    heap_free(ready);
    *ready = kept;
}

/* Rather than break a group, ready ops that may leave theirs do. False: there are none. */
static bool schedule_leaving(struct schedule *s)
{
    bool any = false;
    while (s->leaving.count > 0) {
        uint32_t op = heap_pop(&s->leaving);
        if (s->place[op] != NONE)
            continue;
        drop_ready(s, op);
        schedule_alone(s, op);
        any = true;
    }
    return any;
}

/* The launches that come with breaking a group once more. */
static uint32_t launches_of(const struct schedule_group *group)
{
    return group->segments == 0 ? group->cost.first : group->cost.more;
}

/* No group can go as a whole, so one must break: of the lowest rank that there is. Of the first few
 * in the text it is the one that comes with the fewest launches. */
static uint32_t choose_break(struct schedule *s)
{
    uint32_t keys[MAX_CHOICES], groups[MAX_CHOICES], count = 0, best = 0;
    struct heap *partial = s->partial;
    while (partial < &s->partial[BREAK_FIXED] && partial->count == 0)
        partial++;
    while (partial->count > 0 && count < MAX_CHOICES) {
        uint32_t key = heap_top_key(partial), group = heap_pop(partial);
        bool known = s->groups[group].ready.count == 0;
        for (uint32_t i = 0; i < count; i++)
            known = known || groups[i] == group;
        if (known)
            continue;
        keys[count] = key;
        groups[count++] = group;
    }
    /* An order without cycles has a ready op, and those outside of groups have gone before. */
    assert(count > 0);
    for (uint32_t i = 0; i < count; i++) {
        heap_push(partial, keys[i], groups[i]);
        if (launches_of(&s->groups[groups[i]]) < launches_of(&s->groups[groups[best]]))
            best = i;
    }
    return groups[best];
}

static void schedule_all(struct schedule *s)
{
    uint32_t n = s->order->n_ops;
    for (uint32_t i = 0; i < n; i++)
        if (s->needs[s->order->text[i]] == 0)
            op_is_ready(s, s->order->text[i]);
    for (uint32_t group = 1; group < s->n_groups; group++)
        offer_whole(s, group);
    while (s->count < n) {
        drop_outdated(s, &s->whole);
        for (int rank = 0; rank < BREAK_RANKS; rank++)
            drop_outdated(s, &s->partial[rank]);
        bool whole = s->whole.count > 0, alone = s->free_ops.count > 0;
        if (alone && (!whole || heap_top_key(&s->free_ops) < heap_top_key(&s->whole))) {
            schedule_alone(s, heap_pop(&s->free_ops));
        } else if (whole) {
            schedule_group(s, heap_pop(&s->whole));
        } else if (!schedule_leaving(s)) {
            schedule_group(s, choose_break(s));
        }
    }
}

void schedule_init(struct schedule *s, const struct order *order, uint32_t *group_of,
                   uint32_t n_groups, const struct break_cost *costs)
{
    uint32_t n = order->n_ops;
    *s = (struct schedule){.order = order, .group_of = group_of, .n_groups = n_groups};
    s->groups = mem_calloc(n_groups, sizeof *s->groups);
    s->needs = mem_calloc(n, sizeof *s->needs);
    s->place = mem_calloc(n, sizeof *s->place);
    s->ops = mem_calloc(n, sizeof *s->ops);
    for (uint32_t op = 0; op < n; op++) {
        s->place[op] = NONE;
        s->groups[group_of[op]].left++;
    }
    for (uint32_t i = 0; i < n_groups; i++)
        s->groups[i].cost = costs[i];
    for (uint32_t op = 0; op < n; op++)
        s->groups[group_of[op]].work += !may_leave(s, op);
    order_users_init(&s->users, order);
    count_waits(s);
    schedule_all(s);
}

void schedule_free(struct schedule *s)
{
    for (uint32_t i = 0; i < s->n_groups; i++)
        heap_free(&s->groups[i].ready);
    vec_free(&s->segments);
    heap_free(&s->free_ops);
    heap_free(&s->leaving);
    heap_free(&s->whole);
    for (int rank = 0; rank < BREAK_RANKS; rank++)
        heap_free(&s->partial[rank]);
    mem_free(s->groups);
    mem_free(s->needs);
    order_users_free(&s->users);
    mem_free(s->place);
    mem_free(s->ops);
}
