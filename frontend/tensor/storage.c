/* Memories of the values of graphs while they run: what fills them, compares and restores them. */
#include "frontend/tensor/storage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/target/run.h"
#include "frontend/tensor/npy.h"
#include "ir/core/calls.h"
#include "ir/support/escapes.h"
#include "ir/support/file.h"
#include "ir/support/text.h"
#include "ir/syntax/locate.h"

/* ------------------------------------------------------------------- escaped literals ---- */

/* Past blanks and comments. */
static const char *skip_blank(const char *at, const char *end)
{
    for (bool comment = false; at < end; at++) {
        comment = comment ? *at != '\n' : *at == '#';
        if (!comment && *at != ' ' && (*at < '\t' || *at > '\r'))
            break;
    }
    return at;
}

/* Decodes string literals as protobuf's text format has them to `size` bytes: one or several with
 * nothing but blanks and comments between them, from `offset` on in `text`. */
static bool decode_literals(const char *path, const char *text, const char *end, uint64_t offset,
                            char *data, size_t size, char *error, size_t error_size)
{
    const char *at = text + offset;
    size_t decoded = 0;
    if (at >= end || (*at != '"' && *at != '\''))
        return message_fail(error, error_size, "no string begins at byte %llu of '%s'",
                            (unsigned long long)offset, path);
    for (; at < end && (*at == '"' || *at == '\''); at = skip_blank(at + 1, end)) {
        const char *begin = at++;
        while (at < end && *at != *begin && *at != '\n' && *at != '\0') {
            char bytes[ESCAPE_BYTES], *out = bytes;
            const char *next = at + 1;
            if (*at == '\\')
                next = escape_take(at + 1, end, &out);
            else
                while (next < end && !strchr("\"'\\\n", *next)) /* or a NUL */
                    next++;
            if (!next)
                return message_fail(error, error_size, "no escape begins at byte %llu of '%s'",
                                    (unsigned long long)(at - text), path);
            size_t count = (size_t)(*at == '\\' ? out - bytes : next - at);
            if (count > size - decoded)
                return message_fail(error, error_size,
                                    "the string in '%s' has more than %zu bytes, as byte %llu "
                                    "tells",
                                    path, size, (unsigned long long)(at - text));
            memcpy(data + decoded, *at == '\\' ? bytes : at, count);
            decoded += count;
            at = next;
        }
        if (at == end || *at != *begin)
            return message_fail(error, error_size,
                                "the string at byte %llu of '%s' does not end on its line",
                                (unsigned long long)(begin - text), path);
    }
    return decoded == size ||
           message_fail(error, error_size, "the string in '%s' has %zu bytes, not %zu", path,
                        decoded, size);
}

/* The file is mapped, since a dump with many constants is larger than each of them. */
static bool read_escaped(const char *path, uint64_t offset, char *data, size_t size, char *error,
                         size_t error_size)
{
    uint64_t has;
    int fd = file_open_regular(path, &has, error, error_size);
    if (fd < 0)
        return false;
    void *text = has ? mmap(NULL, has, PROT_READ, MAP_PRIVATE, fd, 0) : "";
    int reason = errno;
    close(fd);
    if (text == MAP_FAILED)
        return message_fail(error, error_size, "cannot read '%s': %s", path, strerror(reason));
    bool ok = decode_literals(path, text, (const char *)text + has, offset < has ? offset : has,
                              data, size, error, error_size);
    if (has)
        munmap(text, has);
    return ok;
}

/* --------------------------------------------------------------------------- integers ---- */

static bool is_integer(const struct dtype_info *info)
{
    if (info->bits < 8 || info->bits > 64)
        return false;
    return info->class == CLASS_SINT || (info->class == CLASS_UINT && info->bits < 64);
}

