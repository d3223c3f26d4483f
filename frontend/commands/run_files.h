/* Descriptors of this process, but for the standard streams: those that it has are not the kernels'
 * to close or replace, and some are not to outlive a launch. */
#ifndef FRONTEND_COMMANDS_RUN_FILES_H
#define FRONTEND_COMMANDS_RUN_FILES_H

#include <stdbool.h>
#include <sys/types.h>

/* Of more of them than there is room for, the others are not looked at. */
enum { RUN_FILES = 64 };
struct run_files {
    unsigned count;
    struct run_file {
        int fd;
        dev_t device;
        ino_t file;
    } at[RUN_FILES];
};

/* What is open under a number; false where nothing is. */
bool run_file_look(struct run_file *file, int fd);
/* Whether that is open there no more. */
bool run_file_is_gone(const struct run_file *file);

void run_files_take(struct run_files *files);
/* What was done with them that is not to be, for people; or NULL. */
const char *run_files_changed(const struct run_files *files);

#endif
