#include "passes/launches/move_waits.h"

/* Waits of one op, or of one super kernel, in their order. */
struct groups {
    struct id_map last; /* by op or block: the place of its last wait */
    uint32_t *next;     /* per wait: the next one of its group; that of the last is the first */
};

static void groups_add(struct groups *groups, uint32_t key, uint32_t wait)
{
    uint32_t *last = id_map_at(&groups->last, key);
    groups->next[wait] = wait;
    if (*last != NONE) {
        groups->next[wait] = groups->next[*last];
        groups->next[*last] = wait;
    }
    *last = wait;
}

/* Whether a wait is the last of its group: that is looked at once. */
static bool is_last(const struct groups *groups, uint32_t key, uint32_t wait)
{
    return id_map_find(&groups->last, key) == wait;
}

static void groups_free(struct groups *groups)
{
    id_map_free(&groups->last);
    mem_free(groups->next);
}

/* The op of this wait no longer receives what waits of its group are for. */
static void take_from_op(struct graph *graph, const struct moved_wait *waits,
                         const struct groups *groups, uint32_t last, struct id_map *taken)
{
    uint32_t op = waits[last].op, i = last;
    struct clauses *clauses = &graph->clauses.at[graph->ops.at[op].clauses];
    struct vec_u32 left = {NULL, 0, 0};
    do {
        i = groups->next[i];
        id_map_set(taken, waits[i].event, op);
    } while (i != last);
    for (uint32_t k = 0; k < clauses->recv.count; k++) {
        uint32_t event = graph->refs.at[clauses->recv.first + k];
        if (id_map_find(taken, event) != op)
            vec_push(&left, event);
    }
    clauses->recv = graph_add_refs(graph, left.at, left.count);
    vec_free(&left);
}

static void give_to_block(struct graph *graph, const struct moved_wait *waits,
                          const struct groups *groups, uint32_t last, uint32_t block)
{
    struct range *recv = &graph->blocks.at[block].recv;
    struct vec_u32 all = {NULL, 0, 0};
    uint32_t wait = last;
    for (uint32_t i = 0; i < recv->count; i++)
        vec_push(&all, graph->refs.at[recv->first + i]);
    do {
        wait = groups->next[wait];
        vec_push(&all, waits[wait].event);
    } while (wait != last);
    *recv = graph_add_refs(graph, all.at, all.count);
    vec_free(&all);
}

static uint32_t block_of(const struct graph *graph, const struct moved_wait *wait)
{
    return graph_superkernel(graph, graph->ops.at[wait->op].block);
}

void move_waits(struct graph *graph, const struct moved_wait *waits, uint32_t count)
{
    struct groups of_op = {.next = mem_calloc(count, sizeof(uint32_t))},
                  of_block = {.next = mem_calloc(count, sizeof(uint32_t))};
    struct id_map taken = {NULL, 0, 0}; /* by event: the op that it was taken from last */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = block_of(graph, &waits[i]);
        if (block == NONE)
            continue;
        groups_add(&of_op, waits[i].op, i);
        groups_add(&of_block, block, i);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = block_of(graph, &waits[i]);
        if (is_last(&of_op, waits[i].op, i))
            take_from_op(graph, waits, &of_op, i, &taken);
        if (block != NONE && is_last(&of_block, block, i))
            give_to_block(graph, waits, &of_block, i, block);
    }
    id_map_free(&taken);
    groups_free(&of_op);
    groups_free(&of_block);
}
