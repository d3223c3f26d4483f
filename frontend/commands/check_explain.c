#include "frontend/commands/check_explain.h"
#include "frontend/cli/measured.h"
#include "frontend/commands/gear_names.h"
#include "ir/base/text.h"
#include "ir/syntax/origins.h"

#include <string.h>

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
