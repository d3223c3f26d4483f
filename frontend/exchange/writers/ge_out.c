#include "frontend/exchange/writers/ge_out.h"
#include "frontend/exchange/dump/types.h"
#include "ir/contents.h"

/* ---------------------------------------------------------------------------- types ---- */

bool ge_says_type(const struct module *module, uint32_t id)
{
    const struct type *type = &module->types.at[id];
    const int64_t *dims = type_dims(module, id);
    for (uint32_t i = 0; i < type_n_dims(type); i++)
        if (dim_is_gear(dims[i]))
            return false;
    return type->dtype < DTYPE_COUNT;
}

/* What is not known is -1, or -2 for all of them. */
static void put_shape(struct proto_out *out, const struct module *module, uint32_t id)
{
    const struct type *type = &module->types.at[id];
    const int64_t *dims = type_dims(module, id);
    proto_open(out, "shape");
    if (type->rank == RANK_UNKNOWN)
        proto_put_integer(out, "dim", -2);
    for (uint32_t i = 0; i < type_n_dims(type); i++)
        proto_put_integer(out, "dim", dims[i] < 0 ? -1 : dims[i]);
    proto_close(out);
}

void ge_put_desc(struct proto_out *out, const struct module *module, uint32_t id)
{
    if (id == NONE)
        return;
    const struct type *type = &module->types.at[id];
    if (type->dtype < DTYPE_COUNT)
        proto_put_word(out, "dtype", dump_dtype_row(type->dtype)->ge);
    put_shape(out, module, id);
    const struct intern_name *format = &module->names.names[type->format];
    proto_put_string(out, "layout", format->text, format->size);
}

/* ---------------------------------------------------------------------------- values ---- */

static bool is_dtype(const struct attr_value *value)
{
    return value->kind == ATTR_WORD && value->id >= W_f32 && value->id < W_f32 + DTYPE_COUNT;
}

static bool is_scalar(const struct module *module, const struct attr_value *value)
{
    if (value->kind == ATTR_TYPE)
        return ge_says_type(module, value->id);
    return value->kind <= ATTR_STRING || is_dtype(value);
}

/* The words for what an empty list is empty of, as AttrDef numbers them. */
static const struct {
    const char *word, *type;
} list_types[] = {
    {"string", "VT_LIST_STRING"}, {"int", "VT_LIST_INT"},        {"float", "VT_LIST_FLOAT"},
    {"bool", "VT_LIST_BOOL"},     {"type", "VT_LIST_DATA_TYPE"},
};

enum { LIST_TYPES = sizeof list_types / sizeof list_types[0] };

static const char *empty_type(const struct module *module, uint32_t word)
{
    for (unsigned i = 0; i < LIST_TYPES; i++)
        if (name_is(module, word, list_types[i].word))
            return list_types[i].type;
    return NULL;
}

static const char *filled_type(const struct attr_value *value)
{
    switch (value->kind) {
    case ATTR_STRING: return "VT_LIST_STRING";
    case ATTR_INT: return "VT_LIST_INT";
    case ATTR_FLOAT: return "VT_LIST_FLOAT";
    case ATTR_BOOL: return "VT_LIST_BOOL";
    case ATTR_TYPE: return "VT_LIST_TENSOR_DESC";
    default: return "VT_LIST_DATA_TYPE";
    }
}

static bool is_uniform(const struct module *module, const struct attr_value *list)
{
    const struct attr_value *at = module->attr_values.at + list->first;
    for (uint32_t i = 0; i < list->count; i++)
        if (at[i].kind != at[0].kind || !is_scalar(module, &at[i]))
            return false;
    return list->count > 0;
}

static bool is_ints(const struct module *module, const struct attr_value *list)
{
    return list->kind == ATTR_LIST && is_uniform(module, list) &&
           module->attr_values.at[list->first].kind == ATTR_INT;
}

static bool is_lists(const struct module *module, const struct attr_value *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (!is_ints(module, &module->attr_values.at[list->first + i]))
            return false;
    return list->count > 0;
}

