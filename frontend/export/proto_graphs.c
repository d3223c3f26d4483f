/* Modules as graphs in protobuf text (docs/command-line.md, "skirc export"): GE's dumps of models;
 * a graph as TorchAir has it for tools of TensorFlow, whose nodes have as attributes strings of
 * GE's text; and ONNX models, which have one graph: those that it calls are in the first op that
 * calls them. One walk over the nodes writes all three. */
#include "frontend/export/foreign.h"

#include <stdio.h>
#include <string.h>

#include "frontend/import/dump/types.h"
#include "ir/analysis/contents.h"
#include "ir/core/calls.h"
#include "ir/core/operands.h"
#include "ir/shapes/gears.h"
#include "ir/syntax/locate.h"

/* The numbers of what is written: those of ONNX 1.12. */
enum { IR_VERSION = 8, OPSET = 17 };

/* Graphs within graphs: readers of protobuf text have a limit, too. */
enum { MAX_NESTED = 24 };

enum format { GE_TXT, TORCHAIR_PBTXT, ONNX_TXT };

/* A module on its way out. */
struct writer {
    enum format format;
    struct pieces pieces;
    struct proto_out out;
    const struct module *module;
    struct foreign foreign;
    struct text bytes; /* of a constant, an input, or a type */
    struct text inner; /* the value of an attribute that is a string of GE's text */
    unsigned depth;    /* of what is around it */
    uint8_t *written;  /* by graph */
};

static const struct intern_name *name_at(const struct writer *writer, uint32_t name)
{
    return &writer->module->names.names[name];
}

static void put_name(struct writer *writer, const char *field, uint32_t name)
{
    proto_put_string(&writer->out, field, name_at(writer, name)->text, name_at(writer, name)->size);
}

static uint32_t type_of(const struct writer *writer, uint32_t value)
{
    return writer->foreign.graph->values.at[value].type;
}

/* --------------------------------------------------------- what GE's messages can say ---- */

static bool ge_says_type(const struct module *module, uint32_t id)
{
    const struct type *type = &module->types.at[id];
    const int64_t *dims = type_dims(module, id);
    for (uint32_t i = 0; i < type_n_dims(type); i++)
        if (dim_is_gear(dims[i]))
            return false;
    return type->dtype < DTYPE_COUNT;
}

static bool is_scalar(const struct module *module, const struct attr_value *value)
{
    if (value->kind == ATTR_TYPE)
        return ge_says_type(module, value->id);
    return value->kind <= ATTR_STRING ||
           (value->kind == ATTR_WORD && value->id >= W_f32 && value->id < W_f32 + DTYPE_COUNT);
}

/* The words for what a list is of, also an empty one; their names in AttrDef, AttributeProto. */
static const struct {
    const char *word;
    uint8_t kind;
    const char *ge, *onnx;
} list_types[] = {
    {"string", ATTR_STRING, "VT_LIST_STRING", "STRINGS"},
    {"int", ATTR_INT, "VT_LIST_INT", "INTS"},
    {"float", ATTR_FLOAT, "VT_LIST_FLOAT", "FLOATS"},
    {"bool", ATTR_BOOL, "VT_LIST_BOOL", NULL},
    {"", ATTR_TYPE, "VT_LIST_TENSOR_DESC", NULL},
    {"type", ATTR_WORD, "VT_LIST_DATA_TYPE", NULL},
};

enum { LIST_TYPES = sizeof list_types / sizeof list_types[0] };

/* The row of a list that is not of lists; LIST_TYPES where there is none. */
static unsigned list_type(const struct module *module, const struct attr_value *list)
{
    unsigned row = 0;
    while (row < LIST_TYPES &&
           !(list->count ? module->attr_values.at[list->first].kind == list_types[row].kind
                         : list->first && name_is(module, list->first, list_types[row].word)))
        row++;
    return row;
}

static bool is_uniform(const struct module *module, const struct attr_value *list)
{
    const struct attr_value *at = module->attr_values.at + list->first;
    for (uint32_t i = 0; i < list->count; i++)
        if (at[i].kind != at[0].kind || !is_scalar(module, &at[i]))
            return false;
    return list->count > 0;
}

/* Whether all elements are lists of integers. */
static bool is_lists(const struct module *module, const struct attr_value *list)
{
    const struct attr_value *values = module->attr_values.at;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct attr_value *at = &values[list->first + i];
        if (at->kind != ATTR_LIST || !is_uniform(module, at) || values[at->first].kind != ATTR_INT)
            return false;
    }
    return list->count > 0;
}

