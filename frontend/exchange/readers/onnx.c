/* ONNX models as protobuf text, and GE's graphs in the form of such models (docs/importing.md).
 *
 * In ONNX an input names the value that it takes, whose type stands behind all nodes, if anywhere;
 * a graph that is an attribute may take the values of those around it. GE has the messages of ONNX,
 * but its own idea of them: readers/ge_onnx.h. */
#include "frontend/exchange/dump/contents.h"
#include "frontend/exchange/dump/gears.h"
#include "frontend/exchange/exchange.h"
#include "frontend/exchange/readers/callees.h"
#include "frontend/exchange/readers/ge_onnx.h"
#include "frontend/exchange/readers/onnx_attribute.h"
#include "frontend/exchange/readers/onnx_level.h"

/* A model on its way in. */
struct reader {
    struct onnx onnx;
    struct ge_onnx ge;
    struct proto_field data; /* the bytes of the constant at hand; without a name: there are none */
};

/* ----------------------------------------------------------------------- attributes ---- */

static uint32_t read_graph(struct reader *reader, uint32_t loc, uint32_t parent, uint32_t name);

/* A graph of a node: it may use the values of the graph that has the node, but in GE's dumps. */
static void read_inner_graph(struct reader *reader, struct onnx_level *level,
                             const struct onnx_attribute *attribute,
                             const struct proto_field *field)
{
    if (!field_enter(&reader->onnx.proto, field))
        return;
    uint32_t parent = reader->onnx.is_ge ? NONE : level->graph;
    uint32_t name = reader->onnx.is_ge ? level->draft.node.name : attribute->key;
    uint32_t graph = read_graph(reader, field->name_span.begin, parent, name);
    name = reader->onnx.dump->graphs.at[graph].name;
    vec_push(&reader->onnx.values, (struct attr_value){.kind = ATTR_SYMBOL, .id = name});
}

/* A field that is a value, or one of them. Graphs are read in any case, as they count. */
static void read_value(struct reader *reader, struct onnx_level *level,
                       struct onnx_attribute *attribute, enum onnx_kind kind,
                       const struct proto_field *field)
{
    if (attribute->given != KIND_UNKNOWN && attribute->given != kind) {
        proto_fail(&reader->onnx.proto, field->name_span,
                   "'%.*s' is a second value of an attribute", (int)field->name_size, field->name);
        return;
    }
    attribute->given = kind;
    if (kind == KIND_G || kind == KIND_GRAPHS)
        read_inner_graph(reader, level, attribute, field);
    else if (attribute->wanted)
        onnx_read_value(&reader->onnx, attribute, kind, field, &level->constant);
}

static bool wants(struct reader *reader, struct onnx_level *level, uint32_t key)
{
    if (reader->onnx.is_ge && ge_onnx_is_desc(reader->onnx.dump, key))
        return true;
    return dump_wants(reader->onnx.dump, &level->draft, key) ||
           (reader->onnx.is_ge && ge_onnx_is_index(reader->onnx.dump, key));
}

static void read_attribute_field(struct reader *reader, struct onnx_level *level,
                                 struct onnx_attribute *attribute, const struct proto_field *field)
{
    if (proto_is(field, "name")) {
        attribute->key = field_string(&reader->onnx.proto, field, reader->onnx.dump);
        attribute->wanted = attribute->key != NONE && wants(reader, level, attribute->key);
        return;
    }
    if (proto_is(field, "type")) {
        attribute->kind = onnx_read_kind(&reader->onnx, field);
        return;
    }
    if (proto_is(field, "ref_attr_name")) {
        uint32_t name = field_string(&reader->onnx.proto, field, reader->onnx.dump);
        dump_drop(reader->onnx.dump, attribute->loc, "an attribute that is one of its function");
        if (name != NONE)
            vec_push(&reader->onnx.values, (struct attr_value){.kind = ATTR_WORD, .id = name});
        return;
    }
    if (reader->onnx.is_ge && attribute->key != NONE && field_is_string(field, "s") &&
        ge_onnx_is_data(reader->onnx.dump, &level->draft.node, attribute->key)) {
        reader->data = *field;
        return;
    }
    enum onnx_kind kind = onnx_kind_of(field);
    if (kind != KIND_UNKNOWN)
        read_value(reader, level, attribute, kind, field);
}

/* The contents of a Constant, which has them under several keys. */
static bool is_contents(const struct onnx_level *level, const struct module *module, uint32_t key)
{
    static const char *const keys[] = {"value_int", "value_float", "value_ints", "value_floats"};
    for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (name_is(module, key, keys[i]))
            return level->op_type != NONE && name_is(module, level->op_type, "Constant");
    return false;
}

