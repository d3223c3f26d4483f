/* Whose kernels run: what there is to say where it is not known which one has done something. */
#ifndef FRONTEND_COMMANDS_RUN_SUSPECTS_H
#define FRONTEND_COMMANDS_RUN_SUSPECTS_H

#include "frontend/commands/runner.h"

/* Tells apart_suspect of all ops that run kernels in any of these outcomes, before code of theirs
 * is loaded. */
void run_suspects_tell(const struct outcomes *outcomes);

#endif
