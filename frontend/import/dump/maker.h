/* A graph of the module that is made of a dumped one. Used by the files of this folder only. */
#ifndef FRONTEND_IMPORT_DUMP_MAKER_H
#define FRONTEND_IMPORT_DUMP_MAKER_H

#include "frontend/import/dump/links.h"
#include "frontend/import/translate/translate.h"
#include "ir/core/module.h"

/* Zero-initialised is ready. */
struct dump_inference {
    struct written_marks written; /* those of dump_mark_written */
    struct arena scratch;
};

void dump_inference_free(struct dump_inference *all);

/* Tells the inference that the graph has nothing yet. */
static inline void dump_infer_begin(struct dump_inference *all)
{
    all->written.count = 0;
}

/* The results of an op may be written to: nothing follows from their contents. Needed before ops
 * that use them. */
void dump_mark_written(struct dump_inference *all, const struct graph *graph, const struct op *op);

/* Gives the results of an op whose dtype or rank is not known what the data of the op's type says,
 * by its operands, the contents of constants among them, and attributes. What it does not say stays
 * unknown. */
void dump_infer(struct dump_inference *all, struct module *module, struct graph *graph,
                const struct op *op);

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
static inline uint32_t maker_value(const struct dump_maker *maker, const struct dump_link *link)
{
    switch (link->kind) {
    case LINK_PARAM: return maker->params.at[link->id];
    case LINK_NODE:
        return link->output < maker->outputs[link->id].count
                   ? maker->given.at[maker->outputs[link->id].first + link->output]
                   : NONE;
    default: return NONE;
    }
}

/* The node gives these values, one after the other. */
void maker_give(struct dump_maker *maker, uint32_t node, struct range values);
static inline bool maker_made(const struct dump_maker *maker, uint32_t node)
{
    return maker->outputs[node].count > 0;
}

/* Adds the ops of a node, in the blocks that it belongs to. */
void maker_add_node(struct dump_maker *maker, uint32_t node);
/* The data inputs of a node as operands: their values in maker->values, forms in maker->forms. What
 * is returned are no operands. */
void maker_take_operands(struct dump_maker *maker, const struct dump_node *node);
/* How they are written, their values beginning at `first` in the graph's refs. */
struct range maker_add_forms(struct dump_maker *maker, uint32_t first);
/* The index of the graph that a symbol names, or NONE. */
uint32_t maker_named_graph(const struct dump_maker *maker, const struct attr_value *value);

/* The same of the first element of a list, too. */
uint32_t maker_first_graph(const struct dump_maker *maker, const struct attr_value *value);

void maker_leave(struct dump_maker *maker);

#endif
