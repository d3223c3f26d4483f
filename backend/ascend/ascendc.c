/* Entries as AscendC source: helpers of a source file, ops, functions of entries. */
#include "backend/ascend/ascendc.h"

#include "backend/ascend/ascendc_emitter.h"
#include "backend/ascend/source_map.h"
#include "backend/target/backend.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

/* The functions that statements of entries use. Written only where an instruction needs them. */

/* Words in memory that others write or read too. */
static const char words_text[] =
    "// A word that others write too, as it is now.\n"
    "static __aicore__ inline uint64_t read_word(GM_ADDR address)\n"
    "{\n"
    "    __gm__ volatile uint64_t *word = (__gm__ volatile uint64_t *)address;\n"
    "    dcci((__gm__ uint64_t *)address, 0, 2);\n"
    "    return *word;\n"
    "}\n"
    "\n"
    "static __aicore__ inline void write_word(GM_ADDR address, uint64_t value)\n"
    "{\n"
    "    __gm__ volatile uint64_t *word = (__gm__ volatile uint64_t *)address;\n"
    "    *word = value;\n"
    "}\n";

static const char notify_text[] = "// Core 0 sends an event.\n"
                                  "static __aicore__ inline void notify(GM_ADDR address)\n"
                                  "{\n"
                                  "    if (AscendC::GetBlockIdx() == 0) {\n"
                                  "        write_word(address, 1);\n"
                                  "        dcci((__gm__ uint64_t *)address, 0, 2);\n"
                                  "    }\n"
                                  "}\n";

static const char wait_event_text[] = "// Core 0 waits for an event.\n"
                                      "static __aicore__ inline void wait_event(GM_ADDR address)\n"
                                      "{\n"
                                      "    if (AscendC::GetBlockIdx() == 0) {\n"
                                      "        while (read_word(address) != 1) {\n"
                                      "        }\n"
                                      "    }\n"
                                      "}\n";

/* The launch's end writes it back. */
static const char reset_text[] =
    "// Core 0 takes an event back, for the next launch.\n"
    "static __aicore__ inline void reset(GM_ADDR address)\n"
    "{\n"
    "    if (AscendC::GetBlockIdx() == 0) {\n"
    "        write_word(address, 0);\n"
    "    }\n"
    "}\n"
    "\n"
    "// Core 0 closes the lock of a dynamic kernel's tiling, for the next launch.\n"
    "static __aicore__ inline void close(GM_ADDR address)\n"
    "{\n"
    "    if (AscendC::GetBlockIdx() == 0) {\n"
    "        write_word(address, 0);\n"
    "    }\n"
    "}\n";

static const char select_text[] =
    "// What a tiling chose: the function, 0 where the core type has no part in it, and how many\n"
    "// blocks it has, with 1 above 32 bits where they are AIVs.\n"
    "struct Selected {\n"
    "    uint64_t function;\n"
    "    uint64_t shape;\n"
    "};\n"
    "\n"
    "static __aicore__ inline void wait_lock(GM_ADDR lock)\n"
    "{\n"
    "    while (read_word(lock) == 0) {\n"
    "    }\n"
    "}\n"
    "\n"
    "static __aicore__ inline void call_selected(const Selected &selected, uint64_t args_offset)\n"
    "{\n"
    "    const uint64_t blocks = selected.shape & 0xffffffff;\n"
    "    const uint64_t index =\n"
    "        selected.shape >> 32 ? (uint64_t)AscendC::GetBlockIdx() : (uint64_t)get_block_idx();\n"
    "    g_super_kernel_dynamic_block_num = blocks;\n"
    "    if (selected.function != 0 && index < blocks) {\n"
    "        ((void (*)(uint64_t))selected.function)(args_offset);\n"
    "    }\n"
    "}\n";

/* Counters are lines of 64 bytes, two units of the copies. get_block_num(), since
 * AscendC::GetBlockNum() is the selected block number while a dynamic kernel is in the launch. */
