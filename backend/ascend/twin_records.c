#include "backend/ascend/twin_records.h"
#include "ir/variants.h"

#include <string.h>

/* The area: a head, then a part for each core. A part: magic, next record, end; then the records,
 * of two words each: what it is, and a time. */
enum {
    HEAD = 64,
    BYTES_OF_PART = 12, /* in the head */
    FIRST_AIC = 50,     /* part of the first AIC; those of AIVs stand before */
    NEXT = 8,           /* in a part */
    END = 16,
    RECORDS = 32,
    RECORD = 16,
    TICK = 20, /* nanoseconds */
};
static const uint32_t magic = 0xbdca8756;

static const struct entry *entry_of(const struct device_run *run,
                                    const struct device_launch *launch)
{
    return block_entry(run->module, &run->graph->blocks.at[launch->block]);
}

static uint32_t cores_of(const struct device_launch *launch, enum core_type core)
{
    return launch->skrt.blocks * (core == CORE_AIC ? launch->skrt.aics : launch->skrt.aivs);
}

static uint32_t count_records(const struct program *program)
{
    uint32_t count = 1; /* the first says whose they are */
    for (uint32_t i = 0; i < program->instrs.count; i++)
        count += program->instrs.at[i].op == INSTR_profile;
    return count;
}

static uint32_t part_bytes(const struct entry *entry)
{
    uint32_t most = 0;
    for (int core = 0; core < CORE_TYPES; core++) {
        uint32_t count = count_records(&entry->programs[core]);
        most = count > most ? count : most;
    }
    return RECORDS + RECORD * most;
}

static size_t part_offset(const struct entry *entry, enum core_type core, uint32_t index)
{
    return HEAD + (size_t)part_bytes(entry) * (index + (core == CORE_AIC ? FIRST_AIC : 0));
}

static void put(char *at, uint64_t value, size_t size)
{
    memcpy(at, &value, size);
}

static uint64_t get(const char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Parts of more AIVs than there are would be those of AICs: there are no records then. */
void *twin_records_open(const struct device_run *run, const struct device_launch *launch,
                        uint64_t *slots)
{
    const struct entry *entry = entry_of(run, launch);
    uint32_t bytes = part_bytes(entry);
    char *area = mem_try_calloc(1, part_offset(entry, CORE_AIC, launch->skrt.blocks));
    slots[0] = slots[1] = 0;
    if (!area || cores_of(launch, CORE_AIV) > FIRST_AIC)
        return area;
    put(area + BYTES_OF_PART, bytes, sizeof(uint32_t));
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < cores_of(launch, (enum core_type)core); i++) {
            char *part = area + part_offset(entry, (enum core_type)core, i);
            put(part, magic, sizeof magic);
            put(part + NEXT, (uintptr_t)part + RECORDS, sizeof(uint64_t));
            put(part + END, (uintptr_t)part + bytes, sizeof(uint64_t));
        }
    slots[0] = (uintptr_t)area;
    return area;
}

/* The call that an op's record stands beside. */
static const struct instr *call_beside(const struct program *program, uint32_t i)
{
    bool begin = program->instrs.at[i].word == PHASE_begin;
    for (; i < program->instrs.count; i += begin ? 1 : UINT32_MAX)
        if (program->instrs.at[i].op == INSTR_call)
            return &program->instrs.at[i];
    return NULL;
}

/* Whether a core has something to time, as skrt_profile has it: all cores write all records. */
static bool takes_part(const struct device_run *run, const struct device_launch *launch,
                       const struct program *program, uint32_t i, enum core_type core,
                       uint32_t index)
{
    uint32_t kind = program->instrs.at[i].number[1];
    if (kind == SKRT_PROFILE_KERNEL)
        return true;
    if (kind != SKRT_PROFILE_OP)
        return index == 0;
    const struct instr *call = call_beside(program, i);
    const struct kernel *kernel = call ? module_kernel(run->module, call->kernel) : NULL;
    if (!kernel || kernel_is_dynamic(run->module, kernel))
        return true;
    bool flat = kernel_type_info(kernel->type)->flat;
    return (flat || core == CORE_AIC ? index : index / launch->skrt.aivs) < call->number[1];
}

/* The n-th record of a core is that of the n-th instruction. */
static void take_part(const struct device_run *run, const struct device_launch *launch,
                      const char *area, enum core_type core, uint32_t index,
                      struct skrt_profile *profile)
{
    const struct entry *entry = entry_of(run, launch);
    const struct program *program = &entry->programs[core];
    const char *part = area + part_offset(entry, core, index), *at = part + RECORDS + RECORD;
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        const struct instr *instr = &program->instrs.at[i];
        if (instr->op != INSTR_profile)
            continue;
        if ((uintptr_t)at >= get(part + NEXT))
            return;
        if (takes_part(run, launch, program, i, core, index))
            profile->records[profile->count++] = (struct skrt_profile_record){
                .ns = get(at + sizeof(uint64_t)) * TICK,
                .index = instr->number[0],
                .core = index,
                .type = (uint8_t)core,
                .kind = (uint8_t)instr->number[1],
                .phase = instr->word == PHASE_begin ? SKRT_BEGIN : SKRT_END};
        at += RECORD;
    }
}

struct skrt_profile *twin_records_take(const struct device_run *run,
                                       const struct device_launch *launch, const void *area,
                                       uint64_t begin)
{
    uint64_t size = sizeof(struct skrt_profile);
    size += launch->records * sizeof(struct skrt_profile_record);
    struct skrt_profile *profile = mem_try_calloc(1, size);
    for (int core = 0; profile && core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < cores_of(launch, (enum core_type)core); i++)
            take_part(run, launch, area, (enum core_type)core, i, profile);
    for (uint64_t i = 0; profile && i < profile->count; i++) {
        uint64_t ns = profile->records[i].ns;
        profile->records[i].ns = ns > begin ? ns - begin : 0;
    }
    return profile;
}
