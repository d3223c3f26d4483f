/* The metadata of the linked kernel. */
#include "backend/ascend/ascend.h"

enum backend_status ascend_emit_meta(const struct emission_job *job)
{
    return ascend_not_yet(job, "meta");
}
