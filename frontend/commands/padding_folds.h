/* Dimensions that stand for several at once: where [b, s, 8] is viewed as [b*s, 8], padding of s
 * lies in the middle of the rows. Nothing is mixed as long as ops treat rows alike, and a view
 * makes them [b, s, 8] again. */
#ifndef FRONTEND_COMMANDS_PADDING_FOLDS_H
#define FRONTEND_COMMANDS_PADDING_FOLDS_H

#include "ir/module.h"

/* A shape as it was asked for, and as it runs. */
struct padded_shape {
    uint32_t rank; /* RANK_UNKNOWN: nothing is known */
    int64_t exact[MAX_RANK], padded[MAX_RANK];
};

/* A value, some of whose dimensions are several, of which an inner one is padded. */
struct fold {
    struct padded_shape whole; /* with all of them */
    uint32_t counts[MAX_RANK]; /* by dimension of the value: how many it is */
    uint32_t origin;           /* the op that has made it so */
};

/* What is not known may be padded. */
static inline bool padded_dim(const struct padded_shape *shape, uint32_t dim)
{
    return shape->exact[dim] != shape->padded[dim] || shape->padded[dim] < 0;
}

/* Whether a dimension of a value is several, of which an inner one is padded. */
bool fold_has(const struct fold *fold, uint32_t dim);
/* Views a shape, of which `from` says what its dimensions are (NULL: themselves), as another one.
 * False where dimensions of it are parts of those, or of several in part. `*folded` becomes false
 * where none is several any more, and then `fold` means nothing. */
bool fold_view(const struct padded_shape *shape, const struct fold *from,
               const struct padded_shape *to, struct fold *fold, bool *folded);
/* What a result is whose dimensions are those of the value, of this rank: the last ones, or where
 * it has fewer the first. False where one that is several is not there, or has another size. */
bool fold_pass(const struct fold *from, uint32_t rank, const struct padded_shape *result,
               struct fold *fold);
/* Whether a dimension of one value is the same several as that of another. */
bool fold_agrees(const struct fold *a, uint32_t a_dim, const struct fold *b, uint32_t b_dim);

#endif
