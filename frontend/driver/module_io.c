/* Files of modules as the commands read and write them: outputs and their paths, inputs with their
 * diagnostics, and relative paths in modules that move to another folder. */
#include "frontend/driver/module_io.h"
#include "frontend/driver/shared_options.h"
#include "frontend/exchange.h"
#include "ir/analysis/contents.h"
#include "ir/optypes/op_types.h"
#include "ir/support/file_fault.h"
#include "ir/support/text.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/parse.h"
#include "ir/verify/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum exit_status worse_status(enum exit_status a, enum exit_status b)
{
    return a > b ? a : b;
}

/* Text goes to a stream, or where that is NULL to a file. */
struct output_sink {
    struct print_sink sink;
    FILE *stream;
    struct file_out file;
    char error[512];
};

static bool output_take(struct print_sink *sink, const char *bytes, size_t size)
{
    struct output_sink *to = (struct output_sink *)sink;
    return to->stream ? fwrite(bytes, 1, size, to->stream) == size
                      : file_out_write(&to->file, bytes, size, to->error, sizeof to->error);
}

enum exit_status write_produced(const struct invocation *invocation, const char *path,
                                text_producer *produce, const void *what)
{
    struct output_sink to = {.sink = {output_take}};
    if (!path || strcmp(path, "-") == 0) {
        to.stream = invocation->out;
        return produce(&to.sink, what) && fflush(to.stream) == 0
                   ? EXIT_DONE
                   : input_error(invocation, "cannot write the output");
    }
    if (!file_out_open(&to.file, path, to.error, sizeof to.error))
        return input_error(invocation, "%s", to.error);
    if (!produce(&to.sink, what))
        file_out_abandon(&to.file);
    else if (file_out_commit(&to.file, to.error, sizeof to.error))
        return EXIT_DONE;
    return input_error(invocation, "%s", to.error);
}

static bool produce_text(struct print_sink *sink, const void *what)
{
    const struct text *text = what;
    return text->size == 0 || sink->take(sink, text->at, text->size);
}

enum exit_status write_output(const struct invocation *invocation, const char *path,
                              const struct text *text)
{
    return write_produced(invocation, path, produce_text, text);
}

struct commented_module {
    const struct module *module;
    const struct spans *comments;
};

static bool produce_module(struct print_sink *sink, const void *what)
{
    const struct commented_module *commented = what;
    return print_module_to(sink, commented->module, commented->comments);
}

enum exit_status write_module(const struct invocation *invocation, const char *path,
                              const struct module *module, const struct spans *comments)
{
    struct commented_module commented = {module, comments};
    return write_produced(invocation, path, produce_module, &commented);
}

/* ---------------------------------------------------------------------------- paths ---- */

/* A file that an option names to be written. */
struct written {
    const char *option, *path;
    struct stat st;
    bool exists;
};

/* A path that leads to nothing is compared as text. */
static bool is_one_file(const struct written *a, const struct written *b)
{
    if (a->exists || b->exists)
        return a->exists && b->exists && S_ISREG(a->st.st_mode) && a->st.st_dev == b->st.st_dev &&
               a->st.st_ino == b->st.st_ino;
    return strcmp(a->path, b->path) == 0 && strcmp(a->path, "-") != 0;
}

bool outputs_are_apart(const struct invocation *invocation)
{
    static const char *const options[] = {"output", "remarks", "json", "profile", "trace", NULL};
    bool names_values = strcmp(invocation->command->name, "run") == 0, apart = true;
    VEC(struct written) all = {NULL, 0, 0};
    for (unsigned i = 0; options[i]; i++) {
        const char *value;
        for (unsigned n = 0; apart && (value = option_value_at(invocation, options[i], n)); n++) {
            /* `run --output` names a value before the path. */
            const char *path = names_values && i == 0 ? strchr(value, '=') : NULL;
            struct written written = {.option = options[i],
                                      .path = path && path[1] ? path + 1 : value};
            written.exists = stat(written.path, &written.st) == 0;
            if (!*written.path)
                apart = usage_fail(invocation, "'--%s=' needs the name of a file", written.option);
            for (uint32_t k = 0; apart && k < all.count; k++)
                if (is_one_file(&written, &all.at[k]))
                    apart =
                        usage_fail(invocation, "'--%s' and '--%s' would both be written to '%s'",
                                   all.at[k].option, written.option, written.path);
            vec_push(&all, written);
        }
    }
    vec_free(&all);
    return apart;
}

