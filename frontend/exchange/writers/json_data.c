#include "frontend/exchange/writers/json_data.h"
#include "ir/syntax/spelling.h"

#include <math.h>

/* Integers up to this are numbers; others are strings of digits, since readers take numbers as
 * doubles. */
#define SAFE_INTEGER ((int64_t)1 << 53)

/* ---------------------------------------------------------------- names and numbers ---- */

void json_data_key(struct json_data *data, uint32_t name)
{
    const struct intern_name *bytes = &data->module->names.names[name];
    json_key_bytes(&data->json, bytes->text, bytes->size);
}

void json_data_string(struct json_data *data, uint32_t name)
{
    const struct intern_name *bytes = &data->module->names.names[name];
    json_bytes(&data->json, bytes->text, bytes->size);
}

void json_data_name(struct json_data *data, const char *key, uint32_t name)
{
    json_key(&data->json, key);
    if (name == NONE)
        json_null(&data->json);
    else
        json_data_string(data, name);
}

void json_data_index(struct json_data *data, const char *key, uint32_t index)
{
    json_key(&data->json, key);
    if (index == NONE)
        json_null(&data->json);
    else
        json_unsigned(&data->json, index);
}

void json_data_indices(struct json_data *data, const char *key, const uint32_t *at, uint32_t count)
{
    json_key(&data->json, key);
    json_open_array(&data->json);
    for (uint32_t i = 0; i < count; i++)
        json_unsigned(&data->json, at[i]);
    json_close_array(&data->json);
}

static bool is_safe(int64_t number)
{
    return number <= SAFE_INTEGER && number >= -SAFE_INTEGER;
}

static void put_digits(struct json *json, int64_t number)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", (long long)number);
    json_string(json, digits);
}

void json_data_integer(struct json_data *data, int64_t number)
{
    if (is_safe(number))
        json_signed(&data->json, number);
    else
        put_digits(&data->json, number);
}

/* ---------------------------------------------------------------------------- types ---- */

static void put_dim(struct json_data *data, int64_t dim)
{
    if (dim == DIM_UNKNOWN)
        json_null(&data->json);
    else if (dim_is_gear(dim))
        json_data_string(data, dim_gear(dim));
    else
        json_data_integer(data, dim);
}

static void put_dims(struct json_data *data, const struct type *type)
{
    const int64_t *dims = data->module->dims.at + type->dims;
    json_open_array(&data->json);
    for (uint32_t i = 0; i < type->rank; i++)
        put_dim(data, dims[i]);
    json_close_array(&data->json);
}

void json_data_type(struct json_data *data, uint32_t id)
{
    const struct type *type = &data->module->types.at[id];
    if (type->dtype == DTYPE_TOKEN) {
        json_string(&data->json, "token");
        return;
    }
    json_open_object(&data->json);
    json_key(&data->json, "dtype");
    if (type->dtype == DTYPE_UNKNOWN)
        json_null(&data->json);
    else
        json_string(&data->json, dtype_info(type->dtype)->name);
    json_key(&data->json, "dims");
    if (type->rank == RANK_UNKNOWN)
        json_null(&data->json);
    else
        put_dims(data, type);
    json_data_name(data, "format", type->format);
    json_close_object(&data->json);
}

/* ----------------------------------------------------------------------- attributes ---- */

static void put_value(struct json_data *data, const struct attr_value *value);

static void put_dict(struct json_data *data, struct range attrs)
{
    json_open_object(&data->json);
    for (uint32_t i = 0; i < attrs.count; i++) {
        const struct attr *attr = &data->module->attrs.at[attrs.first + i];
        json_data_key(data, attr->key);
        put_value(data, &attr->value);
    }
    json_close_object(&data->json);
}

static void put_list(struct json_data *data, const struct attr_value *list)
{
    json_open_array(&data->json);
    for (uint32_t i = 0; i < list->count; i++)
        put_value(data, &data->module->attr_values.at[list->first + i]);
    json_close_array(&data->json);
}

static const char *float_text(double number)
{
    return isnan(number) ? "nan" : number < 0 ? "-inf" : "inf";
}

/* What JSON has no kind for: an object whose one key says what it is. */
static void put_tagged(struct json_data *data, const struct attr_value *value)
{
    struct json *json = &data->json;
    json_open_object(json);
    switch ((enum attr_kind)value->kind) {
    case ATTR_INT:
        json_key(json, "int");
        put_digits(json, value->i);
        break;
    case ATTR_FLOAT: json_add_string(json, "float", float_text(value->f)); break;
    case ATTR_WORD: json_data_name(data, "word", value->id); break;
    case ATTR_SYMBOL: json_data_name(data, "symbol", value->id); break;
    case ATTR_VALUE: json_data_name(data, "value", value->id); break;
    case ATTR_TYPE:
        json_key(json, "type");
        json_data_type(data, value->id);
        break;
    case ATTR_DICT:
        json_key(json, "dict");
        put_dict(data, (struct range){value->first, value->count});
        break;
    case ATTR_LIST: json_data_name(data, "list", value->first); break;
    case ATTR_BOOL:
    case ATTR_STRING: break; /* JSON has them */
    }
    json_close_object(json);
}

static void put_value(struct json_data *data, const struct attr_value *value)
{
    struct json *json = &data->json;
    if (value->kind == ATTR_INT && is_safe(value->i))
        json_signed(json, value->i);
    else if (value->kind == ATTR_FLOAT && isfinite(value->f))
        json_double(json, value->f);
    else if (value->kind == ATTR_BOOL)
        json_bool(json, value->i);
    else if (value->kind == ATTR_STRING)
        json_data_string(data, value->id);
    else if (value->kind == ATTR_LIST && (value->count || !value->first))
        put_list(data, value);
    else
        put_tagged(data, value);
}

void json_data_attrs(struct json_data *data, struct range attrs)
{
    json_key(&data->json, "attrs");
    put_dict(data, attrs);
}
