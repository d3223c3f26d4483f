#include "backend/ascend/meta_places.h"
#include "backend/ascend/places.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

#include <stdlib.h>

/* -------------------------------------------------------------------------------- ops ---- */

/* The number of the launch's op whose call has a group of arguments: ops stand in their order. */
static uint32_t op_of(const struct launch_info *info, uint32_t group)
{
    const struct arg_group *wanted = &info->entry->groups.at[group];
    uint32_t low;
    bisect(low, i, info->ops.count, info->ops.at[i].group < wanted);
    return low;
}

static void put_op(struct info_json *out, const struct launch_info *info,
                   const struct entry_ops *ops, const struct launch_op *launched)
{
    const struct op *op = entry_op(ops, (uint32_t)(launched->group - info->entry->groups.at));
    struct arena arena = {NULL, 0};
    struct text text = {NULL, 0, 0};
    if (op)
        text_string(&text, op_call_text(out->module, ops->graph, op, &arena));
    else
        spell_group(&text, out->module, launched->group->name, launched->group->word);
    json_open_object(&out->json);
    json_add_bytes(&out->json, "text", text.at, text.size);
    text.size = 0;
    places_name(&text, out->module, op ? op->loc : launched->group->loc);
    if (text.size)
        json_add_bytes(&out->json, "at", text.at, text.size);
    json_close_object(&out->json);
    text_free(&text);
    arena_free(&arena);
}

static void put_ops(struct info_json *out, const struct launch_info *info)
{
    struct entry_ops ops;
    entry_ops_find(&ops, &out->finder, info->entry);
    json_key(&out->json, "ops");
    json_open_array(&out->json);
    for (uint32_t i = 0; i < info->ops.count; i++)
        put_op(out, info, &ops, &info->ops.at[i]);
    json_close_array(&out->json);
    entry_ops_free(&ops);
}

/* ------------------------------------------------------------------------ instructions ---- */

static void put_call(struct info_json *out, const struct launch_info *info, const char *key,
                     const struct program *program, uint32_t call)
{
    if (call != NONE)
        json_add_unsigned(&out->json, key, op_of(info, program->instrs.at[call].number[0]));
}

static void put_instr(struct info_json *out, const struct launch_info *info,
                      const struct source_line *line, struct place place)
{
    const struct program *program = &info->entry->programs[line->core];
    struct text text = {NULL, 0, 0};
    json_open_object(&out->json);
    json_add_string(&out->json, "core", core_type_name(line->core));
    json_add_unsigned(&out->json, "line", line->line);
    spell_instr(&text, out->module, info->entry, &program->instrs.at[line->instr]);
    json_add_bytes(&out->json, "text", text.at, text.size);
    put_call(out, info, "op", program, place.call);
    if (place.call == NONE) {
        put_call(out, info, "behind", program, place.behind);
        put_call(out, info, "before", program, place.before);
    }
    json_close_object(&out->json);
    text_free(&text);
}

/* The first line of an entry: lines stand in the order of the entries. */
static uint32_t first_line(const struct source_lines *lines, uint32_t entry)
{
    uint32_t low;
    bisect(low, i, lines->count, lines->at[i].entry < entry);
    return low;
}

static void put_instrs(struct info_json *out, const struct launch_info *info,
                       const struct source_lines *lines)
{
    uint32_t entry = entry_id(out->module, info->entry);
    struct place *places[CORE_TYPES];
    for (int core = 0; core < CORE_TYPES; core++)
        places[core] = places_of(&info->entry->programs[core]);
    json_key(&out->json, "instructions");
    json_open_array(&out->json);
    for (uint32_t i = first_line(lines, entry); i < lines->count && lines->at[i].entry == entry;
         i++)
        put_instr(out, info, &lines->at[i], places[lines->at[i].core][lines->at[i].instr]);
    json_close_array(&out->json);
    for (int core = 0; core < CORE_TYPES; core++)
        mem_free(places[core]);
}

/* -------------------------------------------------------------------------------- code ---- */

/* A piece of code: a part of the entry, or a function of a kernel. */
struct piece {
    const struct code_function *function;
    const struct kernel *kernel; /* NULL: a part of the entry */
    enum core_type core;
    uint32_t copy;
};

struct pieces {
    struct piece *at;
    uint32_t count, capacity;
};

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->function != y->function)
        return x->function->begin < y->function->begin ? -1 : 1;
    return (x->kernel > y->kernel) - (x->kernel < y->kernel);
}

static void add_piece(struct pieces *pieces, const struct code_map *code, struct text *symbol,
                      struct piece piece)
{
    text_char(symbol, '\0');
    piece.function = code_map_find(code, symbol->at);
    symbol->size = 0;
    if (piece.function)
        vec_push(pieces, piece);
}

