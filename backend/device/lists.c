#include "backend/device/lists.h"
#include "backend/device/run.h"

#include <assert.h>
#include <string.h>

static uint32_t value_type(const struct device_run *run, uint32_t form, uint32_t n)
{
    uint32_t value = run->graph->refs.at[run->graph->forms.at[form].values.first + n];
    return run->graph->values.at[value].type;
}

/* One word, and one for each tensor, each dimension and each address. */
static uint32_t table_words(const struct device_run *run, uint32_t form)
{
    uint32_t count = run->graph->forms.at[form].values.count, words = 1 + 2 * count;
    for (uint32_t n = 0; n < count; n++)
        words += run->module->types.at[value_type(run, form, n)].rank;
    return words;
}

uint64_t *list_table(struct device_run *run, const struct op *op, uint32_t form)
{
    uint32_t count = run->graph->forms.at[form].values.count, words = table_words(run, form);
    uint64_t *table = device_run_table(run, op, "list", words * sizeof *table), *word = table;
    if (!table)
        mem_exhausted();
    *word++ = (uint64_t)(words - count) * sizeof *table;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t type = value_type(run, form, n), rank = run->module->types.at[type].rank;
        *word++ = (uint64_t)n << 32 | rank;
        if (rank)
            memcpy(word, type_dims(run->module, type), rank * sizeof *word);
        word += rank;
    }
    assert(word == table + (words - count));
    return table;
}

bool list_fill(struct device_run *run, uint32_t form, uint64_t *table, void *const *values)
{
    struct range list = run->graph->forms.at[form].values;
    uint64_t *addresses = table + table[0] / sizeof *table;
    bool any = false;
    for (uint32_t n = 0; n < list.count; n++) {
        uint64_t to = (uintptr_t)values[run->graph->refs.at[list.first + n]];
        any |= addresses[n] != to;
        addresses[n] = to;
    }
    return any;
}
