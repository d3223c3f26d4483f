/* Where functions are in a linked object, and of which lines of the source their code is. */
#ifndef BACKEND_ASCEND_CODE_MAP_H
#define BACKEND_ASCEND_CODE_MAP_H

#include "ir/base/arena.h"
#include "ir/base/vec.h"
#include "ir/module.h"

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
