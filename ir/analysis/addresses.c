#include "ir/analysis/addresses.h"
#include "ir/core/operands.h"

#include <string.h>

/* -------------------------------------------------------------------------- types ---- */

bool type_bytes(const struct module *module, uint32_t type, uint64_t *bytes, bool *exact)
{
    uint64_t elements;
    if (type == NONE || type == module->token)
        return false;
    const struct type *t = &module->types.at[type];
    unsigned bits = t->dtype == DTYPE_TOKEN ? 0 : dtype_info(t->dtype)->bits;
    if (bits == 0 || !type_elements(module, type, &elements) || elements > INT64_MAX / bits)
        return false;
    *bytes = (elements * bits + 7) / 8;
    *exact = format_is_plain(module, t->format);
    return true;
}

/* ----------------------------------------------------------------------- elements ---- */

static bool is_name(const struct attr_value *value)
{
    return value->kind == ATTR_WORD || value->kind == ATTR_STRING;
}

bool address_is_one(const struct module *module, const struct attr_value *value)
{
    if (value->kind == ATTR_INT)
        return true;
    if (value->kind != ATTR_LIST || value->count == 0)
        return false;
    const struct attr_value *parts = &module->attr_values.at[value->first];
    uint32_t named = is_name(&parts[0]);
    for (uint32_t i = named; i < value->count; i++)
        if (parts[i].kind != ATTR_INT)
            return false;
    return value->count > named && value->count <= 2 + named;
}

enum address_state address_read(const struct module *module, const struct attr_value *element,
                                uint32_t type, struct address *address)
{
    uint64_t bytes;
    bool exact;
    if (!element || !address_is_one(module, element))
        return ADDRESS_NONE;
    /* The buffer, where it begins and its length, if they are written. */
    bool list = element->kind == ATTR_LIST;
    const struct attr_value *parts = list ? &module->attr_values.at[element->first] : element;
    uint32_t named = is_name(&parts[0]), count = list ? element->count : 1;
    address->buffer = named ? parts[0].id : NONE;
    address->low = parts[named].i;
    int64_t length = count > 1 + named ? parts[named + 1].i : 0;
    if (count == 1 + named) {
        if (!type_bytes(module, type, &bytes, &exact) || !exact)
            return ADDRESS_UNSIZED;
        length = (int64_t)bytes;
    }
    if (address->low < 0 || length < 0 ||
        __builtin_add_overflow(address->low, length, &address->high))
        return ADDRESS_OUTSIDE;
    return ADDRESS_KNOWN;
}

const struct attr *op_address_list(const struct module *module, const struct op *op, uint32_t key)
{
    const struct attr *address = attr_find(module, op->attrs, W_address);
    if (!address || address->value.kind != ATTR_DICT)
        return NULL;
    return attr_find(module, (struct range){address->value.first, address->value.count}, key);
}

static const struct attr_value *nth(const struct module *module, const struct attr_value *list,
                                    uint32_t n)
{
    return list && list->kind == ATTR_LIST && n < list->count
               ? &module->attr_values.at[list->first + n]
               : NULL;
}

static const struct attr_value *list_element(const struct module *module, const struct op *op,
                                             uint32_t key, uint32_t n)
{
    const struct attr *list = op_address_list(module, op, key);
    return list ? nth(module, &list->value, n) : NULL;
}

const struct attr_value *op_operand_address(const struct module *module, const struct graph *graph,
                                            const struct op *op, uint32_t place, uint32_t n)
{
    const struct attr_value *element = list_element(module, op, W_operands, place);
    if (!element || op_operand(graph, op, place).kind != OPERAND_LIST)
        return element;
    return nth(module, element, n);
}

const struct attr_value *op_result_address(const struct module *module, const struct op *op,
                                           uint32_t n)
{
    return list_element(module, op, W_results, n);
}

const struct attr_value *op_workspace_address(const struct module *module, const struct op *op,
                                              uint32_t n)
{
    return list_element(module, op, W_workspace, n);
}

const struct attr_value *value_address(const struct module *module, const struct graph *graph,
                                       uint32_t value)
{
    uint32_t def = graph->values.at[value].def;
    if (def < graph->ops.count)
        return op_result_address(module, &graph->ops.at[def],
                                 value - graph->ops.at[def].results.first);
    if (def != DEF_PARAM)
        return NULL;
    const struct attr *attr = attr_find(module, graph->params.at[value].attrs, W_address);
    return attr ? &attr->value : NULL;
}

