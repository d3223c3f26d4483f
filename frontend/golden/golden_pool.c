#include "frontend/golden/golden_pool.h"
#include "ir/base/file.h"
#include "ir/base/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

/* A process at work on a test. What it sends is one byte, its verdict ('0' + enum golden_verdict),
 * and the report. */
struct worker {
    pid_t pid;    /* 0: idle */
    int leftover; /* that it is noted by */
    int pipe;     /* -1: none */
    FILE *noise;  /* what the process itself prints: words of a sanitizer, of a failed assertion */
    uint32_t job;
    int64_t deadline; /* milliseconds of the monotonic clock */
    struct text sent;
    struct text old; /* of a test that is to be rewritten: the file */
};

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* ------------------------------------------------------------------------- the worker ---- */

static void write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno != EINTR)
            return;
        if (n > 0)
            data += n, size -= (size_t)n;
    }
}

/* What a process has to do. */
struct errand {
    const struct cli *cli;
    const char *path;
    bool bless;
    int pipe;
};

static void run_errand(void *user)
{
    const struct errand *errand = user;
    struct text report = {NULL, 0, 0};
    char verdict =
        (char)('0' + golden_test_file(errand->cli, errand->path, errand->bless, &report));
    write_all(errand->pipe, &verdict, 1);
    write_all(errand->pipe, report.at, report.size);
    text_free(&report);
}

/* Ends by exit, not _exit, so that tools that watch the process (leaks, coverage) get their turn.
 * What the parent holds is not this process's to release: it has a scope of its own. */
static _Noreturn void work(const struct errand *errand, FILE *noise)
{
    setpgid(0, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0)
        dup2(null, STDIN_FILENO);
    if (noise) {
        dup2(fileno(noise), STDOUT_FILENO);
        dup2(fileno(noise), STDERR_FILENO);
    }
    struct mem_scope scope = {.blocks = NULL};
    if (mem_scope_run(&scope, run_errand, (void *)errand))
        exit(0);
    exit(out_of_memory(stderr));
}

/* ------------------------------------------------------------------------- the parent ---- */

static void worker_close(struct worker *worker)
{
    if (worker->pipe >= 0)
        close(worker->pipe);
    if (worker->noise)
        fclose(worker->noise);
    worker->pipe = -1;
    worker->noise = NULL;
    text_free(&worker->old);
}

/* A process that dies while it rewrites a file leaves what it tried. */
static void remember_file(struct worker *worker, const char *path)
{
    struct file_bytes bytes;
    char error[256];
    if (!file_read_regular(path, &bytes, error, sizeof error))
        return;
    text_bytes(&worker->old, bytes.data, bytes.size);
    file_bytes_free(&bytes);
}

static void restore_file(const struct worker *worker, const char *path)
{
    struct file_bytes bytes;
    char error[256];
    if (!worker->old.at || !file_read_regular(path, &bytes, error, sizeof error))
        return;
    if (bytes.size != worker->old.size || memcmp(bytes.data, worker->old.at, bytes.size) != 0)
        file_write(path, worker->old.at, worker->old.size, error, sizeof error);
    file_bytes_free(&bytes);
}

/* The processes of a run. */
struct crew {
    struct worker *workers;
    unsigned count;
};

/* A process has the descriptors of all others; it may need as many as there are. */
static void close_others(const struct crew *crew, const struct worker *self)
{
    for (unsigned i = 0; i < crew->count; i++) {
        const struct worker *worker = &crew->workers[i];
        if (worker->pipe >= 0)
            close(worker->pipe);
        if (worker->noise && worker != self)
            close(fileno(worker->noise));
    }
}

/* What a worker needs besides its process, and whether a descriptor is left behind it to read and
 * write the test's file. Returns the end of the pipe that it writes; -1, with errno set, where it
 * cannot be had. */
static int worker_open(struct worker *worker)
{
    int fds[2], spare;
    if (pipe(fds) != 0)
        return -1;
    fcntl(fds[0], F_SETFD, FD_CLOEXEC);
    fcntl(fds[1], F_SETFD, FD_CLOEXEC);
    worker->pipe = fds[0];
    worker->noise = tmpfile();
    spare = fcntl(fds[0], F_DUPFD_CLOEXEC, 0);
    close(spare >= 0 ? spare : fds[1]);
    return spare >= 0 ? fds[1] : -1;
}

