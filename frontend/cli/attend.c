#define _GNU_SOURCE /* __WALL */
#include "frontend/cli/attend.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

uint64_t attend_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

bool attend_has_code(int pipe)
{
    struct pollfd readable = {.fd = pipe, .events = POLLIN};
    return poll(&readable, 1, 0) == 1 && (readable.revents & POLLIN);
}

/* Whether it has become a process of another program. */
static bool is_replaced(pid_t pid)
{
    char path[64];
    struct stat own, other;
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)pid);
    return stat("/proc/self/exe", &own) == 0 && stat(path, &other) == 0 &&
           (own.st_dev != other.st_dev || own.st_ino != other.st_ino);
}

/* The system call that the first thread is in, with its arguments, where that waits for a lock or a
 * thread; else, or where nobody says, "". */
static void find_wait(pid_t pid, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/syscall", (long)pid);
    FILE *file = fopen(path, "re");
    if (!file || !fgets(text, (int)size, file) || strtol(text, NULL, 10) != SYS_futex)
        *text = '\0';
    if (file)
        fclose(file);
}

/* Whether it waits for the same, and has for too long: who was to wake it is gone, or stuck. */
static bool waits_too_long(struct attended *attended, const struct attendance *attendance)
{
    uint64_t most = attendance->quiet ? atomic_load(attendance->quiet) : 0, now = attend_clock();
    char waits[sizeof attended->waits];
    if (most == 0)
        return false;
    find_wait(attended->pid, waits, sizeof waits);
    if (!*waits || strcmp(waits, attended->waits) != 0)
        attended->waits_since = now;
    memcpy(attended->waits, waits, sizeof waits);
    return *waits && now - attended->waits_since > most;
}

/* Ends a process that nothing good is to be expected of. */
static enum ended_by look_after(struct attended *attended, const struct attendance *attendance)
{
    pid_t pid = attended->pid;
    if (!attend_has_code(attendance->code))
        return BY_ITSELF;
    uint64_t deadline = atomic_load(attendance->deadline);
    bool late = deadline ? attend_clock() > deadline + attendance->grace
                         : waits_too_long(attended, attendance);
    enum ended_by by = attendance->is_this_program && is_replaced(pid) ? BY_PROGRAM
                       : late                                          ? BY_TIME
                                                                       : BY_ITSELF;
    if (by != BY_ITSELF)
        kill(pid, SIGKILL);
    return by;
}

static bool is_stop(int signal_number)
{
    return signal_number == SIGSTOP || signal_number == SIGTSTP || signal_number == SIGTTIN ||
           signal_number == SIGTTOU;
}

/* A thread that has made this process its tracer (PTRACE_TRACEME) stops at each signal, which it
 * gets as it is let go. Of others, processes have stopped. */
static void go_on(pid_t id, int signal_number)
{
    bool stops = is_stop(signal_number);
    long delivered = stops ? 0 : signal_number;
    if (ptrace(PTRACE_DETACH, id, NULL, (void *)delivered) != 0 || stops)
        kill(id, SIGCONT);
}

/* Whether a process has ended while the attended one has not, of which it is no thread: those that
 * are traced are told of, too. */
static bool is_sibling_end(const struct attended *attended)
{
    siginfo_t other = {.si_pid = 0}, own = {.si_pid = 0};
    char thread[64];
    if (waitid(P_ALL, 0, &other, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 || other.si_pid == 0 ||
        waitid(P_PID, (id_t)attended->pid, &own, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        own.si_pid != 0)
        return false;
    snprintf(thread, sizeof thread, "/proc/%ld/task/%ld", (long)attended->pid, (long)other.si_pid);
    return access(thread, F_OK) != 0;
}

/* Threads that are traced, and processes that were adopted, are not seen without __WALL. */
static bool has_ended(struct attended *attended)
{
    for (;;) {
        int status = 0;
        attended->siblings = attended->siblings || is_sibling_end(attended);
        pid_t waited = waitpid(-1, &status, WNOHANG | WUNTRACED | __WALL);
        if (waited < 0 && errno == EINTR)
            continue;
        if (waited > 0 && WIFSTOPPED(status)) {
            go_on(waited, WSTOPSIG(status));
        } else if (waited <= 0 || waited == attended->pid) {
            attended->status = status;
            return waited != 0;
        }
    }
}

static void stop_with(pid_t pid)
{
    if (kill(-pid, SIGSTOP) != 0)
        kill(pid, SIGSTOP);
    raise(SIGSTOP);
    if (kill(-pid, SIGCONT) != 0)
        kill(pid, SIGCONT);
}

void attend(struct attended *attended, const struct attendance *attendance)
{
    const struct timespec turn = {0, 100000000};
    sigset_t waited, before;
    attended->by = BY_ITSELF;
    attended->siblings = false;
    attended->waits_since = 0;
    *attended->waits = '\0';
    sigemptyset(&waited);
    sigaddset(&waited, SIGCHLD);
    if (attendance->stops_alike)
        sigaddset(&waited, SIGTSTP);
    pthread_sigmask(SIG_BLOCK, &waited, &before);
    while (!has_ended(attended)) {
        if (attended->by == BY_ITSELF)
            attended->by = look_after(attended, attendance);
        if (sigtimedwait(&waited, NULL, &turn) == SIGTSTP)
            stop_with(attended->pid);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
