/* Graphs of the ahead-of-time super kernel (sk_graph_origin.json, sk_graph_updated.json): the tasks
 * of a model's streams, kernels and events, without data. */
#include "frontend/exchange/dump/target.h"
#include "frontend/exchange/exchange.h"
#include "frontend/exchange/text/json_text.h"
#include "ir/sk_options.h"

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
    uint32_t stamp;         /* of a notify: who has looked at it last */
};

struct sk_graph {
    struct dump *dump;
    struct module *module;
    struct json_text json;
    VEC(struct task) tasks;
    struct graph *graph;
    struct id_map kernels; /* by name id of what it is made of: name id */
    uint32_t n_events, stamp;
    bool has_nodes;
    struct text options; /* of all scopes */
    struct id_map told;  /* the scopes that have them */
    struct vec_u32 recv; /* of the kernel at hand */
};

/* ------------------------------------------------------------------------- reading ---- */

static bool read_name(struct sk_graph *sk, const struct json_item *item, uint32_t *name)
{
    const char *bytes;
    size_t size;
    if (!json_text_string(&sk->json, item, &bytes, &size))
        return false;
    *name = size ? intern_copy(&sk->module->names, bytes, size) : NONE;
    return true;
}

/* A number or a text that stands for one thing. */
static bool read_identity(struct sk_graph *sk, const struct json_item *item, uint32_t *name)
{
    if (item->kind != JSON_NUMBER)
        return read_name(sk, item, name);
    *name = intern_copy(&sk->module->names, item->text, item->size);
    return true;
}

static void read_ratio(struct sk_graph *sk, const struct json_item *item, int64_t *ratio)
{
    struct json_item number;
    uint32_t n = 0;
    if (!json_text_want(&sk->json, item, JSON_ARRAY))
        return;
    json_text_enter(&sk->json);
    for (; json_text_next(&sk->json, &number); n++)
        if (n < 2)
            json_text_integer(&sk->json, &number, 0, 1024, &ratio[n]);
}

/* What NODE_NOTIFY, NOTIFY or EVENT_RECORD is. */
static void read_kind(struct sk_graph *sk, const struct json_item *item, struct task *task)
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
    const char *bytes;
    size_t size;
    if (!json_text_string(&sk->json, item, &bytes, &size))
        return;
    if (size > 5 && memcmp(bytes, "NODE_", 5) == 0)
        bytes += 5, size -= 5;
    task->kind = TASK_OTHER;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (size == strlen(kinds[i].name) && memcmp(bytes, kinds[i].name, size) == 0)
            task->kind = kinds[i].kind;
    if (task->kind == TASK_OTHER && size)
        task->type = intern_copy(&sk->module->names, bytes, size);
}

static void read_marker(struct sk_graph *sk, const struct json_item *item, struct task *task)
{
    bool value;
    if (json_text_bool(&sk->json, item, &value))
        task->marker = task->marker || value;
}

static bool is_one_of(const struct json_item *item, const char *const *keys)
{
    while (*keys && !json_text_is(item, *keys))
        keys++;
    return *keys;
}

