/* The target `ascend`: NPUs. What its rows of backends.def name and no file of its own has. */
#include "backend/ascend/ascend.h"
#include "ir/base/diag.h"

const struct backend_functions ascend_functions = {.check_op = NULL};

enum backend_status ascend_not_yet(const struct emission_job *job, const char *emission)
{
    diag_at(job->diags, DIAG_unsupported, no_span, "the target 'ascend' does not emit '%s' yet",
            emission);
    return BACKEND_INPUT;
}
