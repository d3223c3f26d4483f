/* The twin: a source that does what its program says runs; where it does anything else, that is
 * said. The source is a function here, the program tables as skirc makes them. */
#include "tests/unit/skrt_harness.h"

#include "backend/ascend/twin/twin.h"

enum { SLOTS = 12, CORES = 4, COPIES = 2, WAITED = 3, SENT = 4, KEY = 5, OTHER_KEY = 8 };
enum { FIRST, SECOND, SMALL, LARGE }; /* symbols */

enum fault {
    NO_FAULT,
    LEAVES_OUT,
    NOT_INCLUDED,
    OTHER_SLOT,
    OTHER_COPY,
    OTHER_SET,
    OTHER_WAIT,
    TRAPS,
    OTHER_VALUE,
    OTHER_RESET,
    OTHER_NOTIFY,
    OTHER_CORE,
    TOO_LOCAL,
    TOO_FAR,
    NOT_FED,
    ENDS,
    COMPLEMENTS,
    NOT_COUNTED,
    OTHER_COUNTER,
    OTHER_CONFIG,
    NOT_SELECTED,
    OTHER_VARIANT,
    OTHER_TILING,
};

static enum fault fault;
static _Atomic uint32_t calls[LARGE + 1];

static void first_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)core;
    calls[FIRST] += (uint32_t)args_offset;
}

static void second_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)core;
    calls[SECOND] += (uint32_t)args_offset;
}

static void large_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)core;
    calls[LARGE] += (uint32_t)args_offset;
}

/* ---------------------------------------------------------------------- the source ---- */

static volatile uint64_t *word(uint32_t slot)
{
    return (volatile uint64_t *)(uintptr_t)skir_twin_params()[slot];
}

static void store(uint32_t slot, uint64_t value)
{
    *word(slot) = value;
    skir_twin_clean(word(slot));
}

static void begin(void)
{
    uint32_t core = skir_twin_index();
    if (core == 0)
        do
            skir_twin_clean(word(WAITED));
        while (*word(WAITED) != 1);
    switch (fault) {
    case TRAPS: skir_twin_trap(11); break;
    case OTHER_SET: skir_twin_set(0, 3, 11); break;
    case OTHER_WAIT: skir_twin_wait(3, 12); break;
    case OTHER_VALUE: store(SENT, 2); break;
    case OTHER_RESET: store(SENT, 0); break;
    case OTHER_NOTIFY:
        *word(WAITED) = core == 1;
        skir_twin_clean_all(11);
        break;
    case OTHER_CORE:
        *word(WAITED) = core != 1;
        skir_twin_clean_all(11);
        break;
    case TOO_LOCAL: skir_twin_fill(NULL, &core, sizeof core, 129); break;
    case TOO_FAR: skir_twin_store(skir_twin_params(), NULL, 8); break;
    case NOT_FED: skir_twin_core()->feeding = true; break;
    case COMPLEMENTS: skir_twin_feed_complement(); break;
    case OTHER_COUNTER: skir_twin_core()->feeding = true; break;
    default: break;
    }
}

static void first_call(void)
{
    uint32_t core = skir_twin_index(), copy = (core + (fault == OTHER_COPY)) % COPIES;
    uint32_t included = fault == LEAVES_OUT ? 1 : fault == NOT_INCLUDED ? 3 : 2;
    if (core < included)
        skir_twin_call(fault == OTHER_SLOT ? 2 : 1, FIRST, copy);
    if (fault == ENDS)
        skir_twin_feed_end();
}

/* Of the kernel with a tiling. */
static void select_and_call(void)
{
    uint32_t tiling = fault == OTHER_TILING ? OTHER_KEY : KEY;
    if (fault != NOT_SELECTED)
        skir_twin_clean(word(tiling + 2));
    if (skir_twin_index() < *word(tiling + 1))
        skir_twin_call(2, fault == OTHER_VARIANT ? SMALL : LARGE, skir_twin_index() % COPIES);
}

