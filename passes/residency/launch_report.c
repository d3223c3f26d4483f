#include "passes/residency/launch_report.h"
#include "ir/shapes/gears.h"
#include "ir/support/components.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

#include <string.h>

/* ------------------------------------------------------------------------- names ---- */

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

static void launch_cores(struct text *text, enum block_shape shape, uint64_t blocks)
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

/* ------------------------------------------------------------------------- texts ---- */

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
    const char *kept = arena_printf(&advisor->context->diags->arena, "%.*s", (int)text->size,
                                    text->size ? text->at : "");
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
    launch_cores(&text, shape, blocks);
    return keep_text(advisor, &text);
}

/* ------------------------------------------------------------------------- trying ---- */

/* `second` waits for the end of `first` before it starts: rows, or NONE. */
struct launch_order {
    uint32_t first, second;
};

/* Whether nothing hangs with that order, after at most `most` cuts, none of them of the row. */
static bool is_enough(const struct launch_table *table, struct launch_order order, uint32_t row,
                      uint32_t most)
{
    struct queue queue;
    struct search search;
    struct fixes fixes = {NULL, 0, 0};
    uint32_t cuts = 0;
    queue_init(&queue, table);
    if (order.first != NONE)
        queue_add_order(&queue, order.first, order.second);
    uint32_t *positions = mem_calloc(queue.n_lanes, sizeof *positions);
    bool enough = !queue_has_cycle(&queue, positions);
    if (enough) {
        search_init(&search, &queue, ADVICE_STATES, ADVICE_WORK);
        enough = search_fix(&search, &fixes) == SEARCH_SAFE;
        search_free(&search);
    }
    for (uint32_t i = 0; i < fixes.count; i++) {
        cuts += fixes.at[i].cut;
        enough = enough && !(fixes.at[i].cut && fixes.at[i].row == row);
    }
    vec_free(&fixes);
    mem_free(positions);
    queue_free(&queue);
    return enough && cuts <= most;
}

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
        advisor->tries--;
        if (is_enough(&advisor->launches.table, order, row, most))
            return order;
    }
    return (struct launch_order){NONE, NONE};
}

/* Rows as they might be: to be freed. */
static struct launch_table copy_rows(const struct launch_table *table)
{
    struct launch_table copy = *table;
    copy.rows.at = mem_calloc(table->rows.count, sizeof *table->rows.at);
    memcpy(copy.rows.at, table->rows.at, table->rows.count * sizeof *table->rows.at);
    return copy;
}

/* Whether nothing hangs with these rows, after at most `most` cuts. */
static bool try_rows(struct launch_advisor *advisor, const struct launch_table *table,
                     uint32_t most)
{
    if (advisor->tries == 0)
        return false;
    advisor->tries--;
    return is_enough(table, (struct launch_order){NONE, NONE}, NONE, most);
}

/* Whether nothing hangs where those of the rows that keep cores have one block each. */
static bool do_fewer_cores(struct launch_advisor *advisor, const struct vec_u32 *rows)
{
    struct launch_table narrow = copy_rows(&advisor->launches.table);
    for (uint32_t i = 0; i < rows->count; i++)
        if (narrow.rows.at[rows->at[i]].keeps)
            narrow.rows.at[rows->at[i]].blocks = 1;
    bool enough = try_rows(advisor, &narrow, 0);
    mem_free(narrow.rows.at);
    return enough;
}

/* Whether nothing hangs where a launch with fixed slots is changed as others are. */
static bool do_without_slots(struct launch_advisor *advisor, uint32_t row)
{
    uint32_t block = advisor->launches.sources.at[row].block;
    struct launch_table open = copy_rows(&advisor->launches.table);
    open.rows.at[row].sealed = false;
    bool enough =
        block != NONE &&
        attr_flag(advisor->module, advisor->graph->blocks.at[block].attrs, W_fixed_slots) &&
        try_rows(advisor, &open, UINT32_MAX);
    mem_free(open.rows.at);
    return enough;
}

/* ------------------------------------------------------------------------- helps ---- */

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
        bool later = end != NONE && order->position[op] > order->position[end];
        if (!order->passive[op] && (end == NONE || later == last))
            end = op;
    }
    return end;
}

static void help_order(const struct launch_advisor *advisor, struct launch_order advice,
                       const char *then)
{
    struct diags *diags = advisor->context->diags;
    const struct graph *graph = advisor->graph;
    uint32_t from = end_op(advisor, advice.first, true), to = end_op(advisor, advice.second, false);
    if (from == NONE || to == NONE)
        return;
    const struct op *first = &graph->ops.at[from], *second = &graph->ops.at[to];
    const char *text = op_text(advisor->module, graph, second, &diags->arena);
    bool named =
        first->results.count && second->loc != NONE && first->loc < second->loc; /* above it */
    const char *how =
        named
            ? arena_printf(&diags->arena, "'after (%%%.*s)' on %s",
                           NAME(advisor->module, graph->values.at[first->results.first].name), text)
            : arena_printf(&diags->arena, "an event from %s to %s",
                           op_text(advisor->module, graph, first, &diags->arena), text);
    diag_help(diags, "with %s, %s starts when %s has ended, and %s", how,
              launch_text(advisor, advice.second), launch_text(advisor, advice.first), then);
}

void advise_hang(struct launch_advisor *advisor, const struct search *search)
{
    static const char fewer[] = "on fewer cores (a smaller 'block' of their kernels)";
    struct diags *diags = advisor->context->diags;
    const struct queue *queue = search->queue;
    struct vec_u32 rows = {NULL, 0, 0};
    for (uint32_t s = 0; s < queue->table->n_streams; s++)
        if (!queue_is_over(queue, s, search->stuck[s]))
            vec_push(&rows, queue_part(queue, s, search->stuck[s])->row);
    struct launch_order order = find_order(advisor, rows.at, rows.count, NONE, 0);
    const char *then = "nothing hangs";
    if (order.first == NONE) {
        order = find_order(advisor, rows.at, rows.count, NONE, UINT32_MAX);
        then = "cuts may mend the rest";
    }
    bool few = do_fewer_cores(advisor, &rows);
    if (order.first != NONE)
        diag_help(diags,
                  few ? "order them by 'after', have them run on one stream, or %s"
                      : "order them by 'after', or have them run on one stream",
                  fewer);
    else if (few)
        diag_help(diags, "have them run %s", fewer);
    if (order.first != NONE)
        help_order(advisor, order, then);
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
    struct launch_order order = find_order(advisor, fix->others, fix->n_others, fix->row, cuts - 1);
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
