/* What time records are called. */
#ifndef FRONTEND_EXCHANGE_WRITERS_PROFILE_NAMES_H
#define FRONTEND_EXCHANGE_WRITERS_PROFILE_NAMES_H

#include "backend/run.h"
#include "ir/base/text.h"

/* What is common to records: "kernel", "op", "notify", "wait" (for an event), "barrier", "flag",
 * "select". */
const char *profile_category(const struct skrt_profile_record *record);
/* Of one in a launch: "MatMul(%a, %b, %m)", "await aiv before Add(%m, %b, %y)". */
void profile_name(struct text *text, const struct run_profile_launch *launch,
                  const struct skrt_profile_record *record);

/* The core types, as the language has them. */
extern const char *const profile_core_names[SKRT_CORE_TYPES];

#endif
