// A sub-kernel: y = x1 + x2 of 8192 integers on 8 AIVs, by the scalar unit, which is slow but short.
// A super kernel calls it with the number of its first slot.
#include "kernel_operator.h"

extern "C" __aicore__ void add(uint64_t args_offset)
{
    constexpr uint32_t COUNT = 1024, LINE = 16; // numbers of a core, and in a line of its cache
    GM_ADDR *p = (GM_ADDR *)get_para_base() + args_offset;
    __gm__ int32_t *x1 = (__gm__ int32_t *)p[0] + AscendC::GetBlockIdx() * COUNT;
    __gm__ int32_t *x2 = (__gm__ int32_t *)p[1] + AscendC::GetBlockIdx() * COUNT;
    __gm__ int32_t *y = (__gm__ int32_t *)p[2] + AscendC::GetBlockIdx() * COUNT;
    for (uint32_t at = 0; at < COUNT; at += LINE) {
        // What another core has written since this one read the line is in memory.
        dcci((__gm__ uint64_t *)(x1 + at), 0, 2);
        dcci((__gm__ uint64_t *)(x2 + at), 0, 2);
        for (uint32_t i = at; i < at + LINE; i++) {
            y[i] = x1[i] + x2[i];
        }
        dcci((__gm__ uint64_t *)(y + at), 0, 2); // and what this core has written goes there
    }
    AscendC::PipeBarrier<PIPE_ALL>(); // all that it has started is over when it returns
}
