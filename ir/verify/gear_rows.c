#include "ir/verify/gear_rows.h"
#include "ir/gears.h"
#include "ir/refine_types.h"
#include "ir/syntax/locate.h"
#include "ir/verify/infer_types.h"
#include "ir/verify/verify.h"

/* --------------------------------------------------------------------- instances ---- */

static bool bind(struct module *module, struct graph *instance, const int64_t *values,
                 struct text *reason)
{
    VEC(struct dim_binding) bindings = {NULL, 0, 0};
    struct bind_fault fault;
    for (uint32_t i = 0; i < instance->gears.count; i++)
        vec_push(&bindings, (struct dim_binding){instance->gears.at[i].name, values[i]});
    bool ok = graph_bind_types(module, instance, bindings.at, bindings.count, &fault);
    if (!ok)
        text_printf(reason, "the dimension '%.*s' %s", NAME(module, dim_gear(fault.dim)),
                    dim_fault_text(fault.fault));
    graph_drop_names(instance, bindings.at, bindings.count);
    instance->gear_values.count = 0;
    vec_free(&bindings);
    return ok;
}

static void diags_begin(struct diags *diags, const struct diags *like)
{
    diags_init(diags, like->source, like->path);
    diags->max_errors = 1;
}

/* The first line that says what to do. */
static void take_help(const struct diag *diag, struct text *help)
{
    for (const struct diag_note *note = diag->notes; note && !help->size; note = note->next)
        if (note->span.begin == no_span.begin)
            text_string(help, note->text);
}

static struct gear_verdict diags_end(struct diags *diags, bool ok)
{
    struct gear_verdict verdict = {
        .fits = ok, .silent = diags->list.count + diags->counts[SEVERITY_REMARK] == 0};
    for (uint32_t i = 0; !ok && i < diags->list.count; i++) {
        const struct diag *diag = &diags->list.at[i];
        if (diag->severity != SEVERITY_ERROR)
            continue;
        text_string(&verdict.reason, diag->text);
        verdict.where = diag->span;
        verdict.open = diag->id == DIAG_cannot_infer;
        take_help(diag, &verdict.help);
        break;
    }
    diags_free(diags);
    return verdict;
}

void gear_instance_make(struct gear_instance *instance, struct module *module,
                        const struct graph *graph, const int64_t *values, const struct diags *like)
{
    struct diags diags;
    *instance = (struct gear_instance){.graph = graph_copy(graph)};
    instance->made.where = locate_name(module, graph->loc);
    if (!bind(module, &instance->graph, values, &instance->made.reason))
        return;
    diags_begin(&diags, like);
    bool ok = infer_graph_types(module, &instance->graph, &diags);
    refine_result_types(module, &instance->graph);
    instance->made = diags_end(&diags, ok);
}

void gear_instance_verify(struct gear_instance *instance, const struct module *module,
                          const struct id_map *superkernels, const struct diags *like)
{
    struct diags diags;
    if (!instance->made.fits)
        return;
    diags_begin(&diags, like);
    bool ok = verify_graph_of_many(module, superkernels, &instance->graph, &diags);
    instance->verified = diags_end(&diags, ok);
}

const struct gear_verdict *gear_instance_fault(const struct gear_instance *instance)
{
    return !instance->made.fits       ? &instance->made
           : !instance->verified.fits ? &instance->verified
                                      : NULL;
}

void gear_instance_free(struct gear_instance *instance)
{
    graph_free(&instance->graph);
    text_free(&instance->made.reason);
    text_free(&instance->made.help);
    text_free(&instance->verified.reason);
    text_free(&instance->verified.help);
}

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
