#include "ir/base/memory.h"

#include <assert.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* In front of every block. */
struct block {
    _Alignas(max_align_t) struct mem_link link;
};

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

static void free_blocks(struct mem_scope *scope)
{
    for (struct mem_link *link = scope->blocks, *next; link; link = next) {
        next = link->next;
        free(link);
    }
    scope->blocks = NULL;
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

void *mem_realloc(void *old, size_t count, size_t size)
{
    size_t bytes;
    struct block *block = NULL;
    if (block_size(count, size, &bytes))
        block = realloc(old ? block_of(old) : NULL, bytes);
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
    struct block *block = block_size(count, size, &bytes) ? calloc(1, bytes) : NULL;
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
    free(block_of(p));
}

void *mem_adopt(void *p, size_t size)
{
    size_t bytes;
    struct block *block = block_size(size, 1, &bytes) ? realloc(p, bytes) : NULL;
    if (!block) {
        free(p);
        mem_exhausted();
    }
    memmove(block + 1, block, size);
    return block_new(block);
}

void *mem_disown(void *block, size_t size)
{
    link_remove(&block_of(block)->link);
    return memmove(block_of(block), block, size);
}
