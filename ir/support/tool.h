/* External tools: the system's C and C++ compilers. */
#ifndef IR_SUPPORT_TOOL_H
#define IR_SUPPORT_TOOL_H

#include "ir/support/memory.h"

#include <stdbool.h>
#include <stddef.h>

/* Runs a program, found by PATH, with these arguments (argv[0] is the program; NULL-terminated) and
 * no standard input. What it prints is kept. False where it cannot be started, is killed, exits
 * with another status than 0, or takes longer than the seconds that SKIR_TOOL_TIMEOUT says (600):
 * `error` then says so, with the first lines of what it printed. A signal that ends this process
 * ends it, too. It has a temporary folder (TMPDIR) of its own. */
bool tool_run(const char *const *argv, char *error, size_t error_size);

/* The same with the C compiler in front of these arguments: the words of the environment's CC,
 * which may be a launcher or have options ("ccache gcc", "gcc -m64"), else cc. */
bool tool_run_cc(const char *const *args, char *error, size_t error_size);

/* The same with a C++ compiler: CXX, else the one that configure found. */
bool tool_run_cxx(const char *const *args, char *error, size_t error_size);

/* What these two run; "" where there is no C++ compiler. */
const char *tool_cc(void);
const char *tool_cxx(void);

/* Whether SKIR_TOOL_TIMEOUT, if it is set, is a number of seconds, 1 to 1000000. */
bool tool_timeout_is_valid(void);
/* The seconds that a tool may take: what it says, else 600. */
long tool_timeout(void);

/* A folder for temporary files, which stays where it is in memory. */
struct tool_folder {
    char *path;
    int cleanup; /* that it is noted by */
    struct mem_guard guard;
};

/* Makes a new one, in TMPDIR or /tmp. False, with errno set, on failure. */
bool tool_folder_make(struct tool_folder *folder);
/* Removes it with all regular files in it. */
void tool_folder_remove(struct tool_folder *folder);

#endif
