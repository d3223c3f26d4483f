#include "passes/residency/launch_report.h"
#include "ir/shapes/gears.h"
#include "ir/support/components.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

#include <string.h>

/* ------------------------------------------------------------------------- rows ---- */

static void launch_name(struct text *text, const struct graph_launches *launches, uint32_t row)
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

/* "23 of 24 AICs and 46 of 48 AIVs": the cores of blocks, and how many of them are held. */
static void put_cores(struct text *text, enum block_shape shape, uint64_t blocks,
                      const uint64_t *held)
{
    const struct shape_info *info = shape_info(shape);
    const uint32_t takes[2] = {info->aics, info->aivs};
    for (int i = 0; i < 2; i++) {
        unsigned long long count = blocks * takes[i];
        if (!takes[i])
            continue;
        if (i == 1 && takes[0])
            text_string(text, " and ");
        if (held)
            text_printf(text, "%llu of ", (unsigned long long)*held * takes[i]);
        text_printf(text, "%llu %s%s", count, i == 0 ? "AIC" : "AIV", count == 1 ? "" : "s");
    }
}

/* A list of events: begins with `verb`, ends with `when`. */
struct event_clause {
    const char *verb, *when;
};
enum { WAITS_BEFORE, WAITS_INSIDE, SENDS_INSIDE, SENDS_AT_END };
static const struct event_clause event_clauses[] = {
    [WAITS_BEFORE] = {"; waits for ", " before it starts"},
    [WAITS_INSIDE] = {"; waits for ", " in the middle"},
    [SENDS_INSIDE] = {"; sends ", " in the middle"},
    [SENDS_AT_END] = {"; sends ", " at its end"},
};

/* Goes on with a clause, or ends the open one (-1: there is none) and begins it. */
static void put_clause(struct text *text, const struct graph_launches *launches, int *open,
                       int clause, uint32_t event)
{
    if (*open >= 0 && *open != clause)
        text_string(text, event_clauses[*open].when);
    if (clause >= 0) {
        text_string(text, *open == clause ? ", " : event_clauses[clause].verb);
        put_event(text, launches, event);
    }
    *open = clause;
}

void describe_row(struct text *text, const struct graph_launches *launches, uint32_t index)
{
    const struct launch_table *table = &launches->table;
    const struct launch_row *row = &table->rows.at[index];
    int open = -1;
    text_printf(text, "%u: ", index);
    put_launch(text, launches, index);
    if (row->blocks > 0) {
        text_printf(text, ", %s, ", shape_info(row->shape)->name);
        put_cores(text, row->shape, row->blocks, NULL);
    } else {
        text_string(text, ", no cores");
    }
    text_string(text, row->keeps ? " at once" : row->blocks > 1 ? " in turn" : "");
    for (uint32_t i = 0; i < row->waits.count; i++)
        put_clause(text, launches, &open, WAITS_BEFORE, table->events.at[row->waits.first + i]);
    for (uint32_t i = 0; i < row->steps.count; i++) {
        const struct launch_step *step = &table->steps.at[row->steps.first + i];
        put_clause(text, launches, &open, step->kind == STEP_WAIT ? WAITS_INSIDE : SENDS_INSIDE,
                   step->event);
    }
    for (uint32_t i = 0; i < row->sends.count; i++)
        put_clause(text, launches, &open, SENDS_AT_END, table->events.at[row->sends.first + i]);
    put_clause(text, launches, &open, -1, NONE);
}

/* ------------------------------------------------------------------------- hangs ---- */

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

/* What the n-th lane of a part waits for: ", and waits in the middle for e of '@g_s'". */
static void put_wait(struct text *text, const struct graph_launches *launches,
                     const struct search *search, const struct part *part, int n,
                     const char *joined)
{
    const struct queue *queue = &search->queue;
    uint32_t event = queue_lacks(queue, search->stuck, part, n);
    if (queue_is_started(queue, search->stuck, part))
        text_printf(text, "%s waits in the middle for ", joined);
    else
        text_string(text, " has not started, and waits for ");
    if (event == NONE)
        return;
    const struct sender *sender = &queue->senders[event];
    put_event(text, launches, event);
    text_string(text, " of ");
    launch_name(text, launches, queue_part(queue, sender->lane, sender->stop)->row);
}

