/* Time records of a run: what they are called, tables of them, and traces for viewers. */
#include "frontend/export/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const profile_core_names[SKRT_CORE_TYPES] = {[SKRT_AIC] = "aic", [SKRT_AIV] = "aiv"};

static const struct {
    const char *category, *prefix;
} kinds[SKRT_PROFILE_KINDS] = {
    [SKRT_PROFILE_KERNEL] = {"kernel", ""},
    [SKRT_PROFILE_OP] = {"op", ""},
    [SKRT_PROFILE_NOTIFY] = {"notify", "notify of "},
    [SKRT_PROFILE_WAIT] = {"wait", "wait of "},
    [SKRT_PROFILE_BARRIER] = {"barrier", "await "},
    [SKRT_PROFILE_FLAG] = {"flag", "wait "},
    [SKRT_PROFILE_KERNEL_FLAG] = {"flag", "kernel's wait "},
    [SKRT_PROFILE_FULL_BARRIER] = {"barrier", "full barrier"},
    [SKRT_PROFILE_FEED] = {"barrier", "fed barrier"},
    [SKRT_PROFILE_TILING] = {"select", "select"},
};

static void profile_name(struct text *text, const struct run_profile_launch *launch,
                         const struct skrt_profile_record *record)
{
    text_string(text, kinds[record->kind].prefix);
    if (record->kind == SKRT_PROFILE_KERNEL) {
        text_string(text, launch->name);
        return;
    }
    if (record->kind > SKRT_PROFILE_WAIT) {
        /* What the instruction names: the group of the barrier, the flag. */
        if (record->kind == SKRT_PROFILE_BARRIER)
            text_string(text, profile_core_names[record->type]);
        else if (record->kind == SKRT_PROFILE_FLAG || record->kind == SKRT_PROFILE_KERNEL_FLAG)
            text_string(text, record->type == SKRT_AIC ? "v2c" : "c2v");
        text_string(text, record->index == UINT32_MAX ? " at the end"
                          : record->inside            ? " in "
                                                      : " before ");
    }
    if (record->index < launch->n_ops)
        text_string(text, launch->ops[record->index]);
    else if (record->index != UINT32_MAX)
        text_printf(text, "op %u", record->index);
}

enum {
    CORES = 1024, /* of a type at most */
    DEPTH = 4,    /* kernel, op, wait; one more than that */
};

/* From a begin to its end. */
struct stretch {
    const struct run_profile_launch *launch;
    const struct skrt_profile_record *begin;
    uint64_t ns; /* without those inside of it in which the core was blocked */
};

struct stretches {
    struct stretch *at;
    uint32_t count, capacity;
};

/* What has begun on a core and not ended. */
struct open_stretches {
    struct open_stretch {
        const struct skrt_profile_record *begin;
        uint64_t inside;
    } at[DEPTH];
    uint32_t count;
};

static bool is_blocked(const struct skrt_profile_record *record)
{
    return record->kind >= SKRT_PROFILE_WAIT;
}

static void end_span(struct stretches *spans, struct open_stretches *open,
                     const struct run_profile_launch *launch, const struct skrt_profile_record *end)
{
    if (open->count == 0)
        return;
    const struct open_stretch *span = &open->at[--open->count];
    uint64_t ns = end->ns - span->begin->ns;
    if (is_blocked(span->begin) && open->count)
        open->at[open->count - 1].inside += ns;
    if (span->begin->kind != SKRT_PROFILE_KERNEL)
        vec_push(spans, (struct stretch){launch, span->begin, ns - span->inside});
}

static void add_event(struct stretches *spans, struct open_stretches *open,
                      const struct run_profile_launch *launch,
                      const struct skrt_profile_record *record)
{
    if (record->phase == SKRT_END)
        end_span(spans, open, launch, record);
    else if (open->count < DEPTH)
        open->at[open->count++] = (struct open_stretch){record, 0};
}

/* The events of a launch stand together. */
static void find_spans(struct stretches *spans, const struct run_profile *profile)
{
    struct open_stretches *open = mem_calloc(SKRT_CORE_TYPES * CORES, sizeof *open);
    uint32_t launch = UINT32_MAX;
    for (uint32_t i = 0; i < profile->events.count; i++) {
        const struct run_profile_event *event = &profile->events.at[i];
        if (event->launch != launch)
            for (uint32_t n = 0; n < SKRT_CORE_TYPES * CORES; n++)
                open[n].count = 0;
        launch = event->launch;
        add_event(spans, &open[event->record.type * CORES + event->record.core],
                  &profile->launches.at[launch], &event->record);
    }
    mem_free(open);
}

