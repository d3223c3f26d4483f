#include "ir/syntax/instr_numbers.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

void instr_numbers_free(struct instr_numbers *numbers)
{
    for (int core = 0; core < CORE_TYPES; core++)
        vec_free(&numbers->locs[core]);
}

bool instr_is_added(const struct entry *entry, enum core_type core, uint32_t index)
{
    const struct program *program = &entry->programs[core];
    return program->loc != NONE && program->instrs.at[index].loc == NONE;
}

/* How many of the text's instructions stand before a position. */
static uint32_t count_before(const struct vec_u32 *locs, uint32_t loc)
{
    uint32_t first = 0, end = locs->count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (locs->at[middle] < loc)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

uint32_t instr_number(struct instr_numbers *numbers, enum core_type core, uint32_t index)
{
    const struct program *program = &numbers->entry->programs[core];
    struct vec_u32 *locs = &numbers->locs[core];
    if (!numbers->looked[core])
        locate_instrs(numbers->module, program, locs);
    numbers->looked[core] = true;
    if (program->loc == NONE || (locs->count == 0 && !instr_is_added(numbers->entry, core, index)))
        return index;
    while (index < program->instrs.count && program->instrs.at[index].loc == NONE)
        index++;
    return index == program->instrs.count ? locs->count
                                          : count_before(locs, program->instrs.at[index].loc);
}

const char *instr_place_text(struct instr_numbers *numbers, enum core_type core, uint32_t index,
                             const char *part, struct arena *arena)
{
    const struct instr *instr = &numbers->entry->programs[core].instrs.at[index];
    const char *text = instr_text(numbers->module, numbers->entry, instr, arena);
    uint32_t number = instr_number(numbers, core, index);
    const char *type = core_type_name(core), *of = part ? " of " : "";
    part = part ? part : "";
    if (!instr_is_added(numbers->entry, core, index))
        return arena_printf(arena, "%s instruction %u (%s%s%s)", type, number, part, of, text);
    if (number == numbers->locs[core].count)
        return arena_printf(arena, "the '%s%s%s' of a pass at the end of the %s program", part, of,
                            text, type);
    return arena_printf(arena, "the '%s%s%s' of a pass before %s instruction %u", part, of, text,
                        type, number);
}
