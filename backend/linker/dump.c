#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backend/linker/internal.h"
#include "backend/linker/object.h"

/* Names of ELF numbers for the dump. Tables, in the order of the numbers. */

struct entry {
    uint32_t number;
    const char *name;
};

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define NAME(constant)                                                                             \
    {                                                                                              \
        constant, #constant                                                                        \
    }

static const char *find(const struct entry *table, size_t count, uint32_t number)
{
    for (size_t i = 0; i < count; i++)
        if (table[i].number == number)
            return table[i].name;
    return NULL;
}

const char *object_machine_name(uint16_t machine)
{
    static const struct entry names[] = {
        {EM_MIPS, "mips"},       {EM_PPC64, "ppc64"}, {EM_S390, "s390"}, {EM_X86_64, "x86_64"},
        {EM_AARCH64, "aarch64"}, {EM_RISCV, "riscv"}, {EM_BPF, "bpf"},   {258, "loongarch"},
    };
    return find(names, COUNT(names), machine);
}

static const char *object_section_type_name(uint32_t type)
{
    static const struct entry names[] = {
        {SHT_NULL, "null"},
        {SHT_PROGBITS, "progbits"},
        {SHT_SYMTAB, "symtab"},
        {SHT_STRTAB, "strtab"},
        {SHT_RELA, "rela"},
        {SHT_NOTE, "note"},
        {SHT_NOBITS, "nobits"},
        {SHT_REL, "rel"},
        {SHT_INIT_ARRAY, "init_array"},
        {SHT_FINI_ARRAY, "fini_array"},
        {SHT_PREINIT_ARRAY, "preinit_array"},
        {SHT_GROUP, "group"},
        {SHT_SYMTAB_SHNDX, "symtab_shndx"},
        {0x6fff4c03, "llvm_addrsig"},
        {SHT_GNU_ATTRIBUTES, "gnu_attributes"},
    };
    return find(names, COUNT(names), type);
}

static const char *object_binding_name(uint8_t binding)
{
    static const struct entry names[] = {
        {STB_LOCAL, "local"},
        {STB_GLOBAL, "global"},
        {STB_WEAK, "weak"},
        {STB_GNU_UNIQUE, "unique"},
    };
    return find(names, COUNT(names), binding);
}

static const char *object_symbol_type_name(uint8_t type)
{
    static const struct entry names[] = {
        {STT_NOTYPE, "notype"},   {STT_OBJECT, "object"},   {STT_FUNC, "func"},
        {STT_SECTION, "section"}, {STT_FILE, "file"},       {STT_COMMON, "common"},
        {STT_TLS, "tls"},         {STT_GNU_IFUNC, "ifunc"},
    };
    return find(names, COUNT(names), type);
}

/* Those of relocatable objects, not those that only loaders apply. */
static const struct entry x86_64_relocations[] = {
    NAME(R_X86_64_NONE),         NAME(R_X86_64_64),       NAME(R_X86_64_PC32),
    NAME(R_X86_64_GOT32),        NAME(R_X86_64_PLT32),    NAME(R_X86_64_GOTPCREL),
    NAME(R_X86_64_32),           NAME(R_X86_64_32S),      NAME(R_X86_64_16),
    NAME(R_X86_64_PC16),         NAME(R_X86_64_8),        NAME(R_X86_64_PC8),
    NAME(R_X86_64_DTPOFF64),     NAME(R_X86_64_TPOFF64),  NAME(R_X86_64_TLSGD),
    NAME(R_X86_64_TLSLD),        NAME(R_X86_64_DTPOFF32), NAME(R_X86_64_GOTTPOFF),
    NAME(R_X86_64_TPOFF32),      NAME(R_X86_64_PC64),     NAME(R_X86_64_GOTOFF64),
    NAME(R_X86_64_GOTPC32),      NAME(R_X86_64_GOT64),    NAME(R_X86_64_GOTPCREL64),
    NAME(R_X86_64_GOTPC64),      NAME(R_X86_64_GOTPLT64), NAME(R_X86_64_PLTOFF64),
    NAME(R_X86_64_SIZE32),       NAME(R_X86_64_SIZE64),   NAME(R_X86_64_GOTPC32_TLSDESC),
    NAME(R_X86_64_TLSDESC_CALL), NAME(R_X86_64_TLSDESC),  NAME(R_X86_64_GOTPCRELX),
    NAME(R_X86_64_REX_GOTPCRELX)};

