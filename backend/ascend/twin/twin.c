#include <string.h>
#include <time.h>

#include "backend/runtime/skrt.h"

#include "backend/ascend/twin/twin.h"

/* What a copy of a word is before it was read: no word of an event, a lock or a tiling. */
static const uint64_t STALE = 0x57a1e57a1e57a1e5;

/* -------------------------------------------------------------------- where it is ---- */

struct twin_core *skir_twin_core(void)
{
    return skrt_kept(skrt_this_core());
}

static const struct skrt_site *site_of(const struct twin_core *twin, uint32_t instr)
{
    static const struct skrt_site begin = {"the begin of the entry", NULL};
    return instr == TWIN_NONE ? &begin : &twin->program->sites[instr];
}

static const struct skrt_site *site(const struct twin_core *twin)
{
    return site_of(twin, twin->instr);
}

static _Noreturn void misuse(const struct twin_core *twin, const char *why)
{
    skrt_misuse(twin->core, why, site(twin));
}

/* The instruction whose statement has this line: the last that begins there or before. Lines of
 * functions that statements call are none of theirs. */
static uint32_t find_instr(const struct twin_program *program, uint32_t line)
{
    uint32_t low = 0, high = program->n_lines;
    if (high == 0 || line < program->lines[0].line || line >= program->end_line)
        return TWIN_NONE;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (program->lines[middle].line <= line)
            low = middle;
        else
            high = middle;
    }
    return program->lines[low].instr;
}

/* -------------------------------------------------------------------------- calls ---- */

static bool includes(const struct twin_core *twin, const struct skrt_call *call)
{
    bool aic = skrt_core_type(twin->core) == SKRT_AIC;
    if (call->flat)
        return !aic && skrt_core_index(twin->core) < call->blocks;
    return skrt_block_idx(twin->core) < call->blocks && (aic || call->aivs > 0);
}

static uint32_t own_copy(const struct twin_core *twin)
{
    return skrt_core_index(twin->core) % twin->entry->copies;
}

/* The variant that was selected for a call, as a call. */
static struct skrt_call selected(const struct twin_core *twin, const struct twin_call *row)
{
    const struct skrt_select *select = &row->selects[own_copy(twin)];
    if (twin->selection != select->slot)
        misuse(twin, "nothing was selected for it");
    const struct skrt_variant *variant = &select->variants[twin->variant];
    return (struct skrt_call){.fn = variant->fn,
                              .blocks = (uint32_t)twin->blocks,
                              .aivs = variant->aivs,
                              .flat = variant->flat};
}

/* The shape that a call has on this core. */
static struct skrt_call shape_of(const struct twin_core *twin, uint32_t call)
{
    const struct twin_call *row = &twin->program->calls[call];
    struct skrt_call shape = twin->program->shapes[call];
    if (row->selects)
        return selected(twin, row);
    shape.fn = row->copies[own_copy(twin)];
    return shape;
}

static void run_call(struct twin_core *twin, uint32_t call, unsigned early)
{
    const struct twin_call *row = &twin->program->calls[call];
    struct skrt_call shape = shape_of(twin, call);
    twin->next = call + 1;
    twin->instr = row->instr;
    if (row->selects)
        skrt_call_selected(twin->core, &twin->program->shapes[call], site(twin));
    else
        skrt_call_early(twin->core, &shape, early, site(twin));
}

/* The source has gone past calls, up to one of the program. What early start has idle cores do, it
 * does itself. */
static void pass_calls(struct twin_core *twin, uint32_t end)
{
    while (twin->next < end) {
        uint32_t call = twin->next;
        const struct twin_call *row = &twin->program->calls[call];
        struct skrt_call shape = shape_of(twin, call);
        twin->instr = row->instr;
        if (includes(twin, &shape) && shape.fn && !row->stub)
            misuse(twin, "the source leaves out this call on a core that it includes");
        run_call(twin, call, 0);
    }
}

/* Where an instruction is executed, the calls before it are over; so is one that it is itself. */
static const struct skrt_site *at(struct twin_core *twin, unsigned line)
{
    uint32_t instr = find_instr(twin->program, line), end = twin->next;
    if (instr == TWIN_NONE)
        return site(twin);
    while (end < twin->program->n_calls && twin->program->calls[end].instr <= instr)
        end++;
    pass_calls(twin, end);
    twin->instr = instr;
    return site(twin);
}

