/* For which order each barrier and flag is there that insert-syncs makes.
 *
 * A plan is made for all orders together, and what it inserts for one may do for others, or stand
 * where another's was saved; so it is the plan as it is that is asked. Barriers and flags are the
 * *syncs*. An order is enforced by a way of syncs from one node to the other: between the lists by
 * a flag, and a barrier on either side of it where cores of other AI cores must know; within a list
 * by a barrier, or by the way over the other list and back. Where only one sync can be a part of
 * it, the order *hangs* on that one. Of the orders that hang on a sync the most telling is named,
 * and the others are counted; where none does, of those that others enforce, too.
 */
#include "ir/overlaps.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/insert_syncs.h"

#include <stdlib.h>

enum {
    SHARERS =
        8, /* syncs of a way that are asked where several would do: those nearest to its end */
    SHARED = 1000 /* weight of an order that does not hang on the sync */
};

/* An order that a sync enforces. */
struct claim {
    uint32_t sync;
    uint32_t weight; /* less is more telling */
    struct sync_need need;
};

struct explainer {
    const struct inserter *in;
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

/* ----------------------------------------------------------------------------- plans ---- */

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

static uint32_t weight_of(const struct explainer *ex, const struct sync_cause *cause)
{
    static const uint32_t edges[] = {[ORDER_DATA] = 0,  [ORDER_MEMORY] = 1, [ORDER_ADDRESS] = 2,
                                     [ORDER_AFTER] = 3, [ORDER_EVENT] = 4,  [ORDER_STREAM] = 8};
    switch (cause->kind) {
    case CAUSE_EDGE: return edges[ex->in->sk->order->edges[cause->edge].kind];
    case CAUSE_EVENT: return 5;
    case CAUSE_NOTIFY: return 6;
    case CAUSE_WORD: return 7;
    default: return 9;
    }
}

/* The order is enforced by one of these, whose numbers count from `base`, or (`others`) by
 * something else. */
static void claim(struct explainer *ex, const struct sync_need *need, uint32_t base,
                  struct syncs syncs, uint32_t others)
{
    uint32_t weight = weight_of(ex, &need->cause);
    if (syncs.end - syncs.first + others > 1)
        weight += SHARED;
    if (syncs.end - syncs.first > SHARERS)
        syncs.first = syncs.end - SHARERS;
    for (uint32_t i = syncs.first; i < syncs.end; i++)
        vec_push(&ex->claims, (struct claim){base + i, weight, *need});
}

/* From one list to the other. */
static void claim_across(struct explainer *ex, const struct sync_need *need)
{
    int from = need->before_core, to = need->core;
    const struct vec_u32 *sets = &ex->sets[from], *waits = &ex->waits[from];
    struct syncs flags = {count_below(sets, need->before), count_below(waits, need->node)};
    if (flags.first >= flags.end)
        return;
    claim(ex, need, ex->first_flag[from], flags, 0);
    if (need_extent(ex->in, need) == NEED_OWN)
        return;
    struct syncs sent = syncs_between(&ex->barriers[from], need->before, sets->at[flags.end - 1]);
    struct syncs spread = syncs_between(
        &ex->barriers[to], gap_knowing(ex, to, waits->at[flags.first]), need->node - 1);
    claim(ex, need, ex->first_barrier[from], sent, spread.end - spread.first);
    claim(ex, need, ex->first_barrier[to], spread, sent.end - sent.first);
}

/* Over the other list and back. */
static void claim_detour(struct explainer *ex, const struct sync_need *need)
{
    int core = need->core, other = 1 - core;
    uint32_t there = count_below(&ex->sets[core], need->before);
    uint32_t back = count_below(&ex->waits[other], need->node);
    if (there == ex->sets[core].count || back == 0)
        return;
    uint32_t known = gap_knowing(ex, other, ex->waits[core].at[there]);
    claim(ex, need, ex->first_flag[core], (struct syncs){there, there + 1}, 0);
    claim(ex, need, ex->first_flag[other], (struct syncs){back - 1, back}, 0);
    if (need_extent(ex->in, need) == NEED_ALL)
        claim(ex, need, ex->first_barrier[other],
              syncs_between(&ex->barriers[other], known, ex->sets[other].at[back - 1]), 0);
}

static void claim_within(struct explainer *ex, const struct sync_need *need)
{
    struct syncs found = syncs_between(&ex->barriers[need->core], need->before, need->node - 1);
    if (found.first == found.end)
        claim_detour(ex, need);
    claim(ex, need, ex->first_barrier[need->core], found, 0);
}

static inline void claim_need(void *user, const struct inserter *in, const struct sync_need *need)
{
    struct explainer *ex = user;
    if (need_extent(in, need) == NEED_DRAIN)
        return;
    if (need->core == need->before_core)
        claim_within(ex, need);
    else
        claim_across(ex, need);
}

static int compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* Orders are of two ops, whatever the reasons; or of an op and a word, each by itself. */
static int compare_orders(const struct sync_cause *a, const struct sync_cause *b)
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
    by = by ? by : compare_orders(&a->need.cause, &b->need.cause);
    by = by ? by : compare(a->weight, b->weight);
    by = by ? by : a->need.core - b->need.core;
    by = by ? by : compare(a->need.node, b->need.node);
    return by ? by : compare(a->need.cause.edge, b->need.cause.edge);
}

