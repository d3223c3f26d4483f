/* Linked code in this process. */
#ifndef BACKEND_DEVICE_CODE_H
#define BACKEND_DEVICE_CODE_H

#include "backend/backend.h"
#include "backend/device/link.h"

/* Where linked code comes from, which outlives it. */
struct device_origin {
    const char *objects;                 /* for people: "'k.o' and 'l.o'" */
    void (*code_runs)(const char *what); /* as in struct run_options */
};

/* Zero-initialised is nothing. */
struct device_code {
    struct object_image *image;
    void *handle; /* of dlopen: for what an image cannot have, or NULL */
    struct device_origin origin;
};

/* Loads what was linked to memory; without a compiler, unless it needs the system's linker
 * (object_image_load). What it does not define is the runtime's, libc's or libm's. No files are
 * left behind. */
enum backend_status device_code_load(struct device_code *code, const struct device_output *linked,
                                     const struct device_origin *origin, struct diags *diags);
void device_code_unload(struct device_code *code);

/* The address of a global definition; NULL where there is none of that name. */
void *device_code_find(const struct device_code *code, const char *name);

/* The address of what this process has for code that is loaded; NULL where it has no such thing. */
void *device_code_provided(const char *name);

#endif
