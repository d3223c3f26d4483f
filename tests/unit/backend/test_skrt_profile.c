/* Time records: who writes them, and buffers that are too small, or none. */
#include "tests/unit/skrt_harness.h"

enum { SLOT = 2, BLOCKS = 4, CORES = 3 * BLOCKS, ROOM = 256 };

static const struct skrt_site site = {"profile", NULL};

static void idle_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)core;
    (void)args_offset;
}

/* A kernel record, an op on the first AI core alone, and a notify. */
static void entry(skrt_core *core)
{
    const struct skrt_call call = {idle_kernel, 0, 1, 2, false};
    skrt_profile(core, SLOT, SKRT_BEGIN, 0, SKRT_PROFILE_KERNEL, &site);
    skrt_profile(core, SLOT, SKRT_BEGIN, 7, SKRT_PROFILE_OP, &site);
    skrt_call(core, &call, &site);
    skrt_profile(core, SLOT, SKRT_END, 7, SKRT_PROFILE_OP, &site);
    skrt_profile(core, SLOT, SKRT_BEGIN, 7, SKRT_PROFILE_NOTIFY, &site);
    skrt_notify(core, 1, &site);
    skrt_profile(core, SLOT, SKRT_END, 7, SKRT_PROFILE_NOTIFY, &site);
    skrt_profile(core, SLOT, SKRT_END, 0, SKRT_PROFILE_KERNEL, &site);
}

/* Kernel records of all cores, of the op on three, of the notify on one core of each type. */
enum { RECORDS = 2 * (CORES + 3 + 2) };

static void launch(struct run *run, uint64_t address, uint64_t size, uint64_t *word)
{
    run_open(run, 2, (struct shape){BLOCKS, 1, 2});
    run->launch.entry = entry;
    run->params[1] = (uintptr_t)word;
    run->params[SLOT] = address;
    run->params[SLOT + 1] = size;
    run_launch(run);
}

static size_t bytes_of(uint64_t records)
{
    return sizeof(struct skrt_profile) + records * sizeof(struct skrt_profile_record);
}

static void test_records(void **state)
{
    (void)state;
    uint64_t word = 0;
    struct skrt_profile *profile = calloc(1, bytes_of(ROOM));
    struct run run;
    launch(&run, (uintptr_t)profile, bytes_of(ROOM), &word);
    expect_status(&run, SKRT_OK);
    assert_int_equal(profile->count, RECORDS);
    assert_int_equal(profile->dropped, 0);
    uint64_t last[SKRT_CORE_TYPES][2 * BLOCKS] = {{0}};
    unsigned counts[4][2] = {{0}};
    for (uint64_t i = 0; i < profile->count; i++) {
        const struct skrt_profile_record *record = &profile->records[i];
        assert_true(record->type < SKRT_CORE_TYPES && record->core < 2 * BLOCKS);
        assert_true(record->ns >= last[record->type][record->core]);
        assert_true((double)record->ns * 1e-9 <= run.result.seconds);
        last[record->type][record->core] = record->ns;
        counts[record->kind][record->phase]++;
        assert_int_equal(record->index, record->kind == SKRT_PROFILE_KERNEL ? 0 : 7);
        if (record->kind == SKRT_PROFILE_OP)
            assert_true(record->core < (record->type == SKRT_AIC ? 1 : 2));
        if (record->kind == SKRT_PROFILE_NOTIFY)
            assert_int_equal(record->core, 0);
    }
    static const unsigned expected[4] = {CORES, 3, 2, 0};
    for (unsigned kind = 0; kind < 4; kind++)
        for (unsigned phase = 0; phase < 2; phase++)
            assert_int_equal(counts[kind][phase], expected[kind]);
    run_close(&run);
    free(profile);
}

/* Whatever its size, nothing is written behind the buffer, and each record is counted once. */
static void test_small_buffers(void **state)
{
    (void)state;
    for (uint64_t room = 0; room <= RECORDS + 1; room++) {
        uint64_t word = 0, size = bytes_of(room) + room % sizeof(struct skrt_profile_record);
        unsigned char *memory = calloc(1, bytes_of(ROOM));
        memset(memory + bytes_of(room), 0xa5, bytes_of(ROOM) - bytes_of(room));
        const struct skrt_profile *profile = (const void *)memory;
        struct run run;
        launch(&run, (uintptr_t)memory, size, &word);
        expect_status(&run, SKRT_OK);
        assert_int_equal(profile->count, room < RECORDS ? room : RECORDS);
        assert_int_equal(profile->dropped, room < RECORDS ? RECORDS - room : 0);
        for (size_t i = bytes_of(room); i < bytes_of(ROOM); i++)
            assert_int_equal(memory[i], 0xa5);
        run_close(&run);
        free(memory);
    }
}

static void test_no_buffer(void **state)
{
    (void)state;
    uint64_t word = 0;
    struct skrt_profile *profile = calloc(1, bytes_of(1));
    struct run run;
    launch(&run, 0, bytes_of(ROOM), &word);
    expect_status(&run, SKRT_OK);
    run_close(&run);
    launch(&run, (uintptr_t)profile, sizeof *profile - 1, &word);
    expect_status(&run, SKRT_OK);
    assert_int_equal(profile->count + profile->dropped, 0);
    run_close(&run);
    launch(&run, (uintptr_t)profile + 4, bytes_of(0), &word);
    expect_status(&run, SKRT_MISUSE);
    expect_text(&run, "not aligned");
    run_close(&run);
    free(profile);
}

