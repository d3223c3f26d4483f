#define _GNU_SOURCE /* memfd_create */
#include "frontend/commands/run_left.h"
#include "frontend/cli/apart.h"
#include "frontend/cli/attend.h"
#include "frontend/cli/crash.h"
#include "frontend/commands/run_own.h"
#include "ir/base/leftovers.h"
#include "ir/syntax/spelling.h"

#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *find_closed(const struct run_left *left)
{
    static const char *const closed[] = {"closed standard input", "closed standard output",
                                         "closed standard error"};
    for (int fd = 0; fd < RUN_LEFT_STREAMS; fd++)
        if (left->streams[fd].open && run_file_is_gone(&left->streams[fd].file))
            return closed[fd];
    return run_files_changed(&left->files);
}

/* What the system says of this thread; opened before there are kernels. */
static struct run_file status = {.fd = -1};

static int open_status(void)
{
    return open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
}

/* The filters of this thread's system calls; -1, with errno, where that cannot be read, which is 0
 * where a read gives nothing. Where kernels have closed the file, it is closed behind it, too: that
 * is to be seen. */
static long count_filters(void)
{
    char text[4096];
    int other = run_file_is_gone(&status) ? open_status() : -1;
    errno = 0;
    ssize_t size = pread(other >= 0 ? other : status.fd, text, sizeof text - 1, 0);
    int error = errno;
    if (other >= 0)
        close(other);
    errno = error;
    text[size > 0 ? size : 0] = '\0';
    const char *filters = strstr(text, "\nSeccomp_filters:");
    const char *mode = filters ? filters : strstr(text, "\nSeccomp:");
    return mode ? strtol(strchr(mode, ':') + 1, NULL, 10) : -1;
}

/* One read may be interrupted; none comes to anything where it is forbidden. */
const char *run_left_forbidden(const struct run_left *left)
{
    enum { TRIES = 8 };
    long now = count_filters();
    for (int i = 0; now < 0 && left->filters >= 0 && i < TRIES; i++)
        now = count_filters();
    bool closed = now < 0 && (errno == EBADF || errno == EMFILE || errno == ENFILE);
    return left->filters >= 0 && now != left->filters && !closed
               ? "forbidden its process system calls (seccomp)"
               : NULL;
}

static bool is_traced_here(const char *process)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%ld", attend_status_number(process, "TracerPid:"));
    return access(path, F_OK) == 0;
}

/* Only the thread that has begun that could end it; processes that are traced are taken for
 * children of this one. */
static bool traces_above(void)
{
    char parent[32], above[32];
    snprintf(parent, sizeof parent, "%ld", (long)getppid());
    snprintf(above, sizeof above, "%ld", attend_status_number(parent, "PPid:"));
    return apart_is_apart() && (is_traced_here(parent) || is_traced_here(above));
}

const char *run_left_hindered(const struct run_left *left)
{
    const char *what = run_left_forbidden(left);
    if (!what && leftovers_have_children() && traces_above())
        what = "traced a process above its own (ptrace)";
    return what;
}

static bool can_open(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno != EMFILE;
    close(fd);
    return true;
}

/* Whether there can be more mappings of memory, of which a process has some ten thousands at most:
 * of three pages, of which the middle one is another. */
static bool can_map(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *at = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return false;
    bool split = mprotect(at + page, page, PROT_READ) == 0;
    munmap(at, 3 * page);
    return split;
}

