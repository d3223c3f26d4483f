#include "backend/ascend/ascendc.h"
#include "backend/ascend/ascendc_emitter.h"
#include "backend/ascend/source_map.h"
#include "backend/backend.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

/* ---------------------------------------------------------------------------- comments ---- */

static void put_place(struct ascendc *out, uint32_t loc)
{
    if (!out->module->source || loc == NONE)
        return;
    text_string(out->text, ", ");
    places_name(out->text, out->module, loc);
}

/* An op before its statements: what it is and where it stands; what is not known of it, its group
 * of arguments and its kernel tell. */
static void put_op(struct ascendc *out, const struct instr *call)
{
    const struct op *op = entry_op(&out->ops, call->number[0]);
    struct arena arena = {NULL, 0};
    bool first = out->text->size > 1 && out->text->at[out->text->size - 2] == '{';
    text_string(out->text, first ? "        // " : "\n        // ");
    if (op) {
        text_string(out->text, op_call_text(out->module, out->ops.graph, op, &arena));
    } else {
        const struct arg_group *group = &out->entry->groups.at[call->number[0]];
        spell_group(out->text, out->module, group->name, group->word);
    }
    text_string(out->text, " via ");
    spell_symbol(out->text, out->module, call->kernel);
    put_place(out, op ? op->loc : call->loc);
    text_char(out->text, '\n');
    arena_free(&arena);
}

/* What stands beside barriers and flags, not beside calls. */
static bool is_check(uint8_t op)
{
    return op == INSTR_count_arrive || op == INSTR_check_await || op == INSTR_count_set ||
           op == INSTR_check_wait;
}

/* Whether an instruction may stand between others and the call that they are for. */
static bool is_before_call(const struct instr *instr)
{
    switch (instr_info(instr->op)->place) {
    case PLACE_BEGIN:
    case PLACE_CACHE: return true;
    case PLACE_STEP: return instr->op != INSTR_feed_sync || instr->word == PHASE_begin;
    case PLACE_RECORD: return instr->word == PHASE_begin && !is_check(instr->op);
    default: return false;
    }
}

/* The call that an instruction stands directly before, or is, with all between the two; NONE where
 * there is none. `end` becomes what is behind the last one that this is true of. */
static uint32_t site_call(const struct program *program, uint32_t i, uint32_t *end)
{
    uint32_t count = program->instrs.count;
    while (i < count && program->instrs.at[i].op != INSTR_call &&
           is_before_call(&program->instrs.at[i]))
        i++;
    *end = i + 1;
    return i < count && program->instrs.at[i].op == INSTR_call ? i : NONE;
}

/* ---------------------------------------------------------------------------- programs ---- */

static bool program_has_instr(const struct program *program, enum instr_op op)
{
    for (uint32_t i = 0; i < program->instrs.count; i++)
        if (program->instrs.at[i].op == op)
            return true;
    return false;
}

/* Whether it has records for the trace, or checks. */
static bool program_has_trace(const struct program *program)
{
    for (uint32_t i = 0; i < program->instrs.count; i++)
        if (instr_info(program->instrs.at[i].op)->place == PLACE_RECORD &&
            program->instrs.at[i].op != INSTR_profile)
            return true;
    return false;
}

/* What the statements of the program use. */
static void put_locals(struct ascendc *out, const struct program *program)
{
    const struct kernel_type_info *info = kernel_type_info(out->entry->type);
    int64_t blocks = attr_int(out->module, out->entry->attrs, W_block, 1);
    if (program_has_instr(program, INSTR_select))
        text_string(out->text, "        skir::Selected selected = {0, 0};\n");
    if (out->records != NONE && program_has_instr(program, INSTR_profile))
        text_printf(out->text,
                    "        skir::Records records =\n"
                    "            skir::InitProfiling((uint32_t)(uint64_t)p[%u], p[%u]);\n",
                    out->records + 1, out->records);
    if (out->tracing != NONE && program_has_trace(program))
        text_printf(out->text, "        skir::Trace trace = skir::InitTrace(p[%u], %lld, %lld);\n",
                    out->tracing, (long long)blocks * info->aics, (long long)blocks * info->aivs);
    if (out->workspace != NONE && program_has_instr(program, INSTR_feed_sync))
        text_printf(out->text,
                    "        AscendC::g_superKernelAutoSyncAllConfigGmBaseAddr = p[%u];\n"
                    "        AscendC::g_superKernelAutoSyncAllEnable = false;\n",
                    out->workspace);
}

