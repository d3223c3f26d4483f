/* Symbols of the result: variables that groups share, which definition a reference means, and the
 * symbol table. */
#include <assert.h>
#include <string.h>

#include "backend/linker/internal.h"
#include "backend/linker/object.h"

/* Variables that groups share. Code that is compiled apart but runs as one, such as an entry and
 * the kernels that it calls, has inline variables of the same headers: each object has a weak
 * definition of its own, and means the same variable. */

bool object_link_share(struct object_link *link, unsigned group)
{
    if (link->error.set)
        return false;
    struct object_share *share = object_alloc(&link->arena, 1, sizeof *share);
    *share = (struct object_share){group, link->first_share};
    link->first_share = share;
    return true;
}

static bool group_shares(const struct object_link *link, unsigned group)
{
    for (const struct object_share *share = link->first_share; share; share = share->next)
        if (share->group == group)
            return true;
    return false;
}

static bool is_variable(const struct object_global *global)
{
    if (global->strength == OBJECT_NONE)
        return true; /* what it is, its definition says */
    if (global->type != STT_NOTYPE)
        return global->type == STT_OBJECT;
    const struct object_section *home = object_symbol_section(global->input, global->symbol);
    return home && !(home->flags & SHF_EXECINSTR);
}

/* Lets one definition stand for the variables that groups share. */
static void object_share_variables(struct object_writer *writer)
{
    struct object_map names = {NULL, 0, 0};
    if (!writer->link->first_share)
        return;
    for (int own = 1; own >= 0; own--)
        for (struct object_global *global = writer->first_global; global; global = global->next) {
            if (!is_variable(global) || group_shares(writer->link, global->input->group) != own)
                continue;
            const struct object_global *chosen = object_map_get(&names, 0, global->name);
            /* Of the groups that share, the strongest definition, or else a mention; where there is
             * a mention alone, the first definition of another group. */
            if (own ? !chosen || global->strength > chosen->strength
                    : chosen && chosen->strength == OBJECT_NONE && global->strength < OBJECT_STRONG)
                *object_map_at(&names, 0, global->name) = global;
        }
    for (struct object_global *global = writer->first_global; global; global = global->next) {
        struct object_global *chosen = object_map_get(&names, 0, global->name);
        if (!chosen || chosen == global || chosen->strength == OBJECT_NONE ||
            global->strength == OBJECT_STRONG || !is_variable(global))
            continue;
        global->target = chosen;
        chosen->needed |= global->needed;
    }
    object_map_free(&names);
}

/* Which definition stands for which reference: COMDAT groups, names within a group of inputs,
 * exports between groups, and one undefined symbol for each name without a definition. */

/* ---- COMDAT ---- */

/* Keeps the first group of a signature. `signatures` leads to the group section that was seen
 * first, `members` from (that section, name) to its member. */
static void resolve_comdat(struct object_map *signatures, struct object_map *members,
                           struct object_input *input)
{
    for (uint32_t i = 1; i < input->section_count; i++) {
        struct object_section *group = &input->sections[i];
        if (group->role != OBJECT_GROUP || !(group->entsize & GRP_COMDAT))
            continue;
        const struct object_symbol *symbol = &input->symbols[group->info];
        const struct object_section *named = object_symbol_section(input, symbol);
        void **kept =
            object_map_at(signatures, input->group,
                          symbol->type == STT_SECTION && named ? named->name : symbol->name);
        group->discarded = *kept != NULL;
        group->kept = *kept;
        *kept = *kept ? *kept : group;
    }
    for (uint32_t i = 1; i < input->section_count; i++) {
        struct object_section *member = &input->sections[i];
        const struct object_section *group = &input->sections[member->group];
        if (!member->group || !(group->entsize & GRP_COMDAT))
            continue;
        void **place = object_map_at(
            members, (uint64_t)(uintptr_t)(group->discarded ? group->kept : group), member->name);
        member->discarded = group->discarded;
        if (group->discarded)
            member->kept = *place;
        else if (!*place)
            *place = member;
    }
    /* What is ordered by a section goes with it. */
    for (uint32_t i = 1; i < input->section_count; i++) {
        struct object_section *section = &input->sections[i];
        if (section->flags & SHF_LINK_ORDER && input->sections[section->link].discarded)
            section->discarded = true;
    }
}

