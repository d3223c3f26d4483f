/* Relocations of images, of both machines on any: what each kind needs, the bytes that it writes,
 * and how far it reaches. */
#include "backend/linker/image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The place to relocate is at the begin of a page. */
static _Alignas(4096) unsigned char page[8192];

enum { KB = 1 << 10, MB = 1 << 20 };
static const int64_t GB = 1 << 30;

static uint64_t address(int64_t distance)
{
    return (uint64_t)(uintptr_t)page + (uint64_t)distance;
}

/* ---- what is needed ---- */

struct need {
    uint32_t type;
    int here, elsewhere; /* by where the symbol is */
    uint32_t bytes;
};

static void check_needs(const struct image_machine *machine, const struct need *needs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct need *want = &needs[i];
        struct image_need here = machine->need(want->type, false);
        struct image_need elsewhere = machine->need(want->type, true);
        if ((int)here.kind != want->here || (int)elsewhere.kind != want->elsewhere)
            fail_msg("type %u needs something else", want->type);
        if (want->here != IMAGE_UNKNOWN && here.bytes != want->bytes)
            fail_msg("type %u has %u bytes", want->type, here.bytes);
        if (want->elsewhere != IMAGE_UNKNOWN && elsewhere.bytes != want->bytes)
            fail_msg("type %u has %u bytes elsewhere", want->type, elsewhere.bytes);
    }
}

static void test_needs_of_x86_64(void **state)
{
    (void)state;
    static const struct need needs[] = {
        {R_X86_64_NONE, IMAGE_NOTHING, IMAGE_NOTHING, 0},
        {R_X86_64_64, IMAGE_NOTHING, IMAGE_NOTHING, 8},
        {R_X86_64_PC32, IMAGE_NOTHING, IMAGE_UNKNOWN, 4},
        {R_X86_64_PC64, IMAGE_NOTHING, IMAGE_UNKNOWN, 8},
        {R_X86_64_PLT32, IMAGE_NOTHING, IMAGE_STUB, 4},
        {R_X86_64_GOTPCREL, IMAGE_SLOT, IMAGE_SLOT, 4},
        {41 /* R_X86_64_GOTPCRELX */, IMAGE_SLOT, IMAGE_SLOT, 4},
        {42 /* R_X86_64_REX_GOTPCRELX */, IMAGE_SLOT, IMAGE_SLOT, 4},
        {R_X86_64_32, IMAGE_UNKNOWN, IMAGE_UNKNOWN, 0},
        {43, IMAGE_UNKNOWN, IMAGE_UNKNOWN, 0},
    };
    check_needs(&image_x86_64, needs, sizeof needs / sizeof needs[0]);
}

static void test_needs_of_aarch64(void **state)
{
    (void)state;
    static const struct need needs[] = {
        {R_AARCH64_NONE, IMAGE_NOTHING, IMAGE_NOTHING, 0},
        {R_AARCH64_ABS64, IMAGE_NOTHING, IMAGE_NOTHING, 8},
        {R_AARCH64_PREL64, IMAGE_NOTHING, IMAGE_UNKNOWN, 8},
        {R_AARCH64_PREL32, IMAGE_NOTHING, IMAGE_UNKNOWN, 4},
        {R_AARCH64_LD_PREL_LO19, IMAGE_NOTHING, IMAGE_UNKNOWN, 4},
        {R_AARCH64_ADR_PREL_PG_HI21, IMAGE_NOTHING, IMAGE_UNKNOWN, 4},
        {R_AARCH64_ADD_ABS_LO12_NC, IMAGE_NOTHING, IMAGE_UNKNOWN, 4},
        {R_AARCH64_CALL26, IMAGE_NOTHING, IMAGE_STUB, 4},
        {R_AARCH64_JUMP26, IMAGE_NOTHING, IMAGE_STUB, 4},
        {R_AARCH64_ADR_GOT_PAGE, IMAGE_SLOT, IMAGE_SLOT, 4},
        {R_AARCH64_LD64_GOT_LO12_NC, IMAGE_SLOT, IMAGE_SLOT, 4},
        {R_AARCH64_TLSDESC, IMAGE_UNKNOWN, IMAGE_UNKNOWN, 0},
    };
    check_needs(&image_aarch64, needs, sizeof needs / sizeof needs[0]);
}

/* ---- words ---- */

/* What is written for a symbol at this distance from the place. */
struct word {
    uint32_t type;
    int64_t distance, addend;
    uint32_t before, after;
};

