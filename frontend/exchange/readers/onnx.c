/* ONNX models as protobuf text, and GE's graphs in the form of such models (docs/importing.md).
 *
 * In ONNX an input names the value that it takes, whose type stands behind all nodes, if anywhere;
 * a graph that is an attribute may take the values of those around it. GE has the messages of ONNX,
 * but its own idea of them: readers/ge_onnx.h. */
#include "frontend/exchange/dump/contents.h"
#include "frontend/exchange/exchange.h"
#include "frontend/exchange/readers/callees.h"
#include "frontend/exchange/readers/ge_onnx.h"
#include "frontend/exchange/readers/onnx_values.h"

/* A model on its way in. */
struct reader {
    struct onnx onnx;
    struct ge_onnx ge;
    bool is_ge;
    struct proto_field data; /* the bytes of the constant at hand; without a name: there are none */
};

/* The fields of AttributeProto that have values, and its numbers for the kinds of them. */
enum kind {
    UNKNOWN,
    F,
    I,
    S,
    T,
    G,
    FLOATS,
    INTS,
    STRINGS,
    TENSORS,
    GRAPHS,
    SPARSE,
    SPARSES,
    TP,
    TPS
};

static const struct {
    const char *field, *word;
    uint32_t empty; /* the word for the elements of an empty list; NONE: there is no list */
} kinds[] = {
    [UNKNOWN] = {"", "UNDEFINED", NONE},
    [F] = {"f", "FLOAT", NONE},
    [I] = {"i", "INT", NONE},
    [S] = {"s", "STRING", NONE},
    [T] = {"t", "TENSOR", NONE},
    [G] = {"g", "GRAPH", NONE},
    [FLOATS] = {"floats", "FLOATS", W_float},
    [INTS] = {"ints", "INTS", W_int},
    [STRINGS] = {"strings", "STRINGS", W_string},
    [TENSORS] = {"tensors", "TENSORS", 0},
    [GRAPHS] = {"graphs", "GRAPHS", 0},
    [SPARSE] = {"sparse_tensor", "SPARSE_TENSOR", NONE},
    [SPARSES] = {"sparse_tensors", "SPARSE_TENSORS", 0},
    [TP] = {"tp", "TYPE_PROTO", NONE},
    [TPS] = {"type_protos", "TYPE_PROTOS", 0},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* A graph, or function, that is being read. */
struct level {
    uint32_t graph, loc;
    uint32_t name, domain, overload; /* NONE */
    struct dump_draft draft;
    VEC(struct dump_param) declared; /* names of values and their types */
    /* The node at hand. */
    uint32_t op_type, op_domain, op_overload;
    uint32_t constant; /* the type of what it gives, of a constant; NONE */
    bool is_graph;     /* it stands for the graph that is its attribute */
};

struct attribute {
    uint32_t key, loc;
    enum kind kind;
    uint32_t first; /* of its values in onnx.values */
    bool wanted;
};

/* ----------------------------------------------------------------------- attributes ---- */

static void push(struct reader *reader, struct attr_value value)
{
    vec_push(&reader->onnx.values, value);
}

static uint32_t read_graph(struct reader *reader, uint32_t loc, uint32_t parent, uint32_t name);

/* A graph of a node: it may use the values of the graph that has the node, but in GE's dumps. */
static void read_inner_graph(struct reader *reader, struct level *level,
                             const struct attribute *attribute, const struct proto_field *field)
{
    if (!field_enter(&reader->onnx.proto, field))
        return;
    uint32_t parent = reader->is_ge ? NONE : level->graph;
    uint32_t name = reader->is_ge ? level->draft.node.name : attribute->key;
    uint32_t graph = read_graph(reader, field->name_span.begin, parent, name);
    name = reader->onnx.dump->graphs.at[graph].name;
    push(reader, (struct attr_value){.kind = ATTR_SYMBOL, .id = name});
}

static void read_number(struct reader *reader, enum kind kind, const struct proto_field *field)
{
    struct attr_value value = {.kind = kind == F || kind == FLOATS ? ATTR_FLOAT : ATTR_INT};
    if (value.kind == ATTR_FLOAT ? proto_float(&reader->onnx.proto, field, &value.f)
                                 : proto_integer(&reader->onnx.proto, field, &value.i))
        push(reader, value);
}

static void read_bytes(struct reader *reader, const struct proto_field *field)
{
    uint32_t name = field_string(&reader->onnx.proto, field, reader->onnx.dump);
    if (name != NONE)
        push(reader, (struct attr_value){.kind = ATTR_STRING, .id = name});
}

static void read_tensor(struct reader *reader, struct level *level, const struct proto_field *field)
{
    struct onnx_tensor tensor;
    if (!field_enter(&reader->onnx.proto, field))
        return;
    onnx_read_tensor(&reader->onnx, &tensor, field->name_span.begin);
    level->constant = tensor.type;
    if (tensor.filled)
        push(reader, tensor.value);
}

static void read_type(struct reader *reader, const struct proto_field *field)
{
    if (!field_enter(&reader->onnx.proto, field))
        return;
    uint32_t type = onnx_read_type(&reader->onnx, field->name_span.begin);
    push(reader, (struct attr_value){.kind = ATTR_TYPE, .id = type});
}

/* A field that is a value, or one of them. Graphs are read in any case, as they count. */
static void read_value(struct reader *reader, struct level *level, struct attribute *attribute,
                       enum kind kind, const struct proto_field *field)
{
    if (kind == G || kind == GRAPHS)
        read_inner_graph(reader, level, attribute, field);
    else if (!attribute->wanted)
        return;
    else if (kind == T || kind == TENSORS)
        read_tensor(reader, level, field);
    else if (kind == TP || kind == TPS)
        read_type(reader, field);
    else if (kind == S || kind == STRINGS)
        read_bytes(reader, field);
    else if (kind == SPARSE || kind == SPARSES)
        dump_drop(reader->onnx.dump, attribute->loc, "a sparse tensor that is an attribute");
    else
        read_number(reader, kind, field);
}

static bool wants(struct reader *reader, struct level *level, uint32_t key)
{
    if (reader->is_ge && ge_onnx_is_desc(reader->onnx.dump, key))
        return true;
    return dump_wants(reader->onnx.dump, &level->draft, key) ||
           (reader->is_ge && ge_onnx_is_index(reader->onnx.dump, key));
}

/* What `type` says: a word, or its number. */
static enum kind read_kind(struct reader *reader, const struct proto_field *field)
{
    int64_t number = 0;
    if (field->kind != PROTO_WORD)
        return proto_integer(&reader->onnx.proto, field, &number) && number > 0 && number < KINDS
                   ? (enum kind)number
                   : UNKNOWN;
    for (unsigned i = 0; i < KINDS; i++)
        if (strlen(kinds[i].word) == field->size &&
            memcmp(kinds[i].word, field->text, field->size) == 0)
            return (enum kind)i;
    return UNKNOWN;
}

static void read_attribute_field(struct reader *reader, struct level *level,
                                 struct attribute *attribute, const struct proto_field *field)
{
    if (proto_is(field, "name")) {
        attribute->key = field_string(&reader->onnx.proto, field, reader->onnx.dump);
        attribute->wanted = attribute->key != NONE && wants(reader, level, attribute->key);
        return;
    }
    if (proto_is(field, "type")) {
        attribute->kind = read_kind(reader, field);
        return;
    }
    if (proto_is(field, "ref_attr_name")) {
        dump_drop(reader->onnx.dump, attribute->loc, "an attribute that is one of its function");
        attribute->key = NONE;
    }
    if (reader->is_ge && attribute->key != NONE && field_is_string(field, "s") &&
        ge_onnx_is_data(reader->onnx.dump, &level->draft.node, attribute->key)) {
        reader->data = *field;
        return;
    }
    for (unsigned i = 1; i < KINDS; i++)
        if (proto_is(field, kinds[i].field)) {
            if (attribute->kind == UNKNOWN)
                attribute->kind = (enum kind)i;
            read_value(reader, level, attribute, (enum kind)i, field);
        }
}

/* What the fields said. Numbers that are 0 and empty strings may be left out. */
static bool attribute_value(struct reader *reader, const struct attribute *attribute,
                            struct attr_value *value)
{
    struct onnx *onnx = &reader->onnx;
    bool some = onnx->values.count > attribute->first;
    if (kinds[attribute->kind].empty != NONE) {
        *value = numbers_list(&onnx->values, onnx->dump->module, attribute->first,
                              kinds[attribute->kind].empty);
        return true;
    }
    *value = (struct attr_value){.kind = ATTR_INT};
    if (some)
        *value = onnx->values.at[onnx->values.count - 1];
    else if (attribute->kind == F)
        *value = (struct attr_value){.kind = ATTR_FLOAT};
    else if (attribute->kind == S)
        *value =
            (struct attr_value){.kind = ATTR_STRING, .id = module_name(onnx->dump->module, "")};
    onnx->values.count = attribute->first;
    return some || attribute->kind == I || attribute->kind == F || attribute->kind == S;
}

/* The contents of a Constant, which has them under several keys. */
static bool is_contents(const struct level *level, const struct module *module, uint32_t key)
{
    static const char *const keys[] = {"value_int", "value_float", "value_ints", "value_floats"};
    for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (name_is(module, key, keys[i]))
            return level->op_type != NONE && name_is(module, level->op_type, "Constant");
    return false;
}

static void set_contents_type(struct reader *reader, struct level *level,
                              const struct attribute *attribute, const struct attr_value *value)
{
    struct dump_shape shape;
    bool is_float = attribute->kind == F || attribute->kind == FLOATS;
    shape.rank = 0;
    if (value->kind == ATTR_LIST)
        dump_shape_add(&shape, value->count);
    level->constant = dump_type(reader->onnx.dump, is_float ? DTYPE_f32 : DTYPE_i64, W_ND, &shape,
                                attribute->loc);
}

static void end_attribute(struct reader *reader, struct level *level, struct attribute *attribute)
{
    struct dump *dump = reader->onnx.dump;
    struct attr_value value;
    uint32_t key = attribute->key;
    if (reader->is_ge && key != NONE && ge_onnx_is_desc(dump, key)) {
        uint32_t count = reader->onnx.values.count - attribute->first;
        ge_onnx_take(&reader->ge, dump, key, numbers_from(&reader->onnx.values, attribute->first),
                     count, attribute->loc);
        reader->onnx.values.count = attribute->first;
        return;
    }
    if (!attribute_value(reader, attribute, &value) || key == NONE)
        return;
    if (level->is_graph)
        return;
    if (reader->is_ge && ge_onnx_is_index(dump, key) && value.kind == ATTR_INT)
        level->draft.node.index = value.i;
    if (is_contents(level, dump->module, key)) {
        set_contents_type(reader, level, attribute, &value);
        key = W_value;
    }
    dump_add_attr(&level->draft, (struct attr){key, attribute->loc, value});
}

static void read_attribute(struct reader *reader, struct level *level,
                           const struct proto_field *outer)
{
    struct proto_field field;
    struct attribute attribute = {
        .key = NONE,
        .loc = outer->name_span.begin,
        .kind = UNKNOWN,
        .first = reader->onnx.values.count,
        .wanted = true,
    };
    if (!field_enter(&reader->onnx.proto, outer))
        return;
    while (proto_next(&reader->onnx.proto, &field))
        read_attribute_field(reader, level, &attribute, &field);
    end_attribute(reader, level, &attribute);
}

/* ---------------------------------------------------------------------------- nodes ---- */

static void read_input(struct reader *reader, struct level *level, const struct proto_field *field)
{
    struct dump *dump = reader->onnx.dump;
    uint32_t name = field_token(&reader->onnx.proto, field, dump);
    if (name == NONE)
        return;
    struct dump_input input = {
        .name = name, .label = NONE, .loc = field->span.begin, .kind = DUMP_VALUE};
    if (dump->module->names.names[name].size == 0) {
        input.name = NONE;
        input.kind = DUMP_ABSENT;
    } else if (reader->is_ge) {
        ge_onnx_input(dump, &input);
    }
    dump_add_input(&level->draft, input);
}

static void read_output(struct reader *reader, struct level *level, const struct proto_field *field)
{
    struct dump *dump = reader->onnx.dump;
    uint32_t name = field_string(&reader->onnx.proto, field, dump);
    if (name == NONE)
        return;
    if (reader->is_ge)
        ge_onnx_output(&reader->ge, dump, name);
    else
        dump_add_output(&level->draft, dump->module->names.names[name].size ? name : NONE, NONE);
}

static void read_node_field(struct reader *reader, struct level *level,
                            const struct proto_field *field)
{
    struct proto_text *proto = &reader->onnx.proto;
    struct dump *dump = reader->onnx.dump;
    struct dump_node *node = &level->draft.node;
    if (proto_is(field, "input")) {
        read_input(reader, level, field);
    } else if (proto_is(field, "output")) {
        read_output(reader, level, field);
    } else if (proto_is(field, "attribute")) {
        read_attribute(reader, level, field);
    } else if (proto_is(field, "name")) {
        node->name = field_token(proto, field, dump);
        node->loc = field->span.begin;
        if (node->name != NONE && dump->module->names.names[node->name].size == 0)
            node->name = NONE;
    } else if (proto_is(field, "op_type")) {
        node->type = level->op_type = field_string(proto, field, dump);
        if (reader->is_ge && node->type != NONE)
            level->is_graph = ge_onnx_type(dump, node);
    } else if (proto_is(field, "domain")) {
        level->op_domain = field_string(proto, field, dump);
    } else if (proto_is(field, "overload")) {
        level->op_overload = field_string(proto, field, dump);
    }
}

/* The name of an op type, or function, of a domain: DOMAIN::NAME, but for ONNX's own. */
static uint32_t full_name(struct module *module, uint32_t domain, uint32_t name, uint32_t overload)
{
    bool has_domain = domain != NONE && module->names.names[domain].size > 0 &&
                      !name_is(module, domain, "ai.onnx");
    bool has_overload = overload != NONE && module->names.names[overload].size > 0;
    if (name == NONE || (!has_domain && !has_overload))
        return name;
    struct text text = {NULL, 0, 0};
    if (has_domain)
        text_printf(&text, "%.*s::", NAME(module, domain));
    text_printf(&text, "%.*s", NAME(module, name));
    if (has_overload)
        text_printf(&text, ":%.*s", NAME(module, overload));
    uint32_t full = intern_copy(&module->names, text.at, text.size);
    text_free(&text);
    return full;
}

static void end_ge_node(struct reader *reader, struct dump_draft *draft)
{
    struct dump *dump = reader->onnx.dump;
    struct attr attr = {W_value, draft->node.loc, {.kind = ATTR_INT}};
    struct dump_bytes bytes = {.literal = reader->data.span.begin, .plain = reader->data.plain};
    ge_onnx_end_node(&reader->ge, dump, draft);
    if (!reader->data.name || draft->outputs.count != 1 ||
        !proto_string(&reader->onnx.proto, &reader->data, &bytes.bytes, &bytes.size))
        return;
    if (dump_contents_bytes(dump, draft->outputs.at[0].type, &bytes, attr.loc, &attr.value))
        dump_add_attr(draft, attr);
}

static void end_node(struct reader *reader, struct level *level)
{
    struct dump *dump = reader->onnx.dump;
    struct dump_draft *draft = &level->draft;
    if (level->is_graph)
        return;
    if (level->op_type == NONE) {
        diag_at(dump->diags, DIAG_foreign_form, source_token(dump->source, draft->node.loc),
                "a node without 'op_type'");
        return;
    }
    if (reader->is_ge)
        end_ge_node(reader, draft);
    else
        draft->node.type =
            full_name(dump->module, level->op_domain, level->op_type, level->op_overload);
    if (draft->outputs.count == 1 && draft->node.type != NONE &&
        name_is(dump->module, draft->node.type, "Constant"))
        draft->outputs.at[0].type = level->constant;
    dump_add_node(dump, level->graph, draft);
}

static void read_node(struct reader *reader, struct level *level, const struct proto_field *outer)
{
    struct proto_field field;
    if (!field_enter(&reader->onnx.proto, outer))
        return;
    dump_begin(&level->draft, outer->name_span.begin);
    level->op_type = level->op_domain = level->op_overload = level->constant = NONE;
    level->is_graph = false;
    ge_onnx_begin_node(&reader->ge);
    reader->data.name = NULL;
    while (proto_next(&reader->onnx.proto, &field))
        read_node_field(reader, level, &field);
    if (!reader->onnx.proto.failed)
        end_node(reader, level);
}

/* --------------------------------------------------------------------------- graphs ---- */

/* A ValueInfoProto, or as functions have it, just a name: its name and type. */
static struct dump_param read_value_info(struct reader *reader, struct level *level,
                                         const struct proto_field *outer)
{
    struct onnx *onnx = &reader->onnx;
    struct dump_param value = {.name = NONE, .type = NONE, .loc = outer->span.begin};
    struct proto_field field;
    if (outer->kind == PROTO_STRING) {
        value.name = field_token(&onnx->proto, outer, onnx->dump);
        return value;
    }
    if (!field_enter(&onnx->proto, outer))
        return value;
    while (proto_next(&onnx->proto, &field))
        if (proto_is(&field, "name")) {
            value.name = field_token(&onnx->proto, &field, onnx->dump);
            value.loc = field.span.begin;
        } else if (field_is_message(&field, "type")) {
            proto_enter(&onnx->proto);
            value.type = onnx_read_type(onnx, value.loc);
        }
    if (value.name != NONE && value.type != NONE)
        vec_push(&level->declared, value);
    return value;
}

static void read_graph_input(struct reader *reader, struct level *level,
                             const struct proto_field *field)
{
    struct dump_param value = read_value_info(reader, level, field);
    if (value.name != NONE && !reader->is_ge)
        vec_push(&reader->onnx.dump->graphs.at[level->graph].params, value);
}

static void read_graph_output(struct reader *reader, struct level *level,
                              const struct proto_field *field)
{
    struct dump_param value = read_value_info(reader, level, field);
    struct dump_input input = {
        .name = value.name, .label = NONE, .loc = value.loc, .kind = DUMP_VALUE};
    if (value.name != NONE && !reader->is_ge)
        vec_push(&reader->onnx.dump->graphs.at[level->graph].returns, input);
}

/* A constant that is no node. */
static void add_initializer(struct reader *reader, struct level *level,
                            const struct onnx_tensor *tensor)
{
    struct dump *dump = reader->onnx.dump;
    if (tensor->name == NONE || reader->onnx.proto.failed)
        return;
    dump_begin(&level->draft, tensor->loc);
    level->draft.node.type = module_name(dump->module, "Const");
    level->draft.node.implied = true;
    dump_add_output(&level->draft, tensor->name, tensor->type);
    if (tensor->filled)
        dump_add_attr(&level->draft, (struct attr){W_value, tensor->loc, tensor->value});
    dump_add_node(dump, level->graph, &level->draft);
}

static void read_initializer(struct reader *reader, struct level *level,
                             const struct proto_field *field)
{
    struct onnx_tensor tensor;
    if (!field_enter(&reader->onnx.proto, field))
        return;
    onnx_read_tensor(&reader->onnx, &tensor, field->name_span.begin);
    add_initializer(reader, level, &tensor);
}

/* Its name is that of the tensor of its values, its shape its own. */
static void read_sparse_initializer(struct reader *reader, struct level *level,
                                    const struct proto_field *outer)
{
    struct proto_text *proto = &reader->onnx.proto;
    struct onnx_tensor tensor = {.name = NONE, .dtype = DTYPE_UNKNOWN};
    struct dump_shape shape;
    struct proto_field field;
    int64_t dim;
    if (!field_enter(proto, outer))
        return;
    shape.rank = 0;
    while (proto_next(proto, &field))
        if (field_is_message(&field, "values")) {
            proto_enter(proto);
            onnx_read_tensor(&reader->onnx, &tensor, field.name_span.begin);
        } else if (proto_is(&field, "dims") && proto_integer(proto, &field, &dim)) {
            dump_shape_add(&shape, dim < 0 ? DIM_UNKNOWN : dim);
        }
    if (!proto->failed)
        dump_lose(reader->onnx.dump, outer->name_span.begin, "a sparse initializer's contents");
    tensor.filled = false;
    tensor.type = dump_type(reader->onnx.dump, tensor.dtype, W_ND, &shape, tensor.loc);
    add_initializer(reader, level, &tensor);
}

/* What skirc export says of the graph, which has no attributes. */
static void read_doc(struct reader *reader, struct level *level, const struct proto_field *field)
{
    static const char mark[] = "_skir ";
    const char *bytes;
    size_t size;
    if (field->kind == PROTO_STRING && proto_string(&reader->onnx.proto, field, &bytes, &size) &&
        size >= sizeof mark - 1 && memcmp(bytes, mark, sizeof mark - 1) == 0)
        reader->onnx.dump->graphs.at[level->graph].rest_text = intern_copy(
            &reader->onnx.dump->module->names, bytes + sizeof mark - 1, size - (sizeof mark - 1));
}

static void read_graph_field(struct reader *reader, struct level *level,
                             const struct proto_field *field)
{
    struct proto_text *proto = &reader->onnx.proto;
    struct dump *dump = reader->onnx.dump;
    if (proto_is(field, "node"))
        read_node(reader, level, field);
    else if (proto_is(field, "initializer"))
        read_initializer(reader, level, field);
    else if (proto_is(field, "sparse_initializer"))
        read_sparse_initializer(reader, level, field);
    else if (proto_is(field, "input"))
        read_graph_input(reader, level, field);
    else if (proto_is(field, "output"))
        read_graph_output(reader, level, field);
    else if (proto_is(field, "value_info"))
        read_value_info(reader, level, field);
    else if (proto_is(field, "name"))
        level->name = field_string(proto, field, dump);
    else if (proto_is(field, "doc_string"))
        read_doc(reader, level, field);
    else if (proto_is(field, "domain"))
        level->domain = field_string(proto, field, dump);
    else if (proto_is(field, "overload"))
        level->overload = field_string(proto, field, dump);
    else if (proto_is(field, "quantization_annotation"))
        dump_drop(dump, field->name_span.begin, "an annotation of quantization");
}

static void begin_graph(struct reader *reader, struct level *level, uint32_t loc, uint32_t parent)
{
    *level = (struct level){.loc = loc, .name = NONE, .domain = NONE, .overload = NONE};
    level->graph = dump_add_graph(reader->onnx.dump, NONE, loc, parent);
}

/* The types of what the nodes give, which stand behind them. */
static void type_outputs(struct id_map *types, struct dump_graph *graph)
{
    for (uint32_t i = 0; i < graph->outputs.count; i++) {
        struct dump_output *output = &graph->outputs.at[i];
        if (output->name == NONE)
            continue;
        uint32_t type = id_map_find(types, output->name);
        if (type != NONE && output->type == NONE)
            output->type = type;
    }
}

/* Inputs that have an initializer are no parameters: older models list those, too. */
static void drop_initialized(struct id_map *seen, struct dump_graph *graph)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i].implied)
            id_map_set(seen, graph->outputs.at[graph->nodes.at[i].outputs.first].name, 0);
    for (uint32_t i = 0; i < graph->params.count; i++)
        if (id_map_find(seen, graph->params.at[i].name) == NONE)
            graph->params.at[kept++] = graph->params.at[i];
    graph->params.count = kept;
    for (uint32_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i].implied)
            id_map_set(seen, graph->outputs.at[graph->nodes.at[i].outputs.first].name, NONE);
}

