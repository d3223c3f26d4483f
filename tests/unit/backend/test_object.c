/* The object module: inputs are compiled here from small sources, combined, and then linked and
 * executed, or read back. What is not installed (C++ compiler, clang for aarch64) is skipped. */
#include "tests/unit/object_harness.h"
#include "tests/unit/object_sources.h"

/* ---- what a link means ---- */

static void test_groups(void **state)
{
    (void)state;
    compile("g1", "int helper(void){return 10;} int value = 1;"
                  "int run(void){return helper() + value;}");
    compile("g2", "int helper(void){return 200;} int value = 2;"
                  "int run(void){return helper() + value;}");
    compile("main", "int k1(void); int k2(void); int helper(void){return 3000;}"
                    "int entry(void){return k1() + k2() + helper();}");
    struct object_link *link = object_link_new();
    add(link, 0, "main.o");
    add(link, 1, "g1.o");
    add(link, 2, "g2.o");
    export(link, 1, "run", "k1");
    export(link, 2, "run", "k2");
    export(link, 0, "entry", "entry");
    finish(link, "entry", "groups.o");
    struct keeper keeper;
    read_back(&keeper, "groups.o");
    assert_string_equal(defined_globals(&keeper), "entry");
    assert_int_equal(symbols_named(&keeper, "helper"), 3);
    assert_int_equal(symbols_named(&keeper, "k1"), 1);
    assert_int_equal(symbols_named(&keeper, "run"), 0);
    arena_free(&keeper.arena.memory);
    void *library = load("groups.o");
    assert_int_equal(call(library, "entry"), 3213);
    assert_null(dlsym(library, "helper"));
    dlclose(library);
}

static const int data_result = 100 + 1 + 4 + 7 + 1 + 1 + 2 + 11 + 13 + 10001 + 1000 + 4;

static void test_data(void **state)
{
    (void)state;
    static const char *const flags[] = {"cc -O0 -fPIC", "cc -O2 -fPIC", "cc -O2 -fPIC -g3",
                                        "cc -O1 -fPIC -ffunction-sections -fdata-sections",
                                        "clang -O1 -fPIC -g"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (strncmp(flags[i], "clang", 5) == 0 && !have("clang"))
            continue;
        compile_with(flags[i], "data1", "c", data_source_1);
        compile_with(flags[i], "data2", "c", data_source_2);
        struct object_link *link = link_pair("data1.o", "data2.o");
        export(link, 0, "entry", "begin");
        finish(link, "begin", "data.o");
        void *library = load("data.o");
        assert_int_equal(call(library, "begin"), data_result);
        dlclose(library);
        struct keeper keeper;
        read_back(&keeper, "data.o");
        assert_string_equal(defined_globals(&keeper), "begin");
        assert_int_equal(symbol_named(&keeper, "big")->size, sizeof(long));
        /* A merged result is an input like any other. */
        arena_free(&keeper.arena.memory);
        link = link_pair("data.o", NULL);
        export(link, 0, "begin", "again");
        finish(link, "again", "data-again.o");
        library = load("data-again.o");
        assert_int_equal(call(library, "again"), data_result);
        dlclose(library);
    }
}

static void test_tentative(void **state)
{
    (void)state;
    assemble("c1", ".comm c,4,4\n.globl f\nf: mov c@GOTPCREL(%rip),%rax\n mov (%rax),%eax\n ret\n"
                   ".section .note.GNU-stack,\"\",@progbits\n");
    assemble("c2", ".comm c,64,32\n");
    assemble("c3", ".data\n.weak c\nc: .long 5\n");
    assemble("c4", ".data\n.globl c\n.type c,@object\n.size c,4\nc: .long 6\n"
                   ".section .note.GNU-stack,\"\",@progbits\n");
    struct keeper keeper;
    struct object_link *link = link_pair("c1.o", "c2.o");
    add(link, 0, "c3.o");
    export(link, 0, "c", "c");
    finish(link, "c", "common.o");
    read_back(&keeper, "common.o");
    struct object_symbol *c = symbol_named(&keeper, "c");
    assert_string_equal(keeper.input->sections[c->section].name, ".bss");
    assert_int_equal(c->size, 64);
    assert_int_equal(section_named(&keeper, ".bss")->align, 32);
    arena_free(&keeper.arena.memory);
    link = link_pair("c1.o", "c4.o");
    export(link, 0, "f", "f");
    finish(link, "f", "common.o");
    read_back(&keeper, "common.o");
    c = symbol_named(&keeper, "c");
    assert_string_equal(keeper.input->sections[c->section].name, ".data");
    assert_int_equal(symbols_named(&keeper, "c"), 1);
    assert_int_equal(section_named(&keeper, ".bss")->size, 0);
    arena_free(&keeper.arena.memory);
    void *library = load("common.o");
    assert_int_equal(call(library, "f"), 6);
    dlclose(library);
}

