/* The parent shares a block of memory with the child, in which the child keeps what the parent
 * needs where the child ends without a word: whether the work is done, which code of the user runs
 * and until when, and what a handler of signals has reported. A kernel that overwrites the block
 * can make that report wrong, no more: the size of the text is checked, and the status that counts
 * is the one that the system has for the child. */
#define _GNU_SOURCE /* on_exit */
#include "frontend/driver/child_process.h"
#include "backend/runtime/skrt.h"
#include "ir/support/cleanup_registry.h"
#include "ir/support/diag.h"
#include "ir/support/memory.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct shared {
    atomic_bool done;          /* the work is, with the status that the child ends with */
    atomic_bool answered;      /* child_answered */
    atomic_bool code;          /* code of the user has begun to run */
    _Atomic int failed;        /* the status where that code does not come back */
    _Atomic uint64_t deadline; /* when such code is to have ended, by now(); 0: none runs, or any */
    char running[256];         /* what that is, or was last */
    atomic_bool runs;          /* it does */
    _Atomic uint32_t size;     /* of the report; it may be more than there is room for */
    char report[1 << 14];
};

/* Of the child; handlers of signals have no other way to it. */
static struct shared *shared;
static pid_t child;

/* Milliseconds of a clock that only goes forwards. */
static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void add_report(struct shared *to, const char *text)
{
    size_t size = strlen(text);
    uint32_t at = atomic_fetch_add(&to->size, (uint32_t)size);
    if (at < sizeof to->report && size <= sizeof to->report - at)
        memcpy(to->report + at, text, size);
}

/* ---------------------------------------------------------------------------- the child ---- */

/* The runtime has a timeout of its own, with a better report: it gets some seconds more. */
void child_code_begins(const char *what, uint64_t seconds, enum exit_status failed)
{
    enum { MARGIN = 5 };
    static const uint64_t most = UINT32_MAX;
    if (!shared)
        return;
    snprintf(shared->running, sizeof shared->running, "%s", what);
    atomic_store(&shared->failed, (int)failed);
    atomic_store(&shared->code, true);
    atomic_store(&shared->runs, true);
    atomic_store(&shared->deadline,
                 seconds > 0 && seconds < most ? now() + (seconds + MARGIN) * 1000 : 0);
}

void child_code_ended(void)
{
    if (!shared)
        return;
    atomic_store(&shared->deadline, 0);
    atomic_store(&shared->runs, false);
}

void child_report(const char *text)
{
    if (shared)
        add_report(shared, text);
    else
        (void)!write(STDERR_FILENO, text, strlen(text));
}

void child_answered(void)
{
    if (shared)
        atomic_store(&shared->answered, true);
}

_Noreturn void child_leave(enum exit_status status)
{
    if (shared)
        atomic_store(&shared->done, true);
    else
        cleanup_run(getpid()); /* nobody else does */
    _exit(status);
}

/* A kernel that calls exit() comes here, on the thread of its core. A process that it has forked
 * may do so, too. */
static void on_exit_called(int status, void *unused)
{
    (void)unused;
    char call[512];
    if (getpid() != child)
        _exit(status);
    if (atomic_load(&shared->done) || !skrt_this_core())
        return;
    child_report("skirc: a sub-kernel has called exit\n");
    if (skrt_crash_text(call, sizeof call) > 0)
        child_report(call);
    _exit(EXIT_INPUT);
}

struct errand {
    struct invocation *invocation;
    enum exit_status (*work)(struct invocation *invocation);
    enum exit_status status;
};

static void do_work(void *user)
{
    struct errand *errand = user;
    errand->status = errand->work(errand->invocation);
}

/* What kernels print is part of the command's output. */
static void redirect(FILE *stream, int fd)
{
    if (fileno(stream) != fd)
        dup2(fileno(stream), fd);
}

/* It ends by exit(), so that tools that watch the process (leaks, coverage) get their turn. */
static _Noreturn void be_child(struct errand *errand, struct shared *block, pid_t parent)
{
    FILE *out = errand->invocation->out, *err = errand->invocation->err;
    struct mem_scope scope = {.blocks = NULL}; /* the parent's memory is not to be released here */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_INPUT);
    redirect(out, STDOUT_FILENO);
    redirect(err, STDERR_FILENO);
    shared = block;
    child = getpid();
    on_exit(on_exit_called, NULL);
    if (!mem_scope_run(&scope, do_work, errand)) {
        child_report("skirc: out of memory\n"); /* for the parent to say in JSON, too */
        errand->status = EXIT_DEFECT;
    }
    enum exit_status status = output_end(out, err, errand->status);
    fflush(err);
    atomic_store(&shared->done, true);
    exit(status);
}

