/* What the parts of an object for this machine are made with. */
#ifndef BACKEND_HOST_OBJECT_MAKER_H
#define BACKEND_HOST_OBJECT_MAKER_H

#include "backend/object/object.h"
#include "ir/module.h"

struct machine;

struct object_maker {
    struct object_made *made;
    const struct module *module;
    const struct machine *machine;
    uint32_t run;      /* the symbol of skrt_run_rows */
    uint64_t nothing;  /* a function that returns, in code */
    uint32_t *entries; /* their symbols, by index, once they are defined */
};

/* For a machine (EM_...) that there are objects for. */
void object_maker_begin(struct object_maker *maker, const struct module *module, uint16_t machine);
/* The object; the rest is freed. */
struct object_made *object_maker_end(struct object_maker *maker);

/* Zeroes in data, for structs with addresses; and where they stand until more is put there. */
uint64_t object_maker_room(struct object_maker *maker, uint64_t size);
void *object_maker_at(struct object_maker *maker, uint64_t offset);
/* A text and a NUL, in constants. */
uint64_t object_maker_string(struct object_maker *maker, const char *text, size_t size);
/* Puts the address of a symbol, and so far behind it, into data. */
void object_maker_point(struct object_maker *maker, uint64_t offset, uint32_t symbol,
                        uint64_t behind);

/* A function that runs the rows of an entry, a struct skrt_rows in data: its place in code. */
uint64_t object_maker_jump(struct object_maker *maker, uint64_t rows);
/* The symbols of such a function, and of one that returns. */
uint32_t object_maker_define(struct object_maker *maker, const char *name, uint64_t code);
uint32_t object_maker_return(struct object_maker *maker, const char *name);

#endif
