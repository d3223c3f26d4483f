/* Modules as ONNX models, as protobuf text (docs/command-line.md, "skirc export"). A model has one
 * graph; those that it calls stand in the first op that calls them. */
#include "frontend/exchange/dump/types.h"
#include "frontend/exchange/writers/foreign.h"
#include "frontend/exchange/writers/ge_out.h"
#include "ir/calls.h"
#include "ir/contents.h"
#include "ir/ge_gears.h"
#include "ir/operands.h"
#include "ir/syntax/locate.h"

#include <stdio.h>

/* The numbers of what is written: those of ONNX 1.12. */
enum { IR_VERSION = 8, OPSET = 17 };

/* Graphs within graphs: readers of protobuf text have a limit, too. */
enum { MAX_NESTED = 24 };

/* A module on its way out. */
struct writer {
    struct pieces pieces;
    struct proto_out out;
    const struct module *module;
    uint8_t *written; /* by graph */
    struct text bytes;
};

/* ------------------------------------------------------------------------------ form ---- */

static bool says_type(const struct module *module, uint32_t id)
{
    const struct type *type = &module->types.at[id];
    return ge_says_type(module, id) && type->format == W_ND &&
           dump_dtype_row(type->dtype)->onnx > 0;
}

static bool is_element(const struct attr_value *value)
{
    return value->kind == ATTR_INT || value->kind == ATTR_FLOAT || value->kind == ATTR_STRING;
}

static bool says_value(const struct module *module, const struct attr_value *value)
{
    if (value->kind != ATTR_LIST)
        return is_element(value);
    if (value->count == 0)
        return value->first &&
               (name_is(module, value->first, "int") || name_is(module, value->first, "float") ||
                name_is(module, value->first, "string"));
    const struct attr_value *at = module->attr_values.at + value->first;
    for (uint32_t i = 0; i < value->count; i++)
        if (!is_element(&at[i]) || at[i].kind != at[0].kind)
            return false;
    return true;
}

static const struct foreign_form form = {
    .name = "onnx-txt",
    .value_names = true,
    .says_value = says_value,
};

static const struct intern_name *name_at(const struct writer *writer, uint32_t name)
{
    return &writer->module->names.names[name];
}

static void put_name(struct writer *writer, const char *field, uint32_t name)
{
    proto_put_string(&writer->out, field, name_at(writer, name)->text, name_at(writer, name)->size);
}

/* ----------------------------------------------------------------------------- types ---- */

static void put_shape(struct writer *writer, uint32_t id)
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
    int number = type->dtype < DTYPE_COUNT ? dump_dtype_row(type->dtype)->onnx : 0;
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
        put_shape(writer, id);
    proto_close(&writer->out);
    proto_close(&writer->out);
    proto_close(&writer->out);
}

/* ------------------------------------------------------------------------ attributes ---- */

static void open_attr(struct writer *writer, const char *key, size_t size)
{
    proto_open(&writer->out, "attribute");
    proto_put_string(&writer->out, "name", key, size);
}

static void close_attr(struct writer *writer, const char *type)
{
    proto_put_word(&writer->out, "type", type);
    proto_close(&writer->out);
}

static void put_element(struct writer *writer, const struct attr_value *value, bool listed)
{
    if (value->kind == ATTR_INT)
        proto_put_integer(&writer->out, listed ? "ints" : "i", value->i);
    else if (value->kind == ATTR_FLOAT)
        proto_put_float(&writer->out, listed ? "floats" : "f", value->f);
    else
        put_name(writer, listed ? "strings" : "s", value->id);
}

static const char *list_type(const struct writer *writer, const struct attr_value *list)
{
    uint32_t kind = list->count ? writer->module->attr_values.at[list->first].kind : ATTR_STRING;
    if (kind == ATTR_INT || (!list->count && name_is(writer->module, list->first, "int")))
        return "INTS";
    if (kind == ATTR_FLOAT || (!list->count && name_is(writer->module, list->first, "float")))
        return "FLOATS";
    return "STRINGS";
}

static void put_attr(struct writer *writer, const struct attr *attr)
{
    static const char *const types[] = {
        [ATTR_INT] = "INT", [ATTR_FLOAT] = "FLOAT", [ATTR_STRING] = "STRING"};
    const struct attr_value *value = &attr->value;
    open_attr(writer, name_at(writer, attr->key)->text, name_at(writer, attr->key)->size);
    if (value->kind != ATTR_LIST) {
        put_element(writer, value, false);
        close_attr(writer, types[value->kind]);
        return;
    }
    for (uint32_t i = 0; i < value->count; i++)
        put_element(writer, &writer->module->attr_values.at[value->first + i], true);
    close_attr(writer, list_type(writer, value));
}

