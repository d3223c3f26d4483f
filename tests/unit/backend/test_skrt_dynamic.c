/* The virtual device: dynamic kernels, chosen by a tiling key that comes through memory. */
#include <pthread.h>
#include <time.h>

#include "tests/unit/skrt_harness.h"

enum { KEY_FLAT = 3, KEY_MIXED = 40, KEY_CUBE = 500, KEY_ONE_ONE = 6000, KEYS = 4 };

/* What the cores did, AICs first: which key's function ran there, and as what. */
struct seen {
    uint32_t key, block, blocks, subs;
};

struct dynamic {
    struct run run;
    struct seen seen[24 + 48];
    _Atomic uint64_t key, blocks, lock;
    bool select;   /* whether the entry selects */
    bool reset;    /* whether its core 0 of the AICs (or AIVs, without) clears the lock */
    uint32_t most; /* blocks of the call */
};

static struct dynamic *dynamic_of(const skrt_core *core)
{
    return (void *)(uintptr_t)skrt_args(core, 0)[0];
}

static void see(skrt_core *core, uint32_t key)
{
    bool aiv = skrt_core_type(core) == SKRT_AIV;
    struct seen *seen = &dynamic_of(core)->seen[skrt_core_index(core) + (aiv ? 24 : 0)];
    *seen =
        (struct seen){key, skrt_block_idx(core), skrt_block_num(core), skrt_sub_block_num(core)};
}

static void flat_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)args_offset;
    skrt_kernel_sync_all(core);
    see(core, KEY_FLAT);
    skrt_kernel_sync_all(core);
}

static uint32_t mixed_key(const skrt_core *core)
{
    return (uint32_t)dynamic_of(core)->key;
}

static void mixed_aic(skrt_core *core, uint64_t args_offset)
{
    (void)args_offset;
    skrt_kernel_set_c2v(core);
    see(core, mixed_key(core));
    skrt_kernel_wait_v2c(core);
}

static void mixed_aiv(skrt_core *core, uint64_t args_offset)
{
    (void)args_offset;
    skrt_kernel_wait_c2v(core);
    see(core, mixed_key(core));
    skrt_kernel_set_v2c(core);
}

static void cube_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)args_offset;
    see(core, KEY_CUBE);
}

static const struct skrt_variant variants[SKRT_CORE_TYPES][KEYS] = {
    {{KEY_FLAT, NULL, 1, true},
     {KEY_MIXED, mixed_aic, 2, false},
     {KEY_CUBE, cube_kernel, 0, false},
     {KEY_ONE_ONE, mixed_aic, 1, false}},
    {{KEY_FLAT, flat_kernel, 1, true},
     {KEY_MIXED, mixed_aiv, 2, false},
     {KEY_CUBE, NULL, 0, false},
     {KEY_ONE_ONE, mixed_aiv, 1, false}},
};

/* The kernel twice, so that a second call has its own select. */
static void dynamic_entry(skrt_core *core)
{
    static const struct skrt_site select_site = {"select @k", NULL}, call_site = {"call @k", "K"};
    static const struct skrt_site sync = {"arrive", NULL}, reset = {"reset 3", NULL};
    const struct dynamic *dynamic = dynamic_of(core);
    enum skrt_core_type type = skrt_core_type(core);
    const struct skrt_select select = {variants[type], KEYS, 1};
    const struct skrt_call call = {NULL, 1, dynamic->most, 2, false};
    if (dynamic->select)
        skrt_select(core, &select, &select_site);
    skrt_call_selected(core, &call, &call_site);
    skrt_select(core, &select, &select_site);
    skrt_call_selected(core, &call, &call_site);
    if (!dynamic->reset)
        return;
    skrt_arrive(core, type, &sync);
    skrt_await(core, type, &sync);
    if (type == SKRT_AIV) {
        skrt_set_v2c(core, &sync);
    } else {
        skrt_wait_v2c(core, &sync);
        skrt_arrive(core, type, &sync);
        skrt_await(core, type, &sync);
        skrt_reset(core, 3, &reset);
    }
}

