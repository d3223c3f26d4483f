/* TensorFlow's GraphDef as protobuf text: one graph, and a library of functions, each of which is a
 * graph, too. Also those of MetaGraphDef and SavedModel.
 *
 * In a graph an input is "node", "node:2" or "^node"; in a function "argument", "node:output:2",
 * where the output is one of the op's arguments, or "^node". A GraphDef does not say what is
 * returned. Nor does it say how many outputs a node has and their types: they follow from the
 * attributes, by tf_ops.def. */
#include "frontend/exchange.h"
#include "frontend/import/messages.h"
#include "ir/analysis/contents.h"
#include "ir/core/calls.h"

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
    struct fields fields;
    struct proto_text text;
    uint32_t tensor; /* the type of the tensor that was read last; NONE */
    struct dump_draft draft;
    VEC(struct pending) pending;
    VEC(struct ret) rets;
    struct vec_u32 outputs;   /* names of what the function at hand returns */
    struct vec_u32 arguments; /* of the draft's inputs: name ids of outputs' arguments; NONE */
    struct id_map rows;       /* by op type: its row of tf_ops.def */
    struct id_map functions;  /* by name: the graph */
    struct id_map nodes;      /* by name: node of the graph at hand */
    struct id_map params;     /* by name: 0 for parameters of the function at hand */
    struct id_map guesses;    /* by "OP:ARGUMENT": its place among those of the op */
    struct id_map guessed;    /* by op: how many of its arguments have places */
    bool in_function;
};

/* ----------------------------------------------------------------------------- values ---- */

static const struct message shape_message = {"a shape",
                                             {ENTER(dim, MANY), READ(unknown_rank, ONE)}};
static const struct message dim_message = {"a dimension", {READ(size, ONE), UNUSED(name)}};
static const struct message tensor_message = {
    "a tensor",
    {PUSH(float_val, MANY, FLOAT), PUSH(int_val, MANY, INT), PUSH(int64_val, MANY, INT),
     READ(dtype, ONE), READ(tensor_shape, ONE), READ(tensor_content, ONE),
     PUSH(half_val, MANY, INT), PUSH(double_val, MANY, FLOAT), READ(string_val, MANY),
     PUSH(bool_val, MANY, BOOL), PUSH(uint32_val, MANY, INT), PUSH(uint64_val, MANY, INT),
     READ(scomplex_val, MANY), READ(dcomplex_val, MANY), READ(resource_handle_val, MANY),
     READ(variant_val, MANY), UNUSED(version_number)}};
static const struct message func_message = {"the name of a function",
                                            {READ(name, ONE), READ(attr, MANY)}};
static const struct message list_message = {
    "a list",
    {PUSH(i, MANY, INT), READ(shape, MANY), PUSH(s, MANY, STRING), PUSH(f, MANY, FLOAT),
     PUSH(b, MANY, BOOL), READ(type, MANY), READ(tensor, MANY), READ(func, MANY)}};
static const struct message value_message = {
    "an attribute's value",
    {READ(type, CHOICE), PUSH(i, CHOICE, INT), PUSH(b, CHOICE, BOOL), PUSH(s, CHOICE, STRING),
     PUSH(f, CHOICE, FLOAT), READ(list, CHOICE), READ(shape, CHOICE), READ(tensor, CHOICE),
     READ(func, CHOICE), PUSH(placeholder, CHOICE, STRING)}};

/* A shape that was entered. A dimension without a size is 0. */
static void read_shape(struct fields *fields, struct dump_shape *shape)
{
    struct field_walk walk = {fields, &shape_message, NULL, 0, false};
    struct proto_field field;
    bool unknown = false;
    shape->rank = 0;
    while (field_next(&walk, &field)) {
        struct field_walk dim = {fields, &dim_message, NULL, 0, false};
        int64_t size = 0;
        if (proto_is(&field, "unknown_rank")) {
            proto_bool(fields->proto, &field, &unknown);
            continue;
        }
        while (field_next(&dim, &field))
            proto_integer(fields->proto, &field, &size);
        dump_shape_add_number(shape, size);
    }
    if (unknown)
        shape->rank = RANK_UNKNOWN;
}

