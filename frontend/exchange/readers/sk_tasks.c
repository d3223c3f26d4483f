#include "frontend/exchange/readers/sk_tasks.h"
#include "ir/base/json_document.h"
#include "ir/sk_options.h"

struct reader {
    struct sk_tasks *tasks;
    struct json_document document;
    bool has_nodes;
};

static bool read_name(struct reader *reader, const cJSON *item, uint32_t *name)
{
    const char *text = json_as_text(&reader->document, item);
    if (!text)
        return false;
    *name = *text ? dump_name(reader->tasks->dump, text, strlen(text)) : NONE;
    return true;
}

/* A number or a text that stands for one thing. */
static bool read_identity(struct reader *reader, const cJSON *item, uint32_t *name)
{
    if (!cJSON_IsNumber(item))
        return read_name(reader, item, name);
    size_t size;
    const char *digits = json_written(&reader->document, item, &size);
    *name = dump_name(reader->tasks->dump, digits, size);
    return true;
}

static void read_ratio(struct reader *reader, const cJSON *item, int64_t *ratio)
{
    const cJSON *number;
    uint32_t n = 0;
    for (EACH_JSON(&reader->document, number, item, cJSON_Array))
        if (n < 2)
            json_as_integer(&reader->document, number, 0, 1024, &ratio[n++]);
}

/* What NODE_NOTIFY, NOTIFY or EVENT_RECORD is. */
static void read_kind(struct reader *reader, const cJSON *item, struct sk_task *task)
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
    const char *name = json_as_text(&reader->document, item);
    if (!name)
        return;
    if (strncmp(name, "NODE_", 5) == 0)
        name += 5;
    task->kind = TASK_OTHER;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(name, kinds[i].name) == 0)
            task->kind = kinds[i].kind;
    if (task->kind == TASK_OTHER && *name)
        task->type = dump_name(reader->tasks->dump, name, strlen(name));
}

static void read_marker(struct reader *reader, const cJSON *item, struct sk_task *task)
{
    bool value;
    if (json_as_bool(&reader->document, item, &value))
        task->marker = task->marker || value;
}

/* Members of a task, and of its parts. */
static void read_member(struct reader *reader, const cJSON *item, struct sk_task *task)
{
    static const char *const markers[] = {"isScopeBegin", "isScopeEnd", "isScopePlaceholder", NULL};
    static const char *const events[] = {"eventId", "event", "devAddr", "addrValue", NULL};
    struct json_document *document = &reader->document;
    if (json_is(item, "nodeType") || json_is(item, "taskType"))
        read_kind(reader, item, task);
    else if (json_is(item, "streamIdxInGraph"))
        json_as_integer(document, item, 0, UINT32_MAX, &task->stream);
    else if (json_is(item, "nodeIdxInStream"))
        json_as_integer(document, item, 0, INT64_MAX, &task->place);
    else if (json_is(item, "taskId"))
        json_as_integer(document, item, 0, INT64_MAX, &task->task);
    else if (json_is(item, "scopeName") && !cJSON_IsNull(item))
        read_name(reader, item, &task->scope);
    else if (json_is(item, "funcName"))
        read_name(reader, item, &task->type);
    else if (json_is(item, "kernelType"))
        read_name(reader, item, &task->core);
    else if (json_is(item, "taskRatio"))
        read_ratio(reader, item, task->ratio);
    else if (json_is(item, "numBlocks"))
        json_as_integer(document, item, 0, UINT32_MAX, &task->blocks);
    else if (json_is_one(item, markers))
        read_marker(reader, item, task);
    else if (json_is_one(item, events) && task->event == NONE)
        read_identity(reader, item, &task->event);
    else if (json_is(item, "value") || json_is(item, "memoryValue"))
        task->zero = cJSON_IsString(item) ? strcmp(item->valuestring, "0x0") == 0
                                          : cJSON_IsNumber(item) && item->valuedouble == 0;
}

static const char *const parts[] = {"kernelParams",     "kernelInfos",
                                    "eventParams",      "eventRecordParams",
                                    "eventWaitParams",  "eventResetParams",
                                    "valueWriteParams", "valueWaitParams",
                                    "syncInfos",        NULL};

/* Members of an object that says what a task does. */
static void read_part(struct reader *reader, const cJSON *item, struct sk_task *task)
{
    const cJSON *member;
    for (EACH_JSON(&reader->document, member, item, cJSON_Object))
        read_member(reader, member, task);
}

static void read_task_member(struct reader *reader, const cJSON *item, struct sk_task *task)
{
    if (json_is_one(item, parts))
        read_part(reader, item, task);
    else
        read_member(reader, item, task);
}

/* The tasks of a node, all of one kind: how many. */
static uint32_t read_infos(struct reader *reader, const cJSON *item, struct sk_task *task)
{
    const cJSON *info, *member;
    uint32_t count = 0;
    for (EACH_JSON(&reader->document, info, item, cJSON_Array)) {
        count++;
        for (EACH_JSON(&reader->document, member, info, cJSON_Object))
            read_task_member(reader, member, task);
    }
    return count;
}

