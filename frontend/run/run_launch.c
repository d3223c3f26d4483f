#include "frontend/run/run_launch.h"
#include "frontend/driver/child_process.h"
#include "frontend/run/run_report.h"

#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

/* Seconds of a launch, or of code beside launches; 0: any number. */
static uint64_t timeout;

static void code_runs(const char *what)
{
    if (what)
        child_code_begins(what, timeout, EXIT_INPUT);
    else
        child_code_ended();
}

/* Launches may run one after another. */
static void launches_run(uint32_t count, const char *first)
{
    char what[256];
    if (count == 0) {
        child_code_ended();
        return;
    }
    if (count == 1)
        snprintf(what, sizeof what, "a kernel of launch %.150s", first);
    else
        snprintf(what, sizeof what, "a kernel of launch %.150s, or of one of %u others", first,
                 count - 1);
    child_code_begins(what, timeout < UINT32_MAX ? timeout * count : 0, EXIT_INPUT);
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
        .code_runs = code_runs,
        .launches_run = launches_run,
        .beside = beside ? beside->run : NULL,
    };
    enum backend_status built;
    timeout = runner->timeout;
    outcome->run = runner->how->open(&options, &built);
    return backend_exit_status(built);
}

void run_close(struct outcome *outcome)
{
    if (outcome->run)
        outcome->runner->how->close(outcome->run);
    outcome->run = NULL;
}

/* What kernels can touch. */
struct memory_map {
    const struct outcome *outcome;
    const struct storages *storages;
};

/* ---------------------------------------------------------------------------- crashes ---- */

/* While kernels run; handlers of signals have no other way to it. */
static const struct memory_map *crash_map;
static pid_t crash_process;

/* Kernels may crash on several threads at once. */
static atomic_flag reporting = ATOMIC_FLAG_INIT;

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { N_CRASH_SIGNALS = sizeof crash_signals / sizeof *crash_signals };
static struct sigaction before_crashes[N_CRASH_SIGNALS];

static void report_place(const void *address)
{
    const struct outcome *outcome = crash_map->outcome;
    char text[512];
    if (skrt_crash_is_overflow(address)) {
        child_report("it touched what is below its stack, which has 256 KiB\n");
        return;
    }
    if (!storages_place(crash_map->storages, address, text, sizeof text) &&
        !outcome->runner->how->place(outcome->run, address, text, sizeof text))
        return;
    child_report("it touched what is ");
    child_report(text);
    child_report("\n");
}

static void on_crash(int signal_number, siginfo_t *info, void *unused)
{
    (void)unused;
    char call[512];
    const char digits[] = {(char)('0' + signal_number / 10), (char)('0' + signal_number % 10), ')',
                           '\0'};
    if (getpid() != crash_process) { /* a kernel has forked it */
        signal(signal_number, SIG_DFL);
        raise(signal_number);
        return;
    }
    while (atomic_flag_test_and_set(&reporting))
        pause(); /* until the other thread's report ends the process */
    child_report("skirc: a sub-kernel crashed (signal ");
    child_report(digits + (signal_number < 10));
    if (skrt_crash_text(call, sizeof call) > 0) {
        child_report("\n");
        child_report(call);
    } else {
        child_report(", in a thread that is no core's\n");
    }
    if (signal_number == SIGSEGV || signal_number == SIGBUS)
        report_place(info->si_addr);
    _exit(EXIT_INPUT);
}

static void crash_reports_end(void *unused)
{
    (void)unused;
    for (int i = 0; i < N_CRASH_SIGNALS; i++)
        sigaction(crash_signals[i], &before_crashes[i], NULL);
}

/* --------------------------------------------------------------------------- launches ---- */

static void execute(struct outcome *outcome, const struct storages *storages)
{
    const struct memory_map map = {outcome, storages};
    struct mem_guard guard;
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    crash_map = &map;
    crash_process = getpid();
    for (int i = 0; i < N_CRASH_SIGNALS; i++)
        sigaction(crash_signals[i], &action, &before_crashes[i]);
    mem_guard(&guard, crash_reports_end, NULL);
    outcome->runner->how->execute(outcome->run, storages->values, &outcome->last);
    mem_unguard(&guard);
    crash_reports_end(NULL);
}

/* Kernels that do not return still use what would be released: the process ends here. */
static _Noreturn void leave(const struct outcome *outcome)
{
    const struct invocation *invocation = outcome->runner->invocation;
    struct runner runner = *outcome->runner;
    struct text text = {NULL, 0, 0};
    text_printf(&text, "skirc: %s\n", outcome->last.cause);
    for (uint32_t i = 0; i < outcome->last.n_reports; i++)
        text_string(&text, outcome->last.reports[i]);
    diag_put_lines(invocation->err, text.at, text.size);
    text_char(&text, '\0');
    runner.name = invocation->files[0];
    enum exit_status status = run_json_refused(&runner, NULL, text.at, EXIT_INPUT);
    fflush(runner.out);
    fflush(invocation->out);
    fflush(invocation->err);
    child_leave(status);
}

enum exit_status run_launch(struct outcome *outcome, const struct storages *storages)
{
    execute(outcome, storages);
    if (outcome->last.end == RUN_DONE)
        return EXIT_DONE;
    /* The trace is written before the report, which may end the process. */
    enum exit_status status = run_report_trace(outcome);
    if (outcome->last.end == RUN_STUCK)
        leave(outcome);
    status = worse_status(status, run_report_end(outcome));
    return worse_status(status, run_report_profile(outcome));
}

double run_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
