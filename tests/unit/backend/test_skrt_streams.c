/* The virtual device with launches of several streams at once: their order, their cores, how they
 * wait for each other, and how they cannot go on. */
#include <stdio.h>

#include "tests/unit/skrt_harness.h"

enum { MAX_LAUNCHES = 64, MAX_SIGNALS = 4, WORDS = 64 };

/* A queue of programs, whose slots from 1 on are the addresses of the first words. */
struct streams {
    struct skrt_device *device;
    struct skrt_queue queue;
    struct skrt_queued launches[MAX_LAUNCHES];
    struct skrt_result results[MAX_LAUNCHES];
    struct program programs[MAX_LAUNCHES];
    uint64_t params[MAX_LAUNCHES][PARAMS];
    struct skrt_signal signals[MAX_LAUNCHES][2 * MAX_SIGNALS];
    char names[MAX_LAUNCHES][8];
    _Atomic uint64_t words[WORDS];
    enum skrt_status status;
};

static const char *const stream_names[] = {"a", "b", "c", "d"};
static const char *const word_names[] = {"e0", "e1", "e2", "e3", "e4", "e5", "e6"};

static void streams_open(struct streams *all, uint32_t aic, uint32_t aiv, uint32_t threads)
{
    memset(all, 0, sizeof *all);
    struct skrt_device_config config = {.aic = aic, .aiv = aiv, .threads = threads};
    all->device = skrt_device_open(&config);
    assert_non_null(all->device);
    all->queue = (struct skrt_queue){.launches = all->launches, .streams = stream_names};
}

static struct skrt_queued *add(struct streams *all, uint32_t stream, struct shape shape,
                               const struct step *aic, const struct step *aiv)
{
    uint32_t n = all->queue.n_launches++;
    assert_true(n < MAX_LAUNCHES);
    snprintf(all->names[n], sizeof all->names[n], "L%u", n);
    all->programs[n] = (struct program){{aic, aiv}};
    all->params[n][0] = (uintptr_t)&all->programs[n];
    for (uint32_t i = 1; i < PARAMS; i++)
        all->params[n][i] = (uintptr_t)&all->words[i - 1];
    all->launches[n] = (struct skrt_queued){
        .launch = {.name = all->names[n],
                   .entry = program_entry,
                   .blocks = shape.blocks,
                   .aics = shape.aics,
                   .aivs = shape.aivs,
                   .params = all->params[n],
                   .n_params = PARAMS,
                   .closed = true},
        .stream = stream,
        .waits = all->signals[n],
        .sends = all->signals[n] + MAX_SIGNALS,
    };
    if (stream >= all->queue.n_streams)
        all->queue.n_streams = stream + 1;
    return &all->launches[n];
}

static void wait_for(struct streams *all, uint32_t word)
{
    struct skrt_queued *queued = &all->launches[all->queue.n_launches - 1];
    all->signals[all->queue.n_launches - 1][queued->n_waits++] =
        (struct skrt_signal){(uint64_t *)&all->words[word], word_names[word]};
}

static void send(struct streams *all, uint32_t word)
{
    struct skrt_queued *queued = &all->launches[all->queue.n_launches - 1];
    all->signals[all->queue.n_launches - 1][MAX_SIGNALS + queued->n_sends++] =
        (struct skrt_signal){(uint64_t *)&all->words[word], word_names[word]};
}

static void run_all(struct streams *all)
{
    for (uint32_t i = 0; i < all->queue.n_launches; i++)
        free(all->results[i].report);
    all->status = skrt_launch_all(all->device, &all->queue, all->results);
}

static void streams_close(struct streams *all)
{
    for (uint32_t i = 0; i < all->queue.n_launches; i++)
        free(all->results[i].report);
    skrt_device_close(all->device);
}

static const char *first_report(const struct streams *all)
{
    for (uint32_t i = 0; i < all->queue.n_launches; i++)
        if (all->results[i].report)
            return all->results[i].report;
    return "(none)";
}

