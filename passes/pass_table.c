#include "passes/pass_table.h"

#include <stdio.h>

enum { WHERE_ASKED = false, WHERE_DEFAULT = true };

const struct pass passes[PASS_COUNT] = {
#define PASS(name, cli, where, needs, gives, changes, summary)                                     \
    {cli, summary, pass_##name, needs, gives, CHANGES_##changes, WHERE_##where, NULL},
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

/* ----------------------------------------------------------------------------- others ---- */

/* Lower-case words with hyphens between them, none of which lists of passes use otherwise. */
static bool is_pass_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    return name && *name >= 'a' && *name <= 'z' && name[strspn(name, letters)] == '\0' &&
           strcmp(name, "default") != 0 && strcmp(name, "all") != 0;
}

/* What is wrong with a row by itself, or NULL. */
static const char *row_error(const struct pass *pass)
{
    if (!pass->run)
        return "has no function";
    if (!pass->summary)
        return "has no summary";
    if ((pass->needs | pass->gives) >= PROPERTY_END)
        return "needs or gives a property that there is not";
    return (unsigned)pass->changes > CHANGES_GRAPHS ? "changes what there is not" : NULL;
}

/* The row that a pass behind `after` gets. */
static uint32_t row_behind(const struct pass_table *table, const char *after)
{
    uint32_t row = !after ? table->count : 0;
    if (after && *after)
        row = pass_table_find(table, after, strlen(after)) + 1;
    while (after && row < table->count && table->at[row]->plugin && table->at[row]->in_default)
        row++;
    return row;
}

static bool check_row(const struct pass_table *table, const struct pass *pass, const char *after,
                      char *error, size_t error_size)
{
    const char *wrong;
    uint32_t place = after && *after ? pass_table_find(table, after, strlen(after)) : 0;
    if (!is_pass_name(pass->name)) {
        snprintf(error, error_size, "'%s' is no name of a pass: that is words and hyphens",
                 pass->name ? pass->name : "");
    } else if ((wrong = row_error(pass))) {
        snprintf(error, error_size, "the pass '%s' %s", pass->name, wrong);
    } else if (pass_table_find(table, pass->name, strlen(pass->name)) != NONE) {
        snprintf(error, error_size, "there is a pass '%s' already", pass->name);
    } else if (place == NONE || (after && *after && !table->at[place]->in_default)) {
        struct suggest suggest = {.wanted = after, .wanted_size = strlen(after)};
        for (uint32_t i = 0; place == NONE && i < table->count; i++)
            suggest_offer_text(&suggest, table->at[i]->name);
        snprintf(error, error_size,
                 "the pass '%s' is to stand behind '%s', which 'default' does not run%s",
                 pass->name, after, suggest_end(&suggest).text);
    } else {
        return true;
    }
    return false;
}

bool pass_table_add(struct pass_table *table, const struct pass *pass, const char *after,
                    char *error, size_t error_size)
{
    if (!check_row(table, pass, after, error, error_size))
        return false;
    uint32_t row = row_behind(table, after);
    vec_push(table, pass);
    memmove(table->at + row + 1, table->at + row, (table->count - 1 - row) * sizeof *table->at);
    table->at[row] = pass;
    return true;
}