static bool ge_says_value(const struct module *module, const struct attr_value *value)
{
    if (value->kind != ATTR_LIST)
        return is_scalar(module, value);
    if (value->count == 0)
        return list_type(module, value) < LIST_TYPES;
    return is_uniform(module, value) || is_lists(module, value);
}

/* ---------------------------------------------------------- what ONNX's messages can say ---- */

static bool onnx_says_type(const struct module *module, uint32_t id)
{
    const struct type *type = &module->types.at[id];
    return ge_says_type(module, id) && type->format == W_ND &&
           dump_dtype_row(type->dtype)->numbers[DUMP_ONNX] > 0;
}

static bool is_element(const struct attr_value *value)
{
    return value->kind == ATTR_INT || value->kind == ATTR_FLOAT || value->kind == ATTR_STRING;
}

static bool onnx_says_value(const struct module *module, const struct attr_value *value)
{
    const struct attr_value *at = module->attr_values.at + value->first;
    if (value->kind != ATTR_LIST)
        return is_element(value);
    if (value->count == 0) {
        unsigned row = list_type(module, value);
        return row < LIST_TYPES && list_types[row].onnx;
    }
    for (uint32_t i = 0; i < value->count; i++)
        if (!is_element(&at[i]) || at[i].kind != at[0].kind)
            return false;
    return true;
}

static const struct form {
    struct foreign_form foreign;
    const char *node, *type, *attr, *key; /* fields */
} forms[] = {
    [GE_TXT] = {{.name = "ge-txt", .says_value = ge_says_value}, "op", "type", "attr", "key"},
    [TORCHAIR_PBTXT] =
        {{.name = "torchair-pbtxt", .says_value = ge_says_value}, "node", "op", "attr", "key"},
    [ONNX_TXT] = {{.name = "onnx-txt", .value_names = true, .says_value = onnx_says_value},
                  "node",
                  "op_type",
                  "attribute",
                  "name"},
};

/* ----------------------------------------------------------------------------- types ---- */

/* What is not known is -1, or -2 for all of them. */
static void put_shape(struct proto_out *out, const struct module *module, uint32_t id)
{
    const struct type *type = &module->types.at[id];
    const int64_t *dims = type_dims(module, id);
    proto_open(out, "shape");
    if (type->rank == RANK_UNKNOWN)
        proto_put_integer(out, "dim", -2);
    for (uint32_t i = 0; i < type_n_dims(type); i++)
        proto_put_integer(out, "dim", dims[i] < 0 ? -1 : dims[i]);
    proto_close(out);
}

static void ge_put_desc(struct proto_out *out, const struct module *module, uint32_t id)
{
    if (id == NONE)
        return;
    const struct type *type = &module->types.at[id];
    if (type->dtype < DTYPE_COUNT)
        proto_put_word(out, "dtype", dump_dtype_row(type->dtype)->ge);
    put_shape(out, module, id);
    const struct intern_name *format = &module->names.names[type->format];
    proto_put_string(out, "layout", format->text, format->size);
}

static void onnx_put_shape(struct writer *writer, uint32_t id)
{
    const struct type *type = &writer->module->types.at[id];
    const int64_t *dims = type_dims(writer->module, id);
    proto_open(&writer->out, "shape");
    for (uint32_t i = 0; i < type->rank; i++) {
        proto_open(&writer->out, "dim");
        if (dims[i] >= 0)
            proto_put_integer(&writer->out, "dim_value", dims[i]);
        else if (dim_is_gear(dims[i]))
            put_name(writer, "dim_param", dim_gear(dims[i]));
        proto_close(&writer->out);
    }
    proto_close(&writer->out);
}

static int dtype_number(const struct writer *writer, uint32_t id)
{
    const struct type *type = &writer->module->types.at[id];
    int number = type->dtype < DTYPE_COUNT ? dump_dtype_row(type->dtype)->numbers[DUMP_ONNX] : 0;
    return number < 0 ? 0 : number;
}

static void put_value_info(struct writer *writer, const char *field, uint32_t name, uint32_t id)
{
    proto_open(&writer->out, field);
    put_name(writer, "name", name);
    proto_open(&writer->out, "type");
    proto_open(&writer->out, "tensor_type");
    proto_put_integer(&writer->out, "elem_type", dtype_number(writer, id));
    if (writer->module->types.at[id].rank != RANK_UNKNOWN)
        onnx_put_shape(writer, id);
    proto_close(&writer->out);
    proto_close(&writer->out);
    proto_close(&writer->out);
}

