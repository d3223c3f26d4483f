#include "frontend/commands/run_other.h"
#include "ir/syntax/spelling.h"

#include <string.h>

/* ------------------------------------------------------------------------------ names ---- */

static const struct intern_name *value_name(const struct runner *runner, uint32_t id)
{
    return &runner->module->names.names[runner->graph->values.at[id].name];
}

static bool same_name(const struct intern_name *a, const struct intern_name *b)
{
    return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

/* The parameter, or other value that is given, of the same name; NONE: there is none. */
static uint32_t find_given(const struct runner *runner, const struct intern_name *name)
{
    for (uint32_t i = 0; i < runner->graph->values.count; i++)
        if (value_is_given(runner->module, runner->graph, i) &&
            same_name(value_name(runner, i), name))
            return i;
    return NONE;
}

/* The value of the first graph that a given one of the other stands for, or NONE. */
static uint32_t pair_given(const struct runner *other, uint32_t id, const struct runner *first)
{
    uint32_t found = find_given(first, value_name(other, id));
    bool is_param = id < other->graph->n_params;
    if (found != NONE || !is_param || id >= first->graph->n_params)
        return found;
    /* By position, if that one has no partner of its name. */
    return find_given(other, value_name(first, id)) == NONE ? id : NONE;
}

/* ----------------------------------------------------------------------------- inputs ---- */

static bool same_shape(const struct tensor *a, const struct tensor *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

static bool has_own_contents(const struct runner *runner, uint32_t id)
{
    const struct graph *graph = runner->graph;
    uint32_t def = graph->values.at[id].def;
    return def < graph->ops.count && op_contents_attr(runner->module, graph, &graph->ops.at[def]);
}

/* "%x: f32[4]" */
static void put_value(struct text *text, const struct runner *runner, uint32_t id)
{
    text_printf(text, "%%%.*s: ", SHOWN_NAME(value_name(runner, id)));
    spell_type(text, runner->module, runner->graph->values.at[id].type);
}

/* Whether they have one dtype and shape, as they are spelt. */
static bool same_type(const struct runner *a, uint32_t id, const struct runner *b, uint32_t other)
{
    struct text of_a = {NULL, 0, 0}, of_b = {NULL, 0, 0};
    spell_type(&of_a, a->module, a->graph->values.at[id].type);
    spell_type(&of_b, b->module, b->graph->values.at[other].type);
    bool same = of_a.size == of_b.size && memcmp(of_a.at, of_b.at, of_a.size) == 0;
    text_free(&of_a);
    text_free(&of_b);
    return same;
}

void run_other_name(struct runner *other, const struct runner *first)
{
    for (uint32_t i = other->graph->n_params; i < other->graph->values.count; i++) {
        uint32_t from =
            value_is_given(other->module, other->graph, i) ? pair_given(other, i, first) : NONE;
        const char *spec = from == NONE ? NULL : named_values_find(&first->inputs, from);
        if (spec && has_own_contents(other, i) && same_type(other, i, first, from))
            vec_push(&other->inputs, (struct named_value){.value = i, .text = spec});
    }
}

static enum exit_status report_input(const struct runner *other, uint32_t id,
                                     const struct runner *first, uint32_t from)
{
    struct text text = {NULL, 0, 0};
    text_string(&text, "input ");
    put_value(&text, first, from);
    text_printf(&text, " cannot be that of %s, ", other->name);
    put_value(&text, other, id);
    diag_at(first->diags, DIAG_contents, no_span, "%.*s", (int)text.size, text.at);
    text_free(&text);
    return EXIT_INPUT;
}

/* False where they have other shapes or dtypes. */
static bool copy_value(struct outcome *to, uint32_t id, const struct outcome *from,
                       uint32_t from_id)
{
    char error[256];
    struct tensor tensor, old;
    struct storage *storage = storages_main(&to->storages);
    if (!storage_take(storages_main(&from->storages), from_id, &tensor, error, sizeof error))
        return false;
    bool fits = storage_take(storage, id, &old, error, sizeof error);
    if (fits) {
        fits = same_shape(&tensor, &old) && tensor.dtype == old.dtype;
        tensor_free(&old);
    }
    if (fits)
        storage_give(storage, id, &tensor);
    else
        tensor_free(&tensor);
    return fits;
}

enum exit_status run_other_fill(struct outcome *other, const struct outcome *first)
{
    const struct runner *runner = other->runner;
    for (uint32_t i = 0; i < runner->graph->values.count; i++) {
        if (!value_is_given(runner->module, runner->graph, i))
            continue;
        bool is_param = i < runner->graph->n_params;
        uint32_t from = pair_given(runner, i, first->runner);
        if (from == NONE ||
            (has_own_contents(runner, i) && !named_values_find(&first->runner->inputs, from)))
            continue;
        if (!copy_value(other, i, first, from) && is_param)
            return report_input(runner, i, first->runner, from);
    }
    return EXIT_DONE;
}

/* ------------------------------------------------------------------------- comparison ---- */

/* Two values, and what there is to say of them. */
struct comparison_pair {
    const struct outcome *first, *other;
    uint32_t a, b;
    struct text *text;
};

static void put_first_difference(const struct comparison_pair *pair, const struct tensor *a,
                                 const struct tensor *b, const struct match *match)
{
    char index[256], left[128], right[128];
    const struct intern_name *name = value_name(pair->first->runner, pair->a);
    tensor_index_text(a, match->first, index, sizeof index);
    tensor_element_text(a, match->first, left, sizeof left);
    tensor_element_text(b, match->first, right, sizeof right);
    text_printf(pair->text, "first difference: %%%.*s%s is %s, %s %s (%llu of %llu differ",
                SHOWN_NAME(name), index, left, pair->other->name, right,
                (unsigned long long)match->different, (unsigned long long)match->elements);
    if (match->largest_absolute > 0)
        text_printf(pair->text, ", by at most %.3g", match->largest_absolute);
    text_string(pair->text, ")\n");
}

static void put_types(const struct comparison_pair *pair)
{
    put_value(pair->text, pair->first->runner, pair->a);
    text_printf(pair->text, " cannot be compared with that of %s, ", pair->other->name);
    put_value(pair->text, pair->other->runner, pair->b);
    text_char(pair->text, '\n');
}

static enum verdict compare_tensors(const struct comparison_pair *pair, const struct tensor *a,
                                    const struct tensor *b)
{
    const struct tolerance *tolerance = &pair->first->runner->tolerance;
    struct match match;
    char error[256];
    bool same_type = a->dtype == b->dtype;
    if (!same_shape(a, b) || (tolerance->exact && !same_type)) {
        put_types(pair);
        return VERDICT_DIFFERENT;
    }
    if (same_type && memcmp(a->data, b->data, a->size) == 0)
        return VERDICT_EXACT;
    if (!tensor_match(a, b, tolerance, &match, error, sizeof error)) {
        put_types(pair);
        return VERDICT_DIFFERENT;
    }
    if (match.different == 0 && !tolerance->exact)
        return VERDICT_CLOSE;
    if (match.different == 0) { /* NaN of other bits */
        match.first = tensor_first_difference(a, b, &match.elements);
        match.different = 1;
    }
    put_first_difference(pair, a, b, &match);
    return VERDICT_DIFFERENT;
}

static enum verdict compare_pair(const struct comparison_pair *pair)
{
    struct tensor a, b;
    char error[256];
    enum verdict verdict = VERDICT_DIFFERENT;
    if (!storage_take(storages_main(&pair->first->storages), pair->a, &a, error, sizeof error)) {
        put_types(pair);
        return verdict;
    }
    if (storage_take(storages_main(&pair->other->storages), pair->b, &b, error, sizeof error)) {
        verdict = compare_tensors(pair, &a, &b);
        tensor_free(&b);
    } else {
        put_types(pair);
    }
    tensor_free(&a);
    return verdict;
}

/* The place of a result by its name, or NONE. */
static uint32_t find_result(const struct runner *runner, const struct intern_name *name)
{
    const struct vec_u32 *returns = &runner->graph->returns;
    for (uint32_t i = 0; i < returns->count; i++)
        if (same_name(value_name(runner, returns->at[i]), name))
            return i;
    return NONE;
}

/* The place of the result of `to` that one of `from` stands for, or NONE. */
static uint32_t pair_result(const struct runner *from, uint32_t place, const struct runner *to)
{
    uint32_t found = find_result(to, value_name(from, from->graph->returns.at[place]));
    if (found != NONE || place >= to->graph->returns.count)
        return found;
    return find_result(from, value_name(to, to->graph->returns.at[place])) == NONE ? place : NONE;
}

static void put_unpaired(struct text *text, const struct runner *runner, uint32_t id,
                         const struct runner *other)
{
    const struct intern_name *name = value_name(runner, id);
    text_printf(text, "result %%%.*s of %s is not in %s\n", SHOWN_NAME(name), runner->name,
                other->name);
}

static enum verdict worse_verdict(enum verdict a, enum verdict b)
{
    return a > b ? a : b;
}

static enum verdict compare_results(const struct outcome *first, const struct outcome *other,
                                    struct text *text)
{
    const struct vec_u32 *returns = &first->runner->graph->returns;
    const struct vec_u32 *others = &other->runner->graph->returns;
    enum verdict verdict = VERDICT_EXACT;
    for (uint32_t i = 0; i < returns->count; i++) {
        uint32_t place = pair_result(first->runner, i, other->runner);
        if (place == NONE) {
            put_unpaired(text, first->runner, returns->at[i], other->runner);
            continue;
        }
        const struct comparison_pair pair = {first, other, returns->at[i], others->at[place], text};
        verdict = worse_verdict(verdict, compare_pair(&pair));
    }
    for (uint32_t i = 0; i < others->count; i++)
        if (pair_result(other->runner, i, first->runner) == NONE)
            put_unpaired(text, other->runner, others->at[i], first->runner);
    return verdict;
}

/* What was written to them. */
static enum verdict compare_params(const struct outcome *first, const struct outcome *other,
                                   struct text *text)
{
    enum verdict verdict = VERDICT_EXACT;
    for (uint32_t i = 0; i < other->runner->graph->n_params; i++) {
        uint32_t from = pair_given(other->runner, i, first->runner);
        const struct comparison_pair pair = {first, other, from, i, text};
        if (from != NONE)
            verdict = worse_verdict(verdict, compare_pair(&pair));
    }
    return verdict;
}

/* Whether the graphs have the same values, by id. */
static bool same_values(const struct runner *a, const struct runner *b)
{
    const struct module *x = a->module, *y = b->module;
    bool same = a->graph->values.count == b->graph->values.count;
    for (uint32_t i = 0; same && i < a->graph->values.count; i++) {
        const struct type *t = &x->types.at[a->graph->values.at[i].type];
        const struct type *u = &y->types.at[b->graph->values.at[i].type];
        same = same_name(value_name(a, i), value_name(b, i)) && t->dtype == u->dtype &&
               t->rank == u->rank && t->format == u->format &&
               memcmp(type_dims(x, a->graph->values.at[i].type),
                      type_dims(y, b->graph->values.at[i].type), t->rank * sizeof(int64_t)) == 0;
    }
    return same;
}

enum verdict run_other_compare(const struct outcome *first, const struct outcome *other,
                               struct text *text)
{
    const struct runner *runner = first->runner;
    if (runner->compare == COMPARE_OPTIONS && runner->tolerance.exact &&
        same_values(runner, other->runner))
        return storage_compare(storages_main(&first->storages), storages_main(&other->storages),
                               other->name, text)
                   ? VERDICT_EXACT
                   : VERDICT_DIFFERENT;
    return worse_verdict(compare_results(first, other, text), compare_params(first, other, text));
}
