/* The launches of a program, as the device gets them, and the cores that they take
 * (docs/device-model.md, "Launches side by side").
 *
 * Launches of a stream run in order, streams concurrently. A launch *keeps* its cores if it
 * synchronises inside: each block holds its cores until all blocks have run to the end. Another
 * takes cores for one block at a time and gives them back.
 *
 * Where a device has two AIVs for each AIC, an AI core is one AIC with its own two AIVs. A block of
 * a mixed launch takes an AI core: its AIC and one or both of its AIVs, all at once. Other devices
 * are counted: a mixed block takes any AIC and any AIVs. Which of the free cores a block gets is
 * not known. So a mixed block finds no place where each AI core has its AIC or an AIV taken,
 * although half of the AIVs are free. */
#ifndef PASSES_RESIDENCY_LAUNCH_QUEUE_H
#define PASSES_RESIDENCY_LAUNCH_QUEUE_H

#include "ir/core/module.h"

/* ------------------------------------------------------------------------- cores ---- */

/* What a block takes. */
enum block_shape { SHAPE_CUBE, SHAPE_VECTOR, SHAPE_MIX_1_1, SHAPE_MIX_1_2, SHAPES };

struct shape_info {
    const char *name;
    uint32_t aics, aivs;
};
const struct shape_info *shape_info(enum block_shape shape);

struct device {
    uint32_t aics, aivs;
};

static inline bool device_is_grouped(const struct device *device)
{
    return device->aivs == 2 * device->aics;
}

/* Blocks that hold cores, by shape. */
struct held {
    uint64_t of[SHAPES];
};

/* Whether all of them can have their cores at once. */
bool cores_fit(const struct device *device, const struct held *held);

/* Whether blocks between `low` and `high` of each shape can hold cores in such a way that no block
 * of the shapes of the mask (1 << shape) finds a place. */
bool cores_can_block(const struct device *device, const struct held *low, const struct held *high,
                     unsigned shapes, struct held *found);

/* ------------------------------------------------------------------------- launches ---- */

enum step_kind { STEP_WAIT, STEP_NOTIFY };

/* The two core types of a launch run their programs independently: steps of a lane follow one
 * another, and flags order them after steps of the other lane. */
enum { LANES = 2 };

/* What happens in the middle of a launch. A notification that is `early` may come before all blocks
 * have their cores; any other comes when they have. */
struct launch_step {
    enum step_kind kind;
    bool early;
    uint8_t lane;   /* 0 where all steps of the launch are in one order */
    uint32_t after; /* it comes after so many steps of the other lane */
    uint32_t event;
    uint32_t user; /* the caller's: what the step stands for */
    uint32_t list; /* its place where the ops of the launch come one after another: a cut divides
                    * them there */
};

struct launch_row {
    uint32_t stream;
    enum block_shape shape;
    uint32_t blocks;           /* 0: it takes no cores, and has no steps */
    bool keeps;                /* has all its blocks on cores at once. One that has steps does */
    bool sealed;               /* no pass may cut it, or have it wait as a whole */
    struct range waits, sends; /* in table->events: before it starts, when it has ended */
    struct range steps;        /* in table->steps, in an order in which they can come */
};

/* Rows of a stream are in its order. Events are numbers below n_events. An event that no row sends
 * comes from outside, sooner or later; none is sent twice. */
struct launch_table {
    struct device device;
    VEC(struct launch_row) rows;
    VEC(struct launch_step) steps;
    struct vec_u32 events;
    uint32_t n_streams, n_events;
};

void launch_table_free(struct launch_table *table);

/* Appends a row without events. What is added then is its own: first all that it waits for, then
 * its steps, then what it sends. */
struct launch_row *launch_table_add(struct launch_table *table, uint32_t stream,
                                    enum block_shape shape, uint32_t blocks);
void launch_table_wait(struct launch_table *table, uint32_t event);
struct launch_step *launch_table_step(struct launch_table *table, enum step_kind kind,
                                      uint32_t event, uint32_t user);
void launch_table_send(struct launch_table *table, uint32_t event);

/* The launch queue: the stops that the launches of each stream pass one after another.
 *
 * A launch has a stop for each of its steps, and one for its end. Stops are in lanes, two for each
 * stream: the main one, which has the ends, and one for the steps of second lanes.
 *
 *     main lane   | WAIT a | NOTIFY b | END | END | WAIT c | END |
 *     second lane | WAIT d |                      | EARLY e |
 *                 '------ row 0 ------'     row 1   '--- row 2 ---'
 *
 * A position is how many stops of a lane are passed. Positions of all lanes are a state: which
 * events are sent and which launches run follows from them.
 *
 * A row is one part. Where it is cut, at a wait, it becomes two: the stop of the wait is the end of
 * the first, and the second waits before it starts. Cutting a launch, and having it wait as a
 * whole, leave the positions of other launches as they are. */

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
    uint32_t run;   /* of a MOVED at an end of a run of these, with one `after`: the other end */
};

/* Where an event is sent; lane NONE: outside. */
struct sender {
    uint32_t lane, stop;
};

