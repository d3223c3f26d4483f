/* Copies of code: groups whose inputs are those of another group, with code of their own.
 *
 * A copy has its own sections of code and of what is read-only and refers to code: jump tables,
 * unwind tables. All else is one for the group and its copies. So copies behave as the code that
 * they are copies of, down to its static variables, and cost the size of the code. Whatever is
 * shared refers to the code of the original; that does the same. */
#include "backend/object/object.h"

#include "backend/object/internal.h"

#include <assert.h>
#include <string.h>

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

static bool copy_input(struct object_link *link, struct object_input *input, unsigned group)
{
    struct object_input *copy = object_input_clone(&link->arena, input);
    copy->original = input;
    copy->group = group;
    copy->next_in_group = NULL;
    input->has_copies = true;
    return object_group_add(link, copy);
}

bool object_link_copy(struct object_link *link, unsigned group, unsigned copy)
{
    if (link->error.set)
        return false;
    struct object_input *first = object_map_get(&link->groups, group, "");
    if (!first || first->original || object_map_get(&link->groups, copy, ""))
        return object_fail(&link->error, "group %u cannot be copied to group %u", group, copy);
    for (struct object_input *input = first; input; input = input->next_in_group)
        if (!copy_input(link, input, copy))
            return false;
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

static void mark_copied(struct object_input *input)
{
    for (uint32_t i = 1; i < input->section_count; i++) {
        struct object_section *section = &input->sections[i];
        bool constant = section->role == OBJECT_CONTENT && section->flags & SHF_ALLOC &&
                        !(section->flags & SHF_WRITE);
        section->copied = constant && (is_code(section) || refers_to_code(input, section));
    }
}

/* ---- sections and names of a copy ---- */

static struct object_section *counterpart(struct object_section *section)
{
    if (!section || !section->copied)
        return section;
    assert(section->input->copy);
    return &section->input->copy->sections[section - section->input->sections];
}

static void share_sections(struct object_input *copy)
{
    for (uint32_t i = 1; i < copy->section_count; i++) {
        const struct object_section *original = &copy->original->sections[i];
        copy->sections[i].shared = !original->copied;
        copy->sections[i].discarded = original->discarded;
        copy->sections[i].kept = counterpart(original->kept);
    }
}

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
    share_sections(copy);
    for (uint32_t i = copy->local_count; i < copy->symbol_count; i++) {
        struct object_symbol *original = &copy->original->symbols[i];
        const struct object_section *home = home_of(copy->original, original);
        copy->symbols[i].global = home && home->copied
                                      ? copy_global(writer, original->global, copy->group)
                                      : original->global;
    }
}

/* All inputs of a copy, from the group's first one on. */
static void resolve_group(struct object_writer *writer, struct object_input *first)
{
    for (struct object_input *copy = first; copy; copy = copy->next_in_group)
        copy->original->copy = copy;
    for (struct object_input *copy = first; copy; copy = copy->next_in_group)
        resolve_copy(writer, copy);
}

void object_copy_resolve(struct object_writer *writer)
{
    struct object_input *input = writer->link->first_input;
    for (struct object_input *i = input; i; i = i->next)
        if (i->has_copies)
            mark_copied(i);
    for (; input; input = input->next)
        if (input->original && input == object_map_get(&writer->link->groups, input->group, ""))
            resolve_group(writer, input);
}

void object_copy_place(struct object_input *copy)
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
