/* Operators of TensorFlow that give what they take, and variables. */
#include "frontend/exchange/translate/row_attrs.h"
#include "frontend/exchange/translate/tf_rows.h"

static void make_same(struct translation *t)
{
    for (uint32_t i = 0; i < t->n_results; i++)
        tr_give(t, i, tr_operand(t, i));
}

static void make_nothing(struct translation *t)
{
    tr_op(t, "NoOp", NULL, 0, 0);
}

/* ------------------------------------------------------------------------ variables ---- */

static void make_variable(struct translation *t)
{
    static const char *const names[] = {"shared_name", "container"};
    struct attr_value value;
    enum dtype dtype = tr_dtype_of(t, "dtype");
    for (unsigned i = 0; i < 2; i++)
        if (tr_value(t, names[i], &value) && t->module->names.names[value.id].size > 0)
            tr_set(t, names[i], value);
    bool shaped = tr_value(t, "shape", &value) && value.kind == ATTR_TYPE;
    t->next_type =
        module_type(t->module, dtype, W_ND, shaped ? type_dims(t->module, value.id) : NULL,
                    shaped ? t->module->types.at[value.id].rank : RANK_UNKNOWN);
    tr_give(t, 0, tr_op(t, "Variable", NULL, 0, 1));
}

#define PASSES(name)                                                                               \
    {                                                                                              \
        name, .to = "Identity", make_same                                                          \
    }
#define PASSES_WITH(name, attr, of)                                                                \
    {                                                                                              \
        name, .to = "Identity", make_same,                                                         \
        {                                                                                          \
            {                                                                                      \
                attr, of                                                                           \
            }                                                                                      \
        }                                                                                          \
    }
#define VARIABLE(name)                                                                             \
    {                                                                                              \
        name, .to = "Variable", make_variable,                                                     \
        {                                                                                          \
            {"dtype", OF_DTYPE}, {"shape", OF_ANY}, {"container", OF_TEXT},                        \
                {"shared_name", OF_TEXT}, {"allowed_devices", OF_ANY},                             \
            {                                                                                      \
                "debug_name", OF_TEXT                                                              \
            }                                                                                      \
        }                                                                                          \
    }

const struct translation_row tf_states[] = {
    {"Assign", .to = "Assign",
     .attrs = {{"validate_shape", OF_BOOL, "1", "validate_shape"},
               {"use_locking", OF_BOOL, "1", "use_locking"}}},
    {"AssignAdd", .to = "AssignAdd", .attrs = {{"use_locking", OF_BOOL, "0", "use_locking"}}},
    {"AssignSub", .to = "AssignSub", .attrs = {{"use_locking", OF_BOOL, "0", "use_locking"}}},
    {"ControlTrigger", .to = "NoOp", .make = make_nothing},
    PASSES_WITH("CheckNumerics", "message", OF_TEXT),
    PASSES_WITH("EnsureShape", "shape", OF_ANY),
    PASSES("Identity"),
    PASSES("IdentityN"),
    {"NoOp", .to = "NoOp", .make = make_nothing},
    PASSES_WITH("PlaceholderWithDefault", "shape", OF_ANY),
    PASSES_WITH("PreventGradient", "message", OF_TEXT),
    PASSES("Snapshot"),
    PASSES("StopGradient"),
    VARIABLE("Variable"),
    VARIABLE("VariableV2"),
    {NULL},
};
