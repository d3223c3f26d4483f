/* Values of Python text as attributes and contents have them. */
#ifndef FRONTEND_EXCHANGE_READERS_PYTHON_VALUES_H
#define FRONTEND_EXCHANGE_READERS_PYTHON_VALUES_H

#include "frontend/exchange/dump/dump.h"
#include "frontend/exchange/text/python_items.h"

struct python_values {
    struct dump *dump;
    const struct python_items *items;
    VEC(struct attr_value) stack; /* elements of the lists that are being made */
    struct text scratch;
};

void python_values_free(struct python_values *values);

/* The name id of what a string says, or of the bytes of any other item. */
uint32_t python_name(struct python_values *values, uint32_t index);
/* An integer; false where the item is none. */
bool python_int(const struct python_values *values, uint32_t index, int64_t *value);
/* What an attribute says. All items are data: what has no form of its own is a string. */
struct attr_value python_attr_value(struct python_values *values, uint32_t index);

/* Whether an item is the contents of a tensor: numbers and truth values, lists of them, and what
 * torch and numpy print. */
bool python_is_contents(const struct python_values *values, uint32_t index);

/* The contents of a tensor. */
struct python_contents {
    bool known;   /* all elements are there */
    bool regular; /* all lists of one depth are as long, so that there is a shape */
    uint32_t rank;
    int64_t dims[MAX_RANK];
    uint64_t elements;
    const char *dtype; /* as it is called behind them; NULL: nothing is said */
    size_t dtype_size;
    struct attr_value value; /* where known */
};
void python_read_contents(struct python_values *values, uint32_t index,
                          struct python_contents *contents);

#endif
