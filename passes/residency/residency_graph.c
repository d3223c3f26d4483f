#include "passes/residency/residency_graph.h"
#include "ir/analysis/modref.h"
#include "ir/core/calls.h"
#include "ir/core/kernel.h"
#include "ir/core/sk_options.h"
#include "ir/optypes/op_types.h"
#include "passes/lower/launch.h"

#include <string.h>

/* Rows are added in the order of the text. */
struct adder {
    struct graph_launches *launches;
    struct analyses *analyses;
    struct called_launches *called;
    const struct order *order;
    const struct members *members;
    struct id_map event_of;  /* by name id: number */
    struct id_map stream_of; /* by label + 1, 0 for the default stream: number */
    struct outer_events outer;
    uint8_t *wide; /* per op: whoever knows it to be complete knows of all blocks */
};

/* The ops of a super kernel, in list order. */
struct member_ops {
    const uint32_t *at;
    uint32_t count;
};

static struct member_ops ops_of(const struct adder *adder, uint32_t block)
{
    const uint32_t *first = adder->members->first;
    return (struct member_ops){adder->members->ops + first[block], first[block + 1] - first[block]};
}

static uint32_t superkernel_of(const struct adder *adder, uint32_t op)
{
    const struct graph *graph = adder->launches->graph;
    return graph_superkernel(graph, graph->ops.at[op].block);
}

static const struct kernel *op_kernel(const struct adder *adder, uint32_t op)
{
    const struct graph_launches *launches = adder->launches;
    return module_kernel(launches->module, launches->graph->ops.at[op].kernel);
}

/* ------------------------------------------------------------------------- rows ---- */

/* The number of a name, which is given when it is met first. */
static uint32_t number_of(struct id_map *numbers, uint32_t key, struct vec_u32 *names,
                          uint32_t name)
{
    uint32_t *number = id_map_at(numbers, key);
    if (*number == NONE) {
        *number = names->count;
        vec_push(names, name);
    }
    return *number;
}

static uint32_t event_number(struct adder *adder, uint32_t name)
{
    return number_of(&adder->event_of, name, &adder->launches->events, name);
}

static struct launch_row *add_row(struct adder *adder, struct launch_source source, uint32_t label,
                                  enum block_shape shape, uint32_t blocks)
{
    struct graph_launches *launches = adder->launches;
    vec_push(&launches->sources, source);
    return launch_table_add(&launches->table,
                            number_of(&adder->stream_of, label + 1, &launches->streams, label),
                            shape, blocks);
}

static void add_events(struct adder *adder, struct range events,
                       void (*add)(struct launch_table *table, uint32_t event))
{
    struct graph_launches *launches = adder->launches;
    for (uint32_t i = 0; i < events.count; i++)
        add(&launches->table, event_number(adder, launches->graph->refs.at[events.first + i]));
}

static enum block_shape shape_of(enum kernel_type type)
{
    const struct kernel_type_info *info = kernel_type_info(type);
    if (!info->aics)
        return SHAPE_VECTOR;
    return info->aivs == 0 ? SHAPE_CUBE : info->aivs == 1 ? SHAPE_MIX_1_1 : SHAPE_MIX_1_2;
}

/* ------------------------------------------------------------------------- single ops ---- */

/* What a graph needs whose launches run where another graph's op calls it: the most cores that
 * launches of a stream have, those of all streams together. */
static const struct called_launch *called_launch(struct adder *adder, uint32_t graph)
{
    struct called_launch *sum = &adder->called->at[graph];
    const struct module *module = adder->launches->module;
    struct graph_launches inner;
    if (sum->known)
        return sum;
    sum->known = true;
    graph_launches_init(&inner, adder->analyses, adder->called, module, &module->graphs.at[graph]);
    struct launch_table *table = &inner.table;
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
    graph_launches_free(&inner);
    return sum;
}

/* An op that calls graphs is as one launch that has what launches of any of them have at a time. */
static void add_called(struct adder *adder, uint32_t op, uint32_t label)
{
    struct graph_launches *launches = adder->launches;
    const struct device *device = &launches->table.device;
    struct called_launch most = {.keeps = false};
    struct callee callee;
    for (uint32_t n = 0; op_callee(launches->module, &launches->graph->ops.at[op], n, &callee);
         n++) {
        const struct called_launch *one = called_launch(adder, callee.graph);
        most.keeps = most.keeps || one->keeps;
        most.aics = most.aics < one->aics ? one->aics : most.aics;
        most.aivs = most.aivs < one->aivs ? one->aivs : most.aivs;
    }
    enum block_shape shape = SHAPE_MIX_1_2;
    uint32_t pairs = (most.aivs + 1) / 2, blocks = most.aics < pairs ? pairs : most.aics,
             room = device->aivs / 2 < device->aics ? device->aivs / 2 : device->aics;
    if (most.aivs == 0) {
        shape = SHAPE_CUBE;
        room = device->aics;
    } else if (most.aics == 0) {
        shape = SHAPE_VECTOR;
        blocks = most.aivs;
        room = device->aivs;
    }
    blocks = blocks < room ? blocks : room;
    add_row(adder, (struct launch_source){NONE, op}, label, shape, blocks ? blocks : 1)->keeps =
        most.keeps && blocks > 1;
}

