/* From text to module. */
#ifndef IR_SYNTAX_PARSE_H
#define IR_SYNTAX_PARSE_H

#include "ir/core/module.h"
#include "ir/syntax/scanner.h"

/* Parses a whole source into a new module, which refers to the source's text and must not outlive
 * it. Returns NULL where the text does not follow the grammar; diags says why. Names are not yet
 * checked: that is the verifier's part. `comments` may be NULL; else it receives the comments in
 * order, to be freed by the caller. */
struct module *parse_module(struct source *source, struct diags *diags, struct spans *comments);

/* Parses a text into a module that is there, behind what it has. Positions of what comes are those
 * of this text. False where it does not follow the grammar; the module then has a part of it. */
bool parse_more(struct module *module, struct source *source, struct diags *diags);

#endif
