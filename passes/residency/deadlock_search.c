#include "passes/residency/deadlock_search.h"

#include <string.h>

static uint32_t n_streams(const struct search *search)
{
    return search->queue.table->n_streams;
}

static size_t positions_size(const struct search *search)
{
    return search->queue.n_lanes * sizeof(uint32_t);
}

/* ------------------------------------------------------------------------- cores ---- */

/* The launch of a stream that is not over; NULL: it is. */
static const struct part *part_at(const struct queue *queue, const uint32_t *positions,
                                  uint32_t stream)
{
    uint32_t position = positions[stream];
    return queue_is_over(queue, stream, position) ? NULL : queue_part(queue, stream, position);
}

/* Whether a launch has passed one of these stops, given by lane. */
static bool has_passed(const struct queue *queue, const uint32_t *positions,
                       const struct part *part, const uint32_t *stops)
{
    return positions[part->stream] > stops[0] ||
           positions[queue_lane(queue, part->stream, 1)] > stops[1];
}

/* The blocks that a launch holds for certain. */
static uint32_t least_blocks(const struct queue *queue, const uint32_t *positions,
                             const struct part *part)
{
    if (has_passed(queue, positions, part, part->commit))
        return part_row(queue, part)->blocks;
    return has_passed(queue, positions, part, part->early);
}

/* Whether a launch can have so many blocks on cores, with what others hold for certain. */
static bool has_room(struct search *search, const uint32_t *positions, const struct part *part,
                     uint32_t blocks)
{
    const struct queue *queue = &search->queue;
    struct held held = {{0}};
    search->work += n_streams(search);
    for (uint32_t s = 0; s < n_streams(search); s++) {
        const struct part *other = part_at(queue, positions, s);
        if (other)
            held.of[part_row(queue, other)->shape] +=
                other == part ? blocks : least_blocks(queue, positions, other);
    }
    return cores_fit(&queue->table->device, &held);
}

/* Whether everybody finds cores beside a launch: whoever lacks a block, all others hold the most
 * that they hold from here on, and it alone what it holds. */
static bool is_harmless(struct search *search, const uint32_t *positions, const struct part *part)
{
    const struct queue *queue = &search->queue;
    const struct device *device = &queue->table->device;
    /* A 1:2 block lacks AIVs where one is left. */
    const int64_t limits[LACKS] = {device->aics, (int64_t)device->aivs - !device_is_grouped(device),
                                   device->aics};
    int64_t sum[LACKS] = {0}, rise[LACKS] = {INT32_MIN, INT32_MIN, INT32_MIN};
    search->work += n_streams(search);
    for (uint32_t s = 0; s < n_streams(search); s++) {
        const struct part *other = part_at(queue, positions, s);
        if (!other)
            continue;
        const struct launch_bound *bound = other == part ? &part->bound : &other->rest;
        for (int i = 0; i < LACKS; i++) {
            int64_t more = (int64_t)bound->lacking[i] - bound->held[i];
            sum[i] += bound->held[i];
            rise[i] = more > rise[i] ? more : rise[i];
        }
    }
    for (int i = 0; i < LACKS; i++)
        if (sum[i] + rise[i] >= limits[i])
            return false;
    return true;
}

/* ------------------------------------------------------------------------- progress ---- */

/* Whether all is sent that a launch waits for in the middle, from here on. */
static bool may_end(const struct queue *queue, const uint32_t *positions, const struct part *part)
{
    for (int n = 0; n < LANES; n++) {
        uint32_t lane = queue_lane(queue, part->stream, n);
        for (uint32_t i = positions[lane]; i < part->end[n]; i++) {
            const struct stop *stop = queue_stop(queue, lane, i);
            if (stop->kind == STOP_WAIT && !queue_is_sent(queue, positions, stop->event))
                return false;
        }
    }
    return true;
}

/* Whether the next stop of a launch's lane, no END, is passed at once: it lacks nothing and takes
 * nothing. */
static bool passes_freely(const struct queue *queue, const uint32_t *positions,
                          const struct part *part, int n)
{
    const struct stop *stop = queue_next(queue, positions, part, n);
    if (!stop || stop->kind == STOP_END || queue_is_behind(queue, positions, part, n))
        return false;
    if (stop->kind == STOP_WAIT)
        return queue_is_sent(queue, positions, stop->event);
    return stop->kind == STOP_MOVED || has_passed(queue, positions, part, part->commit);
}

