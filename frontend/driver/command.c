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

/* --------------------------------------------------------------------- usage errors ---- */

/* Ends a message with the hint; `command` is NULL where it is not about one. */
static enum exit_status end_usage_error(FILE *err, const struct command *command)
{
    fprintf(err, "\ntry 'skirc %s%s--help'\n", command ? command->name : "", command ? " " : "");
    return EXIT_USAGE;
}

enum exit_status usage_error(const struct invocation *invocation, const char *format, ...)
{
    va_list args;
    struct text text = {NULL, 0, 0};
    va_start(args, format);
    text_vprintf(&text, format, args);
    va_end(args);
    fputs("skirc: ", invocation->err);
    diag_put(invocation->err, text.at, text.size);
    text_free(&text);
    return end_usage_error(invocation->err, invocation->command);
}

/* -------------------------------------------------------------------------- options ---- */

/* The n-th option of the command, its own before the common ones; NULL behind the last. */
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

static const struct option *find_letter(const struct invocation *invocation, char letter)
{
    const struct option *option;
    for (unsigned i = 0; (option = option_at(invocation, i)); i++)
        if (option->letter == letter)
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
    const struct option *option = find_option(invocation, name, strlen(name));
    assert(option);
    for (unsigned i = invocation->n_uses; i > 0; i--)
        if (invocation->uses[i - 1].option == option)
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
    const struct option *option = find_option(invocation, name, strlen(name));
    assert(option);
    for (unsigned i = 0; i < invocation->n_uses; i++)
        if (invocation->uses[i].option == option && n-- == 0)
            return invocation->uses[i].value;
    return NULL;
}

/* Digits only; false where the number does not fit, too. */
static bool parse_number(const char *text, uint64_t *number)
{
    if (*text == '\0')
        return false;
    *number = 0;
    for (; *text; text++) {
        unsigned digit = (unsigned)((unsigned char)*text - '0');
        if (digit > 9 || __builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, digit, number))
            return false;
    }
    return true;
}

bool option_number(const struct invocation *invocation, const char *name, uint64_t low,
                   uint64_t high, uint64_t *number)
{
    const char *value = option_value(invocation, name);
    uint64_t parsed;
    if (!value)
        return true;
    if (!parse_number(value, &parsed) || parsed < low || parsed > high) {
        usage_error(invocation, "'--%s' needs a whole number from %llu to %llu, not '%s'", name,
                    (unsigned long long)low, (unsigned long long)high, value);
        return false;
    }
    *number = parsed;
    return true;
}

bool option_choice(const struct invocation *invocation, const char *name, const char *const *words,
                   unsigned *choice)
{
    const char *value = option_value(invocation, name);
    if (!value)
        return true;
    struct suggest suggest = {.wanted = value, .wanted_size = strlen(value)};
    for (unsigned i = 0; words[i]; i++) {
        if (strcmp(words[i], value) == 0) {
            *choice = i;
            return true;
        }
        suggest_offer_text(&suggest, words[i]);
    }
    fprintf(invocation->err, "skirc: '--%s' cannot be '%s', only", name, value);
    for (unsigned i = 0; words[i]; i++)
        fprintf(invocation->err, "%s '%s'", i == 0 ? "" : words[i + 1] ? "," : " or", words[i]);
    fputs(suggest_end(&suggest).text, invocation->err);
    end_usage_error(invocation->err, invocation->command);
    return false;
}

/* -------------------------------------------------------------------------- parsing ---- */

enum parsed { PARSED, PARSED_HELP, PARSED_WRONG };

/* The arguments behind the command's name, and the next one to read. */
struct reader {
    struct invocation *invocation;
    const char *const *args;
    unsigned n_args, next;
};

