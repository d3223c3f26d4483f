/* The virtual device: every rule of docs/device-model.md, and what happens where it is broken.
 *
 * Most tests give the program of each core type as a list of steps, which one entry interprets.
 * Tests that read memory in between, to see an order, are entries of their own.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "skrt.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ------------------------------------------------------- programs of steps ---- */

enum step_on { ALL, ONLY, EXCEPT };

struct step {
    const char *text; /* NULL ends the program */
    const char *op;
    struct skrt_call call; /* for texts that begin with "call" */
    uint32_t times;        /* 0 is 1 */
    enum step_on on;       /* all cores, or only (all but) the core with index `core` */
    uint32_t core;
    uint64_t slot; /* for events */
};

struct program {
    const struct step *steps[SKRT_CORE_TYPES];
};

/* Slot 0 of the parameters is the program; tests use the others. */
enum { PARAMS = 8 };

static const struct {
    const char *text;
    void (*execute)(skrt_core *core, const struct skrt_site *site);
} plain_steps[] = {
    {"set c2v", skrt_set_c2v},   {"wait c2v", skrt_wait_c2v}, {"set v2c", skrt_set_v2c},
    {"wait v2c", skrt_wait_v2c}, {"hint", skrt_hint},         {"pipe_barrier", skrt_pipe_barrier},
};

static const struct {
    const char *text;
    void (*execute)(skrt_core *core, uint64_t slot, const struct skrt_site *site);
} event_steps[] = {{"notify", skrt_notify}, {"wait_event", skrt_wait_event}, {"reset", skrt_reset}};

static const struct {
    const char *text;
    void (*execute)(skrt_core *core);
} kernel_steps[] = {
    {"kernel set c2v", skrt_kernel_set_c2v},   {"kernel wait c2v", skrt_kernel_wait_c2v},
    {"kernel set v2c", skrt_kernel_set_v2c},   {"kernel wait v2c", skrt_kernel_wait_v2c},
    {"kernel sync_all", skrt_kernel_sync_all},
};

static void execute_step(skrt_core *core, const struct step *step, const struct skrt_site *site)
{
    const char *text = step->text;
    for (size_t i = 0; i < COUNT(plain_steps); i++)
        if (strcmp(text, plain_steps[i].text) == 0)
            plain_steps[i].execute(core, site);
    for (size_t i = 0; i < COUNT(event_steps); i++)
        if (strcmp(text, event_steps[i].text) == 0)
            event_steps[i].execute(core, step->slot, site);
    for (size_t i = 0; i < COUNT(kernel_steps); i++)
        if (strcmp(text, kernel_steps[i].text) == 0)
            kernel_steps[i].execute(core);
    enum skrt_core_type group = strstr(text, "aiv") ? SKRT_AIV : SKRT_AIC;
    if (strncmp(text, "arrive", 6) == 0)
        skrt_arrive(core, group, site);
    else if (strncmp(text, "await", 5) == 0)
        skrt_await(core, group, site);
    else if (strncmp(text, "call", 4) == 0)
        skrt_call(core, &step->call, site);
}

static void execute_steps(skrt_core *core, const struct step *step)
{
    for (; step && step->text; step++) {
        bool this_core = skrt_core_index(core) == step->core;
        if ((step->on == ONLY && !this_core) || (step->on == EXCEPT && this_core))
            continue;
        /* Text and operator come first in a step as in a site, and live as long as the steps. */
        const struct skrt_site *site = (const void *)step;
        for (uint32_t i = 0; i < step->times + (step->times == 0); i++)
            execute_step(core, step, site);
    }
}

_Static_assert(offsetof(struct step, text) == offsetof(struct skrt_site, text) &&
                   offsetof(struct step, op) == offsetof(struct skrt_site, op),
               "a step begins like a site");

static void program_entry(skrt_core *core)
{
    const struct program *program = (const void *)(uintptr_t)skrt_args(core, 0)[0];
    execute_steps(core, program->steps[skrt_core_type(core)]);
}

/* --------------------------------------------------------- devices and runs ---- */

struct shape {
    uint32_t blocks;
    uint8_t aics, aivs;
};

struct run {
    struct skrt_device *device;
    struct skrt_launch launch;
    struct skrt_result result;
    struct program program;
    uint64_t params[PARAMS];
};

