/* Work in parts: what comes of it is what one thread makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ir/support/intern.h"
#include "ir/support/parts.h"
#include "ir/support/text.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

enum { MAX_ITEMS = 1000, HEAVY = 1000 };

/* Items that say something, make something, or cannot be done in parts. */
struct job {
    uint64_t weight;
    struct intern names;
    char *made[MAX_ITEMS];
    uint32_t ids[MAX_ITEMS];
    bool every_error, exhausts, has_parts;
    uint32_t calls;  /* atomic */
    uint32_t others; /* items that other threads did; atomic */
    pthread_t first_thread;
};

static uint64_t weigh(const void *user, uint32_t item)
{
    (void)item;
    return ((const struct job *)user)->weight;
}

static bool is_odd(uint32_t item)
{
    return item % 97 == 13;
}

/* The first time that a part comes here, there is no memory. */
static void exhaust(const struct job *job, uint32_t item)
{
    if (job->exhausts && item % 31 == 5 && part_runs())
        mem_exhausted();
}

static void do_item(struct job *job, uint32_t item, struct diags *diags)
{
    char text[32];
    snprintf(text, sizeof text, "name%u", item % 7 + (is_odd(item) ? 100 + item : 0));
    job->made[item] = mem_strdup(text);
    job->ids[item] = intern_copy(&job->names, text, strlen(text));
    diag_at(diags, DIAG_entry_symbol, no_span, "remark %u", item);
    if (item % 3 == 0 && diag_at(diags, DIAG_entry_unused, no_span, "warning %u", item))
        diag_help(diags, "help %u", item);
    exhaust(job, item);
    if (is_odd(item) || job->every_error)
        diag_at(diags, DIAG_cycle, no_span, "error %u", item);
}

static void count_others(struct job *job)
{
    if (!pthread_equal(pthread_self(), job->first_thread))
        __atomic_fetch_add(&job->others, 1, __ATOMIC_RELAXED);
}

/* Items of a part that has parts itself. */
struct inner {
    struct job *job;
    uint32_t base;
};

static uint64_t weigh_inner(const void *user, uint32_t item)
{
    return weigh(((const struct inner *)user)->job, item);
}

static void do_inner(void *user, uint32_t first, uint32_t end, struct diags *diags)
{
    const struct inner *inner = user;
    for (uint32_t i = first; i < end; i++)
        do_item(inner->job, inner->base + i, diags);
}

static void do_items(void *user, uint32_t first, uint32_t end, struct diags *diags)
{
    struct job *job = user;
    __atomic_fetch_add(&job->calls, 1, __ATOMIC_RELAXED);
    for (uint32_t i = first; i < end; i++) {
        count_others(job);
        if (!job->has_parts)
            do_item(job, i, diags);
    }
    if (job->has_parts)
        parts_run(
            &(struct parts){
                {4, false}, end - first, weigh_inner, do_inner, &(struct inner){job, first}},
            diags);
}

/* All that comes of a job, as a text. */
static void write_outcome(const struct job *job, uint32_t count, const struct diags *diags,
                          struct text *text)
{
    for (uint32_t i = 0; i < count; i++)
        text_printf(text, "%s=%u\n", job->made[i], job->ids[i]);
    for (uint32_t i = 0; i < diags->list.count; i++) {
        const struct diag *diag = &diags->list.at[i];
        text_printf(text, "%s%s%s\n", diag->text, diag->notes ? ": " : "",
                    diag->notes ? diag->notes->text : "");
    }
    for (int severity = 0; severity < SEVERITY_COUNT; severity++)
        text_printf(text, "%u\n", diags->counts[severity]);
    text_char(text, '\0');
}

static void run(struct job *job, unsigned threads, uint32_t count, struct text *outcome)
{
    struct diags diags;
    diags_init(&diags, NULL, "job");
    diags.remarks = true;
    job->first_thread = pthread_self();
    job->names.shared = true;
    for (uint32_t i = 0; i < 7; i++) { /* the rest is new to the table */
        char text[32];
        snprintf(text, sizeof text, "name%u", i);
        intern_copy(&job->names, text, strlen(text));
    }
    parts_run(&(struct parts){{threads, false}, count, weigh, do_items, job}, &diags);
    write_outcome(job, count, &diags, outcome);
    for (uint32_t i = 0; i < count; i++)
        mem_free(job->made[i]);
    intern_free(&job->names);
    diags_free(&diags);
}

