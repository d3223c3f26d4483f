/* The kernels that entries call: declarations of their functions, choice among copies of their
 * code, and among the variants of dynamic ones. */
#include "backend/ascend/ascendc_emitter.h"
#include "ir/syntax/spelling.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------ uses ---- */

/* Which parts of a kernel entries call. */
struct use {
    bool part[CORE_TYPES];
    uint32_t copies; /* at the first kernel with an object: the most that one of them has */
};

/* A function of a kernel: `name` is its name id, or NONE where the kernel does not say it. */
struct function {
    const struct kernel *kernel;
    enum core_type core;
    uint32_t name;
    uint32_t copies;
};

static struct use *use_of(const struct ascendc *out, struct use *uses, const struct kernel *kernel)
{
    return &uses[kernel_id(out->module, kernel)];
}

static void add_uses(const struct ascendc *out, const struct entry *entry, struct use *uses)
{
    uint32_t copies = ascendc_copies(out, entry);
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++) {
            const struct instr *instr = &entry->programs[core].instrs.at[i];
            if (instr->op != INSTR_call)
                continue;
            const struct kernel *kernel = ascendc_kernel(out, instr);
            struct use *first = &uses[symbols_owner(&out->symbols, kernel)];
            use_of(out, uses, kernel)->part[core] = true;
            first->copies = copies > first->copies ? copies : first->copies;
        }
}

/* -------------------------------------------------------------------------- functions ---- */

/* A function that has no name is called by its kernel. */
static void add_symbol(const struct ascendc *out, struct text *text,
                       const struct function *function, uint32_t copy)
{
    if (function->name != NONE) {
        symbols_add_function(&out->symbols, text, function->kernel, function->name, copy);
        return;
    }
    text_printf(text, "skir_kernel_%u_%s", kernel_id(out->module, function->kernel),
                core_type_name(function->core));
    if (copy)
        text_printf(text, "_split%u", copy);
}

void ascendc_function(struct ascendc *out, const struct kernel *kernel, enum core_type core)
{
    const struct function function = {kernel, core, kernel_function(out->module, kernel, core), 1};
    add_symbol(out, out->text, &function, 0);
}

/* The function of a stub stands here and does nothing. */
static void declare(struct ascendc *out, const struct function *function)
{
    bool stub = kernel_is_stub(out->module, function->kernel);
    for (uint32_t copy = 0; copy < function->copies; copy++) {
        text_string(out->text, "extern \"C\" __aicore__ void ");
        add_symbol(out, out->text, function, copy);
        text_printf(out->text, "(uint64_t args_offset)%s\n", stub ? " {}" : ";");
    }
}

/* The rows of a choice among copies: what stands around their symbols. */
static void choose(struct ascendc *out, const struct function *function, const char *before,
                   const char *behind)
{
    text_string(out->text, "    switch (copy) {\n");
    for (uint32_t copy = 1; copy < function->copies; copy++) {
        text_printf(out->text, "    case %u: %s::", copy, before);
        add_symbol(out, out->text, function, copy);
        text_printf(out->text, "%s\n", behind);
    }
    text_printf(out->text, "    default: %s::", before);
    add_symbol(out, out->text, function, 0);
    text_printf(out->text, "%s\n    }\n}\n", behind);
}

/* Two functions that choose a copy: for its address, and to call it. */
static void choose_copy(struct ascendc *out, const struct function *function)
{
    if (function->copies < 2)
        return;
    text_string(out->text, "namespace skir {\nstatic __aicore__ inline const void *code_");
    add_symbol(out, out->text, function, 0);
    text_string(out->text, "(uint64_t copy)\n{\n");
    choose(out, function, "return (const void *)", ";");
    if (!kernel_is_dynamic(out->module, function->kernel)) {
        text_string(out->text, "static __aicore__ inline void call_");
        add_symbol(out, out->text, function, 0);
        text_string(out->text, "(uint64_t copy, uint64_t args_offset)\n{\n");
        choose(out, function, "", "(args_offset); break;");
    }
    text_string(out->text, "} // namespace skir\n");
}

/* Whether the function was not yet written; from here on it is. */
static bool is_new(const struct ascendc *out, struct intern *written,
                   const struct function *function)
{
    struct text symbol = {NULL, 0, 0};
    uint32_t count = written->count;
    add_symbol(out, &symbol, function, 0);
    bool new = intern_copy(written, symbol.at, symbol.size) == count;
    text_free(&symbol);
    return new;
}

/* ---------------------------------------------------------------------------- variants ---- */

/* A row of the search for a key. */
struct found {
    uint64_t key;
    struct function function;
    enum kernel_type type;
};

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const struct found *)a)->key, y = ((const struct found *)b)->key;
    return (x > y) - (x < y);
}

/* What the variant is to the core type: the address of its code, 0 where it has none, and how
 * blocks count, which the number of blocks joins. */
