/* Fuzz target of the object module: any bytes are added to a link twice (two groups, so that
 * names and COMDAT groups meet), written to memory, read back, and dumped.
 *
 * With -fsanitize=fuzzer it is a libFuzzer target. With -DREPLAY it has a plain main that runs the
 * files named as arguments. */
#include "backend/linker/object.h"
#include "ir/support/memory.h"
#include "tests/fuzz/replay.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A result must be a legal input. */
static void check_result(const void *bytes, size_t size)
{
    struct object_link *link = object_link_new();
    if (!object_link_add(link, 0, "result", bytes, size)) {
        fprintf(stderr, "result refused: %s\n", object_link_error(link));
        abort();
    }
    object_link_free(link);
}

static void try_link(const uint8_t *data, size_t size, unsigned groups)
{
    struct object_link *link = object_link_new();
    bool ok = true;
    for (unsigned i = 0; i < 2 && ok; i++)
        ok = object_link_add(link, i % groups, "input", data, size);
    ok = ok && object_link_copy(link, 0, 9) && object_link_export(link, 0, "entry", "kept") &&
         object_link_keep(link, "kept");
    void *bytes;
    size_t result_size;
    if (ok && object_link_bytes(link, &bytes, &result_size)) {
        check_result(bytes, result_size);
        mem_free(bytes);
    }
    object_link_free(link);
}

static void try_plain(const uint8_t *data, size_t size)
{
    struct object_link *link = object_link_new();
    void *bytes;
    size_t result_size;
    if (object_link_add(link, 0, "input", data, size) &&
        object_link_add(link, 1, "input", data, size) &&
        object_link_bytes(link, &bytes, &result_size)) {
        check_result(bytes, result_size);
        mem_free(bytes);
    }
    object_link_free(link);
}

static void ignore_function(void *user, const char *name, uint64_t section_size)
{
    (void)user;
    (void)name;
    (void)section_size;
}

static void ignore_code(void *user, const char *name, uint64_t address, uint64_t size)
{
    (void)user;
    (void)name;
    (void)address;
    (void)size;
}

static void ignore_line(void *user, const char *function, uint64_t offset, const char *file,
                        uint32_t line)
{
    (void)user;
    (void)function;
    (void)offset;
    (void)file;
    (void)line;
}

/* The queries read files: one temporary file serves all inputs of the process. */
static void try_queries(const uint8_t *data, size_t size)
{
    char path[] = "/tmp/fuzz_object.XXXXXX", error[256];
    int fd = mkstemp(path);
    FILE *out = fopen("/dev/null", "w");
    if (fd >= 0 && out && write(fd, data, size) == (ssize_t)size) {
        object_dump(path, out, error, sizeof error);
        struct object_file *file = object_file_read(path);
        object_file_functions(file, ignore_function, NULL);
        object_file_code(file, ignore_code, NULL);
        object_file_lines(file, ignore_line, NULL);
        object_file_free(file);
    }
    if (out)
        fclose(out);
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_link(data, size, 1);
    try_link(data, size, 2);
    try_plain(data, size);
    try_queries(data, size);
    return 0;
}
