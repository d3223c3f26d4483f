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

static uint64_t each_byte(unsigned char byte)
{
    return byte * UINT64_C(0x0101010101010101);
}

/* The pattern of a memory, word by word: a step on, what `bits` makes of it. At one offset no two
 * memories of which less than 64 were made in between have a byte in common. */
struct pattern {
    uint64_t at, base, varied;
};

static const uint64_t step = UINT64_C(0x9e3779b97f4a7c15);

/* `offset`: a multiple of a word's bytes. */
static struct pattern pattern_from(const struct guarded *guarded, int64_t offset)
{
    uint64_t others = (uint64_t)guarded->key / (VARIED + 1) << 32;
    return (struct pattern){.at = ((uint64_t)(offset / (int64_t)sizeof(uint64_t)) + others) * step,
                            .base = each_byte(guarded->pattern | (guarded->key & guarded->varied)),
                            .varied = each_byte(guarded->varied)};
}

static uint64_t bits(const struct pattern *pattern)
{
    return pattern->base ^ ((pattern->at ^ pattern->at >> 29) & pattern->varied);
}

/* From an aligned word on, as many as are whole. */
static void write_words(const struct guarded *guarded, unsigned char *from, uint64_t words)
{
    struct pattern pattern = pattern_from(guarded, from - guarded->at);
    for (uint64_t i = 0; i < words; i++, pattern.at += step) {
        uint64_t word = bits(&pattern);
        memcpy(from + i * sizeof word, &word, sizeof word);
    }
}

static bool are_words(const struct guarded *guarded, const unsigned char *from, uint64_t words)
{
    struct pattern pattern = pattern_from(guarded, from - guarded->at);
    uint64_t changed = 0;
    for (uint64_t i = 0; i < words; i++, pattern.at += step) {
        uint64_t word;
        memcpy(&word, from + i * sizeof word, sizeof word);
        changed |= word ^ bits(&pattern);
    }
    return changed == 0;
}

static unsigned char byte_at(const struct guarded *guarded, int64_t offset)
{
    int64_t in_word = offset & (int64_t)(sizeof(uint64_t) - 1);
    struct pattern pattern = pattern_from(guarded, offset - in_word);
    uint64_t word = bits(&pattern);
    return ((const unsigned char *)&word)[in_word];
}

/* The first whole word; the memory is aligned to more than one. */
static unsigned char *first_word(unsigned char *from)
{
    return from + (-(uintptr_t)from & (sizeof(uint64_t) - 1));
}

static void write_pattern(const struct guarded *guarded, unsigned char *from, unsigned char *to)
{
    unsigned char *words = first_word(from);
    for (; from < words; from++)
        *from = byte_at(guarded, from - guarded->at);
    write_words(guarded, words, (uint64_t)(to - words) / sizeof(uint64_t));
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
static uint64_t count_changed(const struct guarded *guarded, unsigned char *from,
                              const unsigned char *to, uint64_t before, int64_t *first)
{
    unsigned char *words = first_word(from);
    uint64_t count = 0;
    bool whole = are_words(guarded, words, (uint64_t)(to - words) / sizeof(uint64_t));
    for (const unsigned char *byte = from; byte < (whole ? words : to); byte++) {
        if (*byte == byte_at(guarded, byte - guarded->at))
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
