/* The command lines of the device compiler and linker. */
#include "backend/ascend/ascend.h"

enum backend_status ascend_emit_commands(const struct emission_job *job)
{
    return ascend_not_yet(job, "commands");
}
