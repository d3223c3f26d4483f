/* The launches of a run: its super kernels, with what the race check must know of their entries,
 * and ops without an entry. */
#include "backend/device/launches.h"

#include <assert.h>
#include <string.h>

#include "backend/device/arguments.h"
#include "backend/device/execute.h"
#include "backend/device/link.h"
#include "ir/analysis/contents.h"
#include "ir/analysis/launch_order.h"
#include "ir/analysis/modref.h"
#include "ir/core/calls.h"
#include "ir/core/kernel.h"
#include "ir/optypes/op_types.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

/* Two ops may be ordered for several reasons. */
static void place_orders(const struct device_race_source *source, struct arena *arena,
                         struct skrt_race_check *check)
{
    const struct order *order = source->order;
    struct id_map seen = {NULL, 0, 0}; /* by place: the last op behind it so far */
    VEC(struct skrt_order) orders = {NULL, 0, 0};
    for (uint32_t i = 0; i < source->count; i++) {
        uint32_t op = source->ops[i];
        for (uint32_t e = order->first[op]; e < order->first[op + 1]; e++) {
            uint32_t from =
                members_place(source->index, source->ops, source->count, order->edges[e].from);
            if (from == NONE || id_map_find(&seen, from) == i)
                continue;
            id_map_set(&seen, from, i);
            vec_push(&orders, (struct skrt_order){from, i});
        }
    }
    struct skrt_order *copy = arena_alloc(arena, (orders.count + 1) * sizeof *copy);
    if (orders.count)
        memcpy(copy, orders.at, orders.count * sizeof *copy);
    check->orders = copy;
    check->n_orders = orders.count;
    vec_free(&orders);
    id_map_free(&seen);
}

struct device_calls device_calls_find(const struct program *program, const uint32_t *grouped,
                                      uint32_t n_ops, struct arena *arena)
{
    uint32_t *calls = arena_alloc(arena, (n_ops + 1) * sizeof *calls), n = 0;
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        const struct instr *call = &program->instrs.at[i];
        if (call->op != INSTR_call)
            continue;
        assert(n < n_ops && call->number[0] < n_ops);
        calls[n++] = grouped[call->number[0]];
    }
    return (struct device_calls){calls, n};
}

void device_race_check(const struct device_race_source *source, struct arena *arena,
                       struct skrt_race_check *check)
{
    const char **names = arena_alloc(arena, (source->count + 1) * sizeof *names);
    *check = (struct skrt_race_check){.n_ops = source->count, .names = names};
    for (int core = 0; core < CORE_TYPES; core++) {
        check->calls[core] = source->calls[core].at;
        check->n_calls[core] = source->calls[core].count;
    }
    for (uint32_t i = 0; i < source->count; i++)
        names[i] = op_call_text(source->module, source->graph,
                                &source->graph->ops.at[source->ops[i]], arena);
    place_orders(source, arena, check);
}

/* ---------------------------------------------------------------- streams and events ---- */

static uint32_t stream_number(struct device_run *run, uint32_t label)
{
    for (uint32_t i = 0; i < run->streams.count; i++)
        if (run->streams.at[i] == label)
            return i;
    vec_push(&run->streams, label);
    const char *text = label == NONE ? "0" : name_text(run->module, label, &run->arena);
    vec_push(&run->stream_names, arena_printf(&run->arena, "\"%s\"", text));
    return run->streams.count - 1;
}

static uint32_t op_stream(struct device_run *run, const struct op *op)
{
    const struct order *order = analyses_order(&run->analyses, run->module, run->graph);
    return stream_number(run, order->stream[op - run->graph->ops.at]);
}

static struct range add_events(struct device_run *run, struct range refs)
{
    struct range events = {run->events.count, refs.count};
    for (uint32_t i = 0; i < refs.count; i++)
        vec_push(&run->events, run->graph->refs.at[refs.first + i]);
    return events;
}

/* ---------------------------------------------------------------------------- launches ---- */

