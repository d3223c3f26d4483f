/* TensorFlow's GraphDef as protobuf text: one graph, and a library of functions, each of which is a
 * graph, too. Also those of MetaGraphDef and SavedModel.
 *
 * In a graph an input is "node", "node:2" or "^node"; in a function "argument", "node:output:2",
 * where the output is one of the op's arguments, or "^node". A GraphDef does not say what is
 * returned. */
#include "frontend/exchange/exchange.h"
#include "frontend/exchange/readers/callees.h"
#include "frontend/exchange/readers/ge_graph.h"
#include "frontend/exchange/readers/tf_outputs.h"
#include "frontend/exchange/readers/tf_values.h"
#include "ir/calls.h"

/* An input whose output is that of an argument of the op that gives it: known once all is read. */
struct pending {
    uint32_t graph;
    uint32_t index; /* in the graph's inputs, or `returns` */
    bool returned;
    uint32_t argument; /* name id */
};

/* What a function returns by the name of an argument. */
struct ret {
    uint32_t argument;
    struct dump_input input;
    uint32_t output; /* name id of the output's argument; NONE */
};

struct reader {
    struct dump *dump;
    struct proto_text proto;
    struct tf_values values;
    struct tf_known known;
    struct dump_draft draft;
    VEC(struct pending) pending;
    VEC(struct ret) rets;
    struct vec_u32 outputs;   /* names of what the function at hand returns */
    struct vec_u32 arguments; /* of the draft's inputs: name ids of outputs' arguments; NONE */
    struct id_map functions;  /* by name: the graph */
    struct id_map nodes;      /* by name: node of the graph at hand */
    struct id_map params;     /* by name: 0 for parameters of the function at hand */
    struct id_map guesses;    /* by "OP:ARGUMENT": its place among those of the op */
    struct id_map guessed;    /* by op: how many of its arguments have places */
    bool in_function;
};

/* ----------------------------------------------------------------------------- inputs ---- */

static bool cut_number(const char *text, size_t *size, uint32_t *number)
{
    size_t at = *size;
    uint64_t value = 0;
    while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9')
        at--;
    if (at == *size || at < 2 || text[at - 1] != ':' || *size - at > 9)
        return false;
    for (size_t i = at; i < *size; i++)
        value = value * 10 + (uint64_t)(text[i] - '0');
    *number = (uint32_t)value;
    *size = at - 1;
    return true;
}

/* Splits "node:output" of a function. */
static uint32_t cut_argument(struct reader *reader, const char *text, size_t *size)
{
    for (size_t at = *size; at-- > 1;)
        if (text[at] == ':') {
            uint32_t name =
                intern_copy(&reader->dump->module->names, text + at + 1, *size - at - 1);
            *size = at;
            return name;
        }
    return NONE;
}

/* What a string names; `argument` is that of the output, or NONE. */
static struct dump_input split_input(struct reader *reader, uint32_t name, uint32_t loc,
                                     uint32_t *argument)
{
    struct intern *names = &reader->dump->module->names;
    struct intern_name text = names->names[name];
    struct dump_input input = {.name = NONE, .label = NONE, .loc = loc, .kind = DUMP_ABSENT};
    size_t size = text.size;
    *argument = NONE;
    if (size == 0)
        return input;
    if (*text.text == '^') {
        input.kind = DUMP_CONTROL;
        input.name = intern_copy(names, text.text + 1, size - 1);
        return input;
    }
    input.kind = DUMP_DATA;
    bool numbered = cut_number(text.text, &size, &input.output);
    if (reader->in_function && numbered)
        *argument = cut_argument(reader, text.text, &size);
    input.name = intern_copy(names, text.text, size);
    if (reader->in_function && *argument == NONE &&
        id_map_find(&reader->params, input.name) != NONE)
        input.kind = DUMP_VALUE;
    return input;
}

static void read_input(struct reader *reader, const struct proto_field *field)
{
    uint32_t argument, name = field_token(&reader->proto, field, reader->dump);
    if (name == NONE)
        return;
    dump_add_input(&reader->draft, split_input(reader, name, field->span.begin, &argument));
    vec_push(&reader->arguments, argument);
}

/* ------------------------------------------------------------------------------ nodes ---- */

