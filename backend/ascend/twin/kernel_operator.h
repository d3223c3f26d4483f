/* A stand-in for the device API: those primitives that entries use, on the virtual device. It
 * stands behind skrt.h and twin.h. The primitives and their names are the device's. */
#ifndef BACKEND_ASCEND_TWIN_KERNEL_OPERATOR_H
#define BACKEND_ASCEND_TWIN_KERNEL_OPERATOR_H

#define __aicore__
#define __global__
#define __gm__
#define __cbuf__
#define __ubuf__
#define GM_ADDR uint8_t *
#define ASCEND_IS_AIC (skir_twin_is_aic())
#define ASCEND_IS_AIV (!skir_twin_is_aic())

/* The line of the statement in the entry's source. */
#define TWIN_LINE unsigned line = __builtin_LINE()

struct OpSystemRunCfg {
    uint64_t l2Cacheoffset;
};

enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_ALL, PIPE_FIX };
enum event_t { EVENT_ID0 };
enum class cache_line_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum class dcci_dst_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };

/* A variable that each core has of its own. */
template <class T, T twin_core::*member> struct twin_local {
    operator T() const
    {
        return skir_twin_core()->*member;
    }
    T operator=(T value)
    {
        return skir_twin_core()->*member = value;
    }
};

static twin_local<uint32_t, &twin_core::early_config> g_super_kernel_early_start_config;
static twin_local<uint64_t, &twin_core::dynamic_blocks> g_super_kernel_dynamic_block_num;

/* ------------------------------------------------------------------ cores and memory ---- */

static inline uint64_t *get_para_base()
{
    return skir_twin_params();
}
static inline int64_t get_block_idx()
{
    return skir_twin_block();
}
static inline int64_t get_block_num()
{
    return skir_twin_blocks();
}
static inline int64_t get_subblockid()
{
    return skir_twin_sub();
}
static inline int64_t get_subblockdim()
{
    return skir_twin_subs();
}
static inline int64_t get_coreid()
{
    return skir_twin_index();
}
static inline void set_ffts_base_addr(uint64_t)
{
}
static inline void trap(TWIN_LINE)
{
    skir_twin_trap(line);
}

template <class P> static inline void dcci(P address, int, int)
{
    skir_twin_clean(address);
}
template <class P>
static inline void dcci(P address, cache_line_t lines, dcci_dst_t = dcci_dst_t::CACHELINE_OUT,
                        TWIN_LINE)
{
    if (lines == cache_line_t::ENTIRE_DATA_CACHE)
        skir_twin_clean_all(line);
    else
        skir_twin_clean(address);
}

static inline void preload(const void *, int64_t, TWIN_LINE)
{
    skir_twin_hint(line);
}
template <class P> static inline void dc_preload(P, int64_t, TWIN_LINE)
{
    skir_twin_hint(line);
}

/* Copies go from local memory in units of 32 bytes. */
#if __NPU_ARCH__ == 2201
template <class A, class B>
static inline void copy_cbuf_to_gm(A to, B from, int, int, int units, int, int)
{
    skir_twin_store(to, from, 32 * (uint64_t)units);
}
template <class A, class B>
static inline void copy_ubuf_to_gm(A to, B from, int, int, int units, int, int)
{
    skir_twin_store(to, from, 32 * (uint64_t)units);
}
#else
template <class A, class B>
static inline void copy_ubuf_to_gm_align_v2(A to, B from, int, int, int size, int, int, int)
{
    skir_twin_store(to, from, (uint64_t)size);
}
#endif
/* `shape` has the number of blocks of 32 bytes above 16 bits. */
template <class P> static inline void create_cbuf_matrix(P to, int64_t shape, uint32_t value)
{
    skir_twin_fill(to, &value, sizeof value, 8 * (uint64_t)(shape & 0xffff) * (shape >> 16));
}

/* ------------------------------------------------------------------- synchronisation ---- */

static inline void ffts_cross_core_sync(pipe_t, uint64_t message, TWIN_LINE)
{
    skir_twin_set(message >> 8, message & 0xff, line);
}
static inline void wait_flag_dev(uint64_t flag, TWIN_LINE)
{
    skir_twin_wait(flag, line);
}
static inline void wait_flag_dev(pipe_t, uint64_t flag, TWIN_LINE)
{
    skir_twin_wait(flag, line);
}
static inline void pipe_barrier(pipe_t, TWIN_LINE)
{
    skir_twin_drain(line);
}

namespace AscendC
{

enum : uint64_t {
    SYNC_AIC_FLAG = TWIN_AIC_FLAG,
    SYNC_AIV_FLAG = TWIN_AIV_FLAG,
    SYNC_AIC_AIV_FLAG = TWIN_AIC_AIV_FLAG,
    SYNC_AIV_ONLY_ALL = TWIN_AIV_ALL
};
static inline uint64_t GetffstMsg(uint64_t mode, uint64_t flag)
{
    return mode << 8 | flag;
}

template <bool aivs_only = true> static inline void SyncAll(TWIN_LINE)
{
    skir_twin_sync_all(aivs_only, line);
}
template <pipe_t> static inline void PipeBarrier(TWIN_LINE)
{
    skir_twin_drain(line);
}
enum class HardEvent { MTE2_MTE3, V_MTE3, MTE3_V, S_V, MTE3_S, S_MTE3 };
template <HardEvent> static inline void SetFlag(int)
{
}
template <HardEvent> static inline void WaitFlag(int)
{
}

static inline void SetNextTaskStart(TWIN_LINE)
{
    skir_twin_arrive(line);
}
template <int config = -1> static inline void WaitPreTaskEndImpl(TWIN_LINE)
{
    skir_twin_wait_previous(
        config < 0 ? (uint32_t)g_super_kernel_early_start_config : (uint32_t)config, line);
}

static twin_local<bool, &twin_core::feeding> g_superKernelAutoSyncAllEnable;
static twin_local<uint32_t, &twin_core::feed_index> g_superKernelAutoSyncAllSyncIdx;
static twin_local<uint8_t *, &twin_core::feed_counter> g_superKernelAutoSyncAllConfigGmAddr;
static twin_local<uint8_t *, &twin_core::feed_base> g_superKernelAutoSyncAllConfigGmBaseAddr;
static inline void SuperKernelAutoSyncAllEndImpl()
{
    skir_twin_feed_end();
}
static inline void SuperKernelAutoSyncAllComplementImpl()
{
    skir_twin_feed_complement();
}

static inline int64_t GetBlockIdx()
{
    return skir_twin_index();
}
static inline int64_t GetBlockIdxImpl()
{
    return skir_twin_index();
}
static inline int64_t GetBlockNum()
{
    return skir_twin_blocks();
}
static inline int64_t GetSystemCycle()
{
    return (int64_t)skir_twin_cycle();
}
static inline void PreLoad(int64_t, TWIN_LINE)
{
    skir_twin_hint(line);
}
template <class P, class V> static inline void DuplicateImpl(P to, V value, int64_t count)
{
    skir_twin_fill(to, &value, sizeof value, (uint64_t)count);
}
template <class... A> static inline void printf(A...)
{
}
static inline void InitDump(bool, uint8_t *, uint32_t)
{
}

} // namespace AscendC

#endif
