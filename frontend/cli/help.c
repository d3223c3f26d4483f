#include "frontend/cli/help.h"

#include <string.h>

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

void help_command(const struct cli *cli, const struct command *command, FILE *out)
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

void help_usage(FILE *out)
{
    fputs("Usage: skirc COMMAND [OPTIONS] FILE...\n", out);
}

void help_general(const struct cli *cli, FILE *out)
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
