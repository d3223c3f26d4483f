#include "ir/verify/gear_rows.h"
#include "ir/gears.h"
#include "ir/syntax/locate.h"

/* ------------------------------------------------------------------------- reports ---- */

void gear_rows_leave_out(struct gear_rows_left_out *left_out, const struct module *module,
                         const struct graph *graph, const int64_t *row,
                         const struct gear_verdict *fault)
{
    if (left_out->count++ > 0) {
        text_string(&left_out->others, left_out->others.size ? "; " : "");
        gear_row_text(&left_out->others, module, graph, row);
        return;
    }
    gear_row_text(&left_out->first, module, graph, row);
    text_bytes(&left_out->reason, fault->reason.at, fault->reason.size);
    left_out->where = fault->where;
}

void gear_rows_report(const struct gear_rows_left_out *left_out, const struct module *module,
                      const struct graph *graph, uint32_t n_rows, bool refused, struct diags *diags)
{
    bool several = left_out->count > 1;
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
}

/* ----------------------------------------------------------------------- narrowing ---- */

struct narrowing {
    struct module *module;
    struct graph *graph;
    struct diags *diags;
    struct gear_table table;
    struct vec_u32 kept; /* rows of the table */
    struct gear_rows_left_out left_out;
};

static void judge(struct narrowing *narrowing)
{
    for (uint32_t i = 0; i < narrowing->table.n_rows; i++) {
        const int64_t *row = gear_table_row(&narrowing->table, i);
        struct gear_instance instance;
        gear_instance_make(&instance, narrowing->module, narrowing->graph, row, narrowing->diags);
        gear_instance_verify(&instance, narrowing->module, narrowing->diags);
        const struct gear_verdict *fault = gear_instance_fault(&instance);
        if (fault)
            gear_rows_leave_out(&narrowing->left_out, narrowing->module, narrowing->graph, row,
                                fault);
        else
            vec_push(&narrowing->kept, i);
        gear_instance_free(&instance);
    }
}

/* A gear has two values at least. */
static void bind(struct narrowing *narrowing, uint32_t row)
{
    struct gear_instance instance;
    gear_instance_make(&instance, narrowing->module, narrowing->graph,
                       gear_table_row(&narrowing->table, row), narrowing->diags);
    graph_free(narrowing->graph);
    *narrowing->graph = instance.graph;
    instance.graph = (struct graph){.name = NONE};
    gear_instance_free(&instance);
}

static void list(struct narrowing *narrowing)
{
    struct graph *graph = narrowing->graph;
    graph->gear_mode = GEARS_ZIP;
    graph->gear_values.count = 0;
    for (uint32_t i = 0; i < graph->gears.count; i++) {
        graph->gears.at[i].values = (struct range){graph->gear_values.count, narrowing->kept.count};
        for (uint32_t j = 0; j < narrowing->kept.count; j++)
            vec_push(&graph->gear_values,
                     gear_table_row(&narrowing->table, narrowing->kept.at[j])[i]);
    }
}

bool gear_rows_narrow(struct module *module, uint32_t graph, struct diags *diags)
{
    struct narrowing narrowing = {module, &module->graphs.at[graph], diags, .kept = {NULL, 0, 0}};
    if (narrowing.graph->gear_mode == GEARS_NONE || narrowing.graph->cases.count ||
        !gear_table_init(&narrowing.table, narrowing.graph))
        return true;
    judge(&narrowing);
    bool any = narrowing.kept.count > 0;
    gear_rows_report(&narrowing.left_out, module, narrowing.graph, narrowing.table.n_rows, !any,
                     diags);
    if (any && narrowing.left_out.count)
        narrowing.kept.count == 1 ? bind(&narrowing, narrowing.kept.at[0]) : list(&narrowing);
    gear_table_free(&narrowing.table);
    gear_rows_left_out_free(&narrowing.left_out);
    vec_free(&narrowing.kept);
    return any;
}
