/* early-start: barrier halves move into the calls of kernels that were built to do them.
 *
 * needs    super kernels with their entries, synchronised
 * changes  early_wait and early_set of calls, and what these words do in place of the program;
 *          the order of barrier halves and preloads; of the first op, arrivals are added
 * keeps    calls, their order, and all other instructions
 *
 * A kernel that was built for early start (`early_start = [set, wait]`) does its halves always, so
 * its calls must say so in every program: `early_wait P` takes the place of the waits directly
 * before the call, `early_set` that of the `arrive` directly behind it. Nothing but preloads may
 * stand between.
 *
 * Why it is sound: written out on every core (docs/device-model.md, "Early start"), the result is
 * the input, but for arrivals and awaits that have moved over preloads, which others need not know
 * of, and for barriers that are added where it has none in this place: before the first op and
 * around events. Their halves stand in the same place of each program, so they block nobody, and
 * the flags of an added one are set and waited for by the same op. An arrival behind the last op is
 * awaited there: it would be one of the next launch.
 */
#include "ir/core/kernel.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"
#include "passes/lower/insertion_points.h"
#include "passes/lower/visit.h"

/* One program, while halves are taken out of it. */
struct side {
    struct program *program;
    uint32_t *call;      /* by op: the index of its call, or NONE */
    uint8_t *edits;      /* by instruction: EDIT_... */
    uint32_t last_await; /* index of the last instruction that awaits the type's barrier, or NONE */
};

enum { EDIT_GONE = 1, EDIT_ARRIVE_BEFORE = 2, EDIT_AWAIT_BEHIND = 4 };

/* What an op's kernel may do beyond its own halves, where an order demands that it does not. */
enum { READS_BEFORE = 1, READS_BEHIND = 2 };

struct starter {
    struct superkernel *sk;
    uint8_t *built;    /* by op: what its kernel was built for, EARLY_... */
    uint8_t *reads;    /* by op: READS_... */
    bool synchronised; /* as it was found */
    struct side sides[CORE_TYPES];
};

static unsigned wait_bit(enum core_type core)
{
    return core == CORE_AIC ? EARLY_WAIT_AIC : EARLY_WAIT_AIV;
}

static unsigned parts_of(const struct starter *s, uint32_t i)
{
    unsigned parts = 0;
    for (int core = 0; core < CORE_TYPES; core++)
        if (superkernel_has_part(s->sk, i, core))
            parts |= wait_bit(core);
    return parts;
}

static struct instr *call_of(const struct starter *s, uint32_t i, enum core_type core)
{
    const struct side *side = &s->sides[core];
    return &side->program->instrs.at[side->call[i]];
}

/* Whether some op of the super kernel must be behind the i-th with all that this one reads, and
 * whether the i-th must be behind some with all that it reads itself: for what its kernel does not
 * vouch for there are whole barriers. What hangs on an event from or to the outside nobody
 * knows. */
static void find_reads(struct starter *s)
{
    const struct superkernel *sk = s->sk;
    for (uint32_t i = 0; i < sk->count; i++) {
        uint32_t id = sk->ops[i];
        const struct clauses *clauses = op_clauses(sk->graph, superkernel_op(sk, i));
        if (clauses->recv.count && !(s->built[i] & EARLY_READS_LATE))
            s->reads[i] |= READS_BEFORE;
        if (clauses->send.count && !(s->built[i] & EARLY_READS_DONE))
            s->reads[i] |= READS_BEHIND;
        for (uint32_t e = sk->order->first[id]; e < sk->order->first[id + 1]; e++) {
            const struct order_edge *edge = &sk->order->edges[e];
            uint32_t from = superkernel_index(sk, edge->from);
            if (from == NONE)
                continue;
            if (order_is_from_start(sk->order, edge, id) && !(s->built[i] & EARLY_READS_LATE))
                s->reads[i] |= READS_BEFORE;
            if (order_is_for_reads(sk->order, edge) && !(s->built[from] & EARLY_READS_DONE))
                s->reads[from] |= READS_BEHIND;
        }
    }
}

