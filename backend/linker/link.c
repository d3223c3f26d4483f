/* The interface of the linker: links, and objects that are made here. */
#include <assert.h>
#include <string.h>

#include "backend/linker/internal.h"
#include "backend/linker/object.h"
#include "ir/support/vec.h"

static const char *machine_text(const struct object_input *input)
{
    const char *name = object_machine_name(input->machine);
    return name ? name : "another machine";
}

static bool check_against_first(struct object_link *link, const struct object_input *input)
{
    const struct object_input *first = link->first_input;
    if (!first)
        return true;
    if (input->machine != first->machine)
        return object_fail(&link->error,
                           "%.300s is for %s (machine %u), but %.300s is for %s (machine %u)",
                           input->name, machine_text(input), input->machine, first->name,
                           machine_text(first), first->machine);
    if (input->flags != first->flags)
        return object_fail(
            &link->error, "%.300s has ELF flags 0x%x, but %.300s has 0x%x; they do not mix",
            input->name, (unsigned)input->flags, first->name, (unsigned)first->flags);
    /* The GNU ABI is the generic one with additions, so that these two mix. */
    bool gnu = (input->abi == ELFOSABI_NONE || input->abi == ELFOSABI_GNU) &&
               (first->abi == ELFOSABI_NONE || first->abi == ELFOSABI_GNU);
    if ((input->abi != first->abi && !gnu) || input->abi_version != first->abi_version)
        return object_fail(&link->error, "%.300s and %.300s are for different ABIs", input->name,
                           first->name);
    return true;
}

/* The same, unless it is of a kind that cannot be linked, or with those that are there. */
static bool object_link_take(struct object_link *link, unsigned group, struct object_input *input)
{
    if (!object_input_linkable(input, &link->error) || !check_against_first(link, input))
        return false;
    input->group = group;
    link->gnu_abi |= input->abi == ELFOSABI_GNU;
    return object_group_add(link, input);
}

bool object_link_add_read(struct object_link *link, unsigned group, const struct object_file *file)
{
    if (link->error.set)
        return false;
    if (file->error.set)
        return object_fail(&link->error, "%s", file->error.text);
    for (const struct object_input *input = file->first; input; input = input->next)
        if (!object_link_take(link, group, object_input_clone(&link->arena, input)))
            return false;
    return true;
}

/* ------------------------------------------------------------------------------- links ---- */

struct object_link *object_link_new(void)
{
    struct object_link *link = mem_calloc(1, sizeof *link);
    link->arena.error = &link->error;
    link->input_tail = &link->first_input;
    link->export_tail = &link->first_export;
    link->keep_tail = &link->first_keep;
    return link;
}

void object_link_free(struct object_link *link)
{
    if (!link)
        return;
    object_map_free(&link->groups);
    arena_free(&link->arena.memory);
    mem_free(link);
}

const char *object_link_error(const struct object_link *link)
{
    return link->error.set ? link->error.text : NULL;
}

/* Takes all of a list. */
static bool take_all(struct object_link *link, unsigned group, struct object_input *input)
{
    while (input) {
        struct object_input *next = input->next;
        input->next = NULL;
        if (!object_link_take(link, group, input))
            return false;
        input = next;
    }
    return true;
}

bool object_link_add(struct object_link *link, unsigned group, const char *name, const void *bytes,
                     size_t size)
{
    struct object_input *first;
    if (link->error.set)
        return false;
    char *label = arena_strndup(&link->arena.memory, name, strlen(name));
    return object_read_bytes(&link->arena, label, bytes, size, &first) &&
           take_all(link, group, first);
}

bool object_link_add_file(struct object_link *link, unsigned group, const char *path)
{
    struct object_input *first;
    return !link->error.set && object_read_file(&link->arena, path, &first) &&
           take_all(link, group, first);
}

bool object_link_export(struct object_link *link, unsigned group, const char *symbol,
                        const char *as)
{
    if (link->error.set)
        return false;
    struct object_export *export = object_alloc(&link->arena, 1, sizeof *export);
    export->group = group;
    export->symbol = object_copy(&link->arena, symbol, strlen(symbol) + 1);
    export->as = object_copy(&link->arena, as, strlen(as) + 1);
    *link->export_tail = export;
    link->export_tail = &export->next;
    return true;
}

bool object_link_keep(struct object_link *link, const char *as)
{
    if (link->error.set)
        return false;
    struct object_keep *keep = object_alloc(&link->arena, 1, sizeof *keep);
    keep->as = object_copy(&link->arena, as, strlen(as) + 1);
    *link->keep_tail = keep;
    link->keep_tail = &keep->next;
    return true;
}

bool object_link_bytes(struct object_link *link, void **bytes, size_t *size)
{
    *bytes = NULL;
    *size = 0;
    if (link->error.set)
        return false;
    if (!link->first_input)
        return object_fail(&link->error, "there is nothing to link");
    return object_write(link, bytes, size);
}

/* Objects that are made here: what an object that is read becomes, without its bytes. */

enum { MAX_ALIGN = 16 };

struct made_section {
    struct text bytes;
    VEC(struct object_relocation) relocations;
};

/* Index 0 of sections and of symbols is the null one, then come those of all sections: the symbol
 * of a section's begin has the section's index. */
struct object_made {
    struct made_section sections[OBJECT_MADE_SECTIONS];
    VEC(struct object_symbol) symbols;
    struct object_arena arena; /* of names */
    struct object_error error; /* which the arena wants; copying a name cannot fail */
    uint16_t machine;
};

