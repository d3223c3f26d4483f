#include "passes/launches/advise.h"

enum { ADVICE_STATES = 1 << 12 }; /* beyond so many it is not known whether an order would do */

void launch_table_ordered(struct launch_table *to, const struct launch_table *from,
                          struct launch_advice order)
{
    const uint32_t event = from->n_events;
    *to = (struct launch_table){.device = from->device};
    for (uint32_t i = 0; i < from->rows.count; i++) {
        const struct launch_row *row = &from->rows.at[i];
        launch_table_add(to, row->stream, row->shape, row->blocks);
        for (uint32_t n = 0; n < row->waits.count; n++)
            launch_table_wait(to, from->events.at[row->waits.first + n]);
        if (i == order.behind)
            launch_table_wait(to, event);
        for (uint32_t n = 0; n < row->steps.count; n++) {
            const struct launch_step *step = &from->steps.at[row->steps.first + n];
            launch_table_step(to, step->kind, step->event, step->user);
            to->steps.at[to->steps.count - 1].early = step->early;
        }
        for (uint32_t n = 0; n < row->sends.count; n++)
            launch_table_send(to, from->events.at[row->sends.first + n]);
        if (i == order.first)
            launch_table_send(to, event);
        struct launch_row *copy = &to->rows.at[i];
        copy->keeps = row->keeps;
        copy->sealed = row->sealed;
        copy->user = row->user;
    }
    to->n_streams = from->n_streams;
}

/* Whether so few cuts are enough, none of them of the row. */
static bool is_enough(struct queue *queue, uint32_t row, uint32_t cuts)
{
    struct explorer explorer;
    struct mends mends = {NULL, 0, 0};
    uint32_t count = 0;
    explorer_init(&explorer, queue, ADVICE_STATES);
    bool enough = launches_mend(&explorer, &mends, false) == LAUNCHES_SAFE;
    for (uint32_t i = 0; i < mends.count; i++) {
        count += mends.at[i].cut;
        enough = enough && !(mends.at[i].cut && mends.at[i].row == row);
    }
    vec_free(&mends);
    explorer_free(&explorer);
    return enough && count <= cuts;
}

static bool try_table(const struct launch_table *table, uint32_t row, uint32_t cuts)
{
    struct queue queue;
    struct queue_circle circle;
    queue_init(&queue, table);
    bool enough = !queue_find_circle(&queue, &circle) && is_enough(&queue, row, cuts);
    queue_circle_free(&circle);
    queue_free(&queue);
    return enough;
}

static bool try_order(const struct launch_table *table, struct launch_advice order, uint32_t row,
                      uint32_t cuts)
{
    struct launch_table ordered;
    launch_table_ordered(&ordered, table, order);
    bool enough = try_table(&ordered, row, cuts);
    launch_table_free(&ordered);
    return enough;
}

bool launches_do_with(const struct launch_table *table, const struct launch_change *changes,
                      uint32_t count, uint32_t uncut, uint32_t most)
{
    struct launch_table with;
    launch_table_ordered(&with, table, (struct launch_advice){NONE, NONE});
    for (uint32_t i = 0; i < count; i++) {
        struct launch_row *row = &with.rows.at[changes[i].row];
        row->shape = changes[i].shape;
        row->blocks = changes[i].blocks;
        row->sealed = row->sealed && !changes[i].open;
    }
    bool enough = try_table(&with, uncut, most);
    launch_table_free(&with);
    return enough;
}

bool launches_do_open(const struct launch_table *table, uint32_t row, struct mends *mends)
{
    struct launch_table open;
    struct queue queue;
    struct queue_circle circle;
    struct explorer explorer;
    uint32_t count = 0;
    launch_table_ordered(&open, table, (struct launch_advice){NONE, NONE});
    open.rows.at[row].sealed = false;
    queue_init(&queue, &open);
    bool enough = !queue_find_circle(&queue, &circle);
    if (enough) {
        explorer_init(&explorer, &queue, ADVICE_STATES);
        enough = launches_mend(&explorer, mends, false) == LAUNCHES_SAFE;
        explorer_free(&explorer);
    }
    for (uint32_t i = 0; i < mends->count; i++)
        if (mends->at[i].row == row)
            mends->at[count++] = mends->at[i];
    mends->count = count;
    queue_circle_free(&circle);
    queue_free(&queue);
    launch_table_free(&open);
    return enough && count > 0;
}

static bool has_circle(const struct launch_table *table, struct launch_advice order)
{
    struct launch_table ordered;
    struct queue queue;
    struct queue_circle circle;
    launch_table_ordered(&ordered, table, order);
    queue_init(&queue, &ordered);
    bool found = queue_find_circle(&queue, &circle);
    queue_circle_free(&circle);
    queue_free(&queue);
    launch_table_free(&ordered);
    return found;
}

bool launches_can_follow(const struct launch_table *table, const uint32_t *rows, uint32_t count,
                         uint32_t *tries)
{
    for (uint32_t n = 0; n < count * count && *tries; n++) {
        struct launch_advice order = {rows[n / count], rows[n % count]};
        if (order.first == order.behind)
            continue;
        --*tries;
        if (!has_circle(table, order))
            return true;
    }
    return false;
}

/* Whether two rows may be tried one behind the other. */
static bool is_pair(uint32_t first, uint32_t behind, uint32_t row)
{
    return first != behind && (row == NONE || first == row || behind == row);
}

/* Orders in which the text has the launches come first: an op can name what stands above it. */
bool launches_advise(struct launch_advice *advice, const struct launch_table *table,
                     const uint32_t *rows, uint32_t count, uint32_t row, uint32_t most,
                     uint32_t *tries)
{
    for (uint32_t n = 0; n < 2 * count * count; n++) {
        uint32_t first = rows[n / count % count], behind = rows[n % count];
        if ((first < behind) != (n < count * count) || !is_pair(first, behind, row))
            continue;
        if (*tries == 0)
            return false;
        --*tries;
        *advice = (struct launch_advice){first, behind};
        if (try_order(table, *advice, row, most))
            return true;
    }
    return false;
}
