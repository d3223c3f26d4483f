#include "ir/core/calls.h"

enum { MANY_ONE = false, MANY_LIST = true };

const struct call_attr call_attrs[] = {
#define CALL_GRAPH_ATTR(kind, key, many, role) {CALL_##kind, W_##key, MANY_##many, ROLE_##role},
#include "ir/core/call_ops.def"
};

const uint32_t n_call_attrs = sizeof call_attrs / sizeof call_attrs[0];

const struct call_info *call_info(enum call_kind kind)
{
    static const struct call_info infos[CALL_KINDS] = {
#define CALL_KIND(kind, lead, own, what) [CALL_##kind] = {lead, own, what},
#include "ir/core/call_ops.def"
    };
    assert(kind > CALL_NONE && kind < CALL_KINDS);
    return &infos[kind];
}

enum call_kind word_call_kind(uint32_t word)
{
    static const uint8_t kinds[W_COUNT] = {
#define CALL_OP(type, kind) [W_##type] = CALL_##kind,
#include "ir/core/call_ops.def"
    };
    assert(word < W_COUNT);
    return kinds[word];
}

bool op_callee(const struct module *module, const struct op *op, uint32_t n, struct callee *callee)
{
    enum call_kind kind = op_call_kind(op);
    for (uint32_t i = 0; kind != CALL_NONE && i < n_call_attrs; i++) {
        const struct call_attr *row = &call_attrs[i];
        const struct attr *attr = row->kind == kind ? attr_find(module, op->attrs, row->key) : NULL;
        bool list = attr && row->list && attr->value.kind == ATTR_LIST;
        uint32_t count = !attr ? 0 : list ? attr->value.count : 1;
        if (n >= count) {
            n -= count;
            continue;
        }
        const struct attr_value *value =
            list ? &module->attr_values.at[attr->value.first + n] : &attr->value;
        bool symbol = value->kind == ATTR_SYMBOL;
        *callee = (struct callee){attr, list ? n : NONE,
                                  symbol ? module_find(module, SYMBOL_GRAPH, value->id) : NONE,
                                  row->role};
        return true;
    }
    return false;
}

const struct graph *op_called_graph(const struct module *module, const struct op *op, uint32_t n)
{
    struct callee callee;
    bool found = op_callee(module, op, n, &callee);
    assert(found && callee.graph != NONE);
    return found ? &module->graphs.at[callee.graph] : NULL;
}

uint32_t graph_next_called(const struct module *module, const struct graph *graph,
                           struct call_walk *walk)
{
    struct callee callee;
    for (; walk->op < graph->ops.count; walk->op++, walk->n = 0) {
        const struct op *op = &graph->ops.at[walk->op];
        while (op_call_kind(op) != CALL_NONE && op_callee(module, op, walk->n, &callee)) {
            walk->n++;
            if (callee.graph != NONE)
                return callee.graph;
        }
    }
    return NONE;
}

void graph_mark_called(const struct module *module, const struct graph *graph, uint8_t *called)
{
    struct call_walk walk = {0, 0};
    for (uint32_t id; (id = graph_next_called(module, graph, &walk)) != NONE;)
        called[id] = 1;
}

/* --------------------------------------------------------------------------- types ---- */

bool call_types_match(const struct module *module, uint32_t called, uint32_t given)
{
    if (called == given || called == NONE || given == NONE)
        return true;
    const struct type *c = &module->types.at[called], *g = &module->types.at[given];
    if (!type_kinds_agree(c, g))
        return false;
    for (uint32_t i = 0; i < type_n_dims(c) && i < type_n_dims(g); i++) {
        int64_t dim = type_dims(module, called)[i], other = type_dims(module, given)[i];
        if (dim != other && dim >= 0 && other >= 0)
            return false;
    }
    return true;
}

/* Whether a type may be one element of these classes; one that is not known may be any, and a token
 * is reported by itself. */
static bool is_one_of(const struct module *module, uint32_t type, unsigned classes)
{
    const struct type *t = type == NONE ? NULL : &module->types.at[type];
    if (!t || t->dtype == DTYPE_TOKEN)
        return true;
    if (t->dtype != DTYPE_UNKNOWN && !(classes >> dtype_info(t->dtype)->class & 1))
        return false;
    for (uint32_t i = 0; i < type_n_dims(t); i++)
        if (type_dims(module, type)[i] != 1 && type_dims(module, type)[i] != DIM_UNKNOWN)
            return false;
    return true;
}

bool call_type_decides(const struct module *module, uint32_t type)
{
    return is_one_of(module, type,
                     1 << CLASS_BOOL | 1 << CLASS_FLOAT | 1 << CLASS_SINT | 1 << CLASS_UINT);
}

bool call_type_counts(const struct module *module, uint32_t type)
{
    enum dtype dtype = type == NONE ? DTYPE_UNKNOWN : module->types.at[type].dtype;
    bool narrow = dtype < DTYPE_COUNT && dtype_info(dtype)->bits < 8;
    return !narrow && is_one_of(module, type, 1 << CLASS_SINT | 1 << CLASS_UINT);
}
