#include "ir/analysis/modref.h"
#include "ir/core/calls.h"
#include "ir/core/operands.h"
#include "ir/optypes/op_types.h"

#include <string.h>

/* The value that an operand is; NONE where it is a list, or absent. */
static uint32_t value_at(const struct graph *graph, const struct op *op, uint32_t place)
{
    struct operand operand = op_operand(graph, op, place);
    return operand.kind == OPERAND_VALUE ? graph->refs.at[operand.values.first] : NONE;
}

uint32_t op_place(const struct graph *graph, const struct op *op, const struct attr_value *place)
{
    uint32_t n = op_named_place(graph, op, place);
    return n == NONE ? NONE : value_at(graph, op, n);
}

/* The place of an op's operand that is a slot of its type: by its label, or its number, unless the
 * number of operands before it is not fixed. NONE where there is none. */
static uint32_t slot_place(const struct module *module, const struct graph *graph,
                           const struct op *op, const struct op_type *type, uint32_t slot)
{
    uint32_t unlabelled = op_n_unlabelled(graph, op);
    for (uint32_t place = unlabelled; place < op_n_places(graph, op); place++) {
        uint32_t label = op_operand(graph, op, place).label;
        if (label != NONE && name_is(module, label, type->slots[slot].name))
            return place;
    }
    for (uint32_t i = 0; i < slot && !op_has_forms(graph, op); i++)
        if (type->slots[i].presence == OP_LISTED)
            return NONE;
    return slot < unlabelled ? slot : NONE;
}

uint32_t op_alias(const struct module *module, const struct graph *graph, const struct op *op,
                  uint32_t n)
{
    const struct attr *alias = attr_find(module, op->attrs, W_alias);
    if (graph->values.at[op->results.first + n].type == module->token)
        return NONE;
    if (alias)
        return alias->value.kind == ATTR_LIST && n < alias->value.count
                   ? op_place(graph, op, &module->attr_values.at[alias->value.first + n])
                   : NONE;
    /* A private kernel for a view makes a copy, for all that is known. */
    const struct op_type *type = op_type_find(module, op->type);
    if (!type || (type->view && op->kernel != NONE))
        return NONE;
    uint32_t slot = op_type_result(type, n);
    if (slot == NONE || type->slots[slot].alias == NONE || op_is_unchecked(module, op))
        return NONE;
    uint32_t place = slot_place(module, graph, op, type, type->slots[slot].alias);
    return place == NONE ? NONE : value_at(graph, op, place);
}

/* The values that element or slot `n` says are written; false past the last. */
static bool written_at(const struct module *module, const struct graph *graph, const struct op *op,
                       uint32_t n, struct range *values)
{
    const struct attr *inplace = attr_find(module, op->attrs, W_inplace);
    const struct op_type *type = inplace ? NULL : op_type_find(module, op->type);
    uint32_t place = NONE;
    if (inplace ? inplace->value.kind != ATTR_LIST || n >= inplace->value.count
                : !type || n >= type->n_operands)
        return false;
    if (inplace)
        place = op_named_place(graph, op, &module->attr_values.at[inplace->value.first + n]);
    else if (type->slots[n].writes && !op_is_unchecked(module, op))
        place = slot_place(module, graph, op, type, n);
    *values = place == NONE ? (struct range){0, 0} : op_operand(graph, op, place).values;
    return true;
}

bool op_next_write(const struct module *module, const struct graph *graph, const struct op *op,
                   struct op_write *write)
{
    struct range values;
    for (; written_at(module, graph, op, write->element, &values); write->element++) {
        if (write->value < values.count) {
            write->operand = graph->refs.at[values.first + write->value++];
            return true;
        }
        write->value = 0;
    }
    return false;
}

bool op_writes(const struct module *module, const struct graph *graph, const struct op *op,
               uint32_t operand)
{
    struct op_write write = {0};
    while (op_next_write(module, graph, op, &write))
        if (write.operand == operand)
            return true;
    return false;
}

bool op_is_view(const struct module *module, const struct graph *graph, const struct op *op)
{
    const struct op_type *type = op_type_find(module, op->type);
    struct op_write write = {0};
    if (!type || !type->view || op->kernel != NONE || op->results.count == 0 ||
        attr_find(module, op->attrs, W_writes) || op_next_write(module, graph, op, &write))
        return false;
    for (uint32_t n = 0; n < op->results.count; n++)
        if (op_alias(module, graph, op, n) == NONE)
            return false;
    return true;
}

