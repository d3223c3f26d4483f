#define _GNU_SOURCE /* on_exit */
#include "frontend/cli/apart.h"
#include "backend/runtime/skrt.h"
#include "frontend/cli/attend.h"
#include "frontend/cli/output.h"
#include "frontend/cli/replaced.h"
#include "ir/base/file.h"
#include "ir/base/leftovers.h"
#include "ir/base/memory.h"
#include "ir/base/text.h"

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
    int deferred;              /* so many files get their names by who waits for the process */
    atomic_bool code;          /* there is code of others */
    atomic_bool answered;      /* apart_answered */
    atomic_bool answers;       /* apart_answer: it is answered where all ends well */
    atomic_bool wants_calls;   /* apart_say_calls */
    atomic_int outside;        /* the signal from outside that ends the process, or 0 */
    _Atomic uint64_t deadline; /* what runs is to have ended by then, on attend_clock(); 0: none */
    _Atomic uint64_t quiet;    /* beside that, milliseconds that it may wait for a lock; 0: any */
    struct attended work;      /* the process that works; its end is known when */
    _Atomic uint64_t ended;    /* ... this is the key */
    bool orphans;              /* it has made processes that are not its own, or left some */
    int failure;               /* the error number of why there is no such process, or 0 */
    char running[256];         /* code that runs beside launches; "": none does */
    struct skrt_note notes[SKRT_NOTES];
    _Atomic uint32_t said_size; /* it may be more than there is room for */
    char said[1 << 16];         /* of the end of the process, in lines */
};

/* Of the process that does the work; handlers of signals have no other way to it. */
static struct record *record;
static pid_t worker;
static unsigned patience = 60;
/* What `done` and `ended` become: no memory that is overwritten has it by accident. */
static uint64_t key;

/* --------------------------------------------------------------------------- the work ---- */

void apart_allow(uint64_t seconds)
{
    patience = seconds < UINT_MAX ? (unsigned)seconds : UINT_MAX;
}

/* The process that works says better what takes too long: it has some seconds more for that. */
static void set_deadline(uint64_t count)
{
    enum { MARGIN = 5 };
    bool none = count == 0 || patience == 0;
    atomic_store(&record->quiet, patience ? ((uint64_t)patience + MARGIN) * 1000 : 0);
    atomic_store(&record->deadline, none ? 0 : attend_clock() + (count * patience + MARGIN) * 1000);
}

/* Who signals his group is to meet this process alone. A terminal, of which another group has the
 * use, does not stop it: nobody would have it go on. */
static void lead_group(void)
{
    signal(SIGTTIN, SIG_IGN);
    signal(SIGTTOU, SIG_IGN);
    setpgid(0, 0);
}

void apart_code_runs(const char *what)
{
    if (!record)
        return;
    if (!atomic_exchange(&record->code, true))
        lead_group();
    snprintf(record->running, sizeof record->running, "%s", what ? what : "");
    set_deadline(what ? 1 : 0);
    signal(SIGALRM, SIG_DFL);
    alarm(what ? patience : 0);
}

void apart_launches_run(uint32_t count)
{
    if (record)
        set_deadline(count);
}

void apart_note_calls(bool noted)
{
    if (record)
        skrt_keep_notes(noted ? record->notes : NULL);
}

/* Both processes may; each has its part of the room. */
static void add_said(struct record *shared, const char *text, size_t size)
{
    uint32_t at = atomic_fetch_add(&shared->said_size, (uint32_t)size);
    if (at < sizeof shared->said && size <= sizeof shared->said - at)
        memcpy(shared->said + at, text, size);
}

void apart_say(const char *text)
{
    if (record)
        add_said(record, text, strlen(text));
    else
        (void)!write(STDERR_FILENO, text, strlen(text));
}

void apart_say_calls(bool wanted)
{
    if (record)
        atomic_store(&record->wants_calls, wanted);
}

void apart_tell(FILE *err, const char *format, ...)
{
    struct text text = {NULL, 0, 0};
    va_list args;
    va_start(args, format);
    text_vprintf(&text, format, args);
    va_end(args);
    if (record)
        add_said(record, text.at, text.size);
    else
        fwrite(text.at, 1, text.size, err);
    text_free(&text);
}

void apart_answered(void)
{
    if (record)
        atomic_store(&record->answered, true);
}

void apart_defer(bool deferred)
{
    file_out_defer(deferred && record);
}

