#include "frontend/launches/task_splits.h"
#include "ir/base/json.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------- names ---- */

static void put_name(struct text *text, const struct intern *names, uint32_t name)
{
    text_bytes(text, names->names[name].text, names->names[name].size);
}

static void put_row_name(struct text *text, const void *user, uint32_t row)
{
    const struct task_rows *rows = user;
    uint32_t first = rows->tasks.at[row];
    if (first == NONE) {
        text_string(text, "an event");
        return;
    }
    const struct task *task = &rows->table->tasks.at[first];
    text_string(text, task->group == NONE ? "task " : "the scope of task ");
    if (task->id != NONE)
        put_name(text, &rows->table->names, task->id);
    else
        text_printf(text, "number %u", first);
}

static void put_event_name(struct text *text, const void *user, uint32_t event)
{
    const struct task_table *table = ((const struct task_rows *)user)->table;
    if (event < table->n_events)
        put_name(text, &table->events, table->event_names.at[event]);
    else
        text_string(text, "the end");
}

static void put_stream_name(struct text *text, const void *user, uint32_t stream)
{
    const struct task_table *table = ((const struct task_rows *)user)->table;
    text_string(text, "stream ");
    put_name(text, &table->streams, stream);
}

struct launch_names task_launch_names(const struct task_rows *rows)
{
    return (struct launch_names){rows, put_row_name, put_event_name, put_stream_name};
}

/* ------------------------------------------------------------------------- cutting ---- */

struct finder {
    struct task_splits *splits;
    struct task_table *table;
    struct task_rows rows;
    uint8_t *before; /* by task: its group is to be cut before it */
};

static void add_split(struct finder *finder, uint32_t task, enum split_action action,
                      const char *reason, uint32_t other)
{
    vec_push(&finder->splits->at, (struct split){task, action, reason, other});
    if (action == BEFORE_NODE)
        finder->before[task] = 1;
}

/* Each part that is cut off is a group of its own. */
static void cut_groups(struct finder *finder)
{
    const struct task_rows *rows = &finder->rows;
    uint32_t n = finder->table->n_groups;
    for (uint32_t g = 0; g < n; g++) {
        uint32_t group = g;
        for (uint32_t i = rows->first[g]; i < rows->first[g + 1]; i++) {
            uint32_t task = rows->order[i];
            if (finder->table->tasks.at[task].group == NONE)
                continue;
            if (finder->before[task] && i > rows->first[g])
                group = finder->table->n_groups++;
            finder->before[task] = 0;
            finder->table->tasks.at[task].group = group;
        }
    }
}

/* A kernel with barriers over all cores of its launch was built for those that it has alone. */
static void cut_barriers(struct finder *finder, uint32_t group)
{
    const struct task_rows *rows = &finder->rows;
    struct group_launch launch = task_rows_group(rows, group);
    uint32_t computes = 0;
    bool behind = false;
    for (uint32_t i = rows->first[group]; i < rows->first[group + 1] && launch.sync_all; i++) {
        const struct task *task = &finder->table->tasks.at[rows->order[i]];
        if (task->kind != TASK_COMPUTE)
            continue;
        bool other =
            task->sync_all && (task->shape != launch.shape || task->blocks != launch.blocks);
        if (computes++ && (other || behind))
            add_split(finder, rows->order[i], BEFORE_NODE,
                      other ? "full synchronisation: its kernel has barriers over all cores of its "
                              "launch, which has others here"
                            : "full synchronisation: the kernel before it has barriers over all "
                              "cores of its launch, which has others here",
                      NONE);
        behind = other;
    }
}

/* ------------------------------------------------------------------------- exploring ---- */

static uint32_t task_of_row(const struct finder *finder, uint32_t row)
{
    return row == NONE ? NONE : finder->rows.tasks.at[row];
}

