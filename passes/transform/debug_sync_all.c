/* debug-sync-all: with the option debug-sync-all=1, a full barrier behind every op.
 *
 * needs    super kernels with their entries
 * changes  programs: barriers are added
 * keeps    calls, other synchronisation, and their order
 *
 * With ops of both core types in one list, all cores of the launch take part, by the barrier of the
 * AICs: AIVs set v2c and wait for c2v; AICs wait for v2c, pass their barrier and set c2v. With one
 * core type, or in two lists, cores of the own type pass their barrier. The pipes drain first.
 *
 * Where it can stand. It is put at one place of each program: behind the call where the op has a
 * part, else between the calls around. The two places have to be a cut: what is waited for before
 * one is set before the other, so that the programs come to both without what follows. If no flag
 * is outstanding across it, then the n-th wait is still met by the n-th set: all flags before the
 * cut match among themselves, so do those of the barrier, and so do all behind. In one list nearly
 * all cuts are like this, since flags between an op and the next are set and waited for between the
 * calls of the two. Flags that are outstanding (those that let a dynamic kernel's lock be cleared
 * span its op) are taken in before the barrier, and set again behind it; so are arrivals, of
 * kernels that arrive early (early_set) or of halves that stand apart, which a barrier put between
 * would take for its own. The n-th wait or await is met by the n-th set or arrival again, which is
 * now a later one and tells more than before.
 *
 * The limit of 15: no core passes the barrier before all have come to it, so what is outstanding
 * behind it is what was outstanding there before, and the one release of the barrier.
 * MAX_OUTSTANDING leaves room for that, and insert-syncs has at most two flags between an op and
 * the next. In two lists any number may be outstanding anywhere, so no flags are used there.
 *
 * Nothing new can block: a barrier waits for places that all cores of the type reach by what stands
 * before it in the programs, and those are complete by themselves.
 */
#include "ir/syntax/locate.h"
#include "passes/lower/insertion_points.h"
#include "passes/lower/visit.h"

#include <assert.h>

/* Flags, or arrivals, that are taken in and made again for a barrier. */
enum { MAX_OUTSTANDING = 14 };

/* Synchronisation of a program up to a place. */
struct tally {
    uint32_t sets, waits;
    uint32_t arrivals; /* outstanding ones */
};

struct side {
    const struct program *program; /* NULL: the launch has no such cores */
    struct tally *before;          /* per instruction, and at the end */
    uint32_t *calls;
    uint32_t gap; /* the first place for a barrier behind the last one, or behind the last call */
    struct program_edit edit;
};

struct debug_sync {
    const struct superkernel *sk;
    bool flags; /* the barrier is over both core types */
    struct side sides[CORE_TYPES];
};

/* ---------------------------------------------------------------------------- tallies ---- */

/* A call that starts early does so, too (docs/device-model.md, "Early start"). */
static struct tally *count_program(const struct superkernel *sk, enum core_type core)
{
    const struct program *program = &sk->entry->programs[core];
    struct tally *before = mem_calloc((size_t)program->instrs.count + 1, sizeof *before);
    struct tally now = {0, 0, 0};
    unsigned own = core == CORE_AIC ? EARLY_WAIT_AIC : EARLY_WAIT_AIV;
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        const struct instr *instr = &program->instrs.at[i];
        enum instr_effect effect = instr_info(instr->op)->effect;
        bool call = effect == EFFECT_CALL, awaits = call && instr->early & own;
        before[i] = now;
        if ((effect == EFFECT_AWAIT || awaits) && now.arrivals > 0)
            now.arrivals--;
        now.arrivals += effect == EFFECT_ARRIVE || (call && instr->early & EARLY_SET);
        now.waits += effect == EFFECT_WAIT || (call && instr->early & EARLY_WAIT_MIX & ~own);
        now.sets +=
            effect == EFFECT_SET ||
            (awaits && kernel_type_has(module_kernel(sk->module, instr->kernel)->type, 1 - core));
    }
    before[program->instrs.count] = now;
    return before;
}

/* What is outstanding at a place of a program, seen from there. */
struct spot {
    uint32_t at;
    uint32_t arrivals;
    uint32_t take, give; /* flags set for this side, and by it */
};

/* Fills what is outstanding at `spot->at`. False where that is no cut with the other side's
 * place. */
static bool find_outstanding(const struct side *side, const struct tally *other, struct spot *spot)
{
    const struct tally *here = &side->before[spot->at];
    spot->arrivals = here->arrivals;
    spot->take = other ? other->sets - here->waits : 0;
    spot->give = other ? here->sets - other->waits : 0;
    return !other || (other->sets >= here->waits && here->sets >= other->waits);
}

/* ----------------------------------------------------------------------------- places ---- */

