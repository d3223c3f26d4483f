#include "ir/op_types.h"
#include "ir/base/json_tree.h"
#include "ir/base/part.h"
#include "ir/op_data.h"
#include "ir/op_type_reader.h"

#include <cjson/cJSON.h>

#include <stdio.h>
#include <string.h>

const struct op_type op_type_unseen = {.name = ""};

struct op_types *op_types_new(void)
{
    return mem_calloc(1, sizeof(struct op_types));
}

void op_types_free(struct op_types *types)
{
    if (!types)
        return;
    mem_free(types->seen);
    intern_free(&types->names);
    vec_free(&types->entries);
    arena_free(&types->arena);
    mem_free(types);
}

/* --------------------------------------------------------------------- built-in data ---- */

/* The names of all types; what is said of them is read when it is asked for. */
static void name_all(struct op_types *types)
{
    if (types->entries.count)
        return;
    part_leave();
    for (const struct op_data *data = op_data; data->name; data++) {
        uint32_t id = intern_static(&types->names, data->name, strlen(data->name));
        assert(id == types->entries.count); /* no type stands twice */
        (void)id;
        vec_push(&types->entries, (struct op_type_entry){data, NULL});
    }
}

static void delete_json(void *json)
{
    cJSON_Delete(json);
}

/* The type of another name, NULL where there is none of that name, or where it is another name
 * itself. */
static const struct op_type *name_again(struct op_types *types, const char *name,
                                        const char *family, const char *real)
{
    const struct op_type *known = op_types_find(types, real, strlen(real));
    if (!known || known->real != known->name)
        return NULL;
    struct op_type *type = arena_alloc(&types->arena, sizeof *type);
    *type = *known;
    type->name = name;
    type->family = family;
    return type;
}

static const struct op_type *read_json(struct op_types *types, const struct op_type_reader *reader,
                                       const char *name, const char *family, const cJSON *json)
{
    const char *same = op_type_same(json);
    if (same) {
        const struct op_type *type = name_again(types, name, family, same);
        if (!type)
            snprintf(reader->error, reader->error_size,
                     "%s: op type '%s': 'same' is no type that is known, but '%s'", reader->path,
                     name, same);
        return type;
    }
    struct op_type *type = arena_alloc(&types->arena, sizeof *type);
    return op_type_read(reader, name, family, json, type) ? type : NULL;
}

static const struct op_type *read_data(struct op_types *types, const struct op_data *data)
{
    char error[200];
    struct op_type_reader reader = {&types->arena, data->family, error, sizeof error};
    cJSON *json = op_type_json(&reader, data->json, strlen(data->json));
    struct mem_guard guard;
    mem_guard(&guard, delete_json, json);
    const struct op_type *type =
        json ? read_json(types, &reader, data->name, data->family, json) : NULL;
    assert(type); /* tests/unit/test_op_types.c reads all of it */
    mem_unguard(&guard);
    cJSON_Delete(json);
    return type;
}

static const struct op_type *type_of_id(struct op_types *types, uint32_t id)
{
    struct op_type_entry *entry = &types->entries.at[id];
    if (!entry->type) {
        part_leave();
        entry->type = read_data(types, entry->data);
    }
    return entry->type;
}

/* ----------------------------------------------------------------------- look-ups ---- */

const struct op_type *op_types_find(struct op_types *types, const char *name, size_t size)
{
    name_all(types);
    uint32_t id = intern_find(&types->names, name, size);
    return id == NONE ? NULL : type_of_id(types, id);
}

const struct op_type *op_types_at(struct op_types *types, uint32_t number)
{
    name_all(types);
    return number < types->entries.count ? type_of_id(types, number) : NULL;
}

void op_types_offer(struct op_types *types, struct suggest *suggest)
{
    name_all(types);
    for (uint32_t i = 0; i < types->names.count; i++)
        suggest_offer(suggest, types->names.names[i].text, types->names.names[i].size);
}

/* Makes room for all names that the module has. */
static void grow_seen(struct op_types *types, uint32_t count)
{
    types->seen = mem_realloc(types->seen, count, sizeof(types->seen[0]));
    while (types->n_seen < count)
        types->seen[types->n_seen++] = &op_type_unseen;
}

const struct op_type *op_type_look_up(const struct module *module, uint32_t name)
{
    struct op_types *types = module->op_types;
    const struct intern_name *text = &module->names.names[name];
    assert(name < module->names.count);
    part_leave();
    if (name >= types->n_seen)
        grow_seen(types, module->names.count);
    return types->seen[name] = op_types_find(types, text->text, text->size);
}

bool op_type_agrees(const struct module *module, uint32_t a, uint32_t b)
{
    if (a == b)
        return true;
    const struct op_type *one = op_type_find(module, a), *other = op_type_find(module, b);
    return one && other && strcmp(one->real, other->real) == 0;
}

uint32_t op_type_operand(const struct op_type *type, const char *name, size_t size)
{
    for (uint32_t i = 0; i < type->n_operands; i++)
        if (strlen(type->slots[i].name) == size && memcmp(type->slots[i].name, name, size) == 0)
            return i;
    return NONE;
}

