/* What graphs do to memory of those who call them: which of their parameters they write in place,
 * and which buffers and variables they read and write, themselves or by graphs that they call. */
#ifndef IR_EFFECTS_H
#define IR_EFFECTS_H

#include "ir/module.h"

/* An access of memory that has a name in the module. */
struct shared_effect {
    uint32_t name; /* of the buffer (`reads`, `writes`), or the variable's `shared_name` */
    bool variable; /* else it is a buffer */
    bool write;    /* else it is read */
};

/* What an op does by the graphs that it calls. An element may stand there more than once. */
struct op_effects {
    struct vec_u32 written; /* operands, by their place */
    VEC(struct shared_effect) shared;
};

struct effects;

/* Works nothing out yet: what a graph does is found when it is first asked for, with that of all
 * graphs that it calls, each once. */
struct effects *effects_new(const struct module *module);
/* NULL is freed, too; the module may have changed meanwhile. */
void effects_free(struct effects *effects);

/* Replaces what is in `found`, which is zero-initialised at first and freed by op_effects_free.
 * Graphs that call themselves, which a verified module has none of, are taken to do nothing where
 * they do. */
void effects_of_op(struct effects *effects, const struct op *op, struct op_effects *found);
void op_effects_free(struct op_effects *found);

/* The parameter of a graph whose memory its n-th returned value is, or NONE. */
uint32_t effects_returned(struct effects *effects, uint32_t graph, uint32_t n);

#endif
