#include "frontend/cli/apart.h"
#include "backend/runtime/skrt.h"
#include "frontend/cli/output.h"
#include "ir/base/leftovers.h"
#include "ir/base/memory.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What both processes see. */
struct record {
    _Atomic uint64_t done; /* the key: the work has come to its end, with `status` */
    enum exit_status status;
    atomic_bool code;     /* there is code of others */
    atomic_bool reported; /* that it has ended the process */
    atomic_int outside;   /* the signal from outside that ends the process, or 0 */
    char running[256];    /* code that runs beside launches; "": none does */
    struct skrt_note notes[SKRT_NOTES];
};

/* Of the process that does the work; handlers of signals have no other way to it. */
static struct record *record;
static unsigned patience = 60;
/* What `done` becomes: no memory that is overwritten has it by accident. */
static uint64_t key;

/* ----------------------------------------------------------------------------- streams ---- */

/* A stream that is in this process's memory is one in a file there. */
struct replaced {
    FILE *original, *file;
};

/* False, with errno set, where there can be no file. */
static bool replace_stream(struct replaced *replaced, FILE *original)
{
    *replaced = (struct replaced){original, original};
    if (fileno(original) < 0)
        replaced->file = tmpfile();
    return replaced->file != NULL;
}

/* What others print there is part of it. */
static void redirect(FILE *stream, int fd)
{
    if (fileno(stream) != fd)
        dup2(fileno(stream), fd);
}

static void restore_stream(struct replaced *replaced)
{
    char bytes[4096];
    size_t size;
    if (!replaced->file || replaced->file == replaced->original)
        return;
    rewind(replaced->file);
    while ((size = fread(bytes, 1, sizeof bytes, replaced->file)) > 0)
        fwrite(bytes, 1, size, replaced->original);
    fclose(replaced->file);
}

/* --------------------------------------------------------------------------- the work ---- */

void apart_allow(uint64_t seconds)
{
    patience = seconds < UINT_MAX ? (unsigned)seconds : UINT_MAX;
}

void apart_code_runs(const char *what)
{
    if (!record)
        return;
    atomic_store(&record->code, true);
    snprintf(record->running, sizeof record->running, "%s", what ? what : "");
    signal(SIGALRM, SIG_DFL);
    alarm(what ? patience : 0);
}

void apart_note_calls(bool noted)
{
    if (record)
        skrt_keep_notes(noted ? record->notes : NULL);
}

void apart_reported(void)
{
    if (record)
        atomic_store(&record->reported, true);
}

void apart_ended_from_outside(int signal_number)
{
    if (record)
        atomic_store(&record->outside, signal_number);
}

static void finish(enum exit_status status)
{
    if (!record)
        return;
    record->status = status;
    atomic_store(&record->done, key);
}

_Noreturn void apart_leave(enum exit_status status)
{
    finish(status);
    _exit(status);
}

/* Sub-kernels that call exit() come here, on the thread of their core. */
static void on_exit_called(void)
{
    static const char text[] = "skirc: a sub-kernel has called exit\n";
    if (!record || atomic_load(&record->done) == key || !skrt_this_core())
        return;
    if (write(STDERR_FILENO, text, sizeof text - 1) == (ssize_t)sizeof text - 1)
        apart_reported();
    skrt_report_crash(STDERR_FILENO);
    _exit(EXIT_INPUT);
}

struct errand {
    struct invocation *invocation;
    enum exit_status (*work)(struct invocation *invocation);
    enum exit_status status;
};

static void run_errand(void *user)
{
    struct errand *errand = user;
    errand->status = errand->work(errand->invocation);
}

/* It ends by exit, so that tools that watch the process (leaks, coverage) get their turn. What the
 * parent holds is not this process's to release: it has a scope of its own. */
static _Noreturn void do_work(struct errand *errand, struct record *shared, pid_t parent)
{
    redirect(errand->invocation->out, STDOUT_FILENO);
    redirect(errand->invocation->err, STDERR_FILENO);
    struct mem_scope scope = {.blocks = NULL};
    FILE *out = errand->invocation->out, *err = errand->invocation->err;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_INPUT);
    leftovers_adopt();
    record = shared;
    atexit(on_exit_called);
    if (!mem_scope_run(&scope, run_errand, errand))
        errand->status = out_of_memory(err);
    enum exit_status status = output_end(out, err, errand->status);
    fflush(err);
    finish(status);
    exit(status);
}

/* ----------------------------------------------------------------------------- reports ---- */

/* Whether a core was in a call. */
static bool has_running(const struct record *shared)
{
    for (uint32_t i = 0; i < SKRT_NOTES; i++)
        if (shared->notes[i].running)
            return true;
    return false;
}

/* The calls that cores were in, the first ones. */
static void report_running(const struct record *shared, FILE *err)
{
    enum { SHOWN = 4 };
    unsigned count = 0;
    for (uint32_t i = 0; i < SKRT_NOTES; i++)
        if (shared->notes[i].running && count++ < SHOWN)
            fprintf(err, "%.*s", SKRT_NOTE_SIZE, shared->notes[i].text);
    if (count > SHOWN)
        fprintf(err, "and %u cores more were in calls\n", count - SHOWN);
}

