/* Where the sections of the inputs go: copies of code, unwind tables, the order of inputs, and the
 * merge of equal sections. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "backend/linker/internal.h"
#include "backend/linker/object.h"

/* .eh_frame: a sequence of records, a length word before each, ended by a length of zero. Two
 * things forbid to treat it as plain bytes. Zero padding between inputs would read as the end;
 * so the last record before a gap is lengthened over it, where zero bytes are no-operations.
 * And a record of a function that was discarded with its COMDAT group must go, since its
 * relocation has no target left. Layout: LSB core specification, "exception frames". */

enum {
    FIELD = 4,            /* size of the length and of the CIE pointer after it */
    FUNCTION = 2 * FIELD, /* where an FDE holds the address of its function */
};

static uint32_t get32(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put32(unsigned char *p, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(value >> 8 * i);
}

bool object_is_frame(const struct object_section *section)
{
    return section->data && strcmp(section->name, ".eh_frame") == 0;
}

static bool fail(struct object_writer *writer, const struct object_input *input, uint64_t offset,
                 const char *what)
{
    return object_fail(writer->error, "%.300s: section '.eh_frame' %s at offset %llu", input->name,
                       what, (unsigned long long)offset);
}

/* Counts the records, and stores them where `records` is not NULL. */
static bool split(struct object_writer *writer, const struct object_input *input,
                  const struct object_section *section, struct object_frame *frame)
{
    uint64_t at = 0;
    frame->count = 0;
    while (at < section->size) {
        if (section->size - at < FIELD)
            return fail(writer, input, at, "has an incomplete record");
        uint64_t length = get32(section->data + at);
        if (length == UINT32_MAX)
            return fail(writer, input, at, "has a 64-bit record, which is not supported,");
        if (length == 0) {
            frame->terminated = true;
            if (section->size - at > FIELD)
                return fail(writer, input, at, "ends before its last record");
            return true;
        }
        if (length < FIELD || length > section->size - at - FIELD)
            return fail(writer, input, at, "has a record of a bad length");
        if (frame->records)
            frame->records[frame->count] =
                (struct object_frame_record){.offset = at, .size = FIELD + length};
        frame->count++;
        at += FIELD + length;
    }
    return true;
}

/* The record that contains `offset`, or NULL. */
static struct object_frame_record *find(const struct object_frame *frame, uint64_t offset)
{
    size_t low = 0, high = frame->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct object_frame_record *record = &frame->records[middle];
        if (offset < record->offset)
            high = middle;
        else if (offset - record->offset >= record->size)
            low = middle + 1;
        else
            return record;
    }
    return NULL;
}

/* The CIE that the record at `record` refers to; NULL if it is one itself or the link is bad. */
static struct object_frame_record *find_cie(const struct object_frame *frame,
                                            const struct object_section *section,
                                            const struct object_frame_record *record)
{
    assert(record->size >= 2 * FIELD && record->offset + record->size <= section->size);
    uint64_t field = record->offset + FIELD;
    uint32_t distance = get32(section->data + field);
    if (distance > field)
        return NULL;
    struct object_frame_record *cie = find(frame, field - distance);
    return cie && cie->offset == field - distance ? cie : NULL;
}

static bool is_cie(const struct object_section *section, const struct object_frame_record *record)
{
    return get32(section->data + record->offset + FIELD) == 0;
}

static bool check_cies(struct object_writer *writer, const struct object_input *input,
                       const struct object_section *section, const struct object_frame *frame)
{
    for (size_t i = 0; i < frame->count; i++) {
        const struct object_frame_record *record = &frame->records[i];
        if (is_cie(section, record))
            continue;
        const struct object_frame_record *cie = find_cie(frame, section, record);
        if (!cie || !is_cie(section, cie))
            return fail(writer, input, record->offset, "has a record without a CIE");
    }
    return true;
}

static void mark_dead(const struct object_input *input, const struct object_section *section,
                      const struct object_frame *frame)
{
    for (size_t i = 0; i < section->relocation_count; i++) {
        const struct object_relocation *relocation = &section->relocations[i];
        const struct object_section *target =
            object_symbol_section(input, &input->symbols[relocation->symbol]);
        if (!target || !target->discarded)
            continue;
        struct object_frame_record *record = find(frame, relocation->offset);
        if (record && relocation->offset - record->offset == FUNCTION && !is_cie(section, record))
            record->dead = true;
    }
}

