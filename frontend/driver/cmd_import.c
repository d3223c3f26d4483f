/* skirc import: a graph in a format of others as a .skir file. */
#include "frontend/driver/cmd.h"
#include "frontend/driver/module_io.h"
#include "frontend/driver/shared_options.h"
#include "frontend/exchange.h"
#include "frontend/import/dump/dump.h"
#include "frontend/import/dump/marks.h"
#include "ir/core/arch.h"
#include "ir/support/file_fault.h"

#include <string.h>

const struct option options_import[] = {
    {"format", 0, OPTION_VALUE, "NAME", "the format, one of those below, instead of a guess"},
    {"output", 'o', OPTION_VALUE, "OUT.skir", "where to write; standard output without it"},
    {"name", 0, OPTION_VALUE, "NAME", "name of the graph, of the first where there are several"},
    {"device", 0, OPTION_VALUE, "aic=N,aiv=N[,arch=CHIP]",
     "write a target with so many cores, and this chip: c220, c310"},
    {"scope", 0, OPTION_MANY, "NAME[=OPS]",
     "put ops into a scope: all, those whose name fits a pattern with * and ?, or those from one "
     "to another, FROM..TO; adds up"},
    {"scopes", 0, OPTION_VALUE, "FILE", "the same by a file, which may give streams, too"},
    {"keep-attrs", 0, OPTION_VALUE, "WHICH",
     "attributes of ops to keep besides those that mean something to skir: known, those that the "
     "op's type has (default); all; none; or their names, separated by commas"},
    {"dangling", 0, OPTION_WORD("error", "param"), "WHAT",
     "an input that nothing gives: error (default), or param, a parameter of the graph"},
    {"input-shape", 0, OPTION_VALUE, "NAME:N,N,...[;...]",
     "shapes of inputs, as GE's ge.inputShape: -1 is a dimension with gears"},
    {"dynamic-dims", 0, OPTION_VALUE, "N,N,...;N,N,...",
     "the combinations of these gears, as GE's ge.dynamicDims"},
    {"kernel-dir", 0, OPTION_VALUE, "DIR",
     "folder of sample kernels: ops that have none get stubs; without it, those of this skirc"},
    {"counts", 0, OPTION_FLAG, NULL,
     "print what the input has, as JSON, instead: graphs, nodes, edges, and what is lost"},
    {"translations", 0, OPTION_VALUE, "SOURCE",
     "print, instead, what operators of a source become, as a table in Markdown: onnx, tf"},
    {0},
};

/* The options as the readers take them. */
struct wishes {
    struct dump_options options;
    char *keys;             /* a copy of the list, cut into its names */
    VEC(const char *) list; /* these, and NULL */
    struct dump_marks marks;
};

static bool take_marks(struct wishes *wishes, const struct invocation *invocation)
{
    char error[512];
    const char *path = option_value(invocation, "scopes"), *argument;
    wishes->options.marks = &wishes->marks;
    if (path && !dump_marks_open(&wishes->marks, path, error, sizeof error))
        return usage_fail(invocation, "--scopes: %s", error);
    for (unsigned n = 0; (argument = option_value_at(invocation, "scope", n)); n++)
        if (!dump_marks_add(&wishes->marks, argument, error, sizeof error))
            return usage_fail(invocation, "--scope: %s", error);
    return true;
}

/* "aic=N,aiv=N[,arch=CHIP]", the core types in either order. */
static bool take_device(struct dump_options *options, const struct invocation *invocation)
{
    static const char *const forms[] = {"aic=%4u,aiv=%4u%n", "aiv=%4u,aic=%4u%n"};
    const char *device = option_value(invocation, "device");
    enum arch arch;
    options->has_device = device != NULL;
    for (int i = 0; device && i < 2; i++) {
        unsigned first, second;
        int end = 0;
        if (sscanf(device, forms[i], &first, &second, &end) != 2 || !end)
            continue;
        options->aic = i == 0 ? first : second;
        options->aiv = i == 0 ? second : first;
        const char *chip = strncmp(device + end, ",arch=", 6) == 0 ? device + end + 6 : NULL;
        bool known = chip && arch_of_text(chip, strlen(chip), &arch);
        options->arch = known ? arch_name(arch) : options->arch;
        if (options->aic <= 1024 && options->aiv <= 1024 && options->aic + options->aiv > 0 &&
            (!device[end] || known))
            return true;
    }
    return !device || usage_fail(invocation,
                                 "--device is aic=N,aiv=N with numbers up to 1024, not both 0, and "
                                 ",arch=c220 or ,arch=c310 behind, not '%s'",
                                 device);
}

