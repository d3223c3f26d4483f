/* What commands write, and with which exit status they end. */
#ifndef FRONTEND_DRIVER_MODULE_IO_H
#define FRONTEND_DRIVER_MODULE_IO_H

#include "frontend/driver/command.h"
#include "ir/core/module.h"
#include "ir/support/file.h"
#include "ir/support/intern.h"
#include "ir/support/json.h"
#include "ir/syntax/print.h"

/* The exit status of the worse of two outcomes. */
enum exit_status worse_status(enum exit_status a, enum exit_status b);

/* Writes text to `path` ("-" or NULL: the invocation's output stream). Failures are reported on the
 * error stream, as EXIT_INPUT. */
enum exit_status write_output(const struct invocation *invocation, const char *path,
                              const struct text *text);

/* Hands text on to the sink; false where the sink did not take all of it. */
typedef bool text_producer(struct print_sink *sink, const void *what);
/* The same for text that is not held in memory as a whole: that which `produce` makes of `what`. */
enum exit_status write_produced(const struct invocation *invocation, const char *path,
                                text_producer *produce, const void *what);
/* The same for the text of a module (see print_module). */
enum exit_status write_module(const struct invocation *invocation, const char *path,
                              const struct module *module, const struct spans *comments);

/* ---- Paths ---- */

/* Whether the options name different files to write, none of them "". Otherwise it is a usage
 * error. Standard output and devices may be written by several. */
bool outputs_are_apart(const struct invocation *invocation);

/* What becomes of files without --output. */
enum outputs_without { OUTPUTS_ONE /* one is printed, several are refused */, OUTPUTS_JOINED };

/* Does the work for each file of the command, and returns the worst status. Outputs are those of
 * --output: a file, for one input; or a folder, one that is there, or a path with a slash at its
 * end, which is made. In a folder, files are named after the inputs, with this suffix. Where two
 * would be one, or one an input, nothing is done: a usage error. "-" is the output stream. */
typedef enum exit_status outputs_work(struct invocation *invocation, const char *input,
                                      const char *output, const void *user);
enum exit_status outputs_each(struct invocation *invocation, const char *suffix,
                              enum outputs_without without, outputs_work *work, const void *user);

/* A .skir file as the commands use it: read, parsed, and its diagnostics. */

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

/* A module that is written to another folder than it came from. */

/* Makes the relative paths of its includes, and of files with contents, lead from the folder of the
 * file `to` to where they led from that of the file `from`. "-" stands in the current folder as an
 * input; as an output it is in no folder that is known, and paths stay. Kernels that were imported
 * have paths, too: of their objects, and of the metadata that they came from (`_json`). */
void move_paths(struct module *module, const char *from, const char *to);

#endif
