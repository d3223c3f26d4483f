#include "backend/ascend/meta.h"
#include "ir/core/kernel.h"

#include <stdlib.h>

#include "backend/ascend/source_map.h"
#include "ir/core/kernel_args.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

/* -------------------------------------------------------------------------------- ops ---- */

/* The number of the launch's op whose call has a group of arguments: ops are in their order. */
static uint32_t op_of(const struct launch_info *info, uint32_t group)
{
    const struct arg_group *wanted = &info->entry->groups.at[group];
    uint32_t low;
    bisect(low, i, info->ops.count, info->ops.at[i].group < wanted);
    return low;
}

static void put_place_ops(struct info_json *out, const struct launch_info *info)
{
    struct entry_ops ops;
    entry_ops_find(&ops, &out->finder, info->entry);
    json_add_array(&out->json, "ops");
    for (uint32_t i = 0; i < info->ops.count; i++) {
        const struct arg_group *group = info->ops.at[i].group;
        const struct op *op = entry_op(&ops, (uint32_t)(group - info->entry->groups.at));
        struct arena arena = {NULL, 0};
        struct text text = {NULL, 0, 0};
        if (op)
            text_string(&text, op_call_text(out->module, ops.graph, op, &arena));
        else
            spell_group(&text, out->module, group->name, group->word);
        json_open_object(&out->json);
        json_add_bytes(&out->json, "text", text.at, text.size);
        text.size = 0;
        places_name(&text, out->module, op ? op->loc : group->loc);
        if (text.size)
            json_add_bytes(&out->json, "at", text.at, text.size);
        json_close_object(&out->json);
        text_free(&text);
        arena_free(&arena);
    }
    json_close_array(&out->json);
    entry_ops_free(&ops);
}

/* ------------------------------------------------------------------------ instructions ---- */

static void put_call(struct info_json *out, const struct launch_info *info, const char *key,
                     const struct program *program, uint32_t call)
{
    if (call != NONE)
        json_add_unsigned(&out->json, key, op_of(info, program->instrs.at[call].number[0]));
}

static void put_instr(struct info_json *out, const struct launch_info *info,
                      const struct source_line *line, struct place place)
{
    const struct program *program = &info->entry->programs[line->core];
    struct text text = {NULL, 0, 0};
    json_open_object(&out->json);
    json_add_string(&out->json, "core", core_type_name(line->core));
    json_add_unsigned(&out->json, "line", line->line);
    spell_instr(&text, out->module, info->entry, &program->instrs.at[line->instr]);
    json_add_bytes(&out->json, "text", text.at, text.size);
    put_call(out, info, "op", program, place.call);
    if (place.call == NONE) {
        put_call(out, info, "behind", program, place.behind);
        put_call(out, info, "before", program, place.before);
    }
    json_close_object(&out->json);
    text_free(&text);
}

static void put_instrs(struct info_json *out, const struct launch_info *info,
                       const struct source_lines *lines)
{
    uint32_t entry = entry_id(out->module, info->entry), first;
    struct place *places[CORE_TYPES];
    for (int core = 0; core < CORE_TYPES; core++)
        places[core] = places_of(&info->entry->programs[core]);
    json_add_array(&out->json, "instructions");
    /* Lines are in the order of the entries. */
    bisect(first, i, lines->count, lines->at[i].entry < entry);
    for (uint32_t i = first; i < lines->count && lines->at[i].entry == entry; i++)
        put_instr(out, info, &lines->at[i], places[lines->at[i].core][lines->at[i].instr]);
    json_close_array(&out->json);
    for (int core = 0; core < CORE_TYPES; core++)
        mem_free(places[core]);
}

/* -------------------------------------------------------------------------------- code ---- */

/* A piece of code: a part of the entry, or a function of a kernel. */
struct piece {
    const struct code_function *function;
    const struct kernel *kernel; /* NULL: a part of the entry */
    enum core_type core;
    uint32_t copy;
};

struct pieces {
    struct piece *at;
    uint32_t count, capacity;
};

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->function != y->function)
        return x->function->begin < y->function->begin ? -1 : 1;
    return (x->kernel > y->kernel) - (x->kernel < y->kernel);
}

static void add_piece(struct pieces *pieces, const struct code_map *code, const char *symbol,
                      struct piece piece)
{
    piece.function = code_map_find(code, symbol);
    if (piece.function)
        vec_push(pieces, piece);
}