static void expect_all(const struct streams *all, enum skrt_status status)
{
    if (all->status != status)
        fail_msg("expected status \"%s\", not \"%s\":\n%s", skrt_status_text(status),
                 skrt_status_text(all->status), first_report(all));
    for (uint32_t i = 0; i < all->queue.n_launches && status == SKRT_OK; i++)
        assert_int_equal(all->results[i].status, SKRT_OK);
}

static void expect_report(const struct streams *all, const char *text)
{
    if (strcmp(first_report(all), text) != 0)
        fail_msg("expected the report\n%s\nnot\n%s", text, first_report(all));
}

/* Builds a queue on a device of 24 AICs and 48 AIVs, with one thread and with more, and expects its
 * status and, unless NULL, the report. */
static void expect_queue(void (*build)(struct streams *all), enum skrt_status status,
                         const char *report)
{
    static const uint32_t threads[] = {1, 2, 5};
    for (size_t i = 0; i < COUNT(threads); i++) {
        struct streams all;
        streams_open(&all, 24, 48, threads[i]);
        build(&all);
        run_all(&all);
        expect_all(&all, status);
        if (report)
            expect_report(&all, report);
        streams_close(&all);
    }
}

static const struct shape cubes = {24, 1, 0}, four_cubes = {4, 1, 0}, four_vectors = {4, 0, 1};

/* clang-format off */
#define BARRIER(type) {.text = "arrive " type}, {.text = "await " type}
/* clang-format on */

/* Programs, which outlive the queues that have them. */
static const struct step *const await_then_notify =
    STEPS(BARRIER("aic"), {.text = "wait_event", .slot = 1}, BARRIER("aic"),
          {.text = "notify", .slot = 2}, {.text = "reset", .slot = 1});
static const struct step *const notify_then_await =
    STEPS(BARRIER("aiv"), {.text = "notify", .slot = 1}, BARRIER("aiv"),
          {.text = "wait_event", .slot = 2}, {.text = "reset", .slot = 2}, BARRIER("aiv"));
static const struct step *const wait_1_notify_2 =
    STEPS({.text = "wait_event", .slot = 1}, {.text = "notify", .slot = 2}, BARRIER("aic"));
static const struct step *const wait_2_notify_1 =
    STEPS({.text = "wait_event", .slot = 2}, {.text = "notify", .slot = 1});
static const struct step *const wait_1_aic =
    STEPS({.text = "wait_event", .slot = 1}, BARRIER("aic"));
static const struct step *const barrier_aic = STEPS(BARRIER("aic"));
static const struct step *const wait_1_aiv =
    STEPS({.text = "wait_event", .slot = 1}, BARRIER("aiv"));
static const struct step *const there_and_back_aic =
    STEPS({.text = "set c2v"}, {.text = "wait v2c"});
static const struct step *const there_and_back_aiv =
    STEPS({.text = "wait c2v"}, {.text = "set v2c"});
static const struct step *const wait_1 = STEPS({.text = "wait_event", .slot = 1});
static const struct step *const misuse_on_2 = STEPS({.text = "arrive aic", .on = ONLY, .core = 2});
static const struct step *const set_c2v = STEPS({.text = "set c2v"});

/* -------------------------------------------------------------- events ---- */

/* Each waits in the middle for what the other sends in the middle. */
static void build_both_ways(struct streams *all)
{
    add(all, 0, four_cubes, await_then_notify, NULL);
    add(all, 1, four_vectors, NULL, notify_then_await);
}

static void test_events_in_the_middle(void **state)
{
    (void)state;
    expect_queue(build_both_ways, SKRT_OK, NULL);
}

static void build_circle_inside(struct streams *all)
{
    add(all, 0, four_cubes, wait_1_notify_2, NULL);
    add(all, 1, four_vectors, NULL, wait_2_notify_1);
    add(all, 1, four_vectors, NULL, NULL);
}

