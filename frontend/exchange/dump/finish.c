#include "frontend/exchange/dump/finish.h"

bool dump_finish(struct dump *dump)
{
    return !dump->diags->counts[SEVERITY_ERROR];
}