/* It is noted before a signal can end this process without it. */
static pid_t worker_fork(const struct golden_pool *pool, const struct crew *crew,
                         struct worker *worker, const char *path, int pipe)
{
    sigset_t before;
    leftovers_hold(&before);
    pid_t pid = fork();
    if (pid > 0)
        worker->leftover = leftovers_note_process(pid, NULL);
    leftovers_release(&before);
    if (pid != 0)
        return pid;
    close_others(crew, worker);
    work(&(struct errand){pool->cli, path, pool->bless, pipe}, worker->noise);
}

/* False, with errno set, where there is no descriptor or process left for it. */
static bool worker_start(const struct golden_pool *pool, const struct crew *crew,
                         struct worker *worker, struct golden_job *jobs, uint32_t job)
{
    const char *path = jobs[job].path;
    *worker = (struct worker){.job = job, .pipe = -1};
    int pipe = worker_open(worker);
    if (pipe >= 0 && pool->bless)
        remember_file(worker, path);
    pid_t pid = pipe < 0 ? -1 : worker_fork(pool, crew, worker, path, pipe);
    int failure = errno;
    if (pipe >= 0)
        close(pipe);
    worker->deadline = now() + (int64_t)pool->timeout * 1000;
    worker->pid = pid > 0 ? pid : 0;
    if (pid < 0)
        worker_close(worker);
    errno = failure;
    return pid > 0;
}

enum { MAX_NOISE = 8000 };

static void report_noise(struct text *report, FILE *noise)
{
    char buffer[MAX_NOISE];
    if (!noise)
        return;
    ssize_t size = pread(fileno(noise), buffer, sizeof buffer, 0);
    if (size <= 0)
        return;
    text_string(report, "  it printed:\n");
    text_bytes(report, buffer, (size_t)size);
    if (buffer[size - 1] != '\n')
        text_char(report, '\n');
}

/* Takes the result; a process that did not end well makes it a failure. */
static void worker_end(struct worker *worker, struct golden_job *job, const char *killed)
{
    int status = 0;
    if (killed)
        leftovers_end_process(worker->pid);
    kill(-worker->pid, SIGKILL); /* what it may have left behind */
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    leftovers_forget(worker->leftover);
    leftovers_clear_of(worker->pid);
    worker->pid = 0;
    close(worker->pipe); /* restore_file needs a descriptor */
    worker->pipe = -1;
    job->verdict = GOLDEN_FAILED;
    if (worker->sent.size) {
        text_bytes(&job->report, worker->sent.at + 1, worker->sent.size - 1);
        job->verdict = (enum golden_verdict)(worker->sent.at[0] - '0');
    }
    bool well = !killed && worker->sent.size && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!well) {
        job->verdict = job->known ? GOLDEN_KNOWN : GOLDEN_FAILED;
        restore_file(worker, job->path);
        if (killed)
            text_printf(&job->report, "  %s\n", killed);
        else if (WIFSIGNALED(status))
            text_printf(&job->report, "  the command crashed: %s\n", strsignal(WTERMSIG(status)));
        else
            text_printf(&job->report, "  the command ended the process with status %d\n",
                        WEXITSTATUS(status));
        report_noise(&job->report, worker->noise);
    }
    text_free(&worker->sent);
    worker_close(worker);
}

