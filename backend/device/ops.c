/* Ops as the kernels of the host target see them: values and their sizes, attributes, tilings, the
 * choice of a dynamic kernel's variant. */
#include "backend/device/ops.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/kernels/sample_ops.h"
#include "ir/analysis/modref.h"
#include "ir/analysis/op_infer.h"
#include "ir/core/attr.h"
#include "ir/core/calls.h"
#include "ir/core/kernel.h"
#include "ir/core/operands.h"
#include "ir/optypes/foreign_names.h"
#include "ir/optypes/op_types.h"
#include "ir/shapes/dims.h"
#include "ir/shapes/gears.h"
#include "ir/support/text.h"
#include "ir/syntax/locate.h"

static bool is_unknown(const struct module *module, const struct graph *graph, uint32_t value)
{
    return type_has_unknown(module, graph->values.at[value].type);
}

static const struct op *op_of(const struct graph *graph, uint32_t value)
{
    uint32_t def = graph->values.at[value].def;
    return def < graph->ops.count ? &graph->ops.at[def] : NULL;
}

/* An operand that is not known, of an op whose results follow from its operands; NONE. */
static uint32_t unknown_operand(const struct module *module, const struct graph *graph,
                                const struct op *op)
{
    const uint32_t *operands = op_operands(graph, op);
    for (uint32_t i = 0; op_call_kind(op) == CALL_NONE && i < op->operands.count; i++)
        if (operands[i] != NONE && is_unknown(module, graph, operands[i]))
            return operands[i];
    return NONE;
}

/* A graph that calls this one; NULL. `count`: how many do. */
static const struct graph *caller_of(const struct module *module, const struct graph *graph,
                                     uint32_t *count)
{
    uint8_t *called = mem_calloc(module->graphs.count, 1);
    const struct graph *caller = NULL;
    uint32_t id = graph_id(module, graph);
    *count = 0;
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        called[id] = 0;
        graph_mark_called(module, &module->graphs.at[i], called);
        if (called[id] && (*count)++ == 0)
            caller = &module->graphs.at[i];
    }
    mem_free(called);
    return caller;
}

static void help_param(const struct module *module, const struct graph *graph, uint32_t param,
                       struct diags *diags)
{
    uint32_t callers, name = graph->values.at[param].name;
    const struct graph *caller = caller_of(module, graph, &callers);
    if (caller && callers > 1 && module_has_cases(module))
        diag_help(
            diags,
            "combinations of gears call '@%.*s', which is compiled by itself: where they give "
            "'%%%.*s' several shapes, write its ops in the graph that has the gears",
            NAME(module, graph->name), NAME(module, name));
    else if (caller)
        diag_help(diags,
                  "'@%.*s' calls '@%.*s', which is compiled by itself: write the type of "
                  "'%%%.*s' there in full",
                  NAME(module, caller->name), NAME(module, graph->name), NAME(module, name));
    else if (module->types.at[graph->values.at[param].type].dtype == DTYPE_UNKNOWN)
        diag_help(diags, "write the type of '%%%.*s' in full", NAME(module, name));
    else
        diag_help(diags, "write the type of '%%%.*s' in full, or give --shape %.*s=N,N,...",
                  NAME(module, name), NAME(module, name));
}

/* Adds to the last diagnostic, which says that the type of a value is not known, what to write and
 * where: at the value that it follows from. Nothing where something else is wrong with the type. */
static void help_unknown_type(const struct module *module, const struct graph *graph,
                              uint32_t value, struct diags *diags)
{
    if (!is_unknown(module, graph, value))
        return;
    const struct op *op;
    uint32_t before;
    while ((op = op_of(graph, value)) && (before = unknown_operand(module, graph, op)) != NONE)
        value = before;
    if (!op)
        help_param(module, graph, value, diags);
    else
        diag_help(diags, "write the type of '%%%.*s' in full behind %.*s%s",
                  NAME(module, graph->values.at[value].name), NAME(module, op->type),
                  op_call_kind(op) == CALL_NONE ? "" : ": the graph that it calls does not say it");
}

/* ----------------------------------------------------------------------- reading ---- */

static bool op_attr_is_kernels(const struct module *module, const struct attr *attr)
{
    return !attr_row_find(OWNER_OP, attr->key) && !attr_is_private(module, attr->key);
}

