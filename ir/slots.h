/* The parameters of an op's call: the 64-bit slots that its kernel reads, in order (docs/passes.md,
 * "lower-superkernels"). */
#ifndef IR_SLOTS_H
#define IR_SLOTS_H

#include "ir/module.h"

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

/* Appends what stands behind the slots of an entry's last op, by the entry's own `params`: the
 * workspace of fed barriers, and the two slots of time records. */
void slots_add_entry(struct slots *slots, const struct module *module, const struct entry *entry);

/* Appends the slots of an op: the parameters of its kernel, three more for a dynamic kernel, one
 * for each event that the op sends, one for each that it receives. */
void slots_add_op(struct slots *slots, const struct module *module, const struct graph *graph,
                  const struct op *op, const struct kernel *kernel);

/* The first slot of an entry that its `params` name by a word, such as sync_workspace, or NONE. */
uint32_t entry_slot(const struct module *module, const struct entry *entry, uint32_t word);

/* The slot of an entry that holds the address of the buffer for time records; the next one, its
 * last, holds the size in bytes. NONE where it has no such slots. */
uint32_t entry_profile_slot(const struct module *module, const struct entry *entry);

/* The first of the three slots of a dynamic kernel whose arguments begin at slot `args` of an entry
 * with these `params`; NONE where they are not there. */
uint32_t slots_find_tiling(const struct module *module, const struct attr *params,
                           const struct kernel *kernel, uint32_t args);

/* The word that names a slot which is neither a tensor's nor an event's. */
uint32_t slot_word(struct slot slot);
/* How an entry's `params` names a slot. */
struct attr_value slot_value(struct module *module, const struct graph *graph, struct slot slot);
/* Whether an element of an entry's `params` names the slot. */
bool slot_is_named(const struct module *module, const struct graph *graph, struct slot slot,
                   const struct attr_value *value);

#endif
