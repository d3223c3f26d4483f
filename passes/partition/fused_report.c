#include "passes/partition/fused_report.h"
#include "ir/shapes/gears.h"
#include "ir/support/text.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

#include <string.h>

enum { MAX_NAMED_OPS = 6, MAX_LISTED_LAUNCHES = 100 };

struct fused {
    const struct module *module;
    const struct graph *graph;
    const struct order *order;
    uint32_t name, scope; /* name ids; scope NONE: it is of none */
    struct vec_u32 ops; /* its own, the first of which comes first, and those in parallel with it */
    const uint8_t *parallel; /* per op id: it is one of the latter */
    struct vec_u32 names;    /* name ids of super kernels that run in parallel */
};

static const char *name_op(struct diags *diags, const struct fused *fused, uint32_t op)
{
    return op_text(fused->module, fused->graph, &fused->graph->ops.at[op], &diags->arena);
}

/* A stream's label as a fact, "" for the default stream. */
static const char *label_text(struct diags *diags, const struct fused *fused, uint32_t op)
{
    uint32_t stream = fused->order->stream[op];
    return stream == NONE ? "" : arena_printf(&diags->arena, "%.*s", NAME(fused->module, stream));
}

/* Names its own ops, or those and super kernels that run in parallel with it. Returns how many
 * there are. */
static uint32_t put_ops(struct text *text, struct diags *diags, const struct fused *fused,
                        bool parallel)
{
    uint32_t count = 0, last = NONE;
    for (uint32_t i = 0; i < fused->ops.count; i++) {
        uint32_t op = fused->ops.at[i], stream = fused->order->stream[op];
        if (fused->parallel[op] != parallel || count++ >= MAX_NAMED_OPS)
            continue;
        text_printf(text, "%s%s", count > 1 ? ", " : "", name_op(diags, fused, op));
        if (last != NONE && stream == fused->order->stream[last])
            continue;
        last = op;
        if (stream == NONE)
            text_string(text, " (the default stream)");
        else
            text_printf(text, " (stream \"%.*s\")", NAME(fused->module, stream));
    }
    for (uint32_t i = 0; parallel && i < fused->names.count; i++)
        if (count++ < MAX_NAMED_OPS)
            text_printf(text, "%s'@%.*s'", count > 1 ? ", " : "",
                        NAME(fused->module, fused->names.at[i]));
    if (count > MAX_NAMED_OPS)
        text_printf(text, " and %u more", count - MAX_NAMED_OPS);
    return count;
}

static void add_facts(struct diags *diags, const struct fused *fused)
{
    const struct module *module = fused->module;
    if (fused->scope != NONE)
        diag_field(diags, "scope", arena_printf(&diags->arena, "%.*s", NAME(module, fused->scope)));
    diag_field(diags, "superkernel",
               arena_printf(&diags->arena, "%.*s", NAME(module, fused->name)));
    for (uint32_t i = 0; i < fused->ops.count; i++)
        if (!fused->parallel[fused->ops.at[i]])
            diag_listed(diags, "ops", name_op(diags, fused, fused->ops.at[i]));
    for (uint32_t i = 0; i < fused->ops.count; i++)
        if (!fused->parallel[fused->ops.at[i]])
            diag_listed(diags, "streams", label_text(diags, fused, fused->ops.at[i]));
    for (uint32_t i = 0; i < fused->ops.count; i++)
        if (fused->parallel[fused->ops.at[i]])
            diag_listed(diags, "beside", name_op(diags, fused, fused->ops.at[i]));
    for (uint32_t i = 0; i < fused->names.count && i < MAX_LISTED_LAUNCHES; i++)
        diag_listed(diags, "beside",
                    arena_printf(&diags->arena, "@%.*s", NAME(module, fused->names.at[i])));
}

static void report_superkernel(struct diags *diags, const struct fused *fused)
{
    struct text own = {NULL, 0, 0}, others = {NULL, 0, 0};
    uint32_t count = put_ops(&own, diags, fused, false),
             parallel = put_ops(&others, diags, fused, true);
    text_char(&own, '\0');
    text_char(&others, '\0');
    const char *scope =
        fused->scope == NONE
            ? ""
            : arena_printf(&diags->arena, "scope '@%.*s': ", NAME(fused->module, fused->scope));
    const struct op *first = &fused->graph->ops.at[fused->ops.at[0]];
    diag_at(diags, DIAG_fused, locate_op(fused->module, first, OP_TYPE_NAME, 0),
            "%ssuper kernel '@%.*s' has %u op%s: %s%s%s", scope, NAME(fused->module, fused->name),
            count, count == 1 ? "" : "s", own.at, parallel ? "; in parallel with it: " : "",
            others.at);
    text_free(&own);
    text_free(&others);
    add_facts(diags, fused);
    if (count == 1)
        diag_help(diags, "one op gains nothing from a super kernel of its own");
}

