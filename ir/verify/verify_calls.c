/* The verifier's part for symbols in attributes of ops, and for ops that call graphs: what they
 * name is there and is a graph, signatures agree, and nothing calls itself. */
#include "ir/analysis/modref.h"
#include "ir/core/calls.h"
#include "ir/core/operands.h"
#include "ir/syntax/spelling.h"
#include "ir/verify/verify_internal.h"

/* -------------------------------------------------------------------------- symbols ---- */

static bool is_superkernel(struct verifier *verifier, uint32_t name)
{
    if (!verifier->superkernels) {
        verifier->own_superkernels = module_superkernels(verifier->module);
        verifier->superkernels = &verifier->own_superkernels;
    }
    return id_map_find(verifier->superkernels, name) != NONE;
}

/* What has the name, but for super kernels; or NULL. */
static const char *symbol_text(const struct module *module, uint32_t name)
{
    if (module_find(module, SYMBOL_GRAPH, name) != NONE)
        return "graph";
    if (module_find(module, SYMBOL_KERNEL, name) != NONE)
        return "kernel";
    return module_find(module, SYMBOL_ENTRY, name) != NONE ? "entry" : NULL;
}

static void unknown_symbol(struct graph_verifier *gv, struct span span, uint32_t name,
                           bool graphs_only)
{
    unsigned kinds = 1 << SYMBOL_GRAPH | (graphs_only ? 0 : 1 << SYMBOL_KERNEL | 1 << SYMBOL_ENTRY);
    if (diag_at(gv->diags, DIAG_unknown_symbol, span,
                graphs_only ? "there is no graph '@%.*s'" : "nothing has the name '@%.*s'",
                NAME(gv->module, name)))
        suggest_symbol(gv->module, gv->diags, name, kinds);
}

/* Keys that begin with `_` are somebody's own. */
static bool is_own(const struct module *module, uint32_t key)
{
    return module->names.names[key].text[0] == '_';
}

/* `span` is that of the attribute, or of its element. */
static void verify_symbols(struct graph_verifier *gv, struct span span,
                           const struct attr_value *value)
{
    const struct module *module = gv->module;
    if (value->kind == ATTR_SYMBOL && !symbol_text(module, value->id) &&
        !is_superkernel(gv->verifier, value->id))
        unknown_symbol(gv, span, value->id, false);
    for (uint32_t i = 0; value->kind == ATTR_LIST && i < value->count; i++)
        verify_symbols(gv, span, &module->attr_values.at[value->first + i]);
    for (uint32_t i = 0; value->kind == ATTR_DICT && i < value->count; i++) {
        const struct attr *attr = &module->attrs.at[value->first + i];
        if (!is_own(module, attr->key))
            verify_symbols(gv, locate_token(module, attr->loc), &attr->value);
    }
}

static void verify_attr_symbols(struct graph_verifier *gv, const struct op *op)
{
    enum call_kind call = op_call_kind(op);
    for (uint32_t i = 0; i < op->attrs.count; i++) {
        const struct attr *attr = &gv->module->attrs.at[op->attrs.first + i];
        uint32_t kind = attr->value.kind, row = 0;
        while (row < n_call_attrs &&
               (call_attrs[row].kind != call || call_attrs[row].key != attr->key))
            row++;
        bool graphs = call != CALL_NONE && row < n_call_attrs; /* verify_call looks at these */
        if ((kind == ATTR_SYMBOL || kind == ATTR_LIST || kind == ATTR_DICT) && !graphs &&
            !is_own(gv->module, attr->key))
            verify_symbols(gv, locate_token(gv->module, attr->loc), &attr->value);
    }
}

/* ----------------------------------------------------------------------- attributes ---- */

static struct span callee_span(const struct module *module, const struct callee *callee)
{
    if (callee->element != NONE)
        return locate_listed(module, callee->attr->loc, callee->element);
    return callee->attr->value.kind == ATTR_SYMBOL ? locate_name(module, callee->attr->loc)
                                                   : locate_token(module, callee->attr->loc);
}

