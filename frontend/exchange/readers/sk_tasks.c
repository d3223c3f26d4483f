#include "frontend/exchange/readers/sk_tasks.h"
#include "ir/base/json_text.h"
#include "ir/sk_options.h"

struct reader {
    struct sk_tasks *tasks;
    struct json_text json;
    bool has_nodes;
};

static bool read_name(struct reader *reader, const struct json_item *item, uint32_t *name)
{
    const char *bytes;
    size_t size;
    if (!json_text_string(&reader->json, item, &bytes, &size))
        return false;
    *name = size ? dump_name(reader->tasks->dump, bytes, size) : NONE;
    return true;
}

/* A number or a text that stands for one thing. */
static bool read_identity(struct reader *reader, const struct json_item *item, uint32_t *name)
{
    if (item->kind != JSON_NUMBER)
        return read_name(reader, item, name);
    *name = dump_name(reader->tasks->dump, item->text, item->size);
    return true;
}

static void read_ratio(struct reader *reader, const struct json_item *item, int64_t *ratio)
{
    struct json_item number;
    uint32_t n = 0;
    if (!json_text_want(&reader->json, item, JSON_ARRAY))
        return;
    json_text_enter(&reader->json);
    for (; json_text_next(&reader->json, &number); n++)
        if (n < 2)
            json_text_integer(&reader->json, &number, 0, 1024, &ratio[n]);
}

/* What NODE_NOTIFY, NOTIFY or EVENT_RECORD is. */
static void read_kind(struct reader *reader, const struct json_item *item, struct sk_task *task)
{
    static const struct {
        const char *name;
        enum sk_task_kind kind;
    } kinds[] = {
        {"KERNEL", TASK_KERNEL},       {"NOTIFY", TASK_NOTIFY},      {"EVENT_RECORD", TASK_NOTIFY},
        {"MEMORY_WRITE", TASK_NOTIFY}, {"VALUE_WRITE", TASK_NOTIFY}, {"WAIT", TASK_WAIT},
        {"EVENT_WAIT", TASK_WAIT},     {"MEMORY_WAIT", TASK_WAIT},   {"VALUE_WAIT", TASK_WAIT},
        {"RESET", TASK_RESET},         {"EVENT_RESET", TASK_RESET},
    };
    const char *bytes;
    size_t size;
    if (!json_text_string(&reader->json, item, &bytes, &size))
        return;
    if (size > 5 && memcmp(bytes, "NODE_", 5) == 0)
        bytes += 5, size -= 5;
    task->kind = TASK_OTHER;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (size == strlen(kinds[i].name) && memcmp(bytes, kinds[i].name, size) == 0)
            task->kind = kinds[i].kind;
    if (task->kind == TASK_OTHER && size)
        task->type = dump_name(reader->tasks->dump, bytes, size);
}

static void read_marker(struct reader *reader, const struct json_item *item, struct sk_task *task)
{
    bool value;
    if (json_text_bool(&reader->json, item, &value))
        task->marker = task->marker || value;
}

/* Members of a task, and of its parts. */
static void read_member(struct reader *reader, const struct json_item *item, struct sk_task *task)
{
    static const char *const markers[] = {"isScopeBegin", "isScopeEnd", "isScopePlaceholder", NULL};
    static const char *const events[] = {"eventId", "event", "devAddr", "addrValue", NULL};
    struct json_text *json = &reader->json;
    if (json_text_is(item, "nodeType") || json_text_is(item, "taskType"))
        read_kind(reader, item, task);
    else if (json_text_is(item, "streamIdxInGraph"))
        json_text_integer(json, item, 0, UINT32_MAX, &task->stream);
    else if (json_text_is(item, "nodeIdxInStream"))
        json_text_integer(json, item, 0, INT64_MAX, &task->place);
    else if (json_text_is(item, "taskId"))
        json_text_integer(json, item, 0, INT64_MAX, &task->task);
    else if (json_text_is(item, "scopeName") && item->kind != JSON_NULL)
        read_name(reader, item, &task->scope);
    else if (json_text_is(item, "funcName"))
        read_name(reader, item, &task->type);
    else if (json_text_is(item, "kernelType"))
        read_name(reader, item, &task->core);
    else if (json_text_is(item, "taskRatio"))
        read_ratio(reader, item, task->ratio);
    else if (json_text_is(item, "numBlocks"))
        json_text_integer(json, item, 0, UINT32_MAX, &task->blocks);
    else if (json_text_is_one(item, markers))
        read_marker(reader, item, task);
    else if (json_text_is_one(item, events) && task->event == NONE)
        read_identity(reader, item, &task->event);
    else if (json_text_is(item, "value") || json_text_is(item, "memoryValue"))
        task->zero = item->size == 1 ? *item->text == '0'
                                     : item->size == 5 && memcmp(item->text, "\"0x0\"", 5) == 0;
}