static void test_weak(void **state)
{
    (void)state;
    compile("w1", "__attribute__((weak)) int f(void){return 1;}"
                  "__attribute__((weak)) extern int missing(void);"
                  "int entry(void){return f() * 10 + (missing ? 1 : 2);}");
    compile("w2", "int f(void){return 5;}");
    compile("w3", "__attribute__((weak)) int f(void){return 7;}");
    struct object_link *link = link_pair("w1.o", "w2.o");
    add(link, 0, "w3.o");
    export(link, 0, "entry", "e");
    finish(link, "e", "weak.o");
    struct keeper keeper;
    read_back(&keeper, "weak.o");
    assert_int_equal(symbol_named(&keeper, "missing")->binding, STB_WEAK);
    arena_free(&keeper.arena.memory);
    void *library = load("weak.o");
    assert_int_equal(call(library, "e"), 52);
    dlclose(library);
    link = link_pair("w3.o", "w1.o");
    export(link, 0, "entry", "e");
    finish(link, "e", "weak.o");
    library = load("weak.o");
    assert_int_equal(call(library, "e"), 72);
    dlclose(library);
}

static void test_undefined_and_visibility(void **state)
{
    (void)state;
    assemble("u1", ".globl f\nf: call outside@PLT\n call inside\n ret\n.weak outside\n"
                   ".hidden inside\n.globl absolute\nabsolute = 0x1234\n");
    assemble("u2", ".globl g\ng: call outside@PLT\n movl $absolute, %eax\n ret\n"
                   ".globl inside\n.protected inside\ninside: ret\n");
    struct object_link *link = object_link_new();
    add(link, 0, "u1.o");
    add(link, 1, "u2.o");
    export(link, 0, "f", "f");
    export(link, 1, "inside", "inside");
    export(link, 0, "absolute", "absolute");
    assert_ok(link, object_link_keep(link, "inside"));
    assert_ok(link, object_link_keep(link, "absolute"));
    finish(link, "f", "undefined.o");
    struct keeper keeper;
    read_back(&keeper, "undefined.o");
    assert_int_equal(symbols_named(&keeper, "outside"), 1);
    struct object_symbol *outside = symbol_named(&keeper, "outside");
    assert_int_equal(outside->section, OBJECT_UNDEFINED);
    assert_int_equal(outside->binding, STB_GLOBAL); /* one of the two references is strong */
    assert_int_equal(symbols_named(&keeper, "inside"), 1);
    assert_int_equal(symbol_named(&keeper, "inside")->other, STV_HIDDEN);
    assert_int_equal(symbol_named(&keeper, "absolute")->section, OBJECT_ABSOLUTE);
    assert_int_equal(symbol_named(&keeper, "absolute")->value, 0x1234);
    assert_int_equal(symbol_named(&keeper, "g")->binding, STB_LOCAL);
    arena_free(&keeper.arena.memory);
}

struct functions {
    char names[64];
    uint64_t sizes; /* sum */
};

static void note_function(void *user, const char *name, uint64_t section_size)
{
    struct functions *functions = user;
    size_t used = strlen(functions->names);
    snprintf(functions->names + used, sizeof functions->names - used, "%s ", name);
    functions->sizes += section_size;
}

