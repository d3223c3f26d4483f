#include "ir/analysis/modref.h"
#include "ir/core/calls.h"
#include "ir/core/sk_options.h"
#include "ir/optypes/op_types.h"
#include "passes/lower/launch.h"
#include "passes/residency/residency_graph.h"

#include <string.h>

/* Rows are added in the order of the text. */
struct adder {
    struct graph_launches *launches;
    struct analyses *analyses;
    struct called_launches *called;
    const struct order *order;
    const struct members *members;
    struct id_map event_of;  /* by name id: number */
    struct id_map stream_of; /* by name id: number */
    uint32_t default_stream;
    struct id_map sender_of; /* by event's name id: the super kernel that an op of it sends from */
    uint8_t *wide;           /* per op: whoever knows it to be complete knows of all blocks */
};

/* ------------------------------------------------------------------- events, streams ---- */

static uint32_t event_number(struct adder *adder, uint32_t name)
{
    uint32_t *number = id_map_at(&adder->event_of, name);
    if (*number == NONE) {
        *number = adder->launches->events.count;
        vec_push(&adder->launches->events, name);
    }
    return *number;
}

static uint32_t stream_number(struct adder *adder, uint32_t label)
{
    uint32_t *number = label == NONE ? &adder->default_stream : id_map_at(&adder->stream_of, label);
    if (*number == NONE) {
        *number = adder->launches->streams.count;
        vec_push(&adder->launches->streams, label);
    }
    return *number;
}

static uint32_t superkernel_of(const struct graph *graph, uint32_t op)
{
    return graph_superkernel(graph, graph->ops.at[op].block);
}

static void find_senders(struct adder *adder)
{
    const struct graph *graph = adder->launches->graph;
    for (uint32_t op = 0; op < graph->ops.count; op++) {
        struct range sends = op_clauses(graph, &graph->ops.at[op])->send;
        uint32_t block = superkernel_of(graph, op);
        for (uint32_t i = 0; i < sends.count && block != NONE; i++)
            id_map_set(&adder->sender_of, graph->refs.at[sends.first + i], block);
    }
}

/* ------------------------------------------------------------------------- shapes ---- */

static enum block_shape shape_of(enum kernel_type type)
{
    const struct kernel_type_info *info = kernel_type_info(type);
    if (!info->aics)
        return SHAPE_VECTOR;
    return info->aivs == 0 ? SHAPE_CUBE : info->aivs == 1 ? SHAPE_MIX_1_1 : SHAPE_MIX_1_2;
}

static const struct kernel *op_kernel(const struct adder *adder, uint32_t op)
{
    const struct graph_launches *launches = adder->launches;
    return module_kernel(launches->module, launches->graph->ops.at[op].kernel);
}

static bool has_barriers(const struct adder *adder, uint32_t op)
{
    return attr_flag(adder->launches->module, op_kernel(adder, op)->attrs, W_sync_all);
}

static struct launch_ops ops_of(const struct graph_launches *launches,
                                const struct members *members, uint32_t block)
{
    return (struct launch_ops){.module = launches->module,
                               .graph = launches->graph,
                               .superkernel = &launches->graph->blocks.at[block],
                               .ops = members->ops + members->first[block],
                               .count = members->first[block + 1] - members->first[block]};
}

/* The launch that a super kernel is, or will be; one that cannot be is refused elsewhere. */
static struct launch superkernel_launch(const struct adder *adder, uint32_t block)
{
    const struct graph_launches *launches = adder->launches;
    const struct module *module = launches->module;
    const struct block *superkernel = &launches->graph->blocks.at[block];
    const struct entry *entry = block_entry(module, superkernel);
    if (entry)
        return (struct launch){entry->type, (uint32_t)attr_int(module, entry->attrs, W_block, 1)};
    struct launch launch;
    struct diags unheard;
    diags_init(&unheard, NULL, NULL);
    struct launch_ops ops = ops_of(launches, adder->members, block);
    ops.diags = &unheard;
    if (!launch_choose(&launch, &ops))
        launch = (struct launch){KERNEL_aiv_only, 1};
    diags_free(&unheard);
    return launch;
}

static struct launch_row *add_row(struct adder *adder, struct launch_source source, uint32_t label,
                                  enum block_shape shape, uint32_t blocks)
{
    struct graph_launches *launches = adder->launches;
    vec_push(&launches->sources, source);
    return launch_table_add(&launches->table, stream_number(adder, label), shape, blocks);
}

