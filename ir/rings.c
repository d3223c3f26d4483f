#include "ir/rings.h"

#include <assert.h>

void rings_init(struct rings *rings, const struct order *order)
{
    *rings = (struct rings){.order = order};
    rings->at = mem_calloc(order->n_ops, sizeof *rings->at);
    rings->behind = mem_calloc(order->n_ops, 1);
    rings->before = mem_calloc(order->n_ops, 1);
    for (uint32_t i = 0; i < order->n_ops; i++)
        rings->at[i] = NONE;
}

void rings_free(struct rings *rings)
{
    mem_free(rings->at);
    mem_free(rings->behind);
    mem_free(rings->before);
}

/* Ops that execute nothing make no ring: nobody has to be told of them. */
static bool counts(const struct rings *rings, uint32_t op, uint8_t place)
{
    return place == RING_OWN && !rings->order->passive[op];
}

static void take(struct rings *rings, const uint32_t *ops, uint32_t i, const uint8_t *places)
{
    uint32_t op = ops[i];
    for (uint32_t e = rings->order->first[op]; e < rings->order->first[op + 1]; e++) {
        uint32_t from = rings->order->edges[e].from, at = rings->at[from];
        assert(at == NONE || at < i);
        rings->behind[op] |= at != NONE && (counts(rings, from, places[at]) || rings->behind[from]);
    }
}

static void take_back(struct rings *rings, const uint32_t *ops, uint32_t i, const uint8_t *places)
{
    uint32_t op = ops[i];
    if (!counts(rings, op, places[i]) && !rings->before[op])
        return;
    for (uint32_t e = rings->order->first[op]; e < rings->order->first[op + 1]; e++)
        rings->before[rings->order->edges[e].from] = 1;
}

/* What an op needs that comes before the launch comes before it as well; it executes nothing. */
static void move_before(const struct rings *rings, uint32_t op, uint8_t *places)
{
    for (uint32_t e = rings->order->first[op]; e < rings->order->first[op + 1]; e++) {
        uint32_t at = rings->at[rings->order->edges[e].from];
        if (at != NONE)
            places[at] = RING_BEFORE;
    }
}

/* And what needs an op that comes behind it, behind. */
static bool moves_behind(const struct rings *rings, uint32_t op, const uint8_t *places)
{
    for (uint32_t e = rings->order->first[op]; e < rings->order->first[op + 1]; e++) {
        uint32_t at = rings->at[rings->order->edges[e].from];
        if (at != NONE && places[at] == RING_BEHIND)
            return true;
    }
    return false;
}

void rings_place(struct rings *rings, const uint32_t *ops, uint32_t count, uint8_t *places)
{
    for (uint32_t i = 0; i < count; i++) {
        rings->at[ops[i]] = i;
        rings->behind[ops[i]] = rings->before[ops[i]] = 0;
    }
    for (uint32_t i = 0; i < count; i++)
        take(rings, ops, i, places);
    for (uint32_t i = count; i-- > 0;)
        take_back(rings, ops, i, places);
    for (uint32_t i = 0; i < count; i++)
        if (places[i] != RING_OWN)
            places[i] = !rings->behind[ops[i]]  ? RING_BEFORE
                        : rings->before[ops[i]] ? RING_BESIDE
                                                : RING_BEHIND;
    for (uint32_t i = count; i-- > 0;)
        if (places[i] == RING_BEFORE)
            move_before(rings, ops[i], places);
    for (uint32_t i = 0; i < count; i++)
        if (places[i] == RING_OWN && moves_behind(rings, ops[i], places))
            places[i] = RING_BEHIND;
    for (uint32_t i = 0; i < count; i++)
        rings->at[ops[i]] = NONE;
}
