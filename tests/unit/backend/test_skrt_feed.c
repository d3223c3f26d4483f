/* Fed barriers of the virtual device: cores that a call leaves out take part in the full barriers
 * of its kernel, by counters in a workspace. */
#include "tests/unit/skrt_harness.h"

enum { CALLS = 4, MOST_CALLS = 70, WORKSPACE_SLOT = 1, COUNTERS_SLOT = 2, SPAN = 64, CORES = 64 };

/* One program for all core types: each calls the kernels in turn. */
struct plan {
    struct skrt_call calls[SKRT_CORE_TYPES][MOST_CALLS];
    unsigned n[SKRT_CORE_TYPES];
    uint64_t size; /* of the workspace */
    bool cleared, begun, ended, complemented;
    unsigned passed[SKRT_CORE_TYPES][CORES]; /* barriers, by core */
};

static struct plan *plan_of(skrt_core *core)
{
    return (void *)(uintptr_t)skrt_args(core, 0)[0];
}

/* Does two barriers for each block of its call: idle cores cannot know how many. */
static void counting_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)args_offset;
    for (uint32_t i = 0; i < 2 * skrt_block_num(core); i++) {
        skrt_kernel_sync_all(core);
        plan_of(core)->passed[skrt_core_type(core)][skrt_core_index(core)]++;
    }
}

static void feed_entry(skrt_core *core)
{
    static const struct skrt_site clear = {"clear_workspace", NULL}, arrive = {"arrive", NULL},
                                  await = {"await", NULL}, begin = {"feed_sync begin", NULL},
                                  call = {"call @k", "K"}, end = {"feed_sync end", NULL},
                                  complement = {"feed_sync complement", NULL};
    struct plan *plan = plan_of(core);
    enum skrt_core_type type = skrt_core_type(core);
    if (plan->cleared)
        skrt_clear_workspace(core, WORKSPACE_SLOT, plan->size, &clear);
    skrt_arrive(core, type, &arrive);
    skrt_await(core, type, &await);
    for (unsigned i = 0; i < plan->n[type]; i++) {
        struct skrt_feed feed = {WORKSPACE_SLOT, plan->size, i, &plan->calls[type][i]};
        if (plan->begun)
            skrt_feed_sync(core, SKRT_FEED_BEGIN, &feed, &begin);
        skrt_call(core, &plan->calls[type][i], &call);
        if (plan->ended)
            skrt_feed_sync(core, SKRT_FEED_END, &feed, &end);
        if (plan->complemented)
            skrt_feed_sync(core, SKRT_FEED_COMPLEMENT, &feed, &complement);
    }
}

static struct plan make_plan(void)
{
    struct plan plan = {.cleared = true, .begun = true, .ended = true, .complemented = true};
    for (unsigned i = 0; i < CALLS; i++) {
        plan.calls[SKRT_AIV][i] =
            (struct skrt_call){counting_kernel, 0, i % 2 ? 48 : 1 + 5 * i, 1, true};
        plan.calls[SKRT_AIC][i] = (struct skrt_call){counting_kernel, 0, 3 + i, 0, false};
    }
    plan.n[SKRT_AIC] = plan.n[SKRT_AIV] = CALLS;
    return plan;
}

static void run_plan(struct plan *plan, struct shape shape, uint32_t threads, bool full,
                     uint64_t garbage, struct run *run)
{
    static uint64_t workspace[24 * 2 * SPAN / sizeof(uint64_t) * 8];
    run_open(run, threads, shape);
    for (size_t i = 0; i < COUNT(workspace); i++)
        workspace[i] = garbage;
    if (!plan->size)
        plan->size = 2 * SPAN * (uint64_t)shape.blocks;
    assert_true(plan->size <= sizeof workspace);
    run->launch.entry = feed_entry;
    run->launch.full_barriers = full;
    run->params[0] = (uintptr_t)plan;
    run->params[WORKSPACE_SLOT] = (uintptr_t)workspace;
    run_launch(run);
}

static void expect_plan(struct plan *plan, struct shape shape, bool full, enum skrt_status status,
                        const char *text)
{
    for (uint32_t threads = 1; threads <= 3; threads++) {
        struct run run;
        run_plan(plan, shape, threads, full, 0, &run);
        expect_status(&run, status);
        if (text)
            expect_text(&run, text);
        run_close(&run);
    }
}

/* By both rules all that a call includes pass its barriers, whatever was in the workspace. */
static void test_fed(void **state)
{
    (void)state;
    const struct shape shapes[] = {aic_only, aiv_only, one_one, one_two};
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (uint32_t threads = 1; threads <= 3; threads++)
            for (int full = 0; full < 2; full++) {
                struct plan plan = make_plan();
                struct run run;
                if (shapes[i].blocks * shapes[i].aivs == 24) /* one_one has 24 AIVs */
                    for (unsigned c = 1; c < CALLS; c += 2)
                        plan.calls[SKRT_AIV][c].blocks = 24;
                run_plan(&plan, shapes[i], threads, full, ~UINT64_C(0), &run);
                expect_status(&run, SKRT_OK);
                if (shapes[i].aics)
                    assert_int_equal(plan.passed[SKRT_AIC][3], 2 * (4 + 5 + 6));
                if (shapes[i].aivs)
                    assert_int_equal(plan.passed[SKRT_AIV][0],
                                     2 * (1 + 11 + plan.calls[SKRT_AIV][1].blocks +
                                          plan.calls[SKRT_AIV][3].blocks));
                run_close(&run);
            }
}

