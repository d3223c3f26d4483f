#include "ir/kernels.h"
#include "ir/operands.h"
#include "ir/slots.h"

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
        else if (n >= operands)
            push(slots, SLOT_TENSOR, op->results.first + (n++ - operands));
        else {
            push_operand(slots, graph, op, params ? op_param_place(graph, op, n, word) : n);
            n++;
        }
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

static struct arg list_arg(struct entry *entry, const struct graph *graph, uint32_t form)
{
    struct range values = graph->forms.at[form].values;
    uint32_t first = entry->listed.count;
    for (uint32_t i = 0; i < values.count; i++)
        vec_push(&entry->listed, graph->values.at[graph->refs.at[values.first + i]].name);
    return (struct arg){.kind = ARG_LIST, .id = first, .count = values.count};
}

struct arg slot_arg(struct entry *entry, const struct graph *graph, struct slot slot)
{
    switch (slot.kind) {
    case SLOT_TENSOR: return (struct arg){.kind = ARG_VALUE, .id = graph->values.at[slot.id].name};
    case SLOT_NONE: return (struct arg){.kind = ARG_NONE, .id = NONE};
    case SLOT_LIST: return list_arg(entry, graph, slot.id);
    case SLOT_SEND: return (struct arg){.kind = ARG_SEND, .id = slot.id};
    case SLOT_RECV: return (struct arg){.kind = ARG_RECV, .id = slot.id};
    default: return (struct arg){.kind = ARG_WORD, .id = slot_word(slot)};
    }
}

static bool list_is_arg(const struct entry *entry, const struct graph *graph, uint32_t form,
                        const struct arg *arg)
{
    struct range values = graph->forms.at[form].values;
    bool same = arg->kind == ARG_LIST && arg->count == values.count;
    for (uint32_t i = 0; same && i < values.count; i++)
        same = entry->listed.at[arg->id + i] ==
               graph->values.at[graph->refs.at[values.first + i]].name;
    return same;
}

bool slot_is_arg(const struct entry *entry, const struct graph *graph, struct slot slot,
                 const struct arg *arg)
{
    switch (slot.kind) {
    case SLOT_TENSOR: return arg->kind == ARG_VALUE && arg->id == graph->values.at[slot.id].name;
    case SLOT_NONE: return arg->kind == ARG_NONE;
    case SLOT_LIST: return list_is_arg(entry, graph, slot.id, arg);
    case SLOT_SEND: return arg->kind == ARG_SEND && arg->id == slot.id;
    case SLOT_RECV: return arg->kind == ARG_RECV && arg->id == slot.id;
    default: return arg->kind == ARG_WORD && arg->id == slot_word(slot);
    }
}

void slots_add_entry(struct slots *slots, const struct entry *entry)
{
    if (entry_slot(entry, W_sync_workspace) != NONE)
        push(slots, SLOT_WORD, W_sync_workspace);
    if (entry_slot(entry, W_tracing) != NONE)
        push(slots, SLOT_WORD, W_tracing);
    if (entry_profile_slot(entry) == NONE)
        return;
    push(slots, SLOT_WORD, W_profiling);
    push(slots, SLOT_WORD, W_profiling);
}

/* ------------------------------------------------------------------------ group names ---- */

static bool take_word(struct group_namer *namer, uint32_t word)
{
    uint32_t *number = id_map_at(&namer->numbers, word);
    if (*number != NONE)
        return false;
    *number = 0;
    vec_push(&namer->taken, word);
    return true;
}

struct group_name group_name_of(struct group_namer *namer, const struct graph *graph,
                                const struct op *op)
{
    if (op->results.count) {
        uint32_t tensors = op_tensor_results(namer->module, graph, op);
        uint32_t last = op->results.first + (tensors ? tensors - 1 : 0);
        return (struct group_name){graph->values.at[last].name, false};
    }
    uint32_t word = op->type;
    while (!take_word(namer, word))
        word = module_name_printf(namer->module, "%.*s_%u", NAME(namer->module, op->type),
                                  ++*id_map_at(&namer->numbers, op->type));
    return (struct group_name){word, true};
}

void group_namer_clear(struct group_namer *namer)
{
    for (uint32_t i = 0; i < namer->taken.count; i++)
        id_map_unset(&namer->numbers, namer->taken.at[i]);
    namer->taken.count = 0;
}

void group_namer_free(struct group_namer *namer)
{
    id_map_free(&namer->numbers);
    vec_free(&namer->taken);
}