static void read_value(struct reader *reader, uint32_t key, const struct proto_field *field)
{
    struct attr attr = {key, field->name_span.begin, {.kind = ATTR_INT}};
    if (!field_enter(&reader->proto, field))
        return;
    if (tf_read_value(&reader->values, attr.loc, &attr.value))
        dump_add_attr(&reader->draft, attr);
}

static void read_attr(struct reader *reader)
{
    struct proto_field field;
    struct field_walk walk = tf_walk(&reader->values, MESSAGE_TF_ATTR);
    uint32_t key = NONE;
    while (field_next(&walk, &field))
        if (proto_is(&field, "key"))
            key = field_string(&reader->proto, &field, reader->dump);
        else if (!proto_is(&field, "value"))
            continue;
        else if (key == NONE)
            proto_fail(&reader->proto, field.name_span,
                       "the key of an attribute must come before its value");
        else if (dump_wants(reader->dump, &reader->draft, key))
            read_value(reader, key, &field);
}

static void read_node_field(struct reader *reader, const struct proto_field *field)
{
    struct dump_node *node = &reader->draft.node;
    if (proto_is(field, "input")) {
        read_input(reader, field);
    } else if (proto_is(field, "attr")) {
        if (field_enter(&reader->proto, field))
            read_attr(reader);
    } else if (proto_is(field, "name")) {
        node->name = field_token(&reader->proto, field, reader->dump);
        node->loc = field->span.begin;
    } else if (proto_is(field, "op")) {
        node->type = field_string(&reader->proto, field, reader->dump);
    }
}

static const struct attr_value *find_attr(const struct reader *reader, const char *key)
{
    for (uint32_t i = 0; i < reader->draft.attrs.count; i++)
        if (name_is(reader->dump->module, reader->draft.attrs.at[i].key, key))
            return &reader->draft.attrs.at[i].value;
    return NULL;
}

static void settle_role(struct reader *reader)
{
    static const char *const params[] = {"Placeholder", "PlaceholderV2", "_Arg"};
    struct dump_node *node = &reader->draft.node;
    const struct attr_value *index = find_attr(reader, "index");
    for (unsigned i = 0; i < sizeof params / sizeof params[0]; i++)
        if (name_is(reader->dump->module, node->type, params[i]))
            node->role = DUMP_PARAM;
    if (name_is(reader->dump->module, node->type, "_Retval"))
        node->role = DUMP_RETURN;
    if (node->role != DUMP_OP && index && index->kind == ATTR_INT)
        node->index = index->i;
}

/* What is the same in GE: contents, and ops that call graphs. */
static void settle_dialect(struct reader *reader)
{
    struct dump_node *node = &reader->draft.node;
    struct op op = {.type = node->type};
    bool same = node->role != DUMP_OP || op_call_kind(&op) != CALL_NONE ||
                name_is(reader->dump->module, node->type, "Const");
    node->dialect = same ? DIALECT_GE : DIALECT_TF;
}

static void settle_outputs(struct reader *reader)
{
    struct dump_draft *draft = &reader->draft;
    if (draft->node.role == DUMP_RETURN)
        return;
    tf_add_outputs(&reader->known, reader->dump, draft);
    if (name_is(reader->dump->module, draft->node.type, "Const") && reader->values.tensor != NONE &&
        draft->outputs.count <= 1) {
        draft->outputs.count = 0;
        dump_add_output(draft, NONE, reader->values.tensor);
    }
}

static void add_pending(struct reader *reader, uint32_t graph)
{
    uint32_t first = reader->dump->graphs.at[graph].inputs.count;
    for (uint32_t i = 0; i < reader->arguments.count; i++)
        if (reader->arguments.at[i] != NONE)
            vec_push(&reader->pending,
                     (struct pending){graph, first + i, false, reader->arguments.at[i]});
}

static void read_node(struct reader *reader, uint32_t graph, const struct proto_field *outer)
{
    struct proto_field field;
    if (!field_enter(&reader->proto, outer))
        return;
    dump_begin(&reader->draft, outer->name_span.begin);
    reader->draft.node.dialect = DIALECT_TF;
    reader->arguments.count = 0;
    reader->values.tensor = NONE;
    struct field_walk walk = tf_walk(&reader->values, MESSAGE_TF_NODE);
    while (field_next(&walk, &field))
        read_node_field(reader, &field);
    if (reader->proto.failed)
        return;
    if (reader->draft.node.type == NONE) {
        diag_at(reader->dump->diags, DIAG_foreign_form,
                source_token(reader->dump->source, reader->draft.node.loc), "a node without 'op'");
        return;
    }
    settle_role(reader);
    settle_dialect(reader);
    settle_outputs(reader);
    add_pending(reader, graph);
    dump_add_node(reader->dump, graph, &reader->draft);
}

