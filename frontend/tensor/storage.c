#include "frontend/tensor/storage.h"
#include "backend/run.h"
#include "frontend/tensor/escaped_file.h"
#include "frontend/tensor/npy.h"
#include "ir/base/file.h"
#include "ir/base/message.h"
#include "ir/syntax/locate.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Values of a graph that may have pages of their own (ir/base/guarded.h). */
enum { MOST_PAGED = 4096 };

/* ------------------------------------------------------------------------- memory ---- */

/* Whether a value has memory: it is defined, and no token. */
static bool has_memory(const struct storage *storage, uint32_t id)
{
    const struct value *value = &storage->graph->values.at[id];
    return value->def != DEF_MISSING && value->type != storage->module->token;
}

static bool find_size(struct storage *storage, const struct backend_runner *runner, uint32_t id,
                      struct diags *diags)
{
    return runner->value_size(storage->module, storage->graph->values.at[id].type,
                              locate_value(storage->module, storage->graph, id),
                              &storage->sizes[id], diags);
}

/* Whether a value stands for its memory, which is as large as the largest value of it. */
static bool is_memory(const struct storage *storage, uint32_t id)
{
    return has_memory(storage, id) && memory_of(&storage->memories, id) == id;
}

/* Bytes of each memory, by the value that stands for it. */
static uint64_t *memory_sizes(const struct storage *storage)
{
    uint32_t n_values = storage->graph->values.count;
    uint64_t *sizes = mem_calloc(n_values, sizeof *sizes);
    for (uint32_t i = 0; i < n_values; i++) {
        uint64_t *size = &sizes[memory_of(&storage->memories, i)];
        *size = storage->sizes[i] > *size ? storage->sizes[i] : *size;
    }
    return sizes;
}

