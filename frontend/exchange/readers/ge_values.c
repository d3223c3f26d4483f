#include "frontend/exchange/readers/ge_values.h"
#include "frontend/exchange/dump/contents.h"
#include "frontend/exchange/readers/fields.h"

/* ------------------------------------------------------------------- shapes in _meta ---- */

/* Behind the next `text` in [at, end), or NULL. */
static const char *find_behind(const char *at, const char *end, const char *text)
{
    size_t size = strlen(text);
    for (; (size_t)(end - at) >= size; at++)
        if (memcmp(at, text, size) == 0)
            return at + size;
    return NULL;
}

/* A number, or the name of a dimension; an expression is not known. */
static int64_t read_dim(struct dump *dump, uint32_t graph, const char *text, size_t size)
{
    int64_t number = 0;
    size_t i = 0;
    while (i < size && i < 18 && text[i] >= '0' && text[i] <= '9')
        number = number * 10 + (text[i++] - '0');
    if (i == size && size > 0)
        return number;
    return graph == NONE ? DIM_UNKNOWN : dump_dim(dump, text, size);
}

/* The end of the element at `at` of a list in brackets; expressions may have brackets, too. */
static const char *element_end(const char *at, const char *end)
{
    for (uint32_t depth = 0; at < end; at++) {
        if (depth == 0 && (*at == ',' || *at == ']'))
            return at;
        if (*at == '(' || *at == '[')
            depth++;
        else if (depth > 0 && (*at == ')' || *at == ']'))
            depth--;
    }
    return NULL;
}

/* The elements of a list, behind its bracket. RANK_UNKNOWN: it does not end. */
static void read_dims(struct dump *dump, uint32_t graph, const char *at, const char *end,
                      struct dump_shape *shape)
{
    shape->rank = 0;
    for (;;) {
        while (at < end && *at == ' ')
            at++;
        const char *close = element_end(at, end);
        if (!close) {
            shape->rank = RANK_UNKNOWN;
            return;
        }
        if (close > at)
            dump_shape_add(shape, read_dim(dump, graph, at, (size_t)(close - at)));
        if (*close == ']')
            return;
        at = close + 1;
    }
}

/* The shape of a text that PyTorch writes of a tensor; RANK_UNKNOWN if it has none. Names become
 * dimensions of the graph, if that is not NONE. */
static void read_meta_shape(struct dump *dump, uint32_t graph, const char *text, size_t size,
                            struct dump_shape *shape)
{
    const char *end = text + size, *dims = find_behind(text, end, "shape=torch.Size([");
    const char *list = find_behind(text, end, "'list'>([");
    shape->rank = RANK_UNKNOWN;
    if (dims) {
        read_dims(dump, graph, dims, end, shape);
    } else if (list) {
        /* The list is the tensor. */
        read_dims(dump, NONE, list, end, shape);
        if (shape->rank <= MAX_RANK) {
            shape->dims[0] = shape->rank;
            shape->rank = 1;
        }
    } else if (find_behind(text, end, "torch.Sym")) {
        shape->rank = 0;
    }
}

void ge_values_free(struct ge_values *values)
{
    vec_free(&values->values);
    vec_free(&values->attrs);
}

/* The name id of a string's bytes. */
static bool read_name(struct ge_values *values, const struct proto_field *field, uint32_t *name)
{
    const char *bytes;
    size_t size;
    if (!proto_string(values->proto, field, &bytes, &size))
        return false;
    *name = intern_copy(&values->dump->module->names, bytes, size);
    return true;
}

/* ---------------------------------------------------------------------- descriptions ---- */

static void read_shape(struct ge_values *values, struct dump_shape *shape)
{
    struct proto_field field;
    struct field_walk walk = {values->dump, values->proto, MESSAGE_GE_SHAPE, 0, false};
    int64_t dim;
    shape->rank = 0;
    while (field_next(&walk, &field))
        if (proto_integer(values->proto, &field, &dim))
            dump_shape_add_ge(shape, dim);
}