static bool verify_call_attr(struct graph_verifier *gv, const struct op *op,
                             const struct call_attr *row)
{
    const struct module *module = gv->module;
    const struct attr *attr = attr_find(module, op->attrs, row->key);
    const char *example = row->list ? "[@A, @B]" : "@GRAPH";
    if (!attr) {
        if (diag_at(gv->diags, DIAG_missing_attribute, locate_op(module, op, OP_TYPE_NAME, 0),
                    "%.*s %s: '%.*s' is missing", NAME(module, op->type),
                    call_info(row->kind)->what, NAME(module, row->key)))
            diag_help(gv->diags, "write {%.*s = %s} behind the op's operands",
                      NAME(module, row->key), example);
        return false;
    }
    uint32_t count = row->list && attr->value.kind == ATTR_LIST ? attr->value.count : 0, n = 0;
    while (n < count && module->attr_values.at[attr->value.first + n].kind == ATTR_SYMBOL)
        n++;
    if (row->list ? count && n == count : attr->value.kind == ATTR_SYMBOL)
        return true;
    if (diag_at(gv->diags, DIAG_attribute_kind, locate_token(module, attr->loc),
                "'%.*s' of %.*s must be %s", NAME(module, row->key), NAME(module, op->type),
                row->list ? "a list of graphs" : "a graph"))
        diag_help(gv->diags, "write %.*s = %s", NAME(module, row->key), example);
    return false;
}

static bool verify_callee(struct graph_verifier *gv, const struct callee *callee)
{
    const struct module *module = gv->module;
    const struct attr_value *value =
        callee->element == NONE
            ? &callee->attr->value
            : &module->attr_values.at[callee->attr->value.first + callee->element];
    const struct graph *graph = callee->graph == NONE ? NULL : &module->graphs.at[callee->graph];
    if (graph && graph->cases.count &&
        diag_at(gv->diags, DIAG_call_graph, callee_span(module, callee),
                "'@%.*s' stands for one graph a combination of gears, and cannot be called",
                NAME(module, graph->name)))
        diag_help(gv->diags, "call the graph of a combination, such as '@%.*s'",
                  NAME(module, graph->cases.at[0].graph));
    if (graph)
        return graph->cases.count == 0;
    const char *other = symbol_text(module, value->id);
    if (!other && is_superkernel(gv->verifier, value->id))
        other = "super kernel";
    if (!other)
        unknown_symbol(gv, callee_span(module, callee), value->id, true);
    else
        diag_at(gv->diags, DIAG_call_graph, callee_span(module, callee),
                "'@%.*s' is %s %s, but what '%.*s' calls must be a graph", NAME(module, value->id),
                *other == 'e' ? "an" : "a", other, NAME(module, callee->attr->key));
    return false;
}

/* ----------------------------------------------------------------------- signatures ---- */

/* One call of one graph. */
struct call {
    struct graph_verifier *gv;
    const struct op *op;
    const struct call_info *info;
    const struct callee *callee;
    const struct graph *graph;
};

static uint32_t type_of(const struct graph *graph, uint32_t value)
{
    return graph->values.at[value].type;
}

static const char *text_of(const struct call *call, uint32_t type)
{
    return type_text(call->gv->module, type, &call->gv->diags->arena);
}

/* The number of what is passed to and returned from the graph, against what the op has. */
static bool verify_count(const struct call *call, const char *verb, const char *noun,
                         uint32_t called, const char *given, uint32_t count)
{
    const struct module *module = call->gv->module;
    if (called == count)
        return true;
    if (diag_at(call->gv->diags, DIAG_call_signature, callee_span(module, call->callee),
                "'@%.*s' %s %u %s%s, but %s %u", NAME(module, call->graph->name), verb, called,
                noun, called == 1 ? "" : "s", given, count))
        diag_note(call->gv->diags, locate_name(module, call->graph->loc), "the graph is here");
    return false;
}

static void report_param(const struct call *call, uint32_t param, const char *what, uint32_t other)
{
    const struct module *module = call->gv->module;
    if (diag_at(call->gv->diags, DIAG_call_signature, callee_span(module, call->callee),
                "parameter %u of '@%.*s' is %s, but %s is %s", param,
                NAME(module, call->graph->name), text_of(call, type_of(call->graph, param)), what,
                text_of(call, other)))
        diag_note(call->gv->diags, locate_value(module, call->graph, param),
                  "the parameter is here");
}

