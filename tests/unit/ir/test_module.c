/* The parts that everything stands on: names, memory, text, suggestions, order, the heap, files. */
#include "ir/analysis/dep_graph.h"
#include "ir/analysis/launch_order.h"
#include "ir/support/cleanup_registry.h"
#include "ir/support/diag.h"
#include "ir/support/file.h"
#include "ir/support/heap.h"
#include "ir/support/intern.h"
#include "ir/support/text.h"
#include "tests/unit/parsed_module.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* -------------------------------------------------------------------- ir/support/intern.h ---- */

static void test_intern_ids(void **state)
{
    (void)state;
    struct intern intern = {0};
    enum { COUNT = 5000 };
    char text[16];
    assert_int_equal(intern_find(&intern, "n0", 2), NONE);
    for (uint32_t i = 0; i < COUNT; i++) {
        int size = snprintf(text, sizeof text, "n%u", i);
        assert_int_equal(intern_copy(&intern, text, (size_t)size), i);
        assert_int_equal(intern_copy(&intern, text, (size_t)size), i);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        int size = snprintf(text, sizeof text, "n%u", i);
        assert_int_equal(intern_find(&intern, text, (size_t)size), i);
        assert_int_equal(intern.names[i].size, size);
        assert_memory_equal(intern.names[i].text, text, (size_t)size);
    }
    assert_int_equal(intern.count, COUNT);
    intern_free(&intern);
    assert_int_equal(intern_find(&intern, "n0", 2), NONE);
}

/* Bytes count, all of them, and nothing behind the size. */
static void test_intern_bytes(void **state)
{
    (void)state;
    struct intern intern = {0};
    static const char bytes[] = "a\0b longer than eight bytes";
    assert_int_equal(intern_copy(&intern, "", 0), 0);
    for (uint32_t size = 1; size < sizeof bytes; size++)
        assert_int_equal(intern_static(&intern, bytes, size), size);
    assert_int_equal(intern_copy(&intern, bytes, 0), 0);
    assert_int_equal(intern_find(&intern, "a\0c", 3), NONE);
    assert_int_equal(intern_find(&intern, "a\0b", 3), 3);
    intern_free(&intern);
}

/* Names that begin at one slot are found as well. */
static void test_intern_colliding(void **state)
{
    (void)state;
    enum { COUNT = 300, SLOTS = 512 }; /* so many names do not make the table grow */
    struct intern all = {0}, colliding = {0};
    char name[16];
    for (uint32_t i = 0; colliding.count < COUNT; i++) {
        size_t size = (size_t)snprintf(name, sizeof name, "%ux", i);
        uint32_t id = intern_copy(&all, name, size);
        if (all.names[id].hash % SLOTS == 7)
            intern_copy(&colliding, name, size);
    }
    assert_int_equal(colliding.mask, SLOTS - 1);
    for (uint32_t i = 0; i < COUNT; i++) {
        struct intern_name n = colliding.names[i];
        assert_int_equal(n.hash % SLOTS, 7);
        assert_int_equal(intern_find(&colliding, n.text, n.size), i);
    }
    intern_free(&all);
    intern_free(&colliding);
}

/* Names with numbers, however they come and whatever their spelling, are names like others. */
static void test_intern_numbered(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "7",       "07",      "007",       "v7",       "v07", "v0",       "v00",      "v",
        "v7x",     "v.7",     "_7",        "$7",       "vv7", "v8888888", "v8888887", "88888888",
        "8888888", "0888888", "v:7",       "v;7",      "v/7", "v\0017",   "v\x7f",    "\xb9",
        "v\xb1",   "8v",      "v99999999", "x9999999", "x",   "abcdefg7", "abcdefgh7"};
    enum { COUNT = sizeof texts / sizeof texts[0], FAR = 3000 };
    struct intern intern = {0};
    for (int again = 0; again < 2; again++)
        for (uint32_t i = 0; i < COUNT; i++)
            assert_int_equal(intern_copy(&intern, texts[i], strlen(texts[i])), i);
    assert_int_equal(intern_copy(&intern, "\0v7", 3), COUNT);
    assert_int_equal(intern_copy(&intern, "v7\0", 3), COUNT + 1);
    char name[16];
    for (uint32_t i = 0; i < FAR; i++) { /* numbers far ahead, which others come up to */
        uint32_t number = i % 2 ? i : 1000000 / (i + 1) + FAR;
        size_t size = (size_t)snprintf(name, sizeof name, "n%u", number);
        uint32_t id = intern_find(&intern, name, size), before = intern.count;
        assert_int_equal(intern_copy(&intern, name, size), id == NONE ? before : id);
        assert_int_equal(intern_find(&intern, name, size), id == NONE ? before : id);
    }
    for (uint32_t i = 0; i < intern.count; i++)
        assert_int_equal(intern_find(&intern, intern.names[i].text, intern.names[i].size), i);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(intern.names[i].size, strlen(texts[i]));
    intern_free(&intern);
}

