#include "frontend/exchange/readers/onnx_attribute.h"

/* By the numbers that ONNX has for them. */
static const struct {
    const char *field, *word;
    uint32_t empty; /* the word for the elements of an empty list; NONE: there is no list */
} kinds[] = {
    [KIND_UNKNOWN] = {"", "UNDEFINED", NONE},
    [KIND_F] = {"f", "FLOAT", NONE},
    [KIND_I] = {"i", "INT", NONE},
    [KIND_S] = {"s", "STRING", NONE},
    [KIND_T] = {"t", "TENSOR", NONE},
    [KIND_G] = {"g", "GRAPH", NONE},
    [KIND_FLOATS] = {"floats", "FLOATS", W_float},
    [KIND_INTS] = {"ints", "INTS", W_int},
    [KIND_STRINGS] = {"strings", "STRINGS", W_string},
    [KIND_TENSORS] = {"tensors", "TENSORS", 0},
    [KIND_GRAPHS] = {"graphs", "GRAPHS", 0},
    [KIND_SPARSE] = {"sparse_tensor", "SPARSE_TENSOR", NONE},
    [KIND_SPARSES] = {"sparse_tensors", "SPARSE_TENSORS", 0},
    [KIND_TP] = {"tp", "TYPE_PROTO", NONE},
    [KIND_TPS] = {"type_protos", "TYPE_PROTOS", 0},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void read_number(struct onnx *onnx, enum onnx_kind kind, const struct proto_field *field)
{
    struct attr_value value = {.kind =
                                   kind == KIND_F || kind == KIND_FLOATS ? ATTR_FLOAT : ATTR_INT};
    if (value.kind == ATTR_FLOAT ? proto_float(&onnx->proto, field, &value.f)
                                 : proto_integer(&onnx->proto, field, &value.i))
        vec_push(&onnx->values, value);
}

static void read_bytes(struct onnx *onnx, const struct proto_field *field)
{
    uint32_t name = field_string(&onnx->proto, field, onnx->dump);
    if (name != NONE)
        vec_push(&onnx->values, (struct attr_value){.kind = ATTR_STRING, .id = name});
}

static void read_tensor(struct onnx *onnx, const struct proto_field *field, uint32_t *type)
{
    struct onnx_tensor tensor;
    if (!field_enter(&onnx->proto, field))
        return;
    onnx_read_tensor(onnx, &tensor, field->name_span.begin);
    *type = tensor.type;
    if (tensor.filled)
        vec_push(&onnx->values, tensor.value);
}

static void read_type(struct onnx *onnx, const struct proto_field *field)
{
    if (!field_enter(&onnx->proto, field))
        return;
    uint32_t type = onnx_read_type(onnx, field->name_span.begin);
    vec_push(&onnx->values, (struct attr_value){.kind = ATTR_TYPE, .id = type});
}

void onnx_read_value(struct onnx *onnx, const struct onnx_attribute *attribute, enum onnx_kind kind,
                     const struct proto_field *field, uint32_t *type)
{
    if (kind == KIND_T || kind == KIND_TENSORS)
        read_tensor(onnx, field, type);
    else if (kind == KIND_TP || kind == KIND_TPS)
        read_type(onnx, field);
    else if (kind == KIND_S || kind == KIND_STRINGS)
        read_bytes(onnx, field);
    else if (kind == KIND_SPARSE || kind == KIND_SPARSES)
        dump_drop(onnx->dump, attribute->loc, "a sparse tensor that is an attribute");
    else
        read_number(onnx, kind, field);
}

enum onnx_kind onnx_kind_of(const struct proto_field *field)
{
    for (unsigned i = 1; i < KINDS; i++)
        if (proto_is(field, kinds[i].field))
            return (enum onnx_kind)i;
    return KIND_UNKNOWN;
}

enum onnx_kind onnx_read_kind(struct onnx *onnx, const struct proto_field *field)
{
    int64_t number = 0;
    if (field->kind != PROTO_WORD)
        return proto_integer(&onnx->proto, field, &number) && number > 0 && number < KINDS
                   ? (enum onnx_kind)number
                   : KIND_UNKNOWN;
    for (unsigned i = 0; i < KINDS; i++)
        if (strlen(kinds[i].word) == field->size &&
            memcmp(kinds[i].word, field->text, field->size) == 0)
            return (enum onnx_kind)i;
    return KIND_UNKNOWN;
}

/* What the fields said. Numbers that are 0 and empty strings may be left out. */
bool onnx_attribute_value(struct onnx *onnx, const struct onnx_attribute *attribute,
                          struct attr_value *value)
{
    bool some = onnx->values.count > attribute->first;
    if (kinds[attribute->kind].empty != NONE) {
        *value = numbers_list(&onnx->values, onnx->dump->module, attribute->first,
                              kinds[attribute->kind].empty);
        return true;
    }
    *value = (struct attr_value){.kind = ATTR_INT};
    if (some)
        *value = onnx->values.at[onnx->values.count - 1];
    else if (attribute->kind == KIND_F)
        *value = (struct attr_value){.kind = ATTR_FLOAT};
    else if (attribute->kind == KIND_S)
        *value =
            (struct attr_value){.kind = ATTR_STRING, .id = module_name(onnx->dump->module, "")};
    onnx->values.count = attribute->first;
    return some || attribute->kind == KIND_I || attribute->kind == KIND_F ||
           attribute->kind == KIND_S;
}
