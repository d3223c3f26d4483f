#include "frontend/exchange/readers/tf_values.h"
#include "frontend/exchange/dump/contents.h"

/* --------------------------------------------------------------------- dtypes, shapes ---- */

static unsigned read_dtype(struct tf_values *values, const struct proto_field *field, uint32_t loc)
{
    int64_t number = 0;
    if (field->kind == PROTO_WORD)
        return dump_dtype_named(values->dump, field->text, field->size, loc);
    if (!proto_integer(values->proto, field, &number))
        return DTYPE_UNKNOWN;
    return dump_dtype_numbered(values->dump, DUMP_TF, number, loc);
}

/* A dtype that skir does not have is a string. */
struct attr_value tf_read_dtype(struct tf_values *values, const struct proto_field *field,
                                uint32_t loc)
{
    unsigned dtype = read_dtype(values, field, loc);
    if (dtype < DTYPE_COUNT)
        return (struct attr_value){.kind = ATTR_WORD, .id = W_f32 + dtype};
    uint32_t name = intern_copy(&values->dump->module->names, field->text, field->size);
    return (struct attr_value){.kind = ATTR_STRING, .id = name};
}

/* A dimension that was entered: without a size it is 0. */
static int64_t read_dim(struct tf_values *values)
{
    struct proto_field field;
    int64_t size = 0;
    struct field_walk walk = tf_walk(values, MESSAGE_TF_DIM);
    while (field_next(&walk, &field))
        if (proto_is(&field, "size"))
            proto_integer(values->proto, &field, &size);
    return size < 0 ? DIM_UNKNOWN : size;
}

static void read_shape(struct tf_values *values, struct dump_shape *shape)
{
    struct proto_field field;
    bool unknown = false;
    struct field_walk walk = tf_walk(values, MESSAGE_TF_SHAPE);
    shape->rank = 0;
    while (field_next(&walk, &field))
        if (proto_is(&field, "dim") && field_enter(values->proto, &field))
            dump_shape_add(shape, read_dim(values));
        else if (proto_is(&field, "unknown_rank"))
            proto_bool(values->proto, &field, &unknown);
    if (unknown)
        shape->rank = RANK_UNKNOWN;
}

/* ---------------------------------------------------------------------------- tensors ---- */

/* A TensorProto that is being read. */
struct tensor {
    unsigned dtype;
    struct dump_shape shape;
    uint32_t first;             /* of its numbers */
    struct proto_field content; /* its bytes; without a name: there are none */
    bool strings;
};

static void read_number(struct tf_values *values, const struct proto_field *field)
{
    bool flag = false, is_float = proto_is(field, "float_val") || proto_is(field, "double_val");
    struct attr_value number = {.kind = is_float ? ATTR_FLOAT : ATTR_INT};
    if (proto_is(field, "bool_val")) {
        if (!proto_bool(values->proto, field, &flag))
            return;
        number = (struct attr_value){.kind = ATTR_BOOL, .i = flag};
    } else if (is_float ? !proto_float(values->proto, field, &number.f)
                        : !proto_integer(values->proto, field, &number.i)) {
        return;
    }
    vec_push(&values->numbers, number);
}

static void read_tensor_field(struct tf_values *values, struct tensor *tensor,
                              const struct proto_field *field, uint32_t loc)
{
    static const char *const numbers[] = {"half_val",   "float_val",  "double_val",
                                          "int_val",    "int64_val",  "bool_val",
                                          "uint32_val", "uint64_val", NULL};
    if (field_is_one(field, numbers)) {
        read_number(values, field);
    } else if (proto_is(field, "dtype")) {
        tensor->dtype = read_dtype(values, field, loc);
    } else if (field_is_message(field, "tensor_shape")) {
        proto_enter(values->proto);
        read_shape(values, &tensor->shape);
    } else if (field_is_string(field, "tensor_content")) {
        tensor->content = *field;
    } else if (proto_is(field, "string_val") || proto_is(field, "resource_handle_val") ||
               proto_is(field, "variant_val") || proto_is(field, "scomplex_val") ||
               proto_is(field, "dcomplex_val")) {
        tensor->strings = true;
    }
}

static bool read_content(struct tf_values *values, const struct tensor *tensor, uint32_t loc,
                         struct attr_value *value)
{
    struct dump_bytes bytes = {.literal = tensor->content.span.begin,
                               .plain = tensor->content.plain};
    return proto_string(values->proto, &tensor->content, &bytes.bytes, &bytes.size) &&
           dump_contents_bytes(values->dump, values->tensor, &bytes, loc, value);
}

