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

/* Where a module comes from and goes to: absolute paths of folders, without links. */
struct move {
    char *old, *new;
};

/* The path, if it is a relative one, as it leads from the new folder. Only what stands in front of
 * the path is known to have no links: steps back from there are taken. */
static uint32_t moved_path(struct module *module, const struct move *move, uint32_t path)
{
    const struct intern_name *name = &module->names.names[path];
    struct text folder = {NULL, 0, 0}, moved = {NULL, 0, 0};
    size_t size = strlen(move->old), at = 0, last = name->size;
    if (name->size == 0 || name->text[0] == '/' || memchr(name->text, '\0', name->size))
        return path;
    for (; name->size - at > 3 && memcmp(name->text + at, "../", 3) == 0; at += 3)
        while (size > 0 && move->old[--size] != '/')
            continue;
    while (last > at && name->text[last - 1] != '/')
        last--;
    text_printf(&folder, "%.*s/%.*s", (int)size, move->old, (int)(last > at ? last - at - 1 : 0),
                name->text + at);
    spell_way(&moved, move->new, folder.at);
    text_bytes(&moved, name->text + last, name->size - last);
    path = intern_copy(&module->names, moved.at, moved.size);
    text_free(&folder);
    text_free(&moved);
    return path;
}

static void move_includes(struct module *module, const struct move *move)
{
    for (uint32_t i = 0; i < module->includes.count; i++) {
        struct include *include = &module->includes.at[i];
        if (!module_includes(module, include->loc))
            include->path = moved_path(module, move, include->path);
    }
}

/* Ops that a pass has copied share their attributes: `moved` marks what was met, by attribute. */
static void move_contents(struct module *module, const struct graph *graph, const struct move *move,
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
        own->value.id = moved_path(module, move, own->value.id);
    }
}

/* Those that were imported: the sample kernels are not meant. Kernels share no attributes. */
static void move_kernels(struct module *module, const struct move *move)
{
    bool foreign = module->source && module->source->language == SOURCE_FOREIGN;
    for (uint32_t i = 0; i < module->kernels.count; i++) {
        struct range attrs = module->kernels.at[i].attrs;
        if (!foreign && !attr_find(module, attrs, W__json))
            continue;
        for (uint32_t n = attrs.first; n < attrs.first + attrs.count; n++) {
            struct attr *attr = &module->attrs.at[n];
            if ((attr->key == W_object || attr->key == W__json) && attr->value.kind == ATTR_STRING)
                attr->value.id = moved_path(module, move, attr->value.id);
        }
    }
}

static void move_all(struct module *module, const struct move *move)
{
    uint8_t *moved = mem_calloc(module->attrs.count, 1);
    move_includes(module, move);
    for (uint32_t i = 0; i < module->graphs.count; i++)
        move_contents(module, &module->graphs.at[i], move, moved);
    move_kernels(module, move);
    mem_free(moved);
}

void move_paths(struct module *module, const char *from, const char *to)
{
    if (strcmp(to, "-") == 0)
        return;
    struct move move = {real_folder(from), real_folder(to)};
    if (move.old && move.new &&strcmp(move.old, move.new) != 0)
        move_all(module, &move);
    mem_free(move.old);
    mem_free(move.new);
}
