/* .npy files, good and hostile.
 *
 * Mutations are random: the seed is printed, and SKIR_TEST_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/tensor/npy.h"
#include "ir/support/file.h"
#include "tests/unit/tensor_helpers.h"

static const char *test_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/test_tensor.%ld.npy", (long)getpid());
    return path;
}

static void test_npy_round_trip(void **state)
{
    (void)state;
    const struct {
        int64_t dims[8];
        uint32_t rank;
    } shapes[] = {{{0}, 0}, {{7}, 1}, {{3, 5}, 2}, {{2, 0, 4}, 3}, {{1, 2, 1, 2, 1, 2, 1, 2}, 8}};
    for (unsigned i = 0; i < DTYPE_COUNT; i++)
        for (size_t j = 0; j < COUNT(shapes); j++) {
            if (!has_values((enum dtype)i) || dtype_info((enum dtype)i)->npy[0] == '\0')
                continue;
            struct tensor a = make((enum dtype)i, shapes[j].dims, shapes[j].rank);
            struct tensor b = make((enum dtype)i, shapes[j].dims, shapes[j].rank);
            char error[ERROR_SIZE] = "";
            fill(&a, "rand:0..1", 5);
            assert_true(tensor_write_npy(&a, test_path(), error, sizeof error));
            fill(&b, test_path(), 0);
            check_same(&a, &b);
            tensor_free(&a);
            tensor_free(&b);
        }
    unlink(test_path());
}

/* Byte for byte what NumPy's format document asks for. */
static void test_npy_bytes(void **state)
{
    (void)state;
    static const char expected[] =
        "\x93NUMPY\x01\x00\x76\x00{'descr': '<V2', 'fortran_order': False, 'shape': (2,), }"
        "                                                            \n"
        "\x80\x3f\x80\x3f";
    struct tensor tensor = make(DTYPE_bf16, DIMS(2));
    struct file_bytes file;
    char error[ERROR_SIZE] = "";
    fill(&tensor, "ones", 0);
    assert_true(tensor_write_npy(&tensor, test_path(), error, sizeof error));
    assert_true(file_read(test_path(), &file, error, sizeof error));
    assert_int_equal(file.size, 132);
    assert_int_equal(file.size, sizeof expected - 1);
    assert_memory_equal(file.data, expected, file.size);
    file_bytes_free(&file);
    unlink(test_path());
    tensor_free(&tensor);
}

/* A file of this version, header and `n` elements' bytes, which count up. */
struct image {
    char bytes[1024];
    size_t size;
};

static struct image make_image(unsigned version, const char *header, size_t n)
{
    struct image image = {.size = 0};
    size_t length = strlen(header), preamble = version == 1 ? 10 : 12;
    memcpy(image.bytes, "\x93NUMPY", 6);
    image.bytes[6] = (char)version;
    image.bytes[8] = (char)(length & 0xff);
    image.bytes[9] = (char)(length >> 8);
    memcpy(image.bytes + preamble, header, length);
    for (size_t i = 0; i < n; i++)
        image.bytes[preamble + length + i] = (char)i;
    image.size = preamble + length + n;
    assert_true(image.size <= sizeof image.bytes);
    return image;
}

/* Loads from a copy on the heap, so that a read behind the end is seen. */
static bool load(struct tensor *tensor, const char *bytes, size_t size, char *error)
{
    char *copy = malloc(size + 1);
    char *at = copy + 1; /* the last byte is the last of the block, and nothing is aligned */
    if (size > 0)
        memcpy(at, bytes, size);
    error[0] = '\0';
    bool ok = npy_load(tensor, at, size, error, ERROR_SIZE);
    assert_true(ok == (error[0] == '\0'));
    free(copy);
    return ok;
}

