/* Rules at work: values of expressions (ir/optypes/op_values.c), functions
 * (ir/optypes/op_functions.c), expressions (ir/optypes/op_eval.c), whole rules
 * (ir/optypes/op_shapes.c), and how they say what is wrong. */
#ifndef IR_OPTYPES_OP_EVAL_H
#define IR_OPTYPES_OP_EVAL_H

#include "ir/optypes/op_rules.h"
#include "ir/optypes/op_shapes.h"
#include "ir/shapes/dims.h"

/* Of a list that a rule makes, where no operand or attribute has as many. What all lists that are
 * made for one op have, for each of its tensors and besides. */
enum { MAX_VALUE_DIMS = 256, MAX_EVALUATED_EACH = 256, MAX_EVALUATED = 1 << 22 };

/* A dimension or other number. */
struct rule_dim {
    bool known;
    int64_t number; /* not known: DIM_UNKNOWN, or a symbolic dimension (rule_symbolic) */
};

/* What an expression is. */
enum value_kind { VALUE_UNKNOWN, VALUE_NUMBER, VALUE_LIST, VALUE_TEXT };

struct rule_value {
    enum value_kind kind;
    struct rule_dim number;
    uint32_t count;
    struct rule_dim *dims;
    const char *text;
};

struct binding {
    struct rule_value value; /* a number or a list; of kind UNKNOWN: not bound */
    uint32_t tensor;         /* that it was read from */
};

struct evaluator {
    const struct op_call *call;
    struct arena arena;
    struct binding bindings[MAX_RULE_VARIABLES];
    const struct op_rule *rule;     /* the one at work */
    int64_t element[RULE_ELEMENTS]; /* what a rule of contents is about */
    uint32_t nth;                   /* the element of its slot that is looked at */
    uint64_t made;                  /* elements of lists, so far */
    struct rule_value *inferred;    /* shapes of results, by tensor; NULL: none are asked for */
    VEC(struct dim_sum) sums;       /* dimensions that were computed */
    struct rule_value *attrs;       /* of the type; NULL: none has been asked for */
    bool *attr_known;               /* which of them are there */
    struct op_fault *fault;
    bool failed;
};

static const struct rule_value rule_unknown = {.kind = VALUE_UNKNOWN};

/* Says what is wrong, with the tensor at which it shows and the one that it contradicts, or NONE.
 * Only the first fault of an evaluation counts. */
void rule_fail(struct evaluator *e, uint32_t tensor, uint32_t other, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same of the rule at work, whatever the tensor; returns what is not known. */
struct rule_value rule_fail_here(struct evaluator *e, const char *what);

/* The text of the rule at work, for messages; long ones are cut. In the arena. */
const char *rule_text(struct evaluator *e);

/* A value for messages, with the names of its dimensions; long ones are cut. */
struct value_text {
    char text[64];
};
struct value_text rule_value_text(const struct evaluator *e, const struct rule_value *value);

static inline struct rule_dim rule_known(int64_t number)
{
    return (struct rule_dim){true, number};
}

static inline struct rule_dim rule_unknown_dim(void)
{
    return (struct rule_dim){false, DIM_UNKNOWN};
}

static inline struct rule_value rule_dim_value(struct rule_dim dim)
{
    return (struct rule_value){.kind = VALUE_NUMBER, .number = dim};
}

static inline struct rule_value rule_number(int64_t number)
{
    return rule_dim_value(rule_known(number));
}

/* A list with room for `count` dimensions; where that is too much, that is a fault. */
struct rule_value rule_list(struct evaluator *e, uint64_t count);
/* The same where a rule says how many there are. */
struct rule_value rule_new_list(struct evaluator *e, uint64_t count);

static inline const struct op_slot *rule_slot(const struct evaluator *e, uint32_t tensor)
{
    return &e->call->type->slots[e->call->tensors[tensor].slot];
}

struct rule_value rule_shape(struct evaluator *e, uint32_t tensor);
/* The same, in `dims`, which has room for MAX_RANK. */
struct rule_value rule_shape_in(const struct evaluator *e, uint32_t tensor, struct rule_dim *dims);
/* What stands in an operand. */
struct rule_value rule_contents(struct evaluator *e, uint32_t tensor);
/* The first tensor of a slot; NONE: it is absent. */
uint32_t rule_tensor(const struct evaluator *e, uint32_t slot);
/* What an op says of an attribute of the type, by its index, or else the type's data. */
struct rule_value rule_attr(struct evaluator *e, uint32_t index);

/* Whether they can be equal. */
bool rule_dims_agree(struct rule_dim a, struct rule_dim b);
bool rule_lists_agree(const struct rule_value *a, const struct rule_value *b);
/* Adds to one what is known of another that agrees with it. */
void rule_refine(struct rule_value *a, const struct rule_value *b);

/* A number, or NULL where it is none that is known. */
static inline const int64_t *rule_as_number(const struct rule_value *value)
{
    return value->kind == VALUE_NUMBER && value->number.known ? &value->number.number : NULL;
}

/* An element of a list; a number is all of them. */
static inline struct rule_dim rule_element(const struct rule_value *value, uint32_t n)
{
    return value->kind == VALUE_LIST ? value->dims[n] : value->number;
}

/* How many elements two values have together, of which one may be a number; false, with a fault
 * where they are lists that differ in length, and without where one of them is not known. */
bool rule_pair(struct evaluator *e, const struct rule_value *a, const struct rule_value *b,
               uint32_t *count);

/* + - * / % of dimensions; an overflow is a fault. */
struct rule_dim rule_arithmetic(struct evaluator *e, enum rule_operator op, struct rule_dim a,
                                struct rule_dim b);

/* ---- sums of products that depend on names (ir/shapes/dims.h) ---- */

/* Whether two are equal whatever the names stand for. */
bool rule_same(const struct evaluator *e, struct rule_dim a, struct rule_dim b);

/* What types have for it. DIM_UNKNOWN without a module, which is that of the call. */
int64_t rule_dim_of_type(const struct evaluator *e, struct module *module, struct rule_dim dim);

/* ----------------------------------------------------------------------------- expressions ---- */

/* A place in a list, from its end where it is negative; NONE where there is none, which is a fault
 * unless it is not known. */
uint32_t rule_place(struct evaluator *e, const struct rule_value *place, uint32_t count);

/* The function `strided`. */
struct rule_value rule_strided(struct evaluator *e, const struct rule_value *args);

/* The function of a call, of its arguments. */
struct rule_value rule_call(struct evaluator *e, const struct rule *rule, struct rule_value *args);

struct rule_value rule_eval(struct evaluator *e, const struct rule *rule);

void evaluator_init(struct evaluator *e, const struct op_call *call, struct op_fault *fault);

#endif
