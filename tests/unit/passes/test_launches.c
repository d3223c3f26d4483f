/* Concurrent launches: the verdicts of passes/residency against all that can happen core by core,
 * on random tables. */
#include "ir/support/text.h"
#include "passes/residency/deadlock_search.h"
#include "tests/unit/launch_oracle.h"
#include "tests/unit/random_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* ------------------------------------------------------------------------- tables ---- */

struct plan_event {
    uint32_t from, to; /* rows */
    uint32_t sent;     /* 0: at the end, else in the middle */
    uint32_t waited;   /* 0: before the start, else in the middle */
};

struct plan {
    struct random random;
    struct launch_table *table;
    uint32_t n_rows;
    bool lanes; /* rows may have two */
    uint32_t stream[8];
    struct plan_event events[8];
    uint32_t n_events;
};

static const struct device devices[] = {{1, 2}, {2, 4}, {3, 6}, {2, 2},
                                        {2, 3}, {3, 3}, {3, 0}, {0, 4}};

static enum block_shape random_shape(struct plan *plan)
{
    const struct device *device = &plan->table->device;
    for (;;) {
        enum block_shape shape = random_below(&plan->random, SHAPES);
        const struct shape_info *info = shape_info(shape);
        if (info->aics <= device->aics && info->aivs <= device->aivs)
            return shape;
    }
}

/* Most events lead to a later row: then there is no circle. */
static void plan_events(struct plan *plan)
{
    struct random *random = &plan->random;
    plan->n_events = plan->n_rows > 1 ? random_below(random, 8) : 0;
    for (uint32_t i = 0; i < plan->n_events; i++) {
        uint32_t from = random_below(random, plan->n_rows), to = random_below(random, plan->n_rows);
        bool backwards = random_percent(random, 4);
        if (from > to && !backwards) {
            uint32_t was = from;
            from = to;
            to = was;
        }
        plan->events[i] =
            (struct plan_event){from, to, random_percent(random, 40), random_percent(random, 60)};
    }
}

static bool is_step(const struct plan_event *event, uint32_t row)
{
    return (event->from == row && event->sent) || (event->to == row && event->waited);
}

/* The steps of a row, in any order; some rows have them in two lanes. */
static void add_steps(struct plan *plan, uint32_t row)
{
    uint32_t at = random_below(&plan->random, 8), counts[LANES] = {0};
    bool lanes = plan->lanes && random_percent(&plan->random, 30);
    for (uint32_t n = 0; n < 8; n++, at = (at + 1) % 8) {
        const struct plan_event *event = &plan->events[at];
        if (at >= plan->n_events || event->from == event->to || !is_step(event, row))
            continue;
        struct launch_step *step =
            launch_table_step(plan->table, event->to == row ? STEP_WAIT : STEP_NOTIFY, at, at);
        step->early = random_percent(&plan->random, 30);
        step->lane = lanes && random_percent(&plan->random, 50);
        step->after = random_percent(&plan->random, 50) ? counts[1 - step->lane] : 0;
        counts[step->lane]++;
    }
}

/* Few have more blocks than the device has room for. */
static uint32_t random_blocks(struct plan *plan, enum block_shape shape)
{
    const struct device *device = &plan->table->device;
    const struct shape_info *info = shape_info(shape);
    uint32_t most = info->aics ? device->aics : device->aivs;
    if (info->aics && info->aivs && device->aivs / info->aivs < most)
        most = device->aivs / info->aivs;
    return 1 + random_below(&plan->random, most + random_percent(&plan->random, 5));
}

static void add_row(struct plan *plan, uint32_t row)
{
    struct launch_table *table = plan->table;
    enum block_shape shape = random_shape(plan);
    struct launch_row *added =
        launch_table_add(table, plan->stream[row], shape, random_blocks(plan, shape));
    added->keeps = random_percent(&plan->random, 60);
    for (uint32_t i = 0; i < plan->n_events; i++)
        if (plan->events[i].to == row && !plan->events[i].waited)
            launch_table_wait(table, i);
    add_steps(plan, row);
    for (uint32_t i = 0; i < plan->n_events; i++)
        if (plan->events[i].from == row && !plan->events[i].sent)
            launch_table_send(table, i);
}