static void check_header(unsigned version, enum dtype dtype, const char *header,
                         const char *expected)
{
    struct tensor tensor = make(dtype, DIMS(3, 2));
    struct image image = make_image(version, header, tensor.size);
    char error[ERROR_SIZE];
    bool ok = load(&tensor, image.bytes, image.size, error);
    assert_string_equal(error, expected);
    if (ok && dtype != DTYPE_bool)
        assert_int_equal(tensor.data[5], 5);
    tensor_free(&tensor);
}

#define HEADER(descr, order, shape)                                                                \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"

static void test_npy_accepted(void **state)
{
    (void)state;
    for (unsigned version = 1; version <= 3; version++)
        check_header(version, DTYPE_f32, HEADER("'<f4'", "False", "(3, 2)") "   \n", "");
    check_header(1, DTYPE_i32, "{\"shape\":(3,2,),'fortran_order':False,'descr':'<i4'}", "");
    check_header(1, DTYPE_i32, " { 'shape' : ( 3L , 2L ) , 'descr' : '=i4', 'fortran_order':False}",
                 "");
    check_header(1, DTYPE_i8, HEADER("'|i1'", "False", "(3, 2)"), "");
    check_header(1, DTYPE_i8, HEADER("'>i1'", "False", "(3, 2)"), "");
    check_header(1, DTYPE_bf16, HEADER("'|V2'", "False", "(3, 2)"), "");
    check_header(1, DTYPE_bf16, HEADER("'<V2'", "False", "(3, 2)"), "");
    check_header(1, DTYPE_bf16, HEADER("'<u2'", "False", "(3, 2)"), "");
    check_header(1, DTYPE_u16, HEADER("'<u2'", "False", "(3, 2)"), "");
}

static void test_npy_refused(void **state)
{
    (void)state;
    check_header(1, DTYPE_f32, HEADER("'<f4'", "True", "(3, 2)"),
                 "is in Fortran order, which is not supported");
    check_header(1, DTYPE_f32, HEADER("'>f4'", "False", "(3, 2)"),
                 "is big-endian ('>f4'), which is not supported");
    check_header(1, DTYPE_f32, HEADER("'<f8'", "False", "(3, 2)"),
                 "holds f64, items of type '<f8', but the dtype is f32");
    check_header(1, DTYPE_u16, HEADER("'<V2'", "False", "(3, 2)"),
                 "holds bf16, items of type '<V2', but the dtype is u16");
    check_header(1, DTYPE_f32, HEADER("'<U5'", "False", "(3, 2)"),
                 "holds items of type '<U5', but the dtype is f32");
    check_header(1, DTYPE_f32, HEADER("''", "False", "(3, 2)"),
                 "holds items of type '', but the dtype is f32");
    check_header(1, DTYPE_f32, HEADER("[('a', '<f4')]", "False", "(3, 2)"),
                 "holds records, which are not supported");
    check_header(1, DTYPE_f32, HEADER("'<f4'", "False", "(2, 3)"),
                 "has the shape [2, 3], but [3, 2] is needed");
    check_header(1, DTYPE_f32, HEADER("'<f4'", "False", "()"),
                 "has the shape [], but [3, 2] is needed");
    check_header(1, DTYPE_f32, HEADER("'<f4'", "False", "(9223372036854775807, 3)"),
                 "has the shape [9223372036854775807, 3], but [3, 2] is needed");
    check_header(1, DTYPE_f32, HEADER("'<f4'", "False", "(1,1,1,1,1,1,1,1,1)"),
                 "has more than 8 dimensions, which are not supported");
    check_header(1, DTYPE_bool, HEADER("'|b1'", "False", "(3, 2)"),
                 "has 2 at [1, 0], where bool needs 0 or 1");
    check_header(1, DTYPE_hif8, HEADER("'|i1'", "False", "(3, 2)"),
                 "cannot hold dtype hif8: NumPy has no type for it");
    check_header(4, DTYPE_f32, HEADER("'<f4'", "False", "(3, 2)"),
                 "has version 4.0 of the .npy format; 1.0 to 3.0 are supported");
}