bool ge_says_value(const struct module *module, const struct attr_value *value)
{
    if (value->kind != ATTR_LIST)
        return is_scalar(module, value);
    if (value->count == 0)
        return value->first && empty_type(module, value->first);
    return is_uniform(module, value) || is_lists(module, value);
}

static void put_scalar(struct proto_out *out, const struct module *module,
                       const struct attr_value *value)
{
    switch (value->kind) {
    case ATTR_INT: proto_put_integer(out, "i", value->i); break;
    case ATTR_FLOAT: proto_put_float(out, "f", value->f); break;
    case ATTR_BOOL: proto_put_word(out, "b", value->i ? "true" : "false"); break;
    case ATTR_STRING:
        proto_put_string(out, "s", module->names.names[value->id].text,
                         module->names.names[value->id].size);
        break;
    case ATTR_TYPE:
        proto_open(out, "td");
        ge_put_desc(out, module, value->id);
        proto_close(out);
        break;
    default: proto_put_integer(out, "dt", dump_dtype_row(value->id - W_f32)->number);
    }
}

static void put_list(struct proto_out *out, const struct module *module,
                     const struct attr_value *list)
{
    const struct attr_value *at = module->attr_values.at + list->first;
    proto_open(out, "list");
    for (uint32_t i = 0; i < list->count; i++)
        put_scalar(out, module, &at[i]);
    proto_put_word(out, "val_type",
                   list->count ? filled_type(at) : empty_type(module, list->first));
    proto_close(out);
}

static void put_lists(struct proto_out *out, const struct module *module,
                      const struct attr_value *lists)
{
    proto_open(out, "list_list_int");
    for (uint32_t i = 0; i < lists->count; i++) {
        const struct attr_value *list = &module->attr_values.at[lists->first + i];
        proto_open(out, "list_list_i");
        for (uint32_t k = 0; k < list->count; k++)
            proto_put_integer(out, "list_i", module->attr_values.at[list->first + k].i);
        proto_close(out);
    }
    proto_close(out);
}

void ge_put_value(struct proto_out *out, const struct module *module,
                  const struct attr_value *value)
{
    if (value->kind != ATTR_LIST)
        put_scalar(out, module, value);
    else if (value->count && module->attr_values.at[value->first].kind == ATTR_LIST)
        put_lists(out, module, value);
    else
        put_list(out, module, value);
}

/* -------------------------------------------------------------------------- contents ---- */

/* Elements that one number fills, at most, where the format has no shorter form for that. */
enum { MOST_FILLED = 64 };

bool foreign_contents(const struct module *module, const struct graph *graph, const struct op *op,
                      struct text *bytes)
{
    const struct attr *attr = op_contents_attr(module, graph, op);
    uint32_t type = attr ? graph->values.at[op->results.first].type : NONE;
    uint64_t elements;
    bytes->size = 0;
    if (!attr || module->types.at[type].dtype >= DTYPE_COUNT ||
        !type_elements(module, type, &elements) || elements == 0)
        return false;
    struct contents contents = contents_read(module, attr);
    if (contents.count == 1 && elements > MOST_FILLED)
        return false;
    unsigned bits = dtype_info(module->types.at[type].dtype)->bits;
    if (!contents.numbers || bits % 8 || bits > 64)
        return false;
    for (uint64_t i = 0; i < elements; i++) {
        uint64_t number;
        const struct attr_value *value = &contents.numbers[contents.count == 1 ? 0 : i];
        if (number_encode(module->types.at[type].dtype, value, &number) != NUMBER_FITS)
            return false;
        for (unsigned k = 0; k < bits; k += 8)
            text_char(bytes, (char)(number >> k));
    }
    return true;
}

void ge_put_tensor(struct proto_out *out, const struct module *module, uint32_t type,
                   const struct text *bytes)
{
    proto_open(out, "t");
    proto_open(out, "desc");
    ge_put_desc(out, module, type);
    proto_close(out);
    proto_put_string(out, "data", bytes->at, bytes->size);
    proto_close(out);
}
