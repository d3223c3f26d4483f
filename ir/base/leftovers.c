#define _GNU_SOURCE /* SYS_getdents64, __WALL */
#include "ir/base/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1024 };

/* Who changes the state from FREE or NOTED has the entry to itself, till it ends: what one has
 * begun to clear that was ended meanwhile is for who waits for it. */
enum state { STATE_FREE, STATE_TAKEN, STATE_NOTED, STATE_CLEARED };

struct leftovers {
    struct leftover {
        atomic_int state;
        enum leftover_kind kind;
        pid_t owner;
        pid_t pid;         /* of a process */
        atomic_bool ended; /* it has */
        const atomic_bool *stubborn;
    } entries[MOST];
    char paths[MOST][PATH_MAX];
};

/* A handler of a signal has no other way to it. */
static struct leftovers own, *leftovers = &own;

/* Processes of this process's, by their entries' numbers: who may write to memory that is shared is
 * not to say which one is ended. What is forked has those of its parent, too. */
static struct {
    pid_t pid, owner;
} processes[MOST];

/* What this process clears: who may write to memory that is shared is not to have it do so again
 * and again. */
static bool taken[MOST];

/* ------------------------------------------------------------------------------ notes ---- */

void leftovers_hold(sigset_t *before)
{
    static const int ending[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGALRM,
                                 SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        sigaddset(&set, ending[i]);
    pthread_sigmask(SIG_BLOCK, &set, before);
}

void leftovers_release(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

static bool change(struct leftover *entry, int state, int next)
{
    return atomic_compare_exchange_strong(&entry->state, &state, next);
}

/* Whether this process is to clear an entry, which it then has, once. */
static bool take_noted(struct leftover *entry)
{
    bool *is_taken = &taken[entry - leftovers->entries];
    bool takes = change(entry, STATE_NOTED, STATE_CLEARED) ||
                 (entry->owner != getpid() && atomic_load(&entry->state) == STATE_CLEARED);
    takes = takes && !*is_taken;
    *is_taken = *is_taken || takes;
    return takes;
}

/* Others may have overwritten what is shared: an entry in no state is nobody's. */
static bool take_free(struct leftover *entry)
{
    int state = atomic_load(&entry->state);
    return state != STATE_TAKEN && state != STATE_NOTED && state != STATE_CLEARED &&
           change(entry, state, STATE_TAKEN);
}

static int note(enum leftover_kind kind, pid_t pid, const atomic_bool *stubborn, const char *path)
{
    size_t size = strlen(path) + 1;
    for (int i = 0; i < MOST && size <= PATH_MAX; i++) {
        struct leftover *entry = &leftovers->entries[i];
        if (!take_free(entry))
            continue;
        entry->kind = kind;
        entry->owner = getpid();
        entry->pid = pid;
        entry->stubborn = stubborn;
        atomic_store(&entry->ended, false);
        memcpy(leftovers->paths[i], path, size);
        atomic_store(&entry->state, STATE_NOTED);
        return i;
    }
    return LEFTOVER_NONE;
}

int leftovers_note(enum leftover_kind kind, const char *path)
{
    return note(kind, 0, NULL, path);
}

int leftovers_note_process(pid_t pid, const atomic_bool *stubborn)
{
    int number = note(LEFTOVER_PROCESS, pid, stubborn, "");
    if (number != LEFTOVER_NONE) {
        processes[number].pid = pid;
        processes[number].owner = getpid();
    }
    return number;
}

void leftovers_forget(int number)
{
    if (number == LEFTOVER_NONE)
        return;
    processes[number].pid = 0;
    atomic_store(&leftovers->entries[number].state, STATE_FREE);
}

void leftovers_note_end(int number)
{
    if (number == LEFTOVER_NONE)
        return;
    processes[number].pid = 0;
    atomic_store(&leftovers->entries[number].ended, true);
}

bool leftovers_share(void)
{
    if (leftovers != &own)
        return true;
    void *shared =
        mmap(NULL, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return false;
    leftovers = shared;
    return true;
}

/* ---------------------------------------------------------------------------- removal ---- */

/* readdir() may allocate, which a handler must not. */
static void for_each_name(int folder, void (*visit)(int folder, const char *name))
{
    struct entry {
        uint64_t inode, offset;
        uint16_t size;
        uint8_t type;
        char name[];
    };
    _Alignas(struct entry) char entries[4096];
    long size;
    while ((size = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
        for (long at = 0; at < size; at += ((struct entry *)(entries + at))->size)
            visit(folder, ((struct entry *)(entries + at))->name);
}

static void remove_file(int folder, const char *name)
{
    unlinkat(folder, name, 0);
}

static void remove_folder(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        for_each_name(folder, remove_file);
        close(folder);
    }
    rmdir(path);
}

/* ------------------------------------------------------------------------------ ending ---- */

/* Whether it has ended within that time. It may be a child of somebody else. */
static bool has_ended(pid_t pid, int milliseconds)
{
    const struct timespec nap = {0, 1000000};
    for (int i = 0; i <= milliseconds; i++) {
        pid_t waited = waitpid(pid, NULL, WNOHANG);
        if (waited == pid || (waited < 0 && errno == ECHILD && kill(pid, 0) != 0))
            return true;
        nanosleep(&nap, NULL);
    }
    return false;
}

enum { PATIENCE = 2000, LITTLE_PATIENCE = 100 };

static void end_process(pid_t pid, int patience)
{
    bool leads = kill(-pid, SIGTERM) == 0;
    if ((leads || kill(pid, SIGTERM) == 0) && has_ended(pid, patience))
        return;
    kill(leads ? -pid : pid, SIGKILL);
    has_ended(pid, PATIENCE);
}

void leftovers_end_process(pid_t pid)
{
    end_process(pid, PATIENCE);
}

/* ---------------------------------------------------------------------------- orphans ---- */

static volatile sig_atomic_t adopts;

void leftovers_adopt(void)
{
#ifdef PR_SET_CHILD_SUBREAPER
    adopts = prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
#endif
}

static pid_t number_of(const char *digits)
{
    pid_t number = 0;
    for (; *digits >= '0' && *digits <= '9' && number < INT_MAX / 10 - 1; digits++)
        number = number * 10 + (*digits - '0');
    return number;
}

/* The number behind /proc/PID/stat's "PID (NAME) STATE "; the name may have any bytes. */
static pid_t parent_of(const char *pid)
{
    char path[64] = "/proc/", stat[512];
    strncat(path, pid, 20);
    strcat(path, "/stat");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, stat, sizeof stat - 1);
    if (fd >= 0)
        close(fd);
    stat[size < 0 ? 0 : size] = '\0';
    const char *name_end = strrchr(stat, ')');
    return name_end && strlen(name_end) > 4 ? number_of(name_end + 4) : 0;
}

bool leftovers_is_below(pid_t pid)
{
    enum { DEPTH = 64 };
    for (int i = 0; i < DEPTH && pid > 1 && pid != getpid(); i++) {
        char digits[16], *at = digits + sizeof digits - 1;
        *at = '\0';
        for (pid_t rest = pid; rest > 0; rest /= 10)
            *--at = (char)('0' + rest % 10);
        pid = parent_of(at);
        if (pid == getpid())
            return true;
    }
    return false;
}

static void end_child(int folder, const char *name)
{
    (void)folder;
    pid_t pid = number_of(name);
    if (pid > 1 && parent_of(name) == getpid())
        kill(pid, SIGKILL);
}

bool leftovers_have_children(void)
{
    pid_t pid;
    do
        pid = waitpid(-1, NULL, WNOHANG | __WALL);
    while (pid > 0);
    return pid == 0;
}

/* Those of one that is ended become this process's: it takes some turns. Of a group that goes on
 * making more, none is left when all get the signal at once. */
bool leftovers_end_adopted(pid_t group)
{
    enum { TURNS = 1000, SECONDS = 10 };
    const struct timespec nap = {0, 1000000};
    struct timespec begin, now;
    int turn = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    now = begin;
    for (;
         adopts && turn < TURNS && now.tv_sec < begin.tv_sec + SECONDS && leftovers_have_children();
         turn++) {
        if (group > 0)
            kill(-group, SIGKILL);
        int processes = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (processes < 0)
            return true;
        for_each_name(processes, end_child);
        close(processes);
        nanosleep(&nap, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    return turn > 0;
}

/* ---------------------------------------------------------------------------- clearing ---- */

/* The process to end of an entry that says which, or 0. */
static pid_t process_of(const struct leftover *entry)
{
    ptrdiff_t number = entry - leftovers->entries;
    if (processes[number].pid && processes[number].owner == getpid())
        return processes[number].pid;
    return leftovers_is_below(entry->pid) ? entry->pid : 0;
}

/* The entry belongs to this process of late: `state` is STATE_CLEARED. */
static void clear_entry(struct leftover *entry)
{
    const char *path = leftovers->paths[entry - leftovers->entries];
    if (entry->kind == LEFTOVER_PROCESS) {
        pid_t pid = process_of(entry);
        bool own = processes[entry - leftovers->entries].owner == getpid();
        bool stubborn = own && entry->stubborn && atomic_load(entry->stubborn);
        if (pid && !atomic_load(&entry->ended))
            end_process(pid, stubborn ? LITTLE_PATIENCE : PATIENCE);
        leftovers_clear_of(entry->pid);
    } else if (entry->kind == LEFTOVER_FOLDER) {
        remove_folder(path);
    } else {
        unlink(path);
    }
    taken[entry - leftovers->entries] = false;
    atomic_store(&entry->state, STATE_FREE);
}

/* Processes first: they may use the rest. */
void leftovers_clear_of(pid_t pid)
{
    for (int processes = 1; processes >= 0; processes--)
        for (int i = 0; i < MOST; i++) {
            struct leftover *entry = &leftovers->entries[i];
            if (atomic_load(&entry->state) >= STATE_NOTED && entry->owner == pid &&
                (entry->kind == LEFTOVER_PROCESS) == (processes == 1) && take_noted(entry))
                clear_entry(entry);
        }
}

void leftovers_clear(void)
{
    int saved = errno;
    leftovers_clear_of(getpid());
    leftovers_end_adopted(0);
    errno = saved;
}
