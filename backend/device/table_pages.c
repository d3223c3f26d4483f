#include "backend/device/table_pages.h"

static void set_writable(const struct device_run *run, bool writable)
{
    for (uint32_t i = 0; i < run->memories.count; i++)
        if (run->memories.at[i].is_table)
            guarded_set_writable(&run->memories.at[i].guarded, writable);
}

void table_pages_open(struct device_run *run)
{
    if (run->closed)
        set_writable(run, true);
    run->closed = false;
}

void table_pages_close(struct device_run *run)
{
    if (!run->closed)
        set_writable(run, false);
    run->closed = true;
}

bool table_pages_put(struct device_run *run, uint64_t *word, uint64_t to)
{
    if (*word == to)
        return false;
    table_pages_open(run);
    *word = to;
    return true;
}
