/* Entries as data: the interpreter of their rows. */
#include "backend/runtime/instructions.h"

/* The numbers of rows that feed. */
enum { FEED_STEP, FEED_SLOT, FEED_INDEX, FEED_CALL };

static void run_call(struct skrt_core *core, const struct skrt_rows *rows,
                     const struct skrt_row *row, const struct skrt_site *site)
{
    const struct skrt_call call = skrt_row_call(core, rows, row);
    if (row->op == SKRT_ROW_call_selected)
        skrt_call_selected(core, &call, site);
    else
        skrt_call_early(core, &call, row->early, site);
}

static void run_select(struct skrt_core *core, const struct skrt_rows *rows,
                       const struct skrt_row *row, const struct skrt_site *site)
{
    const struct skrt_row_kernel *kernel = skrt_row_kernel(core, rows, row);
    const struct skrt_select select = {kernel->variants, (uint32_t)kernel->n_variants,
                                       row->numbers[SKRT_ROW_SLOT]};
    skrt_select(core, &select, site);
}

static void run_feed(struct skrt_core *core, const struct skrt_rows *rows,
                     const struct skrt_row *row, const struct skrt_site *site)
{
    const struct skrt_row *fed = &rows->programs[core->type].rows[row->numbers[FEED_CALL]];
    const struct skrt_call call = skrt_row_call(core, rows, fed);
    const struct skrt_feed feed = {row->numbers[FEED_SLOT], rows->workspace,
                                   row->numbers[FEED_INDEX], &call};
    skrt_feed_sync(core, (enum skrt_feed_step)row->numbers[FEED_STEP], &feed, site);
}

static void run_row(struct skrt_core *core, const struct skrt_rows *rows,
                    const struct skrt_row *row)
{
    const struct skrt_site *site = &rows->sites[row->site];
    const uint32_t *n = row->numbers;
    switch ((enum skrt_row_op)row->op) {
    case SKRT_ROW_hint: skrt_hint(core, site); break;
    case SKRT_ROW_call: run_call(core, rows, row, site); break;
    case SKRT_ROW_select: run_select(core, rows, row, site); break;
    case SKRT_ROW_call_selected: run_call(core, rows, row, site); break;
    case SKRT_ROW_arrive: skrt_arrive(core, n[0], site); break;
    case SKRT_ROW_await: skrt_await(core, n[0], site); break;
    case SKRT_ROW_set_c2v: skrt_set_c2v(core, site); break;
    case SKRT_ROW_set_v2c: skrt_set_v2c(core, site); break;
    case SKRT_ROW_wait_c2v: skrt_wait_c2v(core, site); break;
    case SKRT_ROW_wait_v2c: skrt_wait_v2c(core, site); break;
    case SKRT_ROW_notify: skrt_notify(core, n[0], site); break;
    case SKRT_ROW_wait_event: skrt_wait_event(core, n[0], site); break;
    case SKRT_ROW_reset: skrt_reset(core, n[0], site); break;
    case SKRT_ROW_pipe_barrier: skrt_pipe_barrier(core, site); break;
    case SKRT_ROW_clear_workspace: skrt_clear_workspace(core, n[0], rows->workspace, site); break;
    case SKRT_ROW_feed_sync: run_feed(core, rows, row, site); break;
    case SKRT_ROW_profile: skrt_profile(core, n[0], n[1], n[2], n[3], site); break;
    case SKRT_ROW_trace: skrt_trace(core, n[0], n[1], n[2], site); break;
    case SKRT_ROW_count: skrt_count(core, n[0], n[1], site); break;
    case SKRT_ROW_check: skrt_check(core, n[0], n[1], site); break;
    }
}

/* As run_row, for instructions that can end a core's turn and need nothing of its stack after
 * that; the lock is held. Returns false where the core is blocked. */
static bool run_turn(struct skrt_core *core, const struct skrt_rows *rows,
                     const struct skrt_row *row)
{
    const uint32_t *n = row->numbers;
    skrt_core_begin(core, &rows->sites[row->site]);
    switch ((enum skrt_row_op)row->op) {
    case SKRT_ROW_arrive: skrt_barrier_arrive(core, n[0]); return true;
    case SKRT_ROW_await: return skrt_barrier_await(core, n[0]);
    case SKRT_ROW_set_c2v: return skrt_flag_begin(core, SKRT_FLAG_C2V, true);
    case SKRT_ROW_set_v2c: return skrt_flag_begin(core, SKRT_FLAG_V2C, true);
    case SKRT_ROW_wait_c2v: return skrt_flag_begin(core, SKRT_FLAG_C2V, false);
    case SKRT_ROW_wait_v2c: return skrt_flag_begin(core, SKRT_FLAG_V2C, false);
    default: break;
    }
    assert(false);
    return true;
}

static bool is_turn(const struct skrt_row *row)
{
    return row->op >= SKRT_ROW_arrive && row->op <= SKRT_ROW_wait_v2c;
}
_Static_assert(SKRT_ROW_await == SKRT_ROW_arrive + 1 && SKRT_ROW_wait_v2c == SKRT_ROW_arrive + 5,
               "what run_turn executes stands together");

/* Where launches are checked or timed, something follows a wait: the functions that wait with a
 * stack do that. */
void skrt_rows_go_on(struct skrt_core *core)
{
    const struct skrt_rows *rows = core->rows;
    const struct skrt_row_program *program = &rows->programs[core->type];
    bool plain = !core->job->race && !core->job->launch->records;
    while (core->row < program->n_rows) {
        const struct skrt_row *row = &program->rows[core->row++];
        if (!plain || !is_turn(row)) {
            run_row(core, rows, row);
            continue;
        }
        if (core->worker->depth == 0)
            skrt_sched_enter(core);
        if (!run_turn(core, rows, row)) {
            skrt_sched_park(core);
            return;
        }
    }
}

void skrt_run_rows(struct skrt_core *core, const struct skrt_rows *rows)
{
    static const struct skrt_site unknown = {"an entry", NULL};
    if (rows->version != SKRT_ROWS_VERSION)
        skrt_misuse(core, "its object is made for another version of skrt", &unknown);
    core->rows = rows;
    core->row = 0;
    skrt_rows_go_on(core);
}