/* Splits the section into records and drops those of functions in discarded sections. */
static bool object_frame_read(struct object_writer *writer, const struct object_input *input,
                              struct object_section *section)
{
    struct object_frame *frame = object_alloc(&writer->arena, 1, sizeof *frame);
    if (!split(writer, input, section, frame))
        return false;
    frame->records = object_alloc(&writer->arena, frame->count, sizeof *frame->records);
    if (!split(writer, input, section, frame) || !check_cies(writer, input, section, frame))
        return false;
    mark_dead(input, section, frame);
    for (size_t i = 0; i < frame->count; i++) {
        frame->records[i].moved_to = frame->size;
        frame->size += frame->records[i].dead ? 0 : frame->records[i].size;
    }
    section->frame = frame;
    return true;
}

bool object_frame_move(const struct object_frame *frame, uint64_t *offset)
{
    const struct object_frame_record *record = find(frame, *offset);
    if (record && record->dead)
        return false;
    if (record) {
        *offset = record->moved_to + (*offset - record->offset);
    } else if (frame->count > 0) {
        record = &frame->records[frame->count - 1];
        *offset += frame->size - (record->offset + record->size);
    }
    return true;
}

void object_frame_copy(const struct object_section *section, unsigned char *to)
{
    const struct object_frame *frame = section->frame;
    unsigned char *last = NULL;
    for (size_t i = 0; i < frame->count; i++) {
        const struct object_frame_record *record = &frame->records[i];
        if (record->dead)
            continue;
        last = to + record->moved_to;
        memcpy(last, section->data + record->offset, record->size);
        const struct object_frame_record *cie = find_cie(frame, section, record);
        if (cie)
            put32(last + FIELD, (uint32_t)(record->moved_to + FIELD - cie->moved_to));
    }
    if (last)
        put32(last, (uint32_t)(get32(last) + frame->padding));
}

/* Copies of code: groups whose inputs are those of another group, with code of their own.
 *
 * A copy has its own sections of code and of what is read-only and refers to code: jump tables,
 * unwind tables. All else is one for the group and its copies. So copies behave as the code that
 * they are copies of, down to its static variables, and cost the size of the code. Whatever is
 * shared refers to the code of the original; that does the same. */

/* ---- for the link ---- */

bool object_group_add(struct object_link *link, struct object_input *input)
{
    void **place = object_map_at(&link->groups, input->group, "");
    struct object_input *first = *place;
    if (first && first->original && !input->original)
        return object_fail(&link->error, "%.300s cannot be added to a copy of a group",
                           input->name);
    if (first) {
        first->group_tail->next_in_group = input;
        first->group_tail = input;
    } else {
        *place = input->group_tail = input;
    }
    *link->input_tail = input;
    link->input_tail = &input->next;
    return true;
}

struct object_input *object_input_clone(struct object_arena *arena,
                                        const struct object_input *input)
{
    struct object_input *clone = object_copy(arena, input, sizeof *input);
    clone->sections =
        object_copy(arena, input->sections, input->section_count * sizeof *clone->sections);
    clone->symbols =
        object_copy(arena, input->symbols, input->symbol_count * sizeof *clone->symbols);
    for (uint32_t i = 0; i < clone->section_count; i++)
        clone->sections[i].input = clone;
    clone->next = NULL;
    return clone;
}

bool object_link_copy(struct object_link *link, unsigned group, unsigned copy)
{
    if (link->error.set)
        return false;
    struct object_input *first = object_map_get(&link->groups, group, "");
    if (!first || first->original || object_map_get(&link->groups, copy, ""))
        return object_fail(&link->error, "group %u cannot be copied to group %u", group, copy);
    for (struct object_input *input = first; input; input = input->next_in_group) {
        struct object_input *clone = object_input_clone(&link->arena, input);
        clone->original = input;
        clone->group = copy;
        clone->next_in_group = NULL;
        input->has_copies = true;
        if (!object_group_add(link, clone))
            return false;
    }
    return true;
}

