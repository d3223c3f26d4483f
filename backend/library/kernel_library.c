#include "backend/library/kernel_library.h"
#include "ir/base/file.h"
#include "ir/base/suggest.h"
#include "ir/op_types.h"

#include <assert.h>
#include <cjson/cJSON.h>

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------------- one metadata file ---- */

struct metadata_reader {
    struct kernel_library *library;
    const char *path;
    uint32_t first; /* of the kernels of its folder */
    bool own;
    char *error;
    size_t error_size;
};

static bool fail(const struct metadata_reader *reader, const char *what, const char *key)
{
    snprintf(reader->error, reader->error_size, "%s: %s '%s'", reader->path, what, key);
    return false;
}

static bool read_string(const struct metadata_reader *reader, const cJSON *json, const char *key,
                        const char **text)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    if (!cJSON_IsString(item))
        return fail(reader, "there is no string", key);
    *text = arena_strndup(&reader->library->arena, item->valuestring, strlen(item->valuestring));
    return true;
}

static bool read_number(const struct metadata_reader *reader, const cJSON *json, const char *key,
                        uint32_t low, uint32_t high, uint32_t *number)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    if (!cJSON_IsNumber(item) || item->valuedouble < low || item->valuedouble > high)
        return fail(reader, "there is no number in range", key);
    *number = (uint32_t)item->valuedouble;
    return true;
}

/* KERNEL_TYPE_AIV_ONLY is aiv_only. */
static bool read_type(const struct metadata_reader *reader, const cJSON *json, const char *key,
                      enum kernel_type *type)
{
    static const char prefix[] = "KERNEL_TYPE_";
    const char *text;
    if (!read_string(reader, json, key, &text))
        return false;
    for (int i = 0; i < KERNEL_TYPE_COUNT; i++) {
        const char *name = kernel_type_info(i)->name, *p = text + sizeof prefix - 1;
        if (strncmp(text, prefix, sizeof prefix - 1) != 0)
            break;
        while (*p && *name && tolower((unsigned char)*p) == *name)
            p++, name++;
        if (*p == *name) {
            *type = (enum kernel_type)i;
            return true;
        }
    }
    return fail(reader, "unknown kernel type", text);
}

static bool read_params(const struct metadata_reader *reader, const cJSON *json,
                        struct library_kernel *kernel)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "sub_operator_params"), *item;
    if (!cJSON_IsArray(list))
        return fail(reader, "there is no list", "sub_operator_params");
    const char **params =
        arena_alloc(&reader->library->arena, (size_t)cJSON_GetArraySize(list) * sizeof *params);
    char *presences = arena_alloc(&reader->library->arena, (size_t)cJSON_GetArraySize(list));
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsString(item))
            return fail(reader, "not a list of strings:", "sub_operator_params");
        size_t size = strcspn(item->valuestring, "?*+");
        presences[kernel->n_params] = strcmp(item->valuestring + size, "*?") == 0
                                          ? PARAM_LISTED_OPTIONAL
                                          : item->valuestring[size];
        params[kernel->n_params++] =
            arena_strndup(&reader->library->arena, item->valuestring, size);
    }
    kernel->params = params;
    kernel->presences = presences;
    return true;
}

/* The variant of a tiling key, new or of the other core type. */
static struct library_variant *variant_of_key(const struct metadata_reader *reader,
                                              struct library_kernel *kernel, int64_t key)
{
    for (uint32_t i = 0; i < kernel->n_variants; i++)
        if (kernel->variants[i].key == key)
            return &kernel->variants[i];
    struct library_variant *variants =
        arena_alloc(&reader->library->arena, (kernel->n_variants + 1) * sizeof *variants);
    if (kernel->n_variants)
        memcpy(variants, kernel->variants, kernel->n_variants * sizeof *variants);
    kernel->variants = variants;
    variants[kernel->n_variants] = (struct library_variant){.key = key, .type = KERNEL_TYPE_COUNT};
    return &variants[kernel->n_variants++];
}

/* Decimal digits, at most 18 of them: a tiling key. */
static bool key_of_text(const char *text, int64_t *key)
{
    size_t digits = strspn(text, "0123456789");
    *key = strtoll(text, NULL, 10);
    return digits > 0 && digits <= 18 && text[digits] == '\0';
}

