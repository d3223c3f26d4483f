#include "ir/known_contents.h"
#include "ir/calls.h"
#include "ir/contents.h"
#include "ir/memories.h"

/* One number may fill a tensor of any size; so many of its elements stand for all. */
enum { MOST_ELEMENTS = 4096 };

uint32_t viewed_value(const struct module *module, const struct graph *graph, uint32_t value)
{
    for (uint32_t steps = 0; steps < graph->ops.count; steps++) {
        uint32_t def = graph->values.at[value].def;
        if (def >= graph->ops.count)
            break;
        const struct op *op = &graph->ops.at[def];
        uint32_t from = op_is_view(module, graph, op)
                            ? op_alias(module, graph, op, value - op->results.first)
                            : NONE;
        if (from == NONE)
            break;
        value = from;
    }
    return value;
}

static void mark_written(const struct module *module, const struct graph *graph,
                         const struct op *op, uint8_t *written)
{
    struct op_write write = {0};
    while (op_next_write(module, graph, op, &write))
        written[viewed_value(module, graph, write.operand)] = 1;
    /* What it calls may. */
    for (uint32_t n = 0; op_call_kind(op) != CALL_NONE && n < op->operands.count; n++)
        written[viewed_value(module, graph, op_operands(graph, op)[n])] = 1;
}

void graph_mark_written(const struct module *module, const struct graph *graph, uint8_t *written)
{
    for (uint32_t i = 0; i < graph->ops.count; i++)
        mark_written(module, graph, &graph->ops.at[i], written);
}

bool value_is_written(const struct module *module, const struct graph *graph, uint32_t value)
{
    uint8_t *written = mem_calloc(graph->values.count + 1, 1);
    graph_mark_written(module, graph, written);
    bool is_written = written[value];
    mem_free(written);
    return is_written;
}

/* The numbers of contents as integers; false where they are something else. */
static bool integers_of(const struct contents *contents, uint64_t elements, struct arena *arena,
                        struct op_contents *found)
{
    uint64_t count = elements < MOST_ELEMENTS ? elements : MOST_ELEMENTS;
    if (!contents->numbers || (contents->count != 1 && contents->count != elements))
        return false;
    int64_t *numbers = arena_alloc(arena, (count + 1) * sizeof *numbers);
    *found = (struct op_contents){numbers, count};
    for (uint64_t i = 0; i < count; i++) {
        const struct attr_value *number = &contents->numbers[contents->count == 1 ? 0 : i];
        if (number->kind != ATTR_INT && number->kind != ATTR_BOOL)
            return false;
        numbers[i] = number->i;
    }
    return true;
}

/* The attribute of the constant that a value is, which is no view; NULL: it is none. */
static const struct attr *constant_attr(const struct module *module, const struct graph *graph,
                                        uint32_t value)
{
    uint32_t def = graph->values.at[value].def;
    const struct op *source = def < graph->ops.count ? &graph->ops.at[def] : NULL;
    return source && !op_is_variable(module, source) ? op_contents_attr(module, graph, source)
                                                     : NULL;
}

bool op_knows_contents(const struct module *module, const struct graph *graph, const struct op *op)
{
    for (uint32_t i = 0; module_may_have(module, W_value) && i < op->operands.count; i++) {
        uint32_t value = viewed_value(module, graph, op_operands(graph, op)[i]);
        if (constant_attr(module, graph, value))
            return true;
    }
    return false;
}

static bool contents_of(const struct op_call *call, uint32_t tensor, struct arena *arena,
                        struct op_contents *found)
{
    const struct known_contents *known = call->contents_user;
    const struct graph *graph = known->graph;
    const struct op_place *place = &known->tensors->places[tensor];
    uint64_t elements;
    if (place->result)
        return false;
    uint32_t value =
        viewed_value(known->module, graph, op_operands(graph, known->op)[place->index]);
    if (known->written && known->written[value])
        return false;
    const struct attr *attr = constant_attr(known->module, graph, value);
    if (!attr || graph->values.at[value].type == NONE ||
        !type_elements(known->module, graph->values.at[value].type, &elements))
        return false;
    struct contents contents = contents_read(known->module, attr);
    return integers_of(&contents, elements, arena, found);
}

void known_contents_use(struct known_contents *known, const struct module *module,
                        const struct graph *graph, const struct op *op, struct op_tensors *tensors)
{
    *known = (struct known_contents){module, graph, op, tensors, NULL};
    tensors->call.contents = contents_of;
    tensors->call.contents_user = known;
}
