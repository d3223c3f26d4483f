/* debug-sync-all: with the option debug-sync-all=1, a full barrier behind every op.
 *
 * needs    super kernels with their entries
 * changes  programs: barriers are added
 * keeps    calls, other synchronisation, and their order
 *
 * With ops of both core types in one list, all cores of the launch take part, by the barrier of the
 * AICs: AIVs set v2c and wait for c2v; AICs wait for v2c, pass their barrier and set c2v. With one core
 * type, or in two lists, cores of the own type pass their barrier. The pipes drain first.
 *
 * Where it can stand. It is put at one place of each program: behind the call where the op has a part,
 * else between the calls around. Both places have to be a cut that the two programs reach without each
 * other's continuation, and across which no flag is outstanding: as many sets of each flag are before
 * the place of its setter as waits before that of its waiter. Then the n-th wait is still met by the n-th
 * set: all flags before the cut match among themselves, so do those of the barrier, and so do all
 * behind. In one list such a cut exists behind every op: flags between an op and the next are set and
 * waited for between the calls of the two. Since nothing is outstanding at the cut, and no core passes it
 * before all have come, what is set ahead is at most what was ahead within one op's stretch, and the one
 * release of the barrier: the limit of 15 holds where stretches have fewer than 15, and insert-syncs has at
 * most two. Two lists have no such cuts, hence no flags there.
 *
 * Arrivals may be outstanding, of kernels that arrive early (early_set) or of halves that stand apart.
 * A barrier put between would have its `await` met by an arrival of before. So what is outstanding is
 * awaited first, and arrived for again behind: the n-th await is met by the n-th arrival, which is now a
 * later one, so it tells more than before.
 *
 * Nothing new can block: a barrier waits for places that all cores of the type reach by what stands
 * before it in the programs, and those are complete by themselves.
 */
#include "ir/locate.h"
#include "passes/program_edit.h"

/* More outstanding arrivals no program has a reason for; they are made again for each op. */
enum { MAX_OUTSTANDING = 15 };

/* Synchronisation of a program up to a place. */
struct tally {
    uint32_t sets, waits;
    uint32_t arrivals; /* outstanding ones */
};

struct debug_sync {
    const struct superkernel *sk;
    bool flags; /* the barrier is over both core types */
    struct side {
        struct program *program; /* NULL: the launch has no such cores */
        struct tally *before;    /* per instruction, and at the end */
        uint32_t *calls;
        uint32_t gap; /* where the stretch behind the last call begins */
        struct program_edit edit;
    } sides[CORE_TYPES];
};

/* ---------------------------------------------------------------------------- tallies ---- */

/* What a call does by early start (docs/device-model.md, "Early start"). */
static void count_early(const struct superkernel *sk, enum core_type core, const struct instr *call,
                        struct tally *tally)
{
    const struct kernel *kernel = &sk->module->kernels.at[sk->kernel_index[call->kernel] - 1];
    unsigned own = core == CORE_AIC ? EARLY_WAIT_AIC : EARLY_WAIT_AIV;
    if (call->early & own) {
        tally->arrivals -= tally->arrivals > 0;
        tally->sets += kernel_type_has(kernel->type, 1 - core);
    }
    tally->waits += (call->early & EARLY_WAIT_MIX & ~own) != 0;
    tally->arrivals += (call->early & EARLY_SET) != 0;
}

static struct tally *count_program(const struct superkernel *sk, enum core_type core)
{
    const struct program *program = &sk->entry->programs[core];
    struct tally *before = mem_calloc((size_t)program->instrs.count + 1, sizeof *before);
    struct tally now = {0, 0, 0};
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        before[i] = now;
        switch (instr_info(program->instrs.at[i].op)->effect) {
        case EFFECT_CALL: count_early(sk, core, &program->instrs.at[i], &now); break;
        case EFFECT_ARRIVE: now.arrivals++; break;
        case EFFECT_AWAIT: now.arrivals -= now.arrivals > 0; break;
        case EFFECT_SET: now.sets++; break;
        case EFFECT_WAIT: now.waits++; break;
        default: break;
        }
    }
    before[program->instrs.count] = now;
    return before;
}

static bool is_balanced(const struct tally *one, const struct tally *other)
{
    return one->sets == other->waits && one->waits == other->sets;
}

/* ----------------------------------------------------------------------------- places ---- */

/* Behind a call, and behind the cache maintenance there, which is of the next call where it stands
 * behind a drain that is not that of debug-dcci-all. Preloads go first: early-start puts them before an
 * `await` that they stand behind. */
