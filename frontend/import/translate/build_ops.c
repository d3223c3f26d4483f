#include "frontend/import/translate/build_ops.h"
#include "ir/analysis/contents.h"
#include "ir/analysis/op_infer.h"
#include "ir/optypes/op_types.h"
#include "ir/verify/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------- the node ---- */

void tr_refuse(struct translation *t, const char *format, ...)
{
    va_list args;
    if (tr_refused(t))
        return;
    va_start(args, format);
    text_vprintf(&t->reason, format, args);
    va_end(args);
}

uint32_t tr_optional(const struct translation *t, uint32_t i)
{
    return i < t->n_operands ? t->operands[i] : NONE;
}

uint32_t tr_operand(struct translation *t, uint32_t i)
{
    uint32_t value = tr_optional(t, i);
    if (value == NONE)
        tr_refuse(t, "its operand %u is absent", i);
    return value;
}

void tr_most_operands(struct translation *t, uint32_t most)
{
    if (t->n_operands > most)
        tr_refuse(t, "it has %u operands, more than %u", t->n_operands, most);
}

bool tr_wants(const struct translation *t, uint32_t result)
{
    return result < t->n_results && t->results[result].wanted;
}

/* --------------------------------------------------------------------------- values ---- */

static const struct type *type_of(const struct translation *t, uint32_t value)
{
    uint32_t id = value == NONE ? NONE : t->graph->values.at[value].type;
    return id == NONE ? NULL : &t->module->types.at[id];
}

unsigned tr_dtype(const struct translation *t, uint32_t value)
{
    const struct type *type = type_of(t, value);
    return type ? type->dtype : DTYPE_UNKNOWN;
}

uint32_t tr_rank(const struct translation *t, uint32_t value)
{
    const struct type *type = type_of(t, value);
    return type ? type->rank : RANK_UNKNOWN;
}

int64_t tr_dim(const struct translation *t, uint32_t value, uint32_t i)
{
    const struct type *type = type_of(t, value);
    return type && i < type_n_dims(type) ? t->module->dims.at[type->dims + i] : DIM_UNKNOWN;
}

enum dtype tr_need_dtype(struct translation *t, uint32_t value)
{
    unsigned dtype = tr_dtype(t, value);
    if (dtype != DTYPE_UNKNOWN)
        return (enum dtype)dtype;
    tr_refuse(t, "the data type of an operand is not known");
    return DTYPE_f32;
}

uint32_t tr_need_rank(struct translation *t, uint32_t value)
{
    uint32_t rank = tr_rank(t, value);
    if (rank != RANK_UNKNOWN)
        return rank;
    tr_refuse(t, "the rank of an operand is not known");
    return 0;
}

int64_t tr_axis(struct translation *t, int64_t axis, uint32_t rank)
{
    if (axis < -(int64_t)rank || axis >= (int64_t)rank) {
        tr_refuse(t, "axis %lld is none of %u", (long long)axis, rank);
        return 0;
    }
    return axis < 0 ? axis + rank : axis;
}

bool tr_is_float(const struct translation *t, uint32_t value)
{
    unsigned dtype = tr_dtype(t, value);
    return dtype != DTYPE_UNKNOWN && dtype_info((enum dtype)dtype)->class == CLASS_FLOAT;
}

int64_t tr_need_dim(struct translation *t, uint32_t value, uint32_t i)
{
    int64_t dim = tr_dim(t, value, i);
    if (dim >= 0)
        return dim;
    tr_refuse(t, "dimension %u of an operand is not known", i);
    return 1;
}

int64_t *tr_array(struct translation *t, uint32_t count)
{
    int64_t *array = arena_alloc(&t->translator->arena, (count + (size_t)1) * sizeof *array);
    memset(array, 0, (count + (size_t)1) * sizeof *array);
    return array;
}

bool tr_dims(struct translation *t, uint32_t value, struct tr_ints *dims)
{
    uint32_t rank = tr_rank(t, value);
    *dims = (struct tr_ints){NULL, 0};
    if (rank == RANK_UNKNOWN)
        return false;
    int64_t *at = tr_array(t, rank);
    *dims = (struct tr_ints){at, rank};
    for (uint32_t i = 0; i < rank; i++) {
        at[i] = tr_dim(t, value, i);
        if (at[i] < 0)
            return false;
    }
    return true;
}

