#include "ir/verify/gear_rows.h"
#include "ir/gears.h"
#include "ir/syntax/locate.h"

/* ------------------------------------------------------------------------- reports ---- */

void gear_rows_leave_out(struct gear_rows_left_out *left_out, const struct module *module,
                         const struct graph *graph, const int64_t *row,
                         const struct gear_verdict *fault)
{
    left_out->open += fault->open;
    if (left_out->count++ > 0) {
        text_string(&left_out->others, left_out->others.size ? "; " : "");
        gear_row_text(&left_out->others, module, graph, row);
        return;
    }
    gear_row_text(&left_out->first, module, graph, row);
    text_append(&left_out->reason, &fault->reason);
    text_append(&left_out->help, &fault->help);
    left_out->where = fault->where;
}

/* The values of the gears are not what is wrong. */
static void report_open(const struct gear_rows_left_out *left_out, struct diags *diags)
{
    if (diag_at(diags, DIAG_cannot_infer, left_out->where, "%.*s", (int)left_out->reason.size,
                left_out->reason.at) &&
        left_out->help.size)
        diag_help(diags, "%.*s", (int)left_out->help.size, left_out->help.at);
}

void gear_rows_report(const struct gear_rows_left_out *left_out, const struct module *module,
                      const struct graph *graph, uint32_t n_rows, bool refused, struct diags *diags)
{
    bool several = left_out->count > 1;
    if (refused && left_out->count && left_out->open == n_rows) {
        report_open(left_out, diags);
        return;
    }
    if (left_out->count == 0 || !diag_at(diags, refused ? DIAG_gear : DIAG_gear_left_out,
                                         locate_token(module, graph->gears.at[0].loc),
                                         "%u of %u combinations of gears contradict%s the graph%s",
                                         left_out->count, n_rows, several ? "" : "s",
                                         refused   ? ""
                                         : several ? ", and are left out"
                                                   : ", and is left out"))
        return;
    if (several)
        diag_help(diags, "so it is with %.*s", (int)left_out->others.size, left_out->others.at);
    diag_note(diags, left_out->where, "with %.*s: %.*s", (int)left_out->first.size,
              left_out->first.at, (int)left_out->reason.size, left_out->reason.at);
}

void gear_rows_left_out_free(struct gear_rows_left_out *left_out)
{
    text_free(&left_out->first);
    text_free(&left_out->others);
    text_free(&left_out->reason);
    text_free(&left_out->help);
}

/* ------------------------------------------------------------------------- marking ---- */

uint32_t gear_rows_find(struct gear_rows_left_out *left_out, struct module *module, uint32_t id,
                        const struct diags *diags)
{
    struct graph *graph = &module->graphs.at[id];
    struct gear_table table;
    *left_out = (struct gear_rows_left_out){.count = 0};
    if (graph->gear_mode == GEARS_NONE || graph->cases.count || !gear_table_init(&table, graph))
        return 0;
    for (uint32_t i = 0; i < table.n_rows; i++) {
        const int64_t *row = gear_table_row(&table, i);
        struct gear_instance instance;
        gear_instance_make(&instance, module, graph, row, diags);
        gear_instance_verify(&instance, module, NULL, diags);
        const struct gear_verdict *fault = gear_instance_fault(&instance);
        gear_row_mark(graph, i, fault != NULL);
        if (fault)
            gear_rows_leave_out(left_out, module, graph, row, fault);
        gear_instance_free(&instance);
    }
    uint32_t count = table.n_rows;
    gear_table_free(&table);
    return count;
}

bool gear_rows_mark(struct module *module, uint32_t id, struct diags *diags)
{
    struct gear_rows_left_out left_out;
    uint32_t count = gear_rows_find(&left_out, module, id, diags);
    bool any = count == 0 || left_out.count < count;
    gear_rows_report(&left_out, module, &module->graphs.at[id], count, !any, diags);
    gear_rows_left_out_free(&left_out);
    return any;
}