static const struct entry aarch64_relocations[] = {NAME(R_AARCH64_NONE),
                                                   NAME(R_AARCH64_ABS64),
                                                   NAME(R_AARCH64_ABS32),
                                                   NAME(R_AARCH64_ABS16),
                                                   NAME(R_AARCH64_PREL64),
                                                   NAME(R_AARCH64_PREL32),
                                                   NAME(R_AARCH64_PREL16),
                                                   NAME(R_AARCH64_MOVW_UABS_G0),
                                                   NAME(R_AARCH64_MOVW_UABS_G0_NC),
                                                   NAME(R_AARCH64_MOVW_UABS_G1),
                                                   NAME(R_AARCH64_MOVW_UABS_G1_NC),
                                                   NAME(R_AARCH64_MOVW_UABS_G2),
                                                   NAME(R_AARCH64_MOVW_UABS_G2_NC),
                                                   NAME(R_AARCH64_MOVW_UABS_G3),
                                                   NAME(R_AARCH64_MOVW_SABS_G0),
                                                   NAME(R_AARCH64_MOVW_SABS_G1),
                                                   NAME(R_AARCH64_MOVW_SABS_G2),
                                                   NAME(R_AARCH64_LD_PREL_LO19),
                                                   NAME(R_AARCH64_ADR_PREL_LO21),
                                                   NAME(R_AARCH64_ADR_PREL_PG_HI21),
                                                   NAME(R_AARCH64_ADR_PREL_PG_HI21_NC),
                                                   NAME(R_AARCH64_ADD_ABS_LO12_NC),
                                                   NAME(R_AARCH64_LDST8_ABS_LO12_NC),
                                                   NAME(R_AARCH64_TSTBR14),
                                                   NAME(R_AARCH64_CONDBR19),
                                                   NAME(R_AARCH64_JUMP26),
                                                   NAME(R_AARCH64_CALL26),
                                                   NAME(R_AARCH64_LDST16_ABS_LO12_NC),
                                                   NAME(R_AARCH64_LDST32_ABS_LO12_NC),
                                                   NAME(R_AARCH64_LDST64_ABS_LO12_NC),
                                                   NAME(R_AARCH64_MOVW_PREL_G0),
                                                   NAME(R_AARCH64_MOVW_PREL_G0_NC),
                                                   NAME(R_AARCH64_MOVW_PREL_G1),
                                                   NAME(R_AARCH64_MOVW_PREL_G1_NC),
                                                   NAME(R_AARCH64_MOVW_PREL_G2),
                                                   NAME(R_AARCH64_MOVW_PREL_G2_NC),
                                                   NAME(R_AARCH64_MOVW_PREL_G3),
                                                   NAME(R_AARCH64_LDST128_ABS_LO12_NC),
                                                   NAME(R_AARCH64_MOVW_GOTOFF_G0),
                                                   NAME(R_AARCH64_MOVW_GOTOFF_G0_NC),
                                                   NAME(R_AARCH64_MOVW_GOTOFF_G1),
                                                   NAME(R_AARCH64_MOVW_GOTOFF_G1_NC),
                                                   NAME(R_AARCH64_MOVW_GOTOFF_G2),
                                                   NAME(R_AARCH64_MOVW_GOTOFF_G2_NC),
                                                   NAME(R_AARCH64_MOVW_GOTOFF_G3),
                                                   NAME(R_AARCH64_GOTREL64),
                                                   NAME(R_AARCH64_GOTREL32),
                                                   NAME(R_AARCH64_GOT_LD_PREL19),
                                                   NAME(R_AARCH64_LD64_GOTOFF_LO15),
                                                   NAME(R_AARCH64_ADR_GOT_PAGE),
                                                   NAME(R_AARCH64_LD64_GOT_LO12_NC),
                                                   NAME(R_AARCH64_LD64_GOTPAGE_LO15),
                                                   NAME(R_AARCH64_TLSGD_ADR_PREL21),
                                                   NAME(R_AARCH64_TLSGD_ADR_PAGE21),
                                                   NAME(R_AARCH64_TLSGD_ADD_LO12_NC),
                                                   NAME(R_AARCH64_TLSGD_MOVW_G1),
                                                   NAME(R_AARCH64_TLSGD_MOVW_G0_NC),
                                                   NAME(R_AARCH64_TLSLD_ADR_PREL21),
                                                   NAME(R_AARCH64_TLSLD_ADR_PAGE21),
                                                   NAME(R_AARCH64_TLSLD_ADD_LO12_NC),
                                                   NAME(R_AARCH64_TLSLD_MOVW_G1),
                                                   NAME(R_AARCH64_TLSLD_MOVW_G0_NC),
                                                   NAME(R_AARCH64_TLSLD_LD_PREL19),
                                                   NAME(R_AARCH64_TLSLD_MOVW_DTPREL_G2),
                                                   NAME(R_AARCH64_TLSLD_MOVW_DTPREL_G1),
                                                   NAME(R_AARCH64_TLSLD_MOVW_DTPREL_G1_NC),
                                                   NAME(R_AARCH64_TLSLD_MOVW_DTPREL_G0),
                                                   NAME(R_AARCH64_TLSLD_MOVW_DTPREL_G0_NC),
                                                   NAME(R_AARCH64_TLSLD_ADD_DTPREL_HI12),
                                                   NAME(R_AARCH64_TLSLD_ADD_DTPREL_LO12),
                                                   NAME(R_AARCH64_TLSLD_ADD_DTPREL_LO12_NC),
                                                   NAME(R_AARCH64_TLSLD_LDST8_DTPREL_LO12),
                                                   NAME(R_AARCH64_TLSLD_LDST8_DTPREL_LO12_NC),
                                                   NAME(R_AARCH64_TLSLD_LDST16_DTPREL_LO12),
                                                   NAME(R_AARCH64_TLSLD_LDST16_DTPREL_LO12_NC),
                                                   NAME(R_AARCH64_TLSLD_LDST32_DTPREL_LO12),
                                                   NAME(R_AARCH64_TLSLD_LDST32_DTPREL_LO12_NC),
                                                   NAME(R_AARCH64_TLSLD_LDST64_DTPREL_LO12),
                                                   NAME(R_AARCH64_TLSLD_LDST64_DTPREL_LO12_NC),
                                                   NAME(R_AARCH64_TLSIE_MOVW_GOTTPREL_G1),
                                                   NAME(R_AARCH64_TLSIE_MOVW_GOTTPREL_G0_NC),
                                                   NAME(R_AARCH64_TLSIE_ADR_GOTTPREL_PAGE21),
                                                   NAME(R_AARCH64_TLSIE_LD64_GOTTPREL_LO12_NC),
                                                   NAME(R_AARCH64_TLSIE_LD_GOTTPREL_PREL19),
                                                   NAME(R_AARCH64_TLSLE_MOVW_TPREL_G2),
                                                   NAME(R_AARCH64_TLSLE_MOVW_TPREL_G1),
                                                   NAME(R_AARCH64_TLSLE_MOVW_TPREL_G1_NC),
                                                   NAME(R_AARCH64_TLSLE_MOVW_TPREL_G0),
                                                   NAME(R_AARCH64_TLSLE_MOVW_TPREL_G0_NC),
                                                   NAME(R_AARCH64_TLSLE_ADD_TPREL_HI12),
                                                   NAME(R_AARCH64_TLSLE_ADD_TPREL_LO12),
                                                   NAME(R_AARCH64_TLSLE_ADD_TPREL_LO12_NC),
                                                   NAME(R_AARCH64_TLSLE_LDST8_TPREL_LO12),
                                                   NAME(R_AARCH64_TLSLE_LDST8_TPREL_LO12_NC),
                                                   NAME(R_AARCH64_TLSLE_LDST16_TPREL_LO12),
                                                   NAME(R_AARCH64_TLSLE_LDST16_TPREL_LO12_NC),
                                                   NAME(R_AARCH64_TLSLE_LDST32_TPREL_LO12),
                                                   NAME(R_AARCH64_TLSLE_LDST32_TPREL_LO12_NC),
                                                   NAME(R_AARCH64_TLSLE_LDST64_TPREL_LO12),
                                                   NAME(R_AARCH64_TLSLE_LDST64_TPREL_LO12_NC),
                                                   NAME(R_AARCH64_TLSDESC_LD_PREL19),
                                                   NAME(R_AARCH64_TLSDESC_ADR_PREL21),
                                                   NAME(R_AARCH64_TLSDESC_ADR_PAGE21),
                                                   NAME(R_AARCH64_TLSDESC_LD64_LO12),
                                                   NAME(R_AARCH64_TLSDESC_ADD_LO12),
                                                   NAME(R_AARCH64_TLSDESC_OFF_G1),
                                                   NAME(R_AARCH64_TLSDESC_OFF_G0_NC),
                                                   NAME(R_AARCH64_TLSDESC_LDR),
                                                   NAME(R_AARCH64_TLSDESC_ADD),
                                                   NAME(R_AARCH64_TLSDESC_CALL),
                                                   NAME(R_AARCH64_TLSLE_LDST128_TPREL_LO12),
                                                   NAME(R_AARCH64_TLSLE_LDST128_TPREL_LO12_NC),
                                                   NAME(R_AARCH64_TLSLD_LDST128_DTPREL_LO12),
                                                   NAME(R_AARCH64_TLSLD_LDST128_DTPREL_LO12_NC)};

