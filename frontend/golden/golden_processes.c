/* A test runs in a forked process, which leads a process group. Its standard output and error go to
 * a temporary file. When the test is done, the process replaces the file's contents by its report
 * and exits with VERDICT plus its verdict; any other end is a failure, and the file holds what the
 * process printed. An alarm bounds its time. */
#include "frontend/golden/golden_processes.h"
#include "ir/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum {
    VERDICT = 64,     /* an exit status that no command has */
    GRACE = 2,        /* seconds to end after SIGTERM */
    MAX_NOISE = 8000, /* bytes of a failed process's output that are shown */
};

struct worker {
    pid_t pid;    /* 0: idle */
    FILE *output; /* of the process */
    uint32_t job;
    time_t start;
    struct file_bytes old; /* the file that it may rewrite */
};

static time_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

/* ------------------------------------------------------------------------- the process ---- */

/* SIGTERM lets the process remove its temporary files; a second alarm kills it. */
static void end_late(int signal_number)
{
    signal(signal_number, SIG_DFL);
    alarm(GRACE);
    raise(SIGTERM);
}

struct errand {
    const struct golden_processes *processes;
    const char *path;
    struct text report;
    enum golden_verdict verdict;
};

static void run_errand(void *user)
{
    struct errand *errand = user;
    errand->verdict = golden_test_file(errand->processes->cli, errand->path,
                                       errand->processes->bless, &errand->report);
}

/* What the process still prints comes behind it. */
static bool write_report(int fd, const struct text *report)
{
    ssize_t n;
    if (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0)
        return false;
    for (size_t at = 0; at < report->size; at += n > 0 ? (size_t)n : 0) {
        n = write(fd, report->at + at, report->size - at);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
    }
    return true;
}

/* Ends by exit, not _exit, so that sanitizers and coverage do their work at exit. The parent's
 * memory is not this process's to release: it has a scope of its own. */
static _Noreturn void run_child(const struct golden_processes *processes, const char *path,
                                FILE *output)
{
    struct errand errand = {.processes = processes, .path = path, .verdict = GOLDEN_FAILED};
    struct mem_scope scope = {.blocks = NULL};
    setpgid(0, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    signal(SIGALRM, end_late);
    alarm(processes->timeout);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC), fd = fileno(output);
    if (null >= 0)
        dup2(null, STDIN_FILENO);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    if (!mem_scope_run(&scope, run_errand, &errand))
        exit(out_of_memory(stderr));
    fflush(NULL);
    if (!write_report(fd, &errand.report))
        exit(EXIT_DEFECT);
    text_free(&errand.report);
    exit(VERDICT + errand.verdict);
}

/* -------------------------------------------------------------------------- the parent ---- */

static void read_output(struct text *text, FILE *output, size_t limit)
{
    char buffer[4096];
    ssize_t n;
    for (off_t at = 0; (size_t)at < limit; at += n) {
        size_t size = limit - (size_t)at < sizeof buffer ? limit - (size_t)at : sizeof buffer;
        n = pread(fileno(output), buffer, size, at);
        if (n == 0 || (n < 0 && errno != EINTR))
            return;
        n = n > 0 ? n : 0;
        text_bytes(text, buffer, (size_t)n);
    }
}

/* A process that dies while it rewrites a file leaves an intermediate text there. */
static void restore_file(const struct worker *worker, const char *path)
{
    struct file_bytes bytes;
    char error[256];
    if (!worker->old.data || !file_read_regular(path, &bytes, error, sizeof error))
        return;
    file_release_input(path);
    if (bytes.size != worker->old.size || memcmp(bytes.data, worker->old.data, bytes.size) != 0)
        file_write(path, worker->old.data, worker->old.size, error, sizeof error);
    file_bytes_free(&bytes);
}

