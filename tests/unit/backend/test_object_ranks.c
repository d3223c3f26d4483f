/* The order of inputs in a linked object, and variables that its groups share. */
#include "tests/unit/object_harness.h"

/* ---- order ---- */

static uint64_t place_of(struct keeper *keeper, const char *symbol)
{
    const struct object_symbol *found = symbol_named(keeper, symbol);
    assert_non_null(found);
    return found->value;
}

static void compile_functions(void)
{
    compile("entry_a", "int entry(void){return 1;}");
    compile("entry_b", "int entry_two(void){return 2;}");
    compile("k_a", "int k_a(void){return 3;}");
    compile("k_b", "int k_b(void){return 4;} int h(void){return 5;}");
    compile("l", "int l(void){return 6;}");
    assert_int_equal(shell("rm -f k.a && ar rcD k.a k_b.o k_a.o"), 0);
}

static struct object_link *link_functions(void)
{
    struct object_link *link = object_link_new();
    add(link, 0, "entry_a.o");
    add(link, 1, "entry_b.o");
    add(link, 2, "k.a");
    add(link, 3, "l.o");
    assert_ok(link, object_link_copy(link, 2, 4));
    export(link, 0, "entry", "entry");
    export(link, 1, "entry_two", "entry_two");
    export(link, 2, "k_a", "ka");
    export(link, 2, "k_b", "kb");
    export(link, 4, "k_a", "ka_1");
    export(link, 4, "k_b", "kb_1");
    export(link, 3, "l", "l");
    return link;
}

static void assert_order(const char *const *symbols, const char *name)
{
    struct keeper keeper;
    read_back(&keeper, name);
    for (; symbols[1]; symbols++)
        if (place_of(&keeper, symbols[0]) >= place_of(&keeper, symbols[1]))
            fail_msg("'%s' does not stand before '%s'", symbols[0], symbols[1]);
    arena_free(&keeper.arena.memory);
}

static void test_ranks(void **state)
{
    (void)state;
    static const char *const order[] = {"entry", "ka",   "ka_1", "entry_two",
                                        "kb",    "kb_1", "l",    NULL};
    compile_functions();
    struct object_link *link = link_functions();
    assert_ok(link, object_link_place(link, 2, NULL, 3));
    assert_ok(link, object_link_place(link, 2, "k_a", 1));
    assert_ok(link, object_link_place(link, 1, "entry_two", 2));
    assert_ok(link, object_link_place(link, 3, NULL, 4));
    finish(link, "entry", "ranks.o");
    assert_order(order, "ranks.o");
}

/* An archive's members have the order of the archive, and copies stand where they were made. */
static void test_no_ranks(void **state)
{
    (void)state;
    static const char *const order[] = {"entry", "entry_two", "kb",   "ka",
                                        "l",     "kb_1",      "ka_1", NULL};
    compile_functions();
    finish(link_functions(), "entry", "no_ranks.o");
    assert_order(order, "no_ranks.o");
}

/* Members that call each other do so wherever they are placed, in copies as well. */
static void test_ranks_and_calls(void **state)
{
    (void)state;
    compile("one", "int two(int); int one(int x){return two(x) + 1;}");
    compile("two", "static int calls; int base(void); int two(int x){return x + base() + calls++;}"
                   "int base(void){return 100;}");
    compile("main", "int k(int); int k_1(int); int entry(void){return k(1000) + k_1(20000);}");
    assert_int_equal(shell("rm -f pair.a && ar rcD pair.a one.o two.o"), 0);
    struct object_link *link = object_link_new();
    add(link, 0, "main.o");
    add(link, 1, "pair.a");
    assert_ok(link, object_link_copy(link, 1, 2));
    export(link, 0, "entry", "entry");
    export(link, 1, "one", "k");
    export(link, 2, "one", "k_1");
    assert_ok(link, object_link_place(link, 1, "one", 1));
    assert_ok(link, object_link_place(link, 1, "two", 2));
    assert_ok(link, object_link_place(link, 0, NULL, 3));
    finish(link, "entry", "calls.o");
    void *library = load("calls.o");
    assert_int_equal(call(library, "entry"), 1101 + 20101 + 1);
    dlclose(library);
}

static void test_unknown_place(void **state)
{
    (void)state;
    compile("some", "int other(void); int some(void){return other();}");
    struct object_link *link = object_link_new();
    add(link, 0, "some.o");
    assert_false(object_link_place(link, 0, "other", 1));
    fails_with(link, "no definition of 'other'", "placed");
}

