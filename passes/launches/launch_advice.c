#include "passes/launches/launch_advice.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/launches/launch_text.h"

#include <string.h>

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
    struct mends mends = {NULL, 0, 0};
    uint32_t cuts = 0;
    queue_init(&queue, table);
    if (order.first != NONE)
        queue_add_order(&queue, order.first, order.second);
    uint32_t *positions = mem_calloc(queue.n_lanes, sizeof *positions);
    bool enough = !queue_has_cycle(&queue, positions);
    if (enough) {
        search_init(&search, &queue, ADVICE_STATES, ADVICE_WORK);
        enough = search_mend(&search, &mends) == SEARCH_SAFE;
        search_free(&search);
    }
    for (uint32_t i = 0; i < mends.count; i++) {
        cuts += mends.at[i].cut;
        enough = enough && !(mends.at[i].cut && mends.at[i].row == row);
    }
    vec_free(&mends);
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

/* Whether any of the rows could follow another one as a whole. */
static bool can_follow(struct launch_advisor *advisor, const struct vec_u32 *rows)
{
    bool found = false;
    for (uint32_t n = 0; n < rows->count * rows->count && advisor->tries && !found; n++) {
        uint32_t first = rows->at[n / rows->count], second = rows->at[n % rows->count];
        struct queue queue;
        if (first == second)
            continue;
        advisor->tries--;
        queue_init(&queue, &advisor->launches.table);
        queue_add_order(&queue, first, second);
        uint32_t *positions = mem_calloc(queue.n_lanes, sizeof *positions);
        found = !queue_has_cycle(&queue, positions);
        mem_free(positions);
        queue_free(&queue);
    }
    return found;
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
    bool follow = can_follow(advisor, &rows), few = do_fewer_cores(advisor, &rows);
    if (follow)
        diag_help(diags,
                  few ? "order them by 'after', have them run on one stream, or %s"
                      : "order them by 'after', or have them run on one stream",
                  fewer);
    else if (few)
        diag_help(diags, "have them run %s", fewer);
    struct launch_order order = find_order(advisor, rows.at, rows.count, NONE, 0);
    const char *then = "nothing hangs";
    if (order.first == NONE) {
        order = find_order(advisor, rows.at, rows.count, NONE, UINT32_MAX);
        then = "cuts may mend the rest";
    }
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

void advise_cut(struct launch_advisor *advisor, const struct mend *mend, uint32_t cuts)
{
    struct launch_order order =
        find_order(advisor, mend->others, mend->n_others, mend->row, cuts - 1);
    if (order.first != NONE)
        help_order(advisor, order, "nothing is cut here");
}
