#include "frontend/cli/fusion_arguments.h"

bool fusion_arguments_read(const struct invocation *invocation, struct session_options *options)
{
    static const char *const partitions[] = {"fewest", "reference", NULL};
    static const char *const names[] = {"own", "reference", NULL};
    unsigned partition = 0, name = 0;
    if (!option_exists(invocation, "partition"))
        return true;
    if (!option_choice(invocation, "partition", partitions, &partition) ||
        !option_choice(invocation, "names", names, &name))
        return false;
    options->reference_partition = partition == 1;
    options->reference_names = name == 1;
    return true;
}

bool fusion_arguments_check(const struct invocation *invocation)
{
    struct session_options options = {.target = NULL};
    return fusion_arguments_read(invocation, &options);
}
