#include "ir/module.h"

#include <assert.h>
#include <string.h>

struct word_text {
    const char *text;
    size_t size;
};

/* The operator # takes the text as it stands; words such as `bool` and `true`, which are macros of
 * the C library, must not pass through a second macro. */
static const struct word_text words[] = {
#define KEYWORD(name) {#name, sizeof #name - 1},
#define WORD(name)
#include "ir/words.def"
#define DTYPE(name, bits, class, npy) {#name, sizeof #name - 1},
#include "ir/dtypes.def"
#undef DTYPE
#define INSTR(name, ...) {#name, sizeof #name - 1},
#include "ir/instrs.def"
#undef INSTR
#define KEYWORD(name)
#define WORD(name) {#name, sizeof #name - 1},
#include "ir/words.def"
};
_Static_assert(sizeof words / sizeof words[0] == W_COUNT, "a text per word");

struct module *module_new(struct source *source)
{
    struct module *module = mem_calloc(1, sizeof *module);
    module->source = source;
    module->loc = NONE;
    for (uint32_t id = 0; id < W_COUNT; id++) {
        uint32_t name = intern_static(&module->names, words[id].text, words[id].size);
        assert(name == id); /* no text stands in two lists */
        (void)name;
    }
    return module;
}

void graph_free(struct graph *graph)
{
    vec_free(&graph->params);
    vec_free(&graph->gears);
    vec_free(&graph->gear_values);
    vec_free(&graph->result_types);
    vec_free(&graph->returns);
    vec_free(&graph->values);
    vec_free(&graph->ops);
    vec_free(&graph->blocks);
    vec_free(&graph->clauses);
    vec_free(&graph->body);
    vec_free(&graph->refs);
}

void module_free(struct module *module)
{
    if (!module)
        return;
    for (uint32_t i = 0; i < module->graphs.count; i++)
        graph_free(&module->graphs.at[i]);
    for (uint32_t i = 0; i < module->entries.count; i++)
        for (int core = 0; core < CORE_TYPES; core++)
            vec_free(&module->entries.at[i].programs[core].instrs);
    intern_free(&module->names);
    vec_free(&module->types);
    mem_free(module->type_slots);
    vec_free(&module->dims);
    vec_free(&module->attrs);
    vec_free(&module->attr_values);
    vec_free(&module->targets);
    vec_free(&module->kernels);
    vec_free(&module->graphs);
    vec_free(&module->entries);
    for (int kind = 0; kind < SYMBOL_KINDS; kind++)
        id_map_free(&module->named[kind]);
    vec_free(&module->order);
    mem_free(module);
}

/* ---------------------------------------------------------------------------- names ---- */

uint32_t module_name(struct module *module, const char *text)
{
    return intern_copy(&module->names, text, strlen(text));
}

uint32_t module_name_printf(struct module *module, const char *format, ...)
{
    struct arena scratch = {NULL, 0};
    va_list args;
    va_start(args, format);
    uint32_t name = module_name(module, arena_vprintf(&scratch, format, args));
    va_end(args);
    arena_free(&scratch);
    return name;
}

bool name_is(const struct module *module, uint32_t name, const char *text)
{
    const struct intern_name *n = &module->names.names[name];
    return strlen(text) == n->size && memcmp(text, n->text, n->size) == 0;
}

char *name_text(const struct module *module, uint32_t name, struct arena *arena)
{
    const struct intern_name *n = &module->names.names[name];
    return arena_strndup(arena, n->text, n->size);
}

/* ---------------------------------------------------------------------------- types ---- */

static uint32_t type_hash(const struct type *type, const int64_t *dims)
{
    uint64_t h = (uint64_t)type->dtype << 40 ^ (uint64_t)type->format << 8 ^ type->rank;
    for (uint32_t i = 0; i < type->rank; i++) {
        h = (h ^ (uint64_t)dims[i]) * 0xd6e8feb86659fd93u;
        h ^= h >> 32;
    }
    h *= 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32);
}

static bool type_equals(const struct module *module, const struct type *a, const struct type *b,
                        const int64_t *b_dims)
{
    return a->dtype == b->dtype && a->format == b->format && a->rank == b->rank &&
           memcmp(module->dims.at + a->dims, b_dims, a->rank * sizeof *b_dims) == 0;
}

static void type_slots_grow(struct module *module)
{
    uint32_t size = module->type_slots ? (module->type_mask + 1) * 2 : 64;
    mem_free(module->type_slots);
    module->type_slots = mem_calloc(size, sizeof *module->type_slots);
    module->type_mask = size - 1;
    for (uint32_t id = 0; id < module->types.count; id++) {
        const struct type *type = &module->types.at[id];
        uint32_t at = type_hash(type, module->dims.at + type->dims) & module->type_mask;
        while (module->type_slots[at])
            at = (at + 1) & module->type_mask;
        module->type_slots[at] = id + 1;
    }
}

