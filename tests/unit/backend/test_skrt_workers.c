/* The threads of the virtual device: entries that are rows of data, which need no stacks, beside
 * the same ones as code; more threads than processors; what threads do that have nothing to do, by
 * counts. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "backend/runtime/state.h"
#include "tests/unit/skrt_harness.h"

/* ---------------------------------------------------------------- programs ---- */

enum { MAX_ROWS = 200, MAX_SITES = 16, KERNELS = 4 };

static _Atomic uint64_t ran;

static void counting_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)core;
    (void)args_offset;
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
}

/* Its cores block in the middle of it. */
static void meeting_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)args_offset;
    volatile uint32_t own = skrt_core_index(core);
    for (int i = 0; i < 3; i++)
        skrt_kernel_sync_all(core);
    if (own == skrt_core_index(core))
        atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
}

/* Flags in the middle of it. */
static void mixed_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)args_offset;
    if (skrt_core_type(core) == SKRT_AIC) {
        skrt_kernel_set_c2v(core);
        skrt_kernel_wait_v2c(core);
    } else {
        skrt_kernel_wait_c2v(core);
        skrt_kernel_set_v2c(core);
    }
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
}

/* Calls that may not overlap: the first parameters are their numbers, by core type from 1. */
enum { CALLS = 40, FIRST_NUMBER = 2, PARAMETERS = FIRST_NUMBER + CALLS + 1 };
static _Atomic uint32_t begun[SKRT_CORE_TYPES][CALLS + 1], ended[SKRT_CORE_TYPES][CALLS + 1];
static uint32_t included[SKRT_CORE_TYPES][CALLS + 1];
static _Atomic uint32_t overlaps;

static void ordered_kernel(skrt_core *core, uint64_t args_offset)
{
    enum skrt_core_type type = skrt_core_type(core);
    uint64_t number = *skrt_args(core, args_offset);
    atomic_fetch_add(&begun[type][number], 1);
    for (uint64_t i = 1; i <= CALLS; i++)
        overlaps += (i < number && atomic_load(&ended[type][i]) != included[type][i]) ||
                    (i > number && atomic_load(&begun[type][i]) != 0);
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
    atomic_fetch_add(&ended[type][number], 1);
}

static const struct skrt_row_kernel kernels[KERNELS] = {{counting_kernel, NULL, 0},
                                                        {meeting_kernel, NULL, 0},
                                                        {mixed_kernel, NULL, 0},
                                                        {ordered_kernel, NULL, 0}};

static const struct skrt_site sites[SKRT_ROW_check + 1] = {
    [SKRT_ROW_call] = {"call @k", "K"},
    [SKRT_ROW_arrive] = {"arrive", NULL},
    [SKRT_ROW_await] = {"await", NULL},
    [SKRT_ROW_set_c2v] = {"set c2v", NULL},
    [SKRT_ROW_set_v2c] = {"set v2c", NULL},
    [SKRT_ROW_wait_c2v] = {"wait c2v", NULL},
    [SKRT_ROW_wait_v2c] = {"wait v2c", NULL},
    [SKRT_ROW_notify] = {"notify", NULL},
    [SKRT_ROW_wait_event] = {"wait_event", NULL},
    [SKRT_ROW_reset] = {"reset", NULL},
    [SKRT_ROW_pipe_barrier] = {"pipe_barrier", NULL},
};

static struct skrt_row programs[SKRT_CORE_TYPES][MAX_ROWS];
static struct skrt_rows rows = {
    .version = SKRT_ROWS_VERSION, .copies = 1, .stride = 1, .kernels = kernels, .sites = sites};

static void programs_clear(void)
{
    for (int type = 0; type < SKRT_CORE_TYPES; type++)
        rows.programs[type] = (struct skrt_row_program){programs[type], 0};
}

static struct skrt_row *add(enum skrt_core_type type, enum skrt_row_op op, uint32_t number)
{
    struct skrt_row_program *program = &rows.programs[type];
    assert_true(program->n_rows < MAX_ROWS);
    struct skrt_row *row = &programs[type][program->n_rows++];
    *row = (struct skrt_row){.op = (uint8_t)op, .site = (uint32_t)op, .numbers = {number}};
    return row;
}

static void add_call(enum skrt_core_type type, uint32_t kernel, uint32_t blocks, uint8_t aivs,
                     bool flat)
{
    struct skrt_row *row = add(type, SKRT_ROW_call, kernel);
    row->numbers[2] = blocks;
    row->aivs = aivs;
    row->flat = flat;
}