/* Passes what a launch that has started passes freely. Whether it ends then. */
static bool drive_launch(struct search *search, uint32_t *positions, const struct part *part)
{
    const struct queue *queue = &search->queue;
    const struct launch_row *row = part_row(queue, part);
    for (bool any = true; any;) {
        any = false;
        for (int n = 0; n < LANES; n++)
            for (; passes_freely(queue, positions, part, n); any = true) {
                uint32_t lane = queue_lane(queue, part->stream, n);
                positions[lane] = queue_after(queue, lane, positions[lane]);
            }
    }
    if (positions[part->stream] == part->end[0] && !queue_is_behind(queue, positions, part, 0) &&
        (row->blocks == 0 || has_passed(queue, positions, part, part->commit)))
        return true;
    return may_end(queue, positions, part) &&
           has_room(search, positions, part, row->keeps ? row->blocks : 1) &&
           is_harmless(search, positions, part);
}

/* Passes all that need not be tried in several orders. */
static void drive(struct search *search, uint32_t *positions)
{
    const struct queue *queue = &search->queue;
    for (bool any = true; any;) {
        any = false;
        search->work += n_streams(search);
        for (uint32_t s = 0; s < n_streams(search); s++) {
            uint32_t second = queue_lane(queue, s, 1);
            uint64_t from = (uint64_t)positions[s] + positions[second];
            const struct part *part;
            while ((part = part_at(queue, positions, s)) &&
                   queue_is_started(queue, positions, part) &&
                   drive_launch(search, positions, part))
                queue_end_part(queue, positions, part);
            any = any || (uint64_t)positions[s] + positions[second] > from;
        }
    }
}

/* Whether a lane of a launch that has started lacks nothing but cores, of a state that nothing
 * drives on. */
static bool lacks_cores(const struct queue *queue, const uint32_t *positions,
                        const struct part *part, int n)
{
    const struct stop *stop = queue_next(queue, positions, part, n);
    return stop && stop->kind != STOP_WAIT && !queue_is_behind(queue, positions, part, n);
}

static enum block_reason reason_of(const struct queue *queue, const uint32_t *positions,
                                   uint32_t stream, int *lane)
{
    const struct part *part = part_at(queue, positions, stream);
    *lane = 0;
    if (!part)
        return STREAM_OVER;
    if (!queue_is_started(queue, positions, part))
        return BEFORE_START;
    for (int n = 0; n < LANES && queue_next(queue, positions, part, n); n++) {
        if (lacks_cores(queue, positions, part, n)) {
            *lane = n;
            return LACKS_CORES;
        }
        if (queue_lacks(queue, positions, part, n) != NONE)
            *lane = n;
    }
    return IN_WAIT;
}

/* ------------------------------------------------------------------------- hanging ---- */

/* The most blocks that a launch can hold and not go on. */
static uint32_t most_blocks(const struct launch_row *row, enum block_reason reason)
{
    if (reason == IN_WAIT)
        return row->blocks;
    return reason == LACKS_CORES && row->keeps ? row->blocks - 1 : 0;
}

/* Of a state that nothing drives on: whether it hangs with cores held in some way, if one stream
 * (or NONE) holds none. */
static bool hangs(const struct search *search, const uint32_t *positions, uint32_t without,
                  struct held *held)
{
    const struct queue *queue = &search->queue;
    struct held low = {{0}}, high = {{0}};
    unsigned lacking = 0;
    for (uint32_t s = 0; s < n_streams(search); s++) {
        int lane;
        enum block_reason reason = reason_of(queue, positions, s, &lane);
        if (s == without || reason == STREAM_OVER || reason == BEFORE_START)
            continue;
        const struct part *part = part_at(queue, positions, s);
        const struct launch_row *row = part_row(queue, part);
        low.of[row->shape] += least_blocks(queue, positions, part);
        high.of[row->shape] += most_blocks(row, reason);
        lacking |= (unsigned)(reason == LACKS_CORES) << row->shape;
    }
    return lacking && cores_can_block(&queue->table->device, &low, &high, lacking, held);
}

/* ------------------------------------------------------------------------- states ---- */

static void get_state(const struct search *search, uint32_t id, uint32_t *positions)
{
    memcpy(positions, search->states.names[id].text, positions_size(search));
}

/* A state that was not met before is open. */
static void meet(struct search *search, const uint32_t *positions, uint32_t previous)
{
    uint32_t progress = 0, known = search->states.count,
             id = intern_copy(&search->states, (const char *)positions, positions_size(search));
    if (id < known)
        return;
    for (uint32_t i = 0; i < search->queue.n_lanes; i++)
        progress += positions[i];
    vec_push(&search->previous, previous);
    heap_push(&search->open, progress, id);
    search->tried++;
}

