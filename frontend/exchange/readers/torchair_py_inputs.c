#include "frontend/exchange/readers/torchair_py_inputs.h"

bool py_refuse(struct py_reader *reader, uint32_t index, const char *text)
{
    diag_at(reader->dump->diags, DIAG_foreign_form, py_span(py_item_at(reader, index)), "%s", text);
    reader->items.python.failed = true;
    return false;
}

const struct py_value *py_value_named(const struct py_reader *reader, const char *text, size_t size)
{
    uint32_t value = intern_find(&reader->names, text, size);
    return value == NONE ? NULL : &reader->made.at[value];
}

/* ------------------------------------------------------------------------- constants ---- */

/* The dtype that an item says: a number of GE's, or a name of GE, torch or numpy. */
static unsigned read_dtype(struct py_reader *reader, const char *text, size_t size, uint32_t loc)
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

unsigned py_dtype_of(struct py_reader *reader, uint32_t index)
{
    const struct py_item *item = py_item_at(reader, index);
    return read_dtype(reader, py_text(&reader->items, item), item->size, item->at);
}

static uint32_t contents_type(struct py_reader *reader, const struct python_contents *contents,
                              unsigned dtype, uint32_t loc)
{
    struct dump_shape shape = {.rank = RANK_UNKNOWN};
    if (contents->regular && contents->rank <= MAX_RANK) {
        shape.rank = contents->rank;
        memcpy(shape.dims, contents->dims, sizeof shape.dims);
    }
    return dump_type(reader->dump, dtype, W_ND, &shape, loc);
}

void py_put_contents(struct py_reader *reader, struct dump_draft *draft, uint32_t index,
                     unsigned dtype)
{
    struct python_contents contents;
    uint32_t loc = py_item_at(reader, index)->at;
    python_read_contents(&reader->values, index, &contents);
    if (dtype == DTYPE_UNKNOWN && contents.dtype)
        dtype = read_dtype(reader, contents.dtype, contents.dtype_size, loc);
    dump_add_output(draft, NONE, contents_type(reader, &contents, dtype, loc));
    if (contents.known)
        dump_add_attr(draft, (struct attr){W_value, loc, contents.value});
    else if (contents.elements > 0)
        dump_lose(reader->dump, loc,
                  "the contents of a constant of '%.*s', which are not all in the dump",
                  NAME(reader->dump->module, reader->node));
}

/* A node for contents that stand among the arguments of another, as its next input. It gets a name
 * when all others are known. */
static void add_constant(struct py_reader *reader, uint32_t index, unsigned dtype)
{
    struct dump_draft *draft = &reader->constant;
    const struct dump_graph *graph = &reader->dump->graphs.at[reader->graph];
    struct py_constant constant = {graph->nodes.count,
                                   graph->inputs.count + reader->draft.inputs.count, reader->node};
    dump_begin(draft, py_item_at(reader, index)->at);
    draft->node.type = module_name(reader->dump->module, "Const");
    draft->node.implied = true;
    py_put_contents(reader, draft, index, dtype);
    dump_add_node(reader->dump, reader->graph, draft);
    vec_push(&reader->constants, constant);
}

/* NODE_const, NODE_const_1 ...: the first from `*n` on that is no name so far. */
static uint32_t constant_name(struct py_reader *reader, const struct py_constant *constant,
                              uint32_t *n)
{
    struct module *module = reader->dump->module;
    struct text *text = &reader->values.scratch;
    for (;; ++*n) {
        text->size = 0;
        text_printf(text, *n ? "%.*s_const_%u" : "%.*s_const", NAME(module, constant->taker), *n);
        if (intern_find(&module->names, text->at, text->size) == NONE &&
            !py_value_named(reader, text->at, text->size))
            return py_intern(reader, text->at, text->size);
    }
}

void py_name_constants(struct py_reader *reader)
{
    struct dump_graph *graph = &reader->dump->graphs.at[reader->graph];
    uint32_t n = 0;
    for (uint32_t i = 0; i < reader->constants.count; i++) {
        const struct py_constant *constant = &reader->constants.at[i];
        n = i && constant[-1].taker == constant->taker ? n + 1 : 0;
        graph->nodes.at[constant->node].name = constant_name(reader, constant, &n);
        graph->inputs.at[constant->input].name = graph->nodes.at[constant->node].name;
    }
}

/* ---------------------------------------------------------------------------- inputs ---- */

/* An input that is what a name stands for. */
static struct dump_input reference(struct py_reader *reader, const struct py_item *item,
                                   const char *text, size_t size, uint32_t label)
{
    const struct py_value *made = py_value_named(reader, text, size);
    struct dump_input input = {.label = label, .loc = item->at, .kind = DUMP_VALUE};
    if (item->size)
        source_add_token(reader->dump->source, py_span(item));
    if (!made || made->node == NONE) {
        input.name = py_intern(reader, text, size);
        return input;
    }
    input.kind = DUMP_DATA;
    input.name = made->node;
    input.output = made->output;
    return input;
}

static struct dump_input named_value(struct py_reader *reader, uint32_t index, uint32_t label)
{
    const struct py_item *item = py_item_at(reader, index);
    return reference(reader, item, py_text(&reader->items, item), item->size, label);
}

/* NODE:OUTPUT, as tensors are printed, with `_` for `:` and `/`. */
static const struct text *printed_name(struct py_reader *reader, const char *text, uint32_t size)
{
    struct text *name = &reader->values.scratch;
    name->size = 0;
    for (uint32_t i = 0; i < size; i++)
        text_char(name, text[i] == ':' || text[i] == '/' ? '_' : text[i]);
    return name;
}

