/* The cores of a device, and what launches that hold some of them leave to others.
 *
 * Where a device has two AIVs for each AIC, an AI core is one AIC with the two AIVs that are its
 * own, and a block of a mixed launch takes an AI core: its AIC and one or both of its AIVs, which
 * must be free all at once. Other devices are counted: a mixed block takes any AIC and any AIVs.
 * Which of the free cores a block gets is not known. So a mixed block finds no place where each AI
 * core has its AIC or an AIV taken, though half of the AIVs are free. */
#ifndef PASSES_LAUNCHES_CORES_H
#define PASSES_LAUNCHES_CORES_H

#include <stdbool.h>
#include <stdint.h>

/* What a block takes. */
enum block_shape { SHAPE_CUBE, SHAPE_VECTOR, SHAPE_MIX_1_1, SHAPE_MIX_1_2, SHAPES };

struct shape_info {
    const char *name;
    uint32_t aics, aivs;
};
const struct shape_info *shape_info(enum block_shape shape);

struct device {
    uint32_t aics, aivs;
};

static inline bool device_is_grouped(const struct device *device)
{
    return device->aivs == 2 * device->aics;
}

/* Blocks that hold cores, by shape. */
struct held {
    uint64_t of[SHAPES];
};

uint64_t held_aics(const struct held *held);
uint64_t held_aivs(const struct held *held);

/* Whether all of them can have their cores at once. */
bool cores_fit(const struct device *device, const struct held *held);

/* Whether blocks between `low` and `high` of each shape can hold cores in such a way that no block
 * of the shapes of the mask (1 << shape) finds a place. */
bool cores_can_block(const struct device *device, const struct held *low, const struct held *high,
                     unsigned shapes, struct held *found);

#endif
