#include "frontend/cli/remarks.h"
#include "frontend/cli/json.h"

#include <string.h>

static void add_position(struct diags *diags, cJSON *object, struct span span)
{
    if (!span.end || !diags->source)
        return;
    struct position at = source_position(diags->source, span.begin);
    cJSON_AddNumberToObject(object, "line", at.line);
    cJSON_AddNumberToObject(object, "column", at.column);
}

/* Elements of a list stand one behind the other. */
static void add_fields(cJSON *object, const struct diag_field *field)
{
    cJSON *list = NULL;
    const char *listed = NULL;
    for (; field; field = field->next) {
        if (!field->listed) {
            json_add_string(object, field->key, field->value);
            continue;
        }
        if (!listed || strcmp(listed, field->key) != 0)
            list = cJSON_AddArrayToObject(object, listed = field->key);
        cJSON_AddItemToArray(list, json_string(field->value));
    }
}

static cJSON *diag_object(struct diags *diags, const struct diag *diag)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "severity", severity_text(diag->severity));
    cJSON_AddStringToObject(object, "id", diag_id_text(diag->id));
    json_add_string(object, "text", diag->text);
    add_position(diags, object, diag->span);
    add_fields(object, diag->fields);
    cJSON *notes = cJSON_AddArrayToObject(object, "notes");
    for (const struct diag_note *note = diag->notes; note; note = note->next) {
        cJSON *item = cJSON_CreateObject();
        json_add_string(item, "text", note->text);
        add_position(diags, item, note->span);
        cJSON_AddItemToArray(notes, item);
    }
    return object;
}

enum exit_status remarks_write(const struct invocation *invocation, struct diags *diags,
                               const char *path)
{
    cJSON *root = cJSON_CreateObject();
    json_add_string(root, "file", diags->path ? diags->path : "");
    cJSON *list = cJSON_AddArrayToObject(root, "diagnostics");
    for (uint32_t i = 0; i < diags->list.count; i++)
        cJSON_AddItemToArray(list, diag_object(diags, &diags->list.at[i]));
    return json_write(invocation, path, root, true);
}