static void run_open(struct run *run, uint32_t threads, struct shape shape)
{
    memset(run, 0, sizeof *run);
    struct skrt_device_config config = {.aic = 24, .aiv = 48, .threads = threads};
    run->device = skrt_device_open(&config);
    assert_non_null(run->device);
    run->params[0] = (uintptr_t)&run->program;
    run->launch = (struct skrt_launch){
        .name = "test",
        .entry = program_entry,
        .blocks = shape.blocks,
        .aics = shape.aics,
        .aivs = shape.aivs,
        .params = run->params,
        .n_params = PARAMS,
    };
}

static void run_launch(struct run *run)
{
    free(run->result.report);
    enum skrt_status status = skrt_launch(run->device, &run->launch, &run->result);
    assert_int_equal(status, run->result.status);
    assert_true((status == SKRT_OK) == (run->result.report == NULL));
}

static void run_close(struct run *run)
{
    free(run->result.report);
    skrt_device_close(run->device);
}

static void expect_text(const struct run *run, const char *text)
{
    if (!run->result.report || !strstr(run->result.report, text))
        fail_msg("expected \"%s\" in the report:\n%s", text,
                 run->result.report ? run->result.report : "(none)");
}

static void expect_status(const struct run *run, enum skrt_status status)
{
    if (run->result.status != status)
        fail_msg("expected status \"%s\", not:\n%s", skrt_status_text(status),
                 run->result.report ? run->result.report : "ok");
}

/* Runs the programs, with one thread and with more, and expects the status and, unless NULL, the
 * texts in its report. */
static void expect_run(struct shape shape, const struct step *aic, const struct step *aiv,
                       enum skrt_status status, const char *const *texts)
{
    static const uint32_t threads[] = {1, 2, 5};
    for (size_t i = 0; i < COUNT(threads); i++) {
        struct run run;
        run_open(&run, threads[i], shape);
        _Atomic uint64_t words[2] = {0, 0};
        run.params[1] = (uintptr_t)&words[0];
        run.params[2] = (uintptr_t)&words[1];
        run.params[3] = (uintptr_t)words + 1; /* misaligned */
        run.program = (struct program){{aic, aiv}};
        run_launch(&run);
        expect_status(&run, status);
        for (; texts && *texts && i == 0; texts++)
            expect_text(&run, *texts);
        run_close(&run);
    }
}

#define STEPS(...)                                                                                 \
    (const struct step[])                                                                          \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            .text = NULL                                                                           \
        }                                                                                          \
    }
#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct shape aic_only = {24, 1, 0}, aiv_only = {48, 0, 1}, one_one = {24, 1, 1},
                          one_two = {24, 1, 2};

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
        STEPS({.text = "arrive aic", .times = 40}, {.text = "await aic", .times = 40});
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

/* An arrival that nobody awaits is not a flag: nothing is left set. */
static void test_barrier_counts_launched_cores_only(void **state)
{
    (void)state;
    struct shape small = {3, 1, 2};
    expect_run(small, STEPS({.text = "arrive aic", .times = 20}, {.text = "await aic"}),
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
        uint32_t launched = launch.blocks * per_block, per_kernel = aic ? kernel.aics : kernel.aivs;
        bool runs = index < launched && (flat ? !aic && index < kernel.blocks
                                              : block < kernel.blocks && sub < per_kernel);
        assert_int_equal(all[i].runs, runs);
        if (!runs)
            continue;
        assert_int_equal(all[i].block, flat ? index : block);
        assert_int_equal(all[i].blocks, kernel.blocks);
        assert_int_equal(all[i].sub, flat ? 0 : sub);
        assert_int_equal(all[i].subs, flat || aic ? 1 : kernel.aivs);
    }
}

static const struct {
    struct shape launch, kernel;
    bool flat;
} call_cases[] = {
    {{24, 1, 2}, {3, 1, 2}, false},  {{24, 1, 2}, {24, 1, 2}, false},
    {{24, 1, 2}, {5, 1, 1}, false},  {{24, 1, 2}, {7, 1, 0}, false},
    {{24, 1, 2}, {5, 0, 1}, true},   {{24, 1, 2}, {48, 0, 1}, true},
    {{20, 1, 1}, {19, 1, 1}, false}, {{20, 1, 1}, {20, 0, 1}, true},
    {{9, 1, 0}, {8, 1, 0}, false},   {{33, 0, 1}, {31, 0, 1}, true},
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
        expect_run(one_two, NULL, steps, status, text ? TEXTS(text) : NULL);
    }
}

