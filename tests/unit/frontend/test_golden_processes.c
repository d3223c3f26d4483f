/* Golden tests in processes: what becomes of those that crash, hang or leave, and the order of
 * results. The commands here are the test's own. */
#include "frontend/filetest/golden_processes.h"
#include "ir/support/file.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static enum exit_status run_good(struct invocation *invocation)
{
    (void)invocation;
    return EXIT_DONE;
}

static enum exit_status run_slow(struct invocation *invocation)
{
    usleep(100000);
    return run_good(invocation);
}

static enum exit_status run_crash(struct invocation *invocation)
{
    fprintf(stderr, "last words\n");
    signal(SIGABRT, SIG_DFL);
    (void)invocation;
    abort();
}

static enum exit_status run_hang(struct invocation *invocation)
{
    for (;;)
        pause();
    return run_good(invocation);
}

static enum exit_status run_leave(struct invocation *invocation)
{
    (void)invocation;
    exit(0);
}

/* More than a pipe holds. */
static enum exit_status run_much(struct invocation *invocation)
{
    for (int i = 0; i < 100000; i++)
        fprintf(invocation->out, "line %d\n", i);
    return EXIT_DONE;
}

/* Prints until that is expected, and crashes then. */
static enum exit_status run_turn(struct invocation *invocation)
{
    struct file_bytes bytes;
    char error[256];
    assert_true(file_read(invocation->files[0], &bytes, error, sizeof error));
    if (strstr(bytes.data, "word"))
        return run_crash(invocation);
    fputs("word\n", invocation->out);
    file_bytes_free(&bytes);
    return EXIT_DONE;
}

static const struct option common_options[] = {
    {"color", 0, OPTION_WORD("auto", "always", "never"), "WHEN", "Colours."},
    {"max-errors", 0, OPTION_NUMBER(0, 1000), "N", "Errors."},
    {"help", 'h', OPTION_FLAG, NULL, "Help."},
    {0},
};

static const struct command commands[] = {
    {"good", "FILE", "Passes.", NULL, NULL, 1, 1, run_good},
    {"slow", "FILE", "Passes late.", NULL, NULL, 1, 1, run_slow},
    {"crash", "FILE", "Aborts.", NULL, NULL, 1, 1, run_crash},
    {"hang", "FILE", "Never ends.", NULL, NULL, 1, 1, run_hang},
    {"leave", "FILE", "Exits.", NULL, NULL, 1, 1, run_leave},
    {"much", "FILE", "Prints much.", NULL, NULL, 1, 1, run_much},
    {"turn", "FILE", "Aborts late.", NULL, NULL, 1, 1, run_turn},
    {0},
};

static const struct cli program = {commands, common_options, NULL, false};

static const char *const names[] = {"slow", "crash", "good", "hang", "leave", "much", "good"};
enum { COUNT = sizeof names / sizeof names[0] };

struct results {
    enum golden_verdict verdicts[COUNT];
    char reports[COUNT][200];
    uint32_t count;
};

static void take(void *user, const struct golden_job *job, uint32_t index)
{
    struct results *results = user;
    assert_int_equal(index, results->count);
    results->verdicts[results->count] = job->verdict;
    snprintf(results->reports[results->count], sizeof results->reports[0], "%.*s",
             (int)job->report.size, job->report.size ? job->report.at : "");
    results->count++;
}

static void run_all(struct results *results, unsigned workers)
{
    char folder[] = "/tmp/skir-processes.XXXXXX", paths[COUNT][64], text[64], error[256];
    struct golden_job jobs[COUNT] = {{.path = NULL}};
    assert_non_null(mkdtemp(folder));
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%u.skir", folder, i);
        snprintf(text, sizeof text, "//! %s\n//! claim\n//! expect\n", names[i]);
        assert_true(file_write(paths[i], text, strlen(text), error, sizeof error));
        jobs[i].path = paths[i];
    }
    struct golden_processes processes = {
        .cli = &program, .workers = workers, .timeout = 1, .finished = take, .user = results};
    fflush(NULL);
    golden_processes_run(&processes, jobs, COUNT);
    for (unsigned i = 0; i < COUNT; i++)
        unlink(paths[i]);
    rmdir(folder);
}

static void check_results(unsigned workers)
{
    struct results results = {.count = 0};
    run_all(&results, workers);
    assert_int_equal(results.count, COUNT);
    assert_int_equal(results.verdicts[0], GOLDEN_PASSED);
    assert_int_equal(results.verdicts[1], GOLDEN_FAILED);
    assert_non_null(strstr(results.reports[1], "crashed: "));
    assert_non_null(strstr(results.reports[1], "last words"));
    assert_int_equal(results.verdicts[2], GOLDEN_PASSED);
    assert_int_equal(results.verdicts[3], GOLDEN_FAILED);
    assert_non_null(strstr(results.reports[3], "longer than 1 seconds"));
    assert_int_equal(results.verdicts[4], GOLDEN_FAILED);
    assert_non_null(strstr(results.reports[4], "ended the process with status 0"));
    assert_int_equal(results.verdicts[5], GOLDEN_FAILED);
    assert_non_null(strstr(results.reports[5], "@@ -0,0 +1,100000 @@"));
    assert_int_equal(results.verdicts[6], GOLDEN_PASSED);
}

static void test_one_worker(void **state)
{
    (void)state;
    check_results(1);
}

static void test_many_workers(void **state)
{
    (void)state;
    check_results(COUNT + 3);
}

static void take_verdict(void *user, const struct golden_job *job, uint32_t index)
{
    *(enum golden_verdict *)user = job->verdict;
    assert_int_equal(index, 0);
}

static enum golden_verdict run_one(const char *path, bool bless, bool known)
{
    enum golden_verdict verdict = GOLDEN_PASSED;
    struct golden_job job = {.path = path, .fails = known ? "reason" : NULL};
    struct golden_processes processes = {.cli = &program,
                                         .bless = bless,
                                         .workers = 1,
                                         .timeout = 10,
                                         .finished = take_verdict,
                                         .user = &verdict};
    fflush(NULL);
    golden_processes_run(&processes, &job, 1);
    return verdict;
}

/* A process that dies over what it has written leaves the file as it was; one that is known to fail
 * may die. */
static void test_deaths(void **state)
{
    (void)state;
    static const char text[] = "//! turn\n//! claim\n//! expect\n";
    char path[] = "/tmp/skir-processes.XXXXXX", error[256];
    struct file_bytes bytes;
    assert_return_code(close(mkstemp(path)), 0);
    assert_true(file_write(path, text, sizeof text - 1, error, sizeof error));
    assert_int_equal(run_one(path, true, false), GOLDEN_FAILED);
    assert_true(file_read(path, &bytes, error, sizeof error));
    assert_string_equal(bytes.data, text);
    file_bytes_free(&bytes);
    static const char known[] = "//! crash\n//! claim\n//! fails: reason\n";
    assert_true(file_write(path, known, sizeof known - 1, error, sizeof error));
    assert_int_equal(run_one(path, false, true), GOLDEN_KNOWN);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_worker),
        cmocka_unit_test(test_many_workers),
        cmocka_unit_test(test_deaths),
    };
    return cmocka_run_group_tests_name("golden_processes", tests, NULL, NULL);
}