static bool has_symbol(const struct twin_core *twin, uint32_t call, uint32_t symbol)
{
    const struct twin_call *row = &twin->program->calls[call];
    uint32_t n = row->selects ? row->selects->n_variants : 0;
    for (uint32_t i = 0; i < n; i++)
        if (row->variants[i] == symbol)
            return true;
    return !row->selects && row->symbol == symbol;
}

/* The next call of a function with these parameters. */
static uint32_t find_call(const struct twin_core *twin, uint64_t args_offset, uint32_t symbol)
{
    for (uint32_t i = twin->next; i < twin->program->n_calls; i++)
        if (twin->program->shapes[i].args_offset == args_offset && has_symbol(twin, i, symbol))
            return i;
    misuse(twin, "the source calls behind it what the program does not");
}

/* What the source tells the kernel of the op before it: 4 times that, and what the kernel is; 0 on
 * AICs, 1 on AIVs, 2 on both. */
static void check_early(const struct twin_core *twin, const struct twin_call *row,
                        const struct skrt_call *call)
{
    unsigned waits = row->early & (SKRT_EARLY_WAIT_AIC | SKRT_EARLY_WAIT_AIV);
    unsigned previous = waits == SKRT_EARLY_WAIT_AIC ? 0 : waits == SKRT_EARLY_WAIT_AIV ? 1 : 2;
    unsigned own = call->flat ? 1 : call->aivs ? 2 : 0;
    if (waits && twin->early_config != 4 * previous + own)
        misuse(twin, "the source tells the kernel to wait for another type of op");
}

static void feed(struct twin_core *twin, uint32_t call, enum skrt_feed_step step);

/* What the source calls is what the program calls, on a core and with the code that it has. */
static void check_call(const struct twin_core *twin, uint32_t call, uint32_t symbol, uint32_t copy)
{
    const struct twin_call *row = &twin->program->calls[call];
    struct skrt_call shape = shape_of(twin, call);
    if (!includes(twin, &shape))
        misuse(twin, "the source calls it on a core that it does not include");
    if (copy != own_copy(twin))
        misuse(twin, "the source calls another core's copy of the code");
    if (row->selects && row->variants[twin->variant] != symbol)
        misuse(twin, "the source calls another variant than the tiling key's");
    if (row->fed != twin->feeding)
        misuse(twin, row->fed ? "the source does not count its barriers"
                              : "the source counts its barriers, which are not fed");
    check_early(twin, row, &shape);
}

void skir_twin_call(uint64_t args_offset, uint32_t symbol, uint32_t copy)
{
    struct twin_core *twin = skir_twin_core();
    uint32_t call = find_call(twin, args_offset, symbol);
    pass_calls(twin, call);
    twin->instr = twin->program->calls[call].instr;
    check_call(twin, call, symbol, copy);
    if (twin->feeding)
        feed(twin, call, SKRT_FEED_BEGIN);
    run_call(twin, call, twin->program->calls[call].early);
}

/* ---------------------------------------------------------------- synchronisation ---- */

void skir_twin_set(uint64_t mode, uint64_t flag, unsigned line)
{
    struct twin_core *twin = skir_twin_core();
    const struct skrt_site *site = at(twin, line);
    if (mode == 0 && flag == TWIN_AIC_FLAG)
        skrt_arrive(twin->core, SKRT_AIC, site);
    else if (mode == 0 && flag == TWIN_AIV_ALL)
        skrt_arrive(twin->core, SKRT_AIV, site);
    else if (mode == 2 && flag == TWIN_AIC_AIV_FLAG)
        skrt_set_c2v(twin->core, site);
    else if (mode == 2 && flag == TWIN_AIV_FLAG)
        skrt_set_v2c(twin->core, site);
    else
        misuse(twin, "the source sets a flag that entries do not have");
}