/* NODE:OUTPUT, as tensors are printed: what is called so, or else the output of the node. */
static struct dump_input printed_tensor(struct py_reader *reader, uint32_t index, uint32_t label)
{
    const struct py_item *item = py_item_at(reader, index);
    const char *text = py_text(&reader->items, item);
    uint32_t size = item->size;
    const struct text *name = printed_name(reader, text, size);
    int64_t output = 0;
    if (size && py_value_named(reader, name->at, name->size))
        return reference(reader, item, name->at, name->size, label);
    while (size > 0 && text[size - 1] != ':')
        size--;
    if (size == 0 || !python_integer(text + size, item->size - size, &output) || output < 0 ||
        output >= UINT32_MAX)
        return reference(reader, item, text, item->size, label);
    source_add_token(reader->dump->source, py_span(item));
    return (struct dump_input){.name = py_intern(reader, text, size - 1),
                               .output = (uint32_t)output,
                               .label = label,
                               .loc = item->at,
                               .kind = DUMP_DATA};
}

/* The next input names what may stand below. */
static void leave_open(struct py_reader *reader)
{
    const struct dump_graph *graph = &reader->dump->graphs.at[reader->graph];
    vec_push(&reader->open, graph->inputs.count + reader->draft.inputs.count);
}

static void add_input(struct py_reader *reader, struct dump_input input)
{
    if (input.kind == DUMP_VALUE)
        leave_open(reader);
    dump_add_input(&reader->draft, input);
}

/* The last part of a name with dots. */
static bool is_last(const struct py_reader *reader, uint32_t index, const char *name)
{
    const struct py_item *item = py_item_at(reader, index);
    size_t size = strlen(name);
    const char *end = py_text(&reader->items, item) + item->size;
    return item->size > size && memcmp(end - size, name, size) == 0 &&
           end[-1 - (ptrdiff_t)size] == '.';
}

bool py_is_const_call(const struct py_reader *reader, uint32_t index)
{
    return py_item_at(reader, index)->sort == PY_CALL && is_last(reader, index, "Const");
}

uint32_t py_read_const_call(struct py_reader *reader, uint32_t index, unsigned *dtype)
{
    uint32_t contents = index;
    *dtype = DTYPE_UNKNOWN;
    for (EACH_PY(&reader->items, i, index)) {
        if (py_item_at(reader, i)->sort != PY_KEYWORD)
            contents = contents == index ? i : contents;
        else if (py_item_is(reader, i, "dtype"))
            *dtype = py_dtype_of(reader, i + 1);
    }
    return contents;
}

static void add_const_call(struct py_reader *reader, uint32_t index)
{
    unsigned dtype;
    uint32_t contents = py_read_const_call(reader, index, &dtype);
    add_constant(reader, contents, dtype);
}

static bool is_name_of_value(const struct py_reader *reader, uint32_t index)
{
    return py_item_at(reader, index)->sort == PY_NAME && !py_item_is(reader, index, "None") &&
           !python_is_contents(&reader->values, index);
}

/* Whether a list is one of values, rather than the contents of one. */
static bool lists_values(const struct py_reader *reader, uint32_t index)
{
    for (EACH_PY(&reader->items, i, index)) {
        uint8_t sort = py_item_at(reader, i)->sort;
        if (sort == PY_NAME ? !python_is_contents(&reader->values, i)
                            : sort == PY_OBJECT || py_is_const_call(reader, i) ||
                                  (sort == PY_CALL && py_item_is(reader, i, "Tensor")))
            return true;
    }
    return false;
}

/* An operand that is one value. */
static bool add_operand(struct py_reader *reader, uint32_t index, uint32_t label, bool listed)
{
    const struct py_item *item = py_item_at(reader, index);
    struct dump_input input = {.name = NONE, .label = label, .loc = item->at, .kind = DUMP_ABSENT};
    if (is_name_of_value(reader, index)) {
        input = named_value(reader, index, label);
    } else if (item->sort == PY_CALL && py_item_is(reader, index, "Tensor")) {
        input = printed_tensor(reader, index + 1, label);
    } else if (py_is_const_call(reader, index)) {
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
        return py_refuse(reader, index, "this is neither a value nor the contents of one");
    }
    input.listed = listed;
    add_input(reader, input);
    return true;
}

bool py_add_argument(struct py_reader *reader, uint32_t index, uint32_t label)
{
    const struct py_item *item = py_item_at(reader, index);
    bool empty = item->next == index + 1;
    if (item->sort != PY_LIST || (!empty && !lists_values(reader, index)))
        return add_operand(reader, index, label, false);
    bool listed = reader->draft.node.role != DUMP_RETURN;
    for (EACH_PY(&reader->items, i, index))
        if (!add_operand(reader, i, label, listed))
            return false;
    return true;
}

bool py_add_dependencies(struct py_reader *reader, uint32_t list)
{
    if (py_item_at(reader, list)->sort != PY_LIST)
        return py_refuse(reader, list, "`dependencies` is a list");
    for (EACH_PY(&reader->items, i, list)) {
        struct dump_input input = {.kind = DUMP_ABSENT};
        if (py_item_at(reader, i)->sort == PY_CALL && py_item_is(reader, i, "Tensor"))
            input = printed_tensor(reader, i + 1, NONE);
        else if (is_name_of_value(reader, i))
            input = named_value(reader, i, NONE);
        else
            dump_drop(reader->dump, py_item_at(reader, i)->at,
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
