/* The result of a link: its relocations, the layout of the file, and its bytes: header, contents of
 * the sections, their relocations, symbols, strings, section headers. libelf encodes all tables. */
#include <assert.h>
#include <libelf.h>
#include <string.h>

#include "backend/linker/internal.h"
#include "backend/linker/object.h"

struct file {
    Elf64_Shdr *headers;
    uint32_t count, symtab, names;
    Elf64_Rela **relocations; /* by index of the relocated section */
    struct object_strings section_names;
    uint64_t size;
    unsigned char *bytes;
};

/* ---- relocations ---- */

/* A reference to a place in a section, by way of the output's section symbol. */
static bool relocate_place(const struct object_section *section, uint64_t place, Elf64_Rela *to)
{
    if (section->frame && !object_frame_move(section->frame, &place))
        return false;
    to->r_info |= ELF64_R_INFO((uint64_t)section->output->symbol, 0);
    to->r_addend = (int64_t)(section->offset + place);
    return true;
}

static bool relocate_local(const struct object_section *from, const struct object_symbol *symbol,
                           Elf64_Rela *to)
{
    const struct object_section *home = object_symbol_section(from->input, symbol);
    uint64_t place = symbol->value + (uint64_t)to->r_addend;
    if (!home || (home->output && symbol->type != STT_SECTION)) {
        to->r_info |= ELF64_R_INFO((uint64_t)symbol->index, 0);
        return symbol->index != 0;
    }
    if (home->output)
        return relocate_place(home, place, to);
    /* Code may go on to the kept copy of what it was compiled with, if they look the same. */
    const struct object_section *kept = home->kept;
    if (!(from->flags & SHF_ALLOC) || !kept || !kept->output || kept->size != home->size)
        return false;
    return relocate_place(kept, place, to);
}

static bool relocate(struct object_writer *writer, const struct object_section *section,
                     const struct object_relocation *from, Elf64_Rela *to)
{
    const struct object_input *input = section->input;
    const struct object_symbol *symbol = &input->symbols[from->symbol];
    *to = (Elf64_Rela){.r_info = ELF64_R_INFO(0, (uint64_t)from->type),
                       .r_addend = (int64_t)from->addend};
    if (symbol->global) {
        uint32_t index = object_global_final(symbol->global)->index;
        to->r_info |= ELF64_R_INFO((uint64_t)index, 0);
        if (index != 0)
            return true;
    } else if (from->symbol == 0 || relocate_local(section, symbol, to)) {
        return true;
    }
    const struct object_section *home = object_symbol_section(input, symbol);
    if (section->flags & SHF_ALLOC)
        return object_fail(writer->error,
                           "%.300s: section '%.200s' refers to '%.200s', which is not in the "
                           "result",
                           input->name, section->name,
                           symbol->type == STT_SECTION && home ? home->name : symbol->name);
    /* Debug sections name functions that were discarded with their group. Their entries become
     * empty: address 0, or 1 in the range lists, where a pair of zeros would end the list. As ld
     * has it, nothing is relocated there (type 0 of all machines): some linkers take no other type
     * without a symbol. The addend is for write_sections. */
    bool list =
        strcmp(section->name, ".debug_ranges") == 0 || strcmp(section->name, ".debug_loc") == 0;
    *to = (Elf64_Rela){.r_addend = list};
    return true;
}

static bool relocate_section(struct object_writer *writer, const struct object_section *section,
                             Elf64_Rela *table, uint64_t *count)
{
    for (size_t i = 0; i < section->relocation_count; i++) {
        const struct object_relocation *from = &section->relocations[i];
        uint64_t offset = from->offset;
        if (section->frame && !object_frame_move(section->frame, &offset))
            continue;
        Elf64_Rela *to = &table[(*count)++];
        if (!relocate(writer, section, from, to))
            return false;
        to->r_offset = section->offset + offset;
    }
    return true;
}

static bool build_relocations(struct object_writer *writer, struct file *file)
{
    file->relocations =
        object_alloc(&writer->arena, writer->output_count + 1, sizeof *file->relocations);
    for (struct object_output *output = writer->first_output; output; output = output->next) {
        /* Until here the count is that of the inputs; relocations of dropped records are less. */
        uint64_t most = output->relocation_count;
        Elf64_Rela *table = object_alloc(&writer->arena, most, sizeof *table);
        file->relocations[output->index] = table;
        output->relocation_count = 0;
        for (const struct object_section *i = output->first; i; i = i->next)
            if (!relocate_section(writer, i, table, &output->relocation_count))
                return false;
        assert(output->relocation_count <= most);
    }
    return true;
}

