/* GE's dumps of graphs as protobuf text: those of GE itself are models, ge_proto_*.txt, those of
 * TorchAir a single graph without the model around it, dynamo_*.txt. */
#include "frontend/exchange/exchange.h"
#include "frontend/exchange/readers/fields.h"
#include "frontend/exchange/readers/ge_graph.h"

/* A model without any op: a graph that has nothing but a name and what is listed. */
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

/* Whether the field can be one of a model before its first graph. */
static bool is_model_field(const struct proto_field *field)
{
    static const char *const names[] = {"name", "version", "custom_version", "attr", "attr_groups"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (proto_is(field, names[i]))
            return true;
    return false;
}

static bool looks_model(const struct source *source, bool (*looks)(struct proto_text *proto))
{
    struct proto_text proto;
    struct proto_field field;
    bool found = false;
    proto_init(&proto, source, NULL);
    while (!found && proto_next(&proto, &field)) {
        if (proto_is(&field, "graph") && field.kind == PROTO_MESSAGE) {
            proto_enter(&proto);
            found = looks(&proto);
            break;
        }
        if (!is_model_field(&field))
            break;
    }
    proto_free(&proto);
    return found;
}

bool exchange_looks_ge_txt(const struct source *source)
{
    return looks_model(source, ge_looks_graph) || looks_model(source, looks_empty);
}

bool exchange_read_ge_txt(struct dump *dump)
{
    struct ge_reader reader;
    struct proto_field field;
    ge_reader_init(&reader, dump);
    struct field_walk walk = {dump, &reader.proto, MESSAGE_GE_MODEL, 0, false};
    while (field_next(&walk, &field)) {
        if (field.kind != PROTO_MESSAGE)
            continue;
        reader.values.loc = field.name_span.begin;
        if (proto_is(&field, "graph")) {
            proto_enter(&reader.proto);
            ge_read_graph(&reader, field.name_span.begin, NONE);
        } else if (proto_is(&field, "attr")) {
            proto_enter(&reader.proto);
            ge_read_model_attr(&reader);
        }
    }
    bool done = ge_reader_finish(&reader);
    ge_reader_free(&reader);
    return done;
}

bool exchange_looks_torchair_txt(const struct source *source)
{
    struct proto_text proto;
    proto_init(&proto, source, NULL);
    bool found = ge_looks_graph(&proto);
    proto_free(&proto);
    return found;
}

bool exchange_read_torchair_txt(struct dump *dump)
{
    struct ge_reader reader;
    ge_reader_init(&reader, dump);
    ge_read_graph(&reader, 0, NONE);
    bool done = ge_reader_finish(&reader);
    ge_reader_free(&reader);
    return done;
}
