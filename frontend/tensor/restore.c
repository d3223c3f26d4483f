#include "frontend/tensor/restore.h"

#include <string.h>

static bool is_kept(const struct restore *restore, const void *value)
{
    for (uint32_t i = 0; i < restore->kept.count; i++)
        if (restore->kept.at[i].to == value)
            return true;
    return false;
}

static void keep_value(struct restore *restore, void *value, uint64_t size)
{
    struct kept kept = {.to = value, .copy = mem_calloc(1, size), .size = size};
    memcpy(kept.copy, value, size);
    vec_push(&restore->kept, kept);
}

static void keep_storage(struct restore *restore, const struct storage *fresh,
                         const struct storage *after)
{
    for (uint32_t i = 0; i < fresh->graph->values.count; i++)
        if (value_is_given(fresh->module, fresh->graph, i) &&
            memcmp(fresh->data[i], after->data[i], fresh->sizes[i]) != 0 &&
            !is_kept(restore, fresh->data[i]))
            keep_value(restore, fresh->data[i], fresh->sizes[i]);
}

void restore_keep(struct restore *restore, const struct storages *fresh,
                  const struct storages *after)
{
    for (uint32_t i = 0; i < fresh->count; i++)
        if (fresh->at[i].graph)
            keep_storage(restore, &fresh->at[i], &after->at[i]);
}

void restore_inputs(const struct restore *restore)
{
    for (uint32_t i = 0; i < restore->kept.count; i++)
        memcpy(restore->kept.at[i].to, restore->kept.at[i].copy, restore->kept.at[i].size);
}

void restore_free(struct restore *restore)
{
    for (uint32_t i = 0; i < restore->kept.count; i++)
        mem_free(restore->kept.at[i].copy);
    vec_free(&restore->kept);
}
