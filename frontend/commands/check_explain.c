#include "frontend/commands/check_explain.h"

#include <string.h>

#include "frontend/commands/check_gears.h"
#include "ir/arch.h"
#include "ir/base/text.h"
#include "ir/estimate.h"
#include "ir/syntax/origins.h"
#include "ir/syntax/spelling.h"
#include "ir/variants.h"

/* One graph's. */
struct account {
    FILE *out;
    const struct module *module;
    const struct graph *graph;
    const struct members *members;
    struct graph_estimate times;
};

static const char *const reasons[] = {[ESTIMATE_UNKNOWN] = "unknown",
                                      [ESTIMATE_TIME] = "its time",
                                      [ESTIMATE_FLOPS] = "flops",
                                      [ESTIMATE_BYTES] = "bytes"};

static void print_op(const struct account *account, uint32_t id)
{
    const struct op *op = &account->graph->ops.at[id];
    const struct kernel *kernel = module_kernel(account->module, op->kernel);
    const struct op_estimate *time = &account->times.ops[id];
    struct arena scratch = {NULL, 0};
    if (time->by == ESTIMATE_UNKNOWN)
        fprintf(account->out, "      %10s     ", "?");
    else
        fprintf(account->out, "      %10.3f us  ", time->us);
    fprintf(account->out, "%-8s  %-11s  %s\n", reasons[time->by],
            kernel_type_info(kernel->type)->name,
            op_text(account->module, account->graph, op, &scratch));
    arena_free(&scratch);
}

static void print_superkernel(const struct account *account, uint32_t id)
{
    const struct block *block = &account->graph->blocks.at[id];
    fprintf(account->out, "    '@%.*s': %.3f us; each op launched by itself: %.3f us\n",
            NAME(account->module, block->name), account->times.blocks[id],
            account->times.alone[id]);
    for (uint32_t i = account->members->first[id]; i < account->members->first[id + 1]; i++)
        print_op(account, account->members->ops[i]);
}

/* Ops outside of super kernels, each a launch. */
static void print_single_ops(const struct account *account)
{
    bool first = true;
    for (uint32_t i = 0; i < account->graph->ops.count; i++) {
        const struct op *op = &account->graph->ops.at[i];
        if (op->kernel == NONE || graph_superkernel(account->graph, op->block) != NONE)
            continue;
        if (first)
            fprintf(account->out, "    launched by themselves, each %.3f us more:\n",
                    estimate_launch(account->module));
        first = false;
        print_op(account, i);
    }
}

static void print_sums(const struct account *account)
{
    const struct graph_estimate *times = &account->times;
    fprintf(account->out, "    launches one behind the other: %.3f us; each op by itself: %.3f us",
            times->fused, times->unfused);
    if (times->unfused > times->fused)
        fprintf(account->out, "; fusing saves at most %.3f us", times->unfused - times->fused);
    fputc('\n', account->out);
    if (times->unknown)
        fprintf(account->out, "    %u op%s whose time is not known count%s as none\n",
                times->unknown, times->unknown == 1 ? "" : "s", times->unknown == 1 ? "s" : "");
}

static void print_graph(struct account *account, struct analyses *analyses)
{
    account->members = analyses_members(analyses, account->module, account->graph);
    graph_estimate_init(&account->times, analyses, account->module, account->graph);
    fprintf(account->out, "  '@%.*s':\n", NAME(account->module, account->graph->name));
    for (uint32_t i = 0; i < account->graph->blocks.count; i++)
        if (account->graph->blocks.at[i].kind == BLOCK_SUPERKERNEL)
            print_superkernel(account, i);
    print_single_ops(account);
    print_sums(account);
    graph_estimate_free(&account->times);
}

static void print_rates(FILE *out, const struct module *module)
{
    enum arch arch = module_arch(module);
    const struct arch_rates *rates = arch_rates(arch);
    if (rates)
        fprintf(out,
                "  estimate (roofline of %s, no contention; nothing is measured): %u MHz, a launch "
                "%.3f us; barriers and what kernels need to begin are not counted\n",
                arch_name(arch), rates->mhz, estimate_launch(module));
    else
        fprintf(out, "  nothing is known of the rates of %s: only kernels with 'time' count\n",
                arch_name(arch));
}

void check_estimate_print(struct input *input)
{
    struct account account = {.out = input->invocation->out, .module = input->module};
    struct analyses analyses = {NULL, 0, 0, NULL};
    diag_put(account.out, input->diags.path, strlen(input->diags.path));
    fputs(":\n", account.out);
    print_rates(account.out, input->module);
    for (uint32_t i = 0; i < input->module->graphs.count; i++) {
        account.graph = &input->module->graphs.at[i];
        if (account.graph->cases.count == 0) /* others are launched for it */
            print_graph(&account, &analyses);
    }
    analyses_drop(&analyses);
}

/* A remark as lines, in which names that are common to combinations of gears stand in the place of
 * those of one. */
struct told {
    const struct diag *diag;
    struct text text;
    const struct gear_place *place; /* NULL: it is not known to be of a combination */
    bool named;                     /* by a name in the text */
    uint32_t times;
    uint32_t marks[GEARS_MAX_ROWS]; /* 1 for the combinations that it is of, where `place` is */
};

struct explainer {
    FILE *out;
    struct source *source;
    struct gear_names names;
    VEC(struct told) told; /* those of one place of the source */
};

/* ---------------------------------------------------------------------------- texts ---- */

static void add_line_number(struct text *text, struct source *source, struct span span)
{
    if (span.end && source)
        text_printf(text, "line %u: ", source_position(source, span.begin).line);
}

static void add_origin(struct text *text, struct diag_origin origin)
{
    if (origin.text)
        text_printf(text, "%.*s: ", (int)origin.size, origin.text);
}

