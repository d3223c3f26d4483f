#include "passes/declared_kernels.h"
#include "ir/calls.h"
#include "ir/op_types.h"
#include "ir/operands.h"
#include "ir/order.h"
#include "ir/syntax/locate.h"
#include "ir/variants.h"

enum { SEVERAL = NONE - 1, NOT_DECLARED = NONE - 2 };

struct declared {
    struct module *module;
    struct diags *diags;
    struct vec_u32 kernels; /* indices of those that say `op` */
    /* By op type, once it was looked for: the index of its kernel, or one of the above. The second
     * is for ops that want a dynamic kernel. */
    struct id_map found[2];
};

/* ----------------------------------------------------------------------------- looking ---- */

static void find_kernels(struct declared *declared)
{
    const struct module *module = declared->module;
    for (uint32_t i = 0; i < module->kernels.count; i++)
        if (attr_string(module, module->kernels.at[i].attrs, W_op) != NONE)
            vec_push(&declared->kernels, i);
}

/* Whether a kernel is for ops of a type, dynamic or not. */
static bool is_for(const struct declared *declared, uint32_t kernel, uint32_t op_type, bool dynamic)
{
    const struct module *module = declared->module;
    const struct kernel *declaration = &module->kernels.at[kernel];
    return kernel_is_dynamic(module, declaration) == dynamic &&
           op_type_agrees(module, attr_string(module, declaration->attrs, W_op), op_type);
}

static uint32_t look_up(const struct declared *declared, uint32_t op_type, bool dynamic)
{
    uint32_t found = NOT_DECLARED;
    for (uint32_t i = 0; i < declared->kernels.count; i++)
        if (is_for(declared, declared->kernels.at[i], op_type, dynamic))
            found = found == NOT_DECLARED ? declared->kernels.at[i] : SEVERAL;
    return found;
}

static uint32_t find_kernel(struct declared *declared, uint32_t op_type, bool dynamic)
{
    uint32_t *found = id_map_at(&declared->found[dynamic], op_type);
    if (*found == NONE)
        *found = look_up(declared, op_type, dynamic);
    return *found;
}

/* --------------------------------------------------------------------------- reporting ---- */

/* Whether the kernel has as many parameters as the op has tensors. */
static bool takes_op(const struct module *module, const struct graph *graph, const struct op *op,
                     uint32_t kernel)
{
    uint32_t tensors = kernel_n_tensors(module, &module->kernels.at[kernel]);
    return tensors == NONE ||
           tensors == op_n_places(graph, op) + op_tensor_results(module, graph, op);
}

/* "'via @a' or 'via @b'": of those that take the op, or if none does, of all. */
static void add_choices(const struct declared *declared, const struct graph *graph,
                        const struct op *op, bool dynamic, struct text *text)
{
    const struct module *module = declared->module;
    for (int all = 0; all < 2 && text->size == 0; all++)
        for (uint32_t i = 0; i < declared->kernels.count; i++) {
            uint32_t kernel = declared->kernels.at[i];
            if (is_for(declared, kernel, op->type, dynamic) &&
                (all || takes_op(module, graph, op, kernel)))
                text_printf(text, "%s'via @%.*s'", text->size ? " or " : "",
                            NAME(module, module->kernels.at[kernel].name));
        }
}

static bool report_several(struct declared *declared, const struct graph *graph,
                           const struct op *op, bool dynamic)
{
    const struct module *module = declared->module;
    struct text choices = {NULL, 0, 0};
    if (!diag_at(declared->diags, DIAG_op_kernel, locate_op(module, op, OP_TYPE_NAME, 0),
                 "several kernels are for '%.*s': the op must say which one it runs",
                 NAME(module, op->type)))
        return false;
    for (uint32_t i = 0; i < declared->kernels.count; i++)
        if (is_for(declared, declared->kernels.at[i], op->type, dynamic))
            diag_note(declared->diags,
                      locate_name(module, module->kernels.at[declared->kernels.at[i]].loc),
                      "one is declared here");
    add_choices(declared, graph, op, dynamic, &choices);
    diag_help(declared->diags, "write %.*s behind its types", (int)choices.size, choices.at);
    text_free(&choices);
    return false;
}

/* ----------------------------------------------------------------------------- binding ---- */

static bool bind_op(struct declared *declared, const struct graph *graph, struct op *op,
                    uint32_t *bound)
{
    bool dynamic = attr_flag(declared->module, op->attrs, W_dynamic);
    uint32_t kernel = find_kernel(declared, op->type, dynamic);
    if (kernel == SEVERAL)
        return report_several(declared, graph, op, dynamic);
    if (kernel == NOT_DECLARED)
        return true;
    op->kernel = declared->module->kernels.at[kernel].name;
    ++*bound;
    return true;
}

bool declared_kernels_bind(struct pass_context *context, uint32_t *bound)
{
    struct module *module = context->module;
    struct declared declared = {.module = module, .diags = context->diags};
    bool ok = true;
    find_kernels(&declared);
    for (uint32_t g = 0; declared.kernels.count && g < module->graphs.count; g++) {
        struct graph *graph = &module->graphs.at[g];
        for (uint32_t i = 0; i < graph->ops.count; i++) {
            struct op *op = &graph->ops.at[i];
            if (op->kernel == NONE && op_call_kind(op) == CALL_NONE &&
                !op_is_passive(module, graph, op))
                ok = bind_op(&declared, graph, op, bound) && ok;
        }
    }
    vec_free(&declared.kernels);
    id_map_free(&declared.found[0]);
    id_map_free(&declared.found[1]);
    return ok;
}