/* `blocks`: how many a stream's launch has. */
static void put_stream(struct text *text, const struct graph_launches *launches,
                       const struct search *search, uint32_t stream, uint64_t blocks)
{
    int n;
    enum block_reason reason = search_reason(search, stream, &n);
    const struct part *part = search_part(search, stream);
    const struct launch_row *row = part_row(&search->queue, part);
    put_launch(text, launches, part->row);
    if (reason != BEFORE_START) {
        text_string(text, " has ");
        put_cores(text, row->shape, row->keeps ? row->blocks : 1, &blocks);
    }
    if (reason != LACKS_CORES)
        put_wait(text, launches, search, part, n, ", and");
    else
        text_string(text, row->keeps && blocks ? ", keeps them, and lacks the others"
                                               : ", and finds none");
}

/* What a lane has passed from one state to the next. */
static void put_passed(struct text *text, const struct graph_launches *launches,
                       const struct queue *queue, uint32_t lane, uint32_t from, uint32_t to)
{
    const struct part *first = queue_part(queue, lane, from),
                      *last = queue_part(queue, lane, to - 1);
    const struct stop *stop = queue_stop(queue, lane, to - 1);
    if (text->size)
        text_string(text, ", then ");
    if (first->row != last->row) {
        text_string(text, "from ");
        launch_name(text, launches, first->row);
        text_string(text, " to ");
    }
    launch_name(text, launches, last->row);
    text_string(text, stop->kind == STOP_END ? " ended" : " passed ");
    if (stop->kind != STOP_END)
        put_event(text, launches, stop->event);
}

enum { WAY_STATES = 16 };

/* The last states before the one that hangs. */
static void describe_way(struct launch_lines *lines, const struct graph_launches *launches,
                         const struct search *search)
{
    const struct queue *queue = &search->queue;
    uint32_t n = queue->n_lanes;
    struct vec_u32 states = {NULL, 0, 0};
    struct text text = {NULL, 0, 0};
    search_way(search, WAY_STATES + 1, &states);
    if (states.count <= WAY_STATES * n) /* from the beginning */
        for (uint32_t i = 0; i < n; i++)
            vec_push(&states, 0);
    for (uint32_t at = states.count - n; at > 0; at -= n) {
        const uint32_t *from = states.at + at, *to = from - n;
        for (uint32_t lane = 0; lane < n; lane++)
            if (to[lane] > from[lane] &&
                (lane < queue->table->n_streams ||
                 to[queue_stream(queue, lane)] == from[queue_stream(queue, lane)]))
                put_passed(&text, launches, queue, lane, from[lane], to[lane]);
    }
    if (text.size)
        add_line(lines, NONE, &text);
    text_free(&text);
    vec_free(&states);
}

static void describe_cycle(struct launch_lines *lines, const struct graph_launches *launches,
                           const struct search *search)
{
    const struct queue *queue = &search->queue;
    struct vec_u32 lanes = {NULL, 0, 0};
    queue_find_cycle(queue, search->stuck, &lanes);
    for (uint32_t i = 0; i < lanes.count; i++) {
        struct text text = {NULL, 0, 0};
        uint32_t stream = queue_stream(queue, lanes.at[i]);
        const struct part *part = search_part(search, stream);
        put_launch(&text, launches, part->row);
        put_wait(&text, launches, search, part, lanes.at[i] != stream, "");
        add_line(lines, part->row, &text);
    }
    vec_free(&lanes);
}

void describe_hang(struct launch_lines *lines, const struct graph_launches *launches,
                   const struct search *search)
{
    uint32_t n = launches->table.n_streams;
    if (search->verdict == SEARCH_CYCLE) {
        describe_cycle(lines, launches, search);
        return;
    }
    uint64_t *blocks = mem_calloc(n, sizeof *blocks);
    search_shares(search, blocks);
    for (uint32_t s = 0; s < n; s++) {
        struct text text = {NULL, 0, 0};
        if (!search_part(search, s))
            continue;
        put_stream(&text, launches, search, s, blocks[s]);
        add_line(lines, search_part(search, s)->row, &text);
    }
    mem_free(blocks);
    describe_way(lines, launches, search);
}

