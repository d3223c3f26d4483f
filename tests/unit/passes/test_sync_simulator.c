/* The simulator that other tests rely on, by hand-made programs. */
#include "tests/unit/sync_simulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void add_instr(struct sync_launch *launch, enum core_type core, enum instr_effect effect,
                      unsigned arg)
{
    vec_push(&launch->programs[core], (struct sync_instr){.effect = effect, .arg = arg});
}

static struct sync_outcome simulate(struct sync_launch *launch)
{
    struct sync_outcome outcome;
    sync_simulate(&outcome, launch);
    sync_launch_free(launch);
    return outcome;
}

/* Fifteen outstanding releases are allowed; one more is not, even if the waits could be quick. */
static void test_flag_limit(void **state)
{
    (void)state;
    for (unsigned sender = 0; sender < CORE_TYPES; sender++)
        for (unsigned n = 15; n <= 16; n++) {
            struct sync_launch launch = {.blocks = 2, .per_block = {1, 2}};
            for (unsigned i = 0; i < n; i++) {
                add_instr(&launch, sender, EFFECT_SET, sender);
                add_instr(&launch, 1 - sender, EFFECT_WAIT, sender);
            }
            struct sync_outcome outcome = simulate(&launch);
            assert_int_equal(outcome.stuck, 0);
            assert_int_equal(outcome.left, 0);
            assert_int_equal(outcome.overflows > 0, n == 16);
        }
}

static void test_stuck_and_left(void **state)
{
    (void)state;
    struct sync_launch launch = {.blocks = 3, .per_block = {1, 2}};
    add_instr(&launch, CORE_AIC, EFFECT_SET, CORE_AIC);
    add_instr(&launch, CORE_AIC, EFFECT_WAIT, CORE_AIV);
    add_instr(&launch, CORE_AIV, EFFECT_AWAIT, 0);
    struct sync_outcome outcome = simulate(&launch);
    assert_int_equal(outcome.stuck, 9);
    assert_int_equal(outcome.left, 6);
    assert_false(sync_outcome_ok(&outcome));
}

/* A flag tells the vector cores what their own cube core did, not what the others did. */
static void test_flag_alone_is_not_enough(void **state)
{
    (void)state;
    for (unsigned blocks = 1; blocks <= 2; blocks++) {
        struct sync_launch launch = {.blocks = blocks, .per_block = {1, 2}};
        add_instr(&launch, CORE_AIC, EFFECT_CALL, 5);
        add_instr(&launch, CORE_AIC, EFFECT_DRAIN, 0);
        add_instr(&launch, CORE_AIC, EFFECT_SET, CORE_AIC);
        add_instr(&launch, CORE_AIV, EFFECT_WAIT, CORE_AIC);
        add_instr(&launch, CORE_AIV, EFFECT_CALL, 6);
        struct sync_outcome outcome = simulate(&launch);
        assert_true(sync_outcome_ok(&outcome));
        assert_true(sync_ops_has(&outcome.started, 5) && sync_ops_has(&outcome.started, 6));
        assert_false(sync_ops_has(&outcome.started, 4));
        assert_int_equal(sync_outcome_orders(&outcome, 5, 6), blocks == 1);
        assert_false(sync_outcome_orders(&outcome, 6, 5));
    }
}

/* A flag that is set while a call may still run says nothing of it; an arrival comes behind it. */
static void test_set_needs_drain(void **state)
{
    (void)state;
    struct sync_launch launch = {.blocks = 1, .per_block = {1, 1}};
    add_instr(&launch, CORE_AIC, EFFECT_CALL, 0);
    add_instr(&launch, CORE_AIC, EFFECT_SET, CORE_AIC);
    add_instr(&launch, CORE_AIC, EFFECT_ARRIVE, 0);
    add_instr(&launch, CORE_AIC, EFFECT_AWAIT, 0);
    add_instr(&launch, CORE_AIC, EFFECT_SET, CORE_AIC);
    for (unsigned op = 1; op <= 2; op++) {
        add_instr(&launch, CORE_AIV, EFFECT_WAIT, CORE_AIC);
        add_instr(&launch, CORE_AIV, EFFECT_CALL, op);
        add_instr(&launch, CORE_AIV, EFFECT_DRAIN, 0);
    }
    struct sync_outcome outcome = simulate(&launch);
    assert_true(sync_outcome_ok(&outcome));
    assert_false(sync_outcome_orders(&outcome, 0, 1));
    assert_true(sync_outcome_orders(&outcome, 0, 2));
}

