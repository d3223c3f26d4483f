/* Tokens of .skir text. */
#ifndef IR_SCANNER_H
#define IR_SCANNER_H

#include "ir/module.h"

enum token {
    TOKEN_END,
    TOKEN_ERROR,  /* reported already */
    TOKEN_RESYNC, /* the end of what is skipped behind a syntax error */
    TOKEN_VALUE,  /* %name */
    TOKEN_SYMBOL, /* @name */
    TOKEN_STRING, /* "..." */
    TOKEN_INT,
    TOKEN_FLOAT,
    TOKEN_WORD,    /* none of the next three */
    TOKEN_KEYWORD, /* id < W_KEYWORD_END */
    TOKEN_DTYPE,
    TOKEN_INSTR,
    TOKEN_TYPE,       /* a whole type that was seen before */
    TOKEN_ATTR_BRACE, /* `{` before `key =`, `key ,` or `key }` */
    TOKEN_ARROW,
    TOKEN_CHAR, /* one of ( ) { } [ ] = : , ? */
};

union token_value {
    uint64_t id; /* name id, or type id of a TOKEN_TYPE */
    int64_t i;   /* an integer, or a character */
    double f;
};

struct spans {
    struct span *at;
    uint32_t count, capacity;
};

struct scanner {
    struct source *source;
    const char *cursor, *limit;
    struct module *module; /* names are interned here */
    struct diags *diags;   /* NULL: nothing is reported */
    struct spans comments; /* all so far, `//` to before the line's end */
    struct span span;      /* of the last token */
    uint32_t depth;        /* braces open before the cursor */
    /* After a syntax error: skip to the end of the line on which no more than this many braces are
     * open, and deliver TOKEN_RESYNC there. NONE: scan on. */
    uint32_t resync_depth;
    /* Texts of types seen so far, and the type id of each. */
    struct intern type_texts;
    struct vec_u32 type_ids;
};

void scanner_init(struct scanner *scanner, struct source *source, struct module *module,
                  struct diags *diags);
/* Starts at `offset` instead of the beginning. */
void scanner_seek(struct scanner *scanner, uint32_t offset);
void scanner_free(struct scanner *scanner);

enum token scanner_next(struct scanner *scanner, union token_value *value);

/* Remembers that the text of `span` spells the type, so that the next time it is one token. */
void scanner_know_type(struct scanner *scanner, struct span span, uint32_t type);

#endif
