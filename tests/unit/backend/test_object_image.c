/* Objects as code and data of this process: what compilers make of C, what is left to the system's
 * loader, and what is wrong. */
#include "tests/unit/object_harness.h"

#include <signal.h>
#include <sys/wait.h>

#if defined(__x86_64__) && defined(__LP64__)
#define LOADED 1
#define WIDER "-O3 -mcmodel=medium"
#define NOT_LOADED "-O1 -mcmodel=large"
#define WORD_RELOCATION "R_X86_64_64"
#elif defined(__aarch64__) && defined(__LP64__)
#define LOADED 1
#define WIDER "-O3 -mcmodel=small"
#define NOT_LOADED "-O1 -fpic" /* by pages of the table of addresses */
#define WORD_RELOCATION "R_AARCH64_ABS64"
#else
#define WIDER ""
#define NOT_LOADED ""
#define WORD_RELOCATION "0"
#endif

static char error[512];

/* What the loaded code finds here. */
static int twice(int x)
{
    return 2 * x;
}
static int shared_value = 40;

static void *look_up(const char *name)
{
    if (strcmp(name, "twice") == 0)
        return (void *)(uintptr_t)twice;
    if (strcmp(name, "shared_value") == 0)
        return &shared_value;
    if (strcmp(name, "memset") == 0)
        return (void *)(uintptr_t)memset;
    return strcmp(name, "memcpy") == 0 ? (void *)(uintptr_t)memcpy : NULL;
}

static enum object_image_status load_image(const char *name, struct object_image **image)
{
    size_t size;
    unsigned char *bytes = read_bytes(name, &size);
    enum object_image_status status =
        object_image_load(bytes, size, look_up, image, error, sizeof error);
    free(bytes);
    return status;
}

static struct object_image *loaded(const char *name)
{
    struct object_image *image;
    if (load_image(name, &image) != OBJECT_IMAGE_LOADED)
        fail_msg("%s: %s", name, error);
    return image;
}

static int call_image(const struct object_image *image, const char *symbol)
{
    int (*function)(void) = (int (*)(void))(uintptr_t)object_image_find(image, symbol);
    assert_non_null(function);
    return function();
}

/* ---- what can be loaded ---- */

/* Each function returns 0 where all is well. Volatile things keep compilers from knowing. */
static const char everything[] =
    "#include <string.h>\n"
    "extern int twice(int), absent(void) __attribute__((weak));\n"
    "extern int shared_value;\n"
    "static volatile int written = 3, zero[1000];\n"
    "static int one(void) { return 1; }\n"
    "static int two(void) { return 2; }\n"
    "static int (*const table[])(void) = {one, two};\n"
    "static const char *const texts[] = {\"abc\", \"de\"};\n"
    "_Alignas(8192) static volatile char wide[16] = {5};\n"
    "volatile int chosen = 1;\n"
    "int calls(void) { return twice(21) != 42; }\n"
    "int variables(void) { shared_value += 2; zero[999] += written++; \n"
    "  return shared_value != 42 || zero[999] != 3 || written != 4; }\n"
    "int tables(void) { return table[chosen]() != 2 || strcmp(texts[chosen], \"de\"); }\n"
    "int addresses(void) { return absent != 0 || (unsigned long)wide % 8192 || wide[0] != 5; }\n"
    "int jumps(void) { switch (chosen) { case 0: return 8; case 1: return 0; case 2: return 5;\n"
    "  case 3: return 9; case 4: return 11; case 5: return 2; } return 1; }\n"
    "int copies(void) { char a[600], b[600] = {7}; b[599] = 3; memcpy(a, b, 500 + 100 * chosen);\n"
    "  return a[0] != 7 || a[599] != 3; }\n";

static void test_everything(void **state)
{
    (void)state;
    static const char *const names[] = {"calls",     "variables", "tables",
                                        "addresses", "jumps",     "copies"};
    static const char *const options[] = {"-O2 -g", "-O0", "-Os -fno-plt", WIDER};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        char compiler[64];
        snprintf(compiler, sizeof compiler, "cc -fPIC %s -fno-builtin-strcmp", options[i]);
        shared_value = 40;
        compile_with(compiler, "all", "c", everything);
        compile("more", "int strcmp(const char *a, const char *b)"
                        "{ while (*a && *a == *b) { a++; b++; } return *a - *b; }");
        assert_int_equal(shell("cc -nostdlib -r -o both.o all.o more.o"), 0);
        struct object_image *image = loaded("both.o");
        for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
            if (call_image(image, names[n]) != 0)
                fail_msg("%s with %s", names[n], options[i]);
        assert_null(object_image_find(image, "one"));
        assert_null(object_image_find(image, "twice"));
        object_image_free(image);
    }
}

/* What C makes only of sections that are far larger: distances in few bits. */
static const char near[] = "\t.text\n\t.global near\n"
                           "near:\tadr x1, number\n\tldr w0, [x1]\n\tldr w2, number\n"
                           "\tsub w0, w0, w2\n\tcbz w0, second\n\tret\n"
                           "\t.section .text.second, \"ax\"\n"
                           "second:\ttbz w0, #0, third\n\tret\n"
                           "\t.section .text.third, \"ax\"\n"
                           "third:\tadrp x1, back\n\tadd x3, x1, :lo12:back\n"
                           "\tldrsw x2, [x1, :lo12:back]\n\tldr w0, [x2, x3]\n"
                           "\tadrp x1, wide\n\tldr q0, [x1, :lo12:wide]\n\tfmov x1, d0\n"
                           "\tsub w0, w0, w1\n\tret\n"
                           "\t.section .rodata\n\t.balign 16\nwide:\t.quad 77, 0\n"
                           "number:\t.long 77\n\t.data\nback:\t.long number - .\n";

