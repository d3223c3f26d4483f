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

/* Of a launch of one block, that is all its blocks. */
static enum stop_kind stop_of_step(const struct launch_step *step, const struct launch_row *row)
{
    if (step->kind == STEP_WAIT)
        return STOP_WAIT;
    return step->early && row->blocks > 1 ? STOP_EARLY : STOP_NOTIFY;
}

static void find_second_lanes(struct queue *queue)
{
    const struct launch_table *table = queue->table;
    queue->second = mem_calloc(table->n_streams, sizeof *queue->second);
    memset(queue->second, 0xff, table->n_streams * sizeof *queue->second); /* NONE */
    queue->n_lanes = table->n_streams;
    for (uint32_t i = 0; i < table->rows.count; i++) {
        const struct launch_row *row = &table->rows.at[i];
        for (uint32_t k = 0; k < row->steps.count; k++)
            if (table->steps.at[row->steps.first + k].lane && queue->second[row->stream] == NONE)
                queue->second[row->stream] = queue->n_lanes++;
    }
    queue->lanes = mem_calloc(queue->n_lanes, sizeof *queue->lanes);
    for (uint32_t s = 0; s < table->n_streams; s++) {
        queue->lanes[s].stream = s;
        if (queue->second[s] != NONE)
            queue->lanes[queue->second[s]].stream = s;
    }
}

static void add_stop(struct queue *queue, uint32_t lane, struct stop stop)
{
    struct lane *to = &queue->lanes[lane];
    if (stop.kind == STOP_NOTIFY || stop.kind == STOP_EARLY)
        queue->senders[stop.event] = (struct sender){lane, to->stops.count};
    vec_push(&to->stops, stop);
}

/* The first stop of the part in its n-th lane that has this kind, or `otherwise`. */
static uint32_t first_of_kind(const struct queue *queue, const struct part *part, int n,
                              enum stop_kind kind, uint32_t otherwise)
{
    const struct lane *lane = &queue->lanes[queue_lane(queue, part->stream, n)];
    for (uint32_t i = part->first[n]; i <= part->last[n]; i++)
        if (lane->stops.at[i].kind == kind)
            return i;
    return otherwise;
}

static void find_commits(const struct queue *queue, struct part *part)
{
    for (int n = 0; n < LANES; n++) {
        part->commit[n] = part->early[n] = NONE;
        if (queue_lane(queue, part->stream, n) == NONE)
            continue;
        part->commit[n] = first_of_kind(queue, part, n, STOP_NOTIFY, part->last[n]);
        part->early[n] = first_of_kind(queue, part, n, STOP_EARLY, NONE);
    }
}

/* All that it waits for before it starts: what the row does, or the wait at which it was cut, and
 * waits that were moved. */
static void find_needs(const struct queue *queue, struct part *part)
{
    const struct launch_row *row = part_row(queue, part);
    const struct lane *lane = &queue->lanes[part->stream];
    part->needs.count = 0;
    if (part->wait != NONE)
        vec_push(&part->needs, part->wait);
    for (uint32_t i = 0; i < row->waits.count && part->wait == NONE; i++)
        vec_push(&part->needs, queue->table->events.at[row->waits.first + i]);
    if (part->order != NONE)
        vec_push(&part->needs, part->order);
    for (uint32_t i = part->first[0]; i <= part->last[0]; i++)
        if (lane->stops.at[i].kind == STOP_MOVED)
            vec_push(&part->needs, lane->stops.at[i].event);
}

