/* What else could be done where launches hang, are cut, or wait as a whole: each way is tried
 * before it is told. */
#include "ir/sk_options.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/limiter.h"

struct span limiter_row_span(const struct limiter *limiter, uint32_t row)
{
    if (row == NONE)
        return no_span;
    struct launch_source source = limiter->launches.sources.at[row];
    const struct graph *graph = limiter->graph;
    return source.block != NONE
               ? locate_name(limiter->module, graph->blocks.at[source.block].loc)
               : locate_op(limiter->module, &graph->ops.at[source.op], OP_TYPE_NAME, 0);
}

/* "48 AIVs", "1 AIC and 2 AIVs": of so many blocks. */
static const char *cores_text(const struct limiter *limiter, const struct launch_row *row,
                              uint32_t blocks)
{
    const struct shape_info *shape = shape_info(row->shape);
    uint32_t aics = blocks * shape->aics, aivs = blocks * shape->aivs;
    struct arena *arena = &limiter->context->diags->arena;
    if (aivs == 0)
        return arena_printf(arena, "%u AIC%s", aics, aics == 1 ? "" : "s");
    if (aics == 0)
        return arena_printf(arena, "%u AIV%s", aivs, aivs == 1 ? "" : "s");
    return arena_printf(arena, "%u AIC%s and %u AIV%s", aics, aics == 1 ? "" : "s", aivs,
                        aivs == 1 ? "" : "s");
}

const char *limiter_row_text(const struct limiter *limiter, uint32_t row)
{
    struct text text = {NULL, 0, 0};
    limiter->names.row(&text, limiter->names.user, row);
    text_char(&text, '\0');
    const char *kept = arena_printf(&limiter->context->diags->arena, "%s", text.at);
    text_free(&text);
    return kept;
}

/* The op of a launch whose order is that of the launch: what executes something, the first or last
 * in the text. */
static uint32_t end_op(const struct limiter *limiter, uint32_t row, bool last)
{
    struct launch_source source = limiter->launches.sources.at[row];
    struct analyses *analyses = limiter->context->analyses;
    const struct order *order = analyses_order(analyses, limiter->module, limiter->graph);
    const struct members *members = analyses_members(analyses, limiter->module, limiter->graph);
    uint32_t end = source.op;
    if (source.block == NONE)
        return end;
    for (uint32_t i = members->first[source.block]; i < members->first[source.block + 1]; i++) {
        uint32_t op = members->ops[i];
        bool behind = end != NONE && order->position[op] > order->position[end];
        if (!order->passive[op] && (end == NONE || behind == last))
            end = op;
    }
    return end;
}

/* Says which order would do. */
static void report_advice(const struct limiter *limiter, const struct launch_advice *advice,
                          const char *then)
{
    struct diags *diags = limiter->context->diags;
    const struct graph *graph = limiter->graph;
    uint32_t from = end_op(limiter, advice->first, true),
             to = end_op(limiter, advice->behind, false);
    if (from == NONE || to == NONE)
        return;
    const struct op *first = &graph->ops.at[from], *behind = &graph->ops.at[to];
    const char *text = op_text(limiter->module, graph, behind, &diags->arena);
    bool named =
        first->results.count && behind->loc != NONE && first->loc < behind->loc; /* above it */
    const char *how =
        named
            ? arena_printf(&diags->arena, "'after (%%%.*s)' on %s",
                           NAME(limiter->module, graph->values.at[first->results.first].name), text)
            : arena_printf(&diags->arena, "an event from %s to %s",
                           op_text(limiter->module, graph, first, &diags->arena), text);
    diag_help(diags, "with %s, %s starts when %s has ended, and %s", how,
              limiter_row_text(limiter, advice->behind), limiter_row_text(limiter, advice->first),
              then);
}

/* Whether options have it launched on more cores than its ops need: `change` becomes what these do.
 */
static bool is_wider(const struct limiter *limiter, uint32_t row, struct launch_change *change)
{
    const struct members *members =
        analyses_members(limiter->context->analyses, limiter->module, limiter->graph);
    change->row = row;
    change->open = false;
    return graph_launch_is_wider(&limiter->launches, members, row, &change->shape, &change->blocks);
}

