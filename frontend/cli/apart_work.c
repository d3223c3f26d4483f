#define _GNU_SOURCE /* on_exit */
#include "frontend/cli/apart_record.h"
#include "frontend/cli/output.h"
#include "frontend/cli/replaced.h"
#include "ir/base/leftovers.h"
#include "ir/base/memory.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Of the process that does the work; handlers of signals have no other way to it. */
static struct record *record;
static pid_t worker;
static int limits_fd = -1; /* where limits are told; -1: there is code of others */
static bool notes_calls;
static unsigned patience = 60; /* seconds; 0: any */

/* Of a wait behind launches, where those have no limit; and of all that this program does there. */
enum { PATIENCE_BEHIND = 10, MINUTES_BESIDE = 30 };

/* The process that works says better what takes too long: it has some seconds more for that. */
enum { MARGIN = 5 };

/* Where there is no process apart: apart_on_leave(). */
static struct {
    void (*leave)(void *context, const char *said, enum exit_status status);
    void *context;
    char said[1 << 14];
    size_t size;
} here;

static char suspects[SUSPECTS_SIZE];
static uint64_t most_launches = 1;

/* --------------------------------------------------------------------------- the work ---- */

void apart_allow(uint64_t seconds)
{
    patience = seconds < UINT_MAX ? (unsigned)seconds : UINT_MAX;
}

void apart_suspect(const char *lines, uint64_t launches)
{
    snprintf(suspects, sizeof suspects, "%s", lines);
    record_suspect(lines);
    most_launches = launches ? launches : 1;
}

/* Milliseconds for so much that takes up to `seconds`. */
static uint64_t time_for(uint64_t count, uint64_t seconds)
{
    return count < UINT64_MAX / 1000 / UINT_MAX ? (count * seconds + MARGIN) * 1000 : 0;
}

static void set_deadline(uint64_t count)
{
    uint64_t time = patience ? time_for(count, patience) : 0;
    atomic_store(&record->deadline, count == 0 ? 0 : time ? attend_clock() + time : ATTEND_NEVER);
}

static unsigned patience_behind(void)
{
    return patience ? patience : PATIENCE_BEHIND;
}

/* What kernels have sent to come later, as timers do, is not to run their handlers on this thread
 * while it does this program's work. What a thread brings upon itself is delivered all the same. */
static void keep_signals_back(bool back)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL, SIGABRT,
                              SIGTRAP, SIGSYS, SIGPIPE, SIGXFSZ};
    static sigset_t before;
    static bool kept;
    sigset_t all;
    if (kept == back)
        return;
    kept = back;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&all, own[i]);
    pthread_sigmask(back ? SIG_BLOCK : SIG_SETMASK, back ? &all : &before, back ? &before : NULL);
}

/* Who signals his group is to meet this process alone. A terminal, of which another group has the
 * use, does not stop it: nobody would have it go on. */
static void lead_group(void)
{
    signal(SIGTTIN, SIG_IGN);
    signal(SIGTTOU, SIG_IGN);
    setpgid(0, 0);
}

/* Who is not told takes kernels' doings for those of this program: there are none, then. */
static void tell_code(void)
{
    const struct attend_limits limits = {.running =
                                             patience ? time_for(most_launches, patience) : 0,
                                         .beside = time_for(MINUTES_BESIDE, 60),
                                         .wait = time_for(1, patience_behind())};
    if (!attend_limits_tell(limits_fd, &limits, suspects, strlen(suspects))) {
        record_say(record, "skirc: cannot note that kernels begin: %s\n", strerror(errno));
        _exit(EXIT_INPUT);
    }
    close(limits_fd);
    limits_fd = -1;
    atomic_store(&record->code, true);
}

void apart_code_runs(const char *what)
{
    if (!record)
        return;
    if (limits_fd >= 0) {
        lead_group();
        tell_code();
    }
    snprintf(record->running, sizeof record->running, "%s", what ? what : "");
    set_deadline(what ? 1 : 0);
    keep_signals_back(!what);
}

void apart_launches_run(uint32_t count, const char *first)
{
    if (!record)
        return;
    set_deadline(count);
    if (count > 0)
        atomic_store(&record->noted, notes_calls);
    if (count == 1)
        snprintf(record->launch, sizeof record->launch, "%s", first);
    else if (count > 1)
        snprintf(record->launch, sizeof record->launch, "%.100s, or %u beside it", first,
                 count - 1);
    keep_signals_back(count == 0);
}

void apart_note_calls(bool noted)
{
    if (!record)
        return;
    skrt_keep_notes(noted ? record->notes : NULL);
    notes_calls = noted;
}

void apart_say(const char *text)
{
    if (record)
        record_add(record, text, strlen(text));
    else
        (void)!write(STDERR_FILENO, text, strlen(text));
}

void apart_say_calls(bool wanted)
{
    if (record)
        atomic_store(&record->wants_calls, wanted);
}

static void tell_here(FILE *err, const char *at, size_t size)
{
    size_t room = sizeof here.said - 1 - here.size, kept = size < room ? size : room;
    fwrite(at, 1, size, err);
    memcpy(here.said + here.size, at, kept);
    here.size += kept;
}

void apart_on_leave(void (*leave)(void *context, const char *said, enum exit_status status),
                    void *context)
{
    here.leave = leave;
    here.context = context;
}

void apart_say_suspects(FILE *err)
{
    if (record)
        record_add(record, suspects, strlen(suspects));
    else
        tell_here(err, suspects, strlen(suspects));
}

void apart_tell(FILE *err, const char *format, ...)
{
    struct text text = {NULL, 0, 0};
    va_list args;
    va_start(args, format);
    text_vprintf(&text, format, args);
    va_end(args);
    if (record)
        record_add(record, text.at, text.size);
    else
        tell_here(err, text.at, text.size);
    text_free(&text);
}

void apart_answered(void)
{
    if (record)
        atomic_store(&record->answered, record_key());
}

bool apart_is_apart(void)
{
    return record != NULL;
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
        atomic_store(&record->outside, record_key() + (uint64_t)signal_number);
}

static void finish(enum exit_status status)
{
    if (!record)
        return;
    atomic_store(&record->done, record_done(status));
    if (limits_fd < 0)
        atomic_store(&record->deadline, attend_clock() + time_for(1, patience_behind()));
}

_Noreturn void apart_leave(enum exit_status status)
{
    enum { EXIT_TIME = 1000 }; /* milliseconds: kernels may have forbidden the call */
    if (!record && here.leave)
        here.leave(here.context, here.said, status);
    if (!record)
        leftovers_clear(); /* nobody else does */
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
    enum exit_status said;
    if (!record || record_ending(record, &said) || !skrt_this_core())
        return;
    apart_say("skirc: a sub-kernel has called exit\n");
    if (skrt_crash_text(call, sizeof call) > 0)
        apart_say(call);
    _exit(EXIT_INPUT);
}

static void run_errand(void *user)
{
    struct errand *errand = user;
    errand->status = errand->work(errand->invocation);
}

/* What the parent holds is not this process's to release: it has a scope of its own. */
_Noreturn void apart_work(struct errand *errand, struct record *shared, const struct ways *ways,
                          pid_t parent)
{
    close(ways->report[0]);
    close(ways->report[1]);
    limits_fd = ways->limits;
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
    fflush(err);
    finish(status);
    exit(status);
}
