#define _GNU_SOURCE /* mremap */
#include "ir/support/memory.h"

#include <assert.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* In front of every block. */
struct block {
    _Alignas(max_align_t) struct mem_link link;
    size_t mapped; /* bytes of its own pages; 0: it comes from malloc() */
};

/* Blocks from a quarter of a large page on have pages of their own, large ones where the system has
 * them: the first touch of a page costs more than what is written to it. Tools that watch over
 * malloc() watch over all. */
#define LARGE_PAGE ((size_t)2 << 20) /* on most machines */
#define SANITIZED_BY_GCC __SANITIZE_ADDRESS__
#ifdef __has_feature
#define SANITIZED_BY_CLANG __has_feature(address_sanitizer)
#endif
#if SANITIZED_BY_GCC || SANITIZED_BY_CLANG
static const size_t large = SIZE_MAX;
#else
static const size_t large = LARGE_PAGE / 4;
#endif

static _Thread_local struct mem_scope *entered; /* the latest */
static _Thread_local uint64_t allowance = UINT64_MAX;

/* ----------------------------------------------------------------------------- lists ---- */

static void link_add(struct mem_link *link, struct mem_link **list)
{
    *link = (struct mem_link){*list, list};
    if (link->next)
        link->next->place = &link->next;
    *list = link;
}

static void link_remove(struct mem_link *link)
{
    if (!link->place)
        return;
    *link->place = link->next;
    if (link->next)
        link->next->place = link->place;
    link->place = NULL;
}

/* Tells its neighbours that the link has been moved. */
static void link_moved(struct mem_link *link)
{
    if (!link->place)
        return;
    *link->place = link;
    if (link->next)
        link->next->place = &link->next;
}

/* ---------------------------------------------------------------------------- scopes ---- */

static void block_free(struct block *block)
{
    if (block->mapped)
        munmap(block, block->mapped);
    else
        free(block);
}

void mem_lacks(uint64_t size)
{
    if (size < UINT64_C(1) << 30)
        mem_exhausted();
}

void mem_exhausted(void)
{
    struct mem_scope *scope = entered;
    if (!scope)
        abort();
    while (scope->guards) { /* one may end others, but makes none */
        struct mem_guard *guard = (struct mem_guard *)scope->guards;
        link_remove(&guard->link);
        guard->release(guard->what);
    }
    for (struct mem_link *link = scope->blocks, *next; link; link = next) {
        next = link->next;
        block_free((struct block *)link);
    }
    scope->blocks = NULL;
    longjmp(*(jmp_buf *)scope->recovery, 1);
}

static void scope_leave(struct mem_scope *scope)
{
    assert(entered == scope && !scope->guards);
    entered = scope->outer;
    scope->recovery = NULL;
}

bool mem_scope_run(struct mem_scope *scope, void (*work)(void *user), void *user)
{
    jmp_buf recovery;
    assert(!scope->recovery);
    scope->recovery = &recovery;
    scope->outer = entered;
    entered = scope;
    if (setjmp(recovery) == 0) {
        work(user);
        scope_leave(scope);
        return true;
    }
    scope_leave(scope);
    return false;
}

void mem_scope_merge(struct mem_scope *scope)
{
    assert(!scope->recovery && !scope->guards);
    for (struct mem_link *link = scope->blocks, *next; link; link = next) {
        next = link->next;
        *link = (struct mem_link){NULL, NULL};
        if (entered)
            link_add(link, &entered->blocks);
    }
    scope->blocks = NULL;
}

/* ---------------------------------------------------------------------------- guards ---- */

void mem_guard(struct mem_guard *guard, void (*release)(void *what), void *what)
{
    *guard = (struct mem_guard){.release = release, .what = what};
    if (entered)
        link_add(&guard->link, &entered->guards);
}

void mem_unguard(struct mem_guard *guard)
{
    link_remove(&guard->link);
}

/* ---------------------------------------------------------------------------- blocks ---- */

uint64_t mem_allow(uint64_t allocations)
{
    uint64_t left = allowance;
    allowance = allocations;
    return left;
}

bool mem_is_limited(void)
{
    return allowance != UINT64_MAX;
}