enum exit_status apart_answer(const struct invocation *invocation, const char *path,
                              const struct text *text)
{
    if (!record)
        return write_output(invocation, path, text);
    apart_defer(true);
    bool later = strcmp(path, "-") == 0 && file_print_later(text->at, text->size);
    enum exit_status status = later ? EXIT_DONE : write_output(invocation, path, text);
    apart_defer(false);
    if (status == EXIT_DONE)
        atomic_store(&record->answers, true);
    else
        apart_drop();
    return status;
}

void apart_drop(void)
{
    if (!record)
        return;
    leftovers_drop_deferred();
    atomic_store(&record->answers, false);
}

/* One that is in a group cannot end the others of it. */
void apart_end_processes(void)
{
    bool leads = record && getpgrp() == worker && setpgid(0, getpgid(getppid())) == 0;
    if (leads)
        kill(-worker, SIGKILL);
    leftovers_end_adopted(0);
    if (leads)
        setpgid(0, 0);
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
    record->deferred = leftovers_count_deferred();
    atomic_store(&record->done, key);
    set_deadline(record->code ? 1 : 0);
}

_Noreturn void apart_leave(enum exit_status status)
{
    enum { EXIT_TIME = 1000 }; /* milliseconds: kernels may have forbidden the call */
    finish(status);
    if (record)
        atomic_store(&record->deadline, attend_clock() + EXIT_TIME);
    _exit(status);
}

/* Sub-kernels that call exit() come here, on the thread of their core. A process that one has
 * forked may do so: what this one would do at its end is not its to do. */
static void on_exit_called(int status, void *unused)
{
    (void)unused;
    char call[SKRT_NOTE_SIZE];
    if (getpid() != worker)
        _exit(status);
    if (!record || atomic_load(&record->done) == key || !skrt_this_core())
        return;
    apart_say("skirc: a sub-kernel has called exit\n");
    if (skrt_crash_text(call, sizeof call) > 0)
        apart_say(call);
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
    replaced_redirect(errand->invocation->out, STDOUT_FILENO);
    replaced_redirect(errand->invocation->err, STDERR_FILENO);
    struct mem_scope scope = {.blocks = NULL};
    FILE *out = errand->invocation->out, *err = errand->invocation->err;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_INPUT);
    leftovers_adopt();
    record = shared;
    worker = getpid();
    on_exit(on_exit_called, NULL);
    if (!mem_scope_run(&scope, run_errand, errand))
        errand->status = out_of_memory(err);
    enum exit_status status = output_end(out, err, errand->status);
    if (status != errand->status)
        apart_drop();
    fflush(err);
    finish(status);
    exit(status);
}

/* ----------------------------------------------------------------------------- reports ---- */