/* The word for a dtype, which a field names or numbers. One that skir does not have is a string. */
static struct attr_value read_dtype(struct fields *fields, const struct proto_field *field,
                                    uint32_t loc)
{
    unsigned dtype = field_dtype(fields, field, DUMP_TF, loc);
    uint32_t name = intern_copy(&fields->dump->module->names, field->text, field->size);
    return dtype < DTYPE_COUNT ? (struct attr_value){.kind = ATTR_WORD, .id = W_f32 + dtype}
                               : (struct attr_value){.kind = ATTR_STRING, .id = name};
}

/* Pushes the contents of a tensor that was entered. One without any values is one of zeros. */
static void push_tensor(struct reader *reader, uint32_t loc)
{
    struct fields *fields = &reader->fields;
    struct dump *dump = fields->dump;
    struct field_walk walk = {fields, &tensor_message, NULL, 0, false};
    struct proto_field field, content = {.name = NULL};
    struct attr_value value;
    struct dump_shape shape = {.rank = 0};
    unsigned dtype = DTYPE_UNKNOWN;
    uint32_t first = fields->values.count;
    uint64_t elements;
    bool strings = false, filled = false;
    while (field_next(&walk, &field)) {
        if (proto_is(&field, "dtype")) {
            dtype = field_dtype(fields, &field, DUMP_TF, loc);
        } else if (field_is_message(&field, "tensor_shape")) {
            proto_enter(fields->proto);
            read_shape(fields, &shape);
        } else if (proto_is(&field, "tensor_content")) {
            if (field.kind == PROTO_STRING)
                content = field;
        } else if (!proto_is(&field, "tensor_shape")) {
            strings = true;
        }
    }
    if (fields->proto->failed)
        return;
    uint32_t type = reader->tensor = dump_type(dump, dtype, W_ND, &shape, loc);
    if (fields->values.count == first && dtype < DTYPE_COUNT &&
        type_elements(dump->module, type, &elements) && elements > 0)
        vec_push(&fields->values, (struct attr_value){.kind = ATTR_INT});
    if (strings)
        dump_lose(dump, loc, "the contents of a constant of strings, or of no numbers");
    else if (content.name)
        filled = field_contents(fields, type, &content, loc, &value);
    else
        filled = number_contents(fields, first, type, true, loc, &value);
    fields->values.count = first;
    if (filled)
        vec_push(&fields->values, value);
}

/* Reads an AttrValue, or a list of values, that was entered, and pushes the values: dtypes are
 * words, shapes types of no dtype, functions symbols. What has no form is said. */
static void push_values(struct reader *reader, const struct message *message, uint32_t loc)
{
    struct fields *fields = &reader->fields;
    struct field_walk walk = {fields, message, NULL, 0, false};
    struct proto_field field;
    while (field_next(&walk, &field)) {
        uint32_t first = fields->values.count;
        struct attr_value value = {.kind = ATTR_SYMBOL, .id = NONE};
        if (proto_is(&field, "type") && field.kind != PROTO_MESSAGE) {
            value = read_dtype(fields, &field, loc);
            vec_push(&fields->values, value);
        } else if (!field_enter(fields, &field)) {
            break;
        } else if (proto_is(&field, "list")) {
            push_values(reader, &list_message, loc);
            value = take_list(&fields->values, fields->dump->module, first, 0);
            vec_push(&fields->values, value);
        } else if (proto_is(&field, "tensor")) {
            push_tensor(reader, loc);
        } else if (proto_is(&field, "shape")) {
            struct dump_shape shape;
            read_shape(fields, &shape);
            value.kind = ATTR_TYPE;
            value.id = dump_type(fields->dump, DTYPE_UNKNOWN, W_ND, &shape, loc);
            vec_push(&fields->values, value);
        } else {
            struct field_walk func = {fields, &func_message, NULL, 0, false};
            while (field_next(&func, &field))
                if (proto_is(&field, "name"))
                    value.id = field_string(fields, &field);
                else if (field.kind == PROTO_MESSAGE)
                    dump_drop(fields->dump, loc, "an attribute of a function that is called");
            if (value.id != NONE && fields->dump->module->names.names[value.id].size > 0)
                vec_push(&fields->values, value);
        }
    }
}