/* Reads what has come. Returns whether the worker is done. */
static bool worker_read(struct worker *worker, struct golden_job *job)
{
    char buffer[65536];
    ssize_t n = read(worker->pipe, buffer, sizeof buffer);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return false;
    if (n > 0) {
        text_bytes(&worker->sent, buffer, (size_t)n);
        return false;
    }
    /* The pipe is closed: the process ends, or hangs in leaving, which is its parent's to end. */
    siginfo_t info = {0};
    while (waitid(P_PID, (id_t)worker->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0 && now() < worker->deadline)
        poll(NULL, 0, 1);
    worker_end(worker, job, info.si_pid == 0 ? "the process does not end" : NULL);
    return true;
}

/* Waits until there is something to be read, at most until `deadline`. poll() may refuse to look
 * at many descriptors, or have no memory for them: it is asked for each, and then a while is
 * waited. */
static void wait_for_any(struct pollfd *polls, unsigned count, int64_t deadline)
{
    enum { LONG = 60000, NAP = 10 };
    int64_t start = now(), wait = deadline > start ? deadline - start : 0;
    if (poll(polls, count, wait < LONG ? (int)wait : LONG) >= 0)
        return;
    bool refused = errno != EINTR, any = false;
    for (unsigned i = 0; i < count; i++) {
        polls[i].revents = 0;
        any |= refused && poll(&polls[i], 1, 0) > 0;
    }
    if (refused && !any)
        poll(NULL, 0, NAP);
}

/* Hands a worker that has something to say, or whose time is over, to worker_read or worker_end.
 * Returns whether its job is done. */
static bool worker_look(const struct golden_pool *pool, struct worker *worker,
                        struct golden_job *job, const struct pollfd *poll)
{
    char text[64];
    if (poll->revents)
        return worker_read(worker, job);
    if (now() < worker->deadline)
        return false;
    snprintf(text, sizeof text, "it takes longer than %u seconds", pool->timeout);
    worker_end(worker, job, text);
    return true;
}

/* Waits until a worker has something to say or its time is over. Marks jobs that are done. */
static void pool_wait(const struct golden_pool *pool, const struct crew *crew,
                      struct golden_job *jobs, uint8_t *done, struct pollfd *polls)
{
    int64_t nearest = INT64_MAX;
    unsigned n = 0;
    for (unsigned i = 0; i < crew->count; i++) {
        const struct worker *worker = &crew->workers[i];
        if (!worker->pid)
            continue;
        polls[n++] = (struct pollfd){worker->pipe, POLLIN, 0};
        nearest = worker->deadline < nearest ? worker->deadline : nearest;
    }
    wait_for_any(polls, n, nearest);
    n = 0;
    for (unsigned i = 0; i < crew->count; i++) {
        struct worker *worker = &crew->workers[i];
        if (worker->pid)
            done[worker->job] = worker_look(pool, worker, &jobs[worker->job], &polls[n++]);
    }
}

/* Without memory, nobody waits for them any more. */
static void dismiss(void *what)
{
    const struct crew *crew = what;
    for (unsigned i = 0; i < crew->count; i++) {
        struct worker *worker = &crew->workers[i];
        if (worker->pid)
            kill(-worker->pid, SIGKILL);
        while (worker->pid && waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        if (worker->pid)
            leftovers_clear_of(worker->pid);
        worker_close(worker);
    }
}

static bool is_at_work(const struct crew *crew)
{
    for (unsigned i = 0; i < crew->count; i++)
        if (crew->workers[i].pid)
            return true;
    return false;
}

/* Starts jobs where workers are idle. Where descriptors or processes are used up, the rest waits
 * for those at work; where nobody is, the job fails. Returns how many have been started. */
static uint32_t start_jobs(const struct golden_pool *pool, const struct crew *crew,
                           struct golden_job *jobs, uint8_t *done, uint32_t next, uint32_t count)
{
    for (unsigned i = 0; i < crew->count && next < count; i++) {
        if (crew->workers[i].pid)
            continue;
        jobs[next].verdict = GOLDEN_FAILED;
        if (!worker_start(pool, crew, &crew->workers[i], jobs, next)) {
            if (is_at_work(crew))
                break;
            text_printf(&jobs[next].report, "  cannot start a process: %s\n", strerror(errno));
            done[next] = 1;
        }
        next++;
    }
    return next;
}

void golden_pool_run(const struct golden_pool *pool, struct golden_job *jobs, uint32_t count)
{
    struct crew crew = {mem_calloc(pool->workers, sizeof *crew.workers), pool->workers};
    struct mem_guard guard;
    struct pollfd *polls = mem_calloc(pool->workers, sizeof *polls);
    leftovers_share(); /* without memory for that, a worker that is killed may leave something */
    uint8_t *done = mem_calloc(count, 1);
    uint32_t started = 0, finished = 0;
    for (unsigned i = 0; i < pool->workers; i++)
        crew.workers[i].pipe = -1;
    mem_guard(&guard, dismiss, &crew);
    while (finished < count) {
        started = start_jobs(pool, &crew, jobs, done, started, count);
        if (!done[finished])
            pool_wait(pool, &crew, jobs, done, polls);
        for (; finished < started && done[finished]; finished++) {
            pool->finished(pool->user, &jobs[finished], finished);
            text_free(&jobs[finished].report);
        }
    }
    mem_unguard(&guard);
    mem_free(crew.workers);
    mem_free(polls);
    mem_free(done);
}
