/* kill_at SIGNAL N PROGRAM ARGUMENTS...: runs a program and sends it the signal when it, or a
 * process that it has forked, is about to make its N-th system call; 0: never. Prints how many
 * there were, and ends as the program does. Programs that it calls are left alone. SIGNAL may be
 * negative: then the process of the call, where it is not the program, stays in it: it is as slow
 * to end as one that writes much. Status 125: processes cannot be traced here. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT_TRACE = 125 };

/* The program, and whether a process that is in the call stays there. */
static pid_t program;
static int stays;

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

static void begin(void)
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
static void on_stop(pid_t thread, int status)
{
    int event = status >> 16, why = WSTOPSIG(status);
    if (event == PTRACE_EVENT_EXEC && thread != program)
        ptrace(PTRACE_DETACH, thread, NULL, NULL);
    else if (event || why == SIGTRAP || why == SIGSTOP)
        go_on(thread, 0); /* also the first stop of one that is new */
    else
        go_on(thread, why);
}

static int is_of_program(pid_t thread)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/task/%ld", (long)program, (long)thread);
    return access(path, F_OK) == 0;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    int signal_number = abs(atoi(argv[1])), result = 0, status;
    long at = atol(argv[2]), calls = 0;
    pid_t thread;
    stays = atoi(argv[1]) < 0;
    program = fork();
    if (program == 0)
        start(argv + 3);
    begin();
    while ((thread = waitpid(-1, &status, __WALL)) > 0) {
        if (thread == program && !WIFSTOPPED(status))
            result = status;
        if (!WIFSTOPPED(status))
            continue;
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
            inside[thread] = !inside[thread];
            int is_it = inside[thread] && ++calls == at;
            if (is_it)
                kill(program, signal_number);
            if (!is_it || !stays || is_of_program(thread))
                go_on(thread, 0);
        } else {
            on_stop(thread, status);
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
