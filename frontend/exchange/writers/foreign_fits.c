/* What no format of graphs can have. */
#include "frontend/exchange/writers/foreign.h"
#include "ir/base/utf8.h"

struct fits {
    const struct foreign_form *form;
    const struct module *module;
    struct diags *diags;
    struct text clean;
};

static bool is_utf8(struct fits *fits, uint32_t name)
{
    const struct intern_name *n = &fits->module->names.names[name];
    fits->clean.size = 0;
    text_utf8(&fits->clean, n->text, n->size);
    return fits->clean.size == n->size &&
           (n->size == 0 || memcmp(fits->clean.at, n->text, n->size) == 0);
}

static void check_name(struct fits *fits, const char *what, uint32_t name, uint32_t loc)
{
    struct span span = {loc == NONE ? 0 : loc, loc == NONE ? 0 : loc + 1};
    if (!is_utf8(fits, name))
        diag_at(fits->diags, DIAG_not_exported, span, "%s '%.*s' is not UTF-8, which %s wants",
                what, NAME(fits->module, name), fits->form->name);
}

static void check_graph(struct fits *fits, const struct graph *graph)
{
    check_name(fits, "the name of the graph", graph->name, graph->loc);
    for (uint32_t i = 0; i < graph->ops.count; i++)
        check_name(fits, "the op type", graph->ops.at[i].type, graph->ops.at[i].loc);
    for (uint32_t i = 0; i < graph->values.count; i++) {
        uint32_t def = graph->values.at[i].def;
        check_name(fits, "the name of the value", graph->values.at[i].name,
                   def < graph->ops.count ? graph->ops.at[def].loc : graph->loc);
    }
}

bool foreign_fits(const struct foreign_form *form, const struct module *module, struct diags *diags)
{
    struct fits fits = {form, module, diags, {NULL, 0, 0}};
    uint32_t errors = diags->counts[SEVERITY_ERROR];
    if (module->graphs.count == 0)
        diag_at(diags, DIAG_not_exported, no_span, "there is no graph, and %s has nothing else",
                form->name);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        check_graph(&fits, &module->graphs.at[i]);
    text_free(&fits.clean);
    return diags->counts[SEVERITY_ERROR] == errors;
}

bool foreign_fits_one(const struct foreign_form *form, const struct module *module,
                      struct diags *diags)
{
    if (module->graphs.count < 2)
        return true;
    uint32_t loc = module->graphs.at[1].loc;
    struct span span = {loc == NONE ? 0 : loc, loc == NONE ? 0 : loc + 1};
    diag_at(diags, DIAG_not_exported, span, "%s is one graph, and this is another", form->name);
    return false;
}
