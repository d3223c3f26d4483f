/* Line tables of objects, and where their functions are. */
#include "tests/unit/object_harness.h"

struct rows {
    char text[4096];
};

static void add_row(void *user, const char *function, uint64_t offset, const char *file,
                    uint32_t line)
{
    struct rows *rows = user;
    size_t size = strlen(rows->text);
    (void)offset;
    snprintf(rows->text + size, sizeof rows->text - size, "%s:%s:%u ", function, file, line);
}

static bool read_lines(const char *name, struct rows *rows)
{
    char error[512];
    rows->text[0] = '\0';
    return object_lines(path_of(name), add_row, rows, error, sizeof error);
}

static const char source[] = "void f(int);\n"
                             "void one(void)\n"
                             "{\n"
                             "    f(1);\n"
                             "    f(2);\n"
                             "}\n"
                             "int two(int x)\n"
                             "{\n"
                             "    f(x);\n"
                             "    return x;\n"
                             "}\n";

static void assert_has(const struct rows *rows, const char *row)
{
    if (!strstr(rows->text, row))
        fail_msg("'%s' is not in %s", row, rows->text);
}

static void test_rows(void **state)
{
    (void)state;
    struct rows rows;
    for (int version = 2; version <= 4; version++) {
        char compiler[64];
        snprintf(compiler, sizeof compiler, "cc -O1 -g -gdwarf-%d -ffunction-sections", version);
        compile_with(compiler, "lines", "c", source);
        assert_true(read_lines("lines.o", &rows));
        assert_has(&rows, "one:lines.c:4 ");
        assert_has(&rows, "one:lines.c:5 ");
        assert_has(&rows, "two:lines.c:9 ");
        assert_null(strstr(rows.text, "f:"));
    }
}

static void test_no_rows(void **state)
{
    (void)state;
    struct rows rows;
    compile("plain", source);
    assert_true(read_lines("plain.o", &rows));
    assert_string_equal(rows.text, "");
    compile_with("cc -O1 -g -gdwarf-5", "newer", "c", source);
    assert_true(read_lines("newer.o", &rows));
    assert_string_equal(rows.text, "");
    assert_false(read_lines("absent.o", &rows));
}

/* Whatever stands in a table, reading it ends. */
static void test_damage(void **state)
{
    (void)state;
    struct keeper keeper;
    struct rows rows;
    size_t size;
    compile_with("cc -O1 -g -gdwarf-4", "whole", "c", source);
    read_back(&keeper, "whole.o");
    size_t table = section_named(&keeper, ".debug_line")->size;
    unsigned char *bytes = read_bytes("whole.o", &size), *at = NULL;
    for (size_t i = 0; i + table <= size && !at; i++)
        if (memcmp(bytes + i, section_named(&keeper, ".debug_line")->data, table) == 0)
            at = bytes + i;
    assert_non_null(at);
    unsigned seed = 1;
    for (int round = 0; round < 500; round++) {
        unsigned char *place = at + rand_r(&seed) % table, old = *place;
        *place = (unsigned char)rand_r(&seed);
        write_bytes("damaged.o", bytes, size);
        assert_true(read_lines("damaged.o", &rows));
        if (round % 5)
            *place = old;
    }
    free(bytes);
    object_arena_free(&keeper.arena);
}

/* ---- programs by hand ---- */

static void add_place(void *user, const char *function, uint64_t offset, const char *file,
                      uint32_t line)
{
    struct rows *rows = user;
    size_t size = strlen(rows->text);
    snprintf(rows->text + size, sizeof rows->text - size, "%s+%u:%s:%u ", function,
             (unsigned)offset, file, line);
}

/* A header of version 4: addresses in units of 2, special opcodes from 13 on, of 12 lines from -3
 * on; two files, the first of which has a field of two bytes. */
