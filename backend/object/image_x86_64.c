/* Relocations of x86-64, as the psABI has them. */
#include "backend/object/image.h"

#include <string.h>

/* Newer than some elf.h. */
enum { RELOCATION_GOTPCRELX = 41, RELOCATION_REX_GOTPCRELX = 42 };

/* Code that asks for the distance of what is elsewhere, but for calls, is not
 * position-independent. */
static struct image_need need(uint32_t type, bool elsewhere)
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

static bool apply(uint32_t type, const struct image_reference *reference)
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
static void stub(unsigned char *at, uint64_t slot)
{
    static const unsigned char jump[] = {0xff, 0x25};
    int32_t distance = (int32_t)(slot - ((uint64_t)(uintptr_t)at + 6));
    memcpy(at, jump, sizeof jump);
    memcpy(at + sizeof jump, &distance, sizeof distance);
}

const struct image_machine image_x86_64 = {
    .elf = EM_X86_64, .stub_size = 8, .need = need, .apply = apply, .stub = stub};