static bool returns_something(const struct dump_graph *graph)
{
    if (graph->returns.count)
        return true;
    for (uint32_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i].role == DUMP_RETURN)
            return true;
    return false;
}

static void end_graph(struct reader *reader, struct level *level, uint32_t fallback)
{
    struct dump *dump = reader->onnx.dump;
    struct dump_graph *graph = &dump->graphs.at[level->graph];
    struct id_map *types = &reader->onnx.types;
    for (uint32_t i = 0; i < level->declared.count; i++)
        id_map_set(types, level->declared.at[i].name, level->declared.at[i].type);
    type_outputs(types, graph);
    for (uint32_t i = 0; i < level->declared.count; i++)
        id_map_set(types, level->declared.at[i].name, NONE);
    drop_initialized(types, graph);
    graph->open = !returns_something(graph);
    bool named = level->name != NONE && dump->module->names.names[level->name].size > 0;
    dump_name_graph(dump, level->graph, named ? level->name : fallback);
    vec_free(&level->declared);
    dump_draft_free(&level->draft);
}

/* The fields of a graph that was entered, to its end. */
static uint32_t read_graph(struct reader *reader, uint32_t loc, uint32_t parent, uint32_t name)
{
    struct level level;
    struct proto_field field;
    begin_graph(reader, &level, loc, parent);
    while (proto_next(&reader->onnx.proto, &field))
        read_graph_field(reader, &level, &field);
    end_graph(reader, &level, name);
    return level.graph;
}