const char *address_text(const struct module *module, const struct address *address,
                         struct arena *arena)
{
    if (address->low >= address->high)
        return "no bytes";
    if (address->high == INT64_MAX && address->buffer != NONE)
        return arena_printf(arena, "the buffer '%.*s'", NAME(module, address->buffer));
    if (address->buffer == NONE)
        return arena_printf(arena, "bytes %lld to %lld", (long long)address->low,
                            (long long)address->high - 1);
    return arena_printf(arena, "bytes %lld to %lld of '%.*s'", (long long)address->low,
                        (long long)address->high - 1, NAME(module, address->buffer));
}

/* ------------------------------------------------------------------------ of a graph ---- */

bool graph_has_addresses(const struct module *module, const struct graph *graph)
{
    if (!module_may_have(module, W_address))
        return false;
    for (uint32_t i = 0; i < graph->params.count; i++)
        if (attr_find(module, graph->params.at[i].attrs, W_address))
            return true;
    for (uint32_t i = 0; i < graph->ops.count; i++)
        if (attr_find(module, graph->ops.at[i].attrs, W_address))
            return true;
    return false;
}

void addresses_init(struct addresses *addresses, const struct module *module,
                    const struct graph *graph)
{
    *addresses = (struct addresses){.module = module, .graph = graph};
    addresses->any = graph_has_addresses(module, graph);
    if (!addresses->any)
        return;
    memories_init(&addresses->memories, module, graph);
    for (uint32_t i = 0; i < graph->values.count; i++) {
        struct address address;
        const struct attr_value *element = value_address(module, graph, i);
        if (address_read(module, element, graph->values.at[i].type, &address) != ADDRESS_KNOWN)
            continue;
        uint32_t *index = id_map_at(&addresses->of_memory, memory_of(&addresses->memories, i));
        if (*index == NONE) {
            *index = addresses->at.count;
            vec_push(&addresses->at, address);
        }
    }
}

void addresses_free(struct addresses *addresses)
{
    memories_free(&addresses->memories);
    id_map_free(&addresses->of_memory);
    vec_free(&addresses->at);
}

const struct address *addresses_find(const struct addresses *addresses, uint32_t value)
{
    uint32_t index = id_map_find(&addresses->of_memory, memory_of(&addresses->memories, value));
    return index == NONE ? NULL : &addresses->at.at[index];
}

static void add_operand(const struct addresses *addresses, const struct op *op, uint32_t value,
                        const struct attr_value *element, struct accesses *accesses)
{
    const struct module *module = addresses->module;
    const struct graph *graph = addresses->graph;
    struct access access = {.value = value};
    if (address_read(module, element, graph->values.at[value].type, &access.address) !=
        ADDRESS_KNOWN) {
        const struct address *known = addresses_find(addresses, value);
        if (!known)
            return;
        access.address = *known;
    }
    access.kind = op_writes(module, graph, op, value) ? ACCESS_UPDATE : ACCESS_READ;
    vec_push(accesses, access);
}

static void add_buffers(const struct addresses *addresses, const struct op *op, uint32_t key,
                        struct accesses *accesses)
{
    const struct attr *attr = attr_find(addresses->module, op->attrs, key);
    uint32_t count = !attr ? 0 : attr->value.kind == ATTR_LIST ? attr->value.count : 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct attr_value *name =
            attr->value.kind == ATTR_LIST ? nth(addresses->module, &attr->value, i) : &attr->value;
        if (name->kind == ATTR_STRING)
            vec_push(accesses, ((struct access){{name->id, 0, INT64_MAX},
                                                NONE,
                                                key == W_writes ? ACCESS_WRITE : ACCESS_READ}));
    }
}

void addresses_of_op(const struct addresses *addresses, const struct op *op,
                     struct accesses *accesses)
{
    const struct module *module = addresses->module;
    const struct graph *graph = addresses->graph;
    struct address address;
    const struct attr_value *element;
    if (!addresses->any)
        return;
    for (uint32_t place = 0; place < op_n_places(graph, op); place++) {
        struct range values = op_operand(graph, op, place).values;
        for (uint32_t n = 0; n < values.count; n++)
            add_operand(addresses, op, graph->refs.at[values.first + n],
                        op_operand_address(module, graph, op, place, n), accesses);
    }
    for (uint32_t n = 0; n < op->results.count; n++) {
        const struct address *known = addresses_find(addresses, op->results.first + n);
        if (known && op_alias(module, graph, op, n) == NONE)
            vec_push(accesses, ((struct access){*known, op->results.first + n, ACCESS_WRITE}));
    }
    for (uint32_t n = 0; (element = op_workspace_address(module, op, n)); n++)
        if (address_read(module, element, NONE, &address) == ADDRESS_KNOWN)
            vec_push(accesses, ((struct access){address, NONE, ACCESS_WRITE}));
    add_buffers(addresses, op, W_reads, accesses);
    add_buffers(addresses, op, W_writes, accesses);
}