/* Links "once.a" as two groups and a copy, from `file` or else by its name. */
static void link_once(const struct object_file *file, const char *output)
{
    struct object_link *link = object_link_new();
    for (unsigned group = 0; group < 2; group++) {
        if (file)
            assert_ok(link, object_link_add_read(link, group, file));
        else
            add(link, group, "once.a");
        export(link, group, "entry", group ? "second" : "first");
    }
    assert_ok(link, object_link_copy(link, 0, 2));
    export(link, 2, "entry", "copied");
    assert_ok(link, object_link_keep(link, "second"));
    assert_ok(link, object_link_keep(link, "copied"));
    finish(link, "first", output);
}

/* What is read once links as what is read each time, however many links there are. */
static void test_read_once(void **state)
{
    (void)state;
    size_t size, again;
    compile("once", "static int calls; int one(void); int entry(void){return ++calls + one();}");
    compile("other", "const char *const names[] = {\"a\"}; int one(void){return *names[0];}");
    assert_int_equal(shell("rm -f once.a && ar rc once.a once.o other.o"), 0);
    struct object_file *file = object_file_read(path_of("once.a"));
    assert_null(object_file_error(file));
    link_once(NULL, "named.o");
    unsigned char *named = read_bytes("named.o", &size);
    for (int i = 0; i < 2; i++) {
        link_once(file, "read.o");
        unsigned char *bytes = read_bytes("read.o", &again);
        assert_int_equal(again, size);
        assert_memory_equal(bytes, named, size);
        free(bytes);
    }
    object_file_free(file);
    file = object_file_read(path_of("absent.o"));
    struct object_link *link = object_link_new();
    assert_false(object_link_add_read(link, 0, file));
    assert_string_equal(object_link_error(link), object_file_error(file));
    object_link_free(link);
    object_file_free(file);
    free(named);
}

static uint64_t text_size(const char *name)
{
    struct keeper keeper;
    read_back(&keeper, name);
    uint64_t size = section_named(&keeper, ".text")->size;
    arena_free(&keeper.arena.memory);
    return size;
}

static void test_archives(void **state)
{
    (void)state;
    compile("a_very_long_member_name_for_an_archive", "int one(void){return 1;}");
    compile("b c", "int two(void){return 2;}"
                   "int one(void); int entry(void){return one() * 10 + two();}");
    assert_int_equal(shell("rm -f t.a && ar rc t.a a_very*.o 'b c.o'"), 0);
    struct object_link *link = link_pair("t.a", NULL);
    export(link, 0, "entry", "entry");
    finish(link, "entry", "archive.o");
    void *library = load("archive.o");
    assert_int_equal(call(library, "entry"), 12);
    dlclose(library);
    uint64_t one = text_size("a_very_long_member_name_for_an_archive.o"), two = text_size("b c.o");
    struct functions functions = {"", 0};
    struct object_file *file = object_file_read(path_of("t.a"));
    assert_null(object_file_error(file));
    object_file_functions(file, note_function, &functions);
    assert_string_equal(functions.names, "one two entry ");
    assert_true(one > 0 && two > one);
    assert_int_equal(functions.sizes, one + 2 * two);
    object_file_free(file);
    assert_int_equal(shell("rm -f thin.a && ar rcT thin.a 'b c.o'"), 0);
    refuse("thin.a", NULL, "thin.a: thin archives are not supported", NULL);
    assert_int_equal(shell("rm -f text.a && ar rc text.a main.c"), 0);
    refuse("text.a", NULL, "text.a(main.c): is not an ELF object", NULL);
    assert_int_equal(shell("rm -f empty.a && : >empty && ar rc empty.a empty"), 0);
    refuse("empty.a", NULL, "empty.a(empty): is not an ELF object", NULL);
    assert_int_equal(
        shell("rm -f dup.a && ar rc dup.a 'b c.o' && cp 'b c.o' d.o && ar q dup.a d.o"), 0);
    refuse("dup.a", NULL, "dup.a(d.o): 'two' is already defined in ", "dup.a(b c.o)");
    size_t bytes_size;
    unsigned char *bytes = read_bytes("t.a", &bytes_size);
    write_bytes("cut.a", bytes, bytes_size - 100);
    refuse("cut.a", NULL, "cut.a", NULL);
    /* A header that is none must not pass for the end of the archive. */
    for (size_t i = 8; i + 60 < bytes_size; i++)
        if (memcmp(bytes + i, "b c.o/", 6) == 0)
            bytes[i + 58] = 'x';
    write_bytes("cut.a", bytes, bytes_size);
    refuse("cut.a", NULL, "cut.a: malformed archive member header at byte ", NULL);
    free(bytes);
}

