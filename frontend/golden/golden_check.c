#define _GNU_SOURCE /* memmem */
#include "frontend/golden/golden_check.h"
#include "frontend/cli/diff.h"
#include "frontend/golden/golden_changes.h"

static const char *stream_name(const struct golden_section *section)
{
    return section->report ? "report" : "standard output";
}

static struct part whole(const struct golden_section *section, const struct golden_outcome *outcome)
{
    return section->report ? (struct part){outcome->report.at, outcome->report.size}
                           : (struct part){outcome->out, outcome->out_size};
}

static uint32_t count_lines(const char *text, const char *end)
{
    uint32_t n = 0;
    while (text < end && (text = memchr(text, '\n', (size_t)(end - text))))
        n++, text++;
    return n;
}

bool golden_actual_find(struct golden_actual *actual, const struct golden_section *section,
                        const struct golden_outcome *outcome, struct text *report)
{
    struct part all = whole(section, outcome), part = all, missing;
    struct part old = {outcome->canonical.at, outcome->canonical.size};
    *actual = (struct golden_actual){.first = 1};
    if (section->part && !golden_find_part(&part, section->part, &missing)) {
        text_printf(report, "  line %u: the %s has no '%.*s'\n", section->line,
                    stream_name(section), (int)missing.size, missing.text);
        return false;
    }
    if (section->part && !golden_find_part(&old, section->part, &missing))
        old.size = 0;
    if (part.size)
        actual->first += count_lines(all.text, part.text);
    actual->text = part;
    if (section->kind != GOLDEN_CHANGES)
        return true;
    golden_changes(&actual->changes, old, part);
    actual->text = (struct part){actual->changes.at, actual->changes.size};
    return true;
}

void golden_actual_free(struct golden_actual *actual)
{
    text_free(&actual->changes);
}

static bool has_crlf(const char *text, size_t size)
{
    return size && memmem(text, size, "\r\n", 2);
}

static bool check_exact(const struct golden_section *section, const struct part *actual,
                        struct text *report)
{
    char name[300];
    const char *what = section->kind == GOLDEN_CHANGES ? "changes" : stream_name(section);
    size_t before = report->size, size = section->nothing ? 0 : section->size;
    if (section->part)
        snprintf(name, sizeof name, "%s in %s", what, section->part);
    else
        snprintf(name, sizeof name, "%s", what);
    diff_unified(report, "expected", section->text, size, name, actual->text, actual->size);
    if (report->size == before)
        return true;
    if (has_crlf(section->text, size) && !has_crlf(actual->text, actual->size))
        text_string(report, "  the lines of the test end in CR LF, those of the output in LF\n");
    return false;
}

bool golden_check_section(const struct golden_section *section,
                          const struct golden_outcome *outcome, struct captures *captures,
                          struct text *report, struct golden_repairs *repairs)
{
    struct golden_actual actual;
    if (!golden_actual_find(&actual, section, outcome, report))
        return false;
    bool good =
        section->kind == GOLDEN_LINES
            ? golden_judge_lines(section, actual.text, actual.first, captures, report, repairs)
            : check_exact(section, &actual.text, report);
    golden_actual_free(&actual);
    return good;
}