/* ------------------------------------------------------------------------- single ops ---- */

static void add_called(struct adder *adder, struct launch_source source, uint32_t label);

static void add_events(struct adder *adder, struct range events,
                       void (*add)(struct launch_table *table, uint32_t event))
{
    struct graph_launches *launches = adder->launches;
    for (uint32_t i = 0; i < events.count; i++)
        add(&launches->table, event_number(adder, launches->graph->refs.at[events.first + i]));
}

static void add_op(struct adder *adder, uint32_t op)
{
    const struct graph *graph = adder->launches->graph;
    const struct clauses *clauses = op_clauses(graph, &graph->ops.at[op]);
    uint32_t label = adder->order->stream[op];
    struct launch_source source = {NONE, op};
    if (op_call_kind(&graph->ops.at[op]) != CALL_NONE) {
        add_called(adder, source, label);
    } else {
        const struct kernel *kernel = op_kernel(adder, op);
        bool none = op_has_no_cores(adder->launches->module, &graph->ops.at[op]);
        uint32_t blocks = none ? 0 : kernel_blocks(adder->launches->module, kernel);
        add_row(adder, source, label, shape_of(kernel->type), blocks)->keeps =
            has_barriers(adder, op) && blocks > 1;
    }
    add_events(adder, clauses->recv, launch_table_wait);
    add_events(adder, clauses->send, launch_table_send);
}

/* ---------------------------------------------------------------------- super kernels ---- */

/* Whether its op on several AI cores is known to be complete only by a barrier over all. */
static bool is_wide(const struct adder *adder, uint32_t op, struct launch launch)
{
    const struct kernel *kernel = op_kernel(adder, op);
    uint32_t blocks = kernel_blocks(adder->launches->module, kernel);
    const struct kernel_type_info *in = kernel_type_info(launch.type);
    return kernel_type_info(kernel->type)->flat && in->aics ? blocks > in->aivs : blocks > 1;
}

/* Whether each op of a super kernel is behind the one before it. Of entries that are there, no more
 * is known than what the graph demands. */
static bool is_list(const struct adder *adder, uint32_t block)
{
    const struct graph_launches *launches = adder->launches;
    const struct module *module = launches->module;
    const struct block *superkernel = &launches->graph->blocks.at[block];
    const uint32_t *first = adder->members->first;
    struct sk_options options;
    if (block_entry(module, superkernel))
        return false;
    sk_options_of(&options, module, attr_string(module, superkernel->attrs, W_options));
    if (options.of[SK_stream_fusion].number == 0)
        return true;
    for (uint32_t i = first[block] + 1; i < first[block + 1]; i++)
        if (!order_follows(adder->order, adder->members->ops[i - 1], adder->members->ops[i]))
            return false;
    return true;
}

/* Marks ops that no core can know to be complete before all blocks have theirs. */
static void find_wide(struct adder *adder, uint32_t block, struct launch launch)
{
    const struct order *order = adder->order;
    const uint32_t *first = adder->members->first, *ops = adder->members->ops;
    bool list = is_list(adder, block);
    for (uint32_t i = first[block]; i < first[block + 1]; i++) {
        uint32_t op = ops[i];
        adder->wide[op] =
            is_wide(adder, op, launch) || (list && i > first[block] && adder->wide[ops[i - 1]]);
        for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++) {
            uint32_t from = order->edges[e].from;
            if (superkernel_of(adder->launches->graph, from) == block)
                adder->wide[op] |= adder->wide[from];
        }
    }
}

/* Whether an event that an op of a super kernel receives comes from outside of it. */
static bool is_outer(const struct adder *adder, uint32_t block, uint32_t event)
{
    return id_map_find(&adder->sender_of, event) != block;
}

/* Where an event is received: nowhere but in its sender's super kernel, or elsewhere too. What
 * nobody receives in the graph is for others. */
enum { INSIDE, OUTSIDE };

/* Events between ops of one super kernel are order inside. */
static void add_steps(struct adder *adder, uint32_t block, uint32_t op,
                      const struct id_map *received)
{
    struct graph_launches *launches = adder->launches;
    const struct graph *graph = launches->graph;
    const struct clauses *clauses = op_clauses(graph, &graph->ops.at[op]);
    for (uint32_t i = 0; i < clauses->recv.count; i++) {
        uint32_t event = graph->refs.at[clauses->recv.first + i];
        if (is_outer(adder, block, event))
            launch_table_step(&launches->table, STEP_WAIT, event_number(adder, event), op);
    }
    for (uint32_t i = 0; i < clauses->send.count; i++) {
        uint32_t event = graph->refs.at[clauses->send.first + i];
        if (id_map_find(received, event) == INSIDE)
            continue;
        launch_table_step(&launches->table, STEP_NOTIFY, event_number(adder, event), op)->early =
            !adder->wide[op];
    }
}

