/* The verifier's part for what is known of op types: their operands, results, data types, shapes
 * and attributes (ir/optypes/ops). */
#include "ir/analysis/contents.h"
#include "ir/core/attrs.h"
#include "ir/core/operands.h"
#include "ir/optypes/foreign_names.h"
#include "ir/optypes/op_shapes.h"
#include "ir/optypes/op_tensors.h"
#include "ir/optypes/op_types.h"
#include "ir/support/text.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "ir/verify/verify.h"
#include "ir/verify/verify_internal.h"

#include <stdio.h>
#include <string.h>

/* ----------------------------------------------------------- numbers in operands ---- */

bool operand_values_fit(const struct module *module, const struct graph *graph, const struct op *op,
                        struct op_tensors *tensors, struct op_range_fault *fault)
{
    struct known_contents known;
    if (tensors->call.type->n_contents == 0)
        return true;
    known_contents_use(&known, module, graph, op, tensors);
    if (op_ranges_check(&tensors->call, fault))
        return true;
    uint32_t value = op_operands(graph, op)[tensors->places[fault->tensor].index];
    return value_is_written(module, graph, viewed_value(module, graph, value));
}

static struct span place_span(const struct module *module, const struct op *op,
                              const struct op_place *place)
{
    return locate_op(module, op, place->result ? OP_RESULT_TYPE : OP_OPERAND, place->index);
}

bool operand_value_report(const struct module *module, const struct op *op,
                          const struct op_tensors *tensors, const struct op_range_fault *fault,
                          struct diags *diags)
{
    const struct op_call *call = &tensors->call;
    const struct op_place *place = &tensors->places[fault->tensor];
    if (!diag_at(diags, DIAG_operand_value, place_span(module, op, place), "%s", fault->text))
        return false;
    if (fault->other != NONE) {
        const struct op_place *other = &tensors->places[fault->other];
        diag_note(diags, place_span(module, op, other), "'%s' is %s",
                  call->type->slots[call->tensors[fault->other].slot].name,
                  type_text(module, other->type, &diags->arena));
    }
    return true;
}

/* ---------------------------------------------------------------------- attributes ---- */

static const struct op_attr *find_attr(const struct module *module, const struct op_type *type,
                                       uint32_t key)
{
    const struct intern_name *name = &module->names.names[key];
    return op_type_attr(type, name->text, name->size);
}

/* ------------------------------------------------------------------- operands, results ---- */

/* The names of the operands or results that a type has, for messages: "x1, x2, bias?". */
static void slot_names(const struct op_type *type, bool results, struct text *names)
{
    uint32_t first = results ? type->n_operands : 0;
    uint32_t count = results ? type->n_results : type->n_operands;
    static const char *const marks[] = {"", "?", "*"};
    for (uint32_t i = 0; i < count; i++)
        text_printf(names, "%s%s%s", i ? ", " : "", type->slots[first + i].name,
                    marks[type->slots[first + i].presence]);
    text_char(names, '\0');
}

static void help_slots(struct graph_verifier *gv, const struct op_type *type, bool results)
{
    struct text names = {NULL, 0, 0};
    slot_names(type, results, &names);
    diag_help(gv->diags, "the %s of %s are (%s)", results ? "results" : "operands", type->name,
              names.at);
    text_free(&names);
}

/* A label of an op without a kernel: of others, the kernel knows it. */
static void report_label(struct graph_verifier *gv, const struct op *op, const struct op_type *type,
                         uint32_t place)
{
    uint32_t label = op_operand(gv->graph, op, place).label;
    if (op->kernel != NONE ||
        !diag_at(gv->diags, DIAG_operand_label, locate_op(gv->module, op, OP_LABEL, place),
                 "%s has no operand '%.*s'", type->name, NAME(gv->module, label)))
        return;
    struct suggest suggest = name_suggest(gv->module, label);
    for (uint32_t i = 0; i < type->n_operands; i++)
        suggest_offer_text(&suggest, type->slots[i].name);
    diag_suggest(gv->diags, &suggest);
}

