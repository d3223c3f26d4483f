#include "frontend/exchange/readers/ge_graph.h"
#include "frontend/exchange/dump/gears.h"
#include "frontend/exchange/readers/fields.h"
#include "frontend/exchange/readers/ge_op.h"

/* A graph that is being read. */
struct state {
    uint32_t graph; /* index */
    struct ge_op op;
    VEC(struct attr) attrs;
    VEC(struct dump_input) returns;
    bool named;
};

/* ------------------------------------------------------------------------- attributes ---- */

/* Attributes of graphs and models, of which skir knows none. */
static bool wants(struct ge_values *values, uint32_t key)
{
    struct dump_draft none = {.node.type = W_ND};
    return dump_wants(values->dump, &none, key) || dump_wants_gears(values->dump, key);
}

static void read_attr(struct ge_reader *reader, struct state *state)
{
    struct attr attr;
    enum ge_value result = ge_read_attr(&reader->values, wants, &attr);
    if (attr.key == NONE || result == GE_NO_VALUE)
        return;
    if (result == GE_VALUE && state->graph == 0 &&
        dump_take_gears(reader->dump, &attr, reader->values.key))
        return;
    if (result == GE_VALUE)
        vec_push(&state->attrs, attr);
    else
        dump_drop(reader->dump, attr.loc, "the attribute '%.*s' of a graph",
                  NAME(reader->dump->module, attr.key));
}

void ge_read_model_attr(struct ge_reader *reader)
{
    struct attr attr;
    enum ge_value result = ge_read_attr(&reader->values, wants, &attr);
    if (attr.key == NONE || result == GE_NO_VALUE)
        return;
    if (result != GE_VALUE || !dump_take_gears(reader->dump, &attr, reader->values.key))
        dump_drop(reader->dump, attr.loc, "the attribute '%.*s' of the model",
                  NAME(reader->dump->module, attr.key));
}

/* ----------------------------------------------------------------------------- graphs ---- */

static void read_name(struct ge_reader *reader, struct state *state,
                      const struct proto_field *field)
{
    const char *bytes;
    size_t size;
    if (!proto_string(&reader->proto, field, &bytes, &size) || size == 0 || state->named)
        return;
    state->named = true;
    dump_name_graph(reader->dump, state->graph,
                    intern_copy(&reader->dump->module->names, bytes, size));
    reader->dump->graphs.at[state->graph].loc = field->span.begin;
    source_add_token(reader->dump->source, field->span);
}

static void read_field(struct ge_reader *reader, struct state *state,
                       const struct proto_field *field)
{
    bool message = field->kind == PROTO_MESSAGE;
    struct dump_input input;
    if (proto_is(field, "op") && message) {
        proto_enter(&reader->proto);
        ge_read_op(reader, &state->op, state->graph, field->name_span);
    } else if (proto_is(field, "attr") && message) {
        proto_enter(&reader->proto);
        read_attr(reader, state);
    } else if (proto_is(field, "name")) {
        read_name(reader, state, field);
    } else if (proto_is(field, "output") && !message) {
        if (ge_read_input(reader, field, &input) && input.kind == DUMP_DATA)
            vec_push(&state->returns, input);
    }
}

bool ge_has_return(const struct dump_graph *graph)
{
    for (uint32_t i = graph->nodes.count; i-- > 0;)
        if (graph->nodes.at[i].role == DUMP_RETURN)
            return true;
    return false;
}

/* What the graph's `output` names is returned where no op returns anything. */
static void settle(struct dump *dump, struct state *state)
{
    struct dump_graph *graph = &dump->graphs.at[state->graph];
    graph->attrs = module_add_attrs(dump->module, state->attrs.at, state->attrs.count);
    if (ge_has_return(graph))
        return;
    graph->open = state->returns.count == 0;
    for (uint32_t i = 0; i < state->returns.count; i++)
        vec_push(&graph->returns, state->returns.at[i]);
}

uint32_t ge_read_graph(struct ge_reader *reader, uint32_t loc, uint32_t parent)
{
    struct state state = {.graph = dump_add_graph(reader->dump, NONE, loc, parent)};
    uint32_t outer = reader->values.graph, outer_loc = reader->values.loc;
    struct proto_field field;
    struct field_walk walk = {reader->dump, &reader->proto, MESSAGE_GE_GRAPH, 0, false};
    reader->values.graph = state.graph;
    reader->values.loc = loc;
    while (field_next(&walk, &field))
        read_field(reader, &state, &field);
    settle(reader->dump, &state);
    reader->values.graph = outer;
    reader->values.loc = outer_loc;
    ge_op_free(&state.op);
    vec_free(&state.attrs);
    vec_free(&state.returns);
    return state.graph;
}

/* A graph that is an attribute: its nodes may use values of the one around it. */
static bool read_inner(struct ge_values *values, uint32_t *name)
{
    bool only_graphs = values->only_graphs;
    values->only_graphs = false;
    uint32_t graph = ge_read_graph(values->reader, values->loc, values->graph);
    values->only_graphs = only_graphs;
    *name = values->dump->graphs.at[graph].name;
    return true;
}

/* ----------------------------------------------------------------------------- readers ---- */

void ge_reader_init(struct ge_reader *reader, struct dump *dump)
{
    *reader = (struct ge_reader){.dump = dump};
    proto_init(&reader->proto, dump->source, dump->diags);
    reader->values.dump = dump;
    reader->values.proto = &reader->proto;
    reader->values.graph = NONE;
    reader->values.read_graph = read_inner;
    reader->values.reader = reader;
}

void ge_reader_free(struct ge_reader *reader)
{
    ge_values_free(&reader->values);
    id_map_free(&reader->keys);
    vec_free(&reader->given);
    proto_free(&reader->proto);
}

bool ge_reader_finish(struct ge_reader *reader)
{
    callees_check(reader->dump);
    if (!reader->proto.failed)
        ge_place_params(reader->dump, reader->given.at, reader->given.count);
    return !reader->proto.failed && !reader->dump->diags->counts[SEVERITY_ERROR];
}

/* An op: what others have inside a field of this name are no strings, or no types. */
static bool looks_op(struct proto_text *proto)
{
    struct proto_field field;
    bool type = false;
    while (proto_next(proto, &field)) {
        bool message = field.kind == PROTO_MESSAGE;
        type |= (proto_is(&field, "type") || proto_is(&field, "input")) && !message;
        type |= (proto_is(&field, "input_desc") || proto_is(&field, "output_desc")) && message;
    }
    return type;
}

bool ge_looks_graph(struct proto_text *proto)
{
    struct proto_field field;
    while (proto_next(proto, &field)) {
        bool message = field.kind == PROTO_MESSAGE;
        if (proto_is(&field, "op") && message) {
            proto_enter(proto);
            return looks_op(proto);
        }
        if (proto_is(&field, "node") ||
            (message && !proto_is(&field, "attr") && !proto_is(&field, "attr_groups")))
            return false;
    }
    return false;
}
