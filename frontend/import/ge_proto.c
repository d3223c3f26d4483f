/* Graphs of GE as protobuf text (ge_ir.proto). GE's own dumps are models, ge_proto_*.txt; those of
 * TorchAir a single graph without the model around it, dynamo_*.txt, or its ops dressed as nodes of
 * a TensorFlow GraphDef, dynamo_*.pbtxt, so that TensorFlow's tools draw them.
 *
 * In the last form the value of an attribute is a string with the text of an AttrDef, as Python
 * shows bytes; descriptions of tensors are attributes, too, under "[i]NAME" and "[o]NAME".
 * There is one graph, without a name and attributes: what GE says of its gears is at the node
 * that returns. */
#define _GNU_SOURCE /* memmem */
#include "frontend/import/dump/links.h"
#include "frontend/exchange.h"
#include "frontend/import/messages.h"
#include "ir/core/calls.h"
#include "ir/analysis/contents.h"
#include "ir/optypes/op_types.h"

#include <stdio.h>

/* An input as the op describes it. */
struct slot {
    uint32_t name; /* NONE */
    uint32_t type; /* NONE: it was not read */
    bool typed;    /* it has a dtype: something is there */
};

/* An op that is being read, used again for the next one. */
struct op_reader {
    struct dump_draft draft;
    uint32_t graph;
    VEC(struct slot) slots;
    VEC(struct dump_input) placed;
    struct vec_u32 graphs; /* names of the graphs that it calls, NONE for one that is not there */
    bool constant;         /* its type is that of constants */
    int64_t stream;
    /* What attributes say (the table `specials`). */
    int64_t index, event, offset, length; /* index, event: -1 where they are not said */
    int64_t operand;                      /* of the caller, that a parameter is; -1 */
    struct attr_value names, places;      /* lists: names of inputs, and which those are */
    uint32_t path;                        /* of a FileConstant: name id, NONE */
};

/* A parameter of a graph that is called, which says which operand of the caller it is. */
struct given_param {
    uint32_t graph, node;
    int64_t operand;
};

struct reader {
    struct fields fields; /* its cursor is `text`, or one within a string of this */
    struct proto_text text;
    uint32_t graph;         /* index of the graph whose dimensions and values are meant; NONE */
    uint32_t loc;           /* where remarks are said: that of the op */
    struct span key;        /* of the attribute read last */
    struct op_reader *op;   /* the one that is being read; NULL */
    bool constant;          /* a tensor that comes is the contents of a constant */
    bool lost;              /* a part of the value at hand has no form */
    VEC(struct attr) attrs; /* of dicts that are not closed */
    struct id_map keys;     /* by name: the number of its row of `specials`, or their count */
    VEC(struct given_param) given;
};

static uint32_t read_graph(struct reader *reader, uint32_t loc, uint32_t parent);

/* ------------------------------------------------------------------- shapes in _meta ---- */

/* After the next `text` in [at, end), or NULL. */
static const char *find_after(const char *at, const char *end, const char *text)
{
    const char *found = memmem(at, (size_t)(end - at), text, strlen(text));
    return found ? found + strlen(text) : NULL;
}

/* The elements of a list, after its bracket: numbers, names of dimensions, and expressions, which
 * are not known and may have brackets, too. RANK_UNKNOWN: it does not end. */
static void read_dims(struct dump *dump, uint32_t graph, const char *at, const char *end,
                      struct dump_shape *shape)
{
    shape->rank = 0;
    for (;; at++) {
        int64_t dim;
        while (at < end && *at == ' ')
            at++;
        const char *begin = at;
        for (uint32_t depth = 0; at < end && (depth > 0 || (*at != ',' && *at != ']')); at++)
            if (*at == '(' || *at == '[')
                depth++;
            else if (depth > 0 && (*at == ')' || *at == ']'))
                depth--;
        if (at == end) {
            shape->rank = RANK_UNKNOWN;
            return;
        }
        size_t size = (size_t)(at - begin);
        if (size > 0 && digits_read(begin, size, &dim))
            dump_shape_add(shape, dim);
        else if (size > 0)
            dump_shape_add(shape, graph == NONE ? DIM_UNKNOWN : dump_dim(dump, begin, size));
        if (*at == ']')
            return;
    }
}

/* The shape of a text that PyTorch writes of a tensor; RANK_UNKNOWN if it has none. Names become
 * dimensions of the graph, if that is not NONE. */
static void read_meta_shape(struct dump *dump, uint32_t graph, const char *text, size_t size,
                            struct dump_shape *shape)
{
    const char *end = text + size, *dims = find_after(text, end, "shape=torch.Size([");
    const char *list = find_after(text, end, "'list'>([");
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
    } else if (find_after(text, end, "torch.Sym")) {
        shape->rank = 0;
    }
}

/* ---------------------------------------------------------------------- descriptions ---- */

/* A TensorDescriptor. */
struct desc {
    uint32_t name;  /* NONE: it has none */
    uint32_t type;  /* type id, as of dump_type */
    unsigned dtype; /* DTYPE_UNKNOWN: it says none */
};

static const struct message desc_message = {
    "a tensor's description",
    {READ(dtype, ONE), READ(shape, ONE), READ(layout, ONE), READ(attr, MANY),
     STORE(name, ONE, NAME, struct desc, name), UNUSED(has_out_attr), UNUSED(size),
     UNUSED(weight_size), UNUSED(reuse_input), UNUSED(output_tensor), UNUSED(device_type),
     UNUSED(input_tensor), UNUSED(real_dim_cnt), UNUSED(reuse_input_index), UNUSED(data_offset),
     UNUSED(cmps_size), UNUSED(cmps_tab), UNUSED(cmps_tab_offset), UNUSED(attr_groups)}};
static const struct message shape_message = {"a shape", {READ(dim, MANY)}};

