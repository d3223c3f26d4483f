/* bind-kernels: gives each op without `via` the kernel that is declared for its type, or else the
 * sample kernel of that, which it declares; writes out the calls of hand-written entries that name
 * no more than their op, or a sample kernel that is not declared.
 *
 * needs    nothing
 * changes  `via` of ops that have none, or whose kernel's blocks depend on shapes; optional
 *          operands that are left out become `none` or `[]`; kernels are added; `call %m` in
 *          entries, and arguments of those without
 * keeps    everything else
 */
#include "ir/analysis/dep_graph.h"
#include "ir/core/calls.h"
#include "ir/core/kernel.h"
#include "ir/core/module.h"
#include "ir/core/operands.h"
#include "ir/optypes/foreign_names.h"
#include "ir/optypes/op_types.h"
#include "ir/optypes/verified_ops.h"
#include "ir/shapes/gears.h"
#include "ir/support/diag.h"
#include "ir/support/file_fault.h"
#include "ir/support/parts.h"
#include "ir/syntax/locate.h"
#include "ir/verify/verify.h"
#include "passes/lower/kernel_binding.h"
#include "passes/lower/short_calls.h"
#include "passes/manager/pass.h"

/* A sample kernel that is declared with a number of blocks. */
struct sized_kernel {
    uint32_t op_type, blocks, name;
    bool dynamic;
};

/* A sample kernel for so many results, which are a parameter each. */
struct repeated_sample {
    const struct library_kernel *of;
    struct library_kernel *sample;
    uint32_t results;
};

struct bound_op {
    uint32_t graph, op;
};

struct binder {
    struct pass_context *context;
    struct module *module;
    /* By op type: its sample kernel once it was looked for, by its place in `samples`; its name
     * once it is declared. The second is for dynamic kernels. */
    struct id_map found[2], declared[2];
    VEC(const struct library_kernel *) samples; /* NULL: there is none */
    /* Those that have other numbers of blocks, as the entries of super kernels want them. */
    VEC(struct sized_kernel) sized;
    struct id_map undeclared; /* names of kernels that entries use */
    struct sample_uses uses;
    VEC(struct repeated_sample) repeated;
    struct id_map stubs; /* by op type */
    bool tiled;          /* an op that says something of its tiling was given its kernel */
    bool ill_described;  /* the `blockDim` of a description is no expression */
    /* Those that have a sample kernel now, which the library is to judge. */
    VEC(struct bound_op) bound;
    struct arena arena;
    bool refused; /* some of them; atomic */
};

static uint32_t declare(struct binder *binder, const struct library_kernel *sample, uint32_t blocks)
{
    return sample_declare(binder->module, sample, blocks, binder->context->diags,
                          &binder->ill_described);
}

/* The sample kernel of an op type; else that of the type which this is another name of. */
static const struct library_kernel *look_up(struct binder *binder, uint32_t op_type, bool dynamic)
{
    struct arena scratch = {NULL, 0};
    struct kernel_source *library = binder->context->library;
    const struct op_type *known = op_type_find(binder->module, op_type);
    const struct library_kernel *sample = NULL;
    if (library)
        sample = library->find(library, name_text(binder->module, op_type, &scratch), dynamic);
    if (library && !sample && known)
        sample = library->find(library, known->real, dynamic);
    arena_free(&scratch);
    return sample;
}

/* Whether a type, or the one that it is another name of, has a sample kernel. */
static bool has_kernel(struct binder *binder, const char *type, size_t size)
{
    struct kernel_source *library = binder->context->library;
    const struct op_type *known = op_types_find(binder->module->op_types, type, size);
    return library && known &&
           (library->find(library, known->name, false) ||
            library->find(library, known->real, false));
}

/* The type that is meant by one without a kernel: the same but for its case, what others call so,
 * else a similar one. */
static struct suggest similar_type(struct binder *binder, uint32_t type)
{
    const struct module *module = binder->module;
    struct kernel_source *library = binder->context->library;
    struct suggest suggest = name_suggest(module, type), none = suggest;
    const char *meant = meant_op_type(suggest.wanted, suggest.wanted_size);
    op_types_offer(module->op_types, &suggest);
    if (suggest.best && suggest.distance == 0 &&
        has_kernel(binder, suggest.best, suggest.best_size))
        return suggest;
    suggest = none;
    if (meant) {
        suggest.best = meant;
        suggest.best_size = strlen(meant);
    } else if (library && !op_type_find(module, type)) {
        library->offer(library, &suggest);
    }
    return suggest;
}