bool integers_read(const struct module *module, uint32_t type, const void *data,
                   struct arena *arena, struct op_contents *found)
{
    const struct dtype_info *info = dtype_info(module->types.at[type].dtype);
    uint64_t count;
    if (!is_integer(info) || !format_is_row_major(module, module->types.at[type].format) ||
        !type_elements(module, type, &count))
        return false;
    unsigned size = info->bits / 8, unused = 64 - info->bits;
    int64_t *numbers = arena_alloc(arena, (count + 1) * sizeof *numbers);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        memcpy(&bits, (const char *)data + i * size, size);
        numbers[i] =
            info->class == CLASS_SINT ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
    }
    *found = (struct op_contents){numbers, count};
    return true;
}

void integer_write(enum dtype dtype, void *data, uint64_t place, int64_t number)
{
    unsigned size = dtype_info(dtype)->bits / 8;
    memcpy((char *)data + place * size, &number, size);
}

int64_t integer_lowest(enum dtype dtype)
{
    const struct dtype_info *info = dtype_info(dtype);
    return info->class == CLASS_SINT ? INT64_MIN >> (64 - info->bits) : 0;
}

int64_t integer_highest(enum dtype dtype)
{
    const struct dtype_info *info = dtype_info(dtype);
    return (int64_t)(UINT64_MAX >> (64 - info->bits + (info->class == CLASS_SINT)));
}

/* Values of a graph that may have pages of their own (ir/support/guarded.h). */
enum { MOST_PAGED = 4096 };

/* ------------------------------------------------------------------------- memory ---- */

/* Whether a value has memory: it is defined, and no token. */
static bool has_memory(const struct storage *storage, uint32_t id)
{
    const struct value *value = &storage->graph->values.at[id];
    return value->def != DEF_MISSING && value->type != storage->module->token;
}