/* -------------------------------------------------------------------- private data ---- */

struct adding {
    struct op_types *types;
    struct op_type_reader reader;
    const char *family;
};

/* The file of a path, without its folder and endings. */
static const char *family_of(struct op_types *types, const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    return arena_strndup(&types->arena, file, strcspn(file, "."));
}

/* Whether data that is known already says the same. */
static bool says_same(const struct adding *adding, uint32_t id, const cJSON *json)
{
    const struct op_data *data = adding->types->entries.at[id].data;
    cJSON *known = op_type_json(&adding->reader, data->json, strlen(data->json));
    bool same = cJSON_Compare(known, json, true);
    cJSON_Delete(known);
    if (!same)
        snprintf(adding->reader.error, adding->reader.error_size,
                 "%s: op type '%s' is another one than that of '%s'", adding->reader.path,
                 data->name, data->family);
    return same;
}

static const struct op_data *keep_data(struct op_types *types, const char *name, const char *family,
                                       const cJSON *json)
{
    struct op_data *data = arena_alloc(&types->arena, sizeof *data);
    char *text = cJSON_PrintUnformatted(json);
    if (!text)
        mem_exhausted();
    text = mem_adopt(text, strlen(text) + 1);
    *data = (struct op_data){name, family, arena_strndup(&types->arena, text, strlen(text))};
    mem_free(text);
    return data;
}

static bool add_type(const struct adding *adding, const cJSON *json)
{
    struct op_types *types = adding->types;
    uint32_t id = intern_find(&types->names, json->string, strlen(json->string));
    if (id != NONE)
        return says_same(adding, id, json);
    const char *name = arena_strndup(&types->arena, json->string, strlen(json->string));
    const struct op_type *type = read_json(types, &adding->reader, name, adding->family, json);
    if (!type)
        return false;
    intern_static(&types->names, name, strlen(name));
    vec_push(&types->entries,
             (struct op_type_entry){keep_data(types, name, adding->family, json), type});
    return true;
}

static bool add_types(const struct adding *adding, const cJSON *json)
{
    const cJSON *item;
    if (!cJSON_IsObject(json)) {
        snprintf(adding->reader.error, adding->reader.error_size,
                 "%s: this is no object of op types", adding->reader.path);
        return false;
    }
    cJSON_ArrayForEach(item, json)
    {
        if (!add_type(adding, item))
            return false;
    }
    return true;
}

/* Names that were unknown may be known behind it. */
static void forget_seen(struct op_types *types)
{
    for (uint32_t i = 0; i < types->n_seen; i++)
        types->seen[i] = &op_type_unseen;
}

/* Whether the text is JSON of which there is only one reading. */
static bool is_strict(const char *path, const char *json, size_t size, char *error,
                      size_t error_size)
{
    struct json_tree tree;
    bool ok = json_tree_read(&tree, path, json, size, error, error_size);
    json_tree_free(&tree);
    return ok;
}

bool op_types_add(struct op_types *types, const char *path, const char *json, size_t size,
                  char *error, size_t error_size)
{
    struct adding adding = {.types = types,
                            .reader = {&types->arena, path, error, error_size},
                            .family = family_of(types, path)};
    if (!is_strict(path, json, size, error, error_size))
        return false;
    name_all(types);
    forget_seen(types);
    cJSON *parsed = op_type_json(&adding.reader, json, size);
    struct mem_guard guard;
    mem_guard(&guard, delete_json, parsed);
    bool ok = parsed && add_types(&adding, parsed);
    mem_unguard(&guard);
    cJSON_Delete(parsed);
    return ok;
}

bool op_types_is_file(const char *name)
{
    static const char ending[] = ".ops.json";
    size_t size = strlen(name);
    return size >= sizeof ending && strcmp(name + size - (sizeof ending - 1), ending) == 0;
}

static bool add_file(struct op_types *types, const char *path, char *error, size_t error_size)
{
    struct file_bytes bytes;
    if (!file_read_regular(path, &bytes, error, error_size))
        return false;
    bool ok = op_types_add(types, path, bytes.data, bytes.size, error, error_size);
    file_bytes_free(&bytes);
    return ok;
}

bool op_types_add_folder(struct op_types *types, const char *folder, char *error, size_t error_size)
{
    struct file_names names = {NULL, 0, 0};
    bool ok = true;
    if (folder_names(folder, &types->arena, &names))
        for (uint32_t i = 0; ok && i < names.count; i++)
            if (op_types_is_file(names.at[i]))
                ok = add_file(types, arena_printf(&types->arena, "%s/%s", folder, names.at[i]),
                              error, error_size);
    vec_free(&names);
    return ok;
}

const struct op_attr *op_type_attr(const struct op_type *type, const char *name, size_t size)
{
    for (uint32_t i = 0; type && i < type->n_attrs; i++)
        if (strlen(type->attrs[i].name) == size && memcmp(type->attrs[i].name, name, size) == 0)
            return &type->attrs[i];
    return NULL;
}
