#include "passes/residency/launch_queue.h"

#include <assert.h>
#include <string.h>

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

/* ------------------------------------------------------------------------ building ---- */

enum { NOBODY = -(1 << 28) }; /* less than any sum makes up for */

/* What a launch holds and lacks. On a device that is not grouped a mixed block lacks AICs or AIVs,
 * on one that is, an AI core. A launch that waits in the middle may hold all its blocks and never
 * end; others end then. */
static struct launch_bound bound_of(const struct queue *queue, const struct part *part)
{
    const struct launch_row *row = part_row(queue, part);
    const struct shape_info *info = shape_info(row->shape);
    bool pairs = info->aics && info->aivs && device_is_grouped(&queue->table->device);
    const bool lacks[LACKS] = {info->aics && !pairs, info->aivs && !pairs, pairs};
    const int32_t takes[LACKS] = {(int32_t)info->aics, (int32_t)info->aivs, 1},
                  blocks = row->keeps ? (int32_t)row->blocks : 1;
    struct launch_bound bound = {{0}, {NOBODY, NOBODY, NOBODY}};
    for (int i = 0; i < LACKS && row->blocks; i++) {
        bound.held[i] = takes[i] * (part->waits ? blocks : blocks - 1);
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

enum { NEAR_NEEDS = 64 }; /* so many are looked through one after another */

/* Of the events that one lane sends, the last is enough. */
static void add_need(const struct queue *queue, struct part *part, uint32_t event)
{
    const struct sender *sender = &queue->senders[event];
    uint32_t count = part->needs.count;
    for (uint32_t i = count; i-- > 0 && count - i <= NEAR_NEEDS && sender->lane != NONE;) {
        const struct sender *known = &queue->senders[part->needs.at[i]];
        if (known->lane != sender->lane)
            continue;
        if (known->stop < sender->stop)
            part->needs.at[i] = event;
        return;
    }
    vec_push(&part->needs, event);
}

/* Finds what follows from the steps of a part. Before it starts it waits for what the row does, or
 * for the event at which it was cut, and for waits that were moved. */
static void find_part(const struct queue *queue, struct part *part)
{
    const struct range waits = part_row(queue, part)->waits;
    part->needs.count = part->waits = 0;
    if (part->wait != NONE)
        vec_push(&part->needs, part->wait);
    for (uint32_t i = 0; i < waits.count && part->wait == NONE; i++)
        vec_push(&part->needs, queue->table->events.at[waits.first + i]);
    for (int n = 0; n < LANES; n++) {
        part->commit[n] = part->early[n] = part->end[n];
        for (uint32_t i = part->first[n]; i < part->end[n]; i++) {
            const struct stop *stop = queue_stop(queue, queue_lane(queue, part->stream, n), i);
            if (stop->kind == STOP_NOTIFY && i < part->commit[n])
                part->commit[n] = i;
            if (stop->kind == STOP_EARLY && i < part->early[n])
                part->early[n] = i;
            part->waits += stop->kind == STOP_WAIT;
            if (stop->kind == STOP_MOVED)
                add_need(queue, part, stop->event);
        }
    }
    part->bound = bound_of(queue, part);
    part->rest.held[0] = NOBODY; /* not known yet */
}

/* From the part at a position of a stream back to the first, or until nothing changes. */
static void find_rest(struct queue *queue, uint32_t stream, uint32_t position)
{
    for (uint32_t next = position + 1; next > 0;) {
        struct part *part = queue_part(queue, stream, next - 1);
        struct launch_bound rest = part->bound;
        if (!queue_is_over(queue, stream, part->end[0] + 1))
            join(&rest, &queue_part(queue, stream, part->end[0] + 1)->rest);
        if (memcmp(&rest, &part->rest, sizeof rest) == 0)
            break;
        part->rest = rest;
        next = part->first[0];
    }
}

static void add_row(struct queue *queue, uint32_t index)
{
    const struct launch_table *table = queue->table;
    const struct launch_row *row = &table->rows.at[index];
    struct part part = {.row = index, .stream = row->stream, .wait = NONE};
    for (int n = 0; n < LANES; n++)
        part.first[n] = queue->lanes[queue_lane(queue, row->stream, n)].stops.count;
    for (uint32_t i = row->steps.first; i < row->steps.first + row->steps.count; i++) {
        const struct launch_step *step = &table->steps.at[i];
        uint32_t lane = queue_lane(queue, row->stream, step->lane);
        struct stop stop = {STOP_WAIT, step->event, queue->parts.count, i, step->after, 0};
        if (step->kind == STEP_NOTIFY) {
            stop.kind = step->early && row->blocks > 1 ? STOP_EARLY : STOP_NOTIFY;
            queue->senders[step->event] = (struct sender){lane, queue->lanes[lane].stops.count};
        }
        vec_push(&queue->lanes[lane].stops, stop);
    }
    for (int n = 0; n < LANES; n++)
        part.end[n] = queue->lanes[queue_lane(queue, row->stream, n)].stops.count;
    struct stop end = {STOP_END, NONE, queue->parts.count, NONE, part.end[1] - part.first[1], 0};
    vec_push(&queue->lanes[row->stream].stops, end);
    for (uint32_t i = row->sends.first; i < row->sends.first + row->sends.count; i++)
        queue->senders[table->events.at[i]] = (struct sender){row->stream, part.end[0]};
    find_part(queue, &part);
    vec_push(&queue->parts, part);
}

void queue_init(struct queue *queue, const struct launch_table *table)
{
    *queue = (struct queue){.table = table, .n_lanes = LANES * table->n_streams};
    queue->lanes = mem_calloc(queue->n_lanes, sizeof *queue->lanes);
    queue->senders = mem_calloc(table->n_events, sizeof *queue->senders);
    for (uint32_t i = 0; i < table->n_events; i++)
        queue->senders[i].lane = NONE;
    for (uint32_t i = 0; i < table->rows.count; i++)
        add_row(queue, i);
    for (uint32_t s = 0; s < table->n_streams; s++)
        if (queue->lanes[s].stops.count)
            find_rest(queue, s, queue->lanes[s].stops.count - 1);
}

void queue_free(struct queue *queue)
{
    for (uint32_t i = 0; i < queue->n_lanes; i++)
        vec_free(&queue->lanes[i].stops);
    for (uint32_t i = 0; i < queue->parts.count; i++)
        vec_free(&queue->parts.at[i].needs);
    vec_free(&queue->parts);
    mem_free(queue->lanes);
    mem_free(queue->senders);
}

/* ------------------------------------------------------------------------ questions ---- */

bool queue_is_sent(const struct queue *queue, const uint32_t *positions, uint32_t event)
{
    const struct sender *sender = &queue->senders[event];
    return sender->lane == NONE || positions[sender->lane] > sender->stop;
}

/* What a part that has not started lacks to start, or NONE. */
static uint32_t lacks_to_start(const struct queue *queue, const uint32_t *positions,
                               const struct part *part)
{
    for (int n = 0; n < LANES; n++)
        if (positions[queue_lane(queue, part->stream, n)] > part->first[n])
            return NONE;
    for (uint32_t i = 0; i < part->needs.count; i++)
        if (!queue_is_sent(queue, positions, part->needs.at[i]))
            return part->needs.at[i];
    return NONE;
}

bool queue_is_started(const struct queue *queue, const uint32_t *positions, const struct part *part)
{
    return lacks_to_start(queue, positions, part) == NONE;
}

const struct stop *queue_next(const struct queue *queue, const uint32_t *positions,
                              const struct part *part, int n)
{
    uint32_t lane = queue_lane(queue, part->stream, n), position = positions[lane];
    bool any = n == 0 || position < part->end[n];
    return any ? queue_stop(queue, lane, position) : NULL;
}

bool queue_is_behind(const struct queue *queue, const uint32_t *positions, const struct part *part,
                     int n)
{
    return positions[queue_lane(queue, part->stream, !n)] <
           part->first[!n] + queue_next(queue, positions, part, n)->after;
}

uint32_t queue_lacks(const struct queue *queue, const uint32_t *positions, const struct part *part,
                     int n)
{
    uint32_t lacks = lacks_to_start(queue, positions, part);
    const struct stop *stop = queue_next(queue, positions, part, n);
    if (lacks == NONE && stop->kind == STOP_WAIT && !queue_is_sent(queue, positions, stop->event))
        lacks = stop->event;
    return lacks;
}

void queue_end_part(const struct queue *queue, uint32_t *positions, const struct part *part)
{
    positions[queue_lane(queue, part->stream, 0)] = part->end[0] + 1;
    positions[queue_lane(queue, part->stream, 1)] = part->end[1];
}

/* ------------------------------------------------------------------------ wait cycles ---- */

/* Passes what events and the other lane let a stream pass. Whether that is anything. */
static bool pass_with_cores(const struct queue *queue, uint32_t *positions, uint32_t stream)
{
    bool any = false;
    for (int n = 0; n < LANES && !queue_is_over(queue, stream, positions[stream]); n++) {
        const struct part *part = queue_part(queue, stream, positions[stream]);
        if (!queue_next(queue, positions, part, n) || queue_is_behind(queue, positions, part, n) ||
            queue_lacks(queue, positions, part, n) != NONE)
            continue;
        positions[queue_lane(queue, stream, n)]++;
        any = true;
    }
    return any;
}

bool queue_has_cycle(const struct queue *queue, uint32_t *positions)
{
    bool any = true, over = true;
    memset(positions, 0, queue->n_lanes * sizeof *positions);
    while (any) {
        any = false;
        for (uint32_t s = 0; s < queue->table->n_streams; s++)
            while (pass_with_cores(queue, positions, s))
                any = true;
    }
    for (uint32_t s = 0; s < queue->table->n_streams; s++)
        over = over && queue_is_over(queue, s, positions[s]);
    return !over;
}

/* What a lane that cannot go on waits for: the lane of an event that it lacks, which `lacks` says,
 * or the other lane of its launch. */
static uint32_t next_lane(const struct queue *queue, const uint32_t *positions, uint32_t lane,
                          bool *lacks)
{
    uint32_t stream = queue_stream(queue, lane);
    int n = lane != stream;
    const struct part *part = queue_part(queue, stream, positions[stream]);
    uint32_t event = queue_lacks(queue, positions, part, n);
    *lacks = event != NONE;
    return *lacks ? queue->senders[event].lane : queue_lane(queue, stream, !n);
}

void queue_find_cycle(const struct queue *queue, const uint32_t *positions, struct vec_u32 *lanes)
{
    uint32_t lane = 0;
    bool lacks;
    while (queue_is_over(queue, lane, positions[lane]))
        lane++;
    for (uint32_t i = 0; i < queue->n_lanes; i++) /* after so many it is one of the cycle */
        lane = next_lane(queue, positions, lane, &lacks);
    uint32_t first = lane;
    do {
        uint32_t next = next_lane(queue, positions, lane, &lacks);
        if (lacks)
            vec_push(lanes, lane);
        lane = next;
    } while (lane != first);
}

/* ------------------------------------------------------------------------ dependence ---- */

/* All stops of a lane up to one are needed. `reached`: per lane, how far it is known to be needed;
 * `events` gets those that are waited for. */
static void need_lane(const struct queue *queue, uint32_t *reached, struct vec_u32 *events,
                      uint32_t lane, uint32_t last)
{
    int n = lane != queue_stream(queue, lane);
    while (reached[lane] <= last) {
        const struct stop *stop = queue_stop(queue, lane, reached[lane]);
        const struct part *part = &queue->parts.at[stop->part];
        for (uint32_t i = 0; i < part->needs.count && reached[lane] == part->first[n]; i++)
            vec_push(events, part->needs.at[i]);
        if (stop->kind == STOP_WAIT)
            vec_push(events, stop->event);
        reached[lane]++;
        if (stop->after)
            need_lane(queue, reached, events, queue_lane(queue, part->stream, !n),
                      part->first[!n] + stop->after - 1);
    }
}

enum wait_fix queue_find_fix(const struct queue *queue, const uint32_t *passed, uint32_t stream,
                             uint32_t position)
{
    const struct launch_step *steps = queue->table->steps.at;
    const struct stop *stops = queue->lanes[stream].stops.at, *wait = &stops[position];
    const struct part *part = &queue->parts.at[wait->part];
    uint32_t *reached = mem_calloc(queue->n_lanes, sizeof *reached);
    struct vec_u32 events = {NULL, 0, 0};
    enum wait_fix fix = FIX_MOVE;
    memcpy(reached, passed, queue->n_lanes * sizeof *reached);
    vec_push(&events, wait->event);
    while (events.count) {
        const struct sender *sender = &queue->senders[events.at[--events.count]];
        if (sender->lane != NONE)
            need_lane(queue, reached, &events, sender->lane, sender->stop);
    }
    if (reached[stream] > part->first[0])
        fix = FIX_CUT;
    for (uint32_t i = part->first[0]; i < reached[stream]; i++)
        if (i >= position || steps[stops[i].step].list > steps[wait->step].list)
            fix = FIX_NONE;
    vec_free(&events);
    mem_free(reached);
    return fix;
}

/* ------------------------------------------------------------------------- changing ---- */

void queue_move_wait(struct queue *queue, uint32_t stream, uint32_t position)
{
    struct stop *stops = queue->lanes[stream].stops.at, *stop = &stops[position];
    struct part *part = &queue->parts.at[stop->part];
    uint32_t first = position, last = position;
    assert(stop->kind == STOP_WAIT);
    stop->kind = STOP_MOVED;
    if (position > part->first[0] && stop[-1].kind == STOP_MOVED && stop[-1].after == stop->after)
        first = stop[-1].run;
    if (position + 1 < part->end[0] && stop[1].kind == STOP_MOVED && stop[1].after == stop->after)
        last = stop[1].run;
    stops[first].run = last;
    stops[last].run = first;
    add_need(queue, part, stop->event);
    if (--part->waits == 0) {
        part->bound = bound_of(queue, part);
        part->rest.held[0] = NOBODY; /* not known yet */
        find_rest(queue, stream, position);
    }
}

/* Puts the stops of the part that the list of the launch has after a wait there, and those that it
 * has before it before it. Returns where the wait is then. */
static uint32_t divide_list(struct queue *queue, const struct part *part, uint32_t position)
{
    const struct launch_step *steps = queue->table->steps.at;
    struct stop *stops = queue->lanes[part->stream].stops.at, wait = stops[position];
    uint32_t to = position;
    for (uint32_t i = position; i-- > part->first[0];) {
        if (steps[stops[i].step].list < steps[wait.step].list)
            continue;
        struct stop later = stops[i];
        memmove(stops + i, stops + i + 1, (to - i) * sizeof *stops);
        stops[to--] = later;
    }
    for (uint32_t i = to; i <= position; i++)
        if (stops[i].kind == STOP_NOTIFY || stops[i].kind == STOP_EARLY)
            queue->senders[stops[i].event].stop = i;
    for (uint32_t i = part->first[0]; i <= position && to < position; i++)
        stops[i].run = i;
    return to;
}

void queue_cut(struct queue *queue, uint32_t stream, uint32_t position)
{
    uint32_t id = queue_stop(queue, stream, position)->part, added = queue->parts.count;
    struct part *first = &queue->parts.at[id], second = *first;
    assert(first->first[1] == first->end[1]);
    position = divide_list(queue, first, position);
    struct stop *stops = queue->lanes[stream].stops.at;
    assert(stops[position].kind == STOP_WAIT);
    stops[position].kind = STOP_END;
    first->end[0] = position;
    second.first[0] = position + 1;
    second.wait = stops[position].event;
    second.needs = (struct vec_u32){NULL, 0, 0};
    find_part(queue, first);
    find_part(queue, &second);
    /* The half with fewer stops has the new number. */
    if (first->end[0] - first->first[0] < second.end[0] - second.first[0]) {
        struct part shorter = *first;
        *first = second;
        second = shorter;
    }
    for (uint32_t i = second.first[0]; i <= second.end[0]; i++)
        stops[i].part = added;
    vec_push(&queue->parts, second);
    find_rest(queue, stream, position + 1);
}
