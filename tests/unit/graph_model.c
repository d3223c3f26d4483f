#include "tests/unit/graph_model.h"

#include <string.h>

static const struct attr *find_attr(const struct module *module, const struct op *op,
                                    const char *key)
{
    for (uint32_t i = 0; i < op->attrs.count; i++) {
        const struct attr *attr = &module->attrs.at[op->attrs.first + i];
        if (name_is(module, attr->key, key))
            return attr;
    }
    return NULL;
}

static bool is_passive(const struct module *module, const struct op *op)
{
    static const char *const types[] = {
        "Data",         "RefData",     "Variable",    "Const", "Constant", "ConstPlaceHolder",
        "FileConstant", "PlaceHolder", "Placeholder", "Send",  "Recv",     "SendMem",
        "RecvMem",      "SendNotify",  "RecvNotify"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (name_is(module, op->type, types[i]))
            return true;
    return false;
}

/* Those of random graphs: their one result is the memory of their one operand. */
static bool is_view(const struct module *module, const struct op *op)
{
    return name_is(module, op->type, "Reshape") && op->kernel == NONE;
}

static uint32_t lane_of(const struct module *module, const struct block *superkernel)
{
    for (uint32_t i = 0; i < superkernel->attrs.count; i++) {
        const struct attr *attr = &module->attrs.at[superkernel->attrs.first + i];
        if (name_is(module, attr->key, "stream"))
            return name_is(module, attr->value.id, "0") ? NONE : attr->value.id;
    }
    return NONE;
}

/* Walks outwards, so the innermost block of each kind counts. The stream "0" is the default one. */
static void place_op(struct graph_model *model, const struct module *module,
                     const struct graph *graph, unsigned nr)
{
    bool scoped = false, streamed = false;
    model->stream[nr] = model->scope[nr] = model->superkernel[nr] = model->around[nr] = NONE;
    for (uint32_t b = graph->ops.at[model->id[nr]].block; b != NONE;
         b = graph->blocks.at[b].parent) {
        const struct block *block = &graph->blocks.at[b];
        if (block->kind == BLOCK_STREAM && !streamed && !name_is(module, block->name, "0"))
            model->stream[nr] = block->name;
        streamed |= block->kind == BLOCK_STREAM;
        if (block->kind == BLOCK_SCOPE && !scoped)
            model->scope[nr] = block->name;
        scoped |= block->kind == BLOCK_SCOPE || block->kind == BLOCK_SCOPE_NONE;
        if (block->kind != BLOCK_SUPERKERNEL && block->kind != BLOCK_SUPERKERNEL_REST)
            continue;
        uint32_t whole = block->kind == BLOCK_SUPERKERNEL ? b : block->whole;
        model->around[nr] = graph->blocks.at[whole].name;
        if (!scoped) {
            model->superkernel[nr] = graph->blocks.at[whole].name;
            model->lane[nr] = lane_of(module, &graph->blocks.at[whole]);
        }
    }
    if (model->superkernel[nr] == NONE)
        model->lane[nr] = model->stream[nr];
}

static bool number_ops(struct graph_model *model, const struct module *module,
                       const struct graph *graph)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; i < graph->body.count; i++) {
        if (item_kind(graph->body.at[i]) != ITEM_OP)
            continue;
        uint32_t id = item_id(graph->body.at[i]);
        const struct attr *nr = find_attr(module, &graph->ops.at[id], "nr");
        if (!nr || nr->value.kind != ATTR_INT || nr->value.i < 0 || nr->value.i >= MODEL_MAX_OPS ||
            seen >> nr->value.i & 1)
            return false;
        seen |= (uint64_t)1 << nr->value.i;
        model->id[nr->value.i] = id;
        model->position[nr->value.i] = model->count++;
    }
    return model->count == graph->ops.count && !(seen & (seen + 1));
}

static bool defines_any(const struct graph *graph, uint32_t earlier, struct range refs)
{
    for (uint32_t i = 0; i < refs.count; i++)
        if (graph->values.at[graph->refs.at[refs.first + i]].def == earlier)
            return true;
    return false;
}

static bool share_ref(const struct graph *graph, struct range a, struct range b)
{
    for (uint32_t i = 0; i < a.count; i++)
        for (uint32_t j = 0; j < b.count; j++)
            if (graph->refs.at[a.first + i] == graph->refs.at[b.first + j])
                return true;
    return false;
}