static bool apply(const struct image_machine *machine, const struct word *word,
                  struct image_reference reference)
{
    memcpy(page, &word->before, sizeof word->before);
    reference.place = page;
    reference.addend = word->addend;
    return machine->apply(word->type, &reference);
}

static void check_word(const struct image_machine *machine, const struct word *word,
                       struct image_reference reference)
{
    uint32_t after;
    if (!apply(machine, word, reference))
        fail_msg("type %u does not reach %lld", word->type, (long long)word->distance);
    memcpy(&after, page, sizeof after);
    if (after != word->after)
        fail_msg("type %u makes 0x%08x of %lld", word->type, after, (long long)word->distance);
    for (size_t i = sizeof after; i < 16; i++)
        assert_int_equal(page[i], 0xee);
}

/* The symbol is in the object; slots and stubs are no part of it. */
static void check_words(const struct image_machine *machine, const struct word *words, size_t count)
{
    memset(page, 0xee, sizeof page);
    for (size_t i = 0; i < count; i++)
        check_word(machine, &words[i],
                   (struct image_reference){.target = address(words[i].distance),
                                            .slot = address(1 << 14),
                                            .stub = address(1 << 15)});
}

static void check_unreached(const struct image_machine *machine, const struct word *words,
                            size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (apply(machine, &words[i],
                  (struct image_reference){.target = address(words[i].distance)}))
            fail_msg("type %u reaches %lld", words[i].type, (long long)words[i].distance);
}

static void test_words_of_x86_64(void **state)
{
    (void)state;
    const struct word words[] = {
        {R_X86_64_PC32, 100, -4, 0, 96},
        {R_X86_64_PC32, -100, -4, 7, (uint32_t)-104},
        {R_X86_64_PC32, 2 * GB - 1, 0, 0, 0x7fffffff},
        {R_X86_64_PC32, -2 * GB, 0, 0, 0x80000000},
        {R_X86_64_PLT32, 100, -4, 0, 96},
    };
    check_words(&image_x86_64, words, sizeof words / sizeof words[0]);
    const struct word far[] = {
        {R_X86_64_PC32, 2 * GB, 0, 0, 0},
        {R_X86_64_PC32, -2 * GB - 1, 0, 0, 0},
        {R_X86_64_PLT32, 2 * GB, 0, 0, 0},
    };
    check_unreached(&image_x86_64, far, sizeof far / sizeof far[0]);
}

