/* Exhausted memory: scopes and guards, and every function of the library when the n-th allocation
 * fails, for all n or many. */
#include "backend/linker/object.h"
#include "frontend/skir.h"
#include "ir/support/stream.h"
#include "ir/support/tool.h"
#include "ir/support/vec.h"
#include "tests/unit/memory_harness.h"

#include <pthread.h>

/* ---- scopes ---- */

/* What a guard's release, or work, does. */
struct diary {
    char text[64];
    struct mem_scope *inner;
    void *outer_block;
};

struct note {
    struct diary *diary;
    char letter;
    struct mem_guard *other; /* to be ended, or NULL */
};

static void write_note(void *what)
{
    const struct note *note = what;
    size_t size = strlen(note->diary->text);
    note->diary->text[size] = note->letter;
    if (note->other)
        mem_unguard(note->other);
}

/* Blocks of all kinds, some freed, some moved by growing, and guards, one ended. */
static void allocate_and_exhaust(void *user)
{
    struct diary *diary = user;
    struct note notes[4] = {
        {diary, 'a', NULL}, {diary, 'b', NULL}, {diary, 'c', NULL}, {diary, 'd', NULL}};
    struct mem_guard guards[4];
    char *blocks[5];
    for (int i = 0; i < 5; i++)
        blocks[i] = memset(mem_calloc(100, 1), 'x', 100);
    for (int i = 0; i < 4; i++)
        mem_guard(&guards[i], write_note, &notes[i]);
    notes[3].other = &guards[2];
    mem_unguard(&guards[1]);
    for (int i = 0; i < 5; i += 2)
        blocks[i] = mem_realloc(blocks[i], 1 << (18 + i), 1);
    mem_free(blocks[1]);
    blocks[2] = mem_realloc(blocks[2], 1, 1);
    blocks[1] = mem_strdup("again");
    assert_int_equal(blocks[4][99], 'x');
    mem_exhausted();
}

static void test_exhausted(void **state)
{
    (void)state;
    struct mem_scope scope = {.blocks = NULL};
    struct traces before = traces_of_now();
    for (int i = 0; i < 2; i++) {
        struct diary diary = {.text = ""};
        assert_false(mem_scope_run(&scope, allocate_and_exhaust, &diary));
        assert_string_equal(diary.text, "da"); /* the newest first */
        assert_null(scope.blocks);
        assert_no_traces(&before);
    }
}

static void leave_block(void *user)
{
    *(char **)user = mem_strdup("kept");
}

static void grow_and_exhaust(void *user)
{
    char **kept = user;
    *kept = mem_realloc(*kept, 1 << 20, 1);
    mem_strdup("lost");
    mem_exhausted();
}

/* Blocks stay in the scope that they were made in, in which they can be freed from outside. */
static void test_blocks_stay(void **state)
{
    (void)state;
    struct mem_scope one = {.blocks = NULL}, other = {.blocks = NULL};
    struct traces before = traces_of_now();
    char *kept;
    assert_true(mem_scope_run(&one, leave_block, &kept));
    assert_false(mem_scope_run(&other, grow_and_exhaust, &kept));
    assert_string_equal(kept, "kept");
    mem_free(kept);
    assert_null(one.blocks);
    assert_true(mem_scope_run(&one, leave_block, &kept));
    assert_false(mem_scope_run(&one, grow_and_exhaust, &kept));
    assert_no_traces(&before);
}

static void exhaust_inner(void *user)
{
    struct diary *diary = user;
    struct mem_scope inner = {.blocks = NULL};
    struct note note = {diary, 'o', NULL};
    struct mem_guard guard;
    mem_guard(&guard, write_note, &note);
    assert_false(mem_scope_run(&inner, allocate_and_exhaust, diary));
    assert_string_equal(diary->text, "da"); /* no guard of the outer one */
    leave_block(&diary->outer_block);
    mem_unguard(&guard);
}