static const char *const parts[] = {"kernelParams",     "kernelInfos",
                                    "eventParams",      "eventRecordParams",
                                    "eventWaitParams",  "eventResetParams",
                                    "valueWriteParams", "valueWaitParams",
                                    "syncInfos",        NULL};

/* Members of an object that says what a task does. */
static void read_part(struct reader *reader, const struct json_item *item, struct sk_task *task)
{
    struct json_item member;
    for (EACH_JSON(&reader->json, &member, item, JSON_OBJECT))
        read_member(reader, &member, task);
}

static void read_task_member(struct reader *reader, const struct json_item *item,
                             struct sk_task *task)
{
    if (json_text_is_one(item, parts))
        read_part(reader, item, task);
    else
        read_member(reader, item, task);
}

/* The tasks of a node, all of one kind: how many. */
static uint32_t read_infos(struct reader *reader, const struct json_item *item,
                           struct sk_task *task)
{
    struct json_item info, member;
    uint32_t count = 0;
    for (EACH_JSON(&reader->json, &info, item, JSON_ARRAY)) {
        count++;
        for (EACH_JSON(&reader->json, &member, &info, JSON_OBJECT))
            read_task_member(reader, &member, task);
    }
    return count;
}

/* A node is a task by itself, or has a list of them. */
static void read_node(struct reader *reader, const struct json_item *item)
{
    struct json_item member;
    struct sk_task task = {.kind = TASK_KINDS,
                           .loc = item->span.begin,
                           .type = NONE,
                           .scope = NONE,
                           .event = NONE,
                           .core = NONE,
                           .ratio = {-1, -1},
                           .blocks = -1,
                           .task = -1,
                           .before = NONE,
                           .name = NONE};
    uint32_t count = 1;
    for (EACH_JSON(&reader->json, &member, item, JSON_OBJECT))
        if (json_text_is(&member, "taskInfo"))
            count = read_infos(reader, &member, &task);
        else
            read_task_member(reader, &member, &task);
    if (reader->json.failed)
        return;
    if (task.kind == TASK_KINDS) {
        json_text_fail(&reader->json, item->span, "this node has no 'nodeType'");
        return;
    }
    if (task.kind == TASK_KERNEL && task.marker)
        task.kind = TASK_MARKER;
    if (task.kind == TASK_KERNEL && count > 1)
        json_text_fail(&reader->json, item->span, "this node has %u kernels, but can have one",
                       count);
    if (task.kind == TASK_NOTIFY && task.zero)
        task.kind = TASK_RESET;
    vec_push(&reader->tasks->list, task);
}

static void read_nodes(struct reader *reader, const struct json_item *item)
{
    struct json_item node;
    for (EACH_JSON(&reader->json, &node, item, JSON_ARRAY))
        read_node(reader, &node);
}

static void read_streams(struct reader *reader, const struct json_item *item)
{
    struct json_item stream, member;
    for (EACH_JSON(&reader->json, &stream, item, JSON_ARRAY))
        for (EACH_JSON(&reader->json, &member, &stream, JSON_OBJECT))
            if (json_text_is(&member, "nodes"))
                read_nodes(reader, &member);
}

/* A number, or strings, joined as options of scopes are. */
static void read_value(struct reader *reader, const struct json_item *item, struct text *value)
{
    struct json_item word;
    size_t before = value->size;
    if (item->kind == JSON_NUMBER)
        text_bytes(value, item->text, item->size);
    if (item->kind == JSON_STRING)
        text_bytes(value, item->text + 1, item->size - 2);
    if (item->kind != JSON_ARRAY)
        return;
    json_text_enter(&reader->json);
    while (json_text_next(&reader->json, &word)) {
        if (value->size > before)
            text_char(value, ',');
        if (word.kind == JSON_STRING)
            text_bytes(value, word.text + 1, word.size - 2);
    }
}

