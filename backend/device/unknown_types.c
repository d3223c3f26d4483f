#include "backend/device/unknown_types.h"
#include "ir/calls.h"
#include "ir/gears.h"
#include "ir/op_infer.h"
#include "ir/operands.h"

static bool is_unknown(const struct module *module, const struct graph *graph, uint32_t value)
{
    return type_has_unknown(module, graph->values.at[value].type);
}

static const struct op *op_of(const struct graph *graph, uint32_t value)
{
    uint32_t def = graph->values.at[value].def;
    return def < graph->ops.count ? &graph->ops.at[def] : NULL;
}

/* An operand that is not known, of an op whose results follow from its operands; NONE. */
static uint32_t unknown_operand(const struct module *module, const struct graph *graph,
                                const struct op *op)
{
    const uint32_t *operands = op_operands(graph, op);
    for (uint32_t i = 0; op_call_kind(op) == CALL_NONE && i < op->operands.count; i++)
        if (operands[i] != NONE && is_unknown(module, graph, operands[i]))
            return operands[i];
    return NONE;
}

/* A graph that calls this one; NULL. `count`: how many do. */
static const struct graph *caller_of(const struct module *module, const struct graph *graph,
                                     uint32_t *count)
{
    uint8_t *called = mem_calloc(module->graphs.count, 1);
    const struct graph *caller = NULL;
    uint32_t id = graph_id(module, graph);
    *count = 0;
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        called[id] = 0;
        graph_mark_called(module, &module->graphs.at[i], called);
        if (called[id] && (*count)++ == 0)
            caller = &module->graphs.at[i];
    }
    mem_free(called);
    return caller;
}

static void help_param(const struct module *module, const struct graph *graph, uint32_t param,
                       struct diags *diags)
{
    uint32_t callers, name = graph->values.at[param].name;
    const struct graph *caller = caller_of(module, graph, &callers);
    if (caller && callers > 1 && module_has_cases(module))
        diag_help(
            diags,
            "combinations of gears call '@%.*s', which is compiled by itself: where they give "
            "'%%%.*s' several shapes, write its ops in the graph that has the gears",
            NAME(module, graph->name), NAME(module, name));
    else if (caller)
        diag_help(diags,
                  "'@%.*s' calls '@%.*s', which is compiled by itself: write the type of "
                  "'%%%.*s' there in full",
                  NAME(module, caller->name), NAME(module, graph->name), NAME(module, name));
    else if (module->types.at[graph->values.at[param].type].dtype == DTYPE_UNKNOWN)
        diag_help(diags, "write the type of '%%%.*s' in full", NAME(module, name));
    else
        diag_help(diags, "write the type of '%%%.*s' in full, or give --shape %.*s=N,N,...",
                  NAME(module, name), NAME(module, name));
}

void help_unknown_type(const struct module *module, const struct graph *graph, uint32_t value,
                       struct diags *diags)
{
    if (!is_unknown(module, graph, value))
        return;
    const struct op *op;
    uint32_t before;
    while ((op = op_of(graph, value)) && (before = unknown_operand(module, graph, op)) != NONE)
        value = before;
    if (!op)
        help_param(module, graph, value, diags);
    else
        diag_help(diags, "write the type of '%%%.*s' in full behind %.*s%s",
                  NAME(module, graph->values.at[value].name), NAME(module, op->type),
                  op_call_kind(op) == CALL_NONE ? "" : ": the graph that it calls does not say it");
}
