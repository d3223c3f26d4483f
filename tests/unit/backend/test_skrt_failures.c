/* The virtual device where it refuses or stops: launches and instructions that cannot be executed,
 * reports, timeouts, crashes. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/skrt_harness.h"

/* ----------------------------------------------------- misuse and refusals ---- */

static void idle_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)core;
    (void)args_offset;
}

static void nested_kernel(skrt_core *core, uint64_t args_offset)
{
    static const struct skrt_site site = {"call @inner", NULL};
    skrt_call(core, &(struct skrt_call){idle_kernel, args_offset, 1, 2, false}, &site);
}

static void flat_flag_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)args_offset;
    skrt_kernel_set_v2c(core);
}

static const struct {
    enum skrt_core_type type;
    struct step step;
    const char *text;
} misuses[] = {
    {SKRT_AIC, {.text = "arrive aiv"}, "only cores of the group"},
    {SKRT_AIC, {.text = "await aiv"}, "only cores of the group"},
    {SKRT_AIV, {.text = "arrive aic"}, "only cores of the group"},
    {SKRT_AIV, {.text = "await aic"}, "only cores of the group"},
    {SKRT_AIC, {.text = "wait c2v"}, "this core type cannot"},
    {SKRT_AIC, {.text = "set v2c"}, "this core type cannot"},
    {SKRT_AIV, {.text = "set c2v"}, "this core type cannot"},
    {SKRT_AIV, {.text = "wait v2c"}, "this core type cannot"},
    {SKRT_AIC, {.text = "kernel set c2v"}, "only for sub-kernels"},
    {SKRT_AIC, {.text = "kernel wait v2c"}, "only for sub-kernels"},
    {SKRT_AIV, {.text = "kernel sync_all"}, "outside of one"},
    {SKRT_AIV, {.text = "kernel set c2v"}, "this core type cannot"},
    {SKRT_AIC, {.text = "notify", .slot = PARAMS}, "slot 8, but the launch has 8 slots"},
    {SKRT_AIC, {.text = "wait_event", .slot = 3}, "slot 3 does not hold the address"},
    {SKRT_AIC, {.text = "reset", .slot = 4}, "slot 4 does not hold the address"},
    {SKRT_AIC, {.text = "call", .call = {NULL, 0, 1, 0, false}}, "no function"},
    {SKRT_AIC, {.text = "call", .call = {idle_kernel, 0, 1, 0, true}}, "for AIVs only"},
    {SKRT_AIC, {.text = "call", .call = {idle_kernel, 0, 25, 0, false}}, "needs 25 blocks"},
    {SKRT_AIV, {.text = "call", .call = {idle_kernel, 0, 49, 0, true}}, "needs 49 blocks"},
    {SKRT_AIV,
     {.text = "call", .call = {idle_kernel, 0, 24, 3, false}},
     "needs 3 AIVs per AI core"},
    {SKRT_AIC, {.text = "call", .call = {idle_kernel, 0, 0, 0, false}}, "needs 0 blocks"},
    {SKRT_AIC, {.text = "call", .call = {idle_kernel, 9, 1, 0, false}}, "begin at slot 9"},
    {SKRT_AIC, {.text = "call", .call = {nested_kernel, 1, 1, 0, false}}, "a call inside"},
    {SKRT_AIV, {.text = "call", .call = {flat_flag_kernel, 1, 1, 0, true}}, "no part for AICs"},
};

static void test_misuse(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(misuses); i++) {
        const struct step steps[] = {misuses[i].step, {.text = NULL}};
        bool aic = misuses[i].type == SKRT_AIC;
        expect_run(one_two, aic ? steps : NULL, aic ? NULL : steps, SKRT_MISUSE,
                   TEXTS("misuse: ", misuses[i].text));
    }
    expect_run(aiv_only, NULL, STEPS({.text = "set v2c"}), SKRT_MISUSE,
               TEXTS("the launch has no AIC"));
    struct step mixed = {.text = "call", .call = {idle_kernel, 0, 1, 1, false}};
    const struct step steps[] = {mixed, {.text = NULL}};
    expect_run(aiv_only, NULL, steps, SKRT_MISUSE, TEXTS("needs AICs, the launch has none"));
}

