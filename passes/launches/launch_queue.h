/* The launch queue: the stops that the launches of each stream pass one after another.
 *
 * A launch has a stop for each of its steps, and one for its end. Stops are in lanes: each stream
 * has a main lane, and a second one if some launch of it has steps in two (launch_table.h). The end
 * of a launch is a stop of both, which they pass together. A position is how many stops of a lane
 * are passed. Positions of all lanes are a state: which events are sent and which launches run
 * follows from them.
 *
 * A row is one part. Where it is cut, at a wait, it becomes two: the stop of the wait is the end of
 * the first, and the second waits before it starts. So cutting a launch, and having it wait as a
 * whole, leave positions as they are. */
#ifndef PASSES_LAUNCHES_LAUNCH_QUEUE_H
#define PASSES_LAUNCHES_LAUNCH_QUEUE_H

#include "passes/launches/launch_table.h"

enum stop_kind {
    STOP_WAIT,
    STOP_NOTIFY,
    STOP_EARLY, /* a notification that need not wait for all blocks */
    STOP_MOVED, /* was a wait: the launch has waited as a whole */
    STOP_END,
};

struct stop {
    enum stop_kind kind;
    uint32_t event; /* of an END: NONE, or the wait at which the row is cut */
    uint32_t part;
    uint32_t step;  /* in table->steps, or NONE */
    uint32_t after; /* it comes after so many stops of the part in the other lane */
    uint32_t run;   /* MOVED: of the first and the last of such stops in a row, the other's index */
};

/* Where an event is sent; lane NONE: outside. */
struct sender {
    uint32_t lane, stop;
};

/* A launch, as it is now. */
struct part {
    uint32_t row, stream;
    uint32_t first[LANES], last[LANES]; /* its stops: in the main lane and the second one */
    uint32_t commit[LANES];             /* the first that is passed only with all blocks on cores */
    uint32_t early[LANES];              /* the first EARLY, or NONE */
    uint32_t wait;                      /* the event at which the row was cut before it, or NONE */
    uint32_t order;       /* the event of queue_add_order that it waits for, or NONE */
    struct vec_u32 needs; /* events that it waits for before it starts */
};

struct lane {
    uint32_t stream;
    VEC(struct stop) stops;
};

struct queue {
    const struct launch_table *table;
    struct lane *lanes; /* main lanes, by stream, then the second ones */
    uint32_t n_lanes;
    uint32_t *second; /* by stream: its second lane, or NONE */
    VEC(struct part) parts;
    struct sender *senders; /* by event */
};

void queue_init(struct queue *queue, const struct launch_table *table);
void queue_free(struct queue *queue);

/* Lets a row wait for the end of another one before it starts: once, before any change. */
void queue_add_order(struct queue *queue, uint32_t first, uint32_t second);

static inline const struct stop *queue_stop(const struct queue *queue, uint32_t lane,
                                            uint32_t position)
{
    expensive_assert(position < queue->lanes[lane].stops.count);
    return &queue->lanes[lane].stops.at[position];
}

static inline struct part *queue_part(const struct queue *queue, uint32_t lane, uint32_t position)
{
    return &queue->parts.at[queue_stop(queue, lane, position)->part];
}

/* The stop after one that was moved, and after those that follow it and were moved, too. */
static inline uint32_t queue_after_moved(const struct queue *queue, uint32_t lane,
                                         uint32_t position)
{
    uint32_t run = queue_stop(queue, lane, position)->run;
    return (run > position ? run : position) + 1;
}

static inline const struct launch_row *part_row(const struct queue *queue, const struct part *part)
{
    return &queue->table->rows.at[part->row];
}

static inline bool queue_is_over(const struct queue *queue, uint32_t lane, uint32_t position)
{
    return position == queue->lanes[lane].stops.count;
}

/* The lanes of a stream: lane_of(stream, 1) may be NONE. */
static inline uint32_t queue_lane(const struct queue *queue, uint32_t stream, int n)
{
    return n == 0 ? stream : queue->second[stream];
}

/* Whether the event is sent where lanes have these positions. */
bool queue_is_sent(const struct queue *queue, const uint32_t *positions, uint32_t event);
/* Whether all is sent that a part waits for before it starts, or it has started. */
bool queue_is_started(const struct queue *queue, const uint32_t *positions,
                      const struct part *part);
/* Whether the next stop of a lane, of a part that has started, comes after stops of the other lane
 * that are not passed. */
bool queue_is_behind(const struct queue *queue, const uint32_t *positions, uint32_t lane);
/* An event that the next stop of a lane lacks, of its part's start or its own; NONE: it lacks none.
 */
uint32_t queue_lacks(const struct queue *queue, const uint32_t *positions, uint32_t lane);

/* Whether launches wait for each other whatever cores there are. `positions`, per lane, become how
 * far all come with enough cores. */
bool queue_has_cycle(const struct queue *queue, uint32_t *positions);
/* One such cycle: lanes each of which waits for an event of the next one, the last for the first;
 * those that wait for the other lane of their launch are left out. */
void queue_find_cycle(const struct queue *queue, const uint32_t *positions, struct vec_u32 *lanes);

/* Whether the event of a wait depends on the start of the part in which it is: the launch cannot
 * wait for it as a whole. `passed` are positions that are reached before the part starts. */
bool queue_depends(const struct queue *queue, const uint32_t *passed, const struct part *part,
                   uint32_t event);

/* The launch waits as a whole for what it waits for at this stop of a main lane. Its part has no
 * stops in a second lane but its end. */
void queue_move_wait(struct queue *queue, uint32_t stream, uint32_t position);
/* Puts what the list of the launch has after this wait, and the part before it, after it: of the
 * main lane, likewise. Returns the new position of the wait. */
uint32_t queue_restore_list(struct queue *queue, uint32_t stream, uint32_t position);
/* The row is cut at this wait, with which what comes before it in the part is in the order of the
 * list: likewise. */
void queue_cut(struct queue *queue, uint32_t stream, uint32_t position);

#endif