/* ------------------------------------------------------------------------- reports ---- */

static struct span op_span(const struct starter *s, uint32_t i)
{
    return locate_op(s->sk->module, superkernel_op(s->sk, i), OP_TYPE_NAME, 0);
}

static bool report(const struct starter *s, uint32_t i, const char *why, const char *help)
{
    if (diag_at(s->sk->context->diags, DIAG_early_start, op_span(s, i),
                "the kernel '@%.*s' was built for early start, but %s",
                NAME(s->sk->module, superkernel_kernel(s->sk, i)->name), why))
        diag_help(s->sk->context->diags, "%s", help);
    return false;
}

/* The kernel does `halves` itself, but its program does not have them at its call. `at` is what
 * stands there. */
static bool report_place(const struct starter *s, uint32_t i, enum core_type core, uint32_t at,
                         const char *halves, const char *where)
{
    const struct superkernel *sk = s->sk;
    const struct program *program = s->sides[core].program;
    bool found = at < program->instrs.count;
    struct text text = {NULL, 0, 0};
    if (found)
        spell_instr(&text, sk->module, sk->entry, &program->instrs.at[at]);
    if (diag_at(sk->context->diags, DIAG_early_start, op_span(s, i),
                "the kernel '@%.*s' does %s itself, but the %s program of entry '@%.*s' does not "
                "have that directly %s its call",
                NAME(sk->module, superkernel_kernel(sk, i)->name), halves, core_type_name(core),
                NAME(sk->module, sk->entry->name), where))
        diag_note(
            sk->context->diags, found ? locate_instr(sk->module, &program->instrs.at[at]) : no_span,
            "there is %s%.*s%s; %s, or use a kernel that was built without early start",
            found ? "'" : "nothing", (int)text.size, text.size ? text.at : "", found ? "'" : "",
            s->synchronised ? "take the synchronisation out, so that insert-syncs makes it"
                            : "run insert-syncs before, which makes it");
    text_free(&text);
    return false;
}

/* Whether early start is possible at all for the op; reports why it is not. */
static bool check_op(const struct starter *s, uint32_t i)
{
    const struct superkernel *sk = s->sk;
    if (!s->built[i])
        return true;
    if (attr_flag(sk->module, superkernel_kernel(sk, i)->attrs, W_dynamic))
        return report(s, i, "dynamic kernels have none", "take 'early_start' or 'dynamic' away");
    if (superkernel_is_two_lists(sk))
        return report(s, i, "with stream-fusion=1 there is none",
                      "use a kernel that was built without early start, or stream-fusion=0");
    if (sk->options->of[SK_early_start].number == 0)
        return report(s, i, "early-start=0 excludes it",
                      "use a kernel that was built without early start, or early-start=1");
    return true;
}

/* early-start=2 is for the entry alone, but what is built into a kernel cannot be taken away. */
static void warn_entry_only(const struct starter *s)
{
    struct diags *diags = s->sk->context->diags;
    for (uint32_t i = 0; i < s->sk->count; i++) {
        if (!s->built[i])
            continue;
        if (diag_at(diags, DIAG_early_start_kernel, op_span(s, i),
                    "early-start=2 is for the entry alone, but the kernel '@%.*s' was built to do "
                    "its part of early start itself, and does",
                    NAME(s->sk->module, superkernel_kernel(s->sk, i)->name)))
            diag_help(diags, "use a kernel that was built without early start, or "
                             "early-start=1");
        return; /* one says it all */
    }
}

/* --------------------------------------------------------------------------- waits ---- */

/* What `early_wait` does on a core, in this order; returns the number of instructions. `other` is
 * whether the waiting op has a part on the other core type. */
