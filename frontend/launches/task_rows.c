#include "frontend/launches/task_rows.h"

#include <string.h>

/* Tasks of a stream that stand together: of one group, or one of none. */
struct run {
    uint32_t stream, group;
    uint32_t first, count; /* in by_stream */
    uint32_t next;         /* run of the group, or NONE */
    uint32_t at;           /* while the group is put in order: how many tasks are placed */
    uint32_t waiting;      /* meanwhile: the next run that waits for the same event, or NONE */
};

struct builder {
    struct task_rows *rows;
    const struct task_table *table;
    struct diags *diags;
    uint32_t *by_stream; /* tasks */
    VEC(struct run) runs;
    uint32_t *first_run; /* by group, of its runs, by streams */
    uint8_t *outer;      /* by event: somebody outside of its sender's group waits for it */
    uint8_t *inner;      /* by event: somebody in it does */
    uint8_t *leading;    /* by task: a wait before all else that its group has on its stream */
    uint8_t *placed;     /* by task of a group */
    uint32_t *blocked;   /* by event: the first run that waits for it, or NONE */
    struct vec_u32 ready, late;
    uint32_t n_order;
    struct vec_u32 pending; /* waits of the stream at hand that stand in no group: events */
};

static const struct task *task_at(const struct builder *b, uint32_t task)
{
    return &b->table->tasks.at[task];
}

static bool is_inner(const struct builder *b, const struct task *wait)
{
    uint32_t sender = b->table->senders.at[wait->event];
    return wait->group != NONE && sender != NONE && task_at(b, sender)->group == wait->group;
}

static void find_receivers(struct builder *b)
{
    for (uint32_t i = 0; i < b->table->tasks.count; i++) {
        const struct task *task = task_at(b, i);
        if (task->kind == TASK_WAIT)
            (is_inner(b, task) ? b->inner : b->outer)[task->event] = 1;
    }
}

/* ------------------------------------------------------------------------- runs ---- */

static void sort_by_stream(struct builder *b)
{
    uint32_t n = b->table->tasks.count, n_streams = b->table->streams.count;
    uint32_t *fill = mem_calloc((size_t)n_streams + 1, sizeof *fill);
    for (uint32_t i = 0; i < n; i++)
        fill[task_at(b, i)->stream + 1]++;
    for (uint32_t s = 0; s < n_streams; s++)
        fill[s + 1] += fill[s];
    for (uint32_t i = 0; i < n; i++)
        b->by_stream[fill[task_at(b, i)->stream]++] = i;
    mem_free(fill);
}

/* Another run of its group on the stream: what stands between does not belong there. */
static bool report_between(const struct builder *b, const struct run *run, const struct run *last)
{
    const struct task *between = task_at(b, b->by_stream[last->first + last->count]);
    const struct task *behind = task_at(b, b->by_stream[run->first]);
    if (diag_at(b->diags, DIAG_foreign_form, between->span,
                "this task stands on its stream between tasks of a scope that it is not in"))
        diag_note(b->diags, behind->span, "that goes on here");
    return false;
}

static bool link_runs(struct builder *b)
{
    for (uint32_t i = b->runs.count; i-- > 0;) {
        struct run *run = &b->runs.at[i];
        if (run->group == NONE)
            continue;
        run->next = b->first_run[run->group];
        b->first_run[run->group] = i;
        if (run->next != NONE && b->runs.at[run->next].stream == run->stream)
            return report_between(b, &b->runs.at[run->next], run);
    }
    return true;
}

static bool find_runs(struct builder *b)
{
    for (uint32_t i = 0; i < b->table->tasks.count; i++) {
        const struct task *task = task_at(b, b->by_stream[i]);
        struct run *last = b->runs.count ? &b->runs.at[b->runs.count - 1] : NULL;
        if (last && task->group != NONE && last->group == task->group &&
            last->stream == task->stream)
            last->count++;
        else
            vec_push(&b->runs, (struct run){task->stream, task->group, i, 1, NONE, 0, NONE});
    }
    return link_runs(b);
}

/* ------------------------------------------------------------------------- groups ---- */

/* Has runs go on that wait for the event. */
static void wake(struct builder *b, uint32_t event)
{
    while (b->blocked[event] != NONE) {
        uint32_t run = b->blocked[event];
        b->blocked[event] = b->runs.at[run].waiting;
        vec_push(&b->ready, run);
    }
}