/* ---- layout ---- */

static Elf64_Shdr *add_header(struct object_writer *writer, struct file *file, const char *name,
                              Elf64_Shdr header)
{
    header.sh_name = object_strings_add(&file->section_names, writer->error, name);
    file->headers[file->count] = header;
    return &file->headers[file->count++];
}

static void add_contents(struct object_writer *writer, struct file *file)
{
    add_header(writer, file, "", (Elf64_Shdr){0});
    for (struct object_output *output = writer->first_output; output; output = output->next)
        add_header(writer, file, output->name,
                   (Elf64_Shdr){.sh_type = output->type,
                                .sh_flags = output->flags,
                                .sh_size = output->size,
                                .sh_link = output->linked ? output->linked->index : 0,
                                .sh_addralign = output->align,
                                .sh_entsize = output->entsize});
}

static void add_relocations(struct object_writer *writer, struct file *file, uint32_t tables)
{
    for (struct object_output *output = writer->first_output; output; output = output->next) {
        if (output->relocation_count == 0)
            continue;
        char *name = arena_printf(&writer->arena.memory, ".rela%s", output->name);
        add_header(writer, file, name,
                   (Elf64_Shdr){.sh_type = SHT_RELA,
                                .sh_flags = SHF_INFO_LINK,
                                .sh_size = output->relocation_count * sizeof(Elf64_Rela),
                                .sh_link = writer->output_count + 1 + tables,
                                .sh_info = output->index,
                                .sh_addralign = 8,
                                .sh_entsize = sizeof(Elf64_Rela)});
    }
}

static void add_tables(struct object_writer *writer, struct file *file)
{
    bool extended = writer->output_count >= SHN_LORESERVE;
    file->symtab = file->count;
    add_header(writer, file, ".symtab",
               (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                            .sh_size = writer->symbol_count * sizeof(Elf64_Sym),
                            .sh_link = file->symtab + 1 + extended,
                            .sh_info = writer->local_count,
                            .sh_addralign = 8,
                            .sh_entsize = sizeof(Elf64_Sym)});
    if (extended)
        add_header(writer, file, ".symtab_shndx",
                   (Elf64_Shdr){.sh_type = SHT_SYMTAB_SHNDX,
                                .sh_size = writer->symbol_count * sizeof(uint32_t),
                                .sh_link = file->symtab,
                                .sh_addralign = 4,
                                .sh_entsize = 4});
    add_header(writer, file, ".strtab",
               (Elf64_Shdr){
                   .sh_type = SHT_STRTAB, .sh_size = writer->names.bytes.size, .sh_addralign = 1});
    file->names = file->count;
    Elf64_Shdr *names = add_header(writer, file, ".shstrtab",
                                   (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_addralign = 1});
    names->sh_size = file->section_names.bytes.size;
}

/* In a relocatable file nothing asks for more than the alignment of the tables; content gets up
 * to a cache line, so that large alignments do not blow up the file. */
static bool assign_offsets(struct object_writer *writer, struct file *file)
{
    file->size = sizeof(Elf64_Ehdr);
    for (uint32_t i = 1; i < file->count; i++) {
        Elf64_Shdr *header = &file->headers[i];
        uint64_t align = header->sh_addralign < 64 ? header->sh_addralign : 64;
        file->size = (file->size + align - 1) & ~(align - 1);
        header->sh_offset = file->size;
        if (header->sh_type != SHT_NOBITS)
            file->size += header->sh_size;
        if (file->size > OBJECT_MAX_SECTION)
            return object_fail(writer->error, "the result is too large");
    }
    file->size = (file->size + 7) & ~UINT64_C(7);
    return true;
}

