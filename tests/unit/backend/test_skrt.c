/* The virtual device: barriers, flags, events and threads by the rules of docs/device-model.md,
 * each with a program that breaks it. */
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "tests/unit/skrt_harness.h"

/* --------------------------------------------------------------- barriers ---- */

struct ordered {
    _Atomic uint32_t stamps[SKRT_CORE_TYPES][48];
    uint32_t launched[SKRT_CORE_TYPES];
    uint32_t rounds;
    bool barrier;
    _Atomic uint32_t violations;
};

/* Every core stamps the round; after the barrier nobody's stamp may be older. */
static void ordered_entry(skrt_core *core)
{
    static const struct skrt_site arrive = {"arrive", NULL}, await = {"await", NULL};
    struct ordered *ordered = (void *)(uintptr_t)skrt_args(core, 0)[0];
    enum skrt_core_type type = skrt_core_type(core);
    _Atomic uint32_t *stamps = ordered->stamps[type];
    for (uint32_t round = 1; round <= ordered->rounds; round++) {
        atomic_store_explicit(&stamps[skrt_core_index(core)], round, memory_order_relaxed);
        if (ordered->barrier) {
            skrt_arrive(core, type, &arrive);
            skrt_await(core, type, &await);
        }
        for (uint32_t i = 0; i < ordered->launched[type]; i++)
            if (atomic_load_explicit(&stamps[i], memory_order_relaxed) < round)
                atomic_fetch_add(&ordered->violations, 1);
    }
}

static uint32_t ordered_violations(uint32_t threads, uint32_t rounds, bool barrier)
{
    static struct ordered ordered;
    memset(&ordered, 0, sizeof ordered);
    ordered.rounds = rounds;
    ordered.barrier = barrier;
    ordered.launched[SKRT_AIC] = 24;
    ordered.launched[SKRT_AIV] = 48;
    struct run run;
    run_open(&run, threads, one_two);
    run.launch.entry = ordered_entry;
    run.params[0] = (uintptr_t)&ordered;
    run_launch(&run);
    expect_status(&run, SKRT_OK);
    run_close(&run);
    return atomic_load(&ordered.violations);
}

static void test_barrier_orders_all_cores(void **state)
{
    (void)state;
    assert_int_equal(ordered_violations(1, 1000, true), 0);
    assert_int_equal(ordered_violations(2, 3000, true), 0);
    assert_int_equal(ordered_violations(7, 200, true), 0);
    assert_int_not_equal(ordered_violations(1, 10, false), 0);
}

static void test_barrier_halves_may_be_apart(void **state)
{
    (void)state;
    const struct step *ahead =
        STEPS({.text = "arrive aic", .times = 15}, {.text = "await aic", .times = 15});
    expect_run(aic_only, ahead, NULL, SKRT_OK, NULL);
    const struct step *uneven =
        STEPS({.text = "arrive aic"}, {.text = "arrive aic", .on = ONLY, .core = 2, .times = 3},
              {.text = "await aic"}, {.text = "arrive aic", .on = EXCEPT, .core = 2, .times = 3},
              {.text = "await aic", .times = 3});
    expect_run(aic_only, uneven, NULL, SKRT_OK, NULL);
    const struct step *short_of_one =
        STEPS({.text = "arrive aic", .times = 2}, {.text = "await aic", .times = 3});
    expect_run(aic_only, short_of_one, NULL, SKRT_DEADLOCK,
               TEXTS("aic 0..23: blocked in `await aic`: 24 of 24 AICs have not arrived: "
                     "aic 0..23; last op none\n"));
}

/* A core may be 15 barriers ahead, and at the end it has awaited as many as it has arrived at. */
static void test_arrivals_are_counted(void **state)
{
    (void)state;
    struct shape small = {3, 1, 2};
    expect_run(
        small, STEPS({.text = "arrive aic", .times = 16}, {.text = "await aic", .times = 16}), NULL,
        SKRT_OVERFLOW, TEXTS("at `arrive aic`: it has arrived 15 times more than it has awaited"));
    expect_run(small, STEPS({.text = "arrive aic", .times = 3}, {.text = "await aic"}),
               STEPS({.text = "arrive aiv", .on = EXCEPT, .core = 1, .times = 2},
                     {.text = "arrive aiv", .on = ONLY, .core = 1}, {.text = "await aiv"}),
               SKRT_LEFT_SET,
               TEXTS("all cores have finished, but arrivals are left over",
                     "  aic 0..2: arrived 2 times more often than awaited\n",
                     "  aiv 0: arrived 1 time more often than awaited\n",
                     "  aiv 2..5: arrived 1 time more often than awaited\n"));
}