static void first_slot_entry(skrt_core *core)
{
    const struct skrt_call call = {idle_kernel, 0, BLOCKS, 2, false};
    skrt_profile(core, 0, SKRT_BEGIN, 7, SKRT_PROFILE_OP, &site);
    skrt_call(core, &call, &site);
    skrt_profile(core, 0, SKRT_END, 7, SKRT_PROFILE_OP, &site);
}

/* The buffer may be that of the first slot: ops have a begin then, too. */
static void test_first_slot(void **state)
{
    (void)state;
    struct skrt_profile *profile = calloc(1, bytes_of(ROOM));
    struct run run;
    run_open(&run, 2, (struct shape){BLOCKS, 1, 2});
    run.launch.entry = first_slot_entry;
    run.params[0] = (uintptr_t)profile;
    run.params[1] = bytes_of(ROOM);
    run_launch(&run);
    expect_status(&run, SKRT_OK);
    assert_int_equal(profile->count, 2 * CORES);
    unsigned begins = 0;
    for (uint64_t i = 0; i < profile->count; i++)
        begins += profile->records[i].phase == SKRT_BEGIN;
    assert_int_equal(begins, CORES);
    run_close(&run);
    free(profile);
}

static void bad_slot_entry(skrt_core *core)
{
    skrt_profile(core, PARAMS - 1, SKRT_BEGIN, 0, SKRT_PROFILE_KERNEL, &site);
}

static void huge_slot_entry(skrt_core *core)
{
    skrt_profile(core, UINT64_MAX, SKRT_BEGIN, 0, SKRT_PROFILE_KERNEL, &site);
}

static void test_bad_slots(void **state)
{
    (void)state;
    skrt_entry_fn *const entries[] = {bad_slot_entry, huge_slot_entry};
    for (size_t i = 0; i < COUNT(entries); i++) {
        struct run run;
        run_open(&run, 2, (struct shape){BLOCKS, 1, 2});
        run.launch.entry = entries[i];
        run_launch(&run);
        expect_status(&run, SKRT_MISUSE);
        expect_text(&run, "no slots for a buffer");
        run_close(&run);
    }
}

static void meeting_kernel(skrt_core *core, uint64_t args_offset)
{
    (void)args_offset;
    skrt_kernel_sync_all(core);
}

static void blocked_entry(skrt_core *core)
{
    const struct skrt_call call = {meeting_kernel, 0, BLOCKS, 0, false};
    if (skrt_core_type(core) != SKRT_AIC)
        return;
    skrt_call(core, &call, &site);
    skrt_arrive(core, SKRT_AIC, &site);
    skrt_await(core, SKRT_AIC, &site);
}

/* On one thread the last core to come is not blocked, and all others are. */
static void test_blocked(void **state)
{
    (void)state;
    struct skrt_profile *profile = calloc(1, bytes_of(ROOM));
    struct run run;
    run_open(&run, 1, (struct shape){BLOCKS, 1, 2});
    run.launch.entry = blocked_entry;
    run.launch.records = profile;
    run.launch.records_size = bytes_of(ROOM);
    run_launch(&run);
    expect_status(&run, SKRT_OK);
    assert_int_equal(profile->count, 2 * 2 * (BLOCKS - 1));
    unsigned barriers = 0;
    for (uint64_t i = 0; i < profile->count; i++) {
        const struct skrt_profile_record *record = &profile->records[i];
        bool inside = record->kind == SKRT_PROFILE_FULL_BARRIER;
        assert_true(inside || record->kind == SKRT_PROFILE_BARRIER);
        assert_int_equal(record->inside, inside);
        assert_int_equal(record->index, inside ? 0 : 1); /* in the first call, or behind it */
        assert_int_equal(record->type, SKRT_AIC);
        barriers += !inside && record->phase == SKRT_BEGIN;
    }
    assert_int_equal(barriers, BLOCKS - 1);
    run_close(&run);
    free(profile);
}

/* A sub-kernel alone: on each core a kernel, in it an op. */
static void test_alone(void **state)
{
    (void)state;
    struct skrt_profile *profile = calloc(1, bytes_of(ROOM));
    struct run run;
    run_open(&run, 2, (struct shape){BLOCKS, 0, 1});
    run.launch.entry = NULL;
    run.launch.parts[SKRT_AIV] = (struct skrt_call){idle_kernel, 0, BLOCKS, 1, true};
    run.launch.records = profile;
    run.launch.records_size = bytes_of(ROOM);
    run_launch(&run);
    expect_status(&run, SKRT_OK);
    static const struct {
        uint8_t kind, phase;
    } expected[] = {{SKRT_PROFILE_KERNEL, SKRT_BEGIN},
                    {SKRT_PROFILE_OP, SKRT_BEGIN},
                    {SKRT_PROFILE_OP, SKRT_END},
                    {SKRT_PROFILE_KERNEL, SKRT_END}};
    unsigned counts[BLOCKS] = {0};
    assert_int_equal(profile->count, 4 * BLOCKS);
    for (uint64_t i = 0; i < profile->count; i++) {
        const struct skrt_profile_record *record = &profile->records[i];
        unsigned n = counts[record->core]++;
        assert_int_equal(record->kind, expected[n].kind);
        assert_int_equal(record->phase, expected[n].phase);
    }
    run_close(&run);
    free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),   cmocka_unit_test(test_small_buffers),
        cmocka_unit_test(test_no_buffer), cmocka_unit_test(test_first_slot),
        cmocka_unit_test(test_bad_slots), cmocka_unit_test(test_blocked),
        cmocka_unit_test(test_alone),
    };
    return cmocka_run_group_tests_name("skrt_profile", tests, NULL, NULL);
}