void skir_twin_wait(uint64_t flag, unsigned line)
{
    struct twin_core *twin = skir_twin_core();
    const struct skrt_site *site = at(twin, line);
    switch (flag) {
    case TWIN_AIC_FLAG: skrt_await(twin->core, SKRT_AIC, site); break;
    case TWIN_AIV_ALL: skrt_await(twin->core, SKRT_AIV, site); break;
    case TWIN_AIC_AIV_FLAG: skrt_wait_c2v(twin->core, site); break;
    case TWIN_AIV_FLAG: skrt_wait_v2c(twin->core, site); break;
    default: misuse(twin, "the source waits for a flag that entries do not have");
    }
}

void skir_twin_drain(unsigned line)
{
    struct twin_core *twin = skir_twin_core();
    skrt_pipe_barrier(twin->core, at(twin, line));
}

static void barrier(enum skrt_core_type type, unsigned line)
{
    uint64_t flag = type == SKRT_AIC ? TWIN_AIC_FLAG : TWIN_AIV_ALL;
    skir_twin_set(0, flag, line);
    skir_twin_wait(flag, line);
}

void skir_twin_sync_all(bool aivs_only, unsigned line)
{
    skir_twin_drain(line);
    if (aivs_only) {
        barrier(SKRT_AIV, line);
    } else if (skir_twin_is_aic()) {
        skir_twin_wait(TWIN_AIV_FLAG, line);
        barrier(SKRT_AIC, line);
        skir_twin_set(2, TWIN_AIC_AIV_FLAG, line);
    } else {
        skir_twin_set(2, TWIN_AIV_FLAG, line);
        skir_twin_wait(TWIN_AIC_AIV_FLAG, line);
    }
}

void skir_twin_arrive(unsigned line)
{
    skir_twin_set(0, skir_twin_is_aic() ? TWIN_AIC_FLAG : TWIN_AIV_ALL, line);
}

/* The parts of the op before, and of this one: on the core's own type, and on the other. */
void skir_twin_wait_previous(unsigned config, unsigned line)
{
    bool aic = skir_twin_is_aic();
    unsigned before = config >> 2, now = config & 3, own = aic ? 0 : 1;
    bool own_before = before != 1 - own, other_before = before != own;
    bool own_now = now != 1 - own, other_now = now != own;
    if (own_before)
        skir_twin_wait(aic ? TWIN_AIC_FLAG : TWIN_AIV_ALL, line);
    if (own_before && other_now)
        skir_twin_set(2, aic ? TWIN_AIC_AIV_FLAG : TWIN_AIV_FLAG, line);
    if (other_before && own_now)
        skir_twin_wait(aic ? TWIN_AIV_FLAG : TWIN_AIC_AIV_FLAG, line);
}

void skir_twin_hint(unsigned line)
{
    struct twin_core *twin = skir_twin_core();
    skrt_hint(twin->core, at(twin, line));
}

void skir_twin_trap(unsigned line)
{
    struct twin_core *twin = skir_twin_core();
    at(twin, line);
    misuse(twin, "the source traps");
}

/* -------------------------------------------------------------------------- words ---- */

/* The instruction of the program about a word. */
static const struct skrt_site *event_site(const struct twin_core *twin, uint32_t slot,
                                          enum twin_event_kind kind)
{
    const struct twin_program *program = twin->program;
    for (uint32_t i = 0; i < program->n_events; i++)
        if (program->events[i].slot == slot && program->events[i].kind == kind)
            return site_of(twin, program->events[i].instr);
    return NULL;
}

static const struct skrt_site *need_event(const struct twin_core *twin, uint32_t slot,
                                          enum twin_event_kind kind)
{
    const struct skrt_site *site = event_site(twin, slot, kind);
    if (!site)
        misuse(twin, kind == TWIN_RESET ? "the source resets a word that the program does not"
                                        : "the source notifies what the program does not");
    if (skrt_core_index(twin->core) != 0)
        skrt_misuse(twin->core, "another core than the first of its type executes it", site);
    return site;
}

static void write_back(struct twin_core *twin, uint32_t word)
{
    struct twin_copy *copy = &twin->words[word];
    uint32_t slot = twin->entry->words[word].slot;
    if (copy->value > 1)
        misuse(twin, "the source stores what is neither 0 nor 1 in an event or a lock");
    const struct skrt_site *site = need_event(twin, slot, copy->value ? TWIN_NOTIFY : TWIN_RESET);
    if (copy->value)
        skrt_notify(twin->core, slot, site);
    else
        skrt_reset(twin->core, slot, site);
    copy->clean = copy->value;
}

