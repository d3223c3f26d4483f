/* Modules as GE's dumps of models, as protobuf text; and a graph as TorchAir has it for tools of
 * TensorFlow, whose nodes have as attributes strings of GE's text (docs/command-line.md, "skirc
 * export"). */
#include "frontend/exchange/writers/foreign.h"
#include "frontend/exchange/writers/ge_out.h"
#include "ir/calls.h"
#include "ir/ge_gears.h"
#include "ir/operands.h"

#include <stdio.h>

/* A module on its way out. */
struct writer {
    struct pieces pieces;
    struct proto_out out;
    struct foreign foreign;
    struct text bytes; /* of a constant, or an input */
    bool dressed;      /* as TorchAir has it */
    struct text inner; /* the value of an attribute, where this is so */
    unsigned depth;    /* of what is around it */
};

static const struct foreign_form model_form = {
    .name = "ge-txt",
    .says_value = ge_says_value,
};

static const struct foreign_form dressed_form = {
    .name = "torchair-pbtxt",
    .says_value = ge_says_value,
};

static const struct intern_name *name_at(const struct writer *writer, uint32_t name)
{
    return &writer->foreign.module->names.names[name];
}

/* ------------------------------------------------------------------------ attributes ---- */

static void open_attr(struct writer *writer, const char *key, size_t size)
{
    proto_open(&writer->out, "attr");
    proto_put_string(&writer->out, "key", key, size);
    proto_open(&writer->out, "value");
    if (!writer->dressed)
        return;
    writer->inner.size = 0;
    writer->depth = writer->out.depth;
    writer->out = (struct proto_out){&writer->inner, 0};
}

static void close_attr(struct writer *writer)
{
    if (writer->dressed) {
        writer->out = (struct proto_out){&writer->pieces.text, writer->depth};
        proto_put_string(&writer->out, "s", writer->inner.at, writer->inner.size);
    }
    proto_close(&writer->out);
    proto_close(&writer->out);
}

static void put_string_attr(struct writer *writer, const char *key, const char *bytes, size_t size)
{
    open_attr(writer, key, strlen(key));
    proto_put_string(&writer->out, "s", bytes, size);
    close_attr(writer);
}

static void put_integer_attr(struct writer *writer, const char *key, int64_t number)
{
    open_attr(writer, key, strlen(key));
    proto_put_integer(&writer->out, "i", number);
    close_attr(writer);
}

