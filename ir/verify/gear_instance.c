#include "ir/verify/gear_instance.h"
#include "ir/gears.h"
#include "ir/refine_types.h"
#include "ir/syntax/locate.h"
#include "ir/verify/infer_types.h"
#include "ir/verify/verify.h"

static bool bind(struct module *module, struct graph *instance, const int64_t *values,
                 struct text *reason)
{
    VEC(struct dim_binding) bindings = {NULL, 0, 0};
    struct bind_fault fault;
    for (uint32_t i = 0; i < instance->gears.count; i++)
        vec_push(&bindings, (struct dim_binding){instance->gears.at[i].name, values[i]});
    bool ok = graph_bind_types(module, instance, bindings.at, bindings.count, &fault);
    if (!ok)
        text_printf(reason, "the dimension '%.*s' %s", NAME(module, dim_gear(fault.dim)),
                    dim_fault_text(fault.fault));
    graph_drop_names(instance, bindings.at, bindings.count);
    instance->gear_values.count = 0;
    vec_free(&bindings);
    return ok;
}

static void diags_begin(struct diags *diags, const struct diags *like)
{
    diags_init(diags, like->source, like->path);
    diags->max_errors = 1;
}

/* The first line that says what to do. */
static void take_help(const struct diag *diag, struct text *help)
{
    for (const struct diag_note *note = diag->notes; note && !help->size; note = note->next)
        if (note->span.begin == no_span.begin)
            text_string(help, note->text);
}

static struct gear_verdict diags_end(struct diags *diags, bool ok)
{
    struct gear_verdict verdict = {
        .fits = ok, .silent = diags->list.count + diags->counts[SEVERITY_REMARK] == 0};
    for (uint32_t i = 0; !ok && i < diags->list.count; i++) {
        const struct diag *diag = &diags->list.at[i];
        if (diag->severity != SEVERITY_ERROR)
            continue;
        text_string(&verdict.reason, diag->text);
        verdict.where = diag->span;
        verdict.open = diag->id == DIAG_cannot_infer;
        take_help(diag, &verdict.help);
        break;
    }
    diags_free(diags);
    return verdict;
}

void gear_instance_make(struct gear_instance *instance, struct module *module,
                        const struct graph *graph, const int64_t *values, const struct diags *like)
{
    struct diags diags;
    *instance = (struct gear_instance){.graph = graph_copy(graph)};
    instance->made.where = locate_name(module, graph->loc);
    if (!bind(module, &instance->graph, values, &instance->made.reason))
        return;
    diags_begin(&diags, like);
    bool ok = infer_graph_types(module, &instance->graph, &diags);
    refine_result_types(module, &instance->graph);
    instance->made = diags_end(&diags, ok);
}

void gear_instance_verify(struct gear_instance *instance, const struct module *module,
                          const struct id_map *superkernels, const struct diags *like)
{
    struct diags diags;
    if (!instance->made.fits)
        return;
    diags_begin(&diags, like);
    bool ok = verify_graph_of_many(module, superkernels, &instance->graph, &diags);
    instance->verified = diags_end(&diags, ok);
}

const struct gear_verdict *gear_instance_fault(const struct gear_instance *instance)
{
    return !instance->made.fits       ? &instance->made
           : !instance->verified.fits ? &instance->verified
                                      : NULL;
}

void gear_instance_free(struct gear_instance *instance)
{
    graph_free(&instance->graph);
    text_free(&instance->made.reason);
    text_free(&instance->made.help);
    text_free(&instance->verified.reason);
    text_free(&instance->verified.help);
}
