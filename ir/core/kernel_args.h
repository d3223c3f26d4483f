/* The arguments of entries: groups of slots, and the numbers of slots, which follow from them. */
#ifndef IR_CORE_KERNEL_ARGS_H
#define IR_CORE_KERNEL_ARGS_H

#include "ir/core/module.h"

/* The alignment of an entry that does not say it, in bytes: the default of func-align. */
enum { ENTRY_ALIGN = 512 };

/* The number of the slot of an argument, by its index in entry->args: on chips with a sync base
 * they stand behind its slot. */
static inline uint32_t arg_slot(const struct entry *entry, uint32_t arg)
{
    return arg + !entry->no_sync_base;
}

/* How many slots the entry has, with that of the sync base. */
static inline uint32_t entry_slots(const struct entry *entry)
{
    return arg_slot(entry, entry->args.count);
}

/* The number of the first slot of a group; what an empty one would have, if it had any. */
static inline uint32_t group_slot(const struct entry *entry, const struct arg_group *group)
{
    return arg_slot(entry, group->args.first);
}

static inline const struct arg *group_arg(const struct entry *entry, const struct arg_group *group,
                                          uint32_t n)
{
    assert(n < group->args.count);
    return &entry->args.at[group->args.first + n];
}

/* How many groups have names: they are the first ones of a legal entry. */
uint32_t entry_named_groups(const struct entry *entry);

/* Begins a group at the end, and adds arguments to it. */
void entry_add_group(struct entry *entry, uint32_t name, bool word, uint32_t loc);
void entry_add_arg(struct entry *entry, struct arg arg);
/* Makes a group without a name of `count` times the word, before group `at` and behind all that
 * have names. */
void entry_insert_words(struct entry *entry, uint32_t at, uint32_t word, uint32_t count);

/* The first slot of a word, such as sync_workspace, in groups without names, or NONE. */
uint32_t entry_slot(const struct entry *entry, uint32_t word);

/* The slot of an entry that holds the address of the buffer for time records; the next one holds
 * the size in bytes. NONE where it has no such slots. */
uint32_t entry_profile_slot(const struct entry *entry);

/* The first of the three slots of a dynamic kernel in a group; NONE where they are not there. */
uint32_t group_find_tiling(const struct entry *entry, const struct arg_group *group);

/* The slots of the events of one entry, by name: the first that sends it, or receives it. Those of
 * one entry are taken and forgotten in turn. Zero-initialised is empty. */
struct event_slots {
    struct id_map sends, recvs;
};
void event_slots_take(struct event_slots *slots, const struct entry *entry);
void event_slots_leave(struct event_slots *slots, const struct entry *entry);
void event_slots_free(struct event_slots *slots);

/* The slot that an instruction of the effect EVENT is about, or NONE. */
uint32_t instr_event_slot(const struct event_slots *slots, const struct entry *entry,
                          const struct instr *instr);

/* The parameters of an op's call: the 64-bit slots that its kernel reads, in order (docs/passes.md,
 * "lower-superkernels"). */

enum slot_kind {
    SLOT_TENSOR,     /* address of a value's memory; id: value id */
    SLOT_NONE,       /* 0: an operand is absent */
    SLOT_LIST,       /* address of a table of values; id: of the operand in graph.forms */
    SLOT_WORD,       /* what a word stands for: workspace, tiling; id: the word */
    SLOT_TILING_KEY, /* addresses of the three words of a dynamic kernel */
    SLOT_BLOCK_NUM,
    SLOT_LOCK,
    SLOT_SEND, /* address of an event's word; id: the event's name */
    SLOT_RECV,
};

struct slot {
    enum slot_kind kind;
    uint32_t id; /* NONE for those of dynamic kernels, and for SLOT_NONE */
};

struct slots {
    struct slot *at;
    uint32_t count, capacity;
};

/* Appends what follows the slots of an entry's last op, by the entry's own groups: the
 * workspace of fed barriers, and the two slots of time records. */
void slots_add_entry(struct slots *slots, const struct entry *entry);

/* Appends the slots of an op: the parameters of its kernel, three more for a dynamic kernel, one
 * for each event that the op sends, one for each that it receives. */
void slots_add_op(struct slots *slots, const struct module *module, const struct graph *graph,
                  const struct op *op, const struct kernel *kernel);

/* The word that names a slot which is neither a tensor's nor an event's. */
uint32_t slot_word(struct slot slot);
/* The slot as an argument that is to be added to the entry. */
struct arg slot_arg(struct entry *entry, const struct graph *graph, struct slot slot);
/* Whether an argument of the entry is the slot. */
bool slot_is_arg(const struct entry *entry, const struct graph *graph, struct slot slot,
                 const struct arg *arg);

/* Gives the groups of the ops of one entry their names: that of the op's last result that is no
 * token, or of its token; of an op without results its type, and after the first of a type TYPE_1,
 * TYPE_2, as far as these are not taken. */
struct group_namer {
    struct module *module;
    struct id_map numbers; /* by word that is taken: the last number behind it */
    struct vec_u32 taken;  /* the keys */
};

struct group_name {
    uint32_t name;
    bool word; /* not a value's */
};

struct group_name group_name_of(struct group_namer *namer, const struct graph *graph,
                                const struct op *op);
/* Forgets what is taken: another entry begins. */
void group_namer_clear(struct group_namer *namer);
void group_namer_free(struct group_namer *namer);

#endif