/* ---------------------------------------------------------------------------- values ---- */

static void put_scalar(struct proto_out *out, const struct module *module,
                       const struct attr_value *value)
{
    switch (value->kind) {
    case ATTR_INT: proto_put_integer(out, "i", value->i); break;
    case ATTR_FLOAT: proto_put_float(out, "f", value->f); break;
    case ATTR_BOOL: proto_put_word(out, "b", value->i ? "true" : "false"); break;
    case ATTR_STRING:
        proto_put_string(out, "s", module->names.names[value->id].text,
                         module->names.names[value->id].size);
        break;
    case ATTR_TYPE:
        proto_open(out, "td");
        ge_put_desc(out, module, value->id);
        proto_close(out);
        break;
    default: proto_put_integer(out, "dt", dump_dtype_row(value->id - W_f32)->numbers[DUMP_GE]);
    }
}

static void put_list(struct proto_out *out, const struct module *module,
                     const struct attr_value *list)
{
    const struct attr_value *at = module->attr_values.at + list->first;
    proto_open(out, "list");
    for (uint32_t i = 0; i < list->count; i++)
        put_scalar(out, module, &at[i]);
    proto_put_word(out, "val_type", list_types[list_type(module, list)].ge);
    proto_close(out);
}

static void put_lists(struct proto_out *out, const struct module *module,
                      const struct attr_value *lists)
{
    proto_open(out, "list_list_int");
    for (uint32_t i = 0; i < lists->count; i++) {
        const struct attr_value *list = &module->attr_values.at[lists->first + i];
        proto_open(out, "list_list_i");
        for (uint32_t k = 0; k < list->count; k++)
            proto_put_integer(out, "list_i", module->attr_values.at[list->first + k].i);
        proto_close(out);
    }
    proto_close(out);
}

static void ge_put_value(struct proto_out *out, const struct module *module,
                         const struct attr_value *value)
{
    if (value->kind != ATTR_LIST)
        put_scalar(out, module, value);
    else if (value->count && module->attr_values.at[value->first].kind == ATTR_LIST)
        put_lists(out, module, value);
    else
        put_list(out, module, value);
}

/* Returns the word for its type. */
static const char *onnx_put_value(struct writer *writer, const struct attr_value *value)
{
    bool listed = value->kind == ATTR_LIST;
    for (uint32_t i = 0; i < (listed ? value->count : 1); i++) {
        const struct attr_value *at =
            listed ? &writer->module->attr_values.at[value->first + i] : value;
        if (at->kind == ATTR_INT)
            proto_put_integer(&writer->out, listed ? "ints" : "i", at->i);
        else if (at->kind == ATTR_FLOAT)
            proto_put_float(&writer->out, listed ? "floats" : "f", at->f);
        else
            put_name(writer, listed ? "strings" : "s", at->id);
    }
    return listed                      ? list_types[list_type(writer->module, value)].onnx
           : value->kind == ATTR_INT   ? "INT"
           : value->kind == ATTR_FLOAT ? "FLOAT"
                                       : "STRING";
}

/* ------------------------------------------------------------------------ attributes ---- */

static void open_attr(struct writer *writer, const char *key, size_t size)
{
    proto_open(&writer->out, forms[writer->format].attr);
    proto_put_string(&writer->out, forms[writer->format].key, key, size);
    if (writer->format == ONNX_TXT)
        return;
    proto_open(&writer->out, "value");
    if (writer->format == GE_TXT)
        return;
    writer->inner.size = 0;
    writer->depth = writer->out.depth;
    writer->out = (struct proto_out){&writer->inner, 0};
}

/* `type` is ONNX's word. */
static void close_attr(struct writer *writer, const char *type)
{
    if (writer->format == TORCHAIR_PBTXT) {
        writer->out = (struct proto_out){&writer->pieces.text, writer->depth};
        proto_put_string(&writer->out, "s", writer->inner.at, writer->inner.size);
    }
    if (writer->format == ONNX_TXT)
        proto_put_word(&writer->out, "type", type);
    else
        proto_close(&writer->out);
    proto_close(&writer->out);
}