static unsigned wait_instrs(struct instr instrs[3], unsigned previous, enum core_type core,
                            bool other)
{
    unsigned n = 0;
    if (previous & wait_bit(core)) {
        instrs[n++] = instr_make(INSTR_await, core);
        if (other)
            instrs[n++] = instr_make(INSTR_set, core);
    }
    if (previous & wait_bit(1 - core))
        instrs[n++] = instr_make(INSTR_wait, 1 - core);
    return n;
}

/* Finds the waits of `early_wait previous` directly before the op's call on a core, but for
 * preloads and what is gone. Their indexes go to `found`; false, with `*odd` where it fails, if
 * others are there. */
static bool find_waits(const struct starter *s, uint32_t i, enum core_type core, unsigned previous,
                       uint32_t found[3], unsigned *count, uint32_t *odd)
{
    const struct side *side = &s->sides[core];
    struct instr wanted[3];
    *count = wait_instrs(wanted, previous, core, parts_of(s, i) & wait_bit(1 - core));
    uint32_t at = side->call[i];
    for (unsigned n = *count; n-- > 0;) {
        while (at > 0 &&
               (side->edits[at - 1] & EDIT_GONE || program_has_ahead(side->program, at - 1)))
            at--;
        *odd = at ? at - 1 : NONE;
        if (at == 0)
            return false;
        const struct instr *instr = &side->program->instrs.at[--at];
        if (instr->op != wanted[n].op || instr->word != wanted[n].word)
            return false;
        found[n] = at;
    }
    return true;
}

/* Puts `early_wait previous` in place of the waits, if they stand before all calls of the op. */
static bool take_waits(struct starter *s, uint32_t i, unsigned previous)
{
    uint32_t found[CORE_TYPES][3], odd;
    unsigned count[CORE_TYPES] = {0, 0};
    for (int core = 0; core < CORE_TYPES; core++)
        if (s->sides[core].call[i] != NONE &&
            !find_waits(s, i, core, previous, found[core], &count[core], &odd))
            return false;
    for (int core = 0; core < CORE_TYPES; core++) {
        if (s->sides[core].call[i] == NONE)
            continue;
        for (unsigned n = 0; n < count[core]; n++)
            s->sides[core].edits[found[core][n]] |= EDIT_GONE;
        call_of(s, i, core)->early |= previous;
    }
    return true;
}

/* Whether the waits before the op may be others than those behind the op before it: nothing stands
 * before the first op, and an event that has come may have let all cores know of that op. */
static bool may_differ(const struct starter *s, uint32_t i)
{
    bool events = false, nothing = true;
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct side *side = &s->sides[core];
        for (uint32_t at = side->call[i]; at != NONE && at-- > 0;) {
            const struct instr *instr = &side->program->instrs.at[at];
            if (instr->op == INSTR_call)
                break;
            events |= instr_info(instr->op)->effect == EFFECT_EVENT;
            nothing &= instr_is_ahead(instr);
        }
    }
    return events || (i == 0 && nothing);
}

/* The kernel waits for an arrival that is made for it directly before its call. Where it has two
 * parts, they then meet by the flag that a cube op before it would have had set. */
static void add_arrival(struct starter *s, uint32_t i)
{
    enum core_type awaited = parts_of(s, i) & EARLY_WAIT_AIC ? CORE_AIC : CORE_AIV;
    for (int core = 0; core < CORE_TYPES; core++)
        if (s->sides[core].call[i] != NONE)
            call_of(s, i, core)->early |= wait_bit(awaited);
    s->sides[awaited].edits[s->sides[awaited].call[i]] |= EDIT_ARRIVE_BEFORE;
}

