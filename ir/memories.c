#include "ir/memories.h"
#include "ir/op_types.h"
#include "ir/operands.h"

/* The value that an operand is; NONE where it is a list, or absent. */
static uint32_t value_at(const struct graph *graph, const struct op *op, uint32_t place)
{
    struct operand operand = op_operand(graph, op, place);
    return operand.kind == OPERAND_VALUE ? graph->refs.at[operand.values.first] : NONE;
}

uint32_t op_place(const struct graph *graph, const struct op *op, const struct attr_value *place)
{
    uint32_t n = op_named_place(graph, op, place);
    return n == NONE ? NONE : value_at(graph, op, n);
}

/* The place of an op's operand that is a slot of its type: by its label, or its number, unless the
 * number of operands before it is not fixed. NONE where there is none. */
static uint32_t slot_place(const struct module *module, const struct graph *graph,
                           const struct op *op, const struct op_type *type, uint32_t slot)
{
    uint32_t unlabelled = op_n_unlabelled(graph, op);
    for (uint32_t place = unlabelled; place < op_n_places(graph, op); place++) {
        uint32_t label = op_operand(graph, op, place).label;
        if (label != NONE && name_is(module, label, type->slots[slot].name))
            return place;
    }
    for (uint32_t i = 0; i < slot && !op_has_forms(graph, op); i++)
        if (type->slots[i].presence == OP_LISTED)
            return NONE;
    return slot < unlabelled ? slot : NONE;
}

static struct range slot_values(const struct module *module, const struct graph *graph,
                                const struct op *op, const struct op_type *type, uint32_t slot)
{
    uint32_t place = slot_place(module, graph, op, type, slot);
    return place == NONE ? (struct range){0, 0} : op_operand(graph, op, place).values;
}

/* By the data of the op's type. A kernel of one's own for a view makes a copy, for all that is
 * known. */
static uint32_t alias_by_type(const struct module *module, const struct graph *graph,
                              const struct op *op, uint32_t n)
{
    const struct op_type *type = op_type_find(module, op->type);
    if (!type || (type->view && op->kernel != NONE))
        return NONE;
    uint32_t slot = op_type_result(type, n);
    if (slot == NONE || type->slots[slot].alias == NONE || op_is_unchecked(module, op))
        return NONE;
    uint32_t place = slot_place(module, graph, op, type, type->slots[slot].alias);
    return place == NONE ? NONE : value_at(graph, op, place);
}

uint32_t op_alias(const struct module *module, const struct graph *graph, const struct op *op,
                  uint32_t n)
{
    const struct attr *alias = attr_find(module, op->attrs, W_alias);
    if (graph->values.at[op->results.first + n].type == module->token)
        return NONE;
    if (!alias)
        return alias_by_type(module, graph, op, n);
    if (alias->value.kind != ATTR_LIST || n >= alias->value.count)
        return NONE;
    return op_place(graph, op, &module->attr_values.at[alias->value.first + n]);
}

/* The values that element or slot `n` says are written; false past the last. */
static bool written_at(const struct module *module, const struct graph *graph, const struct op *op,
                       uint32_t n, struct range *values)
{
    const struct attr *inplace = attr_find(module, op->attrs, W_inplace);
    const struct op_type *type = inplace ? NULL : op_type_find(module, op->type);
    *values = (struct range){0, 0};
    if (inplace) {
        if (inplace->value.kind != ATTR_LIST || n >= inplace->value.count)
            return false;
        uint32_t place =
            op_named_place(graph, op, &module->attr_values.at[inplace->value.first + n]);
        if (place != NONE)
            *values = op_operand(graph, op, place).values;
        return true;
    }
    if (!type || n >= type->n_operands)
        return false;
    if (type->slots[n].writes && !op_is_unchecked(module, op))
        *values = slot_values(module, graph, op, type, n);
    return true;
}

bool op_next_write(const struct module *module, const struct graph *graph, const struct op *op,
                   struct op_write *write)
{
    struct range values;
    for (; written_at(module, graph, op, write->element, &values); write->element++) {
        if (write->value < values.count) {
            write->operand = graph->refs.at[values.first + write->value++];
            return true;
        }
        write->value = 0;
    }
    return false;
}

bool op_writes(const struct module *module, const struct graph *graph, const struct op *op,
               uint32_t operand)
{
    struct op_write write = {0};
    while (op_next_write(module, graph, op, &write))
        if (write.operand == operand)
            return true;
    return false;
}