/* ---- names within a group ---- */

struct object_global *object_global_final(struct object_global *global)
{
    assert(!global->target || !global->target->target);
    return global->target ? global->target : global;
}

static struct object_global *global_at(struct object_writer *writer, struct object_input *input,
                                       struct object_symbol *symbol)
{
    void **place = object_map_at(&writer->globals, input->group, symbol->name);
    if (!*place) {
        struct object_global *global = object_alloc(&writer->arena, 1, sizeof *global);
        global->name = symbol->name;
        global->input = input;
        *writer->global_tail = *place = global;
        writer->global_tail = &global->next;
    }
    return *place;
}

/* The generic ABI: the most constraining visibility of all wins; they are numbered from
 * internal (1) over hidden to protected, and default is 0. */
static uint8_t merge_visibility(uint8_t a, uint8_t b)
{
    return !a ? b : !b ? a : a < b ? a : b;
}

static bool merge_type(struct object_writer *writer, struct object_global *global,
                       const struct object_input *input, uint8_t type)
{
    if (type != STT_NOTYPE && global->type != STT_NOTYPE &&
        (type == STT_TLS) != (global->type == STT_TLS))
        return object_fail(writer->error,
                           "%.300s: '%.200s' is thread-local in one place and not in another, "
                           "see %.300s",
                           input->name, global->name, global->input->name);
    if (global->type == STT_NOTYPE)
        global->type = type;
    return true;
}

