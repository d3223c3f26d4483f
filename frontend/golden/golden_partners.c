#include "frontend/golden/golden_partners.h"
#include "frontend/golden/golden_grams.h"

/* Diagnostics of one line, severity and text: one is as good as the other. */
struct group {
    const struct golden_diag *diag;
    struct vec_u32 members; /* indices of diagnostics */
    struct vec_u32 links;   /* by unit of what it is linked with: the group on the other side */
    uint32_t from;          /* the group, of the other side, by which a search has come; or NONE */
    bool seen, dead;        /* in this search; in all: no search from here ends well */
    /* Of an expectation: the reported groups that may hold it, groups or grams from `first` on; and
     * how many of the first ones do not, or are full. */
    uint32_t first, count, passed;
    bool by_grams;
};

struct side {
    VEC(struct group) groups; /* in the order of line, severity, text */
};

struct search {
    struct side wanted, given;
    struct vec_u32 queue;   /* of groups that want more */
    struct vec_u32 touched; /* groups of `given` that are seen */
    struct grams grams;     /* of reported ones at the place that is looked at */
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
    uint32_t low;
    bisect(low, i, given->groups.count, compare_places(given->groups.at[i].diag, wanted) < 0);
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

/* The reported group that is the n-th which may hold an expectation. */
static uint32_t candidate(const struct search *search, const struct group *group, uint32_t n)
{
    return group->by_grams ? search->grams.at[group->first + n].text : group->first + n;
}

/* Links it with one that is free, if there is such. One that is full stays so. */
static bool link_free(struct search *search, uint32_t wanted)
{
    struct group *group = &search->wanted.groups.at[wanted];
    for (; group->passed < group->count; group->passed++) {
        uint32_t given = candidate(search, group, group->passed);
        struct group *other = &search->given.groups.at[given];
        if (other->links.count == other->members.count ||
            !strstr(other->diag->text, group->diag->text))
            continue;
        vec_push(&other->links, wanted);
        vec_push(&group->links, given);
        return true;
    }
    return false;
}

/* Looks at what a group might be linked with. Returns whether one of these is free. */
static bool look_around(struct search *search, uint32_t wanted)
{
    const struct group *group = &search->wanted.groups.at[wanted];
    for (uint32_t n = 0; n < group->count; n++) {
        uint32_t i = candidate(search, group, n);
        struct group *other = &search->given.groups.at[i];
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

static bool is_linked(const struct group *group)
{
    return group->links.count == group->members.count;
}

/* Expectations [first, end) stand at one place, as do so many reported groups. */
static void find_candidates(struct search *search, uint32_t first, uint32_t end)
{
    enum { FEW = 16 }; /* which are looked at all */
    struct side *given = &search->given, *wanted = &search->wanted;
    const struct golden_diag *place = wanted->groups.at[first].diag;
    uint32_t begin = first_at(given, place), stop = begin;
    while (stop < given->groups.count && compare_places(given->groups.at[stop].diag, place) == 0)
        stop++;
    bool many = stop - begin > FEW && end - first > FEW;
    search->grams.count = 0;
    for (uint32_t i = begin; many && i < stop; i++)
        grams_add(&search->grams, given->groups.at[i].diag->text, i);
    grams_sort(&search->grams);
    for (uint32_t i = first; i < end; i++) {
        struct group *group = &wanted->groups.at[i];
        group->by_grams =
            many && grams_find(&search->grams, group->diag->text, &group->first, &group->count);
        if (!group->by_grams) {
            group->first = begin;
            group->count = stop - begin;
        }
    }
}

static void link_place(struct search *search, uint32_t first, uint32_t end)
{
    bool rest = false;
    for (uint32_t i = first; i < end; i++)
        rest |= !is_linked(&search->wanted.groups.at[i]);
    if (!rest)
        return;
    find_candidates(search, first, end);
    for (uint32_t i = first; i < end; i++)
        while (!is_linked(&search->wanted.groups.at[i]) &&
               (link_free(search, i) || find_partner(search, i)))
            continue;
}

static void link_rest(struct search *search)
{
    const struct side *wanted = &search->wanted;
    for (uint32_t first = 0, end; first < wanted->groups.count; first = end) {
        for (end = first + 1;
             end < wanted->groups.count &&
             compare_places(wanted->groups.at[end].diag, wanted->groups.at[first].diag) == 0;)
            end++;
        link_place(search, first, end);
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
    vec_free(&search.grams);
}
