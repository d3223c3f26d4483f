/* Copies of code: what a copy has of its own, what it shares, and that it does the same. */
#include "tests/unit/object_harness.h"

static void copy(struct object_link *link, unsigned group, unsigned to)
{
    assert_ok(link, object_link_copy(link, group, to));
}

static void *address(void *library, const char *symbol)
{
    void *(*function)(void);
    *(void **)&function = dlsym(library, symbol);
    assert_non_null(function);
    return function();
}

/* Groups 1, 2 and 3 are the object and two copies of it, behind something else; each exports
 * `symbols` (separated by blanks) with _0, _1 and _2 behind their names. */
static void *load_copies(const char *object, const char *symbols, const char *output)
{
    struct object_link *link = object_link_new();
    char names[256], from[64], as[80], *rest;
    compile("other", "static const long c[3] = {1, 2, 3}; long d[5] = {4}, z[6];"
                     "long at(int i) { return c[i] + d[i] + z[i]; }");
    add(link, 0, "other.o");
    add(link, 1, object);
    copy(link, 1, 2);
    copy(link, 1, 3);
    for (unsigned group = 1; group <= 3; group++) {
        snprintf(names, sizeof names, "%s", symbols);
        for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
            snprintf(from, sizeof from, "%s", name);
            snprintf(as, sizeof as, "%s_%u", name, group - 1);
            export(link, group, from, as);
            assert_ok(link, object_link_keep(link, as));
        }
    }
    assert_ok(link, write_link(link, output));
    object_link_free(link);
    return load(output);
}

static uint64_t size_of(struct keeper *keeper, const char *section)
{
    const struct object_section *found = section_named(keeper, section);
    return found ? found->size : 0;
}

/* ---- data ---- */

static void test_variables(void **state)
{
    (void)state;
    compile("counter", "static int calls; int tentative; int initial = 100;"
                       "static __thread int mine;"
                       "static int next(void) { return ++calls; }"
                       "int count(void) { tentative += 1000; initial++; mine++;"
                       "  return next() + tentative + mine * 10000; }"
                       "void *variable(void) { return &calls; }"
                       "void *constant(void) { static const int c[4] = {1}; return (void *)c; }"
                       "void *self(void) { return (void *)count; }");
    void *library = load_copies("counter.o", "count variable constant self", "counter-out.o");
    assert_int_equal(call(library, "count_0"), 11001);
    assert_int_equal(call(library, "count_1"), 22002);
    assert_int_equal(call(library, "count_2"), 33003);
    assert_int_equal(call(library, "count_0"), 44004);
    assert_ptr_equal(address(library, "variable_0"), address(library, "variable_2"));
    assert_ptr_equal(address(library, "constant_0"), address(library, "constant_1"));
    assert_ptr_not_equal(address(library, "self_0"), address(library, "self_1"));
    assert_ptr_not_equal(address(library, "self_1"), address(library, "self_2"));
    assert_ptr_equal(address(library, "self_2"), dlsym(library, "count_2"));
    dlclose(library);
}

static void test_sizes(void **state)
{
    (void)state;
    compile("sizes", "const int table[1000] = {1, 2}; int data[500] = {3}; int zeros[700];"
                     "int f(int i) { return table[i] + data[i] + zeros[i]; }");
    dlclose(load_copies("sizes.o", "f", "sizes-out.o"));
    struct keeper one, three;
    read_back(&one, "sizes.o");
    read_back(&three, "sizes-out.o");
    uint64_t code = size_of(&one, ".text"), all = size_of(&three, ".text");
    assert_true(all >= 3 * code && all < 3 * code + 128);
    assert_in_range(size_of(&three, ".rodata"), 4000, 4100);
    assert_in_range(size_of(&three, ".data"), 2000, 2100);
    assert_in_range(size_of(&three, ".bss"), 2800, 2900);
    assert_true(size_of(&three, ".eh_frame") >= 3 * size_of(&one, ".eh_frame") - 24);
    assert_string_equal(defined_globals(&three), "f_0 f_1 f_2");
    assert_int_equal(symbols_named(&three, "table"), 1);
    assert_int_equal(symbols_named(&three, "zeros"), 1);
    arena_free(&one.arena.memory);
    arena_free(&three.arena.memory);
}

/* ---- code ---- */

