#include "frontend/commands/run_options.h"
#include "frontend/cli/shared_options.h"

#include <string.h>

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), tail = strlen(end);
    return size >= tail && strcmp(text + size - tail, end) == 0;
}

/* Options have a sign of equality; a path that has one ends as files do or has a slash. */
static bool read_comparison(struct runner *runner)
{
    const char *text = runner->compared = option_value(runner->invocation, "compare");
    const char *file = runner->invocation->files[0];
    if (!text)
        return true;
    bool is_file = ends_with(text, ".skir") || strchr(text, '/');
    runner->compare = strcmp(text, "unfused") == 0 ? COMPARE_UNFUSED
                      : is_file                    ? COMPARE_FILE
                      : strchr(text, '=')          ? COMPARE_OPTIONS
                                                   : COMPARE_NONE;
    if (runner->compare == COMPARE_NONE)
        usage_error(runner->invocation,
                    "'--compare' needs 'unfused', FILE.skir or options of scopes "
                    "(NAME=VALUE), not '%s'",
                    text);
    else if (runner->compare == COMPARE_OPTIONS && strcmp(file, "-") == 0)
        usage_error(runner->invocation,
                    "'--compare=%s' reads the input twice, and '-' can be read once", text);
    else
        return runner->compare != COMPARE_OPTIONS ||
               sk_argument_check(runner->invocation, "compare");
    return false;
}

/* Where --target says; false, with a usage error, where graphs cannot run. */
static bool choose_target(struct runner *runner)
{
    char error[512];
    runner->target = target_option(runner->invocation);
    if (!runner->target)
        return false;
    runner->how = backend_runner(runner->target, error, sizeof error);
    if (!runner->how)
        usage_error(runner->invocation, "%s", error);
    return runner->how != NULL;
}

enum { MOST_REPEATS = 1000000 };

static bool parse_count(const char *text, uint64_t *count)
{
    uint64_t number = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 7 || text[digits] != '\0')
        return false;
    for (; *text; text++)
        number = number * 10 + (uint64_t)(*text - '0');
    *count = number;
    return number <= MOST_REPEATS;
}

/* Runs that are watched, or that may go wrong, are not measured where nobody asks for it. */
static bool read_repeat(struct runner *runner)
{
    const struct invocation *invocation = runner->invocation;
    const char *text = option_value(invocation, "repeat");
    bool once = runner->race_check || runner->trace || option_given(invocation, "unproven");
    runner->repeat = once ? 0 : REPEAT_AUTO;
    if (!text)
        return true;
    runner->repeat = REPEAT_AUTO;
    if (strcmp(text, "auto") == 0 || parse_count(text, &runner->repeat))
        return true;
    usage_error(invocation, "'--repeat' needs a whole number from 0 to %d or 'auto', not '%s'",
                MOST_REPEATS, text);
    return false;
}

bool run_options_read(struct runner *runner)
{
    const struct invocation *invocation = runner->invocation;
    runner->race_check = option_given(invocation, "race-check");
    runner->full_barriers = option_given(invocation, "full-barriers");
    runner->trust_kernels = option_given(invocation, "trust-kernels");
    runner->check_kernels = option_given(invocation, "check-kernels");
    runner->serial = option_given(invocation, "serial");
    if (runner->check_kernels && runner->trust_kernels) {
        usage_error(invocation, "'--check-kernels' and '--trust-kernels' exclude each other");
        return false;
    }
    runner->profile = option_value(invocation, "profile");
    runner->trace = option_value(invocation, "trace");
    return choose_target(runner) && read_repeat(runner) && read_comparison(runner) &&
           option_number(invocation, "seed", 0, UINT64_MAX, &runner->seed) &&
           option_number(invocation, "threads", 0, 1024, &runner->threads) &&
           option_number(invocation, "timeout", 0, 1000000, &runner->timeout) &&
           option_number(invocation, "max-iterations", 0, UINT64_MAX, &runner->max_iterations) &&
           sk_argument_check(invocation, "sk-options") && fusion_arguments_check(invocation);
}

const char *run_options_record(const struct runner *runner)
{
    if (runner->profile)
        return runner->trace ? "profiling=1:debug-op-exec-trace=1" : "profiling=1";
    return runner->trace ? "debug-op-exec-trace=1" : NULL;
}