/* More stems than there are tables, and a number each that is in one by itself. */
static void test_intern_stems(void **state)
{
    (void)state;
    enum { STEMS = 500, NUMBERS = 3 };
    struct intern intern = {0};
    char name[16];
    for (int again = 0; again < 2; again++)
        for (uint32_t i = 0; i < STEMS * NUMBERS; i++) {
            int size = snprintf(name, sizeof name, "%c%c%c%u", 'a' + i % STEMS % 26,
                                'a' + i % STEMS / 26, 'A' + i % 26, i / STEMS);
            uint32_t before = intern.count, id = intern_copy(&intern, name, (size_t)size);
            assert_true(again ? intern.count == before : id < intern.count);
            assert_int_equal(intern_find(&intern, name, (size_t)size), id);
            assert_memory_equal(intern.names[id].text, name, (size_t)size);
        }
    intern_free(&intern);
}

/* What stands in a longer text is read no farther than its limit, and is the same name there. */
static void test_intern_plain(void **state)
{
    (void)state;
    static const char text[] = "v1234567v12v7";
    struct intern intern = {0};
    for (size_t first = 0; first < sizeof text - 1; first++)
        for (size_t size = 1; first + size < sizeof text; size++) {
            char *copy = mem_realloc(NULL, sizeof text - 1 - first, 1);
            memcpy(copy, text + first, sizeof text - 1 - first);
            uint32_t id = intern_copy(&intern, copy, size);
            assert_int_equal(intern_plain(&intern, copy, size, copy + sizeof text - 1 - first), id);
            mem_free(copy);
        }
    uint32_t count = intern.count;
    static const char more[] = "v9 and more";
    assert_int_equal(intern_plain(&intern, more, 2, more + sizeof more - 1), count);
    assert_int_equal(intern_find(&intern, "v9", 2), count);
    intern_free(&intern);
}

/* intern_copy does not keep the caller's text; intern_static does. */
static void test_intern_copies(void **state)
{
    (void)state;
    struct intern intern = {0};
    char one[] = "one";
    static const char two[] = "two";
    uint32_t first = intern_copy(&intern, one, 3), second = intern_static(&intern, two, 3);
    memset(one, 'x', 3);
    assert_memory_equal(intern.names[first].text, "one", 3);
    assert_ptr_equal(intern.names[second].text, two);
    intern_free(&intern);
}

/* --------------------------------------------------------------------- ir/support/arena.h ---- */

