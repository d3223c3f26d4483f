#include "frontend/exchange/readers/ge_onnx.h"
#include "frontend/exchange/dump/contents.h"
#include "ir/op_types.h"

#include <string.h>

/* Outputs of a node; more are not believed. */
enum { MOST_OUTPUTS = 1024 };

static const char input_prefix[] = "input_desc_", output_prefix[] = "output_desc_";

/* Cuts a prefix off. */
static bool cut(const char **text, size_t *size, const char *prefix)
{
    size_t length = strlen(prefix);
    if (*size < length || memcmp(*text, prefix, length) != 0)
        return false;
    *text += length;
    *size -= length;
    return true;
}

/* A decimal number behind the last colon, which is cut off with it. */
static bool cut_index(const char *text, size_t *size, uint32_t *index)
{
    size_t at = *size;
    uint64_t number = 0;
    while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9')
        at--;
    if (at == *size || at == 0 || text[at - 1] != ':' || *size - at > 9)
        return false;
    for (size_t i = at; i < *size; i++)
        number = number * 10 + (uint64_t)(text[i] - '0');
    *index = (uint32_t)number;
    *size = at - 1;
    return true;
}

void ge_onnx_begin_node(struct ge_onnx *ge)
{
    ge->descs.count = ge->dims.count = 0;
}

void ge_onnx_free(struct ge_onnx *ge)
{
    vec_free(&ge->descs);
    vec_free(&ge->dims);
}

bool ge_onnx_type(struct dump *dump, struct dump_node *node)
{
    const char *text = dump->module->names.names[node->type].text;
    size_t size = dump->module->names.names[node->type].size;
    if (cut(&text, &size, "ge:") && size > 0)
        node->type = intern_copy(&dump->module->names, text, size);
    else if (name_is(dump->module, node->type, "subgraph"))
        return true;
    if (name_is(dump->module, node->type, "Data"))
        node->role = DUMP_PARAM;
    else if (name_is(dump->module, node->type, "NetOutput"))
        node->role = DUMP_RETURN;
    return false;
}

void ge_onnx_input(struct dump *dump, struct dump_input *input)
{
    const char *text = dump->module->names.names[input->name].text;
    size_t size = dump->module->names.names[input->name].size;
    input->kind = DUMP_DATA;
    if (size > 3 && memcmp(text + size - 3, ":-1", 3) == 0) {
        input->kind = DUMP_CONTROL;
        size -= 3;
    } else {
        cut_index(text, &size, &input->output);
    }
    input->name = intern_copy(&dump->module->names, text, size);
}

/* The description of an output. NULL where there are too many. */
static struct ge_onnx_desc *desc_at(struct ge_onnx *ge, uint32_t index)
{
    if (index >= MOST_OUTPUTS)
        return NULL;
    while (ge->descs.count <= index)
        vec_push(&ge->descs, (struct ge_onnx_desc){DTYPE_UNKNOWN, W_ND, {0, 0}, false});
    return &ge->descs.at[index];
}

void ge_onnx_output(struct ge_onnx *ge, struct dump *dump, uint32_t name)
{
    size_t size = dump->module->names.names[name].size;
    uint32_t index;
    if (cut_index(dump->module->names.names[name].text, &size, &index))
        desc_at(ge, index);
}

bool ge_onnx_is_desc(const struct dump *dump, uint32_t key)
{
    const char *text = dump->module->names.names[key].text;
    size_t size = dump->module->names.names[key].size;
    return cut(&text, &size, input_prefix) || cut(&text, &size, output_prefix);
}

bool ge_onnx_is_index(const struct dump *dump, uint32_t key)
{
    return name_is(dump->module, key, "index");
}

static void take_dims(struct ge_onnx *ge, struct ge_onnx_desc *desc,
                      const struct attr_value *values, uint32_t count)
{
    desc->shaped = true;
    desc->dims = (struct range){ge->dims.count, count};
    for (uint32_t i = 0; i < count; i++)
        vec_push(&ge->dims, values[i].kind == ATTR_INT ? values[i].i : DIM_UNKNOWN);
}

static bool is_word(const char *text, size_t size, const char *word)
{
    return size == strlen(word) && memcmp(text, word, size) == 0;
}

/* What stands behind `key`, which begins with a quote, in the text of a JSON object without blanks;
 * NULL: nothing. */
static const char *find_member(const char *text, size_t size, const char *key)
{
    const char *end = text + size;
    size_t length = strlen(key);
    while ((text = memchr(text, '"', (size_t)(end - text))) && (size_t)(end - text) >= length) {
        if (memcmp(text, key, length) == 0)
            return text + length;
        text++;
    }
    return NULL;
}

static const char *find_word(const char *text, size_t size, const char *key, size_t *length)
{
    const char *at = find_member(text, size, key);
    const char *end = at ? memchr(at, '"', size - (size_t)(at - text)) : NULL;
    *length = end ? (size_t)(end - at) : 0;
    return end ? at : NULL;
}

