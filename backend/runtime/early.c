/* Early start: sub-kernels that do halves of the entry's barriers themselves, and cores that do
 * them in place of a sub-kernel that they do not run (docs/device-model.md, "Early start"). */
#include "backend/runtime/instructions.h"
#include "backend/runtime/race.h"

/* What an op waits for behind one that has parts on the core types that `early` names. */
static void early_wait(struct skrt_core *core, const struct skrt_call *call, unsigned early,
                       const struct skrt_site *site)
{
    bool vector = call->flat || call->aivs > 0;
    if (core->type == SKRT_AIC) {
        if (early & SKRT_EARLY_WAIT_AIC)
            skrt_await(core, SKRT_AIC, site);
        if (early & SKRT_EARLY_WAIT_AIC && vector)
            skrt_set_c2v(core, site);
        if (early & SKRT_EARLY_WAIT_AIV)
            skrt_wait_v2c(core, site);
    } else {
        if (early & SKRT_EARLY_WAIT_AIV)
            skrt_await(core, SKRT_AIV, site);
        if (early & SKRT_EARLY_WAIT_AIV && !call->flat)
            skrt_set_v2c(core, site);
        if (early & SKRT_EARLY_WAIT_AIC)
            skrt_wait_c2v(core, site);
    }
}

void skrt_early_idle(struct skrt_core *core, const struct skrt_call *call, unsigned early,
                     const struct skrt_site *site)
{
    if (early & SKRT_EARLY_WAITS)
        early_wait(core, call, early, site);
    if (early & SKRT_EARLY_SET)
        skrt_arrive(core, core->type, site);
}

/* Records that the sub-kernel does one of its halves; returns whether there is anything to do: a
 * sub-kernel that is launched alone has nobody before or behind it. */
static bool early_begin(struct skrt_core *core, unsigned half, const char *name)
{
    bool alone = !core->job->launch->entry;
    const char *wrong = NULL;
    skrt_core_begin(core, skrt_core_call_site(core));
    if (!core->call)
        wrong = "outside of a sub-kernel";
    else if (core->early_done & half)
        wrong = "a second time in one call";
    else if (!alone && !(core->early & half))
        wrong = "in a sub-kernel whose call does not say so";
    else if (half == SKRT_EARLY_SET && core->early & SKRT_EARLY_WAITS &&
             !(core->early_done & SKRT_EARLY_WAITS))
        wrong = "before it waits for the op before it";
    if (wrong)
        skrt_core_misuse(core, "%s %s", name, wrong);
    core->early_done |= half;
    return !alone;
}

void skrt_kernel_wait_previous(struct skrt_core *core)
{
    if (!early_begin(core, SKRT_EARLY_WAITS, "skrt_kernel_wait_previous"))
        return;
    early_wait(core, core->call, core->early, skrt_core_call_site(core));
    if (core->job->race)
        skrt_race_call(core, core->call, true);
}

void skrt_kernel_next_start(struct skrt_core *core)
{
    if (early_begin(core, SKRT_EARLY_SET, "skrt_kernel_next_start"))
        skrt_arrive(core, core->type, skrt_core_call_site(core));
}

void skrt_early_check(struct skrt_core *core, const struct skrt_site *site)
{
    const char *why = NULL;
    if (core->early & SKRT_EARLY_WAITS && !(core->early_done & SKRT_EARLY_WAITS))
        why = "the sub-kernel has not called skrt_kernel_wait_previous, as the call says";
    else if (core->early & SKRT_EARLY_SET && !(core->early_done & SKRT_EARLY_SET))
        why = "the sub-kernel has not called skrt_kernel_next_start, as the call says";
    if (!why)
        return;
    skrt_core_begin(core, site);
    skrt_core_misuse(core, "%s", why);
}