/* The shape that the attribute `_meta` says, if an attribute of a description is that. */
static void read_meta(struct reader *reader, struct dump_shape *shape)
{
    struct proto_text *proto = reader->fields.proto;
    struct proto_field field;
    const char *bytes;
    size_t size;
    bool is_meta = false;
    proto_enter(proto);
    while (proto_next(proto, &field)) {
        if (proto_is(&field, "key"))
            is_meta = field.size == 7 && memcmp(field.text + 1, "_meta", 5) == 0;
        if (!is_meta || !field_is_message(&field, "value"))
            continue;
        proto_enter(proto);
        while (proto_next(proto, &field))
            if (proto_is(&field, "s") && proto_string(proto, &field, &bytes, &size))
                read_meta_shape(reader->fields.dump, reader->graph, bytes, size, shape);
    }
}

/* Reads a description that was entered. Dimensions that only `_meta` has become those of the shape.
 * `skim`: nobody needs the type, and nothing is said of it; the dtype is 0 where there is one. */
static struct desc read_desc(struct reader *reader, bool skim)
{
    static const char undefined[] = "DT_UNDEFINED";
    struct fields *fields = &reader->fields;
    struct desc desc = {NONE, NONE, DTYPE_UNKNOWN};
    struct dump_shape shape = {.rank = RANK_UNKNOWN}, meta = {.rank = RANK_UNKNOWN};
    struct field_walk walk = {fields, &desc_message, &desc, 0, false};
    struct proto_field field, dim;
    const char *bytes;
    size_t size;
    int64_t number;
    uint32_t format = W_ND;
    while (field_next(&walk, &field)) {
        if (skim) {
            if (proto_is(&field, "dtype") &&
                !(field.size == sizeof undefined - 1 &&
                  memcmp(field.text, undefined, sizeof undefined - 1) == 0))
                desc.dtype = 0;
        } else if (proto_is(&field, "dtype")) {
            desc.dtype = field_dtype(fields, &field, DUMP_GE_PROTO, reader->loc);
        } else if (proto_is(&field, "shape") && field_enter(fields, &field)) {
            struct field_walk dims = {fields, &shape_message, NULL, 0, false};
            shape.rank = 0;
            while (field_next(&dims, &dim))
                if (proto_integer(fields->proto, &dim, &number))
                    dump_shape_add_ge(&shape, number);
        } else if (proto_is(&field, "layout")) {
            if (proto_string(fields->proto, &field, &bytes, &size))
                format = dump_format(fields->dump, bytes, size, reader->loc);
        } else if (field_is_message(&field, "attr")) {
            read_meta(reader, &meta);
        }
    }
    if (skim)
        return desc;
    if (shape.rank == RANK_UNKNOWN)
        shape = meta;
    for (uint32_t i = 0; shape.rank == meta.rank && i < shape.rank && i < MAX_RANK; i++)
        if (shape.dims[i] == DIM_UNKNOWN)
            shape.dims[i] = meta.dims[i];
    desc.type = dump_type(fields->dump, desc.dtype, format, &shape, reader->loc);
    return desc;
}

/* ---------------------------------------------------------------------------- values ---- */

enum result {
    RESULT_NONE, /* there is no value */
    RESULT_VALUE,
    RESULT_LOST, /* it has no form */
};

/* Whether a key is wanted. Of values of others, only the graphs in them are read. */
typedef bool wants(struct reader *reader, uint32_t key);

static enum result read_entry(struct reader *reader, wants *wants, struct attr *attr);

static const struct message tensor_message = {"a tensor", {READ(desc, ONE), READ(data, ONE)}};
static const struct message lists_message = {"a list of lists",
                                             {ENTER(list_list_i, MANY), ENTER(list_list_f, MANY)}};
static const struct message numbers_message = {
    "a list", {PUSH(list_i, MANY, INT), PUSH(list_f, MANY, FLOAT)}};
static const struct message named_message = {"an attribute's attributes",
                                             {GRAPHS(attr, MANY, ENTER), READ(name, ONE)}};
static const struct message list_message = {
    "a list",
    {PUSH(i, MANY, INT), PUSH(s, MANY, STRING), PUSH(f, MANY, FLOAT), PUSH(b, MANY, BOOL),
     PUSH(bt, MANY, STRING), ENTER(td, MANY), ENTER(t, MANY), GRAPHS(g, MANY, ENTER),
     GRAPHS(na, MANY, ENTER), READ(dt, MANY), READ(val_type, ONE)}};
/* An AttrDef: `s: "x"`, `list { i: 1 }` ... */
static const struct message value_message = {
    "an attribute's value",
    {PUSH(s, CHOICE, STRING), PUSH(i, CHOICE, INT), GRAPHS(list, CHOICE, ENTER),
     PUSH(b, CHOICE, BOOL), PUSH(f, CHOICE, FLOAT), PUSH(bt, CHOICE, STRING),
     GRAPHS(func, CHOICE, ENTER), ENTER(td, CHOICE), ENTER(t, CHOICE), GRAPHS(g, CHOICE, ENTER),
     ENTER(list_list_int, CHOICE), READ(dt, CHOICE), ENTER(list_list_float, CHOICE),
     PUSH(expression, CHOICE, STRING)}};

/* A TensorDef: contents where those of a constant are meant. */
static void push_tensor(struct reader *reader)
{
    struct fields *fields = &reader->fields;
    struct field_walk walk = {fields, &tensor_message, NULL, 0, false};
    struct proto_field field, data = {.kind = PROTO_STRING, .text = "\"\"", .size = 2, .plain = 1};
    struct attr_value value;
    uint32_t type = NONE;
    uint64_t elements;
    while (field_next(&walk, &field))
        if (proto_is(&field, "data"))
            data = field;
        else if (reader->constant && field_enter(fields, &field))
            type = read_desc(reader, false).type;
    /* Nothing where there should be something: dumps leave contents out. */
    bool left_out = data.kind == PROTO_STRING && data.size == 2 && type != NONE &&
                    (!type_elements(fields->dump->module, type, &elements) || elements > 0);
    if (!reader->constant || fields->proto->failed)
        reader->lost = true;
    else if (!left_out && field_contents(fields, type, &data, reader->loc, &value))
        vec_push(&fields->values, value);
}