static void test_arena(void **state)
{
    (void)state;
    struct arena arena = {NULL, 0};
    unsigned char *blocks[200];
    size_t sizes[200];
    for (unsigned i = 0; i < 200; i++) {
        sizes[i] = i % 7 == 6 ? 100000 : i * i % 1000;
        blocks[i] = arena_alloc(&arena, sizes[i]);
        assert_int_equal((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
        memset(blocks[i], (int)i, sizes[i]);
    }
    for (unsigned i = 0; i < 200; i++)
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(blocks[i][j], i);
    char *copy = arena_strndup(&arena, "ab\0cd", 5);
    assert_memory_equal(copy, "ab\0cd", 6);
    assert_string_equal(arena_printf(&arena, "%d%s", 12, "x"), "12x");
    char *large = arena_printf(&arena, "%0*d", 50000, 7);
    assert_int_equal(strlen(large), 50000);
    arena_free(&arena);
    assert_null(arena.chunks);
    arena_free(&arena);
}

/* ---------------------------------------------------------------------- ir/support/text.h ---- */

static void assert_text(struct text *text, const char *expected)
{
    assert_int_equal(text->size, strlen(expected));
    assert_memory_equal(text->at, expected, text->size);
    text->size = 0;
}

static void test_text_numbers(void **state)
{
    (void)state;
    static const struct {
        double number;
        const char *text;
    } doubles[] = {{0.0, "0.0"},
                   {-0.0, "-0.0"},
                   {1.0, "1.0"},
                   {-3.0, "-3.0"},
                   {0.1, "0.1"},
                   {0.1 + 0.2, "0.30000000000000004"},
                   {1e-05, "1e-05"},
                   {1e20, "1e+20"},
                   {123456.0, "123456.0"},
                   {5e-324, "5e-324"},
                   {1.7976931348623157e308, "1.7976931348623157e+308"},
                   {(double)INFINITY, "inf"},
                   {-(double)INFINITY, "-inf"},
                   {(double)NAN, "nan"}};
    struct text text = {NULL, 0, 0};
    for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++) {
        text_double(&text, doubles[i].number);
        assert_text(&text, doubles[i].text);
    }
    text_signed(&text, INT64_MIN);
    assert_text(&text, "-9223372036854775808");
    text_signed(&text, 0);
    assert_text(&text, "0");
    text_unsigned(&text, UINT64_MAX);
    assert_text(&text, "18446744073709551615");
    text_free(&text);
}

static void test_text_growth(void **state)
{
    (void)state;
    struct text text = {NULL, 0, 0};
    text_bytes(&text, "", 0);
    assert_non_null(text.at);
    for (int i = 0; i < 3000; i++) {
        text_printf(&text, "%04d", i);
        text_char(&text, ';');
    }
    assert_int_equal(text.size, 15000);
    assert_memory_equal(text.at + 5 * 2999, "2999;", 5);
    text_free(&text);
}

/* ----------------------------------------------------------------------- ir/support/diag.h ---- */

static const char *suggest(const char *wanted, const char *const *names, size_t count)
{
    struct suggest suggest = {.wanted = wanted, .wanted_size = strlen(wanted)};
    for (size_t i = 0; i < count; i++)
        suggest_offer(&suggest, names[i], strlen(names[i]));
    return suggest.best;
}

static void test_suggest(void **state)
{
    (void)state;
    static const char *const names[] = {"stream-fusion", "strict-scope-check", "split-mode", "aic"};
    enum { COUNT = sizeof names / sizeof names[0] };
    static char longer[100];
    assert_string_equal(suggest("stream-funsion", names, COUNT), "stream-fusion");
    assert_string_equal(suggest("STRICT-SCOPE-CHECK", names, COUNT), "strict-scope-check");
    assert_string_equal(suggest("split-moed", names, COUNT), "split-mode");
    assert_string_equal(suggest("aci", names, COUNT), "aic");
    assert_null(suggest("unrelated", names, COUNT));
    assert_null(suggest("", names, COUNT));
    assert_null(suggest("x", names, 0));
    memset(longer, 's', sizeof longer - 1);
    assert_null(suggest(longer, names, COUNT));
}

/* The most similar wins, the first of equals stays. */
static void test_suggest_texts(void **state)
{
    (void)state;
    struct suggest suggest = {.wanted = "ad", .wanted_size = 2, .before = "@", .behind = "=N"};
    suggest_offer_text(&suggest, "Mul");
    assert_string_equal(suggest_text(&suggest).text, "");
    assert_string_equal(suggest_end(&suggest).text, "");
    suggest_offer(&suggest, "AddN", 3);
    assert_string_equal(suggest_text(&suggest).text, "did you mean '@Add=N'?");
    assert_string_equal(suggest_end(&suggest).text, "; did you mean '@Add=N'?");
    suggest.before = suggest.behind = NULL;
    assert_string_equal(suggest_text(&suggest).text, "did you mean 'Add'?");
}

static void test_suggest_best(void **state)
{
    (void)state;
    static const char *const names[] = {"abcxyf", "abcxef", "abcdxf", "abcdyf"};
    assert_string_equal(suggest("abcdef", names, 2), "abcxef");
    assert_string_equal(suggest("abcdef", names + 2, 2), "abcdxf");
}

/* ----------------------------------------------------------------- ir/analysis/dep_graph.h ---- */

static bool edge_exists(const struct order *order, uint32_t to, uint32_t from, enum order_kind kind)
{
    for (uint32_t e = order->first[to]; e < order->first[to + 1]; e++)
        if (order->edges[e].from == from && order->edges[e].kind == kind)
            return true;
    return false;
}

static void parse_order(struct parsed_module *parsed, struct order *order, const char *text)
{
    parsed_init(parsed, text, strlen(text));
    assert_non_null(parsed->module);
    order_init(order, parsed->module, &parsed->module->graphs.at[0]);
}

/* The receiver stands above the sender; everything else in text order. */
static void test_order(void **state)
{
    (void)state;
    static const char text[] = "skir 1\n"
                               "graph @g(%a: f32[1]) -> () {\n"
                               "  %b = A(%a) : f32[1]\n"
                               "  stream \"1\" { %c = B(%a) : f32[1] recv [e]\n"
                               "                 C() after (%b) }\n"
                               "  stream \"2\" { D(%a) send [e] }\n"
                               "}\n";
    struct parsed_module parsed;
    struct order order;
    struct order_cycle cycle;
    uint32_t sorted[4];
    parse_order(&parsed, &order, text);
    assert_int_equal(order.first[order.n_ops], 3);
    assert_true(edge_exists(&order, 1, 3, ORDER_EVENT));
    assert_true(edge_exists(&order, 2, 0, ORDER_AFTER));
    assert_true(edge_exists(&order, 2, 1, ORDER_STREAM));
    assert_true(order_sort(&order, sorted, &cycle));
    static const uint32_t expected[] = {0, 3, 1, 2};
    assert_memory_equal(sorted, expected, sizeof expected);
    vec_free(&cycle.edges);
    order_free(&order);
    parsed_free(&parsed);
}

/* Each edge of the circle starts where the next one ends, and the last one where the first ends. */
static void assert_circle(const struct order *order, const struct order_cycle *cycle)
{
    uint32_t op = cycle->op;
    assert_true(cycle->edges.count > 0);
    for (uint32_t i = 0; i < cycle->edges.count; i++) {
        uint32_t edge = cycle->edges.at[i];
        assert_in_range(edge, order->first[op], order->first[op + 1] - 1);
        op = order->edges[edge].from;
    }
    assert_int_equal(op, cycle->op);
}

static void test_order_cycle(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "skir 1 graph @g(%a: f32[1]) -> () { %b = A(%a) : f32[1] recv [e]\n"
        "B() C() stream \"1\" { D(%b) send [e] } }",
        "skir 1 graph @g() -> () { A() recv [x] B() send [y]\n"
        "stream \"1\" { C() recv [y] D() E() send [x] } }",
        "skir 1 graph @g() -> () { A() A() stream \"1\" { B() recv [z] C() send [x] }\n"
        "stream \"2\" { D() recv [x] E() send [y] } stream \"3\" { F() recv [y] G() send [z] } }",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct parsed_module parsed;
        struct order order;
        struct order_cycle cycle;
        uint32_t sorted[8];
        parse_order(&parsed, &order, texts[i]);
        assert_in_range(order.n_ops, 1, 8);
        assert_false(order_sort(&order, sorted, &cycle));
        assert_circle(&order, &cycle);
        vec_free(&cycle.edges);
        order_free(&order);
        parsed_free(&parsed);
    }
}

