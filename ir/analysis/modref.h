/* Which memory a value is. Each is one of its own, but for results that are an operand's memory
 * (`alias`, or the data of the op's type), through any number of ops, and for variables of one
 * `shared_name` (docs/language.md, "Memory"). */
#ifndef IR_ANALYSIS_MODREF_H
#define IR_ANALYSIS_MODREF_H

#include "ir/core/module.h"

struct memories {
    uint32_t *of; /* per value: the first value in the text of its memory; NULL: each is its own */
};

/* Of a graph whose values are defined above their uses. Takes time linear in its size. */
void memories_init(struct memories *memories, const struct module *module,
                   const struct graph *graph);
void memories_free(struct memories *memories);

/* The value that stands for a value's memory: the same for all values of one memory. */
static inline uint32_t memory_of(const struct memories *memories, uint32_t value)
{
    return memories->of ? memories->of[value] : value;
}

/* The operand that an element of `inplace` or `alias` names, as a value; NONE where it names none,
 * or a list. */
uint32_t op_place(const struct graph *graph, const struct op *op, const struct attr_value *place);

/* The operand, as a value, whose memory the op's n-th result is, by its `alias` or else by the data
 * of its type; NONE where it has one of its own. */
uint32_t op_alias(const struct module *module, const struct graph *graph, const struct op *op,
                  uint32_t n);

/* An operand that an op writes into. Zero-initialised stands before the first one. */
struct op_write {
    uint32_t element, value; /* of `inplace`, or slot of the op's type; which value of that */
    uint32_t operand;        /* a value */
};

/* The next operand that the op writes into, by its `inplace` or else by the data of its type. False
 * where there is none. */
bool op_next_write(const struct module *module, const struct graph *graph, const struct op *op,
                   struct op_write *write);
/* Whether it writes into this one. */
bool op_writes(const struct module *module, const struct graph *graph, const struct op *op,
               uint32_t operand);

/* Whether the op is a view that executes nothing: its type is one, it has no kernel, every result
 * is an operand's memory, and it writes none. */
bool op_is_view(const struct module *module, const struct graph *graph, const struct op *op);

/* Whether the op executes nothing, since its type does not (ir/optypes/op_types.h) or it is a
 * view: it is in no stream's order. */
bool op_is_passive(const struct module *module, const struct graph *graph, const struct op *op);

/* Whether ops of this type are variables: those of one `shared_name` are one memory, in all graphs
 * of the module. */
bool op_is_variable(const struct module *module, const struct op *op);
/* The `shared_name` of a variable; NONE where it has none or an empty one, and for other ops. */
uint32_t op_shared_name(const struct module *module, const struct op *op);

/* Whether nothing of it runs on cube or vector cores, but on the AICPU, on DMA engines or on the
 * host: said by `no_cores`, by the engine that GE has chosen (`_ge_attr_op_kernel_lib_name`), or by
 * the data of its type. What is marked as fusable runs on cores. */
bool op_has_no_cores(const struct module *module, const struct op *op);

/* What graphs do to memory of those who call them: which of their parameters they write in place,
 * and which buffers and variables they read and write, themselves or by graphs that they call. */

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
