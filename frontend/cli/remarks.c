#include "frontend/cli/remarks.h"
#include "frontend/cli/output.h"

#include <string.h>

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

void remarks_json(struct json *json, struct diags *diags, const char *file)
{
    for (uint32_t i = 0; i < diags->list.count; i++)
        put_diag(json, diags, &diags->list.at[i], file);
}

enum exit_status remarks_write(const struct invocation *invocation, struct diags *diags,
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