static double bytes_of_machine(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

static double bytes_needed(const struct storage *storage, const uint64_t *sizes)
{
    double need = 0;
    for (uint32_t i = 0; i < storage->graph->values.count; i++)
        need += is_memory(storage, i) ? (double)sizes[i] : 0;
    return need;
}

bool storage_has_room(const struct storage *storage, unsigned copies)
{
    uint64_t *sizes = memory_sizes(storage);
    bool has = bytes_needed(storage, sizes) * copies <= bytes_of_machine();
    mem_free(sizes);
    return has;
}

/* Systems promise more memory than there is and kill whom they like when it is used. */
static bool check_memory(const struct storage *storage, const uint64_t *sizes, unsigned copies,
                         struct diags *diags)
{
    double need = bytes_needed(storage, sizes) * copies, have = bytes_of_machine();
    if (need <= have)
        return true;
    diag_at(diags, DIAG_unsupported, locate_name(storage->module, storage->graph->loc),
            "the values of this graph take %.1f GiB, but this machine has %.1f GiB of memory",
            need * 0x1p-30, have * 0x1p-30);
    return false;
}

static bool init_memory(struct storage *storage, uint32_t id, uint64_t size, struct diags *diags)
{
    struct span span = locate_value(storage->module, storage->graph, id);
    if (!guarded_init(&storage->guarded[id], size, storage->graph->values.count <= MOST_PAGED)) {
        diag_at(diags, DIAG_unsupported, span, "there is no memory for this tensor");
        return false;
    }
    storage->data[id] = storage->guarded[id].at;
    return true;
}

static void free_values(void *what)
{
    struct storage *storage = what;
    for (uint32_t i = 0; i < storage->graph->values.count; i++)
        guarded_free(&storage->guarded[i]);
}

static bool init_memories(struct storage *storage, const uint64_t *sizes, struct diags *diags)
{
    uint32_t n_values = storage->graph->values.count;
    for (uint32_t i = 0; i < n_values; i++)
        if (is_memory(storage, i) && !init_memory(storage, i, sizes[i], diags))
            return false;
    for (uint32_t i = 0; i < n_values; i++)
        storage->data[i] = storage->data[memory_of(&storage->memories, i)];
    return true;
}

bool storage_init(struct storage *storage, const struct backend_runner *runner,
                  const struct module *module, const struct graph *graph, unsigned copies,
                  struct diags *diags)
{
    *storage =
        (struct storage){.module = module,
                         .graph = graph,
                         .data = mem_calloc(graph->values.count, sizeof *storage->data),
                         .sizes = mem_calloc(graph->values.count, sizeof *storage->sizes),
                         .guarded = mem_calloc(graph->values.count, sizeof *storage->guarded)};
    storage->given = mem_calloc(graph->values.count, sizeof *storage->given);
    memories_init(&storage->memories, module, graph);
    mem_guard(&storage->guard, free_values, storage);
    for (uint32_t i = 0; i < graph->values.count; i++) {
        if (has_memory(storage, i) && !find_size(storage, runner, i, diags))
            return false;
        if (value_is_given(module, graph, i))
            storage->given[memory_of(&storage->memories, i)] = true;
    }
    uint64_t *sizes = memory_sizes(storage);
    bool ok = check_memory(storage, sizes, copies, diags) && init_memories(storage, sizes, diags);
    mem_free(sizes);
    return ok;
}

void storage_free(struct storage *storage)
{
    if (!storage->graph)
        return;
    mem_unguard(&storage->guard);
    if (storage->guarded)
        free_values(storage);
    memories_free(&storage->memories);
    mem_free(storage->data);
    mem_free(storage->sizes);
    mem_free(storage->guarded);
    mem_free(storage->given);
    *storage = (struct storage){0};
}

void storage_copy_given(struct storage *to, const struct storage *from)
{
    for (uint32_t i = 0; i < from->graph->values.count; i++)
        if (value_is_given(from->module, from->graph, i))
            memcpy(to->data[i], from->data[i], from->sizes[i]);
}

/* ------------------------------------------------------------------------ contents ---- */

static bool is_nz(const struct storage *storage, uint32_t id)
{
    uint32_t type = storage->graph->values.at[id].type;
    return !format_is_row_major(storage->module, storage->module->types.at[type].format);
}

static bool make_tensor(const struct storage *storage, uint32_t id, struct tensor *tensor,
                        char *error, size_t error_size)
{
    uint32_t type = storage->graph->values.at[id].type;
    const struct type *t = &storage->module->types.at[type];
    return tensor_init(tensor, t->dtype, type_dims(storage->module, type), t->rank, error,
                       error_size);
}

bool storage_take(const struct storage *storage, uint32_t id, struct tensor *tensor, char *error,
                  size_t error_size)
{
    if (!make_tensor(storage, id, tensor, error, error_size))
        return false;
    if (is_nz(storage, id))
        tensor_from_nz(tensor, storage->data[id]);
    else
        memcpy(tensor->data, storage->data[id], tensor->size);
    return true;
}

const char *storage_default_spec(enum dtype dtype)
{
    switch (dtype_info(dtype)->class) {
    case CLASS_FLOAT:
    case CLASS_COMPLEX: return "rand:-1..1";
    case CLASS_SINT: return "rand:-8..7";
    case CLASS_UINT: return "rand:0..15";
    case CLASS_BOOL: return "rand:0..1";
    case CLASS_HANDLE: break; /* no tensor has it */
    }
    return "zeros";
}

void storage_give(struct storage *storage, uint32_t id, struct tensor *tensor)
{
    if (is_nz(storage, id))
        tensor_to_nz(tensor, storage->data[id]);
    else
        memcpy(storage->data[id], tensor->data, tensor->size);
    tensor_free(tensor);
}

bool storage_fill(struct storage *storage, uint32_t id, const char *spec, uint64_t seed,
                  char *error, size_t error_size)
{
    struct tensor tensor;
    if (!make_tensor(storage, id, &tensor, error, error_size))
        return false;
    if (tensor_fill(&tensor, spec ? spec : storage_default_spec(tensor.dtype), seed, error,
                    error_size)) {
        storage_give(storage, id, &tensor);
        return true;
    }
    tensor_free(&tensor);
    return false;
}

/* The header of an array of NumPy is no contents, nor is an archive. */
static bool read_plain(const char *path, uint64_t offset, char *data, size_t size, char *error,
                       size_t error_size)
{
    if (!offset && !npy_refuse_other(path, error, error_size))
        return false;
    if (!file_read_part(path, offset, data, size, error, error_size))
        return false;
    return offset || !npy_begins(data, size) ||
           message_fail(error, error_size,
                        "'%s' is an array of NumPy: name it '*.npy' and say nothing but 'file', or "
                        "say by 'offset' where its elements begin",
                        path);
}

static bool read_npy(struct storage *storage, uint32_t id, const char *path, char *error,
                     size_t error_size)
{
    struct tensor tensor;
    if (!make_tensor(storage, id, &tensor, error, error_size))
        return false;
    bool ok = npy_read(&tensor, path, error, error_size);
    if (ok)
        storage_give(storage, id, &tensor);
    else
        tensor_free(&tensor);
    return ok;
}

/* The bytes as they are in memory. */
static bool read_bytes(struct storage *storage, uint32_t id, const struct contents *contents,
                       const char *path, char *error, size_t error_size)
{
    uint64_t size = storage->sizes[id];
    if (contents->bytes != NO_BYTES && contents->bytes != size)
        return message_fail(error, error_size, "'bytes' is %llu, but the tensor takes %llu",
                            (unsigned long long)contents->bytes, (unsigned long long)size);
    return (contents->escaped ? escaped_file_read : read_plain)(
        path, contents->offset, storage->data[id], size, error, error_size);
}

static bool fill_from_file(struct storage *storage, uint32_t id, const struct contents *contents,
                           const char *folder, char *error, size_t error_size)
{
    struct arena scratch = {NULL, 0};
    const char *path = name_text(storage->module, contents->file, &scratch);
    if (*path != '/')
        path = arena_printf(&scratch, "%s/%s", folder, path);
    bool ok = contents_are_npy(storage->module, contents)
                  ? read_npy(storage, id, path, error, error_size)
                  : read_bytes(storage, id, contents, path, error, error_size);
    arena_free(&scratch);
    return ok;
}

bool storage_fill_contents(struct storage *storage, uint32_t id, const struct contents *contents,
                           const char *folder, char *error, size_t error_size)
{
    struct tensor tensor;
    if (!contents->numbers && contents->file != NONE)
        return fill_from_file(storage, id, contents, folder, error, error_size);
    if (!make_tensor(storage, id, &tensor, error, error_size))
        return false;
    if (tensor_fill_numbers(&tensor, contents, error, error_size)) {
        storage_give(storage, id, &tensor);
        return true;
    }
    tensor_free(&tensor);
    return false;
}

/* ---------------------------------------------------------------------- comparison ---- */

/* What defines a value, for a message: " of Add", or nothing for a parameter. */
static const struct intern_name *definer(const struct storage *storage, uint32_t id)
{
    uint32_t def = storage->graph->values.at[id].def;
    return def < storage->graph->ops.count
               ? &storage->module->names.names[storage->graph->ops.at[def].type]
               : NULL;
}

static void print_difference(const struct storage *storage, const struct storage *second,
                             uint32_t id, const char *other, struct text *text)
{
    struct tensor a, b;
    char error[160], index[160], left[64], right[64];
    const struct intern_name *type = definer(storage, id);
    if (!storage_take(storage, id, &a, error, sizeof error))
        return;
    if (storage_take(second, id, &b, error, sizeof error)) {
        uint64_t elements, first = tensor_first_difference(&a, &b, &elements);
        tensor_index_text(&a, first, index, sizeof index);
        tensor_element_text(&a, first, left, sizeof left);
        tensor_element_text(&b, first, right, sizeof right);
        text_printf(text, "first difference: %%%.*s%s%s%.*s is %s, %s %s\n",
                    NAME(storage->module, storage->graph->values.at[id].name), index,
                    type ? " of " : "", type ? (int)type->size : 0, type ? type->text : "", left,
                    other, right);
        tensor_free(&b);
    }
    tensor_free(&a);
}

/* Whether the memory of a value is the same in both; else appends the difference. */
static bool compare_value(const struct storage *storage, const struct storage *second, uint32_t id,
                          const char *other, struct text *text)
{
    if (!has_memory(storage, id) ||
        memcmp(storage->data[id], second->data[id], storage->sizes[id]) == 0)
        return true;
    print_difference(storage, second, id, other, text);
    return false;
}

/* Per value that stands for a memory: the last result in the text that is of it, else itself. */
static uint32_t *last_results(const struct storage *storage)
{
    const struct graph *graph = storage->graph;
    uint32_t *last = mem_calloc(graph->values.count, sizeof *last);
    for (uint32_t i = 0; i < graph->n_params; i++)
        last[i] = i;
    for (uint32_t i = 0; i < graph->body.count; i++) {
        if (item_kind(graph->body.at[i]) != ITEM_OP)
            continue;
        struct range results = graph->ops.at[item_id(graph->body.at[i])].results;
        for (uint32_t id = results.first; id < results.first + results.count; id++)
            last[memory_of(&storage->memories, id)] = id;
    }
    return last;
}

static bool compare_results(const struct storage *storage, const struct storage *second,
                            const uint32_t *last, const char *other, struct text *text)
{
    const struct graph *graph = storage->graph;
    for (uint32_t i = 0; i < graph->body.count; i++) {
        if (item_kind(graph->body.at[i]) != ITEM_OP)
            continue;
        struct range results = graph->ops.at[item_id(graph->body.at[i])].results;
        for (uint32_t id = results.first; id < results.first + results.count; id++)
            if (last[memory_of(&storage->memories, id)] == id &&
                !compare_value(storage, second, id, other, text))
                return false;
    }
    return true;
}

bool storage_compare(const struct storage *storage, const struct storage *second, const char *other,
                     struct text *text)
{
    uint32_t *last = last_results(storage);
    bool equal = compare_results(storage, second, last, other, text);
    for (uint32_t i = 0; equal && i < storage->graph->n_params; i++)
        equal = last[i] != i || compare_value(storage, second, i, other, text);
    mem_free(last);
    return equal;
}
