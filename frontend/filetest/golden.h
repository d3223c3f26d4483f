/* Golden-file tests; docs/testing.md has the format.
 *
 * A file is parsed (golden.c) and its commands run within this process (golden_outcome.c). What
 * they did is compared with what is expected of them (golden_compare.c), and --bless rewrites the
 * file (golden_bless.c). Nothing here prints, forks or exits. */
#ifndef FRONTEND_FILETEST_GOLDEN_H
#define FRONTEND_FILETEST_GOLDEN_H

#include "frontend/driver/command.h"
#include "frontend/filetest/golden_scan.h"
#include "frontend/filetest/template.h"
#include "ir/support/diag.h"
#include "ir/support/ids.h"
#include "ir/support/text.h"

/* ---- diagnostics ---- */

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
    uint32_t command; /* of an expectation: the number of the only one it is for, from 1; 0: all */
    bool matched;     /* of a reported one: an expectation holds it */
};

struct golden_diags {
    struct golden_diag *at;
    uint32_t count, capacity;
};

/* ---- what is printed ---- */

enum golden_kind {
    GOLDEN_EXACT,   /* all of it */
    GOLDEN_LINES,   /* some lines of it */
    GOLDEN_CHANGES, /* what the input in canonical form does not have */
};

enum golden_item_kind {
    ITEM_LINE,     /* a line, after the one before */
    ITEM_GAP,      /* any lines */
    ITEM_NOT,      /* no line has it */
    ITEM_ANYWHERE, /* some line has it */
    ITEM_TIMES     /* this many lines have it */
};

/* A line of GOLDEN_LINES. */
struct golden_item {
    enum golden_item_kind kind;
    uint32_t line;  /* of the file */
    uint32_t times; /* ITEM_TIMES */
    struct part text;
    struct template template; /* except for ITEM_GAP */
    /* What would pass instead, once it was compared and did not. */
    struct part new_text; /* NULL: the text stays */
    uint32_t new_times;   /* 0: the number stays */
};

/* An expectation of what a command prints: a line `//! expect ...` and what follows it. */
struct golden_section {
    enum golden_kind kind;
    bool report;      /* about the error stream without diagnostics */
    bool nothing;     /* the head says that there is none */
    const char *part; /* which part it is about; NULL: all */
    struct part head; /* the line */
    uint32_t line;    /* its number */
    struct part text; /* without empty lines before another section */
    size_t raw_size;  /* with them */
    VEC(struct golden_item) items;
    /* Once it was compared. */
    bool passed;
    bool found;          /* the part that it is about exists */
    bool repairable;     /* of GOLDEN_LINES that did not pass: they would with the new items */
    struct part actual;  /* what the text is compared with */
    struct text changes; /* the bytes of `actual` for GOLDEN_CHANGES */
};

/* ---- tests ---- */

/* A line of the input, without its end. */
struct golden_line {
    struct part text;
    size_t bare;      /* bytes before the first expectation, without trailing blanks */
    bool open_string; /* it ends within a string, which would swallow a comment */
};

struct golden_command {
    VEC(const char *) words; /* the command and its arguments */
    struct part head;        /* the line with them */
    VEC(struct golden_section) sections;
};

struct golden {
    const char *path;
    struct arena arena;
    const char *fails;             /* why it is known to fail, or NULL */
    VEC(struct golden_line) lines; /* of the input, with the header lines */
    VEC(struct golden_command) commands;
    struct golden_diags expected;
};

/* The first lines of a test, after `//!`. What is not there has no text. */
struct golden_header {
    struct part command, claim;
    struct part fails; /* why it is known to fail */
};
struct golden_header golden_header(struct part text);

/* Whether text begins like a test. */
bool golden_is_test(struct part text);

/* Parses a test. The text must outlive it. False, with one line of text, if it is not a test. */
bool golden_parse(struct golden *golden, const char *path, struct part text, char *error,
                  size_t error_size);
void golden_free(struct golden *golden);

/* Whether an expectation is for the command, which is given by its index. */
bool golden_is_for(const struct golden_diag *expected, uint32_t command);
/* Whether any diagnostic of that severity is expected of a command. */
bool golden_expects(const struct golden *golden, uint32_t command, enum golden_severity severity);
/* Whether an unexpected diagnostic fails the test: notes and help never do, remarks only if the
 * test expects any. */
bool golden_is_required(const struct golden *golden, uint32_t command,
                        const struct golden_diag *diag);

/* ---- outcomes ---- */

/* What a command did. */
struct golden_outcome {
    int status;
    struct text out, err;
    struct text report;    /* the error stream without diagnostics */
    struct text canonical; /* the input, if a section needs it */
    struct golden_diags reported;
    bool *held; /* by expectation of the test: something was reported that holds it */
    struct arena arena;
};

/* Runs a command of a test. */
void golden_run(const struct golden *golden, uint32_t command, const struct cli *cli,
                struct golden_outcome *outcome);
void golden_outcome_free(struct golden_outcome *outcome);

/* Whether a test can expect such an outcome: a failure needs an error that says why. */
bool golden_is_acceptable(const struct golden_outcome *outcome);

/* Compares outcomes, one by command, with the expectations, notes in both what holds, and adds to
 * `report` what is wrong. Returns whether nothing is. */
bool golden_compare(struct golden *golden, struct golden_outcome *outcomes, struct text *report);

/* Appends the text of a test file that expects these outcomes, which must have been compared, or as
 * much of them as can be accepted. Marks diagnostics in them as matched. */
void golden_bless(const struct golden *golden, struct golden_outcome *outcomes, struct text *text);

enum golden_verdict { GOLDEN_PASSED, GOLDEN_BLESSED, GOLDEN_FAILED, GOLDEN_KNOWN };

/* Runs the test in a file and reports what is wrong with it; with `bless`, rewrites it first. A
 * file that would fail all the same stays as it is. */
enum golden_verdict golden_test_file(const struct cli *cli, const char *path, bool bless,
                                     struct text *report);

#endif
