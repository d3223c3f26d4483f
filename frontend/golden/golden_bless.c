#include "frontend/golden/golden.h"
#include "frontend/golden/golden_check.h"
#include "frontend/golden/golden_rewrite.h"
#include "frontend/golden/golden_scan.h"

static void end_line(struct text *text)
{
    if (text->size && text->at[text->size - 1] != '\n')
        text_char(text, '\n');
}

static void print_head(struct text *text, const char *head, size_t size)
{
    end_line(text);
    text_bytes(text, head, size);
    text_char(text, '\n');
}

static void print_raw(struct text *text, const struct golden_section *section)
{
    print_head(text, section->head, section->head_size);
    text_bytes(text, section->text, section->raw_size);
}

/* All of what it is about. Another section behind it stands behind an empty line, as before. */
static void print_exact(struct text *text, const struct golden_section *section,
                        const struct part *actual)
{
    bool changes = section->kind == GOLDEN_CHANGES;
    if (actual->size == 0)
        text_string(text, changes && !section->part ? "//! expect no changes\n"
                          : section->part           ? ""
                                                    : "//! expect nothing\n");
    else if (section->nothing)
        text_string(text, changes ? "//! expect changes\n" : "//! expect\n");
    if (actual->size ? !section->nothing : section->part != NULL)
        print_head(text, section->head, section->head_size);
    if (actual->size)
        text_bytes(text, actual->text, actual->size);
    for (size_t i = section->size; i < section->raw_size; i++)
        text_char(text, '\n');
}

/* ------------------------------------------------------------------------ partial ones ---- */

/* A text in which no braces begin a pattern. */
static void print_escaped(struct text *text, const struct part *line)
{
    const char *at = line->text, *end = at + line->size;
    while (at < end) {
        if (scan_take(&at, end, "{{"))
            text_string(text, "{{\\{\\{}}");
        else
            text_char(text, *at++);
    }
}

static void print_repaired(struct text *text, const struct golden_item *item,
                           const struct golden_repairs *repairs, uint32_t index)
{
    if (repairs->times[index])
        text_printf(text, "//! %u time%s: %.*s", repairs->times[index],
                    repairs->times[index] == 1 ? "" : "s", (int)item->size, item->text);
    if (!repairs->at[index].text)
        return;
    if (item->kind == ITEM_ANYWHERE)
        text_string(text, "//! anywhere: ");
    print_escaped(text, &repairs->at[index]);
}

/* The lines of the section, each at the place of what it is to be instead. */
static void print_lines(struct text *text, const struct golden_section *section,
                        const struct golden_repairs *repairs)
{
    const char *end = section->text + section->raw_size;
    uint32_t item = 0, number = section->line;
    print_head(text, section->head, section->head_size);
    for (const char *line = section->text; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line)), *p = line;
        stop = stop ? stop : end;
        number++;
        while (item < section->items.count && section->items.at[item].line < number)
            item++;
        bool repaired = item < section->items.count && section->items.at[item].line == number &&
                        (repairs->times[item] || repairs->at[item].text);
        for (; repaired && p < stop && scan_is_blank(*p); p++)
            text_char(text, *p);
        if (repaired)
            print_repaired(text, &section->items.at[item], repairs, item);
        else
            text_bytes(text, line, (size_t)(stop - line));
        text_char(text, '\n');
        line = stop + 1;
    }
}

static void bless_lines(struct text *text, const struct golden_section *section,
                        const struct golden_outcome *outcome, struct captures *captures)
{
    struct golden_repairs repairs = {
        mem_calloc(section->items.count, sizeof *repairs.at),
        mem_calloc(section->items.count, sizeof *repairs.times),
    };
    struct text report = {NULL, 0, 0};
    if (golden_check_section(section, outcome, captures, &report, &repairs))
        print_lines(text, section, &repairs);
    else
        print_raw(text, section);
    text_free(&report);
    mem_free(repairs.at);
    mem_free(repairs.times);
}

/* ---------------------------------------------------------------------------- sections ---- */

static void bless_section(struct text *text, const struct golden_section *section,
                          const struct golden_outcome *outcome, struct captures *captures)
{
    struct golden_actual actual;
    struct text report = {NULL, 0, 0};
    if (section->kind == GOLDEN_LINES)
        bless_lines(text, section, outcome, captures);
    else if (golden_check_section(section, outcome, captures, &report, NULL) ||
             !golden_actual_find(&actual, section, outcome, &report))
        print_raw(text, section);
    else {
        end_line(text);
        print_exact(text, section, &actual.text);
        golden_actual_free(&actual);
    }
    text_free(&report);
}

/* Where nothing is said of the output yet; `silent`: diagnostics are expected. */
static void add_section(struct text *text, const struct golden_outcome *outcome, bool silent)
{
    bool failed = outcome->status != EXIT_DONE;
    if (silent && (!failed || outcome->out_size == 0))
        return;
    end_line(text);
    text_string(text, outcome->out_size ? "//! expect\n" : "//! expect nothing\n");
    text_bytes(text, outcome->out, outcome->out_size);
}

/* A section that has become empty since the command fails says nothing. */
static bool is_void(const struct golden_section *section, const struct golden_outcome *outcome)
{
    return section->kind == GOLDEN_EXACT && !section->nothing && !section->part &&
           !section->report && outcome->status != EXIT_DONE && outcome->out_size == 0;
}

void golden_bless(const struct golden *golden, const struct golden_outcome *outcomes,
                  struct text *text)
{
    bool *expects = mem_calloc(golden->commands.count, sizeof *expects);
    struct captures captures = {NULL, 0, 0};
    golden_rewrite_input(golden, outcomes, text, expects);
    for (uint32_t c = 0; c < golden->commands.count; c++) {
        const struct golden_command *command = &golden->commands.at[c];
        if (c)
            print_head(text, command->head, command->head_size);
        if (command->sections.count == 0)
            add_section(text, &outcomes[c], expects[c]);
        for (uint32_t i = 0; i < command->sections.count; i++)
            if (!is_void(&command->sections.at[i], &outcomes[c]))
                bless_section(text, &command->sections.at[i], &outcomes[c], &captures);
    }
    vec_free(&captures);
    mem_free(expects);
}
