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
#include "ir/analysis/hazards.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/lower/superkernel.h"
#include "passes/lower/visit.h"
#include "passes/sync/plan/plan.h"

#include <stdlib.h>

/* Which cores of its type take part in a node. */
enum extent { ALL_CORES, FIRST_AI_CORE, CORE_ZERO };

/* Per op in list order: how many nodes of a list there are up to its own, as sync_node.need counts
 * them; 0 where it has none there. */
struct op_nodes {
    uint32_t call[CORE_TYPES], select[CORE_TYPES];
    uint32_t wait[CORE_TYPES]; /* the last of its waits for events */
};

/* Why a node comes after another. */
struct cause {
    enum {
        CAUSE_EDGE,   /* the graph orders their ops */
        CAUSE_LIST,   /* their ops follow one another in a single list */
        CAUSE_EVENT,  /* the op waits for an event, which one core does */
        CAUSE_NOTIFY, /* the op is to be complete */
        CAUSE_WORD,   /* all have read a word that is reset, or a choice that is given back */
    } kind;
    uint32_t op;   /* the turn of the later op; of CAUSE_NOTIFY and CAUSE_WORD, whose word it is */
    uint32_t from; /* CAUSE_EDGE, CAUSE_LIST: the turn of the earlier op; else NONE */
    uint32_t edge; /* CAUSE_EDGE: the index of the edge; else NONE */
};

/* Which cores must know of what is complete: core 0 does both itself; those of one AI core; all. */
enum need_extent { NEED_DRAIN, NEED_OWN, NEED_ALL };

/* `node` of a core type comes after `before` of another or the same: numbers as in op_nodes, and
 * neither is 0. */
struct need {
    int core, before_core;
    uint32_t node, before;
    enum need_extent extent;
    struct cause cause;
};

/* What is known of an entry, and what has to be enforced there. */
struct sync_inserter {
    struct superkernel *sk;
    struct sync_plan plan;
    struct op_nodes *ops;
    struct superkernel_events events;
    VEC(struct need) needs;
    /* The first wait for an event, by its name: where other receivers have no wait of their own. */
    struct id_map waits[CORE_TYPES];
    /* By node: the turns up to the call before it in its program; and so far. */
    struct vec_u32 turns[CORE_TYPES];
    uint32_t called[CORE_TYPES];
    struct vec_u32 extents[CORE_TYPES]; /* by node: enum extent */
    uint32_t blocks, per_block[CORE_TYPES];
    bool chained;   /* each op is behind the one before it */
    bool shortcuts; /* what some cores do alone need not be told to all */
};

/* ----------------------------------------------------------------------------- needs ---- */

/* Has nodes, by core type, come after others of an op; 0: none. */
static void add_needs(struct sync_inserter *in, const uint32_t *nodes, const uint32_t *before,
                      struct cause cause)
{
    for (int core = 0; core < CORE_TYPES; core++)
        for (int part = 0; part < CORE_TYPES; part++) {
            if (!nodes[core] || !before[part])
                continue;
            uint32_t later = in->extents[core].at[nodes[core] - 1];
            uint32_t earlier = in->extents[part].at[before[part] - 1];
            enum need_extent extent = NEED_ALL;
            if (core == part && later == CORE_ZERO && earlier == CORE_ZERO)
                extent = NEED_DRAIN;
            else if (later != ALL_CORES && earlier != ALL_CORES)
                extent = NEED_OWN;
            vec_push(&in->needs,
                     ((struct need){core, part, nodes[core], before[part], extent, cause}));
        }
}

/* What notifications and resets need: all of their op, all that read the word. */
static void find_word_needs(struct sync_inserter *in, int core)
{
    const struct sync_list *list = &in->plan.lists[core];
    const struct event_uses *recvs = &in->events.recvs;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct instr *instr = &in->sk->entry->programs[core].instrs.at[list->at[i].instr];
        uint32_t node[CORE_TYPES] = {0, 0}, event = instr->number[0];
        node[core] = i + 1;
        if (instr->op == INSTR_reset && !instr->word) {
            uint32_t use = event_uses_find(recvs, event);
            for (; use < recvs->count && recvs->at[use].event == event; use++)
                add_needs(in, node, in->ops[recvs->at[use].op].wait,
                          (struct cause){CAUSE_WORD, recvs->at[use].op, NONE, NONE});
        } else if (instr->op == INSTR_reset || instr->op == INSTR_notify) {
            uint32_t owner = superkernel_word_owner(in->sk, &in->events, instr, 0);
            const struct op_nodes *op = &in->ops[owner];
            if (instr->word)
                add_needs(in, node, op->select, (struct cause){CAUSE_WORD, owner, NONE, NONE});
            else
                add_needs(in, node, op->call, (struct cause){CAUSE_NOTIFY, owner, NONE, NONE});
        }
    }
}