static double bytes_of_machine(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

bool storage_has_room(const struct storage *storage, unsigned copies)
{
    double need = 0;
    for (uint32_t i = 0; i < storage->graph->values.count; i++)
        need += (double)storage->guarded[i].size;
    return need * copies <= bytes_of_machine();
}

static void free_values(void *what)
{
    struct storage *storage = what;
    for (uint32_t i = 0; i < storage->graph->values.count; i++)
        guarded_free(&storage->guarded[i]);
}

/* Zeroed storage for every memory of the graph's values, each as large as the largest value of it.
 * False, with diagnostics, where a type is not supported or this machine has no memory for `copies`
 * such storages. Always to be freed; until then it stays where it is. */
static bool storage_init(struct storage *storage, const struct backend_runner *runner,
                         const struct module *module, const struct graph *graph, unsigned copies,
                         struct diags *diags)
{
    uint32_t n_values = graph->values.count;
    *storage = (struct storage){.module = module,
                                .graph = graph,
                                .data = mem_calloc(n_values, sizeof *storage->data),
                                .sizes = mem_calloc(n_values, sizeof *storage->sizes),
                                .guarded = mem_calloc(n_values, sizeof *storage->guarded)};
    storage->given = mem_calloc(n_values, sizeof *storage->given);
    memories_init(&storage->memories, module, graph);
    mem_guard(&storage->guard, free_values, storage);
    uint64_t *sizes =
        mem_calloc(n_values, sizeof *sizes); /* by the value that stands for a memory */
    bool ok = true;
    for (uint32_t i = 0; ok && i < n_values; i++) {
        uint32_t memory = memory_of(&storage->memories, i);
        ok = !has_memory(storage, i) ||
             runner->value_size(module, graph->values.at[i].type, locate_value(module, graph, i),
                                &storage->sizes[i], diags);
        sizes[memory] = storage->sizes[i] > sizes[memory] ? storage->sizes[i] : sizes[memory];
        if (value_is_given(module, graph, i))
            storage->given[memory] = true;
    }
    /* Systems promise more memory than there is, and kill any process when it is used. */
    double need = 0, have = bytes_of_machine();
    for (uint32_t i = 0; i < n_values; i++)
        need += (double)sizes[i] * copies;
    if (ok && need > have) {
        ok = false;
        diag_at(diags, DIAG_unsupported, locate_name(module, graph->loc),
                "the values of this graph take %.1f GiB, but this machine has %.1f GiB of memory",
                need * 0x1p-30, have * 0x1p-30);
    }
    for (uint32_t i = 0; ok && i < n_values; i++) {
        if (!has_memory(storage, i) || memory_of(&storage->memories, i) != i)
            continue;
        ok = guarded_init(&storage->guarded[i], sizes[i], n_values <= MOST_PAGED);
        storage->data[i] = storage->guarded[i].at;
        if (!ok)
            diag_at(diags, DIAG_unsupported, locate_value(module, graph, i),
                    "there is no memory for this tensor");
    }
    for (uint32_t i = 0; ok && i < n_values; i++)
        storage->data[i] = storage->data[memory_of(&storage->memories, i)];
    mem_free(sizes);
    return ok;
}

static void storage_free(struct storage *storage)
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

/* Copies all values that are given. */
static void storage_copy_given(struct storage *to, const struct storage *from)
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

/* Random numbers of a size that kernels can multiply and add without losing them all. */
static const char *default_spec(enum dtype dtype)
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

/* What a value is filled by: a file of NumPy, or numbers, or a SPEC. */
struct filling {
    const char *npy, *spec;
    const struct contents *numbers;
    uint64_t seed;
};

static bool fill_tensor(struct storage *storage, uint32_t id, const struct filling *by, char *error,
                        size_t error_size)
{
    struct tensor tensor;
    if (!make_tensor(storage, id, &tensor, error, error_size))
        return false;
    const char *spec = by->spec ? by->spec : default_spec(tensor.dtype);
    bool ok = by->npy       ? npy_read(&tensor, by->npy, error, error_size)
              : by->numbers ? tensor_fill_numbers(&tensor, by->numbers, error, error_size)
                            : tensor_fill(&tensor, spec, by->seed, error, error_size);
    if (ok)
        storage_give(storage, id, &tensor);
    else
        tensor_free(&tensor);
    return ok;
}

bool storage_fill(struct storage *storage, uint32_t id, const char *spec, uint64_t seed,
                  char *error, size_t error_size)
{
    const struct filling by = {.spec = spec, .seed = seed};
    return fill_tensor(storage, id, &by, error, error_size);
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

/* The bytes as they are in memory. */
static bool read_bytes(struct storage *storage, uint32_t id, const struct contents *contents,
                       const char *path, char *error, size_t error_size)
{
    uint64_t size = storage->sizes[id];
    if (contents->bytes != NO_BYTES && contents->bytes != size)
        return message_fail(error, error_size, "'bytes' is %llu, but the tensor takes %llu",
                            (unsigned long long)contents->bytes, (unsigned long long)size);
    return (contents->escaped ? read_escaped : read_plain)(
        path, contents->offset, storage->data[id], size, error, error_size);
}

bool storage_fill_contents(struct storage *storage, uint32_t id, const struct contents *contents,
                           const char *folder, char *error, size_t error_size)
{
    struct filling by = {.numbers = contents};
    if (contents->numbers || contents->file == NONE)
        return fill_tensor(storage, id, &by, error, error_size);
    struct arena scratch = {NULL, 0};
    const char *path = name_text(storage->module, contents->file, &scratch);
    if (*path != '/')
        path = arena_printf(&scratch, "%s/%s", folder, path);
    by.npy = path;
    bool ok = contents_are_npy(storage->module, contents)
                  ? fill_tensor(storage, id, &by, error, error_size)
                  : read_bytes(storage, id, contents, path, error, error_size);
    arena_free(&scratch);
    return ok;
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

/* The graph, and all that it calls, by index. */
static void find_run(const struct module *module, uint32_t main_graph, struct vec_u32 *run)
{
    bool *seen = mem_calloc(module->graphs.count, sizeof *seen);
    vec_push(run, main_graph);
    seen[main_graph] = true;
    for (uint32_t i = 0; i < run->count; i++) {
        const struct graph *graph = &module->graphs.at[run->at[i]];
        struct call_walk walk = {0, 0};
        uint32_t called;
        while ((called = graph_next_called(module, graph, &walk)) != NONE) {
            if (seen[called])
                continue;
            seen[called] = true;
            vec_push(run, called);
        }
    }
    mem_free(seen);
}

void storages_mark_run(const struct module *module, const struct graph *graph, uint8_t *run)
{
    struct vec_u32 found = {NULL, 0, 0};
    find_run(module, graph_id(module, graph), &found);
    for (uint32_t i = 0; i < found.count; i++)
        run[found.at[i]] = 1;
    vec_free(&found);
}

bool storages_init(struct storages *storages, const struct backend_runner *runner,
                   const struct module *module, const struct graph *graph, unsigned copies,
                   struct diags *diags)
{
    uint32_t count = module->graphs.count;
    struct vec_u32 run = {NULL, 0, 0};
    bool ok = true;
    *storages = (struct storages){.at = mem_calloc(count, sizeof *storages->at),
                                  .values = mem_calloc(count, sizeof *storages->values),
                                  .count = count,
                                  .main_graph = graph_id(module, graph)};
    find_run(module, storages->main_graph, &run);
    for (uint32_t i = 0; ok && i < run.count; i++) {
        struct storage *storage = &storages->at[run.at[i]];
        ok = storage_init(storage, runner, module, &module->graphs.at[run.at[i]], copies, diags);
        storages->values[run.at[i]] = storage->data;
    }
    vec_free(&run);
    return ok;
}

void storages_free(struct storages *storages)
{
    for (uint32_t i = 0; i < storages->count; i++)
        storage_free(&storages->at[i]);
    mem_free(storages->at);
    mem_free(storages->values);
    *storages = (struct storages){0};
}

/* The first byte of a value is 0. */
static void place_text(const struct storage *storage, uint32_t id, int64_t offset, char *text,
                       size_t size)
{
    int64_t bytes = (int64_t)storage->guarded[id].size;
    int64_t away = offset < 0 ? -offset : offset < bytes ? offset : offset - bytes;
    snprintf(text, size, "%lld byte%s %s '%%%.*s'", (long long)away, away == 1 ? "" : "s",
             offset < 0       ? "before"
             : offset < bytes ? "into"
                              : "behind the end of",
             NAME(storage->module, storage->graph->values.at[id].name));
}

bool storages_place(const void *context, const void *address, char *text, size_t size)
{
    const struct storages *storages = context;
    for (uint32_t graph = 0; graph < storages->count; graph++) {
        const struct storage *storage = &storages->at[graph];
        for (uint32_t i = 0; storage->graph && i < storage->graph->values.count; i++) {
            const struct guarded *guarded = &storage->guarded[i];
            if (!guarded_is_near(guarded, address))
                continue;
            place_text(storage, i, (const unsigned char *)address - guarded->at, text, size);
            return true;
        }
    }
    return false;
}

void storages_copy_given(struct storages *to, const struct storages *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        if (from->at[i].graph)
            storage_copy_given(&to->at[i], &from->at[i]);
}

static bool is_kept(const struct restore *restore, const void *value)
{
    for (uint32_t i = 0; i < restore->kept.count; i++)
        if (restore->kept.at[i].to == value)
            return true;
    return false;
}

void restore_keep(struct restore *restore, const struct storages *fresh,
                  const struct storages *after)
{
    for (uint32_t g = 0; g < fresh->count; g++) {
        const struct storage *storage = &fresh->at[g];
        for (uint32_t i = 0; storage->graph && i < storage->graph->values.count; i++) {
            uint64_t size = storage->sizes[i];
            if (!value_is_given(storage->module, storage->graph, i) ||
                memcmp(storage->data[i], after->at[g].data[i], size) == 0 ||
                is_kept(restore, storage->data[i]))
                continue;
            struct kept kept = {storage->data[i], mem_calloc(1, size), size};
            memcpy(kept.copy, storage->data[i], size);
            vec_push(&restore->kept, kept);
        }
    }
}

void restore_inputs(const struct restore *restore)
{
    for (uint32_t i = 0; i < restore->kept.count; i++)
        memcpy(restore->kept.at[i].to, restore->kept.at[i].copy, restore->kept.at[i].size);
}

void restore_free(struct restore *restore)
{
    for (uint32_t i = 0; i < restore->kept.count; i++)
        mem_free(restore->kept.at[i].copy);
    vec_free(&restore->kept);
}