const char *object_relocation_name(uint16_t machine, uint32_t type)
{
    switch (machine) {
    case EM_X86_64: return find(x86_64_relocations, COUNT(x86_64_relocations), type);
    case EM_AARCH64: return find(aarch64_relocations, COUNT(aarch64_relocations), type);
    }
    return NULL;
}

/* The text form of an object. */

/* A name as one word: bytes that would break the line apart become \xNN, no name is "-". */
static void print_name(FILE *out, const char *name)
{
    if (!*name)
        fputc('-', out);
    for (const unsigned char *p = (const unsigned char *)name; *p; p++) {
        if (*p <= ' ' || *p == 0x7f || *p == '\\')
            fprintf(out, "\\x%02x", *p);
        else
            fputc(*p, out);
    }
}

static void print_flags(FILE *out, uint64_t flags)
{
    static const struct {
        uint64_t flag;
        char letter;
    } letters[] = {
        {SHF_WRITE, 'W'},   {SHF_ALLOC, 'A'},      {SHF_EXECINSTR, 'X'},  {SHF_MERGE, 'M'},
        {SHF_STRINGS, 'S'}, {SHF_INFO_LINK, 'I'},  {SHF_LINK_ORDER, 'L'}, {SHF_GROUP, 'G'},
        {SHF_TLS, 'T'},     {SHF_COMPRESSED, 'C'}, {1 << 21, 'R'},        {UINT64_C(1) << 31, 'E'},
    };
    bool any = false;
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        if (!(flags & letters[i].flag))
            continue;
        fputc(letters[i].letter, out);
        flags &= ~letters[i].flag;
        any = true;
    }
    if (flags)
        fprintf(out, "%s0x%" PRIx64, any ? "+" : "", flags);
    else if (!any)
        fputc('-', out);
}