static bool report_waits(const struct starter *s, uint32_t i, unsigned previous)
{
    uint32_t found[3], odd;
    unsigned count;
    for (int core = 0; core < CORE_TYPES; core++) {
        if (s->sides[core].call[i] == NONE || find_waits(s, i, core, previous, found, &count, &odd))
            continue;
        struct instr wanted[3];
        struct text text = {NULL, 0, 0};
        count = wait_instrs(wanted, previous, core, parts_of(s, i) & wait_bit(1 - core));
        for (unsigned n = 0; n < count; n++) {
            text_string(&text, n ? ", '" : "'");
            spell_instr(&text, s->sk->module, s->sk->entry, &wanted[n]);
            text_char(&text, '\'');
        }
        text_char(&text, '\0');
        report_place(s, i, core, odd, text.at, "before");
        text_free(&text);
        return false;
    }
    return false;
}

/* The waits are mostly those behind the op before it. Of others, the most that are there are
 * taken. */
static bool start_waits(struct starter *s, uint32_t i)
{
    static const uint8_t all[] = {EARLY_WAIT_MIX, EARLY_WAIT_AIC, EARLY_WAIT_AIV};
    unsigned previous = i > 0 ? parts_of(s, i - 1) : (unsigned)EARLY_WAIT_MIX;
    unsigned said = 0, calls = 0, saying = 0;
    for (int core = 0; core < CORE_TYPES; core++) {
        if (s->sides[core].call[i] == NONE)
            continue;
        calls++;
        saying += (call_of(s, i, core)->early & EARLY_WAIT_MIX) != 0;
        said |= call_of(s, i, core)->early & EARLY_WAIT_MIX;
    }
    if (saying == calls)
        return true;
    if (said)
        return report(s, i, "only one of its two calls says 'early_wait'",
                      "write it at the calls of both parts, or at none");
    if (s->reads[i] & READS_BEFORE) {
        add_arrival(s, i);
        return true;
    }
    if (take_waits(s, i, previous))
        return true;
    for (size_t n = 0; n < sizeof all; n++)
        if (take_waits(s, i, all[n]))
            return true;
    if (!may_differ(s, i))
        return report_waits(s, i, previous);
    add_arrival(s, i);
    return true;
}

/* ------------------------------------------------------------------------ arrivals ---- */

/* The kernel arrives in place of its program. Where the program does something before it arrives,
 * or does not arrive any more, the kernel's arrival is one more, and awaited at once. */
static bool start_arrival(struct starter *s, uint32_t i, enum core_type core)
{
    struct side *side = &s->sides[core];
    struct instr *call = call_of(s, i, core);
    const struct instr *instrs = side->program->instrs.at;
    uint32_t count = side->program->instrs.count, at = side->call[i] + 1;
    if (call->early & EARLY_SET)
        return true;
    while (at < count && (side->edits[at] & EDIT_GONE || instr_is_ahead(&instrs[at])))
        at++;
    bool whole = s->reads[i] & READS_BEHIND;
    if (at < count && instrs[at].op == INSTR_arrive && !whole)
        side->edits[at] |= EDIT_GONE;
    else if (whole || (at < count && instr_info(instrs[at].op)->effect == EFFECT_EVENT) ||
             side->last_await == NONE || side->last_await < side->call[i])
        side->edits[side->call[i]] |= EDIT_AWAIT_BEHIND;
    else
        return report_place(s, i, core, at, core == CORE_AIC ? "'arrive aic'" : "'arrive aiv'",
                            "behind");
    call->early |= EARLY_SET;
    return true;
}

/* ------------------------------------------------------------------------ programs ---- */

/* All that stands ahead of calls counts as a preload. */
static enum instr_op kind_of(const struct instr *instr)
{
    return instr_is_ahead(instr) ? INSTR_preload : (enum instr_op)instr->op;
}

