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
            if (to[lane] > from[lane] && (lane < queue->table->n_streams ||
                                          to[queue_stream(queue, lane)] ==
                                              from[queue_stream(queue, lane)]))
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
        how = arena_printf(&diags->arena, "'after (%%%.*s)' on %s",
                           NAME(advisor->module, graph->values.at[first->results.first].name),
                           text);
    else
        how = arena_printf(&diags->arena, "an event from %s to %s",
                           op_text(advisor->module, graph, first, &diags->arena), text);
    diag_help(diags, "with %s, %s starts when %s has ended, and %s", how,
              launch_text(advisor, advice.second), launch_text(advisor, advice.first), then);
}

/* Whether nothing hangs where those of the rows that keep cores have one block each. */
static bool do_fewer_cores(struct launch_advisor *advisor, const struct vec_u32 *rows)
{
    struct launch_table narrow = copy_table(&advisor->launches.table);
    for (uint32_t i = 0; i < rows->count; i++)
        if (narrow.rows.at[rows->at[i]].keeps)
            narrow.rows.at[rows->at[i]].blocks = 1;
    return is_enough(advisor, &narrow, NONE, 0);
}

/* Whether nothing hangs where a launch with fixed slots is changed as others are. */
static bool do_without_slots(struct launch_advisor *advisor, uint32_t row)
{
    uint32_t block = advisor->launches.sources.at[row].block;
    if (block == NONE ||
        !attr_flag(advisor->module, advisor->graph->blocks.at[block].attrs, W_fixed_slots))
        return false;
    struct launch_table open = copy_table(&advisor->launches.table);
    open.rows.at[row].sealed = false;
    return is_enough(advisor, &open, NONE, UINT32_MAX);
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
    bool few = do_fewer_cores(advisor, &rows);
    if (order.first != NONE) {
        diag_help(diags,
                  few ? "order them by 'after', have them run on one stream, or %s"
                      : "order them by 'after', or have them run on one stream",
                  fewer);
        help_order(advisor, order, then);
    } else if (few) {
        diag_help(diags, "have them run %s", fewer);
    }
    for (uint32_t i = 0; i < rows.count; i++)
        if (do_without_slots(advisor, rows.at[i]))
            diag_help(diags,
                      "leave out 'fixed_slots' of %s: it is cut or waits as a whole then, and "
                      "nothing hangs",
                      launch_text(advisor, rows.at[i]));
    vec_free(&rows);
}

void advise_cut(struct launch_advisor *advisor, const struct fix *fix, uint32_t cuts)
{
    struct launch_order order = find_order(advisor, fix->rows, fix->n_rows, fix->row, cuts - 1);
    if (order.first != NONE)
        help_order(advisor, order, "nothing is cut here");
}

/* ------------------------------------------------------------------------- rings ---- */

/* Launches that need parts of each other are rings: strongly connected components of launches and
 * of ops that execute nothing, which conduct order from launch to launch. */

enum { MAX_NAMED_LAUNCHES = 6, MAX_NAMED_WAITS = 6 }; /* of a ring; of one of its launches */

/* A node is a launch, or an op that executes nothing, and is named by its first op in the list. */
struct ring_finder {
    struct diags *diags;
    const struct module *module;
    const struct graph *graph;
    const struct order *order;
    const struct members *members;
    uint32_t *node;          /* per op */
    uint32_t *before;        /* per node: the launch before it on its stream, or NONE */
    uint32_t *op_next;       /* per node: where its needs are looked at: an op among its own, */
    uint32_t *edge;          /*   and an edge of that; NONE before the first */
    uint32_t *ring;          /* per node: its component */
    struct id_map sender_of; /* by event: its index in `sends` */
    struct event_sides sends;
};

static uint32_t superkernel_of(const struct ring_finder *r, uint32_t op)
{
    return graph_superkernel(r->graph, r->graph->ops.at[op].block);
}

