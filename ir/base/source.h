/* Texts that diagnostics point into: positions, spans, lines. */
#ifndef IR_BASE_SOURCE_H
#define IR_BASE_SOURCE_H

#include "ir/base/vec.h"

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

/* A text that positions refer to, with its line map (made when first needed). */
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
};

/* Where a golden file's program ends: its line "//! expect". NULL where there is none, or where the
 * text is no golden file, which begins with "//!". */
const char *source_find_expect(const char *text, size_t size);

/* Sets the source up over `data`, which must outlive it, has a NUL behind its end, and may be
 * changed: a golden file ends as a program before its line "//! expect", whose first byte becomes a
 * NUL. False where the text is larger than positions can express (4 GiB). */
bool source_init(struct source *source, const char *path, char *data, size_t size);
/* The same of a foreign text, which is not changed. */
bool source_init_foreign(struct source *source, const char *path, const char *text, size_t size);
void source_free(struct source *source);

/* Records where a token of a foreign source stands. In the order of the text. */
void source_add_token(struct source *source, struct span token);
/* The token that was recorded at an offset of a foreign source, or else the byte there. */
struct span source_token(const struct source *source, uint32_t offset);

/* Whether a byte of UTF-8 is not the first one of its code point. */
static inline bool continues_code_point(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* 1-based line and column (in code points) of an offset. */
struct position {
    uint32_t line, column;
};
struct position source_position(struct source *source, uint32_t offset);
/* The bytes of a 1-based line, without its end. */
const char *source_line(struct source *source, uint32_t line, size_t *size);

#endif