static struct device_launch *begin_launch(struct device_run *run, const char *name,
                                          enum kernel_type type, uint32_t blocks, bool sync_base)
{
    const struct kernel_type_info *info = kernel_type_info(type);
    vec_push(&run->launches,
             (struct device_launch){.skrt = {.name = name,
                                             .blocks = blocks,
                                             .aics = info->aics,
                                             .aivs = info->aivs,
                                             .timeout_ms = run->options.timeout_ms,
                                             .closed = true,
                                             .full_barriers = run->options.full_barriers},
                                    .first = run->arguments.count,
                                    .block = NONE,
                                    .profile_slot = NONE,
                                    .tilings = {run->tilings.count, 0}});
    if (sync_base)
        arguments_add_sync_base(run);
    return &run->launches.at[run->launches.count - 1];
}

static void end_launch(struct device_run *run)
{
    struct device_launch *launch = &run->launches.at[run->launches.count - 1];
    assert(run->arguments.count >= launch->first);
    launch->count = run->arguments.count - launch->first;
    launch->tilings.count = run->tilings.count - launch->tilings.first;
}

static void *find_symbol(struct device_run *run, const struct device_code *code,
                         struct text *symbol)
{
    text_char(symbol, '\0');
    void *found = device_code_find(code, symbol->at);
    if (!found)
        diag_at(run->diags, DIAG_link, no_span, "the loaded object does not define '%s'",
                symbol->at);
    text_free(symbol);
    return found;
}

/* What a launch of one op runs: its kernel, or the variant of it that the host's tiling chose. */
struct single {
    const struct kernel *kernel;
    enum kernel_type type;
    uint32_t blocks;
    uint32_t variant; /* NONE: the kernel is not dynamic */
};

static bool find_single(struct device_run *run, const struct op *op, struct single *single)
{
    const struct kernel *kernel = device_run_kernel(run, op);
    *single = (struct single){kernel, kernel->type, kernel_blocks(run->module, kernel), NONE};
    if (!kernel_is_dynamic(run->module, kernel))
        return true;
    struct device_choice choice;
    if (!device_choose(run->module, run->graph, op, kernel, &choice, run->diags))
        return false;
    single->type = kernel_variant(run->module, kernel, choice.variant).type;
    single->blocks = choice.blocks;
    single->variant = choice.variant;
    return true;
}

/* The function of a core type; NULL, reported, where the loaded object does not have it. */
static skrt_kernel_fn *single_function(struct device_run *run, const struct single *single,
                                       enum core_type core)
{
    uint32_t kernel = kernel_id(run->module, single->kernel);
    assert(kernel_type_has(single->type, core));
    struct text symbol = {NULL, 0, 0};
    if (single->variant == NONE)
        device_kernel_symbol(&symbol, run->module, kernel, core);
    else
        device_variant_symbol(&symbol, run->module, kernel, single->variant, core, 0);
    return (skrt_kernel_fn *)find_symbol(run, &run->root->kernels, &symbol);
}

/* An op whose graphs have launches. */
static bool add_call(struct device_run *run, const struct op *op)
{
    const struct clauses *clauses = op_clauses(run->graph, op);
    struct device_launch launch = {.call = calls_make(run, op),
                                   .op = op,
                                   .first = run->arguments.count,
                                   .stream = op_stream(run, op),
                                   .sends = add_events(run, clauses->send),
                                   .block = NONE,
                                   .profile_slot = NONE,
                                   .tilings = {run->tilings.count, 0}};
    vec_push(&run->launches, launch);
    return launch.call != NULL;
}