static void put_marks(struct writer *writer, const struct foreign *foreign, const struct op *op)
{
    struct foreign_mark marks[FOREIGN_MARKS];
    uint32_t count = foreign_marks(foreign, op, marks);
    for (uint32_t i = 0; i < count; i++) {
        open_attr(writer, marks[i].key, strlen(marks[i].key));
        if (marks[i].text)
            proto_put_string(&writer->out, "s", marks[i].text, marks[i].size);
        else
            proto_put_integer(&writer->out, "i", marks[i].number);
        close_attr(writer, marks[i].text ? "STRING" : "INT");
    }
}

/* -------------------------------------------------------------------------- contents ---- */

static void put_external(struct writer *writer, const char *key, const char *bytes, size_t size)
{
    proto_open(&writer->out, "external_data");
    proto_put_text(&writer->out, "key", key);
    proto_put_string(&writer->out, "value", bytes, size);
    proto_close(&writer->out);
}

static void put_file(struct writer *writer, const struct contents *contents)
{
    char number[24];
    const struct intern_name *path = name_at(writer, contents->file);
    put_external(writer, "location", path->text, path->size);
    snprintf(number, sizeof number, "%llu", (unsigned long long)contents->offset);
    put_external(writer, "offset", number, strlen(number));
    if (contents->bytes != NO_BYTES) {
        snprintf(number, sizeof number, "%llu", (unsigned long long)contents->bytes);
        put_external(writer, "length", number, strlen(number));
    }
    proto_put_word(&writer->out, "data_location", "EXTERNAL");
}

/* External data are bytes as they are in memory. */
static bool is_plain_file(const struct writer *writer, const struct contents *contents)
{
    return !contents->escaped && !contents_are_npy(writer->module, contents);
}

/* A TensorProto, where the dimensions are known. */
static void put_contents(struct writer *writer, const struct foreign *foreign, const struct op *op)
{
    const struct attr *attr = op_contents_attr(writer->module, foreign->graph, op);
    uint64_t elements;
    if (!attr)
        return;
    uint32_t id = foreign->graph->values.at[op->results.first].type;
    bool numbers = foreign_contents(writer->module, foreign->graph, op, &writer->bytes);
    struct contents contents = contents_read(writer->module, attr);
    if ((!numbers && (contents.numbers || !is_plain_file(writer, &contents))) ||
        !says_type(writer->module, id) || !type_elements(writer->module, id, &elements))
        return;
    open_attr(writer, "value", 5);
    proto_open(&writer->out, "t");
    for (uint32_t i = 0; i < writer->module->types.at[id].rank; i++)
        proto_put_integer(&writer->out, "dims", type_dims(writer->module, id)[i]);
    proto_put_integer(&writer->out, "data_type", dtype_number(writer, id));
    if (numbers)
        proto_put_string(&writer->out, "raw_data", writer->bytes.at, writer->bytes.size);
    else
        put_file(writer, &contents);
    proto_close(&writer->out);
    close_attr(writer, "TENSOR");
}

/* ----------------------------------------------------------------------------- nodes ---- */

static void put_graph(struct writer *writer, uint32_t index, const char *field);

