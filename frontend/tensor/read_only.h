/* Values of a graph that are given and that no op of it writes: whether they stay as they were. */
#ifndef FRONTEND_TENSOR_READ_ONLY_H
#define FRONTEND_TENSOR_READ_ONLY_H

#include "frontend/tensor/storage.h"

/* By value: of those that stand for such a memory, whatever is said of it; others are not looked
 * at. Zero-initialised is nothing. */
struct read_only {
    const struct storage *storage;
    bool *is;       /* one that no op writes */
    uint64_t *sums; /* of their bytes, when this was made */
};

/* A storage that is filled. What is passed to other graphs, and variables that others may know, are
 * not among them. */
void read_only_init(struct read_only *values, const struct storage *storage);
void read_only_free(struct read_only *values);

/* Whether the value is one of them, and its bytes are others than they were. */
bool read_only_is_changed(const struct read_only *values, uint32_t id);

#endif