static void set_contents_type(struct reader *reader, struct onnx_level *level,
                              const struct onnx_attribute *attribute,
                              const struct attr_value *value)
{
    struct dump_shape shape;
    bool is_float = attribute->kind == KIND_F || attribute->kind == KIND_FLOATS;
    shape.rank = 0;
    if (value->kind == ATTR_LIST)
        dump_shape_add(&shape, value->count);
    level->constant = dump_type(reader->onnx.dump, is_float ? DTYPE_f32 : DTYPE_i64, W_ND, &shape,
                                attribute->loc);
}

/* The kind of value that an attribute says is that of its value. False with an error where not. */
static bool settle_kind(struct reader *reader, struct onnx_attribute *attribute)
{
    if (attribute->kind == KIND_UNKNOWN)
        attribute->kind = attribute->given;
    if (attribute->given == KIND_UNKNOWN || attribute->given == attribute->kind)
        return true;
    proto_fail(&reader->onnx.proto, source_token(reader->onnx.dump->source, attribute->loc),
               "the type of this attribute is not that of its value");
    return false;
}

static void end_attribute(struct reader *reader, struct onnx_level *level,
                          struct onnx_attribute *attribute)
{
    struct dump *dump = reader->onnx.dump;
    struct attr_value value;
    uint32_t key = attribute->key;
    if (!settle_kind(reader, attribute))
        return;
    if (reader->onnx.is_ge && key != NONE && ge_onnx_is_desc(dump, key)) {
        uint32_t count = reader->onnx.values.count - attribute->first;
        ge_onnx_take(&reader->ge, dump, key, numbers_from(&reader->onnx.values, attribute->first),
                     count, attribute->loc);
        reader->onnx.values.count = attribute->first;
        return;
    }
    if (!onnx_attribute_value(&reader->onnx, attribute, &value) || key == NONE)
        return;
    if (level->is_graph)
        return;
    if (reader->onnx.is_ge && ge_onnx_is_index(dump, key) && value.kind == ATTR_INT)
        level->draft.node.index = value.i;
    if (is_contents(level, dump->module, key)) {
        set_contents_type(reader, level, attribute, &value);
        key = W_value;
    }
    dump_add_attr(&level->draft, (struct attr){key, attribute->loc, value});
    if (attribute->kind == KIND_T)
        level->tensor = key;
}

static void read_attribute(struct reader *reader, struct onnx_level *level,
                           const struct proto_field *outer)
{
    struct proto_field field;
    struct onnx_attribute attribute = {
        .key = NONE,
        .loc = outer->name_span.begin,
        .kind = KIND_UNKNOWN,
        .first = reader->onnx.values.count,
        .wanted = true,
    };
    struct field_walk walk = onnx_walk(&reader->onnx, MESSAGE_ONNX_ATTRIBUTE);
    if (!field_enter(&reader->onnx.proto, outer))
        return;
    while (field_next(&walk, &field))
        read_attribute_field(reader, level, &attribute, &field);
    end_attribute(reader, level, &attribute);
}

/* ---------------------------------------------------------------------------- nodes ---- */

static void read_input(struct reader *reader, struct onnx_level *level,
                       const struct proto_field *field)
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
    } else if (reader->onnx.is_ge) {
        ge_onnx_input(dump, &input);
    }
    dump_add_input(&level->draft, input);
}

static void read_output(struct reader *reader, struct onnx_level *level,
                        const struct proto_field *field)
{
    struct dump *dump = reader->onnx.dump;
    uint32_t name = field_string(&reader->onnx.proto, field, dump);
    if (name == NONE)
        return;
    if (reader->onnx.is_ge)
        ge_onnx_output(&reader->ge, dump, name);
    else
        dump_add_output(&level->draft, dump->module->names.names[name].size ? name : NONE, NONE);
}

static void read_node_field(struct reader *reader, struct onnx_level *level,
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
        if (reader->onnx.is_ge && node->type != NONE)
            level->is_graph = ge_onnx_type(dump, node);
    } else if (proto_is(field, "domain")) {
        level->op_domain = field_string(proto, field, dump);
    } else if (proto_is(field, "overload")) {
        level->op_overload = field_string(proto, field, dump);
    }
}

/* Whether it is the domain of ONNX itself. */
static bool is_own_domain(const struct module *module, uint32_t domain)
{
    return domain == NONE || module->names.names[domain].size == 0 ||
           name_is(module, domain, "ai.onnx");
}