/* A function, which nodes call whose op type is its name. */
static void read_function(struct reader *reader, const struct proto_field *outer)
{
    struct level level;
    struct proto_field field;
    struct onnx *onnx = &reader->onnx;
    if (!field_enter(&onnx->proto, outer))
        return;
    begin_graph(reader, &level, outer->name_span.begin, NONE);
    while (proto_next(&onnx->proto, &field))
        read_graph_field(reader, &level, &field);
    uint32_t name = full_name(onnx->dump->module, level.domain, level.name, level.overload);
    if (name != NONE)
        id_map_set(&onnx->callees, name, level.graph);
    end_graph(reader, &level, NONE);
}

/* --------------------------------------------------------------------------- models ---- */

static const char *const graph_fields[] = {
    "node", "initializer", "sparse_initializer", "input", "output", "value_info", "name", NULL};

/* A ModelProto; or a GraphProto, whose fields are others. */
static void read_model(struct reader *reader)
{
    struct level level;
    struct proto_field field;
    bool is_graph = false;
    struct proto_text *proto = &reader->onnx.proto;
    while (proto_next(proto, &field)) {
        if (field_is_message(&field, "graph")) {
            proto_enter(proto);
            read_graph(reader, field.name_span.begin, NONE, NONE);
        } else if (proto_is(&field, "functions")) {
            read_function(reader, &field);
        } else if (proto_is(&field, "training_info")) {
            dump_drop(reader->onnx.dump, field.name_span.begin, "graphs for training");
        } else if (field_is_one(&field, graph_fields)) {
            if (!is_graph)
                begin_graph(reader, &level, field.name_span.begin, NONE);
            is_graph = true;
            read_graph_field(reader, &level, &field);
        }
    }
    if (is_graph)
        end_graph(reader, &level, NONE);
}

