/* What can stand behind options. */
#ifndef FRONTEND_SUPPORT_VALUES_H
#define FRONTEND_SUPPORT_VALUES_H

#include "frontend/cli/command.h"

enum value_kind {
    VALUE_NONE, /* a flag */
    VALUE_ANY,
    VALUE_WORDS,
    VALUE_FILE,
    VALUE_FOLDER
};

struct option_values {
    enum value_kind kind;
    const char *const *words; /* ended by NULL */
    char between;             /* 0: one value */
};

struct option_values option_values(const struct command *command, const struct option *option);

#endif
