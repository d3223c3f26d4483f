/* Objects that cannot be linked: mistakes of whoever asks, and bytes that no compiler makes. */
#include "tests/unit/object_harness.h"
#include "tests/unit/object_sources.h"

static void test_errors(void **state)
{
    (void)state;
    compile("e1", "int twice(void){return 1;}");
    compile("e2", "int twice(void){return 2;}");
    compile_with("cc -flto -fno-fat-lto-objects", "lto", "c", "int f(void){return 1;}");
    compile_with("cc -m32", "m32", "s", "nop\n");
    refuse("e1.o", "e2.o", "e2.o: 'twice' is already defined in ", "e1.o");
    refuse("lto.o", NULL, "LTO bytecode", "lto.o");
    refuse("m32.o", NULL, "m32.o: is not a 64-bit ELF object", NULL);
    refuse("e1.c", NULL, "e1.c: is not an ELF object", NULL);
    refuse("none.o", NULL, "cannot open", "none.o");
    assert_int_equal(
        shell("cc -shared -o e.so e1.o && cc -no-pie -nostdlib -Wl,-e,twice -o e.exe e1.o"), 0);
    refuse("e.so", NULL, "e.so: is a shared object", NULL);
    refuse("e.exe", NULL, "e.exe: is an executable", NULL);

    struct object_link *link = link_pair("e1.o", NULL);
    export(link, 0, "nothing", "x");
    fails_with(link, "no definition of 'nothing', which is to be exported as 'x'", NULL);
    link = link_pair("e1.o", NULL);
    export(link, 3, "twice", "x");
    fails_with(link, "no definition of 'twice'", NULL);
    link = link_pair("e1.o", NULL);
    assert_ok(link, object_link_keep(link, "twice"));
    fails_with(link, "'twice' is to be kept global, but is not exported", NULL);
    link = link_pair("e1.o", NULL);
    export(link, 0, "twice", "x");
    export(link, 0, "twice", "y");
    fails_with(link, "'twice' is exported both as 'x' and as 'y'", "e1.o");
    link = link_pair("e1.o", NULL);
    add(link, 1, "e2.o");
    export(link, 0, "twice", "x");
    export(link, 0, "twice", "x");
    export(link, 1, "twice", "x");
    fails_with(link, "e2.o: the exported name 'x' is already taken by 'twice' of", "e1.o");
    fails_with(object_link_new(), "nothing to link", NULL);
    link = object_link_new();
    assert_false(object_link_add(link, 0, "bad\nname", "", 0));
    assert_string_equal(object_link_error(link), "bad?name: is not an ELF object");
    object_link_free(link);

    assemble("t1", ".globl v\n.section .tdata,\"awT\",@progbits\n.type v,@object\nv: .long 1\n");
    assemble("t2", ".globl f\n.type f,@function\nf: ret\n.type v,@object\n.quad v\n");
    refuse("t1.o", "t2.o", "'v' is thread-local in one place and not in another", "t1.o");
    refuse("e1.c", NULL, "e1.c: is not an ELF object", NULL);
    refuse("none.o", NULL, "none.o", NULL);
}

/* Changes one field of a good object and expects a message. */
struct damage {
    const char *text;
    int section; /* -1: the file header */
    size_t offset, size;
    uint64_t value;
};

static void patch(unsigned char *bytes, const struct damage *damage)
{
    const Elf64_Ehdr *header = (const void *)bytes;
    unsigned char *at = bytes + damage->offset;
    if (damage->section >= 0)
        at += header->e_shoff + (size_t)damage->section * sizeof(Elf64_Shdr);
    for (size_t i = 0; i < damage->size; i++)
        at[i] = (unsigned char)(damage->value >> 8 * i);
}

static int find_section(const unsigned char *bytes, uint32_t type)
{
    const Elf64_Ehdr *header = (const void *)bytes;
    for (int i = 1; i < header->e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, bytes + header->e_shoff + (size_t)i * sizeof section, sizeof section);
        if (section.sh_type == type)
            return i;
    }
    fail_msg("no section of type %u", type);
    return 0;
}