static void test_barrier_counts_launched_cores_only(void **state)
{
    (void)state;
    struct shape small = {3, 1, 2};
    expect_run(small, STEPS({.text = "arrive aic"}, {.text = "await aic"}),
               STEPS({.text = "arrive aiv"}, {.text = "await aiv"}), SKRT_OK, NULL);
    expect_run(small, STEPS({.text = "arrive aic", .on = EXCEPT, .core = 1}, {.text = "await aic"}),
               NULL, SKRT_DEADLOCK, TEXTS("1 of 3 AICs has not arrived: aic 1;"));
}

/* ------------------------------------------------------------------ flags ---- */

static void test_flags_release_and_wait(void **state)
{
    (void)state;
    const struct step *aic =
        STEPS({.text = "set c2v"}, {.text = "wait v2c"}, {.text = "set c2v", .times = 2});
    const struct step *aiv =
        STEPS({.text = "wait c2v"}, {.text = "set v2c"}, {.text = "wait c2v", .times = 2});
    expect_run(one_one, aic, aiv, SKRT_OK, NULL);
    expect_run(one_two, aic, aiv, SKRT_OK, NULL);
    expect_run(aic_only, STEPS({.text = "set c2v"}, {.text = "wait v2c"}), NULL, SKRT_OK,
               NULL); /* of none */
}

static void test_wait_v2c_needs_each_aiv(void **state)
{
    (void)state;
    const struct step *aiv = STEPS({.text = "set v2c", .on = EXCEPT, .core = 5});
    expect_run(one_two, STEPS({.text = "wait v2c"}), aiv, SKRT_DEADLOCK,
               TEXTS("aic 2: blocked in `wait v2c`: aiv 5 has not set v2c; last op none\n",
                     "aic 0..1: finished", "aic 3..23: finished", "aiv 0..47: finished"));
    expect_run(one_one, STEPS({.text = "wait v2c"}), aiv, SKRT_DEADLOCK,
               TEXTS("aiv 5 has not set v2c"));
    const struct step *twice =
        STEPS({.text = "set v2c"}, {.text = "set v2c", .on = ONLY, .core = 4});
    expect_run(one_two, STEPS({.text = "wait v2c"}, {.text = "wait v2c", .on = ONLY, .core = 2}),
               twice, SKRT_DEADLOCK, TEXTS("aiv 5 has not set v2c"));
}

static void test_wait_c2v_needs_own_aic(void **state)
{
    (void)state;
    const struct step *aiv = STEPS({.text = "wait c2v"});
    expect_run(one_two, STEPS({.text = "set c2v", .on = EXCEPT, .core = 3}), aiv, SKRT_DEADLOCK,
               TEXTS("aiv 6..7: blocked in `wait c2v`: aic 3 has not set c2v; last op none\n"));
    expect_run(one_one, NULL, aiv, SKRT_DEADLOCK,
               TEXTS("aiv 0..23: blocked in `wait c2v`: aic 0..23 have not set c2v; last op"));
    expect_run(one_two, STEPS({.text = "set c2v"}), STEPS({.text = "wait c2v", .times = 2}),
               SKRT_DEADLOCK, TEXTS("aic 0..23 have not set c2v"));
}

static void test_flags_count_to_fifteen(void **state)
{
    (void)state;
    const struct step *aiv =
        STEPS({.text = "wait_event", .slot = 1}, {.text = "wait c2v", .times = 15});
    struct shape one = {1, 1, 2};
    expect_run(one, STEPS({.text = "set c2v", .times = 15}, {.text = "notify", .slot = 1}), aiv,
               SKRT_OK, NULL);
    expect_run(one, STEPS({.text = "set c2v", .times = 16}, {.text = "notify", .slot = 1}), aiv,
               SKRT_OVERFLOW,
               TEXTS("flag overflow: aic 0 at `set c2v`: c2v of aiv 0 is set 15 times already\n",
                     "aic 0: stopped at `set c2v`; last op none\n"));
    const struct step *aic =
        STEPS({.text = "wait_event", .slot = 1}, {.text = "wait v2c", .times = 15});
    struct shape pair = {1, 1, 1};
    expect_run(pair, aic, STEPS({.text = "set v2c", .times = 15}, {.text = "notify", .slot = 1}),
               SKRT_OK, NULL);
    expect_run(pair, aic, STEPS({.text = "set v2c", .times = 16}, {.text = "notify", .slot = 1}),
               SKRT_OVERFLOW, TEXTS("aiv 0 at `set v2c`: v2c of aiv 0 is set 15 times already"));
}

