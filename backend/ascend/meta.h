/* The metadata of a linked kernel, as docs/kernel-meta.schema.json has them. */
#ifndef BACKEND_ASCEND_META_H
#define BACKEND_ASCEND_META_H

#include "backend/ascend/ascendc.h"
#include "backend/ascend/compile_info.h"
#include "backend/ascend/source_map.h"
#include "backend/target/backend.h"

struct code_map;
struct source_lines;

/* The object that they are about. */
struct meta_object {
    const char *name;            /* of its file, without the suffix; NULL: there is none (yet) */
    const char *sha256;          /* of its bytes */
    const struct code_map *code; /* of it; NULL: it is not known */
    const struct source_lines *lines;
};

/* Appends them to the job's text. */
enum backend_status meta_add(const struct emission_job *job, const struct meta_object *object);

#endif
