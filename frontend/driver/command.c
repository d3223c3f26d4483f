#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "frontend/driver/command.h"
#include "ir/support/arena.h"
#include "ir/support/diag.h"
#include "ir/support/file.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "(unconfigured)"
#endif

/* One use of an option; `value` is NULL where it has none. */
struct option_use {
    const struct option *option;
    const char *value;
};

/* --------------------------------------------------------------------------- errors ---- */

__attribute__((format(printf, 2, 0))) static void put_error(const struct invocation *invocation,
                                                            const char *format, va_list args)
{
    struct text text = {NULL, 0, 0};
    text_vprintf(&text, format, args);
    fputs("skirc: ", invocation->err);
    diag_put(invocation->err, text.at, text.size);
    fputc('\n', invocation->err);
    text_free(&text);
}

enum exit_status usage_error(const struct invocation *invocation, const char *format, ...)
{
    const struct command *command = invocation->command;
    va_list args;
    va_start(args, format);
    put_error(invocation, format, args);
    va_end(args);
    fprintf(invocation->err, "try 'skirc %s%s--help'\n", command ? command->name : "",
            command ? " " : "");
    return EXIT_USAGE;
}

enum exit_status input_error(const struct invocation *invocation, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    put_error(invocation, format, args);
    va_end(args);
    return EXIT_INPUT;
}

/* -------------------------------------------------------------------------- options ---- */

/* The n-th option of the command, its own before the common ones; NULL after the last. */
static const struct option *option_at(const struct invocation *invocation, unsigned n)
{
    const struct option *tables[] = {invocation->command->options, invocation->cli->common_options};
    for (unsigned i = 0; i < 2; i++)
        for (const struct option *option = tables[i]; option && option->name; option++)
            if (n-- == 0)
                return option;
    return NULL;
}

static const struct option *find_option(const struct invocation *invocation, const char *name,
                                        size_t size)
{
    const struct option *option;
    for (unsigned i = 0; (option = option_at(invocation, i)); i++)
        if (strlen(option->name) == size && memcmp(option->name, name, size) == 0)
            return option;
    return NULL;
}

bool option_exists(const struct invocation *invocation, const char *name)
{
    return find_option(invocation, name, strlen(name)) != NULL;
}

/* The last use of an option, or NULL. */
static const struct option_use *last_use(const struct invocation *invocation, const char *name)
{
    for (unsigned i = invocation->n_uses; i > 0; i--)
        if (strcmp(invocation->uses[i - 1].option->name, name) == 0)
            return &invocation->uses[i - 1];
    return NULL;
}

bool option_given(const struct invocation *invocation, const char *name)
{
    return last_use(invocation, name) != NULL;
}

const char *option_value(const struct invocation *invocation, const char *name)
{
    const struct option_use *use = last_use(invocation, name);
    return use ? use->value : NULL;
}

const char *option_value_at(const struct invocation *invocation, const char *name, unsigned n)
{
    for (unsigned i = 0; i < invocation->n_uses; i++)
        if (strcmp(invocation->uses[i].option->name, name) == 0 && n-- == 0)
            return invocation->uses[i].value;
    return NULL;
}

uint64_t option_number(const struct invocation *invocation, const char *name, uint64_t fallback)
{
    const char *value = option_value(invocation, name);
    return value ? strtoull(value, NULL, 10) : fallback;
}

unsigned option_word(const struct invocation *invocation, const char *name)
{
    const struct option_use *use = last_use(invocation, name);
    unsigned i = 0;
    while (use && strcmp(use->option->kind.words[i], use->value) != 0)
        i++;
    return i;
}

/* ------------------------------------------------------------------------ arguments ---- */

/* The arguments that are left to read. */
struct line {
    struct invocation *invocation;
    const char *const *args;
    unsigned n_args;
    bool help; /* --help is given: the command does not run */
    enum exit_status status;
};

static const char *next_argument(struct line *line)
{
    line->n_args--;
    return *line->args++;
}

/* Digits only; false where the number is not in the range, too. */
static bool is_number(const char *text, const struct option_kind *kind)
{
    errno = 0;
    uint64_t number = strtoull(text, NULL, 10);
    return *text && !text[strspn(text, "0123456789")] && errno == 0 && number >= kind->low &&
           number <= kind->high;
}

