#include "passes/manager/pipeline.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ir/core/invariants.h"
#include "ir/support/check.h"
#include "ir/syntax/print.h"
#include "ir/verify/verify.h"

/* The parts that are compared, each with what it leaves out of those behind it. */
enum kept_part { KEPT_GRAPHS, KEPT_ENTRIES, KEPT_ALL, KEPT_PARTS };

enum { WHERE_ASKED = false, WHERE_DEFAULT = true };

const struct pass passes[PASS_COUNT] = {
#define PASS(name, cli, where, needs, gives, changes, summary)                                     \
    {cli, summary, pass_##name, needs, gives, CHANGES_##changes, WHERE_##where, NULL},
#include "passes/manager/passes.def"
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

/* By enum pass_changes: the parts that stay. KERNELS concern all: ops' `via`, entries' calls. */
static const uint8_t kept[] = {
    [CHANGES_NOTHING] = 1 << KEPT_GRAPHS | 1 << KEPT_ENTRIES | 1 << KEPT_ALL,
    [CHANGES_KERNELS] = 0,
    [CHANGES_ENTRIES] = 1 << KEPT_GRAPHS,
    [CHANGES_GRAPHS] = 0,
};

static const char *const part_names[] = {"graphs", "entries", "kernels"};

static void print_part(struct text *text, const struct module *module, enum kept_part part)
{
    unsigned kind = part == KEPT_GRAPHS ? SYMBOL_GRAPH : SYMBOL_ENTRY;
    if (part == KEPT_ALL) {
        print_whole_module(text, module, NULL);
        return;
    }
    uint8_t *marked = mem_calloc((size_t)module->order.count + 1, 1);
    for (uint32_t i = 0; i < module->order.count; i++)
        marked[i] = order_kind(module->order.at[i]) == kind;
    print_marked_module(text, module, NULL, marked);
    mem_free(marked);
}

/* What has changed of the parts that stay, or NULL; frees their texts. Only a sound module has a
 * text: the verifier says what is wrong with another. */
static const char *changed_part(struct text *before, unsigned parts, const struct module *module)
{
    const char *changed = NULL;
    bool sound = parts && module_is_sound(module);
    for (unsigned part = 0; part < KEPT_PARTS; part++) {
        struct text now = {NULL, 0, 0};
        if (sound && !changed && parts & 1U << part) {
            print_part(&now, module, (enum kept_part)part);
            if (now.size != before[part].size || memcmp(now.at, before[part].at, now.size) != 0)
                changed = part_names[part];
        }
        text_free(&now);
        text_free(&before[part]);
    }
    return changed;
}

/* Lists of passes as users write them:
 *
 *   list    = item {"," item}, with blanks around items; an empty list has no passes
 *   item    = NAME | "default" | NAME ".." NAME
 *
 * A range is that part of `default`, from one pass to another, both included. Its ends may be
 * `default` or nothing, which is the first pass of `default`, or the last. */

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

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static bool report_changed(const struct pass *pass, struct pass_context *context,
                           const char *changed)
{
    diag_at(context->diags, DIAG_pass_order, no_span,
            "the pass '%s' has changed %s, against its row; this is a defect of %s%s", pass->name,
            changed, PASS_BLAME(pass));
    return false;
}

/* Analyses are kept where the row says that graphs are not changed. That of a pass of skirc is
 * trusted; for a pass of others it would be a mystery what went wrong. */
static bool keep_analyses(const struct pass *pass, struct pass_context *context)
{
    if (pass->changes == CHANGES_GRAPHS)
        analyses_drop(context->analyses);
    if (!pass->plugin || analyses_hold(context->analyses, context->module)) {
        expensive_assert(analyses_hold(context->analyses, context->module));
        return true;
    }
    return report_changed(pass, context, "graphs");
}

/* The properties behind a pass. What its row says that it changes is trusted for a pass of skirc
 * alone. */
static unsigned properties_behind(const struct pass *pass, const struct module *module,
                                  unsigned before)
{
    unsigned properties;
    if (pass->plugin || pass->changes == CHANGES_KERNELS || pass->changes == CHANGES_GRAPHS)
        return module_properties(module);
    properties =
        pass->changes == CHANGES_NOTHING ? before : module_properties_of_entries(module, before);
    expensive_assert(properties == module_properties(module));
    return properties;
}

/* `properties` are those of the module, before it and then after it. The row of a pass of skirc is
 * trusted; of another, the texts of what it says to keep are compared. */
static enum pipeline_status run_one(const struct pass *pass, struct pass_context *context,
                                    unsigned *properties, double *seconds)
{
    unsigned before = *properties, missing = pass->needs & ~before;
    unsigned parts = pass->plugin ? kept[pass->changes] : 0;
    struct text texts[KEPT_PARTS] = {{NULL, 0, 0}};
    for (unsigned property = 1; property < PROPERTY_END; property <<= 1)
        if (missing & property)
            diag_at(context->diags, DIAG_pass_order, no_span, "the pass '%s' needs %s", pass->name,
                    property_text(property));
    if (missing)
        return PIPELINE_INPUT;
    for (unsigned part = 0; part < KEPT_PARTS; part++)
        if (parts & 1U << part)
            print_part(&texts[part], context->module, (enum kept_part)part);
    double start = now();
    bool ok = pass->run(context);
    *seconds = now() - start;
    const char *changed = changed_part(texts, parts, context->module);
    bool right = keep_analyses(pass, context);
    if (!ok)
        return PIPELINE_INPUT;
    if (right && changed)
        right = report_changed(pass, context, changed);
    *properties = properties_behind(pass, context->module, before);
    unsigned lost = (pass->gives | before) & ~*properties;
    /* Super kernels that it makes have no entries yet. */
    if (pass->changes == CHANGES_GRAPHS)
        lost &= ~(unsigned)PROPERTY_LOWERED | pass->gives;
    for (unsigned property = 1; right && property < PROPERTY_END; property <<= 1)
        if (lost & property)
            diag_at(context->diags, DIAG_pass_order, no_span,
                    "behind the pass '%s' the module is not %s any more, as its row says; this is "
                    "a defect of %s%s",
                    pass->name, property_name(property), PASS_BLAME(pass));
    return right && !lost ? PIPELINE_OK : PIPELINE_DEFECT;
}

enum pipeline_status pipeline_run(const struct pipeline *pipeline, struct pass_context *context,
                                  pipeline_hook *hook, void *user)
{
    struct analyses own = {.effects = NULL}, *lent = context->analyses;
    enum pipeline_status status = PIPELINE_OK;
    if (!lent)
        context->analyses = &own;
    unsigned properties = module_properties(context->module);
    for (uint32_t i = 0; status == PIPELINE_OK && i < pipeline->count; i++) {
        double seconds = 0;
        status = run_one(pipeline->at[i], context, &properties, &seconds);
        if (status == PIPELINE_OK && hook && !hook(user, pipeline->at[i], seconds))
            status = PIPELINE_STOPPED;
    }
    context->analyses = lent;
    analyses_drop(&own);
    return status;
}

enum pipeline_status pipeline_run_list(struct pass_context *context, const char *list)
{
    struct pipeline pipeline;
    char error[256];
    bool right = pipeline_parse(&pipeline, list, error, sizeof error);
    assert(right);
    enum pipeline_status status =
        right ? pipeline_run(&pipeline, context, NULL, NULL) : PIPELINE_DEFECT;
    pipeline_free(&pipeline);
    return status;
}

/* Whether a pass is `end`, or one behind it of the passes of passes.def. */
static bool is_behind(const struct pass *pass, unsigned end)
{
    return pass >= passes + end && pass < passes + PASS_COUNT;
}

enum pipeline_status pipeline_lower_part(struct pass_context *context,
                                         const struct pass_table *table, unsigned first,
                                         unsigned end)
{
    struct pass_table own = {NULL, 0, 0};
    struct pipeline pipeline = {NULL, 0, 0};
    uint32_t i = 0;
    if (!table)
        pass_table_init(&own);
    table = table ? table : &own;
    while (first > 0 && i < table->count && !is_behind(table->at[i], first))
        i++;
    for (; i < table->count && !is_behind(table->at[i], end); i++)
        if (table->at[i]->in_default)
            pipeline_add(&pipeline, table->at[i]);
    enum pipeline_status status = pipeline_run(&pipeline, context, NULL, NULL);
    pipeline_free(&pipeline);
    pass_table_free(&own);
    /* The input was correct, and the passes made this of it. */
    if (status == PIPELINE_OK && end == PASS_COUNT &&
        !verify_module(context->module, context->diags))
        return PIPELINE_DEFECT;
    return status;
}

enum pipeline_status pipeline_lower(struct pass_context *context, const struct pass_table *table)
{
    return pipeline_lower_part(context, table, 0, PASS_COUNT);
}