static void expect_damage(const unsigned char *good, size_t size, const struct damage *damage)
{
    unsigned char *bytes = malloc(size);
    memcpy(bytes, good, size);
    patch(bytes, damage);
    struct object_link *link = object_link_new();
    if (object_link_add(link, 0, "bad.o", bytes, size))
        object_link_add(link, 0, "bad.o", bytes, size);
    fails_with(link, damage->text, "bad.o");
    free(bytes);
}

#define FIELD(member) offsetof(Elf64_Shdr, member), sizeof(((Elf64_Shdr *)0)->member)
#define HEADER(member) offsetof(Elf64_Ehdr, member), sizeof(((Elf64_Ehdr *)0)->member)

static void test_damage(void **state)
{
    (void)state;
    assemble("good", ".text\ncall x\n.bss\n.skip 8\n.data\n.quad x\n.quad .bss\n");
    size_t size;
    unsigned char *good = read_bytes("good.o", &size);
    int rela = find_section(good, SHT_RELA), symtab = find_section(good, SHT_SYMTAB),
        bss = find_section(good, SHT_NOBITS), text = find_section(good, SHT_PROGBITS);
    const struct damage cases[] = {
        {"beyond the end of the file", text, FIELD(sh_offset), UINT64_MAX - 1},
        {"beyond the end of the file", text, FIELD(sh_size), 1 << 20},
        {"is too large", text, FIELD(sh_size), UINT64_MAX},
        {"section '.bss' (index 5) is too large", bss, FIELD(sh_size), UINT64_C(1) << 41},
        {"no power of two", text, FIELD(sh_addralign), 3},
        {"alignment above 16 MiB", text, FIELD(sh_addralign), UINT64_C(1) << 63},
        {"overlaps another section", text, FIELD(sh_offset), 64 + 4},
        {"has a bad name", text, FIELD(sh_name), UINT32_MAX},
        {"links to no string table", symtab, FIELD(sh_link), 1},
        {"links to no string table", symtab, FIELD(sh_link), UINT32_MAX},
        {"bad number of local symbols", symtab, FIELD(sh_info), UINT32_MAX},
        {"bad number of local symbols", symtab, FIELD(sh_info), 0},
        {"wrong side of the border", symtab, FIELD(sh_info), 1},
        {"unknown size", symtab, FIELD(sh_entsize), 25},
        {"unknown size", symtab, FIELD(sh_size), 25},
        {"only RELA is supported", rela, FIELD(sh_type), SHT_REL},
        {"relocates a section that does not exist", rela, FIELD(sh_info), 1000},
        {"relocates a section that has no code or data", rela, FIELD(sh_info), (uint64_t)symtab},
        {"no contents", rela, FIELD(sh_info), (uint64_t)bss},
        {"does not refer to the symbol table", rela, FIELD(sh_link), 1},
        {"is compressed", text, FIELD(sh_flags), SHF_ALLOC | SHF_COMPRESSED},
        {"refers to another section by its sh_info", text, FIELD(sh_flags),
         SHF_ALLOC | SHF_INFO_LINK},
        {"needs special treatment by its operating system", text, FIELD(sh_flags),
         SHF_ALLOC | SHF_OS_NONCONFORMING},
        {"belongs in a linked file", text, FIELD(sh_type), SHT_DYNAMIC},
        {"belongs in a linked file", text, FIELD(sh_type), SHT_GNU_versym},
        {"holds relocations of an unsupported form", text, FIELD(sh_type), 19},
        {"is a string table of an unsupported kind", text, FIELD(sh_type), SHT_STRTAB},
        {"has an unknown ELF version", -1, EI_VERSION, 1, 9},
        {"has no sections", -1, HEADER(e_shoff), 0},
        {"is an executable, not", -1, HEADER(e_type), ET_EXEC},
        {"is a shared object or executable", -1, HEADER(e_type), ET_DYN},
        {"is a core dump, not", -1, HEADER(e_type), ET_CORE},
        {"not little-endian", -1, EI_DATA, 1, ELFDATA2MSB},
        {"is not a relocatable object", -1, HEADER(e_type), 77},
        {"section headers lie beyond", -1, HEADER(e_shnum), 0xfff0},
        {"section headers lie beyond", -1, HEADER(e_shoff), UINT64_MAX - 63},
        {"no table of section names", -1, HEADER(e_shstrndx), 1},
        {"headers of an unknown size", -1, HEADER(e_shentsize), 63},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_damage(good, size, &cases[i]);
    struct object_link *link = object_link_new();
    unsigned char *flags = malloc(size);
    memcpy(flags, good, size);
    patch(flags, &(struct damage){"", -1, HEADER(e_flags), 5});
    assert_ok(link, object_link_add(link, 0, "good.o", good, size));
    object_link_add(link, 0, "flags.o", flags, size);
    fails_with(link, "flags.o has ELF flags 0x5, but good.o has 0x0", NULL);
    free(flags);
    free(good);
}

/* The n-th section of a type, from 0. */
static int nth_section(const unsigned char *bytes, uint32_t type, int n)
{
    const Elf64_Ehdr *header = (const void *)bytes;
    for (int i = 1; i < header->e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, bytes + header->e_shoff + (size_t)i * sizeof section, sizeof section);
        if (section.sh_type == type && n-- == 0)
            return i;
    }
    fail_msg("not so many sections of type %u", type);
    return 0;
}

