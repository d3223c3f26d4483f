#include "passes/launches/queue.h"

#include <string.h>

/* ------------------------------------------------------------------------ building ---- */

/* Of a launch of one block, that is all its blocks. */
static enum stop_kind stop_of_step(const struct launch_step *step, const struct launch_row *row)
{
    if (step->kind == STEP_WAIT)
        return STOP_WAIT;
    return step->early && row->blocks > 1 ? STOP_EARLY : STOP_NOTIFY;
}

static void send(struct queue *queue, uint32_t event, uint32_t stream)
{
    queue->senders[event] = (struct sender){stream, queue->lines[stream].stops.count - 1};
}

static void add_stop(struct queue *queue, uint32_t stream, struct stop stop)
{
    vec_push(&queue->lines[stream].stops, stop);
    queue->n_stops++;
    if (stop.kind == STOP_NOTIFY || stop.kind == STOP_EARLY)
        send(queue, stop.event, stream);
}

/* The first stop from one on, up to the last of the part, that has this kind, or NONE. */
static uint32_t first_of_kind(const struct queue *queue, const struct part *part, uint32_t from,
                              enum stop_kind kind)
{
    const struct line *line = &queue->lines[part->stream];
    for (uint32_t i = from; i <= part->last; i++)
        if (line->stops.at[i].kind == kind)
            return i;
    return NONE;
}

static uint32_t count_kind(const struct line *line, uint32_t first, uint32_t end,
                           enum stop_kind kind)
{
    uint32_t count = 0;
    for (uint32_t i = first; i < end; i++)
        count += line->stops.at[i].kind == kind;
    return count;
}

static void add_row(struct queue *queue, uint32_t index)
{
    const struct launch_table *table = queue->table;
    const struct launch_row *row = &table->rows.at[index];
    struct line *line = &queue->lines[row->stream];
    uint32_t id = queue->parts.count;
    struct part part = {.row = index,
                        .stream = row->stream,
                        .first = line->stops.count,
                        .last = line->stops.count + row->steps.count,
                        .wait = NONE};
    for (uint32_t i = 0; i < row->steps.count; i++) {
        const struct launch_step *step = &table->steps.at[row->steps.first + i];
        struct stop stop = {stop_of_step(step, row), step->event, id, row->steps.first + i};
        add_stop(queue, row->stream, stop);
    }
    add_stop(queue, row->stream, (struct stop){STOP_END, NONE, id, NONE});
    for (uint32_t i = 0; i < row->sends.count; i++)
        send(queue, table->events.at[row->sends.first + i], row->stream);
    uint32_t notify = first_of_kind(queue, &part, part.first, STOP_NOTIFY);
    part.commit = notify == NONE ? part.last : notify;
    part.early = first_of_kind(queue, &part, part.first, STOP_EARLY);
    part.waits = count_kind(line, part.first, part.last, STOP_WAIT);
    vec_push(&queue->parts, part);
}

/* ------------------------------------------------------------------------ needs ---- */

enum { FEW_STREAMS = 64 }; /* so many are looked through one after another */

static void needs_free(struct needs *needs)
{
    vec_free(needs);
    id_map_free(&needs->of_stream);
}

/* The place of the stream in the needs, or their count. */
static uint32_t needs_find(const struct needs *needs, uint32_t stream)
{
    if (needs->count > FEW_STREAMS) {
        uint32_t place = id_map_find(&needs->of_stream, stream);
        return place == NONE ? needs->count : place;
    }
    uint32_t i = 0;
    while (i < needs->count && needs->at[i].stream != stream)
        i++;
    return i;
}

static void needs_add(struct needs *needs, const struct sender *sender)
{
    if (sender->stream == NONE)
        return;
    uint32_t place = needs_find(needs, sender->stream);
    if (place < needs->count) {
        if (needs->at[place].stop < sender->stop)
            needs->at[place].stop = sender->stop;
        return;
    }
    vec_push(needs, *sender);
    for (uint32_t i = place == FEW_STREAMS ? 0 : place; place >= FEW_STREAMS && i <= place; i++)
        id_map_set(&needs->of_stream, needs->at[i].stream, i);
}