/* Members of a task, and of the objects in it that say what it does. */
static void read_member(struct sk_graph *sk, const struct json_item *item, struct task *task)
{
    static const char *const markers[] = {"isScopeBegin", "isScopeEnd", "isScopePlaceholder", NULL};
    static const char *const events[] = {"eventId", "event", "devAddr", "addrValue", NULL};
    struct json_text *json = &sk->json;
    if (json_text_is(item, "nodeType") || json_text_is(item, "taskType"))
        read_kind(sk, item, task);
    else if (json_text_is(item, "streamIdxInGraph"))
        json_text_integer(json, item, 0, UINT32_MAX, &task->stream);
    else if (json_text_is(item, "nodeIdxInStream"))
        json_text_integer(json, item, 0, INT64_MAX, &task->place);
    else if (json_text_is(item, "taskId"))
        json_text_integer(json, item, 0, INT64_MAX, &task->task);
    else if (json_text_is(item, "scopeName") && item->kind != JSON_NULL)
        read_name(sk, item, &task->scope);
    else if (json_text_is(item, "funcName"))
        read_name(sk, item, &task->type);
    else if (json_text_is(item, "kernelType"))
        read_name(sk, item, &task->core);
    else if (json_text_is(item, "taskRatio"))
        read_ratio(sk, item, task->ratio);
    else if (json_text_is(item, "numBlocks"))
        json_text_integer(json, item, 0, UINT32_MAX, &task->blocks);
    else if (is_one_of(item, markers))
        read_marker(sk, item, task);
    else if (is_one_of(item, events) && task->event == NONE)
        read_identity(sk, item, &task->event);
    else if (json_text_is(item, "value") || json_text_is(item, "memoryValue"))
        task->zero = item->size == 1 ? *item->text == '0'
                                     : item->size == 5 && memcmp(item->text, "\"0x0\"", 5) == 0;
}

static const char *const parts[] = {"kernelParams",     "kernelInfos",
                                    "eventParams",      "eventRecordParams",
                                    "eventWaitParams",  "eventResetParams",
                                    "valueWriteParams", "valueWaitParams",
                                    "syncInfos",        NULL};

static void read_members(struct sk_graph *sk, const struct json_item *item, struct task *task);

/* The tasks of a node, all of one kind. */
static void read_infos(struct sk_graph *sk, const struct json_item *item, struct task *task)
{
    struct json_item info;
    if (!json_text_want(&sk->json, item, JSON_ARRAY))
        return;
    json_text_enter(&sk->json);
    while (json_text_next(&sk->json, &info))
        read_members(sk, &info, task);
}

/* As deep as the two kinds of objects in objects are. */
static void read_members(struct sk_graph *sk, const struct json_item *item, struct task *task)
{
    struct json_item member, inner;
    if (!json_text_want(&sk->json, item, JSON_OBJECT))
        return;
    json_text_enter(&sk->json);
    while (json_text_next(&sk->json, &member)) {
        if (!is_one_of(&member, parts)) {
            read_member(sk, &member, task);
            continue;
        }
        if (!json_text_want(&sk->json, &member, JSON_OBJECT))
            return;
        json_text_enter(&sk->json);
        while (json_text_next(&sk->json, &inner))
            read_member(sk, &inner, task);
    }
}