/* What a command writes of each of its files. */
struct outputs {
    struct arena arena;
    struct intern names; /* of `paths` */
    const char **paths;  /* by file of the invocation */
};

static bool ends_in_slash(const char *path)
{
    size_t size = strlen(path);
    return size > 0 && path[size - 1] == '/';
}

/* In the folder, the names of the inputs with the suffix in the place of ".skir". */
static enum exit_status plan_in_folder(struct outputs *outputs, const struct invocation *invocation,
                                       const char *folder, const char *suffix)
{
    for (unsigned i = 0; i < invocation->n_files; i++) {
        const char *input = invocation->files[i], *slash = strrchr(input, '/');
        const char *name = slash ? slash + 1 : input;
        size_t size = strlen(name);
        if (strcmp(input, "-") == 0)
            return usage_error(invocation, "standard input has no name to be written by to '%s'",
                               folder);
        if (size > 5 && strcmp(name + size - 5, ".skir") == 0)
            size -= 5;
        const char *path = outputs->paths[i] =
            arena_printf(&outputs->arena, "%s%s%.*s%s", folder, ends_in_slash(folder) ? "" : "/",
                         (int)size, name, suffix);
        uint32_t first = intern_copy(&outputs->names, path, strlen(path));
        if (first != i)
            return usage_error(invocation, "'%s' and '%s' would both be written to '%s'",
                               invocation->files[first], input, path);
        for (unsigned other = 0; other < invocation->n_files; other++)
            if (path_same(path, invocation->files[other]))
                return usage_error(invocation, "the output '%s' would replace the input '%s'", path,
                                   invocation->files[other]);
    }
    struct stat st;
    if (mkdir(folder, 0777) != 0 && (errno != EEXIST || stat(folder, &st) != 0))
        return input_error(invocation, "cannot make the folder '%s': %s", folder, strerror(errno));
    return EXIT_DONE;
}

static enum exit_status plan_outputs(struct outputs *outputs, const struct invocation *invocation,
                                     const char *suffix, enum outputs_without without)
{
    const char *output = option_value(invocation, "output");
    unsigned count = invocation->n_files;
    struct stat st;
    outputs->paths = arena_alloc(&outputs->arena, count * sizeof *outputs->paths);
    for (unsigned i = 0; i < count; i++)
        outputs->paths[i] = output ? output : "-";
    if (output && (ends_in_slash(output) || (stat(output, &st) == 0 && S_ISDIR(st.st_mode))))
        return plan_in_folder(outputs, invocation, output, suffix);
    if (count > 1 && output)
        return usage_error(invocation, "%u files need a folder: '%s' is none, '%s/' is made", count,
                           output, output);
    if (count > 1 && without == OUTPUTS_ONE)
        return usage_error(invocation, "%u files need a folder to be written to: -o FOLDER/",
                           count);
    return EXIT_DONE;
}

enum exit_status outputs_each(struct invocation *invocation, const char *suffix,
                              enum outputs_without without, outputs_work *work, const void *user)
{
    struct outputs outputs = {.paths = NULL};
    enum exit_status status = plan_outputs(&outputs, invocation, suffix, without);
    bool planned = status == EXIT_DONE;
    for (unsigned i = 0; planned && i < invocation->n_files; i++)
        status =
            worse_status(status, work(invocation, invocation->files[i], outputs.paths[i], user));
    intern_free(&outputs.names);
    arena_free(&outputs.arena);
    return status;
}

/* ----------------------------------------------------------------- diagnostics as JSON ---- */