/* ----------------------------------------------------------------------------- words ---- */

static struct arena *arena_of(const struct explainer *ex)
{
    return &ex->in->sk->context->diags->arena;
}

static const char *op_name(const struct explainer *ex, uint32_t turn)
{
    const struct superkernel *sk = ex->in->sk;
    return op_text(sk->module, sk->graph, superkernel_op(sk, turn), arena_of(ex));
}

static const char *edge_text(const struct explainer *ex, const struct sync_cause *cause)
{
    const struct superkernel *sk = ex->in->sk;
    const struct order_edge *edge = &sk->order->edges[cause->edge];
    const char *from = op_name(ex, cause->from);
    switch (edge->kind) {
    case ORDER_DATA: return arena_printf(arena_of(ex), "uses the result of %s", from);
    case ORDER_AFTER: return arena_printf(arena_of(ex), "is to run after %s", from);
    case ORDER_STREAM: return arena_printf(arena_of(ex), "follows %s on their stream", from);
    case ORDER_EVENT:
        return arena_printf(arena_of(ex), "waits for event '%.*s' of %s",
                            NAME(sk->module, edge->name), from);
    case ORDER_MEMORY:
        return arena_printf(arena_of(ex), "accesses '%.*s' behind %s", NAME(sk->module, edge->name),
                            from);
    default: return arena_printf(arena_of(ex), "accesses bytes of memory behind %s", from);
    }
}

/* What follows "is for". */
static const char *need_text(const struct explainer *ex, const struct sync_need *need)
{
    const struct inserter *in = ex->in;
    const struct entry *entry = in->sk->entry;
    const struct sync_cause *cause = &need->cause;
    uint32_t at = in->plan.lists[need->core].at[need->node - 1].instr;
    const char *instr =
        instr_text(in->sk->module, entry, &entry->programs[need->core].instrs.at[at], arena_of(ex));
    switch (cause->kind) {
    case CAUSE_EDGE: return arena_printf(arena_of(ex), "this op, which %s", edge_text(ex, cause));
    case CAUSE_LIST:
        return arena_printf(arena_of(ex), "this op, which follows %s in a single list",
                            op_name(ex, cause->from));
    case CAUSE_EVENT: return "this op, which waits for an event from outside";
    case CAUSE_NOTIFY:
        return arena_printf(arena_of(ex), "'%s', which tells that this op is complete", instr);
    default:
        return arena_printf(arena_of(ex), "'%s', which comes behind all that read the word", instr);
    }
}

static const char *cause_word(const struct explainer *ex, const struct sync_cause *cause)
{
    static const char *const edges[] = {
        [ORDER_DATA] = "data",   [ORDER_AFTER] = "after",   [ORDER_STREAM] = "stream",
        [ORDER_EVENT] = "event", [ORDER_MEMORY] = "memory", [ORDER_ADDRESS] = "memory"};
    static const char *const others[] = {[CAUSE_LIST] = "list",
                                         [CAUSE_EVENT] = "wait",
                                         [CAUSE_NOTIFY] = "notify",
                                         [CAUSE_WORD] = "reset"};
    return cause->kind == CAUSE_EDGE ? edges[ex->in->sk->order->edges[cause->edge].kind]
                                     : others[cause->kind];
}

/* --------------------------------------------------------------------------- remarks ---- */

/* A sync, by what it is. */
struct subject {
    bool flag;
    int core;        /* of the barrier, or the flag's sender */
    uint32_t number; /* among those of its kind, from 0 */
};

static struct subject subject_of(const struct explainer *ex, uint32_t sync)
{
    int core = sync >= ex->first_barrier[CORE_AIV] ? CORE_AIV : CORE_AIC;
    bool flag = sync >= ex->first_flag[core];
    return (struct subject){flag, core, sync - (flag ? ex->first_flag : ex->first_barrier)[core]};
}