static void report_end(const struct record *shared, int status, FILE *err)
{
    bool endless = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    const char *how = WIFSIGNALED(status) ? "signal" : "exit status";
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    if (*shared->running && endless)
        fprintf(err, "skirc: %s does not return\n", shared->running);
    else if (*shared->running)
        fprintf(err, "skirc: %s has ended its process (%s %d)\n", shared->running, how, number);
    else if (has_running(shared))
        fprintf(err, "skirc: a sub-kernel has ended its process (%s %d)\n", how, number);
    else
        fprintf(err,
                "skirc: the process of the kernels ended outside of their calls (%s %d): one has "
                "damaged what is not its own, or left a thread behind\n",
                how, number);
    report_running(shared, err);
}

/* ---------------------------------------------------------------------------- the wait ---- */

/* The end of this process is that of the other. */
static _Noreturn void end_alike(int signal_number)
{
    fflush(NULL);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
    _exit(128 + signal_number);
}

/* The work has come to its end, though the process may not have ended as it was to. */
static enum exit_status end_done(const struct record *shared, int status, FILE *err)
{
    if (WIFEXITED(status))
        return worse_status(shared->status, (enum exit_status)WEXITSTATUS(status));
    fprintf(err, "skirc: what kernels have left behind has ended the process (signal %d)\n",
            WTERMSIG(status));
    return EXIT_INPUT;
}

static enum exit_status end_of(const struct record *shared, int status, FILE *err)
{
    int outside = atomic_load(&shared->outside);
    if (atomic_load(&shared->done) == key)
        return end_done(shared, status, err);
    if (WIFSIGNALED(status) && (outside == WTERMSIG(status) || !shared->code))
        end_alike(WTERMSIG(status));
    if (!shared->code)
        return (enum exit_status)WEXITSTATUS(status);
    if (!shared->reported)
        report_end(shared, status, err);
    return EXIT_INPUT;
}

/* One that stops itself goes on; who stops both has stopped this one, too. */
static int wait_for(pid_t pid)
{
    int status = 0;
    for (;;) {
        pid_t waited = waitpid(pid, &status, WUNTRACED);
        if (waited == pid && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP)
            kill(pid, SIGCONT);
        else if ((waited == pid && !WIFSTOPPED(status)) || (waited < 0 && errno != EINTR))
            return status;
    }
}

static pid_t fork_noted(int *leftover)
{
    sigset_t before;
    fflush(NULL); /* or both would write it */
    leftovers_hold(&before);
    pid_t pid = fork();
    if (pid > 0)
        *leftover = leftovers_note_process(pid);
    leftovers_release(&before);
    return pid;
}

static enum exit_status run_in(struct errand *errand, struct record *shared)
{
    FILE *err = errand->invocation->err;
    int leftover;
    pid_t parent = getpid(), pid = fork_noted(&leftover);
    if (pid == 0)
        do_work(errand, shared, parent);
    if (pid < 0) {
        fprintf(err, "skirc: cannot start a process: %s; --in-process does without\n",
                strerror(errno));
        return EXIT_INPUT;
    }
    int status = wait_for(pid);
    leftovers_forget(leftover);
    leftovers_clear_of(pid);
    bool orphans = leftovers_end_adopted();
    enum exit_status end = end_of(shared, status, err);
    if (!orphans || end != EXIT_DONE)
        return end;
    fputs("skirc: a kernel has left a process behind, which is ended\n", err);
    return EXIT_INPUT;
}

static uint64_t make_key(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    uint64_t number = (uint64_t)time.tv_nsec << 32 ^ (uint64_t)time.tv_sec ^ (uint64_t)getpid();
    return (number * 0x9e3779b97f4a7c15) | 1;
}

static struct record *map_record(void)
{
    void *mapped = mmap(NULL, sizeof(struct record), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED || !leftovers_share())
        mem_exhausted();
    return mapped;
}

/* `errand` has the streams as the other process is to have them. */
static enum exit_status run_redirected(struct errand *errand)
{
    struct record *shared = map_record();
    key = make_key();
    leftovers_adopt();
    enum exit_status status = run_in(errand, shared);
    munmap(shared, sizeof *shared);
    return status;
}

enum exit_status apart_run(struct invocation *invocation,
                           enum exit_status (*work)(struct invocation *invocation))
{
    struct invocation inner = *invocation;
    struct errand errand = {&inner, work, EXIT_DONE};
    struct replaced out, err;
    enum exit_status status = EXIT_INPUT;
    bool has_out = replace_stream(&out, invocation->out);
    if (replace_stream(&err, invocation->err) && has_out) {
        inner.out = out.file;
        inner.err = err.file;
        status = run_redirected(&errand);
    } else {
        fprintf(invocation->err, "skirc: cannot make a temporary file: %s\n", strerror(errno));
    }
    restore_stream(&out);
    restore_stream(&err);
    return status;
}
