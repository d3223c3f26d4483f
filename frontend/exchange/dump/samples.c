#include "frontend/exchange/dump/samples.h"
#include "frontend/exchange/dump/alike.h"
#include "ir/operands.h"

#include <string.h>

void dump_samples_init(struct dump_samples *samples, struct module *module, struct source *source,
                       const struct kernel_source *library)
{
    *samples = (struct dump_samples){.module = module, .source = source, .library = library};
}

void dump_samples_free(struct dump_samples *samples)
{
    id_map_free(&samples->types);
    vec_free(&samples->samples);
    arena_free(&samples->arena);
}

/* -------------------------------------------------------------------------- operands ---- */

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

/* --------------------------------------------------------------------------- asking ---- */

static struct dump_sample *sample_of(struct dump_samples *samples, uint32_t type)
{
    uint32_t *index = id_map_at(&samples->types, type);
    if (*index == NONE) {
        const struct kernel_source *library = samples->library;
        const char *name = name_text(samples->module, type, &samples->arena);
        *index = samples->samples.count;
        vec_push(
            &samples->samples,
            (struct dump_sample){.kernel = library->find(library, name, false), .graph = NONE});
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

static bool check(struct dump_samples *samples, const struct library_kernel *kernel,
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

bool dump_samples_take(struct dump_samples *samples, const struct graph *graph, const struct op *op)
{
    struct dump_sample *sample = samples->library ? sample_of(samples, op->type) : NULL;
    if (!sample || !sample->kernel)
        return false;
    if (sample->graph == graph->name && dump_ops_alike(samples->module, graph, &sample->op, op) &&
        same_results(graph, &sample->op, op))
        return sample->fits;
    sample->graph = graph->name;
    sample->op = *op;
    return sample->fits = check(samples, sample->kernel, graph, op);
}
