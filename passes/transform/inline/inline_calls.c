/* inline-calls: puts the ops of called graphs in the place of PartitionedCall and
 * StatefulPartitionedCall.
 *
 * needs    nothing
 * changes  graphs that call: ops, values, blocks; graphs that nobody calls any more are taken out
 * keeps    the order that is demanded, and no more than it; parameters and results of graphs
 *
 * A call is left, with a remark, where what it means cannot be said by ops in its place.
 */
#include "ir/analysis/dep_graph.h"
#include "ir/analysis/modref.h"
#include "ir/core/calls.h"
#include "ir/syntax/locate.h"
#include "passes/manager/pass.h"
#include "passes/transform/inline/graph.h"

#include <string.h>

/* Graphs that call each other in many ways would become larger than anybody wants: so many ops may
 * be added to a module, or so many times those that it has. */
enum { MAX_ADDED_OPS = 1 << 16, MAX_ADDED_TIMES = 4 };

/* Why no call of a graph is replaced. */
enum refusal {
    REFUSED_NOT,
    REFUSED_SUPERKERNELS,
    REFUSED_DIMENSIONS,
    REFUSED_VALUES,
};

struct callee_facts {
    bool known;
    enum refusal refusal;
    struct inline_ends ends;
};

struct inliner {
    struct pass_context *context;
    struct module *module;
    struct effects *effects;
    struct callee_facts *facts;      /* by graph */
    const struct inline_ends **ends; /* the same */
    uint8_t *done, *replaced;        /* the same: was looked at; a call of it was replaced */
    uint64_t room;                   /* ops that may still be added */
};

/* The graph that is being looked at. */
struct caller {
    struct inliner *inliner;
    const struct graph *graph;
    struct order order;
    struct memories memories;
    struct id_map writers; /* by value that stands for a memory: the op that writes it, or MANY */
    struct id_map launch_sends, launch_receives;
    uint32_t *callee; /* by op: the graph that takes its place, or NONE */
};

#define MANY (NONE - 1)

/* ------------------------------------------------------------------- what can be called ---- */

static bool names_value(const struct module *module, const struct attr_value *value)
{
    if (value->kind == ATTR_VALUE)
        return true;
    for (uint32_t i = 0; value->kind == ATTR_LIST && i < value->count; i++)
        if (names_value(module, &module->attr_values.at[value->first + i]))
            return true;
    for (uint32_t i = 0; value->kind == ATTR_DICT && i < value->count; i++)
        if (names_value(module, &module->attrs.at[value->first + i].value))
            return true;
    return false;
}

static bool has_named_dims(const struct module *module, const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->values.count; i++) {
        uint32_t type = graph->values.at[i].type;
        for (uint32_t d = 0; type != NONE && d < type_n_dims(&module->types.at[type]); d++)
            if (dim_is_gear(type_dims(module, type)[d]))
                return true;
    }
    return graph->gears.count > 0;
}

static enum refusal graph_refusal(const struct module *module, const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->blocks.count; i++)
        if (graph->blocks.at[i].kind == BLOCK_SUPERKERNEL)
            return REFUSED_SUPERKERNELS;
    for (uint32_t i = 0; i < graph->ops.count; i++)
        for (uint32_t a = 0; a < graph->ops.at[i].attrs.count; a++)
            if (names_value(module, &module->attrs.at[graph->ops.at[i].attrs.first + a].value))
                return REFUSED_VALUES;
    return has_named_dims(module, graph) ? REFUSED_DIMENSIONS : REFUSED_NOT;
}

/* Whether the call has a name where the graph, which has none, has a number: it may be another. */
static bool names_number(const struct module *module, uint32_t called, uint32_t given)
{
    if (called == NONE || given == NONE)
        return false;
    const struct type *c = &module->types.at[called], *g = &module->types.at[given];
    for (uint32_t i = 0; i < type_n_dims(c) && i < type_n_dims(g); i++)
        if (dim_is_gear(type_dims(module, given)[i]) && type_dims(module, called)[i] >= 0)
            return true;
    return false;
}

static bool call_names_number(const struct caller *caller, const struct op *op, uint32_t called)
{
    const struct module *module = caller->inliner->module;
    const struct graph *graph = &module->graphs.at[called];
    const struct value *values = caller->graph->values.at;
    bool any = false;
    for (uint32_t i = 0; i < graph->n_params && !any; i++)
        any = names_number(module, graph->values.at[i].type,
                           values[op_operands(caller->graph, op)[i]].type);
    for (uint32_t i = 0; i < graph->result_types.count && !any; i++)
        any = names_number(module, graph->result_types.at[i], values[op->results.first + i].type);
    return any;
}

