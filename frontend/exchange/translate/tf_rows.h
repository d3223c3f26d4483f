/* The rows of TensorFlow by family, and what their functions share. */
#ifndef FRONTEND_EXCHANGE_TRANSLATE_TF_ROWS_H
#define FRONTEND_EXCHANGE_TRANSLATE_TF_ROWS_H

#include "frontend/exchange/translate/build_ops.h"

extern const struct translation_row tf_elementwise[], tf_products[], tf_reductions[], tf_shapes[],
    tf_indexing[], tf_states[], tf_refused[];

/* The dimensions of a value. False where one is not a known number. */
bool tf_static_dims(struct translation *t, uint32_t value, struct tr_ints *dims);

#endif