/* "'debug-aic-num' and 'debug-aiv-num'": those that a launch has. */
static const char *wide_options_text(const struct limiter *limiter, uint32_t row)
{
    static const enum sk_option wide[] = {SK_debug_aic_num, SK_debug_aiv_num,
                                          SK_debug_per_op_max_core_num};
    const struct block *block = &limiter->graph->blocks.at[limiter->launches.sources.at[row].block];
    struct arena *arena = &limiter->context->diags->arena;
    struct sk_options options;
    const char *text = "";
    sk_options_of(&options, limiter->module, attr_string(limiter->module, block->attrs, W_options));
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (options.of[wide[i]].number)
            text =
                arena_printf(arena, "%s%s'%s'", text, *text ? " and " : "", sk_option_key(wide[i]));
    return text;
}

/* Whether the launches would do so: `most` cut at most, the row `uncut` not. */
static bool try_changes(struct limiter *limiter, const struct launch_change *changes,
                        uint32_t count, uint32_t uncut, uint32_t most)
{
    if (limiter->tries == 0)
        return false;
    limiter->tries--;
    return launches_do_with(&limiter->launches.table, changes, count, uncut, most);
}

static void say_narrow(const struct limiter *limiter, const struct launch_change *changes,
                       uint32_t count, const char *then)
{
    struct arena *arena = &limiter->context->diags->arena;
    const char *launches = "", *options = "",
               *needs = count == 1 ? "its ops need" : "their ops need";
    for (uint32_t i = 0; i < count; i++) {
        struct launch_row row = {.shape = changes[i].shape};
        const char *name = limiter_row_text(limiter, changes[i].row), *and = i ? " and " : "";
        launches = arena_printf(arena, "%s%s%s on %s", launches, and, name,
                                cores_text(limiter, &row, changes[i].blocks));
        options = arena_printf(arena, "%s%s%s of %s", options, and,
                               wide_options_text(limiter, changes[i].row), name);
    }
    diag_help(limiter->context->diags, "with %s, which %s, %s: leave out %s", launches, needs, then,
              options);
}

/* Says of which launches options should be left out that have more cores than their ops need: of
 * one, or else of all of these. */
static void advise_narrow(struct limiter *limiter, const struct vec_u32 *rows, uint32_t uncut,
                          uint32_t most, const char *then)
{
    VEC(struct launch_change) wide = {NULL, 0, 0};
    struct launch_change change;
    bool said = false;
    for (uint32_t i = 0; i < rows->count; i++)
        if (is_wider(limiter, rows->at[i], &change))
            vec_push(&wide, change);
    for (uint32_t i = 0; i < wide.count; i++) {
        if (!try_changes(limiter, &wide.at[i], 1, uncut, most))
            continue;
        say_narrow(limiter, &wide.at[i], 1, then);
        said = true;
    }
    if (!said && wide.count > 1 && try_changes(limiter, wide.at, wide.count, uncut, most))
        say_narrow(limiter, wide.at, wide.count, then);
    vec_free(&wide);
}

/* ------------------------------------------------------------------- sealed launches ---- */

enum sealed { SEALED_NOT, SEALED_ENTRY, SEALED_SLOTS, SEALED_ORDER };

/* Why nothing about a launch is changed. */
static enum sealed sealed_by(const struct limiter *limiter, uint32_t row)
{
    uint32_t block = limiter->launches.sources.at[row].block;
    if (block == NONE || !limiter->launches.table.rows.at[row].sealed)
        return SEALED_NOT;
    const struct block *superkernel = &limiter->graph->blocks.at[block];
    if (graph_launch_is_given(&limiter->launches, row))
        return SEALED_ENTRY;
    return attr_flag(limiter->module, superkernel->attrs, W_fixed_slots) ? SEALED_SLOTS
                                                                         : SEALED_ORDER;
}

