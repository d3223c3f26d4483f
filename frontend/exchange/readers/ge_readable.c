/* Graphs as GE prints them for people (`ge_readable*.txt`): a line for each node,
 *
 *     %add : [#users=1] = Node[type=Add] (inputs = (x1=%a, x2=%b), attrs = {k: 1})
 *
 * Of nodes with several outputs, each has a line below that gives it a name. The graphs that a
 * node calls stand behind the first one; attributes name them. There are no types. */
#include "frontend/exchange/dump/types.h"
#include "frontend/exchange/exchange.h"
#include "frontend/exchange/readers/ge_readable_text.h"
#include "frontend/exchange/text/decimal.h"
#include "ir/calls.h"
#include "ir/op_types.h"

#include <errno.h>
#include <stdlib.h>

enum { MAX_DEPTH = 64, MAX_GAP = 64 };

/* An output that has a name of its own. */
struct element {
    uint32_t name, node, output, loc; /* name ids; of the node */
};

/* An attribute that names a graph. */
struct callee_name {
    uint32_t key, graph, loc; /* name ids */
};

struct reader {
    struct dump *dump;
    struct readable_text text;
    struct dump_draft draft;
    uint32_t graph; /* NONE: before the first */
    bool returned;
    struct id_map nodes, named; /* of the graph, by name: indices of nodes, of elements */
    struct id_map seen;         /* by key: the number of the node that had it last */
    uint32_t n_nodes;           /* of all graphs */
    VEC(struct element) elements;
    struct vec_u32 n_outputs; /* of the graph's nodes */
    VEC(struct callee_name) callees;
    bool wanted; /* the value at hand; others are passed, but for names of graphs and dtypes */
    VEC(struct attr_value) stack; /* elements of the lists that are being made */
};

static uint32_t intern(struct reader *reader, struct span span)
{
    return dump_name(reader->dump, reader->text.text + span.begin, span.end - span.begin);
}

static bool refuse(struct reader *reader, struct span span, const char *text)
{
    diag_at(reader->dump->diags, DIAG_foreign_form, span, "%s", text);
    reader->text.failed = true;
    return false;
}

static struct dump_graph *graph_of(struct reader *reader)
{
    return &reader->dump->graphs.at[reader->graph];
}

static struct span token(struct reader *reader, struct span span)
{
    source_add_token(reader->dump->source, span);
    return span;
}

/* ---------------------------------------------------------------------------- inputs ---- */

/* The digits at the end of a label, behind a `_`: where they begin, or 0. */
static uint32_t number_in(const char *label, uint32_t size)
{
    uint32_t digits = size;
    while (digits > 0 && label[digits - 1] >= '0' && label[digits - 1] <= '9')
        digits--;
    return digits > 1 && digits < size && label[digits - 1] == '_' ? digits : 0;
}

/* Inputs of a list are called LIST_N, unless the op has one that is called just so. */
static void read_label(struct reader *reader, struct span span, struct dump_input *input)
{
    const char *label = reader->text.text + span.begin;
    uint32_t size = span.end - span.begin, digits = number_in(label, size);
    const struct op_type *type = op_type_find(reader->dump->module, reader->draft.node.type);
    input->label = NONE;
    if (size == 0 || (digits == 7 && memcmp(label, "_input_", 7) == 0))
        return;
    if (type && op_type_operand(type, label, size) != NONE)
        digits = 0;
    input->listed = digits > 0;
    span.end = digits ? span.begin + digits - 1 : span.end;
    input->label = intern(reader, span);
}

/* `_input_N`: those before that have not been there are absent. */
static void add_absent(struct reader *reader, struct span span)
{
    const char *label = reader->text.text + span.begin;
    uint32_t size = span.end - span.begin, n = 0;
    if (number_in(label, size) != 7 || memcmp(label, "_input_", 7) != 0 || size > 12)
        return;
    for (uint32_t i = 7; i < size; i++)
        n = n * 10 + (uint32_t)(label[i] - '0');
    struct dump_input absent = {
        .name = NONE, .label = NONE, .loc = span.begin, .kind = DUMP_ABSENT};
    for (uint32_t i = reader->draft.inputs.count; i < n && n - i <= MAX_GAP; i++)
        dump_add_input(&reader->draft, absent);
}

