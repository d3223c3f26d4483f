/* insert-syncs: enforces the order of an entry's calls by barriers and flags.
 *
 * needs    super kernels with their entries
 * changes  programs of entries that have no synchronisation yet
 * keeps    calls and other instructions, and their order
 *
 * What must be enforced is the order that the graph demands within the super kernel; in a single
 * list (stream-fusion=0) moreover that each op is behind the one before it. Beside the calls there
 * are waits for outer events, which all cores must know of before the op starts, notifications,
 * before which the op must be complete, choices of dynamic kernels, and resets of the words that
 * were waited for. Where barriers and flags go, passes/sync/plan/plan.h finds.
 */
#include "ir/syntax/instr_numbers.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/entry/superkernel.h"
#include "passes/entry/visit.h"
#include "passes/insert_syncs.h"

enum phase_of_op { PHASE_BEFORE, PHASE_CALL, PHASE_BEHIND, PHASES };

/* ----------------------------------------------------------------------------- nodes ---- */

/* What is neither a call nor a choice of dynamic kernels, core 0 does. */
static enum extent extent_of(const struct inserter *in, int core, const struct instr *instr)
{
    bool first = in->blocks == 1;
    if (!in->shortcuts)
        return ALL_CORES;
    if (instr->op != INSTR_call && instr->op != INSTR_select)
        return CORE_ZERO;
    if (instr->op == INSTR_call) {
        bool flat = kernel_type_info(module_kernel(in->sk->module, instr->kernel)->type)->flat;
        if (flat && instr->number[1] == 1)
            return CORE_ZERO;
        first |= instr->number[1] <= (flat ? in->per_block[core] : 1);
    }
    if (!first)
        return ALL_CORES;
    return in->per_block[core] == 1 ? CORE_ZERO : FIRST_AI_CORE;
}

static void add_node(struct inserter *in, int core, uint32_t instr, uint32_t op, unsigned phase)
{
    struct sync_list *list = &in->plan.lists[core];
    uint64_t time = (uint64_t)op * PHASES + phase;
    uint64_t before = list->count ? list->at[list->count - 1].time : 0;
    vec_push(list, (struct sync_node){.instr = instr,
                                      .time = time > before ? time : before,
                                      .call = phase == PHASE_CALL});
    vec_push(&in->turns[core], in->called[core]);
    vec_push(&in->extents[core],
             extent_of(in, core, &in->sk->entry->programs[core].instrs.at[instr]));
}

/* Whether the op's kernel uses both flags itself, in full barriers. */
static bool is_full(const struct inserter *in, uint32_t op)
{
    const struct kernel *kernel = superkernel_kernel(in->sk, op);
    return kernel_type_has(kernel->type, CORE_AIC) && kernel_type_has(kernel->type, CORE_AIV) &&
           attr_flag(in->sk->module, kernel->attrs, W_sync_all);
}

/* The op of the program's next call. */
static uint32_t next_op(const struct inserter *in, int core, uint32_t op)
{
    while (op < in->sk->count && !superkernel_has_part(in->sk, op, core))
        op++;
    return op;
}

/* Whether its kernel returns before its pipes are done: the call is drained at once, as an arrival
 * waits for one pipe alone. */
static bool is_undrained(const struct superkernel *sk, const struct instr *call)
{
    return attr_flag(sk->module, module_kernel(sk->module, call->kernel)->attrs, W_undrained);
}