static bool check_word(const struct invocation *invocation, const struct option *option,
                       const char *value)
{
    const char *const *words = option->kind.words;
    struct suggest suggest = {.wanted = value, .wanted_size = strlen(value)};
    struct text list = {NULL, 0, 0};
    bool found = false;
    for (unsigned i = 0; words[i]; i++) {
        found = found || strcmp(words[i], value) == 0;
        suggest_offer_text(&suggest, words[i]);
        text_printf(&list, "%s '%s'", i == 0 ? "" : words[i + 1] ? "," : " or", words[i]);
    }
    if (!found)
        usage_error(invocation, "'--%s' cannot be '%s', only%.*s%s", option->name, value,
                    (int)list.size, list.at, suggest_end(&suggest).text);
    text_free(&list);
    return found;
}

/* Each of these functions reads one argument. False where the command is not to run: after an
 * error, and for --help. `joined` is the value that is part of the argument, or NULL. */
static bool use_option(struct line *line, const struct option *option, const char *joined)
{
    struct invocation *invocation = line->invocation;
    const struct option_kind *kind = &option->kind;
    const char *value = joined;
    if (kind->value == VALUE_NONE && joined)
        return usage_fail(invocation, "'--%s' takes no value, but '%s' is given", option->name,
                          joined);
    if (!joined && kind->value != VALUE_NONE && kind->value != VALUE_OPTIONAL) {
        if (line->n_args == 0)
            return usage_fail(invocation, "'--%s' needs a value: --%s=%s", option->name,
                              option->name, option->metavar);
        value = next_argument(line);
    }
    if (kind->value == VALUE_NUMBER && !is_number(value, kind))
        return usage_fail(invocation, "'--%s' needs a whole number from %llu to %llu, not '%s'",
                          option->name, (unsigned long long)kind->low,
                          (unsigned long long)kind->high, value);
    if (kind->value == VALUE_WORD && !check_word(invocation, option, value))
        return false;
    invocation->uses =
        mem_realloc(invocation->uses, (size_t)invocation->n_uses + 1, sizeof *invocation->uses);
    invocation->uses[invocation->n_uses++] = (struct option_use){option, value};
    line->help = strcmp(option->name, "help") == 0;
    return !line->help;
}

/* `text` is the option as it was written, without its value; `name` is that without dashes. */
static bool unknown_option(const struct line *line, const char *text, size_t text_size,
                           const char *name, size_t name_size)
{
    struct suggest suggest = {.wanted = name, .wanted_size = name_size, .before = "--"};
    const struct option *option;
    for (unsigned i = 0; (option = option_at(line->invocation, i)); i++)
        suggest_offer_text(&suggest, option->name);
    return usage_fail(line->invocation, "'%s' has no option '%.*s'%s",
                      line->invocation->command->name, (int)text_size, text,
                      suggest_end(&suggest).text);
}

static bool read_long(struct line *line, const char *arg)
{
    const char *name = arg + 2;
    size_t size = strcspn(name, "=");
    const struct option *option = find_option(line->invocation, name, size);
    return option ? use_option(line, option, name[size] ? name + size + 1 : NULL)
                  : unknown_option(line, arg, size + 2, name, size);
}

static bool read_letters(struct line *line, const char *arg)
{
    const char *name = arg + 1;
    size_t size = strcspn(name, "=");
    /* Its first letter may be an option that takes a value: "-passes" is no "-p asses". */
    if (find_option(line->invocation, name, size))
        return unknown_option(line, arg, strlen(arg), name, size);
    for (const char *at = name; *at; at++) {
        const struct option *option;
        unsigned i = 0;
        while ((option = option_at(line->invocation, i)) && option->letter != *at)
            i++;
        /* "-output" is more likely a long option than a row of letters. */
        if (!option && at == name)
            return unknown_option(line, arg, strlen(arg), name, size);
        if (!option)
            return usage_fail(line->invocation, "'%s' has no option '-%c', which '%s' contains",
                              line->invocation->command->name, *at, arg);
        bool flag = option->kind.value == VALUE_NONE;
        bool goes_on = use_option(line, option, flag || !at[1] ? NULL : at + 1);
        if (!goes_on || !flag)
            return goes_on;
    }
    return true;
}

