/* Diagnostics: what is said to the user about a source text. They are collected, not printed; the
 * command prints them and decides the exit status. */
#ifndef IR_SUPPORT_DIAG_H
#define IR_SUPPORT_DIAG_H

#include "ir/support/ids.h"
#include "ir/support/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* -------------------------------------------------------------------------- "did you mean" ---- */

/* The most similar of several names. Zero-initialised apart from the wanted name, and from what is
 * written before and behind names of this kind ("@", "=VALUE"; NULL is nothing). Offer candidates,
 * then read `best`, or say it. */
struct suggest {
    const char *wanted;
    size_t wanted_size;
    const char *before, *behind;
    const char *best; /* NULL where none is similar enough */
    size_t best_size;
    unsigned distance;
};

void suggest_offer(struct suggest *suggest, const char *name, size_t size);

static inline void suggest_offer_text(struct suggest *suggest, const char *name)
{
    suggest_offer(suggest, name, strlen(name));
}

/* "did you mean 'BEST'?", empty where there is no best. Names that are suggested are short, and so
 * is what stands around them. */
struct suggest_text {
    char text[128];
};
struct suggest_text suggest_text(const struct suggest *suggest);
/* The same as the end of a message: behind "; ". */
struct suggest_text suggest_end(const struct suggest *suggest);

enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_REMARK, SEVERITY_COUNT };

enum diag_id {
#define DIAG(name, severity, text, summary) DIAG_##name,
#include "ir/support/diag_ids.def"
#undef DIAG
    DIAG_COUNT
};

/* The place, "FILE:LINE", that what a position is about comes from. */
struct diag_origin {
    const char *text; /* NULL: there is none that is known; not owned */
    size_t size;
};

/* A further line below a diagnostic: a second position, or (no_span) what to do about it. */
struct diag_note {
    const char *text;
    struct span span;
    struct diag_origin origin;
    struct diag_note *next;
};

/* A fact of a diagnostic by itself, for tools: JSON has it under the key. */
struct diag_field {
    const char *key; /* a static string */
    const char *value;
    bool listed; /* one element of the list of that key */
    struct diag_field *next;
};

struct diag {
    enum diag_id id;
    enum severity severity;
    struct span span;
    struct diag_origin origin;
    const char *text;
    const char *copy;  /* of an error: what of diags.copies was at hand; NULL */
    uint32_t copy_id;  /* of any: the id of that (struct diag_copy), or NONE */
    uint32_t repeated; /* so often it was reported again, see diags.copies */
    struct diag_note *notes, **last_note;
    struct diag_field *fields, **last_field;
    uint32_t same_begin; /* the one before it whose position begins there too, or NONE */
    bool taken_back;
};

/* Which of diags.copies the statements at hand are of. It is looked up where an error asks. */
struct diag_copy {
    /* Its text, as "b = 4", in the arena, or NULL; NULL: none is at hand. */
    const char *(*text)(const struct diag_copy *copy, struct arena *arena);
    const void *whole;
    uint32_t id; /* for others; NONE */
};

struct diags {
    struct source *source; /* NULL where none is read (yet) */
    const char *path;      /* printed where there is no position; may be NULL */
    struct arena arena;
    VEC(struct diag) list;
    uint32_t counts[SEVERITY_COUNT];
    uint32_t max_errors;  /* errors kept; 0: all */
    uint32_t suggestions; /* made so far; see diag_wants_suggestion */
    bool remarks;         /* keep remarks */
    bool part;            /* of a part (ir/support/parts.h): it knows nothing of those before it */
    /* What the text stands for several of, as "combinations of gears": errors at one place that
     * differ in numbers alone are one, which is counted once. NULL: there are none. A static
     * string. */
    const char *copies;
    struct diag_copy copy;
    struct id_map begins; /* by where a position begins, the last one there */
    uint32_t n_begins;    /* so many of the list are in it */
    uint32_t n_taken_back;
};

void diags_init(struct diags *diags, struct source *source, const char *path);
void diags_free(struct diags *diags);

/* What a part has, which reports to `diags` in the end. */
struct diags diags_of_part(const struct diags *diags);
/* Puts that of a part behind what is there. It is empty then. */
void diags_merge(struct diags *diags, struct diags *part);

/* Records one diagnostic of the id's severity. Returns whether it is kept: past max_errors, errors
 * are only counted, as are remarks that nobody wants. */
bool diag_at(struct diags *diags, enum diag_id id, struct span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Counts it where it is not kept whatever it says, and returns whether that is so. */
bool diag_dropped(struct diags *diags, enum diag_id id);
/* What is dropped has cost nothing: neither its place was looked for nor its text made. */
#define diag_at(diags, id, ...)                                                                    \
    (diag_dropped(diags, id) ? false : (diag_at)(diags, id, __VA_ARGS__))
bool diag_vat(struct diags *diags, enum diag_id id, struct span span, const char *format,
              va_list args);
/* Adds a line to the last kept diagnostic; to be called only where diag_at returned true: a second
 * position, or without one what to do about it. */
void diag_note(struct diags *diags, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void diag_help(struct diags *diags, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same with what the user may have meant; false where that is not known. */
bool diag_suggest(struct diags *diags, const struct suggest *suggest);

/* Adds a fact to the last kept diagnostic, as the value of a key or as an element of its list. The
 * key must outlive the diagnostics; the value is copied. */
void diag_field(struct diags *diags, const char *key, const char *value);
void diag_listed(struct diags *diags, const char *key, const char *value);

/* Whether one of an id is kept. */
bool diags_have(const struct diags *diags, enum diag_id id);

/* Which of diags.copies an error is of, where that is known, and how many more have it: a line of
 * help, in the arena; NULL where there is nothing to be said. */
const char *diag_copies_text(struct diags *diags, const struct diag *diag);

/* Takes back what was kept of an id, a warning, at exactly this place: an error says it better. It
 * stands in the list until it is settled. */
void diags_take_back(struct diags *diags, enum diag_id id, struct span span);
/* The same of one remark, by its place in the list. */
void diags_take_back_one(struct diags *diags, uint32_t place);
/* The same of all remarks of an id. */
void diags_take_back_all(struct diags *diags, enum diag_id id);
/* Removes from the list what was taken back. */
void diags_settle(struct diags *diags);
/* Removes those of a severity from the list. */
void diags_drop(struct diags *diags, enum severity severity);

/* Looking for a similar name costs time in proportion to the names there are, so only the first
 * few diagnostics of a run may do it. Counts the asking. */
bool diag_wants_suggestion(struct diags *diags);

/* Prints a text that has names of others in it: control characters, which would move the cursor or
 * worse, show as '?', and tabs as one space. */
void diag_put(FILE *out, const char *text, size_t size);
/* The same of lines, each of which ends. */
void diag_put_lines(FILE *out, const char *text, size_t size);

/* Stable id text, for example "unknown-kernel"; severity and a one-line summary of an id. */
const char *diag_id_text(enum diag_id id);
enum severity diag_id_severity(enum diag_id id);
const char *severity_text(enum severity severity);

/* The diagnostics in the order of their positions; an array of list.count, to be freed. */
const struct diag **diags_sorted(const struct diags *diags);

/* Prints all of them in the order of their positions, with source line and caret, and a last line
 * that counts the errors not shown. An origin stands in the head, and the position below it. */
void diags_print(struct diags *diags, FILE *out, bool colour);

#endif
