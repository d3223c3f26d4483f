/* Graphs of the ahead-of-time super kernel (sk_graph_origin.json, sk_graph_updated.json): the tasks
 * of a model's streams, kernels and events, without data. */
#include "frontend/exchange/exchange.h"
#include "frontend/exchange/readers/sk_events.h"
#include "frontend/exchange/readers/sub_kernel.h"
#include "ir/base/json_document.h"
#include "ir/sk_options.h"

struct sk_graph {
    struct dump *dump;
    struct module *module;
    struct sk_tasks tasks;
    struct graph *graph;
    struct id_map kernels; /* by name id of what it is made of: name id */
    struct id_map told;    /* the scopes that have the options */
    struct id_map streams; /* by scope: its first task; SEVERAL: they have several */
};

static bool kernel_type(const struct sk_graph *sk, const struct sk_task *task,
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
        if (name_is(sk->module, task->core, types[i].name))
            return true;
    }
    *type = task->ratio[1] == 2 ? KERNEL_mix_aic_1_2 : KERNEL_mix_aic_1_1;
    return task->ratio[0] == 1 && (task->ratio[1] == 1 || task->ratio[1] == 2);
}

static uint32_t new_kernel(struct sk_graph *sk, const struct sk_task *task, enum kernel_type type)
{
    struct module *module = sk->module;
    const struct attr attrs[] = {
        {W_op, NONE, {.kind = ATTR_STRING, .id = task->type}},
        {W_block, NONE, {.kind = ATTR_INT, .i = task->blocks}},
        {W_params, NONE, {.kind = ATTR_LIST, .count = 0, .first = 0}},
        {W_stub, NONE, {.kind = ATTR_BOOL, .i = 1}},
    };
    uint32_t name = sub_kernel_name(module, task->type);
    struct range range = module_add_attrs(module, attrs, sizeof attrs / sizeof attrs[0]);
    module_add_kernel(module, name, type)->attrs = range;
    return name;
}

/* A stub of the task's kernel, or NONE where it cannot be one. */
static uint32_t stub_of(struct sk_graph *sk, const struct sk_task *task)
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

static struct range op_attrs(struct sk_graph *sk, const struct sk_task *task, uint32_t kernel)
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
    for (uint32_t i = kernel + 1; i < sk->tasks.list.count && sk->tasks.list.at[i].before == kernel;
         i++)
        if (sk->tasks.list.at[i].kind == TASK_NOTIFY && sk->tasks.list.at[i].name != NONE)
            vec_push(&names, sk->tasks.list.at[i].name);
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

enum { SEVERAL = NONE - 1 };

/* Which streams the scopes have. */
static void find_streams(struct sk_graph *sk)
{
    for (uint32_t i = 0; i < sk->tasks.list.count; i++) {
        const struct sk_task *task = &sk->tasks.list.at[i];
        if (!sk_task_executes(task) || task->scope == NONE)
            continue;
        uint32_t *first = id_map_at(&sk->streams, task->scope);
        if (*first == NONE)
            *first = i;
        else if (*first != SEVERAL && sk->tasks.list.at[*first].stream != task->stream)
            *first = SEVERAL;
    }
}

/* Those of the graph; and a scope of several streams was fused over them, be it that no option says
 * so. */
static void put_options(const struct sk_graph *sk, uint32_t scope, struct text *text)
{
    const struct text *all = &sk->tasks.options;
    bool several = id_map_find(&sk->streams, scope) == SEVERAL;
    if (several && !sk_options_find(all->at, all->size, SK_stream_fusion))
        text_string(text, all->size ? "stream-fusion=1:" : "stream-fusion=1");
    if (all->size)
        text_bytes(text, all->at, all->size);
}

/* The first block of a scope says its options. */
static uint32_t open_scope(struct sk_graph *sk, uint32_t name, uint32_t parent)
{
    uint32_t id = open_block(sk, BLOCK_SCOPE, name, parent);
    struct text text = {NULL, 0, 0};
    if (id_map_find(&sk->told, name) == NONE)
        put_options(sk, name, &text);
    id_map_set(&sk->told, name, 1);
    if (text.size) {
        uint32_t options = intern_copy(&sk->module->names, text.at, text.size);
        const struct attr attr = {W_options, NONE, {.kind = ATTR_STRING, .id = options}};
        sk->graph->blocks.at[id].attrs = module_add_attrs(sk->module, &attr, 1);
    }
    text_free(&text);
    return id;
}

