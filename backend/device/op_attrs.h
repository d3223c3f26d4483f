/* Attributes of ops as the sample kernels of their types take them. */
#ifndef BACKEND_DEVICE_OP_ATTRS_H
#define BACKEND_DEVICE_OP_ATTRS_H

#include "backend/runtime/skrt.h"
#include "ir/module.h"

/* Whether an attribute is the affair of the op's kernel. */
bool op_attr_is_kernels(const struct module *module, const struct attr *attr);

/* An attribute as kernels get it, its data in the arena; false where they cannot. */
bool op_attr_read(const struct module *module, const struct attr *attr, struct arena *arena,
                  struct skrt_attr *found);

/* Whether the sample kernel of a type takes the attribute of this key. */
bool op_attr_is_taken(const struct module *module, const char *type, const char *key);

/* Whether the sample kernel of the op's type takes all of the op's attributes but those that have
 * their default, each of the right kind, and gets those that have no default. */
bool op_attrs_check(const struct module *module, const struct op *op, const char *type,
                    struct diags *diags);

#endif
