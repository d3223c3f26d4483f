#include "passes/launches/explore.h"

#include <string.h>

/* ------------------------------------------------------------------------- states ---- */

static uint32_t n_streams(const struct explorer *explorer)
{
    return explorer->queue->table->n_streams;
}

static uint32_t *state_at(const struct explorer *explorer, uint32_t id)
{
    return explorer->pool.at + (size_t)id * explorer->stride;
}

static uint32_t state_count(const struct explorer *explorer)
{
    return explorer->pool.count / explorer->stride;
}

static uint32_t hash_state(const uint32_t *positions, uint32_t n)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < n; i++)
        hash = (hash ^ positions[i]) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
    return (uint32_t)(hash >> 32);
}

/* The slot of the positions, or the free one that they can have. */
static uint32_t *find_slot(struct explorer *explorer, const uint32_t *positions)
{
    uint32_t n = n_streams(explorer), mask = explorer->slots.count - 1;
    uint32_t i = hash_state(positions, n) & mask;
    while (explorer->slots.at[i] != NONE &&
           memcmp(state_at(explorer, explorer->slots.at[i]), positions, n * sizeof *positions) != 0)
        i = (i + 1) & mask;
    return &explorer->slots.at[i];
}

static void clear_slots(struct explorer *explorer, uint32_t size)
{
    struct vec_u32 *slots = &explorer->slots;
    slots->count = 0;
    vec_reserve(slots, size);
    memset(slots->at, 0xff, size * sizeof *slots->at); /* NONE */
    slots->count = size;
}

static void grow_slots(struct explorer *explorer)
{
    uint32_t count = state_count(explorer);
    if (2 * count < explorer->slots.count)
        return;
    clear_slots(explorer, 2 * explorer->slots.count);
    for (uint32_t i = 0; i < count; i++)
        *find_slot(explorer, state_at(explorer, i)) = i;
}

static uint64_t progress_of(const struct explorer *explorer, const uint32_t *positions)
{
    uint64_t progress = 0;
    for (uint32_t i = 0; i < n_streams(explorer); i++)
        progress += positions[i];
    return progress;
}

/* The heap of open states: those with the least progress first, so that ways that part meet again
 * before one of them goes on. */
static void open_push(struct explorer *explorer, uint64_t progress, uint32_t id)
{
    uint64_t item = progress << 24 | id;
    uint32_t i = explorer->open.count;
    vec_push(&explorer->open, item);
    for (; i > 0 && explorer->open.at[(i - 1) / 2] > item; i = (i - 1) / 2)
        explorer->open.at[i] = explorer->open.at[(i - 1) / 2];
    explorer->open.at[i] = item;
}

static uint32_t open_pop(struct explorer *explorer)
{
    uint64_t top = explorer->open.at[0], item = explorer->open.at[--explorer->open.count];
    uint32_t i = 0, count = explorer->open.count;
    for (uint32_t child = 1; child < count; child = 2 * i + 1) {
        child += child + 1 < count && explorer->open.at[child + 1] < explorer->open.at[child];
        if (explorer->open.at[child] >= item)
            break;
        explorer->open.at[i] = explorer->open.at[child];
        i = child;
    }
    if (count)
        explorer->open.at[i] = item;
    return (uint32_t)(top & 0xffffff);
}

/* A state that was not met before is open. */
static void meet(struct explorer *explorer, const uint32_t *positions, uint32_t before)
{
    uint32_t *slot = find_slot(explorer, positions), id = state_count(explorer);
    if (*slot != NONE)
        return;
    *slot = id;
    vec_reserve(&explorer->pool, explorer->stride);
    memcpy(explorer->pool.at + explorer->pool.count, positions,
           n_streams(explorer) * sizeof *positions);
    explorer->pool.at[explorer->pool.count + n_streams(explorer)] = before;
    explorer->pool.count += explorer->stride;
    open_push(explorer, progress_of(explorer, positions), id);
    explorer->tried++;
    grow_slots(explorer);
}

/* ------------------------------------------------------------------------- launches ---- */

enum { BOUNDS_LOOKS = 8 }; /* as much as looking at the bounds of a stream takes */

static bool is_committed(const struct part *part, uint32_t position)
{
    return position > part->commit;
}

