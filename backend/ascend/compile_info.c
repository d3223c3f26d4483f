#include "backend/ascend/compile_info.h"

#include <ctype.h>

#include "ir/core/kernel.h"
#include "ir/core/kernel_args.h"
#include "ir/shapes/gears.h"
#include "ir/syntax/locate.h"

/* ----------------------------------------------------------------------------- ops ---- */

/* The arguments of a kind, which are adjacent; an empty range where they would be. */
static struct range events_of(const struct entry *entry, struct range args, enum arg_kind kind)
{
    uint32_t end = args.first + args.count, first = args.first, last;
    while (first < end && entry->args.at[first].kind != kind &&
           entry->args.at[first].kind != ARG_RECV)
        first++;
    last = first;
    while (last < end && entry->args.at[last].kind == kind)
        last++;
    return (struct range){first, last - first};
}

static void add_ops(struct launch_info *info)
{
    const struct entry *entry = info->entry;
    /* By group of arguments: the kernel that is first called with it. */
    const struct kernel **called = mem_calloc(entry->groups.count + 1, sizeof *called);
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
            const struct instr *instr = &entry->programs[core].instrs.at[i];
            if (instr->op == INSTR_call && !called[instr->number[0]])
                called[instr->number[0]] = module_kernel(info->module, instr->kernel);
        }
    for (uint32_t i = 0, count = entry_named_groups(entry); i < count; i++) {
        const struct arg_group *group = &entry->groups.at[i];
        struct launch_op op = {.kernel = called[i],
                               .group = group,
                               .stream = NONE,
                               .param = group_slot(entry, group),
                               .sends = events_of(entry, group->args, ARG_SEND),
                               .recvs = events_of(entry, group->args, ARG_RECV)};
        op.send = arg_slot(entry, op.sends.first);
        op.recv = arg_slot(entry, op.recvs.first);
        if (op.kernel)
            vec_push(&info->ops, op);
    }
    mem_free(called);
}

/* ---------------------------------------------------------------------------- debugging ---- */

static bool is_listed(const char *list, size_t list_size, const char *word, size_t size)
{
    while (list_size > 0) {
        const char *comma = memchr(list, ',', list_size);
        size_t n = comma ? (size_t)(comma - list) : list_size;
        if (n == size && memcmp(list, word, size) == 0)
            return true;
        n += comma != NULL;
        list += n;
        list_size -= n;
    }
    return false;
}

static void add_debugging(struct launch_info *info, const struct kernel *kernel)
{
    if (!kernel_writes_dump(info->module, kernel))
        return;
    uint32_t id = attr_string(info->module, kernel->attrs, W__debugOptions);
    const struct intern_name *options = &info->module->names.names[id];
    int64_t bytes = attr_int(info->module, kernel->attrs, W__debugBufSize, 0);
    info->debug_bytes = bytes > info->debug_bytes ? bytes : info->debug_bytes;
    for (const char *at = options->text, *end = at + options->size; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        struct text *all = &info->debug_options;
        if (stop > at && !is_listed(all->at, all->size, at, (size_t)(stop - at)))
            text_printf(all, "%s%.*s", all->size ? "," : "", (int)(stop - at), at);
        at = stop + 1;
    }
}

/* -------------------------------------------------------------------------- super kernel ---- */

static void read_superkernel(struct launch_info *info, struct analyses *analyses,
                             const struct entry_place *at)
{
    const struct block *block = &at->graph->blocks.at[at->block];
    const struct order *order = analyses_order(analyses, info->module, at->graph);
    const struct members *members = analyses_members(analyses, info->module, at->graph);
    uint32_t first = members->first[at->block], count = members->first[at->block + 1] - first;
    info->options = *block_options(info->module, block);
    /* Groups of arguments are in the order that `grouped` says. */
    for (uint32_t i = 0; i < info->ops.count && i < count; i++)
        info->ops.at[i].stream = order->stream[members->ops[first + members->grouped[first + i]]];
    info->one_list = info->options.of[SK_stream_fusion].number == 0 ||
                     order_is_chain(order, members->ops + first, count);
    info->early_start = info->options.of[SK_early_start].number != 0 && info->one_list;
}

/* ----------------------------------------------------------------------------- launches ---- */

void launch_info_init(struct launch_info *info, struct entry_finder *finder,
                      const struct entry *entry)
{
    const struct entry_place *at = entry_finder_at(finder, entry);
    *info = (struct launch_info){.module = finder->module, .entry = entry, .one_list = true};
    sk_options_defaults(&info->options);
    add_ops(info);
    for (uint32_t i = 0; i < info->ops.count; i++)
        add_debugging(info, info->ops.at[i].kernel);
    if (at)
        read_superkernel(info, &finder->analyses, at);
    info->early_start |= entry_starts_early(entry);
}

void launch_info_free(struct launch_info *info)
{
    text_free(&info->debug_options);
    vec_free(&info->ops);
}