/* "cut before Mine %d", "waiting as a whole for 'x'", of all that would be changed. */
static const char *mends_text(const struct limiter *limiter, const struct mends *mends)
{
    const struct graph_launches *launches = &limiter->launches;
    struct arena *arena = &limiter->context->diags->arena;
    const char *text = "";
    for (uint32_t i = 0; i < mends->count && i < MEND_BESIDE; i++) {
        const struct launch_step *step = &launches->table.steps.at[mends->at[i].step];
        const char *and = i ? " and " : "";
        text = mends->at[i].cut
                   ? arena_printf(arena, "%s%scut before %s", text, and,
                                  op_text(limiter->module, limiter->graph,
                                          &limiter->graph->ops.at[step->user], arena))
                   : arena_printf(arena, "%s%swaiting as a whole for '%.*s'", text, and,
                                  NAME(limiter->module, launches->events.at[step->event]));
    }
    return text;
}

/* Says what a launch that is left as it is would have to be changed to, and what is in the way. */
static void advise_open(struct limiter *limiter, uint32_t row)
{
    static const char *const ways[] = {
        [SEALED_ENTRY] = "its entry is given, so that has to be written",
        [SEALED_SLOTS] = "leave out 'fixed_slots', and that is done",
        [SEALED_ORDER] = "write its ops in the order in which they run, if need be in further "
                         "blocks of its name, and that is done",
    };
    struct mends mends = {NULL, 0, 0};
    enum sealed sealed = sealed_by(limiter, row);
    if (sealed == SEALED_NOT || limiter->tries == 0)
        return;
    limiter->tries--;
    if (launches_do_open(&limiter->launches.table, row, &mends))
        diag_help(limiter->context->diags, "with %s %s, nothing hangs: %s",
                  limiter_row_text(limiter, row), mends_text(limiter, &mends), ways[sealed]);
    vec_free(&mends);
}

/* ------------------------------------------------------------------------- hangs ---- */

/* Whether nothing hangs where those that keep cores have one block each. */
static bool do_fewer_cores(struct limiter *limiter, const struct vec_u32 *rows)
{
    VEC(struct launch_change) changes = {NULL, 0, 0};
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct launch_row *row = &limiter->launches.table.rows.at[rows->at[i]];
        if (row->keeps)
            vec_push(&changes, (struct launch_change){rows->at[i], row->shape, 1, false});
    }
    bool enough = try_changes(limiter, changes.at, changes.count, NONE, 0);
    vec_free(&changes);
    return enough;
}

/* What can be done in any case is said only where it can: launches that need parts of each other
 * cannot come one behind the other. */
static void advise_generally(struct limiter *limiter, const struct vec_u32 *rows)
{
    static const char fewer[] = "on fewer cores (a smaller 'block' of their kernels)";
    struct diags *diags = limiter->context->diags;
    bool follow =
             launches_can_follow(&limiter->launches.table, rows->at, rows->count, &limiter->tries),
         few = do_fewer_cores(limiter, rows);
    if (follow)
        diag_help(diags,
                  few ? "order them by 'after', have them run on one stream, or %s"
                      : "order them by 'after', or have them run on one stream",
                  fewer);
    else if (few)
        diag_help(diags, "have them run %s", fewer);
}

/* An order that is enough, best without cuts: what launches wait for behind those is not tried. */
static void advise_order(struct limiter *limiter, const struct vec_u32 *rows)
{
    static const struct {
        uint32_t most;
        const char *then;
    } ways[] = {{0, "nothing hangs"}, {NONE, "cuts may mend the rest"}};
    const struct launch_table *table = &limiter->launches.table;
    struct launch_advice advice;
    bool said = false;
    for (size_t i = 0; i < sizeof ways / sizeof *ways && !said; i++) {
        said = launches_advise(&advice, table, rows->at, rows->count, NONE, ways[i].most,
                               &limiter->tries);
        if (said)
            report_advice(limiter, &advice, ways[i].then);
    }
}

void advise_hang(struct limiter *limiter, const struct explorer *explorer)
{
    const struct queue *queue = explorer->queue;
    struct vec_u32 rows = {NULL, 0, 0};
    for (uint32_t i = 0; i < queue->table->n_streams; i++)
        if (!queue_is_over(queue, i, explorer->stuck[i]))
            vec_push(&rows, queue_part(queue, i, explorer->stuck[i])->row);
    advise_generally(limiter, &rows);
    advise_order(limiter, &rows);
    advise_narrow(limiter, &rows, NONE, 0, "nothing hangs");
    for (uint32_t i = 0; i < rows.count; i++)
        advise_open(limiter, rows.at[i]);
    vec_free(&rows);
}