/* The blocks that a stream's launch holds for certain. */
static uint32_t least_blocks(const struct explorer *explorer, uint32_t stream, uint32_t position)
{
    const struct queue *queue = explorer->queue;
    if (queue_is_over(queue, stream, position))
        return 0;
    const struct part *part = queue_part(queue, stream, position);
    if (is_committed(part, position))
        return part_row(queue, part)->blocks;
    return part->early != NONE && position > part->early;
}

static struct held least_held(const struct explorer *explorer, const uint32_t *positions,
                              uint32_t but)
{
    struct held held = {{0}};
    for (uint32_t i = 0; i < n_streams(explorer); i++) {
        uint32_t blocks = i == but ? 0 : least_blocks(explorer, i, positions[i]);
        if (blocks)
            held.of[part_row(explorer->queue, queue_part(explorer->queue, i, positions[i]))
                        ->shape] += blocks;
    }
    return held;
}

/* Whether a launch can have so many blocks on cores, beside what others hold for certain. */
static bool has_room(struct explorer *explorer, const uint32_t *positions, uint32_t stream,
                     const struct launch_row *row, uint32_t blocks)
{
    struct held held = least_held(explorer, positions, stream);
    held.of[row->shape] += blocks;
    explorer->looks += n_streams(explorer);
    return cores_fit(&explorer->queue->table->device, &held);
}

static bool is_started(const uint32_t *positions, uint32_t stream, const struct part *part)
{
    return positions[stream] > part->first || queue_may_start(positions, part);
}

/* Whether a stop, no MOVED, is passed at once: it lacks nothing, and takes nothing from others. */
static bool passes_freely(const struct explorer *explorer, const uint32_t *positions,
                          uint32_t stream, const struct part *part)
{
    const struct queue *queue = explorer->queue;
    const struct stop *stop = queue_stop(queue, stream, positions[stream]);
    if (part_row(queue, part)->blocks == 0)
        return true;
    if (stop->kind == STOP_WAIT)
        return queue_is_sent(queue, positions, stop->event);
    return is_committed(part, positions[stream]);
}

static bool ends_harmlessly(struct explorer *explorer, const uint32_t *positions, uint32_t stream,
                            const struct part *part)
{
    const struct launch_row *row = part_row(explorer->queue, part);
    if (!queue_may_end(explorer->queue, positions, part, positions[stream]) ||
        !has_room(explorer, positions, stream, row, row->keeps ? row->blocks : 1))
        return false;
    explorer->looks += BOUNDS_LOOKS * (uint64_t)n_streams(explorer);
    return bounds_harmless(explorer->bounds, positions, stream);
}

static bool drive_stream(struct explorer *explorer, uint32_t *positions, uint32_t stream)
{
    const struct queue *queue = explorer->queue;
    uint32_t before = positions[stream];
    while (!queue_is_over(queue, stream, positions[stream])) {
        const struct part *part = queue_part(queue, stream, positions[stream]);
        if (!is_started(positions, stream, part))
            break;
        positions[stream] =
            queue_next(queue, stream, positions[stream], is_committed(part, positions[stream]));
        if (passes_freely(explorer, positions, stream, part))
            positions[stream]++;
        else if (ends_harmlessly(explorer, positions, stream, part))
            positions[stream] = part->last + 1;
        else
            break;
    }
    return positions[stream] != before;
}

/* All that need not be tried in several ways. */
static void drive(struct explorer *explorer, uint32_t *positions)
{
    bool any = true;
    while (any) {
        any = false;
        explorer->looks += n_streams(explorer);
        for (uint32_t i = 0; i < n_streams(explorer); i++)
            any = drive_stream(explorer, positions, i) || any;
    }
}

/* ------------------------------------------------------------------------- hanging ---- */

static enum standing standing_of(const struct queue *queue, const uint32_t *positions,
                                 uint32_t stream)
{
    if (queue_is_over(queue, stream, positions[stream]))
        return STANDS_OVER;
    const struct part *part = queue_part(queue, stream, positions[stream]);
    if (!is_started(positions, stream, part))
        return STANDS_BEFORE_START;
    return queue_stop(queue, stream, positions[stream])->kind == STOP_WAIT ? STANDS_IN_WAIT
                                                                           : STANDS_FOR_CORES;
}

