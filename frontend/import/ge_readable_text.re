/* Graphs as GE prints them for people (`ge_readable*.txt`): a line for each node, -*- c -*-
 *
 *     %add : [#users=1] = Node[type=Add] (inputs = (x1=%a, x2=%b), attrs = {k: 1})
 *
 * Of nodes with several outputs, each has a line below that gives it a name. The graphs that a
 * node calls follow the first one; attributes name them. There are no types. Names are not quoted
 * and may have any bytes, so a name ends where what follows it begins. */
#define _GNU_SOURCE /* memmem */
#include "frontend/import/dump/types.h"
#include "frontend/exchange.h"
#include "frontend/import/messages.h"
#include "frontend/import/text/decimal.h"
#include "frontend/import/text/python_text.h"
#include "ir/support/escapes.h"
#include "ir/core/calls.h"
#include "ir/optypes/op_types.h"

/*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = at;
    re2c:define:YYMARKER = marker;
    re2c:yyfill:enable = 0;

    blank  = [ \t\r];
    digits = [0-9]+;
    label  = [A-Za-z0-9_.:/-]+;
*/

enum readable_line {
    READABLE_GRAPH,  /* graph("NAME"): */
    READABLE_NODE,   /* %NAME : [#users=N] = Node[type=TYPE] (, which is before the cursor */
    READABLE_OUTPUT, /* %NAME : [#users=N] = get_element[node=%NODE](N) */
    READABLE_RETURN, /* return (, which is before the cursor */
    READABLE_END,
    READABLE_ERROR,
};

struct readable_text {
    const char *text, *at, *end;
    struct diags *diags;
    bool failed;
    /* Of the line read last. */
    struct span name, type; /* the type of a node, or the node of an output */
    int64_t number;         /* of the outputs of a node, or of this output */
    /* Kept so that long lines are not walked through for each part of them. */
    const char *line, *line_end;
    const char *key, *key_end; /* one that was seen behind a value */
    const char *unheeded;      /* up to here, brackets in values do not close */
};

enum readable_part { READABLE_INPUTS, READABLE_ATTRS, READABLE_DONE, READABLE_FAILED };

enum readable_token {
    READABLE_OPEN,  /* { or [ */
    READABLE_CLOSE, /* } or ] */
    READABLE_COMMA,
    READABLE_INT,
    READABLE_FLOAT,
    READABLE_TRUE,
    READABLE_FALSE,
    READABLE_STRING, /* in quotes */
    READABLE_SYMBOL, /* %NAME */
    READABLE_DTYPE,  /* DT_... */
    READABLE_OTHER,  /* one byte, or what ends the attributes */
};

static struct span span_of(const struct readable_text *readable, const char *begin,
                           const char *end)
{
    return (struct span){(uint32_t)(begin - readable->text), (uint32_t)(end - readable->text)};
}

static enum readable_line readable_fail(struct readable_text *readable, const char *at,
                                        const char *text)
{
    if (!readable->failed)
        diag_at(readable->diags, DIAG_foreign_syntax,
                span_of(readable, at, at + (at < readable->end)), "%s", text);
    readable->failed = true;
    return READABLE_ERROR;
}

/* The end of the line at `at`, without blanks. Lines can be long, and this is asked for each of
 * their inputs. */
static const char *line_end(struct readable_text *readable, const char *at)
{
    if (at >= readable->line && at < readable->line_end)
        return readable->line_end;
    const char *end = memchr(at, '\n', (size_t)(readable->end - at));
    end = end ? end : readable->end;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    readable->line = at;
    return readable->line_end = end;
}

