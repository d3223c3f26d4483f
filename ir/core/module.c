#include "ir/core/module.h"
#include "ir/support/memory.h"

#include <assert.h>
#include <string.h>

bool entry_is_synchronised(const struct entry *entry)
{
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
            const struct instr *instr = &entry->programs[core].instrs.at[i];
            if (instr->early || effect_is_sync(instr_info((enum instr_op)instr->op)->effect))
                return true;
        }
    return false;
}

bool instr_awaits(const struct instr *instr, enum core_type core)
{
    return instr->op == INSTR_await ||
           (instr->early & (core == CORE_AIC ? EARLY_WAIT_AIC : EARLY_WAIT_AIV)) != 0;
}

bool entry_has_barriers(const struct module *module, const struct entry *entry)
{
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
            const struct instr *instr = &entry->programs[core].instrs.at[i];
            const struct kernel *kernel =
                instr->op == INSTR_call ? module_kernel(module, instr->kernel) : NULL;
            if (instr_awaits(instr, (enum core_type)core) ||
                (kernel && attr_flag(module, kernel->attrs, W_sync_all)))
                return true;
        }
    return false;
}

struct word_text {
    const char *text;
    size_t size;
};

/* The operator # takes the text as it stands; words such as `bool` and `true`, which are macros of
 * the C library, must not pass through a second macro. */
static const struct word_text words[] = {
#define KEYWORD(name) {#name, sizeof #name - 1},
#define WORD(name)
#include "ir/core/words.def"
#define DTYPE(name, ...) {#name, sizeof #name - 1},
#include "ir/core/dtypes.def"
#undef DTYPE
#define INSTR(name, ...) {#name, sizeof #name - 1},
#include "ir/core/instrs.def"
#undef INSTR
#define KEYWORD(name)
#define WORD(name) {#name, sizeof #name - 1},
#include "ir/core/words.def"
};
_Static_assert(sizeof words / sizeof words[0] == W_COUNT, "a text per word");

struct module *module_new(struct source *source)
{
    struct module *module = mem_calloc(1, sizeof *module);
    module->source = source;
    module->loc = NONE;
    module->names.shared = true;
    module->token = NONE;
    for (uint32_t id = 0; id < W_COUNT; id++) {
        uint32_t name = intern_static(&module->names, words[id].text, words[id].size);
        assert(name == id); /* no text stands in two lists */
        (void)name;
    }
    return module;
}

struct entry entry_make(uint32_t name, enum kernel_type type)
{
    assert((unsigned)type < KERNEL_TYPE_COUNT);
    return (struct entry){.name = name, .loc = NONE, .end_loc = NONE, .type = type};
}

static void entry_free(struct entry *entry)
{
    vec_free(&entry->groups);
    vec_free(&entry->args);
    vec_free(&entry->listed);
    for (int core = 0; core < CORE_TYPES; core++)
        vec_free(&entry->programs[core].instrs);
}

void module_free(struct module *module)
{
    if (!module)
        return;
    for (uint32_t i = 0; i < module->graphs.count; i++)
        graph_free(&module->graphs.at[i]);
    for (uint32_t i = 0; i < module->entries.count; i++)
        entry_free(&module->entries.at[i]);
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
    vec_free(&module->includes);
    vec_free(&module->order);
    if (module->op_types)
        module->free_op_types(module->op_types);
    id_map_free(&module->option_ids);
    vec_free(&module->options);
    arena_free(&module->options_arena);
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
    assert(name < module->names.count);
    const struct intern_name *n = &module->names.names[name];
    return strlen(text) == n->size && memcmp(text, n->text, n->size) == 0;
}

char *name_text(const struct module *module, uint32_t name, struct arena *arena)
{
    assert(name < module->names.count);
    const struct intern_name *n = &module->names.names[name];
    return arena_strndup(arena, n->text, n->size);
}

/* ------------------------------------------------------------- elements of a module ---- */

