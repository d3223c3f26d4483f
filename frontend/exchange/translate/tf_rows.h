/* The rows of TensorFlow by family, and what their functions share. */
#ifndef FRONTEND_EXCHANGE_TRANSLATE_TF_ROWS_H
#define FRONTEND_EXCHANGE_TRANSLATE_TF_ROWS_H

#include "frontend/exchange/translate/row_attrs.h"

/* Rows leave out the columns at their end that they do not use. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

extern const struct translation_row tf_elementwise[], tf_products[], tf_reductions[], tf_shapes[],
    tf_indexing[], tf_states[];

/* A float of 16 bits as f32, for ops whose results would be rounded in between. */
uint32_t tf_widened(struct translation *t, uint32_t value);

#endif