static void test_words_of_aarch64(void **state)
{
    (void)state;
    /* Instructions of which the field is 0 or, where something must go, full. */
    const struct word words[] = {
        {R_AARCH64_PREL32, 100, -4, 0xffffffff, 96},
        {R_AARCH64_PREL32, -100, 0, 0, (uint32_t)-100},
        {R_AARCH64_PREL32, 2 * GB - 1, 0, 0, 0x7fffffff},
        {R_AARCH64_PREL32, -2 * GB, 0, 0, 0x80000000},
        {R_AARCH64_LD_PREL_LO19, 8, 0, 0x58ffffe3, 0x58000043},
        {R_AARCH64_LD_PREL_LO19, 4, -8, 0x58000000, 0x58ffffe0},
        {R_AARCH64_LD_PREL_LO19, MB - 4, 0, 0x58000000, 0x587fffe0},
        {R_AARCH64_LD_PREL_LO19, -MB, 0, 0x58000000, 0x58800000},
        {R_AARCH64_ADR_PREL_LO21, 5, 0, 0x70ffffe3, 0x30000023},
        {R_AARCH64_ADR_PREL_LO21, MB - 1, 0, 0x10000000, 0x707fffe0},
        {R_AARCH64_ADR_PREL_LO21, -MB, 0, 0x10000000, 0x10800000},
        {R_AARCH64_ADR_PREL_PG_HI21, 0x5fff, 0, 0xf0ffffe3, 0xb0000023},
        {R_AARCH64_ADR_PREL_PG_HI21, 0x5fff, 1, 0x90000000, 0xd0000020},
        {R_AARCH64_ADR_PREL_PG_HI21, -1, 0, 0x90000000, 0xf0ffffe0},
        {R_AARCH64_ADR_PREL_PG_HI21, 4 * GB - 1, 0, 0x90000000, 0xf07fffe0},
        {R_AARCH64_ADR_PREL_PG_HI21, -4 * GB, 0, 0x90000000, 0x90800000},
        {R_AARCH64_ADD_ABS_LO12_NC, 0x5abc, 0, 0x913ffc21, 0x912af021},
        {R_AARCH64_ADD_ABS_LO12_NC, 0xfff, 0, 0x91000000, 0x913ffc00},
        {R_AARCH64_LDST8_ABS_LO12_NC, 0x5ab0, 12, 0x39400000, 0x396af000},
        {R_AARCH64_LDST16_ABS_LO12_NC, 0xabc, 0, 0x79400000, 0x79557800},
        {R_AARCH64_LDST32_ABS_LO12_NC, 0xabc, 0, 0xb9400000, 0xb94abc00},
        {R_AARCH64_LDST64_ABS_LO12_NC, 0xab8, 0, 0xf9400000, 0xf9455c00},
        {R_AARCH64_LDST128_ABS_LO12_NC, 0xab0, 0, 0x3dc00000, 0x3dc2ac00},
        {R_AARCH64_LDST128_ABS_LO12_NC, 0xff0, 0, 0x3dc00000, 0x3dc3fc00},
        {R_AARCH64_TSTBR14, 8, 0, 0x3607ffe5, 0x36000045},
        {R_AARCH64_TSTBR14, 32 * KB - 4, 0, 0x36000000, 0x3603ffe0},
        {R_AARCH64_TSTBR14, -32 * KB, 0, 0x36000000, 0x36040000},
        {R_AARCH64_CONDBR19, 8, 0, 0x54ffffe1, 0x54000041},
        {R_AARCH64_CONDBR19, MB - 4, 0, 0x54000000, 0x547fffe0},
        {R_AARCH64_CONDBR19, -MB, 0, 0x54000000, 0x54800000},
        {R_AARCH64_JUMP26, 8, 0, 0x17ffffff, 0x14000002},
        {R_AARCH64_JUMP26, 128 * MB - 4, 0, 0x14000000, 0x15ffffff},
        {R_AARCH64_JUMP26, -128 * MB, 0, 0x14000000, 0x16000000},
        {R_AARCH64_CALL26, 8, 4, 0x97ffffff, 0x94000003},
        {R_AARCH64_CALL26, 128 * MB - 4, 0, 0x94000000, 0x95ffffff},
        {R_AARCH64_CALL26, -128 * MB, 0, 0x94000000, 0x96000000},
    };
    check_words(&image_aarch64, words, sizeof words / sizeof words[0]);
    const struct word unreached[] = {
        {R_AARCH64_PREL32, 2 * GB, 0, 0, 0},
        {R_AARCH64_PREL32, -2 * GB - 1, 0, 0, 0},
        {R_AARCH64_LD_PREL_LO19, MB, 0, 0, 0},
        {R_AARCH64_LD_PREL_LO19, -MB - 4, 0, 0, 0},
        {R_AARCH64_LD_PREL_LO19, 2, 0, 0, 0},
        {R_AARCH64_ADR_PREL_LO21, MB, 0, 0, 0},
        {R_AARCH64_ADR_PREL_LO21, -MB - 1, 0, 0, 0},
        {R_AARCH64_ADR_PREL_PG_HI21, 4 * GB, 0, 0, 0},
        {R_AARCH64_ADR_PREL_PG_HI21, -4 * GB - 1, 0, 0, 0},
        {R_AARCH64_LDST16_ABS_LO12_NC, 1, 0, 0, 0},
        {R_AARCH64_LDST32_ABS_LO12_NC, 2, 0, 0, 0},
        {R_AARCH64_LDST64_ABS_LO12_NC, 4, 0, 0, 0},
        {R_AARCH64_LDST128_ABS_LO12_NC, 8, 0, 0, 0},
        {R_AARCH64_TSTBR14, 32 * KB, 0, 0, 0},
        {R_AARCH64_TSTBR14, -32 * KB - 4, 0, 0, 0},
        {R_AARCH64_TSTBR14, 2, 0, 0, 0},
        {R_AARCH64_CONDBR19, MB, 0, 0, 0},
        {R_AARCH64_CONDBR19, 1, 0, 0, 0},
        {R_AARCH64_JUMP26, 128 * MB, 0, 0, 0},
        {R_AARCH64_JUMP26, 3, 0, 0, 0},
        {R_AARCH64_CALL26, -128 * MB - 4, 0, 0, 0},
        {R_AARCH64_CALL26, 2, 0, 0, 0},
    };
    check_unreached(&image_aarch64, unreached, sizeof unreached / sizeof unreached[0]);
}

/* ---- by slots and stubs ---- */