/* The name of an op type, or function, of a domain: DOMAIN::NAME, but for ONNX's own. */
static uint32_t full_name(struct module *module, uint32_t domain, uint32_t name, uint32_t overload)
{
    bool has_domain = !is_own_domain(module, domain);
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

/* A tensor that is an attribute has a type, which is another attribute; that of a constant is the
 * type of its result. */
static void add_tensor_type(struct module *module, struct onnx_level *level)
{
    struct attr_value type = {.kind = ATTR_TYPE, .id = level->constant};
    uint32_t key = module_name_printf(module, "%.*s_type", NAME(module, level->tensor));
    dump_add_attr(&level->draft, (struct attr){key, level->draft.node.loc, type});
}

/* Ops of GE have a domain of their own, in which they have their names. */
static void settle_type(struct module *module, struct onnx_level *level)
{
    struct dump_node *node = &level->draft.node;
    bool is_own = is_own_domain(module, level->op_domain);
    if (is_own && level->tensor != NONE && !name_is(module, level->op_type, "Constant"))
        add_tensor_type(module, level);
    bool is_ge = !is_own && name_is(module, level->op_domain, ONNX_GE_DOMAIN);
    node->dialect = is_ge ? DIALECT_GE : DIALECT_ONNX;
    node->type = is_ge ? level->op_type
                       : full_name(module, level->op_domain, level->op_type, level->op_overload);
}

static void end_node(struct reader *reader, struct onnx_level *level)
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
    if (reader->onnx.is_ge)
        end_ge_node(reader, draft);
    else
        settle_type(dump->module, level);
    if (draft->outputs.count == 1 && draft->node.type != NONE &&
        name_is(dump->module, draft->node.type, "Constant"))
        draft->outputs.at[0].type = level->constant;
    dump_add_node(dump, level->graph, draft);
}

static void read_node(struct reader *reader, struct onnx_level *level,
                      const struct proto_field *outer)
{
    struct proto_field field;
    if (!field_enter(&reader->onnx.proto, outer))
        return;
    dump_begin(&level->draft, outer->name_span.begin);
    level->op_type = level->op_domain = level->op_overload = NONE;
    level->constant = level->tensor = NONE;
    level->is_graph = false;
    level->draft.node.dialect = reader->onnx.is_ge ? DIALECT_GE : DIALECT_ONNX;
    ge_onnx_begin_node(&reader->ge);
    reader->data.name = NULL;
    struct field_walk walk = onnx_walk(&reader->onnx, MESSAGE_ONNX_NODE);
    while (field_next(&walk, &field))
        read_node_field(reader, level, &field);
    if (!reader->onnx.proto.failed)
        end_node(reader, level);
}

/* --------------------------------------------------------------------------- graphs ---- */

/* The version of ONNX's own operator set, where an `opset_import` is about this. */
static void read_version(struct reader *reader, const struct proto_field *outer, int64_t *version)
{
    struct dump *dump = reader->onnx.dump;
    struct proto_field field;
    uint32_t domain = NONE;
    int64_t number = 0;
    if (!field_enter(&reader->onnx.proto, outer))
        return;
    while (proto_next(&reader->onnx.proto, &field))
        if (proto_is(&field, "domain"))
            domain = field_token(&reader->onnx.proto, &field, dump);
        else if (proto_is(&field, "version"))
            proto_integer(&reader->onnx.proto, &field, &number);
    if (is_own_domain(dump->module, domain) && number > 0)
        *version = number;
}

static void read_graph_field(struct reader *reader, struct onnx_level *level,
                             const struct proto_field *field)
{
    struct proto_text *proto = &reader->onnx.proto;
    struct dump *dump = reader->onnx.dump;
    if (proto_is(field, "node"))
        read_node(reader, level, field);
    else if (proto_is(field, "initializer"))
        onnx_level_initializer(&reader->onnx, level, field);
    else if (proto_is(field, "sparse_initializer"))
        onnx_level_sparse(&reader->onnx, level, field);
    else if (proto_is(field, "input"))
        onnx_level_input(&reader->onnx, level, field);
    else if (proto_is(field, "output"))
        onnx_level_output(&reader->onnx, level, field);
    else if (proto_is(field, "value_info"))
        onnx_level_value(&reader->onnx, level, field);
    else if (proto_is(field, "name"))
        level->name = field_string(proto, field, dump);
    else if (proto_is(field, "domain"))
        level->domain = field_string(proto, field, dump);
    else if (proto_is(field, "overload"))
        level->overload = field_string(proto, field, dump);
    else if (proto_is(field, "opset_import"))
        read_version(reader, field, &reader->onnx.dump->graphs.at[level->graph].version);
    else if (proto_is(field, "quantization_annotation"))
        dump_drop(dump, field->name_span.begin, "an annotation of quantization");
}