/* Numbers that a row writes into a text, at most. */
enum { MOST_NUMBERS = 1 << 16 };

struct tr_ints tr_range(struct translation *t, int64_t first, int64_t end)
{
    if (end - first > MOST_NUMBERS)
        tr_refuse(t, "it needs a list of %lld numbers", (long long)(end - first));
    uint32_t count = end > first && !tr_refused(t) ? (uint32_t)(end - first) : 0;
    int64_t *at = tr_array(t, count);
    for (uint32_t i = 0; i < count; i++)
        at[i] = first + i;
    return (struct tr_ints){at, count};
}

/* ------------------------------------------------------------------- attributes of ops ---- */

void tr_set(struct translation *t, const char *key, struct attr_value value)
{
    vec_push(&t->pending, (struct attr){module_name(t->module, key), t->loc, value});
}

void tr_set_int(struct translation *t, const char *key, int64_t i)
{
    tr_set(t, key, (struct attr_value){.kind = ATTR_INT, .i = i});
}

void tr_set_flag(struct translation *t, const char *key, bool flag)
{
    tr_set(t, key, (struct attr_value){.kind = ATTR_BOOL, .i = flag});
}

void tr_set_float(struct translation *t, const char *key, double f)
{
    tr_set(t, key, (struct attr_value){.kind = ATTR_FLOAT, .f = f});
}

void tr_set_text(struct translation *t, const char *key, const char *text)
{
    tr_set(t, key, (struct attr_value){.kind = ATTR_STRING, .id = module_name(t->module, text)});
}

static struct attr_value list_of(struct translation *t, struct tr_ints ints)
{
    struct attr_value list = {.kind = ATTR_LIST, .count = ints.count};
    VEC(struct attr_value) values = {NULL, 0, 0};
    for (uint32_t i = 0; i < ints.count; i++)
        vec_push(&values, (struct attr_value){.kind = ATTR_INT, .i = ints.at[i]});
    list.first = ints.count ? module_add_values(t->module, values.at, values.count).first : W_int;
    vec_free(&values);
    return list;
}

void tr_set_ints(struct translation *t, const char *key, struct tr_ints ints)
{
    tr_set(t, key, list_of(t, ints));
}

void tr_set_dtype(struct translation *t, const char *key, enum dtype dtype)
{
    enum dtype found;
    for (int64_t number = 0; number < GE_DTYPES_END; number++)
        if (ge_dtype_find(number, &found) && found == dtype) {
            tr_set_int(t, key, number);
            return;
        }
    tr_refuse(t, "GE has no data type %s", dtype_info(dtype)->name);
}

void tr_set_type(struct translation *t, enum dtype dtype, struct tr_ints dims)
{
    for (uint32_t i = 0; i < dims.count; i++)
        if (dims.at[i] < 0)
            tr_refuse(t, "its result has a dimension of %lld", (long long)dims.at[i]);
    if (dims.count > MAX_RANK)
        tr_refuse(t, "its result has %u dimensions", dims.count);
    if (!tr_refused(t))
        t->next_type = module_type(t->module, dtype, W_ND, dims.at, dims.count);
}

/* ------------------------------------------------------------------------------ ops ---- */

/* Lower case, as part of the names of what the op gives. */
static uint32_t role_of(struct translation *t, const char *type)
{
    char *role = arena_strndup(&t->translator->arena, type, strlen(type));
    for (char *at = role; *at; at++)
        *at = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
    return module_name(t->module, role);
}

static void refuse_operands(struct translation *t, const struct op *op, const char *type)
{
    struct text types = {NULL, 0, 0};
    for (uint32_t i = 0; i < op->operands.count; i++) {
        const struct type *of = type_of(t, t->graph->refs.at[op->operands.first + i]);
        text_printf(&types, "%s%s[", i ? ", " : "", dtype_info(of->dtype)->name);
        if (of->rank == RANK_UNKNOWN)
            text_string(&types, "..");
        for (uint32_t d = 0; d < type_n_dims(of); d++) {
            int64_t dim = t->module->dims.at[of->dims + d];
            text_string(&types, d ? ", " : "");
            if (dim >= 0)
                text_signed(&types, dim);
            else if (dim_is_gear(dim))
                text_printf(&types, "%.*s", NAME(t->module, dim_gear(dim)));
            else
                text_char(&types, '?');
        }
        text_char(&types, ']');
    }
    tr_refuse(t, "GE's %s does not take %.*s with these attributes", type,
              types.size ? (int)types.size : 7, types.size ? types.at : "nothing");
    text_free(&types);
}