static void test_circle_inside(void **state)
{
    (void)state;
    expect_queue(
        build_circle_inside, SKRT_DEADLOCK,
        "deadlock: no launch goes on: each waits for others, or for itself\n"
        "stream a, launch L0: 4 AICs, 0 AIVs, 4 unfinished\n"
        "  aic 0: blocked in `wait_event`: the event of slot 1 has not come; last op none\n"
        "  aic 1..3: blocked in `await aic`: 1 of 4 AICs has not arrived: aic 0; last op none\n"
        "stream b, launch L1: 0 AICs, 4 AIVs, 1 unfinished\n"
        "  aiv 0: blocked in `wait_event`: the event of slot 2 has not come; last op none\n"
        "  aiv 1..3: finished; last op none\n"
        "cores of the device\n"
        "  aic 0..3: stream a, launch L0\n"
        "  aic 4..23: free\n"
        "  aiv 0..3: stream b, launch L1\n"
        "  aiv 4..47: free\n");
}

static void build_circle_outside(struct streams *all)
{
    add(all, 0, four_cubes, NULL, NULL);
    add(all, 1, four_cubes, NULL, NULL);
    wait_for(all, 0);
    wait_for(all, 2);
    send(all, 1);
    add(all, 2, four_cubes, NULL, NULL);
    wait_for(all, 1);
    send(all, 0);
    send(all, 2);
}

static void test_circle_outside(void **state)
{
    (void)state;
    expect_queue(build_circle_outside, SKRT_DEADLOCK,
                 "deadlock: no launch goes on: each waits for others, or for itself\n"
                 "stream a, all launches have ended\n"
                 "stream b, launch L1: not begun, waits for the events e0, e2\n"
                 "stream c, launch L2: not begun, waits for the event e1\n"
                 "cores of the device\n"
                 "  aic 0..23: free\n"
                 "  aiv 0..47: free\n");
}

/* ---------------------------------------------------------------- order ---- */

static _Atomic uint32_t log_size;
static uint8_t log_of[WORDS];

/* Core 0 of each launch writes the number in slot 7 down. */
static void logging_entry(skrt_core *core)
{
    if (skrt_core_index(core) == 0)
        log_of[atomic_fetch_add(&log_size, 1)] = (uint8_t)skrt_args(core, 7)[0];
}

static uint32_t place_in_log(uint8_t number)
{
    uint32_t at = 0;
    while (at < log_size && log_of[at] != number)
        at++;
    assert_true(at < log_size);
    return at;
}

/* Streams have three launches each; the last of one is waited for by the first of the next. */
static void build_chain(struct streams *all)
{
    log_size = 0;
    for (uint32_t i = 0; i < 12; i++) {
        uint32_t stream = 3 - i % 4;
        struct skrt_queued *queued =
            add(all, stream, i % 2 ? four_cubes : four_vectors, NULL, NULL);
        queued->launch.entry = logging_entry;
        all->params[i][7] = (uint8_t)(stream * 3 + i / 4);
        if (i / 4 == 0 && stream > 0)
            wait_for(all, stream - 1);
        if (i / 4 == 2)
            send(all, stream);
    }
}

static void test_order(void **state)
{
    (void)state;
    expect_queue(build_chain, SKRT_OK, NULL);
    assert_int_equal(log_size, 12);
    for (uint8_t i = 0; i < 12; i++)
        assert_int_equal(place_in_log(i), i);
}

/* ----------------------------------------------------------------- cores ---- */

/* All AICs wait in the middle for the end of a launch that needs one. */
static void build_kept(struct streams *all)
{
    add(all, 0, cubes, wait_1_aic, NULL);
    add(all, 1, (struct shape){1, 1, 0}, NULL, NULL);
    send(all, 0);
}