/* What a part waits for before it starts, one event after another; NONE behind the last. */
static uint32_t start_event(const struct queue *queue, const struct part *part, uint32_t *n,
                            uint32_t *stop)
{
    const struct launch_row *row = part_row(queue, part);
    if (part->wait == NONE && *n < row->waits.count)
        return queue->table->events.at[row->waits.first + (*n)++];
    if (part->wait != NONE && *n == 0) {
        (*n)++;
        return part->wait;
    }
    const struct line *line = &queue->lines[part->stream];
    for (; part->moved && *stop <= part->last; (*stop)++)
        if (line->stops.at[*stop].kind == STOP_MOVED)
            return line->stops.at[(*stop)++].event;
    return NONE;
}

static void find_needs(const struct queue *queue, struct part *part)
{
    uint32_t n = 0, stop = part->first, event;
    needs_free(&part->needs);
    while ((event = start_event(queue, part, &n, &stop)) != NONE)
        needs_add(&part->needs, &queue->senders[event]);
}

static void find_next(struct line *line)
{
    uint32_t count = line->stops.count;
    line->unmoved = mem_calloc(count, sizeof *line->unmoved);
    line->wait = mem_calloc(count, sizeof *line->wait);
    for (uint32_t i = 0; i < count; i++) {
        enum stop_kind kind = line->stops.at[i].kind;
        line->unmoved[i] = i;
        line->wait[i] = i + (kind != STOP_WAIT && kind != STOP_END);
    }
}

void queue_init(struct queue *queue, const struct launch_table *table)
{
    *queue = (struct queue){.table = table};
    queue->lines = mem_calloc(table->n_streams, sizeof *queue->lines);
    queue->senders = mem_realloc(NULL, table->n_events, sizeof *queue->senders);
    for (uint32_t i = 0; i < table->n_events; i++)
        queue->senders[i] = (struct sender){NONE, 0};
    for (uint32_t i = 0; i < table->rows.count; i++)
        add_row(queue, i);
    for (uint32_t i = 0; i < table->n_streams; i++)
        find_next(&queue->lines[i]);
    for (uint32_t i = 0; i < queue->parts.count; i++) /* all senders are known */
        find_needs(queue, &queue->parts.at[i]);
}

static void line_free(struct line *line)
{
    vec_free(&line->stops);
    mem_free(line->unmoved);
    mem_free(line->wait);
}

void queue_free(struct queue *queue)
{
    for (uint32_t i = 0; i < queue->table->n_streams; i++)
        line_free(&queue->lines[i]);
    for (uint32_t i = 0; i < queue->parts.count; i++)
        needs_free(&queue->parts.at[i].needs);
    vec_free(&queue->parts);
    mem_free(queue->lines);
    mem_free(queue->senders);
    mem_free(queue->clocks);
}

/* ------------------------------------------------------------------------ questions ---- */

bool queue_is_sent(const struct queue *queue, const uint32_t *positions, uint32_t event)
{
    const struct sender *sender = &queue->senders[event];
    return sender->stream == NONE || positions[sender->stream] > sender->stop;
}

bool queue_may_start(const uint32_t *positions, const struct part *part)
{
    for (uint32_t i = 0; i < part->needs.count; i++)
        if (positions[part->needs.at[i].stream] <= part->needs.at[i].stop)
            return false;
    return true;
}

uint32_t queue_next(const struct queue *queue, uint32_t stream, uint32_t position, bool all)
{
    const struct line *line = &queue->lines[stream];
    uint32_t *next = all ? line->wait : line->unmoved, i = position;
    while (next[i] != i) {
        next[i] = next[next[i]];
        i = next[i];
    }
    return i;
}

