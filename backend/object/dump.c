/* The text form of an object. */
#include "backend/object/object.h"

#include "backend/object/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct dumper {
    struct object_visitor visitor;
    FILE *out;
    bool later; /* something was printed already */
};

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

static void print_symbol_section(FILE *out, const struct object_input *input,
                                 const struct object_symbol *symbol)
{
    switch (symbol->section) {
    case OBJECT_UNDEFINED: fputs("undefined", out); break;
    case OBJECT_ABSOLUTE: fputs("absolute", out); break;
    case OBJECT_COMMON: fputs("common", out); break;
    default: print_name(out, input->sections[symbol->section].name);
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
        print_symbol_section(out, input, symbol);
        fprintf(out, " 0x%" PRIx64 " %" PRIu64 "%s\n", symbol->value, symbol->size,
                visibilities[ELF64_ST_VISIBILITY(symbol->other)]);
    }
}

static void print_addend(FILE *out, uint64_t addend)
{
    if (addend >> 63)
        fprintf(out, " -0x%" PRIx64 "\n", -addend);
    else
        fprintf(out, " 0x%" PRIx64 "\n", addend);
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
            print_addend(out, relocation->addend);
        }
    }
}

static bool dump_input(struct object_visitor *visitor, struct object_input *input,
                       const char *member)
{
    struct dumper *dumper = (struct dumper *)visitor;
    FILE *out = dumper->out;
    if (dumper->later)
        fputc('\n', out);
    dumper->later = true;
    if (member) {
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
    return true;
}

bool object_dump(const char *path, FILE *out, char *error, size_t error_size)
{
    struct object_error failure = {.set = false};
    struct object_arena arena = {.error = &failure};
    struct dumper dumper = {{dump_input}, out, false};
    bool ok = object_read_file(&arena, path, &dumper.visitor);
    object_arena_free(&arena);
    if (!ok)
        snprintf(error, error_size, "%s", failure.text);
    return ok;
}
