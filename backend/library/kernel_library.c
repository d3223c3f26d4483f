#include "backend/library/kernel_library.h"
#include "ir/optypes/op_types.h"
#include "ir/support/diag.h"
#include "ir/support/json_document.h"

#include <assert.h>

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
    struct json_document document;
    const char *path;
    bool own;
};

/* An error at a value of the file. Always false. */
#define fail(reader, item, ...) json_fail(&(reader)->document, item, __VA_ARGS__)

/* A member that must be there: a string with something in it. NULL after an error. */
static const char *need_text(struct metadata_reader *reader, const cJSON *json, const char *key)
{
    const cJSON *member = json_need(&reader->document, json, key, cJSON_String);
    if (!member || *member->valuestring)
        return member ? member->valuestring : NULL;
    fail(reader, member, "'%s' must not be empty", key);
    return NULL;
}

static bool read_string(struct metadata_reader *reader, const cJSON *json, const char *key,
                        const char **text)
{
    const char *string = need_text(reader, json, key);
    if (string)
        *text = arena_strndup(&reader->library->arena, string, strlen(string));
    return string;
}

/* A member that must be there: a whole number, written in digits. */
static bool read_number(struct metadata_reader *reader, const cJSON *json, const char *key,
                        uint32_t low, uint32_t high, uint32_t *number)
{
    const cJSON *member = json_need(&reader->document, json, key, cJSON_Number);
    if (!member)
        return false;
    size_t size;
    const char *text = json_written(&reader->document, member, &size);
    char *end;
    long long value = strtoll(text, &end, 10);
    *number = (uint32_t)value;
    return (end == text + size && value >= low && value <= high) ||
           fail(reader, member, "'%s' must be a whole number from %u to %u", key, low, high);
}

