#include "ir/core/invariants.h"
#include "ir/core/attr.h"

static bool range_is_in(struct range range, uint32_t count)
{
    return range.first <= count && range.count <= count - range.first;
}

static bool is_name(const struct module *module, uint32_t name)
{
    return name < module->names.count;
}

static bool is_name_or_none(const struct module *module, uint32_t name)
{
    return name == NONE || is_name(module, name);
}

/* --------------------------------------------------------------------------- graphs ---- */

static bool refs_are_below(const struct graph *graph, struct range refs, uint32_t limit)
{
    if (!range_is_in(refs, graph->refs.count))
        return false;
    for (uint32_t i = 0; i < refs.count; i++)
        if (graph->refs.at[refs.first + i] >= limit)
            return false;
    return true;
}

static bool ids_are_below(const uint32_t *ids, uint32_t count, uint32_t limit)
{
    for (uint32_t i = 0; i < count; i++)
        if (ids[i] >= limit)
            return false;
    return true;
}

static bool values_are_sound(const struct module *module, const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->values.count; i++) {
        const struct value *value = &graph->values.at[i];
        bool defined = value->def == DEF_PARAM
                           ? i < graph->n_params
                           : value->def == DEF_MISSING || value->def < graph->ops.count;
        if (!defined || !is_name(module, value->name) ||
            (value->type != NONE && value->type >= module->types.count))
            return false;
    }
    return graph->n_params == graph->params.count && graph->n_params <= graph->values.count;
}

/* The forms of operands have all their values, in turn. */
static bool forms_are_sound(const struct module *module, const struct graph *graph,
                            const struct op *op, struct range forms)
{
    uint32_t next = op->operands.first;
    if (!range_is_in(forms, graph->forms.count))
        return false;
    for (uint32_t i = 0; i < forms.count; i++) {
        const struct operand *operand = &graph->forms.at[forms.first + i];
        if (!is_name_or_none(module, operand->label) || operand->values.first != next ||
            (operand->kind == OPERAND_VALUE && operand->values.count != 1) ||
            (operand->kind == OPERAND_NONE && operand->values.count != 0))
            return false;
        next += operand->values.count;
    }
    return forms.count == 0 || next == op->operands.first + op->operands.count;
}

static bool op_is_sound(const struct module *module, const struct graph *graph, uint32_t id)
{
    const struct op *op = &graph->ops.at[id];
    if (!is_name(module, op->type) || !is_name_or_none(module, op->kernel) ||
        !range_is_in(op->attrs, module->attrs.count) ||
        !range_is_in(op->results, graph->values.count) || op->clauses >= graph->clauses.count)
        return false;
    for (uint32_t i = 0; i < op->results.count; i++)
        if (graph->values.at[op->results.first + i].def != id)
            return false;
    const struct clauses *clauses = op_clauses(graph, op);
    return forms_are_sound(module, graph, op, clauses->forms) &&
           refs_are_below(graph, op->operands, graph->values.count) &&
           refs_are_below(graph, clauses->after, graph->values.count) &&
           refs_are_below(graph, clauses->send, module->names.count) &&
           refs_are_below(graph, clauses->recv, module->names.count);
}

static bool block_is_sound(const struct module *module, const struct graph *graph, uint32_t id)
{
    const struct block *block = &graph->blocks.at[id];
    bool rest = block->kind == BLOCK_SUPERKERNEL_REST;
    if (!range_is_in(block->attrs, module->attrs.count))
        return false;
    bool named = rest || block->kind == BLOCK_SCOPE_NONE ? block->name == NONE
                                                         : is_name(module, block->name);
    bool goes_on = !rest || (block->whole < id && attrs_are_private(module, block->attrs) &&
                             graph->blocks.at[block->whole].kind == BLOCK_SUPERKERNEL);
    return named && goes_on && (block->parent == NONE || block->parent < id) &&
           (block->kind == BLOCK_SUPERKERNEL || !block_has_events(block)) &&
           refs_are_below(graph, block->send, module->names.count) &&
           refs_are_below(graph, block->recv, module->names.count);
}

/* Blocks nest, and each op is in the body once. */
static bool body_is_sound(const struct graph *graph)
{
    uint8_t *seen = mem_calloc(graph->ops.count, 1);
    uint32_t open = NONE, ops = 0; /* the innermost open block */
    bool sound = true;
    for (uint32_t i = 0; sound && i < graph->body.count; i++) {
        uint32_t id = item_id(graph->body.at[i]);
        switch (item_kind(graph->body.at[i])) {
        case ITEM_OP:
            sound = id < graph->ops.count && !seen[id]++ && graph->ops.at[id].block == open;
            ops++;
            break;
        case ITEM_OPEN:
            sound = id < graph->blocks.count && graph->blocks.at[id].parent == open;
            open = id;
            break;
        case ITEM_CLOSE:
            sound = id == open && id < graph->blocks.count;
            open = sound ? graph->blocks.at[id].parent : NONE;
            break;
        default: sound = false;
        }
    }
    mem_free(seen);
    return sound && open == NONE && ops == graph->ops.count;
}

