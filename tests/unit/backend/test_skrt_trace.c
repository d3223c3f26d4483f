/* Traces: what each core's line says; checks of barriers and flags; no buffer, or a bad one. */
#include "tests/unit/skrt_harness.h"

enum { SLOT = 2, BLOCKS = 2, CORES = 3 * BLOCKS };

static const struct skrt_site site = {"trace", NULL};

/* AICs release their AIVs; those meet. What is not counted depends on parameter 0. */
enum { COUNT_SET = 1, COUNT_ARRIVE = 2 };

static void entry(skrt_core *core)
{
    uint64_t counts = *skrt_args(core, 1);
    skrt_trace(core, SLOT, 0, 0, &site);
    if (skrt_core_type(core) == SKRT_AIC) {
        if (counts & COUNT_SET)
            skrt_count(core, SLOT, SKRT_FLAG, &site);
        skrt_set_c2v(core, &site);
    } else {
        skrt_wait_c2v(core, &site);
        skrt_check(core, SLOT, SKRT_FLAG, &site);
        if (counts & COUNT_ARRIVE)
            skrt_count(core, SLOT, SKRT_BARRIER, &site);
        skrt_arrive(core, SKRT_AIV, &site);
        skrt_await(core, SKRT_AIV, &site);
        skrt_check(core, SLOT, SKRT_BARRIER, &site);
    }
    skrt_trace(core, SLOT, 5, 2, &site);
}

static void launch(struct run *run, uint64_t address, uint64_t counts)
{
    run_open(run, 2, (struct shape){BLOCKS, 1, 2});
    run->launch.entry = entry;
    run->params[1] = counts;
    run->params[SLOT] = address;
    run_launch(run);
}

static void test_lines(void **state)
{
    (void)state;
    struct skrt_trace_line *lines = calloc(CORES, sizeof *lines);
    struct run run;
    launch(&run, (uintptr_t)lines, COUNT_SET | COUNT_ARRIVE);
    expect_status(&run, SKRT_OK);
    for (unsigned i = 0; i < CORES; i++) {
        bool aiv = i >= BLOCKS;
        assert_int_equal(lines[i].magic, SKRT_TRACE_MAGIC);
        assert_int_equal(lines[i].type, aiv ? SKRT_AIV : SKRT_AIC);
        assert_int_equal(lines[i].core, aiv ? i - BLOCKS : i);
        assert_int_equal(lines[i].index, 5);
        assert_int_equal(lines[i].state, 2);
        assert_int_equal(lines[i].count, 2);
        assert_int_equal(lines[i].fault, 0);
        assert_int_equal(lines[i].counted[aiv ? SKRT_BARRIER : SKRT_FLAG], 1);
        assert_int_equal(lines[i].checked[SKRT_FLAG], aiv);
        assert_int_equal(lines[i].checked[SKRT_BARRIER], aiv);
    }
    run_close(&run);
    free(lines);
}

/* Whether a core's check has failed: then its line tells of `counter` what there was. */
static bool expect_fault(const struct skrt_trace_line *line, enum skrt_counter counter)
{
    if (!line->fault)
        return false;
    assert_int_equal(line->fault, 1 + counter);
    assert_int_equal(line->expected, 1);
    assert_int_equal(line->found, 0);
    assert_int_equal(line->other >> 16, counter == SKRT_FLAG ? SKRT_AIC : SKRT_AIV);
    return true;
}

static void test_checks(void **state)
{
    (void)state;
    static const struct {
        uint64_t counts;
        enum skrt_counter counter;
        const char *text;
    } cases[] = {
        {COUNT_ARRIVE, SKRT_FLAG, "a kernel has left a flag set"},
        {COUNT_SET, SKRT_BARRIER, "a kernel has left arrivals"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct skrt_trace_line *lines = calloc(CORES, sizeof *lines);
        struct run run;
        launch(&run, (uintptr_t)lines, cases[i].counts);
        expect_status(&run, SKRT_MISUSE);
        expect_text(&run, cases[i].text);
        /* Several cores may find it before the launch is stopped. */
        unsigned faults = 0;
        for (unsigned core = 0; core < CORES; core++)
            faults += expect_fault(&lines[core], cases[i].counter);
        assert_true(faults);
        run_close(&run);
        free(lines);
    }
}

static void test_no_buffer(void **state)
{
    (void)state;
    struct skrt_trace_line line;
    struct run run;
    launch(&run, 0, 0);
    expect_status(&run, SKRT_OK);
    run_close(&run);
    launch(&run, (uintptr_t)&line + 4, 0);
    expect_status(&run, SKRT_MISUSE);
    expect_text(&run, "not aligned");
    run_close(&run);
}

static void bad_slot_entry(skrt_core *core)
{
    skrt_trace(core, 1000000, 0, 0, &site);
}

static void test_bad_slot(void **state)
{
    (void)state;
    struct run run;
    run_open(&run, 2, (struct shape){BLOCKS, 1, 2});
    run.launch.entry = bad_slot_entry;
    run_launch(&run);
    expect_status(&run, SKRT_MISUSE);
    expect_text(&run, "no slot for a trace");
    run_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_no_buffer),
        cmocka_unit_test(test_bad_slot),
    };
    return cmocka_run_group_tests_name("skrt_trace", tests, NULL, NULL);
}