static void barrier(void)
{
    skir_twin_set(0, TWIN_AIV_ALL, 30);
    skir_twin_wait(TWIN_AIV_ALL, 40);
}

static void source(void)
{
    begin();
    first_call();
    barrier();
    skir_twin_call(1, SECOND, skir_twin_index() % COPIES);
    skir_twin_drain(60);
    select_and_call();
    barrier();
    if (skir_twin_index() == 0) {
        store(SENT, 1);
        *word(WAITED) = 0;
        store(KEY + 2, 0);
    }
}

/* --------------------------------------------------------------------- the program ---- */

static const struct skrt_site sites[] = {
    {"wait_event 1", NULL},  {"call @first", "First"},   {"arrive aiv", NULL},
    {"await aiv", NULL},     {"call @second", "Second"}, {"pipe_barrier", NULL},
    {"select @third", NULL}, {"call @third", "Third"},   {"notify 2", NULL},
    {"reset 1", NULL},       {"reset lock", NULL},
};
static const struct twin_line lines[] = {
    {10, 0}, {20, 1}, {30, 2}, {40, 3}, {50, 4},  {60, 5},
    {70, 6}, {80, 7}, {90, 8}, {95, 9}, {99, 10},
};
static const struct skrt_call shapes[] = {
    {NULL, 1, 2, 1, true},
    {NULL, 1, 4, 1, true},
    {NULL, 2, 4, 1, true},
};
static const struct skrt_variant variants[] = {{7, first_kernel, 1, true},
                                               {8, large_kernel, 1, true}};
static const struct skrt_select selects[COPIES] = {{variants, 2, KEY}, {variants, 2, KEY}};
static skrt_kernel_fn *const firsts[COPIES] = {first_kernel, first_kernel};
static skrt_kernel_fn *const seconds[COPIES] = {second_kernel, second_kernel};
static const uint32_t symbols[] = {SMALL, LARGE};
static struct twin_call twins[] = {
    {.instr = 1, .symbol = FIRST, .copies = firsts},
    {.instr = 4, .symbol = SECOND, .copies = seconds},
    {.instr = 7, .symbol = TWIN_NONE, .selects = selects, .variants = symbols, .select = 6},
};
static const struct twin_event events[] = {{0, WAITED, TWIN_WAIT},
                                           {8, SENT, TWIN_NOTIFY},
                                           {9, WAITED, TWIN_RESET},
                                           {10, KEY + 2, TWIN_RESET}};
static const struct twin_word words[] = {
    {KEY, TWIN_KEY},       {KEY + 1, TWIN_BLOCKS},       {KEY + 2, TWIN_LOCK},
    {OTHER_KEY, TWIN_KEY}, {OTHER_KEY + 1, TWIN_BLOCKS}, {OTHER_KEY + 2, TWIN_LOCK},
    {WAITED, TWIN_EVENT},  {SENT, TWIN_EVENT},
};
static struct twin_core cores[CORES];
static uint64_t params[CORES][SLOTS];
static struct twin_copy cache[CORES][COUNT(words)];
static const struct twin_entry entry = {
    .run = source,
    .programs[SKRT_AIV] = {sites, lines, COUNT(lines), 110, twins, shapes, COUNT(twins), events,
                           COUNT(events)},
    .words = words,
    .n_words = COUNT(words),
    .n_slots = SLOTS,
    .n_cores = {0, CORES},
    .copies = COPIES,
    .feed_size = 256,
    .cores = cores,
    .params = params[0],
    .cache = cache[0],
};

static void run_entry(skrt_core *core)
{
    skir_twin_run(core, &entry);
}

