#include "frontend/remarks.h"
#include "frontend/output.h"

#include <cjson/cJSON.h>

#include <stdlib.h>
#include <string.h>

/* The number of bytes of the well-formed code point at `text`; 0: there is none. */
static size_t code_point_size(const unsigned char *text)
{
    static const struct {
        unsigned char mask, lead;
        unsigned long least;
    } forms[] = {{0x80, 0, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    size_t size = 0;
    while (size < 4 && (text[0] & forms[size].mask) != forms[size].lead)
        size++;
    if (size == 4)
        return 0;
    unsigned long code = text[0] & ~forms[size].mask & 0xff;
    for (size_t i = 1; i <= size; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    bool surrogate = code >= 0xd800 && code < 0xe000;
    return code < forms[size].least || code > 0x10ffff || surrogate ? 0 : size + 1;
}

/* Names and paths are bytes, JSON is UTF-8: other bytes become U+FFFD, the replacement character. */
static cJSON *string_of(const char *bytes)
{
    struct text text = {NULL, 0, 0};
    while (*bytes) {
        size_t size = code_point_size((const unsigned char *)bytes);
        if (size)
            text_bytes(&text, bytes, size);
        else
            text_string(&text, "\xef\xbf\xbd");
        bytes += size ? size : 1;
    }
    text_char(&text, '\0');
    cJSON *string = cJSON_CreateString(text.at);
    text_free(&text);
    return string;
}

static void add_string(cJSON *object, const char *key, const char *bytes)
{
    cJSON_AddItemToObject(object, key, string_of(bytes));
}

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
            add_string(object, field->key, field->value);
            continue;
        }
        if (!listed || strcmp(listed, field->key) != 0)
            list = cJSON_AddArrayToObject(object, listed = field->key);
        cJSON_AddItemToArray(list, string_of(field->value));
    }
}

static cJSON *diag_object(struct diags *diags, const struct diag *diag)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "severity", severity_text(diag->severity));
    cJSON_AddStringToObject(object, "id", diag_id_text(diag->id));
    add_string(object, "text", diag->text);
    add_position(diags, object, diag->span);
    add_fields(object, diag->fields);
    cJSON *notes = cJSON_AddArrayToObject(object, "notes");
    for (const struct diag_note *note = diag->notes; note; note = note->next) {
        cJSON *item = cJSON_CreateObject();
        add_string(item, "text", note->text);
        add_position(diags, item, note->span);
        cJSON_AddItemToArray(notes, item);
    }
    return object;
}

enum exit_status remarks_write(const struct invocation *invocation, struct diags *diags,
                               const char *path)
{
    cJSON *root = cJSON_CreateObject();
    add_string(root, "file", diags->path ? diags->path : "");
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
