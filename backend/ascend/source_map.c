#include "backend/ascend/source_map.h"

#include <stdlib.h>

#include "backend/ascend/ascend.h"
#include "backend/linker/object.h"
#include "ir/core/kernel_args.h"
#include "ir/syntax/locate.h"

void entry_finder_init(struct entry_finder *finder, const struct module *module)
{
    *finder = (struct entry_finder){.module = module};
    for (uint32_t g = 0; g < module->graphs.count; g++) {
        const struct graph *graph = &module->graphs.at[g];
        for (uint32_t b = 0; b < graph->blocks.count; b++) {
            const struct block *block = &graph->blocks.at[b];
            if (block->kind != BLOCK_SUPERKERNEL)
                continue;
            uint32_t name = block_entry_name(module, block);
            if (id_map_find(&finder->of_entry, name) != NONE)
                continue;
            id_map_set(&finder->of_entry, name, finder->at.count);
            vec_push(&finder->at, (struct entry_place){graph, b});
        }
    }
}

void entry_finder_free(struct entry_finder *finder)
{
    id_map_free(&finder->of_entry);
    vec_free(&finder->at);
    analyses_drop(&finder->analyses);
}

const struct entry_place *entry_finder_at(const struct entry_finder *finder,
                                          const struct entry *entry)
{
    uint32_t place = id_map_find(&finder->of_entry, entry->name);
    return place == NONE ? NULL : &finder->at.at[place];
}

bool entry_starts_early(const struct entry *entry)
{
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++)
            if (entry->programs[core].instrs.at[i].early)
                return true;
    return false;
}

void entry_ops_find(struct entry_ops *ops, struct entry_finder *finder, const struct entry *entry)
{
    const struct entry_place *place = entry_finder_at(finder, entry);
    *ops = (struct entry_ops){.count = entry_named_groups(entry)};
    ops->of = mem_calloc(ops->count + 1, sizeof *ops->of);
    for (uint32_t i = 0; i < ops->count; i++)
        ops->of[i] = NONE;
    if (!place)
        return;
    ops->graph = place->graph;
    /* Groups are in the order that `grouped` says. */
    const struct members *members = analyses_members(&finder->analyses, finder->module, ops->graph);
    uint32_t first = members->first[place->block];
    uint32_t count = members->first[place->block + 1] - first;
    for (uint32_t i = 0; i < count && i < ops->count; i++)
        ops->of[i] = members->ops[first + members->grouped[first + i]];
}

void entry_ops_free(struct entry_ops *ops)
{
    mem_free(ops->of);
}

struct place *places_of(const struct program *program)
{
    uint32_t count = program->instrs.count, last = NONE, next = NONE;
    struct place *places = mem_calloc((size_t)count + 1, sizeof *places);
    for (uint32_t i = 0; i < count; i++) {
        bool is_call = program->instrs.at[i].op == INSTR_call;
        places[i] = (struct place){is_call ? i : NONE, last, NONE};
        last = is_call ? i : last;
    }
    for (uint32_t i = count; i-- > 0;) {
        places[i].before = next;
        next = places[i].call != NONE ? i : next;
    }
    return places;
}

struct span places_span(const struct module *module, const struct source_lines *lines,
                        uint32_t line)
{
    uint32_t end;
    bisect(end, i, lines->count, lines->at[i].line <= line);
    if (end == 0) /* it is before the first entry */
        return no_span;
    const struct source_line *at = &lines->at[end - 1];
    const struct entry *entry = &module->entries.at[at->entry];
    const struct program *program = &entry->programs[at->core];
    const struct instr *instr = &program->instrs.at[at->instr];
    struct place *places = places_of(program), place = places[at->instr];
    uint32_t call = place.call != NONE     ? place.call
                    : place.before != NONE ? place.before
                                           : place.behind;
    mem_free(places);
    if (instr->loc != NONE)
        return locate_instr(module, instr);
    if (call == NONE)
        return no_span;
    struct entry_finder finder;
    struct entry_ops ops;
    entry_finder_init(&finder, module);
    entry_ops_find(&ops, &finder, entry);
    const struct op *op = entry_op(&ops, program->instrs.at[call].number[0]);
    struct span span = op ? locate_op(module, op, OP_TYPE_NAME, 0) : no_span;
    entry_ops_free(&ops);
    entry_finder_free(&finder);
    return span;
}

void places_name(struct text *text, const struct module *module, uint32_t loc)
{
    struct source *source = module->source;
    if (!source || loc == NONE)
        return;
    source = source_at(source, &loc);
    const char *slash = strrchr(source->path, '/');
    for (const char *c = slash ? slash + 1 : source->path; *c; c++)
        text_char(text, *c > ' ' && *c != '\\' ? *c : '?');
    text_printf(text, ":%u", source_position(source, loc).line);
}

void code_map_free(struct code_map *map)
{
    vec_free(&map->functions);
    vec_free(&map->lines);
    arena_free(&map->arena);
}

/* ------------------------------------------------------------------------------ lines ---- */

static void add_line(void *user, const char *function, uint64_t offset, const char *file,
                     uint32_t line)
{
    struct code_map *map = user;
    size_t size = strlen(file), own = strlen(BUILD_SOURCE);
    if (size >= own && strcmp(file + size - own, BUILD_SOURCE) == 0)
        vec_push(&map->lines,
                 (struct code_line){arena_strndup(&map->arena, function, strlen(function)), offset,
                                    line});
}

/* By function and offset, then by line. */
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

void code_map_add_part(struct code_map *map, const char *object)
{
    struct object_file *file = object_file_read(object);
    object_file_lines(file, add_line, map);
    object_file_free(file);
    if (map->lines.count)
        qsort(map->lines.at, map->lines.count, sizeof *map->lines.at, compare_lines);
    const struct code_line *last = NULL; /* one row for each change */
    uint32_t kept = 0;
    for (uint32_t i = 0; i < map->lines.count; i++) {
        const struct code_line line = map->lines.at[i];
        if (last && last->line == line.line && strcmp(last->function, line.function) == 0)
            continue;
        last = &map->lines.at[kept];
        map->lines.at[kept++] = line;
    }
    map->lines.count = kept;
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
    struct object_file *file = object_file_read(linked);
    object_file_code(file, add_function, map);
    object_file_free(file);
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
