#include "ir/base/guarded.h"

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

static uint64_t page_size(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ------------------------------------------------------------------------- the pattern ---- */

static uint64_t each_byte(unsigned char byte)
{
    return byte * UINT64_C(0x0101010101010101);
}

/* The pattern `offset` bytes behind the memory's begin, a multiple of a word. At one offset no two
 * memories of which less than 64 were made in between have a byte in common. */
static uint64_t pattern_at(const struct guarded *guarded, int64_t offset)
{
    uint64_t word = ((uint64_t)offset + ((uint64_t)guarded->key / (VARIED + 1) << 32)) *
                    UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ word >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    word ^= word >> 32 ^ each_byte(guarded->key & VARIED);
    return each_byte(guarded->pattern) ^ (word & each_byte(guarded->varied));
}

/* Some bytes of one word of the pattern, of which the first is at this offset. */
struct piece {
    int64_t offset;
    unsigned char bytes[sizeof(uint64_t)];
    uint64_t size;
};

static struct piece piece_at(const struct guarded *guarded, const unsigned char *from,
                             const unsigned char *to)
{
    struct piece piece = {.offset = from - guarded->at};
    uint64_t in_word = (uint64_t)piece.offset % sizeof(uint64_t), left = (uint64_t)(to - from);
    uint64_t word = pattern_at(guarded, piece.offset - (int64_t)in_word);
    piece.size = sizeof word - in_word < left ? sizeof word - in_word : left;
    memcpy(piece.bytes, (const unsigned char *)&word + in_word, piece.size);
    return piece;
}

static void write_pattern(const struct guarded *guarded, unsigned char *from,
                          const unsigned char *to)
{
    while (from < to) {
        struct piece piece = piece_at(guarded, from, to);
        memcpy(from, piece.bytes, piece.size);
        from += piece.size;
    }
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

/* Counts bytes that have another value; `*first` is set where there was none before. */
static uint64_t count_changed(const struct guarded *guarded, const unsigned char *from,
                              const unsigned char *to, uint64_t before, int64_t *first)
{
    uint64_t count = 0;
    while (from < to) {
        struct piece piece = piece_at(guarded, from, to);
        bool whole = memcmp(from, piece.bytes, piece.size) == 0;
        for (uint64_t i = 0; !whole && i < piece.size; i++)
            if (from[i] != piece.bytes[i] && before + count++ == 0)
                *first = piece.offset + (int64_t)i;
        from += piece.size;
    }
    return count;
}

uint64_t guarded_damage(const struct guarded *guarded, int64_t *first)
{
    uint64_t count = count_changed(guarded, guarded->begin, guarded->at, 0, first);
    return count + count_changed(guarded, guarded->at + guarded->size, guarded->end, count, first);
}

/* -------------------------------------------------------------------------- the memory ---- */

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
    static atomic_uint made;
    *guarded = (struct guarded){
        .size = size, .pattern = PATTERN, .varied = VARIED, .key = atomic_fetch_add(&made, 1)};
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
