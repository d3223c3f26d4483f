#include "frontend/exchange/writers/trace_events.h"
#include "frontend/exchange/writers/profile_names.h"
#include "frontend/exchange/writers/profile_table.h"
#include "ir/base/json.h"

#include <stdio.h>

enum {
    PROCESS = 1,  /* of the first stream; the others have the next numbers */
    CORES = 1024, /* of a type at most: numbers of AIVs follow those of AICs */
};

static uint32_t row_of(const struct skrt_profile_record *record)
{
    return record->type * CORES + record->core;
}

/* ------------------------------------------------------------------------------ rows ---- */

/* The head of an event that says something of a row, up to its one argument's key. */
static void begin_metadata(struct json *json, const char *what, uint32_t stream, uint32_t row,
                           const char *key)
{
    json_open_object(json);
    json_add_string(json, "name", what);
    json_add_string(json, "ph", "M");
    json_add_unsigned(json, "pid", PROCESS + stream);
    json_add_unsigned(json, "tid", row);
    json_key(json, "args");
    json_open_object(json);
    json_key(json, key);
}

static void end_metadata(struct json *json)
{
    json_close_object(json);
    json_close_object(json);
}

static void put_row(struct json *json, uint32_t stream, uint32_t row)
{
    char name[32];
    snprintf(name, sizeof name, "%s %u", profile_core_names[row / CORES], row % CORES);
    begin_metadata(json, "thread_name", stream, row, "name");
    json_string(json, name);
    end_metadata(json);
    begin_metadata(json, "thread_sort_index", stream, row, "sort_index");
    json_unsigned(json, row);
    end_metadata(json);
}

static uint32_t stream_of(const struct run_profile *profile, const struct run_profile_event *event)
{
    return profile->launches.at[event->launch].stream;
}

static void put_rows_of(struct json *json, const struct run_profile *profile, uint32_t stream)
{
    bool seen[SKRT_CORE_TYPES * CORES] = {false};
    for (uint32_t i = 0; i < profile->events.count; i++)
        if (stream_of(profile, &profile->events.at[i]) == stream)
            seen[row_of(&profile->events.at[i].record)] = true;
    for (uint32_t row = 0; row < SKRT_CORE_TYPES * CORES; row++)
        if (seen[row])
            put_row(json, stream, row);
}

/* Launches of several streams overlap: each stream has cores of its own in the trace. */
static void put_rows(struct json *json, const struct run_profile *profile)
{
    for (uint32_t i = 0; i < profile->streams.count; i++) {
        if (profile->streams.count > 1) {
            struct text name = {NULL, 0, 0};
            text_printf(&name, "stream %s", profile->streams.at[i]);
            begin_metadata(json, "process_name", i, 0, "name");
            json_bytes(json, name.at, name.size);
            end_metadata(json);
            text_free(&name);
        }
        put_rows_of(json, profile, i);
    }
}

/* ---------------------------------------------------------------------------- events ---- */

static void put_name(struct json *json, const struct run_profile_launch *launch,
                     const struct skrt_profile_record *record)
{
    struct text name = {NULL, 0, 0};
    profile_name(&name, launch, record);
    json_add_bytes(json, "name", name.at, name.size);
    text_free(&name);
}

static void put_event(struct json *json, const struct run_profile *profile,
                      const struct run_profile_event *event)
{
    const struct skrt_profile_record *record = &event->record;
    const struct run_profile_launch *launch = &profile->launches.at[event->launch];
    json_open_object(json);
    put_name(json, launch, record);
    json_add_string(json, "cat", profile_category(record));
    json_add_string(json, "ph", record->phase == SKRT_BEGIN ? "B" : "E");
    json_add_unsigned(json, "pid", PROCESS + stream_of(profile, event));
    json_add_unsigned(json, "tid", row_of(record));
    json_key(json, "ts");
    json_double(json, (double)record->ns / 1000); /* microseconds */
    json_key(json, "args");
    json_open_object(json);
    json_add_string(json, "launch", launch->name);
    if (record->kind != SKRT_PROFILE_KERNEL && record->index < launch->n_ops)
        json_add_unsigned(json, "op", record->index);
    json_close_object(json);
    json_close_object(json);
}

/* The same numbers as in the tables that are printed. */
static void put_table(struct json *json, const struct run_profile *profile, bool steady)
{
    struct profile_table table;
    profile_table_make(&table, profile, steady);
    profile_table_json(json, &table);
    profile_table_free(&table);
}

static void put_events(struct json *json, const struct run_profile *profile)
{
    put_rows(json, profile);
    for (uint32_t i = 0; i < profile->events.count; i++)
        put_event(json, profile, &profile->events.at[i]);
}

void trace_events_write(struct text *text, const struct run_profile *profile, bool steady)
{
    struct json json = {.text = text};
    json_open_object(&json);
    json_add_string(&json, "displayTimeUnit", "ns");
    json_key(&json, "otherData");
    json_open_object(&json);
    json_add_unsigned(&json, "dropped", profile->dropped);
    put_table(&json, profile, steady);
    json_close_object(&json);
    json_key(&json, "traceEvents");
    json_open_array(&json);
    if (!steady)
        put_events(&json, profile);
    json_close_array(&json);
    json_close_object(&json);
    text_char(text, '\n');
}
