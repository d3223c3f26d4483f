#include "frontend/exchange/readers/ge_op.h"
#include "frontend/exchange/dump/contents.h"
#include "frontend/exchange/readers/fields.h"
#include "ir/calls.h"
#include "ir/contents.h"
#include "ir/op_types.h"

#include <stdio.h>

/* ------------------------------------------------------------------------- attributes ---- */

/* What an attribute is to the reader, whatever else it is. */
enum special {
    SPECIAL_INDEX,
    SPECIAL_PARENT_INDEX,
    SPECIAL_EVENT,
    SPECIAL_NAMES,
    SPECIAL_PLACES,
    SPECIAL_PATH,
    SPECIAL_OFFSET,
    SPECIAL_LENGTH,
    SPECIAL_NONE,
};

static const struct {
    const char *key;
    enum special special;
} specials[] = {
    {"index", SPECIAL_INDEX},
    {"_parent_node_index", SPECIAL_PARENT_INDEX},
    {"event_id", SPECIAL_EVENT},
    {"notify_id", SPECIAL_EVENT},
    {"_input_name_key", SPECIAL_NAMES},
    {"_input_name_idx_key", SPECIAL_NAMES},
    {"_input_name_value", SPECIAL_PLACES},
    {"_input_name_idx_value", SPECIAL_PLACES},
    {"file_path", SPECIAL_PATH},
    {"location", SPECIAL_PATH},
    {"offset", SPECIAL_OFFSET},
    {"length", SPECIAL_LENGTH},
};

static enum special find_special(struct ge_reader *reader, uint32_t key)
{
    uint32_t *place = id_map_at(&reader->keys, key);
    if (*place != NONE)
        return (enum special) * place;
    *place = SPECIAL_NONE;
    for (unsigned i = 0; i < sizeof specials / sizeof specials[0]; i++)
        if (name_is(reader->dump->module, key, specials[i].key))
            *place = specials[i].special;
    return (enum special) * place;
}

static bool wants(struct ge_values *values, uint32_t key)
{
    struct ge_reader *reader = values->reader;
    return find_special(reader, key) != SPECIAL_NONE ||
           dump_wants(reader->dump, &reader->op->draft, key);
}

/* Takes in what the attribute says to the reader. Without a value it is the number 0, which
 * writers leave out. */
static void take_special(struct ge_reader *reader, struct ge_op *op, const struct attr *attr,
                         enum ge_value result)
{
    const struct attr_value *value = &attr->value;
    struct dump_node *node = &op->draft.node;
    int64_t number = result == GE_VALUE ? value->i : 0;
    bool is_number = result == GE_NO_VALUE || value->kind == ATTR_INT;
    bool is_list = result == GE_VALUE && value->kind == ATTR_LIST;
    switch (find_special(reader, attr->key)) {
    case SPECIAL_INDEX:
        if (is_number && number >= 0)
            node->index = number;
        break;
    case SPECIAL_PARENT_INDEX: op->operand = is_number ? number : -1; break;
    case SPECIAL_EVENT: op->event = is_number ? number : -1; break;
    case SPECIAL_NAMES:
        if (is_list)
            op->names = *value;
        break;
    case SPECIAL_PLACES:
        if (is_list)
            op->places = *value;
        break;
    case SPECIAL_PATH:
        if (result == GE_VALUE && value->kind == ATTR_STRING)
            op->path = value->id;
        break;
    case SPECIAL_OFFSET: op->offset = is_number ? number : 0; break;
    case SPECIAL_LENGTH: op->length = is_number ? number : 0; break;
    case SPECIAL_NONE: break;
    }
}

static void take_attr(struct ge_reader *reader, struct ge_op *op, const struct attr *taken,
                      enum ge_value result)
{
    struct dump *dump = reader->dump;
    struct attr attr = *taken;
    if (attr.key == NONE || reader->values.proto->failed)
        return;
    take_special(reader, op, &attr, result);
    if (result == GE_LOST)
        dump_drop(dump, attr.loc, "the attribute '%.*s', whose value has no form in skir",
                  NAME(dump->module, attr.key));
    if (result == GE_VALUE)
        dump_add_attr(&op->draft, attr);
}

static void read_attr(struct ge_reader *reader, struct ge_op *op)
{
    struct attr attr;
    reader->values.constant = op->constant;
    enum ge_value result = ge_read_attr(&reader->values, wants, &attr);
    take_attr(reader, op, &attr, result);
}