static void add_inputs(struct reader *reader)
{
    struct span label, name;
    while (readable_input(&reader->text, &label, &name)) {
        token(reader, name);
        struct dump_input input = {
            .name = intern(reader, name), .loc = name.begin, .kind = DUMP_DATA};
        read_label(reader, label, &input);
        if (input.label == NONE)
            add_absent(reader, label);
        dump_add_input(&reader->draft, input);
    }
}

static bool add_returns(struct reader *reader)
{
    struct span label, name;
    if (reader->graph == NONE)
        return refuse(reader, reader->text.name, "this stands in no graph");
    if (reader->returned)
        return refuse(reader, reader->text.name, "this graph returns twice");
    reader->returned = true;
    while (readable_input(&reader->text, &label, &name)) {
        token(reader, name);
        vec_push(&graph_of(reader)->returns, (struct dump_input){.name = intern(reader, name),
                                                                 .label = NONE,
                                                                 .loc = name.begin,
                                                                 .kind = DUMP_DATA});
    }
    return !reader->text.failed;
}

/* ------------------------------------------------------------------------- attributes ---- */

static struct attr_value string_value(struct reader *reader, struct span span)
{
    uint32_t id = reader->wanted ? intern(reader, span) : NONE;
    return (struct attr_value){.kind = ATTR_STRING, .id = id};
}

static struct attr_value number_value(struct reader *reader, struct span span, bool integer)
{
    const char *text = reader->text.text + span.begin;
    struct attr_value value = {.kind = integer ? ATTR_INT : ATTR_FLOAT};
    size_t size = span.end - span.begin;
    char copy[64];
    if (!reader->wanted || (integer ? decimal_integer(text, text + size, &value.i)
                                    : decimal_float(text, text + size, &value.f)))
        return value;
    if (size >= sizeof copy)
        return string_value(reader, span);
    memcpy(copy, text, size);
    copy[size] = '\0';
    errno = 0;
    if (integer)
        value.i = strtoll(copy, NULL, 10);
    else
        value.f = strtod(copy, NULL);
    if (!integer || errno == 0)
        return value;
    errno = 0;
    value.i = (int64_t)strtoull(copy, NULL, 10);
    return *copy != '-' && errno == 0 ? value : string_value(reader, span);
}

static struct attr_value dtype_value(struct reader *reader, struct span span)
{
    struct dump_shape scalar = {.rank = 0};
    unsigned dtype = dump_dtype_named(reader->dump, reader->text.text + span.begin,
                                      span.end - span.begin, span.begin);
    uint32_t type = dump_type(reader->dump, dtype, W_ND, &scalar, span.begin);
    return type == NONE ? string_value(reader, span)
                        : (struct attr_value){.kind = ATTR_TYPE, .id = type};
}

static bool read_value(struct reader *reader, struct attr_value *value, uint32_t depth);

/* Elements up to the closing bracket: with commas, or as tensors are printed, without. */
static bool read_list(struct reader *reader, struct attr_value *value, uint32_t depth)
{
    struct attr_value element;
    struct readable_text *text = &reader->text;
    uint32_t first = reader->stack.count;
    struct span span;
    for (;;) {
        const char *at = text->at;
        enum readable_token found = readable_token(text, &span);
        if (found == READABLE_CLOSE)
            break;
        if (found == READABLE_COMMA)
            continue;
        text->at = at;
        if (depth == 0 || !read_value(reader, &element, depth - 1))
            return false;
        if (reader->wanted)
            vec_push(&reader->stack, element);
    }
    uint32_t count = reader->stack.count - first;
    *value = (struct attr_value){.kind = ATTR_LIST, .count = count};
    if (count)
        value->first =
            module_add_values(reader->dump->module, reader->stack.at + first, count).first;
    reader->stack.count = first;
    return true;
}

