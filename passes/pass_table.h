/* The passes that there are: those of passes.def, and what is added to them. */
#ifndef PASSES_PASS_TABLE_H
#define PASSES_PASS_TABLE_H

#include "ir/base/suggest.h"
#include "passes/pass.h"

/* Those of the pipeline `default` in their order, and others anywhere between and behind. The rows
 * are not owned. */
struct pass_table {
    const struct pass **at;
    uint32_t count, capacity;
};

void pass_table_init(struct pass_table *table);
void pass_table_free(struct pass_table *table);

/* Adds a pass, which must outlive the table: behind that of a name and what was added behind it,
 * first of all for "", or last for NULL, outside of `default`. False, with one line of text, where
 * its row is wrong: the name is taken or none, a property is unknown. */
bool pass_table_add(struct pass_table *table, const struct pass *pass, const char *after,
                    char *error, size_t error_size);

/* The index of the pass of a name, NONE where there is none. */
uint32_t pass_table_find(const struct pass_table *table, const char *name, size_t size);

/* Offers all names that a list of passes can have. */
void pass_table_offer(const struct pass_table *table, struct suggest *suggest);

#endif
