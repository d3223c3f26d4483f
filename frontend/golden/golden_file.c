#include "frontend/golden/golden.h"
#include "ir/base/file.h"

#include <string.h>
#include <sys/stat.h>

/* Runs all commands and judges. Appends to `blessed`, where it is no NULL, the text of a file that
 * expects what they did. */
static bool run_commands(const struct golden *golden, const struct cli *cli, struct text *report,
                         struct text *blessed)
{
    struct golden_outcome *outcomes = mem_calloc(golden->commands.count, sizeof *outcomes);
    bool acceptable = true;
    for (uint32_t i = 0; i < golden->commands.count; i++) {
        golden_run(golden, i, cli, &outcomes[i]);
        acceptable &= golden_is_acceptable(&outcomes[i]);
    }
    bool passed = golden_compare(golden, outcomes, report);
    if (!passed && blessed && acceptable)
        golden_bless(golden, outcomes, blessed);
    for (uint32_t i = 0; i < golden->commands.count; i++)
        golden_outcome_free(&outcomes[i]);
    mem_free(outcomes);
    return passed;
}

/* The same file without its line `//! fails: REASON`. */
static void drop_fails(const struct golden *golden, const struct file_bytes *bytes,
                       struct text *text)
{
    const struct golden_line *line = &golden->lines.at[2];
    size_t begin = (size_t)(line->text - bytes->data), end = begin + line->size;
    end += end < bytes->size;
    text_bytes(text, bytes->data, begin);
    text_bytes(text, bytes->data + end, bytes->size - end);
}

/* What is known to fail is not blessed: it would be expected to do what it should not. */
static enum golden_verdict test_known(const struct golden *golden, const struct cli *cli,
                                      const struct file_bytes *bytes, struct text *report,
                                      struct text *blessed)
{
    if (!run_commands(golden, cli, report, NULL))
        return GOLDEN_KNOWN;
    text_printf(report, "  it passes, though it is said to fail: %s\n", golden->fails);
    if (blessed)
        drop_fails(golden, bytes, blessed);
    return GOLDEN_FAILED;
}

static enum golden_verdict test_once(const struct cli *cli, const char *path,
                                     const struct file_bytes *bytes, struct text *report,
                                     struct text *blessed)
{
    struct golden golden;
    enum golden_verdict verdict = GOLDEN_FAILED;
    char error[512];
    if (!golden_parse(&golden, path, bytes->data, bytes->size, error, sizeof error))
        text_printf(report, "  %s\n", error);
    else if (golden.fails)
        verdict = test_known(&golden, cli, bytes, report, blessed);
    else
        verdict = run_commands(&golden, cli, report, blessed) ? GOLDEN_PASSED : GOLDEN_FAILED;
    if (blessed && blessed->size == bytes->size &&
        memcmp(blessed->at, bytes->data, bytes->size) == 0)
        blessed->size = 0;
    golden_free(&golden);
    return verdict;
}

/* The verdict of what is in the file now. `blessed` stays empty where nothing would change. */
static enum golden_verdict test_file(const struct cli *cli, const char *path, struct text *report,
                                     struct text *blessed)
{
    struct file_bytes bytes;
    char error[512];
    report->size = 0;
    if (!file_read_regular(path, &bytes, error, sizeof error)) {
        text_printf(report, "  %s\n", error);
        return GOLDEN_FAILED;
    }
    enum golden_verdict verdict = test_once(cli, path, &bytes, report, blessed);
    file_bytes_free(&bytes);
    return verdict;
}

static bool write_text(const char *path, const char *text, size_t size, struct text *report)
{
    char error[512];
    struct stat st;
    if (stat(path, &st) == 0 && !(st.st_mode & 0222)) { /* its folder would let it be replaced */
        text_printf(report, "  cannot write '%s': it is read-only\n", path);
        return false;
    }
    file_release_input(path); /* it is rewritten in place */
    if (file_write(path, text, size, error, sizeof error))
        return true;
    text_printf(report, "  %s\n", error);
    return false;
}

/* What a test prints may hold its own comments, so it can take several rounds until it passes. */
enum { BLESS_ROUNDS = 4 };

/* Writes what a file that fails expects instead, until it passes. */
static bool bless(const struct cli *cli, const char *path, struct text *text)
{
    struct text report = {NULL, 0, 0}, next = {NULL, 0, 0};
    enum golden_verdict verdict = GOLDEN_FAILED;
    for (int round = 0; round < BLESS_ROUNDS && verdict == GOLDEN_FAILED && text->size; round++) {
        next.size = 0;
        if (!write_text(path, text->at, text->size, &report))
            break;
        verdict = test_file(cli, path, &report, &next);
        struct text other = *text;
        *text = next;
        next = other;
    }
    text_free(&report);
    text_free(&next);
    return verdict == GOLDEN_PASSED;
}

/* A file that does not pass then gets its bytes back. */
static enum golden_verdict bless_file(const struct cli *cli, const char *path, struct text *report)
{
    struct file_bytes old;
    struct text text = {NULL, 0, 0};
    char error[512];
    if (!file_read_regular(path, &old, error, sizeof error))
        return test_file(cli, path, report, NULL);
    enum golden_verdict verdict = test_file(cli, path, report, &text);
    if (verdict == GOLDEN_FAILED) {
        bool changes = text.size > 0;
        if (changes && bless(cli, path, &text))
            verdict = GOLDEN_BLESSED;
        else if (!changes || write_text(path, old.data, old.size, report))
            text_string(report,
                        "  this cannot be accepted, so the file stays as it is; change lines "
                        "with regular expressions, 'not:' and lines without a similar one "
                        "by hand\n");
    }
    text_free(&text);
    file_bytes_free(&old);
    return verdict;
}

/* Offers to accept what fails, unless that would change nothing. */
static enum golden_verdict check_file(const struct cli *cli, const char *path, struct text *report)
{
    struct text text = {NULL, 0, 0};
    enum golden_verdict verdict = test_file(cli, path, report, &text);
    if (verdict == GOLDEN_FAILED && text.size)
        text_printf(report, "  run 'skirc test --bless %s' to accept\n", path);
    text_free(&text);
    return verdict;
}

enum golden_verdict golden_test_file(const struct cli *cli, const char *path, bool blesses,
                                     struct text *report)
{
    return blesses ? bless_file(cli, path, report) : check_file(cli, path, report);
}
