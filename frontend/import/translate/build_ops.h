/* What the functions of rows ask of a node, and how they make ops. Once a node is refused, nothing
 * is made any more: values are NONE and numbers 0, so that functions need not look. */
#ifndef FRONTEND_IMPORT_TRANSLATE_BUILD_OPS_H
#define FRONTEND_IMPORT_TRANSLATE_BUILD_OPS_H

#include "frontend/import/translate/translate.h"

extern const struct translation_table onnx_table, tf_table;

/* ------------------------------------------------------------------------- the node ---- */

/* Refuses the node; the first reason counts. */
void tr_refuse(struct translation *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline bool tr_refused(const struct translation *t)
{
    return t->reason.size > 0;
}

/* An operand that the operator must have; else the node is refused. */
uint32_t tr_operand(struct translation *t, uint32_t i);
/* One that may be absent: NONE. */
uint32_t tr_optional(const struct translation *t, uint32_t i);
/* Refuses the node where it has more operands. */
void tr_most_operands(struct translation *t, uint32_t most);
/* Whether something takes the result. */
bool tr_wants(const struct translation *t, uint32_t result);

/* Integers in the arena. */
struct tr_ints {
    const int64_t *at;
    uint32_t count;
};

/* --------------------------------------------------------------------------- values ---- */

/* A dtype or DTYPE_UNKNOWN; RANK_UNKNOWN; a dimension as of module types. */
unsigned tr_dtype(const struct translation *t, uint32_t value);
uint32_t tr_rank(const struct translation *t, uint32_t value);
int64_t tr_dim(const struct translation *t, uint32_t value, uint32_t i);
/* Those that a row cannot do without: where they are not known, the node is refused. */
enum dtype tr_need_dtype(struct translation *t, uint32_t value);
uint32_t tr_need_rank(struct translation *t, uint32_t value);
/* An axis between -rank and rank - 1 as one from 0 on; the node is refused where it is out of
 * range. */
int64_t tr_axis(struct translation *t, int64_t axis, uint32_t rank);
/* Whether the dtype is known, and one of floats. */
bool tr_is_float(const struct translation *t, uint32_t value);

/* A dimension that a row cannot do without: one that is not static refuses the node. */
int64_t tr_need_dim(struct translation *t, uint32_t value, uint32_t i);
/* The dimensions of a value; false where one is not static. */
bool tr_dims(struct translation *t, uint32_t value, struct tr_ints *dims);

/* Lists in the arena: one to be filled, and the numbers from `first` up to `end`. */
int64_t *tr_array(struct translation *t, uint32_t count);
struct tr_ints tr_range(struct translation *t, int64_t first, int64_t end);
static inline bool tr_among(struct tr_ints ints, int64_t number)
{
    for (uint32_t i = 0; i < ints.count; i++)
        if (ints.at[i] == number)
            return true;
    return false;
}

/* The contents of a value of few integers, or of one number, that is a constant or follows from
 * constants. False where that is not known. */
bool tr_contents(struct translation *t, uint32_t value, struct tr_ints *ints);
bool tr_number(struct translation *t, uint32_t value, struct attr_value *number);

/* ------------------------------------------------------------------- the node's attributes ---- */

/* Attributes, which the row has: what the node says, or else the fallback. */
bool tr_has(struct translation *t, const char *name); /* the node, not only the row */
bool tr_value(struct translation *t, const char *name, struct attr_value *value); /* or none */
int64_t tr_int(struct translation *t, const char *name);
double tr_float(struct translation *t, const char *name);
bool tr_is(struct translation *t, const char *name, const char *text);
enum dtype tr_dtype_of(struct translation *t, const char *name); /* OF_DTYPE */

struct tr_ints tr_ints(struct translation *t, const char *name);

/* ------------------------------------------------------------------------------ ops ---- */

/* Refuses the node where it has an attribute that the row does not, or a value that this does not
 * cover. Keys with a leading `_` are not the operator's. */
void tr_check_attrs(struct translation *t);
/* Gives the next op the attributes that the row maps. */
void tr_map_attrs(struct translation *t);

/* Attributes of the next op. */
void tr_set(struct translation *t, const char *key, struct attr_value value);
void tr_set_int(struct translation *t, const char *key, int64_t i);
void tr_set_flag(struct translation *t, const char *key, bool flag);
void tr_set_float(struct translation *t, const char *key, double f);
void tr_set_text(struct translation *t, const char *key, const char *text);
void tr_set_ints(struct translation *t, const char *key, struct tr_ints ints);

/* The attribute of GE that is the number of a dtype. */
void tr_set_dtype(struct translation *t, const char *key, enum dtype dtype);

/* The type of the first result of the next op, where the data of its type does not say it. */
void tr_set_type(struct translation *t, enum dtype dtype, struct tr_ints dims);

/* Makes an op with results, of which the first is returned, the others follow. Operands that are
 * NONE are absent; the node is refused where the op type does not take the operands. */
uint32_t tr_op(struct translation *t, const char *type, const uint32_t *operands, uint32_t n,
               uint32_t n_results);
#define tr_make(t, type, ...)                                                                      \
    tr_op(t, type, (uint32_t[]){__VA_ARGS__},                                                      \
          sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), 1)
/* The same where the first operand is a list of all `n` values, and `last` (or NONE) follows it. */
uint32_t tr_listed(struct translation *t, const char *type, const uint32_t *values, uint32_t n,
                   uint32_t last);

/* The same without operands. */
static inline uint32_t tr_make_source(struct translation *t, const char *type)
{
    return tr_op(t, type, NULL, 0, 1);
}

/* Constants. The role is their name. */
uint32_t tr_const_typed(struct translation *t, const char *role, uint32_t type,
                        struct tr_ints ints);
uint32_t tr_const_list(struct translation *t, const char *role, enum dtype dtype,
                       struct tr_ints ints);
uint32_t tr_const_ints(struct translation *t, const char *role, struct tr_ints ints);
uint32_t tr_const_int(struct translation *t, const char *role, int64_t i); /* a scalar, i64 */
/* A scalar of any dtype of numbers, or bool. */
uint32_t tr_const(struct translation *t, const char *role, enum dtype dtype, double number);
uint32_t tr_cast(struct translation *t, uint32_t value, enum dtype dtype);
uint32_t tr_reshape(struct translation *t, uint32_t value, struct tr_ints dims);

/* The value is a result of the node; those from `first` on are all of them. */
void tr_give(struct translation *t, uint32_t result, uint32_t value);
void tr_give_all(struct translation *t, uint32_t first);

#endif