static void place(struct builder *b, uint32_t task)
{
    b->placed[task] = 1;
    b->rows->order[b->n_order++] = task;
    if (task_at(b, task)->kind == TASK_NOTIFY)
        wake(b, task_at(b, task)->event);
}

/* Places what a run has up to the next wait: for an event of the group, it goes on when that is
 * sent; for another one, when no run can do anything else. */
static void place_run(struct builder *b, uint32_t index, bool wait)
{
    struct run *run = &b->runs.at[index];
    for (; run->at < run->count; run->at++) {
        uint32_t task = b->by_stream[run->first + run->at];
        const struct task *t = task_at(b, task);
        uint32_t sender = t->kind == TASK_WAIT ? b->table->senders.at[t->event] : NONE;
        if (t->kind == TASK_WAIT && is_inner(b, t) && !b->placed[sender]) {
            run->waiting = b->blocked[t->event];
            b->blocked[t->event] = index;
            return;
        }
        if (t->kind == TASK_WAIT && !is_inner(b, t) && !b->leading[task] && !wait) {
            vec_push(&b->late, index);
            return;
        }
        wait = wait && t->kind != TASK_WAIT;
        place(b, task);
    }
}

static void find_leading(struct builder *b, const struct run *run)
{
    for (uint32_t i = 0; i < run->count; i++) {
        uint32_t task = b->by_stream[run->first + i];
        if (task_at(b, task)->kind != TASK_WAIT)
            return;
        b->leading[task] = !is_inner(b, task_at(b, task));
    }
}

/* The first task of a group that its launch does not come to. */
static bool report_circle(const struct builder *b, uint32_t group)
{
    for (uint32_t r = b->first_run[group]; r != NONE; r = b->runs.at[r].next) {
        const struct run *run = &b->runs.at[r];
        if (run->at == run->count)
            continue;
        diag_at(b->diags, DIAG_foreign_form, task_at(b, b->by_stream[run->first + run->at])->span,
                "this task waits for itself, by events of its scope");
        return false;
    }
    return true;
}

static bool order_group(struct builder *b, uint32_t group)
{
    uint32_t taken = 0;
    b->rows->first[group] = b->n_order;
    b->late.count = 0;
    for (uint32_t r = b->first_run[group]; r != NONE; r = b->runs.at[r].next) {
        find_leading(b, &b->runs.at[r]);
        vec_push(&b->ready, r);
    }
    while (b->ready.count || taken < b->late.count) {
        bool late = b->ready.count == 0;
        uint32_t run = late ? b->late.at[taken++] : b->ready.at[--b->ready.count];
        place_run(b, run, late);
    }
    b->rows->first[group + 1] = b->n_order;
    return report_circle(b, group);
}

static enum block_shape group_shape(bool cube, bool vector, uint32_t mixed, uint32_t aics,
                                    uint32_t aivs)
{
    if (!mixed && !(cube && vector))
        return cube ? SHAPE_CUBE : SHAPE_VECTOR;
    if (mixed == 1 && !cube && !vector)
        return SHAPE_MIX_1_1;
    return mixed < 2 && aivs <= aics ? SHAPE_MIX_1_1 : SHAPE_MIX_1_2;
}

/* By the rules of super kernels: docs/passes.md, "lower-superkernels". */
struct group_launch task_rows_group(const struct task_rows *rows, uint32_t group)
{
    struct group_launch launch = {.blocks = 0};
    uint32_t most[2] = {0, 0}, blocks = 0, mixed = 0;
    bool cube = false, vector = false;
    for (uint32_t i = rows->first[group]; i < rows->first[group + 1]; i++) {
        const struct task *task = &rows->table->tasks.at[rows->order[i]];
        const struct shape_info *info = shape_info(task->shape);
        if (task->kind != TASK_COMPUTE)
            continue;
        uint32_t aics = task->blocks * info->aics, aivs = task->blocks * info->aivs;
        most[0] = most[0] < aics ? aics : most[0];
        most[1] = most[1] < aivs ? aivs : most[1];
        blocks = blocks < task->blocks ? task->blocks : blocks;
        cube = cube || !info->aivs;
        vector = vector || !info->aics;
        mixed = info->aics && mixed < info->aivs ? info->aivs : mixed;
        launch.computes++;
        launch.sync_all = launch.sync_all || task->sync_all;
    }
    launch.shape = group_shape(cube, vector, mixed, most[0], most[1]);
    launch.blocks = blocks;
    if (launch.shape == SHAPE_MIX_1_1)
        launch.blocks = most[0] > most[1] ? most[0] : most[1];
    if (launch.shape == SHAPE_MIX_1_2)
        launch.blocks = most[0] > (most[1] + 1) / 2 ? most[0] : (most[1] + 1) / 2;
    return launch;
}

