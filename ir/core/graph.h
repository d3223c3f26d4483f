/* Graphs: values, ops and blocks as ids into the graph's arrays, and the order of its text. */
#ifndef IR_CORE_GRAPH_H
#define IR_CORE_GRAPH_H

#include "ir/support/check.h"
#include "ir/support/ids.h"

#include <stdbool.h>
#include <stdint.h>

/* Positions (`loc`) are byte offsets of a construct's first token in the source, or NONE for what
 * a pass made. Finer positions are found again by scanning from there (ir/syntax/locate.h). */

struct value {
    uint32_t name;
    uint32_t type; /* NONE: unresolved */
    uint32_t def;  /* op id, or DEF_PARAM, or DEF_MISSING */
};

#define DEF_PARAM (UINT32_MAX - 1) /* value ids below graph.n_params */
#define DEF_MISSING UINT32_MAX     /* used, but not defined before its use */

struct op {
    uint32_t type; /* name id */
    uint32_t loc;
    uint32_t block;        /* innermost enclosing block, or NONE */
    struct range operands; /* value ids in graph.refs; how they are written: ir/core/operands.h */
    struct range results;  /* consecutive value ids */
    struct range attrs;
    uint32_t kernel;  /* name id of `via @kernel`, or NONE */
    uint32_t clauses; /* index into graph.clauses; 0: none */
};

enum operand_kind { OPERAND_VALUE, OPERAND_NONE, OPERAND_LIST };

/* An operand as it is written. */
struct operand {
    enum operand_kind kind;
    uint32_t label;      /* name id, or NONE */
    struct range values; /* a part of the op's operands: one value, none, or those of the list */
};

/* The rarer parts of an op. */
struct clauses {
    struct range after;      /* value ids in graph.refs */
    struct range send, recv; /* event names in graph.refs */
    struct range forms;      /* in graph.forms; none where all operands are values without labels */
    bool untyped;            /* the types of results are not written: they follow from the op */
};

/* A super kernel may have several blocks. The first one is it; in others it goes on. */
enum block_kind {
    BLOCK_SCOPE,
    BLOCK_SCOPE_NONE,
    BLOCK_STREAM,
    BLOCK_SUPERKERNEL,
    BLOCK_SUPERKERNEL_REST,
};

struct block {
    enum block_kind kind;
    uint32_t name;   /* scope and super kernel: symbol; stream: label; others: NONE */
    uint32_t whole;  /* of BLOCK_SUPERKERNEL_REST: the BLOCK_SUPERKERNEL that goes on, before it */
    uint32_t parent; /* enclosing block, or NONE */
    uint32_t loc, end_loc;
    struct range attrs;
    struct range send, recv; /* of a super kernel: event names in graph.refs */
};

/* A graph's text order: ops, and where blocks open and close. */
enum item_kind { ITEM_OP, ITEM_OPEN, ITEM_CLOSE };

static inline uint64_t item_make(enum item_kind kind, uint32_t id)
{
    expensive_assert(id != NONE);
    return (uint64_t)id << 2 | kind;
}

static inline enum item_kind item_kind(uint64_t item)
{
    return (enum item_kind)(item & 3);
}

static inline uint32_t item_id(uint64_t item)
{
    return (uint32_t)(item >> 2);
}

enum gear_mode { GEARS_NONE, GEARS_ZIP, GEARS_PRODUCT };

struct gear {
    uint32_t name;
    uint32_t loc;
    struct range values; /* in graph.gear_values */
};

/* A row of the table that takes the place of a graph's statements once its gears are expanded: with
 * these values, in the order of graph.gears, it is another graph, which has no gears. */
struct gear_case {
    uint32_t graph; /* name id */
    uint32_t loc;
    struct range values; /* in graph.gear_values */
};

/* A name of `dims`. */
struct free_dim {
    uint32_t name;
    uint32_t loc;
};

struct param {
    uint32_t loc;
    struct range attrs;
};