static void find_needs(struct sync_inserter *in)
{
    const struct order *order = in->sk->order;
    for (uint32_t op = 0; op < in->sk->count; op++) {
        const struct op_nodes *nodes = &in->ops[op];
        uint32_t id = in->sk->ops[op];
        for (uint32_t e = order->first[id]; e < order->first[id + 1]; e++) {
            uint32_t from = superkernel_index(in->sk, order->edges[e].from);
            if (from != NONE)
                add_needs(in, nodes->call, in->ops[from].call,
                          (struct cause){CAUSE_EDGE, op, from, e});
        }
        if (in->chained && op > 0)
            add_needs(in, nodes->call, in->ops[op - 1].call,
                      (struct cause){CAUSE_LIST, op, op - 1, NONE});
        add_needs(in, nodes->call, nodes->wait, (struct cause){CAUSE_EVENT, op, NONE, NONE});
    }
    for (int core = 0; core < CORE_TYPES; core++)
        find_word_needs(in, core);
}

/* --------------------------------------------------------------------------- remarks ---- */

/* For which order each barrier and flag is there.
 *
 * A plan is made for all orders together, and what it inserts for one may do for others, or take
 * the place of another's that was saved; so it is the plan as it is that is asked. Barriers and
 * flags are the *syncs*. An order is enforced by a way of syncs from one node to the other: between
 * the lists by a flag, and a barrier on either side of it where cores of other AI cores must know;
 * within a list by a barrier, or by the way over the other list and back. Where only one sync can
 * be a part of it, the order *hangs* on that one. Of the orders that hang on a sync the most
 * telling is named, and the others are counted; where none does, of those that others enforce, too.
 */

enum {
    SHARERS =
        8, /* syncs of a way that are asked where several would do: those nearest to its end */
    SHARED = 1000 /* weight of an order that does not hang on the sync */
};

/* An order that a sync enforces. */
struct claim {
    uint32_t sync;
    uint32_t weight; /* less is more telling */
    const struct need *need;
};

struct explainer {
    const struct sync_inserter *in;
    const struct superkernel *sk;
    struct arena *arena;
    /* By core type: the gaps that have barriers; those where its flags are set, and waited for. */
    struct vec_u32 barriers[CORE_TYPES], sets[CORE_TYPES], waits[CORE_TYPES];
    /* Numbers of syncs: the first barrier of a list, the first flag of a sender. */
    uint32_t first_barrier[CORE_TYPES], first_flag[CORE_TYPES];
    VEC(struct claim) claims;
};

/* Syncs of one kind in a row, by their places there. */
struct syncs {
    uint32_t first, end;
};

static void find_syncs(struct explainer *ex)
{
    uint32_t count = 0;
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct sync_list *list = &ex->in->plan.lists[core];
        for (uint32_t gap = 0; gap <= list->count; gap++) {
            if (list->gaps[gap].barrier)
                vec_push(&ex->barriers[core], gap);
            for (unsigned i = 0; i < list->gaps[gap].sets; i++)
                vec_push(&ex->sets[core], gap);
            for (unsigned i = 0; i < list->gaps[gap].waits; i++)
                vec_push(&ex->waits[1 - core], gap);
        }
    }
    for (int core = 0; core < CORE_TYPES; core++) {
        assert(ex->sets[core].count == ex->waits[core].count);
        ex->first_barrier[core] = count;
        ex->first_flag[core] = count + ex->barriers[core].count;
        count = ex->first_flag[core] + ex->sets[core].count;
    }
}

/* How many of these gaps are below one. */
static uint32_t count_below(const struct vec_u32 *gaps, uint32_t gap)
{
    uint32_t low;
    bisect(low, i, gaps->count, gaps->at[i] < gap);
    return low;
}