static void report_unknown(struct binder *binder, const struct op *op)
{
    const struct module *module = binder->module;
    struct diags *diags = binder->context->diags;
    if (!diag_at(diags, DIAG_unknown_op_type, locate_op(module, op, OP_TYPE_NAME, 0),
                 "there is no sample kernel for '%.*s'", NAME(module, op->type)))
        return;
    struct suggest suggest = similar_type(binder, op->type);
    diag_suggest(diags, &suggest);
    diag_help(diags, "an op with a kernel of your own names it: 'via @KERNEL'; a folder of them is "
                     "--kernel-dir=DIR; without code it has the flag 'stub'");
}

static const struct library_kernel *find_sample(struct binder *binder, uint32_t op_type,
                                                bool dynamic)
{
    uint32_t *place = id_map_at(&binder->found[dynamic], op_type);
    if (*place == NONE) {
        *place = binder->samples.count;
        vec_push(&binder->samples, look_up(binder, op_type, dynamic));
    }
    return binder->samples.at[*place];
}

/* An op that calls graphs has no kernel that an entry could call. */
static bool check_call(struct pass_context *context, const struct graph *graph, const struct op *op)
{
    if (graph_superkernel(graph, op->block) == NONE)
        return true;
    if (diag_at(context->diags, DIAG_unsupported, locate_op(context->module, op, OP_TYPE_NAME, 0),
                "an op that calls graphs cannot be in a super kernel"))
        diag_help(context->diags, "move it out of the super kernel, or run 'split-nonfusable'");
    return false;
}

/* ----------------------------------------------------------------- dimensions ---- */

/* Whether the type of an operand or result has names in its dimensions. */
static bool op_has_names(const struct module *module, const struct graph *graph,
                         const struct op *op)
{
    for (uint32_t n = 0; n < op->operands.count + op->results.count; n++) {
        uint32_t type = graph->values.at[op_tensor(graph, op, n)].type;
        const int64_t *dims = type_dims(module, type);
        for (uint32_t i = 0; i < type_n_dims(&module->types.at[type]); i++)
            if (dim_is_gear(dims[i]))
                return true;
    }
    return false;
}

static bool is_called(const struct module *module, const struct graph *graph)
{
    uint8_t *called = mem_calloc(module->graphs.count, 1);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        graph_mark_called(module, &module->graphs.at[i], called);
    bool is = called[graph - module->graphs.at];
    mem_free(called);
    return is;
}

static void report_unbound(struct binder *binder, const struct graph *graph, uint32_t name,
                           uint32_t loc)
{
    const struct module *module = binder->module;
    if (diag_at(binder->context->diags, DIAG_unsupported, locate_token(module, loc),
                "the dimension '%.*s' has no value, but sample kernels need one",
                NAME(module, name))) {
        diag_help(binder->context->diags,
                  "give it one by --bind %.*s=N of 'run', 'compile', 'check' or 'opt'",
                  NAME(module, name));
        if (module_has_cases(module) && is_called(module, graph))
            diag_help(binder->context->diags,
                      "combinations of gears give graphs that they call no values: write the ops "
                      "of this one in the graph that has the gears");
    }
}

/* Whether sample kernels can be asked for the ops of a graph: its dimensions have no names where
 * it matters. */
static bool check_names(struct binder *binder, const struct graph *graph)
{
    bool named = false;
    for (uint32_t i = 0; !named && i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        named = op->kernel == NONE && op_call_kind(op) == CALL_NONE &&
                !op_is_passive(binder->module, graph, op) &&
                op_has_names(binder->module, graph, op);
    }
    for (uint32_t i = 0; named && i < graph->dims.count; i++)
        report_unbound(binder, graph, graph->dims.at[i].name, graph->dims.at[i].loc);
    for (uint32_t i = 0; named && i < graph->gears.count; i++)
        report_unbound(binder, graph, graph->gears.at[i].name, graph->gears.at[i].loc);
    return !named;
}

/* ------------------------------------------------------------------- kernels ---- */

/* A sample whose last parameter stands for all results, with a parameter for each: the first has
 * its name. */