/* What somebody may lack: AICs, AIVs, and AI cores of which nothing is taken. */
enum { LACK_AICS, LACK_AIVS, LACK_GROUPS, LACKS };

/* Of some launches of one stream: the most that one of them holds, and the most that one of them
 * holds that lacks a block. */
struct launch_bound {
    int32_t held[LACKS], lacking[LACKS];
};

/* A launch, as it is now. */
struct part {
    uint32_t row, stream;
    uint32_t first[LANES], end[LANES]; /* its steps, by lane; its END is at end[0] */
    uint32_t commit[LANES];    /* the first NOTIFY, which is passed with all blocks, or the end */
    uint32_t early[LANES];     /* the first EARLY, or the end */
    uint32_t wait;             /* the event at which the row was cut before it, or NONE */
    struct vec_u32 needs;      /* events that it waits for before it starts */
    uint32_t waits;            /* how many of its stops are waits */
    struct launch_bound bound; /* of it alone */
    struct launch_bound rest;  /* of it and all after it on its stream */
};

struct lane {
    VEC(struct stop) stops;
};

struct queue {
    const struct launch_table *table;
    struct lane *lanes; /* main lanes, by stream, then the second ones */
    uint32_t n_lanes;
    VEC(struct part) parts;
    struct sender *senders; /* by event */
};

void queue_init(struct queue *queue, const struct launch_table *table);
void queue_free(struct queue *queue);

/* The lanes of a stream, of which the main one, 0, has its number. */
static inline uint32_t queue_lane(const struct queue *queue, uint32_t stream, int n)
{
    return (uint32_t)n * queue->table->n_streams + stream;
}

static inline uint32_t queue_stream(const struct queue *queue, uint32_t lane)
{
    return lane % queue->table->n_streams;
}

static inline struct stop *queue_stop(const struct queue *queue, uint32_t lane, uint32_t position)
{
    expensive_assert(position < queue->lanes[lane].stops.count);
    return &queue->lanes[lane].stops.at[position];
}

static inline struct part *queue_part(const struct queue *queue, uint32_t lane, uint32_t position)
{
    return &queue->parts.at[queue_stop(queue, lane, position)->part];
}

static inline const struct launch_row *part_row(const struct queue *queue, const struct part *part)
{
    return &queue->table->rows.at[part->row];
}

/* The position after a stop that is passed: a run of waits that were moved is passed at once. */
static inline uint32_t queue_after(const struct queue *queue, uint32_t lane, uint32_t position)
{
    const struct stop *stop = queue_stop(queue, lane, position);
    return (stop->kind == STOP_MOVED ? stop->run : position) + 1;
}

/* Whether a stream is over, of whose main lane this is the position. */
static inline bool queue_is_over(const struct queue *queue, uint32_t stream, uint32_t position)
{
    return position == queue->lanes[stream].stops.count;
}

/* Whether the event is sent where lanes have these positions. */
bool queue_is_sent(const struct queue *queue, const uint32_t *positions, uint32_t event);
/* Whether all is sent that a part waits for before it starts, or it has started. */
bool queue_is_started(const struct queue *queue, const uint32_t *positions,
                      const struct part *part);
/* The next stop of a part in its n-th lane; NULL: it has none. */
const struct stop *queue_next(const struct queue *queue, const uint32_t *positions,
                              const struct part *part, int n);
/* Whether the stop that comes next in the n-th lane of a part comes after stops of the other lane
 * that are not passed. */
bool queue_is_behind(const struct queue *queue, const uint32_t *positions, const struct part *part,
                     int n);
/* An event that a part lacks to start, or that its next stop in the n-th lane waits for; NONE: it
 * lacks none. */
uint32_t queue_lacks(const struct queue *queue, const uint32_t *positions, const struct part *part,
                     int n);
/* Passes the end of a part. */
void queue_end_part(const struct queue *queue, uint32_t *positions, const struct part *part);

/* Whether launches wait for each other whatever cores there are. `positions`, per lane, become how
 * far all come with enough cores. */
bool queue_has_cycle(const struct queue *queue, uint32_t *positions);
/* One such cycle: lanes each of which waits for an event of the next one, the last for the first;
 * those that wait for the other lane of their launch are left out. */
void queue_find_cycle(const struct queue *queue, const uint32_t *positions, struct vec_u32 *lanes);

/* What can be done about a wait of a main lane. The launch waits for it as a whole, unless the
 * event depends on the start of the launch; then it is cut there, unless the event depends on a
 * step that would be of the second part. `passed` are positions that are reached before the part
 * starts. */
enum wait_fix { FIX_NONE, FIX_CUT, FIX_MOVE };
enum wait_fix queue_find_fix(const struct queue *queue, const uint32_t *passed, uint32_t stream,
                             uint32_t position);

/* Changes at a wait of a main lane, of a part without steps in the second one: the launch waits for
 * it as a whole, or the row is cut there. A cut divides the list of the launch: steps that come
 * before the wait, and in the list after it, are of the second part. */
void queue_move_wait(struct queue *queue, uint32_t stream, uint32_t position);
void queue_cut(struct queue *queue, uint32_t stream, uint32_t position);

#endif
