/* verify-sync: proves that each entry is correctly synchronised, or says why it is not.
 *
 * needs    nothing changes  nothing
 *
 * It shares no code with the passes that insert synchronisation. The rules are those of
 * docs/device-model.md; the orders to be enforced are those of the super kernel that the entry is
 * for (ir/analysis/dep_graph.h), its slots and calls must be those of that super kernel's ops, and
 * its events theirs. Entries without a super kernel are checked for everything that is wrong
 * whatever they are for.
 *
 * The programs are followed once (sync_proof.h); each rule is then a question to what is known at a
 * step, so all of it takes time in proportion to instructions and required orders.
 *
 */
#include "ir/analysis/dep_graph.h"
#include "ir/analysis/launch_order.h"
#include "ir/support/parts.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/lower/launch.h"
#include "passes/lower/short_calls.h"
#include "passes/sync/proof/check.h"

/* --------------------------------------------------------------------------- order ---- */

/* Whether each part of the op knows each part of an earlier one to be complete; of kernels that
 * start early, as far as the order is about what they write and wait for. */
static bool check_edge(const struct sync_checker *checker, const struct order_edge *edge,
                       uint32_t from, uint32_t to)
{
    const struct sync_proof *proof = &checker->proof;
    const struct order *order = checker->subject->order;
    const struct sync_placed *placed = checker->subject->placed;
    bool starts = order_is_from_start(order, edge, checker->subject->ops[to]);
    bool reads = order_is_for_reads(order, edge);
    for (int core = 0; core < CORE_TYPES; core++)
        for (int part = 0; part < CORE_TYPES; part++) {
            const struct sync_point *earlier = &placed[from].call[part];
            struct sync_point later = placed[to].call[core];
            if (later.step == NONE || earlier->step == NONE)
                continue;
            later = starts ? sync_begin(proof, &later) : later;
            if (reads ? sync_is_ended(proof, earlier, &later)
                      : sync_is_done(proof, earlier, &later))
                continue;
            sync_report_order(checker, edge, from, to, part, core);
            return false;
        }
    return true;
}

/* One missing order of an op is enough to report: others often have the same reason. */
static bool check_order(const struct sync_checker *checker)
{
    const struct sync_subject *subject = checker->subject;
    const struct order *order = subject->order;
    bool ok = true;
    for (uint32_t place = 0; place < subject->count; place++) {
        uint32_t to = subject->ops[place];
        bool known = true;
        for (uint32_t e = order->first[to]; e < order->first[to + 1] && known; e++) {
            uint32_t from =
                members_place(subject->index, subject->ops, subject->count, order->edges[e].from);
            known = from == NONE || check_edge(checker, &order->edges[e], from, place);
        }
        ok = known && ok;
    }
    return ok;
}

/* ------------------------------------------------------------------------- driving ---- */

/* A call that its op says is none before bind-kernels has written it out. */
static bool check_written(const struct sync_checker *checker)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct program *program = &checker->entry->programs[core];
        for (uint32_t i = 0; i < program->instrs.count; i++) {
            const struct instr *instr = &program->instrs.at[i];
            if (instr->op != INSTR_call || instr->kernel != NONE)
                continue;
            if (diag_at(checker->diags, DIAG_entry_calls, locate_instr(checker->module, instr),
                        "which kernel this calls is not known yet"))
                diag_help(checker->diags, "run 'bind-kernels' first, which writes the call out");
            return false;
        }
    }
    return true;
}

static bool prove(struct pass_context *context, const struct entry *entry,
                  const struct sync_subject *subject)
{
    struct instr_numbers numbers = {.module = context->module, .entry = entry};
    struct sync_checker checker = {.diags = context->diags,
                                   .module = context->module,
                                   .entry = entry,
                                   .numbers = &numbers,
                                   .subject = subject};
    if (!check_written(&checker))
        return false;
    bool slots = !subject || sync_check_slots(&checker);
    checker.grouped = slots;
    if (context->unproven) {
        instr_numbers_free(&numbers);
        return slots;
    }
    sync_proof_init(&checker.proof, context->module, entry);
    bool called = !subject || sync_check_calls(&checker);
    bool flowing = sync_check_blocked(&checker);
    bool ok = flowing && sync_check_counts(&checker);
    ok = sync_check_drained(&checker) && ok;
    ok = sync_check_early(&checker) && ok;
    if (flowing) {
        ok = sync_check_feed(&checker) && ok;
        ok = sync_check_full_barriers(&checker) && ok;
    }
    ok = ok && called;
    if (ok && subject)
        ok = check_order(&checker);
    if (ok)
        ok = sync_check_selects(&checker) && sync_check_events(&checker);
    if (ok && subject)
        sync_check_caches(&checker);
    called_free(&checker.called);
    sync_proof_free(&checker.proof);
    instr_numbers_free(&numbers);
    return ok && slots;
}

static void subject_take(struct sync_subject *subject, struct group_namer *namer,
                         const struct members *members, uint32_t block)
{
    const struct module *module = namer->module;
    subject->block = block;
    subject->index = members->index;
    subject->ops = members->ops + members->first[block];
    subject->count = members->first[block + 1] - members->first[block];
    subject->slots.count = 0;
    subject->grouped = members->grouped + members->first[block];
    subject->first_slot = mem_calloc(subject->count, sizeof *subject->first_slot);
    subject->end_slot = mem_calloc(subject->count, sizeof *subject->end_slot);
    subject->placed = mem_calloc(subject->count, sizeof *subject->placed);
    subject->groups = mem_calloc(subject->count, sizeof *subject->groups);
    group_namer_clear(namer);
    for (uint32_t group = 0; group < subject->count; group++) {
        uint32_t place = subject->grouped[group];
        const struct op *op = sync_op(subject, place);
        subject->first_slot[place] = subject->slots.count;
        slots_add_op(&subject->slots, module, subject->graph, op,
                     module_kernel(module, op->kernel));
        subject->end_slot[place] = subject->slots.count;
        subject->groups[place] = group_name_of(namer, subject->graph, op);
    }
}

