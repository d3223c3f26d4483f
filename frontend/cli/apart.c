#define _GNU_SOURCE /* memmem, pipe2 */
#include "frontend/cli/apart.h"
#include "frontend/cli/apart_record.h"
#include "frontend/cli/output.h"
#include "frontend/cli/replaced.h"
#include "ir/base/file.h"
#include "ir/base/leftovers.h"
#include "ir/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the process between tells, when the work begins and behind it. */
struct report {
    uint64_t key;         /* record_key(): kernels may write to that process's descriptors, too */
    struct attended work; /* the process that works, or its number alone */
    bool ended;
    bool orphans; /* it has made processes that are not its own, or left some */
    int failure;  /* the error number of why there is no such process, or 0 */
};

/* The end of this process is that of the other. */
static _Noreturn void end_alike(int signal_number)
{
    fflush(NULL);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
    _exit(128 + signal_number);
}

/* The work has come to its end, though the process may not have ended as it was to. */
static enum exit_status end_done(struct record *shared, enum exit_status said, int status,
                                 bool code)
{
    bool exited = WIFEXITED(status);
    int number = exited ? WEXITSTATUS(status) : WTERMSIG(status);
    if (exited && number == (int)said)
        return said;
    if (code && atomic_load(&shared->said_size) == 0) {
        record_say(shared, "skirc: what kernels have left behind has ended the process (%s %d)\n",
                   exited ? "exit status" : "signal", number);
        record_say_calls(shared);
    }
    return exited && number ? worse_status(said, (enum exit_status)number) : EXIT_INPUT;
}

static enum exit_status end_of(struct record *shared, const struct attended *work, bool code)
{
    enum exit_status said;
    int status = work->status;
    if (record_ending(shared, &said))
        return end_done(shared, said, status, code);
    if (work->by == BY_ITSELF && WIFSIGNALED(status) &&
        (atomic_load(&shared->outside) == record_key() + (uint64_t)WTERMSIG(status) || !code))
        end_alike(WTERMSIG(status));
    if (!code)
        return (enum exit_status)WEXITSTATUS(status);
    if (atomic_load(&shared->said_size) == 0)
        record_say_end(shared, work);
    else if (atomic_load(&shared->wants_calls))
        record_say_any(shared);
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

static void tell(const struct ways *ways, const struct report *report)
{
    const char *at = (const char *)report;
    for (size_t left = sizeof *report; left > 0;) {
        ssize_t n = write(ways->report[1], at, left);
        if (n < 0 && errno != EINTR)
            _exit(EXIT_INPUT);
        at += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
}

/* Waits for the process of the work, between that and the one of the command: signals that kernels
 * send to their parent, and what they do to it by ptrace, are for this one. */
static _Noreturn void stand_between(struct errand *errand, struct record *shared,
                                    const struct ways *ways, pid_t above)
{
    const struct attendance attendance = {ways->limits, &shared->deadline, .waits_end = true,
                                          .is_this_program = true, .stops_alike = true};
    struct report report = {.key = record_key()};
    int leftover = LEFTOVER_NONE;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != above)
        _exit(EXIT_INPUT);
    leftovers_adopt();
    pid_t parent = getpid();
    report.work.pid = fork_noted(shared, &leftover);
    if (report.work.pid == 0)
        apart_work(errand, shared, ways, parent);
    report.failure = report.work.pid < 0 ? errno : 0;
    tell(ways, &report);
    if (report.work.pid > 0) {
        attend(&report.work, &attendance);
        leftovers_note_end(leftover);
        report.orphans = leftovers_end_adopted(report.work.pid) || report.work.siblings;
    }
    report.ended = true;
    tell(ways, &report);
    if (report.work.pid > 0 && report.work.status != 0)
        kill(above, SIGCONT); /* who traced it has left it stopped */
    _exit(EXIT_DONE);
}

/* The process between has ended before the one of the work, which has ended by that. */
static enum exit_status end_alone(struct record *shared, const struct attended *between, bool code)
{
    bool late = between->by == BY_TIME;
    if (!code && WIFSIGNALED(between->status))
        end_alike(WTERMSIG(between->status));
    if (atomic_load(&shared->said_size) == 0)
        record_say(shared, "skirc: %s%s has ended the process above its own (%s %d)\n",
                   late ? "timeout: " : "", *shared->running ? shared->running : "a sub-kernel",
                   WIFSIGNALED(between->status) ? "signal" : "exit status",
                   WIFSIGNALED(between->status) ? WTERMSIG(between->status)
                                                : WEXITSTATUS(between->status));
    record_say_running(shared);
    return EXIT_INPUT;
}

static enum exit_status no_process(const struct errand *errand, int failure)
{
    fprintf(errand->invocation->err, "skirc: cannot start a process: %s; %s\n", strerror(failure),
            failure == EMFILE ? "the limit of open files (ulimit -n) is too low"
                              : "--in-process does without");
    return EXIT_INPUT;
}

static enum exit_status end_with_orphans(struct record *shared, enum exit_status end)
{
    if (atomic_load(&shared->said_size) == 0) {
        record_say(shared, "skirc: a kernel has left a process behind, which is ended\n");
        record_say_calls(shared);
    }
    return worse_status(end, EXIT_INPUT);
}

/* How the process of the work has ended, of which the one between has told. */
static enum exit_status end_told(struct record *shared, const struct report *report, bool orphans,
                                 bool code, bool damaged)
{
    enum exit_status said, end = end_of(shared, &report->work, code);
    bool done = record_ending(shared, &said);
    if (damaged) {
        record_say(shared, "skirc: a kernel has overwritten memory that its process reports in\n");
        if (done)
            record_say_calls(shared);
        return worse_status(end, EXIT_INPUT);
    }
    return done && orphans ? end_with_orphans(shared, end) : end;
}

/* The last report; all 0 where there is none. Each comes in one piece, and begins at its key,
 * whatever kernels have put before it. */
static struct report read_report(int fd)
{
    const uint64_t key = record_key();
    struct report report = {.ended = false};
    char bytes[1 << 16]; /* as much as a pipe holds */
    const char *end = bytes, *at = bytes;
    ssize_t n;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while ((n = read(fd, bytes + (end - bytes), sizeof bytes - (size_t)(end - bytes))) > 0 ||
           (n < 0 && errno == EINTR))
        end += n > 0 ? n : 0;
    for (; (at = memmem(at, (size_t)(end - at), &key, sizeof key)) != NULL; at++) {
        if ((size_t)(end - at) < sizeof report)
            break;
        memcpy(&report, at, sizeof report);
    }
    return report;
}

/* Whether there was code of others. */
static bool take_suspects(const struct ways *ways)
{
    struct attend_limits limits;
    char suspects[SUSPECTS_SIZE];
    bool code = attend_limits_told(ways->limits, &limits, suspects, sizeof suspects - 1);
    suspects[sizeof suspects - 1] = '\0';
    record_suspect(code ? suspects : "");
    return code;
}

static void close_ways(struct ways *ways)
{
    int *const all[] = {&ways->limits, &ways->report[0], &ways->report[1]};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (*all[i] >= 0)
            close(*all[i]);
        *all[i] = -1;
    }
}

