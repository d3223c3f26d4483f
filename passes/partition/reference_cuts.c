#include "passes/partition/reference_cuts.h"
#include "ir/support/heap.h"
#include "ir/support/ids.h"
#include "passes/partition/fusion_internal.h"

int64_t *reference_positions(const struct order *order, int64_t begin)
{
    uint32_t n = order->n_ops, *needs = mem_calloc(n, sizeof *needs);
    int64_t *position = mem_calloc(n, sizeof *position);
    struct order_users users;
    struct heap ready = {NULL, 0, 0};
    order_users_init(&users, order);
    for (uint32_t op = 0; op < n; op++) {
        needs[op] = order->first[op + 1] - order->first[op];
        if (needs[op] == 0)
            heap_push(&ready, op, op);
    }
    while (ready.count > 0) {
        uint32_t op = heap_pop(&ready);
        position[op] = begin++;
        for (uint32_t i = users.first[op]; i < users.first[op + 1]; i++)
            if (--needs[users.at[i]] == 0)
                heap_push(&ready, users.at[i], users.at[i]);
    }
    heap_free(&ready);
    order_users_free(&users);
    mem_free(needs);
    return position;
}

/* ------------------------------------------------------------------------------ cuts ---- */

struct cutter {
    struct reference_cuts *cuts;
    const struct order *order;
    const uint32_t *scope_of;
    const uint8_t *roles;
    int64_t begin;
    uint32_t *ops; /* by position - begin */
    /* Ops of each stream by position: at[first[s]] .. at[first[s + 1]]. */
    uint32_t n_streams, *stream_of, *at, *first, *place;
    uint32_t *met, *last; /* by stream: the last scope with members there, the place of the last */
    struct vec_u32 found; /* ops that cut the scope at work */
};

/* Lists the ops by position, and those of each stream. */
static void list_ops(struct cutter *c)
{
    struct id_map numbers = {NULL, 0, 0}; /* by label + 1, 0 for the default stream */
    uint32_t n = c->order->n_ops;
    for (uint32_t op = 0; op < n; op++) {
        uint32_t *number = id_map_at(&numbers, c->order->stream[op] + 1);
        if (*number == NONE)
            *number = c->n_streams++;
        c->stream_of[op] = *number;
        c->ops[c->cuts->position[op] - c->begin] = op;
    }
    id_map_free(&numbers);
    c->first = mem_calloc((size_t)c->n_streams + 2, sizeof *c->first);
    for (uint32_t op = 0; op < n; op++)
        c->first[c->stream_of[op] + 2]++;
    for (uint32_t i = 0; i < c->n_streams; i++)
        c->first[i + 2] += c->first[i + 1];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t op = c->ops[i], place = c->first[c->stream_of[op] + 1]++;
        c->place[op] = place;
        c->at[place] = op;
    }
}

static void add_cut(struct cutter *c, uint32_t op)
{
    vec_push(&c->found, (uint32_t)(c->cuts->position[op] - c->begin));
}

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The ops that cut a scope, as positions - begin, each once. `ops` are those of its
 * blocks by position. */
static void find_cuts(struct cutter *c, uint32_t scope, const uint32_t *ops, uint32_t count)
{
    c->found.count = 0;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t op = ops[n], stream = c->stream_of[op];
        if (c->roles[op] != CUT_MEMBER)
            continue;
        /* Between a member and the one before it on its stream, others cut. */
        for (uint32_t i = c->last[stream] + 1; c->met[stream] == scope && i < c->place[op]; i++)
            if (c->roles[c->at[i]] != CUT_IGNORED && c->scope_of[c->at[i]] != scope)
                add_cut(c, c->at[i]);
        c->met[stream] = scope;
        c->last[stream] = c->place[op];
    }
    for (uint32_t i = 0; i < count; i++)
        if (c->roles[ops[i]] == CUT_OTHER && c->met[c->stream_of[ops[i]]] == scope)
            add_cut(c, ops[i]);
    if (c->found.count > 0)
        qsort(c->found.at, c->found.count, sizeof *c->found.at, compare_ids);
}