static void add_barrier(enum skrt_core_type type)
{
    add(type, SKRT_ROW_arrive, type);
    add(type, SKRT_ROW_await, type);
}

static void rows_entry(skrt_core *core)
{
    skrt_run_rows(core, &rows);
}

static void execute(skrt_core *core, const struct skrt_row *row)
{
    const struct skrt_site *site = &sites[row->site];
    const uint32_t *n = row->numbers;
    const struct skrt_call call = {kernels[n[0] % KERNELS].fn, n[1], n[2], row->aivs, row->flat};
    switch ((enum skrt_row_op)row->op) {
    case SKRT_ROW_call: skrt_call(core, &call, site); break;
    case SKRT_ROW_arrive: skrt_arrive(core, n[0], site); break;
    case SKRT_ROW_await: skrt_await(core, n[0], site); break;
    case SKRT_ROW_set_c2v: skrt_set_c2v(core, site); break;
    case SKRT_ROW_set_v2c: skrt_set_v2c(core, site); break;
    case SKRT_ROW_wait_c2v: skrt_wait_c2v(core, site); break;
    case SKRT_ROW_wait_v2c: skrt_wait_v2c(core, site); break;
    case SKRT_ROW_notify: skrt_notify(core, n[0], site); break;
    case SKRT_ROW_wait_event: skrt_wait_event(core, n[0], site); break;
    case SKRT_ROW_reset: skrt_reset(core, n[0], site); break;
    default: skrt_pipe_barrier(core, site); break;
    }
}

/* The same as code: its cores keep their stacks. */
static void code_entry(skrt_core *core)
{
    const struct skrt_row_program *program = &rows.programs[skrt_core_type(core)];
    for (uint64_t i = 0; i < program->n_rows; i++)
        execute(core, &program->rows[i]);
}

/* --------------------------------------------------------- as rows and as code ---- */

static uint64_t word;

static void launch(struct run *run, uint32_t threads, struct shape shape, skrt_entry_fn *entry)
{
    run_open(run, threads, shape);
    word = 0;
    run->params[1] = (uintptr_t)&word;
    run->launch.entry = entry;
    atomic_store(&ran, 0);
    run_launch(run);
}

/* Both end alike, with the same report where that does not depend on who runs first. */
static void compare(uint32_t threads, struct shape shape, enum skrt_status status)
{
    struct run by_rows, by_code;
    launch(&by_rows, threads, shape, rows_entry);
    uint64_t ran_rows = atomic_load(&ran);
    launch(&by_code, threads, shape, code_entry);
    expect_status(&by_rows, status);
    expect_status(&by_code, status);
    if (status == SKRT_OK)
        assert_int_equal(ran_rows, atomic_load(&ran));
    if (by_code.result.report && (threads == 1 || status == SKRT_DEADLOCK))
        assert_string_equal(by_rows.result.report, by_code.result.report);
    run_close(&by_rows);
    run_close(&by_code);
}

static void compare_all(struct shape shape, enum skrt_status status)
{
    static const uint32_t threads[] = {1, 2, 3, 7};
    for (size_t i = 0; i < COUNT(threads); i++)
        compare(threads[i], shape, status);
}

static void add_both(void (*add_one)(enum skrt_core_type type))
{
    add_one(SKRT_AIC);
    add_one(SKRT_AIV);
}

static void add_flags(void)
{
    add(SKRT_AIC, SKRT_ROW_set_c2v, 0);
    add(SKRT_AIV, SKRT_ROW_wait_c2v, 0);
    add(SKRT_AIV, SKRT_ROW_set_v2c, 0);
    add(SKRT_AIC, SKRT_ROW_wait_v2c, 0);
}

static void test_rows_as_code(void **state)
{
    (void)state;
    programs_clear();
    for (uint32_t i = 0; i < 8; i++) {
        add_call(SKRT_AIC, 0, 1 + 3 * i, 0, false);
        add_call(SKRT_AIV, 0, 48 - 5 * i, 1, true);
        add_both(add_barrier);
        add_flags();
        add_call(SKRT_AIV, 1, 6 * i + 1, 1, true);
        add_barrier(SKRT_AIV);
        add_call(SKRT_AIC, 2, 24 - i, 2, false);
        add_call(SKRT_AIV, 2, 24 - i, 2, false);
        add_both(add_barrier);
    }
    compare_all(one_two, SKRT_OK);
}

