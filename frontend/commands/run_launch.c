#include "frontend/commands/run_launch.h"
#include "frontend/cli/apart.h"
#include "frontend/cli/crash.h"
#include "frontend/commands/run_left.h"
#include "frontend/commands/run_own.h"
#include "frontend/commands/run_report.h"

#include <time.h>

static void launches_run(uint32_t count, const char *first)
{
    if (count == 0)
        run_own_take_back();
    apart_launches_run(count, first);
    if (count > 0)
        run_own_lend();
}

enum exit_status run_open(struct outcome *outcome, const struct outcome *beside)
{
    const struct runner *runner = outcome->runner;
    bool fused = outcome->fused;
    const struct run_options options = {
        .module = runner->module,
        .graph = runner->graph,
        .places = &runner->lowered.session.places,
        .diags = runner->diags,
        .fused = fused,
        .race_check = fused && runner->race_check,
        .profile = outcome->recorded,
        .trace = fused && runner->trace,
        .full_barriers = runner->full_barriers,
        .serial = runner->serial,
        .turns = option_given(runner->invocation, "unproven"),
        .threads = (uint32_t)runner->threads,
        .timeout_ms = runner->timeout * 1000,
        .max_iterations = runner->max_iterations,
        .watch = outcome->watch,
        .code_runs = run_left_code_runs,
        .launches_run = launches_run,
        .beside = beside ? beside->run : NULL,
    };
    enum backend_status built;
    outcome->run = runner->how->open(&options, &built);
    if (outcome->run)
        outcome->run->sealed = !runner->trust_kernels;
    return backend_exit_status(built);
}

void run_close(struct outcome *outcome)
{
    if (outcome->run)
        outcome->runner->how->close(outcome->run);
    outcome->run = NULL;
}

static void end_crash_reports(void *unused)
{
    (void)unused;
    crash_reports_end();
}

/* The inputs of these storages that nothing is to write, or NULL. */
static struct read_only *read_only_of(struct outcome *outcome, const struct storages *storages)
{
    bool are = outcome->read_only.storage == storages_main(storages);
    return are ? &outcome->read_only : NULL;
}

/* What kernels can touch. */
struct memory_map {
    const struct outcome *outcome;
    const struct storages *storages;
    struct read_only *read_only; /* or NULL */
};

static bool memory_place(const void *context, const void *address, char *text, size_t size)
{
    const struct memory_map *memory = context;
    return storages_place(memory->storages, address, text, size) ||
           memory->outcome->runner->how->place(memory->outcome->run, address, text, size);
}

static bool memory_allow(void *context, const void *address, const char *call)
{
    const struct memory_map *memory = context;
    struct seal *seal = memory->outcome->seal;
    return (memory->read_only && read_only_allow(memory->read_only, address, call)) ||
           (seal && seal->storages && seal_allow(seal, address, call)) ||
           memory->outcome->runner->how->allow(memory->outcome->run, address);
}

static void execute(struct outcome *outcome, const struct storages *storages)
{
    struct read_only *read_only = read_only_of(outcome, storages);
    struct memory_map memory = {outcome, storages, read_only};
    const struct crash_map map = {memory_place, &memory, memory_allow, &memory};
    struct mem_guard guard;
    crash_reports_begin(&map);
    mem_guard(&guard, end_crash_reports, NULL);
    if (read_only)
        read_only_protect(read_only);
    outcome->runner->how->execute(outcome->run, storages->values, &outcome->last);
    if (outcome->seal)
        seal_free(outcome->seal);
    if (read_only)
        read_only_release(read_only);
    mem_unguard(&guard);
    crash_reports_end();
}

struct search {
    struct run_left_search left;
    const struct storages *storages;
    const char *what;
};

/* Does not come back, but where there is no memory. */
static void run_ops(void *user)
{
    struct search *search = user;
    const struct run_watch watch = run_left_watch(&search->left);
    struct outcome single = {.runner = search->left.runner, .name = "op by op", .watch = &watch};
    if (!search->left.call && run_open(&single, NULL) == EXIT_DONE)
        execute(&single, search->storages);
    run_left_report(&search->left, search->what);
}

/* What runs would be taken for that of the next op, as would be what is closed. The kernel may have
 * left no memory to look for it. */
static _Noreturn void find_who_left(struct outcome *outcome, const struct storages *storages,
                                    const struct run_left *left, const char *what)
{
    struct mem_scope scope = {.blocks = NULL};
    struct search search = {{.runner = outcome->runner, .left = *left}, storages, what};
    search.left.call = *left->call ? left->call : NULL;
    if (run_left_hindered(left))
        run_left_report(&search.left, what);
    apart_end_processes();
    if (apart_is_apart()) /* else what is to be told goes there */
        run_left_open_streams();
    (void)mem_scope_run(&scope, run_ops, &search);
    run_left_report(&search.left, what);
}

/* What kernels have left running uses what is about to go away. */
static void execute_alone(struct outcome *outcome, const struct storages *storages)
{
    struct run_left left;
    apart_code_runs(NULL);
    run_left_begin(&left);
    execute(outcome, storages);
    bool stuck = outcome->last.end == RUN_STUCK;
    const char *what = stuck ? run_left_forbidden(&left) : run_left_end(&left);
    if (what)
        find_who_left(outcome, storages, &left, what);
    if (stuck)
        run_left_restore(&left);
}

enum exit_status run_launch(struct outcome *outcome, const struct storages *storages)
{
    execute_alone(outcome, storages);
    if (outcome->last.end == RUN_DONE)
        return EXIT_DONE;
    /* The trace is written before the report, which may end the process. */
    enum exit_status status = run_report_trace(outcome);
    status = worse_status(status, run_report_end(outcome));
    return worse_status(status, run_report_profile(outcome));
}

double run_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
