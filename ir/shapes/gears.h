/* Gears: the combinations of values that those of a graph make, and graphs with values in the place
 * of names. */
#ifndef IR_SHAPES_GEARS_H
#define IR_SHAPES_GEARS_H

#include "ir/core/module.h"
#include "ir/shapes/dims.h"
#include "ir/support/text.h"

enum { GEARS_MAX_VALUES = 100, GEARS_MAX_ROWS = 100 };

/* Rows of values in the order of graph.gears, sorted, each once. */
struct gear_table {
    uint32_t n_gears, n_rows;
    uint64_t n_repeated; /* combinations that were there already */
    int64_t *values;     /* n_rows rows of n_gears */
};

/* Of a graph whose gears have GEARS_MAX_VALUES values at most, and as many each with `zip`. False
 * where there are more than GEARS_MAX_ROWS rows; there is nothing to be freed then. */
bool gear_table_init(struct gear_table *table, const struct graph *graph);
/* The same of a graph that may be expanded: then those of its rows, in their order. */
bool gear_table_init_left(struct gear_table *table, const struct graph *graph);
void gear_table_free(struct gear_table *table);
/* The index of a row, or NONE. */
uint32_t gear_table_find(const struct gear_table *table, const int64_t *row);

static inline const int64_t *gear_table_row(const struct gear_table *table, uint32_t row)
{
    return table->values + (size_t)row * table->n_gears;
}

/* Whether it is known that a graph whose gears are not expanded contradicts a row of its table. */
static inline bool gear_row_is_marked(const struct graph *graph, uint32_t row)
{
    return graph->gear_rows_out[row / 64] >> row % 64 & 1;
}

static inline void gear_row_mark(struct graph *graph, uint32_t row, bool out)
{
    uint64_t bit = UINT64_C(1) << row % 64, *word = &graph->gear_rows_out[row / 64];
    *word = out ? *word | bit : *word & ~bit;
}

/* The gear of a name that the graph declares, or NULL. */
const struct gear *graph_find_gear(const struct graph *graph, uint32_t name);

/* Adds "b = 2, c = 4". */
struct text;
void gear_row_text(struct text *text, const struct module *module, const struct graph *graph,
                   const int64_t *row);

/* Has errors say which combination of gears, expanded while these diagnostics were made, the graph
 * is: from here on, until it is another one or, with NULL, none. */
struct diags;
void gears_tell_copy(struct diags *diags, const struct module *module, const struct graph *graph);

/* A dimension of the graph with these values for its gears: an integer, or DIM_UNKNOWN where there
 * are other names in it, or the number does not fit. */
int64_t gear_row_dim(const struct module *module, const struct graph *graph, const int64_t *row,
                     int64_t dim);

/* Whether a graph has gears that are expanded. */
bool module_has_cases(const struct module *module);
/* Marks the graphs, by index, that other graphs call, or that their rows name. */
void graphs_mark_named(const struct module *module, uint8_t *marks);
/* Marks those that marked graphs call or name in rows, and what these do. */
void graphs_mark_reached(const struct module *module, uint8_t *marks);

/* What values of names do not go with. */
struct bind_fault {
    int64_t dim;
    enum dim_fault fault;
};

/* Puts values in the place of names in the types of all values, results and attributes of a graph,
 * which still declares the names. False, with the types changed in part, where a dimension does not
 * fit. */
bool graph_bind_types(struct module *module, struct graph *graph,
                      const struct dim_binding *bindings, uint32_t count, struct bind_fault *fault);
/* Takes the names out of `dims` and gears. */
void graph_drop_names(struct graph *graph, const struct dim_binding *bindings, uint32_t count);

/* ---- the shapes of parameters that choose a combination of expanded gears ---- */

/* A dimension of a parameter that gears alone decide. */
struct gear_shape_dim {
    uint32_t param, dim;
};

/* To be freed. */
struct gear_shapes {
    VEC(struct gear_shape_dim) dims; /* in the order of the parameters */
    int64_t *values;                 /* for each combination of the graph a row of dims */
};

/* Of a graph with combinations. */
void gear_shapes_init(struct gear_shapes *shapes, const struct module *module,
                      const struct graph *graph);
void gear_shapes_free(struct gear_shapes *shapes);

static inline const int64_t *gear_shapes_row(const struct gear_shapes *shapes, uint32_t row)
{
    return shapes->values + (size_t)row * shapes->dims.count;
}

/* -------------------------------------------------------------------- gears as GE has them ---- */

/* Texts of three options of its compiler. */

/* "x1:-1,2;x2:-1,2": the shapes of parameters by their names, -1 where gears decide. */
#define GE_INPUT_SHAPE "ge.inputShape"
/* "2,2;4,4": a tuple for each combination, of the dimensions that are -1, in that order. */
#define GE_DYNAMIC_DIMS "ge.dynamicDims"
/* "1": they are those of parameters. */
#define GE_DYNAMIC_NODE_TYPE "ge.dynamicNodeType"
#define GE_NODES_ARE_PARAMETERS "1"

/* To be freed. */
struct ge_gears {
    struct text input_shape, dynamic_dims;
};

/* The texts of a graph's gears, whether they are expanded or not, without rows that are marked
 * (ir/shapes/gears.h). False where it has none, or these texts cannot say them: with shapes of
 * parameters that are not known but for gears, names that have a semicolon, or one combination
 * alone. */
bool ge_gears_write(struct ge_gears *gears, const struct module *module, const struct graph *graph);
/* Why they cannot, a static string, and which parameter it is about, or NONE. NULL where they can,
 * or the graph has no gears. */
const char *ge_gears_unsaid(const struct module *module, const struct graph *graph,
                            uint32_t *param);
void ge_gears_free(struct ge_gears *gears);

#endif
