#include "frontend/commands/opt_reread.h"
#include "frontend/cli/diff.h"
#include "ir/base/file_fault.h"
#include "ir/op_types.h"
#include "ir/syntax/parse.h"
#include "ir/verify/verify.h"

/* A module that was read back. */
struct reread {
    struct source source;
    struct diags diags;
    struct module *module; /* NULL: the text is none */
    struct text again;
};

/* What the input's module knows of op types besides what all know. */
static bool add_op_types(const struct input *input, struct reread *reread)
{
    const char *folder = option_value(input->invocation, "kernel-dir");
    struct file_fault fault;
    return !folder || op_types_add_folder(reread->module->op_types, folder, &fault);
}

/* The text gets the NUL behind its end that sources have. */
static bool read_back(const struct input *input, struct reread *reread, struct text *text)
{
    text_char(text, '\0');
    text->size--;
    bool fits = source_init(&reread->source, "<printed>", text->at, text->size);
    diags_init(&reread->diags, &reread->source, reread->source.path);
    reread->module = fits ? parse_module(&reread->source, &reread->diags, NULL) : NULL;
    if (!reread->module || !add_op_types(input, reread) ||
        !verify_module(reread->module, &reread->diags))
        return false;
    print_whole_module(&reread->again, reread->module, NULL);
    return true;
}

bool opt_reread(const struct input *input, const struct pass *pass)
{
    struct reread reread = {.module = NULL};
    struct text text = {NULL, 0, 0}, diff = {NULL, 0, 0};
    FILE *err = input->invocation->err;
    print_whole_module(&text, input->module, NULL);
    bool read = read_back(input, &reread, &text);
    if (read)
        diff_unified(&diff, "printed", text.at, text.size, "read and printed again",
                     reread.again.at, reread.again.size);
    else
        diags_print(&reread.diags, err, false);
    fwrite(diff.at, 1, diff.size, err);
    bool same = read && diff.size == 0;
    if (!same)
        fprintf(err,
                "skirc: the pass '%s' left a module whose text is not the same module; this is a "
                "defect of %s%s\n",
                pass->name, PASS_BLAME(pass));
    text_free(&diff);
    text_free(&reread.again);
    module_free(reread.module);
    diags_free(&reread.diags);
    source_free(&reread.source);
    text_free(&text);
    return same;
}
