/* The end of kernels' code: what runs then is to leave results alone. */
#ifndef FRONTEND_COMMANDS_RUN_UNLOAD_H
#define FRONTEND_COMMANDS_RUN_UNLOAD_H

#include "frontend/commands/runner.h"

/* Takes the code of all outcomes away, which runs destructors and what is left to atexit(). Where
 * they change a value that options ask for, that is told, and ends the process. */
void run_unload(const struct outcomes *outcomes);

#endif
