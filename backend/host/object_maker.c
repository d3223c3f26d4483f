#include "backend/host/object_maker.h"
#include "backend/host/object.h"

#include <assert.h>
#include <elf.h>

/* There is no function that returns yet. */
static const uint64_t NO_CODE = UINT64_MAX;

/* What is different between machines: the code of an entry, which passes its first parameter on and
 * the address of its rows as the second; that of a function which returns; and how addresses are
 * relocated. */
struct machine {
    uint16_t elf;
    uint32_t address; /* the relocation of 64 bits */
    uint8_t jump[12], nothing[4];
    uint8_t nothing_size;
    struct jump_relocation {
        uint32_t type; /* 0: none */
        bool rows;     /* to the rows, or to skrt_run_rows */
        uint8_t offset;
        int8_t addend;
    } relocations[3];
};

static const struct machine machines[] = {
    /* lea rows(%rip), %rsi; jmp skrt_run_rows; and ret */
    {.elf = EM_X86_64,
     .address = R_X86_64_64,
     .jump = {0x48, 0x8d, 0x35, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0},
     .nothing = {0xc3},
     .nothing_size = 1,
     .relocations = {{R_X86_64_PC32, true, 3, -4}, {R_X86_64_PLT32, false, 8, -4}}},
    /* adrp x1, rows; add x1, x1, :lo12:rows; b skrt_run_rows; and ret */
    {.elf = EM_AARCH64,
     .address = R_AARCH64_ABS64,
     .jump = {0x01, 0, 0, 0x90, 0x21, 0, 0, 0x91, 0, 0, 0, 0x14},
     .nothing = {0xc0, 0x03, 0x5f, 0xd6},
     .nothing_size = 4,
     .relocations = {{R_AARCH64_ADR_PREL_PG_HI21, true, 0, 0},
                     {R_AARCH64_ADD_ABS_LO12_NC, true, 4, 0},
                     {R_AARCH64_JUMP26, false, 8, 0}}},
};

static const struct machine *find_machine(uint16_t elf)
{
    const struct machine *machine = machines;
    while (machine->elf != elf)
        machine++;
    assert(machine < machines + sizeof machines / sizeof machines[0]);
    return machine;
}

void object_maker_begin(struct object_maker *maker, const struct module *module, uint16_t machine)
{
    *maker = (struct object_maker){.made = object_made_new(machine),
                                   .module = module,
                                   .machine = find_machine(machine),
                                   .nothing = NO_CODE};
    maker->entries = mem_calloc(module->entries.count, sizeof *maker->entries);
    maker->run = object_made_want(maker->made, "skrt_run_rows");
}

struct object_made *object_maker_end(struct object_maker *maker)
{
    mem_free(maker->entries);
    return maker->made;
}

/* -------------------------------------------------------------------------------- data ---- */

uint64_t object_maker_room(struct object_maker *maker, uint64_t size)
{
    return object_made_put(maker->made, OBJECT_MADE_DATA, NULL, size, sizeof(uint64_t));
}

void *object_maker_at(struct object_maker *maker, uint64_t offset)
{
    return object_made_at(maker->made, OBJECT_MADE_DATA, offset);
}

uint64_t object_maker_string(struct object_maker *maker, const char *text, size_t size)
{
    uint64_t offset = object_made_put(maker->made, OBJECT_MADE_RODATA, text, size, 1);
    object_made_put(maker->made, OBJECT_MADE_RODATA, "", 1, 1);
    return offset;
}

void object_maker_point(struct object_maker *maker, uint64_t offset, uint32_t symbol,
                        uint64_t behind)
{
    object_made_relocate(maker->made, OBJECT_MADE_DATA,
                         (struct object_made_relocation){.offset = offset,
                                                         .type = maker->machine->address,
                                                         .symbol = symbol,
                                                         .addend = (int64_t)behind});
}

/* -------------------------------------------------------------------------------- code ---- */

enum { CODE_ALIGN = 16 };

uint64_t object_maker_jump(struct object_maker *maker, uint64_t rows)
{
    const struct machine *machine = maker->machine;
    uint64_t code = object_made_put(maker->made, OBJECT_MADE_TEXT, machine->jump,
                                    sizeof machine->jump, CODE_ALIGN);
    for (size_t i = 0; i < sizeof machine->relocations / sizeof machine->relocations[0]; i++) {
        struct jump_relocation from = machine->relocations[i];
        if (from.type == 0)
            continue;
        object_made_relocate(
            maker->made, OBJECT_MADE_TEXT,
            (struct object_made_relocation){
                .offset = code + from.offset,
                .type = from.type,
                .symbol = from.rows ? object_made_begin(OBJECT_MADE_DATA) : maker->run,
                .addend = from.addend + (from.rows ? (int64_t)rows : 0)});
    }
    return code;
}

uint32_t object_maker_define(struct object_maker *maker, const char *name, uint64_t code)
{
    return object_made_define(maker->made, name, OBJECT_MADE_TEXT, code,
                              sizeof maker->machine->jump);
}

uint32_t object_maker_return(struct object_maker *maker, const char *name)
{
    const struct machine *machine = maker->machine;
    if (maker->nothing == NO_CODE)
        maker->nothing = object_made_put(maker->made, OBJECT_MADE_TEXT, machine->nothing,
                                         machine->nothing_size, CODE_ALIGN);
    return object_made_define(maker->made, name, OBJECT_MADE_TEXT, maker->nothing,
                              machine->nothing_size);
}
