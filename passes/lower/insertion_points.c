#include "passes/lower/insertion_points.h"

#include <assert.h>
#include <string.h>

uint32_t *superkernel_calls(const struct superkernel *sk, enum core_type core)
{
    const struct program *program = &sk->entry->programs[core];
    uint32_t *calls = mem_calloc(sk->count, sizeof *calls);
    for (uint32_t i = 0; i < sk->count; i++)
        calls[i] = NONE;
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        if (!program_has(program, i, INSTR_call))
            continue;
        assert(program->instrs.at[i].number[0] < sk->n_grouped);
        calls[sk->grouped[program->instrs.at[i].number[0]]] = i;
    }
    return calls;
}

static enum instr_place place_of(const struct program *program, uint32_t at)
{
    return instr_info(program->instrs.at[at].op)->place;
}

static bool is_record(const struct program *program, uint32_t at)
{
    return place_of(program, at) == PLACE_RECORD;
}

/* A step stands before its call in its first phase, and else behind it. */
static bool is_step(const struct program *program, uint32_t at, bool behind)
{
    return place_of(program, at) == PLACE_STEP &&
           (program->instrs.at[at].word != PHASE_begin) == behind;
}

uint32_t skip_records(const struct program *program, uint32_t at)
{
    while (at < program->instrs.count && is_record(program, at))
        at++;
    return at;
}

static uint32_t call_site_begin(const struct program *program, uint32_t call)
{
    assert(program_has(program, call, INSTR_call));
    while (call > 0 && (is_record(program, call - 1) || is_step(program, call - 1, false)))
        call--;
    return call;
}

uint32_t call_site_end(const struct program *program, uint32_t call)
{
    assert(program_has(program, call, INSTR_call));
    uint32_t end = call + 1, at;
    while ((at = skip_records(program, end)) < program->instrs.count && is_step(program, at, true))
        end = at + 1;
    return end;
}

bool call_site_has(const struct program *program, uint32_t call, enum instr_op op)
{
    uint32_t end = call_site_end(program, call);
    for (uint32_t i = call_site_begin(program, call); i < end; i++)
        if (program_has(program, i, op))
            return true;
    return false;
}

/* ---------------------------------------------------------------- cache maintenance ---- */

bool program_has_dcci_pair(const struct program *program, uint32_t at)
{
    return program_has(program, at, INSTR_pipe_barrier) && program_has(program, at + 1, INSTR_dcci);
}

bool call_site_dcci_before(const struct program *program, uint32_t call, uint32_t *place)
{
    *place = call_site_begin(program, call);
    if (*place > 0 && program_has(program, *place - 1, INSTR_dcci))
        return false;
    while (*place < call && !is_step(program, *place, false))
        (*place)++;
    return true;
}

bool call_site_dcci_behind(const struct program *program, uint32_t call, uint32_t *place)
{
    *place = call_site_end(program, call);
    uint32_t at = skip_records(program, *place);
    if (!program_has(program, at, INSTR_dcci))
        return true;
    *place = at + 1;
    return false;
}

uint32_t call_site_behind_dcci(const struct program *program, uint32_t call, bool pairs)
{
    uint32_t place;
    call_site_dcci_behind(program, call, &place);
    uint32_t at = skip_records(program, place);
    return pairs && program_has_dcci_pair(program, at) ? at + 2 : place;
}

/* ------------------------------------------------------------------- where ops begin ---- */

uint32_t call_site_op_begin(const struct program *program, uint32_t from, uint32_t call)
{
    uint32_t end = call == NONE ? program->instrs.count : call_site_begin(program, call);
    for (uint32_t i = from; i < end; i++)
        if (place_of(program, i) == PLACE_BEGIN)
            return i;
    if (call != NONE && end > from && program_has(program, end - 1, INSTR_dcci)) {
        end--;
        end -= end > from && program_has(program, end - 1, INSTR_pipe_barrier);
    }
    return end;
}

uint32_t call_site_behind_notify(const struct program *program, uint32_t from)
{
    uint32_t behind = from;
    for (uint32_t i = from; i < program->instrs.count; i++) {
        if (program->instrs.at[i].op == INSTR_call)
            break;
        if (program->instrs.at[i].op == INSTR_notify)
            behind = i + 1;
    }
    return behind;
}

uint32_t program_start_end(const struct program *program)
{
    uint32_t at = skip_records(program, 0);
    while (at < program->instrs.count && place_of(program, at) == PLACE_START)
        at = skip_records(program, at + 1);
    return at;
}

