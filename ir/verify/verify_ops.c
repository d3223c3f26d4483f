/* The verifier's part for ops: their values are defined, and fit their kernels. */
#include "ir/verify/graph_verifier.h"
#include "ir/calls.h"
#include "ir/contents.h"
#include "ir/op_types.h"
#include "ir/operands.h"
#include "ir/syntax/spelling.h"
#include "ir/variants.h"

/* --------------------------------------------------------------------------- values ---- */

/* Of a use by an op, or (`op` NULL) by the return. To be asked where a message needs it: an op with
 * very many operands takes long to look through. */
static struct span use_span(const struct graph_verifier *gv, const struct op *op, enum op_part part,
                            uint32_t index)
{
    return op ? locate_op(gv->module, op, part, index)
              : locate_return(gv->module, gv->graph, index);
}

static void missing_value(struct graph_verifier *gv, const struct op *op, enum op_part part,
                          uint32_t index, uint32_t value)
{
    const struct graph *graph = gv->graph;
    uint32_t name = graph->values.at[value].name;
    struct mark mark = gv->verifier->marks[name];
    if (mark.stamp == gv->verifier->stamp) {
        if (diag_at(gv->diags, DIAG_use_before_def, use_span(gv, op, part, index),
                    "'%%%.*s' is used before its definition", NAME(gv->module, name)))
            diag_note(gv->diags, locate_value(gv->module, graph, mark.id), "it is defined here");
        return;
    }
    if (!diag_at(gv->diags, DIAG_unknown_value, use_span(gv, op, part, index),
                 "nothing defines '%%%.*s'", NAME(gv->module, name)))
        return;
    struct suggest suggest = name_suggest(gv->module, name);
    if (diag_wants_suggestion(gv->diags))
        for (uint32_t i = 0; i < graph->values.count; i++)
            if (graph->values.at[i].def != DEF_MISSING)
                name_offer(&suggest, gv->module, graph->values.at[i].name);
    suggest.before = "%";
    diag_suggest(gv->diags, &suggest);
}

static void wrong_token(struct graph_verifier *gv, const struct op *op, uint32_t index,
                        uint32_t value)
{
    if (diag_at(gv->diags, DIAG_token, use_span(gv, op, OP_OPERAND, index),
                "'%%%.*s' is a token: it cannot be %s",
                NAME(gv->module, gv->graph->values.at[value].name), op ? "read" : "returned") &&
        op)
        diag_help(gv->diags, "to start behind its op, write 'after (%%%.*s)'",
                  NAME(gv->module, gv->graph->values.at[value].name));
}

void verify_odd_use(struct graph_verifier *gv, const struct op *op, enum op_part part,
                    uint32_t index, uint32_t value)
{
    const struct value *v = &gv->graph->values.at[value];
    if (v->type == gv->token && part != OP_AFTER)
        wrong_token(gv, op, index, value);
    if (v->def == DEF_MISSING || (v->def != DEF_PARAM && !gv->reached[v->def]))
        missing_value(gv, op, part, index, value);
}

/* -------------------------------------------------------------------------- kernels ---- */

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

/* Where a kernel is static; one that a pass has declared stands nowhere. */
static void note_static(struct graph_verifier *gv, const struct kernel *kernel)
{
    if (kernel->loc != NONE)
        diag_note(gv->diags, locate_name(gv->module, kernel->loc), "it is declared here");
    else
        diag_help(gv->diags, "leave it out, or add 'dynamic' for a dynamic sample kernel");
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
            note_static(gv, kernel);
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
    if (type != NONE && !op_type_agrees(module, type, op->type) &&
        diag_at(gv->diags, DIAG_op_kernel, locate_op(module, op, OP_TYPE_NAME, 0),
                "'@%.*s' is a kernel for '%.*s', not '%.*s'", NAME(module, kernel->name),
                NAME(module, type), NAME(module, op->type)))
        diag_note(gv->diags, locate_name(module, kernel->loc), "it is declared here");
    if (attr_flag(module, op->attrs, W_stub) && !attr_flag(module, kernel->attrs, W_stub) &&
        diag_at(gv->diags, DIAG_op_kernel, locate_op(module, op, OP_KERNEL, 0),
                "the op is to be a stub, but '@%.*s' is none", NAME(module, kernel->name)))
        diag_help(gv->diags, "leave out either 'stub' or 'via @%.*s'", NAME(module, kernel->name));
    verify_op_params(gv, op, kernel);
    verify_op_inputs(gv, op, kernel);
    verify_op_outputs(gv, op, kernel);
    if (op->attrs.count)
        verify_tiling(gv, op, kernel);
}

