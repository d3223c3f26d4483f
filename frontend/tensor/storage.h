/* Storage of a graph's values while it runs. */
#ifndef FRONTEND_TENSOR_STORAGE_H
#define FRONTEND_TENSOR_STORAGE_H

#include "frontend/tensor/tensor.h"
#include "ir/base/guarded.h"
#include "ir/base/text.h"
#include "ir/contents.h"
#include "ir/memories.h"

struct backend_runner;

struct storage {
    const struct module *module;
    const struct graph *graph;
    void **data;     /* by value id, in the value's memory format; NULL for values not used. Values
                      * of one memory (ir/memories.h) share it */
    uint64_t *sizes; /* in bytes */
    struct memories memories;
    /* By the value that stands for a memory: the memory, and whether a value of it is given. */
    struct guarded *guarded;
    bool *given;
    struct mem_guard guard;
};

/* Zeroed storage for every memory of the graph's values, as what runs the graph takes it. False,
 * with diagnostics, where a type is not supported or this machine has no memory for `copies` such
 * storages. Always to be freed; till then it stays where it is. */
bool storage_init(struct storage *storage, const struct backend_runner *runner,
                  const struct module *module, const struct graph *graph, unsigned copies,
                  struct diags *diags);
/* Zero-initialised is nothing to be freed. */
void storage_free(struct storage *storage);

/* Random numbers of a size that kernels can multiply and add without losing them all. */
const char *storage_default_spec(enum dtype dtype);
/* Fills a value that is given (value_is_given) by a SPEC (tensor_fill); NULL: by random numbers of
 * `seed` that kernels can multiply and add without losing them all. False, with a text in `error`,
 * where that fails. */
bool storage_fill(struct storage *storage, uint32_t id, const char *spec, uint64_t seed,
                  char *error, size_t error_size);
/* Fills it by the contents that the module has for it; paths of files are relative to `folder`. */
bool storage_fill_contents(struct storage *storage, uint32_t id, const struct contents *contents,
                           const char *folder, char *error, size_t error_size);
/* The value as a tensor in row-major order, whatever its format; to be freed. False, with a text in
 * `error`, where there is none. */
bool storage_take(const struct storage *storage, uint32_t id, struct tensor *tensor, char *error,
                  size_t error_size);
/* Puts such a tensor there, of the same shape and dtype, and frees it. */
void storage_give(struct storage *storage, uint32_t id, struct tensor *tensor);

/* Copies all values that are given. */
void storage_copy_given(struct storage *to, const struct storage *from);
/* Compares all memories bit for bit, each where the last op stands that has it as a result, and at
 * the end those that only parameters are; appends a line about the first difference to `text`, in
 * which `other` stands before the element of the second. */
bool storage_compare(const struct storage *storage, const struct storage *second, const char *other,
                     struct text *text);
/* Whether this machine has memory for `copies` storages like these, of which some may be there. */
bool storage_has_room(const struct storage *storage, unsigned copies);

#endif
