#include "frontend/commands/run_defaults.h"
#include "frontend/commands/run_writers.h"
#include "frontend/tensor/integers.h"
#include "ir/calls.h"
#include "ir/op_ranges.h"
#include "ir/op_tensors.h"

#include <string.h>

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

static void add_op(struct choosing *choosing, const struct place *place, const struct op *op,
                   const struct op_type *type)
{
    const struct runner *runner = choosing->runner;
    const struct graph *graph = place->storage->graph;
    struct use use = {.choosing = choosing, .place = *place, .op = op};
    op_tensors_init(&use.tensors, runner->module, graph, op, type, &choosing->arena);
    if (use.tensors.misfit != OP_FITS || !op_tensors_are_plain(runner->module, &use.tensors))
        return;
    add_uses(&use);
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
    const struct graph *graph = place->storage->graph;
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        const struct op_type *type = op_type_find(choosing->runner->module, op->type);
        if (op_call_kind(op) != CALL_NONE)
            find_called_uses(choosing, place, op);
        else if (type && type->n_contents && !op_is_unchecked(choosing->runner->module, op))
            add_op(choosing, place, op, type);
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

static bool is_for(const struct choosing *choosing, const struct use *use)
{
    return use->memory == choosing->memory;
}

static uint64_t next_random(struct choosing *choosing, uint64_t limit)
{
    choosing->random = choosing->random * 6364136223846793005u + 1442695040888963407u;
    return (choosing->random >> 33) % limit;
}

/* Narrows by all uses; whether all say the same of all elements. */
static bool narrow(const struct choosing *choosing, struct op_element *element,
                   struct op_range *range)
{
    bool same = true;
    for (uint32_t i = 0; i < choosing->uses.count; i++) {
        const struct use *use = &choosing->uses.at[i];
        element->tensor = use->tensor;
        if (is_for(choosing, use))
            same = op_range_narrow(&use->tensors.call, element, range) && same;
    }
    return same;
}

static bool is_allowed(const struct choosing *choosing, struct op_element *element)
{
    for (uint32_t i = 0; i < choosing->uses.count; i++) {
        const struct use *use = &choosing->uses.at[i];
        element->tensor = use->tensor;
        if (is_for(choosing, use) && !op_range_allows(&use->tensors.call, element))
            return false;
    }
    return true;
}

/* Whether rules of all elements together hold, too. */
static bool is_right(const struct choosing *choosing)
{
    for (uint32_t i = 0; i < choosing->uses.count; i++) {
        const struct use *use = &choosing->uses.at[i];
        struct op_range_fault fault;
        if (is_for(choosing, use) && !op_ranges_check(&use->tensors.call, &fault) &&
            fault.tensor == use->tensor)
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
    if (place == count)
        return is_right(choosing);
    narrow(choosing, &element, &range);
    uint64_t first = next_random(choosing, UINT32_MAX);
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

/* One after the other, as what a number may be depends on its place and on those before it. */
static void choose_each(struct choosing *choosing, uint64_t count)
{
    uint64_t size = choosing->storage->sizes[choosing->memory];
    void *data = choosing->storage->data[choosing->memory], *kept;
    if (count > MOST_ELEMENTS)
        return;
    kept = arena_alloc(&choosing->arena, size + 1);
    memcpy(kept, data, size);
    choosing->steps = 0;
    if (!choose_from(choosing, count, (struct op_element){.tensor = 0}))
        memcpy(data, kept, size);
}

/* All alike: as --input NAME=rand:LOW..HIGH. */
static void choose_all(const struct choosing *choosing, const struct op_range *range)
{
    char spec[64], error[200];
    snprintf(spec, sizeof spec, "rand:%lld..%lld", (long long)range->low, (long long)range->high);
    storage_fill(choosing->storage, choosing->memory, spec,
                 choosing->runner->seed + choosing->memory, error, sizeof error);
}

static void choose(struct choosing *choosing)
{
    const struct module *module = choosing->runner->module;
    uint32_t id = choosing->storage->graph->values.at[choosing->memory].type;
    enum dtype dtype = module->types.at[id].dtype;
    struct op_contents now;
    struct op_element element = {.tensor = 0};
    if (!integers_read(module, id, choosing->storage->data[choosing->memory], &choosing->arena,
                       &now) ||
        now.count == 0)
        return;
    int64_t low = integer_lowest(dtype), high = integer_highest(dtype);
    struct op_range range = {.low = low, .high = high};
    bool same = narrow(choosing, &element, &range);
    if (!range.listed && range.low == low && range.high == high)
        return;
    choosing->random = choosing->runner->seed + choosing->memory;
    if (!same || range.listed)
        choose_each(choosing, now.count);
    else if (range.low <= range.high)
        choose_all(choosing, &range);
    choosing->chosen[choosing->memory] = true;
}

void run_defaults_choose(const struct runner *runner, const struct storages *storages,
                         struct storage *storage, const bool *marked)
{
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
}
