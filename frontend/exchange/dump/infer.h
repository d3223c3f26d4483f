/* Types that a dump leaves out. */
#ifndef FRONTEND_EXCHANGE_DUMP_INFER_H
#define FRONTEND_EXCHANGE_DUMP_INFER_H

#include "frontend/exchange/dump/alike.h"
#include "frontend/exchange/translate/translate.h"

struct dump_inferred {
    uint32_t graph; /* its name; NONE: no op of the type was asked for */
    struct op op;
    uint32_t before[ALIKE_MOST], after[ALIKE_MOST]; /* the types of its results */
};

/* Zero-initialised is ready. */
struct dump_inference {
    struct id_map types;            /* by op type: index in `last` */
    VEC(struct dump_inferred) last; /* by op type: the op that was asked for last */
    struct written_marks written;   /* those of dump_mark_written */
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

#endif