/* The word for what an empty list is empty of; 0: it does not say. */
static uint32_t read_list_type(struct fields *fields, const struct proto_field *field)
{
    static const struct {
        const char *type, *word;
    } types[] = {
        {"NONE", ""},      {"STRING", "string"}, {"INT", "int"},          {"FLOAT", "float"},
        {"BOOL", "bool"},  {"BYTES", "string"},  {"TENSOR_DESC", "type"}, {"TENSOR", ""},
        {"GRAPH", "list"}, {"NAMED_ATTRS", ""},  {"DATA_TYPE", "type"},
    };
    enum { TYPES = sizeof types / sizeof *types, PREFIX = sizeof "VT_LIST_" - 1 };
    int64_t number = 0;
    for (unsigned i = 0; field->kind == PROTO_WORD && i < TYPES; i++)
        if (field->size == strlen(types[i].type) + PREFIX &&
            memcmp(field->text, "VT_LIST_", PREFIX) == 0 &&
            memcmp(field->text + PREFIX, types[i].type, field->size - PREFIX) == 0)
            number = i;
    if (field->kind == PROTO_NUMBER)
        proto_integer(fields->proto, field, &number);
    bool known = number > 0 && number < TYPES && *types[number].word;
    return known ? module_name(fields->dump->module, types[number].word) : 0;
}

/* NamedAttrs: a dict, where its name is `name`. */
static void push_named(struct reader *reader)
{
    struct fields *fields = &reader->fields;
    struct module *module = fields->dump->module;
    struct field_walk walk = {fields, &named_message, NULL, 0, false};
    struct proto_field field;
    uint32_t first = reader->attrs.count;
    while (field_next(&walk, &field)) {
        struct attr attr = {module_name(module, "name"), NONE, {.kind = ATTR_STRING}};
        enum result result = RESULT_VALUE;
        if (proto_is(&field, "attr"))
            result = read_entry(reader, NULL, &attr);
        else
            attr.value.id = field_string(fields, &field);
        if (result == RESULT_VALUE && attr.key != NONE && !fields->proto->failed)
            vec_push(&reader->attrs, attr);
        reader->lost |= result == RESULT_LOST;
    }
    uint32_t count = reader->attrs.count - first;
    struct range range = module_add_attrs(module, count ? reader->attrs.at + first : NULL, count);
    reader->attrs.count = first;
    if (!fields->only_graphs || count)
        vec_push(
            &fields->values,
            (struct attr_value){.kind = ATTR_DICT, .count = range.count, .first = range.first});
}

/* Reads the fields of an AttrDef, or of a list of values, and pushes the values. Returns what an
 * empty list is empty of. */
static uint32_t push_values(struct reader *reader, const struct message *message)
{
    struct fields *fields = &reader->fields;
    struct module *module = fields->dump->module;
    struct field_walk walk = {fields, message, NULL, 0, false};
    struct proto_field field, inner;
    uint32_t kind = 0;
    while (field_next(&walk, &field)) {
        uint32_t first = fields->values.count;
        struct attr_value value = {.kind = ATTR_LIST};
        if (proto_is(&field, "val_type")) {
            kind = read_list_type(fields, &field);
        } else if (proto_is(&field, "dt")) {
            bool word = field.kind == PROTO_WORD;
            value.kind = ATTR_INT;
            if (!word && !proto_integer(fields->proto, &field, &value.i))
                continue;
            unsigned dtype = field_dtype(fields, &field, DUMP_GE, reader->loc);
            if (dtype != DTYPE_UNKNOWN)
                value = (struct attr_value){.kind = ATTR_WORD, .id = W_f32 + dtype};
            if (dtype == DTYPE_UNKNOWN && word)
                reader->lost = true;
            else
                vec_push(&fields->values, value);
        } else if (proto_is(&field, "t")) {
            push_tensor(reader);
        } else if (proto_is(&field, "func") || proto_is(&field, "na")) {
            push_named(reader);
        } else if (proto_is(&field, "td")) {
            value = (struct attr_value){.kind = ATTR_TYPE, .id = read_desc(reader, false).type};
            if (value.id == NONE)
                reader->lost = true;
            else
                vec_push(&fields->values, value);
        } else if (proto_is(&field, "g")) {
            bool only_graphs = fields->only_graphs;
            fields->only_graphs = false;
            uint32_t graph = read_graph(reader, reader->loc, reader->graph);
            fields->only_graphs = only_graphs;
            value.kind = ATTR_SYMBOL;
            value.id = fields->dump->graphs.at[graph].name;
            vec_push(&fields->values, value);
        } else if (proto_is(&field, "list")) {
            uint32_t of = push_values(reader, &list_message);
            bool none = fields->only_graphs && fields->values.count == first;
            value = take_list(&fields->values, module, first, of);
            if (!none)
                vec_push(&fields->values, value);
        } else {
            struct field_walk lists = {fields, &lists_message, NULL, 0, false};
            while (field_next(&lists, &inner)) {
                uint32_t begin = fields->values.count;
                fields_read(fields, &numbers_message, NULL);
                value = take_list(&fields->values, module, begin, 0);
                vec_push(&fields->values, value);
            }
            reader->lost |= lists.unknown;
            value = take_list(&fields->values, module, first, module_name(module, "list"));
            vec_push(&fields->values, value);
        }
    }
    reader->lost |= walk.unknown && message == &value_message;
    return kind;
}

/* Reads the fields of an AttrDef that was entered, to its end. */
static enum result read_value(struct reader *reader, struct attr_value *value)
{
    struct value_stack *values = &reader->fields.values;
    uint32_t first = values->count;
    bool outer = reader->lost;
    reader->lost = false;
    push_values(reader, &value_message);
    bool some = values->count > first, lost = reader->lost;
    if (some)
        *value = values->at[first];
    values->count = first;
    reader->lost = outer;
    if (reader->fields.proto->failed)
        return RESULT_NONE;
    return lost ? RESULT_LOST : some ? RESULT_VALUE : RESULT_NONE;
}

static const struct message entry_message = {"an attribute",
                                             {GRAPHS(key, ONE, READ), GRAPHS(value, ONE, ENTER)}};

/* Reads an entry of a map of AttrDef that was entered, `key: "k" value { i: 1 }`. All keys are
 * wanted if `wants` is NULL. The key is NONE where there is none. */
