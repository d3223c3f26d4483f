#include "passes/launches/bounds.h"

#include <string.h>

/* What somebody may lack: AICs, AIVs, and AI cores of which nothing is taken. */
enum { LACK_AICS, LACK_AIVS, LACK_GROUPS, LACKS };

enum { NOBODY = -(1 << 28) }; /* less than any sum makes up for */

/* Of a run of launches of one stream: the most that one of them holds, and the most that one of
 * them holds that lacks a block. */
struct bound {
    int32_t held[LACKS], lacking[LACKS];
};

/* Per stream a tree: leaves, from `size` on, are its stops, the first of each part having its
 * bounds; node i joins 2i and 2i + 1. */
struct tree {
    struct bound *at;
    uint32_t size;
};

struct bounds {
    const struct queue *queue;
    struct tree *trees;
};

static const struct bound nothing = {{0, 0, 0}, {NOBODY, NOBODY, NOBODY}};

static void join(struct bound *bound, const struct bound *with)
{
    for (int i = 0; i < LACKS; i++) {
        if (bound->held[i] < with->held[i])
            bound->held[i] = with->held[i];
        if (bound->lacking[i] < with->lacking[i])
            bound->lacking[i] = with->lacking[i];
    }
}

/* Of a shape: cores of a kind that a block takes, and whether it can lack them. In a device that is
 * not grouped a mixed block lacks AICs or AIVs, in one that is, an AI core. */
static void shape_bound(const struct device *device, enum block_shape shape, int32_t *takes,
                        bool *lacks)
{
    const struct shape_info *info = shape_info(shape);
    bool mixed = info->aics && info->aivs, grouped = device_is_grouped(device);
    takes[LACK_AICS] = (int32_t)info->aics;
    takes[LACK_AIVS] = (int32_t)info->aivs;
    takes[LACK_GROUPS] = 1;
    lacks[LACK_AICS] = info->aics && !(mixed && grouped);
    lacks[LACK_AIVS] = info->aivs && !(mixed && grouped);
    lacks[LACK_GROUPS] = mixed && grouped;
}

/* One that waits in the middle may hold all its blocks and never end; others end then. */
static struct bound part_bound(const struct queue *queue, const struct part *part)
{
    const struct launch_row *row = part_row(queue, part);
    int32_t takes[LACKS], blocks = row->keeps ? (int32_t)row->blocks : 1;
    bool lacks[LACKS];
    struct bound bound = nothing;
    if (row->blocks == 0)
        return nothing;
    shape_bound(&queue->table->device, row->shape, takes, lacks);
    for (int i = 0; i < LACKS; i++) {
        bound.held[i] = takes[i] * (part->waits ? blocks : blocks - 1);
        if (lacks[i])
            bound.lacking[i] = takes[i] * (blocks - 1);
    }
    return bound;
}

/* -------------------------------------------------------------------------- trees ---- */

static void set_leaf(struct bounds *bounds, uint32_t stream, uint32_t stop)
{
    struct tree *tree = &bounds->trees[stream];
    const struct part *part = queue_part(bounds->queue, stream, stop);
    tree->at[tree->size + stop] = part->first == stop ? part_bound(bounds->queue, part) : nothing;
}

static void set_node(struct tree *tree, uint32_t node)
{
    tree->at[node] = tree->at[2 * node];
    join(&tree->at[node], &tree->at[2 * node + 1]);
}

static void make_tree(struct bounds *bounds, uint32_t stream)
{
    struct tree *tree = &bounds->trees[stream];
    uint32_t count = bounds->queue->lines[stream].stops.count;
    tree->size = 1;
    while (tree->size < count)
        tree->size *= 2;
    mem_free(tree->at);
    tree->at = mem_realloc(NULL, 2 * (size_t)tree->size, sizeof *tree->at);
    for (uint32_t i = 0; i < 2 * tree->size; i++)
        tree->at[i] = nothing;
    for (uint32_t i = 0; i < count; i++)
        set_leaf(bounds, stream, i);
    for (uint32_t i = tree->size - 1; i > 0; i--)
        set_node(tree, i);
}

/* Of the parts that begin from `first` to before `end`. */
static struct bound tree_query(const struct tree *tree, uint32_t first, uint32_t end)
{
    struct bound bound = nothing;
    first += tree->size;
    end += tree->size;
    for (; first < end; first /= 2, end /= 2) {
        if (first & 1)
            join(&bound, &tree->at[first++]);
        if (end & 1)
            join(&bound, &tree->at[--end]);
    }
    return bound;
}

struct bounds *bounds_new(const struct queue *queue)
{
    struct bounds *bounds = mem_calloc(1, sizeof *bounds);
    bounds->queue = queue;
    bounds->trees = mem_calloc(queue->table->n_streams, sizeof *bounds->trees);
    for (uint32_t i = 0; i < queue->table->n_streams; i++)
        make_tree(bounds, i);
    return bounds;
}

void bounds_free(struct bounds *bounds)
{
    for (uint32_t i = 0; i < bounds->queue->table->n_streams; i++)
        mem_free(bounds->trees[i].at);
    mem_free(bounds->trees);
    mem_free(bounds);
}

void bounds_change(struct bounds *bounds, uint32_t stream, uint32_t first)
{
    struct tree *tree = &bounds->trees[stream];
    set_leaf(bounds, stream, first);
    for (uint32_t i = (tree->size + first) / 2; i > 0; i /= 2)
        set_node(tree, i);
}

/* ------------------------------------------------------------------------ harmless ---- */

/* The first stop of a line, from one on, whose part starts only when a stream has passed `stop`. */
static uint32_t first_behind(const struct queue *queue, uint32_t line, uint32_t from,
                             uint32_t stream, uint32_t stop)
{
    uint32_t first = from, end = queue->lines[line].stops.count;
    if (!queue->clocks)
        return end;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        uint32_t row = queue_part(queue, line, middle)->row;
        if (queue->clocks[(size_t)row * queue->table->n_streams + stream] <= stop)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* The most that a stream can hold from a state on until another one's launch has ended. */
static struct bound beside(const struct bounds *bounds, const uint32_t *positions, uint32_t stream,
                           const struct part *part)
{
    const struct queue *queue = bounds->queue;
    if (queue_is_over(queue, stream, positions[stream]))
        return nothing;
    uint32_t first = queue_part(queue, stream, positions[stream])->first, end = first + 1;
    if (stream != part->stream)
        end = first_behind(queue, stream, end, part->stream, part->last);
    return tree_query(&bounds->trees[stream], first, end);
}

bool bounds_harmless(const struct bounds *bounds, const uint32_t *positions, uint32_t stream)
{
    const struct queue *queue = bounds->queue;
    const struct device *device = &queue->table->device;
    const struct part *part = queue_part(queue, stream, positions[stream]);
    /* A 1:2 block lacks AIVs where one is left. */
    const int64_t limits[LACKS] = {device->aics, (int64_t)device->aivs - !device_is_grouped(device),
                                   device->aics};
    int64_t sum[LACKS] = {0}, more[LACKS] = {NOBODY, NOBODY, NOBODY};
    for (uint32_t i = 0; i < queue->table->n_streams; i++) {
        struct bound bound = beside(bounds, positions, i, part);
        for (int lack = 0; lack < LACKS; lack++) {
            int64_t rise = (int64_t)bound.lacking[lack] - bound.held[lack];
            sum[lack] += bound.held[lack];
            more[lack] = more[lack] < rise ? rise : more[lack];
        }
    }
    for (int lack = 0; lack < LACKS; lack++)
        if (sum[lack] + more[lack] >= limits[lack])
            return false;
    return true;
}
