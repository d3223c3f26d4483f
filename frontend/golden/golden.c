#include "frontend/golden/golden.h"
#include "frontend/golden/golden_expectation.h"
#include "frontend/golden/golden_scan.h"
#include "frontend/golden/golden_section.h"
#include "ir/base/message.h"

static const char bom[] = "\xef\xbb\xbf";

/* What an editor has put a byte order mark before is meant as one: it is not to be passed over. */
bool golden_is_test(const char *text, size_t size)
{
    const char *end = text + size;
    scan_take(&text, end, bom);
    return scan_take(&text, end, "//!");
}

/* ------------------------------------------------------------------------------ header ---- */

/* What stands behind `//!` on a line, which is counted from 1; NULL where that is none. */
static const char *header_line(const char *text, size_t size, unsigned number, size_t *rest)
{
    const char *end = text + size;
    *rest = 0;
    while (--number) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        if (!stop)
            return NULL;
        text = stop + 1;
    }
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    return scan_directive(text, (size_t)((stop ? stop : end) - text), rest);
}

const char *golden_claim(const char *text, size_t size, size_t *claim_size)
{
    const char *claim = header_line(text, size, 2, claim_size);
    return claim ? claim : "";
}

const char *golden_known_failure(const char *text, size_t size, size_t *reason_size)
{
    const char *line = header_line(text, size, 3, reason_size);
    if (!line)
        return NULL;
    const char *end = line + *reason_size;
    if (!scan_take(&line, end, "fails:"))
        return NULL;
    *reason_size = (size_t)(end - line);
    scan_trim(&line, reason_size);
    return line;
}

static bool parse_command(struct golden *golden, const char *text, size_t size, char *error,
                          size_t error_size)
{
    size_t rest;
    const char *words = header_line(text, size, 1, &rest);
    if (!words || !rest)
        return message_fail(error, error_size, "the first line is not '//! COMMAND ARGUMENTS'");
    vec_push(&golden->commands, (struct golden_command){.head = text});
    struct golden_command *command = &golden->commands.at[0];
    command->head_size = golden->lines.at[0].size;
    if (!golden_split_words(golden, command, words, rest))
        return message_fail(error, error_size, "a quoted word of the first line has no end");
    if (strcmp(command->words.at[0], "test") == 0)
        return message_fail(error, error_size, "a test cannot run 'test'");
    return true;
}

static bool parse_header(struct golden *golden, const char *text, size_t size, char *error,
                         size_t error_size)
{
    size_t rest;
    if (!parse_command(golden, text, size, error, error_size))
        return false;
    const char *claim = golden_claim(text, size, &rest);
    if (!rest)
        return message_fail(error, error_size,
                            "the second line is not '//! CLAIM', what the test shows, in words");
    golden->claim = arena_strndup(&golden->arena, claim, rest);
    const char *reason = golden_known_failure(text, size, &rest);
    if (reason && !rest)
        return message_fail(error, error_size, "the third line is not '//! fails: REASON'");
    golden->fails = reason ? arena_strndup(&golden->arena, reason, rest) : NULL;
    return true;
}

/* -------------------------------------------------------------------------------- file ---- */

static void split_lines(struct golden *golden, const char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        const char *start = text + at, *end = memchr(start, '\n', size - at);
        size_t length = end ? (size_t)(end - start) : size - at;
        at += length + 1;
        vec_push(&golden->lines,
                 (struct golden_line){start, (uint32_t)length, (uint32_t)length, false});
    }
}

bool golden_parse(struct golden *golden, const char *path, const char *text, size_t size,
                  char *error, size_t error_size)
{
    *golden = (struct golden){.path = path};
    if (size >= UINT32_MAX)
        return message_fail(error, error_size, "the file is larger than 4 GiB");
    if (size >= sizeof bom - 1 && memcmp(text, bom, sizeof bom - 1) == 0)
        return message_fail(error, error_size,
                            "the file begins with a byte order mark; it must begin with '//!'");
    const char *expect = source_find_expect(text, size);
    size_t input = expect ? (size_t)(expect - text) : size;
    split_lines(golden, text, input);
    if (!parse_header(golden, text, input, error, error_size))
        return false;
    /* Commands first: expectations may be for one of them. */
    if (!golden_parse_sections(golden, text + input, size - input, golden->lines.count + 1, error,
                               error_size))
        return false;
    for (uint32_t number = golden->fails ? 4 : 3; number <= golden->lines.count; number++)
        if (!golden_parse_expectations(golden, number, error, error_size))
            return false;
    return true;
}

void golden_free(struct golden *golden)
{
    for (uint32_t i = 0; i < golden->commands.count; i++) {
        struct golden_command *command = &golden->commands.at[i];
        for (uint32_t j = 0; j < command->sections.count; j++)
            vec_free(&command->sections.at[j].items);
        vec_free(&command->sections);
        vec_free(&command->words);
    }
    vec_free(&golden->commands);
    vec_free(&golden->lines);
    vec_free(&golden->expected);
    arena_free(&golden->arena);
}
