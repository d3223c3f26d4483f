#include "backend/ascend/meta.h"
#include "backend/ascend/ascendc.h"
#include "backend/ascend/info_entries.h"
#include "backend/ascend/meta_places.h"
#include "ir/groups.h"

/* ------------------------------------------------------------------------------ launch ---- */

/* How the host launches a kernel type. */
struct launch_kind {
    const char *core, *magic, *ratio;
    bool synchronised;
};

static const struct launch_kind kinds[KERNEL_TYPE_COUNT] = {
    [KERNEL_aiv_only] = {"VectorCore", "RT_DEV_BINARY_MAGIC_ELF_AIVEC", "0:1", false},
    [KERNEL_aic_only] = {"AiCore", "RT_DEV_BINARY_MAGIC_ELF_AICUBE", "1:0", false},
    [KERNEL_mix_aiv_1_0] = {"MIX", "RT_DEV_BINARY_MAGIC_ELF", "0:1", true},
    [KERNEL_mix_aic_1_0] = {"MIX", "RT_DEV_BINARY_MAGIC_ELF", "1:0", true},
    [KERNEL_mix_aic_1_1] = {"MIX", "RT_DEV_BINARY_MAGIC_ELF", "1:1", true},
    [KERNEL_mix_aic_1_2] = {"MIX", "RT_DEV_BINARY_MAGIC_ELF", "1:2", true},
};

static void put_binary(struct info_json *out, const struct launch_info *info)
{
    const struct meta_object *object = out->user;
    if (object->name)
        json_add_string(&out->json, "binFileName", object->name);
    else
        info_json_kernel_name(out, "binFileName", info->entry);
    json_add_string(&out->json, "binFileSuffix", ".o");
}

static void put_empty(struct info_json *out, const char *key)
{
    json_key(&out->json, key);
    json_open_array(&out->json);
    json_close_array(&out->json);
}

/* The words of all dumps but `printf`: with that the runtime refuses the kernel. */
static void put_debug_options(struct info_json *out, const struct text *options)
{
    struct text kept = {NULL, 0, 0};
    for (size_t at = 0; at < options->size;) {
        const char *word = options->at + at, *comma = memchr(word, ',', options->size - at);
        size_t size = comma ? (size_t)(comma - word) : options->size - at;
        if (size != 6 || memcmp(word, "printf", 6) != 0)
            text_printf(&kept, "%s%.*s", kept.size ? "," : "", (int)size, word);
        at += size + 1;
    }
    if (kept.size)
        json_add_bytes(&out->json, "debugOptions", kept.at, kept.size);
    text_free(&kept);
}

/* What the host allocates for the launch besides tensors. */
static void put_buffers(struct info_json *out, const struct launch_info *info)
{
    if (launch_info_dumps(info)) {
        put_debug_options(out, &info->debug_options);
        json_add_unsigned(&out->json, "debugBufSize", (uint64_t)info->debug_bytes);
    }
    if (launch_info_workspace(info) == 0)
        return;
    json_key(&out->json, "workspace");
    json_open_object(&out->json);
    json_add_unsigned(&out->json, "num", 1);
    json_key(&out->json, "size");
    json_open_array(&out->json);
    json_unsigned(&out->json, launch_info_workspace(info));
    json_close_array(&out->json);
    json_key(&out->json, "type");
    json_open_array(&out->json);
    json_unsigned(&out->json, 0);
    json_close_array(&out->json);
    json_close_object(&out->json);
}

/* -------------------------------------------------------------------------------- ops ---- */

static void put_flag(struct info_json *out, const char *key, bool value)
{
    json_key(&out->json, key);
    json_bool(&out->json, value);
}

static void put_kernel(struct info_json *out, const struct kernel *kernel)
{
    const struct module *module = out->module;
    uint32_t type = attr_string(module, kernel->attrs, W_op);
    const struct attr *split = attr_find(module, kernel->attrs, W_split);
    info_json_name(out, "func_name", kernel->name);
    json_key(&out->json, "split_mode");
    if (split)
        json_signed(&out->json, split->value.i);
    else
        json_null(&out->json);
    json_add_unsigned(&out->json, "blockDim", kernel_blocks(module, kernel));
    info_json_name(out, "sub_operator_op_type", type == NONE ? kernel->name : type);
    info_json_type(out, "sub_operator_kernel_type", kernel->type);
}

static void put_flags(struct info_json *out, const struct kernel *kernel)
{
    const struct module *module = out->module;
    put_flag(out, "sub_operator_early_start_set_flag",
             attr_has_word(module, kernel->attrs, W_early_start, W_set));
    put_flag(out, "sub_operator_early_start_wait_flag",
             attr_has_word(module, kernel->attrs, W_early_start, W_wait));
    put_flag(out, "sub_operator_call_dcci_before_kernel_start",
             attr_flag(module, kernel->attrs, W_dcci_before));
    put_flag(out, "sub_operator_call_dcci_after_kernel_end",
             attr_flag(module, kernel->attrs, W_dcci_after));
    put_flag(out, "sub_operator_call_dcci_disable_on_kernel",
             attr_flag(module, kernel->attrs, W_dcci_disable));
    put_flag(out, "sub_op_with_sync_all", attr_flag(module, kernel->attrs, W_sync_all));
}