bool op_is_passive(const struct module *module, const struct graph *graph, const struct op *op)
{
    const struct op_type *type = op_type_find(module, op->type);
    return type && (type->passive || (type->view && op_is_view(module, graph, op)));
}

bool op_is_variable(const struct module *module, const struct op *op)
{
    return name_is(module, op->type, "Variable") || name_is(module, op->type, "RefData");
}

uint32_t op_shared_name(const struct module *module, const struct op *op)
{
    uint32_t name = attr_string(module, op->attrs, W_shared_name);
    bool named = name != NONE && module->names.names[name].size > 0;
    return named && op_is_variable(module, op) ? name : NONE;
}

/* -------------------------------------------------------------------- memories of values ---- */

/* Makes the value part of another's memory. */
static void join(struct memories *memories, const struct graph *graph, uint32_t value,
                 uint32_t with)
{
    uint32_t n_values = graph->values.count;
    if (!memories->of) {
        memories->of = mem_realloc(NULL, n_values, sizeof *memories->of);
        for (uint32_t i = 0; i < n_values; i++)
            memories->of[i] = i;
    }
    memories->of[value] = memories->of[with];
}

void memories_init(struct memories *memories, const struct module *module,
                   const struct graph *graph)
{
    struct id_map variables = {NULL, 0, 0}; /* by `shared_name`: the first value of that memory */
    memories->of = NULL;
    for (uint32_t i = 0; i < graph->body.count; i++) {
        if (item_kind(graph->body.at[i]) != ITEM_OP)
            continue;
        const struct op *op = &graph->ops.at[item_id(graph->body.at[i])];
        for (uint32_t n = 0; n < op->results.count; n++) {
            uint32_t operand = op_alias(module, graph, op, n);
            if (operand != NONE)
                join(memories, graph, op->results.first + n, operand);
        }
        uint32_t name = op->attrs.count ? op_shared_name(module, op) : NONE;
        if (name == NONE || op->results.count == 0)
            continue;
        uint32_t *first = id_map_at(&variables, name);
        if (*first == NONE)
            *first = op->results.first;
        else
            join(memories, graph, op->results.first, *first);
    }
    id_map_free(&variables);
}

void memories_free(struct memories *memories)
{
    mem_free(memories->of);
    memories->of = NULL;
}

/* ---------------------------------------------------------------------- AI cores ---- */

/* GE's names of what runs ops elsewhere: the two of the AICPU, collectives, the runtime, image
 * processing, the host. */
static const char *const engines[] = {
    "aicpu_ascend_kernel", "aicpu_tf_kernel", "ops_kernel_info_hccl",
    "DNN_VM_RTS_OP_STORE", "dvpp_ops_kernel", "DNN_VM_HOST_CPU_OP_STORE",
};

bool op_has_no_cores(const struct module *module, const struct op *op)
{
    /* What says it first, and whether the op has no cores then. */
    static const struct {
        uint32_t key;
        bool no_cores;
    } flags[] = {{W__hccl, false}, {W_no_cores, true}, {W_supportSuperKernel, false}};
    for (size_t i = 0; op->attrs.count && i < sizeof flags / sizeof flags[0]; i++) {
        const struct attr *attr = attr_find(module, op->attrs, flags[i].key);
        if (attr && (attr->value.kind == ATTR_INT || attr->value.kind == ATTR_BOOL) &&
            attr->value.i != 0)
            return flags[i].no_cores;
    }
    uint32_t engine = attr_string(module, op->attrs, W__ge_attr_op_kernel_lib_name);
    for (size_t i = 0; engine != NONE && i < sizeof engines / sizeof engines[0]; i++)
        if (name_is(module, engine, engines[i]))
            return true;
    const struct op_type *type = engine == NONE ? op_type_find(module, op->type) : NULL;
    return type && type->no_cores && !op_is_unchecked(module, op);
}

enum state { EFFECTS_NEW, EFFECTS_OPEN, EFFECTS_DONE };

struct graph_effects {
    enum state state;
    uint8_t *written;   /* per parameter */
    uint32_t *returned; /* per returned value: the parameter whose memory it is, or NONE */
    VEC(struct shared_effect) shared;
};

/* A graph whose effects wait for those of a graph that it calls. */
struct pending {
    uint32_t graph, op, callee; /* the next to look at */
};

struct effects {
    const struct module *module;
    struct graph_effects *graphs; /* by index; NULL while nothing was asked */
    uint32_t n_graphs;            /* as long as these are looked at, the module has as many */
    VEC(struct pending) stack;
    uint8_t *seen; /* scratch, by name id: which accesses a graph has, a bit for each kind */
    struct op_effects of_op; /* scratch */
};

