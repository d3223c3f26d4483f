/* The verifier's part for ops: their values are defined, they fit their kernels, and contents (the
 * attribute `value` of ops whose results are there before the graph runs) fit their type. */
#include "ir/analysis/contents.h"
#include "ir/core/attr.h"
#include "ir/core/calls.h"
#include "ir/core/kernel.h"
#include "ir/core/operands.h"
#include "ir/optypes/foreign_names.h"
#include "ir/optypes/op_types.h"
#include "ir/syntax/spelling.h"
#include "ir/verify/verify_internal.h"

#include <string.h>

/* Contents that are looked at. */
struct given {
    struct graph_verifier *gv;
    const struct attr *attr;
    const struct type *type; /* of the result */
    uint64_t elements;       /* NONE where that is not known */
};

static void report(const struct given *given, struct span span, const char *text, const char *help)
{
    if (diag_at(given->gv->diags, DIAG_contents, span, "%s", text) && help)
        diag_help(given->gv->diags, "%s", help);
}

static struct span key_span(const struct given *given)
{
    return locate_token(given->gv->module, given->attr->loc);
}

/* -------------------------------------------------------------------------- numbers ---- */

static bool is_number(const struct attr_value *value)
{
    return value->kind == ATTR_INT || value->kind == ATTR_FLOAT || value->kind == ATTR_BOOL;
}

/* Of a list, or (`element` is NONE) a single number. Its place is looked up for errors alone, as
 * that takes linear time. */
static bool check_number(const struct given *given, uint32_t element,
                         const struct attr_value *number)
{
    const char *dtype = dtype_info(given->type->dtype)->name, *what = NULL;
    uint64_t bits;
    enum number_fit fit = NUMBER_WRONG_KIND;
    if (is_number(number))
        fit = number_encode(given->type->dtype, number, &bits);
    else
        what = "this is not a number";
    if (fit != NUMBER_WRONG_KIND && fit != NUMBER_TOO_LARGE)
        return true;
    struct span span = element == NONE
                           ? key_span(given)
                           : locate_listed(given->gv->module, given->attr->loc, element);
    if (what)
        report(given, span, what, NULL);
    else if (fit == NUMBER_WRONG_KIND)
        diag_at(given->gv->diags, DIAG_contents, span, "%s is not a value of %s",
                number->kind == ATTR_BOOL ? "a truth value" : "a number with a fraction", dtype);
    else
        diag_at(given->gv->diags, DIAG_contents, span, "this number does not fit %s", dtype);
    return false;
}

static const char form[] = "contents are a number, a list of numbers, or {file = \"PATH\"}";

/* Elements of one list that are reported. */
enum { MOST_WRONG = 20 };

static void check_list(const struct given *given)
{
    const struct attr_value *list = &given->attr->value;
    const struct attr_value *values = given->gv->module->attr_values.at;
    const struct attr_value *numbers = list->count ? values + list->first : NULL;
    uint32_t count = list->count, nested = 0, wrong = 0;
    while (nested < count && numbers[nested].kind == ATTR_LIST)
        nested++;
    if (count && nested == count) {
        report(
            given, key_span(given), "contents are one list of numbers, not lists in a list",
            "write all elements in row-major order: [1, 2, 3, 4] for the rows [1, 2] and [3, 4]");
        return;
    }
    for (uint32_t i = 0; i < count && wrong < MOST_WRONG; i++)
        wrong += !check_number(given, i, &numbers[i]);
    if (given->elements != NONE && count != given->elements &&
        diag_at(given->gv->diags, DIAG_contents, key_span(given), "%u number%s for %llu element%s",
                count, count == 1 ? "" : "s", (unsigned long long)given->elements,
                given->elements == 1 ? "" : "s"))
        diag_help(given->gv->diags, "a number without brackets fills the tensor");
}

/* ---------------------------------------------------------------------------- files ---- */