static enum result read_entry(struct reader *reader, wants *wants, struct attr *attr)
{
    struct fields *fields = &reader->fields;
    struct field_walk walk = {fields, &entry_message, NULL, 0, false};
    struct proto_field field;
    enum result result = RESULT_NONE;
    *attr = (struct attr){NONE, reader->loc, {.kind = ATTR_INT}};
    while (field_next(&walk, &field)) {
        if (proto_is(&field, "key")) {
            attr->key = field_string(fields, &field);
            reader->key = field.span;
        } else {
            bool outer = fields->only_graphs;
            fields->only_graphs |= attr->key != NONE && wants && !wants(reader, attr->key);
            result = read_value(reader, &attr->value);
            fields->only_graphs = outer;
        }
    }
    return result;
}

/* ---------------------------------------------------------------------- ops: attributes ---- */

/* Attributes that mean something to the reader, whatever else they are. */
static const struct {
    const char *key;
    enum attr_kind kind; /* attributes of other kinds are none of these */
    size_t place;        /* in struct op_reader */
} specials[] = {
    {"index", ATTR_INT, offsetof(struct op_reader, index)},
    {"_parent_node_index", ATTR_INT, offsetof(struct op_reader, operand)},
    {"event_id", ATTR_INT, offsetof(struct op_reader, event)},
    {"notify_id", ATTR_INT, offsetof(struct op_reader, event)},
    {"_input_name_key", ATTR_LIST, offsetof(struct op_reader, names)},
    {"_input_name_idx_key", ATTR_LIST, offsetof(struct op_reader, names)},
    {"_input_name_value", ATTR_LIST, offsetof(struct op_reader, places)},
    {"_input_name_idx_value", ATTR_LIST, offsetof(struct op_reader, places)},
    {"file_path", ATTR_STRING, offsetof(struct op_reader, path)},
    {"location", ATTR_STRING, offsetof(struct op_reader, path)},
    {"offset", ATTR_INT, offsetof(struct op_reader, offset)},
    {"length", ATTR_INT, offsetof(struct op_reader, length)},
};

enum { SPECIALS = sizeof specials / sizeof *specials };

static unsigned find_special(struct reader *reader, uint32_t key)
{
    uint32_t *row = id_map_at(&reader->keys, key);
    if (*row == NONE)
        for (*row = 0; *row < SPECIALS; ++*row)
            if (name_is(reader->fields.dump->module, key, specials[*row].key))
                break;
    return *row;
}

static bool wants_of_op(struct reader *reader, uint32_t key)
{
    return find_special(reader, key) < SPECIALS ||
           dump_wants(reader->fields.dump, &reader->op->draft, key);
}

/* Takes in what an attribute of the op says. Without a value it is the number 0, which writers
 * leave out. */
static void take_attr(struct reader *reader, const struct attr *attr, enum result result)
{
    struct dump *dump = reader->fields.dump;
    const struct attr_value *value = &attr->value;
    bool has = result == RESULT_VALUE;
    if (attr->key == NONE || reader->fields.proto->failed)
        return;
    unsigned row = find_special(reader, attr->key);
    void *at = (char *)reader->op + (row < SPECIALS ? specials[row].place : 0);
    if (row == SPECIALS || result == RESULT_LOST || (has && value->kind != specials[row].kind))
        ;
    else if (specials[row].kind == ATTR_INT)
        *(int64_t *)at = has ? value->i : 0;
    else if (specials[row].kind == ATTR_LIST && has)
        *(struct attr_value *)at = *value;
    else if (has)
        *(uint32_t *)at = value->id;
    if (result == RESULT_LOST)
        dump_drop(dump, attr->loc, "the attribute '%.*s', whose value has no form in skir",
                  NAME(dump->module, attr->key));
    if (has)
        dump_add_attr(&reader->op->draft, *attr);
}

/* -------------------------------------------------------------------------- ops: inputs ---- */

/* What a string names as an input: "node:0", "node:-1" and "^node" for control, "" for none. */
static bool read_input(struct fields *fields, const struct proto_field *field,
                       struct dump_input *input)
{
    const char *bytes;
    size_t size;
    int64_t number = 0;
    if (!proto_string(fields->proto, field, &bytes, &size))
        return false;
    *input = (struct dump_input){NONE, 0, NONE, field->span.begin, DUMP_ABSENT, false};
    if (size == 0)
        return true;
    source_add_token(fields->dump->source, field->span);
    bool control = *bytes == '^';
    cut_number(bytes, &size, &number);
    if (number < -1 || number >= INT32_MAX) {
        diag_at(fields->dump->diags, DIAG_foreign_form, field->span,
                "an input is NODE:NUMBER, or NODE:-1 where it is only waited for");
        return false;
    }
    input->name = intern_copy(&fields->dump->module->names, bytes + control, size - control);
    input->kind = control || number == -1 ? DUMP_CONTROL : DUMP_DATA;
    input->output = input->kind == DUMP_DATA ? (uint32_t)number : 0;
    return true;
}

/* The description of an input. */
static void add_slot(struct reader *reader)
{
    struct desc desc = read_desc(reader, !reader->fields.dump->options->dangling_params);
    vec_push(&reader->op->slots, (struct slot){desc.name, desc.type, desc.dtype != DTYPE_UNKNOWN});
}

/* Fewer inputs than descriptions: those without a dtype are not there. Inputs that are only waited
 * for, which have none, come last. Returns how many are others. */
static uint32_t place_inputs(struct op_reader *op)
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
    uint32_t data = op->placed.count;
    for (uint32_t i = 0; i < n_inputs; i++)
        if (inputs[i].kind == DUMP_CONTROL)
            vec_push(&op->placed, inputs[i]);
    return data;
}

/* How many inputs, from this one on, are called x0, x1, x2 ...: a list by the name x. */
static uint32_t list_length(const struct dump *dump, const struct dump_input *inputs,
                            uint32_t count)
{
    const struct intern_name *names = dump->module->names.names, *first = &names[inputs->label];
    uint32_t length = 0, stem = first->size - 1;
    char digits[16];
    if (first->size < 2 || first->text[stem] != '0')
        return 0;
    for (; length < count && inputs[length].label != NONE; length++) {
        const struct intern_name *name = &names[inputs[length].label];
        size_t size = (size_t)snprintf(digits, sizeof digits, "%u", length);
        if (name->size != stem + size || memcmp(name->text, first->text, stem) != 0 ||
            memcmp(name->text + stem, digits, size) != 0)
            break;
    }
    return length;
}