/* -------------------------------------------------------------------------- one op ---- */

static void verify_op_uses(struct graph_verifier *gv, const struct op *op)
{
    const struct graph *graph = gv->graph;
    for (uint32_t i = 0; i < op->operands.count; i++)
        verify_use(gv, op, OP_OPERAND, i, op_operands(graph, op)[i]);
    if (!op->clauses)
        return;
    struct range after = op_clauses(graph, op)->after;
    for (uint32_t i = 0; i < after.count; i++)
        verify_use(gv, op, OP_AFTER, i, graph->refs.at[after.first + i]);
}

static void verify_results(struct graph_verifier *gv, const struct op *op)
{
    for (uint32_t i = 0; i < op->results.count; i++) {
        uint32_t type = gv->graph->values.at[op->results.first + i].type;
        if (type_is_open(gv, type))
            verify_type(gv, type, locate_op(gv->module, op, OP_RESULT_TYPE, i));
        if (type == gv->token && i + 1 < op->results.count)
            diag_at(gv->diags, DIAG_token, locate_op(gv->module, op, OP_RESULT_TYPE, i),
                    "a token must be the last result of its op");
    }
}

/* All that depends on nothing but what an op_seen has, and on the forms of the operands. */
static void verify_op_form(struct graph_verifier *gv, const struct op *op)
{
    verify_results(gv, op);
    if (op->clauses)
        verify_labels(gv, op);
    if (op->attrs.count) {
        verify_places(gv, op);
        verify_contents(gv, op);
    }
    verify_op_calls(gv, op);
    if (op->kernel != NONE)
        verify_op_kernel(gv, op);
    if (op->clauses)
        forget_labels(gv, op);
}

/* Whether values that the op is given count, not only their types: of a call, or where it is told
 * what may stand in them. */
static bool values_count(const struct graph_verifier *gv, const struct op *op)
{
    const struct op_type *type = op_type_find(gv->module, op->type);
    return op_call_kind(op) != CALL_NONE ||
           (type && type->n_contents && op_knows_contents(gv->module, gv->graph, op));
}

static uint32_t n_faults(const struct diags *diags)
{
    return diags->counts[SEVERITY_ERROR] + diags->counts[SEVERITY_WARNING];
}

static void verify_op(struct graph_verifier *gv, uint32_t id)
{
    const struct op *op = &gv->graph->ops.at[id];
    uint32_t faults = n_faults(gv->diags), errors = gv->diags->counts[SEVERITY_ERROR];
    verify_op_uses(gv, op);
    gv->reached[id] = 1;
    struct op_seen *seen = values_count(gv, op) ? NULL : seen_ops_place(&gv->seen, gv->graph, op);
    if (seen && op_is_seen(gv->module, gv->graph, seen, op))
        return;
    verify_op_form(gv, op);
    if (gv->diags->counts[SEVERITY_ERROR] == errors)
        verify_op_type(gv, op);
    if (seen && n_faults(gv->diags) == faults)
        op_set_seen(gv->graph, op, seen);
}

void verify_ops(struct graph_verifier *gv)
{
    for (uint32_t i = 0; i < gv->graph->body.count; i++)
        if (item_kind(gv->graph->body.at[i]) == ITEM_OP)
            verify_op(gv, item_id(gv->graph->body.at[i]));
}

/* ---------------------------------------------------------------------- operands ---- */

