#include "backend/device/op_attrs.h"
#include "backend/device/ops.h"
#include "backend/device/unknown_types.h"
#include "backend/kernels/sample_ops.h"
#include "backend/kernels/sample_tiling.h"
#include "ir/dims.h"
#include "ir/kernels.h"
#include "ir/memories.h"
#include "ir/op_types.h"
#include "ir/operands.h"
#include "ir/syntax/locate.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

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

/* Where the op says what its memory is. */
static struct span memory_span(const struct module *module, const struct op *op)
{
    const struct attr *alias = attr_find(module, op->attrs, W_alias);
    return alias ? locate_token(module, alias->loc) : locate_op(module, op, OP_TYPE_NAME, 0);
}

static bool refuse_memory(const struct module *module, const struct op *op, struct diags *diags,
                          const char *text, const char *help)
{
    if (diag_at(diags, DIAG_op_signature, memory_span(module, op), "%.*s: %s",
                NAME(module, op->type), text))
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

/* Rules name the type that they are of, and what is said of kernels does not. */
static void report_sample(struct span span, const char *type, const char *text, struct diags *diags)
{
    bool named = names_type(text, type);
    diag_at(diags, DIAG_op_signature, span, "%s%s%s", named ? "" : type, named ? "" : ": ", text);
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
    if (!type || !sample_op_arity(module->op_types, name, &taken, &given))
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

/* The number of the tensor among those of the op; -1 where it has none for it. */
static int fault_tensor(int tensor, uint32_t taken, uint32_t places)
{
    if (tensor >= 0 && (uint32_t)tensor >= taken)
        return tensor - (int)taken + (int)places;
    return tensor >= 0 && (uint32_t)tensor >= places ? -1 : tensor;
}

bool device_op_check(const struct module *module, const struct graph *graph, const struct op *op,
                     struct diags *diags)
{
    struct arena scratch = {NULL, 0};
    struct skrt_tiling tiling;
    struct sample_op_error fault;
    char error[160];
    const char *type = name_text(module, op->type, &scratch);
    bool ok = op_attrs_check(module, op, type, diags) && check_types(module, graph, op, diags) &&
              device_tiling(module, graph, op, &scratch, &tiling, error, sizeof error);
    if (ok)
        drop_defaults(module, type, &tiling, &scratch);
    uint32_t operands = 0;
    const struct skrt_tensor *tensors =
        ok ? fit_tensors(module, graph, op, type, &tiling, &scratch, &operands) : NULL;
    if (ok && !sample_op_check(module->op_types, type, tensors, operands,
                               op_tensor_results(module, graph, op), tiling.attrs, tiling.n_attrs,
                               &fault)) {
        fault.tensor = fault_tensor(fault.tensor, operands, op_n_places(graph, op));
        report_sample(fault_span(module, graph, op, &tiling, &fault), type, fault.text, diags);
        ok = false;
    }
    ok = ok && check_memory(module, graph, op, sample_op_memory(module->op_types, type), diags);
    arena_free(&scratch);
    return ok;
}