/* Deep graphs must not use the stack up. */
static void test_order_deep(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    struct text text = {NULL, 0, 0};
    struct parsed_module parsed;
    struct order order;
    struct order_cycle cycle;
    uint32_t *sorted = mem_calloc(COUNT, sizeof *sorted);
    text_string(&text, "skir 1 graph @g() -> () {\n");
    for (int i = 0; i < COUNT; i++) {
        text_printf(&text, "stream \"%d\" { A()", i);
        if (i > 0)
            text_printf(&text, " send [e%d]", i);
        if (i + 1 < COUNT)
            text_printf(&text, " recv [e%d]", i + 1);
        text_string(&text, " }\n");
    }
    text_string(&text, "}\n");
    text_char(&text, '\0');
    parse_order(&parsed, &order, text.at);
    assert_true(order_sort(&order, sorted, &cycle));
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(sorted[i], COUNT - 1 - i);
    vec_free(&cycle.edges);
    order_free(&order);
    parsed_free(&parsed);
    text_free(&text);
    mem_free(sorted);
}

/* ---------------------------------------------------------------------- ir/support/heap.h ---- */

static void test_heap(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    struct heap heap = {NULL, 0, 0};
    uint32_t last = 0, left = 0;
    for (uint32_t i = 0; i < COUNT; i++, left++) {
        heap_push(&heap, (i * 7919 + 13) % 503, i);
        if (i % 3 == 2) {
            uint32_t key = heap_top_key(&heap), id = heap_top(&heap);
            assert_int_equal(heap_pop(&heap), id);
            assert_int_equal((id * 7919 + 13) % 503, key);
            left--;
        }
    }
    assert_int_equal(heap.count, left);
    while (heap.count) {
        assert_true(heap_top_key(&heap) >= last);
        last = heap_top_key(&heap);
        heap_pop(&heap);
        left--;
    }
    assert_int_equal(left, 0);
    heap_free(&heap);
}

