#include "backend/device/gears_table.h"
#include "ir/core/kernel_args.h"
#include "ir/shapes/gears.h"

#include <string.h>

enum { NO_CASE = 255, MAX_SEEDS = 1 << 14, HASH_BITS = 64 };
_Static_assert((int)GEARS_MAX_ROWS < (int)NO_CASE, "a slot is a byte");

uint32_t gears_table_param(const struct gears_table *table, struct gear_shape_dim dim)
{
    return table->graph->values.at[dim.param].name;
}

/* ----------------------------------------------------------------------------- slots ---- */

/* Whether no two cases have one slot with the seed. */
static bool try_seed(struct gears_table *table)
{
    uint32_t n = table->row.n_dims;
    memset(table->slots, NO_CASE, table->n_slots);
    for (uint32_t i = 0; i < table->graph->cases.count; i++) {
        uint64_t hash = skrt_gears_hash(gear_shapes_row(&table->shapes, i), n, table->row.seed);
        uint8_t *slot = &table->slots[hash >> table->row.shift];
        if (*slot != NO_CASE)
            return false;
        *slot = (uint8_t)i;
    }
    return true;
}

static bool try_seeds(struct gears_table *table)
{
    table->slots = mem_realloc(table->slots, table->n_slots, 1);
    for (table->row.seed = 1; table->row.seed < MAX_SEEDS; table->row.seed++)
        if (try_seed(table))
            return true;
    return false;
}

/* Shapes of all cases differ, since each gear stands in that of a parameter: a larger table always
 * gets there. With an eighth of the square of their number, one seed in fifty is enough or better.
 * Whoever looks up compares the shape: a slot of no case may have any. */
static void find_slots(struct gears_table *table)
{
    uint32_t count = table->graph->cases.count;
    table->row.shift = HASH_BITS - 1;
    table->n_slots = 2;
    while (table->n_slots < 2 * count || table->n_slots < count * count / 8 || !try_seeds(table)) {
        table->n_slots *= 2;
        table->row.shift--;
    }
    for (uint32_t i = 0; i < table->n_slots; i++)
        if (table->slots[i] == NO_CASE)
            table->slots[i] = 0;
}

/* ----------------------------------------------------------------------------- cases ---- */

static void add_launch(struct gears_table *table, const struct block *block)
{
    const struct module *module = table->module;
    const struct entry *entry = block_entry(module, block);
    const struct kernel_type_info *info = kernel_type_info(entry->type);
    const struct skrt_gear_launch row = {
        .blocks = (uint32_t)attr_int(module, entry->attrs, W_block, 1),
        .aics = info->aics,
        .aivs = info->aivs,
        .n_params = entry_slots(entry),
        .workspace = (uint64_t)attr_int(module, entry->attrs, W_workspace, 0),
    };
    vec_push(&table->launches, (struct gears_launch){block->name, entry_id(module, entry), row});
}

static void find_launches(struct gears_table *table, struct gears_case *row,
                          const struct graph *graph)
{
    row->launches.first = table->launches.count;
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        const struct block *block = &graph->blocks.at[b];
        if (block->kind == BLOCK_SUPERKERNEL && block_entry(table->module, block))
            add_launch(table, block);
    }
    row->launches.count = table->launches.count - row->launches.first;
    row->row.n_launches = row->launches.count;
}

/* Of the parameters of a case whose shapes are known. */
static uint64_t count_elements(const struct module *module, const struct graph *graph)
{
    uint64_t all = 0, elements;
    for (uint32_t i = 0; i < graph->n_params; i++)
        if (type_elements(module, graph->values.at[i].type, &elements) &&
            __builtin_add_overflow(all, elements, &all))
            return UINT64_MAX;
    return all;
}

static void find_cases(struct gears_table *table)
{
    uint32_t count = table->graph->cases.count;
    table->cases = mem_calloc(count, sizeof *table->cases);
    for (uint32_t i = 0; i < count; i++) {
        struct gears_case *row = &table->cases[i];
        row->name = table->graph->cases.at[i].graph;
        const struct graph *graph = module_graph(table->module, row->name);
        row->row.elements = count_elements(table->module, graph);
        find_launches(table, row, graph);
    }
    table->row.n_cases = count;
}

void gears_table_make(struct gears_table *table, const struct module *module,
                      const struct graph *graph)
{
    *table = (struct gears_table){.module = module, .graph = graph};
    gear_shapes_init(&table->shapes, module, graph);
    table->row.n_dims = table->shapes.dims.count;
    find_slots(table);
    find_cases(table);
}

void gears_table_free(struct gears_table *table)
{
    gear_shapes_free(&table->shapes);
    vec_free(&table->launches);
    mem_free(table->cases);
    mem_free(table->slots);
}