static void report_list(struct graph_verifier *gv, const struct op *op, const struct op_type *type,
                        uint32_t place)
{
    if (diag_at(gv->diags, DIAG_op_signature, locate_op(gv->module, op, OP_PLACE, place),
                "this operand of %s is one value, not a list", type->name))
        help_slots(gv, type, false);
}

/* "[%a, %b]" of the values from a place on that the type's last operand takes, else of one. */
static void list_of(const struct graph_verifier *gv, const struct op *op,
                    const struct op_type *type, uint32_t place, struct text *list)
{
    uint32_t end = place + 1, count = op_n_unlabelled(gv->graph, op);
    if (place + 1 >= type->n_operands)
        while (end < count && op_operand(gv->graph, op, end).kind == OPERAND_VALUE)
            end++;
    text_char(list, '[');
    for (uint32_t i = place; i < end; i++) {
        struct operand operand = op_operand(gv->graph, op, i);
        uint32_t value = gv->graph->refs.at[operand.values.first];
        text_string(list, i > place ? ", " : "");
        spell_value(list, gv->module, gv->graph->values.at[value].name);
    }
    text_string(list, "]");
    text_char(list, '\0');
}

static void report_no_list(struct graph_verifier *gv, const struct op *op,
                           const struct op_type *type, uint32_t place)
{
    struct text list = {NULL, 0, 0};
    if (!diag_at(gv->diags, DIAG_op_signature, locate_op(gv->module, op, OP_PLACE, place),
                 "this operand of %s is a list, not one value", type->name))
        return;
    list_of(gv, op, type, place, &list);
    diag_help(gv->diags, "a list is one operand, in brackets: '%s'", list.at);
    text_free(&list);
}

/* The attribute of the op that others have in the place of an operand; NULL. */
static const struct attr *key_for_slot(const struct module *module, const struct op *op,
                                       const struct op_slot *slot)
{
    for (uint32_t i = 0; i < op->attrs.count; i++) {
        const struct attr *attr = &module->attrs.at[op->attrs.first + i];
        const struct intern_name *key = &module->names.names[attr->key];
        if (name_is(module, attr->key, slot->name) ||
            meant_keys_agree(key->text, key->size, slot->name, strlen(slot->name)))
            return attr;
    }
    return NULL;
}

/* The type with what is an operand here as an attribute: of this name with D behind it. */
static const struct op_type *type_by_attribute(const struct module *module,
                                               const struct op_type *type,
                                               const struct op_slot *slot)
{
    char name[64];
    const char *const names[] = {type->name, type->real};
    for (int i = 0; i < 2; i++) {
        size_t size = (size_t)snprintf(name, sizeof name, "%sD", names[i]);
        const struct op_type *found =
            size < sizeof name ? op_types_find(op_types_of(module), name, size) : NULL;
        for (uint32_t n = 0; found && n < found->n_attrs; n++)
            if (strcmp(found->attrs[n].name, slot->name) == 0)
                return found;
    }
    return NULL;
}

/* What others give as an attribute, and types of CANN as an operand. */
static void help_no_operand(struct graph_verifier *gv, const struct op *op,
                            const struct op_type *type, const struct op_slot *slot)
{
    const struct op_type *other = type_by_attribute(gv->module, type, slot);
    const struct attr *given = key_for_slot(gv->module, op, slot);
    if (other)
        diag_help(gv->diags, "%s has it as an attribute: '%s(...) {%s = ...}'", other->name,
                  other->name, slot->name);
    else if (given)
        diag_help(gv->diags,
                  "it is no attribute, but a value: '%%%s = Const() {value = ...} : TYPE'",
                  slot->name);
}

