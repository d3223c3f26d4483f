/* Ops that one must run before another: edges before they are part of an order. */
#ifndef IR_ORDER_PAIRS_H
#define IR_ORDER_PAIRS_H

#include "ir/effects.h"

/* One op before another. */
struct order_pair {
    uint32_t to, from; /* op ids */
    uint32_t name;     /* of the buffer, of the value written in place, or of the event */
};

struct order_pairs {
    struct order_pair *at;
    uint32_t count, capacity;
};

#endif
