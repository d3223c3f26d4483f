/* A graph of the module that is made of a dumped one. Used by the files of this folder only. */
#ifndef FRONTEND_EXCHANGE_DUMP_MAKER_H
#define FRONTEND_EXCHANGE_DUMP_MAKER_H

#include "frontend/exchange/dump/infer.h"
#include "frontend/exchange/dump/links.h"

struct dump_maker {
    struct dump *dump;
    struct module *module;
    struct dump_linker linker;
    uint32_t *n_args;    /* by graph: how many parameters those who call it give it */
    uint32_t *n_returns; /* by graph: how many values it returns */
    /* The graph at hand. */
    uint32_t index;
    struct graph *out;
    struct dump_links links;
    uint32_t *order;         /* the nodes in the order of the text */
    struct range *outputs;   /* by node: in `given`; empty before it is made */
    struct vec_u32 given;    /* values; NONE for an output that nothing takes */
    struct vec_u32 params;   /* values of dump_graph.params, by index */
    struct dump_names taken; /* value names: `id` counts those that were made of this one */
    /* Where the text stands: blocks, or NONE. */
    uint32_t scope_block, stream_block;
    uint32_t scope, stream;     /* their names */
    struct dump_names told;     /* by scope: `id` is its options */
    struct dump_names priority; /* by stream label: `id` is its priority */
    struct vec_u32 values;      /* under construction */
    /* By value: whether something that has effects, or waits, comes before it. */
    VEC(bool) ordered;
    struct dump_inference inference;
    struct translator translator;
    VEC(struct operand) forms;
    VEC(struct attr) attrs;
};

static inline const struct dump_graph *maker_graph(const struct dump_maker *maker)
{
    return &maker->dump->graphs.at[maker->index];
}

static inline const struct dump_node *maker_node(const struct dump_maker *maker, uint32_t node)
{
    return &maker_graph(maker)->nodes.at[node];
}

/* A name that no value of the graph has, and the same for the next one. */
uint32_t maker_name(struct dump_maker *maker, uint32_t name);
/* The type, that of nothing known where it is NONE. */
uint32_t maker_type(struct dump_maker *maker, uint32_t type);
/* The value that a link leads to; NONE where it leads nowhere. */
uint32_t maker_value(const struct dump_maker *maker, const struct dump_link *link);
/* The node gives these values, one after the other. */
void maker_give(struct dump_maker *maker, uint32_t node, struct range values);
static inline bool maker_made(const struct dump_maker *maker, uint32_t node)
{
    return maker->outputs[node].count > 0;
}

/* Adds the ops of a node, in the blocks that it belongs to (make_node.c). */
void maker_add_node(struct dump_maker *maker, uint32_t node);
/* Adds the op of a node that is not translated (make_op.c). */
void maker_add_op(struct dump_maker *maker, uint32_t node, uint32_t block);
/* Notes whether the results of an op that was added are ordered. `effects` says that the op may do
 * more than give its results (make_op.c). */
void maker_note_order(struct dump_maker *maker, uint32_t op, bool effects);
/* The values of the nodes that this one follows, in maker->values. */
void maker_take_order(struct dump_maker *maker, const struct dump_node *node);
/* The name of an output: its own, or the node's, with its number after the first. No other value
 * gets it. */
uint32_t maker_output_name(struct dump_maker *maker, const struct dump_node *node, uint32_t output);
/* The attributes of a node, which name graphs as the module does. */
struct range maker_settled_attrs(struct dump_maker *maker, const struct dump_node *node);
/* The type of the op of a node that is not translated: in the namespace of its dialect. */
uint32_t dump_foreign_type(struct dump *dump, const struct dump_node *node);
/* The data inputs of a node as operands: their values in maker->values, forms in maker->forms
 * (make_operands.c). What is returned are no operands. */
void maker_take_operands(struct dump_maker *maker, const struct dump_node *node);
/* How they are written, their values beginning at `first` in the graph's refs. */
struct range maker_add_forms(struct dump_maker *maker, uint32_t first);
/* The index of the graph that a symbol names, or NONE. */
uint32_t maker_named_graph(const struct dump_maker *maker, const struct attr_value *value);

/* The same of the first element of a list, too. */
uint32_t maker_first_graph(const struct dump_maker *maker, const struct attr_value *value);

/* Opens and closes blocks before an op of the node (make_blocks.c). */
void maker_enter(struct dump_maker *maker, const struct dump_node *node);
void maker_leave(struct dump_maker *maker);

#endif
