#include "ir/optypes/op_types.h"
#include "ir/core/kernel.h"
#include "ir/optypes/op_data.h"
#include "ir/optypes/op_type_reader.h"
#include "ir/support/json_document.h"
#include "ir/support/memory.h"

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

struct op_types *op_types_of(const struct module *module)
{
    if (!module->op_types) {
        part_leave();
        struct module *own = (struct module *)module; /* as a cache, it is no part of its value */
        own->op_types = op_types_new();
        own->free_op_types = op_types_free;
    }
    return module->op_types;
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

/* The type that data says; NULL, with an error of the document, where it is wrong. */
static const struct op_type *read_json(struct op_types *types, struct json_document *document,
                                       const char *name, const char *family, const cJSON *json)
{
    const cJSON *same = op_type_same(json);
    struct op_type *type = arena_alloc(&types->arena, sizeof *type);
    if (!same)
        return op_type_read(&types->arena, document, name, family, json, type) ? type : NULL;
    const struct op_type *known =
        op_types_find(types, same->valuestring, strlen(same->valuestring));
    if (!known || known->real != known->name) {
        json_fail(document, same, "op type '%s': 'same' is no type that is known, but '%s'", name,
                  same->valuestring);
        return NULL;
    }
    *type = *known;
    type->name = name;
    type->family = family;
    return type;
}

static const struct op_type *type_of_id(struct op_types *types, uint32_t id)
{
    struct op_type_entry *entry = &types->entries.at[id];
    const struct op_data *data = entry->data;
    struct file_fault fault;
    struct json_document document;
    if (entry->type)
        return entry->type;
    part_leave();
    if (json_document_read_file(&document, data->family, data->json, strlen(data->json), &fault))
        entry->type = read_json(types, &document, data->name, data->family, document.root);
    assert(entry->type); /* tests/unit/ir/test_op_types.c reads all of it */
    json_document_free(&document);
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

const struct op_type *op_type_look_up(const struct module *module, uint32_t name)
{
    struct op_types *types = op_types_of(module);
    const struct intern_name *text = &module->names.names[name];
    assert(name < module->names.count);
    part_leave();
    if (name >= types->n_seen) { /* op types have some of the first names */
        uint32_t count = (name + 1) + (name + 1) / 2;
        types->seen = mem_realloc(types->seen, count, sizeof(types->seen[0]));
        while (types->n_seen < count)
            types->seen[types->n_seen++] = &op_type_unseen;
    }
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
    struct json_document document;
    const char *family; /* the file of the path, without its folder and endings */
};

/* A type that is known already must say the same. */
static bool add_type(struct adding *adding, const cJSON *json)
{
    struct op_types *types = adding->types;
    struct arena *arena = &types->arena;
    struct json_document *document = &adding->document;
    size_t size = strlen(json->string);
    uint32_t id = intern_find(&types->names, json->string, size);
    if (id != NONE) {
        const struct op_data *data = types->entries.at[id].data;
        struct file_fault fault;
        struct json_document known;
        bool same =
            json_document_read_file(&known, data->family, data->json, strlen(data->json), &fault) &&
            cJSON_Compare(known.root, json, true);
        json_document_free(&known);
        return same || json_fail_span(document, json_key_span(document, json),
                                      "op type '%s' is another one than that of '%s'", data->name,
                                      data->family);
    }
    const char *name = arena_strndup(arena, json->string, size);
    const struct op_type *type = read_json(types, document, name, adding->family, json);
    if (!type)
        return false;
    const char *text = json_written(document, json, &size);
    struct op_data *data = arena_alloc(arena, sizeof *data);
    *data = (struct op_data){name, adding->family, arena_strndup(arena, text, size)};
    intern_static(&types->names, name, strlen(name));
    vec_push(&types->entries, (struct op_type_entry){data, type});
    return true;
}

bool op_types_add(struct op_types *types, const char *path, const char *json, size_t size,
                  struct file_fault *fault)
{
    struct adding adding = {.types = types};
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    const cJSON *item;
    bool ok = json_document_read_file(&adding.document, path, json, size, fault);
    adding.family = arena_strndup(&types->arena, file, strcspn(file, "."));
    if (ok) {
        name_all(types);
        for (uint32_t i = 0; i < types->n_seen; i++)
            types->seen[i] = &op_type_unseen; /* names may become known */
        ok = cJSON_IsObject(adding.document.root) ||
             json_fail(&adding.document, adding.document.root, "this is no object of op types");
        for (EACH_ITEM(item, adding.document.root)) {
            if (!ok || !(ok = add_type(&adding, item)))
                break;
        }
    }
    json_document_free(&adding.document);
    return ok;
}

bool op_types_is_file(const char *name)
{
    static const char ending[] = ".ops.json";
    size_t size = strlen(name);
    return size >= sizeof ending && strcmp(name + size - (sizeof ending - 1), ending) == 0;
}

bool op_types_add_folder(struct op_types *types, const char *folder, struct file_fault *fault)
{
    struct file_names names = {NULL, 0, 0};
    bool ok = true;
    if (!folder_names(folder, &types->arena, &names))
        names.count = 0;
    for (uint32_t i = 0; ok && i < names.count; i++) {
        struct file_bytes bytes;
        const char *path = arena_printf(&types->arena, "%s/%s", folder, names.at[i]);
        if (!op_types_is_file(names.at[i]))
            continue;
        fault->path = NULL;
        ok = file_read_regular(path, &bytes, fault->text, sizeof fault->text);
        if (ok) {
            ok = op_types_add(types, path, bytes.data, bytes.size, fault);
            file_bytes_free(&bytes);
        }
    }
    vec_free(&names);
    return ok;
}

/* --------------------------------------------------------- numbers of data types ---- */

#define DUMP_DTYPE(dtype, ge, proto, number, onnx, tf, tf_number)                                  \
    _Static_assert((number) < GE_DTYPES_END, "as the header says");
#include "ir/core/foreign_dtypes.def"
#undef DUMP_DTYPE

bool ge_dtype_find(int64_t number, enum dtype *dtype)
{
    static const struct {
        enum dtype dtype;
        int number;
    } rows[] = {
#define DUMP_DTYPE(dtype, ge, proto, number, onnx, tf, tf_number) {DTYPE_##dtype, number},
#include "ir/core/foreign_dtypes.def"
#undef DUMP_DTYPE
    };
    for (unsigned i = 0; number >= 0 && i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].number == number) {
            *dtype = rows[i].dtype;
            return true;
        }
    return false;
}

/* --------------------------------------------- stubs (docs/language.md, "Stubs") ---- */

/* What runs on cubes: families of the op data, and parts of the names of other types. */
static const struct {
    const char *family, *part;
    enum kernel_type type;
} stub_rules[] = {
    {"attention", "Attention", KERNEL_mix_aic_1_2},
    {"matrix", "MatMul", KERNEL_aic_only},
    {"", "Matmul", KERNEL_aic_only},
    {"", "matmul", KERNEL_aic_only},
    {"", "Gemm", KERNEL_aic_only},
    {"", "Conv", KERNEL_aic_only},
};

static enum kernel_type stub_type(const struct module *module, uint32_t op_type)
{
    struct arena scratch = {NULL, 0};
    const struct op_type *known = op_type_find(module, op_type);
    const char *text = name_text(module, op_type, &scratch);
    enum kernel_type type = KERNEL_aiv_only;
    for (size_t i = sizeof stub_rules / sizeof stub_rules[0]; i-- > 0;)
        if ((known && strcmp(known->family, stub_rules[i].family) == 0) ||
            strstr(text, stub_rules[i].part))
            type = stub_rules[i].type;
    arena_free(&scratch);
    return type;
}

uint32_t stub_kernel_declare(struct module *module, uint32_t op_type)
{
    /* A type may be the empty word, a kernel's name may not. */
    uint32_t base = module->names.names[op_type].size ? op_type : module_name(module, "op");
    uint32_t name = module_free_symbol(module, base, ".");
    enum kernel_type type = stub_type(module, op_type);
    uint32_t blocks = module_blocks(module, type);
    const struct attr attrs[] = {
        {W_op, NONE, {.kind = ATTR_STRING, .id = op_type}},
        {W_block, NONE, {.kind = ATTR_INT, .i = blocks ? blocks : 1}},
        {W_stub, NONE, {.kind = ATTR_BOOL, .i = 1}},
    };
    struct range range = module_add_attrs(module, attrs, sizeof attrs / sizeof attrs[0]);
    struct kernel *kernel = module_add_kernel(module, name, type);
    kernel->attrs = range;
    kernel->loc = NONE;
    return name;
}
