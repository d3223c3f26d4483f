/* The rules of op types: expressions over dimensions, in the language of docs/op-types.md. */
#ifndef IR_OPTYPES_OP_RULES_H
#define IR_OPTYPES_OP_RULES_H

#include "ir/optypes/op_types.h"

enum rule_kind {
    RULE_NUMBER,   /* `number` */
    RULE_TEXT,     /* `text` */
    RULE_SLOT,     /* the shape of the slot `number` */
    RULE_ATTR,     /* attribute `number` of the type */
    RULE_VARIABLE, /* variable `number`: a dimension, or the dimensions that a splice stands for */
    RULE_LIST,     /* of args, among them splices */
    RULE_SPLICE,   /* `..x` in a list */
    RULE_INDEX,    /* args[0][args[1]] */
    RULE_CALL,     /* function `number` of args */
    RULE_BINARY,   /* operator `number` of two args */
    RULE_NEGATE,
    RULE_NOT,
    RULE_CHOICE,  /* args[0] ? args[1] : args[2] */
    RULE_RANGE,   /* args[0] .. args[1]: all that a rule of contents is, or an arm of its choices */
    RULE_ELEMENT, /* `number`, an enum rule_element: what is looked at by a rule of contents */
};

/* An element of an operand, and what there is before it. */
enum rule_element {
    ELEMENT_VALUE,
    ELEMENT_PLACE,  /* its number in row-major order */
    ELEMENT_BEFORE, /* the element before; 0 where it is the first */
    ELEMENT_SUM,    /* of all before */
    RULE_ELEMENTS
};

enum rule_operator {
    RULE_OR,
    RULE_AND,
    RULE_EQ,
    RULE_NE,
    RULE_LE,
    RULE_GE,
    RULE_LT,
    RULE_GT,
    RULE_ADD,
    RULE_SUB,
    RULE_MUL,
    RULE_DIV,
    RULE_MOD,
    RULE_OPERATORS
};

/* The number of two by an operator from RULE_ADD on, of which `/` and `%` round down and take no
 * divisor below 1. False where it does not fit. */
bool rule_fold(enum rule_operator op, int64_t a, int64_t b, int64_t *number);

enum rule_function {
#define FUNCTION(name, takes, gives, about) RULE_FN_##name,
#include "ir/optypes/op_functions.def"
#undef FUNCTION
    RULE_FUNCTIONS
};

struct rule {
    enum rule_kind kind;
    uint32_t n_args;
    const struct rule **args;
    int64_t number;
    const char *text;    /* of TEXT and VARIABLE */
    uint32_t begin, end; /* its bytes of the rule's text */
};

/* What an expression is. */
enum rule_type { RULE_IS_NUMBER, RULE_IS_LIST, RULE_IS_TEXT };

struct rule_function_info {
    const char *name, *takes; /* as in the table */
    enum rule_type gives;
};
const struct rule_function_info *rule_function_info(enum rule_function function);

/* The length also bounds how deep chains of operators are. */
enum { MAX_RULE_VARIABLES = 16, MAX_RULE_DEPTH = 32, MAX_RULE_TEXT = 4096 };

/* The variables of a type, whose rules share them; they are bound by operands. */
struct rule_variables {
    const char *names[MAX_RULE_VARIABLES];
    bool lists[MAX_RULE_VARIABLES]; /* it stands for several dimensions */
    uint32_t count;
    uint32_t bound; /* those below were bound by earlier rules */
};

/* What a rule is for. */
enum rule_use {
    RULE_FOR_SHAPES,   /* it may begin with "SLOT =", and operands so bind variables */
    RULE_FOR_CONTENTS, /* the same without binding; or a range, and it may speak of elements */
    RULE_FOR_NUMBER,
};

/* Reads a rule of a type whose slots and attributes are read. False, with what is wrong, where it
 * is no rule, or one that cannot be right of any op. */
bool op_rule_parse(struct arena *arena, const struct op_type *type, const char *text,
                   enum rule_use use, struct rule_variables *variables, struct op_rule *rule,
                   char *error, size_t error_size);

/* The size of the name at the beginning of a text: letters, digits and `_`, but no digit first. */
size_t rule_word_size(const char *text);

/* Whether a rule of contents speaks of this; RULE_ELEMENTS stands for any of them. */
bool rule_speaks_of(const struct rule *rule, enum rule_element element);

#endif