static void report_result(const struct call *call, uint32_t result, const char *what,
                          uint32_t other)
{
    const struct module *module = call->gv->module;
    if (diag_at(call->gv->diags, DIAG_call_signature, callee_span(module, call->callee),
                "result %u of '@%.*s' is %s, but %s is %s", result, NAME(module, call->graph->name),
                text_of(call, call->graph->result_types.at[result]), what, text_of(call, other)))
        diag_note(call->gv->diags, locate_return(module, call->graph, result),
                  "it is returned here");
}

static void verify_params(const struct call *call)
{
    const struct graph_verifier *gv = call->gv;
    uint32_t lead = call->info->lead, own = call->info->own;
    uint32_t given = call->op->operands.count - lead;
    const uint32_t *operands = op_operands(gv->graph, call->op);
    if (!verify_count(call, "takes", "parameter", call->graph->n_params, "is given", given + own))
        return;
    for (uint32_t i = 0; i < own; i++) {
        uint32_t start = type_of(gv->graph, operands[i]);
        if (!call_types_match(gv->module, type_of(call->graph, i), start))
            report_param(call, i, "what is counted", start);
    }
    for (uint32_t i = 0; i < given; i++) {
        uint32_t type = type_of(gv->graph, operands[lead + i]);
        if (!call_types_match(gv->module, type_of(call->graph, own + i), type))
            report_param(call, own + i, arena_printf(&gv->diags->arena, "operand %u", lead + i),
                         type);
    }
}

static void verify_results(const struct call *call)
{
    const struct graph_verifier *gv = call->gv;
    const struct graph *graph = call->graph;
    if (!verify_count(call, "returns", "value", graph->result_types.count, "the op has",
                      op_tensor_results(gv->module, gv->graph, call->op)))
        return;
    for (uint32_t i = 0; i < graph->result_types.count; i++) {
        uint32_t type = type_of(gv->graph, call->op->results.first + i);
        if (!call_types_match(gv->module, graph->result_types.at[i], type))
            report_result(call, i, "that of the op", type);
    }
}

/* What the body of a loop returns are its parameters the next time. */
static void verify_carried(const struct call *call)
{
    const struct graph *graph = call->graph;
    uint32_t own = call->info->own;
    if (graph->n_params < own || !verify_count(call, "returns", "value", graph->result_types.count,
                                               "the next time takes", graph->n_params - own))
        return;
    for (uint32_t i = 0; i < graph->result_types.count; i++) {
        uint32_t type = type_of(graph, own + i);
        if (!call_types_match(call->gv->module, type, graph->result_types.at[i]))
            report_result(call, i,
                          arena_printf(&call->gv->diags->arena,
                                       "its parameter %u, which it becomes,", own + i),
                          type);
    }
}

static void verify_condition(const struct call *call)
{
    const struct module *module = call->gv->module;
    const struct graph *graph = call->graph;
    if (graph->result_types.count == 1 && call_type_decides(module, graph->result_types.at[0]))
        return;
    struct span span = callee_span(module, call->callee);
    bool kept = graph->result_types.count != 1
                    ? diag_at(call->gv->diags, DIAG_call_signature, span,
                              "'@%.*s' returns %u values, but a condition is one",
                              NAME(module, graph->name), graph->result_types.count)
                    : diag_at(call->gv->diags, DIAG_call_signature, span,
                              "'@%.*s' returns %s, but a condition is one bool or number",
                              NAME(module, graph->name), text_of(call, graph->result_types.at[0]));
    if (kept)
        diag_note(call->gv->diags, locate_name(module, graph->loc), "the graph is here");
}

/* ---------------------------------------------------------------------- own operands ---- */

/* The index of a Case, or what a For counts: all of one type. */
static void verify_counts(struct graph_verifier *gv, const struct op *op, uint32_t count)
{
    const uint32_t *operands = op_operands(gv->graph, op);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t type = type_of(gv->graph, operands[i]), first = type_of(gv->graph, operands[0]);
        if (!call_type_counts(gv->module, type))
            diag_at(gv->diags, DIAG_call_signature, locate_op(gv->module, op, OP_OPERAND, i),
                    "this is %s, but must be one integer",
                    type_text(gv->module, type, &gv->diags->arena));
        else if (!verify_types_match(gv->module, first == NONE ? type : first, type))
            diag_at(gv->diags, DIAG_call_signature, locate_op(gv->module, op, OP_OPERAND, i),
                    "this is %s, but the start of what is counted is %s",
                    type_text(gv->module, type, &gv->diags->arena),
                    type_text(gv->module, first, &gv->diags->arena));
    }
}

