#include "ir/core/kernel.h"
#include "ir/core/kernel_args.h"
#include "ir/core/operands.h"

uint32_t entry_named_groups(const struct entry *entry)
{
    uint32_t count = entry->groups.count;
    while (count > 0 && entry->groups.at[count - 1].name == NONE)
        count--;
    return count;
}

/* ---------------------------------------------------------------------------- making ---- */

void entry_add_group(struct entry *entry, uint32_t name, bool word, uint32_t loc)
{
    vec_push(&entry->groups, (struct arg_group){name, word, loc, {entry->args.count, 0}});
}

void entry_add_arg(struct entry *entry, struct arg arg)
{
    assert(entry->groups.count > 0);
    vec_push(&entry->args, arg);
    entry->groups.at[entry->groups.count - 1].args.count++;
}

void entry_insert_words(struct entry *entry, uint32_t at, uint32_t word, uint32_t count)
{
    struct arg_group *groups = entry->groups.at;
    assert(at >= entry_named_groups(entry) && at <= entry->groups.count && count > 0);
    uint32_t first = at < entry->groups.count ? groups[at].args.first : entry->args.count;
    vec_reserve(&entry->args, count);
    memmove(entry->args.at + first + count, entry->args.at + first,
            (entry->args.count - first) * sizeof *entry->args.at);
    entry->args.count += count;
    for (uint32_t i = 0; i < count; i++)
        entry->args.at[first + i] = (struct arg){.kind = ARG_WORD, .id = word};
    for (uint32_t i = at; i < entry->groups.count; i++)
        groups[i].args.first += count;
    vec_reserve(&entry->groups, 1);
    memmove(entry->groups.at + at + 1, entry->groups.at + at,
            (entry->groups.count - at) * sizeof *entry->groups.at);
    entry->groups.count++;
    entry->groups.at[at] = (struct arg_group){NONE, false, NONE, {first, count}};
}

/* ----------------------------------------------------------------------------- words ---- */

static bool is_word(const struct entry *entry, uint32_t arg, uint32_t word)
{
    return entry->args.at[arg].kind == ARG_WORD && entry->args.at[arg].id == word;
}

uint32_t entry_slot(const struct entry *entry, uint32_t word)
{
    for (uint32_t g = entry_named_groups(entry); g < entry->groups.count; g++) {
        struct range args = entry->groups.at[g].args;
        for (uint32_t i = args.first; i < args.first + args.count; i++)
            if (is_word(entry, i, word))
                return arg_slot(entry, i);
    }
    return NONE;
}

uint32_t entry_profile_slot(const struct entry *entry)
{
    uint32_t slot = entry_slot(entry, W_profiling);
    uint32_t next = slot + 1 - arg_slot(entry, 0); /* among the arguments */
    bool found = slot != NONE && next < entry->args.count && is_word(entry, next, W_profiling);
    return found ? slot : NONE;
}

uint32_t group_find_tiling(const struct entry *entry, const struct arg_group *group)
{
    uint32_t end = group->args.first + group->args.count;
    for (uint32_t i = group->args.first; i + 2 < end; i++)
        if (is_word(entry, i, W_tiling_key) && is_word(entry, i + 1, W_block_num) &&
            is_word(entry, i + 2, W_lock))
            return arg_slot(entry, i);
    return NONE;
}

/* ---------------------------------------------------------------------------- events ---- */

static struct id_map *map_of(struct event_slots *slots, const struct arg *arg)
{
    return arg->kind == ARG_SEND ? &slots->sends : arg->kind == ARG_RECV ? &slots->recvs : NULL;
}

void event_slots_take(struct event_slots *slots, const struct entry *entry)
{
    for (uint32_t i = 0; i < entry->args.count; i++) {
        struct id_map *map = map_of(slots, &entry->args.at[i]);
        if (map && id_map_find(map, entry->args.at[i].id) == NONE)
            id_map_set(map, entry->args.at[i].id, arg_slot(entry, i));
    }
}

void event_slots_leave(struct event_slots *slots, const struct entry *entry)
{
    for (uint32_t i = 0; i < entry->args.count; i++) {
        struct id_map *map = map_of(slots, &entry->args.at[i]);
        if (map)
            id_map_unset(map, entry->args.at[i].id);
    }
}

void event_slots_free(struct event_slots *slots)
{
    id_map_free(&slots->sends);
    id_map_free(&slots->recvs);
}

uint32_t instr_event_slot(const struct event_slots *slots, const struct entry *entry,
                          const struct instr *instr)
{
    assert(instr_info(instr->op)->effect == EFFECT_EVENT);
    if (!instr->word)
        return id_map_find(instr->op == INSTR_notify ? &slots->sends : &slots->recvs,
                           instr->number[0]);
    uint32_t tiling = group_find_tiling(entry, &entry->groups.at[instr->number[0]]);
    return tiling == NONE ? NONE : tiling + 2;
}