static void push_root(struct search *search, const uint32_t *positions)
{
    for (uint32_t i = 0; i < search->queue.n_lanes; i++)
        vec_push(&search->roots, positions[i]);
}

/* Forgets all states but the last root. */
static void begin_at_root(struct search *search)
{
    uint32_t n = search->queue.n_lanes, *start = mem_calloc(n, sizeof *start);
    assert(search->roots.count >= n);
    if (n)
        memcpy(start, search->roots.at + search->roots.count - n, positions_size(search));
    intern_free(&search->states);
    search->states = (struct intern){0};
    search->previous.count = 0;
    search->open.count = 0;
    drive(search, start);
    meet(search, start, NONE);
    mem_free(start);
}

enum { KEPT_STATES = 1 << 12 }; /* so many are remembered from before the last root */

static uint32_t take_open(struct search *search, uint32_t *positions)
{
    bool alone = search->open.count == 1;
    uint32_t id = heap_pop(&search->open);
    get_state(search, id, positions);
    if (!alone)
        return id;
    push_root(search, positions);
    if (search->states.count >= KEPT_STATES) {
        begin_at_root(search);
        id = heap_pop(&search->open);
        get_state(search, id, positions);
    }
    return id;
}

/* Lets each launch that lacks nothing but cores get what its next stop takes, one at a time. */
static void try_successors(struct search *search, uint32_t id, const uint32_t *positions,
                           uint32_t *next)
{
    const struct queue *queue = &search->queue;
    for (uint32_t lane = 0; lane < queue->n_lanes; lane++) {
        uint32_t stream = queue_stream(queue, lane);
        int any, n = lane != stream;
        const struct part *part = part_at(queue, positions, stream);
        if (reason_of(queue, positions, stream, &any) != LACKS_CORES ||
            !lacks_cores(queue, positions, part, n))
            continue;
        const struct launch_row *row = part_row(queue, part);
        enum stop_kind kind = queue_next(queue, positions, part, n)->kind;
        if (!has_room(search, positions, part, !row->keeps || kind == STOP_EARLY ? 1 : row->blocks))
            continue;
        memcpy(next, positions, positions_size(search));
        next[lane]++;
        drive(search, next);
        meet(search, next, id);
    }
}

void search_init(struct search *search, const struct launch_table *table, uint32_t max_states,
                 uint64_t max_work)
{
    *search = (struct search){.max_states = max_states, .max_work = max_work, .stuck_id = NONE};
    queue_init(&search->queue, table);
    search->stuck = mem_calloc(search->queue.n_lanes, sizeof *search->stuck);
    push_root(search, search->stuck); /* all zero */
    if (queue_has_cycle(&search->queue, search->stuck))
        search->verdict = SEARCH_CYCLE;
    else
        begin_at_root(search);
}

void search_free(struct search *search)
{
    intern_free(&search->states);
    vec_free(&search->previous);
    heap_free(&search->open);
    vec_free(&search->roots);
    mem_free(search->stuck);
    queue_free(&search->queue);
}

enum verdict search_run(struct search *search)
{
    uint32_t *positions = mem_calloc(search->queue.n_lanes, sizeof *positions),
             *next = mem_calloc(search->queue.n_lanes, sizeof *next);
    while (search->open.count && search->verdict == SEARCH_SAFE) {
        uint32_t id = take_open(search, positions);
        if (hangs(search, positions, NONE, &search->held)) {
            memcpy(search->stuck, positions, positions_size(search));
            search->stuck_id = id;
            search->verdict = SEARCH_HANGS;
        } else if (search->states.count > search->max_states || search->work > search->max_work) {
            search->verdict = SEARCH_UNKNOWN;
        } else {
            try_successors(search, id, positions, next);
        }
    }
    mem_free(positions);
    mem_free(next);
    return search->verdict;
}

uint64_t search_ways(const struct search *search)
{
    return search->states.count > search->max_states ? search->max_states : search->tried;
}

/* ------------------------------------------------------------------- the state found ---- */

const struct part *search_part(const struct search *search, uint32_t stream)
{
    return part_at(&search->queue, search->stuck, stream);
}

enum block_reason search_reason(const struct search *search, uint32_t stream, int *n)
{
    return reason_of(&search->queue, search->stuck, stream, n);
}

