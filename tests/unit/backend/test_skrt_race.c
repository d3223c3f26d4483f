/* The race check: what barriers, flags and events tell a core, and reports of what is missing. */
#include <stdio.h>

#include "tests/unit/skrt_harness.h"

static void idle_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)core;
    (void)args_offset;
}

/* ------------------------------------------------------------- what to check ---- */

enum { A, B, C, OPS };

static const char *const names[OPS] = {"A", "B", "C"};

#define LIST(...) ((const uint32_t[]){__VA_ARGS__})
#define ORDERS(...) ((const struct skrt_order[]){__VA_ARGS__})
#define N(list) (uint32_t)(sizeof(list) / sizeof(list)[0])

/* Which ops the calls of the AICs and of the AIVs are. Each op needs the one before it. */
static struct skrt_race_check chain(const uint32_t *aic, uint32_t n_aic, const uint32_t *aiv,
                                    uint32_t n_aiv)
{
    static const struct skrt_order orders[] = {{A, B}, {B, C}};
    return (struct skrt_race_check){.n_ops = OPS,
                                    .names = names,
                                    .n_calls = {n_aic, n_aiv},
                                    .calls = {aic, aiv},
                                    .n_orders = N(orders),
                                    .orders = orders};
}

static void expect_launch(const struct skrt_race_check *check, struct shape shape,
                          const struct step *aic, const struct step *aiv, enum skrt_status status,
                          const char *const *texts)
{
    static const uint32_t threads[] = {1, 2, 5};
    for (size_t i = 0; i < COUNT(threads); i++) {
        struct run run;
        run_open(&run, threads[i], shape);
        _Atomic uint64_t word = 0;
        run.params[1] = (uintptr_t)&word;
        run.program = (struct program){{aic, aiv}};
        run.launch.race = check;
        run_launch(&run);
        expect_status(&run, status);
        for (size_t j = 0; texts && texts[j]; j++)
            expect_text(&run, texts[j]);
        run_close(&run);
    }
}

/* A cube-only kernel on all AICs, a vector-only kernel on all AIVs, in a launch of 4 (1, 2) blocks;
 * and both on one core. */
static const struct shape four = {4, 1, 2}, one = {1, 1, 2}, vectors = {8, 0, 1}, cubes = {4, 1, 0};

#define CUBE(blocks)                                                                               \
    {                                                                                              \
        .text = "call @cube", .call = { idle_kernel, 0, blocks, 0, false }                         \
    }
#define VECTOR(blocks)                                                                             \
    {                                                                                              \
        .text = "call @vector", .call = { idle_kernel, 0, blocks, 1, true }                        \
    }
#define DO(word)                                                                                   \
    {                                                                                              \
        .text = word                                                                               \
    }

/* ------------------------------------------------------------------ barriers ---- */

static void test_barrier(void **state)
{
    (void)state;
    struct skrt_race_check check = chain(NULL, 0, LIST(A, B), 2);
    expect_launch(&check, vectors, NULL,
                  STEPS(VECTOR(8), DO("arrive aiv"), DO("await aiv"), VECTOR(8)), SKRT_OK, NULL);
    expect_launch(&check, vectors, NULL, STEPS(VECTOR(8), DO("pipe_barrier"), VECTOR(8)), SKRT_RACE,
                  TEXTS("race: 1 required order is not enforced\n"
                        "launch test: 0 AICs, 8 AIVs, 0 unfinished\n"
                        "  aiv 0..7: started B without knowing that A was complete on all cores, "
                        "for example aiv 0 on aiv 1..7\n"));
}

/* An arrival passes on what was called before it, drained or not; what is called between it and the
 * await is not passed on. */
static void test_split_barrier(void **state)
{
    (void)state;
    struct skrt_race_check check = chain(NULL, 0, LIST(A, B, C), 3);
    expect_launch(&check, vectors, NULL,
                  STEPS(VECTOR(8), DO("arrive aiv"), DO("await aiv"), VECTOR(8), DO("arrive aiv"),
                        DO("await aiv"), VECTOR(8)),
                  SKRT_OK, NULL);
    expect_launch(&check, vectors, NULL,
                  STEPS(VECTOR(8), DO("arrive aiv"), DO("arrive aiv"), DO("await aiv"), VECTOR(8),
                        DO("await aiv"), VECTOR(2)),
                  SKRT_RACE,
                  TEXTS("race: 1 required order is not enforced, 1 op starts where the call before "
                        "has not drained\n",
                        "  aiv 0..1: started C before B had drained there\n",
                        "  aiv 0..1: started C without knowing that B was complete on all cores, "
                        "for example aiv 0 on aiv 1..7\n"));
}

