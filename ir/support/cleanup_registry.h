/* What a process would leave when it ends: temporary files and folders, and processes that it has
 * started. Handlers of signals remove them, and a parent does after the end of a child: the
 * registry is in memory that is shared with processes that are forked. */
#ifndef IR_SUPPORT_CLEANUP_REGISTRY_H
#define IR_SUPPORT_CLEANUP_REGISTRY_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

enum cleanup_kind {
    CLEANUP_FILE,
    CLEANUP_FOLDER,  /* with regular files only */
    CLEANUP_PROCESS, /* with its group if it leads one; it has 2 seconds to clean up itself */
};

/* Between these, no signal is delivered to this thread: what is made between them is registered
 * between them. */
void cleanup_hold(sigset_t *before);
void cleanup_release(const sigset_t *before);

/* Registers, between the two, what this process has made: a path, or a process. Returns a number
 * for cleanup_forget(), CLEANUP_NONE where there is no room. */
enum { CLEANUP_NONE = -1 };
int cleanup_add(enum cleanup_kind kind, pid_t pid, const char *path);
/* It is gone, or is to stay. */
void cleanup_forget(int number);

/* ---- For handlers of signals, too. ---- */

/* Removes a folder with the files in it, without allocating. False, with errno set, where it
 * stays. */
bool cleanup_remove_folder(const char *path);
/* Ends a process that this one has started, and waits for it. */
void cleanup_end_process(pid_t pid);
/* Ends and removes all that a process has registered: this one, or a child that has ended. */
void cleanup_run(pid_t owner);

#endif
