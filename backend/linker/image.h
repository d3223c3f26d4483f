/* Inside of object_image_load: what machines relocate. */
#ifndef BACKEND_LINKER_IMAGE_H
#define BACKEND_LINKER_IMAGE_H

#include "backend/linker/internal.h"

/* A place to relocate, and what it refers to. */
struct image_reference {
    unsigned char *place;
    uint64_t target;     /* the address of the symbol */
    uint64_t slot, stub; /* of a word that holds it, and of code that jumps there */
    int64_t addend;
    bool elsewhere; /* the symbol is not in the object: it may be far away */
};

/* What a relocation wants besides its symbol's address, and how many bytes it writes. */
struct image_need {
    enum { IMAGE_NOTHING, IMAGE_SLOT, IMAGE_STUB, IMAGE_UNKNOWN } kind;
    uint32_t bytes;
};

struct image_machine {
    uint16_t elf;
    uint32_t stub_size;
    struct image_need (*need)(uint32_t type, bool elsewhere);
    /* False where what it refers to is too far away. */
    bool (*apply)(uint32_t type, const struct image_reference *reference);
    /* Writes code to `at` that jumps to what the slot says. */
    void (*stub)(unsigned char *at, uint64_t slot);
};

extern const struct image_machine image_aarch64, image_x86_64;

#endif
