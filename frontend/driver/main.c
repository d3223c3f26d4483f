#include "frontend/driver/skirc.h"
#include "ir/support/cleanup_registry.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* Signals that end a process, faults of its own, too. */
static const int ending[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGALRM, SIGTERM,   SIGUSR1,
                             SIGUSR2, SIGXCPU, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,    SIGFPE,
                             SIGSEGV, SIGSYS,  SIGIO,   SIGPWR,  SIGPROF, SIGVTALRM, SIGSTKFLT};

/* What was written so far is nothing without its end. */
static void on_end(int signal_number)
{
    cleanup_run(getpid());
    signal(signal_number, SIG_DFL);
    raise(signal_number);
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
    /* A file that grows too large is an error of writing like others; who ignores a signal, as
     * nohup does, goes on doing so. Meanwhile no other one ends the process. */
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* who ignores it is told of no child's end */
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        int signal_number = ending[i];
        struct sigaction action = {.sa_handler = on_end}, before;
        sigfillset(&action.sa_mask);
        if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signal_number, &action, NULL);
    }
    /* Unbuffered, every byte of a diagnostic would be a system call. */
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
    return cli_main(&skirc, argc, (const char *const *)argv, stdout, stderr);
}
