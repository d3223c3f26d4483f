/* The metadata of a linked kernel, as docs/kernel-meta.schema.json has them. */
#ifndef BACKEND_ASCEND_META_H
#define BACKEND_ASCEND_META_H

#include "backend/backend.h"

/* The object that they are about. */
struct meta_object {
    const char *name;   /* of its file, without the suffix */
    const char *sha256; /* of its bytes */
};

/* Appends them to the job's text. `object` may be NULL: there is none (yet). */
enum backend_status meta_add(const struct emission_job *job, const struct meta_object *object);

#endif
