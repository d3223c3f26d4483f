/* The bytes of results: always the same, those of ld where that has a say, names and dumps of them,
 * and results of many inputs and sections. */
#include "tests/unit/object_harness.h"
#include "tests/unit/object_sources.h"

static void test_determinism(void **state)
{
    (void)state;
    compile("data1", data_source_1);
    compile("data2", data_source_2);
    void *first, *bytes;
    size_t first_size, size;
    struct object_link *link = link_pair("data1.o", "data2.o");
    export(link, 0, "entry", "entry");
    assert_ok(link, object_link_bytes(link, &first, &first_size));
    assert_ok(link, object_link_bytes(link, &bytes, &size)); /* a write changes nothing */
    assert_int_equal(size, first_size);
    assert_memory_equal(bytes, first, size);
    mem_free(bytes);
    object_link_free(link);
    link = object_link_new();
    export(link, 0, "entry", "entry");
    add(link, 0, "data1.o");
    add(link, 0, "data2.o");
    assert_ok(link, write_link(link, "again.o"));
    object_link_free(link);
    bytes = read_bytes("again.o", &size);
    assert_int_equal(size, first_size);
    assert_memory_equal(bytes, first, size);
    free(bytes);
    mem_free(first);
}

static void test_same_as_ld(void **state)
{
    (void)state;
    assert_int_equal(shell("ld -r -o ld.o data1.o data2.o"), 0);
    struct object_link *link = link_pair("data1.o", "data2.o");
    assert_ok(link, write_link(link, "ours.o"));
    object_link_free(link);
    struct keeper ld, ours;
    read_back(&ld, "ld.o");
    read_back(&ours, "ours.o");
    assert_int_equal(relocation_total(&ld), relocation_total(&ours));
    for (uint32_t i = 1; i < ld.input->symbol_count; i++) {
        const struct object_symbol *symbol = &ld.input->symbols[i];
        if (symbol->type == STT_SECTION)
            continue;
        assert_int_equal(symbols_named(&ld, symbol->name), symbols_named(&ours, symbol->name));
    }
    static const char *const names[] = {".text", ".data",       ".rodata",  ".tdata",
                                        ".tbss", ".init_array", ".eh_frame"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct object_section *theirs = section_named(&ld, names[i]);
        struct object_section *mine = section_named(&ours, names[i]);
        assert_int_equal(theirs == NULL, mine == NULL);
        if (!mine)
            continue;
        /* ld takes the padding off the last record of .eh_frame. */
        if (!object_is_frame(mine))
            assert_int_equal(theirs->size, mine->size);
        assert_int_equal(theirs->align, mine->align);
        assert_int_equal(theirs->relocation_count, mine->relocation_count);
    }
    arena_free(&ld.arena.memory);
    arena_free(&ours.arena.memory);
}

static char *dump(const char *name)
{
    char error[256], *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!object_dump(path_of(name), out, error, sizeof error))
        fail_msg("%s", error);
    fclose(out);
    return text;
}

