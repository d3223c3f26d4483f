#include "ir/base/guarded.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    ALIGNMENT = 64, /* a cache line: kernels may use aligned vector accesses */
    BESIDE = 64,    /* bytes with a pattern, at least */
    PATTERN = 0xa7, /* no number that programs like */
    /* Bytes that nobody may touch, on each side: addresses only, as no page of them is used. */
    FORBIDDEN = 1 << 16,
};

static uint64_t page_size(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The memory stands as far behind as it can. */
static void place(struct guarded *guarded)
{
    uint64_t room = (uint64_t)(guarded->end - guarded->begin);
    guarded->at = guarded->begin + (room - BESIDE - guarded->size) / ALIGNMENT * ALIGNMENT;
    assert(guarded->at >= guarded->begin + BESIDE);
    guarded_repair(guarded);
}

static bool map_pages(struct guarded *guarded)
{
    uint64_t page = page_size(), forbidden = (FORBIDDEN + page - 1) / page * page;
    uint64_t room = (guarded->size + 2 * BESIDE + ALIGNMENT + page - 1) / page * page;
    void *mapped = mmap(NULL, room + 2 * forbidden, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        return false;
    guarded->mapped = mapped;
    guarded->mapped_size = room + 2 * forbidden;
    guarded->begin = (unsigned char *)mapped + forbidden;
    guarded->end = guarded->begin + room;
    if (mprotect(guarded->begin, room, PROT_READ | PROT_WRITE) == 0)
        return true;
    munmap(mapped, guarded->mapped_size);
    return false;
}

static bool allocate(struct guarded *guarded)
{
    uint64_t room = (guarded->size + 2 * BESIDE + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    guarded->begin = aligned_alloc(ALIGNMENT, room);
    if (!guarded->begin)
        return false;
    memset(guarded->begin, 0, room);
    guarded->end = guarded->begin + room;
    return true;
}

bool guarded_init(struct guarded *guarded, uint64_t size, bool pages)
{
    *guarded = (struct guarded){.size = size, .pattern = PATTERN};
    if (size > INT64_MAX / 2 || !(pages ? map_pages(guarded) : allocate(guarded))) {
        *guarded = (struct guarded){.size = 0};
        return false;
    }
    place(guarded);
    return true;
}

void guarded_free(struct guarded *guarded)
{
    if (guarded->mapped)
        munmap(guarded->mapped, guarded->mapped_size);
    else
        free(guarded->begin);
    *guarded = (struct guarded){.size = 0};
}

bool guarded_set_writable(const struct guarded *guarded, bool writable)
{
    return guarded->mapped && mprotect(guarded->begin, (size_t)(guarded->end - guarded->begin),
                                       writable ? PROT_READ | PROT_WRITE : PROT_READ) == 0;
}

void guarded_repair(struct guarded *guarded)
{
    unsigned char *behind = guarded->at + guarded->size;
    memset(guarded->begin, guarded->pattern, (size_t)(guarded->at - guarded->begin));
    memset(behind, guarded->pattern, (size_t)(guarded->end - behind));
}

void guarded_set_pattern(struct guarded *guarded, unsigned char pattern)
{
    guarded->pattern = pattern;
    guarded_repair(guarded);
}

/* Most are as they were. */
static bool is_whole(const unsigned char *from, const unsigned char *to, unsigned char pattern)
{
    /* Each byte is the one before it. */
    return from == to || (*from == pattern && memcmp(from, from + 1, (size_t)(to - from) - 1) == 0);
}

/* Counts bytes that have another value; `*first` is set where there was none before. */
static uint64_t count_changed(const struct guarded *guarded, const unsigned char *from,
                              const unsigned char *to, uint64_t before, int64_t *first)
{
    uint64_t count = 0;
    if (is_whole(from, to, guarded->pattern))
        return 0;
    for (const unsigned char *byte = from; byte < to; byte++) {
        if (*byte == guarded->pattern)
            continue;
        if (before + count++ == 0)
            *first = byte - guarded->at;
    }
    return count;
}

uint64_t guarded_damage(const struct guarded *guarded, int64_t *first)
{
    uint64_t count = count_changed(guarded, guarded->begin, guarded->at, 0, first);
    return count + count_changed(guarded, guarded->at + guarded->size, guarded->end, count, first);
}

bool guarded_is_near(const struct guarded *guarded, const void *address)
{
    const unsigned char *at = address, *begin = guarded->begin, *end = guarded->end;
    if (guarded->mapped) {
        begin = guarded->mapped;
        end = begin + guarded->mapped_size;
    }
    return begin && at >= begin && at < end;
}

/* Each step is a bijection of the sum and of the word, so that one changed word always shows. */
uint64_t guarded_sum(const struct guarded *guarded)
{
    const unsigned char *at = guarded->at;
    uint64_t size = guarded->size, sum = 0, word = 0, i = 0;
    for (; i + sizeof word <= size; i += sizeof word) {
        memcpy(&word, at + i, sizeof word);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15;
        sum ^= sum >> 32;
    }
    word = 0;
    memcpy(&word, at + i, size - i);
    return (sum ^ word) * 0x9e3779b97f4a7c15;
}