/* A node is a task by itself, or has a list of them. */
static void read_node(struct reader *reader, const cJSON *item)
{
    const cJSON *member;
    struct sk_task task = {.kind = TASK_KINDS,
                           .loc = json_span(&reader->document, item).begin,
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
    for (EACH_JSON(&reader->document, member, item, cJSON_Object))
        if (json_is(member, "taskInfo"))
            count = read_infos(reader, member, &task);
        else
            read_task_member(reader, member, &task);
    if (reader->document.failed)
        return;
    if (task.kind == TASK_KINDS) {
        json_fail(&reader->document, item, "this node has no 'nodeType'");
        return;
    }
    if (task.kind == TASK_KERNEL && task.marker)
        task.kind = TASK_MARKER;
    if (task.kind == TASK_KERNEL && count > 1)
        json_fail(&reader->document, item, "this node has %u kernels, but can have one", count);
    if (task.kind == TASK_NOTIFY && task.zero)
        task.kind = TASK_RESET;
    vec_push(&reader->tasks->list, task);
}

static void read_nodes(struct reader *reader, const cJSON *item)
{
    const cJSON *node;
    for (EACH_JSON(&reader->document, node, item, cJSON_Array))
        read_node(reader, node);
}

static void read_streams(struct reader *reader, const cJSON *item)
{
    const cJSON *stream, *member;
    for (EACH_JSON(&reader->document, stream, item, cJSON_Array))
        for (EACH_JSON(&reader->document, member, stream, cJSON_Object))
            if (json_is(member, "nodes"))
                read_nodes(reader, member);
}

/* A number, or strings, joined as options of scopes are. */
static void read_value(struct reader *reader, const cJSON *item, struct text *value)
{
    const cJSON *word;
    size_t before = value->size;
    if (cJSON_IsNumber(item)) {
        size_t size;
        const char *digits = json_written(&reader->document, item, &size);
        text_bytes(value, digits, size);
    }
    if (cJSON_IsString(item))
        text_string(value, item->valuestring);
    for (EACH_ITEM(word, cJSON_IsArray(item) ? item : NULL)) {
        if (value->size > before)
            text_char(value, ',');
        if (cJSON_IsString(word))
            text_string(value, word->valuestring);
    }
}

/* An option that scopes have too is theirs. */
static void read_option(struct reader *reader, const cJSON *item)
{
    const cJSON *member;
    struct text setting = {NULL, 0, 0};
    struct sk_options parsed;
    if (cJSON_IsObject(item)) {
        text_string(&setting, item->string);
        for (size_t i = 0; i < setting.size; i++)
            setting.at[i] = setting.at[i] == '_' ? '-' : setting.at[i];
        text_char(&setting, '=');
        for (EACH_ITEM(member, item))
            if (json_is(member, "value"))
                read_value(reader, member, &setting);
    }
    bool pattern = setting.size && memchr(setting.at, '*', setting.size);
    if (setting.size && !pattern &&
        sk_options_parse(&parsed, setting.at, setting.size, no_span, NULL)) {
        if (reader->tasks->options.size)
            text_char(&reader->tasks->options, ':');
        text_bytes(&reader->tasks->options, setting.at, setting.size);
    } else if (!json_is(item, "numOptions") && !json_is(item, "options")) {
        dump_drop(reader->tasks->dump, json_key_span(&reader->document, item).begin,
                  "option \"%s\", which scopes do not have so", item->string);
    }
    text_free(&setting);
}

static void read_options(struct reader *reader, const cJSON *item)
{
    const cJSON *option;
    for (EACH_JSON(&reader->document, option, item, cJSON_Object))
        read_option(reader, option);
}

/* An older form has all in a member `graph`. */
static void read_graph(struct reader *reader, const cJSON *graph, bool inner)
{
    const cJSON *item;
    for (EACH_JSON(&reader->document, item, graph, cJSON_Object)) {
        bool streams = json_is(item, "streams"), nodes = json_is(item, "nodes");
        reader->has_nodes = reader->has_nodes || streams || nodes;
        if (streams)
            read_streams(reader, item);
        else if (nodes)
            read_nodes(reader, item);
        else if (json_is(item, "options"))
            read_options(reader, item);
        else if (!inner && json_is(item, "graph") && cJSON_IsObject(item))
            read_graph(reader, item, true);
        else if (cJSON_IsObject(item) || cJSON_IsArray(item))
            dump_drop(reader->tasks->dump, json_key_span(&reader->document, item).begin,
                      "member \"%s\" of the graph", item->string);
    }
}

static bool read_all(struct reader *reader)
{
    struct json_document *document = &reader->document;
    if (!json_document_read(document, reader->tasks->dump->source, 0, reader->tasks->dump->diags))
        return false;
    read_graph(reader, document->root, false);
    if (!document->failed && !reader->has_nodes)
        json_fail(document, document->root, "this is no graph of tasks: it has no 'streams'");
    return !document->failed;
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
    bool read = read_all(&reader);
    json_document_free(&reader.document);
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
