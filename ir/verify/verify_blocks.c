/* The verifier's part for the blocks of a graph: where they may stand, and what those of one name
 * agree on. */
#include "ir/sk_options.h"
#include "ir/verify/graph_verifier.h"

static void verify_nesting(struct graph_verifier *gv, const struct block *block)
{
    uint32_t outer = graph_enclosing(gv->graph, block->parent, BLOCK_SUPERKERNEL);
    struct span span = locate_name(gv->module, block->loc);
    if (outer != NONE && block->kind != BLOCK_STREAM)
        diag_at(gv->diags, DIAG_nesting, span, "only streams may stand inside a super kernel");
    if (block->kind == BLOCK_SUPERKERNEL &&
        graph_enclosing(gv->graph, block->parent, BLOCK_SCOPE) != NONE)
        diag_at(gv->diags, DIAG_nesting, span, "a super kernel may not stand inside a scope");
}

/* What sets the options of two blocks apart. */
static void explain_options(struct graph_verifier *gv, uint32_t before, uint32_t here)
{
    struct sk_options a, b;
    bool right = sk_options_of(&a, gv->module, before);
    right = sk_options_of(&b, gv->module, here) && right;
    unsigned option = sk_options_differ(&a, &b, 0);
    if (!right || option == SK_OPTION_COUNT)
        return;
    const struct sk_setting *x = &a.of[option], *y = &b.of[option];
    const char *key = sk_option_key((enum sk_option)option);
    diag_help(gv->diags, "'%s' is %.*s there, and %.*s here: give it in one block, for all", key,
              x->given ? (int)x->size : 9, x->given ? x->text : "not given",
              y->given ? (int)y->size : 9, y->given ? y->text : "not given");
}

/* Blocks of one scope or stream that give an attribute must give the same. */
static void verify_agreement(struct graph_verifier *gv, enum block_kind kind, uint32_t key)
{
    const struct graph *graph = gv->graph;
    const struct module *module = gv->module;
    marks_clear(gv->verifier);
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        const struct block *block = &graph->blocks.at[i];
        const struct attr *attr = block->kind == kind ? attr_find(module, block->attrs, key) : NULL;
        uint32_t first = NONE;
        if (!attr || !marks_set(gv->verifier, block->name, i, &first))
            continue;
        const struct attr *before = attr_find(module, graph->blocks.at[first].attrs, key);
        if (before->value.kind == attr->value.kind && before->value.i == attr->value.i)
            continue;
        if (diag_at(gv->diags, DIAG_conflict, locate_token(module, attr->loc),
                    "another block of '%.*s' has another '%.*s'", NAME(module, block->name),
                    NAME(module, key))) {
            if (key == W_options && attr->value.kind == ATTR_STRING &&
                before->value.kind == ATTR_STRING)
                explain_options(gv, before->value.id, attr->value.id);
            diag_note(gv->diags, locate_token(module, before->loc), "it is here");
        }
    }
}

void verify_blocks(struct graph_verifier *gv)
{
    static const enum attr_owner owners[] = {OWNER_SCOPE, OWNER_SCOPE, OWNER_STREAM,
                                             OWNER_SUPERKERNEL};
    const struct graph *graph = gv->graph;
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        const struct block *block = &graph->blocks.at[i];
        verify_attrs(gv->verifier, block->attrs, owners[block->kind]);
        verify_nesting(gv, block);
    }
    marks_clear(gv->verifier);
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        verify_options(gv->verifier, &graph->blocks.at[i]);
    verify_agreement(gv, BLOCK_SCOPE, W_options);
    verify_agreement(gv, BLOCK_STREAM, W_priority);
    verify_agreement(gv, BLOCK_STREAM, W_id);
}
