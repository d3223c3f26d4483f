#include "backend/host/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* More records than these are dropped: 64 MiB. */
enum { MAX_RECORDS = (64 << 20) / sizeof(struct skrt_profile_record) };

void host_profile_free(struct run_profile *profile)
{
    vec_free(&profile->launches);
    vec_free(&profile->events);
    arena_free(&profile->arena);
}

struct skrt_profile *host_profile_buffer(uint64_t records, uint64_t *size)
{
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

static const char *copy(struct run_profile *profile, const char *text)
{
    return arena_strndup(&profile->arena, text, strlen(text));
}

void host_profile_begin(struct run_profile *profile, const char *name, const char *const *ops,
                        uint32_t n_ops)
{
    const char **names = arena_alloc(&profile->arena, (n_ops + 1) * sizeof *names);
    for (uint32_t i = 0; i < n_ops; i++)
        names[i] = copy(profile, ops[i]);
    if (profile->launches.count == 0)
        profile->start = now();
    vec_push(&profile->launches, (struct run_profile_launch){.name = copy(profile, name),
                                                             .ops = names,
                                                             .n_ops = n_ops,
                                                             .begin = now() - profile->start});
}

void host_profile_take(struct run_profile *profile, const struct skrt_profile *buffer)
{
    assert(profile->launches.count > 0);
    uint32_t launch = profile->launches.count - 1;
    for (uint64_t i = 0; i < buffer->count; i++) {
        struct run_profile_event event = {launch, buffer->records[i]};
        event.record.ns += profile->launches.at[launch].begin;
        vec_push(&profile->events, event);
    }
    profile->dropped += buffer->dropped;
}
