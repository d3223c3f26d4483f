#include "ir/verify/verify.h"
#include "ir/analysis/op_infer.h"
#include "ir/shapes/gears.h"
#include "ir/support/parts.h"
#include "ir/syntax/locate.h"
#include "ir/verify/verify_internal.h"

#include <string.h>

/* What has a name of the module; a super kernel has the one that its entry has. */
struct named {
    const char *what;
    uint32_t loc;
};

/* The element that first had a name, of those that verify_symbols marks before super kernels. */
static struct named find_symbol(const struct module *module, uint32_t name)
{
    const struct kernel *kernel = module_find_kernel(module, name);
    const struct graph *graph = module_find_graph(module, name);
    if (kernel)
        return (struct named){"kernel", kernel->loc};
    if (graph)
        return (struct named){"graph", graph->loc};
    return (struct named){"entry", module_find_entry(module, name)->loc};
}

/* Of two elements with one name, the one that stands later is wrong. */
static void report_name(struct verifier *verifier, uint32_t name, struct named a, struct named b)
{
    const struct module *module = verifier->module;
    bool same = strcmp(a.what, b.what) == 0, swapped = a.loc > b.loc && a.loc != NONE;
    struct named first = swapped ? b : a, second = swapped ? a : b;
    struct span span = locate_name(module, second.loc);
    bool kept = same ? diag_at(verifier->diags, DIAG_duplicate, span, "the %s '@%.*s' stands twice",
                               second.what, NAME(module, name))
                     : diag_at(verifier->diags, DIAG_duplicate, span,
                               "the %s '@%.*s' has the name of %s %s", second.what,
                               NAME(module, name), *first.what == 'e' ? "an" : "a", first.what);
    if (kept && first.loc != NONE)
        diag_note(verifier->diags, locate_name(module, first.loc), "the %s is here",
                  same ? "first" : first.what);
}

static void verify_unique(struct verifier *verifier, const char *what, uint32_t name, uint32_t loc)
{
    if (marks_set(verifier, name, loc, NULL))
        report_name(verifier, name, find_symbol(verifier->module, name), (struct named){what, loc});
}

/* Super kernels share names with no other one of any graph, and with entries only their own. */
static void verify_superkernel(struct verifier *verifier, const struct block *block)
{
    const struct module *module = verifier->module;
    struct named superkernel = {"super kernel", block->loc}, first = superkernel;
    if (marks_set(verifier, block->name, block->loc, &first.loc))
        report_name(verifier, block->name, first, superkernel);
    else if (module_find_kernel(module, block->name) || module_find_graph(module, block->name))
        report_name(verifier, block->name, find_symbol(module, block->name), superkernel);
}

/* The entry that is a super kernel's code is that of no other one. Without the attribute it need
 * not be there yet. */
static void verify_code(struct verifier *verifier, const struct block *block)
{
    const struct module *module = verifier->module;
    const struct attr *attr = attr_find(module, block->attrs, W_entry);
    uint32_t name = block_entry_name(module, block), first;
    if (module_find(module, SYMBOL_ENTRY, name) == NONE) {
        if (attr && attr->value.kind == ATTR_SYMBOL &&
            diag_at(verifier->diags, DIAG_unknown_entry, locate_token(module, attr->loc),
                    "there is no entry '@%.*s'", NAME(module, name)))
            suggest_symbol(module, verifier->diags, name, 1 << SYMBOL_ENTRY);
        return;
    }
    struct span span = locate_name(module, block->loc);
    if (marks_set(verifier, name, block->loc, &first) &&
        diag_at(verifier->diags, DIAG_duplicate, span,
                "the entry '@%.*s' is the code of two super kernels", NAME(module, name)))
        diag_note(verifier->diags, locate_name(module, first), "the other one is here");
}

