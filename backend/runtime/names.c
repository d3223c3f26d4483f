/* Names of core types, flags and statuses; cores and instructions in words. */
#include "backend/runtime/names.h"

#include <assert.h>

enum { MAX_RANGES = 8 }; /* of cores in one list; the rest is counted */

const struct skrt_flag_info skrt_flag_table[SKRT_FLAGS] = {
    [SKRT_FLAG_C2V] = {"c2v", SKRT_AIC, false},
    [SKRT_FLAG_V2C] = {"v2c", SKRT_AIV, false},
    [SKRT_FLAG_KERNEL_C2V] = {"its kernel's c2v", SKRT_AIC, true},
    [SKRT_FLAG_KERNEL_V2C] = {"its kernel's v2c", SKRT_AIV, true},
};

const char *const skrt_core_type_names[SKRT_CORE_TYPES] = {[SKRT_AIC] = "aic", [SKRT_AIV] = "aiv"};
const char *const skrt_core_type_plural_names[SKRT_CORE_TYPES] = {
    [SKRT_AIC] = "AICs", [SKRT_AIV] = "AIVs"};

static const char *const status_texts[] = {
    [SKRT_OK] = "ok",
    [SKRT_INVALID] = "invalid launch",
    [SKRT_DEADLOCK] = "deadlock",
    [SKRT_TIMEOUT] = "timeout",
    [SKRT_OVERFLOW] = "flag overflow",
    [SKRT_LEFT_SET] = "flag left set",
    [SKRT_MISUSE] = "misuse",
    [SKRT_RACE] = "race",
    [SKRT_STOPPED] = "stopped",
};

const char *skrt_status_text(enum skrt_status status)
{
    size_t n = sizeof status_texts / sizeof status_texts[0];
    return (size_t)status < n ? status_texts[status] : "unknown status";
}

const char *skrt_site_text(const struct skrt_site *site)
{
    return site && site->text ? site->text : "?";
}

const char *skrt_site_op(const struct skrt_site *site)
{
    return site && site->op ? site->op : skrt_site_text(site);
}

void skrt_print_range(FILE *out, enum skrt_core_type type, uint32_t first, uint32_t last)
{
    assert(first <= last);
    fprintf(out, "%s %u", skrt_core_type_names[type], first);
    if (last > first)
        fprintf(out, "..%u", last);
}

void skrt_print_cores(FILE *out, enum skrt_core_type type, const bool *marked, uint32_t n)
{
    uint32_t ranges = 0, more = 0;
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && marked[i] == marked[end];)
            end++;
        if (!marked[i])
            continue;
        if (ranges++ < MAX_RANGES) {
            fputs(ranges > 1 ? ", " : "", out);
            skrt_print_range(out, type, i, end - 1);
        } else {
            more += end - i;
        }
    }
    if (more > 0)
        fprintf(out, " and %u more", more);
}