static void find_kernel(struct info_json *out, struct pieces *pieces, const struct code_map *code,
                        const struct kernel *kernel, uint32_t copies)
{
    struct text symbol = {NULL, 0, 0};
    struct kernel_part part;
    for (uint32_t i = 0; i < kernel_parts(out->module, kernel); i++) {
        if (!kernel_part_at(out->module, kernel, i, &part) || part.function == NONE)
            continue;
        for (uint32_t copy = 0; copy < copies; copy++) {
            symbols_add_function(&out->symbols, &symbol, kernel, part.function, copy);
            add_piece(pieces, code, &symbol, (struct piece){NULL, kernel, part.core, copy});
        }
    }
    text_free(&symbol);
}

/* By their places; kernels and ops that share a function are one piece of it. */
static void sort_pieces(struct pieces *pieces)
{
    uint32_t kept = 0;
    if (pieces->count)
        qsort(pieces->at, pieces->count, sizeof *pieces->at, compare_pieces);
    for (uint32_t i = 0; i < pieces->count; i++)
        if (kept == 0 || pieces->at[kept - 1].function != pieces->at[i].function)
            pieces->at[kept++] = pieces->at[i];
    pieces->count = kept;
}

static void find_pieces(struct info_json *out, struct pieces *pieces,
                        const struct launch_info *info, const struct code_map *code)
{
    struct text symbol = {NULL, 0, 0};
    for (int core = 0; core < CORE_TYPES; core++) {
        if (!kernel_type_has(info->entry->type, (enum core_type)core))
            continue;
        entry_part_symbol(&symbol, out->module, info->entry, (enum core_type)core);
        add_piece(pieces, code, &symbol, (struct piece){NULL, NULL, (enum core_type)core, 0});
    }
    for (uint32_t i = 0; i < info->ops.count; i++)
        find_kernel(out, pieces, code, info->ops.at[i].kernel, launch_info_copies(info));
    sort_pieces(pieces);
    text_free(&symbol);
}

/* Pairs of an offset in the function and a line. */
static void put_lines(struct info_json *out, const struct code_map *code, const char *function)
{
    json_key(&out->json, "lines");
    json_open_array(&out->json);
    for (uint32_t i = 0; i < code->lines.count; i++) {
        if (strcmp(code->lines.at[i].function, function) != 0)
            continue;
        json_open_array(&out->json);
        json_unsigned(&out->json, code->lines.at[i].offset);
        json_unsigned(&out->json, code->lines.at[i].line);
        json_close_array(&out->json);
    }
    json_close_array(&out->json);
}

/* The ops whose kernel has the function. */
static void put_callers(struct info_json *out, const struct launch_info *info,
                        const struct piece *piece)
{
    uint32_t owner = symbols_owner(&out->symbols, piece->kernel);
    json_add_unsigned(&out->json, "copy", piece->copy);
    json_key(&out->json, "ops");
    json_open_array(&out->json);
    for (uint32_t i = 0; i < info->ops.count; i++)
        if (info->ops.at[i].kernel == piece->kernel ||
            (symbols_owner(&out->symbols, info->ops.at[i].kernel) == owner &&
             kernel_function(out->module, info->ops.at[i].kernel, piece->core) ==
                 kernel_function(out->module, piece->kernel, piece->core)))
            json_unsigned(&out->json, i);
    json_close_array(&out->json);
}

static void put_piece(struct info_json *out, const struct launch_info *info,
                      const struct code_map *code, const struct piece *piece)
{
    json_open_object(&out->json);
    json_add_unsigned(&out->json, "begin", piece->function->begin);
    json_add_unsigned(&out->json, "end", piece->function->end);
    json_add_string(&out->json, "core", core_type_name(piece->core));
    json_add_string(&out->json, "function", piece->function->name);
    if (piece->kernel)
        put_callers(out, info, piece);
    else
        put_lines(out, code, piece->function->name);
    json_close_object(&out->json);
}

static void put_code(struct info_json *out, const struct launch_info *info,
                     const struct code_map *code)
{
    struct pieces pieces = {NULL, 0, 0};
    json_key(&out->json, "code");
    if (!code) {
        json_null(&out->json);
        return;
    }
    find_pieces(out, &pieces, info, code);
    json_open_array(&out->json);
    for (uint32_t i = 0; i < pieces.count; i++)
        put_piece(out, info, code, &pieces.at[i]);
    json_close_array(&out->json);
    vec_free(&pieces);
}

void meta_places_add(struct info_json *out, const struct launch_info *info,
                     const struct meta_object *object)
{
    json_key(&out->json, "skir");
    json_open_object(&out->json);
    json_add_unsigned(&out->json, "source_lines", object->lines->in_source);
    put_ops(out, info);
    put_instrs(out, info, object->lines);
    put_code(out, info, object->code);
    json_close_object(&out->json);
}
