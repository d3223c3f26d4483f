/* What belongs to a process as a whole, and decides where and how its files are written: kernels
 * that change it change what is done behind them. */
#ifndef FRONTEND_COMMANDS_RUN_SETTINGS_H
#define FRONTEND_COMMANDS_RUN_SETTINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct run_settings {
    char folder[PATH_MAX]; /* "": it has no name */
    struct run_settings_file {
        dev_t device;
        ino_t file;
    } current, root; /* folders */
    uid_t user, file_user;
    gid_t group, file_group;
    uint32_t capabilities[2]; /* those in effect */
    bool no_more_privileges;  /* PR_SET_NO_NEW_PRIVS */
    int streams[3]; /* flags of standard input, output and error; -1: it is not open */
    mode_t mask;
    struct rlimit limits[RLIM_NLIMITS];
};

void run_settings_take(struct run_settings *settings);
/* Sets what others have changed as it was, as far as that can be done. False where nothing was
 * changed; else what was, for people: "changed the limit RLIMIT_FSIZE". */
bool run_settings_restore(const struct run_settings *settings, char *changed, size_t size);

#endif
