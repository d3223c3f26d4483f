/* The parameters of an op's call: the 64-bit slots that its kernel reads, in order (docs/passes.md,
 * "lower-superkernels"). */
#ifndef IR_SLOTS_H
#define IR_SLOTS_H

#include "ir/groups.h"

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

/* Appends what stands behind the slots of an entry's last op, by the entry's own groups: the
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
 * token, or of its token; of an op without results its type, and behind the first of a type TYPE_1,
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