static struct syncs syncs_between(const struct vec_u32 *gaps, uint32_t first, uint32_t last)
{
    struct syncs found = {count_below(gaps, first), count_below(gaps, last + 1)};
    return found.first < found.end ? found : (struct syncs){0, 0};
}

/* The first gap of which barriers and sets know what has been waited for in a gap. */
static uint32_t gap_knowing(const struct explainer *ex, int core, uint32_t wait)
{
    return ex->in->plan.lists[core].gaps[wait].late ? wait : wait + 1;
}

/* ---------------------------------------------------------------------------- claims ---- */

static uint32_t weight_of(const struct explainer *ex, const struct cause *cause)
{
    static const uint32_t edges[] = {[ORDER_DATA] = 0,  [ORDER_MEMORY] = 1, [ORDER_ADDRESS] = 2,
                                     [ORDER_AFTER] = 3, [ORDER_EVENT] = 4,  [ORDER_STREAM] = 8};
    static const uint32_t others[] = {
        [CAUSE_EVENT] = 5, [CAUSE_NOTIFY] = 6, [CAUSE_WORD] = 7, [CAUSE_LIST] = 9};
    return cause->kind == CAUSE_EDGE ? edges[ex->sk->order->edges[cause->edge].kind]
                                     : others[cause->kind];
}

/* The order is enforced by one of these, whose numbers count from `base`, or (`others`) by
 * something else. */
static void claim(struct explainer *ex, const struct need *need, uint32_t base, struct syncs syncs,
                  uint32_t others)
{
    uint32_t weight = weight_of(ex, &need->cause);
    if (syncs.end - syncs.first + others > 1)
        weight += SHARED;
    if (syncs.end - syncs.first > SHARERS)
        syncs.first = syncs.end - SHARERS;
    for (uint32_t i = syncs.first; i < syncs.end; i++)
        vec_push(&ex->claims, ((struct claim){base + i, weight, need}));
}

/* From one list to the other. */
static void claim_across(struct explainer *ex, const struct need *need)
{
    int from = need->before_core, to = need->core;
    const struct vec_u32 *sets = &ex->sets[from], *waits = &ex->waits[from];
    struct syncs flags = {count_below(sets, need->before), count_below(waits, need->node)};
    if (flags.first >= flags.end)
        return;
    claim(ex, need, ex->first_flag[from], flags, 0);
    if (need->extent == NEED_OWN)
        return;
    struct syncs sent = syncs_between(&ex->barriers[from], need->before, sets->at[flags.end - 1]);
    struct syncs spread = syncs_between(
        &ex->barriers[to], gap_knowing(ex, to, waits->at[flags.first]), need->node - 1);
    claim(ex, need, ex->first_barrier[from], sent, spread.end - spread.first);
    claim(ex, need, ex->first_barrier[to], spread, sent.end - sent.first);
}

/* Within a list, or over the other one and back. */
static void claim_within(struct explainer *ex, const struct need *need)
{
    int core = need->core, other = 1 - core;
    struct syncs found = syncs_between(&ex->barriers[core], need->before, need->node - 1);
    uint32_t there = count_below(&ex->sets[core], need->before);
    uint32_t back = count_below(&ex->waits[other], need->node);
    if (found.first == found.end && there < ex->sets[core].count && back > 0) {
        uint32_t known = gap_knowing(ex, other, ex->waits[core].at[there]);
        claim(ex, need, ex->first_flag[core], (struct syncs){there, there + 1}, 0);
        claim(ex, need, ex->first_flag[other], (struct syncs){back - 1, back}, 0);
        if (need->extent == NEED_ALL)
            claim(ex, need, ex->first_barrier[other],
                  syncs_between(&ex->barriers[other], known, ex->sets[other].at[back - 1]), 0);
    }
    claim(ex, need, ex->first_barrier[core], found, 0);
}

static int compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* Orders are of two ops, whatever the reasons; or of an op and a word, each by itself. */
static int compare_orders(const struct cause *a, const struct cause *b)
{
    int by = compare(a->op, b->op);
    by = by ? by : compare(a->from, b->from);
    return by || a->from != NONE ? by : (int)a->kind - (int)b->kind;
}

/* By sync, then by order: of the reasons for one, the most telling first. */
static int compare_claims(const void *first, const void *second)
{
    const struct claim *a = first, *b = second;
    int by = compare(a->sync, b->sync);
    by = by ? by : compare_orders(&a->need->cause, &b->need->cause);
    by = by ? by : compare(a->weight, b->weight);
    by = by ? by : a->need->core - b->need->core;
    by = by ? by : compare(a->need->node, b->need->node);
    return by ? by : compare(a->need->cause.edge, b->need->cause.edge);
}