static void put_string_attr(struct writer *writer, const char *key, const char *bytes, size_t size)
{
    open_attr(writer, key, strlen(key));
    proto_put_string(&writer->out, "s", bytes, size);
    close_attr(writer, "STRING");
}

static void put_integer_attr(struct writer *writer, const char *key, int64_t number)
{
    open_attr(writer, key, strlen(key));
    proto_put_integer(&writer->out, "i", number);
    close_attr(writer, "INT");
}

static void put_attrs(struct writer *writer, const struct op *op, struct range attrs)
{
    for (uint32_t i = 0; i < attrs.count; i++) {
        const struct attr *attr = &writer->module->attrs.at[attrs.first + i];
        const char *type = NULL;
        if (!foreign_says_attr(&writer->foreign, op, attr))
            continue;
        open_attr(writer, name_at(writer, attr->key)->text, name_at(writer, attr->key)->size);
        if (writer->format == ONNX_TXT)
            type = onnx_put_value(writer, &attr->value);
        else
            ge_put_value(&writer->out, writer->module, &attr->value);
        close_attr(writer, type);
    }
}

static void put_marks(struct writer *writer, const struct op *op)
{
    struct foreign_mark marks[FOREIGN_MARKS];
    uint32_t count = foreign_marks(&writer->foreign, op, marks);
    for (uint32_t i = 0; i < count; i++)
        if (marks[i].text)
            put_string_attr(writer, marks[i].key, marks[i].text, marks[i].size);
        else
            put_integer_attr(writer, marks[i].key, marks[i].number);
}

/* An entry of a map of texts. */
static void put_pair(struct writer *writer, const char *field, const char *key, const char *bytes,
                     size_t size)
{
    proto_open(&writer->out, field);
    proto_put_text(&writer->out, "key", key);
    proto_put_string(&writer->out, "value", bytes, size);
    proto_close(&writer->out);
}

/* Gears, in GE's own notation, where that can say them: ONNX itself has names of dimensions, but no
 * place for their values. */
static void put_gears(struct writer *writer, const struct graph *graph)
{
    struct ge_gears gears;
    bool known = ge_gears_write(&gears, writer->module, graph);
    const struct {
        const char *key, *bytes;
        size_t size;
    } pairs[] = {
        {GE_INPUT_SHAPE, gears.input_shape.at, gears.input_shape.size},
        {GE_DYNAMIC_DIMS, gears.dynamic_dims.at, gears.dynamic_dims.size},
        {GE_DYNAMIC_NODE_TYPE, GE_NODES_ARE_PARAMETERS, strlen(GE_NODES_ARE_PARAMETERS)},
    };
    for (unsigned i = 0; i < 3 && known; i++)
        if (writer->format == ONNX_TXT)
            put_pair(writer, "metadata_props", pairs[i].key, pairs[i].bytes, pairs[i].size);
        else
            put_string_attr(writer, pairs[i].key, pairs[i].bytes, pairs[i].size);
    ge_gears_free(&gears);
}

/* -------------------------------------------------------------------------- contents ---- */

/* Elements that one number fills, at most, where the format has no shorter form for that. */
enum { MOST_FILLED = 64 };

static bool numbers_as_bytes(const struct module *module, const struct graph *graph,
                             const struct op *op, struct text *bytes)
{
    const struct attr *attr = op_contents_attr(module, graph, op);
    uint32_t type = attr ? graph->values.at[op->results.first].type : NONE;
    uint64_t elements;
    bytes->size = 0;
    if (!attr || module->types.at[type].dtype >= DTYPE_COUNT ||
        !type_elements(module, type, &elements) || elements == 0)
        return false;
    struct contents contents = contents_read(module, attr);
    if (contents.count == 1 && elements > MOST_FILLED)
        return false;
    unsigned bits = dtype_info(module->types.at[type].dtype)->bits;
    if (!contents.numbers || bits % 8 || bits > 64)
        return false;
    for (uint64_t i = 0; i < elements; i++) {
        uint64_t number;
        const struct attr_value *value = &contents.numbers[contents.count == 1 ? 0 : i];
        if (number_encode(module->types.at[type].dtype, value, &number) != NUMBER_FITS)
            return false;
        for (unsigned k = 0; k < bits; k += 8)
            text_char(bytes, (char)(number >> k));
    }
    return true;
}

/* A TensorDef; or a TensorProto, where the dimensions are known, whose external data are bytes as
 * they are in memory. */