/* The most blocks that it can hold and not go on. */
static uint32_t most_blocks(const struct launch_row *row, enum standing standing)
{
    if (standing == STANDS_IN_WAIT)
        return row->blocks;
    return standing == STANDS_FOR_CORES && row->keeps ? row->blocks - 1 : 0;
}

/* Of a state that nothing drives on: whether it hangs with cores held in some way, those of one
 * stream left out. */
static bool hangs(const struct explorer *explorer, const uint32_t *positions, uint32_t but,
                  struct held *held)
{
    const struct queue *queue = explorer->queue;
    struct held low = {{0}}, high = {{0}};
    unsigned lacking = 0;
    for (uint32_t i = 0; i < n_streams(explorer); i++) {
        enum standing standing = standing_of(queue, positions, i);
        if (i == but || standing == STANDS_OVER || standing == STANDS_BEFORE_START)
            continue;
        const struct launch_row *row = part_row(queue, queue_part(queue, i, positions[i]));
        low.of[row->shape] += least_blocks(explorer, i, positions[i]);
        high.of[row->shape] += most_blocks(row, standing);
        lacking |= (unsigned)(standing == STANDS_FOR_CORES) << row->shape;
    }
    return lacking && cores_can_block(&queue->table->device, &low, &high, lacking, held);
}

/* ------------------------------------------------------------------------ exploring ---- */

/* Has the stream's launch, which stands for cores, get what its next stop takes, if it can. */
static bool step(struct explorer *explorer, uint32_t *positions, uint32_t stream)
{
    const struct queue *queue = explorer->queue;
    const struct part *part = queue_part(queue, stream, positions[stream]);
    const struct launch_row *row = part_row(queue, part);
    bool one = !row->keeps || queue_stop(queue, stream, positions[stream])->kind == STOP_EARLY;
    if (!has_room(explorer, positions, stream, row, one ? 1 : row->blocks))
        return false;
    positions[stream]++;
    return true;
}

static void try_ways(struct explorer *explorer, uint32_t id, uint32_t *next)
{
    uint32_t n = n_streams(explorer);
    for (uint32_t i = 0; i < n; i++) {
        if (standing_of(explorer->queue, state_at(explorer, id), i) != STANDS_FOR_CORES)
            continue;
        memcpy(next, state_at(explorer, id), n * sizeof *next);
        if (!step(explorer, next, i))
            continue;
        drive(explorer, next);
        meet(explorer, next, id);
    }
}

static void push_root(struct explorer *explorer, const uint32_t *positions)
{
    uint32_t n = n_streams(explorer);
    vec_reserve(&explorer->roots, n);
    if (n)
        memcpy(explorer->roots.at + explorer->roots.count, positions, n * sizeof *positions);
    explorer->roots.count += n;
}

/* Forgets all states but this one, which is the last root. */
static void begin_at_root(struct explorer *explorer)
{
    uint32_t n = n_streams(explorer), *start = mem_calloc(n, sizeof *start);
    assert(explorer->roots.count >= n);
    if (n)
        memcpy(start, explorer->roots.at + explorer->roots.count - n, n * sizeof *start);
    explorer->pool.count = 0;
    explorer->open.count = 0;
    clear_slots(explorer, 64);
    drive(explorer, start);
    meet(explorer, start, NONE);
    mem_free(start);
}

enum { KEPT_STATES = 1 << 12 }; /* so many may stay before the last root */

/* A state that alone is open is a root: every run comes through it. Those before it are not met
 * again, as others have more progress. */
static uint32_t take_open(struct explorer *explorer)
{
    bool alone = explorer->open.count == 1;
    uint32_t id = open_pop(explorer);
    if (!alone)
        return id;
    push_root(explorer, state_at(explorer, id));
    if (state_count(explorer) < KEPT_STATES)
        return id;
    begin_at_root(explorer);
    return open_pop(explorer);
}

void explorer_init(struct explorer *explorer, struct queue *queue, uint32_t limit)
{
    *explorer = (struct explorer){.queue = queue, .limit = limit, .found = NONE};
    explorer->stride = queue->table->n_streams + 1;
    explorer->bounds = bounds_new(queue);
    explorer->stuck = mem_calloc(queue->table->n_streams, sizeof *explorer->stuck);
    push_root(explorer, explorer->stuck); /* all zero */
    begin_at_root(explorer);
}

