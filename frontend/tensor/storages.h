/* Storage of the values of a graph and of all graphs that it calls, while it runs. */
#ifndef FRONTEND_TENSOR_STORAGES_H
#define FRONTEND_TENSOR_STORAGES_H

#include "frontend/tensor/storage.h"

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

#endif