static const char dispatcher[] =
    "static volatile int last; static int add(int x) { last = x; return x + 1; }"
    "static int (*const table[])(int) = {add};"
    "static __attribute__((noinline)) int jump(int i, int x) {"
    "  switch (i) { case 0: return x * 3; case 1: return x + 7; case 2: return x - 9;"
    "    case 3: return x / 2; case 4: return x ^ 5; case 5: return x << 2; case 6: last = x;"
    "      return 1; default: return table[0](x); } }"
    "int run(void) { int sum = 0; for (int i = 0; i < 9; i++) sum = sum * 7 + jump(i, i + 20);"
    "  return sum; }"
    "void *place(void) { return (void *)jump; }";

static void test_jump_tables(void **state)
{
    (void)state;
    compile("jumps", dispatcher);
    void *library = load_copies("jumps.o", "run place", "jumps-out.o");
    int wanted = call(library, "run_0");
    assert_int_equal(call(library, "run_1"), wanted);
    assert_int_equal(call(library, "run_2"), wanted);
    assert_ptr_not_equal(address(library, "place_0"), address(library, "place_1"));
    dlclose(library);
    /* A table of offsets into code is read-only, and goes with its code. */
    assemble("table", ".text\n.globl f\n.type f,@function\nf: ret\n.Lcase: ret\n"
                      ".section .rodata\n.Ltable: .long .Lcase-.Ltable\n.long 7\n"
                      ".section .rodata.plain,\"a\"\n.long 8\n"
                      ".section .meta,\"ao\",@progbits,.text\n.long 9\n"
                      ".section .data.rel.ro,\"aw\"\n.quad .Lcase\n"
                      ".section .note.GNU-stack,\"\",@progbits\n");
    struct object_link *link = link_pair("table.o", NULL);
    copy(link, 0, 1);
    export(link, 0, "f", "f");
    export(link, 1, "f", "g");
    finish(link, "f", "table-out.o");
    struct keeper keeper;
    read_back(&keeper, "table-out.o");
    assert_int_equal(size_of(&keeper, ".rodata"), 16);
    assert_int_equal(size_of(&keeper, ".rodata.plain"), 4);
    assert_int_equal(size_of(&keeper, ".meta"), 8);
    assert_int_equal(size_of(&keeper, ".data.rel.ro"), 8);
    const struct object_section *table = section_named(&keeper, ".rodata");
    assert_int_equal(table->relocation_count, 2);
    /* Offset 1 of each copy's code, as seen from the table's own beginning. */
    assert_int_equal(table->relocations[0].addend, 1);
    assert_int_equal(table->relocations[1].addend - table->relocations[0].addend,
                     symbol_named(&keeper, "g")->value - symbol_named(&keeper, "f")->value);
    arena_free(&keeper.arena.memory);
}

static void test_archive_members(void **state)
{
    (void)state;
    compile("m1", "int helper(int); extern int shared; int weak(void);"
                  "int outer(void) { return helper(shared) + weak(); }");
    compile("m2", "int shared = 4; int weak(void) { return 100; }"
                  "int helper(int x) { shared = x + 1; return x * 10; }");
    compile("m3", "__attribute__((weak)) int weak(void) { return 0; } int unused(void);"
                  "__attribute__((weak)) int unused(void); int peek(void) { return !unused; }");
    assert_int_equal(shell("rm -f m.a && ar rc m.a m1.o m2.o m3.o"), 0);
    void *library = load_copies("m.a", "outer helper peek", "m-out.o");
    assert_int_equal(call(library, "outer_0"), 140);
    assert_int_equal(call(library, "outer_1"), 150);
    assert_int_equal(call(library, "outer_2"), 160);
    assert_int_equal(call(library, "peek_1"), 1);
    dlclose(library);
    struct keeper keeper;
    read_back(&keeper, "m-out.o");
    assert_int_equal(symbols_named(&keeper, "shared"), 1);
    assert_int_equal(symbols_named(&keeper, "unused"), 1);
    arena_free(&keeper.arena.memory);
    /* Calls within a copy stay in it: each `helper` is referred to once. */
    const char *text = "x86_64";
    if (shell("objdump -dr m-out.o 2>/dev/null | grep -q %s", text) == 0)
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(shell("test $(objdump -dr m-out.o | grep -c 'R_X86_64_.*helper_%u')"
                                   " -eq 1",
                                   i),
                             0);
}

