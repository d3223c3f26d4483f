/* Threads that wait for work that several of them do at a time. They are started when they are
 * first wanted, as many as the system lets us have, and kept for what comes next: to start one
 * costs more than much of the work. */
#ifndef IR_BASE_WORKERS_H
#define IR_BASE_WORKERS_H

/* Calls `work(user)` on this thread, and on up to `others` more as they come by while it runs; it
 * shares out what there is to do itself. Returns when all calls have. Where another thread has its
 * work done, or where this is such a call, this thread is the only one. */
void workers_run(unsigned others, void (*work)(void *user), void *user);

/* Ends the threads that wait, and frees what they hold. More are started when they are wanted
 * again. To be called by who may be unloaded; the end of the process needs no such call. */
void workers_stop(void);

#endif