static void find_nodes(struct inserter *in, int core)
{
    const struct program *program = &in->sk->entry->programs[core];
    struct sync_list *list = &in->plan.lists[core];
    uint32_t op = next_op(in, core, 0);
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        const struct instr *instr = &program->instrs.at[i];
        uint32_t owner = in->sk->count;
        if (instr_info(instr->op)->effect == EFFECT_EVENT)
            owner = superkernel_word_owner(in->sk, &in->events, instr, op);
        switch (instr->op) {
        case INSTR_select:
            add_node(in, core, i, 0, PHASE_BEFORE); /* at once: it needs nothing */
            in->ops[op].select[core] = list->count;
            list->at[list->count - 1].select = true;
            break;
        case INSTR_call:
            add_node(in, core, i, op, PHASE_CALL);
            in->ops[op].call[core] = list->count;
            in->called[core] = op + 1;
            list->at[list->count - 1].full = is_full(in, op);
            list->at[list->count - 1].settled = is_undrained(in->sk, instr);
            op = next_op(in, core, op + 1);
            break;
        case INSTR_wait_event:
            add_node(in, core, i, owner, PHASE_BEFORE);
            in->ops[owner].wait[core] = list->count;
            if (id_map_find(&in->waits[core], instr->number[0]) == NONE)
                id_map_set(&in->waits[core], instr->number[0], list->count);
            break;
        case INSTR_notify: add_node(in, core, i, owner, PHASE_BEHIND); break;
        case INSTR_reset: add_node(in, core, i, in->sk->count, PHASE_BEFORE); break;
        default: break;
        }
    }
}

/* ----------------------------------------------------------------------------- waits ---- */

static bool report_wait(const struct inserter *in, int core, uint32_t wait, uint32_t op)
{
    const struct superkernel *sk = in->sk;
    struct diags *diags = sk->context->diags;
    uint32_t at = in->plan.lists[core].at[wait - 1].instr;
    const struct instr *instr = &sk->entry->programs[core].instrs.at[at];
    struct instr_numbers numbers = {.module = sk->module, .entry = sk->entry};
    const char *place = instr_place_text(&numbers, (enum core_type)core, at, NULL, &diags->arena);
    instr_numbers_free(&numbers);
    if (diag_at(diags, DIAG_sync_event, locate_instr(sk->module, instr),
                "entry '@%.*s', %s: the op %s, which receives the event, has its turn before this",
                NAME(sk->module, sk->entry->name), place,
                op_text(sk->module, sk->graph, superkernel_op(sk, op), &diags->arena)))
        diag_help(diags, "put it before the calls of this op and of those behind it");
    return false;
}

/* Whether a wait of a program stands behind the op's call there, or that of an op of a later turn:
 * what is inserted leads forward in time only. */
static bool is_late(const struct inserter *in, int core, uint32_t wait, uint32_t op)
{
    return wait && in->turns[core].at[wait - 1] > op;
}

/* An op that receives an event, and has no wait for it, has those that others have. False,
 * reported, where a wait comes too late. */
static bool share_waits(struct inserter *in, const struct event_use *use)
{
    struct op_nodes *op = &in->ops[use->op];
    bool own = op->wait[CORE_AIC] || op->wait[CORE_AIV], found = false;
    uint32_t waits[CORE_TYPES];
    for (int core = 0; core < CORE_TYPES; core++) {
        uint32_t wait = own ? op->wait[core] : id_map_find(&in->waits[core], use->event);
        waits[core] = wait == NONE ? 0 : wait;
        bool late = is_late(in, core, waits[core], use->op);
        if (late && own)
            return report_wait(in, core, waits[core], use->op);
        op->wait[core] = late ? 0 : waits[core];
        found |= op->wait[core] != 0;
    }
    for (int core = 0; !found && core < CORE_TYPES; core++)
        if (waits[core])
            return report_wait(in, core, waits[core], use->op);
    return true;
}

static bool find_waits(struct inserter *in)
{
    bool ok = true;
    for (uint32_t i = 0; i < in->events.recvs.count; i++)
        ok = share_waits(in, &in->events.recvs.at[i]) && ok;
    return ok;
}

/* ----------------------------------------------------------------------------- needs ---- */

NEEDS_INLINE void need(void *user, const struct inserter *inserter, const struct sync_need *need)
{
    struct inserter *in = user;
    struct sync_node *later = &in->plan.lists[need->core].at[need->node - 1];
    enum need_extent extent = need_extent(inserter, need);
    if (extent == NEED_DRAIN) {
        later->drained |= in->plan.lists[need->core].at[need->before - 1].call;
        return;
    }
    uint32_t *needed = extent == NEED_OWN ? later->own : later->need;
    if (needed[need->before_core] < need->before)
        needed[need->before_core] = need->before;
}