static void close_block(struct sk_graph *sk, uint32_t *block)
{
    if (*block != NONE)
        graph_add_item(sk->graph, ITEM_CLOSE, *block);
    *block = NONE;
}

static void add_op(struct sk_graph *sk, const struct sk_task *task, uint32_t block,
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
    struct clauses *clauses = mem_calloc(sk->tasks.list.count, sizeof *clauses);
    for (uint32_t i = 0; i < sk->tasks.list.count; i++)
        if (sk_task_executes(&sk->tasks.list.at[i])) {
            sk_events_receive(&sk->tasks, i);
            clauses[i].recv = graph_add_refs(sk->graph, sk->tasks.recv.at, sk->tasks.recv.count);
        }
    for (uint32_t i = 0; i < sk->tasks.list.count; i++)
        if (sk_task_executes(&sk->tasks.list.at[i]))
            clauses[i].send = sent_events(sk, i);
    return clauses;
}

/* Stream by stream: what is sent may stand below where it is received. */
static void add_ops(struct sk_graph *sk, const uint32_t *kernels)
{
    uint32_t stream = NONE, scope = NONE, label = NONE, named = NONE;
    struct clauses *clauses = make_clauses(sk);
    find_streams(sk);
    for (uint32_t i = 0; i < sk->tasks.list.count; i++) {
        const struct sk_task *task = &sk->tasks.list.at[i];
        if (!sk_task_executes(task))
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
    uint32_t *kernels = mem_calloc(sk->tasks.list.count, sizeof *kernels);
    for (uint32_t i = 0; i < sk->tasks.list.count; i++) {
        struct sk_task *task = &sk->tasks.list.at[i];
        if (sk_task_executes(task) && task->type == NONE)
            task->type = module_name(module, "Task");
        kernels[i] = sk_task_executes(task) ? stub_of(sk, task) : NONE;
    }
    uint32_t name = module_name(module, wanted ? wanted : "sk_graph");
    name = module_free_symbol(module, name, ".");
    sk->graph = module_add_graph(module, name);
    add_ops(sk, kernels);
    mem_free(kernels);
    return name;
}

/* -------------------------------------------------------------------------- driving ---- */

/* Tasks without a form of their own. */
static void drop_tasks(struct sk_graph *sk, enum sk_task_kind kind, const char *text)
{
    uint32_t count = 0, first = NONE;
    for (uint32_t i = 0; i < sk->tasks.list.count; i++)
        if (sk->tasks.list.at[i].kind == kind && count++ == 0)
            first = sk->tasks.list.at[i].loc;
    if (count)
        dump_drop(sk->dump, first, "%u task%s that %s", count, count == 1 ? "" : "s", text);
}

static void count_graph(struct sk_graph *sk, uint32_t name)
{
    struct dump_count count = {.name = name, .nodes = sk->tasks.list.count};
    for (uint32_t i = 0; i < sk->tasks.list.count; i++)
        count.control_edges += sk->tasks.list.at[i].senders.count;
    vec_push(&sk->dump->counts, count);
}

bool exchange_read_sk_graph(struct dump *dump)
{
    struct sk_graph sk = {.dump = dump, .module = dump->module};
    bool read = sk_tasks_read(&sk.tasks, dump);
    if (read) {
        dump_add_target(dump);
        sk_events_pair(&sk.tasks);
        count_graph(&sk, make_graph(&sk));
        sk_events_drop_idle(&sk.tasks);
        drop_tasks(&sk, TASK_MARKER, "begin or end scopes");
        drop_tasks(&sk, TASK_RESET, "reset events, which super kernels do themselves");
    }
    sk_tasks_free(&sk.tasks);
    id_map_free(&sk.kernels);
    id_map_free(&sk.told);
    id_map_free(&sk.streams);
    return read;
}

bool exchange_looks_sk_graph(const struct source *source)
{
    static const char *const keys[] = {"totalStreams", "streams", "graph", NULL};
    return json_has_key(source, keys);
}