static void test_flags_left_set(void **state)
{
    (void)state;
    expect_run(one_two, STEPS({.text = "set c2v"}),
               STEPS({.text = "wait c2v", .on = EXCEPT, .core = 7}), SKRT_LEFT_SET,
               TEXTS("flag left set", "  aiv 7: c2v was set 1 time more often than waited for\n",
                     "aic 0..23: finished"));
    expect_run(one_one, NULL, STEPS({.text = "set v2c", .times = 15}), SKRT_LEFT_SET,
               TEXTS("  aiv 0..23: v2c was set 15 times more often than waited for\n"));
}

static void test_device_goes_on_after_left_set(void **state)
{
    (void)state;
    struct run run;
    run_open(&run, 2, one_two);
    run.program.steps[SKRT_AIC] = STEPS({.text = "set c2v"});
    run_launch(&run);
    expect_status(&run, SKRT_LEFT_SET);
    run.program.steps[SKRT_AIV] = STEPS({.text = "wait c2v"});
    for (int i = 0; i < 200; i++) {
        run_launch(&run);
        expect_status(&run, SKRT_OK);
    }
    assert_true(run.result.seconds > 0);
    run.program.steps[SKRT_AIC] = NULL;
    run_launch(&run);
    expect_status(&run, SKRT_DEADLOCK);
    run_launch(&run);
    expect_status(&run, SKRT_INVALID);
    expect_text(&run, "invalid launch: an earlier launch was stopped");
    run_close(&run);
}

struct pairs {
    uint64_t cube[24], vector[48];
    _Atomic uint32_t violations;
};

/* Plain memory, handed back and forth. */
static void pairs_entry(skrt_core *core)
{
    static const struct skrt_site site = {"hand over", NULL};
    struct pairs *pairs = (void *)(uintptr_t)skrt_args(core, 0)[0];
    uint32_t block = skrt_block_idx(core), aivs = 48 / 24;
    for (uint64_t i = 1; i <= 2000; i++) {
        if (skrt_core_type(core) == SKRT_AIC) {
            pairs->cube[block] = i;
            skrt_set_c2v(core, &site);
            skrt_wait_v2c(core, &site);
            for (uint32_t sub = 0; sub < aivs; sub++)
                if (pairs->vector[block * aivs + sub] != i)
                    atomic_fetch_add(&pairs->violations, 1);
        } else {
            skrt_wait_c2v(core, &site);
            if (pairs->cube[block] != i)
                atomic_fetch_add(&pairs->violations, 1);
            pairs->vector[block * aivs + skrt_sub_block_idx(core)] = i;
            skrt_set_v2c(core, &site);
        }
    }
}

static void test_flags_order_memory(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++) {
        static struct pairs pairs;
        memset(&pairs, 0, sizeof pairs);
        struct run run;
        run_open(&run, threads, one_two);
        run.launch.entry = pairs_entry;
        run.params[0] = (uintptr_t)&pairs;
        run_launch(&run);
        expect_status(&run, SKRT_OK);
        assert_int_equal(pairs.violations, 0);
        run_close(&run);
    }
}

/* ----------------------------------------------------------------- events ---- */

static void test_events_within_a_launch(void **state)
{
    (void)state;
    const struct step *waits =
        STEPS({.text = "wait_event", .slot = 1}, {.text = "wait_event", .slot = 2},
              {.text = "reset", .slot = 1});
    const struct step *sends = STEPS({.text = "notify", .slot = 2}, {.text = "notify", .slot = 1});
    expect_run(one_two, waits, sends, SKRT_OK, NULL);
    expect_run(one_two, waits, STEPS({.text = "notify", .slot = 2}), SKRT_DEADLOCK,
               TEXTS("deadlock: every unfinished core waits, some for an event",
                     "aic 0: blocked in `wait_event`: the event of slot 1 has not come",
                     "aic 1..23: finished"));
    expect_run(aic_only,
               STEPS({.text = "notify", .slot = 1}, {.text = "arrive aic"}, {.text = "await aic"},
                     {.text = "reset", .slot = 1}, {.text = "arrive aic"}, {.text = "await aic"},
                     {.text = "wait_event", .slot = 1}),
               NULL, SKRT_DEADLOCK, TEXTS("the event of slot 1 has not come"));
}