static void test_nested(void **state)
{
    (void)state;
    struct mem_scope scope = {.blocks = NULL};
    struct diary diary = {.text = ""};
    assert_true(mem_scope_run(&scope, exhaust_inner, &diary));
    assert_string_equal(diary.outer_block, "kept");
    assert_non_null(scope.blocks);
    mem_free(diary.outer_block);
    assert_null(scope.blocks);
}

/* ---- blocks ---- */

/* The bytes that `/proc/self/statm` counts as the process's. */
static long mapped_bytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld", &pages), 1);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static void resize_through(void *user)
{
    static const size_t sizes[] = {100,     1 << 20, 1,       3 << 20, (3 << 20) + 1,
                                   9 << 20, 5 << 20, 2 << 20, 1000,    0};
    unsigned char *block = mem_calloc(4 << 20, 1);
    (void)user;
    for (size_t i = 0; i < (4 << 20); i += 999)
        assert_int_equal(block[i], 0);
    size_t kept = 4 << 20;
    for (size_t i = 0; i < kept; i++)
        block[i] = (unsigned char)(i % 251);
    for (const size_t *size = sizes; *size; size++) {
        block = mem_realloc(block, *size, 1);
        size_t before = kept < *size ? kept : *size;
        for (size_t i = 0; i < before; i++)
            if (block[i] != i % 251)
                fail_msg("byte %zu of %zu", i, *size);
        for (size_t i = before; i < *size; i++)
            block[i] = (unsigned char)(i % 251);
        kept = *size;
    }
    mem_free(block);
}

static void leave_large(void *user)
{
    (void)user;
    memset(mem_realloc(NULL, 64 << 20, 1), 'x', 64 << 20);
    mem_calloc(64 << 20, 1);
    mem_exhausted();
}

/* Large blocks keep their contents whatever becomes of their sizes, and go with their scope. */
static void test_large(void **state)
{
    (void)state;
    struct mem_scope scope = {.blocks = NULL};
    struct traces before = traces_of_now();
    assert_true(mem_scope_run(&scope, resize_through, NULL));
    assert_null(scope.blocks);
    long mapped = mapped_bytes();
    for (int i = 0; i < 3; i++)
        assert_false(mem_scope_run(&scope, leave_large, NULL));
    if (!SANITIZED)
        assert_in_range(mapped_bytes(), 0, mapped + (48 << 20));
    assert_no_traces(&before);
}

static void reserve_too_much(void *user)
{
    struct vec_u32 *vec = user;
    vec_push(vec, 1);
    vec_reserve(vec, UINT32_MAX);
}

static void multiply_too_much(void *user)
{
    mem_calloc(SIZE_MAX / 2, *(size_t *)user);
}

static void write_too_much(void *user)
{
    struct stream stream;
    stream_open(&stream);
    fputs("text", stream.file);
    mem_allow(*(uint64_t *)user);
    stream_close(&stream, NULL);
}

static void test_too_large(void **state)
{
    (void)state;
    struct mem_scope scope = {.blocks = NULL};
    struct traces before = traces_of_now();
    struct vec_u32 vec = {NULL, 0, 0};
    size_t three = 3;
    uint64_t none = 0;
    assert_null(mem_try_calloc(SIZE_MAX, 1));
    assert_null(mem_try_calloc(SIZE_MAX / 2, 3));
    assert_false(mem_scope_run(&scope, reserve_too_much, &vec));
    assert_false(mem_scope_run(&scope, multiply_too_much, &three));
    assert_false(mem_scope_run(&scope, write_too_much, &none));
    assert_int_equal(mem_allow(UINT64_MAX), 0);
    assert_no_traces(&before);
}

/* ---- files ---- */

static void hold_files(void *user)
{
    const char *large = user;
    char error[512];
    struct file_bytes bytes;
    struct file_out out;
    struct tool_folder folder;
    struct stream stream;
    assert_true(file_read_text(large, &bytes, error, sizeof error));
    assert_true(file_out_open(&out, scratch_path("out/x"), error, sizeof error));
    assert_true(file_out_write(&out, bytes.data, 1000, error, sizeof error));
    assert_true(tool_folder_make(&folder));
    char *inner = mem_calloc(strlen(folder.path) + 6, 1);
    sprintf(inner, "%s/file", folder.path);
    assert_true(file_write(inner, "x", 1, error, sizeof error));
    stream_open(&stream);
    fputs("text", stream.file);
    mem_exhausted();
}