struct graph {
    uint32_t name;
    uint32_t loc, end_loc, return_loc; /* return_loc NONE: there is no return */
    uint32_t n_params;                 /* values 0 .. n_params - 1 */
    struct range attrs;
    enum gear_mode gear_mode;
    bool untyped; /* some ops are */
    VEC(struct param) params;
    VEC(struct free_dim) dims;
    VEC(struct gear) gears;
    VEC(int64_t) gear_values;  /* of gears and cases */
    uint64_t gear_rows_out[2]; /* rows of its table that the graph contradicts (gears.h) */
    VEC(struct gear_case) cases;
    struct vec_u32 result_types;
    struct vec_u32 returns; /* value ids */
    VEC(struct value) values;
    VEC(struct op) ops;
    VEC(struct block) blocks;
    VEC(struct clauses) clauses;
    VEC(struct operand) forms;
    VEC(uint64_t) body;
    struct vec_u32 refs;
};

/* The name that a block has in the text: where a super kernel goes on, that of its first block. */
static inline uint32_t block_name(const struct graph *graph, const struct block *block)
{
    return block->kind == BLOCK_SUPERKERNEL_REST ? graph->blocks.at[block->whole].name
                                                 : block->name;
}

static inline bool block_has_events(const struct block *block)
{
    return block->send.count + block->recv.count > 0;
}

/* Gives an op these clauses, in the place of what it had. */
void graph_set_clauses(struct graph *graph, uint32_t op, struct clauses clauses);

uint32_t graph_add_value(struct graph *graph, uint32_t name, uint32_t type, uint32_t def);
uint32_t graph_add_op(struct graph *graph, const struct op *op);
uint32_t graph_add_block(struct graph *graph, const struct block *block);
struct range graph_add_refs(struct graph *graph, const uint32_t *refs, uint32_t count);
void graph_add_item(struct graph *graph, enum item_kind kind, uint32_t id);
void graph_free(struct graph *graph);
/* A graph of its own with the same contents, whose ids are those of the same module. */
struct graph graph_copy(const struct graph *graph);
/* Leaves the parameters and what the text has before the statements. */
void graph_clear_body(struct graph *graph);

/* NULL where there are none. */
static inline const uint32_t *op_operands(const struct graph *graph, const struct op *op)
{
    return op->operands.count ? graph->refs.at + op->operands.first : NULL;
}

/* The n-th value of an op: those of its operands, then its results. */
static inline uint32_t op_tensor(const struct graph *graph, const struct op *op, uint32_t n)
{
    assert(n < op->operands.count + op->results.count);
    return n < op->operands.count ? op_operands(graph, op)[n]
                                  : op->results.first + (n - op->operands.count);
}

static inline const struct clauses *op_clauses(const struct graph *graph, const struct op *op)
{
    expensive_assert(op->clauses < graph->clauses.count);
    return &graph->clauses.at[op->clauses]; /* element 0 is empty */
}

/* Whether the types of an op's results are not written. Until they are inferred, they are NONE. */
static inline bool op_is_untyped(const struct graph *graph, const struct op *op)
{
    return op->clauses && op_clauses(graph, op)->untyped;
}

/* Whether `dims` or `gears` have the name. */
bool graph_declares_dim(const struct graph *graph, uint32_t name);
/* The innermost enclosing block of a kind, or NONE. BLOCK_SCOPE finds BLOCK_SCOPE_NONE too, and
 * where a super kernel goes on, its first block is found. */
uint32_t graph_enclosing(const struct graph *graph, uint32_t block, enum block_kind kind);
/* The super kernel that what stands in a block is of, by its first block, or NONE. What stands in
 * `scope none` inside a super kernel is of none: it runs beside that, and stands there only for the
 * order of the text (docs/language.md, "Super kernels"). */
uint32_t graph_superkernel(const struct graph *graph, uint32_t block);

#endif
