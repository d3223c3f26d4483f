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
    struct object_file *file = object_file_read(path_of(name));
    bool ok = !object_file_error(file);
    rows->text[0] = '\0';
    object_file_lines(file, add_row, rows);
    object_file_free(file);
    return ok;
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
    arena_free(&keeper.arena.memory);
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

/* Of a header: addresses in units of 2, special opcodes from 13 on, of 12 lines from -3 on; two
 * files, the first of which has a field of two bytes. */
static const char line_table[] =
    ".section .debug_line,\"\",@progbits\n"
    ".long end%d-begin%d\nbegin%d: .short %d\n.long program%d-1f\n1: .byte 2,1,1,-3,12,13\n"
    ".byte 0,1,1,1,1,0,0,0,1,0,0,1\n.asciz \"folder\"\n.byte 0\n"
    ".asciz \"a.c\"\n.byte 1,0x81,1,0\n.asciz \"b.c\"\n.byte 0,0,0\n.byte 0\nprogram%d:\n"
    "%s\nend%d:\n";

static const char functions[] = ".text\nnop\n.globl f\n.type f,@function\nf: .zero 200\n"
                                ".size f,200\n.type g,@function\ng: ret\n.size g,1\n";

static const char whole_program[] = ".byte 1\n"                         /* no address yet */
                                    ".byte 0,9,2\n.quad f+4\n.byte 1\n" /* set_address, copy */
                                    ".byte 2,3,3,10,1\n"                /* address 6, line 10 */
                                    ".byte 3,0x7e,4,2,1\n"              /* line -2, file 2 */
                                    ".byte 30\n"                        /* address 2, line 2 */
                                    ".byte 13\n"                        /* line -3 */
                                    ".byte 8,1\n"                       /* const_add_pc */
                                    ".byte 9,6,0,1\n"                   /* fixed_advance_pc */
                                    ".byte 5,0x80,1,6,7,10,11,12,5,1\n" /* nothing of lines */
                                    ".byte 0,3,0x80,1,1,1\n"            /* of a vendor */
                                    ".byte 4,3,1,4,1\n"                 /* no such file */
                                    ".byte 3,0x78,1,3,0x81,1,1\n"       /* line 0, line 129 */
                                    ".byte 2,0x80,1,1\n"                /* behind the function */
                                    ".byte 0,1,1,1\n"                   /* end: no address */
                                    ".byte 0,9,2\n.quad g\n.byte 1";

static size_t add_table(char *text, size_t size, int id, int version, const char *program)
{
    return (size_t)snprintf(text, size, line_table, id, id, id, version, id, id, program, id);
}

static void test_program(void **state)
{
    (void)state;
    struct rows rows = {""};
    char text[4096];
    strcpy(text, functions);
    size_t used = strlen(text);
    used += add_table(text + used, sizeof text - used, 1, 4, whole_program);
    used += add_table(text + used, sizeof text - used, 2, 5, ".byte 0,9,2\n.quad g\n.byte 1");
    used += add_table(text + used, sizeof text - used, 3, 4, ".byte 0,9,2\n.quad g\n.byte 3,1,1");
    /* Another version, and one with an instruction of no bytes, after which nothing is read. */
    used += add_table(text + used, sizeof text - used, 4, 1, ".byte 0,9,2\n.quad g\n.byte 1");
    used += add_table(text + used, sizeof text - used, 5, 4,
                      ".byte 0,9,2\n.quad g\n.byte 3,4,1,0,0,1,1");
    used += add_table(text + used, sizeof text - used, 6, 4, ".byte 0,9,2\n.quad g\n.byte 1,13");
    assert_true(used < sizeof text);
    memcpy(strstr(strstr(text, "begin6:"), "-3,12,13"), "-3,0,013", 8); /* lines by no range */
    assemble("program", text);
    struct object_file *file = object_file_read(path_of("program.o"));
    object_file_lines(file, add_place, &rows);
    object_file_free(file);
    assert_string_equal(rows.text, "f+4:a.c:1 f+10:a.c:11 f+10:b.c:9 f+12:b.c:11 f+12:b.c:8 "
                                   "f+52:b.c:8 f+58:b.c:8 f+58:b.c:8 f+58:b.c:8 f+58::8 "
                                   "f+58:a.c:129 g+0:a.c:1 g+0:a.c:2 g+0:a.c:5 ");
    compile_with("cc -Wa,-W", "none", "s", ".section .debug_line,\"\",@nobits\n.zero 8\n");
    file = object_file_read(path_of("none.o"));
    assert_null(object_file_error(file));
    object_file_lines(file, add_place, &rows);
    object_file_free(file);
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
    compile_with("cc -O1 -ffunction-sections -falign-functions=64", "code", "c", source);
    struct object_file *file = object_file_read(path_of("code.o"));
    object_file_code(file, add_code, NULL);
    object_file_free(file);
    assert_int_equal(begins[0], 0);
    assert_true(ends[0] > 0 && ends[0] <= begins[1] && begins[1] < ends[1]);
    assert_int_equal(begins[1] % 64, 0);
    file = object_file_read(path_of("absent.o"));
    assert_non_null(strstr(object_file_error(file), "absent.o"));
    object_file_code(file, add_code, NULL);
    object_file_free(file);
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