static void test_events_are_for_core_0(void **state)
{
    (void)state;
    const struct step *waits = STEPS({.text = "wait_event", .slot = 1});
    expect_run(one_two, STEPS({.text = "wait_event", .slot = 1, .on = EXCEPT}), NULL, SKRT_OK,
               NULL);
    expect_run(one_two, waits, STEPS({.text = "notify", .slot = 1, .on = EXCEPT}), SKRT_DEADLOCK,
               TEXTS("the event of slot 1 has not come"));
    expect_run(aic_only,
               STEPS({.text = "notify", .slot = 1}, {.text = "reset", .slot = 1, .on = EXCEPT},
                     {.text = "arrive aic"}, {.text = "await aic"},
                     {.text = "wait_event", .slot = 1}),
               NULL, SKRT_OK, NULL);
    /* Slots of cores that do nothing are not looked at. */
    expect_run(aic_only, STEPS({.text = "notify", .slot = 3, .on = EXCEPT}), NULL, SKRT_OK, NULL);
}

/* One thread: the waiter blocks before the word is set, and goes on after it was reset. */
static void test_notify_releases_who_waits(void **state)
{
    (void)state;
    _Atomic uint64_t word = 0;
    struct run run;
    run_open(&run, 1, one_two);
    run.params[1] = (uintptr_t)&word;
    run.program.steps[SKRT_AIC] = STEPS({.text = "wait_event", .slot = 1});
    run.program.steps[SKRT_AIV] =
        STEPS({.text = "notify", .slot = 1}, {.text = "reset", .slot = 1});
    run_launch(&run);
    expect_status(&run, SKRT_OK);
    assert_int_equal(word, 0);
    run_close(&run);
}

struct outside {
    _Atomic uint64_t word;
    struct run sender;
};

static void *outside_store(void *arg)
{
    struct outside *outside = arg;
    nanosleep(&(struct timespec){0, 20 * 1000 * 1000}, NULL);
    atomic_store(&outside->word, 7);
    return NULL;
}

static void *outside_launch(void *arg)
{
    struct outside *outside = arg;
    run_launch(&outside->sender);
    return NULL;
}

static void expect_outer_event(void *(*send)(void *), enum skrt_status status)
{
    static struct outside outside;
    atomic_store(&outside.word, 0);
    run_open(&outside.sender, 2, aiv_only);
    outside.sender.program.steps[SKRT_AIV] = STEPS({.text = "notify", .slot = 1});
    struct run waiter;
    run_open(&waiter, 2, one_two);
    waiter.program.steps[SKRT_AIC] = STEPS({.text = "wait_event", .slot = 1}, {.text = "set c2v"});
    waiter.program.steps[SKRT_AIV] = STEPS({.text = "wait c2v"});
    waiter.params[1] = outside.sender.params[1] = (uintptr_t)&outside.word;
    waiter.launch.timeout_ms = send ? 20000 : 50;
    pthread_t thread;
    if (send)
        assert_int_equal(pthread_create(&thread, NULL, send, &outside), 0);
    run_launch(&waiter);
    if (send)
        pthread_join(thread, NULL);
    expect_status(&waiter, status);
    if (status != SKRT_OK)
        expect_text(&waiter, "timeout: not finished after 50 ms\n");
    run_close(&waiter);
    run_close(&outside.sender);
}

static void test_events_from_outside(void **state)
{
    (void)state;
    expect_outer_event(outside_store, SKRT_OK);
    expect_outer_event(outside_launch, SKRT_OK);
    expect_outer_event(NULL, SKRT_TIMEOUT);
}

/* -------------------------------------------------- threads and switches ---- */

enum { MEETING = 4, MEETING_SECONDS = 10 };

/* Counts this core in and waits for the others without giving up its thread. */
static bool meet(_Atomic uint32_t *here, uint32_t expected)
{
    time_t end = time(NULL) + MEETING_SECONDS;
    atomic_fetch_add(here, 1);
    while (atomic_load(here) < expected && time(NULL) < end)
        sched_yield();
    return atomic_load(here) >= expected;
}

