/* What the order of streams and events alone says: circles, and what comes before what. */
#include "passes/launches/queue.h"

#include <string.h>

/* Streams that pass their stops as far as events let them, whatever cores there are. */
struct runner {
    struct queue *queue;
    uint32_t *positions;
    uint32_t *blocked_by; /* per stream: the event that its next stop lacks */
    uint32_t *waiting;    /* per event: a stream that it blocks, NONE */
    uint32_t *next;       /* per stream: the next one that the same event blocks */
    struct vec_u32 ready;
    struct sender at;   /* the stop at hand */
    uint32_t lacking;   /* of it: an event that is not sent, or NONE */
    uint32_t *know;     /* per stream: n_streams positions, what its last stop comes behind */
    uint32_t *of_event; /* the same per event, for the stop that sends it */
};

enum { CLOCK_LIMIT = 1 << 25 }; /* numbers */

static void look(void *user, uint32_t event)
{
    struct runner *runner = user;
    if (!queue_is_sent(runner->queue, runner->positions, event))
        runner->lacking = event;
}

static void learn(void *user, uint32_t event)
{
    struct runner *runner = user;
    uint32_t n = runner->queue->table->n_streams;
    uint32_t *know = runner->know + (size_t)runner->at.stream * n;
    const uint32_t *from = runner->of_event + (size_t)event * n;
    if (runner->queue->senders[event].stream == NONE)
        return;
    for (uint32_t i = 0; i < n; i++)
        know[i] = know[i] < from[i] ? from[i] : know[i];
}

/* What a part comes behind when it starts is kept. */
static void learn_stop(struct runner *runner, const struct stop *stop, const struct part *part)
{
    struct queue *queue = runner->queue;
    uint32_t n = queue->table->n_streams, *know = runner->know + (size_t)part->stream * n;
    if (runner->at.stop == part->first) {
        queue_start_needs(queue, part, learn, runner);
        memcpy(queue->clocks + (size_t)part->row * n, know, n * sizeof *know);
    }
    if (stop->kind == STOP_WAIT)
        learn(runner, stop->event);
    know[part->stream] = runner->at.stop + 1;
}

static void wake(struct runner *runner, uint32_t event)
{
    while (runner->waiting[event] != NONE) {
        uint32_t stream = runner->waiting[event];
        runner->waiting[event] = runner->next[stream];
        vec_push(&runner->ready, stream);
    }
}

static void send(struct runner *runner, uint32_t event)
{
    uint32_t n = runner->queue->table->n_streams;
    if (runner->know)
        memcpy(runner->of_event + (size_t)event * n, runner->know + (size_t)runner->at.stream * n,
               n * sizeof(uint32_t));
    wake(runner, event);
}

/* Passes the stop: who waits for its events may go on. */
static void pass(struct runner *runner)
{
    struct queue *queue = runner->queue;
    uint32_t stream = runner->at.stream;
    const struct stop *stop = queue_stop(queue, stream, runner->at.stop);
    const struct part *part = &queue->parts.at[stop->part];
    const struct launch_row *row = part_row(queue, part);
    if (runner->know)
        learn_stop(runner, stop, part);
    runner->positions[stream]++;
    if (stop->kind == STOP_NOTIFY || stop->kind == STOP_EARLY)
        send(runner, stop->event);
    for (uint32_t i = 0; stop->kind == STOP_END && i < row->sends.count; i++)
        send(runner, queue->table->events.at[row->sends.first + i]);
}

static void run_stream(struct runner *runner, uint32_t stream)
{
    while (!queue_is_over(runner->queue, stream, runner->positions[stream])) {
        runner->at = (struct sender){stream, runner->positions[stream]};
        runner->lacking = NONE;
        queue_needs(runner->queue, stream, runner->at.stop, look, runner);
        if (runner->lacking != NONE) {
            runner->blocked_by[stream] = runner->lacking;
            runner->next[stream] = runner->waiting[runner->lacking];
            runner->waiting[runner->lacking] = stream;
            return;
        }
        pass(runner);
    }
}