static void random_table(struct launch_table *table, uint64_t seed, bool lanes)
{
    struct plan plan = {.random = {seed}, .table = table, .lanes = lanes};
    random_bits(&plan.random);
    table->device = devices[random_below(&plan.random, sizeof devices / sizeof *devices)];
    table->n_streams = 1 + random_below(&plan.random, ORACLE_STREAMS);
    plan.n_rows = 1 + random_below(&plan.random, 7);
    for (uint32_t i = 0; i < plan.n_rows; i++)
        plan.stream[i] = random_below(&plan.random, table->n_streams);
    plan_events(&plan);
    for (uint32_t i = 0; i < plan.n_rows; i++)
        add_row(&plan, i);
}

static void put_events(struct text *text, const struct launch_table *table, const char *what,
                       struct range events)
{
    for (uint32_t i = 0; i < events.count; i++)
        text_printf(text, " %s %u", what, table->events.at[events.first + i]);
}

static void put_table(struct text *text, const struct launch_table *table)
{
    text_printf(text, "%u AICs, %u AIVs\n", table->device.aics, table->device.aivs);
    for (uint32_t i = 0; i < table->rows.count; i++) {
        const struct launch_row *row = &table->rows.at[i];
        text_printf(text, "stream %u: %u of %s%s", row->stream, row->blocks,
                    shape_info(row->shape)->name, row->keeps ? " kept" : "");
        put_events(text, table, "waits", row->waits);
        for (uint32_t k = 0; k < row->steps.count; k++) {
            const struct launch_step *step = &table->steps.at[row->steps.first + k];
            text_printf(text, ", %s%s %u%s", step->lane ? "second lane: " : "",
                        step->kind == STEP_WAIT ? "wait" : "notify", step->event,
                        step->early && step->kind == STEP_NOTIFY ? " early" : "");
            if (step->after)
                text_printf(text, " after %u", step->after);
        }
        put_events(text, table, "sends", row->sends);
        text_char(text, '\n');
    }
}

/* ------------------------------------------------------------------------- verdicts ---- */

static enum verdict ask(const struct launch_table *table, uint32_t limit, uint64_t *tried)
{
    struct search search;
    search_init(&search, table, limit, SEARCH_WORK);
    enum verdict verdict = search_run(&search);
    *tried = search.tried;
    search_free(&search);
    return verdict;
}

/* Where the answer is exact: cores need not be free in pairs, or nobody can have broken up pairs
 * while somebody else gets all his (passes/residency/deadlock_search.h). */
static bool is_exact(const struct launch_table *table)
{
    bool mixed = false, inside = false;
    for (uint32_t i = 0; i < table->rows.count; i++)
        mixed = mixed || table->rows.at[i].shape >= SHAPE_MIX_1_1;
    for (uint32_t i = 0; i < table->steps.count; i++)
        inside = inside || table->steps.at[i].kind == STEP_NOTIFY;
    return !mixed || !inside || !device_is_grouped(&table->device);
}

struct count {
    uint64_t tables, hang, circles, alarms, limited, too_large, states, tried;
};

/* A run has so many tables. */
enum { TABLES = 50 };

static void check_table(uint64_t seed, uint32_t n, struct count *count)
{
    struct launch_table table = {.n_streams = 0};
    struct text text = {NULL, 0, 0};
    uint64_t states = 0, tried = 0, unused = 0;
    random_table(&table, seed * TABLES + n, true);
    put_table(&text, &table);
    text_char(&text, '\0');
    enum verdict verdict = ask(&table, SEARCH_STATES, &tried), limited = ask(&table, 2, &unused);
    enum oracle_answer answer = launch_oracle(&table, 100000, &states);
    count->tables++;
    count->states += states;
    count->tried += tried;
    count->too_large += answer == ORACLE_TOO_LARGE;
    if (answer != ORACLE_TOO_LARGE) {
        bool alarm = verdict != SEARCH_SAFE && answer == ORACLE_SAFE;
        RANDOM_CHECK(seed, &text, verdict != SEARCH_SAFE || answer == ORACLE_SAFE);
        RANDOM_CHECK(seed, &text, verdict != SEARCH_CYCLE || answer == ORACLE_HANGS);
        RANDOM_CHECK(seed, &text, !alarm || !is_exact(&table));
        RANDOM_CHECK(seed, &text, limited != SEARCH_SAFE || answer == ORACLE_SAFE);
        count->limited += limited != SEARCH_SAFE && answer == ORACLE_SAFE;
        count->hang += answer == ORACLE_HANGS;
        count->circles += verdict == SEARCH_CYCLE;
        count->alarms += alarm;
    }
    text_free(&text);
    launch_table_free(&table);
}

