/* Arguments, usage errors and help, on a program of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/driver/command.h"

/* ------------------------------------------------------------------------- commands ---- */

/* Prints what it was called with, one line per option and file. */
static enum exit_status run_echo(struct invocation *invocation)
{
    if (option_given(invocation, "flag"))
        fputs("flag\n", invocation->out);
    if (option_given(invocation, "x"))
        fputs("x\n", invocation->out);
    if (option_given(invocation, "output"))
        fprintf(invocation->out, "output=%s\n", option_value(invocation, "output"));
    if (option_given(invocation, "stats")) {
        const char *value = option_value(invocation, "stats");
        fprintf(invocation->out, "stats=%s\n", value ? value : "(none)");
    }
    const char *value;
    for (unsigned i = 0; (value = option_value_at(invocation, "input", i)); i++)
        fprintf(invocation->out, "input=%s\n", value);
    for (unsigned i = 0; i < invocation->n_files; i++)
        fprintf(invocation->out, "file=%s\n", invocation->files[i]);
    return EXIT_DONE;
}

static enum exit_status run_numbers(struct invocation *invocation)
{
    fprintf(invocation->out, "%llu %u\n",
            (unsigned long long)option_number(invocation, "max-errors", 20),
            option_word(invocation, "color"));
    return EXIT_DONE;
}

static enum exit_status run_tool(struct invocation *invocation)
{
    (void)invocation;
    return EXIT_TOOL;
}

static enum exit_status run_refuse(struct invocation *invocation)
{
    return usage_error(invocation, "'%s' refuses", invocation->command->name);
}

static const struct option echo_options[] = {
    {"output", 'o', OPTION_VALUE, "FILE", "Write to FILE instead of standard output."},
    {"flag", 'f', OPTION_FLAG, NULL, "A flag."},
    {"x", 'x', OPTION_FLAG, NULL, "Another flag."},
    {"stats", 's', OPTION_OPTIONAL, "KIND",
     "Statistics in a text that is much too long for what is left of the line, and so it has to "
     "go on in the next.\nThis starts a line."},
    {"input", 0, OPTION_MANY, "NAME=SPEC", "The contents of a parameter."},
    {0},
};

static const struct command commands[] = {
    {"echo", "[OPTIONS] FILE...", "Prints its arguments.",
     "Details of echo are a long paragraph, which has to be wrapped, as it does not fit a single "
     "line.\n\n  skirc echo   kept as it is\nThe end.",
     echo_options, 0, FILES_UNLIMITED, run_echo},
    {"numbers", "[OPTIONS]", "Reads numbers.", NULL, NULL, 0, 0, run_numbers},
    {"one", "FILE", "Needs one file.", NULL, NULL, 1, 1, run_tool},
    {"pair", "FILE FILE [FILE]", "Needs two or three.", NULL, NULL, 2, 3, run_tool},
    {"refuse", "", "Refuses.", NULL, NULL, 0, FILES_UNLIMITED, run_refuse},
    {0},
};

/* Runs no command whose first file is "refused". */
static enum exit_status run(struct invocation *invocation)
{
    if (invocation->n_files && strcmp(invocation->files[0], "refused") == 0)
        return usage_error(invocation, "refused");
    return invocation->command->run(invocation);
}

static const struct option common_options[] = {
    {"help", 'h', OPTION_FLAG, NULL, "Show this text."},
    {"max-errors", 0, OPTION_NUMBER(1, UINT64_MAX), "N", "Stop after N errors."},
    {"color", 0, OPTION_WORD("auto", "always", "never"), "WHEN", "Colours."},
    {0},
};

static const struct cli program = {commands, common_options, run, false};

/* -------------------------------------------------------------------------- harness ---- */

struct outcome {
    enum exit_status status;
    char out[8192], err[8192];
};

static void take(FILE *stream, char *text, size_t size)
{
    rewind(stream);
    size_t n = fread(text, 1, size - 1, stream);
    text[n] = '\0';
    assert_true(n < size - 1);
    fclose(stream);
}

/* Calls skirc with a NULL-ended list of arguments. */
static struct outcome call(const char *const *args)
{
    static struct outcome outcome;
    const char *argv[32] = {"skirc"};
    int argc = 1;
    for (; args[argc - 1]; argc++)
        argv[argc] = args[argc - 1];
    FILE *out = tmpfile(), *err = tmpfile();
    assert_non_null(out);
    assert_non_null(err);
    outcome.status = cli_main(&program, argc, argv, out, err);
    take(out, outcome.out, sizeof outcome.out);
    take(err, outcome.err, sizeof outcome.err);
    return outcome;
}

