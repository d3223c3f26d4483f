#include "frontend/exchange/trace_events.h"
#include "frontend/cli/json.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    PROCESS = 1,
    CORES = 1024, /* of a type at most: numbers of AIVs follow those of AICs */
};

static const char *const core_names[SKRT_CORE_TYPES] = {[SKRT_AIC] = "aic", [SKRT_AIV] = "aiv"};

/* By kind: what Chrome's `cat` says, and what stands before the op's name. */
static const struct {
    const char *category, *prefix;
} kinds[] = {
    [SKRT_PROFILE_KERNEL] = {"kernel", ""},
    [SKRT_PROFILE_OP] = {"op", ""},
    [SKRT_PROFILE_NOTIFY] = {"notify", "notify of "},
    [SKRT_PROFILE_WAIT] = {"wait", "wait of "},
};

static uint32_t row_of(const struct skrt_profile_record *record)
{
    return record->type * CORES + record->core;
}

/* ------------------------------------------------------------------------------ rows ---- */

static void add_metadata(cJSON *events, const char *what, uint32_t row, const char *key,
                         cJSON *value)
{
    cJSON *event = cJSON_CreateObject();
    cJSON_AddStringToObject(event, "name", what);
    cJSON_AddStringToObject(event, "ph", "M");
    cJSON_AddNumberToObject(event, "pid", PROCESS);
    cJSON_AddNumberToObject(event, "tid", row);
    cJSON_AddItemToObject(cJSON_AddObjectToObject(event, "args"), key, value);
    cJSON_AddItemToArray(events, event);
}

static void add_rows(cJSON *events, const struct host_profile *profile)
{
    bool seen[SKRT_CORE_TYPES * CORES] = {false};
    for (uint32_t i = 0; i < profile->events.count; i++)
        seen[row_of(&profile->events.at[i].record)] = true;
    for (uint32_t row = 0; row < SKRT_CORE_TYPES * CORES; row++) {
        char name[32];
        if (!seen[row])
            continue;
        snprintf(name, sizeof name, "%s %u", core_names[row / CORES], row % CORES);
        add_metadata(events, "thread_name", row, "name", cJSON_CreateString(name));
        add_metadata(events, "thread_sort_index", row, "sort_index", cJSON_CreateNumber(row));
    }
}

/* ---------------------------------------------------------------------------- events ---- */

static void add_name(cJSON *event, const struct host_profile_launch *launch,
                     const struct skrt_profile_record *record)
{
    struct text name = {NULL, 0, 0};
    text_string(&name, kinds[record->kind].prefix);
    if (record->kind == SKRT_PROFILE_KERNEL)
        text_string(&name, launch->name);
    else if (record->index < launch->n_ops)
        text_string(&name, launch->ops[record->index]);
    else
        text_printf(&name, "op %u", record->index);
    text_char(&name, '\0');
    json_add_string(event, "name", name.at);
    text_free(&name);
}

static void add_event(cJSON *events, const struct host_profile *profile,
                      const struct host_profile_event *event)
{
    const struct skrt_profile_record *record = &event->record;
    const struct host_profile_launch *launch = &profile->launches.at[event->launch];
    cJSON *object = cJSON_CreateObject();
    add_name(object, launch, record);
    cJSON_AddStringToObject(object, "cat", kinds[record->kind].category);
    cJSON_AddStringToObject(object, "ph", record->phase == SKRT_BEGIN ? "B" : "E");
    cJSON_AddNumberToObject(object, "pid", PROCESS);
    cJSON_AddNumberToObject(object, "tid", row_of(record));
    cJSON_AddNumberToObject(object, "ts", (double)record->ns / 1000); /* microseconds */
    cJSON *args = cJSON_AddObjectToObject(object, "args");
    json_add_string(args, "launch", launch->name);
    if (record->kind != SKRT_PROFILE_KERNEL)
        cJSON_AddNumberToObject(args, "op", record->index);
    cJSON_AddItemToArray(events, object);
}

enum exit_status profile_write(const struct invocation *invocation,
                               const struct host_profile *profile, const char *path)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "displayTimeUnit", "ns");
    cJSON *other = cJSON_AddObjectToObject(root, "otherData");
    cJSON_AddNumberToObject(other, "dropped", (double)profile->dropped);
    cJSON *events = cJSON_AddArrayToObject(root, "traceEvents");
    add_rows(events, profile);
    for (uint32_t i = 0; i < profile->events.count; i++)
        add_event(events, profile, &profile->events.at[i]);
    return json_write(invocation, path, root, false);
}
