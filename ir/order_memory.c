#include "ir/calls.h"
#include "ir/effects.h"
#include "ir/memories.h"
#include "ir/order_pairs.h"

/* The accesses so far to one memory. */
struct memory {
    uint32_t writer; /* op of the last write, or NONE */
    uint32_t name;
    struct vec_u32 readers; /* since that write */
};

struct walker {
    const struct module *module;
    const struct graph *graph;
    struct order_pairs *pairs;
    VEC(struct memory) memories;
    struct memories joined;
    struct id_map of_value;    /* by the value that stands for a memory which some op writes */
    struct id_map of_buffer;   /* memory by name */
    struct effects *effects;   /* of called graphs */
    bool calls;                /* some op calls one, and so the variables were looked for */
    struct op_effects called;  /* scratch */
    struct id_map variables;   /* by `shared_name`: the value that stands for its memory */
    struct id_map of_variable; /* memory by `shared_name`, of those without a value */
};

static void add(struct walker *walker, uint32_t to, uint32_t from, uint32_t name)
{
    if (to != from)
        vec_push(walker->pairs, (struct order_pair){to, from, name});
}

static void access_memory(struct walker *walker, uint32_t id, uint32_t op, bool write)
{
    struct memory *memory = &walker->memories.at[id];
    if (!write) {
        /* It may read several values of one memory. */
        if (memory->readers.count && memory->readers.at[memory->readers.count - 1] == op)
            return;
        if (memory->writer != NONE)
            add(walker, op, memory->writer, memory->name);
        vec_push(&memory->readers, op);
        return;
    }
    /* Readers have waited for the writer before them. */
    for (uint32_t i = 0; i < memory->readers.count; i++)
        add(walker, op, memory->readers.at[i], memory->name);
    if (memory->readers.count == 0 && memory->writer != NONE)
        add(walker, op, memory->writer, memory->name);
    memory->readers.count = 0;
    memory->writer = op;
}

static uint32_t new_memory(struct walker *walker, uint32_t name)
{
    vec_push(&walker->memories, (struct memory){.writer = NONE, .name = name});
    return walker->memories.count - 1;
}

static uint32_t named_memory(struct walker *walker, struct id_map *memories, uint32_t name)
{
    uint32_t *memory = id_map_at(memories, name);
    if (*memory == NONE)
        *memory = new_memory(walker, name);
    return *memory;
}

/* What the op does by graphs that it calls, which goes on until the next call; or NULL. */
static const struct op_effects *called_effects(struct walker *walker, const struct op *op)
{
    if (op_call_kind(op) == CALL_NONE)
        return NULL;
    effects_of_op(walker->effects, op, &walker->called);
    return &walker->called;
}

/* Gives a value that stands for a memory its accesses. */
static uint32_t find_memory(struct walker *walker, uint32_t value)
{
    uint32_t *memory = id_map_at(&walker->of_value, value);
    if (*memory == NONE)
        *memory = new_memory(walker, walker->graph->values.at[value].name);
    return *memory;
}

/* The memory of a variable that a called graph uses. This one may have it as a value. */
static uint32_t variable_memory(struct walker *walker, uint32_t name)
{
    uint32_t value = id_map_find(&walker->variables, name);
    if (value != NONE)
        return find_memory(walker, value);
    return named_memory(walker, &walker->of_variable, name);
}

/* Variables of this graph, which those of called graphs are one memory with. */
static void find_variables(struct walker *walker)
{
    for (uint32_t i = 0; i < walker->graph->ops.count; i++) {
        const struct op *op = &walker->graph->ops.at[i];
        uint32_t name = op->attrs.count ? op_shared_name(walker->module, op) : NONE;
        if (name != NONE && op->results.count)
            id_map_set(&walker->variables, name, memory_of(&walker->joined, op->results.first));
    }
}

/* The same for what called graphs access; returns whether that is anything. */
static bool find_called(struct walker *walker, const struct op *op)
{
    if (op_call_kind(op) != CALL_NONE && !walker->calls) {
        find_variables(walker);
        walker->calls = true;
    }
    const struct op_effects *called = called_effects(walker, op);
    for (uint32_t i = 0; called && i < called->written.count; i++)
        find_memory(walker, memory_of(&walker->joined,
                                      op_operands(walker->graph, op)[called->written.at[i]]));
    for (uint32_t i = 0; called && i < called->shared.count; i++)
        if (called->shared.at[i].variable)
            variable_memory(walker, called->shared.at[i].name);
    return called && (called->written.count || called->shared.count);
}