/* "aic", "c2v" */
static const char *cores_text(const struct subject *subject)
{
    if (subject->flag)
        return subject->core == CORE_AIC ? "c2v" : "v2c";
    return core_type_name((enum core_type)subject->core);
}

static const char *subject_text(const struct explainer *ex, const struct subject *subject)
{
    const char *cores = cores_text(subject);
    uint32_t number = subject->number + 1;
    return subject->flag
               ? arena_printf(arena_of(ex), "flag %s number %u", cores, number)
               : arena_printf(arena_of(ex), "barrier number %u of the %ss", number, cores);
}

/* The facts by themselves, for tools; without a cause there is no order. */
static void add_fields(const struct explainer *ex, const struct subject *subject,
                       const struct sync_cause *cause, uint32_t others)
{
    const struct superkernel *sk = ex->in->sk;
    struct diags *diags = sk->context->diags;
    bool from = cause && cause->from != NONE, to = cause && cause->op < sk->count;
    diag_field(diags, "entry", name_text(sk->module, sk->entry->name, arena_of(ex)));
    diag_field(diags, "sync", subject->flag ? "flag" : "barrier");
    diag_field(diags, "cores", cores_text(subject));
    diag_field(diags, "number", arena_printf(arena_of(ex), "%u", subject->number + 1));
    diag_field(diags, "from", from ? op_name(ex, cause->from) : "");
    diag_field(diags, "to", to ? op_name(ex, cause->op) : "");
    diag_field(diags, "why", cause ? cause_word(ex, cause) : "none");
    diag_field(diags, "others", arena_printf(arena_of(ex), "%u", others));
}

static struct span op_span(const struct explainer *ex, uint32_t turn)
{
    const struct superkernel *sk = ex->in->sk;
    return turn < sk->count ? locate_op(sk->module, superkernel_op(sk, turn), OP_TYPE_NAME, 0)
                            : no_span;
}

/* The order that a sync is for, and of how many others. */
static void remark(const struct explainer *ex, const struct claim *claim, uint32_t others)
{
    const struct sync_need *need = &claim->need;
    const struct superkernel *sk = ex->in->sk;
    struct diags *diags = sk->context->diags;
    struct subject subject = subject_of(ex, claim->sync);
    const char *more = others ? arena_printf(arena_of(ex), ", and for %u other order%s", others,
                                             others == 1 ? "" : "s")
                              : "";
    if (!diag_at(diags, DIAG_sync_inserted, op_span(ex, need->cause.op),
                 "entry '@%.*s': %s is for %s%s", NAME(sk->module, sk->entry->name),
                 subject_text(ex, &subject), need_text(ex, need), more))
        return;
    add_fields(ex, &subject, &need->cause, others);
    if (need->cause.from != NONE)
        diag_note(diags, op_span(ex, need->cause.from),
                  "this must be complete on the %ss before it",
                  core_type_name((enum core_type)need->before_core));
}

/* The turn of the op whose call is next behind a gap. */
static uint32_t turn_behind(const struct inserter *in, int core, uint32_t gap)
{
    const struct sync_list *list = &in->plan.lists[core];
    while (gap < list->count && !list->at[gap].call)
        gap++;
    if (gap == list->count)
        return NONE;
    return (gap + 1 < list->count ? in->turns[core].at[gap + 1] : in->called[core]) - 1;
}

/* No order needs it; it belongs to a meeting. */
static void remark_without(const struct explainer *ex, uint32_t sync)
{
    const struct superkernel *sk = ex->in->sk;
    struct subject subject = subject_of(ex, sync);
    const struct vec_u32 *gaps = (subject.flag ? ex->waits : ex->barriers) + subject.core;
    int core = subject.flag ? 1 - subject.core : subject.core;
    uint32_t turn = turn_behind(ex->in, core, gaps->at[subject.number]);
    if (diag_at(
            sk->context->diags, DIAG_sync_inserted, op_span(ex, turn),
            "entry '@%.*s': %s is for no order by itself: the lists meet there, so that flags are "
            "not set too often",
            NAME(sk->module, sk->entry->name), subject_text(ex, &subject)))
        add_fields(ex, &subject, NULL, 0);
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
        bool again = i && compare_orders(&claims[i].need.cause, &claims[i - 1].need.cause) == 0;
        orders += !again && (best->weight >= SHARED || claims[i].weight < SHARED);
    }
    if (best)
        remark(ex, best, orders - 1);
    else
        remark_without(ex, sync);
}

void insert_syncs_remark(const struct inserter *in)
{
    struct explainer ex = {.in = in};
    find_syncs(&ex);
    inserter_needs(in, claim_need, &ex);
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