/* Its own calls are replaced by then. */
static const struct callee_facts *facts_of(struct inliner *inliner, uint32_t id)
{
    struct callee_facts *facts = &inliner->facts[id];
    if (facts->known)
        return facts;
    facts->known = true;
    facts->refusal = graph_refusal(inliner->module, &inliner->module->graphs.at[id]);
    if (facts->refusal == REFUSED_NOT)
        inline_ends_find(&facts->ends, inliner->module, &inliner->module->graphs.at[id],
                         inliner->effects);
    inliner->ends[id] = &facts->ends;
    return facts;
}

/* ------------------------------------------------------------------------------ memory ---- */

static void add_writer(struct caller *caller, uint32_t value, uint32_t op)
{
    uint32_t *writer = id_map_at(&caller->writers, memory_of(&caller->memories, value));
    *writer = *writer == NONE || *writer == op ? op : MANY;
}

/* Variables of called graphs are one memory with those of this one. */
static void find_writers(struct caller *caller)
{
    const struct module *module = caller->inliner->module;
    const struct graph *graph = caller->graph;
    struct op_effects called = {.written = {NULL, 0, 0}};
    struct id_map variables = {NULL, 0, 0}; /* values, by name */
    for (uint32_t id = 0; id < graph->ops.count; id++) {
        const struct op *op = &graph->ops.at[id];
        uint32_t name = op->attrs.count ? op_shared_name(module, op) : NONE;
        if (name != NONE && op->results.count)
            id_map_set(&variables, name, op->results.first);
    }
    for (uint32_t id = 0; id < graph->ops.count; id++) {
        const struct op *op = &graph->ops.at[id];
        struct op_write write = {0};
        while (op_next_write(module, graph, op, &write))
            add_writer(caller, write.operand, id);
        if (op_call_kind(op) == CALL_NONE)
            continue;
        effects_of_op(caller->inliner->effects, op, &called);
        for (uint32_t i = 0; i < called.written.count; i++)
            add_writer(caller, op_operands(graph, op)[called.written.at[i]], id);
        for (uint32_t i = 0; i < called.shared.count; i++) {
            const struct shared_effect *shared = &called.shared.at[i];
            uint32_t value = shared->variable ? id_map_find(&variables, shared->name) : NONE;
            if (shared->write && value != NONE)
                add_writer(caller, value, id);
        }
    }
    id_map_free(&variables);
    op_effects_free(&called);
}

static bool is_written_beside(const struct caller *caller, uint32_t value, uint32_t op)
{
    uint32_t writer = id_map_find(&caller->writers, memory_of(&caller->memories, value));
    return writer != NONE && writer != op;
}

/* Whether the memory of a returned value has another name as well: it is a variable's, or that of
 * another returned value. */
static bool is_shared(const struct inliner *inliner, const struct graph *graph,
                      const struct memories *memories, uint32_t n)
{
    uint32_t memory = memory_of(memories, graph->returns.at[n]);
    for (uint32_t i = 0; i < graph->returns.count; i++)
        if (i != n && memory_of(memories, graph->returns.at[i]) == memory)
            return true;
    uint32_t def = graph->values.at[memory].def;
    return def < graph->ops.count && op_is_variable(inliner->module, &graph->ops.at[def]);
}

/* A result is a copy; in place of the call it would be the very memory. That is no difference where
 * the call says that it is (`alias`), or nobody else writes either. */
static bool result_is_copy(const struct caller *caller, uint32_t id, uint32_t called,
                           const struct memories *memories, uint32_t n)
{
    const struct inliner *inliner = caller->inliner;
    const struct graph *graph = &inliner->module->graphs.at[called];
    const struct op *op = &caller->graph->ops.at[id];
    uint32_t param = effects_returned(inliner->effects, called, n);
    if (op_alias(inliner->module, caller->graph, op, n) != NONE)
        return false;
    if (param == NONE && !is_shared(inliner, graph, memories, n))
        return false;
    if (param != NONE && is_written_beside(caller, op_operands(caller->graph, op)[param], id))
        return true;
    uint32_t def = graph->values.at[memory_of(memories, graph->returns.at[n])].def;
    return is_written_beside(caller, op->results.first + n, id) ||
           (def < graph->ops.count && op_is_variable(inliner->module, &graph->ops.at[def]));
}

