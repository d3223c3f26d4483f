/* Graphs as TorchAir prints them in Python (`dynamo_*.py`): a line for each op,
 *
 *     Add_1_0 = ge.Add(a_0, ge.Const(1, dtype=0), alpha=2, node_name="Add_1")
 *
 * Values are called NODE_OUTPUT, with `_` in place of `/` and `:`. Positional arguments are what
 * the op takes: values, lists of values, None, and contents of tensors, which are constants that
 * have no line of their own. Keywords are attributes, but for `node_name` and `dependencies`. */
#include "frontend/exchange/exchange.h"
#include "frontend/exchange/readers/torchair_py_inputs.h"

/* -------------------------------------------------------------------------- keywords ---- */

static bool read_shape(struct py_reader *reader, uint32_t index, struct dump_shape *shape)
{
    if (py_item_at(reader, index)->sort != PY_LIST)
        return py_item_is(reader, index, "None");
    *shape = (struct dump_shape){.rank = 0};
    for (EACH_PY(&reader->items, i, index)) {
        int64_t dim;
        const struct py_item *item = py_item_at(reader, i);
        if (python_int(&reader->values, i, &dim))
            dump_shape_add_ge(shape, dim);
        else
            dump_shape_add(shape,
                           item->sort == PY_NAME
                               ? dump_dim(reader->dump, py_text(&reader->items, item), item->size)
                               : DIM_UNKNOWN);
    }
    return true;
}

/* The value of a keyword of the call, or NONE. */
static uint32_t keyword(const struct py_reader *reader, uint32_t call, const char *name)
{
    for (EACH_PY(&reader->items, i, call))
        if (py_item_at(reader, i)->sort == PY_KEYWORD && py_item_is(reader, i, name))
            return i + 1;
    return NONE;
}

/* What a Data's line says of its value. */
static bool read_data_type(struct py_reader *reader, uint32_t call, uint32_t *type)
{
    unsigned dtype = DTYPE_UNKNOWN;
    struct dump_shape shape = {.rank = RANK_UNKNOWN};
    uint32_t format = W_ND, at;
    if ((at = keyword(reader, call, "dtype")) != NONE)
        dtype = py_dtype_of(reader, at);
    if ((at = keyword(reader, call, "shape")) != NONE && !read_shape(reader, at, &shape))
        return py_refuse(reader, at, "a shape is a list of dimensions");
    if ((at = keyword(reader, call, "format")) != NONE) {
        const struct intern_name *name =
            &reader->dump->module->names.names[python_name(&reader->values, at)];
        format = dump_format(reader->dump, name->text, name->size, py_item_at(reader, at)->at);
    }
    *type = dump_type(reader->dump, dtype, format, &shape, py_item_at(reader, call)->at);
    return true;
}

/* Whether a keyword of a Data is in the type of its value, or its place among the parameters. */
static bool is_of_data(struct py_reader *reader, uint32_t index)
{
    int64_t number;
    if (py_item_is(reader, index, "index") && python_int(&reader->values, index + 1, &number)) {
        reader->draft.node.index = number >= 0 ? number : -1;
        return true;
    }
    return py_item_is(reader, index, "dtype") || py_item_is(reader, index, "shape") ||
           py_item_is(reader, index, "format");
}

/* Whether a keyword's value is a value of the graph, or a list of some. */
static bool is_operand(const struct py_reader *reader, uint32_t index)
{
    const struct py_item *item = py_item_at(reader, index);
    if (item->sort == PY_NAME)
        return py_value_named(reader, py_text(&reader->items, item), item->size);
    if (item->sort == PY_CALL)
        return py_item_is(reader, index, "Tensor") || py_is_const_call(reader, index);
    bool any = false;
    for (EACH_PY(&reader->items, i, index))
        any |= item->sort == PY_LIST && py_item_at(reader, i)->sort != PY_LIST &&
               is_operand(reader, i);
    return any;
}

static struct attr_value keyword_value(struct py_reader *reader, uint32_t index)
{
    const struct py_item *item = py_item_at(reader, index);
    const char *text = py_text(&reader->items, item), *dot = memchr(text, '.', item->size);
    const char *name = dot ? dot + 1 : text;
    if (item->sort == PY_NAME && item->end - (uint32_t)(name - text) > item->at + 3 &&
        memcmp(name, "DT_", 3) == 0) {
        struct dump_shape scalar = {.rank = 0};
        uint32_t type =
            dump_type(reader->dump, py_dtype_of(reader, index), W_ND, &scalar, item->at);
        return (struct attr_value){.kind = ATTR_TYPE, .id = type};
    }
    return python_attr_value(&reader->values, index);
}

