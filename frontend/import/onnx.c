/* ONNX models as protobuf text, and GE's graphs in the form of such models (docs/importing.md).
 *
 * In ONNX an input names the value that it takes, whose type follows all nodes, if it is
 * anywhere; a graph that is an attribute may take the values of those around it. GE has the
 * messages of ONNX, but its own idea of them: op types "ge:TYPE", inputs "NODE:OUTPUT" with -1
 * for order, tensors as attributes "output_desc_dtype:0" ... of their nodes, and graphs as
 * nodes of the type "subgraph". */
#include "frontend/exchange.h"
#include "frontend/import/dump/dump.h"
#include "frontend/import/messages.h"
#include "ir/analysis/contents.h"
#include "ir/optypes/op_types.h"

/* A tensor that a node of GE gives, as far as it is known. */
struct output_desc {
    unsigned dtype;
    uint32_t format; /* name id */
    struct dump_shape shape;
};

/* A model on its way in. */
struct reader {
    struct fields fields;
    struct proto_text text;
    bool is_ge;            /* the text is one of GE's graphs */
    struct id_map types;   /* by name of a value of the graph at its end: type id */
    struct id_map callees; /* by op type: the graph of the function */
    /* The node of GE at hand: by output; and the bytes of a constant, without a name: there are
     * none. */
    VEC(struct output_desc) descs;
    struct proto_field data;
};

/* A graph, or function, that is being read. */
struct level {
    uint32_t graph, loc;
    uint32_t name, domain, overload; /* NONE */
    struct dump_draft draft;
    VEC(struct dump_param) declared; /* names of values and their types */
    /* The node at hand. */
    uint32_t op_type, op_domain, op_overload;
    uint32_t tensor;   /* the key of its last attribute that is a tensor; NONE */
    uint32_t constant; /* the type of this; NONE */
    bool is_graph;     /* it stands for the graph that is its attribute */
};

/* ---------------------------------------------------------------------------- types ---- */

static const struct message dim_message = {
    "a dimension", {READ(dim_value, CHOICE), READ(dim_param, CHOICE), UNUSED(denotation)}};
static const struct message shape_message = {"a shape", {ENTER(dim, MANY)}};
static const struct message tensor_type_message = {"a tensor's type",
                                                   {READ(elem_type, ONE), ENTER(shape, ONE)}};
static const struct message type_message = {"a type",
                                            {READ(tensor_type, CHOICE), READ(sequence_type, CHOICE),
                                             READ(map_type, CHOICE), READ(optional_type, CHOICE),
                                             READ(sparse_tensor_type, CHOICE),
                                             READ(opaque_type, CHOICE), UNUSED(denotation)}};

/* A number of an element type, or its name, which older texts have. */
static unsigned read_dtype(struct fields *fields, const struct proto_field *field, uint32_t loc)
{
    static const char *const words[] = {
        "UNDEFINED",      "FLOAT",      "UINT8",          "INT8",       "UINT16",   "INT16",
        "INT32",          "INT64",      "STRING",         "BOOL",       "FLOAT16",  "DOUBLE",
        "UINT32",         "UINT64",     "COMPLEX64",      "COMPLEX128", "BFLOAT16", "FLOAT8E4M3FN",
        "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "UINT4",      "INT4",     "FLOAT4E2M1",
        "FLOAT8E8M0",     "UINT2",      "INT2",
    };
    for (unsigned i = 0; field->kind == PROTO_WORD && i < sizeof words / sizeof words[0]; i++)
        if (field->size == strlen(words[i]) && memcmp(field->text, words[i], field->size) == 0)
            return dump_dtype_numbered(fields->dump, DUMP_ONNX, i, loc);
    return field_dtype(fields, field, DUMP_ONNX, loc);
}

/* A dimension is a number, a name, or nothing. */
static void read_shape(struct fields *fields, struct dump_shape *shape)
{
    struct field_walk walk = {fields, &shape_message, NULL, 0, false};
    struct proto_field field;
    const char *bytes;
    size_t size;
    shape->rank = 0;
    while (field_next(&walk, &field)) {
        struct field_walk dims = {fields, &dim_message, NULL, 0, false};
        int64_t dim = DIM_UNKNOWN;
        while (field_next(&dims, &field))
            if (proto_is(&field, "dim_value") && proto_integer(fields->proto, &field, &dim))
                dim = dim < 0 ? DIM_UNKNOWN : dim;
            else if (proto_is(&field, "dim_param") &&
                     proto_string(fields->proto, &field, &bytes, &size))
                dim = dump_dim(fields->dump, bytes, size);
        dump_shape_add(shape, dim);
    }
}

/* Reads a TypeProto that was entered, of a value of the graph: its type id. `loc` is where remarks
 * are said. */
static uint32_t read_type(struct fields *fields, uint32_t loc)
{
    struct field_walk walk = {fields, &type_message, NULL, 0, false};
    struct proto_field field;
    uint32_t type = dump_no_type(fields->dump);
    while (field_next(&walk, &field)) {
        if (field_is_message(&field, "tensor_type")) {
            struct field_walk tensor = {fields, &tensor_type_message, NULL, 0, false};
            struct dump_shape shape = {.rank = RANK_UNKNOWN};
            unsigned dtype = DTYPE_UNKNOWN;
            proto_enter(fields->proto);
            while (field_next(&tensor, &field))
                if (proto_is(&field, "elem_type"))
                    dtype = read_dtype(fields, &field, loc);
                else
                    read_shape(fields, &shape);
            type = dump_type(fields->dump, dtype, W_ND, &shape, loc);
        } else if (field.kind == PROTO_MESSAGE) {
            dump_drop(fields->dump, loc, "a type that is no tensor's: %.*s", (int)field.name_size,
                      field.name);
        }
    }
    return type;
}

