/* The verifier's part for graphs: values, types, kernels, blocks, gears. */
#include "ir/base/text.h"
#include "ir/variants.h"
#include "ir/verify/verify_internal.h"

static const struct span no_span = {0, 0};

enum { MAX_GEAR_COMBINATIONS = 100 };

/* ---------------------------------------------------------------------------- types ---- */

struct graph_verifier {
    struct verifier *verifier;
    const struct module *module;
    struct diags *diags;
    const struct graph *graph;
    uint8_t *type_checked; /* by type id: its format and gears were looked at */
    uint8_t *reached;      /* by op id: the walk over the text has passed it */
};

static bool format_known(const struct module *module, uint32_t format)
{
    static const char *const formats[] = {
#define FORMAT(name) #name,
#include "ir/formats.def"
#undef FORMAT
    };
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (name_is(module, format, formats[i]))
            return true;
    return false;
}

static void suggest_format(struct graph_verifier *gv, uint32_t format)
{
    struct suggest suggest = suggest_for(gv->module, format);
#define FORMAT(name) suggest_offer(&suggest, #name, sizeof #name - 1);
#include "ir/formats.def"
#undef FORMAT
    suggest_note(gv->diags, &suggest, "");
}

static bool gear_known(const struct graph *graph, uint32_t name)
{
    for (uint32_t i = 0; i < graph->gears.count; i++)
        if (graph->gears.at[i].name == name)
            return true;
    return false;
}

static void unknown_gear(struct graph_verifier *gv, struct span span, uint32_t name)
{
    if (!diag_at(gv->diags, DIAG_unknown_gear, span, "the graph declares no gear '%.*s'",
                 NAME(gv->module, name)))
        return;
    struct suggest suggest = suggest_for(gv->module, name);
    for (uint32_t i = 0; i < gv->graph->gears.count; i++)
        suggest_name(&suggest, gv->module, gv->graph->gears.at[i].name);
    if (suggest.best)
        suggest_note(gv->diags, &suggest, "");
    else
        diag_note(gv->diags, no_span,
                  "a dimension is an integer, '?', or a name of 'gears zip (%.*s = [...])'",
                  NAME(gv->module, name));
}

/* Each type is looked at once per graph, where it is first used. */
static void verify_type(struct graph_verifier *gv, uint32_t type, struct span span)
{
    if (type == NONE || gv->type_checked[type])
        return;
    gv->type_checked[type] = 1;
    const struct type *t = &gv->module->types.at[type];
    const int64_t *dims = type_dims(gv->module, type);
    for (uint32_t i = 0; i < t->rank; i++)
        if (dim_is_gear(dims[i]) && !gear_known(gv->graph, dim_gear(dims[i])))
            unknown_gear(gv, span, dim_gear(dims[i]));
    if (!format_known(gv->module, t->format) &&
        diag_at(gv->diags, DIAG_unknown_format, span, "unknown memory format '%.*s'",
                NAME(gv->module, t->format)))
        suggest_format(gv, t->format);
}

static void verify_gear(struct graph_verifier *gv, const struct gear *gear)
{
    const int64_t *values = gv->graph->gear_values.at + gear->values.first;
    struct span span = locate_token(gv->module, gear->loc);
    if (marks_set(gv->verifier, gear->name, 0, NULL))
        diag_at(gv->diags, DIAG_duplicate, span, "the gear '%.*s' stands twice",
                NAME(gv->module, gear->name));
    for (uint32_t i = 0; i < gear->values.count; i++)
        if (values[i] < 2)
            diag_at(gv->diags, DIAG_gear, span, "%lld is not allowed as a value of gear '%.*s'",
                    (long long)values[i], NAME(gv->module, gear->name));
    if (gv->graph->gear_mode == GEARS_ZIP &&
        gear->values.count != gv->graph->gears.at[0].values.count)
        diag_at(gv->diags, DIAG_gear, span,
                "'zip' pairs values by position, but '%.*s' has %u and '%.*s' has %u",
                NAME(gv->module, gear->name), gear->values.count,
                NAME(gv->module, gv->graph->gears.at[0].name), gv->graph->gears.at[0].values.count);
}