static void test_launch_keeps_what_it_waits_for(void **state)
{
    (void)state;
    expect_queue(
        build_kept, SKRT_DEADLOCK,
        "deadlock: no launch goes on: there is one that needs cores which others keep\n"
        "stream a, launch L0: 24 AICs, 0 AIVs, 24 unfinished\n"
        "  aic 0: blocked in `wait_event`: the event of slot 1 has not come; last op none\n"
        "  aic 1..23: blocked in `await aic`: 1 of 24 AICs has not arrived: aic 0; last op none\n"
        "stream b, launch L1: 1 AICs, 0 AIVs, 1 unfinished, 1 of 1 blocks not begun\n"
        "  aic 0: waits for a core of the device; last op none\n"
        "cores of the device\n"
        "  aic 0..23: stream a, launch L0\n"
        "  aiv 0..47: free\n");
}

static void build_halves(struct streams *all)
{
    for (uint32_t i = 0; i < 2; i++)
        add(all, i, cubes, barrier_aic, NULL);
}

static void build_halves_in_turns(struct streams *all)
{
    build_halves(all);
    all->queue.turns = true;
}

static void test_launches_keep_each_others_cores(void **state)
{
    (void)state;
    expect_queue(build_halves, SKRT_OK, NULL);
    expect_queue(
        build_halves_in_turns, SKRT_DEADLOCK,
        "deadlock: no launch goes on: there is one that needs cores which others keep\n"
        "stream a, launch L0: 24 AICs, 0 AIVs, 24 unfinished, 12 of 24 blocks not begun\n"
        "  aic 0..11: blocked in `await aic`: 12 of 24 AICs have not arrived: aic 12..23; last op "
        "none\n"
        "  aic 12..23: waits for a core of the device; last op none\n"
        "stream b, launch L1: 24 AICs, 0 AIVs, 24 unfinished, 12 of 24 blocks not begun\n"
        "  aic 0..11: blocked in `await aic`: 12 of 24 AICs have not arrived: aic 12..23; last op "
        "none\n"
        "  aic 12..23: waits for a core of the device; last op none\n"
        "cores of the device\n"
        "  aic 0, aic 2, aic 4, aic 6, aic 8, aic 10, aic 12, aic 14 and 4 more: stream a, launch "
        "L0\n"
        "  aic 1, aic 3, aic 5, aic 7, aic 9, aic 11, aic 13, aic 15 and 4 more: stream b, launch "
        "L1\n"
        "  aiv 0..47: free\n");
}

/* 47 vector cores are kept until a launch of 48 blocks has ended. */
static void build_waves(struct streams *all)
{
    add(all, 0, (struct shape){47, 0, 1}, NULL, wait_1_aiv);
    add(all, 1, aiv_only, NULL, NULL)->launch.waves = true;
    send(all, 0);
}

static void build_no_waves(struct streams *all)
{
    build_waves(all);
    all->launches[1].launch.waves = false;
}

/* The same with AI cores, each of which is a block. */
static void build_mixed_waves(struct streams *all)
{
    add(all, 0, (struct shape){23, 1, 0}, wait_1_aic, NULL);
    add(all, 1, one_two, there_and_back_aic, there_and_back_aiv)->launch.waves = true;
    send(all, 0);
}

static void test_waves(void **state)
{
    (void)state;
    expect_queue(build_waves, SKRT_OK, NULL);
    expect_queue(build_mixed_waves, SKRT_OK, NULL);
    expect_queue(build_no_waves, SKRT_DEADLOCK, NULL);
}

/* A vector launch keeps a core until a mixed one has ended that needs all AICs. */
static enum skrt_status run_beside_vector(uint32_t aics, uint32_t aivs, struct shape mixed)
{
    struct streams all;
    streams_open(&all, aics, aivs, 2);
    add(&all, 0, (struct shape){1, 0, 1}, NULL, wait_1);
    add(&all, 1, mixed, NULL, NULL);
    send(&all, 0);
    run_all(&all);
    enum skrt_status status = all.status;
    streams_close(&all);
    return status;
}

