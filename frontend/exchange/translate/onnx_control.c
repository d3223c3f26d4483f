/* Operators of ONNX that give constants, call graphs or hand values on. */
#include "frontend/exchange/translate/onnx_rows.h"

bool onnx_dtype(struct translation *t, int64_t number, enum dtype *dtype)
{
    static const struct {
        unsigned dtype;
        int number;
    } rows[] = {
#define DUMP_DTYPE(dtype, ge, proto, number, onnx, tf, tf_number) {DTYPE_##dtype, onnx},
#include "ir/foreign_dtypes.def"
#undef DUMP_DTYPE
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (number > 0 && rows[i].number == number && rows[i].dtype != DTYPE_UNKNOWN) {
            *dtype = (enum dtype)rows[i].dtype;
            return true;
        }
    tr_refuse(t, "skir does not have data type %lld", (long long)number);
    return false;
}

/* What the reader calls `value`, whichever of the attributes says it. */
static void make_constant(struct translation *t)
{
    struct attr_value value;
    if (t->n_results != 1 || t->results[0].type == NONE) {
        tr_refuse(t, "its type is not known");
        return;
    }
    if (tr_value(t, "value", &value))
        tr_set(t, "value", value);
    t->next_type = t->results[0].type;
    tr_give(t, 0, tr_make_source(t, "Const"));
}

static void make_identity(struct translation *t)
{
    tr_give(t, 0, tr_operand(t, 0));
}

static void make_dropout(struct translation *t)
{
    struct attr_value training;
    uint32_t mode = tr_optional(t, 2);
    if (mode != NONE && (!tr_number(t, mode, &training) || training.i != 0))
        tr_refuse(t, "it may be in training mode");
    tr_give(t, 0, tr_operand(t, 0));
}

/* The operands after the condition are those of the graphs. */
static void make_if(struct translation *t)
{
    struct attr_value graph;
    uint32_t unknown = 0;
    if (tr_value(t, "then_branch", &graph))
        tr_set(t, "then_branch", graph);
    if (tr_value(t, "else_branch", &graph))
        tr_set(t, "else_branch", graph);
    for (uint32_t i = 0; i < t->n_operands; i++)
        unknown += t->operands[i] == NONE;
    if (unknown)
        tr_refuse(t, "an operand is absent");
    uint32_t first = tr_op(t, "If", t->operands, t->n_operands, t->n_results);
    for (uint32_t i = 0; i < t->n_results && !tr_refused(t); i++)
        tr_give(t, i, first + i);
}

const struct translation_row onnx_control[] = {
    {"Constant", 1, .to = "Const", .make = make_constant,
     .attrs = {{"value", OF_ANY, NULL, "value"}},
     .about = "also of `value_int`, `value_ints`, `value_float` and `value_floats`; no strings"},
    {"Dropout", 7, .until = 11, .to = "Identity", .make = make_identity,
     .attrs = {{"ratio", OF_FLOAT, "0.5", NULL}}, .about = "without the mask"},
    {"Dropout", 12, .to = "Identity", .make = make_dropout, .attrs = {{"seed", OF_INT, NULL, NULL}},
     .about = "without the mask, where `training_mode` is absent or a constant false"},
    {"Identity", 1, .to = "Identity"},
    {"If", 1, .to = "If", .make = make_if,
     .attrs = {{"then_branch", OF_ANY, NULL, "then_branch"},
               {"else_branch", OF_ANY, NULL, "else_branch"}},
     .about = "values of the outer graph become operands"},
    {NULL},
};
