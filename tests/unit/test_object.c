/* The object module: inputs are compiled here from small sources, combined, and then linked and
 * executed, or read back. What is not installed (C++ compiler, clang for aarch64) is skipped. */
#include "tests/unit/object_harness.h"

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
    object_arena_free(&keeper.arena);
    void *library = load("groups.o");
    assert_int_equal(call(library, "entry"), 3213);
    assert_null(dlsym(library, "helper"));
    dlclose(library);
}

static const char data_source_1[] =
    "extern int shared; int common_one[100] __attribute__((common));"
    "int big __attribute__((common)); static int zeros[50]; int initialised = 7;"
    "extern const char *const names[]; const char *text(void){return \"alpha tail\";}"
    "int *pointer = &initialised; static int *inner = &zeros[3];"
    "_Thread_local int tls_zero; _Thread_local int tls_one = 11; extern _Thread_local int tls_two;"
    "int second(int); static int started; "
    "__attribute__((constructor)) static void start(void){started = 1000;}"
    "double half(double x){return x * 0.5;}"
    "int entry(void){ common_one[5] = 1; *inner = 4; tls_zero += 2;"
    "return shared + common_one[5] + zeros[3] + *pointer + (names[1][0] == 'b') + "
    "(text()[6] == 't')"
    " + tls_zero + tls_one + tls_two + second(3) + started + (int)half(8.0) + big; }";

static const char data_source_2[] =
    "int shared = 100; long big_user(void); int common_one[100] __attribute__((common));"
    "long big __attribute__((common));"
    "const char *const names[] = {\"alpha tail\", \"beta\", \"x\"};"
    "static int zeros[9]; _Thread_local int tls_two = 13; static int rows[] = {5, 6};"
    "__attribute__((weak)) int weak_one(void){return 1;}"
    "int second(int n){ zeros[1] = 1;"
    " switch(n){case 0: return 9; case 1: return 27; case 2: return "
    "rows[1]; case 3: return 10000 + zeros[1]; case 4: return 77; case 5: return 1 + weak_one();"
    "case 6: return (int)big; default: return 0;} }";

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
        object_arena_free(&keeper.arena);
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
    object_arena_free(&keeper.arena);
    link = link_pair("c1.o", "c4.o");
    export(link, 0, "f", "f");
    finish(link, "f", "common.o");
    read_back(&keeper, "common.o");
    c = symbol_named(&keeper, "c");
    assert_string_equal(keeper.input->sections[c->section].name, ".data");
    assert_int_equal(symbols_named(&keeper, "c"), 1);
    assert_int_equal(section_named(&keeper, ".bss")->size, 0);
    object_arena_free(&keeper.arena);
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
    object_arena_free(&keeper.arena);
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
    object_arena_free(&keeper.arena);
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
    char error[256];
    bool defined;
    uint64_t size, sum = 0, part;
    assert_true(object_defines(path_of("t.a"), "two", &defined, error, sizeof error));
    assert_true(defined);
    assert_true(object_defines(path_of("t.a"), "three", &defined, error, sizeof error));
    assert_false(defined);
    assert_true(object_text_size(path_of("t.a"), &size, error, sizeof error));
    assert_true(object_text_size(path_of("b c.o"), &part, error, sizeof error));
    sum += part;
    assert_true(object_text_size(path_of("a_very_long_member_name_for_an_archive.o"), &part, error,
                                 sizeof error));
    assert_int_equal(size, sum + part);
    assert_true(part > 0);
    struct functions functions = {"", 0};
    struct object_file *file = object_file_read(path_of("t.a"));
    assert_null(object_file_error(file));
    object_file_functions(file, note_function, &functions);
    assert_string_equal(functions.names, "one two entry ");
    assert_int_equal(functions.sizes, part + 2 * sum);
    object_file_free(file);
    assert_int_equal(shell("rm -f thin.a && ar rcT thin.a 'b c.o'"), 0);
    refuse("thin.a", NULL, "thin.a: thin archives are not supported", NULL);
    assert_int_equal(shell("rm -f text.a && ar rc text.a main.c"), 0);
    refuse("text.a", NULL, "text.a(main.c): is not an ELF object", NULL);
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
    object_arena_free(&keeper.arena);
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