/* ------------------------------------------------------------------------- texts ---- */

/* Limits: launches in all that is tried, so that one order is always tried; states and work of one
 * search, beyond which it is not known whether a change would help. */
enum { MAX_TRIED = 20000, ADVICE_STATES = 1 << 12, ADVICE_WORK = 1 << 20 };

void launch_advisor_init(struct launch_advisor *advisor, struct pass_context *context,
                         struct called_launches *called, const struct graph *graph)
{
    *advisor =
        (struct launch_advisor){.context = context, .module = context->module, .graph = graph};
    graph_launches_init(&advisor->launches, context->analyses, called, context->module, graph);
    advisor->tries = 1 + MAX_TRIED / (advisor->launches.table.rows.count + 1);
}

void launch_advisor_free(struct launch_advisor *advisor)
{
    graph_launches_free(&advisor->launches);
}

struct span launch_span(const struct launch_advisor *advisor, uint32_t row)
{
    if (row == NONE)
        return no_span;
    struct launch_source source = advisor->launches.sources.at[row];
    const struct graph *graph = advisor->graph;
    return source.block != NONE
               ? locate_name(advisor->module, graph->blocks.at[source.block].loc)
               : locate_op(advisor->module, &graph->ops.at[source.op], OP_TYPE_NAME, 0);
}

static const char *keep_text(const struct launch_advisor *advisor, struct text *text)
{
    const char *kept =
        arena_printf(&advisor->context->diags->arena, "%.*s", (int)text->size, text->at);
    text_free(text);
    return kept;
}

const char *launch_text(const struct launch_advisor *advisor, uint32_t row)
{
    struct text text = {NULL, 0, 0};
    launch_name(&text, &advisor->launches, row);
    return keep_text(advisor, &text);
}

const char *launch_cores_text(const struct launch_advisor *advisor, enum block_shape shape,
                              uint32_t blocks)
{
    struct text text = {NULL, 0, 0};
    put_cores(&text, shape, blocks, NULL);
    return keep_text(advisor, &text);
}

/* ------------------------------------------------------------------------- advice ---- */

/* Rows as they might be: to be freed. */
static struct launch_table copy_table(const struct launch_table *table)
{
    struct launch_table copy = *table;
    copy.rows.at = mem_calloc(table->rows.capacity, sizeof *table->rows.at);
    copy.events.at = mem_calloc(table->events.capacity, sizeof *table->events.at);
    if (table->rows.count)
        memcpy(copy.rows.at, table->rows.at, table->rows.count * sizeof *table->rows.at);
    if (table->events.count)
        memcpy(copy.events.at, table->events.at, table->events.count * sizeof *table->events.at);
    return copy;
}

/* Whether nothing hangs with a table, after at most `most` cuts, none of them of the row. Frees it.
 * False where no more may be tried. */
static bool is_enough(struct launch_advisor *advisor, struct launch_table *table, uint32_t row,
                      uint32_t most)
{
    struct search search;
    struct fixes fixes = {NULL, 0, 0};
    uint32_t cuts = 0;
    bool enough = advisor->tries > 0;
    if (enough) {
        advisor->tries--;
        search_init(&search, table, ADVICE_STATES, ADVICE_WORK);
        enough = search_fix(&search, &fixes) == SEARCH_SAFE;
        search_free(&search);
    }
    for (uint32_t i = 0; i < fixes.count; i++) {
        cuts += fixes.at[i].cut;
        enough = enough && !(fixes.at[i].cut && fixes.at[i].row == row);
    }
    vec_free(&fixes);
    vec_free(&table->rows);
    vec_free(&table->events);
    return enough && cuts <= most;
}

static void append_event(struct launch_table *table, struct range *events, uint32_t event)
{
    struct range range = {table->events.count, events->count + 1};
    for (uint32_t i = 0; i < events->count; i++) {
        uint32_t old = table->events.at[events->first + i];
        vec_push(&table->events, old);
    }
    vec_push(&table->events, event);
    *events = range;
}

/* `second` waits for the end of `first` before it starts: rows, or NONE. */
struct launch_order {
    uint32_t first, second;
};

/* An order of two of the rows that is enough, or one of NONE: of the one row that must not be cut,
 * if there is such a row. Orders in which the text has the launches are tried first: an op can name
 * what is above it. */