bool run_left_can_look(struct diags *diags)
{
    enum { NEEDED = 3 };
    int files[NEEDED], count = 0;
    while (count < NEEDED && (files[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        count++;
    bool enough = count == NEEDED || errno != EMFILE;
    for (int i = 0; i < count; i++)
        close(files[i]);
    if (!enough)
        diag_at(diags, DIAG_file, no_span,
                "the limit of open files (ulimit -n) is too low to run kernels");
    return enough;
}

void run_left_begin(struct run_left *left)
{
    *left->call = '\0';
    left->can_map = can_map();
    run_running_take(&left->running);
    if (run_file_is_gone(&status))
        run_file_look(&status, open_status());
    left->filters = count_filters();
    run_settings_take(&left->settings);
    run_threads_take(&left->threads);
    run_files_take(&left->files);
    for (int fd = 0; fd < RUN_LEFT_STREAMS; fd++)
        left->streams[fd].open = run_file_look(&left->streams[fd].file, fd);
}

void run_left_open_streams(void)
{
    fflush(NULL);
    for (int fd = 0; fd < RUN_LEFT_STREAMS; fd++) {
        int file = memfd_create("stream", 0);
        if (file >= 0 && file != fd && dup2(file, fd) == fd)
            close(file);
    }
}

void run_left_restore(struct run_left *left)
{
    run_settings_restore(&left->settings, left->what, sizeof left->what);
    run_threads_restore(&left->threads);
}

/* What runs is looked for first: what it does from now on is done behind the launch, even where it
 * ends soon. */
const char *run_left_end(struct run_left *left)
{
    const char *what = run_left_hindered(left);
    if (what)
        return what;
    const char *running = run_running_find(&left->running);
    what = find_closed(left);
    const char *threads = run_threads_restore(&left->threads);
    bool settings = run_settings_restore(&left->settings, left->what, sizeof left->what);
    if (what || settings || threads)
        return what ? what : settings ? left->what : threads;
    if (*crash_changed_floats(left->call, sizeof left->call))
        return "changed how its thread computes (rounding, denormals, traps or the like)";
    if (!can_open())
        return "left so many files open that there can be no more";
    if (left->can_map && !can_map())
        return "used up what memory its process can map (mappings, or ulimit -v)";
    return running ? running : run_running_await(&left->running);
}

/* ---------------------------------------------------------------------------- reports ---- */

static void op_begins(void *context, const struct graph *graph, const struct op *op,
                      void *const *values)
{
    (void)graph;
    (void)op;
    (void)values;
    run_left_begin(&((struct run_left_search *)context)->left);
}

static void op_ended(void *context, const struct graph *graph, const struct op *op,
                     void *const *values)
{
    (void)values;
    struct run_left_search *search = context;
    struct arena scratch = {NULL, 0};
    if (*search->op || !run_left_end(&search->left))
        return;
    snprintf(search->op, sizeof search->op, "%s",
             op_text(search->runner->module, graph, op, &scratch));
    arena_free(&scratch);
}

struct run_watch run_left_watch(struct run_left_search *search)
{
    return (struct run_watch){op_ended, search, op_begins};
}

/* Nothing else is done meanwhile; who loads code knows no more of it than its name. */
static struct {
    struct run_left left;
    char who[256]; /* "": none runs */
    fenv_t floats; /* how this thread computed before: what it computes is skirc's, not kernels' */
} beside;

void run_left_code_runs(const char *what)
{
    apart_code_runs(what);
    run_own_take_back();
    const char *done = NULL;
    if (!what && *beside.who) {
        fesetenv(&beside.floats);
        done = run_left_end(&beside.left);
    }
    if (done) {
        apart_tell(stderr, "skirc: %s has %s\n", beside.who, done);
        apart_end_processes();
        apart_leave(EXIT_INPUT);
    }
    snprintf(beside.who, sizeof beside.who, "%s", what ? what : "");
    if (what) {
        fegetenv(&beside.floats);
        run_left_begin(&beside.left);
        run_own_lend();
    }
}

void run_left_check_signals(FILE *err)
{
    int number = run_threads_signal();
    if (number == 0)
        return;
    apart_tell(err, "skirc: a kernel has sent its thread a signal (%d), which that keeps back\n",
               number);
    apart_say_suspects(err);
    apart_end_processes();
    apart_leave(EXIT_INPUT);
}

_Noreturn void run_left_report(const struct run_left_search *search, const char *what)
{
    const struct invocation *invocation = search->runner->invocation;
    apart_tell(invocation->err, "skirc: %s%s has %s\n", *search->op ? "the kernel of " : "a kernel",
               search->op, what);
    bool hindered = run_left_hindered(&search->left) != NULL;
    if (search->call)
        apart_tell(invocation->err, "%s", search->call);
    else if (!*search->op)
        apart_say_suspects(invocation->err);
    if (!hindered) {
        apart_end_processes();
        fflush(invocation->out);
        fflush(invocation->err);
    }
    apart_leave(EXIT_INPUT);
}