static void test_comdat(void **state)
{
    (void)state;
    if (!have("c++"))
        skip();
    const char *part = "inline __attribute__((noinline)) int twice(int x) {"
                       "  static int calls; return 2 * x + 0 * ++calls; }"
                       "extern \"C\" int %s(void) { return twice(%d) + %d; }";
    char text[512];
    snprintf(text, sizeof text, part, "one", 5, 1);
    compile_with("c++ -O1 -fPIC", "c1", "cc", text);
    snprintf(text, sizeof text, part, "two", 7, 2);
    compile_with("c++ -O1 -fPIC", "c2", "cc", text);
    assert_int_equal(shell("rm -f c.a && ar rc c.a c1.o c2.o"), 0);
    void *library = load_copies("c.a", "one two", "c-out.o");
    for (unsigned i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "one_%u", i);
        assert_int_equal(call(library, name), 11);
        snprintf(name, sizeof name, "two_%u", i);
        assert_int_equal(call(library, name), 16);
    }
    dlclose(library);
    struct keeper keeper;
    read_back(&keeper, "c-out.o");
    assert_int_equal(symbols_named(&keeper, "_Z5twicei"), 3);
    assert_int_equal(symbols_named(&keeper, "_ZZ5twiceiE5calls"), 1);
    arena_free(&keeper.arena.memory);
}

/* A reference to a group's discarded member goes to the kept one of the same copy. */
static void test_comdat_references(void **state)
{
    (void)state;
    static const char *const members[] = {"d1", "d2"};
    for (unsigned i = 0; i < 2; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 ".section .text.g,\"axG\",@progbits,g,comdat\n.weak g\n.type g,@function\ng: ret\n"
                 ".Lg: ret\n.section .text.own,\"ax\"\n.globl %s\n.type %s,@function\n"
                 "%s: ret\n.quad .Lg\n",
                 members[i], members[i], members[i]);
        assemble(members[i], text);
    }
    struct object_link *link = link_pair("d1.o", "d2.o");
    copy(link, 0, 1);
    export(link, 1, "d2", "d2");
    finish(link, "d2", "d-out.o");
    struct keeper keeper;
    read_back(&keeper, "d-out.o");
    const struct object_section *own = section_named(&keeper, ".text.own");
    assert_int_equal(size_of(&keeper, ".text.g"), 4);
    assert_int_equal(own->relocation_count, 4);
    static const uint64_t wanted[] = {1, 1, 3, 3};
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(own->relocations[i].addend, wanted[i]);
    arena_free(&keeper.arena.memory);
}

static void test_exceptions(void **state)
{
    (void)state;
    if (!have("c++"))
        skip();
    compile_with("c++ -O1 -fPIC", "throws", "cc",
                 "__attribute__((noinline)) static void fail(int x) { if (x) throw x; }"
                 "extern \"C\" int run(void) { int sum = 0; for (int i = 0; i < 4; i++)"
                 "  try { fail(i); sum += 100; } catch (int x) { sum += x; } return sum; }");
    compile_with("c++", "catches", "cc",
                 "extern \"C\" int run(void); int main() { return run() != 106; }");
    struct object_link *link = link_pair("throws.o", NULL);
    copy(link, 0, 1);
    export(link, 0, "run", "first");
    export(link, 1, "run", "run");
    finish(link, "run", "throws-out.o");
    assert_int_equal(shell("c++ -o catches catches.o throws-out.o && ./catches"), 0);
}

/* Pieces of functions that run once at load time are not copied. */
static void test_init(void **state)
{
    (void)state;
    compile("init", "static int loads; __attribute__((constructor)) static void up(void)"
                    " { loads++; } int count(void) { return loads; }");
    void *library = load_copies("init.o", "count", "init-out.o");
    assert_int_equal(call(library, "count_2"), 1);
    dlclose(library);
    assemble("piece", ".section .init,\"ax\"\nnop\n.text\n.globl f\n.type f,@function\nf: ret\n"
                      ".section wx,\"awx\"\n.long 1\n");
    struct object_link *link = link_pair("piece.o", NULL);
    copy(link, 0, 1);
    export(link, 1, "f", "f");
    finish(link, "f", "piece-out.o");
    struct keeper keeper;
    read_back(&keeper, "piece-out.o");
    assert_int_equal(size_of(&keeper, ".init"), 1);
    assert_int_equal(size_of(&keeper, "wx"), 4);
    arena_free(&keeper.arena.memory);
}