bool queue_may_end(const struct queue *queue, const uint32_t *positions, const struct part *part,
                   uint32_t from)
{
    const struct line *line = &queue->lines[part->stream];
    if (part->waits == 0)
        return true;
    for (uint32_t i = from; (i = queue_next(queue, part->stream, i, true)) < part->last; i++)
        if (!queue_is_sent(queue, positions, line->stops.at[i].event))
            return false;
    return true;
}

void queue_start_needs(const struct queue *queue, const struct part *part,
                       void (*visit)(void *user, uint32_t event), void *user)
{
    uint32_t n = 0, stop = part->first, event;
    while ((event = start_event(queue, part, &n, &stop)) != NONE)
        visit(user, event);
}

void queue_needs(const struct queue *queue, uint32_t stream, uint32_t position,
                 void (*visit)(void *user, uint32_t event), void *user)
{
    const struct stop *stop = queue_stop(queue, stream, position);
    const struct part *part = &queue->parts.at[stop->part];
    if (position == part->first)
        queue_start_needs(queue, part, visit, user);
    if (stop->kind == STOP_WAIT)
        visit(user, stop->event);
}

/* ------------------------------------------------------------------------- changing ---- */

void queue_move_wait(struct queue *queue, uint32_t stream, uint32_t position)
{
    struct stop *stop = &queue->lines[stream].stops.at[position];
    struct part *part = &queue->parts.at[stop->part];
    assert(stop->kind == STOP_WAIT);
    stop->kind = STOP_MOVED;
    part->waits--;
    part->moved++;
    queue->lines[stream].unmoved[position] = queue->lines[stream].wait[position] = position + 1;
    needs_add(&part->needs, &queue->senders[stop->event]);
}

/* How many stops of a kind a part has behind the one where it is cut, of those that it has in all
 * but at that. The shorter side is counted, so that many cuts take no more than n log n steps. */
static uint32_t count_behind(const struct line *line, const struct part *part, uint32_t cut,
                             enum stop_kind kind, uint32_t all)
{
    if (cut - part->first < part->last - cut)
        return all - count_kind(line, part->first, cut, kind);
    return count_kind(line, cut + 1, part->last + 1, kind);
}

/* The two parts, from what the whole has. */
static void settle_halves(const struct queue *queue, struct part *part, struct part *second)
{
    uint32_t cut = part->last;
    if (second->commit <= cut) {
        uint32_t notify = first_of_kind(queue, second, second->first, STOP_NOTIFY);
        second->commit = notify == NONE ? second->last : notify;
    } else {
        part->commit = cut;
    }
    if (second->early != NONE && second->early <= cut)
        second->early = first_of_kind(queue, second, second->first, STOP_EARLY);
    else
        part->early = NONE;
}

/* The shorter of the two has a new number. */
static void add_second(struct queue *queue, uint32_t id, const struct part *second)
{
    struct part *part = &queue->parts.at[id], added = *second;
    const struct line *line = &queue->lines[part->stream];
    if (part->last - part->first < second->last - second->first) {
        added = *part;
        *part = *second;
    }
    for (uint32_t i = added.first; i <= added.last; i++)
        line->stops.at[i].part = queue->parts.count;
    vec_push(&queue->parts, added);
}

void queue_cut(struct queue *queue, uint32_t stream, uint32_t position)
{
    struct line *line = &queue->lines[stream];
    struct stop *stop = &line->stops.at[position];
    struct part *part = &queue->parts.at[stop->part], second = *part;
    assert(stop->kind == STOP_WAIT && position < part->last);
    bool had_moved = part->moved > 0;
    second.first = position + 1;
    second.wait = stop->event;
    second.waits = count_behind(line, part, position, STOP_WAIT, part->waits - 1);
    second.moved = had_moved ? count_behind(line, part, position, STOP_MOVED, part->moved) : 0;
    second.needs = (struct needs){.count = 0};
    part->waits -= second.waits + 1;
    part->moved -= second.moved;
    part->last = position;
    stop->kind = STOP_END;
    settle_halves(queue, part, &second);
    if (second.moved)
        find_needs(queue, part);
    find_needs(queue, &second);
    add_second(queue, stop->part, &second);
}
