/* Commands of skirc when the n-th allocation fails: what they say, their status, and what they
 * leave behind. */
#include "frontend/driver/skirc.h"
#include "tests/unit/memory_harness.h"

enum { MAX_ARGS = 12, MAX_SAID = 4096 };

/* How it is said that there is no memory. */
enum words { OUT_OF_MEMORY, IN_OTHER_WORDS };

struct command_line {
    const char *args[MAX_ARGS];
    uint64_t most; /* limits that are tried */
    enum words words;
};

/* A run of a command, its streams in files. */
struct outcome {
    enum exit_status status;
    bool failed;
    uint64_t allocations;
    char said[MAX_SAID];
};

static void read_said(FILE *err, char *said)
{
    fflush(err);
    rewind(err);
    size_t size = fread(said, 1, MAX_SAID - 1, err);
    said[size] = '\0';
}

static void run(const struct command_line *line, uint64_t limit, bool once, struct outcome *outcome)
{
    FILE *out = tmpfile(), *err = tmpfile();
    int count = 0;
    assert_non_null(out);
    assert_non_null(err);
    setvbuf(out, NULL, _IONBF, 0);
    setvbuf(err, NULL, _IONBF, 0);
    while (line->args[count])
        count++;
    heap_limit(limit, once);
    outcome->status = cli_main(&skirc, count, line->args, out, err);
    outcome->failed = heap_unlimit(limit, &outcome->allocations);
    read_said(err, outcome->said);
    fclose(out);
    fclose(err);
}

/* The results of a run without limits. */
static void keep_results(void)
{
    assert_int_equal(system("rm -rf good && mv out good && mkdir out"), 0);
}

/* Every file that is there is whole. */
static void check_results(void)
{
    struct arena arena = {NULL, 0};
    struct file_names names = {NULL, 0, 0};
    assert_true(folder_names("out", &arena, &names));
    for (uint32_t i = 0; i < names.count; i++) {
        struct file_bytes is, should;
        char error[512];
        const char *path = arena_printf(&arena, "out/%s", names.at[i]);
        const char *good = arena_printf(&arena, "good/%s", names.at[i]);
        if (!file_read(path, &is, error, sizeof error) ||
            !file_read(good, &should, error, sizeof error))
            fail_msg("%s", error);
        if (strcmp(names.at[i], "times.json") != 0) {
            assert_int_equal(is.size, should.size);
            assert_memory_equal(is.data, should.data, is.size);
        }
        file_bytes_free(&is);
        file_bytes_free(&should);
        unlink(path);
    }
    vec_free(&names);
    arena_free(&arena);
}

/* Last, and once. */
static void check_said(const char *said)
{
    const char *found = strstr(said, "skirc: out of memory\n");
    if (!found || strchr(found, '\n')[1] != '\0')
        fail_msg("%s", said);
}

static void check_command(uint64_t limit, bool once, const void *user)
{
    const struct command_line *line = user;
    struct traces before = traces_of_now();
    struct outcome outcome;
    run(line, limit, once, &outcome);
    if (outcome.status == EXIT_DEFECT)
        check_said(outcome.said);
    else if (outcome.status != EXIT_DONE && line->words == OUT_OF_MEMORY)
        fail_msg("status %d: %s", outcome.status, outcome.said);
    check_results();
    if (line->words == IN_OTHER_WORDS)
        before.blocks = heap_live(); /* the loader loses some of its own */
    assert_no_traces(&before);
}

static void try_command(const struct command_line *line)
{
    struct outcome good;
    for (int warm = 0; warm < 2; warm++) {
        run(line, UINT64_MAX - 1, false, &good);
        if (good.status != EXIT_DONE)
            fail_msg("%s", good.said);
        keep_results();
    }
    try_limits(good.allocations, line->most, check_command, line);
}

static char kernels[4200], object[4200];

/* The names of files stand for those in the test's folder. */
static int enter(void **state)
{
    char folder[4096];
    if (!realpath("backend/kernels", folder))
        folder[0] = '\0';
    snprintf(kernels, sizeof kernels, "--kernel-dir=%s", folder);
    snprintf(object, sizeof object, "%s/add.o", folder);
    return scratch_make(state) || chdir(scratch_folder);
}

static void test_text(void **state)
{
    (void)state;
    scratch_write("in.skir", everything);
    const struct command_line lines[] = {
        {{"skirc", "check", "--explain", "--remarks=out/x.json", kernels, "in.skir"},
         400,
         OUT_OF_MEMORY},
        {{"skirc", "fmt", "-o", "out/x.skir", "in.skir"}, 400, OUT_OF_MEMORY},
        {{"skirc", "opt", "--passes=default", "--stats", kernels, "in.skir"}, 200, OUT_OF_MEMORY},
        {{"skirc", "opt", "--stop-after=insert-syncs", "--remarks", kernels, "in.skir"},
         200,
         OUT_OF_MEMORY},
        {{"skirc", "opt", "-p..partition-scopes", "--verify-each", "--json", "--only=@second",
          "in.skir"},
         400,
         OUT_OF_MEMORY},
        {{"skirc", "opt", "--passes=partition-scopes", "--print-changed", "in.skir"},
         200,
         OUT_OF_MEMORY},
        {{"skirc", "export", "--format=json", "-o", "out/x", "in.skir"}, 100, OUT_OF_MEMORY},
        {{"skirc", "export", "--format=dot", "-o", "out/x", "in.skir"}, 100, OUT_OF_MEMORY},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        try_command(&lines[i]);
}

static void test_objects(void **state)
{
    (void)state;
    scratch_write("in.skir", everything);
    const struct command_line lines[] = {
        {{"skirc", "compile", "-o", "out/x", kernels, "in.skir"}, 400, OUT_OF_MEMORY},
        {{"skirc", "compile", "--emit=c", "-o", "out/x", kernels, "in.skir"}, 100, OUT_OF_MEMORY},
        {{"skirc", "compile", "--emit=entry", "-o", "out/x", kernels, "in.skir"},
         100,
         OUT_OF_MEMORY},
        {{"skirc", "objdump", "-o", "out/x", object}, 400, OUT_OF_MEMORY},
    };
    if (access(object, R_OK) != 0)
        skip();
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        try_command(&lines[i]);
}

/* The runtime and the system's loader have ways of their own to say that there is no memory. */
static void test_run(void **state)
{
    (void)state;
    scratch_write("in.skir", everything);
    const struct command_line line = {
        {"skirc", "run", "--in-process", "--graph=main", "--compare=unfused", "--race-check",
         "--repeat=2", "--profile=out/times.json", "--output=t2=out/t2.npy", kernels, "in.skir"},
        400,
        IN_OTHER_WORDS};
    if (access(object, R_OK) != 0)
        skip();
    try_command(&line);
}

/* The process of a test that has no memory is a failed test for the others. */
static void test_golden(void **state)
{
    (void)state;
    static const char golden[] = "//! fmt\n//! what is printed\nskir 1\n";
    char text[256];
    snprintf(text, sizeof text, "%s//! expect\n%s", golden, golden);
    scratch_write("golden.skir", text);
    const struct command_line line = {
        {"skirc", "test", "--jobs=2", "golden.skir"}, 400, IN_OTHER_WORDS};
    try_command(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_objects),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_golden),
    };
    return cmocka_run_group_tests_name("memory_commands", tests, enter, scratch_remove);
}
