/* The numbers by which messages name instructions: those of the text's own programs, whatever
 * passes have put between, moved or taken out since; of programs that passes have made, those they
 * have. */
#ifndef IR_SYNTAX_INSTR_NUMBERS_H
#define IR_SYNTAX_INSTR_NUMBERS_H

#include "ir/module.h"

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