static uint32_t place_behind(const struct superkernel *sk, const struct program *program,
                             uint32_t call)
{
    uint32_t place = call_end(program, call), at = skip_records(program, place);
    if (program_has(program, at, INSTR_dcci))
        place = at + 1;
    at = skip_records(program, place);
    if (sk->options.of[SK_debug_dcci_all].number && program_has(program, at, INSTR_pipe_barrier) &&
        program_has(program, at + 1, INSTR_dcci))
        place = at + 2;
    while (program_has(program, at = skip_records(program, place), INSTR_preload))
        place = at + 1;
    return place;
}

/* The last place before the op of the next call begins: before what it waits for from outside, and
 * before what stands directly at the call. */
static uint32_t stretch_end(const struct side *side, uint32_t next_call)
{
    const struct program *program = side->program;
    uint32_t end = next_call == NONE ? program->instrs.count : call_begin(program, next_call);
    for (uint32_t i = side->gap; i < end; i++)
        if (program_has(program, i, INSTR_wait_event) || program_has(program, i, INSTR_select) ||
            program_has(program, i, INSTR_reset))
            return i;
    if (next_call != NONE && end > side->gap && program_has(program, end - 1, INSTR_dcci)) {
        end--;
        end -= end > side->gap && program_has(program, end - 1, INSTR_pipe_barrier);
    }
    return end;
}

/* The last place up to `end` with no more sets and waits than the other side's: if there are as many as
 * there, it is the cut. */
static uint32_t find_cut(const struct side *side, uint32_t end, const struct tally *other)
{
    uint64_t wanted = (uint64_t)other->sets + other->waits;
    uint32_t low = side->gap;
    while (low < end) {
        uint32_t middle = low + (end - low + 1) / 2;
        if ((uint64_t)side->before[middle].sets + side->before[middle].waits <= wanted)
            low = middle;
        else
            end = middle - 1;
    }
    bool inside_pair = low > side->gap && program_has(side->program, low, INSTR_dcci) &&
                       program_has(side->program, low - 1, INSTR_pipe_barrier);
    return inside_pair ? low - 1 : low;
}

/* ---------------------------------------------------------------------------- barriers ---- */

static void add(struct instrs *instrs, enum instr_op op, int word, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++)
        vec_push(instrs, instr_make(op, (uint8_t)word));
}

/* `outstanding` arrivals of this core type were made before. */
static void make_barrier(struct instrs *instrs, enum core_type core, bool flags,
                         uint32_t outstanding)
{
    add(instrs, INSTR_pipe_barrier, 0, 1);
    if (flags && core == CORE_AIV) {
        add(instrs, INSTR_set, CORE_AIV, 1);
        add(instrs, INSTR_wait, CORE_AIC, 1);
        return;
    }
    add(instrs, INSTR_await, core, outstanding);
    add(instrs, INSTR_wait, CORE_AIV, flags);
    add(instrs, INSTR_arrive, core, 1);
    add(instrs, INSTR_await, core, 1);
    add(instrs, INSTR_set, CORE_AIC, flags);
    add(instrs, INSTR_arrive, core, outstanding);
}

static bool has_instrs(const struct program *program, uint32_t at, const struct instrs *instrs)
{
    if (at > program->instrs.count || program->instrs.count - at < instrs->count)
        return false;
    for (uint32_t i = 0; i < instrs->count; i++)
        if (program->instrs.at[at + i].op != instrs->at[i].op ||
            program->instrs.at[at + i].word != instrs->at[i].word)
            return false;
    return true;
}

/* Whether the barrier is there already: at the place behind the op's own call, or, at a cut, with its
 * first flag there. */
static bool has_barrier(const struct debug_sync *ds, enum core_type core, uint32_t place, bool own)
{
    const struct side *side = &ds->sides[core];
    if (own) /* a record of the op's end comes before it */
        place = skip_records(side->program, place);
    uint32_t outstanding = side->before[place].arrivals, lead = 0;
    struct instrs instrs = {NULL, 0, 0};
    if (own) {
        place = skip_records(side->program, place);
    } else {
        /* Back over what was awaited to where it was outstanding. */
        while (place > lead && lead <= MAX_OUTSTANDING &&
               program_has(side->program, place - 1 - lead, INSTR_await))
            lead++;
        lead += place > lead;
        outstanding = side->before[place - lead].arrivals;
    }
    make_barrier(&instrs, core, ds->flags, outstanding);
    bool found = has_instrs(side->program, place - lead, &instrs);
    vec_free(&instrs);
    return found;
}

