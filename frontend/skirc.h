/* The program skirc: its commands, and the options that all of them take. */
#ifndef FRONTEND_SKIRC_H
#define FRONTEND_SKIRC_H

#include "frontend/cli/command.h"

extern const struct cli skirc;

#endif