/* Whether two ops run on different core types. */
static bool are_apart(const struct adder *adder, uint32_t op, uint32_t other)
{
    const struct kernel_type_info *one = kernel_type_info(op_kernel(adder, op)->type),
                                  *two = kernel_type_info(op_kernel(adder, other)->type);
    return (!one->aics || !two->aics) && (!one->aivs || !two->aivs);
}

/* Marks the ops of a super kernel that one of them follows: by edges of the order, or on its
 * stream. */
static void mark_before(const struct adder *adder, uint32_t op, struct id_map *before)
{
    const struct order *order = adder->order;
    const struct graph *graph = adder->launches->graph;
    const uint32_t *first = adder->members->first, *ops = adder->members->ops;
    uint32_t block = superkernel_of(graph, op);
    struct vec_u32 open = {NULL, 0, 0};
    id_map_clear(before);
    vec_push(&open, op);
    while (open.count) {
        uint32_t at = open.at[--open.count];
        for (uint32_t e = order->first[at]; e < order->first[at + 1]; e++) {
            uint32_t from = order->edges[e].from;
            if (superkernel_of(graph, from) == block && id_map_find(before, from) == NONE) {
                id_map_set(before, from, 1);
                vec_push(&open, from);
            }
        }
    }
    for (uint32_t i = first[block]; i < first[block + 1]; i++)
        if (order->stream[ops[i]] == order->stream[op] &&
            order->position[ops[i]] < order->position[op])
            id_map_set(before, ops[i], 1);
    vec_free(&open);
}

/* The place of a notification that comes before waits of other core types which its op does not
 * follow: those right before it, up to one that it has to come after. */
static uint32_t place_before_waits(const struct adder *adder, const struct launch_step *steps,
                                   uint32_t at, struct id_map *before)
{
    uint32_t to = at;
    for (uint32_t i = at; i-- > 0;) {
        if (steps[i].kind == STEP_NOTIFY)
            continue;
        if (!are_apart(adder, steps[i].user, steps[at].user))
            break;
        if (to == at)
            mark_before(adder, steps[at].user, before);
        if (id_map_find(before, steps[i].user) != NONE)
            break;
        to = i;
    }
    return to;
}

/* Predicts the order of the last row's steps: its programs run independently. */
static void predict_order(const struct adder *adder, uint32_t block)
{
    struct launch_table *table = &adder->launches->table;
    struct range range = table->rows.at[table->rows.count - 1].steps;
    struct launch_step *steps = range.count ? table->steps.at + range.first : NULL;
    struct id_map before = {NULL, 0, 0};
    bool list = is_list(adder, block);
    for (uint32_t i = 1; i < range.count && !list; i++) {
        struct launch_step step = steps[i];
        if (step.kind == STEP_WAIT)
            continue;
        uint32_t to = place_before_waits(adder, steps, i, &before);
        memmove(steps + to + 1, steps + to, (i - to) * sizeof *steps);
        steps[to] = step;
    }
    id_map_free(&before);
}

/* ------------------------------------------------------------------- steps of entries ---- */

/* A flag that a program sets: what it has done before. */
struct flag_set {
    uint32_t steps; /* how many it has passed */
    bool met;       /* whether it has passed a barrier, so that all blocks have cores */
};

/* Both programs of an entry, run as far as flags let them. */
struct entry_walk {
    const struct entry *entry;
    struct id_map wait_of, notify_of; /* by event's name id: its step */
    struct launch_step *steps;        /* in the order of the graph */
    uint8_t *reached;                 /* by step */
    VEC(struct launch_step) order;    /* as the programs come to them */
    struct program_walk {
        uint32_t at;    /* the next instruction */
        uint32_t waits; /* how many flags of the other program it has waited for */
        uint32_t steps; /* how many it has passed */
        uint32_t after; /* how many steps of the other program come before its next one */
        bool met;       /* it is after a barrier */
        VEC(struct flag_set) sets;
    } programs[CORE_TYPES];
};