static void test_invalid_launches(void **state)
{
    (void)state;
    static const struct {
        struct shape shape;
        const char *text;
    } cases[] = {
        {{25, 1, 0}, "25 blocks need 25 aic cores, the device has 24"},
        {{49, 0, 1}, "49 blocks need 49 aiv cores, the device has 48"},
        {{UINT32_MAX, 1, 2}, "the device has 24"},
        {{0, 1, 2}, "no blocks"},
        {{1, 0, 0}, "an AI core is"},
        {{1, 0, 2}, "an AI core is"},
        {{1, 2, 2}, "an AI core is"},
        {{1, 1, 3}, "an AI core is"},
    };
    struct run run;
    run_open(&run, 2, one_two);
    for (size_t i = 0; i < COUNT(cases); i++) {
        run.launch.blocks = cases[i].shape.blocks;
        run.launch.aics = cases[i].shape.aics;
        run.launch.aivs = cases[i].shape.aivs;
        run_launch(&run);
        expect_status(&run, SKRT_INVALID);
        expect_text(&run, cases[i].text);
    }
    run.launch.blocks = 24;
    run.launch.aivs = 2;
    run.launch.apart = true;
    run_launch(&run);
    expect_status(&run, SKRT_INVALID);
    expect_text(&run, "takes no cores of the device, which only a single sub-kernel can");
    run.launch.apart = false;
    run_launch(&run);
    expect_status(&run, SKRT_OK);
    run.launch.params = NULL;
    run_launch(&run);
    expect_status(&run, SKRT_INVALID);
    expect_text(&run, "the parameters are missing");
    run_close(&run);
}

/* Where no device was opened for it, a launch cannot take no cores. */
static void test_apart(void **state)
{
    (void)state;
    struct run run;
    run_open(&run, 2, one_two);
    run.launch.entry = NULL;
    run.launch.parts[SKRT_AIC] = (struct skrt_call){idle_kernel, 0, 1, 0, false};
    run.launch.apart = true;
    run_launch(&run);
    expect_status(&run, SKRT_INVALID);
    expect_text(&run, "takes no cores of the device, which runs no such launches");
    run_close(&run);
}

static void expect_invalid_part(struct shape shape, enum skrt_core_type type, struct skrt_call part,
                                const char *text)
{
    struct run run;
    run_open(&run, 2, shape);
    run.launch.entry = NULL;
    run.launch.parts[type] = part;
    run_launch(&run);
    expect_status(&run, SKRT_INVALID);
    expect_text(&run, text);
    run_close(&run);
}

static void test_invalid_parts(void **state)
{
    (void)state;
    struct skrt_call none = {NULL, 0, 1, 0, false}, cube = {idle_kernel, 0, 25, 0, false};
    struct skrt_call flat = {idle_kernel, 0, 1, 0, true}, late = {idle_kernel, 9, 1, 1, false};
    expect_invalid_part(one_two, SKRT_AIC, none, "neither an entry nor a sub-kernel");
    expect_invalid_part(aic_only, SKRT_AIV, flat, "a part for aiv cores, but the launch has none");
    expect_invalid_part(one_two, SKRT_AIC, cube, "aic part: the sub-kernel needs 25 blocks");
    expect_invalid_part(one_two, SKRT_AIC, flat, "aic part: the sub-kernel is for AIVs only");
    expect_invalid_part(one_two, SKRT_AIV, late, "aiv part: its parameters begin at slot 9");
}

static void test_device_limits(void **state)
{
    (void)state;
    static const struct skrt_device_config bad[] = {
        {0, 0, 2, 0}, {1025, 0, 2, 0}, {1, UINT32_MAX, 2, 0}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        errno = 0;
        assert_null(skrt_device_open(&bad[i]));
        assert_int_equal(errno, EINVAL);
    }
    skrt_device_close(NULL);
    struct skrt_device_config largest = {1024, 1024, 0, 0};
    struct run run;
    run_open(&run, 1, (struct shape){1024, 1, 1});
    skrt_device_close(run.device);
    run.device = skrt_device_open(&largest);
    assert_non_null(run.device);
    run.program.steps[SKRT_AIC] = STEPS({.text = "arrive aic", .times = 3},
                                        {.text = "await aic", .times = 3}, {.text = "set c2v"});
    run.program.steps[SKRT_AIV] =
        STEPS({.text = "wait c2v"}, {.text = "arrive aiv"}, {.text = "await aiv"});
    run_launch(&run);
    expect_status(&run, SKRT_OK);
    run_close(&run);
}

/* ---------------------------------------------------------------- reports ---- */

