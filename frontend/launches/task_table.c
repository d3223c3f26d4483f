#include "frontend/launches/task_table.h"
#include "ir/base/json_text.h"

#include <strings.h>

struct reader {
    struct task_table *table;
    struct json_text json;
    bool has_tasks;
    const char *core; /* of the task at hand, as it is written */
    size_t core_size;
    struct span core_span;
    int64_t ratio[2]; /* -1: not said */
    bool marker;
    uint32_t depth;
};

/* ------------------------------------------------------------------------- values ---- */

/* A number or a string that stands for one thing. An empty string stands for none. */
static uint32_t read_identity(struct reader *reader, const struct json_item *item,
                              struct intern *names)
{
    const char *bytes = item->text;
    size_t size = item->size;
    if (item->kind == JSON_NULL)
        return NONE;
    if (item->kind != JSON_NUMBER && !json_text_string(&reader->json, item, &bytes, &size))
        return NONE;
    return size ? intern_copy(names, bytes, size) : NONE;
}

static void read_kind(struct reader *reader, const struct json_item *item, struct task *task)
{
    static const struct {
        const char *name;
        enum task_kind kind;
    } kinds[] = {
        {"compute", TASK_COMPUTE},     {"kernel", TASK_COMPUTE},      {"notify", TASK_NOTIFY},
        {"event_record", TASK_NOTIFY}, {"memory_write", TASK_NOTIFY}, {"value_write", TASK_NOTIFY},
        {"wait", TASK_WAIT},           {"event_wait", TASK_WAIT},     {"memory_wait", TASK_WAIT},
        {"value_wait", TASK_WAIT},
    };
    const char *bytes;
    size_t size;
    if (!json_text_string(&reader->json, item, &bytes, &size))
        return;
    if (size > 5 && strncasecmp(bytes, "NODE_", 5) == 0)
        bytes += 5, size -= 5;
    task->kind = TASK_OTHER;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].name) == size && strncasecmp(kinds[i].name, bytes, size) == 0)
            task->kind = kinds[i].kind;
}

static void read_ratio(struct reader *reader, const struct json_item *item)
{
    struct json_item number;
    uint32_t n = 0;
    for (EACH_JSON(&reader->json, &number, item, JSON_ARRAY))
        if (n < 2)
            json_text_integer(&reader->json, &number, 0, 2, &reader->ratio[n++]);
}

static bool is_one_of(const struct json_item *item, const char *const *keys)
{
    while (*keys && !json_text_is(item, *keys))
        keys++;
    return *keys;
}

static void read_number(struct reader *reader, const struct json_item *item, int64_t low,
                        int64_t high, uint32_t *value)
{
    int64_t number;
    if (json_text_integer(&reader->json, item, low, high, &number))
        *value = (uint32_t)number;
}

/* ------------------------------------------------------------------------- tasks ---- */

static const char *const kind_keys[] = {"kind", "nodeType", "taskType", NULL};
static const char *const stream_keys[] = {"stream", "streamIdxInGraph", NULL};
static const char *const event_keys[] = {"event", "eventId", "devAddr", "addrValue", NULL};
static const char *const scope_keys[] = {"scope", "scopeName", NULL};
static const char *const core_keys[] = {"core", "kernelType", NULL};
static const char *const block_keys[] = {"blocks", "numBlocks", NULL};
static const char *const ratio_keys[] = {"ratio", "taskRatio", NULL};
static const char *const id_keys[] = {"task", "taskId", NULL};
static const char *const marker_keys[] = {"isScopeBegin", "isScopeEnd", "isScopePlaceholder", NULL};

static void read_core(struct reader *reader, const struct json_item *item)
{
    if (!json_text_want(&reader->json, item, JSON_STRING))
        return;
    reader->core = item->text + 1;
    reader->core_size = item->size - 2;
    reader->core_span = item->span;
}

static void read_id(struct reader *reader, const struct json_item *item, struct task *task)
{
    int64_t number;
    task->counted = item->kind == JSON_NUMBER;
    if (!task->counted || json_text_integer(&reader->json, item, 0, INT64_MAX, &number))
        task->id = read_identity(reader, item, &reader->table->names);
}

static void read_flag(struct reader *reader, const struct json_item *item, bool *flag)
{
    bool value;
    if (json_text_bool(&reader->json, item, &value))
        *flag = *flag || value;
}

