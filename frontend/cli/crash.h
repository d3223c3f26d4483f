/* What is said when a sub-kernel crashes the process. */
#ifndef FRONTEND_CLI_CRASH_H
#define FRONTEND_CLI_CRASH_H

/* Until the end, SIGSEGV, SIGBUS, SIGFPE and SIGILL print on standard error which core ran what,
 * and end the process with EXIT_INPUT: the kernels are the user's. */
void crash_reports_begin(void);
void crash_reports_end(void);

#endif