/* Walks .eh_frame: records up to the end, or to a terminator at the very end, each with its CIE. */
static unsigned count_frames(const struct object_section *frame)
{
    uint64_t at = 0;
    unsigned records = 0;
    uint32_t length = 0, distance;
    uint64_t last_cie = 0; /* as all assemblers write it: the nearest one before */
    for (; at < frame->size; at += 4 + length, records++) {
        memcpy(&length, frame->data + at, 4);
        if (length == 0)
            break;
        memcpy(&distance, frame->data + at + 4, 4);
        if (distance == 0)
            last_cie = at;
        else
            assert_int_equal(at + 4 - distance, last_cie);
    }
    assert_int_equal(at + (length ? 0 : 4), frame->size);
    return records;
}

static void test_comdat(void **state)
{
    (void)state;
    if (!have("c++")) {
        print_message("no C++ compiler, COMDAT with C++ is skipped\n");
        skip();
    }
    static const char common[] =
        "#include <string>\n#include <vector>\n"
        "struct base { virtual ~base() {} virtual int get() const { return 3; } };"
        "template <class T> T twice(T x) { static T calls; calls++; if (x > 1000) throw 5;"
        "return x + x + calls; }";
    char text[1024];
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "cxx%d", i);
        snprintf(text, sizeof text,
                 "%s extern \"C\" int part%d(int n) { std::vector<std::string> v;"
                 "v.push_back(\"x\"); base b; try { return twice(n) + b.get() + (int)v.size(); }"
                 "catch (int e) { return e; } }",
                 common, i);
        compile_with(i == 1 ? "c++ -O0 -fPIC -g" : "c++ -O0 -fPIC -g -gdwarf-4", name, "cpp", text);
    }
    compile("cxxmain", "int part0(int), part1(int), other(int);"
                       "int entry(void){return part0(1) * 10000 + part1(1) * 100 + other(1);}"
                       "int thrown(void){return part0(2000) + 10 * part1(2000);}");
    struct object_link *link = link_pair("cxx0.o", "cxx1.o");
    add(link, 0, "cxxmain.o");
    add(link, 1, "cxx2.o");
    export(link, 0, "entry", "entry");
    export(link, 1, "part2", "other");
    export(link, 0, "thrown", "thrown");
    assert_ok(link, object_link_keep(link, "thrown"));
    finish(link, "entry", "comdat.o");
    struct keeper keeper;
    read_back(&keeper, "comdat.o");
    for (uint32_t i = 1; i < keeper.input->section_count; i++) {
        assert_int_not_equal(keeper.input->sections[i].type, SHT_GROUP);
        assert_false(keeper.input->sections[i].flags & SHF_GROUP);
    }
    assert_int_equal(symbols_named(&keeper, "_Z5twiceIiET_S0_"), 2); /* one per group */
    arena_free(&keeper.arena.memory);
    /* A process of its own: sanitizers do not see a C++ library that is loaded late. The counter
     * is shared inside group 0 and apart in group 1. */
    compile("cxxrun", "int entry(void), thrown(void);"
                      "int main(void){return entry() == 70807 && thrown() == 55 ? 0 : 1;}");
    assert_int_equal(shell("c++ -o comdat cxxrun.o comdat.o && ./comdat"), 0);
    /* Every address range of the unwind table is still one of a function that is there. */
    assert_int_equal(shell("readelf --debug-dump=frames comdat >frames.txt 2>&1 && "
                           "! grep -q 'pc=0000000000000000' frames.txt && grep -q FDE frames.txt"),
                     0);
    assert_int_equal(shell("readelf --debug-dump=info,ranges comdat.o 2>&1 >/dev/null | "
                           "grep -q -i warning"),
                     256);
}

