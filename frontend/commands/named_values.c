#include "frontend/commands/named_values.h"
#include "ir/base/suggest.h"
#include "ir/contents.h"

#include <string.h>

/* The words of messages about a kind, and what it takes. */
static const struct {
    const char *noun, *behind; /* NULL: nothing stands behind the name */
    bool any_graph;
} kinds[] = {
    [NAMED_PARAMETER] = {"parameter", "SPEC", false},
    [NAMED_VALUE] = {"value", "FILE.npy", false},
    [NAMED_PRINTED] = {"value", NULL, true},
    [NAMED_EXPECTED] = {"value", "SPEC", true},
};

/* An option in the reading. */
struct naming {
    const struct invocation *invocation;
    const char *option;
    const struct module *module;
    enum named_kind kind;
};

/* Whether the option may name the value. */
static bool is_of(const struct naming *naming, const struct graph *graph, uint32_t value)
{
    const struct value *v = &graph->values.at[value];
    return v->def != DEF_MISSING && v->type != naming->module->token &&
           (naming->kind != NAMED_PARAMETER || value_is_given(naming->module, graph, value));
}

/* NONE where there is no such value. A name may have its `%`. */
static uint32_t find_value(const struct naming *naming, const struct graph *graph, const char *text,
                           size_t size)
{
    size_t sigil = size > 0 && *text == '%';
    uint32_t name = intern_find(&naming->module->names, text + sigil, size - sigil);
    for (uint32_t i = 0; name != NONE && i < graph->values.count; i++)
        if (graph->values.at[i].name == name && is_of(naming, graph, i))
            return i;
    return NONE;
}

static void report_unknown(const struct naming *naming, const struct graph *graph, const char *text,
                           size_t size)
{
    const struct module *module = naming->module;
    struct suggest suggest = {.wanted = text, .wanted_size = size};
    for (uint32_t i = 0; i < graph->values.count; i++)
        if (is_of(naming, graph, i))
            name_offer(&suggest, module, graph->values.at[i].name);
    usage_error(naming->invocation, "--%s: the graph has no %s '%.*s'%s", naming->option,
                kinds[naming->kind].noun, (int)size, text, suggest_end(&suggest).text);
}

/* The graph with that name; NULL, with a usage error, where the module of what is run has none. */
static const struct graph *find_graph(const struct naming *naming, const struct graph *run,
                                      const char *text, size_t size)
{
    const struct module *module = naming->module;
    struct suggest suggest = {.wanted = text, .wanted_size = size};
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct intern_name *name = &module->names.names[module->graphs.at[i].name];
        if (name->size == size && memcmp(name->text, text, size) == 0)
            return &module->graphs.at[i];
        name_offer(&suggest, module, module->graphs.at[i].name);
    }
    usage_error(naming->invocation, "--%s: '@%.*s' calls no graph '%.*s'%s", naming->option,
                NAME(module, run->name), (int)size, text, suggest_end(&suggest).text);
    return NULL;
}

/* The graph of what is named; the name of the value is what is left of the text. */
static const struct graph *named_graph(const struct naming *naming, const struct graph *graph,
                                       const char **text, size_t *size)
{
    const char *dot = memchr(*text, '.', *size);
    if (!kinds[naming->kind].any_graph || **text != '@' || !dot)
        return graph;
    graph = find_graph(naming, graph, *text + 1, (size_t)(dot - *text) - 1);
    *size -= (size_t)(dot + 1 - *text);
    *text = dot + 1;
    return graph;
}

static bool parse_name(const struct naming *naming, const struct graph *graph, const char *text,
                       struct named_value *named)
{
    const char *sign = kinds[naming->kind].behind ? strchr(text, '=') : text + strlen(text);
    if (!sign || (*sign && !sign[1])) {
        usage_error(naming->invocation, "--%s %s: expected NAME=%s", naming->option, text,
                    kinds[naming->kind].behind);
        return false;
    }
    const char *name = text;
    size_t size = (size_t)(sign - text);
    graph = named_graph(naming, graph, &name, &size);
    if (!graph)
        return false;
    uint32_t value = find_value(naming, graph, name, size);
    if (value == NONE) {
        report_unknown(naming, graph, name, size);
        return false;
    }
    *named = (struct named_value){graph_id(naming->module, graph), value, *sign ? sign + 1 : NULL};
    return true;
}

bool named_values_parse(struct named_values *named, const struct invocation *invocation,
                        const char *option, const struct module *module, const struct graph *graph,
                        enum named_kind kind)
{
    const struct naming naming = {invocation, option, module, kind};
    const char *text;
    for (unsigned i = 0; (text = option_value_at(invocation, option, i)); i++) {
        struct named_value value;
        if (!parse_name(&naming, graph, text, &value))
            return false;
        vec_push(named, value);
    }
    return true;
}

void named_values_free(struct named_values *named)
{
    vec_free(named);
}

const char *named_values_find(const struct named_values *named, uint32_t value)
{
    const char *text = NULL;
    for (uint32_t i = 0; i < named->count; i++)
        if (named->at[i].value == value)
            text = named->at[i].text;
    return text;
}
