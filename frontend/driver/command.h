/* A program of commands, callable in-process: with streams of its own, and without exit.
 *
 * What commands there are, and their options, is data: a `struct cli`. Parsing, usage errors and
 * help are made from its tables.
 *
 * `skirc COMMAND [OPTIONS] FILE...`: the command comes first; options and files mix freely behind
 * it. `--` ends the options, and `-` is a file name. A value is joined to its option
 * (`--name=VALUE`, `-oVALUE`) or is the next argument, whatever that looks like. Flags with letters
 * join: `-ab`.
 */
#ifndef FRONTEND_DRIVER_COMMAND_H
#define FRONTEND_DRIVER_COMMAND_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit statuses. */
enum exit_status {
    EXIT_DONE = 0,
    EXIT_INPUT = 1,  /* the input is at fault, or a file cannot be read or written */
    EXIT_USAGE = 2,  /* wrong usage */
    EXIT_DEFECT = 3, /* skirc is at fault, or has no memory left */
    EXIT_TOOL = 4,   /* an external tool failed */
};

/* What an option takes. */
struct option_kind {
    enum {
        VALUE_NONE,     /* --name */
        VALUE_LAST,     /* --name=VALUE, --name VALUE; the last one counts */
        VALUE_WORD,     /* the same: one of `words` */
        VALUE_NUMBER,   /* the same: a decimal whole number in [low, high] */
        VALUE_MANY,     /* the same, but every one counts */
        VALUE_OPTIONAL, /* --name, --name=VALUE; the next argument is never its value */
    } value;
    const char *const *words; /* the default first; a NULL ends them */
    uint64_t low, high;
};

#define OPTION_FLAG                                                                                \
    {                                                                                              \
        .value = VALUE_NONE                                                                        \
    }
#define OPTION_VALUE                                                                               \
    {                                                                                              \
        .value = VALUE_LAST                                                                        \
    }
#define OPTION_WORD(...)                                                                           \
    {                                                                                              \
        .value = VALUE_WORD, .words = (const char *const[])                                        \
        {                                                                                          \
            __VA_ARGS__, NULL                                                                      \
        }                                                                                          \
    }
#define OPTION_NUMBER(least, greatest)                                                             \
    {                                                                                              \
        .value = VALUE_NUMBER, .low = least, .high = greatest                                      \
    }
#define OPTION_MANY                                                                                \
    {                                                                                              \
        .value = VALUE_MANY                                                                        \
    }
#define OPTION_OPTIONAL                                                                            \
    {                                                                                              \
        .value = VALUE_OPTIONAL                                                                    \
    }

struct option {
    const char *name; /* without dashes */
    char letter;      /* -o for "output", or 0 */
    struct option_kind kind;
    const char *metavar; /* NULL for flags */
    const char *help;    /* wrapped; a newline in it starts a new line */
};

enum { FILES_UNLIMITED = UINT_MAX };

struct invocation;

struct command {
    const char *name;
    const char *synopsis; /* what follows the command's name, for example "[OPTIONS] FILE..." */
    const char *summary;  /* one line */
    /* Further help text, or NULL. Its lines are wrapped one by one; those that start with a space
     * stay as they are. */
    const char *details;
    const struct option *options;  /* ended by a NULL name, or NULL; common ones are added */
    unsigned min_files, max_files; /* max_files may be FILES_UNLIMITED */
    enum exit_status (*run)(struct invocation *invocation);
};

/* What a program's command line is made of. Tables end with a NULL name. */
struct cli {
    const struct command *commands; /* `help` is not among them: cli_main has it */
    /* Options that every command takes. The one named "help" shows the command's help, without
     * running the command. */
    const struct option *common_options;
    /* Runs the command of an invocation whose arguments are read. NULL: command->run does. */
    enum exit_status (*run)(struct invocation *invocation);
    /* Of what a clock has measured nothing is printed (put_milliseconds): the output is the same
     * the next time. */
    bool steady;
};

/* A command as it was called; valid while it runs. */
struct invocation {
    const struct cli *cli;
    const struct command *command;
    FILE *out, *err;
    const char **files;
    unsigned n_files;
    struct option_use *uses; /* in the order of the arguments; see option_given and the like */
    unsigned n_uses;
};

/* Runs the program with these arguments (argv[0] is its name) and returns its exit status. Usage
 * errors, with "did you mean", go to `err`. Output that cannot be written is EXIT_INPUT.
 * Exhausted memory ends the command, but nothing else. */
enum exit_status cli_main(const struct cli *cli, int argc, const char *const *argv, FILE *out,
                          FILE *err);
/* The status of a command that ends so far with `status`, when its output has been written. */
enum exit_status output_end(FILE *out, FILE *err, enum exit_status status);
/* Says that memory is exhausted. Always EXIT_DEFECT. */
enum exit_status out_of_memory(FILE *err);

/* What the user gave for an option; nothing where the command does not have the option. */
bool option_given(const struct invocation *invocation, const char *name);
/* Whether the command has the option at all. */
bool option_exists(const struct invocation *invocation, const char *name);
/* The last value, or NULL where the option is not given or its last use has no value. */
const char *option_value(const struct invocation *invocation, const char *name);
/* The n-th value; NULL after the last, and where a use of an OPTION_OPTIONAL has none. */
const char *option_value_at(const struct invocation *invocation, const char *name, unsigned n);
/* The value of an OPTION_NUMBER, or `fallback` where it is not given. */
uint64_t option_number(const struct invocation *invocation, const char *name, uint64_t fallback);
/* The index of the value of an OPTION_WORD; 0, the default, where it is not given. */
unsigned option_word(const struct invocation *invocation, const char *name);

/* Prints on the error stream what is wrong with the arguments, and where to read more. Always
 * EXIT_USAGE, so that a command can return it. */
enum exit_status usage_error(const struct invocation *invocation, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same, always false. */
#define usage_fail(...) (usage_error(__VA_ARGS__) == EXIT_DONE)
/* Prints on the error stream, on one line, why the command fails. Always EXIT_INPUT. */
enum exit_status input_error(const struct invocation *invocation, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same, always false. */
#define input_fail(...) (input_error(__VA_ARGS__) == EXIT_DONE)

/* ---- Measured times ---- */

/* They are never the same twice: programs that are `steady` print a word in the place of each. */
static inline bool is_steady(const struct invocation *invocation)
{
    return invocation->cli->steady;
}

/* At least `width` columns. */
static inline void put_milliseconds(const struct invocation *invocation, FILE *out, int width,
                                    double milliseconds)
{
    if (is_steady(invocation))
        fprintf(out, "%*s", width, "TIME");
    else
        fprintf(out, "%*.3f ms", width > 3 ? width - 3 : 0, milliseconds);
}

#endif
