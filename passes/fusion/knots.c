#include "passes/fusion/knots.h"
#include "ir/base/components.h"

void knots_init(struct knots *k, const struct schedule *schedule)
{
    uint32_t n = schedule->order->n_ops;
    *k = (struct knots){.schedule = schedule};
    k->in = mem_calloc(n, sizeof *k->in);
    k->needs = mem_calloc(n, sizeof *k->needs);
    k->next = mem_calloc(n, sizeof *k->next);
    k->node_of = mem_calloc(n, sizeof *k->node_of);
    k->group_in = mem_calloc(schedule->n_groups, sizeof *k->group_in);
    k->waits = mem_calloc(schedule->n_groups, sizeof *k->waits);
    k->ready = mem_calloc(schedule->n_groups, sizeof *k->ready);
    k->size = mem_calloc(schedule->n_groups, sizeof *k->size);
    k->left = mem_calloc(schedule->n_groups, sizeof *k->left);
    k->group_node = mem_calloc(schedule->n_groups, sizeof *k->group_node);
}

void knots_free(struct knots *k)
{
    mem_free(k->in);
    mem_free(k->needs);
    mem_free(k->next);
    mem_free(k->node_of);
    mem_free(k->group_in);
    mem_free(k->waits);
    mem_free(k->ready);
    mem_free(k->size);
    mem_free(k->left);
    mem_free(k->group_node);
    vec_free(&k->whole);
    vec_free(&k->leaving);
}

void knot_list_free(struct knot_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        mem_free(list->at[i].ops);
    vec_free(list);
}

/* ----------------------------------------------------------------------- sets of ops ---- */

/* Makes the ops the set that the others work on. */
static void enter_set(struct knots *k, const uint32_t *ops, uint32_t count)
{
    k->generation++;
    k->work += count;
    k->leaving.count = k->whole.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t group = k->schedule->group_of[ops[i]];
        k->in[ops[i]] = k->generation;
        if (k->group_in[group] != k->generation) {
            k->group_in[group] = k->generation;
            k->size[group] = k->left[group] = k->waits[group] = 0;
            k->ready[group] = NONE;
        }
        k->size[group]++;
        k->left[group] += !schedule_may_leave(k->schedule, ops[i]);
    }
}

static void add_ready(struct knots *k, uint32_t op)
{
    uint32_t group = k->schedule->group_of[op];
    k->next[op] = k->ready[group];
    k->ready[group] = op;
    if (group != GROUP_NONE && schedule_may_leave(k->schedule, op))
        vec_push(&k->leaving, op);
}

/* What each op and each group of the set waits for within it. */
static void count_waits(struct knots *k, const uint32_t *ops, uint32_t count)
{
    const struct order *order = k->schedule->order;
    const uint32_t *group_of = k->schedule->group_of;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t op = ops[i];
        k->needs[op] = 0;
        k->work += order->first[op + 1] - order->first[op];
        for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++) {
            uint32_t from = order->edges[e].from;
            if (k->in[from] != k->generation)
                continue;
            k->needs[op]++;
            k->waits[group_of[op]] += group_of[from] != group_of[op];
        }
        if (k->needs[op] == 0)
            add_ready(k, op);
    }
}

void knot_choices(struct knots *k, const struct knot *knot, struct vec_u32 *groups)
{
    enter_set(k, knot->ops, knot->count);
    count_waits(k, knot->ops, knot->count);
    k->generation++; /* from here on that of groups which have been found */
    for (uint32_t i = 0; i < knot->count; i++) {
        uint32_t group = k->schedule->group_of[knot->ops[i]];
        if (k->needs[knot->ops[i]] || group == GROUP_NONE || k->group_in[group] == k->generation)
            continue;
        k->group_in[group] = k->generation;
        vec_push(groups, group);
    }
}

/* -------------------------------------------------------------------------- breaking ---- */

