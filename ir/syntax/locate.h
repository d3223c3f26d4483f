/* Where the parts of a construct stand. A module keeps one position per construct; the rest is
 * found by scanning the source again from there, which costs nothing until something must be
 * reported. A module that was read from another language has no more than that position: it stands
 * for all parts. */
#ifndef IR_SYNTAX_LOCATE_H
#define IR_SYNTAX_LOCATE_H

#include "ir/core/module.h"
#include "ir/core/sk_options.h"

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
/* The definition of a value: a parameter or a result. */
struct span locate_value(const struct module *module, const struct graph *graph, uint32_t value);

/* The type of a parameter, and that of a result of a graph. */
struct span locate_param_type(const struct module *module, const struct param *param);
struct span locate_graph_result(const struct module *module, const struct graph *graph,
                                uint32_t index);
/* The first word of a span that is spelt like a name, or else the span. */
struct span locate_name_in(const struct module *module, struct span span, uint32_t name);

/* A group of arguments: its name, or the word `args` where it has none. */
struct span locate_group(const struct module *module, const struct arg_group *group);
/* An element of the first list from `loc` on: of a group of arguments, an attribute or a gear. */
struct span locate_listed(const struct module *module, uint32_t loc, uint32_t index);
/* The text of an `options` attribute: the bytes between the quotes, or the whole literal where it
 * has escapes, which are longer than what they stand for. */
struct span locate_options(const struct module *module, const struct attr *attr);
/* An option in the options of a scope or super kernel: its key, or the block's name where the
 * source does not show it. */
struct span locate_option(const struct module *module, const struct block *block,
                          enum sk_option option);

/* --------------------------------------------------------------------------------- origins ---- */

/* Where the parts of a module come from: `_loc = "FILE:LINE"` on ops, blocks, graphs, parameters,
 * kernels, entries and targets. Diagnostics about such a part are about that place. */

/* Gives each diagnostic, and each of its notes, the origin of the part of the module that its
 * position is in. The text is the module's, which must outlive the printing. */
void origins_mark(const struct module *module, struct diags *diags);

/* Warns of each `_loc` of a part that is none. */
void origins_check(const struct module *module, struct diags *diags);

/* ----------------------------------------------------------------- numbers of instructions ---- */

/* The numbers by which messages name instructions: those of the text's own programs, whatever
 * passes have put between, moved or taken out since; of programs that passes have made, those they
 * have. */

/* Of one entry. Its texts are looked at when a number is asked for. */
struct instr_numbers {
    const struct module *module;
    const struct entry *entry;
    struct vec_u32 locs[CORE_TYPES]; /* of the text's instructions */
    bool looked[CORE_TYPES];
};
void instr_numbers_free(struct instr_numbers *numbers);

/* The number of an instruction of a program, by its index there; of one that a pass has added to a
 * program of the text, that of the next one. */
uint32_t instr_number(struct instr_numbers *numbers, enum core_type core, uint32_t index);

/* Whether a pass has added it to a program of the text. */
bool instr_is_added(const struct entry *entry, enum core_type core, uint32_t index);

/* "aic instruction 3 (set c2v)", or "the 'set c2v' of a pass before aic instruction 3"; `part`, or
 * NULL, is what of the instruction it is about: "(set c2v of call ...)". In the arena. */
const char *instr_place_text(struct instr_numbers *numbers, enum core_type core, uint32_t index,
                             const char *part, struct arena *arena);

#endif
