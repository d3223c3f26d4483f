#include "backend/host/emit_gears.h"
#include "backend/device/symbols.h"
#include "backend/runtime/skrt.h"
#include "ir/gear_shapes.h"
#include "ir/gears.h"
#include "ir/groups.h"

#include <string.h>

enum { NO_CASE = 255, MAX_SEEDS = 1 << 14, HASH_BITS = 64 };
_Static_assert((int)GEARS_MAX_ROWS < (int)NO_CASE, "a slot is a byte");

/* The table of one graph. */
struct gears_emitter {
    struct text *text;
    const struct module *module;
    uint32_t id; /* of the graph */
    const struct graph *graph;
    struct gear_shapes shapes;
    uint8_t *slots;
    uint32_t shift; /* of a hash, for the slot: there is a power of two of them */
    uint64_t seed;
};

/* Bytes of names that are none of C's, and quotes, by their numbers. */
static void put_string(struct text *text, const struct intern_name *name)
{
    text_char(text, '"');
    for (uint32_t i = 0; i < name->size; i++) {
        unsigned char c = (unsigned char)name->text[i];
        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\' || c == '?')
            text_printf(text, "\\%03o", c);
        else
            text_char(text, (char)c);
    }
    text_char(text, '"');
}

/* ----------------------------------------------------------------------------- slots ---- */

static uint32_t count_slots(const struct gears_emitter *emitter)
{
    return 1u << (HASH_BITS - emitter->shift);
}

/* Whether no two cases have one slot with the seed. */
static bool try_seed(struct gears_emitter *emitter)
{
    uint32_t n = emitter->shapes.dims.count;
    memset(emitter->slots, NO_CASE, count_slots(emitter));
    for (uint32_t i = 0; i < emitter->graph->cases.count; i++) {
        uint64_t hash = skrt_gears_hash(gear_shapes_row(&emitter->shapes, i), n, emitter->seed);
        uint8_t *slot = &emitter->slots[hash >> emitter->shift];
        if (*slot != NO_CASE)
            return false;
        *slot = (uint8_t)i;
    }
    return true;
}

/* Shapes of all cases differ, since each gear stands in that of a parameter: a larger table always
 * gets there. */
static void find_slots(struct gears_emitter *emitter)
{
    emitter->shift = HASH_BITS - 1;
    while (count_slots(emitter) < 2 * emitter->graph->cases.count)
        emitter->shift--;
    for (bool found = false; !found; emitter->shift -= !found) {
        emitter->slots = mem_realloc(emitter->slots, count_slots(emitter), 1);
        for (emitter->seed = 1; !found && emitter->seed < MAX_SEEDS; emitter->seed += !found)
            found = try_seed(emitter);
    }
}

/* ---------------------------------------------------------------------------- tables ---- */

static void emit_dims(struct gears_emitter *emitter)
{
    struct text *text = emitter->text;
    text_printf(text, "static const struct skrt_gear_dim g%u_dims[] = {\n", emitter->id);
    for (uint32_t i = 0; i < emitter->shapes.dims.count; i++) {
        struct gear_shape_dim dim = emitter->shapes.dims.at[i];
        uint32_t name = emitter->graph->values.at[dim.param].name;
        text_printf(text, "    {%u, %u, ", dim.param, dim.dim);
        put_string(text, &emitter->module->names.names[name]);
        text_string(text, "},\n");
    }
    text_string(text, "};\n");
}

static void emit_shapes(struct gears_emitter *emitter)
{
    struct text *text = emitter->text;
    uint32_t n = emitter->shapes.dims.count;
    text_printf(text, "static const int64_t g%u_shapes[][%u] = {\n", emitter->id, n);
    for (uint32_t i = 0; i < emitter->graph->cases.count; i++) {
        text_string(text, "    {");
        for (uint32_t d = 0; d < n; d++) {
            text_string(text, d ? ", " : "");
            text_signed(text, gear_shapes_row(&emitter->shapes, i)[d]);
        }
        text_string(text, "},\n");
    }
    text_string(text, "};\n");
}

static void emit_launch(struct gears_emitter *emitter, const struct block *block)
{
    const struct module *module = emitter->module;
    const struct entry *entry = block_entry(module, block);
    const struct kernel_type_info *info = kernel_type_info(entry->type);
    text_string(emitter->text, "    {");
    put_string(emitter->text, &module->names.names[block->name]);
    text_printf(emitter->text, ", e%u, %u, %u, %u, %u, %llu},\n", entry_id(module, entry),
                (unsigned)attr_int(module, entry->attrs, W_block, 1), info->aics, info->aivs,
                entry_slots(entry),
                (unsigned long long)attr_int(module, entry->attrs, W_workspace, 0));
}

