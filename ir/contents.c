#include "ir/contents.h"
#include "ir/op_types.h"

#include <assert.h>
#include <string.h>

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

/* As a double that every shorter format rounds as it would the integer: what is cut off leaves its
 * trace in the last bit. */
static double double_of_int(int64_t i)
{
    uint64_t magnitude = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    int shift = 0;
    while (magnitude >> shift >> 53)
        shift++;
    uint64_t cut = magnitude & (((uint64_t)1 << shift) - 1);
    double value = ldexp((double)(magnitude >> shift | (cut != 0)), shift);
    return i < 0 ? -value : value;
}

static enum number_fit encode_float(struct float_format format, const struct attr_value *number,
                                    uint64_t *bits)
{
    if (number->kind == ATTR_BOOL)
        return NUMBER_WRONG_KIND;
    double value = number->kind == ATTR_FLOAT ? number->f
                   : format.fraction == 52    ? (double)number->i
                                              : double_of_int(number->i);
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
