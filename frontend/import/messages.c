#include "frontend/import/messages.h"
#include "ir/core/attr.h"
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

bool digits_read(const char *text, size_t size, int64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < size && i < 18; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
        else
            *number = *number * 10 + (text[i] - '0');
    return size > 0 && size <= 18;
}

bool cut_number(const char *text, size_t *size, int64_t *number)
{
    size_t at = *size;
    while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9')
        at--;
    bool minus = at > 0 && text[at - 1] == '-';
    size_t colon = at - minus;
    if (*size - at > 17 || colon == 0 || text[colon - 1] != ':' ||
        !digits_read(text + at, *size - at, number))
        return false;
    *number = minus ? -*number : *number;
    *size = colon - 1;
    return true;
}

/* ------------------------------------------------------------------------- messages ---- */

/* An error where the message must not have the field of row n, or not once more. */
static bool check_row(struct field_walk *walk, unsigned n, const struct proto_field *field)
{
    const struct field_row *rows = walk->message->rows;
    bool again = walk->seen >> n & 1, other = false;
    for (unsigned i = 0; rows[n].sort != FIELD_ONE && i < MOST_FIELDS && rows[i].name; i++)
        other |= (rows[i].sort == FIELD_CHOICE || rows[i].sort == FIELD_EITHER) && i != n &&
                 walk->seen >> i & 1;
    const char *format = "'%.*s' is a second value of %s";
    if (rows[n].sort == FIELD_STRAY)
        format = "'%.*s' is no field of %s: its contents would be lost";
    else if (rows[n].sort != FIELD_EITHER && again)
        format = "'%.*s' appears twice in %s";
    else if (!other)
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

/* Stores or pushes what a field says. Returns whether the reader is to look at it instead. */
static bool take_field(struct field_walk *walk, const struct field_row *row,
                       const struct proto_field *field)
{
    void *at = walk->into ? (char *)walk->into + row->offset : NULL;
    struct fields *fields = walk->fields;
    struct attr_value value = {.kind = ATTR_INT};
    bool read = false, flag = false;
    switch (row->use) {
    case FIELD_UNUSED: break;
    case FIELD_READ: return true;
    case FIELD_ENTER: return field_enter(fields, field);
    case FIELD_NAME: *(uint32_t *)at = field_string(fields, field); break;
    case FIELD_INT: proto_integer(fields->proto, field, at); break;
    case FIELD_PUSH_INT: read = proto_integer(fields->proto, field, &value.i); break;
    case FIELD_PUSH_FLOAT:
        value.kind = ATTR_FLOAT;
        read = proto_float(fields->proto, field, &value.f);
        break;
    case FIELD_PUSH_BOOL:
        read = proto_bool(fields->proto, field, &flag);
        value = (struct attr_value){.kind = ATTR_BOOL, .i = flag};
        break;
    case FIELD_PUSH_STRING:
        value = (struct attr_value){.kind = ATTR_STRING, .id = field_string(fields, field)};
        read = value.id != NONE;
        break;
    }
    if (read)
        vec_push(&fields->values, value);
    return false;
}

bool field_next(struct field_walk *walk, struct proto_field *field)
{
    while (proto_next(walk->fields->proto, field)) {
        const struct field_row *rows = walk->message->rows;
        unsigned n = 0;
        while (n < MOST_FIELDS && rows[n].name &&
               !(rows[n].size == field->name_size && *rows[n].name == *field->name &&
                 memcmp(rows[n].name, field->name, field->name_size) == 0))
            n++;
        if (field->bracketed || n == MOST_FIELDS || !rows[n].name) {
            /* Reported once for all messages of a kind: dumps repeat their messages very often. */
            struct dump *dump = walk->fields->dump;
            const char *shown = walk->message->shown;
            uint32_t key = module_name_printf(dump->module, "%s.%.*s", shown, (int)field->name_size,
                                              field->name);
            walk->unknown = true;
            if (id_map_find(&dump->unused_fields, key) != NONE)
                continue;
            id_map_set(&dump->unused_fields, key, 0);
            dump_drop(dump, field->name_span.begin, "the field '%.*s' of %s", (int)field->name_size,
                      field->name, shown);
            continue;
        }
        const struct field_row *row = &rows[n];
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

bool number_contents(struct fields *fields, uint32_t first, uint32_t type, bool repeats,
                     uint32_t loc, struct attr_value *value)
{
    struct value_stack *values = &fields->values;
    uint32_t count = values->count - first;
    unsigned dtype = type == NONE ? DTYPE_UNKNOWN : fields->dump->module->types.at[type].dtype;
    struct float_format format;
    if (dtype < DTYPE_COUNT && dtype_info((enum dtype)dtype)->class == CLASS_FLOAT &&
        dtype_float_format((enum dtype)dtype, &format))
        for (uint32_t i = first; i < values->count; i++) {
            /* Integers are the bits of floats. */
            struct attr_value *number = &values->at[i];
            uint64_t mask = ~(uint64_t)0 >> (64 - dtype_info((enum dtype)dtype)->bits);
            if (number->kind == ATTR_INT)
                *number = (struct attr_value){
                    .kind = ATTR_FLOAT, .f = float_decode(format, (uint64_t)number->i & mask)};
        }
    values->count = first;
    return dump_contents_numbers(fields->dump, type, count ? values->at + first : NULL, count,
                                 repeats, loc, value);
}

/* ---------------------------------------------------------------------------- calls ---- */

void callees_link(struct dump *dump, const struct id_map *functions)
{
    for (uint32_t g = 0; g < dump->graphs.count && functions->count; g++)
        for (uint32_t i = 0; i < dump->graphs.at[g].nodes.count; i++) {
            struct dump_node *node = &dump->graphs.at[g].nodes.at[i];
            uint32_t callee = id_map_find(functions, node->type);
            if (callee == NONE)
                continue;
            struct attr_value value = {.kind = ATTR_SYMBOL, .id = dump->graphs.at[callee].name};
            node->attrs =
                attrs_with(dump->module, node->attrs, (struct attr){W_f, node->loc, value});
            node->dialect = DIALECT_GE;
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