static void take_op(struct knots *k, uint32_t op)
{
    const struct schedule *s = k->schedule;
    uint32_t group = s->group_of[op];
    k->in[op] = 0;
    k->left[group] -= !schedule_may_leave(s, op);
    k->work += s->user_first[op + 1] - s->user_first[op];
    for (uint32_t i = s->user_first[op]; i < s->user_first[op + 1]; i++) {
        uint32_t user = s->users[i], user_group = s->group_of[user];
        if (k->in[user] != k->generation)
            continue;
        if (--k->needs[user] == 0)
            add_ready(k, user);
        if (user_group != group && --k->waits[user_group] == 0 && user_group != GROUP_NONE)
            vec_push(&k->whole, user_group);
    }
}

static void take_group(struct knots *k, uint32_t group)
{
    while (k->ready[group] != NONE) {
        uint32_t op = k->ready[group];
        k->ready[group] = k->next[op];
        if (k->in[op] == k->generation) /* else it went alone */
            take_op(k, op);
    }
}

static void enter_knot(struct knots *k, const struct knot *knot)
{
    enter_set(k, knot->ops, knot->count);
    count_waits(k, knot->ops, knot->count);
    if (k->group_in[GROUP_NONE] != k->generation)
        k->ready[GROUP_NONE] = NONE;
}

/* What costs nothing. */
static void take_rest(struct knots *k)
{
    do {
        take_group(k, GROUP_NONE);
        if (k->whole.count > 0) {
            take_group(k, k->whole.at[--k->whole.count]);
        } else if (k->leaving.count > 0) {
            uint32_t op = k->leaving.at[--k->leaving.count];
            if (k->in[op] == k->generation)
                take_op(k, op);
        }
    } while (k->ready[GROUP_NONE] != NONE || k->whole.count > 0 || k->leaving.count > 0);
}

bool knot_spares(struct knots *k, const struct knot *knot, uint32_t group)
{
    enter_knot(k, knot);
    take_group(k, group);
    return k->left[group] == 0;
}

uint32_t knot_breaks(struct knots *k, const struct knot *knot, uint32_t group)
{
    uint32_t breaks = 0;
    enter_knot(k, knot);
    for (take_group(k, group); k->left[group] > 0; take_group(k, group)) {
        breaks++;
        take_rest(k);
    }
    return breaks;
}

static void collect_rest(struct knots *k, const struct knot *knot, struct vec_u32 *rest)
{
    for (uint32_t i = 0; i < knot->count; i++)
        if (k->in[knot->ops[i]] == k->generation)
            vec_push(rest, knot->ops[i]);
}

void knot_break(struct knots *k, const struct knot *knot, uint32_t group, struct vec_u32 *rest)
{
    enter_knot(k, knot);
    take_group(k, group);
    take_rest(k);
    collect_rest(k, knot, rest);
}

/* ----------------------------------------------------------------------- components ---- */

/* Over groups and single ops. */
struct walk {
    struct knots *knots;
    uint32_t n_nodes;
    uint32_t *first, *ops;     /* ops of node i: ops[first[i]] .. */
    uint32_t *op_at, *user_at; /* where the walk stands in each node */
    struct components components;
};

static void number_nodes(struct walk *w, const uint32_t *ops, uint32_t count)
{
    struct knots *k = w->knots;
    enter_set(k, ops, count);
    for (uint32_t i = 0; i < count; i++)
        k->group_node[k->schedule->group_of[ops[i]]] = NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t group = k->schedule->group_of[ops[i]];
        if (group == GROUP_NONE || k->group_node[group] == NONE)
            k->group_node[group] = w->n_nodes++;
        k->node_of[ops[i]] = k->group_node[group];
    }
}

static void fill_nodes(struct walk *w, const uint32_t *ops, uint32_t count)
{
    const uint32_t *node_of = w->knots->node_of;
    w->first = mem_calloc((size_t)w->n_nodes + 1, sizeof *w->first);
    w->ops = mem_calloc(count, sizeof *w->ops);
    w->op_at = mem_calloc(w->n_nodes, sizeof *w->op_at);
    for (uint32_t i = 0; i < count; i++)
        w->first[node_of[ops[i]] + 1]++;
    for (uint32_t i = 0; i < w->n_nodes; i++)
        w->first[i + 1] += w->first[i];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = node_of[ops[i]];
        w->ops[w->first[node] + w->op_at[node]++] = ops[i];
    }
    for (uint32_t i = 0; i < w->n_nodes; i++)
        w->op_at[i] = w->first[i];
}

