#include "frontend/cli/remarks.h"
#include "frontend/cli/output.h"
#include "ir/base/json.h"

#include <string.h>

static void put_origin(struct json *json, struct diag_origin origin)
{
    if (origin.text)
        json_add_bytes(json, "origin", origin.text, origin.size);
}

static void put_position(struct json *json, struct diags *diags, struct span span)
{
    if (!span.end || !diags->source)
        return;
    uint32_t begin = span.begin;
    struct source *source = source_at(diags->source, &begin);
    struct position at = source_position(source, begin);
    if (source != diags->source)
        json_add_string(json, "file", source->path);
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

static void put_notes(struct json *json, struct diags *diags, const struct diag_note *note)
{
    json_key(json, "notes");
    json_open_array(json);
    for (; note; note = note->next) {
        json_open_object(json);
        json_add_string(json, "text", note->text);
        put_origin(json, note->origin);
        put_position(json, diags, note->span);
        json_close_object(json);
    }
    json_close_array(json);
}

static void put_diag(struct json *json, struct diags *diags, const struct diag *diag)
{
    json_open_object(json);
    json_add_string(json, "severity", severity_text(diag->severity));
    json_add_string(json, "id", diag_id_text(diag->id));
    json_add_string(json, "text", diag->text);
    put_origin(json, diag->origin);
    put_position(json, diags, diag->span);
    put_fields(json, diag->fields);
    put_notes(json, diags, diag->notes);
    json_close_object(json);
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
    for (uint32_t i = 0; i < diags->list.count; i++)
        put_diag(&json, diags, &diags->list.at[i]);
    json_close_array(&json);
    json_close_object(&json);
    text_char(&text, '\n');
    enum exit_status status = write_output(invocation, path, &text);
    text_free(&text);
    return status;
}