/* Adds an op whose values and forms are those of `forms`. */
static uint32_t add_op(struct translation *t, const char *type, uint32_t role,
                       const uint32_t *values, uint32_t n_values, const struct operand *forms,
                       uint32_t n_forms, uint32_t n_results)
{
    struct graph *graph = t->graph;
    struct op op = {
        .type = module_name(t->module, type), .loc = t->loc, .block = t->block, .kernel = NONE};
    op.operands = graph_add_refs(graph, values, n_values);
    op.attrs = module_add_attrs(t->module, t->pending.at, t->pending.count);
    t->pending.count = 0;
    bool plain = true;
    struct clauses clauses = {.forms = {graph->forms.count, n_forms}};
    for (uint32_t i = 0; i < n_forms; i++) {
        struct operand form = forms[i];
        form.values.first += op.operands.first;
        plain &= form.kind == OPERAND_VALUE;
        vec_push(&graph->forms, form);
    }
    if (plain) {
        graph->forms.count -= n_forms;
    } else {
        op.clauses = graph->clauses.count;
        vec_push(&graph->clauses, clauses);
    }
    uint32_t unknown = module_type(t->module, (enum dtype)DTYPE_UNKNOWN, W_ND, NULL, RANK_UNKNOWN);
    op.results = (struct range){graph->values.count, n_results};
    for (uint32_t i = 0; i < n_results; i++)
        graph_add_value(graph, role, i == 0 && t->next_type != NONE ? t->next_type : unknown,
                        graph->ops.count);
    t->next_type = NONE;
    uint32_t id = graph_add_op(graph, &op);
    const struct op *made = &graph->ops.at[id];
    const struct op_type *known = op_type_find(t->module, op.type);
    struct op_inference inference;
    while (t->written->count < graph->values.count)
        vec_push(t->written, 0);
    if (known)
        op_infer(&inference, t->module, graph, made, known, t->written->at, &t->translator->arena);
    if (!op_fits_type(t->module, graph, made))
        refuse_operands(t, made, type);
    return tr_refused(t) ? NONE : op.results.first;
}

uint32_t tr_op(struct translation *t, const char *type, const uint32_t *operands, uint32_t n,
               uint32_t n_results)
{
    struct arena *arena = &t->translator->arena;
    struct operand *forms = arena_alloc(arena, (n + 1) * sizeof *forms);
    uint32_t *values = arena_alloc(arena, (n + 1) * sizeof *values), n_values = 0;
    if (tr_refused(t))
        return NONE;
    while (n > 0 && operands[n - 1] == NONE)
        n--;
    for (uint32_t i = 0; i < n; i++) {
        forms[i] = (struct operand){OPERAND_NONE, NONE, {n_values, 0}};
        if (operands[i] == NONE)
            continue;
        forms[i].kind = OPERAND_VALUE;
        forms[i].values.count = 1;
        values[n_values++] = operands[i];
    }
    return add_op(t, type, role_of(t, type), values, n_values, forms, n, n_results);
}

uint32_t tr_listed(struct translation *t, const char *type, const uint32_t *operands, uint32_t n,
                   uint32_t last)
{
    uint32_t *values = arena_alloc(&t->translator->arena, (n + 1) * sizeof *values);
    struct operand forms[2] = {{OPERAND_LIST, NONE, {0, n}}, {OPERAND_VALUE, NONE, {n, 1}}};
    if (tr_refused(t))
        return NONE;
    for (uint32_t i = 0; i < n; i++)
        values[i] = operands[i];
    values[n] = last;
    bool more = last != NONE;
    return add_op(t, type, role_of(t, type), values, n + more, forms, 1 + more, 1);
}

/* ------------------------------------------------------------------------ constants ---- */

static uint32_t add_const(struct translation *t, const char *role, struct attr_value value)
{
    if (tr_refused(t))
        return NONE;
    assert(t->pending.count == 0); /* they are meant for another op */
    tr_set(t, "value", value);
    return add_op(t, "Const", module_name(t->module, role), NULL, 0, NULL, 0, 1);
}

