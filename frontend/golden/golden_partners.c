#include "frontend/golden/golden_partners.h"

/* Diagnostics of one line, severity and text: one is as good as the other. */
struct group {
    const struct golden_diag *diag;
    struct vec_u32 members; /* indices of diagnostics */
    struct vec_u32 links;   /* by unit of what it is linked with: the group on the other side */
    uint32_t from;          /* the group, of the other side, by which a search has come; or NONE */
    bool seen, dead;        /* in this search; in all: no search from here ends well */
};

struct side {
    VEC(struct group) groups; /* in the order of line, severity, text */
};

struct search {
    struct side wanted, given;
    struct vec_u32 queue;   /* of groups that want more */
    struct vec_u32 touched; /* groups of `given` that are seen */
};

/* ------------------------------------------------------------------------------ groups ---- */

static int compare_places(const struct golden_diag *a, const struct golden_diag *b)
{
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return (int)a->severity - (int)b->severity;
}

static int compare_diags(const void *a, const void *b)
{
    const struct golden_diag *x = *(const struct golden_diag *const *)a,
                             *y = *(const struct golden_diag *const *)b;
    int order = compare_places(x, y);
    if (order == 0)
        order = strcmp(x->text, y->text);
    return order ? order : x < y ? -1 : x > y; /* both in one array */
}

/* Of those that `command` has, where it is no NONE. */
static void make_groups(struct side *side, const struct golden_diags *diags, uint32_t command)
{
    VEC(const struct golden_diag *) sorted = {NULL, 0, 0};
    for (uint32_t i = 0; i < diags->count; i++)
        if (command == NONE || golden_is_for(&diags->at[i], command))
            vec_push(&sorted, &diags->at[i]);
    if (sorted.count)
        qsort(sorted.at, sorted.count, sizeof *sorted.at, compare_diags);
    for (uint32_t i = 0; i < sorted.count; i++) {
        const struct golden_diag *diag = sorted.at[i];
        if (i == 0 || compare_places(sorted.at[i - 1], diag) != 0 ||
            strcmp(sorted.at[i - 1]->text, diag->text) != 0)
            vec_push(&side->groups, (struct group){.diag = diag, .from = NONE});
        vec_push(&side->groups.at[side->groups.count - 1].members, (uint32_t)(diag - diags->at));
    }
    vec_free(&sorted);
}

static void free_groups(struct side *side)
{
    for (uint32_t i = 0; i < side->groups.count; i++) {
        vec_free(&side->groups.at[i].members);
        vec_free(&side->groups.at[i].links);
    }
    vec_free(&side->groups);
}

/* --------------------------------------------------------------------------- searching ---- */

