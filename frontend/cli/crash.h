/* What is said when a sub-kernel crashes the process. */
#ifndef FRONTEND_CLI_CRASH_H
#define FRONTEND_CLI_CRASH_H

#include <stdbool.h>
#include <stddef.h>

/* Who knows what is at an address. `text` is what a signal handler can call; false: nothing is
 * known of it. */
struct crash_map {
    bool (*text)(const void *context, const void *address, char *text, size_t size);
    const void *context;
    /* Or who has an address protected, and lets the call that has written there go on; NULL: nobody
     * has. */
    bool (*allow)(void *allows, const void *address, const char *call);
    void *allows;
};

/* Until the end, SIGSEGV, SIGBUS, SIGFPE and SIGILL print on standard error which core ran what,
 * and what is near the address that it touched, and end the process with EXIT_INPUT: the kernels
 * are the user's. The map stays where it is. */
void crash_reports_begin(const struct crash_map *map);
void crash_reports_end(void);

/* The first call of the launches before this, of those that were noted (apart.h), that did not
 * leave as it was how its thread computes, as a line; "": none. */
const char *crash_changed_floats(char *text, size_t size);

#endif
