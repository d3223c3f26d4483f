#include "frontend/commands/padding.h"
#include "frontend/tensor/integers.h"
#include "ir/syntax/spelling.h"

void padding_free(struct padding *padding)
{
    id_map_free(&padding->types);
    text_free(&padding->combination);
}

uint32_t padding_own_type(const struct padding *padding, const struct graph *graph, uint32_t id)
{
    uint32_t name = graph->values.at[id].name;
    return name == NONE ? NONE : id_map_find(&padding->types, name);
}

/* ---------------------------------------------------------------------------- tensors ---- */

/* A zeroed tensor of the type. */
static bool make_tensor(const struct module *module, uint32_t type, struct tensor *tensor,
                        char *error, size_t error_size)
{
    const struct type *t = &module->types.at[type];
    return tensor_init(tensor, t->dtype, type_dims(module, type), t->rank, error, error_size);
}

void padding_give(const struct padding *padding, struct storage *storage, uint32_t id,
                  struct tensor *tensor)
{
    struct tensor large;
    char error[256];
    if (padding_own_type(padding, storage->graph, id) == NONE) {
        storage_give(storage, id, tensor);
        return;
    }
    if (!make_tensor(storage->module, storage->graph->values.at[id].type, &large, error,
                     sizeof error))
        mem_exhausted();
    tensor_copy_box(&large, tensor);
    tensor_free(tensor);
    storage_give(storage, id, &large);
}

bool padding_fill(const struct padding *padding, struct storage *storage, uint32_t id,
                  const char *spec, uint64_t seed, char *error, size_t error_size)
{
    uint32_t own = padding_own_type(padding, storage->graph, id);
    struct tensor tensor;
    if (own == NONE)
        return storage_fill(storage, id, spec, seed, error, error_size);
    if (!make_tensor(storage->module, own, &tensor, error, error_size))
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
    uint32_t own = padding_own_type(padding, storage->graph, id);
    struct tensor large;
    if (own == NONE)
        return storage_take(storage, id, tensor, error, error_size);
    if (!storage_take(storage, id, &large, error, error_size))
        return false;
    bool ok = make_tensor(storage->module, own, tensor, error, error_size);
    if (ok)
        tensor_copy_box(tensor, &large);
    tensor_free(&large);
    return ok;
}

/* -------------------------------------------------------------------------------- ops ---- */

bool padding_own_tensors(const struct padding *padding, const struct module *module,
                         const struct graph *graph, const struct op *op,
                         const struct op_tensors *tensors, struct arena *arena,
                         struct op_tensors *own)
{
    uint32_t count = tensors->call.n_tensors;
    struct op_tensor *shapes = arena_alloc(arena, (count + 1) * sizeof *shapes);
    struct op_place *places = arena_alloc(arena, (count + 1) * sizeof *places);
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        shapes[i] = tensors->call.tensors[i];
        places[i] = tensors->places[i];
        uint32_t value = places[i].result ? op->results.first + places[i].index
                                          : op_operands(graph, op)[places[i].index];
        uint32_t type = padding_own_type(padding, graph, value);
        if (type == NONE)
            continue;
        places[i].type = type;
        shapes[i].dims = type_dims(module, type);
        any = true;
    }
    *own = *tensors;
    own->call.tensors = shapes;
    own->places = places;
    return any;
}

/* Numbers of a type as a tensor, which has no memory of its own. */
static struct tensor numbers_tensor(const struct module *module, uint32_t type, int64_t *numbers)
{
    struct tensor tensor = {.dtype = DTYPE_i64, .data = (unsigned char *)numbers};
    tensor.rank = module->types.at[type].rank;
    for (uint32_t i = 0; i < tensor.rank; i++)
        tensor.dims[i] = type_dims(module, type)[i];
    return tensor;
}

bool padding_read_integers(const struct padding *padding, const struct module *module,
                           const struct graph *graph, uint32_t id, const void *data,
                           struct arena *arena, struct op_contents *found)
{
    struct op_contents all;
    uint32_t type = graph->values.at[id].type, own = padding_own_type(padding, graph, id);
    if (own == NONE)
        return integers_read(module, type, data, arena, found);
    if (!integers_read(module, type, data, arena, &all) ||
        !type_elements(module, own, &found->count))
        return false;
    int64_t *numbers = arena_alloc(arena, (found->count + 1) * sizeof *numbers);
    struct tensor small = numbers_tensor(module, own, numbers);
    struct tensor large = numbers_tensor(module, type, (int64_t *)all.at);
    tensor_copy_box(&small, &large);
    found->at = numbers;
    return true;
}

/* ------------------------------------------------------------------------------- text ---- */

void padding_spell_type(const struct padding *padding, const struct module *module,
                        const struct graph *graph, uint32_t id, struct text *text)
{
    uint32_t own = padding_own_type(padding, graph, id);
    spell_type(text, module, own == NONE ? graph->values.at[id].type : own);
}
