/* Fusion requests (docs/command-line.md, "Fusion requests"): the ops of one super kernel as calls
 * of compiled kernels, whose metadata stand in files of their own. */
#include "frontend/exchange.h"
#include "frontend/export/foreign.h"
#include "ir/analysis/addresses.h"
#include "ir/core/kernel.h"
#include "ir/core/operands.h"
#include "ir/support/json.h"
#include "ir/support/text.h"
#include "ir/syntax/locate.h"

/* The super kernel. */
struct chosen {
    const struct graph *graph; /* NULL: there is none */
    uint32_t block;
};

/* That behind `from` in the order of graphs and blocks, or the first one. */
static struct chosen find_superkernel(const struct module *module, const struct chosen *from)
{
    uint32_t g = from ? graph_id(module, from->graph) : 0;
    uint32_t b = from ? from->block + 1 : 0;
    for (; g < module->graphs.count; g++, b = 0)
        for (; b < module->graphs.at[g].blocks.count; b++)
            if (module->graphs.at[g].blocks.at[b].kind == BLOCK_SUPERKERNEL)
                return (struct chosen){&module->graphs.at[g], b};
    return (struct chosen){NULL, NONE};
}

/* The op that an item of the graph is; NULL where it is none of the super kernel. */
static const struct op *op_inside(const struct chosen *chosen, uint32_t item)
{
    const struct graph *graph = chosen->graph;
    if (item_kind(graph->body.at[item]) != ITEM_OP)
        return NULL;
    const struct op *op = &graph->ops.at[item_id(graph->body.at[item])];
    return graph_superkernel(graph, op->block) == chosen->block ? op : NULL;
}

/* The label of an op's stream; NONE: the default one. */
static uint32_t stream_of(const struct graph *graph, const struct op *op)
{
    uint32_t block = graph_enclosing(graph, op->block, BLOCK_STREAM);
    return block == NONE ? NONE : stream_label(graph->blocks.at[block].name);
}

static const struct attr *json_attr(const struct module *module, const struct kernel *kernel)
{
    const struct attr *attr = attr_find(module, kernel->attrs, W__json);
    return attr && attr->value.kind == ATTR_STRING ? attr : NULL;
}

/* Whether a name is a number up to `most` as decimals are written, so that it can be read back. */
static bool is_number(const struct module *module, uint32_t name, uint64_t most, uint64_t *number)
{
    const struct intern_name *n = &module->names.names[name];
    *number = 0;
    for (size_t i = 0; i < n->size; i++) {
        if (n->text[i] < '0' || n->text[i] > '9')
            return false;
        *number = *number * 10 + (uint64_t)(n->text[i] - '0');
    }
    return n->size > 0 && n->size < 20 && (n->size == 1 || n->text[0] != '0') && *number <= most;
}

/* ---------------------------------------------------------------------------- fitting ---- */

struct fits {
    const struct module *module;
    struct diags *diags;
    struct chosen chosen;
};

static struct span op_span(const struct fits *fits, const struct op *op)
{
    return locate_token(fits->module, op->loc);
}

/* Paths and options are strings of JSON. */
static void check_utf8(struct fits *fits, const char *what, const struct attr *attr)
{
    if (!attr || attr->value.kind != ATTR_STRING)
        return;
    const struct intern_name *name = &fits->module->names.names[attr->value.id];
    if (utf8_well_formed(name->text, name->size) < name->size)
        diag_at(fits->diags, DIAG_not_exported, locate_token(fits->module, attr->loc),
                "%s is not UTF-8, which kernel-info wants", what);
}

static void check_kernel(struct fits *fits, const struct op *op)
{
    const struct module *module = fits->module;
    struct span span = op_span(fits, op);
    if (op->kernel == NONE) {
        diag_at(fits->diags, DIAG_not_exported, span,
                "nothing says which kernel this op calls ('via'), and kernel-info is a list of "
                "kernels");
        return;
    }
    const struct kernel *kernel = module_find_kernel(module, op->kernel);
    const struct attr *json = kernel ? json_attr(module, kernel) : NULL;
    if (json)
        check_utf8(fits, "the path of the kernel's metadata", json);
    else if (diag_at(fits->diags, DIAG_not_exported, span,
                     "the kernel '@%.*s' of this op has no metadata for kernel-info to name",
                     NAME(module, op->kernel)))
        diag_help(fits->diags, "a kernel that is imported has their path in '_json'");
    if (json)
        check_utf8(fits, "the path of the kernel's object",
                   attr_find(module, kernel->attrs, W_object));
}