/* How many inputs at least are a list if they are called like one: where the op's type has data,
 * this has its lists. `name` is that of the first. */
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

/* Gives the inputs their places and the names that the op has for them. */
static void settle_inputs(struct dump *dump, struct op_reader *op)
{
    uint32_t data = place_inputs(op);
    const struct attr_value *values = dump->module->attr_values.at;
    for (uint32_t i = 0; i < data && i < op->slots.count; i++) {
        op->placed.at[i].label = op->slots.at[i].name;
        if (op->slots.at[i].type != NONE)
            vec_push(&op->draft.hints, (struct dump_hint){i, op->slots.at[i].type});
    }
    for (uint32_t i = 0; i < op->names.count; i++) {
        const struct attr_value *name = &values[op->names.first + i];
        int64_t place = i < op->places.count ? values[op->places.first + i].i : i;
        if (name->kind == ATTR_STRING && place >= 0 && place < data)
            op->placed.at[place].label = name->id;
    }
    list_inputs(dump, op_type_find(dump->module, op->draft.node.type), op->placed.at, data);
    op->draft.inputs.count = 0;
    for (uint32_t i = 0; i < op->placed.count; i++)
        dump_add_input(&op->draft, op->placed.at[i]);
}

/* -------------------------------------------------------------------------- ops: graphs ---- */

static struct attr_value symbol(uint32_t name)
{
    return (struct attr_value){.kind = ATTR_SYMBOL, .id = name};
}

/* An attribute that has the graphs from the `first` on as a list. */
static void add_graphs(struct dump *dump, struct op_reader *op, uint32_t key, uint32_t first)
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

/* The graphs as the op's type calls them, in this order. */
static void settle_graphs(struct dump *dump, struct op_reader *op)
{
    struct op type = {.type = op->draft.node.type};
    enum call_kind kind = op_call_kind(&type);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < n_call_attrs && kind != CALL_NONE; i++)
        for (uint32_t k = 0; k < op->draft.attrs.count && call_attrs[i].kind == kind; k++) {
            /* `func { name: "f" }` is a graph where the op's type calls one. */
            struct attr *attr = &op->draft.attrs.at[k];
            struct range keys = {attr->value.first, attr->value.count};
            if (attr->key != call_attrs[i].key || attr->value.kind != ATTR_DICT)
                continue;
            uint32_t graph = attr_string(dump->module, keys, module_name(dump->module, "name"));
            if (graph != NONE)
                attr->value = symbol(graph);
        }
    for (uint32_t i = 0; i < n_call_attrs && taken < op->graphs.count; i++) {
        const struct call_attr *row = &call_attrs[i];
        if (kind == CALL_NONE || row->kind != kind)
            continue;
        if (row->list) {
            add_graphs(dump, op, row->key, taken);
            return;
        }
        uint32_t graph = op->graphs.at[taken++], kept = 0;
        if (graph == NONE)
            continue;
        /* It takes the place of what the op has there. */
        for (uint32_t k = 0; k < op->draft.attrs.count; k++)
            if (op->draft.attrs.at[k].key != row->key)
                op->draft.attrs.at[kept++] = op->draft.attrs.at[k];
        op->draft.attrs.count = kept;
        dump_add_attr(&op->draft, (struct attr){row->key, op->draft.node.loc, symbol(graph)});
    }
    if (taken < op->graphs.count)
        add_graphs(dump, op, module_name(dump->module, "_subgraphs"), taken);
}

/* ------------------------------------------------------------------------------- ops ---- */

/* Op types that are more than ops. */
static const struct {
    const char *type;
    uint32_t role;
    bool sends, receives; /* their event */
} types[] = {
    {"Data", DUMP_PARAM, false, false},       {"RefData", DUMP_PARAM, false, false},
    {"AippData", DUMP_PARAM, false, false},   {"AnnData", DUMP_PARAM, false, false},
    {"NetOutput", DUMP_RETURN, false, false}, {"Send", DUMP_OP, true, false},
    {"SendMem", DUMP_OP, true, false},        {"SendNotify", DUMP_OP, true, false},
    {"Recv", DUMP_OP, false, true},           {"RecvMem", DUMP_OP, false, true},
    {"RecvNotify", DUMP_OP, false, true},
};

static void end_op(struct reader *reader, struct op_reader *op, struct span span)
{
    struct dump *dump = reader->fields.dump;
    struct dump_node *node = &op->draft.node;
    uint32_t index = dump->graphs.at[op->graph].nodes.count;
    if (node->type == NONE) {
        diag_at(dump->diags, DIAG_foreign_form, span, "this op has no type");
        node->type = module_name(dump->module, "");
    }
    node->index = op->index >= 0 ? op->index : -1;
    for (unsigned row = 0; row < sizeof types / sizeof *types; row++) {
        if (!name_is(dump->module, node->type, types[row].type))
            continue;
        uint32_t event =
            op->event < 0 ? NONE : module_name_printf(dump->module, "%lld", (long long)op->event);
        node->role = types[row].role;
        node->send_event = types[row].sends ? event : NONE;
        node->recv_event = types[row].receives ? event : NONE;
    }
    if (node->role == DUMP_RETURN)
        op->draft.outputs.count = 0;
    if (op->stream > 0)
        node->stream = module_name_printf(dump->module, "%lld", (long long)op->stream);
    settle_inputs(dump, op);
    settle_graphs(dump, op);
    if (op->path != NONE && name_is(dump->module, node->type, "FileConstant")) {
        struct attr attr = {W_value, node->loc, {.kind = ATTR_DICT}};
        struct intern_name path = dump->module->names.names[op->path];
        uint64_t bytes = op->length > 0 ? (uint64_t)op->length : NO_BYTES;
        if (path.size && dump_contents_file(dump, path.text, path.size, (uint64_t)op->offset, bytes,
                                            attr.loc, &attr.value))
            dump_add_attr(&op->draft, attr);
    }
    dump_add_node(dump, op->graph, &op->draft);
    if (node->role == DUMP_PARAM && op->operand >= 0)
        vec_push(&reader->given, (struct given_param){op->graph, index, op->operand});
}

