#include "frontend/cli/bind_argument.h"
#include "ir/base/suggest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool parse_value(const char *text, int64_t *value)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno == 0 && *end == '\0';
}

/* A name has one value, however often that is said. */
static bool add_binding(const struct input *input, struct dim_bindings *bindings,
                        struct dim_binding binding)
{
    for (uint32_t i = 0; i < bindings->count; i++)
        if (bindings->at[i].name == binding.name) {
            bool same = bindings->at[i].value == binding.value;
            if (!same)
                usage_error(input->invocation, "--bind gives '%.*s' twice, as %lld and %lld",
                            NAME(input->module, binding.name), (long long)bindings->at[i].value,
                            (long long)binding.value);
            return same;
        }
    vec_push(bindings, binding);
    return true;
}

static void report_unknown(const struct input *input, const char *name, size_t size)
{
    const struct module *module = input->module;
    struct suggest suggest = {.wanted = name, .wanted_size = size};
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        for (uint32_t n = 0; n < graph->dims.count; n++)
            name_offer(&suggest, module, graph->dims.at[n].name);
        for (uint32_t n = 0; n < graph->gears.count; n++)
            name_offer(&suggest, module, graph->gears.at[n].name);
    }
    usage_error(input->invocation, "--bind: no graph declares the dimension '%.*s'%s", (int)size,
                name, suggest_end(&suggest).text);
}

/* The name is NONE where it is of the file that this one is compared with. */
static bool parse_binding(const struct input *input, const char *text, struct dim_binding *binding)
{
    const char *sign = strchr(text, '=');
    if (!sign || !parse_value(sign + 1, &binding->value)) {
        usage_error(input->invocation, "--bind %s: expected NAME=N, a whole number from 0", text);
        return false;
    }
    size_t size = (size_t)(sign - text);
    binding->name = intern_find(&input->module->names, text, size);
    if (binding->name != NONE && dims_are_named(input->module, binding->name))
        return true;
    binding->name = NONE;
    if (input_is_compared(input))
        return true;
    report_unknown(input, text, size);
    return false;
}

enum exit_status bind_argument_read(const struct input *input, struct dim_bindings *bindings)
{
    const char *text;
    for (unsigned i = 0; (text = option_value_at(input->invocation, "bind", i)); i++) {
        struct dim_binding binding;
        if (!parse_binding(input, text, &binding))
            return EXIT_USAGE;
        if (binding.name != NONE && !add_binding(input, bindings, binding))
            return EXIT_USAGE;
    }
    return EXIT_DONE;
}