static void test_deadlock_report(void **state)
{
    (void)state;
    struct step mm = {
        .text = "call @mm.aic", .op = "MatMul", .call = {idle_kernel, 1, 20, 0, false}};
    struct step add = {.text = "call @add", .call = {idle_kernel, 1, 48, 0, true}};
    const struct step aic[] = {mm,
                               {.text = "arrive aic", .on = EXCEPT, .core = 5},
                               {.text = "wait v2c", .on = ONLY, .core = 5},
                               {.text = "await aic"},
                               {.text = NULL}};
    const struct step aiv[] = {add, {.text = "pipe_barrier"}, {.text = "wait c2v"}, {.text = NULL}};
    expect_run(
        one_two, aic, aiv, SKRT_DEADLOCK,
        TEXTS(
            "deadlock: every unfinished core waits, and none can release another\n"
            "launch test: 24 AICs, 48 AIVs, 72 unfinished\n"
            "  aic 0..4: blocked in `await aic`: 1 of 24 AICs has not arrived: aic 5; last op "
            "MatMul\n"
            "  aic 5: blocked in `wait v2c`: aiv 10..11 have not set v2c; last op MatMul\n"
            "  aic 6..19: blocked in `await aic`: 1 of 24 AICs has not arrived: aic 5; last op "
            "MatMul\n"
            "  aic 20..23: blocked in `await aic`: 1 of 24 AICs has not arrived: aic 5; last op "
            "none\n"
            "  aiv 0..47: blocked in `wait c2v`: aic 0..23 have not set c2v; last op call @add\n"));
}

static void odd_entry(skrt_core *core)
{
    static const struct skrt_site arrive = {"arrive aiv", NULL}, await = {"await aiv", NULL};
    if (skrt_core_index(core) % 2 == 0)
        skrt_arrive(core, SKRT_AIV, &arrive);
    skrt_await(core, SKRT_AIV, &await);
}

static void test_report_shortens_long_lists(void **state)
{
    (void)state;
    struct run run;
    run_open(&run, 2, aiv_only);
    run.launch.entry = odd_entry;
    run.launch.name = NULL;
    run_launch(&run);
    expect_status(&run, SKRT_DEADLOCK);
    expect_text(&run, "launch (no name): 0 AICs, 48 AIVs, 48 unfinished");
    expect_text(&run, "24 of 48 AIVs have not arrived: aiv 1, aiv 3, aiv 5, aiv 7, aiv 9, aiv 11, "
                      "aiv 13, aiv 15 and 16 more; last op none\n");
    run_close(&run);
}

static void test_status_texts(void **state)
{
    (void)state;
    assert_string_equal(skrt_status_text(SKRT_DEADLOCK), "deadlock");
    assert_string_equal(skrt_status_text(SKRT_MISUSE), "misuse");
    assert_string_equal(skrt_status_text((enum skrt_status)99), "unknown status");
}

/* ---------------------------------------------------- timeouts and crashes ---- */

static void spin_kernel(skrt_core *core, uint64_t args_offset)
{
    volatile const uint64_t *spin = &skrt_args(core, args_offset)[0];
    while (*spin != 0 && skrt_block_idx(core) == 1)
        ;
}

static int run_in_child(int (*body)(int fd), char *output, size_t size)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(body(fds[1]));
    close(fds[1]);
    size_t used = 0;
    for (ssize_t n; used + 1 < size && (n = read(fds[0], output + used, size - 1 - used)) > 0;)
        used += (size_t)n;
    output[used] = '\0';
    close(fds[0]);
    int status;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static uint64_t spin_ms;

/* Without assertions: those of the child are not for the parent's cmocka. */
static int spin_launch(int fd, bool spin, const struct step *others)
{
    struct run run;
    run_open(&run, 2, one_two);
    run.params[1] = spin;
    run.launch.timeout_ms = spin ? spin_ms : 20000;
    struct step call = {.text = "call @spin", .op = "Spin", .call = {spin_kernel, 1, 2, 0, false}};
    const struct step aic[] = {call, {.text = "arrive aic"}, {.text = "await aic"}, {.text = NULL}};
    run.program = (struct program){{aic, others}};
    skrt_launch(run.device, &run.launch, &run.result);
    const char *report = run.result.report ? run.result.report : "";
    ssize_t n = write(fd, report, strlen(report));
    enum skrt_status status = run.result.status;
    run_launch(&run);
    skrt_device_close(run.device);
    return n < 0 ? 254 : (int)status;
}

static int spin_body(int fd)
{
    return spin_launch(fd, true, NULL);
}

static int no_spin_body(int fd)
{
    return spin_launch(fd, false, NULL);
}

static int spin_overflow_body(int fd)
{
    return spin_launch(fd, true, STEPS({.text = "set v2c", .times = 16}));
}

/* The launch gets more time until all cores but the one that spins have come as far as they can, as
 * these two parts of the report say. A machine that is busy may not let them, in a tenth of a
 * second. */
static void run_spinning(int (*body)(int fd), const char *first, const char *second, char *report,
                         size_t size)
{
    enum { FIRST_MS = 100, MOST_MS = 12800 };
    for (spin_ms = FIRST_MS; spin_ms <= MOST_MS; spin_ms *= 2) {
        assert_int_equal(run_in_child(body, report, size), SKRT_TIMEOUT);
        if (strstr(report, first) && strstr(report, second))
            break;
    }
    assert_non_null(strstr(report, first));
    assert_non_null(strstr(report, second));
}

