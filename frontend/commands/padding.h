/* Padding of a run: values whose shapes lie between those of gears have the shapes of the next
 * larger combination while the graph runs, and their own before and behind. */
#ifndef FRONTEND_COMMANDS_PADDING_H
#define FRONTEND_COMMANDS_PADDING_H

#include "frontend/tensor/storage.h"
#include "ir/op_tensors.h"

/* Zero-initialised: nothing is padded. */
struct padding {
    struct id_map types;     /* by name, of a value that is larger while the graph runs: its own */
    struct text combination; /* "b = 4, c = 4"; empty where nothing is padded */
    uint64_t elements;       /* of all parameters, as they run; and those among them that are */
    uint64_t added;          /* padding */
};

void padding_free(struct padding *padding);

/* The type that a value has before and behind; NONE: that which it has in the graph. */
uint32_t padding_own_type(const struct padding *padding, const struct graph *graph, uint32_t id);

/* As storage_fill and storage_take, with the value's own shape; what is added is zero. */
bool padding_fill(const struct padding *padding, struct storage *storage, uint32_t id,
                  const char *spec, uint64_t seed, char *error, size_t error_size);
bool padding_take(const struct padding *padding, const struct storage *storage, uint32_t id,
                  struct tensor *tensor, char *error, size_t error_size);
/* As storage_give. */
void padding_give(const struct padding *padding, struct storage *storage, uint32_t id,
                  struct tensor *tensor);

/* The tensors of an op with their own shapes, in the arena. False where all have those already. */
bool padding_own_tensors(const struct padding *padding, const struct module *module,
                         const struct graph *graph, const struct op *op,
                         const struct op_tensors *tensors, struct arena *arena,
                         struct op_tensors *own);
/* As integers_read, of a value in the memory `data`: those of its own shape. */
bool padding_read_integers(const struct padding *padding, const struct module *module,
                           const struct graph *graph, uint32_t id, const void *data,
                           struct arena *arena, struct op_contents *found);

/* Adds the value's type with its own shape. */
void padding_spell_type(const struct padding *padding, const struct module *module,
                        const struct graph *graph, uint32_t id, struct text *text);

#endif