static struct launch_order find_order(struct launch_advisor *advisor, const uint32_t *rows,
                                      uint32_t count, uint32_t row, uint32_t most)
{
    for (uint32_t n = 0; n < 2 * count * count && advisor->tries; n++) {
        struct launch_order order = {rows[n / count % count], rows[n % count]};
        bool tried = order.first == order.second ||
                     (order.first < order.second) != (n < count * count) ||
                     (row != NONE && order.first != row && order.second != row);
        if (tried)
            continue;
        struct launch_table table = copy_table(&advisor->launches.table);
        uint32_t event = table.n_events++;
        append_event(&table, &table.rows.at[order.first].sends, event);
        append_event(&table, &table.rows.at[order.second].waits, event);
        if (is_enough(advisor, &table, row, most))
            return order;
    }
    return (struct launch_order){NONE, NONE};
}

/* The op of a launch whose order is that of the launch: the first or last in the text that executes
 * something. */
static uint32_t end_op(const struct launch_advisor *advisor, uint32_t row, bool last)
{
    struct launch_source source = advisor->launches.sources.at[row];
    struct analyses *analyses = advisor->context->analyses;
    const struct order *order = analyses_order(analyses, advisor->module, advisor->graph);
    const struct members *members = analyses_members(analyses, advisor->module, advisor->graph);
    uint32_t end = source.op;
    if (source.block == NONE)
        return end;
    for (uint32_t i = members->first[source.block]; i < members->first[source.block + 1]; i++) {
        uint32_t op = members->ops[i];
        if (end == NONE || (order->position[op] > order->position[end]) == last)
            end = op;
    }
    return end;
}

static void help_order(const struct launch_advisor *advisor, struct launch_order advice,
                       const char *then)
{
    struct diags *diags = advisor->context->diags;
    const struct graph *graph = advisor->graph;
    const struct op *first = &graph->ops.at[end_op(advisor, advice.first, true)],
                    *second = &graph->ops.at[end_op(advisor, advice.second, false)];
    const char *text = op_text(advisor->module, graph, second, &diags->arena), *how;
    if (first->results.count && second->loc != NONE && first->loc < second->loc) /* above it */
        how =
            arena_printf(&diags->arena, "'after (%%%.*s)' on %s",
                         NAME(advisor->module, graph->values.at[first->results.first].name), text);
    else
        how = arena_printf(&diags->arena, "an event from %s to %s",
                           op_text(advisor->module, graph, first, &diags->arena), text);
    diag_help(diags, "with %s, %s starts when %s has ended, and %s", how,
              launch_text(advisor, advice.second), launch_text(advisor, advice.first), then);
}

void advise_hang(struct launch_advisor *advisor, const struct search *search)
{
    static const char fewer[] = "on fewer cores (a smaller 'block' of their kernels)";
    struct diags *diags = advisor->context->diags;
    struct vec_u32 rows = {NULL, 0, 0};
    for (uint32_t s = 0; s < advisor->launches.table.n_streams; s++)
        if (search_part(search, s))
            vec_push(&rows, search_part(search, s)->row);
    struct launch_order order = find_order(advisor, rows.at, rows.count, NONE, 0);
    const char *then = "nothing hangs";
    if (order.first == NONE) {
        order = find_order(advisor, rows.at, rows.count, NONE, UINT32_MAX);
        then = "cuts may mend the rest";
    }
    /* Whether it is enough if those that keep cores have one block each. */
    struct launch_table narrow = copy_table(&advisor->launches.table);
    for (uint32_t i = 0; i < rows.count; i++)
        if (narrow.rows.at[rows.at[i]].keeps)
            narrow.rows.at[rows.at[i]].blocks = 1;
    bool few = is_enough(advisor, &narrow, NONE, 0);
    if (order.first != NONE) {
        diag_help(diags,
                  few ? "order them by 'after', have them run on one stream, or %s"
                      : "order them by 'after', or have them run on one stream",
                  fewer);
        help_order(advisor, order, then);
    } else if (few) {
        diag_help(diags, "have them run %s", fewer);
    }
    for (uint32_t i = 0; i < rows.count; i++) {
        uint32_t block = advisor->launches.sources.at[rows.at[i]].block;
        if (block == NONE ||
            !attr_flag(advisor->module, advisor->graph->blocks.at[block].attrs, W_fixed_slots))
            continue;
        struct launch_table open = copy_table(&advisor->launches.table);
        open.rows.at[rows.at[i]].sealed = false;
        if (is_enough(advisor, &open, NONE, UINT32_MAX))
            diag_help(diags,
                      "leave out 'fixed_slots' of %s: it is cut or waits as a whole then, and "
                      "nothing hangs",
                      launch_text(advisor, rows.at[i]));
    }
    vec_free(&rows);
}