/* ---- what is copied ---- */

/* Not the sections that are pieces of one function, which must run once. */
static bool is_code(const struct object_section *section)
{
    uint64_t flags = section->flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR);
    return section->role == OBJECT_CONTENT && flags == (SHF_ALLOC | SHF_EXECINSTR) &&
           strcmp(section->name, ".init") != 0 && strcmp(section->name, ".fini") != 0;
}

/* The section that the symbol is defined in, in whatever input of its group; or NULL. */
static struct object_section *home_of(const struct object_input *input,
                                      const struct object_symbol *symbol)
{
    const struct object_global *global = symbol->global;
    if (!global)
        return object_symbol_section(input, symbol);
    return global->strength == OBJECT_NONE ? NULL
                                           : object_symbol_section(global->input, global->symbol);
}

static bool refers_to_code(const struct object_input *input, const struct object_section *section)
{
    for (size_t i = 0; i < section->relocation_count; i++) {
        const struct object_section *home =
            home_of(input, &input->symbols[section->relocations[i].symbol]);
        if (home && is_code(home))
            return true;
    }
    return section->flags & SHF_LINK_ORDER && is_code(&input->sections[section->link]);
}

/* ---- sections and names of a copy ---- */

/* The name that a copied definition has in the copy's group. */
static struct object_global *copy_global(struct object_writer *writer, struct object_global *global,
                                         unsigned group)
{
    void **place = object_map_at(&writer->globals, group, global->name);
    if (*place)
        return *place;
    struct object_global *copy = object_copy(&writer->arena, global, sizeof *global);
    assert(global->strength != OBJECT_NONE && global->input->copy);
    copy->input = global->input->copy;
    copy->symbol = &copy->input->symbols[global->symbol - global->input->symbols];
    copy->wanted = copy->needed = false;
    copy->next = NULL;
    *writer->global_tail = *place = copy;
    writer->global_tail = &copy->next;
    return copy;
}

static void resolve_copy(struct object_writer *writer, struct object_input *copy)
{
    for (uint32_t i = 1; i < copy->section_count; i++) {
        const struct object_section *original = &copy->original->sections[i];
        struct object_section *kept = original->kept;
        if (kept && kept->copied) {
            assert(kept->input->copy);
            kept = &kept->input->copy->sections[kept - kept->input->sections];
        }
        copy->sections[i].shared = !original->copied;
        copy->sections[i].discarded = original->discarded;
        copy->sections[i].kept = kept;
    }
    for (uint32_t i = copy->local_count; i < copy->symbol_count; i++) {
        struct object_symbol *original = &copy->original->symbols[i];
        const struct object_section *home = home_of(copy->original, original);
        copy->symbols[i].global = home && home->copied
                                      ? copy_global(writer, original->global, copy->group)
                                      : original->global;
    }
}

void object_copy_resolve(struct object_writer *writer)
{
    struct object_input *first = writer->link->first_input;
    for (struct object_input *input = first; input; input = input->next)
        for (uint32_t i = 1; input->has_copies && i < input->section_count; i++) {
            struct object_section *section = &input->sections[i];
            bool constant = section->role == OBJECT_CONTENT && section->flags & SHF_ALLOC &&
                            !(section->flags & SHF_WRITE);
            section->copied = constant && (is_code(section) || refers_to_code(input, section));
        }
    for (struct object_input *input = first; input; input = input->next) {
        if (!input->original || input != object_map_get(&writer->link->groups, input->group, ""))
            continue;
        /* All inputs of a copy, from the group's first one on. */
        for (struct object_input *copy = input; copy; copy = copy->next_in_group)
            copy->original->copy = copy;
        for (struct object_input *copy = input; copy; copy = copy->next_in_group)
            resolve_copy(writer, copy);
    }
}

/* Puts what a copy shares where it is. */
static void object_copy_place(struct object_input *copy)
{
    for (uint32_t i = 1; i < copy->section_count; i++) {
        const struct object_section *original = &copy->original->sections[i];
        if (!copy->sections[i].shared)
            continue;
        copy->sections[i].output = original->output;
        copy->sections[i].offset = original->offset;
        copy->sections[i].frame = original->frame;
    }
}

