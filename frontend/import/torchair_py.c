/* Graphs as TorchAir prints them in Python (`dynamo_*.py`): a line for each op,
 *
 *     Add_1_0 = ge.Add(a_0, ge.Const(1, dtype=0), alpha=2, node_name="Add_1")
 *
 * Values are called NODE_OUTPUT, with `_` in place of `/` and `:`. Positional arguments are what
 * the op takes: values, lists of values, None, and contents of tensors, which are constants that
 * have no line of their own. Keywords are attributes, but for `node_name` and `dependencies`. */
#include "frontend/exchange.h"
#include "frontend/import/messages.h"
#include "frontend/import/text/decimal.h"
#include "frontend/import/text/python_text.h"

#include <math.h>

/* What a name stands for. */
struct named_value {
    uint32_t node, output; /* name id of the node; NONE: it has none */
};

/* A constant that is among the arguments of a node: indices of its own node and of the input that
 * takes it, and the name of the other one. */
struct constant {
    uint32_t node, input, taker;
};

struct reader {
    struct dump *dump;
    struct python_items items;
    struct value_stack stack; /* elements of the lists that are being made */
    struct text scratch;
    struct dump_draft draft, constant;
    uint32_t graph, node; /* the node's name id */
    uint32_t n_nodes;
    VEC(struct constant) constants; /* those without a line */
    struct intern names;            /* of values, not those of nodes: ids are indices in `made` */
    struct id_map seen;             /* by keyword: the number of the node that had it last */
    VEC(struct named_value) made;
    struct vec_u32 open;    /* inputs of the graph whose names nothing had been called yet */
    uint32_t lost_controls; /* control inputs of unknown origin */
};

static const struct py_item *item_at(const struct reader *reader, uint32_t index)
{
    return &reader->items.list.at[index];
}

static const char *text_at(const struct reader *reader, uint32_t index)
{
    return py_text(&reader->items, item_at(reader, index));
}

static bool is(const struct reader *reader, uint32_t index, const char *text)
{
    return py_is(&reader->items, item_at(reader, index), text);
}

static bool is_call(const struct reader *reader, uint32_t index, const char *name)
{
    return item_at(reader, index)->sort == PY_CALL && is(reader, index, name);
}

/* ge.Const(...), whatever the module is called. */
static bool is_const_call(const struct reader *reader, uint32_t index)
{
    const struct py_item *item = item_at(reader, index);
    return item->sort == PY_CALL && item->size > 6 &&
           memcmp(py_text(&reader->items, item) + item->size - 6, ".Const", 6) == 0;
}

/* An error at an item; false. */
static bool refuse(struct reader *reader, uint32_t index, const char *text)
{
    diag_at(reader->dump->diags, DIAG_foreign_form, py_span(item_at(reader, index)), "%s", text);
    reader->items.python.failed = true;
    return false;
}

/* What a name stands for; NULL: nothing so far. */
static const struct named_value *value_named(const struct reader *reader, const char *text,
                                             size_t size)
{
    uint32_t value = intern_find(&reader->names, text, size);
    return value == NONE ? NULL : &reader->made.at[value];
}

/* ---------------------------------------------------------------------------- values ---- */

/* The name id of what a string says, or of the bytes of any other item. */
static uint32_t name_of(struct reader *reader, uint32_t index)
{
    const struct py_item *item = item_at(reader, index);
    const char *text = text_at(reader, index);
    if (item->sort != PY_STRING)
        return dump_name(reader->dump, text, item->end - item->at);
    if (*text == '"' && text[1] != '"' && !memchr(text, '\\', item->size))
        return dump_name(reader->dump, text + 1, item->size - 2);
    reader->scratch.size = 0;
    python_unquote(&reader->scratch, text, item->size);
    return dump_name(reader->dump, reader->scratch.size ? reader->scratch.at : "",
                     reader->scratch.size);
}

/* An integer; false where the item is none. */
static bool read_int(const struct reader *reader, uint32_t index, int64_t *value)
{
    return item_at(reader, index)->sort == PY_NUMBER &&
           python_integer(text_at(reader, index), item_at(reader, index)->size, value);
}