static bool read_keyword(struct py_reader *reader, uint32_t index)
{
    const struct py_item *item = py_item_at(reader, index);
    if (py_item_is(reader, index, "node_name"))
        return true;
    if (py_item_is(reader, index, "dependencies"))
        return py_add_dependencies(reader, index + 1);
    if (reader->draft.node.role == DUMP_PARAM && is_of_data(reader, index))
        return true;
    uint32_t key = py_intern(reader, py_text(&reader->items, item), item->size);
    if (is_operand(reader, index + 1))
        return py_add_argument(reader, index + 1, key);
    uint32_t *seen = id_map_at(&reader->seen, key), node = reader->n_nodes;
    if (*seen == node)
        return py_refuse(reader, index, "this keyword stands twice");
    *seen = node;
    if (py_item_is(reader, index + 1, "None") || !dump_wants(reader->dump, &reader->draft, key))
        return true;
    struct attr attr = {.key = key, .loc = item->at, .value = keyword_value(reader, index + 1)};
    dump_add_attr(&reader->draft, attr);
    return true;
}

/* ----------------------------------------------------------------------------- nodes ---- */

/* The name that the node of a value has: that of the value without the number of the output. */
static uint32_t name_of_target(struct py_reader *reader, uint32_t index)
{
    const struct py_item *item = py_item_at(reader, index);
    const char *text = py_text(&reader->items, item);
    uint32_t size = item->size;
    while (size > 0 && text[size - 1] >= '0' && text[size - 1] <= '9')
        size--;
    bool numbered = size > 1 && size < item->size && text[size - 1] == '_';
    return py_intern(reader, text, numbered ? size - 1 : item->size);
}

static bool is_target(const struct py_reader *reader, uint32_t index)
{
    return py_item_at(reader, index)->sort == PY_NAME && !py_item_is(reader, index, "_");
}

/* The first name to the left of `=`, or NONE. */
static uint32_t first_target(const struct py_reader *reader, uint32_t end)
{
    for (uint32_t i = 0; i < end; i++)
        if (is_target(reader, i))
            return i;
    return NONE;
}

static uint32_t node_name(struct py_reader *reader, uint32_t call)
{
    uint32_t said = keyword(reader, call, "node_name"), target = first_target(reader, call);
    if (said != NONE && py_item_at(reader, said)->sort == PY_STRING &&
        py_item_at(reader, said)->size > 2)
        return python_name(&reader->values, said);
    return target != NONE ? name_of_target(reader, target) : NONE;
}

static void begin_node(struct py_reader *reader, uint32_t call)
{
    const struct py_item *item = py_item_at(reader, call);
    const char *text = py_text(&reader->items, item), *type = text + item->size;
    struct dump_draft *draft = &reader->draft;
    uint32_t target = first_target(reader, call);
    const struct py_item *at = py_item_at(reader, target != NONE ? target : call);
    source_add_token(reader->dump->source, py_span(at));
    dump_begin(draft, at->at);
    while (type[-1] != '.')
        type--;
    draft->node.type = py_intern(reader, type, (size_t)(text + item->size - type));
    draft->node.name = node_name(reader, call);
    reader->node = draft->node.name != NONE ? draft->node.name : draft->node.type;
    if (name_is(reader->dump->module, draft->node.type, "Data") ||
        name_is(reader->dump->module, draft->node.type, "RefData"))
        draft->node.role = DUMP_PARAM;
    else if (name_is(reader->dump->module, draft->node.type, "NetOutput"))
        draft->node.role = DUMP_RETURN;
    if (draft->node.role == DUMP_RETURN)
        reader->dump->graphs.at[reader->graph].open = false;
}

/* A name that stands for another value already stands for this one from now on. */
static void name_value(struct py_reader *reader, const struct py_item *item, struct py_value value)
{
    uint32_t name = intern_static(&reader->names, py_text(&reader->items, item), item->size);
    if (name == reader->made.count)
        vec_push(&reader->made, value);
    else
        reader->made.at[name] = value;
}

