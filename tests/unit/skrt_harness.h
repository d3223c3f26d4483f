/* What the tests of the virtual device share: the program of each core type as a list of steps,
 * which one entry interprets, and launches that expect a status and texts in the report. Tests that
 * read memory in between, to see an order, have entries of their own. */
#ifndef TESTS_UNIT_SKRT_HARNESS_H
#define TESTS_UNIT_SKRT_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/runtime/skrt.h"

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

static inline void execute_step(skrt_core *core, const struct step *step,
                                const struct skrt_site *site)
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

static inline void execute_steps(skrt_core *core, const struct step *step)
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

static inline void program_entry(skrt_core *core)
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

static inline void run_open(struct run *run, uint32_t threads, struct shape shape)
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

static inline void run_launch(struct run *run)
{
    free(run->result.report);
    enum skrt_status status = skrt_launch(run->device, &run->launch, &run->result);
    assert_int_equal(status, run->result.status);
    assert_true((status == SKRT_OK) == (run->result.report == NULL));
}

static inline void run_close(struct run *run)
{
    free(run->result.report);
    skrt_device_close(run->device);
}

static inline void expect_text(const struct run *run, const char *text)
{
    if (!run->result.report || !strstr(run->result.report, text))
        fail_msg("expected \"%s\" in the report:\n%s", text,
                 run->result.report ? run->result.report : "(none)");
}

static inline void expect_status(const struct run *run, enum skrt_status status)
{
    if (run->result.status != status)
        fail_msg("expected status \"%s\", not:\n%s", skrt_status_text(status),
                 run->result.report ? run->result.report : "ok");
}

/* Runs the programs, with one thread and with more, and expects the status and, unless NULL, the
 * texts in its report. */
static inline void expect_run(struct shape shape, const struct step *aic, const struct step *aiv,
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

#endif