/* A node is a task by itself, or has a list of them. */
static void read_node(struct sk_graph *sk, const struct json_item *item)
{
    struct json_item member, inner;
    struct task task = {.kind = TASK_KINDS,
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
    if (!json_text_want(&sk->json, item, JSON_OBJECT))
        return;
    json_text_enter(&sk->json);
    while (json_text_next(&sk->json, &member)) {
        if (json_text_is(&member, "taskInfo")) {
            read_infos(sk, &member, &task);
        } else if (is_one_of(&member, parts)) {
            if (!json_text_want(&sk->json, &member, JSON_OBJECT))
                return;
            json_text_enter(&sk->json);
            while (json_text_next(&sk->json, &inner))
                read_member(sk, &inner, &task);
        } else {
            read_member(sk, &member, &task);
        }
    }
    if (sk->json.failed)
        return;
    if (task.kind == TASK_KINDS) {
        json_text_fail(&sk->json, item->span, "this node has no 'nodeType'");
        return;
    }
    if (task.kind == TASK_KERNEL && task.marker)
        task.kind = TASK_MARKER;
    if (task.kind == TASK_NOTIFY && task.zero)
        task.kind = TASK_RESET;
    vec_push(&sk->tasks, task);
}

static void read_nodes(struct sk_graph *sk, const struct json_item *item)
{
    struct json_item node;
    if (!json_text_want(&sk->json, item, JSON_ARRAY))
        return;
    json_text_enter(&sk->json);
    while (json_text_next(&sk->json, &node))
        read_node(sk, &node);
}

static void read_streams(struct sk_graph *sk, const struct json_item *item)
{
    struct json_item stream, member;
    if (!json_text_want(&sk->json, item, JSON_ARRAY))
        return;
    json_text_enter(&sk->json);
    while (json_text_next(&sk->json, &stream)) {
        if (!json_text_want(&sk->json, &stream, JSON_OBJECT))
            return;
        json_text_enter(&sk->json);
        while (json_text_next(&sk->json, &member))
            if (json_text_is(&member, "nodes"))
                read_nodes(sk, &member);
    }
}

/* A number, or strings, joined as options of scopes are. */
static void read_value(struct sk_graph *sk, const struct json_item *item, struct text *value)
{
    struct json_item word;
    size_t before = value->size;
    if (item->kind == JSON_NUMBER)
        text_bytes(value, item->text, item->size);
    if (item->kind == JSON_STRING)
        text_bytes(value, item->text + 1, item->size - 2);
    if (item->kind != JSON_ARRAY)
        return;
    json_text_enter(&sk->json);
    while (json_text_next(&sk->json, &word)) {
        if (value->size > before)
            text_char(value, ',');
        if (word.kind == JSON_STRING)
            text_bytes(value, word.text + 1, word.size - 2);
    }
}

/* An option that scopes have too is theirs. */
static void read_option(struct sk_graph *sk, const struct json_item *item)
{
    struct json_item member;
    struct text setting = {NULL, 0, 0};
    struct sk_options parsed;
    if (item->kind == JSON_OBJECT) {
        text_bytes(&setting, item->key, item->key_size);
        for (size_t i = 0; i < setting.size; i++)
            setting.at[i] = setting.at[i] == '_' ? '-' : setting.at[i];
        text_char(&setting, '=');
        json_text_enter(&sk->json);
        while (json_text_next(&sk->json, &member))
            if (json_text_is(&member, "value"))
                read_value(sk, &member, &setting);
    }
    bool pattern = setting.size && memchr(setting.at, '*', setting.size);
    if (setting.size && !pattern &&
        sk_options_parse(&parsed, setting.at, setting.size, no_span, NULL)) {
        if (sk->options.size)
            text_char(&sk->options, ':');
        text_bytes(&sk->options, setting.at, setting.size);
    } else if (!json_text_is(item, "numOptions") && !json_text_is(item, "options")) {
        dump_drop(sk->dump, item->key_span.begin, "option \"%.*s\", which scopes do not have so",
                  (int)item->key_size, item->key);
    }
    text_free(&setting);
}

static void read_options(struct sk_graph *sk, const struct json_item *item)
{
    struct json_item option;
    if (!json_text_want(&sk->json, item, JSON_OBJECT))
        return;
    json_text_enter(&sk->json);
    while (json_text_next(&sk->json, &option))
        read_option(sk, &option);
}

/* An older form has all in a member `graph`. */
static void read_graph(struct sk_graph *sk, bool inner)
{
    struct json_item item;
    json_text_enter(&sk->json);
    while (json_text_next(&sk->json, &item)) {
        bool streams = json_text_is(&item, "streams"), nodes = json_text_is(&item, "nodes");
        sk->has_nodes = sk->has_nodes || streams || nodes;
        if (streams)
            read_streams(sk, &item);
        else if (nodes)
            read_nodes(sk, &item);
        else if (json_text_is(&item, "options"))
            read_options(sk, &item);
        else if (!inner && json_text_is(&item, "graph") && item.kind == JSON_OBJECT)
            read_graph(sk, true);
    }
}

static bool read_all(struct sk_graph *sk)
{
    struct json_item item;
    if (!json_text_next(&sk->json, &item) || !json_text_want(&sk->json, &item, JSON_OBJECT))
        return false;
    struct span span = item.span;
    read_graph(sk, false);
    if (!sk->json.failed)
        json_text_next(&sk->json, &item);
    if (!sk->json.failed && !sk->has_nodes)
        json_text_fail(&sk->json, span, "this is no graph of tasks: it has no 'streams'");
    return !sk->json.failed;
}

/* -------------------------------------------------------------------------- events ---- */

static int compare_tasks(const void *a, const void *b)
{
    const struct task *x = a, *y = b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->loc < y->loc ? -1 : x->loc > y->loc;
}

static bool executes(const struct task *task)
{
    return task->kind == TASK_KERNEL || task->kind == TASK_OTHER;
}

/* Of each notify: the kernel before it on its stream, and the waits behind that. */
static void look_back(struct sk_graph *sk)
{
    uint32_t kernel = NONE, wait = 0;
    for (uint32_t i = 0; i < sk->tasks.count; i++) {
        struct task *task = &sk->tasks.at[i];
        if (i == 0 || task[-1].stream != task->stream) {
            kernel = NONE;
            wait = i;
        }
        task->before = kernel;
        task->first_wait = wait;
        if (executes(task)) {
            kernel = i;
            wait = i + 1;
        }
    }
}

/* All tasks of a kind with one event, in the order of the tasks. */
struct uses {
    struct vec_u32 of[2]; /* notifies, waits */
};

static void pair_uses(struct sk_graph *sk, const struct uses *uses)
{
    const struct vec_u32 *sends = &uses->of[0], *waits = &uses->of[1];
    for (uint32_t i = 0; i < waits->count; i++) {
        struct task *wait = &sk->tasks.at[waits->at[i]];
        if (sends->count == 0)
            dump_drop(sk->dump, wait->loc, "a wait for event %.*s, which no task sends",
                      NAME(sk->module, wait->event));
        else if (sends->count == 1)
            vec_push(&wait->senders, sends->at[0]);
        else if (sends->count == waits->count)
            vec_push(&wait->senders, sends->at[i]);
        else
            dump_drop(sk->dump, wait->loc,
                      "a wait for event %.*s, which is sent %u times: nothing says which is meant",
                      NAME(sk->module, wait->event), sends->count);
    }
    if (waits->count == 0)
        dump_drop(sk->dump, sk->tasks.at[sends->at[0]].loc, "event %.*s, for which no task waits",
                  NAME(sk->module, sk->tasks.at[sends->at[0]].event));
}

/* Who notifies whom. An event that is used again pairs in the order of its uses. */
static void pair_events(struct sk_graph *sk)
{
    struct id_map index = {NULL, 0, 0};
    VEC(struct uses) uses = {NULL, 0, 0};
    for (uint32_t i = 0; i < sk->tasks.count; i++) {
        const struct task *task = &sk->tasks.at[i];
        bool wait = task->kind == TASK_WAIT;
        if ((!wait && task->kind != TASK_NOTIFY) || task->event == NONE)
            continue;
        uint32_t *at = id_map_at(&index, task->event);
        if (*at == NONE) {
            *at = uses.count;
            vec_push(&uses, (struct uses){.of = {{NULL, 0, 0}, {NULL, 0, 0}}});
        }
        vec_push(&uses.at[*at].of[wait], i);
    }
    for (uint32_t i = 0; i < uses.count; i++) {
        pair_uses(sk, &uses.at[i]);
        vec_free(&uses.at[i].of[0]);
        vec_free(&uses.at[i].of[1]);
    }
    vec_free(&uses);
    id_map_free(&index);
}

static void push_waits(struct sk_graph *sk, struct vec_u32 *stack, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        const struct task *wait = &sk->tasks.at[i];
        for (uint32_t n = 0; wait->kind == TASK_WAIT && n < wait->senders.count; n++)
            vec_push(stack, wait->senders.at[n]);
    }
}