/* -------------------------------------------------------------------------- tensors ---- */

/* A TensorProto, as far as it can be in a module. */
struct tensor {
    uint32_t name, loc, type; /* name: NONE */
    unsigned dtype;
    bool filled; /* there is a value */
    struct attr_value value;
    struct proto_field raw; /* its bytes; without a name: there are none */
};

/* An entry of `external_data`: name ids. */
struct pair {
    uint32_t key, value;
};

static const struct message pair_message = {
    "an entry",
    {STORE(key, ONE, NAME, struct pair, key), STORE(value, ONE, NAME, struct pair, value)}};
static const struct message tensor_message = {
    "a tensor",
    {PUSH(float_data, MANY, FLOAT), PUSH(int32_data, MANY, INT), PUSH(int64_data, MANY, INT),
     READ(dims, MANY), READ(data_type, ONE), READ(name, ONE), READ(raw_data, ONE),
     PUSH(double_data, MANY, FLOAT), PUSH(uint64_data, MANY, INT), READ(string_data, MANY),
     UNUSED(doc_string), READ(external_data, MANY), UNUSED(data_location),
     UNUSED_MANY(metadata_props)}};

/* Contents in a file: the name ids of its path, the offset and the length, or NONE. */
static bool external_contents(struct dump *dump, const uint32_t *place, uint32_t loc,
                              struct attr_value *value)
{
    const struct intern_name *names = dump->module->names.names, path = names[place[0]];
    int64_t numbers[] = {0, 0, (int64_t)NO_BYTES};
    for (unsigned i = 1; i < 3; i++)
        if (place[i] != NONE &&
            !digits_read(names[place[i]].text, names[place[i]].size, &numbers[i])) {
            dump_lose(dump, loc, "contents in a file, whose place there is no number");
            return false;
        }
    return dump_contents_file(dump, path.text, path.size, (uint64_t)numbers[1],
                              (uint64_t)numbers[2], loc, value);
}

/* Reads a tensor that was entered. Where it has contents that the module will not have, this is
 * said. */
static void read_tensor(struct fields *fields, struct tensor *out, uint32_t loc)
{
    static const char *const places[] = {"location", "offset", "length"};
    struct dump *dump = fields->dump;
    struct field_walk walk = {fields, &tensor_message, NULL, 0, false};
    struct proto_field field;
    struct dump_shape shape = {.rank = 0};
    uint32_t first = fields->values.count, place[] = {NONE, NONE, NONE};
    uint64_t elements;
    int64_t dim;
    bool strings = false;
    *out = (struct tensor){.name = NONE, .loc = loc, .dtype = DTYPE_UNKNOWN};
    while (field_next(&walk, &field)) {
        if (proto_is(&field, "name")) {
            out->name = field_token(fields, &field);
            out->loc = field.span.begin;
        } else if (proto_is(&field, "dims")) {
            if (proto_integer(fields->proto, &field, &dim))
                dump_shape_add_number(&shape, dim);
        } else if (proto_is(&field, "data_type")) {
            out->dtype = read_dtype(fields, &field, field.name_span.begin);
        } else if (proto_is(&field, "string_data")) {
            strings = true;
        } else if (proto_is(&field, "raw_data")) {
            if (field.kind == PROTO_STRING)
                out->raw = field;
        } else if (field.kind == PROTO_MESSAGE) {
            struct pair pair = {NONE, NONE};
            proto_enter(fields->proto);
            fields_read(fields, &pair_message, &pair);
            for (unsigned i = 0; i < 3 && pair.key != NONE; i++)
                if (name_is(dump->module, pair.key, places[i]))
                    place[i] = pair.value;
        }
    }
    bool numbers = fields->values.count > first;
    uint32_t type = out->type = dump_type(dump, out->dtype, W_ND, &shape, loc);
    if (fields->proto->failed)
        ;
    else if (place[0] != NONE)
        out->filled = external_contents(dump, place, out->loc, &out->value);
    else if (out->raw.name && type != NONE)
        out->filled = field_contents(fields, type, &out->raw, out->loc, &out->value);
    else if (numbers && type != NONE)
        out->filled = number_contents(fields, first, type, false, out->loc, &out->value);
    else if (strings || out->raw.name || numbers)
        dump_lose(dump, out->loc, "the contents of a tensor of %s",
                  strings ? "strings" : "no known type");
    else if (type != NONE && type_elements(dump->module, type, &elements) && elements > 0)
        dump_lose(dump, out->loc, "the contents of a tensor, which are not in the text");
    fields->values.count = first;
}

/* ------------------------------------------------------------------------ GE's form ---- */

/* Outputs of a node; more are not believed. */
enum { MOST_OUTPUTS = 1024 };

static const char input_prefix[] = "input_desc_", output_prefix[] = "output_desc_";

static bool begins(struct intern_name name, const char *prefix)
{
    size_t length = strlen(prefix);
    return name.size >= length && memcmp(name.text, prefix, length) == 0;
}

static bool is_word(const char *text, size_t size, const char *word)
{
    return size == strlen(word) && memcmp(text, word, size) == 0;
}

/* The description of an output. NULL where there are too many. */
static struct output_desc *desc_at(struct reader *reader, int64_t index)
{
    if (index < 0 || index >= MOST_OUTPUTS)
        return NULL;
    while (reader->descs.count <= index)
        vec_push(&reader->descs, (struct output_desc){DTYPE_UNKNOWN, W_ND, {.rank = RANK_UNKNOWN}});
    return &reader->descs.at[index];
}

/* What follows `key`, which begins with a quote, in the text of a JSON object without blanks, up to
 * one of `ends`; NULL: nothing. */
