/* What somebody may have meant who wrote what cannot be parsed: habits from elsewhere, and parts in
 * the wrong place. */
#ifndef IR_SYNTAX_SLIPS_H
#define IR_SYNTAX_SLIPS_H

#include "ir/base/diag.h"

/* What may stand in place of the token that was found. */
enum slip_expects {
    SLIP_ITEM = 1,   /* of a file: 'graph', 'kernel' ... */
    SLIP_SYMBOL = 2, /* @name */
    SLIP_STRING = 4,
    SLIP_DTYPE = 8,
    SLIP_VALUE = 16, /* %name */
    SLIP_WORD = 32,
    SLIP_INT = 64,
    SLIP_ATTRS = 128, /* the brace of attributes */
    SLIP_ARROW = 256,
    SLIP_OPEN = 512,     /* ( */
    SLIP_CLOSE = 1024,   /* ) */
    SLIP_BRACKET = 2048, /* [ */
    SLIP_UNBRACKET = 4096,
    SLIP_COMMA = 8192,
    SLIP_EQUAL = 16384,
    SLIP_COLON = 32768,
    SLIP_UNBRACE = 65536, /* } */
};

struct op_types;

struct slip {
    struct diags *diags;
    struct op_types *types;   /* what is known of ops; NULL: nothing */
    const char *text, *limit; /* of the file */
    const char *begin, *end;  /* of the token that was found */
    const char *before;       /* the end of the one before it */
    unsigned expects;
    bool in_body; /* of a graph */
};

/* Adds a help to the diagnostic about the token, if there is one to be given. */
void slip_help(const struct slip *slip);
/* The same for a character that begins no token. */
void slip_help_character(const struct slip *slip);

#endif
