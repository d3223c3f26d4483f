#include "passes/entry/ahead.h"
#include "passes/entry/call_site.h"

#include <assert.h>

void ahead_init(struct ahead *ahead, const struct superkernel *sk, enum core_type core)
{
    bool own_list = superkernel_is_two_lists(sk);
    uint32_t *call_of = superkernel_calls(sk, core);
    *ahead = (struct ahead){.program = &sk->entry->programs[core]};
    ahead->split = !own_list && sk->options.of[SK_early_start].number != 0;
    ahead->pairs = sk->options.of[SK_debug_dcci_all].number != 0;
    for (uint32_t i = 0; i < sk->count; i++) {
        uint32_t turn = own_list ? ahead->at.count : i;
        if (call_of[i] == NONE)
            continue;
        vec_push(&ahead->at, call_of[i]);
        vec_push(&ahead->turn, turn);
    }
    mem_free(call_of);
}

void ahead_free(struct ahead *ahead)
{
    vec_free(&ahead->at);
    vec_free(&ahead->turn);
}

/* Behind the arrivals at `i` where barriers are split, so that others need not wait for what is
 * brought in. */
static uint32_t behind_arrivals(const struct ahead *ahead, uint32_t i)
{
    while (ahead->split && program_has(ahead->program, i, INSTR_arrive))
        i++;
    return i;
}

/* In front of what is owed before the op of a turn. `before` is the number of calls of earlier
 * turns. */
static uint32_t place_before(const struct ahead *ahead, uint32_t before, uint32_t turn)
{
    if (before == 0)
        return behind_arrivals(ahead, 0);
    assert(before <= ahead->at.count);
    uint32_t i = call_site_behind_dcci(ahead->program, ahead->at.at[before - 1], ahead->pairs);
    if (ahead->turn.at[before - 1] + 1 == turn)
        return behind_arrivals(ahead, i);
    /* In between are ops of the other core type alone. Before the first of them the op here sends
     * its events. What leads to them arrives and sets; what leads from them to the next op here
     * waits. */
    for (i = call_site_behind_notify(ahead->program, i); i < ahead->program->instrs.count; i++) {
        uint8_t op = ahead->program->instrs.at[i].op;
        if (op == INSTR_call || op == INSTR_wait || op == INSTR_wait_event)
            break;
    }
    return i;
}

uint32_t ahead_place(struct ahead *ahead, uint32_t i)
{
    uint32_t turn = ahead->turn.at[i] ? ahead->turn.at[i] - 1 : 0;
    while (ahead->turn.at[ahead->before] < turn)
        ahead->before++;
    return place_before(ahead, ahead->before, turn);
}