/* The n-th buffer that the op names under the key, alone or in a list; NONE behind the last. */
static uint32_t nth_buffer(const struct module *module, const struct op *op, const char *key,
                           uint32_t n)
{
    const struct attr *attr = find_attr(module, op, key);
    if (attr && attr->value.kind == ATTR_STRING)
        return n == 0 ? attr->value.id : NONE;
    if (attr && attr->value.kind == ATTR_LIST && n < attr->value.count)
        return module->attr_values.at[attr->value.first + n].id;
    return NONE;
}

static bool names_buffer(const struct module *module, const struct op *op, const char *key,
                         uint32_t buffer)
{
    for (uint32_t n = 0, name; (name = nth_buffer(module, op, key, n)) != NONE; n++)
        if (name == buffer)
            return true;
    return false;
}

/* The operand whose memory a value is by its op, or NONE. */
static uint32_t alias_of(const struct module *module, const struct graph *graph, uint32_t value)
{
    uint32_t def = graph->values.at[value].def;
    if (def == DEF_PARAM)
        return NONE;
    const struct op *op = &graph->ops.at[def];
    const struct attr *attr = find_attr(module, op, "alias");
    if (!attr)
        return is_view(module, op) ? op_operands(graph, op)[0] : NONE;
    const struct attr_value *place =
        &module->attr_values.at[attr->value.first + (value - op->results.first)];
    return place->kind == ATTR_INT ? op_operands(graph, op)[place->i] : NONE;
}

/* Whether two values are one memory: both go back to the same value. */
static bool is_one_memory(const struct module *module, const struct graph *graph, uint32_t a,
                          uint32_t b)
{
    for (uint32_t next; (next = alias_of(module, graph, a)) != NONE;)
        a = next;
    for (uint32_t next; (next = alias_of(module, graph, b)) != NONE;)
        b = next;
    return a == b;
}

static bool writes_value(const struct module *module, const struct graph *graph,
                         const struct op *op, uint32_t value)
{
    const struct attr *attr = find_attr(module, op, "inplace");
    for (uint32_t i = 0; attr && i < attr->value.count; i++)
        if (is_one_memory(module, graph, value,
                          op_operands(graph, op)[module->attr_values.at[attr->value.first + i].i]))
            return true;
    return false;
}

/* Whether both ops access one memory, the first of them writing. */
static bool write_meets(const struct module *module, const struct graph *graph,
                        const struct op *writer, const struct op *other)
{
    for (uint32_t i = 0; i < other->operands.count; i++)
        if (writes_value(module, graph, writer, op_operands(graph, other)[i]))
            return true;
    for (uint32_t n = 0, buffer; (buffer = nth_buffer(module, writer, "writes", n)) != NONE; n++)
        if (names_buffer(module, other, "reads", buffer) ||
            names_buffer(module, other, "writes", buffer))
            return true;
    return false;
}

static bool is_behind_memory(const struct graph_model *model, const struct module *module,
                             const struct graph *graph, unsigned to, unsigned from)
{
    const struct op *late = &graph->ops.at[model->id[to]];
    const struct op *early = &graph->ops.at[model->id[from]];
    return model->position[from] < model->position[to] &&
           (write_meets(module, graph, early, late) || write_meets(module, graph, late, early));
}

/* What its super kernel sends or receives, where the op is the last or first of its stream. */
static struct range launch_events(const struct graph_model *model, const struct graph *graph,
                                  unsigned nr, bool send)
{
    const struct range none = {0, 0};
    if (model->superkernel[nr] == NONE || model->passive[nr])
        return none;
    for (unsigned i = 0; i < model->count; i++)
        if (model->superkernel[i] == model->superkernel[nr] && !model->passive[i] &&
            model->stream[i] == model->stream[nr] &&
            (send ? model->position[i] > model->position[nr]
                  : model->position[i] < model->position[nr]))
            return none;
    for (uint32_t b = 0; b < graph->blocks.count; b++)
        if (graph->blocks.at[b].kind == BLOCK_SUPERKERNEL &&
            graph->blocks.at[b].name == model->superkernel[nr])
            return send ? graph->blocks.at[b].send : graph->blocks.at[b].recv;
    return none;
}