/* An option that scopes have too is theirs. */
static void read_option(struct reader *reader, const struct json_item *item)
{
    struct json_item member;
    struct text setting = {NULL, 0, 0};
    struct sk_options parsed;
    if (item->kind == JSON_OBJECT) {
        text_bytes(&setting, item->key, item->key_size);
        for (size_t i = 0; i < setting.size; i++)
            setting.at[i] = setting.at[i] == '_' ? '-' : setting.at[i];
        text_char(&setting, '=');
        json_text_enter(&reader->json);
        while (json_text_next(&reader->json, &member))
            if (json_text_is(&member, "value"))
                read_value(reader, &member, &setting);
    }
    bool pattern = setting.size && memchr(setting.at, '*', setting.size);
    if (setting.size && !pattern &&
        sk_options_parse(&parsed, setting.at, setting.size, no_span, NULL)) {
        if (reader->tasks->options.size)
            text_char(&reader->tasks->options, ':');
        text_bytes(&reader->tasks->options, setting.at, setting.size);
    } else if (!json_text_is(item, "numOptions") && !json_text_is(item, "options")) {
        dump_drop(reader->tasks->dump, item->key_span.begin,
                  "option \"%.*s\", which scopes do not have so", (int)item->key_size, item->key);
    }
    text_free(&setting);
}

static void read_options(struct reader *reader, const struct json_item *item)
{
    struct json_item option;
    for (EACH_JSON(&reader->json, &option, item, JSON_OBJECT))
        read_option(reader, &option);
}

/* An older form has all in a member `graph`. */
static void read_graph(struct reader *reader, bool inner)
{
    struct json_item item;
    json_text_enter(&reader->json);
    while (json_text_next(&reader->json, &item)) {
        bool streams = json_text_is(&item, "streams"), nodes = json_text_is(&item, "nodes");
        reader->has_nodes = reader->has_nodes || streams || nodes;
        if (streams)
            read_streams(reader, &item);
        else if (nodes)
            read_nodes(reader, &item);
        else if (json_text_is(&item, "options"))
            read_options(reader, &item);
        else if (!inner && json_text_is(&item, "graph") && item.kind == JSON_OBJECT)
            read_graph(reader, true);
        else if (item.kind == JSON_OBJECT || item.kind == JSON_ARRAY)
            dump_drop(reader->tasks->dump, item.key_span.begin, "member \"%.*s\" of the graph",
                      (int)item.key_size, item.key);
    }
}

static bool read_all(struct reader *reader)
{
    struct json_item item;
    if (!json_text_next(&reader->json, &item) || !json_text_want(&reader->json, &item, JSON_OBJECT))
        return false;
    struct span span = item.span;
    read_graph(reader, false);
    if (!reader->json.failed)
        json_text_next(&reader->json, &item);
    if (!reader->json.failed && !reader->has_nodes)
        json_text_fail(&reader->json, span, "this is no graph of tasks: it has no 'streams'");
    return !reader->json.failed;
}

static int compare_tasks(const void *a, const void *b)
{
    const struct sk_task *x = a, *y = b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->loc < y->loc ? -1 : x->loc > y->loc;
}

bool sk_tasks_read(struct sk_tasks *tasks, struct dump *dump)
{
    struct reader reader = {.tasks = tasks};
    *tasks = (struct sk_tasks){.dump = dump, .module = dump->module};
    json_text_init(&reader.json, dump->source, 0, dump->diags);
    bool read = read_all(&reader);
    json_text_free(&reader.json);
    if (read && tasks->list.count)
        qsort(tasks->list.at, tasks->list.count, sizeof *tasks->list.at, compare_tasks);
    return read;
}

void sk_tasks_free(struct sk_tasks *tasks)
{
    for (uint32_t i = 0; i < tasks->list.count; i++)
        vec_free(&tasks->list.at[i].senders);
    vec_free(&tasks->list);
    vec_free(&tasks->recv);
    text_free(&tasks->options);
}
