#define _GNU_SOURCE /* SYS_getdents64 */
#include "ir/support/cleanup_registry.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1024 };

/* The one that changes the state from FREE or READY has the entry to itself. */
enum state { STATE_FREE, STATE_TAKEN, STATE_READY };

static struct registry {
    struct entry {
        atomic_int state;
        enum cleanup_kind kind;
        pid_t owner;
        pid_t pid; /* of a process */
    } entries[MOST];
    char paths[MOST][PATH_MAX]; /* apart: pages of those that are not used are not touched */
} * registry; /* NULL: nothing is registered, or there is no memory. Forked processes share it. */

static void map_registry(void)
{
    void *mapped =
        mmap(NULL, sizeof *registry, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    registry = mapped == MAP_FAILED ? NULL : mapped;
}

/* ----------------------------------------------------------------------- registration ---- */

/* Who registers: asked for early, so that no system call, in which the process could be killed, is
 * between making something and registering it. */
static _Thread_local pid_t holder;

void cleanup_hold(sigset_t *before)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    sigset_t all;
    pthread_once(&once, map_registry);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, before);
    holder = getpid();
}

void cleanup_release(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

static bool change(struct entry *entry, int state, int next)
{
    return atomic_compare_exchange_strong(&entry->state, &state, next);
}

int cleanup_add(enum cleanup_kind kind, pid_t pid, const char *path)
{
    size_t size = strlen(path) + 1;
    for (int i = 0; registry && i < MOST && size <= PATH_MAX; i++) {
        struct entry *entry = &registry->entries[i];
        if (!change(entry, STATE_FREE, STATE_TAKEN))
            continue;
        entry->kind = kind;
        entry->owner = holder;
        entry->pid = pid;
        memcpy(registry->paths[i], path, size);
        atomic_store(&entry->state, STATE_READY);
        return i;
    }
    return CLEANUP_NONE;
}

void cleanup_forget(int number)
{
    if (number != CLEANUP_NONE)
        atomic_store(&registry->entries[number].state, STATE_FREE);
}

/* ---------------------------------------------------------------------------- removal ---- */

/* readdir() may allocate, which a handler of signals must not. */
bool cleanup_remove_folder(const char *path)
{
    struct name {
        uint64_t inode, offset;
        uint16_t size;
        uint8_t type;
        char text[];
    };
    _Alignas(struct name) char names[4096];
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long size;
    while (folder >= 0 && (size = syscall(SYS_getdents64, folder, names, sizeof names)) > 0)
        for (long at = 0; at < size; at += ((struct name *)(names + at))->size)
            unlinkat(folder, ((struct name *)(names + at))->text, 0);
    if (folder >= 0)
        close(folder);
    return rmdir(path) == 0;
}

/* Whether it ends within 2 seconds. It may be a child of another process. */
static bool waits_for_end(pid_t pid)
{
    enum { MILLISECONDS = 2000 };
    const struct timespec nap = {0, 1000000};
    for (int i = 0; i <= MILLISECONDS; i++) {
        pid_t waited = waitpid(pid, NULL, WNOHANG);
        if (waited == pid || (waited < 0 && errno == ECHILD && kill(pid, 0) != 0))
            return true;
        nanosleep(&nap, NULL);
    }
    return false;
}

void cleanup_end_process(pid_t pid)
{
    bool leads = kill(-pid, SIGTERM) == 0;
    if ((leads || kill(pid, SIGTERM) == 0) && waits_for_end(pid))
        return;
    kill(leads ? -pid : pid, SIGKILL);
    waits_for_end(pid);
}

/* Processes first: they may use the rest. An entry of a child that has ended may be taken by it. */
void cleanup_run(pid_t owner)
{
    int saved = errno;
    for (int processes = 1; registry && processes >= 0; processes--)
        for (int i = 0; i < MOST; i++) {
            struct entry *entry = &registry->entries[i];
            if ((entry->kind == CLEANUP_PROCESS) != (processes == 1) || entry->owner != owner ||
                (!change(entry, STATE_READY, STATE_TAKEN) &&
                 (owner == getpid() || atomic_load(&entry->state) != STATE_TAKEN)))
                continue;
            if (entry->kind == CLEANUP_FILE)
                unlink(registry->paths[i]);
            else if (entry->kind == CLEANUP_FOLDER)
                cleanup_remove_folder(registry->paths[i]);
            else
                cleanup_end_process(entry->pid);
            if (entry->kind == CLEANUP_PROCESS)
                cleanup_run(entry->pid);
            atomic_store(&entry->state, STATE_FREE);
        }
    errno = saved;
}
