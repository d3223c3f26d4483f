#define _GNU_SOURCE /* mremap */
#include "ir/support/pages.h"

#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

/* Some that were given back, for the next who wants as much: to clear pages takes longer than most
 * of what is done with them. Whoever finds the lock taken, as a child of a process may for ever,
 * goes without. */
enum { MOST_KEPT = 8 };
static const size_t most_kept_bytes = (size_t)32 << 20;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept {
    char *pages;
    size_t size;
} kept[MOST_KEPT];
static size_t kept_bytes;

static void unmap(char *begin, const char *end)
{
    if (begin < end)
        munmap(begin, (size_t)(end - begin));
}

static bool keep(void *pages, size_t size)
{
    bool done = false;
    if (size > most_kept_bytes || pthread_mutex_trylock(&lock) != 0)
        return false;
    for (int i = 0; i < MOST_KEPT && !done && kept_bytes + size <= most_kept_bytes; i++) {
        if (kept[i].pages)
            continue;
        kept[i] = (struct kept){pages, size};
        kept_bytes += size;
        done = true;
    }
    pthread_mutex_unlock(&lock);
    return done;
}

/* The smallest that are enough, without what is too much; or NULL. */
static void *take(size_t size)
{
    struct kept *best = NULL, taken = {NULL, 0};
    if (size > most_kept_bytes || pthread_mutex_trylock(&lock) != 0)
        return NULL;
    for (int i = 0; i < MOST_KEPT; i++)
        if (kept[i].pages && kept[i].size >= size && (!best || kept[i].size < best->size))
            best = &kept[i];
    if (best) {
        taken = *best;
        kept_bytes -= best->size;
        *best = (struct kept){NULL, 0};
    }
    pthread_mutex_unlock(&lock);
    if (taken.pages)
        unmap(taken.pages + size, taken.pages + taken.size);
    return taken.pages;
}

static void *pages_map(size_t size)
{
    size_t room;
    if (__builtin_add_overflow(size, PAGES_UNIT, &room))
        return NULL;
    char *all = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    /* Only what is aligned can be one large page. */
    char *pages = all + (-(uintptr_t)all & (PAGES_UNIT - 1));
    unmap(all, pages);
    unmap(pages + size, all + room);
    madvise(pages, size, MADV_HUGEPAGE); /* or the system has none */
    return pages;
}

void *pages_new(size_t size, bool *clear)
{
    assert(size % PAGES_UNIT == 0 && size > 0);
    void *pages = take(size);
    *clear = !pages;
    return pages ? pages : pages_map(size);
}

void *pages_resize(void *pages, size_t size, size_t new_size)
{
    if (new_size <= size) {
        unmap((char *)pages + new_size, (char *)pages + size);
        return pages;
    }
    void *place = pages_map(new_size);
    if (!place)
        return NULL;
    if (mremap(pages, size, new_size, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place)
        return place;
    munmap(place, new_size);
    return NULL;
}

void pages_free(void *pages, size_t size)
{
    if (!keep(pages, size))
        munmap(pages, size);
}
