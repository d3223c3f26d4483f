/* States are single cores and who has them, and of each stream how far it is: no reductions, no
 * sums, nothing of passes/residency but the table. What must happen sooner or later and what only
 * may are told apart: a state hangs where nothing must happen and not all is over. */
#include "tests/unit/launch_oracle.h"

#include <string.h>

enum { FREE = 0, ABSENT = 255 };

struct at {
    uint8_t launch, steps[LANES], taken, ended; /* ended: blocks of a launch that keeps nothing */
};

/* Bytes, so that equal states are equal bytes. */
struct state {
    struct at at[ORACLE_STREAMS];
    uint8_t aic[ORACLE_CORES],
        aiv[ORACLE_CORES][2]; /* the stream that has it, from 1; FREE; ABSENT */
};

struct oracle {
    const struct launch_table *table;
    struct vec_u32 rows[ORACLE_STREAMS];
    struct device cores;
    VEC(struct state) states;
    struct vec_u32 slots;
    uint64_t limit;
    uint32_t next;   /* the first whose ways on are not tried */
    struct state at; /* the one at hand */
    bool must;       /* something must happen in it */
};

static const struct launch_row *row_of(const struct oracle *oracle, const struct state *state,
                                       uint32_t stream)
{
    uint32_t launch = state->at[stream].launch;
    if (launch == oracle->rows[stream].count)
        return NULL;
    return &oracle->table->rows.at[oracle->rows[stream].at[launch]];
}

/* ------------------------------------------------------------------------- events ---- */

static bool has_event(const struct oracle *oracle, struct range events, uint32_t event)
{
    for (uint32_t i = 0; i < events.count; i++)
        if (oracle->table->events.at[events.first + i] == event)
            return true;
    return false;
}

/* Whether the row of a stream, of which so many steps of each lane are over, has sent the event. */
static bool sent_by(const struct oracle *oracle, const struct launch_row *row, const uint8_t *steps,
                    bool ended, uint32_t event)
{
    uint8_t seen[LANES] = {0};
    for (uint32_t i = 0; i < row->steps.count; i++) {
        const struct launch_step *step = &oracle->table->steps.at[row->steps.first + i];
        bool over = seen[step->lane]++ < steps[step->lane];
        if (over && step->kind == STEP_NOTIFY && step->event == event)
            return true;
    }
    return ended && has_event(oracle, row->sends, event);
}

static bool sends(const struct oracle *oracle, const struct launch_row *row, uint32_t event)
{
    static const uint8_t all[LANES] = {UINT8_MAX, UINT8_MAX};
    return sent_by(oracle, row, all, true, event);
}

static bool is_sent(const struct oracle *oracle, const struct state *state, uint32_t event)
{
    bool inside = false;
    for (uint32_t s = 0; s < oracle->table->n_streams; s++)
        for (uint32_t i = 0; i < oracle->rows[s].count; i++) {
            const struct launch_row *row = &oracle->table->rows.at[oracle->rows[s].at[i]];
            bool over = i < state->at[s].launch, now = i == state->at[s].launch;
            inside = inside || sends(oracle, row, event);
            if ((over && sends(oracle, row, event)) ||
                (now && sent_by(oracle, row, state->at[s].steps, false, event)))
                return true;
        }
    return !inside;
}

static bool may_start(const struct oracle *oracle, const struct state *state,
                      const struct launch_row *row)
{
    for (uint32_t i = 0; i < row->waits.count; i++)
        if (!is_sent(oracle, state, oracle->table->events.at[row->waits.first + i]))
            return false;
    return true;
}

/* ------------------------------------------------------------------------- states ---- */

static void swap(uint8_t *a, uint8_t *b)
{
    uint8_t was = *a;
    *a = *b;
    *b = was;
}

static int compare_cores(const struct state *state, uint32_t i, uint32_t k)
{
    if (state->aic[i] != state->aic[k])
        return state->aic[i] < state->aic[k] ? -1 : 1;
    return memcmp(state->aiv[i], state->aiv[k], 2);
}

/* Which of several equal cores it is does not matter. */
static void sort_cores(struct state *state)
{
    for (uint32_t i = 0; i < ORACLE_CORES; i++)
        if (state->aiv[i][0] > state->aiv[i][1])
            swap(&state->aiv[i][0], &state->aiv[i][1]);
    for (uint32_t i = 1; i < ORACLE_CORES; i++)
        for (uint32_t k = i; k > 0 && compare_cores(state, k, k - 1) < 0; k--) {
            swap(&state->aic[k], &state->aic[k - 1]);
            swap(&state->aiv[k][0], &state->aiv[k - 1][0]);
            swap(&state->aiv[k][1], &state->aiv[k - 1][1]);
        }
}

static uint32_t hash_of(const struct state *state)
{
    const uint8_t *bytes = (const uint8_t *)state;
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof *state; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3) + (hash >> 37);
    return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t *slot_of(struct oracle *oracle, const struct state *state)
{
    uint32_t mask = oracle->slots.count - 1, i = hash_of(state) & mask;
    while (oracle->slots.at[i] != NONE &&
           memcmp(&oracle->states.at[oracle->slots.at[i]], state, sizeof *state) != 0)
        i = (i + 1) & mask;
    return &oracle->slots.at[i];
}

