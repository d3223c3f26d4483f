/* The virtual device: which cores run a call, and the synchronisation inside of sub-kernels. */
#include "tests/unit/skrt_harness.h"

/* ------------------------------------------------------------------ calls ---- */

struct seen {
    uint32_t runs, block, blocks, sub, subs;
};

/* Slot 1 holds the address of one struct seen per core, AICs first. */
static void seen_kernel(skrt_core *core, uint64_t args_offset)
{
    struct seen *all = (void *)(uintptr_t)skrt_args(core, args_offset)[0];
    struct seen *seen = &all[skrt_core_index(core) + (skrt_core_type(core) == SKRT_AIV ? 24 : 0)];
    seen->runs++;
    seen->block = skrt_block_idx(core);
    seen->blocks = skrt_block_num(core);
    seen->sub = skrt_sub_block_idx(core);
    seen->subs = skrt_sub_block_num(core);
}

/* Which cores must have run a call, and as what. */
static void expect_seen(const struct seen *all, struct shape launch, struct shape kernel, bool flat)
{
    for (uint32_t i = 0; i < 24 + 48; i++) {
        bool aic = i < 24;
        uint32_t index = aic ? i : i - 24, per_block = aic ? launch.aics : launch.aivs;
        uint32_t block = per_block ? index / per_block : 0, sub = per_block ? index % per_block : 0;
        uint32_t launched = launch.blocks * per_block, part = aic ? kernel.aics : kernel.aivs;
        bool runs = index < launched &&
                    (flat ? !aic && index < kernel.blocks : block < kernel.blocks && part > 0);
        assert_int_equal(all[i].runs, runs);
        if (!runs)
            continue;
        assert_int_equal(all[i].block, flat ? index : block);
        assert_int_equal(all[i].blocks, kernel.blocks);
        assert_int_equal(all[i].sub, flat ? 0 : sub);
        assert_int_equal(all[i].subs, flat || aic ? 1 : launch.aivs);
    }
}

static const struct {
    struct shape launch, kernel;
    bool flat;
} call_cases[] = {
    {{24, 1, 2}, {3, 1, 2}, false}, {{24, 1, 2}, {24, 1, 2}, false},
    {{24, 1, 2}, {5, 1, 1}, false}, {{24, 1, 2}, {24, 1, 1}, false},
    {{24, 1, 2}, {7, 1, 0}, false}, {{24, 1, 2}, {5, 0, 1}, true},
    {{24, 1, 2}, {48, 0, 1}, true}, {{20, 1, 1}, {19, 1, 1}, false},
    {{20, 1, 1}, {20, 0, 1}, true}, {{9, 1, 0}, {8, 1, 0}, false},
    {{33, 0, 1}, {31, 0, 1}, true},
};

static void expect_call(size_t i, bool with_entry)
{
    struct shape launch = call_cases[i].launch, kernel = call_cases[i].kernel;
    bool flat = call_cases[i].flat;
    struct skrt_call call = {seen_kernel, 1, kernel.blocks, flat ? 0 : kernel.aivs, flat};
    struct step steps[] = {{.text = "call @seen", .op = "Seen", .call = call}, {.text = NULL}};
    struct seen all[24 + 48] = {{0}};
    struct run run;
    run_open(&run, 2, launch);
    run.params[1] = (uintptr_t)all;
    if (!with_entry)
        run.launch.entry = NULL;
    if (kernel.aics > 0) {
        run.program.steps[SKRT_AIC] = steps;
        run.launch.parts[SKRT_AIC] = call;
    }
    if (kernel.aivs > 0) {
        run.program.steps[SKRT_AIV] = steps;
        run.launch.parts[SKRT_AIV] = call;
    }
    run_launch(&run);
    expect_status(&run, SKRT_OK);
    expect_seen(all, launch, kernel, flat);
    run_close(&run);
}

