/* Padding of a run: values whose shapes lie between those of gears have the shapes of the next
 * larger combination while the graph runs, and their own before and behind. */
#ifndef FRONTEND_COMMANDS_PADDING_H
#define FRONTEND_COMMANDS_PADDING_H

#include "frontend/tensor/storage.h"

/* A value that is larger while the graph runs, and its own shape. */
struct padded_value {
    uint32_t name; /* id of the module */
    uint32_t rank;
    int64_t dims[MAX_RANK];
};

/* Zero-initialised: nothing is padded. */
struct padding {
    VEC(struct padded_value) values;
    struct text combination; /* "b = 4, c = 4"; empty where nothing is padded */
    uint64_t elements;       /* of all parameters, as they run; and those among them that are */
    uint64_t added;          /* padding */
};

void padding_free(struct padding *padding);

/* The value of a graph, or NULL where it has the same shape before, while and behind. */
const struct padded_value *padding_find(const struct padding *padding, const struct graph *graph,
                                        uint32_t id);

/* As storage_fill and storage_take, with the value's own shape; what is added is zero. */
bool padding_fill(const struct padding *padding, struct storage *storage, uint32_t id,
                  const char *spec, uint64_t seed, char *error, size_t error_size);
bool padding_take(const struct padding *padding, const struct storage *storage, uint32_t id,
                  struct tensor *tensor, char *error, size_t error_size);
/* As storage_give. */
void padding_give(const struct padding *padding, struct storage *storage, uint32_t id,
                  struct tensor *tensor);

/* Adds the value's type with its own shape. */
void padding_spell_type(const struct padding *padding, const struct module *module,
                        const struct graph *graph, uint32_t id, struct text *text);

#endif
