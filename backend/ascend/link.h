/* Links of device objects, by the engine of backend/object. */
#ifndef BACKEND_ASCEND_LINK_H
#define BACKEND_ASCEND_LINK_H

#include "backend/backend.h"

/* Links the entries' objects, one for each core type that some entry runs on (else NULL), with the
 * kernels that they call into one relocatable object whose only global symbols are the parts of
 * entries. */
enum backend_status link_entries(const struct emission_job *job,
                                 const char *const objects[CORE_TYPES], const char *output);

/* Links the kernels alone, and writes nothing: for what link_entries would refuse. */
enum backend_status link_check(const struct emission_job *job);

#endif
