/* What a process would leave behind if it ended now: temporary files and folders, and processes
 * that it has started. It is noted in memory that processes which are forked later share, so that a
 * handler of a signal can clean up before the process ends by it, and a parent behind a child,
 * however that has ended. */
#ifndef IR_BASE_LEFTOVERS_H
#define IR_BASE_LEFTOVERS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

enum leftover_kind {
    LEFTOVER_FILE,
    LEFTOVER_FOLDER,  /* with regular files alone in it */
    LEFTOVER_PROCESS, /* with its group where it leads one; it gets time to clean up itself */
};

/* Where there is no more room nothing is noted: the number of nothing. */
enum { LEFTOVER_NONE = -1 };

/* Between these no signal that would end the process is delivered to this thread: what is made
 * between them is noted between them. */
void leftovers_hold(sigset_t *before);
void leftovers_release(const sigset_t *before);

/* Notes what this process has made; returns the number by which it is forgotten when it is gone. */
int leftovers_note(enum leftover_kind kind, const char *path);
/* `stubborn`, which may be set later, says that it may ignore signals, and all that it has to clean
 * up is noted: then it gets little time for it. NULL: it never is. It outlives the note. */
int leftovers_note_process(pid_t pid, const atomic_bool *stubborn);
/* A process has ended; what it has noted goes on being cleared with this one's. */
void leftovers_note_end(int number);
void leftovers_forget(int number);

/* From now on, what is noted is shared with processes that are forked. Nothing is noted yet. False
 * where there is no memory for that. */
bool leftovers_share(void);

/* Ends a process that this one has started, and waits for it. As the next two, it may be called by
 * handlers of signals. */
void leftovers_end_process(pid_t pid);

/* From now on, processes whose parents have ended are this one's, as are those that it has started
 * itself: none of them outlives it. */
void leftovers_adopt(void);
/* Whether it is one that this process has started, or one of those has, and so on. */
bool leftovers_is_below(pid_t pid);
/* Reaps those that have ended. Whether there are more. */
bool leftovers_have_children(void);
/* Ends them now, and all of this group where it is not 0. Returns whether there were any. */
bool leftovers_end_adopted(pid_t group);

/* Ends and removes what this process has noted, and what those processes have. */
void leftovers_clear(void);
/* The same behind a process of this one's that has ended. */
void leftovers_clear_of(pid_t pid);

#endif
