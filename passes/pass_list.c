/* Lists of passes as users write them:
 *
 *   list    = item {"," item}, with blanks around items; an empty list has no passes
 *   item    = NAME | "default" | NAME ".." NAME
 *
 * A range is that part of `default`, from one pass to another, both included. Its ends may be
 * `default` or nothing, which is the first pass of `default`, or the last. */
#include "passes/pipeline.h"

#include <stdio.h>

struct words {
    const char *at;
    size_t size;
};

/* What is being read, and where errors go. */
struct reader {
    struct pipeline *pipeline;
    const struct pass_table *table;
    char *error;
    size_t error_size;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static struct words trimmed(const char *at, size_t size)
{
    while (size && is_blank(*at))
        at++, size--;
    while (size && is_blank(at[size - 1]))
        size--;
    return (struct words){at, size};
}

static bool is_default(struct words name)
{
    return name.size == strlen("default") && memcmp(name.at, "default", name.size) == 0;
}

static uint32_t find(const struct reader *reader, struct words name)
{
    uint32_t index = pass_table_find(reader->table, name.at, name.size);
    if (index != NONE)
        return index;
    struct suggest suggest = {.wanted = name.at, .wanted_size = name.size};
    pass_table_offer(reader->table, &suggest);
    snprintf(reader->error, reader->error_size, "unknown pass '%.*s'%s", (int)name.size, name.at,
             suggest.best ? suggest_end(&suggest).text : "; see --list-passes");
    return NONE;
}

/* The passes of `default` among the rows from one to another, both included. */
static void add_default(const struct reader *reader, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i <= to && i < reader->table->count; i++)
        if (reader->table->at[i]->in_default)
            pipeline_add(reader->pipeline, reader->table->at[i]);
}

/* One end of a range; `open` stands for an end without name. */
static bool read_end(const struct reader *reader, struct words name, uint32_t open, uint32_t *index)
{
    *index = open;
    if (!name.size || is_default(name))
        return true;
    *index = find(reader, name);
    if (*index == NONE)
        return false;
    if (reader->table->at[*index]->in_default)
        return true;
    snprintf(reader->error, reader->error_size,
             "'%.*s' cannot end a range: 'default' does not run it", (int)name.size, name.at);
    return false;
}

static bool add_range(const struct reader *reader, struct words range, size_t dots)
{
    uint32_t from, to;
    struct words first = trimmed(range.at, dots),
                 last = trimmed(range.at + dots + 2, range.size - dots - 2);
    if (!read_end(reader, first, 0, &from) ||
        !read_end(reader, last, reader->table->count - 1, &to))
        return false;
    if (from <= to) {
        add_default(reader, from, to);
        return true;
    }
    snprintf(reader->error, reader->error_size, "in '%.*s', '%.*s' comes before '%.*s'",
             (int)range.size, range.at, (int)last.size, last.at, (int)first.size, first.at);
    return false;
}

static bool add_item(const struct reader *reader, struct words item)
{
    for (size_t dots = 0; dots + 1 < item.size; dots++)
        if (item.at[dots] == '.' && item.at[dots + 1] == '.')
            return add_range(reader, item, dots);
    if (is_default(item)) {
        add_default(reader, 0, reader->table->count);
        return true;
    }
    uint32_t index = find(reader, item);
    if (index != NONE)
        pipeline_add(reader->pipeline, reader->table->at[index]);
    return index != NONE;
}

static bool add_list(const struct reader *reader, const char *list)
{
    while (*list) {
        size_t size = strcspn(list, ",");
        struct words item = trimmed(list, size);
        bool last = list[size] == '\0';
        list += size + !last;
        if (last && !item.size)
            return true;
        if (!item.size) {
            snprintf(reader->error, reader->error_size, "a name is missing before ','");
            return false;
        }
        if (!add_item(reader, item))
            return false;
    }
    return true;
}

bool pipeline_append(struct pipeline *pipeline, const struct pass_table *table, const char *list,
                     char *error, size_t error_size)
{
    struct reader reader = {pipeline, table, error, error_size};
    return add_list(&reader, list);
}

bool pipeline_parse(struct pipeline *pipeline, const char *list, char *error, size_t error_size)
{
    struct pass_table table;
    *pipeline = (struct pipeline){NULL, 0, 0};
    pass_table_init(&table);
    bool ok = pipeline_append(pipeline, &table, list, error, error_size);
    pass_table_free(&table);
    if (!ok)
        pipeline_free(pipeline);
    return ok;
}
