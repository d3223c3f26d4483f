#include "passes/fusion/break_choice.h"

/* Breaks that are tried one behind the other, groups that each may be, and ops that one may let go:
 * beyond, more do not count. */
enum { DEPTH = 4, MAX_GROUPS = 4, MAX_GONE = 256 };

void break_choice_init(struct break_choice *l, struct schedule *schedule)
{
    uint32_t n = schedule->order->n_ops;
    *l = (struct break_choice){.schedule = schedule};
    l->gone = mem_calloc(n, 1);
    l->next = mem_calloc(n, sizeof *l->next);
    l->head = mem_calloc(schedule->n_groups, sizeof *l->head);
    for (uint32_t i = 0; i < schedule->n_groups; i++)
        l->head[i] = NONE;
}

void break_choice_free(struct break_choice *l)
{
    mem_free(l->gone);
    mem_free(l->next);
    mem_free(l->head);
    vec_free(&l->log);
    vec_free(&l->free);
    vec_free(&l->whole);
    vec_free(&l->groups);
}

/* --------------------------------------------------------------------------- trying ---- */

static void add_ready(struct break_choice *l, uint32_t op)
{
    uint32_t group = l->schedule->group_of[op];
    l->next[op] = l->head[group];
    l->head[group] = op;
    if (group == GROUP_NONE)
        vec_push(&l->free, op);
}

static void take_op(struct break_choice *l, uint32_t op)
{
    struct schedule *s = l->schedule;
    uint32_t group = s->group_of[op];
    l->gone[op] = 1;
    vec_push(&l->log, op);
    for (uint32_t i = s->user_first[op]; i < s->user_first[op + 1]; i++) {
        uint32_t user = s->users[i], user_group = s->group_of[user];
        if (--s->needs[user] == 0)
            add_ready(l, user);
        if (user_group != group && --s->groups[user_group].waits == 0 && user_group != GROUP_NONE)
            vec_push(&l->whole, user_group);
    }
}

/* The other way round, the last op that was taken first. */
static void give_back(struct break_choice *l)
{
    struct schedule *s = l->schedule;
    uint32_t op = l->log.at[--l->log.count], group = s->group_of[op];
    for (uint32_t i = s->user_first[op + 1]; i-- > s->user_first[op];) {
        uint32_t user = s->users[i], user_group = s->group_of[user];
        s->groups[user_group].waits += user_group != group;
        if (s->needs[user]++ == 0)
            l->head[user_group] = l->next[user];
    }
    l->gone[op] = 0;
}

static bool take_ready(struct break_choice *l, uint32_t op, uint32_t most)
{
    if (l->gone[op] || l->log.count >= most)
        return false;
    take_op(l, op);
    return true;
}

static void take_group(struct break_choice *l, uint32_t group, uint32_t most)
{
    const struct heap *ready = &l->schedule->groups[group].ready;
    bool any = true;
    for (uint32_t i = 0; i < ready->count; i++)
        take_ready(l, (uint32_t)ready->at[i], most);
    while (any) {
        any = false;
        for (uint32_t op = l->head[group]; op != NONE; op = l->next[op])
            any = take_ready(l, op, most) || any;
    }
}

/* Takes what can go of the group, and then all that can go as a whole, as far as counts. */
static void try_break(struct break_choice *l, uint32_t group)
{
    uint32_t most = l->log.count + MAX_GONE;
    l->free.count = l->whole.count = 0;
    take_group(l, group, most);
    while (l->free.count > 0 || l->whole.count > 0) {
        if (l->free.count > 0)
            take_ready(l, l->free.at[--l->free.count], most);
        else
            take_group(l, l->whole.at[--l->whole.count], most);
    }
}

static bool has_ready(const struct break_choice *l, uint32_t group)
{
    const struct heap *ready = &l->schedule->groups[group].ready;
    for (uint32_t i = 0; i < ready->count; i++)
        if (!l->gone[(uint32_t)ready->at[i]])
            return true;
    for (uint32_t op = l->head[group]; op != NONE; op = l->next[op])
        if (!l->gone[op])
            return true;
    return false;
}

/* The most that `depth` breaks, the first of them that of `group`, can add up to: after each counts
 * how many ops are gone. So of two orders of the same breaks that counts for more by which more can
 * go early. */
static uint64_t try_from(struct break_choice *l, uint32_t group, unsigned depth)
{
    uint32_t before = l->log.count;
    uint64_t most = 0;
    try_break(l, group);
    uint32_t gone = l->log.count;
    for (uint32_t i = 0; depth > 1 && i < l->groups.count; i++) {
        if (!has_ready(l, l->groups.at[i]))
            continue;
        uint64_t sum = try_from(l, l->groups.at[i], depth - 1);
        most = sum > most ? sum : most;
    }
    if (most == 0) /* nothing else is left to break */
        most = (uint64_t)gone * (depth - 1);
    while (l->log.count > before)
        give_back(l);
    return gone + most;
}

/* -------------------------------------------------------------------------- choosing ---- */

/* The first groups of a heap, by the text, that have a ready op; they stay there. */
static void list_groups(struct break_choice *l, struct heap *partial)
{
    struct schedule *s = l->schedule;
    uint32_t keys[MAX_GROUPS];
    l->groups.count = 0;
    while (partial->count > 0 && l->groups.count < MAX_GROUPS) {
        uint32_t key = heap_top_key(partial), group = heap_pop(partial);
        bool known = s->groups[group].ready.count == 0;
        for (uint32_t i = 0; i < l->groups.count; i++)
            known = known || l->groups.at[i] == group;
        if (known)
            continue;
        keys[l->groups.count] = key;
        vec_push(&l->groups, group);
    }
    for (uint32_t i = 0; i < l->groups.count; i++)
        heap_push(partial, keys[i], l->groups.at[i]);
}

/* The launches that come with breaking a group once more. */
static uint32_t launches_of(const struct schedule_group *group)
{
    return group->segments == 0 ? group->cost.first : group->cost.more;
}

uint32_t break_choice_find(struct break_choice *l, struct heap *partial)
{
    const struct schedule_group *groups = l->schedule->groups;
    uint32_t best = NONE, least = 0;
    uint64_t most = 0;
    list_groups(l, partial);
    for (uint32_t i = 0; i < l->groups.count; i++) {
        uint32_t launches = launches_of(&groups[l->groups.at[i]]);
        uint64_t sum = try_from(l, l->groups.at[i], DEPTH);
        if (best != NONE && (launches > least || (launches == least && sum <= most)))
            continue;
        best = l->groups.at[i];
        least = launches;
        most = sum;
    }
    return best;
}
