/* The pieces of GE's readable text: lines of nodes, outputs and graphs. Names are not quoted and
 * may have any bytes, so a name ends where what stands behind it begins. */
#ifndef FRONTEND_EXCHANGE_READERS_GE_READABLE_TEXT_H
#define FRONTEND_EXCHANGE_READERS_GE_READABLE_TEXT_H

#include "ir/base/diag.h"

#include <stdbool.h>
#include <stdint.h>

enum readable_line {
    READABLE_GRAPH,  /* graph("NAME"): */
    READABLE_NODE,   /* %NAME : [#users=N] = Node[type=TYPE] (, which is before the cursor */
    READABLE_OUTPUT, /* %NAME : [#users=N] = get_element[node=%NODE](N) */
    READABLE_RETURN, /* return (, which is before the cursor */
    READABLE_END,
    READABLE_ERROR,
};

struct readable_text {
    const char *text, *at, *end;
    struct diags *diags;
    bool failed;
    /* Of the line read last. */
    struct span name, type; /* the type of a node, or the node of an output */
    uint32_t number;        /* of the outputs of a node, or of this output */
    /* Kept so that long lines are not walked through for each part of them. */
    const char *line, *line_end;
    const char *key, *key_end; /* one that was seen behind a value */
    const char *unheeded;      /* up to here, brackets in values do not close */
};

void readable_init(struct readable_text *readable, const struct source *source,
                   struct diags *diags);
/* The next line; errors are diagnostics of id `foreign-syntax`, and nothing is read behind them. */
enum readable_line readable_next(struct readable_text *readable);

/* The next `LABEL=%NAME` or `%NAME` in parentheses, and what separates it from the one behind it.
 * False at the closing one, which is passed, and after an error. The label is empty where there is
 * none. */
bool readable_input(struct readable_text *readable, struct span *label, struct span *name);

/* What stands behind the parenthesis that a node's line opens: `inputs = (` and `attrs = {`, each
 * at most once, in this order, and the end. */
enum readable_part { READABLE_INPUTS, READABLE_ATTRS, READABLE_DONE, READABLE_FAILED };
enum readable_part readable_part(struct readable_text *readable);

/* The key of the next attribute, `KEY: `. False at the closing brace, which is passed. */
bool readable_key(struct readable_text *readable, struct span *key);

enum readable_token {
    READABLE_OPEN,  /* { or [ */
    READABLE_CLOSE, /* } or ] */
    READABLE_COMMA,
    READABLE_INT,
    READABLE_FLOAT,
    READABLE_TRUE,
    READABLE_FALSE,
    READABLE_STRING, /* in quotes */
    READABLE_SYMBOL, /* %NAME */
    READABLE_DTYPE,  /* DT_... */
    READABLE_OTHER,  /* one byte, or what ends the attributes */
};

/* The next token of an attribute's value, with blanks in front of it left out. */
enum readable_token readable_token(struct readable_text *readable, struct span *span);
/* From `from` on, which is within an attribute: passes what is neither a further attribute nor the
 * end of all. False where nothing ends them. */
bool readable_pass(struct readable_text *readable, const char *from, struct span *span);
/* Whether what is left is a further attribute, or the end of all. */
bool readable_ends_value(struct readable_text *readable);

void readable_fail(struct readable_text *readable, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
