#include "passes/launches/entry_order.h"

#include <string.h>

/* One core of each type runs its program up to its next step. */
struct walk {
    const struct entry *entry;
    struct id_map wait_of, notify_of; /* by event's name id: its step */
    uint32_t at[CORE_TYPES];          /* the next instruction */
    struct vec_u32 sets[CORE_TYPES];  /* flags that the type has set: whether it had met then */
    uint32_t waits[CORE_TYPES];       /* how many of those of the other type it has waited for */
    bool met[CORE_TYPES];             /* it is behind a barrier, so all blocks have cores */
    struct launch_step *steps;
    struct vec_u32 order; /* steps */
    uint8_t *put;         /* by step */
};

static const struct instr *next_instr(const struct walk *walk, int core)
{
    const struct program *program = &walk->entry->programs[core];
    return walk->at[core] < program->instrs.count ? &program->instrs.at[walk->at[core]] : NULL;
}

static void put_step(struct walk *walk, uint32_t step, bool met)
{
    if (walk->put[step])
        return;
    walk->put[step] = 1;
    walk->steps[step].early = walk->steps[step].kind == STEP_NOTIFY && !met;
    vec_push(&walk->order, step);
}

/* The step that an instruction is, or NONE. */
static uint32_t step_of(const struct walk *walk, const struct instr *instr)
{
    if (instr->word || (instr->op != INSTR_wait_event && instr->op != INSTR_notify))
        return NONE;
    return id_map_find(instr->op == INSTR_notify ? &walk->notify_of : &walk->wait_of,
                       instr->number[0]);
}

/* Whether the core passes an instruction that is no step. */
static bool pass_instr(struct walk *walk, int core, const struct instr *instr)
{
    enum instr_effect effect = instr_info((enum instr_op)instr->op)->effect;
    if (step_of(walk, instr) != NONE ||
        (effect == EFFECT_WAIT && walk->waits[core] == walk->sets[1 - core].count))
        return false;
    if (effect == EFFECT_WAIT)
        walk->met[core] |= walk->sets[1 - core].at[walk->waits[core]++];
    else if (effect == EFFECT_SET)
        vec_push(&walk->sets[core], walk->met[core]);
    walk->met[core] |= instr_awaits(instr, (enum core_type)core);
    walk->at[core]++;
    return true;
}

static void run_both(struct walk *walk)
{
    bool any = true;
    while (any) {
        any = false;
        for (int core = 0; core < CORE_TYPES; core++)
            for (const struct instr *instr = next_instr(walk, core);
                 instr && pass_instr(walk, core, instr); instr = next_instr(walk, core))
                any = true;
    }
}

/* The core that comes to its step next; CORE_TYPES: none has one. */
static int next_step(const struct walk *walk)
{
    int found = CORE_TYPES;
    uint32_t first = NONE;
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct instr *instr = next_instr(walk, core);
        uint32_t step = instr ? step_of(walk, instr) : NONE;
        if (step >= first)
            continue;
        found = core;
        first = step;
    }
    return found;
}

static void sort_steps(const struct walk *walk, struct launch_step *steps, uint32_t count)
{
    struct launch_step *sorted = mem_calloc(count, sizeof *sorted);
    uint32_t n = 0;
    for (; n < walk->order.count; n++)
        sorted[n] = steps[walk->order.at[n]];
    for (uint32_t i = 0; i < count; i++)
        if (!walk->put[i])
            sorted[n++] = steps[i];
    memcpy(steps, sorted, count * sizeof *sorted);
    mem_free(sorted);
}

void entry_order_steps(const struct entry *entry, struct launch_step *steps, uint32_t count,
                       const uint32_t *names)
{
    struct walk walk = {.entry = entry, .steps = steps};
    walk.put = mem_calloc(count, 1);
    for (uint32_t i = 0; i < count; i++)
        id_map_set(steps[i].kind == STEP_WAIT ? &walk.wait_of : &walk.notify_of,
                   names[steps[i].event], i);
    run_both(&walk);
    for (int core = next_step(&walk); core != CORE_TYPES; core = next_step(&walk)) {
        put_step(&walk, step_of(&walk, next_instr(&walk, core)), walk.met[core]);
        walk.at[core]++;
        run_both(&walk);
    }
    sort_steps(&walk, steps, count);
    id_map_free(&walk.wait_of);
    id_map_free(&walk.notify_of);
    vec_free(&walk.sets[CORE_AIC]);
    vec_free(&walk.sets[CORE_AIV]);
    vec_free(&walk.order);
    mem_free(walk.put);
}