uint32_t tr_const_typed(struct translation *t, const char *role, uint32_t type, struct tr_ints ints)
{
    const struct type of = t->module->types.at[type];
    struct attr_value value = list_of(t, ints);
    uint32_t kind = of.dtype == DTYPE_bool ? ATTR_BOOL : ATTR_INT;
    for (uint32_t i = 0; i < value.count; i++)
        t->module->attr_values.at[value.first + i].kind = kind;
    if (of.rank == 0 && ints.count == 1)
        value = t->module->attr_values.at[value.first];
    t->next_type = type;
    return add_const(t, role, value);
}

uint32_t tr_const_list(struct translation *t, const char *role, enum dtype dtype,
                       struct tr_ints ints)
{
    int64_t count = ints.count;
    return tr_const_typed(t, role, module_type(t->module, dtype, W_ND, &count, 1), ints);
}

uint32_t tr_const_ints(struct translation *t, const char *role, struct tr_ints ints)
{
    return tr_const_list(t, role, DTYPE_i64, ints);
}

uint32_t tr_const_int(struct translation *t, const char *role, int64_t i)
{
    return tr_const_typed(t, role, module_type(t->module, DTYPE_i64, W_ND, NULL, 0),
                          (struct tr_ints){&i, 1});
}

uint32_t tr_const(struct translation *t, const char *role, enum dtype dtype, double number)
{
    enum dtype_class class = dtype_info(dtype)->class;
    struct attr_value value = {.kind = ATTR_FLOAT, .f = number};
    if (class == CLASS_SINT || class == CLASS_UINT || class == CLASS_BOOL) {
        if (!(fabs(number) < 0x1p63)) {
            tr_refuse(t, "%g is no %s", number, dtype_info(dtype)->name);
            return NONE;
        }
        value.kind = class == CLASS_BOOL ? ATTR_BOOL : ATTR_INT;
        value.i = (int64_t)number;
    }
    tr_set_type(t, dtype, (struct tr_ints){NULL, 0});
    return add_const(t, role, value);
}

uint32_t tr_cast(struct translation *t, uint32_t value, enum dtype dtype)
{
    if (tr_dtype(t, value) == dtype)
        return value;
    tr_set_dtype(t, "dst_type", dtype);
    return tr_make(t, "Cast", value);
}

uint32_t tr_reshape(struct translation *t, uint32_t value, struct tr_ints dims)
{
    return tr_make(t, "Reshape", value, tr_const_ints(t, "shape", dims));
}

/* -------------------------------------------------------------------------- results ---- */

/* Takes from what the dump says of a type what is not known of it. */
static uint32_t joined(struct translation *t, uint32_t made, uint32_t said)
{
    const struct type a = t->module->types.at[made], b = t->module->types.at[said];
    bool same = type_kinds_agree(&a, &b);
    for (uint32_t i = 0; same && i < type_n_dims(&a) && b.rank != RANK_UNKNOWN; i++) {
        int64_t x = t->module->dims.at[a.dims + i], y = t->module->dims.at[b.dims + i];
        same = x < 0 || y < 0 || x == y;
    }
    if (!same)
        tr_refuse(t, "the model says another type of its result than follows");
    return same ? merged_type(t->module, made, said) : made;
}

void tr_give(struct translation *t, uint32_t result, uint32_t value)
{
    if (tr_refused(t) || result >= t->n_results)
        return;
    bool other = value < t->first_value;
    for (uint32_t i = 0; i < t->n_results; i++)
        other |= t->results[i].value == value;
    if (other)
        value = tr_make(t, "Identity", value);
    struct translation_result *out = &t->results[result];
    if (tr_refused(t))
        return;
    out->value = value;
    if (out->type != NONE)
        t->graph->values.at[value].type = joined(t, t->graph->values.at[value].type, out->type);
}

void tr_give_all(struct translation *t, uint32_t first)
{
    for (uint32_t i = 0; i < t->n_results && !tr_refused(t); i++)
        tr_give(t, i, first + i);
}

/* ------------------------------------------------------------------- the node's attributes ---- */

static const char *const kinds[TRANSLATION_KINDS] = {
    [OF_INT] = "an integer",
    [OF_FLOAT] = "a number",
    [OF_BOOL] = "0 or 1",
    [OF_TEXT] = "a string",
    [OF_INTS] = "integers",
    [OF_FLOATS] = "numbers",
    [OF_DTYPE] = "a data type of skir",
    [OF_ANY] = "of another kind",
};

