/* The functions that statements of entries use. Written only where an instruction needs them. */
#include "backend/ascend/ascendc_emitter.h"

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
    [ARCH_c220] =
        {"        __cbuf__ uint8_t *zeroes = (__cbuf__ uint8_t *)0;\n"
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
    "\n"
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

static void add(struct ascendc *out, bool *any, bool wanted, const char *text)
{
    if (!wanted)
        return;
    text_string(out->text, *any ? "\n" : "\nnamespace skir {\n\n");
    text_string(out->text, text);
    *any = true;
}

void ascendc_helpers(struct ascendc *out)
{
    const bool *used = out->used;
    bool words =
        used[INSTR_notify] || used[INSTR_wait_event] || used[INSTR_reset] || used[INSTR_select];
    bool any = false;
    struct text clear = {NULL, 0, 0};
    text_printf(&clear, clear_text, clear_by[out->arch].aic, clear_by[out->arch].copy);
    text_char(&clear, '\0');
    add(out, &any, words, words_text);
    add(out, &any, used[INSTR_notify], notify_text);
    add(out, &any, used[INSTR_wait_event], wait_event_text);
    add(out, &any, used[INSTR_reset], reset_text);
    add(out, &any, used[INSTR_select], select_text);
    add(out, &any, used[INSTR_clear_workspace], clear.at);
    add(out, &any, used[INSTR_feed_sync], feed_text);
    add(out, &any, used[INSTR_profile], profile_text);
    bool checks = used[INSTR_count_arrive] || used[INSTR_check_await] || used[INSTR_count_set] ||
                  used[INSTR_check_wait];
    add(out, &any, used[INSTR_trace] || checks, trace_text);
    if (checks)
        text_string(out->text, check_text);
    if (any)
        text_string(out->text, "\n} // namespace skir\n");
    text_free(&clear);
}
