/* Tokens of .skir text. */
#ifndef IR_SYNTAX_SCANNER_H
#define IR_SYNTAX_SCANNER_H

#include "ir/core/module.h"

/* As the parser numbers them. Each of ( ) { } [ ] = : , ? * + is a token by itself, with its
 * code. */
enum token {
    TOKEN_END = 0,
    TOKEN_ERROR = 256,  /* reported already */
    TOKEN_RESYNC = 258, /* the end of what is skipped behind a syntax error */
    TOKEN_VALUE,        /* %name */
    TOKEN_SYMBOL,       /* @name */
    TOKEN_STRING,       /* "..." */
    TOKEN_WORD,         /* no dtype, instruction or keyword */
    TOKEN_DTYPE,
    TOKEN_INSTR,
    TOKEN_EVENT_INSTR, /* in a program, one that an event stands behind */
    TOKEN_TYPE,        /* a whole type that was seen before: see scanner_know */
    TOKEN_DICT,        /* a whole dictionary of attributes that was seen before */
    TOKEN_HEAD,        /* `%name = Type(` in the usual spelling, of a graph; and up to the `)` */
    TOKEN_MORE,        /* `, %name`, or */
    TOKEN_REST,        /* all of a line from `)` on that was seen before: attributes and types */
    TOKEN_INT,
    TOKEN_FLOAT,
    TOKEN_ATTR_BRACE, /* `{` before `key =`, `key ,` or `key }` */
    TOKEN_ARROW,
    TOKEN_DOTS,    /* `..` */
    TOKEN_KEYWORD, /* and those that follow: + W_name for the keyword */
};

/* All members are of one size: the parser copies the whole, and what was stored in part cannot be
 * loaded as a whole without a stall. */
union token_value {
    uint64_t name; /* of a token that has no number: see token_make */
    uint64_t list; /* the same of a list: how many elements, and where it begins */
    int64_t i;
    double f;
    struct range range;
};

/* Of a name or punctuation: the id is a name's, that of scanner_know, or 0. Taken for a uint32_t,
 * it is the id. */
static inline uint64_t token_make(uint32_t id, uint32_t begin)
{
    return (uint64_t)begin << 32 | id;
}

static inline uint32_t token_id(uint64_t token)
{
    return (uint32_t)token;
}

/* Offset of the token's first byte. */
static inline uint32_t token_begin(uint64_t token)
{
    return (uint32_t)(token >> 32);
}

struct spans {
    struct span *at;
    uint32_t count, capacity;
};

struct scanner {
    struct source *source;
    uintptr_t origin;  /* where offset 0 would be: that of an included file is none of its bytes */
    const char *first; /* byte of the file */
    const char *cursor, *limit;
    const char *start;        /* of the last token, which ends at the cursor */
    const char *previous_end; /* of the token before it */
    struct module *module;    /* names are interned here */
    struct diags *diags;      /* NULL: nothing is reported */
    struct spans comments;    /* all so far, `//` to before the line's end */
    uint32_t depth;           /* braces open before the cursor */
    uint64_t callee;          /* of the last TOKEN_HEAD: the type's token */
    /* After a syntax error: skip to the end of the line on which no more than this many braces are
     * open, and deliver TOKEN_RESYNC there. NONE: scan on. */
    uint32_t resync_depth;
    bool in_body;    /* of a graph, where `{ key =` begins nothing but attributes */
    bool in_call;    /* behind a TOKEN_HEAD, before `)` */
    bool in_results; /* the last value was one that may be a result */
    bool in_program; /* of an entry, where there are TOKEN_EVENT_INSTR */
    /* Texts that are one token, and the id of each. */
    struct intern known_texts;
    struct vec_u32 known_ids;
    struct intern_recent recent_texts, recent_types; /* of these; of ops, names */
    /* The last of them that was a type: the next type is often the same. */
    struct {
        const char *text;
        size_t size;
        uint32_t id;
    } last_type;
};

void scanner_init(struct scanner *scanner, struct source *source, struct module *module,
                  struct diags *diags);
/* Starts at `offset`, which may be one of an included file, instead of the beginning. The text ends
 * where the file does. */
void scanner_seek(struct scanner *scanner, uint32_t offset);
void scanner_free(struct scanner *scanner);

/* An enum token, or a character. */
int scanner_next(struct scanner *scanner, union token_value *value);

static inline uint32_t scanner_offset(const struct scanner *scanner, const char *p)
{
    return (uint32_t)((uintptr_t)p - scanner->origin);
}

/* What stands at an offset of the file that is scanned. */
static inline const char *scanner_text(const struct scanner *scanner, uint32_t offset)
{
    return (const char *)(scanner->origin + offset);
}

/* Of the last token. */
static inline struct span scanner_span(const struct scanner *scanner)
{
    return (struct span){scanner_offset(scanner, scanner->start),
                         scanner_offset(scanner, scanner->cursor)};
}

/* Remembers a text that begins like a type or a dictionary of attributes, or with the `)` of a
 * call, so that the next time it is one token with this id. */
void scanner_know(struct scanner *scanner, struct span span, uint32_t id);
/* Whether the text may be a TOKEN_DICT: it is short, and its last brace is the first after it. */
bool scanner_is_plain_dict(const struct scanner *scanner, struct span span);
/* Whether the text may be a TOKEN_REST: it is the short end of a line. */
bool scanner_is_plain_rest(const struct scanner *scanner, struct span span);
/* Makes the last token, which is several others in one, the value or character that it begins
 * with. */
void scanner_split(struct scanner *scanner);

#endif