static void report_count(struct graph_verifier *gv, const struct op *op, const struct op_type *type,
                         const struct op_tensors *tensors)
{
    bool results = tensors->misfit == OP_TOO_MANY_RESULTS || tensors->misfit == OP_NO_RESULT;
    bool absent = tensors->misfit == OP_NO_OPERAND || tensors->misfit == OP_NO_RESULT;
    const char *noun = results ? "result" : "operand";
    uint32_t has = results ? op->results.count : op_n_places(gv->graph, op);
    struct span span = locate_op(gv->module, op, OP_TYPE_NAME, 0);
    if (!absent)
        span = locate_op(gv->module, op, results ? OP_RESULT : OP_PLACE, tensors->where);
    bool kept = absent ? diag_at(gv->diags, DIAG_op_signature, span, "%s has no %s '%s'",
                                 type->name, noun, type->slots[tensors->where].name)
                       : diag_at(gv->diags, DIAG_op_signature, span,
                                 "%s has %u %s%s, more than it can have", type->name, has, noun,
                                 has == 1 ? "" : "s");
    if (!kept)
        return;
    help_slots(gv, type, results);
    if (tensors->misfit == OP_NO_OPERAND)
        help_no_operand(gv, op, type, &type->slots[tensors->where]);
}

static void report_misfit(struct graph_verifier *gv, const struct op *op,
                          const struct op_type *type, const struct op_tensors *tensors)
{
    switch (tensors->misfit) {
    case OP_FITS:
    case OP_UNTOLD: break;
    case OP_NO_LABEL: report_label(gv, op, type, tensors->where); break;
    case OP_NO_LIST: report_list(gv, op, type, tensors->where); break;
    case OP_LIST: report_no_list(gv, op, type, tensors->where); break;
    default: report_count(gv, op, type, tensors); break;
    }
}

static struct span tensor_span(const struct graph_verifier *gv, const struct op *op,
                               const struct op_tensors *tensors, uint32_t tensor)
{
    if (tensor == NONE)
        return locate_op(gv->module, op, OP_TYPE_NAME, 0);
    return place_span(gv->module, op, &tensors->places[tensor]);
}

/* ------------------------------------------------------------------------ data types ---- */

/* "f32, f16 or bf16". */
static void dtype_names(uint64_t set, struct text *names)
{
    bool first = true;
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        if (!(set >> dtype & 1))
            continue;
        set &= ~(UINT64_C(1) << dtype);
        text_printf(names, "%s%s", first ? "" : set ? ", " : " or ", dtype_info(dtype)->name);
        first = false;
    }
    text_char(names, '\0');
}

static enum dtype dtype_of(const struct module *module, const struct op_tensors *tensors,
                           uint32_t tensor)
{
    return module->types.at[tensors->places[tensor].type].dtype;
}

/* The first tensor of a slot, or NONE. */
static uint32_t find_tensor(const struct op_tensors *tensors, uint32_t slot)
{
    for (uint32_t i = 0; i < tensors->call.n_tensors; i++)
        if (tensors->call.tensors[i].slot == slot)
            return i;
    return NONE;
}

/* As a set; one that is not known may be any. */
static uint64_t dtype_bit(enum dtype dtype)
{
    return dtype == DTYPE_UNKNOWN ? UINT64_MAX : UINT64_C(1) << dtype;
}

/* What is wrong with a dtype. */
struct wrong_dtype {
    uint32_t tensor;
    uint64_t set;  /* of what it may be; 0: an attribute says what cannot be */
    uint32_t like; /* the tensor whose dtype it may have; NONE */
    bool by_attr;  /* it must be what an attribute says, `number` */
    int64_t number;
};

/* Leaves in the set what the op's attribute says, if that may be. */
static void narrow_by_attr(const struct op_call *call, struct wrong_dtype *found)
{
    struct arena scratch = {NULL, 0};
    enum dtype dtype;
    uint32_t slot = call->tensors[found->tensor].slot;
    found->by_attr = op_slot_number(call, slot, false, &scratch, &found->number);
    arena_free(&scratch);
    if (!found->by_attr)
        return;
    found->set &= ge_dtype_find(found->number, &dtype) ? dtype_bit(dtype) : 0;
}

