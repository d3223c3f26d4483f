/* The table in the metadata by which `skirc where` finds what a line or an address is of. */
#ifndef BACKEND_ASCEND_META_PLACES_H
#define BACKEND_ASCEND_META_PLACES_H

#include "backend/ascend/ascendc.h"
#include "backend/ascend/code_map.h"
#include "backend/ascend/info_json.h"
#include "backend/ascend/meta.h"

/* Adds the member "skir". */
void meta_places_add(struct info_json *out, const struct launch_info *info,
                     const struct meta_object *object);

#endif