static void put_contents(struct writer *writer, const struct op *op)
{
    const struct module *module = writer->module;
    const struct attr *attr = op_contents_attr(module, writer->foreign.graph, op);
    uint64_t elements;
    if (!attr)
        return;
    uint32_t id = type_of(writer, op->results.first);
    bool onnx = writer->format == ONNX_TXT;
    bool numbers = numbers_as_bytes(module, writer->foreign.graph, op, &writer->bytes);
    struct contents contents = contents_read(module, attr);
    bool plain_file =
        !contents.numbers && !contents.escaped && !contents_are_npy(module, &contents);
    if (!numbers && (!onnx || !plain_file))
        return;
    if (onnx && (!onnx_says_type(module, id) || !type_elements(module, id, &elements)))
        return;
    open_attr(writer, "value", 5);
    proto_open(&writer->out, "t");
    if (onnx) {
        for (uint32_t i = 0; i < module->types.at[id].rank; i++)
            proto_put_integer(&writer->out, "dims", type_dims(module, id)[i]);
        proto_put_integer(&writer->out, "data_type", dtype_number(writer, id));
    } else {
        proto_open(&writer->out, "desc");
        ge_put_desc(&writer->out, module, id);
        proto_close(&writer->out);
    }
    if (numbers)
        proto_put_string(&writer->out, onnx ? "raw_data" : "data", writer->bytes.at,
                         writer->bytes.size);
    else {
        const struct intern_name *path = name_at(writer, contents.file);
        char number[24];
        put_pair(writer, "external_data", "location", path->text, path->size);
        snprintf(number, sizeof number, "%llu", (unsigned long long)contents.offset);
        put_pair(writer, "external_data", "offset", number, strlen(number));
        snprintf(number, sizeof number, "%llu", (unsigned long long)contents.bytes);
        if (contents.bytes != NO_BYTES)
            put_pair(writer, "external_data", "length", number, strlen(number));
        proto_put_word(&writer->out, "data_location", "EXTERNAL");
    }
    proto_close(&writer->out);
    close_attr(writer, "TENSOR");
}

/* ----------------------------------------------------------------------------- nodes ---- */

/* Whether a name ends as if there were an output after it. */
static bool ends_in_output(const struct intern_name *name)
{
    uint32_t size = name->size;
    while (size > 0 && name->text[size - 1] >= '0' && name->text[size - 1] <= '9')
        size--;
    bool digits = size < name->size;
    size -= size > 0 && name->text[size - 1] == '-';
    return digits && size > 0 && name->text[size - 1] == ':';
}

/* NODE:OUTPUT; -1 is order, which TorchAir says by ^NODE. ONNX has names of values. */
static void put_input(struct writer *writer, uint32_t value, bool order)
{
    const struct intern_name *node = foreign_definer(&writer->foreign, value);
    struct text *text = &writer->bytes;
    if (writer->format == ONNX_TXT) {
        put_name(writer, "input", writer->foreign.graph->values.at[value].name);
        return;
    }
    text->size = 0;
    bool caret = order && writer->format == TORCHAIR_PBTXT && !ends_in_output(node);
    if (caret)
        text_char(text, '^');
    text_bytes(text, node->text, node->size);
    if (order && !caret)
        text_string(text, ":-1");
    else if (!order)
        text_printf(text, ":%u", foreign_output(&writer->foreign, value));
    proto_put_string(&writer->out, "input", text->at, text->size);
}

static void put_inputs(struct writer *writer, const struct op *op)
{
    const struct graph *graph = writer->foreign.graph;
    struct range after = op_clauses(graph, op)->after;
    for (uint32_t place = 0; place < op_n_places(graph, op); place++) {
        struct operand operand = op_operand(graph, op, place);
        if (operand.kind == OPERAND_NONE)
            proto_put_text(&writer->out, "input", "");
        for (uint32_t i = 0; i < operand.values.count; i++)
            put_input(writer, graph->refs.at[operand.values.first + i], false);
    }
    for (uint32_t i = 0; i < after.count && writer->format != ONNX_TXT; i++)
        put_input(writer, graph->refs.at[after.first + i], true);
}

enum side { SIDE_INPUT, SIDE_OUTPUT };