static void test_comdat_references(void **state)
{
    (void)state;
    char text[1024];
    snprintf(text, sizeof text, group_source, 1, "");
    assemble("s1", text);
    snprintf(text, sizeof text, group_source, 2,
             ".data\n.quad .Lf\n.section .debug_ranges,\"\",@progbits\n.quad .Lf\n"
             ".section .debug_loc,\"\",@progbits\n.quad .Lf\n"
             ".section .debug_info,\"\",@progbits\n.quad .Lf\n.quad f\n"
             ".text\n.globl entry\n.cfi_startproc\nentry: lea f(%rip),%rax\n.cfi_endproc\n");
    assemble("s2", text);
    struct object_link *link = link_pair("s1.o", "s2.o");
    export(link, 0, "entry", "entry");
    finish(link, "entry", "sections.o");
    struct keeper keeper;
    read_back(&keeper, "sections.o");
    assert_int_equal(section_named(&keeper, ".text.f")->size, 2);
    /* Of the second input's records, that of the discarded f is gone, between CIE and entry. */
    assert_int_equal(count_frames(section_named(&keeper, ".eh_frame")), 4);
    assert_int_equal(section_named(&keeper, ".eh_frame")->relocation_count, 2);
    struct object_section *rodata = section_named(&keeper, ".rodata.f");
    assert_int_equal(rodata->size, 4);
    assert_int_equal(rodata->data[0], 1); /* the first one's */
    assert_int_equal(section_named(&keeper, ".links")->size, 8);
    const struct object_relocation *data = section_named(&keeper, ".data")->relocations;
    assert_int_equal(keeper.input->symbols[data->symbol].type, STT_SECTION);
    assert_int_equal(data->addend, 1);
    const struct object_relocation *ranges = section_named(&keeper, ".debug_ranges")->relocations;
    assert_int_equal(ranges->symbol, 0);
    assert_int_equal(ranges->type, R_X86_64_NONE);
    assert_int_equal(section_named(&keeper, ".debug_ranges")->data[ranges->offset], 1);
    assert_int_equal(section_named(&keeper, ".debug_loc")->data[0], 1);
    const struct object_relocation *info = section_named(&keeper, ".debug_info")->relocations;
    assert_int_equal(info[0].symbol, 0);
    assert_int_equal(info[0].type, R_X86_64_NONE);
    assert_int_equal(section_named(&keeper, ".debug_info")->data[0], 0);
    assert_string_equal(keeper.input->symbols[info[1].symbol].name, "f");
    arena_free(&keeper.arena.memory);
    assemble("s3", ".section .text.f,\"axG\",@progbits,sig,comdat\n.weak f\nf: nop\nnop\n.Lf: ret\n"
                   ".data\n.quad .Lf\n");
    refuse("s1.o", "s3.o", "s3.o: section '.data' refers to '.text.f', which is not in the result",
           NULL);
}

static void test_string_sections(void **state)
{
    (void)state;
    assemble("m1",
             ".section .rodata.str1.1,\"aMS\",@progbits,1\n.asciz \"odd\"\n.LA: .asciz \"aa\"\n"
             ".section .rodata.cst8,\"aM\",@progbits,8\n.quad 1\n.data\n.quad .LA\n");
    assemble("m2", ".section .rodata.str1.1,\"aMS\",@progbits,1\n.asciz \"z\"\n.LB: .asciz \"bb\"\n"
                   ".section .rodata.cst8,\"aM\",@progbits,8\n.quad 2\n.data\n.quad .LB\n");
    assemble("m3", ".section .rodata.str1.1,\"aMS\",@progbits,1\n.ascii \"open\"\n");
    struct object_link *link = link_pair("m1.o", "m2.o");
    add(link, 0, "m3.o");
    assert_ok(link, write_link(link, "strings.o"));
    object_link_free(link);
    struct keeper keeper;
    read_back(&keeper, "strings.o");
    struct object_section *strings = section_named(&keeper, ".rodata.str1.1");
    assert_int_equal(strings->size, 12);
    assert_int_equal(strings->entsize, 1);
    assert_int_equal(strings->flags & (SHF_MERGE | SHF_STRINGS), SHF_MERGE | SHF_STRINGS);
    const struct object_section *data = section_named(&keeper, ".data");
    for (int i = 0; i < 2; i++) {
        const struct object_relocation *r = &data->relocations[i];
        const struct object_symbol *symbol = &keeper.input->symbols[r->symbol];
        const char *expected = i ? "bb" : "aa";
        assert_string_equal((const char *)strings->data + symbol->value + r->addend, expected);
    }
    assert_int_equal(section_named(&keeper, ".rodata.cst8")->size, 16);
    /* An unterminated string cannot be followed by another: a section of its own, not mergeable. */
    struct object_section *open = strings + 1;
    while (strcmp(open->name, ".rodata.str1.1") != 0)
        open++;
    assert_int_equal(open->flags, SHF_ALLOC);
    arena_free(&keeper.arena.memory);
}