void ge_op_value(struct ge_reader *reader, struct ge_op *op, uint32_t key)
{
    struct attr attr = {key, reader->values.loc, {.kind = ATTR_INT}};
    if (!wants(&reader->values, key))
        return;
    reader->values.constant = dump_is_constant(reader->dump, op->draft.node.type);
    enum ge_value result = ge_read_value(&reader->values, &attr.value);
    take_attr(reader, op, &attr, result);
}

/* ----------------------------------------------------------------------------- inputs ---- */

/* The number behind the last colon of a name; false where there is none. */
static bool split_name(const char *bytes, size_t *size, int64_t *number)
{
    size_t at = *size;
    uint64_t value = 0, unit = 1;
    while (at > 0 && bytes[at - 1] >= '0' && bytes[at - 1] <= '9' && *size - at < 18) {
        value += unit * (uint64_t)(bytes[--at] - '0');
        unit *= 10;
    }
    bool minus = at > 0 && bytes[at - 1] == '-';
    size_t colon = at - minus;
    if (at == *size || colon == 0 || bytes[colon - 1] != ':')
        return false;
    *size = colon - 1;
    *number = minus ? -(int64_t)value : (int64_t)value;
    return true;
}

bool ge_read_input(struct ge_reader *reader, const struct proto_field *field,
                   struct dump_input *input)
{
    const char *bytes;
    size_t size;
    int64_t number = 0;
    if (!proto_string(&reader->proto, field, &bytes, &size))
        return false;
    *input = (struct dump_input){NONE, 0, NONE, field->span.begin, DUMP_ABSENT, false};
    if (size == 0)
        return true;
    source_add_token(reader->dump->source, field->span);
    bool control = *bytes == '^';
    split_name(bytes, &size, &number);
    if (number < -1 || number >= INT32_MAX) {
        diag_at(reader->dump->diags, DIAG_foreign_form, field->span,
                "an input is NODE:NUMBER, or NODE:-1 where it is only waited for");
        return false;
    }
    input->name = intern_copy(&reader->dump->module->names, bytes + control, size - control);
    input->kind = control || number == -1 ? DUMP_CONTROL : DUMP_DATA;
    input->output = input->kind == DUMP_DATA ? (uint32_t)number : 0;
    return true;
}

void ge_op_slot(struct ge_reader *reader, struct ge_op *op)
{
    struct ge_desc desc;
    if (reader->dump->options->dangling_params)
        ge_read_desc(&reader->values, &desc);
    else
        ge_skim_desc(&reader->values, &desc);
    vec_push(&op->slots, (struct ge_slot){desc.name, desc.dtype != DTYPE_UNKNOWN, desc.type});
}

/* Fewer inputs than descriptions: those without a dtype are not there. Inputs that are only waited
 * for, which have none, come last. */
static void place_inputs(struct ge_op *op)
{
    struct dump_input *inputs = op->draft.inputs.at;
    uint32_t n_inputs = op->draft.inputs.count, given = 0, next = 0;
    for (uint32_t i = 0; i < n_inputs; i++)
        given += inputs[i].kind != DUMP_CONTROL;
    uint32_t absent = op->slots.count > given ? op->slots.count - given : 0;
    op->placed.count = 0;
    for (uint32_t i = 0; given > 0; i++) {
        if (absent > 0 && !op->slots.at[i].typed) {
            vec_push(&op->placed,
                     (struct dump_input){NONE, 0, NONE, op->draft.node.loc, DUMP_ABSENT, false});
            absent--;
            continue;
        }
        while (inputs[next].kind == DUMP_CONTROL)
            next++;
        vec_push(&op->placed, inputs[next++]);
        given--;
    }
    for (uint32_t i = 0; i < n_inputs; i++)
        if (inputs[i].kind == DUMP_CONTROL)
            vec_push(&op->placed, inputs[i]);
}

/* Gives the inputs the names that the op has for them. */
static void name_inputs(const struct dump *dump, struct ge_op *op, uint32_t count)
{
    const struct attr_value *values = dump->module->attr_values.at;
    for (uint32_t i = 0; i < count && i < op->slots.count; i++)
        op->placed.at[i].label = op->slots.at[i].name;
    for (uint32_t i = 0; i < op->names.count; i++) {
        const struct attr_value *name = &values[op->names.first + i];
        int64_t place = i;
        if (i < op->places.count)
            place = values[op->places.first + i].i;
        if (name->kind == ATTR_STRING && place >= 0 && place < count)
            op->placed.at[place].label = name->id;
    }
}