/* False where the text is no value that has a form. */
static bool read_value(struct reader *reader, struct attr_value *value, uint32_t depth)
{
    struct span span;
    enum readable_token found = readable_token(&reader->text, &span);
    *value = (struct attr_value){.kind = ATTR_BOOL, .i = found == READABLE_TRUE};
    switch (found) {
    case READABLE_OPEN: return read_list(reader, value, depth);
    case READABLE_TRUE:
    case READABLE_FALSE: return true;
    case READABLE_INT: *value = number_value(reader, span, true); return true;
    case READABLE_FLOAT: *value = number_value(reader, span, false); return true;
    case READABLE_STRING: *value = string_value(reader, span); return true;
    case READABLE_DTYPE: *value = dtype_value(reader, span); return true;
    case READABLE_SYMBOL:
        *value = (struct attr_value){.kind = ATTR_SYMBOL, .id = intern(reader, span)};
        return true;
    case READABLE_CLOSE:
    case READABLE_COMMA:
    case READABLE_OTHER: break;
    }
    return false;
}

/* A value; what has no form is a string. */
static bool read_whole_value(struct reader *reader, struct attr_value *value)
{
    const char *from = reader->text.at;
    struct span span;
    bool read = read_value(reader, value, MAX_DEPTH);
    reader->stack.count = 0;
    if (reader->text.failed)
        return false;
    if (read && readable_ends_value(&reader->text))
        return true;
    if (!readable_pass(&reader->text, from, &span))
        return false;
    *value = string_value(reader, span);
    return true;
}

/* Whether a constant's contents are no list of numbers: not all of them, or none, are printed. */
static bool is_lost(struct reader *reader, const struct attr *attr)
{
    const struct module *module = reader->dump->module;
    uint32_t type = reader->draft.node.type;
    return attr->key == W_value && attr->value.kind == ATTR_STRING &&
           (name_is(module, type, "Const") || name_is(module, type, "Constant"));
}

/* Whether this node has an attribute of the key for the first time. */
static bool is_new(struct reader *reader, uint32_t key)
{
    uint32_t *node = id_map_at(&reader->seen, key), before = *node;
    *node = reader->n_nodes;
    return before != *node;
}

/* Whether the attribute says which parameter the node is. */
static bool is_index(const struct reader *reader, uint32_t key)
{
    return reader->draft.node.role == DUMP_PARAM && name_is(reader->dump->module, key, "index");
}

static bool read_attr(struct reader *reader, struct span key)
{
    struct attr attr = {.key = intern(reader, key), .loc = key.begin};
    if (!is_new(reader, attr.key))
        return refuse(reader, key, "this attribute stands twice");
    bool kept = dump_wants(reader->dump, &reader->draft, attr.key);
    reader->wanted = kept || attr.key == W_value || is_index(reader, attr.key);
    if (!read_whole_value(reader, &attr.value))
        return false;
    if (attr.value.kind == ATTR_SYMBOL)
        vec_push(&reader->callees, (struct callee_name){attr.key, attr.value.id, attr.loc});
    else if (is_lost(reader, &attr))
        dump_lose(reader->dump, key.begin, "the contents of '%.*s', which are not all in the dump",
                  NAME(reader->dump->module, reader->draft.node.name));
    else if (attr.value.kind == ATTR_INT && is_index(reader, attr.key))
        reader->draft.node.index = attr.value.i >= 0 ? attr.value.i : -1;
    else if (kept)
        dump_add_attr(&reader->draft, attr);
    return true;
}

/* ----------------------------------------------------------------------------- callees ---- */

/* The attribute of an op that calls graphs which the n-th of those that the dump names is; NULL
 * where there is none. */
static const struct call_attr *call_attr_of(const struct reader *reader, enum call_kind kind,
                                            uint32_t n)
{
    const struct module *module = reader->dump->module;
    const struct intern_name *key = &module->names.names[reader->callees.at[n].key];
    uint32_t place = 0;
    for (uint32_t i = 0; i < n_call_attrs; i++) {
        const struct call_attr *attr = &call_attrs[i];
        const struct intern_name *name = &module->names.names[attr->key];
        if (attr->kind != kind)
            continue;
        bool same = key->size >= name->size && memcmp(key->text, name->text, name->size) == 0;
        if (same && (attr->list || key->size == name->size))
            return attr;
        bool numbered = key->size > 7 && memcmp(key->text, "_graph_", 7) == 0;
        if (numbered && (attr->list || place == n))
            return attr;
        place++;
    }
    return NULL;
}