static void read_member(struct reader *reader, const struct json_item *item, struct task *task)
{
    struct task_table *table = reader->table;
    if (is_one_of(item, kind_keys))
        read_kind(reader, item, task);
    else if (is_one_of(item, stream_keys))
        task->stream = read_identity(reader, item, &table->streams);
    else if (is_one_of(item, event_keys) && task->event == NONE)
        task->event = read_identity(reader, item, &table->events);
    else if (is_one_of(item, scope_keys))
        task->group = read_identity(reader, item, &table->scopes);
    else if (is_one_of(item, core_keys))
        read_core(reader, item);
    else if (is_one_of(item, block_keys))
        read_number(reader, item, 0, TASK_MAX_BLOCKS, &task->blocks);
    else if (is_one_of(item, ratio_keys))
        read_ratio(reader, item);
    else if (is_one_of(item, id_keys))
        read_id(reader, item, task);
    else if (is_one_of(item, marker_keys))
        read_flag(reader, item, &reader->marker);
    else if (json_text_is(item, "sync_all"))
        read_flag(reader, item, &task->sync_all);
}

/* Objects in a task, and lists of them, say more of it; deeper ones are something else's. */
static void read_members(struct reader *reader, const struct json_item *item, struct task *task,
                         unsigned depth)
{
    struct json_item member;
    for (EACH_JSON(&reader->json, &member, item, JSON_OBJECT)) {
        struct json_item inner;
        if (member.kind == JSON_OBJECT && depth > 0)
            read_members(reader, &member, task, depth - 1);
        else if (member.kind == JSON_ARRAY && depth > 0 && json_text_is(&member, "taskInfo"))
            for (EACH_JSON(&reader->json, &inner, &member, JSON_ARRAY))
                read_members(reader, &inner, task, depth - 1);
        else
            read_member(reader, &member, task);
    }
}

static bool shape_of_ratio(const int64_t *ratio, enum block_shape *shape)
{
    for (int i = 0; i < SHAPES; i++)
        if (shape_info(i)->aics == ratio[0] && shape_info(i)->aivs == ratio[1]) {
            *shape = i;
            return true;
        }
    return false;
}

/* `default` says nothing: a mixed block needs most of what can be lacking. */
static bool shape_of_word(const char *word, size_t size, enum block_shape *shape)
{
    static const struct {
        const char *name;
        enum block_shape shape;
    } words[] = {
        {"cube", SHAPE_CUBE},
        {"vector", SHAPE_VECTOR},
        {"mix", SHAPE_MIX_1_2},
        {"default", SHAPE_MIX_1_2},
        {"aic", SHAPE_CUBE},
        {"aiv", SHAPE_VECTOR},
        {"ai_core", SHAPE_CUBE},
        {"ai_vector_core", SHAPE_VECTOR},
        {"aic_only", SHAPE_CUBE},
        {"aiv_only", SHAPE_VECTOR},
        {"mix_aic_1_0", SHAPE_CUBE},
        {"mix_aiv_1_0", SHAPE_VECTOR},
        {"mix_aic_1_1", SHAPE_MIX_1_1},
        {"mix_aic_1_2", SHAPE_MIX_1_2},
    };
    for (unsigned i = 0; i < sizeof words / sizeof *words && word; i++)
        if (size == strlen(words[i].name) && strncasecmp(word, words[i].name, size) == 0) {
            *shape = words[i].shape;
            return true;
        }
    return false;
}

/* The ratio tells mixed tasks apart, and says all of one that has no word. */
static bool find_shape(struct reader *reader, struct task *task)
{
    bool given = reader->ratio[0] > 0 || reader->ratio[1] > 0;
    bool known = shape_of_word(reader->core, reader->core_size, &task->shape);
    if (given && (!known || task->shape >= SHAPE_MIX_1_1))
        known = shape_of_ratio(reader->ratio, &task->shape);
    if (known)
        return true;
    if (reader->core)
        return json_text_fail(&reader->json, reader->core_span,
                              "this must be 'cube', 'vector' or 'mix', whose 'ratio' is [1, 1] or "
                              "[1, 2]");
    return json_text_fail(&reader->json, task->span, "this task has no 'core'");
}