/* ----------------------------------------------------------------------------- words ---- */

static const char *op_name(const struct explainer *ex, uint32_t turn)
{
    return op_text(ex->sk->module, ex->sk->graph, superkernel_op(ex->sk, turn), ex->arena);
}

static const char *edge_text(const struct explainer *ex, const struct cause *cause)
{
    const struct order_edge *edge = &ex->sk->order->edges[cause->edge];
    const char *from = op_name(ex, cause->from);
    switch (edge->kind) {
    case ORDER_DATA: return arena_printf(ex->arena, "uses the result of %s", from);
    case ORDER_AFTER: return arena_printf(ex->arena, "is to run after %s", from);
    case ORDER_STREAM: return arena_printf(ex->arena, "follows %s on their stream", from);
    case ORDER_EVENT:
        return arena_printf(ex->arena, "waits for event '%.*s' of %s",
                            NAME(ex->sk->module, edge->name), from);
    case ORDER_MEMORY:
        return arena_printf(ex->arena, "accesses '%.*s' behind %s",
                            NAME(ex->sk->module, edge->name), from);
    default: return arena_printf(ex->arena, "accesses bytes of memory behind %s", from);
    }
}

/* What follows "is for". */
static const char *need_text(const struct explainer *ex, const struct need *need)
{
    const struct entry *entry = ex->sk->entry;
    const struct cause *cause = &need->cause;
    uint32_t at = ex->in->plan.lists[need->core].at[need->node - 1].instr;
    const char *instr =
        instr_text(ex->sk->module, entry, &entry->programs[need->core].instrs.at[at], ex->arena);
    switch (cause->kind) {
    case CAUSE_EDGE: return arena_printf(ex->arena, "this op, which %s", edge_text(ex, cause));
    case CAUSE_LIST:
        return arena_printf(ex->arena, "this op, which follows %s in a single list",
                            op_name(ex, cause->from));
    case CAUSE_EVENT: return "this op, which waits for an event from outside";
    case CAUSE_NOTIFY:
        return arena_printf(ex->arena, "'%s', which tells that this op is complete", instr);
    default:
        return arena_printf(ex->arena, "'%s', which comes behind all that read the word", instr);
    }
}

/* For tools; without a cause there is no order. */
static const char *cause_word(const struct explainer *ex, const struct cause *cause)
{
    static const char *const edges[] = {
        [ORDER_DATA] = "data",   [ORDER_AFTER] = "after",   [ORDER_STREAM] = "stream",
        [ORDER_EVENT] = "event", [ORDER_MEMORY] = "memory", [ORDER_ADDRESS] = "memory"};
    static const char *const others[] = {[CAUSE_LIST] = "list",
                                         [CAUSE_EVENT] = "wait",
                                         [CAUSE_NOTIFY] = "notify",
                                         [CAUSE_WORD] = "reset"};
    if (!cause)
        return "none";
    return cause->kind == CAUSE_EDGE ? edges[ex->sk->order->edges[cause->edge].kind]
                                     : others[cause->kind];
}

/* --------------------------------------------------------------------------- remarks ---- */

static struct span op_span(const struct explainer *ex, uint32_t turn)
{
    return turn < ex->sk->count
               ? locate_op(ex->sk->module, superkernel_op(ex->sk, turn), OP_TYPE_NAME, 0)
               : no_span;
}

/* The turn of the op whose call is next after a gap. */
static uint32_t turn_after(const struct sync_inserter *in, int core, uint32_t gap)
{
    const struct sync_list *list = &in->plan.lists[core];
    while (gap < list->count && !list->at[gap].call)
        gap++;
    if (gap == list->count)
        return NONE;
    return (gap + 1 < list->count ? in->turns[core].at[gap + 1] : in->called[core]) - 1;
}

/* The order that a sync is for, and of how many others. `need` is NULL where no order needs it: it
 * belongs to a meeting. */