static const char *find_member(struct intern_name json, const char *key, const char *ends,
                               size_t *size)
{
    const char *end = json.text + json.size, *at = json.text;
    size_t length = strlen(key);
    while ((at = memchr(at, '"', (size_t)(end - at))) && (size_t)(end - at) >= length &&
           memcmp(at, key, length) != 0)
        at++;
    if (!at || (size_t)(end - at) < length)
        return NULL;
    at += length;
    for (*size = 0; at + *size < end; ++*size)
        if (at[*size] == *ends)
            return at;
    return NULL;
}

/* Where there are many outputs, all that is said of a tensor is one string, JSON. */
static void take_json(struct dump *dump, struct output_desc *desc, struct intern_name json,
                      uint32_t loc)
{
    size_t size;
    const char *at = find_member(json, "\"dtype\":\"", "\"", &size);
    if (at)
        desc->dtype = dump_dtype_named(dump, at, size, loc);
    if ((at = find_member(json, "\"layout\":\"", "\"", &size)))
        desc->format = dump_format(dump, at, size, loc);
    if (!(at = find_member(json, "\"shape\":[", "]", &size)))
        return;
    desc->shape.rank = 0;
    for (const char *end = at + size; at < end; at++) {
        bool minus = *at == '-';
        int64_t dim = 0;
        for (at += minus; at < end && *at >= '0' && *at <= '9' && dim < INT64_MAX / 16; at++)
            dim = dim * 10 + (*at - '0');
        dump_shape_add_ge(&desc->shape, minus ? -dim : dim);
        while (at < end && *at != ',')
            at++;
    }
}

/* An attribute that describes a tensor, by its key after the prefix, with its elements, or its one
 * value. */
static void take_desc(struct reader *reader, struct intern_name key,
                      const struct attr_value *values, uint32_t count, uint32_t loc)
{
    struct dump *dump = reader->fields.dump;
    const char *text = key.text + sizeof output_prefix - 1;
    size_t size = key.size - (sizeof output_prefix - 1);
    int64_t index = 0;
    struct output_desc *desc;
    bool is_string = count == 1 && values->kind == ATTR_STRING;
    struct intern_name word = {"", 0, 0};
    if (is_string)
        word = dump->module->names.names[values->id];
    if (is_word(text, size, "nums") && count == 1 && values->kind == ATTR_INT)
        desc_at(reader, values->i - 1);
    if (is_string && digits_read(text, size, &index) && (desc = desc_at(reader, index)))
        take_json(dump, desc, word, loc);
    if (!cut_number(text, &size, &index) || !(desc = desc_at(reader, index)))
        return;
    if (is_word(text, size, "shape")) {
        desc->shape.rank = 0;
        for (uint32_t i = 0; i < count; i++)
            dump_shape_add_ge(&desc->shape, values[i].kind == ATTR_INT ? values[i].i : DIM_UNKNOWN);
    } else if (is_string && is_word(text, size, "dtype")) {
        desc->dtype = dump_dtype_named(dump, word.text, word.size, loc);
    } else if (is_string && is_word(text, size, "layout")) {
        desc->format = dump_format(dump, word.text, word.size, loc);
    }
}

/* Gives the draft its outputs; and attributes that are truth values, which are numbers in the text,
 * become such where the op's type says that they are. */
static void end_ge_node(struct reader *reader, struct dump_draft *draft)
{
    struct dump *dump = reader->fields.dump;
    const struct op_type *type = op_type_find(dump->module, draft->node.type);
    struct attr value = {W_value, draft->node.loc, {.kind = ATTR_INT}};
    for (uint32_t i = 0; i < reader->descs.count; i++) {
        const struct output_desc *desc = &reader->descs.at[i];
        dump_add_output(draft, NONE,
                        dump_type(dump, desc->dtype, desc->format, &desc->shape, draft->node.loc));
    }
    for (uint32_t i = 0; type && i < draft->attrs.count; i++) {
        struct attr *attr = &draft->attrs.at[i];
        for (uint32_t k = 0; k < type->n_attrs && attr->value.kind == ATTR_INT; k++)
            if (type->attrs[k].kind == OP_ATTR_BOOL &&
                name_is(dump->module, attr->key, type->attrs[k].name))
                attr->value = (struct attr_value){.kind = ATTR_BOOL, .i = attr->value.i != 0};
    }
    if (reader->data.name && draft->outputs.count == 1 &&
        field_contents(&reader->fields, draft->outputs.at[0].type, &reader->data, value.loc,
                       &value.value))
        dump_add_attr(draft, value);
}

/* ----------------------------------------------------------------------- attributes ---- */

static uint32_t read_graph(struct reader *reader, uint32_t loc, uint32_t parent, uint32_t name);

/* Kinds of values, by the numbers that ONNX has for them. */
static const struct {
    const char *word;
    uint32_t empty; /* the word for the elements of an empty list; NONE: there is no list */
} kinds[] = {
    {"UNDEFINED", NONE},   {"FLOAT", NONE},      {"INT", NONE},       {"STRING", NONE},
    {"TENSOR", NONE},      {"GRAPH", NONE},      {"FLOATS", W_float}, {"INTS", W_int},
    {"STRINGS", W_string}, {"TENSORS", 0},       {"GRAPHS", 0},       {"SPARSE_TENSOR", NONE},
    {"SPARSE_TENSORS", 0}, {"TYPE_PROTO", NONE}, {"TYPE_PROTOS", 0},
};

enum { KIND_UNKNOWN, KIND_F, KIND_I, KIND_S, KIND_T, KIND_FLOATS = 6 };
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* The fields that have values come first, in the order of their kinds from KIND_F on. */
static const struct message attribute_message = {
    "an attribute",
    {PUSH(f, CHOICE, FLOAT), PUSH(i, CHOICE, INT), READ(s, CHOICE), ENTER(t, CHOICE),
     GRAPHS(g, CHOICE, ENTER), PUSH(floats, EITHER, FLOAT), PUSH(ints, EITHER, INT),
     PUSH(strings, EITHER, STRING), ENTER(tensors, EITHER), GRAPHS(graphs, EITHER, ENTER),
     READ(sparse_tensor, CHOICE), READ(sparse_tensors, EITHER), ENTER(tp, CHOICE),
     ENTER(type_protos, EITHER), GRAPHS(name, ONE, READ), GRAPHS(type, ONE, READ),
     GRAPHS(ref_attr_name, ONE, READ), UNUSED(doc_string)}};

