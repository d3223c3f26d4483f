/* Scopes and streams that the user gives to nodes of a dump, over those that the dump says: what
 * `--scope` and the file of `--scopes` say (docs/importing.md). */
#ifndef FRONTEND_IMPORT_DUMP_MARKS_H
#define FRONTEND_IMPORT_DUMP_MARKS_H

#include "frontend/import/dump/dump.h"

enum dump_mark_kind {
    MARK_ALL,
    MARK_NAME,  /* nodes whose name fits the pattern */
    MARK_TYPE,  /* nodes whose type does */
    MARK_RANGE, /* in the order of the text, from the first node to the last one */
};

/* Texts are in the arena of the marks, or NULL. */
struct dump_mark {
    enum dump_mark_kind kind;
    const char *pattern; /* of a range: its first node's name */
    const char *to;
    const char *scope, *options, *stream;
    int32_t priority;                  /* DUMP_NO_PRIORITY */
    struct span subject, options_span; /* in the file; no_span: of the command line */
    unsigned met;                      /* dump_mark_met */
};

struct dump_marks {
    VEC(struct dump_mark) list;
    struct arena arena;
    const char *path; /* of the file, NULL: there is none */
    struct file_bytes bytes;
};

/* Adds what an argument of --scope says: NAME, NAME=PATTERN or NAME=FROM..TO. False, with one line
 * of text, where it is none of these. */
bool dump_marks_add(struct dump_marks *marks, const char *argument, char *error, size_t error_size);
/* Opens a file, whose marks are added when the dump was read. False, with one line of text, where
 * it cannot be read. */
bool dump_marks_open(struct dump_marks *marks, const char *path, char *error, size_t error_size);
/* Adds the lines of the file that was opened, before what was added by arguments. The file becomes
 * one of the dump's source, behind all others. False where something is wrong, which is
 * reported. */
bool dump_marks_read(struct dump_marks *marks, struct dump *dump);
void dump_marks_free(struct dump_marks *marks);

/* Gives the nodes of a graph, in this order, what the marks say: of several for one node the last
 * counts. Passive ones, which execute nothing, get none. */
void dump_mark_nodes(struct dump *dump, uint32_t graph, const uint32_t *order);
/* Warns of marks that no node has. */
void dump_report_marks(struct dump *dump);

#endif