static void test_ai_cores(void **state)
{
    (void)state;
    struct shape two = {2, 1, 2}, one = {2, 1, 1};
    assert_int_equal(run_beside_vector(2, 4, one), SKRT_OK);
    assert_int_equal(run_beside_vector(2, 4, two), SKRT_DEADLOCK);
    assert_int_equal(run_beside_vector(2, 5, two), SKRT_OK); /* has no AI cores */
    assert_int_equal(run_beside_vector(2, 2, one), SKRT_DEADLOCK);
    assert_int_equal(run_beside_vector(2, 3, one), SKRT_OK);
}

/* -------------------------------------------------------------- failures ---- */

static void build_misuse(struct streams *all)
{
    add(all, 0, four_cubes, wait_1, NULL);
    add(all, 1, four_vectors, NULL, NULL);
    add(all, 1, four_vectors, NULL, misuse_on_2);
    add(all, 1, four_vectors, NULL, NULL);
}

static void test_failure_stops_the_others(void **state)
{
    (void)state;
    struct streams all;
    streams_open(&all, 24, 48, 1);
    build_misuse(&all);
    run_all(&all);
    expect_all(&all, SKRT_MISUSE);
    assert_int_equal(all.results[0].status, SKRT_STOPPED);
    assert_int_equal(all.results[1].status, SKRT_OK);
    assert_int_equal(all.results[2].status, SKRT_MISUSE);
    assert_int_equal(all.results[3].status, SKRT_STOPPED);
    assert_string_equal(skrt_status_text(all.results[3].status), "stopped");
    assert_non_null(strstr(all.results[2].report, "misuse: aiv 2 at `arrive aic`: only cores of"));
    assert_non_null(strstr(all.results[2].report, "\nstream a, launch L0: 4 AICs, "));
    run_all(&all);
    expect_all(&all, SKRT_INVALID);
    expect_report(&all, "invalid launch: an earlier launch was stopped and has left the device "
                        "unusable\n");
    streams_close(&all);
}

/* A flag that is left set is one launch's: the others go on. */
static void build_left_set(struct streams *all)
{
    add(all, 0, (struct shape){2, 1, 1}, set_c2v, NULL);
    send(all, 0);
    add(all, 1, four_cubes, NULL, NULL);
    wait_for(all, 0);
}

static void test_left_set(void **state)
{
    (void)state;
    expect_queue(build_left_set, SKRT_LEFT_SET,
                 "flag left set: all cores have finished, but releases are left over\n"
                 "launch L0: 2 AICs, 2 AIVs, 0 unfinished\n"
                 "  aiv 0..1: c2v was set 1 time more often than waited for\n"
                 "  aic 0..1: finished; last op none\n"
                 "  aiv 0..1: finished; last op none\n");
}

static void expect_invalid(void (*change)(struct streams *all), const char *report)
{
    struct streams all;
    streams_open(&all, 24, 48, 1);
    build_left_set(&all);
    change(&all);
    run_all(&all);
    expect_all(&all, SKRT_INVALID);
    assert_int_equal(all.results[0].status, SKRT_STOPPED);
    assert_int_equal(all.results[1].status, SKRT_INVALID);
    expect_report(&all, report);
    streams_close(&all);
}

static void change_stream(struct streams *all)
{
    all->launches[1].stream = 2;
}

static void change_word(struct streams *all)
{
    all->signals[1][0].word = (uint64_t *)((char *)all->words + 1);
}

static void test_invalid(void **state)
{
    (void)state;
    expect_invalid(change_stream, "invalid launch: stream 2, but there are 2\n");
    expect_invalid(change_word, "invalid launch: an event is not the address of a 64-bit word\n");
    struct streams all;
    streams_open(&all, 24, 48, 1);
    run_all(&all);
    expect_all(&all, SKRT_OK);
    streams_close(&all);
}

