#include "backend/device/race.h"
#include "ir/members.h"
#include "ir/syntax/spelling.h"

#include <assert.h>
#include <string.h>

/* Two ops may be ordered for several reasons. */
static void place_orders(const struct device_race_source *source, struct arena *arena,
                         struct skrt_race_check *check)
{
    const struct order *order = source->order;
    struct id_map seen = {NULL, 0, 0}; /* by place: the last op behind it so far */
    VEC(struct skrt_order) orders = {NULL, 0, 0};
    for (uint32_t i = 0; i < source->count; i++) {
        uint32_t op = source->ops[i];
        for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++) {
            uint32_t from =
                members_place(source->index, source->ops, source->count, order->edges[e].from);
            if (from == NONE || id_map_find(&seen, from) == i)
                continue;
            id_map_set(&seen, from, i);
            vec_push(&orders, (struct skrt_order){from, i});
        }
    }
    struct skrt_order *copy = arena_alloc(arena, (orders.count + 1) * sizeof *copy);
    if (orders.count)
        memcpy(copy, orders.at, orders.count * sizeof *copy);
    check->orders = copy;
    check->n_orders = orders.count;
    vec_free(&orders);
    id_map_free(&seen);
}

struct device_calls device_calls_find(const struct program *program, const uint32_t *grouped,
                                      uint32_t n_ops, struct arena *arena)
{
    uint32_t *calls = arena_alloc(arena, (n_ops + 1) * sizeof *calls), n = 0;
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        const struct instr *call = &program->instrs.at[i];
        if (call->op != INSTR_call)
            continue;
        assert(n < n_ops && call->number[0] < n_ops);
        calls[n++] = grouped[call->number[0]];
    }
    return (struct device_calls){calls, n};
}

void device_race_check(const struct device_race_source *source, struct arena *arena,
                       struct skrt_race_check *check)
{
    const char **names = arena_alloc(arena, (source->count + 1) * sizeof *names);
    *check = (struct skrt_race_check){.n_ops = source->count, .names = names};
    for (int core = 0; core < CORE_TYPES; core++) {
        check->calls[core] = source->calls[core].at;
        check->n_calls[core] = source->calls[core].count;
    }
    for (uint32_t i = 0; i < source->count; i++)
        names[i] = op_call_text(source->module, source->graph,
                                &source->graph->ops.at[source->ops[i]], arena);
    place_orders(source, arena, check);
}
