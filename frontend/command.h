/* Commands of skirc, callable in-process: with streams of their own, and without exit. */
#ifndef FRONTEND_COMMAND_H
#define FRONTEND_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit statuses. */
enum exit_status {
    EXIT_DONE = 0,
    EXIT_INPUT = 1,  /* the input is at fault; diagnostics are on the error stream */
    EXIT_USAGE = 2,  /* wrong usage */
    EXIT_DEFECT = 3, /* skirc is at fault */
    EXIT_TOOL = 4,   /* an external tool failed */
};

enum option_kind {
    OPTION_FLAG,     /* --name */
    OPTION_VALUE,    /* --name=VALUE, --name VALUE; the last one counts */
    OPTION_OPTIONAL, /* --name, --name=VALUE */
    OPTION_MANY,     /* as OPTION_VALUE, but every one counts */
};

struct option {
    const char *name;   /* without dashes */
    char letter;        /* -o for "output", or 0 */
    enum option_kind kind;
    const char *metavar; /* NULL for flags */
    const char *help;
};

struct invocation;

struct command {
    const char *name;
    const char *synopsis; /* what follows the command's name, for example "[OPTIONS] FILE..." */
    const char *summary;  /* one line */
    const char *details;  /* further help text, or NULL */
    const struct option *options; /* ended by a NULL name; options of every command are added */
    unsigned min_files, max_files;
    enum exit_status (*run)(struct invocation *invocation);
};

struct invocation {
    const struct command *command;
    FILE *out, *err;
    const char **files;
    unsigned n_files;
    struct option_use *uses;
    unsigned n_uses;
};

/* All commands, ended by a NULL name. */
extern const struct command commands[];
/* Options that every command takes: help, remarks, max-errors, color ... */
extern const struct option common_options[];

/* Runs skirc with these arguments (argv[0] is the program) and returns its exit status. Usage errors,
 * with "did you mean", go to `err`. argv must outlive nothing but the call. */
enum exit_status skirc_main(int argc, const char *const *argv, FILE *out, FILE *err);

/* What the user gave for an option. The name must be one of the command's or a common one. */
bool option_given(const struct invocation *invocation, const char *name);
/* The last value, or NULL where the option is not given or has no value. */
const char *option_value(const struct invocation *invocation, const char *name);
/* The n-th value of an OPTION_MANY; NULL behind the last. */
const char *option_value_at(const struct invocation *invocation, const char *name, unsigned n);
/* A whole number with an optional suffix-free decimal value in [low, high]; false, with a message on
 * the error stream, where the value is none. `*number` stays as it is where the option is absent. */
bool option_number(const struct invocation *invocation, const char *name, uint64_t low,
                   uint64_t high, uint64_t *number);

#endif
