#include "frontend/exchange/dump/dump.h"
#include "ir/syntax/spelling.h"

void dump_init(struct dump *dump, struct source *source, struct diags *diags,
               const struct dump_options *options)
{
    *dump = (struct dump){.source = source,
                          .diags = diags,
                          .options = options,
                          .gears = {{.text = NONE}, {.text = NONE}, {.text = NONE}}};
    dump->module = module_new(source);
}

static void free_graph(struct dump_graph *graph)
{
    vec_free(&graph->nodes);
    vec_free(&graph->inputs);
    vec_free(&graph->outputs);
    vec_free(&graph->hints);
    vec_free(&graph->params);
    vec_free(&graph->returns);
}

void dump_free(struct dump *dump)
{
    for (uint32_t i = 0; i < dump->graphs.count; i++)
        free_graph(&dump->graphs.at[i]);
    vec_free(&dump->graphs);
    vec_free(&dump->counts);
    vec_free(&dump->dropped);
    id_map_free(&dump->graph_names);
    id_map_free(&dump->graph_numbers);
    id_map_free(&dump->keys);
    id_map_free(&dump->unused_fields);
    id_map_free(&dump->dtypes);
    id_map_free(&dump->formats);
    arena_free(&dump->arena);
    module_free(dump->module);
}

uint32_t dump_name(struct dump *dump, const char *bytes, size_t size)
{
    uintptr_t offset = (uintptr_t)bytes - (uintptr_t)dump->source->text;
    struct intern *names = &dump->module->names;
    if (offset < dump->source->size && size <= dump->source->size - offset)
        return intern_static(names, bytes, size);
    return intern_copy(names, bytes, size);
}

static bool is_graph(const void *user, uint32_t name)
{
    return id_map_find(user, name) != NONE;
}

static uint32_t free_name(struct dump *dump, uint32_t name)
{
    uint32_t wanted = name == NONE ? module_name(dump->module, "graph") : name;
    uint32_t *last = id_map_at(&dump->graph_numbers, wanted);
    *last = *last == NONE ? 0 : *last;
    return module_free_name(dump->module, wanted, ".",
                            (struct taken_names){is_graph, &dump->graph_names}, last);
}

uint32_t dump_add_graph(struct dump *dump, uint32_t name, uint32_t loc, uint32_t parent)
{
    uint32_t index = dump->graphs.count;
    name = free_name(dump, name);
    id_map_set(&dump->graph_names, name, index);
    vec_push(&dump->graphs, (struct dump_graph){.name = name, .loc = loc, .parent = parent});
    return index;
}

void dump_name_graph(struct dump *dump, uint32_t index, uint32_t name)
{
    id_map_unset(&dump->graph_names, dump->graphs.at[index].name);
    name = free_name(dump, name);
    id_map_set(&dump->graph_names, name, index);
    dump->graphs.at[index].name = name;
}

void dump_begin(struct dump_draft *draft, uint32_t loc)
{
    draft->node = (struct dump_node){
        .name = NONE,
        .type = NONE,
        .loc = loc,
        .index = -1,
        .scope = NONE,
        .options = NONE,
        .stream = NONE,
        .priority = DUMP_NO_PRIORITY,
        .send_event = NONE,
        .recv_event = NONE,
        .dialect = DIALECT_GE,
    };
    draft->inputs.count = draft->outputs.count = draft->attrs.count = draft->hints.count = 0;
}

#define append(target, source)                                                                     \
    (struct range){(target)->count, (source)->count};                                              \
    vec_reserve(target, (source)->count);                                                          \
    if ((source)->count)                                                                           \
        memcpy((target)->at + (target)->count, (source)->at,                                       \
               (source)->count * sizeof *(source)->at);                                            \
    (target)->count += (source)->count

void dump_add_node(struct dump *dump, uint32_t index, struct dump_draft *draft)
{
    dump_sort_attrs(dump, draft);
    struct dump_graph *graph = &dump->graphs.at[index];
    struct dump_node node = draft->node;
    node.inputs = append(&graph->inputs, &draft->inputs);
    for (uint32_t i = 0; i < draft->hints.count; i++)
        vec_push(&graph->hints, (struct dump_hint){node.inputs.first + draft->hints.at[i].input,
                                                   draft->hints.at[i].type});
    node.outputs = append(&graph->outputs, &draft->outputs);
    node.attrs = module_add_attrs(dump->module, draft->attrs.at, draft->attrs.count);
    vec_push(&graph->nodes, node);
}

void dump_draft_free(struct dump_draft *draft)
{
    vec_free(&draft->inputs);
    vec_free(&draft->outputs);
    vec_free(&draft->hints);
    vec_free(&draft->attrs);
}

bool dump_is_empty(const struct dump *dump)
{
    uint64_t count = dump->module->graphs.count; /* of readers that make them themselves */
    for (uint32_t i = 0; i < dump->graphs.count; i++) {
        const struct dump_graph *graph = &dump->graphs.at[i];
        count += (uint64_t)graph->nodes.count + graph->params.count + graph->returns.count;
    }
    return count == 0;
}

int64_t dump_dim(struct dump *dump, const char *text, size_t size)
{
    uint32_t name = intern_copy(&dump->module->names, text, size);
    return is_plain_word(dump->module, name) ? DIM_GEAR + name : DIM_UNKNOWN;
}

void dump_add_target(struct dump *dump)
{
    const struct dump_options *options = dump->options;
    struct module *module = dump->module;
    if (!options->has_device || module->targets.count)
        return;
    struct attr attrs[3] = {
        {W_aic, NONE, {.kind = ATTR_INT, .i = options->aic}},
        {W_aiv, NONE, {.kind = ATTR_INT, .i = options->aiv}},
    };
    if (options->arch)
        attrs[2] = (struct attr){
            W_arch, NONE, {.kind = ATTR_STRING, .id = module_name(module, options->arch)}};
    struct target target = {.name =
                                module_name(module, options->device ? options->device : "ascend"),
                            .loc = NONE,
                            .attrs = module_add_attrs(module, attrs, options->arch ? 3 : 2)};
    vec_push(&module->order, order_make(module->targets.count, ORDER_TARGET));
    vec_push(&module->targets, target);
}
