/* Where each core stands, in memory that a launch leaves as it is whatever becomes of it: the
 * instruction `trace` of entries; and the counters by which a core checks what it waited for.
 * Only its core writes a line. */
#include "backend/runtime/instructions.h"

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