/* An attribute whose fields were read; its values, which are taken away, are those from `first` on.
 * Numbers that are 0 and empty strings may be left out. */
static void end_attribute(struct reader *reader, struct level *level, struct attr attr,
                          unsigned kind, uint32_t first)
{
    /* A Constant has its contents under several keys. */
    static const char *const contents[] = {"value_int", "value_float", "value_ints",
                                           "value_floats"};
    struct dump *dump = reader->fields.dump;
    struct value_stack *values = &reader->fields.values;
    uint32_t count = values->count - first;
    struct intern_name name = {"", 0, 0};
    if (attr.key != NONE && reader->is_ge)
        name = dump->module->names.names[attr.key];
    if (begins(name, output_prefix))
        take_desc(reader, name, count ? values->at + first : NULL, count, attr.loc);
    if (kinds[kind].empty != NONE)
        attr.value = take_list(values, dump->module, first, kinds[kind].empty);
    else if (count)
        attr.value = values->at[values->count - 1];
    else if (kind == KIND_F)
        attr.value.kind = ATTR_FLOAT;
    else if (kind == KIND_S)
        attr.value = (struct attr_value){.kind = ATTR_STRING, .id = module_name(dump->module, "")};
    values->count = first;
    bool has =
        count || kinds[kind].empty != NONE || kind == KIND_I || kind == KIND_F || kind == KIND_S;
    if (!has || attr.key == NONE || level->is_graph || begins(name, input_prefix) ||
        begins(name, output_prefix))
        return;
    if (reader->is_ge && name_is(dump->module, attr.key, "index") && attr.value.kind == ATTR_INT)
        level->draft.node.index = attr.value.i;
    bool constant = level->op_type != NONE && name_is(dump->module, level->op_type, "Constant");
    for (unsigned i = 0; constant && i < sizeof contents / sizeof contents[0]; i++)
        if (name_is(dump->module, attr.key, contents[i])) {
            struct dump_shape shape = {.rank = 0};
            bool floats = kind == KIND_F || kind == KIND_FLOATS;
            if (attr.value.kind == ATTR_LIST)
                dump_shape_add(&shape, attr.value.count);
            level->constant =
                dump_type(dump, floats ? DTYPE_f32 : DTYPE_i64, W_ND, &shape, attr.loc);
            attr.key = W_value;
        }
    dump_add_attr(&level->draft, attr);
    if (kind == KIND_T)
        level->tensor = attr.key;
}

/* Reads an attribute that was entered. Graphs are read in any case, as they count: they may use the
 * values of the graph that has the node, but in GE's dumps. */
static void read_attribute(struct reader *reader, struct level *level, uint32_t loc)
{
    struct fields *fields = &reader->fields;
    struct dump *dump = fields->dump;
    struct field_walk walk = {fields, &attribute_message, NULL, 0, false};
    struct attr attr = {NONE, loc, {.kind = ATTR_INT}};
    struct proto_field field;
    struct tensor tensor;
    uint32_t first = fields->values.count;
    unsigned kind = KIND_UNKNOWN;
    bool only_graphs = fields->only_graphs, is_data = false;
    while (field_next(&walk, &field)) {
        struct attr_value value = {.kind = ATTR_STRING};
        if (proto_is(&field, "name")) {
            attr.key = field_string(fields, &field);
            fields->only_graphs = true;
            if (attr.key == NONE)
                continue;
            struct intern_name name = dump->module->names.names[attr.key];
            is_data = reader->is_ge && name_is(dump->module, attr.key, "value_data") &&
                      dump_is_constant(dump, level->draft.node.type);
            bool of_ge =
                reader->is_ge && (begins(name, input_prefix) || begins(name, output_prefix) ||
                                  name_is(dump->module, attr.key, "index"));
            fields->only_graphs = !is_data && !of_ge && !dump_wants(dump, &level->draft, attr.key);
        } else if (proto_is(&field, "type")) {
            int64_t number = 0;
            if (field.kind != PROTO_WORD)
                proto_integer(fields->proto, &field, &number);
            kind = number > 0 && number < KINDS ? (unsigned)number : KIND_UNKNOWN;
            for (unsigned i = 0; field.kind == PROTO_WORD && i < KINDS; i++)
                if (is_word(field.text, field.size, kinds[i].word))
                    kind = i;
        } else if (proto_is(&field, "ref_attr_name")) {
            value = (struct attr_value){.kind = ATTR_WORD, .id = field_string(fields, &field)};
            dump_drop(dump, loc, "an attribute that is one of its function");
            if (value.id != NONE)
                vec_push(&fields->values, value);
        } else if (proto_is(&field, "s") && is_data && field.kind == PROTO_STRING) {
            reader->data = field;
            walk.seen &= ~(uint64_t)(1 << (KIND_S - KIND_F));
        } else if (proto_is(&field, "s")) {
            value.id = field_string(fields, &field);
            if (value.id != NONE)
                vec_push(&fields->values, value);
        } else if (proto_is(&field, "g") || proto_is(&field, "graphs")) {
            bool outer = fields->only_graphs;
            fields->only_graphs = false;
            uint32_t graph =
                read_graph(reader, field.name_span.begin, reader->is_ge ? NONE : level->graph,
                           reader->is_ge ? level->draft.node.name : attr.key);
            fields->only_graphs = outer;
            vec_push(&fields->values,
                     (struct attr_value){.kind = ATTR_SYMBOL, .id = dump->graphs.at[graph].name});
        } else if (proto_is(&field, "t") || proto_is(&field, "tensors")) {
            read_tensor(fields, &tensor, field.name_span.begin);
            level->constant = tensor.type;
            if (tensor.filled)
                vec_push(&fields->values, tensor.value);
        } else if (proto_is(&field, "tp") || proto_is(&field, "type_protos")) {
            value.kind = ATTR_TYPE;
            value.id = read_type(fields, field.name_span.begin);
            vec_push(&fields->values, value);
        } else {
            dump_drop(dump, loc, "a sparse tensor that is an attribute");
        }
    }
    fields->only_graphs = only_graphs;
    uint64_t given = walk.seen & ((1 << (KINDS - 1)) - 1);
    unsigned of_value = given ? (unsigned)__builtin_ctzll(given) + KIND_F : KIND_UNKNOWN;
    if (of_value != KIND_UNKNOWN && kind != KIND_UNKNOWN && of_value != kind)
        proto_fail(fields->proto, source_token(dump->source, loc),
                   "the type of this attribute is not that of its value");
    else
        end_attribute(reader, level, attr, kind == KIND_UNKNOWN ? of_value : kind, first);
}

