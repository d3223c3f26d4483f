/* Entries in AscendC. */
#include "backend/ascend/ascend.h"

enum backend_status ascend_emit_source(const struct emission_job *job)
{
    return ascend_not_yet(job, "ascendc");
}