/* A number or truth value. */
static bool read_scalar(const struct reader *reader, uint32_t index, struct attr_value *value)
{
    enum { LONGEST_WORD = sizeof "False" - 1 };
    const struct py_item *item = item_at(reader, index);
    const char *text = text_at(reader, index);
    *value = (struct attr_value){.kind = ATTR_INT};
    if (item->sort == PY_NUMBER && python_integer(text, item->size, &value->i))
        return true;
    value->kind = ATTR_FLOAT;
    if (item->sort == PY_NUMBER)
        return decimal_float(text, item->size, &value->f);
    if (item->sort != PY_NAME || item->size > LONGEST_WORD)
        return false;
    if (is(reader, index, "inf") || is(reader, index, "nan")) {
        value->f = *text == 'i' ? HUGE_VAL : (double)NAN;
        return true;
    }
    value->kind = ATTR_BOOL;
    value->i = is(reader, index, "True");
    return value->i || is(reader, index, "False");
}

/* What an attribute says. All items are data: what has no form of its own is a string. */
static struct attr_value attr_value(struct reader *reader, uint32_t index)
{
    struct attr_value value;
    uint32_t first = reader->stack.count;
    if (read_scalar(reader, index, &value))
        return value;
    if (item_at(reader, index)->sort != PY_LIST)
        return (struct attr_value){.kind = ATTR_STRING, .id = name_of(reader, index)};
    for (EACH_PY(&reader->items, i, index)) {
        value = attr_value(reader, i);
        vec_push(&reader->stack, value);
    }
    return take_list(&reader->stack, reader->dump->module, first, 0);
}

/* tensor(...) and array(...), whose first argument is the contents. */
static bool is_printed(const struct reader *reader, uint32_t index)
{
    return item_at(reader, index)->next > index + 1 &&
           (is_call(reader, index, "tensor") || is_call(reader, index, "array") ||
            is_call(reader, index, "torch.tensor") || is_call(reader, index, "np.array"));
}

/* Whether an item is the contents of a tensor: numbers and truth values, lists of them, and what
 * torch and numpy print. */
static bool is_contents(const struct reader *reader, uint32_t index)
{
    struct attr_value scalar;
    const struct py_item *item = item_at(reader, index);
    if (is_printed(reader, index) || (item->sort == PY_NAME && is(reader, index, "...")))
        return true;
    if (item->sort != PY_LIST)
        return read_scalar(reader, index, &scalar);
    for (EACH_PY(&reader->items, i, index))
        if (!is_contents(reader, i))
            return false;
    return item->next > index + 1;
}

/* -------------------------------------------------------------------------- contents ---- */

/* The contents of a tensor. */
struct contents {
    bool known;   /* all elements are there, on the stack */
    bool regular; /* all lists of one depth are as long, so that there is a shape */
    uint32_t rank;
    int64_t dims[MAX_RANK];
    uint64_t elements;
};

static void walk_contents(struct reader *reader, uint32_t index, struct contents *contents,
                          uint32_t depth)
{
    struct attr_value value;
    int64_t count = 0;
    if (item_at(reader, index)->sort != PY_LIST) {
        if (contents->rank == UINT32_MAX)
            contents->rank = depth;
        contents->regular &= contents->rank == depth && read_scalar(reader, index, &value);
        contents->known &= contents->regular;
        contents->elements++;
        if (contents->known)
            vec_push(&reader->stack, value);
        return;
    }
    if (depth == MAX_RANK) {
        contents->regular = contents->known = false;
        return;
    }
    for (EACH_PY(&reader->items, i, index)) {
        walk_contents(reader, i, contents, depth + 1);
        count++;
    }
    if (contents->dims[depth] == DIM_UNKNOWN)
        contents->dims[depth] = count;
    contents->regular &= contents->dims[depth] == count;
}

/* The dtype that an item says: a number of GE's, or a name of GE, torch or numpy. */
static unsigned dtype_of(struct reader *reader, uint32_t index)
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
    const struct py_item *item = item_at(reader, index);
    const char *text = text_at(reader, index);
    size_t size = item->size, last = size;
    int64_t number;
    if (python_integer(text, size, &number))
        return dump_dtype_numbered(reader->dump, DUMP_GE, number, item->at);
    while (last > 0 && text[last - 1] != '.')
        last--;
    text += last;
    size -= last;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i].name) == size && memcmp(names[i].name, text, size) == 0)
            return names[i].dtype;
    return dump_dtype_named(reader->dump, text, size, item->at);
}