/* ---------------------------------------- the order of inputs ---- */

static bool defines(const struct object_input *input, const char *symbol)
{
    for (uint32_t i = input->local_count; i < input->symbol_count; i++)
        if (input->symbols[i].section != OBJECT_UNDEFINED &&
            strcmp(input->symbols[i].name, symbol) == 0)
            return true;
    return false;
}

bool object_link_place(struct object_link *link, unsigned group, const char *symbol, unsigned rank)
{
    bool found = false;
    if (link->error.set)
        return false;
    struct object_input *input = object_map_get(&link->groups, group, "");
    for (; input && !found; input = input->next_in_group) {
        if (symbol && !defines(input, symbol))
            continue;
        input->rank = rank;
        found = symbol != NULL;
    }
    return found || !symbol ||
           object_fail(&link->error, "no definition of '%.300s', which is to be placed", symbol);
}

static unsigned rank_of(const struct object_input *input)
{
    return input->original ? input->original->rank : input->rank;
}

/* The order of a rank stays, so what is copied stays before its copies. */
void object_sort_inputs(struct object_link *link)
{
    struct object_input *rest = link->first_input, **rest_tail = &rest;
    link->input_tail = &link->first_input;
    for (unsigned rank = 0; rest; rank++) {
        struct object_input *input = rest;
        for (rest_tail = &rest; input; input = input->next) {
            struct object_input ***tail = rank_of(input) == rank ? &link->input_tail : &rest_tail;
            **tail = input;
            *tail = &input->next;
        }
        *rest_tail = NULL;
    }
    *link->input_tail = NULL;
}

/* Where the sections of the inputs go. Sections of equal name, type and flags become one, in the
 * order of the inputs; names may repeat in the result where type or flags differ. */

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

static struct object_output *output_at(struct object_writer *writer, const struct placement *p)
{
    uint64_t linked = p->linked ? p->linked->index : 0;
    void **place = object_map_at(&writer->output_map, linked, p->name);
    for (struct object_output *output = *place; output; output = output->alike)
        if (output->type == p->type && output->flags == p->flags && output->entsize == p->entsize)
            return output;
    struct object_output *output = output_new(writer, p);
    output->alike = *place;
    *place = output;
    return output;
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
    if (section->frame) {
        if (output->last_frame)
            output->last_frame->frame->padding += gap;
        if (section->frame->size > 0)
            output->last_frame = section;
        output->frame_ends |= section->frame->terminated;
    }
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

/* SHF_LINK_ORDER asks for the order of the sections linked to, which are in place by then: in the
 * order of the inputs, and within one in that of their indices. */
static bool place_input(struct object_writer *writer, struct object_input *input)
{
    struct object_section **ordered = NULL;
    size_t count = 0;
    if (input->original)
        object_copy_place(input);
    for (uint32_t i = 1; i < input->section_count; i++) {
        struct object_section *section = &input->sections[i];
        if (section->role != OBJECT_CONTENT || section->discarded || section->shared ||
            section->type == SHT_STRTAB)
            continue;
        if (section->flags & SHF_LINK_ORDER) {
            if (!ordered)
                ordered = object_alloc(&writer->arena, input->section_count, sizeof *ordered);
            ordered[count++] = section;
        } else if (!place_section(writer, input, section)) {
            return false;
        }
    }
    if (count)
        qsort(ordered, count, sizeof *ordered, compare_links);
    for (size_t i = 0; i < count; i++)
        if (!place_section(writer, input, ordered[i]))
            return false;
    return true;
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

/* As ld does: with no note at all there is none; else one that asks for an executable stack if
 * any input does so by its note or by the want of one. */
static void place_stack_note(struct object_writer *writer)
{
    enum { MACHINE_LOONGARCH = 258 };
    uint16_t machine = writer->link->first_input->machine;
    /* Whether code without a note may run on the stack: ld's rule. */
    bool by_default = machine != EM_AARCH64 && machine != EM_RISCV && machine != MACHINE_LOONGARCH;
    bool noted = false, executable = false;
    for (const struct object_input *input = writer->link->first_input; input; input = input->next) {
        noted |= input->stack_note;
        executable |= input->stack_note ? input->stack_executable : by_default;
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