void explorer_free(struct explorer *explorer)
{
    bounds_free(explorer->bounds);
    vec_free(&explorer->pool);
    vec_free(&explorer->open);
    vec_free(&explorer->roots);
    vec_free(&explorer->slots);
    mem_free(explorer->stuck);
}

static bool is_stuck(struct explorer *explorer, uint32_t id)
{
    if (!hangs(explorer, state_at(explorer, id), NONE, &explorer->held))
        return false;
    memcpy(explorer->stuck, state_at(explorer, id), n_streams(explorer) * sizeof(uint32_t));
    explorer->found = id;
    return true;
}

static bool is_enough(const struct explorer *explorer)
{
    return state_count(explorer) > explorer->limit ||
           explorer->looks > (uint64_t)explorer->limit * EXPLORE_LOOKS;
}

enum verdict explorer_run(struct explorer *explorer)
{
    enum verdict verdict = LAUNCHES_SAFE;
    uint32_t *next = mem_calloc(n_streams(explorer), sizeof *next);
    while (explorer->open.count && verdict == LAUNCHES_SAFE) {
        uint32_t id = take_open(explorer);
        if (is_stuck(explorer, id))
            verdict = LAUNCHES_HANG;
        else if (is_enough(explorer))
            verdict = LAUNCHES_UNKNOWN;
        else
            try_ways(explorer, id, next);
    }
    mem_free(next);
    return verdict;
}

uint64_t explorer_ways(const struct explorer *explorer)
{
    return state_count(explorer) > explorer->limit ? explorer->limit : explorer->tried;
}

/* How many roots there are up to the last in which the stream has not passed the position. */
static uint32_t roots_before(const struct explorer *explorer, uint32_t stream, uint32_t position)
{
    uint32_t n = n_streams(explorer), i = explorer->roots.count / n;
    while (i > 1 && explorer->roots.at[(size_t)(i - 1) * n + stream] > position)
        i--;
    return i;
}

const uint32_t *explorer_root(const struct explorer *explorer, uint32_t stream, uint32_t position)
{
    uint32_t i = roots_before(explorer, stream, position);
    return explorer->roots.at + (size_t)(i - 1) * n_streams(explorer);
}

void explorer_changed(struct explorer *explorer, uint32_t stream, uint32_t position)
{
    uint32_t first = queue_part(explorer->queue, stream, position)->first;
    bounds_change(explorer->bounds, stream, first);
    if (!queue_is_over(explorer->queue, stream, position + 1))
        bounds_change(explorer->bounds, stream,
                      queue_part(explorer->queue, stream, position + 1)->first);
    explorer->roots.count = roots_before(explorer, stream, first) * n_streams(explorer);
    explorer->found = NONE;
    begin_at_root(explorer);
}

/* ------------------------------------------------------------------- the state found ---- */

enum standing explorer_standing(const struct explorer *explorer, uint32_t stream)
{
    return standing_of(explorer->queue, explorer->stuck, stream);
}

bool explorer_hangs_without(const struct explorer *explorer, uint32_t stream)
{
    struct held held;
    return hangs(explorer, explorer->stuck, stream, &held);
}

void explorer_shares(const struct explorer *explorer, uint64_t *blocks)
{
    const struct queue *queue = explorer->queue;
    struct held left = explorer->held;
    for (uint32_t i = 0; i < n_streams(explorer); i++) {
        blocks[i] = least_blocks(explorer, i, explorer->stuck[i]);
        if (blocks[i])
            left.of[part_row(queue, queue_part(queue, i, explorer->stuck[i]))->shape] -= blocks[i];
    }
    for (uint32_t i = 0; i < n_streams(explorer); i++) {
        enum standing standing = explorer_standing(explorer, i);
        if (standing == STANDS_OVER || standing == STANDS_BEFORE_START)
            continue;
        const struct launch_row *row = part_row(queue, queue_part(queue, i, explorer->stuck[i]));
        uint64_t more = most_blocks(row, standing) - blocks[i], *rest = &left.of[row->shape];
        more = more < *rest ? more : *rest;
        blocks[i] += more;
        *rest -= more;
    }
}

const uint32_t *explorer_before(const struct explorer *explorer, uint32_t *id)
{
    if (*id == NONE)
        return NULL;
    *id = state_at(explorer, *id)[n_streams(explorer)];
    return *id == NONE ? NULL : state_at(explorer, *id);
}