/* The super kernel that a node is, or NONE. */
static uint32_t block_of(const struct ring_finder *r, uint32_t node)
{
    return r->order->passive[node] ? NONE : superkernel_of(r, node);
}

/* The ops of a node, in list order. */
static const uint32_t *ops_of(const struct ring_finder *r, uint32_t node, uint32_t *count)
{
    uint32_t block = block_of(r, node);
    *count = block == NONE ? 1 : r->members->first[block + 1] - r->members->first[block];
    return block == NONE ? &r->order->text[r->order->position[node]]
                         : r->members->ops + r->members->first[block];
}

static uint32_t first_op(const struct ring_finder *r, uint32_t op)
{
    uint32_t block = block_of(r, op);
    return block == NONE ? op : r->members->ops[r->members->first[block]];
}

static uint32_t stream_of(const struct ring_finder *r, uint32_t node)
{
    uint32_t block = block_of(r, node);
    if (block == NONE)
        return r->order->stream[node];
    return stream_label(attr_string(r->module, r->graph->blocks.at[block].attrs, W_stream));
}

static void find_nodes(struct ring_finder *r)
{
    struct id_map on_stream = {NULL, 0, 0}; /* by the label + 1, 0 for NONE: its last launch */
    bool *met = mem_calloc(r->order->n_ops, sizeof *met);
    for (uint32_t i = 0; i < r->order->n_ops; i++) {
        uint32_t op = r->order->text[i], node = r->node[op] = first_op(r, op);
        r->edge[op] = NONE;
        if (met[node])
            continue;
        met[node] = true;
        uint32_t *last =
            r->order->passive[op] ? NULL : id_map_at(&on_stream, stream_of(r, node) + 1);
        r->before[node] = last ? *last : NONE;
        if (last)
            *last = node;
    }
    mem_free(met);
    id_map_free(&on_stream);
}

/* The next node that one needs: the launch before it on its stream, and those of its ops' edges. */
static uint32_t next_need(void *context, uint32_t node)
{
    struct ring_finder *r = context;
    const struct order *order = r->order;
    uint32_t count;
    const uint32_t *ops = ops_of(r, node, &count);
    if (r->edge[node] == NONE) {
        r->edge[node] = order->first[ops[0]];
        if (r->before[node] != NONE)
            return r->before[node];
    }
    while (r->edge[node] == order->first[ops[r->op_next[node]] + 1]) {
        if (++r->op_next[node] == count)
            return NONE;
        r->edge[node] = order->first[ops[r->op_next[node]]];
    }
    return r->node[order->edges[r->edge[node]++].from];
}

static void find_rings(struct ring_finder *r)
{
    struct components components;
    components_init(&components, r->order->n_ops);
    for (uint32_t op = 0; op < r->order->n_ops; op++)
        components_find(&components, r->node[op], next_need, r);
    memcpy(r->ring, components.of, r->order->n_ops * sizeof *r->ring);
    components_free(&components);
}

/* ------------------------------------------------------------------------- texts ---- */

static const char *op_name(const struct ring_finder *r, uint32_t op)
{
    return op_text(r->module, r->graph, &r->graph->ops.at[op], &r->diags->arena);
}

static struct span op_span(const struct ring_finder *r, uint32_t op)
{
    return locate_op(r->module, &r->graph->ops.at[op], OP_TYPE_NAME, 0);
}

static const char *node_name(const struct ring_finder *r, uint32_t node, const char *quote)
{
    uint32_t block = block_of(r, node);
    if (block == NONE)
        return op_name(r, node);
    return arena_printf(&r->diags->arena, "%s@%.*s%s", quote,
                        NAME(r->module, r->graph->blocks.at[block].name), quote);
}

