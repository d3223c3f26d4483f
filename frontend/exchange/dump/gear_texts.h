/* The texts in which GE has gears (ir/ge_gears.h), read. */
#ifndef FRONTEND_EXCHANGE_DUMP_GEAR_TEXTS_H
#define FRONTEND_EXCHANGE_DUMP_GEAR_TEXTS_H

#include "ir/module.h"

/* The shape of an input; -1 where gears decide. The name is a part of the text. */
struct gear_input {
    const char *name;
    size_t size;
    uint32_t rank;
    int64_t dims[MAX_RANK];
};

/* Zero-initialised is nothing. */
struct gear_texts {
    VEC(struct gear_input) inputs;
    uint32_t n_columns, n_rows; /* dimensions of -1, combinations */
    VEC(int64_t) values;        /* n_rows rows of n_columns */
};

/* A text, which need not end in a zero. */
struct gear_text {
    const char *at;
    size_t size;
};

/* Read the shapes of inputs, and then combinations. False, with a line in `error`, where the text
 * is not what GE takes, or combinations not what gears take. */
bool gear_texts_read_inputs(struct gear_texts *texts, struct gear_text text, char *error,
                            size_t error_size);
bool gear_texts_read_rows(struct gear_texts *texts, struct gear_text text, char *error,
                          size_t error_size);
void gear_texts_free(struct gear_texts *texts);

#endif
