#include "passes/fusion/fused_report.h"
#include "ir/base/text.h"
#include "ir/gears.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

#include <string.h>

enum { MAX_NAMED_OPS = 6, MAX_LISTED_LAUNCHES = 100 };

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

/* Names its own ops, or those and super kernels that run beside it. Returns how many there are. */
static uint32_t put_ops(struct text *text, struct diags *diags, const struct fused *fused,
                        bool beside)
{
    uint32_t count = 0, last = NONE;
    for (uint32_t i = 0; i < fused->count; i++) {
        uint32_t op = fused->ops[i], stream = fused->order->stream[op];
        if (fused->beside[op] != beside || count++ >= MAX_NAMED_OPS)
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
    for (uint32_t i = 0; beside && i < fused->n_names; i++)
        if (count++ < MAX_NAMED_OPS)
            text_printf(text, "%s'@%.*s'", count > 1 ? ", " : "",
                        NAME(fused->module, fused->names[i]));
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
    for (uint32_t i = 0; i < fused->count; i++)
        if (!fused->beside[fused->ops[i]])
            diag_listed(diags, "ops", name_op(diags, fused, fused->ops[i]));
    for (uint32_t i = 0; i < fused->count; i++)
        if (!fused->beside[fused->ops[i]])
            diag_listed(diags, "streams", label_text(diags, fused, fused->ops[i]));
    for (uint32_t i = 0; i < fused->count; i++)
        if (fused->beside[fused->ops[i]])
            diag_listed(diags, "beside", name_op(diags, fused, fused->ops[i]));
    for (uint32_t i = 0; i < fused->n_names && i < MAX_LISTED_LAUNCHES; i++)
        diag_listed(diags, "beside",
                    arena_printf(&diags->arena, "@%.*s", NAME(module, fused->names[i])));
}

void report_fused(struct diags *diags, const struct fused *fused)
{
    if (!diags->remarks)
        return;
    struct text own = {NULL, 0, 0}, others = {NULL, 0, 0};
    uint32_t count = put_ops(&own, diags, fused, false),
             beside = put_ops(&others, diags, fused, true);
    text_char(&own, '\0');
    text_char(&others, '\0');
    const char *scope =
        fused->scope == NONE
            ? ""
            : arena_printf(&diags->arena, "scope '@%.*s': ", NAME(fused->module, fused->scope));
    const struct op *first = &fused->graph->ops.at[fused->ops[0]];
    diag_at(diags, DIAG_fused, locate_op(fused->module, first, OP_TYPE_NAME, 0),
            "%ssuper kernel '@%.*s' has %u op%s: %s%s%s", scope, NAME(fused->module, fused->name),
            count, count == 1 ? "" : "s", own.at, beside ? "; what runs beside it: " : "",
            others.at);
    text_free(&own);
    text_free(&others);
    add_facts(diags, fused);
    if (count == 1)
        diag_help(diags, "one op gains nothing from a super kernel of its own");
}

/* ------------------------------------------------------------------------- once more ---- */

struct again {
    struct diags *diags;
    const struct module *module;
    struct id_map present, said; /* names of super kernels */
    struct id_map scopes;        /* those of which something was taken back */
};

/* The value of a fact as a name, or NONE. */
static uint32_t fact_name(const struct again *again, const struct diag *diag, const char *key)
{
    for (const struct diag_field *field = diag->fields; field; field = field->next)
        if (strcmp(field->key, key) == 0)
            return intern_find(&again->module->names, field->value, strlen(field->value));
    return NONE;
}

static void take_back(struct again *again)
{
    for (uint32_t i = 0; i < again->diags->list.count; i++) {
        const struct diag *diag = &again->diags->list.at[i];
        if (diag->id != DIAG_fused)
            continue;
        uint32_t name = fact_name(again, diag, "superkernel"),
                 scope = fact_name(again, diag, "scope");
        if (name != NONE && id_map_find(&again->present, name) != NONE) {
            id_map_set(&again->said, name, 1);
            continue;
        }
        if (scope != NONE)
            id_map_set(&again->scopes, scope, 1);
        diags_take_back_one(again->diags, i);
    }
}

/* A graph of which it is said. */
struct saying {
    struct again *again;
    const struct graph *graph;
    const struct order *order;
    uint8_t *beside; /* per op */
    uint32_t *last;  /* by block: the place in the text of the last op of a super kernel */
    uint32_t *named; /* by block: the block beside which it was named last */
};

/* What stands between the ops of a super kernel: it runs beside that if it executes something, or
 * stands in its block. */
static void add_beside(const struct saying *saying, uint32_t op, uint32_t block,
                       struct vec_u32 *ops, struct vec_u32 *names)
{
    const struct graph *graph = saying->graph;
    uint32_t of = graph_superkernel(graph, graph->ops.at[op].block);
    bool inside = graph_enclosing(graph, graph->ops.at[op].block, BLOCK_SUPERKERNEL) == block;
    if (of == NONE && (inside || !saying->order->passive[op])) {
        saying->beside[op] = 1;
        vec_push(ops, op);
    }
    if (of == NONE || saying->order->passive[op] || saying->named[of] == block)
        return;
    saying->named[of] = block;
    vec_push(names, graph->blocks.at[of].name);
}

/* From the first op of a super kernel on. */
static void say(const struct saying *saying, uint32_t place)
{
    const struct graph *graph = saying->graph;
    const uint32_t *text = saying->order->text;
    uint32_t block = graph_superkernel(graph, graph->ops.at[text[place]].block);
    const struct block *superkernel = &graph->blocks.at[block];
    struct vec_u32 ops = {NULL, 0, 0}, names = {NULL, 0, 0};
    for (uint32_t i = place; i <= saying->last[block]; i++) {
        saying->beside[text[i]] = 0;
        if (graph_superkernel(graph, graph->ops.at[text[i]].block) == block)
            vec_push(&ops, text[i]);
        else
            add_beside(saying, text[i], block, &ops, &names);
    }
    struct fused fused = {.module = saying->again->module,
                          .graph = graph,
                          .order = saying->order,
                          .name = superkernel->name,
                          .scope = attr_symbol(saying->again->module, superkernel->attrs, W_scope),
                          .ops = ops.at,
                          .count = ops.count,
                          .beside = saying->beside,
                          .names = names.at,
                          .n_names = names.count};
    report_fused(saying->again->diags, &fused);
    vec_free(&ops);
    vec_free(&names);
}

static bool is_new(const struct again *again, const struct block *block)
{
    uint32_t scope = attr_symbol(again->module, block->attrs, W_scope);
    return scope != NONE && id_map_find(&again->scopes, scope) != NONE &&
           id_map_find(&again->said, block->name) == NONE;
}

static void say_all(struct again *again, const struct graph *graph, struct analyses *analyses)
{
    struct saying saying = {.again = again, .graph = graph};
    saying.order = analyses_order(analyses, again->module, graph);
    saying.beside = mem_calloc(graph->ops.count, 1);
    saying.last = mem_calloc(graph->blocks.count, sizeof *saying.last);
    saying.named = mem_calloc(graph->blocks.count, sizeof *saying.named);
    memset(saying.named, 0xff, graph->blocks.count * sizeof *saying.named); /* NONE */
    uint8_t *said = mem_calloc(graph->blocks.count, 1);
    for (uint32_t i = 0; i < saying.order->n_ops; i++) {
        uint32_t op = saying.order->text[i];
        uint32_t block = graph_superkernel(graph, graph->ops.at[op].block);
        if (block != NONE)
            saying.last[block] = i;
    }
    for (uint32_t i = 0; i < saying.order->n_ops; i++) {
        uint32_t op = saying.order->text[i];
        uint32_t block = graph_superkernel(graph, graph->ops.at[op].block);
        if (block != NONE && !said[block]++ && is_new(again, &graph->blocks.at[block]))
            say(&saying, i);
    }
    mem_free(said);
    mem_free(saying.beside);
    mem_free(saying.last);
    mem_free(saying.named);
}

void report_fused_again(struct diags *diags, const struct module *module, struct analyses *analyses)
{
    struct again again = {.diags = diags, .module = module};
    if (!diags->remarks || !diags_have(diags, DIAG_fused))
        return;
    for (uint32_t g = 0; g < module->graphs.count; g++) {
        const struct graph *graph = &module->graphs.at[g];
        for (uint32_t b = 0; b < graph->blocks.count; b++)
            if (graph->blocks.at[b].kind == BLOCK_SUPERKERNEL)
                id_map_set(&again.present, graph->blocks.at[b].name, 1);
    }
    take_back(&again);
    for (uint32_t g = 0; g < module->graphs.count; g++) {
        gears_tell_copy(diags, module, &module->graphs.at[g]);
        say_all(&again, &module->graphs.at[g], analyses);
    }
    gears_tell_copy(diags, module, NULL);
    diags_settle(diags);
    id_map_free(&again.present);
    id_map_free(&again.said);
    id_map_free(&again.scopes);
}