static const char *const keep_words[] = {"known", "all", "none", NULL};

static unsigned find_keep(const char *name)
{
    unsigned i = 0;
    while (keep_words[i] && strcmp(keep_words[i], name) != 0)
        i++;
    return i;
}

/* The names of attributes. */
static bool list_keys(struct wishes *wishes, const struct invocation *invocation, const char *names)
{
    wishes->keys = mem_strdup(names);
    char *rest = wishes->keys;
    for (char *name; (name = strsep(&rest, ","));) {
        if (!*name)
            return usage_fail(invocation, "--keep-attrs: a name is missing");
        if (keep_words[find_keep(name)])
            return usage_fail(invocation,
                              "--keep-attrs: '%s' stands alone, or there are names of attributes",
                              name);
        vec_push(&wishes->list, name);
    }
    vec_push(&wishes->list, NULL);
    wishes->options.keep = DUMP_KEEP_LIST;
    wishes->options.keys = wishes->list.at;
    return true;
}

static bool take_wishes(struct wishes *wishes, const struct invocation *invocation)
{
    const char *names = option_value(invocation, "keep-attrs");
    unsigned kept = names ? find_keep(names) : DUMP_KEEP_KNOWN;
    *wishes =
        (struct wishes){.options = {.name = option_value(invocation, "name"),
                                    .keep = (enum dump_keep)kept,
                                    .dangling_params = option_word(invocation, "dangling") == 1,
                                    .input_shape = option_value(invocation, "input-shape"),
                                    .dynamic_dims = option_value(invocation, "dynamic-dims")}};
    if (!keep_words[kept] && !list_keys(wishes, invocation, names))
        return false;
    if (wishes->options.dynamic_dims && !wishes->options.input_shape)
        return usage_fail(invocation, "'--dynamic-dims' needs '--input-shape'");
    return take_device(&wishes->options, invocation) && take_marks(wishes, invocation);
}

static const struct exchange_format *choose_format(const struct invocation *invocation,
                                                   struct input *input)
{
    struct text error = {NULL, 0, 0};
    const char *name = option_value(invocation, "format");
    const struct exchange_format *format =
        name ? exchange_choose(&exchange_formats, EXCHANGE_READ, name, NULL, &error)
             : exchange_guess(&exchange_formats, &input->source);
    if (!format && name)
        usage_error(invocation, "%.*s", (int)error.size, error.at);
    else if (!format)
        exchange_refuse(&exchange_formats, &input->source, &input->diags);
    text_free(&error);
    return format;
}

static enum exit_status print_counts(const struct invocation *invocation, struct dump *dump)
{
    struct text text = {NULL, 0, 0};
    dump_count_graphs(dump);
    dump_print_counts(dump, &text);
    enum exit_status status = write_output(invocation, option_value(invocation, "output"), &text);
    text_free(&text);
    return status;
}

/* Paths in the dump lead from its folder, those of the module from that of the output. */
static enum exit_status write_imported(const struct invocation *invocation, struct module *module)
{
    const char *output = option_value(invocation, "output");
    output = output ? output : "-";
    move_paths(module, invocation->files[0], output);
    return write_module(invocation, output, module, NULL);
}

/* Reads a text in the format that was chosen. Where that fails, or gives nothing, the last error
 * names the format that the text looks like. */
static bool read_format(const struct exchange_format *format, struct dump *dump)
{
    bool fine = format->read(dump);
    const struct exchange_format *other = NULL;
    if (!fine || dump_is_empty(dump))
        other = exchange_guess(&exchange_formats, dump->source);
    if (fine && dump_is_empty(dump) && other != format)
        fine = !diag_at(dump->diags, DIAG_foreign_form, no_span, "there is no graph in the text");
    if (!fine && other && other != format && dump->diags->list.count)
        diag_help(dump->diags, "it looks like '%s'", other->name);
    return fine;
}

/* The sample kernels, which decide which ops need a stub. */
struct kernels {
    struct session session;
    struct arena arena;
};