/* Finding a label's place takes as long as there are operands before it, so of one op no more
 * labels than these are reported. */
enum { MAX_LABEL_ERRORS = 20 };

/* -------------------------------------------------------------------------- labels ---- */

static void repeated_label(struct graph_verifier *gv, const struct op *op, uint32_t place,
                           uint32_t first, uint32_t label)
{
    if (diag_at(gv->diags, DIAG_operand_label, locate_op(gv->module, op, OP_LABEL, place),
                "two operands have the label '%.*s'", NAME(gv->module, label)))
        diag_note(gv->diags, locate_op(gv->module, op, OP_LABEL, first), "the first is here");
}

static void missing_label(struct graph_verifier *gv, const struct op *op, uint32_t place)
{
    if (diag_at(gv->diags, DIAG_operand_label, locate_op(gv->module, op, OP_PLACE, place),
                "an operand without a label stands behind one with a label"))
        diag_help(gv->diags, "operands without labels come first, in the order of the kernel's "
                             "parameters");
}

void verify_labels(struct graph_verifier *gv, const struct op *op)
{
    uint32_t count = op_n_places(gv->graph, op), errors = 0;
    for (uint32_t place = op_n_unlabelled(gv->graph, op); place < count; place++) {
        uint32_t label = op_operand(gv->graph, op, place).label;
        uint32_t first = label == NONE ? NONE : id_map_find(&gv->labels, label);
        if (label != NONE && first == NONE)
            id_map_set(&gv->labels, label, place);
        else if (++errors > MAX_LABEL_ERRORS)
            continue;
        else if (label == NONE)
            missing_label(gv, op, place);
        else
            repeated_label(gv, op, place, first, label);
    }
}

void forget_labels(struct graph_verifier *gv, const struct op *op)
{
    uint32_t count = op_n_places(gv->graph, op);
    for (uint32_t place = op_n_unlabelled(gv->graph, op); place < count; place++) {
        uint32_t label = op_operand(gv->graph, op, place).label;
        if (label != NONE)
            id_map_unset(&gv->labels, label);
    }
}

/* ---------------------------------------------------------------------- parameters ---- */

static void wrong_count(struct graph_verifier *gv, const struct op *op, const struct kernel *kernel,
                        uint32_t tensors)
{
    const struct module *module = gv->module;
    uint32_t operands = op_n_places(gv->graph, op);
    uint32_t results = op_tensor_results(module, gv->graph, op);
    if (!diag_at(gv->diags, DIAG_operand_count, locate_op(module, op, OP_TYPE_NAME, 0),
                 "%u operand%s and %u result%s, but '@%.*s' takes %u tensors", operands,
                 operands == 1 ? "" : "s", results, results == 1 ? "" : "s",
                 NAME(module, kernel->name), tensors))
        return;
    const struct attr *params = attr_find(module, kernel->attrs, W_params);
    if (operands + results < tensors)
        diag_help(gv->diags, "an operand that is absent is written 'none'");
    diag_note(gv->diags, locate_token(module, params->loc), "its parameters are here");
}

/* The kernel's tensors by number and, until they are forgotten, by name. */
static void find_tensors(struct graph_verifier *gv, const struct kernel *kernel)
{
    kernel_tensors(gv->module, kernel, &gv->tensors);
    for (uint32_t n = gv->tensors.count; n-- > 0;)
        id_map_set(&gv->numbers, gv->tensors.at[n], n);
}

static void forget_tensors(struct graph_verifier *gv)
{
    for (uint32_t n = 0; n < gv->tensors.count; n++)
        id_map_unset(&gv->numbers, gv->tensors.at[n]);
}

