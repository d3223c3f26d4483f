/* skirc export: a module in a format of others. */
#include "frontend/driver/cmd.h"
#include "frontend/driver/module_io.h"
#include "frontend/exchange.h"
#include "ir/shapes/gears.h"
#include "ir/syntax/locate.h"
#include "ir/verify/verify.h"

const struct option options_export[] = {
    {"format", 0, OPTION_VALUE, "NAME",
     "the format, one of those below; else OUT's suffix tells it"},
    {"output", 'o', OPTION_VALUE, "OUT",
     "where to write; standard output without it. A folder for several files"},
    {"kernel-dir", 0, OPTION_VALUE, "DIR", "where data of op types is, *.ops.json"},
    {0},
};

/* What is written, and as what. */
struct exported {
    const struct exchange_format *format;
    const struct module *module;
};

static bool produce(struct print_sink *sink, const void *what)
{
    const struct exported *exported = what;
    return exported_write(exported->format, sink, exported->module);
}

/* Formats that list combinations have those that there are. */
static bool mark_gears(const struct exchange_format *format, struct input *input)
{
    bool ok = true;
    for (uint32_t i = 0; format->is_graph && i < input->module->graphs.count; i++)
        ok = gear_rows_mark(input->module, i, &input->diags) && ok;
    return ok;
}

/* What formats that list combinations have no words for. */
static void warn_unsaid(const struct exchange_format *format, struct input *input)
{
    const struct module *module = input->module;
    for (uint32_t i = 0; format->is_graph && i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        uint32_t param;
        const char *why = ge_gears_unsaid(module, graph, &param);
        if (!why)
            continue;
        struct span span = param == NONE ? locate_token(module, graph->gears.at[0].loc)
                                         : locate_token(module, graph->params.at[param].loc);
        if (diag_at(&input->diags, DIAG_gears_unsaid, span,
                    "%s does not list the combinations of gears: %s", format->name, why))
            diag_help(&input->diags, "skirc import finds them in the comments of the file; other "
                                     "tools find dimensions of -1");
    }
}

/* What can be imported has paths that lead from its folder. */
static enum exit_status export_one(struct invocation *invocation, const char *path,
                                   const char *output, const void *user)
{
    struct input input;
    enum exit_status status = EXIT_INPUT;
    if (input_open_verified(&input, invocation, path)) {
        struct exported exported = {user, input.module};
        if ((!exported.format->fits || exported.format->fits(input.module, &input.diags)) &&
            mark_gears(exported.format, &input)) {
            warn_unsaid(exported.format, &input);
            if (exported.format->read)
                move_paths(input.module, path, output);
            status = write_produced(invocation, output, produce, &exported);
        }
    }
    return input_close(&input, status);
}

enum exit_status cmd_export(struct invocation *invocation)
{
    struct text error = {NULL, 0, 0};
    const struct exchange_format *format =
        exchange_choose(&exchange_formats, EXCHANGE_WRITE, option_value(invocation, "format"),
                        option_value(invocation, "output"), &error);
    enum exit_status status =
        format ? outputs_each(invocation, format->suffix, OUTPUTS_ONE, export_one, format)
               : usage_error(invocation, "%.*s", (int)error.size, error.at);
    text_free(&error);
    return status;
}