static void make_slots(struct oracle *oracle, uint32_t count)
{
    vec_free(&oracle->slots);
    vec_reserve(&oracle->slots, count);
    memset(oracle->slots.at, 0xff, count * sizeof(uint32_t));
    oracle->slots.count = count;
    for (uint32_t i = 0; i < oracle->states.count; i++)
        *slot_of(oracle, &oracle->states.at[i]) = i;
}

static void reach(struct oracle *oracle, struct state *state)
{
    sort_cores(state);
    uint32_t *slot = slot_of(oracle, state);
    if (*slot != NONE)
        return;
    *slot = oracle->states.count;
    vec_push(&oracle->states, *state);
    if (2 * oracle->states.count > oracle->slots.count)
        make_slots(oracle, 2 * oracle->slots.count);
}

/* ------------------------------------------------------------------------- cores ---- */

/* Gives cores back: all of a stream, or those of one of its blocks. */
static void give_back(struct state *state, uint32_t stream, uint32_t aics, uint32_t aivs)
{
    uint8_t who = (uint8_t)(stream + 1);
    for (uint32_t i = 0; i < ORACLE_CORES; i++) {
        bool mine = state->aic[i] == who;
        if (mine && aics) {
            state->aic[i] = FREE;
            aics--;
        }
        for (uint32_t k = 0; k < 2; k++)
            if (state->aiv[i][k] == who && aivs) {
                state->aiv[i][k] = FREE;
                aivs--;
            }
    }
}

static void next_launch(struct state *state, uint32_t stream)
{
    give_back(state, stream, UINT32_MAX, UINT32_MAX);
    state->at[stream] = (struct at){.launch = state->at[stream].launch + 1};
}

static void took(struct oracle *oracle, struct state state, uint32_t stream)
{
    state.at[stream].taken++;
    oracle->must = true;
    reach(oracle, &state);
}

/* An AI core has to have all that a mixed block takes. */
static void take_in_group(struct oracle *oracle, uint32_t stream, const struct shape_info *shape)
{
    uint8_t who = (uint8_t)(stream + 1);
    for (uint32_t i = 0; i < ORACLE_CORES; i++) {
        struct state state = oracle->at;
        uint32_t left = shape->aivs;
        if (state.aic[i] != FREE)
            continue;
        state.aic[i] = who;
        for (uint32_t k = 0; k < 2; k++)
            if (left && state.aiv[i][k] == FREE) {
                state.aiv[i][k] = who;
                left--;
            }
        if (left == 0)
            took(oracle, state, stream);
    }
}

static void take_single(struct oracle *oracle, uint32_t stream, const struct shape_info *shape)
{
    uint8_t who = (uint8_t)(stream + 1);
    for (uint32_t i = 0; i < ORACLE_CORES && shape->aics; i++) {
        struct state state = oracle->at;
        if (state.aic[i] == FREE) {
            state.aic[i] = who;
            took(oracle, state, stream);
        }
    }
    for (uint32_t i = 0; i < 2 * ORACLE_CORES && shape->aivs; i++) {
        struct state state = oracle->at;
        if (state.aiv[i / 2][i & 1] == FREE) {
            state.aiv[i / 2][i & 1] = who;
            took(oracle, state, stream);
        }
    }
}

/* Any cores that are free. */
static void take_any(struct oracle *oracle, uint32_t stream, const struct shape_info *shape)
{
    uint8_t who = (uint8_t)(stream + 1);
    struct state state = oracle->at;
    uint32_t aics = shape->aics, aivs = shape->aivs;
    for (uint32_t i = 0; i < ORACLE_CORES && aics; i++)
        if (state.aic[i] == FREE) {
            state.aic[i] = who;
            aics--;
        }
    for (uint32_t i = 0; i < 2 * ORACLE_CORES && aivs; i++)
        if (state.aiv[i / 2][i & 1] == FREE) {
            state.aiv[i / 2][i & 1] = who;
            aivs--;
        }
    if (aics == 0 && aivs == 0)
        took(oracle, state, stream);
}

static void take_block(struct oracle *oracle, uint32_t stream, const struct launch_row *row)
{
    const struct shape_info *shape = shape_info(row->shape);
    if (!shape->aics || !shape->aivs)
        take_single(oracle, stream, shape);
    else if (device_is_grouped(&oracle->cores))
        take_in_group(oracle, stream, shape);
    else
        take_any(oracle, stream, shape);
}

/* ------------------------------------------------------------------------- launches ---- */

