/* Graphs of the ahead-of-time super kernel (sk_graph_origin.json, sk_graph_updated.json): the tasks
 * of a model's streams, kernels and events, without data.
 *
 * A notify sends what is complete before it: the kernel before it on its stream, and what the waits
 * between the two wait for. So a kernel receives the events of all kernels that a search from the
 * waits before it, through notifies and the waits before these, comes to. An event that is used
 * again pairs in the order of its uses. */
#include "frontend/exchange.h"
#include "frontend/import/sub_kernel.h"
#include "ir/core/sk_options.h"
#include "ir/support/json_document.h"

enum task_kind {
    TASK_KERNEL,
    TASK_OTHER,  /* of an engine that no super kernel has */
    TASK_MARKER, /* begins or ends a scope, and executes nothing */
    TASK_NOTIFY,
    TASK_WAIT,
    TASK_RESET,
    TASK_KINDS
};

struct task {
    enum task_kind kind;
    uint32_t loc;
    int64_t stream, place;  /* the stream's number, its place there */
    uint32_t type;          /* name id: what is executed */
    uint32_t scope;         /* name id, or NONE */
    uint32_t event;         /* name id of an event's number or address, or NONE */
    uint32_t core;          /* name id of what says the kernel type, or NONE */
    int64_t ratio[2];       /* AICs and AIVs per block; -1: not said */
    int64_t blocks, task;   /* -1: not said */
    bool marker, zero;      /* zero: what is written to memory is 0 */
    struct vec_u32 senders; /* of a wait: the tasks that notify it */
    uint32_t before;        /* of a notify: the kernel before it, by its index, or NONE */
    uint32_t first_wait;    /* of a notify: the first of the waits between them */
    uint32_t name;          /* of a notify: its event's in the graph, NONE without receiver */
    uint32_t stamp;         /* of a notify: the search that has come to it last */
};

struct reader {
    struct dump *dump;
    struct module *module;
    struct json_document document;
    bool has_nodes;
    VEC(struct task) tasks; /* in the order of the streams and of their tasks */
    struct text options;    /* of all scopes */
    uint32_t n_events, stamp;
    struct graph *graph;
    struct id_map kernels; /* by name id of what it is made of: name id */
    struct id_map told;    /* the scopes that have the options */
    struct id_map streams; /* by scope: its first task; SEVERAL: they have several */
};

static bool executes(const struct task *task)
{
    return task->kind == TASK_KERNEL || task->kind == TASK_OTHER;
}

/* ---------------------------------------------------------------------------- tasks ---- */

static void read_name(struct reader *reader, const cJSON *item, uint32_t *name)
{
    const char *text = json_as_text(&reader->document, item);
    if (text)
        *name = *text ? dump_name(reader->dump, text, strlen(text)) : NONE;
}