/* Numbers up to a bracket. */
static void take_json_dims(struct ge_onnx *ge, struct ge_onnx_desc *desc, const char *at,
                           const char *end)
{
    desc->shaped = true;
    desc->dims = (struct range){ge->dims.count, 0};
    while (at < end && *at != ']') {
        bool minus = *at == '-';
        int64_t dim = 0;
        for (at += minus; at < end && *at >= '0' && *at <= '9' && dim < INT64_MAX / 16; at++)
            dim = dim * 10 + (*at - '0');
        vec_push(&ge->dims, minus ? -dim : dim);
        desc->dims.count++;
        while (at < end && *at != ',' && *at != ']')
            at++;
        at += at < end && *at == ',';
    }
}

/* Where there are many, all that is said of a tensor is one string, JSON. */
static void take_json(struct ge_onnx *ge, struct dump *dump, struct ge_onnx_desc *desc,
                      struct intern_name json, uint32_t loc)
{
    size_t length;
    const char *text = json.text, *end = json.text + json.size;
    const char *word = find_word(text, json.size, "\"dtype\":\"", &length);
    if (word)
        desc->dtype = dump_dtype_named(dump, word, length, loc);
    if ((word = find_word(text, json.size, "\"layout\":\"", &length)))
        desc->format = dump_format(dump, word, length, loc);
    const char *dims = find_member(text, json.size, "\"shape\":[");
    if (dims)
        take_json_dims(ge, desc, dims, end);
}

/* The number that is all of a text. */
static bool is_number(const char *text, size_t size, uint32_t *number)
{
    *number = 0;
    for (size_t i = 0; i < size; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
        else
            *number = *number * 10 + (uint32_t)(text[i] - '0');
    return size > 0 && size < 10;
}

void ge_onnx_take(struct ge_onnx *ge, struct dump *dump, uint32_t key,
                  const struct attr_value *values, uint32_t count, uint32_t loc)
{
    const char *text = dump->module->names.names[key].text;
    size_t size = dump->module->names.names[key].size;
    uint32_t index;
    struct ge_onnx_desc *desc;
    struct intern_name word = {"", 0, 0};
    if (!cut(&text, &size, output_prefix))
        return;
    bool is_string = count == 1 && values->kind == ATTR_STRING;
    if (is_string)
        word = dump->module->names.names[values->id];
    if (is_word(text, size, "nums") && count == 1 && values->kind == ATTR_INT && values->i > 0 &&
        values->i <= MOST_OUTPUTS)
        desc_at(ge, (uint32_t)values->i - 1);
    if (is_string && is_number(text, size, &index) && (desc = desc_at(ge, index)))
        take_json(ge, dump, desc, word, loc);
    if (!cut_index(text, &size, &index) || !(desc = desc_at(ge, index)))
        return;
    if (is_word(text, size, "shape"))
        take_dims(ge, desc, values, count);
    else if (is_string && is_word(text, size, "dtype"))
        desc->dtype = dump_dtype_named(dump, word.text, word.size, loc);
    else if (is_string && is_word(text, size, "layout"))
        desc->format = dump_format(dump, word.text, word.size, loc);
}

static uint32_t type_of(const struct ge_onnx *ge, struct dump *dump,
                        const struct ge_onnx_desc *desc, uint32_t loc)
{
    struct dump_shape shape;
    shape.rank = desc->shaped ? 0 : RANK_UNKNOWN;
    for (uint32_t i = 0; i < desc->dims.count; i++)
        dump_shape_add_ge(&shape, ge->dims.at[desc->dims.first + i]);
    return dump_type(dump, desc->dtype, desc->format, &shape, loc);
}

bool ge_onnx_is_data(const struct dump *dump, const struct dump_node *node, uint32_t key)
{
    return name_is(dump->module, key, "value_data") && dump_is_constant(dump, node->type);
}

/* Truth values, by the data of the op's type. */
static void settle_bools(struct dump *dump, struct dump_draft *draft)
{
    const struct op_type *type = op_type_find(dump->module, draft->node.type);
    for (uint32_t i = 0; type && i < draft->attrs.count; i++) {
        struct attr *attr = &draft->attrs.at[i];
        for (uint32_t k = 0; k < type->n_attrs && attr->value.kind == ATTR_INT; k++)
            if (type->attrs[k].kind == OP_ATTR_BOOL &&
                name_is(dump->module, attr->key, type->attrs[k].name))
                attr->value = (struct attr_value){.kind = ATTR_BOOL, .i = attr->value.i != 0};
    }
}

void ge_onnx_end_node(struct ge_onnx *ge, struct dump *dump, struct dump_draft *draft)
{
    for (uint32_t i = 0; i < ge->descs.count; i++)
        dump_add_output(draft, NONE, type_of(ge, dump, &ge->descs.at[i], draft->node.loc));
    settle_bools(dump, draft);
}
