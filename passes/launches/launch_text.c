#include "passes/launches/launch_text.h"
#include "ir/syntax/spelling.h"

#include <string.h>

/* ------------------------------------------------------------------------- names ---- */

void launch_name(struct text *text, const struct graph_launches *launches, uint32_t row)
{
    struct launch_source source = launches->sources.at[row];
    struct arena arena = {NULL, 0};
    if (source.block != NONE)
        text_printf(text, "'@%.*s'",
                    NAME(launches->module, launches->graph->blocks.at[source.block].name));
    else
        text_string(text, op_text(launches->module, launches->graph,
                                  &launches->graph->ops.at[source.op], &arena));
    arena_free(&arena);
}

static void put_event(struct text *text, const struct graph_launches *launches, uint32_t event)
{
    spell_event(text, launches->module, launches->events.at[event]);
}

/* "'@g_s' on stream "1"". */
static void put_launch(struct text *text, const struct graph_launches *launches, uint32_t row)
{
    uint32_t label = launches->streams.at[launches->table.rows.at[row].stream];
    launch_name(text, launches, row);
    if (label == NONE)
        text_string(text, " on the default stream");
    else
        text_printf(text, " on stream \"%.*s\"", NAME(launches->module, label));
}

/* ------------------------------------------------------------------------- lines ---- */

void launch_lines_free(struct launch_lines *lines)
{
    for (uint32_t i = 0; i < lines->count; i++)
        mem_free(lines->at[i].text);
    vec_free(lines);
}

/* The text becomes the line's. */
static void add_line(struct launch_lines *lines, uint32_t row, struct text *text)
{
    text_char(text, '\0');
    vec_push(lines, (struct launch_line){row, text->at});
    *text = (struct text){NULL, 0, 0};
}

/* ------------------------------------------------------------------------- rows ---- */

void launch_cores(struct text *text, enum block_shape shape, uint64_t blocks)
{
    const struct shape_info *info = shape_info(shape);
    const uint64_t counts[2] = {blocks * info->aics, blocks * info->aivs};
    static const char *const names[2] = {"AIC", "AIV"};
    const char *between = "";
    for (int i = 0; i < 2; i++) {
        if (i == 0 ? !info->aics : !info->aivs)
            continue;
        text_printf(text, "%s%llu %s%s", between, (unsigned long long)counts[i], names[i],
                    counts[i] == 1 ? "" : "s");
        between = " and ";
    }
}

/* One clause after another: "; waits for a, b before it starts". */
struct clause {
    struct text *text;
    const struct graph_launches *launches;
    const char *verb;
    bool begun;
};

static void add_event(struct clause *clause, uint32_t event)
{
    text_string(clause->text, clause->begun ? ", " : clause->verb);
    put_event(clause->text, clause->launches, event);
    clause->begun = true;
}

static void end_clause(const struct clause *clause, const char *when)
{
    if (clause->begun)
        text_string(clause->text, when);
}

static void put_steps(struct text *text, const struct graph_launches *launches,
                      const struct launch_row *row)
{
    const struct launch_step *steps = launches->table.steps.at + row->steps.first;
    for (uint32_t i = 0; i < row->steps.count;) {
        enum step_kind kind = steps[i].kind;
        struct clause clause = {text, launches, kind == STEP_WAIT ? "; waits for " : "; sends ",
                                false};
        for (; i < row->steps.count && steps[i].kind == kind; i++)
            add_event(&clause, steps[i].event);
        end_clause(&clause, " in the middle");
    }
}

static void put_events(struct text *text, const struct graph_launches *launches,
                       struct range events, const char *verb, const char *when)
{
    struct clause clause = {text, launches, verb, false};
    for (uint32_t i = 0; i < events.count; i++)
        add_event(&clause, launches->table.events.at[events.first + i]);
    end_clause(&clause, when);
}

void describe_row(struct text *text, const struct graph_launches *launches, uint32_t index)
{
    const struct launch_row *row = &launches->table.rows.at[index];
    text_printf(text, "%u: ", index);
    put_launch(text, launches, index);
    if (row->blocks > 0)
        text_printf(text, ", %s", shape_info(row->shape)->name);
    text_string(text, ", ");
    if (row->blocks == 0)
        text_string(text, "no cores");
    else
        launch_cores(text, row->shape, row->blocks);
    text_string(text, row->keeps ? " at once" : row->blocks > 1 ? " in turn" : "");
    put_events(text, launches, row->waits, "; waits for ", " before it starts");
    put_steps(text, launches, row);
    put_events(text, launches, row->sends, "; sends ", " at its end");
}

/* ------------------------------------------------------------------------- a state ---- */

/* "e of '@g_s'": what a lane waits for, which is not sent. */
static void put_missing(struct text *text, const struct graph_launches *launches,
                        const struct queue *queue, const uint32_t *positions, uint32_t lane)
{
    uint32_t event = queue_lacks(queue, positions, lane);
    if (event == NONE)
        return;
    const struct sender *sender = &queue->senders[event];
    put_event(text, launches, event);
    text_string(text, " of ");
    launch_name(text, launches, queue_part(queue, sender->lane, sender->stop)->row);
}

