/* What stands in operands of a graph by its text: numbers that it gives to constants, seen through
 * views. */
#ifndef IR_KNOWN_CONTENTS_H
#define IR_KNOWN_CONTENTS_H

#include "ir/op_tensors.h"

/* Where the contents of a value come from that is a view, or one of one, of something else: that,
 * else the value itself. */
uint32_t viewed_value(const struct module *module, const struct graph *graph, uint32_t value);

/* Whether the text says what stands in any operand of the op. */
bool op_knows_contents(const struct module *module, const struct graph *graph, const struct op *op);

/* Whether an op of the graph writes into what this value, which is no view, is. */
bool value_is_written(const struct module *module, const struct graph *graph, uint32_t value);

/* The same of all values, by value of the graph: 1 where something is written. */
void graph_mark_written(const struct module *module, const struct graph *graph, uint8_t *written);

/* The rules of an op can ask what stands in its operands from now on, if that is in the text,
 * whether or not something is written there later. `tensors` is that of an op of the graph. */
struct known_contents {
    const struct module *module;
    const struct graph *graph;
    const struct op *op;
    const struct op_tensors *tensors;
    const uint8_t
        *written; /* of graph_mark_written: of such values nothing is said; NULL: of all */
};
void known_contents_use(struct known_contents *known, const struct module *module,
                        const struct graph *graph, const struct op *op, struct op_tensors *tensors);

#endif