/* What is done between arrive and await is not known to the others, and not drained. */
static void test_split_barrier(void **state)
{
    (void)state;
    for (unsigned drained = 0; drained < 2; drained++) {
        struct sync_launch launch = {.blocks = 4, .per_block = {0, 1}};
        add_instr(&launch, CORE_AIV, EFFECT_CALL, 0);
        add_instr(&launch, CORE_AIV, EFFECT_ARRIVE, 0);
        add_instr(&launch, CORE_AIV, EFFECT_DRAIN, 0);
        add_instr(&launch, CORE_AIV, EFFECT_CALL, 1);
        add_instr(&launch, CORE_AIV, EFFECT_AWAIT, 0);
        if (drained)
            add_instr(&launch, CORE_AIV, EFFECT_DRAIN, 0);
        add_instr(&launch, CORE_AIV, EFFECT_CALL, 2);
        struct sync_outcome outcome = simulate(&launch);
        assert_int_equal(outcome.undrained, !drained);
        assert_int_equal(sync_outcome_ok(&outcome), drained);
        assert_false(sync_outcome_orders(&outcome, 0, 1));
        assert_true(sync_outcome_orders(&outcome, 0, 2));
        assert_false(sync_outcome_orders(&outcome, 1, 2));
    }
}

/* Nor is it passed on by a flag after the await. */
static void test_flag_behind_split_barrier(void **state)
{
    (void)state;
    struct sync_launch launch = {.blocks = 1, .per_block = {1, 1}};
    add_instr(&launch, CORE_AIC, EFFECT_ARRIVE, 0);
    add_instr(&launch, CORE_AIC, EFFECT_CALL, 0);
    add_instr(&launch, CORE_AIC, EFFECT_AWAIT, 0);
    add_instr(&launch, CORE_AIC, EFFECT_SET, CORE_AIC);
    add_instr(&launch, CORE_AIV, EFFECT_WAIT, CORE_AIC);
    add_instr(&launch, CORE_AIV, EFFECT_CALL, 1);
    struct sync_outcome outcome = simulate(&launch);
    assert_true(sync_outcome_ok(&outcome));
    assert_false(sync_outcome_orders(&outcome, 0, 1));
}

/* The parts of an op that is called in both programs start before either ends. */
static void test_mixed_op(void **state)
{
    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        struct sync_launch launch = {.blocks = 2, .per_block = {1, 2}};
        add_instr(&launch, CORE_AIC, EFFECT_CALL, 3);
        add_instr(&launch, CORE_AIC, EFFECT_DRAIN, 0);
        add_instr(&launch, CORE_AIC, EFFECT_SET, CORE_AIC);
        add_instr(&launch, CORE_AIV, late ? EFFECT_WAIT : EFFECT_CALL, late ? CORE_AIC : 3);
        add_instr(&launch, CORE_AIV, late ? EFFECT_CALL : EFFECT_WAIT, late ? 3 : CORE_AIC);
        struct sync_outcome outcome = simulate(&launch);
        assert_int_equal(outcome.stuck, late ? 6 : 0);
    }
}

/* What core 0 does alone is known to others by a barrier or a flag only, but at once. */
static void test_event(void **state)
{
    (void)state;
    struct sync_launch launch = {.blocks = 2, .per_block = {1, 1}};
    struct sync_instr event = {.effect = EFFECT_EVENT, .arg = 70, .blocks = 1, .flat = true};
    vec_push(&launch.programs[CORE_AIC], event);
    add_instr(&launch, CORE_AIC, EFFECT_SET, CORE_AIC);
    add_instr(&launch, CORE_AIV, EFFECT_WAIT, CORE_AIC);
    add_instr(&launch, CORE_AIV, EFFECT_CALL, 1);
    add_instr(&launch, CORE_AIV, EFFECT_ARRIVE, 0);
    add_instr(&launch, CORE_AIV, EFFECT_AWAIT, 0);
    add_instr(&launch, CORE_AIV, EFFECT_CALL, 2);
    struct sync_outcome outcome = simulate(&launch);
    assert_true(sync_outcome_ok(&outcome));
    assert_false(sync_outcome_orders(&outcome, 70, 1));
    assert_true(sync_outcome_orders(&outcome, 70, 2));
}

static void test_drained(void **state)
{
    (void)state;
    struct sync_launch launch = {.blocks = 1, .per_block = {1, 0}};
    for (unsigned op = 0; op < 3; op++) {
        add_instr(&launch, CORE_AIC, EFFECT_CALL, op);
        add_instr(&launch, CORE_AIC, op ? EFFECT_ARRIVE : EFFECT_DRAIN, 0);
    }
    struct sync_outcome outcome = simulate(&launch);
    assert_int_equal(outcome.undrained, 1);
    assert_int_equal(outcome.unawaited, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flag_limit),
        cmocka_unit_test(test_stuck_and_left),
        cmocka_unit_test(test_flag_alone_is_not_enough),
        cmocka_unit_test(test_set_needs_drain),
        cmocka_unit_test(test_split_barrier),
        cmocka_unit_test(test_flag_behind_split_barrier),
        cmocka_unit_test(test_mixed_op),
        cmocka_unit_test(test_event),
        cmocka_unit_test(test_drained),
    };
    return cmocka_run_group_tests_name("sync_simulator", tests, NULL, NULL);
}
