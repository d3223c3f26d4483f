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

/* What follows from the stops of a part. */
static void settle_part(struct queue *queue, struct part *part)
{
    const struct line *line = &queue->lines[part->stream];
    part->commit = part->last;
    part->early = NONE;
    part->waits = 0;
    for (uint32_t i = part->last; i >= part->first && i != NONE; i--) {
        const struct stop *stop = &line->stops.at[i];
        if (stop->kind == STOP_NOTIFY)
            part->commit = i;
        if (stop->kind == STOP_EARLY)
            part->early = i;
        part->waits += stop->kind == STOP_WAIT;
    }
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
    settle_part(queue, &part);
    vec_push(&queue->parts, part);
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
}

void queue_free(struct queue *queue)
{
    for (uint32_t i = 0; i < queue->table->n_streams; i++)
        vec_free(&queue->lines[i].stops);
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

bool queue_may_start(const struct queue *queue, const uint32_t *positions, const struct part *part)
{
    uint32_t n = 0, stop = part->first, event;
    while ((event = start_event(queue, part, &n, &stop)) != NONE)
        if (!queue_is_sent(queue, positions, event))
            return false;
    return true;
}

bool queue_may_end(const struct queue *queue, const uint32_t *positions, const struct part *part,
                   uint32_t from)
{
    const struct line *line = &queue->lines[part->stream];
    if (part->waits == 0)
        return true;
    for (uint32_t i = from; i <= part->last; i++)
        if (line->stops.at[i].kind == STOP_WAIT &&
            !queue_is_sent(queue, positions, line->stops.at[i].event))
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
}

void queue_cut(struct queue *queue, uint32_t stream, uint32_t position)
{
    struct line *line = &queue->lines[stream];
    struct stop *stop = &line->stops.at[position];
    struct part *part = &queue->parts.at[stop->part], second = *part;
    assert(stop->kind == STOP_WAIT && position < part->last);
    uint32_t id = queue->parts.count;
    second.first = position + 1;
    second.wait = stop->event;
    part->last = position;
    stop->kind = STOP_END;
    for (uint32_t i = second.first; i <= second.last; i++)
        line->stops.at[i].part = id;
    settle_part(queue, part);
    settle_part(queue, &second);
    vec_push(&queue->parts, second);
}