/* Whether a name is `stem` and the number. */
static bool is_numbered(const struct dump *dump, uint32_t name, const char *stem,
                        uint32_t stem_size, uint32_t number)
{
    char digits[16];
    int size = snprintf(digits, sizeof digits, "%u", number);
    if (name == NONE)
        return false;
    const struct intern_name *n = &dump->module->names.names[name];
    return n->size == stem_size + (uint32_t)size && memcmp(n->text, stem, stem_size) == 0 &&
           memcmp(n->text + stem_size, digits, (size_t)size) == 0;
}

/* How many inputs, from this one on, are called x0, x1, x2 ...: a list by the name x. */
static uint32_t list_length(const struct dump *dump, const struct dump_input *inputs,
                            uint32_t count)
{
    const struct intern_name *first = &dump->module->names.names[inputs->label];
    uint32_t length = 0;
    if (first->size < 2 || first->text[first->size - 1] != '0')
        return 0;
    while (length < count &&
           is_numbered(dump, inputs[length].label, first->text, first->size - 1, length))
        length++;
    return length;
}

/* How many inputs at least are a list if they are called like one: where the op's type has data,
 * this knows its lists. `name` is that of the first. */
static uint32_t least_length(const struct dump *dump, const struct op_type *type, uint32_t name)
{
    const struct intern_name *n = &dump->module->names.names[name];
    if (!type)
        return 2;
    for (uint32_t i = 0; i < type->n_operands; i++) {
        const struct op_slot *slot = &type->slots[i];
        if (slot->presence == OP_LISTED && strlen(slot->name) + 1 == n->size &&
            memcmp(slot->name, n->text, n->size - 1) == 0)
            return 1;
    }
    return UINT32_MAX;
}

/* Finds lists among the first `count` inputs; others are known by their places. */
static void list_inputs(struct dump *dump, const struct op_type *type, struct dump_input *inputs,
                        uint32_t count)
{
    for (uint32_t i = 0, length; i < count; i += length) {
        length = inputs[i].label == NONE ? 0 : list_length(dump, inputs + i, count - i);
        if (length == 0 || length < least_length(dump, type, inputs[i].label)) {
            inputs[i].label = NONE;
            length = 1;
            continue;
        }
        struct intern_name first = dump->module->names.names[inputs[i].label];
        uint32_t stem = intern_copy(&dump->module->names, first.text, first.size - 1);
        for (uint32_t k = 0; k < length; k++) {
            inputs[i + k].label = stem;
            inputs[i + k].listed = true;
        }
    }
}

static void settle_inputs(struct dump *dump, struct ge_op *op)
{
    uint32_t data = 0;
    place_inputs(op);
    while (data < op->placed.count && op->placed.at[data].kind != DUMP_CONTROL)
        data++;
    name_inputs(dump, op, data);
    list_inputs(dump, op_type_find(dump->module, op->draft.node.type), op->placed.at, data);
    op->draft.inputs.count = 0;
    for (uint32_t i = 0; i < op->placed.count; i++)
        dump_add_input(&op->draft, op->placed.at[i]);
    for (uint32_t i = 0; i < data && i < op->slots.count; i++)
        if (op->slots.at[i].type != NONE)
            vec_push(&op->draft.hints, (struct dump_hint){i, op->slots.at[i].type});
}

/* ---------------------------------------------------------------------------- outputs ---- */

bool ge_is_return(const struct dump *dump, uint32_t type)
{
    return type != NONE && name_is(dump->module, type, "NetOutput");
}

static uint32_t role_of(const struct dump *dump, uint32_t type)
{
    static const char *const params[] = {"Data", "RefData", "AippData", "AnnData"};
    for (unsigned i = 0; i < sizeof params / sizeof params[0]; i++)
        if (name_is(dump->module, type, params[i]))
            return DUMP_PARAM;
    return ge_is_return(dump, type) ? DUMP_RETURN : DUMP_OP;
}

void ge_op_output(struct ge_reader *reader, struct ge_op *op)
{
    struct ge_desc desc;
    ge_read_desc(&reader->values, &desc);
    dump_add_output(&op->draft, NONE, desc.type);
}

/* ----------------------------------------------------------------------------- graphs ---- */

