/* Memory of the compiler, and what becomes of work for which there is not enough of it.
 *
 * Nobody who allocates asks whether there was memory: where there is none, the whole work is left.
 * Work that may end so is done by mem_scope_run, and its memory belongs to the scope. When memory
 * is exhausted,
 *   1. the scope's guards release what is not memory of this kind, the newest first: descriptors,
 *      mappings, temporary files, outputs half written, what other libraries hold;
 *   2. everything that was allocated in the scope is freed;
 *   3. mem_scope_run returns false, and its caller says so in its own way.
 * So code between does nothing about it, but for a guard on what it holds while it calls what may
 * allocate. Scopes belong to threads: each thread has its own entered ones.
 *
 * What comes from here is released by mem_free, never by free(), and the other way round.
 */
#ifndef IR_SUPPORT_MEMORY_H
#define IR_SUPPORT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- blocks ---- */

/* They never return NULL, and are aligned for any type. Sizes are count * size, checked for
 * overflow. A block stays in the scope that it was allocated in. */
void *mem_realloc(void *old, size_t count, size_t size);
void *mem_calloc(size_t count, size_t size);
char *mem_strdup(const char *text);
/* Frees what these returned. NULL is nothing. */
void mem_free(void *p);

/* For what the user has asked for by its size, of which can be said that it is too large: NULL
 * where there is no memory. */
void *mem_try_calloc(size_t count, size_t size);

/* ---- scopes ---- */

/* A link of a list that can be taken out without knowing the list. */
struct mem_link {
    struct mem_link *next, **place; /* `place` is what points to this one; NULL: in no list */
};

/* Zero-initialised is empty and ready. It stays where it is while it has blocks. */
struct mem_scope {
    struct mem_link *blocks, *guards; /* the newest first */
    struct mem_scope *outer;          /* entered before this one */
    void *recovery;                   /* where to go on; NULL: not entered */
};

/* Does the work in the scope, which is not entered yet. False where memory was exhausted: nothing
 * allocated in the scope, now or earlier, is there any more. What is allocated by work that is done
 * stays, and is freed as usual, inside or outside of the scope. */
bool mem_scope_run(struct mem_scope *scope, void (*work)(void *user), void *user);

/* What the scope has, which is not entered and has no guards, belongs to the one that is entered
 * now, whatever thread allocated it. */
void mem_scope_merge(struct mem_scope *scope);

/* Leaves the work of the scope entered last, for want of memory that was asked for elsewhere (errno
 * is ENOMEM). Without a scope, whose owner would be told, the process has to end. */
_Noreturn void mem_exhausted(void);

/* Where the system has no room for so many bytes: the same, unless they are 1 GiB or more. Of those
 * the caller says who asks for them: that is the mistake, rather than want of memory. */
void mem_lacks(uint64_t size);

/* ---- guards ---- */

/* Lies beside what it is for, in the stack or in a block, and stays there. */
struct mem_guard {
    struct mem_link link;
    void (*release)(void *what);
    void *what;
};

/* From now on, exhausted memory calls `release`, which allocates nothing. Outside of scopes it does
 * nothing. */
void mem_guard(struct mem_guard *guard, void (*release)(void *what), void *what);
/* Ends that. A guard that is zero-initialised, released or ended is nothing. */
void mem_unguard(struct mem_guard *guard);

/* ---- for tests ---- */

/* How many more times this thread can allocate; UINT64_MAX: for ever, as at first. Returns what was
 * left. */
uint64_t mem_allow(uint64_t allocations);
/* Whether that is not for ever. */
bool mem_is_limited(void);

/* ---- parts of work that is done on several threads (ir/support/parts.h) ---- */

/* How many threads there may be, with the one that asks. */
struct threads {
    unsigned most; /* 0 is 1 */
    bool always;   /* also where they are not worth it */
};

/* Does the work in the scope, as mem_scope_run does, as a part. False where it was left. */
bool part_run(struct mem_scope *scope, void (*work)(void *user), void *user);

/* Whether this thread is in a part. */
bool part_runs(void);

/* To be called before something shared is written, or read that is not the same for all parts: a
 * part is left here, to be done again by itself. */
void part_leave(void);

#endif
