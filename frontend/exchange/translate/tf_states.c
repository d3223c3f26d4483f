/* Operators of TensorFlow that give what they take, and variables. */
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

/* Whether an op may write to the value before what reads it now is used. */
static bool may_change(const struct translation *t, uint32_t value)
{
    return t->graph->values.at[value].def == DEF_PARAM ||
           (value < t->written->count && t->written->at[value]);
}

static void make_read(struct translation *t)
{
    uint32_t variable = tr_operand(t, 0);
    enum dtype dtype = tr_dtype_of(t, "dtype");
    if (tr_refused(t))
        return;
    t->next_type = module_type(t->module, dtype, W_ND, NULL, RANK_UNKNOWN);
    tr_give(t, 0, tr_make(t, may_change(t, variable) ? "TensorMove" : "Identity", variable));
}

/* What the op writes to is a result where the operator has one: after the op. */
static void make_update(struct translation *t)
{
    tr_op(t, t->row->to, t->operands, t->n_operands, 0);
    if (tr_refused(t) || t->n_results == 0)
        return;
    struct graph *graph = t->graph;
    uint32_t update = graph->ops.count - 1;
    uint32_t token =
        graph_add_value(graph, module_name(t->module, "done"), module_token(t->module), update);
    graph->ops.at[update].results = (struct range){token, 1};
    tr_give(t, 0, tr_make(t, "Identity", tr_operand(t, 0)));
    struct clauses clauses = {.after = graph_add_refs(graph, &token, 1)};
    if (!tr_refused(t))
        graph_set_clauses(graph, graph->ops.count - 1, clauses);
}

static void make_resource_gather(struct translation *t)
{
    tr_give(t, 0, tr_make(t, "Gather", tr_operand(t, 0), tr_operand(t, 1)));
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
#define UPDATE(name, target)                                                                       \
    {                                                                                              \
        name, .to = target, .make = make_update, .attrs = {                                        \
            {"dtype", OF_DTYPE},                                                                   \
            {"validate_shape", OF_BOOL, "1"},                                                      \
            {"use_locking", OF_BOOL, "1"},                                                         \
            {"bad_indices_policy", OF_TEXT, "", NULL, "|DEFAULT|ERROR"},                           \
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
    UPDATE("Assign", "Assign"),
    UPDATE("AssignAdd", "AssignAdd"),
    UPDATE("AssignSub", "AssignSub"),
    UPDATE("AssignAddVariableOp", "AssignAdd"),
    UPDATE("AssignSubVariableOp", "AssignSub"),
    UPDATE("AssignVariableOp", "Assign"),
    {"ControlTrigger", .to = "NoOp", .make = make_nothing},
    PASSES_WITH("CheckNumerics", "message", OF_TEXT),
    PASSES_WITH("EnsureShape", "shape", OF_ANY),
    PASSES("Identity"),
    PASSES("IdentityN"),
    {"NoOp", .to = "NoOp", .make = make_nothing},
    {"PlaceholderWithDefault", .to = "Identity", .make = make_same,
     .attrs = {{"dtype", OF_DTYPE}, {"shape", OF_ANY}}},
    PASSES_WITH("PreventGradient", "message", OF_TEXT),
    {"ReadVariableOp", .to = "Identity, TensorMove", .make = make_read,
     .attrs = {{"dtype", OF_DTYPE}}, .about = "a copy of what other ops may write to"},
    {"ResourceGather", .to = "Gather", .make = make_resource_gather,
     .attrs = {{"dtype", OF_DTYPE},
               {"batch_dims", OF_INT, "0", NULL, "0"},
               {"validate_indices", OF_BOOL, "1"}}},
    UPDATE("ResourceScatterUpdate", "ScatterUpdate"),
    UPDATE("ScatterNdAdd", "ScatterNdAdd"),
    UPDATE("ScatterNdUpdate", "ScatterNdUpdate"),
    UPDATE("ScatterUpdate", "ScatterUpdate"),
    PASSES("Snapshot"),
    PASSES("StopGradient"),
    VARIABLE("VarHandleOp"),
    VARIABLE("Variable"),
    VARIABLE("VariableV2"),
    {NULL},
};
