#include "passes/launches/describe.h"
#include "ir/syntax/spelling.h"

/* ------------------------------------------------------------------------- names ---- */

static void put_row_name(struct text *text, const void *user, uint32_t row)
{
    const struct graph_launches *launches = user;
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

static void put_event_name(struct text *text, const void *user, uint32_t event)
{
    const struct graph_launches *launches = user;
    spell_event(text, launches->module, launches->events.at[event]);
}

static void put_stream_name(struct text *text, const void *user, uint32_t stream)
{
    const struct graph_launches *launches = user;
    uint32_t label = launches->streams.at[stream];
    if (label == NONE)
        text_string(text, "the default stream");
    else
        text_printf(text, "stream \"%.*s\"", NAME(launches->module, label));
}

struct launch_names graph_launch_names(const struct graph_launches *launches)
{
    return (struct launch_names){launches, put_row_name, put_event_name, put_stream_name};
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

static void put_cores(struct text *text, enum block_shape shape, uint64_t blocks)
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

/* One clause behind another: "; waits for a, b before it starts". */
struct clause {
    struct text *text;
    const struct launch_names *names;
    const char *verb;
    bool begun;
};

static void put_event(struct clause *clause, uint32_t event)
{
    text_string(clause->text, clause->begun ? ", " : clause->verb);
    clause->names->event(clause->text, clause->names->user, event);
    clause->begun = true;
}

static void end_clause(struct clause *clause, const char *when)
{
    if (clause->begun)
        text_string(clause->text, when);
    clause->begun = false;
}

static void put_steps(struct text *text, const struct launch_names *names,
                      const struct launch_table *table, const struct launch_row *row)
{
    for (uint32_t i = 0; i < row->steps.count;) {
        enum step_kind kind = table->steps.at[row->steps.first + i].kind;
        struct clause clause = {text, names, kind == STEP_WAIT ? "; waits for " : "; sends ",
                                false};
        for (; i < row->steps.count && table->steps.at[row->steps.first + i].kind == kind; i++)
            put_event(&clause, table->steps.at[row->steps.first + i].event);
        end_clause(&clause, " in the middle");
    }
}

static void put_events(struct text *text, const struct launch_names *names,
                       const struct launch_table *table, struct range events, const char *verb,
                       const char *when)
{
    struct clause clause = {text, names, verb, false};
    for (uint32_t i = 0; i < events.count; i++)
        put_event(&clause, table->events.at[events.first + i]);
    end_clause(&clause, when);
}

void describe_row(struct text *text, const struct launch_names *names,
                  const struct launch_table *table, uint32_t index)
{
    const struct launch_row *row = &table->rows.at[index];
    text_printf(text, "%u: ", index);
    names->row(text, names->user, index);
    text_string(text, " on ");
    names->stream(text, names->user, row->stream);
    if (row->blocks > 0)
        text_printf(text, ", %s", shape_info(row->shape)->name);
    text_string(text, ", ");
    if (row->blocks == 0)
        text_string(text, "no cores");
    else
        put_cores(text, row->shape, row->blocks);
    text_string(text, row->keeps ? " at once" : row->blocks > 1 ? " in turn" : "");
    put_events(text, names, table, row->waits, "; waits for ", " before it starts");
    put_steps(text, names, table, row);
    put_events(text, names, table, row->sends, "; sends ", " at its end");
}

/* ------------------------------------------------------------------------- a state ---- */

/* What a stream's next launch waits for in a state, and is not sent. */
struct missing {
    const struct queue *queue;
    const uint32_t *positions;
    uint32_t of; /* sent by this stream, or NONE: by any */
    uint32_t event;
};

static void look(void *user, uint32_t event)
{
    struct missing *missing = user;
    if (!queue_is_sent(missing->queue, missing->positions, event) &&
        (missing->of == NONE || missing->of == missing->queue->senders[event].stream))
        missing->event = event;
}

static void put_missing(struct text *text, const struct launch_names *names,
                        const struct queue *queue, const uint32_t *positions, uint32_t stream,
                        uint32_t of)
{
    struct missing missing = {queue, positions, of, NONE};
    queue_needs(queue, stream, positions[stream], look, &missing);
    if (missing.event == NONE)
        return;
    names->event(text, names->user, missing.event);
    text_string(text, " of ");
    const struct sender *sender = &queue->senders[missing.event];
    names->row(text, names->user, queue_part(queue, sender->stream, sender->stop)->row);
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

static void put_standing(struct text *text, const struct launch_names *names,
                         const struct explorer *explorer, uint32_t stream, uint64_t blocks)
{
    const struct queue *queue = explorer->queue;
    const struct part *part = queue_part(queue, stream, explorer->stuck[stream]);
    const struct launch_row *row = part_row(queue, part);
    enum standing standing = explorer_standing(explorer, stream);
    names->row(text, names->user, part->row);
    text_string(text, " on ");
    names->stream(text, names->user, row->stream);
    if (standing == STANDS_BEFORE_START) {
        text_string(text, " has not started, and waits for ");
        put_missing(text, names, queue, explorer->stuck, stream, NONE);
        return;
    }
    text_string(text, " has ");
    put_share(text, row, blocks);
    if (standing == STANDS_IN_WAIT) {
        text_string(text, ", and waits in the middle for ");
        put_missing(text, names, queue, explorer->stuck, stream, NONE);
    } else {
        text_string(text, row->keeps && blocks ? ", keeps them, and lacks the others"
                                               : ", and finds none");
    }
}

enum { WAY_STATES = 16 };

/* What a stream has passed from one state to the next. */
static void put_passed(struct text *text, const struct launch_names *names,
                       const struct queue *queue, uint32_t stream, uint32_t from, uint32_t to)
{
    const struct part *last = queue_part(queue, stream, to - 1),
                      *first = queue_part(queue, stream, from);
    bool ended = last->last < to;
    if (text->size)
        text_string(text, ", then ");
    if (first->row != last->row) {
        text_string(text, "from ");
        names->row(text, names->user, first->row);
        text_string(text, " to ");
    }
    names->row(text, names->user, last->row);
    if (ended) {
        text_string(text, " ended");
        return;
    }
    text_string(text, " passed ");
    names->event(text, names->user, queue_stop(queue, stream, to - 1)->event);
}

static void put_change(struct text *text, const struct launch_names *names,
                       const struct explorer *explorer, const uint32_t *from, const uint32_t *to)
{
    for (uint32_t i = 0; i < explorer->queue->table->n_streams; i++)
        if (to[i] > from[i])
            put_passed(text, names, explorer->queue, i, from[i], to[i]);
}

/* The last states before the one that was found. */
static void describe_way(struct launch_lines *lines, const struct launch_names *names,
                         const struct explorer *explorer)
{
    const uint32_t *states[WAY_STATES + 1] = {explorer->stuck}, *state;
    uint32_t count = 1, id = explorer->found;
    struct text text = {NULL, 0, 0};
    while (count <= WAY_STATES && (state = explorer_before(explorer, &id)))
        states[count++] = state;
    if (id == NONE && count <= WAY_STATES)
        states[count++] = explorer->roots.at; /* from the beginning, or a root */
    while (--count > 0)
        put_change(&text, names, explorer, states[count], states[count - 1]);
    if (text.size)
        add_line(lines, NONE, &text);
    text_free(&text);
}

void describe_state(struct launch_lines *lines, const struct launch_names *names,
                    const struct explorer *explorer, bool way)
{
    const struct queue *queue = explorer->queue;
    uint32_t n = queue->table->n_streams;
    uint64_t *blocks = mem_calloc(n, sizeof *blocks);
    explorer_shares(explorer, blocks);
    for (uint32_t i = 0; i < n; i++) {
        struct text text = {NULL, 0, 0};
        if (explorer_standing(explorer, i) == STANDS_OVER)
            continue;
        put_standing(&text, names, explorer, i, blocks[i]);
        add_line(lines, queue_part(queue, i, explorer->stuck[i])->row, &text);
    }
    mem_free(blocks);
    if (way)
        describe_way(lines, names, explorer);
}

void describe_circle(struct launch_lines *lines, const struct launch_names *names,
                     const struct queue *queue, const struct queue_circle *circle)
{
    uint32_t n = circle->streams.count;
    for (uint32_t i = 0; i < n; i++) {
        struct text text = {NULL, 0, 0};
        uint32_t stream = circle->streams.at[i], next = circle->streams.at[(i + 1) % n];
        uint32_t position = circle->positions[stream];
        const struct part *part = queue_part(queue, stream, position);
        bool started = position > part->first || queue_may_start(circle->positions, part);
        names->row(&text, names->user, part->row);
        text_string(&text, " on ");
        names->stream(&text, names->user, stream);
        text_string(&text,
                    started ? " waits in the middle for " : " has not started, and waits for ");
        put_missing(&text, names, queue, circle->positions, stream, next);
        add_line(lines, part->row, &text);
    }
}
