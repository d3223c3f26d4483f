#include "passes/entry/insertion_points.h"

#include <assert.h>

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
    ahead->split = !own_list && sk->options.of[SK_early_start].number != 0;
    ahead->pairs = sk->options.of[SK_debug_dcci_all].number != 0;
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
