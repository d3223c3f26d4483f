/* Time records of a graph's launches, as entries with `profile` instructions write them. */
#ifndef BACKEND_HOST_PROFILE_H
#define BACKEND_HOST_PROFILE_H

#include "backend/runtime/skrt.h"
#include "ir/base/arena.h"
#include "ir/base/vec.h"

/* Zero-initialised when empty. */
struct host_profile {
    struct arena arena;
    struct {
        struct host_profile_launch {
            const char *name;
            const char *const *ops; /* names, in list order */
            uint32_t n_ops;
            uint64_t begin; /* nanoseconds since the first launch began */
        } * at;
        uint32_t count, capacity;
    } launches;
    struct {
        struct host_profile_event {
            uint32_t launch;
            struct skrt_profile_record record; /* `ns` since the first launch began */
        } * at;
        uint32_t count, capacity;
    } events; /* those of one core stand in turn */
    uint64_t dropped;
    uint64_t start; /* when the first launch began */
};

void host_profile_free(struct host_profile *profile);

/* A buffer with room for `records`, as far as memory allows, to be freed; `*size` is its bytes. NULL
 * where there is no memory at all. */
struct skrt_profile *host_profile_buffer(uint64_t records, uint64_t *size);

/* Begins a launch; its names are copied. */
void host_profile_begin(struct host_profile *profile, const char *name, const char *const *ops,
                        uint32_t n_ops);
/* Adds what the launch that was begun last has written. */
void host_profile_take(struct host_profile *profile, const struct skrt_profile *buffer);

#endif
