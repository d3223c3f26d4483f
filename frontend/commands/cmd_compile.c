/* skirc compile: graph to linked object. */
#include "backend/host/emit.h"
#include "frontend/cli/sk_argument.h"
#include "frontend/commands/cmd.h"
#include "frontend/commands/lowered_input.h"

const struct option options_compile[] = {
    {"output", 'o', OPTION_VALUE, "OUT", "where to write; standard output for text"},
    {"target", 0, OPTION_VALUE, "TARGET", "host (this machine)"},
    {"emit", 0, OPTION_VALUE, "WHAT",
     "obj (the linked object), skir (the module), entry (the entries and their kernels), c (the "
     "entries' source)"},
    {"kernel-dir", 0, OPTION_VALUE, "DIR", "where the sample kernels are"},
    {"sk-options", 0, OPTION_VALUE, "TEXT", "options of every scope, over what the file says"},
    {0},
};

enum emit { EMIT_OBJ, EMIT_SKIR, EMIT_ENTRY, EMIT_C };

/* Only entries and kernels: the text without graphs. */
static void print_entries(struct text *text, const struct module *module)
{
    struct module view = *module;
    view.order.at = mem_calloc(module->order.count, sizeof *view.order.at);
    view.order.count = 0;
    for (uint32_t i = 0; i < module->order.count; i++)
        if ((module->order.at[i] & 3) != SYMBOL_GRAPH)
            view.order.at[view.order.count++] = module->order.at[i];
    print_module(text, &view, NULL);
    mem_free(view.order.at);
}

static enum exit_status emit_text(struct lowered_input *lowered, enum emit emit, const char *output)
{
    struct text text = {NULL, 0, 0};
    const struct module *module = lowered->input.module;
    enum exit_status status = EXIT_DONE;
    if (emit == EMIT_SKIR)
        print_module(&text, module, NULL);
    else if (emit == EMIT_ENTRY)
        print_entries(&text, module);
    else if (!host_emit(&text, module, &lowered->input.diags))
        status = EXIT_INPUT;
    if (status == EXIT_DONE)
        status = write_output(lowered->input.invocation, output ? output : "-", &text);
    text_free(&text);
    return status;
}

static enum exit_status emit_object(struct lowered_input *lowered, const char *output)
{
    struct diags *diags = &lowered->input.diags;
    if (lowered->input.module->entries.count == 0) {
        if (diag_at(diags, DIAG_nothing_to_fuse, (struct span){0, 0},
                    "there is no super kernel to compile"))
            diag_note(diags, (struct span){0, 0},
                      "mark the ops to be fused with 'scope @NAME { ... }'");
        return EXIT_INPUT;
    }
    return host_exit_status(
        host_compile(lowered->input.module, &lowered->session.places, output, diags));
}

enum exit_status cmd_compile(struct invocation *invocation)
{
    static const char *const targets[] = {"host", "ascend", NULL};
    static const char *const emits[] = {"obj",     "skir",         "entry", "c",
                                        "ascendc", "compile-info", "meta",  NULL};
    unsigned target = 0, emit = EMIT_OBJ;
    const char *output = option_value(invocation, "output");
    if (!option_choice(invocation, "target", targets, &target) ||
        !option_choice(invocation, "emit", emits, &emit) || !sk_argument_check(invocation))
        return EXIT_USAGE;
    if (target != 0 || emit > EMIT_C)
        return usage_error(invocation, "'%s' is not supported by this version",
                           target ? targets[target] : emits[emit]);
    if (emit == EMIT_OBJ && !output)
        return usage_error(invocation, "an object needs a file to be written to: -o OUT");
    struct lowered_input lowered;
    enum exit_status status;
    if (lowered_input_open(&lowered, invocation, invocation->files[0], NULL, false, &status))
        status =
            emit == EMIT_OBJ ? emit_object(&lowered, output) : emit_text(&lowered, emit, output);
    return lowered_input_close(&lowered, status);
}