/* The bytes of a block's contents with its head. */
static bool block_size(size_t count, size_t size, size_t *bytes)
{
    if (allowance == 0)
        return false;
    if (allowance != UINT64_MAX)
        allowance--;
    return !__builtin_mul_overflow(count, size, bytes) &&
           !__builtin_add_overflow(*bytes, sizeof(struct block), bytes);
}

static void *block_new(struct block *block)
{
    block->link = (struct mem_link){NULL, NULL};
    if (entered)
        link_add(&block->link, &entered->blocks);
    return block + 1;
}

static struct block *block_of(void *p)
{
    return (struct block *)p - 1;
}

/* The bytes of the pages that a block has; 0: it comes from malloc(). */
static size_t mapped_size(size_t bytes)
{
    return bytes < large || bytes > SIZE_MAX / 2 ? 0 : (bytes + LARGE_PAGE - 1) & -LARGE_PAGE;
}

/* Pages that are aligned as a large one has to be, and zero; NULL where there is no memory. */
static void *map_pages(size_t size)
{
    char *all =
        mmap(NULL, size + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)all & (LARGE_PAGE - 1);
    if (before)
        munmap(all, before);
    munmap(all + before + size, LARGE_PAGE - before);
    madvise(all + before, size, MADV_HUGEPAGE); /* or the system has none */
    return all + before;
}

/* NULL where there is no memory, which pages take more of. */
static struct block *block_alloc(size_t bytes, bool clear)
{
    size_t mapped = mapped_size(bytes);
    struct block *block = mapped ? map_pages(mapped) : NULL;
    if (!block) {
        mapped = 0;
        block = clear ? calloc(1, bytes) : malloc(bytes);
    }
    if (block)
        block->mapped = mapped;
    return block;
}

/* The old one stays where there is no memory. */
static struct block *block_resize(struct block *old, size_t bytes)
{
    size_t mapped = mapped_size(bytes), before = old->mapped;
    if (!mapped && !before)
        return realloc(old, bytes);
    if (mapped && mapped <= before) {
        if (mapped < before)
            munmap((char *)old + mapped, before - mapped);
        old->mapped = mapped;
        return old;
    }
    struct block *block = block_alloc(bytes, false);
    if (!block)
        return NULL;
    mapped = block->mapped;
    if (mapped && before) {
        if (mremap(old, before, before, MREMAP_MAYMOVE | MREMAP_FIXED, block) == MAP_FAILED) {
            block_free(block);
            return NULL;
        }
    } else {
        size_t size = before ? before : malloc_usable_size(old);
        memcpy(block, old, size < bytes ? size : bytes);
        block_free(old);
    }
    block->mapped = mapped;
    return block;
}

void *mem_realloc(void *old, size_t count, size_t size)
{
    size_t bytes;
    struct block *block = NULL;
    if (block_size(count, size, &bytes))
        block = old ? block_resize(block_of(old), bytes) : block_alloc(bytes, false);
    if (!block)
        mem_exhausted();
    if (!old)
        return block_new(block);
    link_moved(&block->link);
    return block + 1;
}

void *mem_try_calloc(size_t count, size_t size)
{
    size_t bytes;
    struct block *block = block_size(count, size, &bytes) ? block_alloc(bytes, true) : NULL;
    return block ? block_new(block) : NULL;
}

void *mem_calloc(size_t count, size_t size)
{
    void *p = mem_try_calloc(count, size);
    if (!p)
        mem_exhausted();
    return p;
}

char *mem_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(mem_realloc(NULL, size, 1), text, size);
}

void mem_free(void *p)
{
    if (!p)
        return;
    link_remove(&block_of(p)->link);
    block_free(block_of(p));
}

/* ----------------------------------------------------------------------------- parts ---- */

static _Thread_local bool running;

bool part_run(struct mem_scope *scope, void (*work)(void *user), void *user)
{
    running = true;
    bool done = mem_scope_run(scope, work, user);
    running = false;
    return done;
}

bool part_runs(void)
{
    return running;
}

/* The same way out as where there is no memory. */
void part_leave(void)
{
    if (running)
        mem_exhausted();
}