static void test_events_of_rows(void **state)
{
    (void)state;
    programs_clear();
    add(SKRT_AIC, SKRT_ROW_wait_event, 1);
    add_barrier(SKRT_AIC);
    add_barrier(SKRT_AIV);
    add(SKRT_AIV, SKRT_ROW_notify, 1);
    add_flags();
    compare_all(one_two, SKRT_OK);
}

/* What is wrong is found, and told in the same words. */
static void test_rows_that_are_wrong(void **state)
{
    (void)state;
    programs_clear();
    add_call(SKRT_AIC, 0, 20, 0, false);
    add_barrier(SKRT_AIC);
    add(SKRT_AIC, SKRT_ROW_wait_v2c, 0);
    add_barrier(SKRT_AIV);
    add(SKRT_AIV, SKRT_ROW_wait_c2v, 0);
    compare_all(one_two, SKRT_DEADLOCK);
    programs_clear();
    for (int i = 0; i < 16; i++)
        add(SKRT_AIC, SKRT_ROW_set_c2v, 0);
    compare_all(one_two, SKRT_OVERFLOW);
    programs_clear();
    add_barrier(SKRT_AIC);
    add(SKRT_AIC, SKRT_ROW_arrive, SKRT_AIV);
    compare_all(one_two, SKRT_MISUSE);
    programs_clear();
    add(SKRT_AIC, SKRT_ROW_arrive, SKRT_AIC);
    add(SKRT_AIC, SKRT_ROW_set_c2v, 0);
    compare_all(one_two, SKRT_LEFT_SET);
}

/* -------------------------------------------------------- cores with nothing to do ---- */

static uint32_t draw(uint32_t *seed, uint32_t most)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % most;
}

/* Barriers with calls between them that leave many cores out, or all. */
static void add_sparse_calls(enum skrt_core_type type, uint32_t *seed)
{
    uint32_t cores = type == SKRT_AIC ? 24 : 48;
    for (uint32_t number = 1; number <= CALLS; number++) {
        uint32_t blocks = draw(seed, 3) == 0 ? 1 + draw(seed, cores) : 1 + draw(seed, 3);
        add_call(type, 3, blocks, 1, type == SKRT_AIV);
        programs[type][rows.programs[type].n_rows - 1].numbers[1] = FIRST_NUMBER + number;
        included[type][number] = blocks;
        for (uint32_t barriers = 1 + (draw(seed, 8) == 0); barriers > 0; barriers--) {
            if (draw(seed, 4) == 0)
                add(type, SKRT_ROW_pipe_barrier, 0);
            add_barrier(type);
        }
    }
}

static void launch_sparse(struct run *run, uint32_t threads, skrt_entry_fn *entry)
{
    static uint64_t params[PARAMETERS];
    run_open(run, threads, one_two);
    for (uint32_t number = 0; number <= CALLS; number++)
        params[FIRST_NUMBER + number] = number;
    run->launch.params = params;
    run->launch.n_params = PARAMETERS;
    run->launch.entry = entry;
    memset(begun, 0, sizeof begun);
    memset(ended, 0, sizeof ended);
    atomic_store(&ran, 0);
    run_launch(run);
}

/* Cores that a call leaves out wait for the next barrier without being run: the calls of all others
 * run between the same barriers. */
static void test_sparse_calls(void **state)
{
    (void)state;
    static const uint32_t threads[] = {1, 2, 3, 8};
    const char *given = getenv("SKIR_TEST_SEED");
    uint32_t seed = given ? (uint32_t)strtoul(given, NULL, 10) : 7;
    print_message("seed %u\n", seed);
    for (int i = 0; i < 40; i++) {
        struct run run;
        uint32_t wanted = 0;
        programs_clear();
        for (int type = 0; type < SKRT_CORE_TYPES; type++) {
            add_sparse_calls((enum skrt_core_type)type, &seed);
            for (uint32_t number = 1; number <= CALLS; number++)
                wanted += included[type][number];
        }
        launch_sparse(&run, threads[i % COUNT(threads)], rows_entry);
        expect_status(&run, SKRT_OK);
        assert_int_equal(atomic_load(&overlaps), 0);
        assert_int_equal(atomic_load(&ran), wanted);
        run_close(&run);
    }
}

/* A kernel whose only core waits for ever, behind barriers that the others have passed at rest: the
 * report says where all of them wait. */
static void test_report_of_rest(void **state)
{
    (void)state;
    programs_clear();
    for (uint32_t i = 0; i < 5; i++) {
        add_call(SKRT_AIC, 0, 3 + i, 0, false);
        add_barrier(SKRT_AIC);
    }
    add_call(SKRT_AIC, 2, 1, 1, false);
    add_barrier(SKRT_AIC);
    add_barrier(SKRT_AIC);
    compare_all(one_two, SKRT_DEADLOCK);
}