/* The graph that is being looked at. */
struct effect_walker {
    struct effects *effects;
    const struct graph *graph;
    struct graph_effects *of;
    struct memories memories;
    struct id_map variables; /* by value that stands for a memory: the `shared_name` */
};

struct effects *effects_new(const struct module *module)
{
    struct effects *effects = mem_calloc(1, sizeof *effects);
    effects->module = module;
    return effects;
}

void effects_free(struct effects *effects)
{
    if (!effects)
        return;
    for (uint32_t i = 0; i < effects->n_graphs; i++) {
        mem_free(effects->graphs[i].written);
        mem_free(effects->graphs[i].returned);
        vec_free(&effects->graphs[i].shared);
    }
    mem_free(effects->graphs);
    mem_free(effects->seen);
    vec_free(&effects->stack);
    op_effects_free(&effects->of_op);
    mem_free(effects);
}

void op_effects_free(struct op_effects *found)
{
    vec_free(&found->written);
    vec_free(&found->shared);
}

/* ------------------------------------------------------------------------- one graph ---- */

static void add_shared(struct effect_walker *walker, uint32_t name, bool variable, bool write)
{
    uint8_t bit = (uint8_t)(1 << (2 * variable + write));
    if (walker->effects->seen[name] & bit)
        return;
    walker->effects->seen[name] |= bit;
    vec_push(&walker->of->shared, (struct shared_effect){name, variable, write});
}

static void add_named(struct effect_walker *walker, const struct op *op, uint32_t key)
{
    const struct module *module = walker->effects->module;
    const struct attr *attr = attr_find(module, op->attrs, key);
    if (attr && attr->value.kind == ATTR_STRING)
        add_shared(walker, attr->value.id, false, key == W_writes);
    for (uint32_t i = 0; attr && attr->value.kind == ATTR_LIST && i < attr->value.count; i++) {
        const struct attr_value *name = &module->attr_values.at[attr->value.first + i];
        if (name->kind == ATTR_STRING)
            add_shared(walker, name->id, false, key == W_writes);
    }
}

static void access_value(struct effect_walker *walker, uint32_t value, bool write)
{
    uint32_t memory = memory_of(&walker->memories, value);
    uint32_t variable = id_map_find(&walker->variables, memory);
    if (variable != NONE)
        add_shared(walker, variable, true, write);
    if (write && memory < walker->graph->n_params)
        walker->of->written[memory] = 1;
}

static void add_op(struct effect_walker *walker, const struct op *op)
{
    const uint32_t *operands = op_operands(walker->graph, op);
    struct op_write write = {0};
    for (uint32_t i = 0; walker->variables.count && i < op->operands.count; i++)
        access_value(walker, operands[i], false);
    while (op_next_write(walker->effects->module, walker->graph, op, &write))
        access_value(walker, write.operand, true);
    if (op->attrs.count == 0)
        return;
    add_named(walker, op, W_reads);
    add_named(walker, op, W_writes);
    if (op_call_kind(op) == CALL_NONE)
        return;
    struct op_effects *found = &walker->effects->of_op;
    effects_of_op(walker->effects, op, found);
    for (uint32_t i = 0; i < found->written.count; i++)
        access_value(walker, operands[found->written.at[i]], true);
    for (uint32_t i = 0; i < found->shared.count; i++)
        add_shared(walker, found->shared.at[i].name, found->shared.at[i].variable,
                   found->shared.at[i].write);
}

/* Those of all graphs that it calls are known. */
static void finish_graph(struct effects *effects, uint32_t id)
{
    const struct module *module = effects->module;
    const struct graph *graph = &module->graphs.at[id];
    struct graph_effects *of = &effects->graphs[id];
    struct effect_walker walker = {.effects = effects, .graph = graph, .of = of};
    memories_init(&walker.memories, module, graph);
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        uint32_t name = op->attrs.count ? op_shared_name(module, op) : NONE;
        if (name != NONE && op->results.count)
            id_map_set(&walker.variables, memory_of(&walker.memories, op->results.first), name);
    }
    of->returned = mem_calloc(graph->returns.count, sizeof *of->returned);
    for (uint32_t i = 0; i < graph->returns.count; i++) {
        uint32_t memory = memory_of(&walker.memories, graph->returns.at[i]);
        of->returned[i] = memory < graph->n_params ? memory : NONE;
    }
    for (uint32_t i = 0; i < graph->ops.count; i++)
        add_op(&walker, &graph->ops.at[i]);
    for (uint32_t i = 0; i < of->shared.count; i++)
        effects->seen[of->shared.at[i].name] = 0;
    of->state = EFFECTS_DONE;
    memories_free(&walker.memories);
    id_map_free(&walker.variables);
}