/* -------------------------------------------------------------------------- programs ---- */

static void put(struct instrs *instrs, enum instr_op op, int word)
{
    vec_push(instrs, instr_make(op, (uint8_t)word));
}

static void put_barrier(struct instrs *instrs, int core)
{
    put(instrs, INSTR_arrive, core);
    put(instrs, INSTR_await, core);
}

static void put_gap(struct instrs *instrs, const struct sync_gap *gap, int core)
{
    for (unsigned i = 0; i < gap->waits && gap->late; i++)
        put(instrs, INSTR_wait, 1 - core);
    if (gap->barrier)
        put_barrier(instrs, core);
    if (gap->drain && gap->sets)
        put(instrs, INSTR_pipe_barrier, 0);
    for (unsigned i = 0; i < gap->sets; i++)
        put(instrs, INSTR_set, core);
    for (unsigned i = 0; i < gap->waits && !gap->late; i++)
        put(instrs, INSTR_wait, 1 - core);
    if (gap->drain && !gap->sets)
        put(instrs, INSTR_pipe_barrier, 0);
}

static void rewrite(struct inserter *in, int core)
{
    const struct program *program = &in->sk->entry->programs[core];
    const struct sync_list *list = &in->plan.lists[core];
    struct instrs instrs = {NULL, 0, 0};
    uint32_t node = 0;
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        if (node < list->count && list->at[node].instr == i)
            put_gap(&instrs, &list->gaps[node++], core);
        vec_push(&instrs, program->instrs.at[i]);
        if (program->instrs.at[i].op == INSTR_call && is_undrained(in->sk, &program->instrs.at[i]))
            put(&instrs, INSTR_pipe_barrier, 0);
    }
    put_gap(&instrs, &list->gaps[list->count], core);
    superkernel_replace(in->sk, (enum core_type)core, &instrs);
}

/* Whether a kernel takes part in the synchronisation around it: that must then be what a kernel
 * expects, whatever the order demands (docs/device-model.md, "Early start"). */
static bool has_early_start(const struct superkernel *sk)
{
    for (uint32_t i = 0; i < sk->count; i++) {
        const struct attr *early =
            attr_find(sk->module, superkernel_kernel(sk, i)->attrs, W_early_start);
        if (early && early->value.count)
            return true;
    }
    return false;
}

static void synchronise(struct inserter *in)
{
    inserter_needs(in, need, in);
    sync_plan_make(&in->plan);
    if (in->sk->context->diags->remarks)
        insert_syncs_remark(in);
    for (int core = 0; core < CORE_TYPES; core++)
        rewrite(in, core);
}

static bool insert(struct superkernel *sk)
{
    const struct kernel_type_info *launch = kernel_type_info(sk->entry->type);
    struct inserter in = {.sk = sk, .chained = !superkernel_is_two_lists(sk)};
    if (superkernel_is_synchronised(sk))
        return true;
    in.shortcuts = !in.chained || !has_early_start(sk);
    in.plan.early_flags = !in.shortcuts;
    in.blocks = (uint32_t)attr_int(sk->module, sk->entry->attrs, W_block, 0);
    in.per_block[CORE_AIC] = launch->aics;
    in.per_block[CORE_AIV] = launch->aivs;
    in.ops = mem_calloc((size_t)sk->count + 1, sizeof *in.ops);
    in.events = superkernel_events(sk);
    for (int core = 0; core < CORE_TYPES; core++)
        find_nodes(&in, core);
    bool ok = find_waits(&in);
    if (ok)
        synchronise(&in);
    sync_plan_free(&in.plan);
    superkernel_events_free(&in.events);
    for (int core = 0; core < CORE_TYPES; core++) {
        id_map_free(&in.waits[core]);
        vec_free(&in.turns[core]);
        vec_free(&in.extents[core]);
    }
    mem_free(in.ops);
    return ok;
}

bool pass_insert_syncs(struct pass_context *context)
{
    return superkernels_visit(context, insert);
}
