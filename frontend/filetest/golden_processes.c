/* A test runs in a forked process, which leads a process group. Its standard output and error go to
 * a temporary file. When the test is done, the process replaces the file's contents by its report
 * and exits with VERDICT plus its verdict; any other end is a failure, and the file holds what the
 * process printed. An alarm bounds its time. */
#include "frontend/filetest/golden_processes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum {
    VERDICT = 64,     /* an exit status that no command has */
    GRACE = 2,        /* seconds to end after SIGTERM */
    MAX_NOISE = 8000, /* bytes of a failed process's output that are shown */
};

/* -------------------------------------------------------------------------------- a test ---- */

/* The verdict of what is in the file now. Puts into `blessed` the text of a file that expects what
 * its commands did; nothing where that cannot be accepted, or would change nothing. */
static enum golden_verdict test_file(const struct cli *cli, const char *path, struct text *report,
                                     struct text *blessed)
{
    enum golden_verdict verdict = GOLDEN_FAILED;
    struct golden golden;
    struct file_bytes bytes;
    char error[512];
    report->size = blessed->size = 0;
    if (!file_read_regular(path, &bytes, error, sizeof error)) {
        text_printf(report, "  %s\n", error);
        return GOLDEN_FAILED;
    }
    if (!golden_parse(&golden, path, (struct part){bytes.data, bytes.size}, error, sizeof error)) {
        text_printf(report, "  %s\n", error);
    } else {
        struct golden_outcome *outcomes = mem_calloc(golden.commands.count, sizeof *outcomes);
        bool acceptable = true;
        for (uint32_t i = 0; i < golden.commands.count; i++) {
            golden_run(&golden, i, cli, &outcomes[i]);
            acceptable &= golden_is_acceptable(&outcomes[i]);
        }
        bool passed = golden_compare(&golden, outcomes, report);
        if (passed && golden.fails) { /* its third line goes */
            const char *begin = golden.lines.at[2].text.text, *end = bytes.data + bytes.size;
            text_printf(report, "  it passes, though it is said to fail: %s\n", golden.fails);
            text_bytes(blessed, bytes.data, (size_t)(begin - bytes.data));
            begin += golden.lines.at[2].text.size;
            begin += begin < end;
            text_bytes(blessed, begin, (size_t)(end - begin));
        } else if (passed) {
            verdict = GOLDEN_PASSED;
        } else if (golden.fails) { /* not blessed: it would be expected to do what it should not */
            verdict = GOLDEN_KNOWN;
        } else if (acceptable) {
            golden_bless(&golden, outcomes, blessed);
        }
        for (uint32_t i = 0; i < golden.commands.count; i++)
            golden_outcome_free(&outcomes[i]);
        mem_free(outcomes);
    }
    if (blessed->size == bytes.size && memcmp(blessed->at, bytes.data, bytes.size) == 0)
        blessed->size = 0;
    golden_free(&golden);
    file_bytes_free(&bytes);
    return verdict;
}

static bool write_file(const char *path, const char *data, size_t size, struct text *report)
{
    char error[512];
    struct stat st;
    if (stat(path, &st) == 0 && !(st.st_mode & 0222)) { /* its folder would let it be replaced */
        text_printf(report, "  cannot write '%s': it is read-only\n", path);
        return false;
    }
    file_release_input(path); /* it is rewritten in place */
    if (file_write(path, data, size, error, sizeof error))
        return true;
    text_printf(report, "  %s\n", error);
    return false;
}

enum golden_verdict golden_test_file(const struct cli *cli, const char *path, bool bless,
                                     struct text *report)
{
    /* What a test prints may hold its own comments, so it can take several rounds to pass. */
    enum { ROUNDS = 4 };
    struct text blessed = {NULL, 0, 0}, scratch = {NULL, 0, 0};
    struct file_bytes old = {NULL, 0};
    char error[512];
    enum golden_verdict verdict = test_file(cli, path, report, &blessed);
    if (verdict == GOLDEN_FAILED && !bless && blessed.size)
        text_printf(report, "  run 'skirc test --bless %s' to accept\n", path);
    if (verdict == GOLDEN_FAILED && bless && file_read_regular(path, &old, error, sizeof error)) {
        bool changes = blessed.size > 0;
        for (int round = 0; round < ROUNDS && verdict == GOLDEN_FAILED && blessed.size; round++) {
            if (!write_file(path, blessed.at, blessed.size, &scratch))
                break;
            verdict = test_file(cli, path, &scratch, &blessed);
        }
        if (verdict == GOLDEN_PASSED)
            verdict = GOLDEN_BLESSED;
        else if (!changes || write_file(path, old.data, old.size, report))
            text_string(report, "  this cannot be accepted, so the file stays as it is; change "
                                "lines with regular expressions, 'not:' and lines without a "
                                "similar one by hand\n");
    }
    file_bytes_free(&old);
    text_free(&scratch);
    text_free(&blessed);
    return verdict;
}

/* --------------------------------------------------------------------------- the process ---- */

/* SIGTERM lets the process remove its temporary files; a second alarm kills it. */
static void end_late(int signal_number)
{
    signal(signal_number, SIG_DFL);
    alarm(GRACE);
    raise(SIGTERM);
}

/* A job in its process. */
struct errand {
    const struct golden_processes *processes;
    struct golden_job *job;
};

static void run_errand(void *user)
{
    const struct errand *errand = user;
    errand->job->verdict = golden_test_file(errand->processes->cli, errand->job->path,
                                            errand->processes->bless, &errand->job->report);
}

/* Ends by exit, not _exit, so that sanitizers and coverage do their work at exit. The parent's
 * memory is not this process's to release: it has a scope of its own. */
