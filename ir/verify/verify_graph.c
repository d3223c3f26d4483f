/* The verifier's part for graphs as a whole: names, parameters and results. */
#include "ir/syntax/spelling.h"
#include "ir/verify/graph_verifier.h"

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

/* A type that is not written stands nowhere else. */
static void note_inferred(struct graph_verifier *gv, uint32_t value)
{
    uint32_t def = gv->graph->values.at[value].def;
    if (def < gv->graph->ops.count && op_is_untyped(gv->graph, &gv->graph->ops.at[def]))
        diag_note(gv->diags, locate_value(gv->module, gv->graph, value),
                  "its type follows from this op");
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
        verify_use(gv, NULL, OP_OPERAND, i, graph->returns.at[i]);
        uint32_t type = graph->values.at[graph->returns.at[i]].type;
        if (!verify_types_match(module, graph->result_types.at[i], type) &&
            diag_at(gv->diags, DIAG_type_mismatch, locate_return(module, graph, i),
                    "this is %s, but result %u of the graph is %s",
                    type_text(module, type, &gv->diags->arena), i,
                    type_text(module, graph->result_types.at[i], &gv->diags->arena)))
            note_inferred(gv, graph->returns.at[i]);
    }
}

static void verify_result_types(struct graph_verifier *gv)
{
    const struct vec_u32 *types = &gv->graph->result_types;
    for (uint32_t i = 0; i < types->count; i++) {
        if (type_is_open(gv, types->at[i]))
            verify_type(gv, types->at[i], locate_graph_result(gv->module, gv->graph, i));
        if (types->at[i] == gv->token)
            diag_at(gv->diags, DIAG_token, locate_graph_result(gv->module, gv->graph, i),
                    "a token cannot be a result of a graph");
    }
}

static void verify_op_attrs(struct graph_verifier *gv)
{
    for (uint32_t i = 0; i < gv->graph->ops.count; i++)
        verify_attrs(gv->verifier, gv->graph->ops.at[i].attrs, OWNER_OP);
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
    verify_result_types(&gv);
    verify_blocks(&gv);
    verify_op_attrs(&gv);
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