/* A name from a table, or the number where the table has none. */
static void print_word(FILE *out, const char *name, uint32_t number)
{
    if (name)
        fprintf(out, " %s", name);
    else
        fprintf(out, " 0x%" PRIx32, number);
}

static void print_sections(FILE *out, const struct object_input *input)
{
    fprintf(out, "\nsections: index name type flags size align\n");
    for (uint32_t i = 1; i < input->section_count; i++) {
        const struct object_section *section = &input->sections[i];
        fprintf(out, "  %" PRIu32 " ", i);
        print_name(out, section->name);
        print_word(out, object_section_type_name(section->type), section->type);
        fputc(' ', out);
        print_flags(out, section->flags);
        fprintf(out, " 0x%" PRIx64 " %" PRIu64 "\n", section->size, section->align);
    }
}

/* A section's symbol goes by the section's name. */
static const char *symbol_name(const struct object_input *input, const struct object_symbol *symbol)
{
    const struct object_section *section = object_symbol_section(input, symbol);
    return symbol->type == STT_SECTION && section ? section->name : symbol->name;
}

static void print_symbols(FILE *out, const struct object_input *input)
{
    if (input->symbol_count > 1)
        fprintf(out, "\nsymbols: name binding type section value size\n");
    for (uint32_t i = 1; i < input->symbol_count; i++) {
        const struct object_symbol *symbol = &input->symbols[i];
        static const char *const visibilities[] = {"", " internal", " hidden", " protected"};
        fputs("  ", out);
        print_name(out, symbol_name(input, symbol));
        print_word(out, object_binding_name(symbol->binding), symbol->binding);
        print_word(out, object_symbol_type_name(symbol->type), symbol->type);
        fputc(' ', out);
        switch (symbol->section) {
        case OBJECT_UNDEFINED: fputs("undefined", out); break;
        case OBJECT_ABSOLUTE: fputs("absolute", out); break;
        case OBJECT_COMMON: fputs("common", out); break;
        default: print_name(out, input->sections[symbol->section].name);
        }
        fprintf(out, " 0x%" PRIx64 " %" PRIu64 "%s\n", symbol->value, symbol->size,
                visibilities[ELF64_ST_VISIBILITY(symbol->other)]);
    }
}

