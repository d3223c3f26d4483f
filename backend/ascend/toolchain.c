/* The device compiler, where there is one: from source to linked object. */
#include "backend/ascend/ascend.h"

enum backend_status ascend_emit_object(const struct emission_job *job)
{
    return ascend_not_yet(job, "obj");
}