static struct library_kernel *repeat_last(struct binder *binder, const struct library_kernel *of,
                                          uint32_t results)
{
    struct library_kernel *sample = arena_alloc(&binder->arena, sizeof *sample);
    uint32_t first = of->n_params - 1;
    const char **params = arena_alloc(&binder->arena, (first + results) * sizeof *params);
    char *presences = arena_alloc(&binder->arena, first + results);
    memcpy(params, of->params, of->n_params * sizeof *params);
    memcpy(presences, of->presences, first);
    memset(presences + first, PARAM_REQUIRED, results);
    for (uint32_t i = 1; i < results; i++)
        params[first + i] = arena_printf(&binder->arena, "%s%u", of->params[first], i + 1);
    *sample = *of;
    sample->params = params;
    sample->presences = presences;
    sample->n_params = first + results;
    return sample;
}

/* The sample for an op with so many results. */
static const struct library_kernel *
fit_results(struct binder *binder, const struct library_kernel *sample, uint32_t results)
{
    if (!sample || results == 0 || sample->n_params == 0 ||
        sample->presences[sample->n_params - 1] != PARAM_REPEATED)
        return sample;
    for (uint32_t i = 0; i < binder->repeated.count; i++)
        if (binder->repeated.at[i].of == sample && binder->repeated.at[i].results == results)
            return binder->repeated.at[i].sample;
    struct library_kernel *fitted = repeat_last(binder, sample, results);
    vec_push(&binder->repeated, (struct repeated_sample){sample, fitted, results});
    return fitted;
}

/* What the kernel of a sample is found by: its op type, and how many parameters it has where these
 * are not always as many. */
static uint32_t sample_key(struct binder *binder, const struct library_kernel *sample)
{
    for (uint32_t i = 0; i < binder->repeated.count; i++)
        if (binder->repeated.at[i].sample == sample)
            return module_name_printf(binder->module, "%s of %u", sample->op_type,
                                      binder->repeated.at[i].results);
    return module_name(binder->module, sample->op_type);
}

/* The declared kernel of a sample with so many blocks. */
static uint32_t sized_sample(struct binder *binder, uint32_t op_type,
                             const struct library_kernel *sample, uint32_t blocks)
{
    bool dynamic = sample->n_variants > 0;
    for (uint32_t i = 0; i < binder->sized.count; i++) {
        const struct sized_kernel *sized = &binder->sized.at[i];
        if (sized->op_type == op_type && sized->blocks == blocks && sized->dynamic == dynamic)
            return sized->name;
    }
    uint32_t name = declare(binder, sample, blocks);
    vec_push(&binder->sized, (struct sized_kernel){op_type, blocks, name, dynamic});
    return name;
}

/* The blocks with which an entry that is written by hand runs a sample kernel: those of its call,
 * or else as many as it has room for. */
static uint32_t entry_blocks(const struct binder *binder, const struct entry *entry,
                             const struct library_kernel *sample, uint32_t name)
{
    const struct module *module = binder->module;
    uint32_t target = module_blocks(module, sample->type);
    uint32_t most = sample_block(module, sample), room = entry_room(module, entry, sample->type);
    uint32_t called =
        id_map_find(&binder->undeclared, name) == NONE ? 0 : entry_called_blocks(entry, name);
    if (called)
        return called < target ? called : target;
    if (most == 0)
        return 0;
    return room && room < most ? room : most;
}

/* The kernel that an op is bound to, declared where it is not yet. */
static uint32_t bind_sample(struct binder *binder, const struct graph *graph, const struct op *op,
                            const struct library_kernel *sample)
{
    struct module *module = binder->module;
    struct id_map *declared = &binder->declared[sample->n_variants > 0];
    uint32_t block = graph_superkernel(graph, op->block);
    const struct entry *entry =
        block == NONE ? NULL : block_entry(module, &graph->blocks.at[block]);
    uint32_t own = sample_block(module, sample), name = module_name(module, sample->name);
    uint32_t blocks = entry ? entry_blocks(binder, entry, sample, name) : own, kernel;
    /* Types that are names of one share it. */
    uint32_t type = sample_key(binder, sample);
    if (blocks != own)
        kernel = sized_sample(binder, type, sample, blocks);
    else if ((kernel = id_map_find(declared, type)) == NONE) {
        kernel = declare(binder, sample, blocks);
        id_map_set(declared, type, kernel);
    }
    if (entry && binder->undeclared.count)
        vec_push(&binder->uses, (struct sample_use){entry->name, name, kernel});
    return kernel;
}