/* ---------------------------------------------------------------------------- nodes ---- */

static const struct message node_message = {
    "a node",
    {READ(input, MANY), READ(output, MANY), READ(name, ONE), READ(op_type, ONE),
     ENTER(attribute, MANY), UNUSED(doc_string), STORE(domain, ONE, NAME, struct level, op_domain),
     STORE(overload, ONE, NAME, struct level, op_overload), UNUSED_MANY(metadata_props),
     UNUSED_MANY(device_configurations)}};

static bool is_empty(const struct module *module, uint32_t name)
{
    return name == NONE || module->names.names[name].size == 0;
}

/* Whether it is the domain of ONNX itself. */
static bool is_own_domain(const struct module *module, uint32_t domain)
{
    return is_empty(module, domain) || name_is(module, domain, "ai.onnx");
}

/* The name of an op type, or function, of a domain: DOMAIN::NAME, but for ONNX's own. */
static uint32_t full_name(struct module *module, uint32_t domain, uint32_t name, uint32_t overload)
{
    bool has_domain = !is_own_domain(module, domain), has_overload = !is_empty(module, overload);
    if (name != NONE && has_domain)
        name = module_name_printf(module, "%.*s::%.*s", NAME(module, domain), NAME(module, name));
    if (name != NONE && has_overload)
        name = module_name_printf(module, "%.*s:%.*s", NAME(module, name), NAME(module, overload));
    return name;
}

static void read_input(struct reader *reader, struct level *level, const struct proto_field *field)
{
    struct dump *dump = reader->fields.dump;
    uint32_t name = field_token(&reader->fields, field);
    struct dump_input input = {
        .name = name, .label = NONE, .loc = field->span.begin, .kind = DUMP_VALUE};
    if (name == NONE)
        return;
    if (is_empty(dump->module, name)) {
        input.name = NONE;
        input.kind = DUMP_ABSENT;
    } else if (reader->is_ge) {
        struct intern_name text = dump->module->names.names[name];
        size_t size = text.size;
        int64_t output = 0;
        if (!cut_number(text.text, &size, &output) || output < -1 || output > INT32_MAX) {
            size = text.size;
            output = 0;
        }
        input.kind = output < 0 ? DUMP_CONTROL : DUMP_DATA;
        input.output = output < 0 ? 0 : (uint32_t)output;
        input.name = intern_copy(&dump->module->names, text.text, size);
    }
    dump_add_input(&level->draft, input);
}

static void read_output(struct reader *reader, struct level *level, const struct proto_field *field)
{
    struct module *module = reader->fields.dump->module;
    uint32_t name = field_string(&reader->fields, field);
    int64_t index;
    if (name == NONE)
        return;
    size_t size = module->names.names[name].size;
    if (!reader->is_ge)
        dump_add_output(&level->draft, size ? name : NONE, NONE);
    else if (cut_number(module->names.names[name].text, &size, &index))
        desc_at(reader, index);
}

/* Ops of GE have a domain of their own, in which they have their names. A tensor that is an
 * attribute has a type, which is another attribute; that of a constant is the type of its
 * result. */
static void settle_type(struct module *module, struct level *level)
{
    struct dump_node *node = &level->draft.node;
    bool is_own = is_own_domain(module, level->op_domain);
    bool is_ge = !is_own && name_is(module, level->op_domain, ONNX_GE_DOMAIN);
    if (is_own && level->tensor != NONE && !name_is(module, level->op_type, "Constant")) {
        struct attr_value type = {.kind = ATTR_TYPE, .id = level->constant};
        uint32_t key = module_name_printf(module, "%.*s_type", NAME(module, level->tensor));
        dump_add_attr(&level->draft, (struct attr){key, node->loc, type});
    }
    node->dialect = is_ge ? DIALECT_GE : DIALECT_ONNX;
    node->type = is_ge ? level->op_type
                       : full_name(module, level->op_domain, level->op_type, level->op_overload);
}