/* Whether 2 to 9 threads make the same of a job as one. */
static void check(const struct job *job, uint32_t count)
{
    struct text one = {NULL, 0, 0};
    struct job alone = *job;
    run(&alone, 1, count, &one);
    assert_int_equal(alone.calls, 1);
    for (unsigned threads = 2; threads < 10; threads++) {
        struct text several = {NULL, 0, 0};
        struct job again = *job;
        run(&again, threads, count, &several);
        assert_string_equal(several.at, one.at);
        text_free(&several);
    }
    text_free(&one);
}

static void test_same(void **state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 2, 3, 7, 8, 9, 100, MAX_ITEMS};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        check(&(struct job){.weight = HEAVY}, counts[i]);
        check(&(struct job){.weight = HEAVY, .every_error = true}, counts[i]);
        check(&(struct job){.weight = HEAVY, .exhausts = true}, counts[i]);
        check(&(struct job){.weight = HEAVY, .has_parts = true}, counts[i]);
    }
}

/* Items without names, errors and exhausted memory are done once, and not all by one thread. */
static void rest(void *user, uint32_t first, uint32_t end, struct diags *diags)
{
    struct job *job = user;
    (void)diags;
    for (uint32_t i = first; i < end; i++) {
        count_others(job);
        __atomic_fetch_add(&job->ids[i], 1, __ATOMIC_RELAXED);
        sched_yield();
    }
    __atomic_fetch_add(&job->calls, 1, __ATOMIC_RELAXED);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static void run_resting(struct job *job, unsigned threads, uint32_t count)
{
    struct diags diags;
    diags_init(&diags, NULL, "job");
    job->first_thread = pthread_self();
    parts_run(&(struct parts){{threads, false}, count, weigh, rest, job}, &diags);
    diags_free(&diags);
}

static void test_threads(void **state)
{
    (void)state;
    struct job job = {.weight = HEAVY};
    run_resting(&job, 2, MAX_ITEMS);
    assert_true(job.others > 0 && job.others < MAX_ITEMS);
    assert_int_equal(job.calls, 8);
    for (uint32_t i = 0; i < MAX_ITEMS; i++)
        assert_int_equal(job.ids[i], 1);
}

/* What is little is done at once: small files do not pay for threads. */
static void test_little(void **state)
{
    (void)state;
    struct job job = {.weight = 1};
    run_resting(&job, 8, MAX_ITEMS - 1);
    assert_int_equal(job.calls, 1);
    assert_int_equal(job.others, 0);
    run_resting(&job, 8, MAX_ITEMS);
    assert_true(job.calls > 2);
}

/* But if threads are asked for, they do even nothing. */
static void test_always(void **state)
{
    (void)state;
    struct diags diags;
    struct job job = {.weight = 0, .first_thread = pthread_self()};
    diags_init(&diags, NULL, "job");
    parts_run(&(struct parts){{2, true}, 16, weigh, rest, &job}, &diags);
    diags_free(&diags);
    assert_true(job.calls >= 2);
    for (uint32_t i = 0; i < MAX_ITEMS; i++)
        assert_int_equal(job.ids[i], i < 16);
}

/* Tests that let allocations fail know which they are. */
static void test_limited(void **state)
{
    (void)state;
    struct job job = {.weight = HEAVY};
    uint64_t before = mem_allow(1000000);
    run_resting(&job, 8, MAX_ITEMS);
    mem_allow(before);
    assert_int_equal(job.calls, 1);
}

/* Memory that a part has allocated is its caller's: freed with the scope that was entered. */
static void run_in_scope(void *user)
{
    struct text outcome = {NULL, 0, 0};
    run(user, 4, MAX_ITEMS, &outcome);
    mem_calloc(100, 1);
    mem_exhausted();
}

static void test_scope(void **state)
{
    (void)state;
    struct mem_scope scope = {.blocks = NULL};
    struct job job = {.weight = HEAVY, .every_error = true};
    assert_false(mem_scope_run(&scope, run_in_scope, &job));
    assert_null(scope.blocks);
}

/* Outside of a part nothing is left. */
static void test_outside(void **state)
{
    (void)state;
    part_leave();
    assert_false(part_runs());
    assert_true(parts_processors() >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),    cmocka_unit_test(test_threads),
        cmocka_unit_test(test_little),  cmocka_unit_test(test_always),
        cmocka_unit_test(test_limited), cmocka_unit_test(test_scope),
        cmocka_unit_test(test_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