/* Finds the first one. */
static bool dtypes_fit(const struct module *module, const struct op_tensors *tensors,
                       struct wrong_dtype *wrong)
{
    for (uint32_t i = 0; i < tensors->call.n_tensors; i++) {
        const struct op_slot *slot = &tensors->call.type->slots[tensors->call.tensors[i].slot];
        uint32_t like = slot->like == NONE ? NONE : find_tensor(tensors, slot->like);
        uint64_t set = slot->dtypes;
        if (slot->like != NONE)
            set |= like == NONE ? UINT64_MAX : dtype_bit(dtype_of(module, tensors, like));
        *wrong = (struct wrong_dtype){i, set, like, false, 0};
        if (slot->by != NONE)
            narrow_by_attr(&tensors->call, wrong);
        if (!(wrong->set & dtype_bit(dtype_of(module, tensors, i))))
            return false;
    }
    return true;
}

/* The attribute of this name, which the op has. */
static struct span attr_span(const struct graph_verifier *gv, const struct op *op, const char *name)
{
    const struct attr *attr = gv->module->attrs.at + op->attrs.first;
    while (!name_is(gv->module, attr->key, name))
        attr++;
    return locate_token(gv->module, attr->loc);
}

/* The number of no dtype, or of one that the result cannot have. */
static void report_number(struct graph_verifier *gv, const struct op *op,
                          const struct op_tensors *tensors, const struct wrong_dtype *wrong)
{
    const struct op_type *type = tensors->call.type;
    const struct op_slot *slot = &type->slots[tensors->call.tensors[wrong->tensor].slot];
    const char *name = type->attrs[slot->by].name;
    if (diag_at(gv->diags, DIAG_op_signature, attr_span(gv, op, name),
                "%s of %s is %lld, the number of no data type that '%s' can have", name, type->name,
                (long long)wrong->number, slot->name))
        diag_help(gv->diags, "'skirc opt --op-type=%s' prints the numbers", type->name);
}

static void report_dtype(struct graph_verifier *gv, const struct op *op,
                         const struct op_tensors *tensors, const struct wrong_dtype *wrong)
{
    uint32_t tensor = wrong->tensor, like = wrong->like;
    const struct op_type *type = tensors->call.type;
    const struct op_slot *slot = &type->slots[tensors->call.tensors[tensor].slot];
    struct text names = {NULL, 0, 0};
    dtype_names(wrong->set, &names);
    bool alone = like != NONE && slot->dtypes == 0 && !wrong->by_attr;
    const char *source = wrong->by_attr ? type->attrs[slot->by].name
                         : alone        ? type->slots[slot->like].name
                                        : "";
    if (diag_at(
            gv->diags, DIAG_op_signature, tensor_span(gv, op, tensors, tensor),
            "%s '%s' of %s must be %s%s%s%s, but is %s",
            tensors->places[tensor].result ? "result" : "operand", slot->name, type->name, names.at,
            wrong->by_attr ? " by '"
            : alone        ? " like '"
                           : "",
            source, *source ? "'" : "", dtype_info(dtype_of(gv->module, tensors, tensor))->name) &&
        like != NONE)
        diag_note(gv->diags, tensor_span(gv, op, tensors, like), "'%s' is here",
                  type->slots[slot->like].name);
    text_free(&names);
}

static bool verify_dtypes(struct graph_verifier *gv, const struct op *op,
                          const struct op_tensors *tensors)
{
    struct wrong_dtype wrong;
    if (dtypes_fit(gv->module, tensors, &wrong))
        return true;
    if (wrong.set == 0 && wrong.by_attr)
        report_number(gv, op, tensors, &wrong);
    else
        report_dtype(gv, op, tensors, &wrong);
    return false;
}

/* ---------------------------------------------------------------------------- shapes ---- */

static bool shapes_fit(const struct module *module, const struct op_tensors *tensors,
                       struct op_fault *fault)
{
    return !op_tensors_are_plain(module, tensors) || op_shapes_check(&tensors->call, fault);
}

static bool values_fit(const struct module *module, const struct graph *graph, const struct op *op,
                       struct op_tensors *tensors, struct op_range_fault *fault)
{
    return tensors->call.type->n_contents == 0 || !op_tensors_are_plain(module, tensors) ||
           operand_values_fit(module, graph, op, tensors, fault);
}

