/* Where the code of a kernel's launch comes from: the table in its metadata
 * (docs/kernel-meta.schema.json), and answers from it. */
#ifndef FRONTEND_WHERE_KERNEL_PLACES_H
#define FRONTEND_WHERE_KERNEL_PLACES_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "ir/base/ids.h"

/* Texts are in the arena. */
struct kernel_places {
    VEC(struct kernel_launch) launches;
    struct arena arena;
};

/* Reads the metadata of one kernel or several. False, with diagnostics, where there is no table or
 * it is malformed. */
bool kernel_places_read(struct kernel_places *places, const struct source *source,
                        struct diags *diags);
void kernel_places_free(struct kernel_places *places);

/* Appends what stands in a line of the source, or what the code at an offset is of. False where
 * nothing is there, or the metadata do not say it. */
bool kernel_places_line(const struct kernel_places *places, uint32_t line, struct text *text);
bool kernel_places_address(const struct kernel_places *places, uint64_t address, struct text *text);

/* The same for an address on the device, where a core type began with its part of the entry at
 * `start`. */
bool kernel_places_address_from(const struct kernel_places *places, const char *core,
                                uint64_t address, uint64_t start, struct text *text);

/* Appends, for each core with a line in a buffer of traces (docs/ascend.md), its op and its next
 * instruction. False where no core has one, or the launch records no traces. */
bool kernel_places_trace(const struct kernel_places *places, const char *bytes, size_t size,
                         struct text *text);

/* Leaves only the launch of a name; NULL: the only one. False where that is not there. */
bool kernel_places_choose(struct kernel_places *places, const char *name);

/* False where the metadata were made without an object. */
bool kernel_places_have_addresses(const struct kernel_places *places);

#endif
