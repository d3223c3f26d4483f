#include "backend/device/tilings.h"

#include <assert.h>
#include <string.h>

/* What is put one behind the other; texts, which need no alignment, come last. */
struct packing {
    unsigned char *at;
    uint64_t used;
};

static uint64_t packed_size(const struct skrt_tiling *tiling)
{
    uint64_t size = sizeof *tiling + tiling->n_tensors * sizeof *tiling->tensors +
                    tiling->n_attrs * sizeof *tiling->attrs;
    for (uint32_t i = 0; i < tiling->n_tensors; i++)
        if (tiling->tensors[i].list)
            size += tiling->tensors[i].count * sizeof *tiling->tensors;
    for (uint32_t i = 0; i < tiling->n_attrs; i++) {
        const struct skrt_attr *attr = &tiling->attrs[i];
        size += attr->ints ? attr->count * sizeof *attr->ints : 0;
        size += attr->text ? strlen(attr->text) + 1 : 0;
    }
    return size;
}

static void *pack(struct packing *packing, const void *from, uint64_t size)
{
    unsigned char *at = packing->at + packing->used;
    if (size)
        memcpy(at, from, size);
    packing->used += size;
    return at;
}

static struct skrt_tensor *pack_tensors(struct packing *packing, const struct skrt_tiling *tiling)
{
    struct skrt_tensor *tensors =
        pack(packing, tiling->tensors, tiling->n_tensors * sizeof *tensors);
    for (uint32_t i = 0; i < tiling->n_tensors; i++)
        if (tensors[i].list)
            tensors[i].list = pack(packing, tensors[i].list, tensors[i].count * sizeof *tensors);
    return tensors;
}

static struct skrt_attr *pack_attrs(struct packing *packing, const struct skrt_tiling *tiling)
{
    struct skrt_attr *attrs = pack(packing, tiling->attrs, tiling->n_attrs * sizeof *attrs);
    for (uint32_t i = 0; i < tiling->n_attrs; i++)
        if (attrs[i].ints)
            attrs[i].ints = pack(packing, attrs[i].ints, attrs[i].count * sizeof *attrs[i].ints);
    for (uint32_t i = 0; i < tiling->n_attrs; i++)
        if (attrs[i].text)
            attrs[i].text = pack(packing, attrs[i].text, strlen(attrs[i].text) + 1);
    return attrs;
}

const struct skrt_tiling *tilings_table(struct device_run *run, const struct op *op,
                                        const struct skrt_tiling *tiling)
{
    uint64_t size = packed_size(tiling);
    struct packing packing = {device_run_table(run, op, "tiling", size), 0};
    struct skrt_tiling *table = pack(&packing, tiling, sizeof *tiling);
    table->tensors = pack_tensors(&packing, tiling);
    table->attrs = pack_attrs(&packing, tiling);
    assert(packing.used == size);
    return table;
}
