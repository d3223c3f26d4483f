/* skirc check --explain: where combinations of gears differ, and why. */
#ifndef FRONTEND_COMMANDS_CHECK_GEARS_H
#define FRONTEND_COMMANDS_CHECK_GEARS_H

#include "ir/module.h"

#include <stdio.h>

/* Prints an account of each graph with gears of a module that is lowered. */
void check_gears_print(FILE *out, struct module *module);

#endif
