#include "ir/analysis/analyses.h"
#include "ir/analysis/modref.h"
#include "ir/support/parts.h"

#include <string.h>

struct graph_analyses {
    bool has_order, has_members;
    struct order order;
    struct members members;
};

static struct graph_analyses *of_graph(struct analyses *analyses, const struct module *module,
                                       const struct graph *graph)
{
    uint32_t index = graph_id(module, graph);
    while (analyses->count <= index)
        vec_push(analyses, NULL);
    if (!analyses->at[index])
        analyses->at[index] = mem_calloc(1, sizeof *analyses->at[index]);
    return analyses->at[index];
}

const struct order *analyses_order(struct analyses *analyses, const struct module *module,
                                   const struct graph *graph)
{
    struct graph_analyses *of = of_graph(analyses, module, graph);
    if (of->has_order)
        return &of->order;
    if (!analyses->effects)
        analyses->effects = effects_new(module);
    order_init_with(&of->order, module, graph, analyses->effects);
    of->has_order = true;
    return &of->order;
}

const struct members *analyses_members(struct analyses *analyses, const struct module *module,
                                       const struct graph *graph)
{
    struct graph_analyses *of = of_graph(analyses, module, graph);
    if (of->has_members)
        return &of->members;
    members_init(&of->members, module, graph, analyses_order(analyses, module, graph));
    of->has_members = true;
    return &of->members;
}

/* ------------------------------------------------------------------------ all graphs ---- */

/* What is made for graphs that miss it, beside what there is: of a part that is left nothing
 * remains. */
struct making {
    const struct analyses *analyses;
    const struct module *module;
    bool members;                 /* these, too */
    struct graph_analyses *fresh; /* by graph */
};

static void make_part(void *user, uint32_t first, uint32_t end, struct diags *diags)
{
    struct making *making = user;
    const struct module *module = making->module;
    struct effects *effects = effects_new(module);
    (void)diags; /* the graphs are verified */
    for (uint32_t id = first; id < end; id++) {
        const struct graph *graph = &module->graphs.at[id];
        const struct graph_analyses *kept = making->analyses->at[id];
        struct graph_analyses *fresh = &making->fresh[id];
        fresh->has_order = !kept->has_order;
        fresh->has_members = making->members && !kept->has_members;
        if (fresh->has_order)
            order_init_with(&fresh->order, module, graph, effects);
        if (fresh->has_members)
            members_init(&fresh->members, module, graph,
                         fresh->has_order ? &fresh->order : &kept->order);
    }
    effects_free(effects);
}

static uint64_t making_weight(const void *user, uint32_t item)
{
    const struct making *making = user;
    const struct graph_analyses *kept = making->analyses->at[item];
    bool missing = !kept->has_order || (making->members && !kept->has_members);
    return missing ? 3 * (uint64_t)making->module->graphs.at[item].ops.count : 0;
}

static void make_all(struct analyses *analyses, const struct module *module, bool members)
{
    struct diags diags;
    uint32_t count = module->graphs.count;
    if (count < 2 || module->threads.most < 2)
        return;
    for (uint32_t id = 0; id < count; id++)
        of_graph(analyses, module, &module->graphs.at[id]);
    struct making making = {.analyses = analyses,
                            .module = module,
                            .members = members,
                            .fresh = mem_calloc(count, sizeof *making.fresh)};
    diags_init(&diags, module->source, NULL);
    parts_run(&(struct parts){.threads = module->threads,
                              .count = count,
                              .weight = making_weight,
                              .work = make_part,
                              .user = &making},
              &diags);
    diags_free(&diags);
    for (uint32_t id = 0; id < count; id++) {
        struct graph_analyses *kept = analyses->at[id], *fresh = &making.fresh[id];
        if (fresh->has_order)
            kept->order = fresh->order;
        if (fresh->has_members)
            kept->members = fresh->members;
        kept->has_order |= fresh->has_order;
        kept->has_members |= fresh->has_members;
    }
    mem_free(making.fresh);
}

void analyses_make_orders(struct analyses *analyses, const struct module *module)
{
    make_all(analyses, module, false);
}

void analyses_make_members(struct analyses *analyses, const struct module *module)
{
    make_all(analyses, module, true);
}

void analyses_drop(struct analyses *analyses)
{
    for (uint32_t i = 0; i < analyses->count; i++) {
        struct graph_analyses *of = analyses->at[i];
        if (of && of->has_order)
            order_free(&of->order);
        if (of && of->has_members)
            members_free(&of->members);
        mem_free(of);
    }
    vec_free(analyses);
    effects_free(analyses->effects);
    analyses->effects = NULL;
}

/* ------------------------------------------------------------------------ assertions ---- */

static bool same_words(const uint32_t *a, const uint32_t *b, uint32_t count)
{
    return count == 0 || memcmp(a, b, count * sizeof *a) == 0;
}

/* The edges of one op in any order are the same order. */
static bool same_order(const struct order *a, const struct order *b)
{
    bool same = a->n_ops == b->n_ops && same_words(a->first, b->first, a->n_ops + 1) &&
                same_words(a->stream, b->stream, a->n_ops) &&
                same_words(a->text, b->text, a->n_ops);
    for (uint32_t op = 0; same && op < a->n_ops; op++)
        for (uint32_t e = a->first[op]; same && e < a->first[op + 1]; e++) {
            uint32_t n = b->first[op];
            while (n < b->first[op + 1] &&
                   (b->edges[n].from != a->edges[e].from || b->edges[n].kind != a->edges[e].kind))
                n++;
            same = n < b->first[op + 1];
        }
    return same;
}

bool analyses_hold(const struct analyses *analyses, const struct module *module)
{
    bool hold = analyses->count <= module->graphs.count;
    for (uint32_t i = 0; hold && i < analyses->count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        const struct graph_analyses *kept = analyses->at[i];
        struct analyses fresh = {.effects = NULL};
        if (kept && kept->has_order)
            hold = same_order(&kept->order, analyses_order(&fresh, module, graph));
        if (hold && kept && kept->has_members) {
            const struct members *a = &kept->members, *b = analyses_members(&fresh, module, graph);
            uint32_t blocks = graph->blocks.count, members = blocks ? a->first[blocks] : 0;
            hold = same_words(a->first, b->first, blocks + 1) &&
                   same_words(a->ops, b->ops, members) &&
                   same_words(a->index, b->index, graph->ops.count) &&
                   same_words(a->grouped, b->grouped, members);
        }
        analyses_drop(&fresh);
    }
    return hold;
}
