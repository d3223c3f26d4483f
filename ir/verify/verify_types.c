/* The verifier's part for the types of a graph: their formats, and the names in their
 * dimensions. */
#include "ir/shapes/dims.h"
#include "ir/verify/verify_internal.h"

#include <strings.h>

/* ---------------------------------------------------------------------------- types ---- */

bool verify_types_match(const struct module *module, uint32_t declared, uint32_t actual)
{
    if (declared == actual || actual == NONE)
        return true;
    const struct type *d = &module->types.at[declared], *a = &module->types.at[actual];
    if (!type_kinds_agree(d, a))
        return false;
    for (uint32_t i = 0; i < type_n_dims(d) && i < type_n_dims(a); i++) {
        int64_t dim = type_dims(module, declared)[i], other = type_dims(module, actual)[i];
        if (dim != other && dim != DIM_UNKNOWN && other != DIM_UNKNOWN)
            return false;
    }
    return true;
}

static const char *const formats[] = {
#define FORMAT(name, ...) #name,
#include "ir/core/formats.def"
#undef FORMAT
};
enum { N_FORMATS = sizeof formats / sizeof formats[0] };

static bool format_known(const struct module *module, uint32_t format)
{
    for (int i = 0; i < N_FORMATS; i++)
        if (name_is(module, format, formats[i]))
            return true;
    return false;
}

static void unknown_dim_name(struct graph_verifier *gv, struct span span, uint32_t name)
{
    if (!diag_at(gv->diags, DIAG_unknown_dimension, locate_name_in(gv->module, span, name),
                 "the graph declares no dimension '%.*s'", NAME(gv->module, name)))
        return;
    struct suggest suggest = name_suggest(gv->module, name);
    bool wanted = diag_wants_suggestion(gv->diags);
    for (uint32_t i = 0; i < gv->graph->dims.count && wanted; i++)
        name_offer(&suggest, gv->module, gv->graph->dims.at[i].name);
    for (uint32_t i = 0; i < gv->graph->gears.count && wanted; i++)
        name_offer(&suggest, gv->module, gv->graph->gears.at[i].name);
    if (!diag_suggest(gv->diags, &suggest))
        diag_help(gv->diags,
                  "declare it behind the parameters: 'dims (%.*s)'%s; what is not known is '?'",
                  NAME(gv->module, name),
                  gv->graph->gears.count ? ", or with its values as another gear" : "");
}

bool type_is_right(struct graph_verifier *gv, uint32_t type)
{
    const struct type *t = &gv->module->types.at[type];
    const int64_t *dims = type_dims(gv->module, type);
    for (uint32_t i = 0; i < type_n_dims(t); i++)
        if (dim_is_gear(dims[i]))
            return false;
    gv->type_checked[type] = format_known(gv->module, t->format);
    return gv->type_checked[type];
}

void verify_type(struct graph_verifier *gv, uint32_t type, struct span span)
{
    if (type == NONE || gv->type_checked[type])
        return;
    gv->type_checked[type] = 1;
    const struct type *t = &gv->module->types.at[type];
    const int64_t *dims = type_dims(gv->module, type);
    for (uint32_t d = 0; d < type_n_dims(t); d++) {
        struct dim_sum sum = {.count = 0};
        if (dim_is_gear(dims[d]))
            dim_to_sum(gv->module, dims[d], &sum);
        for (uint32_t i = 0; i < sum.count; i++)
            for (uint32_t n = 0; n < sum.terms[i].degree; n++)
                if (id_map_find(&gv->dims, sum.terms[i].names[n]) == NONE)
                    unknown_dim_name(gv, span, sum.terms[i].names[n]);
    }
    if (format_known(gv->module, t->format) ||
        !diag_at(gv->diags, DIAG_unknown_format, locate_name_in(gv->module, span, t->format),
                 "unknown memory format '%.*s'", NAME(gv->module, t->format)))
        return;
    struct suggest suggest = name_suggest(gv->module, t->format);
    if (suggest.wanted_size == 2 && strncasecmp(suggest.wanted, "NZ", 2) == 0) {
        diag_help(gv->diags, "did you mean 'FRACTAL_NZ'?");
        return;
    }
    for (int i = 0; i < N_FORMATS; i++)
        suggest_offer_text(&suggest, formats[i]);
    diag_suggest(gv->diags, &suggest);
}

/* ------------------------------------------------------------------------- suggestions ---- */

bool suggest_symbol(const struct module *module, struct diags *diags, uint32_t name, unsigned kinds)
{
    struct suggest suggest = name_suggest(module, name);
    if (!diag_wants_suggestion(diags))
        return false;
    for (uint32_t i = 0; i < module->graphs.count && kinds & 1 << SYMBOL_GRAPH; i++)
        name_offer(&suggest, module, module->graphs.at[i].name);
    for (uint32_t i = 0; i < module->kernels.count && kinds & 1 << SYMBOL_KERNEL; i++)
        name_offer(&suggest, module, module->kernels.at[i].name);
    for (uint32_t i = 0; i < module->entries.count && kinds & 1 << SYMBOL_ENTRY; i++)
        name_offer(&suggest, module, module->entries.at[i].name);
    suggest.before = "@";
    return diag_suggest(diags, &suggest);
}

void suggest_value(const struct module *module, struct diags *diags, const struct graph *graph,
                   uint32_t name)
{
    struct suggest suggest = name_suggest(module, name);
    if (!diag_wants_suggestion(diags))
        return;
    for (uint32_t i = 0; i < graph->values.count; i++)
        if (graph->values.at[i].def != DEF_MISSING)
            name_offer(&suggest, module, graph->values.at[i].name);
    suggest.before = "%";
    diag_suggest(diags, &suggest);
}