/* A name or a number of the enumeration. */
static unsigned read_dtype(struct ge_values *values, const struct proto_field *field)
{
    int64_t number;
    if (field->kind == PROTO_WORD)
        return dump_dtype_named(values->dump, field->text, field->size, values->loc);
    if (!proto_integer(values->proto, field, &number))
        return DTYPE_UNKNOWN;
    return dump_dtype_numbered(values->dump, DUMP_GE_PROTO, number, values->loc);
}

/* The value of an attribute, if that is what `_meta` says. */
static void read_desc_attr(struct ge_values *values, struct dump_shape *shape)
{
    struct proto_text *proto = values->proto;
    struct proto_field field;
    const char *bytes;
    size_t size;
    bool is_meta = false;
    while (proto_next(proto, &field)) {
        if (proto_is(&field, "key"))
            is_meta = field.size == 7 && memcmp(field.text + 1, "_meta", 5) == 0;
        if (!is_meta || !proto_is(&field, "value") || field.kind != PROTO_MESSAGE)
            continue;
        proto_enter(proto);
        while (proto_next(proto, &field))
            if (proto_is(&field, "s") && proto_string(proto, &field, &bytes, &size))
                read_meta_shape(values->dump, values->graph, bytes, size, shape);
    }
}

/* Dimensions that only `meta` knows become those of the shape. */
static void merge_shapes(struct dump_shape *shape, const struct dump_shape *meta)
{
    if (meta->rank == RANK_UNKNOWN)
        return;
    if (shape->rank == RANK_UNKNOWN)
        *shape = *meta;
    for (uint32_t i = 0; shape->rank == meta->rank && i < shape->rank && i < MAX_RANK; i++)
        if (shape->dims[i] == DIM_UNKNOWN)
            shape->dims[i] = meta->dims[i];
}

void ge_read_desc(struct ge_values *values, struct ge_desc *desc)
{
    struct proto_text *proto = values->proto;
    struct dump_shape shape = {.rank = RANK_UNKNOWN}, meta = {.rank = RANK_UNKNOWN};
    struct proto_field field;
    const char *bytes;
    size_t size;
    uint32_t format = W_ND;
    struct field_walk walk = {values->dump, proto, MESSAGE_GE_DESC, 0, false};
    *desc = (struct ge_desc){NONE, NONE, DTYPE_UNKNOWN};
    while (field_next(&walk, &field)) {
        bool message = field.kind == PROTO_MESSAGE;
        if (proto_is(&field, "attr") && message) {
            proto_enter(proto);
            read_desc_attr(values, &meta);
        } else if (proto_is(&field, "dtype")) {
            desc->dtype = read_dtype(values, &field);
        } else if (proto_is(&field, "shape") && message) {
            proto_enter(proto);
            read_shape(values, &shape);
        } else if (proto_is(&field, "layout")) {
            if (proto_string(proto, &field, &bytes, &size))
                format = dump_format(values->dump, bytes, size, values->loc);
        } else if (proto_is(&field, "name")) {
            read_name(values, &field, &desc->name);
        }
    }
    merge_shapes(&shape, &meta);
    desc->type = dump_type(values->dump, desc->dtype, format, &shape, values->loc);
}

void ge_skim_desc(struct ge_values *values, struct ge_desc *desc)
{
    static const char undefined[] = "DT_UNDEFINED";
    struct proto_field field;
    struct field_walk walk = {values->dump, values->proto, MESSAGE_GE_DESC, 0, false};
    *desc = (struct ge_desc){NONE, NONE, DTYPE_UNKNOWN};
    while (field_next(&walk, &field)) {
        if (proto_is(&field, "name"))
            read_name(values, &field, &desc->name);
        else if (proto_is(&field, "dtype"))
            desc->dtype =
                field.size == sizeof undefined - 1 && memcmp(field.text, undefined, field.size) == 0
                    ? DTYPE_UNKNOWN
                    : 0;
    }
}