static void unknown_label(struct graph_verifier *gv, const struct op *op, uint32_t place,
                          const struct kernel *kernel, uint32_t operands)
{
    const struct module *module = gv->module;
    uint32_t label = op_operand(gv->graph, op, place).label;
    struct span span = locate_op(module, op, OP_LABEL, place);
    if (id_map_find(&gv->numbers, label) != NONE) {
        diag_at(gv->diags, DIAG_operand_label, span, "'%.*s' of '@%.*s' is a result, no operand",
                NAME(module, label), NAME(module, kernel->name));
        return;
    }
    if (!diag_at(gv->diags, DIAG_operand_label, span, "'@%.*s' has no parameter '%.*s'",
                 NAME(module, kernel->name), NAME(module, label)))
        return;
    struct suggest suggest = name_suggest(module, label);
    for (uint32_t n = op_n_unlabelled(gv->graph, op); n < operands; n++)
        name_offer(&suggest, module, gv->tensors.at[n]);
    diag_suggest(gv->diags, &suggest);
}

/* Each label is a parameter's that no operand before it is. */
static bool verify_known_labels(struct graph_verifier *gv, const struct op *op,
                                const struct kernel *kernel, uint32_t operands)
{
    const struct module *module = gv->module;
    uint32_t unlabelled = op_n_unlabelled(gv->graph, op), errors = 0;
    for (uint32_t place = unlabelled; place < op_n_places(gv->graph, op); place++) {
        uint32_t label = op_operand(gv->graph, op, place).label;
        uint32_t n = label == NONE ? NONE : id_map_find(&gv->numbers, label);
        errors += n >= operands || n < unlabelled;
        if (label == NONE) /* verify_labels has reported it */
            continue;
        if (errors > MAX_LABEL_ERRORS)
            break;
        if (n >= operands)
            unknown_label(gv, op, place, kernel, operands);
        else if (n < unlabelled &&
                 diag_at(gv->diags, DIAG_operand_label, locate_op(module, op, OP_LABEL, place),
                         "'%.*s' is given already, by operand %u", NAME(module, label), n))
            diag_note(gv->diags, locate_op(module, op, OP_PLACE, n), "it is here");
    }
    return errors == 0;
}

static void verify_left_out(struct graph_verifier *gv, const struct op *op,
                            const struct kernel *kernel, uint32_t operands)
{
    const struct module *module = gv->module;
    for (uint32_t n = op_n_unlabelled(gv->graph, op); n < operands; n++) {
        uint32_t param = gv->tensors.at[n];
        if (id_map_find(&gv->labels, param) == NONE &&
            diag_at(gv->diags, DIAG_operand_count, locate_op(module, op, OP_TYPE_NAME, 0),
                    "no operand is '%.*s' of '@%.*s'", NAME(module, param),
                    NAME(module, kernel->name)))
            diag_help(gv->diags, "where it is absent, write '%.*s = none'", NAME(module, param));
    }
}

static void no_params(struct graph_verifier *gv, const struct op *op, const struct kernel *kernel,
                      uint32_t place)
{
    const struct module *module = gv->module;
    if (diag_at(gv->diags, DIAG_operand_label, locate_op(module, op, OP_LABEL, place),
                "'@%.*s' has no 'params', so its parameters have no names",
                NAME(module, kernel->name)))
        diag_note(gv->diags, locate_name(module, kernel->loc), "it is declared here");
}

/* Parameters but `workspace` and `tiling` are the operands, then the results: by their order, or
 * where operands have labels by name. */
void verify_op_params(struct graph_verifier *gv, const struct op *op, const struct kernel *kernel)
{
    uint32_t tensors = kernel_n_tensors(gv->module, kernel);
    uint32_t results = op_tensor_results(gv->module, gv->graph, op);
    uint32_t places = op_n_places(gv->graph, op), unlabelled = op_n_unlabelled(gv->graph, op);
    bool labelled = unlabelled < places;
    if (tensors == NONE) {
        if (labelled && !kernel_is_stub(gv->module, kernel)) /* a stub has no use for them */
            no_params(gv, op, kernel, unlabelled);
    } else if (labelled && unlabelled + results < tensors) {
        find_tensors(gv, kernel);
        if (verify_known_labels(gv, op, kernel, tensors - results))
            verify_left_out(gv, op, kernel, tensors - results);
        forget_tensors(gv);
    } else if (places + results != tensors) {
        wrong_count(gv, op, kernel, tensors);
    }
}

