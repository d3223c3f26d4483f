#include "frontend/commands/padding.h"
#include "ir/syntax/spelling.h"

void padding_free(struct padding *padding)
{
    vec_free(&padding->values);
    text_free(&padding->combination);
}

const struct padded_value *padding_find(const struct padding *padding, const struct graph *graph,
                                        uint32_t id)
{
    for (uint32_t i = 0; i < padding->values.count; i++)
        if (padding->values.at[i].name == graph->values.at[id].name)
            return &padding->values.at[i];
    return NULL;
}

/* A zeroed tensor of the value, with the shape of `padded`, or that in the storage. */
static bool make_tensor(const struct storage *storage, uint32_t id,
                        const struct padded_value *padded, struct tensor *tensor, char *error,
                        size_t error_size)
{
    uint32_t type = storage->graph->values.at[id].type;
    const struct type *t = &storage->module->types.at[type];
    return tensor_init(tensor, t->dtype, padded ? padded->dims : type_dims(storage->module, type),
                       t->rank, error, error_size);
}

void padding_give(const struct padding *padding, struct storage *storage, uint32_t id,
                  struct tensor *tensor)
{
    struct tensor large;
    char error[256];
    if (!padding_find(padding, storage->graph, id)) {
        storage_give(storage, id, tensor);
        return;
    }
    if (!make_tensor(storage, id, NULL, &large, error, sizeof error))
        mem_exhausted();
    tensor_copy_box(&large, tensor);
    tensor_free(tensor);
    storage_give(storage, id, &large);
}

bool padding_fill(const struct padding *padding, struct storage *storage, uint32_t id,
                  const char *spec, uint64_t seed, char *error, size_t error_size)
{
    const struct padded_value *padded = padding_find(padding, storage->graph, id);
    struct tensor tensor;
    if (!padded)
        return storage_fill(storage, id, spec, seed, error, error_size);
    if (!make_tensor(storage, id, padded, &tensor, error, error_size))
        return false;
    if (tensor_fill(&tensor, spec ? spec : storage_default_spec(tensor.dtype), seed, error,
                    error_size)) {
        padding_give(padding, storage, id, &tensor);
        return true;
    }
    tensor_free(&tensor);
    return false;
}

bool padding_take(const struct padding *padding, const struct storage *storage, uint32_t id,
                  struct tensor *tensor, char *error, size_t error_size)
{
    const struct padded_value *padded = padding_find(padding, storage->graph, id);
    struct tensor large;
    if (!padded)
        return storage_take(storage, id, tensor, error, error_size);
    if (!storage_take(storage, id, &large, error, error_size))
        return false;
    bool ok = make_tensor(storage, id, padded, tensor, error, error_size);
    if (ok)
        tensor_copy_box(tensor, &large);
    tensor_free(&large);
    return ok;
}

void padding_spell_type(const struct padding *padding, const struct module *module,
                        const struct graph *graph, uint32_t id, struct text *text)
{
    const struct padded_value *padded = padding_find(padding, graph, id);
    char dims[TENSOR_MAX_RANK * 22 + 8];
    if (!padded) {
        spell_type(text, module, graph->values.at[id].type);
        return;
    }
    tensor_dims_text(padded->dims, padded->rank, dims, sizeof dims);
    text_printf(text, "%s%s", dtype_info(module->types.at[graph->values.at[id].type].dtype)->name,
                dims);
}