/* The same link written twice, and made twice, gives the same bytes. */
static void test_determinism(void **state)
{
    (void)state;
    void *bytes[3];
    size_t sizes[3];
    for (unsigned i = 0; i < 3; i++) {
        static struct object_link *link;
        if (i != 1) {
            link = link_pair("jumps.o", NULL);
            copy(link, 0, 1);
            copy(link, 0, 2);
            export(link, 2, "run", "run");
        }
        assert_ok(link, object_link_bytes(link, &bytes[i], &sizes[i]));
        if (i > 0)
            object_link_free(link);
    }
    for (unsigned i = 1; i < 3; i++) {
        assert_int_equal(sizes[i], sizes[0]);
        assert_memory_equal(bytes[i], bytes[0], sizes[0]);
    }
    for (unsigned i = 0; i < 3; i++)
        mem_free(bytes[i]);
}

static void test_aarch64(void **state)
{
    (void)state;
    if (!have("clang"))
        skip();
    compile_with("clang --target=aarch64-linux-gnu -O2 -fPIC -ffreestanding", "arm", "c",
                 dispatcher);
    struct object_link *link = link_pair("arm.o", NULL);
    copy(link, 0, 1);
    export(link, 0, "run", "run");
    export(link, 1, "run", "run_split1");
    finish(link, "run", "arm-out.o");
    struct keeper one, two;
    read_back(&one, "arm.o");
    read_back(&two, "arm-out.o");
    assert_true(size_of(&two, ".text") >= 2 * size_of(&one, ".text"));
    assert_int_equal(size_of(&two, ".bss"), size_of(&one, ".bss"));
    arena_free(&one.arena.memory);
    arena_free(&two.arena.memory);
}

/* ---- errors ---- */

static void test_errors(void **state)
{
    (void)state;
    struct object_link *link = link_pair("jumps.o", NULL);
    assert_false(object_link_copy(link, 7, 8));
    fails_with(link, "group 7 cannot be copied to group 8", NULL);
    link = link_pair("jumps.o", NULL);
    assert_false(object_link_copy(link, 0, 0));
    fails_with(link, "group 0 cannot be copied to group 0", NULL);
    link = link_pair("jumps.o", NULL);
    copy(link, 0, 1);
    assert_false(object_link_copy(link, 0, 1));
    fails_with(link, "group 0 cannot be copied to group 1", NULL);
    link = link_pair("jumps.o", NULL);
    copy(link, 0, 1);
    assert_false(object_link_copy(link, 1, 2));
    fails_with(link, "group 1 cannot be copied to group 2", NULL);
    link = link_pair("jumps.o", NULL);
    copy(link, 0, 1);
    assert_false(object_link_add_file(link, 1, path_of("sizes.o")));
    fails_with(link, "sizes.o cannot be added to a copy of a group", NULL);
    link = link_pair("sizes.o", NULL);
    copy(link, 0, 1);
    assert_ok(link, object_link_export(link, 1, "data", "data"));
    fails_with(link, "no definition of 'data'", NULL);
}

/* ---- size ---- */

static size_t size_with(unsigned inputs, unsigned copies)
{
    struct object_link *link = object_link_new();
    void *bytes;
    size_t size;
    for (unsigned i = 0; i < inputs; i++) {
        char name[32];
        add(link, i, "jumps.o");
        for (unsigned c = 0; c < copies; c++) {
            unsigned group = i + inputs * c;
            if (c)
                copy(link, i, group);
            snprintf(name, sizeof name, "k%u_%u", i, c);
            export(link, group, "run", name);
        }
    }
    assert_ok(link, object_link_bytes(link, &bytes, &size));
    object_link_free(link);
    mem_free(bytes);
    return size;
}

/* Eight times the copies: not much more than eight times the bytes. */
static void test_growth(void **state)
{
    (void)state;
    assert_true(size_with(200, 32) < 9 * size_with(200, 4));
}

int main(void)
{
    /* Later tests read files that earlier ones made. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variables),   cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_jump_tables), cmocka_unit_test(test_archive_members),
        cmocka_unit_test(test_comdat),      cmocka_unit_test(test_comdat_references),
        cmocka_unit_test(test_exceptions),  cmocka_unit_test(test_init),
        cmocka_unit_test(test_determinism), cmocka_unit_test(test_aarch64),
        cmocka_unit_test(test_errors),      cmocka_unit_test(test_growth),
    };
    return cmocka_run_group_tests_name("object copies", tests, make_folder, remove_folder);
}