/* Whether op `to` waits for op `from` by what it says, or its super kernel. */
static bool is_behind(const struct graph_model *model, const struct graph *graph, unsigned to,
                      unsigned from)
{
    const struct op *late = &graph->ops.at[model->id[to]];
    const struct op *early = &graph->ops.at[model->id[from]];
    struct range send[2] = {op_clauses(graph, early)->send,
                            launch_events(model, graph, from, true)};
    struct range recv[2] = {op_clauses(graph, late)->recv, launch_events(model, graph, to, false)};
    return defines_any(graph, model->id[from], op_clauses(graph, late)->after) ||
           share_ref(graph, send[0], recv[0]) || share_ref(graph, send[0], recv[1]) ||
           share_ref(graph, send[1], recv[0]) || share_ref(graph, send[1], recv[1]);
}

/* Whether an op that executes nothing, before op `to` on its stream, waits for op `from` by what it
 * says. */
static bool is_held_up(const struct graph_model *model, const struct module *module,
                       const struct graph *graph, unsigned to, unsigned from)
{
    for (unsigned i = 0; i < model->count && !model->passive[to]; i++)
        if (model->passive[i] && model->stream[i] == model->stream[to] &&
            model->position[i] < model->position[to] && is_behind(model, graph, i, from) &&
            !find_attr(module, &graph->ops.at[model->id[i]], "off_stream"))
            return true;
    return false;
}

/* Whether op `from` is the one before op `to` on its stream. */
static bool is_next(const struct graph_model *model, unsigned to, unsigned from)
{
    if (model->position[from] > model->position[to] || model->stream[to] != model->stream[from] ||
        model->passive[to] || model->passive[from])
        return false;
    for (unsigned i = 0; i < model->count; i++)
        if (model->stream[i] == model->stream[to] && !model->passive[i] &&
            model->position[i] > model->position[from] && model->position[i] < model->position[to])
            return false;
    return true;
}

/* The edge of the language, if there is one, by which op `to` waits for op `from`. */
static void add_edge(struct graph_model *model, const struct module *module,
                     const struct graph *graph, unsigned to, unsigned from)
{
    bool memory = is_behind_memory(model, module, graph, to, from);
    bool data = defines_any(graph, model->id[from], graph->ops.at[model->id[to]].operands);
    model->read_before[to] |= (uint64_t)memory << from;
    model->before_start[to] |= (uint64_t)(memory || data) << from;
    bool other = is_behind(model, graph, to, from) || is_next(model, to, from) ||
                 is_held_up(model, module, graph, to, from);
    model->needs[to] |= (uint64_t)(memory || data || other) << from;
}

static void close_transitively(uint64_t *needs, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        for (unsigned i = 0; i < count; i++)
            if (needs[i] >> k & 1)
                needs[i] |= needs[k];
}

/* Accesses to one memory are a chain: who comes behind one that comes behind another does not come
 * behind that by itself. */
static void drop_through_memory(struct graph_model *model, const struct module *module,
                                const struct graph *graph)
{
    for (unsigned to = 0; to < model->count; to++)
        for (unsigned from = 0; from < model->count; from++) {
            bool chained = false;
            bool other =
                defines_any(graph, model->id[from], graph->ops.at[model->id[to]].operands) ||
                is_behind(model, graph, to, from) || is_next(model, to, from) ||
                is_held_up(model, module, graph, to, from);
            for (unsigned i = 0; i < model->count && !other; i++)
                chained = chained ||
                          (model->read_before[to] >> i & 1 && model->read_before[i] >> from & 1);
            if (from != to && !other && chained && is_behind_memory(model, module, graph, to, from))
                model->direct[to] &= ~((uint64_t)1 << from);
        }
}

bool graph_model_init(struct graph_model *model, const struct module *module,
                      const struct graph *graph)
{
    memset(model, 0, sizeof *model);
    if (graph->ops.count > MODEL_MAX_OPS || !number_ops(model, module, graph))
        return false;
    for (unsigned i = 0; i < model->count; i++) {
        place_op(model, module, graph, i);
        model->view[i] = is_view(module, &graph->ops.at[model->id[i]]);
        model->passive[i] = model->view[i] || is_passive(module, &graph->ops.at[model->id[i]]);
    }
    for (unsigned i = 0; i < model->count; i++)
        for (unsigned j = 0; j < model->count; j++)
            if (i != j)
                add_edge(model, module, graph, i, j);
    memcpy(model->direct, model->needs, sizeof model->direct);
    drop_through_memory(model, module, graph);
    close_transitively(model->needs, model->count);
    return true;
}

