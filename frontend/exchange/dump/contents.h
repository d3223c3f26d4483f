/* Contents of constants, as dumps have them: what the attribute `value` of their ops says. Numbers
 * become a list, and one number where all are equal. Bytes do so where they are few, or where the
 * module cannot refer to them; others stay where they are, in the dump or in the file that it
 * names. False, with a remark at `loc`, where contents have no form. */
#ifndef FRONTEND_EXCHANGE_DUMP_CONTENTS_H
#define FRONTEND_EXCHANGE_DUMP_CONTENTS_H

#include "frontend/exchange/dump/dump.h"

/* The memory of a tensor. */
struct dump_bytes {
    const char *bytes;
    size_t size;
    uint32_t literal; /* the place in the dump of the quote before them; NONE: they stand there in
                       * no string of their own */
    bool plain;       /* this string is one literal without escapes */
};

bool dump_contents_bytes(struct dump *dump, uint32_t type, const struct dump_bytes *bytes,
                         uint32_t loc, struct attr_value *value);

/* INT, FLOAT and BOOL. Where there are fewer than the tensor has elements, the last may be repeated
 * (`repeats`). */
bool dump_contents_numbers(struct dump *dump, uint32_t type, const struct attr_value *numbers,
                           uint32_t count, bool repeats, uint32_t loc, struct attr_value *value);

/* A part of a file: `bytes` may be NO_BYTES, those of the tensor. */
bool dump_contents_file(struct dump *dump, const char *path, size_t path_size, uint64_t offset,
                        uint64_t bytes, uint32_t loc, struct attr_value *value);

#endif
