/* What tests of exhausted memory share: allocations that fail, folders and descriptors in which
 * nothing may be left, and a C compiler that is quick. */
#ifndef TESTS_UNIT_MEMORY_HARNESS_H
#define TESTS_UNIT_MEMORY_HARNESS_H

#include "ir/support/file.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SANITIZED_BY_GCC __SANITIZE_ADDRESS__
#ifdef __has_feature
#define SANITIZED_BY_CLANG __has_feature(address_sanitizer)
#endif
#if SANITIZED_BY_GCC || SANITIZED_BY_CLANG
enum { SANITIZED = 1 }; /* memory that is freed stays for a while */
#else
enum { SANITIZED };
#endif

/* ---- allocations ---- */

#if defined(__GLIBC__) && !(SANITIZED_BY_GCC || SANITIZED_BY_CLANG)

/* Allocations of everybody in this thread: of the C library and libelf as well. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *p);

static _Thread_local struct {
    uint64_t left; /* allocations until the first that fails */
    bool once;     /* only that one fails */
    bool failed;
} heap = {.left = UINT64_MAX};

static _Atomic int64_t live_blocks; /* of all threads: some free what others have allocated */

static bool heap_allows(void)
{
    if (heap.left > 0) {
        heap.left--;
        return true;
    }
    heap.failed = true;
    if (heap.once)
        heap.left = UINT64_MAX;
    errno = ENOMEM;
    return false;
}

void *malloc(size_t size)
{
    void *p = heap_allows() ? __libc_malloc(size) : NULL;
    live_blocks += p != NULL;
    return p;
}

void *calloc(size_t count, size_t size)
{
    void *p = heap_allows() ? __libc_calloc(count, size) : NULL;
    live_blocks += p != NULL;
    return p;
}

void *realloc(void *old, size_t size)
{
    void *p = heap_allows() ? __libc_realloc(old, size) : NULL;
    live_blocks += !old && p;
    return p;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    void *p = heap_allows() ? __libc_memalign(alignment, size) : NULL;
    live_blocks += p != NULL;
    return p;
}

void free(void *p)
{
    live_blocks -= p != NULL;
    __libc_free(p);
}

/* From now on `allowed` allocations are possible, then one is not or none is. */
static inline void heap_limit(uint64_t allowed, bool once)
{
    heap.left = allowed;
    heap.once = once;
    heap.failed = false;
}

/* Ends that. Returns whether an allocation has failed; `*used`: how many there were. */
static inline bool heap_unlimit(uint64_t allowed, uint64_t *used)
{
    *used = allowed - heap.left;
    heap.left = UINT64_MAX;
    return heap.failed;
}

static inline int64_t heap_live(void)
{
    return live_blocks;
}

#else

/* Those of the compiler: a sanitizer has an allocator of its own, and tells of leaks itself. */
static inline void heap_limit(uint64_t allowed, bool once)
{
    (void)once;
    mem_allow(allowed);
}

static inline bool heap_unlimit(uint64_t allowed, uint64_t *used)
{
    uint64_t left = mem_allow(UINT64_MAX);
    *used = allowed - left;
    return left == 0;
}

static inline int64_t heap_live(void)
{
    return 0;
}

#endif

/* ---- what is left behind ---- */

static char scratch_folder[64];

/* A path in the test's folder; valid until eight more calls. */
static inline const char *scratch_path(const char *name)
{
    static char paths[8][128];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", scratch_folder, name);
    return path;
}