void advise_cut(struct launch_advisor *advisor, const struct fix *fix, uint32_t cuts)
{
    struct launch_order order = find_order(advisor, fix->rows, fix->n_rows, fix->row, cuts - 1);
    if (order.first != NONE)
        help_order(advisor, order, "nothing is cut here");
}

/* ------------------------------------------------------------------------- rings ---- */

/* Launches that need parts of each other are rings: strongly connected components of the graph
 * whose edges are events, and the order on each stream. */

enum { MAX_NAMED_LAUNCHES = 6, MAX_NAMED_WAITS = 6 }; /* of a ring; of one of its launches */

/* A launch waits for another one: as a whole (op NONE), or an op of it does. */
struct ring_wait {
    uint32_t from, op;
    const struct event_side *send;
};

struct ring_launch {
    uint32_t block, op; /* the super kernel, or NONE; its first op in the list */
    uint32_t before;    /* the launch before it on its stream, or NONE */
    struct range waits;
    uint32_t looked; /* how many of these the search for components has looked at */
};

struct ring_finder {
    struct diags *diags;
    const struct module *module;
    const struct graph *graph;
    const struct order *order;
    const struct members *members;
    VEC(struct ring_launch) launches; /* in the order of the text */
    VEC(struct ring_wait) waits;
    uint32_t *launch_of; /* per op, or NONE */
};

/* The ops of a launch, in list order. */
static const uint32_t *ops_of(const struct ring_finder *r, const struct ring_launch *launch,
                              uint32_t *count)
{
    const uint32_t *first = r->members->first;
    *count = launch->block == NONE ? 1 : first[launch->block + 1] - first[launch->block];
    return launch->block == NONE ? &launch->op : r->members->ops + first[launch->block];
}

static void find_launches(struct ring_finder *r)
{
    struct id_map on_stream = {NULL, 0, 0}; /* by the label + 1, 0 for NONE: its last launch */
    for (uint32_t i = 0; i < r->order->n_ops; i++) {
        uint32_t op = r->order->text[i], stream = r->order->stream[op], count;
        struct ring_launch launch = {
            .block = graph_superkernel(r->graph, r->graph->ops.at[op].block), .op = op};
        if (r->order->passive[op] || r->launch_of[op] != NONE)
            continue;
        const uint32_t *ops = ops_of(r, &launch, &count);
        for (uint32_t n = 0; n < count; n++)
            r->launch_of[ops[n]] = r->launches.count;
        launch.op = ops[0];
        if (launch.block != NONE)
            stream = stream_label(
                attr_string(r->module, r->graph->blocks.at[launch.block].attrs, W_stream));
        uint32_t *last = id_map_at(&on_stream, stream + 1);
        launch.before = *last;
        *last = r->launches.count;
        vec_push(&r->launches, launch);
    }
    id_map_free(&on_stream);
}

/* What a launch, or an op in the middle of one, receives from other launches. */
static void add_waits(struct ring_finder *r, struct range recv, uint32_t launch, uint32_t op,
                      const struct event_sides *sends, const struct id_map *sender_of)
{
    const uint32_t *first = r->members->first;
    for (uint32_t i = recv.first; i < recv.first + recv.count; i++) {
        uint32_t send = id_map_find(sender_of, r->graph->refs.at[i]), from;
        if (send == NONE)
            continue;
        const struct event_side *side = &sends->at[send];
        if (side->op == NONE && first[side->block] == first[side->block + 1])
            continue;
        from = r->launch_of[side->op != NONE ? side->op : r->members->ops[first[side->block]]];
        if (from == NONE || from == launch)
            continue;
        vec_push(&r->waits, ((struct ring_wait){from, op, side}));
        r->launches.at[launch].waits.count++;
    }
}