/* A change of a field, or of what is in the section, as `offset` is then. */
static void expect_table(const char *text, int section, size_t offset, size_t size, uint64_t value,
                         bool in_section)
{
    size_t count;
    unsigned char *bytes = read_bytes("tables.o", &count);
    struct damage damage = {text, section, offset, size, value};
    if (in_section) {
        const Elf64_Ehdr *header = (const void *)bytes;
        Elf64_Shdr shdr;
        memcpy(&shdr, bytes + header->e_shoff + (size_t)section * sizeof shdr, sizeof shdr);
        damage.section = -1;
        damage.offset += shdr.sh_offset;
    }
    expect_damage(bytes, count, &damage);
    free(bytes);
}

static void test_tables(void **state)
{
    (void)state;
    assemble("tables", ".text\ncall x\n.data\n.quad x\n.comm c,8,16\n"
                       ".section .a,\"aG\",@progbits,g,comdat\n.long 1\n"
                       ".section .b,\"aG\",@progbits,h,comdat\n.long 2\n");
    size_t size;
    unsigned char *good = read_bytes("tables.o", &size);
    int text = find_section(good, SHT_PROGBITS), symtab = find_section(good, SHT_SYMTAB);
    int rela = nth_section(good, SHT_RELA, 1), group = nth_section(good, SHT_GROUP, 1);
    int other = nth_section(good, SHT_GROUP, 0);
    uint32_t member;
    Elf64_Shdr shdr;
    const Elf64_Ehdr *header = (const void *)good;
    memcpy(&shdr, good + header->e_shoff + (size_t)other * sizeof shdr, sizeof shdr);
    memcpy(&member, good + shdr.sh_offset + 4, sizeof member);
    memcpy(&shdr, good + header->e_shoff + (size_t)symtab * sizeof shdr, sizeof shdr);
    size_t common = 0;
    for (size_t at = 0; at < shdr.sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, good + shdr.sh_offset + at, sizeof symbol);
        common = symbol.st_shndx == SHN_COMMON ? at : common;
    }
    /* Another one before it, with the same names. */
    struct damage link = {"", text, FIELD(sh_link), shdr.sh_link};
    patch(good, &link);
    struct damage second = {"is a second symbol table", text, FIELD(sh_type), SHT_SYMTAB};
    expect_damage(good, size, &second);
    free(good);
    expect_table("belongs to no symbol table", text, FIELD(sh_type), SHT_SYMTAB_SHNDX, false);
    expect_table("has two relocation sections", rela, FIELD(sh_info), (uint64_t)text, false);
    expect_table("is a member of two groups", group, 4, 4, member, true);
    expect_table("a member that does not exist", group, 4, 4, 1000, true);
    expect_table("a member that does not exist", group, 4, 4, 0, true);
    assert_true(common > 0);
    expect_table("has a bad alignment", symtab, common + offsetof(Elf64_Sym, st_value), 8, 3, true);
    expect_table("is too large", symtab, common + offsetof(Elf64_Sym, st_size), 8,
                 UINT64_C(1) << 41, true);

    write_bytes("bsd.a",
                "!<arch>\n#1/20           0           0     0     644     4         `\nname", 72);
    refuse("bsd.a", NULL, "BSD archives are not supported", "bsd.a(");
    write_bytes("symdef.a",
                "!<arch>\n__.SYMDEF       0           0     0     644     4         `\nname", 72);
    refuse("symdef.a", NULL, "BSD archives are not supported", "symdef.a(__.SYMDEF)");
}