/* ------------------------------------------------------------------------- fixes ---- */

/* A table whose rows are the parts that a queue of single lanes has now, in the order of their
 * streams. */
static void table_of_queue(struct launch_table *table, const struct queue *queue)
{
    table->device = queue->table->device;
    table->n_streams = queue->table->n_streams;
    for (uint32_t s = 0; s < table->n_streams; s++)
        for (uint32_t i = 0; !queue_is_over(queue, s, i); i = queue_part(queue, s, i)->end[0] + 1) {
            const struct part *part = queue_part(queue, s, i);
            const struct launch_row *row = part_row(queue, part);
            launch_table_add(table, s, row->shape, row->blocks)->keeps = row->keeps;
            for (uint32_t k = 0; k < part->needs.count; k++)
                launch_table_wait(table, part->needs.at[k]);
            for (uint32_t at = part->first[0]; at < part->end[0]; at++) {
                const struct stop *stop = queue_stop(queue, s, at);
                if (stop->kind == STOP_MOVED)
                    continue;
                launch_table_step(table, stop->kind == STOP_WAIT ? STEP_WAIT : STEP_NOTIFY,
                                  stop->event, NONE)
                    ->early = stop->kind == STOP_EARLY;
            }
            const struct stop *last = queue_stop(queue, s, part->end[0]);
            for (uint32_t k = 0; last->event == NONE && k < row->sends.count; k++)
                launch_table_send(table, queue->table->events.at[row->sends.first + k]);
        }
}

/* Some notifications come before others and waits that the list of their row has before them. */
static void hasten_sends(struct launch_table *table, uint64_t seed)
{
    struct random random = {seed};
    for (uint32_t i = 0; i < table->rows.count; i++) {
        struct range range = table->rows.at[i].steps;
        for (uint32_t k = 0; k < range.count; k++) {
            struct launch_step *steps = table->steps.at + range.first, step = steps[k];
            uint32_t to = random_below(&random, k + 1);
            if (step.kind != STEP_NOTIFY || random_percent(&random, 50))
                continue;
            memmove(steps + to + 1, steps + to, (k - to) * sizeof *steps);
            steps[to] = step;
        }
    }
}

/* A cut divides the list: all that a part has comes before the wait at which the row is cut, all of
 * later parts after it. */
static void check_lists(uint64_t seed, const struct text *text, const struct queue *queue)
{
    const struct launch_step *steps = queue->table->steps.at;
    for (uint32_t p = 0; p < queue->parts.count; p++) {
        const struct part *part = &queue->parts.at[p];
        const struct stop *end = queue_stop(queue, part->stream, part->end[0]);
        for (uint32_t i = 0; i < queue->lanes[part->stream].stops.count; i++) {
            const struct stop *stop = queue_stop(queue, part->stream, i);
            if (stop == end || stop->step == NONE || end->step == NONE ||
                queue->parts.at[stop->part].row != part->row)
                continue;
            RANDOM_CHECK(seed, text,
                         (steps[stop->step].list < steps[end->step].list) == (i < part->end[0]));
        }
    }
}

struct fix_count {
    uint64_t hung, repaired, waits, cuts;
};

static void check_repaired(uint64_t seed, const struct text *text, const struct queue *queue,
                           enum verdict verdict)
{
    struct launch_table repaired = {.n_streams = 0};
    uint64_t states;
    table_of_queue(&repaired, queue);
    enum oracle_answer answer = launch_oracle(&repaired, 100000, &states);
    RANDOM_CHECK(seed, text, verdict != SEARCH_SAFE || answer != ORACLE_HANGS);
    RANDOM_CHECK(seed, text, verdict != SEARCH_HANGS || answer != ORACLE_SAFE);
    launch_table_free(&repaired);
}