static void set_copy(struct twin_core *twin, uint32_t word, uint64_t value)
{
    twin->words[word] = (struct twin_copy){value, value};
}

static void wait_event(struct twin_core *twin, uint32_t word)
{
    uint32_t slot = twin->entry->words[word].slot;
    if (!event_site(twin, slot, TWIN_WAIT))
        return;
    skrt_wait_event(twin->core, slot, need_event(twin, slot, TWIN_WAIT));
    set_copy(twin, word, 1);
}

/* The next call of what a tiling chooses. */
static uint32_t find_selected(const struct twin_core *twin, uint64_t slot)
{
    for (uint32_t i = twin->next; i < twin->program->n_calls; i++) {
        const struct twin_call *row = &twin->program->calls[i];
        if (row->selects && row->selects->slot == slot)
            return i;
    }
    misuse(twin, "the source waits for a tiling that the program does not select by");
}

static uint64_t read_word(const struct twin_core *twin, uint64_t slot)
{
    return *(const volatile uint64_t *)(uintptr_t)*skrt_args(twin->core, slot);
}

static void select_variant(struct twin_core *twin, uint32_t lock)
{
    uint64_t slot = twin->entry->words[lock - 2].slot;
    uint32_t call = find_selected(twin, slot);
    const struct twin_call *row = &twin->program->calls[call];
    const struct skrt_select *select = &row->selects[own_copy(twin)];
    pass_calls(twin, call);
    twin->instr = row->select;
    skrt_select(twin->core, select, site(twin));
    twin->selection = slot;
    twin->key = read_word(twin, slot);
    twin->blocks = read_word(twin, slot + 1);
    for (twin->variant = 0; select->variants[twin->variant].key != twin->key;)
        twin->variant++;
    set_copy(twin, lock - 2, twin->key);
    set_copy(twin, lock - 1, twin->blocks);
    set_copy(twin, lock, 1);
}

/* What was written goes to memory; what was not comes from there, when it is there. */
static void clean_word(struct twin_core *twin, uint32_t word)
{
    if (twin->words[word].value != twin->words[word].clean)
        write_back(twin, word);
    else if (twin->entry->words[word].kind == TWIN_EVENT)
        wait_event(twin, word);
    else if (twin->entry->words[word].kind == TWIN_LOCK)
        select_variant(twin, word);
}

void skir_twin_clean(const volatile void *address)
{
    struct twin_core *twin = skir_twin_core();
    uintptr_t offset = (uintptr_t)address - (uintptr_t)twin->words;
    if (offset < twin->entry->n_words * sizeof *twin->words)
        clean_word(twin, (uint32_t)(offset / sizeof *twin->words));
}

static void write_back_all(struct twin_core *twin)
{
    for (uint32_t i = 0; i < twin->entry->n_words; i++)
        if (twin->words[i].value != twin->words[i].clean)
            write_back(twin, i);
}

void skir_twin_clean_all(unsigned line)
{
    struct twin_core *twin = skir_twin_core();
    skrt_hint(twin->core, at(twin, line));
    write_back_all(twin);
}

/* ---------------------------------------------------------------------------- fed ---- */

/* Counters of AICs precede those of AIVs; the source says which one it is. */
static void feed(struct twin_core *twin, uint32_t call, enum skrt_feed_step step)
{
    const struct twin_entry *entry = twin->entry;
    uint64_t half = entry->feed_size / 2;
    uint64_t base = *skrt_args(twin->core, entry->feed_slot);
    uint64_t own = base + (skir_twin_is_aic() ? 0 : half);
    uint64_t offset = (uintptr_t)twin->feed_counter - own;
    if ((uintptr_t)twin->feed_base != base || offset % 64 != 0 || offset >= half)
        misuse(twin, "the source counts barriers outside of the core type's counters");
    const struct skrt_call *shape = &twin->program->shapes[call];
    const struct skrt_feed fed = {entry->feed_slot, entry->feed_size, offset / 64, shape};
    skrt_feed_sync(twin->core, step, &fed, site(twin));
}

void skir_twin_feed_end(void)
{
    struct twin_core *twin = skir_twin_core();
    if (twin->next == 0 || !twin->program->calls[twin->next - 1].fed)
        misuse(twin, "the source ends counting behind a call that is not fed");
    feed(twin, twin->next - 1, SKRT_FEED_END);
}