static void verify_gears(struct graph_verifier *gv)
{
    uint64_t combinations = 1;
    marks_clear(gv->verifier);
    for (uint32_t i = 0; i < gv->graph->gears.count; i++) {
        const struct gear *gear = &gv->graph->gears.at[i];
        verify_gear(gv, gear);
        if (gv->graph->gear_mode == GEARS_ZIP)
            combinations = gear->values.count;
        else if (combinations <= MAX_GEAR_COMBINATIONS)
            combinations *= gear->values.count;
    }
    if (combinations > MAX_GEAR_COMBINATIONS)
        diag_at(gv->diags, DIAG_gear, locate_token(gv->module, gv->graph->gears.at[0].loc),
                "gears make more than %d combinations", MAX_GEAR_COMBINATIONS);
}

/* --------------------------------------------------------------------------- values ---- */

static void missing_value(struct graph_verifier *gv, const struct op *op, enum op_part part,
                          uint32_t index, uint32_t value)
{
    const struct graph *graph = gv->graph;
    uint32_t name = graph->values.at[value].name;
    struct span span =
        op ? locate_op(gv->module, op, part, index) : locate_return(gv->module, graph, index);
    struct mark mark = gv->verifier->marks[name];
    if (mark.stamp == gv->verifier->stamp) {
        if (diag_at(gv->diags, DIAG_use_before_def, span, "'%%%.*s' is used before its definition",
                    NAME(gv->module, name)))
            diag_note(gv->diags, locate_value(gv->module, graph, mark.id), "it is defined here");
        return;
    }
    if (!diag_at(gv->diags, DIAG_unknown_value, span, "nothing defines '%%%.*s'",
                 NAME(gv->module, name)))
        return;
    struct suggest suggest = suggest_for(gv->module, name);
    if (diag_wants_suggestion(gv->diags))
        for (uint32_t i = 0; i < graph->values.count; i++)
            if (graph->values.at[i].def != DEF_MISSING)
                suggest_name(&suggest, gv->module, graph->values.at[i].name);
    suggest_note(gv->diags, &suggest, "%");
}