/* Where a fault is one of what the source says of a call, the program says something else. */
static void expect(enum fault kind, const char *text)
{
    struct run run;
    uint64_t memory[SLOTS] = {[WAITED] = 1, [KEY] = 8, [KEY + 1] = 3, [KEY + 2] = 1}, slots[SLOTS];
    memset(calls, 0, sizeof calls);
    fault = kind;
    twins[0].fed = kind == NOT_COUNTED || kind == OTHER_COUNTER;
    twins[0].early = kind == OTHER_CONFIG ? SKRT_EARLY_WAIT_AIV : 0;
    for (uint32_t i = 0; i < SLOTS; i++)
        slots[i] = (uintptr_t)&memory[i];
    /* Of cores that write one word, the first is to be the one that is told of. */
    bool one_word = kind == OTHER_NOTIFY || kind == OTHER_CORE;
    run_open(&run, one_word ? 1 : 1 + kind % 3, (struct shape){CORES, 0, 1});
    run.launch.entry = run_entry;
    run.launch.params = slots;
    run.launch.n_params = SLOTS;
    run_launch(&run);
    expect_status(&run, text ? SKRT_MISUSE : SKRT_OK);
    if (text)
        expect_text(&run, text);
    else
        assert_true(memory[WAITED] == 0 && memory[SENT] == 1 && memory[KEY + 2] == 0);
    run_close(&run);
}

static void test_right(void **state)
{
    (void)state;
    expect(NO_FAULT, NULL);
    assert_int_equal(calls[FIRST], 2);
    assert_int_equal(calls[SECOND], 4);
    assert_int_equal(calls[LARGE], 2 * 3);
}

static void test_calls(void **state)
{
    (void)state;
    expect(LEAVES_OUT, "aiv 1 at `call @first`: the source leaves out this call on a core that it "
                       "includes\n");
    expect(NOT_INCLUDED, "aiv 2 at `call @first`: the source calls it on a core that it does not "
                         "include\n");
    expect(OTHER_SLOT, "the source calls behind it what the program does not\n");
    expect(OTHER_COPY, "at `call @first`: the source calls another core's copy of the code\n");
    expect(OTHER_CONFIG, "at `call @first`: the source tells the kernel to wait for another type "
                         "of op\n");
    expect(NOT_SELECTED, "at `call @third`: nothing was selected for it\n");
    expect(OTHER_VARIANT, "at `call @third`: the source calls another variant than the tiling "
                          "key's\n");
    expect(OTHER_TILING, "the source waits for a tiling that the program does not select by\n");
}

static void test_primitives(void **state)
{
    (void)state;
    expect(TRAPS, "at `wait_event 1`: the source traps\n");
    expect(OTHER_SET, "at `wait_event 1`: the source sets a flag that entries do not have\n");
    expect(OTHER_WAIT, "at `wait_event 1`: the source waits for a flag that entries do not have\n");
    expect(TOO_LOCAL, "the source uses more local memory than it should need\n");
    expect(TOO_FAR, "the source clears memory outside of the workspace\n");
}

static void test_words(void **state)
{
    (void)state;
    expect(OTHER_VALUE, "the source stores what is neither 0 nor 1 in an event or a lock\n");
    expect(OTHER_RESET, "the source resets a word that the program does not\n");
    expect(OTHER_NOTIFY, "the source notifies what the program does not\n");
    expect(OTHER_CORE, "aiv 1 at `reset 1`: another core than the first of its type executes it\n");
}

static void test_fed_barriers(void **state)
{
    (void)state;
    expect(NOT_FED, "the source counts its barriers, which are not fed\n");
    expect(NOT_COUNTED, "at `call @first`: the source does not count its barriers\n");
    expect(ENDS, "the source ends counting behind a call that is not fed\n");
    expect(COMPLEMENTS, "the source takes part in barriers of a call that is not fed\n");
    expect(OTHER_COUNTER, "the source counts barriers outside of the core type's counters\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_primitives),   cmocka_unit_test(test_words),
        cmocka_unit_test(test_fed_barriers),
    };
    return cmocka_run_group_tests_name("twin", tests, NULL, NULL);
}