static void put_origin(struct json *json, struct diag_origin origin)
{
    if (origin.text)
        json_add_bytes(json, "origin", origin.text, origin.size);
}

static void put_position(struct json *json, struct diags *diags, struct span span, const char *file)
{
    if (!span.end || !diags->source)
        return;
    uint32_t begin = span.begin;
    struct source *source = source_at(diags->source, &begin);
    struct position at = source_position(source, begin);
    if (source != diags->source || file)
        json_add_string(json, "file", source != diags->source ? source->path : file);
    json_add_unsigned(json, "line", at.line);
    json_add_unsigned(json, "column", at.column);
}

static void put_note(struct json *json, struct diags *diags, const struct diag_note *note,
                     const char *file)
{
    json_open_object(json);
    json_add_string(json, "text", note->text);
    put_origin(json, note->origin);
    put_position(json, diags, note->span, file);
    json_close_object(json);
}

/* Puts all diagnostics that were kept, remarks among them, into an open array, as objects:
 * severity, id, text, line, column (where there is a position), notes. `file` is added for what is
 * in the source itself, unless it is NULL. */
static void remarks_json(struct json *json, struct diags *diags, const char *file)
{
    for (uint32_t i = 0; i < diags->list.count; i++) {
        const struct diag *diag = &diags->list.at[i];
        json_open_object(json);
        json_add_string(json, "severity", severity_text(diag->severity));
        json_add_string(json, "id", diag_id_text(diag->id));
        json_add_string(json, "text", diag->text);
        put_origin(json, diag->origin);
        put_position(json, diags, diag->span, file);
        /* Elements of a list stand one after the other. */
        const struct diag_field *field = diag->fields;
        while (field) {
            const char *key = field->key;
            if (!field->listed) {
                json_add_string(json, key, field->value);
                field = field->next;
                continue;
            }
            json_key(json, key);
            json_open_array(json);
            for (; field && field->listed && strcmp(field->key, key) == 0; field = field->next)
                json_string(json, field->value);
            json_close_array(json);
        }
        const char *copies = diag_copies_text(diags, diag);
        json_key(json, "notes");
        json_open_array(json);
        for (const struct diag_note *note = diag->notes; note; note = note->next)
            put_note(json, diags, note, file);
        if (copies)
            put_note(json, diags, &(struct diag_note){.text = copies, .span = no_span}, file);
        json_close_array(json);
        json_close_object(json);
    }
}

/* Writes them to `path` ("-": standard output). */
static enum exit_status remarks_write(const struct invocation *invocation, struct diags *diags,
                                      const char *path)
{
    struct text text = {NULL, 0, 0};
    struct json json = {.text = &text, .indented = true};
    json_open_object(&json);
    json_add_string(&json, "file", diags->path ? diags->path : "");
    json_key(&json, "diagnostics");
    json_open_array(&json);
    remarks_json(&json, diags, NULL);
    json_close_array(&json);
    json_close_object(&json);
    text_char(&text, '\n');
    enum exit_status status = write_output(invocation, path, &text);
    text_free(&text);
    return status;
}

/* --------------------------------------------------------------------------- inputs ---- */

static bool use_colour(const struct invocation *invocation)
{
    enum { AUTO, ALWAYS } when = option_word(invocation, "color");
    const char *no_colour = getenv("NO_COLOR");
    int fd = fileno(invocation->err);
    return when == AUTO ? !(no_colour && *no_colour) && fd >= 0 && isatty(fd) : when == ALWAYS;
}