/* The events of other kernels that the waits before a kernel come to. A notify sends what is
 * complete before it: the kernel there, and what the waits between the two wait for. */
static void find_received(struct sk_graph *sk, uint32_t kernel)
{
    struct vec_u32 stack = {NULL, 0, 0};
    sk->recv.count = 0;
    sk->stamp++;
    push_waits(sk, &stack, sk->tasks.at[kernel].first_wait, kernel);
    while (stack.count) {
        uint32_t at = stack.at[--stack.count];
        struct task *notify = &sk->tasks.at[at];
        if (notify->stamp == sk->stamp)
            continue;
        notify->stamp = sk->stamp;
        push_waits(sk, &stack, notify->first_wait, at);
        bool own = notify->stream == sk->tasks.at[kernel].stream && at < kernel;
        if (notify->before == NONE || own)
            continue;
        if (notify->name == NONE)
            notify->name = module_name_printf(sk->module, "e%u", sk->n_events++);
        vec_push(&sk->recv, notify->name);
    }
    vec_free(&stack);
}

/* --------------------------------------------------------------------------- graph ---- */

static bool kernel_type(const struct sk_graph *sk, const struct task *task, enum kernel_type *type)
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
        if (name_is(sk->module, task->core, types[i].name))
            return true;
    }
    *type = task->ratio[1] == 2 ? KERNEL_mix_aic_1_2 : KERNEL_mix_aic_1_1;
    return task->ratio[0] == 1 && (task->ratio[1] == 1 || task->ratio[1] == 2);
}