/* The first call that leaves out the core and in whose barriers it did not take part yet. */
void skir_twin_feed_complement(void)
{
    struct twin_core *twin = skir_twin_core();
    uint32_t call = twin->fed;
    while (call < twin->program->n_calls &&
           (!twin->program->calls[call].fed || includes(twin, &twin->program->shapes[call])))
        call++;
    if (call == twin->program->n_calls)
        misuse(twin, "the source takes part in barriers of a call that is not fed");
    pass_calls(twin, call + 1);
    twin->fed = call + 1;
    feed(twin, call, SKRT_FEED_COMPLEMENT);
}

/* ------------------------------------------------------------------- local memory ---- */

static unsigned char *local(struct twin_core *twin, const volatile void *address, uint64_t size)
{
    if ((uintptr_t)address > TWIN_LOCAL || size > TWIN_LOCAL - (uintptr_t)address)
        misuse(twin, "the source uses more local memory than it should need");
    return twin->local + (uintptr_t)address;
}

void skir_twin_fill(const volatile void *to, const void *value, uint64_t size, uint64_t count)
{
    struct twin_core *twin = skir_twin_core();
    unsigned char *bytes = local(twin, to, size * count);
    for (uint64_t i = 0; i < count; i++)
        memcpy(bytes + i * size, value, size);
}

void skir_twin_store(volatile void *to, const volatile void *from, uint64_t size)
{
    struct twin_core *twin = skir_twin_core();
    const struct twin_entry *entry = twin->entry;
    uint64_t offset = (uintptr_t)to - *skrt_args(twin->core, entry->feed_slot);
    if (offset > entry->feed_room || size > entry->feed_room - offset)
        misuse(twin, "the source clears memory outside of the workspace");
    memcpy((void *)to, local(twin, from, size), size);
}

/* -------------------------------------------------------------------------- cores ---- */

uint64_t *skir_twin_params(void)
{
    return skir_twin_core()->params;
}

bool skir_twin_is_aic(void)
{
    return skrt_core_type(skrt_this_core()) == SKRT_AIC;
}

uint32_t skir_twin_block(void)
{
    return skrt_block_idx(skrt_this_core());
}

uint32_t skir_twin_blocks(void)
{
    return skrt_block_num(skrt_this_core());
}

uint32_t skir_twin_sub(void)
{
    return skrt_sub_block_idx(skrt_this_core());
}

uint32_t skir_twin_subs(void)
{
    return skrt_sub_block_num(skrt_this_core());
}

uint32_t skir_twin_index(void)
{
    return skrt_core_index(skrt_this_core());
}

uint64_t skir_twin_cycle(void)
{
    enum { TICK = 20 }; /* nanoseconds */
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) / TICK;
}

/* ------------------------------------------------------------------------ entries ---- */

/* Its parameters, with copies of the words that others write. */
static void begin(struct twin_core *twin, uint32_t at)
{
    const struct twin_entry *entry = twin->entry;
    twin->params = entry->params + (size_t)at * entry->n_slots;
    twin->words = entry->cache + (size_t)at * entry->n_words;
    memcpy(twin->params, skrt_args(twin->core, 0), entry->n_slots * sizeof *twin->params);
    for (uint32_t i = 0; i < entry->n_words; i++) {
        set_copy(twin, i, STALE);
        twin->params[entry->words[i].slot] = (uintptr_t)&twin->words[i].value;
    }
    memset(twin->local, 0xa5, sizeof twin->local);
}

void skir_twin_run(skrt_core *core, const struct twin_entry *entry)
{
    enum skrt_core_type type = skrt_core_type(core);
    uint32_t at = skrt_core_index(core) + (type == SKRT_AIV ? entry->n_cores[SKRT_AIC] : 0);
    struct twin_core *twin = &entry->cores[at];
    *twin = (struct twin_core){.core = core,
                               .entry = entry,
                               .program = &entry->programs[type],
                               .instr = TWIN_NONE,
                               .selection = TWIN_NONE};
    skrt_keep(core, twin);
    begin(twin, at);
    entry->run();
    pass_calls(twin, twin->program->n_calls);
    write_back_all(twin);
}