static void remark(const struct explainer *ex, uint32_t sync, const struct need *need,
                   uint32_t others)
{
    const struct superkernel *sk = ex->sk;
    struct diags *diags = sk->context->diags;
    int core = sync >= ex->first_barrier[CORE_AIV] ? CORE_AIV : CORE_AIC; /* or the sender's */
    bool flag = sync >= ex->first_flag[core];
    uint32_t number = sync - (flag ? ex->first_flag : ex->first_barrier)[core];
    const char *cores = flag ? core == CORE_AIC ? "c2v" : "v2c" : core_type_name(core);
    const char *name =
        flag ? arena_printf(ex->arena, "flag %s number %u", cores, number + 1)
             : arena_printf(ex->arena, "barrier number %u of the %ss", number + 1, cores);
    const struct cause *cause = need ? &need->cause : NULL;
    bool from = cause && cause->from != NONE, to = cause && cause->op < sk->count;
    const struct vec_u32 *gaps = (flag ? ex->waits : ex->barriers) + core;
    struct span span = op_span(
        ex, need ? cause->op : turn_after(ex->in, flag ? 1 - core : core, gaps->at[number]));
    const char *more = others ? arena_printf(ex->arena, ", and for %u other order%s", others,
                                             others == 1 ? "" : "s")
                              : "";
    bool told =
        need ? diag_at(diags, DIAG_sync_inserted, span, "entry '@%.*s': %s is for %s%s",
                       NAME(sk->module, sk->entry->name), name, need_text(ex, need), more)
             : diag_at(diags, DIAG_sync_inserted, span,
                       "entry '@%.*s': %s is for no order by itself: the lists meet there, so that "
                       "flags are not set too often",
                       NAME(sk->module, sk->entry->name), name);
    if (!told)
        return;
    diag_field(diags, "entry", name_text(sk->module, sk->entry->name, ex->arena));
    diag_field(diags, "sync", flag ? "flag" : "barrier");
    diag_field(diags, "cores", cores);
    diag_field(diags, "number", arena_printf(ex->arena, "%u", number + 1));
    diag_field(diags, "from", from ? op_name(ex, cause->from) : "");
    diag_field(diags, "to", to ? op_name(ex, cause->op) : "");
    diag_field(diags, "why", cause_word(ex, cause));
    diag_field(diags, "others", arena_printf(ex->arena, "%u", others));
    if (from)
        diag_note(diags, op_span(ex, cause->from), "this must be complete on the %ss before it",
                  core_type_name(need->before_core));
}

/* The claims of one sync, of which `claims` are `count`. */
static void explain(const struct explainer *ex, uint32_t sync, const struct claim *claims,
                    uint32_t count)
{
    const struct claim *best = NULL;
    uint32_t orders = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!best || claims[i].weight < best->weight)
            best = &claims[i];
    for (uint32_t i = 0; i < count; i++) {
        bool again = i && compare_orders(&claims[i].need->cause, &claims[i - 1].need->cause) == 0;
        orders += !again && (best->weight >= SHARED || claims[i].weight < SHARED);
    }
    remark(ex, sync, best ? best->need : NULL, best ? orders - 1 : 0);
}

/* Says of each barrier and flag of the plan, which is made but not written yet, for which order it
 * is there. */
static void remark_syncs(const struct sync_inserter *in)
{
    struct explainer ex = {.in = in, .sk = in->sk, .arena = &in->sk->context->diags->arena};
    find_syncs(&ex);
    for (uint32_t i = 0; i < in->needs.count; i++) {
        const struct need *need = &in->needs.at[i];
        if (need->extent != NEED_DRAIN && need->core == need->before_core)
            claim_within(&ex, need);
        else if (need->extent != NEED_DRAIN)
            claim_across(&ex, need);
    }
    if (ex.claims.count)
        qsort(ex.claims.at, ex.claims.count, sizeof *ex.claims.at, compare_claims);
    uint32_t syncs = ex.first_flag[CORE_AIV] + ex.sets[CORE_AIV].count;
    for (uint32_t sync = 0, at = 0; sync < syncs; sync++) {
        uint32_t first = at;
        while (at < ex.claims.count && ex.claims.at[at].sync == sync)
            at++;
        explain(&ex, sync, ex.claims.at + first, at - first);
    }
    vec_free(&ex.claims);
    for (int core = 0; core < CORE_TYPES; core++) {
        vec_free(&ex.barriers[core]);
        vec_free(&ex.sets[core]);
        vec_free(&ex.waits[core]);
    }
}

