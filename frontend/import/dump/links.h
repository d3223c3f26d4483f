/* What the inputs of a dumped graph's nodes are: names resolved. */
#ifndef FRONTEND_IMPORT_DUMP_LINKS_H
#define FRONTEND_IMPORT_DUMP_LINKS_H

#include "frontend/import/dump/dump.h"

enum dump_link_kind {
    LINK_NOTHING, /* absent, or cut */
    LINK_NODE,    /* output `output` of node `id`; for order: the node */
    LINK_PARAM,   /* parameter `id` of dump_graph.params */
};

struct dump_link {
    uint32_t kind;
    uint32_t id, output;
};

/* Of one graph. */
struct dump_links {
    struct dump_link *inputs;  /* by index in graph.inputs */
    struct dump_link *returns; /* by index in graph.returns */
    uint32_t *n_outputs;       /* by node: those declared, and those that somebody takes */
    /* By node: 1: something takes an output, 2: something waits for it, 4: something may write into
     * an output. */
    uint8_t *used;
    uint64_t *taken; /* by node: its outputs that something takes; the last bit is of all further
                      * ones */
};

/* By name id: what has the name in the graph at hand. Many graphs share one table: what was set for
 * one before does not count. */
struct dump_names {
    struct dump_name {
        uint32_t turn; /* that of the graph that it was set for */
        uint32_t id, output;
    } * at;
    uint32_t count, capacity;
    uint32_t turn;
};

/* The next graph's turn: nothing has a name. */
void dump_names_next(struct dump_names *names);
/* NULL where nothing has the name. */
struct dump_name *dump_names_find(const struct dump_names *names, uint32_t name);
/* The first one keeps the name. Returns it where there was one. */
struct dump_name *dump_names_set(struct dump_names *names, uint32_t name, uint32_t id,
                                 uint32_t output);

struct dump_linker {
    struct dump *dump;
    /* By node name: `id` is the node's index; `output` NONE, or that of another of this name. */
    struct dump_names nodes;
    /* By value name: an `output` of node `id`; or, where this is NONE, a parameter. */
    struct dump_names values;
};

void dump_linker_free(struct dump_linker *linker);

/* Adds to the graphs that use values of those around them parameters, and to the nodes that hold
 * these graphs inputs, so that no graph uses an outer value. */
void dump_capture(struct dump_linker *linker);

/* Appends the graphs that a node's attributes name: of those within the graph `outer`, or, where
 * this is NONE, all. */
void dump_named_graphs(const struct dump *dump, const struct dump_node *node, uint32_t outer,
                       struct vec_u32 *graphs);

/* Resolves the names of a graph. What nothing gives is an error, or becomes a parameter where the
 * options say so. */
void dump_link_graph(struct dump_linker *linker, uint32_t graph, struct dump_links *links);
void dump_links_free(struct dump_links *links);

/* Marks the nodes whose outputs others may write to, directly or through views. */
void dump_link_writes(const struct dump *dump, uint32_t graph, struct dump_links *links);

/* The order of a dumped graph's nodes after what they take. */

/* Fills `order` with the indices of all nodes: that of the dump, but for nodes that follow
 * those that take them, which come before the first of these. A circle is an error, or is cut where
 * the options say so: an input that closes it becomes a parameter. */
void dump_sort(struct dump *dump, uint32_t graph, struct dump_links *links, uint32_t *order);

#endif