/* Descriptors are closed, and what is half written is gone. */
static void test_files(void **state)
{
    (void)state;
    enum { SIZE = 3000001 }; /* is mapped, where that is possible */
    struct mem_scope scope = {.blocks = NULL};
    char *bytes = calloc(SIZE, 1), error[512];
    const char *large = scratch_path("large");
    assert_true(file_write(large, bytes, SIZE, error, sizeof error));
    struct traces before = traces_of_now();
    assert_false(mem_scope_run(&scope, hold_files, (void *)large));
    assert_no_traces(&before);
    free(bytes);
}

/* ---- the library ---- */

static const char kernels[] = "backend/kernels";
static const char exhausted[] = "a/b.skir: error: out of memory [out-of-memory]\n";

/* One use of the library from end to end. */
struct use {
    struct skir_module *module;
    char *before, *after; /* texts of the module */
    bool compiled, failed;
    uint64_t allocations;
};

static void use_library(struct use *use, const char *text, uint64_t limit, bool once)
{
    const char *output = scratch_path("out/x.o");
    *use = (struct use){.module = NULL};
    heap_limit(limit, once);
    use->module = skir_parse("a/b.skir", text, strlen(text));
    if (use->module) {
        use->before = skir_print(use->module);
        use->compiled = skir_compile(use->module, kernels, output);
        use->after = skir_print(use->module);
        skir_messages(use->module);
    }
    use->failed = heap_unlimit(limit, &use->allocations);
}

static void use_end(struct use *use)
{
    free(use->before);
    free(use->after);
    skir_free(use->module);
    unlink(scratch_path("out/x.o"));
}

/* A module for which there was no memory: nothing works any more, and nothing is printed. */
static void assert_exhausted(struct skir_module *module)
{
    assert_false(skir_ok(module));
    assert_string_equal(skir_messages(module), exhausted);
    assert_false(skir_run_passes(module, "default", kernels));
    assert_false(skir_compile(module, kernels, scratch_path("out/x.o")));
    assert_null(skir_print(module));
    assert_string_equal(skir_messages(module), exhausted);
}

/* A module that knows nothing of what happened to another. */
static void assert_others_work(void)
{
    static const char text[] = "skir 1\n\ngraph @g(%a: f32[4]) -> f32[4] {\n  return %a\n}\n";
    struct skir_module *module = skir_parse("other.skir", text, strlen(text));
    assert_true(skir_run_passes(module, "partition-scopes", kernels));
    char *printed = skir_print(module);
    assert_string_equal(printed, text);
    assert_string_equal(skir_messages(module), "");
    free(printed);
    skir_free(module);
}

static void check_use(uint64_t limit, bool once, const void *user)
{
    const struct use *good = user;
    struct traces before = traces_of_now();
    struct use use;
    use_library(&use, everything, limit, once);
    /* Some allocations can be done without. */
    if (use.module && skir_ok(use.module)) {
        assert_true(once || limit + 1 >= good->allocations);
        assert_string_equal(use.after, good->after);
        assert_true(use.compiled);
    } else {
        assert_true(use.failed);
        if (use.module)
            assert_exhausted(use.module);
    }
    assert_int_equal(access(scratch_path("out/x.o"), F_OK), use.compiled ? 0 : -1);
    use_end(&use);
    assert_no_traces(&before);
    assert_others_work();
}

static void test_library(void **state)
{
    (void)state;
    enum { MOST = 2500 };
    struct use warm, good;
    if (access("backend/kernels/add.o", R_OK) != 0)
        skip();
    use_library(&warm, everything, UINT64_MAX - 1, false);
    use_library(&good, everything, UINT64_MAX - 1, false);
    assert_string_equal(skir_messages(good.module), "");
    assert_true(good.compiled);
    assert_non_null(strstr(good.after, "entry @main_s"));
    use_end(&warm);
    try_limits(good.allocations, MOST, check_use, &good);
    use_end(&good);
}

