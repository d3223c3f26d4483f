/* A FILE that is written to memory. Other than with open_memstream, nothing of what is written can
 * get lost unseen. */
#ifndef IR_SUPPORT_STREAM_H
#define IR_SUPPORT_STREAM_H

#include "ir/support/memory.h"

#include <stdio.h>

/* It stays where it is until it is closed. */
struct stream {
    FILE *file;
    char *bytes; /* malloc()ed: while the C library writes, its work cannot be left */
    size_t size, capacity;
    bool exhausted; /* something that was written is not there */
    struct mem_guard guard;
};

void stream_open(struct stream *stream);
/* What was written, with a NUL behind it, to be freed with mem_free. `*size` is without the NUL;
 * NULL where it is not asked for. */
char *stream_close(struct stream *stream, size_t *size);

#endif