/* Members between two cuts are a part. */
static void make_parts(struct cutter *c, uint32_t scope, const uint32_t *ops, uint32_t count)
{
    struct reference_cuts *cuts = c->cuts;
    uint32_t next = 0, current = NONE;
    int64_t first = 0, last = 0;
    bool any = false;
    for (uint32_t i = 0; i < count; i++)
        if (c->roles[ops[i]] == CUT_MEMBER) {
            first = any ? first : cuts->position[ops[i]];
            last = cuts->position[ops[i]];
            any = true;
        }
    for (uint32_t i = 0; i < count; i++) {
        if (c->roles[ops[i]] != CUT_MEMBER)
            continue;
        int64_t position = cuts->position[ops[i]];
        for (; next < c->found.count && c->begin + c->found.at[next] < position; next++)
            current = NONE;
        if (current == NONE) {
            struct reference_part part = {scope, first - 1, last + 1, NONE, c->found.count > 0};
            if (next > 0 && c->begin + c->found.at[next - 1] > part.begin)
                part.begin = c->begin + c->found.at[next - 1];
            if (part.begin >= first)
                part.cut_by = c->ops[part.begin - c->begin];
            if (next < c->found.count && c->begin + c->found.at[next] < part.end)
                part.end = c->begin + c->found.at[next];
            current = cuts->parts.count;
            vec_push(&cuts->parts, part);
        }
        cuts->part[ops[i]] = current;
    }
}

/* Ops of blocks of each scope by position. */
static void cut_scopes(struct cutter *c, uint32_t n_scopes)
{
    uint32_t n = c->order->n_ops, *ops = mem_calloc(n, sizeof *ops);
    uint32_t *first = mem_calloc((size_t)n_scopes + 2, sizeof *first);
    for (uint32_t op = 0; op < n; op++)
        first[c->scope_of[op] + 2]++;
    for (uint32_t i = 0; i < n_scopes; i++)
        first[i + 2] += first[i + 1];
    for (uint32_t i = 0; i < n; i++)
        ops[first[c->scope_of[c->ops[i]] + 1]++] = c->ops[i];
    for (uint32_t scope = 1; scope < n_scopes; scope++) {
        find_cuts(c, scope, ops + first[scope], first[scope + 1] - first[scope]);
        make_parts(c, scope, ops + first[scope], first[scope + 1] - first[scope]);
    }
    mem_free(ops);
    mem_free(first);
}

void reference_cuts_init(struct reference_cuts *cuts, const struct order *order,
                         const uint32_t *scope_of, uint32_t n_scopes, const uint8_t *roles,
                         int64_t begin)
{
    uint32_t n = order->n_ops;
    struct cutter c = {.cuts = cuts, .order = order, .scope_of = scope_of, .roles = roles};
    *cuts = (struct reference_cuts){.position = reference_positions(order, begin)};
    cuts->part = mem_calloc(n, sizeof *cuts->part);
    for (uint32_t op = 0; op < n; op++)
        cuts->part[op] = NONE;
    c.begin = begin;
    c.ops = mem_calloc(n, sizeof *c.ops);
    c.stream_of = mem_calloc(n, sizeof *c.stream_of);
    c.at = mem_calloc(n, sizeof *c.at);
    c.place = mem_calloc(n, sizeof *c.place);
    list_ops(&c);
    c.met = mem_calloc(c.n_streams, sizeof *c.met);
    c.last = mem_calloc(c.n_streams, sizeof *c.last);
    cut_scopes(&c, n_scopes);
    mem_free(c.ops);
    mem_free(c.stream_of);
    mem_free(c.at);
    mem_free(c.place);
    mem_free(c.first);
    mem_free(c.met);
    mem_free(c.last);
    vec_free(&c.found);
}

void reference_cuts_free(struct reference_cuts *cuts)
{
    mem_free(cuts->position);
    mem_free(cuts->part);
    vec_free(&cuts->parts);
}

/* ----------------------------------------------------------------------------- groups ---- */

