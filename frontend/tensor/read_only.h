/* Values of a graph that are given and that no op of it writes: whether they stay as they were, and
 * whether something writes there all the same what they have. */
#ifndef FRONTEND_TENSOR_READ_ONLY_H
#define FRONTEND_TENSOR_READ_ONLY_H

#include "frontend/tensor/storage.h"

#include <stdatomic.h>

/* By value: of those that stand for such a memory, whatever is said of it; others are not looked
 * at. Zero-initialised is nothing. */
struct read_only {
    const struct storage *storage;
    bool *is;       /* one that no op writes */
    uint64_t *sums; /* of their bytes, when this was made */
    /* What was tried there while they were protected. */
    struct read_only_write {
        atomic_uint tries;
        int64_t offset; /* of the first byte of the first try; there is one */
        uint32_t call;  /* of that, from 1; 0: it is not known */
    } * writes;
    atomic_uint n_calls;
    char calls[8][512]; /* lines */
};

/* A storage that is filled. What is passed to other graphs, and variables that others may know, are
 * not among them. */
void read_only_init(struct read_only *values, const struct storage *storage);
void read_only_free(struct read_only *values);

/* Whether the value is one of them, and its bytes are others than they were. */
bool read_only_is_changed(const struct read_only *values, uint32_t id);

/* From now on they can only be read, where they have pages of their own. What writes there is
 * noted, and goes on as if they could be written. */
void read_only_protect(struct read_only *values);
void read_only_release(struct read_only *values);
/* The same of one value, which is written no more. */
void read_only_protect_again(struct read_only *values, uint32_t id);

/* For a handler of SIGSEGV: whether the address is where they are protected, and may be touched
 * now. `call`: the text of the call that has done it. */
bool read_only_allow(void *values, const void *address, const char *call);

/* Whether something has written into it since it was protected; the offset of its first byte. */
bool read_only_is_written(const struct read_only *values, uint32_t id, int64_t *offset);
/* The call that was the first to do that, a line; "": it is not known. */
const char *read_only_call(const struct read_only *values, uint32_t id);

#endif