/* Each core keeps the rounds apart that it has arrived at and not awaited. */
static void test_rounds_ahead(void **state)
{
    (void)state;
    struct skrt_race_check check = chain(NULL, 0, LIST(A, B), 2);
    expect_launch(&check, vectors, NULL,
                  STEPS({.text = "arrive aiv", .times = 14}, VECTOR(8), DO("arrive aiv"),
                        {.text = "await aiv", .times = 15}, VECTOR(8)),
                  SKRT_OK, NULL);
    expect_launch(&check, vectors, NULL,
                  STEPS({.text = "arrive aiv", .times = 14}, VECTOR(8), DO("arrive aiv"),
                        {.text = "await aiv", .times = 14}, VECTOR(8), DO("await aiv")),
                  SKRT_RACE, TEXTS("started B without knowing that A was complete"));
}

/* Only the cores that a call includes must be known: here the first two, and the core itself. */
static void test_left_out_cores(void **state)
{
    (void)state;
    struct skrt_race_check check = chain(NULL, 0, LIST(A, B), 2);
    expect_launch(&check, vectors, NULL, STEPS(VECTOR(2), DO("pipe_barrier"), VECTOR(8)), SKRT_RACE,
                  TEXTS("  aiv 0..7: started B without knowing that A was complete on all cores, "
                        "for example aiv 0 on aiv 1\n"));
    expect_launch(&check, vectors, NULL, STEPS(VECTOR(1), DO("pipe_barrier"), VECTOR(1)), SKRT_OK,
                  NULL);
    /* A core that is left out has nothing to drain, and nothing to know. */
    expect_launch(&check, vectors, NULL,
                  STEPS(VECTOR(1), {.text = "pipe_barrier", .on = ONLY, .core = 0}, VECTOR(1)),
                  SKRT_OK, NULL);
}

/* Both AIVs of an AI core have a part of a 1:1 kernel, and neither knows of the other's. */
static void test_one_one_kernel(void **state)
{
    (void)state;
    struct skrt_race_check check = chain(NULL, 0, LIST(A, B), 2);
    const struct step call = {.text = "call @mixed.aiv", .call = {idle_kernel, 0, 1, 1, false}};
    const struct step drained[] = {call, DO("pipe_barrier"), call, {.text = NULL}};
    expect_launch(&check, four, NULL, drained, SKRT_RACE,
                  TEXTS("  aiv 0..1: started B without knowing that A was complete on all cores, "
                        "for example aiv 0 on aiv 1\n"));
    const struct shape single = {4, 1, 1};
    expect_launch(&check, single, NULL, drained, SKRT_OK, NULL);
}

static void test_drained(void **state)
{
    (void)state;
    static const struct skrt_order none[1];
    struct skrt_race_check check = chain(NULL, 0, LIST(A, B, C), 3);
    check.orders = none;
    check.n_orders = 0;
    expect_launch(
        &check, vectors, NULL,
        STEPS(VECTOR(8), VECTOR(3), {.text = "pipe_barrier", .on = EXCEPT, .core = 2}, VECTOR(8)),
        SKRT_RACE,
        TEXTS("race: 2 ops start where the call before has not drained\n",
              "  aiv 0..2: started B before A had drained there\n"
              "  aiv 2: started C before B had drained there\n"));
}

/* --------------------------------------------------------------------- flags ---- */

/* A flag tells of one AI core what it knows; with one block that is all of them. */
static void test_flag(void **state)
{
    (void)state;
    struct skrt_race_check check = chain(LIST(A), 1, LIST(B), 1);
    const struct step *aic = STEPS(CUBE(1), DO("pipe_barrier"), DO("set c2v"));
    expect_launch(&check, one, aic, STEPS(DO("wait c2v"), VECTOR(2)), SKRT_OK, NULL);
    expect_launch(&check, four, STEPS(CUBE(4), DO("pipe_barrier"), DO("set c2v")),
                  STEPS(DO("wait c2v"), VECTOR(8)), SKRT_RACE,
                  TEXTS("  aiv 0..7: started B without knowing that A was complete on all cores, "
                        "for example aiv 0 on aic 1..3\n"));
    expect_launch(&check, four, STEPS(CUBE(4), DO("arrive aic"), DO("await aic"), DO("set c2v")),
                  STEPS(DO("wait c2v"), VECTOR(8)), SKRT_OK, NULL);
}

/* A flag passes on what has drained. */
static void test_flag_before_drain(void **state)
{
    (void)state;
    struct skrt_race_check check = chain(LIST(A), 1, LIST(B), 1);
    expect_launch(&check, one, STEPS(CUBE(1), DO("set c2v")), STEPS(DO("wait c2v"), VECTOR(2)),
                  SKRT_RACE,
                  TEXTS("  aiv 0..1: started B without knowing that A was complete on aic 0\n"));
    expect_launch(&check, one, STEPS(CUBE(1), DO("arrive aic"), DO("set c2v"), DO("await aic")),
                  STEPS(DO("wait c2v"), VECTOR(2)), SKRT_RACE, TEXTS("complete on aic 0\n"));
}

