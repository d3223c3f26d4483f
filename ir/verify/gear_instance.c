#include "ir/verify/gear_instance.h"
#include "ir/base/text.h"
#include "ir/gears.h"
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

static bool fits(struct module *module, struct graph *instance, const struct diags *from,
                 struct text *reason, struct span *where)
{
    struct diags diags;
    diags_init(&diags, from->source, from->path);
    diags.max_errors = 1;
    bool ok =
        infer_graph_types(module, instance, &diags) && verify_graph_alone(module, instance, &diags);
    for (uint32_t i = 0; !ok && i < diags.list.count; i++) {
        const struct diag *diag = &diags.list.at[i];
        if (diag->severity != SEVERITY_ERROR)
            continue;
        text_string(reason, diag->text);
        *where = diag->span;
        break;
    }
    diags_free(&diags);
    return ok;
}

bool gear_instance_make(struct module *module, const struct graph *graph, const int64_t *values,
                        const struct diags *diags, struct graph *instance, struct text *reason,
                        struct span *where)
{
    *instance = graph_copy(graph);
    return bind(module, instance, values, reason) && fits(module, instance, diags, reason, where);
}
