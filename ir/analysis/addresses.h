/* Where in memory values and workspaces lie, as far as `address` of parameters and ops says it
 * (docs/language.md, "Addresses"). */
#ifndef IR_ANALYSIS_ADDRESSES_H
#define IR_ANALYSIS_ADDRESSES_H

#include "ir/analysis/modref.h"

/* The bytes low to high - 1 of a buffer, or where there is none, of the device's memory. */
struct address {
    uint32_t buffer; /* name id, or NONE */
    int64_t low, high;
};

enum address_state {
    ADDRESS_NONE, /* nothing is said */
    ADDRESS_KNOWN,
    ADDRESS_UNSIZED, /* it has no length, and its type does not tell it */
    ADDRESS_OUTSIDE, /* it begins or ends where no memory can be */
};

/* Whether data are an address: a number, or a list of a name (or none), a number, and another one
 * (or none). */
bool address_is_one(const struct module *module, const struct attr_value *value);

/* What an element of `address` says of a value of the type, or (NONE) of none. NULL, and what is no
 * address, say nothing. */
enum address_state address_read(const struct module *module, const struct attr_value *element,
                                uint32_t type, struct address *address);

/* How many bytes a tensor of the type has in memory at least; false where that is not known.
 * `exact`: no more than that. */
bool type_bytes(const struct module *module, uint32_t type, uint64_t *bytes, bool *exact);

/* The element of the op's `address` for an operand, which of a list is that for its n-th value; for
 * a result; for a workspace; NULL where there is none. */
const struct attr_value *op_operand_address(const struct module *module, const struct graph *graph,
                                            const struct op *op, uint32_t place, uint32_t n);
const struct attr_value *op_result_address(const struct module *module, const struct op *op,
                                           uint32_t n);
const struct attr_value *op_workspace_address(const struct module *module, const struct op *op,
                                              uint32_t n);
/* The list of a key of the op's `address`, or NULL. */
const struct attr *op_address_list(const struct module *module, const struct op *op, uint32_t key);
/* The element that a value's definition has for it, or NULL. */
const struct attr_value *value_address(const struct module *module, const struct graph *graph,
                                       uint32_t value);

static inline bool address_meets(const struct address *a, const struct address *b)
{
    return a->buffer == b->buffer && a->low < b->high && b->low < a->high;
}

static inline bool address_holds(const struct address *outer, const struct address *inner)
{
    return outer->buffer == inner->buffer && outer->low <= inner->low && inner->high <= outer->high;
}

/* "bytes 0 to 8191 of 'act'", in the arena. */
const char *address_text(const struct module *module, const struct address *address,
                         struct arena *arena);

/* ------------------------------------------------------------------------- of a graph ---- */

enum access_kind { ACCESS_READ, ACCESS_WRITE, ACCESS_UPDATE };

/* UPDATE: an operand that is read and written. */
struct access {
    struct address address;
    uint32_t value; /* NONE: a workspace, a buffer, what a called graph accesses */
    enum access_kind kind;
};

struct accesses {
    struct access *at;
    uint32_t count, capacity;
};

struct addresses {
    const struct module *module;
    const struct graph *graph;
    bool any; /* else nothing else is there */
    struct memories memories;
    struct id_map of_memory; /* by the value that stands for a memory: its address */
    VEC(struct address) at;
};

/* Whether any op or parameter of it has some. */
bool graph_has_addresses(const struct module *module, const struct graph *graph);

/* Of values whose definition says it, which holds of all that are one memory with them. */
void addresses_init(struct addresses *addresses, const struct module *module,
                    const struct graph *graph);
void addresses_free(struct addresses *addresses);

/* NULL where nothing says it. */
const struct address *addresses_find(const struct addresses *addresses, uint32_t value);

/* Appends what the op accesses by itself: operands, results that are no operand's memory,
 * workspaces, buffers (`reads`, `writes`) from end to end. */
void addresses_of_op(const struct addresses *addresses, const struct op *op,
                     struct accesses *accesses);

#endif
