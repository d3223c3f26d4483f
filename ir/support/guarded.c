#include "ir/support/guarded.h"
#include "ir/support/memory.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    ALIGNMENT = 64, /* a cache line: kernels may use aligned vector accesses */
    BESIDE = 64,    /* bytes with a pattern, at least */
    /* Bytes 80 to bf, no numbers that programs like: their lower bits are by key and by place. */
    PATTERN = 0x80,
    VARIED = 0x3f,
    /* Bytes that nobody may touch, on each side: addresses only, as no page of them is used. */
    FORBIDDEN = 1 << 16,
};

/* ------------------------------------------------------------------------- the pattern ---- */

/* The eight bytes whose offset is this times eight. At one offset no two memories of which less
 * than 64 were made in between have a byte in common. */
static uint64_t pattern_word(const struct guarded *guarded, int64_t index)
{
    const uint64_t each_byte = UINT64_C(0x0101010101010101), others = guarded->key / (VARIED + 1);
    uint64_t bits = ((uint64_t)index + (others << 32)) * UINT64_C(0x9e3779b97f4a7c15);
    return (guarded->pattern | (guarded->key & guarded->varied)) * each_byte ^
           ((bits ^ bits >> 29) & guarded->varied * each_byte);
}

static unsigned char pattern_byte(const struct guarded *guarded, int64_t offset)
{
    uint64_t word = pattern_word(guarded, offset >> 3);
    return ((const unsigned char *)&word)[offset & 7];
}

static void write_pattern(const struct guarded *guarded, unsigned char *from, unsigned char *to)
{
    for (; from < to; from++)
        *from = pattern_byte(guarded, from - guarded->at);
}

void guarded_repair(struct guarded *guarded)
{
    write_pattern(guarded, guarded->begin, guarded->at);
    write_pattern(guarded, guarded->at + guarded->size, guarded->end);
}

void guarded_set_pattern(struct guarded *guarded, unsigned char pattern)
{
    guarded->pattern = pattern;
    guarded->varied = 0;
    guarded_repair(guarded);
}

/* Counts bytes that have another value, whole words at a time as long as there are none; `*first`
 * is set where there was none before. The memory is aligned to more than a word. */
static uint64_t count_changed(const struct guarded *guarded, const unsigned char *from,
                              const unsigned char *to, uint64_t before, int64_t *first)
{
    uint64_t count = 0, word;
    for (const unsigned char *byte = from; byte < to;) {
        int64_t offset = byte - guarded->at;
        bool whole = offset % 8 == 0 && to - byte >= 8;
        if (whole)
            memcpy(&word, byte, sizeof word);
        if (whole && word == pattern_word(guarded, offset / 8)) {
            byte += sizeof word;
            continue;
        }
        if (*byte++ != pattern_byte(guarded, offset) && before + count++ == 0)
            *first = offset;
    }
    return count;
}

uint64_t guarded_damage(const struct guarded *guarded, int64_t *first)
{
    uint64_t count = count_changed(guarded, guarded->begin, guarded->at, 0, first);
    return count + count_changed(guarded, guarded->at + guarded->size, guarded->end, count, first);
}

/* -------------------------------------------------------------------------- the memory ---- */

static bool map_pages(struct guarded *guarded)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE),
             forbidden = (FORBIDDEN + page - 1) / page * page;
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
    static atomic_uint made;
    *guarded = (struct guarded){
        .size = size, .pattern = PATTERN, .varied = VARIED, .key = atomic_fetch_add(&made, 1)};
    if (size > INT64_MAX / 2 || !(pages ? map_pages(guarded) : allocate(guarded))) {
        mem_lacks(size);
        *guarded = (struct guarded){.size = 0};
        return false;
    }
    /* As far towards the end as it can be. */
    uint64_t room = (uint64_t)(guarded->end - guarded->begin);
    guarded->at = guarded->begin + (room - BESIDE - size) / ALIGNMENT * ALIGNMENT;
    assert(guarded->at >= guarded->begin + BESIDE);
    guarded_repair(guarded);
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
