#include "frontend/exchange/dump/stubs.h"
#include "frontend/exchange/dump/samples.h"
#include "ir/calls.h"
#include "ir/gears.h"
#include "ir/op_types.h"
#include "ir/stub_kernels.h"

#include <string.h>

struct stubs {
    struct dump *dump;
    struct module *module;
    struct dump_samples samples;
    struct id_map kernels; /* by op type: the name of its stub */
};

/* Passive ops execute nothing, views neither, and those that call graphs are no kernels. */
static bool needs_kernel(const struct stubs *stubs, const struct op *op)
{
    const struct op_type *type = op_type_find(stubs->module, op->type);
    bool known = type && !attr_flag(stubs->module, op->attrs, W__unchecked);
    return op->kernel == NONE && op_call_kind(op) == CALL_NONE &&
           !(known && (type->passive || type->view));
}

/* The first op of a stub. An unknown type, and an op that contradicts its type, need no remark. */
static void report(const struct stubs *stubs, const struct op *op)
{
    if (stubs->dump->options->library && op_type_find(stubs->module, op->type) &&
        !attr_flag(stubs->module, op->attrs, W__unchecked))
        diag_at(stubs->dump->diags, DIAG_no_sample_kernel,
                source_token(stubs->dump->source, op->loc),
                "%.*s gets a stub: no sample kernel takes these operands",
                NAME(stubs->module, op->type));
}

static void bind(struct stubs *stubs, struct op *op)
{
    uint32_t *kernel = id_map_at(&stubs->kernels, op->type);
    if (*kernel == NONE) {
        *kernel = stub_kernel_declare(stubs->module, op->type);
        report(stubs, op);
    }
    op->kernel = *kernel;
}

/* The first combination of the graph's gears decides which ops have sample kernels: gives its
 * values their types there. Returns the values' own types, in the dump's arena. */
static uint32_t *bind_gears(struct stubs *stubs, struct graph *graph)
{
    struct module *module = stubs->module;
    uint32_t count = graph->values.count;
    int64_t *row = arena_alloc(&stubs->dump->arena, graph->gears.count * sizeof *row);
    uint32_t *types = arena_alloc(&stubs->dump->arena, count * sizeof *types);
    for (uint32_t i = 0; i < graph->gears.count; i++)
        row[i] = graph->gear_values.at[graph->gears.at[i].values.first];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = types[i] = graph->values.at[i].type;
        int64_t dims[MAX_RANK];
        if (id == NONE || module->types.at[id].rank > MAX_RANK)
            continue;
        struct type type = module->types.at[id];
        for (uint32_t d = 0; d < type.rank; d++)
            dims[d] = gear_row_dim(module, graph, row, type_dims(module, id)[d]);
        graph->values.at[i].type =
            module_type(module, (enum dtype)type.dtype, type.format, dims, type.rank);
    }
    return types;
}

/* In the text kernels stand before the graphs whose ops they are of. */
static void put_kernels_first(struct module *module)
{
    uint64_t *order = mem_calloc(module->order.count + 1, sizeof *order);
    uint32_t n = 0;
    for (int graphs = 0; graphs < 2; graphs++)
        for (uint32_t i = 0; i < module->order.count; i++)
            if ((order_kind(module->order.at[i]) == SYMBOL_GRAPH) == graphs)
                order[n++] = module->order.at[i];
    if (n)
        memcpy(module->order.at, order, n * sizeof *order);
    mem_free(order);
}

void dump_add_stubs(struct dump *dump)
{
    struct stubs stubs = {.dump = dump, .module = dump->module};
    dump_samples_init(&stubs.samples, dump->module, dump->source, dump->options->library);
    for (uint32_t g = 0; g < dump->module->graphs.count; g++) {
        struct graph *graph = &dump->module->graphs.at[g];
        const uint32_t *types = graph->gears.count ? bind_gears(&stubs, graph) : NULL;
        for (uint32_t i = 0; i < graph->ops.count; i++) {
            struct op *op = &graph->ops.at[i];
            if (needs_kernel(&stubs, op) && !dump_samples_take(&stubs.samples, graph, op))
                bind(&stubs, op);
        }
        for (uint32_t i = 0; types && i < graph->values.count; i++)
            graph->values.at[i].type = types[i];
    }
    put_kernels_first(dump->module);
    dump_samples_free(&stubs.samples);
    id_map_free(&stubs.kernels);
}
