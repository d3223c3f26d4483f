/* A super kernel and its entry, as passes over entries see them: with its ops in the order in which
 * the programs call them, which is mostly that of its list; and programs under construction. */
#ifndef PASSES_LOWER_SUPERKERNEL_H
#define PASSES_LOWER_SUPERKERNEL_H

#include "ir/analysis/dep_graph.h"
#include "ir/core/kernel_args.h"
#include "ir/core/module.h"
#include "ir/core/sk_options.h"
#include "passes/lower/call_order.h"
#include "passes/manager/context.h"

/* An instruction made by a pass, without operands but `word`. */
struct instr instr_make(enum instr_op op, uint8_t word);

/* Puts `instrs` in place of the program's, and takes them: `*instrs` is empty then. */
struct instrs {
    struct instr *at;
    uint32_t count, capacity;
};
void program_replace(struct program *program, struct instrs *instrs);

/* Instructions to be inserted, in the order of their places. Zero-initialised when empty. */
struct program_edit {
    struct addition {
        uint32_t at; /* before the instruction of this index; those of one place stand in turn */
        struct instr instr;
    } * at;
    uint32_t count, capacity;
};

/* `at` is not below that of the addition before. */
void program_edit_add(struct program_edit *edit, uint32_t at, struct instr instr);

static inline bool program_has(const struct program *program, uint32_t at, enum instr_op op)
{
    return at < program->instrs.count && program->instrs.at[at].op == op;
}

/* Whether it is a hint that stands ahead of its kernel's call (PLACE_AHEAD). */
static inline bool instr_is_ahead(const struct instr *instr)
{
    return instr_info(instr->op)->place == PLACE_AHEAD;
}

static inline bool program_has_ahead(const struct program *program, uint32_t at)
{
    return at < program->instrs.count && instr_is_ahead(&program->instrs.at[at]);
}

/* Changes of the entry of a super kernel that is visited (passes/lower/visit.h). A part
 * (ir/support/parts.h) works on a copy of what it changes, so that nothing has happened where it is
 * left; the module's entry is as the copy is when all parts are done. */
struct entry_change {
    struct entry *entry; /* the module's */
    bool in_part;
    bool copied; /* `copy` is the one to change, and sk->entry */
    struct entry copy;
};

struct superkernel {
    struct pass_context *context;
    struct module *module;
    const struct graph *graph;
    const struct block *block;
    const struct entry *entry; /* changed by superkernel_own_entry */
    struct entry_change change;
    const uint32_t *ops; /* op ids in the order of the calls: an op's number here is its turn */
    uint32_t count;
    const uint32_t *listed;  /* by turn: the place in list order; NULL: that is the turn */
    const uint32_t *index;   /* per op of the graph: its turn, or NONE */
    const uint32_t *grouped; /* by named group of the entry: the turn of its op, or NONE */
    uint32_t n_grouped;
    const struct order *order; /* of the graph */
    const struct sk_options *options;
    unsigned records; /* kinds that the programs get after the visit (insertion_points.h) */
    void *user;       /* of superkernels_visit_in_turn */
};

const struct op *superkernel_op(const struct superkernel *sk, uint32_t i);
const struct kernel *superkernel_kernel(const struct superkernel *sk, uint32_t i);

/* The turn of an op of the graph, or NONE where it is not of this super kernel. */
uint32_t superkernel_index(const struct superkernel *sk, uint32_t op);

/* The place of the i-th op in list order. */
uint32_t superkernel_place(const struct superkernel *sk, uint32_t i);

/* Whether the i-th op has a part on cores of this type. */
bool superkernel_has_part(const struct superkernel *sk, uint32_t i, enum core_type core);

/* Whether AICs and AIVs run their lists side by side: stream-fusion=1, and the graph leaves some op
 * and the one before it unordered. Else all ops are one list, each behind the one before it. */
bool superkernel_is_two_lists(const struct superkernel *sk);

/* Whether its entry has barriers, flags or drains, or calls that start early. */
bool superkernel_is_synchronised(const struct superkernel *sk);

/* The ops that send or receive an event, or both, in turn. */
struct event_uses {
    struct event_use {
        uint32_t event, op; /* op: its turn */
    } * at;                 /* by event, then by op */
    uint32_t count, capacity;
};
/* The first use of an event, uses->count where there is none. */
uint32_t event_uses_find(const struct event_uses *uses, uint32_t event);

struct superkernel_events {
    struct event_uses sends, recvs;
};
struct superkernel_events superkernel_events(const struct superkernel *sk);
void superkernel_events_free(struct superkernel_events *events);

/* The op, by its turn, that an instruction for a word in memory is about, where the program's next
 * call is that of op `next`: the owner of the lock; the sender of the event; of its receivers the
 * first from `next` on, or the last. sk->count where an edited dump has an event that is none of
 * an op's. */
uint32_t superkernel_word_owner(const struct superkernel *sk,
                                const struct superkernel_events *events, const struct instr *instr,
                                uint32_t next);

/* The order in which the programs of an entry, both taken together, call its ops. */

/* Fills `turns`, of as many as ops, with their places in the list, in an order that the graph
 * allows and in which each program calls them: of ops that could be next, the first of the list.
 * Where no call can be next by the graph, it is refused only if the entry is not synchronised: what
 * is wrong with another, the proof tells. False, reported, where an order is refused, or mixed ops
 * have none. `sk` is by list order, `called` is what its entry calls. */
bool turns_find(const struct superkernel *sk, const struct called *called, uint32_t *turns);

/* The entry, of which anything may be changed. Until its next change, it is sk->entry. */
struct entry *superkernel_own_entry(struct superkernel *sk);

/* Puts `instrs` in place of a program's, and takes them: `*instrs` is empty then. */
void superkernel_replace(struct superkernel *sk, enum core_type core, struct instrs *instrs);

/* Makes the additions to a program, and forgets them. */
void superkernel_edit(struct superkernel *sk, enum core_type core, struct program_edit *edit);

/* What was changed in a part becomes the module's; to be called when all parts are done. */
void entry_change_take(struct entry_change *change);

#endif
