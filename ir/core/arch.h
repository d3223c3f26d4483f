/* The chip of a module's target. */
#ifndef IR_CORE_ARCH_H
#define IR_CORE_ARCH_H

#include "ir/core/module.h"

enum arch {
#define ARCH(name, sync_base) ARCH_##name,
#include "ir/core/archs.def"
    ARCH_COUNT
};

/* That of the attribute `arch` of the target, or else of its name. */
enum arch module_arch(const struct module *module);

/* Whether one of the two says it, or the module has no target. */
bool module_arch_is_known(const struct module *module);

/* Whether entries have a slot 0 for the address of the sync memory. */
bool arch_has_sync_base(enum arch arch);

/* Numbers the slots of a new entry as the chip has them; of all, where a target came behind
 * them. */
void entry_number_slots(const struct module *module, struct entry *entry);
void entries_number_slots(struct module *module);

/* What cores and the memory of a chip do, as ir/core/archs.def has it; NULL where that is not
 * known. */
struct arch_rates {
    unsigned mhz, cube_flops, vector_bytes, hbm_bytes, launch_ns;
};
const struct arch_rates *arch_rates(enum arch arch);

const char *arch_name(enum arch arch);
/* The chip of a name, as its text or id; false where there is none. */
bool arch_of_text(const char *text, size_t size, enum arch *arch);
bool arch_of_name(const struct module *module, uint32_t name, enum arch *arch);

#endif