/* As the instruction of an entry would be. */
static const char *call_text(struct device_run *run, const struct op *op,
                             const struct single *single, enum core_type core)
{
    uint32_t results = op_tensor_results(run->module, run->graph, op);
    uint32_t last = op->results.first + results - 1;
    struct text text = {NULL, 0, 0};
    text_string(&text, "call ");
    spell_symbol(&text, run->module, single->kernel->name);
    if (kernel_type_info(single->type)->aics && kernel_type_info(single->type)->aivs)
        text_printf(&text, ".%s", core_type_name(core));
    text_string(&text, " args ");
    spell_group(&text, run->module, results ? run->graph->values.at[last].name : op->type,
                results == 0);
    const char *kept =
        arena_printf(&run->arena, "%.*s blocks %u", (int)text.size, text.at, single->blocks);
    text_free(&text);
    return kept;
}

/* One op without an entry: each core runs its part of the kernel. */
static bool add_op_launch(struct device_run *run, const struct op *op)
{
    struct single single;
    if (op_call_kind(op) != CALL_NONE)
        return add_call(run, op);
    if (!find_single(run, op, &single))
        return false;
    const struct kernel_type_info *info = kernel_type_info(single.type);
    struct device_launch *launch = begin_launch(run, name_text(run->module, op->type, &run->arena),
                                                single.type, single.blocks, true);
    launch->n_ops = 1;
    launch->ops = arena_alloc(&run->arena, sizeof *launch->ops);
    launch->ops[0] = op_call_text(run->module, run->graph, op, &run->arena);
    for (int core = 0; core < CORE_TYPES; core++) {
        if (!kernel_type_has(single.type, core))
            continue;
        skrt_kernel_fn *fn = single_function(run, &single, core);
        if (!fn)
            return false;
        launch->skrt.parts[core] =
            (struct skrt_call){fn, 1, single.blocks, info->flat ? 1 : info->aivs, info->flat};
        launch->skrt.part_sites[core] =
            (struct skrt_site){call_text(run, op, &single, core), launch->ops[0]};
    }
    launch->records = 4 * device_launch_cores(launch); /* the kernel and the op */
    const struct clauses *clauses = op_clauses(run->graph, op);
    launch->op = op;
    launch->skrt.waves = !attr_flag(run->module, single.kernel->attrs, W_sync_all);
    launch->skrt.apart = op_has_no_cores(run->module, op);
    launch->stream = op_stream(run, op);
    launch->waits = add_events(run, clauses->recv);
    launch->sends = add_events(run, clauses->send);
    bool ok = arguments_add_op(run, op, 0);
    end_launch(run);
    return ok;
}

static bool add_superkernel_launch(struct device_run *run, const struct members *members,
                                   uint32_t id)
{
    const struct module *module = run->module;
    const struct block *block = &run->graph->blocks.at[id];
    const struct entry *entry = block_entry(module, block);
    uint32_t blocks = (uint32_t)attr_int(module, entry->attrs, W_block, 1);
    struct device_launch *launch = begin_launch(run, name_text(module, block->name, &run->arena),
                                                entry->type, blocks, !entry->no_sync_base);
    struct text symbol = {NULL, 0, 0};
    launch->block = id;
    uint32_t label = attr_string(module, block->attrs, W_stream);
    launch->stream = stream_number(run, label == NONE ? NONE : stream_label(label));
    launch->waits = add_events(run, block->recv);
    launch->sends = add_events(run, block->send);
    device_entry_symbol(&symbol, module, entry);
    launch->skrt.entry = (skrt_entry_fn *)find_symbol(run, &run->root->entries, &symbol);
    if (!launch->skrt.entry)
        return false;
    launch->n_ops = members->first[id + 1] - members->first[id];
    launch->ops = arena_alloc(&run->arena, (launch->n_ops + 1) * sizeof *launch->ops);
    const uint32_t *ops = members->ops + members->first[id];
    launch->skrt.waves = !entry_has_barriers(module, entry);
    const uint32_t *grouped = members->grouped + members->first[id];
    for (uint32_t i = 0; i < launch->n_ops; i++)
        launch->ops[i] = op_call_text(module, run->graph, &run->graph->ops.at[ops[i]], &run->arena);
    for (uint32_t i = 0; i < launch->n_ops; i++)
        if (!arguments_add_op(run, &run->graph->ops.at[ops[grouped[i]]], grouped[i]))
            return false;
    for (int core = 0; core < CORE_TYPES; core++)
        launch->calls[core] =
            device_calls_find(&entry->programs[core], grouped, launch->n_ops, &run->arena);
    if (!arguments_add_entry(run, entry, launch))
        return false;
    end_launch(run);
    assert(arguments_hold(run, entry, &run->launches.at[run->launches.count - 1]));
    return true;
}