/* The value of a keyword of a call, or NONE. */
static uint32_t keyword(const struct reader *reader, uint32_t call, const char *name)
{
    for (EACH_PY(&reader->items, i, call))
        if (item_at(reader, i)->sort == PY_KEYWORD && is(reader, i, name) &&
            item_at(reader, i)->next > i + 1)
            return i + 1;
    return NONE;
}

/* Puts contents into a node, and their type, whose dtype the caller says or they do. */
static void put_contents(struct reader *reader, struct dump_draft *draft, uint32_t index,
                         unsigned dtype)
{
    struct dump *dump = reader->dump;
    struct dump_shape shape = {.rank = RANK_UNKNOWN};
    struct contents contents = {.known = true, .regular = true, .rank = UINT32_MAX};
    uint32_t loc = item_at(reader, index)->at, first = reader->stack.count, of = NONE;
    for (uint32_t i = 0; i < MAX_RANK; i++)
        contents.dims[i] = DIM_UNKNOWN;
    if (is_printed(reader, index))
        of = keyword(reader, index++, "dtype");
    walk_contents(reader, index, &contents, 0);
    if (contents.rank == UINT32_MAX) /* [] has one dimension */
        for (contents.rank = 0;
             contents.rank < MAX_RANK && contents.dims[contents.rank] != DIM_UNKNOWN;)
            contents.rank++;
    if (contents.regular && contents.rank <= MAX_RANK) {
        shape.rank = contents.rank;
        memcpy(shape.dims, contents.dims, sizeof shape.dims);
    }
    if (dtype == DTYPE_UNKNOWN && of != NONE)
        dtype = dtype_of(reader, of);
    dump_add_output(draft, NONE, dump_type(dump, dtype, W_ND, &shape, loc));
    contents.known &= contents.regular && contents.elements > 0;
    if (contents.known && contents.rank == 0)
        dump_add_attr(draft, (struct attr){W_value, loc, reader->stack.at[first]});
    else if (contents.known)
        dump_add_attr(
            draft, (struct attr){W_value, loc, take_list(&reader->stack, dump->module, first, 0)});
    else if (contents.elements > 0)
        dump_lose(dump, loc, "the contents of a constant of '%.*s', which are not all in the dump",
                  NAME(dump->module, reader->node));
    reader->stack.count = first;
}

/* The contents and dtype of ge.Const(...). Contents need not be printed: then there is the call
 * itself. */
static uint32_t read_const_call(struct reader *reader, uint32_t index, unsigned *dtype)
{
    uint32_t said = keyword(reader, index, "dtype");
    *dtype = said == NONE ? DTYPE_UNKNOWN : dtype_of(reader, said);
    for (EACH_PY(&reader->items, i, index))
        if (item_at(reader, i)->sort != PY_KEYWORD)
            return i;
    return index;
}

/* A node for contents that are among the arguments of another, as its next input. It gets a name
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

/* Gives the constants without a line names, when all others are known: NODE_const, NODE_const_1
 * ..., the first that is no name so far. */
static void name_constants(struct reader *reader)
{
    struct dump_graph *graph = &reader->dump->graphs.at[reader->graph];
    struct module *module = reader->dump->module;
    struct text *text = &reader->scratch;
    uint32_t n = 0;
    for (uint32_t i = 0; i < reader->constants.count; i++) {
        const struct constant *constant = &reader->constants.at[i];
        n = i && constant[-1].taker == constant->taker ? n + 1 : 0;
        for (;; n++) {
            text->size = 0;
            text_printf(text, n ? "%.*s_const_%u" : "%.*s_const", NAME(module, constant->taker), n);
            if (intern_find(&module->names, text->at, text->size) == NONE &&
                !value_named(reader, text->at, text->size))
                break;
        }
        uint32_t name = dump_name(reader->dump, text->at, text->size);
        graph->nodes.at[constant->node].name = graph->inputs.at[constant->input].name = name;
    }
}

/* ---------------------------------------------------------------------------- inputs ---- */

/* An input that is what a name stands for. */
static struct dump_input reference(struct reader *reader, uint32_t index, const char *text,
                                   size_t size, uint32_t label)
{
    const struct py_item *item = item_at(reader, index);
    const struct named_value *made = value_named(reader, text, size);
    struct dump_input input = {.label = label, .loc = item->at, .kind = DUMP_VALUE};
    if (item->size)
        source_add_token(reader->dump->source, py_span(item));
    if (!made || made->node == NONE) {
        input.name = dump_name(reader->dump, text, size);
        return input;
    }
    input.kind = DUMP_DATA;
    input.name = made->node;
    input.output = made->output;
    return input;
}

