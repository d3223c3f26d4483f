/* skirc test: golden-file tests. */
#include "frontend/driver/cmd.h"
#include "frontend/driver/shared_options.h"
#include "frontend/filetest/golden_processes.h"
#include "ir/support/file.h"

#include <string.h>
#include <sys/stat.h>

const struct option options_test[] = {
    {"bless", 0, OPTION_FLAG, NULL, "rewrite the expectations of tests that fail"},
    {"jobs", 'j', OPTION_NUMBER(1, MAX_JOBS), "N",
     "run N tests at a time; the number of processors if not given"},
    {"tap", 0, OPTION_FLAG, NULL, "print TAP, the test anything protocol"},
    {"filter", 0, OPTION_VALUE, "TEXT", "only tests with TEXT in their path or claim"},
    {"timeout", 0, OPTION_NUMBER(1, 86400), "SECONDS", "how long one test may take (60)"},
    {0},
};

struct suite {
    struct invocation *invocation;
    const char *filter;
    bool tap;
    struct arena arena;
    VEC(struct golden_job) jobs;
    uint32_t passed, blessed, failed, known;
    bool broken; /* a path could not be read */
};

/* ----------------------------------------------------------------------- finding tests ---- */

static void refuse(struct suite *suite, const char *text)
{
    fprintf(suite->invocation->err, "skirc: %s\n", text);
    suite->broken = true;
}

/* A text of one line, without bytes that terminals or TAP readers take for something else. */
static const char *copy_line(struct suite *suite, struct part text)
{
    char *line = arena_strndup(&suite->arena, text.text, text.size);
    for (char *p = line; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f || *p == '#')
            *p = ' ';
    return line;
}

/* Adds a file if it is a test; one that the user has named must be. */
static void add_file(struct suite *suite, const char *path, bool named)
{
    struct file_bytes bytes;
    char error[512];
    if (!file_read_regular(path, &bytes, error, sizeof error)) {
        refuse(suite, error);
        return;
    }
    struct part text = {bytes.data, bytes.size};
    if (golden_is_test(text)) {
        struct golden_header header = golden_header(text);
        struct golden_job job = {.path = path, .claim = copy_line(suite, header.claim)};
        job.fails = header.fails.text ? copy_line(suite, header.fails) : NULL;
        if (!suite->filter || strstr(path, suite->filter) || strstr(job.claim, suite->filter))
            vec_push(&suite->jobs, job);
    } else if (named) {
        refuse(suite,
               arena_printf(&suite->arena,
                            "%s is no test: its first line is not '//! COMMAND ARGUMENTS'", path));
    }
    file_bytes_free(&bytes);
}

static bool is_skir(const char *name)
{
    size_t size = strlen(name);
    return size > 5 && strcmp(name + size - 5, ".skir") == 0;
}

/* Deeper than any folder that people make; links to folders are not followed, so there are no
 * circles. */
enum { MAX_DEPTH = 64 };

static void add_folder(struct suite *suite, const char *path, unsigned depth)
{
    struct file_names names = {NULL, 0, 0};
    size_t size = strlen(path);
    const char *slash = size && path[size - 1] == '/' ? "" : "/";
    if (depth >= MAX_DEPTH || !folder_names(path, &suite->arena, &names))
        refuse(suite, arena_printf(&suite->arena, "cannot read the folder '%s'", path));
    for (uint32_t i = 0; i < names.count; i++) {
        struct stat st;
        if (names.at[i][0] == '.')
            continue;
        const char *inner = arena_printf(&suite->arena, "%s%s%s", path, slash, names.at[i]);
        if (lstat(inner, &st) == 0 && S_ISDIR(st.st_mode))
            add_folder(suite, inner, depth + 1);
        else if (is_skir(inner) && stat(inner, &st) == 0 && S_ISREG(st.st_mode))
            add_file(suite, inner, false);
    }
    vec_free(&names);
}

/* ---------------------------------------------------------------------------- results ---- */

/* A failure that is known is what TAP calls TODO. */
static void print_tap(FILE *out, const struct golden_job *job, uint32_t index)
{
    bool failed = job->verdict == GOLDEN_FAILED, known = job->verdict == GOLDEN_KNOWN;
    fprintf(out, "%sok %u - %s: %s%s%s\n", failed || known ? "not " : "", index + 1, job->path,
            job->claim, known ? " # TODO " : "", known ? job->fails : "");
    const char *end = job->report.at + job->report.size;
    for (const char *line = job->report.at; failed && line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        fprintf(out, "# %.*s\n", (int)(stop - line), line);
        line = stop + 1;
    }
}

static void print_plain(FILE *out, const struct golden_job *job)
{
    if (job->verdict == GOLDEN_BLESSED)
        fprintf(out, "blessed %s\n", job->path);
    if (job->verdict == GOLDEN_KNOWN)
        fprintf(out, "known to fail %s: %s\n", job->path, job->fails);
    if (job->verdict != GOLDEN_FAILED)
        return;
    fprintf(out, "failed %s: %s\n", job->path, job->claim);
    fwrite(job->report.at, 1, job->report.size, out);
}

static void finished(void *user, const struct golden_job *job, uint32_t index)
{
    struct suite *suite = user;
    suite->passed += job->verdict == GOLDEN_PASSED;
    suite->blessed += job->verdict == GOLDEN_BLESSED;
    suite->failed += job->verdict == GOLDEN_FAILED;
    suite->known += job->verdict == GOLDEN_KNOWN;
    if (suite->tap)
        print_tap(suite->invocation->out, job, index);
    else
        print_plain(suite->invocation->out, job);
    fflush(NULL); /* so that the next process inherits no unwritten output */
}

/* ---------------------------------------------------------------------------- command ---- */

static enum exit_status run_suite(struct suite *suite)
{
    struct golden_processes processes = {
        .cli = suite->invocation->cli,
        .bless = option_given(suite->invocation, "bless"),
        .workers = jobs_option(suite->invocation),
        .timeout = (unsigned)option_number(suite->invocation, "timeout", 60),
        .finished = finished,
        .user = suite};
    if (suite->tap)
        fprintf(suite->invocation->out, "1..%u\n", suite->jobs.count);
    if (suite->jobs.count == 0 && !suite->broken)
        refuse(suite,
               suite->filter ? "no test has the text of --filter" : "there are no tests here");
    fflush(NULL);
    golden_processes_run(&processes, suite->jobs.at, suite->jobs.count);
    if (!suite->tap) {
        FILE *out = suite->invocation->out;
        fprintf(out, "%u passed, %u failed", suite->passed + suite->blessed, suite->failed);
        if (suite->blessed)
            fprintf(out, ", %u blessed", suite->blessed);
        if (suite->known)
            fprintf(out, ", %u known to fail", suite->known);
        fputc('\n', out);
    }
    return suite->failed || suite->broken ? EXIT_INPUT : EXIT_DONE;
}

enum exit_status cmd_test(struct invocation *invocation)
{
    struct suite suite = {.invocation = invocation,
                          .filter = option_value(invocation, "filter"),
                          .tap = option_given(invocation, "tap")};
    for (unsigned i = 0; i < invocation->n_files; i++) {
        const char *path = invocation->files[i];
        struct stat st;
        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
            add_folder(&suite, path, 0);
        else
            add_file(&suite, path, true);
    }
    enum exit_status status = run_suite(&suite);
    vec_free(&suite.jobs);
    arena_free(&suite.arena);
    return status;
}
