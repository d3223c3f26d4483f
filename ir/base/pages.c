#define _GNU_SOURCE /* mremap */
#include "ir/base/pages.h"

#include <assert.h>
#include <stdint.h>
#include <sys/mman.h>

static void unmap(char *begin, const char *end)
{
    if (begin < end)
        munmap(begin, (size_t)(end - begin));
}

void *pages_new(size_t size)
{
    size_t room;
    assert(size % PAGES_UNIT == 0 && size > 0);
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

void *pages_resize(void *pages, size_t size, size_t new_size)
{
    if (new_size <= size) {
        unmap((char *)pages + new_size, (char *)pages + size);
        return pages;
    }
    void *place = pages_new(new_size);
    if (!place)
        return NULL;
    if (mremap(pages, size, new_size, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place)
        return place;
    pages_free(place, new_size);
    return NULL;
}

void pages_free(void *pages, size_t size)
{
    munmap(pages, size);
}