static void find_waits(struct ring_finder *r, const struct event_sides *sends,
                       const struct id_map *sender_of)
{
    for (uint32_t i = 0; i < r->launches.count; i++) {
        struct ring_launch *launch = &r->launches.at[i];
        uint32_t count, block = launch->block;
        const uint32_t *ops = ops_of(r, launch, &count);
        launch->waits.first = r->waits.count;
        if (block != NONE)
            add_waits(r, r->graph->blocks.at[block].recv, i, NONE, sends, sender_of);
        for (uint32_t n = 0; n < count; n++)
            add_waits(r, op_clauses(r->graph, &r->graph->ops.at[ops[n]])->recv, i,
                      block == NONE ? NONE : ops[n], sends, sender_of);
    }
}

/* The next launch that one needs: the one before it on its stream, and those that it waits for. */
static uint32_t next_need(void *context, uint32_t at)
{
    struct ring_finder *r = context;
    struct ring_launch *launch = &r->launches.at[at];
    if (launch->looked == 0 && launch->before != NONE)
        return launch->looked++, launch->before;
    uint32_t wait = launch->looked++ - (launch->before != NONE);
    return wait < launch->waits.count ? r->waits.at[launch->waits.first + wait].from : NONE;
}

static const char *op_name(const struct ring_finder *r, uint32_t op)
{
    return op_text(r->module, r->graph, &r->graph->ops.at[op], &r->diags->arena);
}

static const char *ring_name(const struct ring_finder *r, const struct ring_launch *launch,
                             const char *quote)
{
    if (launch->block == NONE)
        return op_name(r, launch->op);
    return arena_printf(&r->diags->arena, "%s@%.*s%s", quote,
                        NAME(r->module, r->graph->blocks.at[launch->block].name), quote);
}

/* Why a launch waits, by the edges from what is waited for: of a super kernel, its last op. */
static const char *reason_text(const struct ring_finder *r, const struct ring_launch *launch,
                               const struct ring_wait *wait)
{
    struct arena *arena = &r->diags->arena;
    const struct order_edge *reason = NULL;
    uint32_t count, from = wait->send->op;
    const uint32_t *ops = ops_of(r, &r->launches.at[wait->from], &count);
    if (from == NONE)
        from = ops[count - 1];
    ops = ops_of(r, launch, &count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t e = r->order->first[ops[i]]; e < r->order->first[ops[i] + 1]; e++) {
            const struct order_edge *edge = &r->order->edges[e];
            if (edge->from == from && (edge->kind == ORDER_DATA || edge->kind == ORDER_MEMORY) &&
                (!reason || reason->kind == ORDER_MEMORY))
                reason = edge;
        }
    if (!reason)
        return arena_printf(arena, "event '%.*s'", NAME(r->module, wait->send->event));
    return arena_printf(arena, reason->kind == ORDER_DATA ? "it uses %%%.*s" : "both access '%.*s'",
                        NAME(r->module, reason->name));
}

/* A note for each wait of a launch for another one of its ring. */
static void note_waits(const struct ring_finder *r, const struct ring_launch *launch,
                       const uint32_t *ring)
{
    struct arena *arena = &r->diags->arena;
    uint32_t own = ring[launch - r->launches.at], count = 0;
    const char *name = ring_name(r, launch, "'");
    if (launch->before != NONE && ring[launch->before] == own)
        diag_note(r->diags, locate_op(r->module, &r->graph->ops.at[launch->op], OP_TYPE_NAME, 0),
                  "%s follows %s on its stream", name,
                  ring_name(r, &r->launches.at[launch->before], "'"));
    for (uint32_t i = 0; i < launch->waits.count; i++) {
        const struct ring_wait *wait = &r->waits.at[launch->waits.first + i];
        const struct ring_launch *from = &r->launches.at[wait->from];
        if (ring[wait->from] != own || count++ >= MAX_NAMED_WAITS)
            continue;
        const char *how = launch->block == NONE ? "" : " as a whole",
                   *what = ring_name(r, from, "'");
        if (wait->op != NONE)
            how = arena_printf(arena, " in the middle, before %s,", op_name(r, wait->op));
        if (wait->send->op == NONE)
            what = arena_printf(arena, "the end of %s", what);
        else if (from->block != NONE)
            what = arena_printf(arena, "%s of %s", op_name(r, wait->send->op), what);
        uint32_t op = wait->op != NONE ? wait->op : launch->op;
        diag_note(r->diags, locate_op(r->module, &r->graph->ops.at[op], OP_TYPE_NAME, 0),
                  "%s waits%s for %s: %s", name, how, what, reason_text(r, launch, wait));
    }
    if (count > MAX_NAMED_WAITS)
        diag_help(r->diags, "%s waits for %u more", name, count - MAX_NAMED_WAITS);
}

