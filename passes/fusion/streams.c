/* The stream that a super kernel is launched on. */
#include "passes/fusion/fusion_internal.h"

uint32_t fusion_same_superkernel(const struct fusion *f, const uint32_t *ops, uint32_t count)
{
    uint32_t block = f->superkernel_of[ops[0]];
    for (uint32_t i = 0; i < count && block != NONE; i++)
        if (f->superkernel_of[ops[i]] != block)
            return NONE;
    return block != NONE && f->sizes[block] == count ? block : NONE;
}

uint32_t fusion_given_stream(const struct fusion *f, uint32_t block)
{
    uint32_t label = attr_string(f->module, f->graph->blocks.at[block].attrs, W_stream);
    return label == NONE ? NONE : stream_label(label);
}

/* The number of the stream that an op is on: what assign-streams has written down, or else would if
 * no block said one. */
static int64_t stream_number(const struct fusion *f, uint32_t op)
{
    const struct graph *graph = f->graph;
    uint32_t label = f->order->stream[op];
    int64_t number = 0;
    struct id_map met = {NULL, 0, 0};
    for (uint32_t i = 0; i < graph->blocks.count && label != NONE; i++) {
        const struct block *block = &graph->blocks.at[i];
        if (block->kind != BLOCK_STREAM || block->name == W_0)
            continue;
        number += id_map_find(&met, block->name) == NONE;
        id_map_set(&met, block->name, i);
        if (block->name != label)
            continue;
        number = attr_int(f->module, block->attrs, W_id, number);
        break;
    }
    id_map_free(&met);
    return number;
}

/* After a collective, which would bring events with the stream of collectives: the op on the stream
 * of the lowest number that begins with another op; NONE: there is none. */
static uint32_t first_on_other(const struct fusion *f, const uint32_t *ops, uint32_t count)
{
    struct id_map met = {NULL, 0, 0}; /* by label */
    int64_t lowest = INT64_MAX;
    uint32_t found = NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t label = f->order->stream[ops[i]], key = label == NONE ? W_0 : label;
        if (f->order->passive[ops[i]] || id_map_find(&met, key) != NONE)
            continue;
        id_map_set(&met, key, i);
        if (op_is_marked_collective(f->module, &f->graph->ops.at[ops[i]]))
            continue;
        int64_t number = stream_number(f, ops[i]);
        if (number < lowest) {
            lowest = number;
            found = ops[i];
        }
    }
    id_map_free(&met);
    return found;
}

uint32_t fusion_stream(const struct fusion *f, const uint32_t *ops, uint32_t count)
{
    uint32_t same = fusion_same_superkernel(f, ops, count), first = 0, other = NONE;
    if (same != NONE)
        return fusion_given_stream(f, same);
    while (first + 1 < count && f->order->passive[ops[first]])
        first++;
    if (op_is_marked_collective(f->module, &f->graph->ops.at[ops[first]]))
        other = first_on_other(f, ops, count);
    return f->order->stream[other != NONE ? other : ops[first]];
}
