#include "passes/partition/fused_report.h"
#include "ir/shapes/gears.h"
#include "ir/support/text.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

#include <string.h>

enum { MAX_NAMED_OPS = 6, MAX_LISTED_LAUNCHES = 100 };

struct fused {
    struct diags *diags;
    const struct module *module;
    const struct graph *graph;
    const struct order *order;
    struct vec_u32 text; /* ops in the order of the text */
    /* By block: the place in the text of the last op of a super kernel, and the block as running in
     * parallel with which it was named last. */
    uint32_t *last, *named;
    /* Of the super kernel at hand: its ops, and ops and blocks of super kernels that run in
     * parallel with it. */
    struct vec_u32 ops, parallel, launches;
};

static const char *name_op(const struct fused *f, uint32_t op)
{
    return op_text(f->module, f->graph, &f->graph->ops.at[op], &f->diags->arena);
}

static const char *name_block(const struct fused *f, uint32_t block)
{
    return arena_printf(&f->diags->arena, "%.*s", NAME(f->module, f->graph->blocks.at[block].name));
}

/* Names ops, and after them super kernels. Returns how many there are. */
static uint32_t put_ops(struct text *text, const struct fused *f, const struct vec_u32 *ops,
                        const struct vec_u32 *launches)
{
    uint32_t count = ops->count + (launches ? launches->count : 0);
    for (uint32_t i = 0; i < count && i < MAX_NAMED_OPS; i++) {
        text_string(text, i > 0 ? ", " : "");
        if (i >= ops->count) {
            text_printf(text, "'@%s'", name_block(f, launches->at[i - ops->count]));
            continue;
        }
        uint32_t stream = f->order->stream[ops->at[i]];
        text_string(text, name_op(f, ops->at[i]));
        if (i > 0 && stream == f->order->stream[ops->at[i - 1]])
            continue;
        if (stream == NONE)
            text_string(text, " (the default stream)");
        else
            text_printf(text, " (stream \"%.*s\")", NAME(f->module, stream));
    }
    if (count > MAX_NAMED_OPS)
        text_printf(text, " and %u more", count - MAX_NAMED_OPS);
    text_char(text, '\0');
    return count;
}

static void report_superkernel(const struct fused *f, uint32_t block)
{
    struct diags *diags = f->diags;
    struct arena *arena = &diags->arena;
    struct text own = {NULL, 0, 0}, others = {NULL, 0, 0};
    uint32_t scope_id = attr_symbol(f->module, f->graph->blocks.at[block].attrs, W_scope),
             count = put_ops(&own, f, &f->ops, NULL),
             parallel = put_ops(&others, f, &f->parallel, &f->launches);
    const char *name = name_block(f, block), *scope = NULL;
    if (scope_id != NONE)
        scope = arena_printf(arena, "%.*s", NAME(f->module, scope_id));
    diag_at(diags, DIAG_fused,
            locate_op(f->module, &f->graph->ops.at[f->ops.at[0]], OP_TYPE_NAME, 0),
            "%ssuper kernel '@%s' has %u op%s: %s%s%s",
            scope ? arena_printf(arena, "scope '@%s': ", scope) : "", name, count,
            count == 1 ? "" : "s", own.at, parallel ? "; in parallel with it: " : "", others.at);
    text_free(&own);
    text_free(&others);
    if (scope)
        diag_field(diags, "scope", scope);
    diag_field(diags, "superkernel", name);
    for (uint32_t i = 0; i < f->ops.count; i++)
        diag_listed(diags, "ops", name_op(f, f->ops.at[i]));
    for (uint32_t i = 0; i < f->ops.count; i++) {
        uint32_t stream = f->order->stream[f->ops.at[i]]; /* "" is the default one */
        diag_listed(diags, "streams",
                    stream == NONE ? "" : arena_printf(arena, "%.*s", NAME(f->module, stream)));
    }
    for (uint32_t i = 0; i < f->parallel.count; i++)
        diag_listed(diags, "beside", name_op(f, f->parallel.at[i]));
    for (uint32_t i = 0; i < f->launches.count && i < MAX_LISTED_LAUNCHES; i++)
        diag_listed(diags, "beside", arena_printf(arena, "@%s", name_block(f, f->launches.at[i])));
    if (count == 1)
        diag_help(diags, "one op gains nothing from a super kernel of its own");
}

/* Reports the super kernel whose first op has this place in the text. What stands between its ops
 * runs in parallel with it if it executes something, or stands in its block. */
static void report_from(struct fused *f, uint32_t place)
{
    const struct graph *graph = f->graph;
    uint32_t block = graph_superkernel(graph, graph->ops.at[f->text.at[place]].block);
    f->ops.count = f->parallel.count = f->launches.count = 0;
    for (uint32_t i = place; i <= f->last[block]; i++) {
        uint32_t op = f->text.at[i], around = graph->ops.at[op].block,
                 of = graph_superkernel(graph, around);
        if (of == block) {
            vec_push(&f->ops, op);
        } else if (of == NONE) {
            if (!f->order->passive[op] ||
                graph_enclosing(graph, around, BLOCK_SUPERKERNEL) == block)
                vec_push(&f->parallel, op);
        } else if (!f->order->passive[op] && f->named[of] != block) {
            f->named[of] = block;
            vec_push(&f->launches, of);
        }
    }
    report_superkernel(f, block);
}

void report_fused(struct diags *diags, const struct module *module, const struct graph *graph,
                  const struct order *order)
{
    struct fused f = {.diags = diags, .module = module, .graph = graph, .order = order};
    if (!diags->remarks)
        return;
    f.last = mem_calloc(graph->blocks.count, sizeof *f.last);
    f.named = mem_calloc(graph->blocks.count, sizeof *f.named);
    memset(f.named, 0xff, graph->blocks.count * sizeof *f.named); /* NONE */
    for (uint32_t i = 0; i < graph->body.count; i++) {
        if (item_kind(graph->body.at[i]) != ITEM_OP)
            continue;
        uint32_t op = item_id(graph->body.at[i]);
        uint32_t block = graph_superkernel(graph, graph->ops.at[op].block);
        if (block != NONE)
            f.last[block] = f.text.count;
        vec_push(&f.text, op);
    }
    bool *met = mem_calloc(graph->blocks.count, sizeof *met);
    for (uint32_t i = 0; i < f.text.count; i++) {
        uint32_t block = graph_superkernel(graph, graph->ops.at[f.text.at[i]].block);
        if (block == NONE || met[block])
            continue;
        met[block] = true;
        report_from(&f, i);
    }
    mem_free(met);
    mem_free(f.last);
    mem_free(f.named);
    vec_free(&f.text);
    vec_free(&f.ops);
    vec_free(&f.parallel);
    vec_free(&f.launches);
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
