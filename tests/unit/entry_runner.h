/* Runs entries on the virtual device without compiling them: every core interprets the instructions
 * of its program, and sub-kernels do nothing. */
#ifndef TESTS_UNIT_ENTRY_RUNNER_H
#define TESTS_UNIT_ENTRY_RUNNER_H

#include "backend/runtime/skrt.h"
#include "ir/core/module.h"

struct entry_runner {
    struct skrt_device_config config;
    struct skrt_device *device; /* opened again after a launch that made it unusable */
};

/* A runner with its configuration alone is one whose device is not open yet. */
void entry_runner_close(struct entry_runner *runner);

/* Events that the entry waits for have been sent. Free the result's report. */
void entry_runner_run(struct entry_runner *runner, const struct module *module,
                      const struct entry *entry, const struct skrt_race_check *race,
                      struct skrt_result *result);

#endif
