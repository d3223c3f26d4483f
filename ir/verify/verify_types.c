/* The verifier's part for the types of a graph: their formats, and the gears in their
 * dimensions. */
#include "ir/verify/graph_verifier.h"

enum { MAX_GEAR_COMBINATIONS = 100 };

/* ---------------------------------------------------------------------------- types ---- */

static bool dims_match(int64_t declared, int64_t actual)
{
    return declared == actual || declared == DIM_UNKNOWN || actual == DIM_UNKNOWN;
}

bool verify_types_match(const struct module *module, uint32_t declared, uint32_t actual)
{
    if (declared == actual || actual == NONE)
        return true;
    const struct type *d = &module->types.at[declared], *a = &module->types.at[actual];
    if (d->dtype != a->dtype || d->format != a->format || d->rank != a->rank)
        return false;
    for (uint32_t i = 0; i < d->rank; i++)
        if (!dims_match(type_dims(module, declared)[i], type_dims(module, actual)[i]))
            return false;
    return true;
}

static bool format_known(const struct module *module, uint32_t format)
{
    static const char *const formats[] = {
#define FORMAT(name) #name,
#include "ir/formats.def"
#undef FORMAT
    };
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (name_is(module, format, formats[i]))
            return true;
    return false;
}

static void suggest_format(struct graph_verifier *gv, uint32_t format)
{
    struct suggest suggest = name_suggest(gv->module, format);
#define FORMAT(name) suggest_offer(&suggest, #name, sizeof #name - 1);
#include "ir/formats.def"
#undef FORMAT
    diag_suggest(gv->diags, &suggest);
}

static bool gear_known(const struct graph *graph, uint32_t name)
{
    for (uint32_t i = 0; i < graph->gears.count; i++)
        if (graph->gears.at[i].name == name)
            return true;
    return false;
}

static void unknown_gear(struct graph_verifier *gv, struct span span, uint32_t name)
{
    if (!diag_at(gv->diags, DIAG_unknown_gear, span, "the graph declares no gear '%.*s'",
                 NAME(gv->module, name)))
        return;
    struct suggest suggest = name_suggest(gv->module, name);
    for (uint32_t i = 0; i < gv->graph->gears.count; i++)
        name_offer(&suggest, gv->module, gv->graph->gears.at[i].name);
    if (!diag_suggest(gv->diags, &suggest))
        diag_help(gv->diags,
                  "a dimension is an integer, '?', or a name of 'gears zip (%.*s = [...])'",
                  NAME(gv->module, name));
}

void verify_type(struct graph_verifier *gv, uint32_t type, struct span span)
{
    if (type == NONE || gv->type_checked[type])
        return;
    gv->type_checked[type] = 1;
    const struct type *t = &gv->module->types.at[type];
    const int64_t *dims = type_dims(gv->module, type);
    for (uint32_t i = 0; i < t->rank; i++)
        if (dim_is_gear(dims[i]) && !gear_known(gv->graph, dim_gear(dims[i])))
            unknown_gear(gv, span, dim_gear(dims[i]));
    if (!format_known(gv->module, t->format) &&
        diag_at(gv->diags, DIAG_unknown_format, span, "unknown memory format '%.*s'",
                NAME(gv->module, t->format)))
        suggest_format(gv, t->format);
}

/* ---------------------------------------------------------------------------- gears ---- */

static void verify_gear(struct graph_verifier *gv, const struct gear *gear)
{
    const int64_t *values = gv->graph->gear_values.at + gear->values.first;
    struct span span = locate_token(gv->module, gear->loc);
    if (marks_set(gv->verifier, gear->name, 0, NULL))
        diag_at(gv->diags, DIAG_duplicate, span, "the gear '%.*s' stands twice",
                NAME(gv->module, gear->name));
    for (uint32_t i = 0; i < gear->values.count; i++)
        if (values[i] < 2)
            diag_at(gv->diags, DIAG_gear, span, "%lld is not allowed as a value of gear '%.*s'",
                    (long long)values[i], NAME(gv->module, gear->name));
    if (gv->graph->gear_mode == GEARS_ZIP &&
        gear->values.count != gv->graph->gears.at[0].values.count)
        diag_at(gv->diags, DIAG_gear, span,
                "'zip' pairs values by position, but '%.*s' has %u and '%.*s' has %u",
                NAME(gv->module, gear->name), gear->values.count,
                NAME(gv->module, gv->graph->gears.at[0].name), gv->graph->gears.at[0].values.count);
}

void verify_gears(struct graph_verifier *gv)
{
    uint64_t combinations = 1;
    marks_clear(gv->verifier);
    for (uint32_t i = 0; i < gv->graph->gears.count; i++) {
        const struct gear *gear = &gv->graph->gears.at[i];
        verify_gear(gv, gear);
        if (gv->graph->gear_mode == GEARS_ZIP)
            combinations = gear->values.count;
        else if (combinations <= MAX_GEAR_COMBINATIONS)
            combinations *= gear->values.count;
    }
    if (combinations > MAX_GEAR_COMBINATIONS)
        diag_at(gv->diags, DIAG_gear, locate_token(gv->module, gv->graph->gears.at[0].loc),
                "gears make more than %d combinations", MAX_GEAR_COMBINATIONS);
}
