/* Tables of graphs with gears as C: shapes, and what is launched for them. */
#ifndef BACKEND_HOST_EMIT_GEARS_H
#define BACKEND_HOST_EMIT_GEARS_H

#include "ir/base/text.h"
#include "ir/module.h"

/* Appends a `struct skrt_gears` for each graph whose gears are expanded, behind the entries, whose
 * functions are `e` and their index. */
void emit_gears(struct text *text, const struct module *module);

#endif
