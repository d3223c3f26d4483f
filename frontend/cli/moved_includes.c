#include "frontend/cli/moved_includes.h"
#include "ir/base/file.h"
#include "ir/base/text.h"

#include <string.h>

/* The folder of a path, without links; NULL where there is none. */
static char *real_folder(const char *path)
{
    char *folder = path_folder(path), *real = path_real(folder);
    mem_free(folder);
    return real;
}

/* The size of what two absolute paths have in common: whole names. */
static size_t common_size(const char *a, const char *b)
{
    size_t common = 0, i = 0;
    for (;; i++) {
        bool a_ends = a[i] == '/' || !a[i], b_ends = b[i] == '/' || !b[i];
        if (a_ends && b_ends)
            common = i;
        if (a[i] != b[i] || !a[i])
            return common;
    }
}

/* The way from one folder to another, with a slash at its end, both without links. */
static void spell_way(struct text *way, const char *from, const char *to)
{
    size_t common = common_size(from, to);
    for (const char *p = from + common; *p; p++)
        if (*p == '/' && p[1])
            text_string(way, "../");
    for (const char *p = to + common; *p == '/'; p++)
        common++;
    text_string(way, to + common);
    if (to[common])
        text_char(way, '/');
}

static void put_before(struct module *module, struct include *include, const struct text *way)
{
    const struct intern_name *name = &module->names.names[include->path];
    if (name->size == 0 || name->text[0] == '/' || module_includes(module, include->loc))
        return;
    struct text path = {NULL, 0, 0};
    text_bytes(&path, way->at, way->size);
    text_bytes(&path, name->text, name->size);
    include->path = intern_copy(&module->names, path.at, path.size);
    text_free(&path);
}

void move_includes(struct module *module, const char *from, const char *to)
{
    if (module->includes.count == 0 || strcmp(to, "-") == 0)
        return;
    char *old = real_folder(from), *new = real_folder(to);
    struct text way = {NULL, 0, 0};
    if (old && new)
        spell_way(&way, new, old);
    for (uint32_t i = 0; way.size && i < module->includes.count; i++)
        put_before(module, &module->includes.at[i], &way);
    text_free(&way);
    mem_free(old);
    mem_free(new);
}
