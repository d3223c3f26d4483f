#include "frontend/exchange/readers/onnx_values.h"

#include "frontend/exchange/dump/contents.h"
#include "ir/contents.h"

/* ---------------------------------------------------------------------------- types ---- */

/* Element types as older texts have them, by their number. */
static const char *const type_words[] = {
    "UNDEFINED",      "FLOAT",      "UINT8",          "INT8",       "UINT16",   "INT16",
    "INT32",          "INT64",      "STRING",         "BOOL",       "FLOAT16",  "DOUBLE",
    "UINT32",         "UINT64",     "COMPLEX64",      "COMPLEX128", "BFLOAT16", "FLOAT8E4M3FN",
    "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "UINT4",      "INT4",     "FLOAT4E2M1",
    "FLOAT8E8M0",     "UINT2",      "INT2",
};

static bool word_is(const struct proto_field *field, const char *word)
{
    return field->size == strlen(word) && memcmp(field->text, word, field->size) == 0;
}

/* A number of an element type, or its name. */
static unsigned read_dtype(struct onnx *onnx, const struct proto_field *field, uint32_t loc)
{
    int64_t number = 0;
    if (field->kind == PROTO_WORD) {
        for (unsigned i = 0; i < sizeof type_words / sizeof type_words[0]; i++)
            if (word_is(field, type_words[i]))
                return dump_dtype_numbered(onnx->dump, DUMP_ONNX, i, loc);
        return dump_dtype_named(onnx->dump, field->text, field->size, loc);
    }
    if (!proto_integer(&onnx->proto, field, &number))
        return DTYPE_UNKNOWN;
    return dump_dtype_numbered(onnx->dump, DUMP_ONNX, number, loc);
}

/* A dimension that was entered: a number, a name, or nothing. */
static int64_t read_dim(struct onnx *onnx)
{
    struct proto_field field;
    int64_t dim = DIM_UNKNOWN;
    struct field_walk walk = onnx_walk(onnx, MESSAGE_ONNX_DIM);
    while (field_next(&walk, &field)) {
        const char *bytes;
        size_t size;
        if (proto_is(&field, "dim_value") && proto_integer(&onnx->proto, &field, &dim))
            dim = dim < 0 ? DIM_UNKNOWN : dim;
        else if (proto_is(&field, "dim_param") && proto_string(&onnx->proto, &field, &bytes, &size))
            dim = dump_dim(onnx->dump, bytes, size);
    }
    return dim;
}

static void read_shape(struct onnx *onnx, struct dump_shape *shape)
{
    struct proto_field field;
    struct field_walk walk = onnx_walk(onnx, MESSAGE_ONNX_SHAPE);
    shape->rank = 0;
    while (field_next(&walk, &field))
        if (proto_is(&field, "dim") && field_enter(&onnx->proto, &field))
            dump_shape_add(shape, read_dim(onnx));
}

static uint32_t read_tensor_type(struct onnx *onnx, uint32_t loc)
{
    struct proto_field field;
    struct dump_shape shape;
    unsigned dtype = DTYPE_UNKNOWN;
    struct field_walk walk = onnx_walk(onnx, MESSAGE_ONNX_TENSOR_TYPE);
    shape.rank = RANK_UNKNOWN;
    while (field_next(&walk, &field))
        if (proto_is(&field, "elem_type"))
            dtype = read_dtype(onnx, &field, loc);
        else if (proto_is(&field, "shape") && field_enter(&onnx->proto, &field))
            read_shape(onnx, &shape);
    return dump_type(onnx->dump, dtype, W_ND, &shape, loc);
}

uint32_t onnx_read_type(struct onnx *onnx, uint32_t loc)
{
    struct proto_field field;
    uint32_t type = dump_no_type(onnx->dump);
    struct field_walk walk = onnx_walk(onnx, MESSAGE_ONNX_TYPE);
    while (field_next(&walk, &field))
        if (field_is_message(&field, "tensor_type")) {
            proto_enter(&onnx->proto);
            type = read_tensor_type(onnx, loc);
        } else if (field.kind == PROTO_MESSAGE) {
            dump_drop(onnx->dump, loc, "a type that is no tensor's: %.*s", (int)field.name_size,
                      field.name);
        }
    return type;
}

/* -------------------------------------------------------------------------- tensors ---- */

/* A TensorProto that is being read. */
struct tensor {
    unsigned dtype;
    struct dump_shape shape;
    uint32_t first;                    /* of its numbers in onnx->values */
    struct proto_field raw;            /* its bytes; without a name: there are none */
    uint32_t location, offset, length; /* name ids of what is said of its file; NONE */
    bool strings;
};

static void read_number(struct onnx *onnx, const struct proto_field *field)
{
    bool is_float = *field->name == 'f' || *field->name == 'd';
    struct attr_value number = {.kind = is_float ? ATTR_FLOAT : ATTR_INT};
    if (is_float ? proto_float(&onnx->proto, field, &number.f)
                 : proto_integer(&onnx->proto, field, &number.i))
        vec_push(&onnx->values, number);
}