static void open_source(struct input *input, const struct invocation *invocation, const char *path,
                        enum source_language language)
{
    const char *shown = strcmp(path, "-") == 0 ? "<stdin>" : path;
    char error[512];
    *input = (struct input){.invocation = invocation, .path = path};
    diags_init(&input->diags, NULL, shown);
    input->diags.max_errors =
        (uint32_t)option_number(invocation, "max-errors", input->diags.max_errors);
    input->diags.remarks = option_given(invocation, "remarks");
    bool read = file_read_text(input->path, &input->bytes, error, sizeof error);
    char *data = input->bytes.data;
    if (!read)
        diag_at(&input->diags, DIAG_file, no_span, "%s", error);
    else if (!(language == SOURCE_FOREIGN
                   ? source_init_foreign(&input->source, shown, data, input->bytes.size)
                   : source_init(&input->source, shown, data, input->bytes.size)))
        diag_at(&input->diags, DIAG_file, no_span, "the file is larger than 4 GiB");
    else
        input->diags.source = &input->source;
}

static void open_parsed(struct input *input, const struct invocation *invocation, const char *path,
                        struct source_reader *reader)
{
    open_source(input, invocation, path, SOURCE_SKIR);
    input->source.reader = reader;
    if (input->diags.source)
        input->module = parse_module(&input->source, &input->diags, &input->comments);
    if (input->diags.source && !input->module) {
        /* A dump is no text in .skir, and its first error says nothing about what to do. */
        const struct exchange_format *format = exchange_guess(&exchange_formats, &input->source);
        if (format && input->diags.list.count)
            diag_help(&input->diags, "it looks like '%s', which 'skirc import' reads",
                      format->name);
    }
    if (input->module && option_exists(invocation, "jobs"))
        threads_option(invocation, &input->module->threads);
}

void input_open(struct input *input, const struct invocation *invocation, const char *path)
{
    open_parsed(input, invocation, path, NULL);
}

bool input_open_foreign(struct input *input, const struct invocation *invocation, const char *path)
{
    open_source(input, invocation, path, SOURCE_FOREIGN);
    return input->diags.source != NULL;
}

bool input_open_verified(struct input *input, const struct invocation *invocation, const char *path)
{
    const char *folder = option_value(invocation, "kernel-dir");
    struct file_fault fault;
    open_parsed(input, invocation, path, source_file_reader());
    if (!input->module)
        return false;
    if (folder && !op_types_add_folder(op_types_of(input->module), folder, &fault)) {
        diag_fault(&input->diags, DIAG_op_data, &fault);
        return false;
    }
    verify_warnings(input->module, &input->diags);
    bool inferred = infer_types(input->module, &input->diags);
    return verify_module(input->module, &input->diags) && inferred;
}

void input_diags_json(struct input *input, struct json *json, const char *file)
{
    if (input->module)
        origins_mark(input->module, &input->diags);
    remarks_json(json, &input->diags, file);
}

enum exit_status input_close(struct input *input, enum exit_status status)
{
    const char *remarks = input->keeps_remarks ? NULL : option_value(input->invocation, "remarks");
    if (input->module)
        origins_mark(input->module, &input->diags);
    diags_print(&input->diags, input->invocation->err, use_colour(input->invocation));
    if (input->diags.counts[SEVERITY_ERROR] && status == EXIT_DONE)
        status = EXIT_INPUT;
    if (remarks)
        status = worse_status(status, remarks_write(input->invocation, &input->diags, remarks));
    module_free(input->module);
    vec_free(&input->comments);
    diags_free(&input->diags);
    source_free(&input->source);
    file_bytes_free(&input->bytes);
    return status;
}

bool input_is_compared(const struct input *input)
{
    const struct invocation *invocation = input->invocation;
    return option_exists(invocation, "compare") && invocation->n_files > 0 &&
           strcmp(input->path, invocation->files[0]) != 0;
}

/* The folder of a path, without links; NULL where there is none. */
static char *real_folder(const char *path)
{
    char *folder = path_folder(path), *real = path_real(folder);
    mem_free(folder);
    return real;
}

/* The size of what two absolute paths have in common: whole names. */
static size_t common_size(const char *a, const char *b)
{
    size_t common = 0, i = 0;
    for (;; i++) {
        bool a_ends = a[i] == '/' || !a[i], b_ends = b[i] == '/' || !b[i];
        if (a_ends && b_ends)
            common = i;
        if (a[i] != b[i] || !a[i])
            return common;
    }
}

