/* Objects that are made here: what an object that is read becomes, without its bytes. */
#include "backend/object/internal.h"
#include "backend/object/object.h"
#include "ir/base/vec.h"

#include <assert.h>
#include <string.h>

enum { MAX_ALIGN = 16 };

struct made_section {
    unsigned char *bytes;
    size_t size, capacity;
    struct object_relocation *relocations;
    size_t count, room;
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
        mem_free(made->sections[i].bytes);
        mem_free(made->sections[i].relocations);
    }
    vec_free(&made->symbols);
    object_arena_free(&made->arena);
    mem_free(made);
}

/* ---------------------------------------------------------------------------- contents ---- */

static size_t grown(size_t capacity, size_t need)
{
    size_t twice = capacity * 2;
    return twice > need ? twice : need;
}

uint64_t object_made_put(struct object_made *made, enum object_made_section section,
                         const void *bytes, size_t size, size_t align)
{
    struct made_section *to = &made->sections[section];
    size_t offset = (to->size + align - 1) & ~(align - 1);
    assert(align > 0 && align <= MAX_ALIGN && (align & (align - 1)) == 0);
    if (offset + size > to->capacity) {
        to->capacity = grown(to->capacity, offset + size);
        to->bytes = mem_realloc(to->bytes, to->capacity, 1);
    }
    if (offset > to->size)
        memset(to->bytes + to->size, 0, offset - to->size);
    if (size > 0 && bytes)
        memcpy(to->bytes + offset, bytes, size);
    else if (size > 0)
        memset(to->bytes + offset, 0, size);
    to->size = offset + size;
    return offset;
}

void *object_made_at(struct object_made *made, enum object_made_section section, uint64_t offset)
{
    assert(offset < made->sections[section].size);
    return made->sections[section].bytes + offset;
}

void object_made_relocate(struct object_made *made, enum object_made_section section,
                          struct object_made_relocation relocation)
{
    struct made_section *to = &made->sections[section];
    assert(relocation.offset < to->size && relocation.symbol < made->symbols.count);
    if (to->count == to->room) {
        to->room = grown(to->room, to->count + 16);
        to->relocations = mem_realloc(to->relocations, to->room, sizeof *to->relocations);
    }
    to->relocations[to->count++] = (struct object_relocation){
        relocation.offset, (uint64_t)relocation.addend, relocation.type, relocation.symbol};
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

static void make_section(struct object_input *input, const struct object_made *made, uint32_t i)
{
    const struct made_section *from = &made->sections[i];
    static const unsigned char nothing[1];
    input->sections[i + 1] = (struct object_section){.input = input,
                                                     .name = kinds[i].name,
                                                     .data = from->bytes ? from->bytes : nothing,
                                                     .flags = kinds[i].flags,
                                                     .size = from->size,
                                                     .align = MAX_ALIGN,
                                                     .type = SHT_PROGBITS,
                                                     .role = OBJECT_CONTENT,
                                                     .relocations = from->relocations,
                                                     .relocation_count = from->count};
}

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
    for (uint32_t i = 0; i < OBJECT_MADE_SECTIONS; i++)
        make_section(input, made, i);
    input->symbols = made->symbols.at;
    input->symbol_count = made->symbols.count;
    input->local_count = OBJECT_MADE_SECTIONS + 1;
    return object_link_take(link, group, input);
}