static void check_events(struct fits *fits, const struct op *op, struct range events)
{
    uint64_t number;
    for (uint32_t i = 0; i < events.count; i++) {
        uint32_t event = fits->chosen.graph->refs.at[events.first + i];
        if (!is_number(fits->module, event, INT64_MAX, &number))
            diag_at(fits->diags, DIAG_not_exported, op_span(fits, op),
                    "the event '%.*s' of this op is no number, which kernel-info wants",
                    NAME(fits->module, event));
    }
}

static void check_op(struct fits *fits, const struct op *op)
{
    const struct graph *graph = fits->chosen.graph;
    const struct clauses *clauses = op_clauses(graph, op);
    uint32_t stream = stream_of(graph, op);
    uint64_t number;
    check_kernel(fits, op);
    /* A request has one workspace of an op, and says the length of everything. */
    const struct attr *workspaces = op_address_list(fits->module, op, W_workspace);
    if (workspaces && workspaces->value.count > 1)
        diag_at(fits->diags, DIAG_not_exported, locate_token(fits->module, workspaces->loc),
                "kernel-info has one workspace of an op");
    if (stream != NONE && !is_number(fits->module, stream, UINT32_MAX, &number))
        diag_at(fits->diags, DIAG_not_exported, op_span(fits, op),
                "the stream \"%.*s\" of this op is no number, which kernel-info wants",
                NAME(fits->module, stream));
    check_events(fits, op, clauses->send);
    check_events(fits, op, clauses->recv);
}

static void check_block(struct fits *fits)
{
    const struct block *block = &fits->chosen.graph->blocks.at[fits->chosen.block];
    uint32_t n_ops = 0;
    if (block->send.count + block->recv.count)
        diag_at(fits->diags, DIAG_not_exported, locate_token(fits->module, block->loc),
                "kernel-info has events of ops, and none of the super kernel as a whole");
    check_utf8(fits, "the text of the options", attr_find(fits->module, block->attrs, W_options));
    for (uint32_t i = 0; i < fits->chosen.graph->body.count; i++) {
        const struct op *op = op_inside(&fits->chosen, i);
        if (op)
            check_op(fits, op);
        n_ops += op != NULL;
    }
    if (n_ops == 0)
        diag_at(fits->diags, DIAG_not_exported, locate_token(fits->module, block->loc),
                "this super kernel has no op, and kernel-info is a list of them");
}

bool exchange_fits_kernel_info(const struct module *module, struct diags *diags)
{
    struct fits fits = {module, diags, find_superkernel(module, NULL)};
    uint32_t errors = diags->counts[SEVERITY_ERROR];
    if (!fits.chosen.graph) {
        diag_at(diags, DIAG_not_exported, no_span,
                "there is no super kernel, and kernel-info is one");
        return false;
    }
    struct chosen second = find_superkernel(module, &fits.chosen);
    if (second.graph) { /* what keeps which of them from being exported is not the question then */
        diag_at(diags, DIAG_not_exported,
                locate_token(module, second.graph->blocks.at[second.block].loc),
                "kernel-info is one super kernel, and '@%.*s' is another",
                NAME(module, second.graph->blocks.at[second.block].name));
        return false;
    }
    check_block(&fits);
    return diags->counts[SEVERITY_ERROR] == errors;
}

/* ---------------------------------------------------------------------------- writing ---- */

struct writer {
    struct pieces pieces;
    struct json json;
    const struct module *module;
    struct chosen chosen;
};

static void put_name(struct writer *writer, const char *key, uint32_t name)
{
    const struct intern_name *n = &writer->module->names.names[name];
    json_add_bytes(&writer->json, key, n->text, n->size);
}

static void put_events(struct writer *writer, const char *key, struct range events)
{
    uint64_t number;
    json_key(&writer->json, key);
    json_open_array(&writer->json);
    for (uint32_t i = 0; i < events.count; i++)
        if (is_number(writer->module, writer->chosen.graph->refs.at[events.first + i], INT64_MAX,
                      &number))
            json_unsigned(&writer->json, number);
    json_close_array(&writer->json);
}