/* ------------------------------------------------------------------------------- rows ---- */

static const char *op_of(const struct stretch *span)
{
    uint32_t index = span->begin->index;
    return index < span->launch->n_ops ? span->launch->ops[index] : "";
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Those of one row stand together. */
static int compare_rows(const struct stretch *a, const struct stretch *b)
{
    const struct skrt_profile_record *x = a->begin, *y = b->begin;
    int order = compare_numbers(is_blocked(x), is_blocked(y));
    order = order ? order : strcmp(a->launch->name, b->launch->name);
    order = order ? order : strcmp(op_of(a), op_of(b));
    order = order ? order : compare_numbers(x->kind, y->kind);
    order = order ? order : compare_numbers(x->index, y->index);
    order = order ? order : compare_numbers(x->inside, y->inside);
    return order ? order : compare_numbers(x->type, y->type);
}

/* And in a row those of one core. */
static int compare_spans(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;
    int order = compare_rows(x, y);
    return order ? order : compare_numbers(x->begin->core, y->begin->core);
}

/* The row of the spans from `first` on; returns how many they are. */
static uint32_t make_row(struct profile_table *table, const struct stretches *spans, uint32_t first,
                         struct profile_row *row)
{
    const struct stretch *span = &spans->at[first];
    struct text name = {NULL, 0, 0};
    uint32_t n = 0;
    uint64_t on_core = 0;
    profile_name(&name, span->launch, span->begin);
    *row = (struct profile_row){.name = arena_strndup(&table->arena, name.at, name.size),
                                .launch = span->launch->alone
                                              ? NULL
                                              : arena_strndup(&table->arena, span->launch->name,
                                                              strlen(span->launch->name)),
                                .type = span->begin->type,
                                .blocked = is_blocked(span->begin)};
    text_free(&name);
    for (; first + n < spans->count && compare_rows(span, &spans->at[first + n]) == 0; n++) {
        const struct stretch *at = &spans->at[first + n];
        bool same_core = n > 0 && at->begin->core == at[-1].begin->core;
        on_core = (same_core ? on_core : 0) + at->ns;
        row->cores += !same_core;
        row->times++;
        row->all += at->ns;
        row->longest = on_core > row->longest ? on_core : row->longest;
    }
    return n;
}

static int compare_times(const void *a, const void *b)
{
    const struct profile_row *x = a, *y = b;
    int order = compare_numbers(x->blocked, y->blocked);
    order = order ? order : compare_numbers(y->all, x->all);
    return order ? order : strcmp(x->name, y->name);
}

void profile_table_make(struct profile_table *table, const struct run_profile *profile, bool steady)
{
    struct stretches spans = {NULL, 0, 0};
    find_spans(&spans, profile);
    *table = (struct profile_table){.rows = mem_calloc(spans.count, sizeof *table->rows),
                                    .steady = steady};
    if (spans.count)
        qsort(spans.at, spans.count, sizeof *spans.at, compare_spans);
    for (uint32_t i = 0; i < spans.count;) {
        struct profile_row *row = &table->rows[table->count++];
        i += make_row(table, &spans, i, row);
        table->n_ops += !row->blocked;
        *(row->blocked ? &table->blocked : &table->working) += row->all;
    }
    /* Which cores are blocked, and where, depends on who comes first. */
    if (steady)
        table->count = table->n_ops;
    else if (table->count)
        qsort(table->rows, table->count, sizeof *table->rows, compare_times);
    vec_free(&spans);
}

void profile_table_free(struct profile_table *table)
{
    mem_free(table->rows);
    arena_free(&table->arena);
    *table = (struct profile_table){.rows = NULL};
}

double profile_row_share(const struct profile_table *table, const struct profile_row *row)
{
    uint64_t all = row->blocked ? table->blocked : table->working;
    return all ? (double)row->all / (double)all : 0;
}

const struct profile_row *profile_table_find(const struct profile_table *table,
                                             const struct profile_row *row)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const struct profile_row *at = &table->rows[i];
        if (at->type == row->type && at->blocked == row->blocked &&
            strcmp(at->name, row->name) == 0)
            return at;
    }
    return NULL;
}

/* ------------------------------------------------------------------------------- JSON ---- */