static const char clear_text[] =
    "// Each block zeroes its part of `count` counters, beginning with that of its number.\n"
    "static __aicore__ inline void clear_counters(GM_ADDR counters, uint64_t count)\n"
    "{\n"
    "    if ASCEND_IS_AIC {\n"
    "%s"
    "    } else if (get_subblockid() == 0) {\n"
    "        __ubuf__ uint32_t *zeroes = (__ubuf__ uint32_t *)0;\n"
    "        AscendC::DuplicateImpl(zeroes, (uint32_t)0, 128);\n"
    "        AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);\n"
    "        AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID0);\n"
    "        for (uint64_t i = get_block_idx(); i < count; i += get_block_num()) {\n"
    "            %s;\n"
    "        }\n"
    "    }\n"
    "    AscendC::PipeBarrier<PIPE_ALL>();\n"
    "}\n";

/* How an AIC clears its counters, and how an AIV copies zeroes to one. An AIC of a c310 has no copy
 * from its buffers to memory: its scalar unit stores, as it does when a kernel counts. */
static const struct {
    const char *aic, *copy;
} clear_by[] = {
    [ARCH_c220] = {"        __cbuf__ uint8_t *zeroes = (__cbuf__ uint8_t *)0;\n"
                   "        create_cbuf_matrix((__cbuf__ uint32_t *)zeroes, 0x10010, 0);\n"
                   "        AscendC::SetFlag<AscendC::HardEvent::MTE2_MTE3>(EVENT_ID0);\n"
                   "        AscendC::WaitFlag<AscendC::HardEvent::MTE2_MTE3>(EVENT_ID0);\n"
                   "        for (uint64_t i = get_block_idx(); i < count; i += get_block_num()) {\n"
                   "            copy_cbuf_to_gm((__gm__ void *)(counters + i * 64),\n"
                   "                            (__cbuf__ void *)zeroes, 0, 1, 2, 1, 1);\n"
                   "        }\n",
                   "copy_ubuf_to_gm((__gm__ void *)(counters + i * 64), (__ubuf__ void *)zeroes, 0,"
                   " 1, 2, 1, 1)"},
    [ARCH_c310] =
        {"        for (uint64_t i = get_block_idx(); i < count; i += get_block_num()) {\n"
         "            __gm__ volatile uint64_t *counter =\n"
         "                (__gm__ volatile uint64_t *)(counters + i * 64);\n"
         "            for (uint64_t word = 0; word < 8; word += 1) {\n"
         "                counter[word] = 0;\n"
         "            }\n"
         "            dcci((__gm__ uint64_t *)counter, 0, 2);\n"
         "        }\n",
         "copy_ubuf_to_gm_align_v2((__gm__ uint8_t *)(counters + i * 64),\n"
         "                                     (__ubuf__ uint8_t *)zeroes, 0, 1, 64, 0, 64,"
         " 64)"},
};

static const char feed_text[] = "// From here on full barriers of the kernel are counted.\n"
                                "static __aicore__ inline void feed_begin(GM_ADDR counter)\n"
                                "{\n"
                                "    AscendC::g_superKernelAutoSyncAllSyncIdx = 0;\n"
                                "    AscendC::g_superKernelAutoSyncAllEnable = true;\n"
                                "    AscendC::g_superKernelAutoSyncAllConfigGmAddr = counter;\n"
                                "}\n"
                                "\n"
                                "static __aicore__ inline void feed_end(bool called)\n"
                                "{\n"
                                "    if (called) {\n"
                                "        AscendC::SuperKernelAutoSyncAllEndImpl();\n"
                                "        AscendC::g_superKernelAutoSyncAllEnable = false;\n"
                                "    }\n"
                                "}\n"
                                "\n"
                                "static __aicore__ inline void feed_complement(bool idle)\n"
                                "{\n"
                                "    if (idle) {\n"
                                "        AscendC::SuperKernelAutoSyncAllComplementImpl();\n"
                                "        AscendC::g_superKernelAutoSyncAllEnable = false;\n"
                                "    }\n"
                                "}\n";