/* NODE:OUTPUT, as tensors are printed: what is called so, with `_` for `:` and `/`, or else the
 * output of the node. */
static struct dump_input printed_tensor(struct reader *reader, uint32_t index, uint32_t label)
{
    const struct py_item *item = item_at(reader, index);
    const char *text = text_at(reader, index);
    struct text *name = &reader->scratch;
    size_t size = item->size;
    int64_t output = 0;
    name->size = 0;
    for (uint32_t i = 0; i < item->size; i++)
        text_char(name, text[i] == ':' || text[i] == '/' ? '_' : text[i]);
    if (size && value_named(reader, name->at, name->size))
        return reference(reader, index, name->at, name->size, label);
    while (size > 0 && text[size - 1] != ':')
        size--;
    if (size == 0 || !python_integer(text + size, item->size - size, &output) || output < 0 ||
        output >= UINT32_MAX)
        return reference(reader, index, text, item->size, label);
    source_add_token(reader->dump->source, py_span(item));
    return (struct dump_input){.name = dump_name(reader->dump, text, size - 1),
                               .output = (uint32_t)output,
                               .label = label,
                               .loc = item->at,
                               .kind = DUMP_DATA};
}

static bool is_name_of_value(const struct reader *reader, uint32_t index)
{
    return item_at(reader, index)->sort == PY_NAME && !is(reader, index, "None") &&
           !is_contents(reader, index);
}

/* Adds an input, which may name what is below. */
static void add_input(struct reader *reader, struct dump_input input)
{
    const struct dump_graph *graph = &reader->dump->graphs.at[reader->graph];
    if (input.kind == DUMP_VALUE)
        vec_push(&reader->open, graph->inputs.count + reader->draft.inputs.count);
    dump_add_input(&reader->draft, input);
}

/* An operand that is one value. */
static bool add_operand(struct reader *reader, uint32_t index, uint32_t label, bool listed)
{
    const struct py_item *item = item_at(reader, index);
    struct dump_input input = {.name = NONE, .label = label, .loc = item->at, .kind = DUMP_ABSENT};
    if (is_name_of_value(reader, index)) {
        input = reference(reader, index, text_at(reader, index), item->size, label);
    } else if (is_call(reader, index, "Tensor")) {
        input = printed_tensor(reader, index + 1, label);
    } else if (is_const_call(reader, index)) {
        unsigned dtype;
        uint32_t contents = read_const_call(reader, index, &dtype);
        input.kind = DUMP_DATA;
        add_constant(reader, contents, dtype);
    } else if (is_contents(reader, index)) {
        input.kind = DUMP_DATA;
        add_constant(reader, index, DTYPE_UNKNOWN);
    } else if (item->sort == PY_OBJECT || item->sort == PY_STRING) {
        dump_drop(reader->dump, item->at,
                  "an operand of '%.*s', of which there is no more than %.*s",
                  NAME(reader->dump->module, reader->node),
                  (int)(item->size < 60 ? item->size : 60), text_at(reader, index));
    } else if (item->sort != PY_NAME) {
        return refuse(reader, index, "this is neither a value nor the contents of one");
    }
    input.listed = listed;
    add_input(reader, input);
    return true;
}

/* Whether a list is one of values, rather than the contents of one. */
static bool lists_values(const struct reader *reader, uint32_t index)
{
    for (EACH_PY(&reader->items, i, index)) {
        uint8_t sort = item_at(reader, i)->sort;
        if (sort == PY_NAME
                ? !is_contents(reader, i)
                : sort == PY_OBJECT || is_const_call(reader, i) || is_call(reader, i, "Tensor"))
            return true;
    }
    return false;
}

/* An argument that is an operand: one value, or a list of them. False after an error. */
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

/* Control inputs. Those that are printed as objects do not say where they are from. False after an
 * error. */
static bool add_dependencies(struct reader *reader, uint32_t list)
{
    if (item_at(reader, list)->sort != PY_LIST)
        return refuse(reader, list, "`dependencies` is a list");
    for (EACH_PY(&reader->items, i, list)) {
        const struct py_item *item = item_at(reader, i);
        struct dump_input input;
        if (is_call(reader, i, "Tensor")) {
            input = printed_tensor(reader, i + 1, NONE);
        } else if (is_name_of_value(reader, i)) {
            input = reference(reader, i, text_at(reader, i), item->size, NONE);
        } else {
            dump_drop(reader->dump, item->at,
                      "a control input of '%.*s', of which the dump does not say where it is from",
                      NAME(reader->dump->module, reader->node));
            reader->lost_controls++;
            continue;
        }
        add_input(reader, input);
        reader->draft.inputs.at[reader->draft.inputs.count - 1].kind = DUMP_CONTROL;
    }
    return true;
}

