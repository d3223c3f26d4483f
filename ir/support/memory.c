#include "ir/support/memory.h"
#include "ir/support/pages.h"

#include <assert.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* In front of every block. */
struct block {
    _Alignas(max_align_t) struct mem_link link;
    size_t mapped; /* bytes of its own pages; 0: it comes from malloc() */
};

/* Blocks from this size on have their own pages. Tools that watch over malloc() watch over all. */
#define SANITIZED_BY_GCC __SANITIZE_ADDRESS__
#ifdef __has_feature
#define SANITIZED_BY_CLANG __has_feature(address_sanitizer)
#endif
#if SANITIZED_BY_GCC || SANITIZED_BY_CLANG
static const size_t large = SIZE_MAX;
#else
static const size_t large = PAGES_UNIT / 4;
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

/* A guard may end other guards, but makes none. */
static void release_guards(struct mem_scope *scope)
{
    while (scope->guards) {
        struct mem_guard *guard = (struct mem_guard *)scope->guards;
        link_remove(&guard->link);
        guard->release(guard->what);
    }
}

static void block_free(struct block *block)
{
    if (block->mapped)
        pages_free(block, block->mapped);
    else
        free(block);
}

static void free_blocks(struct mem_scope *scope)
{
    for (struct mem_link *link = scope->blocks, *next; link; link = next) {
        next = link->next;
        block_free((struct block *)link);
    }
    scope->blocks = NULL;
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
    release_guards(scope);
    free_blocks(scope);
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

/* Rounded up, where it is not too large for that. */
static size_t mapped_size(size_t bytes)
{
    return bytes > SIZE_MAX - PAGES_UNIT ? bytes : (bytes + PAGES_UNIT - 1) & ~(PAGES_UNIT - 1);
}

/* With its own pages, which take more room than the block; or NULL. `clear` as of pages_new. */
static struct block *block_map(size_t bytes, bool *clear)
{
    struct block *block = bytes < large ? NULL : pages_new(mapped_size(bytes), clear);
    if (block)
        block->mapped = mapped_size(bytes);
    return block;
}

/* NULL where there is no memory. */
static struct block *block_alloc(size_t bytes)
{
    bool clear;
    struct block *block = block_map(bytes, &clear);
    if (!block) {
        block = malloc(bytes);
        if (block)
            block->mapped = 0;
    }
    return block;
}

/* To another one, which may be NULL, from one of `size` bytes. */
static struct block *block_copy(struct block *block, size_t bytes, struct block *old, size_t size)
{
    if (!block)
        return NULL;
    size_t mapped = block->mapped;
    memcpy(block, old, size < bytes ? size : bytes);
    block->mapped = mapped;
    block_free(old);
    return block;
}

/* The old one stays where there is no memory. */
static struct block *block_resize(struct block *old, size_t bytes)
{
    if (!old->mapped) {
        bool clear;
        struct block *block = block_map(bytes, &clear);
        return block ? block_copy(block, bytes, old, malloc_usable_size(old)) : realloc(old, bytes);
    }
    size_t mapped = mapped_size(bytes);
    if (mapped == old->mapped && bytes >= large)
        return old;
    struct block *block = bytes < large ? NULL : pages_resize(old, old->mapped, mapped);
    if (!block)
        return block_copy(block_alloc(bytes), bytes, old, old->mapped);
    block->mapped = mapped;
    return block;
}

void *mem_realloc(void *old, size_t count, size_t size)
{
    size_t bytes;
    struct block *block = NULL;
    if (block_size(count, size, &bytes))
        block = old ? block_resize(block_of(old), bytes) : block_alloc(bytes);
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
    if (!block_size(count, size, &bytes))
        return NULL;
    bool clear = true;
    struct block *block = block_map(bytes, &clear);
    if (!block)
        block = calloc(1, bytes);
    else if (!clear)
        memset(block + 1, 0, bytes - sizeof *block);
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
