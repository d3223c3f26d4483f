/* What passes know of kernels' code: the sizes that object files have. */
#ifndef BACKEND_LIBRARY_CODE_SIZES_H
#define BACKEND_LIBRARY_CODE_SIZES_H

#include "backend/library/kernel_objects.h"
#include "passes/pass.h"

struct object_code_sizes {
    struct code_sizes sizes; /* for pass_context */
    struct host_objects objects;
};

/* `places` must outlive the sizes. */
void object_code_sizes_init(struct object_code_sizes *sizes, const struct host_places *places);
void object_code_sizes_free(struct object_code_sizes *sizes);

#endif