/* Descriptions are attributes of TorchAir's nodes, each with a key of its own. */
static void put_desc(struct writer *writer, enum side side, uint32_t number, uint32_t type)
{
    static const char *const fields[] = {"input_desc", "output_desc"};
    static const char *const keys[] = {"[i]x%u", "[o]y%u"};
    char key[24];
    if (writer->format == TORCHAIR_PBTXT) {
        snprintf(key, sizeof key, keys[side], number);
        open_attr(writer, key, strlen(key));
        ge_put_desc(&writer->out, writer->module, type);
        close_attr(writer, NULL);
        return;
    }
    proto_open(&writer->out, fields[side]);
    ge_put_desc(&writer->out, writer->module, type);
    proto_close(&writer->out);
}

static void put_descs(struct writer *writer, const struct op *op)
{
    const struct graph *graph = writer->foreign.graph;
    uint32_t number = 0;
    for (uint32_t place = 0; place < op_n_places(graph, op); place++) {
        struct operand operand = op_operand(graph, op, place);
        if (operand.kind == OPERAND_NONE)
            put_desc(writer, SIDE_INPUT, number++, NONE);
        for (uint32_t i = 0; i < operand.values.count; i++)
            put_desc(writer, SIDE_INPUT, number++,
                     type_of(writer, graph->refs.at[operand.values.first + i]));
    }
    uint32_t tensors = op_tensor_results(writer->module, graph, op);
    for (uint32_t i = 0; i < tensors; i++)
        put_desc(writer, SIDE_OUTPUT, i, type_of(writer, op->results.first + i));
}

static void put_graph(struct writer *writer, uint32_t index, const char *field);

/* The graphs that the op calls: their names, or in ONNX those that are nowhere yet. */
static void put_callees(struct writer *writer, const struct op *op)
{
    struct callee callee;
    const struct attr *open = NULL;
    for (uint32_t n = 0; op_callee(writer->module, op, n, &callee); n++) {
        if (callee.graph == NONE)
            continue;
        if (writer->format != ONNX_TXT) {
            put_name(writer, "subgraph_name", writer->module->graphs.at[callee.graph].name);
            continue;
        }
        if (writer->written[callee.graph])
            continue;
        bool listed = callee.element != NONE;
        if (open && open != callee.attr)
            close_attr(writer, "GRAPHS");
        if (!listed || open != callee.attr)
            open_attr(writer, name_at(writer, callee.attr->key)->text,
                      name_at(writer, callee.attr->key)->size);
        open = listed ? callee.attr : NULL;
        put_graph(writer, callee.graph, listed ? "graphs" : "g");
        if (!listed)
            close_attr(writer, "GRAPH");
    }
    if (open)
        close_attr(writer, "GRAPHS");
}

static bool has_text(const char *bytes, size_t size, const char *text)
{
    return size == strlen(text) && memcmp(bytes, text, size) == 0;
}

/* Where the domain of DOMAIN::TYPE ends; 0: it is none. */
static size_t domain_size(const struct text *type)
{
    size_t domain = 0;
    for (size_t i = 1; i + 2 < type->size && !domain; i++)
        if (type->at[i] == ':' && type->at[i + 1] == ':')
            domain = i;
    bool means_other =
        has_text(type->at, domain, "ai.onnx") || has_text(type->at, domain, ONNX_GE_DOMAIN);
    return means_other ? 0 : domain;
}

static void put_onnx_type(struct writer *writer, const struct text *type)
{
    /* Operators of ONNX that have no translation are such again. */
    bool is_onnx = type->size > 5 && memcmp(type->at, "onnx.", 5) == 0;
    size_t domain = is_onnx ? 0 : domain_size(type);
    size_t begin = is_onnx ? 5 : domain ? domain + 2 : 0;
    proto_put_string(&writer->out, "op_type", type->at + begin, type->size - begin);
    if (domain)
        proto_put_string(&writer->out, "domain", type->at, domain);
    else if (!is_onnx)
        proto_put_text(&writer->out, "domain", ONNX_GE_DOMAIN);
}

static void open_node(struct writer *writer, const struct intern_name *name, const char *type,
                      size_t size)
{
    proto_open(&writer->out, forms[writer->format].node);
    if (writer->format == ONNX_TXT)
        put_onnx_type(writer, &(struct text){(char *)type, size, 0});
    proto_put_string(&writer->out, "name", name->text, name->size);
    if (writer->format != ONNX_TXT)
        proto_put_string(&writer->out, forms[writer->format].type, type, size);
}

