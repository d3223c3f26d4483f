#include "frontend/commands/run_left.h"
#include "frontend/cli/apart.h"
#include "ir/syntax/spelling.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* The system shows each thread as a folder, which is a link of the one above. */
static unsigned long count_threads(void)
{
    struct stat st;
    return stat("/proc/self/task", &st) == 0 ? (unsigned long)st.st_nlink : 0;
}

/* Those that have ended are gone behind this. */
static bool has_processes(void)
{
    pid_t pid;
    do
        pid = waitpid(-1, NULL, WNOHANG);
    while (pid > 0);
    return pid == 0;
}

static const char *find(const struct run_left *left)
{
    return has_processes() ? "process" : count_threads() > left->threads ? "thread" : NULL;
}

void run_left_begin(struct run_left *left)
{
    left->threads = count_threads();
}

/* One that has just ended may be seen for a while. */
const char *run_left_end(const struct run_left *left)
{
    enum { TURNS = 200 };
    const struct timespec nap = {0, 1000000};
    const char *what = find(left);
    for (int i = 0; what && i < TURNS; i++) {
        nanosleep(&nap, NULL);
        what = find(left);
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

static void op_ended(void *context, const struct graph *graph, const struct op *op)
{
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

_Noreturn void run_left_report(const struct run_left_search *search, const char *what)
{
    const struct invocation *invocation = search->runner->invocation;
    if (*search->op)
        fprintf(invocation->err, "skirc: the kernel of %s has left a %s running\n", search->op,
                what);
    else
        fprintf(invocation->err, "skirc: a kernel has left a %s running\n", what);
    fflush(invocation->out);
    fflush(invocation->err);
    apart_leave(EXIT_INPUT);
}