static void add_row(struct queue *queue, uint32_t index)
{
    const struct launch_table *table = queue->table;
    const struct launch_row *row = &table->rows.at[index];
    uint32_t id = queue->parts.count, lanes[LANES] = {row->stream, queue->second[row->stream]};
    struct part part = {.row = index, .stream = row->stream, .wait = NONE, .order = NONE};
    for (int n = 0; n < LANES && lanes[n] != NONE; n++)
        part.first[n] = queue->lanes[lanes[n]].stops.count;
    for (uint32_t i = 0; i < row->steps.count; i++) {
        const struct launch_step *step = &table->steps.at[row->steps.first + i];
        struct stop stop = {stop_of_step(step, row), step->event, id,
                            row->steps.first + i,    step->after, 0};
        add_stop(queue, lanes[step->lane], stop);
    }
    for (int n = 0; n < LANES && lanes[n] != NONE; n++) {
        part.last[n] = queue->lanes[lanes[n]].stops.count;
        add_stop(queue, lanes[n], (struct stop){STOP_END, NONE, id, NONE, 0, 0});
    }
    for (uint32_t i = 0; i < row->sends.count; i++)
        queue->senders[table->events.at[row->sends.first + i]] =
            (struct sender){row->stream, part.last[0]};
    find_commits(queue, &part);
    find_needs(queue, &part);
    vec_push(&queue->parts, part);
}

void queue_init(struct queue *queue, const struct launch_table *table)
{
    *queue = (struct queue){.table = table};
    queue->senders = mem_realloc(NULL, (size_t)table->n_events + 1, sizeof *queue->senders);
    for (uint32_t i = 0; i <= table->n_events; i++) /* one for queue_add_order */
        queue->senders[i] = (struct sender){NONE, 0};
    find_second_lanes(queue);
    for (uint32_t i = 0; i < table->rows.count; i++)
        add_row(queue, i);
}

void queue_add_order(struct queue *queue, uint32_t first, uint32_t second)
{
    struct part *from = &queue->parts.at[first], *to = &queue->parts.at[second];
    queue->senders[queue->table->n_events] = (struct sender){from->stream, from->last[0]};
    to->order = queue->table->n_events;
    vec_push(&to->needs, to->order);
}

void queue_free(struct queue *queue)
{
    for (uint32_t i = 0; i < queue->n_lanes; i++)
        vec_free(&queue->lanes[i].stops);
    for (uint32_t i = 0; i < queue->parts.count; i++)
        vec_free(&queue->parts.at[i].needs);
    vec_free(&queue->parts);
    mem_free(queue->lanes);
    mem_free(queue->second);
    mem_free(queue->senders);
}

/* ------------------------------------------------------------------------ questions ---- */

bool queue_is_sent(const struct queue *queue, const uint32_t *positions, uint32_t event)
{
    const struct sender *sender = &queue->senders[event];
    return sender->lane == NONE || positions[sender->lane] > sender->stop;
}

bool queue_is_started(const struct queue *queue, const uint32_t *positions, const struct part *part)
{
    for (int n = 0; n < LANES; n++) {
        uint32_t lane = queue_lane(queue, part->stream, n);
        if (lane != NONE && positions[lane] > part->first[n])
            return true;
    }
    for (uint32_t i = part->needs.count; i-- > 0;) /* mostly, the last is sent last */
        if (!queue_is_sent(queue, positions, part->needs.at[i]))
            return false;
    return true;
}

bool queue_is_behind(const struct queue *queue, const uint32_t *positions, uint32_t lane)
{
    const struct stop *stop = queue_stop(queue, lane, positions[lane]);
    const struct part *part = &queue->parts.at[stop->part];
    int other = lane == part->stream;
    uint32_t to = queue_lane(queue, part->stream, other);
    if (to == NONE)
        return false;
    return positions[to] <
           (stop->kind == STOP_END ? part->last[other] : part->first[other] + stop->after);
}

uint32_t queue_lacks(const struct queue *queue, const uint32_t *positions, uint32_t lane)
{
    const struct stop *stop = queue_stop(queue, lane, positions[lane]);
    const struct part *part = &queue->parts.at[stop->part];
    if (!queue_is_started(queue, positions, part))
        for (uint32_t i = 0; i < part->needs.count; i++)
            if (!queue_is_sent(queue, positions, part->needs.at[i]))
                return part->needs.at[i];
    bool waits = stop->kind == STOP_WAIT && !queue_is_sent(queue, positions, stop->event);
    return waits ? stop->event : NONE;
}

/* ------------------------------------------------------------------------ wait cycles ---- */