/* What NODE_NOTIFY, NOTIFY or EVENT_RECORD is. */
static void read_kind(struct reader *reader, const cJSON *item, struct task *task)
{
    static const struct {
        const char *name;
        enum task_kind kind;
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
        task->type = dump_name(reader->dump, name, strlen(name));
}

/* A member of a task, or of one of the objects that say what it does. */
static void read_member(struct reader *reader, const cJSON *item, struct task *task, bool inner)
{
    static const char *const parts[] = {"kernelParams",     "kernelInfos",
                                        "eventParams",      "eventRecordParams",
                                        "eventWaitParams",  "eventResetParams",
                                        "valueWriteParams", "valueWaitParams",
                                        "syncInfos",        NULL};
    static const char *const markers[] = {"isScopeBegin", "isScopeEnd", "isScopePlaceholder", NULL};
    static const char *const events[] = {"eventId", "event", "devAddr", "addrValue", NULL};
    struct json_document *document = &reader->document;
    const cJSON *member;
    if (!inner && json_is_one(item, parts)) {
        for (EACH_JSON(document, member, item, cJSON_Object))
            read_member(reader, member, task, true);
    } else if (json_is(item, "nodeType") || json_is(item, "taskType")) {
        read_kind(reader, item, task);
    } else if (json_is(item, "streamIdxInGraph")) {
        json_as_integer(document, item, 0, UINT32_MAX, &task->stream);
    } else if (json_is(item, "nodeIdxInStream")) {
        json_as_integer(document, item, 0, INT64_MAX, &task->place);
    } else if (json_is(item, "taskId")) {
        json_as_integer(document, item, 0, INT64_MAX, &task->task);
    } else if (json_is(item, "scopeName") && !cJSON_IsNull(item)) {
        read_name(reader, item, &task->scope);
    } else if (json_is(item, "funcName")) {
        read_name(reader, item, &task->type);
    } else if (json_is(item, "kernelType")) {
        read_name(reader, item, &task->core);
    } else if (json_is(item, "taskRatio")) {
        uint32_t n = 0;
        for (EACH_JSON(document, member, item, cJSON_Array))
            if (n < 2)
                json_as_integer(document, member, 0, 1024, &task->ratio[n++]);
    } else if (json_is(item, "numBlocks")) {
        json_as_integer(document, item, 0, UINT32_MAX, &task->blocks);
    } else if (json_is_one(item, markers)) {
        bool value = false;
        json_as_bool(document, item, &value);
        task->marker |= value;
    } else if (json_is_one(item, events) && task->event == NONE) {
        size_t size;
        const char *digits = json_written(document, item, &size);
        if (cJSON_IsNumber(item))
            task->event = dump_name(reader->dump, digits, size);
        else
            read_name(reader, item, &task->event);
    } else if (json_is(item, "value") || json_is(item, "memoryValue")) {
        task->zero = cJSON_IsString(item) ? strcmp(item->valuestring, "0x0") == 0
                                          : cJSON_IsNumber(item) && item->valuedouble == 0;
    }
}

/* A node is a task by itself, or has a list of tasks, all of one kind. */
static void read_node(struct reader *reader, const cJSON *item)
{
    struct json_document *document = &reader->document;
    const cJSON *member, *info, *of_info;
    struct task task = {.kind = TASK_KINDS,
                        .loc = json_span(document, item).begin,
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
    for (EACH_JSON(document, member, item, cJSON_Object)) {
        if (!json_is(member, "taskInfo")) {
            read_member(reader, member, &task, false);
            continue;
        }
        count = 0;
        for (EACH_JSON(document, info, member, cJSON_Array)) {
            count++;
            for (EACH_JSON(document, of_info, info, cJSON_Object))
                read_member(reader, of_info, &task, false);
        }
    }
    if (document->failed)
        return;
    if (task.kind == TASK_KINDS) {
        json_fail(document, item, "this node has no 'nodeType'");
        return;
    }
    if (task.kind == TASK_KERNEL && task.marker)
        task.kind = TASK_MARKER;
    if (task.kind == TASK_KERNEL && count > 1)
        json_fail(document, item, "this node has %u kernels, but can have one", count);
    if (task.kind == TASK_NOTIFY && task.zero)
        task.kind = TASK_RESET;
    vec_push(&reader->tasks, task);
}

static void read_nodes(struct reader *reader, const cJSON *item)
{
    const cJSON *node;
    for (EACH_JSON(&reader->document, node, item, cJSON_Array))
        read_node(reader, node);
}

/* The value of an option: a number, or strings, joined as options of scopes are. */
static void read_value(struct reader *reader, const cJSON *item, struct text *value)
{
    const cJSON *word;
    size_t before = value->size, size;
    if (cJSON_IsNumber(item)) {
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
        if (reader->options.size)
            text_char(&reader->options, ':');
        text_bytes(&reader->options, setting.at, setting.size);
    } else if (!json_is(item, "numOptions") && !json_is(item, "options")) {
        dump_drop(reader->dump, json_key_span(&reader->document, item).begin,
                  "option \"%s\", which scopes do not have so", item->string);
    }
    text_free(&setting);
}

/* An older form has all in a member `graph`. */
static void read_graph(struct reader *reader, const cJSON *graph, bool inner)
{
    struct json_document *document = &reader->document;
    const cJSON *item, *stream, *member;
    for (EACH_JSON(document, item, graph, cJSON_Object)) {
        bool streams = json_is(item, "streams"), nodes = json_is(item, "nodes");
        reader->has_nodes |= streams || nodes;
        if (streams) {
            for (EACH_JSON(document, stream, item, cJSON_Array))
                for (EACH_JSON(document, member, stream, cJSON_Object))
                    if (json_is(member, "nodes"))
                        read_nodes(reader, member);
        } else if (nodes) {
            read_nodes(reader, item);
        } else if (json_is(item, "options")) {
            for (EACH_JSON(document, member, item, cJSON_Object))
                read_option(reader, member);
        } else if (!inner && json_is(item, "graph") && cJSON_IsObject(item)) {
            read_graph(reader, item, true);
        } else if (cJSON_IsObject(item) || cJSON_IsArray(item)) {
            dump_drop(reader->dump, json_key_span(document, item).begin,
                      "member \"%s\" of the graph", item->string);
        }
    }
}

static int compare_tasks(const void *a, const void *b)
{
    const struct task *x = a, *y = b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->loc < y->loc ? -1 : x->loc > y->loc;
}

/* --------------------------------------------------------------------------- events ---- */

/* All tasks with one event, in the order of the tasks. */
struct uses {
    struct vec_u32 sends, waits;
};

static void pair_uses(struct reader *reader, const struct uses *uses)
{
    const struct vec_u32 *sends = &uses->sends, *waits = &uses->waits;
    for (uint32_t i = 0; i < waits->count; i++) {
        struct task *wait = &reader->tasks.at[waits->at[i]];
        if (sends->count == 0)
            dump_drop(reader->dump, wait->loc, "a wait for event %.*s, which no task sends",
                      NAME(reader->module, wait->event));
        else if (sends->count == 1)
            vec_push(&wait->senders, sends->at[0]);
        else if (sends->count == waits->count)
            vec_push(&wait->senders, sends->at[i]);
        else
            dump_drop(reader->dump, wait->loc,
                      "a wait for event %.*s, which is sent %u times: nothing says which is meant",
                      NAME(reader->module, wait->event), sends->count);
    }
    if (waits->count == 0)
        dump_drop(reader->dump, reader->tasks.at[sends->at[0]].loc,
                  "event %.*s, for which no task waits",
                  NAME(reader->module, reader->tasks.at[sends->at[0]].event));
}

/* Finds the senders of each wait; and of each notify the kernel before it on its stream, and the
 * waits after that. */
static void pair_events(struct reader *reader)
{
    struct id_map index = {NULL, 0, 0};
    VEC(struct uses) uses = {NULL, 0, 0};
    uint32_t kernel = NONE, first_wait = 0;
    for (uint32_t i = 0; i < reader->tasks.count; i++) {
        struct task *task = &reader->tasks.at[i];
        if (i == 0 || task[-1].stream != task->stream) {
            kernel = NONE;
            first_wait = i;
        }
        task->before = kernel;
        task->first_wait = first_wait;
        if (executes(task)) {
            kernel = i;
            first_wait = i + 1;
        }
        if ((task->kind != TASK_WAIT && task->kind != TASK_NOTIFY) || task->event == NONE)
            continue;
        uint32_t *at = id_map_at(&index, task->event);
        if (*at == NONE) {
            *at = uses.count;
            vec_push(&uses, (struct uses){{NULL, 0, 0}, {NULL, 0, 0}});
        }
        if (task->kind == TASK_WAIT)
            vec_push(&uses.at[*at].waits, i);
        else
            vec_push(&uses.at[*at].sends, i);
    }
    for (uint32_t i = 0; i < uses.count; i++) {
        pair_uses(reader, &uses.at[i]);
        vec_free(&uses.at[i].sends);
        vec_free(&uses.at[i].waits);
    }
    vec_free(&uses);
    id_map_free(&index);
}

static void push_senders(struct reader *reader, struct vec_u32 *stack, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        const struct task *wait = &reader->tasks.at[i];
        for (uint32_t n = 0; wait->kind == TASK_WAIT && n < wait->senders.count; n++)
            vec_push(stack, wait->senders.at[n]);
    }
}

/* The events that a kernel receives, which get names. */
static struct range received_events(struct reader *reader, uint32_t kernel)
{
    struct vec_u32 stack = {NULL, 0, 0}, names = {NULL, 0, 0};
    reader->stamp++;
    push_senders(reader, &stack, reader->tasks.at[kernel].first_wait, kernel);
    while (stack.count) {
        uint32_t at = stack.at[--stack.count];
        struct task *notify = &reader->tasks.at[at];
        if (notify->stamp == reader->stamp)
            continue;
        notify->stamp = reader->stamp;
        push_senders(reader, &stack, notify->first_wait, at);
        bool own = notify->stream == reader->tasks.at[kernel].stream && at < kernel;
        if (notify->before == NONE || own)
            continue;
        if (notify->name == NONE)
            notify->name = module_name_printf(reader->module, "e%u", reader->n_events++);
        vec_push(&names, notify->name);
    }
    struct range range = graph_add_refs(reader->graph, names.at, names.count);
    vec_free(&stack);
    vec_free(&names);
    return range;
}

/* -------------------------------------------------------------------------- kernels ---- */

static bool kernel_type(const struct reader *reader, const struct task *task,
                        enum kernel_type *type)
{
    static const struct {
        const char *name;
        enum kernel_type type;
    } types[] = {
        {"AIV_ONLY", KERNEL_aiv_only},       {"AI_VECTOR_CORE", KERNEL_aiv_only},
        {"VECTOR", KERNEL_aiv_only},         {"AIC_ONLY", KERNEL_aic_only},
        {"AI_CORE", KERNEL_aic_only},        {"CUBE", KERNEL_aic_only},
        {"MIX_AIC_1_0", KERNEL_mix_aic_1_0}, {"MIX_AIV_1_0", KERNEL_mix_aiv_1_0},
        {"MIX_AIC_1_1", KERNEL_mix_aic_1_1}, {"MIX_AIC_1_2", KERNEL_mix_aic_1_2},
    };
    for (unsigned i = 0; task->core != NONE && i < sizeof types / sizeof *types; i++) {
        *type = types[i].type;
        if (name_is(reader->module, task->core, types[i].name))
            return true;
    }
    *type = task->ratio[1] == 2 ? KERNEL_mix_aic_1_2 : KERNEL_mix_aic_1_1;
    return task->ratio[0] == 1 && (task->ratio[1] == 1 || task->ratio[1] == 2);
}

/* A stub of the task's kernel, or NONE where it cannot be one. */
static uint32_t stub_of(struct reader *reader, const struct task *task)
{
    struct module *module = reader->module;
    enum kernel_type type;
    if (task->kind != TASK_KERNEL)
        return NONE;
    if (!kernel_type(reader, task, &type) || task->blocks < 1 || task->blocks > 1024) {
        dump_drop(reader->dump, task->loc,
                  "the type or size of a kernel, of which nothing is known");
        return NONE;
    }
    uint32_t key =
        module_name_printf(module, "%u %d %lld", task->type, (int)type, (long long)task->blocks);
    uint32_t *kernel = id_map_at(&reader->kernels, key);
    if (*kernel != NONE)
        return *kernel;
    const struct attr attrs[] = {
        {W_op, NONE, {.kind = ATTR_STRING, .id = task->type}},
        {W_block, NONE, {.kind = ATTR_INT, .i = task->blocks}},
        {W_params, NONE, {.kind = ATTR_LIST, .count = 0, .first = 0}},
        {W_stub, NONE, {.kind = ATTR_BOOL, .i = 1}},
    };
    *kernel = sub_kernel_name(module, task->type);
    struct range range = module_add_attrs(module, attrs, sizeof attrs / sizeof attrs[0]);
    module_add_kernel(module, *kernel, type)->attrs = range;
    return *kernel;
}

/* ---------------------------------------------------------------------------- graph ---- */

static uint32_t open_block(struct reader *reader, enum block_kind kind, uint32_t name,
                           uint32_t parent)
{
    uint32_t id = graph_add_block(
        reader->graph,
        &(struct block){
            .kind = kind, .name = name, .parent = parent, .loc = NONE, .end_loc = NONE});
    graph_add_item(reader->graph, ITEM_OPEN, id);
    return id;
}

static void close_block(struct reader *reader, uint32_t *block)
{
    if (*block != NONE)
        graph_add_item(reader->graph, ITEM_CLOSE, *block);
    *block = NONE;
}

enum { SEVERAL = NONE - 1 };

/* The first block of a scope has its options: those of the graph; and a scope of several streams
 * was fused over them, even if no option says so. */
static uint32_t open_scope(struct reader *reader, uint32_t name, uint32_t parent)
{
    uint32_t id = open_block(reader, BLOCK_SCOPE, name, parent);
    const struct text *all = &reader->options;
    struct text text = {NULL, 0, 0};
    if (id_map_find(&reader->told, name) == NONE) {
        if (id_map_find(&reader->streams, name) == SEVERAL &&
            !sk_options_find(all->at, all->size, SK_stream_fusion))
            text_string(&text, all->size ? "stream-fusion=1:" : "stream-fusion=1");
        if (all->size)
            text_bytes(&text, all->at, all->size);
    }
    id_map_set(&reader->told, name, 1);
    if (text.size) {
        uint32_t options = intern_copy(&reader->module->names, text.at, text.size);
        const struct attr attr = {W_options, NONE, {.kind = ATTR_STRING, .id = options}};
        reader->graph->blocks.at[id].attrs = module_add_attrs(reader->module, &attr, 1);
    }
    text_free(&text);
    return id;
}

static void add_op(struct reader *reader, const struct task *task, uint32_t block,
                   const struct clauses *clauses, uint32_t kernel)
{
    struct graph *graph = reader->graph;
    struct attr attrs[3];
    uint32_t count = 0;
    if (kernel == NONE)
        attrs[count++] = (struct attr){W_supportSuperKernel, NONE, {.kind = ATTR_INT, .i = 0}};
    attrs[count++] = (struct attr){W__unchecked, NONE, {.kind = ATTR_BOOL, .i = 1}};
    if (task->task >= 0)
        attrs[count++] = (struct attr){
            module_name(reader->module, "_task"), NONE, {.kind = ATTR_INT, .i = task->task}};
    struct op op = {.type = task->type,
                    .loc = NONE,
                    .block = block,
                    .results = {graph->values.count, 0},
                    .attrs = module_add_attrs(reader->module, attrs, count),
                    .kernel = kernel};
    if (clauses->send.count + clauses->recv.count) {
        op.clauses = graph->clauses.count;
        vec_push(&graph->clauses, *clauses);
    }
    graph_add_item(graph, ITEM_OP, graph_add_op(graph, &op));
}

/* Stream by stream: what is sent may be below where it is received. */
static void add_ops(struct reader *reader, const uint32_t *kernels, const struct clauses *clauses)
{
    uint32_t stream = NONE, scope = NONE, label = NONE, named = NONE;
    for (uint32_t i = 0; i < reader->tasks.count; i++) { /* which streams the scopes have */
        const struct task *task = &reader->tasks.at[i];
        if (!executes(task) || task->scope == NONE)
            continue;
        uint32_t *first = id_map_at(&reader->streams, task->scope);
        if (*first == NONE)
            *first = i;
        else if (*first != SEVERAL && reader->tasks.at[*first].stream != task->stream)
            *first = SEVERAL;
    }
    for (uint32_t i = 0; i < reader->tasks.count; i++) {
        const struct task *task = &reader->tasks.at[i];
        if (!executes(task))
            continue;
        uint32_t wanted = task->stream
                              ? module_name_printf(reader->module, "%lld", (long long)task->stream)
                              : NONE;
        if (named != task->scope || label != wanted)
            close_block(reader, &scope);
        if (label != wanted) {
            close_block(reader, &stream);
            stream = wanted == NONE ? NONE : open_block(reader, BLOCK_STREAM, wanted, NONE);
        }
        if (scope == NONE && task->scope != NONE)
            scope = open_scope(reader, task->scope, stream);
        label = wanted;
        named = task->scope;
        add_op(reader, task, scope != NONE ? scope : stream, &clauses[i], kernels[i]);
    }
    close_block(reader, &scope);
    close_block(reader, &stream);
}

static uint32_t make_graph(struct reader *reader)
{
    struct module *module = reader->module;
    const char *wanted = reader->dump->options->name;
    uint32_t count = reader->tasks.count;
    uint32_t *kernels = mem_calloc(count, sizeof *kernels);
    struct clauses *clauses = mem_calloc(count, sizeof *clauses);
    for (uint32_t i = 0; i < count; i++) {
        struct task *task = &reader->tasks.at[i];
        if (executes(task) && task->type == NONE)
            task->type = module_name(module, "Task");
        kernels[i] = executes(task) ? stub_of(reader, task) : NONE;
    }
    uint32_t name = module_name(module, wanted ? wanted : "sk_graph");
    name = module_free_symbol(module, name, ".");
    reader->graph = module_add_graph(module, name);
    /* Events get their names from those who receive them. */
    for (uint32_t i = 0; i < count; i++)
        if (executes(&reader->tasks.at[i]))
            clauses[i].recv = received_events(reader, i);
    for (uint32_t i = 0; i < count; i++) {
        struct vec_u32 names = {NULL, 0, 0};
        if (!executes(&reader->tasks.at[i]))
            continue;
        /* The notifies after a kernel, up to the next one. */
        for (uint32_t k = i + 1; k < count && reader->tasks.at[k].before == i; k++)
            if (reader->tasks.at[k].kind == TASK_NOTIFY && reader->tasks.at[k].name != NONE)
                vec_push(&names, reader->tasks.at[k].name);
        clauses[i].send = graph_add_refs(reader->graph, names.at, names.count);
        vec_free(&names);
    }
    add_ops(reader, kernels, clauses);
    mem_free(clauses);
    mem_free(kernels);
    return name;
}

/* Tasks without a form of their own. */
static void drop_tasks(struct reader *reader, enum task_kind kind, const char *text)
{
    uint32_t count = 0, first = NONE;
    for (uint32_t i = 0; i < reader->tasks.count; i++)
        if (reader->tasks.at[i].kind == kind && count++ == 0)
            first = reader->tasks.at[i].loc;
    if (count)
        dump_drop(reader->dump, first, "%u task%s that %s", count, count == 1 ? "" : "s", text);
}

bool exchange_read_sk_graph(struct dump *dump)
{
    struct reader reader = {.dump = dump, .module = dump->module};
    struct json_document *document = &reader.document;
    if (json_document_read(document, dump->source, 0, dump->diags)) {
        read_graph(&reader, document->root, false);
        if (!document->failed && !reader.has_nodes)
            json_fail(document, document->root, "this is no graph of tasks: it has no 'streams'");
    }
    bool read = !document->failed;
    if (read && reader.tasks.count)
        qsort(reader.tasks.at, reader.tasks.count, sizeof *reader.tasks.at, compare_tasks);
    if (read) {
        dump_add_target(dump);
        pair_events(&reader);
        struct dump_count count = {.name = make_graph(&reader), .nodes = reader.tasks.count};
        for (uint32_t i = 0; i < reader.tasks.count; i++)
            count.control_edges += reader.tasks.at[i].senders.count;
        vec_push(&dump->counts, count);
        /* Events whose waits precede nothing. */
        struct vec_u32 sent = {NULL, 0, 0};
        push_senders(&reader, &sent, 0, reader.tasks.count);
        for (uint32_t i = 0; i < sent.count; i++) {
            struct task *notify = &reader.tasks.at[sent.at[i]];
            if (notify->stamp == 0)
                dump_drop(dump, notify->loc, "event %.*s, behind whose waits nothing is executed",
                          NAME(dump->module, notify->event));
            notify->stamp = 1;
        }
        vec_free(&sent);
        drop_tasks(&reader, TASK_MARKER, "begin or end scopes");
        drop_tasks(&reader, TASK_RESET, "reset events, which super kernels do themselves");
    }
    for (uint32_t i = 0; i < reader.tasks.count; i++)
        vec_free(&reader.tasks.at[i].senders);
    vec_free(&reader.tasks);
    text_free(&reader.options);
    json_document_free(&reader.document);
    id_map_free(&reader.kernels);
    id_map_free(&reader.told);
    id_map_free(&reader.streams);
    return read;
}

bool exchange_looks_sk_graph(const struct source *source)
{
    static const char *const keys[] = {"totalStreams", "streams", "graph", NULL};
    return json_has_key(source, keys);
}