/* Where a module comes from and goes to: absolute paths of folders, without links. */
struct move {
    char *old, *new;
};

/* The path, if it is a relative one, as it leads from the new folder. Only what stands in front of
 * the path is known to have no links: steps back from there are taken. */
static uint32_t moved_path(struct module *module, const struct move *move, uint32_t path)
{
    const struct intern_name *name = &module->names.names[path];
    struct text folder = {NULL, 0, 0}, moved = {NULL, 0, 0};
    size_t size = strlen(move->old), at = 0, last = name->size;
    if (name->size == 0 || name->text[0] == '/' || memchr(name->text, '\0', name->size))
        return path;
    for (; name->size - at > 3 && memcmp(name->text + at, "../", 3) == 0; at += 3)
        while (size > 0 && move->old[--size] != '/')
            continue;
    while (last > at && name->text[last - 1] != '/')
        last--;
    text_printf(&folder, "%.*s/%.*s", (int)size, move->old, (int)(last > at ? last - at - 1 : 0),
                name->text + at);
    /* The way from one folder to another, with a slash at its end, both without links. */
    size_t common = common_size(move->new, folder.at);
    for (const char *p = move->new + common; *p; p++)
        if (*p == '/' && p[1])
            text_string(&moved, "../");
    for (const char *p = folder.at + common; *p == '/'; p++)
        common++;
    text_string(&moved, folder.at + common);
    if (folder.at[common])
        text_char(&moved, '/');
    text_bytes(&moved, name->text + last, name->size - last);
    path = intern_copy(&module->names, moved.at, moved.size);
    text_free(&folder);
    text_free(&moved);
    return path;
}

/* Ops that a pass has copied share their attributes: `moved` marks what was met, by attribute. */
static void move_contents(struct module *module, const struct graph *graph, const struct move *move,
                          bool *moved)
{
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct attr *attr = op_contents_attr(module, graph, &graph->ops.at[i]);
        if (!attr || attr->value.kind != ATTR_DICT)
            continue;
        const struct attr *file =
            attr_find(module, (struct range){attr->value.first, attr->value.count}, W_file);
        if (!file || file->value.kind != ATTR_STRING || moved[file - module->attrs.at])
            continue;
        moved[file - module->attrs.at] = true;
        struct attr *own = &module->attrs.at[file - module->attrs.at];
        own->value.id = moved_path(module, move, own->value.id);
    }
}

/* Those that were imported: the sample kernels are not meant. Kernels share no attributes. */
static void move_kernels(struct module *module, const struct move *move)
{
    bool foreign = module->source && module->source->language == SOURCE_FOREIGN;
    for (uint32_t i = 0; i < module->kernels.count; i++) {
        struct range attrs = module->kernels.at[i].attrs;
        if (!foreign && !attr_find(module, attrs, W__json))
            continue;
        for (uint32_t n = attrs.first; n < attrs.first + attrs.count; n++) {
            struct attr *attr = &module->attrs.at[n];
            if ((attr->key == W_object || attr->key == W__json) && attr->value.kind == ATTR_STRING)
                attr->value.id = moved_path(module, move, attr->value.id);
        }
    }
}

void move_paths(struct module *module, const char *from, const char *to)
{
    if (strcmp(to, "-") == 0)
        return;
    struct move move = {real_folder(from), real_folder(to)};
    if (move.old && move.new &&strcmp(move.old, move.new) != 0) {
        bool *moved = mem_calloc(module->attrs.count, sizeof *moved);
        for (uint32_t i = 0; i < module->includes.count; i++) {
            struct include *include = &module->includes.at[i];
            if (!module_includes(module, include->loc))
                include->path = moved_path(module, &move, include->path);
        }
        for (uint32_t i = 0; i < module->graphs.count; i++)
            move_contents(module, &module->graphs.at[i], &move, moved);
        move_kernels(module, &move);
        mem_free(moved);
    }
    mem_free(move.old);
    mem_free(move.new);
}