static void put_place(struct writer *writer, uint32_t param, const struct attr_value *element,
                      uint32_t type, const char *access)
{
    struct address address;
    if (address_read(writer->module, element, type, &address) != ADDRESS_KNOWN)
        return;
    const struct intern_name *name = &writer->module->names.names[param];
    json_key_bytes(&writer->json, name->text, name->size);
    json_open_object(&writer->json);
    if (address.buffer != NONE)
        put_name(writer, "buffer", address.buffer);
    json_add_unsigned(&writer->json, "offset", (uint64_t)address.low);
    json_add_unsigned(&writer->json, "bytes", (uint64_t)(address.high - address.low));
    json_add_string(&writer->json, "access", access);
    json_close_object(&writer->json);
}

/* What the op says of its operands, and of its workspace: results and parameters of the graph are
 * none of a request's. */
static void put_memory(struct writer *writer, const struct op *op, const struct kernel *kernel)
{
    const struct module *module = writer->module;
    const struct graph *graph = writer->chosen.graph;
    uint32_t n_tensors = kernel_n_tensors(module, kernel);
    if (!attr_find(module, op->attrs, W_address) || n_tensors == NONE)
        return;
    json_key(&writer->json, "memory");
    json_open_object(&writer->json);
    for (uint32_t place = 0; place < op_n_places(graph, op) && place < n_tensors; place++) {
        struct operand operand = op_operand(graph, op, place);
        if (operand.kind != OPERAND_VALUE)
            continue;
        uint32_t value = graph->refs.at[operand.values.first];
        put_place(writer, kernel_tensor(module, kernel, place),
                  op_operand_address(module, graph, op, place, 0), graph->values.at[value].type,
                  op_writes(module, graph, op, value) ? "write" : "read");
    }
    put_place(writer, W_workspace, op_workspace_address(module, op, 0), NONE, "write");
    json_close_object(&writer->json);
}

static void put_op(struct writer *writer, const struct op *op)
{
    const struct module *module = writer->module;
    const struct graph *graph = writer->chosen.graph;
    const struct kernel *kernel = module_find_kernel(module, op->kernel);
    uint32_t stream = stream_of(graph, op), object = attr_string(module, kernel->attrs, W_object);
    uint64_t number = 0;
    if (stream != NONE)
        is_number(module, stream, UINT32_MAX, &number);
    json_line(&writer->json);
    json_open_object(&writer->json);
    json_add_unsigned(&writer->json, "stream_id", number);
    if (object != NONE)
        put_name(writer, "bin_path", object);
    put_name(writer, "json_path", json_attr(module, kernel)->value.id);
    put_events(writer, "send_event_list", op_clauses(graph, op)->send);
    put_events(writer, "recv_event_list", op_clauses(graph, op)->recv);
    json_add_string(&writer->json, "task_type",
                    kernel_is_dynamic(module, kernel) ? "dynamic" : "normal");
    put_memory(writer, op, kernel);
    json_close_object(&writer->json);
}

bool exchange_write_kernel_info(struct print_sink *sink, const struct module *module)
{
    struct writer writer = {
        .pieces = {.sink = sink}, .module = module, .chosen = find_superkernel(module, NULL)};
    assert(writer.chosen.graph);
    writer.json.text = &writer.pieces.text;
    json_open_object(&writer.json);
    const struct graph *graph = writer.chosen.graph;
    uint32_t options = attr_string(module, graph->blocks.at[writer.chosen.block].attrs, W_options);
    if (options == NONE)
        json_add_string(&writer.json, "super_kernel_options", "");
    else
        put_name(&writer, "super_kernel_options", options);
    json_key(&writer.json, "op_list");
    json_open_array(&writer.json);
    for (uint32_t i = 0; i < graph->body.count && pieces_next(&writer.pieces); i++) {
        const struct op *op = op_inside(&writer.chosen, i);
        if (op)
            put_op(&writer, op);
    }
    json_close_array(&writer.json);
    json_close_object(&writer.json);
    text_char(&writer.pieces.text, '\n');
    return pieces_end(&writer.pieces);
}