/* The ring whose first launch in the text this is. */
static void report_ring(const struct ring_finder *r, uint32_t first, const uint32_t *ring)
{
    struct text names = {NULL, 0, 0};
    uint32_t size = 0, named = 0;
    for (uint32_t i = first; i < r->launches.count; i++)
        size += ring[i] == ring[first];
    for (uint32_t i = first; i < r->launches.count && named < MAX_NAMED_LAUNCHES; i++)
        if (ring[i] == ring[first])
            text_printf(&names, "%s%s",
                        named++ == 0    ? ""
                        : named == size ? " and "
                                        : ", ",
                        ring_name(r, &r->launches.at[i], "'"));
    if (size > named)
        text_printf(&names, " and %u more", size - named);
    bool kept =
        diag_at(r->diags, DIAG_ring,
                locate_op(r->module, &r->graph->ops.at[r->launches.at[first].op], OP_TYPE_NAME, 0),
                "%.*s run side by side, as none of them can come before the others as a whole",
                (int)names.size, names.at);
    for (uint32_t i = first; i < r->launches.count && kept; i++)
        if (ring[i] == ring[first]) {
            diag_listed(r->diags, "launches", ring_name(r, &r->launches.at[i], ""));
            note_waits(r, &r->launches.at[i], ring);
        }
    text_free(&names);
}

static void report_graph(struct ring_finder *r)
{
    struct event_sides sends = event_sides_find(r->graph, W_send);
    struct id_map sender_of = {NULL, 0, 0}; /* by event: its index in `sends` */
    struct components components;
    r->launch_of = mem_calloc(r->graph->ops.count, sizeof *r->launch_of);
    memset(r->launch_of, 0xff, r->graph->ops.count * sizeof *r->launch_of); /* NONE */
    for (uint32_t i = 0; i < sends.count; i++)
        id_map_set(&sender_of, sends.at[i].event, i);
    find_launches(r);
    find_waits(r, &sends, &sender_of);
    uint32_t n = r->launches.count, *size = mem_calloc(n, sizeof *size);
    components_init(&components, n);
    for (uint32_t i = 0; i < n; i++)
        components_find(&components, i, next_need, r);
    for (uint32_t i = 0; i < n; i++)
        size[components.of[i]]++;
    for (uint32_t i = 0; i < n; i++) {
        if (size[components.of[i]] > 1)
            report_ring(r, i, components.of);
        size[components.of[i]] = 0;
    }
    components_free(&components);
    mem_free(size);
    vec_free(&r->launches);
    vec_free(&r->waits);
    mem_free(r->launch_of);
    vec_free(&sends);
    id_map_free(&sender_of);
}

void report_rings(struct diags *diags, const struct module *module, struct analyses *analyses)
{
    if (!diags->remarks)
        return;
    diags_take_back_all(diags, DIAG_ring);
    diags_settle(diags);
    for (uint32_t g = 0; g < module->graphs.count; g++) {
        const struct graph *graph = &module->graphs.at[g];
        bool fused = false;
        for (uint32_t b = 0; b < graph->blocks.count; b++)
            fused = fused || graph->blocks.at[b].kind == BLOCK_SUPERKERNEL;
        if (graph->ops.count == 0 || !fused)
            continue;
        struct ring_finder r = {.diags = diags,
                                .module = module,
                                .graph = graph,
                                .order = analyses_order(analyses, module, graph),
                                .members = analyses_members(analyses, module, graph)};
        gears_tell_copy(diags, module, graph);
        report_graph(&r);
    }
    gears_tell_copy(diags, module, NULL);
}
