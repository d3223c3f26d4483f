/* What cores of several threads meet at without a lock: full barriers inside of calls, some of them
 * at a time, and events. What one core writes before, others read after; ThreadSanitizer says
 * whether that is in order. */
#include <stdio.h>

#include "tests/unit/skrt_harness.h"

static uint32_t seed;

static uint32_t draw(uint32_t most)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % most;
}

/* ------------------------------------------------------------- full barriers ---- */

/* The parameters of a call are its number, and how many full barriers it has. */
enum { CALLS = 60, MAX_ROUNDS = 20, MOST = 48, BEGIN = 1, NUMBERS = BEGIN + 2 * CALLS };

static uint64_t params[NUMBERS];
static struct skrt_call calls[CALLS];
static uint32_t sizes[CALLS];
static uint32_t at[CALLS][MOST]; /* full barriers that a core of the call has come to */
static _Atomic uint32_t wrong, ran;

static void kernel(skrt_core *core, uint64_t args_offset)
{
    uint64_t number = skrt_args(core, args_offset)[0], rounds = skrt_args(core, args_offset)[1];
    uint32_t own = skrt_core_index(core);
    for (uint32_t round = 1; round <= rounds; round++) {
        at[number][own] = round;
        skrt_kernel_sync_all(core);
        for (uint32_t i = 0; i < sizes[number]; i++)
            wrong += at[number][i] != round;
        skrt_kernel_sync_all(core);
    }
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
}

/* No barriers between the calls: cores that some leave out are ahead of those that they include. */
static void calls_entry(skrt_core *core)
{
    static const struct skrt_site site = {"call @k", "K"};
    for (uint32_t i = 0; i < CALLS; i++)
        skrt_call(core, &calls[i], &site);
}

static uint32_t draw_calls(void)
{
    uint32_t wanted = 0;
    memset(at, 0, sizeof at);
    for (uint32_t i = 0; i < CALLS; i++) {
        sizes[i] = 1 + (draw(3) ? draw(MOST) : draw(3));
        calls[i] = (struct skrt_call){kernel, BEGIN + 2 * i, sizes[i], 1, true};
        params[BEGIN + 2 * i] = i;
        params[BEGIN + 2 * i + 1] = draw(4) ? draw(3) : draw(MAX_ROUNDS);
        wanted += sizes[i];
    }
    return wanted;
}

static void test_full_barriers_of_many_calls(void **state)
{
    (void)state;
    static const uint32_t threads[] = {1, 2, 3, 8};
    const char *given = getenv("SKIR_TEST_SEED");
    seed = given ? (uint32_t)strtoul(given, NULL, 10) : 3;
    print_message("seed %u\n", seed);
    for (int i = 0; i < 40; i++) {
        struct run run;
        uint32_t wanted = draw_calls();
        run_open(&run, threads[i % COUNT(threads)], aiv_only);
        run.launch.params = params;
        run.launch.n_params = NUMBERS;
        run.launch.entry = calls_entry;
        atomic_store(&ran, 0);
        atomic_store(&wrong, 0);
        for (int launches = 0; launches < 2; launches++) {
            run_launch(&run);
            expect_status(&run, SKRT_OK);
        }
        assert_int_equal(wrong, 0);
        assert_int_equal(ran, 2 * wanted);
        run_close(&run);
    }
}

/* ------------------------------------------------------------------- events ---- */

enum { TURNS = 2000, THERE = 1, BACK = 2 };

static uint64_t passed; /* is the core's that has the event */

/* Each core resets the event that it has waited for before it sends the other one. */
static void pass(skrt_core *core, uint64_t wait, uint64_t notify)
{
    static const struct skrt_site waits = {"wait_event", NULL}, resets = {"reset", NULL},
                                  sends = {"notify", NULL};
    skrt_wait_event(core, wait, &waits);
    skrt_reset(core, wait, &resets);
    if (skrt_core_index(core) == 0)
        passed++;
    skrt_notify(core, notify, &sends);
}

static void passing_entry(skrt_core *core)
{
    static const struct skrt_site first = {"notify", NULL}, last = {"wait_event", NULL};
    bool aic = skrt_core_type(core) == SKRT_AIC;
    if (aic)
        skrt_notify(core, THERE, &first);
    for (uint32_t i = 0; i < TURNS; i++)
        pass(core, aic ? BACK : THERE, aic ? THERE : BACK);
    if (!aic) {
        skrt_wait_event(core, THERE, &last);
        skrt_reset(core, THERE, &last);
    }
}

static void test_events_go_to_and_fro(void **state)
{
    (void)state;
    static const uint32_t threads[] = {1, 2, 3, 8};
    for (size_t i = 0; i < COUNT(threads); i++) {
        struct run run;
        uint64_t words[2] = {0, 0};
        run_open(&run, threads[i], one_one);
        run.params[THERE] = (uintptr_t)&words[0];
        run.params[BACK] = (uintptr_t)&words[1];
        run.launch.entry = passing_entry;
        passed = 0;
        run_launch(&run);
        expect_status(&run, SKRT_OK);
        assert_int_equal(passed, 2 * TURNS);
        run_close(&run);
    }
}

static void there_entry(skrt_core *core)
{
    static const struct skrt_site first = {"notify", NULL};
    skrt_notify(core, THERE, &first);
    for (uint32_t i = 0; i < TURNS; i++)
        pass(core, BACK, THERE);
}

static void back_entry(skrt_core *core)
{
    static const struct skrt_site last = {"wait_event", NULL};
    for (uint32_t i = 0; i < TURNS; i++)
        pass(core, THERE, BACK);
    skrt_wait_event(core, THERE, &last);
    skrt_reset(core, THERE, &last);
}

/* Their cores are at home at different threads. */
static void test_events_between_launches(void **state)
{
    (void)state;
    static const char *const streams[] = {"0", "1"};
    static const uint32_t threads[] = {1, 2, 3, 8};
    for (size_t i = 0; i < COUNT(threads); i++) {
        struct run run;
        uint64_t words[2] = {0, 0};
        struct skrt_result results[2];
        run_open(&run, threads[i], (struct shape){1, 1, 0});
        run.params[THERE] = (uintptr_t)&words[0];
        run.params[BACK] = (uintptr_t)&words[1];
        struct skrt_queued queued[2] = {{.launch = run.launch, .stream = 0},
                                        {.launch = run.launch, .stream = 1}};
        queued[0].launch.entry = there_entry;
        queued[1].launch.entry = back_entry;
        const struct skrt_queue queue = {2, 2, queued, streams, false};
        passed = 0;
        assert_int_equal(skrt_launch_all(run.device, &queue, results), SKRT_OK);
        assert_int_equal(passed, 2 * TURNS);
        run_close(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_barriers_of_many_calls),
        cmocka_unit_test(test_events_go_to_and_fro),
        cmocka_unit_test(test_events_between_launches),
    };
    return cmocka_run_group_tests_name("skrt_meetings", tests, NULL, NULL);
}