static void put_rows(struct json *json, const char *key, const struct profile_table *table,
                     uint32_t first, uint32_t end)
{
    json_key(json, key);
    json_open_array(json);
    for (uint32_t i = first; i < end; i++) {
        const struct profile_row *row = &table->rows[i];
        json_line(json);
        json_open_object(json);
        json_add_string(json, "name", row->name);
        if (row->launch)
            json_add_string(json, "launch", row->launch);
        json_add_string(json, "core_type", profile_core_names[row->type]);
        json_add_unsigned(json, "cores", row->cores);
        json_add_unsigned(json, "times", row->times);
        if (!table->steady) {
            json_key(json, "all_cores_ms");
            json_double(json, (double)row->all / 1e6);
            json_key(json, "longest_core_ms");
            json_double(json, (double)row->longest / 1e6);
            json_key(json, "share");
            json_double(json, profile_row_share(table, row));
        }
        json_close_object(json);
    }
    json_close_array(json);
}

void profile_table_json(struct json *json, const struct profile_table *table)
{
    put_rows(json, "ops", table, 0, table->n_ops);
    put_rows(json, "blocked", table, table->n_ops, table->count);
}

/* The process of the first stream; the others have the next numbers. */
enum { PROCESS = 1 };

/* Numbers of AIVs follow those of AICs. */
static uint32_t row_of(const struct skrt_profile_record *record)
{
    return record->type * CORES + record->core;
}

/* An event that says something of a row of the trace: a text, or, where that is NULL, its place. */
static void put_metadata(struct json *json, const char *what, uint32_t stream, uint32_t row,
                         const char *text)
{
    json_open_object(json);
    json_add_string(json, "name", what);
    json_add_string(json, "ph", "M");
    json_add_unsigned(json, "pid", PROCESS + stream);
    json_add_unsigned(json, "tid", row);
    json_key(json, "args");
    json_open_object(json);
    if (text)
        json_add_string(json, "name", text);
    else
        json_add_unsigned(json, "sort_index", row);
    json_close_object(json);
    json_close_object(json);
}

static uint32_t stream_of(const struct run_profile *profile, const struct run_profile_event *event)
{
    return profile->launches.at[event->launch].stream;
}

/* Launches of several streams overlap: each stream has cores of its own in the trace. */
static void put_cores(struct json *json, const struct run_profile *profile, uint32_t stream)
{
    bool seen[SKRT_CORE_TYPES * CORES] = {false};
    for (uint32_t i = 0; i < profile->events.count; i++)
        if (stream_of(profile, &profile->events.at[i]) == stream)
            seen[row_of(&profile->events.at[i].record)] = true;
    for (uint32_t row = 0; row < SKRT_CORE_TYPES * CORES; row++) {
        char name[32];
        snprintf(name, sizeof name, "%s %u", profile_core_names[row / CORES], row % CORES);
        if (!seen[row])
            continue;
        put_metadata(json, "thread_name", stream, row, name);
        put_metadata(json, "thread_sort_index", stream, row, NULL);
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
    json_add_string(json, "cat", kinds[record->kind].category);
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

static void put_events(struct json *json, const struct run_profile *profile)
{
    for (uint32_t i = 0; i < profile->streams.count; i++) {
        if (profile->streams.count > 1) {
            struct text name = {NULL, 0, 0};
            text_printf(&name, "stream %s", profile->streams.at[i]);
            text_char(&name, '\0');
            put_metadata(json, "process_name", i, 0, name.at);
            text_free(&name);
        }
        put_cores(json, profile, i);
    }
    for (uint32_t i = 0; i < profile->events.count; i++)
        put_event(json, profile, &profile->events.at[i]);
}

void trace_events_write(struct text *text, const struct run_profile *profile, bool steady)
{
    struct json json = {.text = text};
    struct profile_table table;
    json_open_object(&json);
    json_add_string(&json, "displayTimeUnit", "ns");
    json_key(&json, "otherData");
    json_open_object(&json);
    json_add_unsigned(&json, "dropped", profile->dropped);
    profile_table_make(&table, profile, steady); /* the numbers of the tables that are printed */
    profile_table_json(&json, &table);
    profile_table_free(&table);
    json_close_object(&json);
    json_key(&json, "traceEvents");
    json_open_array(&json);
    if (!steady)
        put_events(&json, profile);
    json_close_array(&json);
    json_close_object(&json);
    text_char(text, '\n');
}
