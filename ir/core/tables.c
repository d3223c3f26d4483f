/* The definition tables as arrays. */
#include "ir/core/module.h"

#include <assert.h>

const struct dtype_info *dtype_info(enum dtype dtype)
{
    static const struct dtype_info infos[] = {
#define DTYPE(name, bits, class, npy, host) {#name, bits, CLASS_##class, npy, host},
#include "ir/core/dtypes.def"
#undef DTYPE
        [DTYPE_UNKNOWN] = {"?", 0, CLASS_HANDLE, "", false},
    };
    assert((unsigned)dtype < DTYPE_COUNT || dtype == DTYPE_UNKNOWN);
    return &infos[dtype];
}

const struct kernel_type_info *kernel_type_info(enum kernel_type type)
{
    static const struct kernel_type_info infos[] = {
#define KERNEL_TYPE(name, aics, aivs, flat) {#name, aics, aivs, flat},
#include "ir/core/kernel_types.def"
#undef KERNEL_TYPE
    };
    assert((unsigned)type < KERNEL_TYPE_COUNT);
    return &infos[type];
}

const struct instr_info *instr_info(enum instr_op op)
{
    static const struct instr_info infos[] = {
#define INSTR(name, operands, who, effect, place, time, host, ascend)                              \
    {#name, operands, WHO_##who, EFFECT_##effect, PLACE_##place, TIME_##time, host, ascend},
#include "ir/core/instrs.def"
#undef INSTR
    };
    assert((unsigned)op < INSTR_COUNT);
    return &infos[op];
}

const char *core_type_name(enum core_type core)
{
    return core == CORE_AIC ? "aic" : "aiv";
}