/* --------------------------------------------------------------------------- types ---- */

/* The types that a kernel declares under a key; NULL where it has no such list, or, reported, one
 * of another length. */
static const struct attr *declared_types(struct graph_verifier *gv, const struct op *op,
                                         const struct kernel *kernel, uint32_t key, uint32_t count)
{
    const struct attr *declared = attr_find(gv->module, kernel->attrs, key);
    if (!declared || declared->value.kind != ATTR_LIST)
        return NULL;
    if (declared->value.count == count)
        return declared;
    if (diag_at(gv->diags, key == W_inputs ? DIAG_operand_count : DIAG_result_count,
                locate_op(gv->module, op, OP_KERNEL, 0), "the op has %u %s%s, the kernel %u", count,
                key == W_inputs ? "operand" : "result", count == 1 ? "" : "s",
                declared->value.count))
        diag_note(gv->diags, locate_token(gv->module, declared->loc), "declared here");
    return NULL;
}

/* Whether a value's type is the n-th declared one. */
static bool is_declared(const struct graph_verifier *gv, const struct attr *declared, uint32_t n,
                        uint32_t value)
{
    const struct attr_value *type = &gv->module->attr_values.at[declared->value.first + n];
    return type->kind != ATTR_TYPE ||
           verify_types_match(gv->module, type->id, gv->graph->values.at[value].type);
}

static void report_type(struct graph_verifier *gv, const struct attr *declared, uint32_t n,
                        uint32_t value, struct span span)
{
    const struct module *module = gv->module;
    uint32_t type = module->attr_values.at[declared->value.first + n].id;
    if (diag_at(gv->diags, DIAG_type_mismatch, span, "this is %s, but the kernel %s %s",
                type_text(module, gv->graph->values.at[value].type, &gv->diags->arena),
                declared->key == W_inputs ? "takes" : "gives",
                type_text(module, type, &gv->diags->arena)))
        diag_note(gv->diags, locate_token(module, declared->loc), "declared here");
}

/* The operand for the n-th declared type: all values of a list have it. */
static void verify_input(struct graph_verifier *gv, const struct op *op,
                         const struct attr *declared, uint32_t n, uint32_t place)
{
    const struct graph *graph = gv->graph;
    struct range values = op_operand(graph, op, place).values;
    for (uint32_t i = values.first; i < values.first + values.count; i++)
        if (!is_declared(gv, declared, n, graph->refs.at[i]))
            report_type(gv, declared, n, graph->refs.at[i],
                        locate_op(gv->module, op, OP_OPERAND, i - op->operands.first));
}

void verify_op_inputs(struct graph_verifier *gv, const struct op *op, const struct kernel *kernel)
{
    uint32_t places = op_n_places(gv->graph, op), unlabelled = op_n_unlabelled(gv->graph, op);
    const struct attr *declared = declared_types(gv, op, kernel, W_inputs, places);
    if (!declared)
        return;
    for (uint32_t n = 0; n < unlabelled; n++)
        verify_input(gv, op, declared, n, n);
    if (unlabelled < places)
        kernel_tensors(gv->module, kernel, &gv->tensors);
    for (uint32_t n = unlabelled; n < places && n < gv->tensors.count; n++) {
        uint32_t place = id_map_find(&gv->labels, gv->tensors.at[n]);
        if (place != NONE)
            verify_input(gv, op, declared, n, place);
    }
}

void verify_op_outputs(struct graph_verifier *gv, const struct op *op, const struct kernel *kernel)
{
    uint32_t results = op_tensor_results(gv->module, gv->graph, op);
    const struct attr *declared = declared_types(gv, op, kernel, W_outputs, results);
    for (uint32_t n = 0; declared && n < results; n++)
        if (!is_declared(gv, declared, n, op->results.first + n))
            report_type(gv, declared, n, op->results.first + n,
                        locate_op(gv->module, op, OP_RESULT_TYPE, n));
}
