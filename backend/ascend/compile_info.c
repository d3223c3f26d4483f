/* Compile info: what the host side must know of the entries. */
#include "backend/ascend/ascend.h"

enum backend_status ascend_emit_compile_info(const struct emission_job *job)
{
    return ascend_not_yet(job, "compile-info");
}
