/* The ways from the emitted source and its objects back to the program: the ops of an entry, what
 * the lines of the source are for, and of which lines a linked object's code is. */
#ifndef BACKEND_ASCEND_SOURCE_MAP_H
#define BACKEND_ASCEND_SOURCE_MAP_H

#include "backend/ascend/ascendc.h"
#include "ir/analysis/analyses.h"
#include "ir/core/module.h"
#include "ir/support/arena.h"
#include "ir/support/vec.h"

struct entry_place {
    const struct graph *graph;
    uint32_t block;
};

/* The super kernels of a module, by their entries. The module must stay as it is. */
struct entry_finder {
    const struct module *module;
    struct id_map of_entry; /* by name: index in `at` */
    VEC(struct entry_place) at;
    struct analyses analyses;
};

void entry_finder_init(struct entry_finder *finder, const struct module *module);
void entry_finder_free(struct entry_finder *finder);

/* The super kernel of an entry, or NULL. */
const struct entry_place *entry_finder_at(const struct entry_finder *finder,
                                          const struct entry *entry);

/* Whether some call starts early. */
bool entry_starts_early(const struct entry *entry);

struct entry_ops {
    const struct graph *graph; /* NULL: the entry is for no super kernel */
    uint32_t *of;              /* by group: op id, or NONE */
    uint32_t count;
};

/* Of an entry of the finder's module. */
void entry_ops_find(struct entry_ops *ops, struct entry_finder *finder, const struct entry *entry);
void entry_ops_free(struct entry_ops *ops);

/* The op of a group, or NULL. */
static inline const struct op *entry_op(const struct entry_ops *ops, uint32_t group)
{
    return group < ops->count && ops->of[group] != NONE ? &ops->graph->ops.at[ops->of[group]]
                                                        : NULL;
}

/* What the lines of the source are of: instructions, and the ops that these are between. */

/* The calls around an instruction of a program, by their indexes: itself, if it is one; the last
 * one before it, and the next one after it. NONE where there is none. */
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

/* Where functions are in a linked object, and of which lines of the source their code is. */

struct code_function {
    const char *name;
    uint64_t begin, end;
};

/* From this offset in a part of an entry on, code is of a line. */
struct code_line {
    const char *function;
    uint64_t offset;
    uint32_t line;
};

struct code_map {
    VEC(struct code_function) functions; /* by name, once code_map_link is through */
    VEC(struct code_line) lines;         /* by function and offset; one row for each change */
    struct arena arena;
};

void code_map_free(struct code_map *map);

/* Reads the lines of a part from its object; those of headers count as the line before them. A part
 * without a table that can be read has none. */
void code_map_add_part(struct code_map *map, const char *object);
/* Reads where functions are in the linked object. */
void code_map_link(struct code_map *map, const char *linked);

/* The function of a name, or NULL. */
const struct code_function *code_map_find(const struct code_map *map, const char *name);

#endif