static const char profile_text[] =
    "// The core's part of the profiling area: where its next record goes, and where it ends.\n"
    "struct Records {\n"
    "    GM_ADDR part;\n"
    "    uint64_t next;\n"
    "    uint64_t end;\n"
    "};\n"
    "\n"
    "static __aicore__ inline void put_record(Records &records, uint64_t head)\n"
    "{\n"
    "    if (records.next + 16 > records.end) {\n"
    "        return;\n"
    "    }\n"
    "    __gm__ volatile uint64_t *record = (__gm__ volatile uint64_t *)records.next;\n"
    "    record[0] = head;\n"
    "    record[1] = (uint64_t)AscendC::GetSystemCycle();\n"
    "    dcci((__gm__ uint64_t *)records.next, 0, 2);\n"
    "    records.next += 16;\n"
    "    *(__gm__ volatile uint64_t *)(records.part + 8) = records.next;\n"
    "    dcci((__gm__ uint64_t *)records.part, 0, 2);\n"
    "}\n"
    "\n"
    "static __aicore__ inline Records InitProfiling(uint32_t task, GM_ADDR area)\n"
    "{\n"
    "    Records records = {nullptr, 0, 0};\n"
    "    if (area == nullptr) {\n"
    "        return records;\n"
    "    }\n"
    "    uint64_t core = AscendC::GetBlockIdx();\n"
    "    if ASCEND_IS_AIC {\n"
    "        core += 50;\n"
    "    }\n"
    "    records.part = area + 64 + core * *(__gm__ volatile uint32_t *)(area + 12);\n"
    "    if (*(__gm__ volatile uint32_t *)records.part != 0xbdca8756) {\n"
    "        return records;\n"
    "    }\n"
    "    records.next = *(__gm__ volatile uint64_t *)(records.part + 8);\n"
    "    records.end = *(__gm__ volatile uint64_t *)(records.part + 16);\n"
    "    put_record(records, (uint64_t)task << 32 | core << 8 | 0xff);\n"
    "    return records;\n"
    "}\n"
    "\n"
    "static __aicore__ inline void RecordProfiling(Records &records, uint64_t index,\n"
    "                                              uint64_t kind, bool start)\n"
    "{\n"
    "    put_record(records, index << 32 | (uint64_t)!start << 12 | kind << 8);\n"
    "}\n";

static const char trace_text[] =
    "// The lines of cores' traces, 64 bytes each: those of the AICs, then those of the AIVs.\n"
    "struct Trace {\n"
    "    GM_ADDR lines;\n"
    "    __gm__ volatile uint64_t *own;\n"
    "    uint64_t aics;\n"
    "    uint64_t aivs;\n"
    "    uint64_t core;\n"
    "};\n"
    "\n"
    "static __aicore__ inline void put_line(const Trace &trace)\n"
    "{\n"
    "    dcci((__gm__ uint64_t *)trace.own, 0, 2);\n"
    "}\n"
    "\n"
    "static __aicore__ inline Trace InitTrace(GM_ADDR lines, uint64_t aics, uint64_t aivs)\n"
    "{\n"
    "    Trace trace = {lines, nullptr, aics, aivs, (uint64_t)AscendC::GetBlockIdx()};\n"
    "    if (lines == nullptr) {\n"
    "        return trace;\n"
    "    }\n"
    "    uint64_t line = trace.core;\n"
    "    uint64_t type = 0;\n"
    "    if ASCEND_IS_AIV {\n"
    "        line += aics;\n"
    "        type = 1;\n"
    "    }\n"
    "    trace.own = (__gm__ volatile uint64_t *)(lines + 64 * line);\n"
    "    trace.own[0] = type << 48 | trace.core << 32 | 0x54524b53;\n"
    "    put_line(trace);\n"
    "    return trace;\n"
    "}\n"
    "\n"
    "static __aicore__ inline void RecordTrace(const Trace &trace, uint64_t index,\n"
    "                                          uint64_t state)\n"
    "{\n"
    "    if (trace.own == nullptr) {\n"
    "        return;\n"
    "    }\n"
    "    trace.own[1] = state << 32 | index;\n"
    "    trace.own[2] = trace.own[2] + 1;\n"
    "    trace.own[3] = (uint64_t)AscendC::GetSystemCycle();\n"
    "    put_line(trace);\n"
    "}\n";

