#include "ir/analysis/contents.h"
#include "ir/analysis/modref.h"
#include "ir/core/calls.h"
#include "ir/optypes/op_tensors.h"
#include "ir/optypes/op_types.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------------- other files of arrays ---- */

static const struct name_row {
    const char *suffix, *what;
} names[] = {
    {".npz", "an archive of NumPy's savez"},
    {".pt", "a file of PyTorch's save"},
    {".pth", "a file of PyTorch's save"},
    {".ckpt", "a file of PyTorch's save"},
    {".pkl", "a pickle of Python's"},
    {".pickle", "a pickle of Python's"},
    {".csv", "text"},
    {".tsv", "text"},
    {".json", "text"},
    {".h5", "an HDF5 file"},
    {".hdf5", "an HDF5 file"},
    {".safetensors", "a file of safetensors"},
    {".gz", "compressed"},
    {".zip", "a ZIP archive"},
};

#define SIGNATURE(text) text, sizeof text - 1

static const struct signature_row {
    const char *bytes;
    size_t size;
    const char *what;
} signatures[] = {
    {SIGNATURE("PK\3\4"), "a ZIP archive, as NumPy's savez and PyTorch's save write them"},
    {SIGNATURE("\x80\2\x8a\nl\xfc\x9c"
               "F\xf9 j\xa8P\x19"),
     "a file of PyTorch's save"},
    {SIGNATURE("\x89HDF\r\n\x1a\n"), "an HDF5 file"},
};

const char *array_kind_by_name(const char *path, size_t size)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t suffix = strlen(names[i].suffix);
        if (size > suffix && strncasecmp(path + size - suffix, names[i].suffix, suffix) == 0)
            return names[i].what;
    }
    return NULL;
}

const char *array_kind_by_bytes(const void *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++)
        if (size >= signatures[i].size &&
            memcmp(bytes, signatures[i].bytes, signatures[i].size) == 0)
            return signatures[i].what;
    return NULL;
}

/* ------------------------------------------------------------------------- contents ---- */

bool op_is_source(const struct module *module, const struct graph *graph, const struct op *op)
{
    if (op->operands.count || op->results.count != 1 || op->kernel != NONE)
        return false;
    const struct op_type *type = op_type_find(module, op->type);
    return type && type->passive && graph->values.at[op->results.first].type != module->token;
}

bool value_is_given(const struct module *module, const struct graph *graph, uint32_t value)
{
    uint32_t def = graph->values.at[value].def;
    return def == DEF_PARAM ||
           (def < graph->ops.count && op_is_source(module, graph, &graph->ops.at[def]));
}

const struct attr *op_contents_attr(const struct module *module, const struct graph *graph,
                                    const struct op *op)
{
    const struct attr *attr = attr_find(module, op->attrs, W_value);
    return attr && op_is_source(module, graph, op) ? attr : NULL;
}

bool op_lacks_contents(const struct module *module, const struct graph *graph, const struct op *op)
{
    const struct op_type *type = op_type_find(module, op->type);
    for (uint32_t i = 0; type && i < type->n_attrs; i++)
        if (type->attrs[i].kind == OP_ATTR_CONTENTS)
            return op_is_source(module, graph, op) && !attr_find(module, op->attrs, W_value);
    return false;
}

struct contents contents_read(const struct module *module, const struct attr *attr)
{
    const struct attr_value *value = &attr->value;
    if (value->kind == ATTR_LIST && value->count)
        return (struct contents){
            module->attr_values.at + value->first, value->count, NONE, 0, 0, false};
    if (value->kind == ATTR_LIST) /* where there may be no values at all */
        return (struct contents){value, 0, NONE, 0, 0, false};
    if (value->kind != ATTR_DICT)
        return (struct contents){value, 1, NONE, 0, 0, false};
    struct range keys = {value->first, value->count};
    return (struct contents){.file = attr_string(module, keys, W_file),
                             .offset = (uint64_t)attr_int(module, keys, W_offset, 0),
                             .bytes = (uint64_t)attr_int(module, keys, W_bytes, -1),
                             .escaped = attr_flag(module, keys, W_escaped)};
}