static void say(struct record *shared, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct record *shared, const char *format, ...)
{
    char text[SKRT_NOTE_SIZE + 256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    add_said(shared, text, strlen(text));
}

/* Whether a core was in a call. */
static bool has_running(const struct record *shared)
{
    for (uint32_t i = 0; i < SKRT_NOTES; i++)
        if (shared->notes[i].running)
            return true;
    return false;
}

/* Who said something may have been cut off. */
static void end_line(struct record *shared)
{
    uint32_t size = atomic_load(&shared->said_size);
    if (size > 0 && size <= sizeof shared->said && shared->said[size - 1] != '\n')
        add_said(shared, "\n", 1);
}

/* The calls that cores were in, or where none is running those that they were in last: the first
 * ones. */
static void say_notes(struct record *shared, bool running)
{
    enum { SHOWN = 4 };
    unsigned count = 0;
    end_line(shared);
    for (uint32_t i = 0; i < SKRT_NOTES; i++)
        if ((running ? shared->notes[i].running != 0 : *shared->notes[i].text != '\0') &&
            count++ < SHOWN)
            say(shared, "%.*s", SKRT_NOTE_SIZE, shared->notes[i].text);
    if (count > SHOWN)
        say(shared, "and %u cores more were in calls\n", count - SHOWN);
}

static void say_running(struct record *shared)
{
    say_notes(shared, true);
}

/* What ran before it showed, where that was noted. */
static void say_calls(struct record *shared)
{
    bool any = false;
    for (uint32_t i = 0; i < SKRT_NOTES && !any; i++)
        any = *shared->notes[i].text != '\0';
    if (!any)
        return;
    say(shared, "calls that cores were in last:\n");
    say_notes(shared, false);
}

/* Nobody runs, and still the process does not go on. */
static void say_quiet(struct record *shared)
{
    say(shared,
        "skirc: timeout: behind the launches the process of the kernels waits for a lock or "
        "a thread that one of them has taken or damaged\n");
    say_calls(shared);
}

static void say_end(struct record *shared, int status, enum ended_by by)
{
    const char *who = *shared->running ? shared->running : "a sub-kernel";
    const char *how = WIFSIGNALED(status) ? "signal" : "exit status";
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    bool endless = by == BY_TIME || (WIFSIGNALED(status) && number == SIGALRM);
    if (by == BY_TIME && atomic_load(&shared->deadline) == 0) {
        say_quiet(shared);
        return;
    }
    if (by == BY_PROGRAM)
        say(shared,
            "skirc: %s has started another program in the place of its process (exec), which is "
            "ended\n",
            who);
    else if (*shared->running && endless)
        say(shared, "skirc: %s does not return\n", who);
    else if (by == BY_TIME)
        say(shared, "skirc: timeout: %s does not return\n", who);
    else if (*shared->running || has_running(shared))
        say(shared, "skirc: %s has ended its process (%s %d)\n", who, how, number);
    else
        say(shared,
            "skirc: the process of the kernels ended outside of their calls (%s %d): one has "
            "damaged what is not its own, or left a thread behind\n",
            how, number);
    if (*shared->running || has_running(shared))
        say_running(shared);
    else
        say_calls(shared);
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
static enum exit_status end_done(struct record *shared, int status)
{
    bool exited = WIFEXITED(status);
    int number = exited ? WEXITSTATUS(status) : WTERMSIG(status);
    if (exited && number == (int)shared->status)
        return shared->status;
    if (shared->code && atomic_load(&shared->said_size) == 0) {
        say(shared, "skirc: what kernels have left behind has ended the process (%s %d)\n",
            exited ? "exit status" : "signal", number);
        say_calls(shared);
    }
    return exited ? worse_status(shared->status, (enum exit_status)number) : EXIT_INPUT;
}

static enum exit_status end_of(struct record *shared, int status, enum ended_by by)
{
    int outside = atomic_load(&shared->outside);
    if (atomic_load(&shared->done) == key)
        return end_done(shared, status);
    if (by == BY_ITSELF && WIFSIGNALED(status) && (outside == WTERMSIG(status) || !shared->code))
        end_alike(WTERMSIG(status));
    if (!shared->code)
        return (enum exit_status)WEXITSTATUS(status);
    if (atomic_load(&shared->said_size) == 0)
        say_end(shared, status, by);
    else if (atomic_load(&shared->wants_calls))
        say_running(shared);
    return EXIT_INPUT;
}

static pid_t fork_noted(struct record *shared, int *leftover)
{
    sigset_t before;
    fflush(NULL); /* or both would write it */
    leftovers_hold(&before);
    pid_t pid = fork();
    if (pid > 0)
        *leftover = leftovers_note_process(pid, &shared->code);
    leftovers_release(&before);
    return pid;
}

/* Waits for the process of the work, between that and the one of the command: signals that kernels
 * send to their parent, and what they do to it by ptrace, are for this one. */
static _Noreturn void stand_between(struct errand *errand, struct record *shared, pid_t parent)
{
    const struct attendance attendance = {&shared->code, &shared->deadline, .quiet = &shared->quiet,
                                          .is_this_program = true, .stops_alike = true};
    struct attended work;
    int leftover;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_INPUT);
    leftovers_adopt();
    parent = getpid();
    work.pid = fork_noted(shared, &leftover);
    if (work.pid == 0)
        do_work(errand, shared, parent);
    shared->failure = work.pid < 0 ? errno : 0;
    shared->work.pid = work.pid;
    if (work.pid > 0) {
        attend(&work, &attendance);
        leftovers_note_end(leftover);
        shared->orphans = leftovers_end_adopted(work.pid) || work.siblings;
        shared->work = work;
    }
    atomic_store(&shared->ended, key);
    _exit(EXIT_DONE);
}

/* The process between has ended before the one of the work, which has ended by that. */
static enum exit_status end_alone(struct record *shared, const struct attended *between)
{
    bool late = between->by == BY_TIME;
    if (!shared->code && WIFSIGNALED(between->status))
        end_alike(WTERMSIG(between->status));
    if (atomic_load(&shared->said_size) == 0)
        say(shared, "skirc: %s%s has ended the process above its own (%s %d)\n",
            late ? "timeout: " : "", *shared->running ? shared->running : "a sub-kernel",
            WIFSIGNALED(between->status) ? "signal" : "exit status",
            WIFSIGNALED(between->status) ? WTERMSIG(between->status)
                                         : WEXITSTATUS(between->status));
    say_running(shared);
    return EXIT_INPUT;
}

static enum exit_status no_process(const struct errand *errand, int failure)
{
    fprintf(errand->invocation->err,
            "skirc: cannot start a process: %s; --in-process does without\n", strerror(failure));
    return EXIT_INPUT;
}

static enum exit_status end_with_orphans(struct record *shared, enum exit_status end)
{
    if (atomic_load(&shared->said_size) == 0) {
        say(shared, "skirc: a kernel has left a process behind, which is ended\n");
        say_calls(shared);
    }
    return worse_status(end, EXIT_INPUT);
}

static bool print_bytes(void *out, const void *data, size_t size)
{
    return fwrite(data, 1, size, out) == size && fflush(out) == 0;
}

/* What the work has written counts: it has ended as it says. */
static enum exit_status settle(const struct errand *errand, struct record *shared,
                               struct apart_end *result, enum exit_status end)
{
    char error[512];
    if (file_settle(shared->work.pid, shared->deferred, print_bytes, errand->invocation->out,
                    result->unwritten, sizeof result->unwritten, error, sizeof error)) {
        if (shared->answers)
            shared->answered = true;
        return end;
    }
    say(shared, "skirc: %s\n", error);
    return worse_status(end, EXIT_INPUT);
}

static enum exit_status run_in(struct errand *errand, struct record *shared,
                               struct apart_end *result)
{
    const struct attendance attendance = {&shared->code, &shared->deadline, .grace = 5000};
    struct attended between;
    int leftover;
    pid_t parent = getpid();
    between.pid = fork_noted(shared, &leftover);
    if (between.pid == 0)
        stand_between(errand, shared, parent);
    if (between.pid < 0)
        return no_process(errand, errno);
    attend(&between, &attendance);
    leftovers_note_end(leftover);
    bool orphans = leftovers_end_adopted(shared->work.pid);
    enum exit_status end = atomic_load(&shared->ended) != key ? end_alone(shared, &between)
                           : shared->failure                  ? no_process(errand, shared->failure)
                                             : end_of(shared, shared->work.status, shared->work.by);
    if (atomic_load(&shared->done) == key && (orphans || shared->orphans))
        end = end_with_orphans(shared, end);
    if (atomic_load(&shared->done) == key && end == shared->status && !orphans && !shared->orphans)
        end = settle(errand, shared, result, end);
    leftovers_clear_of(between.pid);
    leftovers_forget(leftover);
    return end;
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

/* What was said goes to `err`, and its first lines into `end`. */
static void take_said(const struct record *shared, FILE *err, struct apart_end *end)
{
    uint32_t count = atomic_load(&shared->said_size);
    size_t size = count < sizeof shared->said ? count : sizeof shared->said;
    size_t kept = size < sizeof end->text ? size : sizeof end->text - 1;
    diag_put_lines(err, shared->said, size);
    memcpy(end->text, shared->said, kept);
    end->text[kept] = '\0';
    end->answered = atomic_load(&shared->answered);
}

/* `errand` has the streams as the other process is to have them. */
static enum exit_status run_redirected(struct errand *errand, struct apart_end *end)
{
    struct record *shared = map_record();
    key = make_key();
    leftovers_adopt();
    enum exit_status status = run_in(errand, shared, end);
    take_said(shared, errand->invocation->err, end);
    munmap(shared, sizeof *shared);
    return status;
}

enum exit_status apart_run(struct invocation *invocation,
                           enum exit_status (*work)(struct invocation *invocation),
                           struct apart_end *end)
{
    struct invocation inner = *invocation;
    struct errand errand = {&inner, work, EXIT_DONE};
    struct replaced out, err;
    enum exit_status status = EXIT_INPUT;
    bool has_out = replaced_begin(&out, invocation->out);
    *end = (struct apart_end){.answered = false};
    if (replaced_begin(&err, invocation->err) && has_out) {
        inner.out = out.file;
        inner.err = err.file;
        status = run_redirected(&errand, end);
    } else {
        fprintf(invocation->err, "skirc: cannot make a temporary file: %s\n", strerror(errno));
    }
    replaced_end(&out);
    replaced_end(&err);
    return status;
}
