/* Graphs as TorchAir prints them in Python (`dynamo_*.py`): a line for each op,
 *
 *     Add_1_0 = ge.Add(a_0, ge.Const(1, dtype=0), alpha=2, node_name="Add_1")
 *
 * Values are called NODE_OUTPUT, with `_` in place of `/` and `:`. Positional arguments are what
 * the op takes: values, lists of values, None, and contents of tensors, which are constants that
 * have no line of their own. Keywords are attributes, but for `node_name` and `dependencies`. */
#include "frontend/exchange/dump/types.h"
#include "frontend/exchange/exchange.h"
#include "frontend/exchange/readers/python_values.h"
#include "ir/contents.h"

/* What a name stands for. */
struct made_value {
    uint32_t node, output; /* name id of the node; NONE: it has none */
};

/* A constant that stands among the arguments of a node: indices of its own node and of the input
 * that takes it, and the name of the other one. */
struct constant {
    uint32_t node, input, taker;
};

struct reader {
    struct dump *dump;
    struct python_items items;
    struct python_values values;
    struct dump_draft draft, constant;
    uint32_t graph, node; /* the node's name id */
    uint32_t n_nodes;
    VEC(struct constant) constants; /* those without a line */
    struct id_map targets;          /* by name: index in `made` */
    struct id_map seen;             /* by keyword: the number of the node that had it last */
    VEC(struct made_value) made;
    struct vec_u32 open;    /* inputs of the graph whose names nothing had been called yet */
    uint32_t lost_controls; /* control inputs of which nobody knows where they are from */
};

static const struct py_item *item_at(const struct reader *reader, uint32_t index)
{
    return &reader->items.list.at[index];
}

static bool is(const struct reader *reader, uint32_t index, const char *text)
{
    return py_is(&reader->items, item_at(reader, index), text);
}

static bool refuse(struct reader *reader, uint32_t index, const char *text)
{
    diag_at(reader->dump->diags, DIAG_foreign_form, py_span(item_at(reader, index)), "%s", text);
    reader->items.python.failed = true;
    return false;
}

static uint32_t intern(struct reader *reader, const char *text, size_t size)
{
    return intern_copy(&reader->dump->module->names, text, size);
}

/* ------------------------------------------------------------------------- constants ---- */

/* The dtype that an item says: a number of GE's, or a name of GE, torch or numpy. */
static unsigned read_dtype(struct reader *reader, const char *text, size_t size, uint32_t loc)
{
    static const struct {
        const char *name;
        enum dtype dtype;
    } names[] = {{"float32", DTYPE_f32},   {"float", DTYPE_f32},      {"float16", DTYPE_f16},
                 {"half", DTYPE_f16},      {"bfloat16", DTYPE_bf16},  {"float64", DTYPE_f64},
                 {"double", DTYPE_f64},    {"int8", DTYPE_i8},        {"int16", DTYPE_i16},
                 {"int32", DTYPE_i32},     {"int", DTYPE_i32},        {"int64", DTYPE_i64},
                 {"long", DTYPE_i64},      {"uint8", DTYPE_u8},       {"uint16", DTYPE_u16},
                 {"uint32", DTYPE_u32},    {"uint64", DTYPE_u64},     {"bool", DTYPE_bool},
                 {"complex64", DTYPE_c64}, {"complex128", DTYPE_c128}};
    int64_t number;
    if (python_integer(text, size, &number))
        return dump_dtype_numbered(reader->dump, DUMP_GE, number, loc);
    for (size_t i = size; i > 0; i--)
        if (text[i - 1] == '.') {
            text += i;
            size -= i;
            break;
        }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i].name) == size && memcmp(names[i].name, text, size) == 0)
            return names[i].dtype;
    return dump_dtype_named(reader->dump, text, size, loc);
}

static unsigned dtype_of(struct reader *reader, uint32_t index)
{
    const struct py_item *item = item_at(reader, index);
    return read_dtype(reader, py_text(&reader->items, item), item->size, item->at);
}

static uint32_t contents_type(struct reader *reader, const struct python_contents *contents,
                              unsigned dtype, uint32_t loc)
{
    struct dump_shape shape = {.rank = RANK_UNKNOWN};
    if (contents->regular && contents->rank <= MAX_RANK) {
        shape.rank = contents->rank;
        memcpy(shape.dims, contents->dims, sizeof shape.dims);
    }
    return dump_type(reader->dump, dtype, W_ND, &shape, loc);
}

