/* Attributes of nodes by what their rows say of them. */
#ifndef FRONTEND_EXCHANGE_TRANSLATE_ROW_ATTRS_H
#define FRONTEND_EXCHANGE_TRANSLATE_ROW_ATTRS_H

#include "frontend/exchange/translate/build_ops.h"

/* Refuses the node where it has an attribute that the row does not, or a value that this does not
 * cover. Keys with a leading `_` are not the operator's. */
void row_attrs_check(struct translation *t);
/* Gives the next op the attributes that the row maps. */
void row_attrs_map(struct translation *t);

/* Attributes, which the row has: what the node says, or else the fallback. */
bool tr_has(struct translation *t, const char *name); /* the node, not only the row */
bool tr_value(struct translation *t, const char *name, struct attr_value *value); /* or none */
int64_t tr_int(struct translation *t, const char *name);
double tr_float(struct translation *t, const char *name);
bool tr_is(struct translation *t, const char *name, const char *text);
enum dtype tr_dtype_of(struct translation *t, const char *name); /* OF_DTYPE */

struct tr_ints tr_ints(struct translation *t, const char *name);

#endif