/* Attributes that mean nothing to a type, but nearly one of its own, may be why shapes are
 * wrong. */
static void note_meant_keys(struct graph_verifier *gv, const struct op *op,
                            const struct op_type *type)
{
    for (uint32_t i = 0; i < op->attrs.count; i++) {
        const struct attr *attr = &gv->module->attrs.at[op->attrs.first + i];
        const struct intern_name *key = &gv->module->names.names[attr->key];
        if (find_attr(gv->module, type, attr->key) || attr_row_find(OWNER_OP, attr->key) ||
            attr_is_private(gv->module, attr->key))
            continue;
        struct suggest meant = meant_key(type, key->text, key->size);
        struct span span = locate_token(gv->module, attr->loc);
        if (!meant.best)
            continue;
        diags_take_back(gv->diags, DIAG_attribute_slip, span);
        diag_note(gv->diags, span, "'%.*s' means nothing to %s%s", NAME(gv->module, attr->key),
                  type->name, suggest_end(&meant).text);
    }
}

static bool verify_shapes(struct graph_verifier *gv, const struct op *op,
                          const struct op_tensors *tensors)
{
    struct op_fault fault;
    if (shapes_fit(gv->module, tensors, &fault))
        return true;
    if (!diag_at(gv->diags, DIAG_op_signature, tensor_span(gv, op, tensors, fault.tensor), "%s",
                 fault.text))
        return false;
    if (fault.other != NONE)
        diag_note(gv->diags, tensor_span(gv, op, tensors, fault.other), "the other is here");
    note_meant_keys(gv, op, tensors->call.type);
    return false;
}

/* -------------------------------------------------------------------------- contents ---- */

static void verify_values(struct graph_verifier *gv, const struct op *op,
                          struct op_tensors *tensors)
{
    struct op_range_fault fault;
    if (!values_fit(gv->module, gv->graph, op, tensors, &fault) &&
        operand_value_report(gv->module, op, tensors, &fault, gv->diags))
        diag_help(gv->diags, "'skirc opt --op-type=%s' prints what may stand there",
                  tensors->call.type->name);
}

/* ------------------------------------------------------------------------ attributes ---- */

static bool is_number(const struct attr_value *value, bool floats)
{
    return value->kind == ATTR_INT || (floats && value->kind == ATTR_FLOAT);
}

static bool is_list(const struct module *module, const struct attr_value *value, bool floats)
{
    for (uint32_t i = 0; value->kind == ATTR_LIST && i < value->count; i++)
        if (!is_number(&module->attr_values.at[value->first + i], floats))
            return false;
    return value->kind == ATTR_LIST;
}

static bool attr_fits(const struct module *module, const struct attr_value *value,
                      enum op_attr_kind kind)
{
    switch (kind) {
    case OP_ATTR_INT:
    case OP_ATTR_FLOAT: return is_number(value, kind == OP_ATTR_FLOAT);
    case OP_ATTR_BOOL:
        return value->kind == ATTR_BOOL || (value->kind == ATTR_INT && (value->i | 1) == 1);
    case OP_ATTR_STRING: return value->kind == ATTR_STRING || value->kind == ATTR_WORD;
    case OP_ATTR_INTS:
    case OP_ATTR_FLOATS: return is_list(module, value, kind == OP_ATTR_FLOATS);
    case OP_ATTR_CONTENTS: /* verify_ops.c */
    case OP_ATTR_KINDS: break;
    }
    return true;
}

/* The data of an attribute that is not of the kind that it says; NULL where nothing is wrong. */
static const struct op_attr *wrong_kind(const struct module *module, const struct op_type *type,
                                        const struct attr *attr)
{
    bool own = attr->key < W_COUNT && attr_row_find(OWNER_OP, attr->key);
    const struct op_attr *known = own ? NULL : find_attr(module, type, attr->key);
    return known && !attr_fits(module, &attr->value, known->kind) ? known : NULL;
}

static bool kinds_fit(const struct module *module, const struct op *op, const struct op_type *type)
{
    for (uint32_t i = 0; i < op->attrs.count; i++)
        if (wrong_kind(module, type, &module->attrs.at[op->attrs.first + i]))
            return false;
    return true;
}