/* ---- threads ---- */

/* Threads have their limits, scopes and modules to themselves. */
static void *use_in_thread(void *user)
{
    uint64_t limit = *(const uint64_t *)user;
    unsigned failures = 0;
    for (int i = 0; i < 100; i++) {
        mem_allow(limit);
        struct skir_module *module = skir_parse("a/b.skir", everything, strlen(everything));
        skir_run_passes(module, "partition-scopes", kernels);
        failures += strcmp(skir_messages(module), exhausted) == 0;
        mem_allow(UINT64_MAX);
        skir_free(module);
    }
    return (void *)(uintptr_t)failures;
}

static void test_threads(void **state)
{
    (void)state;
    uint64_t limits[] = {UINT64_MAX, 3, UINT64_MAX, 40};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_in_thread, &limits[i]), 0);
    for (int i = 0; i < 4; i++) {
        void *failures;
        pthread_join(threads[i], &failures);
        assert_int_equal((uintptr_t)failures, limits[i] == UINT64_MAX ? 0 : 100);
    }
}

/* ---- texts ---- */

/* A text of the golden files, whatever is wrong with it. */
struct golden_text {
    const char *path;
    struct file_bytes bytes;
    char *messages; /* when memory suffices */
};

static bool run_passes(const struct golden_text *golden, uint64_t limit, bool once, char **messages,
                       uint64_t *allocations)
{
    heap_limit(limit, once);
    struct skir_module *module = skir_parse(golden->path, golden->bytes.data, golden->bytes.size);
    char *text = NULL;
    if (module && skir_run_passes(module, "default", kernels))
        text = skir_print(module);
    const char *said = module ? skir_messages(module) : NULL;
    bool failed = heap_unlimit(limit, allocations);
    *messages = said ? strdup(said) : NULL;
    free(text);
    skir_free(module);
    return failed;
}

static void check_passes(uint64_t limit, bool once, const void *user)
{
    const struct golden_text *golden = user;
    struct traces before = traces_of_now();
    char *messages;
    uint64_t allocations;
    bool failed = run_passes(golden, limit, once, &messages, &allocations);
    if (messages && !strstr(messages, ": error: out of memory [out-of-memory]\n"))
        assert_string_equal(messages, golden->messages);
    else
        assert_true(failed);
    free(messages);
    assert_no_traces(&before);
}

static void try_text(struct golden_text *golden, uint64_t most)
{
    uint64_t allocations;
    run_passes(golden, UINT64_MAX - 1, false, &golden->messages, &allocations);
    try_limits(allocations, most, check_passes, golden);
    free(golden->messages);
}

static void check_golden(const char *path)
{
    struct golden_text golden = {.path = path};
    char error[512];
    if (!file_read(path, &golden.bytes, error, sizeof error))
        fail_msg("%s", error);
    try_text(&golden, 20);
    file_bytes_free(&golden.bytes);
}

static void check_folder(const char *path, struct arena *arena)
{
    struct file_names names = {NULL, 0, 0};
    assert_true(folder_names(path, arena, &names));
    for (uint32_t i = 0; i < names.count; i++) {
        const char *inner = arena_printf(arena, "%s/%s", path, names.at[i]);
        const char *end = strrchr(inner, '.');
        if (end && strcmp(end, ".skir") == 0)
            check_golden(inner);
        else if (!end)
            check_folder(inner, arena);
    }
    vec_free(&names);
}

static void test_golden_texts(void **state)
{
    (void)state;
    const char *source = getenv("SKIR_SOURCE");
    struct arena arena = {NULL, 0};
    if (!source)
        skip();
    check_folder(arena_printf(&arena, "%s/tests/golden", source), &arena);
    arena_free(&arena);
}