static const struct message op_message = {"an op",
                                          {ENTER(attr, MANY),
                                           ENTER(input_desc, MANY),
                                           ENTER(output_desc, MANY),
                                           READ(input, MANY),
                                           READ(name, ONE),
                                           READ(type, ONE),
                                           UNUSED_MANY(input_name),
                                           UNUSED_MANY(src_name),
                                           UNUSED_MANY(src_index),
                                           UNUSED_MANY(dst_name),
                                           UNUSED_MANY(dst_index),
                                           UNUSED_MANY(input_i),
                                           UNUSED_MANY(output_i),
                                           UNUSED_MANY(workspace),
                                           UNUSED_MANY(workspace_bytes),
                                           UNUSED_MANY(is_input_const),
                                           UNUSED(has_out_attr),
                                           UNUSED(id),
                                           STORE(stream_id, ONE, INT, struct op_reader, stream),
                                           READ(subgraph_name, MANY)}};
/* The same op as a node of TensorFlow. */
static const struct message node_message = {
    "a node",
    {ENTER(attr, MANY), READ(input, MANY), READ(name, ONE),
     STORE(op, ONE, NAME, struct op_reader, draft.node.type), UNUSED(device),
     UNUSED(experimental_debug_info), UNUSED(experimental_type)}};

static void read_node_attr(struct reader *reader);

/* NONE where it is empty. */
static uint32_t read_name(struct fields *fields, const struct proto_field *field)
{
    uint32_t name = field_string(fields, field);
    return name == NONE || fields->dump->module->names.names[name].size == 0 ? NONE : name;
}

/* Reads an op that was entered into a node of its graph. The span is that of the field. */
static void read_op(struct reader *reader, struct op_reader *op, const struct message *message,
                    struct span span)
{
    struct fields *fields = &reader->fields;
    struct op_reader *outer = reader->op;
    uint32_t outer_loc = reader->loc;
    struct dump_node *node = &op->draft.node;
    struct dump_input input;
    struct attr attr;
    struct proto_field field;
    struct field_walk walk = {fields, message, op, 0, false};
    reader->op = op;
    reader->loc = span.begin;
    dump_begin(&op->draft, span.begin);
    op->slots.count = op->graphs.count = 0;
    op->stream = op->offset = op->length = 0;
    op->index = op->event = op->operand = -1;
    op->constant = false;
    op->names = op->places = (struct attr_value){.kind = ATTR_LIST};
    op->path = NONE;
    while (field_next(&walk, &field)) {
        if (proto_is(&field, "attr") && message == &node_message) {
            read_node_attr(reader);
        } else if (proto_is(&field, "attr")) {
            reader->constant = op->constant;
            enum result result = read_entry(reader, wants_of_op, &attr);
            take_attr(reader, &attr, result);
        } else if (proto_is(&field, "input_desc")) {
            add_slot(reader);
        } else if (proto_is(&field, "output_desc")) {
            dump_add_output(&op->draft, NONE, read_desc(reader, false).type);
        } else if (proto_is(&field, "input")) {
            if (read_input(fields, &field, &input))
                dump_add_input(&op->draft, input);
        } else if (proto_is(&field, "name")) {
            node->name = read_name(fields, &field);
            node->loc = reader->loc = field.span.begin;
            source_add_token(fields->dump->source, field.span);
        } else if (proto_is(&field, "type")) {
            node->type = read_name(fields, &field);
            op->constant = dump_is_constant(fields->dump, node->type);
        } else {
            vec_push(&op->graphs, read_name(fields, &field));
        }
    }
    if (!fields->proto->failed)
        end_op(reader, op, span);
    reader->op = outer;
    reader->loc = outer_loc;
}

/* ----------------------------------------------------------------------------- graphs ---- */

/* Attributes of graphs and models, of which skir gives none a meaning. */
static bool wants_of_graph(struct reader *reader, uint32_t key)
{
    struct dump_draft none = {.node.type = W_ND};
    return dump_wants(reader->fields.dump, &none, key) ||
           dump_wants_gears(reader->fields.dump, key);
}

/* An attribute of a graph; or of the model, which has no place in a module: attrs is NULL. */
static void read_graph_attr(struct reader *reader, uint32_t graph, struct dump_draft *attrs)
{
    struct dump *dump = reader->fields.dump;
    struct attr attr;
    enum result result = read_entry(reader, wants_of_graph, &attr);
    bool has = result == RESULT_VALUE;
    if (attr.key == NONE || result == RESULT_NONE ||
        (has && graph == 0 && dump_take_gears(dump, &attr, reader->key)))
        return;
    if (attrs && has)
        dump_add_attr(attrs, attr);
    else
        dump_drop(dump, attr.loc, "the attribute '%.*s' of %s", NAME(dump->module, attr.key),
                  attrs ? "a graph" : "the model");
}

static const struct message graph_message = {"a graph",
                                             {ENTER(op, MANY), ENTER(attr, MANY), READ(name, ONE),
                                              UNUSED_MANY(input), READ(output, MANY),
                                              STRAY(graph)}};

static void free_op(struct op_reader *op)
{
    dump_draft_free(&op->draft);
    vec_free(&op->slots);
    vec_free(&op->placed);
    vec_free(&op->graphs);
}

/* Reads a GraphDef that was entered into a new graph, the index of which it returns. What its
 * `output` names is returned where no op returns anything. */
