#include "passes/entry/superkernel.h"

#include <assert.h>

const struct op *superkernel_op(const struct superkernel *sk, uint32_t i)
{
    assert(i < sk->count);
    return &sk->graph->ops.at[sk->ops[i]];
}

const struct kernel *superkernel_kernel(const struct superkernel *sk, uint32_t i)
{
    return module_kernel(sk->module, superkernel_op(sk, i)->kernel);
}

uint32_t superkernel_index(const struct superkernel *sk, uint32_t op)
{
    return members_place(sk->index, sk->ops, sk->count, op);
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