static uint32_t new_kernel(struct sk_graph *sk, const struct task *task, enum kernel_type type)
{
    struct module *module = sk->module;
    const struct attr attrs[] = {
        {W_op, NONE, {.kind = ATTR_STRING, .id = task->type}},
        {W_block, NONE, {.kind = ATTR_INT, .i = task->blocks}},
        {W_params, NONE, {.kind = ATTR_LIST, .count = 0, .first = 0}},
    };
    const struct intern_name *text = &module->names.names[task->type];
    bool part = text->size > 4 && (memcmp(text->text + text->size - 4, ".aic", 4) == 0 ||
                                   memcmp(text->text + text->size - 4, ".aiv", 4) == 0);
    uint32_t name = task->type;
    for (uint32_t n = 1; (part && name == task->type) || module_has_symbol(module, name); n++)
        name = module_name_printf(module, "%.*s_%u", NAME(module, task->type), n);
    struct range range = module_add_attrs(module, attrs, 3);
    module_add_kernel(module, name, type)->attrs = range;
    return name;
}

/* A stub of the task's kernel, or NONE where it cannot be one. */
static uint32_t stub_of(struct sk_graph *sk, const struct task *task)
{
    enum kernel_type type;
    if (task->kind != TASK_KERNEL)
        return NONE;
    if (!kernel_type(sk, task, &type) || task->blocks < 1 || task->blocks > 1024) {
        dump_drop(sk->dump, task->loc, "the type or size of a kernel, of which nothing is known");
        return NONE;
    }
    uint32_t key = module_name_printf(sk->module, "%u %d %lld", task->type, (int)type,
                                      (long long)task->blocks);
    uint32_t *kernel = id_map_at(&sk->kernels, key);
    if (*kernel == NONE)
        *kernel = new_kernel(sk, task, type);
    return *kernel;
}

static struct range op_attrs(struct sk_graph *sk, const struct task *task, uint32_t kernel)
{
    struct attr attrs[3];
    uint32_t count = 0;
    if (kernel == NONE)
        attrs[count++] = (struct attr){W_supportSuperKernel, NONE, {.kind = ATTR_INT, .i = 0}};
    attrs[count++] = (struct attr){W__unchecked, NONE, {.kind = ATTR_BOOL, .i = 1}};
    if (task->task >= 0)
        attrs[count++] = (struct attr){
            module_name(sk->module, "_task"), NONE, {.kind = ATTR_INT, .i = task->task}};
    return module_add_attrs(sk->module, attrs, count);
}