/* Whether the target has the cores that a block of the op's kernel takes. */
static bool has_cores(struct binder *binder, const struct op *op)
{
    const struct module *module = binder->module;
    enum kernel_type type = module_kernel(module, op->kernel)->type;
    const struct kernel_type_info *info = kernel_type_info(type);
    if (module_blocks(module, type) > 0)
        return true;
    if (diag_at(binder->context->diags, DIAG_number_range, locate_op(module, op, OP_TYPE_NAME, 0),
                "the kernel of %.*s is of type %s, %u AIC%s and %u AIV%s for a block, but the "
                "target has %u and %u",
                NAME(module, op->type), info->name, info->aics, info->aics == 1 ? "" : "s",
                info->aivs, info->aivs == 1 ? "" : "s", module_cores(module, CORE_AIC),
                module_cores(module, CORE_AIV)))
        diag_help(binder->context->diags,
                  "write a target with more cores, or give the op a kernel of another type: 'via "
                  "@KERNEL'");
    return false;
}

/* Whether an op has as many operands and results as somebody's own kernel takes. */
static bool has_tensors(struct binder *binder, const struct graph *graph, const struct op *op,
                        const struct library_kernel *own)
{
    const struct module *module = binder->module;
    uint32_t operands = op_n_places(graph, op), results = op_tensor_results(module, graph, op);
    uint32_t tensors = kernel_n_tensors(module, module_kernel(module, op->kernel));
    if (operands + results == tensors)
        return true;
    if (diag_at(binder->context->diags, DIAG_operand_count, locate_op(module, op, OP_TYPE_NAME, 0),
                "%u operand%s and %u result%s, but the kernel of %.*s takes %u tensors", operands,
                operands == 1 ? "" : "s", results, results == 1 ? "" : "s", NAME(module, op->type),
                tensors))
        diag_note(binder->context->diags, no_span, "'%s' describes it", own->path);
    return false;
}

static bool bind_op(struct binder *binder, struct graph *graph, uint32_t id)
{
    struct diags *diags = binder->context->diags;
    struct op *op = &graph->ops.at[id];
    if (op_call_kind(op) != CALL_NONE)
        return check_call(binder->context, graph, op);
    if (op_is_passive(binder->module, graph, op))
        return true;
    if (attr_flag(binder->module, op->attrs, W_stub)) {
        uint32_t *stub = id_map_at(&binder->stubs, op->type); /* ops of a type have one */
        if (*stub == NONE)
            *stub = stub_kernel_declare(binder->module, op->type);
        op->kernel = *stub;
        return has_cores(binder, op);
    }
    bool dynamic = attr_flag(binder->module, op->attrs, W_dynamic);
    binder->tiled = binder->tiled || attr_find(binder->module, op->attrs, W_tiling_key) ||
                    attr_find(binder->module, op->attrs, W_tiling_blocks);
    const struct library_kernel *sample = find_sample(binder, op->type, dynamic);
    if (!sample && dynamic && find_sample(binder, op->type, false)) {
        const struct attr *attr = attr_find(binder->module, op->attrs, W_dynamic);
        if (diag_at(diags, DIAG_dynamic_kernel, locate_token(binder->module, attr->loc),
                    "there is no dynamic sample kernel for '%.*s'", NAME(binder->module, op->type)))
            diag_help(diags, "without 'dynamic' the op runs the sample kernel of its type");
        return false;
    }
    if (!sample && binder->context->library && binder->context->library->failed)
        return false; /* its description may be the one that cannot be read */
    if (!sample) {
        report_unknown(binder, op);
        return false;
    }
    sample = fit_results(binder, sample, op_tensor_results(binder->module, graph, op));
    op->kernel = bind_sample(binder, graph, op, sample);
    if (!has_cores(binder, op) || !operands_complete(diags, binder->module, graph, id, sample))
        return false;
    if (sample->own)
        return has_tensors(binder, graph, op, sample);
    vec_push(&binder->bound, (struct bound_op){graph_id(binder->module, graph), id});
    return true;
}

/* ------------------------------------------------------------------------ judging ---- */

