#include "tests/unit/cut_model.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The first op in the text of those that need nothing more comes next. */
static void rank_ops(struct cut_model *cuts, const struct graph_model *model)
{
    uint64_t placed = 0;
    for (unsigned rank = 0; rank < model->count; rank++) {
        unsigned next = MODEL_MAX_OPS;
        for (unsigned i = 0; i < model->count; i++)
            if (!(placed >> i & 1) && !(model->needs[i] & ~placed) &&
                (next == MODEL_MAX_OPS || model->position[i] < model->position[next]))
                next = i;
        cuts->rank[next] = rank;
        placed |= (uint64_t)1 << next;
    }
}

static bool is_unfusable(const struct module *module, const struct op *op)
{
    for (uint32_t i = 0; i < op->attrs.count; i++) {
        const struct attr *attr = &module->attrs.at[op->attrs.first + i];
        if (name_is(module, attr->key, "supportSuperKernel") && attr->value.i == 0)
            return true;
    }
    return false;
}

/* A scope at work: where it is cut, by position. */
struct scope_cuts {
    const struct graph_model *model;
    struct cut_model *cuts;
    uint32_t scope;
    bool at[MODEL_MAX_OPS];
    unsigned first, last; /* positions of its first and last member */
};

static bool is_ignored(const struct scope_cuts *s, unsigned i)
{
    return s->model->passive[i] && !s->model->view[i];
}

static bool is_member(const struct scope_cuts *s, unsigned i)
{
    return s->model->scope[i] == s->scope && !is_ignored(s, i) && !s->cuts->unfusable[i];
}

/* The scope's first and last op on the stream of an op, by position; false: it has none there. */
static bool span_on_stream(const struct scope_cuts *s, unsigned of, unsigned *first, unsigned *last)
{
    bool any = false;
    for (unsigned i = 0; i < s->model->count; i++) {
        if (s->model->stream[i] != s->model->stream[of] || !is_member(s, i))
            continue;
        if (!any || s->cuts->rank[i] < *first)
            *first = s->cuts->rank[i];
        if (!any || s->cuts->rank[i] > *last)
            *last = s->cuts->rank[i];
        any = true;
    }
    return any;
}

static bool is_cut_at(const struct scope_cuts *s, unsigned i)
{
    unsigned first = 0, last = 0, rank = s->cuts->rank[i];
    if (is_ignored(s, i) || is_member(s, i) || !span_on_stream(s, i, &first, &last))
        return false;
    return s->model->scope[i] == s->scope || (rank > first && rank < last);
}

/* The part of a member: the cuts nearest to it, or what bounds the scope. */
static void find_part(const struct scope_cuts *s, unsigned i)
{
    unsigned begin = s->first - 1, end = s->last + 1, rank = s->cuts->rank[i];
    for (unsigned at = 0; at < s->model->count; at++) {
        if (s->at[at] && at < rank)
            begin = begin + 1 > at + 1 ? begin : at;
        if (s->at[at] && at > rank && at < end)
            end = at;
    }
    s->cuts->begin[i] = begin;
    s->cuts->end[i] = end;
}

static void cut_scope(struct cut_model *cuts, const struct graph_model *model, uint32_t scope)
{
    struct scope_cuts s = {.model = model, .cuts = cuts, .scope = scope, .first = UINT_MAX};
    bool any = false;
    for (unsigned i = 0; i < model->count; i++) {
        s.at[cuts->rank[i]] = is_cut_at(&s, i);
        any |= s.at[cuts->rank[i]];
        if (is_member(&s, i) && cuts->rank[i] < s.first)
            s.first = cuts->rank[i];
        if (is_member(&s, i) && cuts->rank[i] > s.last)
            s.last = cuts->rank[i];
    }
    for (unsigned i = 0; i < model->count; i++) {
        if (!is_member(&s, i))
            continue;
        find_part(&s, i);
        cuts->cut[i] = any;
        cuts->group[i] = i;
        for (unsigned j = 0; j < i; j++)
            if (is_member(&s, j) && cuts->begin[j] == cuts->begin[i]) {
                cuts->group[i] = j;
                break;
            }
    }
}

static unsigned count_launches(const struct cut_model *cuts, const struct graph_model *model)
{
    uint64_t launched = 0;
    unsigned count = 0;
    for (unsigned i = 0; i < model->count; i++)
        if (cuts->group[i] != NONE && !model->passive[i])
            launched |= (uint64_t)1 << cuts->group[i];
    for (; launched; launched &= launched - 1)
        count++;
    return count;
}

void cut_model_init(struct cut_model *cuts, const struct graph_model *model,
                    const struct module *module, const struct graph *graph)
{
    memset(cuts, 0, sizeof *cuts);
    rank_ops(cuts, model);
    for (unsigned i = 0; i < model->count; i++) {
        cuts->unfusable[i] = is_unfusable(module, &graph->ops.at[model->id[i]]);
        cuts->group[i] = NONE;
    }
    for (unsigned i = 0; i < model->count; i++)
        if (model->scope[i] != NONE && cuts->group[i] == NONE)
            cut_scope(cuts, model, model->scope[i]);
    cuts->launches = count_launches(cuts, model);
}

/* ------------------------------------------------------------------ fewest launches ---- */

/* A state: the ops that have run, and the group that the last launch is of and may still grow
 * (0: none, else its number + 1). */
struct launch_search {
    const struct graph_model *model;
    const uint32_t *group;
    uint32_t n_groups, whole;
    unsigned *least; /* by state */
};

static unsigned *least_of(const struct launch_search *s, unsigned done, uint32_t open)
{
    return &s->least[done * (s->n_groups + 1) + open];
}

static bool is_partial(const struct launch_search *s, unsigned done, uint32_t group)
{
    unsigned ran = 0, all = 0;
    for (unsigned i = 0; i < s->model->count; i++) {
        ran += s->group[i] == group && (done >> i & 1);
        all += s->group[i] == group;
    }
    return ran > 0 && ran < all;
}

/* What runs op i next leads to. */
static void run_op(const struct launch_search *s, unsigned done, uint32_t open, unsigned i)
{
    uint32_t next = s->group[i] == NONE ? 0 : s->group[i] + 1;
    unsigned cost = *least_of(s, done, open);
    if (next != open && open != 0 && (s->whole >> (open - 1) & 1) && is_partial(s, done, open - 1))
        return;
    cost += next != 0 && next != open;
    unsigned *least = least_of(s, done | 1u << i, next);
    if (cost < *least)
        *least = cost;
}

unsigned fewest_launches(const struct graph_model *model, const uint32_t *group, uint32_t n_groups,
                         uint32_t whole)
{
    unsigned all = (1u << model->count) - 1, best = UINT_MAX;
    size_t states = (size_t)(all + 1) * (n_groups + 1);
    struct launch_search s = {model, group, n_groups, whole, malloc(states * sizeof(unsigned))};
    if (!s.least)
        abort();
    for (size_t i = 0; i < states; i++)
        s.least[i] = UINT_MAX;
    *least_of(&s, 0, 0) = 0;
    for (unsigned done = 0; done < all; done++)
        for (uint32_t open = 0; open <= n_groups; open++)
            for (unsigned i = 0; i < model->count && *least_of(&s, done, open) != UINT_MAX; i++)
                if (!(done >> i & 1) && !(model->needs[i] & ~(uint64_t)done))
                    run_op(&s, done, open, i);
    for (uint32_t open = 0; open <= n_groups; open++)
        if (*least_of(&s, all, open) < best)
            best = *least_of(&s, all, open);
    free(s.least);
    return best;
}