/* --------------------------------------------------------------------------- the parent ---- */

/* Returns how the child has ended, as waitpid() has it. `*late`: it was ended at its deadline. */
static int wait_for(pid_t pid, const struct shared *block, bool *late)
{
    const struct timespec turn = {0, 100000000};
    sigset_t waited, before;
    int status = 0;
    sigemptyset(&waited);
    sigaddset(&waited, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &waited, &before);
    *late = false;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        uint64_t deadline = atomic_load(&block->deadline);
        if (deadline && now() > deadline) {
            *late = true;
            kill(pid, SIGKILL);
        }
        sigtimedwait(&waited, NULL, &turn);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

/* The end of this process is that of the child. */
static _Noreturn void end_alike(int signal_number)
{
    fflush(NULL);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
    _exit(128 + signal_number);
}

/* Of a child that did not come to the end of its work, and that no handler has said that of. */
static void report_end(struct shared *block, int status, bool late)
{
    char text[512];
    bool runs = atomic_load(&block->runs);
    const char *who = *block->running ? block->running : "a kernel";
    block->running[sizeof block->running - 1] = '\0';
    if (late)
        snprintf(text, sizeof text, "skirc: timeout: %s does not return\n", who);
    else
        snprintf(text, sizeof text, "skirc: %s has ended its process (%s %d)%s\n", who,
                 WIFSIGNALED(status) ? "signal" : "exit status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                 runs ? "" : " after it had run");
    add_report(block, text);
}

static enum exit_status run_in_child(struct errand *errand, struct shared *block)
{
    sigset_t before;
    int cleanup = CLEANUP_NONE;
    bool late;
    pid_t parent = getpid();
    fflush(NULL); /* or both would write it */
    cleanup_hold(&before);
    pid_t pid = fork();
    if (pid > 0)
        cleanup = cleanup_add(CLEANUP_PROCESS, pid, "");
    cleanup_release(&before);
    if (pid == 0)
        be_child(errand, block, parent);
    if (pid < 0) {
        fprintf(errand->invocation->err,
                "skirc: cannot start a process: %s; --in-process does without\n", strerror(errno));
        return EXIT_INPUT;
    }
    int status = wait_for(pid, block, &late);
    cleanup_forget(cleanup);
    cleanup_run(pid);
    if (WIFEXITED(status) && atomic_load(&block->done))
        return (enum exit_status)WEXITSTATUS(status);
    if (WIFSIGNALED(status) && !atomic_load(&block->code))
        end_alike(WTERMSIG(status));
    if (atomic_load(&block->size) == 0)
        report_end(block, status, late);
    return atomic_load(&block->code) ? (enum exit_status)atomic_load(&block->failed) : EXIT_INPUT;
}

/* ------------------------------------------------------------------------------ streams ---- */

/* A stream in this process's memory, as golden tests have them, is a file for the child. */
static FILE *stream_for_child(FILE *original)
{
    return fileno(original) < 0 ? tmpfile() : original;
}

static void take_stream_back(FILE *stream, FILE *original)
{
    char bytes[4096];
    size_t size;
    if (!stream || stream == original)
        return;
    rewind(stream);
    while ((size = fread(bytes, 1, sizeof bytes, stream)) > 0)
        fwrite(bytes, 1, size, original);
    fclose(stream);
}

static void take_report(const struct shared *block, FILE *err, struct child_end *end)
{
    uint32_t size = atomic_load(&block->size);
    size = size < sizeof block->report ? size : sizeof block->report;
    size_t kept = size < sizeof end->text ? size : sizeof end->text - 1;
    diag_put_lines(err, block->report, size);
    memcpy(end->text, block->report, kept);
    end->text[kept] = '\0';
    end->answered = atomic_load(&block->answered);
}

enum exit_status child_run(struct invocation *invocation,
                           enum exit_status (*work)(struct invocation *invocation),
                           struct child_end *end)
{
    struct invocation inner = *invocation;
    struct errand errand = {&inner, work, EXIT_DONE};
    enum exit_status status = EXIT_INPUT;
    void *block =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        mem_exhausted();
    inner.out = stream_for_child(invocation->out);
    inner.err = stream_for_child(invocation->err);
    if (inner.out && inner.err)
        status = run_in_child(&errand, block);
    else
        fprintf(invocation->err, "skirc: cannot make a temporary file: %s\n", strerror(errno));
    take_stream_back(inner.out, invocation->out);
    take_stream_back(inner.err, invocation->err);
    take_report(block, invocation->err, end);
    munmap(block, sizeof *shared);
    return status;
}
