/* How a thread computes: what the ABI has every call leave as it was. */
#ifndef BACKEND_RUNTIME_FLOATS_H
#define BACKEND_RUNTIME_FLOATS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Rounding, denormals and traps; x86-64: also what is left on the x87 stack, and the flags of
 * direction and alignment. */
struct skrt_floats {
    uint64_t control, more;
};

/* Of this thread. The second sets it as it was, and returns whether it was not. */
void skrt_floats_take(struct skrt_floats *floats);
bool skrt_floats_restore(const struct skrt_floats *floats);

#pragma GCC visibility pop

#endif
