#include "backend/device/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    /* More records than these are dropped: 64 MiB. */
    MAX_RECORDS = (64 << 20) / sizeof(struct skrt_profile_record),
    IN_KERNELS = 128, /* on a core */
};

void device_profile_free(struct run_profile *profile)
{
    vec_free(&profile->launches);
    vec_free(&profile->events);
    vec_free(&profile->streams);
    arena_free(&profile->arena);
}

struct skrt_profile *device_profile_buffer(uint64_t records, uint64_t cores, uint64_t *size)
{
    records += IN_KERNELS * cores;
    records = records < MAX_RECORDS ? records : MAX_RECORDS;
    *size = sizeof(struct skrt_profile) + records * sizeof(struct skrt_profile_record);
    return mem_try_calloc(1, *size);
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t device_profile_now(struct run_profile *profile)
{
    if (profile->start == 0)
        profile->start = now();
    return now() - profile->start;
}

static const char *copy(struct run_profile *profile, const char *text)
{
    return arena_strndup(&profile->arena, text, strlen(text));
}

static uint32_t find_stream(struct run_profile *profile, const char *name)
{
    for (uint32_t i = 0; i < profile->streams.count; i++)
        if (strcmp(profile->streams.at[i], name) == 0)
            return i;
    vec_push(&profile->streams, copy(profile, name));
    return profile->streams.count - 1;
}

void device_profile_add(struct run_profile *profile, const struct run_profile_launch *launch,
                        const char *stream, const struct skrt_profile *buffer, uint64_t begin)
{
    const char **names = arena_alloc(&profile->arena, (launch->n_ops + 1) * sizeof *names);
    for (uint32_t i = 0; i < launch->n_ops; i++)
        names[i] = copy(profile, launch->ops[i]);
    vec_push(&profile->launches,
             (struct run_profile_launch){.name = copy(profile, launch->name),
                                         .ops = names,
                                         .n_ops = launch->n_ops,
                                         .alone = launch->alone,
                                         .stream = find_stream(profile, stream)});
    for (uint64_t i = 0; i < buffer->count; i++) {
        struct run_profile_event event = {profile->launches.count - 1, buffer->records[i]};
        event.record.ns += begin;
        vec_push(&profile->events, event);
    }
    profile->dropped += buffer->dropped;
}