/* -------------------------------------------------------------------------- keywords ---- */

/* What a Data's line says of its value. */
static bool read_data_type(struct reader *reader, uint32_t call, uint32_t *type)
{
    struct dump_shape shape = {.rank = RANK_UNKNOWN};
    uint32_t format = W_ND, at = keyword(reader, call, "dtype");
    unsigned dtype = at == NONE ? DTYPE_UNKNOWN : dtype_of(reader, at);
    if ((at = keyword(reader, call, "shape")) != NONE && !is(reader, at, "None")) {
        if (item_at(reader, at)->sort != PY_LIST)
            return refuse(reader, at, "a shape is a list of dimensions");
        shape.rank = 0;
        for (EACH_PY(&reader->items, i, at)) {
            const struct py_item *item = item_at(reader, i);
            int64_t dim;
            if (read_int(reader, i, &dim))
                dump_shape_add_ge(&shape, dim);
            else
                dump_shape_add(&shape, item->sort == PY_NAME
                                           ? dump_dim(reader->dump, text_at(reader, i), item->size)
                                           : DIM_UNKNOWN);
        }
    }
    if ((at = keyword(reader, call, "format")) != NONE) {
        const struct intern_name *name = &reader->dump->module->names.names[name_of(reader, at)];
        format = dump_format(reader->dump, name->text, name->size, item_at(reader, at)->at);
    }
    *type = dump_type(reader->dump, dtype, format, &shape, item_at(reader, call)->at);
    return true;
}

/* Whether a keyword's value is a value of the graph, or a list of some. */
static bool is_operand(const struct reader *reader, uint32_t index)
{
    const struct py_item *item = item_at(reader, index);
    if (item->sort == PY_NAME)
        return value_named(reader, text_at(reader, index), item->size);
    if (item->sort == PY_CALL)
        return is(reader, index, "Tensor") || is_const_call(reader, index);
    bool any = false;
    for (EACH_PY(&reader->items, i, index))
        any |=
            item->sort == PY_LIST && item_at(reader, i)->sort != PY_LIST && is_operand(reader, i);
    return any;
}

static bool read_keyword(struct reader *reader, uint32_t index)
{
    const struct py_item *item = item_at(reader, index);
    if (is(reader, index, "node_name"))
        return true;
    if (is(reader, index, "dependencies"))
        return add_dependencies(reader, index + 1);
    struct dump_node *node = &reader->draft.node;
    int64_t place;
    if (node->role == DUMP_PARAM && is(reader, index, "index") &&
        read_int(reader, index + 1, &place)) {
        node->index = place >= 0 ? place : -1;
        return true;
    }
    if (node->role == DUMP_PARAM &&
        (is(reader, index, "dtype") || is(reader, index, "shape") || is(reader, index, "format")))
        return true; /* they are in the type of its value */
    uint32_t key = dump_name(reader->dump, text_at(reader, index), item->size);
    if (is_operand(reader, index + 1))
        return add_argument(reader, index + 1, key);
    uint32_t *seen = id_map_at(&reader->seen, key);
    if (*seen == reader->n_nodes)
        return refuse(reader, index, "this keyword stands twice");
    *seen = reader->n_nodes;
    if (is(reader, index + 1, "None") || !dump_wants(reader->dump, &reader->draft, key))
        return true;
    struct attr attr = {.key = key, .loc = item->at};
    const struct py_item *said = item_at(reader, index + 1);
    const char *text = text_at(reader, index + 1), *dot = memchr(text, '.', said->size);
    const char *name = dot ? dot + 1 : text;
    if (said->sort == PY_NAME && text + said->size > name + 3 && memcmp(name, "DT_", 3) == 0) {
        struct dump_shape scalar = {.rank = 0};
        unsigned dtype = dtype_of(reader, index + 1);
        attr.value.kind = ATTR_TYPE;
        attr.value.id = dump_type(reader->dump, dtype, W_ND, &scalar, said->at);
    } else {
        attr.value = attr_value(reader, index + 1);
    }
    dump_add_attr(&reader->draft, attr);
    return true;
}

