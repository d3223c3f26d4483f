#include "passes/sized_kernels.h"
#include "ir/base/file_fault.h"
#include "ir/block_rules.h"
#include "ir/gears.h"
#include "ir/syntax/locate.h"

struct sizer {
    struct pass_context *context;
    struct module *module;
    /* By the name id of "KERNEL.BLOCKS": the copy. */
    struct id_map copies;
};

/* ----------------------------------------------------------------------------- reports ---- */

bool sample_block_check(const struct module *module, const struct kernel *kernel,
                        const struct library_kernel *sample, struct diags *diags)
{
    struct file_fault fault = {
        .path = sample->path, .span = sample->block_span, .at = sample->block_at};
    char error[MAX_BLOCK_RULE_ERROR];
    if (kernel_block_rule(module, kernel) == NONE || block_rule_check(module, kernel, error))
        return true;
    snprintf(fault.text, sizeof fault.text, "'blockDim' is no expression: %s", error);
    diag_fault(diags, DIAG_block_rule, &fault);
    return false;
}

static void note_rule(const struct sizer *sizer, const struct op *op)
{
    const struct kernel *kernel = module_kernel(sizer->module, op->kernel);
    const struct attr *block = attr_find(sizer->module, kernel->attrs, W_block);
    uint32_t loc = block->loc == NONE ? kernel->loc : block->loc;
    diag_note(sizer->context->diags, loc == NONE ? no_span : locate_token(sizer->module, loc),
              "the kernel says its blocks by '%.*s'", NAME(sizer->module, block->value.id));
}

/* The same op may stand in many combinations of gears, so it is told which graph this is. */
static bool report(const struct sizer *sizer, const struct graph *graph, const struct op *op,
                   const char *what)
{
    const struct module *module = sizer->module;
    if (diag_at(sizer->context->diags, DIAG_block_rule, locate_op(module, op, OP_TYPE_NAME, 0),
                "the number of blocks of '@%.*s' cannot be told for %.*s in '@%.*s': %s",
                NAME(module, op->kernel), NAME(module, op->type), NAME(module, graph->name), what))
        note_rule(sizer, op);
    return false;
}

static bool report_range(const struct sizer *sizer, const struct graph *graph, const struct op *op,
                         int64_t blocks, uint32_t most)
{
    const struct module *module = sizer->module;
    if (diag_at(sizer->context->diags, DIAG_block_rule, locate_op(module, op, OP_TYPE_NAME, 0),
                "%.*s in '@%.*s' needs %lld blocks of '@%.*s', but there can be 1 to %u",
                NAME(module, op->type), NAME(module, graph->name), (long long)blocks,
                NAME(module, op->kernel), most))
        note_rule(sizer, op);
    return false;
}

static bool report_entry(const struct sizer *sizer, const struct op *op)
{
    struct diags *diags = sizer->context->diags;
    if (diag_at(
            diags, DIAG_block_rule, locate_op(sizer->module, op, OP_TYPE_NAME, 0),
            "the blocks of '@%.*s' depend on shapes, but the entry of the super kernel is there "
            "already",
            NAME(sizer->module, op->kernel)))
        diag_help(diags, "entries call kernels with 'block = N'");
    return false;
}

/* ----------------------------------------------------------------------------- binding ---- */

static struct range attrs_with_block(struct module *module, struct range attrs, int64_t blocks)
{
    VEC(struct attr) copy = {NULL, 0, 0};
    for (uint32_t i = 0; i < attrs.count; i++) {
        vec_push(&copy, module->attrs.at[attrs.first + i]);
        if (copy.at[i].key == W_block)
            copy.at[i].value = (struct attr_value){.kind = ATTR_INT, .i = blocks};
    }
    struct range range = module_add_attrs(module, copy.at, copy.count);
    vec_free(&copy);
    return range;
}

/* The kernel with so many blocks, declared where it is not yet. */
static uint32_t sized_kernel(struct sizer *sizer, uint32_t name, int64_t blocks)
{
    struct module *module = sizer->module;
    uint32_t wanted =
        module_name_printf(module, "%.*s.%lld", NAME(module, name), (long long)blocks);
    uint32_t *copy = id_map_at(&sizer->copies, wanted);
    if (*copy == NONE) {
        *copy = module_free_symbol(module, wanted, ".");
        struct kernel kernel = *module_kernel(module, name);
        struct range attrs = attrs_with_block(module, kernel.attrs, blocks);
        module_add_kernel(module, *copy, kernel.type)->attrs = attrs;
    }
    return *copy;
}

static bool size_op(struct sizer *sizer, const struct graph *graph, struct op *op)
{
    char error[MAX_BLOCK_RULE_ERROR];
    int64_t blocks;
    uint32_t superkernel = graph_superkernel(graph, op->block);
    uint32_t most = module_blocks(sizer->module, module_kernel(sizer->module, op->kernel)->type);
    if (superkernel != NONE && block_entry(sizer->module, &graph->blocks.at[superkernel]))
        return report_entry(sizer, op);
    if (!block_rule_number(sizer->module, graph, op, &blocks, error))
        return report(sizer, graph, op, error);
    if (blocks < 1 || blocks > most)
        return report_range(sizer, graph, op, blocks, most);
    op->kernel = sized_kernel(sizer, op->kernel, blocks);
    return true;
}

bool sized_kernels_bind(struct pass_context *context, uint32_t *bound)
{
    struct module *module = context->module;
    struct sizer sizer = {.context = context, .module = module};
    bool ok = true, any = ops_have_block_rules(module);
    for (uint32_t i = 0; any && i < module->graphs.count; i++) {
        struct graph *graph = &module->graphs.at[i];
        gears_tell_copy(context->diags, module, graph);
        for (uint32_t j = 0; j < graph->ops.count; j++)
            if (op_has_block_rule(module, &graph->ops.at[j])) {
                ok = size_op(&sizer, graph, &graph->ops.at[j]) && ok;
                ++*bound;
            }
    }
    gears_tell_copy(context->diags, module, NULL);
    id_map_free(&sizer.copies);
    return ok;
}