#define ARGS(...)                                                                                  \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static void check_out(const char *const *args, const char *expected)
{
    struct outcome outcome = call(args);
    assert_string_equal(outcome.err, "");
    assert_string_equal(outcome.out, expected);
    assert_int_equal(outcome.status, EXIT_DONE);
}

static void check_wrong(const char *const *args, const char *expected)
{
    struct outcome outcome = call(args);
    assert_string_equal(outcome.err, expected);
    assert_string_equal(outcome.out, "");
    assert_int_equal(outcome.status, EXIT_USAGE);
}

/* ---------------------------------------------------------------------------- tests ---- */

static void test_option_forms(void **state)
{
    (void)state;
    check_out(ARGS("echo"), "");
    check_out(ARGS("echo", "--output=a", "b"), "output=a\nfile=b\n");
    check_out(ARGS("echo", "b", "--output", "a"), "output=a\nfile=b\n");
    check_out(ARGS("echo", "-oa", "-f"), "flag\noutput=a\n");
    check_out(ARGS("echo", "-o", "a"), "output=a\n");
    check_out(ARGS("echo", "-xfoa"), "flag\nx\noutput=a\n");
    check_out(ARGS("echo", "-xfo", "a", "b"), "flag\nx\noutput=a\nfile=b\n");
    check_out(ARGS("echo", "--output=", "x"), "output=\nfile=x\n");
    check_out(ARGS("echo", "--output=a=b"), "output=a=b\n");
    check_out(ARGS("echo", "--x", "--x"), "x\n");
}

static void test_values_look_like_options(void **state)
{
    (void)state;
    check_out(ARGS("echo", "-o", "-", "-"), "output=-\nfile=-\n");
    check_out(ARGS("echo", "--output", "--help"), "output=--help\n");
    check_out(ARGS("echo", "-o", "--", "--", "--flag", "--"), "output=--\nfile=--flag\nfile=--\n");
    check_out(ARGS("echo", ""), "file=\n");
}

static void test_optional_and_many(void **state)
{
    (void)state;
    check_out(ARGS("echo", "--stats", "a"), "stats=(none)\nfile=a\n");
    check_out(ARGS("echo", "--stats=json", "a"), "stats=json\nfile=a\n");
    check_out(ARGS("echo", "-sjson", "-f"), "flag\nstats=json\n");
    check_out(ARGS("echo", "-s"), "stats=(none)\n");
    check_out(ARGS("echo", "--input", "a=1", "--input=b=2", "f", "--input=c"),
              "input=a=1\ninput=b=2\ninput=c\nfile=f\n");
    check_out(ARGS("echo", "-oa", "--output=b", "-oc"), "output=c\n");
}

static void test_unknown(void **state)
{
    (void)state;
    check_wrong(ARGS("ehco"), "skirc: there is no command 'ehco'; did you mean 'echo'?\n"
                              "try 'skirc --help'\n");
    check_wrong(ARGS("help", "numbres"),
                "skirc: there is no command 'numbres'; did you mean 'numbers'?\n"
                "try 'skirc --help'\n");
    check_wrong(ARGS(""), "skirc: there is no command ''\ntry 'skirc --help'\n");
    check_wrong(ARGS("echo", "--ouptut=a"),
                "skirc: 'echo' has no option '--ouptut'; did you mean '--output'?\n"
                "try 'skirc echo --help'\n");
    check_wrong(ARGS("numbers", "--colour=always"),
                "skirc: 'numbers' has no option '--colour'; did you mean '--color'?\n"
                "try 'skirc numbers --help'\n");
    check_wrong(ARGS("echo", "--qqqqqq"), "skirc: 'echo' has no option '--qqqqqq'\n"
                                          "try 'skirc echo --help'\n");
    check_wrong(ARGS("echo", "-max-errors=3"),
                "skirc: 'echo' has no option '-max-errors=3'; did you mean '--max-errors'?\n"
                "try 'skirc echo --help'\n");
    check_wrong(ARGS("echo", "-output=a"),
                "skirc: 'echo' has no option '-output=a'; did you mean '--output'?\n"
                "try 'skirc echo --help'\n");
    check_wrong(ARGS("echo", "-output", "a"),
                "skirc: 'echo' has no option '-output'; did you mean '--output'?\n"
                "try 'skirc echo --help'\n");
    check_wrong(ARGS("echo", "-fz"), "skirc: 'echo' has no option '-z', which '-fz' contains\n"
                                     "try 'skirc echo --help'\n");
    check_wrong(ARGS("--verison"),
                "skirc: '--verison' stands where a command should; did you mean '--version'?\n"
                "try 'skirc --help'\n");
    check_wrong(ARGS("-"), "skirc: '-' stands where a command should\ntry 'skirc --help'\n");
}