static void test_sync_all_counts_the_cores_of_the_call(void **state)
{
    (void)state;
    sync_all_shapes(sync_all_kernel, SKRT_OK, NULL);
    sync_all_shapes(sync_all_but_one_kernel, SKRT_DEADLOCK, "AIVs has not come to it: aiv ");
    struct step cube = {
        .text = "call @k", .op = "Cube", .call = {sync_all_but_one_kernel, 0, 9, 0, false}};
    const struct step steps[] = {cube, {.text = NULL}};
    expect_run(one_two, steps, NULL, SKRT_DEADLOCK,
               TEXTS("aic 0: blocked in `call @k`: in its barrier; 1 of 9 AICs has not come to it: "
                     "aic 1; in op Cube\n",
                     "aic 1: finished; last op Cube\n", "aic 9..23: finished; last op none\n"));
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

/* By block: 1 leaves a release over, 2 waits for one that does not come, 3 sets 16. */
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
    expect_bad_handshake(1, SKRT_LEFT_SET, "aiv 0: its kernel's v2c was set 1 time more often");
    expect_bad_handshake(2, SKRT_DEADLOCK,
                         "aiv 2: blocked in `call @k`: aic 1 has not set its kernel's c2v; in op");
    expect_bad_handshake(3, SKRT_OVERFLOW, "its kernel's c2v of aiv ");
}

/* ----------------------------------------------------- misuse and refusals ---- */

static void nested_kernel(skrt_core *core, uint64_t args_offset)
{
    static const struct skrt_site site = {"call @inner", NULL};
    skrt_call(core, &(struct skrt_call){seen_kernel, args_offset, 1, 2, false}, &site);
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
    {SKRT_AIC, {.text = "call", .call = {seen_kernel, 0, 1, 0, true}}, "for AIVs only"},
    {SKRT_AIC, {.text = "call", .call = {seen_kernel, 0, 25, 0, false}}, "needs 25 blocks"},
    {SKRT_AIV, {.text = "call", .call = {seen_kernel, 0, 49, 0, true}}, "needs 49 blocks"},
    {SKRT_AIV,
     {.text = "call", .call = {seen_kernel, 0, 24, 3, false}},
     "needs 3 AIVs per AI core"},
    {SKRT_AIC, {.text = "call", .call = {seen_kernel, 0, 0, 0, false}}, "needs 0 blocks"},
    {SKRT_AIC, {.text = "call", .call = {seen_kernel, 9, 1, 0, false}}, "begin at slot 9"},
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
    struct step mixed = {.text = "call", .call = {sync_all_kernel, 0, 1, 1, false}};
    const struct step steps[] = {mixed, {.text = NULL}};
    expect_run(aiv_only, NULL, steps, SKRT_MISUSE, TEXTS("needs AICs, the launch has none"));
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
    run_launch(&run);
    expect_status(&run, SKRT_OK);
    run.launch.params = NULL;
    run_launch(&run);
    expect_status(&run, SKRT_INVALID);
    expect_text(&run, "the parameters are missing");
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
    struct skrt_call none = {NULL, 0, 1, 0, false}, cube = {sync_all_kernel, 0, 25, 0, false};
    struct skrt_call flat = {sync_all_kernel, 0, 1, 0, true},
                     late = {sync_all_kernel, 9, 1, 1, false};
    expect_invalid_part(one_two, SKRT_AIC, none, "neither an entry nor a sub-kernel");
    expect_invalid_part(aic_only, SKRT_AIV, flat, "a part for aiv cores, but the launch has none");
    expect_invalid_part(one_two, SKRT_AIC, cube, "aic part: the sub-kernel needs 25 blocks");
    expect_invalid_part(one_two, SKRT_AIC, flat, "aic part: the sub-kernel is for AIVs only");
    expect_invalid_part(one_two, SKRT_AIV, late, "aiv part: its parameters begin at slot 9");
}

static void test_device_limits(void **state)
{
    (void)state;
    static const struct skrt_device_config bad[] = {{0, 0, 2}, {1025, 0, 2}, {1, UINT32_MAX, 2}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        errno = 0;
        assert_null(skrt_device_open(&bad[i]));
        assert_int_equal(errno, EINVAL);
    }
    skrt_device_close(NULL);
    struct skrt_device_config largest = {1024, 1024, 0};
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
        .text = "call @mm.aic", .op = "MatMul", .call = {bad_handshake_kernel, 1, 20, 0, false}};
    struct step add = {.text = "call @add", .call = {bad_handshake_kernel, 1, 48, 0, true}};
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

/* ----------------------------------------------------------------- events ---- */

