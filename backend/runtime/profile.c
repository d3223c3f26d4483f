/* Time records of cores, and traces: where each core is, in memory that a launch leaves as it is
 * whatever becomes of it, with the counters by which a core checks what it waited for. */
#include "backend/runtime/profile.h"

#include "backend/runtime/instructions.h"

/* A record of now. */
static struct skrt_profile_record skrt_record_now(const struct skrt_core *core,
                                                  enum skrt_phase phase,
                                                  enum skrt_profile_kind kind, uint32_t index)
{
    return (struct skrt_profile_record){.ns = skrt_clock() - core->job->begin,
                                        .index = index,
                                        .core = core->index,
                                        .type = (uint8_t)core->type,
                                        .kind = (uint8_t)kind,
                                        .phase = (uint8_t)phase};
}

static void skrt_record_write(struct skrt_profile *profile, uint64_t size,
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

/* ------------------------------------------------------------- the instruction profile ---- */

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

/* Where each core is, in memory that a launch leaves as it is whatever becomes of it: the
 * instruction `trace` of entries; and the counters by which a core checks what it waited for.
 * Only its core writes a line. */

/* The lines of all cores of a type, or NULL where the launch has none. */
static struct skrt_trace_line *lines_of(struct skrt_core *core, uint64_t slot,
                                        enum skrt_core_type type)
{
    const struct skrt_launch *launch = core->job->launch;
    if (slot >= launch->n_params)
        skrt_core_misuse(core, "the launch has no slot for a trace there");
    uint64_t address = launch->params[slot];
    if (address % _Alignof(struct skrt_trace_line) != 0)
        skrt_core_misuse(core, "the buffer for the trace is not aligned");
    if (address == 0)
        return NULL;
    return (struct skrt_trace_line *)(uintptr_t)address +
           (type == SKRT_AIV ? core->job->launched[SKRT_AIC] : 0);
}

static struct skrt_trace_line *line_of(struct skrt_core *core, uint64_t slot)
{
    struct skrt_trace_line *lines = lines_of(core, slot, core->type);
    if (!lines)
        return NULL;
    lines[core->index].magic = SKRT_TRACE_MAGIC;
    lines[core->index].core = (uint16_t)core->index;
    lines[core->index].type = (uint8_t)core->type;
    return &lines[core->index];
}

void skrt_trace(struct skrt_core *core, uint64_t slot, uint32_t index, uint32_t state,
                const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    struct skrt_trace_line *line = line_of(core, slot);
    if (!line)
        return;
    line->index = index;
    line->state = state;
    line->count++;
    line->time = skrt_clock() - core->job->begin;
}

void skrt_count(struct skrt_core *core, uint64_t slot, enum skrt_counter counter,
                const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    struct skrt_trace_line *line = line_of(core, slot);
    if (line)
        __atomic_fetch_add(&line->counted[counter], 1, __ATOMIC_RELEASE);
}

/* Those that a core has waited for: all of its type, or those of its AI core that are not. */
static const struct skrt_core *awaited(const struct skrt_core *core, enum skrt_counter counter,
                                       uint32_t *n)
{
    const struct skrt_job *job = core->job;
    uint32_t aivs = job->launch->aivs;
    *n = counter == SKRT_BARRIER ? job->launched[core->type] : core->type == SKRT_AIC ? aivs : 1;
    if (counter == SKRT_BARRIER)
        return job->cores[core->type];
    return core->type == SKRT_AIC ? job->cores[SKRT_AIV] + core->block * aivs
                                  : job->cores[SKRT_AIC] + core->block;
}

static void fail(struct skrt_core *core, struct skrt_trace_line *line,
                 const struct skrt_core *other, enum skrt_counter counter, uint32_t found)
{
    const char *type = other->type == SKRT_AIC ? "aic" : "aiv";
    line->fault = (uint8_t)(1 + counter);
    line->expected = line->checked[counter];
    line->found = found;
    line->other = (uint32_t)other->type << 16 | other->index;
    skrt_core_misuse(core,
                     counter == SKRT_BARRIER
                         ? "it has passed %u barriers, but %s %u has come to %u of them: a kernel "
                           "has left arrivals"
                         : "it has passed %u releases, but %s %u has made %u of them: a kernel has "
                           "left a flag set",
                     line->expected, type, other->index, found);
}

void skrt_check(struct skrt_core *core, uint64_t slot, enum skrt_counter counter,
                const struct skrt_site *site)
{
    uint32_t n;
    skrt_core_begin(core, site);
    struct skrt_trace_line *line = line_of(core, slot);
    if (!line)
        return;
    line->checked[counter]++;
    const struct skrt_core *others = awaited(core, counter, &n);
    for (uint32_t i = 0; i < n; i++) {
        const struct skrt_trace_line *lines = lines_of(core, slot, others[i].type);
        uint32_t found =
            __atomic_load_n(&lines[others[i].index].counted[counter], __ATOMIC_ACQUIRE);
        if (found < line->checked[counter])
            fail(core, line, &others[i], counter, found);
    }
}
