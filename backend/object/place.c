/* Where the sections of the inputs go. Sections of equal name, type and flags become one, in the
 * order of the inputs; names may repeat in the result where type or flags differ. */
#include "backend/object/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Flags that say something about the input file only. */
#define TRANSIENT_FLAGS ((uint64_t)(SHF_GROUP | SHF_INFO_LINK))

struct placement {
    const char *name;
    uint64_t flags, entsize;
    uint32_t type;
    struct object_output *linked;
};

/* Whether concatenation keeps what SHF_MERGE promises: whole elements, strings terminated, no
 * gaps that are not elements. Without the flag nothing is lost but a chance to save space. */
static bool is_mergeable(const struct object_section *section)
{
    uint64_t size = section->entsize;
    if (!(section->flags & SHF_MERGE) || !section->data || size == 0 || section->size % size)
        return false;
    if (section->align > size && section->align % size)
        return false;
    if (size > section->align && size % section->align)
        return false;
    for (uint64_t i = 1; section->flags & SHF_STRINGS && section->size && i <= size; i++)
        if (section->data[section->size - i] != 0)
            return false;
    return true;
}

static struct placement placement_of(const struct object_input *input,
                                     const struct object_section *section)
{
    struct placement p = {section->name, section->flags & ~TRANSIENT_FLAGS, section->entsize,
                          section->type, NULL};
    if (!is_mergeable(section)) {
        p.flags &= ~(uint64_t)(SHF_MERGE | SHF_STRINGS);
        p.entsize = 0;
    }
    /* clang gives .eh_frame a type of its own on x86-64, gcc does not. */
    if (object_is_frame(section))
        p.type = SHT_PROGBITS;
    if (p.flags & SHF_LINK_ORDER && section->link)
        p.linked = input->sections[section->link].output;
    return p;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static struct object_output *output_new(struct object_writer *writer, const struct placement *p)
{
    struct object_output *output = object_alloc(&writer->arena, 1, sizeof *output);
    output->name = p->name;
    output->flags = p->flags;
    output->entsize = p->entsize;
    output->type = p->type;
    output->linked = p->linked;
    output->align = 1;
    output->index = ++writer->output_count;
    *writer->output_tail = output;
    writer->output_tail = &output->next;
    return output;
}

/* Outputs whose keys have the same hash; almost always one. */
struct output_list {
    struct object_output *output;
    struct output_list *next;
};

static struct object_output *output_at(struct object_writer *writer, const struct placement *p)
{
    uint64_t scope = mix(mix(mix(p->type, p->flags), p->entsize), p->linked ? p->linked->index : 0);
    void **place = object_map_at(&writer->output_map, scope, p->name);
    for (struct output_list *i = *place; i; i = i->next)
        if (i->output->type == p->type && i->output->flags == p->flags &&
            i->output->entsize == p->entsize && i->output->linked == p->linked)
            return i->output;
    struct output_list *entry = object_alloc(&writer->arena, 1, sizeof *entry);
    *entry = (struct output_list){output_new(writer, p), *place};
    *place = entry;
    return entry->output;
}

/* Takes `size` bytes at the end of the output; `*gap` bytes of padding went before them. */
static bool reserve(struct object_writer *writer, struct object_output *output, uint64_t size,
                    uint64_t align, uint64_t *offset, uint64_t *gap)
{
    assert(align > 0 && (align & (align - 1)) == 0);
    *offset = (output->size + align - 1) & ~(align - 1);
    *gap = *offset - output->size;
    if (*offset + size > OBJECT_MAX_SECTION)
        return object_fail(writer->error, "the merged section '%.300s' is too large", output->name);
    writer->padding += output->type == SHT_NOBITS ? 0 : *gap;
    if (writer->padding > OBJECT_MAX_PADDING)
        return object_fail(writer->error,
                           "section '%.300s': the alignments of the inputs ask for more than "
                           "64 MiB of padding",
                           output->name);
    output->size = *offset + size;
    if (align > output->align)
        output->align = align;
    return true;
}

/* Sections whose format has a header of its own, so that two cannot follow one another. */
static bool is_singular(const struct object_input *input, const struct object_section *section)
{
    enum { TYPE_MACHINE_ATTRIBUTES = SHT_LOPROC + 3 };
    return section->type == SHT_GNU_ATTRIBUTES ||
           (section->type == TYPE_MACHINE_ATTRIBUTES &&
            (input->machine == EM_AARCH64 || input->machine == EM_RISCV));
}

static bool place_singular(struct object_writer *writer, const struct object_input *input,
                           struct object_section *section, struct object_output *output)
{
    const struct object_section *first = output->first;
    if (section->size != first->size || section->relocation_count || first->relocation_count ||
        (section->size && memcmp(section->data, first->data, section->size) != 0))
        return object_fail(writer->error,
                           "%.300s: section '%.200s' differs from that of the inputs before it",
                           input->name, section->name);
    section->output = output;
    section->offset = 0;
    return true;
}

static void note_frame(struct object_output *output, struct object_section *section, uint64_t gap)
{
    if (output->last_frame)
        output->last_frame->frame->padding += gap;
    if (section->frame->size > 0)
        output->last_frame = section;
    output->frame_ends |= section->frame->terminated;
}

static bool place_section(struct object_writer *writer, struct object_input *input,
                          struct object_section *section)
{
    assert(!section->output && !section->next);
    if (object_is_frame(section) && !object_frame_read(writer, input, section))
        return false;
    struct placement p = placement_of(input, section);
    struct object_output *output = output_at(writer, &p);
    uint64_t gap;
    if (output->first && is_singular(input, section))
        return place_singular(writer, input, section, output);
    uint64_t size = section->frame ? section->frame->size : section->size;
    if (!reserve(writer, output, size, section->align, &section->offset, &gap))
        return false;
    if (section->frame)
        note_frame(output, section, gap);
    section->output = output;
    if (output->last)
        output->last->next = section;
    else
        output->first = section;
    output->last = section;
    output->relocation_count += section->relocation_count;
    return true;
}

static int compare_links(const void *left, const void *right)
{
    const struct object_section *a = *(struct object_section *const *)left;
    const struct object_section *b = *(struct object_section *const *)right;
    if (a->link != b->link)
        return a->link < b->link ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool is_placed(const struct object_section *section)
{
    return section->role == OBJECT_CONTENT && !section->discarded && !section->shared &&
           section->type != SHT_STRTAB;
}

/* SHF_LINK_ORDER asks for the order of the sections linked to, which are in place by now: in the
 * order of the inputs, and within one in that of their indices. */
static bool place_ordered(struct object_writer *writer, struct object_input *input)
{
    size_t count = 0;
    for (uint32_t i = 1; i < input->section_count; i++)
        count += is_placed(&input->sections[i]) && input->sections[i].flags & SHF_LINK_ORDER;
    if (count == 0)
        return true;
    struct object_section **order = object_alloc(&writer->arena, count, sizeof *order);
    count = 0;
    for (uint32_t i = 1; i < input->section_count; i++)
        if (is_placed(&input->sections[i]) && input->sections[i].flags & SHF_LINK_ORDER)
            order[count++] = &input->sections[i];
    qsort(order, count, sizeof *order, compare_links);
    for (size_t i = 0; i < count; i++)
        if (!place_section(writer, input, order[i]))
            return false;
    return true;
}

static bool place_input(struct object_writer *writer, struct object_input *input)
{
    if (input->original)
        object_copy_place(input);
    for (uint32_t i = 1; i < input->section_count; i++) {
        struct object_section *section = &input->sections[i];
        if (is_placed(section) && !(section->flags & SHF_LINK_ORDER) &&
            !place_section(writer, input, section))
            return false;
    }
    return place_ordered(writer, input);
}

/* Tentative definitions become part of .bss: a local symbol cannot be tentative. */
static bool place_commons(struct object_writer *writer)
{
    static const struct placement bss = {".bss", SHF_ALLOC | SHF_WRITE, 0, SHT_NOBITS, NULL};
    static const struct placement tbss = {".tbss", SHF_ALLOC | SHF_WRITE | SHF_TLS, 0, SHT_NOBITS,
                                          NULL};
    for (struct object_global *global = writer->first_global; global; global = global->next) {
        if (global->strength == OBJECT_NONE || global->symbol->section != OBJECT_COMMON)
            continue;
        uint64_t gap;
        global->common_output = output_at(writer, global->type == STT_TLS ? &tbss : &bss);
        if (!reserve(writer, global->common_output, global->common_size, global->common_align,
                     &global->common_offset, &gap))
            return false;
    }
    return true;
}

static bool end_frames(struct object_writer *writer)
{
    for (struct object_output *output = writer->first_output; output; output = output->next) {
        uint64_t offset, gap;
        if (!output->frame_ends)
            continue;
        if (!reserve(writer, output, 4, 4, &offset, &gap))
            return false;
        if (output->last_frame)
            output->last_frame->frame->padding += gap;
    }
    return true;
}

/* Whether code without .note.GNU-stack may run on the stack, by machine: ld's rule. */
static bool is_stack_executable_by_default(uint16_t machine)
{
    enum { MACHINE_LOONGARCH = 258 };
    return machine != EM_AARCH64 && machine != EM_RISCV && machine != MACHINE_LOONGARCH;
}

/* As ld does: with no note at all there is none; else one that asks for an executable stack if
 * any input does so by its note or by the want of one. */
static void place_stack_note(struct object_writer *writer)
{
    bool noted = false, executable = false;
    for (const struct object_input *input = writer->link->first_input; input; input = input->next) {
        noted |= input->stack_note;
        executable |= input->stack_note ? input->stack_executable
                                        : is_stack_executable_by_default(input->machine);
    }
    struct placement p = {".note.GNU-stack", executable ? SHF_EXECINSTR : 0, 0, SHT_PROGBITS, NULL};
    if (noted)
        output_new(writer, &p);
}

bool object_place(struct object_writer *writer)
{
    for (struct object_input *input = writer->link->first_input; input; input = input->next)
        if (!place_input(writer, input))
            return false;
    if (!place_commons(writer) || !end_frames(writer))
        return false;
    place_stack_note(writer);
    return true;
}