static struct attr_value symbol(uint32_t name)
{
    return (struct attr_value){.kind = ATTR_SYMBOL, .id = name};
}

/* An attribute that has the graphs from the `first` on as a list. */
static void add_graphs(struct dump *dump, struct ge_op *op, uint32_t key, uint32_t first)
{
    uint32_t at = dump->module->attr_values.count, count = 0;
    for (uint32_t i = first; i < op->graphs.count; i++) {
        struct attr_value value = symbol(op->graphs.at[i]);
        if (op->graphs.at[i] != NONE)
            count += module_add_values(dump->module, &value, 1).count;
    }
    struct attr attr = {key, op->draft.node.loc, {.kind = ATTR_LIST, .count = count}};
    attr.value.first = at;
    if (count)
        dump_add_attr(&op->draft, attr);
}

/* An attribute for a graph in place of what the op has there. */
static void set_graph(struct ge_op *op, uint32_t key, uint32_t graph)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < op->draft.attrs.count; i++)
        if (op->draft.attrs.at[i].key != key)
            op->draft.attrs.at[kept++] = op->draft.attrs.at[i];
    op->draft.attrs.count = kept;
    dump_add_attr(&op->draft, (struct attr){key, op->draft.node.loc, symbol(graph)});
}

/* A function by its name, `func { name: "f" }`, is a graph where the op's type calls one. */
static void name_functions(struct dump *dump, struct ge_op *op, enum call_kind kind)
{
    uint32_t name = module_name(dump->module, "name");
    for (uint32_t i = 0; i < n_call_attrs; i++)
        for (uint32_t k = 0; k < op->draft.attrs.count && call_attrs[i].kind == kind; k++) {
            struct attr *attr = &op->draft.attrs.at[k];
            if (attr->key != call_attrs[i].key || attr->value.kind != ATTR_DICT)
                continue;
            struct range keys = {attr->value.first, attr->value.count};
            uint32_t graph = attr_string(dump->module, keys, name);
            if (graph != NONE)
                attr->value = symbol(graph);
        }
}

/* The graphs as the op's type calls them, in this order. */
static void settle_graphs(struct dump *dump, struct ge_op *op)
{
    struct op type = {.type = op->draft.node.type};
    enum call_kind kind = op_call_kind(&type);
    uint32_t taken = 0;
    if (kind != CALL_NONE)
        name_functions(dump, op, kind);
    for (uint32_t i = 0; i < n_call_attrs && taken < op->graphs.count; i++) {
        const struct call_attr *row = &call_attrs[i];
        if (kind == CALL_NONE || row->kind != kind)
            continue;
        if (row->list) {
            add_graphs(dump, op, row->key, taken);
            return;
        }
        uint32_t graph = op->graphs.at[taken++];
        if (graph != NONE)
            set_graph(op, row->key, graph);
    }
    if (taken < op->graphs.count)
        add_graphs(dump, op, module_name(dump->module, "_subgraphs"), taken);
}

/* ------------------------------------------------------------------------------- ops ---- */

/* Op types that tell of events, and which of the two they do. */
static const struct {
    const char *type;
    bool sends;
} event_types[] = {
    {"Send", true},  {"SendMem", true},  {"SendNotify", true},
    {"Recv", false}, {"RecvMem", false}, {"RecvNotify", false},
};

static void settle_event(struct dump *dump, struct ge_op *op)
{
    struct dump_node *node = &op->draft.node;
    if (op->event < 0)
        return;
    for (unsigned i = 0; i < sizeof event_types / sizeof event_types[0]; i++) {
        if (!name_is(dump->module, node->type, event_types[i].type))
            continue;
        uint32_t event = module_name_printf(dump->module, "%lld", (long long)op->event);
        *(event_types[i].sends ? &node->send_event : &node->recv_event) = event;
    }
}

/* The contents of a FileConstant. */
static void settle_file(struct dump *dump, struct ge_op *op)
{
    struct attr attr = {W_value, op->draft.node.loc, {.kind = ATTR_DICT}};
    if (op->path == NONE || !name_is(dump->module, op->draft.node.type, "FileConstant"))
        return;
    struct intern_name path = dump->module->names.names[op->path];
    uint64_t bytes = op->length > 0 ? (uint64_t)op->length : NO_BYTES;
    if (path.size && dump_contents_file(dump, path.text, path.size, (uint64_t)op->offset, bytes,
                                        attr.loc, &attr.value))
        dump_add_attr(&op->draft, attr);
}