void ahead_init(struct ahead *ahead, const struct superkernel *sk, enum core_type core)
{
    bool own_list = superkernel_is_two_lists(sk);
    uint32_t *call_of = superkernel_calls(sk, core);
    *ahead = (struct ahead){.program = &sk->entry->programs[core]};
    ahead->split = !own_list && sk->options->of[SK_early_start].number != 0;
    ahead->pairs = sk->options->of[SK_debug_dcci_all].number != 0;
    for (uint32_t i = 0; i < sk->count; i++) {
        uint32_t turn = own_list ? ahead->at.count : i;
        if (call_of[i] == NONE)
            continue;
        vec_push(&ahead->at, call_of[i]);
        vec_push(&ahead->turn, turn);
    }
    mem_free(call_of);
}

void ahead_free(struct ahead *ahead)
{
    vec_free(&ahead->at);
    vec_free(&ahead->turn);
}

/* Behind the arrivals at `i` where barriers are split, so that others need not wait for what is
 * brought in. */
static uint32_t behind_arrivals(const struct ahead *ahead, uint32_t i)
{
    while (ahead->split && program_has(ahead->program, i, INSTR_arrive))
        i++;
    return i;
}

/* In front of what is owed before the op of a turn. `before` is the number of calls of earlier
 * turns. */
static uint32_t place_before(const struct ahead *ahead, uint32_t before, uint32_t turn)
{
    if (before == 0)
        return behind_arrivals(ahead, 0);
    assert(before <= ahead->at.count);
    uint32_t i = call_site_behind_dcci(ahead->program, ahead->at.at[before - 1], ahead->pairs);
    if (ahead->turn.at[before - 1] + 1 == turn)
        return behind_arrivals(ahead, i);
    /* In between are ops of the other core type alone. Before the first of them the op here sends
     * its events. What leads to them arrives and sets; what leads from them to the next op here
     * waits. */
    for (i = call_site_behind_notify(ahead->program, i); i < ahead->program->instrs.count; i++) {
        uint8_t op = ahead->program->instrs.at[i].op;
        if (op == INSTR_call || op == INSTR_wait || op == INSTR_wait_event)
            break;
    }
    return i;
}

uint32_t ahead_place(struct ahead *ahead, uint32_t i)
{
    uint32_t turn = ahead->turn.at[i] ? ahead->turn.at[i] - 1 : 0;
    while (ahead->turn.at[ahead->before] < turn)
        ahead->before++;
    return place_before(ahead, ahead->before, turn);
}

/* The kind of record that an instruction is, or 0. */
static unsigned record_kind(const struct instr *instr)
{
    switch (instr->op) {
    case INSTR_profile: return RECORDS_PROFILE;
    case INSTR_trace: return RECORDS_TRACE;
    case INSTR_count_arrive:
    case INSTR_check_await:
    case INSTR_count_set:
    case INSTR_check_wait: return RECORDS_CHECK;
    default: return 0;
    }
}

/* A program that gets records. */
struct recording {
    struct superkernel *sk;
    const struct superkernel_events *events;
    unsigned kinds;
    enum core_type core;
    struct program_edit edit;
};

static void add(struct recording *r, uint32_t at, unsigned kind, struct instr instr)
{
    if (r->kinds & kind)
        program_edit_add(&r->edit, at, instr);
}

static void add_profile(struct recording *r, uint32_t at, enum phase phase, uint32_t index,
                        enum profile_kind kind)
{
    struct instr instr = instr_make(INSTR_profile, (uint8_t)phase);
    instr.number[0] = index;
    instr.number[1] = (uint32_t)kind;
    add(r, at, RECORDS_PROFILE, instr);
}

static void add_trace(struct recording *r, uint32_t at, uint32_t index, enum trace_state state)
{
    struct instr instr = instr_make(INSTR_trace, 0);
    instr.number[0] = index;
    instr.number[1] = (uint32_t)state;
    add(r, at, RECORDS_TRACE, instr);
}

static void add_check(struct recording *r, uint32_t at, enum instr_op op, uint8_t word)
{
    add(r, at, RECORDS_CHECK, instr_make(op, word));
}

/* ------------------------------------------------------------------------- programs ---- */

/* The kernel of a call that starts early does some of the entry's synchronisation
 * (docs/device-model.md, "Early start"). */