/* --------------------------------------------------------------------------- tensors ---- */

static enum ge_value read_contents(struct ge_values *values, const struct proto_field *data,
                                   uint32_t type, struct attr_value *value)
{
    struct dump_bytes contents = {"", 0, NONE, false};
    if (data->kind == PROTO_STRING &&
        !proto_string(values->proto, data, &contents.bytes, &contents.size))
        return GE_NO_VALUE;
    if (data->kind == PROTO_STRING && !values->proto->inner) {
        contents.literal = (uint32_t)(data->text - values->dump->source->text);
        contents.plain = data->plain;
    }
    /* Nothing where there should be something: dumps leave contents out. */
    if (contents.size == 0 && type != NONE) {
        uint64_t elements;
        if (!type_elements(values->dump->module, type, &elements) || elements > 0)
            return GE_NO_VALUE;
    }
    return dump_contents_bytes(values->dump, type, &contents, values->loc, value) ? GE_VALUE
                                                                                  : GE_NO_VALUE;
}

/* A TensorDef: contents where those of a constant are meant. */
static enum ge_value read_tensor(struct ge_values *values, struct attr_value *value)
{
    struct proto_text *proto = values->proto;
    struct proto_field field, data = {.kind = PROTO_MESSAGE};
    struct ge_desc desc = {NONE, NONE, DTYPE_UNKNOWN};
    struct field_walk walk = {values->dump, proto, MESSAGE_GE_TENSOR, 0, false};
    while (field_next(&walk, &field)) {
        if (proto_is(&field, "data")) {
            data = field;
        } else if (proto_is(&field, "desc") && field.kind == PROTO_MESSAGE && values->constant) {
            proto_enter(proto);
            ge_read_desc(values, &desc);
        }
    }
    if (!values->constant || proto->failed)
        return GE_LOST;
    return read_contents(values, &data, desc.type, value);
}

/* ---------------------------------------------------------------------------- values ---- */

static enum ge_value read_field(struct ge_values *values, const struct proto_field *field,
                                struct attr_value *value);

/* Closes the list whose elements are behind the first `first` of the stack. */
static void close_list(struct ge_values *values, uint32_t first, uint32_t kind,
                       struct attr_value *value)
{
    uint32_t count = values->values.count - first;
    const struct attr_value *at = count ? values->values.at + first : NULL;
    struct range range = module_add_values(values->dump->module, at, count);
    *value = (struct attr_value){.kind = ATTR_LIST, .count = count};
    value->first = count ? range.first : kind;
    values->values.count = first;
}

/* The word for what an empty list is empty of; 0: it does not say. */
static uint32_t element_kind(struct ge_values *values, const struct proto_field *field)
{
    static const char *const names[] = {"",     "string", "int",  "float", "bool", "string",
                                        "type", "",       "list", "",      "type"};
    static const char *const words[] = {"NONE",  "STRING",      "INT",         "FLOAT",
                                        "BOOL",  "BYTES",       "TENSOR_DESC", "TENSOR",
                                        "GRAPH", "NAMED_ATTRS", "DATA_TYPE"};
    int64_t number = 0;
    for (int i = 0; field->kind == PROTO_WORD && i < 11; i++)
        if (field->size == strlen(words[i]) + 8 && memcmp(field->text, "VT_LIST_", 8) == 0 &&
            memcmp(field->text + 8, words[i], field->size - 8) == 0)
            number = i;
    if (field->kind == PROTO_NUMBER)
        proto_integer(values->proto, field, &number);
    bool known = number > 0 && number < 11 && *names[number];
    return known ? module_name(values->dump->module, names[number]) : 0;
}

