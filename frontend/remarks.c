#include "frontend/remarks.h"
#include "frontend/input.h"

#include <cjson/cJSON.h>

#include <stdlib.h>
#include <string.h>

static void add_position(struct diags *diags, cJSON *object, struct span span)
{
    if (!span.end || !diags->source)
        return;
    struct position at = source_position(diags->source, span.begin);
    cJSON_AddNumberToObject(object, "line", at.line);
    cJSON_AddNumberToObject(object, "column", at.column);
}

static cJSON *diag_object(struct diags *diags, const struct diag *diag)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "severity", severity_text(diag->severity));
    cJSON_AddStringToObject(object, "id", diag_id_text(diag->id));
    cJSON_AddStringToObject(object, "text", diag->text);
    add_position(diags, object, diag->span);
    cJSON *notes = cJSON_AddArrayToObject(object, "notes");
    for (const struct diag_note *note = diag->notes; note; note = note->next) {
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "text", note->text);
        add_position(diags, item, note->span);
        cJSON_AddItemToArray(notes, item);
    }
    return object;
}

enum exit_status remarks_write(const struct invocation *invocation, struct diags *diags,
                               const char *path)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "file", diags->path ? diags->path : "");
    cJSON *list = cJSON_AddArrayToObject(root, "diagnostics");
    for (uint32_t i = 0; i < diags->list.count; i++)
        cJSON_AddItemToArray(list, diag_object(diags, &diags->list.at[i]));
    char *json = cJSON_Print(root);
    cJSON_Delete(root);
    struct text text = {NULL, 0, 0};
    text_string(&text, json ? json : "");
    text_char(&text, '\n');
    cJSON_free(json);
    enum exit_status status = write_output(invocation, path, &text);
    text_free(&text);
    return status;
}