static void add_op(struct adder *adder, uint32_t id)
{
    const struct module *module = adder->launches->module;
    const struct op *op = &adder->launches->graph->ops.at[id];
    const struct clauses *clauses = op_clauses(adder->launches->graph, op);
    uint32_t label = adder->order->stream[id];
    if (op_call_kind(op) != CALL_NONE) {
        add_called(adder, id, label);
    } else {
        const struct kernel *kernel = op_kernel(adder, id);
        uint32_t blocks = op_has_no_cores(module, op) ? 0 : kernel_blocks(module, kernel);
        add_row(adder, (struct launch_source){NONE, id}, label, shape_of(kernel->type), blocks)
            ->keeps = blocks > 1 && attr_flag(module, kernel->attrs, W_sync_all);
    }
    add_events(adder, clauses->recv, launch_table_wait);
    add_events(adder, clauses->send, launch_table_send);
}

/* ---------------------------------------------------------------------- super kernels ---- */

/* The launch that a super kernel is, or will be; one that cannot be is refused elsewhere. */
static struct launch superkernel_launch(const struct adder *adder, uint32_t block,
                                        const struct entry *entry)
{
    const struct graph_launches *launches = adder->launches;
    const struct module *module = launches->module;
    struct member_ops ops = ops_of(adder, block);
    struct launch launch;
    struct diags unheard;
    if (entry)
        return (struct launch){entry->type, (uint32_t)attr_int(module, entry->attrs, W_block, 1)};
    diags_init(&unheard, NULL, NULL);
    const struct launch_ops of = {.module = module,
                                  .diags = &unheard,
                                  .graph = launches->graph,
                                  .superkernel = &launches->graph->blocks.at[block],
                                  .ops = ops.at,
                                  .count = ops.count};
    if (!launch_choose(&launch, &of))
        launch = (struct launch){KERNEL_aiv_only, 1};
    diags_free(&unheard);
    return launch;
}

/* Whether its blocks wait for each other: an entry that is there, and synchronised, shows it.
 * Before, the passes put barriers between its ops, or around one: for halves that its kernel does
 * itself, before the lock of a dynamic kernel is reset, as all cores pass its `select` first, and
 * with debug-sync-all even behind one op. */
static bool keeps_cores(const struct adder *adder, uint32_t block, const struct entry *entry,
                        const struct sk_options *options)
{
    const struct module *module = adder->launches->module;
    struct member_ops ops = ops_of(adder, block);
    if (options->of[SK_debug_sync_all].number || (entry && entry_has_barriers(module, entry)))
        return true;
    bool barriers = ops.count > 1;
    for (uint32_t i = 0; i < ops.count && !barriers; i++) {
        const struct kernel *kernel = op_kernel(adder, ops.at[i]);
        barriers = attr_flag(module, kernel->attrs, W_sync_all) ||
                   attr_flag(module, kernel->attrs, W_dynamic) ||
                   kernel_early_start(module, kernel) & (EARLY_SET | EARLY_WAIT_MIX);
    }
    return barriers && !(entry && entry_is_synchronised(entry));
}

/* Whether each op comes after the one before it. Of entries that are there, no more is known than
 * what the graph demands. */
static bool is_list(const struct adder *adder, struct member_ops ops, const struct entry *entry,
                    const struct sk_options *options)
{
    bool list = !entry;
    for (uint32_t i = 1; i < ops.count && list && options->of[SK_stream_fusion].number; i++)
        list = order_follows(adder->order, ops.at[i - 1], ops.at[i]);
    return list;
}

/* Marks ops that no core can know to be complete before all blocks have theirs: on several AI
 * cores, and so complete only by a barrier over all, or after such an op. */
static void find_wide(struct adder *adder, uint32_t block, struct launch launch, bool list)
{
    const struct order *order = adder->order;
    struct member_ops ops = ops_of(adder, block);
    const struct kernel_type_info *in = kernel_type_info(launch.type);
    for (uint32_t i = 0; i < ops.count; i++) {
        uint32_t op = ops.at[i];
        const struct kernel *kernel = op_kernel(adder, op);
        bool flat = kernel_type_info(kernel->type)->flat && in->aics;
        adder->wide[op] = kernel_blocks(adder->launches->module, kernel) > (flat ? in->aivs : 1) ||
                          (list && i > 0 && adder->wide[ops.at[i - 1]]);
        for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++)
            if (superkernel_of(adder, order->edges[e].from) == block)
                adder->wide[op] |= adder->wide[order->edges[e].from];
    }
}