/* A tensor without any values is one of zeros. */
static bool read_tensor(struct tf_values *values, uint32_t loc, struct attr_value *value)
{
    struct proto_field field;
    struct tensor tensor = {.dtype = DTYPE_UNKNOWN, .first = values->numbers.count};
    uint64_t elements;
    bool filled = false;
    struct field_walk walk = tf_walk(values, MESSAGE_TF_TENSOR);
    while (field_next(&walk, &field))
        read_tensor_field(values, &tensor, &field, loc);
    if (values->proto->failed)
        return false;
    uint32_t type = dump_type(values->dump, tensor.dtype, W_ND, &tensor.shape, loc);
    values->tensor = type;
    numbers_decode(&values->numbers, tensor.first, tensor.dtype);
    if (values->numbers.count == tensor.first && tensor.dtype < DTYPE_COUNT &&
        type_elements(values->dump->module, type, &elements) && elements > 0)
        vec_push(&values->numbers, (struct attr_value){.kind = ATTR_INT});
    if (tensor.strings)
        dump_lose(values->dump, loc, "the contents of a constant of strings, or of no numbers");
    else if (tensor.content.name)
        filled = read_content(values, &tensor, loc, value);
    else
        filled =
            dump_contents_numbers(values->dump, type, numbers_from(&values->numbers, tensor.first),
                                  values->numbers.count - tensor.first, true, loc, value);
    values->numbers.count = tensor.first;
    return filled;
}

/* ----------------------------------------------------------------------------- values ---- */

/* The name of a function; its own attributes have no place. */
static bool read_func(struct tf_values *values, uint32_t loc, struct attr_value *value)
{
    struct proto_field field;
    struct field_walk walk = tf_walk(values, MESSAGE_TF_FUNC);
    *value = (struct attr_value){.kind = ATTR_SYMBOL, .id = NONE};
    while (field_next(&walk, &field))
        if (proto_is(&field, "name"))
            value->id = field_string(values->proto, &field, values->dump);
        else if (field_is_message(&field, "attr"))
            dump_drop(values->dump, loc, "an attribute of a function that is called");
    return value->id != NONE && values->dump->module->names.names[value->id].size > 0;
}

static bool read_scalar(struct tf_values *values, const struct proto_field *field, uint32_t loc,
                        struct attr_value *value)
{
    bool flag = false;
    if (proto_is(field, "i")) {
        value->kind = ATTR_INT;
        return proto_integer(values->proto, field, &value->i);
    }
    if (proto_is(field, "f")) {
        value->kind = ATTR_FLOAT;
        return proto_float(values->proto, field, &value->f);
    }
    if (proto_is(field, "b")) {
        bool read = proto_bool(values->proto, field, &flag);
        *value = (struct attr_value){.kind = ATTR_BOOL, .i = flag};
        return read;
    }
    if (proto_is(field, "type")) {
        *value = tf_read_dtype(values, field, loc);
        return !values->proto->failed;
    }
    if (!proto_is(field, "s") && !proto_is(field, "placeholder"))
        return false;
    uint32_t name = field_string(values->proto, field, values->dump);
    *value = (struct attr_value){.kind = ATTR_STRING, .id = name};
    return name != NONE;
}

static bool read_list(struct tf_values *values, uint32_t loc, struct attr_value *value);

static bool read_field(struct tf_values *values, const struct proto_field *field, uint32_t loc,
                       struct attr_value *value)
{
    static const char *const messages[] = {"list", "func", "tensor", "shape", NULL};
    struct dump_shape shape;
    if (field->kind != PROTO_MESSAGE)
        return read_scalar(values, field, loc, value);
    if (!field_is_one(field, messages))
        return false;
    proto_enter(values->proto);
    if (proto_is(field, "list"))
        return read_list(values, loc, value);
    if (proto_is(field, "func"))
        return read_func(values, loc, value);
    if (proto_is(field, "tensor"))
        return read_tensor(values, loc, value);
    read_shape(values, &shape);
    uint32_t type = dump_type(values->dump, DTYPE_UNKNOWN, W_ND, &shape, loc);
    *value = (struct attr_value){.kind = ATTR_TYPE, .id = type};
    return !values->proto->failed;
}

static bool read_list(struct tf_values *values, uint32_t loc, struct attr_value *value)
{
    struct proto_field field;
    struct attr_value element;
    uint32_t first = values->numbers.count;
    struct field_walk walk = tf_walk(values, MESSAGE_TF_LIST);
    while (field_next(&walk, &field))
        if (read_field(values, &field, loc, &element))
            vec_push(&values->numbers, element);
    *value = numbers_list(&values->numbers, values->dump->module, first, 0);
    return true;
}

bool tf_read_value(struct tf_values *values, uint32_t loc, struct attr_value *value)
{
    struct proto_field field;
    bool read = false;
    struct field_walk walk = tf_walk(values, MESSAGE_TF_VALUE);
    while (field_next(&walk, &field))
        read = read_field(values, &field, loc, value);
    return read && !values->proto->failed;
}