/* What is waited for: an op, or the end of a super kernel. */
static const char *sender_text(const struct ring_finder *r, const struct event_side *sender,
                               uint32_t node)
{
    struct arena *arena = &r->diags->arena;
    if (sender->op == NONE)
        return arena_printf(arena, "the end of %s", node_name(r, node, "'"));
    if (block_of(r, node) == NONE)
        return op_name(r, node);
    return arena_printf(arena, "%s of %s", op_name(r, sender->op), node_name(r, node, "'"));
}

/* Why a node waits for the event of an op, by the edges between them; of a super kernel, of its
 * last op. */
static const char *reason_text(const struct ring_finder *r, uint32_t node, uint32_t from,
                               uint32_t event)
{
    struct arena *arena = &r->diags->arena;
    const struct order_edge *reason = NULL;
    uint32_t count;
    const uint32_t *ops = ops_of(r, node, &count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t e = r->order->first[ops[i]]; e < r->order->first[ops[i] + 1]; e++) {
            const struct order_edge *edge = &r->order->edges[e];
            if (edge->from == from && (edge->kind == ORDER_DATA || edge->kind == ORDER_MEMORY) &&
                (!reason || reason->kind == ORDER_MEMORY))
                reason = edge;
        }
    if (!reason)
        return arena_printf(arena, "event '%.*s'", NAME(r->module, event));
    return arena_printf(arena, reason->kind == ORDER_DATA ? "it uses %%%.*s" : "both access '%.*s'",
                        NAME(r->module, reason->name));
}

/* ------------------------------------------------------------------------- notes ---- */

/* A wait of a launch, or (`op` is not NONE) of an op in the middle of one. */
static void tell_wait(struct ring_finder *r, uint32_t node, uint32_t op, uint32_t event,
                      uint32_t *told)
{
    uint32_t send = id_map_find(&r->sender_of, event), count, by = NONE;
    if (send == NONE)
        return;
    const struct event_side *sender = &r->sends.at[send];
    if (sender->op != NONE)
        by = r->node[sender->op];
    else if (r->members->first[sender->block] < r->members->first[sender->block + 1])
        by = r->members->ops[r->members->first[sender->block]];
    if (by == NONE || by == node || r->ring[by] != r->ring[node] || (*told)++ >= MAX_NAMED_WAITS)
        return;
    const char *how = block_of(r, node) == NONE ? "" : " as a whole";
    if (op != NONE)
        how = arena_printf(&r->diags->arena, " in the middle, before %s,", op_name(r, op));
    const uint32_t *ops = ops_of(r, by, &count);
    diag_note(r->diags, op_span(r, op != NONE ? op : node), "%s waits%s for %s: %s",
              node_name(r, node, "'"), how, sender_text(r, sender, by),
              reason_text(r, node, sender->op != NONE ? sender->op : ops[count - 1], event));
}

static void tell_waits(struct ring_finder *r, uint32_t node)
{
    const struct graph *graph = r->graph;
    uint32_t block = block_of(r, node), before = r->before[node], told = 0, count;
    const uint32_t *ops = ops_of(r, node, &count);
    if (before != NONE && r->ring[before] == r->ring[node])
        diag_note(r->diags, op_span(r, node), "%s follows %s on its stream",
                  node_name(r, node, "'"), node_name(r, before, "'"));
    struct range recv = block == NONE ? (struct range){0, 0} : graph->blocks.at[block].recv;
    for (uint32_t i = 0; i < recv.count; i++)
        tell_wait(r, node, NONE, graph->refs.at[recv.first + i], &told);
    for (uint32_t n = 0; n < count; n++) {
        recv = op_clauses(graph, &graph->ops.at[ops[n]])->recv;
        for (uint32_t i = 0; i < recv.count; i++)
            tell_wait(r, node, block == NONE ? NONE : ops[n], graph->refs.at[recv.first + i],
                      &told);
    }
    if (told > MAX_NAMED_WAITS)
        diag_help(r->diags, "%s waits for %u more", node_name(r, node, "'"),
                  told - MAX_NAMED_WAITS);
}