static void test_near(void **state)
{
    (void)state;
#if defined(__aarch64__) && defined(LOADED)
    compile_with("cc", "near", "s", near);
    struct object_image *image = loaded("near.o");
    assert_int_equal(call_image(image, "near"), 0);
    object_image_free(image);
#else
    (void)near;
    skip();
#endif
}

/* Who writes to code or constants, also to those whose addresses were filled in, is stopped. */
static void test_protection(void **state)
{
    (void)state;
    compile("rights", "static int one(void) { return 1; }\n"
                      "int (*const table[])(void) = {one};\n"
                      "const int constants[] = {1, 2}; int variable = 4;\n"
                      "int code(void) { return 1; }\n");
    struct object_image *image = loaded("rights.o");
    static const char *const kept[] = {"table", "constants", "code"};
    *(volatile int *)object_image_find(image, "variable") = 5;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            signal(SIGSEGV, SIG_DFL);
            *(volatile int *)object_image_find(image, kept[i]) = 1;
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
            fail_msg("%s can be written", kept[i]);
    }
    object_image_free(image);
}

/* ---- what cannot ---- */

static void expect(const char *compiler, const char *text, enum object_image_status status,
                   const char *why)
{
    struct object_image *image;
    compile_with(compiler, "other", "c", text);
    assert_int_equal(load_image("other.o", &image), status);
    assert_null(image);
    if (!strstr(error, why))
        fail_msg("not '%s' but: %s", why, error);
}

static void test_left_to_the_system(void **state)
{
    (void)state;
    expect("cc -fPIC", "_Thread_local int x = 4; int f(void) { return x++; }", OBJECT_IMAGE_OTHER,
           "thread-local");
    expect("cc -fPIC", "int x; __attribute__((constructor)) void f(void) { x = 1; }",
           OBJECT_IMAGE_OTHER, "constructors");
    expect("cc -fPIC", "int x; __attribute__((destructor)) void f(void) { x = 1; }",
           OBJECT_IMAGE_OTHER, "constructors");
    static const char *const sections[] = {".ctors", ".ctors.65535", ".dtors.5", ".init", ".fini"};
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        char text[128];
        snprintf(text, sizeof text, "__attribute__((section(\"%s\"))) int x = 4;", sections[i]);
        expect("cc -fPIC", text, OBJECT_IMAGE_OTHER, "constructors");
    }
    expect("cc -fno-pic -O1", "extern int shared_value; int f(void) { return shared_value; }",
           OBJECT_IMAGE_OTHER, "another kind");
    expect("cc -fPIC",
           "static int a(void) { return 1; } static void *pick(void) { return a; }\n"
           "int f(void) __attribute__((ifunc(\"pick\")));",
           OBJECT_IMAGE_OTHER, "indirect");
    expect("cc -fPIC", "extern int __absent(int); int f(void) { return __absent(1); }",
           OBJECT_IMAGE_OTHER, "the compiler's library");
    expect("cc -fPIC " NOT_LOADED,
           "extern int twice(int), shared_value; int f(void) { return twice(shared_value); }",
           OBJECT_IMAGE_OTHER, "another kind");
}

static void test_wrong(void **state)
{
    (void)state;
    expect("cc -fPIC", "extern int absent(int); int f(void) { return absent(1); }",
           OBJECT_IMAGE_FAILED, "undefined symbol: absent");
    struct object_image *image;
    assert_int_equal(object_image_load("no object", 9, look_up, &image, error, sizeof error),
                     OBJECT_IMAGE_FAILED);
    assert_non_null(strstr(error, "is not an ELF object"));
}

/* A relocation of eight bytes at the last four of a section. */
static void test_relocation_at_the_end(void **state)
{
    (void)state;
    compile_with("cc", "end", "s",
                 "\t.data\n\t.long 1\n\t.reloc 0, " WORD_RELOCATION ", f\n\t.text\nf:\tret\n");
    struct object_image *image;
    assert_int_equal(load_image("end.o", &image), OBJECT_IMAGE_FAILED);
    assert_non_null(strstr(error, "beyond its end"));
}

/* Code comes first, whose alignment is larger than that of mappings. */
static void test_alignment(void **state)
{
    (void)state;
    compile_with("cc", "aligned", "s", "\t.text\n\t.balign 1048576\n\t.globl f\nf:\tret\n");
    struct object_image *image = loaded("aligned.o");
    assert_int_equal((uintptr_t)object_image_find(image, "f") % 1048576, 0);
    object_image_free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything), cmocka_unit_test(test_near),
        cmocka_unit_test(test_protection), cmocka_unit_test(test_left_to_the_system),
        cmocka_unit_test(test_wrong),      cmocka_unit_test(test_relocation_at_the_end),
        cmocka_unit_test(test_alignment),
    };
#ifdef LOADED
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
#else
    (void)tests;
    return 77; /* nothing is loaded so */
#endif
}