uint32_t module_type(struct module *module, enum dtype dtype, uint32_t format, const int64_t *dims,
                     uint32_t rank)
{
    static const int64_t scalar[1];
    if (!module->type_slots || module->types.count >= module->type_mask / 2)
        type_slots_grow(module);
    if (rank == 0)
        dims = scalar;
    vec_reserve(&module->dims, rank + 1);
    struct type type = {dtype, format, rank, module->dims.count};
    uint32_t at = type_hash(&type, dims) & module->type_mask;
    for (uint32_t id; (id = module->type_slots[at]); at = (at + 1) & module->type_mask)
        if (type_equals(module, &module->types.at[id - 1], &type, dims))
            return id - 1;
    memcpy(module->dims.at + module->dims.count, dims, rank * sizeof *dims);
    module->dims.count += rank;
    vec_push(&module->types, type);
    module->type_slots[at] = module->types.count;
    return module->types.count - 1;
}

const int64_t *type_dims(const struct module *module, uint32_t type)
{
    return module->dims.at + module->types.at[type].dims;
}

bool type_elements(const struct module *module, uint32_t type, uint64_t *elements)
{
    const int64_t *dims = type_dims(module, type);
    bool zero = false;
    uint64_t product = 1;
    for (uint32_t i = 0; i < module->types.at[type].rank; i++) {
        if (dims[i] < 0)
            return false;
        if (dims[i] == 0)
            zero = true;
        else if (__builtin_mul_overflow(product, (uint64_t)dims[i], &product) || product >> 62)
            return false;
    }
    *elements = zero ? 0 : product;
    return true;
}

/* ----------------------------------------------------------------------- attributes ---- */

const struct attr *attr_find(const struct module *module, struct range attrs, uint32_t key)
{
    for (uint32_t i = 0; i < attrs.count; i++)
        if (module->attrs.at[attrs.first + i].key == key)
            return &module->attrs.at[attrs.first + i];
    return NULL;
}

int64_t attr_int(const struct module *module, struct range attrs, uint32_t key, int64_t absent)
{
    const struct attr *attr = attr_find(module, attrs, key);
    return attr && attr->value.kind == ATTR_INT ? attr->value.i : absent;
}

bool attr_flag(const struct module *module, struct range attrs, uint32_t key)
{
    const struct attr *attr = attr_find(module, attrs, key);
    return attr && attr->value.kind == ATTR_BOOL && attr->value.i;
}

uint32_t attr_string(const struct module *module, struct range attrs, uint32_t key)
{
    const struct attr *attr = attr_find(module, attrs, key);
    return attr && attr->value.kind == ATTR_STRING ? attr->value.id : NONE;
}

bool attr_has_word(const struct module *module, struct range attrs, uint32_t key, uint32_t word)
{
    const struct attr *attr = attr_find(module, attrs, key);
    for (uint32_t i = 0; attr && attr->value.kind == ATTR_LIST && i < attr->value.count; i++) {
        const struct attr_value *value = &module->attr_values.at[attr->value.first + i];
        if (value->kind == ATTR_WORD && value->id == word)
            return true;
    }
    return false;
}

struct range module_add_attrs(struct module *module, const struct attr *attrs, uint32_t count)
{
    struct range range = {module->attrs.count, count};
    if (count == 0)
        return (struct range){0, 0};
    vec_reserve(&module->attrs, count);
    memcpy(module->attrs.at + range.first, attrs, count * sizeof *attrs);
    module->attrs.count += count;
    return range;
}

struct range module_add_values(struct module *module, const struct attr_value *values,
                               uint32_t count)
{
    struct range range = {module->attr_values.count, count};
    if (count == 0)
        return (struct range){0, 0};
    vec_reserve(&module->attr_values, count);
    memcpy(module->attr_values.at + range.first, values, count * sizeof *values);
    module->attr_values.count += count;
    return range;
}

/* ------------------------------------------------------------- elements of a module ---- */

/* Of the element that is added next. */
static void add_symbol(struct module *module, enum symbol_kind kind, uint32_t name, uint32_t index)
{
    assert(name < module->names.count);
    vec_push(&module->order, (uint64_t)index << 2 | kind);
    uint32_t *first = id_map_at(&module->named[kind], name);
    if (*first == NONE)
        *first = index;
}