#define LINE_HEADER(id, version)                                                                   \
    ".section .debug_line,\"\",@progbits\n.long end" id "-begin" id "\nbegin" id                   \
    ": .short " version "\n.long program" id "-1f\n1: .byte 2,1,1,-3,12,13\n"                      \
    ".byte 0,1,1,1,1,0,0,0,1,0,0,1\n.asciz \"folder\"\n.byte 0\n"                                  \
    ".asciz \"a.c\"\n.byte 1,0x81,1,0\n.asciz \"b.c\"\n.byte 0,0,0\n.byte 0\nprogram" id ":\n"

static const char program[] =
    ".text\nnop\n.globl f\n.type f,@function\nf: .zero 200\n.size f,200\n"
    ".type g,@function\ng: ret\n.size g,1\n" LINE_HEADER(
        "1",
        "4") "\t.byte 1\n"                             /* no address yet */
             "\t.byte 0,9,2\n\t.quad f+4\n\t.byte 1\n" /* set_address, copy */
             "\t.byte 2,3,3,10,1\n"                    /* advance_pc 3, advance_line 10, copy */
             "\t.byte 3,0x7e,4,2,1\n"                  /* advance_line -2, set_file 2, copy */
             "\t.byte 30\n"                            /* special: address 1, line 2 */
             "\t.byte 13\n"                            /* special: address 0, line -3 */
             "\t.byte 8,1\n"                           /* const_add_pc, copy */
             "\t.byte 9,6,0,1\n"                       /* fixed_advance_pc 6, copy */
             "\t.byte 5,0x80,1,6,7,10,11,12,5,1\n"     /* what says nothing of lines, copy */
             "\t.byte 0,3,0x80,1,1,1\n"                /* extended, of a vendor, copy */
             "\t.byte 4,3,1,4,1\n"                     /* a file that is not there */
             "\t.byte 3,0x78,1,3,0x81,1,1\n"           /* line 0, line 129 */
             "\t.byte 2,0x80,1,1\n"                    /* behind the function */
             "\t.byte 0,1,1,1\n"                       /* end_sequence: no address again */
             "\t.byte 0,9,2\n\t.quad g\n\t.byte 1\n"
             "end1:\n" LINE_HEADER("2", "5") "\t.byte 0,9,2\n\t.quad g\n\t.byte 1\nend2:\n" LINE_HEADER(
                 "3", "4") "\t.byte 0,9,2\n\t.quad g\n\t.byte 3,1,1\nend3:\n";

static void test_program(void **state)
{
    (void)state;
    struct rows rows = {""};
    char error[512];
    assemble("program", program);
    assert_true(object_lines(path_of("program.o"), add_place, &rows, error, sizeof error));
    assert_string_equal(rows.text, "f+4:a.c:1 f+10:a.c:11 f+10:b.c:9 f+12:b.c:11 f+12:b.c:8 "
                                   "f+52:b.c:8 f+58:b.c:8 f+58:b.c:8 f+58:b.c:8 f+58::8 "
                                   "f+58:a.c:129 g+0:a.c:1 g+0:a.c:2 ");
    compile_with("cc -Wa,-W", "none", "s", ".section .debug_line,\"\",@nobits\n.zero 8\n");
    assert_true(object_lines(path_of("none.o"), add_place, &rows, error, sizeof error));
}

/* ---- functions ---- */

static uint64_t begins[2], ends[2];

static void add_code(void *user, const char *name, uint64_t address, uint64_t size)
{
    (void)user;
    int which = strcmp(name, "two") == 0;
    begins[which] = address;
    ends[which] = address + size;
}

static void test_code(void **state)
{
    (void)state;
    char error[512];
    compile_with("cc -O1 -ffunction-sections -falign-functions=64", "code", "c", source);
    assert_true(object_code(path_of("code.o"), add_code, NULL, error, sizeof error));
    assert_int_equal(begins[0], 0);
    assert_true(ends[0] > 0 && ends[0] <= begins[1] && begins[1] < ends[1]);
    assert_int_equal(begins[1] % 64, 0);
    assert_false(object_code(path_of("absent.o"), add_code, NULL, error, sizeof error));
    assert_non_null(strstr(error, "absent.o"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),   cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_damage), cmocka_unit_test(test_program),
        cmocka_unit_test(test_code),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