/* Puts contents into a node, and their type, whose dtype the caller says or they do. */
static void put_contents(struct reader *reader, struct dump_draft *draft, uint32_t index,
                         unsigned dtype)
{
    struct python_contents contents;
    uint32_t loc = item_at(reader, index)->at;
    python_read_contents(&reader->values, index, &contents);
    if (dtype == DTYPE_UNKNOWN && contents.dtype)
        dtype = read_dtype(reader, contents.dtype, contents.dtype_size, loc);
    dump_add_output(draft, NONE, contents_type(reader, &contents, dtype, loc));
    if (contents.known)
        dump_add_attr(draft, (struct attr){W_value, loc, contents.value});
    else if (contents.elements > 0)
        dump_lose(reader->dump, loc, "the contents of a constant of '%.*s', which are %s",
                  NAME(reader->dump->module, reader->node),
                  contents.regular ? "too many for a text" : "not all in the dump");
}

/* A node for contents that stand among the arguments of another, as its next input. It gets a name
 * when all others are known. */
static void add_constant(struct reader *reader, uint32_t index, unsigned dtype)
{
    struct dump_draft *draft = &reader->constant;
    const struct dump_graph *graph = &reader->dump->graphs.at[reader->graph];
    struct constant constant = {graph->nodes.count,
                                graph->inputs.count + reader->draft.inputs.count, reader->node};
    dump_begin(draft, item_at(reader, index)->at);
    draft->node.type = module_name(reader->dump->module, "Const");
    draft->node.implied = true;
    put_contents(reader, draft, index, dtype);
    dump_add_node(reader->dump, reader->graph, draft);
    vec_push(&reader->constants, constant);
}

/* NODE_const, NODE_const_1 ...: the first from `*n` on that is no name so far. */
static uint32_t constant_name(struct reader *reader, const struct constant *constant, uint32_t *n)
{
    struct module *module = reader->dump->module;
    struct text *text = &reader->values.scratch;
    for (;; ++*n) {
        text->size = 0;
        text_printf(text, *n ? "%.*s_const_%u" : "%.*s_const", NAME(module, constant->taker), *n);
        if (intern_find(&module->names, text->at, text->size) == NONE)
            return intern(reader, text->at, text->size);
    }
}

static void name_constants(struct reader *reader)
{
    struct dump_graph *graph = &reader->dump->graphs.at[reader->graph];
    uint32_t n = 0;
    for (uint32_t i = 0; i < reader->constants.count; i++) {
        const struct constant *constant = &reader->constants.at[i];
        n = i && constant[-1].taker == constant->taker ? n + 1 : 0;
        graph->nodes.at[constant->node].name = constant_name(reader, constant, &n);
        graph->inputs.at[constant->input].name = graph->nodes.at[constant->node].name;
    }
}

/* ---------------------------------------------------------------------------- inputs ---- */

/* An input that is what a name stands for. */
static struct dump_input reference(struct reader *reader, const struct py_item *item, uint32_t name,
                                   uint32_t label)
{
    uint32_t made = id_map_find(&reader->targets, name);
    struct dump_input input = {.name = name, .label = label, .loc = item->at, .kind = DUMP_VALUE};
    if (item->size)
        source_add_token(reader->dump->source, py_span(item));
    if (made != NONE && reader->made.at[made].node != NONE) {
        input.kind = DUMP_DATA;
        input.name = reader->made.at[made].node;
        input.output = reader->made.at[made].output;
    }
    return input;
}

static struct dump_input named_value(struct reader *reader, uint32_t index, uint32_t label)
{
    const struct py_item *item = item_at(reader, index);
    return reference(reader, item, intern(reader, py_text(&reader->items, item), item->size),
                     label);
}

/* What a tensor is called that is printed as NODE:OUTPUT. */
static uint32_t printed_name(struct reader *reader, const char *text, uint32_t size)
{
    struct text *name = &reader->values.scratch;
    name->size = 0;
    for (uint32_t i = 0; i < size; i++)
        text_char(name, text[i] == ':' || text[i] == '/' ? '_' : text[i]);
    return size ? intern_find(&reader->dump->module->names, name->at, size) : NONE;
}