bool graph_model_contracts(const struct graph_model *model, const uint32_t *group)
{
    uint64_t needs[MODEL_MAX_OPS] = {0};
    unsigned node[MODEL_MAX_OPS]; /* the first op of its group */
    for (unsigned i = 0; i < model->count; i++) {
        for (node[i] = 0; node[i] < i; node[i]++)
            if (group[i] != NONE && group[node[i]] == group[i])
                break;
    }
    for (unsigned i = 0; i < model->count; i++)
        for (unsigned j = 0; j < model->count; j++)
            if (model->needs[i] >> j & 1 && node[i] != node[j])
                needs[node[i]] |= (uint64_t)1 << node[j];
    close_transitively(needs, model->count);
    for (unsigned i = 0; i < model->count; i++)
        if (needs[i] >> i & 1)
            return false;
    return true;
}

static bool is_free(const struct graph_model *model, uint64_t beside, uint32_t stream)
{
    for (unsigned i = 0; i < model->count; i++)
        if ((beside >> i & 1) && !model->passive[i] && model->stream[i] == stream)
            return false;
    return true;
}

/* Of the group of an op, what lies between its ops. */
static uint64_t between(const struct graph_model *model, const uint32_t *group, unsigned first)
{
    uint64_t own = 0, before = 0, found = 0;
    for (unsigned i = 0; i < model->count; i++)
        if (group[i] == group[first] && !model->passive[i]) {
            own |= (uint64_t)1 << i;
            before |= model->needs[i];
        }
    for (unsigned i = 0; i < model->count; i++)
        if (group[i] != group[first] && before >> i & 1 && model->needs[i] & own)
            found |= (uint64_t)1 << i;
    return found;
}

static bool has_stream(const struct graph_model *model, const uint32_t *group, unsigned first,
                       uint64_t beside, const uint32_t *launch)
{
    bool found = false;
    if (launch)
        return is_free(model, beside, launch[first]);
    for (unsigned i = 0; i < model->count && !found; i++)
        found = group[i] == group[first] && !model->passive[i] &&
                is_free(model, beside, model->stream[i]);
    return found;
}

bool graph_model_join(const struct graph_model *model, const uint32_t *group, uint64_t plain,
                      const uint32_t *launch, uint32_t *joined)
{
    bool ok = true;
    memcpy(joined, group, model->count * sizeof *joined);
    for (unsigned i = 0; i < model->count; i++) {
        bool first = group[i] != NONE;
        for (unsigned j = 0; j < i && first; j++)
            first = group[j] != group[i];
        uint64_t beside = first ? between(model, group, i) : 0;
        ok = ok && !(beside & ~plain) && (!beside || has_stream(model, group, i, beside, launch));
        for (unsigned j = 0; j < model->count && ok; j++)
            if (beside >> j & 1) {
                ok = joined[j] == NONE;
                joined[j] = group[i];
            }
    }
    return ok;
}

/* What is launched by itself: the ops of a group, or one op. */
struct side {
    uint64_t ops;
    bool group, fixed;
    uint32_t stream;
};

struct sides {
    const struct graph_model *model;
    struct side at[MODEL_MAX_OPS];
    unsigned count, tries;
};

enum { MOST_TRIES = 20000 };

static uint64_t ones(unsigned bit)
{
    return (uint64_t)1 << bit;
}

/* Has all of `late` behind all of `early`. Whether nothing is behind itself then. */
static bool put_behind(const struct sides *sides, uint64_t *needs, uint64_t late, uint64_t early)
{
    for (unsigned i = 0; i < sides->model->count; i++)
        if (late >> i & 1)
            needs[i] |= early;
    close_transitively(needs, sides->model->count);
    for (unsigned i = 0; i < sides->model->count; i++)
        if (needs[i] >> i & 1)
            return false;
    return true;
}

/* What is launched together with an op, and where in the text that begins. */
static void find_launches(const struct graph_model *model, uint64_t *launch, unsigned *begin)
{
    const uint32_t *superkernel = model->superkernel;
    for (unsigned i = 0; i < model->count; i++) {
        begin[i] = model->position[i];
        launch[i] = 0;
        for (unsigned j = 0; j < model->count; j++) {
            bool same = i == j || (superkernel[i] != NONE && superkernel[i] == superkernel[j]);
            if (!same || model->passive[i] || model->passive[j])
                continue;
            launch[i] |= ones(j);
            begin[i] = model->position[j] < begin[i] ? model->position[j] : begin[i];
        }
    }
}

void graph_model_launched(const struct graph_model *model, uint64_t *needs)
{
    uint64_t launch[MODEL_MAX_OPS];
    unsigned begin[MODEL_MAX_OPS];
    find_launches(model, launch, begin);
    memcpy(needs, model->needs, sizeof model->needs);
    for (unsigned i = 0; i < model->count; i++)
        for (unsigned j = 0; j < model->count; j++)
            if (launch[i] && launch[j] && model->lane[i] == model->lane[j] && begin[j] < begin[i])
                needs[i] |= launch[j];
    close_transitively(needs, model->count);
}