static void test_npy_bad_literals(void **state)
{
    (void)state;
#define BAD(text, at) "has a bad header: expected " text " at byte " at " of the file"
    check_header(1, DTYPE_f32, "", BAD("'{'", "10"));
    check_header(1, DTYPE_f32, "{", BAD("a string", "11"));
    check_header(1, DTYPE_f32, "{'descr'", BAD("':'", "18"));
    check_header(1, DTYPE_f32, "{'descr': '<f4", BAD("the end of a string", "24"));
    check_header(1, DTYPE_f32, "{'de\\x73cr': '<f4'}",
                 BAD("a short string of plain characters", "14"));
    check_header(1, DTYPE_f32, "{'descr': 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}",
                 BAD("a short string of plain characters", "44"));
    check_header(1, DTYPE_f32, "{'descr': 4}", BAD("a string", "20"));
    check_header(1, DTYPE_f32, "{'fortran_order': 1}", BAD("True or False", "28"));
    check_header(1, DTYPE_f32, "{'shape': (3)}",
                 BAD("',' before the ')' of a single dimension", "23"));
    check_header(1, DTYPE_f32, "{'shape': 3}", BAD("'('", "20"));
    check_header(1, DTYPE_f32, "{'shape': (-3,)}", BAD("a dimension or ')'", "21"));
    check_header(1, DTYPE_f32, "{'shape': (,)}", BAD("a dimension or ')'", "21"));
    check_header(1, DTYPE_f32, "{'shape': (3 4)}", BAD("',' or ')'", "23"));
    check_header(1, DTYPE_f32, "{'shape': (9223372036854775808,)}",
                 BAD("a dimension below 2^63", "39"));
    check_header(1, DTYPE_f32, "{'descr': '<f4' 'shape': ()}", BAD("',' or '}'", "26"));
    check_header(1, DTYPE_f32, HEADER("'<f4'", "False", "(3, 2)") " x",
                 BAD("the end of the header", "70"));
#undef BAD
    check_header(1, DTYPE_f32, "{'descr': '<f4', 'descr': '<f4'}",
                 "has a bad header: key 'descr' comes twice");
    check_header(1, DTYPE_f32, "{'order': '<f4'}", "has a bad header: key 'order' is unknown");
    check_header(1, DTYPE_f32, "{'descr': '<f4'}",
                 "has a bad header: it needs 'descr', 'fortran_order' and 'shape'");
}

/* The first `size` bytes of a file with 12 bytes of elements. */
static void check_cut(struct tensor *tensor, const struct image *image, size_t size)
{
    size_t header = image->size - 12;
    char error[ERROR_SIZE], elements[ERROR_SIZE];
    snprintf(elements, sizeof elements, "has %zu bytes of elements, but 12 are needed",
             size - header);
    assert_false(load(tensor, image->bytes, size, error));
    assert_string_equal(error, size < 6        ? "is no .npy file"
                               : size < header ? "is cut off in its header"
                                               : elements);
}

static void test_npy_cut_off(void **state)
{
    (void)state;
    struct tensor tensor = make(DTYPE_f16, DIMS(3, 2));
    char error[ERROR_SIZE];
    for (unsigned version = 1; version <= 3; version++) {
        struct image image = make_image(version, HEADER("'<f2'", "False", "(3, 2)") "\n", 12);
        for (size_t size = 0; size < image.size; size++)
            check_cut(&tensor, &image, size);
        assert_false(load(&tensor, image.bytes, image.size - 1, error));
        assert_string_equal(error, "has 11 bytes of elements, but 12 are needed");
        assert_true(load(&tensor, image.bytes, image.size, error));
        assert_false(load(&tensor, image.bytes, image.size + 1, error));
        assert_string_equal(error, "has 13 bytes of elements, but only 12 are needed");
    }
    struct image image = make_image(2, HEADER("'<f2'", "False", "(3, 2)"), 12);
    memcpy(image.bytes + 8, "\xff\xff\xff\xff", 4);
    assert_false(load(&tensor, image.bytes, image.size, error));
    assert_string_equal(error, "has a header of 4294967295 bytes; at most 65536 are supported");
    tensor_free(&tensor);
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005 + 1442695040888963407;
    return *state >> 33;
}