static const char check_text[] =
    "// What this core arrives at (0) or releases (1) next is counted before it happens.\n"
    "static __aicore__ inline void CountSync(const Trace &trace, uint32_t counter)\n"
    "{\n"
    "    if (trace.own == nullptr) {\n"
    "        return;\n"
    "    }\n"
    "    trace.own[4] = trace.own[4] + ((uint64_t)1 << 32 * counter);\n"
    "    put_line(trace);\n"
    "    pipe_barrier(PIPE_ALL);\n"
    "}\n"
    "\n"
    "// A core has counted as often as this one has waited for it, or this one ends the launch.\n"
    "static __aicore__ inline void check_line(const Trace &trace, uint32_t counter,\n"
    "                                         uint64_t type, uint64_t core)\n"
    "{\n"
    "    GM_ADDR line = trace.lines + 64 * (type * trace.aics + core);\n"
    "    dcci((__gm__ uint64_t *)line, 0, 2);\n"
    "    uint64_t found = ((__gm__ volatile uint32_t *)(line + 32))[counter];\n"
    "    uint64_t expected = (uint32_t)(trace.own[5] >> 32 * counter);\n"
    "    if (found >= expected) {\n"
    "        return;\n"
    "    }\n"
    "    trace.own[6] = found << 32 | expected;\n"
    "    trace.own[7] = type << 16 | core;\n"
    "    trace.own[0] = trace.own[0] | (uint64_t)(counter + 1) << 56;\n"
    "    put_line(trace);\n"
    "    trap();\n"
    "}\n"
    "\n"
    "static __aicore__ inline void CheckBarrier(const Trace &trace)\n"
    "{\n"
    "    uint64_t cores = trace.aics;\n"
    "    uint64_t type = 0;\n"
    "    if (trace.own == nullptr) {\n"
    "        return;\n"
    "    }\n"
    "    if ASCEND_IS_AIV {\n"
    "        cores = trace.aivs;\n"
    "        type = 1;\n"
    "    }\n"
    "    trace.own[5] = trace.own[5] + 1;\n"
    "    put_line(trace);\n"
    "    for (uint64_t core = 0; core < cores; core++) {\n"
    "        check_line(trace, 0, type, core);\n"
    "    }\n"
    "}\n"
    "\n"
    "static __aicore__ inline void CheckFlag(const Trace &trace)\n"
    "{\n"
    "    if (trace.own == nullptr) {\n"
    "        return;\n"
    "    }\n"
    "    uint64_t each = trace.aivs / trace.aics;\n"
    "    trace.own[5] = trace.own[5] + ((uint64_t)1 << 32);\n"
    "    put_line(trace);\n"
    "    if ASCEND_IS_AIV {\n"
    "        check_line(trace, 1, 0, trace.core / each);\n"
    "        return;\n"
    "    }\n"
    "    for (uint64_t i = 0; i < each; i++) {\n"
    "        check_line(trace, 1, 1, trace.core * each + i);\n"
    "    }\n"
    "}\n";

