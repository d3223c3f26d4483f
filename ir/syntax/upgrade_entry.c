#include "ir/syntax/upgrade_entry.h"
#include "ir/groups.h"

#include <ctype.h>

/* A group in the making: the calls of one op. */
struct old_call {
    uint32_t slot, kernel, group;
    bool seen[CORE_TYPES]; /* which programs have it */
};

struct upgrade {
    struct module *module;
    struct entry *entry;
    const struct attr *params;  /* NULL: there are none */
    const struct graph *graph;  /* whose super kernel has the entry's name, or NULL */
    struct id_map results;      /* ops of the super kernel, by the name of their last result */
    struct vec_u32 bare;        /* those without results that have no group yet, in turn */
    VEC(struct old_call) calls; /* by slot, then in the order of the programs */
    struct id_map used;         /* names of values that groups have */
    struct id_map words;        /* the same of words */
};

/* ----------------------------------------------------------------------------- calls ---- */

/* The call's place among those that are known, in `*at`; false where it is none of them: ops
 * without slots have calls at one slot, with one after the other. */
static bool find_call(const struct upgrade *up, const struct instr *call, enum core_type core,
                      uint32_t *at)
{
    uint32_t i;
    bisect(i, other, up->calls.count, up->calls.at[other].slot < call->number[0]);
    for (; i < up->calls.count && up->calls.at[i].slot == call->number[0]; i++)
        if (up->calls.at[i].kernel == call->kernel && (!up->graph || !up->calls.at[i].seen[core])) {
            *at = i;
            return true;
        }
    *at = i;
    return false;
}

static void add_call(struct upgrade *up, const struct instr *call, enum core_type core)
{
    uint32_t at;
    if (!find_call(up, call, core, &at)) {
        vec_push(&up->calls, (struct old_call){0});
        memmove(up->calls.at + at + 1, up->calls.at + at,
                (up->calls.count - 1 - at) * sizeof *up->calls.at);
        up->calls.at[at] = (struct old_call){.slot = call->number[0], .kernel = call->kernel};
    }
    up->calls.at[at].seen[core] = true;
}

static bool is_old_call(const struct instr *instr)
{
    return instr->op == INSTR_call && instr->kernel != NONE;
}

static void find_calls(struct upgrade *up)
{
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < up->entry->programs[core].instrs.count; i++)
            if (is_old_call(&up->entry->programs[core].instrs.at[i]))
                add_call(up, &up->entry->programs[core].instrs.at[i], (enum core_type)core);
}

/* ---------------------------------------------------------------------------- params ---- */

static uint32_t n_params(const struct upgrade *up)
{
    return up->params && up->params->value.kind == ATTR_LIST ? up->params->value.count : 0;
}

static const struct attr_value *param(const struct upgrade *up, uint32_t slot)
{
    return &up->module->attr_values.at[up->params->value.first + slot];
}

/* Of a list, the kind alone. */
static struct arg arg_of(const struct upgrade *up, uint32_t slot)
{
    const struct attr_value *value = param(up, slot);
    if (value->kind == ATTR_VALUE)
        return (struct arg){.kind = ARG_VALUE, .id = value->id};
    if (value->kind == ATTR_LIST)
        return (struct arg){.kind = ARG_LIST};
    if (value->kind == ATTR_WORD && value->id != W_none)
        return (struct arg){.kind = ARG_WORD, .id = value->id};
    const struct attr *event =
        value->kind == ATTR_DICT && value->count == 1 ? &up->module->attrs.at[value->first] : NULL;
    if (!event || (event->key != W_send && event->key != W_recv) ||
        (event->value.kind != ATTR_WORD && event->value.kind != ATTR_STRING))
        return (struct arg){.kind = ARG_NONE, .id = NONE};
    return (struct arg){.kind = event->key == W_send ? ARG_SEND : ARG_RECV, .id = event->value.id};
}

static void add_arg(struct upgrade *up, uint32_t slot)
{
    const struct attr_value *value = param(up, slot);
    struct arg arg = arg_of(up, slot);
    if (arg.kind == ARG_LIST) {
        arg.id = up->entry->listed.count;
        for (uint32_t i = 0; i < value->count; i++) {
            const struct attr_value *element = &up->module->attr_values.at[value->first + i];
            if (element->kind == ATTR_VALUE)
                vec_push(&up->entry->listed, element->id);
        }
        arg.count = up->entry->listed.count - arg.id;
    }
    entry_add_arg(up->entry, arg);
}