static void test_wrong_values(void **state)
{
    (void)state;
    check_wrong(ARGS("echo", "--output"), "skirc: '--output' needs a value: --output=FILE\n"
                                          "try 'skirc echo --help'\n");
    check_wrong(ARGS("echo", "-xo"), "skirc: '--output' needs a value: --output=FILE\n"
                                     "try 'skirc echo --help'\n");
    check_wrong(ARGS("echo", "--flag=1"), "skirc: '--flag' takes no value, but '1' is given\n"
                                          "try 'skirc echo --help'\n");
    check_wrong(ARGS("refuse"), "skirc: 'refuse' refuses\ntry 'skirc refuse --help'\n");
}

static void test_file_counts(void **state)
{
    (void)state;
    check_wrong(ARGS("one"), "skirc: 'one' needs 1 file, but has 0\ntry 'skirc one --help'\n");
    check_wrong(ARGS("one", "a", "b"), "skirc: 'one' takes 1 file; 'b' is one too many\n"
                                       "try 'skirc one --help'\n");
    check_wrong(ARGS("pair", "a"), "skirc: 'pair' needs at least 2 files, but has 1\n"
                                   "try 'skirc pair --help'\n");
    check_wrong(ARGS("pair", "a", "b", "c", "d"),
                "skirc: 'pair' takes at most 3 files; 'd' is one too many\n"
                "try 'skirc pair --help'\n");
    check_wrong(ARGS("numbers", "a"), "skirc: 'numbers' takes no files, but 'a' is given\n"
                                      "try 'skirc numbers --help'\n");
    assert_int_equal(call(ARGS("one", "a")).status, EXIT_TOOL);
    assert_int_equal(call(ARGS("pair", "a", "b", "c")).status, EXIT_TOOL);
}

static void test_numbers(void **state)
{
    (void)state;
    check_out(ARGS("numbers"), "20 0\n");
    check_out(ARGS("numbers", "--max-errors=7", "--color=never"), "7 2\n");
    check_out(ARGS("numbers", "--max-errors=18446744073709551615"), "18446744073709551615 0\n");
    static const char *const wrong[] = {
        "", "0", "-1", "+1", " 1", "1 ", "1k", "1.0", "0x1", "abc", "18446744073709551616"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char expected[256];
        snprintf(expected, sizeof expected,
                 "skirc: '--max-errors' needs a whole number from 1 to 18446744073709551615, not "
                 "'%s'\ntry 'skirc numbers --help'\n",
                 wrong[i]);
        check_wrong(ARGS("numbers", "--max-errors", wrong[i]), expected);
    }
    check_wrong(ARGS("numbers", "--color=alwyas"),
                "skirc: '--color' cannot be 'alwyas', only 'auto', 'always' or 'never'; did you "
                "mean 'always'?\ntry 'skirc numbers --help'\n");
}

static void test_no_command(void **state)
{
    (void)state;
    static const char usage[] = "Usage: skirc COMMAND [OPTIONS] FILE...\ntry 'skirc --help'\n";
    check_wrong((const char *const[]){NULL}, usage);
    char text[256];
    FILE *out = tmpfile(), *err = tmpfile();
    assert_int_equal(cli_main(&program, 0, (const char *const[]){NULL}, out, err), EXIT_USAGE);
    take(err, text, sizeof text);
    fclose(out);
    assert_string_equal(text, usage);
}

static void check_columns(const char *text)
{
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        size_t size = strcspn(line, "\n");
        assert_in_range(size, 0, 80);
        assert_true(size == 0 || line[size - 1] != ' ');
    }
}