/* The fields of a graph that was entered, to its end. */
static uint32_t read_graph(struct reader *reader, uint32_t loc, uint32_t parent, uint32_t name)
{
    struct onnx_level level;
    struct proto_field field;
    onnx_level_begin(&reader->onnx, &level, loc, parent);
    struct field_walk walk = onnx_walk(&reader->onnx, MESSAGE_ONNX_GRAPH);
    while (field_next(&walk, &field))
        read_graph_field(reader, &level, &field);
    onnx_level_end(&reader->onnx, &level, name);
    return level.graph;
}

/* A function, which nodes call whose op type is its name. */
static void read_function(struct reader *reader, const struct proto_field *outer)
{
    struct onnx_level level;
    struct proto_field field;
    struct onnx *onnx = &reader->onnx;
    if (!field_enter(&onnx->proto, outer))
        return;
    onnx_level_begin(&reader->onnx, &level, outer->name_span.begin, NONE);
    struct field_walk walk = onnx_walk(onnx, MESSAGE_ONNX_FUNCTION);
    while (field_next(&walk, &field))
        read_graph_field(reader, &level, &field);
    uint32_t name = full_name(onnx->dump->module, level.domain, level.name, level.overload);
    if (name != NONE)
        id_map_set(&onnx->callees, name, level.graph);
    onnx_level_end(&reader->onnx, &level, NONE);
}

/* --------------------------------------------------------------------------- models ---- */

/* A key and its text, of which models have any. */
static void read_property(struct reader *reader, const struct proto_field *outer)
{
    struct dump *dump = reader->onnx.dump;
    struct attr attr = {NONE, NONE, {.kind = ATTR_STRING, .id = NONE}};
    struct span key = outer->name_span;
    struct proto_field field;
    struct field_walk walk = onnx_walk(&reader->onnx, MESSAGE_ONNX_PAIR);
    if (!field_enter(&reader->onnx.proto, outer))
        return;
    while (field_next(&walk, &field)) {
        if (proto_is(&field, "key")) {
            attr.key = field_token(&reader->onnx.proto, &field, dump);
            key = field.span;
        } else if (proto_is(&field, "value")) {
            attr.value.id = field_token(&reader->onnx.proto, &field, dump);
        }
    }
    if (attr.key != NONE && attr.value.id != NONE)
        dump_take_gears(dump, &attr, key);
}

/* A ModelProto; or a GraphProto, whose fields are others. */
static void read_model(struct reader *reader)
{
    struct onnx_level level;
    struct proto_field field;
    bool is_graph = false, is_model = false;
    struct proto_text *proto = &reader->onnx.proto;
    struct field_walk walk = onnx_walk(&reader->onnx, MESSAGE_ONNX_MODEL);
    while (field_next(&walk, &field)) {
        is_model |= proto_is(&field, "graph");
        if (is_model && (is_graph || onnx_is_of_graph(&field))) {
            proto_fail(proto, field.name_span, "'%.*s' is a field of a %s, but the text is a %s",
                       (int)field.name_size, field.name, is_graph ? "model" : "graph",
                       is_graph ? "graph" : "model");
        } else if (field_is_message(&field, "graph")) {
            proto_enter(proto);
            read_graph(reader, field.name_span.begin, NONE, NONE);
        } else if (proto_is(&field, "functions")) {
            read_function(reader, &field);
        } else if (proto_is(&field, "opset_import")) {
            read_version(reader, &field, &reader->onnx.dump->version);
        } else if (proto_is(&field, "training_info")) {
            dump_drop(reader->onnx.dump, field.name_span.begin, "graphs for training");
        } else if (proto_is(&field, "metadata_props")) {
            read_property(reader, &field);
        } else if (onnx_is_of_graph(&field)) {
            if (!is_graph)
                onnx_level_begin(&reader->onnx, &level, field.name_span.begin, NONE);
            is_graph = true;
            read_graph_field(reader, &level, &field);
        }
    }
    if (is_graph)
        onnx_level_end(&reader->onnx, &level, NONE);
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
    struct reader reader = {.onnx = {.dump = dump, .is_ge = is_ge}};
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
