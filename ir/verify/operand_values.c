#include "ir/verify/operand_values.h"
#include "ir/known_contents.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

bool operand_values_fit(const struct module *module, const struct graph *graph, const struct op *op,
                        struct op_tensors *tensors, struct op_range_fault *fault)
{
    struct known_contents known;
    if (tensors->call.type->n_contents == 0)
        return true;
    known_contents_use(&known, module, graph, op, tensors);
    if (op_ranges_check(&tensors->call, fault))
        return true;
    uint32_t value = op_operands(graph, op)[tensors->places[fault->tensor].index];
    return value_is_written(module, graph, viewed_value(module, graph, value));
}

static struct span tensor_span(const struct module *module, const struct op *op,
                               const struct op_place *place)
{
    return locate_op(module, op, place->result ? OP_RESULT_TYPE : OP_OPERAND, place->index);
}

bool operand_value_report(const struct module *module, const struct op *op,
                          const struct op_tensors *tensors, const struct op_range_fault *fault,
                          struct diags *diags)
{
    const struct op_call *call = &tensors->call;
    const struct op_place *place = &tensors->places[fault->tensor];
    if (!diag_at(diags, DIAG_operand_value, tensor_span(module, op, place), "%s", fault->text))
        return false;
    if (fault->other != NONE) {
        const struct op_place *other = &tensors->places[fault->other];
        diag_note(diags, tensor_span(module, op, other), "'%s' is %s",
                  call->type->slots[call->tensors[fault->other].slot].name,
                  type_text(module, other->type, &diags->arena));
    }
    return true;
}