/* ------------------------------------------------------ threads and processors ---- */

enum { LAUNCHES = 40, BARRIERS = 60 };

static uint64_t count_looks(const struct skrt_device *device)
{
    uint64_t looks = 0;
    for (uint32_t i = 0; i < device->n_workers; i++)
        looks += atomic_load(&device->workers[i].n_looks);
    return looks;
}

static uint64_t count_sleeps(const struct skrt_device *device)
{
    uint64_t sleeps = 0;
    for (uint32_t i = 0; i < device->n_workers; i++)
        sleeps += atomic_load(&device->workers[i].n_sleeps);
    return sleeps;
}

/* As many barriers as there can be of both types, each of which every worker may wait for. */
static void run_barriers(struct run *run, uint32_t threads)
{
    programs_clear();
    for (int i = 0; i < BARRIERS; i++)
        add_both(add_barrier);
    run_open(run, threads, one_two);
    run->launch.entry = rows_entry;
    for (int i = 0; i < LAUNCHES; i++) {
        run_launch(run);
        expect_status(run, SKRT_OK);
    }
}

/* Threads for which there is no processor do not search. What the others search is bounded by how
 * often they wait. */
static void expect_bounded(uint32_t threads, uint32_t processors)
{
    enum { PATIENCE = 250 };
    struct run run;
    run_barriers(&run, threads);
    const struct skrt_device *device = run.device;
    uint32_t searchers = threads < processors ? threads : processors;
    assert_int_equal(device->n_searchers, searchers);
    for (uint32_t i = searchers; i < device->n_workers; i++)
        assert_int_equal(atomic_load(&device->workers[i].n_looks), 0);
    if (searchers == 1)
        assert_int_equal(count_looks(device), 0);
    /* A wait for each barrier, and those at the begin and end of a launch; calls of the idle. */
    uint64_t waits = (uint64_t)LAUNCHES * (2 * BARRIERS + 8);
    assert_true(count_looks(device) <= waits * searchers * 2 * PATIENCE);
    assert_true(count_sleeps(device) <= waits * threads);
    run_close(&run);
}

static uint32_t processor_count(void)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    return (uint32_t)CPU_COUNT(&set);
}

static void test_more_threads_than_processors(void **state)
{
    (void)state;
    expect_bounded(8, processor_count());
    expect_bounded(1, processor_count());
    expect_bounded(2, processor_count());
}

static void test_one_processor(void **state)
{
    (void)state;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    expect_bounded(8, 1);
    expect_bounded(2, 1);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

/* A device that is open has what a launch of all its cores needs, and its threads run. */
static void test_devices_are_warm(void **state)
{
    (void)state;
    struct run run;
    run_open(&run, 3, one_two);
    const struct skrt_job *job = &run.device->jobs[0];
    const struct skrt_core *cores = job->cores[SKRT_AIV];
    uint32_t stacks = run.device->n_fibers;
    assert_int_equal(run.device->n_started, 3);
    assert_int_equal(job->room[SKRT_AIC], 24);
    assert_int_equal(job->room[SKRT_AIV], 48);
    run.launch.entry = code_entry;
    programs_clear();
    run_launch(&run);
    expect_status(&run, SKRT_OK);
    assert_ptr_equal(run.device->jobs[0].cores[SKRT_AIV], cores);
    assert_int_equal(run.device->n_fibers, stacks);
    run_close(&run);
}

/* Idle threads sleep: nobody looks or wakes while no launch runs. */
static void test_idle_devices_sleep(void **state)
{
    (void)state;
    struct run run;
    run_barriers(&run, 4);
    uint64_t idle = 0;
    for (int i = 0; i < 2000 && idle < run.device->n_workers; i++) {
        idle = atomic_load(&run.device->n_idle);
        usleep(1000);
    }
    assert_int_equal(idle, run.device->n_workers);
    run_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_as_code),
        cmocka_unit_test(test_events_of_rows),
        cmocka_unit_test(test_rows_that_are_wrong),
        cmocka_unit_test(test_sparse_calls),
        cmocka_unit_test(test_report_of_rest),
        cmocka_unit_test(test_more_threads_than_processors),
        cmocka_unit_test(test_one_processor),
        cmocka_unit_test(test_devices_are_warm),
        cmocka_unit_test(test_idle_devices_sleep),
    };
    return cmocka_run_group_tests_name("skrt_workers", tests, NULL, NULL);
}