/* An attribute as kernels get it, its data in the arena; false where they cannot. */
static bool op_attr_read(const struct module *module, const struct attr *attr, struct arena *arena,
                         struct skrt_attr *found)
{
    const struct intern_name *key = &module->names.names[attr->key];
    if (key->size >= SKRT_ATTR_KEY)
        return false;
    *found = (struct skrt_attr){.i = 0};
    memcpy(found->key, key->text, key->size);
    switch (attr->value.kind) {
    case ATTR_INT:
    case ATTR_BOOL:
        found->i = attr->value.i;
        found->f = (double)attr->value.i;
        return true;
    case ATTR_FLOAT:
        found->f = attr->value.f;
        /* Truncation of what does not fit is undefined in C. */
        if (attr->value.f > -9e18 && attr->value.f < 9e18)
            found->i = (int64_t)attr->value.f;
        return true;
    case ATTR_STRING: found->text = name_text(module, attr->value.id, arena); return true;
    case ATTR_LIST:
        found->count = attr->value.count;
        found->ints = attr_list_ints(module, &attr->value, arena);
        return found->ints != NULL;
    default: return false;
    }
}

/* ------------------------------------------------------------------------ checks ---- */

/* Whether an attribute that the kernel knows is of the kind that it takes. */
static bool check_kind(const struct module *module, const struct attr *attr, const char *type,
                       const char *key, struct diags *diags)
{
    static const char *const kinds[] = {[SAMPLE_NUMBER] = "a number or a flag",
                                        [SAMPLE_TEXT] = "a string",
                                        [SAMPLE_INTS] = "a list of integers"};
    struct arena scratch = {NULL, 0};
    struct skrt_attr found;
    enum sample_attr kind = sample_op_attr_kind(op_types_of(module), type, key);
    bool ok =
        op_attr_read(module, attr, &scratch, &found) && kind == (found.text   ? SAMPLE_TEXT
                                                                 : found.ints ? SAMPLE_INTS
                                                                              : SAMPLE_NUMBER);
    if (!ok)
        diag_at(diags, DIAG_attribute_kind, locate_token(module, attr->loc),
                "'%s' of %s must be %s", key, type, kinds[kind]);
    arena_free(&scratch);
    return ok;
}

/* The attribute of this name that the kernel of a type takes; NULL. */
static const char *find_taken(const struct module *module, const char *type, uint32_t key)
{
    const char *const *name = sample_op_attrs(op_types_of(module), type);
    while (*name && !name_is(module, key, *name))
        name++;
    return *name;
}

/* Whether the sample kernel of a type takes the attribute of this key. */
static bool op_attr_is_taken(const struct module *module, const char *type, const char *key)
{
    const char *const *name = sample_op_attrs(op_types_of(module), type);
    while (*name && strcmp(*name, key) != 0)
        name++;
    return *name != NULL;
}

/* What attributes there are, where none is like the one that is not. */
static void help_attrs(const struct module *module, const char *type, struct diags *diags)
{
    struct text names = {NULL, 0, 0};
    for (const char *const *name = sample_op_attrs(op_types_of(module), type); *name; name++)
        text_printf(&names, "%s%s", names.size ? ", " : "", *name);
    text_char(&names, '\0');
    if (*names.at)
        diag_help(diags, "the attributes of %s are %s", type, names.at);
    else
        diag_help(diags, "%s has no attributes", type);
    text_free(&names);
}

/* A type that takes more than this one, such as SoftmaxV2, may have what is meant. */
static void help_successor(const struct module *module, const char *type, const char *key,
                           size_t size, struct diags *diags)
{
    char name[64];
    int length = snprintf(name, sizeof name, "%sV2", type);
    const struct op_type *other = length > 0 && (size_t)length < sizeof name
                                      ? op_types_find(op_types_of(module), name, (size_t)length)
                                      : NULL;
    if (!other)
        return;
    struct suggest meant = meant_key(other, key, size);
    for (uint32_t i = 0; i < other->n_operands; i++)
        if (strlen(other->slots[i].name) == size && memcmp(other->slots[i].name, key, size) == 0)
            diag_help(diags, "%s has an operand '%s'", other->name, other->slots[i].name);
    if (meant.best && meant.distance == 0)
        diag_help(diags, "%s has the attribute '%s'", other->name, meant.best);
}