static void free_reader(struct reader *reader)
{
    proto_free(&reader->onnx.proto);
    vec_free(&reader->onnx.values);
    id_map_free(&reader->onnx.types);
    id_map_free(&reader->onnx.callees);
    ge_onnx_free(&reader->ge);
}

static bool read(struct dump *dump, bool is_ge)
{
    struct reader reader = {.is_ge = is_ge};
    reader.onnx.dump = dump;
    proto_init(&reader.onnx.proto, dump->source, dump->diags);
    read_model(&reader);
    bool done = !reader.onnx.proto.failed;
    if (done)
        callees_link(dump, &reader.onnx.callees);
    if (done && dump->graphs.count == 0)
        diag_at(dump->diags, DIAG_foreign_form, no_span, "there is no graph in the text");
    free_reader(&reader);
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

enum sign { SIGN_NONE, SIGN_WEAK, SIGN_ONNX, SIGN_GE };

static const char *const model_fields[] = {"ir_version",       "opset_import",  "producer_name",
                                           "producer_version", "domain",        "model_version",
                                           "doc_string",       "functions",     "metadata_props",
                                           "training_info",    "configuration", NULL};
static const char *const node_fields[] = {"input",     "output",         "name",
                                          "attribute", "doc_string",     "domain",
                                          "overload",  "metadata_props", NULL};

/* Of a node that was entered: what its op type says. */
static enum sign sign_of_node(struct proto_text *proto)
{
    struct proto_field field;
    while (proto_next(proto, &field)) {
        const char *type;
        size_t size;
        if (proto_is(&field, "op_type") && proto_string(proto, &field, &type, &size)) {
            bool is_ge = (size > 3 && memcmp(type, "ge:", 3) == 0) ||
                         (size == 8 && memcmp(type, "subgraph", 8) == 0);
            return is_ge ? SIGN_GE : SIGN_ONNX;
        }
        if (!field_is_one(&field, node_fields))
            return SIGN_NONE;
    }
    return SIGN_NONE;
}

static enum sign sign_of_graph(struct proto_text *proto, enum sign sign)
{
    struct proto_field field;
    while (proto_next(proto, &field)) {
        if (field_is_message(&field, "node")) {
            proto_enter(proto);
            return sign_of_node(proto);
        }
        if (field_is_message(&field, "initializer"))
            return SIGN_ONNX;
        if (!field_is_one(&field, graph_fields) && !field_is_one(&field, model_fields))
            return SIGN_NONE;
    }
    return sign == SIGN_WEAK ? SIGN_ONNX : SIGN_NONE;
}

static enum sign sign_of_text(struct proto_text *proto)
{
    struct proto_field field;
    enum sign sign = SIGN_NONE;
    while (proto_next(proto, &field)) {
        bool is_graph = field_is_message(&field, "graph");
        if (is_graph || field_is_message(&field, "node"))
            proto_enter(proto);
        if (is_graph)
            return sign_of_graph(proto, sign);
        if (field_is_message(&field, "node"))
            return sign_of_node(proto);
        if (proto_is(&field, "ir_version") || field_is_message(&field, "opset_import"))
            sign = SIGN_WEAK;
        else if (field_is_message(&field, "initializer"))
            return SIGN_ONNX;
        else if (!field_is_one(&field, model_fields) && !field_is_one(&field, graph_fields))
            return SIGN_NONE;
    }
    return sign;
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
