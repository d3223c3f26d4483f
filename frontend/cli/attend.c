#define _GNU_SOURCE /* __WALL, memfd_create */
#include "frontend/cli/attend.h"
#include "ir/base/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* ------------------------------------------------------------------------------ limits ---- */

enum { SEALS = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL };

int attend_limits_open(void)
{
    return memfd_create("limits", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

static bool write_at(int fd, const void *bytes, size_t size, off_t at)
{
    while (size > 0) {
        ssize_t n = pwrite(fd, bytes, size, at);
        if (n < 0 && errno != EINTR)
            return false;
        bytes = (const char *)bytes + (n > 0 ? n : 0);
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool attend_limits_tell(int fd, const struct attend_limits *limits, const void *more, size_t size)
{
    return write_at(fd, limits, sizeof *limits, 0) && write_at(fd, more, size, sizeof *limits) &&
           fcntl(fd, F_ADD_SEALS, SEALS) == 0;
}

bool attend_limits_told(int fd, struct attend_limits *limits, void *more, size_t size)
{
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_WRITE))
        return false;
    if (more)
        memset(more, 0, size);
    return pread(fd, limits, sizeof *limits, 0) == (ssize_t)sizeof *limits &&
           (!more || pread(fd, more, size, sizeof *limits) >= 0);
}

/* ------------------------------------------------------------------------- the system ---- */

void attend_status(const char *process, const char *key, char *value, size_t size)
{
    char path[320], line[256];
    snprintf(path, sizeof path, "/proc/%s/status", process);
    FILE *file = fopen(path, "re");
    *value = '\0';
    while (file && !*value && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            snprintf(value, size, "%s", line + strlen(key) + strspn(line + strlen(key), " \t"));
    if (file)
        fclose(file);
}

long attend_status_number(const char *process, const char *key)
{
    char value[64];
    attend_status(process, key, value, sizeof value);
    return strtol(value, NULL, 10);
}

/* ----------------------------------------------------------------------------- ending ---- */

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
static bool waits_too_long(struct attended *attended, uint64_t most, uint64_t now)
{
    char waits[sizeof attended->waits];
    find_wait(attended->pid, waits, sizeof waits);
    if (!*waits || strcmp(waits, attended->waits) != 0)
        attended->waits_since = now;
    memcpy(attended->waits, waits, sizeof waits);
    return *waits && now - attended->waits_since > most;
}

/* Whether it is late by what it has told of, or by the limits. */
static bool is_late(const struct attended *attended, const struct attendance *attendance,
                    const struct attend_limits *limits, uint64_t now)
{
    uint64_t deadline = attended->deadline, told = attended->told;
    uint64_t most = deadline ? limits->running : limits->beside;
    bool can_be = deadline > told && deadline != ATTEND_NEVER;
    return (most && now - told > most + attendance->grace) ||
           (can_be && now > attendance->grace && now - attendance->grace > deadline);
}

static void take_deadline(struct attended *attended, uint64_t deadline, uint64_t now)
{
    if (attended->told == 0 || deadline != attended->deadline)
        attended->told = now;
    attended->deadline = deadline;
}

/* How long the first thread has ended while others go on, which none of this program's does: nobody
 * is told of the end of such a process. At the end of each it is so for a moment. */
static void count_headless(struct attended *attended)
{
    char process[32], state[64];
    snprintf(process, sizeof process, "%ld", (long)attended->pid);
    attend_status(process, "State:", state, sizeof state);
    attended->headless = *state == 'Z' || *state == 'X' ? attended->headless + 1 : 0;
}

/* Ends a process that nothing good is to be expected of. */
static enum ended_by look_after(struct attended *attended, const struct attendance *attendance)
{
    enum { HEADLESS_TURNS = 3 };
    pid_t pid = attended->pid;
    struct attend_limits limits;
    uint64_t now = attend_clock();
    if (!attend_limits_told(attendance->limits, &limits, NULL, 0))
        return BY_ITSELF;
    take_deadline(attended, atomic_load(attendance->deadline), now);
    bool waits = attendance->waits_end && attended->deadline == 0 &&
                 waits_too_long(attended, limits.wait, now);
    enum ended_by by = attendance->is_this_program && is_replaced(pid) ? BY_PROGRAM
                       : is_late(attended, attendance, &limits, now)   ? BY_TIME
                       : waits                                         ? BY_WAIT
                       : attended->headless > HEADLESS_TURNS           ? BY_THREADS
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

/* The process that traces a thread, where it is below this one: no debugger that users have. */
static void end_tracer(const char *thread)
{
    char tracer[32];
    snprintf(tracer, sizeof tracer, "%ld", attend_status_number(thread, "TracerPid:"));
    pid_t pid = (pid_t)attend_status_number(tracer, "Tgid:");
    if (pid > 1 && pid != getpid() && leftovers_is_below(pid))
        kill(pid, SIGKILL);
}

/* Nobody is told of the end of a process whose threads others trace, till these let them go. */
static void end_tracers(const struct attended *attended)
{
    char path[64], thread[300], process[32];
    snprintf(process, sizeof process, "%ld", (long)attended->pid);
    snprintf(path, sizeof path, "/proc/%s/task", process);
    DIR *folder = attended->headless ? opendir(path) : NULL;
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        snprintf(thread, sizeof thread, "%s/task/%s", process, entry->d_name);
        if (*entry->d_name != '.')
            end_tracer(thread);
    }
    if (folder)
        closedir(folder);
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
    attended->deadline = attended->told = 0;
    attended->waits_since = 0;
    attended->headless = 0;
    *attended->waits = '\0';
    sigemptyset(&waited);
    sigaddset(&waited, SIGCHLD);
    if (attendance->stops_alike)
        sigaddset(&waited, SIGTSTP);
    pthread_sigmask(SIG_BLOCK, &waited, &before);
    while (!has_ended(attended)) {
        count_headless(attended);
        if (attended->by == BY_ITSELF)
            attended->by = look_after(attended, attendance);
        end_tracers(attended);
        if (sigtimedwait(&waited, NULL, &turn) == SIGTSTP)
            stop_with(attended->pid);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