/* KERNEL_TYPE_AIV_ONLY is aiv_only. */
static bool read_type(struct metadata_reader *reader, const cJSON *json, const char *key,
                      enum kernel_type *type)
{
    static const char prefix[] = "KERNEL_TYPE_";
    const char *text = need_text(reader, json, key);
    if (!text)
        return false;
    for (int i = 0; strncmp(text, prefix, sizeof prefix - 1) == 0 && i < KERNEL_TYPE_COUNT; i++) {
        const char *name = kernel_type_info(i)->name, *p = text + sizeof prefix - 1;
        while (*p && *p == toupper((unsigned char)*name))
            p++, name++;
        if (*p == '\0' && *name == '\0') {
            *type = (enum kernel_type)i;
            return true;
        }
    }
    return fail(reader, json_member(json, key),
                "unknown kernel type '%s'; KERNEL_TYPE_AIV_ONLY, for example, is one", text);
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define NAME_BYTES LETTERS "0123456789_"

/* A name, and how it is marked. */
static bool read_param(struct metadata_reader *reader, const cJSON *json,
                       struct library_kernel *kernel, const char **params, char *presences)
{
    static const char *const marks[] = {"", "?", "*", "*?", "+"};
    const char *text = cJSON_IsString(json) ? json->valuestring : "";
    size_t size = isdigit((unsigned char)text[0]) ? 0 : strspn(text, NAME_BYTES), mark = 0,
           n_marks = sizeof marks / sizeof marks[0];
    while (mark < n_marks && strcmp(text + size, marks[mark]) != 0)
        mark++;
    if (size == 0 || mark == n_marks || (*marks[mark] == PARAM_REPEATED && json->next))
        return fail(reader, json,
                    "a parameter is a string: a name of letters, digits and '_', and "
                    "then nothing, '?', '*' or '*?', or '+' behind the last one");
    for (uint32_t i = 0; i < kernel->n_params; i++)
        if (strlen(params[i]) == size && memcmp(params[i], text, size) == 0)
            return fail(reader, json, "the parameter '%s' stands twice", params[i]);
    presences[kernel->n_params] =
        strcmp(marks[mark], "*?") == 0 ? PARAM_LISTED_OPTIONAL : *marks[mark];
    params[kernel->n_params++] = arena_strndup(&reader->library->arena, text, size);
    return true;
}

enum { MAX_PARAMS = 1000 };

static bool read_params(struct metadata_reader *reader, const cJSON *json,
                        struct library_kernel *kernel)
{
    const cJSON *list, *item;
    size_t count = 0;
    list = json_need(&reader->document, json, "sub_operator_params", cJSON_Array);
    if (!list)
        return false;
    for (item = list->child; item; item = item->next)
        count++;
    if (count > MAX_PARAMS)
        return fail(reader, list, "a kernel has at most %d parameters", MAX_PARAMS);
    const char **params = arena_alloc(&reader->library->arena, count * sizeof *params);
    char *presences = arena_alloc(&reader->library->arena, count);
    for (item = list->child; item; item = item->next)
        if (!read_param(reader, item, kernel, params, presences))
            return false;
    kernel->params = params;
    kernel->presences = presences;
    return true;
}

/* The variant of a tiling key, new or of the other core type. */
static struct library_variant *variant_of_key(struct metadata_reader *reader,
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

static bool read_variant(struct metadata_reader *reader, const cJSON *item, enum core_type core,
                         struct library_kernel *kernel)
{
    enum kernel_type type;
    size_t digits = strspn(item->string, "0123456789");
    if (digits == 0 || digits > 18 || item->string[digits] != '\0')
        return fail(reader, item, "'%s' is no tiling key: it has up to 18 decimal digits",
                    item->string);
    if (!read_type(reader, item, "kernel_type", &type))
        return false;
    struct library_variant *variant =
        variant_of_key(reader, kernel, strtoll(item->string, NULL, 10));
    if (variant->functions[core] || !kernel_type_has(type, core) ||
        (variant->type != KERNEL_TYPE_COUNT && variant->type != type))
        return fail(reader, item, "the kernel types contradict the functions of tiling key '%s'",
                    item->string);
    variant->type = type;
    return read_string(reader, item, "func_name", &variant->functions[core]);
}

enum { MAX_VARIANTS = 10000 };

/* The functions that a dynamic kernel has for a core type: by tiling key, a function and the type
 * of the kernel that it makes. */
static bool read_variants(struct metadata_reader *reader, const cJSON *names, enum core_type core,
                          struct library_kernel *kernel)
{
    if (!cJSON_IsObject(names) || !names->child)
        return fail(reader, names, "there are no functions in 'dynamic_func_names'");
    for (const cJSON *item = names->child; item; item = item->next) {
        if (kernel->n_variants > MAX_VARIANTS)
            return fail(reader, item, "a kernel has at most %d tiling keys", MAX_VARIANTS);
        if (!read_variant(reader, item, core, kernel))
            return false;
    }
    return true;
}

/* The function and object of each core type, by the keys of the metadata. */
static bool read_functions(struct metadata_reader *reader, const cJSON *json,
                           struct library_kernel *kernel)
{
    const cJSON *names =
        json_need(&reader->document, json, "sub_operator_kernel_name", cJSON_Object);
    bool mixed = kernel_type_is_mixed(kernel->type);
    if (!names)
        return false;
    for (int core = 0; core < CORE_TYPES; core++) {
        if (!kernel_type_has(kernel->type, core))
            continue;
        const char *key = !mixed ? "AiCore" : core == CORE_AIC ? "dav-c220-cube" : "dav-c220-vec";
        const cJSON *part = json_need(&reader->document, names, key, cJSON_Object);
        if (!part)
            return false;
        const cJSON *dynamic = json_member(part, "dynamic_func_names");
        if (!(dynamic ? read_variants(reader, dynamic, core, kernel)
                      : read_string(reader, part, "func_name", &kernel->functions[core])) ||
            !read_string(reader, part, "obj_files", &kernel->object))
            return false;
    }
    for (uint32_t i = 0; i < kernel->n_variants; i++)
        for (int core = 0; core < CORE_TYPES; core++)
            if (kernel_type_has(kernel->variants[i].type, core) &&
                !kernel->variants[i].functions[core])
                return fail(reader, names, "tiling key '%lld' has no function for %s",
                            (long long)kernel->variants[i].key, core_type_name(core));
    return true;
}

/* A number, or an expression that computes it of shapes. */
static bool read_block(struct metadata_reader *reader, const cJSON *json,
                       struct library_kernel *kernel)
{
    const char *key = "blockDim";
    const cJSON *block = json_member(json, key);
    if (!block || !cJSON_IsString(block))
        return read_number(reader, json, key, 1, 1024, &kernel->block);
    kernel->block_span = json_span(&reader->document, block);
    kernel->block_at = source_position(&reader->document.source, kernel->block_span.begin);
    if (strpbrk(block->valuestring, LETTERS)) /* it may name shapes */
        return read_string(reader, json, key, &kernel->block_rule);
    return fail(reader, block,
                "'%s' must be a number, not a string without names: write it without "
                "quotes, or an expression such as \"min(48, x1[0])\"",
                key);
}

static bool read_kernel(struct metadata_reader *reader, const cJSON *json)
{
    struct kernel_library *library = reader->library;
    struct library_kernel *kernel = arena_alloc(&library->arena, sizeof *kernel);
    *kernel = (struct library_kernel){.block = 1, .path = reader->path, .own = reader->own};
    if (!read_string(reader, json, "kernelName", &kernel->name) ||
        !read_string(reader, json, "sub_operator_op_type", &kernel->op_type) ||
        !read_block(reader, json, kernel) ||
        !read_type(reader, json, "sub_operator_kernel_type", &kernel->type) ||
        !read_params(reader, json, kernel) || !read_functions(reader, json, kernel))
        return false;
    const cJSON *workspace = json_member(json, "skir_workspace");
    if (workspace && !read_number(reader, workspace, "bytes_per_element_of_result", 1, 4096,
                                  &kernel->workspace_per_element))
        return false;
    const char *key = arena_printf(&library->arena, "%c%c%s", reader->own ? 'o' : 's',
                                   kernel->n_variants > 0 ? 'd' : 's', kernel->op_type);
    uint32_t id = intern_static(&library->op_types, key, strlen(key));
    if (id < library->kernels.count)
        return fail(reader, json_member(json, "sub_operator_op_type"),
                    "'%s' has the kernel for op type '%s' already", library->kernels.at[id]->path,
                    kernel->op_type);
    vec_push(&library->kernels, kernel);
    return true;
}

static bool read_file(struct kernel_library *library, const char *path, bool own,
                      struct file_fault *fault)
{
    struct metadata_reader reader = {.library = library, .path = path, .own = own};
    struct file_bytes bytes;
    fault->path = NULL;
    if (!file_read_regular(path, &bytes, fault->text, sizeof fault->text))
        return false;
    bool ok = json_document_read_file(&reader.document, path, bytes.data, bytes.size, fault) &&
              read_kernel(&reader, reader.document.root);
    json_document_free(&reader.document);
    file_bytes_free(&bytes);
    return ok;
}

/* --------------------------------------------------------------------- the folders ---- */

/* The names of a folder's descriptions. */
static bool list_folder(struct kernel_library *library, const char *folder, bool own,
                        struct file_names *descriptions, struct file_fault *fault)
{
    struct file_names names = {NULL, 0, 0};
    bool ok = folder_names(folder, &library->arena, &names);
    for (uint32_t i = 0; ok && i < names.count; i++) {
        size_t size = strlen(names.at[i]);
        if (size > 5 && strcmp(names.at[i] + size - 5, ".json") == 0 &&
            !op_types_is_file(names.at[i]))
            vec_push(descriptions, names.at[i]);
    }
    if (!ok)
        file_fault_say(fault, "cannot read the folder of %s '%s': %s",
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

static bool load(struct kernel_source *source, struct file_fault *fault)
{
    struct kernel_library *library = (struct kernel_library *)source;
    const char *folder = library->directory;
    /* A folder with skrt.h has all that comes with sample kernels: it replaces theirs. */
    bool own = !is_same_folder(folder, library->samples) &&
               access(arena_printf(&library->arena, "%s/skrt.h", folder), R_OK) != 0;
    struct file_names names = {NULL, 0, 0};
    if (library->loaded)
        return true;
    library->loaded = !own || list_folder(library, folder, own, &names, fault);
    for (uint32_t i = 0; library->loaded && i < names.count; i++)
        library->loaded = read_file(
            library, arena_printf(&library->arena, "%s/%s", folder, names.at[i]), own, fault);
    vec_free(&names);
    if (!own)
        library->samples = folder;
    /* Without sample kernels, there is what the other folder has. */
    if (library->loaded && (!own || access(library->samples, F_OK) == 0))
        library->loaded = list_folder(library, library->samples, false, &library->unread, fault);
    return library->loaded;
}

/* --------------------------------------------------------------------- as a source ---- */

/* Whether a file's name begins with an op type, but for case and '_', as those of the sample
 * kernels do: flash_attention_score.json. */
static bool is_named_after(const char *name, const char *op_type)
{
    for (; *op_type; op_type++) {
        if (*op_type == '_')
            continue;
        while (*name == '_')
            name++;
        if (tolower((unsigned char)*name++) != tolower((unsigned char)*op_type))
            return false;
    }
    return true;
}

/* Reads the descriptions of sample kernels that are named after an op type; NULL: all others. */
static void read_samples(struct kernel_library *library, const char *op_type)
{
    struct file_fault fault;
    uint32_t left = 0;
    for (uint32_t i = 0; i < library->unread.count; i++) {
        const char *name = library->unread.at[i];
        if (op_type && !is_named_after(name, op_type))
            library->unread.at[left++] = name;
        else if (!read_file(library, arena_printf(&library->arena, "%s/%s", library->samples, name),
                            false, &fault) &&
                 !library->source.failed) {
            library->source.failed = true;
            library->source.fault = fault;
        }
    }
    library->unread.count = left;
}

static const struct library_kernel *find(struct kernel_source *source, const char *op_type,
                                         bool dynamic)
{
    struct kernel_library *library = (struct kernel_library *)source;
    assert(library->loaded);
    for (int step = 0; step < 3; step++) {
        if (step > 0)
            read_samples(library, step == 1 ? op_type : NULL);
        for (uint32_t i = 0; i < library->kernels.count; i++) {
            const struct library_kernel *kernel = library->kernels.at[i];
            if (strcmp(kernel->op_type, op_type) == 0 && (kernel->n_variants > 0) == dynamic)
                return kernel;
        }
    }
    return NULL;
}

static void offer(struct kernel_source *source, struct suggest *suggest)
{
    struct kernel_library *library = (struct kernel_library *)source;
    assert(library->loaded);
    read_samples(library, NULL);
    for (uint32_t i = 0; i < library->kernels.count; i++)
        suggest_offer(suggest, library->kernels.at[i]->op_type,
                      strlen(library->kernels.at[i]->op_type));
}

void kernel_library_init(struct kernel_library *library, const char *directory, const char *samples,
                         library_check *check)
{
    *library = (struct kernel_library){
        .source = {.load = load, .find = find, .offer = offer, .check = check},
        .directory = directory,
        .samples = samples};
}

void kernel_library_free(struct kernel_library *library)
{
    arena_free(&library->arena);
    vec_free(&library->kernels);
    vec_free(&library->unread);
    intern_free(&library->op_types);
}