/* Of equal keys the smallest id goes first; keys may be as large as they can. */
static void test_heap_ties(void **state)
{
    (void)state;
    struct heap heap = {NULL, 0, 0};
    heap_push(&heap, UINT32_MAX, 1);
    heap_push(&heap, 5, UINT32_MAX);
    heap_push(&heap, 5, 2);
    heap_push(&heap, UINT32_MAX, 0);
    assert_int_equal(heap_pop(&heap), 2);
    assert_int_equal(heap_pop(&heap), UINT32_MAX);
    assert_int_equal(heap_pop(&heap), 0);
    assert_int_equal(heap_pop(&heap), 1);
    heap_free(&heap);
}

/* ---------------------------------------------------------------------- ir/support/file.h ---- */

struct folder {
    char path[64], file[96];
};

static int folder_setup(void **state)
{
    struct folder *folder = calloc(1, sizeof *folder);
    if (!folder)
        return -1;
    strcpy(folder->path, "/tmp/test_module.XXXXXX");
    *state = folder;
    if (!mkdtemp(folder->path))
        return -1;
    snprintf(folder->file, sizeof folder->file, "%s/file", folder->path);
    return 0;
}

static int folder_teardown(void **state)
{
    struct folder *folder = *state;
    unlink(folder->file);
    int status = rmdir(folder->path); /* fails where a file was left */
    free(folder);
    return status;
}

static void assert_file(const char *path, const char *expected)
{
    struct file_bytes bytes;
    char error[256];
    assert_true(file_read(path, &bytes, error, sizeof error));
    assert_int_equal(bytes.size, strlen(expected));
    assert_string_equal(bytes.data, expected);
    file_bytes_free(&bytes);
}

static unsigned files_in(const char *path)
{
    DIR *dir = opendir(path);
    unsigned count = 0;
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return count;
}