/* In each run of instructions of these two kinds, those of `early` come first. */
static void gather(struct instrs *instrs, enum instr_op early, enum instr_op late)
{
    struct instrs out = {NULL, 0, 0};
    uint32_t next = 0; /* the first instruction of the run that is not in `out` */
    for (uint32_t i = 0; i <= instrs->count; i++) {
        enum instr_op op = i < instrs->count ? kind_of(&instrs->at[i]) : INSTR_COUNT;
        if (op == early)
            vec_push(&out, instrs->at[i]);
        if (op == early || op == late)
            continue;
        for (; next < i; next++)
            if (kind_of(&instrs->at[next]) == late)
                vec_push(&out, instrs->at[next]);
        if (i < instrs->count)
            vec_push(&out, instrs->at[i]);
        next = i + 1;
    }
    vec_free(instrs);
    *instrs = out;
}

static void rewrite(struct starter *s, enum core_type core)
{
    const struct side *side = &s->sides[core];
    struct instrs instrs = {NULL, 0, 0};
    for (uint32_t i = 0; i < side->program->instrs.count; i++) {
        if (side->edits[i] & EDIT_ARRIVE_BEFORE)
            vec_push(&instrs, instr_make(INSTR_arrive, core));
        if (!(side->edits[i] & EDIT_GONE))
            vec_push(&instrs, side->program->instrs.at[i]);
        if (side->edits[i] & EDIT_AWAIT_BEHIND)
            vec_push(&instrs, instr_make(INSTR_await, core));
    }
    /* The entry splits barriers too: arrivals come as early as preloads allow, awaits as late. */
    gather(&instrs, INSTR_arrive, INSTR_preload);
    gather(&instrs, INSTR_preload, INSTR_await);
    superkernel_replace(s->sk, core, &instrs);
}

/* ------------------------------------------------------------------------- driving ---- */

static void side_init(struct starter *s, enum core_type core)
{
    struct side *side = &s->sides[core];
    side->program = &superkernel_own_entry(s->sk)->programs[core];
    side->call = superkernel_calls(s->sk, core);
    side->edits = mem_calloc(side->program->instrs.count, 1);
    side->last_await = NONE;
    for (uint32_t i = 0; i < side->program->instrs.count; i++) {
        const struct instr *instr = &side->program->instrs.at[i];
        if (instr->op == INSTR_await || (instr->op == INSTR_call && instr->early & wait_bit(core)))
            side->last_await = i;
    }
}

/* Of an entry whose ops may all start early. */
static bool start_entry(struct starter *s, bool any_built)
{
    bool ok = true;
    side_init(s, CORE_AIC);
    side_init(s, CORE_AIV);
    s->synchronised = superkernel_is_synchronised(s->sk);
    s->reads = mem_calloc(s->sk->count, 1);
    if (any_built)
        find_reads(s);
    for (uint32_t i = 0; i < s->sk->count; i++) {
        if (s->built[i] & EARLY_WAIT_MIX)
            ok = start_waits(s, i) && ok;
        for (int core = 0; s->built[i] & EARLY_SET && core < CORE_TYPES; core++)
            if (s->sides[core].call[i] != NONE)
                ok = start_arrival(s, i, core) && ok;
    }
    for (int core = 0; core < CORE_TYPES; core++) {
        if (ok)
            rewrite(s, core);
        mem_free(s->sides[core].call);
        mem_free(s->sides[core].edits);
    }
    mem_free(s->reads);
    return ok;
}

static bool visit(struct superkernel *sk)
{
    struct starter s = {.sk = sk, .built = mem_calloc(sk->count, 1)};
    int64_t option = sk->options->of[SK_early_start].number;
    bool any = false, ok = true;
    for (uint32_t i = 0; i < sk->count; i++) {
        s.built[i] = (uint8_t)kernel_early_start(sk->module, superkernel_kernel(sk, i));
        any |= s.built[i] != 0;
        ok = check_op(&s, i) && ok;
    }
    if (ok && option != 0 && !superkernel_is_two_lists(sk)) {
        if (option == 2)
            warn_entry_only(&s);
        ok = start_entry(&s, any);
    }
    mem_free(s.built);
    return ok;
}

bool pass_early_start(struct pass_context *context)
{
    return superkernels_visit(context, visit);
}