/* Behind a call, and behind the cache maintenance there, which is of the next call where it stands
 * behind a drain that is not that of debug-dcci-all. Preloads go first: early-start puts them
 * before an `await` that they stand behind. */
static uint32_t place_behind(const struct superkernel *sk, const struct program *program,
                             uint32_t call)
{
    bool pairs = sk->options->of[SK_debug_dcci_all].number;
    uint32_t place = call_site_behind_dcci(program, call, pairs), at;
    while (program_has_ahead(program, at = skip_records(program, place)))
        place = at + 1;
    return place;
}

/* The last place up to `end` before which are at most so many waits, or waits and sets. */
static uint32_t last_place(const struct side *side, uint32_t end, bool with_sets, uint64_t most)
{
    uint32_t low = side->gap;
    while (low < end) {
        uint32_t middle = low + (end - low + 1) / 2;
        uint64_t count = side->before[middle].waits;
        if (count + (with_sets ? side->before[middle].sets : 0) <= most)
            low = middle;
        else
            end = middle - 1;
    }
    bool inside_pair = low > side->gap && program_has_dcci_pair(side->program, low - 1);
    return inside_pair ? low - 1 : low;
}

/* The last place up to `end` that is a cut without outstanding flags, or else the last cut, if
 * there is one. */
static uint32_t find_cut(const struct side *side, uint32_t end, const struct tally *other)
{
    uint32_t cut = last_place(side, end, true, (uint64_t)other->sets + other->waits);
    if (side->before[cut].sets == other->waits && side->before[cut].waits == other->sets)
        return cut;
    return last_place(side, end, false, other->sets);
}

/* ---------------------------------------------------------------------------- barriers ---- */

static void add(struct instrs *instrs, enum instr_op op, int word, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++)
        vec_push(instrs, instr_make(op, (uint8_t)word));
}

static void make_barrier(struct instrs *instrs, enum core_type core, bool flags,
                         const struct spot *spot)
{
    assert(spot->take <= MAX_OUTSTANDING && spot->give <= MAX_OUTSTANDING &&
           spot->arrivals <= MAX_OUTSTANDING);
    add(instrs, INSTR_pipe_barrier, 0, 1);
    if (flags && core == CORE_AIV) {
        add(instrs, INSTR_wait, CORE_AIC, spot->take);
        add(instrs, INSTR_set, CORE_AIV, 1);
        add(instrs, INSTR_wait, CORE_AIC, 1);
        add(instrs, INSTR_set, CORE_AIV, spot->give);
        return;
    }
    add(instrs, INSTR_await, core, spot->arrivals);
    add(instrs, INSTR_wait, CORE_AIV, spot->take + flags);
    add(instrs, INSTR_arrive, core, 1);
    add(instrs, INSTR_await, core, 1);
    add(instrs, INSTR_set, CORE_AIC, spot->give + flags);
    add(instrs, INSTR_arrive, core, spot->arrivals);
}

/* Where a barrier begins that has the place before or in its flags; the place itself if there is no
 * drain before them. */
static uint32_t barrier_begin(const struct program *program, uint32_t place)
{
    uint32_t begin = place, most = 3 * MAX_OUTSTANDING + 2;
    while (begin > 0 && most-- > 0) {
        enum instr_op op = program->instrs.at[--begin].op;
        if (op == INSTR_pipe_barrier)
            return begin;
        if (op != INSTR_await && op != INSTR_wait && op != INSTR_set)
            break;
    }
    return place;
}

/* Whether the barrier is there already: after the op's own call and a record of its end, or around
 * the cut. */
static bool has_barrier(const struct debug_sync *ds, enum core_type core, uint32_t place, bool own,
                        const struct tally *other)
{
    const struct side *side = &ds->sides[core];
    struct spot spot = {.at = own ? skip_records(side->program, place)
                                  : barrier_begin(side->program, place)};
    struct instrs instrs = {NULL, 0, 0};
    if (!find_outstanding(side, other, &spot) || spot.take > MAX_OUTSTANDING ||
        spot.give > MAX_OUTSTANDING || spot.arrivals > MAX_OUTSTANDING)
        return false;
    make_barrier(&instrs, core, ds->flags, &spot);
    bool found = true;
    for (uint32_t i = 0; found && i < instrs.count; i++)
        found = program_has(side->program, spot.at + i, (enum instr_op)instrs.at[i].op) &&
                side->program->instrs.at[spot.at + i].word == instrs.at[i].word;
    vec_free(&instrs);
    return found;
}

static void add_barrier(struct debug_sync *ds, enum core_type core, const struct spot *spot)
{
    struct instrs instrs = {NULL, 0, 0};
    make_barrier(&instrs, core, ds->flags, spot);
    for (uint32_t i = 0; i < instrs.count; i++)
        program_edit_add(&ds->sides[core].edit, spot->at, instrs.at[i]);
    vec_free(&instrs);
}