/* The symbol is elsewhere, far from what is written: where that were used, nothing would fit. */
static void check_indirect(const struct image_machine *machine, const struct word *word, bool stub)
{
    memset(page, 0xee, sizeof page);
    struct image_reference reference = {.target = address(1000 * GB), .elsewhere = true};
    *(stub ? &reference.stub : &reference.slot) = address(word->distance);
    *(stub ? &reference.slot : &reference.stub) = address(999 * GB);
    check_word(machine, word, reference);
    /* What a slot is for may as well be in the object. */
    reference.elsewhere = false;
    if (!stub)
        check_word(machine, word, reference);
}

static void test_indirect(void **state)
{
    (void)state;
    static const struct word slots_of_x86_64[] = {
        {R_X86_64_GOTPCREL, 100, -4, 0, 96}, {41, 100, -4, 0, 96}, {42, 100, -4, 0, 96}};
    for (size_t i = 0; i < sizeof slots_of_x86_64 / sizeof slots_of_x86_64[0]; i++)
        check_indirect(&image_x86_64, &slots_of_x86_64[i], false);
    check_indirect(&image_x86_64, &(struct word){R_X86_64_PLT32, 100, -4, 0, 96}, true);
    static const struct word slots_of_aarch64[] = {
        {R_AARCH64_ADR_GOT_PAGE, 0x5008, 0, 0x90000001, 0xb0000021},
        {R_AARCH64_LD64_GOT_LO12_NC, 0x5ab8, 0, 0xf97ffc21, 0xf9455c21}};
    for (size_t i = 0; i < sizeof slots_of_aarch64 / sizeof slots_of_aarch64[0]; i++)
        check_indirect(&image_aarch64, &slots_of_aarch64[i], false);
    check_indirect(&image_aarch64, &(struct word){R_AARCH64_CALL26, 8, 0, 0x94000000, 0x94000002},
                   true);
    check_indirect(&image_aarch64, &(struct word){R_AARCH64_JUMP26, 8, 0, 0x14000000, 0x14000002},
                   true);
}

/* ---- double words ---- */

static void check_double(const struct image_machine *machine, uint32_t type, int64_t distance,
                         uint64_t after)
{
    memset(page, 0xee, sizeof page);
    struct image_reference reference = {
        .place = page, .target = address(distance), .addend = -8, .elsewhere = true};
    uint64_t found;
    assert_true(machine->apply(type, &reference));
    memcpy(&found, page, sizeof found);
    assert_int_equal(found, after);
    assert_int_equal(page[8], 0xee);
}

static void test_double_words(void **state)
{
    (void)state;
    check_double(&image_x86_64, R_X86_64_64, 1000 * GB, address(1000 * GB - 8));
    check_double(&image_x86_64, R_X86_64_PC64, 1000 * GB, (uint64_t)(1000 * GB - 8));
    check_double(&image_aarch64, R_AARCH64_ABS64, 1000 * GB, address(1000 * GB - 8));
    check_double(&image_aarch64, R_AARCH64_PREL64, -1000 * GB, (uint64_t)(-1000 * GB - 8));
}

/* ---- stubs ---- */

static void test_stubs(void **state)
{
    (void)state;
    memset(page, 0xee, sizeof page);
    image_x86_64.stub(page, address(0x1234));
    static const unsigned char jump[] = {0xff, 0x25, 0x2e, 0x12, 0, 0, 0xee, 0xee};
    assert_int_equal(image_x86_64.stub_size, sizeof jump);
    assert_memory_equal(page, jump, sizeof jump);

    memset(page, 0xee, sizeof page);
    image_aarch64.stub(page, address(0x5ab8));
    /* adrp x16, 5 pages further; ldr x16, [x16, 0xab8]; br x16 */
    static const uint32_t code[] = {0xb0000030, 0xf9455e10, 0xd61f0200, 0xeeeeeeee};
    assert_int_equal(image_aarch64.stub_size, sizeof code);
    assert_memory_equal(page, code, sizeof code);
    assert_int_equal(image_x86_64.elf, EM_X86_64);
    assert_int_equal(image_aarch64.elf, EM_AARCH64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_needs_of_x86_64), cmocka_unit_test(test_needs_of_aarch64),
        cmocka_unit_test(test_words_of_x86_64), cmocka_unit_test(test_words_of_aarch64),
        cmocka_unit_test(test_indirect),        cmocka_unit_test(test_double_words),
        cmocka_unit_test(test_stubs),
    };
    return cmocka_run_group_tests_name("object_relocate", tests, NULL, NULL);
}
