/* Entries as an object, without a compiler. */
#ifndef BACKEND_HOST_OBJECT_H
#define BACKEND_HOST_OBJECT_H

#include "backend/object/object.h"
#include "ir/module.h"

/* Makes the object of the module's entries and of its tables of gears: each entry is a function
 * that jumps to skrt_run_rows with its rows, each stub one that returns. It wants the functions of
 * kernels under their symbols (backend/device/symbols.h). NULL, with diagnostics, where
 * module_rows_make refuses an entry. To be freed by object_made_free. */
struct object_made *host_make_object(const struct module *module, uint16_t machine,
                                     struct diags *diags);

#endif