static void test_dump(void **state)
{
    (void)state;
    assemble("dump", ".file \"dump file\"\n.text\n.globl f\n.type f,@function\nf: call g@PLT\n"
                     ".size f,.-f\n.weak h\n.hidden h\n.data\n.quad h-4\n.comm c,8,16\n");
    char *text = dump("dump.o");
    assert_string_equal(text, "x86_64 relocatable, 8 sections\n"
                              "\n"
                              "sections: index name type flags size align\n"
                              "  1 .text progbits AX 0x5 1\n"
                              "  2 .rela.text rela I 0x18 8\n"
                              "  3 .data progbits WA 0x8 1\n"
                              "  4 .rela.data rela I 0x18 8\n"
                              "  5 .bss nobits WA 0x0 1\n"
                              "  6 .symtab symtab - 0x90 8\n"
                              "  7 .strtab strtab - 0x13 1\n"
                              "  8 .shstrtab strtab - 0x36 1\n"
                              "\n"
                              "symbols: name binding type section value size\n"
                              "  dump\\x20file local file absolute 0x0 0\n"
                              "  f global func .text 0x0 5\n"
                              "  g global notype undefined 0x0 0\n"
                              "  h weak notype undefined 0x0 0 hidden\n"
                              "  c global object common 0x10 8\n"
                              "\n"
                              "relocations: section+offset type symbol addend\n"
                              "  .text+0x1 R_X86_64_PLT32 g -0x4\n"
                              "  .data+0x0 R_X86_64_64 h -0x4\n");
    free(text);
    compile("a_very_long_member_name_for_an_archive", "int one(void){return 1;}");
    compile("b c", "int two(void){return 2;}");
    assert_int_equal(shell("ar rc t.a a_very*.o 'b c.o'"), 0);
    text = dump("t.a");
    assert_non_null(
        strstr(text, "(a_very_long_member_name_for_an_archive.o): x86_64 relocatable, "));
    assert_non_null(strstr(text, "\n\n(b\\x20c.o): x86_64 relocatable, "));
    free(text);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(object_relocation_name(EM_X86_64, R_X86_64_PC32), "R_X86_64_PC32");
    assert_string_equal(object_relocation_name(EM_AARCH64, R_AARCH64_ABS64), "R_AARCH64_ABS64");
    assert_string_equal(object_relocation_name(EM_AARCH64, R_AARCH64_LDST128_ABS_LO12_NC),
                        "R_AARCH64_LDST128_ABS_LO12_NC");
    assert_null(object_relocation_name(EM_AARCH64, 9999));
    assert_null(object_relocation_name(EM_MIPS, 1));
    unsigned found = 0;
    for (uint32_t type = 0; type < 2000; type++)
        found += object_relocation_name(EM_AARCH64, type) != NULL;
    assert_int_equal(found, 114);
    found = 0;
    for (uint32_t type = 0; type < 2000; type++)
        found += object_relocation_name(EM_X86_64, type) != NULL;
    assert_int_equal(found, 34);
}

/* ---- size ---- */

static void test_many_inputs(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    compile_with("cc -O1 -fPIC -ffunction-sections -fdata-sections", "many", "c", data_source_2);
    size_t size;
    unsigned char *bytes = read_bytes("many.o", &size);
    struct object_link *link = object_link_new();
    for (unsigned i = 0; i < COUNT; i++) {
        char name[32];
        snprintf(name, sizeof name, "second_%u", i);
        assert_ok(link, object_link_add(link, i, "many.o", bytes, size));
        export(link, i, "second", name);
    }
    finish(link, "second_77", "many-out.o");
    free(bytes);
    struct keeper keeper;
    read_back(&keeper, "many-out.o");
    assert_string_equal(defined_globals(&keeper), "second_77");
    assert_int_equal(symbols_named(&keeper, "weak_one"), COUNT);
    arena_free(&keeper.arena.memory);
}

static void test_many_sections(void **state)
{
    (void)state;
    FILE *file = fopen(path_of("wide.s"), "w");
    enum { COUNT = 66000 };
    for (int i = 0; i < COUNT; i++)
        fprintf(file, ".section s%d,\"aw\"\n.globl v%d\nv%d: .byte %d\n", i, i, i, i & 127);
    fprintf(file, ".data\n.quad v%d\n.quad s%d+1\n", COUNT - 1, COUNT - 2);
    fclose(file);
    assert_int_equal(shell("as wide.s -o wide.o"), 0);
    struct object_link *link = link_pair("wide.o", NULL);
    export(link, 0, "v65999", "kept");
    finish(link, "kept", "wide-out.o");
    struct keeper keeper;
    read_back(&keeper, "wide-out.o");
    struct object_symbol *kept = symbol_named(&keeper, "kept");
    assert_int_equal(kept->binding, STB_GLOBAL);
    assert_string_equal(keeper.input->sections[kept->section].name, "s65999");
    assert_non_null(section_named(&keeper, ".symtab_shndx"));
    const struct object_section *data = section_named(&keeper, ".data");
    assert_int_equal(data->relocation_count, 2);
    assert_string_equal(keeper.input->symbols[data->relocations[0].symbol].name, "kept");
    arena_free(&keeper.arena.memory);
    assert_int_equal(shell("readelf -SW wide-out.o 2>&1 | grep -q s65999"), 0);
}

int main(void)
{
    /* Later tests read files that earlier ones made. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_determinism), cmocka_unit_test(test_same_as_ld),
        cmocka_unit_test(test_dump),        cmocka_unit_test(test_names),
        cmocka_unit_test(test_many_inputs), cmocka_unit_test(test_many_sections),
    };
    return cmocka_run_group_tests_name("object_bytes", tests, make_folder, remove_folder);
}