/* ----------------------------------------------------------------------------- nodes ---- */

static bool is_target(const struct reader *reader, uint32_t index)
{
    return item_at(reader, index)->sort == PY_NAME && !is(reader, index, "_");
}

/* What the node is called: by `node_name`, or as the first value to the left of `=`, without the
 * number of the output; NONE. */
static uint32_t node_name(struct reader *reader, uint32_t call, uint32_t target)
{
    uint32_t said = keyword(reader, call, "node_name");
    if (said != NONE && item_at(reader, said)->sort == PY_STRING && item_at(reader, said)->size > 2)
        return name_of(reader, said);
    if (target == call)
        return NONE;
    const char *text = text_at(reader, target);
    uint32_t all = item_at(reader, target)->size, size = all;
    while (size > 0 && text[size - 1] >= '0' && text[size - 1] <= '9')
        size--;
    bool numbered = size > 1 && size < all && text[size - 1] == '_';
    return dump_name(reader->dump, text, numbered ? size - 1 : all);
}

static void begin_node(struct reader *reader, uint32_t call)
{
    const char *text = text_at(reader, call), *end = text + item_at(reader, call)->size;
    const char *type = end;
    struct module *module = reader->dump->module;
    struct dump_node *node = &reader->draft.node;
    uint32_t target = 0;
    while (target < call && !is_target(reader, target))
        target++;
    source_add_token(reader->dump->source, py_span(item_at(reader, target)));
    dump_begin(&reader->draft, item_at(reader, target)->at);
    while (type[-1] != '.')
        type--;
    node->type = dump_name(reader->dump, type, (size_t)(end - type));
    node->name = node_name(reader, call, target);
    reader->node = node->name != NONE ? node->name : node->type;
    if (name_is(module, node->type, "Data") || name_is(module, node->type, "RefData"))
        node->role = DUMP_PARAM;
    else if (name_is(module, node->type, "NetOutput"))
        node->role = DUMP_RETURN;
    if (node->role == DUMP_RETURN)
        reader->dump->graphs.at[reader->graph].open = false;
}

/* Names to the left of `=` are the outputs, in this order, `_` one that nothing takes; but alone it
 * is none. `type` is that of all of them. A name that means another value already means this one
 * from now on. */
static bool add_outputs(struct reader *reader, uint32_t call, uint32_t type)
{
    uint32_t output = 0;
    bool none = call == 1 && is(reader, 0, "_");
    for (uint32_t i = 0; i < call && !none; i++) {
        const struct py_item *item = item_at(reader, i);
        struct named_value value = {reader->draft.node.name, output};
        if (item->sort == PY_LIST)
            continue;
        if (item->sort != PY_NAME)
            return refuse(reader, i, "this is no name for a value");
        dump_add_output(&reader->draft, NONE, type);
        output++;
        if (!is_target(reader, i))
            continue;
        uint32_t name = intern_static(&reader->names, text_at(reader, i), item->size);
        if (name == reader->made.count)
            vec_push(&reader->made, value);
        reader->made.at[name] = value;
    }
    return true;
}

static bool add_node(struct reader *reader, uint32_t call)
{
    struct dump_draft *draft = &reader->draft;
    uint32_t type = NONE;
    begin_node(reader, call);
    if (is_const_call(reader, call)) {
        /* Its argument is no input, and its value the only output. */
        unsigned dtype;
        uint32_t contents = read_const_call(reader, call, &dtype);
        put_contents(reader, draft, contents, dtype);
        type = draft->outputs.at[0].type;
        draft->outputs.count = 0;
    } else {
        for (EACH_PY(&reader->items, i, call))
            if (!(item_at(reader, i)->sort == PY_KEYWORD ? read_keyword(reader, i)
                                                         : add_argument(reader, i, NONE)))
                return false;
        if (draft->node.role == DUMP_PARAM && !read_data_type(reader, call, &type))
            return false;
    }
    if (!add_outputs(reader, call, type))
        return false;
    dump_add_node(reader->dump, reader->graph, draft);
    reader->n_nodes++;
    return true;
}

/* -------------------------------------------------------------------------- statements ---- */

/* What is before `=`, and the call after it, or only the call. Puts its index into `*call`. */
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