/* Of the element that is added next. */
static void add_symbol(struct module *module, enum symbol_kind kind, uint32_t name, uint32_t index)
{
    assert(name < module->names.count);
    part_leave();
    vec_push(&module->order, order_make(index, kind));
    uint32_t *first = id_map_at(&module->named[kind], name);
    if (*first == NONE)
        *first = index;
}

struct kernel *module_add_kernel(struct module *module, uint32_t name, enum kernel_type type)
{
    assert((unsigned)type < KERNEL_TYPE_COUNT);
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
    vec_push(&graph->clauses, (struct clauses){.after = {0, 0}});
    return graph;
}

void module_drop(struct module *module, enum symbol_kind kind, const uint8_t *gone)
{
    bool graphs = kind == SYMBOL_GRAPH;
    uint32_t count = graphs ? module->graphs.count : module->entries.count, kept = 0, items = 0;
    struct id_map *named = &module->named[kind];
    assert(graphs || kind == SYMBOL_ENTRY);
    for (uint32_t i = 0; i < module->order.count; i++) {
        uint64_t item = module->order.at[i];
        bool same = order_kind(item) == (unsigned)kind;
        if (!same || !gone[order_index(item)])
            module->order.at[items++] = same ? order_make(kept++, kind) : item;
    }
    module->order.count = items;
    id_map_clear(named);
    kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (gone[i] && graphs)
            graph_free(&module->graphs.at[i]);
        else if (gone[i])
            entry_free(&module->entries.at[i]);
        if (gone[i])
            continue;
        uint32_t name = graphs ? module->graphs.at[i].name : module->entries.at[i].name;
        if (id_map_find(named, name) == NONE)
            id_map_set(named, name, kept);
        if (graphs)
            module->graphs.at[kept++] = module->graphs.at[i];
        else
            module->entries.at[kept++] = module->entries.at[i];
    }
    if (graphs)
        module->graphs.count = kept;
    else
        module->entries.count = kept;
}

struct entry *module_take_entry(struct module *module, struct entry *entry)
{
    add_symbol(module, SYMBOL_ENTRY, entry->name, module->entries.count);
    vec_push(&module->entries, *entry);
    *entry = (struct entry){.name = NONE};
    return &module->entries.at[module->entries.count - 1];
}

struct entry *module_add_entry(struct module *module, uint32_t name, enum kernel_type type)
{
    struct entry entry = entry_make(name, type);
    return module_take_entry(module, &entry);
}

struct id_map module_superkernels(const struct module *module)
{
    struct id_map names = {NULL, 0, 0};
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        for (uint32_t b = 0; b < graph->blocks.count; b++)
            if (graph->blocks.at[b].kind == BLOCK_SUPERKERNEL &&
                id_map_find(&names, graph->blocks.at[b].name) == NONE)
                id_map_set(&names, graph->blocks.at[b].name, i);
    }
    return names;
}

bool module_has_symbol(const struct module *module, uint32_t name)
{
    for (int kind = 0; kind < SYMBOL_KINDS; kind++)
        if (module_find(module, kind, name) != NONE)
            return true;
    for (uint32_t i = 0; i < module->graphs.count; i++)
        for (uint32_t b = 0; b < module->graphs.at[i].blocks.count; b++) {
            const struct block *block = &module->graphs.at[i].blocks.at[b];
            if (block->kind == BLOCK_SUPERKERNEL && block->name == name)
                return true;
        }
    return false;
}

uint32_t module_free_name(struct module *module, uint32_t wanted, const char *between,
                          struct taken_names taken, uint32_t *last)
{
    uint32_t name = wanted;
    while (taken.has(taken.user, name))
        name = module_name_printf(module, "%.*s%s%u", NAME(module, wanted), between, ++*last);
    return name;
}

static bool is_symbol(const void *user, uint32_t name)
{
    return module_has_symbol(user, name);
}

uint32_t module_free_symbol(struct module *module, uint32_t wanted, const char *between)
{
    uint32_t last = 0;
    return module_free_name(module, wanted, between, (struct taken_names){is_symbol, module},
                            &last);
}
