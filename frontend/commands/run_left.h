/* Kernels that leave a thread or a process running behind a launch, whose memory goes away, or that
 * close the streams of the process, on which results are to be told, or change its settings. */
#ifndef FRONTEND_COMMANDS_RUN_LEFT_H
#define FRONTEND_COMMANDS_RUN_LEFT_H

#include "frontend/commands/run_files.h"
#include "frontend/commands/run_running.h"
#include "frontend/commands/run_settings.h"
#include "frontend/commands/run_threads.h"
#include "frontend/commands/runner.h"

/* What runs, and what is open, before a launch. */
enum { RUN_LEFT_STREAMS = 3 };
struct run_left {
    struct run_running running;
    struct run_left_stream {
        bool open;
        struct run_file file;
    } streams[RUN_LEFT_STREAMS]; /* standard input, output and error */
    struct run_files files;
    struct run_settings settings;
    struct run_threads threads;
    bool can_map;
    long filters;   /* of system calls, of this thread; -1: nobody says */
    char what[128]; /* run_left_end */
    char call[512]; /* that has done it, a line; "": it is not known */
};

/* Whether so many files can be open as it takes to find out what kernels have done; told if not. */
bool run_left_can_look(struct diags *diags);
void run_left_begin(struct run_left *left);
/* Behind it: what was done that is not to be, "left a thread running", or NULL. Settings are as
 * they were. */
const char *run_left_end(struct run_left *left);
/* Behind a launch that has not come to its end: settings alone. */
void run_left_restore(struct run_left *left);
/* Whether kernels have forbidden this thread system calls, what is to be said of it, or NULL: there
 * is little that can be done behind that, and what is tried may never end. */
const char *run_left_forbidden(const struct run_left *left);
/* The same of what else leaves this process unable to go on. */
const char *run_left_hindered(const struct run_left *left);

/* As apart_code_runs(), for code beside launches: what it has done that is not to be is told, and
 * ends the process. */
void run_left_code_runs(const char *what);

/* Where kernels have sent signals to their threads, which keep them back, says so with the
 * suspects, and ends the process. */
void run_left_check_signals(FILE *err);

/* Opens the streams anew, each on a file of its own that is nowhere: it is seen who closes them. */
void run_left_open_streams(void);

/* Finds the first op that does such a thing, while ops run one by one. */
struct run_left_search {
    struct runner *runner;
    struct run_left left;
    const char *call; /* known to have done it, a line; or NULL: the op is looked for */
    char op[256];     /* or "" */
};
struct run_watch run_left_watch(struct run_left_search *search);

/* Says what was done, and by whom where that was found, or else what ran; and ends the process. */
_Noreturn void run_left_report(const struct run_left_search *search, const char *what);

#endif