/* The step that an instruction is, or NONE. */
static uint32_t step_of(const struct entry_walk *walk, const struct instr *instr)
{
    if (instr->word || (instr->op != INSTR_wait_event && instr->op != INSTR_notify))
        return NONE;
    return id_map_find(instr->op == INSTR_notify ? &walk->notify_of : &walk->wait_of,
                       instr->number[0]);
}

static void reach_step(struct entry_walk *walk, int core, uint32_t index)
{
    struct program_walk *program = &walk->programs[core];
    if (walk->reached[index])
        return;
    struct launch_step step = walk->steps[index];
    walk->reached[index] = 1;
    step.early = step.kind == STEP_NOTIFY && !program->met;
    step.lane = (uint8_t)core;
    step.after = program->after;
    vec_push(&walk->order, step);
    program->steps++;
}

/* False: it waits for a flag that is not set yet. */
static bool pass_instr(struct entry_walk *walk, int core, const struct instr *instr)
{
    struct program_walk *program = &walk->programs[core], *other = &walk->programs[1 - core];
    const struct kernel_type_info *type = kernel_type_info(walk->entry->type);
    enum instr_effect effect = instr_info((enum instr_op)instr->op)->effect;
    uint32_t step = step_of(walk, instr);
    if (step != NONE)
        reach_step(walk, core, step);
    if (effect == EFFECT_WAIT && type->aics && type->aivs) {
        if (program->waits == other->sets.count)
            return false;
        struct flag_set set = other->sets.at[program->waits++];
        program->met = program->met || set.met;
        program->after = program->after < set.steps ? set.steps : program->after;
    }
    if (effect == EFFECT_SET)
        vec_push(&program->sets, ((struct flag_set){program->steps, program->met}));
    program->met = program->met || instr_awaits(instr, (enum core_type)core);
    return true;
}

static void walk_programs(struct entry_walk *walk)
{
    bool any = true;
    while (any) {
        any = false;
        for (int core = 0; core < CORE_TYPES; core++) {
            const struct program *program = &walk->entry->programs[core];
            uint32_t *at = &walk->programs[core].at;
            while (*at < program->instrs.count &&
                   pass_instr(walk, core, &program->instrs.at[*at])) {
                (*at)++;
                any = true;
            }
        }
    }
}

/* Puts the steps of the last row in an order in which its entry comes to them. Steps of one program
 * are in one lane. Those that the programs do not have, or do not come to, are last. */
static void order_steps(struct graph_launches *launches, const struct entry *entry)
{
    struct launch_table *table = &launches->table;
    struct range range = table->rows.at[table->rows.count - 1].steps;
    if (range.count == 0)
        return;
    struct launch_step *steps = table->steps.at + range.first;
    struct entry_walk walk = {.entry = entry, .steps = steps};
    walk.reached = mem_calloc(range.count, 1);
    for (uint32_t i = 0; i < range.count; i++)
        id_map_set(steps[i].kind == STEP_WAIT ? &walk.wait_of : &walk.notify_of,
                   launches->events.at[steps[i].event], i);
    walk_programs(&walk);
    bool both = walk.programs[CORE_AIC].steps && walk.programs[CORE_AIV].steps;
    for (uint32_t i = 0; i < walk.order.count && !both; i++)
        walk.order.at[i].lane = 0;
    for (uint32_t i = 0; i < range.count; i++)
        if (!walk.reached[i])
            vec_push(&walk.order, steps[i]);
    memcpy(steps, walk.order.at, range.count * sizeof *steps);
    id_map_free(&walk.wait_of);
    id_map_free(&walk.notify_of);
    vec_free(&walk.programs[CORE_AIC].sets);
    vec_free(&walk.programs[CORE_AIV].sets);
    vec_free(&walk.order);
    mem_free(walk.reached);
}

/* ------------------------------------------------------------ rows of super kernels ---- */

/* Whether debug-sync-all puts a barrier even behind one op. */
static bool is_debugged(const struct adder *adder, uint32_t block)
{
    const struct module *module = adder->launches->module;
    struct range attrs = adder->launches->graph->blocks.at[block].attrs;
    struct sk_options options;
    return sk_options_of(&options, module, attr_string(module, attrs, W_options)) &&
           options.of[SK_debug_sync_all].number;
}

/* Whether the passes put barriers between its ops, or around one: for halves that its kernel does
 * itself, and before the lock of a dynamic kernel is reset, as all cores pass its `select` first.
 */
