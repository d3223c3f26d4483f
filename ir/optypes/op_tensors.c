#include "ir/core/operands.h"
#include "ir/optypes/op_tensors.h"

#include <string.h>

struct collecting {
    const struct module *module;
    const struct graph *graph;
    const struct op *op;
    const struct op_type *type;
    struct op_tensor *tensors;
    struct op_place *places;
    uint32_t count;
    uint64_t filled; /* slots that are given a list, be it empty */
};

/* ------------------------------------------------------------------------ operands ---- */

static uint32_t operand_named(const struct collecting *c, uint32_t name)
{
    const struct intern_name *text = &c->module->names.names[name];
    return op_type_operand(c->type, text->text, text->size);
}

/* The words of the parameters that a kernel has for operands without labels: NULL where it does not
 * name all of them as the type does. */
static const struct attr_value *kernel_words(const struct collecting *c)
{
    const struct kernel *kernel =
        c->op->kernel == NONE ? NULL : module_find_kernel(c->module, c->op->kernel);
    const struct attr *params = kernel ? attr_find(c->module, kernel->attrs, W_params) : NULL;
    uint32_t count = op_n_unlabelled(c->graph, c->op);
    if (!params || params->value.kind != ATTR_LIST || params->value.count < count)
        return NULL;
    const struct attr_value *words = c->module->attr_values.at + params->value.first;
    for (uint32_t i = 0; i < count; i++)
        if (words[i].kind != ATTR_WORD || operand_named(c, words[i].id) == NONE)
            return NULL;
    return words;
}

/* --------------------------------------------------------------------- collecting ---- */

static bool add_tensor(struct collecting *c, uint32_t slot, uint32_t value, struct op_place place)
{
    place.type = c->graph->values.at[value].type;
    if (place.type == NONE)
        return false;
    const struct type *type = &c->module->types.at[place.type];
    if (type->dtype == DTYPE_TOKEN)
        return true;
    c->places[c->count] = place;
    c->tensors[c->count++] = (struct op_tensor){.slot = slot,
                                                .rank = type->rank,
                                                .dims = type_dims(c->module, place.type),
                                                .bits = dtype_info(type->dtype)->bits};
    return true;
}

/* A list is for a slot that is one, and for such a slot there is no value by itself. */
static enum op_misfit collect_operand(struct collecting *c, uint32_t slot,
                                      const struct operand *operand)
{
    bool listed = c->type->slots[slot].presence == OP_LISTED;
    if (operand->kind == OPERAND_LIST && !listed)
        return OP_NO_LIST;
    if (operand->kind == OPERAND_VALUE && listed && !op_type_spreads(c->type))
        return OP_LIST;
    for (uint32_t i = 0; i < operand->values.count; i++) {
        uint32_t at = operand->values.first + i;
        if (!add_tensor(c, slot, c->graph->refs.at[at],
                        (struct op_place){.index = at - c->op->operands.first}))
            return OP_UNTOLD;
    }
    if (operand->kind == OPERAND_LIST)
        c->filled |= UINT64_C(1) << slot;
    return OP_FITS;
}

static enum op_misfit collect_operands(struct collecting *c, uint32_t *where)
{
    const struct attr_value *words = kernel_words(c);
    enum op_misfit misfit = OP_FITS;
    for (uint32_t i = 0; misfit == OP_FITS && i < op_n_places(c->graph, c->op); i++) {
        struct operand operand = op_operand(c->graph, c->op, i);
        uint32_t slot = operand.label != NONE ? operand_named(c, operand.label)
                        : words               ? operand_named(c, words[i].id)
                                              : op_type_place(c->type, i);
        *where = i;
        if (slot == NONE)
            return operand.label == NONE ? OP_TOO_MANY_OPERANDS : OP_NO_LABEL;
        misfit = collect_operand(c, slot, &operand);
    }
    return misfit;
}

static enum op_misfit collect_results(struct collecting *c, uint32_t *where)
{
    for (uint32_t i = 0; i < c->op->results.count; i++) {
        uint32_t value = c->op->results.first + i, slot = op_type_result(c->type, i);
        uint32_t type = c->graph->values.at[value].type;
        *where = i;
        if (type != NONE && c->module->types.at[type].dtype == DTYPE_TOKEN)
            continue;
        if (slot == NONE)
            return OP_TOO_MANY_RESULTS;
        if (!add_tensor(c, slot, value, (struct op_place){.result = true, .index = i}))
            return OP_UNTOLD;
    }
    return OP_FITS;
}

