/* Rows by family, how they are written, and what functions of ONNX's share. */
#ifndef FRONTEND_IMPORT_TRANSLATE_ROWS_H
#define FRONTEND_IMPORT_TRANSLATE_ROWS_H

#include "frontend/import/translate/build_ops.h"

/* Rows leave out the columns at their end that they do not use. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define BRACES(...)                                                                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
/* Attributes: name, fallback, target, allowed values. */
#define INT(...) BRACES(OF_INT, __VA_ARGS__)
#define FLOAT(...) BRACES(OF_FLOAT, __VA_ARGS__)
#define BOOL(...) BRACES(OF_BOOL, __VA_ARGS__)
#define TEXT(...) BRACES(OF_TEXT, __VA_ARGS__)
#define INTS(...) BRACES(OF_INTS, __VA_ARGS__)
#define DTYPE(...) BRACES(OF_DTYPE, __VA_ARGS__)
#define ANY(...) BRACES(OF_ANY, __VA_ARGS__)
/* An operator that GE has by another name, with the same operands and results. */
#define AS(name, since, other) BRACES(name, since, .to = other)

extern const struct translation_row onnx_index[], onnx_matrix[], onnx_norm[], onnx_shape[];
extern const struct translation_row tf_indexing[], tf_products[], tf_shapes[];

/* The dtype of ONNX's number for it; the node is refused where skir has none. */
bool onnx_dtype(struct translation *t, int64_t number, enum dtype *dtype);

/* A list of one number. */
struct tr_ints onnx_one(struct translation *t, int64_t number);
/* What an operand says, or where it is absent, an attribute, which may be NULL: none where neither
 * is there. False where the contents of the operand are not known. */
bool onnx_operand_ints(struct translation *t, uint32_t operand, const char *attr,
                       struct tr_ints *ints);
/* With dimensions 1 in these places of the result. */
uint32_t onnx_unsqueeze(struct translation *t, uint32_t x, struct tr_ints axes);
/* As a matrix: the dimensions before `axis`, which may be the rank, and those from there on. */
int64_t onnx_split_axis(struct translation *t, int64_t axis, uint32_t rank);
uint32_t onnx_flatten(struct translation *t, uint32_t x, int64_t axis, uint32_t rank);

#endif
