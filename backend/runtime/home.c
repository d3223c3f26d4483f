/* Homes, and their shares of barriers.
 *
 * A core that is released, and whose rows up to the next await are only hints, its arrival and
 * calls that leave it out, would execute them and wait again. It rests instead: it is counted with
 * its like, and goes on when the rows have something for it. */
#include "backend/runtime/home.h"
#include "backend/runtime/rows.h"
#include "backend/runtime/shape.h"

#include <string.h>

/* ---------------------------------------------------------------- from elsewhere ---- */

/* The owner says that it is asleep before it looks at `signals` for the last time. */
void skrt_home_signal(struct skrt_home *home)
{
    atomic_fetch_add(&home->signals, 1);
    if (atomic_load(&home->asleep))
        skrt_sleep_end(&home->signals);
}

static void put_into_inbox(struct skrt_core *core)
{
    struct skrt_home *home = core->home;
    core->next = atomic_load_explicit(&home->inbox, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&home->inbox, &core->next, core,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

void skrt_home_post(struct skrt_core *core)
{
    struct skrt_home *home = core->home; /* the core may be gone behind the next line */
    put_into_inbox(core);
    skrt_home_signal(home);
}

void skrt_home_post_all(struct skrt_device *device, struct skrt_core_list *list)
{
    assert(device->locked);
    for (const struct skrt_core *core = list->first; core; core = core->next)
        core->home->told = true;
    for (struct skrt_core *core; (core = skrt_list_pop(list)) != NULL;)
        put_into_inbox(core);
    for (uint32_t i = 0; i < device->n_homes; i++) {
        if (device->homes[i].told)
            skrt_home_signal(&device->homes[i]);
        device->homes[i].told = false;
    }
}

/* ------------------------------------------------------------- behind the gate ---- */

static void count_ready(struct skrt_home *home, int change)
{
    uint32_t n = atomic_load_explicit(&home->n_ready, memory_order_relaxed);
    atomic_store_explicit(&home->n_ready, n + (uint32_t)change, memory_order_relaxed);
}

void skrt_home_ready(struct skrt_core *core)
{
    assert(core->state == SKRT_CORE_BLOCKED || !core->begun);
    core->state = SKRT_CORE_READY;
    skrt_list_push(&core->home->ready, core);
    count_ready(core->home, 1);
}

struct skrt_core *skrt_home_take(struct skrt_home *home)
{
    struct skrt_core *core = skrt_list_pop(&home->ready);
    if (!core)
        return NULL;
    assert(core->state == SKRT_CORE_READY);
    core->state = SKRT_CORE_RUNNING;
    count_ready(home, -1);
    return core;
}

/* In the order in which they were put there. */
static void empty_inbox(struct skrt_home *home)
{
    struct skrt_core *core = atomic_exchange_explicit(&home->inbox, NULL, memory_order_acquire);
    struct skrt_core *turned = NULL;
    while (core) {
        struct skrt_core *next = core->next;
        core->next = turned;
        turned = core;
        core = next;
    }
    while (turned) {
        core = turned;
        turned = core->next;
        skrt_home_ready(core);
    }
}

void skrt_home_collect(struct skrt_home *home)
{
    uint32_t signals = atomic_load_explicit(&home->signals, memory_order_acquire);
    if (signals == atomic_load_explicit(&home->seen, memory_order_relaxed))
        return;
    atomic_store_explicit(&home->seen, signals, memory_order_relaxed);
    if (atomic_load_explicit(&home->inbox, memory_order_relaxed))
        empty_inbox(home);
    for (struct skrt_half **link = &home->waiting; *link;) {
        struct skrt_half *half = *link;
        skrt_half_release(half);
        if (*link == half)
            link = &half->next;
    }
}

/* ----------------------------------------------------------------- rounds ---- */

void skrt_half_init(struct skrt_half *half, struct skrt_barrier *barrier, uint32_t cores)
{
    memset(half, 0, sizeof *half);
    half->barrier = barrier;
    half->cores = cores;
    half->at[0] = (uint16_t)cores;
}

/* The last home has told of the round: all others hear that it is complete. Who sees that it is,
 * sees what all did before they told of it, since each who tells acquires what those before it have
 * released. */
static void complete_round(const struct skrt_core *core, struct skrt_barrier *barrier,
                           uint64_t round)
{
    const struct skrt_job *job = core->job;
    struct skrt_device *device = core->device;
    _Atomic uint32_t *count = &barrier->counts[round % SKRT_ROUNDS];
    atomic_store_explicit(count, barrier->fed, memory_order_relaxed);
    atomic_store_explicit(&barrier->complete, round, memory_order_release);
    for (uint32_t i = 0; i < device->n_homes && barrier->homes > 1; i++)
        if (&device->homes[i] != core->home &&
            skrt_home_cores(job, core->type, barrier->size, i) > 0)
            skrt_home_signal(&device->homes[i]);
}

/* Another one has told of the round. Returns whether all have. */
static bool count_round(const struct skrt_core *core, struct skrt_barrier *barrier, uint64_t round)
{
    _Atomic uint32_t *count = &barrier->counts[round % SKRT_ROUNDS];
    if (atomic_fetch_add_explicit(count, 1, memory_order_acq_rel) + 1 != barrier->homes)
        return false;
    complete_round(core, barrier, round);
    return true;
}

/* All cores of the core's home have arrived once more. Returns whether all others have, too. */
static bool tell_round(const struct skrt_core *core, struct skrt_half *half)
{
    return count_round(core, half->barrier, ++half->arrived);
}

/* What a count goes back to when its round is complete stands for them in later rounds. */
void skrt_barrier_feed(const struct skrt_core *core, struct skrt_barrier *barrier)
{
    bool any = false;
    assert(barrier->fed);
    for (uint64_t round = 1; round <= SKRT_ROUNDS; round++)
        any = count_round(core, barrier, round) || any;
    if (any)
        skrt_home_signal(core->home);
}

void skrt_half_tell(const struct skrt_core *core, struct skrt_half *half)
{
    if (tell_round(core, half))
        skrt_half_release(half);
}

/* Cores that rest arrive; who releases them sees whether that completes the next round. */
static void arrive_at_rest(const struct skrt_core *core, struct skrt_half *half, uint32_t n)
{
    if (skrt_half_count(half, half->released, n))
        tell_round(core, half);
}

/* ---------------------------------------------------------------- looking ahead ---- */

/* What stands up to the next await. */
struct ahead {
    uint64_t row;   /* behind it */
    uint64_t calls; /* of them */
    uint32_t reach; /* all cores from this index on only arrive */
};

/* Whether a call is one that cores may be left out of without a word. */
static bool look_at_call(const struct skrt_core *core, const struct skrt_row *row,
                         struct ahead *ahead)
{
    char why[128];
    const struct skrt_launch *launch = core->job->launch;
    const struct skrt_call call = skrt_row_call(core, core->rows, row);
    if (row->early || skrt_call_misfit(launch, core->type, &call, why, sizeof why))
        return false;
    uint32_t cores = skrt_call_cores(launch, &call, core->type);
    ahead->reach = cores > ahead->reach ? cores : ahead->reach;
    ahead->calls++;
    return true;
}

/* False where there is something for all cores. */
static bool look_ahead(const struct skrt_core *core, uint64_t from, struct ahead *ahead)
{
    const struct skrt_row_program *program = &core->rows->programs[core->type];
    bool arrives = false;
    *ahead = (struct ahead){from, 0, 0};
    while (ahead->row < program->n_rows) {
        const struct skrt_row *row = &program->rows[ahead->row++];
        switch ((enum skrt_row_op)row->op) {
        case SKRT_ROW_hint:
        case SKRT_ROW_pipe_barrier: break;
        case SKRT_ROW_call:
            if (!look_at_call(core, row, ahead))
                return false;
            break;
        case SKRT_ROW_arrive:
            if (arrives || row->numbers[0] != core->type)
                return false;
            arrives = true;
            break;
        case SKRT_ROW_await: return arrives && row->numbers[0] == core->type;
        default: return false;
        }
    }
    return false;
}

/* ------------------------------------------------------------------- resting ---- */

/* Whether a core that is released may rest: it has no stack, is in no call, and is at no round that
 * it has not awaited. */
static bool may_rest(const struct skrt_core *core)
{
    const struct skrt_job *job = core->job;
    return core->rows && !core->fiber && !job->race && !job->launch->records &&
           core->arrived == core->awaited;
}

/* They are where the last await has left them. */
static void end_rest(struct skrt_half *half, struct skrt_core_list *list)
{
    struct skrt_resting *resting = &half->resting;
    for (struct skrt_core *core; (core = skrt_list_pop(&resting->cores)) != NULL;) {
        const struct skrt_row *row = &core->rows->programs[core->type].rows[resting->row - 1];
        core->row = resting->row;
        core->arrived += resting->rounds;
        core->awaited += resting->rounds;
        core->calls += resting->calls;
        atomic_store_explicit(&core->site, &core->rows->sites[row->site], memory_order_relaxed);
        skrt_list_push(list, core);
    }
    *resting = (struct skrt_resting){.n = 0};
}

/* Nobody passes anything from then on: who is released is told so, and is ready where it is. */
static bool is_stopped(const struct skrt_core *core)
{
    return atomic_load_explicit(&core->device->stopped, memory_order_relaxed);
}

/* Those that are released and rest go on so, or come to the list. */
static void go_on_resting(struct skrt_half *half, struct skrt_core_list *list)
{
    struct skrt_resting *resting = &half->resting;
    const struct skrt_core *first = resting->cores.first;
    struct ahead ahead;
    if (!first)
        return;
    if (is_stopped(first) || !look_ahead(first, resting->row, &ahead) ||
        ahead.reach > resting->least) {
        end_rest(half, list);
        return;
    }
    resting->row = ahead.row;
    resting->calls += ahead.calls;
    resting->rounds++;
    arrive_at_rest(first, half, resting->n);
}

/* A core passes what is ahead of it, and joins those that have. What was counted of all of them so
 * far is counted of it as well when they end, so that it is taken off here. */
static void begin_rest(struct skrt_half *half, struct skrt_core *core, const struct ahead *ahead)
{
    struct skrt_resting *resting = &half->resting;
    core->arrived += 1 - resting->rounds;
    core->awaited += 1 - resting->rounds;
    core->calls += ahead->calls - resting->calls;
    if (resting->n++ == 0 || core->index < resting->least)
        resting->least = core->index;
    resting->row = ahead->row;
    skrt_list_push(&resting->cores, core);
}

/* Of cores that are released, those for which there is nothing up to the next await rest; the
 * others become ready. */
static void wake(struct skrt_half *half, struct skrt_core_list *list)
{
    struct skrt_resting *resting = &half->resting;
    const struct skrt_rows *rows = list->first->rows;
    uint64_t row = list->first->row;
    const struct skrt_core *last = NULL;
    struct ahead ahead;
    uint32_t n = 0;
    bool can = !is_stopped(list->first) && may_rest(list->first) &&
               look_ahead(list->first, row, &ahead) &&
               ahead.reach < list->first->job->launched[list->first->type] &&
               (resting->n == 0 || resting->row == ahead.row);
    for (struct skrt_core *core; (core = skrt_list_pop(list)) != NULL;) {
        if (!can || core->index < ahead.reach || !may_rest(core) || core->rows != rows ||
            core->row != row) {
            skrt_home_ready(core);
            continue;
        }
        begin_rest(half, core, &ahead);
        last = core;
        n++;
    }
    if (last)
        arrive_at_rest(last, half, n);
}

void skrt_half_settle(struct skrt_home *home)
{
    for (struct skrt_half *half = home->waiting; half; half = half->next)
        end_rest(half, &half->waiters);
}

/* ------------------------------------------------------------------- waiting ---- */

static bool has_cores(const struct skrt_half *half)
{
    return half->waiters.first || half->resting.n > 0;
}

static void unlink_half(struct skrt_home *home, struct skrt_half *half)
{
    struct skrt_half **link = &home->waiting;
    while (*link != half)
        link = &(*link)->next;
    *link = half->next;
}

/* Cores that rest may be the last ones to arrive at the next round, and so on. */
void skrt_half_release(struct skrt_half *half)
{
    uint64_t complete;
    while ((complete = atomic_load_explicit(&half->barrier->complete, memory_order_acquire)) !=
           half->released) {
        half->released = complete;
        if (!has_cores(half))
            continue;
        struct skrt_core_list list = half->waiters;
        struct skrt_home *home = (list.first ? list.first : half->resting.cores.first)->home;
        half->waiters = (struct skrt_core_list){NULL, NULL};
        go_on_resting(half, &list);
        if (list.first) {
            atomic_store_explicit(&home->since, skrt_clock(), memory_order_relaxed);
            wake(half, &list);
        }
        if (!has_cores(half))
            unlink_half(home, half);
    }
}

void skrt_half_wait(struct skrt_half *half, struct skrt_core *core)
{
    if (!has_cores(half)) {
        half->next = core->home->waiting;
        core->home->waiting = half;
    }
    skrt_list_push(&half->waiters, core);
}