enum phase_of_op { PHASE_BEFORE, PHASE_CALL, PHASE_BEHIND, PHASES };

/* ----------------------------------------------------------------------------- nodes ---- */

/* What is neither a call nor a choice of dynamic kernels, core 0 does. */
static enum extent extent_of(const struct sync_inserter *in, int core, const struct instr *instr)
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

static void add_node(struct sync_inserter *in, int core, uint32_t instr, uint32_t op,
                     unsigned phase)
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
static bool is_full(const struct sync_inserter *in, uint32_t op)
{
    const struct kernel *kernel = superkernel_kernel(in->sk, op);
    return kernel_type_has(kernel->type, CORE_AIC) && kernel_type_has(kernel->type, CORE_AIV) &&
           attr_flag(in->sk->module, kernel->attrs, W_sync_all);
}

/* The op of the program's next call. */
static uint32_t next_op(const struct sync_inserter *in, int core, uint32_t op)
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

static void find_nodes(struct sync_inserter *in, int core)
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

static bool report_wait(const struct sync_inserter *in, int core, uint32_t wait, uint32_t op)
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

/* An op that receives an event, and has no wait for it, has those that others have. A wait is late
 * after the op's call in its program, or that of an op of a later turn: what is inserted leads
 * forward in time only. False, reported, where a wait comes too late. */
static bool share_waits(struct sync_inserter *in, const struct event_use *use)
{
    struct op_nodes *op = &in->ops[use->op];
    bool own = op->wait[CORE_AIC] || op->wait[CORE_AIV], found = false;
    uint32_t waits[CORE_TYPES];
    for (int core = 0; core < CORE_TYPES; core++) {
        uint32_t wait = own ? op->wait[core] : id_map_find(&in->waits[core], use->event);
        waits[core] = wait == NONE ? 0 : wait;
        bool late = waits[core] && in->turns[core].at[waits[core] - 1] > use->op;
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

static bool find_waits(struct sync_inserter *in)
{
    bool ok = true;
    for (uint32_t i = 0; i < in->events.recvs.count; i++)
        ok = share_waits(in, &in->events.recvs.at[i]) && ok;
    return ok;
}

/* -------------------------------------------------------------------------- programs ---- */

static void put(struct instrs *instrs, enum instr_op op, int word)
{
    vec_push(instrs, instr_make(op, (uint8_t)word));
}

static void put_gap(struct instrs *instrs, const struct sync_gap *gap, int core)
{
    for (unsigned i = 0; i < gap->waits && gap->late; i++)
        put(instrs, INSTR_wait, 1 - core);
    if (gap->barrier) {
        put(instrs, INSTR_arrive, core);
        put(instrs, INSTR_await, core);
    }
    if (gap->drain && gap->sets)
        put(instrs, INSTR_pipe_barrier, 0);
    for (unsigned i = 0; i < gap->sets; i++)
        put(instrs, INSTR_set, core);
    for (unsigned i = 0; i < gap->waits && !gap->late; i++)
        put(instrs, INSTR_wait, 1 - core);
    if (gap->drain && !gap->sets)
        put(instrs, INSTR_pipe_barrier, 0);
}

static void rewrite(struct sync_inserter *in, int core)
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

/* Finds what the nodes need, and the gaps that enforce it. */
static void synchronise(struct sync_inserter *in)
{
    find_needs(in);
    for (uint32_t i = 0; i < in->needs.count; i++) {
        const struct need *need = &in->needs.at[i];
        const struct sync_node *before = &in->plan.lists[need->before_core].at[need->before - 1];
        struct sync_node *later = &in->plan.lists[need->core].at[need->node - 1];
        uint32_t *needed = need->extent == NEED_OWN ? later->own : later->need;
        if (need->extent == NEED_DRAIN)
            later->drained |= before->call;
        else if (needed[need->before_core] < need->before)
            needed[need->before_core] = need->before;
    }
    sync_plan_make(&in->plan);
    if (in->sk->context->diags->remarks)
        remark_syncs(in);
    for (int core = 0; core < CORE_TYPES; core++)
        rewrite(in, core);
}

static bool insert(struct superkernel *sk)
{
    const struct kernel_type_info *launch = kernel_type_info(sk->entry->type);
    struct sync_inserter in = {.sk = sk, .chained = !superkernel_is_two_lists(sk)};
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
    vec_free(&in.needs);
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