static bool at_line_end(const struct readable_text *readable, const char *at)
{
    while (at < readable->end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at == readable->end || *at == '\n';
}

/* ------------------------------------------------------------------------------ lines ---- */

/* ` : [#users=N] = `, behind a name; NULL where that is not there. */
static const char *pass_users(const char *at, int64_t *users)
{
    const char *marker, *number;
    /*!re2c
        " : [" "#"? [a-z_]* "users=" [0-9]{1,9} "] = " { goto found; }
        *                                              { return NULL; }
    */
found:
    for (number = at - 4; number[-1] != '=';)
        number--;
    return decimal_integer(number, at - 4, users) ? at : NULL;
}

/* The node's name and `](N)` up to the end of the line. */
static enum readable_line scan_output(struct readable_text *readable, const char *node,
                                      const char *end)
{
    const char *at = end - (end > node && end[-1] == ')'), *last = at;
    while (at > node && last - at < 10 && at[-1] >= '0' && at[-1] <= '9')
        at--;
    if (last == end || last - at > 9 || at == last || at - node < 3 ||
        memcmp(at - 2, "](", 2) != 0)
        return readable_fail(readable, node, "expected a name and `](N)` here");
    readable->type = span_of(readable, node, at - 2);
    decimal_integer(at, last, &readable->number);
    readable->at = end;
    return READABLE_OUTPUT;
}

/* What stands behind `%`. The name may have anything in it. */
static enum readable_line scan_value(struct readable_text *readable, const char *name)
{
    static const char node[] = "Node[type=", output[] = "get_element[node=%";
    const char *end = line_end(readable, name), *behind = NULL, *at = name;
    while (!behind && (at = memmem(at, (size_t)(end - at), " : [", 4)))
        if (!(behind = pass_users(at, &readable->number)))
            at++;
    if (!behind || at == name)
        return readable_fail(readable, name, "expected a name and ` : [#users=N] = ` here");
    readable->name = span_of(readable, name, at);
    if (strncmp(behind, node, sizeof node - 1) == 0) {
        /* The type ends before `] (`. */
        const char *type = behind + sizeof node - 1;
        const char *close = memmem(type, (size_t)(end - type), "] (", 3);
        if (!close || close == type)
            return readable_fail(readable, type, "expected a type and `] (` here");
        readable->type = span_of(readable, type, close);
        readable->at = close + 3;
        return READABLE_NODE;
    }
    if (strncmp(behind, output, sizeof output - 1) == 0)
        return scan_output(readable, behind + sizeof output - 1, end);
    return readable_fail(readable, behind, "expected `Node[type=` or `get_element[node=%` here");
}

/* The next line; errors are diagnostics of id `foreign-syntax`, and nothing is read after them. */
static enum readable_line readable_next(struct readable_text *readable)
{
    const char *at = readable->at, *start, *marker;
    if (readable->failed)
        return READABLE_ERROR;
    for (;;) {
        start = at;
        /*!re2c
            (blank | "\n")+         { continue; }
            "graph" blank* "(\""    { const char *name = at, *end = line_end(readable, at);
                                      if (end - name < 3 || memcmp(end - 3, "\"):", 3) != 0)
                                          return readable_fail(readable, end,
                                              "expected `\"):` at the end of this line");
                                      readable->name = span_of(readable, name, end - 3);
                                      readable->at = end;
                                      return READABLE_GRAPH; }
            "%"                     { return scan_value(readable, at); }
            "return" blank* "("     { readable->name = span_of(readable, start, start + 6);
                                      readable->at = at;
                                      return READABLE_RETURN; }
            "\x00"                  { if (start == readable->end)
                                          return READABLE_END;
                                      return readable_fail(readable, start,
                                          "this byte is no text"); }
            *                       { return readable_fail(readable, start,
                                          "expected `graph(\"NAME\"):`, `%NAME : [#users=N] = "
                                          "Node[type=TYPE] (...)` or `return (...)` here"); }
        */
    }
}

/* -------------------------------------------------------------------- parts of nodes ---- */

/* What follows the parenthesis that a node's line opens: `inputs = (` and `attrs = {`, each at most
 * once, in this order, and the end. */
static enum readable_part readable_part(struct readable_text *readable)
{
    const char *at = readable->at, *marker;
    /*!re2c
        blank* ","? blank* "inputs" blank* "=" blank* "(" { readable->at = at;
                                                            return READABLE_INPUTS; }
        blank* ","? blank* "attrs" blank* "=" blank* "{"  { readable->at = at;
                                                            return READABLE_ATTRS; }
        blank* ")"                                        { goto closed; }
        *                                                 { goto wrong; }
    */
closed:
    if (at_line_end(readable, at)) {
        readable->at = at;
        return READABLE_DONE;
    }
wrong:
    readable_fail(readable, readable->at,
                  "expected `inputs = (...)`, `attrs = {...}` or the closing `)` here");
    return READABLE_FAILED;
}

/* `LABEL=%` or `%`; NULL where there is neither. */
static const char *pass_label(const char *at, const char **label_end)
{
    const char *marker, *start = at;
    /*!re2c
        label "=%" { *label_end = at - 2; return at; }
        "%"        { *label_end = start; return at; }
        *          { return NULL; }
    */
}

/* Whether parentheses end here, at `)`: that of a node's inputs or of what is returned. */
static bool ends_inputs(const struct readable_text *readable, const char *at)
{
    at++;
    if (at_line_end(readable, at) || (*at == ')' && at_line_end(readable, at + 1)))
        return true;
    if (*at++ != ',')
        return false;
    while (*at == ' ')
        at++;
    return strncmp(at, "attrs = {", 9) == 0;
}

/* The next `LABEL=%NAME` or `%NAME` in parentheses, and what separates it from the next one.
 * False at the closing one, which is passed, and after an error. The label is empty where there
 * is none. */
static bool readable_input(struct readable_text *readable, struct span *label, struct span *name)
{
    const char *start = readable->at, *label_end, *at, *end;
    while (*start == ' ')
        start++;
    if (*start == ')') {
        readable->at = start + 1;
        return false;
    }
    if (!(at = pass_label(start, &label_end))) {
        readable_fail(readable, start, "expected `LABEL=%NAME` or `)` here");
        return false;
    }
    *label = span_of(readable, start, label_end);
    end = line_end(readable, at);
    for (const char *stop = at; (stop = bytes16_either(stop, end, ',', ')')) < end; stop++) {
        const char *next = stop + 1;
        while (*next == ' ')
            next++;
        bool comma = *stop == ',' && pass_label(next, &label_end) != NULL;
        if (!comma && !(*stop == ')' && ends_inputs(readable, stop)))
            continue;
        if (stop == at)
            break;
        *name = span_of(readable, at, stop);
        readable->at = stop + comma;
        return true;
    }
    readable_fail(readable, at, "expected a name and `)` here");
    return false;
}

/* ------------------------------------------------------------------------- attributes ---- */

/* `KEY:` and a blank; NULL where it is not there. */
static const char *pass_key(const char *at, const char **end)
{
    const char *marker;
    /*!re2c
        label ": " { *end = at - 2; return at; }
        *          { return NULL; }
    */
}

/* The key of the next attribute, `KEY: `. False at the closing brace, which is passed. */
static bool readable_key(struct readable_text *readable, struct span *key)
{
    const char *at = readable->at, *end, *behind;
    while (*at == ' ' || *at == ',')
        at++;
    if (*at == '}') {
        readable->at = at + 1;
        return false;
    }
    if (at == readable->key) {
        end = readable->key_end;
        behind = end + 2;
    } else if (!(behind = pass_key(at, &end))) {
        readable_fail(readable, at, "expected `KEY: ` or `}` here");
        return false;
    }
    *key = span_of(readable, at, end);
    readable->at = behind;
    return true;
}

/* Whether what is at `at` is a further attribute, or the end of all. */
static bool ends_value(struct readable_text *readable, const char *at)
{
    if (*at == '}')
        return at[1] == ')' && at_line_end(readable, at + 2);
    if (*at != ',' || at[1] != ' ' || !pass_key(at + 2, &readable->key_end))
        return false;
    readable->key = at + 2;
    return true;
}

/* The end of a string behind its opening quote: quotes and ends of lines in it are not escaped, so
 * the closing quote is the first one behind which something else can go on. NULL: there is none. */
static const char *string_end(const struct readable_text *readable, const char *at)
{
    while ((at = memchr(at, '"', (size_t)(readable->end - at)))) {
        at++;
        if (*at == '}' || *at == ']' || (*at == ',' && at[1] == ' '))
            return at;
    }
    return NULL;
}

static enum readable_token take_string(struct readable_text *readable, const char *at,
                                       struct span *span)
{
    const char *end = string_end(readable, at);
    if (!end) {
        readable_fail(readable, at - 1, "this string does not end");
        return READABLE_OTHER;
    }
    *span = span_of(readable, at, end - 1);
    readable->at = end;
    return READABLE_STRING;
}

/* A name ends before `}`, or a comma and what can stand behind it. */
static enum readable_token take_symbol(struct readable_text *readable, const char *at,
                                       struct span *span)
{
    const char *end = line_end(readable, at), *stop = at;
    while (stop < end && *stop != '}' && !(*stop == ',' && stop[1] == ' '))
        stop++;
    *span = span_of(readable, at, stop);
    readable->at = stop;
    return stop > at ? READABLE_SYMBOL : READABLE_OTHER;
}

/* The next token of an attribute's value, without the blanks before it. */
static enum readable_token readable_token(struct readable_text *readable, struct span *span)
{
    const char *at = readable->at, *start, *marker;
    enum readable_token token;
    for (;;) {
        start = at;
        /*!re2c
            integer = [+-]? digits;
            float   = [+-]? (digits "." [0-9]* ([eE] [+-]? digits)? | digits [eE] [+-]? digits
                             | "inf" | "nan");

            blank+            { continue; }
            [{[]              { token = READABLE_OPEN; break; }
            "}" | "]"         { token = READABLE_CLOSE; break; }
            ","               { token = READABLE_COMMA; break; }
            integer           { token = READABLE_INT; break; }
            float             { token = READABLE_FLOAT; break; }
            "true"            { token = READABLE_TRUE; break; }
            "false"           { token = READABLE_FALSE; break; }
            "DT_" [A-Z0-9_]+  { token = READABLE_DTYPE; break; }
            "\""              { return take_string(readable, at, span); }
            "%"               { return take_symbol(readable, at, span); }
            *                 { token = READABLE_OTHER; break; }
        */
    }
    *span = span_of(readable, start, at);
    readable->at = token == READABLE_OTHER ? start : at;
    return token;
}

/* The end of a value that starts at `at`: outside of brackets, if they are heeded. */
static const char *value_end(struct readable_text *readable, const char *at, bool heed)
{
    int depth = 0;
    for (; at < readable->end && *at != '\n'; at++) {
        if ((!heed || depth == 0) && ends_value(readable, at))
            return at;
        depth += *at == '{' || *at == '[';
        depth -= depth > 0 && (*at == '}' || *at == ']');
    }
    return NULL;
}

/* From `from` on, which is within an attribute: passes what is neither a further attribute nor the
 * end of all. False where nothing ends them. */
static bool readable_pass(struct readable_text *readable, const char *from, struct span *span)
{
    const char *end = from < readable->unheeded ? NULL : value_end(readable, from, true);
    if (!end) {
        readable->unheeded = line_end(readable, from);
        end = value_end(readable, from, false);
    }
    if (!end) {
        readable_fail(readable, from, "expected `})` at the end of this line");
        return false;
    }
    *span = span_of(readable, from, end);
    readable->at = end;
    return true;
}

/* ----------------------------------------------------------------------------- reader ---- */

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
    struct value_stack stack; /* elements of the lists that are being made */
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

/* The digits at the end of a label, after a `_`: where they begin, or 0. */
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

static void add_inputs(struct reader *reader)
{
    struct span label, name;
    while (readable_input(&reader->text, &label, &name)) {
        token(reader, name);
        struct dump_input input = {
            .name = intern(reader, name), .loc = name.begin, .kind = DUMP_DATA};
        read_label(reader, label, &input);
        /* `_input_N`: those before that have not been there are absent. */
        uint32_t size = label.end - label.begin;
        const char *text = reader->text.text + label.begin;
        struct dump_input absent = {
            .name = NONE, .label = NONE, .loc = label.begin, .kind = DUMP_ABSENT};
        int64_t n = 0;
        if (input.label == NONE && size <= 12 && number_in(text, size) == 7 &&
            memcmp(text, "_input_", 7) == 0)
            decimal_integer(text + 7, text + size, &n);
        for (int64_t i = reader->draft.inputs.count; i < n && n - i <= MAX_GAP; i++)
            dump_add_input(&reader->draft, absent);
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
    if (!reader->wanted ||
        (integer ? python_integer(text, size, &value.i) : decimal_float(text, size, &value.f)))
        return value;
    return string_value(reader, span);
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
    *value = take_list(&reader->stack, reader->dump->module, first, 0);
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
    case READABLE_DTYPE: {
        struct dump_shape scalar = {.rank = 0};
        unsigned dtype = dump_dtype_named(reader->dump, reader->text.text + span.begin,
                                          span.end - span.begin, span.begin);
        *value = (struct attr_value){
            .kind = ATTR_TYPE,
            .id = dump_type(reader->dump, dtype, W_ND, &scalar, span.begin)};
        if (value->id == NONE)
            *value = string_value(reader, span);
        return true;
    }
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
    if (read && ends_value(&reader->text, reader->text.at))
        return true;
    if (!readable_pass(&reader->text, from, &span))
        return false;
    *value = string_value(reader, span);
    return true;
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
    const struct module *module = reader->dump->module;
    struct attr attr = {.key = intern(reader, key), .loc = key.begin};
    uint32_t type = reader->draft.node.type;
    if (!is_new(reader, attr.key))
        return refuse(reader, key, "this attribute stands twice");
    bool kept = dump_wants(reader->dump, &reader->draft, attr.key);
    reader->wanted = kept || attr.key == W_value || is_index(reader, attr.key);
    if (!read_whole_value(reader, &attr.value))
        return false;
    if (attr.value.kind == ATTR_SYMBOL)
        vec_push(&reader->callees, (struct callee_name){attr.key, attr.value.id, attr.loc});
    else if (attr.key == W_value && attr.value.kind == ATTR_STRING &&
             (name_is(module, type, "Const") || name_is(module, type, "Constant")))
        /* It is no list of numbers: not all of them, or none, are printed. */
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
        if (call && call->list) { /* graphs that the dump names one by one are one attribute */
            uint32_t first = reader->stack.count;
            for (uint32_t k = 0; k < reader->callees.count; k++)
                vec_push(&reader->stack, (struct attr_value){.kind = ATTR_SYMBOL,
                                                             .id = reader->callees.at[k].graph});
            struct attr_value list = take_list(&reader->stack, reader->dump->module, first, 0);
            dump_add_attr(&reader->draft,
                          (struct attr){call->key, reader->callees.at[0].loc, list});
            break;
        }
        dump_add_attr(&reader->draft, (struct attr){call ? call->key : callee->key,
                                                    callee->loc,
                                                    {.kind = ATTR_SYMBOL, .id = callee->graph}});
    }
    return true;
}

/* ------------------------------------------------------------------------------- lines ---- */

static bool read_parts(struct reader *reader)
{
    struct span key;
    for (;;) {
        switch (readable_part(&reader->text)) {
        case READABLE_INPUTS: add_inputs(reader); break;
        case READABLE_ATTRS:
            while (readable_key(&reader->text, &key))
                if (!read_attr(reader, key))
                    return false;
            if (reader->text.failed || !add_callees(reader))
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
    struct dump_draft *draft = &reader->draft;
    dump_begin(draft, token(reader, reader->text.name).begin);
    draft->node.name = intern(reader, reader->text.name);
    draft->node.type = intern(reader, reader->text.type);
    reader->callees.count = 0;
    if (name_is(reader->dump->module, draft->node.type, "Data") ||
        name_is(reader->dump->module, draft->node.type, "RefData"))
        draft->node.role = DUMP_PARAM;
    if (!read_parts(reader))
        return false;
    id_map_set(&reader->nodes, reader->draft.node.name, graph_of(reader)->nodes.count);
    vec_push(&reader->n_outputs, n_outputs);
    dump_add_node(reader->dump, reader->graph, &reader->draft);
    reader->n_nodes++;
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
    for (uint32_t i = 0; i < graph->nodes.count; i++) /* there may be many graphs */
        id_map_unset(&reader->nodes, graph->nodes.at[i].name);
    for (uint32_t i = 0; i < reader->elements.count; i++)
        id_map_unset(&reader->named, reader->elements.at[i].name);
    reader->elements.count = reader->n_outputs.count = 0;
    return true;
}

static bool read_lines(struct reader *reader)
{
    for (;;) {
        bool read = false;
        switch (readable_next(&reader->text)) {
        case READABLE_GRAPH:
            read = end_graph(reader);
            if (read) {
                struct span span = reader->text.name;
                bool named = span.begin < span.end;
                reader->graph =
                    dump_add_graph(reader->dump, named ? intern(reader, token(reader, span)) : NONE,
                                   span.begin, NONE);
                reader->returned = false;
            }
            break;
        case READABLE_NODE: read = add_node(reader); break;
        case READABLE_OUTPUT:
            read = reader->graph != NONE ||
                   refuse(reader, reader->text.name, "this stands in no graph");
            if (read) {
                const struct readable_text *text = &reader->text;
                struct element element = {intern(reader, text->name), intern(reader, text->type),
                                          (uint32_t)text->number, text->name.begin};
                id_map_set(&reader->named, element.name, reader->elements.count);
                vec_push(&reader->elements, element);
            }
            break;
        case READABLE_RETURN: read = add_returns(reader); break;
        case READABLE_END: return end_graph(reader);
        case READABLE_ERROR: break;
        }
        if (!read)
            return false;
    }
}

bool exchange_read_ge_readable(struct dump *dump)
{
    struct reader reader = {.dump = dump, .graph = NONE};
    const char *text = dump->source->text;
    reader.text = (struct readable_text){
        .text = text, .at = text, .end = text + dump->source->size, .diags = dump->diags};
    bool read = read_lines(&reader);
    dump_draft_free(&reader.draft);
    id_map_free(&reader.nodes);
    id_map_free(&reader.named);
    id_map_free(&reader.seen);
    vec_free(&reader.elements);
    vec_free(&reader.n_outputs);
    vec_free(&reader.callees);
    vec_free(&reader.stack);
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
