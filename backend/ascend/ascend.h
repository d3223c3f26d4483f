/* The target `ascend`: what its files share. */
#ifndef BACKEND_ASCEND_ASCEND_H
#define BACKEND_ASCEND_ASCEND_H

#include "backend/backend.h"

/* Whether the module has an entry; reports that it has none. */
bool entries_wanted(const struct emission_job *job);

#endif
