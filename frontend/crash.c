#include "frontend/crash.h"
#include "backend/skrt.h"
#include "frontend/command.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

static void on_crash(int signal_number)
{
    static const char text[] = "skirc: a sub-kernel crashed (signal ";
    const char digits[] = {(char)('0' + signal_number / 10), (char)('0' + signal_number % 10), ')',
                           '\n'};
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    (void)!write(STDERR_FILENO, digits, sizeof digits);
    skrt_report_crash(STDERR_FILENO);
    _exit(EXIT_INPUT);
}

void crash_reports_begin(void)
{
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}

void crash_reports_end(void)
{
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        signal(signals[i], SIG_DFL);
}