static void help_kind(struct graph_verifier *gv, const struct attr *attr, enum op_attr_kind kind)
{
    if (attr->value.kind == ATTR_WORD && kind == OP_ATTR_BOOL)
        diag_help(gv->diags, "they are written 'true' and 'false'");
    else if (attr->value.kind == ATTR_INT && (kind == OP_ATTR_INTS || kind == OP_ATTR_FLOATS))
        diag_help(gv->diags, "a list of one is written '[%lld]'", (long long)attr->value.i);
}

static bool verify_kinds(struct graph_verifier *gv, const struct op *op, const struct op_type *type)
{
    static const char *const kinds[OP_ATTR_KINDS] = {
        [OP_ATTR_INT] = "an integer",          [OP_ATTR_FLOAT] = "a number",
        [OP_ATTR_BOOL] = "true or false",      [OP_ATTR_STRING] = "a string",
        [OP_ATTR_INTS] = "a list of integers", [OP_ATTR_FLOATS] = "a list of numbers",
    };
    bool ok = true;
    for (uint32_t i = 0; i < op->attrs.count; i++) {
        const struct attr *attr = &gv->module->attrs.at[op->attrs.first + i];
        const struct op_attr *known = wrong_kind(gv->module, type, attr);
        if (!known)
            continue;
        ok = false;
        if (diag_at(gv->diags, DIAG_attribute_kind, locate_token(gv->module, attr->loc),
                    "'%s' of %s must be %s", known->name, type->name, kinds[known->kind]))
            help_kind(gv, attr, known->kind);
    }
    return ok;
}

/* ------------------------------------------------------------------------- one op ---- */

/* The type whose data an op is held to: what calls graphs is held to them (verify_calls.c). */
static const struct op_type *type_to_fit(const struct module *module, const struct op *op)
{
    const struct op_type *type = op_type_find(module, op->type);
    return type && type->n_graphs == 0 ? type : NULL;
}

/* A label that the type does not have may be the kernel's. */
static bool slots_fit(const struct op *op, const struct op_tensors *tensors)
{
    return tensors->misfit == OP_FITS || tensors->misfit == OP_UNTOLD ||
           (tensors->misfit == OP_NO_LABEL && op->kernel != NONE);
}

bool op_fits_type(const struct module *module, const struct graph *graph, const struct op *op)
{
    const struct op_type *type = type_to_fit(module, op);
    if (!type)
        return true;
    struct arena scratch = {NULL, 0};
    struct op_tensors tensors;
    struct wrong_dtype wrong;
    struct op_fault fault;
    struct op_range_fault values;
    op_tensors_init(&tensors, module, graph, op, type, &scratch);
    bool fits = kinds_fit(module, op, type) && slots_fit(op, &tensors) &&
                (tensors.misfit != OP_FITS ||
                 (dtypes_fit(module, &tensors, &wrong) && shapes_fit(module, &tensors, &fault) &&
                  values_fit(module, graph, op, &tensors, &values)));
    arena_free(&scratch);
    return fits;
}

void verify_op_type(struct graph_verifier *gv, const struct op *op)
{
    const struct op_type *type = type_to_fit(gv->module, op);
    if (!type || op_is_unchecked(gv->module, op))
        return;
    struct arena scratch = {NULL, 0};
    struct op_tensors tensors;
    uint32_t errors = gv->diags->counts[SEVERITY_ERROR];
    op_tensors_init(&tensors, gv->module, gv->graph, op, type, &scratch);
    bool ok = verify_kinds(gv, op, type);
    if (tensors.misfit != OP_FITS)
        report_misfit(gv, op, type, &tensors);
    else if (verify_dtypes(gv, op, &tensors) && ok && verify_shapes(gv, op, &tensors))
        verify_values(gv, op, &tensors);
    arena_free(&scratch);
    expensive_assert((gv->diags->counts[SEVERITY_ERROR] == errors) ==
                     op_fits_type(gv->module, gv->graph, op));
}