static bool report_cuts(struct fusion *f, const struct reference_cuts *cuts)
{
    uint8_t *told = mem_calloc(cuts->parts.count, 1);
    bool ok = true;
    for (uint32_t i = 0; i < f->graph->ops.count; i++) {
        uint32_t op = f->order->text[i], part = cuts->part[op];
        if (part == NONE || told[part])
            continue;
        told[part] = 1;
        if (cuts->parts.at[part].cut_by != NONE)
            ok =
                fusion_report_cut(f, cuts->parts.at[part].scope, op, cuts->parts.at[part].cut_by) &&
                ok;
    }
    mem_free(told);
    return ok;
}

static void make_groups(struct fusion *f, const struct reference_cuts *cuts)
{
    uint32_t first = f->groups.count;
    for (uint32_t i = 0; i < cuts->parts.count; i++) {
        const struct reference_part *part = &cuts->parts.at[i];
        struct fusion_group group = f->groups.at[part->scope];
        group.is_cut = part->is_cut;
        group.begin = part->begin;
        group.end = part->end;
        vec_push(&f->groups, group);
    }
    for (uint32_t i = 0; i < f->graph->ops.count; i++)
        if (cuts->part[i] != NONE)
            f->group_of[i] = f->member_of[i] = first + cuts->part[i];
}

bool fusion_cut(struct fusion *f)
{
    uint32_t n = f->graph->ops.count, *scope_of = mem_calloc(n, sizeof *scope_of);
    uint8_t *roles = mem_calloc(n, 1);
    struct reference_cuts cuts;
    for (uint32_t i = 0; i < n; i++) {
        /* Super kernels of the input are of no scope, and neither is what is left unfused. */
        bool scoped = f->superkernel_of[i] == NONE && !f->groups.at[f->member_of[i]].dissolved;
        scope_of[i] = scoped ? f->member_of[i] : GROUP_NONE;
        roles[i] = op_fusable(f->module, f->graph, &f->graph->ops.at[i]) == FUSABLE ? CUT_MEMBER
                                                                                    : CUT_OTHER;
        if (fusion_ignores(f, i))
            roles[i] = CUT_IGNORED;
    }
    reference_cuts_init(&cuts, f->order, scope_of, f->groups.count, roles, f->graph->n_params);
    bool ok = report_cuts(f, &cuts);
    make_groups(f, &cuts);
    reference_cuts_free(&cuts);
    mem_free(scope_of);
    mem_free(roles);
    return ok;
}

uint32_t *fusion_cut_groups(struct fusion *f, const struct break_cost *costs)
{
    uint32_t n = f->graph->ops.count, n_groups = f->groups.count;
    uint32_t *scope_of = mem_calloc(n, sizeof *scope_of);
    uint8_t *roles = mem_calloc(n, 1);
    struct reference_cuts cuts;
    for (uint32_t i = 0; i < n; i++) {
        scope_of[i] = costs[f->group_of[i]].rank == BREAK_FIXED ? GROUP_NONE : f->group_of[i];
        roles[i] = f->order->passive[i]           ? CUT_IGNORED
                   : f->group_of[i] == GROUP_NONE ? CUT_OTHER
                                                  : CUT_MEMBER;
    }
    reference_cuts_init(&cuts, f->order, scope_of, n_groups, roles, f->graph->n_params);
    uint32_t *whole = mem_calloc(n_groups + cuts.parts.count, sizeof *whole);
    for (uint32_t i = 0; i < n_groups; i++)
        whole[i] = i;
    for (uint32_t i = 0; i < cuts.parts.count; i++) {
        whole[n_groups + i] = cuts.parts.at[i].scope;
        vec_push(&f->groups, f->groups.at[cuts.parts.at[i].scope]);
    }
    for (uint32_t i = 0; i < n; i++)
        if (cuts.part[i] != NONE && f->group_of[i] != GROUP_NONE)
            f->group_of[i] = n_groups + cuts.part[i];
    reference_cuts_free(&cuts);
    mem_free(scope_of);
    mem_free(roles);
    return whole;
}