/* The launches of a case; how many there are. */
static uint32_t emit_launches(struct gears_emitter *emitter, uint32_t id)
{
    const struct graph *graph = module_graph(emitter->module, emitter->graph->cases.at[id].graph);
    uint32_t count = 0;
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        const struct block *block = &graph->blocks.at[b];
        if (block->kind != BLOCK_SUPERKERNEL || !block_entry(emitter->module, block))
            continue;
        if (count++ == 0)
            text_printf(emitter->text,
                        "static const struct skrt_gear_launch g%u_launches_%u[] = {\n", emitter->id,
                        id);
        emit_launch(emitter, block);
    }
    text_string(emitter->text, count ? "};\n" : "");
    return count;
}

/* Of the parameters of a case whose shapes are known. */
static uint64_t count_elements(const struct gears_emitter *emitter, uint32_t id)
{
    const struct module *module = emitter->module;
    const struct graph *graph = module_graph(module, emitter->graph->cases.at[id].graph);
    uint64_t all = 0, elements;
    for (uint32_t i = 0; i < graph->n_params; i++)
        if (type_elements(module, graph->values.at[i].type, &elements) &&
            __builtin_add_overflow(all, elements, &all))
            return UINT64_MAX;
    return all;
}

static void emit_cases(struct gears_emitter *emitter)
{
    struct text *text = emitter->text;
    const struct graph *graph = emitter->graph;
    uint32_t *counts = mem_calloc(graph->cases.count, sizeof *counts);
    for (uint32_t i = 0; i < graph->cases.count; i++)
        counts[i] = emit_launches(emitter, i);
    text_printf(text, "static const struct skrt_gear_case g%u_cases[] = {\n", emitter->id);
    for (uint32_t i = 0; i < graph->cases.count; i++) {
        text_printf(text, "    {g%u_shapes[%u], ", emitter->id, i);
        put_string(text, &emitter->module->names.names[graph->cases.at[i].graph]);
        text_printf(text, ", %llu", (unsigned long long)count_elements(emitter, i));
        if (counts[i])
            text_printf(text, ", %u, g%u_launches_%u},\n", counts[i], emitter->id, i);
        else
            text_string(text, ", 0, 0},\n");
    }
    text_string(text, "};\n");
    mem_free(counts);
}

/* Whoever looks up compares the shape: a slot of no case may have any. */
static void emit_slots(struct gears_emitter *emitter)
{
    text_printf(emitter->text, "static const uint8_t g%u_slots[] = {", emitter->id);
    for (uint32_t i = 0; i < count_slots(emitter); i++)
        text_printf(emitter->text, "%s%u",
                    i == 0   ? ""
                    : i % 24 ? ", "
                             : ",\n    ",
                    emitter->slots[i] == NO_CASE ? 0 : emitter->slots[i]);
    text_string(emitter->text, "};\n");
}

static void emit_table(struct gears_emitter *emitter)
{
    struct text *text = emitter->text, symbol = {NULL, 0, 0};
    device_gears_symbol(&symbol, emitter->module, emitter->id);
    text_printf(text, "extern const struct skrt_gears g%u __asm__(\"%.*s\");\n", emitter->id,
                (int)symbol.size, symbol.at);
    text_printf(text, "const struct skrt_gears g%u = {", emitter->id);
    put_string(text, &emitter->module->names.names[emitter->graph->name]);
    text_printf(text, ", %u, %u, g%u_dims, g%u_cases, %llu, %u, g%u_slots};\n",
                emitter->shapes.dims.count, emitter->graph->cases.count, emitter->id, emitter->id,
                (unsigned long long)emitter->seed, emitter->shift, emitter->id);
    text_free(&symbol);
}

static void emit_graph(struct gears_emitter *emitter)
{
    text_printf(emitter->text, "\n/* gears of graph %u */\n\n", emitter->id);
    gear_shapes_init(&emitter->shapes, emitter->module, emitter->graph);
    find_slots(emitter);
    emit_dims(emitter);
    emit_shapes(emitter);
    emit_cases(emitter);
    emit_slots(emitter);
    emit_table(emitter);
    gear_shapes_free(&emitter->shapes);
    mem_free(emitter->slots);
}

void emit_gears(struct text *text, const struct module *module)
{
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        struct gears_emitter emitter = {
            .text = text, .module = module, .id = i, .graph = &module->graphs.at[i]};
        if (emitter.graph->cases.count)
            emit_graph(&emitter);
    }
}
