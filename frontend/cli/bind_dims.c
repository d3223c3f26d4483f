#include "frontend/cli/bind_dims.h"
#include "ir/gears.h"
#include "ir/syntax/locate.h"
#include "ir/verify/infer_types.h"
#include "ir/verify/verify.h"

/* A graph whose names get values. */
struct binder {
    struct module *module;
    struct graph *graph;
    struct diags *diags;
    VEC(struct dim_binding) bindings; /* of names that it declares */
};

static const struct dim_binding *find(const struct binder *binder, uint32_t name)
{
    for (uint32_t i = 0; i < binder->bindings.count; i++)
        if (binder->bindings.at[i].name == name)
            return &binder->bindings.at[i];
    return NULL;
}

bool dims_are_named(const struct module *module, uint32_t name)
{
    for (uint32_t i = 0; i < module->graphs.count; i++)
        if (graph_declares_dim(&module->graphs.at[i], name))
            return true;
    return false;
}

/* ---------------------------------------------------------------------------- gears ---- */

static int64_t gear_value(const struct graph *graph, const struct gear *gear, uint32_t n)
{
    return graph->gear_values.at[gear->values.first + n];
}

static bool check_gear(const struct binder *binder, const struct gear *gear)
{
    const struct dim_binding *binding = find(binder, gear->name);
    for (uint32_t n = 0; binding && n < gear->values.count; n++)
        if (gear_value(binder->graph, gear, n) == binding->value)
            return true;
    if (binding)
        diag_at(binder->diags, DIAG_gear, locate_token(binder->module, gear->loc),
                "the gear '%.*s' has no value %lld", NAME(binder->module, gear->name),
                (long long)binding->value);
    return !binding;
}

/* Whether the n-th values of `zip` are those that are given. */
static bool row_fits(const struct binder *binder, uint32_t n)
{
    for (uint32_t i = 0; i < binder->graph->gears.count; i++) {
        const struct gear *gear = &binder->graph->gears.at[i];
        const struct dim_binding *binding = find(binder, gear->name);
        if (binding && binding->value != gear_value(binder->graph, gear, n))
            return false;
    }
    return true;
}

static bool any_gear_is_bound(const struct binder *binder)
{
    for (uint32_t i = 0; i < binder->graph->gears.count; i++)
        if (find(binder, binder->graph->gears.at[i].name))
            return true;
    return false;
}

/* Those of `zip` that are not given follow from those that are. */
static bool zip_gears(struct binder *binder)
{
    const struct graph *graph = binder->graph;
    uint32_t n = 0, rows = graph->gears.at[0].values.count;
    while (n < rows && !row_fits(binder, n))
        n++;
    if (n == rows) {
        diag_at(binder->diags, DIAG_gear, locate_token(binder->module, graph->gears.at[0].loc),
                "no pair of these gears has the values that are given");
        return false;
    }
    for (uint32_t i = 0; i < graph->gears.count; i++) {
        const struct gear *gear = &graph->gears.at[i];
        if (!find(binder, gear->name))
            vec_push(&binder->bindings,
                     (struct dim_binding){gear->name, gear_value(graph, gear, n)});
    }
    return true;
}

static bool bind_gears(struct binder *binder)
{
    const struct graph *graph = binder->graph;
    bool ok = true;
    for (uint32_t i = 0; i < graph->gears.count; i++)
        ok = check_gear(binder, &graph->gears.at[i]) && ok;
    return ok && (graph->gear_mode != GEARS_ZIP || !any_gear_is_bound(binder) || zip_gears(binder));
}

/* ---------------------------------------------------------------------------- types ---- */

static bool bind_types(struct binder *binder)
{
    struct bind_fault fault;
    if (graph_bind_types(binder->module, binder->graph, binder->bindings.at, binder->bindings.count,
                         &fault))
        return true;
    diag_at(binder->diags, DIAG_number_range, locate_name(binder->module, binder->graph->loc),
            "with these values, the dimension '%.*s' %s", NAME(binder->module, dim_gear(fault.dim)),
            dim_fault_text(fault.fault));
    return false;
}

/* --------------------------------------------------------------------------- graphs ---- */

static bool is_gear(const struct graph *graph, uint32_t name)
{
    for (uint32_t i = 0; i < graph->gears.count; i++)
        if (graph->gears.at[i].name == name)
            return true;
    return false;
}

static bool bind_graph(struct binder *binder, const struct dim_binding *bindings, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (graph_declares_dim(binder->graph, bindings[i].name))
            vec_push(&binder->bindings, bindings[i]);
    if (binder->bindings.count == 0)
        return true;
    if (!bind_gears(binder) || !bind_types(binder))
        return false;
    graph_drop_names(binder->graph, binder->bindings.at, binder->bindings.count);
    return true;
}

/* Types that are not written, of operands that may have become others. Where rules refuse these,
 * the verifier says so. */
static bool settle_types(const struct binder *binder)
{
    return !binder->graph->untyped ||
           (infer_graph_types(binder->module, binder->graph, binder->diags) &&
            verify_graph_alone(binder->module, binder->graph, binder->diags));
}

bool bind_free_dims(struct module *module, struct graph *graph, const struct dim_binding *bindings,
                    uint32_t count, struct diags *diags)
{
    struct binder binder = {.module = module, .graph = graph, .diags = diags};
    for (uint32_t i = 0; i < count; i++)
        if (graph_declares_dim(graph, bindings[i].name) && !is_gear(graph, bindings[i].name))
            vec_push(&binder.bindings, bindings[i]);
    bool ok = bind_types(&binder);
    graph_drop_names(graph, binder.bindings.at, binder.bindings.count);
    vec_free(&binder.bindings);
    return ok;
}

bool bind_dims(struct module *module, const struct dim_binding *bindings, uint32_t count,
               struct diags *diags)
{
    bool ok = true;
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        struct binder binder = {.module = module, .graph = &module->graphs.at[i], .diags = diags};
        ok = bind_graph(&binder, bindings, count) && settle_types(&binder) && ok;
        vec_free(&binder.bindings);
    }
    return ok;
}