static void add_barrier(struct debug_sync *ds, enum core_type core, uint32_t place)
{
    struct side *side = &ds->sides[core];
    struct instrs instrs = {NULL, 0, 0};
    make_barrier(&instrs, core, ds->flags, side->before[place].arrivals);
    for (uint32_t i = 0; i < instrs.count; i++)
        program_edit_add(&side->edit, place, instrs.at[i]);
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
        diag_note(ds->sk->context->diags, (struct span){0, 0}, "%s", why);
    return false;
}

/* The places for the barrier behind op i, on sides that it concerns. `next` is the op's successor on the
 * side where it has no part. */
static bool find_places(struct debug_sync *ds, uint32_t i, const uint32_t *next, uint32_t *places)
{
    int own =
        ds->sides[CORE_AIC].calls && ds->sides[CORE_AIC].calls[i] != NONE ? CORE_AIC : CORE_AIV;
    for (int core = 0; core < CORE_TYPES; core++) {
        struct side *side = &ds->sides[core];
        if (!side->program || side->calls[i] == NONE)
            continue;
        places[core] = side->gap = place_behind(ds->sk, side->program, side->calls[i]);
    }
    if (ds->sides[own].before[places[own]].arrivals > MAX_OUTSTANDING)
        return refuse(ds, i, "more than 15 arrivals are not awaited there");
    if (!ds->flags)
        return true;
    struct side *other = &ds->sides[1 - own];
    const struct tally *here = &ds->sides[own].before[places[own]];
    if (other->calls[i] == NONE)
        places[1 - own] = find_cut(other, next[1 - own], here);
    const struct tally *there = &other->before[places[1 - own]];
    if (!is_balanced(here, there))
        return refuse(ds, i,
                      "a flag is always outstanding there: let what is set behind an op be "
                      "waited for before the next");
    return there->arrivals <= MAX_OUTSTANDING ||
           refuse(ds, i, "more than 15 arrivals are not awaited there");
}

static bool is_concerned(const struct debug_sync *ds, int core, uint32_t i)
{
    return ds->sides[core].program && (ds->flags || ds->sides[core].calls[i] != NONE);
}

static bool synchronise_op(struct debug_sync *ds, uint32_t i, const uint32_t *next)
{
    uint32_t places[CORE_TYPES] = {0};
    bool present = true;
    if (!find_places(ds, i, next, places))
        return false;
    for (int core = 0; core < CORE_TYPES; core++)
        if (is_concerned(ds, core, i))
            present =
                present && has_barrier(ds, core, places[core], ds->sides[core].calls[i] != NONE);
    for (int core = 0; core < CORE_TYPES && !present; core++)
        if (is_concerned(ds, core, i))
            add_barrier(ds, core, places[core]);
    return true;
}

/* Ends of the stretch that op i stands in on each side: found once for all ops in it. */
static void find_ends(struct debug_sync *ds, uint32_t i, uint32_t *next)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        struct side *side = &ds->sides[core];
        bool first = i == 0 || side->calls[i - 1] != NONE;
        if (side->calls[i] != NONE || !first)
            continue;
        uint32_t later = i;
        while (later < ds->sk->count && side->calls[later] == NONE)
            later++;
        next[core] = stretch_end(side, later < ds->sk->count ? side->calls[later] : NONE);
    }
}

static bool synchronise(struct debug_sync *ds)
{
    uint32_t next[CORE_TYPES] = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < ds->sk->count; i++) {
        if (ds->flags)
            find_ends(ds, i, next);
        ok = synchronise_op(ds, i, next);
    }
    return ok;
}

static bool visit(struct superkernel *sk)
{
    struct debug_sync ds = {.sk = sk};
    if (!sk->options.of[SK_debug_sync_all].number)
        return true;
    ds.flags = !superkernel_is_two_lists(sk) && kernel_type_is_mixed(sk->entry->type);
    for (int core = 0; core < CORE_TYPES; core++) {
        struct side *side = &ds.sides[core];
        if (!sk->entry->programs[core].present)
            continue;
        side->program = &sk->entry->programs[core];
        side->before = count_program(sk, core);
        side->calls = superkernel_calls(sk, core);
    }
    bool ok = synchronise(&ds);
    for (int core = 0; core < CORE_TYPES; core++) {
        struct side *side = &ds.sides[core];
        if (ok && side->program)
            program_edit_apply(&side->edit, side->program);
        vec_free(&side->edit);
        free(side->before);
        free(side->calls);
    }
    return ok;
}

bool pass_debug_sync_all(struct pass_context *context)
{
    return superkernels_visit(context, visit);
}
