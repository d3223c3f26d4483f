#include "passes/pass_table.h"

enum { WHERE_ASKED = false, WHERE_DEFAULT = true };

const struct pass passes[PASS_COUNT] = {
#define PASS(name, cli, where, needs, gives, changes, summary)                                     \
    {cli, summary, pass_##name, needs, gives, CHANGES_##changes, WHERE_##where},
#include "passes/passes.def"
#undef PASS
};

void pass_table_init(struct pass_table *table)
{
    *table = (struct pass_table){NULL, 0, 0};
    vec_reserve(table, PASS_COUNT);
    for (unsigned i = 0; i < PASS_COUNT; i++)
        vec_push(table, &passes[i]);
}

void pass_table_free(struct pass_table *table)
{
    vec_free(table);
}

uint32_t pass_table_find(const struct pass_table *table, const char *name, size_t size)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (strlen(table->at[i]->name) == size && memcmp(name, table->at[i]->name, size) == 0)
            return i;
    return NONE;
}

void pass_table_offer(const struct pass_table *table, struct suggest *suggest)
{
    for (uint32_t i = 0; i < table->count; i++)
        suggest_offer_text(suggest, table->at[i]->name);
    suggest_offer_text(suggest, "default");
}