bool contents_are_npy(const struct module *module, const struct contents *contents)
{
    static const char suffix[] = ".npy";
    const size_t size = sizeof suffix - 1;
    if (contents->numbers || contents->offset || contents->bytes != NO_BYTES || contents->escaped)
        return false;
    const struct intern_name *path = &module->names.names[contents->file];
    return path->size > size && memcmp(path->text + path->size - size, suffix, size) == 0;
}

/* -------------------------------------------------------------------------- numbers ---- */

bool dtype_float_format(enum dtype dtype, struct float_format *format)
{
    switch (dtype) {
    case DTYPE_f16: *format = (struct float_format){5, 10, false}; return true;
    case DTYPE_bf16: *format = (struct float_format){8, 7, false}; return true;
    case DTYPE_f32:
    case DTYPE_c64: *format = (struct float_format){8, 23, false}; return true;
    case DTYPE_f64:
    case DTYPE_c128: *format = (struct float_format){11, 52, false}; return true;
    case DTYPE_f8e5m2: *format = (struct float_format){5, 2, false}; return true;
    case DTYPE_f8e4m3fn: *format = (struct float_format){4, 3, true}; return true;
    default: return false;
    }
}

static enum number_fit encode_float(struct float_format format, const struct attr_value *number,
                                    uint64_t *bits)
{
    if (number->kind == ATTR_BOOL)
        return NUMBER_WRONG_KIND;
    double value = number->kind == ATTR_FLOAT ? number->f : (double)number->i;
    if (number->kind == ATTR_INT && format.fraction != 52) {
        /* As a double that every shorter format rounds as it would the integer: what is cut off
         * leaves its trace in the last bit. */
        uint64_t magnitude = number->i < 0 ? 0 - (uint64_t)number->i : (uint64_t)number->i;
        int shift = 0;
        while (magnitude >> shift >> 53)
            shift++;
        uint64_t cut = magnitude & (((uint64_t)1 << shift) - 1);
        value = ldexp((double)(magnitude >> shift | (cut != 0)), shift);
        value = number->i < 0 ? -value : value;
    }
    *bits = float_encode(format, value);
    bool exists = isnan(value) || (isinf(value) && !format.finite);
    return exists || float_is_finite(format, *bits) ? NUMBER_FITS : NUMBER_TOO_LARGE;
}

static enum number_fit encode_integer(const struct dtype_info *info,
                                      const struct attr_value *number, uint64_t *bits)
{
    if (number->kind == ATTR_FLOAT || (number->kind == ATTR_BOOL && info->class != CLASS_BOOL))
        return NUMBER_WRONG_KIND;
    unsigned width = info->class == CLASS_BOOL ? 1 : info->bits;
    *bits = (uint64_t)number->i;
    bool fits = info->class == CLASS_SINT
                    ? width == 64 || (number->i >= -((int64_t)1 << (width - 1)) &&
                                      number->i < (int64_t)1 << (width - 1))
                    : number->i >= 0 && (width == 64 || *bits >> width == 0);
    return fits ? NUMBER_FITS : NUMBER_TOO_LARGE;
}

enum number_fit number_encode(enum dtype dtype, const struct attr_value *number, uint64_t *bits)
{
    const struct dtype_info *info = dtype_info(dtype);
    struct float_format format;
    assert(number->kind == ATTR_INT || number->kind == ATTR_FLOAT || number->kind == ATTR_BOOL);
    *bits = 0;
    switch (info->class) {
    case CLASS_FLOAT:
        return dtype_float_format(dtype, &format) ? encode_float(format, number, bits)
                                                  : NUMBER_UNKNOWN;
    case CLASS_SINT:
    case CLASS_UINT:
    case CLASS_BOOL: return encode_integer(info, number, bits);
    default: return NUMBER_UNKNOWN;
    }
}