/* Appends what stays one line. `names` may be NULL. The place of the first name that is of a
 * combination, or NULL. */
static const struct gear_place *add_text(struct text *text, const struct gear_names *names,
                                         const char *from)
{
    size_t begin = text->size;
    const struct gear_place *place = names ? gear_names_write(names, text, from) : NULL;
    if (!names)
        text_string(text, from);
    for (size_t i = begin; i < text->size; i++)
        if (text->at[i] == '\n')
            text->at[i] = '?';
    return place;
}

/* A remark and its notes, each on a line. */
static const struct gear_place *add_remark(struct text *text, struct source *source,
                                           const struct diag *diag, const struct gear_names *names)
{
    text_string(text, "  ");
    add_origin(text, diag->origin);
    add_line_number(text, source, diag->span);
    const struct gear_place *place = add_text(text, names, diag->text);
    text_printf(text, " [%s]\n", diag_id_text(diag->id));
    for (const struct diag_note *note = diag->notes; note; note = note->next) {
        text_string(text, note->span.end ? "    " : "    -> ");
        add_origin(text, note->origin);
        add_line_number(text, source, note->span);
        add_text(text, names, note->text);
        text_char(text, '\n');
    }
    return place;
}

/* ------------------------------------------------------------------- combinations ---- */

static bool is_told(const struct told *told, const struct text *text,
                    const struct gear_place *place)
{
    return told->text.size == text->size && memcmp(told->text.at, text->at, text->size) == 0 &&
           !told->place == !place && (!place || told->place->graph == place->graph);
}

/* Counts a remark that was there in the same words, but for names of combinations. */
static void tell(struct explainer *explainer, const struct diag *diag)
{
    struct text text = {NULL, 0, 0};
    const struct gear_place *place = add_remark(&text, explainer->source, diag, &explainer->names);
    bool named = place != NULL;
    if (!named && diag->copy_id != NONE)
        place = gear_names_find(&explainer->names, diag->copy_id);
    uint32_t i = 0;
    while (i < explainer->told.count && !is_told(&explainer->told.at[i], &text, place))
        i++;
    if (i == explainer->told.count) {
        vec_push(&explainer->told,
                 (struct told){.diag = diag, .text = text, .place = place, .named = named});
        text = (struct text){NULL, 0, 0};
    }
    explainer->told.at[i].times++;
    if (place)
        explainer->told.at[i].marks[place->row] = 1;
    text_free(&text);
}

/* Which combinations a remark is of; without a name of one in it, how often it is there. */
static void add_times(const struct explainer *explainer, const struct told *told, struct text *text)
{
    const struct module *module = explainer->names.module;
    if (!told->place) {
        text_printf(text, "    so in %u graphs\n", told->times);
        return;
    }
    const struct graph *graph = &module->graphs.at[told->place->graph];
    uint32_t count = 0;
    for (uint32_t row = 0; row < graph->cases.count; row++)
        count += told->marks[row];
    text_printf(text, "    so in %s%u combination%s of gears",
                count == graph->cases.count ? "all " : "", count, count == 1 ? "" : "s");
    if (count < graph->cases.count) {
        text_printf(text, " of %u: ", graph->cases.count);
        gear_rows_text(text, module, graph, told->marks, 1);
    }
    text_char(text, '\n');
}

/* Prints what was told of one place. */
static void print_told(struct explainer *explainer)
{
    for (uint32_t i = 0; i < explainer->told.count; i++) {
        struct told *told = &explainer->told.at[i];
        const struct gear_place *place = told->place;
        bool several = place && explainer->names.module->graphs.at[place->graph].cases.count > 1;
        if (told->times > 1 || (several && !told->named)) {
            add_times(explainer, told, &told->text);
        } else {
            told->text.size = 0;
            add_remark(&told->text, explainer->source, told->diag, NULL);
        }
        diag_put_lines(explainer->out, told->text.at, told->text.size);
        text_free(&told->text);
    }
    explainer->told.count = 0;
}

/* --------------------------------------------------------------------------- the file ---- */

static void explain(struct explainer *explainer, const struct diags *diags,
                    const struct diag *const *order)
{
    bool gears = module_has_cases(explainer->names.module);
    const struct diag *last = NULL;
    for (uint32_t i = 0; i < diags->list.count; i++) {
        const struct diag *diag = order[i];
        if (diag->severity != SEVERITY_REMARK)
            continue;
        if (!gears || !last || last->span.begin != diag->span.begin)
            print_told(explainer);
        tell(explainer, diag);
        last = diag;
    }
    print_told(explainer);
    bool marked = diags_have(diags, DIAG_nothing_to_fuse) || diags_have(diags, DIAG_scope_bypassed);
    if (!last && (marked || diags_have(diags, DIAG_scope_broken)))
        fputs("  nothing is fused\n", explainer->out);
    else if (!last)
        fputs("  nothing is marked to be fused: no op is in a scope\n", explainer->out);
}

/* What tests expect does not depend on the folder. */
static const char *shown_path(const struct input *input)
{
    const char *name = strrchr(input->diags.path, '/');
    return is_steady(input->invocation) && name ? name + 1 : input->diags.path;
}

void check_explain_print(struct input *input)
{
    struct diags *diags = &input->diags;
    struct explainer explainer = {.out = input->invocation->out, .source = diags->source};
    origins_mark(input->module, diags);
    const struct diag **order = diags_sorted(diags);
    const char *path = shown_path(input);
    diag_put(explainer.out, path, strlen(path));
    fputs(":\n", explainer.out);
    gear_names_init(&explainer.names, input->module);
    explain(&explainer, diags, order);
    gear_names_free(&explainer.names);
    vec_free(&explainer.told);
    mem_free(order);
}
