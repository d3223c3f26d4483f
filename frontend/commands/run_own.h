/* What this program has of its own in a process in which kernels run: the locale of the thread that
 * does its work, which decides how numbers are written, and the environment, which says where tools
 * and temporary files are. Kernels have others, which they may change. */
#ifndef FRONTEND_COMMANDS_RUN_OWN_H
#define FRONTEND_COMMANDS_RUN_OWN_H

/* Code of others runs from now on: it finds what it has left, at first a copy of this program's. */
void run_own_lend(void);
/* It runs no more. */
void run_own_take_back(void);

#endif