static bool layout(struct object_writer *writer, struct file *file)
{
    uint32_t relocated = 0;
    for (struct object_output *output = writer->first_output; output; output = output->next)
        relocated += output->relocation_count > 0;
    uint64_t most = (uint64_t)writer->output_count + relocated + 5;
    if (most >= OBJECT_COMMON)
        return object_fail(writer->error, "the result has too many sections");
    file->headers = object_alloc(&writer->arena, most, sizeof *file->headers);
    add_contents(writer, file);
    add_relocations(writer, file, relocated);
    add_tables(writer, file);
    assert(file->count <= most);
    return !writer->error->set && assign_offsets(writer, file);
}

/* ---- bytes ---- */

/* libelf refuses nothing here: it allocates nothing, and the sizes are those of whole entries. */
static void encode(unsigned char *to, const void *from, size_t size, Elf_Type type)
{
    Elf_Data source = {
        .d_buf = (void *)from, .d_type = type, .d_version = EV_CURRENT, .d_size = size};
    Elf_Data target = {.d_buf = to, .d_type = type, .d_version = EV_CURRENT, .d_size = size};
    bool encoded = size == 0 || elf64_xlatetof(&target, &source, ELFDATA2LSB);
    assert(encoded);
    (void)encoded;
}

/* Gaps between functions hold instructions that do nothing: .init and .fini run through them. */
static void fill_code(unsigned char *to, uint64_t size, uint16_t machine)
{
    static const struct {
        uint16_t machine;
        unsigned char bytes[4];
    } fillers[] = {
        {EM_X86_64, {0x90, 0x90, 0x90, 0x90}},
        {EM_AARCH64, {0x1f, 0x20, 0x03, 0xd5}},
    };
    for (size_t i = 0; i < sizeof fillers / sizeof *fillers; i++)
        for (uint64_t k = 0; fillers[i].machine == machine && k < size; k++)
            to[k] = fillers[i].bytes[k % 4];
}

static void write_content(const struct object_output *output, unsigned char *to, uint16_t machine)
{
    if (output->flags & SHF_EXECINSTR)
        fill_code(to, output->size, machine);
    for (const struct object_section *section = output->first; section; section = section->next) {
        assert(section->offset + (section->frame ? section->frame->size + section->frame->padding
                                                 : section->size) <=
               output->size);
        if (section->frame)
            object_frame_copy(section, to + section->offset);
        else if (section->size > 0)
            memcpy(to + section->offset, section->data, section->size);
    }
}

static void write_sections(struct object_writer *writer, struct file *file)
{
    uint16_t machine = writer->link->first_input->machine;
    uint32_t table = writer->output_count + 1;
    for (struct object_output *output = writer->first_output; output; output = output->next) {
        if (output->type != SHT_NOBITS)
            write_content(output, file->bytes + file->headers[output->index].sh_offset, machine);
        if (output->relocation_count == 0)
            continue;
        const Elf64_Shdr *header = &file->headers[table++];
        assert(header->sh_type == SHT_RELA && header->sh_info == output->index);
        const Elf64_Shdr *relocated = &file->headers[output->index];
        const Elf64_Rela *rows = file->relocations[output->index];
        /* The 1 of an empty entry in a list is in the section. */
        for (uint64_t i = 0; i < output->relocation_count && output->type != SHT_NOBITS; i++)
            if (rows[i].r_info == 0 && rows[i].r_addend == 1 &&
                rows[i].r_offset < relocated->sh_size)
                file->bytes[relocated->sh_offset + rows[i].r_offset] = 1;
        encode(file->bytes + header->sh_offset, rows, header->sh_size, ELF_T_RELA);
    }
}

static void write_tables(struct object_writer *writer, struct file *file)
{
    const Elf64_Shdr *header = &file->headers[file->symtab];
    encode(file->bytes + header->sh_offset, writer->symbols, header->sh_size, ELF_T_SYM);
    header++;
    if (header->sh_type == SHT_SYMTAB_SHNDX) {
        /* Only symbols whose index does not fit their own field have one in this table. */
        for (uint32_t i = 0; i < writer->symbol_count; i++)
            if (writer->symbols[i].st_shndx != SHN_XINDEX)
                writer->symbol_sections[i] = 0;
        encode(file->bytes + header->sh_offset, writer->symbol_sections, header->sh_size,
               ELF_T_WORD);
        header++;
    }
    assert(header->sh_size == writer->names.bytes.size);
    memcpy(file->bytes + header->sh_offset, writer->names.bytes.at, header->sh_size);
    header++;
    assert(header->sh_size == file->section_names.bytes.size);
    memcpy(file->bytes + header->sh_offset, file->section_names.bytes.at, header->sh_size);
}