/* Whatever the mutation, loading neither crashes nor takes another shape. */
static void test_npy_mutations(void **state)
{
    (void)state;
    const char *given = getenv("SKIR_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 2654435761u;
    printf("# SKIR_TEST_SEED=%llu\n", (unsigned long long)seed);
    const struct image images[] = {
        make_image(1, HEADER("'<i4'", "False", "(3, 2)") "  \n", 24),
        make_image(3, "{\"shape\": (3, 2,), 'fortran_order': False, 'descr': '|i4'}", 24),
    };
    struct tensor tensor = make(DTYPE_i32, DIMS(3, 2));
    char error[ERROR_SIZE];
    unsigned loaded = 0;
    for (unsigned round = 0; round < 40000; round++) {
        struct image image = images[round % 2];
        for (uint64_t flips = 1 + next_random(&seed) % 3; flips > 0; flips--)
            image.bytes[next_random(&seed) % image.size] ^= (char)(1 << next_random(&seed) % 8);
        if (next_random(&seed) % 4 == 0)
            image.size = next_random(&seed) % (image.size + 1);
        loaded += load(&tensor, image.bytes, image.size, error);
    }
    assert_true(loaded > 0);
    tensor_free(&tensor);
}

static void test_npy_files(void **state)
{
    (void)state;
    struct tensor tensor = make(DTYPE_u8, DIMS(4));
    char error[ERROR_SIZE] = "", expected[ERROR_SIZE];
    assert_false(tensor_fill(&tensor, "/nowhere/a.npy", 0, error, sizeof error));
    assert_string_equal(error, "cannot open '/nowhere/a.npy': No such file or directory");
    assert_false(tensor_fill(&tensor, "/dev/zero", 0, error, sizeof error));
    assert_string_equal(error, "'/dev/zero' is no regular file");
    assert_true(file_write(test_path(), "hello", 5, error, sizeof error));
    assert_false(tensor_fill(&tensor, test_path(), 0, error, sizeof error));
    snprintf(expected, sizeof expected, "'%s' is no .npy file", test_path());
    assert_string_equal(error, expected);
    /* Much larger than the tensor: refused by its size alone. */
    assert_int_equal(truncate(test_path(), (off_t)1 << 33), 0);
    assert_false(tensor_fill(&tensor, test_path(), 0, error, sizeof error));
    snprintf(expected, sizeof expected,
             "'%s' has 8589934592 bytes, too many for the 4 of its elements", test_path());
    assert_string_equal(error, expected);
    unlink(test_path());
    assert_false(tensor_write_npy(&tensor, "/nowhere/a.npy", error, sizeof error));
    assert_non_null(strstr(error, "/nowhere/a.npy"));
    tensor_free(&tensor);
    tensor = make(DTYPE_f8e5m2, DIMS(4));
    assert_false(tensor_write_npy(&tensor, test_path(), error, sizeof error));
    assert_non_null(strstr(error, "NumPy has no type for dtype f8e5m2"));
    assert_int_equal(access(test_path(), F_OK), -1);
    tensor_free(&tensor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_npy_round_trip),   cmocka_unit_test(test_npy_bytes),
        cmocka_unit_test(test_npy_accepted),     cmocka_unit_test(test_npy_refused),
        cmocka_unit_test(test_npy_bad_literals), cmocka_unit_test(test_npy_cut_off),
        cmocka_unit_test(test_npy_mutations),    cmocka_unit_test(test_npy_files),
    };
    return cmocka_run_group_tests_name("npy", tests, NULL, NULL);
}