static void meeting_entry(skrt_core *core)
{
    static const struct skrt_site site = {"sync", NULL};
    _Atomic uint32_t *here = (void *)(uintptr_t)skrt_args(core, 0)[1];
    _Atomic uint32_t *missed = (void *)(uintptr_t)skrt_args(core, 0)[2];
    for (uint32_t i = 1; i <= 20; i++) {
        if (!meet(here, i * MEETING))
            atomic_fetch_add(missed, 1);
        skrt_arrive(core, SKRT_AIV, &site);
        skrt_await(core, SKRT_AIV, &site);
    }
}

/* As many cores as there are threads run at once, from the start and after every barrier. */
static void test_all_threads_get_cores(void **state)
{
    (void)state;
    _Atomic uint32_t here = 0, missed = 0;
    struct run run;
    run_open(&run, MEETING, (struct shape){MEETING, 0, 1});
    run.launch.entry = meeting_entry;
    run.params[1] = (uintptr_t)&here;
    run.params[2] = (uintptr_t)&missed;
    for (int i = 0; i < 3; i++) {
        atomic_store(&here, 0);
        run_launch(&run);
        expect_status(&run, SKRT_OK);
    }
    assert_int_equal(missed, 0);
    run_close(&run);
}

/* The two bits of the rounding mode; a constant where this test does not know the machine. */
#if defined(__SSE2__)
#include <xmmintrin.h>

static unsigned rounding_get(void)
{
    return _mm_getcsr() >> 13 & 3;
}

static void rounding_set(unsigned mode)
{
    _mm_setcsr((_mm_getcsr() & ~0x6000u) | mode << 13);
}
#elif defined(__aarch64__)
static unsigned rounding_get(void)
{
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control >> 22 & 3;
}

static void rounding_set(unsigned mode)
{
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)mode << 22));
}
#else
static unsigned rounding_get(void)
{
    return 0;
}

static void rounding_set(unsigned mode)
{
    (void)mode;
}
#endif

/* Every core has its own rounding mode and its own values in registers. */
static void registers_entry(skrt_core *core)
{
    static const struct skrt_site site = {"sync", NULL};
    _Atomic uint32_t *wrong = (void *)(uintptr_t)skrt_args(core, 0)[1];
    uint32_t index = skrt_core_index(core);
    uint64_t i = index, j = index * 2, k = index * 3, l = index * 4, m = index * 5;
    double a = index, b = index * 2.0, c = index * 3.0, d = index * 4.0;
    if (rounding_get() != 0) /* a core starts with that of the launcher */
        atomic_fetch_add(wrong, 1);
    rounding_set(index % 4);
    unsigned mode = rounding_get();
    for (int round = 0; round < 100; round++) {
        skrt_arrive(core, SKRT_AIV, &site);
        skrt_await(core, SKRT_AIV, &site);
        a += 1, b += a, c += 2, d += c;
        i += 1, j += i, k += 2, l += k, m += l;
        if (rounding_get() != mode)
            atomic_fetch_add(wrong, 1);
    }
    rounding_set(0);
    if (a != i || b != j || c != k || d != l || m < l || i != index + 100)
        atomic_fetch_add(wrong, 1);
}

static void test_switches_keep_registers(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        _Atomic uint32_t wrong = 0;
        struct run run;
        run_open(&run, threads, aiv_only);
        run.launch.entry = registers_entry;
        run.params[1] = (uintptr_t)&wrong;
        run_launch(&run);
        expect_status(&run, SKRT_OK);
        assert_int_equal(wrong, 0);
        run_close(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barrier_orders_all_cores),
        cmocka_unit_test(test_barrier_halves_may_be_apart),
        cmocka_unit_test(test_arrivals_are_counted),
        cmocka_unit_test(test_barrier_counts_launched_cores_only),
        cmocka_unit_test(test_flags_release_and_wait),
        cmocka_unit_test(test_wait_v2c_needs_each_aiv),
        cmocka_unit_test(test_wait_c2v_needs_own_aic),
        cmocka_unit_test(test_flags_count_to_fifteen),
        cmocka_unit_test(test_flags_left_set),
        cmocka_unit_test(test_device_goes_on_after_left_set),
        cmocka_unit_test(test_flags_order_memory),
        cmocka_unit_test(test_events_within_a_launch),
        cmocka_unit_test(test_events_are_for_core_0),
        cmocka_unit_test(test_notify_releases_who_waits),
        cmocka_unit_test(test_events_from_outside),
        cmocka_unit_test(test_all_threads_get_cores),
        cmocka_unit_test(test_switches_keep_registers),
    };
    return cmocka_run_group_tests_name("skrt", tests, NULL, NULL);
}