/* Events between ops of one super kernel are order inside. */
static void add_steps(struct adder *adder, uint32_t block, uint32_t op)
{
    struct graph_launches *launches = adder->launches;
    const struct graph *graph = launches->graph;
    const struct clauses *clauses = op_clauses(graph, &graph->ops.at[op]);
    for (uint32_t i = 0; i < clauses->recv.count; i++) {
        uint32_t event = graph->refs.at[clauses->recv.first + i];
        if (outer_events_waits(&adder->outer, block, event))
            launch_table_step(&launches->table, STEP_WAIT, event_number(adder, event), op);
    }
    for (uint32_t i = 0; i < clauses->send.count; i++) {
        uint32_t event = graph->refs.at[clauses->send.first + i];
        if (outer_events_notifies(&adder->outer, event))
            launch_table_step(&launches->table, STEP_NOTIFY, event_number(adder, event), op)
                ->early = !adder->wide[op];
    }
}

/* ------------------------------------------------------------- steps before entries ---- */

/* Marks the ops of a super kernel that one of them follows: by edges of the order, or on its
 * stream. */
static void mark_before(const struct adder *adder, uint32_t op, struct id_map *before)
{
    const struct order *order = adder->order;
    uint32_t block = superkernel_of(adder, op);
    struct member_ops ops = ops_of(adder, block);
    struct vec_u32 open = {NULL, 0, 0};
    id_map_clear(before);
    vec_push(&open, op);
    while (open.count) {
        uint32_t at = open.at[--open.count];
        for (uint32_t e = order->first[at]; e < order->first[at + 1]; e++) {
            uint32_t from = order->edges[e].from;
            if (superkernel_of(adder, from) == block && id_map_find(before, from) == NONE) {
                id_map_set(before, from, 1);
                vec_push(&open, from);
            }
        }
    }
    for (uint32_t i = 0; i < ops.count; i++)
        if (order->stream[ops.at[i]] == order->stream[op] &&
            order->position[ops.at[i]] < order->position[op])
            id_map_set(before, ops.at[i], 1);
    vec_free(&open);
}

/* Predicts the order of a row's steps, as its programs run independently: a notification comes
 * before waits on other core types that its op does not follow, of those right before it. */