static void check_key(const struct given *given, const struct attr *key, struct range keys)
{
    const struct module *module = given->gv->module;
    struct diags *diags = given->gv->diags;
    struct span span = locate_token(module, key->loc);
    const struct intern_name *path =
        key->value.kind == ATTR_STRING ? &module->names.names[key->value.id] : NULL;
    unsigned bits = dtype_info(given->type->dtype)->bits;
    uint64_t size;
    switch (key->key) {
    case W_file:
        if (!path || path->size == 0 || memchr(path->text, '\0', path->size))
            report(given, span, "'file' must be the path of a file", NULL);
        break;
    case W_escaped: /* where string literals end is not known before they are decoded */
        if (key->value.kind != ATTR_BOOL)
            report(given, span, "'escaped' must be true or false", NULL);
        else if (key->value.i && !attr_find(module, keys, W_bytes))
            report(given, span, "escaped contents without their 'bytes'",
                   "write bytes = N, the number of bytes that they are decoded to");
        break;
    case W_offset:
    case W_bytes:
        if (key->value.kind != ATTR_INT || key->value.i < 0)
            diag_at(diags, DIAG_contents, span, "'%.*s' must be a number of bytes",
                    NAME(module, key->key));
        else if (key->key == W_bytes && format_is_row_major(module, given->type->format) &&
                 bits >= 8 && given->elements != NONE &&
                 !__builtin_mul_overflow(given->elements, bits / 8, &size) &&
                 (uint64_t)key->value.i != size)
            diag_at(diags, DIAG_contents, span, "%lld bytes for a tensor of %llu bytes",
                    (long long)key->value.i, (unsigned long long)size);
        break;
    default:
        if (diag_at(diags, DIAG_contents, span, "contents have no '%.*s'",
                    NAME(module, key->key))) {
            struct suggest suggest = name_suggest(module, key->key);
            suggest_offer_text(&suggest, "file");
            suggest_offer_text(&suggest, "offset");
            suggest_offer_text(&suggest, "bytes");
            suggest_offer_text(&suggest, "escaped");
            diag_suggest(diags, &suggest);
        }
    }
}

static void check_file(const struct given *given)
{
    const struct module *module = given->gv->module;
    struct range keys = {given->attr->value.first, given->attr->value.count};
    const struct attr *file = attr_find(module, keys, W_file);
    for (uint32_t i = 0; i < keys.count; i++)
        check_key(given, &module->attrs.at[keys.first + i], keys);
    if (!file)
        report(given, key_span(given), "contents without a 'file'", form);
    /* Bytes of other files are meant where it is said where they begin. */
    if (!file || file->value.kind != ATTR_STRING || attr_find(module, keys, W_offset) ||
        attr_find(module, keys, W_escaped))
        return;
    const struct intern_name *path = &module->names.names[file->value.id];
    const char *kind = array_kind_by_name(path->text, path->size);
    if (kind && diag_at(given->gv->diags, DIAG_contents, locate_token(module, file->loc),
                        "'%.*s' is %s, by its name: contents are a .npy file or bytes",
                        NAME(module, file->value.id), kind))
        diag_help(given->gv->diags,
                  "numpy.save writes an array to a .npy file; 'offset' says where "
                  "bytes begin that are meant as they are");
}

/* -------------------------------------------------------------- what stands for them ---- */

/* Of a source without contents, for which numbers would be drawn: attributes that are meant to be
 * the contents. */
static void check_absent(struct graph_verifier *gv, const struct op *op)
{
    const struct module *module = gv->module;
    const struct op_type *type = op_type_find(module, op->type);
    bool absent = op_lacks_contents(module, gv->graph, op);
    for (uint32_t i = 0; absent && i < op->attrs.count; i++) {
        const struct attr *attr = &module->attrs.at[op->attrs.first + i];
        const struct intern_name *key = &module->names.names[attr->key];
        struct span span = locate_token(module, attr->loc);
        bool of_file = attr->key == W_file || attr->key == W_offset || attr->key == W_bytes;
        struct suggest meant = meant_key(type, key->text, key->size);
        if (attr_is_private(module, attr->key) || op_type_attr(type, key->text, key->size) ||
            (attr->key < W_COUNT && attr_row_find(OWNER_OP, attr->key)) ||
            (!of_file && !(meant.best && strcmp(meant.best, "value") == 0)))
            continue;
        diags_take_back(gv->diags, DIAG_attribute_slip, span);
        if (!diag_at(gv->diags, DIAG_unknown_attribute, span, "%s has no attribute '%.*s'",
                     type->name, NAME(module, attr->key)))
            continue;
        if (of_file)
            diag_help(gv->diags,
                      "contents that are in a file are written 'value = {file = \"PATH\"}'");
        else
            diag_suggest(gv->diags, &meant);
    }
}

/* --------------------------------------------------------------------------- an op ---- */

static void check_contents(const struct given *given)
{
    enum dtype_class class = dtype_info(given->type->dtype)->class;
    uint32_t kind = given->attr->value.kind;
    if (class == CLASS_HANDLE && given->type->dtype != DTYPE_UNKNOWN)
        diag_at(given->gv->diags, DIAG_contents, key_span(given), "a tensor of %s has no contents",
                dtype_info(given->type->dtype)->name);
    else if (kind == ATTR_DICT)
        check_file(given);
    else if (kind != ATTR_LIST && !is_number(&given->attr->value))
        report(given, key_span(given), form, NULL);
    else if (class == CLASS_COMPLEX)
        report(given, key_span(given), "complex numbers cannot stand in the text",
               "put them into a file: value = {file = \"PATH\"}");
    else if (kind == ATTR_LIST)
        check_list(given);
    else
        check_number(given, NONE, &given->attr->value);
}