/* A value is known at an op when it is a parameter or an earlier op's result. */
static void verify_use(struct graph_verifier *gv, const struct op *op, enum op_part part,
                       uint32_t index, uint32_t value)
{
    const struct value *v = &gv->graph->values.at[value];
    if (v->def == DEF_MISSING || (v->def != DEF_PARAM && !gv->reached[v->def]))
        missing_value(gv, op, part, index, value);
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

/* ------------------------------------------------------------------- ops and kernels ---- */

/* Spelling of a type; lives as long as the diagnostics. */
static const char *type_text(struct graph_verifier *gv, uint32_t type)
{
    struct text text = {NULL, 0, 0};
    text_type(&text, gv->module, type);
    const char *copy = arena_strndup(&gv->diags->arena, text.at, text.size);
    text_free(&text);
    return copy;
}

static bool dims_match(int64_t declared, int64_t actual)
{
    return declared == actual || declared == DIM_UNKNOWN || actual == DIM_UNKNOWN;
}

/* Whether a value of type `actual` may stand where `declared` is asked for: `?` matches all. */
static bool types_match(const struct module *module, uint32_t declared, uint32_t actual)
{
    if (declared == actual || actual == NONE)
        return true;
    const struct type *d = &module->types.at[declared], *a = &module->types.at[actual];
    if (d->dtype != a->dtype || d->format != a->format || d->rank != a->rank)
        return false;
    for (uint32_t i = 0; i < d->rank; i++)
        if (!dims_match(type_dims(module, declared)[i], type_dims(module, actual)[i]))
            return false;
    return true;
}

/* Checks the op's values against the kernel's `inputs` or `outputs`. */
static void verify_declared_types(struct graph_verifier *gv, const struct op *op,
                                  const struct kernel *kernel, uint32_t key)
{
    const struct module *module = gv->module;
    const struct attr *declared = attr_find(module, kernel->attrs, key);
    bool inputs = key == W_inputs;
    uint32_t count = inputs ? op->operands.count : op->results.count;
    if (!declared || declared->value.kind != ATTR_LIST)
        return;
    if (declared->value.count != count) {
        if (diag_at(gv->diags, inputs ? DIAG_operand_count : DIAG_result_count,
                    locate_op(module, op, OP_KERNEL, 0), "the op has %u %s%s, the kernel %u", count,
                    inputs ? "operand" : "result", count == 1 ? "" : "s", declared->value.count))
            diag_note(gv->diags, locate_token(module, declared->loc), "declared here");
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct attr_value *type = &module->attr_values.at[declared->value.first + i];
        uint32_t value = inputs ? op_operands(gv->graph, op)[i] : op->results.first + i;
        uint32_t actual = gv->graph->values.at[value].type;
        if (type->kind != ATTR_TYPE || types_match(module, type->id, actual))
            continue;
        if (diag_at(gv->diags, DIAG_type_mismatch,
                    locate_op(module, op, inputs ? OP_OPERAND : OP_RESULT_TYPE, i),
                    "this is %s, but the kernel %s %s", type_text(gv, actual),
                    inputs ? "takes" : "gives", type_text(gv, type->id)))
            diag_note(gv->diags, locate_token(module, declared->loc), "declared here");
    }
}

/* Parameters but `workspace` and `tiling` are the operands, then the results. */
static void verify_param_count(struct graph_verifier *gv, const struct op *op,
                               const struct kernel *kernel)
{
    const struct module *module = gv->module;
    const struct attr *params = attr_find(module, kernel->attrs, W_params);
    if (!params || params->value.kind != ATTR_LIST)
        return;
    uint32_t tensors = 0;
    for (uint32_t i = 0; i < params->value.count; i++) {
        uint32_t word = module->attr_values.at[params->value.first + i].id;
        tensors += word != W_workspace && word != W_tiling;
    }
    if (tensors == op->operands.count + op->results.count)
        return;
    if (diag_at(gv->diags, DIAG_operand_count, locate_op(module, op, OP_TYPE_NAME, 0),
                "%u operand%s and %u result%s, but '@%.*s' takes %u tensors", op->operands.count,
                op->operands.count == 1 ? "" : "s", op->results.count,
                op->results.count == 1 ? "" : "s", NAME(module, kernel->name), tensors))
        diag_note(gv->diags, locate_token(module, params->loc), "its parameters are here");
}

/* The keys that there are, for a note. */
static void note_keys(struct graph_verifier *gv, const struct kernel *kernel)
{
    enum { MAX_KEYS = 8 };
    struct text text = {NULL, 0, 0};
    uint32_t count = kernel_variants(gv->module, kernel);
    for (uint32_t i = 0; i < count && i < MAX_KEYS; i++)
        text_printf(&text, i ? ", %lld" : "%lld",
                    (long long)kernel_variant(gv->module, kernel, i).key);
    diag_note(gv->diags, locate_name(gv->module, kernel->loc), "it has the keys %.*s%s",
              (int)text.size, text.at, count > MAX_KEYS ? ", ..." : "");
    text_free(&text);
}

/* What the op says of its tiling fits its kernel. */
static void verify_tiling(struct graph_verifier *gv, const struct op *op,
                          const struct kernel *kernel)
{
    const struct module *module = gv->module;
    const struct attr *key = attr_find(module, op->attrs, W_tiling_key);
    const struct attr *blocks = attr_find(module, op->attrs, W_tiling_blocks);
    const struct attr *any = key ? key : blocks;
    if (!any && attr_flag(module, op->attrs, W_dynamic))
        any = attr_find(module, op->attrs, W_dynamic);
    if (!any)
        return;
    if (!kernel_is_dynamic(module, kernel)) {
        if (diag_at(gv->diags, DIAG_dynamic_kernel, locate_token(module, any->loc),
                    "'@%.*s' is no dynamic kernel, so the op can have no '%.*s'",
                    NAME(module, kernel->name), NAME(module, any->key)))
            diag_note(gv->diags, locate_name(module, kernel->loc), "it is declared here");
        return;
    }
    if (!key || key->value.kind != ATTR_INT || !kernel_variants(module, kernel))
        return;
    uint32_t found = kernel_find_variant(module, kernel, key->value.i);
    if (found == NONE) {
        if (diag_at(gv->diags, DIAG_dynamic_kernel, locate_token(module, key->loc),
                    "'@%.*s' has no variant with the key %lld", NAME(module, kernel->name),
                    (long long)key->value.i))
            note_keys(gv, kernel);
        return;
    }
    enum kernel_type type = kernel_variant(module, kernel, found).type;
    int64_t wanted = attr_int(module, op->attrs, W_tiling_blocks, 1);
    if (wanted > module_blocks(module, type))
        diag_at(gv->diags, DIAG_number_range, locate_token(module, blocks->loc),
                "the op asks for %lld blocks, but the target has %u for type %s", (long long)wanted,
                module_blocks(module, type), kernel_type_info(type)->name);
}

static void verify_op_kernel(struct graph_verifier *gv, const struct op *op)
{
    const struct module *module = gv->module;
    const struct kernel *kernel = module_find_kernel(module, op->kernel);
    if (!kernel) {
        verify_unknown_kernel(gv->verifier, locate_op(module, op, OP_KERNEL, 0), op->kernel);
        return;
    }
    uint32_t type = attr_string(module, kernel->attrs, W_op);
    if (type != NONE && type != op->type &&
        diag_at(gv->diags, DIAG_op_kernel, locate_op(module, op, OP_TYPE_NAME, 0),
                "'@%.*s' is a kernel for '%.*s', not '%.*s'", NAME(module, kernel->name),
                NAME(module, type), NAME(module, op->type)))
        diag_note(gv->diags, locate_name(module, kernel->loc), "it is declared here");
    verify_param_count(gv, op, kernel);
    verify_declared_types(gv, op, kernel, W_inputs);
    verify_declared_types(gv, op, kernel, W_outputs);
    if (op->attrs.count)
        verify_tiling(gv, op, kernel);
}

/* Each index of `inplace` names an operand. */
static void verify_inplace(struct graph_verifier *gv, const struct op *op)
{
    const struct module *module = gv->module;
    const struct attr *inplace = attr_find(module, op->attrs, W_inplace);
    for (uint32_t i = 0; inplace && inplace->value.kind == ATTR_LIST && i < inplace->value.count;
         i++) {
        const struct attr_value *index = &module->attr_values.at[inplace->value.first + i];
        if (index->kind == ATTR_INT && (index->i < 0 || index->i >= op->operands.count))
            diag_at(gv->diags, DIAG_number_range, locate_token(module, inplace->loc),
                    "'inplace' names operand %lld of an op that has %u", (long long)index->i,
                    op->operands.count);
    }
}

static void verify_op(struct graph_verifier *gv, uint32_t id)
{
    const struct graph *graph = gv->graph;
    const struct op *op = &graph->ops.at[id];
    for (uint32_t i = 0; i < op->operands.count; i++)
        verify_use(gv, op, OP_OPERAND, i, op_operands(graph, op)[i]);
    for (uint32_t i = 0; i < op->results.count; i++) {
        uint32_t type = graph->values.at[op->results.first + i].type;
        if (type != NONE && !gv->type_checked[type])
            verify_type(gv, type, locate_op(gv->module, op, OP_RESULT_TYPE, i));
    }
    if (op->clauses) {
        struct range after = op_clauses(graph, op)->after;
        for (uint32_t i = 0; i < after.count; i++)
            verify_use(gv, op, OP_AFTER, i, graph->refs.at[after.first + i]);
    }
    if (op->attrs.count)
        verify_inplace(gv, op);
    if (op->kernel != NONE)
        verify_op_kernel(gv, op);
    gv->reached[id] = 1;
}

/* --------------------------------------------------------------------------- blocks ---- */

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
                    NAME(module, key)))
            diag_note(gv->diags, locate_token(module, before->loc), "it is here");
    }
}