static void take_cuts(struct finder *finder, const struct mends *mends)
{
    for (uint32_t i = 0; i < mends->count; i++)
        add_split(finder, finder->rows.launches.steps.at[mends->at[i].step].user, BEFORE_NODE,
                  "deadlock: waiting here the scope would keep cores that others lack",
                  task_of_row(finder, mends->at[i].other));
}

/* Of the scopes in the state found that keep cores and lack some, the one with the fewest blocks,
 * best one without steps: its stream, or NONE. */
static uint32_t choose_excluded(const struct finder *finder, const struct explorer *explorer)
{
    const struct queue *queue = explorer->queue;
    uint32_t best = NONE, least = UINT32_MAX;
    for (uint32_t s = 0; s < queue->table->n_streams; s++) {
        if (explorer_standing(explorer, s) != STANDS_FOR_CORES)
            continue;
        const struct part *part = queue_part(queue, s, explorer->stuck[s]);
        const struct launch_row *row = part_row(queue, part);
        uint32_t task = finder->rows.tasks.at[part->row];
        uint32_t group = task == NONE ? NONE : finder->table->tasks.at[task].group;
        uint32_t cost = 2 * row->blocks + (row->steps.count > 0);
        if (group == NONE || !row->keeps || cost >= least ||
            task_rows_group(&finder->rows, group).computes < 2)
            continue;
        best = s;
        least = cost;
    }
    return best;
}

static uint32_t other_lacking(const struct explorer *explorer, uint32_t stream)
{
    const struct queue *queue = explorer->queue;
    for (uint32_t s = 0; s < queue->table->n_streams; s++)
        if (s != stream && explorer_standing(explorer, s) == STANDS_FOR_CORES)
            return queue_part(queue, s, explorer->stuck[s])->row;
    return NONE;
}

/* Takes all tasks of a scope that lacks cores there out of it. Returns whether exploring can go on,
 * with a launch that keeps nothing; one with steps is looked at anew in the next round. */
static bool exclude(struct finder *finder, struct explorer *explorer)
{
    uint32_t stream = choose_excluded(finder, explorer);
    if (stream == NONE)
        return false;
    const struct part *part = queue_part(explorer->queue, stream, explorer->stuck[stream]);
    uint32_t group = finder->table->tasks.at[finder->rows.tasks.at[part->row]].group;
    uint32_t other = task_of_row(finder, other_lacking(explorer, stream));
    for (uint32_t i = finder->rows.first[group]; i < finder->rows.first[group + 1]; i++) {
        uint32_t task = finder->rows.order[i];
        if (finder->table->tasks.at[task].kind == TASK_COMPUTE)
            add_split(finder, task, EXCLUDE_NODE,
                      "deadlock: the scope could keep a part of the cores that it and others lack",
                      other);
        finder->table->tasks.at[task].group = NONE;
    }
    if (finder->rows.launches.rows.at[part->row].steps.count)
        return false;
    finder->rows.launches.rows.at[part->row].keeps = false;
    explorer_changed(explorer, stream, part->last);
    return true;
}

/* Parts of a scope that is cut are smaller than they are taken to be: what they keep from others is
 * looked at in the next round. */
static void explore(struct finder *finder, struct queue *queue)
{
    struct task_splits *splits = finder->splits;
    struct launch_names names = task_launch_names(&finder->rows);
    struct explorer explorer;
    struct mends mends = {NULL, 0, 0};
    explorer_init(&explorer, queue, EXPLORE_STATES);
    do
        splits->verdict = launches_mend(&explorer, &mends, true);
    while (splits->verdict == LAUNCHES_HANG && mends.count == 0 && exclude(finder, &explorer));
    launch_lines_free(&splits->state);
    if (splits->verdict == LAUNCHES_HANG)
        describe_state(&splits->state, &names, &explorer, true);
    splits->tried += explorer.tried;
    take_cuts(finder, &mends);
    vec_free(&mends);
    explorer_free(&explorer);
}