/* The graphs that the op calls and that stand nowhere yet. */
static void put_callees(struct writer *writer, const struct op *op)
{
    struct callee callee;
    const struct attr *open = NULL;
    for (uint32_t n = 0; op_callee(writer->module, op, n, &callee); n++) {
        if (callee.graph == NONE || writer->written[callee.graph])
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

static void put_inputs(struct writer *writer, const struct graph *graph, const struct op *op)
{
    for (uint32_t place = 0; place < op_n_places(graph, op); place++) {
        struct operand operand = op_operand(graph, op, place);
        if (operand.kind == OPERAND_NONE)
            proto_put_text(&writer->out, "input", "");
        for (uint32_t i = 0; i < operand.values.count; i++)
            put_name(writer, "input",
                     graph->values.at[graph->refs.at[operand.values.first + i]].name);
    }
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

/* Operators of ONNX that have no translation are such again. */
static bool is_onnx(const struct text *type)
{
    return type->size > 5 && memcmp(type->at, "onnx.", 5) == 0;
}

static void put_type(struct writer *writer, const struct foreign *foreign, const struct op *op)
{
    const struct text *type = &writer->bytes;
    foreign_op_type(foreign, op, &writer->bytes);
    size_t domain = is_onnx(type) ? 0 : domain_size(type);
    size_t begin = is_onnx(type) ? 5 : domain ? domain + 2 : 0;
    proto_put_string(&writer->out, "op_type", type->at + begin, type->size - begin);
    if (domain)
        proto_put_string(&writer->out, "domain", type->at, domain);
    else if (!is_onnx(type))
        proto_put_text(&writer->out, "domain", ONNX_GE_DOMAIN);
}

static void put_node(struct writer *writer, struct foreign *foreign, uint32_t id)
{
    const struct graph *graph = foreign->graph;
    const struct op *op = &graph->ops.at[id];
    const struct intern_name *name = foreign_op_name(foreign, id);
    proto_open(&writer->out, "node");
    put_type(writer, foreign, op);
    proto_put_string(&writer->out, "name", name->text, name->size);
    put_inputs(writer, graph, op);
    uint32_t tensors = op_tensor_results(writer->module, graph, op);
    for (uint32_t i = 0; i < tensors; i++)
        put_name(writer, "output", graph->values.at[op->results.first + i].name);
    put_contents(writer, foreign, op);
    for (uint32_t i = 0; i < op->attrs.count; i++) {
        const struct attr *attr = &writer->module->attrs.at[op->attrs.first + i];
        if (foreign_says_attr(foreign, op, attr))
            put_attr(writer, attr);
    }
    put_marks(writer, foreign, op);
    put_callees(writer, op);
    proto_close(&writer->out);
}

/* ---------------------------------------------------------------------------- graphs ---- */

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

static void put_graph(struct writer *writer, uint32_t index, const char *field)
{
    const struct graph *graph = &writer->module->graphs.at[index];
    struct foreign foreign;
    writer->written[index] = 1;
    foreign_init(&foreign, writer->module, &form);
    foreign_begin_graph(&foreign, graph);
    proto_open(&writer->out, field);
    put_name(writer, "name", graph->name);
    for (uint32_t i = 0; i < graph->body.count && pieces_next(&writer->pieces); i++)
        if (item_kind(graph->body.at[i]) == ITEM_OP)
            put_node(writer, &foreign, item_id(graph->body.at[i]));
    put_values(writer, graph);
    proto_close(&writer->out);
    foreign_end_graph(&foreign);
    foreign_free(&foreign);
}

/* ------------------------------------------------------------------------------ model ---- */

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

static void put_property(struct writer *writer, const char *key, const char *bytes, size_t size)
{
    proto_open(&writer->out, "metadata_props");
    proto_put_text(&writer->out, "key", key);
    proto_put_string(&writer->out, "value", bytes, size);
    proto_close(&writer->out);
}

/* Gears in GE's notation, where that can say them: ONNX itself has names of dimensions, but no
 * place for their values. */
static void put_gears(struct writer *writer, const struct graph *graph)
{
    struct ge_gears gears;
    if (ge_gears_write(&gears, writer->module, graph)) {
        put_property(writer, GE_INPUT_SHAPE, gears.input_shape.at, gears.input_shape.size);
        put_property(writer, GE_DYNAMIC_DIMS, gears.dynamic_dims.at, gears.dynamic_dims.size);
        put_property(writer, GE_DYNAMIC_NODE_TYPE, GE_NODES_ARE_PARAMETERS,
                     strlen(GE_NODES_ARE_PARAMETERS));
    }
    ge_gears_free(&gears);
}

static void put_version(struct writer *writer, const char *domain, int64_t version)
{
    proto_open(&writer->out, "opset_import");
    proto_put_text(&writer->out, "domain", domain);
    proto_put_integer(&writer->out, "version", version);
    proto_close(&writer->out);
}

bool exchange_write_onnx_txt(struct print_sink *sink, const struct module *module)
{
    struct writer writer = {.pieces = {.sink = sink}, .module = module};
    writer.out.text = &writer.pieces.text;
    writer.written = mem_calloc(module->graphs.count + 1, 1);
    proto_put_integer(&writer.out, "ir_version", IR_VERSION);
    proto_put_text(&writer.out, "producer_name", "skirc");
    uint32_t root = find_root(module);
    put_graph(&writer, root, "graph");
    put_version(&writer, "", OPSET);
    put_version(&writer, ONNX_GE_DOMAIN, 1);
    put_gears(&writer, &module->graphs.at[root]);
    mem_free(writer.written);
    text_free(&writer.bytes);
    return pieces_end(&writer.pieces);
}

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
                MAX_NESTED, form.name);
    else if (!fits)
        diag_at(diags, DIAG_not_exported, span,
                "%s is one graph and those that it calls, and this is another", form.name);
    mem_free(seen);
    return fits;
}

bool exchange_fits_onnx_txt(const struct module *module, struct diags *diags)
{
    return foreign_fits(&form, module, diags) && fits_nested(module, diags);
}
