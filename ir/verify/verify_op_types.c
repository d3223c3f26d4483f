/* The verifier's part for what is known of op types: their operands, results, data types, shapes
 * and attributes (ir/optypes/ops). */
#include "ir/analysis/contents.h"
#include "ir/core/attr.h"
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

/* The names of the operands or results that a type has: "x1, x2, bias?". */
static void help_slots(struct graph_verifier *gv, const struct op_type *type, bool results)
{
    static const char *const marks[] = {"", "?", "*"};
    const struct op_slot *slots = type->slots + (results ? type->n_operands : 0);
    uint32_t count = results ? type->n_results : type->n_operands;
    struct text names = {NULL, 0, 0};
    for (uint32_t i = 0; i < count; i++)
        text_printf(&names, "%s%s%s", i ? ", " : "", slots[i].name, marks[slots[i].presence]);
    diag_help(gv->diags, "the %s of %s are (%.*s)", results ? "results" : "operands", type->name,
              (int)names.size, names.at);
    text_free(&names);
}

/* A list in the place of a value, or a value in that of a list: help writes "[%a, %b]" of the
 * values from there on that the type's last operand takes, else of one. */
static void report_form(struct graph_verifier *gv, const struct op *op, const struct op_type *type,
                        uint32_t place, bool listed)
{
    uint32_t end = place + 1, count = op_n_unlabelled(gv->graph, op);
    struct text list = {NULL, 0, 0};
    if (!diag_at(gv->diags, DIAG_op_signature, locate_op(gv->module, op, OP_PLACE, place),
                 listed ? "this operand of %s is a list, not one value"
                        : "this operand of %s is one value, not a list",
                 type->name))
        return;
    if (!listed) {
        help_slots(gv, type, false);
        return;
    }
    if (place + 1 >= type->n_operands)
        while (end < count && op_operand(gv->graph, op, end).kind == OPERAND_VALUE)
            end++;
    for (uint32_t i = place; i < end; i++) {
        struct operand operand = op_operand(gv->graph, op, i);
        uint32_t value = gv->graph->refs.at[operand.values.first];
        text_string(&list, i > place ? ", " : "");
        spell_value(&list, gv->module, gv->graph->values.at[value].name);
    }
    diag_help(gv->diags, "a list is one operand, in brackets: '[%.*s]'", (int)list.size, list.at);
    text_free(&list);
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

/* What others give as an attribute, and types of CANN as an operand. There may be a type with an
 * attribute: of this name with D at its end. */
static void help_no_operand(struct graph_verifier *gv, const struct op *op,
                            const struct op_type *type, const char *slot)
{
    const struct module *module = gv->module;
    const char *const names[] = {type->name, type->real};
    char name[64];
    for (int i = 0; i < 2; i++) {
        size_t size = (size_t)snprintf(name, sizeof name, "%sD", names[i]);
        const struct op_type *other =
            size < sizeof name ? op_types_find(op_types_of(module), name, size) : NULL;
        if (!op_type_attr(other, slot, strlen(slot)))
            continue;
        diag_help(gv->diags, "%s has it as an attribute: '%s(...) {%s = ...}'", other->name,
                  other->name, slot);
        return;
    }
    for (uint32_t i = 0; i < op->attrs.count; i++) {
        uint32_t id = module->attrs.at[op->attrs.first + i].key;
        const struct intern_name *key = &module->names.names[id];
        if (!name_is(module, id, slot) &&
            !meant_keys_agree(key->text, key->size, slot, strlen(slot)))
            continue;
        diag_help(gv->diags,
                  "it is no attribute, but a value: '%%%s = Const() {value = ...} : TYPE'", slot);
        return;
    }
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
        help_no_operand(gv, op, type, type->slots[tensors->where].name);
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
}

static enum dtype dtype_of(const struct module *module, const struct op_tensors *tensors,
                           uint32_t tensor)
{
    return module->types.at[tensors->places[tensor].type].dtype;
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

/* Finds the first one. */
static bool dtypes_fit(const struct module *module, const struct op_tensors *tensors,
                       struct wrong_dtype *wrong)
{
    const struct op_call *call = &tensors->call;
    for (uint32_t i = 0; i < call->n_tensors; i++) {
        uint32_t index = call->tensors[i].slot;
        const struct op_slot *slot = &call->type->slots[index];
        *wrong = (struct wrong_dtype){.tensor = i, .set = slot->dtypes, .like = NONE};
        for (uint32_t n = 0; slot->like != NONE && n < call->n_tensors; n++)
            if (call->tensors[n].slot == slot->like) {
                wrong->like = n;
                break;
            }
        if (slot->like != NONE)
            wrong->set |= wrong->like == NONE ? UINT64_MAX
                                              : dtype_bit(dtype_of(module, tensors, wrong->like));
        struct arena scratch = {NULL, 0};
        enum dtype dtype;
        wrong->by_attr =
            slot->by != NONE && op_slot_number(call, index, false, &scratch, &wrong->number);
        arena_free(&scratch);
        if (wrong->by_attr)
            wrong->set &= ge_dtype_find(wrong->number, &dtype) ? dtype_bit(dtype) : 0;
        if (!(wrong->set & dtype_bit(dtype_of(module, tensors, i))))
            return false;
    }
    return true;
}

static void report_dtype(struct graph_verifier *gv, const struct op *op,
                         const struct op_tensors *tensors, const struct wrong_dtype *wrong)
{
    uint32_t tensor = wrong->tensor, like = wrong->like;
    const struct op_type *type = tensors->call.type;
    const struct op_slot *slot = &type->slots[tensors->call.tensors[tensor].slot];
    const char *by = wrong->by_attr ? type->attrs[slot->by].name : "";
    struct text names = {NULL, 0, 0};
    if (wrong->set == 0 && wrong->by_attr) {
        const struct attr *attr = gv->module->attrs.at + op->attrs.first;
        while (!name_is(gv->module, attr->key, by))
            attr++;
        if (diag_at(gv->diags, DIAG_op_signature, locate_token(gv->module, attr->loc),
                    "%s of %s is %lld, the number of no data type that '%s' can have", by,
                    type->name, (long long)wrong->number, slot->name))
            diag_help(gv->diags, "'skirc opt --op-type=%s' prints the numbers", type->name);
        return;
    }
    dtype_names(wrong->set, &names);
    bool alone = like != NONE && slot->dtypes == 0 && !wrong->by_attr;
    if (wrong->by_attr)
        text_printf(&names, " by '%s'", by);
    else if (alone)
        text_printf(&names, " like '%s'", type->slots[slot->like].name);
    if (diag_at(gv->diags, DIAG_op_signature, tensor_span(gv, op, tensors, tensor),
                "%s '%s' of %s must be %.*s, but is %s",
                tensors->places[tensor].result ? "result" : "operand", slot->name, type->name,
                (int)names.size, names.at,
                dtype_info(dtype_of(gv->module, tensors, tensor))->name) &&
        like != NONE)
        diag_note(gv->diags, tensor_span(gv, op, tensors, like), "'%s' is here",
                  type->slots[slot->like].name);
    text_free(&names);
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

/* ------------------------------------------------------------------------ attributes ---- */

static bool attr_fits(const struct module *module, const struct attr_value *value,
                      enum op_attr_kind kind)
{
    bool number = value->kind == ATTR_INT ||
                  (value->kind == ATTR_FLOAT && (kind == OP_ATTR_FLOAT || kind == OP_ATTR_FLOATS));
    switch (kind) {
    case OP_ATTR_INT:
    case OP_ATTR_FLOAT: return number;
    case OP_ATTR_BOOL:
        return value->kind == ATTR_BOOL || (value->kind == ATTR_INT && (value->i | 1) == 1);
    case OP_ATTR_STRING: return value->kind == ATTR_STRING || value->kind == ATTR_WORD;
    case OP_ATTR_INTS:
    case OP_ATTR_FLOATS:
        for (uint32_t i = 0; value->kind == ATTR_LIST && i < value->count; i++)
            if (!attr_fits(module, &module->attr_values.at[value->first + i],
                           kind == OP_ATTR_INTS ? OP_ATTR_INT : OP_ATTR_FLOAT))
                return false;
        return value->kind == ATTR_LIST;
    case OP_ATTR_CONTENTS: /* verify_ops.c */
    case OP_ATTR_KINDS: break;
    }
    return true;
}

/* Whether attributes are of the kinds that the type says; `gv` reports those that are not, NULL:
 * none does. */
static bool kinds_fit(struct graph_verifier *gv, const struct module *module, const struct op *op,
                      const struct op_type *type)
{
    static const char *const kinds[OP_ATTR_KINDS] = {
        [OP_ATTR_INT] = "an integer",          [OP_ATTR_FLOAT] = "a number",
        [OP_ATTR_BOOL] = "true or false",      [OP_ATTR_STRING] = "a string",
        [OP_ATTR_INTS] = "a list of integers", [OP_ATTR_FLOATS] = "a list of numbers",
    };
    bool ok = true;
    for (uint32_t i = 0; i < op->attrs.count; i++) {
        const struct attr *attr = &module->attrs.at[op->attrs.first + i];
        bool own = attr->key < W_COUNT && attr_row_find(OWNER_OP, attr->key);
        const struct op_attr *known = own ? NULL : find_attr(module, type, attr->key);
        if (!known || attr_fits(module, &attr->value, known->kind))
            continue;
        ok = false;
        if (!gv || !diag_at(gv->diags, DIAG_attribute_kind, locate_token(module, attr->loc),
                            "'%s' of %s must be %s", known->name, type->name, kinds[known->kind]))
            continue;
        if (attr->value.kind == ATTR_WORD && known->kind == OP_ATTR_BOOL)
            diag_help(gv->diags, "they are written 'true' and 'false'");
        else if (attr->value.kind == ATTR_INT &&
                 (known->kind == OP_ATTR_INTS || known->kind == OP_ATTR_FLOATS))
            diag_help(gv->diags, "a list of one is written '[%lld]'", (long long)attr->value.i);
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
    /* A label that the type does not have may be the kernel's. */
    bool fits =
        tensors.misfit == OP_UNTOLD || (tensors.misfit == OP_NO_LABEL && op->kernel != NONE) ||
        (tensors.misfit == OP_FITS && dtypes_fit(module, &tensors, &wrong) &&
         shapes_fit(module, &tensors, &fault) && values_fit(module, graph, op, &tensors, &values));
    fits = fits && kinds_fit(NULL, module, op, type);
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
    struct wrong_dtype wrong;
    struct op_range_fault fault;
    uint32_t errors = gv->diags->counts[SEVERITY_ERROR];
    op_tensors_init(&tensors, gv->module, gv->graph, op, type, &scratch);
    bool ok = kinds_fit(gv, gv->module, op, type);
    switch (tensors.misfit) {
    case OP_UNTOLD: break;
    case OP_NO_LABEL: report_label(gv, op, type, tensors.where); break;
    case OP_NO_LIST: report_form(gv, op, type, tensors.where, false); break;
    case OP_LIST: report_form(gv, op, type, tensors.where, true); break;
    default: report_count(gv, op, type, &tensors); break;
    case OP_FITS:
        if (!dtypes_fit(gv->module, &tensors, &wrong))
            report_dtype(gv, op, &tensors, &wrong);
        else if (ok && verify_shapes(gv, op, &tensors) &&
                 !values_fit(gv->module, gv->graph, op, &tensors, &fault) &&
                 operand_value_report(gv->module, op, &tensors, &fault, gv->diags))
            diag_help(gv->diags, "'skirc opt --op-type=%s' prints what may stand there",
                      type->name);
    }
    arena_free(&scratch);
    expensive_assert((gv->diags->counts[SEVERITY_ERROR] == errors) ==
                     op_fits_type(gv->module, gv->graph, op));
}
