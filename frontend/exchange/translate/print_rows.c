/* Tables as Markdown. */
#include "frontend/exchange/translate/translate.h"

#include <string.h>

/* Bytes in which '|' ends no cell. */
static void put(struct text *text, const char *bytes)
{
    for (; *bytes; bytes++) {
        if (*bytes == '|')
            text_char(text, '\\');
        text_char(text, *bytes);
    }
}

static void put_versions(struct text *text, const struct translation_row *row)
{
    if (row->until == 0)
        text_printf(text, row->since <= 1 ? "all" : "from %d", row->since);
    else if (row->since == row->until)
        text_printf(text, "%d", row->since);
    else
        text_printf(text, "%d to %d", row->since, row->until);
    text_string(text, " | ");
}

/* Names between commas, each as code. */
static void put_ops(struct text *text, const char *ops)
{
    while (*ops) {
        size_t size = strcspn(ops, ",");
        text_printf(text, "`%.*s`", (int)size, ops);
        ops += size;
        if (*ops)
            text_string(text, ", ");
        ops += strspn(ops, ", ");
    }
}

/* `name`, what it is without a value in the node, which values there may be, and where it goes. */
static void put_attr(struct text *text, const struct translation_attr *attr)
{
    text_printf(text, "`%s`", attr->name ? attr->name : attr->target);
    if (attr->fallback)
        text_printf(text, " = %s", *attr->fallback ? attr->fallback : "\"\"");
    if (attr->allowed) {
        text_string(text, " (only ");
        for (const char *at = attr->allowed; *at; at++)
            text_string(text, *at == '|' ? ", " : (char[]){*at, '\0'});
        text_char(text, ')');
    }
    if (attr->target && attr->name && strcmp(attr->target, attr->name) != 0)
        text_printf(text, " → `%s`", attr->target);
}

static void put_row(struct text *text, const struct translation_row *row, bool versions)
{
    text_printf(text, "| `%s` | ", row->op);
    if (versions)
        put_versions(text, row);
    put_ops(text, row->to);
    text_string(text, " | ");
    for (const struct translation_attr *attr = row->attrs; !translation_attr_is_end(attr); attr++) {
        text_string(text, attr == row->attrs ? "" : ", ");
        put_attr(text, attr);
    }
    text_string(text, " | ");
    if (row->about)
        put(text, row->about);
    text_string(text, " |\n");
}

/* The row of the smallest name that is greater than `last`; those of one operator are taken
 * together. NULL where there is none. */
static const struct translation_row *next_row(const struct translation_table *table,
                                              const char *last)
{
    const struct translation_row *found = NULL;
    for (unsigned f = 0; table->families[f]; f++)
        for (const struct translation_row *row = table->families[f]; row->op; row++)
            if (strcmp(row->op, last) > 0 && (!found || strcmp(row->op, found->op) < 0))
                found = row;
    return found;
}

void translations_print(struct text *text, const struct translation_table *table)
{
    bool versions = table->versions != NULL;
    text_printf(text, "| operator | %s%sbecomes | attributes | conditions |\n",
                versions ? table->versions : "", versions ? " | " : "");
    text_printf(text, "|---|---|---|---|%s\n", versions ? "---|" : "");
    for (const struct translation_row *row = next_row(table, ""); row;
         row = next_row(table, row->op))
        for (const struct translation_row *at = row; at->op && strcmp(at->op, row->op) == 0; at++)
            put_row(text, at, versions);
}