static void fix_table(uint64_t seed, const struct text *text, const struct launch_table *table,
                      struct fix_count *count)
{
    struct search search;
    struct fixes fixes = {NULL, 0, 0};
    search_init(&search, table, SEARCH_STATES, SEARCH_WORK);
    enum verdict verdict = search_fix(&search, &fixes);
    count->hung += verdict == SEARCH_HANGS || fixes.count > 0;
    count->repaired += verdict == SEARCH_SAFE && fixes.count > 0;
    for (uint32_t i = 0; i < fixes.count; i++)
        *(fixes.at[i].cut ? &count->cuts : &count->waits) += 1;
    check_repaired(seed, text, &search.queue, verdict);
    check_lists(seed, text, &search.queue);
    vec_free(&fixes);
    search_free(&search);
}

/* Only tables whose lists are without a cycle. */
static void check_fixes(uint64_t seed, uint32_t n, struct fix_count *count)
{
    struct launch_table table = {.n_streams = 0};
    struct text text = {NULL, 0, 0};
    uint64_t tried;
    random_table(&table, seed * TABLES + n, false);
    bool lists = ask(&table, SEARCH_STATES, &tried) != SEARCH_CYCLE;
    hasten_sends(&table, seed * TABLES + n);
    put_table(&text, &table);
    text_char(&text, '\0');
    if (lists)
        fix_table(seed, &text, &table, count);
    text_free(&text);
    launch_table_free(&table);
}

static void test_fixes(void **state)
{
    (void)state;
    struct random_runs runs = random_runs(60);
    struct fix_count count = {0};
    for (uint64_t i = 0; i < runs.count; i++)
        for (uint32_t n = 0; n < TABLES; n++)
            check_fixes(runs.seed + i, n, &count);
    printf("# seeds %llu..%llu: %llu tables hang, %llu are mended: %llu waits of whole launches, "
           "%llu cuts\n",
           (unsigned long long)runs.seed, (unsigned long long)(runs.seed + runs.count - 1),
           (unsigned long long)count.hung, (unsigned long long)count.repaired,
           (unsigned long long)count.waits, (unsigned long long)count.cuts);
}

/* ------------------------------------------------------------------------- large tables ---- */

/* Programs of one kind with any number of layers. */
typedef void make_layer(struct launch_table *table, uint32_t layer);

/* A scope over all cores, and beside it single ops that it waits for before it starts. */
static void add_ordered(struct launch_table *table, uint32_t layer)
{
    launch_table_add(table, 1, SHAPE_VECTOR, 96);
    launch_table_send(table, layer);
    launch_table_add(table, 0, SHAPE_MIX_1_2, 24)->keeps = true;
    launch_table_wait(table, layer);
}

/* Scopes of all cores on one stream, single ops on three others, without any order. */
static void add_unordered(struct launch_table *table, uint32_t layer)
{
    (void)layer;
    launch_table_add(table, 0, SHAPE_MIX_1_2, 24)->keeps = true;
    for (uint32_t s = 1; s < 4; s++)
        launch_table_add(table, s, s == 1 ? SHAPE_CUBE : SHAPE_VECTOR, 48);
}

/* Four streams of small scopes that fit together, and wait for one another in the middle. */
static void add_small(struct launch_table *table, uint32_t layer)
{
    for (uint32_t s = 0; s < 4; s++) {
        launch_table_add(table, s, SHAPE_MIX_1_2, 6)->keeps = true;
        if (s > 0)
            launch_table_step(table, STEP_WAIT, layer * 4 + s - 1, 0);
        launch_table_send(table, layer * 4 + s);
    }
}

/* A scope over all cores waits in the middle for an op beside it. */
static void add_waiting(struct launch_table *table, uint32_t layer)
{
    launch_table_add(table, 1, SHAPE_VECTOR, 8);
    launch_table_send(table, layer);
    launch_table_add(table, 0, SHAPE_MIX_1_2, 24);
    launch_table_step(table, STEP_WAIT, layer, 0);
}