/* An entry of `external_data`: a key and a value, both strings. */
static void read_external(struct onnx *onnx, struct tensor *tensor)
{
    struct proto_field field;
    uint32_t key = NONE, value = NONE;
    struct field_walk walk = onnx_walk(onnx, MESSAGE_ONNX_PAIR);
    while (field_next(&walk, &field))
        if (proto_is(&field, "key"))
            key = field_string(&onnx->proto, &field, onnx->dump);
        else if (proto_is(&field, "value"))
            value = field_string(&onnx->proto, &field, onnx->dump);
    if (key == NONE)
        return;
    if (name_is(onnx->dump->module, key, "location"))
        tensor->location = value;
    else if (name_is(onnx->dump->module, key, "offset"))
        tensor->offset = value;
    else if (name_is(onnx->dump->module, key, "length"))
        tensor->length = value;
}

static void read_tensor_field(struct onnx *onnx, struct tensor *tensor,
                              const struct proto_field *field)
{
    static const char *const numbers[] = {"float_data",  "int32_data",  "int64_data",
                                          "double_data", "uint64_data", NULL};
    int64_t dim;
    if (field_is_one(field, numbers)) {
        read_number(onnx, field);
    } else if (proto_is(field, "dims")) {
        if (proto_integer(&onnx->proto, field, &dim))
            dump_shape_add(&tensor->shape, dim < 0 ? DIM_UNKNOWN : dim);
    } else if (proto_is(field, "data_type")) {
        tensor->dtype = read_dtype(onnx, field, field->name_span.begin);
    } else if (field_is_string(field, "raw_data")) {
        tensor->raw = *field;
    } else if (proto_is(field, "string_data")) {
        tensor->strings = true;
    } else if (field_is_message(field, "external_data")) {
        proto_enter(&onnx->proto);
        read_external(onnx, tensor);
    }
}

/* A decimal number of a name; false where it is none. */
static bool name_number(const struct module *module, uint32_t name, uint64_t *number)
{
    const struct intern_name *n = &module->names.names[name];
    *number = 0;
    for (uint32_t i = 0; i < n->size; i++)
        if (n->text[i] < '0' || n->text[i] > '9' || *number > INT64_MAX / 16)
            return false;
        else
            *number = *number * 10 + (uint64_t)(n->text[i] - '0');
    return n->size > 0;
}

static bool external_contents(struct onnx *onnx, const struct tensor *tensor, uint32_t loc,
                              struct attr_value *value)
{
    struct dump *dump = onnx->dump;
    uint64_t offset = 0, length = NO_BYTES;
    bool legal = (tensor->offset == NONE || name_number(dump->module, tensor->offset, &offset)) &&
                 (tensor->length == NONE || name_number(dump->module, tensor->length, &length));
    if (!legal) {
        dump_lose(dump, loc, "contents in a file, whose place there is no number");
        return false;
    }
    const struct intern_name path = dump->module->names.names[tensor->location];
    return dump_contents_file(dump, path.text, path.size, offset, length, loc, value);
}

/* In 32-bit integers stand the bits of small floats, too. */
static bool number_contents(struct onnx *onnx, const struct tensor *tensor, uint32_t type,
                            uint32_t loc, struct attr_value *value)
{
    numbers_decode(&onnx->values, tensor->first, tensor->dtype);
    return dump_contents_numbers(onnx->dump, type, numbers_from(&onnx->values, tensor->first),
                                 onnx->values.count - tensor->first, false, loc, value);
}

static bool raw_contents(struct onnx *onnx, const struct tensor *tensor, uint32_t type,
                         uint32_t loc, struct attr_value *value)
{
    struct dump_bytes bytes = {.literal = tensor->raw.span.begin, .plain = tensor->raw.plain};
    return proto_string(&onnx->proto, &tensor->raw, &bytes.bytes, &bytes.size) &&
           dump_contents_bytes(onnx->dump, type, &bytes, loc, value);
}

static bool read_contents(struct onnx *onnx, const struct tensor *tensor, uint32_t type,
                          uint32_t loc, struct attr_value *value)
{
    uint64_t elements;
    if (tensor->location != NONE)
        return external_contents(onnx, tensor, loc, value);
    if (tensor->raw.name && type != NONE)
        return raw_contents(onnx, tensor, type, loc, value);
    if (onnx->values.count > tensor->first && type != NONE)
        return number_contents(onnx, tensor, type, loc, value);
    if (tensor->strings || tensor->raw.name || onnx->values.count > tensor->first)
        dump_lose(onnx->dump, loc, "the contents of a tensor of %s",
                  tensor->strings ? "strings" : "no known type");
    else if (type != NONE && type_elements(onnx->dump->module, type, &elements) && elements > 0)
        dump_lose(onnx->dump, loc, "the contents of a tensor, which are not in the text");
    return false;
}

void onnx_read_tensor(struct onnx *onnx, struct onnx_tensor *out, uint32_t loc)
{
    struct proto_field field;
    struct tensor tensor = {
        .dtype = DTYPE_UNKNOWN,
        .first = onnx->values.count,
        .location = NONE,
        .offset = NONE,
        .length = NONE,
    };
    *out = (struct onnx_tensor){.name = NONE, .loc = loc};
    struct field_walk walk = onnx_walk(onnx, MESSAGE_ONNX_TENSOR);
    while (field_next(&walk, &field))
        if (proto_is(&field, "name")) {
            out->name = field_token(&onnx->proto, &field, onnx->dump);
            out->loc = field.span.begin;
        } else {
            read_tensor_field(onnx, &tensor, &field);
        }
    out->dtype = tensor.dtype;
    out->type = dump_type(onnx->dump, tensor.dtype, W_ND, &tensor.shape, loc);
    if (!onnx->proto.failed)
        out->filled = read_contents(onnx, &tensor, out->type, out->loc, &out->value);
    onnx->values.count = tensor.first;
}
