/* Golden-file tests; docs/testing.md has the format.
 *
 * A test is parsed (golden.c), its command is run in-process and judged (golden_run.c), and the
 * file is rewritten on demand (golden_bless.c). Nothing here prints, forks or exits. */
#ifndef FRONTEND_GOLDEN_GOLDEN_H
#define FRONTEND_GOLDEN_GOLDEN_H

#include "frontend/cli/command.h"
#include "ir/base/diag.h"
#include "ir/base/ids.h"
#include "ir/base/text.h"

enum golden_severity {
    GOLDEN_ERROR,
    GOLDEN_WARNING,
    GOLDEN_REMARK,
    GOLDEN_NOTE,
    GOLDEN_HELP,
    GOLDEN_SEVERITIES
};

const char *golden_severity_text(enum golden_severity severity);

/* A diagnostic, expected or reported. */
struct golden_diag {
    enum golden_severity severity;
    uint32_t line; /* that it is about, from 1; 0: the file */
    uint32_t host; /* of an expectation: the line it is written on */
    const char *text;
    uint32_t match; /* index of its partner, or NONE */
};

struct golden_diags {
    struct golden_diag *at;
    uint32_t count, capacity;
};

/* A line of the input, without its end. */
struct golden_line {
    const char *text;
    uint32_t size;
    uint32_t bare;    /* bytes before the first expectation, without trailing blanks */
    bool open_string; /* it ends within a string, so that a comment behind it would be none */
};

struct golden {
    const char *path;
    struct arena arena;
    VEC(const char *) words; /* the command and its arguments */
    const char *claim;
    VEC(struct golden_line) lines; /* before `//! expect`, the two header lines too */
    struct golden_diags expected;
    const char *output; /* the expected standard output, or NULL where the file has none */
    size_t output_size;
};

/* Parses a test. The text must outlive it. False, with one line of text, where it is no test. */
bool golden_parse(struct golden *golden, const char *path, const char *text, size_t size,
                  char *error, size_t error_size);
void golden_free(struct golden *golden);

/* Whether text begins like a test. */
bool golden_is_test(const char *text, size_t size);
/* What the test claims, for listings: its second line, or "". Not NUL-terminated. */
const char *golden_claim(const char *text, size_t size, size_t *claim_size);

/* Whether any diagnostic of that severity is expected. */
bool golden_expects(const struct golden *golden, enum golden_severity severity);

/* What the command did. */
struct golden_outcome {
    int status;
    char *out, *err; /* NUL-terminated */
    size_t out_size, err_size;
    struct golden_diags reported;
    struct arena arena;
};

/* Runs the command of a program. */
void golden_run(const struct golden *golden, const struct cli *cli, struct golden_outcome *outcome);
void golden_outcome_free(struct golden_outcome *outcome);

/* Compares outcome and expectations, links diagnostics with their partners, and appends to `report`
 * what is wrong. Returns whether nothing is. */
bool golden_judge(struct golden *golden, struct golden_outcome *outcome, struct text *report);

/* Whether a diagnostic without a partner is a failure: notes and help never are, remarks only where
 * any is expected. */
bool golden_is_required(const struct golden *golden, const struct golden_diag *diag);
/* Whether standard output is compared; see docs/testing.md. */
bool golden_compares_output(const struct golden *golden, const struct golden_outcome *outcome);

/* Appends the text of a test file that expects this outcome, which must have been judged. */
void golden_bless(const struct golden *golden, const struct golden_outcome *outcome,
                  struct text *text);

enum golden_verdict { GOLDEN_PASSED, GOLDEN_BLESSED, GOLDEN_FAILED };

/* Runs the test in a file and reports what is wrong with it; with `bless`, rewrites it first. */
enum golden_verdict golden_test_file(const struct cli *cli, const char *path, bool bless,
                                     struct text *report);

#endif