/* Sections that are ordered by others follow the order of these; a name that begins as one of those
 * that are left out is another one. */
static void test_link_order(void **state)
{
    (void)state;
    assemble("ordered", ".section .text.f,\"ax\",@progbits,unique,1\nf1: ret\n"
                        ".section .text.f,\"ax\",@progbits,unique,2\nf2: ret\n"
                        ".section .links,\"ao\",@progbits,f2,unique,3\n.byte 2\n"
                        ".section .links,\"ao\",@progbits,f1,unique,4\n.byte 1\n"
                        ".section .note.GNU-stacks,\"\",@progbits\n.byte 3\n");
    struct object_link *link = link_pair("ordered.o", NULL);
    assert_ok(link, write_link(link, "in_order.o"));
    object_link_free(link);
    struct keeper keeper;
    read_back(&keeper, "in_order.o");
    const struct object_section *links = section_named(&keeper, ".links");
    assert_int_equal(links->size, 2);
    assert_memory_equal(links->data, "\1\2", 2);
    assert_int_equal(section_named(&keeper, ".note.GNU-stacks")->size, 1);
    arena_free(&keeper.arena.memory);
}

static void test_stack_notes(void **state)
{
    (void)state;
    assemble("n_none", "nop\n");
    assemble("n_no", "nop\n.section .note.GNU-stack,\"\",@progbits\n");
    assemble("n_yes", "nop\n.section .note.GNU-stack,\"x\",@progbits\n");
    static const struct {
        const char *first, *second;
        int flags; /* -1: no note */
    } cases[] = {
        {"n_no.o", "n_no.o", 0},
        {"n_no.o", "n_yes.o", SHF_EXECINSTR},
        {"n_no.o", "n_none.o", SHF_EXECINSTR},
        {"n_none.o", "n_none.o", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct object_link *link = link_pair(cases[i].first, cases[i].second);
        assert_ok(link, write_link(link, "note.o"));
        object_link_free(link);
        struct keeper keeper;
        read_back(&keeper, "note.o");
        struct object_section *note = section_named(&keeper, ".note.GNU-stack");
        assert_int_equal(note ? (int)note->flags : -1, cases[i].flags);
        assert_int_equal(note ? note->entsize : 0, 0);
        arena_free(&keeper.arena.memory);
    }
}

static void test_frame_end(void **state)
{
    (void)state;
    /* A record of 12 bytes in a section aligned to 8, and a terminator: both must not end the
     * table of the input behind. */
    assemble("f1", ".section .eh_frame,\"a\",@progbits\n.balign 8\n.long 8\n.long 0\n"
                   ".byte 1,0,1,0x78\n.long 0\n");
    compile("f2", "int f(int); int g(int x){return f(x) + f(x + 1);}");
    struct object_link *link = link_pair("f1.o", "f2.o");
    assert_ok(link, write_link(link, "frames.o"));
    object_link_free(link);
    struct keeper keeper;
    read_back(&keeper, "frames.o");
    struct object_section *frame = section_named(&keeper, ".eh_frame");
    assert_int_equal(count_frames(frame), 3);
    assert_int_equal(frame->data[frame->size - 4], 0); /* the terminator */
    arena_free(&keeper.arena.memory);
}

static void test_odd_sections(void **state)
{
    (void)state;
    /* Order by link, merged arrays, names that repeat with other flags, padding of code. */
    assemble("o1", ".section .text.b,\"ax\",@progbits\nb: ret\n.section .text.a,\"ax\",@progbits\n"
                   "a: ret\n.section .order,\"ao\",@progbits,.text.a\n.byte 1\n"
                   ".section .init_array,\"aw\"\n.quad a\n.section same,\"a\"\n.byte 1\n"
                   ".section .llvm_addrsig,\"e\",@0x6fff4c03\n.byte 1\n");
    assemble("o2", ".section .text.a,\"ax\",@progbits\n.balign 16\na: ret\n"
                   ".section .order,\"ao\",@progbits,.text.a\n.byte 2\n"
                   ".section .init_array,\"aw\"\n.quad a\n.section same,\"aw\"\n.byte 2\n");
    struct object_link *link = link_pair("o1.o", "o2.o");
    assert_ok(link, write_link(link, "odd.o"));
    object_link_free(link);
    struct keeper keeper;
    read_back(&keeper, "odd.o");
    struct object_section *order = section_named(&keeper, ".order");
    assert_int_equal(order->size, 2);
    assert_int_equal(order->flags & SHF_LINK_ORDER, SHF_LINK_ORDER);
    struct object_section *text = &keeper.input->sections[order->link];
    assert_string_equal(text->name, ".text.a");
    assert_int_equal(text->size, 17);
    assert_int_equal(text->data[1], 0x90);
    assert_int_equal(section_named(&keeper, ".init_array")->relocation_count, 2);
    assert_int_equal(section_named(&keeper, "same")->size, 1);
    assert_null(section_named(&keeper, ".llvm_addrsig"));
    arena_free(&keeper.arena.memory);
}

static void test_aarch64(void **state)
{
    (void)state;
    if (!have("clang")) {
        print_message("no clang, aarch64 is skipped\n");
        skip();
    }
    compile_with("clang --target=aarch64-linux-gnu -O2 -ffreestanding -g", "arm1", "c",
                 "extern int other(int); static const char *names[] = {\"a\", \"b\"};"
                 "int helper(void){return 1;} const char *pick(int i){return names[i];}"
                 "int entry(int x){return other(x) + helper();}");
    compile_with(
        "clang --target=aarch64-linux-gnu -O2 -ffreestanding", "arm2", "c",
        "int helper(void){return 2;} int table[4]; int run(int x){return table[x] + helper();}");
    struct object_link *link = object_link_new();
    add(link, 0, "arm1.o");
    add(link, 1, "arm2.o");
    export(link, 0, "entry", "entry");
    export(link, 1, "run", "other");
    finish(link, "entry", "arm.o");
    struct keeper keeper;
    read_back(&keeper, "arm.o");
    assert_int_equal(keeper.input->machine, EM_AARCH64);
    assert_string_equal(defined_globals(&keeper), "entry");
    arena_free(&keeper.arena.memory);
    char error[256], *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_true(object_dump(path_of("arm.o"), out, error, sizeof error));
    fclose(out);
    assert_non_null(strstr(text, "aarch64 relocatable, "));
    assert_non_null(strstr(text, "R_AARCH64_CALL26 other 0x0\n"));
    assert_non_null(strstr(text, "R_AARCH64_ADR_PREL_PG_HI21 "));
    free(text);
    if (have("ld.lld"))
        assert_int_equal(shell("ld.lld -shared arm.o -o libarm.so"), 0);
    refuse("arm1.o", "g1.o", "g1.o is for x86_64 (machine 62), but ", "arm1.o is for aarch64");
}

int main(void)
{
    /* Later tests read files that earlier ones made. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_tentative),
        cmocka_unit_test(test_weak),
        cmocka_unit_test(test_undefined_and_visibility),
        cmocka_unit_test(test_archives),
        cmocka_unit_test(test_read_once),
        cmocka_unit_test(test_comdat),
        cmocka_unit_test(test_comdat_references),
        cmocka_unit_test(test_string_sections),
        cmocka_unit_test(test_stack_notes),
        cmocka_unit_test(test_link_order),
        cmocka_unit_test(test_frame_end),
        cmocka_unit_test(test_odd_sections),
        cmocka_unit_test(test_aarch64),
    };
    return cmocka_run_group_tests_name("object", tests, make_folder, remove_folder);
}