static bool settle_task(struct reader *reader, struct task *task, uint32_t stream)
{
    struct json_text *json = &reader->json;
    bool event = task->kind == TASK_WAIT || task->kind == TASK_NOTIFY;
    if (task->stream == NONE)
        task->stream = stream;
    if (task->kind == TASK_KINDS)
        return json_text_fail(json, task->span, "this task has no 'kind'");
    if (task->stream == NONE)
        return json_text_fail(json, task->span, "this task has no 'stream'");
    if (event && task->event == NONE)
        return json_text_fail(json, task->span, "this task has no 'event'");
    if (task->kind == TASK_COMPUTE && task->blocks == 0)
        return json_text_fail(json, task->span, "this task has no 'blocks'");
    if (reader->table->streams.count > TASK_MAX_STREAMS)
        return json_text_fail(json, task->span, "there are more than %d streams", TASK_MAX_STREAMS);
    if (reader->table->tasks.count == TASK_MAX)
        return json_text_fail(json, task->span, "there are more than %d tasks", TASK_MAX);
    return task->kind != TASK_COMPUTE || find_shape(reader, task);
}

static void read_task(struct reader *reader, const struct json_item *item, uint32_t stream)
{
    struct task task = {.kind = TASK_KINDS,
                        .span = item->span,
                        .id = NONE,
                        .stream = NONE,
                        .event = NONE,
                        .group = NONE};
    reader->core = NULL;
    reader->ratio[0] = reader->ratio[1] = -1;
    reader->marker = false;
    read_members(reader, item, &task, 3);
    if (task.kind == TASK_COMPUTE && reader->marker)
        return;
    if (!reader->json.failed && settle_task(reader, &task, stream))
        vec_push(&reader->table->tasks, task);
}

/* ------------------------------------------------------------------------- tables ---- */

static void read_tasks(struct reader *reader, const struct json_item *item, uint32_t stream)
{
    struct json_item task;
    reader->has_tasks = true;
    for (EACH_JSON(&reader->json, &task, item, JSON_ARRAY))
        read_task(reader, &task, stream);
}

static void read_streams(struct reader *reader, const struct json_item *item)
{
    struct json_item stream, member;
    for (EACH_JSON(&reader->json, &stream, item, JSON_ARRAY)) {
        uint32_t number = NONE;
        for (EACH_JSON(&reader->json, &member, &stream, JSON_OBJECT))
            if (is_one_of(&member, stream_keys))
                number = read_identity(reader, &member, &reader->table->streams);
            else if (json_text_is(&member, "nodes"))
                read_tasks(reader, &member, number);
    }
}

static void read_device(struct reader *reader, const struct json_item *item)
{
    struct json_item member;
    for (EACH_JSON(&reader->json, &member, item, JSON_OBJECT))
        if (json_text_is(&member, "aic"))
            read_number(reader, &member, 0, 1024, &reader->table->device.aics);
        else if (json_text_is(&member, "aiv"))
            read_number(reader, &member, 0, 2048, &reader->table->device.aivs);
}

/* An older form has all in a member `graph`. */
static void read_table(struct reader *reader, const struct json_item *item, bool inner)
{
    struct json_item member;
    for (EACH_JSON(&reader->json, &member, item, JSON_OBJECT))
        if (json_text_is(&member, "device"))
            read_device(reader, &member);
        else if (json_text_is(&member, "nodes"))
            read_tasks(reader, &member, NONE);
        else if (json_text_is(&member, "streams"))
            read_streams(reader, &member);
        else if (!inner && json_text_is(&member, "graph") && member.kind == JSON_OBJECT)
            read_table(reader, &member, true);
}

static void read_all(struct reader *reader)
{
    struct json_item item;
    if (!json_text_next(&reader->json, &item))
        return;
    struct span span = item.span;
    if (item.kind == JSON_ARRAY)
        read_tasks(reader, &item, NONE);
    else
        read_table(reader, &item, false);
    if (!reader->json.failed)
        json_text_next(&reader->json, &item);
    if (!reader->json.failed && !reader->has_tasks)
        json_text_fail(&reader->json, span, "this is no table of tasks: it has no 'nodes'");
}

/* ------------------------------------------------------------------------- events ---- */

/* All tasks with one name of an event, in their order. */
struct uses {
    struct vec_u32 sends, waits;
};

