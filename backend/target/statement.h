/* Statements of a target's source, one an instruction: templates of ir/core/instrs.def filled
 * in. */
#ifndef BACKEND_TARGET_STATEMENT_H
#define BACKEND_TARGET_STATEMENT_H

#include "ir/core/module.h"
#include "ir/support/text.h"

/* Appends a piece that the target makes; `name` is what follows '$'. False where it has no
 * piece of that name. */
typedef bool statement_piece(void *user, const char *name, size_t size);

/* Appends a template, filled in for an instruction: numbers, choices by its word or a number, and
 * the target's own pieces, which `piece` appends to the same text. False, with the rest left out,
 * where the template is wrong: a name that `piece` does not know, or a choice without the
 * alternative. */
bool statement_expand(struct text *text, const char *template, const struct instr *instr,
                      statement_piece *piece, void *user);

#endif