/* What is meant by an attribute that a type does not have: one of the type, or nearly one that
 * means something to skir itself. */
static struct suggest meant_attr(const struct module *module, const struct op_type *type,
                                 uint32_t key)
{
    struct suggest own = name_suggest(module, key), meant = own;
    if (type)
        meant = meant_key(type, own.wanted, own.wanted_size);
    for (size_t i = 0; !meant.best && i < n_attr_rows; i++)
        if (attr_rows[i].owner == OWNER_OP)
            name_offer(&own, module, attr_rows[i].key);
    return own.best && own.distance == 1 ? own : meant;
}

/* The verifier has warned of it where it is nearly a known one, and no more: an op may have a
 * kernel of somebody's own. */
static void unknown_attr(const struct module *module, const struct op *op, const char *type,
                         const struct attr *attr, struct diags *diags)
{
    struct span span = locate_token(module, attr->loc);
    const struct op_type *known = op_type_find(module, op->type);
    bool of_type = false;
    for (uint32_t i = 0; known && i < known->n_attrs; i++)
        of_type |= name_is(module, attr->key, known->attrs[i].name);
    diags_take_back(diags, DIAG_attribute_slip, span);
    if (!diag_at(diags, DIAG_unknown_attribute, span,
                 of_type ? "the sample kernel of %s does not take the attribute '%.*s'"
                         : "%s has no attribute '%.*s'",
                 type, NAME(module, attr->key)))
        return;
    struct suggest meant = {.best = NULL};
    if (!of_type)
        meant = meant_attr(module, known, attr->key);
    if (diag_suggest(diags, &meant))
        return;
    help_attrs(module, type, diags);
    help_successor(module, type, module->names.names[attr->key].text,
                   module->names.names[attr->key].size, diags);
}

static bool is_default_list(const struct module *module, const struct attr_value *list,
                            const struct op_attr *attr)
{
    bool same = list->count == attr->n_numbers;
    for (uint32_t i = 0; same && i < list->count; i++) {
        const struct attr_value *number = &module->attr_values.at[list->first + i];
        same = number->kind == ATTR_INT && number->i == attr->numbers[i];
    }
    return same;
}

/* Whether the attribute is what it would be if the op did not have it, by the data of its type. */
static bool is_default(const struct module *module, const struct op_type *type,
                       const struct attr *attr)
{
    const struct intern_name *key = &module->names.names[attr->key];
    const struct op_attr *known = type ? op_type_attr(type, key->text, key->size) : NULL;
    const struct attr_value *value = &attr->value;
    if (!known || !known->fallback)
        return false;
    switch (known->kind) {
    case OP_ATTR_INT:
    case OP_ATTR_BOOL:
        return (value->kind == ATTR_INT || value->kind == ATTR_BOOL) &&
               value->i == known->numbers[0];
    case OP_ATTR_FLOAT: {
        double number = strtod(known->fallback, NULL);
        return value->kind == ATTR_FLOAT ? (float)value->f == (float)number
                                         : value->kind == ATTR_INT && (double)value->i == number;
    }
    case OP_ATTR_STRING:
        return value->kind == ATTR_STRING && name_is(module, value->id, known->fallback);
    case OP_ATTR_INTS: return value->kind == ATTR_LIST && is_default_list(module, value, known);
    default: return false;
    }
}

/* Attributes that the op type does not have, or that are of the wrong kind. One that the kernel
 * does not take may have its default. */
static bool check_known(const struct module *module, const struct op *op, const char *type,
                        struct diags *diags)
{
    bool ok = true;
    for (uint32_t i = 0; i < op->attrs.count; i++) {
        const struct attr *attr = &module->attrs.at[op->attrs.first + i];
        if (!op_attr_is_kernels(module, attr))
            continue;
        const char *known = find_taken(module, type, attr->key);
        if (known) {
            ok = check_kind(module, attr, type, known, diags) && ok;
            continue;
        }
        if (is_default(module, op_type_find(module, op->type), attr))
            continue;
        ok = false;
        unknown_attr(module, op, type, attr, diags);
    }
    return ok;
}