static void put_op(struct writer *writer, uint32_t id)
{
    const struct graph *graph = writer->foreign.graph;
    const struct op *op = &graph->ops.at[id];
    uint32_t tensors = op_tensor_results(writer->module, graph, op);
    foreign_op_type(&writer->foreign, op, &writer->bytes);
    open_node(writer, foreign_op_name(&writer->foreign, id), writer->bytes.at, writer->bytes.size);
    put_inputs(writer, op);
    for (uint32_t i = 0; i < tensors && writer->format == ONNX_TXT; i++)
        put_name(writer, "output", graph->values.at[op->results.first + i].name);
    put_contents(writer, op);
    put_attrs(writer, op, op->attrs);
    put_marks(writer, op);
    if (writer->format != ONNX_TXT)
        put_descs(writer, op);
    put_callees(writer, op);
    proto_close(&writer->out);
}

/* Parameters and what is returned are nodes of GE's graphs. */
static void put_param(struct writer *writer, uint32_t param)
{
    open_node(writer, foreign_definer(&writer->foreign, param), "Data", 4);
    put_integer_attr(writer, "index", param);
    put_attrs(writer, NULL, writer->foreign.graph->params.at[param].attrs);
    put_desc(writer, SIDE_OUTPUT, 0, type_of(writer, param));
    proto_close(&writer->out);
}

static void put_returns(struct writer *writer)
{
    const struct graph *graph = writer->foreign.graph;
    open_node(writer, &writer->foreign.names.names[writer->foreign.return_name], "NetOutput", 9);
    for (uint32_t i = 0; i < graph->returns.count; i++)
        put_input(writer, graph->returns.at[i], false);
    if (writer->format == TORCHAIR_PBTXT)
        put_gears(writer, graph);
    for (uint32_t i = 0; i < graph->returns.count; i++)
        put_desc(writer, SIDE_INPUT, i, type_of(writer, graph->returns.at[i]));
    proto_close(&writer->out);
}

/* They are fields of ONNX's, as are all other values. */
static void put_values(struct writer *writer, const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->values.count && pieces_next(&writer->pieces); i++) {
        const struct value *value = &graph->values.at[i];
        if (value->def == DEF_PARAM)
            put_value_info(writer, "input", value->name, value->type);
        else if (value->def < graph->ops.count && value->type != writer->module->token)
            put_value_info(writer, "value_info", value->name, value->type);
    }
    for (uint32_t i = 0; i < graph->returns.count && pieces_next(&writer->pieces); i++) {
        const struct value *value = &graph->values.at[graph->returns.at[i]];
        put_value_info(writer, "output", value->name, value->type);
    }
}

/* ---------------------------------------------------------------------------- graphs ---- */

/* The graph of TorchAir is the file itself. */
static void put_graph(struct writer *writer, uint32_t index, const char *field)
{
    const struct graph *graph = &writer->module->graphs.at[index];
    struct foreign outer = writer->foreign;
    bool onnx = writer->format == ONNX_TXT, open = writer->format != TORCHAIR_PBTXT;
    writer->written[index] = 1;
    if (onnx)
        foreign_init(&writer->foreign, writer->module, &forms[ONNX_TXT].foreign);
    foreign_begin_graph(&writer->foreign, graph);
    if (open) {
        proto_open(&writer->out, field);
        put_name(writer, "name", graph->name);
    }
    for (uint32_t i = 0; i < graph->n_params && !onnx && pieces_next(&writer->pieces); i++)
        put_param(writer, i);
    for (uint32_t i = 0; i < graph->body.count && pieces_next(&writer->pieces); i++)
        if (item_kind(graph->body.at[i]) == ITEM_OP)
            put_op(writer, item_id(graph->body.at[i]));
    if (onnx)
        put_values(writer, graph);
    else
        put_returns(writer);
    if (writer->format == GE_TXT && index == 0)
        put_gears(writer, graph);
    if (open)
        proto_close(&writer->out);
    foreign_end_graph(&writer->foreign);
    if (onnx) {
        foreign_free(&writer->foreign);
        writer->foreign = outer;
    }
}

/* The first graph that no other calls. */
static uint32_t find_root(const struct module *module)
{
    uint8_t *called = mem_calloc(module->graphs.count + 1, 1);
    uint32_t root = 0;
    for (uint32_t i = 0; i < module->graphs.count; i++)
        graph_mark_called(module, &module->graphs.at[i], called);
    while (root < module->graphs.count && called[root])
        root++;
    mem_free(called);
    return root;
}