/* -------------------------------------------------------------------------- functions ---- */

/* An ArgDef that was entered: its name, and the type that is known of it. */
static struct dump_param read_arg(struct reader *reader, uint32_t loc)
{
    struct proto_field field;
    struct dump_param param = {.name = NONE, .loc = loc};
    struct attr_value dtype = {.kind = ATTR_INT};
    struct field_walk walk = tf_walk(&reader->values, MESSAGE_TF_ARG);
    while (field_next(&walk, &field))
        if (proto_is(&field, "name")) {
            param.name = field_token(&reader->proto, &field, reader->dump);
            param.loc = field.span.begin;
        } else if (proto_is(&field, "type")) {
            dtype = tf_read_dtype(&reader->values, &field, loc);
        }
    param.type = tf_type(reader->dump, &dtype, NULL);
    return param;
}

static void read_signature(struct reader *reader, uint32_t graph)
{
    struct dump *dump = reader->dump;
    struct proto_field field;
    struct field_walk walk = tf_walk(&reader->values, MESSAGE_TF_SIGNATURE);
    while (field_next(&walk, &field))
        if (proto_is(&field, "name")) {
            uint32_t name = field_token(&reader->proto, &field, dump);
            if (name == NONE)
                continue;
            dump->graphs.at[graph].loc = field.span.begin;
            dump_name_graph(dump, graph, name);
            id_map_set(&reader->functions, name, graph);
        } else if (field_is_message(&field, "input_arg")) {
            proto_enter(&reader->proto);
            struct dump_param param = read_arg(reader, field.name_span.begin);
            if (param.name == NONE)
                continue;
            vec_push(&dump->graphs.at[graph].params, param);
            id_map_set(&reader->params, param.name, 0);
        } else if (field_is_message(&field, "output_arg")) {
            proto_enter(&reader->proto);
            vec_push(&reader->outputs, read_arg(reader, field.name_span.begin).name);
        }
}

static void read_ret(struct reader *reader)
{
    struct proto_field field;
    struct ret ret = {.argument = NONE, .output = NONE, .input = {.name = NONE}};
    struct field_walk walk = tf_walk(&reader->values, MESSAGE_TF_ATTR);
    while (field_next(&walk, &field))
        if (proto_is(&field, "key")) {
            ret.argument = field_string(&reader->proto, &field, reader->dump);
        } else if (proto_is(&field, "value")) {
            uint32_t name = field_token(&reader->proto, &field, reader->dump);
            if (name != NONE)
                ret.input = split_input(reader, name, field.span.begin, &ret.output);
        }
    if (ret.argument != NONE && ret.input.name != NONE)
        vec_push(&reader->rets, ret);
}

static void add_return(struct reader *reader, uint32_t graph, const struct ret *ret)
{
    struct dump_graph *to = &reader->dump->graphs.at[graph];
    if (ret->output != NONE)
        vec_push(&reader->pending, (struct pending){graph, to->returns.count, true, ret->output});
    vec_push(&to->returns, ret->input);
}

static uint32_t argument_key(struct reader *reader, uint32_t op, uint32_t argument)
{
    struct module *module = reader->dump->module;
    return module_name_printf(module, "%.*s:%.*s", NAME(module, op), NAME(module, argument));
}

/* What is returned, in the order of the signature; who calls the function names it so. */
static void settle_returns(struct reader *reader, uint32_t graph)
{
    uint32_t function = reader->dump->graphs.at[graph].name;
    struct id_map *places = &reader->nodes;
    for (uint32_t i = 0; i < reader->rets.count; i++)
        id_map_set(places, reader->rets.at[i].argument, i);
    for (uint32_t i = 0; i < reader->outputs.count; i++) {
        uint32_t name = reader->outputs.at[i];
        uint32_t place = name == NONE ? NONE : id_map_find(places, name);
        if (name != NONE)
            id_map_set(&reader->guesses, argument_key(reader, function, name), i);
        if (place != NONE)
            add_return(reader, graph, &reader->rets.at[place]);
    }
    for (uint32_t i = 0; i < reader->rets.count; i++)
        id_map_set(places, reader->rets.at[i].argument, NONE);
}

