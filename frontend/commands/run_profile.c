#include "frontend/commands/run_profile.h"
#include "frontend/exchange/writers/profile_names.h"
#include "frontend/exchange/writers/profile_table.h"

/* The file has all. */
enum { MOST_ROWS = 20 };

struct printing {
    const struct invocation *invocation;
    FILE *out;
    const struct profile_table *table, *other; /* or NULL */
    const char *other_name;
};

static void put_time(const struct printing *printing, uint64_t ns)
{
    put_milliseconds(printing->invocation, printing->out, 12, (double)ns * 1e-6);
}

static void put_share(const struct printing *printing, const struct profile_row *row)
{
    if (is_steady(printing->invocation))
        fprintf(printing->out, "%7s", "SHARE");
    else
        fprintf(printing->out, "%5.1f %%", profile_row_share(printing->table, row) * 100);
}

static void print_row(const struct printing *printing, const struct profile_row *row)
{
    FILE *out = printing->out;
    put_time(printing, row->all);
    fputs("  ", out);
    put_time(printing, row->longest);
    fputs("  ", out);
    put_share(printing, row);
    fprintf(out, "  %4u %s", row->cores, profile_core_names[row->type]);
    if (printing->other) {
        const struct profile_row *same = profile_table_find(printing->other, row);
        fputs("  ", out);
        if (same)
            put_time(printing, same->all);
        else
            fprintf(out, "%12s", "-");
    }
    fprintf(out, "  %s%s%s\n", row->name, row->launch ? " in " : ", alone",
            row->launch ? row->launch : "");
}

static void print_rows(const struct printing *printing, const char *title, const char *what,
                       uint32_t first, uint32_t end)
{
    FILE *out = printing->out;
    if (first == end)
        return;
    fprintf(out, "%s\n%12s  %12s  %7s  %8s", title, "all cores", "longest core", "share", "cores");
    if (printing->other)
        fprintf(out, "  %12s", printing->other_name);
    fprintf(out, "  %s\n", what);
    for (uint32_t i = first; i < end && i < first + MOST_ROWS; i++)
        print_row(printing, &printing->table->rows[i]);
    if (end - first > MOST_ROWS)
        fprintf(out, "and %u more\n", end - first - MOST_ROWS);
}

void run_profile_print(const struct outcomes *outcomes)
{
    const struct run_profile *profile = outcomes->at[0].last.profile;
    const struct run_profile *second = outcomes->count > 1 ? outcomes->at[1].last.profile : NULL;
    struct profile_table table = {.rows = NULL}, other = {.rows = NULL};
    const struct invocation *invocation = outcomes->at[0].runner->invocation;
    if (!profile)
        return;
    profile_table_make(&table, profile, is_steady(invocation));
    if (second)
        profile_table_make(&other, second, is_steady(invocation));
    const struct printing printing = {.invocation = invocation,
                                      .out = invocation->out,
                                      .table = &table,
                                      .other = second ? &other : NULL,
                                      .other_name = outcomes->at[1].name};
    print_rows(&printing, "time in which cores worked:", "op", 0, table.n_ops);
    print_rows(&printing, "time in which cores were blocked:", "at", table.n_ops, table.count);
    profile_table_free(&table);
    profile_table_free(&other);
}
