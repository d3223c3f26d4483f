#include "backend/ascend/symbols.h"

#include <assert.h>
#include <ctype.h>

/* Words of C++; then what entries have as variables and namespaces, and functions of the device. */
static const char *const taken[] = {
    "alignas",      "alignof",      "and",           "and_eq",
    "asm",          "auto",         "bitand",        "bitor",
    "bool",         "break",        "case",          "catch",
    "char",         "char8_t",      "char16_t",      "char32_t",
    "class",        "compl",        "concept",       "const",
    "consteval",    "constexpr",    "constinit",     "const_cast",
    "continue",     "co_await",     "co_return",     "co_yield",
    "decltype",     "default",      "delete",        "do",
    "double",       "dynamic_cast", "else",          "enum",
    "explicit",     "export",       "extern",        "false",
    "float",        "for",          "friend",        "goto",
    "half",         "if",           "inline",        "int",
    "long",         "mutable",      "namespace",     "new",
    "noexcept",     "not",          "not_eq",        "nullptr",
    "operator",     "or",           "or_eq",         "private",
    "protected",    "public",       "register",      "reinterpret_cast",
    "requires",     "return",       "short",         "signed",
    "sizeof",       "static",       "static_assert", "static_cast",
    "struct",       "switch",       "template",      "this",
    "thread_local", "throw",        "true",          "try",
    "typedef",      "typeid",       "typename",      "union",
    "unsigned",     "using",        "virtual",       "void",
    "volatile",     "wchar_t",      "while",         "xor",
    "xor_eq",       "AscendC",      "copy",          "p",
    "preload",      "dcci",         "trap",          "pipe_barrier",
    "records",      "selected",     "skir"};

/* Names that skirc makes begin with skir_, and no others. */
static bool is_identifier(const struct intern_name *name)
{
    if (name->size == 0 || isdigit((unsigned char)name->text[0]) ||
        (name->size >= 5 && memcmp(name->text, "skir_", 5) == 0))
        return false;
    for (uint32_t i = 0; i < name->size; i++)
        if (!isalnum((unsigned char)name->text[i]) && name->text[i] != '_')
            return false;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strlen(taken[i]) == name->size && memcmp(taken[i], name->text, name->size) == 0)
            return false;
    return true;
}

static void add_first(struct id_map *map, uint32_t name, uint32_t kernel)
{
    if (name != NONE && id_map_find(map, name) == NONE)
        id_map_set(map, name, kernel);
}

void symbols_init(struct symbols *symbols, const struct module *module)
{
    *symbols = (struct symbols){.module = module};
    for (uint32_t k = 0; k < module->kernels.count; k++) {
        const struct kernel *kernel = &module->kernels.at[k];
        struct kernel_part part;
        add_first(&symbols->objects, attr_string(module, kernel->attrs, W_object), k);
        for (uint32_t i = 0; i < kernel_parts(module, kernel); i++)
            if (kernel_part_at(module, kernel, i, &part))
                add_first(&symbols->functions, part.function, k);
    }
}

void symbols_free(struct symbols *symbols)
{
    id_map_free(&symbols->functions);
    id_map_free(&symbols->objects);
    arena_free(&symbols->arena);
}

uint32_t symbols_owner(const struct symbols *symbols, const struct kernel *kernel)
{
    uint32_t object = attr_string(symbols->module, kernel->attrs, W_object);
    return object == NONE ? kernel_id(symbols->module, kernel)
                          : id_map_find(&symbols->objects, object);
}

const char *symbols_function(struct symbols *symbols, const struct kernel *kernel,
                             uint32_t function, uint32_t copy)
{
    const struct module *module = symbols->module;
    const struct intern_name *name = &module->names.names[function];
    uint32_t owner = symbols_owner(symbols, kernel);
    uint32_t first = id_map_get(&symbols->functions, function), place = 0;
    const struct kernel *original = &module->kernels.at[first];
    struct kernel_part part;
    struct text text = {NULL, 0, 0};
    if (is_identifier(name)) {
        text_bytes(&text, name->text, name->size);
    } else {
        while (!kernel_part_at(module, original, place, &part) || part.function != function)
            place++;
        text_printf(&text, "skir_function_%u_%u", first, place);
    }
    if (symbols_owner(symbols, original) != owner)
        text_printf(&text, "_k%u", owner);
    if (copy)
        text_printf(&text, "_split%u", copy);
    const char *symbol = arena_strndup(&symbols->arena, text.at, text.size);
    text_free(&text);
    return symbol;
}

const char *symbols_entry(struct symbols *symbols, const struct entry *entry)
{
    const struct intern_name *name = &symbols->module->names.names[entry->name];
    return is_identifier(name)
               ? arena_strndup(&symbols->arena, name->text, name->size)
               : arena_printf(&symbols->arena, "skir_entry_%u", entry_id(symbols->module, entry));
}

const char *symbols_part(struct symbols *symbols, const struct entry *entry, enum core_type core)
{
    const char *name = symbols_entry(symbols, entry);
    if (entry->type == KERNEL_aic_only || entry->type == KERNEL_aiv_only)
        return name;
    return arena_printf(&symbols->arena, "%s_mix_%s", name, core_type_name(core));
}

bool event_number(const struct intern_name *name, uint64_t *number)
{
    *number = 0;
    for (uint32_t i = 0; i < name->size; i++) {
        if (!isdigit((unsigned char)name->text[i]))
            return false;
        *number = *number * 10 + (uint64_t)(name->text[i] - '0');
    }
    return name->size > 0 && name->size < 20 && (name->size == 1 || name->text[0] != '0') &&
           *number <= INT64_MAX;
}