static const char group_source[] =
    ".section .text.f,\"axG\",@progbits,sig,comdat\n.weak f\n.cfi_startproc\n"
    "f: nop\n.Lf: ret\n.cfi_endproc\n"
    ".section .rodata.f,\"aG\",@progbits,sig,comdat\n.long %d\n"
    ".section .links,\"ao\",@progbits,.text.f\n.quad 1\n%s";

static void test_comdat_references(void **state)
{
    (void)state;
    char text[1024];
    snprintf(text, sizeof text, group_source, 1, "");
    assemble("s1", text);
    snprintf(text, sizeof text, group_source, 2,
             ".data\n.quad .Lf\n.section .debug_ranges,\"\",@progbits\n.quad .Lf\n"
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
    const struct object_relocation *info = section_named(&keeper, ".debug_info")->relocations;
    assert_int_equal(info[0].symbol, 0);
    assert_int_equal(info[0].type, R_X86_64_NONE);
    assert_string_equal(keeper.input->symbols[info[1].symbol].name, "f");
    object_arena_free(&keeper.arena);
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
    assert_ok(link, object_link_write(link, path_of("strings.o")));
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
    object_arena_free(&keeper.arena);
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
        assert_ok(link, object_link_write(link, path_of("note.o")));
        object_link_free(link);
        struct keeper keeper;
        read_back(&keeper, "note.o");
        struct object_section *note = section_named(&keeper, ".note.GNU-stack");
        assert_int_equal(note ? (int)note->flags : -1, cases[i].flags);
        object_arena_free(&keeper.arena);
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
    assert_ok(link, object_link_write(link, path_of("frames.o")));
    object_link_free(link);
    struct keeper keeper;
    read_back(&keeper, "frames.o");
    struct object_section *frame = section_named(&keeper, ".eh_frame");
    assert_int_equal(count_frames(frame), 3);
    assert_int_equal(frame->data[frame->size - 4], 0); /* the terminator */
    object_arena_free(&keeper.arena);
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
    assert_ok(link, object_link_write(link, path_of("odd.o")));
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
    object_arena_free(&keeper.arena);
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
    object_arena_free(&keeper.arena);
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

/* ---- errors ---- */

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
    link = link_pair("e1.o", NULL);
    assert_false(object_link_write(link, "/nonexistent/folder/x.o"));
    assert_non_null(strstr(object_link_error(link), "/nonexistent/folder/x.o"));
    object_link_free(link);
    link = object_link_new();
    assert_false(object_link_add(link, 0, "bad\nname", "", 0));
    assert_string_equal(object_link_error(link), "bad?name: is not an ELF object");
    object_link_free(link);

    assemble("t1", ".globl v\n.section .tdata,\"awT\",@progbits\n.type v,@object\nv: .long 1\n");
    assemble("t2", ".globl f\n.type f,@function\nf: ret\n.type v,@object\n.quad v\n");
    refuse("t1.o", "t2.o", "'v' is thread-local in one place and not in another", "t1.o");
    char error[256];
    uint64_t size;
    bool defined;
    assert_false(object_text_size(path_of("e1.c"), &size, error, sizeof error));
    assert_non_null(strstr(error, "e1.c: is not an ELF object"));
    assert_false(object_defines(path_of("none.o"), "f", &defined, error, sizeof error));
    assert_non_null(strstr(error, "none.o"));
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
        {"belongs in a linked file", text, FIELD(sh_type), SHT_DYNAMIC},
        {"not little-endian", -1, EI_DATA, 1, ELFDATA2MSB},
        {"not a relocatable object", -1, HEADER(e_type), ET_CORE},
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
    assert_true(common > 0);
    expect_table("has a bad alignment", symtab, common + offsetof(Elf64_Sym, st_value), 8, 3, true);
    expect_table("is too large", symtab, common + offsetof(Elf64_Sym, st_size), 8,
                 UINT64_C(1) << 41, true);

    write_bytes("bsd.a",
                "!<arch>\n#1/20           0           0     0     644     4         `\nname", 72);
    refuse("bsd.a", NULL, "BSD archives are not supported", "bsd.a(");
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
    static const char *const files[] = {"s2.o", "t.a", "f2.o"};
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

/* ---- the bytes ---- */

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
    assert_ok(link, object_link_write(link, path_of("again.o")));
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
    assert_ok(link, object_link_write(link, path_of("ours.o")));
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
    object_arena_free(&ld.arena);
    object_arena_free(&ours.arena);
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
    text = dump("t.a");
    assert_non_null(
        strstr(text, "(a_very_long_member_name_for_an_archive.o): x86_64 relocatable, "));
    assert_non_null(strstr(text, "\n\n(b\\x20c.o): x86_64 relocatable, "));
    free(text);
}

static void test_names(void **state)
{
    (void)state;
    /* The tables are searched by bisection: every entry must be found. */
    assert_string_equal(object_relocation_name(EM_X86_64, R_X86_64_PC32), "R_X86_64_PC32");
    assert_string_equal(object_relocation_name(EM_AARCH64, R_AARCH64_ABS64), "R_AARCH64_ABS64");
    assert_string_equal(object_relocation_name(EM_AARCH64, R_AARCH64_LDST128_ABS_LO12_NC),
                        "R_AARCH64_LDST128_ABS_LO12_NC");
    assert_null(object_relocation_name(EM_AARCH64, 9999));
    assert_null(object_relocation_name(EM_MIPS, 1));
    unsigned found = 0;
    for (uint32_t type = 0; type < 2000; type++)
        found += object_relocation_name(EM_AARCH64, type) != NULL;
    assert_int_equal(found, 123);
    found = 0;
    for (uint32_t type = 0; type < 2000; type++)
        found += object_relocation_name(EM_X86_64, type) != NULL;
    assert_int_equal(found, 41);
}

/* ---- size ---- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void test_many_inputs(void **state)
{
    (void)state;
    compile_with("cc -O1 -fPIC -ffunction-sections -fdata-sections", "many", "c", data_source_2);
    size_t size;
    unsigned char *bytes = read_bytes("many.o", &size);
    double times[2];
    for (int scale = 0; scale < 2; scale++) {
        int count = scale ? 2000 : 500;
        double start = seconds();
        struct object_link *link = object_link_new();
        for (int i = 0; i < count; i++) {
            char name[32];
            snprintf(name, sizeof name, "second_%d", i);
            assert_ok(link, object_link_add(link, (unsigned)i, "many.o", bytes, size));
            export(link, (unsigned)i, "second", name);
        }
        finish(link, "second_77", "many-out.o");
        times[scale] = seconds() - start;
    }
    free(bytes);
    struct keeper keeper;
    read_back(&keeper, "many-out.o");
    assert_string_equal(defined_globals(&keeper), "second_77");
    assert_int_equal(symbols_named(&keeper, "weak_one"), 2000);
    object_arena_free(&keeper.arena);
    /* Four times the inputs: far from the sixteen times of a quadratic step. The slack is for
     * sanitizers and busy machines. */
    if (times[1] > 12 * times[0] + 0.2)
        fail_msg("500 inputs took %.3f s, 2000 took %.3f s", times[0], times[1]);
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
    object_arena_free(&keeper.arena);
    assert_int_equal(shell("readelf -SW wide-out.o 2>&1 | grep -q s65999"), 0);
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
        cmocka_unit_test(test_frame_end),
        cmocka_unit_test(test_odd_sections),
        cmocka_unit_test(test_aarch64),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_amplification),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_determinism),
        cmocka_unit_test(test_same_as_ld),
        cmocka_unit_test(test_dump),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_many_inputs),
        cmocka_unit_test(test_many_sections),
    };
    return cmocka_run_group_tests_name("object", tests, make_folder, remove_folder);
}
