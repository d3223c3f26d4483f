/* Where the parts of a construct stand. A module keeps one position per construct; the rest is
 * found by scanning the source again from there, which costs nothing until something must be
 * reported. A module that was read from another language has no more than that position: it stands
 * for all parts. */
#ifndef IR_SYNTAX_LOCATE_H
#define IR_SYNTAX_LOCATE_H

#include "ir/sk_options.h"

enum op_part {
    OP_RESULT,
    OP_TYPE_NAME,
    OP_OPERAND, /* the n-th value of the operands */
    OP_PLACE,   /* the n-th operand, without its label */
    OP_LABEL,   /* its label */
    OP_RESULT_TYPE,
    OP_KERNEL,
    OP_AFTER,
    OP_SEND,
    OP_RECV,
    OP_WHOLE, /* from the first to the last token */
};

/* All give {0, 0} where the construct has no position or the source does not show the part. */
struct span locate_op(const struct module *module, const struct op *op, enum op_part part,
                      uint32_t index);
/* An event of a super kernel's clause, OP_SEND or OP_RECV; its name where it has no such event. */
struct span locate_block_event(const struct module *module, const struct block *block,
                               enum op_part part, uint32_t index);
/* An event of a clause of an op or a super kernel. */
struct event_side;
struct span locate_event_side(const struct module *module, const struct graph *graph,
                              const struct event_side *side, enum op_part part);
struct span locate_return(const struct module *module, const struct graph *graph, uint32_t index);
/* The token at `loc`. */
struct span locate_token(const struct module *module, uint32_t loc);
/* The first symbol or string at or behind `loc`: the name of a kernel, block, target ... */
struct span locate_name(const struct module *module, uint32_t loc);
struct span locate_instr(const struct module *module, const struct instr *instr);
/* Adds the positions of all instructions that the text has in a program. */
void locate_instrs(const struct module *module, const struct program *program,
                   struct vec_u32 *locs);
/* The definition of a value: a parameter or a result. */
struct span locate_value(const struct module *module, const struct graph *graph, uint32_t value);

/* The type of a parameter, and that of a result of a graph. */
struct span locate_param_type(const struct module *module, const struct param *param);
struct span locate_graph_result(const struct module *module, const struct graph *graph,
                                uint32_t index);
/* The first word of a span that is spelt like a name, or else the span. */
struct span locate_name_in(const struct module *module, struct span span, uint32_t name);

/* A group of arguments: its name, or the word `args` where it has none; and one of them. */
struct span locate_group(const struct module *module, const struct arg_group *group);
struct span locate_arg(const struct module *module, const struct arg_group *group, uint32_t index);

/* An element of an attribute that is a list. */
struct span locate_element(const struct module *module, const struct attr *attr, uint32_t index);

/* A value of a gear. */
struct span locate_gear_value(const struct module *module, const struct gear *gear, uint32_t index);

/* The text of an `options` attribute: the bytes between the quotes, or the whole literal where it
 * has escapes, which are longer than what they stand for. */
struct span locate_options(const struct module *module, const struct attr *attr);
/* An option in the options of a scope or super kernel: its key, or the block's name where the
 * source does not show it. */
struct span locate_option(const struct module *module, const struct block *block,
                          enum sk_option option);

#endif
