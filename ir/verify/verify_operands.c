/* The verifier's part for operands: their labels, and how they fit the parameters of a kernel. */
#include "ir/operands.h"
#include "ir/syntax/spelling.h"
#include "ir/variants.h"
#include "ir/verify/graph_verifier.h"

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