bool graph_is_sound(const struct module *module, const struct graph *graph)
{
    bool sound =
        graph->clauses.count > 0 && range_is_in(graph->attrs, module->attrs.count) &&
        values_are_sound(module, graph) &&
        ids_are_below(graph->returns.at, graph->returns.count, graph->values.count) &&
        ids_are_below(graph->result_types.at, graph->result_types.count, module->types.count);
    for (uint32_t i = 0; sound && i < graph->params.count; i++)
        sound = range_is_in(graph->params.at[i].attrs, module->attrs.count);
    for (uint32_t i = 0; sound && i < graph->dims.count; i++)
        sound = is_name(module, graph->dims.at[i].name);
    for (uint32_t i = 0; sound && i < graph->gears.count; i++)
        sound = range_is_in(graph->gears.at[i].values, graph->gear_values.count) &&
                is_name(module, graph->gears.at[i].name);
    for (uint32_t i = 0; sound && i < graph->cases.count; i++)
        sound = range_is_in(graph->cases.at[i].values, graph->gear_values.count) &&
                is_name(module, graph->cases.at[i].graph) && graph->body.count == 0;
    for (uint32_t i = 0; sound && i < graph->blocks.count; i++)
        sound = block_is_sound(module, graph, i);
    for (uint32_t i = 0; sound && i < graph->ops.count; i++)
        sound = op_is_sound(module, graph, i);
    return sound && body_is_sound(graph);
}

/* --------------------------------------------------------------------------- module ---- */

static bool value_is_sound(const struct module *module, const struct attr_value *value)
{
    switch ((enum attr_kind)value->kind) {
    case ATTR_INT:
    case ATTR_FLOAT:
    case ATTR_BOOL: return true;
    case ATTR_STRING:
    case ATTR_WORD:
    case ATTR_SYMBOL:
    case ATTR_VALUE: return is_name(module, value->id);
    case ATTR_TYPE: return value->id < module->types.count;
    case ATTR_LIST:
        if (value->count == 0)
            return value->first < W_COUNT;
        return range_is_in((struct range){value->first, value->count}, module->attr_values.count);
    case ATTR_DICT:
        return range_is_in((struct range){value->first, value->count}, module->attrs.count);
    }
    return false;
}

/* The ranges of groups follow one another, and are all arguments. */
static bool groups_are_sound(const struct module *module, const struct entry *entry)
{
    uint32_t next = 0;
    bool sound = ids_are_below(entry->listed.at, entry->listed.count, module->names.count);
    for (uint32_t i = 0; sound && i < entry->groups.count; i++) {
        const struct arg_group *group = &entry->groups.at[i];
        sound = is_name_or_none(module, group->name) && group->args.first == next;
        next += group->args.count;
    }
    for (uint32_t i = 0; sound && i < entry->args.count; i++) {
        const struct arg *arg = &entry->args.at[i];
        sound = arg->kind == ARG_LIST
                    ? range_is_in((struct range){arg->id, arg->count}, entry->listed.count)
                    : arg->kind == ARG_NONE || is_name(module, arg->id);
    }
    return sound && next == entry->args.count;
}

/* What an instruction names by number[0] is there. */
static bool instr_is_sound(const struct module *module, const struct entry *entry,
                           const struct instr *instr)
{
    if (instr->op >= INSTR_COUNT || instr->part > CORE_TYPES ||
        !is_name_or_none(module, instr->kernel))
        return false;
    enum instr_effect effect = instr_info(instr->op)->effect;
    uint32_t n = instr->number[0];
    if (effect == EFFECT_EVENT ? !instr->word : effect == EFFECT_CALL && instr->kernel == NONE)
        return is_name(module, n);
    return (effect != EFFECT_EVENT && effect != EFFECT_CALL) ||
           (n < entry->groups.count && entry->groups.at[n].name != NONE);
}

/* An element is found by its name, or one with the same name before it. */
static bool is_indexed(const struct module *module, enum symbol_kind kind, uint32_t name,
                       uint32_t index)
{
    return is_name(module, name) && module_find(module, kind, name) <= index;
}

bool module_is_sound(const struct module *module)
{
    bool sound = true;
    for (uint32_t i = 0; sound && i < module->attrs.count; i++)
        sound = is_name(module, module->attrs.at[i].key) &&
                module_may_have(module, module->attrs.at[i].key) &&
                value_is_sound(module, &module->attrs.at[i].value);
    for (uint32_t i = 0; sound && i < module->attr_values.count; i++)
        sound = value_is_sound(module, &module->attr_values.at[i]);
    for (uint32_t i = 0; sound && i < module->types.count; i++) {
        const struct type *type = &module->types.at[i];
        sound = is_name(module, type->format) &&
                range_is_in((struct range){type->dims, type_n_dims(type)}, module->dims.count);
    }
    for (uint32_t i = 0; sound && i < module->kernels.count; i++)
        sound = is_indexed(module, SYMBOL_KERNEL, module->kernels.at[i].name, i) &&
                range_is_in(module->kernels.at[i].attrs, module->attrs.count);
    for (uint32_t i = 0; sound && i < module->graphs.count; i++)
        sound = is_indexed(module, SYMBOL_GRAPH, module->graphs.at[i].name, i) &&
                graph_is_sound(module, &module->graphs.at[i]);
    for (uint32_t i = 0; sound && i < module->entries.count; i++) {
        const struct entry *entry = &module->entries.at[i];
        sound = is_indexed(module, SYMBOL_ENTRY, entry->name, i) &&
                range_is_in(entry->attrs, module->attrs.count) && groups_are_sound(module, entry);
        for (int core = 0; sound && core < CORE_TYPES; core++) {
            const struct program *program = &entry->programs[core];
            sound = program->present || program->instrs.count == 0;
            for (uint32_t n = 0; sound && n < program->instrs.count; n++)
                sound = instr_is_sound(module, entry, &program->instrs.at[n]);
        }
    }
    for (uint32_t i = 0; sound && i < module->includes.count; i++)
        sound = is_name(module, module->includes.at[i].path);
    return sound && module->order.count == module->kernels.count + module->graphs.count +
                                               module->entries.count + module->targets.count +
                                               module->includes.count;
}
