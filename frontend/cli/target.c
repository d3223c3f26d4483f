#include "frontend/cli/target.h"

const struct backend *target_option(const struct invocation *invocation)
{
    char error[512];
    const char *name = option_value(invocation, "target");
    const struct backend *backend =
        name ? backend_find(name, error, sizeof error) : backend_default();
    if (!backend)
        usage_error(invocation, "%s", error);
    return backend;
}