static void test_events_within_a_launch(void **state)
{
    (void)state;
    const struct step *waits =
        STEPS({.text = "wait_event", .slot = 1}, {.text = "wait_event", .slot = 2},
              {.text = "reset", .slot = 1, .on = ONLY, .core = 99});
    const struct step *sends = STEPS({.text = "notify", .slot = 2, .on = ONLY, .core = 11},
                                     {.text = "notify", .slot = 1, .on = ONLY, .core = 30});
    expect_run(one_two, waits, sends, SKRT_OK, NULL);
    expect_run(one_two, waits, STEPS({.text = "notify", .slot = 2}), SKRT_DEADLOCK,
               TEXTS("deadlock: every unfinished core waits, some for an event",
                     "aic 0..23: blocked in `wait_event`: the event of slot 1 has not come"));
    expect_run(aic_only,
               STEPS({.text = "notify", .slot = 1}, {.text = "arrive aic"}, {.text = "await aic"},
                     {.text = "reset", .slot = 1}, {.text = "arrive aic"}, {.text = "await aic"},
                     {.text = "wait_event", .slot = 1}),
               NULL, SKRT_DEADLOCK, TEXTS("the event of slot 1 has not come"));
}

/* One thread: the waiters block before the word is set, and go on after it was reset. */
static void test_notify_releases_who_waits(void **state)
{
    (void)state;
    _Atomic uint64_t word = 0;
    struct run run;
    run_open(&run, 1, aic_only);
    run.params[1] = (uintptr_t)&word;
    run.program.steps[SKRT_AIC] = STEPS({.text = "wait_event", .slot = 1, .on = EXCEPT, .core = 23},
                                        {.text = "notify", .slot = 1, .on = ONLY, .core = 23},
                                        {.text = "reset", .slot = 1, .on = ONLY, .core = 23});
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

/* Without assertions: those of the child are not for the parent's cmocka. */
static int spin_launch(int fd, bool spin, const struct step *others)
{
    struct run run;
    run_open(&run, 2, one_two);
    run.params[1] = spin;
    run.launch.timeout_ms = spin ? 100 : 20000;
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

static void test_timeout(void **state)
{
    (void)state;
    char report[4096];
    assert_int_equal(run_in_child(no_spin_body, report, sizeof report), SKRT_OK);
    assert_int_equal(run_in_child(spin_body, report, sizeof report), SKRT_TIMEOUT);
    assert_non_null(strstr(report, "timeout: not finished after 100 ms\n"));
    assert_non_null(strstr(report, "aic 0: blocked in `await aic`: 1 of 24 AICs has not arrived: "
                                   "aic 1; last op Spin\n"));
    assert_non_null(strstr(report, "aic 1: running at `call @spin`; in op Spin\n"));
    assert_non_null(strstr(report, "aiv 0..47: finished; last op none\n"));
    assert_int_equal(run_in_child(spin_overflow_body, report, sizeof report), SKRT_TIMEOUT);
    assert_non_null(strstr(report, "timeout: a core goes on in spite of a flag overflow: aiv "));
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
        cmocka_unit_test(test_barrier_counts_launched_cores_only),
        cmocka_unit_test(test_flags_release_and_wait),
        cmocka_unit_test(test_wait_v2c_needs_each_aiv),
        cmocka_unit_test(test_wait_c2v_needs_own_aic),
        cmocka_unit_test(test_flags_count_to_fifteen),
        cmocka_unit_test(test_flags_left_set),
        cmocka_unit_test(test_device_goes_on_after_left_set),
        cmocka_unit_test(test_flags_order_memory),
        cmocka_unit_test(test_calls_run_on_their_cores),
        cmocka_unit_test(test_indices_outside_of_calls),
        cmocka_unit_test(test_sync_all_with_idle_cores),
        cmocka_unit_test(test_sync_all_counts_the_cores_of_the_call),
        cmocka_unit_test(test_sync_all_tells_calls_apart),
        cmocka_unit_test(test_kernel_flags),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_sync_all_of_different_calls),
        cmocka_unit_test(test_invalid_launches),
        cmocka_unit_test(test_invalid_parts),
        cmocka_unit_test(test_device_limits),
        cmocka_unit_test(test_deadlock_report),
        cmocka_unit_test(test_report_shortens_long_lists),
        cmocka_unit_test(test_status_texts),
        cmocka_unit_test(test_events_within_a_launch),
        cmocka_unit_test(test_notify_releases_who_waits),
        cmocka_unit_test(test_events_from_outside),
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_crash_report),
        cmocka_unit_test(test_all_threads_get_cores),
        cmocka_unit_test(test_switches_keep_registers),
    };
    return cmocka_run_group_tests_name("skrt", tests, NULL, NULL);
}