static void push(struct slots *slots, enum slot_kind kind, uint32_t id)
{
    vec_push(slots, (struct slot){kind, id});
}

void slots_add_op(struct slots *slots, const struct module *module, const struct graph *graph,
                  const struct op *op, const struct kernel *kernel)
{
    const struct attr *params = attr_find(module, kernel->attrs, W_params);
    const struct clauses *clauses = op_clauses(graph, op);
    uint32_t operands = op_n_places(graph, op), n = 0;
    uint32_t tensors = operands + op_tensor_results(module, graph, op);
    for (uint32_t i = 0; i < (params ? params->value.count : tensors); i++) {
        uint32_t word = params ? module->attr_values.at[params->value.first + i].id : NONE;
        if (word == W_workspace || word == W_tiling) {
            push(slots, SLOT_WORD, word);
            continue;
        }
        if (n >= operands) {
            push(slots, SLOT_TENSOR, op->results.first + (n++ - operands));
            continue;
        }
        uint32_t place = params ? op_param_place(graph, op, n, word) : n;
        struct operand operand = op_operand(graph, op, place);
        if (operand.kind == OPERAND_VALUE)
            push(slots, SLOT_TENSOR, graph->refs.at[operand.values.first]);
        else if (operand.kind == OPERAND_LIST)
            push(slots, SLOT_LIST, clauses->forms.first + place);
        else
            push(slots, SLOT_NONE, NONE);
        n++;
    }
    assert(n == tensors); /* the verifier compares them */
    if (kernel_is_dynamic(module, kernel)) {
        push(slots, SLOT_TILING_KEY, NONE);
        push(slots, SLOT_BLOCK_NUM, NONE);
        push(slots, SLOT_LOCK, NONE);
    }
    for (uint32_t i = 0; i < clauses->send.count; i++)
        push(slots, SLOT_SEND, graph->refs.at[clauses->send.first + i]);
    for (uint32_t i = 0; i < clauses->recv.count; i++)
        push(slots, SLOT_RECV, graph->refs.at[clauses->recv.first + i]);
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

/* Of a slot that is no list. */
static struct arg plain_arg(const struct graph *graph, struct slot slot)
{
    switch (slot.kind) {
    case SLOT_TENSOR: return (struct arg){.kind = ARG_VALUE, .id = graph->values.at[slot.id].name};
    case SLOT_NONE: return (struct arg){.kind = ARG_NONE, .id = NONE};
    case SLOT_SEND: return (struct arg){.kind = ARG_SEND, .id = slot.id};
    case SLOT_RECV: return (struct arg){.kind = ARG_RECV, .id = slot.id};
    default: return (struct arg){.kind = ARG_WORD, .id = slot_word(slot)};
    }
}

struct arg slot_arg(struct entry *entry, const struct graph *graph, struct slot slot)
{
    if (slot.kind != SLOT_LIST)
        return plain_arg(graph, slot);
    struct range values = graph->forms.at[slot.id].values;
    uint32_t first = entry->listed.count;
    for (uint32_t i = 0; i < values.count; i++)
        vec_push(&entry->listed, graph->values.at[graph->refs.at[values.first + i]].name);
    return (struct arg){.kind = ARG_LIST, .id = first, .count = values.count};
}

bool slot_is_arg(const struct entry *entry, const struct graph *graph, struct slot slot,
                 const struct arg *arg)
{
    if (slot.kind != SLOT_LIST) {
        struct arg wanted = plain_arg(graph, slot);
        return arg->kind == wanted.kind && (arg->kind == ARG_NONE || arg->id == wanted.id);
    }
    struct range values = graph->forms.at[slot.id].values;
    bool same = arg->kind == ARG_LIST && arg->count == values.count;
    for (uint32_t i = 0; same && i < values.count; i++)
        same = entry->listed.at[arg->id + i] ==
               graph->values.at[graph->refs.at[values.first + i]].name;
    return same;
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

struct group_name group_name_of(struct group_namer *namer, const struct graph *graph,
                                const struct op *op)
{
    if (op->results.count) {
        uint32_t tensors = op_tensor_results(namer->module, graph, op);
        uint32_t last = op->results.first + (tensors ? tensors - 1 : 0);
        return (struct group_name){graph->values.at[last].name, false};
    }
    uint32_t word = op->type;
    while (id_map_find(&namer->numbers, word) != NONE)
        word = module_name_printf(namer->module, "%.*s_%u", NAME(namer->module, op->type),
                                  ++*id_map_at(&namer->numbers, op->type));
    id_map_set(&namer->numbers, word, 0);
    vec_push(&namer->taken, word);
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
