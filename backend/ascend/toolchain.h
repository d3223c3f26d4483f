/* The device toolchain: where it is, and what it is called with. */
#ifndef BACKEND_ASCEND_TOOLCHAIN_H
#define BACKEND_ASCEND_TOOLCHAIN_H

#include "ir/base/arena.h"
#include "ir/base/file.h"

#include <stdbool.h>

/* Texts of an arena. */
struct toolchain {
    bool found;
    const char *compiler, *linker, *objcopy; /* where nothing is found, names to be looked for in
                                              * PATH; linker NULL: there is only the compiler */
    const char *headers;                     /* the folder of AscendC's; NULL: there is none */
};

/* The toolchain that the environment's ASCEND_HOME_PATH leads to; where it leads to none, `why` is
 * half a line that says so. */
void toolchain_find(struct toolchain *tools, struct arena *arena, char *why, size_t why_size);

/* Adds an option for each folder of headers; those that are not there are left out where a
 * toolchain is found. */
void toolchain_add_includes(const struct toolchain *tools, struct arena *arena,
                            struct file_names *words);

#endif
