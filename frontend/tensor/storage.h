/* Storage of a graph's values while it runs. */
#ifndef FRONTEND_TENSOR_STORAGE_H
#define FRONTEND_TENSOR_STORAGE_H

#include "frontend/cli/command.h"
#include "ir/module.h"

struct storage {
    const struct module *module;
    const struct graph *graph;
    void **data;     /* by value id, in the value's memory format; NULL for values not used */
    uint64_t *sizes; /* in bytes */
};

/* Zeroed storage for every value. False, with diagnostics, where a type is not supported or this
 * machine has no memory for `copies` such storages. Always to be freed. */
bool storage_init(struct storage *storage, const struct module *module, const struct graph *graph,
                  unsigned copies, struct diags *diags);
void storage_free(struct storage *storage);

/* Whether --input and --output have the form NAME=..., and name parameters and values; says what is
 * wrong. */
bool storage_check_options(const struct module *module, const struct graph *graph,
                           const struct invocation *invocation);

/* Fills the parameters by --input; those that are not given are random. */
enum exit_status storage_fill(struct storage *storage, const struct invocation *invocation,
                              uint64_t seed);
/* Writes the files of --output. */
enum exit_status storage_write(const struct storage *storage, const struct invocation *invocation);

void storage_copy_params(struct storage *to, const struct storage *from);
/* Compares all values bit for bit, in the order of the ops; prints the first difference to `out`. */
bool storage_compare(const struct storage *fused, const struct storage *unfused, FILE *out);

#endif