void verify_contents(struct graph_verifier *gv, const struct op *op)
{
    const struct attr *attr = op_contents_attr(gv->module, gv->graph, op);
    uint32_t type = attr ? gv->graph->values.at[op->results.first].type : NONE;
    if (!attr)
        check_absent(gv, op);
    if (type == NONE)
        return;
    struct given given = {gv, attr, &gv->module->types.at[type], NONE};
    if (!type_elements(gv->module, type, &given.elements))
        given.elements = NONE;
    check_contents(&given);
}

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
    bool later = mark.stamp == gv->verifier->stamp;
    if (later && diag_at(gv->diags, DIAG_use_before_def, use_span(gv, op, part, index),
                         "'%%%.*s' is used before its definition", NAME(gv->module, name)))
        diag_note(gv->diags, locate_value(gv->module, graph, mark.id), "it is defined here");
    if (!later && diag_at(gv->diags, DIAG_unknown_value, use_span(gv, op, part, index),
                          "nothing defines '%%%.*s'", NAME(gv->module, name)))
        suggest_value(gv->module, gv->diags, graph, name);
}

void verify_odd_use(struct graph_verifier *gv, const struct op *op, enum op_part part,
                    uint32_t index, uint32_t value)
{
    const struct value *v = &gv->graph->values.at[value];
    if (v->type == gv->token && part != OP_AFTER &&
        diag_at(gv->diags, DIAG_token, use_span(gv, op, OP_OPERAND, index),
                "'%%%.*s' is a token: it cannot be %s", NAME(gv->module, v->name),
                op ? "read" : "returned") &&
        op)
        diag_help(gv->diags, "to start behind its op, write 'after (%%%.*s)'",
                  NAME(gv->module, v->name));
    if (v->def == DEF_MISSING || (v->def != DEF_PARAM && !gv->reached[v->def]))
        missing_value(gv, op, part, index, value);
}

/* -------------------------------------------------------------------------- kernels ---- */

