/* Old forms of the language and what they become. Private to the parser. */
#ifndef IR_SYNTAX_UPGRADE_H
#define IR_SYNTAX_UPGRADE_H

#include "ir/syntax/parser.h"

/* To be called for each old form, at `span`, which the caller then makes the new one. Texts that
 * must have none are refused here. `what` says what is old, `form` how it is written. */
void upgrade_note(struct parser *parser, struct span span, const char *what, const char *form);

/* A kernel's attributes. */
void upgrade_kernel(struct parser *parser, struct range attrs);
/* A super kernel's attributes, some of which become clauses. */
void upgrade_superkernel(struct parser *parser, struct block *block);
/* Whether a name is the old spelling of the word of `size` bytes that an instruction's form has. */
bool upgrade_instr_word(struct parser *parser, struct span span, const char *word, size_t size,
                        uint32_t name);

#endif