/* The first group of the reported at the place of an expectation. */
static uint32_t first_at(const struct side *given, const struct golden_diag *wanted)
{
    uint32_t low = 0, high = given->groups.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare_places(given->groups.at[middle].diag, wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Links one unit along the way that the search has come, the last group of which has one free. */
static void link_way(struct search *search, uint32_t given)
{
    while (given != NONE) {
        struct group *to = &search->given.groups.at[given];
        uint32_t wanted = to->from;
        struct group *from = &search->wanted.groups.at[wanted];
        uint32_t left = from->from;
        vec_push(&to->links, wanted);
        vec_push(&from->links, given);
        for (uint32_t i = 0; left != NONE && i < from->links.count; i++)
            if (from->links.at[i] == left) { /* given up for the new one */
                from->links.at[i] = from->links.at[--from->links.count];
                break;
            }
        given = left;
        struct group *lost = given == NONE ? NULL : &search->given.groups.at[given];
        for (uint32_t i = 0; lost && i < lost->links.count; i++)
            if (lost->links.at[i] == wanted) {
                lost->links.at[i] = lost->links.at[--lost->links.count];
                break;
            }
    }
}

/* The groups that a reported one is linked with want another one for it. */
static void ask_holders(struct search *search, uint32_t given)
{
    struct group *group = &search->given.groups.at[given];
    for (uint32_t i = 0; i < group->links.count; i++) {
        struct group *holder = &search->wanted.groups.at[group->links.at[i]];
        if (holder->seen)
            continue;
        holder->seen = true;
        holder->from = given;
        vec_push(&search->queue, group->links.at[i]);
    }
}

/* Looks at what a group might be linked with. Returns whether one of these is free. */
static bool look_around(struct search *search, uint32_t wanted)
{
    const struct group *group = &search->wanted.groups.at[wanted];
    struct side *given = &search->given;
    for (uint32_t i = first_at(given, group->diag);
         i < given->groups.count && compare_places(given->groups.at[i].diag, group->diag) == 0;
         i++) {
        struct group *other = &given->groups.at[i];
        if (other->seen || other->dead || !strstr(other->diag->text, group->diag->text))
            continue;
        other->seen = true;
        other->from = wanted;
        vec_push(&search->touched, i);
        if (other->links.count < other->members.count) {
            link_way(search, i);
            return true;
        }
        ask_holders(search, i);
    }
    return false;
}

/* Finds a partner for one more of a group, if need be by finding another one for the partner's own.
 * What a search without success has seen no later one needs to see. */
static bool find_partner(struct search *search, uint32_t wanted)
{
    bool found = false;
    search->queue.count = search->touched.count = 0;
    vec_push(&search->queue, wanted);
    search->wanted.groups.at[wanted].seen = true;
    search->wanted.groups.at[wanted].from = NONE;
    for (uint32_t i = 0; !found && i < search->queue.count; i++)
        found = look_around(search, search->queue.at[i]);
    for (uint32_t i = 0; i < search->queue.count; i++)
        search->wanted.groups.at[search->queue.at[i]].seen = false;
    for (uint32_t i = 0; i < search->touched.count; i++) {
        struct group *group = &search->given.groups.at[search->touched.at[i]];
        group->seen = false;
        group->dead = !found;
    }
    return found;
}

/* The text itself is the likeliest partner, and mostly the only one. */
static void link_equal(struct search *search)
{
    uint32_t j = 0;
    for (uint32_t i = 0; i < search->wanted.groups.count; i++) {
        struct group *wanted = &search->wanted.groups.at[i], *given;
        int order = -1;
        for (; j < search->given.groups.count; j++) {
            given = &search->given.groups.at[j];
            order = compare_places(given->diag, wanted->diag);
            order = order ? order : strcmp(given->diag->text, wanted->diag->text);
            if (order >= 0)
                break;
        }
        while (order == 0 && wanted->links.count < wanted->members.count &&
               given->links.count < given->members.count) {
            vec_push(&wanted->links, j);
            vec_push(&given->links, i);
        }
    }
}

static void link_rest(struct search *search)
{
    for (uint32_t i = 0; i < search->wanted.groups.count; i++) {
        struct group *group = &search->wanted.groups.at[i];
        while (group->links.count < group->members.count && find_partner(search, i))
            continue;
    }
}

/* ---------------------------------------------------------------------------- partners ---- */

static void hand_out(const struct search *search, struct golden_outcome *outcome)
{
    uint32_t *used = mem_calloc(search->given.groups.count, sizeof *used);
    for (uint32_t i = 0; i < search->wanted.groups.count; i++) {
        const struct group *group = &search->wanted.groups.at[i];
        for (uint32_t k = 0; k < group->links.count; k++) {
            uint32_t other = group->links.at[k];
            uint32_t given = search->given.groups.at[other].members.at[used[other]++];
            outcome->partners[group->members.at[k]] = given;
            outcome->reported.at[given].match = group->members.at[k];
        }
    }
    mem_free(used);
}

void golden_find_partners(const struct golden *golden, uint32_t command,
                          struct golden_outcome *outcome)
{
    struct search search = {.queue = {NULL, 0, 0}};
    outcome->partners = mem_calloc(golden->expected.count, sizeof *outcome->partners);
    for (uint32_t i = 0; i < golden->expected.count; i++)
        outcome->partners[i] = NONE;
    make_groups(&search.wanted, &golden->expected, command);
    make_groups(&search.given, &outcome->reported, NONE);
    link_equal(&search);
    link_rest(&search);
    hand_out(&search, outcome);
    free_groups(&search.wanted);
    free_groups(&search.given);
    vec_free(&search.queue);
    vec_free(&search.touched);
}
