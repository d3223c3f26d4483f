/* Instructions of entries, as ir/core/instrs.def has them. */
#ifndef IR_CORE_INSTR_H
#define IR_CORE_INSTR_H

#include <stdbool.h>
#include <stdint.h>

enum instr_op {
#define INSTR(name, ...) INSTR_##name,
#include "ir/core/instrs.def"
#undef INSTR
    INSTR_COUNT
};

/* The columns of ir/core/instrs.def, whose head says what they mean. */
enum instr_who { WHO_ANY, WHO_GROUP, WHO_SENDER, WHO_RECEIVER };

enum instr_effect {
    EFFECT_NONE,
    EFFECT_CALL,
    EFFECT_ARRIVE,
    EFFECT_AWAIT,
    EFFECT_SET,
    EFFECT_WAIT,
    EFFECT_DRAIN,
    EFFECT_EVENT,
    EFFECT_SELECT,
    EFFECT_CLEAR,
    EFFECT_FEED,
};

enum instr_place {
    PLACE_START,
    PLACE_AHEAD,
    PLACE_BEGIN,
    PLACE_CALL,
    PLACE_STEP,
    PLACE_RECORD,
    PLACE_CACHE,
    PLACE_BETWEEN,
};

enum instr_time {
    TIME_NOTHING,
    TIME_FETCH,
    TIME_WORK,
    TIME_DRAIN,
    TIME_BARRIER,
    TIME_FLAG,
    TIME_WORD,
    TIME_CACHE,
    TIME_CLEAR,
    TIME_RECORD,
};

struct instr_info {
    const char *name, *operands;
    enum instr_who who;
    enum instr_effect effect;
    enum instr_place place;
    enum instr_time time;
    const char *host, *ascend; /* templates, or NULL */
};
const struct instr_info *instr_info(enum instr_op op);

/* Whether it synchronises the cores of a launch, or a core with what it called. */
static inline bool effect_is_sync(enum instr_effect effect)
{
    return effect >= EFFECT_ARRIVE && effect <= EFFECT_DRAIN;
}

enum phase { PHASE_begin, PHASE_end, PHASE_complement };

/* What a record of a `profile` instruction is about: its KIND. */
enum profile_kind { PROFILE_KERNEL, PROFILE_OP, PROFILE_NOTIFY, PROFILE_WAIT, PROFILE_KINDS };

/* What a sub-kernel that was built for early start does of the synchronisation around its call.
 * Cores that the call leaves out do the same at this place, so a call means the same on all cores:
 * the waits, the work, the arrival (docs/device-model.md, "Early start"). */
enum {
    EARLY_WAIT_AIC = 1, /* waits as behind an op with a part on AICs */
    EARLY_WAIT_AIV = 2, /* waits as behind an op with a part on AIVs */
    EARLY_WAIT_MIX = EARLY_WAIT_AIC | EARLY_WAIT_AIV,
    EARLY_SET = 4, /* arrives at the barrier of its core type */
    /* Of kernels alone, what their authors vouch for: */
    EARLY_READS_DONE = 8,  /* where it arrives, it has also read all that it reads */
    EARLY_READS_LATE = 16, /* before it waits, it reads nothing that ops before it write */
};

/* What a `trace` instruction says of a core: its STATE. Each state holds until the next one. */
enum trace_state {
    TRACE_BEGUN,    /* the entry */
    TRACE_LAUNCHED, /* the op: the core is in its kernel */
    TRACE_FINISHED, /* its kernel has returned */
    TRACE_ENDED,    /* the entry */
    TRACE_WAITING,  /* the op: for an event from outside, or its tiling */
    TRACE_RECEIVED, /* which has come */
    TRACE_STATES
};

/* What number[0] of a call says of its arguments, and of an instruction for a word in memory, of
 * that (docs/language.md, "Entries"):
 *   call    the index of a group of its entry; where `kernel` is NONE, the name id of the group of
 *           an op that says the rest: a value's, or a word's where `word` is 1
 *   notify, wait_event, reset
 *           the name id of an event; where `word` is 1, the index of the group whose lock it is */
struct instr {
    uint8_t op;    /* enum instr_op */
    uint8_t part;  /* of `kernel`: a core type, or CORE_TYPES where none is written */
    uint8_t word;  /* G: core type; F: core type that sends (c2v: CORE_AIC); P, B: enum phase */
    uint8_t early; /* call: EARLY_... flags */
    uint32_t loc;
    uint32_t kernel; /* name id, or NONE */
    uint32_t number[2];
};

#endif