/* Kernels, graphs and entries have one name space. */
static void verify_symbols(struct verifier *verifier)
{
    const struct module *module = verifier->module;
    marks_clear(verifier);
    for (uint32_t i = 0; i < module->kernels.count; i++)
        verify_unique(verifier, "kernel", module->kernels.at[i].name, module->kernels.at[i].loc);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        verify_unique(verifier, "graph", module->graphs.at[i].name, module->graphs.at[i].loc);
    for (uint32_t i = 0; i < module->entries.count; i++)
        verify_unique(verifier, "entry", module->entries.at[i].name, module->entries.at[i].loc);
    for (int pass = 0; pass < 2; pass++) {
        marks_clear(verifier);
        for (uint32_t i = 0; i < module->graphs.count; i++)
            for (uint32_t j = 0; j < module->graphs.at[i].blocks.count; j++) {
                const struct block *block = &module->graphs.at[i].blocks.at[j];
                if (block->kind == BLOCK_SUPERKERNEL && pass == 0)
                    verify_superkernel(verifier, block);
                else if (block->kind == BLOCK_SUPERKERNEL)
                    verify_code(verifier, block);
            }
    }
    for (uint32_t i = 1; i < module->targets.count; i++)
        if (diag_at(verifier->diags, DIAG_duplicate, locate_name(module, module->targets.at[i].loc),
                    "a module has at most one target"))
            diag_note(verifier->diags, locate_name(module, module->targets.at[0].loc),
                      "the first is here");
}

static void verifier_init(struct verifier *verifier, const struct module *module,
                          struct diags *diags)
{
    *verifier = (struct verifier){.module = module,
                                  .diags = diags,
                                  .marks = mem_calloc(module->names.count, sizeof(struct mark)),
                                  .effects = effects_new(module),
                                  .option_warnings = verify_wants_option_warnings(diags),
                                  .errors = diags->counts[SEVERITY_ERROR]};
}

/* Whether nothing was reported. */
static bool verifier_end(struct verifier *verifier)
{
    effects_free(verifier->effects);
    mem_free(verifier->marks);
    id_map_free(&verifier->own_superkernels);
    diags_settle(verifier->diags);
    return verifier->diags->counts[SEVERITY_ERROR] == verifier->errors;
}

/* The same for one of many: `superkernels` are those of the module, as module_superkernels() has
 * them. */
static bool verify_graph_of_many(const struct module *module, const struct id_map *superkernels,
                                 const struct graph *graph, struct diags *diags)
{
    struct verifier verifier;
    verifier_init(&verifier, module, diags);
    verifier.superkernels = superkernels;
    verify_graph(&verifier, graph);
    return verifier_end(&verifier);
}

bool verify_graph_alone(const struct module *module, const struct graph *graph, struct diags *diags)
{
    return verify_graph_of_many(module, NULL, graph, diags);
}

/* ------------------------------------------------------------------ graphs and entries ---- */

/* What is verified in parts, which tell nothing but whether calls and shared names were met. */
struct verified {
    struct verifier *whole;
    const uint8_t *right;     /* by index: graphs that are left out; NULL: none */
    bool entries;             /* the items are entries, else graphs */
    bool calls, shared_names; /* atomic */
};

/* Does the items from `first` up to `end` with a verifier of the part. */
static void verify_part(void *user, uint32_t first, uint32_t end, struct diags *diags)
{
    struct verified *verified = user;
    struct verifier own, *verifier = verified->whole;
    const struct module *module = verifier->module;
    if (diags != verifier->diags) {
        verifier_init(&own, module, diags);
        own.option_warnings = verified->whole->option_warnings;
        own.superkernels = verified->whole->superkernels;
        verifier = &own;
    }
    for (uint32_t i = first; i < end; i++) {
        if (verified->entries) {
            verify_entry(verifier, &module->entries.at[i]);
        } else if (verified->right && verified->right[i]) {
            /* Those that are left out may have what is asked of all. */
            verifier->calls = verifier->shared_names = true;
        } else {
            gears_tell_copy(diags, module, &module->graphs.at[i]);
            verify_graph(verifier, &module->graphs.at[i]);
            gears_tell_copy(diags, module, NULL);
        }
    }
    if (verifier->calls)
        __atomic_store_n(&verified->calls, true, __ATOMIC_RELAXED);
    if (verifier->shared_names)
        __atomic_store_n(&verified->shared_names, true, __ATOMIC_RELAXED);
    if (verifier == &own)
        verifier_end(&own);
}