static bool verify_lead(struct graph_verifier *gv, const struct op *op, enum call_kind kind)
{
    const struct module *module = gv->module;
    uint32_t lead = call_info(kind)->lead;
    if (op->operands.count < lead) {
        diag_at(gv->diags, DIAG_call_signature, locate_op(module, op, OP_TYPE_NAME, 0),
                "%.*s has %u operand%s, but needs %s", NAME(module, op->type), op->operands.count,
                op->operands.count == 1 ? "" : "s",
                kind == CALL_IF     ? "a condition"
                : kind == CALL_CASE ? "an index"
                                    : "a start, a limit and a step");
        return false;
    }
    if (kind != CALL_IF) {
        verify_counts(gv, op, lead);
        return true;
    }
    uint32_t type = type_of(gv->graph, op_operands(gv->graph, op)[0]);
    if (!call_type_decides(module, type))
        diag_at(gv->diags, DIAG_call_signature, locate_op(module, op, OP_OPERAND, 0),
                "this is %s, but a condition is one bool or number",
                type_text(module, type, &gv->diags->arena));
    return true;
}

/* ------------------------------------------------------------------------------- ops ---- */

static void verify_call(struct graph_verifier *gv, const struct op *op, enum call_kind kind)
{
    bool ok = true;
    gv->verifier->calls = true;
    /* What a graph is given has a place each, and there is nothing that an absent one could be. */
    for (uint32_t i = 0; ok && op_has_forms(gv->graph, op) && i < op_n_places(gv->graph, op); i++) {
        struct operand operand = op_operand(gv->graph, op, i);
        ok = operand.kind == OPERAND_VALUE && operand.label == NONE;
        if (!ok)
            diag_at(gv->diags, DIAG_call_signature, locate_op(gv->module, op, OP_PLACE, i),
                    "operands of an op that calls graphs are values, without labels");
    }
    ok = ok && verify_lead(gv, op, kind);
    if (op->kernel != NONE)
        diag_at(gv->diags, DIAG_op_kernel, locate_op(gv->module, op, OP_KERNEL, 0),
                "%.*s %s, so it can have no kernel", NAME(gv->module, op->type),
                call_info(kind)->what);
    for (uint32_t i = 0; i < n_call_attrs; i++)
        if (call_attrs[i].kind == kind)
            ok = verify_call_attr(gv, op, &call_attrs[i]) && ok;
    struct callee callee;
    for (uint32_t n = 0; ok && op_callee(gv->module, op, n, &callee); n++) {
        if (!verify_callee(gv, &callee))
            continue;
        const struct call call = {gv, op, call_info(kind), &callee,
                                  &gv->module->graphs.at[callee.graph]};
        verify_params(&call);
        if (callee.role == ROLE_CONDITION)
            verify_condition(&call);
        else
            verify_results(&call);
        if (callee.role == ROLE_CARRIED)
            verify_carried(&call);
    }
}

void verify_op_calls(struct graph_verifier *gv, const struct op *op)
{
    enum call_kind kind = op_call_kind(op);
    if (op->attrs.count)
        verify_attr_symbols(gv, op);
    if (kind != CALL_NONE)
        verify_call(gv, op, kind);
}

/* ------------------------------------------------------------------------- aliases ---- */

/* A result that the op says is an operand's memory is what each graph returns of it. */
static void verify_alias(struct verifier *verifier, const struct graph *graph, const struct op *op,
                         const struct callee *callee, uint32_t result)
{
    const struct module *module = verifier->module;
    const struct call_info *info = call_info(op_call_kind(op));
    const struct graph *called = &module->graphs.at[callee->graph];
    uint32_t wanted = op_alias(module, graph, op, result);
    uint32_t param = effects_returned(verifier->effects, callee->graph, result);
    uint32_t operand = param == NONE ? NONE : param - info->own + info->lead;
    if (wanted == NONE || (operand < op->operands.count && param >= info->own &&
                           op_operands(graph, op)[operand] == wanted))
        return;
    if (diag_at(
            verifier->diags, DIAG_call_signature, callee_span(module, callee),
            "'alias' says that result %u is the memory of '%%%.*s', but '@%.*s' returns another",
            result, NAME(module, graph->values.at[wanted].name), NAME(module, called->name)))
        diag_note(verifier->diags, locate_return(module, called, result), "it is returned here");
}