/* Counts that do not fit the file header are in the null section's header (generic ABI). */
static void write_headers(struct object_writer *writer, struct file *file)
{
    enum { STACK_MAGIC = 0x5a5a };
    const struct object_input *first = writer->link->first_input;
    /* The versions of NPU objects have, after a magic number, the stack that their code needs, and
     * loaders go by it: larger numbers are larger stacks, and all of them are larger than the plain
     * version. */
    uint32_t version = EV_CURRENT;
    for (const struct object_input *input = first; input; input = input->next)
        if (input->version >> 16 == STACK_MAGIC && input->version > version)
            version = input->version;
    Elf64_Ehdr header = {
        .e_type = ET_REL,
        .e_machine = first->machine,
        .e_version = version,
        .e_flags = first->flags,
        .e_ehsize = sizeof(Elf64_Ehdr),
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shoff = file->size,
        .e_shnum = file->count < SHN_LORESERVE ? (uint16_t)file->count : 0,
        .e_shstrndx = file->names < SHN_LORESERVE ? (uint16_t)file->names : SHN_XINDEX,
    };
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_ident[EI_OSABI] = writer->link->gnu_abi ? ELFOSABI_GNU : first->abi;
    header.e_ident[EI_ABIVERSION] = first->abi_version;
    file->headers[0].sh_size = header.e_shnum ? 0 : file->count;
    file->headers[0].sh_link = header.e_shstrndx == SHN_XINDEX ? file->names : 0;
    encode(file->bytes, &header, sizeof header, ELF_T_EHDR);
    encode(file->bytes + file->size, file->headers, file->count * sizeof *file->headers,
           ELF_T_SHDR);
}

/* ---- the whole ---- */

static void writer_begin(struct object_writer *writer, struct object_link *link)
{
    *writer = (struct object_writer){
        .arena = {.error = &link->error}, .error = &link->error, .link = link};
    writer->global_tail = &writer->first_global;
    writer->output_tail = &writer->first_output;
    object_sort_inputs(link);
    /* Nothing is left of an earlier write of the same link. */
    for (struct object_input *input = link->first_input; input; input = input->next) {
        for (uint32_t i = 0; i < input->section_count; i++) {
            struct object_section *section = &input->sections[i];
            section->discarded = section->copied = section->shared = false;
            section->kept = section->next = NULL;
            section->frame = NULL;
            section->output = NULL;
        }
        for (uint32_t i = 0; i < input->symbol_count; i++) {
            input->symbols[i].index = 0;
            input->symbols[i].global = NULL;
        }
    }
}

static void writer_end(struct object_writer *writer)
{
    object_map_free(&writer->globals);
    object_map_free(&writer->exports);
    object_map_free(&writer->undefined);
    object_map_free(&writer->output_map);
    object_strings_free(&writer->names);
    arena_free(&writer->arena.memory);
}

bool object_write(struct object_link *link, void **bytes, size_t *size)
{
    struct object_writer writer;
    struct file file = {0};
    writer_begin(&writer, link);
    bool ok = object_resolve(&writer) && object_place(&writer) && object_symbols_build(&writer) &&
              build_relocations(&writer, &file) && layout(&writer, &file);
    if (ok) {
        *size = file.size + file.count * sizeof *file.headers;
        *bytes = file.bytes = mem_calloc(1, *size);
        write_sections(&writer, &file);
        write_tables(&writer, &file);
        write_headers(&writer, &file);
    }
    object_strings_free(&file.section_names);
    writer_end(&writer);
    assert(ok == !link->error.set);
    return ok;
}

bool object_link_undefined(struct object_link *link, object_undefined_visit *visit, void *user)
{
    struct object_writer writer;
    if (link->error.set)
        return false;
    writer_begin(&writer, link);
    bool ok = object_resolve(&writer);
    for (struct object_global *global = writer.first_global; ok && global; global = global->next)
        if (global->strength == OBJECT_NONE && global->needed && !global->target)
            visit(user, global->input->group, global->name);
    writer_end(&writer);
    return ok;
}
