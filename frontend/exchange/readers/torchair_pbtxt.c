/* TorchAir's dynamo_*.pbtxt: GE's ops dressed as nodes of a TensorFlow GraphDef, so that its tools
 * draw them. The value of an attribute is a string with the protobuf text of an AttrDef, as Python
 * shows bytes; descriptions of tensors are attributes, too, under "[i]NAME" and "[o]NAME". There is
 * one graph, without a name and attributes: what GE says of its gears stands at the node that
 * returns. */
#include "frontend/exchange/dump/gears.h"
#include "frontend/exchange/exchange.h"
#include "frontend/exchange/readers/fields.h"
#include "frontend/exchange/readers/ge_op.h"

struct reader {
    struct ge_reader ge;
    struct ge_op op;
    uint32_t graph;
};

static bool key_begins(const struct dump *dump, uint32_t key, const char *prefix)
{
    const struct intern_name *name = &dump->module->names.names[key];
    return name->size >= 3 && memcmp(name->text, prefix, 3) == 0;
}

static bool wants_gears(const struct reader *reader, uint32_t key)
{
    const struct dump *dump = reader->ge.dump;
    return ge_is_return(dump, reader->op.draft.node.type) && dump_wants_gears(dump, key);
}

static void read_gears(struct reader *reader, uint32_t key)
{
    struct attr attr = {key, reader->ge.values.loc, {.kind = ATTR_INT}};
    enum ge_value result = ge_read_value(&reader->ge.values, &attr.value);
    if (result != GE_VALUE || !dump_take_gears(reader->ge.dump, &attr, reader->ge.values.key))
        dump_drop(reader->ge.dump, attr.loc, "the attribute '%.*s', which is no text",
                  NAME(reader->ge.dump->module, key));
}

/* Reads what the inner text says, by its key. */
static void read_inner(struct reader *reader, uint32_t key)
{
    struct dump *dump = reader->ge.dump;
    if (key_begins(dump, key, "[i]")) {
        ge_op_slot(&reader->ge, &reader->op);
    } else if (key_begins(dump, key, "[o]")) {
        ge_op_output(&reader->ge, &reader->op);
    } else if (wants_gears(reader, key)) {
        read_gears(reader, key);
    } else {
        ge_op_value(&reader->ge, &reader->op, key);
    }
}

/* The string is a text of its own, all of whose errors are at it. */
static void read_string(struct reader *reader, uint32_t key, const struct proto_field *field)
{
    const char *bytes;
    size_t size;
    struct proto_text inner;
    if (!proto_string(&reader->ge.proto, field, &bytes, &size))
        return;
    proto_init_inner(&inner, bytes, size, field->span, reader->ge.dump->diags);
    reader->ge.values.proto = &inner;
    read_inner(reader, key);
    reader->ge.values.proto = &reader->ge.proto;
    reader->ge.proto.failed |= inner.failed;
    proto_free(&inner);
}

/* The value of an attribute, which was entered. */
static void read_value(struct reader *reader, uint32_t key)
{
    struct dump *dump = reader->ge.dump;
    struct proto_field field;
    struct field_walk walk = {dump, &reader->ge.proto, MESSAGE_TF_VALUE, 0, false};
    while (field_next(&walk, &field))
        if (proto_is(&field, "s"))
            read_string(reader, key, &field);
        else
            dump_drop(dump, field.name_span.begin, "the attribute '%.*s', whose value is no text",
                      NAME(dump->module, key));
}

static void read_attr(struct reader *reader)
{
    struct proto_text *proto = &reader->ge.proto;
    struct proto_field field;
    struct field_walk walk = {reader->ge.dump, proto, MESSAGE_TF_ATTR, 0, false};
    uint32_t key = NONE;
    while (field_next(&walk, &field)) {
        if (proto_is(&field, "key")) {
            key = field_string(proto, &field, reader->ge.dump);
            reader->ge.values.key = field.span;
        } else if (key == NONE) {
            proto_fail(proto, field.name_span,
                       "the key of an attribute must come before its value");
        } else if (field_enter(proto, &field)) {
            read_value(reader, key);
        }
    }
}

static void read_node(struct reader *reader, struct span span)
{
    struct ge_reader *ge = &reader->ge;
    struct proto_field field;
    struct field_walk walk = {ge->dump, &ge->proto, MESSAGE_TF_NODE, 0, false};
    ge_op_begin(ge, &reader->op, span.begin);
    while (field_next(&walk, &field))
        if (proto_is(&field, "attr") && field_enter(&ge->proto, &field))
            read_attr(reader);
        else if (proto_is(&field, "op"))
            reader->op.draft.node.type = field_string(&ge->proto, &field, ge->dump);
        else if (field.kind == PROTO_STRING)
            ge_op_text(ge, &reader->op, &field);
    if (!ge->proto.failed)
        ge_op_end(ge, &reader->op, reader->graph, span);
}

bool exchange_read_torchair_pbtxt(struct dump *dump)
{
    struct reader reader = {.graph = dump_add_graph(dump, NONE, 0, NONE)};
    struct proto_field field;
    ge_reader_init(&reader.ge, dump);
    reader.ge.values.graph = reader.graph;
    struct field_walk walk = {dump, &reader.ge.proto, MESSAGE_NODES_GRAPH, 0, false};
    while (field_next(&walk, &field))
        if (proto_is(&field, "node") && field_enter(&reader.ge.proto, &field))
            read_node(&reader, field.name_span);
    dump->graphs.at[reader.graph].open = !ge_has_return(&dump->graphs.at[reader.graph]);
    bool done = ge_reader_finish(&reader.ge);
    ge_op_free(&reader.op);
    ge_reader_free(&reader.ge);
    return done;
}

/* ---------------------------------------------------------------------------- signs ---- */

/* A key that describes a tensor. */
static bool is_own_key(const char *key, size_t size)
{
    return size >= 3 && (memcmp(key, "[i]", 3) == 0 || memcmp(key, "[o]", 3) == 0);
}

/* Of an entry of `attr` that was entered: 1 where its key is one of this format, -1 where its value
 * is none of a string. */
static int sign_of_attr(struct proto_text *proto)
{
    struct proto_field field;
    const char *key;
    size_t size;
    while (proto_next(proto, &field)) {
        if (field_is_string(&field, "key") && proto_string(proto, &field, &key, &size) &&
            is_own_key(key, size))
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

static int sign_of_node(struct proto_text *proto)
{
    struct proto_field field;
    int sign = 0;
    while (sign == 0 && proto_next(proto, &field)) {
        if (field_is_message(&field, "attr")) {
            proto_enter(proto);
            sign = sign_of_attr(proto);
        } else if (field.kind == PROTO_MESSAGE) {
            sign = -1;
        }
    }
    return sign;
}

bool exchange_looks_torchair_pbtxt(const struct source *source)
{
    struct proto_text proto;
    struct proto_field field;
    int sign = 0;
    proto_init(&proto, source, NULL);
    while (sign == 0 && proto_next(&proto, &field)) {
        sign = field_is_message(&field, "node") ? 0 : -1;
        if (sign == 0) {
            proto_enter(&proto);
            sign = sign_of_node(&proto);
        }
    }
    proto_free(&proto);
    return sign > 0;
}