static uint32_t read_graph(struct reader *reader, uint32_t loc, uint32_t parent)
{
    struct fields *fields = &reader->fields;
    struct dump *dump = fields->dump;
    uint32_t index = dump_add_graph(dump, NONE, loc, parent), name;
    uint32_t outer = reader->graph, outer_loc = reader->loc;
    struct op_reader op = {.graph = index};
    struct dump_draft of_graph = {.attrs = {NULL, 0, 0}}; /* its attributes and what it returns */
    struct dump_input input;
    struct proto_field field;
    struct field_walk walk = {fields, &graph_message, NULL, 0, false};
    reader->graph = index;
    reader->loc = loc;
    while (field_next(&walk, &field)) {
        if (proto_is(&field, "op")) {
            read_op(reader, &op, &op_message, field.name_span);
        } else if (proto_is(&field, "attr")) {
            read_graph_attr(reader, index, &of_graph);
        } else if (proto_is(&field, "output")) {
            if (read_input(fields, &field, &input) && input.kind == DUMP_DATA)
                dump_add_input(&of_graph, input);
        } else if ((name = read_name(fields, &field)) != NONE) {
            dump_name_graph(dump, index, name);
            dump->graphs.at[index].loc = field.span.begin;
            source_add_token(dump->source, field.span);
        }
    }
    reader->graph = outer;
    reader->loc = outer_loc;
    struct dump_graph *graph = &dump->graphs.at[index];
    graph->attrs = module_add_attrs(dump->module, of_graph.attrs.at, of_graph.attrs.count);
    graph->open = !graph_returns(graph) && of_graph.inputs.count == 0;
    for (uint32_t i = 0; !graph_returns(graph) && i < of_graph.inputs.count; i++)
        vec_push(&graph->returns, of_graph.inputs.at[i]);
    free_op(&op);
    dump_draft_free(&of_graph);
    return index;
}

/* ------------------------------------------------------------------------- parameters ---- */

/* Gives parameters their places among those of their graphs, which the callers tell. Operands of
 * the caller that are its own are no parameters; parameters that the caller gives itself come
 * first. */
static void place_params(struct reader *reader)
{
    struct dump *dump = reader->fields.dump;
    struct id_map callers = {NULL, 0, 0}; /* by graph: enum call_kind of the first one */
    struct vec_u32 called = {NULL, 0, 0};
    for (uint32_t i = 0; reader->given.count && i < dump->graphs.count; i++)
        for (uint32_t k = 0; k < dump->graphs.at[i].nodes.count; k++) {
            const struct dump_node *node = &dump->graphs.at[i].nodes.at[k];
            enum call_kind kind = op_call_kind(&(struct op){.type = node->type});
            called.count = 0;
            if (kind != CALL_NONE)
                dump_named_graphs(dump, node, NONE, &called);
            for (uint32_t c = 0; c < called.count; c++)
                if (id_map_find(&callers, called.at[c]) == NONE)
                    id_map_set(&callers, called.at[c], kind);
        }
    for (uint32_t i = 0; i < reader->given.count; i++) {
        const struct given_param *given = &reader->given.at[i];
        uint32_t kind = id_map_find(&callers, given->graph);
        if (kind == NONE)
            continue;
        const struct call_info *info = call_info((enum call_kind)kind);
        int64_t place = given->operand - info->lead + info->own;
        if (place >= 0)
            dump->graphs.at[given->graph].nodes.at[given->node].index = place;
    }
    id_map_free(&callers);
    vec_free(&called);
}

/* ---------------------------------------------------------------------------- readers ---- */

static void begin(struct reader *reader, struct dump *dump)
{
    *reader = (struct reader){.fields = {.dump = dump, .proto = &reader->text}, .graph = NONE};
    proto_init(&reader->text, dump->source, dump->diags);
}

/* Looks at the calls of graphs. Whether the dump was read without an error. */
static bool finish(struct reader *reader)
{
    struct dump *dump = reader->fields.dump;
    bool failed = reader->text.failed;
    callees_check(dump);
    if (!failed)
        place_params(reader);
    vec_free(&reader->fields.values);
    vec_free(&reader->attrs);
    id_map_free(&reader->keys);
    vec_free(&reader->given);
    proto_free(&reader->text);
    return !failed && !dump->diags->counts[SEVERITY_ERROR];
}

static const struct message model_message = {"the model",
                                             {ENTER(graph, MANY), ENTER(attr, MANY), UNUSED(name),
                                              UNUSED(version), UNUSED(custom_version), STRAY(op)}};

bool exchange_read_ge_txt(struct dump *dump)
{
    struct reader reader;
    struct proto_field field;
    struct field_walk walk = {&reader.fields, &model_message, NULL, 0, false};
    begin(&reader, dump);
    while (field_next(&walk, &field)) {
        reader.loc = field.name_span.begin;
        if (proto_is(&field, "graph"))
            read_graph(&reader, reader.loc, NONE);
        else
            read_graph_attr(&reader, 0, NULL);
    }
    return finish(&reader);
}

bool exchange_read_torchair_txt(struct dump *dump)
{
    struct reader reader;
    begin(&reader, dump);
    read_graph(&reader, 0, NONE);
    return finish(&reader);
}

/* -------------------------------------------------------------- ops dressed as nodes ---- */

static const struct message node_value_message = {
    "an attribute's value",
    {READ(s, CHOICE), READ(type, CHOICE), READ(i, CHOICE), READ(b, CHOICE), READ(f, CHOICE),
     READ(list, CHOICE), READ(shape, CHOICE), READ(tensor, CHOICE), READ(func, CHOICE),
     READ(placeholder, CHOICE)}};
static const struct message node_attr_message = {"an attribute",
                                                 {READ(key, ONE), READ(value, ONE)}};
static const struct message nodes_message = {
    "the graph", {ENTER(node, MANY), UNUSED(versions), UNUSED(version), STRAY(library)}};

/* Reads what the text in the string of an attribute says, by its key. */
static void read_inner(struct reader *reader, uint32_t key)
{
    struct dump *dump = reader->fields.dump;
    const struct intern_name *name = &dump->module->names.names[key];
    struct dump_draft *draft = &reader->op->draft;
    struct attr attr = {key, reader->loc, {.kind = ATTR_INT}};
    bool returns = draft->node.type != NONE && name_is(dump->module, draft->node.type, "NetOutput");
    if (name->size >= 3 && memcmp(name->text, "[i]", 3) == 0) {
        add_slot(reader);
    } else if (name->size >= 3 && memcmp(name->text, "[o]", 3) == 0) {
        dump_add_output(draft, NONE, read_desc(reader, false).type);
    } else if (returns && dump_wants_gears(dump, key)) {
        if (read_value(reader, &attr.value) != RESULT_VALUE ||
            !dump_take_gears(dump, &attr, reader->key))
            dump_drop(dump, attr.loc, "the attribute '%.*s', which is no text",
                      NAME(dump->module, key));
    } else if (wants_of_op(reader, key)) {
        reader->constant = dump_is_constant(dump, draft->node.type);
        enum result result = read_value(reader, &attr.value);
        take_attr(reader, &attr, result);
    }
}

