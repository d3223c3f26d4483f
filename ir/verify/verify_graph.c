/* The verifier's part for graphs as a whole: names, parameters and results; and for blocks: where
 * they may be, what those of one name agree on, and their options. */
#include "ir/analysis/modref.h"
#include "ir/core/calls.h"
#include "ir/core/sk_options.h"
#include "ir/syntax/spelling.h"
#include "ir/verify/verify_internal.h"

/* ----------------------------------------------------------------------- options ---- */

bool verify_wants_option_warnings(const struct diags *diags)
{
    for (uint32_t i = 0; i < diags->list.count; i++)
        if (diags->list.at[i].id == DIAG_option_ignored)
            return false;
    return true;
}

/* Each text once for all blocks between two marks_clear. Where there are no warnings to give, only
 * a text with faults is read for reports. */
static void verify_options(struct verifier *verifier, const struct block *block)
{
    const struct module *module = verifier->module;
    struct sk_options options;
    if (block->kind == BLOCK_STREAM || block->attrs.count == 0)
        return;
    const struct attr *attr = attr_find(module, block->attrs, W_options);
    if (!attr || attr->value.kind != ATTR_STRING || marks_set(verifier, attr->value.id, 0, NULL))
        return;
    const struct intern_name *text = &module->names.names[attr->value.id];
    if (verifier->option_warnings ||
        !sk_options_parse(&options, text->text, text->size, no_span, NULL))
        sk_options_parse(&options, text->text, text->size, locate_options(module, attr),
                         verifier->diags);
}

/* ------------------------------------------------------------------------ blocks ---- */