static const struct translation_attr *row_attr(const struct translation *t, const char *name)
{
    const struct translation_attr *attr = t->row->attrs;
    for (; strcmp(attr->name ? attr->name : attr->target, name) != 0; attr++)
        assert(!translation_attr_is_end(attr + 1));
    return attr;
}

static const struct attr_value *row_attr_said(const struct translation *t, const char *name)
{
    for (uint32_t i = 0; i < t->attrs.count; i++) {
        const struct attr *attr = &t->module->attrs.at[t->attrs.first + i];
        if (name_is(t->module, attr->key, name))
            return &attr->value;
    }
    return NULL;
}

static bool are(const struct translation *t, const struct attr_value *list, bool floats)
{
    if (list->kind != ATTR_LIST)
        return false;
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t kind = t->module->attr_values.at[list->first + i].kind;
        if (kind != ATTR_INT && !(floats && kind == ATTR_FLOAT))
            return false;
    }
    return true;
}

static bool is_dtype(const struct attr_value *value)
{
    return value->kind == ATTR_WORD && value->id > W_BEFORE_DTYPES && value->id < W_DTYPE_END;
}

static enum dtype dtype_of(const struct attr_value *value)
{
    return (enum dtype)(value->id - W_BEFORE_DTYPES - 1);
}

static bool is_of_kind(const struct translation *t, const struct attr_value *value,
                       enum translation_kind kind)
{
    switch (kind) {
    case OF_INT: return value->kind == ATTR_INT;
    case OF_FLOAT: return value->kind == ATTR_FLOAT || value->kind == ATTR_INT;
    case OF_BOOL:
        return value->kind == ATTR_BOOL ||
               (value->kind == ATTR_INT && (value->i == 0 || value->i == 1));
    case OF_TEXT: return value->kind == ATTR_STRING;
    case OF_INTS: return are(t, value, false);
    case OF_FLOATS: return are(t, value, true);
    case OF_DTYPE: return is_dtype(value);
    default: return true;
    }
}

/* Appends a value as rows write them. */
static void print_value(struct text *text, const struct translation *t,
                        const struct attr_value *value)
{
    switch (value->kind) {
    case ATTR_INT:
    case ATTR_BOOL: text_signed(text, value->i); break;
    case ATTR_FLOAT: text_double(text, value->f); break;
    case ATTR_STRING: text_printf(text, "%.*s", NAME(t->module, value->id)); break;
    case ATTR_LIST:
        text_char(text, '[');
        for (uint32_t i = 0; i < value->count; i++) {
            text_string(text, i ? ", " : "");
            print_value(text, t, &t->module->attr_values.at[value->first + i]);
        }
        text_char(text, ']');
        break;
    default: text_string(text, "something else"); break;
    }
}

static void check_value(struct translation *t, const struct translation_attr *row,
                        const struct attr_value *value)
{
    struct text text = {NULL, 0, 0};
    print_value(&text, t, value);
    bool among = !row->allowed;
    for (const char *at = row->allowed; at && *at && !among;) {
        size_t size = strcspn(at, "|");
        among = size == text.size && memcmp(at, text.at, size) == 0;
        at += size + (at[size] == '|');
    }
    if (!is_of_kind(t, value, row->kind))
        tr_refuse(t, "attribute '%s' is %.*s, not %s", row->name, (int)text.size, text.at,
                  kinds[row->kind]);
    else if (!among)
        tr_refuse(t, "attribute '%s' is %.*s", row->name, (int)text.size, text.at);
    text_free(&text);
}

void tr_check_attrs(struct translation *t)
{
    for (uint32_t i = 0; i < t->attrs.count && !tr_refused(t); i++) {
        const struct attr *attr = &t->module->attrs.at[t->attrs.first + i];
        const struct intern_name *key = &t->module->names.names[attr->key];
        const struct translation_attr *row = t->row->attrs;
        const char *const *implied = t->table->implied;
        if (key->size > 0 && *key->text == '_')
            continue;
        while (!translation_attr_is_end(row) &&
               !(row->name && name_is(t->module, attr->key, row->name)))
            row++;
        while (implied && *implied && !name_is(t->module, attr->key, *implied))
            implied++;
        bool known = !translation_attr_is_end(row);
        if (known && t->dialect == DIALECT_ONNX && attr->value.kind == ATTR_WORD)
            tr_refuse(t, "attribute '%s' is an attribute of its function", row->name);
        else if (known)
            check_value(t, row, &attr->value);
        else if (!implied || !*implied)
            tr_refuse(t, "attribute '%.*s' is not translated", NAME(t->module, attr->key));
    }
}