static void predict_order(const struct adder *adder, struct launch_step *steps, uint32_t count)
{
    struct id_map before = {NULL, 0, 0};
    for (uint32_t i = 1; i < count; i++) {
        struct launch_step step = steps[i];
        const struct kernel_type_info *own = kernel_type_info(op_kernel(adder, step.user)->type);
        uint32_t to = i;
        for (uint32_t k = i; k-- > 0 && step.kind == STEP_NOTIFY;) {
            const struct kernel_type_info *other =
                kernel_type_info(op_kernel(adder, steps[k].user)->type);
            if (steps[k].kind == STEP_NOTIFY)
                continue;
            if ((own->aics && other->aics) || (own->aivs && other->aivs))
                break;
            if (to == i)
                mark_before(adder, step.user, &before);
            if (id_map_find(&before, steps[k].user) != NONE)
                break;
            to = k;
        }
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
    struct id_map step_of;          /* by 2 * name id of the event + kind: its step */
    struct launch_step *steps;      /* in the order of the graph; lane LANES: passed */
    VEC(struct launch_step) passed; /* as the programs come to them */
    struct program_walk {
        uint32_t at;    /* the next instruction */
        uint32_t waits; /* how many flags of the other program it has waited for */
        uint32_t steps; /* how many it has passed */
        uint32_t after; /* how many steps of the other program come before its next one */
        bool met;       /* it is after a barrier */
        VEC(struct flag_set) sets;
    } programs[CORE_TYPES];
};

static uint32_t *step_of(struct entry_walk *walk, uint32_t event, enum step_kind kind)
{
    return id_map_at(&walk->step_of, 2 * event + (kind == STEP_NOTIFY));
}

/* False: it waits for a flag that is not set yet. */
static bool pass_instr(struct entry_walk *walk, int core, const struct instr *instr)
{
    struct program_walk *program = &walk->programs[core], *other = &walk->programs[1 - core];
    const struct kernel_type_info *type = kernel_type_info(walk->entry->type);
    enum instr_effect effect = instr_info((enum instr_op)instr->op)->effect;
    bool notifies = instr->op == INSTR_notify;
    if (!instr->word && (notifies || instr->op == INSTR_wait_event)) {
        uint32_t index = *step_of(walk, instr->number[0], notifies ? STEP_NOTIFY : STEP_WAIT);
        if (index != NONE && walk->steps[index].lane != LANES) {
            struct launch_step step = walk->steps[index];
            step.early = notifies && !program->met;
            step.lane = (uint8_t)core;
            step.after = program->after;
            vec_push(&walk->passed, step);
            walk->steps[index].lane = LANES;
            program->steps++;
        }
    }
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

/* Puts the steps of a row in an order in which its entry comes to them. Steps of one program are in
 * one lane. Those that the programs do not have, or do not come to, are last. */
static void order_steps(const struct graph_launches *launches, const struct entry *entry,
                        struct launch_step *steps, uint32_t count)
{
    struct entry_walk walk = {.entry = entry, .steps = steps};
    for (uint32_t i = 0; i < count; i++)
        *step_of(&walk, launches->events.at[steps[i].event], steps[i].kind) = i;
    for (bool any = true; any;) {
        any = false;
        for (int core = 0; core < CORE_TYPES; core++) {
            const struct program *program = &entry->programs[core];
            uint32_t *at = &walk.programs[core].at;
            for (; *at < program->instrs.count && pass_instr(&walk, core, &program->instrs.at[*at]);
                 any = true)
                (*at)++;
        }
    }
    bool both = walk.programs[CORE_AIC].steps && walk.programs[CORE_AIV].steps;
    for (uint32_t i = 0; i < walk.passed.count && !both; i++)
        walk.passed.at[i].lane = 0;
    for (uint32_t i = 0; i < count; i++)
        if (steps[i].lane != LANES)
            vec_push(&walk.passed, steps[i]);
    memcpy(steps, walk.passed.at, count * sizeof *steps);
    id_map_free(&walk.step_of);
    vec_free(&walk.programs[CORE_AIC].sets);
    vec_free(&walk.programs[CORE_AIV].sets);
    vec_free(&walk.passed);
}

/* ------------------------------------------------------------ rows of super kernels ---- */

static void add_superkernel(struct adder *adder, uint32_t block)
{
    struct graph_launches *launches = adder->launches;
    const struct module *module = launches->module;
    const struct block *superkernel = &launches->graph->blocks.at[block];
    const struct entry *entry = block_entry(module, superkernel);
    struct launch launch = superkernel_launch(adder, block, entry);
    struct member_ops ops = ops_of(adder, block);
    const struct sk_options *options = block_options(module, superkernel);
    bool list = is_list(adder, ops, entry, options);
    struct launch_row *row =
        add_row(adder, (struct launch_source){block, NONE},
                stream_label(attr_string(module, superkernel->attrs, W_stream)),
                shape_of(launch.type), launch.blocks);
    row->keeps = launch.blocks > 1 && keeps_cores(adder, block, entry, options);
    /* Where the text has another order than the list, a place in one is none in the other. */
    row->sealed =
        attr_flag(module, superkernel->attrs, W_fixed_slots) || (entry && entry->loc != NONE);
    for (uint32_t i = 1; i < ops.count; i++)
        row->sealed |= adder->order->position[ops.at[i]] < adder->order->position[ops.at[i - 1]];
    find_wide(adder, block, launch, list);
    add_events(adder, superkernel->recv, launch_table_wait);
    for (uint32_t i = 0; i < ops.count; i++)
        add_steps(adder, block, ops.at[i]);
    struct range steps = launches->table.rows.at[launches->table.rows.count - 1].steps;
    if (entry && steps.count)
        order_steps(launches, entry, launches->table.steps.at + steps.first, steps.count);
    else if (!list && steps.count)
        predict_order(adder, launches->table.steps.at + steps.first, steps.count);
    add_events(adder, superkernel->send, launch_table_send);
}

/* ------------------------------------------------------------------------- graphs ---- */

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
                          .wide = mem_calloc(graph->ops.count, 1)};
    bool *added = mem_calloc(graph->blocks.count, sizeof *added);
    outer_events_init(&adder.outer, graph);
    for (uint32_t i = 0; i < adder.order->n_ops; i++) {
        uint32_t op = adder.order->text[i], block = superkernel_of(&adder, op);
        if (adder.order->passive[op] || (block != NONE && added[block]))
            continue;
        if (block == NONE) {
            add_op(&adder, op);
        } else {
            add_superkernel(&adder, block);
            added[block] = true;
        }
    }
    launches->table.n_events = launches->events.count;
    outer_events_free(&adder.outer);
    mem_free(added);
    mem_free(adder.wide);
    id_map_free(&adder.event_of);
    id_map_free(&adder.stream_of);
}

void graph_launches_free(struct graph_launches *launches)
{
    launch_table_free(&launches->table);
    vec_free(&launches->sources);
    vec_free(&launches->events);
    vec_free(&launches->streams);
}

void called_launches_init(struct called_launches *called, const struct module *module)
{
    called->count = module->graphs.count;
    called->at = mem_calloc(called->count, sizeof *called->at);
}

void called_launches_free(struct called_launches *called)
{
    mem_free(called->at);
}