void search_shares(const struct search *search, uint64_t *blocks)
{
    const struct queue *queue = &search->queue;
    struct held left = search->held;
    for (uint32_t s = 0; s < n_streams(search); s++) {
        const struct part *part = search_part(search, s);
        blocks[s] = part ? least_blocks(queue, search->stuck, part) : 0;
        if (blocks[s])
            left.of[part_row(queue, part)->shape] -= blocks[s];
    }
    for (uint32_t s = 0; s < n_streams(search); s++) {
        int lane;
        enum block_reason reason = search_reason(search, s, &lane);
        if (reason == STREAM_OVER || reason == BEFORE_START)
            continue;
        const struct launch_row *row = part_row(queue, search_part(search, s));
        uint64_t more = most_blocks(row, reason) - blocks[s], *rest = &left.of[row->shape];
        more = more < *rest ? more : *rest;
        blocks[s] += more;
        *rest -= more;
    }
}

void search_way(const struct search *search, uint32_t most, struct vec_u32 *states)
{
    uint32_t n = search->queue.n_lanes, count = 0;
    for (uint32_t id = search->stuck_id; id != NONE && count < most; id = search->previous.at[id])
        for (uint32_t i = 0; i < n; i++)
            vec_push(states, ((const uint32_t *)search->states.names[id].text)[i]);
}

/* ------------------------------------------------------------------------- changes ---- */

/* How many roots there are up to the last in which the stream has not passed the position. */
static uint32_t roots_before(const struct search *search, uint32_t stream, uint32_t position)
{
    uint32_t n = search->queue.n_lanes, i = search->roots.count / n;
    while (i > 1 && search->roots.at[(size_t)(i - 1) * n + stream] > position)
        i--;
    return i;
}

/* The best launch to change of those that wait in the middle in the state found, or NONE, and
 * whether it must be cut: best is one without which the others would go on, and then one that can
 * wait as a whole. */
static uint32_t choose_stream(const struct search *search, bool *cut)
{
    const struct queue *queue = &search->queue;
    uint32_t best = NONE, best_worth = 0;
    for (uint32_t s = 0; s < n_streams(search); s++) {
        int lane;
        struct held held;
        const struct part *part = search_part(search, s);
        if (search_reason(search, s, &lane) != IN_WAIT || part->first[1] < part->end[1] ||
            part_row(queue, part)->sealed)
            continue;
        uint32_t root = roots_before(search, s, part->first[0]) - 1;
        enum wait_fix fix = queue_find_fix(queue, search->roots.at + (size_t)root * queue->n_lanes,
                                           s, search->stuck[s]);
        if (fix == FIX_NONE)
            continue;
        uint32_t worth = (hangs(search, search->stuck, s, &held) ? 1 : 3) + (fix == FIX_MOVE);
        if (worth <= best_worth)
            continue;
        best = s;
        best_worth = worth;
        *cut = fix == FIX_CUT;
    }
    return best;
}

/* The rows of the state found, the changed one first. */
static void find_rows(const struct search *search, struct fix *fix)
{
    fix->other = NONE;
    fix->rows[fix->n_rows++] = fix->row;
    for (uint32_t s = 0; s < n_streams(search); s++) {
        int lane;
        enum block_reason reason = search_reason(search, s, &lane);
        if (reason == STREAM_OVER)
            continue;
        uint32_t row = search_part(search, s)->row;
        if (reason == LACKS_CORES && fix->other == NONE)
            fix->other = row;
        if (row != fix->row && fix->n_rows < FIX_ROWS)
            fix->rows[fix->n_rows++] = row;
    }
}

enum verdict search_fix(struct search *search, struct fixes *fixes)
{
    struct queue *queue = &search->queue;
    for (;;) {
        struct fix fix = {.n_rows = 0};
        enum verdict verdict = search_run(search);
        uint32_t stream = verdict == SEARCH_HANGS ? choose_stream(search, &fix.cut) : NONE;
        if (stream == NONE)
            return verdict;
        uint32_t position = search->stuck[stream];
        const struct part *part = search_part(search, stream);
        fix.row = part->row;
        fix.step = queue_stop(queue, stream, position)->step;
        find_rows(search, &fix);
        vec_push(fixes, fix);
        search->roots.count = roots_before(search, stream, part->first[0]) * queue->n_lanes;
        if (fix.cut)
            queue_cut(queue, stream, position);
        else
            queue_move_wait(queue, stream, position);
        begin_at_root(search);
        search->verdict = SEARCH_SAFE;
    }
}