static void read_function(struct reader *reader, const struct proto_field *outer)
{
    struct proto_field field;
    if (!field_enter(&reader->proto, outer))
        return;
    uint32_t graph = dump_add_graph(reader->dump, NONE, outer->name_span.begin, NONE);
    reader->in_function = true;
    reader->rets.count = reader->outputs.count = 0;
    struct field_walk walk = tf_walk(&reader->values, MESSAGE_TF_FUNCTION);
    while (field_next(&walk, &field))
        if (proto_is(&field, "node_def")) {
            read_node(reader, graph, &field);
        } else if (field_is_message(&field, "signature")) {
            proto_enter(&reader->proto);
            read_signature(reader, graph);
        } else if (field_is_message(&field, "ret")) {
            proto_enter(&reader->proto);
            read_ret(reader);
        }
    settle_returns(reader, graph);
    const struct dump_graph *made = &reader->dump->graphs.at[graph];
    for (uint32_t i = 0; i < made->params.count; i++)
        id_map_set(&reader->params, made->params.at[i].name, NONE);
    reader->in_function = false;
}

static void read_library(struct reader *reader)
{
    struct proto_field field;
    struct field_walk walk = tf_walk(&reader->values, MESSAGE_TF_LIBRARY);
    while (field_next(&walk, &field))
        if (proto_is(&field, "function"))
            read_function(reader, &field);
        else if (field_is_message(&field, "gradient"))
            dump_drop(reader->dump, field.name_span.begin, "the gradient of a function");
}

/* ---------------------------------------------------------- outputs by their argument ---- */

/* Ops that are not known: arguments have places in the order in which they are named first. */
static uint32_t guess_place(struct reader *reader, uint32_t op, uint32_t argument, uint32_t loc)
{
    struct module *module = reader->dump->module;
    uint32_t key = argument_key(reader, op, argument);
    uint32_t place = id_map_find(&reader->guesses, key);
    if (place != NONE)
        return place;
    uint32_t *count = id_map_at(&reader->guessed, op);
    place = *count == NONE ? 0 : *count;
    *count = place + 1;
    id_map_set(&reader->guesses, key, place);
    if (place > 0)
        dump_drop(reader->dump, loc, "which output of %.*s '%.*s' is: output %u is taken",
                  NAME(module, op), NAME(module, argument), place);
    return place;
}

static uint32_t place_of(struct reader *reader, uint32_t op, uint32_t argument, uint32_t loc)
{
    const struct intern_name *name = &reader->dump->module->names.names[argument];
    uint32_t place = tf_find_output(&reader->known, reader->dump, op, name->text, name->size);
    return place != NONE ? place : guess_place(reader, op, argument, loc);
}

static void map_nodes(struct reader *reader, uint32_t graph, bool set)
{
    const struct dump_graph *from = &reader->dump->graphs.at[graph];
    for (uint32_t i = 0; i < from->nodes.count; i++)
        if (from->nodes.at[i].name != NONE)
            id_map_set(&reader->nodes, from->nodes.at[i].name, set ? i : NONE);
}

static void settle_pending(struct reader *reader, const struct pending *pending)
{
    struct dump_graph *graph = &reader->dump->graphs.at[pending->graph];
    struct dump_input *input =
        pending->returned ? &graph->returns.at[pending->index] : &graph->inputs.at[pending->index];
    uint32_t node = id_map_find(&reader->nodes, input->name);
    if (node == NONE)
        return;
    uint32_t place = place_of(reader, graph->nodes.at[node].type, pending->argument, input->loc);
    input->output += place;
}

static void settle_outputs_by_argument(struct reader *reader)
{
    uint32_t graph = NONE;
    for (uint32_t i = 0; i < reader->pending.count; i++) {
        const struct pending *pending = &reader->pending.at[i];
        if (pending->graph != graph) {
            if (graph != NONE)
                map_nodes(reader, graph, false);
            map_nodes(reader, pending->graph, true);
        }
        graph = pending->graph;
        settle_pending(reader, pending);
    }
}

