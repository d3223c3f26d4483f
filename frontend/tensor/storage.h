/* Storage of the values of a graph, and of all graphs that it calls, while it runs. */
#ifndef FRONTEND_TENSOR_STORAGE_H
#define FRONTEND_TENSOR_STORAGE_H

#include "frontend/tensor/tensor.h"
#include "ir/analysis/contents.h"
#include "ir/analysis/modref.h"
#include "ir/optypes/op_shapes.h"
#include "ir/support/guarded.h"
#include "ir/support/text.h"

struct backend_runner;

struct storage {
    const struct module *module;
    const struct graph *graph;
    void **data;     /* by value id, in the value's memory format; NULL for values not used. Values
                      * of one memory (ir/analysis/modref.h) share it */
    uint64_t *sizes; /* in bytes */
    struct memories memories;
    /* By the value that stands for a memory: the memory, and whether a value of it is given. */
    struct guarded *guarded;
    bool *given;
    struct mem_guard guard;
};

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

/* Compares all memories bit for bit, each where the last op stands that has it as a result, and at
 * the end those that only parameters are; appends a line about the first difference to `text`, in
 * which `other` stands before the element of the second. */
bool storage_compare(const struct storage *storage, const struct storage *second, const char *other,
                     struct text *text);
/* Whether this machine has memory for `copies` storages like these, of which some may be there. */
bool storage_has_room(const struct storage *storage, unsigned copies);

struct storages {
    struct storage *at;         /* by graph; zero-initialised for those that are not run */
    void *const **values;       /* the same: the storage's `data`, or NULL */
    uint32_t count, main_graph; /* of the module; the one that is run */
};

/* Marks the graphs, by index, that are run with this one: it, and all that it calls. */
void storages_mark_run(const struct module *module, const struct graph *graph, uint8_t *run);

/* As storage_init, for each graph that is run. Always to be freed by storages_free, for which
 * zero-initialised is nothing. */
bool storages_init(struct storages *storages, const struct backend_runner *runner,
                   const struct module *module, const struct graph *graph, unsigned copies,
                   struct diags *diags);
void storages_free(struct storages *storages);

/* As storage_copy_given, for each graph. */
void storages_copy_given(struct storages *to, const struct storages *from);

/* What is at an address, for people: "4096 bytes behind '%y'", as long as that is near (struct
 * crash_map). */
bool storages_place(const void *storages, const void *address, char *text, size_t size);

/* That of the graph that is run. */
static inline struct storage *storages_main(const struct storages *storages)
{
    return &storages->at[storages->main_graph];
}

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

/* ---- Integers in memory ---- */

/* All elements of a tensor in row-major order, in the arena. False where its dtype is none of
 * integers that fit 64 bits with a sign, or its format has another order. */
bool integers_read(const struct module *module, uint32_t type, const void *data,
                   struct arena *arena, struct op_contents *found);

/* One element of such a dtype, which has the number. */
void integer_write(enum dtype dtype, void *data, uint64_t place, int64_t number);

/* The numbers that such a dtype has. */
int64_t integer_lowest(enum dtype dtype);
int64_t integer_highest(enum dtype dtype);

#endif
