#include "frontend/import/messages.h"
#include "ir/analysis/contents.h"

/* ---------------------------------------------------------------------------- lists ---- */

struct attr_value list_value(struct module *module, const struct attr_value *values, uint32_t count)
{
    struct attr_value list = {.kind = ATTR_LIST, .count = count};
    if (count)
        list.first = module_add_values(module, values, count).first;
    return list;
}

struct attr_value take_list(struct value_stack *values, struct module *module, uint32_t first,
                            uint32_t kind)
{
    uint32_t count = values->count - first;
    struct attr_value list = list_value(module, count ? values->at + first : NULL, count);
    list.first = count ? list.first : kind;
    values->count = first;
    return list;
}

bool cut_number(const char *text, size_t *size, int64_t *number)
{
    size_t at = *size;
    while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9')
        at--;
    bool minus = at > 0 && text[at - 1] == '-';
    size_t colon = at - minus;
    if (at == *size || *size - at > 17 || colon == 0 || text[colon - 1] != ':')
        return false;
    *number = 0;
    for (size_t i = at; i < *size; i++)
        *number = *number * 10 + (text[i] - '0');
    *number = minus ? -*number : *number;
    *size = colon - 1;
    return true;
}

/* ------------------------------------------------------------------------- messages ---- */

/* The number of the field's row, or MOST_FIELDS. */
static unsigned find_row(const struct message *message, const struct proto_field *field)
{
    const struct field_row *rows = message->rows;
    for (unsigned i = 0; i < MOST_FIELDS && rows[i].name && !field->bracketed; i++)
        if (rows[i].size == field->name_size && *rows[i].name == *field->name &&
            memcmp(rows[i].name, field->name, field->name_size) == 0)
            return i;
    return MOST_FIELDS;
}

/* Once for all messages of a kind: dumps repeat their messages very often. */
static void report_unknown(struct dump *dump, const struct message *message,
                           const struct proto_field *field)
{
    uint32_t key = module_name_printf(dump->module, "%s.%.*s", message->shown,
                                      (int)field->name_size, field->name);
    if (id_map_find(&dump->unused_fields, key) != NONE)
        return;
    id_map_set(&dump->unused_fields, key, 0);
    dump_drop(dump, field->name_span.begin, "the field '%.*s' of %s", (int)field->name_size,
              field->name, message->shown);
}

/* An error where the message must not have the field of row n, or not once more. */
static bool check_row(struct field_walk *walk, unsigned n, const struct proto_field *field)
{
    const struct field_row *rows = walk->message->rows;
    uint64_t bit = (uint64_t)1 << n, others = 0, seen = walk->seen;
    const char *format = "'%.*s' is a second value of %s";
    for (unsigned i = 0; i < MOST_FIELDS && rows[i].name; i++)
        others |=
            (uint64_t)((rows[i].sort == FIELD_CHOICE || rows[i].sort == FIELD_EITHER) && i != n)
            << i;
    if (rows[n].sort == FIELD_STRAY)
        format = "'%.*s' is no field of %s: its contents would be lost";
    else if (rows[n].sort != FIELD_EITHER && seen & bit)
        format = "'%.*s' appears twice in %s";
    else if (rows[n].sort == FIELD_ONE || !(seen & others))
        return true;
    proto_fail(walk->fields->proto, field->name_span, format, (int)field->name_size, field->name,
               walk->message->shown);
    return false;
}

bool field_enter(struct fields *fields, const struct proto_field *field)
{
    if (field->kind == PROTO_MESSAGE)
        proto_enter(fields->proto);
    else
        proto_fail(fields->proto, field->span, "'%.*s' is a message, in braces",
                   (int)field->name_size, field->name);
    return !fields->proto->failed;
}