static enum exit_status run_in(struct errand *errand, struct record *shared, struct ways *ways)
{
    const struct attendance attendance = {ways->limits, &shared->deadline, .grace = 5000};
    struct attended between;
    int leftover = LEFTOVER_NONE;
    pid_t parent = getpid();
    between.pid = fork_noted(shared, &leftover);
    if (between.pid == 0)
        stand_between(errand, shared, ways, parent);
    if (between.pid < 0)
        return no_process(errand, errno);
    attend(&between, &attendance);
    leftovers_note_end(leftover);
    struct report report = read_report(ways->report[0]);
    bool orphans = leftovers_end_adopted(report.work.pid) || report.orphans;
    bool code = take_suspects(ways), damaged = record_take_damage(shared);
    close_ways(ways); /* there may be few more */
    enum exit_status end = !report.ended ? end_alone(shared, &between, code)
                           : report.failure
                               ? no_process(errand, report.failure)
                               : end_told(shared, &report, orphans, code, damaged);
    leftovers_clear_of(between.pid);
    leftovers_forget(leftover);
    return end;
}

/* A descriptor that is none of a standard stream: where one of those is closed, what is put in its
 * place later is not this. */
static int above_streams(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return above;
}

static bool open_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    ends[0] = above_streams(ends[0]);
    ends[1] = above_streams(ends[1]);
    if (ends[0] >= 0 && ends[1] >= 0)
        return true;
    int error = errno;
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    errno = error;
    return false;
}

static enum exit_status run_with_ways(struct errand *errand, struct record *shared)
{
    struct ways ways = {.limits = above_streams(attend_limits_open()), .report = {-1, -1}};
    if (ways.limits < 0)
        return no_process(errand, errno);
    enum exit_status status =
        open_pipe(ways.report) ? run_in(errand, shared, &ways) : no_process(errand, errno);
    close_ways(&ways);
    return status;
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
static enum exit_status run_redirected(struct errand *errand, struct apart_end *end)
{
    struct record *shared = map_record();
    record_make_key();
    leftovers_adopt();
    enum exit_status status = run_with_ways(errand, shared);
    record_take_said(shared, errand->invocation->err, end);
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