static _Noreturn void run_child(const struct golden_processes *processes, struct golden_job *job)
{
    struct errand errand = {processes, job};
    struct mem_scope scope = {.blocks = NULL};
    setpgid(0, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    signal(SIGALRM, end_late);
    alarm(processes->timeout);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC), fd = fileno(job->output);
    if (null >= 0)
        dup2(null, STDIN_FILENO);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    if (!mem_scope_run(&scope, run_errand, &errand))
        exit(out_of_memory(stderr));
    fflush(NULL);
    if (ftruncate(fd, 0) != 0 || fseek(job->output, 0, SEEK_SET) != 0 ||
        fwrite(job->report.at, 1, job->report.size, job->output) != job->report.size ||
        fflush(job->output) != 0)
        exit(EXIT_DEFECT);
    text_free(&job->report);
    exit(VERDICT + (int)job->verdict);
}

/* ---------------------------------------------------------------------------- the parent ---- */

static time_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

/* False, with errno set, if no process can be had. */
static bool start_job(const struct golden_processes *processes, struct golden_job *job)
{
    char error[256];
    job->verdict = GOLDEN_FAILED;
    job->start = now();
    job->output = tmpfile();
    if (!job->output)
        return false;
    if (processes->bless && !file_read_regular(job->path, &job->old, error, sizeof error))
        job->old = (struct file_bytes){.data = NULL};
    job->pid = fork();
    if (job->pid == 0)
        run_child(processes, job);
    if (job->pid > 0)
        return true;
    int failure = errno;
    fclose(job->output);
    file_bytes_free(&job->old);
    job->pid = 0;
    errno = failure;
    return false;
}

/* Waits for any process, and kills what is left of its group while its number is still taken. */
static struct golden_job *wait_for_one(struct golden_job *jobs, uint32_t count, int *status)
{
    siginfo_t info;
    for (;;) {
        if (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) != 0) {
            if (errno != EINTR)
                return NULL;
            continue;
        }
        kill(-info.si_pid, SIGKILL);
        waitpid(info.si_pid, status, 0);
        for (uint32_t i = 0; i < count; i++)
            if (jobs[i].pid == info.si_pid)
                return &jobs[i];
    }
}

static void close_output(void *output)
{
    fclose(output);
}

/* Takes the result of a process that has ended. One that dies while it rewrites a file leaves an
 * intermediate text there, which is replaced by the old one. */
static void end_job(const struct golden_processes *processes, struct golden_job *job, int status)
{
    int verdict = WIFEXITED(status) ? WEXITSTATUS(status) - VERDICT : -1, fd = fileno(job->output);
    bool ended = verdict >= GOLDEN_PASSED && verdict <= GOLDEN_KNOWN;
    off_t end = lseek(fd, 0, SEEK_END);
    size_t size = ended ? (size_t)end : end < MAX_NOISE ? (size_t)end : MAX_NOISE;
    char error[512];
    struct text printed = {NULL, 0, 0};
    struct mem_guard guard;
    mem_guard(&guard, close_output, job->output);
    text_grow(&printed, size + 1);
    printed.size = file_read_at(fd, job->path, 0, printed.at, size, error, sizeof error) ? size : 0;
    if (ended) {
        job->verdict = (enum golden_verdict)verdict;
        text_append(&job->report, &printed);
    } else {
        struct file_bytes bytes;
        job->verdict = job->fails ? GOLDEN_KNOWN : GOLDEN_FAILED;
        if (WIFSIGNALED(status) && now() - job->start >= (time_t)processes->timeout)
            text_printf(&job->report, "  it takes longer than %u seconds\n", processes->timeout);
        else if (WIFSIGNALED(status))
            text_printf(&job->report, "  the command crashed: %s\n", strsignal(WTERMSIG(status)));
        else
            text_printf(&job->report, "  the command ended the process with status %d\n",
                        WEXITSTATUS(status));
        if (printed.size)
            text_printf(&job->report, "  it printed:\n%.*s%s", (int)printed.size, printed.at,
                        printed.at[printed.size - 1] == '\n' ? "" : "\n");
        if (job->old.data && file_read_regular(job->path, &bytes, error, sizeof error)) {
            if (bytes.size != job->old.size || memcmp(bytes.data, job->old.data, bytes.size) != 0)
                write_file(job->path, job->old.data, job->old.size, &job->report);
            file_bytes_free(&bytes);
        }
    }
    text_free(&printed);
    mem_unguard(&guard);
    fclose(job->output);
    file_bytes_free(&job->old);
    job->pid = 0;
}

void golden_processes_run(const struct golden_processes *processes, struct golden_job *jobs,
                          uint32_t count)
{
    uint32_t started = 0, running = 0, finished = 0, most = processes->workers;
    struct rlimit limit;
    int status;
    /* Each process inherits the files of those before it, and needs descriptors of its own. */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 4 < most)
        most = limit.rlim_cur < 4 ? 1 : (uint32_t)(limit.rlim_cur / 4);
    while (finished < count) {
        while (started < count && running < most) {
            if (start_job(processes, &jobs[started]))
                running++;
            else if (running) /* it waits until another process has ended */
                break;
            else
                text_printf(&jobs[started].report, "  cannot start a process: %s\n",
                            strerror(errno));
            started++;
        }
        struct golden_job *job = running ? wait_for_one(jobs, started, &status) : NULL;
        if (job) {
            running--;
            end_job(processes, job, status);
        }
        for (; finished < started && !jobs[finished].pid; finished++) {
            processes->finished(processes->user, &jobs[finished], finished);
            text_free(&jobs[finished].report);
        }
    }
}