/* What the op says of its tiling fits its kernel. */
static void verify_tiling(struct graph_verifier *gv, const struct op *op,
                          const struct kernel *kernel)
{
    enum { MAX_KEYS = 8 };
    const struct module *module = gv->module;
    const struct attr *key = attr_find(module, op->attrs, W_tiling_key);
    const struct attr *blocks = attr_find(module, op->attrs, W_tiling_blocks);
    const struct attr *any = key ? key : blocks;
    if (!any && attr_flag(module, op->attrs, W_dynamic))
        any = attr_find(module, op->attrs, W_dynamic);
    if (!any)
        return;
    if (!kernel_is_dynamic(module, kernel)) {
        if (!diag_at(gv->diags, DIAG_dynamic_kernel, locate_token(module, any->loc),
                     "'@%.*s' is no dynamic kernel, so the op can have no '%.*s'",
                     NAME(module, kernel->name), NAME(module, any->key)))
            return;
        if (kernel->loc != NONE)
            diag_note(gv->diags, locate_name(module, kernel->loc), "it is declared here");
        else /* a pass has declared it */
            diag_help(gv->diags, "leave it out, or add 'dynamic' for a dynamic sample kernel");
        return;
    }
    uint32_t count = kernel_variants(module, kernel);
    if (!key || key->value.kind != ATTR_INT || !count)
        return;
    uint32_t found = kernel_find_variant(module, kernel, key->value.i);
    if (found == NONE) {
        struct text text = {NULL, 0, 0};
        for (uint32_t i = 0; i < count && i < MAX_KEYS; i++)
            text_printf(&text, i ? ", %lld" : "%lld",
                        (long long)kernel_variant(module, kernel, i).key);
        if (diag_at(gv->diags, DIAG_dynamic_kernel, locate_token(module, key->loc),
                    "'@%.*s' has no variant with the key %lld", NAME(module, kernel->name),
                    (long long)key->value.i))
            diag_note(gv->diags, locate_name(module, kernel->loc), "it has the keys %.*s%s",
                      (int)text.size, text.at, count > MAX_KEYS ? ", ..." : "");
        text_free(&text);
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

/* All that depends on nothing but what an op_seen has, and on the forms of the operands. */
static void verify_op_form(struct graph_verifier *gv, const struct op *op)
{
    for (uint32_t i = 0; i < op->results.count; i++) {
        uint32_t type = gv->graph->values.at[op->results.first + i].type;
        if (type_is_open(gv, type))
            verify_type(gv, type, locate_op(gv->module, op, OP_RESULT_TYPE, i));
        if (type == gv->token && i + 1 < op->results.count)
            diag_at(gv->diags, DIAG_token, locate_op(gv->module, op, OP_RESULT_TYPE, i),
                    "a token must be the last result of its op");
    }
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

static void verify_op(struct graph_verifier *gv, uint32_t id)
{
    const struct graph *graph = gv->graph;
    const struct op *op = &graph->ops.at[id];
    const struct op_type *type = op_type_find(gv->module, op->type);
    const uint32_t *counts = gv->diags->counts;
    uint32_t errors = counts[SEVERITY_ERROR], faults = errors + counts[SEVERITY_WARNING];
    for (uint32_t i = 0; i < op->operands.count; i++)
        verify_use(gv, op, OP_OPERAND, i, op_operands(graph, op)[i]);
    struct range after = op_clauses(graph, op)->after;
    for (uint32_t i = 0; i < after.count; i++)
        verify_use(gv, op, OP_AFTER, i, graph->refs.at[after.first + i]);
    gv->reached[id] = 1;
    /* Of a call, or where contents of operands are known, values count, not only their types. */
    bool values = op_call_kind(op) != CALL_NONE ||
                  (type && type->n_contents && op_knows_contents(gv->module, graph, op));
    struct op_seen *seen = values ? NULL : seen_ops_place(&gv->seen, graph, op);
    if (seen && op_is_seen(gv->module, graph, seen, op))
        return;
    verify_op_form(gv, op);
    if (counts[SEVERITY_ERROR] == errors)
        verify_op_type(gv, op);
    if (seen && counts[SEVERITY_ERROR] + counts[SEVERITY_WARNING] == faults)
        op_set_seen(graph, op, seen);
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

void verify_labels(struct graph_verifier *gv, const struct op *op)
{
    const struct module *module = gv->module;
    uint32_t count = op_n_places(gv->graph, op), errors = 0;
    for (uint32_t place = op_n_unlabelled(gv->graph, op); place < count; place++) {
        uint32_t label = op_operand(gv->graph, op, place).label;
        uint32_t first = label == NONE ? NONE : id_map_find(&gv->labels, label);
        if (label != NONE && first == NONE) {
            id_map_set(&gv->labels, label, place);
            continue;
        }
        if (++errors > MAX_LABEL_ERRORS)
            continue;
        if (label == NONE) {
            if (diag_at(gv->diags, DIAG_operand_label, locate_op(module, op, OP_PLACE, place),
                        "an operand without a label stands behind one with a label"))
                diag_help(gv->diags, "operands without labels come first, in the order of the "
                                     "kernel's parameters");
        } else if (diag_at(gv->diags, DIAG_operand_label, locate_op(module, op, OP_LABEL, place),
                           "two operands have the label '%.*s'", NAME(module, label))) {
            diag_note(gv->diags, locate_op(module, op, OP_LABEL, first), "the first is here");
        }
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

/* Parameters but `workspace` and `tiling` are the operands, then the results: by their order, or
 * where operands have labels by name. */
void verify_op_params(struct graph_verifier *gv, const struct op *op, const struct kernel *kernel)
{
    const struct module *module = gv->module;
    uint32_t tensors = kernel_n_tensors(module, kernel);
    uint32_t results = op_tensor_results(module, gv->graph, op);
    uint32_t places = op_n_places(gv->graph, op), unlabelled = op_n_unlabelled(gv->graph, op);
    bool labelled = unlabelled < places;
    if (tensors == NONE) {
        if (labelled && !kernel_is_stub(module, kernel) && /* a stub has no use for them */
            diag_at(gv->diags, DIAG_operand_label, locate_op(module, op, OP_LABEL, unlabelled),
                    "'@%.*s' has no 'params', so its parameters have no names",
                    NAME(module, kernel->name)))
            diag_note(gv->diags, locate_name(module, kernel->loc), "it is declared here");
    } else if (labelled && unlabelled + results < tensors) {
        kernel_tensors(module, kernel, &gv->tensors);
        for (uint32_t n = gv->tensors.count; n-- > 0;)
            id_map_set(&gv->numbers, gv->tensors.at[n], n);
        if (verify_known_labels(gv, op, kernel, tensors - results))
            verify_left_out(gv, op, kernel, tensors - results);
        for (uint32_t n = 0; n < gv->tensors.count; n++)
            id_map_unset(&gv->numbers, gv->tensors.at[n]);
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
