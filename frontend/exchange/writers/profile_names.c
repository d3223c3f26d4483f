#include "frontend/exchange/writers/profile_names.h"

const char *const profile_core_names[SKRT_CORE_TYPES] = {[SKRT_AIC] = "aic", [SKRT_AIV] = "aiv"};

static const struct {
    const char *category, *prefix;
} kinds[SKRT_PROFILE_KINDS] = {
    [SKRT_PROFILE_KERNEL] = {"kernel", ""},
    [SKRT_PROFILE_OP] = {"op", ""},
    [SKRT_PROFILE_NOTIFY] = {"notify", "notify of "},
    [SKRT_PROFILE_WAIT] = {"wait", "wait of "},
    [SKRT_PROFILE_BARRIER] = {"barrier", "await "},
    [SKRT_PROFILE_FLAG] = {"flag", "wait "},
    [SKRT_PROFILE_KERNEL_FLAG] = {"flag", "kernel's wait "},
    [SKRT_PROFILE_FULL_BARRIER] = {"barrier", "full barrier"},
    [SKRT_PROFILE_FEED] = {"barrier", "fed barrier"},
    [SKRT_PROFILE_TILING] = {"select", "select"},
};

const char *profile_category(const struct skrt_profile_record *record)
{
    return kinds[record->kind].category;
}

/* What the instruction names: the group of the barrier, the flag. */
static const char *operand(const struct skrt_profile_record *record)
{
    switch (record->kind) {
    case SKRT_PROFILE_BARRIER: return profile_core_names[record->type];
    case SKRT_PROFILE_FLAG:
    case SKRT_PROFILE_KERNEL_FLAG: return record->type == SKRT_AIC ? "v2c" : "c2v";
    default: return "";
    }
}

static void put_op(struct text *text, const struct run_profile_launch *launch, uint32_t index)
{
    if (index < launch->n_ops)
        text_string(text, launch->ops[index]);
    else
        text_printf(text, "op %u", index);
}

void profile_name(struct text *text, const struct run_profile_launch *launch,
                  const struct skrt_profile_record *record)
{
    text_string(text, kinds[record->kind].prefix);
    if (record->kind == SKRT_PROFILE_KERNEL) {
        text_string(text, launch->name);
        return;
    }
    if (record->kind > SKRT_PROFILE_WAIT) {
        text_string(text, operand(record));
        text_string(text, record->index == UINT32_MAX ? " at the end"
                          : record->inside            ? " in "
                                                      : " before ");
    }
    if (record->index != UINT32_MAX)
        put_op(text, launch, record->index);
}