static bool has_copies(const struct caller *caller, uint32_t id, uint32_t called)
{
    const struct graph *graph = &caller->inliner->module->graphs.at[called];
    struct memories memories;
    bool any = false;
    memories_init(&memories, caller->inliner->module, graph);
    for (uint32_t n = 0; !any && n < graph->returns.count; n++)
        any = result_is_copy(caller, id, called, &memories, n);
    memories_free(&memories);
    return any;
}

/* ------------------------------------------------------------------------------ calls ---- */

/* Whether a super kernel as a whole is at the other side of an event of the call. */
static bool any_of_launches(const struct caller *caller, struct range events,
                            const struct id_map *of_launches)
{
    for (uint32_t i = 0; i < events.count; i++)
        if (id_map_find(of_launches, caller->graph->refs.at[events.first + i]) != NONE)
            return true;
    return false;
}

/* Why the call is left, as a clause about it; NULL: it is replaced. */
static const char *why_left(struct caller *caller, uint32_t id, uint32_t called)
{
    struct inliner *inliner = caller->inliner;
    const struct module *module = inliner->module;
    const struct op *op = &caller->graph->ops.at[id];
    const struct callee_facts *facts = facts_of(inliner, called);
    switch (facts->refusal) {
    case REFUSED_SUPERKERNELS: return "its graph has super kernels";
    case REFUSED_DIMENSIONS: return "its graph has dimensions with names";
    case REFUSED_VALUES: return "an attribute in its graph names a value";
    case REFUSED_NOT: break;
    }
    if (graph_superkernel(caller->graph, op->block) != NONE)
        return "it is in a super kernel";
    if (call_names_number(caller, op, called))
        return "its graph has numbers where dimensions of the call have names";
    if (attr_find(module, op->attrs, W_inplace) || attr_find(module, op->attrs, W_reads) ||
        attr_find(module, op->attrs, W_writes))
        return "it says itself what it reads or writes";
    const struct clauses *clauses = op_clauses(caller->graph, op);
    if ((facts->ends.last.count != 1 &&
         any_of_launches(caller, clauses->send, &caller->launch_receives)) ||
        (facts->ends.first.count == 0 &&
         any_of_launches(caller, clauses->recv, &caller->launch_sends)))
        return "a super kernel as a whole waits for it, or it for one, and its graph does not "
               "start or end with one op";
    if (module->graphs.at[called].ops.count > inliner->room)
        return "the module would become too large, by more than 65536 ops and four times those "
               "that it had";
    if (has_copies(caller, id, called))
        return "a result is a copy of memory that another op writes; 'alias' says that it is none";
    return NULL;
}

static void look_at_call(struct caller *caller, uint32_t id)
{
    struct inliner *inliner = caller->inliner;
    const struct op *op = &caller->graph->ops.at[id];
    struct callee callee;
    if (op_call_kind(op) != CALL_ONCE || !op_callee(inliner->module, op, 0, &callee))
        return;
    const char *reason = why_left(caller, id, callee.graph);
    if (reason) {
        diag_at(inliner->context->diags, DIAG_call_left,
                locate_op(inliner->module, op, OP_TYPE_NAME, 0), "this call is left: %s", reason);
        return;
    }
    caller->callee[id] = callee.graph;
    inliner->room -= inliner->module->graphs.at[callee.graph].ops.count;
    inliner->replaced[callee.graph] = 1;
}

static void find_launch_events(const struct caller *caller, uint32_t key, struct id_map *blocks)
{
    struct event_sides sides = event_sides_find(caller->graph, key);
    for (uint32_t i = 0; i < sides.count; i++)
        if (sides.at[i].op == NONE)
            id_map_set(blocks, sides.at[i].event, sides.at[i].block);
    vec_free(&sides);
}

static bool calls_once(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->ops.count; i++)
        if (op_call_kind(&graph->ops.at[i]) == CALL_ONCE)
            return true;
    return false;
}

