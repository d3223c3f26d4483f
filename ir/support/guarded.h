/* Memory that others write into, with what shows where they write beside it: bytes with a pattern
 * directly before and behind it, and pages behind those that nobody may touch. The pattern is
 * another one beside each memory, so that what is copied from there to beside another shows. */
#ifndef IR_SUPPORT_GUARDED_H
#define IR_SUPPORT_GUARDED_H

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised is nothing. */
struct guarded {
    unsigned char *at; /* aligned to 64; never NULL in one that is initialised */
    uint64_t size;
    unsigned char *begin, *end; /* of all that may be touched */
    void *mapped;               /* what is mapped, with the pages beside it, or NULL */
    uint64_t mapped_size;
    /* Of bytes beside it that may be touched: what they are, and the bits of them that differ by
     * place and key. */
    unsigned char pattern, varied;
    unsigned key;
};

/* Zeroed memory. The pages behind it are less than 192 bytes away, unless there are to be none:
 * each such memory takes a page at least, and systems have some ten thousands of mappings at most.
 * False where there is no memory. */
bool guarded_init(struct guarded *guarded, uint64_t size, bool pages);
void guarded_free(struct guarded *guarded);

/* How many bytes beside the memory were written since it was made or repaired. `*first` is the
 * offset of the first of them: negative before it, `size` or more behind it. */
uint64_t guarded_damage(const struct guarded *guarded, int64_t *first);
void guarded_repair(struct guarded *guarded);
/* The same with this byte everywhere from now on: who reads there may compute something else. */
void guarded_set_pattern(struct guarded *guarded, unsigned char pattern);

/* A sum of the memory's bytes, in which it shows where they are others than before. */
uint64_t guarded_sum(const struct guarded *guarded);

/* Whether an address is on or beside the memory, among what belongs to it. */
bool guarded_is_near(const struct guarded *guarded, const void *address);

#endif
