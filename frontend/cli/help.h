/* Help texts, made from the tables of a program and wrapped at 80 columns. */
#ifndef FRONTEND_CLI_HELP_H
#define FRONTEND_CLI_HELP_H

#include "frontend/cli/command.h"

/* One line: how skirc is called. */
void help_usage(FILE *out);
/* What `skirc --help` says. */
void help_general(const struct cli *cli, FILE *out);
/* What `skirc COMMAND --help` says. */
void help_command(const struct cli *cli, const struct command *command, FILE *out);

#endif