/* By their places; kernels and ops that share a function are one piece of it. */
static void find_pieces(struct info_json *out, struct pieces *pieces,
                        const struct launch_info *info, const struct code_map *code)
{
    uint32_t kept = 0;
    for (int core = 0; core < CORE_TYPES; core++)
        if (kernel_type_has(info->entry->type, (enum core_type)core))
            add_piece(pieces, code, symbols_part(&out->symbols, info->entry, (enum core_type)core),
                      (struct piece){NULL, NULL, (enum core_type)core, 0});
    for (uint32_t op = 0; op < info->ops.count; op++) {
        const struct kernel *kernel = info->ops.at[op].kernel;
        struct kernel_part part;
        for (uint32_t i = 0; i < kernel_parts(out->module, kernel); i++) {
            if (!kernel_part_at(out->module, kernel, i, &part) || part.function == NONE)
                continue;
            for (uint32_t copy = 0; copy < launch_info_copies(info); copy++)
                add_piece(pieces, code,
                          symbols_function(&out->symbols, kernel, part.function, copy),
                          (struct piece){NULL, kernel, part.core, copy});
        }
    }
    if (pieces->count)
        qsort(pieces->at, pieces->count, sizeof *pieces->at, compare_pieces);
    for (uint32_t i = 0; i < pieces->count; i++)
        if (kept == 0 || pieces->at[kept - 1].function != pieces->at[i].function)
            pieces->at[kept++] = pieces->at[i];
    pieces->count = kept;
}

/* Pairs of an offset in the function and a line. */
static void put_lines(struct info_json *out, const struct code_map *code, const char *function)
{
    json_add_array(&out->json, "lines");
    for (uint32_t i = 0; i < code->lines.count; i++) {
        if (strcmp(code->lines.at[i].function, function) != 0)
            continue;
        json_open_array(&out->json);
        json_unsigned(&out->json, code->lines.at[i].offset);
        json_unsigned(&out->json, code->lines.at[i].line);
        json_close_array(&out->json);
    }
    json_close_array(&out->json);
}

/* The ops whose kernel has the function. */
static void put_callers(struct info_json *out, const struct launch_info *info,
                        const struct piece *piece)
{
    uint32_t owner = symbols_owner(&out->symbols, piece->kernel);
    json_add_unsigned(&out->json, "copy", piece->copy);
    json_add_array(&out->json, "ops");
    for (uint32_t i = 0; i < info->ops.count; i++)
        if (info->ops.at[i].kernel == piece->kernel ||
            (symbols_owner(&out->symbols, info->ops.at[i].kernel) == owner &&
             kernel_function(out->module, info->ops.at[i].kernel, piece->core) ==
                 kernel_function(out->module, piece->kernel, piece->core)))
            json_unsigned(&out->json, i);
    json_close_array(&out->json);
}

static void put_piece(struct info_json *out, const struct launch_info *info,
                      const struct code_map *code, const struct piece *piece)
{
    json_open_object(&out->json);
    json_add_unsigned(&out->json, "begin", piece->function->begin);
    json_add_unsigned(&out->json, "end", piece->function->end);
    json_add_string(&out->json, "core", core_type_name(piece->core));
    json_add_string(&out->json, "function", piece->function->name);
    if (piece->kernel)
        put_callers(out, info, piece);
    else
        put_lines(out, code, piece->function->name);
    json_close_object(&out->json);
}

/* Adds the member "skir": the table by which `skirc where` finds what an address or a line
 * is of. */
static void meta_places_add(struct info_json *out, const struct launch_info *info,
                            const struct meta_object *object)
{
    struct pieces pieces = {NULL, 0, 0};
    json_add_object(&out->json, "skir");
    json_add_unsigned(&out->json, "source_lines", object->lines->in_source);
    put_place_ops(out, info);
    put_instrs(out, info, object->lines);
    json_key(&out->json, "code");
    if (object->code) {
        find_pieces(out, &pieces, info, object->code);
        json_open_array(&out->json);
        for (uint32_t i = 0; i < pieces.count; i++)
            put_piece(out, info, object->code, &pieces.at[i]);
        json_close_array(&out->json);
        vec_free(&pieces);
    } else {
        json_null(&out->json);
    }
    json_close_object(&out->json);
}

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