/* Names to the left of `=` are the outputs, in this order, `_` one that nobody takes; but alone it
 * stands for none. `type` is that of all of them. */
static bool add_outputs(struct py_reader *reader, uint32_t call, uint32_t type)
{
    uint32_t output = 0;
    bool none = call == 1 && py_item_is(reader, 0, "_");
    for (uint32_t i = 0; i < call && !none; i++) {
        if (py_item_at(reader, i)->sort == PY_LIST)
            continue;
        if (py_item_at(reader, i)->sort != PY_NAME)
            return py_refuse(reader, i, "this is no name for a value");
        dump_add_output(&reader->draft, NONE, type);
        if (is_target(reader, i)) {
            const struct py_item *item = py_item_at(reader, i);
            name_value(reader, item, (struct py_value){reader->draft.node.name, output});
        }
        output++;
    }
    return true;
}

/* A constant with a line of its own: its argument is no input, and its value the only output. */
static bool add_const_node(struct py_reader *reader, uint32_t call)
{
    unsigned dtype;
    uint32_t contents = py_read_const_call(reader, call, &dtype);
    py_put_contents(reader, &reader->draft, contents, dtype);
    uint32_t type = reader->draft.outputs.at[0].type;
    reader->draft.outputs.count = 0;
    return add_outputs(reader, call, type);
}

static bool add_op_node(struct py_reader *reader, uint32_t call)
{
    uint32_t type = NONE;
    for (EACH_PY(&reader->items, i, call)) {
        bool said = py_item_at(reader, i)->sort == PY_KEYWORD ? read_keyword(reader, i)
                                                              : py_add_argument(reader, i, NONE);
        if (!said)
            return false;
    }
    if (reader->draft.node.role == DUMP_PARAM && !read_data_type(reader, call, &type))
        return false;
    return add_outputs(reader, call, type);
}

static bool add_node(struct py_reader *reader, uint32_t call)
{
    begin_node(reader, call);
    if (!(py_is_const_call(reader, call) ? add_const_node : add_op_node)(reader, call))
        return false;
    dump_add_node(reader->dump, reader->graph, &reader->draft);
    reader->n_nodes++;
    return true;
}

/* -------------------------------------------------------------------------- statements ---- */

/* What stands in front of `=`, and the call behind it, or only the call. Puts its index into
 * `*call`. */
static bool read_statement(struct py_reader *reader, uint32_t *call)
{
    struct python_text *python = &reader->items.python;
    reader->items.list.count = 0;
    while (python->kind != PYTHON_NEWLINE && python->kind != PYTHON_END &&
           !python_is_char(python, '=')) {
        if (!python_read_value(&reader->items))
            return false;
        if (python_is_char(python, ','))
            python_next(python);
    }
    *call = 0;
    if (python_is_char(python, '=')) {
        *call = reader->items.list.count;
        python_next(python);
        if (!python_read_value(&reader->items))
            return false;
    }
    if (python->kind == PYTHON_NEWLINE || python->kind == PYTHON_END)
        return true;
    python_fail(python, python_span(python), "expected the end of the line here");
    return false;
}

/* Whether the statement is the call of an op, `ge.OP(...)`. */
static bool calls_op(const struct py_reader *reader, uint32_t call)
{
    if (call >= reader->items.list.count)
        return false;
    const struct py_item *item = py_item_at(reader, call);
    const char *text = py_text(&reader->items, item), *dot = text + item->size;
    if (item->sort != PY_CALL || item->next != reader->items.list.count)
        return false;
    while (dot > text && *dot != '.')
        dot--;
    return (dot - text >= 2 && memcmp(dot - 2, "ge", 2) == 0) ||
           (dot - text >= 7 && memcmp(dot - 7, "ge_apis", 7) == 0);
}

/* Statements that make no node: imports say nothing, others are lost. */
static bool passes(struct py_reader *reader)
{
    struct python_text *python = &reader->items.python;
    uint32_t loc = (uint32_t)(python->start - python->text);
    if (python_is_name(python, "with"))
        dump_drop(reader->dump, loc, "what a `with` says of the ops in it");
    else if (!python_is_name(python, "from") && !python_is_name(python, "import") &&
             !python_is_name(python, "pass"))
        return false;
    python_skip_line(python);
    return true;
}

