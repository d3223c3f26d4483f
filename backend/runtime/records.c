#include "backend/runtime/records.h"

struct skrt_profile_record skrt_record_now(const struct skrt_core *core, enum skrt_phase phase,
                                           enum skrt_profile_kind kind, uint32_t index)
{
    return (struct skrt_profile_record){.ns = skrt_clock() - core->job->begin,
                                        .index = index,
                                        .core = core->index,
                                        .type = (uint8_t)core->type,
                                        .kind = (uint8_t)kind,
                                        .phase = (uint8_t)phase};
}

void skrt_record_write(struct skrt_profile *profile, uint64_t size,
                       const struct skrt_profile_record *record)
{
    uint64_t capacity = (size - sizeof *profile) / sizeof *record;
    uint64_t at = __atomic_load_n(&profile->count, __ATOMIC_RELAXED);
    while (at < capacity && !__atomic_compare_exchange_n(&profile->count, &at, at + 1, true,
                                                         __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    if (at < capacity)
        profile->records[at] = *record;
    else
        __atomic_fetch_add(&profile->dropped, 1, __ATOMIC_RELAXED);
}

void skrt_record(struct skrt_core *core, enum skrt_phase phase, enum skrt_profile_kind kind)
{
    const struct skrt_launch *launch = core->job->launch;
    if (!launch->records)
        return;
    const struct skrt_profile_record record = skrt_record_now(core, phase, kind, 0);
    skrt_record_write(launch->records, launch->records_size, &record);
}

/* Waits for events are the entry's to record. */
static enum skrt_profile_kind kind_of_wait(const struct skrt_core *core)
{
    switch (core->wait) {
    case SKRT_WAIT_BARRIER: return SKRT_PROFILE_BARRIER;
    case SKRT_WAIT_FLAG:
        return skrt_flag_table[core->wait_flag].kernel ? SKRT_PROFILE_KERNEL_FLAG
                                                       : SKRT_PROFILE_FLAG;
    case SKRT_WAIT_SYNC_ALL: return SKRT_PROFILE_FULL_BARRIER;
    case SKRT_WAIT_FEED: return SKRT_PROFILE_FEED;
    case SKRT_WAIT_TILING: return SKRT_PROFILE_TILING;
    case SKRT_WAIT_EVENT: break;
    }
    return SKRT_PROFILE_KINDS;
}

/* Between the begin of an op and its call, which has not been written yet, nothing may stand. */
void skrt_record_wait(struct skrt_core *core, enum skrt_phase phase)
{
    const struct skrt_launch *launch = core->job->launch;
    enum skrt_profile_kind kind = kind_of_wait(core);
    if (!launch->records || kind == SKRT_PROFILE_KINDS || core->timing)
        return;
    bool inside = core->call != NULL;
    struct skrt_profile_record record =
        skrt_record_now(core, phase, kind, (uint32_t)(core->calls - inside));
    record.inside = inside;
    skrt_record_write(launch->records, launch->records_size, &record);
}