static void test_calls_run_on_their_cores(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(call_cases); i++)
        for (int with_entry = 0; with_entry <= 1; with_entry++)
            expect_call(i, with_entry);
}

static void outside_entry(skrt_core *core)
{
    bool aic = skrt_core_type(core) == SKRT_AIC;
    uint32_t index = skrt_core_index(core);
    _Atomic uint32_t *wrong = (void *)(uintptr_t)skrt_args(core, 0)[1];
    *wrong += skrt_block_num(core) != 24 || skrt_block_idx(core) != (aic ? index : index / 2) ||
              skrt_sub_block_idx(core) != (aic ? 0 : index % 2) ||
              skrt_sub_block_num(core) != (aic ? 1 : 2);
}

static void test_indices_outside_of_calls(void **state)
{
    (void)state;
    _Atomic uint32_t wrong = 0;
    struct run run;
    run_open(&run, 2, one_two);
    run.launch.entry = outside_entry;
    run.params[1] = (uintptr_t)&wrong;
    run_launch(&run);
    expect_status(&run, SKRT_OK);
    assert_int_equal(wrong, 0);
    run_close(&run);
}

/* ------------------------------------------- barriers and flags in kernels ---- */

/* Slot 1: one counter per core. Each core raises its own, and after the barrier the block's
 * neighbour must have raised its own as often; violations go to slot 2. */
static void neighbour_kernel(skrt_core *core, uint64_t args_offset)
{
    const uint64_t *slots = skrt_args(core, args_offset);
    uint32_t *counters = (void *)(uintptr_t)slots[0];
    _Atomic uint32_t *violations = (void *)(uintptr_t)slots[1];
    uint32_t own = skrt_block_idx(core), other = (own + 1) % skrt_block_num(core);
    for (int i = 0; i < 3; i++) {
        uint32_t count = ++counters[own];
        skrt_kernel_sync_all(core);
        if (counters[other] != count)
            atomic_fetch_add(violations, 1);
        skrt_kernel_sync_all(core);
    }
}

/* Cores that are idle in one call are far ahead in the next ones. */
static void test_sync_all_with_idle_cores(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        uint32_t few[48] = {0}, many[48] = {0}, cubes[24] = {0};
        _Atomic uint32_t violations = 0;
        struct run run;
        run_open(&run, threads, one_two);
        run.params[1] = (uintptr_t)few;
        run.params[3] = (uintptr_t)many;
        run.params[5] = (uintptr_t)cubes;
        run.params[2] = run.params[4] = run.params[6] = (uintptr_t)&violations;
        struct step call_few = {
            .text = "call few", .op = "Few", .call = {neighbour_kernel, 1, 4, 0, true}, .times = 5};
        struct step call_many = {
            .text = "call many", .op = "Many", .call = {neighbour_kernel, 3, 48, 0, true}};
        struct step call_cubes = {.text = "call cubes",
                                  .op = "Cubes",
                                  .call = {neighbour_kernel, 5, 7, 0, false},
                                  .times = 100};
        run.program.steps[SKRT_AIV] = STEPS(call_few, call_many, call_few, call_few, call_many);
        run.program.steps[SKRT_AIC] = STEPS(call_cubes);
        run_launch(&run);
        expect_status(&run, SKRT_OK);
        assert_int_equal(violations, 0);
        assert_int_equal(few[3], 45);
        assert_int_equal(many[47], 6);
        assert_int_equal(cubes[6], 300);
        run_close(&run);
    }
}

static void sync_all_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)args_offset;
    skrt_kernel_sync_all(core);
}

static void sync_all_but_one_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)args_offset;
    if (skrt_block_idx(core) != 1 || skrt_sub_block_idx(core) != 0)
        skrt_kernel_sync_all(core);
}

