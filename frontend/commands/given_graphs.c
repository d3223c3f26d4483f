#include "frontend/commands/given_graphs.h"
#include "frontend/commands/outer_graphs.h"
#include "ir/base/suggest.h"
#include "ir/base/text.h"
#include "ir/gears.h"
#include "ir/syntax/spelling.h"

#include <string.h>

/* ---------------------------------------------------------------------------- choosing ---- */

static const char *named_graph(const struct input *input)
{
    const struct invocation *invocation = input->invocation;
    return option_exists(invocation, "graph") ? option_value(invocation, "graph") : NULL;
}

uint8_t *given_graphs(const struct input *input)
{
    const struct module *module = input->module;
    const char *name = named_graph(input);
    uint8_t *chosen = mem_calloc(module->graphs.count, 1);
    if (!name)
        outer_graphs_mark(module, chosen);
    for (uint32_t i = 0; name && i < module->graphs.count; i++)
        chosen[i] = name_is(module, module->graphs.at[i].name, name);
    return chosen;
}

uint8_t *given_graphs_meant(const struct input *input, const uint8_t *chosen)
{
    const struct module *module = input->module;
    uint32_t count = module->graphs.count;
    uint8_t *meant = mem_calloc(count, 1);
    for (uint32_t i = 0; i < count; i++)
        meant[i] = !named_graph(input) || chosen[i];
    graphs_mark_reached(module, meant);
    return meant;
}

uint32_t given_param(const struct module *module, const struct graph *graph,
                     const struct given_shape *shape)
{
    uint32_t name = intern_find(&module->names, shape->name, shape->size);
    for (uint32_t i = 0; name != NONE && i < graph->n_params; i++)
        if (graph->values.at[i].name == name)
            return i;
    return NONE;
}

/* ---------------------------------------------------------------------------- one of them ---- */

/* Whether the graph has all that is given. */
static bool has_given(const struct module *module, const struct graph *graph,
                      const struct shape_arguments *shapes, const struct dim_bindings *bindings)
{
    bool has = true;
    for (uint32_t i = 0; i < bindings->count; i++)
        has = has && graph_declares_dim(graph, bindings->at[i].name);
    for (uint32_t i = 0; i < shapes->count; i++)
        has = has && given_param(module, graph, &shapes->at[i]) != NONE;
    return has;
}

/* "'b', '%x'": the names of what is given. */
static void put_given(const struct module *module, const struct shape_arguments *shapes,
                      const struct dim_bindings *bindings, struct text *text)
{
    for (uint32_t i = 0; i < bindings->count; i++)
        text_printf(text, "%s'%.*s'", text->size ? ", " : "", NAME(module, bindings->at[i].name));
    for (uint32_t i = 0; i < shapes->count; i++)
        text_printf(text, "%s'%%%.*s'", text->size ? ", " : "", (int)shapes->at[i].size,
                    shapes->at[i].name);
    text_char(text, '\0');
}

/* Those that have what is given, or all where none has. */
static void report_several(const struct input *input, const uint8_t *chosen,
                           const struct shape_arguments *shapes,
                           const struct dim_bindings *bindings)
{
    const struct module *module = input->module;
    uint8_t *having = mem_calloc(module->graphs.count, 1);
    struct text given = {NULL, 0, 0};
    bool any = false;
    put_given(module, shapes, bindings, &given);
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        having[i] = chosen[i] && has_given(module, &module->graphs.at[i], shapes, bindings);
        any = any || having[i];
    }
    outer_graphs_report(input->invocation, module, any ? having : chosen, any ? given.at : NULL);
    text_free(&given);
    mem_free(having);
}

/* Whether the command is about one graph of the file. Another file that it is compared with has one
 * of the same name. */
static bool wants_one(const struct input *input)
{
    return option_exists(input->invocation, "graph") && !named_graph(input) &&
           !input_is_compared(input);
}

/* ------------------------------------------------------------------------------ names ---- */

static void report_name(const struct input *input, const uint8_t *meant, uint32_t name)
{
    const struct module *module = input->module;
    struct suggest suggest = name_suggest(module, name);
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        for (uint32_t n = 0; meant[i] && n < graph->dims.count; n++)
            name_offer(&suggest, module, graph->dims.at[n].name);
        for (uint32_t n = 0; meant[i] && n < graph->gears.count; n++)
            name_offer(&suggest, module, graph->gears.at[n].name);
    }
    usage_error(input->invocation, "--bind: the graph '%s' declares no dimension '%.*s'%s",
                named_graph(input), NAME(module, name), suggest_end(&suggest).text);
}

static bool check_names(const struct input *input, const uint8_t *meant,
                        const struct dim_bindings *bindings)
{
    const struct module *module = input->module;
    bool any = memchr(meant, 1, module->graphs.count) != NULL, ok = true;
    for (uint32_t n = 0; any && ok && n < bindings->count; n++) {
        ok = false;
        for (uint32_t i = 0; i < module->graphs.count && !ok; i++)
            ok = meant[i] && graph_declares_dim(&module->graphs.at[i], bindings->at[n].name);
        if (!ok)
            report_name(input, meant, bindings->at[n].name);
    }
    return ok;
}

bool given_graphs_check(const struct input *input, const uint8_t *chosen, const uint8_t *meant,
                        const struct shape_arguments *shapes, const struct dim_bindings *bindings)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < input->module->graphs.count; i++)
        count += chosen[i];
    if (count > 1 && shapes->count + bindings->count > 0 && wants_one(input)) {
        report_several(input, chosen, shapes, bindings);
        return false;
    }
    return check_names(input, meant, bindings);
}
