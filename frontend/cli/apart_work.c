#define _GNU_SOURCE /* on_exit */
#include "frontend/cli/apart_record.h"
#include "frontend/cli/output.h"
#include "frontend/cli/replaced.h"
#include "ir/base/file.h"
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
static int code_told = -1; /* the pipe's end; -1: there is code of others */
static bool answers;
static unsigned patience = 60;
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

/* Who is not told takes kernels' doings for a defect of this program: there are none, then. */
static void tell_code(void)
{
    ssize_t n;
    while ((n = write(code_told, "", 1)) < 0 && errno == EINTR)
        continue;
    if (n != 1)
        _exit(EXIT_DEFECT);
    close(code_told);
    code_told = -1;
    atomic_store(&record->code, true);
}

void apart_code_runs(const char *what)
{
    if (!record)
        return;
    if (code_told >= 0) {
        lead_group();
        tell_code();
    }
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
        fwrite(text.at, 1, text.size, err);
    text_free(&text);
}

void apart_answered(void)
{
    if (record)
        atomic_store(&record->answered, record_key());
}

void apart_defer(bool deferred)
{
    file_out_defer(deferred && record);
}

/* What is printed then is in a file: kernels have no end of what this process is to print to. */
static enum exit_status print_later(const struct invocation *invocation, const struct text *text)
{
    if (file_print_later(text->at, text->size))
        return EXIT_DONE;
    fprintf(invocation->err, "skirc: cannot make a temporary file: %s\n", strerror(errno));
    return EXIT_INPUT;
}

enum exit_status apart_answer(const struct invocation *invocation, const char *path,
                              const struct text *text)
{
    if (!record)
        return write_output(invocation, path, text);
    apart_defer(true);
    enum exit_status status = strcmp(path, "-") == 0 ? print_later(invocation, text)
                                                     : write_output(invocation, path, text);
    apart_defer(false);
    if (status == EXIT_DONE)
        answers = true;
    else
        apart_drop();
    return status;
}

bool apart_is_apart(void)
{
    return record != NULL;
}

void apart_drop(void)
{
    if (!record)
        return;
    leftovers_drop_deferred();
    answers = false;
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
    const struct ending ending = {status, answers, (unsigned)leftovers_count_deferred()};
    atomic_store(&record->done, record_done(&ending));
    set_deadline(code_told < 0 ? 1 : 0);
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
    struct ending ending;
    if (!record || record_ending(record, &ending) || !skrt_this_core())
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
_Noreturn void apart_work(struct errand *errand, struct record *shared, const struct pipes *pipes,
                          pid_t parent)
{
    close(pipes->code[0]);
    close(pipes->report[0]);
    close(pipes->report[1]);
    code_told = pipes->code[1];
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