static void put_events(struct info_json *out, const struct launch_info *info,
                       const struct launch_op *op)
{
    json_key(&out->json, "streamid");
    if (op->stream == NONE)
        json_unsigned(&out->json, 0);
    else
        info_json_label(out, op->stream);
    json_key(&out->json, "send_event_list");
    info_json_events(out, info, op->sends);
    json_key(&out->json, "recv_event_list");
    info_json_events(out, info, op->recvs);
}

static void put_slot(struct info_json *out, const char *key, bool there, uint32_t slot)
{
    json_key(&out->json, key);
    if (there)
        json_unsigned(&out->json, slot);
    else
        json_null(&out->json);
}

static void put_arguments(struct info_json *out, const struct launch_op *op)
{
    json_key(&out->json, "arg_list");
    json_open_object(&out->json);
    put_slot(out, "param_offset", true, op->param);
    put_slot(out, "notify_param_offset", op->sends.count > 0, op->send);
    put_slot(out, "wait_param_offset", op->recvs.count > 0, op->recv);
    json_close_object(&out->json);
}

static void put_op(struct info_json *out, const struct launch_info *info,
                   const struct launch_op *op)
{
    const struct kernel *kernel = op->kernel;
    uint32_t debug = attr_string(out->module, kernel->attrs, W__debugOptions);
    json_open_object(&out->json);
    put_kernel(out, kernel);
    put_flags(out, kernel);
    put_events(out, info, op);
    put_arguments(out, op);
    if (debug != NONE) {
        info_json_name(out, "debug_option", debug);
        json_add_unsigned(&out->json, "debug_size",
                          (uint64_t)attr_int(out->module, kernel->attrs, W__debugBufSize, 0));
    }
    json_close_object(&out->json);
}

static void put_ops(struct info_json *out, const struct launch_info *info)
{
    json_key(&out->json, "SuperkernelInfo");
    json_open_object(&out->json);
    json_key(&out->json, "kernelList");
    json_open_object(&out->json);
    json_key(&out->json, "aicore");
    json_open_array(&out->json);
    for (uint32_t i = 0; i < info->ops.count; i++)
        put_op(out, info, &info->ops.at[i]);
    json_close_array(&out->json);
    json_close_object(&out->json);
    json_close_object(&out->json);
}

/* ----------------------------------------------------------------------------- entries ---- */

enum { PARAMETER_BYTES = 8 }; /* a launch has no tiling of its own: the word that says so */

/* The keys stand in an order that does not change. */
static void put_entry(struct info_json *out, const struct launch_info *info)
{
    const struct launch_kind *kind = &kinds[info->entry->type];
    const struct meta_object *object = out->user;
    json_open_object(&out->json);
    put_binary(out, info);
    json_add_unsigned(&out->json, "blockDim", launch_info_blocks(info));
    json_add_string(&out->json, "coreType", kind->core);
    json_add_unsigned(&out->json, "intercoreSync", kind->synchronised);
    info_json_kernel_name(out, "kernelName", info->entry);
    json_add_string(&out->json, "magic", kind->magic);
    put_empty(out, "memoryStamping");
    json_add_unsigned(&out->json, "opParaSize", PARAMETER_BYTES);
    put_empty(out, "parameters"); /* none has a value that the host would have to set */
    if (object->sha256)
        json_add_string(&out->json, "sha256", object->sha256);
    json_add_string(&out->json, "taskRation", kind->ratio);
    json_add_string(&out->json, "optionalInputMode", "gen_placeholder");
    json_add_string(&out->json, "optionalOutputMode", "gen_placeholder");
    json_add_unsigned(&out->json, "supportSuperKernel", 1);
    put_buffers(out, info);
    put_ops(out, info);
    meta_places_add(out, info, object);
    json_close_object(&out->json);
}

enum backend_status meta_add(const struct emission_job *job, const struct meta_object *object)
{
    return info_entries_write(job, put_entry, object);
}

enum backend_status ascend_emit_meta(const struct emission_job *job)
{
    struct text source = {NULL, 0, 0};
    struct source_lines lines = {NULL, 0, 0, 0};
    const struct meta_object object = {.lines = &lines};
    enum backend_status status = BACKEND_INPUT;
    if (ascendc_emit(&source, job->module, &lines, job->diags))
        status = meta_add(job, &object);
    vec_free(&lines);
    text_free(&source);
    return status;
}