/* Gives each memory that is written in place its accesses; returns whether any is shared. */
static bool find_memories(struct walker *walker)
{
    const struct module *module = walker->module;
    bool any = false;
    memories_init(&walker->joined, module, walker->graph);
    for (uint32_t i = 0; i < walker->graph->ops.count; i++) {
        const struct op *op = &walker->graph->ops.at[i];
        struct op_write write = {0};
        any |= attr_find(module, op->attrs, W_reads) || attr_find(module, op->attrs, W_writes);
        while (op_next_write(module, walker->graph, op, &write)) {
            find_memory(walker, memory_of(&walker->joined, write.operand));
            any = true;
        }
        any |= find_called(walker, op);
    }
    return any;
}

static void access_buffer(struct walker *walker, uint32_t op, const struct attr_value *name,
                          bool write)
{
    if (name->kind == ATTR_STRING)
        access_memory(walker, named_memory(walker, &walker->of_buffer, name->id), op, write);
}

/* `reads` or `writes`: a string, or a list of strings. */
static void access_buffers(struct walker *walker, uint32_t id, uint32_t key)
{
    const struct attr *attr = attr_find(walker->module, walker->graph->ops.at[id].attrs, key);
    if (!attr)
        return;
    if (attr->value.kind != ATTR_LIST) {
        access_buffer(walker, id, &attr->value, key == W_writes);
        return;
    }
    for (uint32_t i = 0; i < attr->value.count; i++)
        access_buffer(walker, id, &walker->module->attr_values.at[attr->value.first + i],
                      key == W_writes);
}

static void access_values(struct walker *walker, uint32_t id)
{
    const struct op *op = &walker->graph->ops.at[id];
    const uint32_t *operands = op_operands(walker->graph, op);
    for (uint32_t i = 0; i < op->operands.count; i++) {
        uint32_t memory = id_map_find(&walker->of_value, memory_of(&walker->joined, operands[i]));
        if (memory != NONE)
            access_memory(walker, memory, id, false);
    }
    struct op_write write = {0};
    while (op_next_write(walker->module, walker->graph, op, &write))
        access_memory(walker,
                      id_map_get(&walker->of_value, memory_of(&walker->joined, write.operand)), id,
                      true);
}

static void access_shared(struct walker *walker, uint32_t op, const struct shared_effect *shared)
{
    uint32_t memory = shared->variable ? variable_memory(walker, shared->name)
                                       : named_memory(walker, &walker->of_buffer, shared->name);
    access_memory(walker, memory, op, shared->write);
}

/* Reads come before writes: they wait for the write before, not for the op's own. */
static void access_called(struct walker *walker, uint32_t id)
{
    const struct op *op = &walker->graph->ops.at[id];
    const struct op_effects *called = called_effects(walker, op);
    if (!called)
        return;
    for (uint32_t i = 0; i < called->written.count; i++)
        access_memory(
            walker,
            find_memory(walker, memory_of(&walker->joined,
                                          op_operands(walker->graph, op)[called->written.at[i]])),
            id, true);
    for (int write = 0; write <= 1; write++)
        for (uint32_t i = 0; i < called->shared.count; i++)
            if (called->shared.at[i].write == write)
                access_shared(walker, id, &called->shared.at[i]);
}

void memory_edges(struct order_pairs *pairs, const struct module *module, const struct graph *graph,
                  const uint32_t *text, uint32_t n_ops, struct effects *effects)
{
    struct walker walker = {.module = module, .graph = graph, .pairs = pairs, .effects = effects};
    uint32_t n_accessing = find_memories(&walker) ? n_ops : 0;
    for (uint32_t i = 0; i < n_accessing; i++) {
        access_values(&walker, text[i]);
        access_buffers(&walker, text[i], W_reads);
        access_buffers(&walker, text[i], W_writes);
        access_called(&walker, text[i]);
    }
    for (uint32_t i = 0; i < walker.memories.count; i++)
        vec_free(&walker.memories.at[i].readers);
    vec_free(&walker.memories);
    memories_free(&walker.joined);
    id_map_free(&walker.of_value);
    id_map_free(&walker.of_buffer);
    id_map_free(&walker.of_variable);
    id_map_free(&walker.variables);
    op_effects_free(&walker.called);
}
