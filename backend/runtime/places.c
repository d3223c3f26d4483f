/* Which core of the device each core of a launch has. */
#include "backend/runtime/places.h"

/* Places of one block, by the index of its core among those of the type in it. */
struct block_places {
    uint32_t at[SKRT_CORE_TYPES][SKRT_MAX_AIVS];
};

static bool is_free(const struct skrt_device *device, enum skrt_core_type type, uint32_t place)
{
    return !device->holders[type][place];
}

/* Where the places that a launch takes begin. */
static uint32_t base_of(const struct skrt_device *device, const struct skrt_launch *launch,
                        enum skrt_core_type type)
{
    return launch->apart ? device->capacity[type] : 0;
}

/* The first that is free from a place on, or the end. */
static uint32_t next_free(const struct skrt_device *device, enum skrt_core_type type, uint32_t from,
                          uint32_t end)
{
    while (from < end && !is_free(device, type, from))
        from++;
    return from;
}

/* The first of all that is free. */
static uint32_t lowest_free(struct skrt_device *device, enum skrt_core_type type, uint32_t base,
                            uint32_t end)
{
    if (base > 0)
        return next_free(device, type, base, end);
    return device->lowest[type] = next_free(device, type, device->lowest[type], end);
}

/* `n` places of one type; false where there are not so many. */
static bool find_any(struct skrt_device *device, enum skrt_core_type type, uint32_t base,
                     uint32_t n, uint32_t *places)
{
    uint32_t end = base + device->capacity[type];
    uint32_t at = lowest_free(device, type, base, end);
    for (uint32_t i = 0; i < n; i++, at = next_free(device, type, at + 1, end)) {
        if (at >= end)
            return false;
        places[i] = at;
    }
    return true;
}

/* The AIVs of an AI core are where its AIC is, in pairs. */
static bool find_ai_core(struct skrt_device *device, uint32_t base, uint32_t aivs,
                         struct block_places *places)
{
    uint32_t end = base + device->capacity[SKRT_AIC];
    uint32_t aic = lowest_free(device, SKRT_AIC, base, end);
    for (; aic < end; aic = next_free(device, SKRT_AIC, aic + 1, end)) {
        uint32_t n = 0;
        for (uint32_t aiv = SKRT_MAX_AIVS * aic; aiv < SKRT_MAX_AIVS * (aic + 1) && n < aivs; aiv++)
            if (is_free(device, SKRT_AIV, aiv))
                places->at[SKRT_AIV][n++] = aiv;
        places->at[SKRT_AIC][0] = aic;
        if (n == aivs)
            return true;
    }
    return false;
}

static bool find_block(struct skrt_device *device, const struct skrt_launch *launch,
                       struct block_places *places)
{
    bool grouped = device->capacity[SKRT_AIV] == SKRT_MAX_AIVS * device->capacity[SKRT_AIC];
    uint32_t aics = base_of(device, launch, SKRT_AIC), aivs = base_of(device, launch, SKRT_AIV);
    if (grouped && launch->aics && launch->aivs)
        return find_ai_core(device, aics, launch->aivs, places);
    return find_any(device, SKRT_AIC, aics, launch->aics, places->at[SKRT_AIC]) &&
           find_any(device, SKRT_AIV, aivs, launch->aivs, places->at[SKRT_AIV]);
}

static void take(struct skrt_core *core, uint32_t place)
{
    struct skrt_device *device = core->device;
    assert(is_free(device, core->type, place));
    device->holders[core->type][place] = core->job;
    core->place = place;
}

bool skrt_places_take(struct skrt_job *job)
{
    struct block_places places;
    const struct skrt_launch *launch = job->launch;
    assert(job->device->locked && job->placed < launch->blocks);
    if (launch->apart && job->device->apart && job->device->apart != job)
        return false;
    if (!find_block(job->device, launch, &places))
        return false;
    if (launch->apart)
        job->device->apart = job;
    for (uint32_t i = 0; i < launch->aics; i++)
        take(&job->cores[SKRT_AIC][job->placed * launch->aics + i], places.at[SKRT_AIC][i]);
    for (uint32_t i = 0; i < launch->aivs; i++)
        take(&job->cores[SKRT_AIV][job->placed * launch->aivs + i], places.at[SKRT_AIV][i]);
    job->placed++;
    return true;
}

void skrt_places_leave(struct skrt_core *core)
{
    struct skrt_device *device = core->device;
    assert(device->locked && device->holders[core->type][core->place] == core->job);
    device->holders[core->type][core->place] = NULL;
    if (core->place < device->lowest[core->type]) /* none of those apart */
        device->lowest[core->type] = core->place;
    core->place = SKRT_NO_PLACE;
}
