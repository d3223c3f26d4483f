#include "frontend/exchange/readers/tf_outputs.h"

#include <string.h>

/* Outputs of a node; more are not believed. */
enum { MOST_OUTPUTS = 1024 };

static const struct {
    const char *op, *outputs;
} rows[] = {
#define TF_OP(op, outputs) {op, outputs},
#include "frontend/exchange/readers/tf_ops.def"
#undef TF_OP
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* Attributes that have the dtype of the only output, in the order in which they are asked. */
static const char *const usual[] = {"dtype", "out_type", "output_type", "Tout", "T"};

/* One NAME:DTYPE*COUNT of a row. */
struct part {
    const char *name, *dtype, *count;
    size_t name_size, dtype_size, count_size;
};

void tf_known_free(struct tf_known *known)
{
    id_map_free(&known->ops);
}

static const char *outputs_of(struct tf_known *known, const struct dump *dump, uint32_t op)
{
    uint32_t *row = id_map_at(&known->ops, op);
    if (*row == NONE)
        for (*row = 0; *row < ROWS; ++*row)
            if (name_is(dump->module, op, rows[*row].op))
                break;
    return *row < ROWS ? rows[*row].outputs : NULL;
}

static bool next_part(const char **at, struct part *part)
{
    *at += strspn(*at, " ");
    part->name = *at;
    part->name_size = strcspn(*at, ":");
    if (part->name_size == 0)
        return false;
    part->dtype = *at + part->name_size + 1;
    part->dtype_size = strcspn(part->dtype, "* ");
    *at = part->dtype + part->dtype_size;
    part->count = **at == '*' ? *at + 1 : NULL;
    part->count_size = part->count ? strcspn(part->count, " ") : 0;
    *at += strcspn(*at, " ");
    return true;
}

static bool is_text(const struct intern_name *name, const char *text, size_t size)
{
    return name->size == size && memcmp(name->text, text, size) == 0;
}

static const struct attr_value *find(const struct dump *dump, const struct dump_draft *draft,
                                     const char *text, size_t size)
{
    for (uint32_t i = 0; i < draft->attrs.count; i++)
        if (is_text(&dump->module->names.names[draft->attrs.at[i].key], text, size))
            return &draft->attrs.at[i].value;
    return NULL;
}

static bool is_dtype(const struct attr_value *value)
{
    return value && value->kind == ATTR_WORD && value->id > W_BEFORE_DTYPES &&
           value->id < W_DTYPE_END;
}

uint32_t tf_type(struct dump *dump, const struct attr_value *dtype, const struct attr_value *shape)
{
    struct dump_shape known;
    unsigned element = is_dtype(dtype) ? dtype->id - W_BEFORE_DTYPES - 1 : DTYPE_UNKNOWN;
    if (element == DTYPE_resource) /* the handle of a variable is the variable */
        element = DTYPE_UNKNOWN;
    known.rank = RANK_UNKNOWN;
    if (shape && shape->kind == ATTR_TYPE && shape->id != NONE) {
        const struct type *type = &dump->module->types.at[shape->id];
        known.rank = type->rank;
        for (uint32_t i = 0; known.rank != RANK_UNKNOWN && i < known.rank; i++)
            known.dims[i] = dump->module->dims.at[type->dims + i];
    }
    return dump_type(dump, element, W_ND, &known, 0);
}

/* The shape of an output: that of `_output_shapes`, or, of what is fed or kept, `shape`. */
static const struct attr_value *shape_at(const struct dump *dump, const struct dump_draft *draft,
                                         uint32_t output)
{
    static const char *const shaped[] = {"Placeholder", "PlaceholderV2", "PlaceholderWithDefault",
                                         "Variable",    "VariableV2",    "ImmutableConst"};
    const struct attr_value *list = find(dump, draft, "_output_shapes", 14);
    if (list && list->kind == ATTR_LIST && output < list->count)
        return &dump->module->attr_values.at[list->first + output];
    for (unsigned i = 0; i < sizeof shaped / sizeof shaped[0]; i++)
        if (name_is(dump->module, draft->node.type, shaped[i]))
            return find(dump, draft, "shape", 5);
    return NULL;
}

static void add(struct dump *dump, struct dump_draft *draft, const struct attr_value *dtype)
{
    const struct attr_value *shape = shape_at(dump, draft, draft->outputs.count);
    if (draft->outputs.count < MOST_OUTPUTS)
        dump_add_output(draft, NONE, tf_type(dump, dtype, shape));
}

/* As many as a list of dtypes has, or as `count` says. */
static void add_some(struct dump *dump, struct dump_draft *draft, const struct attr_value *dtype,
                     int64_t count)
{
    if (dtype && dtype->kind == ATTR_LIST) {
        for (uint32_t i = 0; i < dtype->count; i++) {
            struct attr_value one = dump->module->attr_values.at[dtype->first + i];
            add(dump, draft, &one);
        }
        return;
    }
    for (int64_t i = 0; i < count && i < MOST_OUTPUTS; i++)
        add(dump, draft, dtype);
}

static void add_part(struct dump *dump, struct dump_draft *draft, const struct part *part)
{
    struct attr_value word = {.kind = ATTR_WORD};
    const struct attr_value *dtype = find(dump, draft, part->dtype, part->dtype_size), *number;
    int64_t count = 1;
    word.id = intern_find(&dump->module->names, part->dtype, part->dtype_size);
    if (!dtype && is_dtype(&word))
        dtype = &word;
    if (part->count) {
        number = find(dump, draft, part->count, part->count_size);
        count = number && number->kind == ATTR_INT ? number->i : 0;
    }
    add_some(dump, draft, dtype, count);
}

static void add_shaped(struct dump *dump, struct dump_draft *draft)
{
    const struct attr_value *list = find(dump, draft, "_output_shapes", 14);
    for (uint32_t i = draft->outputs.count; list && list->kind == ATTR_LIST && i < list->count; i++)
        add(dump, draft, NULL);
}

void tf_add_outputs(struct tf_known *looked_up, struct dump *dump, struct dump_draft *draft)
{
    const char *at = outputs_of(looked_up, dump, draft->node.type);
    struct part part;
    bool known = at != NULL;
    while (at && next_part(&at, &part))
        add_part(dump, draft, &part);
    for (unsigned i = 0; i < sizeof usual / sizeof usual[0] && !known; i++) {
        const struct attr_value *dtype = find(dump, draft, usual[i], strlen(usual[i]));
        known = dtype != NULL;
        if (known)
            add_some(dump, draft, dtype, 1);
    }
    add_shaped(dump, draft);
    if (!known && draft->outputs.count == 0 &&
        translation_find(dump->module, DIALECT_TF, draft->node.type))
        dump_add_output(draft, NONE, NONE);
}

uint32_t tf_find_output(struct tf_known *known, const struct dump *dump, uint32_t op,
                        const char *name, size_t size)
{
    const char *at = outputs_of(known, dump, op);
    struct part part;
    for (uint32_t i = 0; at && next_part(&at, &part); i++)
        if (part.name_size == size && memcmp(part.name, name, size) == 0)
            return i;
    return NONE;
}
