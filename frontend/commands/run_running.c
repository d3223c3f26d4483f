#include "frontend/commands/run_running.h"
#include "ir/base/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static const char left_thread[] = "left a thread running";
static const char left_process[] = "left a process running";

struct task {
    char state;
    pid_t parent; /* its process */
    unsigned flags;
};

/* State, parent and flags: the first, second and seventh of what stands behind the name. False
 * where nobody says: of one that is gone (errno is ENOENT or ESRCH), or for another reason. */
static bool look_at(const char *folder, const char *id, struct task *task)
{
    char path[300], text[512];
    snprintf(path, sizeof path, "%s/%s/stat", folder, id);
    int fd;
    ssize_t size = -1;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    while (fd >= 0 && (size = read(fd, text, sizeof text - 1)) < 0 && errno == EINTR)
        continue;
    int error = size < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    errno = error;
    text[size > 0 ? size : 0] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end && sscanf(name_end + 1, " %c %d %*d %*d %*d %*d %u", &task->state,
                              &task->parent, &task->flags) == 3;
}

/* Who is ending has the flag before it is seen to have ended by who joins it. One that this program
 * or a kernel has made has others, where the system tells of flags at all. */
static bool is_running(const struct task *task)
{
    enum { EXITING = 4 }; /* the system's PF_EXITING */
    return task->flags != 0 && !(task->flags & EXITING) && task->state != 'Z' && task->state != 'X';
}

/* Whether a task runs, and is of that parent, if that is not 0; `unknown` where nobody says. */
static bool runs(const char *folder, const char *id, pid_t parent, bool unknown)
{
    struct task task;
    if (look_at(folder, id, &task))
        return (!parent || task.parent == parent) && is_running(&task);
    return unknown && errno != ENOENT && errno != ESRCH;
}

/* How many there are in a folder of tasks; `unknown` as above, where the folder cannot be read. */
static unsigned long count_running(const char *name, pid_t parent, bool unknown)
{
    DIR *folder = opendir(name);
    struct dirent *entry;
    unsigned long count = folder || !unknown ? 0 : ULONG_MAX;
    while (folder && (entry = readdir(folder)))
        count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
                 runs(name, entry->d_name, parent, unknown);
    if (folder)
        closedir(folder);
    return count;
}

/* Each is a folder, which is a link of the one above. */
static unsigned long count_shown_threads(void)
{
    struct stat st;
    return stat("/proc/self/task", &st) == 0 ? (unsigned long)st.st_nlink : 0;
}

void run_running_take(struct run_running *before)
{
    *before =
        (struct run_running){count_shown_threads(), count_running("/proc/self/task", 0, true)};
}

const char *run_running_find(const struct run_running *before)
{
    if (leftovers_have_children() && count_running("/proc", getpid(), false) > 0)
        return left_process;
    return count_running("/proc/self/task", 0, false) > before->running ? left_thread : NULL;
}

static const char *find_shown(const struct run_running *before)
{
    return leftovers_have_children()               ? left_process
           : count_shown_threads() > before->shown ? left_thread
                                                   : NULL;
}

const char *run_running_await(const struct run_running *before)
{
    enum { TURNS = 200 };
    const struct timespec nap = {0, 1000000};
    const char *what = run_running_find(before);
    for (int i = 0; !what && find_shown(before); i++) {
        what = i < TURNS ? run_running_find(before) : find_shown(before);
        if (!what)
            nanosleep(&nap, NULL);
    }
    return what;
}