/* `text` is the option as it was written, without its value; `name` is that without dashes. */
static enum parsed unknown_option(const struct reader *reader, const char *text, size_t text_size,
                                  const char *name, size_t name_size)
{
    const struct invocation *invocation = reader->invocation;
    struct suggest suggest = {.wanted = name, .wanted_size = name_size, .before = "--"};
    const struct option *option;
    for (unsigned i = 0; (option = option_at(invocation, i)); i++)
        suggest_offer_text(&suggest, option->name);
    fprintf(invocation->err, "skirc: '%s' has no option '%.*s'", invocation->command->name,
            (int)text_size, text);
    fputs(suggest_end(&suggest).text, invocation->err);
    end_usage_error(invocation->err, invocation->command);
    return PARSED_WRONG;
}

/* Records an option; `joined` is the value that is part of the argument, or NULL. */
static enum parsed use_option(struct reader *reader, const struct option *option,
                              const char *joined)
{
    struct invocation *invocation = reader->invocation;
    const char *value = joined;
    if (option->kind == OPTION_FLAG && joined) {
        usage_error(invocation, "'--%s' takes no value, but '%s' is given", option->name, joined);
        return PARSED_WRONG;
    }
    if (!joined && (option->kind == OPTION_VALUE || option->kind == OPTION_MANY)) {
        if (reader->next == reader->n_args) {
            usage_error(invocation, "'--%s' needs a value: --%s=%s", option->name, option->name,
                        option->metavar ? option->metavar : "VALUE");
            return PARSED_WRONG;
        }
        value = reader->args[reader->next++];
    }
    invocation->uses =
        mem_realloc(invocation->uses, (size_t)invocation->n_uses + 1, sizeof *invocation->uses);
    invocation->uses[invocation->n_uses++] = (struct option_use){option, value};
    return strcmp(option->name, "help") == 0 ? PARSED_HELP : PARSED;
}

static enum parsed parse_long(struct reader *reader, const char *arg)
{
    const char *name = arg + 2;
    size_t size = strcspn(name, "=");
    const struct option *option = find_option(reader->invocation, name, size);
    if (!option)
        return unknown_option(reader, arg, size + 2, name, size);
    return use_option(reader, option, name[size] == '=' ? name + size + 1 : NULL);
}

static enum parsed parse_letters(struct reader *reader, const char *arg)
{
    const char *name = arg + 1;
    size_t size = strcspn(name, "=");
    /* Its first letter may be an option that takes a value: "-passes" is no "-p asses". */
    if (find_option(reader->invocation, name, size))
        return unknown_option(reader, arg, strlen(arg), name, size);
    for (const char *at = name; *at; at++) {
        const struct option *option = find_letter(reader->invocation, *at);
        /* "-output" is more likely a long option than a row of letters. */
        if (!option && at == name)
            return unknown_option(reader, arg, strlen(arg), name, size);
        if (!option) {
            usage_error(reader->invocation, "'%s' has no option '-%c', which '%s' contains",
                        reader->invocation->command->name, *at, arg);
            return PARSED_WRONG;
        }
        bool flag = option->kind == OPTION_FLAG;
        enum parsed parsed = use_option(reader, option, flag || !at[1] ? NULL : at + 1);
        if (parsed != PARSED || !flag)
            return parsed;
    }
    return PARSED;
}

static enum parsed parse_arguments(struct reader *reader)
{
    struct invocation *invocation = reader->invocation;
    bool options = true;
    while (reader->next < reader->n_args) {
        const char *arg = reader->args[reader->next++];
        enum parsed parsed = PARSED;
        if (!options || arg[0] != '-' || arg[1] == '\0')
            invocation->files[invocation->n_files++] = arg;
        else if (strcmp(arg, "--") == 0)
            options = false;
        else
            parsed = arg[1] == '-' ? parse_long(reader, arg) : parse_letters(reader, arg);
        if (parsed != PARSED)
            return parsed;
    }
    return PARSED;
}

static const char *plural(unsigned count)
{
    return count == 1 ? "" : "s";
}

