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
    struct id_map of_value;  /* by the value that stands for a memory which some op writes */
    struct id_map of_buffer; /* memory by name */
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

/* The value that stands for the memory which the n-th entry of `inplace` names, or NONE where it
 * names none. */
static uint32_t inplace_value(const struct walker *walker, const struct op *op,
                              const struct attr *inplace, uint32_t n)
{
    const struct attr_value *place = &walker->module->attr_values.at[inplace->value.first + n];
    uint32_t value = op_place(walker->graph, op, place);
    return value == NONE ? NONE : memory_of(&walker->joined, value);
}

/* Gives each memory that is written in place its accesses; returns whether any is shared. */
static bool find_memories(struct walker *walker)
{
    bool any = false;
    memories_init(&walker->joined, walker->module, walker->graph);
    for (uint32_t i = 0; i < walker->graph->ops.count; i++) {
        const struct op *op = &walker->graph->ops.at[i];
        const struct attr *inplace = attr_find(walker->module, op->attrs, W_inplace);
        any |= attr_find(walker->module, op->attrs, W_reads) ||
               attr_find(walker->module, op->attrs, W_writes);
        for (uint32_t n = 0;
             inplace && inplace->value.kind == ATTR_LIST && n < inplace->value.count; n++) {
            uint32_t value = inplace_value(walker, op, inplace, n);
            if (value == NONE || id_map_find(&walker->of_value, value) != NONE)
                continue;
            id_map_set(&walker->of_value, value,
                       new_memory(walker, walker->graph->values.at[value].name));
            any = true;
        }
    }
    return any;
}

static void access_buffer(struct walker *walker, uint32_t op, const struct attr_value *name,
                          bool write)
{
    if (name->kind != ATTR_STRING)
        return;
    uint32_t *memory = id_map_at(&walker->of_buffer, name->id);
    if (*memory == NONE)
        *memory = new_memory(walker, name->id);
    access_memory(walker, *memory, op, write);
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
    const struct attr *inplace = attr_find(walker->module, op->attrs, W_inplace);
    for (uint32_t n = 0; inplace && inplace->value.kind == ATTR_LIST && n < inplace->value.count;
         n++) {
        uint32_t value = inplace_value(walker, op, inplace, n);
        if (value != NONE)
            access_memory(walker, id_map_get(&walker->of_value, value), id, true);
    }
}

void memory_edges(struct order_pairs *pairs, const struct module *module, const struct graph *graph,
                  const uint32_t *text, uint32_t n_ops)
{
    struct walker walker = {.module = module, .graph = graph, .pairs = pairs};
    uint32_t n_accessing = find_memories(&walker) ? n_ops : 0;
    for (uint32_t i = 0; i < n_accessing; i++) {
        access_values(&walker, text[i]);
        access_buffers(&walker, text[i], W_reads);
        access_buffers(&walker, text[i], W_writes);
    }
    for (uint32_t i = 0; i < walker.memories.count; i++)
        vec_free(&walker.memories.at[i].readers);
    vec_free(&walker.memories);
    memories_free(&walker.joined);
    id_map_free(&walker.of_value);
    id_map_free(&walker.of_buffer);
}