/* The functions that a dynamic kernel has for a core type: by tiling key, a function and the type
 * of the kernel that it makes. */
static bool read_variants(const struct metadata_reader *reader, const cJSON *names,
                          enum core_type core, struct library_kernel *kernel)
{
    const cJSON *item;
    if (!cJSON_IsObject(names) || !names->child)
        return fail(reader, "there are no functions in", "dynamic_func_names");
    cJSON_ArrayForEach(item, names)
    {
        enum kernel_type type;
        int64_t key;
        if (!key_of_text(item->string, &key))
            return fail(reader, "no tiling key:", item->string);
        if (!read_type(reader, item, "kernel_type", &type))
            return false;
        struct library_variant *variant = variant_of_key(reader, kernel, key);
        if (variant->functions[core] || !kernel_type_has(type, core) ||
            (variant->type != KERNEL_TYPE_COUNT && variant->type != type))
            return fail(reader, "the kernel types contradict the functions of tiling key",
                        item->string);
        variant->type = type;
        if (!read_string(reader, item, "func_name", &variant->functions[core]))
            return false;
    }
    return true;
}

/* Whether each variant has the functions of its type. */
static bool check_variants(const struct metadata_reader *reader,
                           const struct library_kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->n_variants; i++)
        for (int core = 0; core < CORE_TYPES; core++)
            if (kernel_type_has(kernel->variants[i].type, core) &&
                !kernel->variants[i].functions[core])
                return fail(reader, "a variant has no function for", core_type_name(core));
    return true;
}

/* The function and object of each core type, by the keys of the metadata. */
static bool read_functions(const struct metadata_reader *reader, const cJSON *json,
                           struct library_kernel *kernel)
{
    const cJSON *names = cJSON_GetObjectItemCaseSensitive(json, "sub_operator_kernel_name");
    bool mixed = kernel_type_is_mixed(kernel->type);
    for (int core = 0; core < CORE_TYPES; core++) {
        if (!kernel_type_has(kernel->type, core))
            continue;
        const char *key = !mixed ? "AiCore" : core == CORE_AIC ? "dav-c220-cube" : "dav-c220-vec";
        const cJSON *part = cJSON_GetObjectItemCaseSensitive(names, key);
        if (!cJSON_IsObject(part))
            return fail(reader, "there is no kernel name for", key);
        const cJSON *dynamic = cJSON_GetObjectItemCaseSensitive(part, "dynamic_func_names");
        if (!(dynamic ? read_variants(reader, dynamic, core, kernel)
                      : read_string(reader, part, "func_name", &kernel->functions[core])) ||
            !read_string(reader, part, "obj_files", &kernel->object))
            return false;
    }
    return check_variants(reader, kernel);
}

/* Whether no other kernel of the folder is for the same op type. */
static bool is_alone(const struct metadata_reader *reader, const struct library_kernel *kernel)
{
    for (uint32_t i = reader->first; i < reader->library->kernels.count; i++) {
        const struct library_kernel *other = &reader->library->kernels.at[i];
        if (strcmp(other->op_type, kernel->op_type) != 0 ||
            (other->n_variants > 0) != (kernel->n_variants > 0))
            continue;
        snprintf(reader->error, reader->error_size,
                 "%s: '%s' has the kernel for op type '%s' already", reader->path, other->path,
                 kernel->op_type);
        return false;
    }
    return true;
}

static bool read_kernel(const struct metadata_reader *reader, const cJSON *json)
{
    struct library_kernel kernel = {.block = 1, .path = reader->path, .own = reader->own};
    if (!read_string(reader, json, "kernelName", &kernel.name) ||
        !read_string(reader, json, "sub_operator_op_type", &kernel.op_type) ||
        !read_number(reader, json, "blockDim", 1, 1024, &kernel.block) ||
        !read_type(reader, json, "sub_operator_kernel_type", &kernel.type) ||
        !read_params(reader, json, &kernel) || !read_functions(reader, json, &kernel))
        return false;
    const cJSON *workspace = cJSON_GetObjectItemCaseSensitive(json, "skir_workspace");
    if (workspace && !read_number(reader, workspace, "bytes_per_element_of_result", 1, 4096,
                                  &kernel.workspace_per_element))
        return false;
    if (!is_alone(reader, &kernel))
        return false;
    vec_push(&reader->library->kernels, kernel);
    return true;
}

