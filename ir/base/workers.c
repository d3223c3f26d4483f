#include "ir/base/workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

enum {
    MAX_WORKERS = 255,
    STACK_SIZE = 8 << 20,
    /* Some microseconds, which is what the next work is usually away, and what it costs to sleep
     * and to be woken. */
    SPINS = 1000,
};

/* What is done now. The lock guards all; `round` and `inside` are also read without it, to see
 * whether it is time to take it. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t begun, left;
    void (*work)(void *user);
    void *user;
    unsigned places;  /* for who may still come in */
    unsigned inside;  /* of the threads that wait otherwise */
    unsigned round;   /* counts up with each work */
    unsigned resting; /* are to be woken */
    unsigned count;   /* threads started */
    bool taken, stop, forks;
    pthread_t at[MAX_WORKERS];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .begun = PTHREAD_COND_INITIALIZER,
          .left = PTHREAD_COND_INITIALIZER};

static void pause_shortly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* ------------------------------------------------------------------- threads that wait ---- */

static bool spin_until_round(unsigned seen)
{
    for (int i = 0; i < SPINS; i++) {
        if (__atomic_load_n(&pool.round, __ATOMIC_RELAXED) != seen)
            return true;
        pause_shortly();
    }
    return false;
}

/* With the lock, as are those below. */
static void rest(unsigned seen)
{
    pool.resting++;
    while (pool.round == seen && !pool.stop)
        pthread_cond_wait(&pool.begun, &pool.lock);
    pool.resting--;
}

static void take_part(void)
{
    void (*work)(void *user) = pool.work;
    void *user = pool.user;
    pool.places--;
    __atomic_fetch_add(&pool.inside, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&pool.lock);
    work(user);
    pthread_mutex_lock(&pool.lock);
    if (__atomic_sub_fetch(&pool.inside, 1, __ATOMIC_RELAXED) == 0)
        pthread_cond_signal(&pool.left);
}

/* Each takes part once in the same work. */
static void *worker_main(void *user)
{
    unsigned seen = 0;
    (void)user;
    pthread_mutex_lock(&pool.lock);
    while (!pool.stop) {
        if (pool.round != seen && pool.places > 0) {
            seen = pool.round;
            take_part();
            continue;
        }
        seen = pool.round;
        pthread_mutex_unlock(&pool.lock);
        bool began = spin_until_round(seen);
        pthread_mutex_lock(&pool.lock);
        if (!began)
            rest(seen);
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

/* --------------------------------------------------------------------------- starting ---- */

/* A child of fork() has none of the threads. */
static void forget(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.begun, NULL);
    pthread_cond_init(&pool.left, NULL);
    pool.count = pool.places = pool.inside = pool.resting = 0;
    pool.taken = false;
}

/* Signals go to the thread that was there before, but for those that say what the thread itself
 * has done. */
static void block_signals(sigset_t *before)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&all, own[i]);
    pthread_sigmask(SIG_BLOCK, &all, before);
}

static void start(unsigned wanted)
{
    sigset_t before;
    pthread_attr_t attr;
    if (pool.count >= wanted || pthread_attr_init(&attr) != 0)
        return;
    if (!pool.forks)
        pool.forks = pthread_atfork(NULL, NULL, forget) == 0;
    pthread_attr_setstacksize(&attr, STACK_SIZE);
    block_signals(&before);
    while (pool.count < wanted && pool.count < MAX_WORKERS &&
           pthread_create(&pool.at[pool.count], &attr, worker_main, NULL) == 0)
        pool.count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
}

/* ------------------------------------------------------------------------------- work ---- */

static bool begin(unsigned others, void (*work)(void *user), void *user)
{
    pthread_mutex_lock(&pool.lock);
    bool free = !pool.taken && !pool.stop;
    if (free) {
        start(others);
        pool.taken = true;
        pool.work = work;
        pool.user = user;
        pool.places = others;
        __atomic_fetch_add(&pool.round, 1, __ATOMIC_RELAXED);
        if (pool.resting > 0)
            pthread_cond_broadcast(&pool.begun);
    }
    pthread_mutex_unlock(&pool.lock);
    return free;
}

/* Nobody comes in any more, and all who did are gone. */
static void end(void)
{
    pthread_mutex_lock(&pool.lock);
    pool.places = 0;
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < SPINS && __atomic_load_n(&pool.inside, __ATOMIC_RELAXED) > 0; i++)
        pause_shortly();
    pthread_mutex_lock(&pool.lock);
    while (pool.inside > 0)
        pthread_cond_wait(&pool.left, &pool.lock);
    pool.taken = false;
    pthread_mutex_unlock(&pool.lock);
}

void workers_run(unsigned others, void (*work)(void *user), void *user)
{
    bool shared = others > 0 && begin(others, work, user);
    work(user);
    if (shared)
        end();
}

void workers_stop(void)
{
    pthread_mutex_lock(&pool.lock);
    unsigned count = pool.taken ? 0 : pool.count;
    pool.stop = count > 0;
    pthread_cond_broadcast(&pool.begun);
    pthread_mutex_unlock(&pool.lock);
    for (unsigned i = 0; i < count; i++)
        pthread_join(pool.at[i], NULL);
    pthread_mutex_lock(&pool.lock);
    pool.count -= count;
    pool.stop = false;
    pthread_mutex_unlock(&pool.lock);
}
