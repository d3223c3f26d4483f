#include "frontend/cli/apart.h"
#include "frontend/skirc.h"
#include "ir/base/leftovers.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Signals that end a process: those that are sent by the system in the name of others, too, and
 * those that are, if they are not sent by somebody, of its own making. */
static const int ending[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGALRM,
                             SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};
static const int faults[] = {SIGILL, SIGTRAP,   SIGABRT, SIGBUS, SIGFPE,  SIGSEGV,
                             SIGSYS, SIGSTKFLT, SIGIO,   SIGPWR, SIGPROF, SIGVTALRM};

static bool is_of(const int *signals, size_t count, int signal_number)
{
    for (size_t i = 0; i < count; i++)
        if (signals[i] == signal_number)
            return true;
    return false;
}

/* Whether it was sent from outside of this process, or of all programs. */
static bool is_from_outside(int signal_number, const siginfo_t *info)
{
    bool sent = (info->si_code == SI_USER || info->si_code == SI_QUEUE) && info->si_pid != getpid();
    if (!is_of(ending, sizeof ending / sizeof *ending, signal_number))
        return sent;
    /* The system sends SIGPIPE in the name of who writes; raise() is told apart from that. */
    bool own_pipe = signal_number == SIGPIPE && info->si_code != SI_TKILL;
    return info->si_code > 0 || info->si_pid != getpid() || own_pipe;
}

/* What was written so far is nothing without its end. */
static void on_end(int signal_number, siginfo_t *info, void *unused)
{
    (void)unused;
    if (is_from_outside(signal_number, info))
        apart_ended_from_outside(signal_number);
    leftovers_clear();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void handle(int signal_number)
{
    struct sigaction action = {.sa_sigaction = on_end, .sa_flags = SA_SIGINFO}, before;
    sigfillset(&action.sa_mask);
    if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(signal_number, &action, NULL);
}

/* A file that grows too large is an error of writing like others; who ignores a signal, as nohup
 * does, goes on doing so. Meanwhile no other one ends the process. */
static void handle_signals(void)
{
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* who ignores it is told of no child's end */
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        handle(ending[i]);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        handle(faults[i]);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        handle(number);
}

/* Below that, the system would end the process without a word. */
static bool has_stack(void)
{
    enum { LEAST = 512 << 10 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= LEAST)
        return true;
    fprintf(stderr,
            "skirc: the limit of the stack (ulimit -s) is %llu KiB, but must be at least %d\n",
            (unsigned long long)limit.rlim_cur / 1024, LEAST / 1024);
    return false;
}

int main(int argc, char **argv)
{
    if (!has_stack())
        return EXIT_DEFECT;
    handle_signals();
    /* Unbuffered, every byte of a diagnostic would be a system call. */
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
    return cli_main(&skirc, argc, (const char *const *)argv, stdout, stderr);
}
