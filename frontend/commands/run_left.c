#define _GNU_SOURCE /* memfd_create */
#include "frontend/commands/run_left.h"
#include "frontend/cli/apart.h"
#include "frontend/cli/crash.h"
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
#include <time.h>
#include <unistd.h>

/* The system shows each thread as a folder, which is a link of the one above. */
static unsigned long count_threads(void)
{
    struct stat st;
    return stat("/proc/self/task", &st) == 0 ? (unsigned long)st.st_nlink : 0;
}

static const char *find_running(const struct run_left *left)
{
    return leftovers_have_children()         ? "left a process running"
           : count_threads() > left->threads ? "left a thread running"
                                             : NULL;
}

static struct run_left_stream stream_of(int fd)
{
    struct stat st;
    bool open = fstat(fd, &st) == 0;
    return (struct run_left_stream){open, open ? st.st_dev : 0, open ? st.st_ino : 0};
}

static const char *find_closed(const struct run_left *left)
{
    static const char *const closed[] = {"closed standard input", "closed standard output",
                                         "closed standard error"};
    for (int fd = 0; fd < RUN_LEFT_STREAMS; fd++) {
        struct run_left_stream now = stream_of(fd), before = left->streams[fd];
        if (before.open && (!now.open || now.device != before.device || now.file != before.file))
            return closed[fd];
    }
    return NULL;
}

/* The filters of this thread's system calls. The file is opened before there are kernels; -1, with
 * errno, where it cannot be read, which is 0 where a read gives nothing. */
static long count_filters(void)
{
    static int status = -1;
    char text[4096];
    errno = 0;
    ssize_t size = pread(status, text, sizeof text - 1, 0);
    if (size < 0 && errno == EBADF) {
        status = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
        size = pread(status, text, sizeof text - 1, 0);
    }
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

static bool can_open(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno != EMFILE;
    close(fd);
    return true;
}

void run_left_begin(struct run_left *left)
{
    *left->call = '\0';
    left->threads = count_threads();
    left->filters = count_filters();
    run_settings_take(&left->settings);
    for (int fd = 0; fd < RUN_LEFT_STREAMS; fd++)
        left->streams[fd] = stream_of(fd);
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
}

/* One that has just ended may be seen for a while. */
const char *run_left_end(struct run_left *left)
{
    enum { TURNS = 200 };
    const struct timespec nap = {0, 1000000};
    const char *what = run_left_forbidden(left);
    if (what)
        return what;
    what = find_closed(left);
    if (run_settings_restore(&left->settings, left->what, sizeof left->what) && !what)
        return left->what;
    if (what)
        return what;
    if (*crash_changed_floats(left->call, sizeof left->call))
        return "changed how its thread computes (rounding, denormals, traps or the like)";
    if (!can_open())
        return "left so many files open that there can be no more";
    what = find_running(left);
    for (int i = 0; what && i < TURNS; i++) {
        nanosleep(&nap, NULL);
        what = find_running(left);
    }
    return what;
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

/* Which op it was has not shown again: those of the graph, the first ones. */
static void tell_ops(const struct runner *runner)
{
    enum { SHOWN = 8 };
    struct arena scratch = {NULL, 0};
    FILE *err = runner->invocation->err;
    const struct graph *graph = runner->graph;
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->ops.count; i++)
        if (graph->ops.at[i].kernel != NONE && count++ < SHOWN)
            apart_tell(err, "%s%s", count == 1 ? "it is one of " : ", ",
                       op_text(runner->module, graph, &graph->ops.at[i], &scratch));
    if (count > SHOWN)
        apart_tell(err, ", and %u more", count - SHOWN);
    apart_tell(err, "%s", count ? "\n" : "");
    arena_free(&scratch);
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
    }
}

_Noreturn void run_left_report(const struct run_left_search *search, const char *what)
{
    const struct invocation *invocation = search->runner->invocation;
    apart_tell(invocation->err, "skirc: %s%s has %s\n", *search->op ? "the kernel of " : "a kernel",
               search->op, what);
    bool forbidden = run_left_forbidden(&search->left) != NULL;
    if (search->call)
        apart_tell(invocation->err, "%s", search->call);
    else if (!*search->op)
        tell_ops(search->runner);
    apart_end_processes();
    if (!forbidden) {
        fflush(invocation->out);
        fflush(invocation->err);
    }
    apart_leave(EXIT_INPUT);
}
