/* Calls of sub-kernels: early start, the calls themselves, those of dynamic kernels, and what a
 * sub-kernel asks about the call that it is in. */
#include <stdio.h>

#include "backend/runtime/core.h"
#include "backend/runtime/instructions.h"
#include "backend/runtime/race.h"

/* Early start: sub-kernels that do halves of the entry's barriers themselves, and cores that do
 * them in place of a sub-kernel that they do not run (docs/device-model.md, "Early start"). */

/* What an op waits for after one that has parts on the core types that `early` names. */
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

/* What a call's `early` says, done by a core that its sub-kernel does not run on. */
static void skrt_early_idle(struct skrt_core *core, const struct skrt_call *call, unsigned early,
                            const struct skrt_site *site)
{
    if (early & SKRT_EARLY_WAITS)
        early_wait(core, call, early, site);
    if (early & SKRT_EARLY_SET)
        skrt_arrive(core, core->type, site);
}

/* Records that the sub-kernel does one of its halves; returns whether there is anything to do: a
 * sub-kernel that is launched alone has nobody before or after it. */
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

/* The core's sub-kernel has returned: it must have done what the call says. */
static void skrt_early_check(struct skrt_core *core, const struct skrt_site *site)
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

/* Calls of sub-kernels, and what a sub-kernel asks about the one that it is in. */

static void skrt_call_check_nesting(struct skrt_core *core)
{
    if (core->call)
        skrt_core_misuse(core, "a call inside a sub-kernel");
}

static void call_check(struct skrt_core *core, const struct skrt_call *call)
{
    char why[128];
    skrt_call_check_nesting(core);
    if (skrt_call_misfit(core->job->launch, core->type, call, why, sizeof why))
        skrt_core_misuse(core, "%s", why);
}

/* The core counts a call that does not include it. */
static void skrt_call_pass(struct skrt_core *core, const struct skrt_call *call)
{
    core->calls++;
    if (core->job->race)
        skrt_race_call(core, call, false);
}

static void call_run(struct skrt_core *core, const struct skrt_call *call, unsigned early,
                     const struct skrt_site *site)
{
    assert(!core->sync);
    if (core->timing)
        skrt_profile_call(core);
    core->call = call;
    core->early = early;
    core->early_done = 0;
    atomic_store_explicit(&core->ran, site, memory_order_relaxed);
    atomic_store_explicit(&core->in_call, true, memory_order_relaxed);
    skrt_sched_let_go(core->worker);
    call->fn(core, call->args_offset);
    skrt_early_check(core, site);
    atomic_store_explicit(&core->in_call, false, memory_order_relaxed);
    if (core->sync)
        skrt_sync_point_leave(core);
    core->call = NULL;
}

/* For the race check a sub-kernel that waits for the op before it begins when that is over. */
void skrt_call_early(struct skrt_core *core, const struct skrt_call *call, unsigned early,
                     const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    call_check(core, call);
    if (!skrt_core_included(core, call)) {
        skrt_call_pass(core, call);
        skrt_early_idle(core, call, early, site);
        return;
    }
    core->calls++;
    if (core->job->race && !(early & SKRT_EARLY_WAITS))
        skrt_race_call(core, call, true);
    call_run(core, call, early, site);
}

void skrt_call(struct skrt_core *core, const struct skrt_call *call, const struct skrt_site *site)
{
    skrt_call_early(core, call, 0, site);
}

/* ---------------------------------------------------- what sub-kernels ask ---- */

uint64_t *skrt_args(const struct skrt_core *core, uint64_t args_offset)
{
    return core->job->launch->params + args_offset;
}

enum skrt_core_type skrt_core_type(const struct skrt_core *core)
{
    return core->type;
}

uint32_t skrt_core_index(const struct skrt_core *core)
{
    return core->index;
}

uint32_t skrt_block_idx(const struct skrt_core *core)
{
    return core->call && core->call->flat ? core->index : core->block;
}

uint32_t skrt_block_num(const struct skrt_core *core)
{
    return core->call ? core->call->blocks : core->job->launch->blocks;
}

uint32_t skrt_sub_block_idx(const struct skrt_core *core)
{
    return core->call && core->call->flat ? 0 : core->sub;
}

uint32_t skrt_sub_block_num(const struct skrt_core *core)
{
    if (core->type == SKRT_AIC || (core->call && core->call->flat))
        return 1;
    return core->job->launch->aivs;
}

/* Dynamic kernels on a core of the virtual device: what a tiling key chooses, and its call. */

/* The keys that there are, for a report. */
static void print_keys(char *text, size_t size, const struct skrt_select *select)
{
    enum { MAX_KEYS = 6 };
    size_t used = 0;
    for (uint32_t i = 0; i < select->n_variants && i < MAX_KEYS && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, i ? ", %llu" : "%llu",
                                 (unsigned long long)select->variants[i].key);
    if (select->n_variants > MAX_KEYS && used < size)
        snprintf(text + used, size - used, ", ...");
}

static _Noreturn void fail_key(struct skrt_core *core, const struct skrt_select *select,
                               uint64_t key)
{
    char keys[128] = "none";
    print_keys(keys, sizeof keys, select);
    skrt_core_misuse(core, "there is no variant for the tiling key %llu; the keys are %s",
                     (unsigned long long)key, keys);
}

static void wait_for_lock(struct skrt_core *core, uint64_t slot)
{
    const _Atomic uint64_t *lock = skrt_event_word(core, slot);
    if (atomic_load_explicit(lock, memory_order_acquire) != 0)
        return;
    skrt_event_await(core, slot, lock, SKRT_WAIT_TILING);
}

void skrt_select(struct skrt_core *core, const struct skrt_select *select,
                 const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    const _Atomic uint64_t *key_word = skrt_event_word(core, select->slot);
    const _Atomic uint64_t *blocks_word = skrt_event_word(core, select->slot + 1);
    wait_for_lock(core, select->slot + 2);
    /* The core that opened the lock wrote these before. */
    uint64_t key = atomic_load_explicit(key_word, memory_order_relaxed);
    core->variant_blocks = atomic_load_explicit(blocks_word, memory_order_relaxed);
    core->variant = NULL;
    for (uint32_t i = 0; i < select->n_variants && !core->variant; i++)
        if (select->variants[i].key == key)
            core->variant = &select->variants[i];
    if (!core->variant)
        fail_key(core, select, key);
}

/* Stops the launch where the tiling asks for more than the call allows. */
static void selected_check(struct skrt_core *core, const struct skrt_call *call)
{
    const struct skrt_variant *variant = core->variant;
    uint64_t most = call->blocks;
    if (!variant)
        skrt_core_misuse(core, "nothing was selected for it");
    if (variant->flat && !call->flat)
        most *= call->aivs;
    if (core->variant_blocks == 0 || core->variant_blocks > most)
        skrt_core_misuse(core, "its tiling asks for %llu blocks, the call has 1 to %llu",
                         (unsigned long long)core->variant_blocks, (unsigned long long)most);
}

void skrt_call_selected(struct skrt_core *core, const struct skrt_call *call,
                        const struct skrt_site *site)
{
    skrt_core_begin(core, site);
    skrt_call_check_nesting(core); /* `selected` would be in use */
    selected_check(core, call);
    const struct skrt_variant *variant = core->variant;
    core->variant = NULL;
    core->selected =
        (struct skrt_call){variant->fn, call->args_offset, (uint32_t)core->variant_blocks,
                           variant->aivs, variant->flat};
    if (variant->fn)
        skrt_call(core, &core->selected, site);
    else
        skrt_call_pass(core, &core->selected);
}
