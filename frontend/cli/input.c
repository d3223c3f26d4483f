#include "frontend/cli/input.h"
#include "frontend/cli/shared_options.h"
#include "frontend/exchange/exchange.h"
#include "ir/base/file_fault.h"
#include "ir/op_types.h"
#include "ir/syntax/origins.h"
#include "ir/syntax/parse.h"
#include "ir/verify/infer_types.h"
#include "ir/verify/verify.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Elements of a list stand one behind the other. */
static void put_fields(struct json *json, const struct diag_field *field)
{
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

static void put_notes(struct json *json, struct diags *diags, const struct diag *diag,
                      const char *file)
{
    const char *copies = diag_copies_text(diags, diag);
    json_key(json, "notes");
    json_open_array(json);
    for (const struct diag_note *note = diag->notes; note; note = note->next)
        put_note(json, diags, note, file);
    if (copies)
        put_note(json, diags, &(struct diag_note){.text = copies, .span = no_span}, file);
    json_close_array(json);
}

static void put_diag(struct json *json, struct diags *diags, const struct diag *diag,
                     const char *file)
{
    json_open_object(json);
    json_add_string(json, "severity", severity_text(diag->severity));
    json_add_string(json, "id", diag_id_text(diag->id));
    json_add_string(json, "text", diag->text);
    put_origin(json, diag->origin);
    put_position(json, diags, diag->span, file);
    put_fields(json, diag->fields);
    put_notes(json, diags, diag, file);
    json_close_object(json);
}

/* Puts all diagnostics that were kept, remarks among them, into an open array, as objects:
 * severity, id, text, line, column (where there is a position), notes. `file` is added for what is
 * in the source itself, unless it is NULL. */
static void remarks_json(struct json *json, struct diags *diags, const char *file)
{
    for (uint32_t i = 0; i < diags->list.count; i++)
        put_diag(json, diags, &diags->list.at[i], file);
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
    const char *when = option_value(invocation, "color");
    if (when && strcmp(when, "always") == 0)
        return true;
    if (when && strcmp(when, "never") == 0)
        return false;
    const char *no_colour = getenv("NO_COLOR");
    int fd = fileno(invocation->err);
    return !(no_colour && *no_colour) && fd >= 0 && isatty(fd);
}

static const char *shown_path(const char *path)
{
    return strcmp(path, "-") == 0 ? "<stdin>" : path;
}

static bool init_source(struct input *input, enum source_language language)
{
    const char *path = shown_path(input->path);
    if (language == SOURCE_FOREIGN)
        return source_init_foreign(&input->source, path, input->bytes.data, input->bytes.size);
    return source_init(&input->source, path, input->bytes.data, input->bytes.size);
}

static void read_source(struct input *input, enum source_language language)
{
    char error[512];
    if (!file_read_text(input->path, &input->bytes, error, sizeof error))
        diag_at(&input->diags, DIAG_file, no_span, "%s", error);
    else if (!init_source(input, language))
        diag_at(&input->diags, DIAG_file, no_span, "the file is larger than 4 GiB");
    else
        input->diags.source = &input->source;
}

static void open_source(struct input *input, const struct invocation *invocation, const char *path,
                        enum source_language language)
{
    *input = (struct input){.invocation = invocation, .path = path};
    diags_init(&input->diags, NULL, shown_path(path));
    uint64_t max_errors = input->diags.max_errors;
    option_number(invocation, "max-errors", 0, UINT32_MAX, &max_errors);
    input->diags.max_errors = (uint32_t)max_errors;
    input->diags.remarks = option_given(invocation, "remarks");
    read_source(input, language);
}

/* A dump is no text in .skir, and its first error says nothing about what to do. */
static void tell_import(struct input *input)
{
    const struct exchange_format *format = exchange_guess(&exchange_formats, &input->source);
    if (format && input->diags.list.count)
        diag_help(&input->diags, "it looks like '%s', which 'skirc import' reads", format->name);
}

static void open_parsed(struct input *input, const struct invocation *invocation, const char *path,
                        struct source_reader *reader)
{
    open_source(input, invocation, path, SOURCE_SKIR);
    input->source.reader = reader;
    if (input->diags.source)
        input->module = parse_module(&input->source, &input->diags, &input->comments);
    if (input->diags.source && !input->module)
        tell_import(input);
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

/* What a folder of kernels says of op types. */
static bool add_op_types(struct input *input)
{
    struct file_fault fault;
    const char *folder = option_exists(input->invocation, "kernel-dir")
                             ? option_value(input->invocation, "kernel-dir")
                             : NULL;
    if (!folder || op_types_add_folder(input->module->op_types, folder, &fault))
        return true;
    diag_fault(&input->diags, DIAG_op_data, &fault);
    return false;
}

bool input_open_verified(struct input *input, const struct invocation *invocation, const char *path)
{
    open_parsed(input, invocation, path, source_file_reader());
    if (!input->module || !add_op_types(input))
        return false;
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
    const char *remarks = option_value(input->invocation, "remarks");
    if (remarks && input->keeps_remarks)
        remarks = NULL;
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