/* Appends the functions that statements of the entries use. */
static void ascendc_helpers(struct ascendc *out)
{
    bool used[INSTR_COUNT] = {false}, any = false;
    for (uint32_t e = 0; e < out->module->entries.count; e++)
        for (int core = 0; core < CORE_TYPES; core++) {
            const struct program *program = &out->module->entries.at[e].programs[core];
            for (uint32_t i = 0; i < program->instrs.count; i++)
                used[program->instrs.at[i].op] = true;
        }
    bool words =
        used[INSTR_notify] || used[INSTR_wait_event] || used[INSTR_reset] || used[INSTR_select];
    bool checks = used[INSTR_count_arrive] || used[INSTR_check_await] || used[INSTR_count_set] ||
                  used[INSTR_check_wait];
    const char *clear = arena_printf(&out->symbols.arena, clear_text, clear_by[out->arch].aic,
                                     clear_by[out->arch].copy);
    const struct {
        bool used;
        const char *text;
    } helpers[] = {
        {words, words_text},
        {used[INSTR_notify], notify_text},
        {used[INSTR_wait_event], wait_event_text},
        {used[INSTR_reset], reset_text},
        {used[INSTR_select], select_text},
        {used[INSTR_clear_workspace], clear},
        {used[INSTR_feed_sync], feed_text},
        {used[INSTR_profile], profile_text},
        {used[INSTR_trace] || checks, trace_text},
        {checks, check_text},
    };
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++) {
        if (!helpers[i].used)
            continue;
        text_string(out->text, any ? "\n" : "\nnamespace skir {\n\n");
        text_string(out->text, helpers[i].text);
        any = true;
    }
    if (any)
        text_string(out->text, "\n} // namespace skir\n");
}

/* ---------------------------------------------------------------------------- comments ---- */

static void put_place(struct ascendc *out, uint32_t loc)
{
    if (!out->module->source || loc == NONE)
        return;
    text_string(out->text, ", ");
    places_name(out->text, out->module, loc);
}

/* An op before its statements: what it is and where it is written. If it is not known, its group of
 * arguments and its kernel. */
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

/* What is for barriers and flags, not for calls. */
static bool is_check(uint8_t op)
{
    return op == INSTR_count_arrive || op == INSTR_check_await || op == INSTR_count_set ||
           op == INSTR_check_wait;
}

/* Whether an instruction may be between others and the call that they are for. */
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

/* The call that an instruction directly precedes, or is, with all between the two; NONE where
 * there is none. `end` becomes what follows the last one that this is true of. */
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

static bool uses_instr(const struct program *program, enum instr_op op)
{
    for (uint32_t i = 0; i < program->instrs.count; i++)
        if (program->instrs.at[i].op == op)
            return true;
    return false;
}

/* What the statements of the program use. */
static void put_locals(struct ascendc *out, const struct program *program)
{
    const struct kernel_type_info *info = kernel_type_info(out->entry->type);
    int64_t blocks = attr_int(out->module, out->entry->attrs, W_block, 1);
    bool traced = false; /* it has records for the trace, or checks */
    for (uint32_t i = 0; i < program->instrs.count; i++)
        traced |= instr_info(program->instrs.at[i].op)->place == PLACE_RECORD &&
                  program->instrs.at[i].op != INSTR_profile;
    if (uses_instr(program, INSTR_select))
        text_string(out->text, "        skir::Selected selected = {0, 0};\n");
    if (out->records != NONE && uses_instr(program, INSTR_profile))
        text_printf(out->text,
                    "        skir::Records records =\n"
                    "            skir::InitProfiling((uint32_t)(uint64_t)p[%u], p[%u]);\n",
                    out->records + 1, out->records);
    if (out->tracing != NONE && traced)
        text_printf(out->text, "        skir::Trace trace = skir::InitTrace(p[%u], %lld, %lld);\n",
                    out->tracing, (long long)blocks * info->aics, (long long)blocks * info->aivs);
    if (out->workspace != NONE && uses_instr(program, INSTR_feed_sync))
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
    text_printf(out->text,
                "__aicore__ void auto_gen_%s_kernel(void)\n{\n"
                "    %sGM_ADDR *p = (GM_ADDR *)get_para_base();\n",
                symbols_entry(&out->symbols, entry),
                arch_has_sync_base(out->arch) ? "" : "[[maybe_unused]] ");
    if (arch_has_sync_base(out->arch))
        text_string(out->text, "    if (p[0] != nullptr) {\n"
                               "        set_ffts_base_addr((uint64_t)p[0]);\n"
                               "    }\n");
    if (ascendc_copies(out, entry) > 1)
        text_printf(out->text, "    const uint64_t copy = get_coreid() %% %u;\n",
                    ascendc_copies(out, entry));
}