/* "23 of 24 AICs and 46 of 48 AIVs"; of a launch that keeps nothing it is what a block takes. */
static void put_share(struct text *text, const struct launch_row *row, uint64_t blocks)
{
    const struct shape_info *info = shape_info(row->shape);
    uint64_t all = row->keeps ? row->blocks : 1;
    if (info->aics)
        text_printf(text, "%llu of %llu AIC%s", (unsigned long long)blocks, (unsigned long long)all,
                    all == 1 ? "" : "s");
    if (info->aivs)
        text_printf(text, "%s%llu of %llu AIV%s", info->aics ? " and " : "",
                    (unsigned long long)(blocks * info->aivs),
                    (unsigned long long)(all * info->aivs), all * info->aivs == 1 ? "" : "s");
}

static void put_standing(struct text *text, const struct graph_launches *launches,
                         const struct search *search, uint32_t stream, uint64_t blocks)
{
    const struct queue *queue = search->queue;
    uint32_t lane, index = queue_part(queue, stream, search->stuck[stream])->row;
    const struct launch_row *row = &queue->table->rows.at[index];
    enum standing standing = search_standing(search, stream, &lane);
    put_launch(text, launches, index);
    if (standing == STANDS_BEFORE_START) {
        text_string(text, " has not started, and waits for ");
        put_missing(text, launches, queue, search->stuck, lane);
        return;
    }
    text_string(text, " has ");
    put_share(text, row, blocks);
    if (standing == STANDS_IN_WAIT) {
        text_string(text, ", and waits in the middle for ");
        put_missing(text, launches, queue, search->stuck, lane);
    } else {
        text_string(text, row->keeps && blocks ? ", keeps them, and lacks the others"
                                               : ", and finds none");
    }
}

enum { WAY_STATES = 16 };

/* What a stream has passed from one state to the next. */
static void put_passed(struct text *text, const struct graph_launches *launches,
                       const struct queue *queue, uint32_t lane, uint32_t from, uint32_t to)
{
    const struct part *last = queue_part(queue, lane, to - 1),
                      *first = queue_part(queue, lane, from);
    if (text->size)
        text_string(text, ", then ");
    if (first->row != last->row) {
        text_string(text, "from ");
        launch_name(text, launches, first->row);
        text_string(text, " to ");
    }
    launch_name(text, launches, last->row);
    if (last->last[lane != last->stream] < to) {
        text_string(text, " ended");
        return;
    }
    text_string(text, " passed ");
    put_event(text, launches, queue_stop(queue, lane, to - 1)->event);
}

static void put_change(struct text *text, const struct graph_launches *launches,
                       const struct queue *queue, const uint32_t *from, const uint32_t *to)
{
    for (uint32_t lane = 0; lane < queue->n_lanes; lane++) {
        uint32_t stream = queue->lanes[lane].stream;
        bool told = lane != stream && to[stream] > from[stream];
        if (to[lane] > from[lane] && !told)
            put_passed(text, launches, queue, lane, from[lane], to[lane]);
    }
}

/* The last states before the one that hangs. */
static void describe_way(struct launch_lines *lines, const struct graph_launches *launches,
                         const struct search *search)
{
    const struct queue *queue = search->queue;
    uint32_t n = queue->n_lanes, count = 1, id = search->stuck_id;
    uint32_t *states = mem_calloc((WAY_STATES + 2) * (size_t)n, sizeof *states);
    struct text text = {NULL, 0, 0};
    memcpy(states, search->stuck, n * sizeof *states);
    while (count <= WAY_STATES && search_previous(search, &id, states + (size_t)count * n))
        count++;
    if (count <= WAY_STATES) /* from the beginning, or a root */
        memcpy(states + (size_t)count++ * n, search->roots.at, n * sizeof *states);
    while (--count > 0)
        put_change(&text, launches, queue, states + (size_t)count * n,
                   states + (size_t)(count - 1) * n);
    if (text.size)
        add_line(lines, NONE, &text);
    text_free(&text);
    mem_free(states);
}

void describe_state(struct launch_lines *lines, const struct graph_launches *launches,
                    const struct search *search)
{
    const struct queue *queue = search->queue;
    uint32_t n = queue->table->n_streams, lane;
    uint64_t *blocks = mem_calloc(n, sizeof *blocks);
    search_shares(search, blocks);
    for (uint32_t s = 0; s < n; s++) {
        struct text text = {NULL, 0, 0};
        if (search_standing(search, s, &lane) == STANDS_OVER)
            continue;
        put_standing(&text, launches, search, s, blocks[s]);
        add_line(lines, queue_part(queue, s, search->stuck[s])->row, &text);
    }
    mem_free(blocks);
    describe_way(lines, launches, search);
}

void describe_cycle(struct launch_lines *lines, const struct graph_launches *launches,
                    const struct queue *queue, const uint32_t *positions)
{
    struct vec_u32 lanes = {NULL, 0, 0};
    queue_find_cycle(queue, positions, &lanes);
    for (uint32_t i = 0; i < lanes.count; i++) {
        struct text text = {NULL, 0, 0};
        uint32_t lane = lanes.at[i];
        const struct part *part = queue_part(queue, lane, positions[lane]);
        put_launch(&text, launches, part->row);
        text_string(&text, queue_is_started(queue, positions, part)
                               ? " waits in the middle for "
                               : " has not started, and waits for ");
        put_missing(&text, launches, queue, positions, lane);
        add_line(lines, part->row, &text);
    }
    vec_free(&lanes);
}