/* Small inputs that ask for a large result. */
static void test_amplification(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = read_bytes("good.o", &size);
    int text = find_section(bytes, SHT_PROGBITS);
    patch(bytes, &(struct damage){"", text, FIELD(sh_addralign), 1 << 24});
    struct object_link *link = object_link_new();
    for (int i = 0; i < 6; i++)
        assert_ok(link, object_link_add(link, 0, "good.o", bytes, size));
    fails_with(link, "section '.text': the alignments of the inputs ask for more than 64 MiB",
               NULL);
    free(bytes);

    enum { COUNT = 3000, LENGTH = 20000 };
    FILE *file = fopen(path_of("names.s"), "w");
    for (int i = 0; i < COUNT; i++)
        fprintf(file, ".globl a%d\n", i);
    fprintf(file, ".long b%0*d\n", LENGTH, 0);
    fclose(file);
    assert_int_equal(shell("cc -c names.s -o names.o"), 0);
    bytes = read_bytes("names.o", &size);
    Elf64_Shdr symtab;
    const Elf64_Ehdr *header = (const void *)bytes;
    memcpy(&symtab, bytes + header->e_shoff + (size_t)find_section(bytes, SHT_SYMTAB) * 64, 64);
    Elf64_Sym *symbols = (void *)(bytes + symtab.sh_offset);
    size_t count = symtab.sh_size / sizeof *symbols;
    for (size_t i = symtab.sh_info; i + 1 < count; i++)
        symbols[i].st_name = symbols[count - 1].st_name;
    link = object_link_new();
    assert_false(object_link_add(link, 0, "names.o", bytes, size));
    fails_with(link, "names.o: symbol ", " has a bad name");
    free(bytes);
}

static void try_bytes(const unsigned char *bytes, size_t size)
{
    struct object_link *link = object_link_new();
    void *result;
    size_t result_size;
    if (object_link_add(link, 0, "hostile.o", bytes, size)) {
        if (object_link_bytes(link, &result, &result_size))
            mem_free(result);
    }
    object_link_free(link);
}

static void test_hostile(void **state)
{
    (void)state;
    static const char *const files[] = {"groups.o", "pair.a", "calls.o"};
    char text[1024];
    snprintf(text, sizeof text, group_source, 1, ".data\n.quad .Lf\n");
    assemble("groups", text);
    compile("calls", "int f(int); int g(int x){return f(x) + f(x + 1);}");
    assert_int_equal(shell("ar rc pair.a groups.o calls.o"), 0);
    uint64_t random = 88172645463325252;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        size_t size;
        unsigned char *good = read_bytes(files[f], &size);
        for (size_t length = 0; length < size; length++) {
            /* A block of its own, so that reading past its end is seen by a sanitizer. */
            unsigned char *cut = malloc(length + !length);
            memcpy(cut, good, length);
            struct object_link *link = object_link_new();
            if (length < 8 || f != 1)
                assert_false(object_link_add(link, 0, "cut.o", cut, length));
            else
                try_bytes(cut, length);
            object_link_free(link);
            free(cut);
        }
        for (int round = 0; round < 4000; round++) {
            unsigned char *bad = malloc(size);
            memcpy(bad, good, size);
            for (int flips = 1 + round % 4; flips > 0; flips--) {
                random ^= random << 13, random ^= random >> 7, random ^= random << 17;
                bad[(random >> 8) % size] ^= (unsigned char)(1 << (random & 7));
            }
            try_bytes(bad, size);
            free(bad);
        }
        free(good);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),  cmocka_unit_test(test_damage),
        cmocka_unit_test(test_tables),  cmocka_unit_test(test_amplification),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests_name("object_damage", tests, make_folder, remove_folder);
}