static bool read_arguments(struct line *line)
{
    struct invocation *invocation = line->invocation;
    bool options = true, goes_on = true;
    while (goes_on && line->n_args > 0) {
        const char *arg = next_argument(line);
        if (!options || arg[0] != '-' || arg[1] == '\0')
            invocation->files[invocation->n_files++] = arg;
        else if (strcmp(arg, "--") == 0)
            options = false;
        else
            goes_on = arg[1] == '-' ? read_long(line, arg) : read_letters(line, arg);
    }
    return goes_on;
}

static bool check_files(const struct invocation *invocation)
{
    const struct command *command = invocation->command;
    unsigned min = command->min_files, max = command->max_files, count = invocation->n_files;
    if (count < min)
        return usage_fail(invocation, "'%s' needs %s%u file%s, but has %u", command->name,
                          max == min ? "" : "at least ", min, min == 1 ? "" : "s", count);
    if (count > max && max == 0)
        return usage_fail(invocation, "'%s' takes no files, but '%s' is given", command->name,
                          invocation->files[0]);
    return count <= max || usage_fail(invocation, "'%s' takes %s%u file%s; '%s' is one too many",
                                      command->name, max == min ? "" : "at most ", max,
                                      max == 1 ? "" : "s", invocation->files[max]);
}

/* ------------------------------------------- help, from the tables, wrapped at 80 columns ---- */

enum {
    MAX_COLUMNS = 80,
    MARGIN = 2,
    GAP = 2,       /* between a term and its explanation */
    MAX_TERM = 28, /* a longer term has a line of its own */
    TERM_SIZE = 256,
};

/* ------------------------------------------------------------------------- wrapping ---- */