static void test_file_write(void **state)
{
    struct folder *folder = *state;
    char error[256];
    assert_true(file_write(folder->file, "one", 3, error, sizeof error));
    assert_file(folder->file, "one");
    assert_int_equal(chmod(folder->file, 0640), 0);
    assert_true(file_write(folder->file, "", 0, error, sizeof error));
    assert_file(folder->file, "");
    struct stat st;
    assert_int_equal(stat(folder->file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(files_in(folder->path), 1);
}

static void write_xs(const char *path, size_t size)
{
    char error[256], *bytes = test_malloc(size);
    memset(bytes, 'x', size);
    assert_true(file_write(path, bytes, size, error, sizeof error));
    test_free(bytes);
}

/* It is the file's bytes and a NUL, which may be changed without changing the file. */
static void test_file_read(void **state)
{
    static const size_t sizes[] = {0, 10, 1 << 20, (1 << 20) + 1, (1 << 21) + 4095};
    struct folder *folder = *state;
    char error[256];
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int changed = 0; changed < 2; changed++) {
            struct file_bytes bytes;
            if (!changed)
                write_xs(folder->file, sizes[i]);
            assert_true(file_read_text(folder->file, &bytes, error, sizeof error));
            assert_int_equal(bytes.size, sizes[i]);
            for (size_t at = 0; at < bytes.size; at++)
                if (bytes.data[at] != 'x')
                    fail_msg("byte %zu of %zu is changed", at, bytes.size);
            assert_int_equal(bytes.data[bytes.size], '\0');
            memset(bytes.data, 'y', bytes.size);
            file_bytes_free(&bytes);
        }
    }
}

/* Others may write to a large file at any time, and it may shrink. */
static void test_file_shared(void **state)
{
    struct folder *folder = *state;
    char error[256];
    struct file_bytes bytes;
    write_xs(folder->file, (1 << 20) + 1);
    assert_true(file_read_text(folder->file, &bytes, error, sizeof error));
    int fd = open(folder->file, O_WRONLY | O_NONBLOCK);
    assert_true(fd >= 0);
    assert_return_code(ftruncate(fd, 0), 0);
    assert_int_equal(bytes.data[1 << 20], 'x');
    close(fd);
    file_bytes_free(&bytes);
}

/* Until it is committed, the old file stands; abandoned, it stays and nothing else does. */
static void test_file_atomic(void **state)
{
    struct folder *folder = *state;
    struct file_out out;
    char error[256];
    assert_true(file_write(folder->file, "old", 3, error, sizeof error));
    assert_true(file_out_open(&out, folder->file, error, sizeof error));
    assert_int_equal(write(out.fd, "half", 4), 4);
    assert_file(folder->file, "old");
    file_out_abandon(&out);
    assert_file(folder->file, "old");
    assert_int_equal(files_in(folder->path), 1);
    assert_true(file_out_open(&out, folder->file, error, sizeof error));
    assert_int_equal(write(out.fd, "new", 3), 3);
    assert_true(file_out_commit(&out, error, sizeof error));
    assert_file(folder->file, "new");
    assert_int_equal(files_in(folder->path), 1);
}

/* A signal leaves nothing behind, and what is finished is not removed. */
static void test_file_signal(void **state)
{
    struct folder *folder = *state;
    struct file_out out;
    char error[256];
    assert_true(file_out_open(&out, folder->file, error, sizeof error));
    assert_int_equal(files_in(folder->path), 1);
    cleanup_run(getpid());
    assert_int_equal(files_in(folder->path), 0);
    assert_false(file_out_commit(&out, error, sizeof error));
    assert_true(file_write(folder->file, "new", 3, error, sizeof error));
    cleanup_run(getpid());
    assert_file(folder->file, "new");
    assert_int_equal(files_in(folder->path), 1);
}

/* A commit that cannot rename says so and leaves no other file. */
static void test_file_commit_fails(void **state)
{
    struct folder *folder = *state;
    struct file_out out;
    char error[256] = "";
    assert_true(file_out_open(&out, folder->file, error, sizeof error));
    assert_int_equal(mkdir(folder->file, 0700), 0);
    assert_false(file_out_commit(&out, error, sizeof error));
    assert_non_null(strstr(error, folder->file));
    assert_int_equal(rmdir(folder->file), 0);
    assert_int_equal(files_in(folder->path), 0);
}

static void test_file_errors(void **state)
{
    struct folder *folder = *state;
    struct file_bytes bytes;
    struct file_out out;
    char error[256] = "", inner[160];
    snprintf(inner, sizeof inner, "%s/none/file", folder->path);
    assert_false(file_read(folder->file, &bytes, error, sizeof error));
    assert_non_null(strstr(error, folder->file));
    assert_null(bytes.data);
    assert_false(file_read(folder->path, &bytes, error, sizeof error));
    assert_false(file_write(folder->path, "x", 1, error, sizeof error));
    assert_false(file_write(inner, "x", 1, error, sizeof error));
    assert_non_null(strstr(error, inner));
    assert_false(file_out_open(&out, inner, error, sizeof error));
    assert_int_equal(files_in(folder->path), 0);
}

