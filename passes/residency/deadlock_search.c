#include "passes/residency/deadlock_search.h"

#include <string.h>

static uint32_t n_streams(const struct search *search)
{
    return search->queue->table->n_streams;
}

static size_t positions_size(const struct search *search)
{
    return search->queue->n_lanes * sizeof(uint32_t);
}

/* ------------------------------------------------------------------------- bounds ---- */

enum { NOBODY = -(1 << 28) }; /* less than any sum makes up for */

static const struct launch_bound nothing = {{0, 0, 0}, {NOBODY, NOBODY, NOBODY}};

/* Of a shape: cores of a kind that a block takes, and whether it can lack them. On a device that is
 * not grouped a mixed block lacks AICs or AIVs, on one that is, an AI core. */
static void shape_lacks(const struct device *device, enum block_shape shape, int32_t *takes,
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

static bool has_waits(const struct queue *queue, const struct part *part)
{
    for (int n = 0; n < LANES; n++) {
        uint32_t lane = queue_lane(queue, part->stream, n);
        for (uint32_t i = part->first[n]; lane != NONE && i < part->last[n];) {
            enum stop_kind kind = queue_stop(queue, lane, i)->kind;
            if (kind == STOP_WAIT)
                return true;
            i = kind == STOP_MOVED ? queue_after_moved(queue, lane, i) : i + 1;
        }
    }
    return false;
}

/* One that waits in the middle may hold all its blocks and never end; others end then. */
static struct launch_bound part_bound(const struct queue *queue, const struct part *part)
{
    const struct launch_row *row = part_row(queue, part);
    int32_t takes[LACKS], blocks = row->keeps ? (int32_t)row->blocks : 1;
    bool lacks[LACKS], waits = has_waits(queue, part);
    struct launch_bound bound = nothing;
    if (row->blocks == 0)
        return nothing;
    shape_lacks(&queue->table->device, row->shape, takes, lacks);
    for (int i = 0; i < LACKS; i++) {
        bound.held[i] = takes[i] * (waits ? blocks : blocks - 1);
        if (lacks[i])
            bound.lacking[i] = takes[i] * (blocks - 1);
    }
    return bound;
}

static void join(struct launch_bound *bound, const struct launch_bound *with)
{
    for (int i = 0; i < LACKS; i++) {
        if (bound->held[i] < with->held[i])
            bound->held[i] = with->held[i];
        if (bound->lacking[i] < with->lacking[i])
            bound->lacking[i] = with->lacking[i];
    }
}

/* From the launch of a stop back to the first of the stream, or until nothing changes: launches
 * from that of `changed` on have changed. */
static void find_bounds(struct search *search, uint32_t stream, uint32_t changed, uint32_t stop)
{
    const struct queue *queue = search->queue;
    struct launch_bound *bounds = search->bounds[stream];
    for (uint32_t first = stop + 1; first > 0;) {
        const struct part *part = queue_part(queue, stream, first - 1);
        struct launch_bound bound = part_bound(queue, part);
        join(&bound, &bounds[part->last[0] + 1]);
        first = part->first[0];
        if (first < changed && memcmp(&bound, &bounds[first], sizeof bound) == 0)
            break;
        for (uint32_t i = first; i <= part->last[0]; i++)
            bounds[i] = bound;
    }
}

/* ------------------------------------------------------------------------- launches ---- */

/* The launch of a stream that is not over, and whether it has started. */
static const struct part *part_at(const struct search *search, const uint32_t *positions,
                                  uint32_t stream)
{
    return queue_part(search->queue, stream, positions[stream]);
}

/* Whether it has all its blocks. */
static bool is_committed(const struct search *search, const uint32_t *positions,
                         const struct part *part)
{
    uint32_t second = search->queue->second[part->stream];
    return positions[part->stream] > part->commit[0] ||
           (second != NONE && positions[second] > part->commit[1]);
}

/* The blocks that a stream's launch holds for certain. */
static uint32_t least_blocks(const struct search *search, const uint32_t *positions,
                             uint32_t stream)
{
    const struct queue *queue = search->queue;
    if (queue_is_over(queue, stream, positions[stream]))
        return 0;
    const struct part *part = part_at(search, positions, stream);
    if (is_committed(search, positions, part))
        return part_row(queue, part)->blocks;
    for (int n = 0; n < LANES; n++) {
        uint32_t lane = queue_lane(queue, stream, n);
        if (lane != NONE && part->early[n] != NONE && positions[lane] > part->early[n])
            return 1;
    }
    return 0;
}

static void sum_up(struct search *search, const uint32_t *positions)
{
    struct search_sums *sums = &search->sums;
    *sums = (struct search_sums){.held = {{0}}};
    for (int i = 0; i < LACKS; i++)
        sums->rise[i][0] = sums->rise[i][1] = NOBODY;
    search->work += n_streams(search);
    for (uint32_t s = 0; s < n_streams(search); s++) {
        if (queue_is_over(search->queue, s, positions[s]))
            continue;
        const struct launch_bound *bound = &search->bounds[s][positions[s]];
        sums->held.of[part_row(search->queue, part_at(search, positions, s))->shape] +=
            least_blocks(search, positions, s);
        for (int i = 0; i < LACKS; i++) {
            int64_t rise = (int64_t)bound->lacking[i] - bound->held[i], *rises = sums->rise[i];
            sums->bound[i] += bound->held[i];
            if (rise > rises[0]) {
                rises[1] = rises[0];
                rises[0] = rise;
            } else if (rise > rises[1]) {
                rises[1] = rise;
            }
        }
    }
}

/* Whether a stream's launch can have so many blocks on cores, with what others hold for certain.
 * The sums may be of a state before this one: launches only give cores back since. */
static bool has_room(const struct search *search, const uint32_t *positions, uint32_t stream,
                     uint32_t blocks)
{
    const struct queue *queue = search->queue;
    struct held held = search->sums.held;
    uint64_t *own = &held.of[part_row(queue, part_at(search, positions, stream))->shape];
    *own += blocks - least_blocks(search, positions, stream);
    return cores_fit(&queue->table->device, &held);
}

/* Of a launch alone, with the most that other streams hold from here on. */
static bool is_harmless(const struct search *search, const uint32_t *positions, uint32_t stream)
{
    const struct queue *queue = search->queue;
    const struct device *device = &queue->table->device;
    /* A 1:2 block lacks AIVs where one is left. */
    const int64_t limits[LACKS] = {device->aics, (int64_t)device->aivs - !device_is_grouped(device),
                                   device->aics};
    struct launch_bound own = part_bound(queue, part_at(search, positions, stream));
    const struct launch_bound *all = &search->bounds[stream][positions[stream]];
    for (int i = 0; i < LACKS; i++) {
        const int64_t *rises = search->sums.rise[i];
        int64_t rise = (int64_t)own.lacking[i] - own.held[i],
                others = rises[rises[0] == (int64_t)all->lacking[i] - all->held[i]];
        int64_t sum = search->sums.bound[i] - all->held[i] + own.held[i];
        if (sum + (rise > others ? rise : others) >= limits[i])
            return false;
    }
    return true;
}

/* Whether all is sent that it waits for in the middle, from here on. */
static bool may_end(const struct search *search, const uint32_t *positions, const struct part *part)
{
    const struct queue *queue = search->queue;
    for (int n = 0; n < LANES; n++) {
        uint32_t lane = queue_lane(queue, part->stream, n);
        for (uint32_t i = lane == NONE ? 0 : positions[lane]; lane != NONE && i < part->last[n];
             i++) {
            const struct stop *stop = queue_stop(queue, lane, i);
            if (stop->kind == STOP_WAIT && !queue_is_sent(queue, positions, stop->event))
                return false;
        }
    }
    return true;
}

static void end_launch(const struct search *search, uint32_t *positions, const struct part *part)
{
    uint32_t second = search->queue->second[part->stream];
    positions[part->stream] = part->last[0] + 1;
    if (second != NONE)
        positions[second] = part->last[1] + 1;
}

/* ------------------------------------------------------------------------- progress ---- */

/* Whether a lane passes its next stop, no END, at once: that lacks nothing and takes nothing. */
static bool passes_freely(const struct search *search, const uint32_t *positions, uint32_t lane)
{
    const struct queue *queue = search->queue;
    const struct stop *stop = queue_stop(queue, lane, positions[lane]);
    if (stop->kind == STOP_END || queue_is_behind(queue, positions, lane))
        return false;
    if (stop->kind == STOP_MOVED)
        return true;
    return stop->kind == STOP_WAIT ? queue_is_sent(queue, positions, stop->event)
                                   : is_committed(search, positions, &queue->parts.at[stop->part]);
}

/* Passes what a launch that has started passes freely. Whether it ends then. */
static bool drive_launch(const struct search *search, uint32_t *positions, const struct part *part)
{
    const struct queue *queue = search->queue;
    bool any = true;
    while (any) {
        any = false;
        for (int n = 0; n < LANES; n++) {
            uint32_t lane = queue_lane(queue, part->stream, n);
            while (lane != NONE && passes_freely(search, positions, lane)) {
                uint32_t at = positions[lane];
                positions[lane] = queue_stop(queue, lane, at)->kind == STOP_MOVED
                                      ? queue_after_moved(queue, lane, at)
                                      : at + 1;
                any = true;
            }
        }
    }
    const struct launch_row *row = part_row(queue, part);
    bool last = queue_stop(queue, part->stream, positions[part->stream])->kind == STOP_END &&
                !queue_is_behind(queue, positions, part->stream);
    if (last && (row->blocks == 0 || is_committed(search, positions, part)))
        return true;
    return may_end(search, positions, part) &&
           has_room(search, positions, part->stream, row->keeps ? row->blocks : 1) &&
           is_harmless(search, positions, part->stream);
}

static bool drive_stream(struct search *search, uint32_t *positions, uint32_t stream)
{
    const struct queue *queue = search->queue;
    uint32_t second = queue->second[stream], from = positions[stream],
             from_second = second == NONE ? 0 : positions[second];
    while (!queue_is_over(queue, stream, positions[stream])) {
        const struct part *part = part_at(search, positions, stream);
        if (!queue_is_started(queue, positions, part) || !drive_launch(search, positions, part))
            break;
        end_launch(search, positions, part);
        sum_up(search, positions);
    }
    return positions[stream] != from || (second != NONE && positions[second] != from_second);
}

/* Passes all that need not be tried in several orders. */
static void drive(struct search *search, uint32_t *positions)
{
    bool any = true;
    sum_up(search, positions);
    while (any) {
        any = false;
        search->work += n_streams(search);
        for (uint32_t s = 0; s < n_streams(search); s++)
            any = drive_stream(search, positions, s) || any;
    }
}

/* Whether a lane of a launch that has started lacks nothing but cores, of a state that nothing
 * drives on. */
static bool lacks_cores(const struct search *search, const uint32_t *positions, uint32_t lane)
{
    const struct queue *queue = search->queue;
    return queue_stop(queue, lane, positions[lane])->kind != STOP_WAIT &&
           !queue_is_behind(queue, positions, lane);
}

static enum standing standing_of(const struct search *search, const uint32_t *positions,
                                 uint32_t stream, uint32_t *lane)
{
    const struct queue *queue = search->queue;
    *lane = stream;
    if (queue_is_over(queue, stream, positions[stream]))
        return STANDS_OVER;
    if (!queue_is_started(queue, positions, part_at(search, positions, stream)))
        return STANDS_BEFORE_START;
    for (int n = 0; n < LANES; n++) {
        uint32_t at = queue_lane(queue, stream, n);
        if (at == NONE)
            break;
        if (lacks_cores(search, positions, at)) {
            *lane = at;
            return STANDS_FOR_CORES;
        }
        if (queue_lacks(queue, positions, at) != NONE)
            *lane = at;
    }
    return STANDS_IN_WAIT;
}

/* ------------------------------------------------------------------------- hanging ---- */

/* The most blocks that it can hold and not go on. */
static uint32_t most_blocks(const struct launch_row *row, enum standing standing)
{
    if (standing == STANDS_IN_WAIT)
        return row->blocks;
    return standing == STANDS_FOR_CORES && row->keeps ? row->blocks - 1 : 0;
}

/* Of a state that nothing drives on: whether it hangs with cores held in some way, if one stream
 * (or NONE) holds none. */
static bool hangs(const struct search *search, const uint32_t *positions, uint32_t without,
                  struct held *held)
{
    struct held low = {{0}}, high = {{0}};
    unsigned lacking = 0;
    for (uint32_t s = 0; s < n_streams(search); s++) {
        uint32_t lane;
        enum standing standing = standing_of(search, positions, s, &lane);
        if (s == without || standing == STANDS_OVER || standing == STANDS_BEFORE_START)
            continue;
        const struct launch_row *row = part_row(search->queue, part_at(search, positions, s));
        low.of[row->shape] += least_blocks(search, positions, s);
        high.of[row->shape] += most_blocks(row, standing);
        lacking |= (unsigned)(standing == STANDS_FOR_CORES) << row->shape;
    }
    return lacking && cores_can_block(&search->queue->table->device, &low, &high, lacking, held);
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
    for (uint32_t i = 0; i < search->queue->n_lanes; i++)
        progress += positions[i];
    vec_push(&search->previous, previous);
    heap_push(&search->open, progress, id);
    search->tried++;
}

static void push_root(struct search *search, const uint32_t *positions)
{
    for (uint32_t i = 0; i < search->queue->n_lanes; i++)
        vec_push(&search->roots, positions[i]);
}

/* Forgets all states but the last root. */
static void begin_at_root(struct search *search)
{
    uint32_t n = search->queue->n_lanes, *start = mem_calloc(n, sizeof *start);
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
    if (search->states.count < KEPT_STATES)
        return id;
    begin_at_root(search);
    id = heap_pop(&search->open);
    get_state(search, id, positions);
    return id;
}

/* Lets each launch that lacks nothing but cores get what its next stop takes, one at a time. */
static void try_successors(struct search *search, uint32_t id, const uint32_t *positions,
                           uint32_t *next)
{
    const struct queue *queue = search->queue;
    for (uint32_t lane = 0; lane < queue->n_lanes; lane++) {
        uint32_t stream = queue->lanes[lane].stream, any;
        if (standing_of(search, positions, stream, &any) != STANDS_FOR_CORES ||
            !lacks_cores(search, positions, lane))
            continue;
        const struct part *part = part_at(search, positions, stream);
        const struct launch_row *row = part_row(queue, part);
        enum stop_kind kind = queue_stop(queue, lane, positions[lane])->kind;
        sum_up(search, positions);
        if ((kind == STOP_END && lane != stream) || /* both lanes pass it together */
            !has_room(search, positions, stream,
                      !row->keeps || kind == STOP_EARLY ? 1 : row->blocks))
            continue;
        memcpy(next, positions, positions_size(search));
        if (kind == STOP_END)
            end_launch(search, next, part);
        else
            next[lane]++;
        drive(search, next);
        meet(search, next, id);
    }
}

void search_init(struct search *search, struct queue *queue, uint32_t max_states, uint64_t max_work)
{
    *search = (struct search){
        .queue = queue, .max_states = max_states, .max_work = max_work, .stuck_id = NONE};
    search->bounds = mem_calloc(n_streams(search), sizeof(struct launch_bound *));
    for (uint32_t s = 0; s < n_streams(search); s++) {
        uint32_t count = queue->lanes[s].stops.count;
        search->bounds[s] = mem_calloc((size_t)count + 1, sizeof **search->bounds);
        search->bounds[s][count] = nothing;
        if (count)
            find_bounds(search, s, 0, count - 1);
    }
    search->stuck = mem_calloc(queue->n_lanes, sizeof *search->stuck);
    push_root(search, search->stuck); /* all zero */
    begin_at_root(search);
}

void search_free(struct search *search)
{
    for (uint32_t s = 0; s < n_streams(search); s++)
        mem_free(search->bounds[s]);
    mem_free(search->bounds);
    intern_free(&search->states);
    vec_free(&search->previous);
    heap_free(&search->open);
    vec_free(&search->roots);
    mem_free(search->stuck);
}

enum verdict search_run(struct search *search)
{
    enum verdict verdict = SEARCH_SAFE;
    uint32_t *positions = mem_calloc(search->queue->n_lanes, sizeof *positions),
             *next = mem_calloc(search->queue->n_lanes, sizeof *next);
    while (search->open.count && verdict == SEARCH_SAFE) {
        uint32_t id = take_open(search, positions);
        if (hangs(search, positions, NONE, &search->held)) {
            memcpy(search->stuck, positions, positions_size(search));
            search->stuck_id = id;
            verdict = SEARCH_HANGS;
        } else if (search->states.count > search->max_states || search->work > search->max_work) {
            verdict = SEARCH_UNKNOWN;
        } else {
            try_successors(search, id, positions, next);
        }
    }
    mem_free(positions);
    mem_free(next);
    return verdict;
}

uint64_t search_ways(const struct search *search)
{
    return search->states.count > search->max_states ? search->max_states : search->tried;
}

/* ------------------------------------------------------------------- the state found ---- */

enum standing search_standing(const struct search *search, uint32_t stream, uint32_t *lane)
{
    return standing_of(search, search->stuck, stream, lane);
}

void search_shares(const struct search *search, uint64_t *blocks)
{
    const struct queue *queue = search->queue;
    struct held left = search->held;
    for (uint32_t s = 0; s < n_streams(search); s++) {
        blocks[s] = least_blocks(search, search->stuck, s);
        if (blocks[s])
            left.of[part_row(queue, part_at(search, search->stuck, s))->shape] -= blocks[s];
    }
    for (uint32_t s = 0; s < n_streams(search); s++) {
        uint32_t lane;
        enum standing standing = search_standing(search, s, &lane);
        if (standing == STANDS_OVER || standing == STANDS_BEFORE_START)
            continue;
        const struct launch_row *row = part_row(queue, part_at(search, search->stuck, s));
        uint64_t more = most_blocks(row, standing) - blocks[s], *rest = &left.of[row->shape];
        more = more < *rest ? more : *rest;
        blocks[s] += more;
        *rest -= more;
    }
}

bool search_previous(const struct search *search, uint32_t *id, uint32_t *positions)
{
    uint32_t previous = search->previous.at[*id];
    if (previous == NONE)
        return false;
    *id = previous;
    get_state(search, previous, positions);
    return true;
}

/* ------------------------------------------------------------------------- changes ---- */

/* How many roots there are up to the last in which the stream has not passed the position. */
static uint32_t roots_before(const struct search *search, uint32_t stream, uint32_t position)
{
    uint32_t n = search->queue->n_lanes, i = search->roots.count / n;
    while (i > 1 && search->roots.at[(size_t)(i - 1) * n + stream] > position)
        i--;
    return i;
}

/* A launch that waits in the middle in the state found. */
struct choice {
    uint32_t stream; /* NONE: there is none */
    bool cut;
    uint32_t worth;
};

/* Best is one without which the others would go on, and then one that can wait as a whole. A wait
 * that comes first in its launch has nothing before it to cut off. */
static void offer(const struct search *search, struct choice *best, uint32_t stream)
{
    const struct queue *queue = search->queue;
    uint32_t lane;
    struct held held;
    if (search_standing(search, stream, &lane) != STANDS_IN_WAIT || queue->second[stream] != NONE)
        return;
    const struct part *part = part_at(search, search->stuck, stream);
    const struct stop *stop = queue_stop(queue, stream, search->stuck[stream]);
    if (part_row(queue, part)->sealed)
        return;
    uint32_t root = roots_before(search, stream, part->first[0]) - 1;
    const uint32_t *passed = search->roots.at + (size_t)root * queue->n_lanes;
    struct choice choice = {.stream = stream,
                            .cut = queue_depends(queue, passed, part, stop->event),
                            .worth = hangs(search, search->stuck, stream, &held) ? 1 : 3};
    choice.worth += !choice.cut;
    if (choice.worth > best->worth)
        *best = choice;
}

/* The rows of the state found, the changed one first. */
static void find_others(const struct search *search, struct fix *fix)
{
    fix->other = NONE;
    fix->others[fix->n_others++] = fix->row;
    for (uint32_t s = 0; s < n_streams(search); s++) {
        uint32_t lane;
        enum standing standing = search_standing(search, s, &lane);
        if (standing == STANDS_OVER)
            continue;
        uint32_t row = part_at(search, search->stuck, s)->row;
        if (standing == STANDS_FOR_CORES && fix->other == NONE)
            fix->other = row;
        if (row != fix->row && fix->n_others < MEND_OTHERS)
            fix->others[fix->n_others++] = row;
    }
}

/* Goes back to where the part that has the stop had not started. The part has been cut there, or
 * is the same but for a wait that has moved. */
static void search_again(struct search *search, uint32_t stream, uint32_t position, uint32_t first,
                         bool cut)
{
    struct queue *queue = search->queue;
    uint32_t last = position + !queue_is_over(queue, stream, position + 1);
    find_bounds(search, stream, cut ? first : UINT32_MAX, last);
    search->roots.count = roots_before(search, stream, first) * queue->n_lanes;
    search->stuck_id = NONE;
    begin_at_root(search);
}

/* Changes the queue as the fix says. A cut divides the list of the launch: where that has the wait
 * elsewhere, it is put there first, for another search to find whether it hangs. Returns whether
 * the fix is done. */
static bool change_queue(struct search *search, const struct fix *fix, uint32_t stream,
                         uint32_t position)
{
    struct queue *queue = search->queue;
    uint32_t first = queue_part(queue, stream, position)->first[0];
    uint32_t listed = fix->cut ? queue_restore_list(queue, stream, position) : position;
    if (fix->cut && listed == position)
        queue_cut(queue, stream, position);
    else if (!fix->cut)
        queue_move_wait(queue, stream, position);
    search_again(search, stream, position, first, fix->cut);
    return listed == position;
}

static bool fix_state(struct search *search, struct fixes *fixes)
{
    struct queue *queue = search->queue;
    struct choice best = {.stream = NONE};
    for (uint32_t s = 0; s < n_streams(search); s++)
        offer(search, &best, s);
    if (best.stream == NONE)
        return false;
    uint32_t position = search->stuck[best.stream];
    struct fix fix = {.cut = best.cut,
                      .row = queue_part(queue, best.stream, position)->row,
                      .step = queue_stop(queue, best.stream, position)->step};
    find_others(search, &fix);
    if (change_queue(search, &fix, best.stream, position))
        vec_push(fixes, fix);
    return true;
}

enum verdict search_fix(struct search *search, struct fixes *fixes)
{
    enum verdict verdict;
    do
        verdict = search_run(search);
    while (verdict == SEARCH_HANGS && fix_state(search, fixes));
    return verdict;
}