/* One round: whether anything was changed that calls for another. */
static bool find_round(struct finder *finder)
{
    struct task_splits *splits = finder->splits;
    struct queue queue;
    struct queue_circle circle;
    uint32_t before = splits->at.count;
    queue_init(&queue, &finder->rows.launches);
    if (queue_find_circle(&queue, &circle)) {
        struct launch_names names = task_launch_names(&finder->rows);
        splits->verdict = LAUNCHES_CIRCLE;
        launch_lines_free(&splits->state);
        describe_circle(&splits->state, &names, &queue, &circle);
    } else {
        explore(finder, &queue);
    }
    queue_circle_free(&circle);
    queue_free(&queue);
    cut_groups(finder);
    return splits->at.count > before;
}

enum { MAX_ROUNDS = 64 };

bool task_splits_find(struct task_splits *splits, struct task_table *table, struct diags *diags)
{
    struct finder finder = {
        .splits = splits, .table = table, .before = mem_calloc(table->tasks.count, 1)};
    bool ok = true, again = true;
    *splits = (struct task_splits){.verdict = LAUNCHES_SAFE};
    for (uint32_t round = 0; ok && again && round < MAX_ROUNDS; round++) {
        ok = task_rows_init(&finder.rows, table, diags);
        if (ok && round == 0) {
            for (uint32_t g = 0; g < table->n_groups; g++)
                cut_barriers(&finder, g);
            cut_groups(&finder);
        }
        again = ok && (round == 0 || find_round(&finder));
        task_rows_free(&finder.rows);
    }
    if (again)
        splits->verdict = LAUNCHES_UNKNOWN;
    mem_free(finder.before);
    return ok;
}

void task_splits_free(struct task_splits *splits)
{
    vec_free(&splits->at);
    launch_lines_free(&splits->state);
}

/* ------------------------------------------------------------------------- printing ---- */

static void put_task(struct json *json, const struct task_table *table, uint32_t task)
{
    const struct task *t = &table->tasks.at[task];
    const struct intern_name *name = t->id == NONE ? NULL : &table->names.names[t->id];
    if (!name)
        json_unsigned(json, task);
    else if (t->counted)
        json_unsigned(json, strtoull(name->text, NULL, 10));
    else
        json_bytes(json, name->text, name->size);
}

static void put_split(struct json *json, const struct task_table *table, const struct split *split)
{
    json_line(json);
    json_open_object(json);
    json_key(json, "node");
    put_task(json, table, split->task);
    json_add_string(json, "action", split->action == BEFORE_NODE ? "BEFORE_NODE" : "EXCLUDE_NODE");
    json_add_string(json, "reason", split->reason);
    if (split->other != NONE) {
        json_key(json, "other");
        put_task(json, table, split->other);
    }
    json_close_object(json);
}

void task_splits_print(struct text *text, const struct task_splits *splits,
                       const struct task_table *table)
{
    static const char *const verdicts[] = {
        [LAUNCHES_SAFE] = "safe",
        [LAUNCHES_HANG] = "hangs",
        [LAUNCHES_CIRCLE] = "circle",
        [LAUNCHES_UNKNOWN] = "unknown",
    };
    struct json json = {.text = text};
    json_open_object(&json);
    json_add_string(&json, "verdict", verdicts[splits->verdict]);
    json_add_unsigned(&json, "states", splits->tried);
    json_line(&json);
    json_key(&json, "splits");
    json_open_array(&json);
    for (uint32_t i = 0; i < splits->at.count; i++)
        put_split(&json, table, &splits->at.at[i]);
    json_close_array(&json);
    json_line(&json);
    json_key(&json, "state");
    json_open_array(&json);
    for (uint32_t i = 0; i < splits->state.count; i++) {
        json_line(&json);
        json_string(&json, splits->state.at[i].text);
    }
    json_close_array(&json);
    json_close_object(&json);
    text_char(text, '\n');
}
