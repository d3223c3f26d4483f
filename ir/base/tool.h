/* External tools: the system's C compiler. */
#ifndef IR_BASE_TOOL_H
#define IR_BASE_TOOL_H

#include <stdbool.h>
#include <stddef.h>

/* Runs a program, found by PATH, with these arguments (argv[0] is the program; NULL-terminated) and
 * no standard input. What it prints is kept. False where it cannot be started, is killed or exits
 * with another status than 0: `error` then says so, with the first lines of what it printed. */
bool tool_run(const char *const *argv, char *error, size_t error_size);

/* The same with the C compiler in front of these arguments: the words of the environment's CC,
 * which may be a launcher or have options ("ccache gcc", "gcc -m64"), else cc. */
bool tool_run_cc(const char *const *args, char *error, size_t error_size);

/* A new empty folder for temporary files, in TMPDIR or /tmp. NULL, with errno set, on failure.
 * Freed with all regular files in it by tool_remove_folder. */
char *tool_make_folder(void);
void tool_remove_folder(char *folder);

#endif