/* Of an operand that stands twice, what is said of memory is said of both. */
static bool are_different(const struct graph *graph, const struct op *op)
{
    const uint32_t *operands = op_operands(graph, op);
    for (uint32_t i = 1; i < op->operands.count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (operands[i] == operands[j])
                return false;
    return true;
}

/* Ops that are alike are judged once. */
static bool judge(const struct binder *binder, const struct bound_op *bound, struct seen_ops *seen,
                  struct diags *diags)
{
    const struct module *module = binder->module;
    const struct graph *graph = &module->graphs.at[bound->graph];
    const struct op *op = &graph->ops.at[bound->op];
    struct op_seen *place = seen_ops_place(seen, graph, op);
    if (place && !are_different(graph, op))
        place = NULL;
    if (place && op_is_seen(module, graph, place, op))
        return true;
    if (!binder->context->library->check(module, graph, op, diags))
        return false;
    if (place)
        op_set_seen(graph, op, place);
    return true;
}

static void judge_part(void *user, uint32_t first, uint32_t end, struct diags *diags)
{
    struct binder *binder = user;
    const struct module *module = binder->module;
    struct seen_ops seen = {.at = {{.type = 0}}};
    for (uint32_t i = first; i < end; i++) {
        uint32_t graph = binder->bound.at[i].graph;
        if (i == first || graph != binder->bound.at[i - 1].graph)
            gears_tell_copy(diags, module, &module->graphs.at[graph]);
        if (!judge(binder, &binder->bound.at[i], &seen, diags))
            __atomic_store_n(&binder->refused, true, __ATOMIC_RELAXED);
    }
    gears_tell_copy(diags, module, NULL);
}

static uint64_t judging_weight(const void *user, uint32_t item)
{
    (void)user;
    (void)item;
    return 10;
}

static bool judge_bound(struct binder *binder)
{
    if (binder->bound.count == 0 || !binder->context->library->check)
        return true;
    parts_run(&(struct parts){binder->module->threads, binder->bound.count, judging_weight,
                              judge_part, binder},
              binder->context->diags);
    diags_settle(binder->context->diags);
    return !binder->refused;
}

/* `bound` becomes true where the verifier has yet to judge what an op says of its kernel. */
static bool bind_ops(struct pass_context *context, uint32_t *bound)
{
    struct binder binder = {.context = context, .module = context->module};
    struct kernel_source *library = context->library;
    struct file_fault fault;
    bool ok = true;
    if (library && !library->load(library, &fault)) {
        diag_fault(context->diags, DIAG_file, &fault);
        return false;
    }
    undeclared_find(&binder.undeclared, context->module);
    for (uint32_t i = 0; i < context->module->graphs.count; i++) {
        struct graph *graph = &context->module->graphs.at[i];
        gears_tell_copy(context->diags, context->module, graph);
        bool plain = (graph->dims.count + graph->gears.count == 0) || check_names(&binder, graph);
        ok = ok && plain;
        for (uint32_t j = 0; plain && j < graph->ops.count; j++)
            if (graph->ops.at[j].kernel == NONE)
                ok = bind_op(&binder, graph, j) && ok;
    }
    gears_tell_copy(context->diags, context->module, NULL);
    if (context->library && context->library->failed) {
        diag_fault(context->diags, DIAG_file, &context->library->fault);
        ok = false;
    }
    *bound |= binder.tiled;
    ok = !binder.ill_described && judge_bound(&binder) && ok;
    if (ok && binder.undeclared.count)
        ok = sample_calls_write(context, &binder.undeclared, &binder.uses);
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        id_map_free(&binder.found[dynamic]);
        id_map_free(&binder.declared[dynamic]);
    }
    vec_free(&binder.samples);
    vec_free(&binder.sized);
    id_map_free(&binder.undeclared);
    vec_free(&binder.uses);
    vec_free(&binder.repeated);
    vec_free(&binder.bound);
    id_map_free(&binder.stubs);
    arena_free(&binder.arena);
    return ok;
}

/* What ops and entries have got of the text is judged as if it were written. */
bool pass_bind_kernels(struct pass_context *context)
{
    struct module *module = context->module;
    uint32_t bound = !entries_are_bound(module);
    if (!declared_kernels_bind(context, &bound))
        return false;
    if (!ops_are_bound(module) && !bind_ops(context, &bound))
        return false;
    if (short_calls_present(module) && !short_calls_write(context))
        return false;
    if (!sized_kernels_bind(context, &bound))
        return false;
    return !bound || verify_module(module, context->diags);
}
