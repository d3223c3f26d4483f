/* What a run changes of its inputs, for the next run. */
#ifndef FRONTEND_TENSOR_RESTORE_H
#define FRONTEND_TENSOR_RESTORE_H

#include "frontend/tensor/storages.h"

/* Inputs of which a copy is kept. Zero-initialised when empty. */
struct restore {
    struct {
        struct kept {
            void *to, *copy;
            uint64_t size;
        } * at;
        uint32_t count, capacity;
    } kept;
};

/* Keeps of `fresh` the values that are given and that a run has changed, as `after` shows, unless
 * they are kept already: they have not been changed there yet. The others need no copy. */
void restore_keep(struct restore *restore, const struct storages *fresh,
                  const struct storages *after);
/* Gives them their contents back. */
void restore_inputs(const struct restore *restore);
void restore_free(struct restore *restore);

#endif
