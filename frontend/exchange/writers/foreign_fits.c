/* What no format of graphs can have. */
#include "frontend/exchange/writers/foreign.h"
#include "ir/base/utf8.h"
#include "ir/syntax/locate.h"

struct fits {
    const struct foreign_form *form;
    const struct module *module;
    struct diags *diags;
    struct text clean;
};

static bool is_utf8(struct fits *fits, uint32_t name)
{
    const struct intern_name *n = &fits->module->names.names[name];
    fits->clean.size = 0;
    text_utf8(&fits->clean, n->text, n->size);
    return fits->clean.size == n->size &&
           (n->size == 0 || memcmp(fits->clean.at, n->text, n->size) == 0);
}

static void refuse_name(struct fits *fits, const char *what, uint32_t name, struct span span)
{
    diag_at(fits->diags, DIAG_not_exported, span, "%s '%.*s' is not UTF-8, which %s wants", what,
            NAME(fits->module, name), fits->form->name);
}

/* Blocks are what their ops say; others may name a super kernel without any. */
static void check_launch(struct fits *fits, const struct block *block)
{
    struct span span = locate_name(fits->module, block->loc);
    diag_at(fits->diags, DIAG_not_exported, span,
            "the super kernel '%.*s' has no ops, which %s cannot have",
            NAME(fits->module, block->name), fits->form->name);
}

static void check_launches(struct fits *fits, const struct graph *graph)
{
    uint32_t ops = 0,
             before = 0; /* so far, and when the last super kernel opened; these nest not */
    for (uint32_t i = 0; i < graph->body.count; i++) {
        uint64_t item = graph->body.at[i];
        const struct block *block =
            item_kind(item) == ITEM_OP ? NULL : &graph->blocks.at[item_id(item)];
        if (!block)
            ops += graph_superkernel(graph, graph->ops.at[item_id(item)].block) != NONE;
        if (!block || block->kind != BLOCK_SUPERKERNEL)
            continue;
        if (item_kind(item) == ITEM_CLOSE && ops == before)
            check_launch(fits, block);
        before = ops;
    }
}

static void check_graph(struct fits *fits, const struct graph *graph)
{
    const struct module *module = fits->module;
    if (!is_utf8(fits, graph->name))
        refuse_name(fits, "the name of the graph", graph->name, locate_name(module, graph->loc));
    if (graph->cases.count &&
        diag_at(fits->diags, DIAG_not_exported, locate_name(module, graph->loc),
                "the gears of this graph are expanded, which %s cannot have", fits->form->name))
        diag_help(fits->diags, "export the graph as it was before, or that of one combination");
    check_launches(fits, graph);
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        if (!is_utf8(fits, op->type))
            refuse_name(fits, "the op type", op->type, locate_op(module, op, OP_TYPE_NAME, 0));
    }
    for (uint32_t i = 0; i < graph->values.count; i++) {
        uint32_t name = graph->values.at[i].name;
        if (!is_utf8(fits, name))
            refuse_name(fits, "the name of the value", name, locate_value(module, graph, i));
    }
}

bool foreign_fits(const struct foreign_form *form, const struct module *module, struct diags *diags)
{
    struct fits fits = {form, module, diags, {NULL, 0, 0}};
    uint32_t errors = diags->counts[SEVERITY_ERROR];
    if (module->graphs.count == 0)
        diag_at(diags, DIAG_not_exported, no_span, "there is no graph, and %s has nothing else",
                form->name);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        check_graph(&fits, &module->graphs.at[i]);
    text_free(&fits.clean);
    return diags->counts[SEVERITY_ERROR] == errors;
}

bool foreign_fits_one(const struct foreign_form *form, const struct module *module,
                      struct diags *diags)
{
    if (module->graphs.count < 2)
        return true;
    struct span span = locate_name(module, module->graphs.at[1].loc);
    diag_at(diags, DIAG_not_exported, span, "%s is one graph, and this is another", form->name);
    return false;
}
