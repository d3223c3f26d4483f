/* Contents of values: the inputs of a run, the comparison with another graph, and outputs. */
#include "frontend/run/run_values.h"
#include "frontend/run/run_operands.h"
#include "frontend/run/run_setup.h"
#include "frontend/tensor/storage.h"
#include "ir/core/calls.h"
#include "ir/optypes/op_shapes.h"
#include "ir/optypes/op_tensors.h"
#include "ir/syntax/locate.h"
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

/* The contents that the graph itself has for a value, or NULL. */
static const struct attr *own_contents(const struct runner *runner, const struct graph *graph,
                                       uint32_t id)
{
    uint32_t def = graph->values.at[id].def;
    return def < graph->ops.count ? op_contents_attr(runner->module, graph, &graph->ops.at[def])
                                  : NULL;
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
        if (spec && own_contents(other, other->graph, i) && same_type(other, i, first, from))
            vec_push(&other->inputs, (struct named_value){.value = i, .text = spec});
    }
}

/* False where they have other shapes or dtypes. */
static bool copy_value(struct outcome *to, uint32_t id, const struct outcome *from,
                       uint32_t from_id)
{
    char error[256];
    struct tensor tensor = {.data = NULL}, old = {.data = NULL};
    struct storage *storage = storages_main(&to->storages);
    bool fits =
        storage_take(storages_main(&from->storages), from_id, &tensor, error, sizeof error) &&
        storage_take(storage, id, &old, error, sizeof error) && same_shape(&tensor, &old) &&
        tensor.dtype == old.dtype;
    if (fits)
        storage_give(storage, id, &tensor);
    else
        tensor_free(&tensor);
    tensor_free(&old);
    return fits;
}

/* Gives the storage of the other, which has its own contents, those of the first: of parameters,
 * and of constants and variables that have none of their own or that --input is given for. */
