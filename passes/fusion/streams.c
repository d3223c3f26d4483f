/* The stream that a super kernel is launched on. */
#include "passes/fusion/fusion_internal.h"

uint32_t fusion_same_superkernel(const struct fusion *f, const uint32_t *ops, uint32_t count)
{
    uint32_t block = f->superkernel_of[ops[0]], own = 0;
    for (uint32_t i = 0; i < count && block != NONE; i++) {
        if (!f->beside[ops[i]] && f->superkernel_of[ops[i]] != block)
            return NONE;
        own += !f->beside[ops[i]];
    }
    return block != NONE && f->sizes[block] == own ? block : NONE;
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

/* The ops of a segment. */
struct segment_ops {
    const struct fusion *f;
    const uint32_t *ops;
    uint32_t count;
};

static bool executes(const struct segment_ops *m, uint32_t i)
{
    return !m->f->beside[m->ops[i]] && !m->f->order->passive[m->ops[i]];
}

/* Whether no op that runs beside them is on a stream. */
static bool is_free(const struct segment_ops *m, uint32_t stream)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (m->f->beside[m->ops[i]] && !m->f->order->passive[m->ops[i]] &&
            m->f->order->stream[m->ops[i]] == stream)
            return false;
    return true;
}

/* Behind a collective, which would bring events with the stream of collectives: the op on the
 * stream of the lowest number that begins with another op; NONE: there is none. */
static uint32_t first_on_other(const struct segment_ops *m)
{
    const struct fusion *f = m->f;
    struct id_map met = {NULL, 0, 0}; /* by label */
    int64_t lowest = INT64_MAX;
    uint32_t found = NONE;
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t label = f->order->stream[m->ops[i]], key = label == NONE ? W_0 : label;
        if (!executes(m, i) || id_map_find(&met, key) != NONE)
            continue;
        id_map_set(&met, key, i);
        if (op_is_marked_collective(f->module, &f->graph->ops.at[m->ops[i]]))
            continue;
        int64_t number = stream_number(f, m->ops[i]);
        if (number < lowest) {
            lowest = number;
            found = m->ops[i];
        }
    }
    id_map_free(&met);
    return found;
}

/* The stream of the first op that executes something. */
static uint32_t own_stream(const struct segment_ops *m)
{
    uint32_t first = 0, other = NONE;
    while (first + 1 < m->count && !executes(m, first))
        first++;
    if (op_is_marked_collective(m->f->module, &m->f->graph->ops.at[m->ops[first]]))
        other = first_on_other(m);
    return m->f->order->stream[other != NONE ? other : m->ops[first]];
}

bool fusion_stream(const struct fusion *f, const struct segment *segment, const uint32_t *ops,
                   uint32_t *stream)
{
    struct segment_ops m = {f, ops, segment->count};
    if (segment->abreast) {
        *stream = segment->stream;
        return true;
    }
    uint32_t same = fusion_same_superkernel(f, ops, segment->count);
    if (same != NONE) {
        *stream = fusion_given_stream(f, same);
        return is_free(&m, *stream);
    }
    *stream = own_stream(&m);
    if (is_free(&m, *stream))
        return true;
    for (uint32_t i = 0; i < m.count; i++)
        if (executes(&m, i) && is_free(&m, f->order->stream[ops[i]])) {
            *stream = f->order->stream[ops[i]];
            return true;
        }
    return false;
}