static void sync_all_shapes(skrt_kernel_fn *fn, enum skrt_status status, const char *text)
{
    static const struct skrt_call shapes[] = {
        {.blocks = 4, .flat = true}, {.blocks = 4, .aivs = 1}, {.blocks = 4, .aivs = 2}};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct step step = {.text = "call @k", .op = "K", .call = shapes[i]};
        step.call.fn = fn;
        const struct step steps[] = {step, {.text = NULL}};
        expect_run(one_two, shapes[i].flat ? NULL : steps, steps, status,
                   text ? TEXTS(text) : NULL);
    }
}

static void test_sync_all_counts_the_cores_of_the_call(void **state)
{
    (void)state;
    sync_all_shapes(sync_all_kernel, SKRT_OK, NULL);
    sync_all_shapes(sync_all_but_one_kernel, SKRT_DEADLOCK, "s has not come to it: ai");
    struct step cube = {
        .text = "call @k", .op = "Cube", .call = {sync_all_but_one_kernel, 0, 9, 0, false}};
    const struct step steps[] = {cube, {.text = NULL}};
    expect_run(one_two, steps, NULL, SKRT_DEADLOCK,
               TEXTS("aic 0: blocked in `call @k`: in its barrier; 1 of 9 AICs has not come to it: "
                     "aic 1; in op Cube\n",
                     "aic 1: finished; last op Cube\n", "aic 9..23: finished; last op none\n"));
}

/* With parts on both core types it uses the entry's barrier and flags: none of these may be
 * outstanding, on whichever side. */
static void test_sync_all_meets_the_entry(void **state)
{
    (void)state;
    struct step k = {.text = "call @k", .op = "K", .call = {sync_all_kernel, 0, 4, 2, false}};
    struct step set_c2v = {.text = "set c2v"}, wait_c2v = {.text = "wait c2v"};
    struct step set_v2c = {.text = "set v2c"}, wait_v2c = {.text = "wait v2c"};
    struct step arrive = {.text = "arrive aic"}, await = {.text = "await aic"};
    static const char met[] = "its full barrier has met a release of the entry's flags: aiv ";
    expect_run(one_two, STEPS(set_c2v, k, wait_v2c), STEPS(wait_c2v, k, set_v2c), SKRT_OK, NULL);
    expect_run(one_two, STEPS(set_c2v, k), STEPS(k, wait_c2v), SKRT_MISUSE, TEXTS(met));
    expect_run(one_two, STEPS(k, wait_v2c), STEPS(set_v2c, k), SKRT_MISUSE, TEXTS(met));
    expect_run(one_two, STEPS(arrive, k, await), STEPS(k), SKRT_MISUSE,
               TEXTS("its full barrier has met an arrival of the entry that is not awaited"));
    expect_run(one_two, STEPS(arrive, await, k), STEPS(k), SKRT_OK, NULL);
}

/* A core that is in another call has not come to the barrier of this one. */
static void test_sync_all_tells_calls_apart(void **state)
{
    (void)state;
    struct step both = {
        .text = "call @first", .op = "First", .call = {sync_all_but_one_kernel, 0, 2, 0, true}};
    struct step next = {
        .text = "call @second", .op = "Second", .call = {sync_all_kernel, 0, 2, 0, true}};
    const struct step steps[] = {both, next, {.text = NULL}};
    expect_run(aiv_only, NULL, steps, SKRT_DEADLOCK,
               TEXTS("aiv 0: blocked in `call @first`: in its barrier; 1 of 2 AIVs has not come to "
                     "it: aiv 1; in op First\n",
                     "aiv 1: blocked in `call @second`: in its barrier; 1 of 2 AIVs has not come "
                     "to it: aiv 0; in op Second\n"));
}

static void handshake_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)args_offset;
    for (int i = 0; i < 20; i++) {
        if (skrt_core_type(core) == SKRT_AIC) {
            skrt_kernel_set_c2v(core);
            skrt_kernel_wait_v2c(core);
        } else {
            skrt_kernel_wait_c2v(core);
            skrt_kernel_set_v2c(core);
        }
    }
}

/* By what slot 1 says: 1 leaves a release over, 2 waits for one that does not come, 3 sets 16, 4
 * has its flags on the first AIV of each AI core alone. */