static void record_call(struct recording *r, uint32_t at, const struct instr *call, uint32_t op)
{
    const struct kernel *kernel = module_kernel(r->sk->module, call->kernel);
    unsigned own = r->core == CORE_AIC ? EARLY_WAIT_AIC : EARLY_WAIT_AIV;
    uint32_t place = superkernel_place(r->sk, op);
    if (call->early & own && kernel_type_has(kernel->type, 1 - r->core))
        add_check(r, at, INSTR_count_set, (uint8_t)r->core);
    if (call->early & EARLY_SET)
        add_check(r, at, INSTR_count_arrive, (uint8_t)r->core);
    add_trace(r, at, place, TRACE_LAUNCHED);
    add_profile(r, at, PHASE_begin, place, PROFILE_OP);
    add_profile(r, at + 1, PHASE_end, place, PROFILE_OP);
    add_trace(r, at + 1, place, TRACE_FINISHED);
    if (call->early & own)
        add_check(r, at + 1, INSTR_check_await, (uint8_t)r->core);
    if (call->early & EARLY_WAIT_MIX & ~own)
        add_check(r, at + 1, INSTR_check_wait, (uint8_t)(1 - r->core));
}

/* Of the op that the event belongs to; of the first where an edited dump has one of none. */
static void record_event(struct recording *r, uint32_t at, const struct instr *instr, uint32_t next)
{
    bool wait = instr->op == INSTR_wait_event;
    uint32_t op = superkernel_word_owner(r->sk, r->events, instr, next);
    uint32_t place = op < r->sk->count ? superkernel_place(r->sk, op) : 0;
    enum profile_kind kind = wait ? PROFILE_WAIT : PROFILE_NOTIFY;
    if (wait)
        add_trace(r, at, place, TRACE_WAITING);
    add_profile(r, at, PHASE_begin, place, kind);
    add_profile(r, at + 1, PHASE_end, place, kind);
    if (wait)
        add_trace(r, at + 1, place, TRACE_RECEIVED);
}

/* What is not a call; `next` is the op of the next one. */
static void record_other(struct recording *r, uint32_t at, const struct instr *instr, uint32_t next)
{
    uint32_t place = next < r->sk->count ? superkernel_place(r->sk, next) : 0;
    switch (instr->op) {
    case INSTR_notify:
    case INSTR_wait_event: record_event(r, at, instr, next); break;
    case INSTR_select:
        add_trace(r, at, place, TRACE_WAITING);
        add_trace(r, at + 1, place, TRACE_RECEIVED);
        break;
    case INSTR_arrive: add_check(r, at, INSTR_count_arrive, instr->word); break;
    case INSTR_await: add_check(r, at + 1, INSTR_check_await, instr->word); break;
    case INSTR_set: add_check(r, at, INSTR_count_set, instr->word); break;
    case INSTR_wait: add_check(r, at + 1, INSTR_check_wait, instr->word); break;
    default: break;
    }
}

/* The op of the program's next call, sk->count after the last one. */
static uint32_t next_op(const struct superkernel *sk, const uint32_t *calls, uint32_t op)
{
    while (op < sk->count && calls[op] == NONE)
        op++;
    return op;
}

static void record_program(struct recording *r)
{
    const struct program *program = &r->sk->entry->programs[r->core];
    uint32_t *calls = superkernel_calls(r->sk, r->core), op = next_op(r->sk, calls, 0);
    add_trace(r, 0, 0, TRACE_BEGUN);
    add_profile(r, 0, PHASE_begin, 0, PROFILE_KERNEL);
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        const struct instr *instr = &program->instrs.at[i];
        if (instr->op != INSTR_call) {
            record_other(r, i, instr, op);
            continue;
        }
        record_call(r, i, instr, op);
        op = next_op(r->sk, calls, op + 1);
    }
    add_profile(r, program->instrs.count, PHASE_end, 0, PROFILE_KERNEL);
    add_trace(r, program->instrs.count, 0, TRACE_ENDED);
    superkernel_edit(r->sk, r->core, &r->edit);
    mem_free(calls);
}

void records_make(struct superkernel *sk, unsigned kinds)
{
    struct superkernel_events events = superkernel_events(sk);
    for (int core = 0; core < CORE_TYPES && kinds; core++)
        if (sk->entry->programs[core].present)
            record_program(&(struct recording){
                .sk = sk, .events = &events, .kinds = kinds, .core = (enum core_type)core});
    superkernel_events_free(&events);
}

/* ------------------------------------------------------------------------------ slots ---- */

enum { PROFILE_SLOTS = 2 }; /* the address of the buffer for records, and its size in bytes */

