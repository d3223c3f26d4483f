#define _GNU_SOURCE /* memmem */
/* Objects with compressed sections, and with bytecode in the place of code. */
#include "tests/unit/object_harness.h"

/* Assembles `name`.s to `to` with debug sections that are compressed in one way. */
static void assemble_packed(const char *name, const char *how, const char *to)
{
    if (shell("cc -c -Wa,--compress-debug-sections=%s %s.s -o %s", how, name, to) != 0)
        fail_msg("cannot assemble %s", name);
}

/* A function with debug sections that are large enough to be compressed, and have relocations
 * beyond what they take when they are. */
static void make_source(const char *name)
{
    char text[8192] = ".text\n.globl f\n.type f,@function\nf:\tret\n.size f,.-f\n"
                      ".section .debug_info,\"\",@progbits\n";
    for (int i = 0; i < 200; i++)
        strcat(text, "\t.quad f\n\t.long 7\n");
    strcat(text, ".section .debug_str,\"MS\",@progbits,1\n");
    for (int i = 0; i < 50; i++)
        strcat(text, "\t.string \"a name of something\"\n");
    char file[64];
    snprintf(file, sizeof file, "%s.s", name);
    write_bytes(file, text, strlen(text));
}

static bool is_packed(const char *name)
{
    size_t size;
    unsigned char *bytes = read_bytes(name, &size);
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    bool packed = memmem(bytes, size, ".zdebug_info", 12) != NULL;
    for (int i = 1; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, bytes + header.e_shoff + (size_t)i * sizeof section, sizeof section);
        packed |= (section.sh_flags & SHF_COMPRESSED) != 0;
    }
    free(bytes);
    return packed;
}

static unsigned char *linked(const char *name, size_t *size)
{
    void *bytes;
    struct object_link *link = link_pair(name, NULL);
    export(link, 0, "f", "f");
    assert_ok(link, object_link_keep(link, "f"));
    assert_ok(link, object_link_bytes(link, &bytes, size));
    object_link_free(link);
    return bytes;
}

static void test_unpacked(void **state)
{
    (void)state;
    static const char *const ways[] = {"zlib", "zlib-gnu"};
    size_t plain_size, size;
    make_source("p");
    assemble_packed("p", "none", "plain.o");
    unsigned char *plain = linked("plain.o", &plain_size);
    assert_false(is_packed("plain.o"));
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        assemble_packed("p", ways[i], "packed.o");
        assert_true(is_packed("packed.o"));
        unsigned char *bytes = linked("packed.o", &size);
        assert_int_equal(size, plain_size);
        assert_memory_equal(bytes, plain, size);
        mem_free(bytes);
    }
    mem_free(plain);
}

static void test_in_proportion(void **state)
{
    (void)state;
    static const char little[] = ".section .debug_str,\"\",@progbits\n.zero 1000000\n";
    write_bytes("little.s", little, sizeof little - 1);
    assemble_packed("little", "zlib", "little.o");
    assert_true(is_packed("little.o"));
    struct object_link *link = link_pair("little.o", NULL);
    assert_ok(link, write_link(link, "unpacked.o"));
    object_link_free(link);
    static const char text[] = ".section .debug_str,\"\",@progbits\n.zero 4000000\n";
    write_bytes("bomb.s", text, sizeof text - 1);
    assemble_packed("bomb", "zlib", "bomb.o");
    refuse("bomb.o", NULL, "bomb.o: section '.debug_str' (index 4) is compressed to less than 1/64",
           "compile with -gz=none");
    assemble_packed("bomb", "zlib-gnu", "bomb.o");
    refuse("bomb.o", NULL, "section '.zdebug_str' (index 4) is compressed to less than 1/64", NULL);
}

/* ---------------------------------------------------------------------------- damage ---- */

/* Writes `value` so many bytes behind the begin of the first section that is compressed. */
static void damage(const char *name, size_t offset, uint32_t value)
{
    size_t size;
    unsigned char *bytes = read_bytes(name, &size);
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    for (int i = 1; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, bytes + header.e_shoff + (size_t)i * sizeof section, sizeof section);
        if (section.sh_flags & SHF_COMPRESSED) {
            memcpy(bytes + section.sh_offset + offset, &value, sizeof value);
            break;
        }
    }
    write_bytes("damaged.o", bytes, size);
    free(bytes);
}

