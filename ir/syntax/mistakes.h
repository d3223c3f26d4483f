/* Common mistakes of text that cannot be parsed: habits from Python, MLIR and other languages, and
 * parts in the wrong place. */
#ifndef IR_SYNTAX_MISTAKES_H
#define IR_SYNTAX_MISTAKES_H

#include "ir/support/diag.h"

/* What the grammar takes in place of the token that was found, and where the token is. */
enum mistake_context {
    EXPECTS_ITEM = 1 << 0,   /* of a file: 'graph', 'kernel' ... */
    EXPECTS_SYMBOL = 1 << 1, /* @name */
    EXPECTS_STRING = 1 << 2,
    EXPECTS_DTYPE = 1 << 3,
    EXPECTS_VALUE = 1 << 4, /* %name */
    EXPECTS_WORD = 1 << 5,
    EXPECTS_ATTRS = 1 << 6, /* the brace of attributes */
    EXPECTS_ARROW = 1 << 7,
    EXPECTS_OPEN = 1 << 8,     /* ( */
    EXPECTS_CLOSE = 1 << 9,    /* ) */
    EXPECTS_BRACKET = 1 << 10, /* [ */
    EXPECTS_COMMA = 1 << 11,
    EXPECTS_EQUAL = 1 << 12,
    EXPECTS_COLON = 1 << 13,
    EXPECTS_UNBRACE = 1 << 14, /* } */
    EXPECTS_STAR = 1 << 15,    /* *, after a dimension */
    EXPECTS_QUERY = 1 << 16,   /* ?, for a dimension or a type */
    IN_BODY = 1 << 17,         /* of a graph */
    IN_HEAD = 1 << 18,         /* anywhere else */
    AT_CHARACTER = 1 << 19,    /* which begins no token */
};

struct mistake_place {
    const char *text;        /* of the file */
    const char *begin, *end; /* of the token that was found */
    const char *before;      /* the end of the token before it */
    unsigned context;
};

/* The help for a mistake: a text in the arena, or NULL where none is known. */
const char *mistake_help(const struct mistake_place *place, struct arena *arena);

#endif