static void test_timeout(void **state)
{
    (void)state;
    char report[4096], not_finished[64];
    assert_int_equal(run_in_child(no_spin_body, report, sizeof report), SKRT_OK);
    run_spinning(spin_body,
                 "aic 0: blocked in `await aic`: 1 of 24 AICs has not arrived: aic 1; last op "
                 "Spin\n",
                 "aiv 0..47: finished; last op none\n", report, sizeof report);
    snprintf(not_finished, sizeof not_finished, "timeout: not finished after %llu ms\n",
             (unsigned long long)spin_ms);
    assert_non_null(strstr(report, not_finished));
    assert_non_null(strstr(report, "aic 1: running at `call @spin`; in op Spin\n"));
    run_spinning(spin_overflow_body, "timeout: a core goes on in spite of a flag overflow: aiv ",
                 "in op Spin\n", report, sizeof report);
}

/* An entry that does not pass its core on, and gives up. */
static void forgetful_entry(skrt_core *core)
{
    static const struct skrt_site site = {"arrive aiv", NULL}, await = {"await aiv", NULL};
    uint32_t index = skrt_core_index(core);
    if (skrt_kept(core) || skrt_this_core() != core)
        skrt_misuse(core, "something is kept at its begin", &site);
    skrt_keep(core, &index);
    for (int round = 0; round < 100; round++) {
        skrt_arrive(skrt_this_core(), SKRT_AIV, &site);
        skrt_await(skrt_this_core(), SKRT_AIV, &await);
    }
    if (skrt_this_core() == core && skrt_kept(core) == &index && index == 2)
        skrt_misuse(skrt_this_core(), "it is the third one", &site);
}

static void test_entries_without_their_core(void **state)
{
    (void)state;
    struct run run;
    assert_null(skrt_this_core());
    for (uint32_t threads = 1; threads < 4; threads++) {
        run_open(&run, threads, (struct shape){4, 0, 1});
        run.launch.entry = forgetful_entry;
        run_launch(&run);
        expect_status(&run, SKRT_MISUSE);
        expect_text(&run, "misuse: aiv 2 at `arrive aiv`: it is the third one\n");
        run_close(&run);
    }
}

static int crash_fd;

static void on_crash(int signal)
{
    (void)signal;
    skrt_report_crash(crash_fd);
    _exit(42);
}

static void null_kernel(skrt_core *core, uint64_t args_offset)
{
    uintptr_t null = (uintptr_t)skrt_args(core, args_offset)[0];
    if (skrt_block_idx(core) == 3)
        *(volatile int *)(null + 64) = 1;
}

static int sum_down(volatile int *above)
{
    volatile int own[256];
    own[0] = *above + 1;
    return own[0] > 0 ? sum_down(own) + own[0] : 0;
}

static void deep_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)args_offset;
    volatile int top = 0;
    if (skrt_block_idx(core) == 3)
        sum_down(&top);
}

static int crash_launch(int fd, skrt_kernel_fn *fn)
{
    crash_fd = fd;
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    skrt_report_crash(fd); /* not a core's thread: writes nothing */
    struct run run;
    run_open(&run, 2, aiv_only);
    const struct step steps[] = {{.text = "call @bad", .op = "Bad", .call = {fn, 1, 4, 0, true}},
                                 {.text = NULL}};
    run.program.steps[SKRT_AIV] = steps;
    skrt_launch(run.device, &run.launch, &run.result);
    return 0;
}

static int null_body(int fd)
{
    return crash_launch(fd, null_kernel);
}

static int deep_body(int fd)
{
    return crash_launch(fd, deep_kernel);
}

static void test_crash_report(void **state)
{
    (void)state;
    char report[4096];
    assert_int_equal(run_in_child(null_body, report, sizeof report), 42);
    assert_string_equal(report, "launch test: aiv 3 at `call @bad`; in op Bad\n");
    assert_int_equal(run_in_child(deep_body, report, sizeof report), 42);
    assert_string_equal(report, "launch test: aiv 3 at `call @bad`; in op Bad\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_invalid_launches),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_invalid_parts),
        cmocka_unit_test(test_device_limits),
        cmocka_unit_test(test_deadlock_report),
        cmocka_unit_test(test_report_shortens_long_lists),
        cmocka_unit_test(test_status_texts),
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_entries_without_their_core),
        cmocka_unit_test(test_crash_report),
    };
    return cmocka_run_group_tests_name("skrt_failures", tests, NULL, NULL);
}