/* ---------------------------------------------------------------------------- outputs ---- */

/* Outputs of a node; more are not believed. */
enum { MOST_OUTPUTS = 1024 };

static const struct {
    const char *op, *outputs;
} rows[] = {
#define TF_OP(op, outputs) {op, outputs},
#include "frontend/import/tf_ops.def"
#undef TF_OP
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* One NAME:DTYPE*COUNT of a row. */
struct part {
    const char *name, *dtype, *count;
    size_t name_size, dtype_size, count_size;
};

static const char *outputs_of(struct reader *reader, uint32_t op)
{
    uint32_t *row = id_map_at(&reader->rows, op);
    if (*row == NONE)
        for (*row = 0; *row < ROWS; ++*row)
            if (name_is(reader->fields.dump->module, op, rows[*row].op))
                break;
    return *row < ROWS ? rows[*row].outputs : NULL;
}

static bool next_part(const char **at, struct part *part)
{
    *at += strspn(*at, " ");
    part->name = *at;
    part->name_size = strcspn(*at, ":");
    if (part->name_size == 0)
        return false;
    part->dtype = *at + part->name_size + 1;
    part->dtype_size = strcspn(part->dtype, "* ");
    *at = part->dtype + part->dtype_size;
    part->count = **at == '*' ? *at + 1 : NULL;
    part->count_size = part->count ? strcspn(part->count, " ") : 0;
    *at += strcspn(*at, " ");
    return true;
}

static const struct attr_value *find(const struct dump *dump, const struct dump_draft *draft,
                                     const char *text, size_t size)
{
    for (uint32_t i = 0; i < draft->attrs.count; i++) {
        const struct intern_name *key = &dump->module->names.names[draft->attrs.at[i].key];
        if (key->size == size && memcmp(key->text, text, size) == 0)
            return &draft->attrs.at[i].value;
    }
    return NULL;
}

static bool is_dtype(const struct attr_value *value)
{
    return value && value->kind == ATTR_WORD && value->id > W_BEFORE_DTYPES &&
           value->id < W_DTYPE_END;
}

/* The type of a dtype and a shape, which are given by a word and a type of no dtype. */
static uint32_t type_of(struct dump *dump, const struct attr_value *dtype,
                        const struct attr_value *shape)
{
    struct dump_shape known = {.rank = RANK_UNKNOWN};
    unsigned element = is_dtype(dtype) ? dtype->id - W_BEFORE_DTYPES - 1 : DTYPE_UNKNOWN;
    if (element == DTYPE_resource) /* the handle of a variable is the variable */
        element = DTYPE_UNKNOWN;
    if (shape && shape->kind == ATTR_TYPE && shape->id != NONE) {
        const struct type *type = &dump->module->types.at[shape->id];
        known.rank = type->rank;
        for (uint32_t i = 0; i < type_n_dims(type); i++)
            known.dims[i] = dump->module->dims.at[type->dims + i];
    }
    return dump_type(dump, element, W_ND, &known, 0);
}

/* Adds an output. Its shape is that of `_output_shapes`, or, of what is fed or kept, `shape`. */
static void add_output(struct dump *dump, struct dump_draft *draft, const struct attr_value *dtype)
{
    static const char *const shaped[] = {"Placeholder", "PlaceholderV2", "PlaceholderWithDefault",
                                         "Variable",    "VariableV2",    "ImmutableConst"};
    uint32_t output = draft->outputs.count;
    const struct attr_value *shape = NULL, *list = find(dump, draft, "_output_shapes", 14);
    if (list && list->kind == ATTR_LIST && output < list->count)
        shape = &dump->module->attr_values.at[list->first + output];
    for (unsigned i = 0; i < sizeof shaped / sizeof shaped[0] && !shape; i++)
        if (name_is(dump->module, draft->node.type, shaped[i]))
            shape = find(dump, draft, "shape", 5);
    if (output < MOST_OUTPUTS)
        dump_add_output(draft, NONE, type_of(dump, dtype, shape));
}

/* As many as a list of dtypes has, or as `count` says. */
static void add_outputs(struct dump *dump, struct dump_draft *draft, const struct attr_value *dtype,
                        int64_t count)
{
    bool list = dtype && dtype->kind == ATTR_LIST;
    uint32_t first = list ? dtype->first : 0;
    count = list ? dtype->count : count;
    for (int64_t i = 0; i < count && (list || i < MOST_OUTPUTS); i++) {
        struct attr_value one =
            list ? dump->module->attr_values.at[first + i] : (struct attr_value){.kind = ATTR_INT};
        add_output(dump, draft, list ? &one : dtype);
    }
}

/* Gives the draft the outputs that its type and attributes tell of, with dtypes, and shapes where
 * `_output_shapes` has them. */
static void settle_outputs(struct reader *reader)
{
    /* Attributes that have the dtype of the only output, in the order in which they are asked. */
    static const char *const usual[] = {"dtype", "out_type", "output_type", "Tout", "T"};
    struct dump *dump = reader->fields.dump;
    struct dump_draft *draft = &reader->draft;
    const char *at = outputs_of(reader, draft->node.type);
    struct part part;
    bool known = at != NULL;
    while (at && next_part(&at, &part)) {
        struct attr_value word = {.kind = ATTR_WORD};
        const struct attr_value *dtype = find(dump, draft, part.dtype, part.dtype_size), *number;
        word.id = intern_find(&dump->module->names, part.dtype, part.dtype_size);
        if (!dtype && is_dtype(&word))
            dtype = &word;
        number = part.count ? find(dump, draft, part.count, part.count_size) : NULL;
        bool counted = number && number->kind == ATTR_INT;
        add_outputs(dump, draft, dtype, !part.count ? 1 : counted ? number->i : 0);
    }
    for (unsigned i = 0; i < sizeof usual / sizeof usual[0] && !known; i++) {
        const struct attr_value *dtype = find(dump, draft, usual[i], strlen(usual[i]));
        known = dtype != NULL;
        if (known)
            add_outputs(dump, draft, dtype, 1);
    }
    const struct attr_value *list = find(dump, draft, "_output_shapes", 14);
    for (uint32_t i = draft->outputs.count; list && list->kind == ATTR_LIST && i < list->count; i++)
        add_output(dump, draft, NULL);
    if (!known && draft->outputs.count == 0 &&
        translation_find(dump->module, DIALECT_TF, draft->node.type))
        dump_add_output(draft, NONE, NONE);
    if (name_is(dump->module, draft->node.type, "Const") && reader->tensor != NONE &&
        draft->outputs.count <= 1) {
        draft->outputs.count = 0;
        dump_add_output(draft, NONE, reader->tensor);
    }
}

/* ------------------------------------------------------------------------------ nodes ---- */

static const struct message attr_message = {"an attribute", {READ(key, ONE), READ(value, ONE)}};
static const struct message node_message = {"a node",
                                            {ENTER(attr, MANY), READ(input, MANY), READ(name, ONE),
                                             STORE(op, ONE, NAME, struct dump_draft, node.type),
                                             UNUSED(device), UNUSED(experimental_debug_info),
                                             UNUSED(experimental_type)}};

/* What a string names; `argument` is that of the output, or NONE. */
static struct dump_input split_input(struct reader *reader, uint32_t name, uint32_t loc,
                                     uint32_t *argument)
{
    struct intern *names = &reader->fields.dump->module->names;
    struct intern_name text = names->names[name];
    struct dump_input input = {.name = NONE, .label = NONE, .loc = loc, .kind = DUMP_ABSENT};
    size_t size = text.size, colon;
    int64_t number;
    *argument = NONE;
    if (size == 0)
        return input;
    if (*text.text == '^') {
        input.kind = DUMP_CONTROL;
        input.name = intern_copy(names, text.text + 1, size - 1);
        return input;
    }
    input.kind = DUMP_DATA;
    if (cut_number(text.text, &size, &number) && (number < 0 || number > INT32_MAX || size == 0)) {
        size = text.size;
    } else if (size < text.size) {
        input.output = (uint32_t)number;
        for (colon = size - 1; colon > 0 && text.text[colon] != ':';)
            colon--;
        if (reader->in_function && colon > 0) {
            *argument = intern_copy(names, text.text + colon + 1, size - colon - 1);
            size = colon;
        }
    }
    input.name = intern_copy(names, text.text, size);
    if (reader->in_function && *argument == NONE &&
        id_map_find(&reader->params, input.name) != NONE)
        input.kind = DUMP_VALUE;
    return input;
}

/* An attribute that was entered. */
static void read_attr(struct reader *reader)
{
    struct fields *fields = &reader->fields;
    struct field_walk walk = {fields, &attr_message, NULL, 0, false};
    struct proto_field field;
    uint32_t key = NONE, first = fields->values.count;
    while (field_next(&walk, &field)) {
        struct attr attr = {key, field.name_span.begin, {.kind = ATTR_INT}};
        if (proto_is(&field, "key")) {
            key = field_string(fields, &field);
        } else if (key == NONE) {
            proto_fail(fields->proto, field.name_span,
                       "the key of an attribute must come before its value");
        } else if (dump_wants(fields->dump, &reader->draft, key) && field_enter(fields, &field)) {
            push_values(reader, &value_message, attr.loc);
            bool some = fields->values.count > first && !fields->proto->failed;
            if (some)
                attr.value = fields->values.at[first];
            fields->values.count = first;
            if (some)
                dump_add_attr(&reader->draft, attr);
        }
    }
}

/* A node that was entered. */
static void read_node(struct reader *reader, uint32_t graph, uint32_t loc)
{
    static const char *const params[] = {"Placeholder", "PlaceholderV2", "_Arg"};
    struct fields *fields = &reader->fields;
    struct dump *dump = fields->dump;
    struct dump_draft *draft = &reader->draft;
    struct field_walk walk = {fields, &node_message, draft, 0, false};
    struct proto_field field;
    uint32_t argument, name;
    dump_begin(draft, loc);
    draft->node.dialect = DIALECT_TF;
    reader->arguments.count = 0;
    reader->tensor = NONE;
    while (field_next(&walk, &field)) {
        if (proto_is(&field, "attr")) {
            read_attr(reader);
        } else if (proto_is(&field, "name")) {
            draft->node.name = field_token(fields, &field);
            draft->node.loc = field.span.begin;
        } else if ((name = field_token(fields, &field)) != NONE) {
            dump_add_input(draft, split_input(reader, name, field.span.begin, &argument));
            vec_push(&reader->arguments, argument);
        }
    }
    if (fields->proto->failed)
        return;
    if (draft->node.type == NONE) {
        diag_at(dump->diags, DIAG_foreign_form, source_token(dump->source, draft->node.loc),
                "a node without 'op'");
        return;
    }
    /* The role of a node, and whether its type means the same in GE: contents, and ops that call
     * graphs. */
    struct dump_node *node = &draft->node;
    const struct attr_value *index = find(dump, draft, "index", 5);
    for (unsigned i = 0; i < sizeof params / sizeof params[0]; i++)
        if (name_is(dump->module, node->type, params[i]))
            node->role = DUMP_PARAM;
    if (name_is(dump->module, node->type, "_Retval"))
        node->role = DUMP_RETURN;
    if (node->role != DUMP_OP && index && index->kind == ATTR_INT)
        node->index = index->i;
    bool same = node->role != DUMP_OP ||
                op_call_kind(&(struct op){.type = node->type}) != CALL_NONE ||
                name_is(dump->module, node->type, "Const");
    node->dialect = same ? DIALECT_GE : DIALECT_TF;
    if (draft->node.role != DUMP_RETURN)
        settle_outputs(reader);
    uint32_t first = dump->graphs.at[graph].inputs.count;
    for (uint32_t i = 0; i < reader->arguments.count; i++)
        if (reader->arguments.at[i] != NONE)
            vec_push(&reader->pending,
                     (struct pending){graph, first + i, false, reader->arguments.at[i]});
    dump_add_node(dump, graph, draft);
}

/* -------------------------------------------------------------------------- functions ---- */

static const struct message library_message = {
    "the library",
    {ENTER(function, MANY), READ(gradient, MANY), UNUSED_MANY(registered_gradients)}};
static const struct message function_message = {
    "a function",
    {ENTER(node_def, MANY), ENTER(signature, ONE), ENTER(ret, MANY), UNUSED_MANY(control_ret),
     UNUSED_MANY(attr), UNUSED_MANY(arg_attr), UNUSED_MANY(resource_arg_unique_id)}};
static const struct message signature_message = {
    "a signature",
    {ENTER(input_arg, MANY), ENTER(output_arg, MANY), READ(name, ONE), UNUSED_MANY(control_output),
     UNUSED_MANY(attr), UNUSED(deprecation), UNUSED(summary), UNUSED(description),
     UNUSED(is_commutative), UNUSED(is_aggregate), UNUSED(is_stateful),
     UNUSED(allows_uninitialized_input), UNUSED(is_distributed_communication)}};
static const struct message arg_message = {"an argument",
                                           {READ(name, ONE), READ(type, ONE), UNUSED(description),
                                            UNUSED(type_attr), UNUSED(number_attr),
                                            UNUSED(type_list_attr), UNUSED_MANY(handle_data),
                                            UNUSED(is_ref), UNUSED(experimental_full_type)}};

/* An ArgDef that was entered: its name, and the type that is known of it. */
static struct dump_param read_arg(struct fields *fields, uint32_t loc)
{
    struct field_walk walk = {fields, &arg_message, NULL, 0, false};
    struct dump_param param = {.name = NONE, .loc = loc};
    struct attr_value dtype = {.kind = ATTR_INT};
    struct proto_field field;
    while (field_next(&walk, &field))
        if (proto_is(&field, "name")) {
            param.name = field_token(fields, &field);
            param.loc = field.span.begin;
        } else {
            dtype = read_dtype(fields, &field, loc);
        }
    param.type = type_of(fields->dump, &dtype, NULL);
    return param;
}

static void read_signature(struct reader *reader, uint32_t graph)
{
    struct fields *fields = &reader->fields;
    struct dump *dump = fields->dump;
    struct field_walk walk = {fields, &signature_message, NULL, 0, false};
    struct proto_field field;
    uint32_t name;
    while (field_next(&walk, &field)) {
        if (proto_is(&field, "input_arg")) {
            struct dump_param param = read_arg(fields, field.name_span.begin);
            if (param.name == NONE)
                continue;
            vec_push(&dump->graphs.at[graph].params, param);
            id_map_set(&reader->params, param.name, 0);
        } else if (proto_is(&field, "output_arg")) {
            vec_push(&reader->outputs, read_arg(fields, field.name_span.begin).name);
        } else if ((name = field_token(fields, &field)) != NONE) {
            dump->graphs.at[graph].loc = field.span.begin;
            dump_name_graph(dump, graph, name);
            id_map_set(&reader->functions, name, graph);
        }
    }
}

static uint32_t argument_key(struct reader *reader, uint32_t op, uint32_t argument)
{
    struct module *module = reader->fields.dump->module;
    return module_name_printf(module, "%.*s:%.*s", NAME(module, op), NAME(module, argument));
}

/* A function that was entered. What it returns is in the order of the signature; callers of the
 * function name it so. */
static void read_function(struct reader *reader, uint32_t loc)
{
    struct fields *fields = &reader->fields;
    struct field_walk walk = {fields, &function_message, NULL, 0, false};
    struct proto_field field;
    struct id_map *places = &reader->nodes;
    uint32_t graph = dump_add_graph(fields->dump, NONE, loc, NONE), name;
    reader->in_function = true;
    reader->rets.count = reader->outputs.count = 0;
    while (field_next(&walk, &field)) {
        struct field_walk entry = {fields, &attr_message, NULL, 0, false};
        struct ret ret = {.argument = NONE, .output = NONE, .input = {.name = NONE}};
        if (proto_is(&field, "node_def")) {
            read_node(reader, graph, field.name_span.begin);
            continue;
        }
        if (proto_is(&field, "signature")) {
            read_signature(reader, graph);
            continue;
        }
        while (field_next(&entry, &field))
            if (proto_is(&field, "key"))
                ret.argument = field_string(fields, &field);
            else if ((name = field_token(fields, &field)) != NONE)
                ret.input = split_input(reader, name, field.span.begin, &ret.output);
        if (ret.argument != NONE && ret.input.name != NONE)
            vec_push(&reader->rets, ret);
    }
    struct dump_graph *made = &fields->dump->graphs.at[graph];
    for (uint32_t i = 0; i < reader->rets.count; i++)
        id_map_set(places, reader->rets.at[i].argument, i);
    for (uint32_t i = 0; i < reader->outputs.count; i++) {
        name = reader->outputs.at[i];
        uint32_t place = name == NONE ? NONE : id_map_find(places, name);
        if (name != NONE)
            id_map_set(&reader->guesses, argument_key(reader, made->name, name), i);
        if (place == NONE)
            continue;
        const struct ret *ret = &reader->rets.at[place];
        if (ret->output != NONE)
            vec_push(&reader->pending,
                     (struct pending){graph, made->returns.count, true, ret->output});
        vec_push(&made->returns, ret->input);
    }
    for (uint32_t i = 0; i < reader->rets.count; i++)
        id_map_set(places, reader->rets.at[i].argument, NONE);
    for (uint32_t i = 0; i < made->params.count; i++)
        id_map_set(&reader->params, made->params.at[i].name, NONE);
    reader->in_function = false;
}

/* ---------------------------------------------------------- outputs by their argument ---- */

/* The first output of those that an op's argument has. Of ops that are not known, arguments have
 * places in the order in which they are named first. */
static uint32_t place_of(struct reader *reader, uint32_t op, uint32_t argument, uint32_t loc)
{
    struct module *module = reader->fields.dump->module;
    struct intern_name name = module->names.names[argument];
    const char *at = outputs_of(reader, op);
    struct part part;
    for (uint32_t i = 0; at && next_part(&at, &part); i++)
        if (part.name_size == name.size && memcmp(part.name, name.text, name.size) == 0)
            return i;
    uint32_t key = argument_key(reader, op, argument);
    uint32_t place = id_map_find(&reader->guesses, key);
    if (place != NONE)
        return place;
    uint32_t *count = id_map_at(&reader->guessed, op);
    place = *count == NONE ? 0 : *count;
    *count = place + 1;
    id_map_set(&reader->guesses, key, place);
    if (place > 0)
        dump_drop(reader->fields.dump, loc, "which output of %.*s '%.*s' is: output %u is taken",
                  NAME(module, op), NAME(module, argument), place);
    return place;
}

static void map_nodes(struct reader *reader, uint32_t graph, bool set)
{
    const struct dump_graph *from = &reader->fields.dump->graphs.at[graph];
    for (uint32_t i = 0; i < from->nodes.count; i++)
        if (from->nodes.at[i].name != NONE)
            id_map_set(&reader->nodes, from->nodes.at[i].name, set ? i : NONE);
}

static void settle_pending(struct reader *reader)
{
    uint32_t mapped = NONE;
    for (uint32_t i = 0; i < reader->pending.count; i++) {
        const struct pending *pending = &reader->pending.at[i];
        struct dump_graph *graph = &reader->fields.dump->graphs.at[pending->graph];
        struct dump_input *input = pending->returned ? &graph->returns.at[pending->index]
                                                     : &graph->inputs.at[pending->index];
        if (pending->graph != mapped && mapped != NONE)
            map_nodes(reader, mapped, false);
        if (pending->graph != mapped)
            map_nodes(reader, pending->graph, true);
        mapped = pending->graph;
        uint32_t node = id_map_find(&reader->nodes, input->name);
        if (node != NONE)
            input->output +=
                place_of(reader, graph->nodes.at[node].type, pending->argument, input->loc);
    }
}

/* ----------------------------------------------------------------------------- graphs ---- */

/* A text may be a graph, a graph with its signatures, or a saved model. */
static const struct message graph_message = {
    "the graph",
    {READ(node, MANY), READ(library, ONE), READ(versions, ONE), UNUSED(version), UNUSED(debug_info),
     READ(graph_def, ONE), READ(meta_graphs, MANY), UNUSED(saved_model_schema_version),
     UNUSED(meta_info_def), UNUSED(saver_def), UNUSED_MANY(collection_def),
     UNUSED_MANY(signature_def), UNUSED_MANY(asset_file_def), UNUSED(object_graph_def)}};

/* The fields of a GraphDef, or of a message that has one inside, to the end. */
static void read_graph(struct reader *reader)
{
    struct fields *fields = &reader->fields;
    struct dump *dump = fields->dump;
    struct field_walk walk = {fields, &graph_message, NULL, 0, false};
    struct proto_field field;
    uint32_t graph = NONE;
    while (field_next(&walk, &field)) {
        bool inner = proto_is(&field, "graph_def") || proto_is(&field, "meta_graphs");
        if (!inner && graph == NONE)
            graph = dump_add_graph(dump, NONE, field.name_span.begin, NONE);
        if (inner && field.kind == PROTO_MESSAGE) {
            proto_enter(fields->proto);
            read_graph(reader);
        } else if (proto_is(&field, "node") && field_enter(fields, &field)) {
            read_node(reader, graph, field.name_span.begin);
        } else if (proto_is(&field, "library") && field_enter(fields, &field)) {
            struct field_walk library = {fields, &library_message, NULL, 0, false};
            while (field_next(&library, &field))
                if (proto_is(&field, "function"))
                    read_function(reader, field.name_span.begin);
                else if (field.kind == PROTO_MESSAGE)
                    dump_drop(dump, field.name_span.begin, "the gradient of a function");
        }
    }
}

bool exchange_read_tf_graphdef(struct dump *dump)
{
    struct reader reader = {.fields = {.dump = dump, .proto = &reader.text}};
    proto_init(&reader.text, dump->source, dump->diags);
    read_graph(&reader);
    bool done = !reader.text.failed;
    if (done) {
        settle_pending(&reader);
        callees_link(dump, &reader.functions);
        callees_check(dump);
    }
    for (uint32_t i = 0; i < dump->graphs.count; i++)
        dump->graphs.at[i].open = !graph_returns(&dump->graphs.at[i]);
    if (done && dump->graphs.count == 0)
        diag_at(dump->diags, DIAG_foreign_form, no_span, "there is no graph in the text");
    proto_free(&reader.text);
    vec_free(&reader.fields.values);
    dump_draft_free(&reader.draft);
    vec_free(&reader.pending);
    vec_free(&reader.rets);
    vec_free(&reader.outputs);
    vec_free(&reader.arguments);
    id_map_free(&reader.rows);
    id_map_free(&reader.functions);
    id_map_free(&reader.nodes);
    id_map_free(&reader.params);
    id_map_free(&reader.guesses);
    id_map_free(&reader.guessed);
    return done && !dump->diags->counts[SEVERITY_ERROR];
}

/* ------------------------------------------------------------------------------ signs ---- */

/* Whether the fields of the message are those of a GraphDef, or of what has one inside. */
static bool looks_graph(struct proto_text *proto, unsigned depth)
{
    static const char *const of_graph[] = {
        "version", "meta_info_def", "versions", "saved_model_schema_version",
        "library", "debug_info",    NULL};
    static const char *const of_node[] = {
        "name", "input", "device", "attr", "experimental_debug_info", "experimental_type", NULL};
    struct proto_field field;
    bool versions = false;
    while (proto_next(proto, &field)) {
        bool inner =
            field_is_message(&field, "graph_def") || field_is_message(&field, "meta_graphs");
        if (inner || field_is_message(&field, "node"))
            proto_enter(proto);
        if (inner)
            return depth < 2 && looks_graph(proto, depth + 1);
        if (field_is_message(&field, "node")) {
            while (proto_next(proto, &field) && field_is_one(&field, of_node))
                ;
            return !proto->failed && proto_is(&field, "op") && field.kind == PROTO_STRING;
        }
        if (!field_is_one(&field, of_graph))
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
