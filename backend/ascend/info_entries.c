#include "backend/ascend/info_entries.h"
#include "ir/ge_gears.h"
#include "ir/gear_shapes.h"
#include "ir/gears.h"
#include "ir/groups.h"

/* ------------------------------------------------------------------------------- gears ---- */

static void put_notation(struct info_json *out, const struct graph *graph)
{
    struct ge_gears gears;
    if (ge_gears_write(&gears, out->module, graph)) {
        json_add_bytes(&out->json, GE_INPUT_SHAPE, gears.input_shape.at, gears.input_shape.size);
        json_add_bytes(&out->json, GE_DYNAMIC_DIMS, gears.dynamic_dims.at, gears.dynamic_dims.size);
        json_add_string(&out->json, GE_DYNAMIC_NODE_TYPE, GE_NODES_ARE_PARAMETERS);
    }
    ge_gears_free(&gears);
}

static void put_dims(struct info_json *out, const struct graph *graph,
                     const struct gear_shapes *shapes)
{
    json_key(&out->json, "dims");
    json_open_array(&out->json);
    for (uint32_t i = 0; i < shapes->dims.count; i++) {
        json_open_object(&out->json);
        info_json_name(out, "name", graph->values.at[shapes->dims.at[i].param].name);
        json_add_unsigned(&out->json, "param", shapes->dims.at[i].param);
        json_add_unsigned(&out->json, "dim", shapes->dims.at[i].dim);
        json_close_object(&out->json);
    }
    json_close_array(&out->json);
}

static void put_launch(struct info_json *out, const struct entry *entry)
{
    struct launch_info info;
    launch_info_init(&info, &out->finder, entry);
    json_open_object(&out->json);
    info_json_kernel_name(out, "kernelName", entry);
    json_add_unsigned(&out->json, "blockDim", launch_info_blocks(&info));
    json_add_unsigned(&out->json, "parameters", entry->args.count);
    json_add_unsigned(&out->json, "workspace", launch_info_workspace(&info));
    json_close_object(&out->json);
    launch_info_free(&info);
}

static void put_case(struct info_json *out, const struct graph *graph, uint32_t id,
                     const struct gear_shapes *shapes)
{
    const struct graph *own = module_graph(out->module, graph->cases.at[id].graph);
    json_open_object(&out->json);
    json_key(&out->json, "shape");
    json_open_array(&out->json);
    for (uint32_t i = 0; i < shapes->dims.count; i++)
        json_signed(&out->json, gear_shapes_row(shapes, id)[i]);
    json_close_array(&out->json);
    info_json_name(out, "graph", own->name);
    json_key(&out->json, "launches");
    json_open_array(&out->json);
    for (uint32_t b = 0; b < own->blocks.count; b++) {
        const struct entry *entry = block_entry(out->module, &own->blocks.at[b]);
        if (entry)
            put_launch(out, entry);
    }
    json_close_array(&out->json);
    json_close_object(&out->json);
}

static void put_graph(struct info_json *out, const struct graph *graph)
{
    struct gear_shapes shapes;
    gear_shapes_init(&shapes, out->module, graph);
    json_open_object(&out->json);
    info_json_name(out, "graph", graph->name);
    put_notation(out, graph);
    put_dims(out, graph, &shapes);
    json_key(&out->json, "cases");
    json_open_array(&out->json);
    for (uint32_t i = 0; i < graph->cases.count; i++)
        put_case(out, graph, i, &shapes);
    json_close_array(&out->json);
    json_close_object(&out->json);
    gear_shapes_free(&shapes);
}

/* A list with an object for each graph that has expanded gears. */
static void put_gears(struct info_json *out)
{
    json_key(&out->json, "gears");
    json_open_array(&out->json);
    for (uint32_t i = 0; i < out->module->graphs.count; i++)
        if (out->module->graphs.at[i].cases.count)
            put_graph(out, &out->module->graphs.at[i]);
    json_close_array(&out->json);
}

/* ----------------------------------------------------------------------------- entries ---- */

enum backend_status info_entries_write(const struct emission_job *job, info_entry *put,
                                       const void *user)
{
    const struct module *module = job->module;
    struct info_json out = {
        .json = {.text = job->text, .indented = true}, .module = module, .user = user};
    symbols_init(&out.symbols, module);
    entry_finder_init(&out.finder, module);
    bool has_gears = module_has_cases(module), listed = has_gears || module->entries.count != 1;
    if (has_gears) {
        json_open_object(&out.json);
        json_key(&out.json, "entries");
    }
    if (listed)
        json_open_array(&out.json);
    for (uint32_t i = 0; i < module->entries.count; i++) {
        struct launch_info info;
        launch_info_init(&info, &out.finder, &module->entries.at[i]);
        put(&out, &info);
        launch_info_free(&info);
    }
    if (listed)
        json_close_array(&out.json);
    if (has_gears) {
        put_gears(&out);
        json_close_object(&out.json);
    }
    text_char(job->text, '\n');
    entry_finder_free(&out.finder);
    symbols_free(&out.symbols);
    return BACKEND_OK;
}