/* -------------------------------------------------------------------------- callees ---- */

static void open_graph(struct effects *effects, uint32_t id)
{
    struct graph_effects *of = &effects->graphs[id];
    if (of->state != EFFECTS_NEW)
        return;
    of->state = EFFECTS_OPEN;
    of->written = mem_calloc(effects->module->graphs.at[id].n_params, 1);
    vec_push(&effects->stack, (struct pending){id, 0, 0});
}

/* Goes on with the graph on top of the stack, up to the next graph that must go before it. */
static void step(struct effects *effects)
{
    struct pending *top = &effects->stack.at[effects->stack.count - 1];
    const struct graph *graph = &effects->module->graphs.at[top->graph];
    struct callee callee;
    while (top->op < graph->ops.count) {
        if (!op_callee(effects->module, &graph->ops.at[top->op], top->callee, &callee)) {
            top->op++;
            top->callee = 0;
            continue;
        }
        top->callee++;
        if (callee.graph == NONE || effects->graphs[callee.graph].state != EFFECTS_NEW)
            continue;
        open_graph(effects, callee.graph);
        return;
    }
    finish_graph(effects, top->graph);
    effects->stack.count--;
}

static void require(struct effects *effects, uint32_t graph)
{
    const struct module *module = effects->module;
    uint32_t below = effects->stack.count;
    if (!effects->graphs) {
        effects->n_graphs = module->graphs.count;
        effects->graphs = mem_calloc(module->graphs.count, sizeof *effects->graphs);
        effects->seen = mem_calloc(module->names.count, 1);
    }
    open_graph(effects, graph);
    while (effects->stack.count > below)
        step(effects);
}

/* ------------------------------------------------------------------------------- ops ---- */

/* The operand that becomes a parameter, or NONE. */
static uint32_t operand_of(const struct op *op, uint32_t param)
{
    const struct call_info *info = call_info(op_call_kind(op));
    if (param < info->own || param - info->own + info->lead >= op->operands.count)
        return NONE;
    return param - info->own + info->lead;
}

/* A loop's body that writes a parameter writes what it returned there the time before: where that
 * is another parameter, the operand of that, too. `written` grows while it is walked. */
static void follow_carried(struct effects *effects, uint32_t body, const struct op *op,
                           struct vec_u32 *written)
{
    const struct call_info *info = call_info(op_call_kind(op));
    bool *seen = mem_calloc(op->operands.count, sizeof *seen);
    for (uint32_t i = 0; i < written->count; i++)
        seen[written->at[i]] = true;
    for (uint32_t i = 0; i < written->count; i++) {
        uint32_t param = effects_returned(effects, body, written->at[i] - info->lead);
        uint32_t operand = param == NONE ? NONE : operand_of(op, param);
        if (operand == NONE || seen[operand])
            continue;
        seen[operand] = true;
        vec_push(written, operand);
    }
    mem_free(seen);
}

uint32_t effects_returned(struct effects *effects, uint32_t graph, uint32_t n)
{
    require(effects, graph);
    return effects->graphs[graph].state == EFFECTS_DONE &&
                   n < effects->module->graphs.at[graph].returns.count
               ? effects->graphs[graph].returned[n]
               : NONE;
}

void effects_of_op(struct effects *effects, const struct op *op, struct op_effects *found)
{
    struct callee callee;
    uint32_t carried = NONE;
    found->written.count = found->shared.count = 0;
    for (uint32_t n = 0; op_callee(effects->module, op, n, &callee); n++) {
        if (callee.graph == NONE)
            continue;
        require(effects, callee.graph);
        const struct graph_effects *of = &effects->graphs[callee.graph];
        for (uint32_t i = 0; i < effects->module->graphs.at[callee.graph].n_params; i++)
            if (of->written[i] && operand_of(op, i) != NONE)
                vec_push(&found->written, operand_of(op, i));
        for (uint32_t i = 0; i < of->shared.count; i++)
            vec_push(&found->shared, of->shared.at[i]);
        carried = callee.role == ROLE_CARRIED ? callee.graph : carried;
    }
    if (carried != NONE)
        follow_carried(effects, carried, op, &found->written);
}