static bool gets_barriers(const struct adder *adder, uint32_t block)
{
    const struct module *module = adder->launches->module;
    uint32_t first = adder->members->first[block], end = adder->members->first[block + 1];
    bool barriers = end - first > 1;
    for (uint32_t i = first; i < end && !barriers; i++) {
        const struct kernel *kernel = op_kernel(adder, adder->members->ops[i]);
        barriers = has_barriers(adder, adder->members->ops[i]) ||
                   attr_flag(module, kernel->attrs, W_dynamic) ||
                   kernel_early_start(module, kernel) & (EARLY_SET | EARLY_WAIT_MIX);
    }
    return barriers;
}

/* Whether its blocks wait for each other. An entry that is there, and synchronised, says so. */
static bool keeps_cores(const struct adder *adder, uint32_t block, struct launch launch)
{
    const struct module *module = adder->launches->module;
    const struct entry *entry = block_entry(module, &adder->launches->graph->blocks.at[block]);
    bool barriers = entry && entry_has_barriers(module, entry);
    if (!entry || !entry_is_synchronised(entry))
        barriers = barriers || gets_barriers(adder, block);
    return launch.blocks > 1 && (barriers || is_debugged(adder, block));
}

/* Whether the text has the order of the list: else a place in one is none in the other. */
static bool is_in_order(const struct adder *adder, uint32_t block)
{
    const uint32_t *first = adder->members->first, *ops = adder->members->ops;
    for (uint32_t i = first[block] + 1; i < first[block + 1]; i++)
        if (adder->order->position[ops[i]] < adder->order->position[ops[i - 1]])
            return false;
    return true;
}

static void add_superkernel(struct adder *adder, uint32_t block, const struct id_map *received)
{
    struct graph_launches *launches = adder->launches;
    const struct module *module = launches->module;
    const struct block *superkernel = &launches->graph->blocks.at[block];
    struct launch launch = superkernel_launch(adder, block);
    uint32_t label = attr_string(module, superkernel->attrs, W_stream);
    struct launch_row *row =
        add_row(adder, (struct launch_source){block, NONE},
                label == NONE ? NONE : stream_label(label), shape_of(launch.type), launch.blocks);
    row->keeps = keeps_cores(adder, block, launch);
    const struct entry *entry = block_entry(module, superkernel);
    row->sealed = attr_flag(module, superkernel->attrs, W_fixed_slots) ||
                  (entry && entry->loc != NONE) || !is_in_order(adder, block);
    find_wide(adder, block, launch);
    add_events(adder, superkernel->recv, launch_table_wait);
    for (uint32_t i = adder->members->first[block]; i < adder->members->first[block + 1]; i++)
        add_steps(adder, block, adder->members->ops[i], received);
    if (entry)
        order_steps(launches, entry);
    else
        predict_order(adder, block);
    add_events(adder, superkernel->send, launch_table_send);
}

/* ------------------------------------------------------------------------- graphs ---- */

/* Sets where the events are received that somebody in the graph receives, by name id. */
static void find_received(const struct adder *adder, struct id_map *received)
{
    const struct graph *graph = adder->launches->graph;
    for (uint32_t op = 0; op < graph->ops.count; op++) {
        struct range recvs = op_clauses(graph, &graph->ops.at[op])->recv;
        uint32_t block = superkernel_of(graph, op);
        for (uint32_t i = 0; i < recvs.count; i++) {
            uint32_t event = graph->refs.at[recvs.first + i];
            if (block == NONE || is_outer(adder, block, event))
                id_map_set(received, event, OUTSIDE);
            else if (id_map_find(received, event) == NONE)
                id_map_set(received, event, INSIDE);
        }
    }
    for (uint32_t b = 0; b < graph->blocks.count; b++)
        for (uint32_t i = 0; i < graph->blocks.at[b].recv.count; i++)
            id_map_set(received, graph->refs.at[graph->blocks.at[b].recv.first + i], OUTSIDE);
}

static void add_all(struct adder *adder)
{
    const struct graph *graph = adder->launches->graph;
    struct id_map received = {NULL, 0, 0};
    uint8_t *added = mem_calloc(graph->blocks.count, 1);
    find_received(adder, &received);
    for (uint32_t i = 0; i < adder->order->n_ops; i++) {
        uint32_t op = adder->order->text[i], block = superkernel_of(graph, op);
        if (block == NONE && !adder->order->passive[op])
            add_op(adder, op);
        if (block != NONE && !adder->order->passive[op] && !added[block]) {
            add_superkernel(adder, block, &received);
            added[block] = 1;
        }
    }
    mem_free(added);
    id_map_free(&received);
}