static void put_empty(struct info_json *out, const char *key)
{
    json_add_array(&out->json, key);
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

static void put_one(struct info_json *out, const char *key, uint64_t number)
{
    json_add_array(&out->json, key);
    json_unsigned(&out->json, number);
    json_close_array(&out->json);
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
    json_add_object(&out->json, "workspace");
    json_add_unsigned(&out->json, "num", 1);
    put_one(out, "size", launch_info_workspace(info));
    put_one(out, "type", 0);
    json_close_object(&out->json);
}

/* -------------------------------------------------------------------------------- ops ---- */

static void put_slot(struct info_json *out, const char *key, bool there, uint32_t slot)
{
    json_key(&out->json, key);
    if (there)
        json_unsigned(&out->json, slot);
    else
        json_null(&out->json);
}

static void put_op(struct info_json *out, const struct launch_info *info,
                   const struct launch_op *op)
{
    const struct module *module = out->module;
    const struct kernel *kernel = op->kernel;
    const struct attr *split = attr_find(module, kernel->attrs, W_split);
    uint32_t type = attr_string(module, kernel->attrs, W_op);
    uint32_t debug = attr_string(module, kernel->attrs, W__debugOptions);
    const struct {
        const char *key;
        bool value;
    } flags[] = {
        {"sub_operator_early_start_set_flag",
         attr_has_word(module, kernel->attrs, W_early_start, W_set)},
        {"sub_operator_early_start_wait_flag",
         attr_has_word(module, kernel->attrs, W_early_start, W_wait)},
        {"sub_operator_call_dcci_before_kernel_start",
         attr_flag(module, kernel->attrs, W_dcci_before)},
        {"sub_operator_call_dcci_after_kernel_end", attr_flag(module, kernel->attrs, W_dcci_after)},
        {"sub_operator_call_dcci_disable_on_kernel",
         attr_flag(module, kernel->attrs, W_dcci_disable)},
        {"sub_op_with_sync_all", attr_flag(module, kernel->attrs, W_sync_all)},
    };
    json_open_object(&out->json);
    info_json_name(out, "func_name", kernel->name);
    json_key(&out->json, "split_mode");
    if (split)
        json_signed(&out->json, split->value.i);
    else
        json_null(&out->json);
    json_add_unsigned(&out->json, "blockDim", kernel_blocks(module, kernel));
    info_json_name(out, "sub_operator_op_type", type == NONE ? kernel->name : type);
    info_json_type(out, "sub_operator_kernel_type", kernel->type);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        json_add_bool(&out->json, flags[i].key, flags[i].value);
    json_key(&out->json, "streamid");
    if (op->stream == NONE)
        json_unsigned(&out->json, 0);
    else
        info_json_label(out, op->stream);
    json_key(&out->json, "send_event_list");
    info_json_events(out, info, op->sends);
    json_key(&out->json, "recv_event_list");
    info_json_events(out, info, op->recvs);
    json_add_object(&out->json, "arg_list");
    put_slot(out, "param_offset", true, op->param);
    put_slot(out, "notify_param_offset", op->sends.count > 0, op->send);
    put_slot(out, "wait_param_offset", op->recvs.count > 0, op->recv);
    json_close_object(&out->json);
    if (debug != NONE) {
        info_json_name(out, "debug_option", debug);
        json_add_unsigned(&out->json, "debug_size",
                          (uint64_t)attr_int(module, kernel->attrs, W__debugBufSize, 0));
    }
    json_close_object(&out->json);
}

/* ----------------------------------------------------------------------------- entries ---- */

enum { PARAMETER_BYTES = 8 }; /* a launch has no tiling of its own: the word that says so */

/* The order of the keys does not change. */
static void put_entry(struct info_json *out, const struct launch_info *info)
{
    const struct launch_kind *kind = &kinds[info->entry->type];
    const struct meta_object *object = out->user;
    json_open_object(&out->json);
    if (object->name)
        json_add_string(&out->json, "binFileName", object->name);
    else
        info_json_kernel_name(out, "binFileName", info->entry);
    json_add_string(&out->json, "binFileSuffix", ".o");
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
    json_add_object(&out->json, "SuperkernelInfo");
    json_add_object(&out->json, "kernelList");
    json_add_array(&out->json, "aicore");
    for (uint32_t i = 0; i < info->ops.count; i++)
        put_op(out, info, &info->ops.at[i]);
    json_close_array(&out->json);
    json_close_object(&out->json);
    json_close_object(&out->json);
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