static void put_program(struct ascendc *out, enum core_type core)
{
    const struct program *program = &out->entry->programs[core];
    uint32_t told = NONE, call = NONE, end = 0;
    text_printf(out->text, "    if ASCEND_IS_%s {\n", core == CORE_AIC ? "AIC" : "AIV");
    put_locals(out, program);
    ascendc_find_early_sets(out, core);
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        if (i == end)
            call = site_call(program, i, &end);
        if (call != NONE && call != told)
            put_op(out, &program->instrs.at[call]);
        told = call == NONE ? told : call;
        ascendc_instr(out, core, i);
    }
    text_string(out->text, "    }\n");
}

/* ----------------------------------------------------------------------------- entries ---- */

static void put_slots(struct ascendc *out)
{
    const struct entry *entry = out->entry;
    for (uint32_t g = 0; g < entry->groups.count; g++) {
        const struct arg_group *group = &entry->groups.at[g];
        if (group->args.count == 0)
            continue;
        text_printf(out->text, "//   p[%u]: ", group_slot(entry, group));
        if (group->name != NONE) {
            spell_group(out->text, out->module, group->name, group->word);
            text_string(out->text, " = ");
        }
        for (uint32_t i = 0; i < group->args.count; i++) {
            text_string(out->text, i ? ", " : "");
            spell_arg(out->text, out->module, entry, group_arg(entry, group, i));
        }
        text_char(out->text, '\n');
    }
}

static void put_head(struct ascendc *out)
{
    const struct module *module = out->module;
    const struct entry *entry = out->entry;
    text_string(out->text, "\n// entry ");
    spell_symbol(out->text, module, entry->name);
    text_printf(out->text, " : %s, %lld blocks", kernel_type_info(entry->type)->name,
                (long long)attr_int(module, entry->attrs, W_block, 1));
    put_place(out, entry->loc);
    text_char(out->text, '\n');
    put_slots(out);
    text_string(out->text, "extern \"C\" __global__ ");
    int64_t align = attr_int(module, entry->attrs, W_align, ENTRY_ALIGN);
    if (align)
        text_printf(out->text, "__attribute__((aligned(%lld))) ", (long long)align);
    text_string(out->text, "__aicore__ void auto_gen_");
    entry_kernel_name(out->text, module, entry);
    text_printf(out->text, "_kernel(void)\n{\n    %sGM_ADDR *p = (GM_ADDR *)get_para_base();\n",
                arch_has_sync_base(out->arch) ? "" : "[[maybe_unused]] ");
    if (arch_has_sync_base(out->arch))
        text_string(out->text, "    if (p[0] != nullptr) {\n"
                               "        set_ffts_base_addr((uint64_t)p[0]);\n"
                               "    }\n");
    if (ascendc_copies(out, entry) > 1)
        text_printf(out->text, "    const uint64_t copy = get_coreid() %% %u;\n",
                    ascendc_copies(out, entry));
}

/* The dump's memory is behind the workspace. */
static void put_dump(struct ascendc *out)
{
    const struct entry *entry = out->entry;
    if (!attr_flag(out->module, entry->attrs, W_dump))
        return;
    if (out->workspace == NONE) {
        if (diag_at(out->diags, DIAG_missing_attribute, locate_name(out->module, entry->loc),
                    "the dump of entry '@%.*s' has no slot", NAME(out->module, entry->name)))
            diag_help(out->diags, "write 'args [sync_workspace]' behind the arguments of its ops");
        out->ok = false;
        return;
    }
    text_printf(out->text,
                "#if defined ASCENDC_DUMP || defined ASCENDC_TIME_STAMP_ON\n"
                "    AscendC::InitDump(%s, p[%u] + %lld, ASCENDC_DUMP_SIZE);\n"
                "#endif\n",
                kernel_type_is_mixed(entry->type) ? "true" : "false", out->workspace,
                (long long)attr_int(out->module, entry->attrs, W_workspace, 0));
}