/* "[1, 2]" */
static struct attr_value read_list(struct translation *t, const char *text, bool floats)
{
    VEC(struct attr_value) numbers = {NULL, 0, 0};
    for (text++; *text && *text != ']';) {
        char *end;
        struct attr_value value = {.kind = floats ? ATTR_FLOAT : ATTR_INT};
        if (floats)
            value.f = strtod(text, &end);
        else
            value.i = strtoll(text, &end, 10);
        vec_push(&numbers, value);
        text = end + strspn(end, ", ");
    }
    struct range range = module_add_values(t->module, numbers.at, numbers.count);
    struct attr_value list = {.kind = ATTR_LIST, .count = range.count};
    list.first = range.count ? range.first : floats ? W_float : W_int;
    vec_free(&numbers);
    return list;
}

static struct attr_value read_fallback(struct translation *t, const struct translation_attr *attr)
{
    const char *text = attr->fallback;
    struct attr_value value = {.kind = ATTR_INT};
    switch (attr->kind) {
    case OF_FLOAT:
        value.kind = ATTR_FLOAT;
        value.f = strtod(text, NULL);
        break;
    case OF_TEXT:
        value.kind = ATTR_STRING;
        value.id = module_name(t->module, text);
        break;
    case OF_INTS:
    case OF_FLOATS: value = read_list(t, text, attr->kind == OF_FLOATS); break;
    case OF_DTYPE:
        value.kind = ATTR_WORD;
        value.id = module_name(t->module, text);
        break;
    default: value.i = strtoll(text, NULL, 10); break;
    }
    return value;
}

static bool row_attr_value(struct translation *t, const struct translation_attr *attr,
                           struct attr_value *value)
{
    const struct attr_value *said = attr->name ? row_attr_said(t, attr->name) : NULL;
    if (said)
        *value = *said;
    else if (attr->fallback)
        *value = read_fallback(t, attr);
    else
        return false;
    if (attr->kind == OF_BOOL)
        value->kind = ATTR_BOOL;
    return true;
}

void tr_map_attrs(struct translation *t)
{
    struct attr_value value;
    for (const struct translation_attr *attr = t->row->attrs; !translation_attr_is_end(attr);
         attr++)
        if (!attr->target || !row_attr_value(t, attr, &value))
            continue;
        else if (attr->kind == OF_DTYPE)
            tr_set_dtype(t, attr->target, dtype_of(&value));
        else
            tr_set(t, attr->target, value);
}

bool tr_has(struct translation *t, const char *name)
{
    return row_attr_said(t, name) != NULL;
}

/* The value of an attribute that the node has or that has a fallback; else the node is refused. */
static struct attr_value value_of(struct translation *t, const char *name)
{
    struct attr_value value = {.kind = ATTR_INT};
    if (!row_attr_value(t, row_attr(t, name), &value))
        tr_refuse(t, "it has no attribute '%s'", name);
    return value;
}

bool tr_value(struct translation *t, const char *name, struct attr_value *value)
{
    return row_attr_value(t, row_attr(t, name), value);
}

enum dtype tr_dtype_of(struct translation *t, const char *name)
{
    struct attr_value value = value_of(t, name);
    return tr_refused(t) ? DTYPE_f32 : dtype_of(&value);
}

int64_t tr_int(struct translation *t, const char *name)
{
    return value_of(t, name).i;
}

double tr_float(struct translation *t, const char *name)
{
    struct attr_value value = value_of(t, name);
    return value.kind == ATTR_FLOAT ? value.f : (double)value.i;
}

bool tr_is(struct translation *t, const char *name, const char *text)
{
    struct attr_value value = value_of(t, name);
    return value.kind == ATTR_STRING && name_is(t->module, value.id, text);
}

struct tr_ints tr_ints(struct translation *t, const char *name)
{
    struct attr_value value = value_of(t, name);
    if (value.kind != ATTR_LIST || value.count == 0)
        return (struct tr_ints){NULL, 0};
    int64_t *ints = tr_array(t, value.count);
    for (uint32_t i = 0; i < value.count; i++)
        ints[i] = t->module->attr_values.at[value.first + i].i;
    return (struct tr_ints){ints, value.count};
}
