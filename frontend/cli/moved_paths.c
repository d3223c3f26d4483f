#include "frontend/cli/moved_paths.h"
#include "ir/base/file.h"
#include "ir/base/text.h"
#include "ir/contents.h"

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

/* The path, if it is a relative one, behind the way. */
static uint32_t path_behind(struct module *module, const struct text *way, uint32_t path)
{
    const struct intern_name *name = &module->names.names[path];
    struct text moved = {NULL, 0, 0};
    if (name->size == 0 || name->text[0] == '/')
        return path;
    text_bytes(&moved, way->at, way->size);
    text_bytes(&moved, name->text, name->size);
    path = intern_copy(&module->names, moved.at, moved.size);
    text_free(&moved);
    return path;
}

static void move_includes(struct module *module, const struct text *way)
{
    for (uint32_t i = 0; i < module->includes.count; i++) {
        struct include *include = &module->includes.at[i];
        if (!module_includes(module, include->loc))
            include->path = path_behind(module, way, include->path);
    }
}

/* Ops that a pass has copied share their attributes: `moved` marks what was met, by attribute. */
static void move_contents(struct module *module, const struct graph *graph, const struct text *way,
                          uint8_t *moved)
{
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct attr *attr = op_contents_attr(module, graph, &graph->ops.at[i]);
        if (!attr || attr->value.kind != ATTR_DICT)
            continue;
        const struct attr *file =
            attr_find(module, (struct range){attr->value.first, attr->value.count}, W_file);
        if (!file || file->value.kind != ATTR_STRING || moved[file - module->attrs.at]++)
            continue;
        struct attr *own = &module->attrs.at[file - module->attrs.at];
        own->value.id = path_behind(module, way, own->value.id);
    }
}

static void move_all(struct module *module, const struct text *way)
{
    uint8_t *moved = mem_calloc(module->attrs.count, 1);
    move_includes(module, way);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        move_contents(module, &module->graphs.at[i], way, moved);
    mem_free(moved);
}

/* Of an imported module: the sample kernels are not meant. Kernels share no attributes. */
static void move_kernels(struct module *module, const struct text *way)
{
    uint32_t json = module_name(module, "_json");
    for (uint32_t i = 0; i < module->kernels.count; i++) {
        struct range attrs = module->kernels.at[i].attrs;
        for (uint32_t n = attrs.first; n < attrs.first + attrs.count; n++) {
            struct attr *attr = &module->attrs.at[n];
            if ((attr->key == W_object || attr->key == json) && attr->value.kind == ATTR_STRING)
                attr->value.id = path_behind(module, way, attr->value.id);
        }
    }
}

void move_paths(struct module *module, const char *from, const char *to)
{
    if (strcmp(to, "-") == 0)
        return;
    char *old = real_folder(from), *new = real_folder(to);
    struct text way = {NULL, 0, 0};
    if (old && new)
        spell_way(&way, new, old);
    if (way.size)
        move_all(module, &way);
    if (way.size && module->source && module->source->language == SOURCE_FOREIGN)
        move_kernels(module, &way);
    text_free(&way);
    mem_free(old);
    mem_free(new);
}