static enum ge_value read_list(struct ge_values *values, struct attr_value *value)
{
    uint32_t first = values->values.count, kind = 0;
    bool lost = false;
    struct proto_field field;
    struct field_walk walk = {values->dump, values->proto, MESSAGE_GE_LIST, 0, false};
    while (field_next(&walk, &field)) {
        struct attr_value element;
        enum ge_value result = GE_NO_VALUE;
        if (proto_is(&field, "val_type") && !values->only_graphs)
            kind = element_kind(values, &field);
        else
            result = read_field(values, &field, &element);
        if (result == GE_VALUE)
            vec_push(&values->values, element);
        lost |= result == GE_LOST;
    }
    bool none = values->only_graphs && values->values.count == first;
    close_list(values, first, kind, value);
    return none ? GE_NO_VALUE : lost ? GE_LOST : GE_VALUE;
}

/* Lists of lists: `outer { inner: 1 inner: 2 }`. */
static enum ge_value read_lists(struct ge_values *values, struct attr_value *value)
{
    struct proto_text *proto = values->proto;
    uint32_t first = values->values.count;
    struct proto_field field;
    struct attr_value element;
    while (proto_next(proto, &field)) {
        if (field.kind != PROTO_MESSAGE)
            continue;
        proto_enter(proto);
        uint32_t inner = values->values.count;
        while (proto_next(proto, &field))
            if (read_field(values, &field, &element) == GE_VALUE)
                vec_push(&values->values, element);
        close_list(values, inner, 0, &element);
        vec_push(&values->values, element);
    }
    close_list(values, first, module_name(values->dump->module, "list"), value);
    return GE_VALUE;
}

/* NamedAttrs: a dict, where its name is `name`. */
static enum ge_value read_named(struct ge_values *values, struct attr_value *value)
{
    struct proto_text *proto = values->proto;
    uint32_t first = values->attrs.count;
    struct proto_field field;
    struct field_walk walk = {values->dump, proto, MESSAGE_GE_NAMED, 0, false};
    bool lost = false;
    while (field_next(&walk, &field)) {
        struct attr attr = {NONE, NONE, {.kind = ATTR_STRING}};
        enum ge_value result = GE_NO_VALUE;
        if (proto_is(&field, "name") && !values->only_graphs) {
            attr.key = module_name(values->dump->module, "name");
            result = read_name(values, &field, &attr.value.id) ? GE_VALUE : GE_NO_VALUE;
        } else if (proto_is(&field, "attr") && field.kind == PROTO_MESSAGE) {
            proto_enter(proto);
            result = ge_read_attr(values, NULL, &attr);
        }
        if (result == GE_VALUE && attr.key != NONE)
            vec_push(&values->attrs, attr);
        lost |= result == GE_LOST;
    }
    uint32_t count = values->attrs.count - first;
    struct range range =
        module_add_attrs(values->dump->module, count ? values->attrs.at + first : NULL, count);
    *value = (struct attr_value){.kind = ATTR_DICT, .count = range.count};
    value->first = range.first;
    values->attrs.count = first;
    bool none = values->only_graphs && count == 0;
    return none ? GE_NO_VALUE : lost ? GE_LOST : GE_VALUE;
}

static enum ge_value read_message(struct ge_values *values, const struct proto_field *field,
                                  struct attr_value *value)
{
    if (proto_is(field, "list"))
        return proto_enter(values->proto), read_list(values, value);
    if (proto_is(field, "func") || proto_is(field, "na"))
        return proto_enter(values->proto), read_named(values, value);
    if (values->only_graphs && !proto_is(field, "g"))
        return GE_NO_VALUE;
    if (proto_is(field, "list_list_int") || proto_is(field, "list_list_float"))
        return proto_enter(values->proto), read_lists(values, value);
    if (proto_is(field, "t"))
        return proto_enter(values->proto), read_tensor(values, value);
    if (proto_is(field, "td")) {
        struct ge_desc desc;
        proto_enter(values->proto);
        ge_read_desc(values, &desc);
        *value = (struct attr_value){.kind = ATTR_TYPE, .id = desc.type};
        return desc.type == NONE ? GE_LOST : GE_VALUE;
    }
    if (proto_is(field, "g") && values->read_graph) {
        proto_enter(values->proto);
        *value = (struct attr_value){.kind = ATTR_SYMBOL};
        return values->read_graph(values, &value->id) ? GE_VALUE : GE_NO_VALUE;
    }
    return GE_LOST;
}

