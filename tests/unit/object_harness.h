/* What the tests of the object module share: a folder of their own, compilers, links that must
 * succeed or fail, and results read back. */
#ifndef TESTS_UNIT_OBJECT_HARNESS_H
#define TESTS_UNIT_OBJECT_HARNESS_H

#include "backend/linker/internal.h"
#include "backend/linker/object.h"

#include <dirent.h>
#include <dlfcn.h>
#include <libelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64]; /* of the test */

/* ---- helpers: files, tools ---- */

/* The path of a file in the test's folder; valid until eight more calls. */
static inline const char *path_of(const char *name)
{
    static char paths[8][256];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline void write_bytes(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static inline unsigned char *read_bytes(const char *name, size_t *size)
{
    FILE *file = fopen(path_of(name), "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size + 1);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static inline int shell(const char *format, ...)
{
    char command[2048];
    int length = snprintf(command, sizeof command, "cd %s && ", folder);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command + length, sizeof command - (size_t)length, format, arguments);
    va_end(arguments);
    return system(command);
}

/* Compiles `text` to `name`.o in the folder; `suffix` tells the language. */
static inline void compile_with(const char *compiler, const char *name, const char *suffix,
                                const char *text)
{
    char file[64];
    snprintf(file, sizeof file, "%s.%s", name, suffix);
    write_bytes(file, text, strlen(text));
    if (shell("%s -c '%s' -o '%s.o'", compiler, file, name) != 0)
        fail_msg("cannot compile %s", file);
}

static inline void compile(const char *name, const char *text)
{
    compile_with("cc -O2 -fPIC", name, "c", text);
}

static inline void assemble(const char *name, const char *text)
{
    compile_with("cc", name, "s", text);
}

static inline bool have(const char *tool)
{
    return shell("command -v %s >/dev/null 2>&1", tool) == 0;
}

static inline void *load(const char *object)
{
    static unsigned serial;
    char library[32];
    snprintf(library, sizeof library, "lib%u.so", serial++);
    assert_int_equal(shell("cc -shared -o %s %s -lm", library, object), 0);
    void *handle = dlopen(path_of(library), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    return handle;
}

static inline int call(void *library, const char *symbol)
{
    int (*function)(void);
    *(void **)&function = dlsym(library, symbol);
    assert_non_null(function);
    return function();
}

/* ---- helpers: links ---- */

static inline void assert_ok(struct object_link *link, bool ok)
{
    if (!ok)
        fail_msg("%s", object_link_error(link));
    assert_null(object_link_error(link));
}

static inline void add(struct object_link *link, unsigned group, const char *name)
{
    assert_ok(link, object_link_add_file(link, group, path_of(name)));
}

static inline void export(struct object_link *link, unsigned group, const char *symbol,
                          const char *as)
{
    assert_ok(link, object_link_export(link, group, symbol, as));
}

static inline bool write_link(struct object_link *link, const char *name)
{
    void *bytes;
    size_t size;
    if (!object_link_bytes(link, &bytes, &size))
        return false;
    write_bytes(name, bytes, size);
    mem_free(bytes);
    return true;
}

/* Writes to `name`, keeping `kept`, and frees the link. */
static inline void finish(struct object_link *link, const char *kept, const char *name)
{
    assert_ok(link, object_link_keep(link, kept));
    assert_ok(link, write_link(link, name));
    object_link_free(link);
}

static inline void fails_with(struct object_link *link, const char *text, const char *also)
{
    void *bytes;
    size_t size;
    assert_false(object_link_bytes(link, &bytes, &size));
    assert_null(bytes);
    const char *error = object_link_error(link);
    assert_non_null(error);
    if (!strstr(error, text) || (also && !strstr(error, also)))
        fail_msg("unexpected message: %s", error);
    assert_null(strchr(error, '\n'));
    /* From the first error on nothing works, and the message stays. */
    assert_false(object_link_keep(link, "x"));
    assert_false(object_link_export(link, 0, "x", "x"));
    assert_false(object_link_add_file(link, 0, "x"));
    assert_false(object_link_copy(link, 0, 1));
    assert_false(object_link_place(link, 0, NULL, 1));
    assert_false(object_link_share(link, 0));
    assert_false(object_link_undefined(link, NULL, NULL));
    assert_string_equal(object_link_error(link), error);
    object_link_free(link);
}

/* Links these files as one group, to see the message. */
static inline void refuse(const char *first, const char *second, const char *text, const char *also)
{
    struct object_link *link = object_link_new();
    if (object_link_add_file(link, 0, path_of(first)) && second)
        object_link_add_file(link, 0, path_of(second));
    fails_with(link, text, also);
}

static inline struct object_link *link_pair(const char *first, const char *second)
{
    struct object_link *link = object_link_new();
    add(link, 0, first);
    if (second)
        add(link, 0, second);
    return link;
}

/* ---- helpers: reading results back ---- */

struct keeper {
    struct object_input *input; /* the last one */
    struct object_arena arena;
    struct object_error error;
};

static inline void read_back(struct keeper *keeper, const char *name)
{
    *keeper = (struct keeper){.input = NULL};
    keeper->arena.error = &keeper->error;
    if (!object_read_file(&keeper->arena, path_of(name), &keeper->input))
        fail_msg("%s", keeper->error.text);
    while (keeper->input->next)
        keeper->input = keeper->input->next;
}

static inline struct object_section *section_named(struct keeper *keeper, const char *name)
{
    for (uint32_t i = 1; i < keeper->input->section_count; i++)
        if (strcmp(keeper->input->sections[i].name, name) == 0)
            return &keeper->input->sections[i];
    return NULL;
}

static inline struct object_symbol *symbol_named(struct keeper *keeper, const char *name)
{
    for (uint32_t i = 1; i < keeper->input->symbol_count; i++)
        if (strcmp(keeper->input->symbols[i].name, name) == 0)
            return &keeper->input->symbols[i];
    return NULL;
}

static inline unsigned symbols_named(struct keeper *keeper, const char *name)
{
    unsigned count = 0;
    for (uint32_t i = 1; i < keeper->input->symbol_count; i++)
        count += strcmp(keeper->input->symbols[i].name, name) == 0;
    return count;
}

/* All non-local symbols that are defined, separated by blanks. */
static inline const char *defined_globals(struct keeper *keeper)
{
    static char text[1024];
    text[0] = '\0';
    for (uint32_t i = keeper->input->local_count; i < keeper->input->symbol_count; i++) {
        const struct object_symbol *symbol = &keeper->input->symbols[i];
        if (symbol->section == OBJECT_UNDEFINED)
            continue;
        strcat(text, text[0] ? " " : "");
        strcat(text, symbol->name);
    }
    return text;
}

static inline size_t relocation_total(struct keeper *keeper)
{
    size_t count = 0;
    for (uint32_t i = 1; i < keeper->input->section_count; i++)
        count += keeper->input->sections[i].relocation_count;
    return count;
}

static inline int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/test_object.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

#endif