/* ------------------------------------------------------------------------------ ops ---- */

static bool refuse(const struct debug_sync *ds, uint32_t i, const char *why)
{
    const struct module *module = ds->sk->module;
    if (diag_at(ds->sk->context->diags, DIAG_unsupported,
                locate_op(module, superkernel_op(ds->sk, i), OP_TYPE_NAME, 0),
                "entry '@%.*s' has no place behind this op for the barrier of debug-sync-all",
                NAME(module, ds->sk->entry->name)))
        diag_help(ds->sk->context->diags, "%s", why);
    return false;
}

/* Finds the places for the barrier after op i. `ends` are those of the stretches that it is in on
 * sides where it has no part. */
static void find_places(struct debug_sync *ds, uint32_t i, const uint32_t *ends, struct spot *spots)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        struct side *side = &ds->sides[core];
        if (side->program && side->calls[i] != NONE)
            spots[core].at = side->gap = place_behind(ds->sk, side->program, side->calls[i]);
    }
    for (int core = 0; ds->flags && core < CORE_TYPES; core++) {
        struct side *side = &ds->sides[core];
        if (side->calls[i] == NONE)
            spots[core].at = side->gap =
                find_cut(side, ends[core], &ds->sides[1 - core].before[spots[1 - core].at]);
    }
}

static bool synchronise_op(struct debug_sync *ds, uint32_t i, const uint32_t *ends)
{
    struct spot spots[CORE_TYPES] = {{0}};
    /* What each core type's place is told of the other's; NULL where that does not matter. */
    const struct tally *others[CORE_TYPES] = {NULL, NULL};
    bool concerned[CORE_TYPES], present = true;
    find_places(ds, i, ends, spots);
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct side *side = &ds->sides[core];
        bool own = side->program && side->calls[i] != NONE;
        concerned[core] = own || (side->program && ds->flags);
        if (ds->flags)
            others[core] = &ds->sides[1 - core].before[spots[1 - core].at];
        if (concerned[core])
            present = present && has_barrier(ds, core, spots[core].at, own, others[core]);
    }
    if (present)
        return true;
    for (int core = 0; core < CORE_TYPES; core++) {
        if (!concerned[core])
            continue;
        if (!find_outstanding(&ds->sides[core], others[core], &spots[core]))
            return refuse(ds, i, "flags that it waits for are set where the next op has begun");
        if (spots[core].arrivals > MAX_OUTSTANDING)
            return refuse(ds, i, "more than 14 arrivals are not awaited there");
        if (spots[core].give > MAX_OUTSTANDING)
            return refuse(ds, i, "more than 14 releases are not waited for there");
    }
    for (int core = 0; core < CORE_TYPES; core++)
        if (concerned[core])
            add_barrier(ds, core, &spots[core]);
    return true;
}

/* Ends of the stretch that op i is in on each side, up to the next call or the program's end: found
 * once for all ops in it. Flags may be set between a select and its call. */
static void find_ends(struct debug_sync *ds, uint32_t i, uint32_t *ends)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        struct side *side = &ds->sides[core];
        uint32_t later = i;
        if (side->calls[i] != NONE || (i > 0 && side->calls[i - 1] == NONE))
            continue;
        while (later < ds->sk->count && side->calls[later] == NONE)
            later++;
        uint32_t call = later < ds->sk->count ? side->calls[later] : NONE;
        ends[core] = call_site_op_begin(side->program, side->gap, call);
        while (program_has(side->program, ends[core], INSTR_select))
            ends[core] = call_site_op_begin(side->program, ends[core] + 1, call);
    }
}

static bool wants(const struct sk_options *options)
{
    return options->of[SK_debug_sync_all].number;
}

static bool visit(struct superkernel *sk)
{
    struct debug_sync ds = {.sk = sk};
    ds.flags = !superkernel_is_two_lists(sk) && kernel_type_is_mixed(sk->entry->type);
    for (int core = 0; core < CORE_TYPES; core++) {
        struct side *side = &ds.sides[core];
        if (!sk->entry->programs[core].present)
            continue;
        side->program = &sk->entry->programs[core];
        side->before = count_program(sk, core);
        side->calls = superkernel_calls(sk, core);
    }
    uint32_t ends[CORE_TYPES] = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < sk->count; i++) {
        if (ds.flags)
            find_ends(&ds, i, ends);
        ok = synchronise_op(&ds, i, ends);
    }
    for (int core = 0; core < CORE_TYPES; core++) {
        struct side *side = &ds.sides[core];
        if (ok && side->program)
            superkernel_edit(sk, (enum core_type)core, &side->edit);
        vec_free(&side->edit);
        mem_free(side->before);
        mem_free(side->calls);
    }
    return ok;
}

bool pass_debug_sync_all(struct pass_context *context)
{
    return superkernels_visit_if(context, wants, visit);
}