static void test_help(void **state)
{
    (void)state;
    static const char expected[] =
        "Usage: skirc echo [OPTIONS] FILE...\n"
        "\n"
        "Prints its arguments.\n"
        "\n"
        "Options:\n"
        "  -o, --output=FILE      Write to FILE instead of standard output.\n"
        "  -f, --flag             A flag.\n"
        "  -x, --x                Another flag.\n"
        "  -s, --stats[=KIND]     Statistics in a text that is much too long for what is\n"
        "                         left of the line, and so it has to go on in the next.\n"
        "                         This starts a line.\n"
        "      --input=NAME=SPEC  The contents of a parameter.\n"
        "\n"
        "Options of every command:\n"
        "  -h, --help             Show this text.\n"
        "      --max-errors=N     Stop after N errors.\n"
        "      --color=WHEN       Colours.\n"
        "\n"
        "Details of echo are a long paragraph, which has to be wrapped, as it does not\n"
        "fit a single line.\n"
        "\n"
        "  skirc echo   kept as it is\n"
        "The end.\n";
    check_out(ARGS("echo", "--help"), expected);
    check_out(ARGS("help", "echo"), expected);
    check_out(ARGS("--help", "echo"), expected);
    check_out(ARGS("echo", "file", "-fh", "--unknown"), expected);
    check_columns(expected);
    /* Files need not be there for help. */
    assert_int_equal(call(ARGS("one", "--help")).status, EXIT_DONE);
    check_wrong(ARGS("help", "echo", "one"),
                "skirc: 'help' takes at most 1 command; 'one' is one too many\n"
                "try 'skirc --help'\n");
}

static void test_general_help(void **state)
{
    (void)state;
    static char expected[8192];
    struct outcome outcome = call(ARGS("--help"));
    assert_int_equal(outcome.status, EXIT_DONE);
    check_columns(outcome.out);
    assert_non_null(strstr(outcome.out, "\nCommands:\n"
                                        "  echo            Prints its arguments.\n"
                                        "  numbers         Reads numbers.\n"));
    assert_non_null(strstr(outcome.out, "\n  help [COMMAND]  Show this text, or"));
    assert_non_null(strstr(outcome.out, "\nExit statuses:\n  0  done\n  1  "));
    assert_non_null(strstr(outcome.out, "\n  4  an external tool failed\n"));
    strcpy(expected, outcome.out);
    check_out(ARGS("help"), expected);
    check_out(ARGS("-h"), expected);
    check_out(ARGS("help", "help"), expected);
    check_out(ARGS("help", "--help"), expected);
}

static void test_version(void **state)
{
    (void)state;
    struct outcome outcome = call(ARGS("--version"));
    assert_int_equal(outcome.status, EXIT_DONE);
    assert_int_equal(strncmp(outcome.out, "skirc ", 6), 0);
    assert_string_equal(strchr(outcome.out, '\n'), "\n");
    check_wrong(ARGS("--version", "now"),
                "skirc: '--version' stands alone, but 'now' is given\ntry 'skirc --help'\n");
}

/* The command is not run where a common option is wrong, or the program refuses. */
static void test_common_options(void **state)
{
    (void)state;
    check_wrong(ARGS("echo", "--color=impossible", "text"),
                "skirc: '--color' cannot be 'impossible', only 'auto', 'always' or 'never'\n"
                "try 'skirc echo --help'\n");
    check_wrong(ARGS("echo", "refused"), "skirc: refused\ntry 'skirc echo --help'\n");
    assert_int_equal(call(ARGS("echo", "--color=never", "text")).status, EXIT_DONE);
}

/* A full disk must not look like success. */
static void test_output_fails(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w"), *err = tmpfile();
    if (!full)
        skip();
    char text[256];
    assert_int_equal(cli_main(&program, 2, ARGS("skirc", "--help"), full, err), EXIT_INPUT);
    take(err, text, sizeof text);
    fclose(full);
    assert_string_equal(text, "skirc: cannot write the output: No space left on device\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_option_forms),
        cmocka_unit_test(test_values_look_like_options),
        cmocka_unit_test(test_optional_and_many),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_wrong_values),
        cmocka_unit_test(test_file_counts),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_no_command),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_general_help),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_common_options),
        cmocka_unit_test(test_output_fails),
    };
    return cmocka_run_group_tests_name("command", tests, NULL, NULL);
}