/* Graphs that this one calls have been looked at. */
static void look_at_graph(struct inliner *inliner, uint32_t id)
{
    struct graph *graph = &inliner->module->graphs.at[id];
    if (!calls_once(graph))
        return;
    struct caller caller = {.inliner = inliner,
                            .graph = graph,
                            .callee = mem_realloc(NULL, graph->ops.count, sizeof *caller.callee)};
    memset(caller.callee, 0xff, graph->ops.count * sizeof *caller.callee);
    order_init_with(&caller.order, inliner->module, graph, inliner->effects);
    memories_init(&caller.memories, inliner->module, graph);
    find_writers(&caller);
    find_launch_events(&caller, W_send, &caller.launch_sends);
    find_launch_events(&caller, W_recv, &caller.launch_receives);
    bool any = false;
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        look_at_call(&caller, i);
        any |= caller.callee[i] != NONE;
    }
    if (any)
        inline_graph(&(struct inline_plan){.module = inliner->module,
                                           .order = &caller.order,
                                           .callee = caller.callee,
                                           .ends = inliner->ends,
                                           .launch_sends = &caller.launch_sends,
                                           .launch_receives = &caller.launch_receives},
                     graph);
    order_free(&caller.order);
    memories_free(&caller.memories);
    id_map_free(&caller.writers);
    id_map_free(&caller.launch_sends);
    id_map_free(&caller.launch_receives);
    mem_free(caller.callee);
}

/* ------------------------------------------------------------------------- the module ---- */

struct place {
    uint32_t graph, op, callee;
};

/* Looks at a graph when all are done that it calls. */
static void look_behind_callees(struct inliner *inliner, uint32_t root)
{
    VEC(struct place) way = {NULL, 0, 0};
    vec_push(&way, (struct place){root, 0, 0});
    inliner->done[root] = 1;
    while (way.count) {
        struct place *place = &way.at[way.count - 1];
        const struct graph *graph = &inliner->module->graphs.at[place->graph];
        struct callee callee;
        if (place->op == graph->ops.count) {
            look_at_graph(inliner, place->graph);
            way.count--;
        } else if (!op_callee(inliner->module, &graph->ops.at[place->op], place->callee, &callee)) {
            place->op++;
            place->callee = 0;
        } else {
            place->callee++;
            if (!inliner->done[callee.graph])
                vec_push(&way, (struct place){callee.graph, 0, 0});
            inliner->done[callee.graph] = 1;
        }
    }
    vec_free(&way);
}

static void mark_symbols(const struct module *module, const struct attr_value *value,
                         uint8_t *unused)
{
    uint32_t graph = NONE;
    if (value->kind == ATTR_SYMBOL)
        graph = module_find(module, SYMBOL_GRAPH, value->id);
    if (graph != NONE)
        unused[graph] = 0;
    for (uint32_t i = 0; value->kind == ATTR_LIST && i < value->count; i++)
        mark_symbols(module, &module->attr_values.at[value->first + i], unused);
    for (uint32_t i = 0; value->kind == ATTR_DICT && i < value->count; i++)
        mark_symbols(module, &module->attrs.at[value->first + i].value, unused);
}

/* Graphs of which all calls were replaced, and that nothing else names. */
static void drop_unused(struct inliner *inliner)
{
    struct module *module = inliner->module;
    const char *kept = inliner->context->graph;
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        if (kept && name_is(module, graph->name, kept))
            inliner->replaced[i] = 0;
        for (uint32_t j = 0; j < graph->ops.count; j++)
            for (uint32_t a = 0; a < graph->ops.at[j].attrs.count; a++)
                mark_symbols(module, &module->attrs.at[graph->ops.at[j].attrs.first + a].value,
                             inliner->replaced);
    }
    module_drop(module, SYMBOL_GRAPH, inliner->replaced);
}

bool pass_inline_calls(struct pass_context *context)
{
    struct module *module = context->module;
    uint32_t n = module->graphs.count;
    uint64_t room = 0;
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        any = any || calls_once(&module->graphs.at[i]);
        room += (uint64_t)module->graphs.at[i].ops.count * MAX_ADDED_TIMES;
    }
    if (!any)
        return true;
    struct inliner inliner = {.context = context,
                              .module = module,
                              .effects = effects_new(module),
                              .room = room > MAX_ADDED_OPS ? room : MAX_ADDED_OPS,
                              .facts = mem_calloc(n, sizeof *inliner.facts),
                              .ends = mem_calloc(n, sizeof *inliner.ends),
                              .done = mem_calloc(n, 1),
                              .replaced = mem_calloc(n, 1)};
    for (uint32_t i = 0; i < n; i++)
        if (!inliner.done[i])
            look_behind_callees(&inliner, i);
    for (uint32_t i = 0; i < n; i++)
        inline_ends_free(&inliner.facts[i].ends);
    effects_free(inliner.effects);
    drop_unused(&inliner);
    mem_free(inliner.facts);
    mem_free(inliner.ends);
    mem_free(inliner.done);
    mem_free(inliner.replaced);
    return true;
}