static void use_event(struct task_table *table, uint32_t task, uint32_t event)
{
    struct task *t = &table->tasks.at[task];
    t->event = event;
    if (t->kind == TASK_NOTIFY)
        table->senders.at[event] = task;
}

static uint32_t add_event(struct task_table *table, uint32_t name)
{
    vec_push(&table->event_names, name);
    vec_push(&table->senders, NONE);
    return table->n_events++;
}

/* An event that is sent several times is waited for as often: the n-th wait is for the n-th. */
static bool pair_uses(struct task_table *table, const struct uses *uses, uint32_t name,
                      struct diags *diags)
{
    uint32_t event = add_event(table, name);
    if (uses->sends.count > 1 && uses->sends.count != uses->waits.count) {
        if (diag_at(diags, DIAG_foreign_form, table->tasks.at[uses->sends.at[1]].span,
                    "this event is sent %u times, and waited for %u times: nothing says which "
                    "is meant",
                    uses->sends.count, uses->waits.count))
            diag_note(diags, table->tasks.at[uses->sends.at[0]].span, "it is sent here first");
        return false;
    }
    for (uint32_t i = 0; i < uses->waits.count && uses->sends.count <= 1; i++)
        use_event(table, uses->waits.at[i], event);
    for (uint32_t i = 0; i < uses->sends.count; i++) {
        event = i ? add_event(table, name) : event;
        use_event(table, uses->sends.at[i], event);
        if (uses->sends.count > 1)
            use_event(table, uses->waits.at[i], event);
    }
    return true;
}

static bool pair_events(struct task_table *table, struct diags *diags)
{
    uint32_t n = table->events.count;
    struct uses *uses = mem_calloc(n, sizeof *uses);
    bool ok = true;
    for (uint32_t i = 0; i < table->tasks.count; i++) {
        const struct task *task = &table->tasks.at[i];
        if (task->kind == TASK_NOTIFY)
            vec_push(&uses[task->event].sends, i);
        else if (task->kind == TASK_WAIT)
            vec_push(&uses[task->event].waits, i);
    }
    for (uint32_t i = 0; i < n; i++) {
        ok = ok && pair_uses(table, &uses[i], i, diags);
        vec_free(&uses[i].sends);
        vec_free(&uses[i].waits);
    }
    mem_free(uses);
    return ok;
}

/* Events that stand between two tasks of a scope on their stream, and are said to be in none, are
 * in it. */
static void adopt_events(struct task_table *table)
{
    struct id_map last = {NULL, 0, 0};   /* by stream: the last task but for such events */
    struct vec_u32 group = {NULL, 0, 0}; /* by task: the scope before it on its stream, or NONE */
    for (uint32_t i = 0; i < table->tasks.count; i++) {
        const struct task *task = &table->tasks.at[i];
        uint32_t *before = id_map_at(&last, task->stream);
        bool loose = task->group == NONE && (task->kind == TASK_WAIT || task->kind == TASK_NOTIFY);
        vec_push(&group, *before == NONE ? NONE : table->tasks.at[*before].group);
        *before = loose ? *before : i;
    }
    id_map_clear(&last);
    for (uint32_t i = table->tasks.count; i-- > 0;) {
        struct task *task = &table->tasks.at[i];
        uint32_t *behind = id_map_at(&last, task->stream);
        bool loose = task->group == NONE && (task->kind == TASK_WAIT || task->kind == TASK_NOTIFY);
        if (loose && *behind != NONE && table->tasks.at[*behind].group == group.at[i])
            task->group = group.at[i];
        *behind = loose ? *behind : i;
    }
    vec_free(&group);
    id_map_free(&last);
}

bool task_table_read(struct task_table *table, const struct source *source, struct diags *diags)
{
    struct reader reader = {.table = table};
    *table = (struct task_table){.device = {24, 48}};
    json_text_init(&reader.json, source, 0, diags);
    read_all(&reader);
    bool ok = !reader.json.failed && pair_events(table, diags);
    table->n_groups = table->scopes.count;
    adopt_events(table);
    json_text_free(&reader.json);
    return ok;
}

void task_table_free(struct task_table *table)
{
    vec_free(&table->tasks);
    vec_free(&table->event_names);
    vec_free(&table->senders);
    intern_free(&table->names);
    intern_free(&table->streams);
    intern_free(&table->events);
    intern_free(&table->scopes);
}
