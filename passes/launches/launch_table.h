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
#ifndef PASSES_LAUNCHES_LAUNCH_TABLE_H
#define PASSES_LAUNCHES_LAUNCH_TABLE_H

#include "ir/module.h"

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

#endif