static enum exit_status run_other_fill(struct outcome *other, const struct outcome *first)
{
    const struct runner *runner = other->runner;
    for (uint32_t i = 0; i < runner->graph->values.count; i++) {
        if (!value_is_given(runner->module, runner->graph, i))
            continue;
        bool is_param = i < runner->graph->n_params;
        uint32_t from = pair_given(runner, i, first->runner);
        if (from == NONE || (own_contents(runner, runner->graph, i) &&
                             !named_values_find(&first->runner->inputs, from)))
            continue;
        if (!copy_value(other, i, first, from) && is_param) {
            struct text text = {NULL, 0, 0};
            text_string(&text, "input ");
            put_value(&text, first->runner, from);
            text_printf(&text, " cannot be that of %s, ", runner->name);
            put_value(&text, runner, i);
            diag_at(first->runner->diags, DIAG_contents, no_span, "%.*s", (int)text.size, text.at);
            text_free(&text);
            return EXIT_INPUT;
        }
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
    char index[256], left[128], right[128];
    const struct intern_name *name = value_name(pair->first->runner, pair->a);
    tensor_index_text(a, match.first, index, sizeof index);
    tensor_element_text(a, match.first, left, sizeof left);
    tensor_element_text(b, match.first, right, sizeof right);
    text_printf(pair->text, "first difference: %%%.*s%s is %s, %s %s (%llu of %llu differ",
                SHOWN_NAME(name), index, left, pair->other->name, right,
                (unsigned long long)match.different, (unsigned long long)match.elements);
    if (match.largest_absolute > 0)
        text_printf(pair->text, ", by at most %.3g", match.largest_absolute);
    text_string(pair->text, ")\n");
    return VERDICT_DIFFERENT;
}

static enum verdict compare_pair(const struct comparison_pair *pair)
{
    struct tensor a = {.data = NULL}, b = {.data = NULL};
    char error[256];
    enum verdict verdict = VERDICT_DIFFERENT;
    if (storage_take(storages_main(&pair->first->storages), pair->a, &a, error, sizeof error) &&
        storage_take(storages_main(&pair->other->storages), pair->b, &b, error, sizeof error))
        verdict = compare_tensors(pair, &a, &b);
    else
        put_types(pair);
    tensor_free(&a);
    tensor_free(&b);
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

/* --------------------------------------------------------- inputs without contents ---- */

/* Inputs that nobody gives, and that feed operands of which op data says what they may hold
 * (indices, axes, sizes), get numbers in range. */

/* Graphs that call graphs are followed so often at most. */
enum { MOST_CALLS = 4096 };
/* Numbers that depend on each other are chosen one by one, for tensors of at most so many, in at
 * most so many steps; and of a range at most so many are tried. */
enum { MOST_ELEMENTS = 4096, MOST_STEPS = 20000, MOST_TRIED = 64 };

/* A graph, as which memory of the main one its parameters are. */
struct place {
    const struct storage *storage;
    const uint32_t *params; /* by parameter: a memory of the main graph; NULL: it is that one */
};

/* An operand of an op that there are rules of, in one of those graphs. */
struct use {
    struct choosing *choosing;
    struct place place;
    const struct op *op;
    struct op_tensors tensors;
    uint32_t tensor, memory; /* in the main graph */
};

struct choosing {
    const struct runner *runner;
    const struct storages *storages;
    struct storage *storage; /* the main graph's */
    const bool *marked;
    bool *chosen;    /* by memory */
    uint32_t memory; /* that is worked on */
    struct writers writers;
    struct arena arena;
    uint32_t calls, steps;
    uint64_t random;
    VEC(struct use) uses;
};

/* ---------------------------------------------------------------------------- uses ---- */

/* The memory of the main graph that a value of a place is; NONE where it is another one. */
static uint32_t main_memory(const struct place *place, uint32_t value)
{
    uint32_t memory = memory_of(&place->storage->memories, value);
    if (!place->params)
        return memory;
    return memory < place->storage->graph->n_params ? place->params[memory] : NONE;
}

/* Operands of an op whose contents there are rules of. */
static void add_uses(const struct use *op)
{
    const struct op_call *call = &op->tensors.call;
    struct choosing *choosing = op->choosing;
    for (uint32_t i = 0; i < call->type->n_contents; i++) {
        uint32_t slot = call->type->contents[i].operand;
        struct use use = *op;
        if (i && slot == call->type->contents[i - 1].operand)
            continue;
        while (use.tensor < call->n_tensors && call->tensors[use.tensor].slot != slot)
            use.tensor++;
        if (use.tensor == call->n_tensors)
            continue;
        uint32_t operand = use.tensors.places[use.tensor].index;
        use.memory =
            main_memory(&use.place, op_operands(use.place.storage->graph, use.op)[operand]);
        if (use.memory != NONE && choosing->marked[use.memory])
            vec_push(&choosing->uses, use);
    }
}

static void find_uses(struct choosing *choosing, const struct place *place);

/* What a graph that is called does with the operands that become its parameters. */
static void find_called_uses(struct choosing *choosing, const struct place *place,
                             const struct op *op)
{
    const struct module *module = choosing->runner->module;
    const struct call_info *info = call_info(op_call_kind(op));
    struct callee callee;
    for (uint32_t n = 0; op_callee(module, op, n, &callee); n++) {
        const struct storage *storage = &choosing->storages->at[callee.graph];
        uint32_t n_params = storage->graph->n_params;
        uint32_t *params = arena_alloc(&choosing->arena, (n_params + 1) * sizeof *params);
        for (uint32_t i = 0; i < n_params; i++) {
            uint32_t operand = i < info->own ? NONE : info->lead + i - info->own;
            params[i] = operand < op->operands.count
                            ? main_memory(place, op_operands(place->storage->graph, op)[operand])
                            : NONE;
        }
        if (choosing->calls++ < MOST_CALLS)
            find_uses(choosing, &(struct place){storage, params});
    }
}

static void find_uses(struct choosing *choosing, const struct place *place)
{
    const struct module *module = choosing->runner->module;
    const struct graph *graph = place->storage->graph;
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        const struct op_type *type = op_type_find(module, op->type);
        struct use use = {.choosing = choosing, .place = *place, .op = op};
        if (op_call_kind(op) != CALL_NONE)
            find_called_uses(choosing, place, op);
        if (op_call_kind(op) != CALL_NONE || !type || !type->n_contents ||
            op_is_unchecked(module, op))
            continue;
        op_tensors_init(&use.tensors, module, graph, op, type, &choosing->arena);
        if (use.tensors.misfit == OP_FITS && op_tensors_are_plain(module, &use.tensors))
            add_uses(&use);
    }
}

/* ------------------------------------------------------------------------ contents ---- */

/* Operands are known that have their contents by now, and that which is chosen. */
static bool contents_of(const struct op_call *call, uint32_t tensor, struct arena *arena,
                        struct op_contents *found)
{
    const struct use *use = call->contents_user;
    const struct choosing *choosing = use->choosing;
    const struct op_place *place = &use->tensors.places[tensor];
    if (place->result)
        return false;
    const struct storage *storage = use->place.storage;
    uint32_t value = op_operands(storage->graph, use->op)[place->index];
    uint32_t memory = main_memory(&use->place, value);
    if (memory != NONE) {
        storage = choosing->storage;
        value = memory;
        if (memory != choosing->memory && choosing->marked[memory] && !choosing->chosen[memory])
            return false;
    }
    uint32_t graph = graph_id(choosing->runner->module, storage->graph);
    if (memory != choosing->memory && !value_is_steady(&choosing->writers, graph, value))
        return false;
    return integers_read(choosing->runner->module, place->type, storage->data[value], arena, found);
}

/* ------------------------------------------------------------------------- numbers ---- */

/* Narrows by all uses; whether all say the same of all elements. */
static bool narrow(const struct choosing *choosing, struct op_element *element,
                   struct op_range *range)
{
    bool same = true;
    for (uint32_t i = 0; i < choosing->uses.count; i++) {
        const struct use *use = &choosing->uses.at[i];
        element->tensor = use->tensor;
        if (use->memory == choosing->memory)
            same = op_range_narrow(&use->tensors.call, element, range) && same;
    }
    return same;
}

static bool is_allowed(const struct choosing *choosing, struct op_element *element)
{
    for (uint32_t i = 0; i < choosing->uses.count; i++) {
        const struct use *use = &choosing->uses.at[i];
        element->tensor = use->tensor;
        if (use->memory == choosing->memory && !op_range_allows(&use->tensors.call, element))
            return false;
    }
    return true;
}

/* The n-th number to be tried: of a list from its first one on, of a range from any. */
static bool nth_number(const struct op_range *range, uint64_t first, uint32_t n, int64_t *number)
{
    uint64_t span = (uint64_t)range->high - (uint64_t)range->low;
    if (range->low > range->high || n >= (range->listed ? range->count : MOST_TRIED) ||
        (!range->listed && n > span))
        return false;
    *number = range->listed ? range->list[n]
                            : range->low + (int64_t)(span == UINT64_MAX ? first + n
                                                                        : (first + n) % (span + 1));
    return *number >= range->low && *number <= range->high;
}

/* Chooses the elements from one on, such that those before it stay; false where nothing fits. */
static bool choose_from(struct choosing *choosing, uint64_t count, struct op_element element)
{
    const struct type *type = &choosing->storage->module->types
                                   .at[choosing->storage->graph->values.at[choosing->memory].type];
    uint64_t place = (uint64_t)element.at[ELEMENT_PLACE];
    struct op_range range = {.low = integer_lowest(type->dtype),
                             .high = integer_highest(type->dtype)};
    struct op_element next = element;
    if (place == count) {
        for (uint32_t i = 0; i < choosing->uses.count; i++) {
            const struct use *use = &choosing->uses.at[i];
            struct op_range_fault fault;
            if (use->memory == choosing->memory && !op_ranges_check(&use->tensors.call, &fault) &&
                fault.tensor == use->tensor)
                return false;
        }
        return true;
    }
    narrow(choosing, &element, &range);
    choosing->random = choosing->random * 6364136223846793005u + 1442695040888963407u;
    uint64_t first = (choosing->random >> 33) % UINT32_MAX;
    next.at[ELEMENT_PLACE]++;
    for (uint32_t n = 0; nth_number(&range, first, n, &element.at[ELEMENT_VALUE]); n++) {
        int64_t number = element.at[ELEMENT_VALUE];
        if (choosing->steps++ > MOST_STEPS)
            return false;
        integer_write(type->dtype, choosing->storage->data[choosing->memory], place, number);
        if (!is_allowed(choosing, &element) ||
            __builtin_add_overflow(element.at[ELEMENT_SUM], number, &next.at[ELEMENT_SUM]))
            continue;
        next.at[ELEMENT_BEFORE] = number;
        if (choose_from(choosing, count, next))
            return true;
    }
    return false;
}

/* -------------------------------------------------------------------------- choice ---- */

static void choose(struct choosing *choosing)
{
    const struct module *module = choosing->runner->module;
    struct storage *storage = choosing->storage;
    uint32_t memory = choosing->memory, id = storage->graph->values.at[memory].type;
    enum dtype dtype = module->types.at[id].dtype;
    uint64_t size = storage->sizes[memory], seed = choosing->runner->seed + memory;
    void *data = storage->data[memory], *kept;
    struct op_contents now;
    struct op_element element = {.tensor = 0};
    if (!integers_read(module, id, data, &choosing->arena, &now) || now.count == 0)
        return;
    int64_t low = integer_lowest(dtype), high = integer_highest(dtype);
    struct op_range range = {.low = low, .high = high};
    bool same = narrow(choosing, &element, &range);
    if (!range.listed && range.low == low && range.high == high)
        return;
    if (same && !range.listed && range.low <= range.high) {
        /* All alike: as --input NAME=rand:LOW..HIGH. */
        char spec[64], error[200];
        snprintf(spec, sizeof spec, "rand:%lld..%lld", (long long)range.low, (long long)range.high);
        storage_fill(storage, memory, spec, seed, error, sizeof error);
    } else if ((!same || range.listed) && now.count <= MOST_ELEMENTS) {
        /* One after the other, as what a number may be depends on its place and on those before
         * it. */
        kept = arena_alloc(&choosing->arena, size + 1);
        memcpy(kept, data, size);
        choosing->random = seed;
        choosing->steps = 0;
        if (!choose_from(choosing, now.count, (struct op_element){.tensor = 0}))
            memcpy(data, kept, size);
    }
    choosing->chosen[memory] = true;
}

bool run_values_name(struct runner *runner)
{
    return named_values_parse(&runner->inputs, runner->invocation, "input", runner->module,
                              runner->graph, NAMED_PARAMETER) &&
           named_values_parse(&runner->outputs, runner->invocation, "output", runner->module,
                              runner->graph, NAMED_VALUE);
}

void run_values_free(struct runner *runner)
{
    named_values_free(&runner->inputs);
    named_values_free(&runner->outputs);
}

/* ---------------------------------------------------------------------- what goes in ---- */

static enum exit_status report_input(const struct runner *runner, const struct graph *graph,
                                     uint32_t id, struct span span, const char *error)
{
    diag_at(runner->diags, DIAG_contents, span, "input '%.*s': %s",
            NAME(runner->module, graph->values.at[id].name), error);
    return EXIT_INPUT;
}

/* Where the contents come from that a value has before the graph runs. Several values may be one
 * memory: what is said for any of them counts over what is not, so it is written later. */
enum given_by { BY_SEED, BY_GRAPH, BY_OPTION, GIVEN_END };

static const char *option_of(const struct runner *runner, const struct graph *graph, uint32_t id)
{
    return graph == runner->graph ? named_values_find(&runner->inputs, id) : NULL;
}

static enum given_by given_by(const struct runner *runner, const struct graph *graph, uint32_t id)
{
    return option_of(runner, graph, id)      ? BY_OPTION
           : own_contents(runner, graph, id) ? BY_GRAPH
                                             : BY_SEED;
}

static bool fill_given(const struct runner *runner, struct storage *storage, uint32_t id,
                       enum given_by by, char *error, size_t error_size)
{
    const char *spec = option_of(runner, storage->graph, id);
    const struct attr *attr = own_contents(runner, storage->graph, id);
    if (by != given_by(runner, storage->graph, id))
        return true;
    if (by != BY_GRAPH)
        return storage_fill(storage, id, spec, runner->seed + id, error, error_size);
    struct contents contents = contents_read(runner->module, attr);
    return storage_fill_contents(storage, id, &contents, runner->lowered.session.places.source_dir,
                                 error, error_size);
}

/* By --input, else by the graph's contents, else at random, each by a seed of its own. */
static enum exit_status fill_graph(const struct runner *runner, const struct storages *storages,
                                   struct storage *storage)
{
    const struct graph *graph = storage->graph;
    uint32_t first = graph == runner->graph ? 0 : graph->n_params; /* which callers give */
    char error[512];
    for (int by = 0; by < GIVEN_END; by++)
        for (uint32_t i = first; i < graph->values.count; i++)
            if (value_is_given(runner->module, graph, i) &&
                !fill_given(runner, storage, i, (enum given_by)by, error, sizeof error))
                return report_input(
                    runner, graph, i,
                    by == BY_GRAPH
                        ? locate_token(runner->module, own_contents(runner, graph, i)->loc)
                        : no_span,
                    error);
    /* Inputs of which nothing is said, from the first on that is filled, get numbers that the ops
     * can have which they feed. */
    bool *marked = mem_calloc(graph->values.count, sizeof *marked);
    for (uint32_t i = first; i < graph->values.count; i++)
        if (value_is_given(runner->module, graph, i))
            marked[memory_of(&storage->memories, i)] = true;
    for (uint32_t i = first; i < graph->values.count; i++)
        if (value_is_given(runner->module, graph, i) && given_by(runner, graph, i) != BY_SEED)
            marked[memory_of(&storage->memories, i)] = false;
    /* Chooses numbers for memories of a storage that are marked, by the value that stands for each,
     * once all others that are given have their contents. Those of which nothing is said, or
     * nothing fits, stay as they are. */
    struct choosing choosing = {
        .runner = runner, .storages = storages, .storage = storage, .marked = marked};
    find_uses(&choosing, &(struct place){storage, NULL});
    if (choosing.uses.count) {
        writers_init(&choosing.writers, runner->module, storages);
        choosing.chosen = mem_calloc(storage->graph->values.count, sizeof *choosing.chosen);
        for (uint32_t i = 0; i < choosing.uses.count; i++) {
            struct use *use = &choosing.uses.at[i];
            use->tensors.call.contents = contents_of;
            use->tensors.call.contents_user = use;
        }
        for (uint32_t i = 0; i < choosing.uses.count; i++) {
            choosing.memory = choosing.uses.at[i].memory;
            if (!choosing.chosen[choosing.memory])
                choose(&choosing);
        }
        mem_free(choosing.chosen);
        writers_free(&choosing.writers);
    }
    vec_free(&choosing.uses);
    arena_free(&choosing.arena);
    mem_free(marked);
    return EXIT_DONE;
}

static enum exit_status fill_storages(const struct runner *runner, const struct storages *storages)
{
    enum exit_status status = EXIT_DONE;
    for (uint32_t i = 0; status == EXIT_DONE && i < storages->count; i++)
        if (storages->at[i].graph)
            status = fill_graph(runner, storages, &storages->at[i]);
    return status;
}

bool run_values_init(const struct runner *runner, struct storages *storages, unsigned copies)
{
    return storages_init(storages, runner->how, runner->module, runner->graph, copies,
                         runner->diags);
}

enum exit_status run_values_fill(const struct outcome *outcome, const struct storages *storages)
{
    struct outcome to = {.runner = outcome->runner, .storages = *storages};
    struct outcome from = {.runner = outcome->given};
    enum exit_status status = fill_storages(outcome->runner, storages);
    if (!outcome->given || status != EXIT_DONE)
        return status;
    status = run_values_init(from.runner, &from.storages, 1)
                 ? fill_storages(from.runner, &from.storages)
                 : EXIT_INPUT;
    if (status == EXIT_DONE)
        status = run_other_fill(&to, &from);
    storages_free(&from.storages);
    return status;
}

/* Ways that run one graph share theirs. */
static bool make_workplace(struct outcomes *outcomes, unsigned i)
{
    struct outcome *outcome = &outcomes->at[i];
    bool shared = outcome->runner == outcomes->at[0].runner;
    struct workplace *workplace = &outcomes->workplaces[shared ? 0 : i];
    if (outcomes->at[0].runner->repeat == 0)
        return true;
    outcome->workplace = workplace;
    if (workplace->storages.count)
        return true;
    if (!run_values_init(outcome->runner, &workplace->storages, 1))
        return false;
    storages_copy_given(&workplace->storages, &outcome->storages);
    return true;
}

enum exit_status run_values_make(struct outcomes *outcomes)
{
    struct outcome *first = &outcomes->at[0];
    struct runner *runner = first->runner;
    unsigned copies = outcomes->count + 1;
    bool again = runner->repeat != 0 && runner->repeat != REPEAT_AUTO;
    if (!run_values_init(runner, &first->storages, again ? copies : outcomes->count))
        return EXIT_INPUT;
    /* Measuring is not worth the memory of a large graph: it may take half of the machine's. */
    if (runner->repeat == REPEAT_AUTO &&
        !storage_has_room(storages_main(&first->storages), 2 * copies))
        runner->repeat = 0;
    enum exit_status status = fill_storages(runner, &first->storages);
    for (unsigned i = 1; status == EXIT_DONE && i < outcomes->count; i++) {
        struct outcome *outcome = &outcomes->at[i];
        if (!run_values_init(outcome->runner, &outcome->storages, 1))
            return EXIT_INPUT;
        if (outcome->runner == runner) {
            storages_copy_given(&outcome->storages, &first->storages);
            continue;
        }
        outcome->given = runner;
        status = fill_storages(outcome->runner, &outcome->storages);
        if (status == EXIT_DONE)
            status = run_other_fill(outcome, first);
    }
    for (unsigned i = 0; status == EXIT_DONE && i < outcomes->count; i++)
        status = make_workplace(outcomes, i) ? EXIT_DONE : EXIT_INPUT;
    return status;
}

void run_values_keep(const struct outcome *outcome)
{
    if (outcome->workplace)
        restore_keep(&outcome->workplace->restore, &outcome->workplace->storages,
                     &outcome->storages);
}

void run_values_restore(const struct workplace *workplace)
{
    restore_inputs(&workplace->restore);
}

void run_values_release(struct outcomes *outcomes)
{
    for (unsigned i = 0; i < outcomes->count; i++)
        storages_free(&outcomes->at[i].storages);
    for (unsigned i = 0; i < MAX_OUTCOMES; i++) {
        storages_free(&outcomes->workplaces[i].storages);
        restore_free(&outcomes->workplaces[i].restore);
    }
}

/* --------------------------------------------------------------------- what comes out ---- */

void run_values_release_input(const struct runner *runner, const char *output)
{
    bool is_input = file_is_input(output);
    for (uint32_t i = 0; is_input && i < runner->inputs.count; i++)
        if (path_same(runner->inputs.at[i].text, output))
            file_release_input(output);
}

enum exit_status run_values_write(const struct runner *runner, const struct storage *storage)
{
    char error[512];
    for (uint32_t i = 0; i < runner->outputs.count; i++) {
        struct named_value output = runner->outputs.at[i];
        struct tensor tensor = {.data = NULL};
        run_values_release_input(runner, output.text);
        bool ok = storage_take(storage, output.value, &tensor, error, sizeof error) &&
                  tensor_write_npy(&tensor, output.text, error, sizeof error);
        tensor_free(&tensor);
        if (ok)
            continue;
        diag_at(runner->diags, DIAG_file, no_span, "output '%.*s': %s",
                NAME(runner->module, runner->graph->values.at[output.value].name), error);
        return EXIT_INPUT;
    }
    return EXIT_DONE;
}