/* From one blocked stream to that which it waits for, until one comes again. */
static bool take_circle(const struct runner *runner, struct queue_circle *circle)
{
    const struct queue *queue = runner->queue;
    uint32_t n = queue->table->n_streams, stream = 0;
    while (stream < n && queue_is_over(queue, stream, runner->positions[stream]))
        stream++;
    if (stream == n)
        return false;
    for (uint32_t i = 0; i < n; i++) /* behind n steps it is one of the circle */
        stream = queue->senders[runner->blocked_by[stream]].stream;
    uint32_t first = stream;
    do {
        vec_push(&circle->streams, stream);
        stream = queue->senders[runner->blocked_by[stream]].stream;
    } while (stream != first);
    return true;
}

static void keep_clocks(struct runner *runner)
{
    struct queue *queue = runner->queue;
    const struct launch_table *table = queue->table;
    size_t n = table->n_streams;
    if (((size_t)table->rows.count + table->n_events + n) * n > CLOCK_LIMIT)
        return;
    mem_free(queue->clocks);
    queue->clocks = mem_calloc(table->rows.count * n, sizeof *queue->clocks);
    runner->know = mem_calloc(n * n, sizeof *runner->know);
    runner->of_event = mem_calloc(table->n_events * n, sizeof *runner->of_event);
}

void queue_circle_free(struct queue_circle *circle)
{
    vec_free(&circle->streams);
    mem_free(circle->positions);
    circle->positions = NULL;
}

bool queue_find_circle(struct queue *queue, struct queue_circle *circle)
{
    uint32_t n = queue->table->n_streams, n_events = queue->table->n_events;
    *circle = (struct queue_circle){.positions = NULL};
    struct runner runner = {.queue = queue,
                            .positions = mem_calloc(n, sizeof(uint32_t)),
                            .blocked_by = mem_calloc(n, sizeof(uint32_t)),
                            .next = mem_calloc(n, sizeof(uint32_t)),
                            .waiting = mem_realloc(NULL, n_events, sizeof(uint32_t))};
    memset(runner.waiting, 0xff, n_events * sizeof(uint32_t)); /* NONE */
    keep_clocks(&runner);
    for (uint32_t i = 0; i < n; i++)
        run_stream(&runner, i);
    while (runner.ready.count)
        run_stream(&runner, runner.ready.at[--runner.ready.count]);
    bool found = take_circle(&runner, circle);
    circle->positions = runner.positions;
    mem_free(runner.blocked_by);
    mem_free(runner.next);
    mem_free(runner.waiting);
    mem_free(runner.know);
    mem_free(runner.of_event);
    vec_free(&runner.ready);
    return found;
}

/* ------------------------------------------------------------------------ dependence ---- */

/* Backwards from an event over all that must be passed before it is sent. */
struct search {
    const struct queue *queue;
    const uint32_t *passed; /* what no search needs to look at */
    struct id_map reached;  /* per stream: how far is known to be needed */
    struct vec_u32 events;
};

static void need_event(void *user, uint32_t event)
{
    struct search *search = user;
    vec_push(&search->events, event);
}

/* All stops up to that of the event's sender are needed. */
static void need_sender(struct search *search, uint32_t event)
{
    const struct sender *sender = &search->queue->senders[event];
    if (sender->stream == NONE)
        return;
    uint32_t *reached = id_map_at(&search->reached, sender->stream);
    uint32_t from = *reached == NONE ? search->passed[sender->stream] : *reached;
    for (uint32_t i = from; i <= sender->stop; i++)
        queue_needs(search->queue, sender->stream, i, need_event, search);
    if (*reached == NONE || *reached < sender->stop + 1)
        *reached = sender->stop + 1;
}

bool queue_depends(const struct queue *queue, const uint32_t *passed, const struct part *part,
                   uint32_t event)
{
    struct search search = {.queue = queue, .passed = passed};
    bool depends = false;
    vec_push(&search.events, event);
    while (search.events.count && !depends) {
        need_sender(&search, search.events.at[--search.events.count]);
        uint32_t reached = id_map_find(&search.reached, part->stream);
        depends = reached != NONE && reached > part->first;
    }
    vec_free(&search.events);
    id_map_free(&search.reached);
    return depends;
}