static void test_damage(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        uint32_t value;
        const char *text;
    } cases[] = {
        {offsetof(Elf64_Chdr, ch_type), 77, "cannot be decompressed"},
        {offsetof(Elf64_Chdr, ch_size), 1, "cannot be decompressed"},
        {offsetof(Elf64_Chdr, ch_size), 2401, "cannot be decompressed"},
        {offsetof(Elf64_Chdr, ch_size) + 4, 1, "is compressed to less than 1/64"},
        {offsetof(Elf64_Chdr, ch_addralign), 3, "is compressed, but has no header that says how"},
        {offsetof(Elf64_Chdr, ch_addralign) + 4, 1, "no header that says how"},
        {sizeof(Elf64_Chdr), 0, "cannot be decompressed"},
        {sizeof(Elf64_Chdr) + 8, 0xffffffff, "cannot be decompressed"},
    };
    make_source("d");
    assemble_packed("d", "zlib", "packed.o");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        damage("packed.o", cases[i].offset, cases[i].value);
        refuse("damaged.o", NULL, cases[i].text, "damaged.o: section '.debug_info' (index 4) ");
    }
}

/* Headers of the old form: a magic number, and the size with the highest byte first. */
static void test_old_headers(void **state)
{
    (void)state;
    static const struct {
        const char *contents, *text;
    } cases[] = {
        {".ascii \"XLIB\"\n.quad 0", "is compressed, but has no header that says how"},
        {".ascii \"ZLIB\"\n.zero 7", "is compressed, but has no header that says how"},
        {".ascii \"ZLIB\"\n.byte 1\n.zero 7", "is compressed to less than 1/64"},
        {".ascii \"ZLIB\"\n.zero 7\n.byte 1\n.zero 4", "cannot be decompressed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[128];
        snprintf(text, sizeof text, ".section .zdebug_info,\"\",@progbits\n%s\n",
                 cases[i].contents);
        assemble("old", text);
        refuse("old.o", NULL, cases[i].text, "old.o: section '.zdebug_info' (index 4) ");
    }
}

/* -------------------------------------------------------------------------- bytecode ---- */

static void expect_unread(const char *name, const char *text)
{
    struct object_file *file = object_file_read(path_of(name));
    const char *error = object_file_error(file);
    if (!error || !strstr(error, text) || !strstr(error, name))
        fail_msg("%s: %s", name, error ? error : "is read");
    object_file_free(file);
}

static void test_bytecode(void **state)
{
    (void)state;
    static const unsigned char bitcode[] = "BC\xc0\xde and more",
                               wrapped[] = "\xde\xc0\x17\x0b more";
    compile_with("cc -flto -fno-fat-lto-objects", "slim", "c", "int f(void){return 1;}");
    compile_with("cc -flto -ffat-lto-objects -fPIC", "fat", "c", "int f(void){return 1;}");
    expect_unread("slim.o", "holds LTO bytecode instead of code; compile it without -flto or with "
                            "-ffat-lto-objects");
    size_t size;
    mem_free(linked("fat.o", &size));

    /* Without the mark that GCC has, and as Clang has it beside code. */
    static const char *const sections[] = {".gnu.lto_.decls", ".gnu.debuglto_.debug_info",
                                           ".llvm.lto", ".llvmbc", ".llvmcmd"};
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        char text[128];
        snprintf(text, sizeof text, ".section %s,\"e\",@progbits\n.long 1\n", sections[i]);
        assemble("unmarked", text);
        expect_unread("unmarked.o", "holds LTO bytecode instead of code");
    }
    assemble("beside", ".text\n.globl f\n.type f,@function\nf:\tret\n.size f,.-f\n"
                       ".section .llvm.lto,\"e\",@progbits\n.long 1\n");
    unsigned char *bytes = linked("beside.o", &size);
    assert_null(memmem(bytes, size, ".llvm.lto", 9));
    mem_free(bytes);

    write_bytes("bitcode.o", bitcode, sizeof bitcode);
    write_bytes("wrapped.o", wrapped, sizeof wrapped);
    expect_unread("bitcode.o", "is LLVM bitcode, not an ELF object; compile it without LTO");
    write_bytes("bitcode.o", bitcode, 4);
    expect_unread("bitcode.o", "is LLVM bitcode");
    expect_unread("wrapped.o", "is LLVM bitcode, not an ELF object; compile it without LTO");
    if (shell("ar rc lto.a slim.o && ar rc bitcode.a bitcode.o") == 0) {
        expect_unread("lto.a", "(slim.o): holds LTO bytecode");
        expect_unread("bitcode.a", "(bitcode.o): is LLVM bitcode");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unpacked), cmocka_unit_test(test_in_proportion),
        cmocka_unit_test(test_damage),   cmocka_unit_test(test_old_headers),
        cmocka_unit_test(test_bytecode),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