/* ---------------------------------------------------------------------- operands ---- */

/* One number may fill a tensor of any size; so many of its elements stand for all. */
enum { MOST_ELEMENTS = 4096 };

uint32_t viewed_value(const struct module *module, const struct graph *graph, uint32_t value)
{
    for (uint32_t steps = 0; steps < graph->ops.count; steps++) {
        uint32_t def = graph->values.at[value].def;
        if (def >= graph->ops.count)
            break;
        const struct op *op = &graph->ops.at[def];
        uint32_t from = op_is_view(module, graph, op)
                            ? op_alias(module, graph, op, value - op->results.first)
                            : NONE;
        if (from == NONE)
            break;
        value = from;
    }
    return value;
}

void graph_mark_written(const struct module *module, const struct graph *graph, uint8_t *written)
{
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        struct op_write write = {0};
        while (op_next_write(module, graph, op, &write))
            written[viewed_value(module, graph, write.operand)] = 1;
        /* What it calls may. */
        for (uint32_t n = 0; op_call_kind(op) != CALL_NONE && n < op->operands.count; n++)
            written[viewed_value(module, graph, op_operands(graph, op)[n])] = 1;
    }
}

bool value_is_written(const struct module *module, const struct graph *graph, uint32_t value)
{
    uint8_t *written = mem_calloc(graph->values.count + 1, 1);
    graph_mark_written(module, graph, written);
    bool is_written = written[value];
    mem_free(written);
    return is_written;
}

/* The attribute of the constant that a value is, which is no view; NULL: it is none. */
static const struct attr *constant_attr(const struct module *module, const struct graph *graph,
                                        uint32_t value)
{
    uint32_t def = graph->values.at[value].def;
    const struct op *source = def < graph->ops.count ? &graph->ops.at[def] : NULL;
    return source && !op_is_variable(module, source) ? op_contents_attr(module, graph, source)
                                                     : NULL;
}

bool op_knows_contents(const struct module *module, const struct graph *graph, const struct op *op)
{
    for (uint32_t i = 0; module_may_have(module, W_value) && i < op->operands.count; i++) {
        uint32_t value = viewed_value(module, graph, op_operands(graph, op)[i]);
        if (constant_attr(module, graph, value))
            return true;
    }
    return false;
}

/* The integers of the constant that an operand is, if it is one. */
static bool contents_of(const struct op_call *call, uint32_t tensor, struct arena *arena,
                        struct op_contents *found)
{
    const struct known_contents *known = call->contents_user;
    const struct graph *graph = known->graph;
    const struct op_place *place = &known->tensors->places[tensor];
    uint64_t elements;
    if (place->result)
        return false;
    uint32_t value =
        viewed_value(known->module, graph, op_operands(graph, known->op)[place->index]);
    if (known->written && known->written[value])
        return false;
    const struct attr *attr = constant_attr(known->module, graph, value);
    if (!attr || graph->values.at[value].type == NONE ||
        !type_elements(known->module, graph->values.at[value].type, &elements))
        return false;
    struct contents contents = contents_read(known->module, attr);
    uint64_t count = elements < MOST_ELEMENTS ? elements : MOST_ELEMENTS;
    if (!contents.numbers || (contents.count != 1 && contents.count != elements))
        return false;
    int64_t *numbers = arena_alloc(arena, (count + 1) * sizeof *numbers);
    *found = (struct op_contents){numbers, count};
    for (uint64_t i = 0; i < count; i++) {
        const struct attr_value *number = &contents.numbers[contents.count == 1 ? 0 : i];
        if (number->kind != ATTR_INT && number->kind != ATTR_BOOL)
            return false;
        numbers[i] = number->i;
    }
    return true;
}

void known_contents_use(struct known_contents *known, const struct module *module,
                        const struct graph *graph, const struct op *op, struct op_tensors *tensors)
{
    *known = (struct known_contents){module, graph, op, tensors, NULL};
    tensors->call.contents = contents_of;
    tensors->call.contents_user = known;
}