/* What only somebody outside can send is waited for until the time is over, or not at all. */
static void test_timeouts(void **state)
{
    (void)state;
    for (int closed = 0; closed < 2; closed++) {
        struct streams all;
        streams_open(&all, 24, 48, 2);
        for (uint32_t i = 0; i < 2; i++) {
            struct skrt_queued *queued = add(&all, i, four_cubes, wait_1, NULL);
            queued->launch.closed = closed;
            queued->launch.timeout_ms = closed ? 1000000 : 30 + 1000 * i;
        }
        run_all(&all);
        expect_all(&all, closed ? SKRT_DEADLOCK : SKRT_TIMEOUT);
        assert_int_equal(all.results[1].status, SKRT_STOPPED);
        if (!closed)
            assert_non_null(
                strstr(first_report(&all), "timeout: not finished after 30 ms\nstream a,"));
        streams_close(&all);
    }
}

/* ---------------------------------------------------------------- many ---- */

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static _Atomic uint32_t counted;

static void counting_entry(skrt_core *core)
{
    static const struct skrt_site arrive[] = {{"arrive aic", NULL}, {"arrive aiv", NULL}};
    static const struct skrt_site await[] = {{"await aic", NULL}, {"await aiv", NULL}};
    enum skrt_core_type type = skrt_core_type(core);
    for (uint64_t i = 0; i < skrt_args(core, 7)[0]; i++) {
        skrt_arrive(core, type, &arrive[type]);
        skrt_await(core, type, &await[type]);
    }
    atomic_fetch_add(&counted, 1);
}

/* Launches of all shapes, that wait only for launches before them. Returns how many cores. */
static uint32_t build_random(struct streams *all, uint64_t seed)
{
    static const struct shape shapes[] = {{6, 1, 0}, {12, 0, 1}, {8, 1, 1}, {8, 1, 2}};
    uint32_t cores = 0;
    for (uint32_t i = 0; i < 40; i++) {
        struct shape shape = shapes[next_random(&seed) % COUNT(shapes)];
        bool waves = next_random(&seed) % 2;
        shape.blocks = 1 + next_random(&seed) % (waves ? shape.blocks : 2);
        struct skrt_queued *queued = add(all, next_random(&seed) % 4, shape, NULL, NULL);
        queued->launch.entry = counting_entry;
        queued->launch.waves = waves;
        all->params[i][7] = waves ? 0 : next_random(&seed) % 3;
        for (uint32_t j = 0; i > 0 && j < next_random(&seed) % 3; j++) {
            uint32_t word = next_random(&seed) % i;
            all->signals[i][queued->n_waits++] =
                (struct skrt_signal){(uint64_t *)&all->words[word], NULL};
        }
        all->signals[i][MAX_SIGNALS] = (struct skrt_signal){(uint64_t *)&all->words[i], NULL};
        queued->n_sends = 1;
        cores += shape.blocks * (shape.aics + shape.aivs);
    }
    return cores;
}

/* All launches that keep cores have room beside each other, and leave a block's for the rest. */
static void test_many(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct streams all;
        streams_open(&all, 9, 19, 1 + seed % 4);
        all.queue.turns = seed % 2;
        uint32_t cores = build_random(&all, seed);
        for (int repeat = 0; repeat < 3; repeat++) {
            counted = 0;
            memset(all.words, 0, sizeof all.words);
            run_all(&all);
            expect_all(&all, SKRT_OK);
            assert_int_equal(counted, cores);
        }
        streams_close(&all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_in_the_middle),
        cmocka_unit_test(test_circle_inside),
        cmocka_unit_test(test_circle_outside),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_launch_keeps_what_it_waits_for),
        cmocka_unit_test(test_launches_keep_each_others_cores),
        cmocka_unit_test(test_waves),
        cmocka_unit_test(test_ai_cores),
        cmocka_unit_test(test_failure_stops_the_others),
        cmocka_unit_test(test_left_set),
        cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_timeouts),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
