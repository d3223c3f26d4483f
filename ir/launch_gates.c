#include "ir/launch_gates.h"

static uint32_t superkernel_of(const struct graph *graph, uint32_t op)
{
    return graph_superkernel(graph, graph->ops.at[op].block);
}

static void add_pair(struct gates *gates, uint32_t to, uint32_t from)
{
    vec_push(&gates->pairs, ((struct order_pair){to, from, NONE}));
}

/* Gates stand before the first op of theirs that executes something. Among the ops of a super
 * kernel others may stand that run beside it. */
static void place_gates(struct gates *gates)
{
    const struct order *base = gates->base;
    struct order *order = &gates->order;
    for (uint32_t i = 0; i < base->n_ops; i++) {
        uint32_t block = superkernel_of(gates->graph, base->text[i]);
        bool passive = base->passive[base->text[i]];
        uint32_t *gate = block == NONE ? NULL : id_map_at(&gates->of_block, block);
        if (gate && *gate == NONE && !passive) {
            *gate = base->n_ops + gates->blocks.count;
            order->text[order->n_ops++] = *gate;
            gates->members[gates->blocks.count] = (struct range){i, 0};
            vec_push(&gates->blocks, block);
        }
        order->text[order->n_ops++] = base->text[i];
        if (gate && *gate != NONE) {
            struct range *members = &gates->members[*gate - base->n_ops];
            members->count = i + 1 - members->first;
        }
    }
}

/* Puts a node behind all of a launch. */
static void follow(struct gates *gates, uint32_t node, const struct gates_launch *launch)
{
    const struct order *base = gates->base;
    if (launch->op != NONE) {
        add_pair(gates, node, launch->op);
        return;
    }
    struct range members = gates->members[launch->gate - base->n_ops];
    uint32_t block = gates->blocks.at[launch->gate - base->n_ops];
    add_pair(gates, node, launch->gate);
    for (uint32_t i = members.first; i < members.first + members.count; i++)
        if (!base->passive[base->text[i]] && superkernel_of(gates->graph, base->text[i]) == block)
            add_pair(gates, node, base->text[i]);
}

static void add_launch(struct gates *gates, uint32_t node, uint32_t stream,
                       struct gates_launch launch)
{
    uint32_t *last = id_map_at(&gates->last, stream == NONE ? 0 : stream + 1);
    if (*last != NONE)
        follow(gates, node, &gates->launches.at[*last]);
    *last = gates->launches.count;
    vec_push(&gates->launches, launch);
}

static void link_node(struct gates *gates, uint32_t node)
{
    const struct order *base = gates->base;
    if (node >= base->n_ops) {
        uint32_t block = gates->blocks.at[node - base->n_ops];
        uint32_t label = attr_string(gates->module, gates->graph->blocks.at[block].attrs, W_stream);
        add_launch(gates, node, label == NONE ? NONE : stream_label(label),
                   (struct gates_launch){NONE, node});
        return;
    }
    uint32_t block = superkernel_of(gates->graph, node);
    if (base->passive[node])
        return;
    if (block == NONE)
        add_launch(gates, node, base->stream[node], (struct gates_launch){node, NONE});
    else
        add_pair(gates, node, id_map_get(&gates->of_block, block));
}

/* The edges of the base, and the pairs. */
static void join_edges(struct gates *gates)
{
    const struct order *base = gates->base;
    struct order *order = &gates->order;
    uint32_t n = order->n_ops, *fill = mem_calloc((size_t)n + 1, sizeof *fill);
    for (uint32_t i = 0; i < n; i++)
        order->first[i + 1] = i < base->n_ops ? base->first[i + 1] - base->first[i] : 0;
    for (uint32_t i = 0; i < gates->pairs.count; i++)
        order->first[gates->pairs.at[i].to + 1]++;
    for (uint32_t i = 0; i < n; i++)
        order->first[i + 1] += order->first[i];
    order->edges = mem_calloc(order->first[n], sizeof *order->edges);
    for (uint32_t i = 0; i < base->n_ops; i++)
        for (uint32_t e = base->first[i]; e < base->first[i + 1]; e++)
            order->edges[order->first[i] + fill[i]++] = base->edges[e];
    for (uint32_t i = 0; i < gates->pairs.count; i++) {
        uint32_t to = gates->pairs.at[i].to;
        order->edges[order->first[to] + fill[to]++].from = gates->pairs.at[i].from;
    }
    mem_free(fill);
}

void gates_init(struct gates *gates, const struct module *module, const struct graph *graph,
                const struct order *base)
{
    size_t room = (size_t)base->n_ops + graph->blocks.count + 1;
    *gates = (struct gates){.base = base, .module = module, .graph = graph};
    gates->order.first = mem_calloc(room + 1, sizeof(uint32_t));
    gates->order.text = mem_calloc(room, sizeof(uint32_t));
    gates->members = mem_calloc(room, sizeof *gates->members);
    gates->order.stream = base->stream;
    gates->order.passive = base->passive;
    place_gates(gates);
    for (uint32_t i = 0; i < gates->order.n_ops; i++)
        link_node(gates, gates->order.text[i]);
    join_edges(gates);
}

void gates_free(struct gates *gates)
{
    mem_free(gates->order.first);
    mem_free(gates->order.text);
    mem_free(gates->order.edges);
    mem_free(gates->members);
    id_map_free(&gates->of_block);
    id_map_free(&gates->last);
    vec_free(&gates->blocks);
    vec_free(&gates->pairs);
    vec_free(&gates->launches);
}
