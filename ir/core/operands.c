#include "ir/core/operands.h"
#include "ir/core/kernel.h"

uint32_t op_find_label(const struct graph *graph, const struct op *op, uint32_t label)
{
    uint32_t count = op_has_forms(graph, op) ? op_n_places(graph, op) : 0;
    for (uint32_t place = 0; place < count; place++)
        if (op_operand(graph, op, place).label == label)
            return place;
    return NONE;
}

uint32_t op_named_place(const struct graph *graph, const struct op *op,
                        const struct attr_value *name)
{
    if (name->kind == ATTR_WORD)
        return op_find_label(graph, op, name->id);
    bool exists = name->kind == ATTR_INT && name->i >= 0 && name->i < op_n_places(graph, op);
    return exists ? (uint32_t)name->i : NONE;
}

uint32_t op_value_place(const struct graph *graph, const struct op *op, uint32_t n)
{
    assert(n < op->operands.count);
    if (!op_has_forms(graph, op))
        return n;
    uint32_t value = op->operands.first + n, place = 0;
    for (;; place++) {
        struct range values = op_operand(graph, op, place).values;
        if (value < values.first + values.count)
            return place;
    }
}

uint32_t op_n_unlabelled(const struct graph *graph, const struct op *op)
{
    uint32_t place = 0, count = op_n_places(graph, op);
    if (!op_has_forms(graph, op))
        return count;
    while (place < count && op_operand(graph, op, place).label == NONE)
        place++;
    return place;
}

uint32_t op_param_place(const struct graph *graph, const struct op *op, uint32_t n, uint32_t param)
{
    return n < op_n_unlabelled(graph, op) ? n : op_find_label(graph, op, param);
}

uint32_t op_scalar_place(const struct module *module, const struct graph *graph,
                         const struct op *op, const struct kernel *kernel,
                         const struct attr_value *name)
{
    uint32_t n_tensors = kernel_n_tensors(module, kernel), n = 0;
    if (name->kind == ATTR_INT && name->i >= 0 && name->i < op_n_unlabelled(graph, op))
        return (uint32_t)name->i;
    if (n_tensors == NONE || (name->kind == ATTR_INT && (name->i < 0 || name->i >= n_tensors)))
        return NONE;
    if (name->kind == ATTR_INT)
        return op_find_label(graph, op, kernel_tensor(module, kernel, (uint32_t)name->i));
    while (n < n_tensors && kernel_tensor(module, kernel, n) != name->id)
        n++;
    return n == n_tensors ? NONE : op_param_place(graph, op, n, name->id);
}

/* All operands of the op as forms at the end of graph.forms, where one more may be added. */
static struct range copy_forms(struct graph *graph, const struct op *op)
{
    struct range copy = {graph->forms.count, op_n_places(graph, op)};
    for (uint32_t place = 0; place < copy.count; place++) {
        struct operand operand = op_operand(graph, op, place);
        vec_push(&graph->forms, operand);
    }
    return copy;
}

void op_add_absent(struct graph *graph, uint32_t id, uint32_t label, enum operand_kind kind)
{
    struct op *op = &graph->ops.at[id];
    struct clauses clauses = *op_clauses(graph, op);
    uint32_t end = op->operands.first + op->operands.count;
    if (clauses.forms.count == 0 || clauses.forms.first + clauses.forms.count < graph->forms.count)
        clauses.forms = copy_forms(graph, op);
    vec_push(&graph->forms, (struct operand){kind, label, {end, 0}});
    clauses.forms.count++;
    graph_set_clauses(graph, id, clauses);
}

void op_drop_absent(struct graph *graph, uint32_t id)
{
    struct clauses clauses = *op_clauses(graph, &graph->ops.at[id]);
    assert(clauses.forms.count > 0);
    clauses.forms.count--;
    graph_set_clauses(graph, id, clauses);
}

uint32_t op_n_given(const struct graph *graph, const struct op *op, uint32_t least)
{
    uint32_t count = op_n_places(graph, op);
    while (count > least) {
        struct operand last = op_operand(graph, op, count - 1);
        if (last.kind != OPERAND_NONE || last.label != NONE)
            break;
        count--;
    }
    return count;
}
