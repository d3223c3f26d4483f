/* Lists of values that are being read, and numbers of tensors among them. */
#ifndef FRONTEND_EXCHANGE_READERS_NUMBERS_H
#define FRONTEND_EXCHANGE_READERS_NUMBERS_H

#include "ir/module.h"

/* Values of lists that are not closed: a list is what stands from some place on. */
struct numbers {
    struct attr_value *at;
    uint32_t count, capacity;
};

/* The values from `first` on; NULL may stand for none. */
static inline const struct attr_value *numbers_from(const struct numbers *numbers, uint32_t first)
{
    return numbers->count > first ? numbers->at + first : NULL;
}

/* The list of what stands from `first` on, which is taken away. `kind` is the word for the elements
 * of one that is empty, or 0. */
struct attr_value numbers_list(struct numbers *numbers, struct module *module, uint32_t first,
                               uint32_t kind);

/* Makes integers from `first` on the floats that they are the bits of, where the dtype is one. */
void numbers_decode(struct numbers *numbers, uint32_t first, unsigned dtype);

#endif
