#define _GNU_SOURCE /* environ, uselocale */
#include "frontend/commands/run_own.h"

#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    bool made, lent;
    char **environment, **theirs;
    locale_t locale, their_locale;
} own;

/* With its strings: who has one may write there. NULL where there is no memory. */
static char **copy_environment(char **from)
{
    size_t count = 0, size = 0;
    for (; from && from[count]; count++)
        size += strlen(from[count]) + 1;
    char **copy = malloc((count + 1) * sizeof *copy + size);
    char *at = copy ? (char *)(copy + count + 1) : NULL;
    if (!copy)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        copy[i] = at;
        at = stpcpy(at, from[i]) + 1;
    }
    copy[count] = NULL;
    return copy;
}

/* The standard locale is there without files, and without memory. */
static void make(void)
{
    own.made = true;
    own.locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    own.their_locale = LC_GLOBAL_LOCALE;
    own.environment = environ;
    own.theirs = copy_environment(environ);
    if (!own.theirs)
        own.theirs = environ;
}

void run_own_lend(void)
{
    if (!own.made)
        make();
    if (own.lent)
        return;
    own.lent = true;
    environ = own.theirs;
    uselocale(own.their_locale);
}

void run_own_take_back(void)
{
    if (!own.lent)
        return;
    own.lent = false;
    own.theirs = environ;
    environ = own.environment;
    own.their_locale = uselocale(own.locale);
}