/* ------------------------------------------------------------------------- rows ---- */

/* The events by which a group comes behind what stands before it on a stream that is not its
 * own, and what stands behind comes behind it. */
static uint32_t border_event(const struct builder *b, uint32_t run, bool behind)
{
    return b->table->n_events + 2 * run + behind;
}

static struct launch_row *add_row(struct builder *b, uint32_t stream, uint32_t task,
                                  enum block_shape shape, uint32_t blocks)
{
    struct launch_table *launches = &b->rows->launches;
    vec_push(&b->rows->tasks, task);
    launch_table_add(launches, stream, shape, blocks);
    for (uint32_t i = 0; i < b->pending.count; i++)
        launch_table_wait(launches, b->pending.at[i]);
    b->pending.count = 0;
    return &launches->rows.at[launches->rows.count - 1];
}

static void add_single(struct builder *b, uint32_t task)
{
    const struct task *t = task_at(b, task);
    if (t->kind == TASK_WAIT) {
        vec_push(&b->pending, t->event);
        return;
    }
    bool computes = t->kind == TASK_COMPUTE;
    add_row(b, t->stream, computes ? task : NONE, t->shape, computes ? t->blocks : 0)->keeps =
        computes && t->sync_all && t->blocks > 1;
    if (t->kind == TASK_NOTIFY)
        launch_table_send(&b->rows->launches, t->event);
}

static void add_waits(struct builder *b, uint32_t group, uint32_t home)
{
    for (uint32_t r = b->first_run[group]; r != NONE; r = b->runs.at[r].next) {
        const struct run *run = &b->runs.at[r];
        if (r != home)
            launch_table_wait(&b->rows->launches, border_event(b, r, false));
        for (uint32_t i = 0; i < run->count; i++) {
            uint32_t task = b->by_stream[run->first + i];
            if (b->leading[task])
                launch_table_wait(&b->rows->launches, task_at(b, task)->event);
        }
    }
}

/* What is sent behind the last task that computes, or waits, is sent by the launch. */
static uint32_t find_end(const struct builder *b, uint32_t group)
{
    uint32_t end = b->rows->first[group + 1];
    while (end > b->rows->first[group] && task_at(b, b->rows->order[end - 1])->kind == TASK_NOTIFY)
        end--;
    return end;
}

static bool is_sent_outside(const struct builder *b, const struct task *notify)
{
    return b->outer[notify->event] || !b->inner[notify->event];
}

/* Its wide tasks are known to be complete only by a barrier over all blocks: a notification behind
 * one on its stream comes when all blocks have their cores. */
static void add_steps(struct builder *b, uint32_t group, uint32_t end)
{
    struct launch_table *launches = &b->rows->launches;
    struct id_map wide = {NULL, 0, 0};
    for (uint32_t i = b->rows->first[group]; i < end; i++) {
        uint32_t task = b->rows->order[i];
        const struct task *t = task_at(b, task);
        if (t->kind == TASK_COMPUTE && t->blocks > (t->shape == SHAPE_VECTOR ? 2 : 1))
            id_map_set(&wide, t->stream, 1);
        if (t->kind == TASK_WAIT && !is_inner(b, t) && !b->leading[task])
            launch_table_step(launches, STEP_WAIT, t->event, task);
        if (t->kind != TASK_NOTIFY || !is_sent_outside(b, t))
            continue;
        launch_table_step(launches, STEP_NOTIFY, t->event, task);
        launches->steps.at[launches->steps.count - 1].early = id_map_find(&wide, t->stream) == NONE;
    }
    id_map_free(&wide);
}

static void add_sends(struct builder *b, uint32_t group, uint32_t end, uint32_t home)
{
    struct launch_table *launches = &b->rows->launches;
    for (uint32_t i = end; i < b->rows->first[group + 1]; i++)
        if (is_sent_outside(b, task_at(b, b->rows->order[i])))
            launch_table_send(launches, task_at(b, b->rows->order[i])->event);
    for (uint32_t r = b->first_run[group]; r != NONE; r = b->runs.at[r].next)
        if (r != home)
            launch_table_send(launches, border_event(b, r, true));
}

