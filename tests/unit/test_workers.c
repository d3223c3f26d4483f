/* Threads that wait for work: all that is to be done is done once, whoever does it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ir/base/workers.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ITEMS = 500 };

struct job {
    uint8_t done[ITEMS]; /* atomic, as are the counts */
    uint32_t next;
    uint32_t calls, now, most; /* of the work; at a time */
    bool inner;
};

static void count_in(struct job *job)
{
    uint32_t now = __atomic_add_fetch(&job->now, 1, __ATOMIC_SEQ_CST);
    uint32_t most = __atomic_load_n(&job->most, __ATOMIC_SEQ_CST);
    while (now > most && !__atomic_compare_exchange_n(&job->most, &most, now, false,
                                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    __atomic_fetch_add(&job->calls, 1, __ATOMIC_SEQ_CST);
}

static void count_thread(void *user)
{
    __atomic_fetch_add((uint32_t *)user, 1, __ATOMIC_SEQ_CST);
}

static void do_items(void *user)
{
    struct job *job = user;
    uint32_t alone = 0;
    count_in(job);
    if (job->inner) {
        workers_run(3, count_thread, &alone);
        assert_int_equal(alone, 1);
    }
    for (uint32_t i; (i = __atomic_fetch_add(&job->next, 1, __ATOMIC_SEQ_CST)) < ITEMS;)
        __atomic_fetch_add(&job->done[i], 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_sub(&job->now, 1, __ATOMIC_SEQ_CST);
}

static void run(struct job *job, unsigned others)
{
    workers_run(others, do_items, job);
    assert_int_equal(job->now, 0);
    assert_in_range(job->calls, 1, others + 1);
    assert_in_range(job->most, 1, others + 1);
    for (uint32_t i = 0; i < ITEMS; i++)
        assert_int_equal(job->done[i], 1);
}

static void test_all_is_done(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 300; round++)
        run(&(struct job){.inner = round % 9 != 0 && round % 2 == 0}, round % 9);
}

static void do_slowly(void *user)
{
    struct job *job = user;
    const struct timespec shortly = {0, 1000000};
    count_in(job);
    for (int i = 0; i < 10000 && __atomic_load_n(&job->most, __ATOMIC_SEQ_CST) < 4; i++)
        nanosleep(&shortly, NULL);
    __atomic_fetch_sub(&job->now, 1, __ATOMIC_SEQ_CST);
}

static void test_others_come(void **state)
{
    (void)state;
    struct job job = {.calls = 0};
    workers_run(3, do_slowly, &job);
    assert_int_equal(job.most, 4);
    assert_int_equal(job.calls, 4);
}

static void test_they_are_stopped(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        run(&(struct job){.next = 0}, 4);
        workers_stop();
    }
    workers_stop();
}

/* A child has none of the threads, and starts its own. */
static void test_child(void **state)
{
    (void)state;
    struct job job = {.calls = 0};
    int status;
    run(&(struct job){.next = 0}, 3);
    pid_t child = fork();
    if (child == 0) {
        workers_run(3, do_slowly, &job);
        _exit(job.most == 4 ? 7 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    run(&(struct job){.next = 0}, 3);
}

static void *run_many(void *user)
{
    (void)user;
    for (unsigned round = 0; round < 100; round++)
        run(&(struct job){.next = 0}, 3);
    return NULL;
}

/* Of two threads that have work at the same time, one does its own alone. */
static void test_two_have_work(void **state)
{
    (void)state;
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, run_many, NULL), 0);
    run_many(NULL);
    assert_int_equal(pthread_join(other, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_is_done),      cmocka_unit_test(test_others_come),
        cmocka_unit_test(test_they_are_stopped), cmocka_unit_test(test_child),
        cmocka_unit_test(test_two_have_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
