#include "frontend/exchange/readers/onnx_level.h"

static const char *const graph_fields[] = {
    "node", "initializer", "sparse_initializer", "input", "output", "value_info", "name", NULL};

bool onnx_is_of_graph(const struct proto_field *field)
{
    return field_is_one(field, graph_fields);
}

void onnx_level_begin(struct onnx *onnx, struct onnx_level *level, uint32_t loc, uint32_t parent)
{
    *level = (struct onnx_level){.loc = loc, .name = NONE, .domain = NONE, .overload = NONE};
    level->graph = dump_add_graph(onnx->dump, NONE, loc, parent);
}

/* A ValueInfoProto, or as functions have it, just a name: its name and type. */
static struct dump_param read_value_info(struct onnx *onnx, struct onnx_level *level,
                                         const struct proto_field *outer)
{
    struct dump_param value = {.name = NONE, .type = NONE, .loc = outer->span.begin};
    struct proto_field field;
    if (outer->kind == PROTO_STRING) {
        value.name = field_token(&onnx->proto, outer, onnx->dump);
        return value;
    }
    struct field_walk walk = onnx_walk(onnx, MESSAGE_ONNX_VALUE);
    if (!field_enter(&onnx->proto, outer))
        return value;
    while (field_next(&walk, &field))
        if (proto_is(&field, "name")) {
            value.name = field_token(&onnx->proto, &field, onnx->dump);
            value.loc = field.span.begin;
        } else if (field_is_message(&field, "type")) {
            proto_enter(&onnx->proto);
            value.type = onnx_read_type(onnx, value.loc);
        }
    if (value.name != NONE && value.type != NONE)
        vec_push(&level->declared, value);
    return value;
}

void onnx_level_value(struct onnx *onnx, struct onnx_level *level, const struct proto_field *field)
{
    read_value_info(onnx, level, field);
}

void onnx_level_input(struct onnx *onnx, struct onnx_level *level, const struct proto_field *field)
{
    struct dump_param value = read_value_info(onnx, level, field);
    if (value.name != NONE && !onnx->is_ge)
        vec_push(&onnx->dump->graphs.at[level->graph].params, value);
}

void onnx_level_output(struct onnx *onnx, struct onnx_level *level, const struct proto_field *field)
{
    struct dump_param value = read_value_info(onnx, level, field);
    struct dump_input input = {
        .name = value.name, .label = NONE, .loc = value.loc, .kind = DUMP_VALUE};
    if (value.name != NONE && !onnx->is_ge)
        vec_push(&onnx->dump->graphs.at[level->graph].returns, input);
}

/* A constant that is no node. */
static void add_initializer(struct onnx *onnx, struct onnx_level *level,
                            const struct onnx_tensor *tensor)
{
    struct dump *dump = onnx->dump;
    if (tensor->name == NONE || onnx->proto.failed)
        return;
    dump_begin(&level->draft, tensor->loc);
    level->draft.node.type = module_name(dump->module, "Const");
    level->draft.node.implied = true;
    dump_add_output(&level->draft, tensor->name, tensor->type);
    if (tensor->filled)
        dump_add_attr(&level->draft, (struct attr){W_value, tensor->loc, tensor->value});
    dump_add_node(dump, level->graph, &level->draft);
}

void onnx_level_initializer(struct onnx *onnx, struct onnx_level *level,
                            const struct proto_field *field)
{
    struct onnx_tensor tensor;
    if (!field_enter(&onnx->proto, field))
        return;
    onnx_read_tensor(onnx, &tensor, field->name_span.begin);
    add_initializer(onnx, level, &tensor);
}

/* Its name is that of the tensor of its values, its shape its own. */
void onnx_level_sparse(struct onnx *onnx, struct onnx_level *level, const struct proto_field *outer)
{
    struct proto_text *proto = &onnx->proto;
    struct onnx_tensor tensor = {.name = NONE, .dtype = DTYPE_UNKNOWN};
    struct dump_shape shape;
    struct proto_field field;
    int64_t dim;
    if (!field_enter(proto, outer))
        return;
    struct field_walk walk = onnx_walk(onnx, MESSAGE_ONNX_SPARSE);
    shape.rank = 0;
    while (field_next(&walk, &field))
        if (field_is_message(&field, "values")) {
            proto_enter(proto);
            onnx_read_tensor(onnx, &tensor, field.name_span.begin);
        } else if (proto_is(&field, "dims") && proto_integer(proto, &field, &dim)) {
            dump_shape_add(&shape, dim < 0 ? DIM_UNKNOWN : dim);
        }
    if (!proto->failed)
        dump_lose(onnx->dump, outer->name_span.begin, "a sparse initializer's contents");
    tensor.filled = false;
    tensor.type = dump_type(onnx->dump, tensor.dtype, W_ND, &shape, tensor.loc);
    add_initializer(onnx, level, &tensor);
}

/* The types of what the nodes give, which stand behind them. */
static void type_outputs(struct id_map *types, struct dump_graph *graph)
{
    for (uint32_t i = 0; i < graph->outputs.count; i++) {
        struct dump_output *output = &graph->outputs.at[i];
        if (output->name == NONE)
            continue;
        uint32_t type = id_map_find(types, output->name);
        if (type != NONE && output->type == NONE)
            output->type = type;
    }
}

/* Inputs that have an initializer are no parameters: older models list those, too. */
static void drop_initialized(struct id_map *seen, struct dump_graph *graph)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i].implied)
            id_map_set(seen, graph->outputs.at[graph->nodes.at[i].outputs.first].name, 0);
    for (uint32_t i = 0; i < graph->params.count; i++)
        if (id_map_find(seen, graph->params.at[i].name) == NONE)
            graph->params.at[kept++] = graph->params.at[i];
    graph->params.count = kept;
    for (uint32_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i].implied)
            id_map_set(seen, graph->outputs.at[graph->nodes.at[i].outputs.first].name, NONE);
}

static bool returns_something(const struct dump_graph *graph)
{
    if (graph->returns.count)
        return true;
    for (uint32_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.at[i].role == DUMP_RETURN)
            return true;
    return false;
}

void onnx_level_end(struct onnx *onnx, struct onnx_level *level, uint32_t fallback)
{
    struct dump *dump = onnx->dump;
    struct dump_graph *graph = &dump->graphs.at[level->graph];
    struct id_map *types = &onnx->types;
    for (uint32_t i = 0; i < level->declared.count; i++)
        id_map_set(types, level->declared.at[i].name, level->declared.at[i].type);
    type_outputs(types, graph);
    for (uint32_t i = 0; i < level->declared.count; i++)
        id_map_set(types, level->declared.at[i].name, NONE);
    drop_initialized(types, graph);
    graph->open = !returns_something(graph);
    bool named = level->name != NONE && dump->module->names.names[level->name].size > 0;
    dump_name_graph(dump, level->graph, named ? level->name : fallback);
    vec_free(&level->declared);
    dump_draft_free(&level->draft);
}