static void verify_blocks(struct graph_verifier *gv)
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
    for (uint32_t i = 0; i < graph->blocks.count; i++) {
        const struct block *block = &graph->blocks.at[i];
        uint32_t first = NONE;
        if (block->kind == BLOCK_SUPERKERNEL && marks_set(gv->verifier, block->name, i, &first) &&
            diag_at(gv->diags, DIAG_duplicate, locate_name(gv->module, block->loc),
                    "the super kernel '@%.*s' stands twice", NAME(gv->module, block->name)))
            diag_note(gv->diags, locate_name(gv->module, graph->blocks.at[first].loc),
                      "the first is here");
    }
    marks_clear(gv->verifier);
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        verify_options(gv->verifier, &graph->blocks.at[i]);
    verify_agreement(gv, BLOCK_SCOPE, W_options);
    verify_agreement(gv, BLOCK_STREAM, W_priority);
    verify_agreement(gv, BLOCK_STREAM, W_id);
}

/* ---------------------------------------------------------------------------- graph ---- */

static void verify_params(struct graph_verifier *gv)
{
    for (uint32_t i = 0; i < gv->graph->n_params; i++) {
        const struct param *param = &gv->graph->params.at[i];
        uint32_t type = gv->graph->values.at[i].type;
        struct span span = locate_token(gv->module, param->loc);
        verify_type(gv, type, span);
        verify_attrs(gv->verifier, param->attrs, OWNER_PARAM);
        if (!attr_flag(gv->module, param->attrs, W_static))
            continue;
        for (uint32_t d = 0; d < gv->module->types.at[type].rank; d++)
            if (dim_is_gear(type_dims(gv->module, type)[d]))
                diag_at(gv->diags, DIAG_gear, span,
                        "a 'static' parameter cannot have a gear in its shape");
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
            diag_note(gv->diags, no_span, "end the graph with 'return %%VALUE, ...'");
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
        if (!types_match(module, graph->result_types.at[i], type))
            diag_at(gv->diags, DIAG_type_mismatch, locate_return(module, graph, i),
                    "this is %s, but result %u of the graph is %s", type_text(gv, type), i,
                    type_text(gv, graph->result_types.at[i]));
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
                                .type_checked = mem_calloc(verifier->module->types.count, 1),
                                .reached = mem_calloc(graph->ops.count, 1)};
    uint32_t errors = verifier->diags->counts[SEVERITY_ERROR];
    verify_gears(&gv);
    verify_params(&gv);
    for (uint32_t i = 0; i < graph->result_types.count; i++)
        verify_type(&gv, graph->result_types.at[i], locate_name(gv.module, graph->loc));
    verify_blocks(&gv);
    verify_op_attrs(&gv);
    verify_names(&gv); /* its marks serve the walk below */
    for (uint32_t i = 0; i < graph->body.count; i++)
        if (item_kind(graph->body.at[i]) == ITEM_OP)
            verify_op(&gv, item_id(graph->body.at[i]));
    verify_return(&gv);
    mem_free(gv.type_checked);
    mem_free(gv.reached);
    if (verifier->diags->counts[SEVERITY_ERROR] == errors)
        verify_order(verifier, graph);
}