static void put_version(struct writer *writer, const char *domain, int64_t version)
{
    proto_open(&writer->out, "opset_import");
    proto_put_text(&writer->out, "domain", domain);
    proto_put_integer(&writer->out, "version", version);
    proto_close(&writer->out);
}

static bool write(struct print_sink *sink, const struct module *module, enum format format)
{
    struct writer writer = {.format = format, .pieces = {.sink = sink}, .module = module};
    writer.out.text = &writer.pieces.text;
    writer.written = mem_calloc(module->graphs.count + 1, 1);
    if (format == ONNX_TXT) {
        uint32_t root = find_root(module);
        proto_put_integer(&writer.out, "ir_version", IR_VERSION);
        proto_put_text(&writer.out, "producer_name", "skirc");
        put_graph(&writer, root, "graph");
        put_version(&writer, "", OPSET);
        put_version(&writer, ONNX_GE_DOMAIN, 1);
        put_gears(&writer, &module->graphs.at[root]);
    } else {
        foreign_init(&writer.foreign, module, &forms[format].foreign);
        for (uint32_t i = 0; i < module->graphs.count && pieces_next(&writer.pieces); i++)
            put_graph(&writer, i, "graph");
        foreign_free(&writer.foreign);
    }
    mem_free(writer.written);
    text_free(&writer.bytes);
    text_free(&writer.inner);
    return pieces_end(&writer.pieces);
}

bool exchange_write_ge_txt(struct print_sink *sink, const struct module *module)
{
    return write(sink, module, GE_TXT);
}

bool exchange_write_torchair_pbtxt(struct print_sink *sink, const struct module *module)
{
    return write(sink, module, TORCHAIR_PBTXT);
}

bool exchange_write_onnx_txt(struct print_sink *sink, const struct module *module)
{
    return write(sink, module, ONNX_TXT);
}

/* --------------------------------------------------------------------------- fitting ---- */

/* Marks what stands within a graph. False where that nests too deep. */
static bool mark_nested(const struct module *module, uint32_t index, uint8_t *seen, unsigned depth)
{
    const struct graph *graph = &module->graphs.at[index];
    struct callee callee;
    seen[index] = 1;
    if (depth > MAX_NESTED)
        return false;
    for (uint32_t i = 0; i < graph->body.count; i++) {
        if (item_kind(graph->body.at[i]) != ITEM_OP)
            continue;
        const struct op *op = &graph->ops.at[item_id(graph->body.at[i])];
        for (uint32_t n = 0; op_callee(module, op, n, &callee); n++)
            if (callee.graph != NONE && !seen[callee.graph] &&
                !mark_nested(module, callee.graph, seen, depth + 1))
                return false;
    }
    return true;
}

static bool fits_nested(const struct module *module, struct diags *diags)
{
    uint8_t *seen = mem_calloc(module->graphs.count + 1, 1);
    uint32_t root = find_root(module), other = 0;
    bool flat = mark_nested(module, root, seen, 0);
    while (other < module->graphs.count && seen[other])
        other++;
    uint32_t loc = module->graphs.at[flat && other < module->graphs.count ? other : root].loc;
    struct span span = locate_name(module, loc);
    bool fits = flat && other == module->graphs.count;
    if (!flat)
        diag_at(diags, DIAG_not_exported, span,
                "the graphs that this one calls nest more than %d deep, which %s cannot have",
                MAX_NESTED, forms[ONNX_TXT].foreign.name);
    else if (!fits)
        diag_at(diags, DIAG_not_exported, span,
                "%s is one graph and those that it calls, and this is another",
                forms[ONNX_TXT].foreign.name);
    mem_free(seen);
    return fits;
}

bool exchange_fits_ge_txt(const struct module *module, struct diags *diags)
{
    return foreign_fits(&forms[GE_TXT].foreign, module, diags);
}

bool exchange_fits_torchair_pbtxt(const struct module *module, struct diags *diags)
{
    const struct foreign_form *form = &forms[TORCHAIR_PBTXT].foreign;
    bool fits = foreign_fits(form, module, diags);
    if (fits && module->graphs.count > 1)
        diag_at(diags, DIAG_not_exported, locate_name(module, module->graphs.at[1].loc),
                "%s is one graph, and this is another", form->name);
    return fits && module->graphs.count == 1;
}

bool exchange_fits_onnx_txt(const struct module *module, struct diags *diags)
{
    return foreign_fits(&forms[ONNX_TXT].foreign, module, diags) && fits_nested(module, diags);
}