/* The notifies behind a kernel, up to the next one. */
static struct range sent_events(struct sk_graph *sk, uint32_t kernel)
{
    struct vec_u32 names = {NULL, 0, 0};
    for (uint32_t i = kernel + 1; i < sk->tasks.count && sk->tasks.at[i].before == kernel; i++)
        if (sk->tasks.at[i].kind == TASK_NOTIFY && sk->tasks.at[i].name != NONE)
            vec_push(&names, sk->tasks.at[i].name);
    struct range range = graph_add_refs(sk->graph, names.at, names.count);
    vec_free(&names);
    return range;
}

static uint32_t open_block(struct sk_graph *sk, enum block_kind kind, uint32_t name,
                           uint32_t parent)
{
    uint32_t id = graph_add_block(
        sk->graph, &(struct block){
                       .kind = kind, .name = name, .parent = parent, .loc = NONE, .end_loc = NONE});
    graph_add_item(sk->graph, ITEM_OPEN, id);
    return id;
}

/* The first block of a scope says its options. */
static uint32_t open_scope(struct sk_graph *sk, uint32_t name, uint32_t parent)
{
    uint32_t id = open_block(sk, BLOCK_SCOPE, name, parent);
    if (sk->options.size == 0 || id_map_find(&sk->told, name) != NONE)
        return id;
    uint32_t text = intern_copy(&sk->module->names, sk->options.at, sk->options.size);
    const struct attr attr = {W_options, NONE, {.kind = ATTR_STRING, .id = text}};
    sk->graph->blocks.at[id].attrs = module_add_attrs(sk->module, &attr, 1);
    id_map_set(&sk->told, name, 1);
    return id;
}

static void close_block(struct sk_graph *sk, uint32_t *block)
{
    if (*block != NONE)
        graph_add_item(sk->graph, ITEM_CLOSE, *block);
    *block = NONE;
}

static void add_op(struct sk_graph *sk, const struct task *task, uint32_t block,
                   const struct clauses *clauses, uint32_t kernel)
{
    struct graph *graph = sk->graph;
    struct op op = {.type = task->type,
                    .loc = NONE,
                    .block = block,
                    .results = {graph->values.count, 0},
                    .attrs = op_attrs(sk, task, kernel),
                    .kernel = kernel};
    if (clauses->send.count + clauses->recv.count) {
        op.clauses = graph->clauses.count;
        vec_push(&graph->clauses, *clauses);
    }
    graph_add_item(graph, ITEM_OP, graph_add_op(graph, &op));
}

/* The clauses of each task that executes something; events get their names by who receives them. */
static struct clauses *make_clauses(struct sk_graph *sk)
{
    struct clauses *clauses = mem_calloc(sk->tasks.count, sizeof *clauses);
    for (uint32_t i = 0; i < sk->tasks.count; i++)
        if (executes(&sk->tasks.at[i])) {
            find_received(sk, i);
            clauses[i].recv = graph_add_refs(sk->graph, sk->recv.at, sk->recv.count);
        }
    for (uint32_t i = 0; i < sk->tasks.count; i++)
        if (executes(&sk->tasks.at[i]))
            clauses[i].send = sent_events(sk, i);
    return clauses;
}

/* Stream by stream: what is sent may stand below where it is received. */
static void add_ops(struct sk_graph *sk, const uint32_t *kernels)
{
    uint32_t stream = NONE, scope = NONE, label = NONE, named = NONE;
    struct clauses *clauses = make_clauses(sk);
    for (uint32_t i = 0; i < sk->tasks.count; i++) {
        const struct task *task = &sk->tasks.at[i];
        if (!executes(task))
            continue;
        uint32_t wanted =
            task->stream ? module_name_printf(sk->module, "%lld", (long long)task->stream) : NONE;
        if (named != task->scope || label != wanted)
            close_block(sk, &scope);
        if (label != wanted) {
            close_block(sk, &stream);
            stream = wanted == NONE ? NONE : open_block(sk, BLOCK_STREAM, wanted, NONE);
        }
        if (scope == NONE && task->scope != NONE)
            scope = open_scope(sk, task->scope, stream);
        label = wanted;
        named = task->scope;
        add_op(sk, task, scope != NONE ? scope : stream, &clauses[i], kernels[i]);
    }
    close_block(sk, &scope);
    close_block(sk, &stream);
    mem_free(clauses);
}

