#include "frontend/exchange/dump/samples.h"
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

/* How many parameters of a sample kernel are tensors. */
static uint32_t count_tensors(const struct library_kernel *kernel)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < kernel->n_params; i++)
        count += strcmp(kernel->params[i], "workspace") && strcmp(kernel->params[i], "tiling");
    return count;
}

static bool presence_fits(char presence, enum operand_kind kind)
{
    if (presence == PARAM_LISTED)
        return kind == OPERAND_LIST;
    return kind == OPERAND_VALUE || (kind == OPERAND_NONE && presence == PARAM_OPTIONAL);
}

/* Whether the sample kernel takes the op's operands, in whatever dtypes. */
static bool operands_fit(const struct library_kernel *kernel, const struct graph *graph,
                         const struct op *op)
{
    uint32_t tensors = count_tensors(kernel), places = op_n_places(graph, op);
    if (op->results.count > tensors || places > tensors - op->results.count)
        return false;
    for (uint32_t i = 0; i < tensors - op->results.count; i++) {
        enum operand_kind kind = i < places ? op_operand(graph, op, i).kind : OPERAND_NONE;
        if (!presence_fits(kernel->presences[i], kind))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------ likenesses ---- */

/* Of how many operands every two are compared. */
enum { FEW = 8 };

static uint32_t operand_type(const struct graph *graph, const struct op *op, uint32_t i)
{
    return graph->values.at[graph->refs.at[op->operands.first + i]].type;
}

/* Whether the same operands are the same value. */
static bool same_values(const struct graph *graph, const struct op *a, const struct op *b)
{
    const uint32_t *of_a = graph->refs.at + a->operands.first;
    const uint32_t *of_b = graph->refs.at + b->operands.first;
    for (uint32_t i = 0; i < a->operands.count; i++)
        for (uint32_t n = 0; n < i; n++)
            if ((of_a[i] == of_a[n]) != (of_b[i] == of_b[n]))
                return false;
    return true;
}

static bool same_types(const struct graph *graph, const struct op *a, const struct op *b)
{
    for (uint32_t i = 0; i < a->operands.count; i++)
        if (operand_type(graph, a, i) != operand_type(graph, b, i))
            return false;
    for (uint32_t i = 0; i < a->results.count; i++)
        if (graph->values.at[a->results.first + i].type !=
            graph->values.at[b->results.first + i].type)
            return false;
    return true;
}

static bool same_attrs(const struct module *module, const struct op *a, const struct op *b)
{
    for (uint32_t i = 0; i < a->attrs.count; i++) {
        const struct attr *of_a = &module->attrs.at[a->attrs.first + i];
        const struct attr *of_b = &module->attrs.at[b->attrs.first + i];
        bool composed = of_a->value.kind == ATTR_LIST || of_a->value.kind == ATTR_DICT;
        if (composed || of_a->key != of_b->key || of_a->value.kind != of_b->value.kind ||
            of_a->value.i != of_b->value.i)
            return false;
    }
    return true;
}

/* Whether two ops of one type and graph are told apart by nothing that a kernel could. True only
 * where that is easily seen. */
static bool are_alike(const struct module *module, const struct graph *graph, const struct op *a,
                      const struct op *b)
{
    return a->clauses == 0 && b->clauses == 0 && a->operands.count == b->operands.count &&
           a->operands.count <= FEW && a->results.count == b->results.count &&
           a->attrs.count == b->attrs.count && same_types(graph, a, b) &&
           same_attrs(module, a, b) && same_values(graph, a, b);
}

/* --------------------------------------------------------------------------- asking ---- */

static struct dump_sample *sample_of(struct dump_samples *samples, uint32_t type)
{
    uint32_t *index = id_map_at(&samples->types, type);
    if (*index == NONE) {
        const struct kernel_source *library = samples->library;
        const char *name = name_text(samples->module, type, &samples->arena);
        *index = samples->samples.count;
        vec_push(&samples->samples,
                 (struct dump_sample){.kernel = library->find(library, name, false)});
    }
    return &samples->samples.at[*index];
}

static bool check(struct dump_samples *samples, const struct library_kernel *kernel,
                  const struct graph *graph, const struct op *op)
{
    const struct kernel_source *library = samples->library;
    if (attr_flag(samples->module, op->attrs, W__unchecked) || !operands_fit(kernel, graph, op))
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
    if (sample->graph == graph && are_alike(samples->module, graph, &sample->op, op))
        return sample->fits;
    sample->graph = graph;
    sample->op = *op;
    return sample->fits = check(samples, sample->kernel, graph, op);
}
