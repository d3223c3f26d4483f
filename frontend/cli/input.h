/* A .skir file as the commands use it: read, parsed, and its diagnostics. */
#ifndef FRONTEND_CLI_INPUT_H
#define FRONTEND_CLI_INPUT_H

#include "frontend/cli/output.h"
#include "ir/base/file.h"
#include "ir/base/json.h"
#include "ir/syntax/print.h"

struct input {
    const struct invocation *invocation;
    const char *path;
    struct file_bytes bytes;
    struct source source;
    struct spans comments;
    struct diags diags;
    struct module *module; /* NULL where the file could not be read or parsed */
    bool keeps_remarks;    /* no file of --remarks is to be written: it was told why */
};

/* Reads and parses; what the file includes is left alone. Whatever goes wrong is in
 * input->diags. */
void input_open(struct input *input, const struct invocation *invocation, const char *path);
/* Only reads, a text in a format of others. Returns whether there is one. */
bool input_open_foreign(struct input *input, const struct invocation *invocation, const char *path);
/* input_open with what the file includes, then the verifier. Returns whether there is a correct
 * module. */
bool input_open_verified(struct input *input, const struct invocation *invocation,
                         const char *path);
/* Appends the diagnostics so far to an open array, as objects with severity, id, text, position
 * and notes. */
void input_diags_json(struct input *input, struct json *json, const char *file);

/* Prints the diagnostics, releases everything, and returns EXIT_INPUT if there were errors, else
 * `status`. Writes the remarks file where one was asked for. */
enum exit_status input_close(struct input *input, enum exit_status status);

/* Whether it is the file that --compare names: what is given for the command's own file need not
 * be there. */
bool input_is_compared(const struct input *input);

#endif
