/* Compile info: what the host side must know of the entries, as docs/compile-info.schema.json has
 * it. */
#include "backend/ascend/info_entries.h"
#include "backend/backend.h"
#include "ir/syntax/locate.h"

/* ---------------------------------------------------------------------------- kernels ---- */

static void put_object(struct info_json *out, const char *key, const struct kernel *kernel)
{
    uint32_t object = attr_string(out->module, kernel->attrs, W_object);
    if (object != NONE)
        info_json_name(out, key, object);
}

/* The functions of all parts, and of all copies of the code. */
static void put_functions(struct info_json *out, const struct kernel *kernel, uint32_t copies)
{
    struct text symbol = {NULL, 0, 0};
    struct kernel_part part;
    json_key(&out->json, "sub_kernel_names");
    json_open_array(&out->json);
    for (uint32_t copy = 0; copy < copies; copy++)
        for (uint32_t i = 0; i < kernel_parts(out->module, kernel); i++) {
            if (!kernel_part_at(out->module, kernel, i, &part) || part.function == NONE)
                continue;
            symbol.size = 0;
            symbols_add_function(&out->symbols, &symbol, kernel, part.function, copy);
            json_bytes(&out->json, symbol.at, symbol.size);
        }
    json_close_array(&out->json);
    text_free(&symbol);
}

static void put_kernel(struct info_json *out, const struct kernel *kernel, uint32_t copies)
{
    json_open_object(&out->json);
    if (kernel_is_dynamic(out->module, kernel)) {
        put_object(out, "dynamic_bin", kernel);
    } else {
        if (kernel_type_has(kernel->type, CORE_AIC))
            put_object(out, "aic_bin", kernel);
        if (kernel_type_has(kernel->type, CORE_AIV))
            put_object(out, "aiv_bin", kernel);
    }
    put_functions(out, kernel, copies);
    json_close_object(&out->json);
}

static void put_kernels(struct info_json *out, const struct launch_info *info)
{
    uint32_t copies = launch_info_copies(info);
    json_key(&out->json, "sub_operator");
    json_open_array(&out->json);
    for (uint32_t i = 0; i < info->ops.count; i++)
        put_kernel(out, info->ops.at[i].kernel, copies);
    json_close_array(&out->json);
}

/* ---------------------------------------------------------------------------- options ---- */

static void put_compile_options(struct info_json *out, const struct launch_info *info)
{
    struct arena arena = {NULL, 0};
    struct file_names options = {NULL, 0, 0};
    launch_info_compile_options(info, &arena, &options);
    json_key(&out->json, "compile_option");
    json_open_array(&out->json);
    for (uint32_t i = 0; i < options.count; i++)
        json_string(&out->json, options.at[i]);
    json_close_array(&out->json);
    vec_free(&options);
    arena_free(&arena);
}

/* Those that are given. Numbers are numbers, all else is as it was written. */
static void put_scope_options(struct info_json *out, const struct launch_info *info)
{
    json_key(&out->json, "sp_options");
    json_open_object(&out->json);
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

static void put_slots(struct info_json *out, const struct launch_info *info, const char *key,
                      size_t field)
{
    json_key(&out->json, key);
    json_open_array(&out->json);
    for (uint32_t i = 0; i < info->ops.count; i++)
        json_unsigned(&out->json, *(const uint32_t *)((const char *)&info->ops.at[i] + field));
    json_close_array(&out->json);
}

static void put_event_lists(struct info_json *out, const struct launch_info *info, const char *key,
                            size_t field)
{
    json_key(&out->json, key);
    json_open_array(&out->json);
    for (uint32_t i = 0; i < info->ops.count; i++)
        info_json_events(out, info,
                         *(const struct range *)((const char *)&info->ops.at[i] + field));
    json_close_array(&out->json);
}

static void put_all_slots(struct info_json *out, const struct launch_info *info)
{
    put_slots(out, info, "param_offset", offsetof(struct launch_op, param));
    put_slots(out, info, "notify_param_offset", offsetof(struct launch_op, send));
    put_slots(out, info, "wait_param_offset", offsetof(struct launch_op, recv));
    put_event_lists(out, info, "send_event_list", offsetof(struct launch_op, sends));
    put_event_lists(out, info, "recv_event_list", offsetof(struct launch_op, recvs));
}

/* ---------------------------------------------------------------------------- entries ---- */

/* The keys stand in an order that does not change. */
static void put_entry(struct info_json *out, const struct launch_info *info)
{
    json_open_object(&out->json);
    json_add_unsigned(&out->json, "block_num", launch_info_blocks(info));
    info_json_type(out, "kernel_type", info->entry->type);
    info_json_kernel_name(out, "kernel_name", info->entry);
    put_kernels(out, info);
    put_compile_options(out, info);
    json_add_string(&out->json, "link_mode", "PerCubeHerVecWithSuper");
    json_add_unsigned(&out->json, "split_mode", launch_info_copies(info));
    put_scope_options(out, info);
    json_add_unsigned(&out->json, "workspace_size", launch_info_workspace(info));
    json_key(&out->json, "timestamp_option");
    json_bool(&out->json, launch_info_dumps(info));
    json_add_bytes(&out->json, "debug_option", info->debug_options.at, info->debug_options.size);
    json_add_unsigned(&out->json, "debug_size", (uint64_t)info->debug_bytes);
    put_all_slots(out, info);
    json_close_object(&out->json);
}

enum backend_status ascend_emit_compile_info(const struct emission_job *job)
{
    return info_entries_write(job, put_entry, NULL);
}
