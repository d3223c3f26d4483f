/* Relocatable objects as code and data of this process. The sections are in one mapping: code and
 * stubs, then constants and the slots of addresses, then what is written. */
#include "backend/linker/image.h"
#include "backend/linker/object.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum region { REGION_CODE, REGION_CONSTANTS, REGION_VARIABLES, REGIONS };

struct object_image {
    struct object_arena arena;
    struct object_error error;
    struct object_input *input;
    const struct image_machine *machine;
    unsigned char *mapping;
    size_t size;
    struct mem_guard guard; /* of the mapping */
    bool other;             /* the error is that something is not done here */

    /* While it is loaded: */
    void *(*lookup)(const char *name);
    unsigned char **sections; /* addresses, by index */
    uint64_t *targets;        /* by symbol: its address */
    bool *wanted;             /* by symbol: what is loaded refers to it */
    uint32_t *slots, *stubs;  /* by symbol: from 1; 0: it needs none */
    uint32_t n_slots, n_stubs;
    struct object_map definitions; /* of global symbols: addresses */
    uint64_t begins[REGIONS + 1];  /* in the mapping */
    uint64_t slots_at, stubs_at;
};

static bool is_other(struct object_image *image, const char *what)
{
    image->other = true;
    return object_fail(&image->error, "%s", what);
}

/* ---------------------------------------------------------------------------- sections ---- */

static bool is_loaded(const struct object_section *section)
{
    return section->role == OBJECT_CONTENT && section->flags & SHF_ALLOC &&
           strcmp(section->name, ".eh_frame") != 0;
}

static enum region region_of(const struct object_section *section)
{
    if (section->flags & SHF_EXECINSTR)
        return REGION_CODE;
    /* Constants whose addresses are filled in are not written after that. */
    if (section->flags & SHF_WRITE && strncmp(section->name, ".data.rel.ro", 12) != 0)
        return REGION_VARIABLES;
    return REGION_CONSTANTS;
}

static bool check_section(struct object_image *image, const struct object_section *section)
{
    if (section->flags & SHF_TLS)
        return is_other(image, "it has thread-local variables");
    switch (section->type) {
    case SHT_INIT_ARRAY:
    case SHT_FINI_ARRAY:
    case SHT_PREINIT_ARRAY: return is_other(image, "it has constructors or destructors");
    }
    if (strncmp(section->name, ".ctors", 6) == 0 || strncmp(section->name, ".dtors", 6) == 0 ||
        strcmp(section->name, ".init") == 0 || strcmp(section->name, ".fini") == 0)
        return is_other(image, "it has constructors or destructors");
    if (section->flags & SHF_EXECINSTR && section->flags & SHF_WRITE)
        return is_other(image, "it has code that is writable");
    return true;
}

static uint64_t align_to(uint64_t offset, uint64_t align)
{
    return (offset + align - 1) & ~(align - 1);
}

/* Offsets of the sections of a region, which begin at `offset`; returns where they end. */
static uint64_t place_region(struct object_image *image, enum region region, uint64_t offset,
                             uint64_t *offsets)
{
    for (uint32_t i = 1; i < image->input->section_count; i++) {
        const struct object_section *section = &image->input->sections[i];
        if (!is_loaded(section) || region_of(section) != region)
            continue;
        offsets[i] = align_to(offset, section->align ? section->align : 1);
        offset = offsets[i] + section->size;
    }
    return offset;
}

static uint64_t place_all(struct object_image *image, uint64_t page, uint64_t *offsets)
{
    const uint64_t word = sizeof(uint64_t);
    uint64_t end = 0;
    for (int region = 0; region < REGIONS; region++) {
        image->begins[region] = align_to(end, page);
        end = place_region(image, region, image->begins[region], offsets);
        if (region == REGION_CODE) {
            image->stubs_at = align_to(end, word);
            end = image->stubs_at + (uint64_t)image->n_stubs * image->machine->stub_size;
        } else if (region == REGION_CONSTANTS) {
            image->slots_at = align_to(end, word);
            end = image->slots_at + image->n_slots * word;
        }
    }
    return image->begins[REGIONS] = align_to(end, page);
}

static void unmap(void *what)
{
    struct object_image *image = what;
    if (image->mapping)
        munmap(image->mapping, image->size);
    image->mapping = NULL;
}