/* ---- variables ---- */

static void compile_kernels(void)
{
    compile("e", "__attribute__((weak)) int mode; extern int level; int a(void); int b(void);"
                 "int entry(void){mode = 7; level = 20; int sum = a(); mode = 8; level = 30;"
                 " return sum * 1000 + b();}");
    compile("a",
            "__attribute__((weak)) int mode; __attribute__((weak)) int level;"
            "__attribute__((weak)) int own = 1; __attribute__((weak)) int help(void){return 1;}"
            "int k(void){own++; return mode + level + own + help();}");
    compile("b",
            "__attribute__((weak)) int mode; __attribute__((weak)) int level;"
            "__attribute__((weak)) int own = 100; __attribute__((weak)) int help(void){return 300;}"
            "int k(void){own++; return mode + level + own + help();}");
}

static struct object_link *link_kernels(void)
{
    struct object_link *link = object_link_new();
    add(link, 0, "e.o");
    add(link, 1, "a.o");
    add(link, 2, "b.o");
    export(link, 1, "k", "a");
    export(link, 2, "k", "b");
    export(link, 0, "entry", "entry");
    return link;
}

/* What the entry names is one variable, defined in it or not; what it does not name is the
 * kernel's own, and so are functions. */
static void test_share(void **state)
{
    (void)state;
    compile_kernels();
    struct object_link *link = link_kernels();
    assert_ok(link, object_link_share(link, 0));
    finish(link, "entry", "share.o");
    void *library = load("share.o");
    assert_int_equal(call(library, "entry"), (7 + 20 + 2 + 1) * 1000 + 8 + 30 + 101 + 300);
    dlclose(library);
}

/* Copies of code see the same variables. */
static void test_share_with_copies(void **state)
{
    (void)state;
    compile_kernels();
    struct object_link *link = object_link_new();
    add(link, 0, "e.o");
    add(link, 1, "a.o");
    assert_ok(link, object_link_copy(link, 1, 2));
    export(link, 1, "k", "a");
    export(link, 2, "k", "b");
    export(link, 0, "entry", "entry");
    assert_ok(link, object_link_share(link, 0));
    finish(link, "entry", "share_copies.o");
    void *library = load("share_copies.o");
    assert_int_equal(call(library, "entry"), (7 + 20 + 2 + 1) * 1000 + 8 + 30 + 3 + 1);
    dlclose(library);
}

/* What assembly defines without a type is a variable where it is in data. */
static void test_share_without_type(void **state)
{
    (void)state;
    compile("e3", "__asm__(\".data\\n.weak word\\n.balign 4\\nword: .long 5\\n.text\");"
                  "extern int word; int a(void); int entry(void){word++; return a();}");
    compile("a3", "__asm__(\".data\\n.weak word\\n.balign 4\\nword: .long 70\\n.text\");"
                  "extern int word; int k(void){return word;}");
    struct object_link *link = object_link_new();
    add(link, 0, "e3.o");
    add(link, 1, "a3.o");
    export(link, 1, "k", "a");
    export(link, 0, "entry", "entry");
    assert_ok(link, object_link_share(link, 0));
    finish(link, "entry", "untyped.o");
    void *library = load("untyped.o");
    assert_int_equal(call(library, "entry"), 6);
    dlclose(library);
}

/* A kernel's strong variable is its own, whatever the entry has. */
static void test_strong_is_own(void **state)
{
    (void)state;
    compile(
        "e2",
        "int mode = 5; int a(void); int b(void); int entry(void){mode++; return a() * 100 + b();}");
    compile("a2", "int mode = 70; int k(void){return mode;}");
    compile("b2", "extern int mode; int k(void){return mode;}");
    struct object_link *link = object_link_new();
    add(link, 0, "e2.o");
    add(link, 1, "a2.o");
    add(link, 2, "b2.o");
    export(link, 1, "k", "a");
    export(link, 2, "k", "b");
    export(link, 0, "entry", "entry");
    assert_ok(link, object_link_share(link, 0));
    finish(link, "entry", "strong.o");
    void *library = load("strong.o");
    assert_int_equal(call(library, "entry"), 7006);
    dlclose(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_no_ranks),
        cmocka_unit_test(test_ranks_and_calls),
        cmocka_unit_test(test_unknown_place),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_share_with_copies),
        cmocka_unit_test(test_share_without_type),
        cmocka_unit_test(test_strong_is_own),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
