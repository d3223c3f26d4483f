/* The rules of op types: expressions over dimensions, in the language of docs/op-types.md. */
#ifndef IR_OP_RULES_H
#define IR_OP_RULES_H

#include "ir/op_types.h"

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
    RULE_CHOICE, /* args[0] ? args[1] : args[2] */
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

enum rule_function {
#define FUNCTION(name, args, about) RULE_FN_##name,
#include "ir/op_functions.def"
#undef FUNCTION
    RULE_FUNCTIONS
};

struct rule {
    enum rule_kind kind;
    uint32_t n_args;
    const struct rule **args;
    int64_t number;
    const char *text; /* of TEXT and VARIABLE */
};

/* The length also bounds how deep chains of operators are. */
enum { MAX_RULE_VARIABLES = 16, MAX_RULE_DEPTH = 32, MAX_RULE_TEXT = 4096 };

/* The variables of a type, whose rules share them; they are bound by operands. */
struct rule_variables {
    const char *names[MAX_RULE_VARIABLES];
    uint32_t count;
    uint32_t bound; /* those below were bound by earlier rules */
};

/* Reads a rule of a type whose slots and attributes are read; `shape`: it may begin with "SLOT =",
 * and operands so bind variables. False, with what is wrong, where it is no rule. */
bool op_rule_parse(struct arena *arena, const struct op_type *type, const char *text, bool shape,
                   struct rule_variables *variables, struct op_rule *rule, char *error,
                   size_t error_size);

#endif
