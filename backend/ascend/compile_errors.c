#include "backend/ascend/compile_errors.h"
#include "backend/ascend/build.h"
#include "backend/ascend/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ".../entry.cpp:LINE:COLUMN: error: TEXT" */
struct said_error {
    uint32_t line;
    const char *text;
};

static bool read_error(const char *at, struct said_error *error)
{
    static const char *const words[] = {": error: ", ": fatal error: "};
    const char *file = strstr(at, BUILD_SOURCE ":");
    unsigned line;
    if (!file || sscanf(file, BUILD_SOURCE ":%u", &line) != 1)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *found = strstr(file, words[i]);
        if (!found)
            continue;
        *error = (struct said_error){line, found + strlen(words[i])};
        return true;
    }
    return false;
}

/* The bytes of a line of the source, without what stands before its first word. */
static const char *line_of(const struct text *source, uint32_t line, int *size)
{
    const char *at = source->at, *end = source->at + source->size;
    for (uint32_t n = 1; n < line && at < end; n++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
    }
    while (at < end && *at == ' ')
        at++;
    const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    *size = (int)((stop ? stop : end) - at);
    return at;
}

static void report_error(const struct emission_job *job, const struct said_error *error,
                         const struct text *source, const struct source_lines *lines)
{
    struct span span = places_span(job->module, lines, error->line);
    int size;
    const char *text = line_of(source, error->line, &size);
    if (diag_at(job->diags, DIAG_tool, span, "the device compiler says: %s", error->text))
        diag_help(job->diags, "line %u of the source is '%.*s'", error->line, size, text);
}

void compile_errors_report(const struct emission_job *job, char *said, const struct text *source,
                           const struct source_lines *lines)
{
    char *rest, *first = strtok_r(said, "\n", &rest), *line;
    struct said_error error;
    uint32_t found = 0;
    char *all = rest ? mem_strdup(rest) : NULL;
    while ((line = strtok_r(NULL, "\n", &rest)))
        if (read_error(line, &error)) {
            report_error(job, &error, source, lines);
            found++;
        }
    if (found == 0 && diag_at(job->diags, DIAG_tool, no_span, "%s", first) && all)
        for (line = strtok_r(all, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            diag_help(job->diags, "%s", line);
    mem_free(all);
}
