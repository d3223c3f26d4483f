/* Work on many items in parts, which several threads do at a time. What comes of it is what one
 * thread would have made of it, byte for byte.
 *
 * A part has a few items that follow one another. It reads what all share, and writes nothing but
 * memory that it has allocated and places that are its items' alone; so it neither frees nor grows
 * what is older than it. Its diagnostics stand where they would stand without parts. What it cannot
 * do without others, it leaves by part_leave(): a name that is to be interned, an error, of which
 * only some are kept. Then, and where there is no memory, nothing of it remains, and it is done
 * again by itself, when all before it is done. */
#ifndef IR_SUPPORT_PARTS_H
#define IR_SUPPORT_PARTS_H

#include "ir/support/diag.h"
#include "ir/support/memory.h"

struct parts {
    struct threads threads;
    uint32_t count; /* of items */
    /* How much work an item is, about: 1 is a microsecond or less. */
    uint64_t (*weight)(const void *user, uint32_t item);
    /* Does the items from `first` up to `end`. It may be called again with the same ones, where
     * the first call has been left. */
    void (*work)(void *user, uint32_t first, uint32_t end, struct diags *diags);
    void *user;
};

/* Does all. Where there is one thread or one item, or too little weight for more, and where a part
 * itself has parts, `work` is called once with all items and with `diags`. */
void parts_run(const struct parts *parts, struct diags *diags);

/* How many threads the process may have running at a time: the processors of its affinity mask. */
unsigned parts_processors(void);

#endif
