/* Shapes of parameters on the command line: in --shape NAME=N,N,..., and those of the files that
 * --input names. */
#ifndef FRONTEND_COMMANDS_SHAPE_ARGUMENTS_H
#define FRONTEND_COMMANDS_SHAPE_ARGUMENTS_H

#include "frontend/cli/command.h"
#include "ir/module.h"

/* A parameter's shape, and where it stands. */
struct given_shape {
    const char *name, *from; /* the name has `size` bytes */
    size_t size;
    uint32_t rank;
    int64_t dims[MAX_RANK];
    bool file; /* its contents are read later, and all else that is wrong with them is said then */
    bool used; /* a graph has the parameter */
};

struct shape_arguments {
    struct given_shape *at;
    uint32_t count, capacity;
};

/* Both options where the command has them. False, reported, where --shape is wrong; what cannot be
 * read of a file is reported by whoever reads its contents. To be freed by vec_free. */
bool shape_arguments_read(struct shape_arguments *shapes, const struct invocation *invocation);

#endif
