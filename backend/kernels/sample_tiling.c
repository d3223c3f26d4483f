#include "backend/kernels/sample_tiling.h"

#include <string.h>

enum { SMALL_ELEMENTS = 4096 }; /* up to so many, one core is faster than the start of many */

/* (x1, x2) -> y: a small result on one core, a large one on all. */
static struct sample_tiling tiling_elementwise(const struct skrt_tensor *tensors, uint32_t aivs)
{
    const struct skrt_tensor *y = &tensors[2];
    int64_t elements = 1;
    for (uint32_t i = 0; i < y->rank && elements <= SMALL_ELEMENTS; i++) {
        if (y->dims[i] == 0)
            return (struct sample_tiling){0, 1};
        elements = y->dims[i] > SMALL_ELEMENTS ? SMALL_ELEMENTS + 1 : elements * y->dims[i];
    }
    return elements <= SMALL_ELEMENTS ? (struct sample_tiling){0, 1}
                                      : (struct sample_tiling){1, aivs};
}

static const struct {
    const char *object;
    unsigned n_tensors;
    struct sample_tiling (*tile)(const struct skrt_tensor *tensors, uint32_t aivs);
} tilings[] = {
    {"add_dynamic.o", 3, tiling_elementwise},
};

bool sample_op_tiling(const char *object, const struct skrt_tensor *tensors, unsigned n_tensors,
                      uint32_t aivs, struct sample_tiling *tiling)
{
    for (size_t i = 0; i < sizeof tilings / sizeof tilings[0]; i++) {
        if (strcmp(tilings[i].object, object) != 0 || tilings[i].n_tensors != n_tensors)
            continue;
        *tiling = tilings[i].tile(tensors, aivs);
        return true;
    }
    return false;
}