static void find_kernels(struct kernels *kernels, const struct invocation *invocation,
                         struct input *input, struct dump *dump, struct wishes *wishes)
{
    struct file_fault fault;
    struct session_options options = {.source = input->path};
    kernels->arena = (struct arena){NULL, 0};
    kernel_dir_find(invocation, &kernels->arena, &options);
    session_open(&kernels->session, dump->module, &input->diags, &options);
    struct kernel_source *library = &kernels->session.library.source;
    if (!options.kernel_dir)
        return;
    if (library->load(library, &fault))
        wishes->options.library = library;
    else
        diag_fault(&input->diags, DIAG_file, &fault);
}

/* The option that changes the graph, so that the module of skirc export is not it; NULL. */
static const char *changing_option(const struct invocation *invocation)
{
    static const char *const names[] = {"name",     "device",      "scope",        "scopes",
                                        "dangling", "input-shape", "dynamic-dims", NULL};
    const char *keep = option_value(invocation, "keep-attrs");
    for (const char *const *name = names; *name; name++)
        if (option_given(invocation, *name))
            return *name;
    return keep && strcmp(keep, "all") != 0 && strcmp(keep, "known") != 0 ? "keep-attrs" : NULL;
}

/* The module that skirc export wrote, if the text is one of its. Else says why it is not taken. */
static bool take_exported(const struct invocation *invocation, struct dump *dump)
{
    const char *option = changing_option(invocation);
    uint32_t loc;
    if (option_given(invocation, "counts") || !exported_find(dump->source, &loc))
        return false;
    if (!option && exported_take(dump))
        return true;
    struct span span = source_token(dump->source, loc);
    bool said = option ? diag_at(dump->diags, DIAG_exported_module, span,
                                 "the module that skirc export wrote here is not imported: "
                                 "'--%s' changes it",
                                 option)
                       : diag_at(dump->diags, DIAG_exported_module, span,
                                 "the module that skirc export wrote here is not imported: the "
                                 "text has changed since");
    if (said)
        diag_help(dump->diags, "delete the comments from here on to import the graph alone");
    return false;
}

/* Reads the dump, and writes what was asked for. */
static enum exit_status import(const struct invocation *invocation, struct input *input,
                               const struct exchange_format *format, struct wishes *wishes)
{
    struct dump dump;
    struct kernels kernels;
    enum exit_status status = EXIT_INPUT;
    dump_init(&dump, &input->source, &input->diags, &wishes->options);
    find_kernels(&kernels, invocation, input, &dump, wishes);
    if (take_exported(invocation, &dump) || (!input->diags.counts[SEVERITY_ERROR] &&
                                             read_format(format, &dump) && dump_finish(&dump))) {
        session_check_objects(&kernels.session);
        if (option_given(invocation, "counts"))
            status = print_counts(invocation, &dump);
        else
            status = write_imported(invocation, dump.module);
    }
    session_close(&kernels.session);
    arena_free(&kernels.arena);
    dump_free(&dump);
    return status;
}

/* The table of the source of that name. */
static enum exit_status print_translations(const struct invocation *invocation)
{
    const char *name = option_value(invocation, "translations");
    struct text text = {NULL, 0, 0};
    for (unsigned dialect = 0; dialect < DIALECTS; dialect++) {
        const struct translation_table *table = translation_table((enum dialect)dialect);
        if (!table || strcmp(table->name, name) != 0)
            continue;
        translations_print(&text, table);
        enum exit_status status = write_output(invocation, "-", &text);
        text_free(&text);
        return status;
    }
    return usage_error(invocation, "--translations: there is no source '%s', only onnx and tf",
                       name);
}

enum exit_status cmd_import(struct invocation *invocation)
{
    struct wishes wishes;
    struct input input;
    enum exit_status status = EXIT_USAGE;
    if (option_given(invocation, "translations"))
        return print_translations(invocation);
    if (invocation->n_files == 0)
        return usage_error(invocation, "import needs a file; '-' is standard input");
    if (take_wishes(&wishes, invocation)) {
        const struct exchange_format *format;
        status = EXIT_INPUT;
        if (!input_open_foreign(&input, invocation, invocation->files[0]))
            format = NULL;
        else if (!(format = choose_format(invocation, &input)) &&
                 option_value(invocation, "format"))
            status = EXIT_USAGE;
        if (format)
            status = import(invocation, &input, format, &wishes);
        status = input_close(&input, status);
    }
    mem_free(wishes.keys);
    vec_free(&wishes.list);
    dump_marks_free(&wishes.marks);
    return status;
}