/* Passes the next stop of a lane if events and the other lane let it. */
static bool pass_with_cores(const struct queue *queue, uint32_t *positions, uint32_t lane)
{
    if (queue_is_over(queue, lane, positions[lane]) ||
        queue_lacks(queue, positions, lane) != NONE || queue_is_behind(queue, positions, lane))
        return false;
    uint32_t stream = queue->lanes[lane].stream;
    bool end = queue_stop(queue, lane, positions[lane])->kind == STOP_END;
    if (end && queue->second[stream] != NONE) {
        positions[stream]++;
        positions[queue->second[stream]]++;
    } else {
        positions[lane]++;
    }
    return true;
}

bool queue_has_cycle(const struct queue *queue, uint32_t *positions)
{
    bool any = true, over = true;
    memset(positions, 0, queue->n_lanes * sizeof *positions);
    while (any) {
        any = false;
        for (uint32_t lane = 0; lane < queue->n_lanes; lane++)
            while (pass_with_cores(queue, positions, lane))
                any = true;
    }
    for (uint32_t lane = 0; lane < queue->n_lanes; lane++)
        over = over && queue_is_over(queue, lane, positions[lane]);
    return !over;
}

/* The lane that a lane which cannot go on waits for. */
static uint32_t next_lane(const struct queue *queue, const uint32_t *positions, uint32_t lane)
{
    uint32_t event = queue_lacks(queue, positions, lane), stream = queue->lanes[lane].stream;
    if (event != NONE)
        return queue->senders[event].lane;
    return lane == stream ? queue->second[stream] : stream;
}

void queue_find_cycle(const struct queue *queue, const uint32_t *positions, struct vec_u32 *lanes)
{
    uint32_t lane = 0;
    while (queue_is_over(queue, lane, positions[lane]))
        lane++;
    for (uint32_t i = 0; i < queue->n_lanes; i++) /* after so many it is one of the cycle */
        lane = next_lane(queue, positions, lane);
    uint32_t first = lane;
    do {
        if (queue_lacks(queue, positions, lane) != NONE)
            vec_push(lanes, lane);
        lane = next_lane(queue, positions, lane);
    } while (lane != first);
}

/* ------------------------------------------------------------------------ dependence ---- */

/* Backwards from an event over all that must be passed before it is sent. */
struct dependence {
    const struct queue *queue;
    const uint32_t *passed; /* what need not be looked at */
    uint32_t *reached;      /* per lane: how far it is known to be needed */
    struct vec_u32 events;
};

static void need_stop(struct dependence *d, uint32_t lane, uint32_t stop);

/* All stops of a lane up to one are needed. */
static void need_lane(struct dependence *d, uint32_t lane, uint32_t stop)
{
    uint32_t from = d->reached[lane];
    if (from > stop)
        return;
    d->reached[lane] = stop + 1;
    for (uint32_t i = from; i <= stop; i++)
        need_stop(d, lane, i);
}

static void need_stop(struct dependence *d, uint32_t lane, uint32_t at)
{
    const struct stop *stop = queue_stop(d->queue, lane, at);
    const struct part *part = &d->queue->parts.at[stop->part];
    int n = lane != part->stream;
    uint32_t other = queue_lane(d->queue, part->stream, !n);
    for (uint32_t i = 0; i < part->needs.count && at == part->first[n]; i++)
        vec_push(&d->events, part->needs.at[i]);
    if (stop->kind == STOP_WAIT)
        vec_push(&d->events, stop->event);
    if (other != NONE && stop->kind == STOP_END)
        need_lane(d, other, part->last[!n]);
    else if (other != NONE && stop->after)
        need_lane(d, other, part->first[!n] + stop->after - 1);
}

bool queue_depends(const struct queue *queue, const uint32_t *passed, const struct part *part,
                   uint32_t event)
{
    struct dependence d = {.queue = queue, .passed = passed};
    size_t size = queue->n_lanes * sizeof *passed;
    d.reached = mem_calloc(queue->n_lanes, sizeof *d.reached);
    memcpy(d.reached, passed, size);
    vec_push(&d.events, event);
    while (d.events.count && d.reached[part->stream] <= part->first[0]) {
        const struct sender *sender = &queue->senders[d.events.at[--d.events.count]];
        if (sender->lane != NONE)
            need_lane(&d, sender->lane, sender->stop);
    }
    bool depends = d.reached[part->stream] > part->first[0];
    vec_free(&d.events);
    mem_free(d.reached);
    return depends;
}