static void dynamic_open(struct dynamic *dynamic, uint32_t threads, uint64_t key, uint64_t blocks)
{
    memset(dynamic, 0, sizeof *dynamic);
    run_open(&dynamic->run, threads, one_two);
    dynamic->run.launch.entry = dynamic_entry;
    dynamic->run.params[0] = (uintptr_t)dynamic;
    dynamic->run.params[1] = (uintptr_t)&dynamic->key;
    dynamic->run.params[2] = (uintptr_t)&dynamic->blocks;
    dynamic->run.params[3] = (uintptr_t)&dynamic->lock;
    dynamic->key = key;
    dynamic->blocks = blocks;
    dynamic->lock = 1;
    dynamic->select = dynamic->reset = true;
    dynamic->most = 24;
}

/* The cores that the variant of a key includes have run it, as what it is; no others have. */
static void expect_seen(const struct dynamic *dynamic, uint32_t key, uint32_t blocks)
{
    for (uint32_t i = 0; i < 24 + 48; i++) {
        const struct seen *seen = &dynamic->seen[i];
        bool aiv = i >= 24;
        uint32_t index = aiv ? i - 24 : i, block = aiv ? index / 2 : index;
        bool runs = key == KEY_FLAT   ? aiv && index < blocks
                    : key == KEY_CUBE ? !aiv && index < blocks
                                      : block < blocks;
        assert_int_equal(seen->key, runs ? key : 0);
        if (!runs)
            continue;
        assert_int_equal(seen->block, key == KEY_FLAT ? index : block);
        assert_int_equal(seen->blocks, blocks);
        assert_int_equal(seen->subs, aiv && key != KEY_FLAT ? 2 : 1);
    }
}

static void test_key_chooses_function_and_shape(void **state)
{
    (void)state;
    static const struct {
        uint32_t key, blocks;
    } cases[] = {
        {KEY_FLAT, 1}, {KEY_FLAT, 31}, {KEY_FLAT, 48},   {KEY_MIXED, 1},    {KEY_MIXED, 24},
        {KEY_CUBE, 1}, {KEY_CUBE, 24}, {KEY_ONE_ONE, 1}, {KEY_ONE_ONE, 24},
    };
    for (uint32_t threads = 1; threads <= 3; threads++)
        for (size_t i = 0; i < COUNT(cases); i++) {
            static struct dynamic dynamic;
            dynamic_open(&dynamic, threads, cases[i].key, cases[i].blocks);
            run_launch(&dynamic.run);
            expect_status(&dynamic.run, SKRT_OK);
            expect_seen(&dynamic, cases[i].key, cases[i].blocks);
            assert_int_equal(dynamic.lock, 0);
            run_close(&dynamic.run);
        }
}

/* Key and block number come after the launch has begun, the lock last. */
static void *tile_later(void *arg)
{
    struct dynamic *dynamic = arg;
    nanosleep(&(struct timespec){0, 20 * 1000 * 1000}, NULL);
    atomic_store(&dynamic->key, KEY_MIXED);
    atomic_store(&dynamic->blocks, 7);
    atomic_store(&dynamic->lock, 1);
    return NULL;
}

static void test_select_waits_for_the_lock(void **state)
{
    (void)state;
    for (int twice = 0; twice < 2; twice++) {
        static struct dynamic dynamic;
        dynamic_open(&dynamic, 2, KEY_FLAT, 48);
        dynamic.lock = 0;
        dynamic.run.launch.timeout_ms = 20000;
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, tile_later, &dynamic), 0);
        run_launch(&dynamic.run);
        pthread_join(thread, NULL);
        expect_status(&dynamic.run, SKRT_OK);
        expect_seen(&dynamic, KEY_MIXED, 7);
        assert_int_equal(dynamic.lock, 0);
        run_close(&dynamic.run);
    }
}

static void expect_end(struct dynamic *dynamic, enum skrt_status status, const char *const *texts)
{
    run_launch(&dynamic->run);
    expect_status(&dynamic->run, status);
    for (; *texts; texts++)
        expect_text(&dynamic->run, *texts);
    run_close(&dynamic->run);
}

static void test_lock_never_opens(void **state)
{
    (void)state;
    static struct dynamic dynamic;
    dynamic_open(&dynamic, 2, KEY_FLAT, 48);
    dynamic.lock = 0;
    expect_end(&dynamic, SKRT_DEADLOCK,
               TEXTS("some for an event or a tiling that nothing in this launch can send",
                     "aic 0..23: blocked in `select @k`: the lock of slot 3 says that its tiling "
                     "has not come; last op none\n",
                     "aiv 0..47: blocked in `select @k`"));
    dynamic_open(&dynamic, 2, KEY_FLAT, 48);
    dynamic.lock = 0;
    dynamic.run.launch.timeout_ms = 50;
    expect_end(&dynamic, SKRT_TIMEOUT, TEXTS("not finished after 50 ms", "blocked in `select @k`"));
}

