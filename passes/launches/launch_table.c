#include "passes/launches/launch_table.h"

#include <assert.h>

/* ------------------------------------------------------------------------- cores ---- */

const struct shape_info *shape_info(enum block_shape shape)
{
    static const struct shape_info infos[SHAPES] = {
        [SHAPE_CUBE] = {"cube", 1, 0},
        [SHAPE_VECTOR] = {"vector", 0, 1},
        [SHAPE_MIX_1_1] = {"mix 1:1", 1, 1},
        [SHAPE_MIX_1_2] = {"mix 1:2", 1, 2},
    };
    assert(shape < SHAPES);
    return &infos[shape];
}

static uint64_t held_aics(const struct held *held)
{
    return held->of[SHAPE_CUBE] + held->of[SHAPE_MIX_1_1] + held->of[SHAPE_MIX_1_2];
}

static uint64_t held_aivs(const struct held *held)
{
    return held->of[SHAPE_VECTOR] + held->of[SHAPE_MIX_1_1] + 2 * held->of[SHAPE_MIX_1_2];
}

/* Somebody may place them: vector blocks beside 1:1 blocks, or in AI cores of their own. */
bool cores_fit(const struct device *device, const struct held *held)
{
    return held_aics(held) <= device->aics && held_aivs(held) <= device->aivs;
}

/* Whether a block of the shape may find no place beside those that are held, of which vector blocks
 * are where they do most harm: one in each AI core against 1:2, two against 1:1. */
static bool is_blocked(const struct device *device, const struct held *held, enum block_shape shape)
{
    uint64_t aics = device->aics - held_aics(held), aivs = device->aivs - held_aivs(held);
    uint64_t vector = held->of[SHAPE_VECTOR];
    switch (shape) {
    case SHAPE_CUBE: return aics == 0;
    case SHAPE_VECTOR: return aivs == 0;
    case SHAPE_MIX_1_1:
        return aics == 0 || (device_is_grouped(device) ? vector >= 2 * aics : aivs == 0);
    default: return aics == 0 || (device_is_grouped(device) ? vector >= aics : aivs < 2);
    }
}

static bool all_blocked(const struct device *device, const struct held *held, unsigned shapes)
{
    for (int shape = 0; shape < SHAPES; shape++)
        if (shapes >> shape & 1 && !is_blocked(device, held, shape))
            return false;
    return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* With as many cube and vector blocks as there is room for, since each of them can only take from
 * others. False where there is no room for those that there are at least. */
static bool fill(const struct device *device, const struct held *low, const struct held *high,
                 struct held *held)
{
    held->of[SHAPE_CUBE] = held->of[SHAPE_VECTOR] = 0;
    if (!cores_fit(device, held))
        return false;
    uint64_t aics = device->aics - held_aics(held), aivs = device->aivs - held_aivs(held);
    held->of[SHAPE_CUBE] = least(high->of[SHAPE_CUBE], aics);
    held->of[SHAPE_VECTOR] = least(high->of[SHAPE_VECTOR], aivs);
    return held->of[SHAPE_CUBE] >= low->of[SHAPE_CUBE] &&
           held->of[SHAPE_VECTOR] >= low->of[SHAPE_VECTOR];
}

bool cores_can_block(const struct device *device, const struct held *low, const struct held *high,
                     unsigned shapes, struct held *found)
{
    for (uint64_t pairs = low->of[SHAPE_MIX_1_1];
         pairs <= least(high->of[SHAPE_MIX_1_1], device->aics); pairs++)
        for (uint64_t triples = low->of[SHAPE_MIX_1_2];
             triples <= least(high->of[SHAPE_MIX_1_2], device->aics); triples++) {
            struct held held = {{[SHAPE_MIX_1_1] = pairs, [SHAPE_MIX_1_2] = triples}};
            if (!fill(device, low, high, &held) || !all_blocked(device, &held, shapes))
                continue;
            *found = held;
            return true;
        }
    return false;
}

/* ------------------------------------------------------------------------- launches ---- */

void launch_table_free(struct launch_table *table)
{
    vec_free(&table->rows);
    vec_free(&table->steps);
    vec_free(&table->events);
}

struct launch_row *launch_table_add(struct launch_table *table, uint32_t stream,
                                    enum block_shape shape, uint32_t blocks)
{
    vec_push(&table->rows, (struct launch_row){.stream = stream,
                                               .shape = shape,
                                               .blocks = blocks,
                                               .steps = {table->steps.count, 0}});
    if (stream >= table->n_streams)
        table->n_streams = stream + 1;
    return &table->rows.at[table->rows.count - 1];
}

static struct launch_row *last_row(struct launch_table *table)
{
    assert(table->rows.count > 0);
    return &table->rows.at[table->rows.count - 1];
}

static void add_event(struct launch_table *table, struct range *events, uint32_t event)
{
    if (events->count++ == 0)
        events->first = table->events.count;
    assert(events->first + events->count - 1 == table->events.count);
    vec_push(&table->events, event);
    if (event >= table->n_events)
        table->n_events = event + 1;
}

void launch_table_wait(struct launch_table *table, uint32_t event)
{
    add_event(table, &last_row(table)->waits, event);
}

struct launch_step *launch_table_step(struct launch_table *table, enum step_kind kind,
                                      uint32_t event, uint32_t user)
{
    struct launch_row *row = last_row(table);
    vec_push(
        &table->steps,
        (struct launch_step){.kind = kind, .event = event, .user = user, .list = row->steps.count});
    row->steps.count++;
    row->keeps |= kind == STEP_WAIT;
    if (event >= table->n_events)
        table->n_events = event + 1;
    return &table->steps.at[table->steps.count - 1];
}

void launch_table_send(struct launch_table *table, uint32_t event)
{
    add_event(table, &last_row(table)->sends, event);
}