/* ----------------------------------------------------------------------------- graphs ---- */

/* The fields of a GraphDef, or of a message that has one inside, to the end. */
static void read_graph(struct reader *reader, uint32_t *graph)
{
    static const char *const parts[] = {"node", "library", "versions", NULL};
    struct proto_field field;
    struct field_walk walk = tf_walk(&reader->values, MESSAGE_TF_GRAPH);
    while (field_next(&walk, &field))
        if (field_is_one(&field, parts)) {
            if (*graph == NONE)
                *graph = dump_add_graph(reader->dump, NONE, field.name_span.begin, NONE);
            if (proto_is(&field, "node"))
                read_node(reader, *graph, &field);
            else if (proto_is(&field, "library") && field_enter(&reader->proto, &field))
                read_library(reader);
        } else if (field_is_message(&field, "graph_def") ||
                   field_is_message(&field, "meta_graphs")) {
            uint32_t inner = NONE;
            proto_enter(&reader->proto);
            read_graph(reader, &inner);
        }
}

static void settle(struct reader *reader)
{
    struct dump *dump = reader->dump;
    settle_outputs_by_argument(reader);
    callees_link(dump, &reader->functions);
    callees_check(dump);
    for (uint32_t i = 0; i < dump->graphs.count; i++)
        dump->graphs.at[i].open =
            dump->graphs.at[i].returns.count == 0 && !ge_has_return(&dump->graphs.at[i]);
    if (dump->graphs.count == 0)
        diag_at(dump->diags, DIAG_foreign_form, no_span, "there is no graph in the text");
}

static void free_reader(struct reader *reader)
{
    proto_free(&reader->proto);
    vec_free(&reader->values.numbers);
    tf_known_free(&reader->known);
    dump_draft_free(&reader->draft);
    vec_free(&reader->pending);
    vec_free(&reader->rets);
    vec_free(&reader->outputs);
    vec_free(&reader->arguments);
    id_map_free(&reader->functions);
    id_map_free(&reader->nodes);
    id_map_free(&reader->params);
    id_map_free(&reader->guesses);
    id_map_free(&reader->guessed);
}

bool exchange_read_tf_graphdef(struct dump *dump)
{
    struct reader reader = {.dump = dump};
    uint32_t graph = NONE;
    proto_init(&reader.proto, dump->source, dump->diags);
    reader.values.dump = dump;
    reader.values.proto = &reader.proto;
    read_graph(&reader, &graph);
    bool done = !reader.proto.failed;
    if (done)
        settle(&reader);
    free_reader(&reader);
    return done && !dump->diags->counts[SEVERITY_ERROR];
}

/* ------------------------------------------------------------------------------ signs ---- */

static bool looks_node(struct proto_text *proto)
{
    static const char *const others[] = {
        "name", "input", "device", "attr", "experimental_debug_info", "experimental_type", NULL};
    struct proto_field field;
    while (proto_next(proto, &field)) {
        if (proto_is(&field, "op"))
            return field.kind == PROTO_STRING;
        if (!field_is_one(&field, others))
            return false;
    }
    return false;
}

/* Whether the fields of the message are those of a GraphDef, or of what has one inside. */
static bool looks_graph(struct proto_text *proto, unsigned depth)
{
    static const char *const others[] = {
        "version", "meta_info_def", "versions", "saved_model_schema_version",
        "library", "debug_info",    NULL};
    struct proto_field field;
    bool versions = false;
    while (proto_next(proto, &field)) {
        bool inner =
            field_is_message(&field, "graph_def") || field_is_message(&field, "meta_graphs");
        if (inner || field_is_message(&field, "node"))
            proto_enter(proto);
        if (inner)
            return depth < 2 && looks_graph(proto, depth + 1);
        if (field_is_message(&field, "node"))
            return looks_node(proto);
        if (!field_is_one(&field, others))
            return false;
        versions |= field_is_message(&field, "versions") || field_is_message(&field, "library");
    }
    return versions;
}

bool exchange_looks_tf_graphdef(const struct source *source)
{
    struct proto_text proto;
    proto_init(&proto, source, NULL);
    bool looks = looks_graph(&proto, 0);
    proto_free(&proto);
    return looks;
}