/* The n-th wait has what the n-th set passed on, however far the setter is ahead. */
static void test_flags_ahead(void **state)
{
    (void)state;
    struct skrt_race_check check = chain(LIST(A), 1, LIST(B), 1);
    const struct step *aic = STEPS({.text = "set c2v", .times = 7}, CUBE(1), DO("pipe_barrier"),
                                   {.text = "set c2v", .times = 8}, DO("wait v2c"));
    expect_launch(&check, one, aic,
                  STEPS({.text = "wait c2v", .times = 8}, VECTOR(2), DO("pipe_barrier"),
                        {.text = "wait c2v", .times = 7}, DO("set v2c")),
                  SKRT_OK, NULL);
    expect_launch(&check, one, aic,
                  STEPS({.text = "wait c2v", .times = 7}, VECTOR(2), DO("pipe_barrier"),
                        {.text = "wait c2v", .times = 8}, DO("set v2c")),
                  SKRT_RACE, TEXTS("started B without knowing that A was complete on aic 0"));
}

/* What an AIV knows of its AIC, its barrier tells the others; and both AIVs tell the AIC. */
static void test_knowledge_passes_through(void **state)
{
    (void)state;
    struct skrt_race_check check = chain(LIST(A, C), 2, LIST(B), 1);
    const struct step *aic =
        STEPS(CUBE(4), DO("pipe_barrier"), DO("set c2v"), DO("wait v2c"), CUBE(2));
    expect_launch(&check, four, aic,
                  STEPS(DO("wait c2v"), DO("arrive aiv"), DO("await aiv"), VECTOR(8),
                        DO("arrive aiv"), DO("await aiv"), DO("set v2c")),
                  SKRT_OK, NULL);
    expect_launch(&check, four, aic,
                  STEPS(DO("wait c2v"), DO("arrive aiv"), DO("await aiv"), VECTOR(8),
                        DO("pipe_barrier"), DO("set v2c")),
                  SKRT_RACE,
                  TEXTS("  aic 0..1: started C without knowing that B was complete on all cores, "
                        "for example aic 0 on aiv 2..7\n"));
}

/* -------------------------------------------------------------------- events ---- */

static void test_events(void **state)
{
    (void)state;
    struct skrt_race_check check = chain(LIST(A), 1, LIST(B), 1);
    const struct step *aic =
        STEPS(CUBE(4), DO("arrive aic"), DO("await aic"), {.text = "notify", .slot = 1});
    const struct step *aiv =
        STEPS({.text = "wait_event", .slot = 1}, DO("arrive aiv"), DO("await aiv"), VECTOR(8));
    expect_launch(&check, four, aic, aiv, SKRT_OK, NULL);
    expect_launch(&check, four, STEPS(CUBE(4), DO("pipe_barrier"), {.text = "notify", .slot = 1}),
                  aiv, SKRT_RACE,
                  TEXTS("  aiv 0..7: started B without knowing that A was complete on aic 1..3\n"));
}

/* A core that waits at a notify has what it passes on, though a reset follows; one that comes later
 * has what the next one passes on. */
static void test_event_reset(void **state)
{
    (void)state;
    struct skrt_race_check check = chain(LIST(A), 1, LIST(B), 1);
    const struct step *aic =
        STEPS(CUBE(1), DO("pipe_barrier"), DO("wait v2c"), {.text = "notify", .slot = 1},
              {.text = "reset", .slot = 1}, {.text = "notify", .slot = 1});
    expect_launch(&check, one, aic,
                  STEPS(DO("set v2c"), {.text = "wait_event", .slot = 1}, VECTOR(1)), SKRT_OK,
                  NULL);
}

/* ------------------------------------------------------------------- reports ---- */

/* An op that starts before the one that it needs is called anywhere: whom that includes is known
 * afterwards. */
static void test_called_too_early(void **state)
{
    (void)state;
    static const struct skrt_order orders[] = {{B, A}};
    struct skrt_race_check check = chain(LIST(B), 1, LIST(A), 1);
    check.orders = orders;
    check.n_orders = 1;
    expect_launch(&check, four, STEPS(DO("wait v2c"), CUBE(3)), STEPS(VECTOR(6), DO("set v2c")),
                  SKRT_RACE,
                  TEXTS("  aiv 0..5: started A without knowing that B was complete on aic 0..2\n"));
}