static void settle(struct ge_reader *reader, struct ge_op *op, struct span span)
{
    struct dump *dump = reader->dump;
    struct dump_node *node = &op->draft.node;
    if (node->type == NONE) {
        diag_at(dump->diags, DIAG_foreign_form, span, "this op has no type");
        node->type = module_name(dump->module, "");
    }
    node->role = role_of(dump, node->type);
    if (node->role == DUMP_RETURN)
        op->draft.outputs.count = 0;
    if (op->stream > 0)
        node->stream = module_name_printf(dump->module, "%lld", (long long)op->stream);
    settle_inputs(dump, op);
    settle_graphs(dump, op);
    settle_event(dump, op);
    settle_file(dump, op);
}

static void begin(struct ge_op *op, uint32_t loc)
{
    static const struct attr_value none = {.kind = ATTR_LIST};
    dump_begin(&op->draft, loc);
    op->slots.count = op->graphs.count = 0;
    op->stream = op->offset = op->length = 0;
    op->event = op->operand = -1;
    op->constant = false;
    op->names = op->places = none;
    op->path = NONE;
}

static uint32_t read_name(struct ge_reader *reader, const struct proto_field *field)
{
    const char *bytes;
    size_t size;
    if (!proto_string(&reader->proto, field, &bytes, &size) || size == 0)
        return NONE;
    return intern_copy(&reader->dump->module->names, bytes, size);
}

void ge_op_text(struct ge_reader *reader, struct ge_op *op, const struct proto_field *field)
{
    struct dump_node *node = &op->draft.node;
    struct dump_input input;
    if (proto_is(field, "name")) {
        node->name = read_name(reader, field);
        node->loc = reader->values.loc = field->span.begin;
        source_add_token(reader->dump->source, field->span);
    } else if (proto_is(field, "type")) {
        node->type = read_name(reader, field);
        op->constant = dump_is_constant(reader->dump, node->type);
    } else if (proto_is(field, "input")) {
        if (ge_read_input(reader, field, &input))
            dump_add_input(&op->draft, input);
    } else if (proto_is(field, "subgraph_name")) {
        vec_push(&op->graphs, read_name(reader, field));
    }
}

static void read_message(struct ge_reader *reader, struct ge_op *op,
                         const struct proto_field *field)
{
    if (proto_is(field, "attr")) {
        proto_enter(&reader->proto);
        read_attr(reader, op);
    } else if (proto_is(field, "input_desc")) {
        proto_enter(&reader->proto);
        ge_op_slot(reader, op);
    } else if (proto_is(field, "output_desc")) {
        proto_enter(&reader->proto);
        ge_op_output(reader, op);
    }
}

void ge_op_begin(struct ge_reader *reader, struct ge_op *op, uint32_t loc)
{
    reader->op = op;
    reader->values.loc = loc;
    begin(op, loc);
}

void ge_op_end(struct ge_reader *reader, struct ge_op *op, uint32_t graph, struct span span)
{
    uint32_t node = reader->dump->graphs.at[graph].nodes.count;
    settle(reader, op, span);
    dump_add_node(reader->dump, graph, &op->draft);
    if (op->draft.node.role == DUMP_PARAM && op->operand >= 0)
        vec_push(&reader->given, (struct ge_given){graph, node, op->operand});
}

void ge_read_op(struct ge_reader *reader, struct ge_op *op, uint32_t graph, struct span span)
{
    struct ge_op *outer = reader->op;
    uint32_t outer_loc = reader->values.loc;
    struct proto_field field;
    struct field_walk walk = {reader->dump, &reader->proto, MESSAGE_GE_OP, 0, false};
    ge_op_begin(reader, op, span.begin);
    while (field_next(&walk, &field)) {
        if (field.kind == PROTO_MESSAGE)
            read_message(reader, op, &field);
        else if (proto_is(&field, "stream_id"))
            proto_integer(&reader->proto, &field, &op->stream);
        else
            ge_op_text(reader, op, &field);
    }
    if (!reader->proto.failed)
        ge_op_end(reader, op, graph, span);
    reader->op = outer;
    reader->values.loc = outer_loc;
}

void ge_op_free(struct ge_op *op)
{
    dump_draft_free(&op->draft);
    vec_free(&op->slots);
    vec_free(&op->placed);
    vec_free(&op->graphs);
}