static uint64_t item_weight(const void *user, uint32_t item)
{
    const struct verified *verified = user;
    const struct module *module = verified->whole->module;
    if (!verified->entries)
        return verified->right && verified->right[item]
                   ? 0
                   : 4 * (uint64_t)module->graphs.at[item].ops.count;
    const struct program *programs = module->entries.at[item].programs;
    return (programs[CORE_AIC].instrs.count + programs[CORE_AIV].instrs.count) / 4;
}

/* Graphs but those that are `right`, with what is asked of all; then entries. */
bool verify_module_but(const struct module *module, const uint8_t *right, struct diags *diags)
{
    struct verifier verifier;
    struct verified verified = {.whole = &verifier, .right = right};
    struct parts parts = {.threads = module->threads,
                          .count = module->graphs.count,
                          .weight = item_weight,
                          .work = verify_part,
                          .user = &verified};
    verifier_init(&verifier, module, diags);
    verify_symbols(&verifier);
    for (uint32_t i = 0; i < module->targets.count; i++)
        verify_attrs(&verifier, module->targets.at[i].attrs, OWNER_TARGET);
    for (uint32_t i = 0; i < module->kernels.count; i++)
        verify_kernel(&verifier, &module->kernels.at[i]);
    parts_run(&parts, diags);
    verifier.calls = verified.calls;
    verifier.shared_names = verified.shared_names;
    verify_variables(&verifier);
    verify_calls(&verifier);
    verified.entries = true;
    parts.count = module->entries.count;
    parts_run(&parts, diags);
    verify_arg_values(&verifier);
    return verifier_end(&verifier);
}

bool verify_module(const struct module *module, struct diags *diags)
{
    return verify_module_but(module, NULL, diags);
}

/* --------------------------------------------------------------------- instances ---- */

/* The verdict by the first error, and its first line that says what to do. */
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
        for (const struct diag_note *note = diag->notes; note && !verdict.help.size;
             note = note->next)
            if (note->span.begin == no_span.begin)
                text_string(&verdict.help, note->text);
        break;
    }
    diags_free(diags);
    return verdict;
}

void gear_instance_make(struct gear_instance *instance, struct module *module,
                        const struct graph *graph, const int64_t *values, const struct diags *like)
{
    struct diags diags;
    VEC(struct dim_binding) bindings = {NULL, 0, 0};
    struct bind_fault fault;
    *instance = (struct gear_instance){.graph = graph_copy(graph)};
    instance->made.where = locate_name(module, graph->loc);
    for (uint32_t i = 0; i < graph->gears.count; i++)
        vec_push(&bindings, (struct dim_binding){graph->gears.at[i].name, values[i]});
    bool ok = graph_bind_types(module, &instance->graph, bindings.at, bindings.count, &fault);
    if (!ok)
        text_printf(&instance->made.reason, "the dimension '%.*s' %s",
                    NAME(module, dim_gear(fault.dim)), dim_fault_text(fault.fault));
    graph_drop_names(&instance->graph, bindings.at, bindings.count);
    instance->graph.gear_values.count = 0;
    vec_free(&bindings);
    if (!ok)
        return;
    diags_init(&diags, like->source, like->path);
    diags.max_errors = 1;
    ok = infer_graph_types(module, &instance->graph, &diags);
    refine_result_types(module, &instance->graph);
    instance->made = diags_end(&diags, ok);
}

void gear_instance_verify(struct gear_instance *instance, const struct module *module,
                          const struct id_map *superkernels, const struct diags *like)
{
    struct diags diags;
    if (!instance->made.fits)
        return;
    diags_init(&diags, like->source, like->path);
    diags.max_errors = 1;
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

void gear_rows_report(const struct gear_rows_left_out *left_out, const struct module *module,
                      const struct graph *graph, uint32_t n_rows, bool refused, struct diags *diags)
{
    bool several = left_out->count > 1;
    if (refused && left_out->count && left_out->open == n_rows) {
        /* The values of the gears are not what is wrong. */
        if (diag_at(diags, DIAG_cannot_infer, left_out->where, "%.*s", (int)left_out->reason.size,
                    left_out->reason.at) &&
            left_out->help.size)
            diag_help(diags, "%.*s", (int)left_out->help.size, left_out->help.at);
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
