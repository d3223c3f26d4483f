#include "passes/launches/mend.h"

/* A launch that waits in the middle in the state found. */
struct choice {
    uint32_t stream; /* NONE: there is none */
    bool cut;
    uint32_t worth;
};

static bool waits_for_itself(const struct explorer *explorer, uint32_t stream)
{
    const struct queue *queue = explorer->queue;
    const struct part *part = queue_part(queue, stream, explorer->stuck[stream]);
    const struct stop *stop = queue_stop(queue, stream, explorer->stuck[stream]);
    return queue_depends(queue, explorer_root(explorer, stream, part->first), part, stop->event);
}

/* Best is one without which the others would go on, and then one that can wait as a whole. A wait
 * that comes first in its launch has nothing before it to cut off. */
static void offer(struct explorer *explorer, struct choice *best, uint32_t stream)
{
    const struct queue *queue = explorer->queue;
    const struct part *part = queue_part(queue, stream, explorer->stuck[stream]);
    if (part_row(queue, part)->sealed || explorer_standing(explorer, stream) != STANDS_IN_WAIT)
        return;
    struct choice choice = {.stream = stream};
    choice.worth = explorer_hangs_without(explorer, stream) ? 1 : 3;
    choice.cut = waits_for_itself(explorer, stream);
    choice.worth += !choice.cut;
    if (choice.worth > best->worth)
        *best = choice;
}

static uint32_t lacking_row(const struct explorer *explorer)
{
    const struct queue *queue = explorer->queue;
    for (uint32_t i = 0; i < queue->table->n_streams; i++)
        if (explorer_standing(explorer, i) == STANDS_FOR_CORES)
            return queue_part(queue, i, explorer->stuck[i])->row;
    return NONE;
}

/* The row itself comes first. */
static void add_beside(struct mend *mend, const struct explorer *explorer)
{
    const struct queue *queue = explorer->queue;
    mend->beside[mend->n_beside++] = mend->row;
    for (uint32_t i = 0; i < queue->table->n_streams && mend->n_beside < MEND_BESIDE; i++) {
        if (queue_is_over(queue, i, explorer->stuck[i]))
            continue;
        uint32_t row = queue_part(queue, i, explorer->stuck[i])->row;
        if (row != mend->row)
            mend->beside[mend->n_beside++] = row;
    }
}

static bool mend_state(struct explorer *explorer, struct mends *mends, bool cuts)
{
    struct queue *queue = explorer->queue;
    struct choice best = {.stream = NONE};
    for (uint32_t i = 0; i < queue->table->n_streams; i++)
        if (!queue_is_over(queue, i, explorer->stuck[i]))
            offer(explorer, &best, i);
    if (best.stream == NONE)
        return false;
    best.cut = best.cut || cuts;
    uint32_t position = explorer->stuck[best.stream];
    const struct part *part = queue_part(queue, best.stream, position);
    uint32_t step = queue_stop(queue, best.stream, position)->step;
    struct mend mend = {
        .cut = best.cut, .row = part->row, .step = step, .other = lacking_row(explorer)};
    add_beside(&mend, explorer);
    vec_push(mends, mend);
    if (best.cut)
        queue_cut(queue, best.stream, position);
    else
        queue_move_wait(queue, best.stream, position);
    explorer_changed(explorer, best.stream, position);
    return true;
}

enum verdict launches_mend(struct explorer *explorer, struct mends *mends, bool cuts)
{
    enum verdict verdict;
    do
        verdict = explorer_run(explorer);
    while (verdict == LAUNCHES_HANG && mend_state(explorer, mends, cuts));
    return verdict;
}