/* The parser's stack grows beyond what it has at first. */
static void test_nesting(void **state)
{
    (void)state;
    enum { DEPTH = 1000 };
    static const char begin[] = "skir 1\ntarget \"t\" {_x = ", end[] = "}\n";
    char text[sizeof begin + 2 * DEPTH + sizeof end];
    size_t size = sizeof begin - 1;
    memcpy(text, begin, size);
    memset(text + size, '[', DEPTH);
    memset(text + size + DEPTH, ']', DEPTH);
    size += 2 * DEPTH;
    memcpy(text + size, end, sizeof end);
    struct golden_text golden = {.path = "deep.skir",
                                 .bytes = {.data = text, .size = size + sizeof end - 1}};
    try_text(&golden, 100);
}

/* ---- objects ---- */

static void count_function(void *user, const char *name, uint64_t section_size)
{
    (void)section_size;
    unsigned *count = user;
    *count += name[0] != '\0';
    mem_free(mem_strdup(name)); /* may fail, too */
}

/* All that is done with objects, an archive of large ones. */
static void use_objects(void *user)
{
    unsigned *functions = user;
    char error[512];
    void *bytes;
    size_t size;
    struct stream stream;
    struct object_file *file = object_file_read(scratch_path("large.a"));
    object_file_functions(file, count_function, functions);
    struct object_link *link = object_link_new();
    object_link_add_read(link, 0, file);
    object_link_export(link, 0, "one1", "first");
    object_link_keep(link, "first");
    object_link_copy(link, 0, 1);
    if (!object_link_bytes(link, &bytes, &size) ||
        !file_write(scratch_path("out/x.o"), bytes, size, error, sizeof error))
        fail_msg("%s", object_link_error(link));
    mem_free(bytes);
    object_link_free(link);
    object_file_free(file);
    stream_open(&stream);
    assert_true(object_dump(scratch_path("out/x.o"), stream.file, error, sizeof error));
    mem_free(stream_close(&stream, NULL));
}

static void check_objects(uint64_t limit, bool once, const void *user)
{
    (void)user;
    struct mem_scope scope = {.blocks = NULL};
    struct traces before = traces_of_now();
    unsigned functions = 0;
    uint64_t used;
    heap_limit(limit, once);
    bool done = mem_scope_run(&scope, use_objects, &functions);
    assert_true(heap_unlimit(limit, &used) || done);
    unlink(scratch_path("out/x.o"));
    assert_null(scope.blocks);
    assert_no_traces(&before);
}

static void test_objects(void **state)
{
    (void)state;
    enum { FUNCTIONS = 1500 }; /* too many for memory that is there when an object is opened */
    static const char make[] =
        "cd '%s' && for i in one two; do for n in $(seq %d); do echo \"int $i$n(void) { return $n; "
        "}\"; done >$i.c && $CC -c -o $i.o $i.c || exit; done && ar crs large.a one.o two.o";
    char command[512];
    struct mem_scope scope = {.blocks = NULL};
    unsigned functions = 0;
    uint64_t allocations;
    snprintf(command, sizeof command, make, scratch_folder, FUNCTIONS);
    assert_int_equal(system(command), 0);
    heap_limit(UINT64_MAX - 1, false);
    assert_true(mem_scope_run(&scope, use_objects, &functions));
    heap_unlimit(UINT64_MAX - 1, &allocations);
    unlink(scratch_path("out/x.o"));
    assert_int_equal(functions, 2 * FUNCTIONS);
    try_limits(allocations, 300, check_objects, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exhausted),    cmocka_unit_test(test_blocks_stay),
        cmocka_unit_test(test_nested),       cmocka_unit_test(test_large),
        cmocka_unit_test(test_too_large),    cmocka_unit_test(test_files),
        cmocka_unit_test(test_library),      cmocka_unit_test(test_threads),
        cmocka_unit_test(test_golden_texts), cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_objects),
    };
    return cmocka_run_group_tests_name("memory", tests, scratch_make, scratch_remove);
}