/* The launches of a ring, in text order. */
static void tell_ring(struct ring_finder *r, const uint32_t *nodes, uint32_t count)
{
    struct text names = {NULL, 0, 0};
    for (uint32_t i = 0; i < count && i < MAX_NAMED_LAUNCHES; i++)
        text_printf(&names, "%s%s",
                    i == 0           ? ""
                    : i + 1 == count ? " and "
                                     : ", ",
                    node_name(r, nodes[i], "'"));
    if (count > MAX_NAMED_LAUNCHES)
        text_printf(&names, " and %u more", count - MAX_NAMED_LAUNCHES);
    bool told = diag_at(r->diags, DIAG_ring, op_span(r, nodes[0]),
                        "%.*s run side by side, as none of them can come before the others as a "
                        "whole",
                        (int)names.size, names.at);
    for (uint32_t i = 0; i < count && told; i++) {
        diag_listed(r->diags, "launches", node_name(r, nodes[i], ""));
        tell_waits(r, nodes[i]);
    }
    text_free(&names);
}

static void tell_rings(struct ring_finder *r)
{
    uint32_t n = r->order->n_ops;
    uint32_t *first = mem_calloc((size_t)n + 2, sizeof *first),
             *nodes = mem_calloc(n, sizeof *nodes);
    bool *told = mem_calloc(n, sizeof *told); /* by ring */
    for (int pass = 0; pass < 2; pass++) {
        bool *met = mem_calloc(n, sizeof *met);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t op = r->order->text[i], node = r->node[op];
            if (r->order->passive[op] || met[node])
                continue;
            met[node] = true;
            if (pass == 0)
                first[r->ring[node] + 2]++;
            else
                nodes[first[r->ring[node] + 1]++] = node;
        }
        for (uint32_t i = 2; i < n + 2 && pass == 0; i++)
            first[i] += first[i - 1];
        mem_free(met);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t ring = r->ring[r->node[r->order->text[i]]];
        if (!told[ring] && first[ring + 1] - first[ring] > 1)
            tell_ring(r, nodes + first[ring], first[ring + 1] - first[ring]);
        told[ring] = true;
    }
    mem_free(first);
    mem_free(nodes);
    mem_free(told);
}

static bool has_superkernels(const struct graph *graph)
{
    for (uint32_t b = 0; b < graph->blocks.count; b++)
        if (graph->blocks.at[b].kind == BLOCK_SUPERKERNEL)
            return true;
    return false;
}

static void report_graph(struct diags *diags, const struct module *module,
                         const struct graph *graph, struct analyses *analyses)
{
    struct ring_finder r = {.diags = diags, .module = module, .graph = graph};
    uint32_t **arrays[] = {&r.node, &r.before, &r.op_next, &r.edge, &r.ring};
    r.order = analyses_order(analyses, module, graph);
    r.members = analyses_members(analyses, module, graph);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = mem_calloc(graph->ops.count, sizeof **arrays[i]);
    r.sends = event_sides_find(graph, W_send);
    for (uint32_t i = 0; i < r.sends.count; i++)
        id_map_set(&r.sender_of, r.sends.at[i].event, i);
    find_nodes(&r);
    find_rings(&r);
    tell_rings(&r);
    vec_free(&r.sends);
    id_map_free(&r.sender_of);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        mem_free(*arrays[i]);
}

void report_rings(struct diags *diags, const struct module *module, struct analyses *analyses)
{
    if (!diags->remarks)
        return;
    diags_take_back_all(diags, DIAG_ring);
    diags_settle(diags);
    for (uint32_t g = 0; g < module->graphs.count; g++) {
        const struct graph *graph = &module->graphs.at[g];
        if (graph->ops.count == 0 || !has_superkernels(graph))
            continue;
        gears_tell_copy(diags, module, graph);
        report_graph(diags, module, graph, analyses);
    }
    gears_tell_copy(diags, module, NULL);
}