static bool read_line(struct py_reader *reader)
{
    uint32_t call;
    if (passes(reader))
        return !reader->items.python.failed;
    if (!read_statement(reader, &call))
        return false;
    if (!calls_op(reader, call))
        return py_refuse(reader, call, "this is no op: `VALUE = ge.OP(...)`");
    return add_node(reader, call);
}

static bool read_lines(struct py_reader *reader)
{
    struct python_text *python = &reader->items.python;
    for (;;) {
        switch (python_next(python)) {
        case PYTHON_END: return true;
        case PYTHON_NEWLINE: continue;
        default: break;
        }
        if (!read_line(reader))
            return false;
        if (python->kind == PYTHON_END)
            return true;
    }
}

/* Names that stood in front of what is called so. */
static void resolve(struct py_reader *reader)
{
    struct dump_graph *graph = &reader->dump->graphs.at[reader->graph];
    for (uint32_t i = 0; i < reader->open.count; i++) {
        struct dump_input *input = &graph->inputs.at[reader->open.at[i]];
        const struct intern_name *name = &reader->dump->module->names.names[input->name];
        const struct py_value *made = py_value_named(reader, name->text, name->size);
        if (!made || made->node == NONE)
            continue;
        if (input->kind == DUMP_VALUE) {
            input->kind = DUMP_DATA;
            input->output = made->output;
        }
        input->name = made->node;
    }
}

/* Counts are of lines: constants that stand in those of others are none of their own. */
static void count(struct py_reader *reader)
{
    dump_count_graphs(reader->dump);
    struct dump_count *row = &reader->dump->counts.at[reader->graph];
    row->data_edges -= reader->constants.count;
    row->control_edges += reader->lost_controls;
}

static void reader_free(struct py_reader *reader)
{
    vec_free(&reader->items.list);
    python_values_free(&reader->values);
    dump_draft_free(&reader->draft);
    dump_draft_free(&reader->constant);
    intern_free(&reader->names);
    id_map_free(&reader->seen);
    vec_free(&reader->made);
    vec_free(&reader->open);
    vec_free(&reader->constants);
}

bool exchange_read_torchair_py(struct dump *dump)
{
    struct py_reader reader = {.dump = dump};
    python_init(&reader.items.python, dump->source, dump->diags);
    reader.values = (struct python_values){.dump = dump, .items = &reader.items};
    reader.graph = dump_add_graph(dump, module_name(dump->module, "graph"), 0, NONE);
    dump->graphs.at[reader.graph].open = true;
    bool read = read_lines(&reader) && !reader.items.python.failed;
    if (read) {
        resolve(&reader);
        py_name_constants(&reader);
        count(&reader);
        dump_drop(
            dump, 0,
            "torchair-py has no types but those of Data, and no scopes, streams or attributes "
            "that ops have from around them");
    }
    reader_free(&reader);
    return read;
}

/* ------------------------------------------------------------------------------- signs ---- */

enum { SIGN_BYTES = 16384 };

/* Whether the line, without blanks in front, is one of an op, or imports TorchAir. */
static bool line_signs(const char *line, size_t size)
{
    static const char from[] = "from torchair", import[] = "import torchair";
    if (size >= sizeof from && memcmp(line, from, sizeof from - 1) == 0)
        return true;
    if (size >= sizeof import && memcmp(line, import, sizeof import - 1) == 0)
        return true;
    size_t i = 0;
    while (i < size && line[i] != '=' && line[i] != '"' && line[i] != '(' && line[i] != '\'')
        i++;
    return i > 0 && size - i > 5 && line[i - 1] == ' ' && memcmp(line + i, "= ge.", 5) == 0;
}

/* Lines of comments, imports and none that says anything may stand in front. */
static bool line_passes(const char *line, size_t size)
{
    return size == 0 || *line == '#' || (size > 5 && memcmp(line, "from ", 5) == 0) ||
           (size > 7 && memcmp(line, "import ", 7) == 0);
}

bool exchange_looks_torchair_py(const struct source *source)
{
    const char *at = source->text, *end = at + source->size;
    while (at < end && at < source->text + SIGN_BYTES) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        const char *line = at;
        while (line < stop && (*line == ' ' || *line == '\t' || *line == '\r'))
            line++;
        if (line_signs(line, (size_t)(stop - line)))
            return true;
        if (!line_passes(line, (size_t)(stop - line)))
            return false;
        at = stop + 1;
    }
    return false;
}