static void verify_nesting(struct graph_verifier *gv, const struct block *block)
{
    uint32_t outer = graph_enclosing(gv->graph, block->parent, BLOCK_SUPERKERNEL);
    bool beside =
        block->kind == BLOCK_SCOPE_NONE && graph_superkernel(gv->graph, block->parent) == outer;
    struct span span = locate_name(gv->module, block->loc);
    if (outer != NONE && block->kind != BLOCK_STREAM && !beside)
        diag_at(gv->diags, DIAG_nesting, span,
                "only streams, and 'scope none' around what runs beside it, may stand inside a "
                "super kernel");
    else if ((block->kind == BLOCK_SUPERKERNEL || block->kind == BLOCK_SUPERKERNEL_REST) &&
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

/* What stands in a super kernel without being of it runs while that does: on another stream, or it
 * would have to run before or after all of it. */
static void verify_beside(struct graph_verifier *gv, const struct op *op, uint32_t block)
{
    const struct module *module = gv->module;
    const struct block *superkernel = &gv->graph->blocks.at[block];
    uint32_t launch = attr_string(module, superkernel->attrs, W_stream);
    uint32_t in = graph_enclosing(gv->graph, op->block, BLOCK_STREAM);
    uint32_t label = in == NONE ? NONE : stream_label(gv->graph->blocks.at[in].name);
    struct span span = locate_op(module, op, OP_TYPE_NAME, 0);
    if (op_call_kind(op) != CALL_NONE)
        diag_at(gv->diags, DIAG_unsupported, span,
                "an op that calls graphs cannot run beside a super kernel: move it out of '@%.*s'",
                NAME(module, superkernel->name));
    else if (label == (launch == NONE ? NONE : stream_label(launch)) &&
             !op_is_passive(module, gv->graph, op) &&
             diag_at(gv->diags, DIAG_beside, span,
                     "this op cannot run beside '@%.*s', on whose stream it is",
                     NAME(module, superkernel->name)))
        diag_help(gv->diags, "launches of one stream run one after another: put it on another "
                             "stream, or before or behind the super kernel");
}

/* Graphs that are called run when all launches above have ended. */
static void verify_calls_between(struct graph_verifier *gv)
{
    const struct graph *graph = gv->graph;
    /* By super kernel: the place in the body where the last of its later blocks begins, or 0. */
    uint32_t *last = NULL, open = NONE;
    for (uint32_t i = 0; i < graph->body.count; i++) {
        uint32_t id = item_id(graph->body.at[i]);
        if (item_kind(graph->body.at[i]) != ITEM_OPEN ||
            graph->blocks.at[id].kind != BLOCK_SUPERKERNEL_REST)
            continue;
        if (!last)
            last = mem_calloc(graph->blocks.count, sizeof *last);
        last[graph->blocks.at[id].whole] = i;
    }
    for (uint32_t i = 0; last && i < graph->body.count; i++) {
        uint32_t id = item_id(graph->body.at[i]);
        enum item_kind kind = item_kind(graph->body.at[i]);
        if (kind == ITEM_OPEN && last[id] > i && (open == NONE || last[id] > last[open]))
            open = id;
        if (kind != ITEM_OP || open == NONE || last[open] < i ||
            op_call_kind(&graph->ops.at[id]) == CALL_NONE)
            continue;
        if (diag_at(gv->diags, DIAG_unsupported,
                    locate_op(gv->module, &graph->ops.at[id], OP_TYPE_NAME, 0),
                    "an op that calls graphs cannot run beside a super kernel, and '@%.*s' goes on "
                    "below",
                    NAME(gv->module, graph->blocks.at[open].name)))
            diag_help(gv->diags,
                      "move it above the first block, behind the last one, or make two super "
                      "kernels of it");
    }
    mem_free(last);
}

void verify_blocks(struct graph_verifier *gv)
{
    static const enum attr_owner owners[] = {OWNER_SCOPE, OWNER_SCOPE, OWNER_STREAM,
                                             OWNER_SUPERKERNEL, OWNER_SUPERKERNEL};
    const struct graph *graph = gv->graph;
    bool superkernels = false;
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        const struct block *block = &graph->blocks.at[i];
        superkernels |= block->kind == BLOCK_SUPERKERNEL;
        verify_attrs(gv->verifier, block->attrs, owners[block->kind]);
        verify_nesting(gv, block);
    }
    marks_clear(gv->verifier);
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        verify_options(gv->verifier, &graph->blocks.at[i]);
    for (uint32_t i = 0; superkernels && i < graph->ops.count; i++) {
        uint32_t block = graph_enclosing(graph, graph->ops.at[i].block, BLOCK_SUPERKERNEL);
        if (block != NONE && graph_superkernel(graph, graph->ops.at[i].block) == NONE)
            verify_beside(gv, &graph->ops.at[i], block);
    }
    if (superkernels)
        verify_calls_between(gv);
    verify_agreement(gv, BLOCK_SCOPE, W_options);
    verify_agreement(gv, BLOCK_STREAM, W_priority);
    verify_agreement(gv, BLOCK_STREAM, W_id);
}

/* All definitions, so that a use before its definition is told from an unknown name. */
static void verify_names(struct graph_verifier *gv)
{
    const struct graph *graph = gv->graph;
    marks_clear(gv->verifier);
    for (uint32_t i = 0; i < graph->values.count; i++) {
        const struct value *value = &graph->values.at[i];
        uint32_t first = NONE;
        if (value->def == DEF_MISSING || !marks_set(gv->verifier, value->name, i, &first))
            continue;
        if (diag_at(gv->diags, DIAG_duplicate, locate_value(gv->module, graph, i),
                    "'%%%.*s' is defined twice", NAME(gv->module, value->name)))
            diag_note(gv->diags, locate_value(gv->module, graph, first), "the first is here");
    }
}

static void verify_params(struct graph_verifier *gv)
{
    for (uint32_t i = 0; i < gv->graph->n_params; i++) {
        const struct param *param = &gv->graph->params.at[i];
        uint32_t type = gv->graph->values.at[i].type;
        if (type_is_open(gv, type))
            verify_type(gv, type, locate_param_type(gv->module, param));
        if (type == gv->token)
            diag_at(gv->diags, DIAG_token, locate_param_type(gv->module, param),
                    "a token cannot be a parameter");
        verify_attrs(gv->verifier, param->attrs, OWNER_PARAM);
        if (!attr_flag(gv->module, param->attrs, W_static))
            continue;
        for (uint32_t d = 0; d < type_n_dims(&gv->module->types.at[type]); d++)
            if (dim_is_gear(type_dims(gv->module, type)[d]))
                diag_at(gv->diags, DIAG_gear, locate_param_type(gv->module, param),
                        "a 'static' parameter cannot have the dimension '%.*s' in its shape",
                        NAME(gv->module, dim_gear(type_dims(gv->module, type)[d])));
    }
}

static void verify_return(struct graph_verifier *gv)
{
    const struct graph *graph = gv->graph;
    const struct module *module = gv->module;
    struct span span = locate_token(module, graph->return_loc);
    if (graph->return_loc == NONE && graph->returns.count == 0 && graph->result_types.count) {
        if (diag_at(gv->diags, DIAG_return, locate_token(module, graph->end_loc),
                    "the graph has %u result%s, but no 'return'", graph->result_types.count,
                    graph->result_types.count == 1 ? "" : "s"))
            diag_help(gv->diags, "end the graph with 'return %%VALUE, ...'");
        return;
    }
    if (graph->returns.count != graph->result_types.count) {
        diag_at(gv->diags, DIAG_return, span, "%u value%s returned, but the graph has %u result%s",
                graph->returns.count, graph->returns.count == 1 ? "" : "s",
                graph->result_types.count, graph->result_types.count == 1 ? "" : "s");
        return;
    }
    for (uint32_t i = 0; i < graph->returns.count; i++) {
        uint32_t value = graph->returns.at[i], declared = graph->result_types.at[i];
        uint32_t type = graph->values.at[value].type, def = graph->values.at[value].def;
        verify_use(gv, NULL, OP_OPERAND, i, value);
        if (!verify_types_match(module, declared, type) &&
            diag_at(gv->diags, DIAG_type_mismatch, locate_return(module, graph, i),
                    "this is %s, but result %u of the graph is %s",
                    type_text(module, type, &gv->diags->arena), i,
                    type_text(module, declared, &gv->diags->arena)) &&
            def < graph->ops.count && op_is_untyped(graph, &graph->ops.at[def]))
            diag_note(gv->diags, locate_value(module, graph, value),
                      "its type follows from this op");
    }
}

void verify_graph(struct verifier *verifier, const struct graph *graph)
{
    struct graph_verifier gv = {.verifier = verifier,
                                .module = verifier->module,
                                .diags = verifier->diags,
                                .graph = graph,
                                /* Values without a type have NONE. */
                                .token = verifier->module->token == NONE ? NONE - 1
                                                                         : verifier->module->token,
                                .type_checked = mem_calloc(verifier->module->types.count, 1),
                                .reached = mem_calloc(graph->ops.count, 1)};
    uint32_t errors = verifier->diags->counts[SEVERITY_ERROR];
    verify_attrs(verifier, graph->attrs, OWNER_GRAPH);
    verify_dim_names(&gv);
    verify_params(&gv);
    for (uint32_t i = 0; i < graph->result_types.count; i++) {
        uint32_t type = graph->result_types.at[i];
        if (type_is_open(&gv, type))
            verify_type(&gv, type, locate_graph_result(gv.module, graph, i));
        if (type == gv.token)
            diag_at(gv.diags, DIAG_token, locate_graph_result(gv.module, graph, i),
                    "a token cannot be a result of a graph");
    }
    verify_blocks(&gv);
    for (uint32_t i = 0; i < graph->ops.count; i++)
        verify_attrs(verifier, graph->ops.at[i].attrs, OWNER_OP);
    verify_names(&gv); /* its marks serve what follows */
    verify_ops(&gv);
    if (graph->cases.count)
        verify_cases(&gv);
    else
        verify_return(&gv);
    if (verifier->diags->counts[SEVERITY_ERROR] == errors)
        verify_addresses(&gv);
    mem_free(gv.type_checked);
    mem_free(gv.reached);
    id_map_free(&gv.dims);
    id_map_free(&gv.labels);
    vec_free(&gv.tensors);
    id_map_free(&gv.numbers);
    if (verifier->diags->counts[SEVERITY_ERROR] == errors)
        verify_order(verifier, graph);
}