/* Reads a node that was entered. */
static void read_node(struct reader *reader, struct level *level, uint32_t loc)
{
    struct fields *fields = &reader->fields;
    struct dump *dump = fields->dump;
    struct dump_draft *draft = &level->draft;
    struct dump_node *node = &draft->node;
    struct field_walk walk = {fields, &node_message, level, 0, false};
    struct proto_field field;
    dump_begin(draft, loc);
    level->op_type = level->op_domain = level->op_overload = NONE;
    level->constant = level->tensor = NONE;
    level->is_graph = false;
    node->dialect = reader->is_ge ? DIALECT_GE : DIALECT_ONNX;
    reader->descs.count = 0;
    reader->data.name = NULL;
    while (field_next(&walk, &field)) {
        if (proto_is(&field, "input")) {
            read_input(reader, level, &field);
        } else if (proto_is(&field, "output")) {
            read_output(reader, level, &field);
        } else if (proto_is(&field, "attribute")) {
            read_attribute(reader, level, field.name_span.begin);
        } else if (proto_is(&field, "name")) {
            node->name = field_token(fields, &field);
            node->loc = field.span.begin;
            if (is_empty(dump->module, node->name))
                node->name = NONE;
        } else {
            node->type = level->op_type = field_string(fields, &field);
            if (!reader->is_ge || node->type == NONE)
                continue;
            struct intern_name type = dump->module->names.names[node->type];
            if (type.size > 3 && begins(type, "ge:"))
                node->type = intern_copy(&dump->module->names, type.text + 3, type.size - 3);
            else
                level->is_graph = name_is(dump->module, node->type, "subgraph");
            if (name_is(dump->module, node->type, "Data"))
                node->role = DUMP_PARAM;
            else if (name_is(dump->module, node->type, "NetOutput"))
                node->role = DUMP_RETURN;
        }
    }
    if (fields->proto->failed || level->is_graph)
        return;
    if (level->op_type == NONE) {
        diag_at(dump->diags, DIAG_foreign_form, source_token(dump->source, node->loc),
                "a node without 'op_type'");
        return;
    }
    if (reader->is_ge)
        end_ge_node(reader, draft);
    else
        settle_type(dump->module, level);
    if (draft->outputs.count == 1 && node->type != NONE &&
        name_is(dump->module, node->type, "Constant"))
        draft->outputs.at[0].type = level->constant;
    dump_add_node(dump, level->graph, draft);
}

/* --------------------------------------------------------------------------- graphs ---- */

/* A text may be a model or the graph of one. */
#define GRAPH_ROWS                                                                                 \
    ENTER(node, MANY), ENTER(initializer, MANY), READ(value_info, MANY), READ(input, MANY),        \
        READ(output, MANY), ENTER(sparse_initializer, MANY), READ(name, ONE), UNUSED(doc_string),  \
        READ(quantization_annotation, MANY), READ(metadata_props, MANY)
static const struct message graph_message = {"a graph", {GRAPH_ROWS}};
static const struct message function_message = {
    "a function",
    {GRAPH_ROWS, UNUSED_MANY(attribute), READ(opset_import, MANY),
     STORE(domain, ONE, NAME, struct level, domain), UNUSED_MANY(attribute_proto),
     STORE(overload, ONE, NAME, struct level, overload), UNUSED(since_version), UNUSED(status)}};
static const struct message model_message = {
    "the model",
    {GRAPH_ROWS, READ(graph, ONE), UNUSED(ir_version), READ(opset_import, MANY),
     UNUSED(producer_name), UNUSED(producer_version), UNUSED(domain), UNUSED(model_version),
     READ(training_info, MANY), ENTER(functions, MANY), UNUSED_MANY(configuration)}};
static const struct message value_message = {
    "a value", {READ(name, ONE), READ(type, ONE), UNUSED(doc_string), UNUSED_MANY(metadata_props)}};
static const struct message sparse_message = {
    "a sparse tensor", {ENTER(values, ONE), UNUSED(indices), READ(dims, MANY)}};

/* The fields that only graphs have. */
static const char *const graph_fields[] = {
    "node", "initializer", "sparse_initializer", "input", "output", "value_info", "name", NULL};

static void begin_level(struct reader *reader, struct level *level, uint32_t loc, uint32_t parent)
{
    *level = (struct level){.loc = loc, .name = NONE, .domain = NONE, .overload = NONE};
    level->graph = dump_add_graph(reader->fields.dump, NONE, loc, parent);
}

/* Declares a value: a ValueInfoProto, or as functions have it, just a name. */
static struct dump_param read_value(struct fields *fields, struct level *level,
                                    const struct proto_field *outer)
{
    struct dump_param value = {.name = NONE, .type = NONE, .loc = outer->span.begin};
    struct field_walk walk = {fields, &value_message, NULL, 0, false};
    struct proto_field field;
    if (outer->kind == PROTO_STRING)
        value.name = field_token(fields, outer);
    if (outer->kind == PROTO_STRING || !field_enter(fields, outer))
        return value;
    while (field_next(&walk, &field))
        if (proto_is(&field, "name")) {
            value.name = field_token(fields, &field);
            value.loc = field.span.begin;
        } else if (field.kind == PROTO_MESSAGE) {
            proto_enter(fields->proto);
            value.type = read_type(fields, value.loc);
        }
    if (value.name != NONE && value.type != NONE)
        vec_push(&level->declared, value);
    return value;
}

/* A constant that is no node. */
static void add_initializer(struct reader *reader, struct level *level, const struct tensor *tensor)
{
    struct dump *dump = reader->fields.dump;
    if (tensor->name == NONE || reader->text.failed)
        return;
    dump_begin(&level->draft, tensor->loc);
    level->draft.node.type = module_name(dump->module, "Const");
    level->draft.node.implied = true;
    dump_add_output(&level->draft, tensor->name, tensor->type);
    if (tensor->filled)
        dump_add_attr(&level->draft, (struct attr){W_value, tensor->loc, tensor->value});
    dump_add_node(dump, level->graph, &level->draft);
}