/* ------------------------------------------------------------------------- changing ---- */

enum { NEAR_NEEDS = 64 }; /* so many are looked through one after another */

/* Of the events that one lane sends, the last is enough. */
static void add_need(const struct queue *queue, struct part *part, uint32_t event)
{
    const struct sender *sender = &queue->senders[event];
    uint32_t count = part->needs.count;
    for (uint32_t i = count; i-- > 0 && count - i <= NEAR_NEEDS;) {
        const struct sender *known = &queue->senders[part->needs.at[i]];
        if (known->lane != sender->lane || known->lane == NONE)
            continue;
        if (known->stop < sender->stop)
            part->needs.at[i] = event;
        return;
    }
    vec_push(&part->needs, event);
}

void queue_move_wait(struct queue *queue, uint32_t stream, uint32_t position)
{
    struct stop *stops = queue->lanes[stream].stops.at;
    struct part *part = &queue->parts.at[stops[position].part];
    uint32_t first = position, last = position;
    assert(stops[position].kind == STOP_WAIT);
    stops[position].kind = STOP_MOVED;
    if (position > part->first[0] && stops[position - 1].kind == STOP_MOVED)
        first = stops[position - 1].run;
    if (position < part->last[0] && stops[position + 1].kind == STOP_MOVED)
        last = stops[position + 1].run;
    stops[first].run = last;
    stops[last].run = first;
    add_need(queue, part, stops[position].event);
}

static uint32_t list_place(const struct queue *queue, const struct stop *stop)
{
    return queue->table->steps.at[stop->step].list;
}

/* Says of all stops of the part again where they are. */
static void place_stops(struct queue *queue, struct part *part)
{
    struct stop *stops = queue->lanes[part->stream].stops.at;
    for (uint32_t i = part->first[0]; i < part->last[0]; i++) {
        if (stops[i].kind == STOP_NOTIFY || stops[i].kind == STOP_EARLY)
            queue->senders[stops[i].event].stop = i;
        if (stops[i].kind != STOP_MOVED)
            continue;
        bool alone = i == part->first[0] || stops[i - 1].kind != STOP_MOVED;
        uint32_t first = alone ? i : stops[i - 1].run;
        stops[i].run = first;
        stops[first].run = i;
    }
    find_commits(queue, part);
}

uint32_t queue_restore_list(struct queue *queue, uint32_t stream, uint32_t position)
{
    struct stop *stops = queue->lanes[stream].stops.at;
    struct part *part = queue_part(queue, stream, position);
    uint32_t place = list_place(queue, &stops[position]), to = position;
    for (uint32_t i = position; i-- > part->first[0];) {
        if (list_place(queue, &stops[i]) < place)
            continue;
        struct stop later = stops[i];
        memmove(stops + i, stops + i + 1, (to - i) * sizeof *stops);
        stops[to--] = later;
    }
    if (to < position)
        place_stops(queue, part);
    return to;
}

/* The half with fewer stops has a new number. */
void queue_cut(struct queue *queue, uint32_t stream, uint32_t position)
{
    struct lane *lane = &queue->lanes[stream];
    struct stop *stop = &lane->stops.at[position];
    uint32_t id = stop->part, added = queue->parts.count;
    struct part *first = &queue->parts.at[id], second = *first;
    assert(stop->kind == STOP_WAIT && position < first->last[0]);
    assert(queue->second[stream] == NONE);
    stop->kind = STOP_END;
    first->last[0] = position;
    second.first[0] = position + 1;
    second.wait = stop->event;
    second.needs = (struct vec_u32){NULL, 0, 0};
    find_commits(queue, first);
    find_commits(queue, &second);
    find_needs(queue, first);
    find_needs(queue, &second);
    if (first->last[0] - first->first[0] < second.last[0] - second.first[0]) {
        struct part shorter = *first;
        *first = second;
        second = shorter;
    }
    for (uint32_t i = second.first[0]; i <= second.last[0]; i++)
        lane->stops.at[i].part = added;
    vec_push(&queue->parts, second);
}
