/* Measures barriers over all 72 cores of a device with 24 AICs and 48 AIVs, of an entry that is
 * rows of data and of one that is code, and launches that do nothing. For each number of threads
 * that is asked for it prints a line of nanoseconds: a barrier of the one and of the other, one of
 * that many bare threads, the first launch and a later one, and as many switches of stacks as there
 * are cores. All take turns; what is printed are medians. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "backend/runtime/fiber.h"
#include "skrt.h"

enum { CORES = 72, BARRIERS = 1000, ROUNDS = 21, PARAMS = 1, MAX_THREADS = 64 };

static const struct skrt_site sites[] = {{"arrive", NULL}, {"await", NULL}};

/* ----------------------------------------------------------------- entries ---- */

static struct skrt_row programs[SKRT_CORE_TYPES][2 * BARRIERS];
static struct skrt_rows rows = {
    .version = SKRT_ROWS_VERSION, .copies = 1, .stride = 1, .sites = sites};

static void make_rows(void)
{
    for (int type = 0; type < SKRT_CORE_TYPES; type++) {
        for (int i = 0; i < BARRIERS; i++) {
            programs[type][2 * i] =
                (struct skrt_row){.op = SKRT_ROW_arrive, .site = 0, .numbers = {(uint32_t)type}};
            programs[type][2 * i + 1] =
                (struct skrt_row){.op = SKRT_ROW_await, .site = 1, .numbers = {(uint32_t)type}};
        }
        rows.programs[type] = (struct skrt_row_program){programs[type], 2 * BARRIERS};
    }
}

static void rows_entry(skrt_core *core)
{
    skrt_run_rows(core, &rows);
}

static void code_entry(skrt_core *core)
{
    enum skrt_core_type type = skrt_core_type(core);
    for (int i = 0; i < BARRIERS; i++) {
        skrt_arrive(core, type, &sites[0]);
        skrt_await(core, type, &sites[1]);
    }
}

static void empty_entry(skrt_core *core)
{
    (void)core;
}

/* ---------------------------------------------------------------- measuring ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double launch(struct skrt_device *device, skrt_entry_fn *entry)
{
    uint64_t params[PARAMS] = {0};
    struct skrt_result result;
    struct skrt_launch launch = {.name = "bench",
                                 .entry = entry,
                                 .blocks = 24,
                                 .aics = 1,
                                 .aivs = 2,
                                 .params = params,
                                 .n_params = PARAMS};
    double begin = now();
    if (skrt_launch(device, &launch, &result) != SKRT_OK) {
        fputs(result.report ? result.report : "no report\n", stderr);
        exit(1);
    }
    return now() - begin;
}

/* A barrier of bare threads, which spin, and let others run where that takes long. */
struct meeting {
    _Alignas(64) atomic_uint here;
    _Alignas(64) atomic_uint over;
    uint32_t threads;
};

static void *meet(void *arg)
{
    enum { SPINS = 1000 };
    struct meeting *meeting = arg;
    for (uint32_t round = 1; round <= BARRIERS; round++) {
        if (atomic_fetch_add(&meeting->here, 1) + 1 == round * meeting->threads)
            atomic_store(&meeting->over, round);
        for (uint32_t i = 1; atomic_load(&meeting->over) < round; i++)
            if (i % SPINS == 0)
                sched_yield();
    }
    return NULL;
}

static double bare(uint32_t threads)
{
    pthread_t all[MAX_THREADS];
    struct meeting meeting = {.threads = threads};
    double begin = now();
    for (uint32_t i = 1; i < threads; i++)
        if (pthread_create(&all[i], NULL, meet, &meeting) != 0)
            exit(1);
    meet(&meeting);
    for (uint32_t i = 1; i < threads; i++)
        pthread_join(all[i], NULL);
    return now() - begin;
}

/* Two stacks, which one thread leaves for one another. */
static struct skrt_fiber here, there;

static void go_back(void *arg)
{
    (void)arg;
    for (;;)
        skrt_fiber_switch(&there, &here, false);
}

static double switches(void)
{
    double begin = now();
    for (int i = 0; i < BARRIERS * CORES / 2; i++)
        skrt_fiber_switch(&here, &there, false);
    return now() - begin;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, compare);
    return values[ROUNDS / 2];
}

/* Both types have a barrier in each step: together they are one of all cores. */
static void measure(uint32_t threads)
{
    static double by_rows[ROUNDS], by_code[ROUNDS], by_threads[ROUNDS], launches[ROUNDS];
    static double by_switches[ROUNDS];
    struct skrt_device_config config = {.aic = 24, .aiv = 48, .threads = threads};
    struct skrt_device *device = skrt_device_open(&config);
    if (!device)
        exit(1);
    double first = launch(device, empty_entry);
    for (int i = 0; i < ROUNDS; i++) {
        launches[i] = launch(device, empty_entry);
        by_rows[i] = launch(device, rows_entry) / BARRIERS;
        by_code[i] = launch(device, code_entry) / BARRIERS;
        by_threads[i] = bare(threads) / BARRIERS;
        by_switches[i] = switches() / BARRIERS;
    }
    printf("%u %.0f %.0f %.0f %.0f %.0f %.0f\n", threads, median(by_rows), median(by_code),
           median(by_threads), first, median(launches), median(by_switches));
    skrt_device_close(device);
}

int main(int argc, char **argv)
{
    make_rows();
    skrt_fiber_init_thread(&here);
    if (!skrt_fiber_map(&there))
        return 1;
    skrt_fiber_reset(&there, go_back, NULL);
    for (int i = 1; i < argc; i++) {
        uint32_t threads = (uint32_t)strtoul(argv[i], NULL, 10);
        if (threads > 0 && threads <= MAX_THREADS)
            measure(threads);
    }
    return 0;
}
