/* Where the code of an entry's source is: lines of its parts, functions of the linked object. */
#include "backend/ascend/ascend.h"
#include "backend/ascend/source_map.h"
#include "tests/unit/object_harness.h"

/* Functions are not in the order of their names; the middle of `b` is of another file. */
static const char source[] = "void f(int);\n"
                             "void c(void)\n"
                             "{\n"
                             "    f(1);\n"
                             "}\n"
                             "void b(void)\n"
                             "{\n"
                             "    f(2);\n"
                             "# 1 \"header.h\"\n"
                             "    f(3);\n"
                             "# 9 \"" BUILD_SOURCE "\"\n"
                             "    f(4);\n"
                             "}\n"
                             "void a(void)\n"
                             "{\n"
                             "    f(5); f(6);\n"
                             "}\n";

static void make_object(void)
{
    write_bytes(BUILD_SOURCE, source, strlen(source));
    assert_int_equal(shell("cc -x c -gdwarf-4 -O0 -c " BUILD_SOURCE " -o part.o"), 0);
}

static const struct code_line *find_line(const struct code_map *map, const char *function,
                                         uint32_t line)
{
    for (uint32_t i = 0; i < map->lines.count; i++)
        if (strcmp(map->lines.at[i].function, function) == 0 && map->lines.at[i].line == line)
            return &map->lines.at[i];
    fail_msg("no row of line %u of %s", line, function);
    return NULL;
}

/* Rows are in the order of functions and offsets, one for each change; all are of the source. */
static void test_lines(void **state)
{
    (void)state;
    struct code_map map = {.arena = {NULL, 0}};
    make_object();
    code_map_add_part(&map, path_of("part.o"));
    assert_true(map.lines.count >= 9);
    for (uint32_t i = 1; i < map.lines.count; i++) {
        const struct code_line *x = &map.lines.at[i - 1], *y = &map.lines.at[i];
        int names = strcmp(x->function, y->function);
        assert_true(names <= 0);
        if (names == 0)
            assert_true(x->offset <= y->offset && x->line != y->line);
    }
    assert_string_equal(map.lines.at[0].function, "a");
    assert_int_equal(map.lines.at[0].offset, 0);
    assert_string_equal(map.lines.at[map.lines.count - 1].function, "c");
    assert_true(find_line(&map, "c", 3)->offset < find_line(&map, "c", 4)->offset);
    assert_true(find_line(&map, "b", 8)->offset < find_line(&map, "b", 9)->offset);
    for (uint32_t i = 0; i < map.lines.count; i++)
        assert_true(map.lines.at[i].line > 1);

    /* Another part adds to them; one that cannot be read does not. */
    uint32_t count = map.lines.count;
    code_map_add_part(&map, path_of("missing.o"));
    assert_int_equal(map.lines.count, count);
    assert_int_equal(shell("sed 's/void \\([abc]\\)(/void \\1\\1(/' " BUILD_SOURCE
                           " > t && mv t " BUILD_SOURCE " && "
                           "cc -x c -gdwarf-4 -O0 -c " BUILD_SOURCE " -o other.o"),
                     0);
    code_map_add_part(&map, path_of("other.o"));
    assert_int_equal(map.lines.count, 2 * count);
    find_line(&map, "aa", 13);
    code_map_free(&map);
}

static void test_functions(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c"};
    struct code_map map = {.arena = {NULL, 0}};
    make_object();
    assert_null(code_map_find(&map, "a"));
    code_map_link(&map, path_of("part.o"));
    assert_int_equal(map.functions.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct code_function *found = code_map_find(&map, names[i]);
        assert_non_null(found);
        assert_ptr_equal(found, &map.functions.at[i]);
        assert_string_equal(found->name, names[i]);
        assert_true(found->begin < found->end);
    }
    assert_true(code_map_find(&map, "c")->end <= code_map_find(&map, "b")->begin);
    assert_true(code_map_find(&map, "b")->end <= code_map_find(&map, "a")->begin);
    assert_null(code_map_find(&map, "d"));
    code_map_free(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines),
                                       cmocka_unit_test(test_functions)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
