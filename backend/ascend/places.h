/* What the lines of the source are of: instructions, and the ops that these stand between. */
#ifndef BACKEND_ASCEND_PLACES_H
#define BACKEND_ASCEND_PLACES_H

#include "backend/ascend/ascendc.h"

/* The instruction that a line of the source belongs to; NULL for those before the first entry. */
const struct source_line *places_line(const struct source_lines *lines, uint32_t line);

/* The calls around an instruction of a program, by their indexes: itself, if it is one; the last
 * one before it, and the next one behind it. NONE where there is none. */
struct place {
    uint32_t call, behind, before;
};
/* Of all instructions, by their indexes; released with mem_free. */
struct place *places_of(const struct program *program);

/* Where in the program's text what a line of the source does is written: the instruction, or else
 * the op that it is for. */
struct span places_span(const struct module *module, const struct source_lines *lines,
                        uint32_t line);

/* Appends the name of the file and the line of an element of the program: "decode.skir:12". Nothing
 * where it has no place. */
void places_name(struct text *text, const struct module *module, uint32_t loc);

#endif