static inline unsigned count_entries(const char *folder)
{
    unsigned count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

/* What must be the same before and after. */
struct traces {
    int64_t blocks;
    unsigned descriptors, temporary, outputs;
};

static inline struct traces traces_of_now(void)
{
    bool proc = access("/proc/self/fd", R_OK) == 0;
    return (struct traces){heap_live(), proc ? count_entries("/proc/self/fd") : 0,
                           count_entries(scratch_path("tmp")), count_entries(scratch_path("out"))};
}

static inline void assert_no_traces(const struct traces *before)
{
    struct traces now = traces_of_now();
    assert_int_equal(now.blocks, before->blocks);
    assert_int_equal(now.descriptors, before->descriptors);
    assert_int_equal(now.temporary, before->temporary);
    assert_int_equal(now.outputs, before->outputs);
}

/* ---- a module ---- */

/* All that a module may have and the host target takes, and the options that add to programs. */
static const char everything[] =
    "// a comment\n"
    "skir 1\n"
    "target \"virtual\" {aic = 4, aiv = 8}\n"
    "kernel @add : aiv_only {op = \"Add\", block = 4, object = \"add.o\", function = \"add\",\n"
    "  params = [x1, x2, y, tiling]}\n"
    "kernel @\"own mul\" : aiv_only {op = \"Mul\", block = 2, object = \"mul.o\",\n"
    "  function = \"mul\", params = [x1, x2, y, tiling]}\n"
    "graph @main(%a: f16[16, 16], %b: f16[16, 16], %\"odd name\": f16[16, 16])\n"
    "    -> (f16[16, 16], bool[16, 16], f16[16, 16], f16[16, 16]) {\n"
    "  %before = Add(%a, %b) {_loc = \"x.py:1\", _dict = {},\n"
    "    _list = [1, -2.5, \"t\", @s, %a, word, {k = [true]}]} : f16[16, 16] via @add\n"
    "  scope @s {options = \"stream-fusion=1:split-mode=2:debug-dcci-all=1:debug-sync-all=1:"
    "feed-sync-all=1:profiling=1:early-start=0:strict-scope-check=bypass\"} {\n"
    "    %sum = Add(%before, %b) : f16[16, 16] via @add send [7]\n"
    "    %mm = MatMul(%a, %b) : f16[16, 16]\n"
    "    stream \"1\" {priority = 0} {\n"
    "      %inf = IsInf(%sum) : bool[16, 16] after (%sum)\n"
    "    }\n"
    "    stream \"2\" {\n"
    "      %pow = Mul(%b, %\"odd name\") : f16[16, 16] via @\"own mul\" recv [7]\n"
    "    }\n"
    "    %out = Add(%mm, %pow) {dynamic, tiling_key = 1, tiling_blocks = 3} : f16[16, 16]\n"
    "  }\n"
    "  scope none { %alone = Mul(%out, %a) : f16[16, 16] via @\"own mul\" }\n"
    "  stream \"1\" { %soft = Softmax(%alone) : f16[16, 16] }\n"
    "  scope @t {options = \"preload-code=max:dcci-before-kernel-start=Add\"} {\n"
    "    %t1 = Add(%soft, %a) : f16[16, 16]\n"
    "    %t2 = Add(%t1, %a) : f16[16, 16]\n"
    "  }\n"
    "  return %t2, %inf, %pow, %mm\n"
    "}\n"
    "graph @second(%x: f32[4, 32]) -> f32[4, 32] {\n"
    "  scope @s { %y = Add(%x, %x) : f32[4, 32] }\n"
    "  return %y\n"
    "}\n";

/* ---- files ---- */

static inline void scratch_write(const char *name, const char *text)
{
    char error[512];
    if (!file_write(scratch_path(name), text, strlen(text), error, sizeof error))
        fail_msg("%s", error);
}

/* Makes CC a compiler that compiles the same text only once, and finds skrt.h. */
static inline void use_quick_compiler(void)
{
    static const char script[] = "#!/bin/sh\n"
                                 "for word; do\n"
                                 "  [ \"$last\" = -o ] && output=$word\n"
                                 "  [ \"$word\" = -lm ] || input=$word\n"
                                 "  last=$word\n"
                                 "done\n"
                                 "kept=\"${0%%/*}/$(cksum <\"$input\")\"\n"
                                 "[ -e \"$kept\" ] && exec cp \"$kept\" \"$output\"\n"
                                 "%s -I'%s' \"$@\" && cp \"$output\" \"$kept\"\n";
    char text[8192], headers[4096];
    const char *cc = getenv("CC");
    if (!realpath("backend/kernels", headers))
        headers[0] = '\0';
    snprintf(text, sizeof text, script, cc && *cc ? cc : "cc", headers);
    scratch_write("cc", text);
    chmod(scratch_path("cc"), 0755);
    setenv("CC", scratch_path("cc"), 1);
}

/* ---- which allocations fail ---- */

static uint64_t try_random;

/* The choices of try_limits in this program. */
static inline void seed_limits(void)
{
    const char *given = getenv("SKIR_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : 1;
    printf("# SKIR_TEST_SEED=%llu\n", (unsigned long long)seed);
    try_random = seed | 1;
}

static inline uint64_t next_random(void)
{
    try_random ^= try_random << 13;
    try_random ^= try_random >> 7;
    try_random ^= try_random << 17;
    return try_random >> 1;
}

/* Calls `trial` with limits of 0 to `all` - 1 allocations, after which one fails or all do. Where
 * the limits are more than `most`, so many of them are tried: the first half in turn, the others at
 * random. */
static inline void try_limits(uint64_t all, uint64_t most,
                              void (*trial)(uint64_t limit, bool once, const void *user),
                              const void *user)
{
    for (uint64_t i = 0; i < all && i < most; i++) {
        bool in_turn = all <= most || i < most / 2;
        uint64_t limit = in_turn ? i : most / 2 + next_random() % (all - most / 2);
        trial(limit, next_random() & 1, user);
    }
}

/* ---- set-up ---- */

/* Temporary files go to `tmp`, results to `out`. */
static inline int scratch_make(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(scratch_folder, sizeof scratch_folder, "%.40s/skir-test.XXXXXX",
             base && *base ? base : "/tmp");
    if (!mkdtemp(scratch_folder) || mkdir(scratch_path("tmp"), 0777) != 0 ||
        mkdir(scratch_path("out"), 0777) != 0)
        return -1;
    seed_limits();
    use_quick_compiler();
    setenv("TMPDIR", scratch_path("tmp"), 1);
    return 0;
}

static inline int scratch_remove(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", scratch_folder);
    return system(command);
}

#endif
