/* The launch queue: for each stream a line of stops that it passes one after another.
 *
 * A launch has a stop for each of its steps, and one for its end. A position is how many stops of a
 * stream are passed; positions of all streams are a state, since what is sent, and which launches
 * run, follows from them. A row is one part. Where it is cut, at a wait, it has two: the stop of
 * the wait is the end of the first, and the second waits before it starts. So cutting, and having a
 * launch wait as a whole, leave positions as they are. */
#ifndef PASSES_LAUNCHES_QUEUE_H
#define PASSES_LAUNCHES_QUEUE_H

#include "passes/launches/table.h"

enum stop_kind {
    STOP_WAIT,
    STOP_NOTIFY,
    STOP_EARLY, /* a notification that need not wait for all blocks */
    STOP_MOVED, /* was a wait: the launch has waited as a whole */
    STOP_END,
};

struct stop {
    enum stop_kind kind;
    uint32_t event; /* of WAIT, NOTIFY, EARLY and MOVED, and of an END where the row is cut */
    uint32_t part;
    uint32_t step; /* in table->steps, or NONE */
};

/* Where an event is sent; stream NONE: outside. */
struct sender {
    uint32_t stream, stop;
};

/* What must have been passed: of each stream that is in it, the last such stop. */
struct needs {
    struct sender *at;
    uint32_t count, capacity;
    struct id_map of_stream; /* its place in `at`, where there are many; else empty */
};

/* A launch, as it is now. */
struct part {
    uint32_t row, stream;
    uint32_t first, last; /* its stops */
    uint32_t commit;      /* the first that is passed only with all blocks on cores */
    uint32_t early;       /* the first that is passed with some: EARLY; NONE: there is none */
    uint32_t waits;       /* STOP_WAITs that are left */
    uint32_t moved;       /* STOP_MOVED of the row, whose events it waits for */
    uint32_t wait;        /* the event that it waits for since the row was cut before it, or NONE */
    struct needs needs;   /* of all that it waits for before it starts */
};

/* Waits only become fewer: from each stop on, the next that is of some kind is found by way of
 * those between, which is remembered. */
struct line {
    VEC(struct stop) stops;
    uint32_t *unmoved; /* by stop: no stop from it on to before this one is other than MOVED */
    uint32_t *wait;    /* the same: is a WAIT or an END */
};

struct queue {
    const struct launch_table *table;
    struct line *lines;
    VEC(struct part) parts;
    struct sender *senders; /* by event */
    uint32_t n_stops;
    uint32_t *clocks; /* per row: for each stream, how many of its stops are passed before the row
                       * starts, or fewer; NULL: not known */
};

void queue_init(struct queue *queue, const struct launch_table *table);
void queue_free(struct queue *queue);

static inline const struct stop *queue_stop(const struct queue *queue, uint32_t stream,
                                            uint32_t position)
{
    expensive_assert(position < queue->lines[stream].stops.count);
    return &queue->lines[stream].stops.at[position];
}

static inline struct part *queue_part(const struct queue *queue, uint32_t stream, uint32_t position)
{
    return &queue->parts.at[queue_stop(queue, stream, position)->part];
}

static inline const struct launch_row *part_row(const struct queue *queue, const struct part *part)
{
    return &queue->table->rows.at[part->row];
}

static inline bool queue_is_over(const struct queue *queue, uint32_t stream, uint32_t position)
{
    return position == queue->lines[stream].stops.count;
}

/* Whether the event is sent where streams have these positions. */
bool queue_is_sent(const struct queue *queue, const uint32_t *positions, uint32_t event);
/* Whether all is sent that a part waits for before it starts. */
bool queue_may_start(const uint32_t *positions, const struct part *part);
/* The first stop from one on that is no MOVED; with `all`, that is a WAIT or an END. */
uint32_t queue_next(const struct queue *queue, uint32_t stream, uint32_t position, bool all);
/* Whether all is sent that it waits for in the middle, from a stop on. */
bool queue_may_end(const struct queue *queue, const uint32_t *positions, const struct part *part,
                   uint32_t from);

/* Calls `visit` for each event that a part waits for before it starts. */
void queue_start_needs(const struct queue *queue, const struct part *part,
                       void (*visit)(void *user, uint32_t event), void *user);
/* The same for all that a stop needs to be passed, as the first of its part to start that. */
void queue_needs(const struct queue *queue, uint32_t stream, uint32_t position,
                 void (*visit)(void *user, uint32_t event), void *user);

/* Stops that wait for each other, whatever cores there are: each needs the next one passed, and the
 * last needs the first. */
struct queue_circle {
    struct vec_u32 streams;
    uint32_t *positions; /* by stream, also of others: how far they come */
};
void queue_circle_free(struct queue_circle *circle);
/* Finds a circle, to be freed in any case. Where there is none it finds the clocks, if they are not
 * too large to be kept. */
bool queue_find_circle(struct queue *queue, struct queue_circle *circle);

/* Whether the event of a wait depends on the part in which it is: it can not wait as a whole.
 * `passed` are positions that are reached before the part starts. */
bool queue_depends(const struct queue *queue, const uint32_t *passed, const struct part *part,
                   uint32_t event);

/* The launch waits as a whole for what it waits for at this stop. */
void queue_move_wait(struct queue *queue, uint32_t stream, uint32_t position);
/* The row is cut at this wait. */
void queue_cut(struct queue *queue, uint32_t stream, uint32_t position);

#endif
