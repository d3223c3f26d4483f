/* Texts that diagnostics point into: positions, spans, lines. */
#ifndef IR_SUPPORT_SOURCE_H
#define IR_SUPPORT_SOURCE_H

#include "ir/support/file.h"
#include "ir/support/intern.h"
#include "ir/support/text.h"

#include <stdbool.h>

/* Bytes [begin, end) of a source. */
struct span {
    uint32_t begin, end;
};

/* Where there is no position. */
static const struct span no_span = {0, 0};

/* What a source is written in: the language of skir, where the parts of a construct are found again
 * by scanning from its begin, or another, of which no more is known than its reader recorded. */
enum source_language { SOURCE_SKIR, SOURCE_FOREIGN };

/* Where the files come from that a source includes. */
struct source_reader {
    /* Appends a text that is the same for all paths of one file, and differs for different files.
     * False, with one line of text, where there is nothing to be included at the path. */
    bool (*identify)(struct source_reader *reader, const char *path, struct text *identity,
                     char *error, size_t error_size);
    /* Reads what stands at the path; the bytes stay where they are, and may be changed. */
    bool (*read)(struct source_reader *reader, const char *path, struct file_bytes *bytes,
                 char *error, size_t error_size);
};

/* A reader of regular files. It has no state. */
struct source_reader *source_file_reader(void);

/* A text that positions refer to, with its line map (made when first needed). The texts of files
 * that it includes stand, for positions, one behind the other behind its own: their offsets begin
 * where those of the text before, and the one of its end, are over. */
struct source {
    enum source_language language;
    const char *path; /* as the user wrote it */
    const char *text; /* a NUL stands behind its end */
    uint32_t size;
    const char *tail; /* behind the program of a golden file, without its first byte; or NULL */
    size_t tail_size;
    VEC(struct span) tokens; /* of a foreign source, in their order: see source_add_token */
    struct vec_u32 lines;    /* offset of each line's first byte */
    /* The position found last: the next one is often behind it, in the same, maybe very long
     * line. */
    struct {
        uint32_t line, column, offset;
    } last;
    struct source_reader *reader; /* NULL: includes are not followed */
    VEC(struct source_file *) files;
    struct intern identities; /* of those that were included, and of the source */
    struct arena arena;       /* of `files` */
};

/* A file that a source includes. */
struct source_file {
    struct source text; /* which includes nothing itself: all files are those of the source */
    uint32_t begin;     /* the first of its offsets */
    const char *folder; /* from that of the source: "" or with a slash at its end */
    struct file_bytes bytes;
};

/* Where a golden file's program ends: its first line that says what is expected of it. NULL where
 * there is none, or where the text is no golden file, which begins with "//!". */
const char *source_find_expect(const char *text, size_t size);
/* Whether a line says so: `//! expect` or `//! also`, and what is said then. */
bool source_is_expect(const char *line, size_t size);

/* Sets the source up over `data`, which must outlive it, has a NUL behind its end, and may be
 * changed: a golden file ends as a program before its line "//! expect", whose first byte becomes a
 * NUL. False where the text is larger than positions can express (4 GiB). */
bool source_init(struct source *source, const char *path, char *data, size_t size);
/* The same of a foreign text, which is not changed. */
bool source_init_foreign(struct source *source, const char *path, const char *text, size_t size);
void source_free(struct source *source);

enum include_status {
    INCLUDE_NEW,   /* the last one of source->files */
    INCLUDE_KNOWN, /* it is there already, or is the source itself */
    INCLUDE_FAILED /* one line of text says why */
};
/* Adds the file that one at `from`, an offset, includes by `path`. The source has a reader. */
enum include_status source_include(struct source *source, uint32_t from, const char *path,
                                   char *error, size_t error_size);
/* Adds the file at a path, from the folder of the source, that a text of another format names: the
 * same as often as it is asked for. The source has a reader. NULL, with one line of text, where it
 * cannot be read. */
const struct source_file *source_add_file(struct source *source, const char *path, char *error,
                                          size_t error_size);
/* Adds a text that the user names by a path, whose bytes the source takes. NULL, with one line of
 * text, where both together are too large. */
const struct source_file *source_join(struct source *source, const char *path,
                                      struct file_bytes *bytes, char *error, size_t error_size);
/* The text that an offset is in, the source or one that it includes; the offset becomes one
 * there. */
struct source *source_at(struct source *source, uint32_t *offset);
/* The included file that an offset is in, or NULL. */
const struct source_file *source_file_at(const struct source *source, uint32_t offset);

/* A file that one at `offset`, an included one, names from its folder: its path from the source's.
 * NULL where there is no such file, or the path is the same. */
const char *source_file_path(struct source *source, uint32_t offset, const char *name);

/* Records where a token of a foreign source stands, or of a text that was added to it. In the
 * order of the text. */
void source_add_token(struct source *source, struct span token);
/* The token that was recorded at an offset of a foreign source, or else the byte there. */
struct span source_token(const struct source *source, uint32_t offset);

/* 1-based line and column (in code points) of an offset in its file. */
struct position {
    uint32_t line, column;
};
struct position source_position(struct source *source, uint32_t offset);
/* The bytes of a 1-based line of the source itself, without its end. */
const char *source_line(struct source *source, uint32_t line, size_t *size);

#endif