static void test_deadlock(void **state)
{
    (void)state;
    struct skrt_race_check check = chain(LIST(A), 1, LIST(B), 1);
    expect_launch(&check, four, STEPS(DO("wait v2c"), CUBE(4)), STEPS(VECTOR(8), DO("wait c2v")),
                  SKRT_DEADLOCK,
                  TEXTS("deadlock: ",
                        "  aiv 0..7: started B without knowing that A was complete on aic 0..3\n"
                        "  aic 0..3: blocked in `wait v2c`"));
    expect_launch(
        &check, four, STEPS(CUBE(4)), STEPS(VECTOR(8), DO("set v2c")), SKRT_LEFT_SET,
        TEXTS("flag left set: ", "started B without knowing that A was complete on aic 0..3\n"));
}

/* The first twenty, in the order of the ops, are shown; the others are counted. */
static void test_many(void **state)
{
    (void)state;
    enum { MANY = 30 };
    uint32_t calls[MANY];
    struct skrt_order orders[MANY - 1];
    struct step steps[2 * MANY + 1];
    memset(steps, 0, sizeof steps);
    for (uint32_t i = 0; i < MANY; i++) {
        calls[i] = i;
        steps[2 * i] = (struct step)VECTOR(8);
        steps[2 * i + 1] = (struct step)DO("pipe_barrier");
        if (i > 0)
            orders[MANY - 1 - i] = (struct skrt_order){i - 1, i};
    }
    char texts[MANY][8];
    const char *many[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(texts[i], sizeof texts[i], "<%u>", i % 90);
        many[i] = texts[i];
    }
    struct skrt_race_check check = {.n_ops = MANY,
                                    .names = many,
                                    .n_calls = {0, MANY},
                                    .calls = {NULL, calls},
                                    .n_orders = MANY - 1,
                                    .orders = orders};
    struct run run;
    run_open(&run, 2, vectors);
    run.program = (struct program){{NULL, steps}};
    run.launch.race = &check;
    run_launch(&run);
    expect_status(&run, SKRT_RACE);
    expect_text(&run, "race: 29 required orders are not enforced\n");
    expect_text(&run, ": started <1> without knowing that <0> was");
    expect_text(&run, ": started <20> without knowing that <19> was");
    expect_text(&run, "\n  and 9 more of this kind\n");
    assert_null(strstr(run.result.report, "started <21>"));
    run_close(&run);
}

/* ------------------------------------------------------------------ launches ---- */

/* The device can be used on, with and without a check. */
static void test_device_stays_usable(void **state)
{
    (void)state;
    struct skrt_race_check check = chain(LIST(A), 1, LIST(B), 1);
    struct run run;
    run_open(&run, 2, four);
    for (int i = 0; i < 3; i++) {
        run.program = (struct program){{STEPS(CUBE(4)), STEPS(VECTOR(8))}};
        run.launch.race = &check;
        run_launch(&run);
        expect_status(&run, SKRT_RACE);
        run.launch.race = NULL;
        run_launch(&run);
        expect_status(&run, SKRT_OK);
    }
    run_close(&run);
}

static void test_bad_checks(void **state)
{
    (void)state;
    struct skrt_race_check check = chain(LIST(A), 1, LIST(B, OPS), 2);
    expect_launch(&check, four, STEPS(CUBE(4)), STEPS(VECTOR(8)), SKRT_INVALID,
                  TEXTS("an op that it does not have"));
    check = chain(LIST(A), 1, LIST(B), 1);
    check.orders = ORDERS({A, OPS});
    check.n_orders = 1;
    expect_launch(&check, four, STEPS(CUBE(4)), STEPS(VECTOR(8)), SKRT_INVALID,
                  TEXTS("an op that it does not have"));
    check = chain(LIST(A), 1, LIST(B), 1);
    expect_launch(&check, four, STEPS(CUBE(4), DO("pipe_barrier"), CUBE(4)), STEPS(VECTOR(8)),
                  SKRT_MISUSE, TEXTS("the race check does not know this call"));
    struct run run;
    run_open(&run, 1, cubes);
    run.launch.entry = NULL;
    run.launch.parts[SKRT_AIC] = (struct skrt_call){idle_kernel, 0, 4, 0, false};
    run.launch.race = &check;
    run_launch(&run);
    expect_status(&run, SKRT_INVALID);
    expect_text(&run, "a race check is for entries");
    run_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barrier),
        cmocka_unit_test(test_split_barrier),
        cmocka_unit_test(test_rounds_ahead),
        cmocka_unit_test(test_left_out_cores),
        cmocka_unit_test(test_one_one_kernel),
        cmocka_unit_test(test_drained),
        cmocka_unit_test(test_flag),
        cmocka_unit_test(test_flag_before_drain),
        cmocka_unit_test(test_flags_ahead),
        cmocka_unit_test(test_knowledge_passes_through),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_event_reset),
        cmocka_unit_test(test_called_too_early),
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_device_stays_usable),
        cmocka_unit_test(test_bad_checks),
    };
    return cmocka_run_group_tests_name("skrt_race", tests, NULL, NULL);
}
