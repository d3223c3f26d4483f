#include "frontend/cli/crash.h"
#include "backend/runtime/skrt.h"
#include "frontend/cli/apart.h"
#include "frontend/cli/command.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* Sub-kernels may crash on several threads at once. A handler has no other way to know. */
static atomic_flag reporting = ATOMIC_FLAG_INIT;

static const struct crash_map *crash_map;

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

static void say(const char *text)
{
    (void)!write(STDERR_FILENO, text, strlen(text));
}

static void say_place(const void *address)
{
    char text[256];
    if (!crash_map->text(crash_map->context, address, text, sizeof text))
        return;
    say("it touched what is ");
    say(text);
    say("\n");
}

static void on_crash(int signal_number, siginfo_t *info, void *unused)
{
    (void)unused;
    static const char text[] = "skirc: a sub-kernel crashed (signal ";
    const char digits[] = {(char)('0' + signal_number / 10), (char)('0' + signal_number % 10), ')',
                           '\n'};
    size_t skip = signal_number < 10;
    while (atomic_flag_test_and_set(&reporting))
        pause(); /* until the other thread's report ends the process */
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(EXIT_INPUT); /* without standard error: who waits for this process says it */
    (void)!write(STDERR_FILENO, digits + skip, sizeof digits - skip);
    skrt_report_crash(STDERR_FILENO);
    if (signal_number == SIGSEGV || signal_number == SIGBUS)
        say_place(info->si_addr);
    apart_reported();
    _exit(EXIT_INPUT);
}

void crash_reports_begin(const struct crash_map *map)
{
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_ONSTACK | SA_SIGINFO};
    crash_map = map;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}

void crash_reports_end(void)
{
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        signal(signals[i], SIG_DFL);
}