/* Its name is that of the tensor of its values, its shape its own. */
static void read_sparse(struct reader *reader, struct level *level, uint32_t loc)
{
    struct fields *fields = &reader->fields;
    struct field_walk walk = {fields, &sparse_message, NULL, 0, false};
    struct tensor tensor = {.name = NONE, .dtype = DTYPE_UNKNOWN};
    struct dump_shape shape = {.rank = 0};
    struct proto_field field;
    int64_t dim;
    while (field_next(&walk, &field))
        if (proto_is(&field, "values"))
            read_tensor(fields, &tensor, field.name_span.begin);
        else if (proto_integer(fields->proto, &field, &dim))
            dump_shape_add_number(&shape, dim);
    if (!fields->proto->failed)
        dump_lose(fields->dump, loc, "a sparse initializer's contents");
    tensor.filled = false;
    tensor.type = dump_type(fields->dump, tensor.dtype, W_ND, &shape, tensor.loc);
    add_initializer(reader, level, &tensor);
}

/* The version of ONNX's own operator set, where an `opset_import` is about this. */
static void read_version(struct fields *fields, const struct proto_field *outer, int64_t *version)
{
    struct proto_field field;
    uint32_t domain = NONE;
    int64_t number = 0;
    if (!field_enter(fields, outer))
        return;
    while (proto_next(fields->proto, &field))
        if (proto_is(&field, "domain"))
            domain = field_token(fields, &field);
        else if (proto_is(&field, "version"))
            proto_integer(fields->proto, &field, &number);
    if (is_own_domain(fields->dump->module, domain) && number > 0)
        *version = number;
}

static void read_graph_field(struct reader *reader, struct level *level,
                             const struct proto_field *field)
{
    struct fields *fields = &reader->fields;
    struct dump *dump = fields->dump;
    struct tensor tensor;
    if (proto_is(field, "node")) {
        read_node(reader, level, field->name_span.begin);
    } else if (proto_is(field, "initializer")) {
        read_tensor(fields, &tensor, field->name_span.begin);
        add_initializer(reader, level, &tensor);
    } else if (proto_is(field, "sparse_initializer")) {
        read_sparse(reader, level, field->name_span.begin);
    } else if (proto_is(field, "name")) {
        level->name = field_string(fields, field);
    } else if (proto_is(field, "opset_import")) {
        read_version(fields, field, &dump->graphs.at[level->graph].version);
    } else if (proto_is(field, "quantization_annotation")) {
        dump_drop(dump, field->name_span.begin, "an annotation of quantization");
    } else if (!proto_is(field, "metadata_props")) {
        struct dump_param value = read_value(fields, level, field);
        struct dump_input input = {
            .name = value.name, .label = NONE, .loc = value.loc, .kind = DUMP_VALUE};
        bool counts = value.name != NONE && !reader->is_ge;
        if (proto_is(field, "input") && counts)
            vec_push(&dump->graphs.at[level->graph].params, value);
        else if (proto_is(field, "output") && counts)
            vec_push(&dump->graphs.at[level->graph].returns, input);
    }
}

/* Values that nodes give get the types that are declared after them; and the graph its name, or
 * else `fallback`. */
static void end_level(struct reader *reader, struct level *level, uint32_t fallback)
{
    struct dump *dump = reader->fields.dump;
    struct dump_graph *graph = &dump->graphs.at[level->graph];
    struct id_map *types = &reader->types;
    for (uint32_t i = 0; i < level->declared.count; i++)
        id_map_set(types, level->declared.at[i].name, level->declared.at[i].type);
    for (uint32_t i = 0; i < graph->outputs.count; i++) {
        struct dump_output *output = &graph->outputs.at[i];
        uint32_t type = output->name == NONE ? NONE : id_map_find(types, output->name);
        if (output->type == NONE)
            output->type = type;
    }
    for (uint32_t i = 0; i < level->declared.count; i++)
        id_map_set(types, level->declared.at[i].name, NONE);
    /* Inputs that have an initializer are no parameters: older models list those, too. */
    uint32_t kept = 0;
    for (uint32_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i].implied)
            id_map_set(types, graph->outputs.at[graph->nodes.at[i].outputs.first].name, 0);
    for (uint32_t i = 0; i < graph->params.count; i++)
        if (id_map_find(types, graph->params.at[i].name) == NONE)
            graph->params.at[kept++] = graph->params.at[i];
    graph->params.count = kept;
    for (uint32_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i].implied)
            id_map_set(types, graph->outputs.at[graph->nodes.at[i].outputs.first].name, NONE);
    graph->open = !graph_returns(graph);
    dump_name_graph(dump, level->graph,
                    is_empty(dump->module, level->name) ? fallback : level->name);
    vec_free(&level->declared);
    dump_draft_free(&level->draft);
}

/* A graph that was entered. */
static uint32_t read_graph(struct reader *reader, uint32_t loc, uint32_t parent, uint32_t name)
{
    struct level level;
    struct proto_field field;
    struct field_walk walk = {&reader->fields, &graph_message, &level, 0, false};
    begin_level(reader, &level, loc, parent);
    while (field_next(&walk, &field))
        read_graph_field(reader, &level, &field);
    end_level(reader, &level, name);
    return level.graph;
}

/* A function that was entered, which nodes call whose op type is its name. */
static void read_function(struct reader *reader, uint32_t loc)
{
    struct level level;
    struct proto_field field;
    struct field_walk walk = {&reader->fields, &function_message, &level, 0, false};
    begin_level(reader, &level, loc, NONE);
    while (field_next(&walk, &field))
        read_graph_field(reader, &level, &field);
    uint32_t name =
        full_name(reader->fields.dump->module, level.domain, level.name, level.overload);
    if (name != NONE)
        id_map_set(&reader->callees, name, level.graph);
    end_level(reader, &level, NONE);
}

/* --------------------------------------------------------------------------- models ---- */

/* A key and its text, of which models have any. */
static const struct message property_message = {"an entry", {READ(key, ONE), READ(value, ONE)}};