/* The string of an attribute is a text of its own, all of whose errors are at it. */
static void read_node_attr(struct reader *reader)
{
    struct fields *fields = &reader->fields;
    struct field_walk walk = {fields, &node_attr_message, NULL, 0, false};
    struct field_walk values = {fields, &node_value_message, NULL, 0, false};
    struct proto_field field;
    struct proto_text inner;
    const char *bytes;
    size_t size;
    uint32_t key = NONE;
    while (field_next(&walk, &field)) {
        if (proto_is(&field, "key")) {
            key = field_string(fields, &field);
            reader->key = field.span;
            continue;
        }
        if (key == NONE)
            proto_fail(fields->proto, field.name_span,
                       "the key of an attribute must come before its value");
        if (fields->proto->failed || !field_enter(fields, &field))
            continue;
        while (field_next(&values, &field)) {
            if (!proto_is(&field, "s")) {
                dump_drop(fields->dump, field.name_span.begin,
                          "the attribute '%.*s', whose value is no text",
                          NAME(fields->dump->module, key));
            } else if (proto_string(fields->proto, &field, &bytes, &size)) {
                proto_init_inner(&inner, bytes, size, field.span, fields->dump->diags);
                fields->proto = &inner;
                read_inner(reader, key);
                fields->proto = &reader->text;
                reader->text.failed |= inner.failed;
                proto_free(&inner);
            }
        }
    }
}

bool exchange_read_torchair_pbtxt(struct dump *dump)
{
    struct reader reader;
    struct op_reader op = {.graph = dump_add_graph(dump, NONE, 0, NONE)};
    struct proto_field field;
    struct field_walk walk = {&reader.fields, &nodes_message, NULL, 0, false};
    begin(&reader, dump);
    reader.graph = op.graph;
    while (field_next(&walk, &field))
        read_op(&reader, &op, &node_message, field.name_span);
    dump->graphs.at[op.graph].open = !graph_returns(&dump->graphs.at[op.graph]);
    free_op(&op);
    return finish(&reader);
}

/* ------------------------------------------------------------------------------ signs ---- */

/* Whether the next fields are those of a GraphDef: ops whose type is a string. What others have
 * inside a field of this name are no strings, or no types. */
static bool looks_graph(struct proto_text *proto)
{
    struct proto_field field;
    bool op = false, type = false;
    while (!op && proto_next(proto, &field)) {
        bool message = field.kind == PROTO_MESSAGE;
        op = proto_is(&field, "op") && message;
        if (!op && (proto_is(&field, "node") ||
                    (message && !proto_is(&field, "attr") && !proto_is(&field, "attr_groups"))))
            return false;
    }
    if (!op)
        return false;
    proto_enter(proto);
    while (proto_next(proto, &field)) {
        bool message = field.kind == PROTO_MESSAGE;
        type |= (proto_is(&field, "type") || proto_is(&field, "input")) && !message;
        type |= (proto_is(&field, "input_desc") || proto_is(&field, "output_desc")) && message;
    }
    return type;
}

/* A graph without any op: it has nothing but a name and what is listed. */
static bool looks_empty(struct proto_text *proto)
{
    struct proto_field field;
    bool named = false;
    while (proto_next(proto, &field)) {
        named |= proto_is(&field, "name") && field.kind == PROTO_STRING;
        if (field.kind == PROTO_MESSAGE && !proto_is(&field, "attr"))
            return false;
    }
    return named && !proto->failed;
}

/* Whether the text looks like a graph; `in_model`: the first one of a model. */
static bool looks(const struct source *source, bool in_model, bool (*graph)(struct proto_text *))
{
    static const char *const others[] = {"name", "version",     "custom_version",
                                         "attr", "attr_groups", NULL};
    struct proto_text proto;
    struct proto_field field;
    bool found = !in_model;
    proto_init(&proto, source, NULL);
    while (!found && proto_next(&proto, &field)) {
        found = field_is_message(&field, "graph");
        if (!found && !field_is_one(&field, others))
            break;
    }
    if (in_model && found)
        proto_enter(&proto);
    found = found && graph(&proto);
    proto_free(&proto);
    return found;
}

bool exchange_looks_ge_txt(const struct source *source)
{
    return looks(source, true, looks_graph) || looks(source, true, looks_empty);
}

bool exchange_looks_torchair_txt(const struct source *source)
{
    return looks(source, false, looks_graph);
}

/* Of an entry of `attr` that was entered: 1 where its key describes a tensor, -1 where its value is
 * none of a string. */
static int sign_of_attr(struct proto_text *proto)
{
    struct proto_field field;
    const char *key;
    size_t size;
    while (proto_next(proto, &field)) {
        if (proto_is(&field, "key") && field.kind == PROTO_STRING &&
            proto_string(proto, &field, &key, &size) && size >= 3 &&
            (memcmp(key, "[i]", 3) == 0 || memcmp(key, "[o]", 3) == 0))
            return 1;
        if (!field_is_message(&field, "value"))
            continue;
        proto_enter(proto);
        while (proto_next(proto, &field))
            if (!proto_is(&field, "s"))
                return -1;
    }
    return 0;
}

static bool looks_nodes(struct proto_text *proto)
{
    struct proto_field field;
    int sign = 0;
    while (sign == 0 && proto_next(proto, &field)) {
        if (!field_is_message(&field, "node"))
            return false;
        proto_enter(proto);
        while (sign == 0 && proto_next(proto, &field)) {
            if (field_is_message(&field, "attr")) {
                proto_enter(proto);
                sign = sign_of_attr(proto);
            } else if (field.kind == PROTO_MESSAGE) {
                sign = -1;
            }
        }
    }
    return sign > 0;
}

bool exchange_looks_torchair_pbtxt(const struct source *source)
{
    return looks(source, false, looks_nodes);
}
