#include "ir/slots.h"
#include "ir/operands.h"
#include "ir/variants.h"

static void push(struct slots *slots, enum slot_kind kind, uint32_t id)
{
    vec_push(slots, (struct slot){kind, id});
}

static void push_operand(struct slots *slots, const struct graph *graph, const struct op *op,
                         uint32_t place)
{
    struct operand operand = op_operand(graph, op, place);
    switch (operand.kind) {
    case OPERAND_VALUE: push(slots, SLOT_TENSOR, graph->refs.at[operand.values.first]); break;
    case OPERAND_NONE: push(slots, SLOT_NONE, NONE); break;
    case OPERAND_LIST: push(slots, SLOT_LIST, op_clauses(graph, op)->forms.first + place); break;
    }
}

static void add_params(struct slots *slots, const struct module *module, const struct graph *graph,
                       const struct op *op, const struct kernel *kernel)
{
    const struct attr *params = attr_find(module, kernel->attrs, W_params);
    uint32_t operands = op_n_places(graph, op), n = 0;
    uint32_t tensors = operands + op_tensor_results(module, graph, op);
    uint32_t count = params ? params->value.count : tensors;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t word = params ? module->attr_values.at[params->value.first + i].id : NONE;
        if (word == W_workspace || word == W_tiling)
            push(slots, SLOT_WORD, word);
        else if (n < operands)
            push_operand(slots, graph, op, op_param_place(graph, op, n++, word));
        else
            push(slots, SLOT_TENSOR, op->results.first + (n++ - operands));
    }
    assert(n == tensors); /* the verifier compares them */
}

static void add_events(struct slots *slots, const struct graph *graph, struct range events,
                       enum slot_kind kind)
{
    for (uint32_t i = 0; i < events.count; i++)
        push(slots, kind, graph->refs.at[events.first + i]);
}

void slots_add_op(struct slots *slots, const struct module *module, const struct graph *graph,
                  const struct op *op, const struct kernel *kernel)
{
    add_params(slots, module, graph, op, kernel);
    if (kernel_is_dynamic(module, kernel)) {
        push(slots, SLOT_TILING_KEY, NONE);
        push(slots, SLOT_BLOCK_NUM, NONE);
        push(slots, SLOT_LOCK, NONE);
    }
    add_events(slots, graph, op_clauses(graph, op)->send, SLOT_SEND);
    add_events(slots, graph, op_clauses(graph, op)->recv, SLOT_RECV);
}

static bool is_word(const struct module *module, const struct attr *params, uint32_t slot,
                    uint32_t word)
{
    assert(params->value.kind == ATTR_LIST && slot < params->value.count);
    const struct attr_value *value = &module->attr_values.at[params->value.first + slot];
    return value->kind == ATTR_WORD && value->id == word;
}

uint32_t slots_find_tiling(const struct module *module, const struct attr *params,
                           const struct kernel *kernel, uint32_t args)
{
    const struct attr *own = attr_find(module, kernel->attrs, W_params);
    if (!params || params->value.kind != ATTR_LIST)
        return NONE;
    uint64_t slot = (uint64_t)args + (own ? own->value.count : 0), count = params->value.count;
    /* Without `params` of its own, a kernel has as many as its op has tensors. */
    while (!own && slot < count && !is_word(module, params, (uint32_t)slot, W_tiling_key))
        slot++;
    bool found = slot + 2 < count && is_word(module, params, (uint32_t)slot, W_tiling_key) &&
                 is_word(module, params, (uint32_t)slot + 1, W_block_num) &&
                 is_word(module, params, (uint32_t)slot + 2, W_lock);
    return found ? (uint32_t)slot : NONE;
}

uint32_t slot_word(struct slot slot)
{
    assert(slot.kind > SLOT_LIST && slot.kind != SLOT_SEND && slot.kind != SLOT_RECV);
    switch (slot.kind) {
    case SLOT_TILING_KEY: return W_tiling_key;
    case SLOT_BLOCK_NUM: return W_block_num;
    case SLOT_LOCK: return W_lock;
    default: return slot.id;
    }
}

static uint32_t event_key(struct slot slot)
{
    return slot.kind == SLOT_SEND ? W_send : W_recv;
}