/* A ModelProto; or a GraphProto, whose fields are others. */
static void read_model(struct reader *reader)
{
    struct fields *fields = &reader->fields;
    struct level level;
    struct field_walk walk = {fields, &model_message, NULL, 0, false};
    struct proto_field field;
    bool is_graph = false, is_model = false;
    while (field_next(&walk, &field)) {
        bool of_graph = field_is_one(&field, graph_fields);
        is_model |= proto_is(&field, "graph");
        if (is_model && (is_graph || of_graph)) {
            proto_fail(fields->proto, field.name_span,
                       "'%.*s' is a field of a %s, but the text is a %s", (int)field.name_size,
                       field.name, is_graph ? "model" : "graph", is_graph ? "graph" : "model");
        } else if (proto_is(&field, "graph") && field_enter(fields, &field)) {
            read_graph(reader, field.name_span.begin, NONE, NONE);
        } else if (proto_is(&field, "functions")) {
            read_function(reader, field.name_span.begin);
        } else if (proto_is(&field, "opset_import")) {
            read_version(fields, &field, &fields->dump->version);
        } else if (proto_is(&field, "training_info")) {
            dump_drop(fields->dump, field.name_span.begin, "graphs for training");
        } else if (proto_is(&field, "metadata_props") && field_enter(fields, &field)) {
            struct field_walk property = {fields, &property_message, NULL, 0, false};
            struct attr attr = {NONE, NONE, {.kind = ATTR_STRING, .id = NONE}};
            struct span key = field.name_span;
            while (field_next(&property, &field)) {
                bool is_key = proto_is(&field, "key");
                *(is_key ? &attr.key : &attr.value.id) = field_token(fields, &field);
                key = is_key ? field.span : key;
            }
            if (attr.key != NONE && attr.value.id != NONE)
                dump_take_gears(fields->dump, &attr, key);
        } else if (of_graph) {
            if (!is_graph)
                begin_level(reader, &level, field.name_span.begin, NONE);
            is_graph = true;
            read_graph_field(reader, &level, &field);
        }
    }
    if (is_graph)
        end_level(reader, &level, NONE);
}

static bool read(struct dump *dump, bool is_ge)
{
    struct reader reader = {.fields = {.dump = dump, .proto = &reader.text}, .is_ge = is_ge};
    proto_init(&reader.text, dump->source, dump->diags);
    read_model(&reader);
    bool done = !reader.text.failed;
    if (done)
        callees_link(dump, &reader.callees);
    if (done && dump->graphs.count == 0)
        diag_at(dump->diags, DIAG_foreign_form, no_span, "there is no graph in the text");
    proto_free(&reader.text);
    vec_free(&reader.fields.values);
    id_map_free(&reader.types);
    id_map_free(&reader.callees);
    vec_free(&reader.descs);
    return done && !dump->diags->counts[SEVERITY_ERROR];
}

bool exchange_read_onnx_txt(struct dump *dump)
{
    return read(dump, false);
}

bool exchange_read_ge_onnx(struct dump *dump)
{
    return read(dump, true);
}

/* ---------------------------------------------------------------------------- signs ---- */

/* Which texts are ONNX models, and which of these are GE's: an op type says it, where there is a
 * node. SIGN_WEAK: nothing but what models have. */
enum sign { SIGN_NONE, SIGN_WEAK, SIGN_ONNX, SIGN_GE };

/* Of a node that was entered: what its op type says. */
static enum sign sign_of_node(struct proto_text *proto)
{
    static const char *const others[] = {"input",     "output",         "name",
                                         "attribute", "doc_string",     "domain",
                                         "overload",  "metadata_props", NULL};
    struct proto_field field;
    while (proto_next(proto, &field)) {
        struct intern_name type = {"", 0, 0};
        size_t size;
        if (proto_is(&field, "op_type") && proto_string(proto, &field, &type.text, &size)) {
            type.size = (uint32_t)size;
            return (size > 3 && begins(type, "ge:")) || is_word(type.text, size, "subgraph")
                       ? SIGN_GE
                       : SIGN_ONNX;
        }
        if (!field_is_one(&field, others))
            break;
    }
    return SIGN_NONE;
}

/* Of a model or a graph. A graph in a model may be without nodes if the model has its signs. */
static enum sign sign_of_text(struct proto_text *proto)
{
    static const char *const others[] = {"ir_version",       "opset_import",  "producer_name",
                                         "producer_version", "domain",        "model_version",
                                         "doc_string",       "functions",     "metadata_props",
                                         "training_info",    "configuration", NULL};
    struct proto_field field;
    enum sign sign = SIGN_NONE;
    bool in_graph = false;
    while (proto_next(proto, &field)) {
        if (field_is_message(&field, "node") || (field_is_message(&field, "graph") && !in_graph))
            proto_enter(proto);
        if (field_is_message(&field, "node"))
            return sign_of_node(proto);
        if (field_is_message(&field, "initializer"))
            return SIGN_ONNX;
        if (field_is_message(&field, "graph") && !in_graph)
            in_graph = true;
        else if (!in_graph &&
                 (proto_is(&field, "ir_version") || field_is_message(&field, "opset_import")))
            sign = SIGN_WEAK;
        else if (!field_is_one(&field, others) && !field_is_one(&field, graph_fields))
            return SIGN_NONE;
    }
    return in_graph && sign == SIGN_WEAK ? SIGN_ONNX : sign;
}

static enum sign sign_of(const struct source *source)
{
    struct proto_text proto;
    proto_init(&proto, source, NULL);
    enum sign sign = sign_of_text(&proto);
    proto_free(&proto);
    return sign;
}

bool exchange_looks_onnx_txt(const struct source *source)
{
    enum sign sign = sign_of(source);
    return sign == SIGN_ONNX || sign == SIGN_WEAK;
}

bool exchange_looks_ge_onnx(const struct source *source)
{
    return sign_of(source) == SIGN_GE;
}
