#include "passes/lower/kernel_binding.h"

#include "ir/analysis/block_rules.h"
#include "ir/analysis/dep_graph.h"
#include "ir/core/attr.h"
#include "ir/core/calls.h"
#include "ir/core/kernel.h"
#include "ir/core/operands.h"
#include "ir/optypes/op_types.h"
#include "ir/shapes/gears.h"
#include "ir/support/file_fault.h"
#include "ir/syntax/locate.h"

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

/* Whether a kernel is for ops of a type, dynamic or not. */
static bool is_for(const struct declared *declared, uint32_t kernel, uint32_t op_type, bool dynamic)
{
    const struct module *module = declared->module;
    const struct kernel *declaration = &module->kernels.at[kernel];
    return kernel_is_dynamic(module, declaration) == dynamic &&
           op_type_agrees(module, attr_string(module, declaration->attrs, W_op), op_type);
}

static uint32_t find_kernel(struct declared *declared, uint32_t op_type, bool dynamic)
{
    uint32_t *found = id_map_at(&declared->found[dynamic], op_type);
    if (*found != NONE)
        return *found;
    *found = NOT_DECLARED;
    for (uint32_t i = 0; i < declared->kernels.count; i++)
        if (is_for(declared, declared->kernels.at[i], op_type, dynamic))
            *found = *found == NOT_DECLARED ? declared->kernels.at[i] : SEVERAL;
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

bool declared_kernels_bind(struct pass_context *context, uint32_t *bound)
{
    struct module *module = context->module;
    struct declared declared = {.module = module, .diags = context->diags};
    bool ok = true;
    for (uint32_t i = 0; i < module->kernels.count; i++)
        if (attr_string(module, module->kernels.at[i].attrs, W_op) != NONE)
            vec_push(&declared.kernels, i);
    for (uint32_t g = 0; declared.kernels.count && g < module->graphs.count; g++) {
        struct graph *graph = &module->graphs.at[g];
        for (uint32_t i = 0; i < graph->ops.count; i++) {
            struct op *op = &graph->ops.at[i];
            if (op->kernel != NONE || op_call_kind(op) != CALL_NONE ||
                op_is_passive(module, graph, op))
                continue;
            bool dynamic = attr_flag(module, op->attrs, W_dynamic);
            uint32_t kernel = find_kernel(&declared, op->type, dynamic);
            if (kernel == SEVERAL)
                ok = report_several(&declared, graph, op, dynamic);
            if (kernel == SEVERAL || kernel == NOT_DECLARED)
                continue;
            op->kernel = module->kernels.at[kernel].name;
            ++*bound;
        }
    }
    vec_free(&declared.kernels);
    id_map_free(&declared.found[0]);
    id_map_free(&declared.found[1]);
    return ok;
}

struct sizer {
    struct pass_context *context;
    struct module *module;
    /* By the name id of "KERNEL.BLOCKS": the copy. */
    struct id_map copies;
};

/* ----------------------------------------------------------------------------- reports ---- */

static bool sample_block_check(const struct module *module, const struct kernel *kernel,
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
        struct attr block = *attr_find(module, kernel.attrs, W_block);
        block.value = (struct attr_value){.kind = ATTR_INT, .i = blocks};
        struct range attrs = attrs_with(module, kernel.attrs, block);
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

static struct attr word_attr(uint32_t key, enum attr_kind kind, uint32_t id)
{
    return (struct attr){key, NONE, {.kind = kind, .id = id}};
}

static struct attr int_attr(uint32_t key, int64_t i)
{
    return (struct attr){key, NONE, {.kind = ATTR_INT, .i = i}};
}

/* The functions that there are, as attributes `aic` and `aiv`. */
static uint32_t function_attrs(struct module *module, const char *const *functions,
                               struct attr *attrs)
{
    uint32_t count = 0;
    for (int core = 0; core < CORE_TYPES; core++)
        if (functions[core])
            attrs[count++] = word_attr(core == CORE_AIC ? W_aic : W_aiv, ATTR_STRING,
                                       module_name(module, functions[core]));
    return count;
}

static struct attr function_attr(struct module *module, const struct library_kernel *sample)
{
    struct attr parts[CORE_TYPES];
    uint32_t count = function_attrs(module, sample->functions, parts);
    if (count == 1)
        return word_attr(W_function, ATTR_STRING, parts[0].value.id);
    struct range range = module_add_attrs(module, parts, count);
    return (struct attr){
        W_function, NONE, {.kind = ATTR_DICT, .count = count, .first = range.first}};
}

static struct attr variants_attr(struct module *module, const struct library_kernel *sample)
{
    struct attr_value *dicts = mem_calloc(sample->n_variants, sizeof *dicts);
    for (uint32_t i = 0; i < sample->n_variants; i++) {
        const struct library_variant *variant = &sample->variants[i];
        struct attr attrs[2 + CORE_TYPES] = {
            int_attr(W_key, variant->key),
            word_attr(W_type, ATTR_WORD,
                      module_name(module, kernel_type_info(variant->type)->name)),
        };
        uint32_t count = 2 + function_attrs(module, variant->functions, attrs + 2);
        struct range range = module_add_attrs(module, attrs, count);
        dicts[i] =
            (struct attr_value){.kind = ATTR_DICT, .count = range.count, .first = range.first};
    }
    struct range range = module_add_values(module, dicts, sample->n_variants);
    mem_free(dicts);
    return (struct attr){
        W_variants, NONE, {.kind = ATTR_LIST, .count = range.count, .first = range.first}};
}

static struct attr params_attr(struct module *module, const struct library_kernel *sample)
{
    struct attr_value *words = mem_calloc(sample->n_params, sizeof *words);
    for (uint32_t i = 0; i < sample->n_params; i++)
        words[i] =
            (struct attr_value){.kind = ATTR_WORD, .id = module_name(module, sample->params[i])};
    struct range range = module_add_values(module, words, sample->n_params);
    mem_free(words);
    return (struct attr){
        W_params, NONE, {.kind = ATTR_LIST, .count = range.count, .first = range.first}};
}

uint32_t sample_block(const struct module *module, const struct library_kernel *sample)
{
    if (sample->block_rule && !sample->n_variants)
        return 0;
    uint32_t most = module_blocks(module, sample->type);
    uint32_t block = sample->block < most ? sample->block : most;
    return block ? block : 1;
}

uint32_t sample_declare(struct module *module, const struct library_kernel *sample, uint32_t blocks,
                        struct diags *diags, bool *ill_described)
{
    uint32_t op_type = module_name(module, sample->op_type);
    uint32_t name = module_free_symbol(module, module_name(module, sample->name), ".");
    bool dynamic = sample->n_variants > 0;
    struct attr attrs[6] = {
        word_attr(W_op, ATTR_STRING, op_type),
        dynamic  ? (struct attr){W_dynamic, NONE, {.kind = ATTR_BOOL, .i = 1}}
        : blocks ? int_attr(W_block, blocks)
                 : word_attr(W_block, ATTR_STRING, module_name(module, sample->block_rule)),
        word_attr(W_object, ATTR_STRING, module_name(module, sample->object)),
        dynamic ? variants_attr(module, sample) : function_attr(module, sample),
        params_attr(module, sample),
    };
    uint32_t count = 5;
    if (sample->workspace_per_element)
        attrs[count++] = int_attr(W_workspace_per_element, sample->workspace_per_element);
    struct range range = module_add_attrs(module, attrs, count);
    struct kernel *kernel = module_add_kernel(module, name, sample->type);
    kernel->attrs = range;
    if (!sample_block_check(module, kernel, sample, diags))
        *ill_described = true;
    return name;
}

/* Operands that are given by name, or left out. */

/* Whether each label is the name of one of the kernel's `operands` first tensors that no operand
 * without a label is. */
static bool labels_fit(struct diags *diags, const struct module *module, const struct graph *graph,
                       const struct op *op, uint32_t operands)
{
    const struct kernel *kernel = module_kernel(module, op->kernel);
    uint32_t unlabelled = op_n_unlabelled(graph, op);
    for (uint32_t place = unlabelled; place < op_n_places(graph, op); place++) {
        uint32_t n = unlabelled, label = op_operand(graph, op, place).label;
        while (n < operands && kernel_tensor(module, kernel, n) != label)
            n++;
        if (n < operands)
            continue;
        if (diag_at(diags, DIAG_operand_label, locate_op(module, op, OP_LABEL, place),
                    "no operand of %.*s that is not given yet is '%.*s'", NAME(module, op->type),
                    NAME(module, label))) {
            struct suggest suggest = name_suggest(module, label);
            for (n = unlabelled; n < operands; n++)
                name_offer(&suggest, module, kernel_tensor(module, kernel, n));
            diag_suggest(diags, &suggest);
        }
        return false;
    }
    return true;
}

/* Whether a parameter is a word that no op gives. */
static bool is_word(const char *param)
{
    switch (param[0]) {
    case 't': return strcmp(param, "tiling") == 0;
    case 'w': return strcmp(param, "workspace") == 0;
    default: return false;
    }
}

/* What an op gives for the n-th tensor of a sample kernel. */
static char tensor_presence(const struct library_kernel *sample, uint32_t n)
{
    for (uint32_t i = 0;; i++)
        if (!is_word(sample->params[i]) && n-- == 0)
            return sample->presences[i];
}

/* Makes operands that are left out `none`, or `[]`. What is not optional must be there; where no
 * operand has a label, their number is wrong, which is the library's to refuse. */
static bool fill_operands(struct diags *diags, const struct module *module, struct graph *graph,
                          uint32_t id, uint32_t operands, const struct library_kernel *sample)
{
    const struct op *op = &graph->ops.at[id];
    const struct kernel *kernel = module_kernel(module, op->kernel);
    uint32_t unlabelled = op_n_unlabelled(graph, op);
    bool labels = unlabelled < op_n_places(graph, op);
    for (uint32_t n = unlabelled; n < operands; n++) {
        uint32_t param = kernel_tensor(module, kernel, n);
        if (labels && op_find_label(graph, op, param) != NONE)
            continue;
        char presence = tensor_presence(sample, n);
        if (presence != PARAM_OPTIONAL && presence != PARAM_LISTED_OPTIONAL) {
            if (labels)
                diag_at(diags, DIAG_operand_count, locate_op(module, op, OP_TYPE_NAME, 0),
                        "%.*s needs its operand '%.*s'", NAME(module, op->type),
                        NAME(module, param));
            return !labels;
        }
        op_add_absent(graph, id, labels ? param : NONE,
                      presence == PARAM_OPTIONAL ? OPERAND_NONE : OPERAND_LIST);
    }
    return true;
}

bool operands_complete(struct diags *diags, const struct module *module, struct graph *graph,
                       uint32_t id, const struct library_kernel *sample)
{
    const struct op *op = &graph->ops.at[id];
    const struct kernel *kernel = module_kernel(module, op->kernel);
    uint32_t results = op_tensor_results(module, graph, op);
    uint32_t operands = kernel_n_tensors(module, kernel);
    operands -= results < operands ? results : operands;
    if (op_has_forms(graph, op) && !labels_fit(diags, module, graph, op, operands))
        return false;
    if (!attr_find(module, op->attrs, W_address)) /* it counts the operands */
        while (op_n_given(graph, op, operands) < op_n_places(graph, op))
            op_drop_absent(graph, id);
    return op_n_places(graph, op) >= operands ||
           fill_operands(diags, module, graph, id, operands, sample);
}

/* An op that calls graphs needs no kernel, but cannot be in a super kernel. A passive
 * one needs none. */
static bool op_is_bound(const struct module *module, const struct graph *graph, const struct op *op)
{
    return op_call_kind(op) == CALL_NONE ? op->kernel != NONE || op_is_passive(module, graph, op)
                                         : graph_superkernel(graph, op->block) == NONE;
}

bool ops_are_bound(const struct module *module)
{
    for (uint32_t i = 0; i < module->graphs.count; i++)
        for (uint32_t j = 0; j < module->graphs.at[i].ops.count; j++)
            if (!op_is_bound(module, &module->graphs.at[i], &module->graphs.at[i].ops.at[j]))
                return false;
    return true;
}
