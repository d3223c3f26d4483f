/* Where a program has room for what is brought in ahead of calls: before op n of a list, behind the
 * op before it, stands what is for op n + 1; what is for the first op stands there, too. With two
 * lists, those are the lists of each core type. With one, a program has no instructions of ops
 * without a part on its core type, but they count. */
#ifndef PASSES_ENTRY_AHEAD_H
#define PASSES_ENTRY_AHEAD_H

#include "ir/base/vec.h"
#include "passes/entry/superkernel.h"

/* The calls of a program: where they stand, and the turns of their ops in the list. */
struct ahead {
    const struct program *program;
    bool split; /* the entry splits its barriers (passes/early_start.c) */
    bool pairs; /* debug-dcci-all puts cache maintenance behind ops */
    struct vec_u32 at, turn;
    uint32_t before; /* calls before the place that was found last */
};

/* To be freed. */
void ahead_init(struct ahead *ahead, const struct superkernel *sk, enum core_type core);
void ahead_free(struct ahead *ahead);

/* The index in front of which stands what is brought in for the i-th call; `i` is not below that of
 * the question before. */
uint32_t ahead_place(struct ahead *ahead, uint32_t i);

#endif
