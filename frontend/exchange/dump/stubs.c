#include "frontend/exchange/dump/stubs.h"
#include "frontend/exchange/dump/samples.h"
#include "ir/calls.h"
#include "ir/op_types.h"

#include <string.h>

/* What runs on cubes: families of the op data, and parts of the names of other types. */
static const struct {
    const char *family, *part;
    enum kernel_type type;
} rules[] = {
    {"attention", "Attention", KERNEL_mix_aic_1_2},
    {"matrix", "MatMul", KERNEL_aic_only},
    {"", "Matmul", KERNEL_aic_only},
    {"", "matmul", KERNEL_aic_only},
    {"", "Gemm", KERNEL_aic_only},
    {"", "Conv", KERNEL_aic_only},
};

struct stubs {
    struct dump *dump;
    struct module *module;
    struct dump_samples samples;
    struct id_map kernels; /* by op type: the name of its stub */
    struct arena arena;
};

static enum kernel_type kernel_type_of(struct stubs *stubs, uint32_t name)
{
    const struct op_type *known = op_type_find(stubs->module, name);
    const char *text = name_text(stubs->module, name, &stubs->arena);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if ((known && strcmp(known->family, rules[i].family) == 0) || strstr(text, rules[i].part))
            return rules[i].type;
    return KERNEL_aiv_only;
}

static struct attr word(uint32_t key, uint32_t kind, int64_t i, uint32_t id)
{
    struct attr attr = {key, NONE, {.kind = kind, .i = i}};
    if (kind == ATTR_STRING)
        attr.value.id = id;
    return attr;
}

static uint32_t declare(struct stubs *stubs, uint32_t op_type)
{
    struct module *module = stubs->module;
    /* A type may be the empty word, a kernel's name may not. */
    uint32_t base = module->names.names[op_type].size ? op_type : module_name(module, "op");
    uint32_t name = module_free_symbol(module, base, ".");
    enum kernel_type type = kernel_type_of(stubs, op_type);
    uint32_t blocks = module_blocks(module, type);
    const struct attr attrs[] = {
        word(W_op, ATTR_STRING, 0, op_type),
        word(W_block, ATTR_INT, blocks ? blocks : 1, 0),
        word(W_stub, ATTR_BOOL, 1, 0),
    };
    struct range range = module_add_attrs(module, attrs, sizeof attrs / sizeof attrs[0]);
    struct kernel *kernel = module_add_kernel(module, name, type);
    kernel->attrs = range;
    kernel->loc = NONE;
    return name;
}

/* Passive ops execute nothing, views neither, and those that call graphs are no kernels. */
static bool needs_kernel(const struct stubs *stubs, const struct op *op)
{
    const struct op_type *type = op_type_find(stubs->module, op->type);
    bool known = type && !attr_flag(stubs->module, op->attrs, W__unchecked);
    return op->kernel == NONE && op_call_kind(op) == CALL_NONE &&
           !(known && (type->passive || type->view));
}

static void bind(struct stubs *stubs, struct op *op)
{
    uint32_t *kernel = id_map_at(&stubs->kernels, op->type);
    if (*kernel == NONE)
        *kernel = declare(stubs, op->type);
    op->kernel = *kernel;
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
        for (uint32_t i = 0; i < graph->ops.count; i++) {
            struct op *op = &graph->ops.at[i];
            if (needs_kernel(&stubs, op) && !dump_samples_take(&stubs.samples, graph, op))
                bind(&stubs, op);
        }
    }
    put_kernels_first(dump->module);
    dump_samples_free(&stubs.samples);
    id_map_free(&stubs.kernels);
    arena_free(&stubs.arena);
}