static void add_group(struct builder *b, uint32_t run)
{
    uint32_t group = b->runs.at[run].group, end = find_end(b, group);
    struct group_launch launch = task_rows_group(b->rows, group);
    struct launch_row *row = add_row(b, b->runs.at[run].stream, b->by_stream[b->runs.at[run].first],
                                     launch.shape, launch.blocks);
    row->keeps = launch.blocks > 1 && (launch.computes > 1 || launch.sync_all);
    add_waits(b, group, run);
    add_steps(b, group, end);
    add_sends(b, group, end, run);
}

/* A group's launch is on the stream of the first of its tasks in the table. */
static uint32_t home_run(const struct builder *b, uint32_t group)
{
    uint32_t home = b->first_run[group];
    for (uint32_t r = home; r != NONE; r = b->runs.at[r].next)
        if (b->by_stream[b->runs.at[r].first] < b->by_stream[b->runs.at[home].first])
            home = r;
    return home;
}

static void flush_waits(struct builder *b, uint32_t stream)
{
    if (b->pending.count)
        add_row(b, stream, NONE, SHAPE_VECTOR, 0);
}

static void add_run(struct builder *b, uint32_t index)
{
    const struct run *run = &b->runs.at[index];
    if (run->group == NONE) {
        add_single(b, b->by_stream[run->first]);
    } else if (home_run(b, run->group) == index) {
        add_group(b, index);
    } else {
        add_row(b, run->stream, NONE, SHAPE_VECTOR, 0);
        launch_table_send(&b->rows->launches, border_event(b, index, false));
        vec_push(&b->pending, border_event(b, index, true));
    }
}

static void add_rows(struct builder *b)
{
    for (uint32_t i = 0; i < b->runs.count; i++) {
        add_run(b, i);
        if (i + 1 == b->runs.count || b->runs.at[i + 1].stream != b->runs.at[i].stream)
            flush_waits(b, b->runs.at[i].stream);
    }
    b->rows->launches.n_streams = b->table->streams.count;
    b->rows->launches.n_events = border_event(b, b->runs.count, false);
}

/* ------------------------------------------------------------------------- all ---- */

static bool build(struct builder *b)
{
    bool ok = find_runs(b);
    for (uint32_t g = 0; g < b->table->n_groups && ok; g++)
        ok = order_group(b, g);
    if (ok)
        add_rows(b);
    return ok;
}

bool task_rows_init(struct task_rows *rows, const struct task_table *table, struct diags *diags)
{
    uint32_t n = table->tasks.count, n_events = table->n_events;
    *rows = (struct task_rows){.table = table, .launches = {.device = table->device}};
    rows->first = mem_calloc((size_t)table->n_groups + 1, sizeof *rows->first);
    rows->order = mem_calloc(n, sizeof *rows->order);
    struct builder b = {.rows = rows,
                        .table = table,
                        .diags = diags,
                        .by_stream = mem_calloc(n, sizeof *b.by_stream),
                        .first_run = mem_calloc(table->n_groups, sizeof *b.first_run),
                        .outer = mem_calloc(n_events, 1),
                        .inner = mem_calloc(n_events, 1),
                        .leading = mem_calloc(n, 1),
                        .placed = mem_calloc(n, 1),
                        .blocked = mem_calloc(n_events, sizeof *b.blocked)};
    memset(b.first_run, 0xff, table->n_groups * sizeof *b.first_run); /* NONE */
    memset(b.blocked, 0xff, n_events * sizeof *b.blocked);
    sort_by_stream(&b);
    find_receivers(&b);
    bool ok = build(&b);
    mem_free(b.by_stream);
    mem_free(b.first_run);
    mem_free(b.outer);
    mem_free(b.inner);
    mem_free(b.leading);
    mem_free(b.placed);
    mem_free(b.blocked);
    vec_free(&b.runs);
    vec_free(&b.ready);
    vec_free(&b.late);
    vec_free(&b.pending);
    return ok;
}

void task_rows_free(struct task_rows *rows)
{
    launch_table_free(&rows->launches);
    vec_free(&rows->tasks);
    mem_free(rows->first);
    mem_free(rows->order);
}
