/* kill_at SIGNAL N PROGRAM ARGUMENTS...: runs a program and sends it the signal when it, or a
 * process that it has forked, is about to make its N-th system call; 0: never. Prints how many
 * there were, and ends as the program does. Programs that it calls are left alone. Status 125:
 * processes cannot be traced here. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT_TRACE = 125 };

/* By the number of a thread, which the system keeps below this: whether it is inside of a call. */
static char inside[1 << 22];

static void start(char **argv)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(CANNOT_TRACE);
    raise(SIGSTOP);
    execv(argv[0], argv);
    _exit(127);
}

/* Lets a thread go on; a signal that is not of tracing is delivered. */
static void go_on(pid_t thread, int signal_number)
{
    ptrace(PTRACE_SYSCALL, thread, NULL, (void *)(long)signal_number);
}

static void begin(pid_t program)
{
    int status;
    if (waitpid(program, &status, 0) != program || !WIFSTOPPED(status))
        exit(CANNOT_TRACE);
    ptrace(PTRACE_SETOPTIONS, program, NULL,
           (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                    PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL));
    go_on(program, 0);
}

/* What to do about a thread that has stopped. */
static void on_stop(pid_t program, pid_t thread, int status)
{
    int event = status >> 16, why = WSTOPSIG(status);
    if (event == PTRACE_EVENT_EXEC && thread != program)
        ptrace(PTRACE_DETACH, thread, NULL, NULL);
    else if (event || why == SIGTRAP || why == SIGSTOP)
        go_on(thread, 0); /* also the first stop of one that is new */
    else
        go_on(thread, why);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    int signal_number = atoi(argv[1]), result = 0, status;
    long at = atol(argv[2]), calls = 0;
    pid_t program = fork(), thread;
    if (program == 0)
        start(argv + 3);
    begin(program);
    while ((thread = waitpid(-1, &status, __WALL)) > 0) {
        if (thread == program && !WIFSTOPPED(status))
            result = status;
        if (!WIFSTOPPED(status))
            continue;
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
            inside[thread] = !inside[thread];
            if (inside[thread] && ++calls == at)
                kill(program, signal_number);
            go_on(thread, 0);
        } else {
            on_stop(program, thread, status);
        }
    }
    printf("%ld\n", calls);
    fflush(stdout);
    if (WIFSIGNALED(result)) {
        signal(WTERMSIG(result), SIG_DFL);
        raise(WTERMSIG(result));
    }
    return WEXITSTATUS(result);
}