/* What the entry has reset, the next launch waits for again. */
static void test_lock_is_for_one_launch(void **state)
{
    (void)state;
    static struct dynamic dynamic;
    dynamic_open(&dynamic, 2, KEY_CUBE, 2);
    run_launch(&dynamic.run);
    expect_status(&dynamic.run, SKRT_OK);
    expect_end(&dynamic, SKRT_DEADLOCK, TEXTS("blocked in `select @k`"));
}

static void test_unknown_key(void **state)
{
    (void)state;
    static struct dynamic dynamic;
    dynamic_open(&dynamic, 1, 41, 2);
    expect_end(&dynamic, SKRT_MISUSE,
               TEXTS("misuse: aic 0 at `select @k`: there is no variant for the tiling key 41; the "
                     "keys are 3, 40, 500, 6000\n",
                     "aic 0: stopped at `select @k`"));
}

static void test_blocks_must_fit(void **state)
{
    (void)state;
    static const struct {
        uint64_t key, blocks;
        const char *text;
    } cases[] = {
        {KEY_FLAT, 49, "its tiling asks for 49 blocks, the call has 1 to 48"},
        {KEY_MIXED, 25, "its tiling asks for 25 blocks, the call has 1 to 24"},
        {KEY_CUBE, 0, "its tiling asks for 0 blocks, the call has 1 to 24"},
        {KEY_CUBE, UINT64_C(1) << 32 | 1, "its tiling asks for 4294967297 blocks"},
    };
    static struct dynamic dynamic;
    for (size_t i = 0; i < COUNT(cases); i++) {
        dynamic_open(&dynamic, 2, cases[i].key, cases[i].blocks);
        expect_end(&dynamic, SKRT_MISUSE, TEXTS("at `call @k`: ", cases[i].text));
    }
    /* A call of fewer blocks than the launch has. */
    dynamic_open(&dynamic, 2, KEY_MIXED, 3);
    dynamic.most = 2;
    expect_end(&dynamic, SKRT_MISUSE, TEXTS("its tiling asks for 3 blocks, the call has 1 to 2"));
    /* More than the launch has. */
    dynamic_open(&dynamic, 2, KEY_MIXED, 25);
    dynamic.most = 30;
    expect_end(&dynamic, SKRT_MISUSE, TEXTS("the sub-kernel needs 25 blocks, the launch has 24"));
}

static void test_words_must_be_there(void **state)
{
    (void)state;
    static struct dynamic dynamic;
    for (int slot = 1; slot <= 3; slot++) {
        dynamic_open(&dynamic, 2, KEY_FLAT, 1);
        dynamic.run.params[slot] = 0;
        expect_end(&dynamic, SKRT_MISUSE, TEXTS("does not hold the address of a 64-bit word: 0x0"));
    }
    dynamic_open(&dynamic, 2, KEY_FLAT, 1);
    dynamic.run.launch.n_params = 3;
    expect_end(&dynamic, SKRT_MISUSE, TEXTS("slot 3, but the launch has 3 slots"));
}

static void test_call_needs_its_select(void **state)
{
    (void)state;
    static struct dynamic dynamic;
    dynamic_open(&dynamic, 2, KEY_FLAT, 1);
    dynamic.select = false;
    expect_end(&dynamic, SKRT_MISUSE, TEXTS("at `call @k`: nothing was selected for it"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key_chooses_function_and_shape),
        cmocka_unit_test(test_select_waits_for_the_lock),
        cmocka_unit_test(test_lock_never_opens),
        cmocka_unit_test(test_lock_is_for_one_launch),
        cmocka_unit_test(test_unknown_key),
        cmocka_unit_test(test_blocks_must_fit),
        cmocka_unit_test(test_words_must_be_there),
        cmocka_unit_test(test_call_needs_its_select),
    };
    return cmocka_run_group_tests_name("skrt dynamic kernels", tests, NULL, NULL);
}