/* Graphs of a list, which the dump names one by one, are one attribute. */
static void add_callee_list(struct reader *reader, const struct call_attr *call)
{
    uint32_t first = reader->stack.count, loc = reader->callees.at[0].loc;
    for (uint32_t i = 0; i < reader->callees.count; i++)
        vec_push(&reader->stack,
                 (struct attr_value){.kind = ATTR_SYMBOL, .id = reader->callees.at[i].graph});
    struct attr_value value = {.kind = ATTR_LIST, .count = reader->callees.count};
    value.first =
        module_add_values(reader->dump->module, reader->stack.at + first, value.count).first;
    reader->stack.count = first;
    dump_add_attr(&reader->draft, (struct attr){call->key, loc, value});
}

static bool add_callees(struct reader *reader)
{
    struct op op = {.type = reader->draft.node.type};
    enum call_kind kind = op_call_kind(&op);
    for (uint32_t i = 0; i < reader->callees.count; i++) {
        const struct callee_name *callee = &reader->callees.at[i];
        const struct call_attr *call = kind == CALL_NONE ? NULL : call_attr_of(reader, kind, i);
        struct span key = {callee->loc, callee->loc + 1};
        if (call && call->key != callee->key && !is_new(reader, call->key))
            return refuse(reader, key, "this attribute stands twice");
        if (call && call->list) {
            add_callee_list(reader, call);
            break;
        }
        dump_add_attr(&reader->draft, (struct attr){call ? call->key : callee->key,
                                                    callee->loc,
                                                    {.kind = ATTR_SYMBOL, .id = callee->graph}});
    }
    return true;
}

/* ------------------------------------------------------------------------------- lines ---- */

static void begin_node(struct reader *reader)
{
    struct dump_draft *draft = &reader->draft;
    dump_begin(draft, token(reader, reader->text.name).begin);
    draft->node.name = intern(reader, reader->text.name);
    draft->node.type = intern(reader, reader->text.type);
    reader->callees.count = 0;
    if (name_is(reader->dump->module, draft->node.type, "Data") ||
        name_is(reader->dump->module, draft->node.type, "RefData"))
        draft->node.role = DUMP_PARAM;
}

static bool read_attrs(struct reader *reader)
{
    struct span key;
    while (readable_key(&reader->text, &key))
        if (!read_attr(reader, key))
            return false;
    return !reader->text.failed && add_callees(reader);
}

static bool read_parts(struct reader *reader)
{
    for (;;) {
        switch (readable_part(&reader->text)) {
        case READABLE_INPUTS: add_inputs(reader); break;
        case READABLE_ATTRS:
            if (!read_attrs(reader))
                return false;
            break;
        case READABLE_DONE: return !reader->text.failed;
        case READABLE_FAILED: return false;
        }
        if (reader->text.failed)
            return false;
    }
}

static bool add_node(struct reader *reader)
{
    if (reader->graph == NONE)
        return refuse(reader, reader->text.name, "this stands in no graph");
    uint32_t n_outputs = reader->text.number > 0;
    begin_node(reader);
    if (!read_parts(reader))
        return false;
    id_map_set(&reader->nodes, reader->draft.node.name, graph_of(reader)->nodes.count);
    vec_push(&reader->n_outputs, n_outputs);
    dump_add_node(reader->dump, reader->graph, &reader->draft);
    reader->n_nodes++;
    return true;
}

static bool add_element(struct reader *reader)
{
    const struct readable_text *text = &reader->text;
    if (reader->graph == NONE)
        return refuse(reader, text->name, "this stands in no graph");
    uint32_t name = intern(reader, text->name);
    struct element element = {name, intern(reader, text->type), text->number, text->name.begin};
    id_map_set(&reader->named, name, reader->elements.count);
    vec_push(&reader->elements, element);
    return true;
}