static void report_death(const struct golden_processes *processes, const struct worker *worker,
                         int status, struct text *report)
{
    if (WIFSIGNALED(status) && now() - worker->start >= (time_t)processes->timeout)
        text_printf(report, "  it takes longer than %u seconds\n", processes->timeout);
    else if (WIFSIGNALED(status))
        text_printf(report, "  the command crashed: %s\n", strsignal(WTERMSIG(status)));
    else
        text_printf(report, "  the command ended the process with status %d\n",
                    WEXITSTATUS(status));
    size_t before = report->size;
    text_string(report, "  it printed:\n");
    size_t head = report->size;
    read_output(report, worker->output, MAX_NOISE);
    if (report->size == head)
        report->size = before;
    else if (report->at[report->size - 1] != '\n')
        text_char(report, '\n');
}

/* Takes the result of a process that has ended. */
static void worker_end(const struct golden_processes *processes, struct worker *worker, int status,
                       struct golden_job *job)
{
    int verdict = WIFEXITED(status) ? WEXITSTATUS(status) - VERDICT : -1;
    if (verdict >= GOLDEN_PASSED && verdict <= GOLDEN_KNOWN) {
        job->verdict = (enum golden_verdict)verdict;
        read_output(&job->report, worker->output, SIZE_MAX);
    } else {
        job->verdict = job->known ? GOLDEN_KNOWN : GOLDEN_FAILED;
        report_death(processes, worker, status, &job->report);
        restore_file(worker, job->path);
    }
    fclose(worker->output);
    file_bytes_free(&worker->old);
    *worker = (struct worker){.pid = 0};
}

/* False, with errno set, if no process can be had. */
static bool worker_start(const struct golden_processes *processes, struct worker *worker,
                         const struct golden_job *jobs, uint32_t job)
{
    char error[256];
    *worker = (struct worker){.output = tmpfile(), .job = job, .start = now()};
    if (!worker->output)
        return false;
    if (processes->bless && !file_read_regular(jobs[job].path, &worker->old, error, sizeof error))
        worker->old = (struct file_bytes){.data = NULL};
    worker->pid = fork();
    if (worker->pid == 0)
        run_child(processes, jobs[job].path, worker->output);
    if (worker->pid > 0)
        return true;
    int failure = errno;
    fclose(worker->output);
    file_bytes_free(&worker->old);
    *worker = (struct worker){.pid = 0};
    errno = failure;
    return false;
}

/* Each process inherits the files of those before it, and needs descriptors of its own. */
static unsigned limit_workers(unsigned workers)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 4 < workers)
        workers = (unsigned)(limit.rlim_cur / 4);
    return workers ? workers : 1;
}

/* Waits for any process, and kills what is left of its group while its number is still taken. */
static struct worker *wait_for_one(struct worker *workers, unsigned count, int *status)
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
        for (unsigned i = 0; i < count; i++)
            if (workers[i].pid == info.si_pid)
                return &workers[i];
    }
}

static struct worker *find_idle(struct worker *workers, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!workers[i].pid)
            return &workers[i];
    return NULL;
}

void golden_processes_run(const struct golden_processes *processes, struct golden_job *jobs,
                          uint32_t count)
{
    unsigned n_workers = limit_workers(processes->workers), running = 0;
    struct worker *workers = mem_calloc(n_workers, sizeof *workers), *worker;
    bool *done = mem_calloc(count, sizeof *done);
    uint32_t started = 0, finished = 0;
    int status;
    while (finished < count) {
        while (started < count && (worker = find_idle(workers, n_workers))) {
            jobs[started].verdict = GOLDEN_FAILED;
            if (worker_start(processes, worker, jobs, started)) {
                running++;
            } else if (running) { /* it waits until another process has ended */
                break;
            } else {
                text_printf(&jobs[started].report, "  cannot start a process: %s\n",
                            strerror(errno));
                done[started] = true;
            }
            started++;
        }
        worker = running ? wait_for_one(workers, n_workers, &status) : NULL;
        if (worker) {
            done[worker->job] = true;
            running--;
            worker_end(processes, worker, status, &jobs[worker->job]);
        }
        for (; finished < started && done[finished]; finished++) {
            processes->finished(processes->user, &jobs[finished], finished);
            text_free(&jobs[finished].report);
        }
    }
    mem_free(workers);
    mem_free(done);
}