void launch_info_compile_options(const struct launch_info *info, struct arena *arena,
                                 struct file_names *options)
{
    struct sk_setting rest = info->options.of[SK_compile_options];
    bool dynamic = false, feeds = info->options.of[SK_feed_sync_all].number != 0;
    const char *word;
    size_t size;
    for (uint32_t i = 0; i < info->ops.count; i++)
        dynamic |= kernel_is_dynamic(info->module, info->ops.at[i].kernel);
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < info->entry->programs[core].instrs.count; i++)
            feeds |= info->entry->programs[core].instrs.at[i].op == INSTR_feed_sync;
    if (dynamic)
        vec_push(options, "-D__SUPER_KERNEL_DYNAMIC_BLOCK_NUM__");
    if (info->early_start) {
        vec_push(options, "-D__ASCENDC_ENABLE_SET_NEXT_TASK_START");
        vec_push(options, "-D__ASCENDC_ENABLE_WAIT_PRE_TASK_END");
        vec_push(options, "-D__ASCENDC_SUPERKERNEL_EARLY_START_V2");
    }
    if (feeds)
        vec_push(options, "-D__ASCENDC_SUPERKERNEL_AUTO_SYNC_ALL__");
    vec_push(options, launch_info_dumps(info) ? "-DASCENDC_DUMP" : "-DASCENDC_DUMP=0");
    while (sk_option_next(&rest, &word, &size))
        if (size > 0)
            vec_push(options, arena_strndup(arena, word, size));
}

void info_json_name(struct info_json *out, const char *key, uint32_t name)
{
    const struct intern_name *n = &out->module->names.names[name];
    json_add_bytes(&out->json, key, n->text, n->size);
}

void info_json_type(struct info_json *out, const char *key, enum kernel_type type)
{
    struct text text = {NULL, 0, 0};
    text_string(&text, "KERNEL_TYPE_");
    for (const char *name = kernel_type_info(type)->name; *name; name++)
        text_char(&text, (char)toupper((unsigned char)*name));
    json_add_bytes(&out->json, key, text.at, text.size);
    text_free(&text);
}

void info_json_kernel_name(struct info_json *out, const char *key, const struct entry *entry)
{
    json_add_string(&out->json, key, symbols_entry(&out->symbols, entry));
}

void info_json_label(struct info_json *out, uint32_t name)
{
    const struct intern_name *n = &out->module->names.names[name];
    uint64_t number;
    if (event_number(n, &number))
        json_unsigned(&out->json, number);
    else
        json_bytes(&out->json, n->text, n->size);
}

void info_json_events(struct info_json *out, const struct launch_info *info, struct range events)
{
    json_open_array(&out->json);
    for (uint32_t i = events.first; i < events.first + events.count; i++)
        info_json_label(out, info->entry->args.at[i].id);
    json_close_array(&out->json);
}

/* ------------------------------------------------------------------------------- gears ---- */

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
    json_add_array(&out->json, "shape");
    for (uint32_t i = 0; i < shapes->dims.count; i++)
        json_signed(&out->json, gear_shapes_row(shapes, id)[i]);
    json_close_array(&out->json);
    info_json_name(out, "graph", own->name);
    json_add_array(&out->json, "launches");
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
    struct ge_gears gears;
    gear_shapes_init(&shapes, out->module, graph);
    json_open_object(&out->json);
    info_json_name(out, "graph", graph->name);
    if (ge_gears_write(&gears, out->module, graph)) {
        json_add_bytes(&out->json, GE_INPUT_SHAPE, gears.input_shape.at, gears.input_shape.size);
        json_add_bytes(&out->json, GE_DYNAMIC_DIMS, gears.dynamic_dims.at, gears.dynamic_dims.size);
        json_add_string(&out->json, GE_DYNAMIC_NODE_TYPE, GE_NODES_ARE_PARAMETERS);
    }
    ge_gears_free(&gears);
    json_add_array(&out->json, "dims");
    for (uint32_t i = 0; i < shapes.dims.count; i++) {
        json_open_object(&out->json);
        info_json_name(out, "name", graph->values.at[shapes.dims.at[i].param].name);
        json_add_unsigned(&out->json, "param", shapes.dims.at[i].param);
        json_add_unsigned(&out->json, "dim", shapes.dims.at[i].dim);
        json_close_object(&out->json);
    }
    json_close_array(&out->json);
    json_add_array(&out->json, "cases");
    for (uint32_t i = 0; i < graph->cases.count; i++)
        put_case(out, graph, i, &shapes);
    json_close_array(&out->json);
    json_close_object(&out->json);
    gear_shapes_free(&shapes);
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
        json_add_array(&out.json, "gears");
        for (uint32_t i = 0; i < module->graphs.count; i++)
            if (module->graphs.at[i].cases.count)
                put_graph(&out, &module->graphs.at[i]);
        json_close_array(&out.json);
        json_close_object(&out.json);
    }
    text_char(job->text, '\n');
    entry_finder_free(&out.finder);
    symbols_free(&out.symbols);
    return BACKEND_OK;
}

/* Compile info: what the host side must know of the entries, as docs/compile-info.schema.json has
 * it. */

/* ---------------------------------------------------------------------------- kernels ---- */