/* An input that has the name of an output takes this. */
static void resolve(const struct reader *reader, struct dump_input *input)
{
    uint32_t index = input->name == NONE ? NONE : id_map_find(&reader->named, input->name);
    if (index == NONE)
        return;
    input->name = reader->elements.at[index].node;
    input->output = reader->elements.at[index].output;
}

/* As many outputs as there are lines of them. */
static bool count_outputs(struct reader *reader)
{
    for (uint32_t i = 0; i < reader->elements.count; i++) {
        const struct element *element = &reader->elements.at[i];
        uint32_t node = id_map_find(&reader->nodes, element->node);
        struct span span = {element->loc, element->loc + 1};
        if (node == NONE)
            return refuse(reader, span, "this is an output of a node that is not there");
        uint32_t *count = &reader->n_outputs.at[node];
        if (element->output >= *count + MAX_GAP)
            return refuse(reader, span, "the outputs in front of this one are not there");
        if (element->output >= *count)
            *count = element->output + 1;
    }
    return true;
}

/* Those of a graph only, for there may be many graphs. */
static void forget_names(struct reader *reader)
{
    const struct dump_graph *graph = graph_of(reader);
    for (uint32_t i = 0; i < graph->nodes.count; i++)
        id_map_unset(&reader->nodes, graph->nodes.at[i].name);
    for (uint32_t i = 0; i < reader->elements.count; i++)
        id_map_unset(&reader->named, reader->elements.at[i].name);
    reader->elements.count = reader->n_outputs.count = 0;
}

static bool end_graph(struct reader *reader)
{
    if (reader->graph == NONE)
        return true;
    struct dump_graph *graph = graph_of(reader);
    if (!count_outputs(reader))
        return false;
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        uint32_t count = reader->n_outputs.at[i];
        graph->nodes.at[i].outputs = (struct range){graph->outputs.count, count};
        while (count--)
            vec_push(&graph->outputs, (struct dump_output){NONE, NONE});
    }
    for (uint32_t i = 0; i < graph->inputs.count; i++)
        resolve(reader, &graph->inputs.at[i]);
    for (uint32_t i = 0; i < graph->returns.count; i++)
        resolve(reader, &graph->returns.at[i]);
    graph->open = !reader->returned;
    forget_names(reader);
    return true;
}

static bool begin_graph(struct reader *reader)
{
    if (!end_graph(reader))
        return false;
    struct span span = reader->text.name;
    uint32_t name = span.begin == span.end ? NONE : intern(reader, token(reader, span));
    reader->graph = dump_add_graph(reader->dump, name, span.begin, NONE);
    reader->returned = false;
    return true;
}

static bool read_lines(struct reader *reader)
{
    for (;;) {
        bool read = false;
        switch (readable_next(&reader->text)) {
        case READABLE_GRAPH: read = begin_graph(reader); break;
        case READABLE_NODE: read = add_node(reader); break;
        case READABLE_OUTPUT: read = add_element(reader); break;
        case READABLE_RETURN: read = add_returns(reader); break;
        case READABLE_END: return end_graph(reader);
        case READABLE_ERROR: break;
        }
        if (!read)
            return false;
    }
}

static void reader_free(struct reader *reader)
{
    dump_draft_free(&reader->draft);
    id_map_free(&reader->nodes);
    id_map_free(&reader->named);
    id_map_free(&reader->seen);
    vec_free(&reader->elements);
    vec_free(&reader->n_outputs);
    vec_free(&reader->callees);
    vec_free(&reader->stack);
}

bool exchange_read_ge_readable(struct dump *dump)
{
    struct reader reader = {.dump = dump, .graph = NONE};
    readable_init(&reader.text, dump->source, dump->diags);
    bool read = read_lines(&reader);
    reader_free(&reader);
    if (read)
        dump_drop(dump, 0, "ge-readable has no types and no control edges");
    return read;
}

bool exchange_looks_ge_readable(const struct source *source)
{
    static const char sign[] = "graph(\"";
    size_t at = 0;
    while (at < source->size && strchr(" \t\r\n", source->text[at]) && source->text[at])
        at++;
    return source->size - at >= sizeof sign - 1 &&
           memcmp(source->text + at, sign, sizeof sign - 1) == 0;
}