/* Pushes what a field says. */
static void push_value(struct fields *fields, const struct proto_field *field, unsigned use)
{
    struct attr_value value = {.kind = ATTR_INT};
    bool read, flag = false;
    if (use == FIELD_PUSH_INT) {
        read = proto_integer(fields->proto, field, &value.i);
    } else if (use == FIELD_PUSH_FLOAT) {
        value.kind = ATTR_FLOAT;
        read = proto_float(fields->proto, field, &value.f);
    } else if (use == FIELD_PUSH_BOOL) {
        read = proto_bool(fields->proto, field, &flag);
        value = (struct attr_value){.kind = ATTR_BOOL, .i = flag};
    } else {
        value = (struct attr_value){.kind = ATTR_STRING, .id = field_string(fields, field)};
        read = value.id != NONE;
    }
    if (read)
        vec_push(&fields->values, value);
}

/* Whether the reader is to look at the field. */
static bool take_field(struct field_walk *walk, const struct field_row *row,
                       const struct proto_field *field)
{
    void *at = walk->into ? (char *)walk->into + row->offset : NULL;
    struct fields *fields = walk->fields;
    switch (row->use) {
    case FIELD_UNUSED: break;
    case FIELD_READ: return true;
    case FIELD_ENTER: return field_enter(fields, field);
    case FIELD_KEPT: *(struct proto_field *)at = *field; break;
    case FIELD_NAME: *(uint32_t *)at = field_string(fields, field); break;
    case FIELD_TOKEN: *(uint32_t *)at = field_token(fields, field); break;
    case FIELD_INT: proto_integer(fields->proto, field, at); break;
    default: push_value(fields, field, row->use); break;
    }
    return false;
}

bool field_next(struct field_walk *walk, struct proto_field *field)
{
    while (proto_next(walk->fields->proto, field)) {
        unsigned n = find_row(walk->message, field);
        if (n == MOST_FIELDS) {
            walk->unknown = true;
            report_unknown(walk->fields->dump, walk->message, field);
            continue;
        }
        const struct field_row *row = &walk->message->rows[n];
        if (row->sort != FIELD_MANY && !check_row(walk, n, field))
            continue;
        walk->seen |= (uint64_t)1 << n;
        if ((row->graphs || !walk->fields->only_graphs) && take_field(walk, row, field))
            return true;
    }
    return false;
}

void fields_read(struct fields *fields, const struct message *message, void *into)
{
    struct proto_field field;
    struct field_walk walk = {fields, message, into, 0, false};
    while (field_next(&walk, &field))
        ;
}

uint32_t field_string(struct fields *fields, const struct proto_field *field)
{
    const char *bytes;
    size_t size;
    return proto_string(fields->proto, field, &bytes, &size) ? dump_name(fields->dump, bytes, size)
                                                             : NONE;
}

uint32_t field_token(struct fields *fields, const struct proto_field *field)
{
    uint32_t name = field_string(fields, field);
    if (name != NONE)
        source_add_token(fields->dump->source, field->span);
    return name;
}

bool field_is_one(const struct proto_field *field, const char *const *names)
{
    while (*names && !proto_is(field, *names))
        names++;
    return *names;
}

/* --------------------------------------------------------------------------- values ---- */

unsigned field_dtype(struct fields *fields, const struct proto_field *field,
                     enum dump_numbers numbers, uint32_t loc)
{
    int64_t number;
    if (field->kind == PROTO_WORD)
        return dump_dtype_named(fields->dump, field->text, field->size, loc);
    return proto_integer(fields->proto, field, &number)
               ? dump_dtype_numbered(fields->dump, numbers, number, loc)
               : DTYPE_UNKNOWN;
}

bool field_contents(struct fields *fields, uint32_t type, const struct proto_field *field,
                    uint32_t loc, struct attr_value *value)
{
    struct dump_bytes bytes = {.literal = NONE, .plain = field->plain};
    if (!fields->proto->inner)
        bytes.literal = field->span.begin;
    return proto_string(fields->proto, field, &bytes.bytes, &bytes.size) &&
           dump_contents_bytes(fields->dump, type, &bytes, loc, value);
}