/* NODE:OUTPUT, as tensors are printed: what is called so, or else the output of the node. */
static struct dump_input printed_tensor(struct reader *reader, uint32_t index, uint32_t label)
{
    const struct py_item *item = item_at(reader, index);
    const char *text = py_text(&reader->items, item);
    uint32_t size = item->size, name = printed_name(reader, text, size);
    int64_t output = 0;
    if (name != NONE && id_map_find(&reader->targets, name) != NONE)
        return reference(reader, item, name, label);
    while (size > 0 && text[size - 1] != ':')
        size--;
    if (size == 0 || !python_integer(text + size, item->size - size, &output) || output < 0 ||
        output >= UINT32_MAX)
        return reference(reader, item, intern(reader, text, item->size), label);
    source_add_token(reader->dump->source, py_span(item));
    return (struct dump_input){.name = intern(reader, text, size - 1),
                               .output = (uint32_t)output,
                               .label = label,
                               .loc = item->at,
                               .kind = DUMP_DATA};
}

/* The next input names what may stand below. */
static void leave_open(struct reader *reader)
{
    const struct dump_graph *graph = &reader->dump->graphs.at[reader->graph];
    vec_push(&reader->open, graph->inputs.count + reader->draft.inputs.count);
}

static void add_input(struct reader *reader, struct dump_input input)
{
    if (input.kind == DUMP_VALUE)
        leave_open(reader);
    dump_add_input(&reader->draft, input);
}

/* The last part of a name with dots. */
static bool is_last(const struct reader *reader, uint32_t index, const char *name)
{
    const struct py_item *item = item_at(reader, index);
    size_t size = strlen(name);
    const char *end = py_text(&reader->items, item) + item->size;
    return item->size > size && memcmp(end - size, name, size) == 0 &&
           end[-1 - (ptrdiff_t)size] == '.';
}

static bool is_const_call(const struct reader *reader, uint32_t index)
{
    return item_at(reader, index)->sort == PY_CALL && is_last(reader, index, "Const");
}

/* The contents and dtype of ge.Const(...). Contents need not be printed: then there is the call
 * itself. */
static uint32_t read_const_call(struct reader *reader, uint32_t index, unsigned *dtype)
{
    uint32_t contents = index;
    *dtype = DTYPE_UNKNOWN;
    for (EACH_PY(&reader->items, i, index)) {
        if (item_at(reader, i)->sort != PY_KEYWORD)
            contents = contents == index ? i : contents;
        else if (is(reader, i, "dtype"))
            *dtype = dtype_of(reader, i + 1);
    }
    return contents;
}

static void add_const_call(struct reader *reader, uint32_t index)
{
    unsigned dtype;
    uint32_t contents = read_const_call(reader, index, &dtype);
    add_constant(reader, contents, dtype);
}

static bool is_name_of_value(const struct reader *reader, uint32_t index)
{
    return item_at(reader, index)->sort == PY_NAME && !is(reader, index, "None") &&
           !python_is_contents(&reader->values, index);
}

/* Whether a list is one of values, rather than the contents of one. */
static bool lists_values(const struct reader *reader, uint32_t index)
{
    for (EACH_PY(&reader->items, i, index)) {
        uint8_t sort = item_at(reader, i)->sort;
        if (sort == PY_NAME ? !python_is_contents(&reader->values, i)
                            : sort == PY_OBJECT || is_const_call(reader, i) ||
                                  (sort == PY_CALL && is(reader, i, "Tensor")))
            return true;
    }
    return false;
}

/* An operand that is one value. */
static bool add_operand(struct reader *reader, uint32_t index, uint32_t label, bool listed)
{
    const struct py_item *item = item_at(reader, index);
    struct dump_input input = {.name = NONE, .label = label, .loc = item->at, .kind = DUMP_ABSENT};
    if (is_name_of_value(reader, index)) {
        input = named_value(reader, index, label);
    } else if (item->sort == PY_CALL && is(reader, index, "Tensor")) {
        input = printed_tensor(reader, index + 1, label);
    } else if (is_const_call(reader, index)) {
        input.kind = DUMP_DATA;
        add_const_call(reader, index);
    } else if (python_is_contents(&reader->values, index)) {
        input.kind = DUMP_DATA;
        add_constant(reader, index, DTYPE_UNKNOWN);
    } else if (item->sort == PY_OBJECT || item->sort == PY_STRING) {
        dump_drop(reader->dump, item->at,
                  "an operand of '%.*s', of which there is no more than %.*s",
                  NAME(reader->dump->module, reader->node),
                  (int)(item->size < 60 ? item->size : 60), py_text(&reader->items, item));
    } else if (item->sort != PY_NAME) {
        return refuse(reader, index, "this is neither a value nor the contents of one");
    }
    input.listed = listed;
    add_input(reader, input);
    return true;
}

