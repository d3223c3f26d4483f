/* Relocations that images apply, of x86-64 (psABI) and of aarch64 (its ELF ABI). */
#include <string.h>

#include "backend/linker/image.h"

/* ------------------------------------------------------------------------------ x86-64 ---- */

/* Newer than some elf.h. */
enum { RELOCATION_GOTPCRELX = 41, RELOCATION_REX_GOTPCRELX = 42 };

/* Code that asks for the distance of what is elsewhere, but for calls, is not
 * position-independent. */
static struct image_need x86_64_need(uint32_t type, bool elsewhere)
{
    switch (type) {
    case R_X86_64_NONE: return (struct image_need){IMAGE_NOTHING, 0};
    case R_X86_64_64: return (struct image_need){IMAGE_NOTHING, 8};
    case R_X86_64_PC32: return (struct image_need){elsewhere ? IMAGE_UNKNOWN : IMAGE_NOTHING, 4};
    case R_X86_64_PC64: return (struct image_need){elsewhere ? IMAGE_UNKNOWN : IMAGE_NOTHING, 8};
    case R_X86_64_PLT32: return (struct image_need){elsewhere ? IMAGE_STUB : IMAGE_NOTHING, 4};
    case R_X86_64_GOTPCREL:
    case RELOCATION_GOTPCRELX:
    case RELOCATION_REX_GOTPCRELX: return (struct image_need){IMAGE_SLOT, 4};
    }
    return (struct image_need){IMAGE_UNKNOWN, 0};
}

static bool put_distance(const struct image_reference *reference, uint64_t target)
{
    int64_t distance =
        (int64_t)(target + (uint64_t)reference->addend - (uint64_t)(uintptr_t)reference->place);
    int32_t word = (int32_t)distance;
    memcpy(reference->place, &word, sizeof word);
    return word == distance;
}

static bool x86_64_apply(uint32_t type, const struct image_reference *reference)
{
    uint64_t value = reference->target + (uint64_t)reference->addend;
    switch (type) {
    case R_X86_64_64: memcpy(reference->place, &value, sizeof value); return true;
    case R_X86_64_PC64:
        value -= (uint64_t)(uintptr_t)reference->place;
        memcpy(reference->place, &value, sizeof value);
        return true;
    case R_X86_64_PC32: return put_distance(reference, reference->target);
    case R_X86_64_PLT32:
        return put_distance(reference, reference->elsewhere ? reference->stub : reference->target);
    case R_X86_64_GOTPCREL:
    case RELOCATION_GOTPCRELX:
    case RELOCATION_REX_GOTPCRELX: return put_distance(reference, reference->slot);
    }
    return true;
}

/* jmp *slot(%rip) */
static void x86_64_stub(unsigned char *at, uint64_t slot)
{
    static const unsigned char jump[] = {0xff, 0x25};
    int32_t distance = (int32_t)(slot - ((uint64_t)(uintptr_t)at + 6));
    memcpy(at, jump, sizeof jump);
    memcpy(at + sizeof jump, &distance, sizeof distance);
}

const struct image_machine image_x86_64 = {.elf = EM_X86_64,
                                           .stub_size = 8,
                                           .need = x86_64_need,
                                           .apply = x86_64_apply,
                                           .stub = x86_64_stub};

/* ----------------------------------------------------------------------------- aarch64 ---- */

/* What a relocation computes. */
enum value {
    ADDRESS,
    DISTANCE, /* from the place */
    PAGES,    /* of 4 KiB, from the place's to the address's */
    PAGE_PART /* the address in its page */
};

enum { ADDRESS_BITS = 21 }; /* of ADR and ADRP */

enum to { TO_SYMBOL, TO_SLOT, TO_CODE /* a stub where that may be far away */ };

/* The value is in some bits of an instruction, or is a word of data. */
static const struct relocation {
    uint32_t type;
    enum to to;
    enum value value;
    uint8_t bits;  /* of the field */
    uint8_t at;    /* its first bit */
    uint8_t scale; /* bits of the value that are 0 and left out */
} relocations[] = {
    {R_AARCH64_ABS64, TO_SYMBOL, ADDRESS, 64, 0, 0},
    {R_AARCH64_PREL64, TO_SYMBOL, DISTANCE, 64, 0, 0},
    {R_AARCH64_PREL32, TO_SYMBOL, DISTANCE, 32, 0, 0},
    {R_AARCH64_LD_PREL_LO19, TO_SYMBOL, DISTANCE, 19, 5, 2},
    {R_AARCH64_ADR_PREL_LO21, TO_SYMBOL, DISTANCE, ADDRESS_BITS, 5, 0},
    {R_AARCH64_ADR_PREL_PG_HI21, TO_SYMBOL, PAGES, ADDRESS_BITS, 5, 0},
    {R_AARCH64_ADD_ABS_LO12_NC, TO_SYMBOL, PAGE_PART, 12, 10, 0},
    {R_AARCH64_LDST8_ABS_LO12_NC, TO_SYMBOL, PAGE_PART, 12, 10, 0},
    {R_AARCH64_LDST16_ABS_LO12_NC, TO_SYMBOL, PAGE_PART, 12, 10, 1},
    {R_AARCH64_LDST32_ABS_LO12_NC, TO_SYMBOL, PAGE_PART, 12, 10, 2},
    {R_AARCH64_LDST64_ABS_LO12_NC, TO_SYMBOL, PAGE_PART, 12, 10, 3},
    {R_AARCH64_LDST128_ABS_LO12_NC, TO_SYMBOL, PAGE_PART, 12, 10, 4},
    {R_AARCH64_TSTBR14, TO_SYMBOL, DISTANCE, 14, 5, 2},
    {R_AARCH64_CONDBR19, TO_SYMBOL, DISTANCE, 19, 5, 2},
    {R_AARCH64_JUMP26, TO_CODE, DISTANCE, 26, 0, 2},
    {R_AARCH64_CALL26, TO_CODE, DISTANCE, 26, 0, 2},
    {R_AARCH64_ADR_GOT_PAGE, TO_SLOT, PAGES, ADDRESS_BITS, 5, 0},
    {R_AARCH64_LD64_GOT_LO12_NC, TO_SLOT, PAGE_PART, 12, 10, 3},
};