static struct attr_value named_value(const struct graph *graph, uint32_t value)
{
    return (struct attr_value){.kind = ATTR_VALUE, .id = graph->values.at[value].name};
}

static struct attr_value list_value(struct module *module, const struct graph *graph, uint32_t form)
{
    struct range values = graph->forms.at[form].values;
    uint32_t first = values.count ? module->attr_values.count : 0;
    for (uint32_t i = 0; i < values.count; i++)
        vec_push(&module->attr_values, named_value(graph, graph->refs.at[values.first + i]));
    return (struct attr_value){.kind = ATTR_LIST, .count = values.count, .first = first};
}

struct attr_value slot_value(struct module *module, const struct graph *graph, struct slot slot)
{
    if (slot.kind == SLOT_TENSOR)
        return named_value(graph, slot.id);
    if (slot.kind == SLOT_NONE)
        return (struct attr_value){.kind = ATTR_WORD, .id = W_none};
    if (slot.kind == SLOT_LIST)
        return list_value(module, graph, slot.id);
    if (slot.kind != SLOT_SEND && slot.kind != SLOT_RECV)
        return (struct attr_value){.kind = ATTR_WORD, .id = slot_word(slot)};
    struct attr event = {event_key(slot), NONE, {.kind = ATTR_WORD, .id = slot.id}};
    struct range range = module_add_attrs(module, &event, 1);
    return (struct attr_value){.kind = ATTR_DICT, .count = range.count, .first = range.first};
}

static bool value_is_named(const struct graph *graph, uint32_t value, const struct attr_value *name)
{
    return name->kind == ATTR_VALUE && name->id == graph->values.at[value].name;
}

static bool list_is_named(const struct module *module, const struct graph *graph, uint32_t form,
                          const struct attr_value *list)
{
    struct range values = graph->forms.at[form].values;
    bool same = list->kind == ATTR_LIST && list->count == values.count;
    for (uint32_t i = 0; same && i < values.count; i++)
        same = value_is_named(graph, graph->refs.at[values.first + i],
                              &module->attr_values.at[list->first + i]);
    return same;
}

bool slot_is_named(const struct module *module, const struct graph *graph, struct slot slot,
                   const struct attr_value *value)
{
    if (slot.kind == SLOT_TENSOR)
        return value_is_named(graph, slot.id, value);
    if (slot.kind == SLOT_NONE)
        return value->kind == ATTR_WORD && value->id == W_none;
    if (slot.kind == SLOT_LIST)
        return list_is_named(module, graph, slot.id, value);
    if (slot.kind != SLOT_SEND && slot.kind != SLOT_RECV)
        return value->kind == ATTR_WORD && value->id == slot_word(slot);
    if (value->kind != ATTR_DICT || value->count != 1)
        return false;
    const struct attr *event = &module->attrs.at[value->first];
    /* An event that is a number is printed, and read again, as a string. */
    return event->key == event_key(slot) && event->value.id == slot.id &&
           (event->value.kind == ATTR_WORD || event->value.kind == ATTR_STRING);
}

uint32_t entry_slot(const struct module *module, const struct entry *entry, uint32_t word)
{
    const struct attr *params = attr_find(module, entry->attrs, W_params);
    for (uint32_t i = 0; params && params->value.kind == ATTR_LIST && i < params->value.count; i++)
        if (is_word(module, params, i, word))
            return i;
    return NONE;
}

uint32_t entry_profile_slot(const struct module *module, const struct entry *entry)
{
    const struct attr *params = attr_find(module, entry->attrs, W_params);
    uint32_t count = params && params->value.kind == ATTR_LIST ? params->value.count : 0;
    bool found = count > 2 && is_word(module, params, count - 2, W_profiling) &&
                 is_word(module, params, count - 1, W_profiling);
    return found ? count - 2 : NONE;
}

void slots_add_entry(struct slots *slots, const struct module *module, const struct entry *entry)
{
    if (entry_slot(module, entry, W_sync_workspace) != NONE)
        push(slots, SLOT_WORD, W_sync_workspace);
    if (entry_profile_slot(module, entry) == NONE)
        return;
    push(slots, SLOT_WORD, W_profiling);
    push(slots, SLOT_WORD, W_profiling);
}