/* The dump's memory follows the workspace. */
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

/* The ratio of AICs to AIVs, which the runtime reads from the section of a function; launches with
 * one type of core alone have the other's functions nowhere. */
static void put_kernel_type(struct ascendc *out, const struct entry *entry, enum core_type core)
{
    const struct kernel_type_info *info = kernel_type_info(entry->type);
    bool plain = entry->type == KERNEL_aic_only || entry->type == KERNEL_aiv_only;
    const char *symbol = symbols_part(&out->symbols, entry, core);
    text_printf(out->text,
                "#if defined(%s)\n"
                "static const struct %s %s_section\n"
                "    __attribute__((used, section(\".ascend.meta.%s\"))) =\n"
                "    {{{F_TYPE_KTYPE, sizeof(unsigned int)}, ",
                core == CORE_AIC ? "__DAV_CUBE__" : "__DAV_VEC__",
                plain ? "FunLevelKType" : "FunLevelMixCoreType", symbol, symbol);
    if (plain)
        text_printf(out->text, "K_TYPE_%s}};\n", core == CORE_AIC ? "AIC" : "AIV");
    else
        text_printf(out->text,
                    "K_TYPE_MIX_%s_MAIN},\n"
                    "     {{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}, %u, %u}};\n",
                    info->aics ? "AIC" : "AIV", info->aics, info->aivs);
    text_string(out->text, "#endif\n");
}

/* What precedes the functions. */
static void put_prologue(struct ascendc *out)
{
    const struct module *module = out->module;
    bool dumps = false, cubes = false;
    for (uint32_t e = 0; e < module->entries.count; e++) {
        const struct entry *entry = &module->entries.at[e];
        dumps |= attr_flag(module, entry->attrs, W_dump);
        cubes |= kernel_type_has(entry->type, CORE_AIC);
    }
    /* The run configuration, which kernels refer to, is defined once: by the part for the main core
     * type. */
    text_printf(out->text,
                "#include \"kernel_operator.h\"\n"
                "\n#if __NPU_ARCH__ == 2201 && defined(%s)\n"
                "__gm__ struct OpSystemRunCfg g_opSystemRunCfg = {0};\n"
                "#else\n"
                "extern __gm__ struct OpSystemRunCfg g_opSystemRunCfg;\n"
                "#endif\n",
                cubes ? "__DAV_CUBE__" : "__DAV_VEC__");
    /* The headers have the types in compilations of a kernel, which define the key of a tiling. */
    text_string(out->text, "\n#if defined(TILING_KEY_VAR) && TILING_KEY_VAR == 0UL\n");
    for (uint32_t e = 0; e < module->entries.count; e++)
        for (int core = 0; core < CORE_TYPES; core++)
            if (kernel_type_has(module->entries.at[e].type, (enum core_type)core))
                put_kernel_type(out, &module->entries.at[e], (enum core_type)core);
    text_string(out->text, "#endif\n");
    /* The size of the dump, which its initialisation wants: the headers have no such constant, and
     * 0 is what the reference gives it. */
    if (dumps)
        text_string(out->text, "\n#if defined ASCENDC_DUMP || defined ASCENDC_TIME_STAMP_ON\n"
                               "constexpr uint32_t ASCENDC_DUMP_SIZE = 0;\n"
                               "#endif\n");
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
    out.ok = check_ratios(&out);
    put_prologue(&out);
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
