/* A mutator for texts whose lines are statements: lines are moved, left out, doubled, and words put
 * in the place of others, so that what comes out is more often nearly right. */
#ifndef TESTS_FUZZ_MUTATE_LINES_H
#define TESTS_FUZZ_MUTATE_LINES_H

#ifndef REPLAY
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

struct piece {
    size_t begin, end;
};

static inline uint32_t draw(uint64_t *state, size_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return below ? (uint32_t)((*state >> 33) % below) : 0;
}

/* The line, with its end, that a byte is in. */
static inline struct piece line_at(const uint8_t *data, size_t size, size_t at)
{
    struct piece line = {at, at};
    while (line.begin > 0 && data[line.begin - 1] != '\n')
        line.begin--;
    while (line.end < size && data[line.end] != '\n')
        line.end++;
    line.end += line.end < size;
    return line;
}

static inline bool is_word(uint8_t byte)
{
    return isalnum(byte) || byte == '_' || byte == '%' || byte == '@' || byte == '-';
}

/* The word at a byte or behind it. */
static inline struct piece word_at(const uint8_t *data, size_t size, size_t at)
{
    while (at < size && !is_word(data[at]))
        at++;
    struct piece word = {at, at};
    while (word.begin > 0 && is_word(data[word.begin - 1]))
        word.begin--;
    while (word.end < size && is_word(data[word.end]))
        word.end++;
    return word;
}

/* Puts `from` in the place of `to`; returns the new size, or the old one where there is no room. */
static inline size_t put_piece(uint8_t *data, size_t size, size_t max_size, struct piece to,
                               struct piece from)
{
    uint8_t copy[512];
    size_t count = from.end - from.begin, old = to.end - to.begin;
    if (count > sizeof copy || size - old + count > max_size)
        return size;
    memcpy(copy, data + from.begin, count);
    memmove(data + to.begin + count, data + to.end, size - to.end);
    memcpy(data + to.begin, copy, count);
    return size - old + count;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    if (size == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    struct piece to = line_at(data, size, draw(&state, size)),
                 from = line_at(data, size, draw(&state, size));
    switch (draw(&state, 8)) {
    case 0: return put_piece(data, size, max_size, to, (struct piece){0, 0});
    case 1: return put_piece(data, size, max_size, to, from);
    case 2: return put_piece(data, size, max_size, (struct piece){to.begin, to.begin}, from);
    case 3:
    case 4:
        return put_piece(data, size, max_size, word_at(data, size, to.begin),
                         word_at(data, size, draw(&state, size)));
    default: return LLVMFuzzerMutate(data, size, max_size);
    }
}
#endif

#endif