static void put_object(struct info_json *out, const char *key, const struct kernel *kernel)
{
    uint32_t object = attr_string(out->module, kernel->attrs, W_object);
    if (object != NONE)
        info_json_name(out, key, object);
}

static void put_kernel(struct info_json *out, const struct kernel *kernel, uint32_t copies)
{
    struct kernel_part part;
    json_open_object(&out->json);
    if (kernel_is_dynamic(out->module, kernel)) {
        put_object(out, "dynamic_bin", kernel);
    } else {
        if (kernel_type_has(kernel->type, CORE_AIC))
            put_object(out, "aic_bin", kernel);
        if (kernel_type_has(kernel->type, CORE_AIV))
            put_object(out, "aiv_bin", kernel);
    }
    json_add_array(&out->json, "sub_kernel_names");
    for (uint32_t copy = 0; copy < copies; copy++)
        for (uint32_t i = 0; i < kernel_parts(out->module, kernel); i++)
            if (kernel_part_at(out->module, kernel, i, &part) && part.function != NONE)
                json_string(&out->json,
                            symbols_function(&out->symbols, kernel, part.function, copy));
    json_close_array(&out->json);
    json_close_object(&out->json);
}

/* ---------------------------------------------------------------------------- options ---- */

static void put_compile_options(struct info_json *out, const struct launch_info *info)
{
    struct arena arena = {NULL, 0};
    struct file_names options = {NULL, 0, 0};
    launch_info_compile_options(info, &arena, &options);
    json_add_array(&out->json, "compile_option");
    for (uint32_t i = 0; i < options.count; i++)
        json_string(&out->json, options.at[i]);
    json_close_array(&out->json);
    vec_free(&options);
    arena_free(&arena);
}

/* Those that are given. Numbers are numbers, all else is as it was written. */
static void put_scope_options(struct info_json *out, const struct launch_info *info)
{
    json_add_object(&out->json, "sp_options");
    for (int i = 0; i < SK_OPTION_COUNT; i++) {
        const struct sk_setting *setting = &info->options.of[i];
        if (!setting->given)
            continue;
        json_key(&out->json, sk_option_key((enum sk_option)i));
        if (sk_option_is_number((enum sk_option)i))
            json_signed(&out->json, setting->number);
        else
            json_bytes(&out->json, setting->text, setting->size);
    }
    json_close_object(&out->json);
}

/* ------------------------------------------------------------------------------ slots ---- */

/* The slots of arguments, and lists of events, each an array by op. */
static void put_all_slots(struct info_json *out, const struct launch_info *info)
{
    static const struct {
        const char *key;
        size_t field; /* of struct launch_op */
    } slots[] = {{"param_offset", offsetof(struct launch_op, param)},
                 {"notify_param_offset", offsetof(struct launch_op, send)},
                 {"wait_param_offset", offsetof(struct launch_op, recv)}},
      events[] = {{"send_event_list", offsetof(struct launch_op, sends)},
                  {"recv_event_list", offsetof(struct launch_op, recvs)}};
    for (size_t k = 0; k < sizeof slots / sizeof *slots; k++) {
        json_add_array(&out->json, slots[k].key);
        for (uint32_t i = 0; i < info->ops.count; i++)
            json_unsigned(&out->json,
                          *(const uint32_t *)((const char *)&info->ops.at[i] + slots[k].field));
        json_close_array(&out->json);
    }
    for (size_t k = 0; k < sizeof events / sizeof *events; k++) {
        json_add_array(&out->json, events[k].key);
        for (uint32_t i = 0; i < info->ops.count; i++)
            info_json_events(
                out, info,
                *(const struct range *)((const char *)&info->ops.at[i] + events[k].field));
        json_close_array(&out->json);
    }
}

/* ---------------------------------------------------------------------------- entries ---- */

/* The order of the keys does not change. */
static void put_entry(struct info_json *out, const struct launch_info *info)
{
    json_open_object(&out->json);
    json_add_unsigned(&out->json, "block_num", launch_info_blocks(info));
    info_json_type(out, "kernel_type", info->entry->type);
    info_json_kernel_name(out, "kernel_name", info->entry);
    json_add_array(&out->json, "sub_operator");
    for (uint32_t i = 0; i < info->ops.count; i++)
        put_kernel(out, info->ops.at[i].kernel, launch_info_copies(info));
    json_close_array(&out->json);
    put_compile_options(out, info);
    json_add_string(&out->json, "link_mode", "PerCubeHerVecWithSuper");
    json_add_unsigned(&out->json, "split_mode", launch_info_copies(info));
    put_scope_options(out, info);
    json_add_unsigned(&out->json, "workspace_size", launch_info_workspace(info));
    json_add_bool(&out->json, "timestamp_option", launch_info_dumps(info));
    json_add_bytes(&out->json, "debug_option", info->debug_options.at, info->debug_options.size);
    json_add_unsigned(&out->json, "debug_size", (uint64_t)info->debug_bytes);
    put_all_slots(out, info);
    json_close_object(&out->json);
}

enum backend_status ascend_emit_compile_info(const struct emission_job *job)
{
    return info_entries_write(job, put_entry, NULL);
}
