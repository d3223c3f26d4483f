/* How the parts of a module are written in .skir. */
#ifndef IR_SYNTAX_SPELLING_H
#define IR_SYNTAX_SPELLING_H

#include "ir/core/kernel_args.h"
#include "ir/support/text.h"

/* In double quotes, with the escapes of .skir. */
void spell_quoted(struct text *text, const char *bytes, size_t size);

/* Whether a name can stand where no string can, as that of a dimension: it is neither a number to
 * the scanner nor a truth value. */
bool is_plain_word(const struct module *module, uint32_t name);

void spell_word(struct text *text, const struct module *module, uint32_t name);   /* or quoted */
void spell_value(struct text *text, const struct module *module, uint32_t name);  /* %name */
void spell_symbol(struct text *text, const struct module *module, uint32_t name); /* @name */
void spell_type(struct text *text, const struct module *module, uint32_t type);
/* `key = data`, or the key alone. */
void spell_attr(struct text *text, const struct module *module, const struct attr *attr);
/* `key = [%a, %b]`, `none` ... */
void spell_operand(struct text *text, const struct module *module, const struct graph *graph,
                   struct operand operand);
/* Of one of the entry's programs. */
void spell_instr(struct text *text, const struct module *module, const struct entry *entry,
                 const struct instr *instr);
/* An event: a word, or an integer as it was written. */
void spell_event(struct text *text, const struct module *module, uint32_t name);
/* The name of a group of arguments: a value's, or a word. */
void spell_group(struct text *text, const struct module *module, uint32_t name, bool word);
void spell_arg(struct text *text, const struct module *module, const struct entry *entry,
               const struct arg *arg);
/* As an argument of an entry. */
void spell_slot(struct text *text, const struct module *module, const struct graph *graph,
                struct slot slot);

/* The same for messages, as strings in the arena. */
const char *type_text(const struct module *module, uint32_t type, struct arena *arena);
const char *instr_text(const struct module *module, const struct entry *entry,
                       const struct instr *instr, struct arena *arena);
const char *args_name_text(const struct module *module, uint32_t name, bool word,
                           struct arena *arena);

/* How an op is named in messages: its type and its first result, "Add %sum". In the arena. */
const char *op_text(const struct module *module, const struct graph *graph, const struct op *op,
                    struct arena *arena);
/* How reports of launches name it: its type, never in quotes but with the escapes of such, and all
 * its tensors, "Add(%a, %sum)". One line. */
const char *op_call_text(const struct module *module, const struct graph *graph,
                         const struct op *op, struct arena *arena);

#endif