static void walk_init(struct walk *w, struct knots *k, const uint32_t *ops, uint32_t count)
{
    *w = (struct walk){.knots = k};
    number_nodes(w, ops, count);
    fill_nodes(w, ops, count);
    w->user_at = mem_calloc(w->n_nodes, sizeof *w->user_at);
    components_init(&w->components, w->n_nodes);
}

static void walk_free(struct walk *w)
{
    mem_free(w->first);
    mem_free(w->ops);
    mem_free(w->op_at);
    mem_free(w->user_at);
    components_free(&w->components);
}

/* The node of the next user of one of the node's ops, or NONE. */
static uint32_t next_user(void *context, uint32_t node)
{
    struct walk *w = context;
    struct knots *k = w->knots;
    const struct schedule *s = k->schedule;
    for (; w->op_at[node] < w->first[node + 1]; w->op_at[node]++, w->user_at[node] = 0) {
        uint32_t op = w->ops[w->op_at[node]], begin = s->user_first[op];
        while (begin + w->user_at[node] < s->user_first[op + 1]) {
            uint32_t user = s->users[begin + w->user_at[node]++];
            k->work++;
            if (k->in[user] == k->generation && k->node_of[user] != node)
                return k->node_of[user];
        }
    }
    return NONE;
}

/* Components are found users first. */
static void list_components(struct walk *w, const uint32_t *ops, uint32_t count,
                            struct knot_list *found)
{
    struct knots *k = w->knots;
    const uint32_t *of = w->components.of, n_components = w->components.count;
    uint32_t *nodes = mem_calloc(n_components, sizeof *nodes);
    uint32_t *place = mem_calloc(n_components, sizeof *place);
    for (uint32_t i = 0; i < w->n_nodes; i++)
        nodes[of[i]]++;
    for (uint32_t c = n_components; c-- > 0;) {
        place[c] = found->count;
        if (nodes[c] > 1)
            vec_push(found, (struct knot){NULL, 0, 0});
    }
    for (uint32_t i = 0; i < count; i++)
        if (nodes[of[k->node_of[ops[i]]]] > 1)
            found->at[place[of[k->node_of[ops[i]]]]].count++;
    for (uint32_t c = 0; c < n_components; c++) {
        if (nodes[c] <= 1)
            continue;
        struct knot *knot = &found->at[place[c]];
        knot->ops = mem_calloc(knot->count, sizeof *knot->ops);
        knot->count = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = k->node_of[ops[i]], c = of[node];
        if (nodes[c] <= 1)
            continue;
        struct knot *knot = &found->at[place[c]];
        knot->ops[knot->count++] = ops[i];
        knot->groups +=
            k->schedule->group_of[ops[i]] != GROUP_NONE && w->ops[w->first[node]] == ops[i];
    }
    mem_free(nodes);
    mem_free(place);
}

static void find_components(struct knots *k, const uint32_t *ops, uint32_t count,
                            struct knot_list *found)
{
    struct walk walk;
    walk_init(&walk, k, ops, count);
    for (uint32_t node = walk.n_nodes; node-- > 0;) /* so that what is first in the text is last */
        components_find(&walk.components, node, next_user, &walk);
    list_components(&walk, ops, count, found);
    walk_free(&walk);
}

/* Ops that may leave their group, and wait for nothing in their knot, leave before it breaks; what
 * remains may be no knot. */
static bool let_go(struct knots *k, const struct knot *knot, struct vec_u32 *rest)
{
    enter_knot(k, knot);
    if (k->leaving.count == 0)
        return false;
    take_rest(k);
    collect_rest(k, knot, rest);
    return true;
}

void knots_find(struct knots *k, const uint32_t *ops, uint32_t count, struct knot_list *found)
{
    struct knot_list components = {NULL, 0, 0};
    if (count > 0)
        find_components(k, ops, count, &components);
    for (uint32_t i = 0; i < components.count; i++) {
        struct vec_u32 rest = {NULL, 0, 0};
        if (let_go(k, &components.at[i], &rest)) {
            knots_find(k, rest.at, rest.count, found);
            mem_free(components.at[i].ops);
        } else {
            vec_push(found, components.at[i]);
        }
        vec_free(&rest);
    }
    vec_free(&components);
}