/* The same for an op that it has to notify before. */
static void add_ring(struct launch_table *table, uint32_t layer)
{
    launch_table_add(table, 0, SHAPE_MIX_1_2, 24);
    launch_table_step(table, STEP_NOTIFY, 2 * layer, 0);
    launch_table_step(table, STEP_WAIT, 2 * layer + 1, 0);
    launch_table_add(table, 1, SHAPE_VECTOR, 8);
    launch_table_wait(table, 2 * layer);
    launch_table_send(table, 2 * layer + 1);
}

static double milliseconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return 1e3 * (double)ts.tv_sec + 1e-6 * (double)ts.tv_nsec;
}

static void check_large(const char *what, make_layer *make, uint32_t launches, bool hangs)
{
    struct launch_table table = {.device = {24, 48}};
    struct search search;
    struct fixes fixes = {NULL, 0, 0};
    for (uint32_t i = 0; table.rows.count < launches; i++)
        make(&table, i);
    double start = milliseconds();
    search_init(&search, &table, SEARCH_STATES, SEARCH_WORK);
    enum verdict verdict = search_fix(&search, &fixes);
    printf("# %s: %u launches on %u streams, %u mended, %llu states, %.1f ms\n", what,
           table.rows.count, table.n_streams, fixes.count, (unsigned long long)search.tried,
           milliseconds() - start);
    assert_int_equal(verdict, SEARCH_SAFE);
    assert_int_equal(fixes.count > 0, hangs);
    assert_true(search.tried <= 4 * (uint64_t)table.rows.count);
    vec_free(&fixes);
    search_free(&search);
    launch_table_free(&table);
}

static void test_large(void **state)
{
    (void)state;
    for (uint32_t launches = 1000; launches <= 10000; launches *= 10) {
        check_large("scopes behind single ops", add_ordered, launches, false);
        check_large("scopes beside single ops", add_unordered, launches, false);
        check_large("small scopes that wait inside", add_small, launches, false);
        check_large("scopes that wait inside", add_waiting, launches, true);
        check_large("scopes in rings", add_ring, launches, true);
    }
}

/* Launches that each wait in the middle for the one before, the first for the last: any two of them
 * take all cores. */
static void ring_of(struct launch_table *table, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        launch_table_add(table, i, SHAPE_VECTOR, 1);
        launch_table_step(table, STEP_NOTIFY, i, 0);
        launch_table_step(table, STEP_WAIT, (i + count - 1) % count, 0);
    }
}

/* One state of many streams takes long, so it is not only states that are limited. */
static void test_many_streams(void **state)
{
    enum { STREAMS = 400, LIMIT = 1 << 20 };
    struct launch_table table = {.device = {1, 2}};
    struct search search;
    struct fixes fixes = {NULL, 0, 0};
    (void)state;
    ring_of(&table, STREAMS);
    search_init(&search, &table, SEARCH_STATES, LIMIT);
    assert_int_equal(search_fix(&search, &fixes), SEARCH_UNKNOWN);
    printf("# %u streams: %u mended, %llu states, %llu of work\n", STREAMS, fixes.count,
           (unsigned long long)search.tried, (unsigned long long)search.work);
    assert_true(search_ways(&search) == search.tried);
    assert_true(search.work < 4 * (uint64_t)LIMIT);
    vec_free(&fixes);
    search_free(&search);
    launch_table_free(&table);
}

static void test_oracle(void **state)
{
    (void)state;
    struct random_runs runs = random_runs(60);
    struct count count = {0};
    for (uint64_t i = 0; i < runs.count; i++)
        for (uint32_t n = 0; n < TABLES; n++)
            check_table(runs.seed + i, n, &count);
    printf("# seeds %llu..%llu: %llu tables, %llu hang, %llu of them by a circle; %llu false "
           "alarms, %llu with a limit of 2 states; %llu not decided by the oracle; "
           "states: %llu, oracle %llu\n",
           (unsigned long long)runs.seed, (unsigned long long)(runs.seed + runs.count - 1),
           (unsigned long long)count.tables, (unsigned long long)count.hang,
           (unsigned long long)count.circles, (unsigned long long)count.alarms,
           (unsigned long long)count.limited, (unsigned long long)count.too_large,
           (unsigned long long)count.tried, (unsigned long long)count.states);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_fixes),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_many_streams),
    };
    return cmocka_run_group_tests_name("launches", tests, NULL, NULL);
}