static void bad_handshake_kernel(skrt_core *core, uint64_t args_offset)
{
    uint32_t what = (uint32_t)skrt_args(core, args_offset)[0];
    bool aic = skrt_core_type(core) == SKRT_AIC;
    if (what == 1 && !aic)
        skrt_kernel_set_v2c(core);
    if (what == 2 && !aic)
        skrt_kernel_wait_c2v(core);
    if (what == 3 && aic)
        for (int i = 0; i < 16; i++)
            skrt_kernel_set_c2v(core);
    if (what == 4 && skrt_sub_block_idx(core) == 0)
        handshake_kernel(core, 0);
}

static void expect_bad_handshake(uint32_t what, enum skrt_status status, const char *text)
{
    struct run run;
    run_open(&run, 2, one_two);
    struct step steps[] = {
        {.text = "call @k", .op = "Bad", .call = {bad_handshake_kernel, 1, 2, 1, false}},
        {.text = NULL}};
    run.program = (struct program){{steps, steps}};
    run.params[1] = what;
    run_launch(&run);
    expect_status(&run, status);
    if (text)
        expect_text(&run, text);
    run_close(&run);
}

static void test_kernel_flags(void **state)
{
    (void)state;
    for (uint8_t aivs = 0; aivs <= 2; aivs++) {
        struct step call = {.text = "call",
                            .op = "Mix",
                            .call = {handshake_kernel, 0, 24, aivs, false},
                            .times = 3};
        const struct step steps[] = {
            {.text = "set c2v"}, call, {.text = "wait v2c"}, {.text = NULL}};
        const struct step vector[] = {
            {.text = "wait c2v"}, call, {.text = "set v2c"}, {.text = NULL}};
        expect_run(one_two, steps, vector, SKRT_OK, NULL);
    }
    expect_bad_handshake(0, SKRT_OK, NULL);
    expect_bad_handshake(1, SKRT_LEFT_SET, "aiv 0..3: its kernel's v2c was set 1 time more often");
    expect_bad_handshake(
        2, SKRT_DEADLOCK,
        "aiv 0..3: blocked in `call @k`: aic 0..1 have not set its kernel's c2v; in op");
    expect_bad_handshake(3, SKRT_OVERFLOW, "its kernel's c2v of aiv ");
}

/* A wait for v2c needs both AIVs of an AI core, also where the kernel was built for one. */
static void test_kernel_flags_need_both_aivs(void **state)
{
    (void)state;
    expect_bad_handshake(
        4, SKRT_DEADLOCK,
        "aic 0..1: blocked in `call @k`: aiv 1, aiv 3 have not set its kernel's v2c; in op");
}

static void test_sync_all_of_different_calls(void **state)
{
    (void)state;
    struct step two = {
        .text = "call", .call = {sync_all_kernel, 0, 2, 0, true}, .on = EXCEPT, .core = 1};
    struct step three = {
        .text = "call", .call = {sync_all_kernel, 0, 3, 0, true}, .on = ONLY, .core = 1};
    const struct step steps[] = {two, three, {.text = NULL}};
    expect_run(aiv_only, NULL, steps, SKRT_MISUSE, TEXTS("cores that differ in its blocks"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_run_on_their_cores),
        cmocka_unit_test(test_indices_outside_of_calls),
        cmocka_unit_test(test_sync_all_with_idle_cores),
        cmocka_unit_test(test_sync_all_counts_the_cores_of_the_call),
        cmocka_unit_test(test_sync_all_meets_the_entry),
        cmocka_unit_test(test_sync_all_tells_calls_apart),
        cmocka_unit_test(test_kernel_flags),
        cmocka_unit_test(test_kernel_flags_need_both_aivs),
        cmocka_unit_test(test_sync_all_of_different_calls),
    };
    return cmocka_run_group_tests_name("skrt_calls", tests, NULL, NULL);
}