static unsigned present(const struct entry *entry)
{
    unsigned kinds = 0;
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++)
            kinds |= record_kind(&entry->programs[core].instrs.at[i]);
    return kinds;
}

/* Where there are slots of time records there were records, which are not to be seen here. The slot
 * for the others is after the workspace, if there is one, and before those. */
void records_add(struct superkernel *sk, unsigned kind)
{
    if ((sk->records | present(sk->entry)) & kind ||
        (kind == RECORDS_PROFILE && entry_profile_slot(sk->entry) != NONE))
        return;
    struct entry *entry = superkernel_own_entry(sk);
    uint32_t at = entry_named_groups(entry), slot = entry_slot(entry, W_sync_workspace);
    while (slot != NONE && at < entry->groups.count &&
           group_slot(entry, &entry->groups.at[at]) <= slot)
        at++;
    if (kind == RECORDS_PROFILE)
        entry_insert_words(entry, entry->groups.count, W_profiling, PROFILE_SLOTS);
    else if (entry_slot(entry, W_tracing) == NONE)
        entry_insert_words(entry, at, W_tracing, 1);
    sk->records |= kind;
}

/* ----------------------------------------------------------------------- taking out ---- */

static struct program without_records(const struct program *program, unsigned kinds)
{
    struct program rest = *program;
    memset(&rest.instrs, 0, sizeof rest.instrs);
    for (uint32_t i = 0; i < program->instrs.count; i++)
        if (!(record_kind(&program->instrs.at[i]) & kinds))
            vec_push(&rest.instrs, program->instrs.at[i]);
    return rest;
}

/* Positions do not count. All but records are the same anyway. */
static bool same_programs(const struct program *a, const struct program *b)
{
    bool same = a->instrs.count == b->instrs.count;
    for (uint32_t i = 0; same && i < a->instrs.count; i++) {
        const struct instr *x = &a->instrs.at[i], *y = &b->instrs.at[i];
        same = x->op == y->op && x->word == y->word && x->number[0] == y->number[0] &&
               x->number[1] == y->number[1];
    }
    return same;
}

static void take_records(struct entry *entry, unsigned kinds)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        struct program rest = without_records(&entry->programs[core], kinds);
        vec_free(&entry->programs[core].instrs);
        entry->programs[core] = rest;
    }
}

unsigned records_take(struct superkernel *sk)
{
    struct program old[CORE_TYPES];
    unsigned kinds = present(sk->entry);
    if (!kinds || (kinds & RECORDS_PROFILE && entry_profile_slot(sk->entry) == NONE) ||
        (kinds & ~(unsigned)RECORDS_PROFILE && entry_slot(sk->entry, W_tracing) == NONE))
        return 0;
    struct entry *entry = superkernel_own_entry(sk);
    struct program *programs = entry->programs;
    for (int core = 0; core < CORE_TYPES; core++) {
        old[core] = programs[core];
        programs[core] = without_records(&old[core], kinds);
    }
    records_make(sk, kinds);
    bool same = same_programs(&programs[CORE_AIC], &old[CORE_AIC]) &&
                same_programs(&programs[CORE_AIV], &old[CORE_AIV]);
    for (int core = 0; core < CORE_TYPES; core++) {
        struct program made = programs[core];
        programs[core] = old[core];
        vec_free(&made.instrs);
    }
    if (same)
        take_records(entry, kinds);
    return same ? kinds : 0;
}

/* ------------------------------------------------------------------------ left checks ---- */

uint64_t records_checked(const struct superkernel *sk)
{
    uint64_t hash = 1;
    bool checks = false;
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < sk->entry->programs[core].instrs.count; i++) {
            const struct instr *instr = &sk->entry->programs[core].instrs.at[i];
            checks |= instr->op == INSTR_check_await || instr->op == INSTR_check_wait;
            if (effect_is_sync(instr_info(instr->op)->effect) || instr->early ||
                record_kind(instr) == RECORDS_CHECK)
                hash = hash * 0x100000001b3u +
                       (1 + instr->op + (instr->early << 8) + (instr->word << 16));
        }
    if (!checks)
        return 0;
    return hash ? hash : 1;
}

void records_recheck(struct superkernel *sk, uint64_t before)
{
    if (!before || sk->records & RECORDS_CHECK || records_checked(sk) == before)
        return;
    take_records(superkernel_own_entry(sk), RECORDS_CHECK);
    records_make(sk, RECORDS_CHECK);
}
