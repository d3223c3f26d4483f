/* The launches of a program, as the device gets them: those of a stream run in order, streams side
 * by side. docs/device-model.md, "Launches side by side", says what the rows mean.
 *
 * A launch *keeps* its cores if it synchronises inside: each block holds its cores until all blocks
 * have run to the end. Another takes cores for one block at a time and gives them back. */
#ifndef PASSES_LAUNCHES_TABLE_H
#define PASSES_LAUNCHES_TABLE_H

#include "ir/module.h"
#include "passes/launches/cores.h"

/* What happens in the middle of a launch, in this order. A notification that is `early` may come
 * before all blocks have their cores; any other comes when they have. */
enum step_kind { STEP_WAIT, STEP_NOTIFY };

struct launch_step {
    enum step_kind kind;
    bool early;
    uint32_t event;
    uint32_t user; /* the caller's: what the step stands for */
};

struct launch_row {
    uint32_t stream;
    enum block_shape shape;
    uint32_t blocks;           /* 0: it takes no cores, and has no steps */
    bool keeps;                /* has all its blocks on cores at once. One that has steps does */
    bool sealed;               /* no pass may cut it, or have it wait as a whole */
    struct range waits, sends; /* in table->events: before it starts, when it has ended */
    struct range steps;        /* in table->steps */
    uint32_t user;             /* the caller's */
};

/* Rows of a stream stand in their order. Events are numbers below n_events. An event that no row
 * sends comes from outside, sooner or later; none is sent twice. */
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
void launch_table_step(struct launch_table *table, enum step_kind kind, uint32_t event,
                       uint32_t user);
void launch_table_send(struct launch_table *table, uint32_t event);

/* Whether a row alone has more blocks to keep than the device has cores for. */
bool launch_row_is_too_large(const struct launch_table *table, const struct launch_row *row);

#endif