struct kernel *module_add_kernel(struct module *module, uint32_t name, enum kernel_type type)
{
    add_symbol(module, SYMBOL_KERNEL, name, module->kernels.count);
    vec_push(&module->kernels, (struct kernel){name, NONE, NONE, type, {0, 0}});
    return &module->kernels.at[module->kernels.count - 1];
}

struct graph *module_add_graph(struct module *module, uint32_t name)
{
    add_symbol(module, SYMBOL_GRAPH, name, module->graphs.count);
    vec_push(&module->graphs,
             (struct graph){.name = name, .loc = NONE, .end_loc = NONE, .return_loc = NONE});
    struct graph *graph = &module->graphs.at[module->graphs.count - 1];
    vec_push(&graph->clauses, (struct clauses){{0, 0}, {0, 0}, {0, 0}});
    return graph;
}

struct entry *module_add_entry(struct module *module, uint32_t name, enum kernel_type type)
{
    add_symbol(module, SYMBOL_ENTRY, name, module->entries.count);
    vec_push(&module->entries,
             (struct entry){.name = name, .loc = NONE, .end_loc = NONE, .type = type});
    return &module->entries.at[module->entries.count - 1];
}

uint32_t module_cores(const struct module *module, enum core_type core)
{
    uint32_t key = core == CORE_AIC ? W_aic : W_aiv;
    uint32_t absent = core == CORE_AIC ? 24 : 48;
    if (module->targets.count == 0)
        return absent;
    return (uint32_t)attr_int(module, module->targets.at[0].attrs, key, absent);
}

uint32_t module_blocks(const struct module *module, enum kernel_type type)
{
    const struct kernel_type_info *info = kernel_type_info(type);
    uint32_t blocks = UINT32_MAX;
    for (int core = 0; core < CORE_TYPES; core++) {
        uint32_t per_block = core == CORE_AIC ? info->aics : info->aivs;
        uint32_t cores = module_cores(module, core);
        if (per_block && cores / per_block < blocks)
            blocks = cores / per_block;
    }
    return blocks;
}

uint32_t kernel_blocks(const struct module *module, const struct kernel *kernel)
{
    if (!attr_flag(module, kernel->attrs, W_dynamic))
        return (uint32_t)attr_int(module, kernel->attrs, W_block, 1);
    uint32_t blocks = module_blocks(module, kernel->type);
    return blocks ? blocks : 1;
}

uint32_t kernel_function(const struct module *module, const struct kernel *kernel,
                         enum core_type core)
{
    if (!kernel_type_has(kernel->type, core))
        return NONE;
    const struct attr *entry = attr_find(module, kernel->attrs, W_entry);
    if (!entry)
        return NONE;
    if (entry->value.kind == ATTR_STRING)
        return entry->value.id;
    return attr_string(module, (struct range){entry->value.first, entry->value.count},
                       core == CORE_AIC ? W_aic : W_aiv);
}

unsigned kernel_early_start(const struct module *module, const struct kernel *kernel)
{
    unsigned early = 0;
    if (attr_has_word(module, kernel->attrs, W_early_start, W_set))
        early |= EARLY_SET;
    if (attr_has_word(module, kernel->attrs, W_early_start, W_wait))
        early |= EARLY_WAIT_MIX;
    return early;
}

/* --------------------------------------------------------------- elements of a graph ---- */

uint32_t graph_add_value(struct graph *graph, uint32_t name, uint32_t type, uint32_t def)
{
    vec_push(&graph->values, (struct value){name, type, def});
    return graph->values.count - 1;
}

uint32_t graph_add_op(struct graph *graph, const struct op *op)
{
    vec_push(&graph->ops, *op);
    return graph->ops.count - 1;
}

uint32_t graph_add_block(struct graph *graph, const struct block *block)
{
    vec_push(&graph->blocks, *block);
    return graph->blocks.count - 1;
}

struct range graph_add_refs(struct graph *graph, const uint32_t *refs, uint32_t count)
{
    if (count == 0)
        return (struct range){0, 0};
    struct range range = {graph->refs.count, count};
    vec_reserve(&graph->refs, count);
    memcpy(graph->refs.at + range.first, refs, count * sizeof *refs);
    graph->refs.count += count;
    return range;
}

void graph_add_item(struct graph *graph, enum item_kind kind, uint32_t id)
{
    vec_push(&graph->body, item_make(kind, id));
}

uint32_t graph_enclosing(const struct graph *graph, uint32_t block, enum block_kind kind)
{
    for (; block != NONE; block = graph->blocks.at[block].parent) {
        enum block_kind found = graph->blocks.at[block].kind;
        if (found == kind || (kind == BLOCK_SCOPE && found == BLOCK_SCOPE_NONE))
            return block;
    }
    return NONE;
}