static void put_entry(struct ascendc *out)
{
    out->entry = &out->module->entries.at[out->entry_id];
    out->workspace = entry_slot(out->entry, W_sync_workspace);
    out->records = entry_profile_slot(out->entry);
    out->tracing = entry_slot(out->entry, W_tracing);
    entry_ops_find(&out->ops, &out->finder, out->entry);
    event_slots_take(&out->events, out->entry);
    put_head(out);
    put_dump(out);
    for (int core = 0; core < CORE_TYPES; core++)
        if (out->entry->programs[core].instrs.count > 0)
            put_program(out, (enum core_type)core);
    text_string(out->text, "}\n");
    event_slots_leave(&out->events, out->entry);
    entry_ops_free(&out->ops);
}

/* ------------------------------------------------------------------------------ source ---- */

/* Whether no launch has AICs. */
static bool is_vector_only(const struct module *module)
{
    for (uint32_t e = 0; e < module->entries.count; e++)
        if (kernel_type_has(module->entries.at[e].type, CORE_AIC))
            return false;
    return true;
}

/* The run configuration, which kernels refer to, is defined once: by the part for the main core
 * type. */
static void put_configuration(struct ascendc *out)
{
    text_printf(out->text,
                "\n#if __NPU_ARCH__ == 2201 && defined(%s)\n"
                "__gm__ struct OpSystemRunCfg g_opSystemRunCfg = {0};\n"
                "#else\n"
                "extern __gm__ struct OpSystemRunCfg g_opSystemRunCfg;\n"
                "#endif\n",
                is_vector_only(out->module) ? "__DAV_VEC__" : "__DAV_CUBE__");
}

/* What the dump's initialisation is told of its size: the headers have no such constant, and 0 is
 * what the reference gives it. */
static void put_dump_size(struct ascendc *out)
{
    bool dumps = false;
    for (uint32_t e = 0; e < out->module->entries.count; e++)
        dumps |= attr_flag(out->module, out->module->entries.at[e].attrs, W_dump);
    if (dumps)
        text_string(out->text, "\n#if defined ASCENDC_DUMP || defined ASCENDC_TIME_STAMP_ON\n"
                               "constexpr uint32_t ASCENDC_DUMP_SIZE = 0;\n"
                               "#endif\n");
}

/* The ratio of AICs to AIVs, which the runtime reads from the section of a function; launches with
 * one type of core alone have the other's functions nowhere. */
static void put_kernel_type(struct ascendc *out, const struct entry *entry, enum core_type core)
{
    const struct kernel_type_info *info = kernel_type_info(entry->type);
    bool plain = entry->type == KERNEL_aic_only || entry->type == KERNEL_aiv_only;
    struct text symbol = {NULL, 0, 0};
    entry_part_symbol(&symbol, out->module, entry, core);
    text_printf(out->text,
                "#if defined(%s)\n"
                "static const struct %s %.*s_section\n"
                "    __attribute__((used, section(\".ascend.meta.%.*s\"))) =\n"
                "    {{{F_TYPE_KTYPE, sizeof(unsigned int)}, ",
                core == CORE_AIC ? "__DAV_CUBE__" : "__DAV_VEC__",
                plain ? "FunLevelKType" : "FunLevelMixCoreType", (int)symbol.size, symbol.at,
                (int)symbol.size, symbol.at);
    if (plain)
        text_printf(out->text, "K_TYPE_%s}};\n", core == CORE_AIC ? "AIC" : "AIV");
    else
        text_printf(out->text,
                    "K_TYPE_MIX_%s_MAIN},\n"
                    "     {{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}, %u, %u}};\n",
                    info->aics ? "AIC" : "AIV", info->aics, info->aivs);
    text_string(out->text, "#endif\n");
    text_free(&symbol);
}

