/* The target `ascend`: what its files share. */
#ifndef BACKEND_ASCEND_ASCEND_H
#define BACKEND_ASCEND_ASCEND_H

#include "backend/backend.h"

/* Refuses an emission that is not there yet. */
enum backend_status ascend_not_yet(const struct emission_job *job, const char *emission);

#endif