static void put_variant(struct ascendc *out, const struct found *found, int depth)
{
    struct text *text = out->text;
    text_printf(text, "%*sif (key == %lluull) {\n", depth, "", (unsigned long long)found->key);
    if (!kernel_type_has(found->type, found->function.core)) {
        text_printf(text, "%*sreturn {0, blocks};\n", depth + 4, "");
    } else {
        text_printf(text, "%*sreturn {(uint64_t)", depth + 4, "");
        text_string(text, found->function.copies > 1 ? "code_" : "::");
        add_symbol(out, text, &found->function, 0);
        text_printf(text, "%s, %s};\n", found->function.copies > 1 ? "(copy)" : "",
                    kernel_type_info(found->type)->flat ? "1ull << 32 | blocks" : "blocks");
    }
    text_printf(text, "%*s}\n", depth, "");
}

/* A binary search. */
static void put_search(struct ascendc *out, const struct found *found, uint32_t count, int depth)
{
    if (count < 3) {
        for (uint32_t i = 0; i < count; i++)
            put_variant(out, &found[i], depth);
        return;
    }
    uint32_t half = count / 2;
    text_printf(out->text, "%*sif (key < %lluull) {\n", depth, "",
                (unsigned long long)found[half].key);
    put_search(out, found, half, depth + 4);
    text_printf(out->text, "%*s} else {\n", depth, "");
    put_search(out, found + half, count - half, depth + 4);
    text_printf(out->text, "%*s}\n", depth, "");
}

static void put_select_name(struct ascendc *out, const struct kernel *kernel, enum core_type core)
{
    text_printf(out->text, "select_%u_%s", kernel_id(out->module, kernel), core_type_name(core));
}

void ascendc_select(struct ascendc *out, const struct kernel *kernel, enum core_type core)
{
    text_string(out->text, "skir::");
    put_select_name(out, kernel, core);
}

static void put_select(struct ascendc *out, const struct kernel *kernel, enum core_type core,
                       struct found *found, uint32_t count)
{
    qsort(found, count, sizeof *found, by_key);
    text_string(out->text, "namespace skir {\nstatic __aicore__ inline Selected ");
    put_select_name(out, kernel, core);
    text_string(out->text, "(GM_ADDR *words, uint64_t copy)\n{\n"
                           "    wait_lock(words[2]);\n"
                           "    const uint64_t key = read_word(words[0]);\n"
                           "    const uint64_t blocks = read_word(words[1]);\n");
    put_search(out, found, count, 4);
    text_string(out->text, "    trap();\n    return {0, 0};\n}\n} // namespace skir\n");
}

static void put_variants(struct ascendc *out, struct intern *written, const struct kernel *kernel,
                         enum core_type core, uint32_t copies)
{
    uint32_t count = kernel_variants(out->module, kernel);
    struct found *found = mem_calloc(count + 1, sizeof *found);
    for (uint32_t i = 0; i < count; i++) {
        struct variant variant = kernel_variant(out->module, kernel, i);
        found[i] = (struct found){
            (uint64_t)variant.key, {kernel, core, variant.functions[core], copies}, variant.type};
        if (!kernel_type_has(variant.type, core) || !is_new(out, written, &found[i].function))
            continue;
        declare(out, &found[i].function);
        choose_copy(out, &found[i].function);
    }
    put_select(out, kernel, core, found, count);
    mem_free(found);
}

/* ----------------------------------------------------------------------------- kernels ---- */

static void put_part(struct ascendc *out, struct intern *written, const struct kernel *kernel,
                     enum core_type core, uint32_t copies)
{
    const struct function function = {kernel, core, kernel_function(out->module, kernel, core),
                                      copies};
    if (kernel_is_dynamic(out->module, kernel)) {
        put_variants(out, written, kernel, core, copies);
    } else if (is_new(out, written, &function)) {
        declare(out, &function);
        choose_copy(out, &function);
    }
}

static void put_kernel(struct ascendc *out, struct intern *written, const struct kernel *kernel,
                       struct use *uses)
{
    const struct use *use = use_of(out, uses, kernel);
    uint32_t copies = uses[symbols_owner(&out->symbols, kernel)].copies;
    if (!use->part[CORE_AIC] && !use->part[CORE_AIV])
        return;
    text_string(out->text, "\n// ");
    spell_symbol(out->text, out->module, kernel->name);
    text_printf(out->text, " : %s\n", kernel_type_info(kernel->type)->name);
    for (int core = 0; core < CORE_TYPES; core++)
        if (use->part[core])
            put_part(out, written, kernel, core, copies);
}

void ascendc_kernels(struct ascendc *out)
{
    const struct module *module = out->module;
    struct use *uses = mem_calloc(module->kernels.count + 1, sizeof *uses);
    struct intern written = {0};
    for (uint32_t e = 0; e < module->entries.count; e++)
        add_uses(out, &module->entries.at[e], uses);
    for (uint32_t k = 0; k < module->kernels.count; k++)
        put_kernel(out, &written, &module->kernels.at[k], uses);
    intern_free(&written);
    mem_free(uses);
}