static bool is_tail(const struct upgrade *up, uint32_t slot)
{
    struct arg arg = arg_of(up, slot);
    return arg.kind == ARG_WORD && (arg.id == W_sync_workspace || arg.id == W_profiling);
}

/* The first slot of those behind the last op's. */
static uint32_t tail_begin(const struct upgrade *up)
{
    uint32_t end = n_params(up);
    while (end > 1 && is_tail(up, end - 1))
        end--;
    return end;
}

/* ----------------------------------------------------------------------------- names ---- */

/* The last value of the slots, where `results` among the results of ops with the kernel; NONE where
 * there is none. */
static uint32_t last_value(const struct upgrade *up, uint32_t first, uint32_t end, uint32_t kernel,
                           bool results)
{
    for (uint32_t slot = end; slot > first; slot--) {
        struct arg arg = arg_of(up, slot - 1);
        if (arg.kind != ARG_VALUE || id_map_find(&up->used, arg.id) != NONE)
            continue;
        uint32_t op = id_map_find(&up->results, arg.id);
        uint32_t runs = op == NONE ? NONE : up->graph->ops.at[op].kernel;
        if (!results || (op != NONE && (runs == kernel || runs == NONE)))
            return arg.id;
    }
    return NONE;
}

static bool is_word(const void *user, uint32_t name)
{
    return id_map_find(user, name) != NONE;
}

static uint32_t unique_word(struct upgrade *up, uint32_t type)
{
    uint32_t last = 0, word = module_free_name(up->module, type, "_",
                                               (struct taken_names){is_word, &up->words}, &last);
    id_map_set(&up->words, word, 0);
    return word;
}

/* The type of the next op without results that has the kernel, or NONE. */
static uint32_t take_bare(struct upgrade *up, uint32_t kernel)
{
    for (uint32_t i = 0; i < up->bare.count; i++) {
        const struct op *op = &up->graph->ops.at[up->bare.at[i]];
        if (op->kernel != kernel)
            continue;
        memmove(up->bare.at + i, up->bare.at + i + 1, (--up->bare.count - i) * sizeof *up->bare.at);
        return op->type;
    }
    return NONE;
}

/* Where nothing else names the group: the op type of the kernel, or its name. */
static uint32_t kernel_word(struct upgrade *up, uint32_t name)
{
    const struct kernel *kernel = module_find_kernel(up->module, name);
    uint32_t type = kernel ? attr_string(up->module, kernel->attrs, W_op) : NONE;
    return unique_word(up, type == NONE ? name : type);
}

/* The name of the group of these slots. */
static struct arg_group name_group(struct upgrade *up, uint32_t kernel, uint32_t first,
                                   uint32_t end)
{
    struct arg_group group = {last_value(up, first, end, kernel, true), false, NONE, {0, 0}};
    uint32_t type = group.name == NONE ? take_bare(up, kernel) : NONE;
    if (type != NONE)
        return (struct arg_group){unique_word(up, type), true, NONE, {0, 0}};
    if (group.name == NONE)
        group.name = last_value(up, first, end, kernel, false);
    if (group.name == NONE)
        return (struct arg_group){kernel_word(up, kernel), true, NONE, {0, 0}};
    id_map_set(&up->used, group.name, 0);
    return group;
}

static void add_group(struct upgrade *up, const struct old_call *call, uint32_t first, uint32_t end)
{
    struct arg_group group = name_group(up, call->kernel, first, end);
    entry_add_group(up->entry, group.name, group.word, NONE);
    for (uint32_t slot = first; slot < end; slot++)
        add_arg(up, slot);
}

/* Slots belong to the last call that begins at or before them. */
static void add_groups(struct upgrade *up)
{
    uint32_t tail = tail_begin(up), count = n_params(up), slot = 1;
    for (uint32_t i = 0; i < up->calls.count; i++) {
        uint32_t end = i + 1 < up->calls.count ? up->calls.at[i + 1].slot : tail;
        end = end < tail ? end : tail;
        end = end > slot ? end : slot;
        up->calls.at[i].group = up->entry->groups.count;
        add_group(up, &up->calls.at[i], slot, end);
        slot = end;
    }
    for (uint32_t first = slot; slot < count; slot++) {
        bool joins = slot > first && arg_of(up, slot - 1).id != W_sync_workspace &&
                     is_tail(up, slot) == is_tail(up, slot - 1);
        if (!joins)
            entry_add_group(up->entry, NONE, false, NONE);
        add_arg(up, slot);
    }
}