/* What an op of one rank, or its operands and results, say without the attribute. */
static bool is_implied(const char *name)
{
    static const char *const implied[] = {"N",         "num_split", "group", "rank_size",
                                          "reduction", "dst_type",  "dtype"};
    for (size_t i = 0; i < sizeof implied / sizeof implied[0]; i++)
        if (strcmp(implied[i], name) == 0)
            return true;
    return false;
}

static bool has_attr(const struct module *module, const struct op *op, const char *name)
{
    for (uint32_t i = 0; i < op->attrs.count; i++)
        if (name_is(module, module->attrs.at[op->attrs.first + i].key, name))
            return true;
    return false;
}

/* The kernel would take whatever it finds in the place of an attribute that has no default. */
static bool check_given(const struct module *module, const struct op *op, const char *type,
                        struct diags *diags)
{
    static const char *const samples[OP_ATTR_KINDS] = {
        [OP_ATTR_INT] = "0",          [OP_ATTR_FLOAT] = "1.0", [OP_ATTR_BOOL] = "true",
        [OP_ATTR_STRING] = "\"...\"", [OP_ATTR_INTS] = "[0]",  [OP_ATTR_FLOATS] = "[1.0]",
        [OP_ATTR_CONTENTS] = "0"};
    const struct op_type *known = op_type_find(module, op->type);
    for (const char *const *name = sample_op_attrs(op_types_of(module), type); *name; name++) {
        const struct op_attr *attr = op_type_attr(known, *name, strlen(*name));
        if (!attr || attr->fallback || is_implied(*name) || has_attr(module, op, *name))
            continue;
        if (diag_at(diags, DIAG_missing_attribute, locate_op(module, op, OP_TYPE_NAME, 0),
                    "%s needs the attribute '%s'", type, *name))
            diag_help(diags, "it stands behind the operands, as in '{%s = %s}'", *name,
                      samples[attr->kind]);
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------------- values ---- */

/* What is wrong with a dimension that has names: its first one, with the option that helps. */
static void unbound_text(const struct module *module, uint32_t index, int64_t dim, char *error,
                         size_t error_size)
{
    struct dim_sum sum;
    dim_to_sum(module, dim, &sum);
    snprintf(error, error_size, "dimension %u is '%.*s', but '%.*s' has no value: --bind %.*s=N",
             index, NAME(module, dim_gear(dim)), NAME(module, sum.terms[0].names[0]),
             NAME(module, sum.terms[0].names[0]));
}

/* A value's type as a kernel sees it. False, with a text, where the host target does not have
 * it. */
static bool tensor_of(const struct module *module, uint32_t id, struct skrt_tensor *tensor,
                      char *error, size_t error_size)
{
    const struct type *type = &module->types.at[id];
    const int64_t *dims = type_dims(module, id);
    *tensor = (struct skrt_tensor){.dtype = type->dtype, .rank = type->rank};
    if (type->dtype == DTYPE_UNKNOWN || type->rank == RANK_UNKNOWN) {
        snprintf(error, error_size,
                 "the %s of this tensor is not known, but the host target needs it",
                 type->dtype == DTYPE_UNKNOWN ? "dtype" : "rank");
        return false;
    }
    if (type->rank > SKRT_MAX_RANK) {
        snprintf(error, error_size, "the host target takes at most %d dimensions, not %u",
                 SKRT_MAX_RANK, type->rank);
        return false;
    }
    if (!dtype_info(type->dtype)->host) {
        snprintf(error, error_size, "the host target does not have the dtype %s",
                 dtype_info(type->dtype)->name);
        return false;
    }
    for (uint32_t i = 0; i < type->rank; i++) {
        tensor->dims[i] = dims[i];
        if (dims[i] >= 0)
            continue;
        if (dim_is_gear(dims[i]))
            unbound_text(module, i, dims[i], error, error_size);
        else
            snprintf(error, error_size, "dimension %u is not known, but the host target needs it",
                     i);
        return false;
    }
    if (name_is(module, type->format, "FRACTAL_NZ"))
        tensor->format = SKRT_FRACTAL_NZ;
    else if (!format_is_row_major(module, type->format)) {
        snprintf(error, error_size, "the host target knows ND, NCHW and FRACTAL_NZ, not %.*s",
                 NAME(module, type->format));
        return false;
    }
    return true;
}

/* FRACTAL_NZ stores blocks of 16 rows and 32 bytes of columns, zero-padded. False for more than
 * 2^46 elements. */
static bool tensor_size(const struct skrt_tensor *tensor, uint64_t *size)
{
    unsigned bits = dtype_info(tensor->dtype)->bits;
    assert(bits > 0 && bits <= 256);
    uint64_t elements = 1;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        assert(tensor->dims[i] >= 0);
        uint64_t dim = (uint64_t)tensor->dims[i];
        uint64_t unit = 1;
        if (tensor->format == SKRT_FRACTAL_NZ && i + 2 >= tensor->rank)
            unit = i + 2 == tensor->rank ? 16 : 256 / bits;
        if (__builtin_add_overflow(dim, unit - 1, &dim) ||
            __builtin_mul_overflow(elements, dim / unit * unit, &elements))
            return false;
    }
    *size = elements / 8 * bits + (elements % 8 * bits + 7) / 8;
    return elements >> 46 == 0;
}

bool device_value_size(const struct module *module, uint32_t type, struct span span, uint64_t *size,
                       struct diags *diags)
{
    struct skrt_tensor tensor;
    char error[160];
    if (!tensor_of(module, type, &tensor, error, sizeof error)) {
        diag_at(diags, DIAG_unsupported, span, "%s", error);
        return false;
    }
    if (!tensor_size(&tensor, size)) {
        diag_at(diags, DIAG_number_range, span, "this tensor is too large");
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------------- tiling ---- */

/* The place of the operand that is the n-th tensor of the op's kernel, below op_n_places. */
static uint32_t param_place(const struct module *module, const struct graph *graph,
                            const struct op *op, uint32_t n)
{
    if (n < op_n_unlabelled(graph, op))
        return n;
    return op_find_label(graph, op, kernel_tensor(module, module_kernel(module, op->kernel), n));
}

static bool value_tensor(const struct module *module, const struct graph *graph, uint32_t value,
                         struct skrt_tensor *tensor, char *error, size_t error_size)
{
    return tensor_of(module, graph->values.at[value].type, tensor, error, error_size);
}

static bool list_tensors(const struct module *module, const struct graph *graph, struct range list,
                         struct arena *arena, struct skrt_tensor *tensor, char *error,
                         size_t error_size)
{
    struct skrt_tensor *tensors = arena_alloc(arena, list.count * sizeof *tensors);
    *tensor = (struct skrt_tensor){.form = SKRT_LIST, .count = list.count, .list = tensors};
    for (uint32_t i = 0; i < list.count; i++)
        if (!value_tensor(module, graph, graph->refs.at[list.first + i], &tensors[i], error,
                          error_size))
            return false;
    return true;
}

static bool operand_tensor(const struct module *module, const struct graph *graph,
                           struct operand operand, struct arena *arena, struct skrt_tensor *tensor,
                           char *error, size_t error_size)
{
    *tensor = (struct skrt_tensor){.form = SKRT_ABSENT};
    if (operand.kind == OPERAND_VALUE)
        return value_tensor(module, graph, graph->refs.at[operand.values.first], tensor, error,
                            error_size);
    return operand.kind == OPERAND_NONE ||
           list_tensors(module, graph, operand.values, arena, tensor, error, error_size);
}

static bool add_tensors(const struct module *module, const struct graph *graph, const struct op *op,
                        struct arena *arena, struct skrt_tensor *tensors, char *error,
                        size_t error_size)
{
    uint32_t operands = op_n_places(graph, op), results = op_tensor_results(module, graph, op);
    for (uint32_t n = 0; n < operands; n++) {
        struct operand operand = op_operand(graph, op, param_place(module, graph, op, n));
        if (!operand_tensor(module, graph, operand, arena, &tensors[n], error, error_size))
            return false;
    }
    for (uint32_t i = 0; i < results; i++)
        if (!value_tensor(module, graph, op->results.first + i, &tensors[operands + i], error,
                          error_size))
            return false;
    return true;
}

bool device_tiling(const struct module *module, const struct graph *graph, const struct op *op,
                   struct arena *arena, struct skrt_tiling *tiling, char *error, size_t error_size)
{
    uint32_t count = op_n_places(graph, op) + op_tensor_results(module, graph, op);
    struct skrt_tensor *tensors = arena_alloc(arena, count * sizeof *tensors);
    struct skrt_attr *attrs = arena_alloc(arena, op->attrs.count * sizeof *attrs);
    *tiling = (struct skrt_tiling){.n_tensors = count, .tensors = tensors, .attrs = attrs};
    if (!add_tensors(module, graph, op, arena, tensors, error, error_size))
        return false;
    for (uint32_t i = 0; i < op->attrs.count; i++) {
        const struct attr *attr = &module->attrs.at[op->attrs.first + i];
        if (op_attr_is_kernels(module, attr) &&
            op_attr_read(module, attr, arena, &attrs[tiling->n_attrs]))
            tiling->n_attrs++;
    }
    return true;
}

/* Asks the tiling function of a sample kernel; false where it has none. */
static bool sample_choice(const struct module *module, const struct graph *graph,
                          const struct op *op, const struct kernel *kernel,
                          struct sample_tiling *tiled)
{
    struct arena scratch = {NULL, 0};
    struct skrt_tiling tiling;
    char error[160];
    uint32_t object = attr_string(module, kernel->attrs, W_object);
    bool ok = object != NONE &&
              device_tiling(module, graph, op, &scratch, &tiling, error, sizeof error) &&
              sample_op_tiling(name_text(module, object, &scratch), tiling.tensors,
                               tiling.n_tensors, module_cores(module, CORE_AIV), tiled);
    arena_free(&scratch);
    return ok;
}

static bool no_key(const struct module *module, const struct op *op, const struct kernel *kernel,
                   struct diags *diags)
{
    struct span span = locate_op(module, op, OP_TYPE_NAME, 0);
    if (diag_at(diags, DIAG_dynamic_kernel, span, "there is no tiling key for '@%.*s'",
                NAME(module, kernel->name)))
        diag_help(diags,
                  "write {tiling_key = N} behind the op's operands: N is the key of a variant");
    return false;
}

bool device_choose(const struct module *module, const struct graph *graph, const struct op *op,
                   const struct kernel *kernel, struct device_choice *choice, struct diags *diags)
{
    struct sample_tiling tiled = {-1, 0};
    if (!sample_choice(module, graph, op, kernel, &tiled))
        tiled = (struct sample_tiling){-1, 0};
    choice->key = attr_int(module, op->attrs, W_tiling_key, tiled.key);
    choice->variant = kernel_find_variant(module, kernel, choice->key);
    if (choice->variant == NONE)
        return no_key(module, op, kernel, diags);
    enum kernel_type type = kernel_variant(module, kernel, choice->variant).type;
    uint32_t most = module_blocks(module, type);
    bool own_blocks = tiled.blocks && choice->key == tiled.key;
    int64_t blocks =
        attr_int(module, op->attrs, W_tiling_blocks, own_blocks ? (int64_t)tiled.blocks : most);
    choice->blocks = (uint32_t)blocks;
    if (blocks >= 1 && blocks <= most)
        return true;
    diag_at(diags, DIAG_number_range, locate_op(module, op, OP_TYPE_NAME, 0),
            "the op asks for %lld blocks, but the target has %u for type %s", (long long)blocks,
            most, kernel_type_info(type)->name);
    return false;
}

/* ------------------------------------------------------------------------- checks ---- */

/* The n-th tensor of the op's kernel, or (-1) the op. */
static struct span tensor_span(const struct module *module, const struct graph *graph,
                               const struct op *op, int tensor)
{
    uint32_t n = (uint32_t)tensor, operands = op_n_places(graph, op);
    if (tensor < 0)
        return locate_op(module, op, OP_TYPE_NAME, 0);
    return n < operands ? locate_op(module, op, OP_PLACE, param_place(module, graph, op, n))
                        : locate_op(module, op, OP_RESULT_TYPE, n - operands);
}

/* Where a fault is: at an attribute, a tensor or the op. */
static struct span fault_span(const struct module *module, const struct graph *graph,
                              const struct op *op, const struct skrt_tiling *tiling,
                              const struct sample_op_error *fault)
{
    for (uint32_t i = 0; fault->attribute >= 0 && i < op->attrs.count; i++) {
        const struct attr *attr = &module->attrs.at[op->attrs.first + i];
        if (name_is(module, attr->key, tiling->attrs[fault->attribute].key))
            return locate_token(module, attr->loc);
    }
    return tensor_span(module, graph, op, fault->tensor);
}

/* The first type that the host target does not have at all. */
static bool check_types(const struct module *module, const struct graph *graph, const struct op *op,
                        struct diags *diags)
{
    for (uint32_t i = 0; i < op_tensors(module, graph, op); i++) {
        struct skrt_tensor tensor;
        char error[160];
        if (tensor_of(module, graph->values.at[op_tensor(graph, op, i)].type, &tensor, error,
                      sizeof error))
            continue;
        uint32_t operands = op->operands.count;
        if (diag_at(diags, DIAG_unsupported,
                    i < operands ? locate_op(module, op, OP_OPERAND, i)
                                 : locate_op(module, op, OP_RESULT_TYPE, i - operands),
                    "%s", error))
            help_unknown_type(module, graph, op_tensor(graph, op, i), diags);
        return false;
    }
    return true;
}

static bool refuse_memory(const struct module *module, const struct op *op, struct diags *diags,
                          const char *text, const char *help)
{
    const struct attr *alias = attr_find(module, op->attrs, W_alias);
    struct span span =
        alias ? locate_token(module, alias->loc) : locate_op(module, op, OP_TYPE_NAME, 0);
    if (diag_at(diags, DIAG_op_signature, span, "%.*s: %s", NAME(module, op->type), text))
        diag_help(diags, "%s", help);
    return false;
}

/* A result that is an operand's memory is one that the kernel can write there, and the op says
 * so. */
static bool check_alias(const struct module *module, const struct graph *graph, const struct op *op,
                        uint32_t result, enum sample_memory memory, struct diags *diags)
{
    uint32_t operand = op_alias(module, graph, op, result);
    if (operand == NONE)
        return true;
    if (memory == SAMPLE_APART)
        return refuse_memory(module, op, diags,
                             "its kernel reads operands while it writes results, so that no result "
                             "can be an operand's memory",
                             "leave 'alias' out");
    return op_writes(module, graph, op, operand) ||
           refuse_memory(module, op, diags, "its kernel writes what is an operand's memory",
                         "name the operand in 'inplace', too");
}

/* Whether a result of the op is this operand's memory. */
static bool has_result_in(const struct module *module, const struct graph *graph,
                          const struct op *op, uint32_t operand)
{
    for (uint32_t i = 0; i < op_tensor_results(module, graph, op); i++)
        if (op_alias(module, graph, op, i) == operand)
            return true;
    return false;
}

/* A kernel writes results, and `updated`, the operand that it updates: the op says of no other one
 * that it is written. */
static bool check_writes(const struct module *module, const struct graph *graph,
                         const struct op *op, uint32_t updated, struct diags *diags)
{
    const struct attr *inplace = attr_find(module, op->attrs, W_inplace);
    for (uint32_t i = 0; inplace && i < op->operands.count; i++) {
        uint32_t operand = op_operands(graph, op)[i];
        if (operand == updated || !op_writes(module, graph, op, operand) ||
            has_result_in(module, graph, op, operand))
            continue;
        if (diag_at(diags, DIAG_op_signature, locate_token(module, inplace->loc),
                    "%.*s: its kernel does not write operand %u", NAME(module, op->type), i))
            diag_help(diags, "leave it out of 'inplace'; or the result, if it is to be the "
                             "operand's memory, says so by 'alias'");
        return false;
    }
    return true;
}

/* What the op says of memory that its operands and results share fits its sample kernel. */
static bool check_memory(const struct module *module, const struct graph *graph,
                         const struct op *op, enum sample_memory memory, struct diags *diags)
{
    uint32_t updated = NONE;
    if (memory == SAMPLE_UPDATE)
        updated =
            graph->refs.at[op_operand(graph, op, param_place(module, graph, op, 0)).values.first];
    if (updated != NONE && !op_writes(module, graph, op, updated))
        return refuse_memory(module, op, diags, "its kernel writes operand 0 in place",
                             "write inplace = [0]");
    for (uint32_t i = 0; i < op_tensor_results(module, graph, op); i++) {
        if (updated != NONE && op_alias(module, graph, op, i) != updated)
            return refuse_memory(module, op, diags, "its result is the memory of operand 0",
                                 "write alias = [0]");
        if (!check_alias(module, graph, op, i, memory, diags))
            return false;
    }
    return check_writes(module, graph, op, updated, diags);
}

static bool is_name_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Whether a text has the name by itself. */
static bool names_type(const char *text, const char *type)
{
    size_t size = strlen(type);
    for (const char *at = text; (at = strstr(at, type)); at++)
        if ((at == text || !is_name_char(at[-1])) && !is_name_char(at[size]))
            return true;
    return false;
}

/* The tensors as the sample kernel takes them. Before the op has a kernel, optional operands at the
 * end may be left out, or be `none` where the kernel does not take them: `*operands` says how many
 * it has. */
static const struct skrt_tensor *fit_tensors(const struct module *module, const struct graph *graph,
                                             const struct op *op, const char *name,
                                             const struct skrt_tiling *tiling, struct arena *arena,
                                             uint32_t *operands)
{
    const struct op_type *type = op_type_find(module, op->type);
    uint32_t places = op_n_places(graph, op), results = tiling->n_tensors - places, n = places;
    unsigned taken, given;
    *operands = places;
    if (!type || !sample_op_arity(op_types_of(module), name, &taken, &given))
        return tiling->tensors;
    while (n < taken && type->slots[n].presence == OP_OPTIONAL)
        n++;
    n = places > taken ? op_n_given(graph, op, taken) : n;
    struct skrt_tensor *tensors = arena_alloc(arena, (n + results) * sizeof *tensors);
    for (uint32_t i = 0; i < n; i++)
        tensors[i] = i < places ? tiling->tensors[i] : (struct skrt_tensor){.form = SKRT_ABSENT};
    for (uint32_t i = 0; i < results; i++)
        tensors[n + i] = tiling->tensors[places + i];
    *operands = n;
    return tensors;
}

/* Drops the attributes that the sample kernel of the type does not take: they have defaults. */
static void drop_defaults(const struct module *module, const char *type, struct skrt_tiling *tiling,
                          struct arena *arena)
{
    struct skrt_attr *attrs = arena_alloc(arena, tiling->n_attrs * sizeof *attrs);
    uint32_t count = 0;
    for (uint32_t i = 0; i < tiling->n_attrs; i++)
        if (op_attr_is_taken(module, type, tiling->attrs[i].key))
            attrs[count++] = tiling->attrs[i];
    tiling->attrs = attrs;
    tiling->n_attrs = count;
}

bool device_op_check(const struct module *module, const struct graph *graph, const struct op *op,
                     struct diags *diags)
{
    struct arena scratch = {NULL, 0};
    struct skrt_tiling tiling;
    struct sample_op_error fault;
    char error[160];
    const char *type = name_text(module, op->type, &scratch);
    bool ok = check_known(module, op, type, diags) && check_given(module, op, type, diags) &&
              check_types(module, graph, op, diags) &&
              device_tiling(module, graph, op, &scratch, &tiling, error, sizeof error);
    if (ok)
        drop_defaults(module, type, &tiling, &scratch);
    uint32_t operands = 0;
    const struct skrt_tensor *tensors =
        ok ? fit_tensors(module, graph, op, type, &tiling, &scratch, &operands) : NULL;
    if (ok && !sample_op_check(op_types_of(module), type, tensors, operands,
                               op_tensor_results(module, graph, op), tiling.attrs, tiling.n_attrs,
                               &fault)) {
        /* The number of the tensor among those of the op; -1 where it has none for it. */
        int taken = (int)operands, places = (int)op_n_places(graph, op);
        fault.tensor = fault.tensor >= taken    ? fault.tensor - taken + places
                       : fault.tensor >= places ? -1
                                                : fault.tensor;
        /* Rules name the type that they are of, and what is said of kernels does not. */
        bool named = names_type(fault.text, type);
        diag_at(diags, DIAG_op_signature, fault_span(module, graph, op, &tiling, &fault), "%s%s%s",
                named ? "" : type, named ? "" : ": ", fault.text);
        ok = false;
    }
    ok = ok && check_memory(module, graph, op, sample_op_memory(op_types_of(module), type), diags);
    arena_free(&scratch);
    return ok;
}
