#include "backend/ascend/code_map.h"
#include "backend/ascend/build.h"
#include "backend/object/object.h"

#include <stdlib.h>

void code_map_free(struct code_map *map)
{
    vec_free(&map->functions);
    vec_free(&map->lines);
    arena_free(&map->arena);
}

/* ------------------------------------------------------------------------------ lines ---- */

static bool is_source(const char *file)
{
    size_t size = strlen(file), own = strlen(BUILD_SOURCE);
    return size >= own && strcmp(file + size - own, BUILD_SOURCE) == 0;
}

static void add_line(void *user, const char *function, uint64_t offset, const char *file,
                     uint32_t line)
{
    struct code_map *map = user;
    if (is_source(file))
        vec_push(&map->lines,
                 (struct code_line){arena_strndup(&map->arena, function, strlen(function)), offset,
                                    line});
}

/* What was read first stands first among what is equal. */
static int compare_lines(const void *a, const void *b)
{
    const struct code_line *x = a, *y = b;
    int names = strcmp(x->function, y->function);
    if (names)
        return names;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static bool same_line(const struct code_line *a, const struct code_line *b)
{
    return a->line == b->line && strcmp(a->function, b->function) == 0;
}

static void sort_lines(struct code_map *map)
{
    uint32_t kept = 0;
    if (map->lines.count)
        qsort(map->lines.at, map->lines.count, sizeof *map->lines.at, compare_lines);
    for (uint32_t i = 0; i < map->lines.count; i++)
        if (kept == 0 || !same_line(&map->lines.at[kept - 1], &map->lines.at[i]))
            map->lines.at[kept++] = map->lines.at[i];
    map->lines.count = kept;
}

void code_map_add_part(struct code_map *map, const char *object)
{
    char error[512];
    object_lines(object, add_line, map, error, sizeof error);
    sort_lines(map);
}

/* -------------------------------------------------------------------------- functions ---- */

static void add_function(void *user, const char *name, uint64_t address, uint64_t size)
{
    struct code_map *map = user;
    vec_push(&map->functions, (struct code_function){arena_strndup(&map->arena, name, strlen(name)),
                                                     address, address + size});
}

static int compare_functions(const void *a, const void *b)
{
    return strcmp(((const struct code_function *)a)->name, ((const struct code_function *)b)->name);
}

void code_map_link(struct code_map *map, const char *linked)
{
    char error[512];
    object_code(linked, add_function, map, error, sizeof error);
    if (map->functions.count)
        qsort(map->functions.at, map->functions.count, sizeof *map->functions.at,
              compare_functions);
}

const struct code_function *code_map_find(const struct code_map *map, const char *name)
{
    struct code_function wanted = {.name = name};
    return map->functions.count ? bsearch(&wanted, map->functions.at, map->functions.count,
                                          sizeof wanted, compare_functions)
                                : NULL;
}