/* Makes integers from `first` on the floats that they are the bits of, where the dtype is one. */
static void decode_floats(struct value_stack *values, uint32_t first, unsigned dtype)
{
    struct float_format format;
    if (dtype >= DTYPE_COUNT || dtype_info((enum dtype)dtype)->class != CLASS_FLOAT ||
        !dtype_float_format((enum dtype)dtype, &format))
        return;
    uint64_t mask = ~(uint64_t)0 >> (64 - dtype_info((enum dtype)dtype)->bits);
    for (uint32_t i = first; i < values->count; i++) {
        struct attr_value *number = &values->at[i];
        uint64_t bits = (uint64_t)number->i & mask;
        if (number->kind == ATTR_INT)
            *number = (struct attr_value){.kind = ATTR_FLOAT, .f = float_decode(format, bits)};
    }
}

bool number_contents(struct fields *fields, uint32_t first, uint32_t type, bool repeats,
                     uint32_t loc, struct attr_value *value)
{
    struct value_stack *values = &fields->values;
    uint32_t count = values->count - first;
    if (type != NONE)
        decode_floats(values, first, fields->dump->module->types.at[type].dtype);
    values->count = first;
    return dump_contents_numbers(fields->dump, type, count ? values->at + first : NULL, count,
                                 repeats, loc, value);
}

/* ---------------------------------------------------------------------------- calls ---- */

static void add_callee(struct dump *dump, struct dump_node *node, uint32_t graph)
{
    struct attr_value value = {.kind = ATTR_SYMBOL, .id = dump->graphs.at[graph].name};
    VEC(struct attr) attrs = {NULL, 0, 0};
    for (uint32_t i = 0; i < node->attrs.count; i++)
        vec_push(&attrs, dump->module->attrs.at[node->attrs.first + i]);
    vec_push(&attrs, (struct attr){W_f, node->loc, value});
    node->attrs = module_add_attrs(dump->module, attrs.at, attrs.count);
    node->dialect = DIALECT_GE;
    vec_free(&attrs);
}

void callees_link(struct dump *dump, const struct id_map *functions)
{
    for (uint32_t g = 0; g < dump->graphs.count && functions->count; g++)
        for (uint32_t i = 0; i < dump->graphs.at[g].nodes.count; i++) {
            struct dump_node *node = &dump->graphs.at[g].nodes.at[i];
            uint32_t callee = id_map_find(functions, node->type);
            if (callee != NONE)
                add_callee(dump, node, callee);
        }
}

static void check_symbol(struct dump *dump, uint32_t loc, struct attr_value *value)
{
    if (value->kind != ATTR_SYMBOL || id_map_find(&dump->graph_names, value->id) != NONE)
        return;
    value->kind = ATTR_STRING;
    dump_drop(dump, loc, "the graph '%.*s', which the dump does not have",
              NAME(dump->module, value->id));
}

void callees_check(struct dump *dump)
{
    for (uint32_t g = 0; g < dump->graphs.count; g++)
        for (uint32_t n = 0; n < dump->graphs.at[g].nodes.count; n++) {
            const struct dump_node *node = &dump->graphs.at[g].nodes.at[n];
            for (uint32_t i = 0; i < node->attrs.count; i++) {
                struct attr_value *value = &dump->module->attrs.at[node->attrs.first + i].value;
                check_symbol(dump, node->loc, value);
                for (uint32_t k = 0; value->kind == ATTR_LIST && k < value->count; k++)
                    check_symbol(dump, node->loc, &dump->module->attr_values.at[value->first + k]);
            }
        }
}

bool graph_returns(const struct dump_graph *graph)
{
    for (uint32_t i = graph->nodes.count; i-- > 0;)
        if (graph->nodes.at[i].role == DUMP_RETURN)
            return true;
    return graph->returns.count > 0;
}