bool op_is_view(const struct module *module, const struct graph *graph, const struct op *op)
{
    const struct op_type *type = op_type_find(module, op->type);
    struct op_write write = {0};
    if (!type || !type->view || op->kernel != NONE || op->results.count == 0 ||
        attr_find(module, op->attrs, W_writes) || op_next_write(module, graph, op, &write))
        return false;
    for (uint32_t n = 0; n < op->results.count; n++)
        if (op_alias(module, graph, op, n) == NONE)
            return false;
    return true;
}

bool op_is_passive(const struct module *module, const struct graph *graph, const struct op *op)
{
    const struct op_type *type = op_type_find(module, op->type);
    return type && (type->passive || (type->view && op_is_view(module, graph, op)));
}

bool op_is_variable(const struct module *module, const struct op *op)
{
    return name_is(module, op->type, "Variable") || name_is(module, op->type, "RefData");
}

uint32_t op_shared_name(const struct module *module, const struct op *op)
{
    uint32_t name = attr_string(module, op->attrs, W_shared_name);
    bool named = name != NONE && module->names.names[name].size > 0;
    return named && op_is_variable(module, op) ? name : NONE;
}

/* -------------------------------------------------------------------- memories of values ---- */

struct walker {
    const struct module *module;
    const struct graph *graph;
    struct memories *memories;
    struct id_map variables; /* by `shared_name`: the first value of that memory */
};

/* Makes the value part of another's memory. */
static void join(struct walker *walker, uint32_t value, uint32_t with)
{
    struct memories *memories = walker->memories;
    uint32_t n_values = walker->graph->values.count;
    if (!memories->of) {
        memories->of = mem_realloc(NULL, n_values, sizeof *memories->of);
        for (uint32_t i = 0; i < n_values; i++)
            memories->of[i] = i;
    }
    memories->of[value] = memories->of[with];
}

static void walk_results(struct walker *walker, const struct op *op)
{
    for (uint32_t n = 0; n < op->results.count; n++) {
        uint32_t operand = op_alias(walker->module, walker->graph, op, n);
        if (operand != NONE)
            join(walker, op->results.first + n, operand);
    }
}

static void walk_variable(struct walker *walker, const struct op *op)
{
    uint32_t name = op_shared_name(walker->module, op);
    if (name == NONE || op->results.count == 0)
        return;
    uint32_t *first = id_map_at(&walker->variables, name);
    if (*first == NONE)
        *first = op->results.first;
    else
        join(walker, op->results.first, *first);
}

void memories_init(struct memories *memories, const struct module *module,
                   const struct graph *graph)
{
    struct walker walker = {.module = module, .graph = graph, .memories = memories};
    memories->of = NULL;
    for (uint32_t i = 0; i < graph->body.count; i++) {
        if (item_kind(graph->body.at[i]) != ITEM_OP)
            continue;
        const struct op *op = &graph->ops.at[item_id(graph->body.at[i])];
        walk_results(&walker, op);
        if (op->attrs.count)
            walk_variable(&walker, op);
    }
    id_map_free(&walker.variables);
}

void memories_free(struct memories *memories)
{
    mem_free(memories->of);
    memories->of = NULL;
}

/* ---------------------------------------------------------------------- AI cores ---- */

/* GE's names of what runs ops elsewhere: the two of the AICPU, collectives, the runtime, image
 * processing, the host. */
static const char *const engines[] = {
    "aicpu_ascend_kernel", "aicpu_tf_kernel", "ops_kernel_info_hccl",
    "DNN_VM_RTS_OP_STORE", "dvpp_ops_kernel", "DNN_VM_HOST_CPU_OP_STORE",
};

static bool is_set(const struct module *module, const struct op *op, uint32_t key)
{
    const struct attr *attr = attr_find(module, op->attrs, key);
    return attr && (attr->value.kind == ATTR_INT || attr->value.kind == ATTR_BOOL) &&
           attr->value.i != 0;
}

/* 1 and 0: the engine has cores, or none; -1: nothing is said. */
static int engine_has_cores(const struct module *module, const struct op *op)
{
    uint32_t name = attr_string(module, op->attrs, W__ge_attr_op_kernel_lib_name);
    if (name == NONE)
        return -1;
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++)
        if (name_is(module, name, engines[i]))
            return 0;
    return 1;
}

bool op_has_no_cores(const struct module *module, const struct op *op)
{
    const struct op_type *type;
    if (op->attrs.count > 0) {
        if (is_set(module, op, W__hccl))
            return false;
        if (is_set(module, op, W_no_cores))
            return true;
        if (is_set(module, op, W_supportSuperKernel))
            return false;
        int engine = engine_has_cores(module, op);
        if (engine >= 0)
            return engine == 0;
    }
    type = op_type_find(module, op->type);
    return type && type->no_cores && !op_is_unchecked(module, op);
}