/* Regions begin at pages; where a section wants more, the mapping is larger by that. */
static bool map_sections(struct object_image *image)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), align = page;
    uint32_t count = image->input->section_count;
    for (uint32_t i = 1; i < count; i++) {
        const struct object_section *section = &image->input->sections[i];
        if (is_loaded(section) && section->align > align)
            align = section->align;
    }
    uint64_t *offsets = object_alloc(&image->arena, count, sizeof *offsets);
    image->sections = object_alloc(&image->arena, count, sizeof *image->sections);
    image->size = place_all(image, page, offsets) + align;
    void *mapping =
        mmap(NULL, image->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {
        mem_lacks(image->size);
        return object_fail(&image->error, "there is no memory for %llu bytes of code and data",
                           (unsigned long long)image->size);
    }
    image->mapping = mapping;
    mem_guard(&image->guard, unmap, image);
    uint64_t base = align_to((uint64_t)(uintptr_t)mapping, align) - (uint64_t)(uintptr_t)mapping;
    for (int region = 0; region <= REGIONS; region++)
        image->begins[region] += base;
    image->slots_at += base;
    image->stubs_at += base;
    for (uint32_t i = 1; i < count; i++) {
        const struct object_section *section = &image->input->sections[i];
        if (!is_loaded(section))
            continue;
        image->sections[i] = image->mapping + base + offsets[i];
        if (section->data && section->size)
            memcpy(image->sections[i], section->data, section->size);
    }
    return true;
}

/* ----------------------------------------------------------------------------- symbols ---- */

static bool is_elsewhere(const struct object_symbol *symbol)
{
    return symbol->section == OBJECT_UNDEFINED;
}

bool object_is_linked_later(const char *name)
{
    return strncmp(name, "__", 2) == 0 || strcmp(name, "atexit") == 0 ||
           strcmp(name, "at_quick_exit") == 0;
}

/* The address of what is not in the object; 0 of what need not be anywhere. */
static bool look_up(struct object_image *image, const struct object_symbol *symbol,
                    uint64_t *address)
{
    *address = (uint64_t)(uintptr_t)image->lookup(symbol->name);
    if (*address || symbol->binding == STB_WEAK)
        return true;
    if (object_is_linked_later(symbol->name))
        return is_other(image, "it needs what the compiler's library has");
    return object_fail(&image->error, "undefined symbol: %.300s", symbol->name);
}

static bool find_targets(struct object_image *image)
{
    const struct object_input *input = image->input;
    image->targets = object_alloc(&image->arena, input->symbol_count, sizeof *image->targets);
    for (uint32_t i = 1; i < input->symbol_count; i++) {
        const struct object_symbol *symbol = &input->symbols[i];
        const struct object_section *section = object_symbol_section(input, symbol);
        if (symbol->type == STT_GNU_IFUNC || (image->wanted[i] && symbol->type == STT_TLS))
            return is_other(image, "it has indirect functions or thread-local variables");
        if (image->wanted[i] && is_elsewhere(symbol) && !look_up(image, symbol, &image->targets[i]))
            return false;
        if (section)
            /* Nothing that is loaded refers to a section that is not. */
            image->targets[i] =
                (uint64_t)(uintptr_t)image->sections[symbol->section] + symbol->value;
        else if (!is_elsewhere(symbol))
            image->targets[i] = symbol->value;
        if (i >= input->local_count && !is_elsewhere(symbol))
            *object_map_at(&image->definitions, 0, symbol->name) =
                (void *)(uintptr_t)image->targets[i];
    }
    return true;
}

/* ------------------------------------------------------------------------- relocations ---- */

static bool count_need(struct object_image *image, const struct object_section *section,
                       const struct object_relocation *relocation)
{
    uint32_t symbol = relocation->symbol;
    bool elsewhere = symbol && is_elsewhere(&image->input->symbols[symbol]);
    struct image_need need = image->machine->need(relocation->type, elsewhere);
    if (need.bytes > section->size - relocation->offset)
        return object_fail(&image->error, "section '%.200s' has a relocation beyond its end",
                           section->name);
    image->wanted[symbol] = true;
    switch (need.kind) {
    case IMAGE_NOTHING: break;
    case IMAGE_STUB:
        if (image->stubs[symbol] == 0)
            image->stubs[symbol] = ++image->n_stubs;
        /* fall through */
    case IMAGE_SLOT:
        if (image->slots[symbol] == 0)
            image->slots[symbol] = ++image->n_slots;
        break;
    case IMAGE_UNKNOWN: return is_other(image, "it has a relocation of another kind");
    }
    return true;
}