static void subject_leave(struct sync_subject *subject)
{
    mem_free(subject->first_slot);
    mem_free(subject->end_slot);
    mem_free(subject->placed);
    mem_free(subject->groups);
}

/* The super kernel's block that an event's side is an op of, or NONE. */
static uint32_t side_block(const struct graph *graph, const struct event_side *side)
{
    if (side->op == NONE)
        return NONE;
    return graph_superkernel(graph, graph->ops.at[side->op].block);
}

static struct sync_event *add_event(struct sync_events *events, uint32_t name)
{
    uint32_t *index = id_map_at(&events->index, name);
    if (*index == NONE) {
        *index = events->list.count;
        vec_push(&events->list, (struct sync_event){.sender = NONE});
    }
    return &events->list.at[*index];
}

static void find_events(struct sync_events *events, const struct graph *graph)
{
    struct event_sides sends = event_sides_find(graph, W_send);
    struct event_sides recvs = event_sides_find(graph, W_recv);
    for (uint32_t i = 0; i < sends.count; i++)
        add_event(events, sends.at[i].event)->sender = side_block(graph, &sends.at[i]);
    for (uint32_t i = 0; i < recvs.count; i++) {
        struct sync_event *event = add_event(events, recvs.at[i].event);
        event->leaves |= side_block(graph, &recvs.at[i]) != event->sender;
        event->received = true;
    }
    for (uint32_t i = 0; i < events->list.count; i++)
        events->list.at[i].leaves |= !events->list.at[i].received;
    vec_free(&sends);
    vec_free(&recvs);
}

static bool is_bound(const struct graph *graph, const struct members *members, uint32_t block)
{
    for (uint32_t i = members->first[block]; i < members->first[block + 1]; i++)
        if (graph->ops.at[members->ops[i]].kernel == NONE)
            return false;
    return true;
}

/* Proves the entries of a graph's super kernels, and marks them. */
static bool prove_graph(struct pass_context *context, const struct graph *graph, uint8_t *proven)
{
    struct module *module = context->module;
    const struct members *members = analyses_members(context->analyses, module, graph);
    bool ok = true;
    struct sync_events events = {0};
    struct group_namer namer = {.module = module};
    find_events(&events, graph);
    struct sync_subject subject = {.graph = graph,
                                   .order = analyses_order(context->analyses, module, graph),
                                   .events = &events};
    for (uint32_t b = 0; b < graph->blocks.count; b++) {
        const struct block *block = &graph->blocks.at[b];
        const struct entry *entry = block_entry(module, block);
        if (!entry)
            continue;
        bool bound = is_bound(graph, members, b);
        if (bound)
            subject_take(&subject, &namer, members, b);
        /* Of calls of ops that have no kernels nothing can be said. */
        if (bound || !entry_is_unbound(module, entry))
            ok = prove(context, entry, bound ? &subject : NULL) && ok;
        if (bound)
            subject_leave(&subject);
        proven[entry_id(module, entry)] = 1;
    }
    vec_free(&subject.slots);
    group_namer_free(&namer);
    id_map_free(&events.index);
    vec_free(&events.list);
    return ok;
}

/* What is proven in parts: graphs, whose entries are theirs alone, then entries of none. */
struct proofs {
    const struct pass_context *context;
    uint8_t *proven; /* by entry */
    bool refuted;    /* atomic */
};

static void prove_graphs_part(void *user, uint32_t first, uint32_t end, struct diags *diags)
{
    struct proofs *proofs = user;
    struct pass_context context = *proofs->context;
    context.diags = diags;
    for (uint32_t i = first; i < end; i++)
        if (!prove_graph(&context, &context.module->graphs.at[i], proofs->proven))
            __atomic_store_n(&proofs->refuted, true, __ATOMIC_RELAXED);
}

static uint64_t graph_weight(const void *user, uint32_t item)
{
    const struct proofs *proofs = user;
    return 3 * (uint64_t)proofs->context->module->graphs.at[item].ops.count;
}

static void prove_entries_part(void *user, uint32_t first, uint32_t end, struct diags *diags)
{
    struct proofs *proofs = user;
    struct pass_context context = *proofs->context;
    context.diags = diags;
    for (uint32_t i = first; i < end; i++)
        if (!proofs->proven[i] && !prove(&context, &context.module->entries.at[i], NULL))
            __atomic_store_n(&proofs->refuted, true, __ATOMIC_RELAXED);
}

static uint64_t entry_weight(const void *user, uint32_t item)
{
    const struct proofs *proofs = user;
    const struct entry *entry = &proofs->context->module->entries.at[item];
    uint64_t instrs =
        (uint64_t)entry->programs[CORE_AIC].instrs.count + entry->programs[CORE_AIV].instrs.count;
    return proofs->proven[item] ? 0 : instrs;
}

bool pass_verify_sync(struct pass_context *context)
{
    struct module *module = context->module;
    if (module->entries.count == 0)
        return true;
    entries_warn_unused(context);
    analyses_make_members(context->analyses, module);
    struct proofs proofs = {.context = context, .proven = mem_calloc(module->entries.count, 1)};
    struct parts graphs = {module->threads, module->graphs.count, graph_weight, prove_graphs_part,
                           &proofs};
    struct parts entries = {module->threads, module->entries.count, entry_weight,
                            prove_entries_part, &proofs};
    parts_run(&graphs, context->diags);
    parts_run(&entries, context->diags);
    mem_free(proofs.proven);
    return !proofs.refuted;
}
