/* What all instructions share: which cores a call includes, how cores fail, which core this is. */
#include "backend/runtime/core.h"

#include <stdarg.h>
#include <stdio.h>

/* ----------------------------------------------------------------- the shape of a call ---- */

uint32_t skrt_call_cores(const struct skrt_launch *launch, const struct skrt_call *call,
                         enum skrt_core_type type)
{
    if (type == SKRT_AIC || call->flat)
        return call->blocks;
    return call->aivs > 0 ? call->blocks * launch->aivs : 0;
}

bool skrt_call_alike(const struct skrt_call *a, const struct skrt_call *b)
{
    return a->blocks == b->blocks && a->aivs == b->aivs && a->flat == b->flat;
}

bool skrt_call_misfit(const struct skrt_launch *launch, enum skrt_core_type type,
                      const struct skrt_call *call, char *why, size_t size)
{
    uint32_t cores = call->flat ? launch->blocks * launch->aivs : launch->blocks;
    why[0] = '\0';
    if (!call->fn)
        snprintf(why, size, "the sub-kernel has no function");
    else if (call->flat && type != SKRT_AIV)
        snprintf(why, size, "the sub-kernel is for AIVs only");
    else if (!call->flat && launch->aics == 0)
        snprintf(why, size, "the sub-kernel needs AICs, the launch has none");
    else if (!call->flat && call->aivs > launch->aivs)
        snprintf(why, size, "the sub-kernel needs %u AIVs per AI core, the launch has %u",
                 call->aivs, launch->aivs);
    else if (call->blocks == 0 || call->blocks > cores)
        snprintf(why, size, "the sub-kernel needs %u blocks, the launch has %u", call->blocks,
                 cores);
    else if (call->args_offset > launch->n_params)
        snprintf(why, size, "its parameters begin at slot %llu, the launch has %zu slots",
                 (unsigned long long)call->args_offset, launch->n_params);
    return why[0] != '\0';
}

/* ---------------------------------------------------------------------------- failures ---- */

/* Where and why a core cannot go on. */
static void write_cause(char *cause, const struct skrt_core *core, const char *format, va_list args)
{
    const struct skrt_site *site = atomic_load_explicit(&core->site, memory_order_relaxed);
    int n = snprintf(cause, SKRT_CAUSE_SIZE, "%s %u at `%.80s`: ", skrt_core_type_names[core->type],
                     core->index, skrt_site_text(site));
    if (n > 0 && n < SKRT_CAUSE_SIZE)
        vsnprintf(cause + n, (size_t)(SKRT_CAUSE_SIZE - n), format, args);
}

static _Noreturn void stop(struct skrt_core *core, enum skrt_status status, const char *cause)
{
    skrt_sched_stop(core->device, core->job, status, cause);
    skrt_sched_halt(core);
}

void skrt_core_fail(struct skrt_core *core, enum skrt_status status, const char *format, ...)
{
    char cause[SKRT_CAUSE_SIZE];
    va_list args;
    va_start(args, format);
    write_cause(cause, core, format, args);
    va_end(args);
    stop(core, status, cause);
}

void skrt_core_misuse(struct skrt_core *core, const char *format, ...)
{
    char cause[SKRT_CAUSE_SIZE];
    va_list args;
    va_start(args, format);
    write_cause(cause, core, format, args);
    va_end(args);
    skrt_core_enter(core);
    stop(core, SKRT_MISUSE, cause);
}

void skrt_hint(struct skrt_core *core, const struct skrt_site *site)
{
    skrt_core_begin(core, site);
}

void skrt_misuse(struct skrt_core *core, const char *why, const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    skrt_core_misuse(core, "%s", why);
}

struct skrt_core *skrt_this_core(void)
{
    const struct skrt_worker *worker = skrt_sched_this_worker();
    return worker ? worker->core : NULL;
}

void skrt_keep(struct skrt_core *core, void *kept)
{
    core->kept = kept;
}

void *skrt_kept(const struct skrt_core *core)
{
    return core->kept;
}