static const struct relocation *find(uint32_t type)
{
    for (size_t i = 0; i < sizeof relocations / sizeof relocations[0]; i++)
        if (relocations[i].type == type)
            return &relocations[i];
    return NULL;
}

/* Code that asks for the place of what is elsewhere, but for calls, is not position-independent. */
static struct image_need aarch64_need(uint32_t type, bool elsewhere)
{
    const struct relocation *relocation = find(type);
    struct image_need need = {IMAGE_NOTHING, 0};
    if (type == R_AARCH64_NONE)
        return need;
    if (!relocation)
        return (struct image_need){IMAGE_UNKNOWN, 0};
    need.bytes = relocation->bits == 64 ? 8 : 4;
    if (relocation->to == TO_SLOT)
        need.kind = IMAGE_SLOT;
    else if (elsewhere && relocation->to == TO_CODE)
        need.kind = IMAGE_STUB;
    else if (elsewhere && relocation->value != ADDRESS)
        need.kind = IMAGE_UNKNOWN;
    return need;
}

static uint64_t page(uint64_t address)
{
    return address >> 12;
}

static int64_t value_of(enum value value, uint64_t address, uint64_t place)
{
    switch (value) {
    case ADDRESS: break;
    case DISTANCE: return (int64_t)(address - place);
    case PAGES: return (int64_t)(page(address) - page(place));
    case PAGE_PART: return address & 0xfff;
    }
    return (int64_t)address;
}

/* Whether a field of so many bits has room for the value; that of a place in a page is not signed,
 * and has. */
static bool fits(int64_t value, const struct relocation *relocation)
{
    int64_t limit = (int64_t)1 << (relocation->bits + relocation->scale - 1);
    if (value & ((1 << relocation->scale) - 1))
        return false;
    return relocation->value == PAGE_PART || (value >= -limit && value < limit);
}

static uint32_t read_word(const unsigned char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* A field in its instruction. ADR and ADRP have its lowest two bits above the others. */
static uint32_t in_place(const struct relocation *relocation, uint64_t field)
{
    uint32_t bits = (uint32_t)(field & (((uint64_t)1 << relocation->bits) - 1));
    if (relocation->bits == ADDRESS_BITS)
        return bits >> 2 << relocation->at | (bits & 3) << 29;
    return bits << relocation->at;
}

static bool put(unsigned char *at, const struct relocation *relocation, int64_t value)
{
    uint32_t word = read_word(at);
    if (!fits(value, relocation))
        return false;
    word &= ~in_place(relocation, UINT64_MAX);
    word |= in_place(relocation, (uint64_t)value >> relocation->scale);
    memcpy(at, &word, sizeof word);
    return true;
}

static bool aarch64_apply(uint32_t type, const struct image_reference *reference)
{
    const struct relocation *relocation = find(type);
    if (!relocation)
        return true;
    uint64_t target = relocation->to == TO_SLOT                           ? reference->slot
                      : relocation->to == TO_CODE && reference->elsewhere ? reference->stub
                                                                          : reference->target;
    int64_t value = value_of(relocation->value, target + (uint64_t)reference->addend,
                             (uint64_t)(uintptr_t)reference->place);
    if (relocation->bits == 64) {
        memcpy(reference->place, &value, sizeof value);
        return true;
    }
    return put(reference->place, relocation, value);
}

/* adrp x16, slot; ldr x16, [x16, slot]; br x16: calls may change x16 on their way. */
static void aarch64_stub(unsigned char *at, uint64_t slot)
{
    static const uint32_t jump[] = {0x90000010, 0xf9400210, 0xd61f0200};
    struct image_reference reference = {.place = at, .slot = slot};
    memcpy(at, jump, sizeof jump);
    aarch64_apply(R_AARCH64_ADR_GOT_PAGE, &reference);
    reference.place = at + sizeof jump[0];
    aarch64_apply(R_AARCH64_LD64_GOT_LO12_NC, &reference);
}

const struct image_machine image_aarch64 = {.elf = EM_AARCH64,
                                            .stub_size = 16,
                                            .need = aarch64_need,
                                            .apply = aarch64_apply,
                                            .stub = aarch64_stub};