static void put_attrs(struct writer *writer, const struct op *op, struct range attrs)
{
    const struct module *module = writer->foreign.module;
    for (uint32_t i = 0; i < attrs.count; i++) {
        const struct attr *attr = &module->attrs.at[attrs.first + i];
        if (!foreign_says_attr(&writer->foreign, op, attr))
            continue;
        open_attr(writer, name_at(writer, attr->key)->text, name_at(writer, attr->key)->size);
        ge_put_value(&writer->out, module, &attr->value);
        close_attr(writer);
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

/* ----------------------------------------------------------------------------- nodes ---- */

static void open_op(struct writer *writer, const struct intern_name *name, const char *type,
                    size_t size)
{
    proto_open(&writer->out, writer->dressed ? "node" : "op");
    proto_put_string(&writer->out, "name", name->text, name->size);
    proto_put_string(&writer->out, writer->dressed ? "op" : "type", type, size);
}

/* Whether a name ends as if there were an output behind it. */
static bool ends_in_output(const struct intern_name *name)
{
    uint32_t size = name->size;
    while (size > 0 && name->text[size - 1] >= '0' && name->text[size - 1] <= '9')
        size--;
    bool digits = size < name->size;
    size -= size > 0 && name->text[size - 1] == '-';
    return digits && size > 0 && name->text[size - 1] == ':';
}

/* NODE:OUTPUT; -1 is order, which TorchAir says by ^NODE. */
static void put_input(struct writer *writer, uint32_t value, bool order)
{
    const struct intern_name *node = foreign_definer(&writer->foreign, value);
    struct text *text = &writer->bytes;
    text->size = 0;
    bool caret = order && writer->dressed && !ends_in_output(node);
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
    for (uint32_t i = 0; i < after.count; i++)
        put_input(writer, graph->refs.at[after.first + i], true);
}

enum side { SIDE_INPUT, SIDE_OUTPUT };

/* Descriptions are attributes of TorchAir's nodes, each with a key of its own. */
static void put_desc(struct writer *writer, enum side side, uint32_t number, uint32_t type)
{
    static const char *const fields[] = {"input_desc", "output_desc"};
    static const char *const keys[] = {"[i]x%u", "[o]y%u"};
    char key[24];
    if (writer->dressed) {
        snprintf(key, sizeof key, keys[side], number);
        open_attr(writer, key, strlen(key));
        ge_put_desc(&writer->out, writer->foreign.module, type);
        close_attr(writer);
        return;
    }
    proto_open(&writer->out, fields[side]);
    ge_put_desc(&writer->out, writer->foreign.module, type);
    proto_close(&writer->out);
}

static uint32_t type_of(const struct writer *writer, uint32_t value)
{
    return writer->foreign.graph->values.at[value].type;
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
    uint32_t tensors = op_tensor_results(writer->foreign.module, graph, op);
    for (uint32_t i = 0; i < tensors; i++)
        put_desc(writer, SIDE_OUTPUT, i, type_of(writer, op->results.first + i));
}

static void put_contents(struct writer *writer, const struct op *op)
{
    const struct module *module = writer->foreign.module;
    if (!foreign_contents(module, writer->foreign.graph, op, &writer->bytes))
        return;
    open_attr(writer, "value", 5);
    ge_put_tensor(&writer->out, module, type_of(writer, op->results.first), &writer->bytes);
    close_attr(writer);
}

static void put_callees(struct writer *writer, const struct op *op)
{
    const struct module *module = writer->foreign.module;
    struct callee callee;
    for (uint32_t n = 0; op_callee(module, op, n, &callee); n++)
        if (callee.graph != NONE) {
            const struct intern_name *name = name_at(writer, module->graphs.at[callee.graph].name);
            proto_put_string(&writer->out, "subgraph_name", name->text, name->size);
        }
}

static void put_op(struct writer *writer, uint32_t id)
{
    const struct op *op = &writer->foreign.graph->ops.at[id];
    foreign_op_type(&writer->foreign, op, &writer->bytes);
    open_op(writer, foreign_op_name(&writer->foreign, id), writer->bytes.at, writer->bytes.size);
    put_inputs(writer, op);
    put_contents(writer, op);
    put_attrs(writer, op, op->attrs);
    put_marks(writer, op);
    put_descs(writer, op);
    put_callees(writer, op);
    proto_close(&writer->out);
}

static void put_param(struct writer *writer, uint32_t param)
{
    open_op(writer, foreign_definer(&writer->foreign, param), "Data", 4);
    put_integer_attr(writer, "index", param);
    put_attrs(writer, NULL, writer->foreign.graph->params.at[param].attrs);
    put_desc(writer, SIDE_OUTPUT, 0, type_of(writer, param));
    proto_close(&writer->out);
}

/* Gears, in GE's own notation, where that can say them. */
static void put_gears(struct writer *writer)
{
    struct ge_gears gears;
    if (ge_gears_write(&gears, writer->foreign.module, writer->foreign.graph)) {
        put_string_attr(writer, GE_INPUT_SHAPE, gears.input_shape.at, gears.input_shape.size);
        put_string_attr(writer, GE_DYNAMIC_DIMS, gears.dynamic_dims.at, gears.dynamic_dims.size);
        put_string_attr(writer, GE_DYNAMIC_NODE_TYPE, GE_NODES_ARE_PARAMETERS,
                        strlen(GE_NODES_ARE_PARAMETERS));
    }
    ge_gears_free(&gears);
}

static void put_returns(struct writer *writer)
{
    const struct vec_u32 *returns = &writer->foreign.graph->returns;
    open_op(writer, &writer->foreign.names.names[writer->foreign.return_name], "NetOutput", 9);
    for (uint32_t i = 0; i < returns->count; i++)
        put_input(writer, returns->at[i], false);
    if (writer->dressed)
        put_gears(writer);
    for (uint32_t i = 0; i < returns->count; i++)
        put_desc(writer, SIDE_INPUT, i, type_of(writer, returns->at[i]));
    proto_close(&writer->out);
}

static void put_graph(struct writer *writer, const struct graph *graph, bool first)
{
    foreign_begin_graph(&writer->foreign, graph);
    if (!writer->dressed) {
        proto_open(&writer->out, "graph");
        proto_put_string(&writer->out, "name", name_at(writer, graph->name)->text,
                         name_at(writer, graph->name)->size);
    }
    for (uint32_t i = 0; i < graph->n_params && pieces_next(&writer->pieces); i++)
        put_param(writer, i);
    for (uint32_t i = 0; i < graph->body.count && pieces_next(&writer->pieces); i++)
        if (item_kind(graph->body.at[i]) == ITEM_OP)
            put_op(writer, item_id(graph->body.at[i]));
    put_returns(writer);
    if (!writer->dressed) {
        if (first)
            put_gears(writer);
        proto_close(&writer->out);
    }
    foreign_end_graph(&writer->foreign);
}

static bool write(struct print_sink *sink, const struct module *module,
                  const struct foreign_form *form, bool dressed)
{
    struct writer writer = {.pieces = {.sink = sink}, .dressed = dressed};
    writer.out.text = &writer.pieces.text;
    foreign_init(&writer.foreign, module, form);
    for (uint32_t i = 0; i < module->graphs.count && pieces_next(&writer.pieces); i++)
        put_graph(&writer, &module->graphs.at[i], i == 0);
    foreign_free(&writer.foreign);
    text_free(&writer.bytes);
    text_free(&writer.inner);
    return pieces_end(&writer.pieces);
}

bool exchange_fits_ge_txt(const struct module *module, struct diags *diags)
{
    return foreign_fits(&model_form, module, diags);
}

bool exchange_write_ge_txt(struct print_sink *sink, const struct module *module)
{
    return write(sink, module, &model_form, false);
}

bool exchange_fits_torchair_pbtxt(const struct module *module, struct diags *diags)
{
    return foreign_fits(&dressed_form, module, diags) &&
           foreign_fits_one(&dressed_form, module, diags);
}

bool exchange_write_torchair_pbtxt(struct print_sink *sink, const struct module *module)
{
    return write(sink, module, &dressed_form, true);
}