/* Statements that make no node are imports, which say nothing, and `with`, which is lost. */
static bool read_line(struct reader *reader)
{
    struct python_text *python = &reader->items.python;
    uint32_t call;
    bool with = python_is_name(python, "with");
    if (with)
        dump_drop(reader->dump, (uint32_t)(python->start - python->text),
                  "what a `with` says of the ops in it");
    if (with || python_is_name(python, "from") || python_is_name(python, "import") ||
        python_is_name(python, "pass")) {
        python_skip_line(python);
        return !python->failed;
    }
    if (!read_statement(reader, &call))
        return false;
    bool is_op = false; /* a call of `ge.OP(...)` */
    if (call < reader->items.list.count) {
        const struct py_item *item = item_at(reader, call);
        const char *text = text_at(reader, call), *dot = text + item->size;
        while (dot > text && *dot != '.')
            dot--;
        is_op = item->sort == PY_CALL && item->next == reader->items.list.count &&
                ((dot - text >= 2 && memcmp(dot - 2, "ge", 2) == 0) ||
                 (dot - text >= 7 && memcmp(dot - 7, "ge_apis", 7) == 0));
    }
    return is_op ? add_node(reader, call)
                 : refuse(reader, call, "this is no op: `VALUE = ge.OP(...)`");
}

bool exchange_read_torchair_py(struct dump *dump)
{
    struct reader reader = {.dump = dump};
    python_init(&reader.items.python, dump->source, dump->diags);
    reader.graph = dump_add_graph(dump, module_name(dump->module, "graph"), 0, NONE);
    dump->graphs.at[reader.graph].open = true;
    struct python_text *python = &reader.items.python;
    bool read = true;
    do {
        enum python_kind kind = python_next(python);
        read = kind == PYTHON_END || kind == PYTHON_NEWLINE || read_line(&reader);
    } while (read && python->kind != PYTHON_END);
    read = read && !python->failed;
    if (read) {
        /* Inputs are what their names mean, which may be below them. */
        struct dump_graph *graph = &dump->graphs.at[reader.graph];
        for (uint32_t i = 0; i < reader.open.count; i++) {
            struct dump_input *input = &graph->inputs.at[reader.open.at[i]];
            const struct intern_name *name = &dump->module->names.names[input->name];
            const struct named_value *made = value_named(&reader, name->text, name->size);
            if (!made || made->node == NONE)
                continue;
            if (input->kind == DUMP_VALUE) {
                input->kind = DUMP_DATA;
                input->output = made->output;
            }
            input->name = made->node;
        }
        name_constants(&reader);
        dump_count_graphs(dump);
        /* Counts are of lines: constants that are in those of others are none of their own. */
        dump->counts.at[reader.graph].data_edges -= reader.constants.count;
        dump->counts.at[reader.graph].control_edges += reader.lost_controls;
        dump_drop(
            dump, 0,
            "torchair-py has no types but those of Data, and no scopes, streams or attributes "
            "that ops have from around them");
    }
    vec_free(&reader.items.list);
    vec_free(&reader.stack);
    text_free(&reader.scratch);
    dump_draft_free(&reader.draft);
    dump_draft_free(&reader.constant);
    intern_free(&reader.names);
    id_map_free(&reader.seen);
    vec_free(&reader.made);
    vec_free(&reader.open);
    vec_free(&reader.constants);
    return read;
}

/* ------------------------------------------------------------------------------- signs ---- */

static bool line_begins(const char *line, size_t size, const char *with)
{
    return size > strlen(with) && memcmp(line, with, strlen(with)) == 0;
}

/* The first line is one of an op, or imports TorchAir; comments, other imports and empty lines may
 * precede it. */
bool exchange_looks_torchair_py(const struct source *source)
{
    enum { SIGN_BYTES = 16384 };
    const char *at = source->text, *end = at + source->size;
    while (at < end && at < source->text + SIGN_BYTES) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        while (at < stop && (*at == ' ' || *at == '\t' || *at == '\r'))
            at++;
        size_t size = (size_t)(stop - at), i = 0;
        while (i < size && !strchr("=\"('", at[i]))
            i++;
        if (line_begins(at, size, "from torchair") || line_begins(at, size, "import torchair") ||
            (i > 0 && at[i - 1] == ' ' && line_begins(at + i, size - i, "= ge.")))
            return true;
        if (size && *at != '#' && !line_begins(at, size, "from ") &&
            !line_begins(at, size, "import "))
            return false;
        at = stop + 1;
    }
    return false;
}