static uint32_t make_graph(struct sk_graph *sk)
{
    struct module *module = sk->module;
    const char *wanted = sk->dump->options->name;
    uint32_t *kernels = mem_calloc(sk->tasks.count, sizeof *kernels);
    for (uint32_t i = 0; i < sk->tasks.count; i++) {
        struct task *task = &sk->tasks.at[i];
        if (executes(task) && task->type == NONE)
            task->type = module_name(module, "Task");
        kernels[i] = executes(task) ? stub_of(sk, task) : NONE;
    }
    uint32_t base = module_name(module, wanted ? wanted : "sk_graph"), name = base;
    for (uint32_t n = 1; module_has_symbol(module, name); n++)
        name = module_name_printf(module, "%.*s.%u", NAME(module, base), n);
    sk->graph = module_add_graph(module, name);
    add_ops(sk, kernels);
    mem_free(kernels);
    return name;
}

/* -------------------------------------------------------------------------- driving ---- */

/* Tasks without a form of their own. */
static void drop_tasks(struct sk_graph *sk, enum task_kind kind, const char *text)
{
    uint32_t count = 0, first = NONE;
    for (uint32_t i = 0; i < sk->tasks.count; i++)
        if (sk->tasks.at[i].kind == kind && count++ == 0)
            first = sk->tasks.at[i].loc;
    if (count)
        dump_drop(sk->dump, first, "%u task%s that %s", count, count == 1 ? "" : "s", text);
}

/* Events whose waits nothing stands behind. */
static void drop_idle_events(struct sk_graph *sk)
{
    struct vec_u32 sent = {NULL, 0, 0};
    for (uint32_t i = 0; i < sk->tasks.count; i++)
        push_waits(sk, &sent, i, i + 1);
    for (uint32_t i = 0; i < sent.count; i++) {
        struct task *notify = &sk->tasks.at[sent.at[i]];
        if (notify->stamp == 0)
            dump_drop(sk->dump, notify->loc, "event %.*s, behind whose waits nothing is executed",
                      NAME(sk->module, notify->event));
        notify->stamp = 1;
    }
    vec_free(&sent);
}

static void count_graph(struct sk_graph *sk, uint32_t name)
{
    struct dump_count count = {.name = name, .nodes = sk->tasks.count};
    for (uint32_t i = 0; i < sk->tasks.count; i++)
        count.control_edges += sk->tasks.at[i].senders.count;
    vec_push(&sk->dump->counts, count);
}

static void free_all(struct sk_graph *sk)
{
    for (uint32_t i = 0; i < sk->tasks.count; i++)
        vec_free(&sk->tasks.at[i].senders);
    vec_free(&sk->tasks);
    vec_free(&sk->recv);
    id_map_free(&sk->kernels);
    text_free(&sk->options);
    id_map_free(&sk->told);
    json_text_free(&sk->json);
}

bool exchange_read_sk_graph(struct dump *dump)
{
    struct sk_graph sk = {.dump = dump, .module = dump->module};
    json_text_init(&sk.json, dump->source, 0, dump->diags);
    bool ok = read_all(&sk);
    if (ok) {
        if (sk.tasks.count)
            qsort(sk.tasks.at, sk.tasks.count, sizeof *sk.tasks.at, compare_tasks);
        dump_add_target(dump);
        look_back(&sk);
        pair_events(&sk);
        count_graph(&sk, make_graph(&sk));
        drop_idle_events(&sk);
        drop_tasks(&sk, TASK_MARKER, "begin or end scopes");
        drop_tasks(&sk, TASK_RESET, "reset events, which super kernels do themselves");
    }
    free_all(&sk);
    return ok;
}

bool exchange_looks_sk_graph(const struct source *source)
{
    static const char *const keys[] = {"totalStreams", "streams", "graph", NULL};
    return json_text_has_key(source, keys);
}