static bool count_needs(struct object_image *image)
{
    const struct object_input *input = image->input;
    image->wanted = object_alloc(&image->arena, input->symbol_count, sizeof *image->wanted);
    image->slots = object_alloc(&image->arena, input->symbol_count, sizeof *image->slots);
    image->stubs = object_alloc(&image->arena, input->symbol_count, sizeof *image->stubs);
    for (uint32_t i = 1; i < input->section_count; i++) {
        const struct object_section *section = &input->sections[i];
        if (!is_loaded(section))
            continue;
        for (size_t r = 0; r < section->relocation_count; r++)
            if (!count_need(image, section, &section->relocations[r]))
                return false;
    }
    return true;
}

static unsigned char *slot_of(const struct object_image *image, uint32_t symbol)
{
    return image->mapping + image->slots_at +
           (uint64_t)(image->slots[symbol] - 1) * sizeof(uint64_t);
}

static unsigned char *stub_of(const struct object_image *image, uint32_t symbol)
{
    return image->mapping + image->stubs_at +
           (uint64_t)(image->stubs[symbol] - 1) * image->machine->stub_size;
}

static bool relocate(struct object_image *image, uint32_t section,
                     const struct object_relocation *from)
{
    uint32_t symbol = from->symbol;
    struct image_reference reference = {.place = image->sections[section] + from->offset,
                                        .target = image->targets[symbol],
                                        .addend = (int64_t)from->addend,
                                        .elsewhere =
                                            symbol && is_elsewhere(&image->input->symbols[symbol])};
    if (image->slots[symbol])
        reference.slot = (uint64_t)(uintptr_t)slot_of(image, symbol);
    if (image->stubs[symbol])
        reference.stub = (uint64_t)(uintptr_t)stub_of(image, symbol);
    return image->machine->apply(from->type, &reference) ||
           is_other(image, "its sections are too far apart");
}

static bool relocate_all(struct object_image *image)
{
    for (uint32_t i = 1; i < image->input->symbol_count; i++) {
        if (image->slots[i])
            memcpy(slot_of(image, i), &image->targets[i], sizeof image->targets[i]);
        if (image->stubs[i])
            image->machine->stub(stub_of(image, i), (uint64_t)(uintptr_t)slot_of(image, i));
    }
    for (uint32_t i = 1; i < image->input->section_count; i++) {
        const struct object_section *section = &image->input->sections[i];
        for (size_t r = 0; is_loaded(section) && r < section->relocation_count; r++)
            if (!relocate(image, i, &section->relocations[r]))
                return false;
    }
    return true;
}

static bool protect(struct object_image *image)
{
    static const int rights[REGIONS] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
    for (int region = 0; region < REGIONS; region++) {
        unsigned char *begin = image->mapping + image->begins[region];
        size_t size = image->begins[region + 1] - image->begins[region];
        if (size && mprotect(begin, size, rights[region]) != 0)
            return is_other(image, "memory cannot be made executable");
    }
    __builtin___clear_cache((char *)image->mapping, (char *)image->mapping + image->size);
    return true;
}

/* ------------------------------------------------------------------------------- image ---- */

static bool load(struct object_image *image, const void *bytes, size_t size)
{
    image->input = object_input_read(&image->arena, "what was linked", bytes, size);
    if (!image->input)
        return false;
#if defined(__x86_64__) && defined(__LP64__)
    image->machine = &image_x86_64;
#elif defined(__aarch64__) && defined(__LP64__)
    image->machine = &image_aarch64;
#endif
    if (!image->machine || image->input->machine != image->machine->elf)
        return is_other(image, "it is for another machine");
    for (uint32_t i = 1; i < image->input->section_count; i++)
        if (is_loaded(&image->input->sections[i]) &&
            !check_section(image, &image->input->sections[i]))
            return false;
    return count_needs(image) && map_sections(image) && find_targets(image) &&
           relocate_all(image) && protect(image);
}

enum object_image_status object_image_load(const void *bytes, size_t size,
                                           void *(*lookup)(const char *name),
                                           struct object_image **image, char *error,
                                           size_t error_size)
{
    struct object_image *made = mem_calloc(1, sizeof *made);
    made->arena.error = &made->error;
    made->lookup = lookup;
    *image = made;
    if (load(made, bytes, size))
        return OBJECT_IMAGE_LOADED;
    enum object_image_status status = made->other ? OBJECT_IMAGE_OTHER : OBJECT_IMAGE_FAILED;
    snprintf(error, error_size, "%s", made->error.text);
    object_image_free(made);
    *image = NULL;
    return status;
}

void *object_image_find(const struct object_image *image, const char *name)
{
    return object_map_get(&image->definitions, 0, name);
}

void object_image_free(struct object_image *image)
{
    if (!image)
        return;
    mem_unguard(&image->guard);
    unmap(image);
    object_map_free(&image->definitions);
    arena_free(&image->arena.memory);
    mem_free(image);
}