/* ------------------------------------------------------------------------- programs ---- */

static uint32_t group_of_slot(const struct entry *entry, uint32_t slot)
{
    uint32_t group = 0;
    while (group + 1 < entry->groups.count &&
           group_slot(entry, &entry->groups.at[group + 1]) <= slot)
        group++;
    return group;
}

/* The slot that an event's name is the number of, or NONE. */
static uint32_t slot_of_event(const struct upgrade *up, uint32_t name)
{
    const struct intern_name *text = &up->module->names.names[name];
    uint64_t slot = 0;
    for (uint32_t i = 0; i < text->size; i++) {
        if (!isdigit((unsigned char)text->text[i]) || slot > UINT32_MAX)
            return NONE;
        slot = slot * 10 + (uint64_t)(text->text[i] - '0');
    }
    return slot > 0 && slot < n_params(up) ? (uint32_t)slot : NONE;
}

static void rename_event(const struct upgrade *up, struct instr *instr)
{
    uint32_t slot = instr->word ? NONE : slot_of_event(up, instr->number[0]);
    if (slot == NONE)
        return;
    struct arg arg = arg_of(up, slot);
    if (arg.kind == ARG_SEND || arg.kind == ARG_RECV) {
        instr->number[0] = arg.id;
    } else if (arg.kind == ARG_WORD && arg.id == W_lock) {
        instr->word = 1;
        instr->number[0] = group_of_slot(up->entry, slot);
    }
}

static void rename_program(struct upgrade *up, enum core_type core)
{
    struct program *program = &up->entry->programs[core];
    for (uint32_t i = 0; i < up->calls.count; i++)
        up->calls.at[i].seen[core] = false;
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        struct instr *instr = &program->instrs.at[i];
        uint32_t at;
        if (instr_info(instr->op)->effect == EFFECT_EVENT)
            rename_event(up, instr);
        if (!is_old_call(instr))
            continue;
        find_call(up, instr, core, &at);
        up->calls.at[at].seen[core] = true;
        instr->number[0] = up->calls.at[at].group;
    }
}

/* --------------------------------------------------------------------------- entries ---- */

static void find_ops(struct upgrade *up, uint32_t block)
{
    for (uint32_t i = 0; i < up->graph->ops.count; i++) {
        const struct op *op = &up->graph->ops.at[i];
        uint32_t last = op->results.first + op->results.count - 1;
        if (graph_superkernel(up->graph, op->block) != block)
            continue;
        if (op->results.count)
            id_map_set(&up->results, up->graph->values.at[last].name, i);
        else
            vec_push(&up->bare, i);
    }
}

static void find_graph(struct upgrade *up)
{
    for (uint32_t i = 0; i < up->module->graphs.count; i++) {
        const struct graph *graph = &up->module->graphs.at[i];
        for (uint32_t b = 0; b < graph->blocks.count; b++)
            if (graph->blocks.at[b].kind == BLOCK_SUPERKERNEL &&
                block_entry_name(up->module, &graph->blocks.at[b]) == up->entry->name) {
                up->graph = graph;
                find_ops(up, b);
            }
    }
}

static void drop_params(struct upgrade *up)
{
    VEC(struct attr) rest = {NULL, 0, 0};
    for (uint32_t i = 0; i < up->entry->attrs.count; i++) {
        struct attr attr = up->module->attrs.at[up->entry->attrs.first + i];
        if (attr.key != W_params)
            vec_push(&rest, attr);
    }
    up->entry->attrs = module_add_attrs(up->module, rest.at, rest.count);
    vec_free(&rest);
}

void upgrade_entry(struct module *module, struct entry *entry, uint32_t loc)
{
    struct upgrade up = {.module = module, .entry = entry};
    up.params = attr_find(module, entry->attrs, W_params);
    find_graph(&up);
    find_calls(&up);
    add_groups(&up);
    if (entry->groups.count)
        entry->groups.at[0].loc = loc;
    for (int core = 0; core < CORE_TYPES; core++)
        rename_program(&up, (enum core_type)core);
    drop_params(&up);
    vec_free(&up.calls);
    id_map_free(&up.results);
    vec_free(&up.bare);
    id_map_free(&up.used);
    id_map_free(&up.words);
}