/* The headers have the types in compilations of a kernel, which define the key of a tiling. */
static void put_kernel_types(struct ascendc *out)
{
    text_string(out->text, "\n#if defined(TILING_KEY_VAR) && TILING_KEY_VAR == 0UL\n");
    for (uint32_t e = 0; e < out->module->entries.count; e++)
        for (int core = 0; core < CORE_TYPES; core++)
            if (kernel_type_has(out->module->entries.at[e].type, (enum core_type)core))
                put_kernel_type(out, &out->module->entries.at[e], (enum core_type)core);
    text_string(out->text, "#endif\n");
}

static void find_used(struct ascendc *out)
{
    for (uint32_t e = 0; e < out->module->entries.count; e++)
        for (int core = 0; core < CORE_TYPES; core++) {
            const struct program *program = &out->module->entries.at[e].programs[core];
            for (uint32_t i = 0; i < program->instrs.count; i++)
                out->used[program->instrs.at[i].op] = true;
        }
}

/* Offsets become numbers of lines. */
static void count_lines(const struct text *text, size_t begin, struct source_lines *lines)
{
    uint32_t line = 1;
    size_t at = begin;
    for (uint32_t i = 0; i < lines->count; i++) {
        for (; at < lines->at[i].line; at++)
            line += text->at[at] == '\n';
        lines->at[i].line = line;
    }
    for (; at < text->size; at++)
        line += text->at[at] == '\n';
    lines->in_source = line - 1;
}

/* All entries are compiled with one set of definitions. On a chip where these say which primitives
 * wait early, as they do by the AIVs of an AI core, early calls need all mixed launches to be of
 * one type. */
static bool check_ratios(const struct ascendc *out)
{
    const struct entry *early = NULL, *first = NULL, *other = NULL;
    for (uint32_t e = 0; e < out->module->entries.count; e++) {
        const struct entry *entry = &out->module->entries.at[e];
        if (!kernel_type_is_mixed(entry->type))
            continue;
        first = first ? first : entry;
        other = entry->type != first->type ? entry : other;
        early = entry_starts_early(entry) ? entry : early;
    }
    if (arch_has_sync_base(out->arch) || !early || !other)
        return true;
    if (diag_at(out->diags, DIAG_early_start, locate_name(out->module, other->loc),
                "entry '@%.*s' is %s, '@%.*s' is %s and '@%.*s' starts kernels early: on this chip "
                "one object cannot have all three",
                NAME(out->module, other->name), kernel_type_info(other->type)->name,
                NAME(out->module, first->name), kernel_type_info(first->type)->name,
                NAME(out->module, early->name)))
        diag_help(out->diags, "compile the graphs of the two types from two files");
    return false;
}

bool ascendc_emit(struct text *text, const struct module *module, struct source_lines *lines,
                  struct diags *diags)
{
    struct ascendc out = {.text = text,
                          .module = module,
                          .diags = diags,
                          .lines = lines,
                          .arch = module_arch(module),
                          .ok = true};
    size_t begin = text->size;
    symbols_init(&out.symbols, module);
    entry_finder_init(&out.finder, module);
    find_used(&out);
    out.ok = check_ratios(&out);
    text_string(text, "#include \"kernel_operator.h\"\n");
    put_configuration(&out);
    put_kernel_types(&out);
    put_dump_size(&out);
    ascendc_helpers(&out);
    ascendc_kernels(&out);
    for (out.entry_id = 0; out.entry_id < module->entries.count; out.entry_id++)
        put_entry(&out);
    if (lines)
        count_lines(text, begin, lines);
    id_map_free(&out.early_sets);
    event_slots_free(&out.events);
    entry_finder_free(&out.finder);
    symbols_free(&out.symbols);
    return out.ok;
}

enum backend_status ascend_emit_source(const struct emission_job *job)
{
    return ascendc_emit(job->text, job->module, NULL, job->diags) ? BACKEND_OK : BACKEND_INPUT;
}