/* Columns of UTF-8 text, a code point each. */
static unsigned text_columns(const char *text, size_t size)
{
    unsigned columns = 0;
    for (size_t i = 0; i < size; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

/* Prints the words of one line, the first at `column`, where the cursor is, and goes on at `indent`
 * where a word passes the last column. */
static void print_words(FILE *out, const char *line, size_t size, unsigned column, unsigned indent)
{
    const char *end = line + size;
    bool first = true;
    while (line < end) {
        size_t blank = strspn(line, " ");
        line += blank < (size_t)(end - line) ? blank : (size_t)(end - line);
        size_t word = strcspn(line, " \n");
        unsigned columns = text_columns(line, word);
        if (!first && column + 1 + columns > MAX_COLUMNS) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first && word > 0) {
            fputc(' ', out);
            column++;
        }
        fwrite(line, 1, word, out);
        column += columns;
        line += word;
        first = false;
    }
    fputc('\n', out);
}

/* Every line of a text, wrapped; lines that start with a space stay as they are. The cursor is at
 * `column`. */
static void print_text(FILE *out, const char *text, unsigned column, unsigned indent)
{
    for (;;) {
        size_t size = strcspn(text, "\n");
        if (size == 0 || text[0] == ' ')
            fprintf(out, "%.*s\n", (int)size, text);
        else
            print_words(out, text, size, column, indent);
        text += size;
        if (text[0] == '\0' || text[1] == '\0')
            return;
        text++;
        if (indent > 0 && text[0] != '\n')
            fprintf(out, "%*s", (int)indent, "");
        column = indent;
    }
}

/* A term and its explanation, which starts `width` columns behind the margin. */
static void print_row(FILE *out, const char *term, unsigned width, const char *text)
{
    unsigned indent = MARGIN + width + GAP;
    fprintf(out, "%*s%s", MARGIN, "", term);
    unsigned column = MARGIN + text_columns(term, strlen(term));
    if (column + GAP > indent) {
        fputc('\n', out);
        column = 0;
    }
    fprintf(out, "%*s", (int)(indent - column), "");
    print_text(out, text, indent, indent);
}

/* -------------------------------------------------------------------------- options ---- */

static void option_term(const struct option *option, char term[TERM_SIZE])
{
    bool optional = option->kind.value == VALUE_OPTIONAL;
    char letter[] = {'-', option->letter, ',', ' ', '\0'};
    snprintf(term, TERM_SIZE, "%s--%s%s%s%s", option->letter ? letter : "    ", option->name,
             !option->metavar ? ""
             : optional       ? "[="
                              : "=",
             option->metavar ? option->metavar : "", optional ? "]" : "");
}

static unsigned wider(unsigned width, const char *term)
{
    unsigned columns = text_columns(term, strlen(term));
    return columns > width && columns <= MAX_TERM ? columns : width;
}

static unsigned options_width(const struct option *options, unsigned width)
{
    char term[TERM_SIZE];
    for (; options && options->name; options++) {
        option_term(options, term);
        width = wider(width, term);
    }
    return width;
}

static void print_options(FILE *out, const char *title, const struct option *options,
                          unsigned width)
{
    char term[TERM_SIZE];
    if (options && options->name)
        fprintf(out, "\n%s:\n", title);
    for (; options && options->name; options++) {
        option_term(options, term);
        print_row(out, term, width, options->help);
    }
}

/* What `skirc COMMAND --help` says. */
static void help_command(const struct cli *cli, const struct command *command, FILE *out)
{
    unsigned column =
        sizeof "Usage: skirc" + text_columns(command->name, strlen(command->name)) + 1;
    fprintf(out, "Usage: skirc %s%s", command->name, command->synopsis[0] ? " " : "");
    print_text(out, command->synopsis, column, column);
    fputc('\n', out);
    print_text(out, command->summary, 0, 0);
    unsigned width = options_width(cli->common_options, options_width(command->options, 0));
    print_options(out, "Options", command->options, width);
    print_options(out, "Options of every command", cli->common_options, width);
    if (command->details) {
        fputc('\n', out);
        print_text(out, command->details, 0, 0);
    }
}

/* -------------------------------------------------------------------------- general ---- */

static const struct {
    enum exit_status status;
    const char *meaning;
} exit_meanings[] = {
    {EXIT_DONE, "done"},
    {EXIT_INPUT, "the input is at fault, or a file cannot be read or written"},
    {EXIT_USAGE, "the command line is wrong"},
    {EXIT_DEFECT, "skirc itself is at fault"},
    {EXIT_TOOL, "an external tool failed"},
};

static const struct option general_options[] = {
    {"help", 'h', OPTION_FLAG, NULL, "Show this text."},
    {"version", 0, OPTION_FLAG, NULL, "Show the version."},
    {0},
};

static const char usage[] = "Usage: skirc COMMAND [OPTIONS] FILE...\n";

/* What `skirc --help` says. */
static void help_general(const struct cli *cli, FILE *out)
{
    static const char help_term[] = "help [COMMAND]";
    unsigned width = sizeof help_term - 1;
    for (const struct command *command = cli->commands; command->name; command++)
        width = wider(width, command->name);
    fprintf(out,
            "%s\nCompiles super kernels: many precompiled sub-kernels in one launch.\n"
            "\nCommands:\n",
            usage);
    for (const struct command *command = cli->commands; command->name; command++)
        print_row(out, command->name, width, command->summary);
    print_row(out, help_term, width, "Show this text, or that of a command.");
    print_options(out, "Options", general_options, width);
    fputc('\n', out);
    print_text(out,
               "'skirc COMMAND --help' lists the options of a command. A FILE '-' is standard "
               "input or output; '--' ends the options.",
               0, 0);
    fputs("\nExit statuses:\n", out);
    for (size_t i = 0; i < sizeof exit_meanings / sizeof exit_meanings[0]; i++) {
        char term[TERM_SIZE];
        snprintf(term, sizeof term, "%d", (int)exit_meanings[i].status);
        print_row(out, term, 1, exit_meanings[i].meaning);
    }
}

/* ------------------------------------------------------------------------- commands ---- */

static enum exit_status run_command(struct line *line)
{
    struct invocation *invocation = line->invocation;
    enum exit_status status = EXIT_USAGE;
    invocation->files = mem_calloc((size_t)line->n_args + 1, sizeof *invocation->files);
    bool runs = read_arguments(line);
    if (line->help) {
        help_command(invocation->cli, invocation->command, invocation->out);
        status = EXIT_DONE;
    } else if (runs && check_files(invocation)) {
        status =
            (invocation->cli->run ? invocation->cli->run : invocation->command->run)(invocation);
    }
    mem_free(invocation->files);
    mem_free(invocation->uses);
    return status;
}

/* NULL, with a message, where there is no such command. */
static const struct command *find_command(const struct invocation *invocation, const char *name)
{
    struct suggest suggest = {.wanted = name, .wanted_size = strlen(name)};
    for (const struct command *command = invocation->cli->commands; command->name; command++) {
        if (strcmp(command->name, name) == 0)
            return command;
        suggest_offer_text(&suggest, command->name);
    }
    suggest_offer_text(&suggest, "help");
    usage_error(invocation, "there is no command '%s'%s", name, suggest_end(&suggest).text);
    return NULL;
}

static bool asks_help(const char *name)
{
    return strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
}

/* The arguments after `help`. */
static enum exit_status run_help(const struct line *line)
{
    const struct invocation *invocation = line->invocation;
    const struct command *command = NULL;
    if (line->n_args > 1)
        return usage_error(invocation, "'help' takes at most 1 command; '%s' is one too many",
                           line->args[1]);
    if (line->n_args == 0 || asks_help(line->args[0]))
        help_general(invocation->cli, invocation->out);
    else if ((command = find_command(invocation, line->args[0])))
        help_command(invocation->cli, command, invocation->out);
    else
        return EXIT_USAGE;
    return EXIT_DONE;
}

/* An option where the command should be. */
static enum exit_status misplaced_option(const struct invocation *invocation, const char *arg)
{
    const char *name = arg + strspn(arg, "-");
    struct suggest suggest = {.wanted = name, .wanted_size = strcspn(name, "="), .before = "--"};
    suggest_offer_text(&suggest, "help");
    suggest_offer_text(&suggest, "version");
    return usage_error(invocation, "'%s' stands where a command should%s", arg,
                       suggest_end(&suggest).text);
}

static enum exit_status run_line(struct line *line)
{
    struct invocation *invocation = line->invocation;
    if (line->n_args == 0) {
        fprintf(invocation->err, "%stry 'skirc --help'\n", usage);
        return EXIT_USAGE;
    }
    const char *name = next_argument(line);
    if (asks_help(name))
        return run_help(line);
    if (strcmp(name, "--version") == 0) {
        if (line->n_args > 0)
            return usage_error(invocation, "'--version' stands alone, but '%s' is given",
                               line->args[0]);
        fputs("skirc " PACKAGE_VERSION "\n", invocation->out);
        return EXIT_DONE;
    }
    if (name[0] == '-')
        return misplaced_option(invocation, name);
    invocation->command = find_command(invocation, name);
    return invocation->command ? run_command(line) : EXIT_USAGE;
}

static void work(void *user)
{
    struct line *line = user;
    line->status = run_line(line);
}

enum exit_status out_of_memory(FILE *err)
{
    fputs("skirc: out of memory\n", err);
    return EXIT_DEFECT;
}

enum exit_status output_end(FILE *out, FILE *err, enum exit_status status)
{
    if ((fflush(out) == 0 && !ferror(out)) || status != EXIT_DONE)
        return status;
    fprintf(err, "skirc: cannot write the output: %s\n", strerror(errno));
    return EXIT_INPUT;
}

enum exit_status cli_main(const struct cli *cli, int argc, const char *const *argv, FILE *out,
                          FILE *err)
{
    struct invocation invocation = {.cli = cli, .out = out, .err = err};
    struct line line = {&invocation, argv + 1, argc > 0 ? (unsigned)argc - 1 : 0, false, EXIT_DONE};
    struct mem_scope scope = {.blocks = NULL};
    bool done = mem_scope_run(&scope, work, &line);
    file_protect_inputs(false); /* they were those of the command */
    return done ? output_end(out, err, line.status) : out_of_memory(err);
}
