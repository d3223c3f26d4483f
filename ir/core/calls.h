/* Ops that call graphs: If, Case, While, For, PartitionedCall and their like. The table
 * ir/core/call_ops.def says which there are, what attributes name the graphs, and which operands
 * are their parameters (docs/language.md, "Ops that call graphs"). */
#ifndef IR_CORE_CALLS_H
#define IR_CORE_CALLS_H

#include "ir/core/module.h"

enum call_kind {
    CALL_NONE, /* calls nothing */
#define CALL_KIND(kind, lead, own, what) CALL_##kind,
#include "ir/core/call_ops.def"
    CALL_KINDS
};

enum call_role { ROLE_RESULTS, ROLE_CARRIED, ROLE_CONDITION };

struct call_info {
    uint32_t lead, own;
    const char *what;
};
/* The columns of a kind, which is not CALL_NONE. */
const struct call_info *call_info(enum call_kind kind);

/* An attribute that names graphs. */
struct call_attr {
    enum call_kind kind;
    uint32_t key;
    bool list;
    enum call_role role;
};
extern const struct call_attr call_attrs[];
extern const uint32_t n_call_attrs;

/* That of an op type that is one of the module's own words. */
enum call_kind word_call_kind(uint32_t word);

static inline enum call_kind op_call_kind(const struct op *op)
{
    return op->type < W_COUNT ? word_call_kind(op->type) : CALL_NONE;
}

/* A place of an op's attributes that names a graph. */
struct callee {
    const struct attr *attr;
    uint32_t element; /* of the list, or NONE where the attribute is no list */
    uint32_t graph;   /* index into module->graphs; NONE: what stands there is no graph */
    enum call_role role;
};

/* The n-th graph that an op calls, in the order of the table; false where there are no more. In a
 * verified module those of one kind have their places: then_branch 0, else_branch 1; branch i of a
 * Case i; cond 0, body 1. */
bool op_callee(const struct module *module, const struct op *op, uint32_t n, struct callee *callee);

/* The graph of an attribute that an op of a verified module has. */
const struct graph *op_called_graph(const struct module *module, const struct op *op, uint32_t n);

/* Where a walk over the calls of a graph is; zero at first. */
struct call_walk {
    uint32_t op, n;
};

/* The next graph, by index, that ops of this one call; NONE at the end. */
uint32_t graph_next_called(const struct module *module, const struct graph *graph,
                           struct call_walk *walk);

/* Marks the graphs, by index, that ops of this one call. */
void graph_mark_called(const struct module *module, const struct graph *graph, uint8_t *called);

/* Whether dimensions, formats and dtypes of a value that is given fit those of the parameter or
 * result that it becomes. Dimensions that have names fit any, as they may be that number. */
bool call_types_match(const struct module *module, uint32_t called, uint32_t given);

/* Whether a value of the type says yes or no: one element, bool or a number. */
bool call_type_decides(const struct module *module, uint32_t type);
/* Whether it counts: one element, an integer of at least 8 bits. */
bool call_type_counts(const struct module *module, uint32_t type);

#endif
