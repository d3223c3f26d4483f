/* What compile info and metadata share: JSON about launches. */
#ifndef BACKEND_ASCEND_INFO_JSON_H
#define BACKEND_ASCEND_INFO_JSON_H

#include "backend/ascend/launch_info.h"
#include "backend/ascend/symbols.h"
#include "backend/backend.h"
#include "ir/base/json.h"

struct info_json {
    struct json json;
    const struct module *module;
    struct symbols symbols;
    struct entry_finder finder;
    const void *user; /* of info_entries_write */
};

/* Members: the text of a name id; a kernel type as JSON has it; the name of an entry's kernel. */
void info_json_name(struct info_json *out, const char *key, uint32_t name);
void info_json_type(struct info_json *out, const char *key, enum kernel_type type);
void info_json_kernel_name(struct info_json *out, const char *key, const struct entry *entry);

/* A name, or a number where it is one. */
void info_json_label(struct info_json *out, uint32_t name);
/* A list of the events of these arguments: numbers where their names are numbers. */
void info_json_events(struct info_json *out, const struct launch_info *info, struct range events);

#endif
