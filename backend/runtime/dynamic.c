/* Dynamic kernels on a core of the virtual device: what a tiling key chooses, and its call. */
#include <stdio.h>

#include "backend/runtime/instructions.h"

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
    /* Whoever opened the lock wrote these before. */
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