/* ------------------------------------------------------------------------- cuts ---- */

/* The most blocks with which a launch leaves room for another, that is fewer than it has. */
static uint32_t blocks_beside(const struct launch_table *table, const struct launch_row *row,
                              const struct launch_row *other)
{
    uint32_t blocks = row->blocks;
    while (--blocks > 0) {
        struct held held = {{0}};
        held.of[other->shape] = other->keeps ? other->blocks : 1;
        held.of[row->shape] += blocks;
        if (cores_fit(&table->device, &held))
            return blocks;
    }
    return 0;
}

/* On how many cores the launch would not have to be cut, "" where there are no such. */
static const char *fewer_text(struct limiter *limiter, const struct mend *mend, uint32_t cuts)
{
    const struct launch_table *table = &limiter->launches.table;
    const struct launch_row *row = &table->rows.at[mend->row];
    struct launch_change change = {.row = mend->row, .shape = row->shape};
    change.blocks = blocks_beside(table, row, &table->rows.at[mend->other]);
    if (is_wider(limiter, mend->row, &(struct launch_change){0}) || change.blocks == 0 ||
        !try_changes(limiter, &change, 1, mend->row, cuts - 1))
        return "";
    return arena_printf(&limiter->context->diags->arena,
                        ". On %s it would not be cut: give its kernels a 'block' of no more; "
                        "sample kernels are declared for that",
                        cores_text(limiter, row, change.blocks));
}

/* Says which launch with fixed slots would wait as a whole without them, so that this one need not
 * be cut. */
static void advise_slots(struct limiter *limiter, const struct mend *mend,
                         const struct vec_u32 *rows, uint32_t cuts)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        const struct launch_row *row = &limiter->launches.table.rows.at[rows->at[i]];
        struct launch_change change = {rows->at[i], row->shape, row->blocks, true};
        if (sealed_by(limiter, rows->at[i]) == SEALED_SLOTS &&
            try_changes(limiter, &change, 1, mend->row, cuts - 1))
            diag_help(limiter->context->diags,
                      "without 'fixed_slots', %s can wait as a whole, and nothing is cut here",
                      limiter_row_text(limiter, rows->at[i]));
    }
}

static void advise_options(struct limiter *limiter, const struct mend *mend, uint32_t cuts)
{
    struct vec_u32 rows = {NULL, 0, 0};
    bool found = false;
    for (uint32_t i = 0; i < mend->n_beside; i++) {
        vec_push(&rows, mend->beside[i]);
        found = found || mend->beside[i] == mend->other;
    }
    if (!found)
        vec_push(&rows, mend->other);
    advise_narrow(limiter, &rows, mend->row, cuts - 1, "nothing is cut here");
    advise_slots(limiter, mend, &rows, cuts);
    vec_free(&rows);
}

void explain_cores(struct limiter *limiter, const struct mend *mend, uint32_t cuts)
{
    const struct launch_table *table = &limiter->launches.table;
    const struct launch_row *row = &table->rows.at[mend->row], *other;
    struct diags *diags = limiter->context->diags;
    struct span span = limiter_row_span(limiter, mend->other);
    if (mend->other == NONE)
        return;
    other = &table->rows.at[mend->other];
    if (mend->cut)
        diag_help(
            diags, "of %u AICs and %u AIVs '@%.*s' keeps %s, and %s needs %s at once%s",
            table->device.aics, table->device.aivs,
            NAME(limiter->module,
                 limiter->graph->blocks.at[limiter->launches.sources.at[mend->row].block].name),
            cores_text(limiter, row, row->blocks), limiter_row_text(limiter, mend->other),
            cores_text(limiter, other, other->keeps ? other->blocks : 1),
            fewer_text(limiter, mend, cuts));
    if (mend->cut)
        advise_options(limiter, mend, cuts);
    if (span.end)
        diag_note(diags, span, "that lacks cores");
}

void advise_cut(struct limiter *limiter, const struct mend *mend, uint32_t cuts)
{
    struct launch_advice advice;
    if (launches_advise(&advice, &limiter->launches.table, mend->beside, mend->n_beside, mend->row,
                        cuts - 1, &limiter->tries))
        report_advice(limiter, &advice, "nothing is cut here");
}
