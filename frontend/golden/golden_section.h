/* Expectations of what commands print: `//! expect ...` behind the input, and other commands. */
#ifndef FRONTEND_GOLDEN_GOLDEN_SECTION_H
#define FRONTEND_GOLDEN_GOLDEN_SECTION_H

#include "frontend/golden/golden.h"

/* Reads what stands behind the input, whose first line has the number `line`. The first command is
 * there already. False, with one line of text, where it is wrong. */
bool golden_parse_sections(struct golden *golden, const char *text, size_t size, uint32_t line,
                           char *error, size_t error_size);

/* Sets the words of a command: split at blanks outside of double quotes, which are dropped. False
 * where a quote is open, or there is no word. */
bool golden_split_words(struct golden *golden, struct golden_command *command, const char *text,
                        size_t size);

#endif