/* A ge::DataType. */
static enum ge_value read_dt(struct ge_values *values, const struct proto_field *field,
                             struct attr_value *value)
{
    unsigned dtype;
    if (field->kind == PROTO_WORD) {
        dtype = dump_dtype_named(values->dump, field->text, field->size, values->loc);
    } else {
        if (!proto_integer(values->proto, field, &value->i))
            return GE_NO_VALUE;
        dtype = dump_dtype_numbered(values->dump, DUMP_GE, value->i, values->loc);
    }
    *value = dtype == DTYPE_UNKNOWN ? (struct attr_value){.kind = ATTR_INT, .i = value->i}
                                    : (struct attr_value){.kind = ATTR_WORD, .id = W_f32 + dtype};
    return dtype == DTYPE_UNKNOWN && field->kind == PROTO_WORD ? GE_LOST : GE_VALUE;
}

static enum ge_value read_scalar(struct ge_values *values, const struct proto_field *field,
                                 struct attr_value *value)
{
    bool done, flag = false;
    char first = *field->name;
    *value = (struct attr_value){.kind = ATTR_STRING};
    if (proto_is(field, "dt"))
        return read_dt(values, field, value);
    if (field->kind == PROTO_STRING) {
        done = read_name(values, field, &value->id);
    } else if (first == 'b' || proto_is(field, "list_b")) {
        value->kind = ATTR_BOOL;
        done = proto_bool(values->proto, field, &flag);
        value->i = flag;
    } else if (first == 'f' || proto_is(field, "list_f")) {
        value->kind = ATTR_FLOAT;
        done = proto_float(values->proto, field, &value->f);
    } else {
        value->kind = ATTR_INT;
        done = proto_integer(values->proto, field, &value->i);
    }
    return done ? GE_VALUE : GE_NO_VALUE;
}

static enum ge_value read_field(struct ge_values *values, const struct proto_field *field,
                                struct attr_value *value)
{
    if (field->kind == PROTO_MESSAGE)
        return read_message(values, field, value);
    return values->only_graphs ? GE_NO_VALUE : read_scalar(values, field, value);
}

enum ge_value ge_read_value(struct ge_values *values, struct attr_value *value)
{
    enum ge_value result = GE_NO_VALUE;
    struct proto_field field;
    struct field_walk walk = {values->dump, values->proto, MESSAGE_GE_VALUE, 0, false};
    while (field_next(&walk, &field))
        result = read_field(values, &field, value);
    if (walk.unused)
        result = GE_LOST;
    return values->proto->failed ? GE_NO_VALUE : result;
}

/* The value of an attribute that was entered. */
static enum ge_value read_wanted(struct ge_values *values, bool wanted, struct attr_value *value)
{
    bool outer = values->only_graphs;
    values->only_graphs |= !wanted;
    enum ge_value result = ge_read_value(values, value);
    values->only_graphs = outer;
    return result;
}

enum ge_value ge_read_attr(struct ge_values *values,
                           bool (*wants)(struct ge_values *values, uint32_t key), struct attr *attr)
{
    struct proto_text *proto = values->proto;
    enum ge_value result = GE_NO_VALUE;
    struct proto_field field;
    struct field_walk walk = {values->dump, proto, MESSAGE_GE_ATTR, 0, false};
    *attr = (struct attr){NONE, values->loc, {.kind = ATTR_INT}};
    while (field_next(&walk, &field)) {
        if (proto_is(&field, "key")) {
            read_name(values, &field, &attr->key);
            values->key = field.span;
        } else if (proto_is(&field, "value") && field.kind == PROTO_MESSAGE) {
            bool wanted = attr->key == NONE || !wants || wants(values, attr->key);
            proto_enter(proto);
            result = read_wanted(values, wanted, &attr->value);
        }
    }
    return result;
}