/* Results that come from elsewhere, and not from before the graph runs, are nowhere on the host. */
static bool check_passive(struct device_run *run, const struct op *op)
{
    const struct module *module = run->module;
    if (op->results.count == 0 || op_is_source(module, run->graph, op) ||
        op_is_view(module, run->graph, op) ||
        run->graph->values.at[op->results.first].type == module->token)
        return true;
    diag_at(run->diags, DIAG_unsupported, locate_op(module, op, OP_TYPE_NAME, 0),
            "the results of '%.*s' come from elsewhere: the host does not run it",
            NAME(module, op->type));
    return false;
}

/* What waits in the middle for a launch that comes only behind it never ends. */
static bool check_serial(struct device_run *run, const struct op *op)
{
    uint32_t around = graph_enclosing(run->graph, op->block, BLOCK_SUPERKERNEL);
    if (!run->options.serial || !run->options.fused || around == NONE)
        return true;
    diag_at(run->diags, DIAG_unsupported, locate_op(run->module, op, OP_TYPE_NAME, 0),
            "'--serial' cannot run this op beside '@%.*s', which waits for it in the middle",
            NAME(run->module, run->graph->blocks.at[around].name));
    return false;
}

/* The same of a launch that waits for another one that follows it. */
static bool check_serial_launch(const struct device_run *run, const struct op *op, uint32_t block)
{
    if (!run->options.serial)
        return true;
    diag_at(run->diags, DIAG_unsupported, locate_op(run->module, op, OP_TYPE_NAME, 0),
            "'--serial' cannot run '@%.*s' beside others, for which it waits in the middle",
            NAME(run->module, run->graph->blocks.at[block].name));
    return false;
}

/* In text order, which satisfies the graph after partition-scopes. A super kernel is launched at
 * its first op that executes something, or where it begins if it has none. */
bool launches_add(struct device_run *run)
{
    const struct graph *graph = run->graph;
    const struct members *members = analyses_members(&run->analyses, run->module, graph);
    uint8_t *launched = mem_calloc(graph->blocks.count, 1); /* by block */
    uint32_t last = NONE; /* the super kernel that was launched last, NONE: an op was */
    bool ok = true;
    for (uint32_t i = 0; ok && i < graph->body.count; i++) {
        uint32_t id = item_id(graph->body.at[i]), block = NONE;
        enum item_kind kind = item_kind(graph->body.at[i]);
        const struct op *op = kind == ITEM_OP ? &graph->ops.at[id] : NULL;
        if (kind == ITEM_OPEN && run->options.fused &&
            graph->blocks.at[id].kind == BLOCK_SUPERKERNEL &&
            members->first[id] == members->first[id + 1])
            block = id;
        else if (op && run->options.fused)
            block = graph_superkernel(graph, op->block);
        bool executes = !op || members->index[id] != NONE;
        if (block != NONE && executes && !launched[block]) {
            launched[block] = 1;
            last = block;
            ok = add_superkernel_launch(run, members, block);
        } else if (block != NONE) {
            ok = !executes || last == block || check_serial_launch(run, op, block);
        } else if (op && op->kernel == NONE && op_call_kind(op) == CALL_NONE) {
            ok = check_passive(run, op);
        } else if (op) {
            last = NONE;
            ok = (op->kernel == NONE || check_serial(run, op)) && add_op_launch(run, op);
        }
    }
    mem_free(launched);
    return ok;
}