static void verify_aliases(struct verifier *verifier, const struct graph *graph,
                           const struct op *op)
{
    struct callee callee;
    if (op_call_kind(op) == CALL_NONE || !attr_find(verifier->module, op->attrs, W_alias))
        return;
    for (uint32_t n = 0; op_callee(verifier->module, op, n, &callee); n++)
        for (uint32_t i = 0;
             callee.role != ROLE_CONDITION && i < op_tensor_results(verifier->module, graph, op);
             i++)
            verify_alias(verifier, graph, op, &callee, i);
}

/* ------------------------------------------------------------------------- circles ---- */

/* The way from a graph to what it calls: the next place to look at. */
struct place {
    uint32_t graph, op, callee;
};

struct circles {
    struct verifier *verifier;
    uint8_t *state; /* per graph: 0 new, 1 on the way, 2 done */
    VEC(struct place) way;
};

enum { MAX_CIRCLE_STEPS = 12 };

static void report_circle(const struct circles *circles, uint32_t first)
{
    const struct module *module = circles->verifier->module;
    struct diags *diags = circles->verifier->diags;
    uint32_t begin = 0, count = circles->way.count;
    while (circles->way.at[begin].graph != first)
        begin++;
    for (uint32_t i = begin; i < count && i - begin < MAX_CIRCLE_STEPS; i++) {
        const struct place *place = &circles->way.at[i];
        const struct graph *graph = &module->graphs.at[place->graph];
        struct callee callee = {NULL, NONE, NONE, ROLE_RESULTS};
        op_callee(module, &graph->ops.at[place->op], place->callee - 1, &callee);
        struct span span = callee_span(module, &callee);
        if (i > begin)
            diag_note(diags, span, "'@%.*s' calls '@%.*s'", NAME(module, graph->name),
                      NAME(module, module->graphs.at[callee.graph].name));
        else if (!diag_at(diags, DIAG_recursion, span, "graph '@%.*s' calls itself%s",
                          NAME(module, graph->name),
                          count - begin > 1 ? ", by way of other graphs" : ""))
            return;
    }
    if (count - begin > MAX_CIRCLE_STEPS)
        diag_help(diags, "and %u more step%s", count - begin - MAX_CIRCLE_STEPS,
                  count - begin == MAX_CIRCLE_STEPS + 1 ? "" : "s");
}

static void enter(struct circles *circles, uint32_t graph)
{
    circles->state[graph] = 1;
    vec_push(&circles->way, (struct place){graph, 0, 0});
}

static void go_on(struct circles *circles)
{
    const struct module *module = circles->verifier->module;
    struct place *place = &circles->way.at[circles->way.count - 1];
    const struct graph *graph = &module->graphs.at[place->graph];
    struct callee callee;
    while (place->op < graph->ops.count) {
        if (!op_callee(module, &graph->ops.at[place->op], place->callee, &callee)) {
            place->op++;
            place->callee = 0;
            continue;
        }
        place->callee++;
        if (callee.graph != NONE && circles->state[callee.graph] == 1)
            report_circle(circles, callee.graph);
        if (callee.graph == NONE || circles->state[callee.graph] != 0)
            continue;
        enter(circles, callee.graph);
        return;
    }
    circles->state[place->graph] = 2;
    circles->way.count--;
}

static void verify_circles(struct verifier *verifier)
{
    struct circles circles = {.verifier = verifier,
                              .state = mem_calloc(verifier->module->graphs.count, 1)};
    for (uint32_t i = 0; i < verifier->module->graphs.count; i++) {
        if (circles.state[i] == 0)
            enter(&circles, i);
        while (circles.way.count)
            go_on(&circles);
    }
    vec_free(&circles.way);
    mem_free(circles.state);
}

void verify_calls(struct verifier *verifier)
{
    const struct module *module = verifier->module;
    if (!verifier->calls)
        return;
    verify_circles(verifier);
    if (verifier->diags->counts[SEVERITY_ERROR] != verifier->errors)
        return;
    for (uint32_t i = 0; i < module->graphs.count; i++)
        for (uint32_t j = 0; j < module->graphs.at[i].ops.count; j++)
            verify_aliases(verifier, &module->graphs.at[i], &module->graphs.at[i].ops.at[j]);
}