bool graph_model_runs(const struct graph_model *model)
{
    uint64_t needs[MODEL_MAX_OPS], launch[MODEL_MAX_OPS];
    unsigned begin[MODEL_MAX_OPS];
    find_launches(model, launch, begin);
    graph_model_launched(model, needs);
    for (unsigned i = 0; i < model->count; i++)
        for (unsigned j = 0; j < model->count; j++)
            if (launch[i] && launch[i] == launch[j] && model->position[j] < model->position[i])
                needs[i] |= ones(j);
    return put_behind(&(struct sides){.model = model}, needs, 0, 0);
}

static bool needs_any(const struct sides *sides, const uint64_t *needs, uint64_t late,
                      uint64_t early)
{
    for (unsigned i = 0; i < sides->model->count; i++)
        if ((late >> i & 1) && (needs[i] & early))
            return true;
    return false;
}

static bool place_side(struct sides *sides, const uint64_t *needs, unsigned nr);

/* Orders side `nr` against those from `other` on that have its stream; then goes on. */
static bool order_side(struct sides *sides, const uint64_t *needs, unsigned nr, unsigned other)
{
    const struct side *a = &sides->at[nr], *b = &sides->at[other];
    uint64_t next[MODEL_MAX_OPS];
    if (other == nr)
        return place_side(sides, needs, nr + 1);
    if (a->stream != b->stream || (!a->group && !b->group))
        return order_side(sides, needs, nr, other + 1);
    if (sides->tries++ > MOST_TRIES)
        return false;
    memcpy(next, needs, sizeof next);
    if (!needs_any(sides, needs, b->ops, a->ops) && put_behind(sides, next, a->ops, b->ops) &&
        order_side(sides, next, nr, other + 1))
        return true;
    memcpy(next, needs, sizeof next);
    return !needs_any(sides, needs, a->ops, b->ops) && put_behind(sides, next, b->ops, a->ops) &&
           order_side(sides, next, nr, other + 1);
}

static bool place_side(struct sides *sides, const uint64_t *needs, unsigned nr)
{
    const struct graph_model *model = sides->model;
    uint64_t met = 0;
    if (nr == sides->count)
        return true;
    struct side *side = &sides->at[nr];
    if (side->fixed)
        return order_side(sides, needs, nr, 0);
    for (unsigned i = 0; i < model->count; i++) {
        bool again = false;
        if (!(side->ops >> i & 1) || model->passive[i])
            continue;
        for (unsigned j = 0; j < i; j++)
            again = again || ((met >> j & 1) && model->stream[j] == model->stream[i]);
        met |= ones(i);
        side->stream = model->stream[i];
        if (!again && order_side(sides, needs, nr, 0))
            return true;
    }
    return false;
}

bool graph_model_parallel(const struct graph_model *model, const uint32_t *group)
{
    struct sides sides = {.model = model};
    for (unsigned i = 0; i < model->count; i++) {
        struct side side = {.ops = ones(i),
                            .group = group[i] != NONE,
                            .fixed = model->superkernel[i] != NONE,
                            .stream = model->lane[i]};
        bool first = !model->passive[i];
        for (unsigned j = 0; j < model->count; j++) {
            bool same = group[i] != NONE && group[j] == group[i] && !model->passive[j];
            first = first && !(same && j < i);
            side.ops |= same ? ones(j) : 0;
        }
        if (first)
            sides.at[sides.count++] = side;
    }
    return place_side(&sides, model->needs, 0);
}

uint64_t graph_model_inner(const struct graph_model *model, unsigned nr)
{
    uint64_t inner = 0, through = 0, found = 0, met = (uint64_t)1 << nr, before = 0;
    for (unsigned i = 0; i < model->count; i++) {
        bool own = model->superkernel[i] == model->superkernel[nr];
        inner |= (uint64_t)(own && !model->passive[i]) << i;
        /* what stands elsewhere conducts by events */
        through |= (uint64_t)(own || (model->passive[i] && model->around[i] != NONE)) << i;
    }
    while (met != before) {
        before = met;
        for (unsigned i = 0; i < model->count; i++)
            if (met >> i & 1)
                found |= model->direct[i];
        met |= found & through;
    }
    return found & inner;
}
