/* Random super kernels of cube and vector ops that make each other wait over long distances, so
 * that many flags would be outstanding: one core type far ahead of the other, both in turn, one op
 * that many wait for. */
#ifndef TESTS_UNIT_RANDOM_CHAIN_H
#define TESTS_UNIT_RANDOM_CHAIN_H

#include "ir/support/text.h"

#include <stdbool.h>

enum { CHAIN_MAX_OPS = 400 };

struct random_chain {
    unsigned count; /* of ops; their ids are 0 .. count - 1, in list order */
    bool needs[CHAIN_MAX_OPS][CHAIN_MAX_OPS]; /* needs[i][j]: op j must be complete before op i */
};

/* Appends the text of a module with one scope, of stream-fusion=1 and at most `max_ops` ops. */
void random_chain(struct random_chain *chain, struct text *text, uint64_t seed, unsigned max_ops);

#endif