static void delete_json(void *json)
{
    cJSON_Delete(json);
}

static bool read_file(const struct metadata_reader *reader)
{
    struct file_bytes bytes;
    if (!file_read_regular(reader->path, &bytes, reader->error, reader->error_size))
        return false;
    errno = 0;
    cJSON *json = cJSON_ParseWithLength(bytes.data, bytes.size);
    if (!json && errno == ENOMEM)
        mem_exhausted();
    file_bytes_free(&bytes);
    struct mem_guard guard;
    mem_guard(&guard, delete_json, json);
    bool ok = json ? read_kernel(reader, json) : fail(reader, "this is no", "JSON");
    mem_unguard(&guard);
    cJSON_Delete(json);
    return ok;
}

/* ---------------------------------------------------------------------- the folder ---- */

static bool is_json(const char *name)
{
    size_t size = strlen(name);
    return size > 5 && strcmp(name + size - 5, ".json") == 0 && !op_types_is_file(name);
}

static bool read_names(struct kernel_library *library, const char *folder, bool own,
                       const struct file_names *names, char *error, size_t error_size)
{
    bool ok = true;
    uint32_t first = library->kernels.count;
    for (uint32_t i = 0; ok && i < names->count; i++) {
        if (!is_json(names->at[i]))
            continue;
        struct metadata_reader reader = {library, NULL, first, own, error, error_size};
        reader.path = arena_printf(&library->arena, "%s/%s", folder, names->at[i]);
        ok = read_file(&reader);
    }
    return ok;
}

static bool read_folder(struct kernel_library *library, const char *folder, bool own, char *error,
                        size_t error_size)
{
    struct file_names names = {NULL, 0, 0};
    bool ok = folder_names(folder, &library->arena, &names);
    if (ok)
        ok = read_names(library, folder, own, &names, error, error_size);
    else
        snprintf(error, error_size, "cannot read the folder of %s '%s': %s",
                 own ? "kernels" : "sample kernels", folder, strerror(errno));
    vec_free(&names);
    return ok;
}

static bool is_same_folder(const char *a, const char *b)
{
    struct stat first, second;
    if (strcmp(a, b) == 0)
        return true;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* Whether a folder has all that comes with sample kernels: it is one of them. */
static bool has_header(struct kernel_library *library, const char *folder)
{
    return access(arena_printf(&library->arena, "%s/skrt.h", folder), R_OK) == 0;
}

static bool load(struct kernel_source *source, char *error, size_t error_size)
{
    struct kernel_library *library = (struct kernel_library *)source;
    bool own = !is_same_folder(library->directory, library->samples) &&
               !has_header(library, library->directory);
    struct stat st;
    if (library->loaded)
        return true;
    library->loaded = read_folder(library, library->directory, own, error, error_size);
    /* Without sample kernels, there is what the other folder has. */
    if (library->loaded && own && stat(library->samples, &st) == 0)
        library->loaded = read_folder(library, library->samples, false, error, error_size);
    return library->loaded;
}

/* --------------------------------------------------------------------- as a source ---- */

static const struct library_kernel *find(const struct kernel_source *source, const char *op_type,
                                         bool dynamic)
{
    const struct kernel_library *library = (const struct kernel_library *)source;
    assert(library->loaded);
    for (uint32_t i = 0; i < library->kernels.count; i++) {
        const struct library_kernel *kernel = &library->kernels.at[i];
        if (strcmp(kernel->op_type, op_type) == 0 && (kernel->n_variants > 0) == dynamic)
            return kernel;
    }
    return NULL;
}

static void offer(const struct kernel_source *source, struct suggest *suggest)
{
    const struct kernel_library *library = (const struct kernel_library *)source;
    assert(library->loaded);
    for (uint32_t i = 0; i < library->kernels.count; i++)
        suggest_offer(suggest, library->kernels.at[i].op_type,
                      strlen(library->kernels.at[i].op_type));
}

void kernel_library_init(struct kernel_library *library, const char *directory, const char *samples,
                         library_check *check)
{
    *library = (struct kernel_library){
        .source = {load, find, offer, check}, .directory = directory, .samples = samples};
}

void kernel_library_free(struct kernel_library *library)
{
    arena_free(&library->arena);
    vec_free(&library->kernels);
}
