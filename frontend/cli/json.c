#include "frontend/cli/json.h"

#include <stdlib.h>

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

cJSON *json_string(const char *bytes)
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

void json_add_string(cJSON *object, const char *key, const char *bytes)
{
    cJSON_AddItemToObject(object, key, json_string(bytes));
}

enum exit_status json_write(const struct invocation *invocation, const char *path, cJSON *root,
                            bool indented)
{
    char *json = indented ? cJSON_Print(root) : cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    struct text text = {NULL, 0, 0};
    text_string(&text, json ? json : "");
    text_char(&text, '\n');
    cJSON_free(json);
    enum exit_status status = write_output(invocation, path, &text);
    text_free(&text);
    return status;
}
