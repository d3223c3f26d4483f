/* Memory with one lifetime: allocated piece by piece, released as a whole. */
#ifndef IR_SUPPORT_ARENA_H
#define IR_SUPPORT_ARENA_H

#include "ir/support/memory.h"

#include <stdarg.h>
#include <stddef.h>

struct arena_chunk;

/* Zero-initialised is empty and ready. */
struct arena {
    struct arena_chunk *chunks; /* newest first */
    size_t used;                /* bytes taken from the newest chunk */
};

/* Never returns NULL. Aligned for any type. */
void *arena_alloc(struct arena *arena, size_t size);
/* A NUL-terminated copy of `size` bytes. */
char *arena_strndup(struct arena *arena, const char *text, size_t size);
/* "FOLDER/NAME". */
char *arena_path(struct arena *arena, const char *folder, const char *name);
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0), nonnull(2)));
/* Releases all; but keeps memory for what comes. */
void arena_clear(struct arena *arena);
void arena_free(struct arena *arena);

/* What is in the other one is in this one then, and lasts as long; the other one is empty. */
void arena_merge(struct arena *arena, struct arena *other);

#endif