/* ----------------------------------------------------------------------------- graphs ---- */

/* A graph whose super kernels are reported. */
struct fused_graph {
    const struct module *module;
    const struct graph *graph;
    const struct order *order;
    struct vec_u32 text; /* ops in the order of the text */
    uint8_t *parallel;   /* per op */
    uint32_t *last;      /* by block: the place in the text of the last op of a super kernel */
    uint32_t *named; /* by block: the block as running in parallel with which it was named last */
};

/* What stands between the ops of a super kernel: it runs in parallel with that if it executes
 * something, or stands in its block. */
static void add_parallel(const struct fused_graph *g, uint32_t op, uint32_t block,
                         struct fused *fused)
{
    uint32_t of = graph_superkernel(g->graph, g->graph->ops.at[op].block);
    bool inside = graph_enclosing(g->graph, g->graph->ops.at[op].block, BLOCK_SUPERKERNEL) == block;
    if (of == NONE && (inside || !g->order->passive[op])) {
        g->parallel[op] = 1;
        vec_push(&fused->ops, op);
    }
    if (of == NONE || g->order->passive[op] || g->named[of] == block)
        return;
    g->named[of] = block;
    vec_push(&fused->names, g->graph->blocks.at[of].name);
}

/* From the first op of a super kernel on. */
static void report_from(struct diags *diags, const struct fused_graph *g, uint32_t place)
{
    const struct graph *graph = g->graph;
    uint32_t block = graph_superkernel(graph, graph->ops.at[g->text.at[place]].block);
    struct fused fused = {.module = g->module,
                          .graph = graph,
                          .order = g->order,
                          .name = graph->blocks.at[block].name,
                          .scope = attr_symbol(g->module, graph->blocks.at[block].attrs, W_scope),
                          .parallel = g->parallel};
    for (uint32_t i = place; i <= g->last[block]; i++) {
        uint32_t op = g->text.at[i];
        g->parallel[op] = 0;
        if (graph_superkernel(graph, graph->ops.at[op].block) == block)
            vec_push(&fused.ops, op);
        else
            add_parallel(g, op, block, &fused);
    }
    report_superkernel(diags, &fused);
    vec_free(&fused.ops);
    vec_free(&fused.names);
}

void report_fused(struct diags *diags, const struct module *module, const struct graph *graph,
                  const struct order *order)
{
    struct fused_graph g = {.module = module, .graph = graph, .order = order};
    if (!diags->remarks)
        return;
    g.parallel = mem_calloc(graph->ops.count, 1);
    g.last = mem_calloc(graph->blocks.count, sizeof *g.last);
    g.named = mem_calloc(graph->blocks.count, sizeof *g.named);
    memset(g.named, 0xff, graph->blocks.count * sizeof *g.named); /* NONE */
    for (uint32_t i = 0; i < graph->body.count; i++) {
        if (item_kind(graph->body.at[i]) != ITEM_OP)
            continue;
        uint32_t op = item_id(graph->body.at[i]);
        uint32_t block = graph_superkernel(graph, graph->ops.at[op].block);
        if (block != NONE)
            g.last[block] = g.text.count;
        vec_push(&g.text, op);
    }
    bool *met = mem_calloc(graph->blocks.count, sizeof *met);
    for (uint32_t i = 0; i < g.text.count; i++) {
        uint32_t block = graph_superkernel(graph, graph->ops.at[g.text.at[i]].block);
        if (block == NONE || met[block])
            continue;
        met[block] = true;
        report_from(diags, &g, i);
    }
    mem_free(met);
    mem_free(g.parallel);
    mem_free(g.last);
    mem_free(g.named);
    vec_free(&g.text);
}

void report_fused_again(struct diags *diags, const struct module *module, struct analyses *analyses)
{
    if (!diags->remarks || !diags_have(diags, DIAG_fused))
        return;
    diags_take_back_all(diags, DIAG_fused);
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        gears_tell_copy(diags, module, graph);
        report_fused(diags, module, graph, analyses_order(analyses, module, graph));
    }
    gears_tell_copy(diags, module, NULL);
    diags_settle(diags);
}