/* An argument that is an operand: one value, or a list of them. */
static bool add_argument(struct reader *reader, uint32_t index, uint32_t label)
{
    const struct py_item *item = item_at(reader, index);
    bool empty = item->next == index + 1;
    if (item->sort != PY_LIST || (!empty && !lists_values(reader, index)))
        return add_operand(reader, index, label, false);
    bool listed = reader->draft.node.role != DUMP_RETURN;
    for (EACH_PY(&reader->items, i, index))
        if (!add_operand(reader, i, label, listed))
            return false;
    return true;
}

/* Control inputs. Those that are printed as objects do not say from where they are. */
static bool add_dependencies(struct reader *reader, uint32_t list)
{
    if (item_at(reader, list)->sort != PY_LIST)
        return refuse(reader, list, "`dependencies` is a list");
    for (EACH_PY(&reader->items, i, list)) {
        struct dump_input input = {.kind = DUMP_ABSENT};
        if (item_at(reader, i)->sort == PY_CALL && is(reader, i, "Tensor"))
            input = printed_tensor(reader, i + 1, NONE);
        else if (is_name_of_value(reader, i))
            input = named_value(reader, i, NONE);
        else
            dump_drop(reader->dump, item_at(reader, i)->at,
                      "a control input of '%.*s', of which the dump does not say where it is from",
                      NAME(reader->dump->module, reader->node));
        reader->lost_controls += input.kind == DUMP_ABSENT;
        if (input.kind == DUMP_ABSENT)
            continue;
        if (input.kind == DUMP_VALUE)
            leave_open(reader);
        input.kind = DUMP_CONTROL;
        dump_add_input(&reader->draft, input);
    }
    return true;
}

/* -------------------------------------------------------------------------- keywords ---- */

