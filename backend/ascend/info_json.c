#include "backend/ascend/info_json.h"

#include <ctype.h>

void info_json_name(struct info_json *out, const char *key, uint32_t name)
{
    const struct intern_name *n = &out->module->names.names[name];
    json_add_bytes(&out->json, key, n->text, n->size);
}

void info_json_type(struct info_json *out, const char *key, enum kernel_type type)
{
    struct text text = {NULL, 0, 0};
    text_string(&text, "KERNEL_TYPE_");
    for (const char *name = kernel_type_info(type)->name; *name; name++)
        text_char(&text, (char)toupper((unsigned char)*name));
    json_add_bytes(&out->json, key, text.at, text.size);
    text_free(&text);
}

void info_json_kernel_name(struct info_json *out, const char *key, const struct entry *entry)
{
    struct text name = {NULL, 0, 0};
    entry_kernel_name(&name, out->module, entry);
    json_add_bytes(&out->json, key, name.at, name.size);
    text_free(&name);
}

void info_json_label(struct info_json *out, uint32_t name)
{
    const struct intern_name *n = &out->module->names.names[name];
    uint64_t number;
    if (event_number(n, &number))
        json_unsigned(&out->json, number);
    else
        json_bytes(&out->json, n->text, n->size);
}

void info_json_events(struct info_json *out, const struct launch_info *info, struct range events)
{
    json_open_array(&out->json);
    for (uint32_t i = events.first; i < events.first + events.count; i++)
        info_json_label(out, info->entry->args.at[i].id);
    json_close_array(&out->json);
}