/* Required slots are filled; but results that are an operand's memory need no name. */
static enum op_misfit find_absent(const struct collecting *c, uint32_t *where)
{
    uint64_t filled = c->filled;
    for (uint32_t i = 0; i < c->count; i++)
        filled |= UINT64_C(1) << c->tensors[i].slot;
    for (uint32_t i = 0; i < c->type->n_operands + c->type->n_results; i++) {
        const struct op_slot *slot = &c->type->slots[i];
        *where = i;
        if (slot->presence == OP_REQUIRED && slot->alias == NONE && !(filled >> i & 1))
            return i < c->type->n_operands ? OP_NO_OPERAND : OP_NO_RESULT;
    }
    return OP_FITS;
}

/* ---------------------------------------------------------------------- attributes ---- */

struct op_of_module {
    const struct module *module;
    const struct op *op;
};

static bool attr_of_op(const struct op_call *call, const struct op_attr *attr, struct arena *arena,
                       struct op_attr_value *value)
{
    const struct op_of_module *from = call->user;
    uint32_t key = intern_find(&from->module->names, attr->name, strlen(attr->name));
    const struct attr *found = key == NONE ? NULL : attr_find(from->module, from->op->attrs, key);
    if (!found)
        return false;
    *value = (struct op_attr_value){.count = 1};
    switch (found->value.kind) {
    case ATTR_INT:
    case ATTR_BOOL: value->numbers = &found->value.i; break;
    case ATTR_STRING:
    case ATTR_WORD: value->text = name_text(from->module, found->value.id, arena); break;
    case ATTR_LIST:
        value->numbers = attr_list_ints(from->module, &found->value, arena);
        value->count = found->value.count;
        break;
    default: break;
    }
    return true;
}

void op_tensors_init(struct op_tensors *tensors, const struct module *module,
                     const struct graph *graph, const struct op *op, const struct op_type *type,
                     struct arena *arena)
{
    uint32_t most = op->operands.count + op->results.count;
    struct op_of_module *user = arena_alloc(arena, sizeof *user);
    struct collecting c = {.module = module, .graph = graph, .op = op, .type = type};
    c.tensors = arena_alloc(arena, (most + 1) * sizeof *c.tensors);
    c.places = arena_alloc(arena, (most + 1) * sizeof *c.places);
    *user = (struct op_of_module){module, op};
    *tensors = (struct op_tensors){.places = c.places};
    tensors->misfit = collect_operands(&c, &tensors->where);
    if (tensors->misfit == OP_FITS)
        tensors->misfit = collect_results(&c, &tensors->where);
    if (tensors->misfit == OP_FITS)
        tensors->misfit = find_absent(&c, &tensors->where);
    tensors->call = (struct op_call){.type = type,
                                     .module = module,
                                     .tensors = c.tensors,
                                     .n_tensors = c.count,
                                     .attr = attr_of_op,
                                     .user = user};
}

bool op_slot_number(const struct op_call *call, uint32_t slot, bool fallback, struct arena *arena,
                    int64_t *number)
{
    struct op_attr_value value;
    uint32_t by = call->type->slots[slot].by;
    const struct op_attr *attr = by == NONE ? NULL : &call->type->attrs[by];
    if (!attr)
        return false;
    if (!call->attr(call, attr, arena, &value))
        value = (struct op_attr_value){fallback ? attr->numbers : NULL, 1, NULL};
    if (value.numbers && value.count == 1)
        *number = value.numbers[0];
    return value.numbers && value.count == 1;
}

/* ------------------------------------------------------------------------- formats ---- */

/* Formats other than these have dimensions of their own, of which rules do not speak. */
uint32_t op_tensors_odd_format(const struct module *module, const struct op_tensors *tensors)
{
    static const char *const plain[] = {"ND",    "NCHW",  "NHWC",      "HWCN",
                                        "NDHWC", "NCDHW", "FRACTAL_NZ"};
    for (uint32_t i = 0; i < tensors->call.n_tensors; i++) {
        uint32_t format = module->types.at[tensors->places[i].type].format;
        size_t n = 0;
        while (n < sizeof plain / sizeof plain[0] && !name_is(module, format, plain[n]))
            n++;
        if (n == sizeof plain / sizeof plain[0])
            return format;
    }
    return NONE;
}