void graph_launches_init(struct graph_launches *launches, struct analyses *analyses,
                         struct called_launches *called, const struct module *module,
                         const struct graph *graph)
{
    *launches = (struct graph_launches){.module = module, .graph = graph};
    launches->table.device =
        (struct device){module_cores(module, CORE_AIC), module_cores(module, CORE_AIV)};
    struct adder adder = {.launches = launches,
                          .analyses = analyses,
                          .called = called,
                          .order = analyses_order(analyses, module, graph),
                          .members = analyses_members(analyses, module, graph),
                          .default_stream = NONE,
                          .wide = mem_calloc(graph->ops.count, 1)};
    find_senders(&adder);
    add_all(&adder);
    launches->table.n_events = launches->events.count;
    mem_free(adder.wide);
    id_map_free(&adder.event_of);
    id_map_free(&adder.stream_of);
    id_map_free(&adder.sender_of);
}

void graph_launches_free(struct graph_launches *launches)
{
    launch_table_free(&launches->table);
    vec_free(&launches->sources);
    vec_free(&launches->events);
    vec_free(&launches->streams);
}

/* ------------------------------------------------------------------------- called graphs ---- */

void called_launches_init(struct called_launches *called, const struct module *module)
{
    called->count = module->graphs.count;
    called->at = mem_calloc(called->count, sizeof *called->at);
}

void called_launches_free(struct called_launches *called)
{
    mem_free(called->at);
}

/* The most cores that launches of a stream have, those of all streams together. */
static void sum_streams(struct called_launch *sum, const struct launch_table *table)
{
    uint32_t *most = mem_calloc(2 * (size_t)table->n_streams, sizeof *most);
    for (uint32_t i = 0; i < table->rows.count; i++) {
        const struct launch_row *row = &table->rows.at[i];
        const struct shape_info *shape = shape_info(row->shape);
        uint32_t blocks = row->keeps || row->blocks == 0 ? row->blocks : 1,
                 *at = most + 2 * (size_t)row->stream;
        sum->keeps = sum->keeps || row->keeps;
        at[0] = at[0] < blocks * shape->aics ? blocks * shape->aics : at[0];
        at[1] = at[1] < blocks * shape->aivs ? blocks * shape->aivs : at[1];
    }
    for (uint32_t i = 0; i < table->n_streams; i++) {
        sum->aics += most[2 * i];
        sum->aivs += most[2 * i + 1];
    }
    mem_free(most);
}

static const struct called_launch *called_launch(struct adder *adder, uint32_t graph)
{
    struct called_launch *launch = &adder->called->at[graph];
    const struct module *module = adder->launches->module;
    struct graph_launches inner;
    if (launch->known)
        return launch;
    launch->known = true;
    graph_launches_init(&inner, adder->analyses, adder->called, module, &module->graphs.at[graph]);
    sum_streams(launch, &inner.table);
    graph_launches_free(&inner);
    return launch;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* An op that calls graphs is as one launch that has what launches of any of them have at a time. */
static void add_called(struct adder *adder, struct launch_source source, uint32_t label)
{
    struct graph_launches *launches = adder->launches;
    const struct op *op = &launches->graph->ops.at[source.op];
    const struct device *device = &launches->table.device;
    struct called_launch most = {.keeps = false};
    struct callee callee;
    for (uint32_t n = 0; op_callee(launches->module, op, n, &callee); n++) {
        const struct called_launch *one = called_launch(adder, callee.graph);
        most.keeps = most.keeps || one->keeps;
        most.aics = most.aics < one->aics ? one->aics : most.aics;
        most.aivs = most.aivs < one->aivs ? one->aivs : most.aivs;
    }
    enum block_shape shape = most.aivs == 0   ? SHAPE_CUBE
                             : most.aics == 0 ? SHAPE_VECTOR
                                              : SHAPE_MIX_1_2;
    uint32_t blocks = shape == SHAPE_CUBE     ? least(most.aics, device->aics)
                      : shape == SHAPE_VECTOR ? least(most.aivs, device->aivs)
                      : most.aics < (most.aivs + 1) / 2
                          ? least((most.aivs + 1) / 2, least(device->aics, device->aivs / 2))
                          : least(most.aics, least(device->aics, device->aivs / 2));
    add_row(adder, source, label, shape, blocks ? blocks : 1)->keeps = most.keeps && blocks > 1;
}