static void print_relocations(FILE *out, const struct object_input *input)
{
    bool any = false;
    for (uint32_t i = 1; i < input->section_count; i++) {
        const struct object_section *section = &input->sections[i];
        for (size_t k = 0; k < section->relocation_count; k++) {
            const struct object_relocation *relocation = &section->relocations[k];
            if (!any)
                fprintf(out, "\nrelocations: section+offset type symbol addend\n");
            any = true;
            fputs("  ", out);
            print_name(out, section->name);
            fprintf(out, "+0x%" PRIx64, relocation->offset);
            print_word(out, object_relocation_name(input->machine, relocation->type),
                       relocation->type);
            fputc(' ', out);
            print_name(out, symbol_name(input, &input->symbols[relocation->symbol]));
            bool negative = relocation->addend >> 63;
            fprintf(out, " %s0x%" PRIx64 "\n", negative ? "-" : "",
                    negative ? -relocation->addend : relocation->addend);
        }
    }
}

static void dump_input(FILE *out, const struct object_input *input, const char *member)
{
    if (*member) {
        print_name(out, member);
        fputs(": ", out);
    }
    const char *machine = object_machine_name(input->machine);
    if (machine)
        fputs(machine, out);
    else
        fprintf(out, "machine %u", input->machine);
    uint32_t count = input->section_count - 1;
    fprintf(out, " relocatable, %" PRIu32 " section%s", count, count == 1 ? "" : "s");
    if (input->version != EV_CURRENT)
        fprintf(out, ", version 0x%" PRIx32, input->version);
    fputc('\n', out);
    print_sections(out, input);
    print_symbols(out, input);
    print_relocations(out, input);
}

bool object_dump(const char *path, FILE *out, char *error, size_t error_size)
{
    struct object_error failure = {.set = false};
    struct object_arena arena = {.error = &failure};
    struct object_input *first = NULL;
    bool ok = object_read_file(&arena, path, &first);
    for (const struct object_input *input = first; ok && input; input = input->next) {
        if (input != first)
            fputc('\n', out);
        dump_input(out, input, input->name + strlen(path));
    }
    arena_free(&arena.memory);
    if (!ok)
        snprintf(error, error_size, "%s", failure.text);
    return ok;
}