/* What a symbolic link leads to is replaced, not the link. */
static void test_file_link(void **state)
{
    struct folder *folder = *state;
    char error[256], link[160];
    struct stat st;
    snprintf(link, sizeof link, "%s/link", folder->path);
    assert_true(file_write(folder->file, "old", 3, error, sizeof error));
    assert_int_equal(symlink(folder->file, link), 0);
    assert_true(file_write(link, "new", 3, error, sizeof error));
    assert_file(folder->file, "new");
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_true(file_write("/dev/null", "x", 1, error, sizeof error));
    assert_int_equal(unlink(link), 0);
}

static void test_path_folder(void **state)
{
    (void)state;
    static const char *const paths[][2] = {{"a.skir", "."}, {"a/b.skir", "a"}, {"/a", "/"},
                                           {"/a/b", "/a"},  {"", "."},         {"a/", "a"}};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        char *folder = path_folder(paths[i][0]);
        assert_string_equal(folder, paths[i][1]);
        mem_free(folder);
    }
}

/* ---------------------------------------------------------------------- ir/support/diag.h ---- */

/* What fmt takes away at the end of a line does not count. */
static void test_find_expect(void **state)
{
    (void)state;
    static const char *const marks[] = {
        "//! a\nb\n//! expect\nc", "//!\n//! expect", "//!\n//! expect \t\r\r\n",
        "//! a\n//! also b\n//! expect nothing\n", "//! a\n//! b\n//! expect lines in graph @g\n"};
    static const char *const others[] = {"a\n//! expect\n",
                                         "//! expect\n",
                                         "//!\n//! expected\n",
                                         "//!\n //! expect\n",
                                         "//!\n//! also, b\n//! alsob\n",
                                         ""};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        assert_ptr_equal(source_find_expect(marks[i], strlen(marks[i])),
                         strstr(marks[i], "//! expect"));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_null(source_find_expect(others[i], strlen(others[i])));
}

/* Dimensions may be given as those of a type of the module, wherever these move. */
static void test_types_of_types(void **state)
{
    (void)state;
    struct module *module = module_new(NULL);
    const int64_t dims[] = {3, 5, 7};
    uint32_t first = module_type(module, (enum dtype)0, module_name(module, "F"), dims, 3);
    for (unsigned i = 0; i < 500; i++) {
        uint32_t format = module_name_printf(module, "F%u", i);
        uint32_t type = module_type(module, (enum dtype)0, format, type_dims(module, first), 3);
        assert_memory_equal(type_dims(module, type), dims, sizeof dims);
    }
    module_free(module);
}

int main(void)
{
#define FILE_TEST(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types_of_types),
        cmocka_unit_test(test_intern_ids),
        cmocka_unit_test(test_intern_bytes),
        cmocka_unit_test(test_intern_colliding),
        cmocka_unit_test(test_intern_numbered),
        cmocka_unit_test(test_intern_stems),
        cmocka_unit_test(test_intern_plain),
        cmocka_unit_test(test_intern_copies),
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_text_numbers),
        cmocka_unit_test(test_text_growth),
        cmocka_unit_test(test_suggest),
        cmocka_unit_test(test_suggest_texts),
        cmocka_unit_test(test_suggest_best),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_order_cycle),
        cmocka_unit_test(test_order_deep),
        cmocka_unit_test(test_heap),
        cmocka_unit_test(test_heap_ties),
        FILE_TEST(test_file_write),
        FILE_TEST(test_file_read),
        FILE_TEST(test_file_shared),
        FILE_TEST(test_file_atomic),
        FILE_TEST(test_file_signal),
        FILE_TEST(test_file_commit_fails),
        FILE_TEST(test_file_errors),
        FILE_TEST(test_file_link),
        cmocka_unit_test(test_path_folder),
        cmocka_unit_test(test_find_expect),
    };
    return cmocka_run_group_tests_name("module", tests, NULL, NULL);
}
