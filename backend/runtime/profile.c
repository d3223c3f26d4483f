/* The instruction `profile` of entries. */
#include "backend/runtime/instructions.h"

/* NULL where the launch has no buffer, or none that a record fits in. */
static struct skrt_profile *buffer_of(struct skrt_core *core, uint64_t slot, uint64_t *size)
{
    const struct skrt_launch *launch = core->job->launch;
    if (slot >= launch->n_params || launch->n_params - slot < 2)
        skrt_core_misuse(core, "the launch has no slots for a buffer and its size there");
    uint64_t address = launch->params[slot];
    *size = launch->params[slot + 1];
    if (address % _Alignof(struct skrt_profile) != 0)
        skrt_core_misuse(core, "the buffer for records is not aligned");
    if (address == 0 || *size < sizeof(struct skrt_profile))
        return NULL;
    return (struct skrt_profile *)(uintptr_t)address;
}

static void write_record(struct skrt_core *core, uint64_t slot,
                         const struct skrt_profile_record *record)
{
    uint64_t size;
    struct skrt_profile *profile = buffer_of(core, slot, &size);
    if (profile)
        skrt_record_write(profile, size, record);
}

/* Whether the core has something to time: events are executed by one core of each type. */
static bool takes_part(const struct skrt_core *core, enum skrt_profile_kind kind)
{
    return core->index == 0 || (kind != SKRT_PROFILE_NOTIFY && kind != SKRT_PROFILE_WAIT);
}

/* The begin of an op waits until its call includes the core; if none does, its end forgets it. */
void skrt_profile(skrt_core *core, uint64_t slot, enum skrt_phase phase, uint32_t index,
                  enum skrt_profile_kind kind, const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    if (!takes_part(core, kind))
        return;
    const struct skrt_profile_record record = skrt_record_now(core, phase, kind, index);
    if (kind == SKRT_PROFILE_OP && phase == SKRT_BEGIN) {
        core->timing = true;
        core->timed_slot = slot;
        core->timed = record;
    } else if (kind == SKRT_PROFILE_OP && core->timing) {
        core->timing = false;
    } else {
        write_record(core, slot, &record);
    }
}

void skrt_profile_call(struct skrt_core *core)
{
    assert(core->timing);
    write_record(core, core->timed_slot, &core->timed);
    core->timing = false;
}