/* One of its blocks ends, whichever: of a mixed one, an AIC and the AIVs of the same AI core. */
static void end_blocks(struct oracle *oracle, uint32_t stream, const struct launch_row *row)
{
    const struct shape_info *shape = shape_info(row->shape);
    uint8_t who = (uint8_t)(stream + 1);
    bool grouped = device_is_grouped(&oracle->cores);
    for (uint32_t i = 0; i < ORACLE_CORES; i++)
        for (uint32_t k = 0; k < 2; k++) {
            struct state state = oracle->at;
            if (shape->aics && grouped && state.aic[i] != who)
                continue;
            if (!shape->aics && state.aiv[i][k] != who)
                continue;
            if (shape->aics && grouped) {
                state.aic[i] = FREE;
                for (uint32_t v = 0; v < 2; v++)
                    state.aiv[i][v] = state.aiv[i][v] == who ? FREE : state.aiv[i][v];
            } else if (shape->aics) {
                give_back(&state, stream, shape->aics, shape->aivs);
            } else {
                state.aiv[i][k] = FREE;
            }
            state.at[stream].ended++;
            oracle->must = true;
            if (state.at[stream].ended == row->blocks)
                next_launch(&state, stream);
            reach(oracle, &state);
        }
}

static void go_on(struct oracle *oracle, uint32_t stream, uint8_t lane, bool certain)
{
    struct state state = oracle->at;
    state.at[stream].steps[lane]++;
    oracle->must = oracle->must || certain;
    reach(oracle, &state);
}

/* The next step of a lane, or NULL. */
static const struct launch_step *next_step(const struct oracle *oracle,
                                           const struct launch_row *row, const struct at *at,
                                           uint8_t lane)
{
    uint8_t seen = 0;
    for (uint32_t i = 0; i < row->steps.count; i++) {
        const struct launch_step *step = &oracle->table->steps.at[row->steps.first + i];
        if (step->lane == lane && seen++ == at->steps[lane])
            return step;
    }
    return NULL;
}

/* The next steps of a launch that keeps its cores, or its end. */
static void go_inside(struct oracle *oracle, uint32_t stream, const struct launch_row *row)
{
    const struct at *at = &oracle->at.at[stream];
    bool all = at->taken == row->blocks, over = true;
    for (uint8_t lane = 0; lane < LANES; lane++) {
        const struct launch_step *step = next_step(oracle, row, at, lane);
        over = over && !step;
        if (!step || at->steps[1 - lane] < step->after)
            continue;
        if (step->kind == STEP_WAIT ? is_sent(oracle, &oracle->at, step->event) && at->taken
                                    : all || (step->early && at->taken))
            go_on(oracle, stream, lane, all);
    }
    if (over && all) {
        struct state state = oracle->at;
        next_launch(&state, stream);
        oracle->must = true;
        reach(oracle, &state);
    }
}

static void try_stream(struct oracle *oracle, uint32_t stream)
{
    const struct launch_row *row = row_of(oracle, &oracle->at, stream);
    if (!row || !may_start(oracle, &oracle->at, row))
        return;
    const struct at at = oracle->at.at[stream];
    if (at.taken < row->blocks)
        take_block(oracle, stream, row);
    if (row->keeps)
        go_inside(oracle, stream, row);
    else if (at.taken > at.ended)
        end_blocks(oracle, stream, row);
}

static bool is_over(const struct oracle *oracle, const struct state *state)
{
    for (uint32_t s = 0; s < oracle->table->n_streams; s++)
        if (row_of(oracle, state, s))
            return false;
    return true;
}

static enum oracle_answer run(struct oracle *oracle)
{
    for (; oracle->next < oracle->states.count; oracle->next++) {
        if (oracle->states.count > oracle->limit)
            return ORACLE_TOO_LARGE;
        oracle->at = oracle->states.at[oracle->next];
        oracle->must = false;
        for (uint32_t s = 0; s < oracle->table->n_streams; s++)
            try_stream(oracle, s);
        if (!oracle->must && !is_over(oracle, &oracle->at))
            return ORACLE_HANGS;
    }
    return ORACLE_SAFE;
}

enum oracle_answer launch_oracle(const struct launch_table *table, uint64_t limit, uint64_t *states)
{
    struct oracle oracle = {.table = table, .cores = table->device, .limit = limit};
    struct state first;
    assert(table->n_streams <= ORACLE_STREAMS && table->device.aics <= ORACLE_CORES);
    for (uint32_t i = 0; i < table->rows.count; i++)
        vec_push(&oracle.rows[table->rows.at[i].stream], i);
    memset(&first, 0, sizeof first);
    for (uint32_t i = 0; i < 2 * ORACLE_CORES; i++) {
        if (i / 2 >= oracle.cores.aics)
            first.aic[i / 2] = ABSENT;
        if (i >= oracle.cores.aivs)
            first.aiv[i / 2][i & 1] = ABSENT;
    }
    make_slots(&oracle, 1024);
    reach(&oracle, &first);
    enum oracle_answer answer = run(&oracle);
    *states = oracle.states.count;
    for (uint32_t s = 0; s < ORACLE_STREAMS; s++)
        vec_free(&oracle.rows[s]);
    vec_free(&oracle.states);
    vec_free(&oracle.slots);
    return answer;
}
