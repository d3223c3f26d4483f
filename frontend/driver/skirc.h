/* The program skirc: its commands, and the options that all of them take. */
#ifndef FRONTEND_DRIVER_SKIRC_H
#define FRONTEND_DRIVER_SKIRC_H

#include "frontend/driver/command.h"

extern const struct cli skirc;

#endif
