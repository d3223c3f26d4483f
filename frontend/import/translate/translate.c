/* Rows: found, applied to nodes, and printed. */
#include "frontend/import/translate/build_ops.h"
#include "ir/analysis/op_infer.h"

#include <string.h>

/* Of an operator without rows. */
enum { NO_ROWS = UINT32_MAX - 1 };

const struct translation_table *translation_table(enum dialect dialect)
{
    switch (dialect) {
    case DIALECT_ONNX: return &onnx_table;
    case DIALECT_TF: return &tf_table;
    default: return NULL;
    }
}

void translator_free(struct translator *translator)
{
    for (unsigned i = 0; i < DIALECTS; i++)
        id_map_free(&translator->rows[i]);
    vec_free(&translator->found);
    arena_free(&translator->arena);
}

/* ----------------------------------------------------------------------------- rows ---- */

const struct translation_row *translation_find(const struct module *module, enum dialect dialect,
                                               uint32_t type)
{
    const struct translation_table *table = translation_table(dialect);
    for (unsigned f = 0; table && table->families[f]; f++)
        for (const struct translation_row *row = table->families[f]; row->op; row++)
            if (name_is(module, type, row->op))
                return row;
    return NULL;
}

/* The first row of the operator, or NULL. */
static const struct translation_row *first_row(const struct translation *t)
{
    struct translator *translator = t->translator;
    uint32_t *place = id_map_at(&translator->rows[t->dialect], t->type);
    if (*place == NONE) {
        const struct translation_row *row = translation_find(t->module, t->dialect, t->type);
        *place = row ? translator->found.count : NO_ROWS;
        if (row)
            vec_push(&translator->found, row);
    }
    return *place == NO_ROWS ? NULL : translator->found.at[*place];
}

/* Finds the row of the node's version. */
static void choose_row(struct translation *t)
{
    const struct translation_table *table = t->table = translation_table(t->dialect);
    const struct translation_row *first = first_row(t), *row = first;
    if (!row) {
        tr_refuse(t, "there is no translation of the operator");
    } else if (t->version == 0) {
        if (row->since <= 1 && row->until == 0) /* it means the same in all versions */
            t->row = row;
        else
            tr_refuse(t, "the model does not say which version of the operator set it has");
    } else if (t->version > table->last) {
        tr_refuse(t, "operator set %lld is newer than %d, the last one that is known",
                  (long long)t->version, table->last);
    } else {
        while ((t->version < row->since || (row->until && t->version > row->until)) && row[1].op &&
               strcmp(row[0].op, row[1].op) == 0)
            row++;
        if (t->version >= row->since && (!row->until || t->version <= row->until))
            t->row = row;
        else
            tr_refuse(t, "there is no translation of what it means in operator set %lld",
                      (long long)t->version);
    }
}

/* ------------------------------------------------------------------------------ ops ---- */

/* How much of a graph there is. */
struct mark {
    uint32_t ops, values, refs, forms, clauses;
};

static void cut_to(struct translation *t, const struct mark *mark)
{
    struct graph *graph = t->graph;
    graph->ops.count = mark->ops;
    graph->values.count = mark->values;
    graph->refs.count = mark->refs;
    graph->forms.count = mark->forms;
    graph->clauses.count = mark->clauses;
    if (t->written->count > graph->values.count)
        t->written->count = graph->values.count;
}

/* A result of so few integers becomes a constant where it follows from constants. */
enum { MOST_FOLDED = 64 };

static void fold(struct translation *t, const struct mark *mark)
{
    struct tr_ints ints;
    uint32_t value = t->n_results == 1 ? t->results[0].value : NONE;
    if (value == NONE || t->graph->ops.count == mark->ops || !tr_contents(t, value, &ints) ||
        ints.count > MOST_FOLDED)
        return;
    const struct op *op = &t->graph->ops.at[t->graph->values.at[value].def];
    uint32_t type = t->graph->values.at[value].type;
    if (name_is(t->module, op->type, "Const") || type_has_unknown(t->module, type))
        return;
    cut_to(t, mark);
    t->results[0].value = NONE;
    tr_give(t, 0, tr_const_typed(t, "value", type, ints));
}

bool translate_node(struct translation *t)
{
    const struct graph *graph = t->graph;
    struct mark mark = {graph->ops.count, graph->values.count, graph->refs.count,
                        graph->forms.count, graph->clauses.count};
    t->module = t->translator->module;
    t->first_op = mark.ops;
    t->first_value = mark.values;
    t->next_type = NONE;
    for (uint32_t i = 0; i < t->n_results; i++)
        t->results[i].value = NONE;
    choose_row(t);
    if (t->row)
        tr_check_attrs(t);
    if (!tr_refused(t)) {
        if (t->row->make) {
            t->row->make(t);
        } else {
            tr_map_attrs(t);
            tr_give_all(t, tr_op(t, t->row->to, t->operands, t->n_operands, t->n_results));
        }
        for (uint32_t i = 0; i < t->n_results && !tr_refused(t); i++)
            if (t->results[i].wanted && t->results[i].value == NONE)
                tr_refuse(t, "its output %u has no translation", i);
        if (t->graph->ops.count == mark.ops)
            tr_refuse(t, "the dump does not say what it gives");
    }
    if (!tr_refused(t))
        fold(t, &mark);
    if (tr_refused(t))
        cut_to(t, &mark);
    arena_clear(&t->translator->arena);
    return !tr_refused(t);
}

void translation_free(struct translation *t)
{
    text_free(&t->reason);
    vec_free(&t->pending);
}

/* --------------------------------------------------------------------------- Markdown ---- */

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
    for (const char *at = row->about; at && *at; at++)
        text_string(text, *at == '|' ? "\\|" : (char[]){*at, '\0'});
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