static enum parsed check_files(const struct invocation *invocation)
{
    const struct command *command = invocation->command;
    unsigned min = command->min_files, max = command->max_files;
    if (invocation->n_files < min)
        usage_error(invocation, "'%s' needs %s%u file%s, but has %u", command->name,
                    max == min ? "" : "at least ", min, plural(min), invocation->n_files);
    else if (invocation->n_files > max && max == 0)
        usage_error(invocation, "'%s' takes no files, but '%s' is given", command->name,
                    invocation->files[0]);
    else if (invocation->n_files > max)
        usage_error(invocation, "'%s' takes %s%u file%s; '%s' is one too many", command->name,
                    max == min ? "" : "at most ", max, plural(max), invocation->files[max]);
    else
        return PARSED;
    return PARSED_WRONG;
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

static const struct option no_options[] = {{.name = NULL}};

static const struct option *command_options(const struct command *command)
{
    return command->options ? command->options : no_options;
}

static void option_term(const struct option *option, char term[TERM_SIZE])
{
    const char *metavar = option->metavar ? option->metavar : "VALUE";
    char letter[] = {'-', option->letter, ',', ' ', '\0'};
    const char *start = option->letter ? letter : "    ";
    switch (option->kind) {
    case OPTION_FLAG: snprintf(term, TERM_SIZE, "%s--%s", start, option->name); break;
    case OPTION_OPTIONAL:
        snprintf(term, TERM_SIZE, "%s--%s[=%s]", start, option->name, metavar);
        break;
    case OPTION_VALUE:
    case OPTION_MANY: snprintf(term, TERM_SIZE, "%s--%s=%s", start, option->name, metavar); break;
    }
}

static unsigned options_width(const struct option *options)
{
    unsigned width = 0;
    for (; options->name; options++) {
        char term[TERM_SIZE];
        option_term(options, term);
        unsigned columns = text_columns(term, strlen(term));
        if (columns > width && columns <= MAX_TERM)
            width = columns;
    }
    return width;
}

static void print_options(FILE *out, const char *title, const struct option *options,
                          unsigned width)
{
    if (!options->name)
        return;
    fprintf(out, "\n%s:\n", title);
    for (; options->name; options++) {
        char term[TERM_SIZE];
        option_term(options, term);
        print_row(out, term, width, options->help);
    }
}

/* What `skirc COMMAND --help` says. */
static void help_command(const struct cli *cli, const struct command *command, FILE *out)
{
    static const char usage[] = "Usage: skirc ";
    fprintf(out, "%s%s%s", usage, command->name, command->synopsis[0] ? " " : "");
    unsigned column = (unsigned)sizeof usage + text_columns(command->name, strlen(command->name));
    print_text(out, command->synopsis, column, column);
    fputc('\n', out);
    print_text(out, command->summary, 0, 0);
    unsigned own = options_width(command_options(command));
    unsigned common = options_width(cli->common_options);
    unsigned width = own > common ? own : common;
    print_options(out, "Options", command_options(command), width);
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
    {.name = NULL},
};

/* One line: how skirc is called. */
static void help_usage(FILE *out)
{
    fputs("Usage: skirc COMMAND [OPTIONS] FILE...\n", out);
}

/* What `skirc --help` says. */
static void help_general(const struct cli *cli, FILE *out)
{
    static const char help_term[] = "help [COMMAND]";
    unsigned width = sizeof help_term - 1;
    for (const struct command *command = cli->commands; command->name; command++) {
        unsigned columns = text_columns(command->name, strlen(command->name));
        if (columns > width && columns <= MAX_TERM)
            width = columns;
    }
    help_usage(out);
    fputs("\nCompiles super kernels: many precompiled sub-kernels in one launch.\n"
          "\nCommands:\n",
          out);
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

/* A program as it was called: where it writes, and the arguments that are left to read. */
struct call {
    const struct cli *cli;
    FILE *out, *err;
    const char *const *args;
    unsigned n_args;
    enum exit_status status;
};

static void next_argument(struct call *call)
{
    call->args++;
    call->n_args--;
}

static enum exit_status run_parsed(struct invocation *invocation, enum parsed parsed)
{
    if (parsed == PARSED_HELP) {
        help_command(invocation->cli, invocation->command, invocation->out);
        return EXIT_DONE;
    }
    if (parsed == PARSED_WRONG || check_files(invocation) != PARSED ||
        !invocation->cli->check(invocation))
        return EXIT_USAGE;
    return invocation->cli->run ? invocation->cli->run(invocation)
                                : invocation->command->run(invocation);
}

static enum exit_status run_command(const struct call *call, const struct command *command)
{
    struct invocation invocation = {
        .cli = call->cli,
        .command = command,
        .out = call->out,
        .err = call->err,
        .files = mem_calloc((size_t)call->n_args + 1, sizeof *invocation.files),
    };
    struct reader reader = {&invocation, call->args, call->n_args, 0};
    enum exit_status status = run_parsed(&invocation, parse_arguments(&reader));
    mem_free(invocation.files);
    mem_free(invocation.uses);
    return status;
}

/* NULL, with a message, where there is no such command. */
static const struct command *find_command(const struct call *call, const char *name)
{
    struct suggest suggest = {.wanted = name, .wanted_size = strlen(name)};
    for (const struct command *command = call->cli->commands; command->name; command++) {
        if (strcmp(command->name, name) == 0)
            return command;
        suggest_offer_text(&suggest, command->name);
    }
    suggest_offer_text(&suggest, "help");
    fprintf(call->err, "skirc: there is no command '%s'", name);
    fputs(suggest_end(&suggest).text, call->err);
    end_usage_error(call->err, NULL);
    return NULL;
}

static bool asks_help(const char *name)
{
    return strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
}

/* The arguments behind `help`. */
static enum exit_status run_help(const struct call *call)
{
    if (call->n_args > 1) {
        fprintf(call->err, "skirc: 'help' takes at most 1 command; '%s' is one too many",
                call->args[1]);
        return end_usage_error(call->err, NULL);
    }
    if (call->n_args == 0 || asks_help(call->args[0])) {
        help_general(call->cli, call->out);
        return EXIT_DONE;
    }
    const struct command *command = find_command(call, call->args[0]);
    if (!command)
        return EXIT_USAGE;
    help_command(call->cli, command, call->out);
    return EXIT_DONE;
}

/* An option where the command should be. */
static enum exit_status misplaced_option(const char *arg, FILE *err)
{
    const char *name = arg + strspn(arg, "-");
    struct suggest suggest = {.wanted = name, .wanted_size = strcspn(name, "="), .before = "--"};
    suggest_offer_text(&suggest, "help");
    suggest_offer_text(&suggest, "version");
    fprintf(err, "skirc: '%s' stands where a command should", arg);
    fputs(suggest_end(&suggest).text, err);
    return end_usage_error(err, NULL);
}

static enum exit_status run_call(struct call *call)
{
    if (call->n_args == 0) {
        help_usage(call->err);
        fputs("try 'skirc --help'\n", call->err);
        return EXIT_USAGE;
    }
    const char *name = call->args[0];
    next_argument(call);
    if (asks_help(name))
        return run_help(call);
    if (strcmp(name, "--version") == 0) {
        if (call->n_args > 0) {
            fprintf(call->err, "skirc: '--version' stands alone, but '%s' is given", call->args[0]);
            return end_usage_error(call->err, NULL);
        }
        fputs("skirc " PACKAGE_VERSION "\n", call->out);
        return EXIT_DONE;
    }
    if (name[0] == '-')
        return misplaced_option(name, call->err);
    const struct command *command = find_command(call, name);
    return command ? run_command(call, command) : EXIT_USAGE;
}

static void work(void *user)
{
    struct call *call = user;
    call->status = run_call(call);
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
    struct call call = {cli, out, err, argv, argc > 0 ? (unsigned)argc : 0, EXIT_DONE};
    struct mem_scope scope = {.blocks = NULL};
    if (call.n_args > 0)
        next_argument(&call);
    bool done = mem_scope_run(&scope, work, &call);
    file_protect_inputs(false); /* they were those of the command */
    return done ? output_end(out, err, call.status) : out_of_memory(err);
}
