/* The body of a graph, written again from the order of its ops and their launches.
 *
 * The ops of a launch need not be next to each other. What is on another stream and runs in
 * parallel with a launch, or executes nothing, is in a `scope none` of its text; after other
 * launches, its text goes on in another block:
 *
 *     op 1   launch @s           superkernel @s { op 1  scope none { op 2 }  op 3 }
 *     op 2   alone
 *     op 3   launch @s
 *     op 4   launch @t           superkernel @t { op 4 }
 *     op 5   launch @s           superkernel @s ... { op 5 }
 *
 * Takes linear time. */
#ifndef PASSES_PARTITION_BODY_WRITER_H
#define PASSES_PARTITION_BODY_WRITER_H

#include "ir/analysis/dep_graph.h"

struct body_launch {
    struct block block;
    uint32_t stream; /* the label of that on which it is launched, or NONE */
    uint32_t opened; /* its first block in the new body; NONE at first */
};

struct body_op {
    uint32_t op;
    uint32_t launch; /* NONE: it is launched alone, or executes nothing */
    /* Ops of one component follow each other. One that is launched alone is in the text of a launch
     * only where that has an op of the same component after it. */
    uint32_t component;
};

/* `text` has all ops of the graph. Of blocks of theirs, only streams remain. */
void body_write(struct graph *graph, const struct order *order, struct body_launch *launches,
                const struct body_op *text);

/* Whether the text of a launch has others within it, or between its parts. */
bool body_is_nested(const struct graph *graph);

#endif
