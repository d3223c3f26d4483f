#include "passes/entry/superkernel.h"
#include "ir/members.h"
#include "ir/syntax/locate.h"
#include "passes/entry/records.h"

const struct op *superkernel_op(const struct superkernel *sk, uint32_t i)
{
    return &sk->graph->ops.at[sk->ops[i]];
}

const struct kernel *superkernel_kernel(const struct superkernel *sk, uint32_t i)
{
    return &sk->module->kernels.at[sk->kernel_index[superkernel_op(sk, i)->kernel] - 1];
}

uint32_t superkernel_index(const struct superkernel *sk, uint32_t op)
{
    uint32_t index = sk->index[op];
    return index < sk->count && sk->ops[index] == op ? index : NONE;
}

bool superkernel_has_part(const struct superkernel *sk, uint32_t i, enum core_type core)
{
    return kernel_type_has(superkernel_kernel(sk, i)->type, core);
}

bool superkernel_is_two_lists(const struct superkernel *sk)
{
    if (sk->options.of[SK_stream_fusion].number == 0)
        return false;
    for (uint32_t i = 1; i < sk->count; i++)
        if (!order_follows(sk->order, sk->ops[i - 1], sk->ops[i]))
            return true;
    return false;
}

struct slot_uses superkernel_slots(const struct superkernel *sk)
{
    struct slot_uses uses = {NULL, 0, 0};
    struct slots slots = {NULL, 0, 0};
    for (uint32_t i = 0; i < sk->count; i++) {
        slots.count = 0;
        slots_add_op(&slots, sk->module, sk->graph, superkernel_op(sk, i),
                     superkernel_kernel(sk, i));
        for (uint32_t n = 0; n < slots.count; n++)
            vec_push(&uses, (struct slot_use){i, slots.at[n].kind});
    }
    vec_free(&slots);
    return uses;
}

struct slot_use superkernel_slot(const struct superkernel *sk, const struct slot_uses *uses,
                                 uint32_t slot)
{
    if (slot < 1 || slot > uses->count)
        return (struct slot_use){sk->count, SLOT_WORD};
    return uses->at[slot - 1];
}

struct instr instr_make(enum instr_op op, uint8_t word)
{
    return (struct instr){
        .op = (uint8_t)op, .part = CORE_TYPES, .word = word, .loc = NONE, .kernel = NONE};
}

void program_replace(struct program *program, struct instrs *instrs)
{
    vec_free(&program->instrs);
    program->instrs.at = instrs->at;
    program->instrs.count = instrs->count;
    program->instrs.capacity = instrs->capacity;
    *instrs = (struct instrs){NULL, 0, 0};
}

/* Whether the entry calls the ops' kernels: a dump may have been edited. */
static bool calls_match(const struct superkernel *sk)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct program *program = &sk->entry->programs[core];
        uint32_t wanted = 0, calls = 0;
        for (uint32_t i = 0; i < sk->count; i++)
            wanted += superkernel_has_part(sk, i, core);
        for (uint32_t i = 0; i < program->instrs.count; i++)
            calls += program->instrs.at[i].op == INSTR_call;
        if (calls == wanted)
            continue;
        diag_at(sk->context->diags, DIAG_entry_calls, locate_name(sk->module, sk->entry->loc),
                "entry '@%.*s' calls %u kernels on %s, but its super kernel has %u there",
                NAME(sk->module, sk->entry->name), calls, core_type_name(core), wanted);
        return false;
    }
    return true;
}

/* Records of `profile` stand between what passes recognise by its place. They are none of a pass's
 * business, and their places follow from the rest. */
static bool visit_one(struct superkernel *sk, bool (*visit)(struct superkernel *sk))
{
    bool taken = records_take(sk), ok = visit(sk);
    if (taken && ok)
        records_make(sk);
    return ok;
}

static bool visit_graph(struct superkernel *sk, const uint32_t *entry_index,
                        bool (*visit)(struct superkernel *sk))
{
    struct members members;
    struct order order;
    bool ok = true;
    order_init(&order, sk->module, sk->graph);
    members_init_ordered(&members, sk->graph, &order);
    sk->order = &order;
    sk->index = members.index;
    for (uint32_t b = 0; b < sk->graph->blocks.count; b++) {
        const struct block *block = &sk->graph->blocks.at[b];
        if (block->kind != BLOCK_SUPERKERNEL)
            continue;
        sk->block = block;
        sk->entry = &sk->module->entries.at[entry_index[block->name] - 1];
        sk->ops = members.ops + members.first[b];
        sk->count = members.first[b + 1] - members.first[b];
        sk_options_of(&sk->options, sk->module, attr_string(sk->module, block->attrs, W_options));
        ok = calls_match(sk) && visit_one(sk, visit) && ok;
    }
    members_free(&members);
    order_free(&order);
    return ok;
}

bool superkernels_visit(struct pass_context *context, bool (*visit)(struct superkernel *sk))
{
    return superkernels_visit_with(context, visit, NULL);
}

bool superkernels_visit_with(struct pass_context *context, bool (*visit)(struct superkernel *sk),
                             void *user)
{
    struct module *module = context->module;
    uint32_t *kernel_index = module_kernel_index(module);
    uint32_t *entry_index = module_entry_index(module);
    struct superkernel sk = {
        .context = context, .module = module, .kernel_index = kernel_index, .user = user};
    bool ok = true;
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        sk.graph = &module->graphs.at[i];
        ok = visit_graph(&sk, entry_index, visit) && ok;
    }
    mem_free(kernel_index);
    mem_free(entry_index);
    return ok;
}
