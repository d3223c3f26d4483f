#include "frontend/exchange/dump/stubs.h"
#include "frontend/exchange/dump/alike.h"
#include "ir/calls.h"
#include "ir/gears.h"
#include "ir/kernel_source.h"
#include "ir/op_types.h"
#include "ir/operands.h"
#include "ir/module.h"

#include <string.h>

/* -------------------------------------------------------------------- sample kernels ---- */

/* What is known of an op type: its kernel, and whether this takes the op that was asked for
 * last. */
struct sample {
    const struct library_kernel *kernel; /* NULL: there is none */
    uint32_t graph;                      /* the op's, by name; NONE: none was asked for */
    struct op op;
    bool fits;
};

struct samples {
    struct module *module;
    struct source *source;
    const struct kernel_source *library; /* NULL: no sample kernels */
    struct id_map types;                 /* by op type: index in `samples` */
    VEC(struct sample) samples;
    struct arena arena;
};

static void samples_init(struct samples *samples, struct module *module, struct source *source,
                         const struct kernel_source *library)
{
    *samples = (struct samples){.module = module, .source = source, .library = library};
}

static void samples_free(struct samples *samples)
{
    id_map_free(&samples->types);
    vec_free(&samples->samples);
    arena_free(&samples->arena);
}

/* How many parameters of a sample kernel are operands of an op; NONE if it has fewer results. */
static uint32_t count_operands(const struct library_kernel *kernel, uint32_t results)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < kernel->n_params; i++) {
        count += strcmp(kernel->params[i], "workspace") && strcmp(kernel->params[i], "tiling");
        if (kernel->presences[i] == PARAM_REPEATED)
            results = 1;
    }
    return results > count ? NONE : count - results;
}

static bool presence_fits(char presence, enum operand_kind kind)
{
    if (presence == PARAM_LISTED || presence == PARAM_LISTED_OPTIONAL)
        return kind == OPERAND_LIST;
    return kind == OPERAND_VALUE || (kind == OPERAND_NONE && presence == PARAM_OPTIONAL);
}

/* Whether the sample kernel takes the op's operands, in whatever dtypes. */
static bool operands_fit(const struct library_kernel *kernel, const struct module *module,
                         const struct graph *graph, const struct op *op)
{
    uint32_t operands = count_operands(kernel, op_tensor_results(module, graph, op));
    if (operands == NONE)
        return false;
    uint32_t places = op_n_given(graph, op, operands);
    if (places > operands)
        return false;
    for (uint32_t i = 0; i < operands; i++) {
        enum operand_kind kind = i < places ? op_operand(graph, op, i).kind : OPERAND_NONE;
        if (!presence_fits(kernel->presences[i], kind))
            return false;
    }
    return true;
}

static struct sample *sample_of(struct samples *samples, uint32_t type)
{
    uint32_t *index = id_map_at(&samples->types, type);
    if (*index == NONE) {
        const struct kernel_source *library = samples->library;
        const char *name = name_text(samples->module, type, &samples->arena);
        *index = samples->samples.count;
        vec_push(&samples->samples,
                 (struct sample){.kernel = library->find(library, name, false), .graph = NONE});
    }
    return &samples->samples.at[*index];
}

static bool same_results(const struct graph *graph, const struct op *a, const struct op *b)
{
    for (uint32_t i = 0; i < a->results.count; i++)
        if (graph->values.at[a->results.first + i].type !=
            graph->values.at[b->results.first + i].type)
            return false;
    return true;
}

static bool check(struct samples *samples, const struct library_kernel *kernel,
                  const struct graph *graph, const struct op *op)
{
    const struct kernel_source *library = samples->library;
    if (attr_flag(samples->module, op->attrs, W__unchecked) ||
        !operands_fit(kernel, samples->module, graph, op))
        return false;
    struct diags unheard;
    diags_init(&unheard, samples->source, NULL);
    bool fits = !library->check || library->check(samples->module, graph, op, &unheard);
    diags_free(&unheard);
    return fits;
}

/* Whether a sample kernel takes the op. */
static bool samples_take(struct samples *samples, const struct graph *graph, const struct op *op)
{
    struct sample *sample = samples->library ? sample_of(samples, op->type) : NULL;
    if (!sample || !sample->kernel)
        return false;
    if (sample->graph == graph->name && dump_ops_alike(samples->module, graph, &sample->op, op) &&
        same_results(graph, &sample->op, op))
        return sample->fits;
    sample->graph = graph->name;
    sample->op = *op;
    return sample->fits = check(samples, sample->kernel, graph, op);
}

/* ----------------------------------------------------------------------------- stubs ---- */

struct stubs {
    struct dump *dump;
    struct module *module;
    struct samples samples;
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
    samples_init(&stubs.samples, dump->module, dump->source, dump->options->library);
    for (uint32_t g = 0; g < dump->module->graphs.count; g++) {
        struct graph *graph = &dump->module->graphs.at[g];
        const uint32_t *types = graph->gears.count ? bind_gears(&stubs, graph) : NULL;
        for (uint32_t i = 0; i < graph->ops.count; i++) {
            struct op *op = &graph->ops.at[i];
            if (needs_kernel(&stubs, op) && !samples_take(&stubs.samples, graph, op))
                bind(&stubs, op);
        }
        for (uint32_t i = 0; types && i < graph->values.count; i++)
            graph->values.at[i].type = types[i];
    }
    put_kernels_first(dump->module);
    samples_free(&stubs.samples);
    id_map_free(&stubs.kernels);
}