static bool read_shape(struct reader *reader, uint32_t index, struct dump_shape *shape)
{
    if (item_at(reader, index)->sort != PY_LIST)
        return is(reader, index, "None");
    *shape = (struct dump_shape){.rank = 0};
    for (EACH_PY(&reader->items, i, index)) {
        int64_t dim;
        const struct py_item *item = item_at(reader, i);
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
static uint32_t keyword(const struct reader *reader, uint32_t call, const char *name)
{
    for (EACH_PY(&reader->items, i, call))
        if (item_at(reader, i)->sort == PY_KEYWORD && is(reader, i, name))
            return i + 1;
    return NONE;
}

/* What a Data's line says of its value. */
static bool read_data_type(struct reader *reader, uint32_t call, uint32_t *type)
{
    unsigned dtype = DTYPE_UNKNOWN;
    struct dump_shape shape = {.rank = RANK_UNKNOWN};
    uint32_t format = W_ND, at;
    if ((at = keyword(reader, call, "dtype")) != NONE)
        dtype = dtype_of(reader, at);
    if ((at = keyword(reader, call, "shape")) != NONE && !read_shape(reader, at, &shape))
        return refuse(reader, at, "a shape is a list of dimensions");
    if ((at = keyword(reader, call, "format")) != NONE) {
        const struct intern_name *name =
            &reader->dump->module->names.names[python_name(&reader->values, at)];
        format = dump_format(reader->dump, name->text, name->size, item_at(reader, at)->at);
    }
    *type = dump_type(reader->dump, dtype, format, &shape, item_at(reader, call)->at);
    return true;
}

/* Whether a keyword of a Data is in the type of its value, or its place among the parameters. */
static bool is_of_data(struct reader *reader, uint32_t index)
{
    int64_t number;
    if (is(reader, index, "index") && python_int(&reader->values, index + 1, &number)) {
        reader->draft.node.index = number >= 0 ? number : -1;
        return true;
    }
    return is(reader, index, "dtype") || is(reader, index, "shape") || is(reader, index, "format");
}

/* Whether a keyword's value is a value of the graph, or a list of some. */
static bool is_operand(const struct reader *reader, uint32_t index)
{
    const struct py_item *item = item_at(reader, index);
    if (item->sort == PY_NAME) {
        uint32_t name =
            intern_find(&reader->dump->module->names, py_text(&reader->items, item), item->size);
        return name != NONE && id_map_find(&reader->targets, name) != NONE;
    }
    if (item->sort == PY_CALL)
        return is(reader, index, "Tensor") || is_const_call(reader, index);
    bool any = false;
    for (EACH_PY(&reader->items, i, index))
        any |=
            item->sort == PY_LIST && item_at(reader, i)->sort != PY_LIST && is_operand(reader, i);
    return any;
}

static struct attr_value keyword_value(struct reader *reader, uint32_t index)
{
    const struct py_item *item = item_at(reader, index);
    const char *text = py_text(&reader->items, item), *dot = memchr(text, '.', item->size);
    const char *name = dot ? dot + 1 : text;
    if (item->sort == PY_NAME && item->end - (uint32_t)(name - text) > item->at + 3 &&
        memcmp(name, "DT_", 3) == 0) {
        struct dump_shape scalar = {.rank = 0};
        uint32_t type = dump_type(reader->dump, dtype_of(reader, index), W_ND, &scalar, item->at);
        return (struct attr_value){.kind = ATTR_TYPE, .id = type};
    }
    return python_attr_value(&reader->values, index);
}

static bool read_keyword(struct reader *reader, uint32_t index)
{
    const struct py_item *item = item_at(reader, index);
    if (is(reader, index, "node_name"))
        return true;
    if (is(reader, index, "dependencies"))
        return add_dependencies(reader, index + 1);
    if (reader->draft.node.role == DUMP_PARAM && is_of_data(reader, index))
        return true;
    uint32_t key = intern(reader, py_text(&reader->items, item), item->size);
    if (is_operand(reader, index + 1))
        return add_argument(reader, index + 1, key);
    uint32_t *seen = id_map_at(&reader->seen, key), node = reader->n_nodes;
    if (*seen == node)
        return refuse(reader, index, "this keyword stands twice");
    *seen = node;
    if (is(reader, index + 1, "None") || !dump_wants(reader->dump, &reader->draft, key))
        return true;
    struct attr attr = {.key = key, .loc = item->at, .value = keyword_value(reader, index + 1)};
    dump_add_attr(&reader->draft, attr);
    return true;
}

/* ----------------------------------------------------------------------------- nodes ---- */

/* The name that the node of a value has: that of the value without the number of the output. */
static uint32_t name_of_target(struct reader *reader, uint32_t index)
{
    const struct py_item *item = item_at(reader, index);
    const char *text = py_text(&reader->items, item);
    uint32_t size = item->size;
    while (size > 0 && text[size - 1] >= '0' && text[size - 1] <= '9')
        size--;
    bool numbered = size > 1 && size < item->size && text[size - 1] == '_';
    return intern(reader, text, numbered ? size - 1 : item->size);
}

static bool is_target(const struct reader *reader, uint32_t index)
{
    return item_at(reader, index)->sort == PY_NAME && !is(reader, index, "_");
}

/* The first name to the left of `=`, or NONE. */
static uint32_t first_target(const struct reader *reader, uint32_t end)
{
    for (uint32_t i = 0; i < end; i++)
        if (is_target(reader, i))
            return i;
    return NONE;
}

static uint32_t node_name(struct reader *reader, uint32_t call)
{
    uint32_t said = keyword(reader, call, "node_name"), target = first_target(reader, call);
    if (said != NONE && item_at(reader, said)->sort == PY_STRING && item_at(reader, said)->size > 2)
        return python_name(&reader->values, said);
    return target != NONE ? name_of_target(reader, target) : NONE;
}

static void begin_node(struct reader *reader, uint32_t call)
{
    const struct py_item *item = item_at(reader, call);
    const char *text = py_text(&reader->items, item), *type = text + item->size;
    struct dump_draft *draft = &reader->draft;
    uint32_t target = first_target(reader, call);
    const struct py_item *at = item_at(reader, target != NONE ? target : call);
    source_add_token(reader->dump->source, py_span(at));
    dump_begin(draft, at->at);
    while (type[-1] != '.')
        type--;
    draft->node.type = intern(reader, type, (size_t)(text + item->size - type));
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

/* Names to the left of `=` are the outputs, in this order, `_` one that nobody takes; but alone it
 * stands for none. `type` is that of all of them. */
static bool add_outputs(struct reader *reader, uint32_t call, uint32_t type)
{
    uint32_t output = 0;
    bool none = call == 1 && is(reader, 0, "_");
    for (uint32_t i = 0; i < call && !none; i++) {
        if (item_at(reader, i)->sort == PY_LIST)
            continue;
        if (item_at(reader, i)->sort != PY_NAME)
            return refuse(reader, i, "this is no name for a value");
        dump_add_output(&reader->draft, NONE, type);
        if (is_target(reader, i)) {
            const struct py_item *item = item_at(reader, i);
            uint32_t name = intern(reader, py_text(&reader->items, item), item->size);
            id_map_set(&reader->targets, name, reader->made.count);
            vec_push(&reader->made, (struct made_value){reader->draft.node.name, output});
        }
        output++;
    }
    return true;
}

/* A constant with a line of its own: its argument is no input, and its value the only output. */
static bool add_const_node(struct reader *reader, uint32_t call)
{
    unsigned dtype;
    uint32_t contents = read_const_call(reader, call, &dtype);
    put_contents(reader, &reader->draft, contents, dtype);
    uint32_t type = reader->draft.outputs.at[0].type;
    reader->draft.outputs.count = 0;
    return add_outputs(reader, call, type);
}

static bool add_op_node(struct reader *reader, uint32_t call)
{
    uint32_t type = NONE;
    for (EACH_PY(&reader->items, i, call)) {
        bool said = item_at(reader, i)->sort == PY_KEYWORD ? read_keyword(reader, i)
                                                           : add_argument(reader, i, NONE);
        if (!said)
            return false;
    }
    if (reader->draft.node.role == DUMP_PARAM && !read_data_type(reader, call, &type))
        return false;
    return add_outputs(reader, call, type);
}

static bool add_node(struct reader *reader, uint32_t call)
{
    begin_node(reader, call);
    if (!(is_const_call(reader, call) ? add_const_node : add_op_node)(reader, call))
        return false;
    dump_add_node(reader->dump, reader->graph, &reader->draft);
    reader->n_nodes++;
    return true;
}

/* -------------------------------------------------------------------------- statements ---- */

/* What stands in front of `=`, and the call behind it, or only the call. Puts its index into
 * `*call`. */
static bool read_statement(struct reader *reader, uint32_t *call)
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
static bool calls_op(const struct reader *reader, uint32_t call)
{
    if (call >= reader->items.list.count)
        return false;
    const struct py_item *item = item_at(reader, call);
    const char *text = py_text(&reader->items, item), *dot = text + item->size;
    if (item->sort != PY_CALL || item->next != reader->items.list.count)
        return false;
    while (dot > text && *dot != '.')
        dot--;
    return (dot - text >= 2 && memcmp(dot - 2, "ge", 2) == 0) ||
           (dot - text >= 7 && memcmp(dot - 7, "ge_apis", 7) == 0);
}

/* Statements that make no node: imports say nothing, others are lost. */
static bool passes(struct reader *reader)
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

static bool read_line(struct reader *reader)
{
    uint32_t call;
    if (passes(reader))
        return !reader->items.python.failed;
    if (!read_statement(reader, &call))
        return false;
    if (!calls_op(reader, call))
        return refuse(reader, call, "this is no op: `VALUE = ge.OP(...)`");
    return add_node(reader, call);
}

static bool read_lines(struct reader *reader)
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
static void resolve(struct reader *reader)
{
    struct dump_graph *graph = &reader->dump->graphs.at[reader->graph];
    for (uint32_t i = 0; i < reader->open.count; i++) {
        struct dump_input *input = &graph->inputs.at[reader->open.at[i]];
        uint32_t made = id_map_find(&reader->targets, input->name);
        if (made == NONE || reader->made.at[made].node == NONE)
            continue;
        if (input->kind == DUMP_VALUE) {
            input->kind = DUMP_DATA;
            input->output = reader->made.at[made].output;
        }
        input->name = reader->made.at[made].node;
    }
}

/* Counts are of lines: constants that stand in those of others are none of their own. */
static void count(struct reader *reader)
{
    dump_count_graphs(reader->dump);
    struct dump_count *row = &reader->dump->counts.at[reader->graph];
    row->data_edges -= reader->constants.count;
    row->control_edges += reader->lost_controls;
}

static void reader_free(struct reader *reader)
{
    vec_free(&reader->items.list);
    python_values_free(&reader->values);
    dump_draft_free(&reader->draft);
    dump_draft_free(&reader->constant);
    id_map_free(&reader->targets);
    id_map_free(&reader->seen);
    vec_free(&reader->made);
    vec_free(&reader->open);
    vec_free(&reader->constants);
}

bool exchange_read_torchair_py(struct dump *dump)
{
    struct reader reader = {.dump = dump};
    python_init(&reader.items.python, dump->source, dump->diags);
    reader.values = (struct python_values){.dump = dump, .items = &reader.items};
    reader.graph = dump_add_graph(dump, module_name(dump->module, "graph"), 0, NONE);
    dump->graphs.at[reader.graph].open = true;
    bool read = read_lines(&reader) && !reader.items.python.failed;
    if (read) {
        resolve(&reader);
        name_constants(&reader);
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