static const struct {
    const char *name;
    uint64_t flags;
} kinds[OBJECT_MADE_SECTIONS] = {
    [OBJECT_MADE_TEXT] = {".text", SHF_ALLOC | SHF_EXECINSTR},
    [OBJECT_MADE_DATA] = {".data.rel.ro", SHF_ALLOC | SHF_WRITE},
    [OBJECT_MADE_RODATA] = {".rodata", SHF_ALLOC},
};

uint16_t object_this_machine(void)
{
#if defined(__x86_64__) && defined(__LP64__)
    return EM_X86_64;
#elif defined(__aarch64__) && defined(__LP64__)
    return EM_AARCH64;
#else
    return EM_NONE;
#endif
}

struct object_made *object_made_new(uint16_t machine)
{
    struct object_made *made = mem_calloc(1, sizeof *made);
    made->machine = machine;
    made->arena.error = &made->error;
    vec_push(&made->symbols, (struct object_symbol){.name = ""});
    for (uint32_t i = 0; i < OBJECT_MADE_SECTIONS; i++)
        vec_push(&made->symbols,
                 (struct object_symbol){
                     .name = "", .section = i + 1, .binding = STB_LOCAL, .type = STT_SECTION});
    return made;
}

void object_made_free(struct object_made *made)
{
    if (!made)
        return;
    for (int i = 0; i < OBJECT_MADE_SECTIONS; i++) {
        text_free(&made->sections[i].bytes);
        vec_free(&made->sections[i].relocations);
    }
    vec_free(&made->symbols);
    arena_free(&made->arena.memory);
    mem_free(made);
}

/* ---------------------------------------------------------------------------- contents ---- */

uint64_t object_made_put(struct object_made *made, enum object_made_section section,
                         const void *bytes, size_t size, size_t align)
{
    struct text *to = &made->sections[section].bytes;
    size_t offset = (to->size + align - 1) & ~(align - 1), extra = offset + size - to->size;
    assert(align > 0 && align <= MAX_ALIGN && (align & (align - 1)) == 0);
    if (to->capacity - to->size <= extra)
        text_grow(to, extra);
    memset(to->at + to->size, 0, extra);
    if (size > 0 && bytes)
        memcpy(to->at + offset, bytes, size);
    to->size = offset + size;
    return offset;
}

void *object_made_at(struct object_made *made, enum object_made_section section, uint64_t offset)
{
    assert(offset < made->sections[section].bytes.size);
    return made->sections[section].bytes.at + offset;
}

void object_made_relocate(struct object_made *made, enum object_made_section section,
                          struct object_made_relocation relocation)
{
    struct made_section *to = &made->sections[section];
    assert(relocation.offset < to->bytes.size && relocation.symbol < made->symbols.count);
    vec_push(&to->relocations,
             (struct object_relocation){relocation.offset, (uint64_t)relocation.addend,
                                        relocation.type, relocation.symbol});
}

/* ----------------------------------------------------------------------------- symbols ---- */

uint32_t object_made_begin(enum object_made_section section)
{
    return (uint32_t)section + 1;
}

static uint32_t add_symbol(struct object_made *made, const char *name, struct object_symbol symbol)
{
    symbol.name = object_copy(&made->arena, name, strlen(name) + 1);
    symbol.binding = STB_GLOBAL;
    vec_push(&made->symbols, symbol);
    return made->symbols.count - 1;
}

uint32_t object_made_define(struct object_made *made, const char *name,
                            enum object_made_section section, uint64_t offset, uint64_t size)
{
    return add_symbol(
        made, name,
        (struct object_symbol){.value = offset,
                               .size = size,
                               .section = (uint32_t)section + 1,
                               .type = section == OBJECT_MADE_TEXT ? STT_FUNC : STT_OBJECT});
}

uint32_t object_made_want(struct object_made *made, const char *name)
{
    return add_symbol(made, name,
                      (struct object_symbol){.section = OBJECT_UNDEFINED, .type = STT_NOTYPE});
}

/* ------------------------------------------------------------------------------- links ---- */

bool object_link_add_made(struct object_link *link, unsigned group, const char *name,
                          struct object_made *made)
{
    if (link->error.set)
        return false;
    struct object_input *input = object_alloc(&link->arena, 1, sizeof *input);
    input->name = object_copy(&link->arena, name, strlen(name) + 1);
    input->machine = made->machine;
    input->stack_note = true; /* and code that does not run on the stack */
    input->section_count = OBJECT_MADE_SECTIONS + 1;
    input->sections = object_alloc(&link->arena, input->section_count, sizeof *input->sections);
    input->sections[0] = (struct object_section){.input = input, .name = ""};
    for (uint32_t i = 0; i < OBJECT_MADE_SECTIONS; i++) {
        static const unsigned char nothing[1];
        const struct made_section *from = &made->sections[i];
        input->sections[i + 1] = (struct object_section){
            .input = input,
            .name = kinds[i].name,
            .data = from->bytes.at ? (unsigned char *)from->bytes.at : nothing,
            .flags = kinds[i].flags,
            .size = from->bytes.size,
            .align = MAX_ALIGN,
            .type = SHT_PROGBITS,
            .role = OBJECT_CONTENT,
            .relocations = from->relocations.at,
            .relocation_count = from->relocations.count};
    }
    input->symbols = made->symbols.at;
    input->symbol_count = made->symbols.count;
    input->local_count = OBJECT_MADE_SECTIONS + 1;
    return object_link_take(link, group, input);
}