static uint64_t maximum(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool define(struct object_writer *writer, struct object_global *global,
                   struct object_input *input, struct object_symbol *symbol)
{
    enum object_strength strength = symbol->binding == STB_WEAK        ? OBJECT_WEAK
                                    : symbol->section == OBJECT_COMMON ? OBJECT_TENTATIVE
                                                                       : OBJECT_STRONG;
    if (strength == OBJECT_STRONG && global->strength == OBJECT_STRONG)
        return object_fail(writer->error, "%.300s: '%.300s' is already defined in %.300s",
                           input->name, symbol->name, global->input->name);
    if (symbol->section == OBJECT_COMMON) {
        global->common_size = maximum(global->common_size, symbol->size);
        global->common_align = maximum(global->common_align, maximum(symbol->value, 1));
    }
    if (strength > global->strength) {
        global->strength = strength;
        global->input = input;
        global->symbol = symbol;
        global->type = symbol->type == STT_COMMON ? STT_OBJECT : symbol->type;
        global->other = symbol->other & ~3;
    }
    return true;
}

static bool collect_symbol(struct object_writer *writer, struct object_input *input,
                           struct object_symbol *symbol)
{
    struct object_global *global = global_at(writer, input, symbol);
    symbol->global = global;
    const struct object_section *section = object_symbol_section(input, symbol);
    if (section && section->discarded)
        return true;
    if (section && section->role != OBJECT_CONTENT)
        return object_fail(writer->error,
                           "%.300s: '%.200s' is defined in section '%.200s', "
                           "which has no code or data",
                           input->name, symbol->name, section->name);
    global->visibility = merge_visibility(global->visibility, ELF64_ST_VISIBILITY(symbol->other));
    if (!merge_type(writer, global, input, symbol->type))
        return false;
    if (symbol->section != OBJECT_UNDEFINED)
        return define(writer, global, input, symbol);
    global->wanted = true;
    global->needed |= symbol->binding != STB_WEAK;
    if (global->strength == OBJECT_NONE)
        global->other |= symbol->other & ~3;
    return true;
}

/* ---- names between groups ---- */

static bool export_symbol(struct object_writer *writer, const struct object_export *export)
{
    struct object_global *global = object_map_get(&writer->globals, export->group, export->symbol);
    if (!global || global->strength == OBJECT_NONE)
        return object_fail(writer->error,
                           "%.300s: no definition of '%.300s', which is to be exported as '%.300s'",
                           global ? global->input->name : "export", export->symbol, export->as);
    if (global->exported && strcmp(global->name, export->as) != 0)
        return object_fail(writer->error,
                           "%.300s: '%.200s' is exported both as '%.200s' and as "
                           "'%.200s'",
                           global->input->name, export->symbol, global->name, export->as);
    void **place = object_map_at(&writer->exports, 0, export->as);
    const struct object_global *other = *place;
    if (other && other != global)
        return object_fail(writer->error,
                           "%.300s: the exported name '%.200s' is already taken by "
                           "'%.200s' of %.300s",
                           global->input->name, export->as, other->symbol->name,
                           other->input->name);
    *place = global;
    global->exported = true;
    global->name = export->as;
    return true;
}

static bool resolve_exports(struct object_writer *writer)
{
    const struct object_link *link = writer->link;
    for (const struct object_export *e = link->first_export; e; e = e->next)
        if (!export_symbol(writer, e))
            return false;
    for (const struct object_keep *keep = link->first_keep; keep; keep = keep->next) {
        struct object_global *global = object_map_get(&writer->exports, 0, keep->as);
        if (!global)
            return object_fail(writer->error, "'%.300s' is to be kept global, but is not exported",
                               keep->as);
        global->kept = true;
    }
    return true;
}

/* Lets `target` stand for the undefined `global`. */
static bool bind(struct object_writer *writer, struct object_global *global,
                 struct object_global *target)
{
    assert(global != target && global->strength == OBJECT_NONE);
    global->target = target;
    target->visibility = merge_visibility(target->visibility, global->visibility);
    target->needed |= global->needed;
    target->other |= target->strength == OBJECT_NONE ? global->other : 0;
    return merge_type(writer, target, global->input, global->type);
}

bool object_resolve(struct object_writer *writer)
{
    struct object_map signatures = {NULL, 0, 0}, members = {NULL, 0, 0};
    struct object_input *first = writer->link->first_input;
    for (struct object_input *input = first; input; input = input->next)
        if (!input->original)
            resolve_comdat(&signatures, &members, input);
    object_map_free(&signatures);
    object_map_free(&members);
    for (struct object_input *input = first; input; input = input->next)
        for (uint32_t i = input->local_count; !input->original && i < input->symbol_count; i++)
            if (!collect_symbol(writer, input, &input->symbols[i]))
                return false;
    object_copy_resolve(writer);
    object_share_variables(writer);
    if (!resolve_exports(writer))
        return false;
    /* An undefined name is the exported one, or the first undefined one that is wanted. */
    for (struct object_global *global = writer->first_global; global; global = global->next) {
        if (global->strength != OBJECT_NONE || global->target)
            continue;
        void *exported = object_map_get(&writer->exports, 0, global->name);
        if (!exported && !global->wanted)
            continue;
        void **place = exported ? &exported : object_map_at(&writer->undefined, 0, global->name);
        if (!*place)
            *place = global;
        else if (!bind(writer, global, *place))
            return false;
    }
    return true;
}

/* The symbol table of the result: the null symbol, one symbol per section, each input's local
 * symbols followed by its definitions that became local, then the kept names, then undefined
 * names. */

static uint32_t add(struct object_writer *writer, Elf64_Sym symbol, const char *name,
                    uint32_t section)
{
    symbol.st_name = object_strings_add(&writer->names, writer->error, name);
    bool special = section == OBJECT_ABSOLUTE;
    symbol.st_shndx = special ? SHN_ABS : section < SHN_LORESERVE ? (uint16_t)section : SHN_XINDEX;
    writer->symbols[writer->symbol_count] = symbol;
    writer->symbol_sections[writer->symbol_count] = special ? 0 : section;
    return writer->symbol_count++;
}

/* Where an input's definition ended up; false if its section is not in the result. */
static bool locate(const struct object_input *input, const struct object_symbol *symbol,
                   uint64_t *value, uint32_t *section)
{
    const struct object_section *home = object_symbol_section(input, symbol);
    *value = symbol->value;
    *section = OBJECT_ABSOLUTE;
    if (!home)
        return true;
    if (!home->output || (home->frame && !object_frame_move(home->frame, value)))
        return false;
    assert(home->output->index > 0);
    *value += home->offset;
    *section = home->output->index;
    return true;
}

static void add_local(struct object_writer *writer, const struct object_input *input,
                      struct object_symbol *symbol)
{
    uint64_t value;
    uint32_t section;
    if (symbol->type == STT_SECTION || !locate(input, symbol, &value, &section))
        return;
    Elf64_Sym out = {.st_info = ELF64_ST_INFO(STB_LOCAL, symbol->type),
                     .st_other = symbol->other,
                     .st_value = value,
                     .st_size = symbol->size};
    symbol->index = add(writer, out, symbol->name, section);
}

static bool add_definition(struct object_writer *writer, struct object_global *global)
{
    const struct object_symbol *symbol = global->symbol;
    Elf64_Sym out = {.st_other = global->other, .st_size = symbol->size};
    uint32_t section;
    if (symbol->section == OBJECT_COMMON) {
        out.st_value = global->common_offset;
        out.st_size = global->common_size;
        section = global->common_output->index;
    } else if (!locate(global->input, symbol, &out.st_value, &section)) {
        return object_fail(writer->error,
                           "%.300s: '%.300s' is defined in a section that is not "
                           "in the result",
                           global->input->name, symbol->name);
    }
    out.st_info = ELF64_ST_INFO(global->kept ? symbol->binding : STB_LOCAL, global->type);
    if (global->kept)
        out.st_other |= global->visibility;
    global->index = add(writer, out, global->name, section);
    return true;
}

static bool add_input(struct object_writer *writer, struct object_input *input)
{
    for (uint32_t i = 1; i < input->local_count; i++) {
        struct object_symbol *symbol = &input->symbols[i];
        const struct object_section *home = object_symbol_section(input, symbol);
        if (input->original && (!home || home->shared)) /* it is there already */
            symbol->index = input->original->symbols[i].index;
        else
            add_local(writer, input, symbol);
    }
    for (uint32_t i = input->local_count; i < input->symbol_count; i++) {
        struct object_global *global = input->symbols[i].global;
        if (global->symbol == &input->symbols[i] && !global->kept &&
            !add_definition(writer, global))
            return false;
    }
    return true;
}

bool object_symbols_build(struct object_writer *writer)
{
    uint64_t most = 1 + (uint64_t)writer->output_count;
    for (const struct object_input *input = writer->link->first_input; input; input = input->next)
        most += input->local_count;
    for (const struct object_global *global = writer->first_global; global; global = global->next)
        most++;
    if (most >= UINT32_MAX)
        return object_fail(writer->error, "the result has too many symbols");
    writer->symbols = object_alloc(&writer->arena, most, sizeof *writer->symbols);
    writer->symbol_sections = object_alloc(&writer->arena, most, sizeof *writer->symbol_sections);
    add(writer, (Elf64_Sym){0}, "", OBJECT_UNDEFINED);
    for (struct object_output *output = writer->first_output; output; output = output->next)
        output->symbol = add(writer, (Elf64_Sym){.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION)},
                             "", output->index);
    for (struct object_input *input = writer->link->first_input; input; input = input->next)
        if (!add_input(writer, input))
            return false;
    writer->local_count = writer->symbol_count;
    assert(writer->local_count <= most);
    for (struct object_global *global = writer->first_global; global; global = global->next)
        if (global->kept && !add_definition(writer, global))
            return false;
    for (struct object_global *global = writer->first_global; global; global = global->next) {
        Elf64_Sym out = {.st_info =
                             ELF64_ST_INFO(global->needed ? STB_GLOBAL : STB_WEAK, global->type),
                         .st_other = global->other | global->visibility};
        if (global->strength == OBJECT_NONE && global->wanted && !global->target)
            global->index = add(writer, out, global->name, OBJECT_UNDEFINED);
    }
    assert(writer->symbol_count <= most);
    return !writer->error->set;
}