/* Without steps of feed_sync the NPU's rule is a deadlock, and the other one is not. */
static void test_unfed(void **state)
{
    (void)state;
    struct plan plan = make_plan();
    plan.begun = plan.ended = plan.complemented = false;
    plan.calls[SKRT_AIV][0].blocks = 4;
    expect_plan(&plan, aiv_only, false, SKRT_OK, NULL);
    expect_plan(
        &plan, aiv_only, true, SKRT_DEADLOCK,
        "aiv 0..3: blocked in `call @k`: in its barrier; 44 of 48 AIVs have not come to it: "
        "aiv 4..47; in op K\n");
    plan.begun = plan.ended = true;
    expect_plan(&plan, aiv_only, true, SKRT_DEADLOCK, "44 of 48 AIVs have not come to it");
}

/* A 1:1 kernel leaves no core of a 1:2 launch out but those of other blocks. */
static void test_one_one_kernel(void **state)
{
    (void)state;
    for (uint32_t blocks = 5; blocks <= 24; blocks += 19)
        for (int fed = 0; fed < 2; fed++) {
            struct plan plan = make_plan();
            plan.begun = plan.ended = plan.complemented = fed;
            plan.n[SKRT_AIC] = plan.n[SKRT_AIV] = 1;
            for (unsigned type = 0; type < SKRT_CORE_TYPES; type++)
                plan.calls[type][0] = (struct skrt_call){counting_kernel, 0, blocks, 1, false};
            if (blocks < 24 && !fed) {
                expect_plan(&plan, one_two, true, SKRT_DEADLOCK,
                            "19 of 24 AICs have not come to it: aic 5..23; in op K\n");
                continue;
            }
            expect_plan(&plan, one_two, true, SKRT_OK, NULL);
            assert_int_equal(plan.passed[SKRT_AIV][2 * blocks - 1], 3 * 2 * blocks);
        }
}

static void quiet_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)core;
    (void)args_offset;
}

/* More calls than cores are fed for barriers that they do not have, and then one that has some. */
static void test_fed_for_nothing(void **state)
{
    (void)state;
    struct plan plan = make_plan();
    plan.n[SKRT_AIV] = MOST_CALLS;
    plan.size = 12288;
    for (unsigned i = 0; i < MOST_CALLS; i++)
        plan.calls[SKRT_AIV][i] = (struct skrt_call){quiet_kernel, 0, 5 + i % 9, 1, true};
    plan.calls[SKRT_AIV][MOST_CALLS - 1].fn = counting_kernel;
    expect_plan(&plan, aiv_only, true, SKRT_OK, NULL);
    assert_int_equal(plan.passed[SKRT_AIV][0], 3 * 2 * plan.calls[SKRT_AIV][MOST_CALLS - 1].blocks);
}

static void lopsided_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)args_offset;
    skrt_kernel_sync_all(core);
    if (skrt_block_idx(core) == 1)
        skrt_kernel_sync_all(core);
}

/* A kernel whose cores do not agree on their barriers still hangs, and who feeds it is shown. */
static void test_report(void **state)
{
    (void)state;
    struct plan plan = make_plan();
    plan.n[SKRT_AIV] = 1;
    plan.calls[SKRT_AIV][0] = (struct skrt_call){lopsided_kernel, 0, 4, 1, true};
    expect_plan(&plan, aiv_only, true, SKRT_DEADLOCK,
                "aiv 1: blocked in `call @k`: in its barrier; 3 of 48 AIVs have not come to it: "
                "aiv 0, aiv 2..3; in op K\n");
    expect_plan(
        &plan, aiv_only, true, SKRT_DEADLOCK,
        "aiv 4..47: blocked in `feed_sync complement`: 3 cores have ended the call; last op "
        "none\n");
}

static void test_misuse(void **state)
{
    (void)state;
    for (int full = 0; full < 2; full++) {
        struct plan plan = make_plan();
        plan.cleared = false;
        struct run run;
        run_plan(&plan, aiv_only, 2, full, 77, &run);
        expect_status(&run, SKRT_MISUSE);
        expect_text(&run, "77 of ");
        expect_text(&run, "the workspace was not cleared");
        run_close(&run);
        plan = make_plan();
        plan.begun = false;
        plan.calls[SKRT_AIV][0].blocks = 48;
        expect_plan(&plan, aiv_only, full, SKRT_MISUSE,
                    "`feed_sync begin` of this call is missing");
        plan = make_plan();
        plan.ended = false;
        plan.complemented = false;
        plan.calls[SKRT_AIV][0].blocks = 48;
        expect_plan(&plan, aiv_only, full, SKRT_MISUSE, "another call is fed and has not ended");
        plan = make_plan();
        plan.size = 200;
        expect_plan(&plan, aiv_only, full, SKRT_MISUSE, "or 200 bytes are none");
    }
}

/* Counters end with the half of the core's type. */
static void test_no_counters(void **state)
{
    (void)state;
    struct plan plan = make_plan();
    plan.size = 2 * SPAN * 2;
    const struct shape two = {2, 1, 1};
    for (unsigned i = 0; i < CALLS; i++)
        plan.calls[SKRT_AIC][i].blocks = plan.calls[SKRT_AIV][i].blocks = 1;
    expect_plan(&plan, two, false, SKRT_MISUSE, "the workspace has no counters for call 2");
    plan.n[SKRT_AIC] = plan.n[SKRT_AIV] = 2;
    expect_plan(&plan, two, true, SKRT_OK, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fed),
        cmocka_unit_test(test_unfed),
        cmocka_unit_test(test_one_one_kernel),
        cmocka_unit_test(test_fed_for_nothing),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_no_counters),
    };
    return cmocka_run_group_tests_name("skrt_feed", tests, NULL, NULL);
}
