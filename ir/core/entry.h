/* Kernels, and what calls them: entries, their arguments and programs. Names, attributes and pools
 * are those of ir/core/module.h, which has this file. */
#ifndef IR_CORE_ENTRY_H
#define IR_CORE_ENTRY_H

#include "ir/core/instr.h"
#include "ir/support/ids.h"

#include <stdbool.h>
#include <stdint.h>

enum kernel_type {
#define KERNEL_TYPE(name, aics, aivs, flat) KERNEL_##name,
#include "ir/core/kernel_types.def"
#undef KERNEL_TYPE
    KERNEL_TYPE_COUNT
};

struct kernel_type_info {
    const char *name;
    uint8_t aics, aivs;
    bool flat;
};
const struct kernel_type_info *kernel_type_info(enum kernel_type type);

enum core_type { CORE_AIC, CORE_AIV, CORE_TYPES };

static inline bool kernel_type_has(enum kernel_type type, enum core_type core)
{
    const struct kernel_type_info *info = kernel_type_info(type);
    return core == CORE_AIC ? info->aics > 0 : info->aivs > 0;
}

static inline bool kernel_type_is_mixed(enum kernel_type type)
{
    return kernel_type_has(type, CORE_AIC) && kernel_type_has(type, CORE_AIV);
}

const char *core_type_name(enum core_type core);

struct kernel {
    uint32_t name;
    uint32_t loc, end_loc; /* end_loc: of the brace that closes the attributes, if there are any */
    enum kernel_type type;
    struct range attrs;
};

struct program {
    bool present;
    uint32_t loc, end_loc;
    VEC(struct instr) instrs;
};

enum arg_kind {
    ARG_VALUE, /* the address of a value's memory; id: its name */
    ARG_NONE,  /* 0 */
    ARG_LIST,  /* the address of a table of values; id: the first of `count` in entry.listed */
    ARG_WORD,  /* what a word stands for; id: the word */
    ARG_SEND,  /* the address of an event's word; id: its name */
    ARG_RECV,
};

struct arg {
    uint16_t kind; /* enum arg_kind */
    uint32_t id, count;
};

/* The arguments of one op's call; or, without a name, what stands behind those of the last op. */
struct arg_group {
    uint32_t name; /* that of a value, or of a word where `word`; NONE: it has none */
    bool word;
    uint32_t loc;
    struct range args; /* in entry.args */
};

/* Slot 0 of an entry is the sync base address, on chips that have one; then come the arguments. The
 * groups' ranges follow one another without gaps (ir/core/kernel_args.h). */
struct entry {
    uint32_t name;
    uint32_t loc, end_loc;
    enum kernel_type type;
    bool no_sync_base; /* the arguments begin with slot 0: entry_number_slots says it */
    struct range attrs;
    VEC(struct arg_group) groups;
    VEC(struct arg) args;
    struct vec_u32 listed; /* names of the values of lists */
    struct program programs[CORE_TYPES];
};

/* Whether its programs order cores, or a core with what it called. */
bool entry_is_synchronised(const struct entry *entry);
/* Whether an instruction of a program waits at the barrier of its core type, and so for all blocks
 * of the launch. */
bool instr_awaits(const struct instr *instr, enum core_type core);
/* Whether one block waits for another: at a barrier of the programs, or in a kernel. */
struct module;
bool entry_has_barriers(const struct module *module, const struct entry *entry);

#endif
